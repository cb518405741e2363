"""Every elementwise op on the VM against its own `perform`: dtypes, ranks, in place, and between
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError
from rewrite_engine.scalar import ScalarType
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from tests.link.reference import link, reference

TABLE = [op for op in vars(scalar).values() if isinstance(op, ScalarOp)]
ONE_STEP = ("bool", "int8", "int64", "uint8", "float32", "float64", "complex128")


def sample(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.startswith("complex"):
        return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if dtype.startswith("float"):
        return np.asarray(rng.uniform(0.1, 0.9, shape)).astype(dtype)
    return np.asarray(rng.integers(1, 5, shape)).astype(dtype)


def compare(op: Any, dtypes: list[str], shapes: list[tuple[int, ...]]) -> None:
    static = [tuple([1 if n == 1 else None for n in s]) for s in shapes]
    xs = [pt.tensor(dtype=d, shape=s) for d, s in zip(dtypes, static, strict=True)]
    try:
        out = op(*xs)
    except DTypeError:
        return
    values = [sample(d, s, k) for k, (d, s) in enumerate(zip(dtypes, shapes, strict=True))]
    kept = [v.copy() for v in values]
    (want,) = reference([out], dict(zip(xs, values, strict=True)))
    linked = link(xs, out)
    got = linked.call(*values)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), linked.source
    rtol = 1e-12 if want.dtype.itemsize >= 8 else 1e-5
    np.testing.assert_allclose(got, want, rtol=rtol, err_msg=linked.source)
    for value, before in zip(values, kept, strict=True):
        np.testing.assert_array_equal(value, before)


@pytest.mark.parametrize("op", TABLE, ids=str)
@pytest.mark.parametrize("dtype", ONE_STEP)
def test_like_perform(op: ScalarOp, dtype: str) -> None:
    arity = op.nin or 3
    for shapes in (
        [(2, 3)] * arity,
        [()] * arity,
        [(2, 3), (3,), (), (1,)][:arity],
        [(2, 1), (1, 3), (3,), ()][:arity],
    ):
        compare(Elemwise(op), [dtype] * arity, list(shapes))


@pytest.mark.parametrize("op", [op for op in TABLE if (op.nin or 2) > 1], ids=str)
@pytest.mark.parametrize(
    "dtypes", [("float64", "int64", "float32", "int8"), ("int8", "float32", "bool", "float64")]
)
def test_mixed_dtypes(op: ScalarOp, dtypes: tuple[str, ...]) -> None:
    for arity in (op.nin,) if op.nin else (1, 2, 3):
        for shape in ((2, 3), ()):
            compare(Elemwise(op), list(dtypes[:arity]), [shape] * arity)


@pytest.mark.parametrize("to", ONE_STEP[:-1])
@pytest.mark.parametrize("start", ONE_STEP[:-1])
def test_casts(start: str, to: str) -> None:
    for shape in ((2, 3), ()):
        compare(Elemwise(Cast(to)), [start], [shape])


@pytest.mark.parametrize("op", [scalar.add, scalar.mul, scalar.maximum], ids=str)
@pytest.mark.parametrize("target", [0, 1, 2, 3])
@pytest.mark.parametrize("small", [None, 0, 1, 2, 3])
def test_in_place_into_any_operand(op: ScalarOp, target: int, small: int | None) -> None:
    if target == small:
        return
    shapes = [(1, 3) if k == small else (2, 3) for k in range(4)]
    xs = [pt.tensor(dtype="float64", shape=(1 if k == small else None, None)) for k in range(4)]
    fresh = [pt.exp(x) for x in xs]
    out = Elemwise(op, ((0, target),))(*fresh)
    linked = link(xs, out)
    values = [sample("float64", s, k) for k, s in enumerate(shapes)]
    want = Elemwise(op)(*[pt.exp(x) for x in xs])
    np.testing.assert_allclose(
        linked.call(*values), reference([want], dict(zip(xs, values, strict=True)))[0], rtol=1e-14
    )
    assert linked.source.count("(r") - linked.source.count("exp(") <= 5


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "complex128"])
@pytest.mark.parametrize("op", [op for op in TABLE if op.nin == 1], ids=str)
def test_in_place_whatever_lies_between_the_numbers(op: ScalarOp, dtype: str) -> None:
    """(NumPy before 2.5 negates too many numbers in place where they lie 4, or 8, apart.)"""
    x = pt.vector("x", dtype=dtype)
    try:
        out = Elemwise(op)(x)
    except DTypeError:
        return
    if out.type.dtype != dtype:
        return
    inplace = Elemwise(op, ((0, 0),))(x)
    linked = link([x], inplace)
    for step in (*range(1, 10), -4, -8):
        for run in (linked.call, reference_of(inplace, x)):
            whole = sample(dtype, (80,), abs(step))
            part = whole[::step][:6]
            rest = whole.copy()
            rest[::step][:6] = reference([out], {x: part.copy()})[0]
            with np.errstate(all="ignore"):
                run(part)
            np.testing.assert_allclose(whole, rest, rtol=1e-5, err_msg=linked.source)


def reference_of(out: Any, x: Any) -> Any:
    """`perform` of one node."""

    def run(value: Any) -> None:
        out.owner.op.perform(out.owner, [value], [[None]])

    return run


@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_sum_reuses_its_first_operands_only(count: int) -> None:
    x = pt.vector("x")
    parts = [pt.exp(x * k) for k in range(1, count + 1)]
    total = pt.add(parts[0], *parts[1:], parts[0])
    value = np.linspace(0, 1, 4)
    want = sum(np.exp(value * k) for k in range(1, count + 1)) + np.exp(value)
    np.testing.assert_allclose(link([x], total).call(value), want)


def test_transposed_operands_are_copied_where_they_meet_others() -> None:
    x = pt.matrix("x")
    mixed = link([x], pt.sin(x.T) + pt.cos(x))
    alone = link([x], pt.sin(x.T) + pt.cos(x.T))
    assert ".T.copy()" in mixed.source
    assert ".copy()" not in alone.source
    value = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(mixed.call(value), np.sin(value.T) + np.cos(value))
    np.testing.assert_allclose(alone.call(value), np.sin(value.T) + np.cos(value.T))


def test_numbers_use_operators() -> None:
    s, t = pt.scalar("s"), pt.scalar("t")
    linked = link([s, t], pt.switch(s < t, s * t + 1, pt.exp(s)) / 2)
    assert "* " in linked.source
    assert "multiply" not in linked.source
    assert linked.call(1.0, 2.0) == 1.5
    np.testing.assert_allclose(linked.call(2.0, 1.0), np.exp(2.0) / 2)


F = ScalarType("float64")


def test_composites_run_step_by_step() -> None:
    a, b = F("a"), F("b")
    inner = scalar.add(scalar.mul(a, b), 2.0)
    composite = Elemwise(Composite([a, b], [scalar.exp(inner), inner, a]))
    x, y = pt.matrix("x"), pt.vector("y")
    outs = composite(x, y)
    linked = link([x, y], list(outs[:2]))
    assert "exp(" in linked.source
    assert "Elemwise" not in linked.source
    u, v = np.linspace(0, 1, 6).reshape(2, 3), np.ones(3) * 0.5
    first, second = linked.call(u, v)
    np.testing.assert_allclose(first, np.exp(u * v + 2))
    np.testing.assert_allclose(second, u * v + 2)
    third = link([x, y], composite(x, y)[2]).call(u, v)
    np.testing.assert_array_equal(third, u)


def test_a_composite_that_ignores_an_input_still_has_its_shape() -> None:
    a, b = F("a"), F("b")
    composite = Elemwise(Composite([a, b], [scalar.exp(a)]))
    x, y = pt.vector("x"), pt.matrix("y")
    assert link([x, y], composite(x, y)).call(np.zeros(3), np.zeros((2, 3))).shape == (2, 3)


def hump_of(x: Any, out: Any = None) -> Any:
    return np.exp(-np.square(x), out=out)


def precise_sum(x: Any, y: Any, out: Any = None) -> Any:
    """In more digits than are declared."""
    return np.add(np.float64(x), np.float64(y), out=out)


hump = Elemwise(ScalarOp("hump", 1, compute=hump_of, dtypes=lambda x: x))
precise = Elemwise(ScalarOp("precise", 2, compute=precise_sum, dtypes=lambda x, y: x))


@pytest.mark.parametrize(
    ("op", "name"),
    [
        (pt.erf, "erf"), (pt.sigmoid, "expit"), (pt.logerfc, "logerfc"), (pt.softplus, "softplus"),
        (pt.round, "round_"), (hump, "hump"),
    ],
)  # fmt: skip
def test_functions_without_a_name_in_numpy_reuse_memory(op: Any, name: str) -> None:
    x = pt.vector("x")
    linked = link([x], pt.exp(op(pt.exp(x))))
    lines = [line.strip() for line in linked.source.splitlines()]
    (own,) = [line for line in lines if f"{name}(" in line]
    assert own.startswith("r0 = ")
    assert f"{name}(r0, r0)" in own or f"{name}(r0, out=r0)" in own
    assert "r0 = exp(r0, r0)" in lines
    value = np.array([0.1, -0.7])
    want = reference([pt.exp(op(pt.exp(x)))], {x: value})[0]
    np.testing.assert_allclose(linked.call(value), want, rtol=1e-14)


def test_two_operands_of_a_function_of_python() -> None:
    x = pt.fvector("x")
    linked = link([x], precise(pt.sin(x), pt.exp(x)) + 1)
    assert "precise(r0, r1, out=r0), float32)" in linked.source
    value = np.array([0.5, 1.5], "float32")
    result = linked.call(value)
    assert result.dtype == "float32"
    np.testing.assert_allclose(result, np.sin(value) + np.exp(value) + 1, rtol=1e-6)
    compare(precise, ["float32", "float32"], [(2, 3), (2, 3)])
    compare(precise, ["float32", "float32"], [(), ()])
    compare(precise, ["float32", "float32"], [(2, 3), (1, 3)])
    compare(precise, ["float32", "float64"], [(1, 3), (2, 3)])
