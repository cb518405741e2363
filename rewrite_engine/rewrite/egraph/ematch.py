"""E-matching: every way in which the left side of a rule matches an e-node of an `EGraph`.

A variable of the rule is bound to an e-node (by number), to several operands at once (`Joined`, a
tuple), to a number that stands for a missing operand (`Weak`), or to a parameter of an op. Sorts
are asked of the variable that tells most of an e-class. Associative-commutative ops are matched as
everywhere (`match/ac.py`): some of many operands, the others stay beside the result; so no equation
has to reorder or regroup operands, which would make about 3ⁿ e-nodes of n. A rest may be empty also
where that leaves one operand: a sum of one is that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rewrite_engine.errors import RewriteEngineError, RuleRaisedError, SearchBudgetError
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.ac import (
    AFTER,
    BEFORE,
    EXTRA,
    Plan,
    Tries,
    is_ac,
    keeps_dtype,
    may_regroup,
    plan,
    shares,
    stands_alone,
    without,
)
from rewrite_engine.match.build import guards_hold
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, holes, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.egraph import Children, EGraph

Bound = dict[str, Any]
Tree = Any  # the very term that a pattern matched: an e-node, or (head, trees)
Way = tuple[Bound, Tree]


class Joined(NamedTuple):
    """Operands of an AC op that one variable stands for. They become an e-node of their own only if
    the rule matches."""

    op: Any
    operands: Children


class Weak(NamedTuple):
    """A number that has no dtype yet."""

    value: Any


NO_RESTS: tuple[list[Hole], Any] = ([], None)


class EMatcher:
    """The left side of one rule, or of one of its parts for one output each, on one e-graph."""

    def __init__(self, egraph: EGraph, rule: DataRule, part: Lowered) -> None:
        self.egraph = egraph
        self.rule = rule
        self.left = part.left
        self.exact = part.exact
        self.parameters = parameters(self.left)
        self._fitting: dict[int, dict[Any, bool]] = {}  # `id` of a pattern -> heads
        #: the AC patterns, and by `id` (to hash a pattern takes long): how they take operands, and
        #: those with rests: these, and the one pattern beside them
        self.sums: list[OpNode] = [p for p, _ in subpatterns(self.left) if is_ac(p)]
        self.plans: dict[int, Plan] = {id(p): plan(p, self.left) for p in self.sums}
        self.open = {id(p): (rests_of(p), one_of_one(p)) for p in self.sums if p.rests}
        self.names = (*holes(self.left), EXTRA)
        #: rests that are operands in an order somewhere
        self.ordered = {
            p.args[i].name
            for p, _ in subpatterns(self.left)
            if isinstance(p, OpNode) and not is_ac(p)
            for i in p.rests
        }
        self.cut = False  # whether there are more ways than were looked at
        self._joined: dict[Joined, Variable | None] = {}

    def key(self, bound: Bound) -> tuple[Any, ...]:
        """What two matches have in common iff their variables stand for equal terms."""
        return tuple([self._key(x, bound[x]) if x in bound else None for x in self.names])

    def _key(self, name: str, value: Any) -> Any:
        """What two values of a variable have in common iff they are equal."""
        find = self.egraph.find
        if isinstance(value, int) and name not in self.parameters:
            return find(value)
        if isinstance(value, Joined):
            return value.op, tuple(sorted(map(find, value.operands)))
        if isinstance(value, Weak) or name in self.parameters:
            return value
        classes = map(find, value)
        return tuple(classes if name in self.ordered else sorted(classes))

    def fits(self, n: int) -> bool:
        """Whether the left side may match an e-node, by its head."""
        _, alone = self.open.get(id(self.left), NO_RESTS)
        return self.computes(self.left, n) or self.computes(alone, n)

    def computes(self, pattern: Any, n: int) -> bool:
        """Whether the op of a pattern may be that of an e-node, and its output that one."""
        if not isinstance(pattern, OpNode):
            return False
        known = self._fitting.get(id(pattern))
        if known is None:
            known = self._fitting[id(pattern)] = {None: False}
        head = self.egraph.head[n]
        if head not in known:
            known[head] = pattern.computes(self.egraph.var[n])
        return known[head]

    def matches(self, n: int) -> Iterator[Way]:
        """How the left side matches an e-node."""
        left = self.left
        if self.computes(left, n):
            yield from self.at(left, n, {})
        rests, alone = self.open.get(id(left), NO_RESTS)
        if self.computes(alone, n):
            yield from self.at(alone, n, {rest.name: () for rest in rests})

    def guards_hold(self, bound: Bound) -> bool:
        """Ask the rule's guards of the variables of what its variables stand for. Raises
        `RuleRaisedError`.
        """
        if not self.rule.guards:
            return True
        terms = {k: self.shown(v) for k, v in bound.items() if k not in self.parameters}
        graph = self.egraph.graph
        try:
            known = None not in terms.values()
            return known and guards_hold(self.rule.guards, bound | terms, graph)
        except RewriteEngineError:
            raise
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}\n    in a guard, of {terms}"
            raise self.rule.error(RuleRaisedError, what) from error

    def shown(self, value: Any) -> Any:
        """The graph variable (or variables, or number) for what a variable of the rule stands for;
        None if there is no such term."""
        if isinstance(value, Weak):
            return value.value
        if isinstance(value, Joined):
            if value not in self._joined:
                self._joined[value] = self._variable(value)
            return self._joined[value]
        precise = self.egraph.representative
        return precise(value) if isinstance(value, int) else tuple(map(precise, value))

    def _variable(self, joined: Joined) -> Variable | None:
        try:
            node = joined.op.make_node(*[self.egraph.representative(k) for k in joined.operands])
        except (TypeError, ValueError):
            return None
        found: Variable = node.outputs[0]
        return found

    # --- patterns --------------------------------------------------------------------------------

    def at(self, pattern: OpNode, n: int, bound: Bound) -> Iterator[Way]:
        """How a pattern matches an e-node, whose head fits."""
        head, kids = self.egraph.head[n], self.egraph.children[n]
        inner = bind_parameters(pattern, self.egraph.var[n], bound)
        if inner is None:
            return
        if id(pattern) in self.plans:
            yield from self.in_any_order(pattern, n, inner)
        elif pattern.rests:
            for found, trees in self.in_sequence(pattern.args, kids, inner, n):
                if pattern is not self.left or self.may_leave(n, found):
                    yield found, n if trees == kids else (head, trees)
        elif len(kids) == len(pattern.args):
            for args in (pattern.args, pattern.args[::-1]) if pattern.swaps else (pattern.args,):
                for found, trees in self.operands(args, kids, inner, n):
                    yield found, n if trees == kids else (head, trees)

    def may_leave(self, n: int, bound: Bound) -> bool:
        """Whether the left side may leave the operands before and after those it takes alone."""
        start, after = [len(bound.get(name, ())) for name in (BEFORE, AFTER)]
        end = len(self.egraph.children[n]) - after
        return stands_alone(self.egraph.var[n], self.exact, start, end)

    def operands(
        self, patterns: Sequence[Any], kids: Sequence[int], bound: Bound, n: int
    ) -> Iterator[tuple[Bound, tuple[Tree, ...]]]:
        """How patterns match children of an e-node, one each."""
        if not patterns:
            yield bound, ()
            return
        for found, tree in self.operand(patterns[0], kids[0], bound, n):
            for all_bound, trees in self.operands(patterns[1:], kids[1:], found, n):
                yield all_bound, (tree, *trees)

    def in_sequence(
        self, patterns: Sequence[Any], kids: Children, bound: Bound, n: int
    ) -> Iterator[tuple[Bound, tuple[Tree, ...]]]:
        """How patterns match children of an e-node in their order; a rest takes any number."""
        if not patterns:
            if not kids:
                yield bound, ()
            return
        first, others = patterns[0], patterns[1:]
        needed = sum(not (isinstance(p, Hole) and p.rest) for p in patterns)
        if not (isinstance(first, Hole) and first.rest):
            ways = self.operand(first, kids[0], bound, n) if kids else ()
            for found, tree in ways:
                for all_bound, trees in self.in_sequence(others, kids[1:], found, n):
                    yield all_bound, (tree, *trees)
            return
        most = len(kids) - needed
        for i in range(most if needed == len(others) else 0, most + 1):
            inner = self.bind(first, kids[:i], bound) if i >= 0 else None
            if inner is not None:
                for all_bound, trees in self.in_sequence(others, kids[i:], inner, n):
                    yield all_bound, (*kids[:i], *trees)

    def operand(self, pattern: Any, k: int, bound: Bound, whole: int) -> Iterator[Way]:
        """How a pattern matches the e-class of a child of an e-node."""
        egraph = self.egraph
        if isinstance(pattern, Hole):
            inner = self.bind(pattern, k, bound)
            if inner is not None:
                yield inner, k
        elif isinstance(pattern, Literal):
            if pattern.holds(egraph.representative(k), egraph.var[whole]):
                yield bound, k
        else:
            for n in egraph.members(egraph.find(k)):
                if self.computes(pattern, n):
                    yield from self.at(pattern, n, bound)
            yield from self.missing(pattern, k, bound, whole)
            if id(pattern) in self.open:
                yield from self.one_operand(pattern, k, bound, whole)

    def missing(self, pattern: OpNode, k: int, bound: Bound, whole: int) -> Iterator[Way]:
        """How what is left of an op matches where its operand with a default is missing."""
        hole = pattern.default
        if hole is None or hole.name in bound:
            return
        (other,) = [a for a in pattern.args if a is not hole]
        yield from self.operand(other, k, bound | {hole.name: Weak(hole.default)}, whole)

    def one_operand(self, pattern: OpNode, k: int, bound: Bound, whole: int) -> Iterator[Way]:
        """How an AC pattern with a rest matches an e-class of another op, as a sum of it alone."""
        (rests, alone), egraph = self.open[id(pattern)], self.egraph
        if alone is None and any(a not in rests for a in pattern.args):
            return
        if alone is not None:
            inner = self.bind_all(rests, [()] * len(rests), bound)
            yield from () if inner is None else self.operand(alone, k, inner, whole)
        elif not any(self.computes(pattern, n) for n in egraph.members(egraph.find(k))):
            places = range(len(rests))
            for i in places:
                inner = self.bind_all(rests, [(k,) if i == j else () for j in places], bound)
                if inner is not None:
                    yield inner, k

    def bind_all(self, holes: Sequence[Hole], values: Sequence[Any], bound: Bound) -> Bound | None:
        """Let variables stand for something; None if one of them may not."""
        inner: Bound | None = bound
        for hole, value in zip(holes, values, strict=True):
            inner = None if inner is None else self.bind(hole, value, inner)
        return inner

    def bind(self, hole: Hole, value: Any, bound: Bound) -> Bound | None:
        """Let a variable stand for something; None if it may not."""
        if hole.name in bound:
            same = self._key(hole.name, bound[hole.name]) == self._key(hole.name, value)
            return bound if same else None
        shown = self.shown(value)
        fits = shown is not None and (hole.rest or hole.sort(shown))
        return bound | {hole.name: value} if fits else None

    def in_any_order(self, pattern: OpNode, n: int, bound: Bound) -> Iterator[Way]:
        """How an AC pattern matches an e-node: some operands, and something for those left."""
        taking, head, kids = self.plans[id(pattern)], self.egraph.head[n], self.egraph.children[n]
        wanted, whole = taking.wanted, self.egraph.var[n]
        more = taking.rests or taking.collector or taking.leaves(pattern, self.left)
        if len(kids) < wanted or (len(kids) > wanted and not more):
            return
        exact = self.exact and not taking.rests
        if not may_regroup(len(kids), wanted, exact, whole):
            return
        for found, trees in self.assigned(taking.fixed, n, bound, {}):
            left = without(kids, tuple(trees))
            taken = [self.egraph.representative(kids[i]) for i in trees]
            others = [
                self.egraph.representative(k) for k in (left if taking.collector else left[:1])
            ]
            if not keeps_dtype(whole, taken, others):
                continue
            for inner in self.with_others(taking, n, left, found):
                if not self.apart(whole, taken, taking, inner):
                    continue
                planted = tuple([trees.get(i, k) for i, k in enumerate(kids)])
                yield inner, n if planted == kids else (head, planted)

    def with_others(self, taking: Plan, n: int, left: Children, bound: Bound) -> Iterator[Bound]:
        """Bind the operands that no pattern took."""
        if taking.rests:
            yield from self.with_rests(taking, left, bound)
        elif taking.collector is not None:
            value = left[0] if len(left) == 1 else Joined(self.egraph.head[n], left)
            inner = self.bind(taking.collector, value, bound)
            if inner is not None:
                yield inner
        else:
            yield bound | {EXTRA: left} if left else bound

    def with_rests(self, taking: Plan, left: Children, bound: Bound) -> Iterator[Bound]:
        """Let rests take the operands that are left; those of one e-class are equal."""
        find = self.egraph.find
        free = {hole.name: k for hole, k in taking.rests.items() if hole.name not in bound}
        known = [
            tuple(map(find, bound[hole.name]))
            for hole, k in taking.rests.items()
            for _ in range(k)
            if hole.name in bound
        ]
        here = tuple(map(find, left))
        own = dict(zip(here, left, strict=True))
        try:
            for some in shares(here, known, tuple(free.values()), taking.ordered, Tries()):
                terms = [tuple([own[c] for c in operands]) for operands in some]
                yield bound | dict(zip(free, terms, strict=True))
        except SearchBudgetError:
            self.cut = True

    def apart(self, whole: Variable, taken: Sequence[Any], taking: Plan, bound: Bound) -> bool:
        """Whether rests are computed in the dtype in which they are computed together."""
        if not taking.rests:
            return True
        rests = [self.shown(bound[h.name]) for h, k in taking.rests.items() for _ in range(k)]
        return keeps_dtype(whole, taken, *rests)

    def assigned(
        self, fixed: Sequence[Any], n: int, bound: Bound, trees: dict[int, Tree]
    ) -> Iterator[tuple[Bound, dict[int, Tree]]]:
        """The ways in which patterns take one child of an e-node each; the trees by its place."""
        if not fixed:
            yield bound, trees
            return
        for i, k in enumerate(self.egraph.children[n]):
            if i in trees:
                continue
            for found, tree in self.operand(fixed[0], k, bound, n):
                yield from self.assigned(fixed[1:], n, found, trees | {i: tree})


def rests_of(pattern: OpNode) -> list[Hole]:
    """The rests of an AC pattern, each once."""
    return list(dict.fromkeys([pattern.args[i] for i in pattern.rests])) if is_ac(pattern) else []


def one_of_one(pattern: OpNode) -> Any:
    """The pattern beside the rests of an AC pattern, if there is just one."""
    rests = rests_of(pattern)
    others = [a for a in pattern.args if a not in rests]
    return others[0] if rests and len(others) == 1 else None


def bind_parameters(pattern: OpNode, v: Variable, bound: Bound) -> Bound | None:
    """Match the parameters of the op that computes a variable; None if they do not fit."""
    if not isinstance(pattern.op, OpClass):
        return bound
    op = v.owner.op  # type: ignore[union-attr]
    for name, wanted in pattern.op.props:
        value = getattr(op, name)
        if not isinstance(wanted, Hole):
            if value != wanted:
                return None
        elif bound.get(wanted.name, value) != value:
            return None
        else:
            bound = bound | {wanted.name: value}
    return bound


def parameters(left: OpNode) -> set[str]:
    """The variables of a left side that stand for parameters of ops."""
    return {
        value.name
        for p, _ in subpatterns(left)
        if isinstance(p, OpNode) and isinstance(p.op, OpClass)
        for _, value in p.op.props
        if isinstance(value, Hole)
    }
