"""Lowering of ops that join arrays."""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import NotNative, RegionPlan
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import (
    ONE,
    ElementWriter,
    Length,
    NativeValue,
    Number,
    View,
    view_of,
    without_ones,
)
from rewrite_engine.link.native.views import number_of
from rewrite_engine.tensor.shape import Shape
from rewrite_engine.tensor.shaping.joins import Join, MakeVector


@native.register(Join)
@native.register(MakeVector)
@native.register(Shape)
def _(op: Any, node: Apply) -> str | None:
    return None


@lower.register(Join)
def _(op: Join, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    axis = op.axis % out.type.ndim
    lengths = [plan.shape(x)[axis] for x in node.inputs]
    starts, total = [], plan.constant_word(0)
    for n in lengths:
        starts.append(total)
        total = plan.compute("add", total, plan.word_of(n))
    known = all([not n[1] for n in lengths])
    whole: Length = (sum(n[0] for n in lengths), ()) if known else (1, (total,))
    plan.tell(plan.dims.of(out)[axis], whole)
    parts = [(plan.get(x), plan.shape(x), s) for x, s in zip(node.inputs, starts, strict=True)]
    plan.of[out] = together(plan, parts, plan.shape(out), axis, KINDS[out.type.dtype])


@lower.register(MakeVector)
def _(op: MakeVector, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    parts = [(plan.get(x), (ONE,), plan.constant_word(k)) for k, x in enumerate(node.inputs)]
    parts = [(x if isinstance(x, Number) else View(x.value, (None,), x.offset), n, k)
             for x, n, k in parts]  # fmt: skip
    plan.of[out] = together(plan, parts, plan.shape(out), 0, KINDS[out.type.dtype])


@lower.register(Shape)
def _(op: Shape, node: Apply, plan: RegionPlan) -> None:
    shape = [number_of(plan, n) for n in plan.shape(node.inputs[0])]
    parts = [(x if isinstance(x, Number) else View(x.value, (None,), x.offset), (ONE,),
              plan.constant_word(k)) for k, x in enumerate(shape)]  # fmt: skip
    out = node.outputs[0]
    plan.of[out] = together(plan, parts, plan.shape(out), 0, "i")


def together(
    plan: RegionPlan, parts: list[Any], shape: tuple[Length, ...], axis: int, kind: str
) -> View | Number:
    """Return an array made of parts along an axis. Each part is a view, its shape, and the word
    with its first position.
    """
    if not parts:
        raise NotNative("an array of nothing")
    whole = NativeValue(kind, without_ones(shape))
    view = view_of(whole, shape)
    step = view.steps[axis]
    for x, own, start in parts:
        steps = tuple([s for s, n in zip(view.steps, own, strict=True) if n != ONE])
        if None in steps:
            raise NotNative("a part longer than the whole")
        offset = None if step is None else plan.compute("mul", start, plan.word_of(step))
        have = x.kind if isinstance(x, Number) else x.value.kind
        done = plan.elementwise([x], own, kind, ElementWriter(_convert, (have, kind)),
                                into=(whole, steps, offset))  # fmt: skip
        whole.at = max(whole.at, done.value.at)
    return view


def _convert(t: Any, xs: list[str], have: str, kind: str) -> str:
    return convert(t, xs[0], have, kind)
