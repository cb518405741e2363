"""NumPy's functions on variables: the same call on arrays and on variables; what says what to write
instead.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
import scipy.special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NotConstantError, OptionError

A = np.array([[0.3, 0.9, 0.5], [0.7, 0.2, 0.4]])
B = np.array([[0.2, 1.4, 0.6], [2.0, 0.5, 0.1]])
UFUNCS = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
#: dates; products of matrices are tested elsewhere
APART = {"isnat", "matmul", "matvec", "vecmat", "vecdot"}


@pytest.mark.parametrize("name", sorted(set(UFUNCS) - APART))
def test_every_ufunc(name: str) -> None:
    ufunc = UFUNCS[name]
    whole = not any("d" in t for t in ufunc.types)
    arrays = [np.arange(1, 7).reshape(2, 3) if whole else A + (name == "arccosh"), B][: ufunc.nin]
    if whole or name == "ldexp":
        arrays[1:] = [np.array([[1, 2, 3]])][: ufunc.nin - 1]
    inputs = [pt.tensor(dtype=a.dtype, shape=(None if a.shape[0] > 1 else 1, None)) for a in arrays]
    found, wanted = ufunc(*inputs), ufunc(*arrays)
    if ufunc.nout == 1:
        found, wanted = [found], [wanted]
    for got, want in zip(rw.function(inputs, list(found))(*arrays), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
        assert got.dtype == want.dtype


CALLS: list[Any] = [
    lambda x, y: np.add(x, 1), lambda x, y: np.multiply(A, x), lambda x, y: np.float64(2) * x,
    lambda x, y: A + x, lambda x, y: x > A, lambda x, y: A @ x.T, lambda x, y: A**x,
    lambda x, y: scipy.special.gammaln(x), lambda x, y: scipy.special.expit(x),
    lambda x, y: np.add.reduce(x), lambda x, y: np.multiply.reduce(x, axis=1),
    lambda x, y: np.maximum.reduce(x, axis=1, keepdims=True), lambda x, y: np.add.accumulate(x),
    lambda x, y: np.subtract.outer(x, y), lambda x, y: np.sum(x), lambda x, y: np.sum(x, axis=0),
    lambda x, y: np.sum(x, 1, keepdims=True), lambda x, y: np.mean(x, axis=1),
    lambda x, y: np.prod(x, axis=0), lambda x, y: np.max(x, axis=0), lambda x, y: np.amin(x),
    lambda x, y: np.var(x, axis=0, ddof=1), lambda x, y: np.std(x), lambda x, y: np.any(x > 0.5),
    lambda x, y: np.all(x > 0.5, axis=1), lambda x, y: np.argmax(x, axis=1),
    lambda x, y: np.cumsum(x, axis=1), lambda x, y: np.cumprod(x, 0),
    lambda x, y: np.concatenate([x, y]), lambda x, y: np.concatenate([x, A], axis=1),
    lambda x, y: np.stack([x, y], axis=1), lambda x, y: np.where(x > 0.5, x, 0.0),
    lambda x, y: np.clip(x, 0.3, 0.6), lambda x, y: np.clip(x, None, 0.5),
    lambda x, y: np.clip(x, min=0.4), lambda x, y: np.dot(x, y.T), lambda x, y: np.outer(x, y),
    lambda x, y: np.transpose(x), lambda x, y: np.reshape(x, (3, 2)), lambda x, y: np.ravel(x),
    lambda x, y: np.swapaxes(x, 0, 1), lambda x, y: np.expand_dims(x, 1),
    lambda x, y: np.squeeze(np.expand_dims(x, 0)), lambda x, y: np.shape(x),
    lambda x, y: np.size(x), lambda x, y: np.ndim(x) + np.zeros(3) * np.sum(x),
    lambda x, y: np.zeros_like(x), lambda x, y: np.ones_like(x, dtype="int64"),
    lambda x, y: np.full_like(x, 3.0), lambda x, y: np.diag(x[:, :2]), lambda x, y: np.copy(x),
    lambda x, y: np.isclose(x, y), lambda x, y: np.nan_to_num(x), lambda x, y: np.real(x),
    lambda x, y: np.imag(x), lambda x, y: np.angle(x), lambda x, y: np.round(x),
    lambda x, y: np.sinc(x), lambda x, y: np.isposinf(x),
    lambda x, y: np.broadcast_to(x, (4, 2, 3)),
    lambda x, y: np.tile(x, (2, 1)), lambda x, y: np.repeat(x, 2, axis=0),
    lambda x, y: np.roll(x, 1, axis=1), lambda x, y: np.flip(x, axis=0),
    lambda x, y: np.sort(x, axis=0), lambda x, y: np.diff(x, axis=1),
    lambda x, y: np.take(x, [0, 2], axis=1), lambda x, y: np.moveaxis(x, 0, 1),
    lambda x, y: np.linalg.norm(x), lambda x, y: np.linalg.det(x @ x.T),
    lambda x, y: np.linalg.pinv(x), lambda x, y: np.linalg.solve(x @ x.T, A),
    lambda x, y: np.linalg.cholesky(x @ x.T), lambda x, y: np.linalg.matrix_power(x @ x.T, 3),
    lambda x, y: np.pad(x, 1, constant_values=3.0), lambda x, y: np.pad(x, 2, mode="edge"),
    lambda x, y: np.compress([True, False], x, axis=0), lambda x, y: np.compress([1, 0], x[0]),
    lambda x, y: np.unravel_index(np.argsort(x[0]), (2, 3))[1] * x[0],
    lambda x, y: np.astype(x, "float32"), lambda x, y: np.linalg.vector_norm(x),
    lambda x, y: np.linalg.matrix_norm(x), lambda x, y: np.linalg.outer(x[0], y[0]),
    lambda x, y: np.linalg.cross(x, y), lambda x, y: np.linalg.vecdot(x, y),
    lambda x, y: np.round(x, 1), lambda x, y: np.around(10 * x, decimals=-1),
    lambda x, y: np.diff(x, prepend=0), lambda x, y: np.diff(x, axis=0, append=y),
    lambda x, y: np.diff(x, 2, prepend=y, append=[[1], [2]]),
    lambda x, y: np.max(x, initial=0.5), lambda x, y: np.max(x, axis=1, initial=0.6),
    lambda x, y: np.min(x, 0, initial=0.5), lambda x, y: np.maximum.reduce(x, initial=0.5),
    lambda x, y: np.max(x, where=x > y, initial=-1), lambda x, y: np.sum(x, initial=2.5),
    lambda x, y: np.sum(x, axis=1, where=x > y), lambda x, y: np.prod(x, 0, initial=2, where=x > y),
    lambda x, y: np.add.reduce(x, initial=2, where=x > y), lambda x, y: np.any(x, where=x > y),
    lambda x, y: np.all(x > 0.4, where=x < y), lambda x, y: np.cumulative_sum(x, axis=1),
    lambda x, y: np.cumulative_prod(x, axis=0), lambda x, y: np.sum(x > y, initial=2.5),
    lambda x, y: np.array_equal(x, x), lambda x, y: np.tensordot(x, y.T, 1),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_the_same_call_on_variables(call: Any) -> None:
    x, y = pt.dmatrices("x", "y")
    out = call(x, y)
    wanted = np.asarray(call(A, B))
    got = rw.function([x, y], out, on_unused_input="ignore")(A, B)
    np.testing.assert_allclose(got, wanted, rtol=1e-13)
    assert np.shape(got) == wanted.shape


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: np.add(x, 1, out=np.ones(3)), OptionError, "np.add: cannot write to a variable"),
        (lambda x: np.exp(x, where=np.ones(3, bool)), OptionError, "`where=` .*pt.switch"),
        (lambda x: np.exp(x, dtype="float32"), OptionError, "`dtype=` .*astype"),
        (lambda x: np.max(x, where=np.ones(3, bool)), OptionError, "np.max: `where=` .*`initial="),
        (lambda x: np.mean(x, where=np.ones(3, bool)), OptionError, "np.mean: `where=`"),
        (lambda x: np.any(x, initial=True), TypeError, "initial"),
        (lambda x: np.cumulative_sum(x, include_initial=True), OptionError, "`include_initial="),
        (lambda x: np.sum(x, out=np.ones(())), OptionError, "np.sum: `out=`"),
        (lambda x: np.split(x, 2), NotConstantError, "np.split .*write: pt.split"),
        (lambda x: np.fill_diagonal(x, 0), NotConstantError, "write: pt.fill_diagonal"),
        (lambda x: np.reshape(x, (2, -1), order="F"), OptionError, "np.reshape: `order=`"),
        (lambda x: np.pad(x, 1, other=3), OptionError, "other"),
        (lambda x: np.atleast_3d(x), NotConstantError, "write: x.dimshuffle"),
        (lambda x: np.fft.rfft(x), NotConstantError, "write: pt.fft.rfft"),
        (lambda x: np.unwrap(x), NotConstantError, "np.unwrap does not take variables.*as_op"),
        (lambda x: np.fft.fft(x), NotConstantError, "np.fft.fft does not take variables"),
        (lambda x: np.add.at(x, 0, 1), NotConstantError, "inc"),
        (lambda x: np.clip(x, 0, 1, casting="no"), OptionError, "casting"),
        (np.asarray, NotConstantError, "no values before the graph runs"),
        (lambda x: np.array([x, x]), NotConstantError, "pt.stack"),
        (bool, NotConstantError, "use `switch`"),
        (float, NotConstantError, "astype"),
        (int, NotConstantError, "astype"),
        (complex, NotConstantError, "astype"),
        (len, NotConstantError, "shape"),
        (iter, NotConstantError, "shape"),
        (operator.index, NotConstantError, "not a constant"),
    ],
)
def test_what_says_what_to_write(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text) as info:
        call(pt.dvector("x"))
    assert isinstance(info.value, TypeError)


def test_in_place_operators_of_arrays() -> None:
    a, x = np.ones(3), pt.dvector("x")
    with pytest.raises(OptionError, match="a = a \\+ x"):
        a += x


def test_constants_are_arrays() -> None:
    c = pt.constant([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(c), [1.0, 2.0])
    assert np.asarray(c, dtype="float32").dtype == "float32"
    assert complex(pt.constant(2.0)) == 2


def test_methods_by_the_names_of_functions() -> None:
    x = pt.dmatrix("x")
    names = "arcsin arctan ceil conj cos cosh exp expm1 floor log log1p log2 sinh sqrt trunc"
    for name in names.split():
        assert getattr(x, name)().owner.op is getattr(pt, name)
    assert x.real.owner.op is pt.real
    assert x.imag.owner.op is pt.imag
    assert round(x).owner.op is pt.round_half_to_even
    np.testing.assert_allclose(round(x, 1).eval({x: A}), np.round(A, 1))
    assert x.round("half_away_from_zero").owner.op is pt.round_half_away_from_zero
