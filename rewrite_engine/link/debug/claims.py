"""Verdict on a rewriting step, on the values of one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.judge.difference import both_sides
from rewrite_engine.judge.values import TermValues, cone_of, leaves_of
from rewrite_engine.judge.verdict import Verdict, judge
from rewrite_engine.link.debug.record import RewriteStep
from rewrite_engine.link.debug.told import first_difference, largest_difference


def judge_step(step: RewriteStep, run: TermValues, a: Any, b: Any) -> Verdict:
    """Return the verdict on a step from a term with value a to one with value b."""
    leaves = [v for v in leaves_of(changed_nodes(step)) if not isinstance(v, Constant)]
    given = {v: run.values[v] for v in leaves if v in run.values}
    rule = step.rule_name if step.rule is None else step.rule
    return judge(both_sides(rule, step.before, step.after), given, run, a, b, strict=False)


def changed_nodes(step: RewriteStep) -> list[Apply]:
    """Return the nodes that one of the two terms of a step has, and the other has not."""
    before, after = step.before, step.after
    return [*cone_of(before, after), *cone_of(after, before)]


def difference_text(a: Any, b: Any) -> Sequence[str]:
    """Describe the first difference of two values in a line."""
    return [f"first difference: {first_difference(a, b)}{largest_difference(a, b)}"]
