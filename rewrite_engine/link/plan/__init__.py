"""What a linker needs to know of a graph, whatever it writes.

`plan_of(fgraph, traits)` gives an `ExecutionPlan`: nodes in running order (`schedule.py`), with
composites and long sums taken apart (`expand.py`), what runs only where a branch is taken
(`conditions.py`), which lengths are equal and which are to be compared (`dims.py`), who shares
memory with whom (`storage.py`), who writes into whose (`planner.py`), what is copied into C order
(`layout.py`), and what may be kept between calls (`buffers.py`). What the linker's own code can do
is told to it as `Traits`. A linker that writes no code of its own asks for the parts that it needs.

Nothing here knows how anything runs. An example: docs/writing_linkers.md.
"""

from __future__ import annotations

from rewrite_engine.link.plan.buffers import deciders
from rewrite_engine.link.plan.conditions import Conditions, conditions
from rewrite_engine.link.plan.dims import Dims, LengthCheck, axes
from rewrite_engine.link.plan.plan import Buffer, ExecutionPlan, NodePlan
from rewrite_engine.link.plan.planner import plan_of
from rewrite_engine.link.plan.schedule import END, dying, last_reads, schedule
from rewrite_engine.link.plan.storage import Storage, Storages
from rewrite_engine.link.plan.traits import DEFAULT, FRESH, VIEW, ByClass, Traits

__all__ = [
    "DEFAULT",
    "END",
    "FRESH",
    "VIEW",
    "Buffer",
    "ByClass",
    "Conditions",
    "Dims",
    "ExecutionPlan",
    "LengthCheck",
    "NodePlan",
    "Storage",
    "Storages",
    "Traits",
    "axes",
    "conditions",
    "deciders",
    "dying",
    "last_reads",
    "plan_of",
    "schedule",
]
