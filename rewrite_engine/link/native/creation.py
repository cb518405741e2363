"""Lowering of ops that create arrays from lengths and positions alone."""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import ONE, Length, Position, View
from rewrite_engine.link.native.views import length_of, straight
from rewrite_engine.tensor.creation import Alloc, AllocEmpty, ARange, Eye, Tri

MAX_NUMBERS = 2**60  # of a range: more are more bytes than an array can have


def _lengths(plan: RegionPlan, out: Any, numbers: Any) -> tuple[Length, ...]:
    """Return the shape that numbers specify, none of them below 0."""
    for d, x in zip(plan.dims.of(out), numbers, strict=True):
        n = length_of(plan, x)
        if n[1]:
            plan.require("less", plan.constant_word(-1), plan.word_of(n))
        plan.tell(d, n)
    return plan.shape(out)


@native.register(Alloc)
def _(op: Alloc, node: Apply) -> str | None:
    value, out = node.inputs[0].type, node.outputs[0].type
    return None if value.dtype == out.dtype else "a value of another dtype"


@lower.register(Alloc)
def _(op: Alloc, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    given = plan.get(node.inputs[0])
    shape = _lengths(plan, out, node.inputs[1:])
    if isinstance(given, View):
        own = plan.shape(node.inputs[0])
        for a, b in zip(own[::-1], shape[::-1], strict=False):
            if a not in (ONE, b):
                plan.require("equal", plan.word_of(a), plan.word_of(b))
        more = len(shape) - len(own)
        given = straight(View(given.value, (None,) * more + given.steps, given.offset), shape)
    plan.of[out] = given


@native.register(AllocEmpty)
def _(op: AllocEmpty, node: Apply) -> str | None:
    return None


@lower.register(AllocEmpty)
def _(op: AllocEmpty, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    shape = _lengths(plan, out, node.inputs)
    plan.of[out] = plan.call(shape, KINDS[out.type.dtype], (), lambda t, value: None, refuses=False)


@native.register(ARange)
def _(op: ARange, node: Apply) -> str | None:
    if {op.dtype, *[v.type.dtype for v in node.inputs]} != {"int64"}:
        return "numbers that are not integers"
    by = node.inputs[2]
    known = isinstance(by, Constant) and int(by.data) != 0
    return None if known else "a run-time step"


@lower.register(ARange)
def _(op: ARange, node: Apply, plan: RegionPlan) -> None:
    out, by = node.outputs[0], int(node.inputs[2].data)  # type: ignore[attr-defined]
    start, stop = [plan.word_of(length_of(plan, x)) for x in node.inputs[:2]]
    span = plan.compute("sub", *((stop, start) if by > 0 else (start, stop)))
    if abs(by) != 1:
        span = plan.compute("add", span, plan.constant_word(abs(by) - 1))
    count = plan.compute("max", span, plan.constant_word(0))
    if abs(by) != 1:
        count = plan.compute("div", count, plan.constant_word(abs(by)))
    plan.require("less", count, plan.constant_word(MAX_NUMBERS))
    plan.tell(plan.dims.of(out)[0], (1, (count,)))
    shape = plan.shape(out)

    def element(t: Any, xs: list[str]) -> str:
        far = xs[0] if by == 1 else t.bin("mul", xs[0], t.constant(by, "i"), "i")
        return str(t.bin("add", t.spread(t.word(start), "i"), far, "i"))

    plan.of[out] = plan.elementwise([Position(0)], shape, "i", element)


@native.register(Eye)
@native.register(Tri)
def _(op: Any, node: Apply) -> str | None:
    return None


@lower.register(Eye)
@lower.register(Tri)
def _(op: Any, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    shape, kind = _lengths(plan, out, node.inputs[:2]), KINDS[out.type.dtype]
    above = plan.word_of(length_of(plan, node.inputs[2]))
    test = "eq" if isinstance(op, Eye) else "sle"

    def element(t: Any, xs: list[str]) -> str:
        far = t.bin("sub", xs[1], xs[0], "i")
        yes = t.compare(test, far, t.spread(t.word(above), "i"), "i")
        return convert(t, yes, "b", kind)

    plan.of[out] = plan.elementwise([Position(0), Position(1)], shape, kind, element)
