"""From graphs to functions: `function`, `shared`, `In`, `Out`, `Mode`.

How the generated code looks is in `link/`; what rules do to a graph is in `rules/`.
"""

from __future__ import annotations

from rewrite_engine.compile.callable import Function
from rewrite_engine.compile.evaluate import evaluate
from rewrite_engine.compile.from_graph import OpFromGraph
from rewrite_engine.compile.function import function, observe
from rewrite_engine.compile.inputs import In, Out
from rewrite_engine.compile.mode import Mode, get_mode
from rewrite_engine.compile.request import UnusedInputWarning
from rewrite_engine.compile.shared import (
    SharedVariable,
    TensorSharedVariable,
    shared,
    shared_constructor,
)
from rewrite_engine.graph.node import Variable

Variable.eval_hook = evaluate

__all__ = [
    "Function",
    "In",
    "Mode",
    "OpFromGraph",
    "Out",
    "SharedVariable",
    "TensorSharedVariable",
    "UnusedInputWarning",
    "function",
    "get_mode",
    "observe",
    "shared",
    "shared_constructor",
]
