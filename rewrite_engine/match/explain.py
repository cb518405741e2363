"""`diagnose(rule, node)`: whether a rule applies at a node, and if not, which part of its left
side, guard or other condition fails. Traces and `why_not` use it.

`Probe` is the interpreted matcher, listening to its own failures. A pattern that may match in
several ways fails in several; the failure that got furthest is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rewrite_engine.errors import SearchBudgetError
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.match.build import instantiate, proposed
from rewrite_engine.match.differences import views
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.interpret import ASKED, Bindings, Matcher, match_root, named
from rewrite_engine.match.lower import Compute, Condition, Lowered
from rewrite_engine.match.outline import tracks
from rewrite_engine.match.pattern import Graph, Hole, Literal, OpNode
from rewrite_engine.match.rule import DataRule, NodeRewriter, Rule, RuleOfRules
from rewrite_engine.match.text import pattern_text
from rewrite_engine.terms.print import brief

Text = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Outcome of a rule at a node.

    applies: whether it would fire. part: the part that fails: a sub-pattern or guard as text,
    "root", "right side", "type" or "function"; empty if nothing does. reason: why, in words.
    bindings: values of the rule's variables, as far as they are bound at the failure. evidence: the
    guards that were evaluated and hold, with their answers. progress: how many parts of the pattern
    matched and guards succeeded.
    """

    applies: bool
    part: str = ""
    reason: str = "the rule applies"
    bindings: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[tuple[str, Any], ...] = ()
    progress: int = 0


def diagnose(
    rule: Rule, node: Apply, fgraph: Graph = None, text: Text = brief, run: bool = True
) -> Diagnosis:
    """Diagnose a rule at a node. text: writes terms. run: whether Python functions of right sides
    may be called; without it a rule counts as applying if only that is left.
    """
    if isinstance(rule, RuleOfRules) and not isinstance(rule, Equation):
        return _diagnose_strategy(rule, node, fgraph, text, run)
    if not tracks(rule.roots(), node.op):
        return _diagnose_other_root(rule, node)
    if isinstance(rule, DataRule):
        return _diagnose_data(rule, node, fgraph, text, run)
    if isinstance(rule, Equation):
        return _diagnose_equation(rule, node, fgraph, text, run)
    return _diagnose_function(rule, node, fgraph, text, run)


def _diagnose_other_root(rule: Rule, node: Apply) -> Diagnosis:
    """Diagnose a node at which a rule does not apply."""
    roots = rule.roots() or ()
    names = ", ".join(getattr(r, "__name__", str(r)) for r in roots)
    text = next(filter(None, [_describe_difference(root, node.op) for root in roots]), "")
    why = f"the rule looks at {names}{f'; {text}' if text else f', but this is {node.op}'}"
    return Diagnosis(False, "root", why, progress=0 if text else -1)


def _describe_difference(wanted: Any, op: Any) -> str:
    """Describe how an op differs from one of the same name with other parameters."""
    name, other = [str(x).partition("{")[0] for x in (op, wanted)]
    if type(wanted) is not type(op) or name != other:
        return ""
    differ = [p for p in op.__props__ or () if getattr(op, p) != getattr(wanted, p)]
    parts = [f"{p} differs: {getattr(op, p)!r} against {getattr(wanted, p)!r}" for p in differ]
    return f"it has {name}: {', '.join(parts)}" if parts else ""


def _diagnose_data(rule: DataRule, node: Apply, fgraph: Graph, text: Text, run: bool) -> Diagnosis:
    if rule.left.target(node) is None:
        has = f"{node.op} has {len(node.outputs)} outputs here"
        return Diagnosis(False, "root", f"the rule looks at {pattern_text(rule.left)}, but {has}")
    first: Diagnosis | None = None
    probes = [Probe(way, text, fgraph) for way in rule.lowered.ways]
    try:
        for probe in probes:
            for bound in probe.ways(node):
                result = _diagnose_right_side(rule, node, bound, probe, run)
                if result.applies:
                    return result
                first = first or result
    except SearchBudgetError as error:
        return Diagnosis(False, "root", str(error))
    if rule.nests and run and isinstance(rule.interpreted(fgraph, node), Variable):
        return Diagnosis(True)
    for view, _ in views(rule.left, rule.lowered.exact, fgraph, node):
        list(probes[0].ways(view))  # what fails there may have come further
    return first or max(probes, key=lambda probe: probe.progress).diagnosis(node)


def _diagnose_right_side(
    rule: DataRule, node: Apply, bound: Bindings, probe: Probe, run: bool
) -> Diagnosis:
    """Try the right side, after the left side matches and the guards hold."""
    evidence = probe.evidence(bound)
    progress = probe.reached + len(evidence)
    bound = named(bound)

    def no(part: str, reason: str) -> Diagnosis:
        text = f"the left side matches; {reason}"
        return Diagnosis(False, part, text, bound, evidence, progress)

    if run:
        old, place = rule.left.target(node), rule.left.place
        new = instantiate(probe.right, bound, node, place)
        if new is None and isinstance(probe.right, Compute):
            return no("right side", "the function that makes the right side declines")
        if new is None:
            why = f"the right side is a number (0-d), but the term has the type {old.type}"
            return no("type", why)
        pairs = zip(node.outputs, new, strict=True) if isinstance(new, tuple) else [(old, new)]
        for was, one in pairs:
            if not rule.accept(was, one):
                return no("type", f"the type would change from {was.type} to {one.type}")
        new = proposed(node, place, new)
        answer = True if rule.keeps is None else rule.keeps(probe.fgraph, node, new)
        if not answer:
            return no("errors", _explain_guard(answer, probe.text))
    return Diagnosis(True, bindings=bound, evidence=evidence, progress=progress)


def _diagnose_equation(
    rule: Equation, node: Apply, fgraph: Graph, text: Text, run: bool
) -> Diagnosis:
    """Diagnose an equation, by both directions."""
    here = [one for one in rule.directions if tracks(one.roots(), node.op)]
    results = [(one, diagnose(one, node, fgraph, text, run)) for one in here]
    best = max([one for _, one in results], key=lambda one: (one.applies, one.progress))
    reason = "; ".join([f"{rule.short_name}: {one.reason}" for rule, one in results])
    return best if best.applies else replace(best, reason=reason)


def _diagnose_strategy(rule: Any, node: Apply, fgraph: Graph, text: Text, run: bool) -> Diagnosis:
    """Diagnose a rule made of rules, by those that may act first."""
    results = [(part, diagnose(part, node, fgraph, text, run)) for part in rule.leading]
    able = next((part for part, outcome in results if outcome.applies), None)
    if able is not None:
        done = not run or rule.apply(fgraph, node) is not None
        return Diagnosis(True) if done else _diagnose_stop(rule, able, node, fgraph, text)
    part, outcome = max(results, key=lambda pair: pair[1].progress)
    return replace(outcome, part=part.name, reason=f"{part.name}: {outcome.reason}")


def _diagnose_stop(rule: Any, able: Rule, node: Apply, fgraph: Graph, text: Text) -> Diagnosis:
    """Diagnose a strategy that fails although a part of it may act."""
    stop = rule.stopped(fgraph, node)
    if isinstance(stop, str):
        return Diagnosis(False, rule.name, f"{able.name} applies, but {stop}")
    if stop is None or stop[1] is None:
        no = f"{able.name} applies, but the rest of {rule.name} does not"
        return Diagnosis(False, able.name, no)
    part, here = stop
    outcome = diagnose(part, here, None, text)
    why = f"{able.name} applies; then {part.name} fails at {text(here)}: {outcome.reason}"
    return replace(outcome, applies=False, part=part.name, reason=why)


def _diagnose_function(rule: Rule, node: Apply, fgraph: Graph, text: Text, run: bool) -> Diagnosis:
    """Diagnose a rule written in Python: whether it returns anything, and if not, its
    description.
    """
    others = [v for v in node.inputs if v.head is not CONSTANT]
    if others and isinstance(rule, NodeRewriter) and rule.constant_inputs:
        return Diagnosis(False, "function", f"{text(others[0])} is not a constant")
    try:
        result = rule.apply(fgraph, node) if run else True
    except Exception as error:
        return Diagnosis(False, "function", f"the rule raises {type(error).__name__}: {error}")
    if result is None or result is False or isinstance(result, Unknown):
        return Diagnosis(False, "function", declined(rule, result, text))
    return Diagnosis(True)


def declined(rule: Rule, answer: Any, text: Text) -> str:
    """Describe why a rule in Python returned nothing."""
    kind = "function declines" if isinstance(rule, NodeRewriter) else "relation has no answer"
    if isinstance(answer, Unknown):
        return f"the rule's {kind}: {_explain_guard(answer, text)}"
    return f"the rule's {kind}; its docstring says: {rule.doc.splitlines()[0]}"


class Probe(Matcher):
    """Matcher of a data rule that records the failure that got furthest."""

    __slots__ = ("first", "progress", "reached", "right", "text")

    def __init__(self, rule: Lowered, text: Text = brief, fgraph: Graph = None) -> None:
        super().__init__(rule.left, rule.exact, guards=rule.guards, fgraph=fgraph)
        self.right, self.text = rule.right, text
        self.reached = 0  # parts of the pattern that match on the way that is being tried
        self.progress = -1
        self.first: tuple[Any, Any, Bindings, Any] = (rule.left, None, {}, "it does not match")

    def failed(self, part: Any, here: Any, bound: Bindings, why: Any = None) -> None:
        progress = self.reached + len(bound.get(ASKED, ()))
        if isinstance(part, Condition):
            progress += 1  # parts that match are behind it
        elif isinstance(part, Literal) and here.head is CONSTANT:
            progress += 1  # a constant comes closer than anything else
        if progress > self.progress:
            self.progress, self.first = progress, (part, here, bound, why)

    def matches(
        self, pattern: Any, v: Any, bound: Bindings, whole: Any = None
    ) -> Iterator[Bindings]:
        part = not isinstance(pattern, OpNode)  # those count where they are entered
        for inner in super().matches(pattern, v, bound, whole):
            self.reached += part
            yield inner
            self.reached -= part

    def match_op(self, pattern: OpNode, v: Any, bound: Bindings) -> Iterator[Bindings]:
        self.reached += 1
        yield from super().match_op(pattern, v, bound)
        self.reached -= 1

    def evidence(self, bound: Bindings) -> tuple[tuple[str, Any], ...]:
        """Return the evaluated guards, in order, with their answers."""
        answers = bound.get(ASKED, {})
        return tuple([(self.guards[i].text, answer) for i, answer in answers.items()])

    def diagnosis(self, node: Apply) -> Diagnosis:
        """Return the failure that got furthest."""
        part, here, bound, why = self.first
        evidence = self.evidence(bound)
        bound = named(bound)
        if isinstance(part, Condition):
            reason = f"guard {part.text}: {_explain_guard(here, self.text)}"
            if next(match_root(self.left, node, self.exact), None) is not None:
                reason = f"the left side matches; {reason}"
            return Diagnosis(False, part.text, reason, bound, evidence, self.progress)
        name = part.name if isinstance(part, Hole) else pattern_text(part)
        text = self._explain_failure(part, here, bound, why)
        reason = text if isinstance(part, Hole) else f"`{name}`: {text}"
        return Diagnosis(False, name, reason, bound, evidence, max(self.progress, 0))

    def _explain_failure(self, part: Any, here: Any, bound: Bindings, why: Any) -> str:
        if isinstance(part, Hole):
            if part.name in bound:
                known = self._write_value(bound[part.name])
                return f"{part.name} is already {known}, but here is {self._write_value(here)}"
            kind = "a constant" if here.head is CONSTANT else f"of type {here.type}"
            wider = part.sort.formerly
            hint = "" if wider is None or not wider(here) else f" (write {wider} for these, too)"
            return f"{part.name} must be {part.sort}, but {self.text(here)} is {kind}{hint}"
        if isinstance(why, tuple):
            name, value, wanted = why
            return f"{name} differs: {value!r} against {wanted!r}"
        if why is not None:
            return str(why)
        if here.head is CONSTANT:
            other = "another number" if isinstance(part, Literal) else "a constant"
            return f"{self.text(here)} is {other}"
        if isinstance(part, Literal):
            return f"{self.text(here)} is not a constant"
        if here.owner is None:
            return f"{here} is an input"
        unlike = _describe_difference(part.op, here.owner.op)
        return unlike or f"{self.text(here)} is computed by {here.owner.op}"

    def _write_value(self, value: Any) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(map(self._write_value, value))})"
        return self.text(value) if isinstance(value, Variable) else repr(value)


def _explain_guard(said: Any, text: Text) -> str:
    """Return the answer of a guard that does not hold."""
    if isinstance(said, Unknown):
        shown = text(said.blame) if isinstance(said.blame, Variable) else said.blame
        return said.why if said.blame is None else f"{said.why}: {shown}"
    return "it does not hold" if said is None or isinstance(said, bool) else str(said)
