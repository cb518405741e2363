"""Native products of vectors and matrices, by the inner loop of `np.matmul`."""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.text import KINDS, SIZE
from rewrite_engine.link.native.units import PRODUCT_PREFIX
from rewrite_engine.link.native.values import ONE, Length, NativeValue, View, times, view_of
from rewrite_engine.link.native.walk import in_memory, write_loops
from rewrite_engine.tensor.product.dots import Dot, MatMul


@native.register(Dot)
@native.register(MatMul)
def _(op: Any, node: Apply) -> str | None:
    dtypes = {v.type.dtype for v in (*node.inputs, *node.outputs)}
    return None if len(dtypes) == 1 else "a product of several dtypes"


@lower.register(MatMul)
def _(op: MatMul, node: Apply, plan: RegionPlan) -> None:
    """Matrix by matrix."""
    a, b = node.inputs
    out = node.outputs[0]
    shape, n = plan.shape(out), out.type.ndim - 2
    views = [_apart(plan, v) for v in (a, b)]
    sizes = [plan.word_of(k) for k in (shape[-2], plan.shape(a)[-1], shape[-1])]
    kind = KINDS[out.type.dtype]
    size = SIZE[kind]
    inner = [plan.word_of(times((size, ()), s or ONE)) for v in views for s in v.steps[-2:]]

    def write(t: Any, value: NativeValue) -> None:
        made = [*views, view_of(value, shape)]
        outer = [(*[None] * (n + 2 - len(v.steps)), *v.steps[:-2]) for v in made]
        strides = [t.word(k) for k in inner]
        strides += [t.new(f"mul i64 {size}, {t.length(s or ONE)}") for s in made[2].steps[-2:]]
        rooms, lengths = product_rooms(t), [t.word(k) for k in sizes]
        start = [t.address(v.value, v.offset) for v in made]
        write_loops(t, shape[:-2], made, outer, start,
               lambda at: call_product(t, kind, rooms, at, lengths, strides))  # fmt: skip

    plan.of[out] = plan.call(shape, kind, views, write, refuses=False)


@lower.register(Dot)
def _(op: Dot, node: Apply, plan: RegionPlan) -> None:
    a, b = node.inputs
    out = node.outputs[0]
    views = [_apart(plan, x) for x in (a, b)]
    rows = [(plan.shape(a), 0 if a.type.ndim > 1 else None, a.type.ndim - 1),
            (plan.shape(b), 0, 1 if b.type.ndim > 1 else None)]  # fmt: skip
    sizes = [_length(rows[0], 1), _length(rows[0], 2), _length(rows[1], 2)]
    steps = [_step(v, axis) for v, row in zip(views, rows) for axis in row[1:]]
    words, kind = [plan.word_of(n) for n in sizes], KINDS[out.type.dtype]
    size = (SIZE[kind], ())
    strides = [plan.word_of(times(size, s)) for s in (*steps, sizes[2], ONE)]

    def write(t: Any, value: NativeValue) -> None:
        addresses = [t.address(v.value, v.offset) for v in views] + [t.address(value)]
        call_product(t, kind, product_rooms(t), addresses, [t.word(k) for k in words],
                     [t.word(k) for k in strides])  # fmt: skip

    plan.of[out] = plan.call(plan.shape(out), kind, views, write, refuses=False)


def _apart(plan: RegionPlan, v: Any) -> View:
    """Return a factor in memory with all elements of its matrices."""
    x, shape = in_memory(plan, v), plan.shape(v)
    last = list(zip(x.steps, shape, strict=True))[-2:]
    stretched = any([s is None and n != ONE for s, n in last])
    return plan.copy(x, shape, x.value.kind) if stretched else x


def _length(row: Any, k: int) -> Length:
    """Return the length of an axis of a factor; for a vector also of its missing axis."""
    shape, axis = row[0], row[k]
    return ONE if axis is None else shape[axis]  # type: ignore[no-any-return]


def _step(x: View, axis: int | None) -> Length:
    return (None if axis is None else x.steps[axis]) or ONE


def product_rooms(t: Any) -> tuple[str, str, str]:
    """Return stack memory for the operands of a product call."""
    return t.room("[3 x ptr]"), t.room("[4 x i64]"), t.room("[9 x i64]")


def call_product(
    t: Any, kind: str, rooms: tuple[str, str, str], addresses: list[str], sizes: list[str],
    strides: list[str],
) -> None:  # fmt: skip
    """Write a call of the inner loop of `np.matmul`, which accepts any strides and uses BLAS where
    BLAS accepts them.
    """
    table, count, steps = rooms

    def put(base: str, i: int, x: str, type_: str) -> None:
        place = t.new(f"getelementptr i64, ptr {base}, i64 {i}")
        t.do(f"store {type_} {x}, ptr {place}")

    for i, x in enumerate(addresses):
        put(table, i, x, "ptr")
    for i, x in enumerate(["1", *sizes]):
        put(count, i, x, "i64")
    for i, x in enumerate(["0", "0", "0", *strides]):
        put(steps, i, x, "i64")
    name = f"{PRODUCT_PREFIX}{kind}"
    t.declare(f"void @{name}(ptr, ptr, ptr, ptr)")
    t.units[name] = None
    t.do(f"call void @{name}(ptr {table}, ptr {count}, ptr {steps}, ptr null)")
