"""Loops as graphs: `scan`, and `map`, `reduce`, `foldl`, `foldr` made of it.

`op.py` is the op: a loop over sequences that carries values from step to step. Its derivatives
(`derivatives.py`) are loops again. `step.py` makes one of a Python function of a step,
`checkpoints.py` one whose gradient keeps less.
"""

from rewrite_engine.loops.checkpoints import scan_checkpoints
from rewrite_engine.loops.op import Scan
from rewrite_engine.loops.step import foldl, foldr, map, reduce, scan, until

__all__ = ["Scan", "foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]
