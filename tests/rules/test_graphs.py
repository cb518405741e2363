"""Whole random graphs of tensors: rewritten, they compute what they computed before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import note, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.query import Query
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.rewrite.test_inplace import run

DTYPES = ["float64", "float32", "int64", "int8", "bool"]
SHAPES = {"s": (), "v": (None,), "r": (1, None), "c": (None, 1), "m": (None, None), "k": (2, 3)}
SIZES = {"s": (), "v": (3,), "r": (1, 3), "c": (2, 1), "m": (2, 3), "k": (2, 3)}
INPUTS = {
    f"{k}{d[0]}{d[-1]}": pt.tensor(f"{k}{d[0]}{d[-1]}", dtype=d, shape=shape)
    for d in DTYPES
    for k, shape in SHAPES.items()
}
NUMBERS = [0, 1, -1, 2, 0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.5]

UNARY = [
    pt.neg, pt.exp, pt.log, pt.log1p, pt.expm1, pt.sqr, pt.sqrt, pt.abs, pt.sigmoid, pt.softplus,
    pt.reciprocal, pt.cos, pt.invert, lambda a: a.T, lambda a: a.sum(), lambda a: a.sum(axis=-1),
    lambda a: a.sum(axis=0, keepdims=True), lambda a: a.max(axis=0), lambda a: a.dimshuffle("x", 0),
    lambda a: a[0], lambda a: a[..., ::-1], lambda a: a.reshape((-1,)), lambda a: 1 - a,
    lambda a: 1 / (1 + pt.exp(a)), lambda a: pt.exp(a) / pt.exp(a).sum(axis=-1, keepdims=True),
    lambda a: pt.log(pt.exp(a).sum(axis=0)), lambda a: pt.cast(a, "float32"), lambda a: a.shape[0],
    lambda a: pt.cast(a, "int8"), lambda a: a - a, lambda a: pt.switch(a > 0, a, a), lambda a: a**2,
    lambda a: pt.cast(pt.cast(a, "float64"), "int64"),
]  # fmt: skip
BINARY = [
    pt.add, pt.mul, pt.sub, pt.true_div, pt.maximum, pt.minimum, pt.second, pt.and_, pt.or_, pt.dot,
    lambda a, b: pt.switch(a > b, a, b), lambda a, b: pt.join(0, a, b), lambda a, b: a / b * b,
    lambda a, b: pt.log(pt.exp(a) + pt.exp(b)), lambda a, b: a - (-b),
    lambda a, b: pt.switch(True, a, b), lambda a, b: (a * b).sum(axis=0), pt.eq,
]  # fmt: skip


@st.composite
def graphs(draw: Any) -> tuple[list[Any], list[Any]]:
    """Well-typed graphs: ops that refuse their operands are not taken."""
    names = draw(st.lists(st.sampled_from(sorted(INPUTS)), min_size=1, max_size=3, unique=True))
    pool: list[Any] = [INPUTS[n] for n in names]
    inputs = list(pool)
    for _ in range(draw(st.integers(1, 8))):
        pick = st.sampled_from(pool[-4:])
        try:
            if draw(st.booleans()):
                new = draw(st.sampled_from(UNARY))(draw(pick))
            else:
                a, b = draw(pick), draw(pick | st.sampled_from(NUMBERS))
                if draw(st.booleans()):
                    a, b = b, a
                new = draw(st.sampled_from(BINARY))(a, b)
        except (RewriteEngineError, TypeError, ValueError):
            continue
        if hasattr(new, "owner"):
            pool.append(new)
    return inputs, [pool[-1], draw(st.sampled_from(pool))]


def arrays(inputs: list[Any], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    found = []
    for v in inputs:
        size = SIZES[v.name[0]]
        value = rng.normal(size=size) * rng.choice([0.5, 5.0])
        if v.type.dtype == "bool":
            found.append(np.asarray(value > 0))
        else:
            found.append(np.asarray(value).astype(v.type.dtype))
    return found


def computed(graph: FunctionGraph, values: list[np.ndarray]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [np.asarray(v) for v in run(graph, [a.copy() for a in values])]


def compare(graph: Any, seed: int, query: Query, exactly: bool) -> None:
    inputs, outputs = graph
    note("; ".join(brief(v, 30) for v in outputs))
    plain, better = FunctionGraph(inputs, outputs), FunctionGraph(inputs, outputs)
    trace = Trace(terms=True, depth=9)
    driver = optimizer(query)
    driver.rewrite(better, trace)
    better.check_integrity()
    for f in trace:
        note(f"{f.phase} {f.rule_name}: {f.before}  ->  {f.after}")
    values = arrays(inputs, seed)
    try:
        before = computed(plain, values)
    except (ValueError, TypeError):
        return  # shapes that do not fit: what is rewritten may do better
    for a, b in zip(before, computed(better, values), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        agree(a, b, exactly, coarsest(outputs) ** 0.5)


def coarsest(outputs: list[Any]) -> float:
    """The rounding error of the smallest float that anything is computed in."""
    found = {v.type.dtype for n in toposort(outputs) for v in (*n.inputs, *n.outputs)}
    return max([float(np.finfo(d).eps) for d in found if d.startswith("float")], default=0.0)


def agree(a: Any, b: Any, exactly: bool, tolerance: float) -> None:
    """Bit by bit; or up to rounding, where the first is a number at all."""
    if exactly or a.dtype.kind not in "f":
        np.testing.assert_array_equal(a, b)
        return
    finite = np.isfinite(a)
    np.testing.assert_allclose(b[finite], a[finite], rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def steps_are_smooth(outputs: list[Any]) -> bool:
    """Whether no comparison or conversion to integers blows up a last digit."""
    for node in toposort(outputs):
        if node.inputs and node.inputs[0].type.kind == "f" and node.outputs[0].type.kind != "f":
            return False
    return True


@settings(max_examples=250)
@over(graphs(), st.integers(0, 99))
def test_rewritten_graphs_agree(graph: Any, seed: int) -> None:
    if steps_are_smooth(graph[1]):
        compare(graph, seed, Query(), exactly=False)


@settings(max_examples=250)
@over(graphs(), st.integers(0, 99))
def test_exact_rules_change_no_bit(graph: Any, seed: int) -> None:
    compare(graph, seed, Query().excluding("approx", "backward", "refines"), exactly=True)


@settings(max_examples=60)
@over(graphs(), st.integers(0, 99))
def test_granted_assumptions_hold_on_ordinary_numbers(graph: Any, seed: int) -> None:
    compare_types(graph, Query().including("fastmath"))


def compare_types(graph: Any, query: Query) -> None:
    """Whatever is assumed, types stay."""
    inputs, outputs = graph
    better = FunctionGraph(inputs, outputs)
    optimizer(query).rewrite(better)
    better.check_integrity()
    for a, b in zip(outputs, better.outputs, strict=True):
        assert a.type.is_super(b.type)


def test_what_fills_may_have_more_dimensions_than_the_shape() -> None:
    x, y = pt.dmatrix("x"), pt.tensor("y", dtype="float64", shape=(1, 1))
    f = rw.function([x, y], pt.second(x.sum(axis=1), y))
    assert [str(node.op).partition("{")[0] for node in f.fgraph.toposort()][-1] != "second"
    np.testing.assert_array_equal(f(np.ones((4, 2)), [[3.0]]), np.full((1, 4), 3.0))
