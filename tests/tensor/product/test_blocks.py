"""Kronecker products and blocks along a diagonal: ops, and what they are written as."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import facts
from rewrite_engine.errors import NDimError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.tensor.product.blocks import SHARED, BlockDiag, Kron

RNG = np.random.default_rng(2)
KINDS = {"kron": (Kron(), np.kron), "blocks": (BlockDiag(), scipy.linalg.block_diag)}
SHAPES = [((2, 3), (3, 2)), ((1, 1), (1, 1)), ((0, 2), (2, 2)), ((2, 0), (1, 3)), ((1, 4), (3, 1))]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_static", [False, True])
def test_values(kind: str, shapes: Any, is_static: bool) -> None:
    op, numpy = KINDS[kind]
    values = [RNG.normal(size=s) for s in shapes]
    a, b = [pt.tensor(dtype="float64", shape=s if is_static else (None, None)) for s in shapes]
    for out in (op(a, b), op.written_out(a, b)):
        for mode in (None, rw.Mode(linker="py", optimizer=None)):
            np.testing.assert_array_equal(
                rw.function([a, b], out, mode=mode)(*values), numpy(*values)
            )
    assert op(a, b).type.shape == (numpy(*values).shape if is_static else (None, None))


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind: str) -> None:
    op, numpy = KINDS[kind]
    for one, other in (("int8", "float32"), ("float64", "complex64"), ("int64", "int8")):
        a, b = pt.matrix("a", dtype=one), pt.matrix("b", dtype=other)
        x, y = np.ones((2, 2), one), np.ones((1, 2), other)
        for mode in (None, rw.Mode(linker="py", optimizer=None)):
            found = rw.function([a, b], op(a, b), mode=mode)(x, y)
            assert found.dtype == np.result_type(one, other)
            np.testing.assert_array_equal(found, numpy(x, y))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind: str) -> None:
    op, _ = KINDS[kind]
    verify_grad(op, [RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2))], rng=RNG)


def test_one_block_and_many() -> None:
    matrices = [pt.matrix() for _ in range(4)]
    values = [RNG.normal(size=(k, 4 - k)) for k in range(4)]
    for n in (1, 4):
        found = rw.function(matrices[:n], BlockDiag()(*matrices[:n]))(*values[:n])
        np.testing.assert_array_equal(found, scipy.linalg.block_diag(*values[:n]))


@pytest.mark.parametrize("kind", KINDS)
def test_only_matrices(kind: str) -> None:
    with pytest.raises(NDimError, match="takes matrices"):
        KINDS[kind][0](pt.vector("v"), pt.matrix("a"))


PARTS: dict[str, Any] = {
    "square": pt.matrix("a", shape=(3, 3)), "symmetric": pt.constant([[1.0, 2], [2, 0]]),
    "diagonal": pt.diag(pt.vector("d")), "lower_triangular": pt.tril(pt.matrix("l")),
    "upper_triangular": pt.triu(pt.matrix("u")), "unit_diagonal": pt.constant([[1.0, 2], [3, 1]]),
    "orthogonal": pt.constant([[0.0, 1], [1, 0]]),
    "invertible": pt.constant([[0.0, 1], [1, 0]]),
    "positive_definite": pt.constant([[2.0, 1], [1, 2]]),
    "positive_semidefinite": pt.constant([[2.0, 1], [1, 2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("kind", KINDS)
def test_facts_of_all_blocks_are_those_of_the_matrix(kind: str, name: str) -> None:
    op, (part, fact) = KINDS[kind][0], (PARTS[name], getattr(facts, name))
    other = pt.matrix("b")
    assert fact(part)
    assert fact(op(part, part))
    assert not fact(op(part, other))
    assert not fact(op(other, part))
