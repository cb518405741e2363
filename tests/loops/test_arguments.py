"""Forms of arguments in which PyTensor has its own meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError
from rewrite_engine.loops import scan


@pytest.mark.parametrize("taps", [(-1,), range(-1, 0)])
def test_a_single_tap_in_a_row(taps: Any) -> None:
    """Of a list alone, the first value has no axis of values."""
    first = pt.constant(np.array([3.0]))
    powers = scan(lambda t: 2 * t, None, {"initial": first, "taps": taps}, n_steps=3)[0]
    assert powers.eval().tolist() == [6, 12, 24]
    listed = scan(lambda t: 2 * t, None, {"initial": first, "taps": [-1]}, n_steps=3)[0]
    assert listed.eval().tolist() == [[6], [12], [24]]
    with pytest.raises(NDimError, match="initial value"):
        scan(lambda t: 2 * t, None, {"initial": 3.0, "taps": taps}, n_steps=3)


def test_an_argument_may_be_computed_from_another() -> None:
    """Also from a constant; the step then uses nothing that it was not given."""
    x, a, one = pt.dvector("x"), pt.dscalar("a"), pt.constant(1.0)
    scale = one + pt.exp(a)
    sums = scan(
        lambda v, t, base, s: t + base + s * v, x, 0.0, [one, scale], strict=True,
        return_updates=False,
    )  # fmt: skip
    np.testing.assert_allclose(
        rw.function([x, a], sums)([1.0, 2.0], 0.0), np.cumsum([1 + 2 * 1.0, 1 + 2 * 2.0])
    )
