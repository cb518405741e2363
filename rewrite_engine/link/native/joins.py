"""Arrays that are put together, filled, or multiplied."""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import NotNative, RegionPlan, view_of, without_ones
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import ONE, Length, NativeValue, Number, View, times
from rewrite_engine.link.native.views import length_of
from rewrite_engine.tensor.creation import Alloc
from rewrite_engine.tensor.product.dots import Dot
from rewrite_engine.tensor.shaping.joins import Join, MakeVector


@native.register(Join)
@native.register(MakeVector)
def _(op: Any, node: Apply) -> str | None:
    dtypes = {v.type.dtype for v in (*node.inputs, *node.outputs)}
    return None if len(dtypes) == 1 else "arrays of several dtypes"


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


def together(
    plan: RegionPlan, parts: list[Any], shape: tuple[Length, ...], axis: int, kind: str
) -> View | Number:
    """An array made of parts along an axis: each a view, its shape, and the word with the place
    where it begins.
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
        done = plan.copy(x, own, kind, into=(whole, steps, offset))
        whole.at = max(whole.at, done.value.at)
    return view


@native.register(Alloc)
def _(op: Alloc, node: Apply) -> str | None:
    value, out = node.inputs[0].type, node.outputs[0].type
    return None if value.dtype == out.dtype else "a value of another dtype"


@lower.register(Alloc)
def _(op: Alloc, node: Apply, plan: RegionPlan) -> None:
    out = node.outputs[0]
    given = plan.get(node.inputs[0])
    for d, x in zip(plan.dims.of(out), node.inputs[1:], strict=True):
        n = length_of(plan, x)
        if n[1]:
            plan.require("less", plan.constant_word(-1), plan.word_of(n))
        plan.tell(d, n)
    shape = plan.shape(out)
    if isinstance(given, View):
        own = plan.shape(node.inputs[0])
        for a, b in zip(own[::-1], shape[::-1], strict=False):
            if a not in (ONE, b):
                plan.require("equal", plan.word_of(a), plan.word_of(b))
        more = len(shape) - len(own)
        given = View(given.value, (None,) * more + given.steps, given.offset)
        plan.of[out] = given
    else:
        plan.of[out] = given


@native.register(Dot)
def _(op: Dot, node: Apply) -> str | None:
    dtypes = {v.type.dtype for v in (*node.inputs, *node.outputs)}
    return None if dtypes == {"float64"} else "a product of other numbers than float64"


@lower.register(Dot)
def _(op: Dot, node: Apply, plan: RegionPlan) -> None:
    a, b = node.inputs
    out = node.outputs[0]
    views = [_stored(plan, plan.get(x), plan.shape(x)) for x in (a, b)]
    rows = [(plan.shape(a), 0 if a.type.ndim > 1 else None, a.type.ndim - 1),
            (plan.shape(b), 0, 1 if b.type.ndim > 1 else None)]  # fmt: skip
    sizes = [_length(rows[0], 1), _length(rows[0], 2), _length(rows[1], 2)]
    steps = [_step(v, axis) for v, row in zip(views, rows) for axis in row[1:]]
    words = [plan.word_of(n) for n in sizes]
    strides = [plan.word_of(times((8, ()), s)) for s in steps]
    result = [plan.word_of(times((8, ()), n)) for n in (sizes[2], ONE)]

    def write(t: Any, value: NativeValue) -> None:
        addresses = [t.address(v.value, v.offset) for v in views] + [t.address(value)]
        call_product(t, addresses, words, strides + result)

    plan.of[out] = plan.call(plan.shape(out), "d", views, write)


def _stored(plan: RegionPlan, x: View | Number, shape: tuple[Length, ...]) -> View:
    """A view of what is in memory."""
    if isinstance(x, Number):
        return plan.copy(x, shape, x.kind)
    return x


def _length(row: Any, k: int) -> Length:
    """The length of an axis of a factor; of a vector also of the one that it has not."""
    shape, axis = row[0], row[k]
    return ONE if axis is None else shape[axis]  # type: ignore[no-any-return]


def _step(x: View, axis: int | None) -> Length:
    return (None if axis is None else x.steps[axis]) or ONE


def call_product(t: Any, addresses: list[str], sizes: list[int], strides: list[int]) -> None:
    """A call of the inner loop of `np.matmul`: it takes matrices with any strides, and gives BLAS
    those that BLAS takes.
    """
    table, count, steps = t.room("[3 x ptr]"), t.room("[4 x i64]"), t.room("[9 x i64]")

    def put(base: str, i: int, x: str, type_: str) -> None:
        place = t.new(f"getelementptr i64, ptr {base}, i64 {i}")
        t.do(f"store {type_} {x}, ptr {place}")

    for i, x in enumerate(addresses):
        put(table, i, x, "ptr")
    for i, x in enumerate(["1", *map(t.word, sizes)]):
        put(count, i, x, "i64")
    for i, x in enumerate(["0", "0", "0", *map(t.word, strides)]):
        put(steps, i, x, "i64")
    t.declare("void @loop_matmul(ptr, ptr, ptr, ptr)")
    t.units["loop_matmul"] = None
    t.do(f"call void @loop_matmul(ptr {table}, ptr {count}, ptr {steps}, ptr null)")
