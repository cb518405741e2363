"""What is read of a loop: its end, where a step knows more of its shape than the first value, and
the length of a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, RewriteEngineError, ShapeError
from rewrite_engine.loops import Scan, scan, until
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise

PLAIN = rw.Mode().excluding("loops")
C = pt.constant([1.0, 2.0, 3.0])


def both(outputs: Any, given: dict[Any, Any]) -> tuple[Any, list[Any]]:
    """A function with the rules for loops, and its values, which are those without."""
    f = rw.function([*given], outputs, on_unused_input="ignore")
    g = rw.function([*given], outputs, mode=PLAIN, on_unused_input="ignore")
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


@pytest.mark.parametrize("k", [2, 3])
def test_a_loop_that_ends_early_may_have_fewer_steps_than_are_read_back(k: int) -> None:
    """Also if it is known how many steps there may be."""
    s = pt.dscalar("s")
    out = scan(lambda t: (2 * t, until(t > 1)), outputs_info=s, n_steps=5, return_updates=False)
    f = rw.function([s], [out[-1], out[-k]])
    assert [float(v) for v in f(0.25)] == [4.0, 4.0 / 2 ** (k - 1)]
    with pytest.raises(AxisError, match="out of bounds"):
        f(2.0)
    assert rw.function([s], out[-1])(2.0) == 4.0


# --- lengths ----------------------------------------------------------------------------------


def check(v: Any, t: Any) -> Any:
    return CheckAndRaise(ValueError, "v < 0")(v, v > 0) + pt.sin(t)


def test_what_fails_in_a_step_fails_if_only_the_length_is_read() -> None:
    x, m, k = pt.dvector("x"), pt.dmatrix("m"), pt.lscalar("k")
    single = lambda step, *args, **options: scan(step, *args, return_updates=False, **options)
    checked = single(check, x, 0.0)
    uneven = single(lambda i: pt.arange(i), pt.arange(3))
    nested = single(lambda row: single(check, row, 0.0).shape[0], m)
    misfit = single(lambda row, t: t + row, m, x)
    short = single(lambda v, t: pt.sin(t) + v, x, 0.0, n_steps=k)
    operand = single(lambda v, t: pt.sin(t) + v, CheckAndRaise(ValueError, "k < 0")(x, k > 0), 0.0)
    given = {x: [1.0, -2.0, 3.0], m: -np.ones((2, 2)), k: 7}
    cases = [(checked, ValueError, 3), (nested, ValueError, 2), (misfit, RewriteEngineError, 2)]
    cases += [(short, ShapeError, 3), (operand, ValueError, 3), (uneven, ShapeError, None)]
    right = {x: [1.0, 2.0, 3.0], m: np.ones((2, 3)), k: 3}
    for out, kind, n in cases:
        for read in (out.shape[0], out.shape, [out.shape[0], x.sum()]):
            for mode in (None, PLAIN):
                f = rw.function([*given], read, mode=mode, on_unused_input="ignore")
                values = dict(given)
                values[k] = -1 if out is operand else 7
                with pytest.raises(kind):
                    f(*values.values())
                if n is not None:
                    got = f(*right.values())
                    assert np.ravel(got[0] if isinstance(got, list) else got)[0] == n


def test_loops_that_cannot_fail_are_not_run_for_their_length() -> None:
    x, k = pt.dvector("x"), pt.lscalar("k")
    step = lambda v, t: [pt.sin(t) + v, pt.exp(v) * t]
    trace, other = scan(step, x, [pt.constant(0.0), None], return_updates=False)
    for read in (trace.shape[0], other.shape, pt.zeros(trace.shape[0] + 1)):
        f, _ = both(read, {x: [1.0, 2.0]})
        assert not [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
    out = scan(lambda t: t + 1, outputs_info=0.0, n_steps=k, return_updates=False)
    f, _ = both(out.shape[0], {k: 4})
    assert not [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
    for g in (f, rw.function([k], out.shape[0], mode=PLAIN)):
        with pytest.raises(RewriteEngineError):
            g(-1)


@pytest.mark.parametrize("ends", [False, True])
def test_no_trace_is_kept_of_what_is_read_at_the_end_and_for_its_lengths(ends: bool) -> None:
    s, x, n = pt.dscalar("s"), pt.dvector("x"), pt.lscalar("n")
    end = lambda v: until(v.sum() > 1e3) if ends else {}
    of_s = scan(lambda t: (2 * t, end(t)), outputs_info=s, n_steps=n, return_updates=False)
    of_x = scan(lambda t: (2 * t, end(t)), outputs_info=x, n_steps=n, return_updates=False)
    of_c = scan(lambda t: (t + C, end(t)), outputs_info=2 * C, n_steps=n, return_updates=False)
    reads = [of_s[-3:], of_s[-1:] + of_s.shape[0], of_c[-2:], of_c.shape[1] + of_c[-2:]]
    for read in [*reads, of_x.shape[0] + of_x.shape[1] + of_x[-1]]:
        for steps in (1, 2, 3, 30):
            f, _ = both(read, {s: 1.0, x: [2.0, 1.0], n: steps})
            (loop,) = [m for m in f.fgraph.toposort() if isinstance(m.op, Scan)]
            assert not list(loop.op.results)
    for read in reads:
        both(read, {s: 1.0, x: [2.0, 1.0], n: 0})


def test_no_trace_is_kept_where_taps_have_lengths_that_are_not_known() -> None:
    """A step compares what is three steps old with what is one step old."""
    m, n = pt.dmatrix("m"), pt.lscalar("n")
    start = {"initial": m, "taps": [-3, -1]}
    trace = scan(
        lambda p, q: pt.sin(p) + pt.cos(q), outputs_info=start, n_steps=n, return_updates=False
    )
    for read in (trace[-1], trace[-2] + trace[-1], trace[-1] + trace.shape[1]):
        for steps in (2, 3, 9):
            f, _ = both(read, {m: np.arange(6.0).reshape(3, 2), n: steps})
            (loop,) = [node for node in f.fgraph.toposort() if isinstance(node.op, Scan)]
            assert not list(loop.op.results)


def test_the_sequence_that_is_too_short_is_told_where_no_loop_is_left() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    out = scan(lambda a, h: h + a, x, 0.0, n_steps=n, return_updates=False)
    f = rw.function([x, n], out)
    assert not [node for node in f.fgraph.toposort() if isinstance(node.op, Scan)]
    assert f([1.0, 2.0, 3.0], 2).tolist() == [1.0, 3.0]
    with pytest.raises(ShapeError, match="sequence 0 has fewer elements"):
        f([1.0, 2.0], 3)
    with pytest.raises(ShapeError, match="number of steps must not be negative"):
        f([1.0, 2.0], -1)


def test_a_sequence_that_nobody_reads_is_long_enough_where_no_loop_is_left() -> None:
    x, y, m, w = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.dmatrix("w")
    row = lambda v, start: scan(lambda a, t: pt.sin(a) * t, v, start, return_updates=False)[-1]
    loops = [
        scan(lambda v, u, t: t + pt.outer(v, v), [m, y], np.zeros((3, 3)), n_steps=4),
        scan(lambda v, u, t: t + pt.outer(v, pt.exp(v)), [m, y], np.zeros((3, 3)), n_steps=4),
        scan(lambda v, u: row(v, x), [m, y], n_steps=4),
        scan(lambda v, u: pt.dot(v, w), [m, y], n_steps=4),
    ]
    given = {m: np.ones((4, 3)), x: np.ones(2), w: np.ones((3, 3))}
    for out, _ in loops:
        for outputs in ([out[-1]], [rw.grad(out[-1].sum(), m)], [out.sum(), rw.grad(out.sum(), m)]):
            f, _ = both(outputs, {**given, y: np.ones(4)})
            for rows, what in ((4, "sequence 1 has"), (3, None)):
                short = {**given, m: np.ones((rows, 3)), y: np.ones(3)}
                with pytest.raises(ShapeError, match=what):
                    f(*short.values())
