"""What draws do with states: two draws are two, one used twice is one, nobody's generator changes
but where it is updated; under all modes.
"""

from __future__ import annotations

import copy
import pickle
from copy import deepcopy
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from etuples import etuple
from hypothesis import given, settings
from hypothesis import strategies as st
from unification import reify, unify, var

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DisconnectedInputError,
    DTypeError,
    MethodNotDefined,
    NullTypeGradError,
    OptionError,
    ShapeError,
)
from rewrite_engine.explain import explain
from rewrite_engine.graph.memory import check_memory
from rewrite_engine.random import RandomVariable, functions
from rewrite_engine.terms import etuplize
from tests.random.cases import CASES, Case

r = pt.random
MODES = ["fast_run", "fast_compile", rw.Mode(linker="py")]
in_all_modes = pytest.mark.parametrize("mode", MODES, ids=str)
m = pt.dscalar("m")


def generator() -> Any:
    return np.random.default_rng(7)


def numbers(n: int) -> Any:
    return generator().standard_normal(n)


def draws(f: Any) -> list[Any]:
    """The nodes that draw."""
    return [n for n in f.fgraph.toposort() if isinstance(n.op, RandomVariable)]


# --- two are two, one is one ----------------------------------------------------------------------

KINDS = [
    (lambda rng, size: r.normal(0.0, 1.0, size, rng=rng, return_next_rng=True),
     lambda rng, size: rng.normal(0.0, 1.0, size)),
    (lambda rng, size: r.normal(1.0, 1.0, size, rng=rng, return_next_rng=True),
     lambda rng, size: rng.normal(1.0, 1.0, size)),
    (lambda rng, size: r.uniform(0.0, 1.0, size, rng=rng, return_next_rng=True),
     lambda rng, size: rng.uniform(0.0, 1.0, size)),
    (lambda rng, size: r.integers(0, 9, size, rng=rng, return_next_rng=True),
     lambda rng, size: rng.integers(0, 9, size)),
]  # fmt: skip
SIZES = [None, (2,), (1, 3)]
PROGRAMS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, len(KINDS) - 1), st.sampled_from(SIZES)),
    min_size=1,
    max_size=7,
)


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, st.sampled_from(MODES), st.booleans())
def test_two_draws_never_merge_and_one_never_splits(program: Any, mode: Any, twice: bool) -> None:
    """Draws from any states that there are, the two given ones among them, in a row."""
    two = [r.rng(), r.rng()]
    values = [generator(), np.random.default_rng(8)]
    states: list[Any] = [*two]
    outputs, wanted, places = [], [], set()
    names: list[Any] = [("given", 0), ("given", 1)]  # (what tells states apart)
    for k, kind, size in program:
        k %= len(states)
        ours, numpys = KINDS[kind]
        after, x = ours(states[k], size)
        state = deepcopy(values[k])
        drawn = numpys(state, size)
        states.append(after)
        values.append(state)
        names.append((names[k], kind, size))
        places.add(names[-1])
        outputs += [x, x * x + x] if twice else [x]
        wanted += [drawn, drawn * drawn + drawn] if twice else [drawn]
    f = rw.function(two, [*outputs, states[-1]], mode=mode, on_unused_input="ignore")
    assert len(draws(f)) == len(places)
    one, other = generator(), np.random.default_rng(8)
    for _ in range(2):  # what was given is as it was
        *found, last = f(one, other)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15)
        assert two[0].type.values_eq(last, values[-1])


@in_all_modes
def test_parameters_and_sizes_tell_draws_apart(mode: Any) -> None:
    state = r.shared_rng(generator())
    one = [r.normal(0.0, 1.0, rng=state), r.normal(0, 1, rng=state), r.normal(0.0, 2.0, rng=state),
           r.normal(0.0, 1.0, (1,), rng=state), r.normal(0.0, 1.0, dtype="float32", rng=state),
           r.normal(0.0, 1.0, rng=r.shared_rng(generator())), r.normal(), r.normal(),
           r.default_rng().normal()[1], r.default_rng().normal()[1],
           r.default_rng(7).normal()[1], r.default_rng(7).normal()[1]]  # fmt: skip
    found = rw.function([], one, mode=mode)()
    first = numbers(1)[0]
    assert found[0] == found[1] == found[3][0] == found[5] == found[10] == found[11] == first
    assert found[2] == 2 * first
    assert found[4] == np.float32(first)
    assert len({float(x.item()) for x in found[6:10]} | {first}) == 5


def test_nothing_is_computed_while_compiling() -> None:
    f = rw.function([], r.normal(0.0, 1.0, size=(2,), rng=r.default_rng(7)) + 1.0)
    assert len(draws(f)) == 1
    np.testing.assert_array_equal(f(), numbers(2) + 1.0)
    g = rw.function([], r.default_rng().normal()[1])
    assert g() != g()


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.on_vm
def test_states_are_overwritten_where_nobody_needs_them() -> None:
    state = start = r.rng("state")
    outputs = []
    for _ in range(4):
        state, x = state.normal(0.0, 1.0, size=(2,))
        outputs.append(x)
    f = rw.function([start], [*outputs, state])
    assert [n.op.inplace for n in draws(f)] == [False, True, True, True]
    rng = generator()
    *found, last = f(rng)
    np.testing.assert_array_equal(np.concatenate(found), numbers(8))
    assert last.standard_normal() == numbers(9)[8]
    np.testing.assert_array_equal(rng.standard_normal(2), numbers(2))
    slow = rw.function([start], outputs, mode="fast_compile")
    assert not any(n.op.inplace for n in draws(slow))


@in_all_modes
def test_an_old_state_that_is_needed_is_kept(mode: Any) -> None:
    start = r.rng()
    middle, _ = start.normal(size=(2,))
    last, x = middle.normal(size=(2,))
    _, y = middle.uniform(size=(3,))
    rng = generator()
    rng.normal(size=2)
    want = [deepcopy(rng).normal(size=2), deepcopy(rng).uniform(size=3)]
    found = rw.function([start], [x, y, middle, last], mode=mode)(generator())
    np.testing.assert_array_equal(found[0], want[0])
    np.testing.assert_array_equal(found[1], want[1])
    assert found[2].normal() == rng.normal()


def test_what_ops_do_with_memory() -> None:
    for op in (r.normal, r.multivariate_normal(np.zeros(2), np.eye(2)).owner.op):
        params = [0.0, 1.0] if op is r.normal else [np.zeros(2), np.eye(2)]
        node = op(r.rng(), None, *params).owner
        twin = node.op.inplace_on_inputs([0]).make_node(*node.inputs)
        assert twin.op.inplace
        assert twin.op.inplace_on_inputs([0]) is None
        for n in (node, twin):
            check_memory(n, [generator(), None, *map(np.asarray, params)])


@in_all_modes
def test_a_shared_generator_goes_on_only_where_it_is_updated(mode: Any) -> None:
    given = generator()
    state = rw.shared(given, "state", borrow=True)
    after, x = state.normal(0.0, 1.0, size=(2,))
    stays = rw.function([], x, mode=mode)
    goes = rw.function([], x, updates={state: after}, mode=mode)
    for _ in range(2):
        np.testing.assert_array_equal(stays(), numbers(2))
    np.testing.assert_array_equal(goes(), numbers(2))
    np.testing.assert_array_equal(goes(), numbers(4)[2:])
    np.testing.assert_array_equal(stays(), numbers(6)[4:])
    np.testing.assert_array_equal(given.standard_normal(2), numbers(2))


@in_all_modes
def test_a_call_that_fails_leaves_the_state(mode: Any) -> None:
    state = r.shared_rng(generator())
    after, x = state.normal(0.0, 1.0, size=(2,))
    last, y = after.normal(0.0, m, size=(2,))
    f = rw.function([m], [x, y], updates={state: last}, mode=mode)
    with pytest.raises(r.ParameterError):
        f(-1.0)
    np.testing.assert_array_equal(np.concatenate(f(1.0)), numbers(4))


@in_all_modes
def test_draws_in_a_graph_inside_an_op(mode: Any) -> None:
    start = r.rng()
    after, x = start.normal(m, 1.0, size=(2,))
    both = rw.OpFromGraph([start, m], [*after.normal(x, 1.0), x], name="both")
    state = r.shared_rng(generator())
    next_rng, y, z = both(state, 3.0)
    last, again, _ = both(next_rng, 0.0)
    f = rw.function([], [z, y, again], updates={state: last}, mode=mode)
    rng = generator()
    for _ in range(2):
        x_, found = rng.normal(3.0, 1.0, 2), f()
        np.testing.assert_array_equal(found[0], x_)
        np.testing.assert_array_equal(found[1], rng.normal(x_, 1.0))
        np.testing.assert_array_equal(found[2], rng.normal(rng.normal(0.0, 1.0, 2), 1.0))


# --- streams --------------------------------------------------------------------------------------


@in_all_modes
def test_a_stream_has_a_generator_per_draw(mode: Any) -> None:
    stream = r.RandomStream(3)
    x, y = stream.normal(0.0, 1.0, size=(2,)), stream.uniform(size=(2,))
    f = rw.function([], [x + x, y], mode=mode)

    def both(seed: int) -> Any:
        return map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))

    a, b = both(3)
    for _ in range(2):
        found = f()
        np.testing.assert_array_equal(found[0], 2 * a.normal(size=2))
        np.testing.assert_array_equal(found[1], b.uniform(size=2))
    for seed in (5, None):
        stream.seed(seed)
        a, b = both(seed or 3)
        np.testing.assert_array_equal(f()[0], 2 * a.normal(size=2))
    z = rw.function([], stream.normal())()
    assert z == np.random.default_rng(np.random.SeedSequence(3).spawn(3)[2]).normal()
    states = [state for state, _ in stream.updates()]
    assert len(states) == 3
    assert states[0].default_update is stream.updates()[0][1]
    assert rw.function([], x, no_default_updates=True)() is not None


def test_methods_of_streams_and_states() -> None:
    stream, state = r.RandomStream(3), r.shared_rng(seed=1)
    assert stream.gen(r.gamma, 2.0, scale=1.0).type == pt.dscalar
    next_rng, x = stream.normal(return_next_rng=True)
    assert stream.updates()[-1][1] is next_rng
    for name in functions.__all__:
        assert callable(getattr(stream, name))
        assert callable(getattr(state, name))
    next_rng, x = state.choice(5, size=(2,), replace=False)
    assert next_rng.type is state.type
    assert x.type.shape == (2,)
    own = r.RandomStream(3, rng_ctor=lambda s: np.random.Generator(np.random.MT19937(s)))
    want = np.random.Generator(np.random.MT19937(np.random.SeedSequence(3).spawn(1)[0]))
    assert own.normal().eval() == want.normal()
    for thing in (stream, state):
        with pytest.raises(AttributeError, match="has no attribute 'bogus'"):
            _ = thing.bogus
    with pytest.raises(AttributeError):
        _ = stream.operand  # (a name of the module that is no distribution)
    with pytest.raises(OptionError, match="uses its own generators: omit rng"):
        stream.normal(rng=state)


def test_streams_are_copied() -> None:
    stream = r.RandomStream(3)
    x = stream.normal()
    (again, y), other = pickle.loads(pickle.dumps((stream, x))), copy.copy(stream)
    assert (
        x.eval()
        == y.eval()
        == np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0]).normal()
    )
    assert again.updates()[0][1].owner is y.owner
    assert again.normal().eval() == stream.normal().eval()
    assert other.gen_seedgen is stream.gen_seedgen
    module = ModuleType("laws")
    module.twice = lambda rng, return_next_rng: r.normal(2.0, 0.0, rng=rng, return_next_rng=True)
    assert r.RandomStream(3, namespace=module).twice().eval() == 2.0


def test_making_generators() -> None:
    rng = generator()
    assert r.shared_rng(rng).get_value(borrow=True) is not rng
    assert r.shared_rng(rng, borrow=True, name="s").get_value(borrow=True) is rng
    assert r.shared_rng(seed=7).get_value().normal() == numbers(1)[0]
    assert r.rng("s").name == "s"
    for bad in ({}, {"value": rng, "seed": 1}):
        with pytest.raises(OptionError, match="either a generator or seed"):
            r.shared_rng(**bad)
    with pytest.raises(DTypeError, match="expected a numpy.random.Generator"):
        r.shared_rng(3)
    seed = pt.lscalar("seed")
    f = rw.function([seed], r.default_rng(seed).normal(size=(2,))[1])
    np.testing.assert_array_equal(f(7), numbers(2))
    several = r.default_rng([1, 2]).normal()[1].eval()
    assert several == np.random.default_rng([1, 2]).normal()


# --- tools ----------------------------------------------------------------------------------------


def test_draws_are_terms() -> None:
    state, loc = r.rng("state"), var("loc")
    x = pt.exp(r.normal(m, 2.0, size=(3,), rng=state))
    assert etuplize(x).evaled_obj is x
    outer, inner = etuplize(x), etuplize(x.owner.inputs[0])
    assert etuple(outer[0], etuple(*inner)).evaled_obj.owner.inputs[0].owner.op is inner[0]
    pattern = etuple(*inner[:3], loc, inner[4])
    found = unify(inner, pattern, {})
    assert found[loc] is m
    other = reify(pattern, {loc: pt.constant(5.0)}).evaled_obj
    np.testing.assert_array_equal(
        other.eval({state: generator()}), generator().normal(5.0, 2.0, size=3)
    )


def test_explained_saturated_and_rewritten() -> None:
    state = r.rng("state")
    after, x = state.normal(size=(3,))
    outputs = [pt.log(pt.exp(x)) + after.gamma(2.0, scale=1.0)[1], x.shape]
    text = explain(outputs, [state], values=[generator()], mode=rw.Mode("fast_run")).text()
    assert "no values disagree" in text
    rng = generator()
    want = rng.normal(size=3) + rng.gamma(2.0, 1.0)
    for mode in (rw.Mode("fast_run"), rw.Mode("fast_run").including("saturate")):
        f = rw.function([state], outputs, mode=mode)
        assert len(draws(f)) == 2
        np.testing.assert_allclose(f(generator())[0], want)


# --- slopes, batches, ops of others ---------------------------------------------------------------


def test_slopes() -> None:
    state, x = r.shared_rng(generator()), pt.dscalar("x")
    for draw in (r.normal(m, rng=state), r.poisson(m, rng=state).astype("float64")):
        with pytest.raises(NullTypeGradError, match="random variables"):
            rw.grad(draw * x, m)
        np.testing.assert_array_equal(
            rw.grad(draw * x, x).eval({m: 1.0, x: 2.0}), draw.eval({m: 1.0})
        )
    with pytest.raises(NullTypeGradError, match="random variables|null"):
        rw.gradient.Rop(r.normal(m, rng=state) * x, m, m)
    assert rw.gradient.Rop(r.normal(rng=state) * x, x, m).type == x.type
    n = pt.cast(m, "int64")
    with pytest.raises(DisconnectedInputError):
        rw.grad(r.normal(size=(n,), rng=state).sum(), m)


def test_batches() -> None:
    state, mv, s, n = r.shared_rng(generator()), pt.vector("mv"), pt.vector("s"), pt.lscalar("n")
    at = {mv: [1.0, 2.0], s: [1.0, 3.0, 2.0], n: 3}
    loc, scale = np.array([[1.0], [2.0]]), np.array([1.0, 3.0, 2.0])
    for size in (None, (3,), (n,), (4, 3)):
        (many,) = pt.vectorize_graph([r.normal(m, s, size, rng=state)], {m: mv})
        shape = (2, 4, 3) if size == (4, 3) else (2, 3)
        wide = loc[:, None] if size == (4, 3) else loc
        used = {v: at[v] for v in (mv, s, *([n] if size == (n,) else []))}
        np.testing.assert_array_equal(many.eval(used), generator().normal(wide, scale, shape))
    (many,) = pt.vectorize_graph([r.dirichlet(s, rng=state)], {s: pt.constant(np.ones((5, 3)))})
    assert many.eval().shape == many.type.shape == (5, 3)
    after, many = pt.vectorize_graph(r.normal(m, 1.0, rng=state).owner.outputs, {m: mv})
    assert after is many.owner.outputs[0]
    few = r.choice(pt.lscalar("k"), 2, replace=False)
    with pytest.raises(
        MethodNotDefined, match="draws that depend on each other cannot have a batch"
    ):
        pt.vectorize_graph([few], {few.owner.inputs[2]: pt.lvector()})


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_distribution_has_batches(case: Case) -> None:
    """The draws for a batch of one parameter are those for that as the parameter."""
    if case.name == "permutation":
        return  # (of an array along a batch: the same order)
    given = [np.asarray(p) for p in case.params]
    for i, one in enumerate(given):
        inputs = [pt.TensorType(p.dtype, p.shape)() for p in given]
        many = pt.TensorType(one.dtype, (4, *one.shape))()
        values = [np.stack([p] * 4) if k == i else p for k, p in enumerate(given)]
        for size in (None, (2, 3)):
            (found,) = pt.vectorize_graph([case.draw(inputs, size=size)], {inputs[i]: many})
            wide = [v[:, None, None] if k == i and size else v for k, v in enumerate(values)]
            want = case.draw(wide, size=size and (4, *size))
            assert found.type.shape == want.type.shape
            variables = [many if k == i else v for k, v in enumerate(inputs)]
            used = dict(zip(variables, values, strict=True))
            np.testing.assert_array_equal(found.eval(used), want.eval())


class Bump(RandomVariable):
    """An op of a user, in the way of other libraries."""

    name = "bump"
    signature = "(),()->()"
    dtype = "floatX"

    def __call__(self, center: Any, width: Any = 1.0, size: Any = None, **options: Any) -> Any:
        return super().__call__(center, width, size=size, **options)

    @classmethod
    def rng_fn(cls, rng: Any, center: Any, width: Any, size: Any) -> Any:  # type: ignore[override]
        return center + width * rng.beta(2.0, 2.0, size)


class Ranked(RandomVariable):
    """As older versions have it: only how many dimensions there are."""

    name = "ranked"
    ndim_supp = 1
    ndims_params = [1, 0]

    @classmethod
    def rng_fn(cls, rng: Any, x: Any, n: Any, size: Any) -> Any:  # type: ignore[override]
        return rng.normal(x.sum(-1), 1.0, size)[..., None] + np.arange(2.0)


class Wrong(RandomVariable):
    name, signature = "wrong", "()->()"

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        return np.zeros(3)


class Fixed(RandomVariable):
    """It shows the memory of its parameter."""

    name, signature = "fixed", "()->()"

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        value, size = args
        return value if size is None else np.broadcast_to(value, size)


@in_all_modes
def test_draws_are_new_arrays(mode: Any) -> None:
    state, v = r.shared_rng(generator()), pt.vector("v")
    f = rw.function(
        [v], [pt.exp(Fixed()(v, size=size, rng=state)) for size in (None, (2, 3))], mode=mode
    )
    given = np.zeros(3)
    for found in f(given):
        np.testing.assert_array_equal(found, np.ones(found.shape))
    np.testing.assert_array_equal(given, 0.0)


@in_all_modes
def test_an_op_of_a_user(mode: Any) -> None:
    state = r.shared_rng(generator())
    x = Bump()(3.0, size=(4,), rng=state)
    f = rw.function([], x, mode=mode)
    np.testing.assert_array_equal(f(), 3.0 + generator().beta(2.0, 2.0, 4))
    assert Bump() is Bump()
    assert pickle.loads(pickle.dumps(Bump())) is Bump()
    y = Ranked()([1.0, 2.0], 3, size=(4,), rng=state)
    assert y.owner.op.signature == "(d0),()->(d1)"
    assert y.type.shape == (4, None)
    assert rw.function([], y.shape, mode=mode)().tolist() == [4, 2]
    assert RandomVariable("law", 0, [0, 1], "int8").signature == "(),(d0)->()"
    with pytest.raises(MethodNotDefined, match="neither a signature nor ndims_params"):
        RandomVariable("law")
    with pytest.raises(MethodNotDefined, match="law defines no rng_fn"):
        rw.function([], RandomVariable("law", 0, [0])(1.0), mode=mode)()
    with pytest.raises(
        ShapeError, match=r"wrong: drew an array of shape \(3,\), which is not one of \(\)"
    ):
        rw.function([], Wrong()(1.0, rng=state), mode=mode)()


def test_what_ops_are() -> None:
    state = r.shared_rng(generator(), name="state")
    node = r.normal(m, [1.0, 2.0], size=(3, 2), rng=state, name="x").owner
    op = node.op
    assert (op.name, op.signature, op.dtype, op.ndim_supp) == ("normal", "(),()->()", "float64", 0)
    assert op.rng_param(node) is state
    assert op.dist_params(node)[0] is m
    np.testing.assert_array_equal(op.size_param(node).data, [3, 2])
    assert op.batch_ndim(node) == 2
    assert op.update(node) == {state: node.outputs[0]}
    assert node.outputs[1].name == "x"
    assert op(*node.inputs).owner.op is op  # as terms are evaluated
    for size in ((5,), (4, 2), None):  # an op of a node is one for other sizes, too
        again = op(0.0, 1.0, size=size, rng=state)
        assert again.type.shape == again.eval().shape == (size or ())
        assert op.make_node(state, size, 0.0, 1.0).outputs[1].type == again.type
    v = pt.lvector(shape=(2,))
    wide = op(m, [1.0, 2.0], size=v, rng=state)
    assert wide.type.shape == (None, None)
    known = op.make_node(state, v, m, [1.0, 2.0]).outputs[1]  # as where a node is built anew
    assert known.type.shape == (3, 2)
    assert known.eval({v: [3, 2], m: 0.0}).shape == (3, 2)
    with pytest.raises(ShapeError, match=r"shape \(4, 2\), which is not one of \(3, 2\)"):
        known.eval({v: [4, 2], m: 0.0})
    with rw.config.change_flags(floatX="float32"):
        assert r.normal(rng=state).type.dtype == "float32"
    assert r.normal(rng=state).type.dtype == "float64"
    assert r.t.parameters == ["df", "loc", "scale"]
    again = pickle.loads(pickle.dumps([state, node.outputs[1], r.normal]))
    assert again[2] is r.normal
    assert rw.function([again[1].owner.inputs[2]], again[1])(0.0).shape == (3, 2)
    assert copy.deepcopy(state).get_value().normal() == numbers(1)[0]
    assert "normal" in rw.dprint(node.outputs[1], file="str")
    assert "normal" in rw.pp(node.outputs[1])
