"""One try of a rule at a node, and why it came out as it did (`match/explain.py` knows)."""

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

UNCHANGED = "what it makes is there already: nothing would change"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try.

    node: as it is by now; term: as it was. verdict: fired, taken back, failed, refused or error.
    part: what failed: a sub-pattern or guard as text, "root", "right side", "type", "function", the
    feature that refused, or the strategy or driver that took it back. reason: why, in words.
    bindings: what the rule's variables stood for, as text. evidence: what facts said of the guards
    that hold. firing: its number, if it fired. took: the seconds of the try itself; seconds: since
    the trace began. ruled_out: the index knew, and the rule was not called. strategy: the name of
    the strategy that tried the rule, if one did.
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
        """The rule's name, as queries know it."""
        return str(getattr(self.rule, "name", self.rule))

    def __str__(self) -> str:
        if self.verdict == "fired":
            return f"{self.term}: {self.rule_name} fired"
        return f"{self.term}: {self.rule_name} {self.outcome}: {self.reason}"

    @property
    def outcome(self) -> str:
        """The verdict, and who took it back."""
        return f"taken back by {self.part}" if self.verdict == "taken back" else self.verdict

    def taken_back(self, by: str, why: str) -> Attempt:
        """This, if what it did was taken back."""
        if self.verdict != "fired":
            return self
        return replace(self, verdict="taken back", part=by, reason=why, firing=None)


def blamed(rule: Any, inner: Sequence[Attempt]) -> Diagnosis:
    """Why a strategy has failed, by what was tried in it."""
    if any(a.verdict == "fired" for a in inner):
        return Diagnosis(False, "right side", UNCHANGED)
    last = inner[-1]
    if last.rule is rule:  # it says so itself
        return Diagnosis(False, last.part, last.reason)
    return Diagnosis(False, last.rule_name, failure(last))


def failure(a: Attempt) -> str:
    """What the last try in a strategy that fails has to do with it."""
    if a.verdict == "fired":
        return f"there is nothing left to go on with after {a.rule_name}"
    own = a.verdict == "taken back"
    return a.reason if own else f"{a.rule_name} {a.verdict} at {a.term}: {a.reason}"


def settled(inner: Sequence[Attempt], whole: Attempt, count: int) -> Iterator[Attempt]:
    """Yield the tries in a strategy as it came out as a whole: what would fire has fired, as the
    last ones of `count`; or its last step is refused; or all is taken back.
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
    """What facts answered: `nonneg(x): because it is a square`. A plain predicate says nothing."""
    return tuple([f"{guard}: {said}" for guard, said in found if isinstance(said, Evidence)])


def diagnosed(
    rule: Any,
    node: Apply,
    fgraph: FunctionGraph | None,
    verdict: str,
    reason: Any,
    text: Callable[[Any], str],
) -> Diagnosis:
    """Ask the rule again, by the interpreter. Functions are not called a second time."""
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
    """A value that a variable of a rule stands for, as text."""
    if isinstance(value, tuple):
        return f"({', '.join([shown(v, text) for v in value])})"
    return text(value) if hasattr(value, "owner") else repr(value)
