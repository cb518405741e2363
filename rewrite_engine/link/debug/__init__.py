"""DebugMode's linker: everything that a graph, its ops and its rules say of themselves, held
against the values of each call.

`record.py` writes down what rewriting does, as terms · `linker.py` says what is looked at, `run.py`
computes terms, `claims.py` judges steps (with `noise.py`), `evidence.py` facts · `contract.py`
judges nodes, in all their forms (`link/forms.py`), with `storage.py` for what cells hold and
`promises.py` for what an op says of its results · `told.py`: what errors say. The mode is
`compile/debug.py`.
"""

from __future__ import annotations

from rewrite_engine.link.debug.contract import DebugOptions
from rewrite_engine.link.debug.linker import LINKER, DebugLinker

__all__ = ["LINKER", "DebugLinker", "DebugOptions"]
