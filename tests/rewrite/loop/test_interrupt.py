"""Ctrl-C in the middle of a phase: the graph is as it was before, wherever it came."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.strategies import (
    bottomup,
    first,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
)
from rewrite_engine.rewrite.trace import Trace
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, named, shape
from tests.toy import add, exp, log, mul, neg, sin, sub

pytestmark = pytest.mark.usefixtures("checked_graphs")

log_exp = named("log_exp", lambda a: log(exp(a)) >> a)


@node_rewriter([sin])
def stopped(fgraph: Any, node: Any) -> Any:
    """The user has had enough."""
    raise KeyboardInterrupt


def graph() -> FunctionGraph:
    inner = add(mul(neg(x), add(y, neg(neg(x)))), log(exp(y)), 0)
    return FunctionGraph([x, y], [sin(mul(inner, sub(x, neg(y)))), inner, sub(inner, inner)])


def quiet(one: FunctionGraph) -> None:
    assert one.worklist is None
    assert not one.features
    one.check_integrity()


DRIVERS = {
    "innermost": lambda *rules: innermost(*rules),
    "outermost": lambda *rules: outermost(*rules),
    "topdown": lambda *rules: topdown(*rules),
    "bottomup": lambda *rules: bottomup(*rules),
    "repeat": lambda *rules: repeat(bottomup(*rules)),
    "try": lambda *rules: try_(innermost(*rules)),
    "seq": lambda *rules: seq(innermost(*rules)),
    "first": lambda *rules: innermost(first(*rules)),
    "keeps": lambda *rules: innermost(*rules, budget=RunBudget(on_budget="stop")),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("make", DRIVERS.values(), ids=DRIVERS)
def test_in_a_rule(make: Any, traced: bool) -> None:
    one = graph()
    before = shape(one)
    with pytest.raises(KeyboardInterrupt):
        make(*SOUND, log_exp, stopped).rewrite(one, Trace(size=5) if traced else None)
    quiet(one)
    assert shape(one) == before
    make(*SOUND, log_exp).rewrite(one)
    quiet(one)


class Breaks(Feature):
    """Interrupts at the n-th event, whatever it is: what is going on is half done."""

    def __init__(self, n: int) -> None:
        self.left = n

    def event(self, *args: Any) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    on_import = on_prune = on_redirect = event  # type: ignore[assignment]
    on_change_input = on_change_type = event  # type: ignore[assignment]


@pytest.mark.parametrize("make", DRIVERS.values(), ids=DRIVERS)
def test_anywhere(make: Any) -> None:
    interrupted = 0
    for n in range(1, 200):
        one = graph()
        before, breaks = shape(one), Breaks(n)
        one.attach_feature(breaks)
        try:
            make(*SOUND, log_exp).rewrite(one)
        except KeyboardInterrupt:
            interrupted += 1
            assert shape(one) == before
        one.remove_feature(breaks)
        quiet(one)
        if breaks.left > 0:
            break
    assert interrupted > 20
