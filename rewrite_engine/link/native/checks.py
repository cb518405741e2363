"""Values that exist only if conditions hold. The kernel refuses, and the VM raises the error."""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import NotNative, RegionPlan
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import NativeValue, Number, View
from rewrite_engine.tensor.flow.raise_op import Assert, CheckAndRaise, CheckParameter


@native.register(CheckAndRaise)
def _(op: CheckAndRaise, node: Apply) -> str | None:
    own = type(op) in (Assert, CheckAndRaise, CheckParameter)
    return None if own else "a check of another kind"


@lower.register(CheckAndRaise)
def _(op: CheckAndRaise, node: Apply, plan: RegionPlan) -> None:
    value, *conditions = node.inputs
    for condition in conditions:
        _check(plan, condition)
    plan.of[node.outputs[0]] = plan.get(value)


def _check(plan: RegionPlan, condition: Any) -> None:
    """Refuse the call if an element is false."""
    x, shape, own = plan.get(condition), plan.shape(condition), KINDS[condition.type.dtype]
    if isinstance(x, Number):
        if not x.value:
            raise NotNative("a condition that never holds")
        return
    if shape:
        x = plan.reduce(x, shape, range(len(shape)), "and_", "b")
    elif own != "b":
        x = plan.elementwise([x], (), "b", lambda t, xs: convert(t, xs[0], own, "b"))
    assert isinstance(x, View)
    alone = View(x.value, (), x.offset)

    def write(t: Any, _: NativeValue) -> None:
        good, bad = t.label(), t.label()
        holds = t.load_one(t.address(alone.value, alone.offset), "b")
        t.do(f"br i1 {holds}, label %{good}, label %{bad}")
        t.start(bad)
        t.do("ret i64 1")
        t.start(good)

    plan.always(plan.call((), "b", [alone], write).value)
