"""Arguments that are made in part of what is computed in a narrower dtype: its rounding stays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

#: of h and p = softmax(h), in float16
NARROW: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda h, p: p * h,
    "quotient": lambda h, p: h / p,
    "square": lambda h, p: pt.sqr(h),
    "square of a sum": lambda h, p: pt.sqr(h + p),
    "square of a product": lambda h, p: pt.sqr(h * p),
    "sum": lambda h, p: h + p + h,
    "multiple": lambda h, p: h * np.float16(0.3),
    "opposite": lambda h, p: -(h * p),
}
#: of k, which is narrow, and v = u - k in float64
TERMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "as it is": lambda u, k, v: pt.exp(v) * pt.exp(-v),
    "turned around": lambda u, k, v: pt.exp(v) * pt.exp(k - u),
    "three": lambda u, k, v: pt.exp(v) / pt.exp(u) * pt.exp(k.astype("float64")),
    "logarithm": lambda u, k, v: pt.exp(pt.log(pt.exp(v) * pt.exp(-v))),
    "times": lambda u, k, v: pt.exp(k * u) * pt.exp(-(u * k.astype("float64"))),
}


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("of", ["float64", "uint32", "a choice"])
def test_what_is_rounded_cancels_with_itself(narrow: str, term: str, of: str) -> None:
    h = pt.tensor("h", dtype="float16", shape=(None,))
    n = pt.tensor("n", dtype="float64" if of == "float64" else "uint32", shape=(None,))
    p = pt.softmax(h)
    u = pt.switch(pt.isnan(p), p, n) if of == "a choice" else n
    k = NARROW[narrow](h, p)
    found = rw.function([h, n], TERMS[term](u, k, u - k))(
        np.array([0.246, 0.3, 1.7], "float16"), np.array([1, 2, 3], n.type.dtype)
    )
    assert found.dtype == "float64"
    np.testing.assert_allclose(found, np.ones(3), rtol=1e-14)
