"""What runs, and what is seen of it: `branches.py` (one of two is computed), `raise_op.py` (values
that are there only where conditions hold), `watch.py` (values are shown).

Loops are in `rewrite_engine/loops/`.
"""
