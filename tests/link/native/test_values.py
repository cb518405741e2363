"""Values by native code beside `perform` and the VM: of every family, of all declared samples, of
all scalar ops, of random graphs.
"""

from __future__ import annotations

import platform
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.generate import random_case
from fuzz.graphs import Checker
from fuzz.pool import Crash
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.link.native.lower import why_not
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from tests.link.reference import link, random_graphs, reference, values_for
from tests.link.test_families import CASES, VALUES, roots
from tests.tensor.test_samples import CASES as SAMPLES
from tests.tensor.test_samples import Case, apply

NATIVE = rw.Mode(linker="native")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 3.0, -2.5, 1e300, 1e-300, 710.0]


def same(got: Any, want: Any, rtol: float = 1e-13, atol: float = 0.0) -> None:
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    least = 1e-300 if want.dtype.itemsize > 4 else 2e-38  # (subnormal numbers have few digits)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=max(atol, least))


SMALL = ("int8", "int16", "uint8", "uint16", "bool")  # NumPy computes functions of them in float32


def special(dtype: str) -> Any:
    """Numbers that are apart from others, of a dtype."""
    if dtype in ("float64", "float32"):
        with np.errstate(over="ignore"):
            return np.array(SPECIAL, dtype)
    if dtype == "bool":
        return np.array([False, True])
    ends = np.iinfo(dtype)
    many = [0, 1, 7, int(ends.max), int(ends.max) // 3, int(ends.min)]
    return np.array(many if ends.min == 0 else [*many, -1, -8], dtype)


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("dtype", KINDS)
def test_conversions(dtype: str, to: str) -> None:
    """Also of what the other dtype has not."""
    values = special(dtype)
    x = pt.vector(dtype=dtype)
    f = rw.function([x], [pt.cast(x, to), pt.cast(x[0], to)], mode=NATIVE)
    with np.errstate(over="ignore", invalid="ignore"):
        far = to == "uint32" and values.dtype.kind == "f" and platform.machine() == "x86_64"
        by = "int64" if far else to  # (NumPy's code for vectors may have other numbers)
        wanted = np.array([np.array(v).astype(by).astype(to) for v in values])
    for got, want in zip(f(values), (wanted, np.asarray(wanted[0])), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == to


#: floats around the ends of the integers, and beyond
ENDS = np.array([s * (2.0**n + d) for n in (7, 8, 15, 16, 31, 32, 53, 63, 64, 65)
                 for s in (-1, 1) for d in (-1, -0.5, 0, 0.5, 1, 5)])  # fmt: skip
FAR = np.concatenate([ENDS, [1e10, -1e10, 1e20, -1e20, 1e300, -1e300, np.inf, -np.inf, np.nan]])
#: where a float becomes an integer: what is made of a vector, and the dtype
CAST = {
    "vector": lambda x, to: x.astype(to),
    "element": lambda x, to: x[-1].astype(to),
    "sum": lambda x, to: x.astype(to).sum(),
    "max": lambda x, to: (x * 1).astype(to).max(),
    "sum of": lambda x, to: x.sum(dtype=to),
    "cumsum": lambda x, to: pt.cumsum(x.astype(to)),
    "matrix": lambda x, to: (x[:, None] + 0 * x[None, :3]).astype(to).T,
    "gather": lambda x, to: x.astype(to)[pt.cast(x > 0, "int64")],
    "gathered": lambda x, to: x[pt.cast(x > 0, "int64")].astype(to),
    "index": lambda x, to: pt.arange(100)[pt.clip(x.astype(to), 0, 99)],
    "put": lambda x, to: pt.zeros((5,), dtype=to)[: x.shape[0]].set(x[:5].astype(to)),
    "joined": lambda x, to: pt.concatenate([x.astype(to), (x + 1).astype(to)]),
    "where": lambda x, to: pt.switch(x > 0, x.astype(to), 1),
    "loop": lambda x, to: rw.scan(lambda v, a: a + v.astype(to), sequences=[x],
                                  outputs_info=[pt.zeros((), dtype=to)])[0],
    "loop of vectors": lambda x, to: rw.scan(lambda a: (a * 1.5).astype(to).astype(a.dtype),
                                             outputs_info=[x], n_steps=2)[0],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:overflow:RuntimeWarning")
@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="NumPy's own code for vectors has other numbers"
)
@pytest.mark.parametrize("name", CAST)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_floats_out_of_range_are_the_integers_that_they_are_on_the_vm(
    dtype: str, name: str
) -> None:
    x = pt.vector(dtype=dtype)
    outputs = [CAST[name](x, to) for to in KINDS if to[:5] != "float"]
    if name in ("index", "sum of"):
        outputs = [v for v in outputs if v.dtype != "bool"]
    native = rw.function([x], outputs, mode=NATIVE)
    vm = rw.function([x], outputs, mode=rw.Mode(linker="vm"))
    with np.errstate(all="ignore"):
        values = FAR.astype(dtype)
        for given in (values, *np.array_split(values, 37), values[::-2], values[-3:-1]):
            for got, want in zip(native(given), vm(given), strict=True):
                np.testing.assert_array_equal(got, want)
                assert got.dtype == want.dtype


@pytest.mark.parametrize("dtype", KINDS)
def test_reductions_products_and_positions(dtype: str) -> None:
    """In vectors, and in what is left over."""
    x = pt.tensor("x", shape=(None, None), dtype=dtype)
    outputs = [pt.sum(x, 0), pt.prod(x, 1), pt.max(x), pt.min(x, 0), pt.any(x, 1), pt.all(x),
               pt.argmax(x, 1), pt.argmin(x, 0), pt.cumsum(x, 1), x @ x.T, pt.softmax(x, 1),
               pt.logsumexp(x), x[pt.argsort(x[:, 0])], x[x > 0].sum()]  # fmt: skip
    f, g = [rw.function([x], outputs, mode=mode) for mode in (NATIVE, "vm")]
    values = np.random.default_rng(1).integers(0, 100, (11, 19)).astype(dtype)
    for got, want in zip(f(values), g(values), strict=True):
        same(got, want, 1e-5 if want.dtype == "float32" else 1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_family(name: str, order: Any) -> None:
    out = CASES[name]()
    inputs = roots(out)
    values = {r: np.array(VALUES[r], order=order) for r in inputs}
    (want,) = reference([out], values)
    for got in link(inputs, [out, out], linker="native").call(*values.values()):
        same(got, want, 1e-6 if want.dtype == "float32" else 1e-13)
        assert not any(np.shares_memory(got, value) for value in values.values())
    for r, value in values.items():
        np.testing.assert_array_equal(value, VALUES[r])


NATIVE_SAMPLES = [
    (case, dtype)
    for case in SAMPLES
    for dtype in ("float64", "int64", "bool", "float32", "int32", "uint8")
    if case.arrays or dtype == "float64"
]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("case", "dtype"), NATIVE_SAMPLES, ids=lambda x: x if isinstance(x, str) else str(x.op)
)
def test_every_sample(case: Case, dtype: str, known: bool) -> None:
    """As the VM has it, the error included."""
    values = case.values(dtype)
    try:
        inputs, outputs = apply(case.op, values, known)
    except rw.errors.RewriteEngineError:
        return  # nothing to run
    vm, native = [rw.function(inputs, outputs, mode=m) for m in ("vm", NATIVE)]
    try:
        wanted = vm(*values)
    except Exception as error:
        with pytest.raises(type(error)):
            native(*values)
        return
    for got, want in zip(native(*values), wanted, strict=True):
        if type(case.op) is not pt.AllocEmpty:
            same(got, want, 1e-5 if want.dtype in ("float32", "float16", "complex64") else 1e-12)


SCALARS = [
    op for op in vars(scalar).values() if isinstance(op, ScalarOp) and op.nin in (1, 2, None)
]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("op", SCALARS, ids=str)
def test_every_scalar_op(op: ScalarOp, dtype: str) -> None:
    """On special values, beside NumPy; as an array and as numbers."""
    many = special(dtype)
    n = len(many)
    values = [many] if op.nin == 1 else [np.repeat(many, n), np.tile(many, n)]
    inputs = [pt.vector(dtype=dtype) for _ in values]
    try:
        out = Elemwise(op)(*inputs)
    except rw.errors.DTypeError:
        return
    if why_not(out.owner) is not None:
        return
    with np.errstate(all="ignore"):
        want = np.asarray(op.impl(*values)).astype(out.dtype)
    got = link(inputs, out, linker="native").call(*values)
    tolerance = 4e-15 if want.dtype != "float32" else 4e-6 if dtype in SMALL else 1e-6
    same(got, want, tolerance)
    numbers = [x.type.clone(shape=())() for x in inputs]
    one = link(numbers, Elemwise(op)(*numbers), linker="native")
    for k in range(0, len(want), 5):
        same(one.call(*[np.asarray(x[k]) for x in values]), np.asarray(want[k]), tolerance)


def test_square_roots_by_powers() -> None:
    x = pt.dvector()
    values = np.array(SPECIAL)
    with np.errstate(all="ignore"):
        want = np.power(values, 0.5)
    same(rw.function([x], x**0.5, mode=NATIVE)(values), want)


@given(random_graphs())
@settings(max_examples=60, deadline=None)
def test_random_graphs(graph: Any) -> None:
    inputs, outputs = graph
    values = values_for(inputs)
    wanted = reference(outputs, dict(zip(inputs, values, strict=True)))
    f = rw.function(inputs, outputs, mode=NATIVE, on_unused_input="ignore")
    single = any(v.type.dtype == "float32" for v in ancestors(outputs))
    unit = np.finfo("float32").eps if single else 0.0
    for got, want in zip(f(*values), wanted, strict=True):
        # functions of float32 differ by two units, which remain if a sum of them is nearly 0
        largest = np.abs(want, where=np.isfinite(want), out=np.zeros(want.shape)).max(initial=1.0)
        same(got, want, 1e-5 if single else 1e-9, 2 * unit * largest)


@pytest.mark.parametrize("seed", range(40))
def test_fuzzed_graphs(seed: int) -> None:
    try:
        case = random_case(Random(f"native:{seed}"))
    except Crash:
        pytest.skip("not a case")
    found = Checker()(case, NATIVE)
    assert found is None or Checker()(case, rw.Mode()) is not None, found


@pytest.mark.parametrize("name", ["sech2", "logcosh", "log_odds", "psi_difference"])
def test_formulas_of_float16_compute_in_float32(name: str) -> None:
    op = Elemwise(getattr(scalar, name))
    inputs = [pt.vector(dtype="float16") for _ in range(op.scalar_op.nin or 1)]
    values = [np.array([0.5, 0.25, 2.0], "float16")] * len(inputs)
    found, wanted = [rw.function(inputs, op(*inputs), mode=m)(*values) for m in (NATIVE, "py")]
    same(found, wanted, 1e-6)
