"""Indexing: `x[...]`, and the ops that compute it.

`template.py` reads an index and stores it as part of an op. `subtensor.py` has the ops for integers
and slices, `gather.py` those for arrays, `batch.py` applies both along a batch. `diagonals.py`
reads and writes diagonals; `selection.py` has functions (`take`, `nonzero`, …).
"""
