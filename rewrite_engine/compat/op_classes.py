"""Classes of ops that PyTensor's programs make with its arguments: `Solve(assume_a="sym")(a, b)`,
`IfElse(2)(condition, *values)`. Each stands for the op of that name here, also in `isinstance`;
what it makes is a function of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.flow import branches
from rewrite_engine.tensor.linalg import decomposition, solvers, triangular

__all__ = ["Cholesky", "CholeskySolve", "IfElse", "Solve", "SolveTriangular"]


class MadeWithArguments(type):
    """The type of what stands for a class of ops: a call makes a function of its arguments."""

    ours: Any
    function: Callable[..., Any]

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return cls.function(*args, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.ours)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.ours)


def stands_for(ours: Any, function: Callable[..., Any], what: str) -> Any:
    """What stands for a class here, and makes functions."""
    return MadeWithArguments(
        ours.__name__, (), {"ours": ours, "function": function, "__doc__": what}
    )


def _branches(n_outs: int = 1, as_view: bool = False, name: str | None = None) -> Any:
    """`ifelse` of so many values each, one after the other. (as_view changes nothing.)"""

    def choose(condition: Any, *values: Any, return_list: bool = False) -> Any:
        first, second = list(values[:n_outs]), list(values[n_outs:])
        found = branches.ifelse(condition, first, second, name)
        return found if return_list or n_outs > 1 else found[0]

    return choose


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    """A class whose instances are a function with options."""
    return lambda **options: partial(function, **options)


def _cho_solve(c: Any, b: Any, lower: bool = True, **options: Any) -> Any:
    """`cho_solve` of a factor."""
    return linalg.cho_solve((c, lower), b, **options)


Cholesky = stands_for(decomposition.Cholesky, _of(linalg.cholesky), "`cholesky`, with options.")
CholeskySolve = stands_for(solvers.Solve, _of(_cho_solve), "`cho_solve`, with options.")
IfElse = stands_for(branches.IfElse, _branches, "`ifelse` of so many values.")
Solve = stands_for(solvers.Solve, _of(linalg.solve), "`solve`, with options.")
SolveTriangular = stands_for(
    triangular.SolveTriangular, _of(linalg.solve_triangular), "`solve_triangular`, with options."
)
