"""Storage order of the elements of a sparse matrix: sorted, each position once, without zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.sparse.constant import as_sparse_variable
from rewrite_engine.sparse.op import KEEPS, SparseOp
from rewrite_engine.sparse.type import deduplicated
from rewrite_engine.tensor.op import Shapes, same_shape

__all__ = [
    "Canonical",
    "EnsureSortedIndices",
    "Remove0",
    "canonical",
    "clean",
    "ensure_sorted_indices",
    "remove0",
]


class Tidied(SparseOp):
    """Base class of ops that change the storage order; a matrix that has it already is returned
    unchanged. Plain gradient.
    """

    __props__ = ()
    implied = KEEPS
    only_lengths = True
    view_map = {0: [0]}
    samples: Sequence[Any] = (({}, (3, 4)), ({}, (0, 2)))

    def tidy(self, x: Any) -> Any:
        """Return the tidied matrix."""
        raise NotImplementedError

    def shapes(self, *types: Any) -> Shapes:
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        return self.tidy

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [output_gradients[0]]


class Canonical(Tidied):
    """Matrix with sorted indices and each position stored once; duplicates are added."""

    implied = {**KEEPS, "stored_once": True, "same_pattern": lambda f, x: f.stored_once(x)}

    def __str__(self) -> str:
        return "canonical"

    def tidy(self, x: Any) -> Any:
        return deduplicated(x)


class EnsureSortedIndices(Tidied):
    """Matrix with sorted indices."""

    def __str__(self) -> str:
        return "ensure_sorted_indices"

    def tidy(self, x: Any) -> Any:
        return x if x.has_sorted_indices else x.sorted_indices()


class Remove0(Tidied):
    """Matrix without zeros among the stored elements."""

    def __str__(self) -> str:
        return "remove0"

    def tidy(self, x: Any) -> Any:
        if x.data.all():
            return x
        x = x.copy()
        x.eliminate_zeros()
        return x


_canonical, ensure_sorted_indices, remove0 = Canonical(), EnsureSortedIndices(), Remove0()


def canonical(x: Any) -> Any:
    """Return a sparse matrix with sorted indices, and with each position stored once."""
    return _canonical(as_sparse_variable(x))


def clean(x: Any) -> Any:
    """Return a sparse matrix with sorted indices, and without zeros among the stored elements."""
    return ensure_sorted_indices(remove0(as_sparse_variable(x)))
