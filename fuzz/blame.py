"""Which step of rewriting a finding comes from: the states of the graph, one after the other, are
computed node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from fuzz.case import AS_BUILT, Case
from fuzz.deviation import Deviation
from rewrite_engine.compile.mode import Mode
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import FullHistory
from rewrite_engine.judge.noise import evaluate


class Checker(Protocol):
    """What finds out whether something is wrong with a case."""

    def __call__(self, case: Case, mode: Any, /) -> Deviation | None:
        """What is wrong in a mode."""

    def tester(self, case: Case, /) -> tuple[Case, Callable[[Any], bool]]:
        """The graph that is rewritten, and whether values of it, or an error, are wrong."""


def guilty(case: Case, mode: Mode, check: Checker, kind: str) -> tuple[str, Any]:
    """Who makes a finding, in words, and the rule if it is one."""
    if _same(check(case, AS_BUILT), kind):
        return "the graph as it was built", None
    target, is_wrong = check.tester(case)
    graph = FunctionGraph(target.inputs, target.results, clone=True)
    history = FullHistory()
    graph.attach_feature(history)
    try:
        mode.excluding("inplace").optimizer.rewrite(graph)
    except Exception as error:
        return f"rewriting raises {type(error).__name__}", None
    for n in range(1, len(history) + 1):
        history.goto(n)
        given = {v: target.given[w] for v, w in zip(graph.inputs, target.inputs, strict=True)}
        if is_wrong(state_of(graph.outputs, given)):
            step = history[n - 1]
            rule = step.reason
            return f"{getattr(rule, 'name', rule)}: {step.before} → {step.after}", rule
    if _same(check(case, mode.excluding("inplace")), kind):
        return "running the rewritten graph (link/vm)", None
    return "working in place", None


def _same(found: Deviation | None, kind: str) -> bool:
    return found is not None and found.kind == kind


def state_of(outputs: Sequence[Any], given: Any) -> Any:
    """The values of outputs, or the error."""
    try:
        values = evaluate(outputs, given)
    except Exception as error:
        return error
    return [np.asarray(values[v]) for v in outputs]
