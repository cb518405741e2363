"""Loops against loops of Python: taps, directions, updates, ends, derivatives, errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import NanGuardMode, ProfileStats, get_mode
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    InputError,
    NDimError,
    OptionError,
    ShapeError,
    UnknownNameError,
    UpdateTypeError,
)
from rewrite_engine.gradient import Rop, verify_grad
from rewrite_engine.loops import Scan, foldl, foldr, map, reduce, scan, until
from rewrite_engine.random import RandomStream

RNG = np.random.default_rng(2)


def run(outputs: Any, given: dict[Any, Any], **options: Any) -> Any:
    return rw.function(list(given), outputs, on_unused_input="ignore", **options)(*given.values())


# --- what a step is given ---------------------------------------------------------------------


def test_arguments_come_in_the_order_of_the_documentation() -> None:
    """Of PyTensor's and Aesara's page on scan: ten arguments."""
    one, two, three = pt.dvector("one"), pt.dvector("two"), pt.dvector("three")
    out1, out3, arg1, arg2 = pt.dvector("out1"), pt.dscalar("out3"), *pt.dscalars("arg1", "arg2")

    def fn(*args: Any) -> Any:
        assert len(args) == 10
        total = sum((10.0**-k * a for k, a in enumerate(args)), pt.constant(0.0))
        return [total, total * 2, args[7] + 1]

    (a, b, c), updates = scan(
        fn,
        sequences=[{"input": one, "taps": [-3, 2, -1]}, two, {"input": three, "taps": 3}],
        outputs_info=[
            {"initial": out1, "taps": [-3, -5]},
            {"initial": pt.dscalar("out2"), "taps": None},
            out3,
        ],
        non_sequences=[arg1, arg2],
    )
    assert updates == {}
    given = {one: RNG.normal(size=9), two: RNG.normal(size=8), three: RNG.normal(size=8),
             out1: RNG.normal(size=5), out3: 0.5, arg1: 2.0, arg2: 3.0}  # fmt: skip
    got = run([a, b, c], given)
    v1, v2, v3, o1, o3, a1, a2 = given.values()
    past, last, wanted = list(o1), o3, []
    for t in range(4):  # the first sequence, of which a step reads t - 3 to t + 2, ends it
        args = [v1[t], v1[t + 5], v1[t + 2], v2[t], v3[t + 3], past[-3], past[-5], last, a1, a2]
        total = sum(10.0**-k * x for k, x in enumerate(args))
        wanted.append((total, total * 2, last + 1))
        past.append(total)
        last += 1
    for g, w in zip(got, np.array(wanted).T, strict=True):
        np.testing.assert_allclose(g, w)


TAPS = st.lists(st.integers(-3, 3), min_size=1, max_size=3, unique=True)
PAST = st.lists(st.integers(-3, -1), min_size=0, max_size=3, unique=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(TAPS, max_size=2), st.lists(PAST, min_size=1, max_size=2), st.integers(0, 5),
       st.booleans(), st.booleans())  # fmt: skip
def test_any_taps(
    reads: list[list[int]], pasts: list[list[int]], n: int, backwards: bool, said: bool
) -> None:
    width = [max([0, *taps]) - min([0, *taps]) for taps in reads]
    sequences = [RNG.normal(size=n + w) for w in width]
    initial = [RNG.normal(size=-min(taps)) if taps else None for taps in pasts]
    xs = [pt.dvector() for _ in sequences]
    starts = [None if i is None else pt.dvector() for i in initial]

    def step(sin: Any, start: Any, args: Any) -> list[Any]:
        total = sum((0.3 * (k + 1) * a for k, a in enumerate(args)), start)
        return [sin(total) * (j + 1) for j in range(len(pasts))]

    infos = [
        None if s is None else {"initial": s if taps != [-1] else s[0], "taps": taps}
        for s, taps in zip(starts, pasts, strict=True)
    ]
    found, _ = scan(
        lambda *args: step(pt.sin, pt.constant(0.1), args),
        [{"input": x, "taps": taps} for x, taps in zip(xs, reads, strict=True)],
        infos if any(pasts) else None, n_steps=n if said or not xs else None,
        go_backwards=backwards, return_list=True,
    )  # fmt: skip
    pairs = [*zip(xs, sequences, strict=True), *zip(starts, initial, strict=True)]
    given = {v: a for v, a in pairs if v is not None}
    got = run(found, given)
    rows = [list(i) if i is not None else [] for i in initial]
    for t in range(n):
        args = []
        for x, taps in zip(sequences, reads, strict=True):
            low = min([0, *taps])
            args += [x[(n - 1 - t if backwards else t) + tap - low] for tap in taps]
        args += [rows[j][tap] for j, taps in enumerate(pasts) for tap in taps]
        for row, value in zip(rows, step(np.sin, 0.1, args), strict=True):
            row.append(value)
    for g, row in zip(got, rows, strict=True):
        np.testing.assert_allclose(g, row[len(row) - n :], rtol=1e-12, atol=1e-12)
        assert g.shape == (n,)


# --- what a step returns ----------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("pairs", [True, False])
def test_updates_of_shared_variables(order: tuple[int, int], pairs: bool) -> None:
    count = rw.shared(np.int64(3), "count")

    def fn(v: Any) -> Any:
        updates = [(count, count + 2)] if pairs else {count: count + 2}
        parts = [[v * count], updates]
        return parts[order[0]], parts[order[1]]

    x = pt.dvector("x")
    out, updates = scan(fn, x)
    assert list(updates) == [count]
    f = rw.function([x], out, updates=updates)
    assert f([1.0, 1.0, 1.0]).tolist() == [3.0, 5.0, 7.0]
    assert count.get_value() == 9


def test_only_updates() -> None:
    count = rw.shared(np.int64(0))
    outputs, updates = scan(lambda: {count: count + 1}, n_steps=5)
    assert outputs == []
    rw.function([], [], updates=updates)()
    assert count.get_value() == 5


def test_random_numbers_inside() -> None:
    state = rw.shared(np.random.default_rng(7))

    def fn(total: Any) -> Any:
        after, draw = pt.random.normal(rng=state, return_next_rng=True)
        return total + draw, {state: after}

    out, updates = scan(fn, outputs_info=pt.constant(0.0), n_steps=4)
    f = rw.function([], out, updates=updates)
    wanted = np.random.default_rng(7).normal(size=8).cumsum()
    np.testing.assert_allclose(f(), wanted[:4])
    np.testing.assert_allclose(f() + wanted[3], wanted[4:])


def test_streams_inside() -> None:
    """What a step draws is drawn in each; what was drawn before the loop, once."""
    x, stream, other = pt.dvector("x"), RandomStream(5), RandomStream(5)
    out, updates = scan(lambda v: stream.normal(v), x)
    f = rw.function([x], out, updates=updates)
    single = other.normal(0.0)
    draw = rw.function([], single)
    for _ in range(2):
        at = np.array([0.0, 10.0, 20.0])
        np.testing.assert_allclose(f(at), at + [draw() for _ in at])
    noise = stream.normal()
    out, updates = scan(lambda v: v * noise, x)
    assert updates == {}
    assert len(set(rw.function([x], out)([1.0, 1.0]))) == 1


@pytest.mark.parametrize("mode", ["FAST_RUN", "py", rw.Mode().excluding("loops")])
def test_gradients_with_what_was_drawn(mode: Any) -> None:
    """They are of the numbers that the steps drew."""
    x, s = pt.dvector("x"), pt.dscalar("s")
    at = [np.array([0.5, 2.0, 3.0]), 2.0]

    def total(x: Any, s: Any, draws: Any) -> Any:
        t, found = s, 0.0
        for k in range(3):
            t = t * x[k] + s * draws[k] ** 2
            found = found + t**2
        return found

    stream, noise = RandomStream(11), pt.dvector("noise")
    out, updates = scan(lambda v, t: t * v + s * stream.normal() ** 2, x, s)
    cost, wanted = (out**2).sum(), total(x, s, noise)
    outputs = [[c, *rw.grad(c, [x, s]), rw.grad(rw.grad(c, s), s)] for c in (cost, wanted)]
    f = rw.function([x, s], outputs[0], updates=updates, mode=mode)
    g = rw.function([x, s, noise], outputs[1])
    other = RandomStream(11).normal()
    draw = rw.function([], other)
    for _ in range(2):
        draws = np.array([draw() for _ in range(3)])
        for got, want in zip(f(*at), g(*at, draws), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10)


def test_gradients_with_what_loops_in_loops_drew() -> None:
    s, stream, noise = pt.dscalar("s"), RandomStream(11), pt.dvector("noise")

    def outer(t: Any) -> Any:
        found, updates = scan(
            lambda a: pt.sin(a) * s + stream.normal(), outputs_info=[t], n_steps=2
        )
        return found[-1], updates

    out, updates = scan(outer, outputs_info=[pt.constant(0.3)], n_steps=3)
    wanted, t = pt.constant(0.0), pt.constant(0.3)
    for k in range(6):
        t = pt.sin(t) * s + noise[k]
        wanted = wanted + t * (k % 2)
    draw = rw.function([], RandomStream(11).normal())
    draws = np.array([draw() for _ in range(6)])
    got = rw.function([s], [out.sum(), rw.grad(out.sum(), s)], updates=updates)(1.3)
    want = rw.function([s, noise], [wanted, rw.grad(wanted, s)])(1.3, draws)
    np.testing.assert_allclose(got, want, rtol=1e-10)


@pytest.mark.parametrize("strict", [False, True])
def test_shared_variables_among_the_arguments(strict: bool) -> None:
    """A step may use them, or the arguments that stand for them; so may its updates."""
    x, count = pt.dvector("x"), rw.shared(3)
    steps = [lambda v, c: (v * c, {c: c + 1}), lambda v, c: (v * count, {c: count + 1}),
             lambda v, c: (v * c, {count: c + 1})]  # fmt: skip
    for step in steps:
        count.set_value(3)
        out, updates = scan(step, x, non_sequences=count, strict=strict)
        f = rw.function([x], out, updates=updates)
        assert f([1.0, 10.0]).tolist() == [3.0, 40.0]
        assert count.get_value() == 5


def test_a_condition_ends_the_loop() -> None:
    x = pt.dvector("x")
    (total, doubled), _ = scan(
        lambda v, t: ([t + v, 2 * v], {}, until(t + v > 5)), x, [pt.constant(0.0), None]
    )
    got = run([total, doubled], {x: np.array([1.0, 2.0, 3.0, 4.0])})
    assert [g.tolist() for g in got] == [[1.0, 3.0, 6.0], [2.0, 4.0, 6.0]]
    slope = run(rw.grad(total[-1] ** 2, x), {x: np.array([1.0, 2.0, 3.0, 4.0])})
    assert slope.tolist() == [12.0, 12.0, 12.0, 0.0]


def test_forms_of_results() -> None:
    x = pt.dvector("x")
    assert isinstance(scan(lambda v: v, x)[0], rw.Variable)
    assert len(scan(lambda v: v, x, return_list=True)[0]) == 1
    assert isinstance(scan(lambda v: [v, v + 1], x)[0], list)
    assert isinstance(scan(lambda v: v, x, return_updates=False), rw.Variable)


def test_kin() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    given = {x: np.array([1.0, 2.0, 3.0]), y: np.array([10.0, 20.0, 30.0])}
    outputs = [
        map(lambda a, b: a * b, [x, y])[0],
        reduce(lambda a, b, t: t + a * b, [x, y], pt.constant(0.0))[0],
        foldl(lambda a, t: t * 2 + a, x, pt.constant(0.0))[0],
        foldr(lambda a, t: t * 2 + a, x, pt.constant(0.0))[0],
    ]
    got = run(outputs, given)
    assert [np.asarray(g).tolist() for g in got] == [[10.0, 40.0, 90.0], 140.0, 11.0, 17.0]


def test_no_steps() -> None:
    x, m = pt.dvector("x"), pt.dmatrix("m")
    total, _ = scan(lambda v, t: t + v, x, pt.zeros((2, 3)))
    assert run(total, {x: np.empty(0)}).shape == (0, 2, 3)
    rows, _ = scan(lambda r: r * 2, pt.specify_shape(m, (None, 4)))
    assert run(rows, {m: np.empty((0, 4))}).shape == (0, 4)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "py"])
@pytest.mark.parametrize("rows", [0, 2])
def test_gradients_of_no_steps(mode: str, rows: int) -> None:
    """Those of a sequence of matrices' rows have its shape."""
    x, w, n = pt.dmatrix("x"), pt.dmatrix("w"), pt.lscalar("n")
    for count in n, None:
        each, _ = scan(lambda v: pt.sin(pt.dot(v, w)), x, n_steps=count)
        last, _ = scan(lambda v, h: pt.tanh(pt.dot(v, w) + h), x, pt.zeros(3), n_steps=count)
        for out in each, last:
            f = rw.function([x, w, n], rw.grad((out**2).sum(), [x, w]), mode=mode,
                            on_unused_input="ignore")  # fmt: skip
            of_x, of_w = f(np.ones((rows if count is n else 0, 2)), np.ones((2, 3)), 0)
            assert of_x.tolist() == [[0.0, 0.0]] * (rows if count is n else 0)
            assert of_x.shape[1] == 2
            assert of_w.tolist() == [[0.0] * 3] * 2


def test_what_does_not_change_is_computed_before_the_loop() -> None:
    x, w = pt.dvector("x"), pt.dmatrix("w")
    square = pt.dot(w, w)
    out, _ = scan(lambda v: (square * v).sum() + pt.exp(w[0, 0]), x)
    inside = {str(n.op) for n in out.owner.op.fgraph.apply_nodes}
    assert "exp" not in inside
    assert not any("Dot" in name for name in inside)
    a, b = RNG.normal(size=3), RNG.normal(size=(2, 2))
    np.testing.assert_allclose(
        run(out, {x: a, w: b}), [(b @ b * v).sum() + np.exp(b[0, 0]) for v in a]
    )


def test_shapes_and_types() -> None:
    x = pt.tensor("x", shape=(5, 3))
    out, _ = scan(lambda r, t: t + r, x, pt.zeros(3))
    assert out.type.shape == (5, 3)
    f = rw.function([x], out.shape[0] + out[:, 0].shape[0])
    assert f(np.ones((5, 3))) == 10
    k = pt.lscalar("k")
    out, _ = scan(lambda t: t + 1, outputs_info=pt.constant(0.0), n_steps=k)
    f = rw.function([k], out.shape[0])
    assert not any(isinstance(n.op, Scan) for n in f.fgraph.apply_nodes)
    assert f(7) == 7


# --- derivatives ------------------------------------------------------------------------------


def rnn(x: Any, h0: Any, w: Any, u: Any) -> Any:
    return scan(lambda v, h: pt.tanh(pt.dot(h, w) + pt.dot(v, u)), x, h0)[0]


def test_gradients_of_all_that_goes_in() -> None:
    values = [RNG.normal(size=s) / 2 for s in [(4, 2), (3,), (3, 3), (2, 3)]]
    verify_grad(rnn, values, rng=np.random.default_rng(0))


def test_gradients_of_taps() -> None:
    def taps(x: Any, start: Any) -> Any:
        return scan(
            lambda a, b, p, q: pt.sin(a) * q + 0.5 * p * b,
            {"input": x, "taps": [0, 2]},
            {"initial": start, "taps": [-3, -1]},
        )[0]

    verify_grad(taps, [RNG.normal(size=6), RNG.normal(size=3)], rng=np.random.default_rng(0))


def test_gradients_backwards_and_of_several_outputs() -> None:
    def both(x: Any, a: Any) -> Any:
        (p, q), _ = scan(lambda v, s: [s * a + v, s * v], x, [pt.constant(0.7), None],
                         go_backwards=True)  # fmt: skip
        return p * q + p[-1]

    verify_grad(both, [RNG.normal(size=4), np.array(0.8)], rng=np.random.default_rng(0))


def test_gradients_of_some_of_the_elements() -> None:
    """Steps that are fewer than a sequence has elements, or end early."""
    x, a = RNG.normal(size=(5, 2)), RNG.normal(size=2)
    step = lambda v, h: pt.tanh(v * h)
    for steps in (0, 3, 5):
        last = lambda x, h, n=steps: scan(step, x, h, n_steps=n, return_updates=False).sum()
        verify_grad(last, [x, a], rng=np.random.default_rng(1))
    ends = lambda x, h: scan(lambda v, h: (pt.tanh(v * h), until(v[0] > 9)), x, h)[0].sum()
    x[2, 0] = 10
    verify_grad(ends, [x, a], rng=np.random.default_rng(1))


def test_second_derivatives() -> None:
    x = pt.dscalar("x")
    power = scan(lambda p: p * x, outputs_info=pt.constant(1.0), n_steps=5)[0][-1]
    first = rw.grad(power, x)
    got = run([first, rw.grad(first, x)], {x: 1.5})
    np.testing.assert_allclose(got, [5 * 1.5**4, 20 * 1.5**3])


def test_forward_derivatives() -> None:
    x, a = pt.dvector("x"), pt.dscalar("a")
    out, _ = scan(lambda v, s: s * a + pt.sin(v), x, pt.constant(0.3))
    point, at = RNG.normal(size=4), 0.9
    direction = RNG.normal(size=4), 0.4
    moved = run(Rop(out, [x, a], [pt.constant(direction[0]), pt.constant(direction[1])]),
                {x: point, a: at})  # fmt: skip
    f = rw.function([x, a], out)
    h = 1e-6
    up = f(point + h * direction[0], at + h * direction[1])
    down = f(point - h * direction[0], at - h * direction[1])
    np.testing.assert_allclose(moved, (up - down) / (2 * h), rtol=1e-6)


def test_truncated_gradients() -> None:
    x, w = pt.dvector("x"), pt.dscalar("w")
    given = {x: np.array([1.0, 2.0, 3.0, 4.0]), w: 0.5}
    for k in (1, 2, 4, -1):
        last = scan(lambda v, h: h * w + v, x, pt.constant(0.0), truncate_gradient=k)[0][-1]
        got = run(rw.grad(last, x), given)
        n = 4 if k == -1 else k
        assert got.tolist() == [0.0] * (4 - n) + [0.5**j for j in range(n - 1, -1, -1)]


def test_integers_carried_on_have_no_gradient() -> None:
    x = pt.dvector("x")
    (total, count), _ = scan(
        lambda v, t, i: [t + v * i, i + 1], x, [pt.constant(0.0), pt.constant(1)]
    )
    cost = total[-1] + count[-1]
    assert run(rw.grad(cost, x), {x: np.ones(3)}).tolist() == [1.0, 2.0, 3.0]


def test_what_does_not_matter_is_disconnected() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    (a, b), _ = scan(lambda v, w, t: [t + v, w], [x, y], [pt.constant(0.0), None])
    with pytest.raises(rw.gradient.DisconnectedInputError):
        rw.grad(a.sum(), y)
    assert run(rw.grad(b.sum(), y), {x: np.ones(2), y: np.ones(2)}).tolist() == [1.0, 1.0]


def test_loops_in_loops() -> None:
    m = pt.dmatrix("m")

    def row(r: Any, total: Any) -> Any:
        inner, _ = scan(lambda v, t: t * 0.5 + v**2, r, total)
        return inner[-1]

    def nested(m: Any) -> Any:
        return scan(row, m, pt.constant(0.1))[0]

    a = RNG.normal(size=(3, 2))
    wanted, total = [], 0.1
    for r in a:
        for v in r:
            total = total * 0.5 + v**2
        wanted.append(total)
    np.testing.assert_allclose(run(nested(m), {m: a}), wanted)
    verify_grad(nested, [a], rng=np.random.default_rng(0))


# --- the op -----------------------------------------------------------------------------------


def test_equal_loops_are_one() -> None:
    x = pt.dvector("x")
    make = lambda: scan(lambda v, t: pt.sin(t) + v, x, pt.constant(0.0))[0]
    first, second = make(), make()
    assert first.owner.op is second.owner.op
    assert pickle.loads(pickle.dumps(first.owner.op)) is first.owner.op
    f = rw.function([x], first + second)
    assert sum(isinstance(n.op, Scan) for n in f.fgraph.apply_nodes) == 1


def test_the_graph_inside_is_rewritten() -> None:
    x = pt.dvector("x")
    f = rw.function([x], map(lambda v: pt.log(pt.exp(v)), x)[0])
    assert f([1000.0]).tolist() == [1000.0]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", rw.Mode(linker="py", optimizer=None)])
def test_modes(mode: Any) -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, t: t + v, x, pt.constant(0.0))
    got = run([out, rw.grad(out.sum(), x)], {x: np.array([1.0, 2.0])}, mode=mode)
    assert [g.tolist() for g in got] == [[1.0, 3.0], [2.0, 1.0]]


MODES = ["FAST_COMPILE", "py", rw.Mode(optimizer=None), rw.Mode().excluding("inplace")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("outer", [None, "py"])
def test_a_loop_with_a_mode_of_its_own(mode: Any, outer: Any) -> None:
    """It is compiled by itself, and so is its gradient; values are the same."""
    x, w, a = pt.dmatrix("x"), pt.dmatrix("w"), RNG.normal(size=(4, 3))

    def outputs(mode: Any) -> list[Any]:
        step = lambda v, h: (pt.tanh(pt.dot(h, w)) + pt.exp(v), until(h.sum() > 100))
        out, _ = scan(step, x, pt.zeros(3), mode=mode, name="own")
        return [out, *rw.grad(out.sum(), [x, w])]

    f = rw.function([x, w], outputs(mode), mode=outer)
    own = [n.op for n in f.fgraph.toposort() if isinstance(n.op, Scan)]
    assert {op.mode for op in own} == {get_mode(mode)}
    assert "exp" in {str(n.op) for op in own for n in op.fgraph.apply_nodes}
    for got, want in zip(f(a, np.eye(3)), run(outputs(None), {x: a, w: np.eye(3)}), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_mode_of_a_loop_that_looks_at_its_values() -> None:
    x = pt.dvector("x")
    safe, _ = scan(lambda v: pt.log(v), x)
    watched, _ = scan(lambda v: pt.log(v) + 1, x, mode=NanGuardMode())
    with pytest.raises(rw.errors.BadValueError, match="NaN in log"):
        run([safe, watched], {x: np.array([1.0, -1.0])})
    assert np.isnan(run(safe, {x: np.array([1.0, -1.0])})[1])
    default, _ = scan(lambda v: pt.log(v), x, mode=get_mode())
    assert default.owner.op.mode is None


def test_many_steps() -> None:
    out, _ = scan(lambda t: t + 1.0, outputs_info=pt.constant(0.0), n_steps=100_000)
    assert rw.function([], out[-1])() == 100_000


# --- errors -----------------------------------------------------------------------------------


def test_wrong_uses() -> None:
    x, s, i = pt.dvector("x"), pt.dscalar("s"), pt.lvector("i")
    zero = pt.constant(0.0)
    with pytest.raises(InputError, match="n_steps is required if there are no sequences"):
        scan(lambda: s)
    with pytest.raises(ShapeError, match="n_steps must not be negative: -1"):
        scan(lambda v: v, x, n_steps=-1)
    with pytest.raises(InputError, match="returns 2 outputs, but outputs_info has 1"):
        scan(lambda v, t: [t, v], x, [zero])
    with pytest.raises(NDimError, match="output 0 has 1 dimension, but its initial value has 0"):
        scan(lambda t: t + x, outputs_info=zero, n_steps=2)
    with pytest.raises(DTypeError, match="output 0 is float64, but its initial value is int64"):
        scan(lambda v, t: t + v, x, pt.constant(0, dtype="int64"))
    with pytest.raises(InputError, match="taps of outputs must be below 0"):
        scan(lambda t: t, outputs_info={"initial": x, "taps": [0]}, n_steps=1)
    shown = scan(lambda a, b: a + b, {"input": x, "taps": np.array([0, 1])})[0]
    assert run(shown, {x: [1.0, 2.0, 3.0]}).tolist() == [3.0, 5.0]
    with pytest.raises(InputError, match="needs an initial value"):
        scan(lambda t: t, outputs_info={"taps": [-1]}, n_steps=1)
    with pytest.raises(NDimError, match="must hold 2 values"):
        scan(lambda a, b: a, outputs_info={"initial": s, "taps": [-2, -1]}, n_steps=1)
    with pytest.raises(NDimError, match="a sequence must have at least one dimension"):
        scan(lambda v: v, s)
    with pytest.raises(OptionError, match="not 'inputs'"):
        scan(lambda v: v, {"inputs": x})
    with pytest.raises(OptionError, match="not 'return_steps'"):
        scan(lambda v, t: t + v, x, {"initial": zero, "return_steps": 1})
    for k in (0, -7):
        with pytest.raises(InputError, match=f"a number of steps, or -1, not {k}"):
            scan(lambda v: v, x, truncate_gradient=k)
    out, _ = scan(lambda v, t: pt.sin(t) + v, x, zero, n_steps=5)
    with pytest.raises(ShapeError, match="sequence 0 has 3 elements, but there are 5 steps"):
        run(out, {x: np.ones(3)})
    out, _ = scan(lambda k: x[k], i)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        run(out, {x: np.ones(3), i: np.array([0, 9])})


def test_wrong_values_of_options() -> None:
    x, flag = pt.dvector("x"), pt.bscalar("flag")
    step = lambda v, t: t + v
    for k in (1.5, True, "a", None, flag, [1]):
        with pytest.raises(
            InputError, match="truncate_gradient must be a number of steps, or -1, not"
        ):
            scan(step, x, 0.0, truncate_gradient=k)  # type: ignore[arg-type]
    wrong = [("go_backwards", v) for v in ("no", None, 1, flag)]
    wrong += [("allow_gc", v) for v in ("yes", 2, flag)]
    for key, value in wrong:
        with pytest.raises(OptionError, match=f"{key} must be True or False, not"):
            scan(step, x, 0.0, **{key: value})
    with pytest.raises(OptionError, match="name must be a str, not int 3"):
        scan(step, x, 0.0, name=3)  # type: ignore[arg-type]
    for right in ({"truncate_gradient": np.int8(2)}, {"go_backwards": np.bool_(True)},
                  {"allow_gc": True}, {"allow_gc": None}, {"name": "sums"}):  # fmt: skip
        options: dict[str, Any] = right
        assert run(scan(step, x, 0.0, **options)[0], {x: np.ones(3)}).tolist() == [1, 2, 3]


def test_wrong_uses_of_options_and_steps() -> None:
    x = pt.dvector("x")
    with pytest.raises(OptionError, match="profile=.* is not supported: pass it to `function`"):
        scan(lambda v: v, x, profile=ProfileStats())
    for profile in (None, True, "the loop"):
        assert run(scan(lambda v: v, x, profile=profile)[0], {x: np.ones(3)}).tolist() == [1, 1, 1]
    with pytest.raises(UnknownNameError, match="no mode or linker is called 'quick'"):
        scan(lambda v: v, x, mode="quick")
    with pytest.raises(InputError, match=r"taps of an output must be distinct, not \[-1, -1\]"):
        scan(lambda a, b: a, outputs_info={"initial": x, "taps": [-1, -1]}, n_steps=1)
    with pytest.raises(InputError, match=r"taps must be integers, not \[0.5\]"):
        scan(lambda a: a, {"input": x, "taps": [0.5]})
    with pytest.raises(InputError, match="a step must be a function, not int 3"):
        scan(3, x)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must return outputs or updates"):
        scan(lambda v: until(v > 3), x)
    for nothing in None, "v", object():
        with pytest.raises(
            ForeignObjectError, match="a step must return variables or numbers, not"
        ):
            scan(lambda v, it=nothing: [v, it], x)
    count = rw.shared(0)
    with pytest.raises(InputError, match="return_updates=False, but the step updates"):
        scan(lambda v: (v, {count: count + 1}), x, return_updates=False)
    with pytest.raises(InputError, match="can update each shared variable only once"):
        scan(lambda v: (v, [(count, count + 1), (count, count + 2)]), x)
    with pytest.raises(UpdateTypeError, match="update of .*int64.* has another type: .*float64"):
        scan(lambda v: (v, {count: count + 0.5}), x)
    with pytest.raises(InputError, match="return_updates=False, but the step updates"):
        reduce(lambda v, t: (v + t, {count: count + 1}), x, 0.0, return_updates=False)
