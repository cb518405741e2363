"""Sequences of numbers, and grids of them: `linspace`, `logspace`, `geomspace`, `meshgrid`,
`mgrid`, `ogrid`, `indices`, windows (`bartlett`, …).

All are built from `arange`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.config import config
from rewrite_engine.errors import OptionError, ShapeError
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import DISCRETE, dtype_name, promote
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.dimshuffle import moveaxis, shape_padright
from rewrite_engine.tensor.reshape import flatten
from rewrite_engine.tensor.shape import as_length, larger
from rewrite_engine.tensor.shaping.rearrange import broadcast_arrays

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "bartlett", "blackman", "geomspace", "hamming", "hanning", "indices", "kaiser", "linspace",
    "logspace", "meshgrid", "mgrid", "ogrid",
]  # fmt: skip


def _float_of(*values: Any) -> str:
    """Return the float dtype of values: Python numbers do not count, integers become floatX."""
    strong = [as_tensor_variable(v).type.dtype for v in values if type(v) not in (int, float)]
    return promote(*[config.floatX if d in DISCRETE else d for d in strong] or [config.floatX])


DEFAULT = 50  # how many numbers


def _named(stop: Any, num: Any, end: Any, steps: Any) -> tuple[Any, Any]:
    """Return the last number and the count, by either of their names. Raise `TypeError`."""
    given = not isinstance(num, int) or num != DEFAULT
    if (stop is not None and end is not None) or (given and steps is not None):
        raise TypeError(
            located("end and steps are other names of stop and num: pass only one of each")
        )
    stop = stop if end is None else end
    if stop is None:
        raise TypeError(located("the argument `stop`, the last number, is missing"))
    return stop, num if steps is None else steps


def _range(start: Any, stop: Any, num: Any, endpoint: bool, dtype: str) -> tuple[Any, Any]:
    """Return the numbers of `linspace` along the first dimension, before its last conversion, and
    the step.
    """
    n = as_length(num)
    if isinstance(n, int) and n < 0:
        raise ShapeError(located(f"the number of samples must not be negative: {n}"))
    a, b = [m.cast(as_tensor_variable(v), dtype) for v in (start, stop)]
    last = n - 1 if endpoint else n
    step = m.true_div(m.sub(b, a), m.cast(larger(last, 1), dtype))
    k = shape_padright(arange(n), step.type.ndim)
    out = m.add(m.mul(m.cast(k, dtype), step), a)
    if endpoint and not (isinstance(n, int) and n < 2):
        out = m.switch(m.and_(m.eq(k, last), m.gt(k, 0)), b, out)
    return out, m.switch(m.gt(last, 0), step, weak_constant(np.nan, dtype))


def _finished(out: Any, dtype: Any, default: str, axis: int) -> Any:
    name = default if dtype is None else dtype_name(dtype)
    return m.cast(moveaxis(out, 0, axis), name)


@overload
def linspace(
    start: TensorLike,
    stop: TensorLike | None = None,
    num: Any = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    end: TensorLike | None = None,
    steps: Any = None,
) -> TensorVariable: ...
@overload
def linspace(
    start: TensorLike,
    stop: TensorLike | None = None,
    num: Any = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: int = 0,
    end: TensorLike | None = None,
    steps: Any = None,
) -> tuple[TensorVariable, TensorVariable]: ...
def linspace(
    start: Any,
    stop: TensorLike | None = None,
    num: TensorLike = DEFAULT,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    end: Any = None,
    steps: Any = None,
) -> Any:
    """Return `num` evenly spaced numbers from `start` to `stop`, as `numpy.linspace`.

    start, stop: numbers or arrays, which broadcast; the new dimension is `axis`. num: an integer,
    or a 0-d variable. endpoint: whether `stop` is the last number. retstep: also return the
    distance. end, steps: older names of `stop` and `num`. Floats by default; for an integer dtype
    they are rounded down. Raises `ShapeError`, `TypeError` without a `stop`.

    >>> linspace(0.0, 1.0, 5).eval()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    stop, num = _named(stop, num, end, steps)
    inner = _float_of(start, stop)
    out, step = _range(start, stop, num, endpoint, inner)
    if dtype is not None and dtype_name(dtype) in DISCRETE:
        out = m.floor(out)
    out = _finished(out, dtype, inner, axis)
    return (out, step) if retstep else out


def logspace(
    start: TensorLike,
    stop: TensorLike | None = None,
    num: TensorLike = DEFAULT,
    base: Any = 10.0,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    end: Any = None,
    steps: Any = None,
) -> TensorVariable:
    """Return `num` numbers from base**start to base**stop with evenly spaced logarithms.

    The other arguments and errors are described in `linspace`.

    >>> logspace(0, 2, 3).eval()
    array([  1.,  10., 100.])
    """
    stop, num = _named(stop, num, end, steps)
    inner = _float_of(start, stop, base)
    out, _ = _range(start, stop, num, endpoint, inner)
    return _finished(m.pow(m.cast(as_tensor_variable(base), inner), out), dtype, inner, axis)


def geomspace(
    start: TensorLike,
    stop: TensorLike | None = None,
    num: TensorLike = DEFAULT,
    base: Any = 10.0,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    end: Any = None,
    steps: Any = None,
) -> TensorVariable:
    """Return `num` numbers from `start` to `stop` with equal quotients of neighbours.

    start, stop: nonzero, of the same sign. base: the base of the logarithms used in the
    computation. The other arguments and errors are described in `linspace`.

    >>> geomspace(-1, -100, 3).eval()
    array([  -1.,  -10., -100.])
    """
    stop, num = _named(stop, num, end, steps)
    inner = promote(_float_of(start, stop), config.floatX)
    a, b = map(as_tensor_variable, (start, stop))
    if any([isinstance(v, Constant) and not v.data.all() for v in (a, b)]):
        raise ShapeError(located("geomspace: start and stop must not be 0", inputs=[a, b]))
    a, b = m.cast(a, inner), m.cast(b, inner)
    sign = m.sign(a)
    base = m.cast(as_tensor_variable(base), inner)
    first, last = [m.true_div(m.log(m.true_div(v, sign)), m.log(base)) for v in (a, b)]
    logs, _ = _range(first, last, num, endpoint, inner)
    n = as_length(num)
    k = shape_padright(arange(n), logs.type.ndim - 1)
    out = m.switch(m.eq(k, 0), a, m.mul(sign, m.pow(base, logs)))
    if endpoint:
        out = m.switch(m.and_(m.eq(k, n - 1), m.gt(k, 0)), b, out)
    return _finished(out, dtype, inner, axis)


def bartlett(M: TensorLike) -> TensorVariable:
    """Return the triangular Bartlett window: `M` numbers (floatX) that rise from 0 to 1 and fall to
    0.

    >>> bartlett(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return m.sub(1.0, m.abs(_from_the_middle(M)))


def _from_the_middle(M: Any) -> Any:
    """Return numbers from -1 to 1 (floatX); 0 if there is one."""
    n = as_length(M)
    ends = m.cast(larger(n - 1, 1), config.floatX)
    return m.true_div(m.cast(arange(n) * 2 - (n - 1), config.floatX), ends)


def hanning(M: TensorLike) -> TensorVariable:
    """Return the Hann window, a raised cosine: `M` numbers (floatX) from 0 to 1 to 0.

    >>> hanning(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return 0.5 + 0.5 * m.cos(np.pi * _from_the_middle(M))


def hamming(M: TensorLike) -> TensorVariable:
    """Return the Hamming window, a raised cosine: `M` numbers (floatX), 0.08 at the ends."""
    return 0.54 + 0.46 * m.cos(np.pi * _from_the_middle(M))


def blackman(M: TensorLike) -> TensorVariable:
    """Return the Blackman window, a sum of two cosines: `M` numbers (floatX)."""
    x = np.pi * _from_the_middle(M)
    return 0.42 + 0.5 * m.cos(x) + 0.08 * m.cos(2.0 * x)


def kaiser(M: TensorLike, beta: Any) -> TensorVariable:
    """Return the Kaiser window: `M` numbers (floatX), steeper for larger `beta`."""
    from_middle = _from_the_middle(M)
    return m.i0(beta * m.sqrt(1.0 - m.sqr(from_middle))) / m.i0(m.cast(beta, config.floatX))


# --- grids ------------------------------------------------------------------------------------


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> tuple[TensorVariable, ...]:
    """Return the coordinates of the points of a grid, one array for each of the vectors `xi`.

    indexing: "ij" keeps the dimensions in the order of the vectors, "xy" exchanges the first two.
    sparse: use dimensions of length 1 where a coordinate is constant. Raises `OptionError`.

    >>> [x.eval().tolist() for x in meshgrid([1, 2], [3, 4, 5])]
    [[[1, 2], [1, 2], [1, 2]], [[3, 3], [4, 4], [5, 5]]]
    """
    if indexing not in ("xy", "ij"):
        raise OptionError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    places = list(range(len(xi)))
    if indexing == "xy":
        places[:2] = places[1::-1]
    grids = []
    for x, place in zip(xi, places, strict=True):
        order: list[Any] = ["x"] * len(xi)
        order[place] = 0
        grids.append(flatten(x).dimshuffle(*order))
    return tuple(grids) if sparse else broadcast_arrays(*grids)


@overload
def indices(
    dimensions: Sequence[Any], dtype: DTypeLike = "int64", sparse: Literal[False] = False
) -> TensorVariable: ...
@overload
def indices(
    dimensions: Sequence[Any], dtype: DTypeLike = "int64", *, sparse: Literal[True]
) -> tuple[TensorVariable, ...]: ...
def indices(dimensions: Sequence[Any], dtype: DTypeLike = "int64", sparse: bool = False) -> Any:
    """Return the indices of all elements of an array of shape `dimensions`, along a new first
    dimension.

    sparse: return a tuple of arrays that broadcast, as `numpy.indices`.
    """
    grids = meshgrid(*[arange(n, dtype=dtype) for n in dimensions], sparse=sparse, indexing="ij")
    return grids if sparse else as_tensor_variable(grids)


class _Grid:
    """Class of `mgrid` and `ogrid`, which are indexed: `grid[0:3, 0:1:5j]`."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        ranges = [self.numbers(s) for s in slices]
        dtype = promote(*[r.type.dtype for r in ranges])
        grids = meshgrid(*[m.cast(r, dtype) for r in ranges], sparse=self.sparse, indexing="ij")
        return list(grids) if isinstance(key, tuple) else grids[0]

    @staticmethod
    def numbers(part: slice) -> Any:
        """Return one vector: with a step, or with as many numbers as an imaginary step says."""
        start, step = [d if v is None else v for v, d in ((part.start, 0), (part.step, 1))]
        if isinstance(step, complex):
            return linspace(start, part.stop, int(abs(step)))
        return arange(start, part.stop, step)


#: the points of a grid, one array per dimension: `mgrid[0:3, 0:1:5j]` (an imaginary step is a
#: number of points)
mgrid = _Grid(sparse=False)
#: the same, with dimensions of length 1 where nothing changes
ogrid = _Grid(sparse=True)
