"""Indexing with integer arrays, to read (gather) and to write (scatter), also with integers
computed in the same region.

Each index is checked against the length before use. If an index is out of bounds, the kernel
refuses, and the VM raises the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.index import part, view_part, write_part
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import NotNative, RegionPlan
from rewrite_engine.link.native.scalars import write as scalar
from rewrite_engine.link.native.text import KINDS, SIZE
from rewrite_engine.link.native.values import (
    ONE,
    Length,
    NativeValue,
    Steps,
    View,
    view_of,
    without_ones,
)
from rewrite_engine.link.native.views import length_of
from rewrite_engine.link.native.walk import (
    check_index,
    in_memory,
    step,
    write_loop,
    write_loops,
)
from rewrite_engine.scalar import ops as scalars
from rewrite_engine.tensor.index.gather import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    is_together,
)
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import INPUT, WHOLE, Slice


def _arrays(op: Any, indices: Sequence[Any]) -> str | None:
    """Explain why indices are not arrays of integers, with integers and slices among them; None if
    they are.
    """
    for e in op.idx_list:
        if e != INPUT and not isinstance(e, int) and not (isinstance(e, Slice) and e.is_static):
            return "a new axis or a run-time slice with index arrays"
    return None if all([v.type.kind in "iu" for v in indices]) else "a mask as an index"


def _is_filled(op: Any, y: Any, indices: Sequence[Any]) -> bool:
    """Return whether a number is stored where a mask holds, and nothing else."""
    alone = op.idx_list == (INPUT,) and indices[0].type.dtype == "bool"
    return alone and op.set_instead_of_inc and not y.type.ndim


@native.register(AdvancedSubtensor)
def _(op: AdvancedSubtensor, node: Apply) -> str | None:
    return _arrays(op, node.inputs[1:])


@native.register(AdvancedIncSubtensor)
def _(op: AdvancedIncSubtensor, node: Apply) -> str | None:
    x, y, *indices = node.inputs
    if op.ignore_duplicates:
        return "the last of duplicate indices counts"
    if x.type.dtype == "bool" and not op.set_instead_of_inc:
        return "addition of truth values"
    return None if _is_filled(op, y, indices) else _arrays(op, indices)


MANY_ELEMENTS = 16  # of a row that is copied by one call


class IndexedElements(NamedTuple):
    """Elements that index arrays select. x: the array, sliced. places: (axis, index: a view along
    `wide`, or an integer). wide: the lengths of the index arrays together. at: the position of
    `wide` in the result. kept: the axes of x that stay. shape: of x.
    """

    x: View
    places: list[tuple[int, View | int]]
    wide: tuple[Length, ...]
    at: int
    kept: list[int]
    shape: list[Length]

    @property
    def lengths(self) -> tuple[Length, ...]:
        """Return the lengths of the result."""
        rest = [self.shape[a] for a in self.kept]
        return (*rest[: self.at], *self.wide, *rest[self.at :])


def _selection(
    plan: RegionPlan, op: Any, x: View, shape: Sequence[Length], indices: Sequence[Any]
) -> IndexedElements:
    given = [in_memory(plan, v) for v in indices]
    shapes = [plan.shape(v) for v in indices]
    wide = _together(plan, shapes)
    slices = tuple([e if isinstance(e, Slice) else WHOLE for e in op.idx_list])
    sliced, lengths = part(plan, x, tuple(shape), slices)
    assert isinstance(sliced, View)
    views = iter(zip(given, shapes, strict=True))
    places: list[tuple[int, View | int]] = []
    for axis, e in enumerate(op.idx_list):
        if e == INPUT:
            view, own = next(views)
            steps = [None if n == ONE else s for s, n in zip(view.steps, own, strict=True)]
            more = len(wide) - len(own)
            places.append((axis, View(view.value, (*[None] * more, *steps), view.offset)))
        elif isinstance(e, int):
            places.append((axis, e))
    selection = [axis for axis, _ in places]
    kept = [a for a in range(len(lengths)) if a not in selection]
    at = sum(a < selection[0] for a in kept) if is_together(selection) else 0
    return IndexedElements(sliced, places, wide, at, kept, lengths)


def _together(plan: RegionPlan, shapes: Sequence[tuple[Length, ...]]) -> tuple[Length, ...]:
    """Return the broadcast shape of arrays of indices; lengths that are not known to be 1 are
    equal.
    """
    found = list[Length]()
    for axis in range(-max(map(len, shapes), default=0), 0):
        lengths = [s[axis] for s in shapes if len(s) >= -axis and s[axis] != ONE]
        for n in lengths[1:]:
            if n != lengths[0]:
                plan.require("equal", plan.word_of(lengths[0]), plan.word_of(n))
        found.append(lengths[0] if lengths else ONE)
    return tuple(found)


@lower.register(Subtensor)
def _(op: Subtensor, node: Apply, plan: RegionPlan) -> None:
    (_read if _is_late(plan, op, node.inputs[1:]) else view_part)(op, node, plan)


@lower.register(IncSubtensor)
def _(op: IncSubtensor, node: Apply, plan: RegionPlan) -> None:
    (_write if _is_late(plan, op, node.inputs[2:]) else write_part)(op, node, plan)


def _is_late(plan: RegionPlan, op: Any, numbers: Sequence[Any]) -> bool:
    """Return whether integers among the indices are computed here, and can be read by a kernel."""
    if _arrays(op, numbers) is not None:
        return False
    try:
        [length_of(plan, v) for v in numbers]
    except NotNative:
        return True
    return False


@lower.register(AdvancedSubtensor)
def _read(op: Any, node: Apply, plan: RegionPlan) -> None:
    x, *indices = node.inputs
    out, kind = node.outputs[0], KINDS[x.type.dtype]
    selection = _selection(plan, op, in_memory(plan, x), plan.shape(x), indices)
    for d, n in zip(plan.dims.of(out), selection.lengths, strict=True):
        plan.tell(d, n)
    shape = plan.shape(out)

    def write(t: Any, value: NativeValue) -> None:
        def move(source: str, target: str) -> None:
            t.store_one(t.load_one(source, kind), target, kind)

        def move_row(n: Length, steps: tuple[Any, Any], source: str, target: str) -> None:
            write_row(t, kind, n, steps, source, target, move)

        walk(t, selection, view_of(value, shape), move, move_row)

    reads = [selection.x, *[i for _, i in selection.places if isinstance(i, View)]]
    found = plan.of[out] = plan.call(shape, kind, reads, write)
    plan.always(found.value)  # an index may be out of bounds, also where only lengths are needed


@lower.register(AdvancedIncSubtensor)
def _write(op: Any, node: Apply, plan: RegionPlan) -> None:
    x, y, *indices = node.inputs
    kind, shape = KINDS[x.type.dtype], plan.shape(x)
    if _is_filled(op, y, indices):
        return _fill(node, plan, shape, kind)
    whole = NativeValue(kind, without_ones(shape))
    all_ = view_of(whole, shape)
    kept: Steps = tuple([s for s in all_.steps if s is not None])
    base = plan.copy(plan.get(x), shape, kind, into=(whole, kept, None))
    selection = _selection(plan, op, view_of(base.value, shape), shape, indices)
    given, given_kind = _fitting(plan, y, selection.lengths), KINDS[y.type.dtype]

    def write(t: Any, value: NativeValue) -> None:
        def move(target: str, source: str) -> None:
            found = convert(t, t.load_one(source, given_kind), given_kind, kind)
            if not op.set_instead_of_inc:
                found = scalar(scalars.add, t, kind, (t.load_one(target, kind), found))
            t.store_one(found, target, kind)

        own = View(value, selection.x.steps, selection.x.offset)
        walk(t, selection._replace(x=own), given, move)

    reads = [base, given, *[i for _, i in selection.places if isinstance(i, View)]]
    plan.always(plan.call(shape, kind, reads, write, into=(whole, kept, None)).value)
    whole.at = len(plan.statements) - 1
    plan.of[node.outputs[0]] = all_
    return None


def _fill(node: Apply, plan: RegionPlan, shape: tuple[Length, ...], kind: str) -> None:
    """Store a number where a mask holds."""
    x, y, mask = node.inputs
    for d, n in zip(plan.dims.of(mask), shape, strict=False):
        plan.tell(d, n)
    given, own = plan.get(mask), KINDS[y.type.dtype]
    if isinstance(given, View):
        more = len(shape) - mask.type.ndim
        given = View(given.value, given.steps + (None,) * more, given.offset)

    def write(t: Any, xs: list[str]) -> str:
        return str(t.select(xs[0], convert(t, xs[1], own, kind), xs[2], kind))

    plan.of[node.outputs[0]] = plan.elementwise([given, plan.get(y), plan.get(x)], shape, kind,
                                                write)  # fmt: skip


def _fitting(plan: RegionPlan, y: Any, wanted: Sequence[Length]) -> View:
    """Return a value along the axes of the part that it is stored in; lengths that are not known to
    be 1 must be equal.
    """
    given, own = in_memory(plan, y), plan.shape(y)
    more = len(wanted) - len(own)
    steps = [None if n == ONE else s for s, n in zip(given.steps, own, strict=True)]
    for d, n, length in zip(plan.dims.of(y), own, wanted[more:], strict=True):
        if n != ONE:
            plan.tell(d, length)
    return View(given.value, (*[None] * more, *steps), given.offset)


def write_row(
    t: Any, kind: str, n: Length, steps: tuple[Any, Any], source: str, target: str,
    move: Callable[[str, str], None],
) -> None:  # fmt: skip
    """Write a copy of n elements: all at once if they are many, and lie side by side."""
    length, size = t.length(n), SIZE[kind]
    many = t.new(f"icmp sge i64 {length}, {MANY_ELEMENTS}")
    for one in steps:
        near = t.new(f"icmp eq i64 {t.length(one)}, 1")
        many = t.new(f"and i1 {many}, {near}")
    whole, single, behind = t.label(), t.label(), t.label()
    t.do(f"br i1 {many}, label %{whole}, label %{single}")
    t.start(whole)
    t.declare("void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    bytes_ = t.new(f"mul i64 {length}, {size}")
    t.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {bytes_}, i1 false)")
    t.do(f"br label %{behind}")
    t.start(single)

    def one_by_one(i: str) -> None:
        move(step(t, source, i, steps[0], kind), step(t, target, i, steps[1], kind))

    write_loop(t, n, one_by_one)
    t.do(f"br label %{behind}")
    t.start(behind)


def walk(
    t: Any, selection: IndexedElements, other: View, move: Callable[[str, str], None],
    move_row: Callable[[Length, tuple[Any, Any], str, str], None] | None = None,
) -> None:  # fmt: skip
    """Write a loop that calls `move(address in x, address in other)` for all selected elements.
    Index loops run outside the axes that stay, so that the last of several values for one element
    is written last. move_row: a function of a length, steps and addresses for the last of the axes
    that stay.
    """
    x, at, n = selection.x, selection.at, len(selection.wide)
    order = other.steps[at : at + n]
    rest = (*other.steps[:at], *other.steps[at + n :])
    kept = [x.steps[a] for a in selection.kept]
    views = [i for _, i in selection.places if isinstance(i, View)]
    first, start = t.address(x.value, x.offset), t.address(other.value, other.offset)
    pointers = [t.address(v.value, v.offset) for v in views]

    def inside(addresses: list[str]) -> None:
        *found, target = addresses
        numbers, source = iter(found), first
        for axis, index in selection.places:
            i = str(index)
            if isinstance(index, View):
                kind = index.value.kind
                i = convert(t, t.load_one(next(numbers), kind), kind, "i")
            i = check_index(t, i, t.length(selection.shape[axis]))
            source = step(t, source, i, x.steps[axis], x.value.kind)
        lengths = [selection.shape[a] for a in selection.kept]
        pair = [source, target]
        steps = (kept[-1], rest[-1]) if kept else ()
        if move_row is None or not steps or None in steps:
            return write_loops(t, lengths, [x, other], [kept, rest], pair, lambda p: move(*p))
        return write_loops(t, lengths[:-1], [x, other], [kept, rest], pair,
                           lambda p: move_row(lengths[-1], steps, *p))  # fmt: skip

    steps = [v.steps for v in views] + [order]
    write_loops(t, selection.wide, [*views, other], steps, [*pointers, start], inside)
