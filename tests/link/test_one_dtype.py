"""One dtype for a step: what the generated code computes is what `perform` computes, bit by bit,
for every elementwise op and reduction, every mix of dtypes, numbers and arrays, and the edges of
every dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, ShapeError
from rewrite_engine.scalar.dtype import DTYPES
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.reduce import All, Any_, Max, Min, Prod, Sum
from tests.link.reference import link, reference

OPS = sorted(
    {v.scalar_op for v in vars(pt).values() if isinstance(v, Elemwise)}, key=lambda op: op.name
)
FEW = ("bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64")


def edges(dtype: str, positive: bool = False) -> np.ndarray:
    """Numbers at which dtypes differ. positive: no negative integers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        info = np.iinfo(dtype)
        chosen = [0, 1, 2, 100, info.max, info.min, info.max - 1]
        low = 0 if positive else info.min
        return np.array([n for n in chosen if low <= n <= info.max], dtype)
    info = np.finfo("float32" if dtype == "complex64" else "float64" if kind == "c" else dtype)
    chosen = [0.0, -0.0, 1.0, -1.5, 0.3, 100.0, info.max, -info.max, info.tiny, np.inf, np.nan]
    if kind == "c":
        odd = [1 + 2j, complex(0.3, -0.0), complex(-np.inf, 1), complex(np.inf, np.nan)]
        return np.array([*chosen, *odd], dtype)
    return np.array(chosen, dtype)


def mixes(op: ScalarOp) -> Iterator[tuple[str, ...]]:
    """All mixes of dtypes of one or two operands, and some of three."""
    if op.nin in (1, 2):
        yield from product(DTYPES, repeat=op.nin)
        return
    if op.nin is None:
        yield from product(DTYPES, repeat=1)
        yield from product(DTYPES, repeat=2)
    if op.cost >= 60:  # what takes long, in one dtype
        yield from [(d,) * (op.nin or 3) for d in FEW]
        return
    yield from product(FEW, repeat=3)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits (a NaN is a NaN)."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    for x, y in ((a.real, b.real), (a.imag, b.imag)) if a.dtype.kind == "c" else ((a, b),):
        if not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
            return False
        if x.dtype.kind == "f" and not np.array_equal(np.signbit(x[x == x]), np.signbit(y[y == y])):
            return False
    return True


def cases(op: ScalarOp, ndims: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """Inputs of every dtype, and the op on every mix of them that it takes."""
    inputs = {
        (d, i): pt.tensor(dtype=d, shape=(None,) * ndims[i], name=f"{d}_{i}")
        for i in range(len(ndims))
        for d in DTYPES
    }
    outputs = []
    for mix in mixes(op):
        try:
            outputs.append(Elemwise(op)(*[inputs[d, i] for i, d in enumerate(mix)]))
        except DTypeError:
            continue
    return list(inputs.values()), outputs


def compare(inputs: list[Any], values: list[Any], outputs: list[Any], f: Any) -> None:
    wanted = reference(outputs, dict(zip(inputs, values, strict=True)))
    for out, want, got in zip(outputs, wanted, f(*values), strict=True):
        node = out.owner
        given = [(x.type.dtype, values[inputs.index(x)]) for x in node.inputs]
        assert want.dtype == out.type.dtype, f"{node.op}: {given}: perform gives {want.dtype}"
        assert same(want, got), f"{node.op}: {given}: perform {want!r}, code {got!r}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", OPS, ids=str)
def test_numbers(op: ScalarOp) -> None:
    count = 3 if op.nin is None else op.nin
    inputs, outputs = cases(op, (0,) * count)
    f = link(inputs, outputs).call
    for k in range(15):
        values = []
        for x, i in zip(inputs, np.repeat(range(count), len(DTYPES)), strict=True):
            chosen = edges(x.dtype, op.name == "pow" and i == 1)
            values.append(np.array(chosen[(k * (1 + 2 * i) + i) % len(chosen)]))
        compare(inputs, values, outputs, f)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", OPS, ids=str)
@pytest.mark.parametrize("numbers", [(), (0,), (1, 2)], ids=str)
def test_arrays(op: ScalarOp, numbers: tuple[int, ...]) -> None:
    count = 3 if op.nin is None else op.nin
    inputs, outputs = cases(op, tuple([0 if i in numbers else 1 for i in range(count)]))
    outputs = [out for out in outputs if out.type.ndim]
    f = link(inputs, outputs).call
    for k in range(3):
        values = []
        for x, i in zip(inputs, np.repeat(range(count), len(DTYPES)), strict=True):
            chosen = edges(x.dtype, op.name == "pow" and i == 1)
            line = np.resize(np.roll(chosen, k + i), 15)
            values.append(line if x.type.ndim else np.array(line[i]))
        compare(inputs, values, outputs, f)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", [Sum, Prod, Max, Min, All, Any_])
@pytest.mark.parametrize("shape", [(6,), (3, 5), (0, 2)], ids=str)
def test_reductions(kind: Any, shape: tuple[int, ...]) -> None:
    inputs = [pt.tensor(dtype=d, shape=(None,) * len(shape), name=d) for d in DTYPES]
    outputs = []
    for x, dtype, acc_dtype in product(inputs, (None, *FEW), (None, "float32", "complex128")):
        for axis, keepdims in ((None, False), (0, True), (0, False)):
            op = kind(axis, None if x.dtype == dtype else dtype, acc_dtype, keepdims)
            try:
                outputs.append(op(x))
            except DTypeError:
                continue
    for k in range(3):
        values = [np.resize(np.roll(edges(x.dtype), k), shape) for x in inputs]
        pairs = dict(zip(inputs, values, strict=True))
        usable = [out for out in outputs if _runs(out, pairs)]
        compare(inputs, values, usable, link(inputs, usable).call)


def _runs(out: Any, pairs: dict[Any, Any]) -> bool:
    """Whether NumPy has a loop for these dtypes, and something to reduce."""
    try:
        reference([out], pairs)
    except (TypeError, ShapeError):
        return False
    return True


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("total", [pt.sum, pt.cumsum, pt.mean, lambda x: pt.sum(x, axis=0)])
def test_what_accumulates(dtype: str, total: Any) -> None:
    big = 2048.0 if dtype == "float16" else 1e8
    x = pt.tensor(dtype=dtype, shape=(None,))
    out = total(x)
    assert out.dtype == dtype
    value = np.array([1.0, big, -big, 2.0], dtype)
    found = link([x], out).call(value)
    assert np.asarray(found).ravel()[-1] == (0.75 if total is pt.mean else 3.0)


def test_an_accumulator_that_is_asked_for() -> None:
    x = pt.fvector("x")
    out = pt.sum(x, acc_dtype="float32")
    assert out.dtype == "float32"
    assert link([x], out).call(np.array([1.0, 1e8, -1e8], "float32")) == 0.0
    product_ = link([x], pt.prod(x)).call
    assert product_(np.array([1e30, 1e30, 1e-30, 1e-30], "float32")) == np.float32(1.0)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_numbers_are_rounded_as_in_arrays(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = pt.tensor("x", dtype=dtype, shape=()), pt.tensor("y", dtype=dtype, shape=())
    outputs = [pt.mul(x, y), pt.mul(x, y, x), x / y, pt.add(x, y, x), x - y, pt.exp(x)]
    if x.type.kind == "f":  # NumPy itself rounds complex squares by where the number lies
        outputs.append(pt.sqr(x))
    f = link([x, y], outputs).call
    for _ in range(50):
        values = [np.array(v).astype(dtype) for v in rng.normal(size=2) + 1j * rng.normal(size=2)]
        compare([x, y], values, outputs, f)
