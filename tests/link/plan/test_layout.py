"""Which transposed views are copied, since they meet operands in another order."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link import plan_of
from rewrite_engine.link.vm import traits

m, n = pt.matrix("m"), pt.matrix("n")
row = pt.tensor(dtype="float64", shape=(1, None))


def copied(*outputs: Any) -> list[str]:
    """The operands of the transposing nodes that copy."""
    plan = plan_of(FunctionGraph(None, outputs), traits)
    return [str(step.node.inputs[0]) for step in plan.steps if step.copies]


def test_what_meets_another_order_is_copied() -> None:
    assert copied(m.T + n) == ["m"]
    assert copied(pt.exp(m.T) * n) == ["m"]
    assert copied(m.T + n, n.T * m) == ["m", "n"]


def test_what_does_not_is_a_view() -> None:
    assert copied(m.T) == []
    assert copied(pt.exp(m.T)) == []
    assert copied(m.T * n.T) == []
    assert copied(pt.exp(m.T).T + n) == []
    assert copied(m.T + row) == []
    assert copied(pt.dot(m.T, n)) == []


def test_a_copy_is_new_memory() -> None:
    plan = plan_of(FunctionGraph([m, n], [m.T + n]), traits)
    first, second = plan.steps
    assert first.new == list(first.node.outputs)
    assert second.into == 0


def test_it_is_for_code_that_is_slow_with_unlike_orders() -> None:
    assert not any(step.copies for step in plan_of(FunctionGraph([m, n], [m.T + n])).steps)
