"""Linkers: one for each way of running graphs, siblings that do not know each other.

`vm` generates one Python function that calls NumPy; `py` runs node by node. `plan/` provides what
they need to know about a graph. The code around a linker's output (arguments, states, results,
errors) is the same for all (`shell.py`). How to write a linker: `docs/writing_linkers.md`.
"""

from __future__ import annotations

from rewrite_engine.link.failure import failed
from rewrite_engine.link.linker import LINKERS, Linker, get_linker, register_linker
from rewrite_engine.link.plan import ExecutionPlan, Traits, plan_of, schedule
from rewrite_engine.link.program import Linked, Program
from rewrite_engine.link.py import PyLinker

__all__ = [
    "LINKERS",
    "ExecutionPlan",
    "Linked",
    "Linker",
    "Program",
    "PyLinker",
    "Traits",
    "failed",
    "get_linker",
    "plan_of",
    "register_linker",
    "schedule",
]
