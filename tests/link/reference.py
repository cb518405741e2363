"""What the VM is held against: the reference linker, and random graphs to do it with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.link.linker import Linker, get_linker
from rewrite_engine.link.program import Argument, Linked, Program
from tests.tensor.evaluate import evaluate_all

ROWS, COLUMNS = 3, 4


def link(
    inputs: Sequence[Variable],
    outputs: Any,
    rewrite: Any = None,
    linker: str | Linker = "vm",
    **options: Any,
) -> Linked:
    """Link a graph alone, without anything of `compile/`. All inputs may be overwritten."""
    single = isinstance(outputs, Variable)
    fgraph = FunctionGraph(inputs, [outputs] if single else outputs)
    if fgraph.destroy_handler is not None:
        fgraph.attach_feature(DestroyHandler(inputs))
    if rewrite is not None:
        rewrite(fgraph)
    arguments = tuple([Argument(x.type, x.name) for x in inputs])
    packing = "single" if single else "list"
    program = Program(fgraph, arguments, "f", len(fgraph.outputs), packing)
    return get_linker(linker).link(program, **options)


def reference(outputs: Sequence[Variable], given: dict[Variable, Any]) -> list[Any]:
    """The values of variables by the reference linker, as arrays of their own."""
    with np.errstate(all="ignore"):
        values = evaluate_all(outputs, {v: np.array(value) for v, value in given.items()})
    return [np.array(value) for value in values]


def _shapes(v: Any) -> tuple[int, ...]:
    """The shape a variable of a random graph has when it runs."""
    return v.tag.runs  # type: ignore[no-any-return]


def _noted(v: Any, shape: tuple[int, ...]) -> Any:
    v.tag.runs = shape
    return v


def random_inputs() -> list[Any]:
    """Variables with all kinds of static shapes and dtypes."""
    made = []
    for name, dtype, shape, runs in (
        ("a", "float64", (None, None), (ROWS, COLUMNS)),
        ("b", "float64", (ROWS, None), (ROWS, COLUMNS)),
        ("c", "float64", (1, None), (1, COLUMNS)),
        ("d", "float64", (None,), (COLUMNS,)),
        ("e", "float32", (None, None), (ROWS, COLUMNS)),
        ("i", "int64", (None, COLUMNS), (ROWS, COLUMNS)),
        ("s", "float64", (), ()),
        ("k", "int64", (), ()),
    ):
        made.append(_noted(pt.tensor(dtype=dtype, shape=shape, name=name), runs))
    return made


def values_for(inputs: Sequence[Any], seed: int = 0) -> list[Any]:
    """Values for the inputs of a random graph."""
    rng = np.random.default_rng(seed)
    return [
        np.asarray(
            rng.integers(1, 4, _shapes(x)) if x.type.kind == "i" else rng.normal(size=_shapes(x))
        ).astype(x.dtype)
        for x in inputs
    ]


def _fits(x: Any, y: Any) -> bool:
    """Whether two variables broadcast, now and by their static types."""
    try:
        np.broadcast_shapes(_shapes(x), _shapes(y))
    except ValueError:
        return False
    for a, b, s, t in zip(
        _shapes(x)[::-1], _shapes(y)[::-1], x.type.shape[::-1], y.type.shape[::-1], strict=False
    ):
        if a != b and not (s == 1 or t == 1):
            return False
    return True


UNARY = [pt.sin, pt.neg, pt.sqr, pt.tanh, pt.abs, pt.sigmoid, pt.softplus]
BINARY = [pt.add, pt.sub, pt.mul, pt.maximum, pt.minimum, pt.lt, pt.true_div]


@st.composite
def random_graphs(draw: Callable[..., Any], steps: int = 12) -> tuple[list[Any], list[Any]]:
    """Return (inputs, outputs) of a graph that runs on `values_for(inputs)`."""
    inputs = random_inputs()
    pool = list(inputs)
    for _ in range(draw(st.integers(steps // 2, steps))):
        new = _step(draw, pool)
        if new is not None:
            pool.append(new)
    picks = st.lists(st.sampled_from(pool[-1:-7:-1]), min_size=1, max_size=4)
    return inputs, draw(picks)


def _step(draw: Callable[..., Any], pool: list[Any]) -> Any:
    x = draw(
        st.sampled_from(pool[-1:-5:-1] + pool)
    )  # rather the last ones, so that graphs get deep
    kind = draw(
        st.sampled_from(["unary", "binary", "binary", "nary", "shape", "index", "reduce", "other"])
    )
    if kind == "unary":
        return None if x.dtype == "bool" else _noted(draw(st.sampled_from(UNARY))(x), _shapes(x))
    if kind in ("binary", "nary"):
        return _combine(draw, pool, x, 2 if kind == "binary" else 3)
    return {"shape": _reshaped, "index": _indexed, "reduce": _reduced, "other": _other}[kind](
        draw, x, pool
    )


def _combine(draw: Callable[..., Any], pool: list[Any], x: Any, count: int) -> Any:
    xs = [x]
    for _ in range(count - 1):
        others = [y for y in pool if all(_fits(y, other) for other in xs) and y.dtype != "bool"]
        if not others:
            return None
        xs.append(draw(st.sampled_from(others[-1:-5:-1] + others)))
    if x.dtype == "bool":
        return _noted(pt.switch(x, xs[1], xs[-1]), np.broadcast_shapes(*map(_shapes, xs)))
    op = draw(st.sampled_from(BINARY if count == 2 else [pt.add, pt.mul, pt.maximum]))
    return _noted(op(*xs), np.broadcast_shapes(*map(_shapes, xs)))


def _reshaped(draw: Callable[..., Any], x: Any, pool: list[Any]) -> Any:
    shape = _shapes(x)
    if not shape:
        return _noted(x.dimshuffle("x"), (1,))
    choice = draw(st.integers(0, 3))
    if choice == 0:
        return _noted(x.T, shape[::-1])
    if choice == 1:
        return (
            _noted(x.dimshuffle("x", *range(len(shape))), (1, *shape)) if len(shape) < 3 else None
        )
    if choice == 2:
        return _noted(x.reshape((-1,)), (int(np.prod(shape)),))
    order = draw(st.permutations(range(len(shape))))
    return _noted(x.dimshuffle(*order), tuple([shape[o] for o in order]))


def _indexed(draw: Callable[..., Any], x: Any, pool: list[Any]) -> Any:
    shape = _shapes(x)
    if not shape or x.dtype == "bool":
        return None
    index = draw(st.sampled_from([0, -1, slice(None, None, -1), slice(1, None), slice(None, 2)]))
    if shape[0] < 2 and index != 0:
        return None
    part = x[index]
    runs = np.empty(shape)[index].shape
    if draw(st.booleans()):
        return _noted(part, runs)
    value = draw(st.sampled_from([1, part]))
    new = part.set(value) if draw(st.booleans()) else part.inc(value)
    return _noted(new, shape)


def _reduced(draw: Callable[..., Any], x: Any, pool: list[Any]) -> Any:
    shape = _shapes(x)
    if x.dtype == "bool" or not shape:
        return None
    axis = draw(st.sampled_from([None, *range(len(shape))]))
    keep = draw(st.booleans())
    function = draw(st.sampled_from([pt.sum, pt.max, pt.prod]))
    runs = np.sum(np.empty(shape), axis=axis, keepdims=keep).shape
    return _noted(function(x, axis=axis, keepdims=keep), runs)


def _other(draw: Callable[..., Any], x: Any, pool: list[Any]) -> Any:
    choice = draw(st.integers(0, 3))
    if choice == 0:
        return _noted(
            pt.cast(x, draw(st.sampled_from(["float64", "float32", "int64"]))), _shapes(x)
        )
    if choice == 1 and len(_shapes(x)) == 2 and x.dtype != "bool":
        return _noted(pt.dot(x, x.T), (_shapes(x)[0],) * 2)
    if choice == 2 and _shapes(x) and x.dtype != "bool":
        length = _shapes(x)[0] * 2
        return _noted(pt.concatenate([x, x], axis=0), (length, *_shapes(x)[1:]))
    others = [y for y in pool if _fits(x, y) and y.dtype == x.dtype]
    y = draw(st.sampled_from(others[::-1]))
    return _noted(pt.second(x, y), np.broadcast_shapes(_shapes(x), _shapes(y)))
