"""How loops run: what is written for them, against the reference linker; whose memory is whose."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.graph.inner import inner_ops
from rewrite_engine.link import get_linker
from rewrite_engine.link.linker import bodies
from rewrite_engine.loops import Scan, scan, until

RNG = np.random.default_rng(5)


def both(inputs: list[Any], outputs: Any, *values: Any, rtol: float = 0.0) -> Any:
    """Return the results of a function, compared with those of the linker "py": equal bits, or
    within `rtol`.
    """
    kept = [np.copy(v) for v in values]
    found = rw.function(inputs, outputs)(*values)
    wanted = rw.function(inputs, outputs, mode=rw.Mode(linker="py"))(*values)
    for got, other in zip(found, wanted, strict=True):
        assert got.dtype == other.dtype
        np.testing.assert_allclose(got, other, rtol=rtol)
    for v, was in zip(values, kept, strict=True):
        np.testing.assert_array_equal(v, was)
    return found


def loop_text(f: Any) -> str:
    """The lines between `try` and `except` of the one loop of a function."""
    ops = {node.op for node in f.fgraph.apply_nodes if isinstance(node.op, Scan)}
    (op,) = [op for op in inner_ops(ops) if isinstance(op, Scan)]
    text = bodies(op)[get_linker("vm")].source
    return "\n".join(line[8:] for line in text.split("try:")[1].split("except")[0].splitlines())


# --- what is written --------------------------------------------------------------------------


@pytest.mark.on_vm
def test_a_loop_over_numbers_does_nothing_else() -> None:
    x = pt.dvector("x")
    mode = rw.Mode().excluding("loops")
    out, _ = scan(lambda v, t: t + v, x, pt.constant(0.0), name="of its own names")
    f = rw.function([x], out, mode=mode)
    text = loop_text(f).split("for ")[1]
    assert text.splitlines()[1:5] == [
        "    r0 = t + x_t_",
        "    trace_0[t_2] = r0",
        "    t = r0",
        "t = asarray(t)",
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "bool", "complex128"])
def test_numbers_keep_their_dtypes(dtype: str) -> None:
    x, s = pt.vector("x", dtype=dtype), pt.scalar("s", dtype=dtype)
    step = lambda v, t, s: ((v * t + s).astype(dtype), pt.eq(v, t))
    out, _ = scan(step, x, [s, None], s)
    values = (RNG.normal(size=40) * 9).astype(dtype)
    both([x, s], out, values, values[3])


def test_numbers_that_overflow_and_divide_by_zero_give_no_warnings() -> None:
    x, k = pt.dvector("x"), pt.lvector("k")
    out, _ = scan(lambda v, i, t, n: [t / v, n * i], [x, k], [pt.constant(1.0), pt.constant(1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = both([x, k], out, np.array([0.0, -0.0, np.nan]), np.array([2**40, 2**40, 3]))
    assert np.isinf(got[0][0])
    assert np.geterr()["divide"] == "warn"


def test_arrays_numbers_and_views_are_carried_on() -> None:
    m, v, s = pt.dmatrix("m"), pt.dvector("v"), pt.dscalar("s")

    def step(row: Any, a: Any, b: Any, t: Any) -> Any:
        return [b, (row * t)[::-1] + a, row[0] + t, a.sum()]

    out, _ = scan(step, m, [v, v, s, None])
    values = [RNG.integers(-9, 9, size=shape) * 0.5 for shape in ((5, 3), 3, ())]
    both([m, v, s], out, *values)  # (sums of these are exact in any order)


def test_a_sequence_may_be_what_is_carried_on() -> None:
    m, v = pt.dmatrix("m"), pt.dvector("v")
    op = Scan([r := v.type(), a := v.type()], [r, a], 1, 1)
    last, seen = op(3, m, v)
    values = RNG.normal(size=(4, 2))
    f = rw.function([m, v], [last, seen])
    got = f(values, np.zeros(2))
    assert got[0].tolist() == values[2].tolist()
    assert not np.shares_memory(got[0], values)
    np.testing.assert_array_equal(got[1], [np.zeros(2), *values[:2]])


# --- what is overwritten ----------------------------------------------------------------------


def overwritten(f: Any) -> list[str]:
    """The ops that overwrite in the graph of a function's one loop."""
    (op,) = [node.op for node in f.fgraph.apply_nodes if isinstance(node.op, Scan)]
    return sorted(str(node.op) for node in op.fgraph.apply_nodes if node.op.destroy_map)


@pytest.mark.on_vm
def test_what_is_carried_on_is_overwritten() -> None:
    v, i = pt.dvector("v"), pt.lvector("i")
    step = lambda k, a: pt.inc_subtensor(a[k], 1.0)
    counts = scan(step, i, v)[0][-1]
    f = rw.function([v, i], counts)
    assert "copy" not in loop_text(f)
    start = np.zeros(4)
    for _ in range(2):
        assert f(start, [1, 1, 3]).tolist() == [0.0, 2.0, 0.0, 1.0]
        assert start.tolist() == [0.0] * 4
    start.flags.writeable = False
    assert f(start, [2]).tolist() == [0.0, 0.0, 1.0, 0.0]
    state = rw.shared(np.zeros(3))
    g = rw.function([i], scan(step, i, state)[0][-1])
    assert g([0, 0]).tolist() == g([0, 0]).tolist() == [2.0, 0.0, 0.0]
    constant = rw.function([i], scan(step, i, pt.constant(np.zeros(3)))[0][-1])
    assert constant([0, 0]).tolist() == constant([0, 0]).tolist() == [2.0, 0.0, 0.0]


@pytest.mark.on_vm
def test_results_of_earlier_steps_are_left() -> None:
    v, i = pt.dvector("v"), pt.lvector("i")

    def step(k: Any, a: Any) -> Any:
        seen = pt.cos(a[k])
        return [pt.inc_subtensor(a[k], seen), seen]

    out, _ = scan(step, i, [v, None])
    both([v, i], out, np.zeros(2), np.array([0, 1, 0]))
    assert overwritten(rw.function([v, i], out))


@pytest.mark.on_vm
@pytest.mark.parametrize("taps", [[-2], [-3, -1], [-3, -2, -1]])
def test_several_values_take_turns(taps: list[int]) -> None:
    m = pt.dmatrix("m")

    def step(*values: Any) -> Any:
        return pt.inc_subtensor(values[0][0], values[-1][1] + values[0][1])

    out, _ = scan(step, outputs_info={"initial": m, "taps": taps}, n_steps=8)
    both([m], [out, rw.grad(out[-1].sum(), m)], RNG.normal(size=(-min(taps), 3)))
    f = rw.function([m], out)
    assert overwritten(f)
    assert not [line for line in loop_text(f).splitlines() if line[:1] == " " and "copy" in line]


def test_values_that_change_places_and_show_each_other() -> None:
    v, w = pt.dvector("v"), pt.dvector("w")
    steps = [
        lambda a, b: [b, pt.inc_subtensor(a[0], 1.0)],
        lambda a, b: [pt.inc_subtensor(a[0], 1.0), b],
        lambda a, b: [b[::-1], pt.inc_subtensor(b[0], 1.0)],
        lambda a, b: [a, pt.inc_subtensor(a[0], b[0])],
        lambda a, b: [(c := pt.inc_subtensor(a[0], 1.0)), c[::-1]],
        lambda a, b: [pt.inc_subtensor(a[1], 1.0), w],
        lambda a, b: [w, pt.inc_subtensor(b[1], a[0])],
    ]
    for step in steps:
        both_read = lambda a, b, step=step: [*step(a, b), 2 * a, 2 * b]
        out, _ = scan(both_read, outputs_info=[v, w, None, None], n_steps=5)
        last = [value[-1] for value in out]
        values = np.array([1.0, 2.0]), np.array([5.0, 7.0])
        found = both([v, w], [*out, *last], *values)
        for k, value in enumerate(found):
            assert not any([np.shares_memory(value, other) for other in (*found[:k], *values)])


def test_values_that_a_choice_shows_are_several() -> None:
    """What takes the place of one that is overwritten is ours, whatever it shares a branch with."""
    v, w, u, x = pt.dvector("v"), pt.dvector("w"), pt.dvector("u"), pt.dvector("x")

    def step(k: Any, a: Any, b: Any, c: Any) -> Any:
        seen = pt.tanh(pt.dot(chosen := rw.ifelse(k > 0, b, c), chosen))
        return [b, pt.inc_subtensor(a[0], k), seen * pt.sin(b)]

    values = {v: np.array([1.0, 2.0]), w: np.array([5.0, 7.0]), u: np.array([0.5, -1.0])}
    for names in ([v, w, u], [v, v, v], [u, v, v]):
        for order in itertools.permutations(range(3)):
            turned = lambda k, *own, order=order: [
                step(k, *[own[order.index(i)] for i in range(3)])[i] for i in order
            ]
            out, _ = scan(turned, x, names)
            given = list(dict.fromkeys(names))
            last = [value[-1] for value in out]
            numbers = np.array([1.0, -1.0, 2.0]), *[values[g] for g in given]
            # (how a dot product is rounded depends on the processor)
            both([x, *given], [*out, *last], *numbers, rtol=1e-14)


def test_what_may_be_somebody_elses_is_left() -> None:
    """What is carried on is overwritten, or is what is the same in all steps."""
    v, w, k = pt.dvector("v"), pt.dvector("w"), pt.lvector("k")
    step = lambda i, a: rw.ifelse(pt.eq(i % 2, 0), pt.inc_subtensor(a[0], 1.0), w)
    out, _ = scan(step, k, v)
    both([v, w, k], [out, out[-1]], np.zeros(2), np.ones(2), np.array([0, 1, 0, 0, 1, 0]))


def test_generators_are_copied_once() -> None:
    state = rw.shared(np.random.default_rng(7))

    def fn() -> Any:
        after, draw = pt.random.normal(rng=state, return_next_rng=True)
        return draw, {state: after}

    out, updates = scan(fn, n_steps=3)
    f = rw.function([], out, updates=updates)
    wanted = np.random.default_rng(7).normal(size=6)
    np.testing.assert_array_equal([*f(), *f()], wanted)
    g = rw.function([], out)
    np.testing.assert_array_equal(g(), g())


# --- sizes ------------------------------------------------------------------------------------


def test_many_nodes_in_a_step() -> None:
    x = pt.dvector("x")

    def step(v: Any, t: Any) -> Any:
        for k in range(1200):
            t = pt.sin(t * v + k)
        return t

    out, _ = scan(step, x, pt.constant(0.5))
    both([x], [out], RNG.normal(size=3))


@pytest.mark.on_vm
def test_large_temporaries() -> None:
    x, w = pt.dmatrix("x"), pt.dvector("w")
    out, _ = scan(lambda r, a, w: (pt.exp(r) * pt.sin(a)).sum() * w + a / 3, x, w, w)
    values = RNG.normal(size=(4, 40_000)), RNG.normal(size=40_000)
    both([x, w], [out, rw.grad(out[-1].sum(), x)], *values)


def test_steps_that_nobody_counts() -> None:
    x = pt.dscalar("x")
    (total, count), _ = scan(
        lambda t, n: ([t + x, n + 1], until(t > 500)),
        outputs_info=[pt.constant([0.0, 1.0])[0], pt.constant(0)], n_steps=10**12,
    )  # fmt: skip
    got = both([x], [total, count], 2.0)
    assert got[1].tolist() == list(range(1, 253))


def test_functions_of_a_loop_run_at_once() -> None:
    """A loop that is called inside of itself: two calls share nothing."""
    x = pt.dvector("x")
    f = rw.function([x], scan(lambda v, t: t * v + 1, x, pt.constant(1.0))[0])
    first = f([1.0, 2.0])
    second = f([3.0, 4.0])
    assert first.tolist() == [2.0, 5.0]
    assert second.tolist() == [4.0, 17.0]


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_where_a_step_failed(mode: str) -> None:
    x, i = pt.dvector("x"), pt.lvector("i")
    out, _ = scan(lambda k, t: t + x[k], i, pt.constant(0.0), name="lookup")
    f = rw.function([x, i], out, mode=mode)
    for at in (0, 1, 17):
        with pytest.raises(rw.errors.AxisError, match="index 9 is out of bounds") as found:
            f(np.ones(3), np.array([0] * at + [9] * 3))
        assert "test_running.py" in str(found.value)
        told = "\n".join([str(found.value), *found.value.__notes__])
        assert re.search(rf"in step t={at} of '?lookup", told), told
    rows, _ = scan(lambda v: scan(lambda k, t: t + v[k], i, pt.constant(0.0), name="inner")[0],
                   pt.outer(x, x), name="outer")  # fmt: skip
    f = rw.function([x, i], rows, mode=rw.Mode(mode).excluding("loops"))
    with pytest.raises(rw.errors.AxisError) as found:
        f(np.ones(3), np.array([0, 9]))
    told = "\n".join([str(found.value), *found.value.__notes__])
    assert re.findall(r"in step t=(\d) of '?(inner|outer)", told) == [
        ("1", "inner"),
        ("0", "outer"),
    ]


def test_errors_of_lengths_in_a_step() -> None:
    x = pt.dvector("x")
    m = pt.dmatrix("m")
    f = rw.function([m, x], scan(lambda r, t: pt.sin(t) + r, m, x)[0])
    with pytest.raises(rw.errors.BroadcastError, match=r"cannot broadcast|do not fit"):
        f(np.ones((2, 3)), np.ones(4))


@pytest.mark.parametrize("mode", ["vm", "py"])
@pytest.mark.parametrize("stop", [False, True])
def test_results_have_one_shape(mode: str, stop: bool) -> None:
    v, k = pt.dvector("v"), pt.lvector("k")

    def step(i: Any, a: Any) -> Any:
        part = a[:i]
        return [part, part.sum()], until(part.sum() < 0) if stop else None

    out, _ = scan(step, k, [v, None])
    f = rw.function([v, k], out, mode=mode)
    assert f([1.0, 2.0, 3.0], [2, 3, 2])[0].tolist() == [[1.0, 2.0]] * 3
    for lengths in [3, 1], [3, 3, 2]:
        what = (
            rf"result 0 must have one shape in all steps, but has \(3,\) in the first and "
            rf"\({lengths[-1]},\) in a later"
        )
        with pytest.raises(rw.errors.ShapeError, match=what):
            f([1.0, 2.0, 3.0], lengths)


@pytest.mark.on_vm
def test_lengths_of_what_is_carried_on_are_compared_without_a_call() -> None:
    m, w = pt.dmatrix("m"), pt.dmatrix("w")
    f = rw.function([m, w], scan(lambda r, h: pt.tanh(pt.dot(h, w) + r), m, pt.zeros(3))[0])
    assert re.search(r"= (\w+) if \1\.shape\[0\] == 3 else SpecifyShape\(\1\)\n", loop_text(f))
    assert f(np.zeros((2, 3)), np.ones((3, 3))).tolist() == [[0.0] * 3] * 2
    with pytest.raises(rw.errors.ShapeError, match="it must be 3"):
        f(np.ones((2, 4)), np.ones((3, 4)))


@pytest.mark.on_vm
def test_shapes_that_cannot_change_are_not_compared() -> None:
    m, h, w = pt.dmatrix("m"), pt.dvector("h"), pt.dmatrix("w")
    f = rw.function([m, h, w], scan(lambda r, h: pt.tanh(pt.dot(h, w) + r), m, h)[0])
    assert "uneven" not in loop_text(f)


@pytest.mark.parametrize("known", [True, False])
def test_what_no_step_gives_has_the_lengths_that_its_type_knows(known: bool) -> None:
    start, n = pt.dvector("start"), pt.lscalar("n")
    steps = 0 if known else n
    out = scan(lambda s: s + pt.constant(np.ones(3)), None, start, n_steps=steps)[0]
    found = both([start, n], [out, out.shape[1], out.sum(axis=0), n], np.ones(4), 0)
    assert [np.shape(v) for v in found[:3]] == [(0, 3), (), (3,)]
    assert found[1] == 3


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", rw.Mode(optimizer=None, linker="py")])
@pytest.mark.parametrize("known", [True, False])
def test_what_no_step_gives_has_the_lengths_that_a_step_would_give(
    n: int, mode: Any, known: bool, capsys: Any
) -> None:
    """Where these follow from the lengths of what the loop is given: sums are zeros then."""
    m, w, v, k = pt.dmatrix("m"), pt.dmatrix("w"), pt.dvector("v"), pt.lscalar("k")
    step = lambda row, t, v, w: [
        t * 2, pt.dot(row, w), pt.outer(t, v), v * 2, pt.concatenate([row, v]),
        pt.Print("a step")(v.cumsum()) if n == 0 else v, t[:2] + pt.log(v[-1]),
    ]  # fmt: skip
    steps = n if known else pt.lscalar("n")
    found, _ = scan(step, m, [v + 1, *[None] * 6], [v, w], n_steps=steps)
    zeros, _ = scan(lambda k: pt.zeros((k + 1,)), None, None, k, n_steps=steps)
    found.append(zeros)
    inputs = [m, w, v, k, *([] if known else [steps])]
    given = [np.ones((2, 3)), np.ones((3, 4)), np.ones(5), 6, *([] if known else [n])]
    f = rw.function(inputs, [*found, *[out.sum(axis=0) for out in found]], mode=mode)
    shapes = [np.shape(out) for out in f(*given)]
    wanted = [(5,), (4,), (5, 5), (5,), (8,), (5,), (2,), (7,)]
    assert shapes[8:] == wanted
    assert shapes[:8] == [(n, *shape) for shape in wanted]
    slopes = rw.grad(sum((out**2).sum() for out in found), [m, w, v])
    g = rw.function(inputs, slopes, mode=mode, on_unused_input="ignore")
    assert [np.shape(x) for x in g(*given)] == [(2, 3), (3, 4), (5,)]
    assert not capsys.readouterr().out


def test_lengths_that_nothing_tells_of_no_step() -> None:
    x, k = pt.dmatrix("x"), pt.lvector("k")
    out = scan(lambda row, k: row[:k].cumsum(), [x, k], return_updates=False)
    f = rw.function([x, k], out, mode=rw.Mode(linker="py"))
    assert f(np.ones((1, 3)), [2]).shape == (1, 2)
    assert f(np.ones((0, 3)), np.ones(0, int)).shape == (0, 0)


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", rw.Mode(optimizer=None, linker="py")])
def test_loops_of_no_steps_in_loops(mode: Any) -> None:
    """Also of a step that has a loop itself, of which only lengths are needed."""
    x, v, n, k = pt.dvector("x"), pt.dvector("v"), pt.lscalar("n"), pt.lscalar("k")
    inmost = lambda a: scan(lambda b: pt.sin(b * a * v).cumsum(), x, return_updates=False).sum(0)
    inner = lambda a: scan(lambda: inmost(a) * a, n_steps=k, return_updates=False).sum(axis=0)
    out = scan(inner, x, n_steps=n, return_updates=False)
    slopes = rw.grad((out**2).sum() + out.sum(), [x, v])
    f = rw.function([x, v, n, k], [out, *slopes], mode=mode)
    for steps, each in ((2, 0), (0, 2), (0, 0)):
        result, of_x, of_v = f([0.5, 0.7], [1.0, 2.0, 3.0], steps, each)
        assert result.tolist() == [[0.0] * 3] * steps
        assert result.shape == (steps, 3)
        assert (of_x.tolist(), of_v.tolist()) == ([0.0] * 2, [0.0] * 3)
    a = [
        sum(np.sin(b * s * np.array([1.0, 2, 3])).cumsum() for b in (0.5, 0.7)) for s in (0.5, 0.7)
    ]
    wanted = np.array([2 * a[0] * 0.5, 2 * a[1] * 0.7])
    np.testing.assert_allclose(f([0.5, 0.7], [1.0, 2.0, 3.0], 2, 2)[0], wanted)


@pytest.mark.parametrize("n", [0, 1])
def test_lengths_of_a_value_that_grows(n: int) -> None:
    """Of no steps there are those of the first value, told or read."""
    start, steps = pt.dvector("start"), pt.lscalar("n")
    step = lambda t: [pt.concatenate([t, [1.0]]), t.sum()]
    grown, sums = scan(step, None, [start, None], n_steps=steps, return_updates=False)
    found = both([start, steps], [grown, grown.shape[1], sums], np.ones(3), n)
    assert found[0].shape == (n, 3 + n)
    assert found[1] == 3 + n
    told = rw.function([start, steps], [grown.shape[1], sums], mode="FAST_COMPILE")
    assert told(np.ones(3), n)[0] == 3 + n
