"""Terms of tensors: what variables with lengths, dtypes and many operators add to the toy ops."""

from __future__ import annotations

import numpy as np
from kanren import conso, eq, lall, run, var
from kanren.graph import reduceo, walko

import rewrite_engine.tensor as pt
from rewrite_engine.tensor.operators import TensorOperators
from rewrite_engine.terms import LogicVariable, PatternTerm, etuplize, pattern_classes, reify, unify

Logic, Pattern = pattern_classes(TensorOperators)


def test_patterns_are_written_with_operators() -> None:
    x, y = Logic("x"), Logic("y")
    assert repr(pt.log(1 + x) * -(y**2)) == "log(1 + x) * -y ** 2"
    assert repr(x @ y - 2.5 / x) == "x @ y - 2.5 / x"
    assert type(pt.exp(x) + y) is Pattern


def test_a_pattern_unifies_with_a_graph() -> None:
    x = Logic("x")
    v = pt.vector("v")
    for graph in (pt.log(1 + v), pt.log(pt.add(1.0, v)), pt.log(np.float64(1) + v)):
        assert unify(pt.log(1 + x), graph) == {x: v}
    assert unify(pt.log(2 + x), pt.log(1 + v)) is False
    assert reify(pt.exp(x) * x, {x: v}).owner.inputs[1] is v


def test_constants_of_the_same_content_are_equal() -> None:
    a, b = pt.constant(np.ones(3)), pt.constant(np.ones(3))
    assert unify(pt.exp(a), pt.exp(b)) == {}
    assert unify(a, pt.constant(np.ones(3, "float32"))) is False
    assert unify(a, pt.constant(np.zeros(3))) is False


def test_a_type_restricts_a_variable() -> None:
    x = LogicVariable("x", pt.TensorType("float64", (None,)))
    assert unify(pt.exp(x), pt.exp(pt.vector())) is not False
    assert unify(pt.exp(x), pt.exp(pt.tensor(dtype="float64", shape=(3,)))) is not False
    assert unify(pt.exp(x), pt.exp(pt.matrix())) is False
    assert unify(pt.exp(x), pt.exp(pt.fvector())) is False


def test_types_and_ops_as_terms() -> None:
    t = pt.TensorType("float64", (2, None))
    assert repr(etuplize(t)) == "e(TensorType, 'float64', (2, None))"
    n = var()
    assert unify(PatternTerm(etuplize(t)), t) == {}
    assert run(0, n, eq(etuplize(t)[:2], etuplize(t)[:2]), conso(n, var(), etuplize(t))) == (
        pt.TensorType,
    )


def test_relations_on_variables_of_every_length() -> None:
    def log_exp(before: object, after: object) -> object:
        k = Logic("k")
        return lall(eq(before, pt.log(pt.exp(k))), eq(after, k))

    q = var()
    for shape in ((0,), (3,), (), (2, None)):
        v = pt.tensor("v", dtype="float64", shape=shape)
        graph = pt.sin(pt.log(pt.exp(v)))
        assert run(1, q, reduceo(log_exp, graph.owner.inputs[0], q))[0] is v
        found = [t.evaled_obj for t in run(0, q, walko(log_exp, graph, q))]
        assert any(f.owner.op is pt.sin and f.owner.inputs[0] is v for f in found)
