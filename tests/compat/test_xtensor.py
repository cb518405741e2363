"""`pytensor.xtensor`, as its programs import it."""

from importlib import import_module

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.xtensor as px
from rewrite_engine.compat import is_missing
from rewrite_engine.compat.rewriting import optdb
from rewrite_engine.graph.fgraph import FunctionGraph

NAMES = """
xtensor: as_xtensor broadcast concat dot full_like linalg math ones_like random where xtensor
xtensor: xtensor_constant zeros_like
xtensor.basic: XTensorFromTensor TensorFromXTensor tensor_from_xtensor xtensor_from_tensor
xtensor.indexing: index
xtensor.linalg: cholesky solve
xtensor.math: arctan2 cast cos dot exp expit log log1p logsumexp neq reciprocal sigmoid sign sin
xtensor.math: softmax softplus sqrt where
xtensor.random: as_xrv bernoulli categorical dirichlet multivariate_normal normal shared_rng t
xtensor.random.variable: rng shared_rng
xtensor.reduction: sum mean cumsum
xtensor.shape: Transpose broadcast concat stack transpose unstack
xtensor.type: XTensorConstant XTensorSharedVariable XTensorType XTensorVariable as_xtensor xtensor
xtensor.type: xtensor_constant xtensor_shared
xtensor.vectorization: XRV vectorize_graph
"""


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_names(line: str) -> None:
    path, _, names = line.partition(": ")
    module = import_module(f"pytensor.{path}")
    for name in names.split():
        assert not is_missing(getattr(module, name)), name


@pytest.mark.usefixtures("peers")
def test_a_program() -> None:
    """As its documentation has it."""
    names: dict[str, object] = {}
    lines = [
        "import pytensor, pytensor.xtensor as ptx",
        "from pytensor.xtensor.math import *",
        "x = ptx.as_xtensor([[0, 0], [0, 0]], dims=('a', 'b'))",
        "idx = ptx.as_xtensor([0, 1], dims=('a',))",
        "found = exp(x[:, idx].set(1)).eval()",
    ]
    exec("\n".join(lines), names)
    np.testing.assert_allclose(np.log(names["found"]), np.eye(2))  # type: ignore[call-overload]


def test_lowering_alone() -> None:
    """PyMC asks for it before it derives densities; it leaves everything else as it was."""
    x = px.xtensor("x", dims=("a", "b"))
    rng = px.random.shared_rng(seed=1)
    y = px.math.log(px.math.exp(px.random.normal(x, 1.0, rng=rng).T))
    graph = FunctionGraph([x, rng], [y], clone=True)
    optdb.query("+lower_xtensor").rewrite(graph)
    ops = [str(node.op) for node in graph.toposort()]
    assert ops == [
        "TensorFromXTensor", "TensorFromXTensor", "ExpandDims{axes=[0, 1]}", "normal",
        "Transpose{axes=[1, 0]}", "exp", "log", "XTensorFromTensor{dims=('b', 'a')}",
    ]  # fmt: skip
    values = rw.function([x], y)(np.zeros((2, 3)))
    np.testing.assert_allclose(values, np.random.default_rng(1).normal(size=(2, 3)).T)
