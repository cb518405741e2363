"""What is read at the end of a loop, where a step knows more of its shape than the first value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError
from rewrite_engine.loops import Scan, scan

PLAIN = rw.Mode().excluding("loops")
C = pt.constant([1.0, 2.0, 3.0])


def both(outputs: Any, given: dict[Any, Any]) -> tuple[Any, list[Any]]:
    """A function with the rules for loops, and its values, which are those without."""
    f, g = rw.function([*given], outputs), rw.function([*given], outputs, mode=PLAIN)
    found = [f(*given.values()), g(*given.values())]
    found = [v if isinstance(v, list) else [v] for v in found]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    return f, found[0]


@pytest.mark.parametrize("length", [1, 3])
def test_the_last_value_has_the_type_of_the_trace(length: int) -> None:
    x = pt.dvector("x")
    trace = scan(lambda t: pt.sin(t).sum() + C, outputs_info=x, n_steps=4, return_updates=False)
    f, (last, whole) = both([trace[-1], trace], {x: np.ones(length)})
    np.testing.assert_array_equal(last, whole[-1])
    assert [v.type.shape for v in (trace[-1], f.fgraph.outputs[0])] == [(3,), (3,)]
    for read in (trace[-1], trace[-2], trace[-2:], trace[-1, :2], trace[-2] + trace[-1]):
        f, _ = both(read, {x: np.ones(length)})
        (loop,) = [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
        assert not list(loop.op.results)  # no trace is kept
    both([trace[-1], rw.grad(trace[-1].sum(), x)], {x: np.ones(3)})


def test_the_last_value_of_a_number_of_steps_that_is_not_known() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    trace = scan(lambda t: pt.sin(t).sum() + C, outputs_info=x, n_steps=n, return_updates=False)
    f, _ = both([trace[-1], trace], {x: [1.0], n: 2})
    with pytest.raises(AxisError):
        f([1.0], 0)


def test_the_last_value_where_taps_reach_back() -> None:
    x = pt.dmatrix("x")
    start = {"initial": x, "taps": [-2, -1]}
    step = lambda p, q: pt.sin(p).sum() + q.mean() + C
    trace = scan(step, outputs_info=start, n_steps=4, return_updates=False)
    for read in (trace[-1], trace[-2], trace[-3], trace[-3:]):
        both([read, trace], {x: np.ones((2, 3))})
        both(read, {x: np.ones((2, 1))})
