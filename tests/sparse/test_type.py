"""`SparseTensorType`, variables and constants: which values there are, what is equal, what is an
error; shared variables, printing, pickling, merging.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse as ss

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt
from rewrite_engine import facts
from rewrite_engine.errors import (
    AxisError,
    DenseOnlyError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    NotConstantError,
    NoTensorError,
    OptionError,
    StaticShapeError,
    TypeMismatchError,
)
from rewrite_engine.explain import explain
from rewrite_engine.sparse import SparseTensorType
from tests.sparse.cases import STORED, masked, stored

A = masked((3, 4))
CSR = SparseTensorType("csr", "float64")
x, y, M, v = sparse.csr_matrix("x"), sparse.csc_matrix("y"), pt.matrix("M"), pt.vector("v")


# --- the type -----------------------------------------------------------------------------------


def test_equal_types_are_one() -> None:
    assert CSR is SparseTensorType("csr", np.float64, (None, None)) is x.type
    assert CSR.clone(format="csc") is y.type
    assert SparseTensorType("csr", "int8", (3, None)) != SparseTensorType("csr", "int8")
    assert str(SparseTensorType("csc", "int8", (3, None))) == "Sparse(csc, int8, (3, None))"
    assert (CSR.ndim, CSR.shape, CSR.dtype, CSR.format) == (2, (None, None), "float64", "csr")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("bsr", "float64"), OptionError),
        (("csr", "float16"), DTypeError),
        (("csr", "float64", (3,)), NDimError),
        (("csr", "nothing"), DTypeError),
    ],
)
def test_types_that_do_not_exist(given: Any, error: Any) -> None:
    with pytest.raises(error):
        SparseTensorType(*given)


def test_values_keep_their_class_and_others_are_converted() -> None:
    for value in (ss.csr_array(A), ss.csr_matrix(A)):
        assert CSR.filter(value, strict=True) is value
        assert type(CSR.filter(value.tocsc())) is type(value)
    for value in (A, A.tolist(), ss.coo_array(A), ss.csr_array(A.astype("float32"))):
        found = CSR.filter(value)
        assert (found.format, found.dtype) == ("csr", "float64")
        np.testing.assert_allclose(found.toarray(), A, rtol=1e-6)
    assert CSR.filter(np.eye(2, dtype="int64")).dtype == "float64"


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (ss.csr_array(A * 1j), DTypeError),
        (x, ForeignObjectError),
        ("text", TypeError),
        ([1.0, 2.0], NDimError),
        (ss.coo_array(np.ones(3)), NDimError),
    ],
)
def test_values_that_are_none(value: Any, error: Any) -> None:
    with pytest.raises(error):
        CSR.filter(value)
    assert not CSR.is_valid_value(value)


def test_strict_and_downcasts() -> None:
    small = SparseTensorType("csr", "float32")
    with pytest.raises(DTypeError, match="csr matrix"):
        CSR.filter(ss.csc_array(A), strict=True)
    with pytest.raises(DTypeError):
        small.filter(ss.csr_array(A))
    assert small.filter(ss.csr_array(A), allow_downcast=True).dtype == "float32"
    with pytest.raises(StaticShapeError, match="dimension 1"):
        CSR.clone(shape=(3, 5)).filter(ss.csr_array(A))


@pytest.mark.parametrize("how", STORED)
def test_how_a_matrix_is_stored_does_not_count(how: str) -> None:
    one, other = ss.csr_array(A), stored(A, "csr", how)
    assert CSR.values_eq_approx(one, other)
    assert CSR.values_eq(one, other) or how == "duplicates"
    assert not CSR.values_eq_approx(one, other * 1.001)
    assert not CSR.values_eq(one, ss.csr_array(A.T))
    assert not CSR.values_eq(one, A)


def test_nan_equals_nan_and_memory_is_shared_where_arrays_are() -> None:
    value = ss.csr_array(np.array([[np.nan, 0.0], [1.0, 2.0]]))
    assert CSR.values_eq(value, value.copy())
    assert not CSR.may_share_memory(value, value.copy())
    assert CSR.may_share_memory(value, value.T)
    assert CSR.may_share_memory(value, value.data[1:])
    assert CSR.get_size(CSR.get_shape_info(value)) == 3 * 8 + 3 * 4 + 3 * 4


def test_which_types_are_others() -> None:
    narrow = CSR.clone(shape=(3, None))
    assert CSR.is_super(narrow)
    assert not narrow.is_super(CSR)
    assert not CSR.is_super(y.type)
    assert CSR.is_super(M.type) is None
    assert CSR.filter_variable(y).type is CSR
    assert CSR.filter_variable(M).type is CSR
    with pytest.raises(TypeMismatchError):
        CSR.filter_variable(v)
    with pytest.raises(TypeMismatchError):
        CSR.filter_variable(sparse.csr_matrix(dtype="int8"))


# --- variables ----------------------------------------------------------------------------------


def test_what_variables_know() -> None:
    assert (x.format, x.ndim, x.dtype, y.format) == ("csr", 2, "float64", "csc")
    f = rw.function([x], [x.shape, x.shape[0], x.nnz, x.size, x.indices, x.indptr])
    value = ss.csr_array(A)
    found = f(value)
    np.testing.assert_array_equal(found[0], [3, 4])
    assert found[1:4] == [3, value.nnz, value.nnz]
    np.testing.assert_array_equal(found[4], value.indices)
    assert [str(n.op) for n in f.nodes if "dense" in str(n.op)] == []


def test_operators() -> None:
    value, other = ss.csr_array(A), ss.csc_array(A + 1)
    dense = np.arange(12.0).reshape(3, 4)
    pairs = {
        x + y: A + A + 1, x - y: A - A - 1, x * y: A * (A + 1), -x: -A, abs(x): abs(A),
        x * 2: A * 2, 2.5 * x: A * 2.5, x / 2: A / 2, x**2: A**2, x * M: A * dense,
        M * x: A * dense, x + M: A + dense, M - x: dense - A, dense * x: A * dense,
        x @ M.T: A @ dense.T, M.T @ x: dense.T @ A, x @ v: A @ np.ones(4), x.T @ x: A.T @ A,
        x.T: A.T, x.sum(0): A.sum(0), x.sum(axis=1): A.sum(1), x.sum(): A.sum(),
        x.astype("float32"): A, x.tocsc(): A, x.copy(): A, x > y: A > A + 1, x < M: dense > A,
        x.ones_like(): A != 0, x.zeros_like(): A * 0, x.sqrt()**2 * 0: A * 0, x.conj(): A,
        x.diagonal(): np.diagonal(A), x.dot(v): A @ np.ones(4), x.multiply(y): A * (A + 1),
    }  # fmt: skip
    f = rw.function([x, y, M, v], list(pairs), on_unused_input="ignore")
    with np.errstate(all="ignore"):
        found = f(value, other, dense, np.ones(4))
    for term, got, want in zip(pairs, found, pairs.values(), strict=True):
        got = got.toarray() if ss.issparse(got) else got
        np.testing.assert_allclose(np.nan_to_num(got), want, rtol=1e-6, err_msg=str(term))


def test_parts() -> None:
    value, i = ss.csr_array(A), pt.lscalar("i")
    index = pt.lvector("k")
    pairs = {
        x[1:]: A[1:], x[:, 1:3]: A[:, 1:3], x[::-1]: A[::-1], x[:i, 1:]: A[:2, 1:],
        x[[2, 0]]: A[[2, 0]], x[index]: A[[1, 1]], x[:, [3, 0]]: A[:, [3, 0]],
        x[[0, 2], 1:]: A[[0, 2], 1:], x[1, 2]: A[1, 2], x[-1, i]: A[-1, 2],
        x[[0, 1], [2, -1]]: A[[0, 1], [2, -1]], x[np.array([True, False, True])]: A[[0, 2]],
        x[:]: A,
    }  # fmt: skip
    f = rw.function([x, i, index], list(pairs))
    for term, got, want in zip(pairs, f(value, 2, [1, 1]), pairs.values(), strict=True):
        got = got.toarray() if ss.issparse(got) else got
        np.testing.assert_array_equal(got, want, err_msg=str(term))
    with pytest.raises(AxisError, match=r"x\[i:i\+1\]"):
        x[1]
    with pytest.raises(AxisError, match="one or two"):
        x[1:, 1:, 1:]
    with pytest.raises(AxisError):
        rw.function([x], x[[7]])(value)
    with pytest.raises(AxisError):
        rw.function([x], x[5, 0])(value)


@pytest.mark.parametrize(
    "fn",
    [
        pt.exp,
        pt.sum,
        lambda s: pt.tensordot(s, v, 1),
        lambda s: pt.add(M, s),
        lambda s: pt.concatenate([M, s]),
        lambda s: pt.reshape(s, (4, 3)),
    ],
)
def test_ops_of_dense_arrays_say_what_to_do(fn: Any) -> None:
    with pytest.raises(ForeignObjectError, match=r"`rewrite_engine.sparse`, or make it dense"):
        fn(x)


def test_what_only_dense_arrays_have() -> None:
    with pytest.raises(DenseOnlyError, match=r"toarray\(\).max"):
        x.max()
    assert not hasattr(x, "reshape")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        x.nothing()
    for wrong in (lambda: bool(x), lambda: len(x), lambda: np.asarray(x)):
        with pytest.raises(NotConstantError):
            wrong()
    for wrong in (lambda: x + 1, lambda: x + v, lambda: sparse.row_scale(x, M)):
        with pytest.raises(NDimError):
            wrong()
    for wrong in (lambda: M / x, lambda: sparse.add(M, M), lambda: sparse.dot(v, v)):
        with pytest.raises(NoTensorError):
            wrong()


# --- constants, shared variables ------------------------------------------------------------------


def test_constants_merge_fold_and_are_read_only() -> None:
    one, two = sparse.constant(ss.csr_array(A)), sparse.as_sparse(ss.csr_array(A))
    assert one.equals(two)
    assert not one.equals(sparse.constant(ss.csr_array(A * 2)))
    assert not one.equals(sparse.constant(ss.csr_matrix(A)))
    with pytest.raises(ValueError, match="read-only"):
        one.data.data[0] = 7
    f = rw.function([v], [(one * 2) @ v, (two * 2) @ v, one.sum() + v.sum()])
    assert len([n for n in f.nodes if "dot" in str(n.op)]) == 1
    assert "with_data" not in str(f.nodes)
    for how in STORED:
        given = sparse.constant(stored(A, "csr", how))
        np.testing.assert_allclose((given * 2).toarray().eval(), A * 2)
        solved = sparse.spsolve(given.T @ given + sparse.eye(4), v).eval({v: np.ones(4)})
        np.testing.assert_allclose(solved, np.linalg.solve(A.T @ A + np.eye(4), np.ones(4)))
    with pytest.raises(NoTensorError, match=r"scipy.sparse.csr_array"):
        sparse.constant(A)


@pytest.mark.parametrize("kind", [ss.csr_array, ss.csc_matrix, ss.coo_array])
def test_shared(kind: Any) -> None:
    given = kind(A)
    w = rw.shared(given, name="w")
    assert w.type.format == ("csr" if given.format == "coo" else given.format)
    f = rw.function([], w.sum(), updates={w: w * 2})
    again = pickle.loads(pickle.dumps(f))
    for one in (f, again):
        np.testing.assert_allclose([one(), one()], [A.sum(), 2 * A.sum()])
    assert isinstance(w.get_value(), ss.sparray) == isinstance(given, ss.sparray)
    np.testing.assert_allclose(w.get_value().toarray(), 4 * A)
    w.set_value(A)
    assert w.get_value(borrow=True) is not w.get_value()
    np.testing.assert_allclose(given.toarray(), A)
    with pytest.raises(StaticShapeError):
        rw.shared(given, shape=(3, 4)).set_value(A.T)


def test_results_are_nobody_elses() -> None:
    f = rw.function([x], [x, x.T, sparse.canonical(x)])
    given = ss.csr_array(A)
    for found in f(given):
        found.data[:] = 7
    np.testing.assert_array_equal(given.toarray(), A)
    w = rw.shared(given)
    g = rw.function([], w.T)
    g().data[:] = 7
    np.testing.assert_array_equal(w.get_value().toarray(), A)


# --- tools --------------------------------------------------------------------------------------


def test_printed_explained_and_pickled() -> None:
    term = sparse.structured_exp(x.T)[1:] @ v
    f = rw.function([x, v], term)
    text = rw.dprint(term, file="str", print_type=True)
    assert "Sparse(csc, float64, (None, None))" in text
    assert "x.T" in str(rw.pp(x.T))
    assert "x @ v" in str(rw.pp(x @ v))
    given = ss.csr_array(A)
    told = explain([x.T.T @ v], [x, v], values=[given, np.ones(4)]).text()
    assert "transpose_of_transpose" in told
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(again(given, np.ones(3)), f(given, np.ones(3)))
    assert str(pickle.loads(pickle.dumps(term))) == str(term)


def test_facts_do_not_take_it_for_an_array() -> None:
    for given in (x, sparse.constant(ss.csr_array(A)), x * 2):
        for fact in [f for f in vars(facts).values() if getattr(f, "unary", False)]:
            assert isinstance(str(fact(given)), str)
        for fact in (facts.finite, facts.nonneg, facts.bounded, facts.distinct):
            assert not fact(given)


def test_nothing_is_loaded_where_nothing_is_sparse() -> None:
    import subprocess
    import sys

    program = (
        "import sys, rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "x = pt.vector('x'); rw.function([x], rw.grad(pt.exp(x).sum(), x))\n"
        "print([m for m in sys.modules if 'sparse' in m])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
