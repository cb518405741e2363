"""Trials of ops: nodes of their own samples, and these with lengths 0 and 1 and of single floats;
where they say none, arrays of ordinary numbers in all places.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.check.draw import LENGTH, draws
from rewrite_engine.check.node import applied, sampled
from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

REPEATS = 12  # nodes of one op that are run
LENGTHS = (0, 1)
DTYPES = ("float64", "float32", "int64")
MOST_INPUTS = 3  # of an op that says no samples


class Trial(NamedTuple):
    """A node, and values for its inputs. own: the op says that they fit."""

    node: Apply
    values: list[Any]
    own: bool = True


def trials(what: Any) -> Iterator[Trial]:
    """Yield the nodes and values on which an op, or a class of ops, is tried."""
    cls = what if isinstance(what, type) else type(what)
    if isinstance(what, Elemwise):
        yield from _elementwise(what)
    elif getattr(cls, "samples", ()):
        yield from _sampled(what, cls)
    elif not isinstance(what, type) and what.itypes:
        if all(isinstance(t, TensorType) for t in what.itypes):
            own = [t() for t in what.itypes]
            yield from [
                Trial(what.make_node(*own), list(g.values())) for g in list(draws(own, 0))[:REPEATS]
            ]
    else:
        yield from _generic(what)


def _elementwise(op: Elemwise) -> Iterator[Trial]:
    for seed, term in enumerate(applied(op, DTYPES)):
        node = term.owner
        if seed % 5 == 0 and all(v.owner is None for v in node.inputs):
            own = [v for v in dict.fromkeys(node.inputs) if not isinstance(v, Constant)]
            for given in list(draws(own, seed))[:3]:
                values = [getattr(v, "data", given.get(v)) for v in node.inputs]
                yield Trial(node, [_normal(v) for v in values])


def _normal(value: Any) -> Any:
    """A value without subnormal numbers: what SciPy makes of these is nobody's promise."""
    a = np.asarray(value)
    if a.dtype.kind != "f":
        return a
    with np.errstate(all="ignore"):
        return np.where(np.abs(a) < np.finfo(a.dtype).tiny, a.dtype.type(0), a)


def _sampled(what: Any, cls: Any) -> Iterator[Trial]:
    """Yield the samples of a class, then their neighbours."""
    known = [s for s in sampled(cls) if isinstance(what, type) or s[0] == what]
    for op, own, values in known:
        yield Trial(op.make_node(*own), values)
    for op, own, values in known:
        if any([None in v.type.shape for v in own]) or not own:
            yield from neighbours(op, values)


def neighbours(op: Any, values: Sequence[Any]) -> Iterator[Trial]:
    """Yield a sample with each of its lengths 0 and 1, and all of them; and with single floats."""
    lengths = sorted({n for a in values for n in a.shape})
    single = [a.astype("float32") if a.dtype == "float64" else a for a in values]
    changed = [dict.fromkeys(some, n) for n in LENGTHS for some in ([m] for m in lengths)]
    changed += [dict.fromkeys(lengths, n) for n in LENGTHS if len(lengths) > 1]
    for new in changed:
        yield from _applied(op, [_resized(a, new) for a in values])
    yield from _applied(op, single)
    for n in LENGTHS:
        yield from _applied(op, [_resized(a, dict.fromkeys(lengths, n)) for a in single])


def _resized(a: Any, new: dict[int, int]) -> Any:
    """An array with other lengths, of its own numbers."""
    return np.resize(a, tuple([new.get(n, n) for n in a.shape])).astype(a.dtype)


def _applied(op: Any, values: Sequence[Any]) -> Iterator[Trial]:
    """Yield a node with inputs of such values, whose lengths types do not tell; none if an op takes
    no such inputs.
    """
    own = [TensorType(a.dtype.name, (None,) * a.ndim)() for a in values]
    try:
        node = op.make_node(*own)
    except Exception:  # whatever it is, the op refuses them
        return
    if isinstance(node, Apply) and len(node.inputs) == len(values):
        yield Trial(node, [np.array(a) for a in values], own=False)


def _generic(what: Any) -> Iterator[Trial]:
    """Yield nodes of an op of which nothing is known, on arrays of ordinary numbers."""
    try:
        op = what() if isinstance(what, type) else what
        names = inspect.signature(op.make_node).parameters.values()
    except Exception:  # it takes parameters
        return
    needed = [p for p in names if p.default is p.empty]
    if any(p.kind is p.KEYWORD_ONLY for p in needed):
        return
    several = any(p.kind is p.VAR_POSITIONAL for p in names)
    counts = (1, 2, 3) if several else (len(needed),)
    rng = np.random.default_rng(0)
    for count, ndim, dtype in product(counts, (1, 2, 0), DTYPES):
        if not 0 < count <= MOST_INPUTS:
            continue
        for length in (LENGTH, *LENGTHS) if ndim else (LENGTH,):
            shapes = [tuple([length] * ndim)] * count
            arrays = [rng.uniform(0.1, 2.9, shape).astype(dtype) for shape in shapes]
            yield from _applied(op, arrays)


def is_declared(op: Any, method: str) -> bool:
    """Whether an op overrides a method of `Op`."""
    cls = op if isinstance(op, type) else type(op)
    return getattr(cls, method, None) is not getattr(Op, method, None)
