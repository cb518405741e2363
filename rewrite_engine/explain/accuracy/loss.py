"""Steps that lose digits: of each node the worst element, or step of a loop.

A step loses the digits by which its result has fewer than the worst of its inputs. Errors of inputs
of sums, products and matrices are relative to all that is added up; those of matrices, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.explain.accuracy.error import ValuePair, all_digits, digits
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge import exact, truth, wide
from rewrite_engine.judge.exact import MOVING, NotKnown
from rewrite_engine.judge.truth import _MatrixOp
from rewrite_engine.judge.values import REFERENCE
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor.blockwise import Blockwise
from rewrite_engine.tensor.flow.branches import IfElse
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.index.subtensor import BaseInc
from rewrite_engine.tensor.order.sorting import SortOp
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, Softmax

NAME_WIDTH = 30  # characters of a term inside a sentence
MOSTLY = 0.5  # part of an error from which it is the step's own
MAX_MOVED = 100  # numbers that are changed one by one, for a condition number
MAX_NUMBERS = 20_000  # inputs of a step that is computed again, for its own rounding
MIN_LOST = 1.0  # digits: smaller losses are not reported
#: ops that lose no digits
ONLY_MOVING = (
    *[cls for cls in MOVING if cls not in (pt.IncSubtensor, pt.AdvancedIncSubtensor)],
    pt.Join, pt.MakeVector, IfElse, CheckAndRaise, SortOp, pt.AllocEmpty,
)  # fmt: skip
STEP = 12  # digits of the relative change from which a condition number is estimated


@dataclass(slots=True, eq=False)
class Loss:
    """Loss of digits at a node, where it is worst. output: which of its outputs. index: the
    element, None for a matrix as a whole. before, after: right digits of the inputs and the result.
    path: the ops that hold the node.
    """

    node: Apply
    path: tuple[Apply, ...]
    output: int
    index: tuple[int, ...] | None
    before: float
    after: float
    inputs: Sequence[ValuePair]
    results: Sequence[ValuePair]

    @property
    def lost(self) -> float:
        """Return the number of digits that the step loses."""
        return self.before - self.after

    @property
    def computed(self) -> Any:
        """Return the computed number; None for a matrix."""
        a = self.results[self.output].computed
        return None if self.index is None else np.asarray(a)[self.index]

    @property
    def true(self) -> Any:
        """Return the exact number; None for a matrix."""
        a = self.results[self.output].true
        return None if self.index is None else _item(a, self.index)


def _item(a: Any, index: tuple[int, ...]) -> Any:
    return np.asarray(a)[index] if np.ndim(a) else np.asarray(a).item()


class Losses:
    """Collects the worst loss of each node: a watcher for `Lockstep`."""

    def __init__(self) -> None:
        self.worst: dict[tuple[Any, ...], Loss] = {}
        self.holders: dict[Apply, Sequence[ValuePair]] = {}  # results of ops that hold graphs

    def __call__(
        self, node: Apply, inputs: Sequence[ValuePair], results: Sequence[ValuePair], path: Any
    ) -> None:
        if isinstance(node.op, ONLY_MOVING):
            return
        if isinstance(node.op, HasInnerGraph) and not path:
            self.holders[node] = results
        for k, x in enumerate(results):
            if not x.is_number or not np.size(x.computed):
                continue
            found = _loss(node, path, k, inputs, x, results)
            key = (*path, node)
            old = self.worst.get(key)
            least = MIN_LOST if old is None else old.lost
            if found is not None and found.lost >= least:  # (others would keep their arrays)
                self.worst[key] = found

    def ranked(self) -> list[Loss]:
        """Return the losses, the largest first."""
        return sorted(self.worst.values(), key=lambda one: -one.lost)


def _loss(
    node: Apply,
    path: Any,
    k: int,
    inputs: Sequence[ValuePair],
    x: ValuePair,
    results: Sequence[ValuePair],
) -> Loss | None:
    dtype = np.asarray(x.computed).dtype
    most = all_digits(dtype)
    if isinstance(getattr(node.op, "scalar_op", None), Cast):  # it may be to a narrower dtype
        most = max(most, *[all_digits(np.asarray(a.computed).dtype) for a in inputs])
    own = x.error
    if is_matrix(node.op):
        own = np.asarray(_whole(x, own))
    with np.errstate(all="ignore"):
        before = digits(np.maximum(_input_error(node, inputs, own), 0.0), most)
        after = np.minimum(digits(own, most), most)
        lost = np.broadcast_to(before - after, np.shape(own))
        if np.isnan(lost).all():
            return None
        place = np.unravel_index(int(np.nanargmax(lost)), lost.shape) if lost.ndim else ()
    at = tuple([int(i) for i in place])
    before = float(np.broadcast_to(before, lost.shape)[at])
    index = None if is_matrix(node.op) else at
    return Loss(node, path, k, index, before, before - float(lost[at]), inputs, results)


def is_matrix(op: Any) -> bool:
    """Return whether an op works on matrices as a whole."""
    core = op.core_op if isinstance(op, Blockwise) else op
    return isinstance(core, _MatrixOp)


def _input_error(node: Apply, inputs: Sequence[ValuePair], own: Any) -> Any:
    """Return the relative error of the worst input, for each element of a result."""
    op = node.op
    numbers = [x for x in inputs if x.is_number]
    if isinstance(op, pt.Elemwise):
        return _joined([np.broadcast_to(x.error, np.shape(own)) for x in numbers])
    if isinstance(op, pt.Dot | pt.MatMul) and len(numbers) == 2:
        return _of_factors(op, *numbers)
    if adds_at_index(op):
        return _of_added(node, inputs)
    axes = axes_of(op, numbers)
    if axes is not None:
        (x,) = numbers
        keepdims = np.ndim(own) == np.ndim(x.error)
        return _along(x, axes, keepdims)
    return _joined([np.asarray(_whole(x, x.error)) for x in numbers])


def _joined(errors: Sequence[Any]) -> Any:
    """Return the worst of some errors; unknown ones do not count."""
    found: Any = np.zeros(())
    for one in errors:
        found = np.fmax(found, one)
    return found


def axes_of(op: Any, numbers: Sequence[ValuePair]) -> tuple[int, ...] | None:
    """Return the axes along which an op combines the elements of its only input of floats; None for
    other ops.
    """
    kinds = pt.Sum | pt.Prod | pt.Max | pt.Min | pt.CumOp | Softmax | LogSoftmax | LogSumExp
    if not isinstance(op, kinds) or len(numbers) != 1:
        return None
    if op.axis is None:
        return tuple(range(np.ndim(numbers[0].computed)))
    return (op.axis,) if isinstance(op.axis, int) else tuple(op.axis)


def _along(x: ValuePair, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the error of all elements along axes, relative to their sizes."""
    size, error = np.abs(_floats(x)), x.error
    finite = np.isfinite(error)
    with np.errstate(all="ignore"):
        apart = np.where(finite, np.where(error == 0, 0, error * size), size)
        total = np.nansum(size, axis=axes, keepdims=keepdims)
        found = np.nansum(apart, axis=axes, keepdims=keepdims) / total
    return np.where(np.isfinite(found), found, 0.0)


def _of_factors(op: Any, x: ValuePair, y: ValuePair) -> Any:
    """Return the errors of products' operands, relative to all that is added up."""
    product = np.dot if isinstance(op, pt.Dot) else np.matmul
    a, b = np.abs(_floats(x)), np.abs(_floats(y))
    of_a, of_b = [np.where(np.isfinite(v.error), v.error, 1.0) * s for v, s in ((x, a), (y, b))]
    found = (product(of_a, b) + product(a, of_b)) / product(a, b)
    return np.where(np.isfinite(found), found, 0.0)


def adds_at_index(op: Any) -> bool:
    """Return whether an op adds numbers at an index."""
    return isinstance(op, BaseInc) and not op.set_instead_of_inc


def _of_added(node: Apply, inputs: Sequence[ValuePair]) -> Any:
    """Return the errors of what is added at an index, relative to all that is added up there."""
    sizes = [np.abs(_floats(x)) if x.is_number else x.computed for x in inputs]
    errors = [
        np.where(np.isfinite(x.error), x.error, 1.0) * size if x.is_number else size
        for x, size in zip(inputs, sizes, strict=True)
    ]
    found = (
        REFERENCE.plain(node, _as_dtypes(node, errors))[0]
        / REFERENCE.plain(node, _as_dtypes(node, sizes))[0]
    )
    return np.where(np.isfinite(found), found, 0.0)


def _as_dtypes(node: Apply, arrays: Sequence[Any]) -> list[Any]:
    pairs = zip(arrays, node.inputs, strict=True)
    return [np.asarray(a, v.type.dtype) if v.type.kind == "f" else a for a, v in pairs]


def _whole(x: ValuePair, error: Any) -> float:
    """Return the error of an array, relative to the sizes of its elements."""
    if not np.size(error):
        return 0.0
    size = np.abs(_floats(x))
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(error) & ~np.isnan(error)
        if bad.any() and not (np.isfinite(size[bad]).all() and np.isfinite(x.computed[bad]).all()):
            return float("inf")
        apart = np.where(bad, size + np.abs(x.computed), np.where(error == 0, 0, error * size))
        total = float(np.nansum(size))
        found = float(np.nansum(apart)) / total if total else float(np.nansum(apart) > 0)
    return found if np.isfinite(found) else 0.0


def _floats(x: ValuePair) -> Any:
    """Return the exact numbers as floats."""
    if np.asarray(x.true).dtype != object:
        return np.asarray(x.true, float)
    with np.errstate(all="ignore"):
        return np.asarray(np.frompyfunc(lambda t: float(abs(t)), 1, 1)(x.true), float)


# --- why ---------------------------------------------------------------------------------------


def condition(loss: Loss) -> float | None:
    """Return the condition number of a step at its exact inputs: the relative change of the result
    for small relative changes of the inputs, added up. None where it is not known. For matrices,
    that of the matrix.
    """
    op: Any = loss.node.op
    try:
        if isinstance(op, pt.Elemwise):
            return _of_elements(loss)
        if isinstance(op, pt.Sum):
            return _of_sum(loss)
        if isinstance(op, pt.Dot | pt.MatMul):
            return _of_product(loss)
        if adds_at_index(op):
            sizes = [np.abs(_floats(x)) if x.is_number else x.computed for x in loss.inputs]
            whole = REFERENCE.plain(loss.node, _as_dtypes(loss.node, sizes))[0]
            return float(whole[loss.index] / abs(float(loss.true))) if loss.true else None
        if is_matrix(op):
            with np.errstate(all="ignore"):
                found = np.linalg.cond(np.asarray(loss.inputs[0].computed))
            return float(np.max(found))
        return _by_differences(loss)
    except (NotKnown, ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError):
        pass
    return None


def elements(loss: Loss, of: str) -> list[Any]:
    """Return the inputs of an elementwise step at its worst element, as 0-d arrays."""
    assert loss.index is not None
    shape = np.shape(loss.results[loss.output].computed)
    found = []
    for x in loss.inputs:
        a = np.broadcast_to(np.asarray(getattr(x, of)), shape)[loss.index]
        a = np.asarray(a, object) if isinstance(a, mpf | mp.mpc) else np.asarray(a)
        found.append(wide.as_exact(a) if a.dtype == wide.WIDE else a)
    return found


def _of_elements(loss: Loss) -> float | None:
    given = elements(loss, "true")
    (y,) = [truth.results(loss.node, given)[loss.output].item()]
    if y != y or y == 0 or mp.isinf(y):
        return None
    step, total = mpf(10) ** -STEP, mpf(0)
    for i, x in enumerate(given):
        if x.dtype != object:
            continue
        moved = [*given]
        moved[i] = np.asarray(x.item() * (1 + step), object)
        total += abs(truth.results(loss.node, moved)[loss.output].item() - y)
    return float(total / (abs(y) * step))


def _by_differences(loss: Loss) -> float | None:
    """Return the condition number from a change of each number of the inputs."""
    numbers = [i for i, x in enumerate(loss.inputs) if x.is_number]
    y = loss.true
    if sum(np.size(loss.inputs[i].computed) for i in numbers) > MAX_MOVED or not y or y - y != 0:
        return None
    step, total = mpf(10) ** -STEP, mpf(0)
    given = [wide.as_exact(x.true) if x.is_number and x.true.dtype == wide.WIDE else x.true
             for x in loss.inputs]  # fmt: skip
    for i in numbers:
        for place in np.ndindex(given[i].shape):
            moved = [*given]
            moved[i] = given[i].copy()
            moved[i][place] *= 1 + step
            total += abs(truth.results(loss.node, moved)[loss.output][loss.index] - y)
    return float(total / (abs(y) * step))


def _of_sum(loss: Loss) -> float | None:
    op, size = loss.node.op, np.abs(_floats(loss.inputs[0]))
    axes = None if op.axis is None else tuple(op.axis)
    total = np.asarray(np.sum(size, axis=axes, keepdims=op.keepdims))
    return float(total[loss.index] / abs(float(loss.true))) if loss.true else None


def _of_product(loss: Loss) -> float | None:
    a, b = factors(loss, [np.abs(_floats(x)) for x in loss.inputs])
    true = loss.true
    return float(np.asarray(np.matmul(a, b))) / abs(float(true)) if true else None


def factors(loss: Loss, arrays: Sequence[Any]) -> tuple[Any, Any]:
    """Return the vectors whose product is the worst element of a product of arrays."""
    (a, b), index = arrays, loss.index
    if a.ndim == 0 or b.ndim == 0:
        raise NotKnown
    place = [*(index or ())]
    column = place.pop() if b.ndim > 1 else None
    row = place.pop() if a.ndim > 1 else None
    a, b = [x[tuple(place[len(place) - (x.ndim - 2) :])] if x.ndim > 2 else x for x in (a, b)]
    return a if row is None else a[row], b if column is None else b[:, column]


def own_share(loss: Loss) -> float | None:
    """Return which part of the error at a step its own rounding (or overflow) makes: the rest was
    there in its inputs, and grew. None where it is not known.
    """
    x = loss.results[loss.output]
    try:
        right = _right(loss)
    except (NotKnown, ValueError, TypeError, IndexError, ArithmeticError):
        return None
    if loss.index is None:
        return _share_of_matrix(x, right)
    f, t = loss.computed, loss.true
    if not np.isfinite(f):
        return 1.0 if right - right == 0 else 0.0
    number = mp.mpc if np.iscomplexobj(f) else mpf
    python = complex if np.iscomplexobj(f) else float
    whole, own = abs(number(python(f)) - t), abs(number(python(f)) - right)
    return float(min(own / whole, mpf(1))) if whole and whole - whole == 0 else None


def _right(loss: Loss) -> Any:
    """Return the exact result of a step for the computed inputs, at its worst element."""
    node, op = loss.node, loss.node.op
    if isinstance(op, pt.Elemwise):
        given = [exact.exact(a) if a.dtype.kind in "fc" else a for a in elements(loss, "computed")]
        return truth.results(node, given)[loss.output].item()
    if isinstance(op, pt.Dot | pt.MatMul):
        a, b = factors(loss, [np.asarray(x.computed) for x in loss.inputs])
        return np.dot(exact.exact(a), exact.exact(b))
    if sum(np.size(x.computed) for x in loss.inputs) > MAX_NUMBERS:
        raise NotKnown
    arrays = [exact.exact(a.computed) if a.is_number else a.computed for a in loss.inputs]
    found = np.asarray(truth.results(node, arrays, _found(loss))[loss.output])
    return found if loss.index is None else found[loss.index]


def _found(loss: Loss) -> list[Any]:
    return [x.computed for x in loss.results]


def _share_of_matrix(x: ValuePair, right: Any) -> float | None:
    rounded = np.asarray(np.frompyfunc(float, 1, 1)(right), float)
    true = np.asarray(np.frompyfunc(float, 1, 1)(exact.exact(x.true)), float)
    with np.errstate(all="ignore"):
        whole, own = np.abs(x.computed - true).sum(), np.abs(x.computed - rounded).sum()
    return float(min(own / whole, 1.0)) if whole > 0 and np.isfinite(whole) else None


def strange(loss: Loss, own: float | None) -> str:
    """Return what overflows or underflows at a step, in words: an input, or its own result. own:
    `own_share`.
    """
    pairs = [(hooks.short(v, NAME_WIDTH), x) for v, x in zip(loss.node.inputs, loss.inputs)]
    elementwise = isinstance(loss.node.op, pt.Elemwise) and loss.index is not None
    for name, x in pairs:
        if not x.is_number or (elementwise and not np.size(x.computed)):
            continue
        computed, true = np.asarray(x.computed), np.asarray(x.true)
        if elementwise:
            shape = np.shape(loss.results[loss.output].computed)
            computed = np.broadcast_to(computed, shape)[loss.index]
            true = np.broadcast_to(true, shape)[loss.index]
        if word := _strange(computed, true):
            return f"{name} {word}"
    if loss.index is None or (own is not None and own < MOSTLY):
        return ""
    word = _strange(np.asarray(loss.computed), np.asarray(loss.true))
    return word if word or not np.isnan(loss.computed) else "is nan"


def _strange(computed: Any, true: Any) -> str:
    """Return whether numbers are infinite, or 0, that are not so exactly."""
    finite = np.asarray(true - true == 0, bool)
    if np.any(np.isinf(computed) & finite):
        return "overflows"
    return "underflows" if np.any((computed == 0) & finite & (true != 0)) else ""


def repaired(node: Apply, results: Sequence[ValuePair]) -> dict[Any, Any]:
    """Return the outputs of a node with their exact values, as near as their dtypes have them."""
    found = {}
    for v, x in zip(node.outputs, results, strict=True):
        if not x.is_number:
            continue
        if np.asarray(x.true).dtype == wide.WIDE:
            new = np.asarray(x.true).astype(v.type.dtype)
        else:
            new = np.asarray(truth.narrowed(np.asarray(x.true), v))
        found[v] = new if x.mask is None else np.where(x.mask, new, x.computed)
    return found
