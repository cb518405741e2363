"""Elementwise steps that make a graph grow: one function of terms of the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from fuzz.arrays import FLOATS, INTEGERS
from fuzz.pool import Pool, Skip
from rewrite_engine.graph.node import Variable

SMOOTH = (
    "exp expm1 log log1p sqrt sqr sigmoid softplus tanh sin cos tan arctan sinh cosh arcsinh erf "
    "erfc neg abs reciprocal log1mexp exp2 log2 log10 arcsin arccos arccosh arctanh gammaln psi"
).split()
UNARY = [*SMOOTH, *"sign floor ceil trunc round identity isnan isinf".split()]
BINARY = "add sub mul true_div pow maximum minimum logaddexp".split()
DISCRETE = "floor_div mod eq neq lt le gt ge arctan2 second".split()
NARY = "add mul maximum minimum logaddexp".split()
LOGIC = "and_ or_ xor".split()
COMPARE = "eq neq lt le gt ge".split()

#: where functions are defined (elsewhere one may try, but seldom)
DOMAIN: dict[str, Callable[[Any], Any]] = {
    "log": lambda a: a > 0,
    "log2": lambda a: a > 0,
    "log10": lambda a: a > 0,
    "log1p": lambda a: a > -1,
    "sqrt": lambda a: a >= 0,
    "reciprocal": lambda a: a != 0,
    "log1mexp": lambda a: a < 0,
    "arcsin": lambda a: abs(a) <= 1,
    "arccos": lambda a: abs(a) <= 1,
    "arctanh": lambda a: abs(a) < 1,
    "arccosh": lambda a: a >= 1,
    "gammaln": lambda a: a > 0,
    "psi": lambda a: a > 0,
    "exp": lambda a: abs(a) < 90,
    "sinh": lambda a: abs(a) < 90,
    "cosh": lambda a: abs(a) < 90,
    "expm1": lambda a: abs(a) < 90,
    "exp2": lambda a: abs(a) < 90,
}


def defined(name: str, value: np.ndarray) -> bool:
    """Whether a function is defined for all elements."""
    test = DOMAIN.get(name)
    if test is None or value.dtype.kind == "c":
        return True
    with np.errstate(all="ignore"):
        return bool(np.all(test(value)))


# --- elementwise ----------------------------------------------------------------------------------


def unary(p: Pool) -> Any:
    """A function of one term, rather where it is defined."""
    x = p.pick()
    names = SMOOTH if p.rng.random() < 0.7 else UNARY
    for _ in range(4):
        name = p.rng.choice(names)
        if defined(name, p.values[x]) or p.rng.random() < 0.2:
            return p.add(getattr(pt, name), x)
    raise Skip


def binary(p: Pool) -> Any:
    """A function of two terms, in any order."""
    x = p.pick()
    y = p.beside(x)
    name = p.rng.choice(BINARY if p.rng.random() < 0.75 else DISCRETE)
    pair = (x, y) if p.rng.random() < 0.5 else (y, x)
    return p.add(getattr(pt, name), *pair)


def nary(p: Pool) -> Any:
    """A sum, product or extremum of several terms; some of them twice."""
    x = p.pick()
    xs = [x, *[p.beside(x) for _ in range(p.rng.choice((1, 2, 2, 3)))]]
    if p.rng.random() < 0.3:
        xs.append(p.rng.choice(xs))
    p.rng.shuffle(xs)
    return p.add(getattr(pt, p.rng.choice(NARY)), *xs)


def nest(p: Pool) -> Any:
    """Sums in sums, or products in products, with differences, signs and numbers."""
    rng, x = p.rng, p.pick()
    ops: list[Any] = [pt.add, pt.sub] if rng.random() < 0.55 else [pt.mul, pt.true_div]
    parts = [x, p.beside(x), rng.choice((2, 3, 0.5, -1, 0, 1))]
    for _ in range(rng.randint(2, 5)):
        a = rng.choice(parts)
        b = rng.choice(parts) if rng.random() < 0.8 else p.beside(x)
        if not isinstance(a, Variable) and not isinstance(b, Variable):
            continue
        kind = rng.random()
        if kind < 0.12 and isinstance(a, Variable):
            parts.append(p.add(pt.neg, a, keep=False))
        elif kind < 0.24 and isinstance(a, Variable):
            parts.append(p.add(pt.mul, rng.choice((2, -3, 0.5, 0, 2.0)), a, keep=False))
        else:
            parts.append(p.add(rng.choice(ops), a, b, keep=False))
    return p.add(rng.choice(ops), parts[-1], rng.choice([v for v in parts if v is not parts[-1]]))


def compare(p: Pool) -> Any:
    """A comparison, or logic of some."""
    x = p.pick()
    made = p.add(getattr(pt, p.rng.choice(COMPARE)), x, p.beside(x))
    if p.rng.random() < 0.3:
        y = p.beside(made, lambda v: v.type.kind in "biu")
        return p.add(getattr(pt, p.rng.choice(LOGIC)), made, y)
    return p.add(pt.invert, made) if p.rng.random() < 0.15 else made


def integer_logic(p: Pool) -> Any:
    """Bits of integers."""
    x = p.pick(lambda v: v.type.kind in "biu")
    if p.rng.random() < 0.25:
        return p.add(pt.invert, x)
    y = p.beside(x, lambda v: v.type.kind in "biu")
    return p.add(getattr(pt, p.rng.choice(LOGIC)), x, y)


def switch(p: Pool) -> Any:
    """A choice, sometimes between equals, or on an equality."""
    x = p.pick()
    y = x if p.rng.random() < 0.2 else p.beside(x)
    kind = p.rng.random()
    if kind < 0.15:
        return p.add(pt.switch, p.rng.random() < 0.5, x, y)
    if kind < 0.5:
        z = p.beside(x)
        condition = p.add(getattr(pt, p.rng.choice(COMPARE)), x, z, keep=False)
    else:
        condition = p.beside(x, lambda v: v.type.kind in "biuf")
    return p.add(pt.switch, condition, x, y)


def clip(p: Pool) -> Any:
    """Between two bounds, of any dtype."""
    x = p.pick()
    return p.add(pt.clip, x, p.beside(x), p.beside(x))


def cast(p: Pool) -> Any:
    """Another dtype, or the same; perhaps back."""
    x = p.pick()
    names: tuple[str, ...] = FLOATS + INTEGERS + ("bool", "complex64", "complex128")
    if p.values[x].dtype.kind in "fc" and p.rng.random() < 0.8:
        names = (*FLOATS, "complex128")
    made = p.add(pt.cast, x, p.rng.choice(names))
    return p.add(pt.cast, made, x.type.dtype) if p.rng.random() < 0.25 else made


ELEMENTWISE = {unary: 8, binary: 10, nary: 4, nest: 6, compare: 2, integer_logic: 1, switch: 3}
ELEMENTWISE |= {clip: 2, cast: 3}
