"""Plans: what a linker needs to know of a graph, whatever code it writes.

`plan_of(fgraph, traits)` returns an `ExecutionPlan`: nodes in running order (`schedule.py`), with
composites and long sums taken apart (`expand.py`), nodes that run only in a branch
(`conditions.py`), equal lengths and lengths to compare (`dims.py`), shared memory (`storage.py`),
reuse of memory (`planner.py`), copies into C order (`layout.py`), and buffers kept between calls
(`buffers.py`). `static_inputs` tells on which inputs lengths depend (`static.py`). The linker
describes its own code by `Traits`. A linker that writes no code calls only the parts that it needs.

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
