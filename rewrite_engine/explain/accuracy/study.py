"""Measurement of one function: evaluate its graphs, count digits, put the report together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from mpmath import mp

from rewrite_engine.compile import Function
from rewrite_engine.compile.profiling import line_of
from rewrite_engine.errors import plural
from rewrite_engine.explain.accuracy.advice import suggestions
from rewrite_engine.explain.accuracy.cause import (
    MIN_CHANGE,
    Cause,
    effects,
    effects_of_default,
    fewest,
)
from rewrite_engine.explain.accuracy.computed import Floats, Values
from rewrite_engine.explain.accuracy.error import (
    ValuePair,
    all_digits,
    are_zero,
    digits,
    unit,
    where_known,
    written,
)
from rewrite_engine.explain.accuracy.lockstep import Lockstep, ignore
from rewrite_engine.explain.accuracy.loss import Losses, condition, own_share, strange
from rewrite_engine.explain.accuracy.report import AccuracyReport, DigitLoss, OutputAccuracy
from rewrite_engine.explain.accuracy.sample import MAX_SAMPLE, everything_wide, parts
from rewrite_engine.explain.compare import output_names
from rewrite_engine.explain.evaluate import run
from rewrite_engine.explain.record import FunctionRecord
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, unfolded
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import provenance
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge import exact, wide
from rewrite_engine.printing.formula import Roots, formula
from rewrite_engine.terms.print import write

DIGITS = (50, 100, 200, 400)  # of the exact values: more until these do not change
SETTLED = 25  # digits in which values of two of these agree
MORE_DIGITS = all_digits(np.longdouble) - all_digits(np.float64)  # of 80-bit floats
CONSTANTS = 2  # digits that constants lose when rules compute them in floats
MAX_LOSSES = 12  # steps that a report lists
STEP_WIDTH, STEP_LEVELS, STEP_OPERANDS = 36, 4, 4  # of a term: characters, levels, operands


class Graph:
    """A graph with its values: computed in floats, and exact."""

    def __init__(
        self, fgraph: FunctionGraph, values: Sequence[Any], results: Sequence[Any] | None = None
    ) -> None:
        inline = {
            node.op for node in fgraph.apply_nodes
            if isinstance(node.op, HasInnerGraph) and node.op.inline
        }  # fmt: skip
        self.outputs: list[Variable] = list(fgraph.outputs)
        self.inputs: list[Variable] = list(fgraph.inputs)
        if inline:
            self.outputs = unfolded(self.outputs, inline)
        self.floats = Floats()
        given = dict(zip(fgraph.inputs, values, strict=True))
        self.values: Values = self.floats.evaluate(self.outputs, given)
        self.parts = parts(self.outputs, self.values, self._suspects(results))
        self.losses = Losses()
        self.true: list[ValuePair] = []
        self.taken: Counter[tuple[str, str]] = Counter()
        self.diverged: Counter[str] = Counter()
        self.digits = 0
        self.settled: list[Any] = []

    def _suspects(self, results: Sequence[Any] | None) -> dict[Variable, Any]:
        """Return the elements of large outputs that seem to be the worst."""
        found = [self.values[v] for v in self.outputs]
        large = [i for i, a in enumerate(found) if getattr(a, "size", 0) > MAX_SAMPLE]
        if not large or not any(v.type.kind == "f" for v in self.outputs):
            return {}
        whole = Lockstep(everything_wide(self.outputs), DIGITS[0])
        both = whole.run(self.outputs, self.values)
        suspects = {}
        for i in large:
            v = self.outputs[i]
            true = both[v].true
            errors = [ValuePair(a, true).error for a in (found[i], *(results or found)[i : i + 1])]
            worst = np.fmax(errors[0], errors[-1]).ravel()
            suspects[v] = np.argsort(-np.nan_to_num(worst, posinf=1e300))[: MAX_SAMPLE // 2]
        return suspects

    def measure(self, settle: bool = True) -> None:
        """Compute the exact values, with more digits until these do not change."""
        self._run(DIGITS[0], self.losses)
        for count in DIGITS[1:] if settle else ():
            before = self.true
            self._run(count, ignore)
            self.settled = [settled(a, b) for a, b in zip(before, self.true, strict=True)]
            if all(np.all(s) for s in self.settled):
                break
            self.losses = Losses()
            self._run(count, self.losses)

    def known_digits(self, i: int, digits_of_floats: float, most: float) -> float:
        """Return to how many digits the exact value of an output is known. The graph in 80-bit
        floats has as many more right digits than in floats as these have.
        """
        v = self.outputs[i]
        plan = next(plan for outputs, plan in self.parts if v in outputs)
        if plan.wide.isdisjoint(toposort([v])):
            return most
        return min(most, digits_of_floats + MORE_DIGITS)

    def _run(self, count: int, watch: Any) -> None:
        found: dict[Variable, ValuePair] = {}
        self.taken, self.diverged, self.digits = Counter(), Counter(), count
        for outputs, plan in self.parts:
            lockstep = Lockstep(plan, count, watch)
            both = lockstep.run(outputs, self.values)
            found |= {v: both[v] for v in outputs}
            self.taken |= lockstep.taken
            self.diverged |= lockstep.diverged
        self.true = [found[v] for v in self.outputs]

    @cached_property
    def moved(self) -> list[ValuePair]:
        """The outputs exactly, for inputs that are changed by half a unit in the last place."""
        rng = np.random.default_rng(0)
        found: dict[Variable, ValuePair] = {}
        for outputs, plan in self.parts:
            moves = {
                v: partial(moved_by_half_units, rng, unit(v.type.dtype))
                for v in self.inputs
                if v.type.kind == "f"
            }
            found |= Lockstep(plan, DIGITS[0]).run(outputs, self.values, moves)
        return [found[v] for v in self.outputs]

    @property
    def wide_nodes(self) -> int:
        """Number of nodes that are evaluated in 80-bit floats."""
        return len({one for _, plan in self.parts for one in plan.wide if isinstance(one, Apply)})


def settled(a: ValuePair, b: ValuePair, count: float = SETTLED) -> Any:
    """Return where two exact values agree in a number of digits."""
    x, y = a.true, b.true
    if not isinstance(y, np.ndarray) or y.dtype != object or np.asarray(x).dtype != object:
        return np.ones((), bool)
    with mp.workdps(DIGITS[-1]):

        def same(s: Any, t: Any) -> bool:
            if s == t or (s != s and t != t):
                return True
            return bool(abs(s - t) <= abs(t) * mp.mpf(10) ** -count)

        return where_known(same, b, x) | (False if b.mask is None else ~b.mask)


class Study:
    """Measurement of a recorded function on some values of its inputs."""

    def __init__(
        self, record: FunctionRecord, basis: str, values: Sequence[Any], f: Function[Any] | None
    ) -> None:
        self.record, self.basis, self.values, self.f = record, basis, values, f
        self.start = perf_counter()

    @cached_property
    def compiled(self) -> list[Any]:
        """Results of the compiled function, new states included."""
        f, record = self.f, self.record
        if f is None:
            return run(record.after, self.values, record.inputs, record.mode)
        return run(f.fgraph, self.values, f.program.inputs, f.mode)

    @cached_property
    def written(self) -> Graph:
        """The graph as written."""
        graph = Graph(self.record.before, self.values, self.compiled)
        graph.measure()
        return graph

    @cached_property
    def outputs(self) -> dict[int, OutputAccuracy]:
        """The accuracy of each output of numbers, by its position in the graph."""
        names = output_names(self.record)
        found = zip(names, self.written.true, self.compiled, strict=True)
        arrays = {i: one for i, one in enumerate(found) if is_array(one[1])}
        return {i: self._output(i, *one) for i, one in arrays.items() if np.size(one[1].computed)}

    def _output(self, i: int, name: str, x: ValuePair, compiled: Any) -> OutputAccuracy:
        compiled = np.asarray(compiled)
        most = all_digits(compiled.dtype)
        after = ValuePair(compiled, x.true, x.mask)
        known = ~np.isnan(np.broadcast_to(x.error, compiled.shape))
        stable = self.written.settled[i] if self.written.settled else True
        zeros = known & (are_zero(x) | _shrinks(x, stable)) & (compiled != 0)
        counted = known & ~zeros if (known & ~zeros).any() else known
        a, b = [np.where(counted, digits(e.error, most), np.inf) for e in (x, after)]
        at = np.unravel_index(int(np.argmin(b)), b.shape) if b.ndim else ()
        if b.min() == b.max() and a.ndim:
            at = np.unravel_index(int(np.argmin(a)), a.shape)
        known_to = self.written.known_digits(i, float(a.min()), most)
        place = tuple([int(k) for k in at])
        t = np.asarray(x.true)[place] if place else np.asarray(x.true).item()
        return OutputAccuracy(
            name, str(compiled.dtype), compiled.shape, most, float(a.min()), _median(a[counted]),
            min(float(b.min()), known_to), _median(b[counted]), place, str(compiled[place]),
            str(np.asarray(x.computed)[place]), written(t), compiled.size, int(known.sum()),
            int(zeros.sum()), known_to, self._determined(i, x, place, most), bool(np.all(stable)),
        )  # fmt: skip

    def _determined(self, i: int, x: ValuePair, place: Any, most: float) -> float | None:
        """Return the digits of an element that stay if inputs change in their last place."""
        if not x.is_number or float(np.nanmax(x.error, initial=0.0)) <= 10 ** (1 - most):
            return None
        moved = self.written.moved[i].true
        a, b = [
            np.asarray(t)[place] if np.ndim(t) else np.asarray(t).item() for t in (x.true, moved)
        ]
        with mp.workdps(DIGITS[0]):
            apart = float(abs(b - a) / abs(a)) if a and a - a == 0 == b - b else 0.0
        return float(digits(apart, most))

    # --- where ---------------------------------------------------------------------------------

    @cached_property
    def rewritten(self) -> Graph | None:
        """The rewritten graph, if digits are lost there."""
        if not any(o.is_lossy_compiled for o in self.outputs.values()):
            return None
        graph = Graph(self.record.after, self.values)
        graph.measure(settle=False)
        return graph

    def report(self) -> AccuracyReport:
        """Return the report on all of it."""
        with np.errstate(all="ignore"):
            return self._report()

    def _report(self) -> AccuracyReport:
        outputs, true, graph = self.outputs, self.written.true, self.record.before
        before = [self._loss(c) for c in self._causes(self.written)]
        after = [self._loss(c) for c in self._causes(self.rewritten)]
        changed = effects(self.record, self.values, outputs, true)
        possible = effects_of_default(self.record, self.values, outputs, true)
        optimizer = self.record.mode.optimizer
        advice = suggestions(graph, optimizer, self.values, outputs, true)
        return AccuracyReport(
            self.record.name, self.basis, tuple(outputs.values()), tuple(before), tuple(after),
            tuple(changed), tuple(possible), tuple(advice), self._reference(), tuple(self._notes()),
            perf_counter() - self.start,
        )  # fmt: skip

    def _causes(self, graph: Graph | None) -> list[Cause]:
        """Return the steps of a graph that lose digits of outputs."""
        if graph is None:
            return []
        lossy = [
            i for i, o in self.outputs.items()
            if (o.is_lossy if graph is self.written else o.is_lossy_compiled)
        ]  # fmt: skip
        told: dict[Any, Cause] = {}
        for one in Cause.of(graph, lossy, self.written.true) if lossy else ():
            if one.matters:
                node = one.loss.node
                key = (node.op, line_of(node), step_text(node.outputs[0]), len(one.loss.path))
                told.setdefault(key, one)
        return list(told.values())[:MAX_LOSSES]

    def _loss(self, cause: Cause) -> DigitLoss:
        loss = cause.loss
        v = loss.node.outputs[loss.output]
        output = None if cause.output is None else self.outputs[cause.output].name
        with mp.workdps(DIGITS[0]):
            grows, own = condition(loss), own_share(loss)
        shown = "" if loss.index is None else str(loss.computed)
        true = "" if loss.index is None else written(loss.true, 17)
        outer = loss.path[0] if loss.path else loss.node
        return DigitLoss(
            step_text(v), str(loss.node.op), line_of(loss.node) or line_of(outer),
            str(loss.path[-1].op) if loss.path else None, loss.before, loss.after, grows, own,
            cause.share, output, shown, true, strange(loss, own), provenance(v).rules,
        )  # fmt: skip

    # --- what it rests on ----------------------------------------------------------------------

    def _reference(self) -> str:
        text = f"{self.written.digits} digits"
        n = self.written.wide_nodes
        if n and wide.IS_WIDER:
            text += f", and 80-bit floats at {plural(n, 'node')} with large arrays"
        return text

    def _notes(self) -> list[str]:
        notes = []
        for (name, why), n in self.written.taken.items():
            times = f", {n} times" if n > 1 else ""
            what = f"{name} ({why}{times})"
            notes.append(f"its errors do not count, for it is taken as computed in floats: {what}")
        for name in self.written.diverged:
            notes.append(f"{name} would end after another number of steps if it were exact")
        notes += self._notes_on_rewriting()
        for o in self.outputs.values():
            notes += notes_on_output(o, self.written.digits)
        return notes

    def _notes_on_rewriting(self) -> Iterator[str]:
        """Yield notes on the compiled function, where digits are lost in it."""
        graph = self.rewritten
        if graph is None:
            return
        for i, o in self.outputs.items():
            by_op = graph.values[graph.outputs[i]]
            op_by_op = fewest(by_op, self.written.true[i])
            if op_by_op - o.compiled >= MIN_CHANGE and o.known >= o.full:
                text = f"the linker loses digits of {o.name}: the rewritten graph has"
                yield f"{text} {op_by_op:.1f} if it runs op by op"
            same = settled(graph.true[i], self.written.true[i], o.full - CONSTANTS)
            if not np.all(same) and o.known >= o.full:
                text = f"the rewritten graph has another exact value of {o.name}"
                yield f"{text}: rules computed constants in floats, or assumed something"


def notes_on_output(o: OutputAccuracy, digits: int) -> Iterator[str]:
    """Yield the limits of what is said of an output."""
    if o.measured < o.size:
        yield f"digits of {o.name} are those of {o.measured:,} of {o.size:,} elements"
    if o.zeros:
        some = plural(o.zeros, "element")
        yield f"{o.name}: {some} whose exact value is 0 are left out"
    if not o.settled:
        yield f"{o.name}: exact values still change with {digits} digits"


def step_text(v: Variable) -> str:
    """Return the term of a step: its op, and a little of its operands."""
    levels = {"depth": STEP_LEVELS, "width": STEP_OPERANDS, "limit": STEP_WIDTH}
    return write(v, name=Roots(), call=formula, **levels)  # type: ignore[arg-type]


def moved_by_half_units(rng: Any, half: float, x: ValuePair) -> Any:
    """Return exact values that are changed by up to half a unit in the last place, at random."""
    changes = rng.uniform(-half, half, size=np.shape(x.true))
    if x.true.dtype != object:
        return x.true * (1 + changes.astype(x.true.dtype))
    if x.mask is None:
        return np.asarray(x.true * (1 + exact.exact(changes)), object)
    found = x.true.copy()
    found[x.mask] = found[x.mask] * (1 + exact.exact(changes[x.mask]))
    return found


def is_array(x: ValuePair) -> bool:
    """Return whether a value is an array of numbers."""
    return isinstance(x.computed, np.ndarray) and x.computed.dtype.kind in "biufc"


def _median(a: Any) -> float:
    return float(np.median(a))


def _shrinks(x: ValuePair, stable: Any) -> Any:
    """Return which exact values are 0 as far as digits tell: they are not settled, and tiny."""
    if np.asarray(x.true).dtype != object or np.all(stable):
        return np.zeros(np.shape(x.true), bool)
    return ~np.asarray(stable) & where_known(lambda t: bool(abs(t) < mp.mpf(10) ** -SETTLED), x)
