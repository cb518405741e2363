"""Terms that the left sides of the shipped rules match, built from the left sides themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check import sample
from rewrite_engine.check.sample import (
    DTYPES,
    MIXTURES,
    SHAPES,
    Builder,
    Make,
    Of,
    Plain,
    tensor,
    truth,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Prop, holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.tensor.index.template import WHOLE, Slice
from tests.rules.claims.terms import TABLE, terms

__all__ = [
    "DATA", "DTYPES", "GIVEN", "MIXTURES", "RULES", "SHAPES", "TRUSTING", "built", "instances",
]  # fmt: skip

DATA = [r for r in all_rules() if isinstance(r, DataRule)]
TRUSTING = [r.on_trust for r in DATA if any(g.assumed for g in r.guards)]
#: with those that are used where the user grants what facts would have to prove; none asks whether
#: an error is lost (`tests/rules/test_errors.py`)
RULES = [r.unchecked if r.keeps else r for r in (*DATA, *TRUSTING)]
AXES = [None, (0,), (1,), (0, 1), (-1,), ()]

SUCCESSIVE = [
    dict(axis=0, above=(Slice(1),), below=(Slice(None, -1),)),
    dict(axis=1, above=(WHOLE, Slice(1)), below=(WHOLE, Slice(None, -1))),
]

#: parameters of ops, by rule or by name
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "sum_of_sum": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "sum_of_sum_exactly": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "max_of_max": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "min_of_min": [dict(inner=i, outer=o) for i, o in product(AXES, [None, (0,)])],
    "number_in_a_vector": [dict(dtype=dtype) for dtype in DTYPES],
    "reshape_of_reshape": [
        dict(inner=i, outer=o)
        for i, o in [((-1,), (2, -1)), ((-1,), (-1,)), ((-1,), (-1, 1)), ((2, -1), (-1,))]
    ],
    "dimshuffle_of_dimshuffle": [
        dict(n=2, m=len(i), inner=i, outer=o)
        for i, o in [((1, 0), (1, 0)), ((0, "x", 1), (2, 0, 1)), ((1, 0), (0, "x", 1))]
    ],
    "dimshuffle_of_nothing": [
        dict(n=2, order=order) for order in [(0, 1), ("x", 1), ("x", 0), (0, "x"), (1, 0)]
    ],
    "specified_shape_known": [dict(shape=s) for s in [(None,), (4,), (None, None), (2, None)]],
    "reshape_by_ones": [dict(shape=s) for s in [(), (1, 4), (4,), (2, 3), (1, 2, 3)]],
    "index_of_everything": [
        dict(index=i) for i in [(WHOLE,), (Slice(0, 4),), (WHOLE, Slice(None, 3)), (Slice(1),)]
    ],
    "index_of_new_axes": [dict(index=i) for i in [("x",), (WHOLE, "x"), ("x", WHOLE, "x")]],
    "item_of_slice": [dict(index=(Slice(*i),)) for i in [(0, 1), (-1, None), (1, 3), (2, 9, 7)]],
    "item_of_shape": [dict(index=(i,)) for i in (0, -1)],
    "join_of_join": [dict(axis=0), dict(axis=1)],
    "join_of_one": [dict(axis=0), dict(axis=1)],
    "sum_put_back": [
        dict(axis=(1,), n=1, order=(0, "x")),
        dict(axis=(0,), n=1, order=("x", 0)),
        dict(axis=None, n=0, order=("x", "x")),
    ],
    "sum_of_quotient": [dict(axis=(1,)), dict(axis=(0,))],
    "variance_by_squares": [dict(axis=None), dict(axis=(0,))],
    "difference_of_finite_sums": SUCCESSIVE,
    "difference_of_running_sums": SUCCESSIVE,
    "sort_of_sorted": [dict(axis=0), dict(axis=1)],
}
FLAGS = [dict(axis=a, keepdims=k) for a in AXES for k in (False, True)]

#: what may stand for an operand of which a guard asks something
GIVEN: dict[str, dict[str, list[Make]]] = {
    "abs_of_nonneg": {"x": [pt.exp, pt.sqr, pt.abs, pt.sqrt, pt.sigmoid]},
    **{
        f"{kind}_by_{order}": {"x": [lambda v: truth(v) + 0.7, lambda v: pt.sin(truth(v))]}
        for kind, orders in (
            ("maximum", ("greater", "not_less")),
            ("minimum", ("less", "not_greater")),
        )
        for order in orders
    },
    "maximum_is_first": {
        "x": [pt.exp, lambda v: pt.sin(truth(v))],
        "c": [lambda v: pt.constant(np.array(-1.0, v.type.dtype))],
    },
    "minimum_is_first": {
        "x": [pt.sigmoid, lambda v: pt.sin(truth(v))],
        "c": [lambda v: pt.constant(np.array(1.0, v.type.dtype))],
    },
    "clip_inside": {
        "x": [pt.sigmoid, lambda v: pt.sin(truth(v))],
        "low": [lambda v: pt.constant(np.array(-1.0, v.type.dtype))],
        "high": [lambda v: pt.constant(np.array(1.0, v.type.dtype))],
    },
    "pow_half": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "arccosh_from_log": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "exp_of_log": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "log_of_reciprocal": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "log_of_one_over": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "exp_of_gammaln": {"x": [pt.exp, lambda v: 0.5 + pt.sqr(v)]},
    "difference_with_itself": {"x": [lambda v: 2 * truth(v) - 3, lambda v: pt.sin(truth(v))]},
    "quotient_with_itself": {"x": [lambda v: 2 * truth(v) - 3, lambda v: 2 + pt.sin(truth(v))]},
    "product_with_zero": {"x": [lambda v: 2 * truth(v) - 3, lambda v: pt.sin(truth(v))]},
    "sum_of_sum": {"x": [lambda v: v, lambda v: truth(v) + 0.7]},
    "sum_of_scaled": {"x": [lambda v: truth(v) + 0.7], "c": [lambda v: truth(v) - 2]},
    "second_of_same_shape": {
        "x": [lambda v: v, lambda v: v - pt.tensor("w", dtype=v.type.dtype, shape=v.type.shape)],
        "y": [Of("x", pt.exp), Of("x", lambda v: v.owner.inputs[0])],
    },
    "second_of_one_element": {"y": [lambda v: pt.constant(v.data.reshape(1)), lambda v: v]},
    "second_of_known_shape": {
        name: [lambda v, name=name, s=s: tensor(name, v.type.dtype, s) for s in shapes]
        for name, shapes in [("x", [(1, 4), (4,)]), ("y", [(3, 4), (1, 4)])]
    },
    "item_of_slice": {"x": [lambda v: pt.tensor("x", dtype=v.type.dtype, shape=(4,))]},
    "reshape_by_ones": {
        "x": [lambda v, s=s: pt.tensor("x", dtype=v.type.dtype, shape=s) for s in [(1, 4), (1, 1)]]
    },
    "sum_of_quotient": {"x": [lambda v: truth(v) + 0.7], "y": [lambda v: 2 + truth(v)]},
    "variance_by_squares": {
        "x": [lambda v: pt.tensor("x", dtype=v.type.dtype, shape=(4,))],
        "n": [lambda v: pt.constant(4.0)],
    },
    "difference_of_finite_sums": {"x": [lambda v: pt.cast(truth(v), "int64")]},
    "prod_of_exp": {"x": [lambda v: pt.sin(truth(v))]},
}
for extremum in ("max", "min"):
    for name in ("log", "log2", "log10", "sqrt"):
        GIVEN[f"{extremum}_of_{name}"] = {"x": [pt.exp, pt.sqr, pt.abs]}
    for name in ("moved", "moved_back", "distance"):
        GIVEN[f"{extremum}_of_{name}"] = {"c": [lambda v: truth(v) - 2, lambda v: 3 * truth(v)]}
    for name in ("multiple", "quotient"):
        GIVEN[f"{extremum}_of_{name}"] = {"c": [lambda v: truth(v) + 0.7, lambda v: 3 - truth(v)]}
    GIVEN[f"{extremum}_of_negative_multiple"] = {"c": [lambda v: pt.constant(-1.5)]}


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
    each = [[dtype] for dtype in dtypes]
    for builder, term in built(rule, each, shapes, range(2), Plain):
        yield term, builder.inputs
    if rule.short_name in TABLE:
        yield from [made for made in terms(rule, each) if rule.considers(made[0].owner.op)]


def built(
    rule: DataRule, mixtures: Any, shapes: Any, choices: Any, make: type[Builder] = Builder
) -> Iterator[tuple[Builder, Variable]]:
    """The same with what made them; operands have dtypes of a mixture."""
    given = GIVEN.get(rule.short_name, {}) if rule.needs_grant is None else {}
    return sample.built(rule, mixtures, shapes, choices, make, parameter_choices(rule), given)
