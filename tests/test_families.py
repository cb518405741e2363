"""Types that are no tensors: built, rewritten, merged, compiled, run, printed and pickled."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import facts
from rewrite_engine.explain import explain
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.op import Op
from rewrite_engine.language import *
from rewrite_engine.random import random_generator_type
from tests.families import *

A = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
S, T = SparseType("float64")("S"), SparseType("float64")("T")
M, v = pt.matrix("M"), pt.vector("v")


G = random_generator_type("G")


class Pick(Op):
    """The first of several things."""

    __props__ = ()
    elements = slice(0, 1)
    implied = {"distinct": "distinct", "positive": True, "finite": "finite"}

    def infer_types(self, types: Any) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].copy()


def ops(f: Any) -> list[str]:
    return [str(node.op) for node in f.fgraph.toposort()]


# --- sparse matrices ------------------------------------------------------------------------------


@rule(phase="canonicalize", claim=exact)
def there_and_back(x: Matrix):
    """A sparse matrix has all elements of the one it is made of."""
    return densify(sparsify(x)) >> x


@rule(phase="canonicalize", claim=exact)
def back_and_there(x: SparseType("float64")):
    """The other way round."""
    return sparsify(densify(x)) >> x


@rule(phase="canonicalize")
def scaled_twice(x, a: Scalar, b: Scalar):
    """One pass over the elements instead of two."""
    return sparse_scale(sparse_scale(x, a), b) >> sparse_scale(x, a * b)


def test_sparse_values_and_merging() -> None:
    term = densify(sparse_add(sparse_scale(S, 2.0), sparse_scale(S, 2.0), T))
    f = rw.function([S, T], [term, densify(sparse_add(T, S)), densify(sparse_add(S, T))])
    found = f(sparse.csr_array(A), A + 1)
    np.testing.assert_array_equal(found[0], 5 * A + 1)
    np.testing.assert_array_equal(found[1], found[2])
    assert ops(f).count("SparseScale{inplace=False}") == 1
    assert ops(f).count("SparseAdd") == 2
    with pytest.raises(TypeError, match="must be of type SparseType"):
        f("no matrix", A)


def test_sparse_rules() -> None:
    mode = rw.Mode("fast_run") + there_and_back + back_and_there + scaled_twice
    f = rw.function([M], densify(sparsify(densify(sparsify(M)))) + 1, mode=mode)
    assert ops(f) == ["add"]
    g = rw.function([S], sparsify(densify(S)), mode=mode)
    assert ops(g) == []
    a, b = pt.scalars("a", "b")
    h = rw.function([S, a, b], sparse_scale(sparse_scale(S, a), b), mode=mode)
    assert ops(h) == ["mul", "SparseScale{inplace=False}"]
    assert (h(sparse.csr_array(A), 2.0, 3.0) != sparse.csr_array(6 * A)).nnz == 0


@pytest.mark.parametrize(
    "sort",
    [Scalar, Vector, Matrix, Inexact, Float, Integer, Number, Ordered, Bool, InexactConstant,
     FloatConstant, ConstantNumber, Tensor["n", 3], Tensor["n"], facts.nonneg, facts.finite,
     facts.symmetric, facts.increasing, pt.dmatrix],
    ids=str,
)  # fmt: skip
def test_sorts_of_tensors_do_not_hold_of_others(sort: Any) -> None:
    def typed(x):
        """(For tests.)"""
        return sparse_scale(x, 2.0) >> sparse_scale(x, 3.0)

    typed.__annotations__ = {"x": sort}
    made = rule(typed, claim=assumes("test"))
    constant = SparseType("float64").make_constant(A)
    for x in (S, sparse_scale(S, 2.0), constant):
        term = sparse_scale(x, 2.0)
        assert made.transform(None, term.owner) is None
        assert made.interpreted(None, term.owner) is None


@pytest.mark.parametrize(
    "x", [S, sparse_scale(S, 2.0), Pick()(S, T), SparseType("float64").make_constant(A), G]
)
def test_facts_do_not_know(x: Any) -> None:
    for fact in [f for f in vars(facts).values() if getattr(f, "unary", False)]:
        assert isinstance(str(fact(x)), str)
    for fact in (facts.finite, facts.nonneg, facts.bounded, facts.symmetric, facts.distinct):
        assert not fact(x)
    for other in (M, S):
        assert not facts.same_shape(x, other)
        assert not facts.same_rank(x, other)
    assert not facts.same_dtype(x, M)
    assert facts.same_dtype(x, x)


@pytest.mark.on_vm
def test_sparse_shape_and_work_in_place() -> None:
    term = densify(sparse_scale(sparse_add(S, T), 2.0))
    f = rw.function([S, T], [term, term.shape[0]])
    assert "SparseScale{inplace=True}" in ops(f)
    given = sparse.csr_array(A)
    found = f(given, given)
    np.testing.assert_array_equal(found[0], 4 * A)
    assert found[1] == 2
    np.testing.assert_array_equal(given.toarray(), A)


def test_sparse_shared_printed_and_pickled() -> None:
    w = rw.shared(Rows(A), name="w")
    f = rw.function([], densify(w), updates={w: sparse_scale(w, 2.0)})
    again = pickle.loads(pickle.dumps(f))
    for one in (f, again):
        np.testing.assert_array_equal(one(), A)
        np.testing.assert_array_equal(one(), 2 * A)
    assert "SparseScale" in rw.dprint(f, file="str")
    assert "densify" in rw.pp(densify(S)) or "Densify" in rw.pp(densify(S))
    assert "SparseType(float64)" in repr(S.type) or "number" in str(S.type)
    graph = FunctionGraph([S], [sparse_scale(S, 2.0)])
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)


def test_sparse_constants_fold_and_merge() -> None:
    one, two = SparseType("float64").make_constant(A), SparseType("float64").make_constant(A)
    f = rw.function([], [densify(sparse_scale(one, 2.0)), densify(sparse_scale(two, 2.0))])
    np.testing.assert_array_equal(f()[0], 2 * A)
    assert f.fgraph.outputs[0] is f.fgraph.outputs[1]


# --- generators -----------------------------------------------------------------------------------


def generator() -> Any:
    return np.random.default_rng(7)


def numbers(n: int) -> Any:
    return generator().standard_normal(n)


def test_two_draws_are_two_and_one_used_twice_is_one() -> None:
    first, state = Normal(3)(G)
    second, _ = Normal(3)(state)
    same, _ = Normal(3)(G)
    f = rw.function([G], [first + same, second])
    assert sum(op.startswith("Normal") for op in ops(f)) == 2
    rng = generator()
    found = f(rng)
    np.testing.assert_array_equal(found[0], 2 * numbers(6)[:3])
    np.testing.assert_array_equal(found[1], numbers(6)[3:])
    np.testing.assert_array_equal(rng.standard_normal(3), numbers(3))  # what was given is as it was


@pytest.mark.on_vm
def test_states_are_destroyed_where_nobody_needs_them() -> None:
    draws, state = [], G
    for _ in range(3):
        x, state = Normal(2)(state)
        draws.append(x)
    f = rw.function([G], [*draws, state])
    assert ops(f).count("Normal{n=2, inplace=True}") == 2
    *found, last = f(generator())
    np.testing.assert_array_equal(np.concatenate(found), numbers(6))
    assert last.standard_normal() == numbers(7)[6]


def test_an_old_state_that_is_needed_is_kept() -> None:
    _, state = Normal(2)(G)
    x, last = Normal(2)(state)
    y, _ = Normal(3)(state)
    f = rw.function([G], [x, y, last])
    found = f(generator())
    np.testing.assert_array_equal(found[0], numbers(4)[2:])
    np.testing.assert_array_equal(found[1], numbers(5)[2:])


def test_a_shared_generator_goes_on() -> None:
    rng = rw.shared(generator(), name="rng")
    x, state = Normal(2)(rng)
    f = rw.function([], [x, pt.exp(x) + pt.exp(x)], updates={rng: state})
    assert (
        ops(f).count("Normal{n=2, inplace=True}") + ops(f).count("Normal{n=2, inplace=False}") == 1
    )
    np.testing.assert_array_equal(f()[0], numbers(4)[:2])
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(f()[0], numbers(4)[2:])
    np.testing.assert_array_equal(again()[0], numbers(4)[2:])
    assert "Normal" in rw.dprint(f, file="str")


def test_rules_rewrite_what_is_drawn() -> None:
    x, state = Normal(2)(G)
    f = rw.function([G], [pt.log(pt.exp(x)), state])
    assert [op for op in ops(f) if not op.startswith("Normal")] == []
    np.testing.assert_array_equal(f(generator())[0], numbers(2))
    assert rw.grad(pt.log(v.sum()) * x.sum(), v) is not None


# --- tools ----------------------------------------------------------------------------------------


def drawn_and_sparse() -> Any:
    x, state = Normal(3)(G)
    y, _ = Normal(2)(state)
    z = densify(sparse_scale(sparse_add(S, T), 2.0))
    return [S, T, G], [pt.dot(z, x) + y, z.sum()]


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile"])
def test_all_modes_compute_the_same(mode: str) -> None:
    inputs, outputs = drawn_and_sparse()
    found = rw.function(inputs, outputs, mode=mode)(A, A, generator())
    np.testing.assert_allclose(found[0], 4 * A @ numbers(5)[:3] + numbers(5)[3:])
    assert found[1] == 24


def test_saturation_passes_by() -> None:
    inputs, outputs = drawn_and_sparse()
    f = rw.function(inputs, outputs, mode=rw.Mode("fast_run").including("saturate"))
    np.testing.assert_allclose(f(A, A, generator())[1], 24)


def test_explained_and_traced() -> None:
    inputs, outputs = drawn_and_sparse()
    term = densify(sparse_scale(sparse_scale(S, 2.0), 3.0)) + 1
    mode = rw.Mode("fast_run") + scaled_twice
    given = [sparse.csr_array(A), sparse.csr_array(A), generator()]
    for values in (given, None):
        text = explain([term, *outputs], inputs, values=values, mode=mode).text()
        assert "scaled_twice" in text
    assert "SparseScale" in rw.dprint(outputs[1], file="str", print_type=True, print_shape=True)


def test_slopes_that_nobody_has_written() -> None:
    a = pt.scalar("a")
    with pytest.raises(rw.errors.RewriteEngineError):
        rw.grad(densify(sparse_scale(S, a)).sum(), a)


# --- inside of ops --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["vm", "py"])
def test_sparse_matrices_in_a_graph_inside_an_op(mode):
    c = pt.scalar("c")
    f = rw.OpFromGraph([S, c], [sparse_scale(sparse_add(S, S), c)], name="f")
    compiled = rw.function([M], densify(f(sparsify(pt.exp(M)), 2.0)), mode=mode)
    np.testing.assert_allclose(compiled(A), 4.0 * np.exp(A))
    (call,) = [node for node in compiled.fgraph.apply_nodes if str(node.op) == "f"]
    assert len(call.inputs) == 1  # the constant is inside
    scale = [n.op for n in call.op.fgraph.apply_nodes if isinstance(n.op, SparseScale)]
    assert scale == [SparseScale(inplace=mode == "vm")]


def test_states_of_generators_in_a_graph_inside_an_op():
    draw = rw.OpFromGraph([G], list(Normal(3)(G)), name="draw")
    state = rw.shared(np.random.default_rng(1), name="state")
    one, after = draw(state)
    two, last = draw(after)
    f = rw.function([], [one, two], updates={state: last})
    rng = np.random.default_rng(1)
    for _ in range(2):
        np.testing.assert_array_equal(f(), [rng.standard_normal(3), rng.standard_normal(3)])
