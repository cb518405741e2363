"""Single matrices, which LAPACK is called for at once: the values that NumPy finds, of sizes on
both sides of what counts as small, and where the quick way has to be left.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

L = pt.linalg
SIZES = (1, 2, 5, 17, 64, 65)


def compiled(dtype: str, f: Any) -> Any:
    a = pt.matrix("a", dtype=dtype)
    out = f(a)
    return rw.function([a], list(out) if isinstance(out, list | tuple) else out)


def matrix(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(shape)
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


def close(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    tolerance = 1e-3 if found.dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(found, wanted, tolerance, tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
def test_numbers_and_factors_are_those_of_numpy(dtype: str) -> None:
    det, logs, pinv = [compiled(dtype, f) for f in (L.det, L.slogdet, L.pinv)]
    svd = compiled(dtype, lambda a: L.svd(a, full_matrices=False))
    full, eig = compiled(dtype, L.svd), compiled(dtype, L.eig)
    for n in SIZES:
        a = matrix(dtype, n, n)
        scaled = a / np.asarray(n**0.5, a.real.dtype)
        close(det(scaled) / np.abs(det(scaled)), np.linalg.slogdet(a)[0])
        close(np.abs(det(scaled)), np.abs(np.linalg.det(scaled)))
        for found, wanted in zip(logs(a), np.linalg.slogdet(a), strict=True):
            close(found, wanted)
        w, v = eig(a)
        close(a @ v, v * w)
        close(np.abs(v**2).sum(0), np.ones(n, w.real.dtype))
        assert (np.sort_complex(v.imag[np.abs(v).argmax(0), range(n)]) == 0).all()
        close(np.abs(np.prod(w / n**0.5)), np.abs(np.linalg.det(a / n**0.5)).astype(w.real.dtype))
        for shape in ((n, n), (n + 1, n), (n, n + 2)):
            b = matrix(dtype, *shape)
            close(pinv(b), np.linalg.pinv(b))
            for f in (svd, full):
                u, s, vh = f(b)
                close(s, np.linalg.svdvals(b))
                k = len(s)
                close((u[:, :k] * s) @ vh[:k], b)
                assert (u.shape[1], vh.shape[0]) == ((k, k) if f is svd else shape)


@pytest.mark.parametrize(
    ("diagonal", "dtype"),
    [([1e200, 1e200, 1e-300], "float64"), ([1e-200, 1e-120, -1e300], "float64"),
     ([1e30, 1e30, 1e-30], "float32"), ([1e-30, 1e-20, -1e30], "float32"),
     ([1e200, 1e200, 1e200], "float64"), ([2.0, 0.0, 3.0], "float64"),
     ([2.0, np.nan, 3.0], "float64"), ([np.inf, -1.0, 3.0], "float64")],
)  # fmt: skip
def test_determinants_at_the_ends_of_the_range(diagonal: Any, dtype: str) -> None:
    a = np.diag(np.array(diagonal, dtype))
    with np.errstate(all="ignore"):
        sign, size = np.linalg.slogdet(a)
        wanted = np.linalg.det(a), np.nan if np.isnan(size) else sign, size
    found = compiled(dtype, L.det)(a), *compiled(dtype, L.slogdet)(a)
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == dtype
        np.testing.assert_allclose(x, y, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_pseudo_inverses_of_lower_rank() -> None:
    f = compiled("float64", L.pinv)
    a = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
    for x in (a, a * 0, np.diag([1.0, 1e-17, 2.0])):
        np.testing.assert_allclose(f(x), np.linalg.pinv(x), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n", [2, 4, 70])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("f", [L.eig, L.svd, L.pinv, lambda a: L.norm(a, ord=2)])
def test_what_is_not_finite_is_refused(f: Any, bad: float, n: int) -> None:
    """At once: LAPACK comes to no end with some infinities."""
    a = np.ones((n, n))
    a[0, 0] = bad
    with pytest.raises(L.SingularMatrixError):
        compiled("float64", f)(a)
    b = pt.tensor3("b")
    with pytest.raises(L.SingularMatrixError):
        rw.function([b], L.svd(b))(np.stack([np.eye(n), a]))


def test_singular_values_of_numbers_whose_sum_overflows() -> None:
    _, s, _ = compiled("float64", L.svd)([[1.5e308, 0.0], [0.0, 1e308]])
    np.testing.assert_allclose(s, [1.5e308, 1e308])


def test_eigenvalues_of_numbers_whose_sum_overflows() -> None:
    w, _ = compiled("float64", L.eig)([[1e308, 1e308], [0.0, 1.5e308]])
    np.testing.assert_allclose(np.sort(w.real), [1e308, 1.5e308])


def test_eigenvectors_of_pairs_are_conjugate() -> None:
    a = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    w, v = compiled("float64", L.eig)(a)
    np.testing.assert_allclose(w, [1j, -1j, 2.0])
    np.testing.assert_allclose(v[:, 0], v[:, 1].conj())
    np.testing.assert_allclose(v, np.linalg.eig(a)[1])


LATER = """
import sys
import numpy as np
import rewrite_engine as rw
import rewrite_engine.tensor as pt
a = pt.dmatrix("a")
c, x, inverse = map(pt.linalg.cholesky, (a, a.T)), pt.linalg.solve(a, a), pt.linalg.inv(a)
f, g, h = [rw.function([a], out) for out in (list(c), x, inverse)]
print("scipy.linalg" in sys.modules)
m = np.array([[4.0, 2.0], [2.0, 3.0]])
for _ in range(2):
    low, _ = f(m)
    print(np.allclose(low @ low.T, m), np.allclose(g(m), np.eye(2)), np.allclose(h(m) @ m, g(m)))
    print(np.isnan(f(-m)[0]).all(), f(np.zeros((0, 0)))[0].shape)
try:
    h(np.zeros((2, 2)))
except pt.linalg.SingularMatrixError:
    print("singular")
print("scipy.linalg" in sys.modules)
"""


@pytest.mark.on_vm
def test_scipy_is_loaded_by_the_first_call() -> None:
    out = subprocess.check_output([sys.executable, "-c", LATER], text=True)
    each = ["True True True", "True (0, 0)"]
    assert out.splitlines() == ["False", *each, *each, "singular", "True"]
