"""Why a rule does not apply at a node: the part of the pattern that fails, or the guard, with the
fact's reason.

The walk is that of `match/interpret.py`, and notes where it fails. A commutative pattern fails in
several ways; the one that got furthest is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.term import cut, term_text
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.match.ac import EXTRA, is_ac, joined, may_regroup, plan, without
from rewrite_engine.match.build import ask, instantiate
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.interpret import matches
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode
from rewrite_engine.match.rule import DataRule, NodeRewriter, Rule, tracks
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.match.text import pattern_text
from rewrite_engine.rules.pipeline import all_rules

Bindings = dict[str, Any]
Way = tuple[Bindings, int]  # bindings, and how many parts of the pattern matched so far


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer for one node. matches: the rule does apply. progress: how many parts of the
    pattern matched.
    """

    rule: Any
    node: Apply
    matches: bool
    reason: str
    progress: int = 0

    @property
    def term(self) -> str:
        """The node's term."""
        return term_text(self.node.outputs[0])

    def __str__(self) -> str:
        return f"{self.term}: {self.reason}"


def find_rule(rule: Rule | str, known: RuleSet | None = None) -> Rule:
    """A rule by its name. Raises `UnknownNameError` with names that are like it."""
    if isinstance(rule, Rule):
        return rule
    known = all_rules() if known is None else known
    try:
        return known[rule]
    except UnknownNameError as error:
        from difflib import get_close_matches

        names = [r.name for r in known] + [r.short_name for r in known]
        close = get_close_matches(rule, names)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise UnknownNameError(f"{error}{hint}") from None


def why_not(rule: Rule | str, variable: Variable, fgraph: Any = None) -> WhyNot:
    """Say why a rule does not apply at the node that computes a variable.

    rule: a rule or its name (`UnknownNameError`). Raises `ValueError` for a variable that no node
    computes.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> print(why_not("log_of_one_plus", pt.log(2 + x)))
    log(2.0 + x): `1`: 2.0 is another number
    """
    rule = find_rule(rule)
    node = variable.owner
    if node is None:
        raise ValueError(f"{variable!r} is an input or a constant: rules apply to nodes")
    if not tracks(rule.roots(), node.op):
        roots = ", ".join(getattr(r, "__name__", str(r)) for r in rule.roots() or ())
        return WhyNot(rule, node, False, f"the rule looks at {roots}, and this is {node.op}")
    if isinstance(rule, DataRule):
        return Probe(rule, node).answer()
    return _ask_function(rule, node, fgraph)


def _ask_function(rule: Rule, node: Apply, fgraph: Any) -> WhyNot:
    """For rules that are Python: whether it returns anything, and if not, what it is about."""
    if isinstance(rule, NodeRewriter) and rule.constant_inputs:
        others = [v for v in node.inputs if v.head is not CONSTANT]
        if others:
            return WhyNot(rule, node, False, f"{_short(others[0])} is not a constant")
    try:
        result = rule.apply(fgraph, node)
    except Exception as error:
        return WhyNot(rule, node, False, f"the rule raises {type(error).__name__}: {error}")
    if result is None or result is False:
        kind = (
            "relation has no answer" if not isinstance(rule, NodeRewriter) else "function declines"
        )
        return WhyNot(
            rule, node, False, f"the rule's {kind}; its docstring says: {rule.doc.splitlines()[0]}"
        )
    return WhyNot(rule, node, True, "the rule applies")


class Probe:
    """Walks the left side of a data rule over a node; remembers the failure that got furthest."""

    def __init__(self, rule: DataRule, node: Apply) -> None:
        self.rule = rule
        self.node = node
        self.progress = -1
        self.reason = ""

    def fail(self, progress: int, reason: str) -> None:
        """Note a failure, if none got further before."""
        if progress > self.progress:
            self.progress, self.reason = progress, reason

    def answer(self) -> WhyNot:
        """Walk, and say what came out."""
        for bound, progress in self.match_node(self.rule.left, self.node, ({}, 0)):
            if self.finish(bound, progress):
                return WhyNot(self.rule, self.node, True, "the rule applies", progress)
        return WhyNot(self.rule, self.node, False, self.reason, self.progress)

    def finish(self, bound: Bindings, progress: int) -> bool:
        """Ask the guards, and try the right side, once the left side matches."""
        for guard in self.rule.guards:
            said = ask(guard, bound)
            progress += 1
            if not said:
                text = f"the left side matches; guard {guard.text}: {_because(said)}"
                self.fail(progress, text)
                return False
        old = self.node.outputs[0]
        new = instantiate(self.rule.right, bound, self.node)
        if new is None:
            self.fail(
                progress + 1,
                "the left side matches; the function that makes the right side declines",
            )
        elif not self.rule.accept(old, new):
            self.fail(
                progress + 1,
                f"the left side matches; the type would change from {old.type} to {new.type}",
            )
        else:
            return True
        return False

    def match(self, pattern: Any, v: Variable, way: Way) -> Iterator[Way]:
        """Yield the ways in which a pattern matches a variable."""
        bound, progress = way
        if isinstance(pattern, Hole):
            yield from self.match_hole(pattern, v, way)
        elif isinstance(pattern, Literal):
            if pattern.holds(v):
                yield bound, progress + 1
            else:
                near = progress + (v.head is CONSTANT)  # a constant comes closer than anything else
                self.fail(near, f"`{pattern_text(pattern)}`: {_not_that_number(v)}")
        elif v.owner is None or len(v.owner.outputs) != 1 or not pattern.fits(v.owner.op):
            self.fail(progress, f"`{pattern_text(pattern)}`: {_not_that_op(v)}")
            yield from self.match_default(pattern, v, way)
        else:
            yield from self.match_node(pattern, v.owner, way)
            yield from self.match_default(pattern, v, way)

    def match_default(self, pattern: OpNode, v: Variable, way: Way) -> Iterator[Way]:
        """Match what is left of an op when its operand with a default is missing."""
        missing = pattern.default
        if missing is None or missing.name in way[0]:
            return
        (other,) = [a for a in pattern.args if a is not missing]
        yield from self.match(other, v, (way[0] | {missing.name: missing.default}, way[1]))

    def match_hole(self, hole: Hole, v: Variable, way: Way) -> Iterator[Way]:
        bound, progress = way
        if hole.name in bound:
            if bound[hole.name] is v:
                yield bound, progress + 1
                return
            first = bound[hole.name]
            shown = _short(first) if isinstance(first, Variable) else repr(first)
            self.fail(progress, f"{hole.name} is {shown} already, and here is {_short(v)}")
        elif hole.sort(v):
            yield bound | {hole.name: v}, progress + 1
        else:
            self.fail(progress, f"{hole.name} must be {hole.sort}, and {_short(v)} is {_kind(v)}")

    def match_node(self, pattern: OpNode, node: Apply, way: Way) -> Iterator[Way]:
        way = self.match_props(pattern, node.op, (way[0], way[1] + 1))
        if way is None:
            return
        if is_ac(pattern):
            yield from self.match_ac(pattern, node, way)
            return
        orders = [node.inputs]
        if pattern.swaps and len(node.inputs) == 2:
            orders.append(node.inputs[::-1])
            orders.sort(key=lambda inputs: -_fitting(pattern.args, inputs, way[0]))
        for inputs in orders:
            yield from self.match_sequence(pattern, pattern.args, inputs, way)

    def match_ac(self, pattern: OpNode, node: Apply, way: Way) -> Iterator[Way]:
        """Match operands in any order and number (see `match/ac.py`)."""
        taking = plan(pattern, self.rule.left)
        n = len(node.inputs)
        wanted = len(taking.fixed) + (taking.collector is not None)
        takes_all = taking.rest is not None or taking.collector is not None
        extends = pattern is self.rule.left and not takes_all
        if n < wanted or (n > wanted and not takes_all and not extends):
            self.fail(way[1], f"`{pattern_text(pattern)}`: the number of operands is another")
            return
        exact = taking.rest is None and self.rule.lowered.exact
        if not may_regroup(n, wanted, exact, node.outputs[0]):
            what = "a sum or product of more operands would be regrouped, and the rule claims exact"
            self.fail(way[1], f"`{pattern_text(pattern)}`: {what} values")
            return
        for (bound, progress), taken in self.assign(taking.fixed, node.inputs, way, ()):
            left = without(node.inputs, taken)
            if taking.rest is not None:
                if bound.get(taking.rest.name, left) == left:
                    yield bound | {taking.rest.name: left}, progress
            elif taking.collector is not None:
                yield from self.match_hole(
                    taking.collector, joined(node.op, left), (bound, progress)
                )
            else:
                yield (bound | {EXTRA: left} if left else bound), progress

    def assign(
        self, fixed: Sequence[Any], inputs: Sequence[Variable], way: Way, taken: tuple[int, ...]
    ) -> Iterator[tuple[Way, tuple[int, ...]]]:
        """Yield the ways in which patterns take one operand each, and which ones they took."""
        if not fixed:
            yield way, taken
            return
        for i, v in enumerate(inputs):
            if i in taken:
                continue
            for inner in self.match(fixed[0], v, way):
                yield from self.assign(fixed[1:], inputs, inner, (*taken, i))

    def match_props(self, pattern: OpNode, op: Any, way: Way) -> Any:
        """Match the parameters of an op; None if they differ."""
        bound, progress = way
        if not isinstance(pattern.op, OpClass):
            return way
        for name, wanted in pattern.op.props:
            value = getattr(op, name)
            if isinstance(wanted, Hole):
                other = bound.get(wanted.name, value)
                bound = bound | {wanted.name: other}
                wanted = other
            if value != wanted:
                self.fail(
                    progress, f"`{pattern_text(pattern)}`: {name} is {value!r} here, not {wanted!r}"
                )
                return None
        return bound, progress

    def match_sequence(
        self, pattern: OpNode, patterns: Sequence[Any], values: Sequence[Any], way: Way
    ) -> Iterator[Way]:
        """Match operands in order."""
        if not patterns and not values:
            yield way
            return
        fixed = [p for p in patterns if not (isinstance(p, Hole) and p.rest)]
        if len(values) < len(fixed) or (len(values) > len(fixed) and len(fixed) == len(patterns)):
            self.fail(way[1], f"`{pattern_text(pattern)}`: the number of operands is another")
            return
        first, others = patterns[0], patterns[1:]
        if isinstance(first, Hole) and first.rest:
            for n in range(len(values) - len(fixed) + 1):
                taken = tuple(values[:n])
                if way[0].get(first.name, taken) == taken:
                    bound = way[0] | {first.name: taken}
                    yield from self.match_sequence(pattern, others, values[n:], (bound, way[1]))
            return
        for inner in self.match(first, values[0], way):
            yield from self.match_sequence(pattern, others, values[1:], inner)


def _fitting(patterns: Sequence[Any], inputs: Sequence[Variable], bound: Bindings) -> int:
    """How many operands match on their own."""
    pairs = zip(patterns, inputs, strict=True)
    return sum(next(matches(p, v, bound), None) is not None for p, v in pairs)


def _short(v: Variable) -> str:
    return cut(term_text(v), 40)


def _because(said: Any) -> str:
    """What a guard answered that does not hold."""
    if isinstance(said, Unknown):
        blame = said.blame
        shown = _short(blame) if isinstance(blame, Variable) else blame
        return said.why if blame is None else f"{said.why}: {shown}"
    return "it does not hold" if said is None or isinstance(said, bool) else str(said)


def _not_that_op(v: Variable) -> str:
    if v.head is CONSTANT:
        return f"{_short(v)} is a constant"
    if v.owner is None:
        return f"{v} is an input"
    return f"{_short(v)} is computed by {v.owner.op}"


def _not_that_number(v: Variable) -> str:
    if v.head is not CONSTANT:
        return f"{_short(v)} is not a constant"
    return f"{_short(v)} is another number"


def _kind(v: Variable) -> str:
    return "a constant" if v.head is CONSTANT else f"of type {v.type}"
