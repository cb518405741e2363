"""Classes of PyTensor's ops that are called with other arguments than ours: `Solve(assume_a="pos")`
makes what solves equations; what an op of ours is, is asked with `isinstance`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor
from rewrite_engine.tensor.index.subtensor import inc_subtensor, set_subtensor
from rewrite_engine.tensor.linalg import solvers, triangular

__all__ = [
    "AdvancedIncSubtensor1",
    "AdvancedSubtensor1",
    "CholeskySolve",
    "SolveOfOthers",
    "SolveTriangularOfOthers",
    "advanced_inc_subtensor",
    "advanced_inc_subtensor1",
    "advanced_set_subtensor",
    "advanced_set_subtensor1",
    "advanced_subtensor",
    "advanced_subtensor1",
]


class _Made(type):
    """The type of classes whose instances are the ops of ours for which `is_one` holds."""

    is_one: Callable[[Any], bool]
    made: Callable[..., Any]

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.is_one(instance)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """What applies it, a function of its operands."""
        return cls.made(*args, **kwargs)


# --- equations ------------------------------------------------------------------------------------


class SolveOfOthers(metaclass=_Made):
    """Solves equations. assume_a, lower, b_ndim: as of `solve`."""

    is_one = staticmethod(lambda op: isinstance(op, solvers.Solve))
    made = staticmethod(lambda **options: partial(linalg.solve, **options))


class SolveTriangularOfOthers(metaclass=_Made):
    """Solves equations with a triangular matrix, of which `lower` says which half is read."""

    is_one = staticmethod(lambda op: isinstance(op, triangular.SolveTriangular))
    made = staticmethod(lambda **options: partial(linalg.solve_triangular, **options))


class CholeskySolve(metaclass=_Made):
    """Solves equations with a matrix of which the Cholesky factor is given, below the diagonal
    where `lower` says so.
    """

    is_one = staticmethod(lambda op: False)

    @staticmethod
    def made(lower: bool = True, **options: Any) -> Any:
        return lambda factor, b: linalg.cho_solve((factor, lower), b, **options)


# --- elements at arrays of indices ----------------------------------------------------------------


def advanced_subtensor(x: Any, *index: Any) -> Any:
    """`x[index]`."""
    return as_tensor_variable(x)[index]


def advanced_inc_subtensor(x: Any, y: Any, *index: Any) -> Any:
    """`x`, with `y` added at `index`, as often as an element is named."""
    return inc_subtensor(as_tensor_variable(x)[index], y)


def advanced_set_subtensor(x: Any, y: Any, *index: Any) -> Any:
    """`x`, with `y` put in at `index`."""
    return set_subtensor(as_tensor_variable(x)[index], y)


advanced_subtensor1 = advanced_subtensor
advanced_inc_subtensor1 = advanced_inc_subtensor
advanced_set_subtensor1 = advanced_set_subtensor


class AdvancedSubtensor1(metaclass=_Made):
    """Takes rows, by one vector of indices."""

    is_one = staticmethod(lambda op: isinstance(op, AdvancedSubtensor) and _rows(op))
    made = staticmethod(lambda **options: advanced_subtensor)


class AdvancedIncSubtensor1(metaclass=_Made):
    """Adds to rows, or puts them in, by one vector of indices."""

    is_one = staticmethod(lambda op: isinstance(op, AdvancedIncSubtensor) and _rows(op))

    @staticmethod
    def made(inplace: bool = False, set_instead_of_inc: bool = False) -> Any:
        return advanced_set_subtensor if set_instead_of_inc else advanced_inc_subtensor


def _rows(op: Any) -> bool:
    """Whether an op has one array of indices, and nothing else."""
    return tuple(op.idx_list) == ("i",)
