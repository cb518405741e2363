"""`DebugLinker`: runs a graph as it was written, as it is now, and every term in between, and
checks all declarations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import (
    BadEvidence,
    BadOptimization,
    BadThunkOutput,
    InvalidValueError,
    StochasticOrder,
    source_line,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import InnerGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.compare import Agreement, compare_values
from rewrite_engine.judge.difference import both_sides
from rewrite_engine.judge.facts import holds
from rewrite_engine.judge.noise import samples_of, within
from rewrite_engine.judge.values import NoValue, TermValues, leaves_of
from rewrite_engine.judge.verdict import Verdict
from rewrite_engine.link.debug.claims import changed_nodes, difference_text, judge_step
from rewrite_engine.link.debug.contract import Contract, DebugOptions, equal
from rewrite_engine.link.debug.record import (
    RECORDS,
    Inside,
    RewriteRecord,
    RewriteRecorder,
    RewriteStep,
    Said,
    recorded,
)
from rewrite_engine.link.debug.storage import copy_of
from rewrite_engine.link.debug.told import error_at, name_of, shown, term
from rewrite_engine.link.failure import failed
from rewrite_engine.link.forms import is_replaced, whole_graph
from rewrite_engine.link.linker import Linker, get_linker
from rewrite_engine.link.perform import call_perform, held_to_types
from rewrite_engine.link.program import Linked
from rewrite_engine.link.py import PyLinker
from rewrite_engine.link.vm.linker import VMLinker
from rewrite_engine.scalar.op import ScalarOp

FIRST = 4  # runs of a graph inside an op that are looked at in each call, and then a few


class DebugLinker(PyLinker):
    """Linker that runs nodes one by one, each in all of its forms, and compares the values.
    options: None to use `config` when a graph is linked.

    calls: how often the linked function was called.
    """

    name = "debugmode"
    phases = VMLinker.phases

    def __init__(self, options: DebugOptions | None = None) -> None:
        self.options, self.calls = options, 0
        self.own = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DebugLinker) and self.options == other.options

    def __hash__(self) -> int:
        return hash(DebugLinker)

    def __repr__(self) -> str:
        usual = DebugOptions.of_config()._asdict()
        own = ({} if self.options is None else self.options._asdict()).items()
        return f"DebugLinker({', '.join([f'{k}={v!r}' for k, v in own if v != usual[k]])})"

    def __reduce__(self) -> Any:
        return DebugLinker, (self.options,)

    @property
    def chosen(self) -> DebugOptions:
        """Return the checks to perform."""
        return self.options or DebugOptions.of_config()

    def watching(self, optimizer: Any) -> Any:
        """Return a driver that rewrites and records the rewriting."""
        return Recording(optimizer, self.chosen.patience)

    def told(self, nodes: Sequence[Apply]) -> str:
        """Describe the checks, and the gradients that are not checked, since nothing runs them."""
        options = self.chosen
        checked = ["each op in all its forms", "each step of rewriting", "each fact", "the whole"]
        checked += ["finite values"] if options.check_isfinite else []
        own = sorted({type(node.op).__name__ for node in nodes if has_own_gradient(node.op)})
        left = ["times", "threads", "values of other calls"]
        left += [f"gradients of {', '.join(own)} (verify_grad checks them)"] if own else []
        return f"node by node; checked: {', '.join(checked)}; not checked: {', '.join(left)}"

    def runner(self, node: Apply) -> Callable[..., Any]:
        """Return `debug_perform` if the op defines it, otherwise the usual function."""
        debug = node.op.debug_perform
        if debug is None:
            return super().runner(node)
        return held_to_types(node, call_perform(node, debug))

    def kept(self, op: Any) -> dict[Linker, Linked]:
        """Return the cache of functions of inner graphs; each function has its own."""
        return self.own.setdefault(op, {})

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        record = RECORDS.get(fgraph) or RewriteRecord.of(fgraph)
        if isinstance(fgraph, InnerGraph):
            checks = CallChecks(record, Contract(self, self.chosen), self)
            return sampled(checks.call, super().compile(fgraph), self)
        own = DebugLinker(self.chosen)
        return CallChecks(record, Contract(own, self.chosen), own, fgraph).begin


def sampled(
    check: Callable[..., Any], plain: Callable[..., Any], linker: DebugLinker
) -> Callable[..., Any]:
    """Return a function that checks its first runs in each call, then fewer and fewer; a loop has
    many runs.
    """
    runs = calls = 0

    def run(*values: Any) -> Any:
        nonlocal runs, calls
        runs, calls = (runs + 1 if calls == linker.calls else 1), linker.calls
        return (check if runs <= FIRST or not runs & (runs - 1) else plain)(*values)

    return run


class Recording:
    """Driver that records the rewriting of graphs, and repeats it on copies to compare the steps
    (`patience` times; 0 or 1: never).
    """

    def __init__(self, optimizer: Any, patience: int) -> None:
        self.optimizer, self.patience = optimizer, patience

    def __getattr__(self, name: str) -> Any:
        return getattr(self.optimizer, name)

    def rewrite(self, fgraph: FunctionGraph, trace: Any = None) -> Any:
        """Rewrite the graph. Raises `StochasticOrder`."""
        copies = [fgraph.clone() for _ in range(self.patience)] if self.patience > 1 else []
        runs = [self._texts(copy) for copy in copies]
        for k, texts in enumerate(runs[1:], 1):
            if texts != runs[0]:
                raise _stochastic(runs[0], texts, k + 1)
        return recorded(
            lambda: self.optimizer.rewrite(fgraph, trace=trace), fgraph, RewriteRecorder()
        )

    __call__ = apply = rewrite

    def _texts(self, copy: FunctionGraph) -> list[Any]:
        recorder = RewriteRecorder(texts=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recorded(lambda: self.optimizer.rewrite(copy), copy, recorder)
        assert recorder.texts is not None
        return recorder.texts


def _stochastic(first: list[Any], again: list[Any], k: int) -> StochasticOrder:
    """Return the error for two different runs, with their first difference."""
    n = next(
        (i for i, (a, b) in enumerate(zip(first, again)) if a != b), min(len(first), len(again))
    )
    lines = [f"run {k} of rewriting the same graph differs from step {n + 1} on:"]
    for which, steps in (("first", first), ("then", again)):
        if n >= len(steps):
            lines.append(f"    {which}: nothing more")
            continue
        place, rule, before, after = steps[n]
        lines.append(f"    {which}: {rule}, in {place}: {before} → {after}")
    lines.append("    does a rule depend on the order of a set, an id, a hash or random numbers?")
    return StochasticOrder("\n".join(lines))


def has_own_gradient(op: Any) -> bool:
    """Return whether an op that is not the library's has a gradient."""
    one = getattr(op, "scalar_op", op)
    if type(one) is ScalarOp:
        return not one.listed and one.gradient is not None
    shipped = type(one).__module__.partition(".")[0] == __name__.partition(".")[0]
    return not shipped and type(one).L_op is not Op.L_op


def can_be_compared(op: Op) -> bool:
    """Return whether the code of a whole graph with this node must give DebugMode's values."""
    return op.determined and not is_replaced(op)


class CallChecks:
    """Checks of each call of a graph. fgraph: the graph of the function; None for the graph of an
    op.
    """

    def __init__(
        self,
        record: RewriteRecord,
        contract: Contract,
        linker: DebugLinker,
        fgraph: FunctionGraph | None = None,
    ) -> None:
        self.record, self.contract, self.linker, self.fgraph = record, contract, linker, fgraph
        contract.read |= record.read()
        self.inner: dict[int, Callable[..., Any]] = {}
        self.code: Callable[..., Any] | None = None
        graph = toposort(record.outputs)
        comparable = all([can_be_compared(node.op) for node in graph])
        self.runs_code = contract.options.check_c_code and comparable

    def values_of(self, values: Sequence[Any]) -> TermValues:
        """Return the values of terms in a call."""
        return TermValues(self.contract, dict(zip(self.record.inputs, values, strict=True)))

    def begin(self, *values: Any) -> list[Any]:
        """Begin a call of the function."""
        self.linker.calls += 1
        return self.call(*values)

    def call(self, *values: Any) -> list[Any]:
        """Return the outputs of the current graph. Raises the errors of the graph as it was
        written, and a `DebugModeError` for a failed check.
        """
        record, run = self.record, self.values_of(values)
        written = [self.needed(run, v) for v in record.written]
        mended = False
        for event in record.events:
            if isinstance(event, Said):
                self.check_said(run, event)
            else:
                mended |= self.check_step(run, event)
        found = [self.needed(run, v) for v in record.outputs]
        if self.contract.options.check_isfinite:
            self.check_finite(run)
        self.check_whole(written, found, mended, run)
        if self.runs_code:
            self.check_code(values, found, run)
        return found

    def needed(self, run: TermValues, v: Variable) -> Any:
        """Return the value of an output; failures are noted as other linkers do."""
        try:
            return run.value(v)
        except NoValue:
            error, node, given = run.failed[v]
            if node is not None:
                failed(error, node, given)
            raise error from None

    # --- steps -----------------------------------------------------------------------------------

    def check_step(self, run: TermValues, step: RewriteStep) -> bool:
        """Raise `BadOptimization` for a step that changes values by more than its claim. Return
        whether it changed some by more than rounding.
        """
        try:
            a = run.value(step.before)
        except NoValue:
            return False
        if step.inside is not None:
            self.check_inside(run, step, step.inside)
        try:
            b = run.value(step.after)
        except NoValue as unknown:
            cause = unknown.__cause__
            if cause is None or isinstance(cause, NoValue):
                return False
            why = f"the term after it raises {type(cause).__name__}: {cause}"
            raise self.bad(step, run, why, a, None) from cause
        verdict = judge_step(step, run, a, b)
        if verdict.broken:
            raise self.bad(step, run, verdict.why, a, b, verdict)
        self.on_kept(step, verdict)
        return verdict.is_mended

    def on_kept(self, step: RewriteStep, verdict: Verdict) -> None:
        """Note that a step keeps its claim; for subclasses."""

    def bad(
        self,
        step: RewriteStep,
        run: TermValues,
        why: str,
        a: Any,
        b: Any,
        verdict: Verdict | None = None,
    ) -> BadOptimization:
        """Return the error for a step."""
        rule, where = step.rule, getattr(step.rule, "where", None)
        at = "" if where is None else f" ({source_line(*where)})"
        claims = both_sides(rule, step.before, step.after).promise
        what = f"the rule {step.rule_name}{at}, in {step.phase}, claims {claims}: {why}"
        if rule == "merge":
            what = f"two nodes that were merged as equal are not, in {step.phase}: {why}"
        granted = getattr(rule, "needs_grant", None)
        lines = [
            f"before: {term(step.before)} of type {step.before.type}: {shown(a)}",
            f"after:  {term(step.after)} of type {step.after.type}: {shown(b)}",
            *(difference_text(a, b) if b is not None else ()),
            *([f"granted: {granted}"] if granted else ()),
            *_leaves(run, step),
        ]
        node = step.before.owner
        error = error_at(
            BadOptimization, what, None, None, [*lines, *_built_at(node)],
            rule=rule, before=step.before, after=step.after, old_val=a, new_val=b, verdict=verdict,
        )  # fmt: skip
        error.node = node
        return error  # type: ignore[no-any-return]

    def check_inside(self, run: TermValues, step: RewriteStep, inside: Inside) -> None:
        """Run an op with its original graph, and check the rewriting of that graph on the values
        that it gets.
        """
        node, op = step.before.owner, inside.op
        if node is None or op.runs is None:
            return
        given = [run.known(node.inputs[i]) for i in inside.inputs]
        body = self.inner.get(id(step))
        if body is None:
            checks = type(self)(inside.record, self.contract, self.linker)
            own = self.linker.body(op)

            def watched(*values: Any) -> Any:
                checks.call(*values)
                return own(*values)

            body = self.inner[id(step)] = sampled(watched, own, self.linker)
        made = op.make_node(*[node.inputs[i] for i in inside.inputs])
        op.runs(made, body)(*given)

    def check_said(self, run: TermValues, said: Said) -> None:
        """Raise `BadEvidence` for a fact that does not hold."""
        try:
            good = holds(said.fact, said.args, said.answer, run.value)
        except NoValue:
            return
        if good is not False:
            return
        v = next(a for a in said.args if isinstance(a, Variable))
        args = ", ".join([name_of(a) if isinstance(a, Variable) else repr(a) for a in said.args])
        value = "" if said.answer.value is None else f" = {said.answer.value}"
        what = f"the fact {said.fact.name}({args}){value} was claimed, {said.answer}, but on "
        code = said.fact.fn.__code__
        lines = [f"the term: {term(v)} of type {v.type}", f"its value: {shown(run.value(v))}",
                 f"the fact: {source_line(code.co_filename, code.co_firstlineno)}"]  # fmt: skip
        error = error_at(
            BadEvidence, f"{what}these values it does not hold", None, None,
            [*lines, *_built_at(v.owner)],
            fact=said.fact, evidence=said.answer, before=v, old_val=run.value(v),
        )  # fmt: skip
        error.node = v.owner
        raise error

    # --- the whole -------------------------------------------------------------------------------

    def check_finite(self, run: TermValues) -> None:
        """Raise `InvalidValueError` for an input or result that is not finite."""
        for v in run.needed(self.record.outputs):
            value = run.values.get(v)
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
                continue
            if not np.isfinite(value).all() and not self.contract.is_hidden(v):
                kinds = "NaN" if np.isnan(value).any() else "an infinity"
                what = f"{kinds} in {name_of(v)} (check_isfinite=False allows it)"
                given = None if v.owner is None else [run.values.get(w, getattr(w, "data", None))
                                                      for w in v.owner.inputs]  # fmt: skip
                raise error_at(InvalidValueError, what, v.owner, given, r=v, v=value)

    def check_whole(
        self, written: list[Any], found: list[Any], mended: bool, run: TermValues
    ) -> None:
        """Raise `BadOptimization` if the current graph and the written one differ although no step
        did. (After steps that repaired values, they may differ.)
        """
        record = self.record
        if mended:
            return
        for i, (v, new, a, b) in enumerate(
            zip(record.written, record.outputs, written, found, strict=True)
        ):
            if v is new or compare_values(v.type, a, b).verdict is not Agreement.DISAGREE:
                continue
            whole = RewriteStep("the whole of the rewriting", v, new, "all phases", 0)
            verdict = judge_step(whole, run, a, b)
            if verdict.broken:
                raise self.bad(whole, run, f"output {i}: {verdict.why}", a, b, verdict)

    def check_code(self, values: Sequence[Any], found: list[Any], run: TermValues) -> None:
        """Raise `BadThunkOutput` if the VM's code gives other values than the nodes one by one."""
        if self.fgraph is None:
            return
        if self.code is None:
            self.code = whole_graph(self.fgraph, get_linker("vm"))
        what, given = "the VM's function of all nodes", [copy_of(x) for x in values]
        try:
            more = self.code(*given)
        except Exception as error:
            what = f"{what} raises {type(error).__name__}, but the nodes do not: {error}"
            raise error_at(BadThunkOutput, what, None, thunk1="perform", thunk2="vm") from error
        for i, (v, a, b) in enumerate(zip(self.record.outputs, found, more, strict=True)):
            if equal(v, a, b):
                continue
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape:
                samples = samples_of(run, v, toposort([v]), {})
                if within(a, b, samples).all():
                    continue
            what = f"{what} computes other values for output {i} than the nodes one by one"
            raise error_at(
                BadThunkOutput, what, None, None, [*difference_text(a, b), *_built_at(v.owner)],
                r=v, val1=a, val2=b, thunk1="perform", thunk2="vm",
            )  # fmt: skip


def _leaves(run: TermValues, step: RewriteStep) -> list[str]:
    """Return the values that a term is computed from, as lines."""
    found = []
    for v in leaves_of(changed_nodes(step))[:6]:
        if v in run.values:
            found.append(f"{name_of(v)} of type {v.type}: {shown(run.values[v])}")
    return found


def _built_at(node: Apply | None) -> list[str]:
    where = None if node is None else node.where()
    return [] if where is None else [f"built at {source_line(*where)}"]


LINKER = DebugLinker()
