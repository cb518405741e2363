"""The records of a report (`rewrite/trace/records.py`), built from recorded functions, and the
JSON lines: a line on all of it, then the firings of each function (and the attempts, if they were
recorded), its phases, its graphs (`snapshot.py`), and one line on the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.explain.cost import Cost, Peak, cost_of, peak_of
from rewrite_engine.explain.place import place_text
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.story import savings
from rewrite_engine.judge.compare import Comparison
from rewrite_engine.link.program import Argument
from rewrite_engine.printing.formula import Formula, Roots
from rewrite_engine.rewrite.trace.attempts import Attempt
from rewrite_engine.rewrite.trace.lines import firing_line, in_order, phase_line
from rewrite_engine.rewrite.trace.places import Address
from rewrite_engine.rewrite.trace.records import (
    Assumption,
    ClaimCounts,
    FailedFunction,
    FiringLine,
    FunctionLine,
    InputFields,
    OutputVerdict,
    PhaseLine,
    ReportLine,
    Saving,
    UntrueClaim,
    filled,
    to_json,
)

if TYPE_CHECKING:
    from rewrite_engine.explain.model import FunctionReport
    from rewrite_engine.explain.report import Report

DECLARED = "assumptions/declared"  # the rule that takes a declaration out of the graph


def json_lines(
    report: Report,
    wants: Callable[[FiringLine], bool] = lambda firing: True,
    tries: Callable[[Attempt], bool] = lambda attempt: True,
) -> Iterator[str]:
    """Yield the JSON lines of a report. wants, tries: which firings and attempts."""
    yield to_json(report.about)
    for f in report.functions:
        attempts = () if f.is_saved else filter(tries, f.record.trace.tries)
        yield from map(to_json, in_order(filter(wants, f.firings), attempts, **_whose(f)))
        yield from map(to_json, (*f.phases, *f.graphs, f.about))


def _whose(f: FunctionReport) -> dict[str, Any]:
    """Return the fields that say which function a line is about."""
    return {"function": f.name, "function_index": f.index}


def report_line(failed: list[FailedFunction]) -> ReportLine:
    """Return the record of a whole report: versions, and functions that failed."""
    versions = {"rewrite_engine": _own_version(), "python": python_version()}
    return ReportLine(versions=versions | {"numpy": np.__version__}, failed=failed)


def _own_version() -> str:
    try:
        return version("rewrite-engine")
    except PackageNotFoundError:  # run from the sources, not installed
        return "unknown"


# --- firings and phases --------------------------------------------------------------------------


def firing_lines(f: FunctionReport) -> tuple[FiringLine, ...]:
    """Return the records of a function's firings, in order."""
    return tuple(described(f, f.steps, f.record.trace.addresses(), savings(f)))


def described(
    f: FunctionReport,
    steps: Iterable[RecordedFiring],
    places: Mapping[int, Address] = MappingProxyType({}),
    saved: Mapping[int, Saving] = MappingProxyType({}),
) -> Iterator[FiringLine]:
    """Yield the records of some firings. places, saved: by their numbers, where known."""
    before: RecordedFiring | None = None
    for step in steps:
        rule_file, rule_line = step.rule_where or (None, None)
        forward_file, forward_line = step.forward or (None, None)
        promise = getattr(step.rule, "promise", None)
        yield firing_line(
            step,
            places.get(step.number),
            evidence=list(step.evidence),
            letters=dict(step.change.letters),
            rule_file=rule_file,
            rule_line=rule_line,
            made=len(step.made),
            forward_file=forward_file,
            forward_line=forward_line,
            tags=tuple(sorted(getattr(step.rule, "names", ()))),
            promise=None if promise is None else str(promise),
            conditions=step.conditions,
            of_graph=step.change.of_graph,
            same_node=before is not None and _is_of_one_op(before, step),
            saved=saved.get(step.number),
            **_whose(f),
        )
        before = step


def _is_of_one_op(one: RecordedFiring, other: RecordedFiring) -> bool:
    """Return whether a rule replaced two outputs of an op, one after the other."""
    return one.node is other.node and one.rule_name == other.rule_name


def phase_lines(f: FunctionReport) -> tuple[PhaseLine, ...]:
    """Return the records of a function's phases, run by run."""
    return tuple([phase_line(result, **_whose(f)) for result in f.record.trace.phases])


# --- the function --------------------------------------------------------------------------------


def function_line(f: FunctionReport) -> FunctionLine:
    """Return the record of one function."""
    check, record = f.check, f.record
    before, after = record.before, record.after
    a, b = cost_of(before, check.shapes_before), cost_of(after, check.shapes_after)
    file, line = record.place or (None, None)
    about: FunctionLine = filled(
        FunctionLine,
        check,
        **_whose(f),
        file=file,
        line=line,
        firings=len(f.steps),
        merged=_merged(f),
        **_costs(a, b),
        **_peaks(peak_of(before, check.shapes_before), peak_of(after, check.shapes_after)),
        seconds=_seconds(f),
        call_error=record.called.error,
        compared_on=check.basis,
        verdict=_verdict(check),
        outputs=[_output(name, one) for name, one in check.outputs],
        mode=repr(record.mode),
        runs=record.runs,
        inputs=_inputs(f),
        assumptions=_assumptions(f),
        claims=_claims(check.claims),
        formulas_before=formula_lines(before, f.outputs, check.shapes_before),
        formulas_after=formula_lines(after, f.outputs, check.shapes_after),
        loops_before=tuple(Formula(before.outputs).functions(None)),
        loops_after=tuple(Formula(after.outputs).functions(None)),
    )
    return about


def _verdict(found: Any) -> Any:
    return found.verdict.name.lower()


def _output(name: str, one: Comparison) -> OutputVerdict:
    fields = {"verdict": _verdict(one), "special": bool(one.special)}
    found: OutputVerdict = filled(OutputVerdict, one, name=name, **fields)
    return found


def _merged(f: FunctionReport) -> dict[str, int]:
    """Return how many equal nodes were merged, while the graph was built and in each phase."""
    found = {"build": f.record.merged_at_build}
    for phase in f.phases:
        found[phase.phase] = found.get(phase.phase, 0) + phase.merged
    return found


def _costs(a: Cost, b: Cost) -> dict[str, Any]:
    sizes = {
        f"{what}_{when}": getattr(one, what)
        for what in ("nodes", "flops", "bytes")
        for when, one in (("before", a), ("after", b))
    }
    uncounted = tuple(sorted({*a.uncounted, *b.uncounted}))
    return sizes | {"unsized": max(a.unsized, b.unsized), "uncounted": uncounted}


def _peaks(a: Peak, b: Peak) -> dict[str, Any]:
    where = "" if b.node is None else place_text(b.node.where(), short=True)
    at = "" if b.node is None else f"{b.node.op} ({where})" if where else str(b.node.op)
    return {"peak_before": a.bytes, "peak_after": b.bytes, "peak_at": at}


def _seconds(f: FunctionReport) -> dict[str, float | None]:
    """Return the seconds of each stage and phase; without what went into loading rules, which is
    the rest of rewriting.
    """
    phases: dict[str, float | None] = {}
    for phase in f.phases:
        seconds = phase.seconds - sum(rule.loading for rule in phase.rules.values())
        phases[phase.phase] = (phases.get(phase.phase) or 0.0) + seconds
    return {**f.record.seconds, **phases, "first call": f.record.called.seconds}


def _inputs(f: FunctionReport) -> list[InputFields]:
    """Return the arguments and the state, in the order of the graph's inputs."""
    record, shapes, roots = f.record, f.check.shapes_before, Roots()
    found = []
    for v, spec in zip(record.before.inputs, record.inputs, strict=True):
        is_state = not isinstance(spec, Argument)
        known = shapes.get(v) if is_state or record.called.values is not None else None
        shape = v.type.shape if known is None else known
        lengths = list(shape) if isinstance(shape, tuple) else None
        one = InputFields(
            name=str(roots(v)), type=str(v.type), shape=lengths, state=is_state,
            dtype=getattr(v.type, "dtype", None),
        )  # fmt: skip
        found.append(one)
    return found


def _assumptions(f: FunctionReport) -> list[Assumption]:
    """Return the assumptions of firings: those that users declared or the mode grants, then those
    that facts proved.
    """
    found: dict[tuple[str, bool], list[int]] = {}
    for step in f.steps:
        name = step.assumes or step.proved
        if name is not None:
            found.setdefault((name, step.assumes is not None), []).append(step.number)
    ranked = sorted(found.items(), key=lambda item: not item[0][1])
    declared = [step for step in f.steps if step.rule_name == DECLARED]
    return [
        *[
            Assumption(name=str(one.before), granted=True, declared=True, firings=[one.number])
            for one in declared
        ],
        *[
            Assumption(name=name, granted=granted, declared=False, firings=numbers)
            for (name, granted), numbers in ranked
        ],
    ]


def _claims(claims: Any) -> ClaimCounts:
    found: ClaimCounts = filled(
        ClaimCounts, claims, judged=claims.steps, not_judged=claims.left,
        not_special=claims.why_not,
        untrue=[filled(UntrueClaim, one, firing=one.number) for one in claims.untrue],
        forgiven=claims.forgiven,
    )  # fmt: skip
    return found


def formula_lines(fgraph: Any, names: Any, shapes: Any) -> list[str]:
    """Return a graph as formulas: graphs inside ops, what is used several times, the outputs."""
    formula = Formula(fgraph.outputs)
    return [*formula.definitions(None), *formulas(formula, fgraph.outputs, names, shapes)]


def formulas(
    formula: Formula, results: Any, names: Any, shapes: Any, limit: int | None = None
) -> Iterator[str]:
    """Yield what is used several times, each defined once; then the outputs by name."""
    taken = set(formula.names.values())
    for node, name in formula.names.items():
        size = _size_text(node.outputs[0], shapes) if len(node.outputs) == 1 else ""
        yield f"{name} = {formula.text(node, limit)}{size}"
    for name, v in zip(names, results, strict=True):
        text = formula.text(v, limit)
        yield f"{name}: {text}" if name in taken or " " in name else f"{name} = {text}"


def _size_text(v: Any, shapes: Any) -> str:
    """Return `   [3, 4]`, to stand behind a formula: the lengths of an array, as far as known."""
    shape = shapes.get(v, v.type.shape)
    if not shape or set(shape) == {None}:
        return ""
    return f"   [{', '.join('?' if n is None else str(n) for n in shape)}]"
