"""E-matching: every way in which the left side of a rule matches an e-node of an `EGraph`.

A pattern has its usual meaning (`match/interpret.py`), but an operand is an e-class: any of its
e-nodes may match an op in the pattern. Sorts apply to the most informative variable of an e-class.
Some of the operands of an associative-commutative op match, and the others stay next to the result;
so no equation has to reorder or regroup operands, which would make about 3ⁿ e-nodes from n. A rest
may be empty even if that leaves one operand: a sum of one is that operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from rewrite_engine.errors import RewriteEngineError, RuleRaisedError, SearchBudgetError
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.ac import EXTRA, is_ac
from rewrite_engine.match.build import guards_hold
from rewrite_engine.match.interpret import Bindings, Matcher, Pairs, named
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.pattern import OpNode, holes, is_wide, subpatterns
from rewrite_engine.match.rests import Tries
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.egraph import EGraph

Tree = Any  # the very term that a pattern matched: an e-node, or (head, trees)

#: under which the e-node that the left side matches is bound
ROOT = 0


@dataclass(slots=True, eq=False)
class Place:
    """Position of an e-node in a matching term; other e-nodes of its e-class may take it. inputs:
    the places of its operands, if a pattern inspects them.
    """

    n: int
    inputs: tuple[Place, ...] = ()


class Joined(NamedTuple):
    """Operands of one op that one variable stands for. They become an e-node of their own only if
    the rule matches.
    """

    op: Any
    operands: tuple[Place, ...]


class EMatcher(Matcher):
    """Matcher for the left side of a rule, or of its part for one output, on one e-graph.

    A variable of the rule is bound to a `Place`, to several (a tuple), to several as one term
    (`Joined`), or to a parameter of an op. Where an op in the pattern matches, the pair of its
    place and the place above is bound, too.
    """

    once = False  # its operands may be other terms there, equal ones

    def __init__(self, egraph: EGraph, rule: DataRule, part: Lowered) -> None:
        super().__init__(part.left, part.exact)
        self.egraph = egraph
        self.rule, self.right, self.asked = rule, part.right, part.guards
        ops = [p for p, _ in subpatterns(self.left) if isinstance(p, OpNode)]
        self.sums: list[OpNode] = [p for p in ops if is_ac(p)]
        #: what stands for operands in any order
        self.unordered = {EXTRA}.union(*map(empty, self.sums)) - {
            p.args[i].name for p in ops if not is_ac(p) for i in p.rests
        }
        self.names = (*holes(self.left), EXTRA)
        others = [p for p in alone(self.left) if isinstance(p, OpNode)]
        self.roots = [(self.left, {}), *[(p, empty(self.left)) for p in others]]
        self._inputs: dict[int, tuple[Place, ...]] = {}
        self._joined: dict[Joined, Variable | None] = {}
        self.cut = False  # whether there are more ways than were looked at

    def signature(self, bound: Bindings) -> tuple[Any, ...]:
        """Return a key that two matches share iff their variables stand for equal terms."""
        found = []
        for name in self.names:
            key = self.key(bound.get(name))
            found.append(tuple(sorted(key)) if key and name in self.unordered else key)
        return tuple(found)

    def fits(self, n: int) -> bool:
        """Return whether the left side may match an e-node, by its head."""
        return any(self.computes(pattern, n) for pattern, _ in self.roots)

    def computes(self, pattern: OpNode, n: int) -> bool:
        """Return whether the op of a pattern may be that of an e-node, with the same output."""
        return self.egraph.head[n] is not None and pattern.computes(self.egraph.var[n])

    def ways(self, n: int) -> Iterator[Bindings]:
        """Yield the ways in which the left side matches an e-node."""
        self.tries = Tries()
        try:
            for pattern, bound in self.roots:
                if self.computes(pattern, n):
                    here = self.place(n)
                    yield from self.match_op(pattern, here, bound | {ROOT: here})
        except SearchBudgetError:
            self.cut = True

    def place(self, n: int) -> Place:
        """Return a place for an e-node."""
        inputs = self._inputs.get(n)
        if inputs is None:
            inputs = self._inputs[n] = tuple(map(Place, self.egraph.children[n]))
        return Place(n, inputs)

    def guards_hold(self, bound: Bindings) -> bool:
        """Evaluate the rule's guards on representative variables. Raises `RuleRaisedError`."""
        if not self.asked:
            return True
        terms = {name: self.shown(value) for name, value in named(bound).items()}
        try:
            return guards_hold(self.asked, terms, self.egraph.graph)
        except RewriteEngineError:
            raise
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}\n    in a guard, of {terms}"
            raise self.rule.error(RuleRaisedError, what) from error

    def tree(self, bound: Bindings, here: Place | None = None) -> Tree:
        """Return the exact term that matched, or its part at a place."""
        here = here or bound[ROOT]
        trees = []
        for place in here.inputs:
            inner = bound.get((here, place))
            trees.append(place.n if inner is None else self.tree(bound, inner))
        same = tuple(trees) == self.egraph.children[here.n]
        return here.n if same else (self.egraph.head[here.n], tuple(trees))

    # --- what terms are ---------------------------------------------------------------------------

    def entered(
        self, pattern: OpNode, v: Place, bound: Bindings, whole: Any
    ) -> Iterator[tuple[Any, Bindings]]:
        egraph = self.egraph
        for n in egraph.members[egraph.find(v.n)]:
            if self.computes(pattern, n):
                here = self.place(n)
                yield here, bound | {(whole, v): here}

    def variable(self, v: Place) -> Variable:
        return self.egraph.var[v.n]

    def shown(self, v: Any) -> Any:
        """Return the variables or number that a variable of the rule stands for; None for no
        match.
        """
        if v.__class__ is Place:
            return self.egraph.representative(v.n)
        if v.__class__ is Joined:
            if v not in self._joined:
                with suppress(TypeError, ValueError):
                    self._joined[v] = v.op.make_node(*map(self.shown, v.operands)).outputs[0]
            return self._joined.setdefault(v, None)
        return tuple(map(self.shown, v)) if isinstance(v, tuple) else v

    def inputs(self, v: Place) -> Sequence[Place]:
        return v.inputs

    def joined(self, v: Place, operands: Sequence[Place]) -> Any:
        if len(operands) == 1:
            return operands[0]
        return Joined(self.egraph.head[v.n], tuple(operands))

    def key(self, value: Any) -> Any:
        find = self.egraph.find
        if value.__class__ is Place:
            return find(value.n)
        if value.__class__ is Joined:
            classes = map(self.key, value.operands)
            return value.op, tuple(sorted(classes) if value.op.commutative else classes)
        return tuple(map(self.key, value)) if isinstance(value, tuple) else value

    # --- how they are matched ---------------------------------------------------------------------

    def ready(self, bound: Bindings) -> Iterable[Bindings]:
        """Return the bindings unchanged. (Guards are evaluated at the end, for new matches
        only.)
        """
        return (bound,)

    def all_of(self, pairs: Pairs, bound: Bindings, out: Any) -> Iterator[Bindings]:
        ops_last = sorted(pairs, key=lambda pair: isinstance(pair[0], OpNode))
        return self.in_turn(ops_last, bound, out)

    def matches(
        self, pattern: Any, v: Place, bound: Bindings, whole: Any = None
    ) -> Iterator[Bindings]:
        yield from super().matches(pattern, v, bound, whole)
        if isinstance(pattern, OpNode):
            yield from self.match_one(pattern, v, bound, whole)

    def match_one(
        self, pattern: OpNode, v: Place, bound: Bindings, whole: Any
    ) -> Iterator[Bindings]:
        """Match a sum of one operand."""
        for one in alone(pattern):
            rests = empty(pattern)
            if is_wide(one):
                if any(self.entered(pattern, v, bound, whole)):
                    return
                rests[one.name] = (v,)
            if all(self.key(bound.get(x, rests[x])) == self.key(rests[x]) for x in rests):
                inner = rests | bound
                yield from (inner,) if is_wide(one) else self.matches(one, v, inner, whole)


def empty(pattern: OpNode) -> Bindings:
    """Return bindings for the rests of an AC pattern without remaining operands."""
    return dict.fromkeys([pattern.args[i].name for i in pattern.rests], ())


def alone(pattern: OpNode) -> list[Any]:
    """Return the patterns that may be the only operand of an AC pattern: the one without its rests,
    or else each rest.
    """
    if not pattern.rests or not is_ac(pattern):
        return []
    others = [a for i, a in enumerate(pattern.args) if i not in pattern.rests]
    return others if len(others) == 1 else [] if others else [*dict.fromkeys(pattern.args)]
