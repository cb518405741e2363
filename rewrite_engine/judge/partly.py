"""Values that a graph may give as it is written, if some of its steps are exact.

A rule mends one step and leaves the next as it is, which then rounds, overflows, or compares what
is mended. So the graph is computed with many digits, and its steps are rounded to the digits of
their dtypes, with a little noise, but for some that are exact: those up to each, each alone, or all
but each (which may also keep what the reference gives). Or one of them has its true value, and what
it is made of stays as it is written. Numbers may be too large or too small for their dtypes (as in
a logarithm of them), or are made infinite and 0 then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.judge import exact
from rewrite_engine.judge.noise import Dice, inner_dtypes, rounds
from rewrite_engine.judge.values import REFERENCE
from rewrite_engine.tensor import CumOp, Dot, MatMul, Sum
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, ScaledExp

SAMPLES = 12
DIGITS = (60, 400)  # more where floats of 64 bits saturate

Values = dict[Variable, Any]


def results(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    nodes: Sequence[Apply],
    values: Values,
    regrouped: bool = False,
) -> Iterator[list[Values]]:
    """For each choice of what is exact, the values under noise. values: what the reference gives
    for each step.
    """
    steps = _steps(nodes)
    with mp.workdps(DIGITS[-1]):
        wrong = _wrong(steps, values, exact.evaluate(outputs, given))
    choices = [steps, *[steps[k + 1 :] for k in wrong]]
    choices += [[s for s in steps if s is not steps[k]] for k in wrong if k]
    choices += [[steps[k]] for k in wrong if k < len(steps) - 1]
    mended = [steps[k] for k in wrong]
    whole = [node for step in steps for node in step]
    for digits in DIGITS:
        # (nothing is handed out while the number of digits is another)
        with_digits = mp.workdps(digits)(exact.evaluate)
        true = with_digits(outputs, given)
        for ends in (False, True):
            for rounded in choices:
                chosen = [node for step in rounded for node in step]
                noise = [Rounding(Dice(k), chosen, ends, regrouped) for k in range(SAMPLES)]
                yield [with_digits(outputs, given, rounding=one) for one in noise]
            as_written = Rounding(None, whole, ends)
            for step in mended:
                kept = {v: true[v] for v in outputs_of(step) if v in true}
                yield [with_digits(outputs, given, kept, rounding=as_written)]
            written = values
            if not ends:
                written = with_digits(outputs, given, rounding=as_written)
            for step in mended:
                kept = {v: exact.exact(written[v]) for v in outputs_of(step) if v in written}
                yield [with_digits(outputs, given, kept, rounding=Rounding(None, (), ends))]


def outputs_of(step: Sequence[Apply]) -> list[Variable]:
    return [node.outputs[0] for node in step]


def _steps(nodes: Sequence[Apply]) -> list[list[Apply]]:
    """The nodes that compute with floats, those together that compute the same."""
    first: dict[Variable, Variable] = {}
    found: dict[Any, list[Apply]] = {}
    for node in nodes:
        same = found.setdefault((node.op, *[first.get(v, v) for v in node.inputs]), [])
        same.append(node)
        first |= dict(zip(node.outputs, same[0].outputs, strict=True))
    return [s for s in found.values() if rounds(s[0]) and s[0].outputs[0].type.kind == "f"]


def _wrong(steps: Sequence[Sequence[Apply]], values: Values, true: Values) -> list[int]:
    """The numbers of the steps that the reference gives another value than the true one, or of
    which nothing is known, and of those that these are made of: where else something is mended, it
    is as noise makes it.
    """

    def is_wrong(v: Variable) -> bool:
        if v.owner is None or v not in true or v not in values:
            return True
        few = 64 * max(float(np.finfo(dtype).eps) for dtype in inner_dtypes(v.owner))
        pairs = zip(np.ravel(true[v]), np.ravel(exact.exact(values[v])), strict=True)
        return not all(t == x or abs(t - x) <= few * abs(t) for t, x in pairs)

    wrong = [step for step in steps if any(map(is_wrong, outputs_of(step)))]
    parts = {v for step in wrong for node in step for v in (*node.inputs, *node.outputs)}
    return [k for k, step in enumerate(steps) if parts & {*outputs_of(step)}]


class Rounding:
    """What is taken for the results of a node: some have the digits of their dtype.

    dice: makes noise. ends: whether they also are infinite, or 0, where its exponents end.
    regrouped: whether sums may be added up in another order, so that their errors are those of what
    they add up.
    """

    def __init__(
        self,
        dice: Dice | None,
        rounded: Sequence[Apply],
        ends: bool,
        regrouped: bool = False,
    ) -> None:
        self.dice, self.rounded, self.ends, self.regrouped = dice, set(rounded), ends, regrouped

    def __call__(self, node: Apply, inputs: Sequence[Any], results: list[Any]) -> list[Any]:
        if isinstance(node.op, ScaledExp):  # which factor they have is left to the op
            kind = node.inputs[0].type.numpy_dtype
            return [exact.exact(REFERENCE.plain(node, [inputs[0].astype(kind)])[0])]
        results = [self.signed(node, inputs, result) for result in results]
        if node not in self.rounded:
            return results
        (result,) = results
        eps = max(float(np.finfo(dtype).eps) for dtype in inner_dtypes(node))
        info = np.finfo(node.outputs[0].type.dtype) if self.ends else None
        sizes, thrown = self.sizes(node, inputs, result), np.zeros(result.shape, int)
        if self.dice is not None:
            thrown = self.dice.throw(result.shape)
        rounded = np.frompyfunc(partial(_rounded, eps, info), 3, 1)
        return [np.asarray(rounded(result, sizes, thrown), object)]

    def signed(self, node: Apply, inputs: Sequence[Any], result: Any) -> Any:
        """A quotient by a computed 0, whose sign may be another: infinite either way."""
        divides = str(getattr(node.op, "scalar_op", "")) == "true_div"
        if self.dice is None or not divides or not _has_signs(node.inputs[1]):
            return result
        turned = (exact.exact(inputs[1]) == 0) & (self.dice.throw(result.shape) > 0)
        return np.where(turned, -result, result)

    def sizes(self, node: Apply, inputs: Sequence[Any], result: Any) -> Any:
        """Return the sizes to which errors are relative."""
        adds = str(getattr(node.op, "scalar_op", "")) in ("add", "sub")
        if isinstance(node.op, LogSumExp | LogSoftmax):
            return np.maximum(abs(result), mpf(1))
        if isinstance(node.op, Sum | CumOp | Dot | MatMul):
            return exact.compute(node, [np.asarray(abs(exact.exact(x))) for x in inputs])[0]
        if adds and (self.regrouped or len(inputs) > 2):
            return sum([abs(exact.exact(x)) for x in inputs])
        return result


def _has_signs(v: Variable) -> bool:
    """Whether what is computed may be below 0."""
    if v.owner is None or v.type.kind != "f":
        return False
    known = getattr(getattr(v.owner.op, "scalar_op", None), "range", None)
    return known is None or known[0] < 0


def _rounded(eps: float, info: Any, t: Any, size: Any, die: int) -> Any:
    """A number with the digits of a dtype, moved by a unit of what its error is a fraction of."""
    if t - t == 0 != t:
        unit = mp.ldexp(eps, mp.mag(t) - 1)
        t = mp.nint(t / unit) * unit
    if die and size and t - t == 0 == size - size:
        t += die * mp.ldexp(eps, mp.mag(size) - 1)
    if info is not None and abs(t) > float(info.max):
        return mp.sign(t) * exact.INF
    if info is not None and abs(t) < float(info.tiny):
        return mpf(float(info.dtype.type(float(t))))
    return t


def is_among(f: Any, samples: Sequence[Any]) -> bool:
    """Whether a number is one of some, or as near to one as they vary."""
    if f.dtype.kind != "f":
        return any(t == f for t in samples)
    if f != f:
        return any(t != t for t in samples)
    info, x = np.finfo(f.dtype), mpf(float(f))
    if x - x != 0:
        return any(t * mp.sign(x) > 0.99 * float(info.max) for t in samples)
    numbers = sorted([t for t in samples if t - t == 0])
    if not numbers or numbers[0] < x < numbers[-1]:
        return bool(numbers)
    nearest = min(numbers, key=lambda t: abs(t - x))
    apart = sorted([abs(t - nearest) for t in numbers])[(len(numbers) - 1) // 2]
    jumps = all(t == mp.floor(t) and abs(t) * float(info.eps) < 1 for t in numbers)
    slack = 0 if jumps else 20 * apart
    return bool(abs(nearest - x) <= max(slack, 4 * float(info.eps) * abs(x)))
