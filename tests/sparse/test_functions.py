"""Functions of `rewrite_engine.sparse`: values against SciPy, dtypes, gradients as their names say,
bad input.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse as ss

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AxisError,
    DTypeError,
    ForeignObjectError,
    InputCountError,
    NDimError,
    NoTensorError,
    NullTypeGradError,
    OptionError,
    ShapeError,
    UnknownNameError,
)
from rewrite_engine.gradient import verify_grad
from tests.sparse.cases import STORED, as_dense, masked, stored

A, B, D = masked((3, 4)), masked((3, 4), seed=5), np.arange(12.0).reshape(3, 4) - 5
x, y, d, v = sparse.csr_matrix("x"), sparse.csc_matrix("y"), pt.matrix("d"), pt.vector("v")


def at(term: Any, **given: Any) -> Any:
    """The dense value of a term where some of x, y, d, v are given."""
    names = {"x": x, "y": y, "d": d, "v": v}
    found = rw.function([names[n] for n in given], term, on_unused_input="ignore")(*given.values())
    return as_dense(found)


NAMES = [
    "abs",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "ceil",
    "conj",
    "deg2rad",
    "expm1",
    "floor",
    "log1p",
    "neg",
    "rad2deg",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqr",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


@pytest.mark.parametrize("how", STORED)
@pytest.mark.parametrize("name", NAMES)
def test_elementwise(name: str, how: str) -> None:
    small = A / 3 if name in ("arcsin", "arctanh") else abs(A) if name in ("sqrt", "log1p") else A
    numpy = {"neg": "negative", "sqr": "square"}.get(name, name)
    with np.errstate(all="ignore"):
        found = at(getattr(sparse, name)(x), x=stored(small, "csr", how))
        np.testing.assert_allclose(found, getattr(np, numpy)(small), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("how", STORED)
def test_functions_of_what_is_stored(how: str) -> None:
    given = stored(A, "csr", how)
    mask = np.ones((3, 4), bool) if how == "zeros" else A != 0
    row = np.arange(4.0) - 1
    pairs: list[tuple[Any, Any]] = [
        (sparse.structured_exp(x), np.exp(A)),
        (sparse.structured_sigmoid(x), 1 / (1 + np.exp(-A))),
        (sparse.structured_pow(x, 2), A**2),
        (sparse.structured_minimum(x, 0.5), np.minimum(A, 0.5)),
        (sparse.structured_maximum(x, 0.5), np.maximum(A, 0.5)),
        (sparse.structured_add(x, 2), A + 2),
        (sparse.structured_add_s_v(x, v), A + row),
        (sparse.mul_s_v(x, v), A * row),
        (sparse.mul_s_d(x, d), A * D),
        (sparse.col_scale(x, v), A * row),
        (sparse.row_scale(x, d[:, 0]), A * D[:, :1]),
        (sparse.structured("cos", x), np.cos(A)),
        (sparse.structured(lambda a, b: a / b, x, d + 20), A / (D + 20)),
        (sparse.sp_ones_like(sparse.canonical(x)), np.ones((3, 4))),
    ]
    for term, want in pairs:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                at(term, x=given, d=D, v=row), np.where(mask, want, 0), rtol=1e-12
            )
    assert not at(sparse.sp_zeros_like(x), x=given).any()


def test_two_operands() -> None:
    pairs = {
        sparse.add(x, y): A + B, sparse.add(y, x): A + B, sparse.subtract(x, d): A - D,
        sparse.sub(d, x): D - A, sparse.multiply(x, y): A * B, sparse.add_s_s(x, y): A + B,
        sparse.add_s_s_data(x, x): 2 * A, sparse.add_s_d(x, d): A + D, sparse.mul(d, x): A * D,
        sparse.eq(x, y): A == B, sparse.neq(x, y): A != B, sparse.lt(x, y): A < B,
        sparse.le(x, d): A <= D, sparse.gt(d, x): D > A, sparse.ge(x, y): A >= B,
        sparse.eq(x, 0): A == 0, sparse.divide(x, 4): A / 4,
    }  # fmt: skip
    for term, want in pairs.items():
        found = at(term, x=ss.csr_array(A), y=ss.csc_array(B), d=D)
        np.testing.assert_allclose(found, want, err_msg=str(term))
    assert sparse.add(x, y).format == "csr"
    assert sparse.add(y, x).format == "csc"
    nan = ss.csr_array(np.array([[np.nan, 1.0]]))
    assert at(sparse.le(x, x), x=nan).tolist() == [[False, True]]


def test_products() -> None:
    w, wide = np.arange(4.0), np.arange(8.0).reshape(4, 2)
    for one, two, left, right in (
        (x, d, A, wide), (x, v, A, w), (y, d, A, wide), (x.T, y, A.T, B), (d, x, D[:, :3], A),
        (v, x, w[:3], A), (x.T, x, A.T, A),
    ):  # fmt: skip
        dense = [k for k in (left, right) if k is not A and k is not B]
        given = {"x": ss.csr_array(A), "y": ss.csc_array(B if two is y else A)}
        for name, k in (("d", d), ("v", v)):
            if k in (one, two):
                given[name] = dense[0]
        for product in (sparse.dot, sparse.structured_dot, sparse.true_dot):
            if product is sparse.true_dot and v in (one, two):
                continue
            np.testing.assert_allclose(at(product(one, two), **given), left @ right, atol=1e-14)
    assert isinstance(sparse.true_dot(x, d).type, sparse.SparseTensorType)
    assert isinstance(sparse.structured_dot(x, x.T).type, sparse.SparseTensorType)
    assert not isinstance(sparse.dot(x, x.T).type, sparse.SparseTensorType)
    left, right, p = np.ones((3, 2)), np.arange(8.0).reshape(4, 2), ss.csr_array(A)
    found = at(sparse.sampling_dot(d, right, x), d=left, x=p)
    np.testing.assert_allclose(found, A * (left @ right.T))
    found = at(sparse.usmm(2.0, x, np.eye(4), d), x=p, d=D)
    np.testing.assert_allclose(found, 2 * A + D)


def test_stacks_and_diagonals() -> None:
    given = {"x": ss.csr_array(A), "y": ss.csc_array(B), "d": D}
    np.testing.assert_array_equal(at(sparse.vstack([x, y, d]), **given), np.vstack([A, B, D]))
    np.testing.assert_array_equal(at(sparse.hstack([x, y], "csr"), **given), np.hstack([A, B]))
    assert sparse.vstack([x, y]).format == "csc"
    assert sparse.hstack([x], dtype="float32").dtype == "float32"
    blocks = at(sparse.block_diag(x, d, format="csr"), **given)
    np.testing.assert_array_equal(blocks, ss.block_diag([A, D]).toarray())
    np.testing.assert_array_equal(at(sparse.diag(x), **given), np.diagonal(A))
    np.testing.assert_array_equal(at(sparse.square_diagonal(v), v=[1.0, 0.0]), np.diag([1.0, 0.0]))
    np.testing.assert_array_equal(sparse.eye(3).eval().toarray(), np.eye(3))
    rows = sparse.construct_sparse_from_list(d, np.ones((2, 4)), [2, 0])
    np.testing.assert_array_equal(at(rows, d=D), [[1] * 4, [0] * 4, [1] * 4])
    assert sparse.clean(x).eval({x: stored(A, "csr", "zeros")}).nnz == (A != 0).sum()
    assert (
        sparse.ensure_sorted_indices(x).eval({x: stored(A, "csr", "unsorted")}).has_sorted_indices
    )


def test_linear_algebra() -> None:
    a = masked((5, 5)) + 5 * np.eye(5)
    b = np.arange(10.0).reshape(5, 2)
    for format in ("csr", "csc"):
        for how in STORED:
            s = sparse.matrix(format)
            g = rw.function(
                [s, d, v], [sparse.spsolve(s, d), sparse.spsolve(s, v), *sparse.slogdet(s)]
            )
            one, two, sign, log = g(stored(a, format, how), b, b[:, 0])
            np.testing.assert_allclose(one, np.linalg.solve(a, b))
            np.testing.assert_allclose(two, np.linalg.solve(a, b[:, 0]))
            np.testing.assert_allclose([sign, log], np.linalg.slogdet(a))
    singular = ss.csr_array(np.diag([1.0, 0.0]))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        rw.function([x, v], sparse.spsolve(x, v))(singular, [1.0, 2.0])
    assert [float(k) for k in rw.function([x], [*sparse.slogdet(x)])(singular)] == [0.0, -np.inf]
    swapped = ss.csr_array(np.eye(4)[[1, 0, 3, 2]][[0, 2, 1, 3]])
    assert float(rw.function([x], sparse.slogdet(x)[0])(swapped)) == np.linalg.det(
        swapped.toarray()
    )


# --- gradients ----------------------------------------------------------------------------------


def gradient(cost: Any, given: Any) -> Any:
    return rw.function([x], rw.grad(cost, x))(given)


def test_structured_and_plain_gradients() -> None:
    given, w = ss.csr_array(A), np.arange(4.0)
    mask, everywhere = (A != 0).astype(float), np.ones((3, 4))
    outer = np.outer(np.ones(3), w)
    pairs = [
        (sparse.sp_sum(x), everywhere),
        (sparse.sp_sum(x, sparse_grad=True), mask),
        (x.toarray().sum(), mask),
        (sparse.DenseFromSparse(structured=False)(x).sum(), everywhere),
        (sparse.dot(x, w).sum(), outer),
        (sparse.structured_dot(x, w).sum(), outer * mask),
        ((x @ w).sum(), outer * mask),
        (sparse.sp_sum(sparse.true_dot(x, w[:, None]), sparse_grad=False), outer),
        ((x + D).sum(), mask),
        ((sparse.structured_exp(x) * D).sum(), np.exp(A) * D * mask),
    ]
    for cost, want in pairs:
        found = gradient(cost, given)
        assert found.format == "csr"
        np.testing.assert_allclose(found.toarray(), want, atol=1e-14)
        assert found.nnz <= want.size


def test_gradients_of_one_matrix_used_several_times() -> None:
    """Terms of other formats, and dense ones, are added up."""
    cost = (
        x.sum(sparse_grad=True) + (x.tocsc() * 2).sum(sparse_grad=True) + (x.T @ np.ones(3)).sum()
    )
    np.testing.assert_allclose(gradient(cost, ss.csr_array(A)).toarray(), 4 * (A != 0))
    unused = rw.grad((v**2).sum(), x, disconnected_inputs="ignore")
    assert rw.function([x, v], unused, on_unused_input="ignore")(ss.csr_array(A), [1.0]).nnz == 0


def test_gradients_of_programs() -> None:
    pattern = ss.csr_array(masked((4, 4)) + 4 * np.eye(4))
    i, p, n = pattern.indices, pattern.indptr, (4, 4)

    def of(data: Any, w: Any) -> Any:
        s = sparse.CSR(data, i, p, n)
        solved = sparse.spsolve(s, pt.sin(w))
        parts = sparse.vstack([s[1:3], s.T[[0, 2]]]) @ (solved * w)
        return parts.sum() + sparse.slogdet(s).logabsdet + (sparse.diag(s) * w).prod()

    verify_grad(of, [pattern.data, np.array([0.3, 1.2, -0.7, 0.5])])


def test_integers_have_no_gradient_and_second_derivatives_say_so() -> None:
    k = sparse.csr_matrix("k", dtype="int64")
    g = rw.grad((k * 1.5).sum(sparse_grad=True), k)
    assert g.dtype == "float64"
    first = rw.grad(sparse.slogdet(x).logabsdet, x)
    with pytest.raises(NullTypeGradError, match="determinants of sparse"):
        rw.grad(first.sum(sparse_grad=True), x)


def test_forward_mode() -> None:
    w, t = pt.vectors("w", "t")
    moved = rw.Rop(sparse.structured_exp(x) @ w, w, t)
    found = rw.function([x, w, t], moved, on_unused_input="ignore")(
        ss.csr_array(A), np.ones(4), np.ones(4)
    )
    np.testing.assert_allclose(found, (np.exp(A) * (A != 0)).sum(1))


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: sparse.CSM("coo"), OptionError),
        (lambda: sparse.CSR(d, v, v, v), NDimError),
        (lambda: sparse.CSR(v, v, v, v), DTypeError),
        (lambda: sparse.csm_data(d), ForeignObjectError),
        (lambda: sparse.sp_sum(x, 2), AxisError),
        (lambda: sparse.dot(x, pt.tensor3()), NDimError),
        (lambda: sparse.dot(sparse.csr_matrix(shape=(2, 3)), pt.vector(shape=(4,))), ShapeError),
        (lambda: sparse.structured("no_such_function", x), OptionError),
        (lambda: sparse.vstack([]), InputCountError),
        (lambda: sparse.block_diag(), InputCountError),
        (lambda: sparse.block_diag(v), NDimError),
        (lambda: sparse.spsolve(sparse.csr_matrix(shape=(2, 3)), v), ShapeError),
        (lambda: sparse.spsolve(d, v), ForeignObjectError),
        (lambda: sparse.slogdet(sparse.csr_matrix(dtype="complex128")), DTypeError),
        (lambda: sparse.true_dot(x, d, grad_preserves_dense=False), OptionError),
        (lambda: sparse.csr_from_dense(pt.tensor3()), NDimError),
        (lambda: sparse.as_sparse([[1.0]]), NoTensorError),
        (lambda: sparse.as_sparse(x, ndim=3), NDimError),
        (lambda: sparse.mul_s_v(x, d), NDimError),
        (lambda: sparse.cast(x, "float16"), DTypeError),
        (lambda: rw.Mode().excluding("no_such_pack").optimizer, UnknownNameError),
    ],
)
def test_bad_input(make: Any, error: Any) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        (([1.0], [5], [0, 1], [1, 2]), "indices"),
        (([1.0], [0], [0, 2], [1, 2]), "index"),
        (([1.0, 2.0], [0], [0, 1], [1, 2]), "do not fit"),
        (([1.0], [0], [0, 1], [3, 2]), "index"),
        (([1.0], [-1], [0, 1], [1, 2]), "indices"),
    ],
)
def test_parts_that_do_not_fit_together(parts: Any, what: str) -> None:
    inputs = [pt.vector("data"), *pt.lvectors("i", "p", "n")]
    f = rw.function(inputs, sparse.CSR(*inputs).toarray())
    with pytest.raises(ShapeError, match=what):
        f(*parts)


def test_errors_name_the_op_and_the_line() -> None:
    f = rw.function([x, v], x @ v)
    with pytest.raises(ShapeError, match=r"(?s)length 4.*length 3.*built at .*test_functions.py"):
        f(ss.csr_array(A), np.ones(3))
    with pytest.raises(AxisError, match="from_coordinates"):
        sparse.from_coordinates([1.0], [3], [0], (2, 2)).eval()


# --- with what surrounds them ---------------------------------------------------------------------


def test_batches_of_dense_operands() -> None:
    many = np.arange(24.0).reshape(2, 4, 3)
    cube, wide = pt.tensor3("cube"), pt.matrix("wide")
    s, w = sparse.constant(ss.csr_array(A)), np.arange(12.0).reshape(3, 4)
    pairs = [
        (pt.vectorize_graph(s @ v, {v: wide}), {wide: w}, w @ A.T),
        (pt.vectorize_graph(s @ d, {d: cube}), {cube: many}, A @ many),
        (pt.vectorize_graph(d @ s.T, {d: cube.mT}), {cube: many}, many.swapaxes(1, 2) @ A.T),
        (pt.vectorize_graph(v @ s.T, {v: wide}), {wide: w}, w @ A.T),
    ]
    for term, given, want in pairs:
        np.testing.assert_allclose(term.eval(given), want)
    slope = rw.gradient.jacobian(s @ pt.sin(v), v)
    np.testing.assert_allclose(slope.eval({v: np.ones(4)}), A * np.cos(1.0))


def test_in_loops_branches_and_graphs_inside_ops() -> None:
    square, start = masked((3, 3)), np.array([1.0, 2.0, 3.0])
    last = rw.scan(lambda u, m: m @ u, None, [v], [x], n_steps=3, return_updates=False)[-1]
    f = rw.function([v, x], [last, rw.grad(last.sum(), v)])
    power = np.linalg.matrix_power(square, 3)
    found = f(start, ss.csr_array(square))
    np.testing.assert_allclose(found[0], power @ start)
    np.testing.assert_allclose(found[1], power.sum(0))
    choice = rw.ifelse(v[0] > 0, x, x * 2)
    for sign, factor in ((1, 1), (-1, 2)):
        got = rw.function([v, x], choice)(sign * start, ss.csr_array(square))
        np.testing.assert_allclose(got.toarray(), factor * square)
    inner = rw.OpFromGraph([x, v], [x @ v])(x, v)
    g = rw.function([x, v], rw.grad(inner.sum(), [x, v]))
    gx, gv = g(ss.csr_array(square), start)
    np.testing.assert_allclose(gx.toarray(), np.tile(start, (3, 1)) * (square != 0))
    np.testing.assert_allclose(gv, square.sum(0))


def test_the_dense_dot_takes_sparse_operands() -> None:
    x, d = sparse.csr_matrix("x"), pt.matrix("d")
    a, b = ss.csr_matrix([[0.0, 2.0], [3.0, 0.0]]), np.array([[1.0, 4.0], [5.0, 6.0]])
    out = rw.function([x, d], [pt.dot(x, d), pt.dot(d, x), pt.dot(b, x)])(a, b)
    np.testing.assert_allclose(out, [a @ b, b @ a, b @ a])
    assert pt.dot(x, x).type == (x @ x).type
