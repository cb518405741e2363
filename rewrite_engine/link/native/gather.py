"""Indexing with an array of integers along one axis, to read (gather) and to write (scatter).

An index is held against the length before it is used; where one is out of bounds the kernel says
no, and the VM raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan, view_of, without_ones
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import ONE, Length, NativeValue, Number, Steps, View
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor
from rewrite_engine.tensor.index.template import INPUT, WHOLE


def _one_array(op: Any, index: Any) -> str | None:
    """Why the index is not one array of integers along one axis."""
    if sum(e == INPUT for e in op.idx_list) != 1 or any(
        e not in (INPUT, WHOLE) for e in op.idx_list
    ):
        return "more than one array among the indices, or something beside it"
    return None if index.type.dtype == "int64" else "a mask, or other integers than int64"


@native.register(AdvancedSubtensor)
def _(op: AdvancedSubtensor, node: Apply) -> str | None:
    return _one_array(op, node.inputs[1])


@native.register(AdvancedIncSubtensor)
def _(op: AdvancedIncSubtensor, node: Apply) -> str | None:
    x, y, index = (v.type for v in node.inputs[:3])
    if op.ignore_duplicates:
        return "of duplicates the last one counts"
    if x.dtype != y.dtype or x.dtype == "bool":
        return "values of another dtype"
    part = x.ndim - 1 + index.ndim
    if y.ndim and not (y.ndim == part and 1 not in y.shape):
        return "a value that is stretched"
    return _one_array(op, node.inputs[2])


@lower.register(AdvancedSubtensor)
def _(op: AdvancedSubtensor, node: Apply, plan: RegionPlan) -> None:
    x, index, out = *node.inputs, node.outputs[0]
    axis, kind = op.idx_list.index(INPUT), KINDS[out.type.dtype]
    views = [_view(plan, v) for v in (x, index)]
    shapes = [plan.shape(v) for v in (x, index, out)]

    def write(t: Any, value: NativeValue) -> None:
        def move(source: str, target: str) -> None:
            t.store_one(t.load_one(source, kind), target, kind)

        walk(t, axis, views[0], shapes[0], views[1], shapes[1], view_of(value, shapes[2]), move)

    plan.of[out] = plan.call(shapes[2], kind, views, write)


@lower.register(AdvancedIncSubtensor)
def _(op: AdvancedIncSubtensor, node: Apply, plan: RegionPlan) -> None:
    x, y, index = node.inputs
    axis, kind = op.idx_list.index(INPUT), KINDS[x.type.dtype]
    shape, places = plan.shape(x), plan.shape(index)
    whole = NativeValue(kind, without_ones(shape))
    all_ = view_of(whole, shape)
    kept: Steps = tuple([s for s in all_.steps if s is not None])
    base = plan.copy(plan.get(x), shape, kind, into=(whole, kept, None))
    wanted = (*shape[:axis], *places, *shape[axis + 1 :])
    if y.type.ndim:
        for d, n in zip(plan.dims.of(y), wanted, strict=True):
            plan.tell(d, n)
    given = _view(plan, y)
    if not y.type.ndim:
        given = View(given.value, (None,) * len(wanted), given.offset)
    views = [base, given, _view(plan, index)]

    def write(t: Any, value: NativeValue) -> None:
        def move(target: str, source: str) -> None:
            found = t.load_one(source, kind)
            if not op.set_instead_of_inc:
                old = t.load_one(target, kind)
                found = t.new(f"{'fadd double' if kind == 'd' else 'add i64'} {old}, {found}")
            t.store_one(found, target, kind)

        walk(t, axis, view_of(value, shape), shape, views[2], places, given, move)

    plan.call(shape, kind, views, write, into=(whole, kept, None))
    whole.at = len(plan.statements) - 1
    plan.of[node.outputs[0]] = all_


def _view(plan: RegionPlan, v: Any) -> View:
    """A variable, in memory."""
    x = plan.get(v)
    return plan.copy(x, plan.shape(v), x.kind) if isinstance(x, Number) else x


def walk(
    t: Any, axis: int, x: View, shape: Sequence[Length], index: View, places: Sequence[Length],
    part: View, move: Callable[[str, str], None],
) -> None:  # fmt: skip
    """`move(address in x, address in part)` for all elements of a part of x. The index runs outside
    of all axes of x, so that of several values for one element the last one comes last.
    """
    first = len(places)
    order = part.steps[axis : axis + first]
    rest = (*part.steps[:axis], *part.steps[axis + first :])
    other = [n for a, n in enumerate(shape) if a != axis]
    steps = [s for a, s in enumerate(x.steps) if a != axis]
    start = [t.address(v.value, v.offset) for v in (x, index, part)]
    x_kind, part_kind = x.value.kind, part.value.kind

    def inside(k: int, a: str, b: str) -> None:
        if k == len(other):
            return move(a, b)
        each(t, other[k], lambda i: inside(
            k + 1, step(t, a, i, steps[k], x_kind), step(t, b, i, rest[k], part_kind)
        ))  # fmt: skip
        return None

    def outside(k: int, at: str, b: str) -> None:
        if k < first:
            return each(t, places[k], lambda i: outside(
                k + 1, step(t, at, i, index.steps[k], "i"), step(t, b, i, order[k], part_kind)
            ))  # fmt: skip
        place = checked(t, t.load_one(at, "i"), t.length(shape[axis]))
        return inside(0, step(t, start[0], place, x.steps[axis], x_kind), b)

    outside(0, start[1], start[2])


def each(t: Any, n: Length, body: Callable[[str], None]) -> None:
    """A loop, if there is more than one."""
    if n == ONE:
        return body("0")

    def one(i: str, _: list[str]) -> list[str]:
        body(i)
        return []

    t.loop("0", t.length(n), "1", one)
    return None


def step(t: Any, pointer: str, i: str, far: Length | None, kind: str) -> str:
    """The address of element i along an axis."""
    if far is None or i == "0":
        return pointer
    at = i if far == ONE else t.new(f"mul i64 {i}, {t.length(far)}")
    return str(t.at(pointer, at, kind))


def checked(t: Any, i: str, n: str) -> str:
    """An index, counted from the front. The kernel ends where it is out of bounds."""
    below = t.new(f"icmp slt i64 {i}, 0")
    found = t.new(f"select i1 {below}, i64 {t.new(f'add i64 {i}, {n}')}, i64 {i}")
    good, bad = t.label(), t.label()
    t.do(f"br i1 {t.new(f'icmp ult i64 {found}, {n}')}, label %{good}, label %{bad}")
    t.start(bad)
    t.do("ret i64 1")
    t.start(good)
    return str(found)
