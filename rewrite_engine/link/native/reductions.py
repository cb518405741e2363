"""Reductions, and the functions built on them: softmax and its logarithm."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.accumulators import EXTREMA, reduces
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.text import KINDS, NUMBER_CLASS, Assembler
from rewrite_engine.link.native.values import ONE, ElementWriter, Length, View, times
from rewrite_engine.tensor.reduce import CAReduce
from rewrite_engine.tensor.special import (
    ROOM,
    LogSoftmax,
    LogSumExp,
    ScaledExp,
    Softmax,
    SoftmaxAndLog,
)

MOST = float(np.finfo("float64").max)
MAX_SAFE_EXPONENT = 600.0  # exponentials up to here do not overflow, nor do sums of them


@native.register(CAReduce)
def _(op: CAReduce, node: Apply) -> str | None:
    x, out = node.inputs[0].type.dtype, node.outputs[0].type.dtype
    kind = _inner(op, out)
    if kind is None:
        return f"sums in {op.accumulator(out)}"
    if NUMBER_CLASS[KINDS[x]] == "d" and NUMBER_CLASS[kind] == "i":
        return f"a reduction of {x} to {out}"
    return None if reduces(op.scalar_op.name, kind) else f"{op.scalar_op} along axes"


def _inner(op: CAReduce, out: str) -> str | None:
    """Return the kind in which a reduction accumulates; float64 for sums of float32."""
    wide = KINDS.get(op.accumulator(out))
    return "d" if wide == "f" and op.scalar_op.name not in EXTREMA else wide


@lower.register(CAReduce)
def _(op: CAReduce, node: Apply, plan: RegionPlan) -> None:
    x, out = node.inputs[0], node.outputs[0]
    shape, axes = plan.shape(x), op.axes(x.type.ndim)
    name = op.scalar_op.name
    if name in EXTREMA:
        not_empty(plan, shape, axes)
    kind, wanted = str(_inner(op, out.type.dtype)), KINDS[out.type.dtype]
    found = plan.reduce(plan.get(x), shape, axes, name, kind)
    if kind != wanted:
        rest = [ONE if a in axes else n for a, n in enumerate(shape)]
        found = plan.convert(found, rest, wanted)  # type: ignore[assignment]
    plan.of[out] = found if op.keepdims else without(found, axes)


def not_empty(plan: RegionPlan, shape: tuple[Length, ...], axes: tuple[int, ...]) -> None:
    """Refuse calls with nothing to reduce."""
    for a in axes:
        plan.require("positive", plan.word_of(shape[a]))


def without(x: View, axes: tuple[int, ...]) -> View:
    """Return a view without some axes, which have length 1."""
    return View(x.value, tuple([s for j, s in enumerate(x.steps) if j not in axes]), x.offset)


@native.register(Softmax)
@native.register(LogSoftmax)
@native.register(LogSumExp)
@native.register(SoftmaxAndLog)
@native.register(ScaledExp)
def _(op: Any, node: Apply) -> str | None:
    if not node.inputs[0].type.ndim:
        return "a single number"
    return None if node.inputs[0].type.kind == "f" else "integers"


def _exponentials(
    op: Any, node: Apply, plan: RegionPlan
) -> tuple[View, View, View, tuple[Length, ...], tuple[int, ...]]:
    """Return (x - m or m, exp(x - m), the sum of that, lengths, axes), for the maximum m along the
    axes, made finite. A softmax subtracts nothing if no exponential overflows and the sum is 1 or
    more: the difference has fewer digits.
    """
    x = node.inputs[0]
    shape, axes = plan.shape(x), op.axes(x.type.ndim)
    not_empty(plan, shape, axes)
    given = plan.convert(plan.get(x), shape, "d")
    top = plan.reduce(given, shape, axes, "maximum", "d")
    rest = [ONE if j in axes else n for j, n in enumerate(shape)]

    shift = plan.elementwise([top], rest, "d", ElementWriter(_shift, (isinstance(op, Softmax),)))
    low = plan.elementwise([given, shift], shape, "d", ElementWriter(_binary, ("fsub",)))
    e = plan.elementwise([low], shape, "d", ElementWriter(_unit, ("exp",)),
                         calls_function=True)  # fmt: skip
    total = plan.reduce(e, shape, axes, "add", "d")
    return (low if _takes_difference(op) else shift), e, total, shape, axes


def _shift(t: Assembler, xs: list[str], is_softmax: bool) -> str:
    """Write the number that is subtracted from exponents: the largest, if it is finite."""
    known = t.compare("oge", xs[0], t.constant(-MOST))  # not NaN, not -inf
    if is_softmax:
        small = t.compare("ole", xs[0], t.constant(MAX_SAFE_EXPONENT))
        small = t.bin("and", small, t.compare("oge", xs[0], t.constant(0.0)), "b")
        known = t.select(small, t.constant(0, "b"), known, "b")
    top = t.select(known, xs[0], t.constant(0.0))
    return t.intrinsic("minimum", top, t.constant(MOST))


def _binary(t: Assembler, xs: list[str], name: str) -> str:
    return t.bin(name, *xs)


def _unit(t: Assembler, xs: list[str], name: str) -> str:
    return t.unit(name, xs[0])


def _give(plan: RegionPlan, out: Any, found: View) -> None:
    """Convert a float64 result to the value of a variable."""
    plan.of[out] = plan.convert(found, plan.shape(out), KINDS[out.type.dtype])


def _takes_difference(op: Any) -> bool:
    """Return whether x - m is needed, and not m."""
    return not isinstance(op, LogSumExp) and getattr(op, "whole", True)


@lower.register(Softmax)
def _(op: Softmax, node: Apply, plan: RegionPlan) -> None:
    _, e, total, shape, _ = _exponentials(op, node, plan)
    found = plan.elementwise([e, total], shape, "d", ElementWriter(_binary, ("fdiv",)))
    _give(plan, node.outputs[0], found)


@lower.register(LogSoftmax)
def _(op: LogSoftmax, node: Apply, plan: RegionPlan) -> None:
    low, _, total, shape, axes = _exponentials(op, node, plan)
    rest = [ONE if j in axes else n for j, n in enumerate(shape)]
    log = plan.elementwise([total], rest, "d", ElementWriter(_unit, ("log",)),
                           calls_function=True)  # fmt: skip
    found = plan.elementwise([low, log], shape, "d", ElementWriter(_binary, ("fsub",)))
    _give(plan, node.outputs[0], found)


@lower.register(LogSumExp)
def _(op: LogSumExp, node: Apply, plan: RegionPlan) -> None:
    shift, _, total, shape, axes = _exponentials(op, node, plan)
    rest = [ONE if j in axes else n for j, n in enumerate(shape)]
    found = plan.elementwise(
        [total, shift], rest, "d", lambda t, xs: t.bin("fadd", t.unit("log", xs[0]), xs[1])
    )
    _give(plan, node.outputs[0], found if op.keepdims else without(found, axes))


@lower.register(SoftmaxAndLog)
def _(op: SoftmaxAndLog, node: Apply, plan: RegionPlan) -> None:
    x, e, total, shape, axes = _exponentials(op, node, plan)
    rest = [ONE if j in axes else n for j, n in enumerate(shape)]
    share, log = node.outputs
    _give(plan, share, plan.elementwise([e, total], shape, "d", ElementWriter(_binary, ("fdiv",))))
    found = plan.elementwise([total], rest, "d", ElementWriter(_unit, ("log",)),
                             calls_function=True)  # fmt: skip
    name, lengths = ("fsub", shape) if op.whole else ("fadd", rest)
    found = plan.elementwise([x, found], lengths, "d", ElementWriter(_binary, (name,)))
    _give(plan, log, found)


def _keeps_digits(ends: np.finfo[Any], t: Any, xs: list[str]) -> str:
    """Return whether sums of exponentials, given the smallest, need no shift."""
    most = t.constant(float(ends.max) ** ROOM)
    large = t.compare("oge", xs[0], t.constant(1.0))
    within = t.bin("and", large, t.compare("ole", xs[0], most), "b")
    tiny = t.compare("oge", xs[1], t.constant(float(ends.tiny)))
    small = t.bin("and", t.compare("olt", xs[0], t.constant(1.0)), tiny, "b")
    return str(t.bin("or", within, small, "b"))


def _scale(t: Any, xs: list[str]) -> str:
    """Return exp(x - shift) times a factor, NaN where the sum is."""
    found = t.bin("fmul", t.unit("exp", t.bin("fsub", xs[0], xs[1])), xs[2])
    return str(t.select(t.compare("uno", xs[3], xs[3]), xs[3], found))


@lower.register(ScaledExp)
def _(op: ScaledExp, node: Apply, plan: RegionPlan) -> None:
    """Compute exponentials like `scaled_exp_array`: shifted and scaled if the sum requires it."""
    x = node.inputs[0]
    shape, axes = plan.shape(x), op.axes(x.type.ndim)
    not_empty(plan, shape, axes)
    given = plan.convert(plan.get(x), shape, "d")
    rest = [ONE if j in axes else n for j, n in enumerate(shape)]
    top = plan.reduce(given, shape, axes, "maximum", "d")
    e = plan.elementwise([given], shape, "d", ElementWriter(_unit, ("exp",)), calls_function=True)
    total, least = [plan.reduce(e, shape, axes, name, "d") for name in ("add", "minimum")]
    terms = plan.word_of(times(*[shape[j] for j in axes]))
    ends = np.finfo(x.type.dtype)  # (computed in float64, it is shifted where float32 asks for it)
    most = float(ends.max)

    def room(t: Any, xs: list[str]) -> str:
        t.declare("i64 @llvm.ctlz.i64(i64, i1)")
        less = t.new(f"sub i64 {t.word(terms)}, 1")
        bits = t.new(f"sub i64 64, {t.new(f'call i64 @llvm.ctlz.i64(i64 {less}, i1 false)')}")
        bits = t.new(f"sub i64 0, {bits}") if op.small else bits
        power = t.new(f"shl i64 {t.new(f'add i64 {bits}, 1023')}, 52")
        power = t.spread(t.new(f"bitcast i64 {power} to double"), "d")
        return str(t.select(xs[0], t.constant(1.0), power, "d"))

    def finite(t: Any, xs: list[str]) -> str:
        known = t.compare("oge", xs[1], t.constant(-most))
        known = t.bin("and", known, t.bin("xor", xs[0], t.constant(1, "b"), "b"), "b")
        top = t.select(known, xs[1], t.constant(0.0))
        return str(t.intrinsic("minimum", top, t.constant(most)))

    keeps = plan.elementwise([total, least], rest, "b", partial(_keeps_digits, ends))
    factor = plan.elementwise([keeps], rest, "d", room)
    shift = plan.elementwise([keeps, top], rest, "d", finite)

    found = plan.elementwise([given, shift, factor, total], shape, "d", _scale, calls_function=True)
    _give(plan, node.outputs[0], found)
