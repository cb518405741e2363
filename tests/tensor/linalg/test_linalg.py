"""Linear algebra: in the words of NumPy and SciPy, one line a case; derivatives, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, NDimError, NullTypeGradError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.type import TensorType

L = pt.linalg
REAL = ("float64", "float32", "int8", "int64")
ALL = (*REAL, "complex128", "complex64")
BATCHES: list[tuple[int, ...]] = [(), (3,), (2, 1), (0,)]


def general(batch: Any, n: int, dtype: str, seed: int = 0) -> Any:
    """Matrices with elements of one digit, far from singular."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (*batch, n, n)) + 7 * np.eye(n)
    if dtype.startswith("complex"):
        x = x + 1j * rng.integers(-2, 3, x.shape)
    return x.astype(dtype)


def definite(batch: Any, n: int, dtype: str) -> Any:
    x = general(batch, n, dtype)
    return (x @ x.mT.conj()).astype(dtype) if dtype != "int8" else _even(x)


def _even(x: Any) -> Any:
    return (np.tril(x, -1) + np.tril(x).mT + 4 * np.eye(x.shape[-1])).astype("int8")


def rhs(batch: Any, n: int, dtype: str, columns: int | None = 2) -> Any:
    shape = (*batch, n) if columns is None else (*batch, n, columns)
    return np.random.default_rng(5).integers(-4, 5, shape).astype(dtype)


def floats(x: Any) -> Any:
    return x.astype(float_dtype(x.dtype.name))


def each(f: Any) -> Any:
    """A function of matrices, one by one."""

    def of(*xs: Any) -> Any:
        batch = np.broadcast_shapes(*[x.shape[:-2] for x in xs])
        wide = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in xs]
        found = [np.asarray(f(*[x[i] for x in wide])) for i in np.ndindex(batch)]
        if not found:
            return None
        return np.reshape(found, (*batch, *found[0].shape))

    return of


#: what it is, ours, NumPy's or SciPy's; makes of matrices
CASES: list[tuple[str, Any, Any, Any]] = [
    ("inv", L.inv, np.linalg.inv, general),
    ("det", L.det, np.linalg.det, general),
    ("sign", lambda a: L.slogdet(a).sign, lambda a: np.linalg.slogdet(a)[0], general),
    ("logdet", lambda a: L.slogdet(a).logabsdet, lambda a: np.linalg.slogdet(a)[1], general),
    ("cholesky", L.cholesky, np.linalg.cholesky, definite),
    ("cholesky upper", lambda a: L.cholesky(a, False),
     each(lambda a: scipy.linalg.cholesky(a)), definite),
    ("cholesky raise", lambda a: L.cholesky(a, on_error="raise"), np.linalg.cholesky, definite),
    ("pinv", L.pinv, np.linalg.pinv, general), ("expm", lambda a: L.expm(L.inv(a)),
     lambda a: scipy.linalg.expm(np.linalg.inv(a)) if a.size else None, general),
    ("svd full", lambda a: L.svd(a[..., :1])[0][..., 0],
     lambda a: np.linalg.svd(a[..., :1])[0][..., 0], general),
    ("singular values", lambda a: L.svd(a, compute_uv=False),
     lambda a: np.linalg.svd(a, compute_uv=False), general),
    ("eigenvalues", L.eigvalsh, np.linalg.eigvalsh, general),
    ("upper eigenvalues", lambda a: L.eigh(a, UPLO="U").eigenvalues,
     lambda a: np.linalg.eigh(a, "U").eigenvalues, general),
    *[(f"qr {mode}", lambda a, m=mode: L.qr(a[..., :2], m)[1],
       lambda a, t=theirs: np.linalg.qr(a[..., :2], t)[1], general)
      for mode, theirs in (("full", "complete"), ("economic", "reduced"))],
    ("qr r", lambda a: L.qr(a[..., :2], "r"),
     lambda a: np.linalg.qr(a[..., :2], "complete")[1], general),
    ("trace", L.trace, lambda a: np.trace(a, axis1=-2, axis2=-1), general),
    *[(f"norm {ord}", lambda a, o=ord: L.norm(a, o),
       lambda a, o=ord: np.linalg.norm(a, o, (-2, -1)), general)
      for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
    *[(f"norm of vectors {ord}", lambda a, o=ord: L.norm(a, o, axis=-1),
       lambda a, o=ord: np.linalg.norm(a, o, axis=-1), general)
      for ord in (None, 2, 1, 0, 3, np.inf, -np.inf)],
    ("lu P", lambda a: L.lu(a)[0], each(lambda a: scipy.linalg.lu(a)[0].real), general),
    *[(f"lu {part}", lambda a, k=k, p="PL" in part: L.lu(a, permute_l=p)[k],
       each(lambda a, k=k, p="PL" in part: scipy.linalg.lu(a, permute_l=p)[k]), general)
      for k, part in ((1, "L"), (2, "U"), (0, "PL"), (1, "U of PL"))],
    ("lu_factor", lambda a: L.lu_factor(a).LU, each(lambda a: scipy.linalg.lu_factor(a)[0]),
     general),
    ("norm kept", lambda a: L.norm(a, 1, axis=(-1, -2), keepdims=True),
     lambda a: np.linalg.norm(a, 1, axis=(-1, -2), keepdims=True), general),
]  # fmt: skip
#: of two arrays: what it is, ours, SciPy's of each; makes of matrices
SOLVERS: list[tuple[str, Any, Any, Any]] = [
    *[(f"solve {kind} {lower} {turned}",
       lambda a, b, k=kind, lo=lower, t=turned: L.solve(a, b, assume_a=k, lower=lo, transposed=t),
       lambda a, b, k=kind, lo=lower, t=turned: reference(a, b, k, lo, t), make)
      for lower in (False, True) for turned in (False, True)
      for kind, make in (("gen", general), ("sym", general), ("her", general), ("pos", definite),
                         ("diagonal", general), ("tridiagonal", general),
                         ("upper triangular", general), ("lower triangular", general),
                         ("positive definite", definite))],
    *[(f"solve_triangular {trans} {lower} {unit}",
       lambda a, b, o={"trans": trans, "lower": lower, "unit_diagonal": unit}:
           L.solve_triangular(a, b, **o),
       lambda a, b, o={"trans": trans, "lower": lower, "unit_diagonal": unit}:
           scipy.linalg.solve_triangular(a, b, **o), general)
      for trans in (0, "T", 2) for lower in (False, True) for unit in (False, True)],
    *[(f"cho_solve {lower}", lambda a, b, lo=lower: L.cho_solve((a, lo), b),
       lambda a, b, lo=lower: scipy.linalg.cho_solve((a, lo), b), general)
      for lower in (False, True)],
    *[(f"lu_solve {trans}", lambda a, b, t=trans: L.lu_solve(L.lu_factor(a), b, t),
       lambda a, b, t=trans: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, t), general)
      for trans in (0, 1, 2)],
]  # fmt: skip


def reference(a: Any, b: Any, kind: str, lower: bool, turned: bool) -> Any:
    """NumPy's solution of the equations with what is read of a matrix."""
    even = np.tril(a) + np.tril(a, -1).mT if lower else np.triu(a) + np.triu(a, 1).mT
    rest = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = {
        "sym": even, "her": rest + rest.mT.conj() + np.diag(np.diag(a)),
        "pos": rest + rest.mT.conj() + np.diag(np.diag(a)),
        "diagonal": np.diag(np.diag(a)), "tridiagonal": np.triu(np.tril(a, 1), -1),
        "upper triangular": np.triu(a), "lower triangular": np.tril(a),
    }.get({"positive definite": "pos"}.get(kind, kind), a)  # fmt: skip
    return np.linalg.solve(whole.T if turned else whole, b)


def agree(out: Any, inputs: Any, values: Any, wanted: Any, compiled: bool = False) -> None:
    found = evaluate([out], dict(zip(inputs, values, strict=True)))
    for got in [*found, *([rw.function(inputs, out)(*values)] if compiled else [])]:
        assert len(got.shape) == len(out.type.shape)
        assert all(s in (None, n) for s, n in zip(out.type.shape, got.shape, strict=True))
        if wanted is not None:
            rtol = 3e-4 if got.dtype in ("float32", "complex64") else 1e-10
            assert (got.dtype, got.shape) == (np.asarray(wanted).dtype, np.shape(wanted))
            np.testing.assert_allclose(got, wanted, rtol, rtol)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize(("ours", "theirs", "make"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])  # fmt: skip
def test_of_matrices(ours: Any, theirs: Any, make: Any, batch: Any) -> None:
    for dtype, n in itertools.product(ALL, (3, 1)):
        a = make(batch, n, dtype)
        wanted = theirs(a if ours is L.trace else floats(a))
        if wanted is not None and ours is not L.trace:
            real = np.asarray(wanted).dtype.kind == "f"
            wanted = np.asarray(wanted, (floats(a).real if real else floats(a)).dtype)
        for x in (a, np.asarray(a, order="F"), np.repeat(a, 2, -1)[..., ::2]):
            shape = a.shape if x is a else (None,) * a.ndim
            v = TensorType(dtype, shape)()
            agree(ours(v), [v], [x], wanted, dtype == "int8" and x is a and n == 3)


@pytest.mark.parametrize("f", [L.inv, L.det, lambda a: L.slogdet(a)[1], L.cholesky, L.trace])
def test_empty_matrices(f: Any) -> None:
    for batch in BATCHES:
        x = np.ones((*batch, 0, 0))
        v = TensorType("float64", (None,) * x.ndim)()
        wanted = {L.inv: x, L.cholesky: x, L.det: np.ones(batch)}.get(f, np.zeros(batch))
        agree(f(v), [v], [x], wanted)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0)], ids=str)
def test_norms_without_elements(shape: Any, known: bool) -> None:
    """0 where the largest of no sizes is asked for; there is no smallest one."""
    x = TensorType("float64", shape if known else (None,) * len(shape))()
    zero, (rows, columns) = np.zeros(shape[:-2]), shape[-2:]
    for ord in (None, "nuc", 2, 1, np.inf):
        agree(L.norm(x, ord, (-2, -1)), [x], [np.zeros(shape)], zero, True)
    for ord, length in ((-1, columns), (-np.inf, rows), (-2, min(rows, columns))):
        if length:
            agree(L.norm(x, ord, (-2, -1)), [x], [np.zeros(shape)], zero, True)
            continue
        with pytest.raises(ShapeError):
            rw.function([x], L.norm(x, ord, (-2, -1)))(np.zeros(shape))
    agree(L.norm(x, np.inf, -1), [x], [np.zeros(shape)], np.zeros(shape[:-1]), True)
    agree(L.norm(x, np.inf, -1, True), [x], [np.zeros(shape)], np.zeros((*shape[:-1], 1)), True)


NONE: dict[str, Any] = {
    "eig": L.eig, "schur": L.schur, "qz": lambda a: L.qz(a, a), "eigh": lambda a: L.eigh(a, a),
    "lu": L.lu, "lu_factor": L.lu_factor, "qr": lambda a: L.qr(a, pivoting=True),
    "riccati": lambda a: [L.solve_discrete_are(a, a, a, a)], "lstsq": lambda a: L.lstsq(a, a)[:1],
    "sylvester": lambda a: [L.solve_sylvester(a, a, a)],
    "bilinear": lambda a: [L.solve_discrete_lyapunov(a, a)],
    "direct": lambda a: [L.solve_discrete_lyapunov(a, a, "direct")],
    "lu_solve": lambda a: [L.lu_solve(L.lu_factor(a), a)],
    "slope of det": lambda a: [grad(L.det(a).sum(), a)],
}  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)], ids=str)
@pytest.mark.parametrize("name", NONE)
def test_no_elements(name: str, shape: Any) -> None:
    x = TensorType("float64", (None,) * len(shape))("x")
    for found in rw.function([x], [*NONE[name](x)])(np.ones(shape)):
        assert found.size == 0
        assert found.shape in (shape, shape[:-1])


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize(("ours", "theirs", "make"), [c[1:] for c in SOLVERS],
                         ids=[c[0] for c in SOLVERS])  # fmt: skip
def test_of_equations(ours: Any, theirs: Any, make: Any, batch: Any) -> None:
    for dtype, n in [
        ("float64", 3),
        ("float64", 1),
        ("float32", 3),
        ("int64", 2),
        ("complex128", 2),
    ]:
        a = make(batch, n, dtype)
        for b in (rhs(batch, n, dtype), rhs((), n, dtype, 1 if n == 3 else 0)):
            wanted = each(theirs)(floats(a), floats(b)) if b.size else None
            for order in "CF" if dtype == "float64" else "F":
                values = [np.asarray(x, order=order) for x in (a, b)]
                inputs = [TensorType(dtype, (None,) * x.ndim)() for x in values]
                small = dtype == "float32" and n == 3 and order == "F" and b.ndim == 2
                agree(ours(*inputs), inputs, values, wanted, small)


@pytest.mark.parametrize("f", [L.solve, L.solve_triangular, lambda a, b, **o: L.cho_solve(
    (a, False), b, **o)], ids=["solve", "solve_triangular", "cho_solve"])  # fmt: skip
def test_vectors(f: Any) -> None:
    a, b = np.triu(general((), 3, "float64")), rhs((4,), 3, "float64", None)
    of = {(3,): pt.dvector("b"), (4, 3): pt.dmatrix("bs")}
    one = f(a, of[3,]).eval({of[3,]: b[0]})
    np.testing.assert_allclose(one, f(a, b[0][:, None]).eval()[:, 0])
    many = f(a, of[4, 3], b_ndim=1)
    assert many.type.shape == (None, 3)
    np.testing.assert_allclose(many.eval({of[4, 3]: b})[0], one)
    with pytest.raises(ValueError, match="b_ndim must be 1 for vectors or 2"):
        f(a, b, b_ndim=3)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 8, 11])
def test_powers(n: int) -> None:
    for batch, dtype in itertools.product(BATCHES, ["float64", "int64", "complex128"]):
        a = general(batch, 2, dtype)
        v = TensorType(dtype, (None,) * a.ndim)()
        wanted = np.linalg.matrix_power(a if n >= 0 else floats(a), n)
        agree(L.matrix_power(v, n), [v], [a], wanted)
    verify_grad(lambda a: L.matrix_power(a, n), [POINTS["definites"]])


BLOCKS = [
    [(2, 3)], [(2, 3), (1, 1)], [(2, 3), (0, 2), (3, 1)], [(4, 2, 3), (4, 1, 2)],
    [(4, 2, 3), (1, 2)],
]  # fmt: skip


@pytest.mark.parametrize("shapes", BLOCKS, ids=str)
def test_blocks(shapes: Any) -> None:
    rng = np.random.default_rng(1)
    values = [rng.integers(-3, 4, s).astype(d) for s, d in zip(shapes, ["f8", "i1", "f4"])]
    batch = np.broadcast_shapes(*[s[:-2] for s in shapes])
    wide = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in values]
    wanted = [scipy.linalg.block_diag(*[x[i] for x in wide]) for i in np.ndindex(batch)]
    whole = np.reshape(wanted, (*batch, *wanted[0].shape))
    for known in (True, False):
        inputs = [TensorType(x.dtype, x.shape if known else (None,) * x.ndim)() for x in values]
        out = L.block_diag(*inputs)
        assert not known or out.type.shape == whole.shape
        agree(out, inputs, values, whole, compiled=known)
    verify_grad(lambda *xs: L.block_diag(*xs), [x.astype("f8") for x in values])


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_orders_of_rows(batch: Any) -> None:
    a = np.random.default_rng(2).normal(size=(*batch, 4, 4))
    x = TensorType("float64", (None,) * a.ndim)()
    p, low, up = L.lu(x, p_indices=True)
    wanted = scipy.linalg.lu(a, p_indices=True)[0] if a.size else np.empty(a.shape[:-1])
    agree(p, [x], [a], np.asarray(wanted, "int32"))
    pivots = L.lu_factor(x).pivots
    assert (p.type.dtype, pivots.type.dtype) == ("int32", "int32")
    for inverse in (False, True):
        order = L.pivot_to_permutation(pivots, inverse=inverse)
        agree(order, [x], [a], np.asarray(wanted if not inverse else np.argsort(wanted), "int64"))
    agree(pt.take_along_axis(low @ up, p[..., None], axis=-2), [x], [a], a)


def test_factors_of_a_singular_matrix() -> None:
    a = np.ones((2, 2))
    np.testing.assert_array_equal(L.lu_factor(a).LU.eval(), [[1, 1], [1, 0]])
    x = pt.matrix("x")
    for cost in (L.lu_factor(x).LU.sum(), L.lu_solve(L.lu_factor(x), [1.0, 2.0]).sum()):
        with pytest.raises(L.SingularMatrixError, match=r"the matrix of shape \(2, 2\)"):
            grad(cost, x).eval({x: a})


def test_products_of_several() -> None:
    a, b, c = np.ones((2, 3)), np.full((3, 4), 2.0), np.arange(4.0)
    np.testing.assert_allclose(L.matrix_dot(a, b, c).eval(), a @ b @ c)
    np.testing.assert_allclose(L.kron(a, b).eval(), np.kron(a, b))


# --- derivatives ----------------------------------------------------------------------------------

POINTS = {
    "general": general((2,), 3, "float64") / 5 + np.sin(np.arange(18)).reshape(2, 3, 3) / 9,
    "definite": definite((), 3, "float64") / 50,
    "definites": definite((2,), 2, "float64") / 50,
    "one": np.array([[2.0]]),
}
OF_ONE = {
    "inv": L.inv, "det": L.det, "logdet": lambda a: L.slogdet(a).logabsdet, "trace": L.trace,
    "cholesky": L.cholesky, "cholesky upper": lambda a: L.cholesky(a, lower=False),
    "pinv": lambda a: L.pinv(a[..., :1]), "expm": L.expm, "eigenvalues": L.eigvalsh,
    "svd": lambda a: vectors(L.svd(a, full_matrices=False)), "eigh": lambda a: vectors(L.eigh(a)),
    "qr": lambda a: vectors(L.qr(a, "economic")), "spectral": lambda a: L.norm(a, 2),
    "R": lambda a: L.qr(a[..., :1], "r"), "square qr": lambda a: vectors(L.qr(a)),
    "wide qr": lambda a: vectors(L.qr(a[..., :2, :], "economic")),
    "lu": lambda a: vectors(L.lu(a)[1:]), "lu whole": lambda a: vectors(L.lu(a, permute_l=True)),
    "lu_factor": lambda a: pt.sin(L.lu_factor(a).LU),
    "norm": L.norm, "norm inf": lambda a: L.norm(a, np.inf), "norm 1": lambda a: L.norm(a, 1),
}  # fmt: skip


def vectors(parts: Any) -> Any:
    """A number that depends on all outputs."""
    return sum([pt.sin((k + 2) * x).sum() * (k + 1) for k, x in enumerate(parts)])


B = np.random.default_rng(3).normal(size=(3, 2))
OF_TWO = {
    **{f"solve {kind} {lower}": lambda a, b, k=kind, lo=lower: L.solve(a, b, assume_a=k, lower=lo)
       for kind in ("gen", "sym", "pos", "diagonal", "tridiagonal", "lower triangular")
       for lower in (False, True)},
    "transposed": lambda a, b: L.solve(a, b, transposed=True),
    "triangular T": lambda a, b: L.solve_triangular(a, b, trans="T", lower=True),
    "triangular unit": lambda a, b: L.solve_triangular(a, b, unit_diagonal=True),
    "cho_solve": lambda a, b: L.cho_solve((a, True), b),
    "lu_solve": lambda a, b: L.lu_solve(L.lu_factor(a), b),
    "lu_solve T": lambda a, b: L.lu_solve(L.lu_factor(a), b, trans=True),
    "vectors": lambda a, b: L.solve(a, b.T, b_ndim=1)[0],
}  # fmt: skip


def twice(f: Any) -> Any:
    """The gradient of a function that is nowhere linear."""

    def of(*xs: Any) -> Any:
        return grad(pt.sin(f(*xs)).sum(), xs[0])

    return of


@pytest.mark.parametrize("at", POINTS)
@pytest.mark.parametrize("name", OF_ONE)
def test_gradients_of_matrices(name: str, at: str) -> None:
    if "cholesky" in name and at == "general":
        return
    verify_grad(OF_ONE[name], [POINTS[at]])
    verify_grad(twice(OF_ONE[name]), [POINTS[at]])


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("name", OF_TWO)
def test_gradients_of_equations(name: str, batch: bool) -> None:
    a = POINTS["definite"]
    if name == "vectors":
        a = np.stack([a, a + 1])[:1] if batch else a
    elif batch:
        a = np.stack([a, a + np.eye(3)])
    verify_grad(OF_TWO[name], [a, B])
    verify_grad(twice(OF_TWO[name]), [a, B])


def test_gradients_in_single_precision() -> None:
    a = POINTS["definite"].astype("float32")
    for f in OF_ONE.values():
        x = pt.fmatrix("x")
        assert grad(pt.sin(f(x)).sum(), x).type.dtype == "float32"
        verify_grad(f, [a])


# --- errors ---------------------------------------------------------------------------------------

SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("f", [
    L.inv, lambda a: L.solve(a, np.ones((2, 1))),
    lambda a: L.solve_triangular(a - np.ones((2, 2)), np.ones((2, 1))),
    lambda a: L.cholesky(a, on_error="raise"), lambda a: L.solve(a, np.eye(2), assume_a="pos"),
])  # fmt: skip
def test_no_inverse(f: Any, compiled: bool) -> None:
    for value, where in ((SINGULAR, r"matrix \((0|1),\) of the array of shape \(2, 2, 2\)"),
                         (SINGULAR[1], r"the matrix of shape \(2, 2\)")):  # fmt: skip
        a = TensorType("float64", (None,) * value.ndim)("a")
        x = f(a)
        run = rw.function([a], x) if compiled else lambda v, a=a, x=x: evaluate([x], {a: v})
        with pytest.raises(L.SingularMatrixError, match=where) as error:
            run(value)
        assert "singular" in str(error.value) or "not positive definite" in str(error.value)
        assert "test_linalg.py" in str(error.value)
        assert isinstance(error.value, np.linalg.LinAlgError)


def test_what_does_not_converge() -> None:
    with pytest.raises(L.SingularMatrixError, match=r"finite.*\(2, 2\)"):
        evaluate([L.svd(np.full((2, 2), np.nan)).S], {})


def test_no_factor_is_nan() -> None:
    a = pt.dtensor3("a")
    found = L.cholesky(a).eval({a: SINGULAR - np.array([0, 1.0])[:, None, None] * np.eye(2)})
    np.testing.assert_array_equal(found, [np.eye(2), np.full((2, 2), np.nan)])
    assert np.isnan(L.cholesky([[np.nan]]).eval()).all()


def test_nan_makes_nan() -> None:
    a = np.full((2, 2), np.nan)
    for f in (L.inv, L.det, lambda a: L.solve(a, [1.0, 2]),
              lambda a: L.solve_triangular(a, [1.0, 2]), L.norm):  # fmt: skip
        assert np.isnan(f(a).eval()).all()


LOW_RANK = [np.ones((1, 1)) * 0, np.ones((2, 2)), np.zeros((2, 2)), np.zeros((3, 3)),
            np.outer([1.0, 2, 3], [2.0, 0, 1]), np.diag([1.0, 2, 0]),
            np.arange(9.0).reshape(3, 3), np.sin(np.outer(np.arange(4), [1.0, 2, 3, 1])),
            np.stack([np.eye(2), np.ones((2, 2)), [[0.1, 0.3], [0.1 * 3, 0.9]]])]  # fmt: skip


@pytest.mark.parametrize("k", range(len(LOW_RANK)))
def test_slopes_of_the_determinant_of_a_singular_matrix(k: int) -> None:
    a = LOW_RANK[k]
    verify_grad(L.det, [a])
    x = TensorType("float64", (None,) * a.ndim)()
    slope = grad(L.det(x).sum(), x)
    np.testing.assert_allclose(rw.function([x], slope)(a), each(cofactors)(a), atol=1e-14)
    with pytest.raises(L.SingularMatrixError, match="singular"):
        grad((slope**2).sum(), x).eval({x: a})


def cofactors(a: Any) -> Any:
    out = np.empty_like(a)
    for i, k in np.ndindex(a.shape):
        out[i, k] = (-1) ** (i + k) * np.linalg.det(np.delete(np.delete(a, i, 0), k, 1))
    return out


def test_slopes_of_the_determinant_of_a_matrix_that_is_nearly_singular() -> None:
    """Against mpmath: Hilbert's matrix of 8 rows, whose condition is 1e10."""
    import mpmath

    a = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    with mpmath.workdps(60):
        exact = mpmath.matrix(a.tolist())
        wanted = np.array((mpmath.det(exact) * exact**-1).T.tolist(), float)
    x = pt.matrix("x")
    found = grad(L.det(x), x).eval({x: a})
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_slopes_of_determinants_of_nan() -> None:
    a = np.stack([np.eye(2), np.full((2, 2), np.nan), np.ones((2, 2))])
    x = pt.tensor3("x")
    found = grad(L.det(x).sum(), x).eval({x: a})
    np.testing.assert_allclose(found[[0, 2]], [np.eye(2), [[1, -1], [-1, 1]]], atol=1e-15)
    assert np.isnan(found[1]).all()


def test_a_complete_q_of_a_tall_matrix_has_no_gradient() -> None:
    x, tall = pt.matrix("x"), pt.matrix(shape=(4, 2))
    with pytest.raises(NullTypeGradError, match="a complete Q with more columns than A has no"):
        grad(L.qr(tall)[0].sum(), tall)
    with pytest.raises(ShapeError, match="do not fit"):
        grad(L.qr(x)[0].sum(), x).eval({x: np.eye(4)[:, :2]})
    verify_grad(lambda a: vectors(L.qr(a)), [np.random.default_rng(4).normal(size=(2, 3))])


def test_a_singular_matrix_has_a_determinant() -> None:
    assert L.det(np.ones((2, 2))).eval() == 0
    sign, size = L.slogdet(np.ones((2, 2)))
    assert (sign.eval(), size.eval()) == (0, -np.inf)


@pytest.mark.parametrize(("error", "what", "build"), [
    (NDimError, "takes an array of 2 dimensions or more", lambda: L.inv(pt.vector())),
    (ShapeError, "shape", lambda: L.det(pt.matrix(shape=(2, 3)))),
    (ShapeError, "shape", lambda: L.cholesky(pt.tensor3(shape=(5, 2, 3)))),
    (ShapeError, "shape", lambda: L.solve(np.eye(3), np.ones(2))),
    (NDimError, "takes an array of 2 dimensions or more", lambda: L.solve(pt.vector(), [1])),
    (ValueError, "b_ndim must be 1", lambda: L.solve(pt.matrix(), 1.0)),
    (ValueError, "assume_a must be one of", lambda: L.solve(np.eye(3), np.ones(3), assume_a="odd")),
    (ValueError, "trans must be 0", lambda: L.solve_triangular(np.eye(3), np.ones(3), trans=3)),
    (ValueError, "on_error must be", lambda: L.cholesky(np.eye(3), on_error="warn")),
    (ValueError, "ord of a matrix must be", lambda: L.norm(pt.matrix(), 3)),
    (ValueError, "ord of a vector must be", lambda: L.norm(pt.vector(), "fro")),
    (ValueError, "one of permute_l and p_indices", lambda: L.lu(np.eye(2), True, p_indices=True)),
    (ValueError, "trans must be 0, 1 or 2", lambda: L.lu_solve((np.eye(2), [0, 1]), [1.0, 2], 3)),
    (DTypeError, "pivots of an integer dtype", lambda: L.pivot_to_permutation([0.5])),
    (NDimError, "takes an array of 2 dimensions or more", lambda: L.lu(pt.vector())),
    (ShapeError, "shape", lambda: L.lu_solve(L.lu_factor(pt.matrix(shape=(2, 3))), [1.0, 2.0])),
    (ValueError, "takes the five outputs", lambda: L.tridiagonal_lu_solve(np.eye(3), np.ones(3))),
    (ShapeError, "shape", lambda: L.tridiagonal_lu_solve(L.tridiagonal_lu_factor(np.eye(3)),
                                                         np.ones(4))),
    (ShapeError, "shape", lambda: L.tridiagonal_lu_factor(pt.matrix(shape=(2, 3)))),
    (ShapeError, "from 0 to 1", lambda: L.pivot_to_permutation([0, 2]).eval()),
    (ValueError, "UPLO must be", lambda: L.eigh(np.eye(2), UPLO="l")),
    (ValueError, "mode must be one of", lambda: L.qr(np.eye(2), "raw")),
    (TypeError, "takes an integer", lambda: L.matrix_power(np.eye(2), 0.5)),
    (ShapeError, "square", lambda: L.matrix_power(pt.matrix(shape=(2, 3)), 1)),
    (NDimError, "takes matrices", lambda: L.block_diag([1])),
    (NDimError, r"SVD.*takes a matrix, not type TensorType\(float64, \(None,\)\)",
     lambda: L.SVD()(pt.dvector())),
    (NDimError, "matrices, not type .* and type", lambda: L.CholeskyGradient()([[1.0]], [1.0])),
    (NDimError, "takes a matrix and a vector and a matrix, not",
     lambda: L.SolveLUFactor()([[1.0]], 1, [[1.0]])),
    (ValueError, "one matrix or more", lambda: L.block_diag()),
    (NDimError, "one axis or two", lambda: L.norm(pt.tensor3(), axis=(0, 1, 2))),
])  # fmt: skip
def test_bad_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()


def test_bad_shapes_when_it_runs() -> None:
    a = pt.matrix("a")
    with pytest.raises(ShapeError, match=r"\(2, 3\) does not fit"):
        rw.function([a], L.inv(a))(np.ones((2, 3)))


def test_second_derivatives_of_norms_where_an_element_is_0() -> None:
    verify_grad(lambda x: grad(L.norm(x), x), [np.array([0.0, 1.0, 2.0])])


def test_facts() -> None:
    from rewrite_engine.facts import cannot_fail, positive_definite, symmetric

    a = pt.matrix("a", shape=(3, 3))
    even = rw.assume(a, positive_definite=True) if hasattr(rw, "assume") else a
    assert not symmetric(L.inv(a))
    assert not cannot_fail(L.inv(a))
    assert cannot_fail(L.cholesky(a))
    assert even is a or positive_definite(L.inv(even))


COMPLEX = {
    "inv": L.inv, "det": L.det, "logdet": lambda a: L.slogdet(a)[1], "expm": L.expm,
    "solve": lambda a: L.solve(a, Z), "right side": lambda a: L.solve(Z, a),
    "triangular": lambda a: L.solve_triangular(a, Z),
    "triangular T": lambda a: L.solve_triangular(a, Z, trans="T"),
    "triangular C": lambda a: L.solve_triangular(a, Z, trans="C", lower=True),
    "singular values": lambda a: L.svd(a, compute_uv=False),
    "cholesky": lambda a: L.cholesky(a @ pt.conj(a.T) + np.eye(2)),
    "cholesky of a triangle": lambda a: L.cholesky(a + 9 * np.eye(2)),
    "cholesky upper": lambda a: L.cholesky(a + 9 * np.eye(2), lower=False),
    "eigenvalues": L.eigvalsh, "upper eigenvalues": lambda a: L.eigvalsh(a, None, False),
    "sizes of eigenvectors": lambda a: L.eigh(a).eigenvectors,
    "projection": lambda a: L.eigh(a)[1][:, :1] @ pt.conj(L.eigh(a)[1][:, :1].T) * (1 + 2j) + 3,
    "generalised": lambda a: L.eigvalsh(a, Z @ Z.conj().T),
    "Q": lambda a: L.qr(a)[0] * (1 + 2j) + 3, "R": lambda a: L.qr(a)[1] * (1 + 2j) + 3,
    "Q of tall": lambda a: L.qr(pt.concatenate([a, a * a]), "economic")[0] * 1j + 3,
    "R of wide": lambda a: L.qr(pt.concatenate([a, a * a], axis=1))[1] * 1j + 3,
    "pinv": lambda a: L.pinv(pt.concatenate([a, a * a])), "wide pinv": lambda a: L.pinv(a[:1]),
    "svd": lambda a: scaled(L.svd(a, full_matrices=False)),
    "svd of tall": lambda a: scaled(L.svd(pt.concatenate([a, a * a]), full_matrices=False)),
    "svd of wide": lambda a: scaled(L.svd(pt.concatenate([a, a * a], 1), full_matrices=False)),
    "sizes of singular vectors": lambda a: L.svd(a, full_matrices=False).U,
    "cofactors": lambda a: grad(pt.real(L.det(a) * (2 + 1j)), a),
    "power": lambda a: L.matrix_power(a, 3), "lu": lambda a: L.lu_factor(a).LU,
    "lu_solve": lambda a: L.lu_solve(L.lu_factor(a), Z, trans=2),
}  # fmt: skip
Z = np.array([[1, 2 - 1j], [0.5, 1j]])


def scaled(parts: Any) -> Any:
    """What does not depend on phases."""
    return (parts.U * [1.0, 3.0]) @ parts.Vh * (1 + 2j) + 4


@pytest.mark.parametrize("name", COMPLEX)
def test_gradients_of_complex_matrices(name: str) -> None:
    def of(x: Any, y: Any) -> Any:
        return pt.abs(COMPLEX[name](pt.complex(x, y)))

    verify_grad(of, [np.array([[1.0, 2], [0.3, 3]]), np.array([[1.0, 0.2], [0.5, -1]])])
