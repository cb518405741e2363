"""Findings as they are told: shrunk, with who is to blame, one of a kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fuzz.blame import Checker, guilty
from fuzz.case import Case, snippet
from fuzz.deviation import Deviation
from fuzz.shrink import shrink
from rewrite_engine.judge.verdict import Broken


@dataclass(frozen=True)
class Report:
    """A finding as it is told. key: equal for findings of one kind."""

    name: str
    key: tuple[str, ...]
    text: str


def report(
    name: str, case: Case, mode_name: str, mode: Any, check: Checker, finding: Deviation
) -> Report | None:
    """What to tell of a finding; None where claims of the guilty rule allow it."""
    small = case
    if not getattr(check, "as_it_is", False):
        small = shrink(case, lambda c: _is_like(check(c, mode), finding))
    found = check(small, mode) or finding
    who, rule = guilty(small, mode, check, found.kind)
    if rule is not None and allowed(found, rule, small, mode, check):
        return None
    blamed = getattr(rule, "name", None)
    ops = sorted({str(node.op).partition("{")[0] for node in small.nodes})
    key = (found.kind, blamed or f"{who.partition(':')[0]} {' '.join(ops)}")
    head = f"{found.kind} ({name}, mode {mode_name})\n{found.text}\nby {who}"
    return Report(name, key, snippet(small, head))


def _is_like(found: Deviation | None, finding: Deviation) -> bool:
    """Whether a finding is of the kind of another, and no rule that stabilises may do it unless it
    may do the other.
    """
    if found is None or found.kind != finding.kind:
        return False
    return found.severity > 0 or finding.severity == 0


def allowed(found: Deviation, rule: Any, case: Case, mode: Any, check: Any) -> bool:
    """Whether the claim of a rule allows a finding."""
    promise, tags = getattr(rule, "promise", None), getattr(rule, "tags", ())
    ulps = (promise is not None and promise.ulps) or 0
    if found.kind == Broken.INFINITE:
        return "reorder" in tags  # partial sums overflow in another order
    # What is infinite in parts depends on the order; what is NaN, on any overflow.
    regroups = "reorder" in tags or (ulps and found.kind in (*ROUGH, Broken.NAN_LOST))
    if regroups and replace(check, regrouped=True)(case, mode) is None:
        return True
    if found.kind in ROUGH and found.severity <= 4 * min(ulps, 750) > 0:
        return True
    stabilises = getattr(rule, "phase", "") == "stabilize" or rule.pack in ("exp_log", "saturation")
    return stabilises and found.severity == 0


ROUGH = (Broken.ACCURACY, "gradient wrong")
