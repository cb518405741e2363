"""Interpreted matcher: the plain meaning of a pattern on graph nodes.

It is slow and short. Compiled matchers (`match/emit.py`) must return the same bindings in the same
order, and evaluate the same guards on the way; tests compare. `Matcher.failed` is called for every
part that does not match: `match/explain.py` uses it to explain why a rule does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, ClassVar

from rewrite_engine.match.ac import (
    AFTER,
    BEFORE,
    EXTRA,
    Plan,
    is_ac,
    joined,
    keeps_dtype,
    may_regroup,
    plan,
    same_node,
    stands_alone,
    without,
)
from rewrite_engine.match.build import ask, guards_hold, instantiate, proposed
from rewrite_engine.match.emit import Function, compile_rule
from rewrite_engine.match.lower import Condition, Lowered, askable
from rewrite_engine.match.pattern import (
    ALL,
    Graph,
    Hole,
    Literal,
    OpClass,
    OpNode,
    is_literal,
    is_wide,
    test_cost,
)
from rewrite_engine.match.rests import Tries, shares

Bindings = dict[Any, Any]  # by name; nodes of several outputs by their patterns
Pairs = Sequence[tuple[Any, Any]]  # of a pattern and what it is to match

#: the name under which the guards that were asked on the way are bound, with what they answered
ASKED = "?"

ANOTHER = "it is an output of another node"
COUNT = "the number of operands differs"
NARROWED = "some of the operands would be computed in another dtype than all of them"
REGROUPED = "a sum or product of more operands would be regrouped, which the rule does not do"


def match_root(pattern: OpNode, node: Any, exact: bool = False) -> Iterator[Bindings]:
    """Yield every way in which a left side matches a node. exact: of a rule that claims exact
    values. Operands of the root that the left side leaves alone are bound to `ac.EXTRA`.
    """
    for bound in Matcher(pattern, exact, Tries(inf)).ways(node):
        yield named(bound)


def every_result(
    rule: Lowered, fgraph: Graph, node: Any, tick: Callable[[], object] = lambda: None
) -> Iterator[Any]:
    """Yield a rule's results for a node, by every match; `tick` is called for each of these."""
    for way in rule.ways:
        for bound in match_root(way.left, node, way.exact):
            tick()
            if guards_hold(way.guards, bound, fgraph):
                new = instantiate(way.right, bound, node, way.left.place)
                if new is not None:
                    yield new


def named(bound: Bindings) -> Bindings:
    """Return the bindings of a rule's variables, without the private entries of a `Matcher`."""
    return {name: v for name, v in bound.items() if name.__class__ is str and name != ASKED}


def interpreted(rule: Lowered, fgraph: Graph, node: Any) -> Any:
    """Return a rule's result for a node, or its bindings if it has no right side; None if it does
    not apply. (Ignores `views`.)
    """
    for way in rule.ways:
        left, right = way.left, way.right
        for bound in Matcher(left, way.exact, Tries(), way.guards, fgraph).ways(node):
            result = instantiate(right, named(bound), node, left.place)
            if result is not None:
                return result if right is None else proposed(node, left.place, result)
    return None


def matcher_for(rule: Lowered, name: str, text: str) -> Function:
    """Return the compiled matcher; the interpreted one if Python cannot compile it (20 nested
    loops).
    """
    try:
        ways = [compile_rule(way, name, text) for way in rule.ways]
    except SyntaxError:
        return partial(interpreted, rule)
    return ways[0] if len(ways) == 1 else partial(first_result, ways)


def first_result(ways: Sequence[Function], fgraph: Graph, node: Any) -> Any:
    """Return the result of the first matcher that has one."""
    results = (match(fgraph, node) for match in ways)
    return next((result for result in results if result is not None), None)


@dataclass(slots=True, eq=False)
class Matcher:
    """Matcher of one left side with terms: each operand is one variable. A subclass overrides the
    methods on terms for operands with several equal variables (`rewrite/egraph/ematch.py`).
    """

    left: Any
    exact: bool = False
    tries: Tries = field(default_factory=Tries)
    guards: Sequence[Condition] = ()
    fgraph: Graph = None
    plans: dict[int, Plan | None] = field(default_factory=dict)  # by the `id` of a pattern

    #: whether a second output of a node has to be one of the very node, matched already
    once: ClassVar[bool] = True

    def failed(self, part: Any, here: Any, bound: Bindings, why: Any = None) -> None:
        """Called for a part that does not match. why: a text, or (parameter, value, wanted)."""

    # --- what terms are ---------------------------------------------------------------------------

    def entered(
        self, pattern: OpNode, v: Any, bound: Bindings, whole: Any
    ) -> Iterable[tuple[Any, Bindings]]:
        """Yield the alternatives at an operand of `whole` that the op of a pattern computes."""
        return ((v, bound),) if self.is_there(pattern, v, bound) else ()

    def variable(self, v: Any) -> Any:
        """Return the variable of an entered alternative."""
        return v

    def shown(self, v: Any) -> Any:
        """Return the variable that gives the sort, type and number of an operand."""
        return v

    def inputs(self, v: Any) -> Sequence[Any]:
        """Return the operands of an entered alternative."""
        return v.owner.inputs  # type: ignore[no-any-return]

    def joined(self, v: Any, operands: Sequence[Any]) -> Any:
        """Return one term for some of the operands of an entered alternative."""
        return joined(v.owner.op, operands)

    def key(self, value: Any) -> Any:
        """Return a key that two operands, or sequences of operands, share iff they are equal."""
        return value

    # --- the root ---------------------------------------------------------------------------------

    def ways(self, node: Any) -> Iterator[Bindings]:
        """Yield every way in which the left side matches a node and all guards hold."""
        target = self.left.target(node)
        for here, known in () if target is None else self.entered(self.left, target, {}, None):
            for bound in self.match_op(self.left, here, known):
                yield from self.ready(bound)

    def ready(self, bound: Bindings) -> Iterable[Bindings]:
        """Evaluate the guards that are ready (`askable`); yield no bindings if one does not
        hold.
        """
        asked = bound.get(ASKED, {})
        for i, guard in askable(self.guards, bound, asked):
            answer = ask(guard, bound, self.fgraph)
            if not answer:
                self.failed(guard, answer, bound | {ASKED: asked})
                return ()
            asked = asked | {i: answer}
        return (bound | {ASKED: asked} if asked else bound,)

    # --- patterns ---------------------------------------------------------------------------------

    def matches(
        self, pattern: Any, v: Any, bound: Bindings, whole: Any = None
    ) -> Iterator[Bindings]:
        """Yield every way in which a part of the left side matches an operand of `whole`."""
        if isinstance(pattern, Hole):
            yield from self.bind(pattern, v, bound)
        elif isinstance(pattern, Literal):
            beside = None if whole is None else self.variable(whole)
            if is_literal(self.shown(v), pattern.value, beside):
                yield bound
            else:
                self.failed(pattern, v, bound)
        else:
            for here, known in self.entered(pattern, v, bound, whole):
                yield from self.match_op(pattern, here, known)

    def match_op(self, pattern: OpNode, v: Any, bound: Bindings) -> Iterator[Bindings]:
        """Match an op and its operands; a second output must belong to the same node."""
        whole = pattern.output(ALL) if self.once and pattern.place is not None else None
        if whole in bound:
            if same_node(bound[whole], v.owner):
                yield bound
            else:
                self.failed(pattern, v, bound, ANOTHER)
            return
        inner = self.match_props(pattern, v, bound)
        if inner is None:
            return
        taking = self.plan(pattern)
        if taking is not None:
            yield from self.match_ac(pattern, taking, v, inner)
            return
        for result in self.match_inputs(pattern, v, inner):
            yield result if whole is None else result | {whole: v.owner}

    def match_inputs(self, pattern: OpNode, v: Any, inner: Bindings) -> Iterator[Bindings]:
        """Match the operands of an op in order."""
        inputs, args = self.inputs(v), pattern.args
        least = len(args) - len(pattern.rests)
        if len(inputs) < least if pattern.wide else len(inputs) != least:
            self.failed(pattern, v, inner, COUNT)
            return
        for order in (inputs, inputs[::-1]) if pattern.swaps else (inputs,):
            for result in self.sequence(args, order, inner, v):
                start = len(result.get(BEFORE, ()))
                end = len(inputs) - len(result.get(AFTER, ()))
                if pattern is not self.left or self.stands_alone(v, start, end):
                    yield result
                else:
                    self.failed(pattern, v, result, REGROUPED)

    def is_there(self, pattern: OpNode, v: Any, bound: Bindings) -> bool:
        """Return whether the op of a pattern computes a variable."""
        if pattern.computes(v):
            return True
        self.failed(pattern, v, bound)
        return False

    def match_props(self, pattern: OpNode, v: Any, bound: Bindings) -> Bindings | None:
        """Match the parameters of an op; None if they differ."""
        if not isinstance(pattern.op, OpClass):
            return bound
        op = self.variable(v).owner.op
        for name, wanted in pattern.op.props:
            value = getattr(op, name)
            if isinstance(wanted, Hole):
                known = bound.get(wanted.name, value)
                bound = bound | {wanted.name: known}
                wanted = known
            if value != wanted:
                self.failed(pattern, op, bound, (name, value, wanted))
                return None
        return bound

    def plan(self, pattern: OpNode) -> Plan | None:
        """Return the plan for how an AC pattern takes operands."""
        try:
            return self.plans[id(pattern)]
        except KeyError:
            result = plan(pattern, self.left) if is_ac(pattern) else None
            return self.plans.setdefault(id(pattern), result)

    def match_ac(
        self, pattern: OpNode, taking: Plan, v: Any, bound: Bindings
    ) -> Iterator[Bindings]:
        """Match operands in any order (see `match/ac.py`)."""
        inputs = self.inputs(v)
        n = len(inputs)
        more = taking.rests or taking.collector or taking.leaves(pattern, self.left)
        if n < taking.wanted or (n > taking.wanted and not more):
            self.failed(pattern, v, bound, COUNT)
            return
        exact = self.exact and not taking.rests
        if n != taking.wanted and not may_regroup(exact, self.variable(v)):
            self.failed(pattern, v, bound, REGROUPED)
            return
        for inner, places in self.assign(taking.fixed, v, bound, ()):
            left = without(inputs, places)
            taken = [inputs[i] for i in places]
            if taking.rests:
                yield from self.match_rests(pattern, taking, v, taken, left, inner)
            elif left and not self.keeps_dtype(v, taken, left if taking.collector else left[:1]):
                self.failed(pattern, v, inner, NARROWED)
            elif taking.collector is not None:
                yield from self.bind(taking.collector, self.joined(v, left), inner)
            else:
                yield inner | {EXTRA: left} if left else inner

    def match_rests(
        self,
        pattern: OpNode,
        taking: Plan,
        v: Any,
        taken: Sequence[Any],
        left: Any,
        bound: Bindings,
    ) -> Iterator[Bindings]:
        """Let the rests of an AC pattern take the remaining operands."""
        free = {hole.name: n for hole, n in taking.rests.items() if hole.name not in bound}
        bounds = [hole for hole in taking.rests if hole.name in bound]
        known = [bound[hole.name] for hole in bounds for _ in range(taking.rests[hole])]
        here, *keys = [tuple(map(self.key, operands)) for operands in (left, *known)]
        own = dict(zip(here, left, strict=True))
        result = False
        for way in shares(here, keys, tuple(free.values()), taking.ordered, self.tries):
            result = True
            some = [tuple([own[key] for key in operands]) for operands in way]
            if self.keeps_dtype(v, taken, *known, *some):
                yield dict(zip(free, some, strict=True)) | bound
            else:
                self.failed(pattern, v, bound, NARROWED)
        if not result and bounds:
            self.failed(bounds[0], left, bound)
        elif not result:
            self.failed(pattern, v, bound, COUNT)

    def keeps_dtype(self, v: Any, *groups: Sequence[Any]) -> bool:
        """Return whether each of several groups of operands is computed in the dtype of all of
        them.
        """
        if max(map(len, groups)) < 2:
            return True
        return keeps_dtype(self.variable(v), *[[*map(self.shown, group)] for group in groups])

    def stands_alone(self, v: Any, start: int, end: int) -> bool:
        """Return whether some adjacent operands may be a term of their own."""
        return stands_alone(self.variable(v), self.exact, start, end)

    def assign(
        self, fixed: Sequence[Any], out: Any, bound: Bindings, taken: tuple[int, ...]
    ) -> Iterator[tuple[Bindings, tuple[int, ...]]]:
        """Yield the ways in which patterns take one operand of `out` each, and which ones."""
        if not fixed:
            yield bound, taken
            return
        for i, v in enumerate(self.inputs(out)):
            if i in taken:
                continue
            for inner in self.matches(fixed[0], v, bound, out):
                for known in self.ready(inner):
                    if len(fixed) == 1:
                        yield known, (*taken, i)
                    else:
                        yield from self.assign(fixed[1:], out, known, (*taken, i))

    def bind(self, hole: Hole, v: Any, bound: Bindings) -> Iterable[Bindings]:
        """Let a hole stand for an operand."""
        if hole.name in bound:
            if self.key(bound[hole.name]) == self.key(v):
                return (bound,)
        else:
            shown = self.shown(v)
            if shown is not None and hole.sort(shown):
                return (bound | {hole.name: v},)
        self.failed(hole, v, bound)
        return ()

    def sequence(
        self, patterns: Sequence[Any], values: Sequence[Any], bound: Bindings, out: Any
    ) -> Iterator[Bindings]:
        """Match operands of `out` in order; a hole for several takes few before many."""
        at = next((i for i, p in enumerate(patterns) if is_wide(p)), None)
        if at is None:
            if len(patterns) == len(values):
                yield from self.all_of(list(zip(patterns, values, strict=True)), bound, out)
            return
        hole, others = patterns[at], patterns[at + 1 :]
        needed = sum(not (isinstance(p, Hole) and p.rest) for p in others)
        last, least = len(values) - needed, at + hole.several
        start = least if any(map(is_wide, others)) else max(last, least)
        for before in self.all_of(list(zip(patterns[:at], values, strict=False)), bound, out):
            for end in range(start, last + 1):
                for taken in self.bind_several(hole, values, at, end, before, out):
                    for inner in self.ready(taken):
                        yield from self.sequence(others, values[end:], inner, out)

    def bind_several(
        self, hole: Hole, values: Sequence[Any], at: int, end: int, bound: Bindings, out: Any
    ) -> Iterable[Bindings]:
        """Let a hole take operands of `out`; values: the remaining ones."""
        taken = tuple(values[at:end])
        if hole.several:
            gone = len(self.inputs(out)) - len(values)
            if self.stands_alone(out, gone + at, gone + end):
                return self.bind(hole, self.joined(out, taken), bound)
            self.failed(hole, values[at], bound, REGROUPED)
        elif self.key(bound.get(hole.name, taken)) == self.key(taken):
            return (bound | {hole.name: taken},)
        else:
            self.failed(hole, taken, bound)
        return ()

    def all_of(self, pairs: Pairs, bound: Bindings, out: Any) -> Iterator[Bindings]:
        """Match operands of `out`: cheap tests first, then the heads of ops, then in depth."""
        plain = [pair for pair in pairs if not isinstance(pair[0], OpNode)]
        ops = [(p, v) for p, v in pairs if isinstance(p, OpNode)]
        plain.sort(key=lambda pair: test_cost(pair[0]))
        for cheap in self.in_turn(plain, bound, out, asking=False):
            if all(self.is_there(p, v, cheap) for p, v in ops):
                for known in self.ready(cheap):
                    yield from self.in_turn(ops, known, out)

    def in_turn(
        self, pairs: Pairs, bound: Bindings, out: Any, asking: bool = True
    ) -> Iterator[Bindings]:
        """Match one after the other, in depth. asking: whether guards are evaluated between
        them.
        """
        if not pairs:
            yield bound
            return
        (pattern, v), *others = pairs
        for inner in self.matches(pattern, v, bound, out):
            for known in self.ready(inner) if asking else (inner,):
                if others:
                    yield from self.in_turn(others, known, out, asking)
                else:
                    yield known
