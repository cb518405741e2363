"""Which steps are to blame for lost digits, and which firings of rules changed them.

A step is to blame for the part of an output's error that is gone once the step is exact: the graph
runs again from there. Firings are found by halving: the graph is run as it was after some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.compile import Mode, function
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.explain.accuracy.computed import Floats
from rewrite_engine.explain.accuracy.error import ValuePair, all_digits, are_zero, digits
from rewrite_engine.explain.accuracy.loss import Loss, repaired
from rewrite_engine.explain.accuracy.recorded import record_alone
from rewrite_engine.explain.accuracy.report import OutputAccuracy, RuleEffect
from rewrite_engine.explain.record import FunctionRecord
from rewrite_engine.explain.states import graph_until, own_steps
from rewrite_engine.graph.node import Apply

if TYPE_CHECKING:
    from rewrite_engine.explain.accuracy.study import Graph

MAX_CANDIDATES = 40  # steps that are tried
MIN_SHARE = 0.02  # of an output's error: steps with less do not matter
MIN_CHANGE = 1.0  # digits that a firing changes, to be reported
MAX_FIRINGS = 3  # of one output


@dataclass(frozen=True, slots=True)
class Cause:
    """Step that loses digits, and its part in the error of an output (its number); for a step
    inside of a loop, that of the loop.
    """

    loss: Loss
    share: float
    output: int | None

    @property
    def matters(self) -> bool:
        """Return whether an output would be better if the step were exact."""
        return self.share >= MIN_SHARE

    @staticmethod
    def of(graph: Graph, lossy: Sequence[int], true: Sequence[ValuePair]) -> list[Cause]:
        """Return the steps of a graph that lose digits, those first that matter most."""
        found: list[Cause] = []
        shares: dict[Any, tuple[float, int | None]] = {}
        for loss in graph.losses.ranked()[:MAX_CANDIDATES]:
            top = loss.path[0] if loss.path else loss.node
            if top not in shares:
                results = graph.losses.holders[top] if loss.path else loss.results
                shares[top] = _share(graph, top, results, lossy, true)
            found.append(Cause(loss, *shares[top]))
        return sorted(found, key=lambda c: (-round(c.share, 1), bool(c.loss.path), -c.loss.lost))


def _share(
    graph: Graph,
    node: Apply,
    results: Sequence[ValuePair],
    lossy: Sequence[int],
    true: Sequence[ValuePair],
) -> tuple[float, int | None]:
    """Return the largest part of an output's error that is gone once a step is exact."""
    try:
        new = graph.floats.again(graph.outputs, graph.values, repaired(node, results))
    except Exception:
        return 0.0, None
    best: tuple[float, int | None] = (0.0, None)
    for i in lossy:
        old = graph.values[graph.outputs[i]]
        share = gone(ValuePair(old, true[i].true, true[i].mask), np.asarray(new[i]))
        if share > best[0]:
            best = share, i
    return best


def gone(old: ValuePair, new: Any) -> float:
    """Return the part of the error at the worst element that new values do not have."""
    before, after = old.error, ValuePair(new, old.true, old.mask).error
    before, after = (np.nan_to_num(e, nan=0.0, posinf=np.inf) for e in (before, after))
    if before.shape != after.shape or not before.size:
        return 0.0
    at = np.unravel_index(int(np.argmax(before)), before.shape)
    a, b = float(before[at]), float(after[at])
    if a == 0:
        return 0.0
    if np.isinf(a):
        return 0.0 if np.isinf(b) else 1.0 - min(1.0, b)
    moved = abs(_number(np.asarray(old.computed)[at]) - _number(new[at]))
    size = abs(_number(np.asarray(old.computed)[at]))
    if np.isinf(b) or size == 0 or moved != moved:
        return max(0.0, 1.0 - min(b, a) / a) if np.isfinite(b) else 0.0
    return max(0.0, min(1.0, (a - b) / a))


def _number(x: Any) -> Any:
    return mp.mpc(complex(x)) if np.iscomplexobj(x) else mpf(float(x))


# --- firings -------------------------------------------------------------------------------------


def effects(
    record: FunctionRecord,
    values: Sequence[Any],
    outputs: Mapping[int, OutputAccuracy],
    true: Sequence[ValuePair],
) -> list[RuleEffect]:
    """Return the firings that restored digits of outputs, or lost some."""
    changed = [i for i, o in outputs.items() if abs(o.compiled - o.written) >= MIN_CHANGE]
    if not changed:
        return []
    history = History(record, values, true)
    found: list[RuleEffect] = []
    for i in changed:
        found += history.effects_on(i, outputs[i].name)
    return list(dict.fromkeys(found))


def effects_of_default(
    record: FunctionRecord,
    values: Sequence[Any],
    outputs: Mapping[int, OutputAccuracy],
    true: Sequence[ValuePair],
) -> list[RuleEffect]:
    """Return the firings of the default mode that would restore digits, for a function that was
    compiled in another mode.
    """
    lossy = [i for i, o in outputs.items() if o.is_lossy_compiled]
    default = Mode("py")
    if not lossy or record.mode.query == default.query:
        return []
    graph = record.before.clone()
    inputs, results = graph.inputs, list(graph.outputs)
    try:
        other = record_alone(partial(function, inputs, results, default, on_unused_input="ignore"))
    except RewriteEngineError:  # (it fits only the function's own mode)
        return []
    history = History(other, values, true)
    end = history.digits(len(history.steps))
    better = [i for i in lossy if end[i] - outputs[i].compiled >= MIN_CHANGE]
    return [one for i in better for one in history.effects_on(i, outputs[i].name)]


class History:
    """Digits of outputs after each firing."""

    def __init__(
        self, record: FunctionRecord, values: Sequence[Any], true: Sequence[ValuePair]
    ) -> None:
        self.record, self.values, self.true = record, values, true
        self.steps = own_steps(record)
        self.digits = cache(self._digits)

    def _digits(self, k: int) -> list[float]:
        """Return the fewest right digits of each output after k firings; 0 if the graph fails."""
        graph = graph_until(self.record, self.steps[k - 1].number if k else 0)
        try:
            given = dict(zip(graph.inputs, self.values, strict=True))
            found = Floats().evaluate(graph.outputs, given)
        except Exception:
            return [0.0] * len(self.true)
        results = [found[v] for v in graph.outputs]
        return [fewest(a, x) for a, x in zip(results, self.true, strict=True)]

    def effects_on(self, i: int, name: str) -> list[RuleEffect]:
        """Return the firings that changed an output most, in order."""
        found: list[RuleEffect] = []
        low, high = 0, len(self.steps)
        while len(found) < MAX_FIRINGS and high:
            before, after = self.digits(low)[i], self.digits(high)[i]
            if abs(after - before) < MIN_CHANGE:
                break
            k = self._turn(i, low, high, (before + after) / 2, after > before)
            step = self.steps[k - 1]
            a, b = self.digits(k - 1)[i], self.digits(k)[i]
            found.append(RuleEffect(name, step.rule_name, step.number, str(step.change.term),
                                    step.forward or step.origin, a, b))  # fmt: skip
            low = k
        return found

    def _turn(self, i: int, low: int, high: int, middle: float, rises: bool) -> int:
        """Return after which firing an output has passed a number of digits."""
        while high - low > 1:
            k = (low + high) // 2
            if (self.digits(k)[i] >= middle) is rises:
                high = k
            else:
                low = k
        return high


def fewest(a: Any, x: ValuePair) -> float:
    """Return the fewest right digits of an array."""
    if not isinstance(a, np.ndarray) or not a.size or np.shape(a) != np.shape(x.true):
        return 0.0
    error = ValuePair(a, x.true, x.mask).error
    zero = are_zero(x)
    found = np.where(zero, np.inf, digits(np.nan_to_num(error, nan=0.0), all_digits(a.dtype)))
    return float(np.min(found)) if not zero.all() else all_digits(a.dtype)
