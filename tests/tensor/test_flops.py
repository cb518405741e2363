"""Floating-point operations of ops: which ops have none, and textbook counts of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.check.node import sampled
from rewrite_engine.rewrite import cost
from rewrite_engine.rewrite.cost import UNKNOWN, WRITE
from rewrite_engine.tensor.op import TensorOp
from tests.tensor.test_samples import classes

#: ops that show memory of their input, or read only its shape
VIEWS = {
    "Assert", "CheckAndRaise", "CheckParameter", "CheckedIndex", "CheckedLength", "Diagonal",
    "DimShuffle", "DisconnectedGrad", "GradClip", "GradScale", "GradientView", "IfElse",
    "PdbBreakpoint", "Print", "Reshape", "Shape", "Shape_i", "SpecifyShape", "Subtensor",
    "Unbroadcast", "UndefinedGrad", "ViewOp", "ZeroGrad",
}  # fmt: skip
#: ops that copy elements to other places, or fill arrays
COPIES = {
    "AdvancedSubtensor", "Alloc", "AllocEmpty", "BlockDiag", "Join", "MakeVector",
    "ScalarFromTensor", "Split", "TensorFromScalar",
}  # fmt: skip


def dense_classes() -> list[Any]:
    """The ops on dense arrays. The samples of ops on sparse matrices are matrices of another type;
    such ops exist if a test of this process has loaded them.
    """
    return [c for c in classes(TensorOp) if not c.__module__.startswith("rewrite_engine.sparse.")]


def most(cls: Any) -> int:
    """The most operations that an op of the class takes on its samples."""
    found = [0]
    for op, variables, values in sampled(cls):
        node = op.make_node(*variables)
        ins = [np.shape(v) for v in values]
        outs = [tuple([3 if n is None else n for n in v.type.shape]) for v in node.outputs]
        found.append(op.flops(ins, outs))
    return max(found)


def test_only_views_and_copies_have_no_operations():
    named = {c.__name__: c for c in dense_classes() if c.samples}
    none = {name for name, c in named.items() if not most(c)}
    assert none == (VIEWS | COPIES) & named.keys()
    assert len(named) > 60


n, k = 600, 7
a, b = pt.tensor("a", shape=(n, n)), pt.tensor("b", shape=(n, k))
tall = pt.tensor("tall", shape=(n, 60))
c, v = pt.tensor("c", shape=(k, k)), pt.tensor("v", shape=(n,))


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (pt.linalg.cholesky(a), n**3 / 3),
        (pt.linalg.lu_factor(a)[0], 2 * n**3 / 3),
        (pt.linalg.lu_factor(tall)[0], n * 60**2 - 60**3 / 3),
        (pt.linalg.inv(a), 2 * n**3),
        (pt.linalg.solve(a, b), 2 * n**3 / 3 + 2 * n**2 * k),
        (pt.linalg.solve_triangular(a, b), n**2 * k),
        (pt.linalg.det(a), 2 * n**3 / 3 + n),
        (pt.linalg.qr(tall, "economic")[0], 4 * n * 60**2 - 4 * 60**3 / 3),
        (pt.linalg.qr(a)[0], 8 * n**3 / 3),
        (pt.linalg.qr(tall)[0], 4 * n**2 * 60 - 2 * n * 60**2 + 2 * 60**3 / 3),
        (pt.linalg.svd(tall, False)[0], 6 * n * 60**2 + 20 * 60**3),
        (pt.linalg.svd(a)[0], 26 * n**3),
        (pt.linalg.eigh(a)[0], 9 * n**3),
        (pt.linalg.schur(a)[0], 25 * n**3),
        (pt.linalg.pinv(a), 24 * n**3),
        (pt.linalg.pinv(a, hermitian=True), 11 * n**3),
        (pt.linalg.solve_sylvester(a, c, b), 25 * (n**3 + k**3) + 5 * n * k * (n + k)),
        (pt.eye(n), n**2),
        (pt.sort(v), n * np.log2(n)),
        (pt.argsort(a, axis=1), n**2 * np.log2(n)),
        (pt.cumsum(v), n),
        (v.prod(), n),
        (a @ b, 2 * n**2 * k),
        (pt.signal.convolve1d(v, v), 2 * n**2),
        (pt.zeros((n, n))[pt.arange(2)], WRITE * 2 * n),
        (v[::2], 0),
        (pt.exp(v), 10 * n),
    ],
)  # fmt: skip
def test_operations_are_those_of_textbooks(term: Any, wanted: float):
    assert cost.flops(term.owner) == pytest.approx(wanted, rel=1e-6, abs=0.5)


def test_a_batch_multiplies():
    many = pt.tensor("many", shape=(5, 1, n, n))
    sides = pt.tensor("sides", shape=(3, n, k))
    assert cost.flops(pt.linalg.solve(many, sides).owner) == 15 * (2 * n**3 // 3 + 2 * n**2 * k)


def test_unknown_lengths_count_as_some_length():
    assert cost.flops(pt.linalg.inv(pt.dmatrix("a")).owner) == 2 * UNKNOWN**3


def test_a_count_of_one_element_is_small():
    """No count of a small matrix is negative, and that of an empty one is 0."""
    for cls in dense_classes():
        for op, variables, values in sampled(cls) if cls.samples else ():
            outs = [tuple([0] * v.type.ndim) for v in op.make_node(*variables).outputs]
            assert op.flops([tuple([0] * np.ndim(v)) for v in values], outs) >= 0
