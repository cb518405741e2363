"""`as_op`, also called `wrap_py`: an op made of a function on values. `view_op`: another variable
for the same values. `TypeCastingOp`: a base class for ops that mark values in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rewrite_engine.errors import ForeignObjectError, OptionError, describe, message
from rewrite_engine.gradient.stops import GradientView
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from rewrite_engine.link.perform import protected


class FromFunctionOp(Op):
    """Op that calls the function `fn` on values of the types `itypes`, in the order of its
    arguments. `fn` returns one value of the type in `otypes`, or a value for each of several.
    shapes: see `as_op`.
    """

    __props__ = ("fn", "itypes", "otypes", "shapes")

    def __init__(
        self, fn: Callable[..., Any], itypes: Any, otypes: Any, shapes: Any = None
    ) -> None:
        self.fn = fn
        self.__module__ = getattr(fn, "__module__", None) or __name__  # where pickles look
        self.itypes, self.otypes = _types("itypes", itypes), _types("otypes", otypes)
        self.shapes = shapes
        self._guarded = protected(self, len(self.itypes), fn)

    def __str__(self) -> str:
        return str(getattr(self.fn, "__name__", self.fn))

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Call the function. Raises `OptionError` for the wrong number of results, and the errors
        of the output types for unsuitable values.
        """
        found = self._guarded(*inputs)
        results = found if isinstance(found, list | tuple) else [found]
        if len(results) != len(node.outputs):
            what = f"returned {len(results)} values, but otypes has {len(node.outputs)}"
            raise OptionError(message(what, op=self))
        for cell, out, value in zip(output_storage, node.outputs, results, strict=True):
            value = out.type.filter(value)
            if isinstance(value, np.ndarray) and _shares(value, inputs):
                value = value.copy()
            cell[0] = value

    def __reduce__(self) -> Any:
        """Pickle a decorated function by its name."""
        place = getattr(self.fn, "__module__", ""), getattr(self.fn, "__qualname__", "")
        try:
            decorated = _at(*place) is self
        except (ImportError, AttributeError, ValueError):
            decorated = False
        return place[1] if decorated else super().__reduce__()


class _Shaped(FromFunctionOp):
    """Op of a function, with a second function that computes the shapes of the results."""

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> Any:
        return self.shapes(fgraph, node, shapes)


def _at(module: str, name: str) -> Any:
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _shares(value: Any, inputs: Sequence[Any]) -> bool:
    return any(isinstance(x, np.ndarray) and np.may_share_memory(value, x) for x in inputs)


def _types(name: str, types: Any) -> tuple[Type, ...]:
    found = tuple(types) if isinstance(types, list | tuple) else (types,)
    for t in found:
        if not isinstance(t, Type):
            raise ForeignObjectError(f"{name} must be a type or a list of types, not {describe(t)}")
    return found


def as_op(
    itypes: Any, otypes: Any, infer_shape: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Make an op of a function on values, as a decorator.

    itypes, otypes: the types (or one type) of its arguments and of its results. infer_shape: a
    function `infer_shape(fgraph, node, input_shapes)` that returns a tuple of lengths per output,
    given such tuples of the inputs; without it the shape is read from the computed result. The
    function must not change its arguments. The op has no gradient: `grad` raises `NoGradientError`.
    It is pickled by the name of the function. Raises `ForeignObjectError` for an object that is not
    a type.

    >>> import numpy as np
    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> @rw.as_op(itypes=[pt.dmatrix, pt.dmatrix], otypes=[pt.dmatrix])
    ... def numpy_dot(a, b):
    ...     return np.dot(a, b)
    >>> x = pt.dmatrix("x")
    >>> numpy_dot(x, x + 1).eval({x: np.eye(2)})
    array([[2., 1.],
           [1., 2.]])
    """

    def make(fn: Callable[..., Any]) -> FromFunctionOp:
        made = FromFunctionOp if infer_shape is None else _Shaped
        return made(fn, itypes, otypes, infer_shape)

    return make


wrap_py = as_op


class ViewOp(GradientView):
    """Op that gives a value a second variable with a name of its own: `view_op(x, name="y")`.
    Rewriting replaces the second variable with the first.
    """

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the output gradient unchanged."""
        return list(output_gradients)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return list(eval_points)


view_op = ViewOp()


class TypeCastingOp(Op):
    """Base class for ops that mark values in a graph or give them another type. They return their
    inputs. A subclass defines `make_node`.
    """

    __props__: tuple[str, ...] | None = ()
    view_map = {0: [0]}

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the shape of the input."""
        return [shapes[0]]
