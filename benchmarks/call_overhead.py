"""What calling a compiled function costs beyond NumPy's own call: `exp` of ten doubles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, medians


def main() -> Iterator[Row]:
    x = pt.vector("x")
    f = rw.function([x], pt.exp(x))
    value = np.linspace(-1.0, 1.0, 10)
    np.testing.assert_array_equal(f(value), np.exp(value))
    times = medians({"numpy": lambda: np.exp(value), "ours": lambda: f(value)}, turns=101)
    numpy, ours = times["numpy"] * 1e6, times["ours"] * 1e6
    note = f"NumPy {numpy:.3f} µs, ours {ours:.3f} µs"
    yield at_most("exp of 10 doubles, beyond NumPy", ours - numpy, 0.3, "µs", note)
