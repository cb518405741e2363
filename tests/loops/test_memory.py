"""How much memory loops take, and loops that keep less (`scan_checkpoints`)."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, OptionError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.loops import scan, scan_checkpoints, until

RNG = np.random.default_rng(3)


def peak(f: Any, *values: Any) -> int:
    """The bytes that a second call takes at most."""
    f(*values)
    tracemalloc.start()
    try:
        f(*values)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_steps_of_which_the_last_is_read() -> None:
    v = pt.dvector("v")
    out = scan(lambda a: a * 0.5 + 1, outputs_info=v, n_steps=100_000)[0]
    f = rw.function([v], out[-1])
    assert f(np.zeros(100)).tolist() == [2.0] * 100
    assert peak(f, np.zeros(100)) < 50_000


def test_loops_in_loops_in_loops() -> None:
    v = pt.dvector("v")
    last = lambda fn, start: scan(fn, outputs_info=start, n_steps=20)[0][-1]
    out = last(lambda a: last(lambda b: last(lambda c: c * 0.5 + 1, b), a), v)
    f = rw.function([v], out)
    np.testing.assert_allclose(f(np.zeros(100)), 2.0)
    assert peak(f, np.zeros(100)) < 50_000


@pytest.mark.parametrize("steps", [500, 2000])
def test_a_gradient_keeps_each_step_few_times(steps: int) -> None:
    v = pt.dvector("v")
    out = scan(lambda a: pt.sin(a), outputs_info=v, n_steps=steps)[0]
    f = rw.function([v], rw.grad(out[-1].sum(), v))
    assert peak(f, RNG.normal(size=1000)) < 4.5 * steps * 8000


# --- checkpoints ------------------------------------------------------------------------------


@pytest.mark.on_vm
def test_checkpoints_keep_the_root_of_the_steps() -> None:
    v, n = pt.dvector("v"), pt.lscalar("n")
    step = lambda a: pt.sin(a) + 0.1 * a
    whole = scan(step, outputs_info=v, n_steps=n)[0]
    parts = scan_checkpoints(step, outputs_info=v, n_steps=n, save_every_N=50)[0]
    f, g = [rw.function([v, n], rw.grad(out[-1].sum(), v)) for out in (whole, parts)]
    start = RNG.normal(size=1000)
    np.testing.assert_array_equal(f(start, 2500), g(start, 2500))
    assert peak(g, start, 2500) < 6 * (50 + 50) * 8000
    assert peak(f, start, 2500) > 2500 * 8000


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("given", [True, False])
def test_checkpoints_are_outputs_of_every_few_steps(n: int, given: bool) -> None:
    x, w = pt.dmatrix("x"), pt.dscalar("w")

    def step(row: Any, t: Any, w: Any) -> Any:
        return [t * w + row, row.sum()]

    steps = pt.constant(n) if given else None
    starts = [pt.zeros(2), None]
    parts, _ = scan_checkpoints(step, x, starts, w, n_steps=steps, save_every_N=3)
    whole, _ = scan(step, x, starts, w, n_steps=steps)
    values = RNG.normal(size=(n + given, 2))
    found = rw.function([x, w], [*parts, *whole])(values, 0.7)
    where = [min(k + 2, n - 1) for k in range(0, n, 3)]
    for a, b in zip(found[:2], found[2:], strict=True):
        np.testing.assert_array_equal(a, b[where])


@pytest.mark.parametrize("padding", [True, False])
def test_gradients_with_checkpoints(padding: bool) -> None:
    def cost(x: Any, start: Any, w: Any) -> Any:
        step = lambda v, t, w: pt.tanh(t * w) + v
        return scan_checkpoints(step, x, start, w, save_every_N=3, padding=padding)[0]

    values = [RNG.normal(size=6 + padding), RNG.normal(), RNG.normal()]
    verify_grad(cost, [np.asarray(v) for v in values], rng=np.random.default_rng(0))


def test_checkpoints_and_shared_variables() -> None:
    count = rw.shared(np.int64(0))
    out, updates = scan_checkpoints(
        lambda t: ([t + count], {count: count + 1}), outputs_info={"initial": pt.constant(0)},
        n_steps=7, save_every_N=3,
    )  # fmt: skip
    assert rw.function([], out, updates=updates)().tolist() == [3, 15, 21]
    assert count.get_value() == 7


def test_wrong_uses_of_checkpoints() -> None:
    x = pt.dvector("x")
    with pytest.raises(InputError, match="taps are not supported"):
        scan_checkpoints(lambda v, t: t + v, x, {"initial": x, "taps": [-1]})
    with pytest.raises(InputError, match="n_steps is required if there are no sequences"):
        scan_checkpoints(lambda t: t, None, x)
    with pytest.raises(OptionError, match="must be an integer >= 1, not 0"):
        scan_checkpoints(lambda t: t, None, x, n_steps=3, save_every_N=0)


def test_checkpoints_without_sequences_do_all_steps() -> None:
    n = pt.lscalar("n")
    for steps in (7, n):
        for padding in (True, False):
            out = scan_checkpoints(lambda t: t * 2, None, 1.0, n_steps=steps, save_every_N=3,
                                   padding=padding, return_updates=False)  # fmt: skip
            f = rw.function([n], out, on_unused_input="ignore")
            assert f(7).tolist() == [8.0, 64.0, 128.0]


@pytest.mark.parametrize("end", [0.0, 4.0, 7.0, 15.0, 31.0, 600.0])
def test_a_condition_ends_all_segments(end: float) -> None:
    a, count = pt.dscalar("a"), rw.shared(np.int64(0))
    step = lambda t: (t * a, {count: count + 1}, until(t * a > end))
    whole, more = scan(step, None, pt.constant(1.0), n_steps=8)
    parts, updates = scan_checkpoints(step, None, pt.constant(1.0), n_steps=8, save_every_N=3)
    f = rw.function([a], [whole, rw.grad(whole[-1], a)], updates=more)
    g = rw.function([a], [parts, rw.grad(parts[-1], a)], updates=updates)
    (each, slope), steps = f(2.0), int(count.get_value())
    count.set_value(0)
    found = g(2.0)
    where = [min(k + 2, len(each) - 1) for k in range(0, len(each), 3)]
    np.testing.assert_allclose(found[0], each[where])
    np.testing.assert_allclose(found[1], slope)
    assert count.get_value() == steps == len(each)


def test_wrong_options_of_checkpoints() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    step = lambda v, t: t + v
    for key in ("tapz", "inputs"):
        with pytest.raises(OptionError, match=f"not '{key}'"):
            scan_checkpoints(step, {"input": x, key: [1]}, 0.0)
    with pytest.raises(OptionError, match="not 'inital'"):
        scan_checkpoints(step, x, {"inital": 0.0})
    for steps in ([7], 4.0):
        with pytest.raises(InputError, match="n_steps must be a 0-d integer"):
            scan_checkpoints(step, x, 0.0, n_steps=steps)
    with pytest.raises(ShapeError, match="n_steps must not be negative"):
        scan_checkpoints(step, x, 0.0, n_steps=-1)
    for size in (n, 2.0, True, None):
        with pytest.raises(OptionError, match="save_every_N must be an integer >= 1, not "):
            scan_checkpoints(step, x, 0.0, save_every_N=size)
    assert scan_checkpoints(step, x, 0.0, save_every_N=np.int8(2))[0].type.ndim == 1


def test_sequences_of_checkpoints_that_are_too_short() -> None:
    x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
    step = lambda v, w, t: t + v * w
    with pytest.raises(ShapeError, match="sequence 1 has 5 elements, but there are 7 steps"):
        scan_checkpoints(step, [x, pt.ones(5)], 0.0, n_steps=7)
    for steps in (n, 7, None):
        out = scan_checkpoints(step, [x, y], 0.0, n_steps=steps, save_every_N=2)[0]
        f = rw.function([x, y, n], out, on_unused_input="ignore")
        assert f(np.ones(7), np.ones(9), 7).tolist() == [2.0, 4.0, 6.0, 7.0]
        with pytest.raises(ShapeError, match="sequence 1 has fewer elements than there are steps"):
            f(np.ones(7), np.ones(5), 7)
    out = scan_checkpoints(step, [x, y], 0.0, n_steps=n)[0]
    with pytest.raises(ShapeError, match="the number of steps must not be negative"):
        rw.function([x, y, n], out)(np.ones(7), np.ones(5), -1)


def test_without_padding_the_number_of_steps_is_a_multiple() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    step = lambda v, t: t + v
    with pytest.raises(ShapeError, match="padding=False the number of steps must be a multiple"):
        scan_checkpoints(step, x, 0.0, n_steps=7, save_every_N=3, padding=False)
    for steps in (n, None):
        out = scan_checkpoints(step, x, 0.0, n_steps=steps, save_every_N=3, padding=False)[0]
        f = rw.function([x, n], out, on_unused_input="ignore")
        assert f(np.ones(6), 6).tolist() == [3.0, 6.0]
        with pytest.raises(ShapeError, match="the number of steps must be a multiple of 3"):
            f(np.ones(7), 7)
