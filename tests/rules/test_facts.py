"""Facts about tensors: what they say holds, and what they do not know they say, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.rules.facts import nonneg, positive
from rewrite_engine.tensor.special import Softmax
from tests.tensor.evaluate import evaluate

VALUES = np.array([0.0, -0.0, 1.0, -3.0, 700.0, -800.0, np.nan, np.inf, -np.inf, 1e-320])
x = pt.vector("x")
i = pt.vector("i", dtype="int8")
TERMS = [
    pt.exp(x), pt.sigmoid(x), pt.abs(x), pt.sqr(x), pt.sqrt(x), Softmax(None)(x), x, -pt.exp(x),
    pt.sin(x), pt.constant([1.0, 2.0]), pt.constant([0.0, 2.0]), pt.constant([-1.0, 2.0]),
    pt.constant([np.inf]), pt.constant(np.zeros(0)), pt.constant([np.nan]), i, pt.abs(i), pt.sqr(i),
    pt.vector("u", dtype="uint8"), pt.constant(-0.0), x > 0, pt.vector("z", dtype="complex128"),
]  # fmt: skip


def value(term: Any) -> Any:
    given = {x: VALUES, i: np.array([-128, 0, 5], "int8")}
    with np.errstate(all="ignore"):
        return evaluate(term, given)


@pytest.mark.parametrize("term", [t for t in TERMS if t.name not in ("u", "z")], ids=str)
def test_what_is_said_holds(term: Any) -> None:
    found = value(term)
    if nonneg(term):
        assert not (found < 0).any()
    if positive(term):
        tiny = found == 0  # by underflow only
        assert ((found > 0) | np.isnan(found) | tiny).all()
        assert not (found < 0).any()


def test_reasons() -> None:
    assert str(nonneg(pt.exp(x))) == "because it is a result of exp"
    assert str(nonneg(pt.vector("u", dtype="uint8"))) == "because its dtype is uint8"
    assert str(nonneg(pt.constant(1.0))) == "because it is a constant"
    assert nonneg(x).blame is x
    assert not nonneg(pt.abs(i))  # abs(-128) is -128 in int8
    assert not nonneg(pt.constant(-1.0))
    assert not nonneg(pt.vector("z", dtype="complex128"))
    assert not positive(pt.constant([0.0, 1.0]))
    assert not positive(pt.constant([np.inf]))
    assert not positive(pt.sqr(x))
    assert positive(Softmax(None)(x))
