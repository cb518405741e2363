"""Control flow and inspection: `branches.py` (compute one of two branches), `raise_op.py` (check
conditions), `watch.py` (show values).

Loops are in `rewrite_engine/loops/`.
"""
