"""Compile graphs to functions: `function`, `shared`, `In`, `Out`, `Mode`.

`function.py` puts the parts together: `request.py` reads and checks the arguments, `inputs.py`
defines `In` and `Out`, `shared.py` variables with a value, `mode.py` the choice of rules and
linker, `callable.py` the compiled function. `checks.py` implements `check=True`, `evaluate.py`
implements `variable.eval`. `watching.py` defines modes that inspect values, `debug.py` the mode
that checks everything, `profiling.py` measures times. `from_graph.py`, `derivative.py` and
`inner_shape.py` implement `OpFromGraph`, its derivatives and its shapes. How the generated code
looks is decided in `link/`; what rules do to a graph is in `rules/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewrite_engine.compile.callable import Function
from rewrite_engine.compile.function import function, observe
from rewrite_engine.compile.inputs import In, Out
from rewrite_engine.compile.mode import Mode, get_default_mode, get_mode
from rewrite_engine.compile.request import UnusedInputWarning
from rewrite_engine.compile.shared import (
    SharedVariable,
    TensorSharedVariable,
    shared,
    shared_constructor,
)
from rewrite_engine.lazy import lookup

if TYPE_CHECKING:
    from rewrite_engine.compile.debug import DebugMode
    from rewrite_engine.compile.from_graph import OpFromGraph
    from rewrite_engine.compile.profiling import ProfileStats
    from rewrite_engine.compile.watching import MonitorMode, NanGuardMode

__all__ = [
    "DebugMode",
    "Function",
    "In",
    "Mode",
    "MonitorMode",
    "NanGuardMode",
    "OpFromGraph",
    "Out",
    "ProfileStats",
    "SharedVariable",
    "TensorSharedVariable",
    "UnusedInputWarning",
    "function",
    "get_default_mode",
    "get_mode",
    "observe",
    "shared",
    "shared_constructor",
]

#: loaded when they are asked for: `OpFromGraph`, which needs the gradients, and debugging
if not TYPE_CHECKING:
    __getattr__ = lookup(
        __name__,
        {
            "DebugMode": "debug",
            "MonitorMode": "watching",
            "NanGuardMode": "watching",
            "OpFromGraph": "from_graph",
            "ProfileStats": "profiling",
        },
    )
