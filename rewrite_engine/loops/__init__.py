"""Loops as graphs: `scan`, and `map`, `reduce`, `foldl`, `foldr` built on it.

`op.py` has the op: a loop over sequences that carries values from step to step. Its derivatives
(`derivatives.py`) are loops again. `step.py` builds a loop from a Python function of a step,
`checkpoints.py` one whose gradient stores fewer values.
"""

from rewrite_engine.loops.checkpoints import scan_checkpoints
from rewrite_engine.loops.op import Scan
from rewrite_engine.loops.step import foldl, foldr, map, reduce, scan, until

__all__ = ["Scan", "foldl", "foldr", "map", "reduce", "scan", "scan_checkpoints", "until"]
