"""Attempts: one try of a rule at a node, and the reason for its outcome (found by
`match/explain.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.explain import Diagnosis, declined, diagnose
from rewrite_engine.match.fact import Evidence
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.rule import DataRule

UNCHANGED = "its result is already in the graph: nothing would change"


@dataclass(frozen=True, slots=True)
class Attempt:
    """Record of one try of a rule.

    node: the node, which may have changed since; term: the term at the time. verdict: fired, taken
    back, failed, refused or error. part: the part that failed: a sub-pattern or guard as text,
    "root", "right side", "type", "function", the feature that refused, or the strategy or driver
    that undid it. reason: why, in words. bindings: values of the rule's variables, as text.
    evidence: evidence of facts for the guards that hold. firing: its number, if it fired. took: the
    seconds of the try itself; seconds: since the trace began. ruled_out: the index excluded the
    rule, which was not called. strategy: the name of the strategy that tried the rule, if any.
    """

    number: int
    graph: int
    phase: str
    rule: Any
    node: Apply
    term: str
    verdict: str
    part: str
    reason: str
    bindings: Mapping[str, str]
    evidence: tuple[str, ...]
    firing: int | None
    ruled_out: bool
    strategy: str | None
    took: float
    seconds: float

    @property
    def rule_name(self) -> str:
        """Name of the rule, as queries use it."""
        return str(getattr(self.rule, "name", self.rule))

    def __str__(self) -> str:
        if self.verdict == "fired":
            return f"{self.term}: {self.rule_name} fired"
        return f"{self.term}: {self.rule_name} {self.outcome}: {self.reason}"

    @property
    def outcome(self) -> str:
        """Verdict, and who undid the firing."""
        return f"taken back by {self.part}" if self.verdict == "taken back" else self.verdict

    def taken_back(self, by: str, why: str) -> Attempt:
        """Return this attempt with the verdict that its firing was undone."""
        if self.verdict != "fired":
            return self
        return replace(self, verdict="taken back", part=by, reason=why, firing=None)


def blamed(rule: Any, inner: Sequence[Attempt]) -> Diagnosis:
    """Return why a strategy failed, judging by its tries."""
    if any(a.verdict == "fired" for a in inner):
        return Diagnosis(False, "right side", UNCHANGED)
    last = inner[-1]
    if last.rule is rule:  # it says so itself
        return Diagnosis(False, last.part, last.reason)
    return Diagnosis(False, last.rule_name, failure(last))


def failure(a: Attempt) -> str:
    """Describe how the last try in a failing strategy relates to the failure."""
    if a.verdict == "fired":
        return f"there is no term left to continue with after {a.rule_name}"
    own = a.verdict == "taken back"
    return a.reason if own else f"{a.rule_name} {a.verdict} at {a.term}: {a.reason}"


def settled(inner: Sequence[Attempt], whole: Attempt, count: int) -> Iterator[Attempt]:
    """Yield the tries in a strategy with the outcome of the whole: the last `count` that would fire
    have fired; or its last step is refused; or all are taken back.
    """
    number = count - sum([a.verdict == "fired" for a in inner])
    for a in inner:
        if a.rule is whole.rule:
            continue
        one = replace(a, strategy=whole.rule_name)
        if a.verdict != "fired":
            yield one
            continue
        number += 1
        if whole.verdict == "fired":
            yield replace(one, firing=number)
        elif whole.verdict == "refused" and number == count:
            yield replace(one, verdict="refused", part=whole.part, reason=whole.reason, firing=None)
        else:
            yield one.taken_back(whole.rule_name, whole.reason)


def evidence_texts(found: Iterable[tuple[str, Any]]) -> tuple[str, ...]:
    """Return the answers of facts: `nonneg(x): because it is a square`. A plain predicate gives
    none.
    """
    return tuple([f"{guard}: {said}" for guard, said in found if isinstance(said, Evidence)])


def diagnosed(
    rule: Any,
    node: Apply,
    fgraph: FunctionGraph | None,
    verdict: str,
    reason: Any,
    text: Callable[[Any], str],
) -> Diagnosis:
    """Try the rule again in the interpreter, to find why it failed. Functions are not called a
    second time.
    """
    if isinstance(reason, Diagnosis):  # it is known already
        return reason
    data = isinstance(rule, DataRule)
    computes = data and isinstance(rule.right, Compute)
    run = data and (verdict == "failed" or (verdict == "fired" and computes))
    part = said = ""
    try:
        found = diagnose(rule, node, fgraph, text, run=run)
    except Exception as error:  # a fact, or a right side in Python: the try failed the same way
        found = Diagnosis(False, "function", f"it raises {type(error).__name__}: {error}")
    if verdict in ("refused", "error"):
        part = getattr(reason, "feature", None) or ("type" if verdict == "refused" else "function")
        said = f"{type(reason).__name__}: {reason}" if verdict == "error" else str(reason)
    elif verdict == "failed":
        if not found.applies:
            return found
        part = "right side" if data else "function"
        said = UNCHANGED if data else declined(rule, reason, text)
    return Diagnosis(verdict == "fired", part, said, found.bindings, found.evidence)


def shown(value: Any, text: Callable[[Any], str]) -> str:
    """Return the value of a rule's variable as text."""
    if isinstance(value, tuple):
        return f"({', '.join([shown(v, text) for v in value])})"
    return text(value) if hasattr(value, "owner") else repr(value)
