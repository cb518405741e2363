"""The report as JSON lines, for programs: one object per firing, then one per function.

A firing (`"kind": "firing"`): function, function_index, number, phase, rule, rule_text, claim,
assumes (a granted assumption or null), evidence (what facts said), before, after, letters ({letter:
term}), rule_file, rule_line, user_file, user_line, made (nodes that came into the graph), seconds
(since rewriting of the function began).

A function (`"kind": "function"`): function, function_index, file, line, firings, merged ({phase:
nodes}), nodes_before, nodes_after, flops_before, flops_after, bytes_before, bytes_after, seconds
({stage: seconds}), compared_on, verdict, outputs ([{name, verdict, ulps, text}]), problem. Lines
and files are null where they are not known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from rewrite_engine.explain.record import Step
from rewrite_engine.explain.report import FunctionReport, Report
from rewrite_engine.explain.table import rule_where


def json_lines(report: Report, wants: Callable[[Step], bool] = lambda step: True) -> Iterator[str]:
    """Yield the lines. wants: which firings."""
    for f in report.functions:
        for step in filter(wants, f.steps):
            yield json.dumps(firing_record(f, step), ensure_ascii=False)
        yield json.dumps(function_record(f), ensure_ascii=False)


def firing_record(f: FunctionReport, step: Step) -> dict[str, Any]:
    """One firing."""
    rule_file, rule_line = rule_where(step.rule) or (None, None)
    user_file, user_line = step.origin or (None, None)
    claim = getattr(step.rule, "promise", None)
    return {
        "kind": "firing",
        "function": f.name,
        "function_index": f.record.index,
        "number": step.number,
        "phase": step.phase,
        "rule": step.rule_name,
        "rule_text": getattr(step.rule, "text", None),
        "claim": None if claim is None else str(claim),
        "assumes": step.assumes,
        "evidence": list(step.evidence),
        "before": step.change.before,
        "after": step.change.after,
        "letters": dict(step.change.letters),
        "rule_file": rule_file,
        "rule_line": rule_line,
        "user_file": user_file,
        "user_line": user_line,
        "made": len(step.made),
        "seconds": step.seconds,
    }


def function_record(f: FunctionReport) -> dict[str, Any]:
    """One function."""
    record, check, a, b = f.record, f.check, f.cost_before, f.cost_after
    file, line = record.place or (None, None)
    phases = record.story.phases
    seconds = dict(record.seconds) | {phase.name: phase.seconds for phase in phases}
    return {
        "kind": "function",
        "function": f.name,
        "function_index": record.index,
        "file": file,
        "line": line,
        "firings": len(f.steps),
        "merged": {"build": record.merged_at_build}
        | {phase.name: phase.merged for phase in phases},
        "nodes_before": a.nodes,
        "nodes_after": b.nodes,
        "flops_before": a.flops,
        "flops_after": b.flops,
        "bytes_before": a.bytes,
        "bytes_after": b.bytes,
        "seconds": seconds | {"first call": record.called.seconds},
        "compared_on": check.basis,
        "verdict": check.verdict.name.lower(),
        "outputs": [
            {"name": name, "verdict": one.verdict.name.lower(), "ulps": one.ulps, "text": one.text}
            for name, one in check.outputs
        ],
        "problem": check.problem,
    }
