"""Gradients of loops against those of the same steps without a loop: complex values, integers and
truth values among the outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import Rop, disconnected_grad
from rewrite_engine.loops import Scan, scan, scan_checkpoints, until
from rewrite_engine.random import RandomStream

RNG = np.random.default_rng(5)
PLAIN = rw.Mode().excluding("loops")


def alike(found: list[Any], wanted: list[Any], given: dict[Any, Any], rtol: float = 1e-9) -> None:
    """Both are the same, with the rules for loops and without."""
    for mode in (None, PLAIN):
        options: dict[str, Any] = {"mode": mode, "on_unused_input": "ignore"}
        got = rw.function([*given], found, **options)(*given.values())
        want = rw.function([*given], wanted, **options)(*given.values())
        for a, b in zip(got, want, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


# --- complex values ---------------------------------------------------------------------------

size = lambda t: pt.real(t) ** 2 + pt.imag(t) ** 2
STEPS: dict[str, Any] = {
    "turned": lambda v, t, a, w: t * pt.exp(1j * a) + v * w,
    "real parts": lambda v, t, a, w: pt.real(t) * v + 1j * pt.imag(t * w) * a,
    "modulus": lambda v, t, a, w: t * a / (1 + size(t)) + pt.conj(v) * w,
    "real before": lambda v, t, a, w: pt.sin(size(v) * a) * t + w * a,
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_gradients_through_complex_values(step: Any, precision: str) -> None:
    kind = {"float64": "complex128", "float32": "complex64"}[precision]
    x, w = pt.vector("x", dtype=kind), pt.scalar("w", dtype=kind)
    z, a = pt.scalar("z", dtype=kind), pt.scalar("a", dtype=precision)
    body = lambda v, t: pt.cast(step(v, t, a, w), kind)
    each = scan(body, x, z, return_updates=False)
    t, states = z, []
    for k in range(3):
        t = body(x[k], t)
        states.append(t)
    wrt = [x, z, a, w]
    moves = [pt.cast(0.3 + 0.1j, kind) * x, z * z, a * a, pt.conj(w)]
    results = []
    for trace in (each, pt.stack(states)):
        cost = (pt.real(trace) * pt.imag(trace)).sum() + size(trace[-1])
        slopes = rw.grad(cost, wrt)
        second = rw.grad(slopes[2] + size(slopes[1]), wrt)
        results.append([cost, *slopes, *second, Rop(cost, wrt, moves), Rop(trace, wrt, moves)])
    draw = lambda *shape: RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    given = {x: draw(3), z: draw(), a: RNG.normal(), w: draw()}
    given = {v: np.asarray(value, v.type.dtype) for v, value in given.items()}
    alike(*results, given, rtol=1e-9 if precision == "float64" else 2e-3)


def test_gradients_of_real_outputs_of_complex_sequences() -> None:
    x, m, n = pt.zvector("x"), pt.zmatrix("m"), pt.lscalar("n")
    squares = scan(lambda v: pt.abs(v) ** 2, x, return_updates=False)
    assert rw.grad(squares.sum(), x).eval({x: [1 + 1j, 2]}).tolist() == [2 + 2j, 4]
    step = lambda t: pt.dot(m, t) / 2
    end = scan(step, outputs_info=x, n_steps=n, return_updates=False)[-1]
    other = step(step(step(x)))
    found, wanted = [rw.grad(pt.abs(v).sum(), [x, m]) for v in (end, other)]
    given = {m: RNG.normal(size=(2, 2)) + 1j, x: RNG.normal(size=2) - 1j, n: 3}
    alike(found, wanted, given)


def test_a_complex_value_turned_by_an_angle() -> None:
    a = pt.dscalar("a")
    z = scan(lambda t: t * pt.exp(1j * a), outputs_info=pt.constant(1 + 0j), n_steps=3,
             return_updates=False)[-1]  # fmt: skip
    found = rw.grad(pt.real(z), a), Rop(pt.real(z), a, pt.constant(1.0))
    np.testing.assert_allclose([v.eval({a: 0.3}) for v in found], -3 * np.sin(0.9))


def test_real_changes_and_gradients_of_complex_values() -> None:
    x, z = pt.zvector("x"), pt.zscalar("z")
    each = scan(lambda v, t: t * v, x, z, return_updates=False)
    other = pt.stack([x[0] * z, x[0] * x[1] * z])
    moves = [pt.constant([1.0, 2.0]), pt.constant(1.0)]
    found, wanted = [
        [*rw.grad(None, [x, z], known_grads={v: moves[0]}), Rop(v, [x, z], moves)]
        for v in (each, other)
    ]
    alike(found, wanted, {x: np.array([1j, 2]), z: 1 + 1j})


# --- over the last steps ----------------------------------------------------------------------


def last_steps(step: Any, x: Any, starts: Any, n: int, taps: list[int], k: int) -> Any:
    """The values of n steps, of which those before the last k are held constant."""
    values = list(starts)
    for t in range(n):
        new = step(x[t], *[values[tap] for tap in taps])
        values.append(disconnected_grad(new) if t < n - k else new)
    return pt.stack(values[len(starts) :])


@pytest.mark.parametrize("taps", [[-1], [-2, -1], [-3, -1], [-3]])
@pytest.mark.parametrize("known", [True, False])
def test_gradients_of_first_values_that_the_last_steps_do_not_reach(
    taps: list[int], known: bool
) -> None:
    x, w, n = pt.dvector("x"), pt.dscalar("w"), 5
    first = pt.dmatrix("first")
    starts = [first[i] for i in range(-min(taps))]
    initial = first[0] if taps == [-1] else {"initial": first, "taps": taps}
    step = lambda v, *past: w * pt.sin(sum(past)) + v
    steps = pt.lscalar("n")
    given = {x: RNG.normal(size=n), w: 0.9, first: RNG.normal(size=(-min(taps), 2)), steps: n}
    found, wanted = [], []
    for k in range(1, n + 2):
        options = {"n_steps": n if known else steps, "truncate_gradient": k}
        each = scan(step, x, initial, return_updates=False, **options)
        other = last_steps(step, x, starts, n, taps, k)
        for out, gradients in ((each, found), (other, wanted)):
            for cost in (out[-1].sum(), (out**2).sum()):
                gradients += rw.grad(cost, [x, w, first], disconnected_inputs="ignore")
    alike(found, wanted, given)


def test_gradients_of_gradients_go_back_over_the_last_steps_only() -> None:
    """Also of forward derivatives, and where a step needs a value that no result shows."""
    x, w, s, n = pt.dvector("x"), pt.dscalar("w"), pt.dscalar("s"), 5
    step = lambda v, a, b: [pt.sin(w * a * b) + v, a * v * b]
    wrt = [x, w, s]
    given = {x: RNG.normal(size=n), w: 0.7, s: 1.1}
    for k in (2, n + 1):
        each = scan(step, x, [s, s], truncate_gradient=k, return_updates=False)[1]
        slopes = rw.grad((each**2).sum(), wrt)
        found = rw.grad(sum((v**2).sum() for v in slopes), wrt)
        found += rw.grad((Rop(each, wrt, [v**2 for v in wrt]) ** 2).sum(), wrt)
        (a, b), (c, d) = (s, s), (s**2, s**2)
        rows: list[Any] = []
        for t in range(n):
            new = step(x[t], a, b)
            moved = Rop(new, [a, b, x, w], [c, d, x**2, w**2])
            held = disconnected_grad if t < n - k else lambda v: v
            a, b, c, d = [held(v) for v in (*new, *moved)]
            rows.append((b, d))
        results, moves = [pt.stack(row) for row in zip(*rows, strict=True)]
        slopes = rw.grad((results**2).sum(), wrt, disconnected_inputs="ignore")
        second = sum((v**2).sum() for v in slopes)
        wanted = rw.grad(second, wrt, disconnected_inputs="ignore")
        wanted += rw.grad((moves**2).sum(), wrt, disconnected_inputs="ignore")
        alike(found, wanted, given)


def test_values_that_steps_swap_are_not_reached_in_fewer_steps() -> None:
    a, b = pt.dscalars("a", "b")
    for k, wanted in ((3, [0.0, 1.0]), (2, [0.0, 0.0])):
        out, _ = scan(lambda p, q: [q, p], outputs_info=[a, b], n_steps=3, truncate_gradient=k)
        got = rw.function([a, b], rw.grad(out[0][-1], [a, b]))(1.0, 2.0)
        assert got == wanted


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_gradient_of_a_first_value_has_its_dtype(dtype: str) -> None:
    b, n = pt.vector("b", dtype=dtype), pt.lscalar("n")
    for steps in (3, n):
        out = scan(lambda t: t * t, outputs_info=b, n_steps=steps, truncate_gradient=2,
                   return_updates=False)  # fmt: skip
        slope = rw.grad(pt.real(out[-1]).sum(), b)
        assert slope.type.dtype == dtype
        f = rw.function([b, n], slope, on_unused_input="ignore")
        assert f(np.ones(2, dtype), 3).tolist() == [0.0, 0.0]
        assert steps == 3 or f(np.ones(2, dtype), 2).tolist() == [4.0, 4.0]


# --- integers and truth values ----------------------------------------------------------------


def test_gradients_of_loops_with_discrete_outputs() -> None:
    x, at = pt.dvector("x"), [1.0, -1.0, 2.0]
    pos = scan(lambda v: v > 0, x, return_updates=False)
    signs = scan(lambda v, n: n + pt.cast(v > 0, "int64"), x, pt.constant(1), return_updates=False)
    costs = [((pos * x).sum(), [1, 0, 1]), (pt.switch(pos, x, 2 * x).sum(), [1, 2, 1])]
    costs += [((signs * x).sum(), [2, 2, 3]), ((pos + signs).sum() + 0 * x.sum(), [0, 0, 0])]
    costs += [(signs[-1] * x.sum(), [3, 3, 3]), (pos.sum(), [0, 0, 0])]
    for cost, wanted in costs:
        for mode in (None, PLAIN):
            assert rw.function([x], rw.grad(cost, x), mode=mode)(at).tolist() == wanted
            moved = Rop(cost, x, pt.ones_like(x))
            assert rw.function([x], moved, mode=mode)(at) == sum(wanted)


def test_discrete_and_other_outputs_of_one_loop() -> None:
    x, a = pt.dvector("x"), pt.dscalar("a")
    step = lambda v, t: [v > t, t * a + v, pt.floor(t * 9).astype("int64")]
    (over, each, parts), _ = scan(step, x, [None, a, None])
    t, other = a, []
    for k in range(3):
        other.append(step(x[k], t))
        t = other[-1][1]
    costs = [
        ((p * q + r * x + q**2).sum())
        for p, q, r in ((over, each, parts), [pt.stack(vs) for vs in zip(*other, strict=True)])
    ]
    found, wanted = [[cost, *rw.grad(cost, [x, a]), rw.grad(rw.grad(cost, a), a)] for cost in costs]
    alike(found, wanted, {x: [0.3, 2.0, -0.4], a: 0.7})


def test_second_derivatives_with_integers_that_are_carried_on() -> None:
    a = pt.dscalar("a")
    step = lambda i, t: [i + pt.cast(t > 0, "int64"), pt.tanh(t * a) * i]
    out = scan(step, outputs_info=[pt.constant(1), a], n_steps=3, return_updates=False)[1]
    i, t, other = pt.constant(1), a, 0.0
    for _ in range(3):
        i, t = step(i, t)
        other = other + t
    found, wanted = [
        [rw.grad(cost, a), rw.grad(rw.grad(cost, a), a)] for cost in (out.sum(), other)
    ]
    alike(found, wanted, {a: 0.7})


@pytest.mark.parametrize("mode", [None, PLAIN])
def test_gradients_with_integers_that_no_output_shows(mode: Any) -> None:
    a, count = pt.dscalar("a"), rw.shared(np.int64(1))
    step = lambda t: (pt.sin(t * a) * count, {count: count + 2})
    out, updates = scan(step, outputs_info=a, n_steps=3)
    t, other = a, []
    for k in (1, 3, 5):
        t = pt.sin(t * a) * k
        other.append(t)
    slopes = [rw.grad(v.sum(), a) for v in (out, pt.stack(other))]
    f = rw.function([a], [*slopes, *[rw.grad(v, a) for v in slopes]], updates=updates, mode=mode)
    got = f(0.7)
    np.testing.assert_allclose(got[::2], got[1::2])


# --- draws ------------------------------------------------------------------------------------


def inner_loop(step: Any, t: Any, **options: Any) -> tuple[Any, Any]:
    """One outer step: the last value of a loop, or the first one."""
    found, updates = scan(step, outputs_info=[t], **options)
    return pt.concatenate([t[None], found])[-1], updates


@pytest.mark.parametrize("mode", [None, PLAIN])
@pytest.mark.parametrize("kind", ["segments", "lengths", "ends"])
def test_gradients_with_what_loops_of_several_lengths_drew(kind: str, mode: Any) -> None:
    s, stream, noise = pt.dscalar("s"), RandomStream(11), pt.dvector("noise")
    step = lambda t: pt.sin(t) * s + t * stream.normal()
    start = pt.constant(0.3)
    if kind == "segments":
        counts = [2, 2, 1]
        out, updates = scan_checkpoints(step, None, start, n_steps=5, save_every_N=2)
    elif kind == "lengths":
        counts = [2, 0, 3]
        outer = lambda n, t: inner_loop(step, t, n_steps=n)
        out, updates = scan(outer, pt.constant(counts), start)
    else:
        counts = [1, 3, 2]
        ends = lambda k, n, t: ([k + 1, step(t)], until(k + 1 >= n))

        def outer(n: Any, t: Any) -> Any:
            (_, each), more = scan(lambda k, t: ends(k, n, t), None, [pt.constant(0), t], n_steps=5)
            return each[-1], more

        out, updates = scan(outer, pt.constant(counts), start)
    draw = rw.function([], RandomStream(11).normal())
    draws, k, t, other = [draw() for _ in range(sum(counts))], 0, start, []
    for n in counts:
        for _ in range(n):
            t, k = pt.sin(t) * s + t * noise[k], k + 1
        other.append(t)
    results = []
    for each in (out, pt.stack(other)):
        cost = (each**2).sum()
        results.append([cost, rw.grad(cost, s), rw.grad(rw.grad(cost, s), s)])
    got = rw.function([s], results[0], updates=updates, mode=mode)(1.3)
    want = rw.function([s, noise], results[1])(1.3, draws)
    np.testing.assert_allclose(got, want, rtol=1e-9)


# --- elements that steps read -----------------------------------------------------------------


def test_gradients_of_elements_are_written_into_the_sum() -> None:
    """No step makes an array as long as the one that it reads an element of."""
    x, m, a, k = pt.dvector("x"), pt.dmatrix("m"), pt.dscalar("a"), pt.lvector("k")
    steps = [
        lambda i, t: pt.tanh(t) * x[i],
        lambda i, t: pt.tanh(t) * x[i] + x[i - 1] * x[0],
        lambda i, t: pt.tanh(t) * (m[i] * m[[i, i, 0]]).sum() + x[i],
    ]
    given = {x: RNG.normal(size=4), m: RNG.normal(size=(4, 3)), a: 0.3, k: [0, 3, 3, 1]}
    for step in steps:
        t, other = a, []
        for j in range(4):
            t = step(k[j], t)
            other.append(t)
        each = scan(step, k, a, return_updates=False)
        slopes = [
            rw.grad(v.sum(), [x, m, a], disconnected_inputs="ignore")
            for v in (each, pt.stack(other))
        ]
        alike(*slopes, given)
        f = rw.function([*given], slopes[0], on_unused_input="ignore")
        loops = [n.op for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
        (back,) = [op for op in loops if str(op).startswith("gradient")]
        nodes = [n for n in back.fgraph.toposort() if "IncSubtensor" in str(n.op)]
        assert nodes
        sums = back.parts(back.inner_inputs)[1]
        for node in nodes:
            above = node.inputs[0]
            assert above in sums or "IncSubtensor" in str(above.owner.op)


def test_gradients_of_what_steps_overwrite() -> None:
    x, a = pt.dvector("x"), pt.dscalar("a")
    write = lambda i, t: pt.set_subtensor(x[i], t)[:3].sum() * a + x[i]
    t, other = a, []
    for j in range(4):
        t = write(j, t)
        other.append(t)
    each = scan(write, pt.arange(4), a, return_updates=False)
    found, wanted = [rw.grad(v.sum(), [x, a]) for v in (each, pt.stack(other))]
    alike(found, wanted, {x: RNG.normal(size=4), a: 0.3})


def test_a_step_gets_the_variables_themselves() -> None:
    """So that it may take a derivative of one of them by another (the tutorials' Jacobian)."""
    x, a = pt.dvector("x"), pt.dscalar("a")
    y, slope = x**2, rw.grad((x**3).sum(), x)
    for made, wanted in ((y, [[8.0, 0], [0, 2]]), (slope, [[24.0, 0], [0, 6]])):
        rows, updates = scan(
            lambda i, z, x: rw.grad(z[i], x), pt.arange(made.shape[0]), non_sequences=[made, x]
        )
        f = rw.function([x], rows, updates=updates)
        np.testing.assert_allclose(f([4.0, 1.0]), wanted)
    given = [2 * a, 3.0]
    powers = scan(lambda t, k, z: t * k + z, None, 1.0, given, 3, strict=True)[0]
    f = rw.function([a], powers)
    assert f(1.0).tolist() == [5, 13, 29]
    (loop,) = [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
    assert len(loop.op.fgraph.toposort()) == 2  # 2 * a is computed once


def test_what_only_other_outputs_depend_on_is_disconnected() -> None:
    x, y, h, k = *pt.dvectors("x", "y"), *pt.dscalars("h", "k")
    (a, b), _ = scan(lambda v, w: [v * 2, w * 3], [x, y])
    (c, d), _ = scan(lambda v, t, u: [v * 2 + u, v], x, [h, k])
    (e, f), _ = scan(lambda v, t, u: [v * t, u * v], x, [h, k])
    for cost, other in ((a, y), (b, x), (c, h), (d, h), (d, k), (e, k), (f, h)):
        with pytest.raises(rw.gradient.DisconnectedInputError):
            rw.grad(cost.sum(), other)
    for cost, one in ((a, x), (b, y), (c, k), (e, h), (f, k)):
        rw.grad(cost.sum(), one)
