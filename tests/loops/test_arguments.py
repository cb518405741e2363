"""Forms of arguments in which PyTensor has its own meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import MissingInputError, NDimError
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


def test_names_of_slices_and_earlier_values() -> None:
    """After the array and the step that they are of, whatever it is called inside."""
    names: list[Any] = []

    def step(*given: Any) -> Any:
        names[:] = [v.name for v in given]
        return [given[0], given[-2]]

    x, y, start, last = pt.dvector("x"), pt.dmatrix("y"), pt.dvector("start"), pt.dvector("last")
    sequences = [{"input": x, "taps": [-3, 2, 0, -10]}, y, pt.dvector()]
    infos = [{"initial": start, "taps": [-3, -5]}, last]
    scan(step, sequences, infos, pt.dscalar("n"), n_steps=2)
    expected = ["x[t-3]", "x[t+2]", "x[t]", "x[t-10]", "y[t]", None]
    assert names == [*expected, "start[t-3]", "start[t-5]", "last[t-1]", "n"]


def test_strict_loops() -> None:
    """Shared variables have to be named; others have to be given to the function anyway."""
    x, s, weight = pt.dvector("x"), pt.dscalar("s"), rw.shared(2.0, "weight")
    for used in (weight, pt.exp(weight)):
        with pytest.raises(MissingInputError, match="which is not among its arguments"):
            scan(lambda v, used=used: v * used, x, strict=True)
        out, _ = scan(lambda v, u: v * u, x, non_sequences=used, strict=True)
        assert out.type.ndim == 1
    out, _ = scan(lambda v: v * pt.exp(s), x, strict=True)
    assert out.eval({x: [1.0, 2.0], s: 0.0}).tolist() == [1, 2]
