"""`rule.goal`: a data rule as a miniKanren relation over etuples, which defines the meaning of the
rule.

`goal(in_term, out_term)` holds if the left side is `in_term` and the right side `out_term` under
the same bindings. A known term is matched with its side as rewriting matches it, in any order if
the op allows it; if both have free variables the sides are unified with them. So it runs forwards,
backwards (`backward`), and as a check. Sorts and guards are evaluated as soon as their variables
are known; a variable that stays unknown does not refuse.

Backwards, the bindings of the right side build terms of the left side: in each order of unordered
operands, and next to the operands that the rule leaves alone. Two things cannot run backwards: a
right side that needs Python (`compute`), and numbers that were combined on the right (the 3 of
2 * x + x). A variable that only the left side has stays free in backward answers; a rest that only
the left side has is empty in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, permutations, product
from numbers import Number
from typing import Any

import kanren
from etuples.core import ExpressionTuple

import rewrite_engine.terms.dispatch  # noqa: F401  (importing it registers)
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.number import same_number
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.replace import Shared
from rewrite_engine.match.ac import EXTRA, is_ac, is_associative, plan, spliced
from rewrite_engine.match.build import Bindings, guards_hold, instantiate
from rewrite_engine.match.differences import View, views
from rewrite_engine.match.interpret import Matcher, every_result, named
from rewrite_engine.match.lower import Compute, Lowered, with_runs
from rewrite_engine.match.pattern import (
    Hole,
    Literal,
    OpClass,
    OpNode,
    Rest,
    holes,
    subpatterns,
)
from rewrite_engine.terms.convert import make
from rewrite_engine.terms.logic import LogicVariable, nth
from rewrite_engine.terms.unification import IMPOSSIBLE, UNKNOWN, evaluated, reify

Goal = Any
Filling = dict[str, tuple[Any, ...]]  # the patterns, if any, that take the place of a variable


def rule_goal(*rules: Any) -> Callable[[Any, Any], Goal]:
    """Return the relation of `DataRule`s: it holds if that of any of them does. It relates terms of
    single outputs.
    """
    goals = [_make_goal(part) for rule in rules for part in rule.lowered.parts]
    if len(goals) == 1:
        return goals[0]
    return lambda term, result: kanren.conde(*[[goal(term, result)] for goal in goals])


def _make_goal(rule: Lowered) -> Callable[[Any, Any], Goal]:
    parts = [p for p, _ in subpatterns(rule.left) if not isinstance(p, Hole)]
    # (unification alone does not say what rests and filled arrays are)
    if all(isinstance(p, OpNode) and not (p.wide or is_associative(p)) for p in parts):
        return lambda term, result: _unify_sides(rule, [(rule.left, rule.right)], term, result)

    def goal(term: Any, result: Any) -> Goal:
        def search(state: Any) -> Iterator[Any]:
            value, target = known(term, state), known(result, state)
            if value is not UNKNOWN:
                for answer in distinct(_find_results(rule, value, state)):
                    yield from kanren.eq(answer, result)(state)
            elif target is not UNKNOWN:
                if target is not IMPOSSIBLE:
                    yield from backward(rule, target, term, state)
            else:
                yield from _unify_sides(rule, opened(rule, reify(term, state)), term, result)(state)

        return search

    return goal


def known(x: Any, state: Any) -> Any:
    """Return the value of a term in a state, as far as it is known."""
    return evaluated(reify(x, state))


def distinct(answers: Iterable[Any]) -> Iterator[Any]:
    """Yield terms in order, equal ones once."""
    shared, seen = Shared(), set[Any]()
    for answer in answers:
        one = as_one_term(answer, shared)
        if one not in seen:
            seen.add(one)
            yield answer


def _find_results(rule: Any, value: Any, state: Any) -> Iterator[Any]:
    """Yield a rule's results for a term, by every way in which it matches."""
    if isinstance(value, Variable) and repeats(rule.left):
        value = Shared()(value)
    root = getattr(value, "owner", None)
    if root is None or rule.left.target(root) is not value:
        return
    itself: View = (root, lambda term: term)
    for node, whole in chain([itself], views(rule.left, rule.exact, None, root)):
        for answer in every_result(rule, None, node, state.__len__):  # (it may look at the clock)
            yield whole(answer)


# --- backwards ----------------------------------------------------------------------------------


def backward(rule: Any, result: Any, term: Any, state: Any) -> Iterator[Any]:
    """Yield the states in which the rule rewrites `term` to the known `result`."""
    shared, seen, variables = Shared(), set[Any](), holes(rule.left).items()
    #: what stands for variables that the right side says nothing of: a rest is empty
    unbound = {name: () if hole.rest else LogicVariable(name) for name, hole in variables}
    for bindings in _match_result(rule, result):
        if not guards_hold(rule.guards, bindings):
            continue
        bound = {name: as_one_term(value, shared) for name, value in bindings.items()}
        terms = unbound | bound
        left = rule.left
        if EXTRA in bound:
            left = OpNode(left.op, (*left.args, Hole(EXTRA, Rest)))
        for flat in (False, True):
            for ordered in orders(left) if _is_term(left, terms, flat) else ():
                len(state)  # (a watched state checks the clock)
                made_of = to_term(ordered, terms, flat)
                if made_of not in seen:
                    seen.add(made_of)
                    yield from kanren.eq(made_of, term)(state)


def may_be(hole: Hole, value: Any) -> bool:
    """Return whether a hole may stand for a value: a variable of its sort; or a bare number (a
    literal in a backward run), if the sort allows any value or requires a constant.
    """
    if isinstance(value, Variable):
        return bool(hole.sort(value))
    return isinstance(value, Number) and (hole.sort.inline == "True" or hole.sort.constant)


def as_one_term(value: Any, shared: Shared) -> Any:
    """Return a variable's value, with equal terms as one object."""
    if isinstance(value, tuple):
        return tuple([as_one_term(v, shared) for v in value])
    return shared(value) if isinstance(value, Variable) else value


def _match_result(rule: Any, result: Any) -> Iterator[Bindings]:
    """Yield the bindings under which the right side is a result, with `EXTRA` next to it; with some
    of its rests empty.
    """
    left, right = rule.left, rule.right
    if isinstance(right, Compute):
        return
    sides = [right]
    if isinstance(result, Variable):
        result = Shared()(result) if repeats(right) else result
        if is_ac(left) and plan(left, left).leaves(left, left):
            sides.append(OpNode(left.op, spliced(left.op, (right, Hole(EXTRA, Rest)))))
    rests = [name for name, hole in holes(right).items() if hole.rest]
    for side in sides:
        for empty in _choose(rests):
            for bound in _match_right(_fill(side, empty), result, empty):
                if side is right or bound[EXTRA]:
                    yield bound


def _match_right(right: Any, result: Any, bound: Bindings) -> Iterator[Bindings]:
    if not isinstance(result, Variable):
        if isinstance(right, Hole) and may_be(right, result):
            yield bound | {right.name: result}
        elif isinstance(right, Literal) and same_number(result, right.value):
            yield bound
        return
    whole = OpNode(OpClass(type(None), ()), (right,))  # so that the right side is no left side
    for bindings in Matcher(whole).matches(with_runs(right, right), result, bound):
        yield named(bindings)


def _choose(names: Sequence[str]) -> Iterator[Filling]:
    """Yield the ways in which some of several variables are empty, fewest first."""
    sizes = range(len(names) + 1)
    some = chain.from_iterable([combinations(names, n) for n in sizes])
    return (dict.fromkeys(gone, ()) for gone in some)


def _is_term(left: OpNode, terms: Bindings, flat: bool) -> bool:
    """Return whether no associative op is left with one operand because a rest is empty; a term of
    the same op may provide its operands.
    """
    for p in [p for p, _ in subpatterns(left) if is_associative(p) and p.rests]:
        taken = sum([len(terms[p.args[i].name]) for i in p.rests])
        own = [a for i, a in enumerate(p.args) if i not in p.rests]
        stands = [terms.get(a.name) for a in own if flat and isinstance(a, Hole)]
        several = any([getattr(term, "head", None) is p.op for term in stands])
        if len(own) + taken + several < 2:
            return False
    return True


# --- by unification -------------------------------------------------------------------------------


def _unify_sides(rule: Any, sides: Iterable[tuple[Any, Any]], term: Any, result: Any) -> Goal:
    pairs = ((ordered, right) for left, right in sides for ordered in orders(left))
    return kanren.conde(_unify_order(rule, *pair, term, result) for pair in pairs)


def _unify_order(rule: Any, left: OpNode, right: Any, term: Any, result: Any) -> list[Goal]:
    terms: Bindings = {}
    same = kanren.eq(to_term(left, terms), term)
    allowed = _check_guards(rule, terms, [p for p, _ in subpatterns(left) if isinstance(p, Hole)])
    computed = isinstance(right, Compute)
    right_side = (
        _compute_right(right, terms, result)
        if computed
        else kanren.eq(to_term(right, terms), result)
    )
    return [same, allowed, right_side, allowed]


def _check_guards(rule: Lowered, terms: Bindings, asked: list[Hole]) -> Goal:
    """Return the goal that sorts and guards hold, as far as their variables are known."""

    def goal(state: Any) -> Iterator[Any]:
        values = {name: known(term, state) for name, term in terms.items()}
        bound = {name: value for name, value in values.items() if value is not UNKNOWN}
        if all(may_be(hole, bound[hole.name]) for hole in asked if hole.name in bound):
            if guards_hold(rule.guards, bound):
                yield state

    return goal


def _compute_right(right: Compute, terms: Bindings, result: Any) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        bound = {name: known(terms[name], state) for name in right.names if name in terms}
        if len(bound) < len(right.names) or UNKNOWN in bound.values():
            return
        value = instantiate(right, bound, None)
        if value is not None:
            yield from kanren.eq(value, result)(state)

    return goal


def opened(rule: Any, term: Any) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of sides without rests, to be unified with an open term: a rest becomes as many
    variables as some op of that term has operands.
    """
    right = rule.right
    rests = [name for name, hole in holes(rule.left).items() if hole.rest]
    most = _count_operands(term) if rests else 0
    for sizes in product(range(most + 1), repeat=len(rests)):
        taken: Filling = {
            name: tuple([Hole(f"{name}{i}") for i in range(size)])
            for name, size in zip(rests, sizes, strict=True)
        }
        left = _fill(rule.left, taken)
        if isinstance(left, OpNode):
            yield left, right if isinstance(right, Compute) else _fill(right, taken)


def _fill(pattern: Any, taken: Filling) -> Any:
    """Return a side with patterns in place of some variables, or nothing; all others must be
    present.
    """
    (filled,) = _fill_operands(pattern, taken)
    return filled


def _fill_operands(pattern: Any, taken: Filling) -> tuple[Any, ...]:
    if isinstance(pattern, Hole):
        return taken.get(pattern.name, (Hole(pattern.name, pattern.sort),))
    if not isinstance(pattern, OpNode):
        return (pattern,)
    args = [x for a in pattern.args for x in _fill_operands(a, taken)]
    if len(args) == 1 and len(pattern.args) > 1 and is_associative(pattern):
        return (args[0],)
    return (pattern.of(*args),)


def _count_operands(term: Any) -> int:
    def below(x: Any) -> tuple[Any, ...]:
        return x._tuple if isinstance(x, ExpressionTuple) else ()

    return max([len(below(x)) for x in postorder([term], below)]) - 1


# --- sides as terms -------------------------------------------------------------------------------


def orders(pattern: Any) -> Iterator[Any]:
    """Yield a pattern with the operands of commutative ops in every order that is tried."""
    if not isinstance(pattern, OpNode):
        yield pattern
        return
    if is_ac(pattern):
        arranged: Any = permutations(pattern.args)
    else:
        arranged = [pattern.args, pattern.args[::-1]] if pattern.swaps else [pattern.args]
    for args in dict.fromkeys(arranged):
        for choice in product(*[list(orders(a)) for a in args]):
            yield pattern.of(*choice)


def to_term(pattern: Any, terms: Bindings, flat: bool = False) -> Any:
    """Return a pattern as a term; an unbound variable becomes a logic variable. flat: the operands
    of an associative op are not the same op again.
    """
    if isinstance(pattern, Hole):
        if pattern.name not in terms:
            terms[pattern.name] = LogicVariable(pattern.name)
        return terms[pattern.name]
    if isinstance(pattern, Literal):
        return pattern.value
    op = pattern.op
    if isinstance(op, OpClass):
        op = make((op.cls, *[to_term(p, terms) if isinstance(p, Hole) else p for _, p in op.props]))
    args: list[Any] = []
    for a in pattern.args:
        value = to_term(a, terms, flat)
        if flat and is_associative(pattern) and getattr(value, "head", None) is op:
            value = tuple(value.owner.inputs)
        args += value if isinstance(a, Hole) and isinstance(value, tuple) else (value,)
    term = make((op, *args))
    return term if pattern.index is None else make((nth, pattern.index, term))


def repeats(pattern: Any) -> bool:
    """Return whether a variable occurs twice, so that equal operands must be one object."""
    names = [p.name for p, _ in subpatterns(pattern) if isinstance(p, Hole)]
    return len(names) > len(set(names))
