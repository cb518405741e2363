"""Programs that use sparse matrices by the names of others."""

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy import sparse as ss

import rewrite_engine as rw
from rewrite_engine import sparse
from rewrite_engine.errors import DenseOnlyError, ForeignObjectError
from tests.compat.test_programs import PROGRAMS, compat

needs_pymc = pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)


@pytest.fixture(scope="module")
def told() -> Any:
    """What the program of PyMC prints."""
    done = compat(PROGRAMS / "pymc_car.py")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def density(told: Any, x: Any, tau: float, mu: Any) -> Any:
    """The log density of a CAR, up to a constant, with alpha = 0.4."""
    W = np.array(told["W"])
    D = W.sum(0)
    spectrum = np.linalg.eigvalsh(W / np.sqrt(np.outer(D, D)))
    off = np.asarray(x) - mu
    quad = off @ (D * off - 0.4 * (W @ off))
    return 0.5 * (len(W) * np.log(tau) + np.log(1 - 0.4 * spectrum).sum() - tau * quad)


@needs_pymc
@pytest.mark.parametrize("kind", ["sparse", "array", "dense"])
def test_the_density_of_a_car_and_its_slope(told: Any, kind: str) -> None:
    mu, at = np.array(told["mu"]), np.array(told["at"])
    np.testing.assert_allclose(told[kind]["logp"], [density(told, at, 2.0, mu)], rtol=1e-10)
    steps = 1e-6 * np.eye(len(at))
    slope = [density(told, at + d, 2.0, mu) - density(told, at - d, 2.0, mu) for d in steps]
    np.testing.assert_allclose(told[kind]["slope"], np.array(slope) / 2e-6, rtol=1e-6)


@needs_pymc
def test_draws_of_a_car_and_a_model(told: Any) -> None:
    W = np.array(told["W"])
    inverse = np.linalg.inv(2.0 * (np.diag(W.sum(0)) - 0.4 * W))
    np.testing.assert_allclose(told["cov"], inverse @ inverse, atol=0.01)  # (as PyMC draws)
    assert np.isfinite(told["model"])
    assert np.isfinite(told["dlogp"]).all()


def test_a_program_of_pytensor() -> None:
    done = compat(PROGRAMS / "sparse_logistic.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "0.6931 True\n"
        "csc True [1, 0, 1] [2, 2]\n"
        "[[0.0, 7.389], [2.718, 20.086]]\n"
        "True [2.0, 4.0]\n"
        "csr_matrix [[3.0, 0.0], [0.0, 3.0]] SparseTensorSharedVariable\n"
        "csc csr [[0.0, 3.0], [6.0, 9.0]]\n"
    )


def test_values_made_of_dense_ones_are_matrices(peers: None) -> None:
    x = rw.tensor.matrix("x")
    made = [sparse.csr_from_dense(x), sparse.csc_from_dense(x) * 2, sparse.square_diagonal(x[0])]
    found = rw.function([x], made)([[1.0, 0.0], [0.0, 2.0]])
    assert [type(v) for v in found] == [ss.csr_matrix, ss.csc_matrix, ss.csc_matrix]


def test_names(peers: None) -> None:
    import aesara.sparse as theirs
    import theano.sparse as older
    from pytensor.sparse import basic, math
    from pytensor.sparse.sharedvar import SparseTensorSharedVariable

    assert theirs.SparseTensorType is basic.SparseTensorType is sparse.SparseTensorType
    assert older.SparseType is sparse.SparseTensorType
    assert math.sp_sum is sparse.sp_sum
    assert basic.csm_properties is sparse.csm_properties
    assert basic.sparse_formats == ["csc", "csr"]
    a, b = sparse.csr_matrix("a"), rw.tensor.matrix("b")
    assert isinstance(math.StructuredDot()(a, b).owner.op, theirs.StructuredDot)
    assert not isinstance(sparse.dot(a, b).owner.op, theirs.StructuredDot)
    assert basic._mtypes == [ss.csc_matrix, ss.csr_matrix]
    assert basic._is_sparse(ss.csr_array((2, 2)))
    assert basic._is_dense_variable(rw.tensor.matrix())
    assert isinstance(rw.shared(ss.csr_matrix((2, 2))), SparseTensorSharedVariable)
    with pytest.raises(ForeignObjectError, match="expected a sparse or dense value"):
        basic._is_sparse(sparse.csr_matrix())
    x = sparse.csc_matrix("x", dtype="float32")
    assert basic.dcast(x).dtype == "float64"
    assert basic.HStack("csr")(x, x).format == "csr"

    @math.structured_elemwise(rw.tensor.exp)
    def grown(x: Any) -> None:
        """What is stored."""

    assert grown(x).eval({x: np.eye(2, dtype="float32")}).nnz == 2


@pytest.mark.usefixtures("peers")
def test_methods_of_dense_matrices_convert_with_a_warning() -> None:
    import pytensor.tensor as peer_pt
    from pytensor.tensor.type import DenseTensorType

    x, y = sparse.csr_matrix("x"), sparse.csr_matrix("y", dtype="int64")
    a = np.array([[1.0, 0.0, 2.0], [-1.0, 0.0, 0.0]])
    for made, wanted in [
        (lambda: x.cos(), np.cos(a)),
        (lambda: x.max(axis=0), a.max(0)),
        (lambda: x.reshape((3, 2)), a.reshape(3, 2)),
        (lambda: x.mT, a.T),
    ]:
        with pytest.warns(UserWarning, match="converted to dense"):
            out = made()
        assert isinstance(out.type, DenseTensorType)
        np.testing.assert_allclose(rw.function([x], out)(ss.csr_matrix(a)), wanted)
    with pytest.warns(UserWarning, match="converted to dense"):
        out = y & y
    np.testing.assert_array_equal(rw.function([y], out)(ss.csr_matrix([[6, 0]])), [[6, 0]])
    assert not isinstance(x.type, DenseTensorType)
    dot = peer_pt.dot(x, peer_pt.matrix("m"))
    assert isinstance(dot.owner.op, sparse.SparseDot)


def test_methods_of_dense_matrices_are_errors_elsewhere() -> None:
    x = sparse.csr_matrix("x")
    with pytest.raises(DenseOnlyError, match="no 'cos'"):
        x.cos()
    with pytest.raises(TypeError, match="unsupported operand"):
        x % x
