"""What the documentation of scan says, in PyTensor, Aesara and Theano: their examples, restated,
beside loops of Python, and each sentence on the arguments of `scan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import scan
from rewrite_engine.errors import (
    DTypeError,
    InputError,
    MissingInputError,
    NDimError,
    OptionError,
    ShapeError,
)
from rewrite_engine.gradient import grad
from rewrite_engine.loops import foldl, foldr, map, reduce, until

RNG = np.random.default_rng(42)
x, a = pt.dvector("x"), pt.dscalar("a")
zero = pt.constant(0.0)


def run(outputs: Any, values: dict[Any, Any], **options: Any) -> Any:
    return rw.function(list(values), outputs, on_unused_input="ignore", **options)(*values.values())


# --- the examples -----------------------------------------------------------------------------


def test_powers_of_the_elements_of_a_vector() -> None:
    k = pt.iscalar("k")
    powers, updates = scan(
        lambda p, base: p * base, outputs_info=pt.ones_like(x), non_sequences=x, n_steps=k
    )
    assert updates == {}
    f = rw.function([x, k], powers[-1])
    for n in (1, 2, 4):
        assert f(np.arange(10.0), n).tolist() == [float(i**n) for i in range(10)]


def test_a_polynomial() -> None:
    terms, _ = scan(
        lambda c, n, at: c * at**n, sequences=[x, pt.arange(10_000)], outputs_info=None,
        non_sequences=a,
    )  # fmt: skip
    f = rw.function([x, a], terms.sum())
    assert f([1.0, 0.0, 2.0], 3.0) == 19
    assert f([], 3.0) == 0
    horner, _ = foldr(lambda c, total, at: total * at + c, x, zero, a)
    assert rw.function([x, a], horner)([1.0, 0.0, 2.0], 3.0) == 19


def test_triangular_numbers() -> None:
    n = pt.iscalar("n")
    numbers = pt.arange(n)
    start = pt.as_tensor_variable(np.asarray(0, numbers.dtype))
    sums, _ = scan(lambda i, total: total + i, numbers, start)
    got = rw.function([n], sums)(15)
    assert got.tolist() == [i * (i + 1) // 2 for i in range(15)]
    assert got.dtype == numbers.dtype
    with pytest.raises(DTypeError, match="output 0 is int64, but its initial value is int8"):
        scan(lambda i, total: total + i, pt.arange(15), pt.constant(np.int8(0)))


def test_values_written_at_places() -> None:
    places, values, like = pt.imatrix("places"), pt.vector("values"), pt.matrix("like")
    out, _ = scan(
        lambda p, v, m: pt.set_subtensor(pt.zeros_like(m)[p[0], p[1]], v),
        sequences=[places, values], outputs_info=None, non_sequences=like,
    )  # fmt: skip
    at = np.array([[1, 1], [2, 3]], "int32")
    got = rw.function([places, values, like], out)(at, [42.0, 50.0], np.zeros((5, 5)))
    wanted = np.zeros((2, 5, 5))
    wanted[0, 1, 1], wanted[1, 2, 3] = 42, 50
    np.testing.assert_array_equal(got, wanted)


def test_a_layer_at_each_row_and_a_recurrence_with_two_sequences() -> None:
    w, b, u, v = pt.dmatrix("w"), pt.dvector("b"), pt.dmatrix("u"), pt.dmatrix("v")
    rows, back = pt.dmatrix("rows"), pt.dmatrix("back")
    layer, _ = scan(lambda r: pt.tanh(pt.dot(r, w) + b), rows)
    chain, _ = scan(
        lambda y, p, h: pt.tanh(pt.dot(h, w) + pt.dot(y, u) + pt.dot(p, v)), [rows, back[::-1]], [x]
    )
    values = {v_: RNG.normal(size=s) / 2 for v_, s in
              [(w, (2, 2)), (b, 2), (u, (3, 2)), (v, (3, 2)), (back, (5, 3)), (x, 2)]}  # fmt: skip
    small = RNG.normal(size=(4, 2))
    np.testing.assert_allclose(
        run(layer, values | {rows: small}), np.tanh(small @ values[w] + values[b])
    )
    wide = RNG.normal(size=(5, 3))
    h, wanted = values[x], []
    for t in range(5):
        h = np.tanh(h @ values[w] + wide[t] @ values[u] + values[back][4 - t] @ values[v])
        wanted.append(h)
    np.testing.assert_allclose(run(chain, values | {rows: wide}), wanted)


def test_norms_of_rows_and_columns_and_a_trace() -> None:
    m = pt.dmatrix("m")
    norm = lambda r: pt.sqrt((r**2).sum())
    rows, columns = map(norm, [m])[0], map(norm, [m.T])[0]
    trace, _ = scan(
        lambda i, j, t: pt.cast(m[i, j] + t, "float32"),
        [pt.arange(m.shape[0]), pt.arange(m.shape[1])], np.asarray(0.0, "float32"),
    )  # fmt: skip
    at = np.diag(np.arange(1.0, 6.0), 1) + np.eye(6)
    got = run([rows, columns, trace[-1]], {m: at})
    np.testing.assert_allclose(got[0], np.sqrt((at**2).sum(1)))
    np.testing.assert_allclose(got[1], np.sqrt((at**2).sum(0)))
    assert got[2] == 6
    assert got[2].dtype == "float32"


def test_a_recurrence_of_two_steps_back() -> None:
    start, u, v, w, b = pt.dmatrix("start"), *pt.dmatrices("u", "v", "w"), pt.dvector("b")
    n = pt.iscalar("n")
    out, _ = scan(
        lambda p, q: pt.dot(p, u) + pt.dot(q, v) + pt.tanh(pt.dot(q, w) + b),
        outputs_info=[{"initial": start, "taps": [-2, -1]}], n_steps=n,
    )  # fmt: skip
    half = np.full((2, 2), 0.5)
    at = {start: np.array([[0.0, 0.0], [0.0, 1.0]]), u: half - np.eye(2) / 2, v: half, w: half,
          b: np.ones(2), n: 10}  # fmt: skip
    past = [*at[start]]
    for _ in range(10):
        p, q = past[-2:]
        past.append(p @ at[u] + q @ at[v] + np.tanh(q @ at[w] + at[b]))
    np.testing.assert_allclose(run(out, at), past[2:])


def test_a_jacobian_row_by_row() -> None:
    m = pt.dmatrix("m")
    y = pt.tanh(pt.dot(x, m))
    rows, _ = scan(lambda i: grad(y[i], x), sequences=pt.arange(y.shape[0]))
    at, weights = RNG.normal(size=5), RNG.normal(size=(5, 3))
    wanted = ((1 - np.tanh(at @ weights) ** 2) * weights).T
    np.testing.assert_allclose(run(rows, {m: weights, x: at}), wanted)


def test_steps_are_counted_in_a_shared_variable() -> None:
    n, count = pt.iscalar("n"), rw.shared(1, "count")
    values, updates = scan(lambda: {count: count + 1}, n_steps=n)
    assert values == []
    f = rw.function([n], [count + 1, updates[count] + 1], updates=updates)
    assert [int(v) for v in f(10)] == [2, 12]
    assert [int(v) for v in f(10)] == [12, 22]
    assert count.get_value() == 21
    still = rw.function([n], [count + 1, updates[count] + 1])
    for _ in range(2):
        assert [int(v) for v in still(10)] == [22, 32]


def test_noise_that_all_steps_share() -> None:
    rows, w, b = pt.dmatrix("rows"), pt.dmatrix("w"), pt.dvector("b")
    state = rw.shared(np.random.default_rng(1234))
    after, noise = pt.random.binomial(1, 0.5, size=(2,), rng=state, return_next_rng=True)
    out = scan(lambda r: pt.tanh(pt.dot(r, w) + b) * noise, rows, return_updates=False)
    f = rw.function([rows, w, b], out, updates={state: after})
    at, ones = np.eye(10, 2), np.ones((2, 2))
    generator = np.random.default_rng(1234)
    for _ in range(2):
        drawn = generator.binomial(1, 0.5, size=2)
        np.testing.assert_allclose(f(at, ones, np.ones(2)), np.tanh(at @ ones + 1) * drawn)


WEIGHTS = RNG.normal(size=(3, 2)), RNG.normal(size=3), RNG.normal(size=2)


def gibbs(generator: Any, visible: Any, steps: int) -> list[Any]:
    """Samples by a loop of Python."""
    w, b_visible, b_hidden = WEIGHTS
    found = []
    logistic = lambda v: 1 / (1 + np.exp(-v))
    for _ in range(steps):
        hidden = generator.binomial(1, logistic(visible @ w + b_hidden))
        visible = generator.binomial(1, logistic(hidden @ w.T + b_visible))
        found.append(visible)
    return found


@pytest.mark.parametrize("strict", [False, True])
def test_gibbs_sampling(strict: bool) -> None:
    w, b_visible, b_hidden = (rw.shared(v) for v in WEIGHTS)
    state, sample = rw.shared(np.random.default_rng(9)), pt.lvector("sample")

    def step(rng: Any, v: Any, *_: Any) -> Any:
        p = pt.sigmoid(pt.dot(v, w) + b_hidden)
        rng, hidden = pt.random.binomial(1, p, rng=rng, return_next_rng=True)
        q = pt.sigmoid(pt.dot(hidden, w.T) + b_visible)
        return pt.random.binomial(1, q, rng=rng, return_next_rng=True)

    options: dict[str, Any] = {"outputs_info": [state, sample], "n_steps": 10}
    if strict:
        with pytest.raises(MissingInputError, match="not among its arguments"):
            scan(step, **options, strict=True)

        def named(rng: Any, v: Any, w: Any, b_visible: Any, b_hidden: Any) -> Any:
            p = pt.sigmoid(pt.dot(v, w) + b_hidden)
            rng, hidden = pt.random.binomial(1, p, rng=rng, return_next_rng=True)
            q = pt.sigmoid(pt.dot(hidden, w.T) + b_visible)
            return pt.random.binomial(1, q, rng=rng, return_next_rng=True)

        options |= {"non_sequences": [w, b_visible, b_hidden], "strict": True}
        last, values = scan(named, **options, return_updates=False)
    else:
        last, values = scan(step, **options, return_updates=False)
    f = rw.function([sample], values, updates={state: last})
    generator, start = np.random.default_rng(9), np.array([1, 0, 1])
    for _ in range(2):
        assert f(start).tolist() == [v.tolist() for v in gibbs(generator, start, 10)]


def test_a_network_with_several_taps_and_outputs() -> None:
    u, x0, y0 = pt.dmatrix("u"), pt.dmatrix("x0"), pt.dvector("y0")
    names = ["w", "in_1", "in_2", "feedback", "out"]
    w, in_1, in_2, feedback, out = weights = [pt.dmatrix(name) for name in names]

    def step(u_4: Any, u_0: Any, x_3: Any, x_1: Any, y_1: Any, *weights: Any) -> Any:
        w, in_1, in_2, feedback, out = weights
        inputs = pt.dot(u_0, in_1) + pt.dot(u_4, in_2)
        return [pt.tanh(pt.dot(x_1, w) + inputs + pt.dot(y_1, feedback)), pt.dot(x_3, out)]

    (xs, ys), _ = scan(
        step, sequences={"input": u, "taps": [-4, -0]},
        outputs_info=[{"initial": x0, "taps": [-3, -1]}, y0], non_sequences=weights, strict=True,
    )  # fmt: skip
    sizes = [(3, 3), (2, 3), (2, 3), (1, 3), (3, 1)]
    at = {v: RNG.normal(size=s) / 2 for v, s in zip(weights, sizes, strict=True)}
    at |= {u: RNG.normal(size=(9, 2)), x0: RNG.normal(size=(3, 3)), y0: RNG.normal(size=1)}
    past, feed = [*at[x0]], [at[y0]]
    for t in range(4, 9):
        reads = at[u][t] @ at[in_1] + at[u][t - 4] @ at[in_2]
        new = np.tanh(past[-1] @ at[w] + reads + feed[-1] @ at[feedback])
        feed.append(past[-3] @ at[out])
        past.append(new)
    got = run([xs, ys], at)
    np.testing.assert_allclose(got[0], past[3:])
    np.testing.assert_allclose(got[1], feed[1:])


def test_powers_of_two_up_to_a_limit() -> None:
    values, _ = scan(
        lambda p, most: (p * 2, until(p * 2 > most)), outputs_info=pt.constant(1.0),
        non_sequences=a, n_steps=1024,
    )  # fmt: skip
    f = rw.function([a], values)
    assert f(45.0).tolist() == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    assert f(0.0).tolist() == [2.0]
    with pytest.raises(InputError, match="n_steps is required if there are no sequences"):
        scan(lambda p: (p * 2, until(p > 3)), outputs_info=pt.constant(1.0))


def test_kin_of_scan() -> None:
    y = pt.dvector("y")
    at = {x: np.array([1.0, 2.0, 3.0]), y: np.array([4.0, 5.0, 6.0])}
    both = lambda v, w, t: t + v * w
    outputs = [
        map(lambda v, w: v - w, [x, y])[0],
        map(lambda v, k: v * k, x, a, go_backwards=True, name="scaled")[0],
        reduce(both, [x, y], zero)[0],
        reduce(lambda v, t: pt.maximum(v, t), x, pt.constant(-np.inf), go_backwards=True)[0],
        foldl(lambda v, t: 10 * t + v, x, zero)[0],
        foldr(lambda v, t: 10 * t + v, x, zero)[0],
    ]
    got = run(outputs, at | {a: 2.0})
    wanted = [[-3.0, -3.0, -3.0], [6.0, 4.0, 2.0], 32.0, 3.0, 123.0, 321.0]
    assert [np.asarray(g).tolist() for g in got] == wanted


# --- what is said of the arguments --------------------------------------------------------------


def test_what_is_used_inside_is_found() -> None:
    w = pt.dmatrix("w")
    squared = w**2
    out, _ = scan(lambda r: pt.dot(r, squared), sequences=w)
    at = RNG.normal(size=(3, 3))
    np.testing.assert_allclose(run(out, {w: at}), at @ at**2)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("as_pairs", [False, True])
def test_outputs_and_updates_in_any_order_and_one_of_them(
    order: tuple[int, int], as_pairs: bool
) -> None:
    count = rw.shared(np.int64(0))
    rules = [(count, count + 1)] if as_pairs else {count: count + 1}
    out, updates = scan(lambda v: tuple([([v, v * 2], rules)[i] for i in order]), x)
    f = rw.function([x], out, updates=updates)
    assert [g.tolist() for g in f([1.0, 2.0])] == [[1.0, 2.0], [2.0, 4.0]]
    assert count.get_value() == 2
    assert scan(lambda v: v, x)[1] == {}
    assert scan(lambda v: rules, x)[0] == []


def test_all_three_may_be_returned() -> None:
    count = rw.shared(np.int64(0))
    (p, q), updates = scan(
        lambda v, w: ([v + 1, w * 2], {count: count + 1}, until(v > 3)),
        outputs_info=[pt.constant(0.0), pt.constant(1.0)], n_steps=10,
    )  # fmt: skip
    got = rw.function([], [p, q], updates=updates)()
    assert [g.tolist() for g in got] == [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 8.0, 16.0, 32.0]]
    assert count.get_value() == 5


def test_taps_of_an_initial_value_stand_as_in_an_array_cut_in_two() -> None:
    numbers = np.arange(5.0)
    out, _ = scan(lambda e, b, d: 100 * e + 10 * b + d, outputs_info={"initial": x,
                  "taps": [-5, -2, -1]}, n_steps=1)  # fmt: skip
    assert run(out, {x: numbers}).tolist() == [100 * 0 + 10 * 3 + 4]


@pytest.mark.parametrize("info", [None, [], [None], [{}], {}, {"taps": None}, {"initial": None}])
def test_outputs_without_earlier_values(info: Any) -> None:
    out, _ = scan(lambda v: v * 2, x, outputs_info=info)
    assert run(out, {x: np.array([1.0, 2.0])}).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("info", [a, {"initial": a}, {"initial": a, "taps": [-1]}, [a]])
def test_forms_of_one_earlier_value(info: Any) -> None:
    out, _ = scan(lambda v, t: v + t, x, outputs_info=info)
    assert run(out, {x: np.array([1.0, 2.0]), a: 1.0}).tolist() == [2.0, 4.0]


def test_numbers_of_steps() -> None:
    k = pt.lscalar("k")
    at = {x: np.array([1.0, 2.0, 3.0])}
    for n in (0, 2, 3):
        for given_n in (n, pt.constant(n), k):
            out, _ = scan(lambda v: v * 2, x, n_steps=given_n)
            assert run(out, at | {k: n}).tolist() == [2.0, 4.0, 6.0][:n]
    backwards, _ = scan(lambda v: v, x, n_steps=2, go_backwards=True)
    assert run(backwards, at).tolist() == [3.0, 2.0]
    with pytest.raises(ShapeError):
        run(scan(lambda v: v, x, n_steps=k)[0], at | {k: 4})
    with pytest.raises(ShapeError, match="negative"):
        run(scan(lambda v: v, x, n_steps=k)[0], at | {k: -1})


def test_names_lists_and_updates() -> None:
    out, updates = scan(lambda v: v, x, name="copies", return_list=True)
    assert len(out) == 1
    assert isinstance(updates, dict)
    assert str(out[0].owner.op) == "copies"
    assert scan(lambda v: v, x, return_updates=False).type == x.type


# --- wrong uses -------------------------------------------------------------------------------


def test_steps_that_take_something_else() -> None:
    with pytest.raises(
        InputError, match=r"takes 2 arguments \(v, total\), but receives 1"
    ) as error:
        scan(lambda v, total: total + v, x)
    assert "needs an initial value in outputs_info" in str(error.value)
    with pytest.raises(InputError, match=r"takes 1 argument \(v\), but receives 3") as error:
        scan(lambda v: v, [x], [zero], [a])
    text = "1 of sequences, 1 of earlier values, 1 of non_sequences"
    assert text in str(error.value)
    out, _ = scan(lambda *args: args[0] + args[1], x, non_sequences=a)
    assert run(out, {x: np.ones(1), a: 2.0}).tolist() == [3.0]


def test_steps_that_return_something_else() -> None:
    with pytest.raises(InputError, match="returns 1 outputs, but outputs_info has 2"):
        scan(lambda v, s, t: s + t, x, [zero, zero])
    with pytest.raises(InputError, match="returns 2 outputs, but outputs_info has 1"):
        scan(lambda v, t: [t, v], x, zero)
    with pytest.raises(InputError, match="updates must be for shared variables, not x"):
        scan(lambda v: (v, {x: x + 1}), x)
    with pytest.raises(InputError, match="one until"):
        scan(lambda p: (p, until(p > 1), until(p > 2)), outputs_info=zero, n_steps=2)
    with pytest.raises(TypeError, match="'a'"):
        scan(lambda v: "a", x)


def test_states_that_do_not_fit() -> None:
    with pytest.raises(DTypeError, match="output 0 is float64, but its initial value is float32"):
        scan(lambda v, t: t + v, x, pt.constant(np.float32(0)))
    with pytest.raises(NDimError, match="output 0 has 1 dimension, but its initial value has 0"):
        scan(lambda t: x * t, outputs_info=zero, n_steps=2)
    with pytest.raises(ShapeError, match=r"output 1 has the shape \(4,\), but its initial"):
        scan(lambda s, t: [s, pt.join(0, t, t)], outputs_info=[zero, pt.zeros(2)], n_steps=2)
    taps = {"taps": [-3, -1]}
    with pytest.raises(
        ShapeError, match=r"of output 0 holds 2 values, but its taps \[-3, -1\] need 3"
    ):
        scan(lambda s, t: s + t, outputs_info={"initial": pt.zeros(2), **taps}, n_steps=2)
    out, _ = scan(lambda s, t: s + t, outputs_info={"initial": x, **taps}, n_steps=2)
    with pytest.raises(ShapeError, match=r"must hold at least 3 values[\s\S]*test_tutorials.py"):
        run(out, {x: np.zeros(2)})
    state = rw.shared(np.random.default_rng(1))
    with pytest.raises(InputError, match="a state, so it needs an initial value"):
        scan(lambda v: [v, state], x)


def test_sequences_that_are_too_short() -> None:
    with pytest.raises(ShapeError, match="sequence 0 has 2 elements, but there are 5 steps"):
        scan(lambda v: v, pt.zeros(2), n_steps=5)
    with pytest.raises(ShapeError, match="sequence 1 has 1 elements, but there are 2 steps"):
        scan(lambda v, w, u: v, [pt.zeros(4), {"input": pt.zeros(3), "taps": [0, 2]}], n_steps=2)
    out, _ = scan(lambda v, t: v + t, x, zero, n_steps=5)
    with pytest.raises(ShapeError):
        run(out[-1], {x: np.ones(3)})
    with pytest.raises(OptionError, match="a dict must have the keys"):
        scan(lambda v: v, {"input": x, "tap": [0]})


# --- any taps, directions, numbers of steps, dtypes and outputs ---------------------------------

DTYPES = st.sampled_from(["float64", "float32", "int64", "int8", "bool", "complex128"])
TAPS = st.lists(st.integers(-2, 2), min_size=1, max_size=2, unique=True)
PAST = st.lists(st.integers(-3, -1), max_size=2, unique=True)


def values(dtype: str, n: int) -> Any:
    return (RNG.normal(size=n) * 3).astype(dtype)


def chosen(outs: Any, args: list[Any], cast: Any) -> list[Any]:
    """The outputs of a step: each is one of the arguments in its dtype, or a number."""
    found = enumerate(outs)
    return [cast(args[(j * 3 + 1) % len(args)] if args else 1, d) for j, (_, d) in found]


def symbolic(v: Any, d: str) -> Any:
    v = pt.as_tensor_variable(v)
    return (pt.real(v) if v.dtype == "complex128" != d else v).astype(d)


def numeric(v: Any, d: str) -> Any:
    v = np.asarray(v)
    return (v.real if d != "complex128" else v).astype(d)


def expected(reads: Any, sequences: Any, outs: Any, starts: Any, n: int, backwards: bool) -> Any:
    """The outputs of n steps, by a loop of Python."""
    rows = [[] if s is None else list(s) for s in starts]
    for t in range(n):
        args = []
        for s, (taps, _) in zip(sequences, reads, strict=True):
            low = min([0, *taps])
            args += [s[(n - 1 - t if backwards else t) + tap - low] for tap in taps]
        args += [rows[j][tap] for j, (taps, _) in enumerate(outs) for tap in taps]
        for row, value in zip(rows, chosen(outs, args, numeric), strict=True):
            row.append(value)
    return [np.array(row[len(row) - n :], d) for row, (_, d) in zip(rows, outs, strict=True)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(TAPS, DTYPES), max_size=2),
    st.lists(st.tuples(PAST, DTYPES), min_size=1, max_size=3),
    st.integers(0, 4), st.booleans(), st.sampled_from(["vm", "py"]), st.integers(1, 7),
)  # fmt: skip
def test_any_loop(reads: Any, outs: Any, n: int, backwards: bool, mode: str, shown: int) -> None:
    """shown: by its bits, which outputs are asked for."""
    width = [max([0, *taps]) - min([0, *taps]) for taps, _ in reads]
    sequences = [values(d, n + w) for (_, d), w in zip(reads, width, strict=True)]
    starts = [values(d, -min(taps)) if taps else None for taps, d in outs]
    xs = [pt.vector(dtype=d) for _, d in reads]
    ss = [None if s is None else pt.vector(dtype=s.dtype) for s in starts]
    infos = [
        None if s is None else {"initial": s, "taps": taps} if taps != [-1] else s[0]
        for s, (taps, _) in zip(ss, outs, strict=True)
    ]
    found, _ = scan(
        lambda *args: chosen(outs, [*args], symbolic),
        [{"input": v, "taps": taps} for v, (taps, _) in zip(xs, reads, strict=True)],
        infos, n_steps=n, go_backwards=backwards, return_list=True,
    )  # fmt: skip
    pairs = zip([*xs, *ss], [*sequences, *starts], strict=True)
    kept = [j for j in range(len(outs)) if shown >> j & 1]
    given_values = {v: s for v, s in pairs if v is not None}
    got = run([found[j] for j in kept], given_values, mode=mode)
    wanted = expected(reads, sequences, outs, starts, n, backwards)
    for g, j in zip(got, kept, strict=True):
        assert (g.dtype, g.shape) == (wanted[j].dtype, (n,))
        np.testing.assert_array_equal(g, wanted[j])
