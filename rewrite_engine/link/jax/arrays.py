"""Shapes, creation of arrays, joins, reductions, running and sorted values, softmax."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import jax.scipy.signal as signal
import jax.scipy.special as special
import numpy as np
from jax import lax

import rewrite_engine.tensor as pt
from rewrite_engine.gradient.stops import GradientView
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import as_output, is_known, known_value, register
from rewrite_engine.link.jax.runtime_checks import require
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.flow.raise_op import Assert, CheckAndRaise, CheckParameter
from rewrite_engine.tensor.order.search import SearchsortedOp
from rewrite_engine.tensor.order.sorting import ArgSortOp, SortOp
from rewrite_engine.tensor.product.blocks import Kron
from rewrite_engine.tensor.reduce import CAReduce
from rewrite_engine.tensor.running import CumOp, Recurrence
from rewrite_engine.tensor.shape import CheckedIndex, CheckedLength, SpecifyShape, Unbroadcast
from rewrite_engine.tensor.signal import Convolve1d, Convolve2d
from rewrite_engine.tensor.special import ScaledExp, SoftmaxAndLog

REDUCTIONS: dict[str, Any] = {
    "add": jnp.sum, "multiply": jnp.prod, "maximum": jnp.max, "minimum": jnp.min,
    "logical_and": jnp.all, "logical_or": jnp.any, "bitwise_and": jnp.bitwise_and.reduce,
    "bitwise_or": jnp.bitwise_or.reduce, "bitwise_xor": jnp.bitwise_xor.reduce,
}  # fmt: skip


# --- shapes, and claims about them ----------------------------------------------------------------


@register(DimShuffle)
def _(op: Any, node: Apply, x: Any) -> Any:
    turned = jnp.transpose(x, op.shuffle + op.drop)
    return lax.reshape(turned, [*_lengths(op, np.shape(x))])


def _lengths(op: DimShuffle, shape: Any) -> list[int]:
    return [1 if isinstance(o, str) else shape[o] for o in op.new_order]


@register(pt.Shape_i)
def _(op: Any, node: Apply, x: Any) -> Any:
    return np.asarray(np.shape(x)[op.i], np.int64)


@register(pt.Shape)
def _(op: Any, node: Apply, x: Any) -> Any:
    return np.array(np.shape(x), np.int64)


@register(CheckedLength)
def _(op: Any, node: Apply, *lengths: Any) -> Any:
    for i, j in op.pairs():
        if is_known(lengths[i]) and is_known(lengths[j]) and lengths[i] != lengths[j]:
            op.refuse(node, lengths)
        require(partial(jnp.equal, lengths[i], lengths[j]))
    return lengths[0]


@register(CheckedIndex)
def _(op: Any, node: Apply, i: Any, n: Any) -> Any:
    if is_known(i) and is_known(n) and not -n <= i < n:
        op.refuse(node, (i, n))
    require(lambda: (-n <= i) & (i < n))
    return jnp.where(jnp.asarray(i) >= 0, i, i + n)


@register(SpecifyShape)
def _(op: Any, node: Apply, x: Any, *lengths: Any) -> Any:
    claims = iter(lengths)
    for axis, n in enumerate(op.shape):
        if n == "i":
            require(partial(jnp.equal, next(claims), np.shape(x)[axis]))  # (compared if known)
    return x


@register(CheckAndRaise, Assert, CheckParameter)
def _(op: Any, node: Apply, x: Any, *conditions: Any) -> Any:
    for condition in conditions:
        if is_known(condition) and not np.all(condition):
            raise op.exc_type(op.msg)
        require(partial(jnp.not_equal, condition, 0))
    return x


@register(Unbroadcast, GradientView, *GradientView.__subclasses__())
def _(op: Any, node: Apply, x: Any) -> Any:
    return x


@register(pt.Reshape)
def _(op: Any, node: Apply, x: Any, *lengths: Any) -> Any:
    given = iter(range(1, len(node.inputs)))
    shape = [int(_next(node, given, lengths)) if n == "i" else n for n in op.shape]
    if -1 in shape and np.size(x) == 0:
        shape = [n if n != -1 else 0 for n in shape]
    return jnp.reshape(x, shape)


def _next(node: Apply, given: Any, lengths: Any) -> Any:
    """Return the next length among the inputs."""
    i = next(given)
    return known_value(node, i, lengths[i - 1])


# --- creation -------------------------------------------------------------------------------------


@register(pt.Alloc)
def _(op: Any, node: Apply, x: Any, *lengths: Any) -> Any:
    return jnp.broadcast_to(x, [int(known_value(node, i, n)) for i, n in enumerate(lengths, 1)])


@register(pt.AllocEmpty)
def _(op: Any, node: Apply, *lengths: Any) -> Any:
    return jnp.zeros([int(known_value(node, i, n)) for i, n in enumerate(lengths)], op.dtype)


@register(pt.ARange)
def _(op: Any, node: Apply, *ends: Any) -> Any:
    start, stop, step = [known_value(node, i, x).item() for i, x in enumerate(ends)]
    return np.arange(start, stop, step, dtype=op.dtype)


@register(pt.Eye)
def _(op: Any, node: Apply, *numbers: Any) -> Any:
    return jnp.asarray(_above(node, *numbers) == 0, op.dtype)


@register(pt.Tri)
def _(op: Any, node: Apply, *numbers: Any) -> Any:
    return _above(node, *numbers) <= 0


def _above(node: Apply, rows: Any, columns: Any, diagonal: Any) -> Any:
    """Return how far the elements of a matrix are above a diagonal."""
    n, k = [int(known_value(node, i, x)) for i, x in enumerate((rows, columns))]
    return jnp.arange(k) - jnp.arange(n)[:, None] - diagonal


# --- several arrays -------------------------------------------------------------------------------


@register(pt.Join)
def _(op: Any, node: Apply, *xs: Any) -> Any:
    return jnp.concatenate([as_output(node, x) for x in xs], op.axis)


@register(pt.MakeVector)
def _(op: Any, node: Apply, *xs: Any) -> Any:
    if all(map(is_known, xs)):
        return np.array([np.asarray(x, op.dtype) for x in xs], op.dtype)
    return jnp.stack([jnp.asarray(x, op.dtype) for x in xs])


@register(pt.Split)
def _(op: Any, node: Apply, x: Any, *lengths: Any) -> Any:
    given = iter(range(1, len(node.inputs)))
    sizes = [int(_next(node, given, lengths)) if n == "i" else n for n in op.sizes]
    if sum(sizes) != np.shape(x)[op.axis] or min(sizes, default=0) < 0:
        op.fail(node, f"pieces of lengths {sizes} do not add up to {np.shape(x)[op.axis]}")
    ends = np.cumsum([0, *sizes]).tolist()
    parts = [lax.slice_in_dim(jnp.asarray(x), a, b, axis=op.axis) for a, b in pairwise(ends)]
    return parts[0] if len(parts) == 1 else parts


@register(Kron)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    return jnp.kron(as_output(node, x), as_output(node, y))


@register(pt.Dot, pt.MatMul)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    x, y = as_output(node, x), as_output(node, y)
    if x.dtype == bool:
        return (x[..., :, :, None] & y[..., None, :, :]).any(-2)
    return jnp.matmul(x, y, precision="highest")


@register(Convolve1d)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    return jnp.convolve(as_output(node, x), as_output(node, y), op.mode, precision="highest")


@register(Convolve2d)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    x, y = as_output(node, x), as_output(node, y)
    return signal.convolve2d(x, y, mode=op.mode, precision="highest")


# --- reductions -----------------------------------------------------------------------------------


@register(CAReduce, *[c for b in CAReduce.__subclasses__() for c in (b, *b.__subclasses__())])
def _(op: Any, node: Apply, x: Any) -> Any:
    name, axes = op.reducer().__name__, op.axes(np.ndim(x))
    x = jnp.asarray(x) if name.startswith("logical") else as_output(node, x)
    if name in ("maximum", "minimum") and 0 in [np.shape(x)[a] for a in axes]:
        op.fail(node, f"there is no {name} of no elements, in shape {np.shape(x)}", ValueError)
    if not axes:
        return x
    if name.startswith("bitwise") and x.dtype == bool:
        name = {"bitwise_and": "logical_and", "bitwise_or": "logical_or"}.get(name, name)
    return REDUCTIONS[name](x, axis=axes, keepdims=op.keepdims)


@register(pt.Argmax, pt.Argmin)
def _(op: Any, node: Apply, x: Any) -> Any:
    axes = op.axes(np.ndim(x))
    x = jnp.moveaxis(jnp.asarray(x), axes, range(-len(axes), 0))
    kept, reduced = x.shape[: x.ndim - len(axes)], x.shape[x.ndim - len(axes) :]
    if 0 in reduced:
        op.fail(node, f"there is no position in no elements, of shape {np.shape(x)}", ValueError)
    find = jnp.argmax if type(op) is pt.Argmax else jnp.argmin
    found = find(x.reshape(*kept, int(np.prod(reduced))), -1)
    return jnp.expand_dims(found, axes) if op.keepdims else found


# --- along an axis --------------------------------------------------------------------------------


@register(CumOp)
def _(op: Any, node: Apply, x: Any) -> Any:
    run = jnp.cumsum if op.mode == "add" else jnp.cumprod
    return run(as_output(node, x), op.axis)


@register(Recurrence)
def _(op: Any, node: Apply, a: Any, b: Any) -> Any:
    """Return h[i] = a[i] h[i - 1] + b[i], in turn: products of factors alone may overflow."""
    a, b = as_output(node, a), as_output(node, b)
    if not b.shape[op.axis]:
        return b
    a, b = [jnp.moveaxis(x, op.axis, 0) for x in (a, b)]

    def step(last: Any, both: Any) -> Any:
        last = both[0] * last + both[1]
        return last, last

    _, rest = lax.scan(step, b[0], (a[1:], b[1:]))
    return jnp.moveaxis(jnp.concatenate([b[:1], rest]), 0, op.axis)


@register(SortOp)
def _(op: Any, node: Apply, x: Any) -> Any:
    return jnp.sort(jnp.asarray(x), op.axis)


@register(ArgSortOp)
def _(op: Any, node: Apply, x: Any) -> Any:
    return jnp.argsort(jnp.asarray(x), op.axis)


@register(SearchsortedOp)
def _(op: Any, node: Apply, x: Any, v: Any) -> Any:
    both = jnp.promote_types(np.asarray(x).dtype if is_known(x) else x.dtype, v.dtype)
    return jnp.searchsorted(jnp.asarray(x, both), jnp.asarray(v, both), op.side)


# --- softmax --------------------------------------------------------------------------------------


def _shifted(op: Any, x: Any) -> tuple[Any, Any]:
    """Return x minus its maximum along the axes, made finite, and that maximum."""
    top = lax.stop_gradient(jnp.max(x, op.axis, keepdims=True))
    info = jnp.finfo(x.dtype)
    top = jnp.minimum(jnp.where(top >= info.min, top, 0), info.max)
    return x - top, top


@register(pt.Softmax)
def _(op: Any, node: Apply, x: Any) -> Any:
    e = jnp.exp(_shifted(op, jnp.asarray(x))[0]) if np.size(x) else jnp.asarray(x)
    return e / jnp.sum(e, op.axis, keepdims=True)


@register(ScaledExp)
def _(op: Any, node: Apply, x: Any) -> Any:
    """Return exp(x - max(x)): the common factor cancels where the op is used."""
    if not np.size(x):
        return jnp.asarray(x)
    e = jnp.exp(_shifted(op, jnp.asarray(x))[0])
    whole = jnp.sum(e, op.axis, keepdims=True)
    return jnp.where(jnp.isnan(whole), whole, e)


@register(pt.LogSoftmax)
def _(op: Any, node: Apply, x: Any) -> Any:
    if not np.size(x):
        return jnp.asarray(x)
    low, _ = _shifted(op, jnp.asarray(x))
    return low - jnp.log(jnp.sum(jnp.exp(low), op.axis, keepdims=True))


def _log_sum(op: Any, x: Any, keepdims: bool) -> Any:
    if not np.size(x):
        return special.logsumexp(x, op.axis, keepdims=keepdims)
    low, top = _shifted(op, x)
    found = jnp.log(jnp.sum(jnp.exp(low), op.axis, keepdims=True)) + top
    return found if keepdims else jnp.squeeze(found, op.axis)


@register(pt.LogSumExp)
def _(op: Any, node: Apply, x: Any) -> Any:
    return _log_sum(op, jnp.asarray(x), op.keepdims)


@register(SoftmaxAndLog)
def _(op: Any, node: Apply, x: Any) -> Any:
    x = jnp.asarray(x)
    if not np.size(x):
        return x, x if op.whole else _log_sum(op, x, True)
    low, top = _shifted(op, x)
    e = jnp.exp(low)
    log = jnp.log(jnp.sum(e, op.axis, keepdims=True))
    return e / jnp.sum(e, op.axis, keepdims=True), low - log if op.whole else log + top
