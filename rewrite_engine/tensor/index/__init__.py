"""Indexing: what stands between the brackets of `x[...]`, and what is made of it.

`template.py` is how an index is read, as a part of the ops; `subtensor.py` the ops with numbers
and slices, `gather.py` those with arrays, `batch.py` both along a batch; `diagonals.py` reads
and writes diagonals; `selection.py` has functions (`take`, `nonzero`, …).
"""
