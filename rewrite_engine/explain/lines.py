"""The report as JSON lines, for programs: a line on all of it, then the firings of each function
(and the attempts, if they were recorded), its phases, its graphs (`snapshot.py`), and one line on
the function.
`rewrite/trace/schema.json` says what each field means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.explain.claims import Claims
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import formula_lines
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.snapshot import graph_records
from rewrite_engine.rewrite.trace.attempts import Attempt
from rewrite_engine.rewrite.trace.lines import firing_record, line, lines_of, start
from rewrite_engine.rewrite.trace.places import Address

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report


def json_lines(
    report: Report,
    wants: Callable[[RecordedFiring], bool] = lambda step: True,
    tries: Callable[[Attempt], bool] = lambda attempt: True,
) -> Iterator[str]:
    """Yield the JSON lines of a report. wants, tries: which firings and attempts."""
    yield line(report_record(report))
    for f in report.functions:
        whose = {"function": f.name, "function_index": f.record.index}
        trace = f.record.trace
        firings, attempts = filter(wants, f.steps), filter(tries, f.record.trace.tries)
        yield from lines_of(trace, firings, attempts, partial(_firing, whose), **whose)
        for found in graph_records(f):
            yield line(found | whose)
        yield line(function_record(f) | whose)


def _firing(whose: dict[str, Any], step: RecordedFiring, place: Address | None) -> dict[str, Any]:
    rule_file, rule_line = step.rule_where or (None, None)
    return firing_record(
        step,
        place,
        None,
        evidence=list(step.evidence),
        letters=dict(step.change.letters),
        rule_file=rule_file,
        rule_line=rule_line,
        made=len(step.made),
        **whose,
    )


def report_record(report: Report) -> dict[str, Any]:
    """Return the record of the whole report: versions, and functions that failed."""
    return start("report") | {
        "versions": {
            "rewrite_engine": _own_version(),
            "python": python_version(),
            "numpy": np.__version__,
        },
        "failed": [
            {"name": one.name, "file": file, "line": row, "error": one.error}
            for one in report.failed
            for file, row in [one.place or (None, None)]
        ],
    }


def _own_version() -> str:
    try:
        return version("rewrite-engine")
    except PackageNotFoundError:  # run from the sources, not installed
        return "unknown"


def function_record(f: FunctionReport) -> dict[str, Any]:
    """Return the record of one function."""
    check, times, a, b = f.check, f.times, f.cost_before, f.cost_after
    file, line = f.record.place or (None, None)
    stages = {"build": times.build, "rewrite": times.rewrite, "link": times.link}
    return start("function") | {
        "file": file,
        "line": line,
        "firings": len(f.steps),
        "merged": f.merged,
        "nodes_before": a.nodes,
        "nodes_after": b.nodes,
        "flops_before": a.flops,
        "flops_after": b.flops,
        "bytes_before": a.bytes,
        "bytes_after": b.bytes,
        "peak_before": f.peaks[0].bytes,
        "peak_after": f.peaks[1].bytes,
        "seconds": {**stages, **times.phases, "first call": times.first_call},
        "compared_on": check.basis,
        "verdict": check.verdict.name.lower(),
        "outputs": [
            {"name": name, "verdict": one.verdict.name.lower(), "ulps": one.ulps, "text": one.text}
            for name, one in check.outputs
        ],
        "problem": check.problem,
        "blame": check.blame,
        "mode": repr(f.record.mode),
        "runs": f.record.runs,
        "inputs": _inputs(f),
        "assumptions": _assumptions(f),
        "claims": _claims(check.claims),
        "formulas_before": list(formula_lines(f, after=False)),
        "formulas_after": list(formula_lines(f, after=True)),
    }  # fmt: skip


def _inputs(f: FunctionReport) -> list[dict[str, Any]]:
    return [
        {"name": v.name, "type": str(v.type), "shape": _lengths(v.shape), "state": v.state}
        for v in f.inputs
    ]


def _assumptions(f: FunctionReport) -> list[dict[str, Any]]:
    return [
        {"name": a.name, "granted": a.granted, "declared": a.declared, "firings": list(a.steps)}
        for a in f.assumptions
    ]


def _lengths(shape: Any) -> list[int | None] | None:
    return list(shape) if isinstance(shape, tuple) else None


def _claims(claims: Claims) -> dict[str, Any]:
    return {
        "firings": claims.firings,
        "judged": claims.steps,
        "not_judged": claims.left,
        "calls": claims.calls,
        "special": claims.special,
        "not_special": claims.why_not,
        "problem": claims.problem,
        "untrue": [
            {"kind": one.kind, "text": one.text, "basis": one.basis, "rule": one.rule,
             "firing": one.number}
            for one in claims.untrue
        ],
    }  # fmt: skip
