"""Linker of DebugMode: checks everything that a graph, its ops and its rules declare against the
values of each call.

`record.py` records rewriting, as terms. `linker.py` lists the checks, `claims.py` asks the judge
about steps; `rewrite_engine/judge/` computes terms, adds noise and tests facts. `contract.py`
checks nodes, in all their forms (`link/forms.py`), with `storage.py` for the contents of cells and
`promises.py` for an op's declarations about its results. `told.py`: the texts of errors. The mode
is `compile/debug.py`.
"""

from __future__ import annotations

from rewrite_engine.link.debug.contract import DebugOptions
from rewrite_engine.link.debug.linker import LINKER, DebugLinker

__all__ = ["LINKER", "DebugLinker", "DebugOptions"]
