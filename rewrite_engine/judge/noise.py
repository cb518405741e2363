"""Reference values of a graph: each node runs alone by `perform`, exactly or with a little noise.

The noise tells how well a value is determined: every result of floating point is moved by a unit in
the last place at random, and what the outputs vary by then is what a correct rule may change. A
number below the smallest normal one may be 0 (as functions of SciPy have it), and a product of it
that is 0 may be the smallest number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import CumOp, Dot, Elemwise, MatMul, Prod, Softmax, Sum
from rewrite_engine.tensor.flow.branches import IfElse
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp

Values = dict[Variable, np.ndarray]
#: places, and what is there
Mended = Mapping[Variable, tuple[np.ndarray, np.ndarray]]
NOTHING: Mended = {}

#: what rounds nothing
COPIES = frozenset(
    "neg abs sign maximum minimum clip switch second identity floor ceil trunc round".split()
)
#: where rules may change the sign of a zero
ZEROS = frozenset("add sub mul true_div sqrt log log2 log10 log1p expm1 logaddexp".split())


def run(node: Apply, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the outputs of a node for copies of its inputs."""
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    with np.errstate(all="ignore"):
        node.op.perform(node, [np.array(x) for x in inputs], cells)
    return [np.asarray(cell[0]) for cell in cells]


def evaluate(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    rng: Random | None = None,
    regrouped: bool = False,
    mended: Mended = NOTHING,
) -> Values:
    """The values of all variables that outputs are computed from. rng: makes noise; regrouped: as
    if what is added up in steps were added up in another order; mended: where steps have another
    result than they give, with what they have there.
    """
    values: Values = {v: np.asarray(a) for v, a in given.items()}
    failed: dict[Variable, Exception] = {}
    for node in toposort(list(outputs), list(given)):
        error = next((failed[v] for v in _read(node, values) if v in failed), None)
        try:
            if error is None:
                extend(values, node, rng, regrouped, mended)
        except Exception as first:
            error = first
        if error is not None:
            failed |= dict.fromkeys(node.outputs, error)
    for v in outputs:
        if v in failed:
            raise failed[v]
        if isinstance(v, Constant):
            values[v] = np.asarray(v.data)
    return values


def _read(node: Apply, values: Values) -> Sequence[Variable]:
    """The inputs that a node looks at: of two branches the one that is taken."""
    if not isinstance(node.op, IfElse) or node.inputs[0] not in values:
        return node.inputs
    condition, x, y = node.inputs
    return [condition, x if values[condition] else y]


def extend(
    values: Values,
    node: Apply,
    rng: Random | None = None,
    regrouped: bool = False,
    mended: Mended = NOTHING,
) -> None:
    """Compute a node of which the inputs are there."""
    inputs: list[Any] = [v.data if isinstance(v, Constant) else values.get(v) for v in node.inputs]
    results = run(node, inputs)
    for out, result in zip(node.outputs, results, strict=True):
        if out in mended:
            where, other = mended[out]
            result = np.where(where, other, result)
        values[out] = result if rng is None else noisy(rng, node, inputs, result, regrouped)


class Flips(Random):
    """Noise of the signs of zeros alone: others might hide what is exactly 0."""

    def choice(self, seq: Any) -> Any:
        return super().choice((0, 1))


def noisy(
    rng: Random,
    node: Apply,
    inputs: Sequence[np.ndarray],
    result: np.ndarray,
    regrouped: bool = False,
) -> np.ndarray:
    """A result moved by a unit in the last place (of sums: of what is added up)."""
    op = node.op
    cuts = isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast)
    if cuts and result.dtype.kind in "iu" and not isinstance(rng, Flips):
        return _cut_off(rng, inputs[0], result)
    if result.dtype.kind not in "fc" or not result.size or not rounds(node):
        return result
    name = str(op.scalar_op) if isinstance(op, Elemwise) else ""
    dice = thrown(rng, result.shape) * (result == 0 if isinstance(rng, Flips) else 1)
    if _adds_at_index(op):
        dice = dice * (result != inputs[0])
    with np.errstate(all="ignore"):
        moved = _moved(result, dice)
        many = name == "add" and len(inputs) > 2
        if isinstance(op, Sum | Prod | CumOp | Dot | MatMul | LogSumExp | LogSoftmax) or many:
            moved = _added(node, inputs, result, moved, dice)
        if isinstance(op, Dot | MatMul):  # which product is rounded, and to infinity, is not known
            moved = np.where(np.isfinite(result) | (dice <= 0), moved, np.nan)
        elif regrouped and name in ("add", "sub"):
            size = np.max(np.abs(np.broadcast_arrays(*inputs)), axis=0)
            moved = np.where(np.isfinite(result), result + dice * np.spacing(size), moved)
        tiny = np.finfo(result.dtype).tiny
        moved = np.where((np.abs(moved) < tiny) & (dice > 0), result.dtype.type(0), moved)
        if name in ("mul", "true_div"):
            least = np.copysign(np.finfo(result.dtype).smallest_subnormal, result)
            moved = np.where(_vanishes(inputs, result) & (dice != 0), least, moved)
        if name in ZEROS or not name:
            moved = np.where((result == 0) & (dice > 0), -result, moved)
        return moved.astype(result.dtype)


def rounds(node: Apply) -> bool:
    """Whether a node computes with floats, and does not only move them."""
    op = node.op
    if isinstance(op, Elemwise):
        copies = isinstance(op.scalar_op, Cast) and not _narrows(node)
        return not copies and str(op.scalar_op) not in COPIES
    if _adds_at_index(op):
        return True
    return isinstance(op, Sum | Prod | CumOp | Dot | MatMul | Softmax | LogSoftmax | LogSumExp)


def _adds_at_index(op: Any) -> bool:
    """Whether an op adds to some elements, and leaves the others as they are."""
    return getattr(op, "set_instead_of_inc", None) is False


def thrown(rng: Random, shape: tuple[int, ...]) -> np.ndarray:
    """Return -1, 0 or 1 for each element; sometimes one number for all."""
    dice = np.array([rng.choice((-1, 0, 1)) for _ in range(int(np.prod(shape)))], int)
    if rng.random() < 0.25:
        dice[...] = rng.choice((-1, 1))
    return dice.reshape(shape)


def _vanishes(inputs: Sequence[np.ndarray], result: np.ndarray) -> Any:
    """Where a product is 0 only because one of its factors has hardly a digit left."""
    if result.dtype.kind != "f" or result.all():
        return False
    sides = [np.abs(x.astype(result.dtype)) for x in np.broadcast_arrays(*inputs)]
    tiny = np.finfo(result.dtype).tiny
    exact = np.any([(x == 0) | ~np.isfinite(x) for x in sides], axis=0)
    return (result == 0) & ~exact & np.any([x < tiny for x in sides], axis=0)


def _cut_off(rng: Random, x: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Integers that floats were made; any, where a float is none that the dtype has."""
    if x.dtype.kind != "f":
        return result
    info = np.iinfo(result.dtype)
    outside = ~((x > float(info.min) - 1) & (x < float(info.max) + 1))
    chosen = np.array(rng.choice((info.min, 0, 1, info.max)), result.dtype)
    return np.where(outside, chosen, result)


def _narrows(node: Apply) -> bool:
    source, target = node.inputs[0].type.numpy_dtype, node.outputs[0].type.numpy_dtype
    return not np.can_cast(source, target, "safe")


def _moved(result: np.ndarray, dice: np.ndarray) -> np.ndarray:
    if result.dtype.kind == "c":  # (an infinite part times a number makes the other one NaN)
        return np.where(
            np.isfinite(result), result * (1 + dice * np.finfo(result.dtype).eps), result
        )
    to = np.where(dice > 0, np.inf, -np.inf).astype(result.dtype)
    still = (dice == 0) | (result == 0) | ~np.isfinite(result)
    return np.where(still, result, np.nextafter(result, to))


def _added(
    node: Apply, inputs: Sequence[np.ndarray], result: np.ndarray, moved: np.ndarray, dice: Any
) -> np.ndarray:
    """Noise in units of the numbers that are added up: exponentials up to 1 in a logarithm of their
    sum.
    """
    if isinstance(node.op, LogSumExp | LogSoftmax):
        size = np.maximum(np.abs(result), 1)
    else:
        try:
            size = run(node, [np.abs(np.nan_to_num(x)) for x in inputs])[0]
        except Exception:
            return moved
    size = np.where(np.isfinite(size), size, 0).real
    error = dice * max([np.finfo(dtype).eps for dtype in inner_dtypes(node)]) * size
    return np.where(np.isfinite(result), result + error, moved)


def inner_dtypes(node: Apply) -> list[np.dtype[Any]]:
    """What a node of floats computes in: the dtypes of its result, and of what adds it up."""
    own = node.outputs[0].type.numpy_dtype
    inner = np.dtype(getattr(node.op, "acc_dtype", None) or own)
    return [dtype for dtype in (own, inner) if dtype.kind in "fc"]


def reaches_far(values: Values) -> bool:
    """Whether numbers are so large that exponentials of them have more than 400 digits."""
    floats = [a for v, a in values.items() if v.type.kind == "f"]
    return any((np.isfinite(a) & (np.abs(a) > 1000)).any() for a in floats)


def spread(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    samples: int,
    regrouped: bool = False,
    mended: Mended = NOTHING,
) -> list[list[np.ndarray]] | None:
    """Values of the outputs under noise: for each sample, one array per output. None where some
    noise makes the graph fail.
    """
    found = []
    for rng in [*map(Random, range(samples)), *map(Flips, range(8))]:
        try:
            values = evaluate(outputs, given, rng, regrouped, mended)
        except Exception:
            return None
        found.append([values[v] for v in outputs])
    return found
