"""Loops as native loops, beside the VM: what is carried on, results, gradients, loops in loops."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.loops import until

x, k = pt.dvectors("x", "k")
m, w = pt.dmatrices("m", "w")
n = pt.lscalar("n")
RNG = np.random.default_rng(5)


def scan(*given: Any, **options: Any) -> Any:
    return rw.scan(*given, **options)[0]


def both(inputs: Any, outputs: Any, *values: Any, whole: bool = True) -> Any:
    """The values of a function all of which is native (whole), which are the VM's."""
    f, g = [rw.function(inputs, outputs, mode=name) for name in ("native", "vm")]
    assert not whole or all(isinstance(node.op, NativeRegion) for node in f.nodes), f.nodes
    got = f(*values)
    for a, b in zip(got, g(*values), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    return f


def test_a_recurrence_and_its_gradient() -> None:
    out = scan(lambda s, h: pt.tanh(s * h) + 1, sequences=[x], outputs_info=[k])
    f = both([x, k], [out, out[-1], rw.grad(out.sum(), k), rw.grad(out.sum(), x)],
             RNG.normal(size=7), RNG.normal(size=3))  # fmt: skip
    assert f(np.array([1.0]), np.array([2.0]))[0].shape == (1, 1)


def test_a_network_with_memory() -> None:
    out = scan(lambda s, h: pt.tanh(pt.dot(w, h) + s), sequences=[m], outputs_info=[k])
    outputs = [out, *rw.grad((out**2).sum(), [m, w, k])]
    both([m, w, k], outputs, RNG.normal(size=(6, 4)), RNG.normal(size=(4, 4)), RNG.normal(size=4))


def test_values_that_change_places() -> None:
    a, b = scan(lambda s, p, q: [q * s, p], sequences=[m], outputs_info=[m[0], m[1]])
    c, d = scan(lambda p, q: [q[::-1], p + q], outputs_info=[m[0], m[1]], n_steps=5)
    both([m], [a, b, c, d, a[-1] + c[-1]], RNG.normal(size=(5, 3)))


@pytest.mark.parametrize("taps", [[-1, -2], [-3], [-1, -3]])
def test_taps(taps: list[int]) -> None:
    start = dict(initial=k, taps=taps)
    out = scan(lambda *h: sum(h) * 0.5 + 1, outputs_info=[start], n_steps=n)
    for steps in (1, 2, 9):
        both([k, n], [out, rw.grad(out.sum(), k)], RNG.normal(size=3), steps)


def test_loops_that_end_by_a_condition() -> None:
    top = pt.dscalar("top")

    def power(p: Any) -> Any:
        return p**2, until(p**2 > top)

    out = scan(power, outputs_info=[pt.constant(2.0)], n_steps=1024)
    for limit in (100.0, 1e9, 1.0):
        both([top], [out, out.sum(), out[-1], out.shape[0]], limit)

    def newton(a: Any) -> Any:
        new = (a + top / a) / 2
        return new, until(abs(new - a) < 1e-12)

    root = scan(newton, outputs_info=[top], n_steps=n)
    f = both([top, n], [root[-1], root.shape[0], rw.grad(root[-1], top)], 2.0, 50, whole=False)
    assert f(2.0, 2)[1] == 2  # the condition never held
    assert f(2.0, 10**9)[1] < 10  # there is no room for all, so the VM runs it
    with pytest.raises(rw.errors.AxisError):
        f(2.0, 0)


def test_a_condition_in_a_loop_in_a_loop() -> None:
    def halved(a: Any) -> Any:
        return scan(lambda h: (h / 2, until(h < 1)), outputs_info=[a], n_steps=99)[-1]

    both([x], [scan(halved, sequences=[x])], np.array([100.0, 3.0, 0.1]), whole=False)


def test_sequences_in_any_order() -> None:
    parts = [m, m[::-1], m.T, dict(input=m[:, ::2], taps=[0, 1])]
    out = scan(lambda a, b, c, d, e: a.sum() + (b * 2)[1] + c[0] + d * e, sequences=parts)
    both([m], [out], RNG.normal(size=(4, 4)), whole=False)


def test_integers_and_truth() -> None:
    out, flags = scan(lambda i, c, f: [c + i, f | (c > 3)], sequences=[pt.arange(n)],
                      outputs_info=[pt.constant(0), pt.constant(False)])  # fmt: skip
    f = both([n], [out, flags], 6)
    assert f(6)[0].tolist() == [0, 1, 3, 6, 10, 15]


def test_loops_in_loops() -> None:
    def row(r: Any, h: Any) -> Any:
        return scan(lambda a, s: pt.sin(a + s), sequences=[r], outputs_info=[h])[-1]

    out = scan(row, sequences=[m], outputs_info=[k[0]])
    both([m, k], [out, rw.grad(out.sum(), m)], RNG.normal(size=(3, 4)), RNG.normal(size=2),
         whole=False)  # fmt: skip


REDUCTIONS = {
    "sum": lambda a: a.sum(),
    "mean": lambda a: a.mean(),
    "std": lambda a: a.std(),
    "max": lambda a: a.max(),
    "min": lambda a: a.min(),
    "prod": lambda a: a.prod(),
    "softmax": pt.special.softmax,
    "logsumexp": pt.special.logsumexp,
    "norm": lambda a: pt.sqrt((a**2).sum()),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_what_is_carried(name: str) -> None:
    """Each step reduces the values that the step before left, not those of the start."""
    reduced = REDUCTIONS[name]
    out = scan(lambda a: a + reduced(a), outputs_info=[x], n_steps=3)
    scaled = scan(lambda a: a / reduced(a), outputs_info=[x], n_steps=3)
    pairs = scan(lambda a, b: b + reduced(a), outputs_info=[dict(initial=m, taps=[-2, -1])],
                 n_steps=4)  # fmt: skip
    slopes = [rw.grad(v[-1].sum(), p) for v, p in ((out, x), (scaled, x), (pairs, m))]
    both([x, m], [out, scaled, pairs, *slopes], np.array([1.0, 2.0, 4.0]),
         np.abs(RNG.normal(size=(2, 3))) + 0.5, whole=False)  # fmt: skip


def test_a_sum_of_what_is_carried() -> None:
    out = scan(lambda a: a + a.sum(), outputs_info=[x], n_steps=2)
    f = rw.function([x], out, mode="native")
    assert f([1.0, 2.0, 4.0]).tolist() == [[8.0, 9.0, 11.0], [36.0, 37.0, 39.0]]
    share = rw.function([x], scan(lambda a: a / a.sum(), outputs_info=[x], n_steps=3).sum(axis=1),
                        mode="native")  # fmt: skip
    np.testing.assert_allclose(share([1.0, 2.0, 4.0]), 1.0, rtol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_reductions_along_axes_of_what_is_carried(axis: Any) -> None:
    out = scan(lambda a: a * 0.5 + a.max(axis=axis, keepdims=True) - a.mean(axis=axis,
               keepdims=True), outputs_info=[m], n_steps=3)  # fmt: skip
    both([m], [out, rw.grad(out[-1].sum(), m)], RNG.normal(size=(3, 4)), whole=False)


def test_conditions_on_what_is_carried() -> None:
    out = scan(lambda a: (a * 2, until(a.sum() > 20)), outputs_info=[x], n_steps=10)
    f = both([x], [out, out.shape[0]], np.ones(2), whole=False)
    assert f([1.0, 1.0])[0].tolist() == [[2.0**k] * 2 for k in range(1, 6)]


def test_reductions_of_what_is_carried_in_loops_in_loops() -> None:
    def inner(a: Any) -> Any:
        return scan(lambda h, b: h / h.sum() + b.max(), outputs_info=[a], non_sequences=[a],
                    n_steps=2)[-1]  # fmt: skip

    out = scan(lambda a: inner(a) + a.mean(), outputs_info=[x], n_steps=3)
    both([x], [out, rw.grad(out[-1].sum(), x)], np.array([1.0, 2.0, 4.0]), whole=False)


def test_the_same_loop_twice() -> None:
    def loop(v: Any) -> Any:
        return scan(lambda s, h: s * h + 1, sequences=[v], outputs_info=[pt.constant(1.0)])

    both([x, k], [loop(x), loop(k) * 2, loop(pt.exp(x))], RNG.normal(size=5), RNG.normal(size=3))


def test_much_memory() -> None:
    """What a later step reads is not overwritten by what an earlier one leaves."""
    big = pt.exp(m * 0.1)
    y = pt.tanh(big).sum(axis=0)
    out = scan(lambda s, h: pt.sqrt(abs(pt.dot(big, h) * s.sum() + y)), sequences=[m.T],
               outputs_info=[y])  # fmt: skip
    both([m], [out, y, big.sum()], RNG.normal(size=(60, 60)))


def test_no_steps_and_short_sequences() -> None:
    out = scan(lambda a, b: a * b, sequences=[x, k], n_steps=n)
    f = rw.function([x, k, n], out, mode="native")
    assert f([1.0, 2.0], [3.0, 4.0, 5.0], 2).tolist() == [3.0, 8.0]
    assert f([1.0], [2.0], 0).tolist() == []
    for given in (([1.0], [1.0, 2.0], 2), ([1.0], [1.0], -1)):
        with pytest.raises(rw.errors.ShapeError):
            f(*given)


def test_an_error_in_a_step_is_the_vms() -> None:
    out = scan(lambda s, h: pt.Assert("too large")(h * s, h < 100), sequences=[x],
               outputs_info=[pt.constant(1.0)])  # fmt: skip
    f = rw.function([x], out, mode="native")
    assert f([10.0, 2.0, 3.0]).tolist() == [10.0, 20.0, 60.0]
    with pytest.raises(AssertionError, match="too large"):
        f([10.0, 10.0, 10.0, 1.0])


def test_what_is_carried_on_in_another_shape() -> None:
    out = scan(lambda s, h: pt.dot(m, h) * s, sequences=[x], outputs_info=[k])
    f = rw.function([x, m, k], out, mode="native")
    square, wide = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 3))
    np.testing.assert_allclose(f([2.0], square, np.ones(3))[0], 2 * square @ np.ones(3))
    with pytest.raises(rw.errors.ShapeError):
        f([2.0, 1.0], wide, np.ones(3))


def test_graphs_that_ops_hold_are_native() -> None:
    op = rw.OpFromGraph([x, k], [pt.exp(x) * k.sum(), x + 1])
    a, b = op(x, pt.tanh(k))
    both([x, k], [a * 2, b], RNG.normal(size=4), RNG.normal(size=3))


def test_indices_in_a_step() -> None:
    def step(i: Any, h: Any) -> Any:
        return h[i].set(x[i] + h[i - 1] * 0.5)

    out = scan(step, sequences=[pt.arange(1, x.shape[0])], outputs_info=[pt.exp(x)])
    sums = scan(lambda i: x[i] * x[-i], sequences=[pt.arange(x.shape[0])])
    both([x], [out, sums, rw.grad(out[-1].sum(), x)], RNG.normal(size=6), whole=False)


def test_a_long_loop_can_be_interrupted() -> None:
    out = scan(lambda h: pt.sin(h) + 1, outputs_info=[k[0]], n_steps=n)[-1]
    f = rw.function([k, n], out, mode="native")
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            f([1.0], 10**12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert np.isfinite(f([1.0], 100_000))
