"""Forms of arguments in which PyTensor has its own meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
