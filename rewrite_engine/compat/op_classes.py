"""Op classes that PyTensor's programs construct with its arguments: `Solve(assume_a="sym")(a, b)`,
`IfElse(2)(condition, *values)`. Each represents this library's op, also in `isinstance`;
constructing it returns a function of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rewrite_engine import tensor
from rewrite_engine.graph.intern import Interned
from rewrite_engine.tensor import creation, linalg
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.flow import branches
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor
from rewrite_engine.tensor.index.selection import permute_row_elements
from rewrite_engine.tensor.index.subtensor import inc_subtensor, set_subtensor
from rewrite_engine.tensor.linalg import decomposition, solvers, triangular
from rewrite_engine.tensor.reduce import CAReduce as CAReduceHere
from rewrite_engine.tensor.shaping import joins
from rewrite_engine.tensor.shaping.rearrange import RepeatedPositions, repeat

__all__ = [
    "AdvancedIncSubtensor1",
    "AdvancedSubtensor1",
    "CAReduce",
    "Cholesky",
    "CholeskySolve",
    "Eye",
    "IfElse",
    "PermuteRowElements",
    "ProdWithoutZeros",
    "Repeat",
    "Solve",
    "SolveTriangular",
    "Split",
    "advanced_inc_subtensor",
    "advanced_inc_subtensor1",
    "advanced_set_subtensor",
    "advanced_set_subtensor1",
    "advanced_subtensor",
    "advanced_subtensor1",
]


class MadeWithArguments(Interned):
    """Metaclass of stand-ins for op classes: a call makes a function from its arguments, and a
    subclass inherits from this library's class.
    """

    ours: Any
    function: Callable[..., Any]
    only: Callable[[Any], bool] | None

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        here = tuple([b.ours if isinstance(b, MadeWithArguments) else b for b in bases])
        if here == bases:
            return type.__new__(mcs, name, bases, namespace)
        return type(here[0])(name, here, namespace)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self.ours) and (self.only is None or self.only(instance))

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, self.ours)


def stands_for(
    ours: Any, function: Callable[..., Any], what: str, only: Callable[[Any], bool] | None = None
) -> Any:
    """Return a stand-in for a class of this library, which makes functions. only: which of its ops
    count as instances.
    """
    names = {"ours": ours, "function": function, "only": only, "__doc__": what}
    return MadeWithArguments(ours.__name__, (), names)


def _branches(n_outs: int = 1, as_view: bool = False, name: str | None = None) -> Any:
    """Return an `ifelse` with several values in each branch, one after the other. (as_view has no
    effect.)
    """

    def choose(condition: Any, *values: Any, return_list: bool = False) -> Any:
        first, second = list(values[:n_outs]), list(values[n_outs:])
        found = branches.ifelse(condition, first, second, name)
        return found if return_list or n_outs > 1 else found[0]

    return choose


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a class whose instances are a function with options."""
    return lambda **options: partial(function, **options)


def _cholesky(
    lower: bool = True, on_error: str = "nan", overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Return the op on one matrix. overwrite_a, check_finite: without effect."""
    return decomposition.Cholesky(lower, on_error)


def _cho_solve(c: Any, b: Any, lower: bool = True, **options: Any) -> Any:
    """Call `cho_solve` with a factor."""
    return linalg.cho_solve((c, lower), b, **options)


def advanced_subtensor(x: Any, *index: Any) -> Any:
    """Return the elements `x[index]` of an array."""
    return as_tensor_variable(x)[tuple([as_tensor_variable(i) for i in index])]


def advanced_inc_subtensor(
    x: Any,
    y: Any,
    *index: Any,
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    ignore_duplicates: bool = False,
) -> Any:
    """Return `x` with `y` added at `index`, as often as an element is named; ignore_duplicates:
    once. set_instead_of_inc: replace the elements. (inplace has no effect.)
    """
    part = advanced_subtensor(x, *index)
    if set_instead_of_inc:
        return set_subtensor(part, y)
    return inc_subtensor(part, y, ignore_duplicates=ignore_duplicates)


def advanced_set_subtensor(x: Any, y: Any, *index: Any) -> Any:
    """Return `x` with the elements at `index` replaced by `y`."""
    return set_subtensor(advanced_subtensor(x, *index), y)


advanced_subtensor1 = advanced_subtensor
advanced_inc_subtensor1 = advanced_inc_subtensor
advanced_set_subtensor1 = advanced_set_subtensor


def _rows(op: Any) -> bool:
    """Return whether an op has one array of indices, and nothing else."""
    return tuple(op.idx_list) == ("i",)


AdvancedSubtensor1 = stands_for(
    AdvancedSubtensor, lambda **_: advanced_subtensor, "Rows selected by numbers.", _rows
)
AdvancedIncSubtensor1 = stands_for(
    AdvancedIncSubtensor, _of(advanced_inc_subtensor), "Change of rows by numbers.", _rows
)


class KeepingDtype(CAReduceHere):
    """A reduction whose result has the dtype of its operand if nothing else is said: of Booleans,
    `add` is a Boolean, too.
    """

    def _name(self) -> str:
        return f"CAReduce{{{self.scalar_op}}}"

    def dtypes(self, *types: Any) -> list[str]:
        """The required dtype, or the operand's."""
        found = super().dtypes(*types)
        return found if self.dtype else [types[0].dtype]


def ProdWithoutZeros(axis: Any = None, dtype: Any = None, acc_dtype: Any = None) -> Any:
    """The product of what is not zero, along axes."""
    return lambda x: tensor.prod(tensor.switch(tensor.eq(x, 0), 1, x), axis, dtype=dtype)


CAReduce = stands_for(CAReduceHere, KeepingDtype, "A reduction that keeps the dtype.")
Cholesky = stands_for(decomposition.Cholesky, _cholesky, "The op of `cholesky`, with options.")
CholeskySolve = stands_for(solvers.Solve, _of(_cho_solve), "`cho_solve`, with options.")


def _split(len_splits: int, axis: int = 0) -> Any:
    """Return a function that splits an array into parts with the lengths in a vector."""
    return lambda x, splits: joins.split(x, splits, len_splits, axis)


def PermuteRowElements(inverse: bool = False) -> Any:
    """Return `permute_row_elements`, or its inverse."""
    return lambda x, y: permute_row_elements(x, y, inverse)


Eye = stands_for(
    creation.Eye,
    lambda dtype=None: lambda n, m, k: creation.eye(n, m, k, dtype),
    "`eye` of a dtype.",
)
Split = stands_for(joins.Split, _split, "`split` into a number of parts.")
IfElse = stands_for(branches.IfElse, _branches, "`ifelse` with several values.")
Repeat = stands_for(
    RepeatedPositions, lambda axis=None: partial(repeat, axis=axis), "`repeat` along an axis."
)
Solve = stands_for(solvers.Solve, _of(linalg.solve), "`solve`, with options.")
SolveTriangular = stands_for(
    triangular.SolveTriangular, _of(linalg.solve_triangular), "`solve_triangular`, with options."
)
