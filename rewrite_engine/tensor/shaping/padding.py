"""`pad`: arrays extended at their borders, in all modes of `numpy.pad`.

Each dimension in turn is extended, by joining parts, or by taking elements at positions that wrap
or reflect at the ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import OptionError, ShapeError, dimensions
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import alloc, arange, empty
from rewrite_engine.tensor.dimshuffle import slice_at_axis
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.reduce import max as max_
from rewrite_engine.tensor.reduce import min as min_
from rewrite_engine.tensor.shape import (
    as_length,
    larger,
    lengths,
    smaller,
    specify_broadcastable,
)
from rewrite_engine.tensor.shaping.joins import join
from rewrite_engine.tensor.shaping.ranges import linspace
from rewrite_engine.tensor.shaping.rearrange import flip

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["pad"]

_OPTIONS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "edge": {},
    "wrap": {},
    "empty": {},
}


def pad(x: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> TensorVariable:
    """Return `x` extended before and after along each dimension, as `numpy.pad`.

    pad_width: numbers of elements: a number, a pair (before, after), or a pair per dimension;
    integers or 0-d variables. mode: the new elements:

    * "constant": constant_values (0), "linear_ramp": a line down to end_values (0);
    * "edge": the outermost element, "wrap": the elements at the other end;
    * "reflect", "symmetric": the array reflected without, or with, the outermost element;
      reflect_type: "even", or "odd" to reflect the values, too;
    * "maximum", "mean", "median", "minimum": of the stat_length (all) outermost elements;
    * "empty": arbitrary elements.

    Options may be numbers, pairs, or lists of pairs. Raises `OptionError`, `ShapeError`,
    `DTypeError`.

    >>> pad([1, 2, 3], (2, 1), "reflect").eval()
    array([3, 2, 1, 2, 3, 2])
    """
    if mode not in _OPTIONS:
        raise OptionError(f"pad: mode must be one of {', '.join(_OPTIONS)}, not {mode!r}")
    options = _OPTIONS[mode]
    if unknown := set(kwargs) - set(options):
        raise OptionError(f"pad: mode {mode!r} has no option {', '.join(sorted(unknown))}")
    x = as_tensor_variable(x)
    name, default = next(iter(options.items()), ("", None))
    value = kwargs.get(name, default)
    if name == "reflect_type" and value not in ("even", "odd"):
        raise OptionError(f"pad: reflect_type must be 'even' or 'odd', not {value!r}")
    values = _pairs(value, x, name)
    grow = _GROW.get(mode, _by_numbers)
    for axis, (before, after) in enumerate(_pairs(pad_width, x, "pad_width")):
        width = as_length(before), as_length(after)
        if min([n for n in width if isinstance(n, int)], default=0) < 0:
            raise ShapeError(located(f"pad: widths must not be negative: {width}", inputs=[x]))
        if any([n != 0 for n in width]):
            x = grow(x, axis, width, values[axis], mode)
    return x


def _pairs(value: Any, x: Any, name: str) -> list[tuple[Any, Any]]:
    """Return the values for both ends of each dimension, from a number, a pair, or several
    pairs.
    """
    ndim = x.type.ndim
    if isinstance(value, Variable):
        given = value.type.shape
        if None in given:
            what = f"pad: the shape of {name} is unknown"
            raise ShapeError(located(what, inputs=[x, value]))
        grid = np.empty(given, object)
        for index in np.ndindex(*given):
            grid[index] = value[index] if index else value  # type: ignore[index]
    else:
        grid = _grid(value)
    try:
        grid = np.broadcast_to(grid, (ndim, 2))
    except ValueError as error:
        what = f"pad: {name} of shape {grid.shape} does not fit {dimensions(ndim)}"
        raise ShapeError(located(what, inputs=[x])) from error
    return [tuple(row) for row in grid]


def _grid(value: Any) -> Any:
    """Return nested lists as an array of objects."""
    if not isinstance(value, (tuple, list)):
        if isinstance(value, np.ndarray):
            return value
        out = np.empty((), object)
        out[()] = value
        return out
    rows = [_grid(v) for v in value]
    return np.stack(np.broadcast_arrays(*rows)) if rows else np.empty(0, object)


# --- parts that are joined ----------------------------------------------------------------------

Width = tuple[Any, Any]


def _part(x: Any, axis: int, start: Any, stop: Any) -> Any:
    return x[slice_at_axis(slice(start, stop), axis)]


def _filled(x: Any, axis: int, width: Any, value: Any) -> Any:
    """Return a part of that width, filled with a value that broadcasts."""
    sizes = lengths(x)
    sizes[axis] = width
    return alloc(m.cast(as_tensor_variable(value), x.type.dtype), *sizes)


def _joined(x: Any, axis: int, width: Width, part: Callable[[Any, int], Any]) -> Any:
    """Return x with the results of `part` for the widths before and after."""
    ends = [None if n == 0 else part(n, k) for k, n in enumerate(width)]
    return join(axis, *[v for v in (ends[0], x, ends[1]) if v is not None])


def _constant(x: Any, axis: int, width: Width, values: Any, mode: str) -> Any:
    return _joined(x, axis, width, lambda n, k: _filled(x, axis, n, values[k]))


def _empty(x: Any, axis: int, width: Width, values: Any, mode: str) -> Any:
    sizes = lengths(x)

    def part(n: Any, k: int) -> Any:
        return empty((*sizes[:axis], n, *sizes[axis + 1 :]), x.type.dtype)

    return _joined(x, axis, width, part)


def _ramp(x: Any, axis: int, width: Width, values: Any, mode: str) -> Any:
    def part(n: Any, k: int) -> Any:
        edge = x[slice_at_axis(-1 if k else 0, axis)]
        line = linspace(values[k], edge, n, endpoint=False, dtype=x.type.dtype, axis=axis)
        return flip(line, axis) if k else line

    return _joined(x, axis, width, part)


_NOTHING = "pad: a dimension of length 0 has no elements to pad with"


def _not_empty(x: Any, size: Any, n: Any) -> Any:
    """Return x if it has elements or needs none. Raise `ShapeError`, perhaps at run time."""
    if isinstance(size, Variable) or isinstance(n, Variable):
        return CheckAndRaise(ShapeError, _NOTHING)(x, m.or_(m.gt(size, 0), m.eq(n, 0)))
    if size == 0:
        raise ShapeError(located(_NOTHING, inputs=[x]))
    return x


def _statistic(x: Any, axis: int, width: Width, values: Any, mode: str) -> Any:
    from rewrite_engine.tensor.statistics.descriptive import median
    from rewrite_engine.tensor.statistics.moments import mean

    size = lengths(x)[axis]
    of: Any = {"maximum": max_, "minimum": min_, "mean": mean, "median": median}[mode]

    def part(n: Any, k: int) -> Any:
        count = size if values[k] is None else smaller(as_length(values[k]), size)
        ends = _part(x, axis, size - count, None) if k else _part(x, axis, None, count)
        if mode in ("mean", "median"):
            ends = _not_empty(ends, size, n)
        value = of(ends, axis=axis, keepdims=True)
        if mode in ("mean", "median") and x.type.kind in "iu":
            value = m.round(value)
        return _filled(x, axis, n, value)

    return _joined(x, axis, width, part)


# --- elements that are taken again --------------------------------------------------------------


def _by_numbers(x: Any, axis: int, width: Width, value: Any, mode: str) -> Any:
    """Return x at the positions from -before to n + after - 1, mapped to 0 … n - 1."""
    n = lengths(x)[axis]
    i = arange(-width[0], n + width[1])
    if mode == "edge":
        return x[slice_at_axis(m.clip(i, 0, n - 1), axis)]
    if mode == "wrap":
        return x[slice_at_axis(m.mod(i, larger(n, 1)), axis)]
    period = larger(2 * n if mode == "symmetric" else 2 * n - 2, 1)
    k = m.mod(i, period)
    back = m.ge(k, n)
    at = m.switch(back, period - k - int(mode == "symmetric"), k)
    taken = x[slice_at_axis(at, axis)]
    return taken if value[0] == "even" else _odd(x, taken, axis, back, m.floor_div(i, period))


def _odd(x: Any, taken: Any, axis: int, back: Any, turns: Any) -> Any:
    """Reflect values at the values of the ends; each turn adds twice their distance."""
    order = [0 if k == axis else "x" for k in range(x.type.ndim)]
    first, last = _part(x, axis, None, 1), _part(x, axis, -1, None)
    first, last = [specify_broadcastable(v, axis) for v in (first, last)]
    turned = m.switch(back.dimshuffle(*order), 2 * last - taken, taken)
    return turned + m.cast(turns, x.type.dtype).dimshuffle(*order) * (2 * (last - first))


_GROW: dict[str, Any] = {
    "constant": _constant,
    "empty": _empty,
    "linear_ramp": _ramp,
    "maximum": _statistic,
    "mean": _statistic,
    "median": _statistic,
    "minimum": _statistic,
}
