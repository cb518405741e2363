"""Rules for loops: what becomes of a loop, and that values and errors stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError, ShapeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.loops import Scan, scan, until
from tests.growth import exponent

RNG = np.random.default_rng(3)
ZERO = pt.constant(0.0)
PLAIN = rw.Mode().excluding("loops")


def loops(f: Any) -> list[Any]:
    """The nodes of a function that are loops."""
    return [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]


def compiled(outputs: Any, inputs: list[Any]) -> tuple[Any, Any]:
    """A function with the rules, and one without."""
    options: Any = {"on_unused_input": "ignore"}
    return rw.function(inputs, outputs, **options), rw.function(
        inputs, outputs, mode=PLAIN, **options
    )


def agree(outputs: Any, given: dict[Any, Any], rtol: float = 1e-12) -> Any:
    """The function with the rules, once its values are those without."""
    f, g = compiled(outputs, list(given))
    found, wanted = f(*given.values()), g(*given.values())
    if not isinstance(found, list):
        found, wanted = [found], [wanted]
    for a, b in zip(found, wanted, strict=True):
        if b.size:  # (of no steps, lengths that are not known are 0)
            assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.reshape(b.shape), b, rtol=rtol, atol=1e-13)
    return f


def fail_alike(outputs: Any, given: dict[Any, Any], kind: type[Exception]) -> None:
    """Both functions raise an error."""
    for f in compiled(outputs, list(given)):
        with pytest.raises(kind):
            f(*given.values())


# --- what nobody needs ------------------------------------------------------------------------


def test_results_that_nobody_reads() -> None:
    x = pt.dvector("x")
    (a, b), _ = scan(lambda v, t: [pt.sin(t) + v, v * t], x, [ZERO, None])
    f = agree(a, {x: RNG.normal(size=4)})
    (node,) = loops(f)
    assert len(node.op.inner_outputs) == 2
    f = agree(b, {x: RNG.normal(size=4)})
    assert len(loops(f)[0].op.inner_outputs) == 2


def test_carried_values_that_nobody_reads() -> None:
    x = pt.dvector("x")
    (a, b), _ = scan(lambda v, t, u: [pt.sin(t) + v, u * t], x, [ZERO, ZERO])
    (node,) = loops(agree(a, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 3
    (node,) = loops(agree(b, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 4  # it is made of the other


def test_an_error_in_what_nobody_reads_stays() -> None:
    x, v, w = pt.dvector("x"), pt.dvector("v"), pt.dvector("w")
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + e, v * t + w], x, [ZERO, None])
    given = {x: np.ones(2), v: np.ones(3), w: np.ones(4)}
    fail_alike(a, given, ShapeError)
    agree(a, {**given, x: np.ones(0)})  # no step, no error
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + e, v[pt.cast(e, "int64")]], x, [ZERO, None])
    fail_alike(a, {x: np.array([0.0, 9.0]), v: np.ones(3)}, IndexError)
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + v + w, t * v + w], x, [v, None])
    (node,) = loops(agree(a, {x: np.ones(2), v: np.ones(3), w: np.ones(3)}))
    assert len(node.op.inner_outputs) == 2  # what is left compares the same lengths


def test_a_loop_that_is_gone_has_not_hidden_an_error() -> None:
    x, m, w, k = pt.dvector("x"), pt.dmatrix("m"), pt.dmatrix("w"), pt.lvector("k")
    given = {x: np.ones(1), m: np.ones((1, 3)), w: np.ones((4, 4)), k: np.array([1])}
    (a, _), _ = scan(lambda v, r: [v, pt.dot(r, w)], [x, m])
    fail_alike(a, given, ShapeError)  # a is x, but a step fails
    (a, _), _ = scan(lambda v, r, t: [t + v, pt.dot(r, w)], [x, m], [ZERO, None])
    fail_alike(a[-1], given, ShapeError)
    (a, _), _ = scan(lambda v, r: [v, pt.dot(r, w)], [x, m], n_steps=1)
    fail_alike(a, given, ShapeError)
    a, _ = scan(lambda v, r: (v, until(pt.dot(r, w).sum() > 1)), [x, m], n_steps=1)
    fail_alike(a, given, ShapeError)
    (_, b), _ = scan(lambda r, t, u: [t + r, pt.sin(u)], m, [x, ZERO])
    fail_alike(b, given, ShapeError)  # the sum that nobody reads fails
    s = pt.dscalar("s")
    (a, _), _ = scan(lambda v, t, u: ([t, pt.sin(u)], until(u > 9)), k, [s, s], n_steps=2)
    fail_alike(a.owner.outputs[0], {k: np.ones(1, "int64"), s: 0.5}, ShapeError)  # too short
    agree(a.owner.outputs[0], {k: np.ones(2, "int64"), s: 0.5})


def test_a_value_that_another_one_follows_is_no_sum() -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, t: t + v, pt.specify_shape(x, (5,)), ZERO)
    agree([out[-1], out[-2], out[-3:]], {x: RNG.normal(size=5)})


def test_a_result_whose_shape_changes_is_an_error_that_stays() -> None:
    s = pt.dvector("s")
    (a, b), _ = scan(lambda t: [pt.join(0, t, t), t.sum()], outputs_info=[s, None], n_steps=3)
    fail_alike(b, {s: np.ones(2)}, ValueError)
    fail_alike(a[-1], {s: np.ones(2)}, ValueError)


def test_sequences_that_steps_do_not_read() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    out, _ = scan(lambda v, t: pt.sin(t) + 1.0, x, ZERO)
    (node,) = loops(agree(out, {x: np.ones(3)}))
    assert len(node.inputs) == 2
    out, _ = scan(lambda v, w, t: pt.sin(t) + w, [x, y], ZERO, n_steps=4)
    (node,) = loops(agree(out, {x: np.ones(4), y: np.ones(5)}))
    assert len(node.inputs) == 4  # it may be too short
    fail_alike(out, {x: np.ones(3), y: np.ones(5)}, ShapeError)
    out, _ = scan(lambda v, w, t: pt.sin(t) + w, [x, y], ZERO)
    (node,) = loops(agree(out, {x: np.ones(3), y: np.ones(5)}))
    assert len(node.inputs) == 3  # there are as many steps as it has elements, or fewer


def test_what_is_carried_without_change() -> None:
    x, s = pt.dvector("x"), pt.dscalar("s")
    (a, b), _ = scan(lambda v, t, u: [pt.sin(t) * u + v, u], x, [ZERO, s])
    final = a.owner.outputs[1]
    f = agree([a, final], {x: np.ones(3), s: 2.0})
    (node,) = loops(f)
    assert node.op.carried == 1
    agree([a, b, final], {x: np.ones(0), s: 2.0})


def test_arrays_that_are_given_twice() -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, w, t: pt.sin(t * v) + w, [x, x], ZERO)
    (node,) = loops(agree(out, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 3


def test_what_is_carried_twice() -> None:
    """What begins alike and goes on alike, each from the other perhaps."""
    x, s, u = pt.dvector("x"), pt.dscalar("s"), pt.dscalar("u")
    at = {x: RNG.normal(size=4), s: 0.3, u: 0.3}

    def carried(step: Any, starts: list[Any]) -> int:
        out, _ = scan(step, x, starts)
        (node,) = loops(agree(out, {v: at[v] for v in (x, *dict.fromkeys(starts))}))
        return int(node.op.carried)

    twice = lambda v, a, b: [pt.sin(a) + v, pt.sin(b) + v]
    assert carried(twice, [s, s]) == 1
    assert carried(twice, [s, u]) == 2
    assert carried(lambda v, a, b: [pt.sin(b) + v, pt.sin(a) + v], [s, s]) == 1
    assert carried(lambda v, a, b: [pt.sin(b) + v, pt.cos(a) + v], [s, s]) == 2
    chain = lambda v, a, b, c: [pt.sin(b) + v, pt.sin(c) + v, pt.cos(a) * v]
    assert carried(chain, [s, s, s]) == 3
    ends = lambda v, a, b: ([pt.sin(a) + v, pt.sin(b) + v], until(a + b > 1))
    assert carried(ends, [s, s]) == 1
    out, _ = scan(lambda v, a: [pt.sin(a) + v, pt.sin(a) + v, pt.sin(a)], x, [s, None, None])
    f = agree(out, {x: at[x], s: at[s]})
    assert f.fgraph.outputs[0] is f.fgraph.outputs[1]


def test_states_of_generators_that_are_alike() -> None:
    state = rw.shared(np.random.default_rng(3))

    def step(a: Any, b: Any) -> list[Any]:
        draws = [pt.random.normal(rng=rng, return_next_rng=True) for rng in (a, b)]
        return [after for after, _ in draws] + [draw for _, draw in draws]

    out = scan(step, outputs_info=[state, state, None, None], n_steps=4)[0][2:]
    f = agree(out, {})
    assert [n.op.carried for n in loops(f)] == [1]
    np.testing.assert_allclose(f()[1], np.random.default_rng(3).normal(size=4))


@pytest.mark.parametrize("n", [0, 4])
def test_of_a_gradient_only_what_is_asked_for_is_computed(n: int) -> None:
    x, w, u, h = pt.dmatrix("x"), pt.dmatrix("w"), pt.dmatrix("u"), pt.dvector("h")
    out, _ = scan(lambda v, h: pt.tanh(pt.dot(h, w) + pt.dot(v, u)), x, h)
    at = [RNG.normal(size=shape) for shape in [(n, 3), (2, 2), (3, 2), (2,)]]
    for v, results in (w, 1), (u, 1), (x, 1), (h, 0):
        f = agree(rw.grad(out.sum(), v), dict(zip([x, w, u, h], at, strict=True)))
        back = [node.op for node in loops(f) if str(node.op) == "gradient of Scan"]
        assert [(op.carried, op.nout) for op in back] == [(1, 1 + results)]


# --- few steps --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1])
def test_one_step_or_none(n: int) -> None:
    x, m, s = pt.dvector("x"), pt.dmatrix("m"), pt.dvector("s")
    (a, b), _ = scan(lambda v, r, t: [pt.sin(t) * v, r * v], [x, m], [s, None], n_steps=n)
    last = a.owner.outputs[0]
    given = {x: RNG.normal(size=2), m: RNG.normal(size=(3, 2)), s: np.ones(2)}
    assert not loops(agree([a, b, last], given))
    if n:
        fail_alike(b, {**given, x: np.ones(0)}, ShapeError)


def test_one_step_that_may_be_the_last() -> None:
    s = pt.dscalar("s")
    out, _ = scan(lambda t: (t * 2, until(t > 5)), outputs_info=s, n_steps=1)
    assert not loops(agree([out, out.shape[0]], {s: 3.0}))


# --- ends -------------------------------------------------------------------------------------


def test_only_the_last_value_is_kept() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    (a, b), _ = scan(lambda v, t: [pt.sin(t) + v, v * t], x, [ZERO, None])
    for last in (a[-1], b[-1], a[x.shape[0] - 1], [a[-1], b[-2]], [a[-3], a[-1]]):
        f = agree(last, {x: RNG.normal(size=4)})
        (node,) = loops(f)
        assert not node.op.results
    (node,) = loops(agree([a[-1], a], {x: RNG.normal(size=4)}))
    assert len(node.op.results) == 1
    for outputs in (a[-1], b[-1], a[x.shape[0] - 1]):
        fail_alike(outputs, {x: np.ones(0)}, IndexError)
    fail_alike(b[-2], {x: np.ones(1)}, IndexError)
    out, _ = scan(lambda t: pt.sin(t) + 1, outputs_info=ZERO, n_steps=n)
    (node,) = loops(agree(out[-1], {n: 5}))
    assert not node.op.results
    fail_alike(out[-1], {n: 0}, IndexError)
    fail_alike(out[-1], {n: -2}, RewriteEngineError)


def test_the_last_values_of_a_number_of_steps() -> None:
    m = pt.dvector("m")
    out, _ = scan(lambda t: pt.sin(t) * m, outputs_info=m, n_steps=6)
    for last in (out[-3:], out[5], out[4, 1], [out[-2:], out[-1]], out[-1, 0]):
        (node,) = loops(agree(last, {m: RNG.normal(size=3)}))
        assert not node.op.results
    (node,) = loops(agree(out[-5:], {m: RNG.normal(size=3)}))
    assert len(node.op.results) == 1  # too many
    start = {"initial": pt.constant([0.0, 1.0]), "taps": [-2, -1]}
    numbers, _ = scan(lambda a, b: pt.sin(a) + b * m[0], outputs_info=start, n_steps=8)
    (node,) = loops(agree([numbers[-1], numbers[-2]], {m: np.ones(1)}))
    assert node.op.carried == 2
    assert not node.op.results


def test_the_last_value_of_a_loop_that_ends_early() -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, t: (t + pt.exp(v), until(t > 3)), x, ZERO)
    f = agree([out[-1]], {x: np.ones(5)})
    assert not loops(f)[0].op.results
    fail_alike(out[-1], {x: np.ones(0)}, IndexError)
    assert rw.function([x], out[-1])(np.ones(1)) == pytest.approx(np.e)


# --- all steps at once ------------------------------------------------------------------------


def blocks(f: Any) -> list[Any]:
    """The loops that are there only for that something is computed if there is a step."""
    return [n for n in loops(f) if not n.op.sequences and not n.op.results]


def test_loops_that_carry_nothing() -> None:
    x, y, s = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s")
    m, w = pt.dmatrix("m"), pt.dmatrix("w")
    values = {x: RNG.normal(size=4), y: RNG.normal(size=4), s: 0.7}
    assert not loops(agree(scan(lambda v: pt.exp(v) * s, x)[0], values))
    agree(scan(lambda v: pt.exp(v) * s, x)[0], {**values, x: np.ones(0)})
    assert not loops(agree(scan(lambda r: r.sum() + r[::-1], m)[0], {m: RNG.normal(size=(3, 2))}))
    assert not loops(agree(scan(lambda v: v, x, go_backwards=True)[0], values))
    out, _ = scan(lambda v, u: v * u, [x, y])
    f = agree(out, {**values, y: RNG.normal(size=6)})
    assert loops(f) == blocks(f)
    out, _ = scan(lambda r: pt.dot(r, w), m)
    f = agree(out, {m: RNG.normal(size=(3, 2)), w: RNG.normal(size=(2, 5))})
    (block,) = loops(f)
    assert [str(n.op) for n in block.op.fgraph.toposort()] == ["dot"]
    agree(out, {m: np.ones((0, 2)), w: np.ones((2, 5))})
    agree(out, {m: np.ones((0, 7)), w: np.ones((2, 5))})  # no step, no error
    fail_alike(out, {m: np.ones((1, 7)), w: np.ones((2, 5))}, ShapeError)


def test_sequences_that_are_too_short_are_found_without_a_loop() -> None:
    x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
    for steps in (4, n):
        out, _ = scan(lambda v, u: v * u, [x, y], n_steps=steps)
        agree(out, {x: np.ones(4), y: np.ones(5), n: 4})
        fail_alike(out, {x: np.ones(3), y: np.ones(5), n: 4}, ShapeError)
        fail_alike(out, {x: np.ones(5), y: np.ones(3), n: 4}, ShapeError)
        out, _ = scan(lambda v, t: t + v, x, ZERO, n_steps=steps)
        for outputs in (out, out[-1]):
            assert not loops(agree(outputs, {x: np.ones(5), n: 4}))
            fail_alike(outputs, {x: np.ones(3), n: 4}, ShapeError)
    out, _ = scan(lambda v: v * 2, x, n_steps=n)
    fail_alike(out, {x: np.ones(3), n: -1}, ShapeError)


def test_what_depends_on_sequences_only_is_computed_before() -> None:
    m, h, w, u = pt.dmatrix("m"), pt.dvector("h"), pt.dmatrix("w"), pt.dmatrix("u")
    out, _ = scan(lambda v, t: pt.tanh(pt.dot(t, w) + pt.dot(v, u)), m, h)
    given = {m: RNG.normal(size=(5, 2)), h: np.ones(3), w: np.eye(3), u: RNG.normal(size=(2, 3))}
    f = agree(out, given)
    (loop,) = [n for n in loops(f) if n not in blocks(f)]
    assert [str(n.op) for n in loop.op.fgraph.toposort()].count("dot") == 1
    agree(out, {**given, m: np.ones((0, 2))})
    agree(out, {**given, m: np.ones((0, 9))})
    fail_alike(out, {**given, m: np.ones((1, 9))}, ShapeError)
    first = pt.specify_shape(m, (5, 2))
    out, _ = scan(lambda v, t: pt.tanh(pt.dot(t, w) + pt.dot(v, u)), first, h)
    assert not blocks(agree(out, given))  # there is a step


def test_what_is_the_same_in_all_steps_is_computed_once() -> None:
    x, w, h = pt.dvector("x"), pt.dmatrix("w"), pt.dvector("h")
    out, _ = scan(lambda v, t, w: pt.tanh(pt.dot(t, pt.dot(w, w)) * v), x, h, non_sequences=[w])
    given = {x: np.ones(3), w: RNG.normal(size=(2, 2)), h: np.ones(2)}
    f = agree(out, given)
    (loop,) = [n for n in loops(f) if n not in blocks(f)]
    assert [str(n.op) for n in loop.op.fgraph.toposort()].count("dot") == 1
    agree(out, {**given, x: np.ones(0), w: np.ones((2, 3))})
    fail_alike(out, {**given, w: np.ones((2, 3))}, ShapeError)


def test_memory_is_not_what_a_step_needs_times_the_steps() -> None:
    x, w = pt.dvector("x"), pt.dmatrix("w")
    out, _ = scan(lambda v: pt.exp(v * w).sum(), x)
    (loop,) = loops(agree(out, {x: np.ones(3), w: RNG.normal(size=(2, 2))}))
    assert loop.op.results


@pytest.mark.on_vm
def test_results_that_no_step_needs_are_computed_after() -> None:
    h, w, n = pt.dvector("h"), pt.dmatrix("w"), pt.lscalar("n")
    (states, seen), _ = scan(
        lambda t: [pt.sin(t), pt.exp(pt.sin(t)) * 2.0], outputs_info=[h, None], n_steps=n
    )
    given = {h: RNG.normal(size=2), w: RNG.normal(size=(2, 3)), n: 4}
    for outputs in (seen, [seen, states]):
        (loop,) = loops(agree(outputs, given))
        assert [str(n.op) for n in loop.op.fgraph.toposort()] == ["sin{inplace 0<-0}"]
    (_, seen), _ = scan(lambda t: [pt.sin(t), pt.dot(t, w)], outputs_info=[h, None], n_steps=n)
    agree(seen, given)
    agree(seen, {**given, n: 0})
    agree(seen, {**given, n: 0, w: np.ones((5, 5))})
    fail_alike(seen, {**given, w: np.ones((5, 5))}, ShapeError)
    x = pt.dvector("x")
    (total, seen), _ = scan(
        lambda v, t: ([t + pt.sin(t) + v, pt.exp(t * v)], until(t > 2)), x, [ZERO, None]
    )
    f = agree([seen, total], {x: np.array([1.0, 2.0, 3.0, 4.0, 5.0])})
    assert f([1.0, 2.0, 3.0, 4.0, 5.0])[0].shape < (5,)
    agree([seen, total], {x: np.ones(0)})


def test_random_numbers_are_drawn_step_by_step() -> None:
    state, x = rw.shared(np.random.default_rng(7)), pt.dvector("x")
    out, updates = scan(lambda v: (pt.random.normal(v, rng=state), {}), x)
    f = rw.function([x], out, updates=updates)
    one = np.random.default_rng(7).normal()
    np.testing.assert_allclose(f([1.0, 2.0]), [1 + one, 2 + one])  # a state that does not move


def test_branches_that_are_not_taken_are_not_computed_outside() -> None:
    x, k, w = pt.dvector("x"), pt.lvector("k"), pt.dmatrix("w")
    step = lambda i, t: pt.sin(t) + pt.ifelse(i < 3, x[pt.minimum(i, 2)], pt.dot(x * i, w).sum())
    out, _ = scan(step, k, ZERO)
    given = {x: np.ones(3), w: np.ones((7, 7)), k: np.array([0, 1, 2])}
    agree(out, given)
    fail_alike(out, {**given, k: np.array([0, 5])}, ShapeError)
    out, _ = scan(lambda i: pt.ifelse(i < 3, x[i], i * 1.0), k)
    agree(out, {**given, k: np.array([0, 9, 2])})


class Chosen(Op):
    """A branch of one's own."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, inputs, [inputs[1].type()])

    def read_if(self, node: Apply) -> list[Any]:
        return [None, (0, True), (0, False)]

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        condition, x, y = inputs
        output_storage[0][0] = x if condition else y

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Any) -> list[Any]:
        return [shapes[1]]


def test_an_op_of_ones_own_reads_only_what_it_says() -> None:
    m, w = pt.dmatrices("m", "w")
    only = Chosen()
    out, _ = scan(lambda r, t: pt.sin(t) + only(r[0] < 3, r[1], pt.dot(r, w)[0]), m, ZERO)
    given = {m: np.ones((4, 3)), w: np.ones((7, 7))}
    agree(out, given)
    fail_alike(out, {**given, m: np.full((4, 3), 5.0)}, ShapeError)


def test_elements_that_steps_take() -> None:
    x, k, s = pt.dvector("x"), pt.lvector("k"), pt.dscalar("s")
    out, _ = scan(lambda i: x[i] * s, k)
    given = {x: RNG.normal(size=5), k: np.array([3, 0, -1]), s: 2.0}
    f = agree(out, given)
    assert loops(f) == blocks(f)
    fail_alike(out, {**given, k: np.array([3, 9])}, IndexError)


def test_loops_in_loops_along_the_outer_one() -> None:
    m = pt.dmatrix("m")
    inner = lambda r: scan(lambda v, u: pt.sin(u) * v, r, pt.constant(1.0))[0][-1]
    out, _ = scan(inner, m)
    f = agree(out, {m: RNG.normal(size=(3, 4))})
    (block,) = loops(f)
    (loop,) = [n for n in block.op.fgraph.apply_nodes if isinstance(n.op, Scan)]
    assert loop.outputs[0].type.ndim == 1  # its steps do all rows
    agree(out, {m: np.ones((0, 4))})
    fail_alike(out, {m: np.ones((2, 0))}, IndexError)
    total, _ = scan(lambda r, t: inner(r) + pt.sin(t), m, ZERO)
    agree(total, {m: RNG.normal(size=(3, 4))})


# --- sums -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_sums_and_products(dtype: str, n: int) -> None:
    x, s = pt.vector("x", dtype=dtype), pt.scalar("s", dtype=dtype)
    values = (RNG.normal(size=n) * 3).astype(dtype)
    for op in (pt.add, pt.mul):
        for start in (s, pt.constant(0, dtype=dtype), pt.constant(1, dtype=dtype)):
            out, _ = scan(lambda v, t, op=op: op(t, v), x, start)
            f = agree(out, {x: values, s: np.asarray(2, dtype)}, 1e-6)
            assert dtype == "int8" or not loops(f)
            final = out.owner.outputs[0]
            f = agree(final, {x: values, s: np.asarray(2, dtype)}, 1e-5)
            assert dtype == "int8" or not loops(f)
            agree([out, final], {x: values, s: np.asarray(2, dtype)}, 1e-5)


def test_products_do_not_overflow_on_the_way() -> None:
    x, s = pt.dvector("x"), pt.dscalar("s")
    out, _ = scan(lambda v, t: t * v, x, s)
    given = {x: np.array([1e200, 1e200, 1e-200, 1e-200] * 9), s: 1e-300}
    assert not loops(agree(out[-1], given))
    assert np.isfinite(rw.function([x, s], out[-1])(*given.values()))


def test_sums_of_rows() -> None:
    m, h = pt.dmatrix("m"), pt.dvector("h")
    out, _ = scan(lambda v, t: t + v, m, h)
    given = {m: RNG.normal(size=(4, 3)), h: RNG.normal(size=3)}
    for outputs in (out, out[-1], [out, out[-1]]):
        f = agree(outputs, given)
        assert loops(f) == blocks(f)
        agree(out, {m: np.ones((0, 3)), h: np.ones(2)})
        fail_alike(outputs, {m: np.ones((2, 3)), h: np.ones(2)}, ShapeError)


def test_sums_of_products_are_products_of_matrices() -> None:
    a, b, c = pt.dmatrix("a"), pt.dmatrix("b"), pt.dmatrix("c")
    given = {a: RNG.normal(size=(6, 2)), b: RNG.normal(size=(6, 3)), c: RNG.normal(size=(2, 3))}
    out, _ = scan(lambda v, w, t: t + pt.outer(v, w), [a, b], c)
    f = agree(out[-1], given)
    assert loops(f) == blocks(f)
    assert "dot" in {str(n.op) for g in blocks(f) for n in g.op.fgraph.apply_nodes}
    fail_alike(out[-1], {**given, c: np.ones((3, 2))}, ShapeError)
    final = out.owner.outputs[0]
    agree(final, {**given, a: np.ones((0, 9))})
    x, y = pt.dtensor3("x"), pt.dtensor3("y")
    out, _ = scan(lambda v, w, t: t + pt.dot(v.T, w), [x, y], c)
    f = agree(out[-1], {x: RNG.normal(size=(4, 5, 2)), y: RNG.normal(size=(4, 5, 3)), c: given[c]})
    assert loops(f) == blocks(f)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_gradients_of_a_recurrent_network(n: int) -> None:
    x, h, b = pt.dmatrix("x"), pt.dvector("h"), pt.dvector("b")
    w, u = pt.dmatrix("w"), pt.dmatrix("u")
    states, _ = scan(lambda v, t: pt.tanh(pt.dot(t, w) + pt.dot(v, u) + b), x, h)
    cost = (states**2).sum()
    given = {x: RNG.normal(size=(n, 2)), h: RNG.normal(size=3), w: RNG.normal(size=(3, 3)),
             u: RNG.normal(size=(2, 3)), b: RNG.normal(size=3)}  # fmt: skip
    wrt = [w, u, b, h, x] if n else [w, u, b, h]
    f = agree([cost, *rw.grad(cost, wrt)], given, 1e-9)
    back = [n for n in loops(f) if str(n.op) == "gradient of Scan"]
    assert [n.op.carried for n in back] == [1]
    agree(rw.grad(cost, [w]), given, 1e-9)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_loop(data: Any) -> None:
    """Random steps: with the rules and without."""
    x, y, s, m = pt.dvector("x"), pt.dmatrix("y"), pt.dscalar("s"), pt.dvector("m")
    n = data.draw(st.sampled_from([0, 1, 2, 5]))
    kinds = data.draw(st.lists(st.sampled_from("sv"), min_size=1, max_size=3))
    starts = [data.draw(st.sampled_from([s, ZERO] if k == "s" else [m])) for k in kinds]
    free = data.draw(st.integers(0, 2))

    def step(*args: Any) -> list[Any]:
        scalars = [v for v in args if v.type.ndim == 0] + [s]
        vectors = [v for v in args if v.type.ndim == 1] + [m]

        def term(ndim: int, depth: int) -> Any:
            pool = vectors if ndim else scalars
            what = data.draw(st.sampled_from(["leaf", "add", "mul", "sin", "sum"][: 1 + 4 * depth]))
            if what == "leaf":
                return data.draw(st.sampled_from(pool))
            if what == "sin":
                return pt.sin(term(ndim, depth - 1))
            if what == "sum" and not ndim:
                return pt.tanh(pt.dot(term(1, 0), term(1, 0)))
            one, two = term(ndim, depth - 1), term(data.draw(st.integers(0, ndim)), depth - 1)
            return one + two if what == "add" else pt.tanh(one * two)

        new = [term(int(k == "v"), data.draw(st.integers(0, 1))) for k in kinds]
        return [*new, *[term(data.draw(st.integers(0, 1)), 1) for _ in range(free)]]

    found, _ = scan(step, [x, y], [*starts, *[None] * free], n_steps=n, return_list=True)
    outputs = []
    for out in found:
        kind = data.draw(st.sampled_from(["all", "last", "none"]))
        outputs += [out] if kind == "all" else [out[-1]] if kind == "last" and n else []
    values = {x: RNG.normal(size=5), y: RNG.normal(size=(5, 3)), s: 0.3, m: RNG.normal(size=3)}
    if outputs:
        agree(outputs, values, 1e-9)
    costs = [out.sum() for out in outputs]
    if costs and n and data.draw(st.booleans()):
        agree(rw.grad(sum(costs), [s, m, x, y], disconnected_inputs="ignore"), values, 1e-8)


# --- several loops ----------------------------------------------------------------------------


def test_loops_of_as_many_steps_run_as_one() -> None:
    x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
    one, _ = scan(lambda v, t: pt.sin(t) + v, x, ZERO, n_steps=n, name="one")
    other, _ = scan(lambda v, t: pt.cos(t) * v, y, pt.constant(1.0), n_steps=n, name="other")
    given = {x: RNG.normal(size=4), y: RNG.normal(size=4), n: 4}
    (node,) = loops(agree([one, other], given))
    assert str(node.op) == "one and other"
    (node,) = loops(agree([one[-1], other.sum()], given))
    agree([one, other], {**given, n: 0})
    fail_alike([one, other], {**given, y: np.ones(3)}, ShapeError)
    third, _ = scan(lambda v, t: pt.tanh(t) + v, one, ZERO, n_steps=n, name="third")
    found = loops(agree([third, other], given))  # one of the two that do not need each other
    assert sorted(str(node.op) for node in found)[-1] in ("third", "third and other")
    assert len(found) == 2
    chosen = pt.ifelse(x.sum() > 0, one.sum(), other.sum())
    assert len(loops(agree([chosen], given))) == 2  # one of them is not computed
    early, _ = scan(lambda v, t: (pt.sin(t) + v, until(t > 1)), x, ZERO, n_steps=n)
    assert len(loops(agree([early, one], given))) == 2


def test_equal_loops_over_different_sequences_run_as_one() -> None:
    """They have one op, and so have pairs of them."""
    xs, n = [pt.dvector(name) for name in "abcd"], pt.lscalar("n")
    outs = [
        scan(lambda v, t: pt.sin(t) * v, x, pt.constant(float(k)), n_steps=n)[0]
        for k, x in enumerate(xs)
    ]
    assert len({out.owner.op for out in outs}) == 1
    for some in 2, 3, 4:
        given = {x: RNG.normal(size=3) for x in xs[:some]}
        assert len(loops(agree(outs[:some], given | {n: np.array(3)}))) == 1


def test_work_on_long_steps_is_in_proportion() -> None:

    def long(v: Any, t: Any, n: int) -> Any:
        a = v
        for _ in range(n):
            a, t = pt.sin(a) + v, pt.sin(t) + a
        return t

    def prepare(n: int) -> Any:
        out = scan(lambda v, t: long(v, t, n), m := pt.dmatrix("m"), h := pt.dvector("h"))[0][-1]
        return lambda: rw.function([m, h], out)

    assert exponent(prepare, 100, 1000) < 1.2
