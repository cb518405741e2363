"""Overlaps of data rules that do not join: one term, two rules, and two ends.

Where the left side of one rule fits into that of another, or into the same place, a term is built
that both match. Each rule is applied to it, and what comes of that is rewritten to the end. If the
two ends differ, what is made depends on which rule came first, and a rule between them is missing.
(Sums and products are looked at with the operands that a pattern writes, in both orders of two.)

The pipeline rewrites inner terms first, so there is one end that is always reached. The inner rule
may say why that end is as good (`overlaps="why"`); either rule may name the other
(`overlaps={"other": "why"}`), as an author cannot change a shipped rule. Then the overlap is
explained, if the pipeline reaches that end.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from rewrite_engine.check.claim import sides
from rewrite_engine.check.finding import ORDER, Finding, Kind
from rewrite_engine.check.sample import Plain, is_computed, parameter_choices
from rewrite_engine.check.target import usable
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import substituted
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.pattern import Hole, OpClass, OpNode, subpatterns
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import known_rules, optimizer
from rewrite_engine.rewrite.trace import brief

WORLDS = (["float64"], ["int64"], ["bool"])
SHAPES = ([(None,)], [(None, None)], [()])
Bound = dict[str, Any]


def check_overlaps(rules: Sequence[Rule], added: RuleSet) -> Iterator[Finding]:
    """Yield the pairs of rules of one phase that do not join, one of which is among these; and what
    they say of overlaps that they do not have.
    """
    data, own = _usual([*known_rules(Query()), *rules]), set(rules)
    used = set[tuple[Any, str]]()
    for a, b in product(data, data):
        if a.phase == b.phase and (a in own or b in own):
            found = min(_pair(a, b, added, own), key=lambda f: ORDER[f.kind], default=None)
            if found is not None:
                used |= {(rule if name else why, name) for rule, name, why in explanations(a, b)}
                mine = a if a in own else b
                yield replace(found, subject=mine.name, where=mine.where)
    for rule in rules:
        yield from _unused(rule, used)


def _unused(rule: Rule, used: Container[tuple[Any, str]]) -> Iterator[Finding]:
    """Yield what a rule explains about overlaps that it does not have. used: a rule and the name of
    another one, or the reason of some rules of a table.
    """
    if not rule.overlaps:
        return
    by_name = isinstance(rule.overlaps, Mapping)
    for name in rule.overlaps if by_name else [""]:
        if (rule if by_name else rule.overlaps, name) not in used:
            others = f"its overlaps with {name}" if name else "all its overlaps"
            why = f"it explains overlaps, and {others} join"
            fix = f"leave {f'{name!r} ' if name else ''}out of overlaps="
            yield Finding(Kind.LINT, "overlaps", "no overlap", rule.name, rule.where, why, fix=fix)


def explanations(a: Rule, b: Rule) -> Iterator[tuple[Rule, str, str]]:
    """Yield what two rules say of their overlap, b within the left side of a: which of them, the
    name by which it knows the other ("" for all), and why.
    """
    for rule, other in ((a, b), (b, a)):
        if isinstance(rule.overlaps, Mapping):
            for name, why in rule.overlaps.items():
                if name in (other.name, other.short_name):
                    yield rule, name, why
        elif rule.overlaps and rule is b:
            yield rule, "", rule.overlaps


def _usual(rules: Sequence[Rule]) -> list[DataRule]:
    """Data rules of phases that overlap."""
    usual = ("canonicalize", "stabilize", "specialize")
    data = [r for r in rules if type(r) is DataRule and r.phase in usual and not r.needs_grant]
    return list(dict.fromkeys(data))


def _pair(a: DataRule, b: DataRule, added: RuleSet, own: Container[Any]) -> Iterator[Finding]:
    """Yield the overlaps of one pair: rule b within the left side of a. own: the author's rules."""
    other = renamed(b.left)
    for inner in _places(a, b):
        bound = unified(inner, other)
        if bound is None:
            continue
        for term in _terms(a, bound):
            for node in toposort([term]):
                if (node is term.owner) is (inner is a.left):
                    found = _apart(a, b, term, node.outputs[0], added, own)
                    if found is not None:
                        yield found


def _terms(a: DataRule, bound: Bound) -> Iterator[Variable]:
    """Yield terms of a left side in which variables stand for what they have to."""
    whole = _filled(a.left, bound)
    for dtypes, shapes, row in product(WORLDS, SHAPES, parameter_choices(whole, 2)):
        builder = Plain(a, dtypes, shapes, row, 0, {})
        try:
            term = builder.fill(whole)
        except (RewriteEngineError, TypeError, ValueError, IndexError):
            continue
        if is_computed(term):
            yield term


def _filled(p: Any, bound: Bound) -> Any:
    if isinstance(p, Hole) and p.name in bound:
        return _filled(bound[p.name], bound)
    return p.of(*[_filled(x, bound) for x in p.args]) if isinstance(p, OpNode) else p


def _apart(
    a: DataRule, b: DataRule, term: Any, at: Any, added: RuleSet, own: Container[Any]
) -> Finding | None:
    """The finding for a term whose two ends differ."""
    try:
        one, part = sides(a, term), sides(b, at)
        if one is None or part is None:
            return None
        other = part if at is term else substituted([term], {at: part})[0]
        graph = FunctionGraph(None, [one, other, term])
        optimizer(Query().excluding("inplace"), usable(added)).rewrite(graph)
    except RewriteEngineError:  # told by other checks
        return None
    ends = graph.outputs
    if ends[0] is ends[1] or one.type != other.type:
        return None
    texts = [brief(v, 9) for v in ends]
    why = f"{a.name} and {b.name} lead {brief(term, 9)} to two ends"
    example = f"{a.short_name} first: {texts[0]}\n{b.short_name} first: {texts[1]}"
    fix = f"a rule {texts[0]} >> {texts[1]}, or the other way round"
    for _, name, said in explanations(a, b):
        is_inner = at is not term and ends[2] is ends[1]
        if is_inner or (name and ends[2] in (ends[0], ends[1])):
            why += f"; {said}"
            return Finding(Kind.EXPLAINED, "overlaps", "overlap", a.name, a.where, why, example)
    reached = texts[1] if ends[2] is ends[1] else texts[0]
    if b in own and at is not term:
        fix += f'; or overlaps="why {reached} is as good" of {b.short_name}'
    else:
        mine, other = (a, b) if a in own else (b, a)
        fix += f'; or overlaps={{"{other.name}": "why {reached} is as good"}} of {mine.short_name}'
    return Finding(Kind.OVERLAP, "overlaps", "overlap", a.name, a.where, why, example, fix)


def _places(a: DataRule, b: DataRule) -> Iterator[OpNode]:
    """Yield the parts of a left side at which another rule may apply."""
    for p, depth in subpatterns(a.left):
        if isinstance(p, OpNode) and p.operator == b.left.operator and not b.left.rests:
            if depth or (a is not b and a.name < b.name):
                yield p


def renamed(pattern: Any) -> Any:
    """A pattern with other names for its variables."""
    if isinstance(pattern, Hole):
        return Hole(f"{pattern.name}2", pattern.sort, pattern.several)
    if isinstance(pattern, OpNode):
        op = pattern.op
        if isinstance(op, OpClass):
            op = OpClass(op.cls, tuple([(n, renamed(p)) for n, p in op.props]))
        return OpNode(op, tuple([renamed(a) for a in pattern.args]), pattern.index)
    return pattern


def unified(p: Any, q: Any) -> Bound | None:
    """What variables stand for so that two patterns are one; None if nothing."""
    bound: Bound = {}
    todo = [(p, q)]
    while todo:
        p, q = _walk(*todo.pop(), bound)
        if p == q:
            continue
        if not isinstance(p, Hole) and isinstance(q, Hole):
            p, q = q, p
        if isinstance(p, Hole) and not p.rest:
            if _occurs(p, q, bound):
                return None
            bound[p.name] = q
        elif isinstance(p, OpNode) and isinstance(q, OpNode) and _same_op(p, q):
            todo += zip(p.args, q.args, strict=True)
        else:
            return None
    return bound


def _walk(p: Any, q: Any, bound: Bound) -> tuple[Any, Any]:
    while isinstance(p, Hole) and p.name in bound:
        p = bound[p.name]
    while isinstance(q, Hole) and q.name in bound:
        q = bound[q.name]
    return p, q


def _occurs(hole: Hole, q: Any, bound: Bound) -> bool:
    """Whether a variable is in what it would stand for."""
    todo = [q]
    while todo:
        p = todo.pop()
        while isinstance(p, Hole) and p.name in bound:
            p = bound[p.name]
        if p == hole:
            return True
        todo += p.args if isinstance(p, OpNode) else ()
    return False


def _same_op(p: OpNode, q: OpNode) -> bool:
    return p.op == q.op and len(p.args) == len(q.args) and p.index == q.index
