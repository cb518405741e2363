"""Terms that the left sides of the shipped rules match, built from the left sides themselves."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Const, Hole, Literal, OpClass, Prop, holes
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.trace import brief
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
from rewrite_engine.tensor.index.template import WHOLE, Slice

DATA = [r for r in all_rules() if isinstance(r, DataRule)]
TRUSTING = [r.on_trust for r in DATA if any(g.assumed for g in r.guards)]
#: with those that are used where the user grants what facts would have to prove; none asks whether
#: an error is lost (`tests/rules/test_errors.py`)
RULES = [r.unchecked if r.keeps else r for r in (*DATA, *TRUSTING)]
DTYPES = [
    "float64", "float32", "float16", "int64", "int8", "uint8", "uint64", "bool",
    "complex128", "complex64",
]  # fmt: skip
#: what operands, and numbers, of one term may have in turn
MIXTURES = [
    ["float64", "float32", "float16"],
    ["float64", "float32", "int64", "int32", "int8", "bool"],
    ["float16", "int8", "uint8", "int16", "float32"],
    ["complex128", "complex64", "float64"],
    ["int64", "int8", "uint8", "uint64", "int32", "bool"],
]
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
    [(None, None), (None, 1)],
    [(None, None), (1, None)],
]
AXES = [None, (0,), (1,), (0, 1), (-1,), ()]

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
    "pow_half": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "sqr_of_sqrt": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "exp_of_log": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
    "log_of_reciprocal": {"x": [pt.exp, pt.sqrt, pt.sqr, pt.abs]},
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
}


def tensor(name: str, dtype: str, shape: Any) -> Variable:
    return pt.tensor(name, dtype=dtype, shape=shape)


def truth(v: Any) -> Any:
    """A finite term of any dtype: 1 where v is above 0, else 0."""
    return pt.cast(v > 0, v.type.dtype)


@cache
def numbers(dtype: str) -> list[Any]:
    """What constants are: plain numbers, and the ends of the dtype."""
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "fc":
            limits = np.finfo(dtype)
            low, high = float(limits.tiny), float(limits.max)
            found = [2, -3, 0.1, 1e-4, 1e-3, 7e-4, 0.5, 1 / 3, 2, -3, 30, 1e4, 1, -1, 0, -0.0]
            found += [low, low / 4, 1.3 * low**0.5, 0.7 * low**0.5, high, 1.3 * high**0.5, high / 2]
            found += [np.inf, -np.inf, np.nan, 1e16]
        else:
            found = [2, -3, 100, 3, 1, -1, 0, 127]
        return [np.asarray(n).astype(dtype) for n in found]


class Builder:
    """Makes one term of a left side. dtypes: what operands may have, chosen for each of them.
    plain: no special constants.
    """

    plain = False

    def __init__(
        self, rule: DataRule, dtypes: Sequence[str], shapes: Any, parameters: Any, choice: int
    ) -> None:
        self.rule, self.dtypes, self.shapes, self.choice = rule, dtypes, shapes, choice
        self.choose = random.Random(f"{rule.short_name} {dtypes} {choice}")
        self.bound: dict[str, Any] = dict(parameters)
        self.inputs: list[Any] = []
        self.stand_ins: list[Any] = []

    def term(self) -> Variable:
        return self.fill(self.rule.left)

    def fill(self, pattern: Any) -> Any:
        if isinstance(pattern, Hole):
            if pattern.name not in self.bound:
                self.bound[pattern.name] = self.operand(pattern)
            return self.bound[pattern.name]
        if isinstance(pattern, Literal):
            return self.literal(pattern)
        args: list[Any] = []
        for a in pattern.args:
            value = self.fill(a)
            args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
        op = pattern.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: self.prop(p) for n, p in op.props})
        return op(*args)

    def literal(self, pattern: Literal) -> Any:
        """A number, as weak as Python's; with a dtype; or filling an array."""
        value = pattern.value
        form = 0 if self.plain else self.choose.randrange(6)
        typed = np.asarray(value).astype(self.choose.choice(list(self.dtypes)))
        if form < 2 or typed != value:
            return pattern.operand
        if form == 2 and value == 0 and typed.dtype.kind == "f":
            typed = -typed
        return pt.constant(np.full([(1,), (4,)][form % 2], typed) if form > 3 else typed)

    def prop(self, wanted: Any) -> Any:
        return self.bound[wanted.name] if isinstance(wanted, Hole) else wanted

    def operand(self, hole: Hole) -> Any:
        proved = self.rule.needs_grant is None
        choices = GIVEN.get(self.rule.short_name, {}).get(hole.name) if proved else None
        if hole.rest and not choices:
            return tuple([self.fresh(f"{hole.name}{i}", hole) for i in range(2)])
        make: Any = choices[self.choice % len(choices)] if choices else None
        if isinstance(make, Of):
            return make.op(self.fill(holes(self.rule.left)[make.name]))
        v = self.fresh(hole.name, hole)
        if make is not None:
            v = make(v)
            if v.owner is not None:
                self.stand_ins.append(v)
        return v

    def fresh(self, name: str, hole: Hole) -> Any:
        sort = hole.sort
        fits = [d for d in self.dtypes if np.dtype(d).kind in KINDS.get(sort, "fiubc")]
        if not fits:
            raise TypeError(f"{self.dtypes} has no {sort}")
        dtype = "bool" if name == "condition" else self.choose.choice(fits)
        if sort in CONSTANTS:
            number = [2.0, -3.0][self.choice % 2]
            found = [np.asarray(number).astype(dtype)] if self.plain else numbers(dtype)
            return pt.constant(self.choose.choice(found))
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
    each = [[dtype] for dtype in dtypes]
    for builder, term in built(rule, each, shapes, range(2), Plain):
        yield term, builder.inputs


class Plain(Builder):
    """With ordinary constants."""

    plain = True


def built(
    rule: DataRule, mixtures: Any, shapes: Any, choices: Any, make: type[Builder] = Builder
) -> Iterator[tuple[Builder, Variable]]:
    """The same with what made them; operands have dtypes of a mixture."""
    seen = set()
    every = product(mixtures, shapes, parameter_choices(rule), choices)
    for dtypes, sizes, parameters, choice in every:
        builder = make(rule, dtypes, sizes, parameters, choice)
        try:
            term = builder.term()
        except (RewriteEngineError, TypeError):
            continue  # no such term
        if not is_computed(term):
            continue
        key = (brief(term, 20), str([v.type for v in builder.inputs]), str(builder.bound))
        if key not in seen:
            seen.add(key)
            yield builder, term
