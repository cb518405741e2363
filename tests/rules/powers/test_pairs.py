"""Sums and products of any two known factors, with numbers before them, have the values they are
written with, where nothing is large.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

KINDS: dict[str, Any] = {
    "exp": pt.exp,
    "expm1": pt.expm1,
    "sigmoid": pt.sigmoid,
    "tanh": pt.tanh,
    "erf": pt.erf,
    "erfc": pt.erfc,
    "sinh": pt.sinh,
    "cosh": pt.cosh,
    "1 + exp": lambda u: 1 + pt.exp(u),
    "1 - tanh**2": lambda u: 1 - pt.tanh(u) ** 2,
}
NUMBERS = (1.0, 2.0, -0.5)
AT = np.array([-2.5, -1.3, -0.4, 0.3, 1.1, 2.0])


def factors(kind: str, x: Any) -> list[Any]:
    """A function of x, and of its opposite and half, above and below the bar."""
    found = [KINDS[kind](x * k) for k in (1.0, -1.0, 0.5)]
    return found + [1 / f for f in found]


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_two_factors(first: str, second: str) -> None:
    x = pt.vector("x")
    terms = []
    for f, g in product(factors(first, x), factors(second, x)):
        terms += [f * g, f * g - g, f / g + f]
        terms += [f + c * g for c in NUMBERS] + [f - c * g for c in NUMBERS]
    found = rw.function([x], terms)(AT)
    wanted = rw.function([x], terms, mode=rw.Mode(linker="py", optimizer=None))(AT)
    for t, have, want in zip(terms, found, wanted, strict=True):
        size = np.abs(want).max() + 10
        np.testing.assert_allclose(have, want, rtol=1e-11, atol=1e-12 * size, err_msg=str(t))
