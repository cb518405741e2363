"""Indexes that move below ops, so that only what is read is computed. `place.py` describes an index
per dimension and decides whether a move pays; `through.py` moves it below elementwise ops,
reductions and products; `joined.py` below joins and fills; `running.py` below running sums, sorts
and ranges; `merged.py` merges an index with another, or with what was written.
"""
