"""Views, and lengths as values: only steps and offsets are computed."""

from __future__ import annotations

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.formula import _FormulaOutput
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import NotNative, RegionPlan
from rewrite_engine.link.native.values import (
    ONE,
    Length,
    Number,
    View,
    in_order,
    times,
    without_ones,
)
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.reshape import Reshape
from rewrite_engine.tensor.shape import CheckedLength, Shape_i, SpecifyShape, Unbroadcast
from rewrite_engine.tensor.shaping.joins import Split


@native.register(DimShuffle)
def _(op: DimShuffle, node: Apply) -> str | None:
    return None


@lower.register(DimShuffle)
def _(op: DimShuffle, node: Apply, plan: RegionPlan) -> None:
    x = plan.get(node.inputs[0])
    for i in op.drop:
        plan.tell(plan.dims.of(node.inputs[0])[i], ONE)
    if isinstance(x, View):
        steps = [x.steps[o] if isinstance(o, int) else None for o in op.new_order]
        x = View(x.value, tuple(steps), x.offset)
    plan.of[node.outputs[0]] = x


@native.register(Shape_i)
@native.register(CheckedLength)
def _(op: Shape_i, node: Apply) -> str | None:
    return None


@lower.register(Shape_i)
def _(op: Shape_i, node: Apply, plan: RegionPlan) -> None:
    length = plan.length(plan.dims.of(node.inputs[0])[op.i])
    plan.of[node.outputs[0]] = number_of(plan, length)


@lower.register(CheckedLength)
def _(op: CheckedLength, node: Apply, plan: RegionPlan) -> None:
    numbers = [length_of(plan, x) for x in node.inputs]
    for i, j in op.pairs():
        if numbers[i] != numbers[j]:
            plan.require("equal", plan.word_of(numbers[i]), plan.word_of(numbers[j]))
    plan.of[node.outputs[0]] = plan.get(node.inputs[0])


def number_of(plan: RegionPlan, n: Length) -> View | Number:
    """Return a length as an int64 number."""
    number, words = n
    if not words:
        return Number(number, "i")
    word = plan.word_of(n)
    return plan.elementwise([], (), "i", lambda t, xs: t.spread(t.word(word), "i"))


def length_of(plan: RegionPlan, v: Variable) -> Length:
    """Return the length that a number stands for."""
    count = plan.dims.counts.get(v)
    if count is not None:
        return plan.length(count)
    x = plan.get(v)
    if isinstance(x, Number):
        return (int(x.value), ())
    return (1, (value_word(plan, x),))


def value_word(plan: RegionPlan, x: View) -> int:
    """Return the word with an integer argument."""
    if x.value.at >= 0 or x.value.word is None or x.offset is not None or x.value.kind != "i":
        raise NotNative("a run-time length of the same region")
    return plan.compute("load", x.value.word)


def straight(x: View | Number, shape: tuple[Length, ...]) -> View | Number:
    """Return a view without steps along axes of length 1."""
    if isinstance(x, Number):
        return x
    return View(x.value, tuple([None if n == ONE else s for s, n in zip(x.steps, shape)]),
                x.offset)  # fmt: skip


# --- shapes -----------------------------------------------------------------------------------


@native.register(SpecifyShape)
def _(op: SpecifyShape, node: Apply) -> str | None:
    return None if len(node.inputs) == 1 else "run-time lengths"


@lower.register(SpecifyShape)
def _(op: SpecifyShape, node: Apply, plan: RegionPlan) -> None:
    x, out = node.inputs[0], node.outputs[0]
    for d, n in zip(plan.dims.of(x), op.shape, strict=True):
        if n is not None:
            plan.tell(d, (int(n), ()))
    for a, b in zip(plan.dims.of(x), plan.dims.of(out), strict=True):
        plan.tell(b, plan.length(a))
    plan.of[out] = straight(plan.get(x), plan.shape(out))


@native.register(_FormulaOutput)
def _(op: _FormulaOutput, node: Apply) -> str | None:
    return None


@lower.register(_FormulaOutput)
def _(op: _FormulaOutput, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    plan.of[out] = straight(plan.get(node.inputs[0]), plan.shape(out))


@native.register(Reshape)
def _(op: Reshape, node: Apply) -> str | None:
    return None


@lower.register(Reshape)
def _(op: Reshape, node: Apply, plan: RegionPlan) -> None:
    """A view, of a copy if the elements do not lie one behind the other."""
    x, out = node.inputs[0], node.outputs[0]
    shape, numbers = plan.shape(x), iter(node.inputs[1:])
    given: list[Length | None] = []
    for s in op.shape:
        n = length_of(plan, next(numbers)) if s == "i" else (int(s), ())
        given.append(None if n == (-1, ()) else n)
        if n[1]:  # a negative number would be what is left over
            plan.require("less", plan.constant_word(-1), plan.word_of(n))
    total = times(*shape)
    known = times(*[n for n in given if n is not None])
    if None in given:
        rest = quotient(plan, total, known)
        given = [rest if n is None else n for n in given]
    elif total != known:
        plan.require("equal", plan.word_of(total), plan.word_of(known))
    for d, length in zip(plan.dims.of(out), given, strict=True):
        plan.tell(d, length or ONE)
    found, wanted = plan.get(x), plan.shape(out)
    if isinstance(found, View):
        if found.offset is not None or not _in_order(found, shape):
            kind = found.value.kind
            found = plan.copy(found, shape, kind)
        steps = iter(in_order(without_ones(wanted)))
        each = tuple([None if n == ONE else next(steps) for n in wanted])
        found = View(found.value, each, found.offset)
    plan.of[out] = found


@native.register(Unbroadcast)
def _(op: Unbroadcast, node: Apply) -> str | None:
    return None


@lower.register(Unbroadcast)
def _(op: Unbroadcast, node: Apply, plan: RegionPlan) -> None:
    plan.of[node.outputs[0]] = plan.get(node.inputs[0])


def _in_order(x: View, shape: tuple[Length, ...]) -> bool:
    """Return whether a view shows elements in order."""
    steps = tuple([s for s, n in zip(x.steps, shape, strict=True) if n != ONE])
    return steps == in_order(without_ones(shape))


def quotient(plan: RegionPlan, total: Length, known: Length) -> Length:
    """Return the quotient of a number of elements and known lengths."""
    left = list(total[1])
    for word in known[1]:
        if word in left:
            left.remove(word)
        else:
            break
    else:
        if known[0] and total[0] % known[0] == 0:
            if known[1]:  # of nothing, any number would be left over
                plan.require("positive", plan.word_of(known))
            return (total[0] // known[0], tuple(left))
    a, b = plan.word_of(total), plan.word_of(known)
    plan.require("positive", b)
    found = plan.compute("div", a, b)
    plan.require("equal", plan.compute("mul", found, b), a)
    return (1, (found,))


@native.register(Split)
def _(op: Split, node: Apply) -> str | None:
    return None


@lower.register(Split)
def _(op: Split, node: Apply, plan: RegionPlan) -> None:
    """Pieces that are views, whose lengths have to add up."""
    x, numbers = node.inputs[0], iter(node.inputs[1:])
    shape, given = plan.shape(x), plan.get(x)
    sizes = [length_of(plan, next(numbers)) if s == "i" else (int(s), ()) for s in op.sizes]
    start = none = plan.constant_word(0)
    for out, size in zip(node.outputs, sizes, strict=True):
        if size[1]:
            plan.require("less", plan.constant_word(-1), plan.word_of(size))
        for a, d in enumerate(plan.dims.of(out)):
            plan.tell(d, size if a == op.axis else shape[a])
        piece = given
        if isinstance(piece, View):
            step, offset = piece.steps[op.axis], piece.offset
            if step is not None and start != none:
                more = plan.compute("mul", start, plan.word_of(step))
                offset = more if offset is None else plan.compute("add", offset, more)
            piece = straight(View(piece.value, piece.steps, offset), plan.shape(out))
        plan.of[out] = piece
        start = plan.compute("add", start, plan.word_of(size))
    plan.require("equal", start, plan.word_of(shape[op.axis]))
