"""Elementwise functions made of others: values, dtypes and static shapes against NumPy and SciPy,
one line a case; gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, OptionError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from tests.tensor.evaluate import evaluate as evaluate_one

X = np.array(
    [-np.inf, -1e300, -2.5, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.5, 7.5, 1e17, np.inf, np.nan]
)
Y = np.array([2.0, -3.0, 0.7, -0.4, 1.0, 5.0, 2.0, 0.25, -2.0, 3.0, 1.5, 1.0, 2.0, 1.0])
I, J = np.array([-7, -2, 0, 3, 120]), np.array([2, -3, 4, 5, 7])  # fmt: skip
P = np.array([0.01, 0.4, 1.0, 3.5, 20.0])

#: our name, NumPy's function, arguments
CASES: list[tuple[str, Any, list[Any]]] = [
    ("divmod", np.divmod, [I, J]),
    ("divmod", np.divmod, [X[2:11], Y[2:11]]),
    ("ceil_intdiv", lambda a, b: np.ceil(a / b).astype(int), [I, J]),
    ("round", np.round, [X]),
    ("round", np.round, [I]),
    ("iround", lambda x: np.round(x).astype("int64"), [X[2:11]]),
    ("rint", np.rint, [X]),
    ("rint", np.rint, [I]),
    ("modf", np.modf, [X]),
    ("frexp", np.frexp, [X]),
    ("spacing", np.spacing, [np.append(X, [np.finfo("float64").max, 5e-324, -1.0])]),
    ("spacing", np.spacing, [np.float32([1, -3, 0, 7e9])]),
    ("fabs", np.fabs, [X]),
    ("fabs", np.fabs, [I]),
    ("positive", np.positive, [X]),
    ("float_power", np.float_power, [P, Y[:5]]),
    ("float_power", np.float_power, [J, J]),
    ("deg2rad", np.deg2rad, [X]),
    ("radians", np.radians, [I]),
    ("rad2deg", np.rad2deg, [X]),
    ("degrees", np.degrees, [Y]),
    ("sinc", np.sinc, [X[1:11]]),
    ("logical_and", np.logical_and, [X, Y]),
    ("logical_or", np.logical_or, [I, J > 0]),
    ("logical_xor", np.logical_xor, [I, J]),
    ("logical_not", np.logical_not, [X]),
    ("isposinf", np.isposinf, [X]),
    ("isneginf", np.isneginf, [X]),
    ("isclose", np.isclose, [X, X * (1 + 1e-6)]),
    ("isclose", np.isclose, [I > 0, J > 0]),
    ("nan_to_num", np.nan_to_num, [X]),
    ("nan_to_num", np.nan_to_num, [I]),
    ("nan_to_num", np.nan_to_num, [X + 1j * X[::-1]]),
    ("logit", special.logit, [np.array([0.0, 1e-300, 0.3, 0.5, 1.0, 2.0])]),
    ("factorial", special.factorial, [np.array([-2.0, 0.0, 1.0, 4.0, 170.0])]),
    ("factorial", special.factorial, [np.arange(6)]),
    ("gammal", lambda k, x: special.gammainc(k, x) * special.gamma(k), [P, P[::-1]]),
    ("gammau", lambda k, x: special.gammaincc(k, x) * special.gamma(k), [P, P[::-1]]),
    ("chi2sf", lambda x, k: special.chdtrc(k, x), [P, np.array([1, 2, 3, 4, 5])]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
@pytest.mark.parametrize("layout", ["plain", "strided", "empty", "number", "broadcast"])
def test_values(case: Any, layout: str) -> None:
    name, reference, arrays = case
    if layout == "strided":
        arrays = [np.repeat(a, 2)[::2] for a in arrays]
    elif layout == "empty":
        arrays = [a[:0] for a in arrays]
    elif layout == "number":
        arrays = [a[-2] for a in arrays]
    elif layout == "broadcast":
        arrays = [a[:, None] if k else a for k, a in enumerate(arrays)]
    static = [[n if n == 1 else None for n in np.shape(a)] for a in arrays]
    inputs = [pt.tensor(dtype=a.dtype, shape=s) for a, s in zip(arrays, static, strict=True)]
    found, wanted = getattr(pt, name)(*inputs), reference(*arrays)
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    given = dict(zip(inputs, arrays, strict=True))
    for out, want in zip(found, wanted, strict=True):
        compiled = rw.function(inputs, out, on_unused_input="ignore")(*arrays)
        for got in (evaluate_one(out, given), compiled):
            np.testing.assert_allclose(got, want, rtol=1e-13)
            if got.dtype.kind == "f" and name not in ("factorial", "nan_to_num"):
                known = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got) & known, np.signbit(want) & known)
            assert out.type.is_valid_value(got)
            assert got.dtype == np.asarray(want).dtype or name == "factorial"
        assert out.type.ndim == np.ndim(want)
    if arrays[0].ndim:
        known = [pt.tensor(dtype=a.dtype, shape=a.shape) for a in arrays]
        outs = getattr(pt, name)(*known)
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
        assert (outs[0] if isinstance(outs, tuple) else outs).type.shape == shape


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: pt.modf(x)[0],
        lambda x: pt.frexp(x)[0],
        lambda x: pt.divmod(x, 0.7)[1],
        lambda x: pt.fabs(x) + pt.rad2deg(x) + pt.deg2rad(x),
        lambda x: pt.float_power(x, 1.7),
        pt.sinc,
        lambda x: pt.nan_to_num(x) * pt.positive(x),
        pt.factorial,
        lambda x: pt.gammal(x, 0.8) + pt.gammau(0.9, x),
        lambda x: pt.chi2sf(x, x + 1),
        lambda x: pt.fmod(x, 0.9) * pt.cbrt(x),
        lambda x: pt.fmax(x, 0.5) * pt.fmin(x, 2.0) + pt.copysign(x, -1.0),
        lambda x: pt.polygamma(2, x) + pt.tri_gamma(x) + pt.psi(x) + pt.gamma(x),
        lambda x: pt.betainc(x, 1.3, 0.4) + pt.betainc(0.7, x, 0.3),
        lambda x: pt.gammaincinv(x, 0.3) * pt.gammainccinv(1.5, x / 5),
        lambda x: pt.betaincinv(x, 1.5, 0.3) + pt.betaincinv(2.0, x, x / 5),
        lambda x: pt.hyp2f1(x, 1.2, 2.3, -0.4) + pt.hyp2f1(0.4, x, 2 * x, 0.6),
        lambda x: pt.owens_t(x, 0.5) * pt.owens_t(0.5, x) + pt.ndtri_exp(-x),
        lambda x: pt.jv(0.3, x) + pt.iv(1.2, x) * pt.ive(0.1, x) + pt.kv(2, x) * pt.kve(0.5, x),
        lambda x: pt.j0(x) * pt.j1(x) + pt.i0(x) * pt.i1(x),
        lambda x: pt.xlogy(x, x) + pt.xlog1py(x, x) + pt.beta(x, 2.0) + pt.poch(x, 0.5),
    ],
)
def test_gradients_of_what_is_built(fn: Any) -> None:
    verify_grad(fn, [np.array([0.4, 1.3, 3.2])])


def test_rounding_modes() -> None:
    x = pt.dvector("x")
    at = np.array([-2.5, -0.5, 0.49999999999999994, 0.5, 1.5, 2.5, 1e300, np.inf, np.nan])
    away = rw.function([x], pt.round(x, "half_away_from_zero"))(at)
    np.testing.assert_array_equal(away, [-3, -1, 0, 1, 2, 3, 1e300, np.inf, np.nan])
    np.testing.assert_array_equal(
        rw.function([x], pt.round(x, mode="half_to_even"))(at), np.round(at)
    )
    assert pt.round(pt.bvector()).dtype == "int8"
    with pytest.raises(OptionError, match="mode must be half_to_even or half_away_from_zero"):
        pt.round(x, "up")


def test_allclose() -> None:
    x, y = pt.dmatrices("x", "y")
    for a, b in ((X, X * (1 + 1e-6)), (X[:-1], X[:-1] * (1 + 1e-6)), (Y, Y + 1), (X[:0], X[:0])):
        for equal_nan in (False, True):
            f = rw.function([x, y], pt.allclose(x, y, equal_nan=equal_nan))
            assert f(a[None], b[None]) == np.allclose(a, b, equal_nan=equal_nan)
    assert pt.allclose(x, y).type == pt.TensorType("bool", ())


def test_nan_to_num_takes_numbers() -> None:
    x = pt.fvector("x")
    y = pt.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0)
    assert y.dtype == "float32"
    assert y.eval({x: np.float32([np.nan, np.inf, -np.inf, 5])}).tolist() == [1, 2, 3, 5]
    g = grad(pt.nan_to_num(x).sum(), x)
    assert g.eval({x: np.float32([np.nan, np.inf, 5])}).tolist() == [0, 0, 1]


def test_what_is_not_defined() -> None:
    for name in ("isposinf", "nextafter", "erfinv", "gammainc_dk", "ldexp", "cbrt"):
        with pytest.raises(DTypeError):
            getattr(pt, name)(
                *[pt.zvector()] * (2 if name in ("nextafter", "gammainc_dk", "ldexp") else 1)
            )
    with pytest.raises(DTypeError, match="gcd"):
        pt.gcd(pt.dvector(), 2)


def test_neighbours_powers_of_two_and_signs() -> None:
    x, i = pt.dvector("x"), pt.lvector("i")
    at = np.array([0.0, -0.0, 1.0, -3.5, 1e308, np.inf, np.nan])
    for ours, theirs in [
        (pt.nextafter(x, 1.0), np.nextafter(at, 1.0)),
        (pt.copysign(x, -1.0), np.copysign(at, -1.0)),
        (pt.signbit(x), np.signbit(at)),
        (pt.heaviside(x, 0.5), np.heaviside(at, 0.5)),
        (pt.fmax(x, 0.0), np.fmax(at, 0.0)),
        (pt.fmin(x, 0.0), np.fmin(at, 0.0)),
        (pt.ldexp(x, 3), np.ldexp(at, 3)),
    ]:
        np.testing.assert_array_equal(evaluate([ours], {x: at})[0], theirs)
    assert evaluate([pt.ldexp(i, i)], {i: [1, -2]})[0].tolist() == [2, -0.5]
    assert grad(pt.fmax(x, np.nan).sum(), x).eval({x: [1.0, 2.0]}).tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64"])
def test_quotients_are_rounded_up_in_any_dtype(dtype: str) -> None:
    ends = np.iinfo(dtype)
    a = [n for n in (ends.min, -7, -6, -1, 0, 1, 6, 7, ends.max) if n >= ends.min]
    b = [n for n in (-3, -2, 1, 2, 3, ends.max) if n >= ends.min]
    values = np.array(a, dtype)[:, None], np.array(b, dtype)
    got = evaluate_one(pt.ceil_intdiv(*map(pt.constant, values)))
    assert got.dtype == dtype
    assert got.tolist() == [[-(-n // k) for k in b] for n in a]


@pytest.mark.parametrize("decimals", [-1, 0, 1])
def test_rounding_to_digits(decimals):
    x, n = pt.dvector("x"), pt.lvector("n")
    at, whole = np.array([15.25, -24.96, 0.04]), np.array([15, 25, -15])
    found = pt.round(x, decimals=decimals)
    np.testing.assert_allclose(found.eval({x: at}), np.round(at, decimals))
    np.testing.assert_array_equal(
        pt.round(n, decimals=decimals).eval({n: whole}), np.round(whole, decimals)
    )


def test_outer() -> None:
    x, y = pt.dmatrix("x"), pt.dvector("y")
    given = {x: np.arange(6.0).reshape(2, 3), y: np.array([1.0, -2.0])}
    np.testing.assert_array_equal(pt.add.outer(x, y).eval(given), np.add.outer(*given.values()))
    assert pt.maximum.outer(x, 1.0).eval({x: given[x]}).tolist() == [[1, 1, 2], [3, 4, 5]]
