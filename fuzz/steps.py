"""Steps that make a graph grow: one op of the public ones, on terms of the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.arrays import FLOATS, INTEGERS
from fuzz.pool import Pool, Skip
from rewrite_engine.graph.node import Variable
from rewrite_engine.rules import facts

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
    ops = [pt.add, pt.sub] if rng.random() < 0.55 else [pt.mul, pt.true_div]
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


# --- reductions -----------------------------------------------------------------------------------


def axes(p: Pool, x: Any) -> Any:
    """An axis, several, or None."""
    n = x.type.ndim
    if not n or p.rng.random() < 0.3:
        return None
    if p.rng.random() < 0.75:
        return p.rng.randrange(-n, n)
    return tuple(p.rng.sample(range(n), p.rng.randint(1, n)))


def reduction(p: Pool) -> Any:
    """A sum, product, extremum, mean, …, with axis, keepdims, dtype, acc_dtype."""
    x = p.pick()
    name = p.rng.choice("sum sum sum prod max min all any mean var std argmax argmin".split())
    options: dict[str, Any] = {"keepdims": p.rng.random() < 0.35}
    if name in ("sum", "prod") and p.rng.random() < 0.2:
        options["dtype"] = p.rng.choice(("float64", "float32", "int64", "int32", x.type.dtype))
    if name in ("sum", "prod") and p.rng.random() < 0.15:
        options["acc_dtype"] = p.rng.choice(("float64", "float32", "int64", x.type.dtype))
    if name == "mean" and p.rng.random() < 0.15:
        options["dtype"] = p.rng.choice(("float64", "float32"))
    if name in ("var", "std") and p.rng.random() < 0.3:
        options["ddof"] = 1
    return p.add(lambda v: getattr(pt, name)(v, axis=axes(p, x), **options), x)


def cumulate(p: Pool) -> Any:
    """Running sums and products."""
    x = p.pick()
    axis = p.rng.randrange(-x.type.ndim, x.type.ndim) if x.type.ndim else None
    return p.add(p.rng.choice((pt.cumsum, pt.cumprod)), x, axis)


def exponential(p: Pool) -> Any:
    """Softmax and its relatives, as ops."""
    x = p.real()
    make = p.rng.choice((pt.softmax, pt.log_softmax, pt.logsumexp))
    return p.add(make, x, axes(p, x))


def product(p: Pool) -> Any:
    """dot, matmul, outer, and the like."""
    x = p.pick(lambda v: v.type.ndim > 0)
    values, rng = p.values, p.rng
    if rng.random() < 0.3 and x.type.ndim == 2:
        turned = p.add(lambda v: v.T, x, keep=False)
        return p.add(pt.dot, *((x, turned) if rng.random() < 0.5 else (turned, x)))
    if rng.random() < 0.2:
        return p.add(rng.choice((pt.outer, pt.inner)), x, p.pick(lambda v: v.type.ndim > 0))

    def fits(v: Any) -> bool:
        n = v.type.ndim
        return bool(n) and (p.wrong or values[v].shape[max(0, n - 2)] == values[x].shape[-1])

    return p.add(rng.choice((pt.dot, pt.matmul)), x, p.pick(fits))


# --- shapes ---------------------------------------------------------------------------------------


def dimshuffle(p: Pool) -> Any:
    """Dimensions turned, added, dropped."""
    x, rng = p.pick(), p.rng
    n = x.type.ndim
    order: list[Any] = list(range(n))
    if rng.random() < 0.5:
        rng.shuffle(order)
    if rng.random() < 0.3:
        order = [i for i in order if p.values[x].shape[i] != 1 or rng.random() < 0.5]
    if len(order) < 3 and rng.random() < 0.6:
        order.insert(rng.randint(0, len(order)), "x")
    return p.add(pt.dimshuffle, x, *order)


def reshape(p: Pool) -> Any:
    """Another shape: with -1, by numbers, or by shapes of terms."""
    x, rng = p.pick(), p.rng
    kind, shape = rng.random(), p.values[x].shape
    if kind < 0.25:
        return p.add(rng.choice((pt.flatten, pt.ravel)), x)
    if kind < 0.5:
        like = p.pick(lambda v: v.type.ndim > 0 and p.values[v].size == p.values[x].size)
        return p.add(lambda v, w: v.reshape(tuple(w.shape)), x, like)
    if kind < 0.75:
        wrong = p.wrong and rng.random() < 0.5
        new = rng.choice([(-1,), (1, -1), (-1, 1), (2, -1), (-1, 2), (3, -1), *[(7, -1)] * wrong])
        made = p.add(pt.reshape, x, new)
        return p.add(pt.reshape, made, (-1,)) if rng.random() < 0.4 else made
    return p.add(pt.reshape, x, rng.choice([shape[::-1], (*shape, 1), (1, *shape), shape]))


def index(p: Pool) -> Any:
    """Basic indexing, also by terms."""
    x = p.pick(lambda v: v.type.ndim > 0)
    return p.add(lambda v: v[basic_index(p, x)], x)


def basic_index(p: Pool, x: Any) -> Any:
    """An index of numbers, slices, None, and integer terms."""
    rng = p.rng
    entries: list[Any] = []
    for n in p.values[x].shape[: rng.randint(1, x.type.ndim)]:
        kind = rng.random()
        if kind < 0.3 and n:
            entries.append(rng.randrange(-n, n))
        elif kind < 0.4 and n:
            entries.append(p.leaf("int64", (), "plain") if rng.random() < 0.3 else 0)
        elif kind < 0.9:
            cut: Any = (None, None, 0, 1, -1, 2, n)
            step = rng.choice((None, None, None, -1, 2, -2))
            entries.append(slice(rng.choice(cut), rng.choice(cut), step))
        else:
            entries.append(slice(None))
    if rng.random() < 0.15:
        entries.insert(rng.randint(0, len(entries)), None)
    return tuple(entries)


def array_index(p: Pool, x: Any) -> Any:
    """An index with arrays: integers, some of them twice, or a mask."""
    rng, n = p.rng, p.values[x].shape[0]
    if rng.random() < 0.2:
        mask = p.rng.choices((True, False), k=n)
        return np.array(mask, bool)
    if not n:
        return np.empty(0, "int64")
    places = [rng.randrange(-n, n) for _ in range(rng.choice((1, 2, 3, 3)))]
    if rng.random() < 0.5:
        return np.array(places)
    v: Any = pt.tensor(f"x{len(p.given)}", dtype="int64", shape=(None,))
    p.given[v] = p.values[v] = np.array(places)
    p.terms.append(v)
    return v


def take(p: Pool) -> Any:
    """Indexing with arrays."""
    x = p.pick(lambda v: v.type.ndim > 0)
    return p.add(lambda v: v[array_index(p, x)], x)


def write(p: Pool) -> Any:
    """A part set or increased."""
    x, rng = p.pick(lambda v: v.type.ndim > 0), p.rng
    where = basic_index(p, x) if rng.random() < 0.6 else array_index(p, x)
    part = p.add(lambda v: v[where], x, keep=False)
    y = p.beside(part) if rng.random() < 0.6 else rng.choice((0, 1, 2.5))
    if isinstance(y, Variable) and y.type.dtype != x.type.dtype and rng.random() < 0.8:
        y = p.add(pt.cast, y, x.type.dtype, keep=False)
    verb = rng.choice(("set", "inc"))
    return p.add(lambda v, w: getattr(v[where], verb)(w), x, y)


def join(p: Pool) -> Any:
    """Several terms in one."""
    x, rng = p.pick(), p.rng
    n, values = x.type.ndim, p.values
    same = [
        v for v in p.terms if v.type.ndim == n and (p.wrong or values[v].shape == values[x].shape)
    ]
    parts = [x, *rng.choices(same, k=rng.choice((0, 1, 1, 2)))]
    rng.shuffle(parts)
    if not n or rng.random() < 0.35:
        return p.add(pt.stack, parts, rng.randint(0, n))
    axis = rng.randrange(-n, n)
    made = p.add(lambda *vs: pt.join(axis, *vs), *parts)
    return p.add(lambda v: pt.join(axis, x, v), made) if rng.random() < 0.25 else made


def split(p: Pool) -> Any:
    """A term in parts."""
    x = p.pick(lambda v: v.type.ndim > 0)
    axis = p.rng.randrange(x.type.ndim)
    first = p.rng.randint(0, p.values[x].shape[axis])
    sizes = [first, p.values[x].shape[axis] - first]
    return p.add(lambda v: pt.split(v, sizes, n_splits=2, axis=axis), x)


def create(p: Pool) -> Any:
    """Arrays from shapes: alloc, zeros, arange, eye, second, diag, and lengths as values."""
    rng, x = p.rng, p.pick()
    kind = rng.randrange(9)
    if kind == 0:
        return p.add(pt.alloc, x, *[p.sizes[-1], *p.values[x].shape][: max(1, x.type.ndim + 1)])
    if kind == 1:
        return p.add(rng.choice((pt.zeros_like, pt.ones_like)), x)
    if kind == 2:
        ends = rng.choice(((0, 3), (1, 4), (3, 0, -1), (0.0, 2.0, 0.5), (2, 2)))
        return p.add(pt.arange, *ends)
    if kind == 3:
        return p.add(pt.eye, rng.choice(p.sizes), rng.choice(p.sizes), rng.choice((0, 0, 1, -1)))
    if kind == 4:
        return p.add(pt.diag, p.pick(lambda v: v.type.ndim in (1, 2)), rng.choice((0, 0, 1, -1)))
    if kind == 5:
        return p.add(pt.full_like, x, rng.choice((0, 1, 2, 3)))
    x = p.pick(lambda v: v.type.ndim > 0)
    if kind == 6:
        return p.add(lambda v: v.shape[rng.randrange(x.type.ndim)], x)
    if kind == 7:
        return p.add(lambda v: pt.arange(v.shape[0]), x)
    return p.add(rng.choice((pt.trace, pt.shape, pt.size)), x)


def declare(p: Pool) -> Any:
    """A term of which something true is declared."""
    x = p.pick()
    true = [f for f in DECLARED if _is_true(f, x, p.values[x])]
    if not true:
        raise Skip
    some = p.rng.sample(true, min(len(true), p.rng.choice((1, 1, 2))))
    return p.add(lambda v: rw.assume(v, *some), x)


DECLARED = [
    facts.finite, facts.whole, facts.positive, facts.nonneg, facts.nonzero, facts.distinct,
    facts.increasing, facts.symmetric, facts.diagonal,
]  # fmt: skip


def _is_true(fact: Any, x: Any, value: np.ndarray) -> bool:
    """Whether a fact is true of a value (positive: also of what underflowed, so not of 0 here)."""
    try:
        with np.errstate(all="ignore"):
            return bool(fact.of_value(x.type, value))
    except Exception:
        return False


ELEMENTWISE = {unary: 8, binary: 10, nary: 4, nest: 6, compare: 2, integer_logic: 1, switch: 3}
ELEMENTWISE |= {clip: 2, cast: 3}
ARRAYS = {reduction: 7, cumulate: 1, exponential: 2, product: 3, dimshuffle: 4, reshape: 3}
ARRAYS |= {index: 4, take: 2, write: 3, join: 3, split: 1, create: 4, declare: 1}
