"""Subterms that rules look for: left sides of shipped rules on terms of the pool, and what people
write out by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from fuzz.arrays import FLOATS, INTEGERS, number
from fuzz.pool import Pool, Skip
from fuzz.steps import axes
from rewrite_engine.check.sample import Filler
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Hole, Literal, Prop
from rewrite_engine.match.rule import DataRule
from rewrite_engine.pipeline.phases import all_rules

# --- left sides -----------------------------------------------------------------------------------


@cache
def data_rules() -> list[DataRule]:
    """The shipped rules that have a left side."""
    return [rule for rule in all_rules() if isinstance(rule, DataRule)]


class PoolFiller(Filler):
    """Fills the left side of a rule with terms of a pool."""

    def __init__(self, p: Pool, rule: DataRule) -> None:
        self.p, self.rule = p, rule
        self.bound: dict[str, Any] = {}
        self.first: Any = None

    def applied(self, op: Any, args: Any, index: int) -> Any:
        if self.p.rng.random() < 0.5 and getattr(op, "commutative", False):
            self.p.rng.shuffle(args)
        return self.p.add(op, *args, keep=False)

    def literal(self, pattern: Literal) -> Any:
        """A number; perhaps in a dtype, or an array filled with it."""
        rng, value = self.p.rng, pattern.value
        if rng.random() < 0.75 or self.first is None:
            return value
        try:
            one = np.asarray(value).astype(self.first.type.dtype)
        except (ValueError, OverflowError, TypeError):
            return value
        return one if rng.random() < 0.5 else np.full(self.p.values[self.first].shape, one)

    def parameter(self, name: str) -> Any:
        rng, ndim = self.p.rng, 2 if self.first is None else self.first.type.ndim
        if name == "keepdims":
            return rng.random() < 0.5
        if name in ("n", "m"):
            return ndim
        if name == "order":
            return rng.choice((("x", 0), (0, "x"), ("x",), (1, 0), ("x", "x")))
        if self.rule.short_name.startswith("join"):
            return rng.choice((0, 0, 1))
        if self.rule.short_name.startswith("reshape"):
            return rng.choice(((-1,), (2, -1), (-1, 1), (-1, 2)))
        if self.rule.short_name.startswith("dimshuffle"):
            return rng.choice(((1, 0), (0, "x"), ("x", 0), (0, 1), (0, "x", 1)))
        if name not in ("axis", "inner", "outer"):
            raise Skip  # nobody knows what it may be
        return rng.choice((None, (0,), (1,), (0, 1))) if ndim > 1 else rng.choice((None, (0,)))

    def operand(self, hole: Hole) -> Any:
        p = self.p
        if hole.sort is Prop:
            return self.parameter(hole.name)
        if hole.rest:
            return tuple([self.one(hole) for _ in range(p.rng.choice((0, 1, 1, 2)))])
        return self.one(hole)

    def one(self, hole: Hole) -> Any:
        p = self.p
        if hole.sort.constant:
            dtype = "float64" if self.first is None else self.first.type.dtype
            found = pt.constant(np.asarray(number(p.rng, dtype, "plain")).astype(dtype))
            p.values[found] = np.asarray(found.data)
            return found
        if hole.name == "condition":
            if self.first is None:
                return p.pick()
            return p.beside(self.first, lambda v: v.type.kind == "b")
        if self.first is None:
            self.first = self.pick_first(hole.sort)
            return self.first
        return p.beside(self.first, hole.sort.test)

    def pick_first(self, sort: Any) -> Any:
        p = self.p
        try:
            return p.pick(sort.test)
        except Skip:
            found = p.leaf(p.rng.choice((*FLOATS, "int64")))
            if not sort.test(found):
                raise
            return found


def left_side(p: Pool) -> Any:
    """The left side of some rule."""
    rule = p.rng.choice(data_rules())
    if rule.pack in ("exp_log", "softmax") or p.rng.random() < 0.7:
        filler = PoolFiller(p, rule)
        made = filler.fill(rule.left)
        if not isinstance(made, Variable) or made.owner is None:
            raise Skip
        p.terms.append(made)
        return made
    raise Skip


# --- what people write ----------------------------------------------------------------------------


def softmaxes(p: Pool) -> Any:
    """A softmax written out, as a whole or in parts, and its logarithm."""
    x, rng = p.real(), p.rng
    axis = axes(p, x)
    keep = axis is not None or rng.random() < 0.5
    e = p.add(pt.exp, x, keep=False)
    s = p.add(lambda v: v.sum(axis=axis, keepdims=keep), e, keep=False)
    kind = rng.randrange(7)
    if kind == 0:
        return p.add(pt.log, s)
    if kind == 1:
        return p.add(lambda a, b: a - pt.log(b), x, s)
    if kind < 4:
        y = p.beside(x)
        made = p.add(pt.true_div, y, s, keep=False)
        return p.add(pt.mul, *((made, e) if kind == 2 else (e, made)))
    made = p.add(pt.true_div, e, s)
    if kind == 4:
        return p.add(pt.log, made)
    if kind == 5:
        return p.add(lambda a, b: a / b * b, p.beside(x), made)
    return made


def sigmoids(p: Pool) -> Any:
    """A sigmoid, softplus, or logarithm of one, as people write it."""
    x, rng = p.real(), p.rng
    e, m = pt.exp, rng.choice((lambda v: v, pt.neg))
    one: Any = rng.choice((1, 1, 1.0, np.ones((), x.type.dtype), np.ones(1, x.type.dtype)))
    forms: list[Callable[[Any], Any]] = [
        lambda v: 1 / (one + e(m(v))),
        lambda v: e(v) / (one + e(v)),
        lambda v: pt.log(one + e(m(v))),
        lambda v: pt.log(1 - pt.sigmoid(v)),
        lambda v: pt.log(1 / (1 + e(m(v)))),
        lambda v: pt.log(e(v) / (1 + e(v))),
        lambda v: pt.log1p(-pt.sigmoid(v)),
        lambda v: pt.sigmoid(v) * e(-v),
        lambda v: pt.log(pt.erfc(v)),
        lambda v: pt.log(1 - e(m(v))),
        lambda v: 1 - pt.sigmoid(v),
        lambda v: e(v) - 1,
        lambda v: 1 - e(v),
        lambda v: pt.log(e(v)),
        lambda v: e(pt.log(pt.sqr(v))),
        lambda v: pt.log(1 + v),
        lambda v: pt.log(1 - pt.sqr(v)),
        lambda v: pt.log(pt.sqrt(pt.abs(v))),
        lambda v: pt.log(pt.reciprocal(pt.sqrt(v))),
    ]
    return p.add(rng.choice(forms), x)


def logs_of_sums(p: Pool) -> Any:
    """log(exp(x) + exp(y) + …)."""
    x, rng = p.real(), p.rng
    y = p.beside(x)
    forms: list[Callable[[Any, Any], Any]] = [
        lambda a, b: pt.log(pt.exp(a) + pt.exp(b)),
        lambda a, b: pt.log(pt.exp(a) - pt.exp(b)),
        lambda a, b: pt.log(pt.exp(a) + pt.exp(b) + pt.exp(a - b)),
        lambda a, b: pt.logaddexp(a, b) - a,
        lambda a, b: pt.log(pt.exp(a) * pt.exp(b)),
        lambda a, b: pt.exp(a) * pt.exp(b),
        lambda a, b: a / pt.exp(b) * pt.exp(b),
        lambda a, b: pt.log(a * b),
        lambda a, b: pt.log(pt.sqr(a) / pt.exp(b)),
    ]
    return p.add(rng.choice(forms), x, y)


def guarded(p: Pool) -> Any:
    """A switch that guards a function from where it is not defined."""
    x, rng = p.real(), p.rng
    y = p.beside(x)
    name = rng.choice("log sqrt reciprocal log1p arcsin".split())
    f = getattr(pt, name)
    forms: list[Callable[[Any], Any]] = [
        lambda v: pt.switch(v > 0, f(v), 0),
        lambda v: pt.switch(v > 0, f(v) - v, -np.inf),
        lambda v: pt.switch(pt.eq(v, 0), 0, y / v),
        lambda v: pt.switch(v > 0, v * pt.log(v), 0.0),
        lambda v: pt.switch(v >= 0, -f(v), y),
        lambda v: f(pt.switch(v > 0, v, 1)),
        lambda v: pt.maximum(v, 0) * y,
        lambda v: pt.switch(v > 0, v, v),
        lambda v: pt.switch(pt.isnan(v), 0, v),
    ]
    return p.add(rng.choice(forms), x)


def cancelling(p: Pool) -> Any:
    """What is taken back at once, or is neutral."""
    x, rng = p.pick(), p.rng
    y = p.beside(x)
    zero: Any = rng.choice((0, 0.0, np.zeros((), x.type.dtype), np.zeros(1, x.type.dtype)))
    forms: list[Callable[[Any], Any]] = [
        lambda v: v - v,
        lambda v: v / v,
        lambda v: v * zero,
        lambda v: v + zero,
        lambda v: 2 * v + 0 * v,
        lambda v: v / y * y,
        lambda v: v * y / y,
        lambda v: v + y - y,
        lambda v: v - y + y,
        lambda v: 2 * v + 3 * v - v,
        lambda v: v * 1 + v,
        lambda v: v**2,
        lambda v: v**0,
        lambda v: v**-1,
        lambda v: v**0.5,
        lambda v: pt.sqrt(pt.sqr(v)),
        lambda v: pt.sqr(pt.sqrt(v)),
        lambda v: pt.abs(pt.abs(v)),
        lambda v: pt.abs(-v),
        lambda v: pt.second(v - y, v),
        lambda v: pt.second(v, y) * v,
        lambda v: (v + y).shape[0],
        lambda v: pt.maximum(v, pt.maximum(v, y)),
        lambda v: pt.exp(v) * pt.exp(-v),
    ]
    return p.add(rng.choice(forms), x)


def numbers(p: Pool) -> Any:
    """Constants that could be one: products, quotients and sums with several, in their dtypes."""
    x, rng = p.pick(), p.rng
    made: Any = x
    if x.type.kind == "f" and rng.random() < 0.4:
        return _small_factors(p, x.type.dtype)
    for _ in range(rng.choice((2, 2, 3))):
        dtype = x.type.dtype if rng.random() < 0.7 else rng.choice(p.dtypes)
        value = number(rng, dtype, rng.choice(("plain", "wide", "extreme")))
        c = value if rng.random() < 0.2 else np.asarray(value).astype(dtype)[()]
        op = rng.choice((pt.mul, pt.mul, pt.true_div, pt.add, pt.sub, pt.maximum, pt.minimum))
        pair = (made, c) if rng.random() < 0.7 else (c, made)
        made = p.add(op, *pair, keep=False)
    p.terms.append(made)
    return made


def _small_factors(p: Pool, dtype: str) -> Any:
    """Numbers whose product is smaller than all that has its digits; the term makes up for it."""
    x = p.leaf(dtype)
    large = float(np.finfo(dtype).max) ** p.rng.uniform(0.5, 0.9)
    p.given[x] = p.values[x] = (large * np.ones(p.values[x].shape)).astype(dtype)
    small = np.dtype(dtype).type(large ** -p.rng.uniform(0.6, 0.95))
    other = np.dtype(dtype).type(large ** -p.rng.uniform(0.4, 0.7))
    one, two = p.rng.choice(((pt.mul, pt.mul), (pt.mul, pt.true_div), (pt.true_div, pt.mul)))
    small = 1 / small if one is pt.true_div else small
    other = 1 / other if two is pt.true_div else other
    return p.add(two, p.add(one, x, small, keep=False), other)


def losses(p: Pool) -> Any:
    """Losses and activations of models, written by hand."""
    x, rng = p.real(), p.rng
    y = (np.arange(p.values[x].size) % 2).reshape(p.values[x].shape).astype(x.type.dtype)
    make = rng.choice(
        (
            lambda v: 1 / (1 + pt.exp(-v)),
            pt.sigmoid,
            lambda v: pt.exp(v) / (1 + pt.exp(v)),
        )
    )
    forms: list[Callable[[Any], Any]] = [
        lambda v: -y * pt.log(make(v)) - (1 - y) * pt.log(1 - make(v)),
        lambda v: -(y * pt.log(make(v)) + (1 - y) * pt.log(1 - make(v))).mean(),
        lambda v: v * make(v),
        lambda v: pt.log(1 + pt.exp(-y * v)),
        lambda v: pt.maximum(v, 0) + pt.log(1 + pt.exp(-pt.abs(v))),
        lambda v: -pt.log((pt.softmax(v) * y).sum()),
        lambda v: pt.log(make(v) / (1 - make(v))),
        lambda v: pt.tanh(pt.log(1 + pt.exp(v))) * v,
    ]
    return p.add(rng.choice(forms), x)


def single_numbers(p: Pool) -> Any:
    """Sums and products of three or more 0-d terms of mixed dtypes."""
    rng = p.rng
    dtypes = [rng.choice((*FLOATS, *INTEGERS)) for _ in range(3)]
    xs = [p.leaf(d, (), rng.choice((p.mood, "wide", "extreme"))) for d in dtypes]
    op = rng.choice((pt.add, pt.mul, pt.maximum, pt.logaddexp))
    if rng.random() < 0.5:
        return p.add(op, *xs)
    return p.add(op, p.add(op, *xs[:2], keep=False), xs[2])


def reductions(p: Pool) -> Any:
    """Reductions of reductions, of joins, of products with numbers, of reshaped terms."""
    x, rng = p.pick(lambda v: v.type.ndim > 0), p.rng
    y = p.beside(x)
    make = rng.choice((pt.sum, pt.max, pt.min, pt.prod))
    forms: list[Callable[[Any], Any]] = [
        lambda v: make(make(v, axis=0), axis=None),
        lambda v: make(v, axis=0).sum(),
        lambda v: make(-v, axis=0),
        lambda v: make(3 * v),
        lambda v: make(v * y, axis=0, keepdims=True),
        lambda v: (v / v.sum(axis=0, keepdims=True)).sum(axis=0),
        lambda v: make(v.reshape((-1,))),
        lambda v: make(pt.join(0, v, v)),
        lambda v: make(v.T),
        lambda v: pt.sqr(v - v.mean()).mean(),
        lambda v: pt.ones_like(v).sum(),
        lambda v: make(pt.exp(v)),
    ]
    return p.add(rng.choice(forms), x)


def shapes(p: Pool) -> Any:
    """Shapes of terms, as values."""
    x, rng = p.pick(lambda v: v.type.ndim > 0), p.rng
    y = p.beside(x)
    z = p.pick(lambda v: v.type.ndim == x.type.ndim)
    forms: list[Callable[[Any], Any]] = [
        lambda v: (v + y).shape[0],
        lambda v: pt.exp(v).shape,
        lambda v: pt.join(0, v, z).shape,
        lambda v: v.reshape((-1,)).shape[0],
        lambda v: v.sum(axis=0).shape,
        lambda v: v * v.shape[0],
        lambda v: v[: v.shape[0] // 2],
        lambda v: pt.alloc(1.5, v.shape[0], 2),
        lambda v: pt.stack([v, v]).shape[-1],
        lambda v: v[1:].shape[0],
        lambda v: v[::-1][::-1],
        lambda v: v.T.T,
        lambda v: v.reshape((2, -1)).reshape((-1,)),
    ]
    return p.add(rng.choice(forms), x)


MOTIFS = {left_side: 10, softmaxes: 3, sigmoids: 4, logs_of_sums: 3, guarded: 3, cancelling: 5}
MOTIFS |= {losses: 3, numbers: 2, single_numbers: 1, reductions: 3, shapes: 3}
