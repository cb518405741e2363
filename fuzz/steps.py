"""Steps that make a graph grow by ops on whole arrays: reductions, products, shapes, indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.pool import Pool, Skip
from rewrite_engine import facts
from rewrite_engine.graph.node import Variable

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


def other(p: Pool) -> Any:
    """The functions that are made of others."""
    rng, x = p.rng, p.pick(lambda v: v.type.ndim > 0)
    y, n, shape = p.beside(x), x.type.ndim, p.values[x].shape
    forms: list[Callable[[Any], Any]] = [
        lambda v: pt.specify_shape(v, [s if rng.random() < 0.6 else None for s in shape]),
        lambda v: pt.broadcast_to(v, (2, *shape)),
        lambda v: pt.expand_dims(v, rng.randint(0, n)),
        lambda v: pt.squeeze(v, rng.randrange(n)),
        lambda v: pt.moveaxis(v, rng.randrange(n), rng.randrange(n)),
        lambda v: pt.swapaxes(v, 0, -1),
        lambda v: pt.tensordot(v, v, [[0], [0]]),
        lambda v: pt.isclose(v, y),
        lambda v: pt.logit(pt.sigmoid(v)),
        lambda v: pt.vdot(v, v),
        lambda v: pt.flatten(v, n),
        lambda v: pt.flatten(v, max(1, n - 1)),
        lambda v: pt.atleast_3d(v),
        lambda v: pt.shape_padleft(v),
        lambda v: pt.identity_like(v),
        lambda v: pt.matrix_transpose(v),
        lambda v: pt.diagonal(v, rng.choice((0, 1, -1))),
        lambda v: pt.hstack([v, v]),
        lambda v: pt.vstack([v, v]),
        lambda v: pt.full(tuple(shape), y if isinstance(y, int | float) else 2),
        lambda v: pt.arctan2(v, y),
        lambda v: divmod(v, y)[rng.randrange(2)],
        lambda v: v @ v.T,
        lambda v: v[:, None] if n == 1 else v[..., 0],
        lambda v: v.astype("float32").sum(dtype="float64"),
    ]
    return p.add(rng.choice(forms), x)


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


ARRAYS = {reduction: 7, cumulate: 1, exponential: 2, product: 3, dimshuffle: 4, reshape: 3}
ARRAYS |= {index: 4, take: 2, write: 3, join: 3, split: 1, create: 4, declare: 1, other: 4}
