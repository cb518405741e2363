"""A branch that is not taken contributes zero, whatever its derivative; ties share the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import Lop, Rop, grad, hessian, jacobian
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor

inf, nan = np.inf, np.nan


def values(outputs: Any, inputs: dict[Any, Any]) -> Any:
    """The values computed node by node, after checking that rewriting does not change them."""
    single = not isinstance(outputs, list)
    with np.errstate(all="ignore"):
        plain = evaluate([outputs] if single else outputs, inputs)
        f = rw.function(list(inputs), outputs, on_unused_input="ignore")
        compiled = f(*[np.asarray(v, x.type.dtype) for x, v in inputs.items()])
    for a, b in zip(plain, [compiled] if single else compiled, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6 if b.dtype == np.float32 else 1e-12)
    return plain[0] if single else plain


def of_log(f: Any) -> Any:
    """A function of x and the one term log(x), which several others use."""
    return lambda x: f(x, pt.log(x))


GUARDED = {
    "sqrt": (lambda x: pt.switch(x >= 0, -pt.sqrt(x), 0), [-1, 4], [0, -0.25]),
    "sqrt at 0": (lambda x: pt.switch(x > 0, pt.sqrt(x), 0), [0.0, 4], [0, 0.25]),
    "log density": (lambda x: pt.switch(x > 0, pt.log(x) - x, -inf), [-1, 0, 2.0], [0, 0, -0.5]),
    "x / x": (lambda x: pt.switch(pt.neq(x, 0), 1 / x, 0), [0.0, 2], [0, -0.25]),
    "pow": (lambda x: pt.switch(x > 0, x**0.5, x**2), [0.0, -1, 4], [0, -2, 0.25]),
    "arccos": (lambda x: pt.switch(pt.abs(x) < 1, pt.arccos(x), 0), [1.0, 2, 0], [0, 0, -1]),
    "overflow": (lambda x: pt.switch(x < 10, pt.exp(x), x), [1000.0, 0], [1, 1]),
    "x log x": (lambda x: pt.switch(pt.eq(x, 0), 0, x * pt.log(x)), [0.0, 1], [0, 1]),
    "nested": (
        lambda x: pt.switch(x > 0, pt.switch(x > 1, pt.log(x - 1), 3 * x), pt.sqrt(-x)),
        [3.0, 1, -4],
        [0.5, 3, -0.25],
    ),
    "deep": (
        lambda x: pt.switch(x > 0, 2 * pt.exp(-pt.log(pt.sqrt(x)) + 1) + 1, x),
        [-1.0, 0],
        [1, 1],
    ),
    "maximum": (lambda x: pt.maximum(pt.log(x), -5), [0.0, 1], [0, 1]),
    "minimum": (lambda x: pt.minimum(1 / x, 10), [0.0, 1], [0, -1]),
    "three": (lambda x: pt.maximum(pt.log(x), -5, -pt.sqrt(x) - 9), [0.0, 1], [0, 1]),
    "clip": (lambda x: pt.clip(pt.log(x), -5, 5), [0.0, 1], [0, 1]),
    "reciprocal": (lambda x: pt.clip(1 / x, -5, 5), [0.0, 1], [0, -1]),
    "one condition": (lambda x: pt.switch(x[0] > 0, pt.log(x), x), [0.0, 0], [1, 1]),
    "reduced": (lambda x: pt.switch(x[0] > 0, pt.log(x).sum(), 5 * x[1]), [0.0, 0], [0, 5]),
    "number": (lambda x: pt.switch(x > 9, pt.log(x[0]), 1), [0.0, 0], [0, 0]),
    "norm": (lambda x: pt.switch((x**2).sum() > 0, pt.sqrt((x**2).sum()), 0), [0.0, 0], [0, 0]),
    "index": (lambda x: pt.log(x)[1], [0.0, 2], [0, 0.5]),
    "slice": (lambda x: pt.log(x)[1:] + pt.sqrt(x)[1:], [0.0, 1], [0, 1.5]),
    "gather": (lambda x: pt.log(x)[[1, 1]], [0.0, 2], [0, 1]),
    "mask": (lambda x: pt.log(x)[x > 0], [0.0, 2], [0, 0.5]),
    "elements": (lambda x: pt.log(x)[1] + pt.sqrt(x)[2], [0.0, 2, 4], [0, 0.5, 0.25]),
    "overwritten": (lambda x: pt.log(x)[:1].set(7.0), [0.0, 2], [0, 0.5]),
    "within": (lambda x: pt.switch(x[1:] > 0, pt.log(x)[1:], 0), [-1.0, 0, 2], [0, 0, 0.5]),
    "split": (lambda x: pt.split(pt.log(x), [1, 1], 2)[1], [0.0, 2], [0, 0.5]),
    "joined": (
        lambda x: pt.switch(pt.join(0, x, x) > 0, pt.join(0, pt.log(x), pt.sqrt(x)), 0),
        [0.0, 1],
        [0, 1.5],
    ),
    "rows": (
        lambda x: pt.switch(x > 0, pt.log(x[:, None] * (x + 1)[None, :]).sum(axis=1), 0),
        [0.0, 1],
        [1, 2.5],
    ),
    "transposed": (
        lambda x: pt.switch((x > 0)[:, None], pt.log(x)[:, None], 0.0).T.flatten(),
        [0.0, 2],
        [0, 0.5],
    ),
    "largest": (lambda x: pt.max(pt.log(x)), [0.0, 2], [0, 0.5]),
    "two of one": (of_log(lambda x, y: y[1] + y[2]), [0.0, 2, 4], [0, 0.5, 0.25]),
    "parts that overlap": (
        of_log(lambda x, y: y[1:3].sum() + y[[2, 2]].sum() + y[2]),
        [0.0, 2, 4, 0.0],
        [0, 0.5, 1, 0],
    ),
    "one beside a branch": (
        of_log(lambda x, y: pt.switch(x > 1, y, 0).sum() + 3 * y[1]),
        [0.0, 1, 4],
        [0, 3, 0.25],
    ),
    "one beside a branch for all": (
        of_log(lambda x, y: pt.switch(x[0] > 0, y, 0).sum() + y[1]),
        [0.0, 2, 0],
        [0, 0.5, 0],
    ),
    "one beside the largest": (of_log(lambda x, y: y.max() + y[1]), [0.0, 2, 4], [0, 0.5, 0.25]),
    "missing data": (lambda x: pt.switch(pt.isnan(x), 0, pt.tanh(x) * x), [nan, 0], [0, 0]),
}


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_branch_not_taken_contributes_zero(name: str, dtype: str):
    function, at, expected = GUARDED[name]
    x = pt.vector("x", dtype=dtype)
    got = values(grad(function(x).sum(), x), {x: np.array(at, dtype)})
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_what_is_taken_is_shown():
    x = pt.dvector("x")
    g = grad(pt.switch(x >= 0, pt.sqrt(x), pt.log(x)).sum(), x)
    np.testing.assert_array_equal(values(g, {x: [0.0, -0.5, nan]}), [inf, -2, nan])
    g = grad(pt.maximum(pt.sqrt(x), 0).sum(), x)
    np.testing.assert_array_equal(values(g, {x: [0.0, -1.0, 4]}), [inf, nan, 0.25])


def test_a_scalar_used_by_a_vector():
    x, s = pt.dvector("x"), pt.dscalar("s")
    g = grad(pt.switch(x > 0, pt.log(s), 0).sum(), s)
    assert values(g, {s: 0.0, x: [-1.0, -2]}) == 0
    assert values(g, {s: 0.0, x: [-1.0, 2]}) == inf
    assert values(g, {s: 2.0, x: [1.0, 2]}) == 1


def test_several_conditions_for_all_elements():
    x, s = pt.dvector("x"), pt.dscalar("s")
    t = pt.exp(s)
    first = pt.switch(s > 1, (x * pt.log(t)).sum(), 0)
    second = pt.switch(s > 2, (x / t).sum(), (x[:, None] * pt.sqrt(t)).sum())
    third = pt.switch(x > s, x * t, 0).sum()
    g = grad(first + second + third, s)
    e = np.exp(0.5)
    assert values(g, {x: [0.25, 1.0], s: 0.5}) == pytest.approx(1.25 * np.sqrt(e) / 2 + e)


def test_a_condition_for_all_goes_through_every_op():
    x, A, s = pt.dvector("x"), pt.dmatrix("A"), pt.dscalar("s")
    cost = pt.switch(s > 0, pt.softmax(pt.dot(1 / A, x)).sum() + pt.prod(pt.log(x)), 0)
    gx, gA = values(grad(cost, [x, A]), {x: [0.0, 0], A: np.zeros((2, 2)), s: -1.0})
    assert not gx.any()
    assert not gA.any()


def test_conditions_that_are_no_booleans():
    x, c, d = pt.dvector("x"), pt.dvector("c"), pt.lvector("d")
    g = grad(pt.switch(c, pt.switch(d, pt.log(x), 0), pt.switch(d, 0, pt.sqrt(x))).sum(), x)
    got = values(g, {x: [0.0, 0, 1, 1], c: [1.0, 0, 0.5, 0], d: [0, 3, -2, 0]})
    np.testing.assert_array_equal(got, [0, 0, 1, 0.5])


def test_second_derivatives():
    x = pt.tensor("x", dtype="float64", shape=(3,))
    cost = pt.switch(x > 0, x * pt.log(x), 0).sum()
    np.testing.assert_array_equal(
        values(hessian(cost, x), {x: [-1.0, 0, 4]}), np.diag([0, 0, 0.25])
    )
    g = grad(cost, x)
    got = values(grad(g.sum(), x), {x: [-1.0, 0, 4]})
    np.testing.assert_array_equal(got, [0, 0, 0.25])


@pytest.mark.parametrize("turn", [pt.cumsum, lambda x: x[::-1]], ids=["cumsum", "turned round"])
def test_second_derivatives_behind_ops_that_turn_round(turn: Any):
    x = pt.dvector("x")
    c = turn(x)
    g = grad(pt.switch(c > 0, pt.sqrt(c) * c, 0).sum(), x)
    got = values(grad(g.sum(), x), {x: [1.0, -2.0, -3.0]})
    np.testing.assert_array_equal(got, [0.75, 0, 0])


def test_jacobian_of_an_elementwise_function_is_diagonal():
    x = pt.tensor("x", dtype="float64", shape=(3,))
    got = values(jacobian(pt.log(x), x), {x: [1.0, 0, -2]})
    np.testing.assert_array_equal(got, np.diag([1, inf, -0.5]))


def test_forward_mode():
    x, v = pt.dvectors("x", "v")
    out = pt.switch(x > 0, pt.log(x) - x, -inf)
    got = values(Rop(out, x, v), {x: [-1.0, 0, 2], v: [1.0, 1, 1]})
    np.testing.assert_array_equal(got, [0, 0, -0.5])


def test_given_gradients():
    x, c = pt.dvectors("x", "c")
    got = values(Lop(pt.log(x), x, pt.switch(c, c, 0.0)), {x: [0.0, 2], c: [0.0, 1]})
    np.testing.assert_array_equal(got, [0, 0.5])


class Keep(Op):
    """A user's op with a mask: passes positive numbers on."""

    def infer_types(self, types: Any) -> Any:
        return types

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.where(inputs[0] > 0, inputs[0], 0)

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return [pt.switch(inputs[0] > 0, output_gradients[0], 0.0)]


def test_an_op_of_the_user():
    x = pt.dvector("x")
    got = values(grad(Keep()(pt.log(x)).sum(), x), {x: [0.0, 0.5, 2]})
    np.testing.assert_array_equal(got, [0, 0, 0.5])


def test_many_masks_grow_linearly():
    def nodes(n: int) -> int:
        x = out = pt.dvector("x")
        for i in range(n):
            out = pt.switch(out > i, pt.log(out) + pt.sqrt(out), pt.maximum(out, 1))
        return len(toposort([grad(out.sum(), x)]))

    assert nodes(200) - nodes(100) == nodes(300) - nodes(200)


# --- ties ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [pt.maximum, pt.minimum])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_operands_that_tie_share_the_gradient(op: Any, count: int):
    s = pt.dscalar("s")
    xs = pt.dscalars(*"abcd"[:count])
    xs = xs if isinstance(xs, list | tuple) else [xs]
    assert values(grad(op(*[s] * count), s), {s: 1.0}) == 1
    got = values(grad(op(*xs), list(xs)), dict.fromkeys(xs, 2.0))
    np.testing.assert_allclose(got, [1 / count] * count)


def test_only_those_that_attain_it_share():
    x, y, z = pt.dvectors("x", "y", "z")
    at = {x: [1.0, 2, 3, 3], y: [1.0, 2, 1, 3], z: [0.0, 3, 3, 3]}
    got = values(grad(pt.maximum(x, y, z).sum(), [x, y, z]), at)
    np.testing.assert_allclose(got[0], [0.5, 0, 0.5, 1 / 3])
    np.testing.assert_allclose(got[2], [0, 1, 0.5, 1 / 3])
    np.testing.assert_allclose(np.sum(got, axis=0), 1)


def test_relu_and_abs_have_the_mean_of_both_sides():
    x = pt.dvector("x")
    np.testing.assert_array_equal(
        values(grad(pt.maximum(x, 0).sum(), x), {x: [-1.0, 0, 1]}), [0, 0.5, 1]
    )
    np.testing.assert_array_equal(values(grad(pt.abs(x).sum(), x), {x: [-1.0, 0, 1]}), [-1, 0, 1])


@pytest.mark.parametrize("reduce", [pt.max, pt.min])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_elements_that_tie_share_the_gradient(reduce: Any, axis: Any, keepdims: bool):
    x, v = pt.dmatrix("x"), pt.dmatrix("v")
    at = np.array([[3.0, 1, 3], [3, 1, 0]])
    out = reduce(x, axis=axis, keepdims=keepdims)
    best = (np.max if reduce is pt.max else np.min)(at, axis=axis, keepdims=True)
    share = (at == best) / (at == best).sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(values(grad(out.sum(), x), {x: at}), share)
    direction = np.arange(6.0).reshape(2, 3)
    moved = values(Rop(out, x, v), {x: at, v: direction})
    np.testing.assert_allclose(moved, (share * direction).sum(axis=axis, keepdims=keepdims))


def test_clip_passes_one_gradient_on():
    s, t = pt.dscalars("s", "t")
    for cost, at in [
        (pt.clip(s, s, t), 1.0), (pt.clip(s, 0.0, s), 1.0), (pt.clip(t, s, s), 1.0),
        (pt.clip(s, s, s), 1.0), (pt.clip(t, s + 1, s), 1.0), (pt.clip(t, s + 1, s), 2.5),
        (pt.clip(t, s + 1, s), 5.0),
    ]:  # fmt: skip
        assert values(grad(cost, s), {s: at, t: 3.0}) == 1
    x = pt.dvector("x")
    got = values(grad(pt.clip(x, 0, 1).sum(), x), {x: [-1.0, 0, 0.5, 1, 2]})
    np.testing.assert_array_equal(got, [0, 1, 1, 1, 0])


@pytest.mark.parametrize(
    "term",
    [
        lambda x: pt.arcsin(x) + pt.arcsin(x),
        lambda x: pt.arcsin(x) * pt.arcsin(x),
        lambda x: pt.log(1 - x) + 2 * pt.arcsin(x),
    ],
)
def test_elements_that_are_not_taken_have_no_slope(term: Any) -> None:
    """Also where several gradients meet: at 1, all of these slopes are infinite."""
    x = pt.vector("x")
    first = rw.function([x], rw.grad(term(x)[0], x))
    found, wanted = first([0.2, 0.0, 1.0]), first([0.2, 0.0, 0.5])
    assert np.isfinite(found[0])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(found[1:], 0.0)


@pytest.mark.parametrize("index", [0, [0, 2]], ids=str)
@pytest.mark.parametrize(
    "term",
    [
        lambda s, m, v: s * v * m,
        lambda s, m, v: m + s * v,
        lambda s, m, v: s * (m + v),
        lambda s, m, v: m - pt.exp(s) * v,
        lambda s, m, v: s * (m - s * v) * m,
        lambda s, m, v: m + 2 * (s * v + v),
        lambda s, m, v: s * v + m * v,
    ],
)
def test_what_numbers_multiply_is_still_at_an_index(term: Any, index: Any) -> None:
    """At the 0 that is not taken log(p) and its slope are infinite."""
    s, m, p = pt.dscalar("s"), pt.dscalar("m"), pt.dvector("p")
    cost = term(s, m, pt.log(p))[index].sum()
    slopes = rw.function([s, m, p], grad(cost, [s, m, p]), on_unused_input="ignore")
    as_written = [
        lambda *at: slopes(*at),
        lambda *at: evaluate(grad(cost, [s, m, p]), dict(zip([s, m, p], at, strict=True))),
    ]
    for run in as_written:
        found, wanted = run(2.0, 3.0, [0.5, 0.0, 0.2]), run(2.0, 3.0, [0.5, 0.7, 0.2])
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)


def test_a_gather_of_few_elements_is_added_up_once() -> None:
    """Slopes of `(m + s * raw)[at]`: all pass over the few elements, not over the many."""
    rng = np.random.default_rng(0)
    at = pt.constant(rng.permutation(np.arange(1000) % 5))
    m, s, raw, w = pt.dscalar("m"), pt.dscalar("s"), pt.vector("raw", shape=(5,)), pt.dvector("w")
    f = rw.function([m, s, raw, w], grad((w * (m + s * raw)[at]).sum(), [m, s, raw]))
    written = [n for n in f.fgraph.toposort() if isinstance(n.op, AdvancedIncSubtensor)]
    assert len(written) == 1
    few, many = np.arange(5.0), rng.normal(size=1000)
    sums = np.bincount(at.data, many)
    for found, wanted in zip(f(1.0, 2.0, few, many), [sums.sum(), sums @ few, 2 * sums]):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def _moved(x: Any) -> dict[str, Any]:
    return {
        "transpose": x.T,
        "reshape": x.reshape((-1, 2)),
        "join": pt.join(0, x, x),
        "index": x[::-1],
        "rows": x[pt.constant([1, 0, 1])],
        "dimshuffle": x.dimshuffle("x", 1, 0),
    }


def test_an_element_of_a_choice_by_columns() -> None:
    x, y, c = pt.matrix("x"), pt.matrix("y"), pt.bvector("c")
    chosen = pt.switch(c, pt.log(x), y)[-1, 0]
    at = {x: [[0.0, 0.0], [2.0, 0.0]], y: [[0.0, 0.0], [1.0, 1.0]], c: [1, 0]}
    np.testing.assert_array_equal(values(grad(chosen, x), at), [[0, 0], [0.5, 0]])


@pytest.mark.parametrize("take", [lambda m: m[0], lambda m: m[[1, 0, 1]], lambda m: m[1:]])
def test_elements_of_a_choice_of_sums(take: Any) -> None:
    """What is not taken stays out beyond an op that only moves gradients, also beside others."""
    x, y, c = pt.matrix("x"), pt.matrix("y"), pt.bmatrix("c")
    part = pt.exp(pt.log(x))
    total = part.sum(axis=1, keepdims=True)
    at = {x: [[-1.0, 2.0], [1.0, 3.0]], y: [[0.0], [1.0]], c: [[0], [1]]}
    taken = np.bincount(take(np.array([[0], [1]])).ravel(), minlength=2)
    found = values(grad(take(pt.switch(c, total, y)).sum(), x), at)
    np.testing.assert_allclose(found, [[0, 0], [taken[1]] * 2])
    both = pt.switch(c, part[:, :1] / total, y)
    found = values(grad(take(both).sum(), x), at)
    np.testing.assert_allclose(found, [[0, 0], taken[1] * np.array([3, -1]) / 16], atol=1e-15)


@pytest.mark.parametrize(
    "take",
    [lambda m: m[:, 1], lambda m: m[:, [1]][:, 0], lambda m: m.T[1], lambda m: m[[0, 1, 2], 1]],
)
def test_elements_of_what_is_stretched(take: Any) -> None:
    """x L[1] as elements of the outer product: L is NaN elsewhere."""
    x, weights = pt.vector("x"), np.array([1.0, 2.0, 3.0])

    def derivatives(out: Any) -> list[Any]:
        first = grad((out * weights).sum(), x)
        return [first, grad((first * weights).sum(), x)]

    found = derivatives(take(x[:, None] * pt.log(2 - x)[None, :]))
    wanted = values(derivatives(x * pt.log(2 - x[1])), {x: [3.0, 0.5, 4.0]})
    np.testing.assert_allclose(values(found, {x: [3.0, 0.5, 4.0]}), wanted)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("moved", _moved(pt.matrix("x")))
def test_a_mask_of_a_sum_goes_through_what_only_moves(moved: str, dtype: str) -> None:
    """The elements of a sum share its mask; what is moved has one for each."""
    x = pt.tensor("x", dtype=dtype, shape=(None, 2))
    value = np.asarray([[1.0, -2.0], [0.5, 3.0], [-4.0, 1.0]], dtype)
    for axis in range(_moved(x)[moved].type.ndim):
        s = pt.sum(_moved(pt.sqrt(pt.sqr(x)))[moved], axis=axis, keepdims=True)
        plain = _moved(pt.sqrt(pt.sqr(x)))[moved].sum(axis=axis, keepdims=True)
        for chosen in (pt.clip(s, s, s), pt.switch(s > 4, s, 0 * s)):
            weight = (plain > 4) if chosen.owner.op is pt.switch else pt.ones_like(plain)
            wanted = grad((plain * pt.cast(weight, dtype)).sum(), x)
            got = grad(chosen.sum(), x)
            assert got.type.dtype == dtype
            np.testing.assert_allclose(values(got, {x: value}), values(wanted, {x: value}))


@pytest.mark.parametrize("at", [0, slice(None, 1), [0]])
@pytest.mark.parametrize("make", [lambda c, z: pt.switch(c, z, 2 * z), lambda c, z: pt.sign(c) + z])
def test_a_slope_that_is_zero_by_its_form_stays_so_at_an_index(make: Any, at: Any) -> None:
    """What only chooses has no slope: nothing is multiplied with y."""
    x, y, z = pt.dvectors("x y z")
    given = {x: [1.0, 2.0], y: [inf, 1.0], z: [2.0, 1.0]}
    for g in values(grad(make(x * y, z)[at].sum(), [x, y]), given):
        assert g.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "of",
    [
        lambda p: pt.exp(pt.log1mexp(-p * 0.0)),
        lambda p: pt.log(pt.constant(0.0) * p),
        lambda p: pt.sqrt(0.0 / p),
        lambda p: pt.sqrt((pt.constant(2.0) - pt.constant(2.0)) / p),
    ],
)
def test_what_is_multiplied_with_0_is_no_part_of_a_slope(of: Any) -> None:
    p = pt.dscalar("p")
    assert values(grad(of(p), p), {p: 1.5}) == 0.0


def test_other_factors_keep_their_slopes() -> None:
    p, v = pt.dscalar("p"), pt.dvector("v")
    got = values(grad(p * v.sum() * 2.0 + (0.0 * v * p).sum(), [p, v]), {p: 3.0, v: [1.0, 2.0]})
    np.testing.assert_array_equal(got[0], 6.0)
    np.testing.assert_array_equal(got[1], [6.0, 6.0])
    mask = pt.constant([0.0, 1.0])
    np.testing.assert_array_equal(values(grad((mask * v).sum(), v), {v: [1.0, 2.0]}), [0.0, 1.0])
