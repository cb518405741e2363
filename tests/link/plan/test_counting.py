"""A linker that reads nothing but plans: what it computes, how many bytes it takes, and that the
plan alone tells how many; the same figures for the VM.
"""

from __future__ import annotations

import tracemalloc
from functools import singledispatch
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link import plan_of
from rewrite_engine.link.plan import Traits
from rewrite_engine.link.vm import traits
from rewrite_engine.link.vm.workspace import LARGE_BYTES
from tests.link.plan.counting import (
    Bytes,
    CountingLinker,
    anywhere,
    bytes_of,
    kept_bytes,
    lengths_of,
)
from tests.link.reference import link, random_graphs, reference, values_for

x, y = pt.vector("x"), pt.vector("y")
m, n = pt.matrix("m"), pt.matrix("n")
UNIT = 96_000  # bytes of the vectors that are measured: too small for buffers to be kept


def told(inputs: list[Any], outputs: list[Any], *shapes: Any, code: Any = anywhere) -> Bytes:
    """The bytes of a graph from its plan, for shapes of the inputs."""
    plan = plan_of(FunctionGraph(inputs, outputs), code)
    return bytes_of(plan, lengths_of(plan, shapes))


def test_bytes_by_hand() -> None:
    a = pt.exp(x)
    assert told([x], [a], (10,)) == Bytes(80, 80)
    assert told([x], [pt.sin(a)], (10,)) == Bytes(80, 80)
    assert told([x], [a.sum()], (10,)) == Bytes(88, 88)
    assert told([x], [pt.sin(a), a], (10,)) == Bytes(160, 160)
    assert told([x], [pt.sin(a.sum())], (10,)) == Bytes(96, 88)  # numbers are not overwritten
    assert told([m], [pt.exp(m).T], (2, 3)) == Bytes(48, 48)
    assert told([m, x], [pt.dot(pt.exp(m), x) + 1], (2, 3), (3,)) == Bytes(64, 64)
    pair = pt.dot(pt.exp(m), x), pt.dot(pt.cos(m), x)
    assert told([m, x], [pair[0] + pair[1]], (2, 3), (3,)) == Bytes(128, 80)
    assert told([m, x], [pt.cast(pt.exp(x), "float32")], (1, 1), (10,)) == Bytes(120, 120)


def test_without_a_word_on_code_nothing_is_overwritten() -> None:
    deep = pt.tanh(pt.sin(pt.exp(x)))
    plan = plan_of(FunctionGraph([x], [deep]))
    assert [step.into for step in plan.steps] == [None] * 3
    assert bytes_of(plan, lengths_of(plan, [(10,)])) == Bytes(240, 160)
    assert told([x], [deep], (10,)) == Bytes(80, 80)


def test_lengths_that_a_plan_cannot_tell() -> None:
    plan = plan_of(FunctionGraph([x], [pt.concatenate([x, x])]), anywhere)
    with pytest.raises(KeyError):
        bytes_of(plan, lengths_of(plan, [(10,)]))


def run(inputs: list[Any], outputs: list[Any], *values: Any) -> tuple[CountingLinker, list[Any]]:
    linker = CountingLinker()
    return linker, link(inputs, outputs, linker=linker).call(*values)


@pytest.mark.parametrize(
    "out",
    [pt.tanh(pt.sin(pt.exp(x))), pt.exp(x)[::-1] + pt.exp(x), pt.exp(x) * pt.exp(x).sum(),
     pt.add(*[pt.exp(x * float(i)) for i in range(1, 6)]), pt.exp(pt.dot(pt.outer(x, x), x))],
)  # fmt: skip
def test_running_takes_the_bytes_that_the_plan_tells(out: Any) -> None:
    linker, (found,) = run([x], [out], np.linspace(0, 1, 50))
    np.testing.assert_allclose(found, reference([out], {x: np.linspace(0, 1, 50)})[0])
    assert linker.counted == told([x], [out], (50,))


@settings(max_examples=60, deadline=None)
@given(random_graphs())
def test_values_and_bytes_of_any_graph(graph: Any) -> None:
    """Where every result may take the memory of any operand, one that is still read would show."""
    inputs, outputs = graph
    values = values_for(inputs)
    with np.errstate(all="ignore"):
        linker, found = run(inputs, outputs, *values)
        expected = reference(outputs, dict(zip(inputs, values, strict=True)))
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, equal_nan=True)
    expected_bytes = bytes_of(linker.plan, linker.lengths)
    assert linker.counted.allocated == expected_bytes.allocated
    assert linker.counted.peak <= expected_bytes.peak  # (what may be a view may be none)


def test_what_is_not_taken_is_not_counted_and_lengths_in_it_not_compared() -> None:
    s = pt.scalar("s")
    out = pt.ifelse(s > 0, x + 1, pt.exp(x + y))
    linker = CountingLinker()
    f = link([s, x, y], [out], linker=linker).call
    np.testing.assert_array_equal(f(1.0, np.arange(3.0), np.arange(2.0))[0], [1.0, 2.0, 3.0])
    assert linker.counted.allocated < bytes_of(linker.plan, linker.lengths).allocated
    with pytest.raises(ValueError, match="lengths"):
        f(-1.0, np.arange(3.0), np.arange(2.0))


@pytest.mark.parametrize(
    ("out", "shapes"),
    [(pt.dot(m, n), [(2, 3), (2, 3)]), (pt.dot(m, x), [(2, 3), (2,)]), (m + n, [(2, 3), (2, 2)]),
     (pt.concatenate([m, n], axis=1), [(2, 3), (3, 3)])],
)  # fmt: skip
def test_all_lengths_that_have_to_be_equal_are_told(out: Any, shapes: Any) -> None:
    inputs = out.owner.inputs if out.owner.inputs[0] in (m, x) else out.owner.inputs[1:]
    plan = plan_of(FunctionGraph(None, [out]), anywhere)
    (checks,) = [step.checks for step in plan.steps if step.checks]
    assert checks
    with pytest.raises(ValueError, match="lengths"):
        run(list(inputs), [out], *map(np.ones, shapes))


# --- the VM ---------------------------------------------------------------------------------------


def measured(inputs: list[Any], outputs: list[Any], *values: Any) -> int:
    """The peak of the bytes that a call of the VM's function really takes, in vectors."""
    f = link(inputs, outputs).call
    f(*values)
    tracemalloc.start()
    try:
        result = f(*values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(result) == len(outputs)
    return round(peak / UNIT)


def terms(count: int) -> list[Any]:
    return [pt.exp(x * float(i)) for i in range(1, count + 1)]


@pytest.mark.parametrize(
    ("out", "vectors"),
    [(pt.tanh(pt.sin(pt.exp(x))), 1), (pt.add(*terms(5)), 2), (pt.exp(x) * pt.exp(x).sum(), 1),
     (pt.sort(pt.exp(x)), 2), (pt.exp(x)[::-1] + pt.exp(x), 2)],
)  # fmt: skip
def test_the_plan_tells_what_the_vm_takes(out: Any, vectors: int) -> None:
    value = np.linspace(0, 1, UNIT // 8)
    assert round(told([x], [out], value.shape, code=traits).peak / UNIT) == vectors
    assert measured([x], [out], value) == vectors


def test_a_plan_that_is_wrong_would_be_found() -> None:
    """The figures depend on what the plan decides: code that can overwrite nothing takes more."""
    out = pt.tanh(pt.sin(pt.exp(x)))
    plan = plan_of(FunctionGraph([x], [out]))
    value = np.linspace(0, 1, UNIT // 8)
    assert bytes_of(plan, lengths_of(plan, [value.shape])).peak == 2 * UNIT
    assert measured([x], [out], value) == 1


@pytest.mark.parametrize("rows", [300, 400])
def test_the_plan_tells_the_buffers_that_the_vm_keeps(rows: int) -> None:
    outer = m.sum(axis=1, keepdims=True) * n.sum(axis=0, keepdims=True)
    out = (pt.dot(m, n) * 2 + outer).sum()
    f = link([m, n], [out])
    a, b = np.ones((rows, 150)), np.ones((150, 250))
    assert a.nbytes > LARGE_BYTES
    f.call(a, b)
    (workspace,) = f.free.__self__.pool.free  # type: ignore[attr-defined]
    plan = plan_of(FunctionGraph([m, n], [out]), traits)
    told = kept_bytes(plan, lengths_of(plan, [a.shape, b.shape]))
    assert told == [buffer.nbytes for buffer in workspace]
    assert told == [rows * 250 * 8] * len(told)


def test_the_code_of_each_node_may_be_told_apart() -> None:
    @singledispatch
    def second_only(op: Any, node: Any) -> Traits:
        return Traits(fresh=True, into=(1,)) if len(node.inputs) > 1 else Traits(fresh=True)

    plan = plan_of(FunctionGraph([x, y], [pt.exp(x) + pt.sin(pt.cos(y))]), second_only)
    assert [step.into for step in plan.steps] == [None, None, None, 1]
