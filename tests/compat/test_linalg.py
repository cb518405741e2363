"""Functions on matrices under PyTensor's names."""

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor.type import TensorType


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize("name", ["svd", "eigh", "qr", "slogdet"])
@pytest.mark.parametrize("ndim", [2, 3])
def test_several_results_are_a_list(name: str, ndim: int) -> None:
    from pytensor.tensor import linalg

    x = pt.tensor("x", shape=(None,) * ndim)
    found = getattr(linalg, name)(x)
    assert isinstance(found, list)
    ours = getattr(rw.tensor.linalg, name)(x)
    assert rw.graph.equal_computations(found, list(ours))
    core = found[0].owner.op.core_op
    assert core.gufunc_signature.startswith("(m,")
    assert isinstance(linalg.svd(x, compute_uv=False), pt.TensorVariable)


def test_values_are_compared_by_the_class() -> None:
    a = np.array([1.0, np.nan])
    assert TensorType.values_eq(a, a.copy())
    assert not TensorType.values_eq(a, a.astype("float32"))
    assert not TensorType.values_eq(np.array([1, 2]), np.array([1, 3]))
    assert TensorType.may_share_memory(a, a[1:])
    assert not TensorType.may_share_memory(a, a.copy())
