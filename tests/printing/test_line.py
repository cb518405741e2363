"""What a `repr` shows, and the part of a large graph that is shown at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.printing import formula, latex, pp, svg
from rewrite_engine.printing.part import part_of
from tests.tensor.test_samples import CASES, apply

x = pt.vector("x")


def test_a_variable_prints_as_its_term() -> None:
    assert repr(pt.exp(x) + 1) == "exp(x) + 1.0"
    assert str(pt.exp(x) + 1) == "add.0"
    named = pt.exp(x)
    named.name = "rate"
    assert (repr(named), repr(named + 1)) == ("rate", "rate + 1.0")
    assert repr([x[2:4], pt.inc_subtensor(x[2:4], 1.0)]) == "[x[2:4], (x[2:4] += 1.0)]"
    f = rw.function([x], [pt.exp(x), x * 2], name="f")
    assert repr(f) == "<Function f(x), 2 nodes: exp(x), x * 2.0>"
    assert repr(f.fgraph) == "<FunctionGraph with 1 input, 2 nodes: exp(x), x * 2.0>"


def test_what_prints_alike_is_alike() -> None:
    one, two, other = pt.vector(), pt.vector(), pt.vector("x")
    assert repr(one + two * one) == f"{one} + {str(two)[:-1]}_2> * {one}"
    assert repr(x + other) == "x + x_2"
    a, b = np.arange(100.0), np.arange(100.0)
    b[50] = -1
    a, b = pt.constant(a), pt.constant(b)
    assert repr(a) != repr(b)
    assert repr(a) == repr(pt.constant(np.arange(100.0)))
    assert repr(a).startswith("TensorConstant{float64[100]#")
    assert repr(pt.constant([1 / 3, 1.0])) != repr(pt.constant([0.33333333, 1.0]))


@pytest.mark.parametrize("grow", [pt.sin, lambda y: y + pt.exp(y), lambda y: pt.add(*[y] * 50)])
def test_a_line_is_found_in_a_part_of_a_large_graph(
    grow: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    y = x
    for _ in range(3000):
        y = grow(y)
    looked: list[Any] = []
    plain = formula.formula
    monkeypatch.setattr(formula, "formula", lambda *args: looked.append(args) or plain(*args))
    assert len(repr(y)) <= formula.LINE + 1
    assert len(looked) < 300
    assert len(part_of([y], 50).nodes) == 50
    assert len(y._repr_html_()) < 40_000  # (with a picture of 60 nodes)


def test_of_a_large_graph_the_part_near_the_outputs_is_written() -> None:
    y = x
    for _ in range(3000):
        y = pt.sin(y)
    out = pt.cos(y) * y
    first, *_, last = pp(out, 200).splitlines()
    assert first.startswith("a = sin(sin(")
    assert "…" in first
    assert last == "cos(a) * a"
    assert latex(out, most=3).splitlines() == [
        r"\begin{aligned}",
        r"a &= \sin\left(\ldots\right) \\",
        r"&\cos\left(a\right) \odot a",
        r"\end{aligned}",
    ]


def test_parts_of_graphs() -> None:
    y = pt.exp(x)
    whole = part_of([y + 1, y])
    assert (len(whole.nodes), whole.cut) == (2, frozenset())
    part = part_of([pt.sin(y), y], 1)
    assert [str(node.op) for node in part.nodes] == ["sin"]
    assert part.cut == {y}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.given}")
def test_every_op_can_be_shown(case: Any) -> None:
    inputs, outputs = apply(case.op, case.values(), False)
    for i, v in enumerate(inputs):
        v.name = f"x_{i}"
    for v in outputs:
        text = latex(v)
        assert text.count("{") == text.count("}")
        left, right = (re.findall(rf"\\{side}(?![a-z])", text) for side in ("left", "right"))
        assert len(left) == len(right)
        for name in (v.name for v in inputs):
            assert name in pp(v)
        assert svg(v).startswith("<svg")


def test_different_ops_are_written_in_different_ways() -> None:
    written: dict[Any, Any] = {}
    for case in CASES:
        inputs, outputs = apply(case.op, case.values(), True)
        for i, v in enumerate(inputs):
            v.name = f"x_{i}"
        types = tuple([v.type for v in inputs])
        for k, v in enumerate(outputs):
            other = written.setdefault((types, k, repr(v)), case.op)
            assert other == case.op, repr(v)
