"""Loops as graphs: `scan`, and `map`, `reduce`, `foldl`, `foldr` made of it.

`op.py` is the op: a loop over sequences that carries values from step to step. Its derivatives
(`derivatives.py`) are loops again. `basic.py` makes one of a Python function of a step,
`checkpoints.py` one whose gradient keeps less.
"""

from rewrite_engine.loops.basic import foldl, foldr, map, reduce, scan, until
from rewrite_engine.loops.checkpoints import scan_checkpoints
from rewrite_engine.loops.op import Scan

__all__ = ["Scan", "foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]
