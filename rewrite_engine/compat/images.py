"""Functions of `theano.tensor.signal`, built from this library's ops: pooling, and convolutions of
images with several filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.compat import nnet
from rewrite_engine.errors import NDimError, OptionError, dimensions, message

__all__ = ["conv2d", "max_pool_2d", "pool_2d", "pool_3d"]

_MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def pool_2d(
    input: Any,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Sequence[int] = (0, 0),
    mode: str = "max",
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> Any:
    """Return the largest element, sum or mean of each window of the last two dimensions.

    ws (ds): lengths of the windows; a number, or one for each dimension. stride (st): distance from
    one window to the next; by default `ws`. ignore_border: without windows that are cut off at the
    end (default: with them). pad (padding): how many zeros are added before and after, which never
    count as the largest; needs ignore_border. mode: "max", "sum", "average_inc_pad" (the zeros
    count), "average_exc_pad". Raises `NDimError`, `OptionError`.

    >>> pool_2d([[1.0, 2.0, 5.0], [4.0, 3.0, 6.0]], (2, 2), ignore_border=True).eval()
    array([[4.]])
    """
    ws, stride = ds if ws is None else ws, st if stride is None else stride
    pad = pad if padding is None else padding
    return _pooled(input, 2, ws, bool(ignore_border), stride, pad, mode)


def pool_3d(
    input: Any,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Sequence[int] = (0, 0, 0),
    mode: str = "max",
) -> Any:
    """Pool windows of the last three dimensions, as `pool_2d` does for two."""
    return _pooled(input, 3, ws, bool(ignore_border), stride, pad, mode)


def max_pool_2d(
    input: Any,
    ds: Any,
    ignore_border: bool | None = None,
    st: Any = None,
    padding: Sequence[int] = (0, 0),
    mode: str = "max",
) -> Any:
    """Call `pool_2d`; an older name."""
    return pool_2d(input, ds, ignore_border, st, padding, mode)


def _pooled(x: Any, n: int, ws: Any, ignore: bool, stride: Any, pad: Any, mode: str) -> Any:
    """Pool windows of the last n dimensions."""
    x = pt.as_tensor_variable(x)
    if x.ndim < n:
        raise NDimError(message(f"pooling takes {dimensions(n)} or more", inputs=[x]))
    if mode not in _MODES:
        raise OptionError(f"mode must be one of {[*_MODES]}, not {mode!r}")
    long, pads = _numbers("ws", ws, n), _numbers("pad", pad, n)
    steps = long if stride is None else _numbers("stride", stride, n)
    if any(pads) and not ignore:
        raise OptionError("pad needs ignore_border=True")
    if any(p >= w for p, w in zip(pads, long, strict=True)):
        raise OptionError(f"pad must be smaller than ws: {pads}, {long}")
    sizes = [pt.shape_tuple(x)[k - n] for k in range(n)]
    parts = list(zip(sizes, long, steps, pads, strict=True))
    counts = [_count(*part, ignore) for part in parts]
    ends = [(c - 1) * s + w for c, w, s in zip(counts, long, steps, strict=True)]
    widths = [(0, 0)] * (x.ndim - n)
    widths += [(p, _most(end - m - p)) for end, m, p in zip(ends, sizes, pads, strict=True)]

    def windows(of: Any, fill: Any, combine: Any) -> Any:
        wide = pt.pad(of, widths, constant_values=fill)
        found = []
        for first in product(*map(range, long)):
            rows = zip(first, ends, long, steps, strict=True)
            found.append(wide[(..., *[slice(i, e - w + 1 + i, s) for i, e, w, s in rows])])
        return reduce(combine, found)

    if mode == "max":
        return windows(x, _lowest(x.dtype), pt.maximum)
    total = windows(x, 0, pt.add)
    if mode == "sum":
        return total
    if mode == "average_inc_pad" and ignore:
        return total / np.asarray(np.prod(long), total.dtype if total.type.kind == "f" else "int64")
    return total / windows(pt.ones_like(x), 0, pt.add)


def _numbers(what: str, given: Any, n: int) -> list[int]:
    """Return one integer for each dimension. Raises `OptionError`."""
    found = list(given) if isinstance(given, tuple | list | np.ndarray) else [given] * n
    if len(found) != n or not all(isinstance(k, int | np.integer) for k in found):
        raise OptionError(f"{what} must be {n} integers that are known when the graph is built")
    return [int(k) for k in found]


def _count(size: Any, long: int, step: int, pad: int, ignore: bool) -> Any:
    """Return how many windows there are along a dimension."""
    if ignore:
        return _most((size + 2 * pad - long) // step + 1)
    if step >= long:
        return (size - 1) // step + 1
    return _most((size - 1 - long + step) // step) + 1


def _most(n: Any) -> Any:
    """Return a length, or 0 if it is negative."""
    return max(n, 0) if isinstance(n, int) else pt.maximum(n, 0)


def _lowest(dtype: str) -> Any:
    """Return the lowest value of a dtype."""
    return -np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min


def conv2d(
    input: Any,
    filters: Any,
    image_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    **options: Any,
) -> Any:
    """Return the convolution of a matrix, or of several (`tensor3`), with a filter, or with
    several: each matrix with each filter, in this order.

    >>> conv2d([[1.0, 2.0, 3.0]], [[1.0, 1.0]]).eval()
    array([[3., 5.]])
    """
    x, w = pt.as_tensor_variable(input), pt.as_tensor_variable(filters)
    if not (x.ndim in (2, 3) and w.ndim in (2, 3)):
        raise NDimError(message("conv2d: takes 2 or 3 dimensions each", inputs=[x, w]))
    x = pt.specify_shape(x, image_shape) if image_shape else x
    w = pt.specify_shape(w, filter_shape) if filter_shape else w
    images = x.dimshuffle(*(["x", "x"] if x.ndim == 2 else [0, "x"]), x.ndim - 2, x.ndim - 1)
    each = w.dimshuffle(*(["x", "x"] if w.ndim == 2 else [0, "x"]), w.ndim - 2, w.ndim - 1)
    found = nnet.conv2d(images, each, None, None, border_mode, subsample, **options)
    return found[0 if x.ndim == 2 else slice(None), 0 if w.ndim == 2 else slice(None)]
