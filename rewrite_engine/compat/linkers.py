"""PyTensor's linkers with their own arguments: `PerformLinker`, which runs node by node, and
`VMLinker`. `Mode(linker=…)` takes them.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.errors import refuse_options
from rewrite_engine.link import vm
from rewrite_engine.link.py import PyLinker

__all__ = ["PerformLinker", "VMLinkerOfOthers"]


class PerformLinker(PyLinker):
    """Linker that runs node by node, by `perform`. Two options have no effect: when values are
    released, and the order of independent nodes.
    """

    def __init__(self, allow_gc: bool | None = None, schedule: Any = None) -> None:
        refuse_options("PerformLinker", "the plan determines the order", schedule=schedule)


class VMLinkerOfOthers(vm.LINKER.__class__):  # type: ignore[misc,name-defined]
    """Linker that makes one Python function for all nodes. Two options have no effect: when values
    are released, and whether branches are lazy (they are).
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: None = None,
        callback_input: None = None,
        lazy: bool | None = None,
        schedule: None = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
    ) -> None:
        why = "MonitorMode calls a function at each node, and the plan determines the order"
        asked = {"callback": callback, "callback_input": callback_input, "schedule": schedule}
        refuse_options("VMLinker", why, **asked)
