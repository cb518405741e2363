"""Indexes that move below ops, so that only what is read is computed. `place.py` describes an index
per dimension and decides whether a move pays; `through.py` moves it below elementwise ops,
reductions and products, and `gathered.py` an index by arrays; `joined.py` moves it below joins,
`running.py` below running sums, sorts, ranges and fills; `merged.py` merges an index with another,
or with what was written.
"""
