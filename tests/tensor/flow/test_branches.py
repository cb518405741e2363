"""`ifelse`: the branch that is taken is computed, the other one is not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import ifelse
from rewrite_engine.errors import DTypeError, InputError, NDimError
from rewrite_engine.gradient import grad
from rewrite_engine.graph.op import Op
from rewrite_engine.link.plan.conditions import MAX_NESTED_CONDITIONS, MAX_WAYS
from rewrite_engine.tensor.blockwise import vectorize_graph
from rewrite_engine.tensor.flow.branches import IfElse

x, y = pt.dvectors("x", "y")
c, d = pt.lscalars("c", "d")
MODES = ["vm", "py", "fast_compile", rw.Mode(optimizer=None), rw.Mode("py", optimizer=None)]


class Noted(Op):
    """Its input, for which it writes down that it ran; the gradient is noted as `name'`."""

    __props__ = ("name",)
    ran: list[str] = []

    def __init__(self, name: str) -> None:
        self.name = name

    def infer_types(self, types: Any) -> Any:
        return types

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        return shapes

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        Noted.ran.append(self.name)
        output_storage[0][0] = inputs[0].copy()

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [Noted(self.name + "'")(output_gradients[0] * pt.sqr(inputs[0]))]


def noted(name: str, v: Any) -> Any:
    return Noted(name)(v)


def ran(f: Any, *args: Any) -> list[str]:
    Noted.ran = []
    f(*args)
    return sorted(Noted.ran)


# --- what is computed -------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_only_the_branch_that_is_taken_is_computed(mode: Any) -> None:
    f = rw.function([c, x], ifelse(c, noted("then", x * 2), noted("else", x * 3)), mode=mode)
    assert f(1, [1.0]).tolist() == [2.0]
    assert f(0, [1.0]).tolist() == [3.0]
    assert f(-7, [1.0]).tolist() == [2.0]
    assert ran(f, 1, [1.0]) == ["then"]
    assert ran(f, 0, [1.0]) == ["else"]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_what_others_need_is_computed_once_and_always(mode: Any) -> None:
    h, k = noted("h", x), noted("k", y)
    both = ifelse(c, noted("then", h) + k, noted("else", h))
    f = rw.function([c, x, y], [both, k * 2], mode=mode)
    assert ran(f, 1, [1.0], [1.0]) == ["h", "k", "then"]
    assert ran(f, 0, [1.0], [1.0]) == ["else", "h", "k"]
    condition = noted("condition", x).sum() > 0
    f = rw.function([x], ifelse(condition, noted("condition", x), noted("else", x)), mode=mode)
    assert ran(f, [1.0]) == ["condition"]
    assert ran(f, [-1.0]) == ["condition", "else"]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_condition_that_is_a_constant_is_one(mode: Any) -> None:
    for i in (0, 1):
        parts = [noted("else", x[7 * i]), noted("then", x[7 - 7 * i])]
        f = rw.function([x], ifelse(pt.constant(i), parts[1], parts[0]), mode=mode)
        assert f([1.0, 2.0]) == 1.0
        assert ran(f, [1.0]) == [["else", "then"][i]]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_what_several_branches_need_is_computed_where_one_is_taken(mode: Any) -> None:
    h = noted("h", x[7])
    nested = ifelse(c, ifelse(d, x[0], h), h)
    beside = ifelse(c, x[0], h) + ifelse(noted("d", d), x[1], h)
    one_of_many = sum([ifelse(pt.eq(c, i), h * i, x[0]) for i in range(6)])
    eight = np.arange(8.0)
    for out, computed in [
        (nested, lambda i, j: not (i and j)),
        (beside, lambda i, j: not (i and j)),
        (one_of_many, lambda i, j: i < 6),
    ]:
        f = rw.function([c, d, x], out, mode=mode, on_unused_input="ignore")
        for i, j in [(0, 0), (0, 1), (1, 0), (1, 1), (6, 1)]:
            expected = ["h"] if computed(i, j) else []
            assert [name for name in ran(f, i, j, eight) if name == "h"] == expected
            if not expected:
                assert f(i, j, [1.0, 2.0]) == f(i, j, [1.0, 2.0, 3.0])
                continue
            with pytest.raises(rw.errors.AxisError):
                f(i, j, [1.0, 2.0])


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_what_is_read_before_it_is_overwritten_waits_for_its_condition(mode: Any) -> None:
    """`h` is overwritten by what is computed of it last."""
    h = pt.exp(x)
    out = [pt.sin(h) + 1, ifelse(noted("c", c) > 0, noted("then", h[5]), 0.0)]
    f = rw.function([c, x], out, mode=mode)
    assert f(0, [0.0])[1] == 0
    assert ran(f, 0, [0.0]) == ["c"]
    np.testing.assert_allclose(f(1, np.arange(6.0))[1], np.exp(5))
    two = ifelse(x.shape[0] > 5, x[5], x[0]) + ifelse(x.shape[0] > 6, x[6] * y[0], x[1] * y[1])
    f = rw.function([x, y], grad(two, [x, y]), mode=mode)
    assert [g.tolist() for g in f([1.0, 2.0], [3.0, 4.0])] == [[1.0, 4.0], [0.0, 2.0]]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_conditions_that_are_computed_of_what_they_guard(mode: Any) -> None:
    h = noted("h", x)
    inner = ifelse(h.sum() > 0, noted("a", h), noted("b", h))
    f = rw.function([c, x], ifelse(c, inner, x) + ifelse(inner.sum() > 2, h, x), mode=mode)
    assert ran(f, 0, [1.0]) == ran(f, 1, [1.0]) == ["a", "h"]
    assert ran(f, 0, [-1.0]) == ["b", "h"]
    f = rw.function([c, x], ifelse(c, inner, x) * ifelse(c, 1.0, h.sum()), mode=mode)
    assert ran(f, 1, [1.0]) == ["a", "h"]
    assert ran(f, 0, [1.0]) == ["h"]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_what_no_choice_takes_is_never_computed(mode: Any) -> None:
    never = noted("never", x[9])
    f = rw.function([c, x], ifelse(c, ifelse(c, x[0], never), x[1]) * 2, mode=mode)
    assert [f(i, [1.0, 2.0]) for i in (1, 0)] == [2.0, 4.0]
    assert ran(f, 1, [1.0, 2.0]) == []


def test_more_ways_than_are_looked_at() -> None:
    """What they have in common counts."""
    n = 3 * MAX_WAYS
    ks = pt.lvector("ks")
    h, outer = noted("h", x), pt.lscalar("outer")
    some = sum([ifelse(ks[i], h * i, x) for i in range(n)])
    f = rw.function([outer, ks, x], ifelse(outer, some, x), mode="fast_compile")
    assert f(1, np.ones(n, int), [2.0]).tolist() == [n * (n - 1)]
    assert ran(f, 0, np.ones(n, int), [1.0]) == []
    assert ran(f, 1, np.zeros(n, int), [1.0]) == ["h"]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_conditions_in_branches(mode: Any) -> None:
    inner = ifelse(noted("d", d), noted("a", x), noted("b", x))
    f = rw.function([c, d, x], ifelse(c, inner, noted("e", x)), mode=mode)
    assert ran(f, 1, 1, [1.0]) == ["a", "d"]
    assert ran(f, 1, 0, [1.0]) == ["b", "d"]
    assert ran(f, 0, 0, [1.0]) == ["e"]


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_a_long_chain_of_cases(mode: str) -> None:
    n = MAX_NESTED_CONDITIONS + 10
    k = pt.lscalar("k")
    out: Any = noted("none", x)
    for i in reversed(range(n)):
        out = ifelse(pt.eq(k, i), noted(str(i), x + float(i)), out)
    f = rw.function([k, x], out, mode=mode)
    for i in (0, 7, MAX_NESTED_CONDITIONS - 2):
        assert f(i, [0.5]).tolist() == [i + 0.5]
        assert ran(f, i, [0.5]) == [str(i)]
    assert f(n - 1, [0.5]).tolist() == [n - 0.5]
    assert f(n, [0.5]).tolist() == [0.5]


def test_many_nodes_in_a_branch() -> None:
    """The text is in several parts then."""
    a = b = x
    for k in range(1500):
        a, b = pt.sin(a) + k % 7, pt.cos(b) - k % 5
    f = rw.function([c, x], ifelse(c, a, b) + x.sum(), mode="fast_compile")
    g = rw.function([c, x], ifelse(c, a, b) + x.sum(), mode="py")
    for i in (0, 1):
        np.testing.assert_allclose(f(i, [0.3]), g(i, [0.3]))


def test_deep_graphs() -> None:
    out: Any = x
    for k in range(20_000):
        out = ifelse(c, out, x) if k % 2 else -pt.sin(out)
    f = rw.function([c, x], out, mode=rw.Mode(optimizer=None))
    assert f(0, [0.5]).tolist() == [0.5]
    assert abs(f(1, [0.5])[0]) < 0.5


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_errors_of_a_branch_are_raised_where_it_is_taken(mode: str) -> None:
    f = rw.function([c, x, y], ifelse(c, x + y, x), mode=mode)
    assert f(0, [1.0], [1.0, 2.0]).tolist() == [1.0]
    with pytest.raises(ValueError, match="shapes"):
        f(1, [1.0], [1.0, 2.0])
    refused = pt.Assert("too small")(x, pt.all(x > 0))
    f = rw.function([c, x], ifelse(c, refused * 2, x), mode=mode)
    assert f(0, [-1.0]).tolist() == [-1.0]
    with pytest.raises(AssertionError, match="too small"):
        f(1, [-1.0])


def test_what_a_branch_has_checked_is_checked_again_behind_it() -> None:
    f = rw.function([c, x, y], [ifelse(c, (x + y) * y, x), pt.exp(x) * y])
    with pytest.raises(rw.errors.BroadcastError):
        f(0, [1.0], [1.0, 2.0])
    assert f(0, [0.0], [2.0])[1].tolist() == [2.0]


def test_numbers_that_are_read_in_a_branch_and_behind_it() -> None:
    a = pt.dscalar("a")
    f = rw.function([c, a], ifelse(c, pt.sqr(a) * 3, a - 1) * pt.exp(a))
    np.testing.assert_allclose([f(1, 2.0), f(0, 2.0)], [12 * np.exp(2), np.exp(2)])


# --- memory -----------------------------------------------------------------------------------


def test_results_are_the_callers_own() -> None:
    f = rw.function([c, x, y], ifelse(c, x, y))
    a, b = np.ones(2), np.zeros(2)
    for i, shown in ((1, a), (0, b)):
        got = f(i, a, b)
        assert not np.shares_memory(got, shown)
        got[:] = 7
    assert a.tolist() == [1, 1]
    assert b.tolist() == [0, 0]


def test_work_in_place_leaves_alone_what_is_read_elsewhere() -> None:
    h = pt.exp(x)
    f = rw.function([c, x], [pt.sin(ifelse(c, h, x * 2)) + 1, h])
    for i in (0, 1):
        at = np.array([0.5, 1.0])
        got = f(i, at)
        np.testing.assert_allclose(got[0], np.sin(np.exp(at) if i else at * 2) + 1)
        np.testing.assert_allclose(got[1], np.exp([0.5, 1.0]))
        assert at.tolist() == [0.5, 1.0]


def test_updates() -> None:
    count = rw.shared(np.float64(0.0), "count")
    f = rw.function([c], [], updates={count: ifelse(c, count + 1, count)})
    for i in (1, 0, 1):
        f(i)
    assert count.get_value() == 2


# --- types ------------------------------------------------------------------------------------


def test_types_and_forms() -> None:
    a, b = pt.tensor("a", shape=(2, 3)), pt.tensor("b", shape=(2, 4))
    assert ifelse(c, a, b).type.shape == (2, None)
    assert isinstance(ifelse(c, [x], [y]), list)
    assert isinstance(ifelse(c, (x, c), (y, d)), tuple)
    assert ifelse(c, x, [y]).type == x.type
    assert ifelse(c, x.sum(), 0).type == pt.dscalar
    assert ifelse(1, 1.5, x.sum()).type == pt.dscalar
    f = rw.function([c, x, y], ifelse(c, [x, y], (y, x)))
    assert [v.tolist() for v in f(0, [1.0], [2.0, 3.0])] == [[2.0, 3.0], [1.0]]


def test_other_types() -> None:
    first, second = (rw.shared(np.random.default_rng(k)) for k in (1, 2))
    draw = pt.random.normal(rng=ifelse(c, first, second))
    f = rw.function([c], draw)
    wanted = [np.random.default_rng(k).normal() for k in (2, 1)]
    np.testing.assert_allclose([f(0), f(1)], wanted)


def test_wrong_uses() -> None:
    with pytest.raises(InputError, match="the branches must have equally many values, not 2 and 1"):
        ifelse(c, [x, y], [x])
    with pytest.raises(NDimError, match=r"the condition must be a single number[\s\S]*switch"):
        ifelse(x, x, y)
    with pytest.raises(TypeError, match="pt.eq"):
        ifelse(x == 1, x, y)
    with pytest.raises(DTypeError, match="the branches have different dtypes: float64 and int64"):
        ifelse(c, x.sum(), d)
    with pytest.raises(
        NDimError, match="the branches have different numbers of dimensions: 1 and 0"
    ):
        ifelse(c, [x, x], [y, y.sum()])
    with pytest.raises(TypeError, match="the branches have different types"):
        ifelse(c, x, rw.shared(np.random.default_rng(1)))


def test_lengths_need_no_branch() -> None:
    out = ifelse(c, noted("then", x), noted("else", pt.join(0, x, y)))
    f = rw.function([c, x, y], out.shape[0])
    assert [int(f(i, [1.0], [1.0, 2.0])) for i in (1, 0)] == [1, 3]
    assert ran(f, 1, [1.0], [1.0]) == []


# --- rules ------------------------------------------------------------------------------------


def ops(f: Any) -> list[str]:
    return [str(node.op) for node in f.fgraph.toposort()]


def test_conditions_that_are_known() -> None:
    f = rw.function([x], ifelse(pt.constant(2), x[0], x[7]))
    assert ops(f) == ["Subtensor{0}"]
    f = rw.function([c, x], ifelse(c, ifelse(c, x[0], x[7]), ifelse(c, x[8], x[1])))
    assert sorted(ops(f)) == ["Subtensor{0}", "Subtensor{1}", "ifelse"]
    f = rw.function([x], ifelse(x[7] > 0, x, x))  # a condition is always computed
    with pytest.raises(rw.errors.AxisError):
        f([1.0])
    f = rw.function([x, y], ifelse(pt.constant(2), [pt.exp(x), y], [x, y * 2]))
    assert ops(f) == ["exp"]
    f = rw.function([c, x], ifelse(pt.eq(c, c), pt.exp(x), x))
    assert f(3, [0.0]).tolist() == [1.0]


def test_outputs_that_need_no_condition() -> None:
    f = rw.function([c, x, y], ifelse(c, [x, x, y], [x, y, y]))
    (node,) = f.fgraph.toposort()
    assert (node.op, list(node.inputs)) == (IfElse(), f.fgraph.inputs)
    f = rw.function([c, x, y], ifelse(c, [x, x, pt.exp(x)], [y, y * 2, y])[1])
    assert [node.op for node in f.fgraph.toposort() if isinstance(node.op, IfElse)] == [IfElse()]
    assert "exp" not in ops(f)


@pytest.mark.on_vm
def test_the_same_condition_inside() -> None:
    inner = ifelse(c, [pt.exp(x), x], [pt.log(x), y])
    f = rw.function([c, x, y], ifelse(c, inner[0], ifelse(c, pt.sin(x), inner[1])))
    assert ops(f) == ["exp", "ifelse"]
    got = [f(i, [1.0], [2.0]).tolist() for i in (0, 1)]
    assert got == [[2.0], [np.e]]


def test_equal_choices_are_one() -> None:
    f = rw.function([c, x, y], ifelse(c, x, y) + 2 * ifelse(c, x, y))
    assert ops(f).count("ifelse") == 1


# --- as any op --------------------------------------------------------------------------------


def test_batches() -> None:
    xs, cs = pt.dmatrix("xs"), pt.lvector("cs")
    out = ifelse(c, pt.sin(x), x * 2)
    a = np.array([[0.5, 1.0], [2.0, 3.0]])
    f = rw.function([c, xs], vectorize_graph(out, {x: xs}))
    np.testing.assert_allclose(f(1, a), np.sin(a))
    np.testing.assert_allclose(f(0, a), a * 2)
    wanted = np.array([np.sin(a[0]), a[1] * 2])
    f = rw.function([cs, xs], vectorize_graph(out, {x: xs, c: cs}))
    np.testing.assert_allclose(f([1, 0], a), wanted)
    f = rw.function([cs, x], vectorize_graph(out, {c: cs}))
    np.testing.assert_allclose(f([1, 0], a[0]), [np.sin(a[0]), a[0] * 2])


def test_printing_pickling_and_copies() -> None:
    out = ifelse(c, x, y, name="which")
    assert rw.pp(out) == "ifelse(c, x, y)"
    assert (out.name, [v.name for v in ifelse(c, [x], [y], "many")]) == ("which", ["many_0"])
    assert pickle.loads(pickle.dumps(out)).owner.op is out.owner.op is IfElse()
    f = pickle.loads(pickle.dumps(rw.function([c, x, y], out)))
    assert f(0, [1.0], [2.0]).tolist() == [2.0]
    other = rw.clone_replace(out, {x: y * 2})
    assert other.eval({c: 1, y: [2.0]}).tolist() == [4.0]


def test_in_a_loop() -> None:
    step = lambda v, t: ifelse(v > 0, t + noted("then", v), noted("else", t) * 2)
    out = rw.scan(step, x, pt.constant(1.0), return_updates=False)
    f = rw.function([x], [out, grad(out[-1], x)])
    got = f([1.0, -1.0, 3.0])
    assert got[0].tolist() == [2.0, 4.0, 7.0]
    assert ran(rw.function([x], out), [1.0, -1.0, 3.0]) == ["else", "then", "then"]


def test_in_an_op_that_holds_a_graph() -> None:
    op = rw.OpFromGraph([c, x], [ifelse(c, noted("then", x), noted("else", x))])
    f = rw.function([c, x], op(c, x * 2))
    assert ran(f, 1, [1.0]) == ["then"]
    assert ran(f, 0, [1.0]) == ["else"]


# --- any graphs -------------------------------------------------------------------------------

NUMBERS = st.integers(0, 30)
STEPS = st.lists(
    st.tuples(st.sampled_from("+*se?~"), NUMBERS, NUMBERS, NUMBERS), min_size=3, max_size=25
)


def drawn(steps: Any, leaves: list[Any], conditions: list[Any], choose: Any, m: Any) -> list[Any]:
    """The values of a program: of variables, or of arrays."""
    values = list(leaves)
    for kind, i, j, k in steps:
        a, b = values[i % len(values)], values[j % len(values)]
        if kind == "+":
            values.append(a + b)
        elif kind == "*":
            values.append(a * b * 0.5)
        elif kind == "s":
            values.append(m.sin(a))
        elif kind == "e":
            values.append(m.sqrt(abs(b)))
        elif kind == "?":
            values.append(choose(conditions[k % len(conditions)], a, b))
        else:
            values.append(choose((a.sum() > b.sum()), b, a))
    return values


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(0, 1), st.integers(0, 1), st.lists(NUMBERS, min_size=1, max_size=3))
def test_any_graphs(steps: Any, i: int, j: int, shown: list[int]) -> None:
    at = [np.array([0.3, -1.2, 2.0]), np.array([1.5, 0.2, -0.7])]
    made = drawn(steps, [x, y], [c, d], ifelse, pt)
    wanted = drawn(steps, at, [i, j], lambda c, a, b: a if c else b, np)
    outputs = [made[k % len(made)] for k in shown]
    expected = [wanted[k % len(made)] for k in shown]
    for mode in ("vm", "py", rw.Mode(optimizer=None)):
        f = rw.function([c, d, x, y], outputs, mode=mode, on_unused_input="ignore")
        for _ in range(2):
            np.testing.assert_allclose(f(i, j, *at), expected, rtol=1e-9, atol=1e-9)
    assert [a.tolist() for a in at] == [[0.3, -1.2, 2.0], [1.5, 0.2, -0.7]]
