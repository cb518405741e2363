"""What is taken apart before planning: folds of many computed arrays run one addition at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compile import In, Mode, function
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.plan import plan_of, schedule
from rewrite_engine.link.plan.expand import expand
from rewrite_engine.link.vm import traits

xs = [pt.vector(n) for n in "abcdef"]
PLAIN = Mode("vm", optimizer=None)


def ops(outputs: list[Any]) -> list[str]:
    return [str(node.op) for node in expand(schedule(FunctionGraph(xs, outputs)))]


def test_an_addition_runs_as_soon_as_its_operand_is_there() -> None:
    terms = [pt.exp(v) for v in xs[:4]]
    assert ops([pt.add(*terms)]) == ["exp", "exp", "add", "exp", "add", "exp", "add"]
    assert ops([pt.mul(xs[0], xs[1], terms[0])]) == ["mul", "exp", "mul"]
    assert ops([pt.add(terms[0], terms[1], xs[2])]) == ["exp", "exp", "add"]
    both = [pt.add(*terms), pt.add(pt.add(*terms), terms[1], pt.sin(xs[0]))]
    assert ops(both) == [*["exp", "exp", "add", "exp", "add", "exp", "add"], "add", "sin", "add"]


def test_what_cannot_be_taken_apart_bit_by_bit_stays() -> None:
    small = pt.vector("s", dtype="float32")
    mixed = pt.add(xs[0], small, pt.exp(small))
    assert [str(n.op) for n in expand(schedule(FunctionGraph(None, [mixed])))] == ["exp", "add"]
    numbers = [pt.exp(pt.scalar(n)) for n in "abc"]
    assert ops_of(pt.add(*numbers)) == ["exp", "exp", "exp", "add"]


def ops_of(out: Any) -> list[str]:
    return [str(node.op) for node in expand(schedule(FunctionGraph(None, [out])))]


@pytest.mark.on_vm
@pytest.mark.parametrize("op", [pt.add, pt.mul, pt.maximum, pt.logaddexp])
@pytest.mark.parametrize("n", [3, 4, 6])
def test_values_are_those_of_the_fold(op: Any, n: int) -> None:
    m = pt.matrix("m")
    rng = np.random.default_rng(n)
    values = [rng.normal(size=5) for _ in xs[:n]]
    wide = rng.normal(size=(4, 5))
    terms = [pt.exp(v) for v in xs[:n]]
    outputs = [op(*terms), op(*xs[:2], m, *terms[2:]), op(terms[0], xs[0], m, terms[0])]
    f = function([*xs[:n], m], outputs, mode=PLAIN)
    ufunc = op.scalar_op.ufunc

    def fold(first: Any, *others: Any) -> Any:
        for v in others:
            first = ufunc(first, v)
        return first

    e = [np.exp(v) for v in values]
    for _ in range(3):
        found = f(*values, wide)
        expected = [fold(*e), fold(*values[:2], wide, *e[2:]), fold(e[0], values[0], wide, e[0])]
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_the_temporaries_of_a_chain() -> None:
    def peak(out: Any) -> int:
        """How many arrays are alive at once."""
        plan = plan_of(FunctionGraph(xs, [out]), traits)
        lives: dict[Any, list[int]] = {}
        for i, step in enumerate(plan.steps):
            for v in step.node.outputs:
                storage = plan.storages.of(v)
                lives.setdefault(id(storage), [i, storage.last])
        return max(sum(a <= i <= b for a, b in lives.values()) for i in range(len(plan.steps)))

    terms = [pt.exp(v) for v in xs]
    chain = terms[0]
    for v in terms[1:]:
        chain = chain + v
    assert peak(pt.add(*terms)) == peak(chain) == 2


def test_an_argument_that_may_be_overwritten_is() -> None:
    f = function([In(xs[0], mutable=True), xs[1]], pt.add(xs[0], xs[1], pt.exp(xs[1])))
    a, b = np.ones(3), np.zeros(3)
    np.testing.assert_array_equal(f(a, b), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(a, [2.0, 2.0, 2.0])
