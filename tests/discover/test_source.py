"""Terms as source."""

from __future__ import annotations

from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.discover.source import term_source

X, Y = pt.vector("x"), pt.vector("y")


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ((X**Y) ** 2.0, "(x ** y) ** 2"),
        (X ** (Y**2.0), "x ** y ** 2"),
        ((-X) ** 2.0, "(-x) ** 2"),
        (-(X**2.0), "-x ** 2"),
        (X ** (-Y), "x ** -y"),
        (pt.constant(-0.5) ** X, "(-0.5) ** x"),
        (X - (Y - 1), "x - (y - 1)"),
        (X / (Y * X), "x / (y * x)"),
    ],
)
def test_brackets(term: Any, text: str) -> None:
    assert term_source(term) == text
    made = eval(text, {"x": X, "y": Y})
    assert made.owner.op == term.owner.op
    assert term_source(made) == text
