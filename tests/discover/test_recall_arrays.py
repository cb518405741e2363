"""Shipped rules about arrays are found again where they are taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.discover.arithmetic import Arithmetic
from rewrite_engine.discover.array_samples import OF_NUMBERS
from rewrite_engine.discover.choose import Chooser
from rewrite_engine.discover.equality import are_equal
from rewrite_engine.discover.grow import PlainRunner, grow
from rewrite_engine.discover.judge import Judge, value_or_none, with_facts
from rewrite_engine.discover.propose import propose
from rewrite_engine.discover.space import Space, TermMaker
from rewrite_engine.discover.subjects import array_space
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.judge.values import TermValues
from rewrite_engine.match.build import build, output_of
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, Prop, holes, subpatterns
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule
from rewrite_engine.pipeline.phases import known_rules
from rewrite_engine.rewrite.equal import equal
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.linalg.op import _MatrixOp

#: ops of arrays, besides those of linear algebra
ARRAY_OPS = (
    pt.Argmax, pt.Argmin, pt.CumOp, pt.Diagonal, pt.DimShuffle, pt.Dot, pt.IncDiagonal,
    pt.LogSoftmax, pt.LogSumExp, pt.Max, pt.Min, pt.Prod, pt.Reshape, pt.Softmax, pt.SortOp,
    pt.Subtensor, pt.Sum, _MatrixOp,
)  # fmt: skip
#: functions that only say what shape or dtype a value has: nothing that values show
SHAPES = {"second", "identity", "invert", "switch", "isinf"}
#: parameters that a rule leaves open, and the values that they have here
PARAMETERS = {"axis": None, "keepdims": False}
MAX_OPS, MAX_VARIABLES = 3, 2
MIN_FOUND = 0.8  # of the rules
#: types of variables, with the names of their lengths, in the order in which they are tried
KINDS = {"n": pt.vector, "nm": pt.matrix, "mn": pt.matrix, "": pt.scalar, "nn": pt.matrix}


def parts(rule: DataRule) -> list[Any]:
    return [p for side in (rule.left, rule.right) for p, _ in subpatterns(side)]


def class_of(node: OpNode) -> type:
    return node.op.cls if isinstance(node.op, OpClass) else type(node.op)


def variables_of(rule: DataRule) -> list[Hole]:
    return [h for h in holes(rule.left).values() if h.sort is not Prop]


def is_enumerable(rule: Any) -> bool:
    """Whether both sides consist of ops of arrays and elementwise ops, variables and numbers, and
    are small. Parameters are fixed, or an axis and whether it is kept.
    """
    if not isinstance(rule, DataRule) or isinstance(rule.right, Compute | tuple):
        return False
    found, names = parts(rule), set(holes(rule.left))
    nodes = [p for p in found if isinstance(p, OpNode)]
    open_names = {name for name in names if holes(rule.left)[name].sort is Prop}
    return (
        all([is_plain(p) for p in found])
        and any([issubclass(class_of(p), ARRAY_OPS) for p in nodes])
        and open_names <= set(PARAMETERS)
        and 0 < len(variables_of(rule)) <= MAX_VARIABLES
        and max(map(size_of, (rule.left, rule.right))) <= MAX_OPS
    )


def is_plain(p: Any) -> bool:
    if isinstance(p, Hole):
        return not (p.rest or p.several or p.sort.constant)
    if isinstance(p, OpNode):
        return issubclass(class_of(p), ARRAY_OPS) or (
            isinstance(p.op, Elemwise) and str(p.op) not in SHAPES
        )
    return isinstance(p, Literal)


def size_of(side: Any) -> int:
    return len([p for p, _ in subpatterns(side) if isinstance(p, OpNode)])


RULES = [rule for rule in known_rules(Query()) if is_enumerable(rule)]


def maker_of(node: OpNode) -> TermMaker:
    """Return the maker of an op of a rule, with values of its parameters."""
    op = node.op
    if isinstance(op, OpClass):
        own = {n: PARAMETERS[p.name] if isinstance(p, Hole) else p for n, p in op.props}
        op = op.cls(**own)
    n = len(node.args)
    commutative = bool(getattr(op, "commutative", False)) and n == 2
    return TermMaker(str(op), lambda *args: output_of(op(*args), node.index), n, commutative)


def spaces_of(rule: DataRule) -> Iterator[tuple[Space, Variable, Variable]]:
    """Yield spaces of a rule's ops and numbers, for each choice of types at which both sides are
    terms of equal values; with the sides.
    """
    makers = {m.name: m for m in [maker_of(p) for p in parts(rule) if isinstance(p, OpNode)]}
    numbers = {float(p.value) for p in parts(rule) if isinstance(p, Literal)}
    variables = variables_of(rule)
    for kinds in product(KINDS, repeat=len(variables)):
        leaves = [KINDS[kind](v.name) for kind, v in zip(kinds, variables, strict=True)]
        fit = [can_be(rule, *one) for one in zip(variables, leaves, kinds, strict=True)]
        if not all(fit):
            continue
        bound = {**PARAMETERS, **{v.name: leaf for v, leaf in zip(variables, leaves)}}
        try:
            sides = [pt.as_tensor_variable(build(s, bound)) for s in (rule.left, rule.right)]
        except Exception:  # of operands that do not fit
            continue
        space = array_space(
            rule.short_name,
            [makers[name] for name in sorted(makers)],
            {
                leaf: (kind, facts_of(rule, v))
                for leaf, kind, v in zip(leaves, kinds, variables, strict=True)
            },
            max(map(size_of, (rule.left, rule.right))),
            [pt.constant(n) for n in sorted(numbers)],
        )
        if have_equal_values(space, *sides):
            yield space, sides[0], sides[1]


def can_be(rule: DataRule, v: Hole, leaf: Variable, kind: str) -> bool:
    """Whether a variable of a rule may have a type; facts about matrices are about squares."""
    return v.sort(leaf) and (kind == "nn" or set(facts_of(rule, v)) <= set(OF_NUMBERS))


def facts_of(rule: DataRule, v: Hole) -> tuple[Any, ...]:
    """Return the facts that a rule requires of a variable, if values with them can be made."""
    asked = [c.fact for c in rule.guards if c.fact is not None and c.args == (v,)]
    known = [fact for fact in (v.sort.fact, *asked) if fact is not None]
    return tuple([fact for fact in known if fact in OF_NUMBERS or fact.drawer is not None])


def have_equal_values(space: Space, left: Variable, right: Variable) -> bool:
    """Whether both sides have values at samples, and these are equal."""
    for seed in range(3):
        values = TermValues(PlainRunner(), dict(space.draw(seed, space.variables)))
        a, b = value_or_none(values, left), value_or_none(values, right)
        if a is None or b is None or not are_equal(a, b, False, lambda: ((), ())):
            return False
    return True


def outcome(rule: DataRule) -> str:
    """Return "found" if a proposal has the left side of a rule, in the space of its ops and
    numbers, without the rule; "follows" if the found rules make its sides equal; "implied" if the
    other shipped rules do; else why not.
    """
    space, left, right = next(spaces_of(rule), (None, None, None))
    if space is None or left is None or right is None:
        return "no types of variables"
    judge = Judge(space, excluding=[rule.name])
    before, after = judge.today([left, right])
    if equal_computations([before.form], [after.form]):
        return "implied"
    proposals = propose(grow(space), judge, saving=1.02)
    wanted = [*Arithmetic(space).renamed(left)]
    if any([equal(p.left.variable, v, []) for p in proposals for v in wanted]):
        return "found"
    rules = Chooser(judge, 5.0).run(proposals).accepted
    given = with_facts([left, right], space.variables)
    if equal(*given, [one.rule for one in rules]):
        return "follows"
    return f"missed: {before[1:]}, {after[1:]}"


def test_shipped_rules_are_found_again() -> None:
    assert len(RULES) > 75
    with np.errstate(all="ignore"):
        outcomes = {rule.name: outcome(rule) for rule in RULES}
    missed = {
        name: why for name, why in outcomes.items() if why not in ("found", "follows", "implied")
    }
    assert len(missed) <= (1 - MIN_FOUND) * len(outcomes), missed


def test_without_families_of_rules() -> None:
    """Most rules of the set are of a family, for one elementwise function each: without these."""
    others = [r for r in RULES if not re.match(r".*/(arg)?(max|min)_of_", r.name)]
    assert len(others) > 35
    with np.errstate(all="ignore"):
        outcomes = [outcome(rule) for rule in others]
    found = [o for o in outcomes if o in ("found", "follows", "implied")]
    assert len(found) >= MIN_FOUND * len(others), outcomes
