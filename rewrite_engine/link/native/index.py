"""Indexing with integers and slices, and diagonals: views, and writes into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.scalars import write as scalar
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import (
    ONE,
    Length,
    NativeValue,
    Number,
    View,
    times,
    view_of,
    without_ones,
)
from rewrite_engine.link.native.views import length_of, straight
from rewrite_engine.scalar import ops as scalars
from rewrite_engine.tensor.index.diagonals import Diagonal, IncDiagonal
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import INPUT, NEWAXIS, WHOLE, Slice

# --- parts of arrays --------------------------------------------------------------------------


def _plain(template: tuple[object, ...]) -> str | None:
    """Explain why a template does not consist of integers and slices with known steps; None if it
    does.
    """
    steps = [e.step for e in template if isinstance(e, Slice)]
    return "a run-time step" if INPUT in steps else None


@native.register(Subtensor)
def _(op: Subtensor, node: Apply) -> str | None:
    return _plain(op.idx_list)


def view_part(op: Subtensor, node: Apply, plan: RegionPlan) -> None:
    """Return a part as a view, for indices that are known before the region runs."""
    x, *numbers = node.inputs
    out = node.outputs[0]
    found, lengths = part(plan, plan.get(x), plan.shape(x), op.idx_list, numbers)
    for d, n in zip(plan.dims.of(out), lengths, strict=True):
        plan.tell(d, n)
    plan.of[out] = straight(found, plan.shape(out))


def part(
    plan: RegionPlan, x: View | Number, shape: tuple[Length, ...], template: tuple[object, ...],
    numbers: Sequence[Any] = (),
) -> tuple[View | Number, list[Length]]:  # fmt: skip
    """Return the part of a view that a template selects, and its lengths. numbers: the variables
    that are the template's inputs.
    """
    steps, lengths, offsets, a = list[Length | None](), list[Length](), list[int](), 0
    old = x.steps if isinstance(x, View) else (None,) * len(shape)
    given = iter(numbers)
    for e in (*template, *[WHOLE] * (len(shape) - sum(e != NEWAXIS for e in template))):
        if e == NEWAXIS:
            steps.append(None)
            lengths.append(ONE)
            continue
        n, step = shape[a], old[a]
        a += 1
        if isinstance(e, Slice):
            first, length, by = _slice(plan, n, e, given)
            lengths.append(length)
            steps.append(step if step is None or by == 1 else times((by, ()), step))
        else:
            first = _at(plan, n, length_of(plan, next(given)) if e == INPUT else (e, ()))
        if first is not None and step is not None:
            offsets.append(plan.compute("mul", first, plan.word_of(step)))
    if isinstance(x, Number):
        return x, lengths
    offset = x.offset
    for word in offsets:
        offset = word if offset is None else plan.compute("add", offset, word)
    return View(x.value, tuple(steps), offset), lengths


def _at(plan: RegionPlan, n: Length, i: Any) -> int:
    """Return the word with an index, which must be inside."""
    number, words = i
    word = plan.word_of(n)
    if words:
        found = plan.compute("wrap", plan.word_of(i), word)
        plan.require("less", plan.constant_word(-1), found)
        plan.require("less", found, word)
    elif number >= 0:
        found = plan.constant_word(number)
        plan.require("less", found, word)
    else:
        found = plan.compute("add", word, plan.constant_word(number))
        plan.require("less", plan.constant_word(-1), found)
    return found


def _slice(
    plan: RegionPlan, n: Length, e: Slice, given: Iterator[Any]
) -> tuple[int | None, Length, int]:
    """Return (the word with the first index, the length, the step) of a slice."""
    by = 1 if e.step is None else int(e.step)
    if e.start is None and e.stop is None and abs(by) == 1:
        return None if by == 1 else plan.compute(
            "sub", plan.word_of(n), plan.constant_word(1)
        ), n, by  # fmt: skip
    ends = [length_of(plan, next(given)) if p == INPUT else p for p in (e.start, e.stop)]
    known = [p[0] if isinstance(p, tuple) and not p[1] else p for p in ends]
    if not n[1] and not any([isinstance(p, tuple) for p in known]):
        found = range(*slice(known[0], known[1], by).indices(n[0]))
        return plan.constant_word(found.start), (len(found), ()), by
    low, high = (None, n) if by > 0 else ((-1, ()), None)
    start = _clamp(plan, n, known[0], by, low if by > 0 else high)
    stop = _clamp(plan, n, known[1], by, high if by > 0 else low)
    span = plan.compute("sub", stop, start) if by > 0 else plan.compute("sub", start, stop)
    if abs(by) != 1:
        span = plan.compute("add", span, plan.constant_word(abs(by) - 1))
    span = plan.compute("max", span, plan.constant_word(0))
    if abs(by) != 1:
        span = plan.compute("div", span, plan.constant_word(abs(by)))
    return start, (1, (span,)), by


def _clamp(plan: RegionPlan, n: Length, i: Any, by: int, default: Any) -> int:
    """Return the word with an end of a slice, as Python clips it. i: None, a number or a length."""
    zero, length = plan.constant_word(0), plan.word_of(n)
    low = zero if by > 0 else plan.constant_word(-1)
    high = length if by > 0 else plan.compute("sub", length, plan.constant_word(1))
    if i is None:
        if default is None:
            return zero if by > 0 else high
        return plan.word_of(default) if default[0] != -1 else low
    if isinstance(i, tuple):
        word = plan.compute("wrap", plan.word_of(i), length)
        return plan.compute("max", plan.compute("min", word, high), low)
    if i >= 0:
        return plan.compute("min", plan.constant_word(i), high)
    return plan.compute("max", plan.compute("add", length, plan.constant_word(i)), low)


# --- diagonals --------------------------------------------------------------------------------


@native.register(Diagonal)
def _(op: Diagonal, node: Apply) -> str | None:
    return None


@lower.register(Diagonal)
def _(op: Diagonal, node: Apply, plan: RegionPlan) -> None:
    x, out = node.inputs[0], node.outputs[0]
    found, lengths = _diagonal(plan, plan.get(x), plan.shape(x), op.offset, *op.axes(x.type.ndim))
    for d, n in zip(plan.dims.of(out), lengths, strict=True):
        plan.tell(d, n)
    plan.of[out] = straight(found, plan.shape(out))


def _diagonal(
    plan: RegionPlan, x: View | Number, shape: tuple[Length, ...], above: int, a: int, b: int
) -> tuple[View | Number, list[Length]]:
    """Return the diagonals in two axes as the last axis, and the lengths."""
    rows, columns = shape[a], shape[b]
    others = [i for i in range(len(shape)) if i not in (a, b)]
    length = _shorter(plan, rows, columns, above)
    lengths = [*[shape[i] for i in others], length]
    if isinstance(x, Number):
        return x, lengths
    down, right = x.steps[a], x.steps[b]
    both: Length | None = down or right
    if down is not None and right is not None:
        both = (1, (plan.compute("add", plan.word_of(down), plan.word_of(right)),))
    first, offset = right if above > 0 else down, x.offset
    if above and first is not None:
        more = plan.word_of(times((abs(above), ()), first))
        offset = more if offset is None else plan.compute("add", offset, more)
    return View(x.value, (*[x.steps[i] for i in others], both), offset), lengths


def _shorter(plan: RegionPlan, rows: Length, columns: Length, above: int) -> Length:
    """Return the length of a diagonal."""
    if rows == columns and not above:
        return rows
    if not rows[1] and not columns[1]:
        return (max(0, min(rows[0] + min(above, 0), columns[0] - max(above, 0))), ())
    ends = [
        plan.compute("sub", plan.word_of(n), plan.constant_word(k)) if k else plan.word_of(n)
        for n, k in ((rows, max(-above, 0)), (columns, max(above, 0)))
    ]
    return (1, (plan.compute("max", plan.compute("min", *ends), plan.constant_word(0)),))


# --- writing into parts -----------------------------------------------------------------------


@native.register(IncSubtensor)
@native.register(IncDiagonal)
def _(op: Any, node: Apply) -> str | None:
    return _plain(op.idx_list)


def write_part(op: IncSubtensor, node: Apply, plan: RegionPlan) -> None:
    """Return a copy with values written into a part, for indices that are known before the region
    runs.
    """
    x, numbers = node.inputs[0], node.inputs[2:]
    _write(op, node, plan, lambda base: part(plan, base, plan.shape(x), op.idx_list, numbers))


@lower.register(IncDiagonal)
def _(op: IncDiagonal, node: Apply, plan: RegionPlan) -> None:
    n, shape = node.inputs[0].type.ndim, plan.shape(node.inputs[0])
    _write(op, node, plan, lambda base: _diagonal(plan, base, shape, op.offset, n - 2, n - 1))


def _write(op: Any, node: Apply, plan: RegionPlan, select: Any) -> None:
    """Build a copy of an array with values stored in a part of it, or added there."""
    x, y = node.inputs[:2]
    shape, kind = plan.shape(x), KINDS[x.type.dtype]
    whole = NativeValue(kind, without_ones(shape))
    all_ = view_of(whole, shape)
    kept = tuple([s for s in all_.steps if s is not None])
    base = plan.copy(plan.get(x), shape, kind, into=(whole, kept, None))
    target, lengths = select(view_of(base.value, shape))
    more = len(lengths) - y.type.ndim
    for d, own, n in zip(plan.dims.of(y), plan.shape(y), lengths[more:], strict=True):
        if own != ONE:
            plan.tell(d, n)  # (what is not known to be 1 has to be as long)
    lengths[more:] = [n if own == ONE else own
                      for own, n in zip(plan.shape(y), lengths[more:], strict=True)]  # fmt: skip
    # (of an axis of length 1 that has no step, a part has no elements)
    steps = tuple([s or ONE for s, n in zip(target.steps, lengths, strict=True) if n != ONE])
    target = View(target.value, tuple(
        [None if n == ONE else s for s, n in zip(target.steps, lengths, strict=True)]
    ), target.offset)  # fmt: skip
    given = [plan.get(y)] if op.set_instead_of_inc else [plan.get(y), target]
    own_kind = KINDS[y.type.dtype]

    def write(t: Any, xs: list[str]) -> str:
        found = convert(t, xs[0], own_kind, kind)
        return found if len(xs) == 1 else scalar(scalars.add, t, kind, (xs[1], found))

    done = plan.elementwise(given, lengths, kind, write,
                            into=(whole, steps, target.offset), after=base.value.at)  # fmt: skip
    whole.at = done.value.at
    plan.of[node.outputs[0]] = all_
