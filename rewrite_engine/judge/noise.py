"""Noise: how well a value is determined. Every result of floating point is moved by a unit in the
last place at random (of a sum: of what it adds up), in loops at every step; what the outputs vary
by then is what rewriting may change.

A number below the smallest normal one may become 0 (as SciPy's functions have it), and a product
of it that is 0 may become the smallest number. An op that is neither elementwise nor a sum, such as
a decomposition, computes the exact result of slightly other inputs: these are moved, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.judge.values import REFERENCE, NoValue, Runner, TermValues
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    Alloc,
    Argmax,
    CumOp,
    DimShuffle,
    Dot,
    Elemwise,
    IncSubtensor,
    Join,
    MakeVector,
    MatMul,
    Max,
    Min,
    Prod,
    Reshape,
    Softmax,
    SpecifyShape,
    Subtensor,
    Sum,
)  # fmt: skip
from rewrite_engine.tensor.index.diagonals import Diagonal
from rewrite_engine.tensor.shaping.joins import Split
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, ScaledExp

Values = dict[Variable, np.ndarray]
#: {variable: (where, numbers)}: results of steps that are replaced
Mended = Mapping[Variable, tuple[np.ndarray, np.ndarray]]
NOTHING: Mended = {}

SAMPLES = 12  # runs with noise
#: how far a mended value may be from the truth, where noise cannot tell: units in the last place
MENDED = {"float64": 1 << 20, "float32": 1 << 12, "float16": 1 << 5}
REACH = 20  # a difference of so many times what noise makes is still rounding
MAX_INNER_RUNS = 2_000  # of nodes in loops, with noise in each; then only the states get some
#: scalar functions that round nothing
COPIES = frozenset(
    "neg abs sign maximum minimum clip switch second identity floor ceil trunc round".split()
)
#: scalar functions where rules may change the sign of a zero
SIGNS = frozenset("add sub mul true_div sqrt log log2 log10 log1p expm1 logaddexp".split())
#: ops that only move numbers, and work on arrays of any objects
MOVING = (
    DimShuffle, Reshape, Subtensor, AdvancedSubtensor, IncSubtensor, AdvancedIncSubtensor, Alloc,
    SpecifyShape, Assume, Diagonal, Split,
)  # fmt: skip
#: ops that choose among numbers, or join them (a factor of scaled exponentials is the op's choice)
CHOOSING = (Max, Min, Argmax, Join, MakeVector, ScaledExp)
#: ops that add up, or multiply, many numbers
SUMMING = (Sum, Prod, CumOp, Dot, MatMul, Softmax, LogSumExp, LogSoftmax)


class Dice:
    """Random moves. zeros_only: only the signs of zeros change (other noise might hide what is
    exactly 0).
    """

    def __init__(self, seed: int, zeros_only: bool = False) -> None:
        self.random, self.zeros_only = np.random.default_rng(seed), zeros_only

    def throw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return -1, 0 or 1 for each element; one time in four, one number for all."""
        low = 0 if self.zeros_only else -1
        if self.random.random() < 0.25:
            number = self.random.integers(0, 2) if self.zeros_only else self.random.choice((-1, 1))
            return np.full(shape, number)
        return self.random.integers(low, 2, shape)


def noises(samples: int = SAMPLES, flips: int = 0) -> list[Dice]:
    """Return dice for some runs, and for some more in which only the signs of zeros change."""
    return [*map(Dice, range(samples)), *[Dice(k, zeros_only=True) for k in range(flips)]]


class NoisyRunner:
    """Runs nodes with noise in each result. regrouped: as if what is added up in steps were added
    up in another order; mended: results of steps to replace.
    """

    def __init__(
        self, base: Runner, dice: Dice | None, regrouped: bool = False, mended: Mended = NOTHING
    ) -> None:
        self.base, self.dice, self.regrouped, self.mended = base, dice, regrouped, mended
        self.inner_runs = 0

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the results of a node. Raises the errors of the node."""
        op, dice = node.op, self.dice
        if dice is not None and not dice.zeros_only and is_black_box(node):
            given = [moved(dice, x) for x in given]
        if dice is None or not isinstance(op, HasInnerGraph) or op.runs is None or op.mode:
            found = self.base.plain(node, given)
        else:
            result = op.runs(node, self.body(op))(*given)
            found = [result] if len(node.outputs) == 1 else list(result)
        return [self._changed(v, node, given, x) for v, x in zip(node.outputs, found, strict=True)]

    plain = run

    def _changed(self, v: Variable, node: Apply, given: Sequence[Any], result: Any) -> Any:
        if v in self.mended:
            where, other = self.mended[v]
            result = np.where(where, other, result)
        if self.dice is None or not isinstance(result, np.ndarray):
            return result
        return noisy(self.dice, node, given, result, self.regrouped)

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function of the graph inside an op, with noise that grows from step to
        step.
        """
        graph, plain = op.fgraph, self.base.body(op)
        single = len(graph.outputs) == 1
        assert self.dice is not None
        dice = self.dice

        def run(*values: Any) -> Any:
            self.inner_runs += len(graph)
            if self.inner_runs > MAX_INNER_RUNS:
                found = plain(*values)
                return moved(dice, found) if single else [moved(dice, x) for x in found]
            inside = TermValues(self, dict(zip(graph.inputs, values, strict=True)))
            found = [inside.value(v) for v in graph.outputs]
            return found[0] if single else found

        return run


def evaluate(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    dice: Dice | None = None,
    regrouped: bool = False,
    mended: Mended = NOTHING,
) -> Values:
    """Return the values of all variables that outputs are computed from, with the outputs. Raises
    the first error of a node that they need.
    """
    run = TermValues(
        NoisyRunner(REFERENCE, dice, regrouped, mended),
        {v: np.asarray(a) for v, a in given.items()},
    )
    try:
        for v in outputs:
            run.values[v] = np.asarray(run.value(v))
    except NoValue as missing:
        raise missing.__cause__ or missing from None
    return run.values


def spread(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    samples: int,
    regrouped: bool = False,
    mended: Mended = NOTHING,
) -> list[list[np.ndarray]] | None:
    """Return values of the outputs under noise: for each sample, one array per output. None if some
    noise makes the graph fail.
    """
    found = []
    for dice in noises(samples, 8):
        try:
            values = evaluate(outputs, given, dice, regrouped, mended)
        except Exception:
            return None
        found.append([values[v] for v in outputs])
    return found


def samples_of(
    values: TermValues, term: Variable, nodes: Sequence[Apply], given: Mapping[Variable, Any]
) -> list[Any]:
    """Return values of a term under noise; none if some noise makes it fail. nodes: those to
    compute again, from given values of others.
    """
    found = []
    for dice in noises():
        try:
            runner = NoisyRunner(values.runner, dice)
            found.append(values.replayed(term, nodes, given, runner))
        except Exception:
            return []
    return found


# --- noise in one result --------------------------------------------------------------------------


def moved(dice: Dice, value: Any) -> Any:
    """Return a value with each float moved by a unit in the last place at random, or not. 0 may
    become -0.0, and a number below the smallest normal one 0.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
        return value
    if value.dtype.kind == "c":
        parts = moved(dice, value.real.copy()), moved(dice, value.imag.copy())
        return np.asarray(parts[0] + 1j * parts[1], value.dtype)
    thrown = dice.throw(value.shape) * (value == 0 if dice.zeros_only else 1)
    with np.errstate(all="ignore"):
        found = _by_a_unit(value, thrown)
        found = np.where((value == 0) & (thrown > 0), -value, found)
        tiny = (np.abs(found) < np.finfo(value.dtype).tiny) & (thrown > 0)
        return np.where(tiny, value.dtype.type(0), found).astype(value.dtype)


def noisy(
    dice: Dice, node: Apply, inputs: Sequence[Any], result: np.ndarray, regrouped: bool = False
) -> np.ndarray:
    """Return a result of a node, moved by a unit in the last place (of sums: of what is added
    up).
    """
    op = node.op
    cuts = isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast)
    if cuts and result.dtype.kind in "iu" and not dice.zeros_only:
        return _cut_off(dice, inputs[0], result)
    if result.dtype.kind not in "fc" or not result.size or not rounds(node):
        return result
    name = str(op.scalar_op) if isinstance(op, Elemwise) else ""
    thrown = dice.throw(result.shape) * (result == 0 if dice.zeros_only else 1)
    if _adds_at_index(op):
        thrown = thrown * (result != inputs[0])
    with np.errstate(all="ignore"):
        found = _by_a_unit(result, thrown)
        many = name == "add" and len(inputs) > 2
        if (isinstance(op, SUMMING) and not isinstance(op, Softmax)) or many:
            found = _added(node, inputs, result, found, thrown)
        if isinstance(op, Dot | MatMul):  # which product is rounded, and to infinity, is not known
            found = np.where(np.isfinite(result) | (thrown <= 0), found, np.nan)
        elif regrouped and name in ("add", "sub"):
            size = np.max(np.abs(np.broadcast_arrays(*inputs)), axis=0)
            found = np.where(np.isfinite(result), result + thrown * last_unit(size), found)
        tiny = np.finfo(result.dtype).tiny
        found = np.where((np.abs(found) < tiny) & (thrown > 0), result.dtype.type(0), found)
        if name in ("mul", "true_div"):
            least = np.copysign(np.finfo(result.dtype).smallest_subnormal, result)
            found = np.where(_vanishes(inputs, result) & (thrown != 0), least, found)
        if name in SIGNS or not name:
            found = np.where((result == 0) & (thrown > 0), -result, found)
        return found.astype(result.dtype)


def rounds(node: Apply) -> bool:
    """Whether a node computes with floats, and does not only move or choose them."""
    op = node.op
    if isinstance(op, Elemwise):
        copies = isinstance(op.scalar_op, Cast) and not _narrows(node)
        return not copies and str(op.scalar_op) not in COPIES
    return _adds_at_index(op) or isinstance(op, SUMMING) or is_black_box(node)


def is_black_box(node: Apply) -> bool:
    """Whether an op computes in a way that nothing is known of."""
    op = node.op
    known = (Elemwise, HasInnerGraph, *MOVING, *CHOOSING, *SUMMING)
    if isinstance(op, known) or op.view_map:
        return False
    floats = [v for v in node.outputs if getattr(v.type, "kind", "?") in "fc"]
    return bool(floats) and op.determined


def _adds_at_index(op: Any) -> bool:
    """Whether an op adds to some elements, and leaves the others as they are."""
    return getattr(op, "set_instead_of_inc", None) is False


def _vanishes(inputs: Sequence[np.ndarray], result: np.ndarray) -> Any:
    """Where a product is 0 only because one of its factors has hardly a digit left."""
    if result.dtype.kind != "f" or result.all():
        return False
    sides = [np.abs(x.astype(result.dtype)) for x in np.broadcast_arrays(*inputs)]
    tiny = np.finfo(result.dtype).tiny
    exact = np.any([(x == 0) | ~np.isfinite(x) for x in sides], axis=0)
    return (result == 0) & ~exact & np.any([x < tiny for x in sides], axis=0)


def _cut_off(dice: Dice, x: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Integers that floats were made; any, where a float is none that the dtype has."""
    if x.dtype.kind != "f":
        return result
    info = np.iinfo(result.dtype)
    outside = ~((x > float(info.min) - 1) & (x < float(info.max) + 1))
    chosen = np.array([info.min, 0, 1, info.max][dice.random.integers(4)], result.dtype)
    return np.where(outside, chosen, result)


def _narrows(node: Apply) -> bool:
    source, target = node.inputs[0].type.numpy_dtype, node.outputs[0].type.numpy_dtype
    return not np.can_cast(source, target, "safe")


def _by_a_unit(result: np.ndarray, thrown: np.ndarray) -> np.ndarray:
    """Move numbers that are neither 0 nor infinite by a unit in the last place, up or down."""
    if result.dtype.kind == "c":  # (an infinite part times a number makes the other one NaN)
        wide = result * (1 + thrown * np.finfo(result.dtype).eps)
        return np.where(np.isfinite(result), wide, result)
    to = np.where(thrown > 0, np.inf, -np.inf).astype(result.dtype)
    still = (thrown == 0) | (result == 0) | ~np.isfinite(result)
    return np.where(still, result, np.nextafter(result, to))


def _added(
    node: Apply, inputs: Sequence[Any], result: np.ndarray, found: np.ndarray, thrown: Any
) -> np.ndarray:
    """Noise in units of the numbers that are added up: exponentials up to 1 in a logarithm of their
    sum.
    """
    if isinstance(node.op, LogSumExp | LogSoftmax):
        size = np.maximum(np.abs(result), 1)
    else:
        try:
            sizes = [np.abs(np.nan_to_num(x)) for x in inputs]
            size = np.asarray(REFERENCE.plain(node, sizes)[0])
        except Exception:
            return found
    size = np.where(np.isfinite(size), size, 0).real
    error = thrown * max([np.finfo(dtype).eps for dtype in inner_dtypes(node)]) * size
    return np.where(np.isfinite(result), result + error, found)


def inner_dtypes(node: Apply) -> list[np.dtype[Any]]:
    """The dtypes in which a node of floats computes: those of its result, and of its sums."""
    own = node.outputs[0].type.numpy_dtype
    inner = np.dtype(getattr(node.op, "acc_dtype", None) or own)
    return [dtype for dtype in (own, inner) if dtype.kind in "fc"]


# --- what values vary by --------------------------------------------------------------------------


def last_unit(size: Any) -> Any:
    """Return units in the last place of numbers; of the largest ones that of those below."""
    size = np.abs(size)
    return np.spacing(np.minimum(size, size.dtype.type(0.99) * np.finfo(size.dtype).max))


def is_nan(a: Any) -> Any:
    """Where values are NaN; a complex number with an infinite part is infinite."""
    if np.asarray(a).dtype.kind not in "fc":
        return np.zeros(np.shape(a), bool)
    return np.isnan(a) & ~np.isinf(a)


def within(a: Any, b: Any, samples: Sequence[Any], units: float = 1.0) -> Any:
    """Return where b is as near to a as samples of a, or within units in its last place (times
    `REACH`).
    """
    kind = a.dtype.kind
    found = [s for s in samples if np.shape(s) == a.shape]
    with np.errstate(all="ignore"):
        same = (a == b) | (is_nan(a) & is_nan(b))
        for s in found:
            same = same | (s == b) | (is_nan(s) & is_nan(b))
        if kind not in "fc":
            return same
        size = np.maximum(np.abs(a), np.abs(b))
        around = units * last_unit(size)
        for s in found:
            around = np.maximum(around, np.nan_to_num(np.abs(s - a), nan=0, posinf=0))
        near = np.abs(a - b) <= REACH * around
        return same | (near & np.isfinite(a) & np.isfinite(b))


def explains(run: Callable[[Sequence[Any]], Any], given: Sequence[Any], a: Any, b: Any) -> bool:
    """Whether the second value of a function differs from the first by no more than noise in its
    arguments explains.
    """
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype.kind not in "fc":
        return False
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    samples = []
    for dice in noises():
        try:
            samples.append(run([moved(dice, x) for x in given]))
        except Exception:
            return False
    return bool(within(a, b, samples).all())


def reaches_far(values: Values) -> bool:
    """Whether numbers are so large that exponentials of them have more than 400 digits."""
    floats = [a for v, a in values.items() if v.type.kind == "f"]
    return any((np.isfinite(a) & (np.abs(a) > 1000)).any() for a in floats)
