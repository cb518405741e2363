"""Facts that rules ask for: each gives evidence, or the reason why it is not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.rules.language import CONSTANT, because, fact, unknown
from rewrite_engine.tensor import abs, exp, sigmoid, sqr, sqrt
from rewrite_engine.tensor.special import Softmax

POSITIVE = (exp, sigmoid)
NONNEGATIVE = (*POSITIVE, abs, sqr, sqrt)


def _all(x: Any, test: Any) -> bool:
    return x.head is CONSTANT and x.type.kind != "c" and bool(np.all(test(x.data)))


@fact
def nonneg(x: Any) -> Any:
    """x is nowhere below 0 (it may be NaN)."""
    if _all(x, lambda value: ~(value < 0)):
        return because("it is a constant")
    if getattr(x.type, "kind", "?") in "ub":
        return because(f"its dtype is {x.type.dtype}")
    if x.head in NONNEGATIVE and x.type.kind == "f":
        return because(f"it is a result of {x.head}")
    if isinstance(x.head, Softmax):
        return because("it is a softmax")
    return unknown("its sign is not known", blame=x)


@fact
def positive(x: Any) -> Any:
    """x is above 0 wherever it is a number, up to underflow."""
    if _all(x, lambda value: (value > 0) & np.isfinite(value)):
        return because("it is a constant")
    if x.head in POSITIVE and x.type.kind == "f":
        return because(f"it is a result of {x.head}")
    if isinstance(x.head, Softmax):
        return because("it is a softmax")
    return unknown("it may be 0 or negative", blame=x)
