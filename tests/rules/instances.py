"""Terms that the left sides of the shipped rules match, built from the left sides themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Const, Hole, Literal, OpClass, Prop, holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rules.language import (
    Anything,
    Bool,
    ConstantNumber,
    Float,
    FloatConstant,
    Integer,
    Matrix,
    Number,
    Ordered,
    Real,
    RealConstant,
    Scalar,
    Vector,
)
from rewrite_engine.rules.pipeline import all_rules

DATA = [r for r in all_rules() if isinstance(r, DataRule)]
TRUSTING = [r.on_trust for r in DATA if any(g.assumed for g in r.guards)]
#: with those that are used where the user grants what facts would have to prove; none asks whether
#: an error is lost (`tests/rules/test_errors.py`)
RULES = [r.careless if r.keeps else r for r in (*DATA, *TRUSTING)]
DTYPES = ["float64", "float32", "int64", "int8", "bool"]
KINDS = {
    Float: "fc",
    Real: "f",
    Integer: "iu",
    Bool: "b",
    Number: "iufc",
    Ordered: "biuf",
    FloatConstant: "fc",
    RealConstant: "f",
}
CONSTANTS = (Const, FloatConstant, RealConstant, ConstantNumber)

#: static shapes of the operands, one after the other (the last one goes on)
SHAPES = [
    [()],
    [(None,)],
    [(None, None)],
    [(1,), (None,)],
    [(None,), (1,)],
    [(1, None), (None, 1), (None, None)],
    [(None, 1), (None, None), (1, None)],
    [(None, None), (None,)],
    [(None,), (None, None), ()],
    [(), (None,)],
]
AXES = [None, (0,), (1,), (0, 1)]

#: parameters of ops, by rule or by name
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "sum_of_sum": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "max_of_max": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "min_of_min": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "reshape_of_reshape": [dict(inner=(-1,), outer=s) for s in [(2, -1), (-1,), (-1, 1)]],
    "dimshuffle_of_dimshuffle": [
        dict(n=2, m=len(i), inner=i, outer=o)
        for i, o in [((1, 0), (1, 0)), ((0, "x", 1), (2, 0, 1)), ((1, 0), (0, "x", 1))]
    ],
    "join_of_join": [dict(axis=0), dict(axis=1)],
    "join_of_one": [dict(axis=0), dict(axis=1)],
    "softmax_of_all_denominator_gradient": [
        dict(axis=None, outer=None, n=0, order=("x",)),
        dict(axis=(0,), outer=(0,), n=1, order=("x", 0)),
    ],
    "logsumexp_gradient": [
        dict(axis=(1,), n=1, order=(0, "x")),
        dict(axis=(0,), n=1, order=("x", 0)),
        dict(axis=None, n=0, order=("x",)),
    ],
    "sum_put_back": [
        dict(axis=(1,), n=1, order=(0, "x")),
        dict(axis=(0,), n=1, order=("x", 0)),
        dict(axis=None, n=0, order=("x", "x")),
    ],
    "sum_of_quotient": [dict(axis=(1,)), dict(axis=(0,))],
}
FLAGS = [dict(axis=a, keepdims=k) for a in AXES for k in (False, True)]

Make = Callable[[Any], Any]


class Of(NamedTuple):
    """A term made of another operand."""

    name: str
    op: Make


#: what may stand for an operand of which a guard asks something
GIVEN: dict[str, dict[str, list[Make]]] = {
    "abs_of_nonneg": {"x": [pt.exp, pt.sqr, pt.abs, pt.sqrt, pt.sigmoid]},
    "pow_half": {"x": [pt.exp, pt.sqr, pt.abs]},
    "sqr_of_sqrt": {"x": [pt.exp, pt.sqr, pt.abs]},
    "exp_of_log": {"x": [pt.exp, pt.sqr, pt.abs]},
    "log_of_reciprocal": {"x": [pt.exp, pt.sqr, pt.abs]},
    "mul_by_what_divides": {"y": [pt.exp, pt.sigmoid]},
    "difference_with_itself": {"x": [lambda v: 2 * truth(v) - 3, lambda v: pt.sin(truth(v))]},
    "quotient_with_itself": {"x": [lambda v: 2 * truth(v) - 3, lambda v: 2 + pt.sin(truth(v))]},
    "product_with_zero": {"x": [lambda v: 2 * truth(v) - 3, lambda v: pt.sin(truth(v))]},
    "sum_of_scaled": {"x": [lambda v: truth(v) + 0.7], "c": [lambda v: truth(v) - 2]},
    "second_of_same_shape": {"y": [Of("x", pt.exp), Of("x", pt.neg)]},
    "sum_of_quotient": {"x": [lambda v: truth(v) + 0.7], "y": [lambda v: 2 + truth(v)]},
}


def tensor(name: str, dtype: str, shape: Any) -> Variable:
    return pt.tensor(name, dtype=dtype, shape=shape)


def truth(v: Any) -> Any:
    """A finite term of any dtype: 1 where v is above 0, else 0."""
    return pt.cast(v > 0, v.type.dtype)


class Builder:
    """Makes one term of a left side."""

    def __init__(self, rule: DataRule, dtype: str, shapes: Any, parameters: Any, choice: int):
        self.rule, self.dtype, self.shapes, self.choice = rule, dtype, shapes, choice
        self.bound: dict[str, Any] = dict(parameters)
        self.inputs: list[Any] = []

    def term(self) -> Variable:
        return self.fill(self.rule.left)

    def fill(self, pattern: Any) -> Any:
        if isinstance(pattern, Hole):
            if pattern.name not in self.bound:
                self.bound[pattern.name] = self.operand(pattern)
            return self.bound[pattern.name]
        if isinstance(pattern, Literal):
            return pattern.operand
        args: list[Any] = []
        for a in pattern.args:
            value = self.fill(a)
            args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
        op = pattern.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: self.prop(p) for n, p in op.props})
        return op(*args)

    def prop(self, wanted: Any) -> Any:
        return self.bound[wanted.name] if isinstance(wanted, Hole) else wanted

    def operand(self, hole: Hole) -> Any:
        if hole.rest:
            return tuple([self.fresh(f"{hole.name}{i}", hole) for i in range(2)])
        proved = self.rule.needs_leave is None
        choices = GIVEN.get(self.rule.short_name, {}).get(hole.name) if proved else None
        v = self.fresh(hole.name, hole)
        make: Any = choices[self.choice % len(choices)] if choices else None
        if isinstance(make, Of):
            return make.op(self.bound[make.name])
        return make(v) if make is not None else v

    def fresh(self, name: str, hole: Hole) -> Any:
        sort, dtype = hole.sort, self.dtype
        if name == "condition":
            dtype = "bool"
        if dtype[0] not in KINDS.get(sort, "fiub"):
            raise TypeError(f"{dtype} is no {sort}")
        if sort in CONSTANTS:
            return pt.constant(np.asarray([2.0, -3.0][self.choice % 2]).astype(dtype))
        rank = {Scalar: 0, Vector: 1, Matrix: 2}.get(sort)
        shape = self.shapes[min(len(self.inputs), len(self.shapes) - 1)]
        if rank is not None and len(shape) != rank:
            shape = (None,) * rank
        assert rank is not None or sort in KINDS or sort in (Anything,) or hole.rest, sort
        v = tensor(name, dtype, shape)
        self.inputs.append(v)
        return v


def is_computed(v: Any) -> bool:
    return isinstance(v, Variable) and v.owner is not None


def parameter_choices(rule: DataRule) -> list[dict[str, Any]]:
    if rule.short_name in PARAMETERS:
        return PARAMETERS[rule.short_name]
    names = {h.name for h in holes(rule.left).values() if h.sort is Prop}
    if not names:
        return [{}]
    found = [{k: v for k, v in flags.items() if k in names} for flags in FLAGS]
    return [f for i, f in enumerate(found) if f not in found[:i]]


def instances(
    rule: DataRule, dtypes: Any = DTYPES, shapes: Any = SHAPES
) -> Iterator[tuple[Variable, list[Any]]]:
    """Yield well-typed terms of the left side, each with its inputs."""
    seen = set()
    for dtype, sizes, parameters, choice in product(
        dtypes, shapes, parameter_choices(rule), range(2)
    ):
        builder = Builder(rule, dtype, sizes, parameters, choice)
        try:
            term = builder.term()
        except (RewriteEngineError, TypeError):
            continue  # no such term
        key = (
            str(builder.bound),
            str([v.type for v in builder.inputs]),
            choice if GIVEN.get(rule.short_name) or not builder.inputs else 0,
        )
        if key not in seen and term.owner is not None:
            seen.add(key)
            term.tag.operands = [v for v in builder.bound.values() if is_computed(v)]
            yield term, builder.inputs
