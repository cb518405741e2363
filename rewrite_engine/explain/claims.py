"""Checks of claims on values: each firing against its rule's claim, the facts that rules used, the
declarations of users (`assume`), and the declared properties of ops.

The graph is rewritten again with DebugMode's recorder (`link/debug/record.py`), and each step is
judged on the same operands (`rewrite_engine/judge/verdict.py`), in each call. On special values,
a difference is reported only if it is known what is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np

from rewrite_engine.errors import (
    AssumptionError,
    BadEvidence,
    BadOptimization,
    DebugModeError,
    InvalidValueError,
)
from rewrite_engine.explain.capture import copied
from rewrite_engine.explain.record import FunctionRecord
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.difference import HAS_DIGITS
from rewrite_engine.judge.values import NoValue, TermValues, leaves_of
from rewrite_engine.judge.verdict import Verdict
from rewrite_engine.link.debug.claims import changed_nodes
from rewrite_engine.link.debug.contract import Contract, DebugOptions
from rewrite_engine.link.debug.linker import CallChecks
from rewrite_engine.link.debug.promises import check_promises, lengths_fit
from rewrite_engine.link.debug.record import (
    RECORDS,
    RewriteRecord,
    RewriteRecorder,
    RewriteStep,
    Said,
    recorded,
)
from rewrite_engine.link.forms import Form, forms_of
from rewrite_engine.link.py import PyLinker
from rewrite_engine.match.claim import Claim
from rewrite_engine.rewrite.inner import Exchange
from rewrite_engine.rewrite.trace.records import ForgivenDifference
from rewrite_engine.scalar import ops
from rewrite_engine.scalar.op import ScalarOp

DRAWS = 12  # of special values
MEMORY = 1 << 30  # bytes of values of terms, of which all are kept in a call
SHIFT = 5  # by which the next draw goes on in them
#: in all floats, besides the ends of their own
SPECIAL = np.array(
    [np.nan, np.inf, 0.0, -np.inf, -0.0, 1.0, 1e-9, -1e-17, 37.0, -37.0, 710.0, -746.0, -1.0]
)
DECLARATION, CLAIM, FACT, OP = "declaration", "claim", "fact", "op"
RANDOM = "random inputs"
CAUSES = (frozenset({DECLARATION, OP}), frozenset({FACT}), frozenset({CLAIM}))
EXACTLY = ", and it claims to be exact"
FIRST_SECONDS = 10.0  # that are spent on one call,
SECONDS = 5.0  # on calls after the first,
SPECIAL_SECONDS = 1.0  # and on special values after the first ones
SLOW_CALLS = 2  # times the spare seconds that a call takes, from which on none of them are tried
TOO_LARGE = "the values of all terms take too much memory"
TOO_LONG = "computing all terms takes too long"
OPTIONS = DebugOptions(check_c_code=False, check_isfinite=False, warn_input_not_reused=False)


@dataclass(frozen=True, slots=True)
class Untrue:
    """An untrue statement. kind: "declaration", "claim", "fact" or "op". basis:
    the values on which it is not. rule, number: of the firing.
    """

    kind: str
    text: str
    basis: str
    rule: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Claims:
    """Outcome of checking claims. firings: their number; steps: how many were judged; left: why not
    all; calls: in how many calls; special: how often on special values; why_not: why never.
    problem: why nothing was judged.
    """

    untrue: tuple[Untrue, ...] = ()
    forgiven: tuple[ForgivenDifference, ...] = ()
    firings: int = 0
    steps: int = 0
    left: str | None = None
    calls: int = 0
    special: int = 0
    why_not: str | None = None
    problem: str | None = None


def check_claims(record: FunctionRecord, given: Sequence[tuple[str, list[Any]]]) -> Claims:
    """Judge all firings of a function. given: values for its inputs, with their descriptions."""
    try:
        history = _history(record)
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        return Claims(problem=f"rewriting it again raises {text}")
    checks = FiringChecks(history, record)
    firings = len({step.number for step in _steps(history)} - {0})
    seconds, spare = min(SECONDS, record.spare_seconds), min(SPECIAL_SECONDS, record.spare_seconds)
    done, took = checks.several(given, special=False, seconds=seconds)
    draws, why_not = _special_values(record, history, given)
    if draws and took > SLOW_CALLS * seconds * done:
        draws, why_not = [], TOO_LONG
    drawn, _ = checks.several([("special values", x) for x in draws], True, spare)
    told, steps = tuple(checks.told.values()), len(checks.judged)
    forgiven = tuple(
        [
            ForgivenDifference(rule=rule, excuse=name, reason=reason, firings=sorted(numbers))
            for (rule, name, reason), numbers in checks.forgiven.items()
        ]
    )
    left = checks.left if steps < firings else None
    return Claims(told, forgiven, firings, steps, left, done, drawn, why_not)


def _history(record: FunctionRecord) -> RewriteRecord:
    """All that rewriting does, as terms that never change."""
    graph, optimizer = record.before.clone(), record.mode.optimizer
    if optimizer is None:
        return RewriteRecord.of(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded(lambda: optimizer.rewrite(graph), graph, RewriteRecorder())
    return RECORDS.pop(graph)


def _steps(history: RewriteRecord) -> Iterator[RewriteStep]:
    """All steps, also those in graphs inside of ops."""
    todo, seen = [history], {id(history)}
    for record in todo:
        for event in record.events:
            if not isinstance(event, RewriteStep):
                continue
            yield event
            if event.inside is not None and id(event.inside.record) not in seen:
                seen.add(id(event.inside.record))
                todo.append(event.inside.record)


def _special_values(
    record: FunctionRecord, history: RewriteRecord, given: Sequence[tuple[str, list[Any]]]
) -> tuple[list[list[Any]], str | None]:
    """The values of a call with the ends of dtypes, zeros, nan and inf in some of its floats, in
    few of them at a time; else why none are tried.
    """
    if not HAS_DIGITS:
        return [], 'they need mpmath: pip install "rewrite-engine[check]"'
    if not given:
        return [], "no shapes are known"
    if any(isinstance(node.op, Assume) for node in toposort(history.written)):
        return [], "what is declared would not hold"
    values = given[0][1]
    floats = [i for i, v in enumerate(values) if isinstance(v, np.ndarray) and v.dtype.kind == "f"]
    found = []
    for k in range(DRAWS if floats else 0):
        own, mine = list(values), floats[k % len(floats) :: DRAWS]
        for i in mine if k < DRAWS - 1 else floats:
            own[i] = _with_special(own[i], SHIFT * k + i, whole=k == DRAWS - 1)
        found.append(own)
    return found, None


def _with_special(value: Any, first: int, whole: bool) -> Any:
    """An array with special values at every third place, or (whole) everywhere."""
    known = SPECIAL.astype(value.dtype)
    with np.errstate(all="ignore"):
        limits = np.finfo(value.dtype)
        ends = [limits.max, -limits.max, limits.tiny, limits.smallest_subnormal, limits.eps]
        known = np.concatenate([known, np.array(ends, value.dtype)])
    flat = np.array(value).ravel()
    places = np.arange(0, flat.size, 1 if whole else 3)
    flat[places] = known[(first + places) % len(known)]
    return flat.reshape(value.shape)


class FiringLinker(PyLinker):
    """Runs graphs inside of ops op by op; `calls` is what `CallChecks` samples loops by."""

    calls = 0


class FiringContract(Contract):
    """Runs each node once. owner: is told of what ops say that is not true. held: bytes of values
    that there are.
    """

    def __init__(self, owner: FiringChecks) -> None:
        super().__init__(FiringLinker(), OPTIONS)
        self.owner, self.held = owner, 0

    def forms(self, node: Apply) -> list[Form]:
        """Return the form that runs a node: of an op with a graph, such as a loop, the VM's code,
        since its steps take long one op at a time.
        """
        if isinstance(node.op, HasInnerGraph) and node not in self.known:
            every = forms_of(node, self.linker)
            self.known[node] = [form for form in every if form.name == "vm"] or every[:1]
        return super().forms(node)

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """The values of the outputs. Raises what the node raises, and `MemoryError`."""
        if self.held > MEMORY:
            self.owner.left = TOO_LARGE
            raise MemoryError(TOO_LARGE)
        found = self.values(node, given)
        self.held += sum(int(getattr(x, "nbytes", 0)) for x in found)
        return found

    def values(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """The values of the outputs."""
        lengths_fit(node, given)
        try:
            found = self.plain(node, given)
        except AssumptionError as error:
            self.owner.note(DECLARATION, str(error))
            return [copied(x) for x in given]
        except DebugModeError as error:
            self.owner.note(OP, str(error))
            raise RuntimeError(str(error)) from error  # (it has no value)
        if not self.owner.special and not is_shipped(node.op):
            try:
                check_promises(node, given, found)
            except InvalidValueError as error:
                self.owner.note(OP, str(error))
        return found


SHIPPED = frozenset(id(op) for op in vars(ops).values() if isinstance(op, ScalarOp))


def is_shipped(op: Any) -> bool:
    """Return whether an op is the library's, whose own tests check its declared properties."""
    one = getattr(op, "scalar_op", op)
    if type(one) is ScalarOp:
        return id(one) in SHIPPED
    return type(one).__module__.partition(".")[0] == __name__.partition(".")[0]


class FiringChecks(CallChecks):
    """Judges all steps, and goes on where one is wrong. told: what was found, by what it is of."""

    contract: FiringContract

    def __init__(self, history: RewriteRecord, record: Any, linker: Any = None) -> None:
        if isinstance(record, FiringContract):  # of the graph inside an op
            self.owner: FiringChecks = record.owner
            super().__init__(history, record, linker)
            return
        self.owner, self.firings = self, record.steps
        self.judged: set[int] = set()
        self.left: str | None = None  # why not all steps were judged
        self.until = 0.0  # the time at which it stops
        self.told: dict[Any, Untrue] = {}
        self.forgiven: dict[tuple[str, str, str], set[int]] = {}  # by rule, excuse and reason
        self.found: dict[Any, Untrue] = {}  # on the values that are looked at
        self.basis, self.special = "", False
        run: Any = FiringContract(self)
        super().__init__(history, run, run.linker)

    def several(
        self, given: Sequence[tuple[str, list[Any]]], special: bool, seconds: float
    ) -> tuple[int, float]:
        """Judge all steps on the first of some values, and on others as long as there is time;
        return how many those were, and the seconds.
        """
        start, done = process_time(), 0
        for basis, values in given:
            took = process_time() - start
            if done and took + took / done > seconds:
                break
            self.on(basis, values, special)
            done += 1
        return done, process_time() - start

    def on(self, basis: str, values: Sequence[Any], special: bool) -> None:
        """Judge all steps on values."""
        self.basis, self.special, self.found = basis, special, {}
        self.linker.calls += 1
        self.contract.held, self.until = 0, perf_counter() + FIRST_SECONDS
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.call(*[copied(x) for x in values])
            except Exception as error:  # (of an op that is no fault of a rule's)
                if not special:
                    self.note(OP, f"{type(error).__name__}: {error}")
        kinds = {one.kind for one in self.found.values()}
        if basis == RANDOM and DECLARATION in kinds:
            return  # (nobody said that of these)
        first = next((some for some in CAUSES if kinds & some), kinds)
        rules = {one.rule for one in self.found.values() if one.kind == CLAIM}
        whole = Exchange.rule_name if rules - {Exchange.rule_name} else None
        for key, one in self.found.items():  # others may follow from that
            if one.kind in first and (one.kind != CLAIM or one.rule != whole):
                self.told.setdefault(key, one)

    def call(self, *values: Any) -> list[Any]:
        """Judge the steps, then the graph as it was written, and compute nothing else."""
        run = self.values_of(values)
        for k, event in enumerate(self.record.events):
            if perf_counter() > self.owner.until:
                self.owner.left = TOO_LONG
                return []
            try:
                self.judge(run, event)
            except BadEvidence as error:
                self.owner.note(FACT, str(error))
            except BadOptimization as error:
                assert isinstance(event, RewriteStep)
                self.note_judged(run, event)
                if not isinstance(error.__cause__, MemoryError) and self.is_told(error):
                    self.owner.claim(event, str(error))
            if self.contract.held > MEMORY // 2:
                self.let_go(run, k)
        for v in self.record.written:
            with suppress(NoValue):
                run.value(v)
        return []

    def judge(self, run: TermValues, event: RewriteStep | Said) -> None:
        """Hold a step to its claim, or a fact to what it said. Raises `BadOptimization`."""
        if isinstance(event, Said):
            self.check_said(run, event)
            return
        if self.contract.held > MEMORY // 2:  # what was let go is computed again
            for v in leaves_of(changed_nodes(event)):
                with suppress(NoValue):
                    run.value(v)
        self.check_step(run, event)
        self.note_judged(run, event)

    def let_go(self, run: TermValues, done: int) -> None:
        """Forget values that no event after the one with that number needs."""
        for v in [v for v, last in self.last_use.items() if last <= done and v in run.values]:
            self.contract.held -= int(getattr(run.values.pop(v), "nbytes", 0))
        for v in [v for v, (error, *_) in run.failed.items() if isinstance(error, MemoryError)]:
            del run.failed[v]

    @cached_property
    def last_use(self) -> dict[Any, int]:
        """The last event for which the value of a computed variable is needed: as its term, or to
        compute another one for the first time.
        """
        events = [e.args if isinstance(e, Said) else (e.before, e.after)
                  for e in self.record.events]  # fmt: skip
        found: dict[Any, int] = {}
        made: set[Any] = set()
        for k, terms in enumerate([*events, self.record.written]):
            terms = [v for v in terms if isinstance(v, Variable)]
            for node in toposort(terms, made):
                made.update(node.outputs)
                found.update(dict.fromkeys([v for v in node.inputs if v.owner is not None], k))
                found.update(dict.fromkeys(node.outputs, k))
            found.update(dict.fromkeys([v for v in terms if v.owner is not None], k))
        return found

    def note_judged(self, run: TermValues, step: RewriteStep) -> None:
        """Note a firing whose terms had values."""
        terms = step.before, step.after
        if step.number and all(isinstance(v, Constant) or v in run.values for v in terms):
            self.owner.judged.add(step.number)

    def on_kept(self, step: RewriteStep, verdict: Verdict) -> None:
        """Note what a call's difference is forgiven for."""
        owner = self.owner
        if verdict.is_mended and not owner.special and owner.is_firing(step):
            key = step.rule_name, verdict.excuse.name, verdict.excuse.reason
            owner.forgiven.setdefault(key, set()).add(step.number)

    # --- what is told ----------------------------------------------------------------------------

    def note(self, kind: str, error: str) -> None:
        """Something is not true; once of each."""
        if self.special and kind != CLAIM:
            return
        text = " ".join(error.splitlines()[0].split())
        where = next(
            (x.strip() for x in error.splitlines() if x.strip().startswith("built at")), ""
        )
        self.found.setdefault((kind, text), Untrue(kind, f"{text} {where}".strip(), self.basis))

    def claim(self, step: RewriteStep, error: str) -> None:
        """A firing does not keep what is claimed of it."""
        first, *rest = error.splitlines()
        why = first.rpartition(": ")[2]
        more = [x.strip() for x in rest if x.strip().startswith("first difference")]
        claim = getattr(step.rule, "promise", None)
        claims = f"claims {claim}, but " if isinstance(claim, Claim) else ""
        text = f"{claims}{why.removesuffix(EXACTLY)}" + "".join(f"; {x}" for x in more)
        number = step.number if self.is_firing(step) else None
        key = CLAIM, step.rule_name
        self.found.setdefault(key, Untrue(CLAIM, text, self.basis, step.rule_name, number))

    def is_firing(self, step: RewriteStep) -> bool:
        """Whether a step has the number of that firing in the report."""
        at = step.number - 1
        return 0 <= at < len(self.firings) and self.firings[at].rule_name == step.rule_name

    def is_told(self, error: BadOptimization) -> bool:
        """Whether a finding is reported: of special values only if it is known what is right."""
        verdict = error.verdict
        return not self.owner.special or (verdict is not None and verdict.is_known)
