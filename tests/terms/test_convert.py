"""Graphs to terms and back."""

from __future__ import annotations

from typing import Any

import etuples
import pytest
from etuples import etuple as e
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import ForeignObjectError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.terms import (
    GraphTuple,
    LogicVariable,
    etuplize,
    etuplize_all,
    from_term,
    nth,
)
from tests.toy import DivMod, Num, Scale, View, add, const, divmod_, exp, log, mul, neg, num, sin

DEEP = 100_000


class Split(Op):
    """Two outputs, of which the second is what `Split()(x)` returns."""

    __props__ = ()
    default_output = 1
    itypes = (num,)
    otypes = (num, num)


@st.composite
def dags(draw: Any) -> Variable:
    """A graph with much sharing, ops with parameters, constants and nodes with two outputs."""
    pool: list[Any] = [num("x"), num("y"), const(2.0), const(-1.0)]
    for _ in range(draw(st.integers(1, 12))):
        a, b = (pool[draw(st.integers(0, len(pool) - 1))] for _ in range(2))
        makers = [
            lambda a, b: add(a, b), lambda a, b: mul(a, b, a), lambda a, b: sin(a),
            lambda a, b: Scale(3.0)(b), lambda a, b: divmod_(a, b)[1],
            lambda a, b: divmod_(a, b)[0], lambda a, b: Split()(a),
            lambda a, b: Split()(b, return_list=True)[0].owner.outputs[0],
        ]  # fmt: skip
        pool.append(draw(st.sampled_from(makers))(a, b))
    return pool[-1]


def rebuilt(term: Any) -> Any:
    """The same term without any memory of what it evaluates to (sharing kept)."""
    memo: dict[int, Any] = {}

    def go(t: Any) -> Any:
        if not isinstance(t, etuples.core.ExpressionTuple):
            return t
        if id(t) not in memo:
            memo[id(t)] = GraphTuple(tuple(go(x) for x in t))
        return memo[id(t)]

    return go(term)


@given(dags())
def test_a_term_evaluates_to_the_very_variable(x: Variable) -> None:
    term = etuplize(x)
    assert from_term(term) is x
    assert getattr(term, "evaled_obj", x) is x


@given(dags())
def test_a_term_that_forgot_its_origin_builds_an_equal_graph_with_the_same_sharing(x: Any) -> None:
    again = from_term(rebuilt(etuplize(x)))
    assert etuplize(again) == etuplize(x)
    assert again.type == x.type
    assert len(toposort([again])) == len(toposort([x]))


def opened(x: Any) -> Any:
    """The term with those of ops that have parameters in the place of the ops."""

    def of(op: Any) -> Any:
        return etuplize(op) if getattr(op, "__props__", None) else op

    return etuples.etuplize(x, rator_transform_fn=of)


@given(dags())
def test_opened_ops_evaluate_to_the_same_ops(x: Any) -> None:
    assert from_term(rebuilt(opened(x))).owner.op is x.owner.op


def test_leaves_are_their_own_terms() -> None:
    x, c = num("x"), const(2.0)
    assert etuplize(x) is x
    assert etuplize(c) is c
    assert etuples.etuplize(x) is x


def test_the_op_stands_in_operator_position_unless_asked() -> None:
    x = num("x")
    y = Scale(2.0)(x)
    assert etuplize(y) == e(Scale(2.0), x)
    assert opened(y) == e(e(Scale, 2.0), x)
    assert opened(y).evaled_obj is y
    assert opened(View()(x))[0] is View()


def test_shallow_terms_have_variables_as_operands() -> None:
    x = num("x")
    inner = exp(x)
    y = log(inner)
    assert etuplize(y, shallow=True)._tuple == (log, inner)
    assert etuplize(y, shallow=True).evaled_obj is y


def test_ops_and_types_have_terms() -> None:
    assert etuplize(Scale(2.0)) == e(Scale, 2.0)
    assert etuplize(Scale(2.0)).evaled_obj is Scale(2.0)
    assert etuplize(num) == e(Num, False)
    assert e(Num, False).evaled_obj is num
    assert etuplize(View()) == e(View)


def test_parameters_of_ops_are_given_by_name() -> None:
    """ToyOp's `__props__` are not its positional parameters."""
    assert from_term(rebuilt(etuplize(add))) is add


def test_outputs_of_one_node_share_the_term_of_the_node() -> None:
    x, y = num("x"), num("y")
    q, r = divmod_(x, y)
    tq, tr = etuplize_all([q, r])
    assert tq == e(nth, 0, e(DivMod(), x, y))
    assert tq[2] is tr[2]
    assert (tq.evaled_obj, tr.evaled_obj) == (q, r)
    again_q, again_r = from_term(rebuilt(add_pair(tq, tr))).owner.inputs
    assert again_q.owner is again_r.owner
    assert (again_q.index, again_r.index) == (0, 1)


def add_pair(a: Any, b: Any) -> GraphTuple:
    return GraphTuple((add, a, b))


def test_the_default_output_is_the_application_itself() -> None:
    x = num("x")
    first, second = Split()(x).owner.outputs
    assert etuplize(second) == e(Split(), x)
    assert etuplize(first) == e(nth, 0, e(Split(), x))
    assert etuplize(first).evaled_obj is first
    assert etuplize(first)[2] is etuplize(second)
    assert from_term(rebuilt(etuplize(first))).index == 0


def test_nth_of_a_root_is_refused() -> None:
    with pytest.raises(TypeError, match="not the output of a node"):
        nth(0, num("x"))


def test_a_node_has_a_term() -> None:
    x = num("x")
    node: Apply = log(x).owner
    assert etuplize(node) == e(log, x)
    assert etuplize(node).evaled_obj is node


def test_the_same_variable_gives_the_same_term() -> None:
    x = num("x")
    y = exp(x)
    term = etuplize(y)
    assert etuplize(y) is term
    assert etuplize(add(y, y))[1] is term
    assert etuplize(add(y, y))[2] is term


def test_terms_are_forgotten_when_nobody_holds_them() -> None:
    import gc

    from rewrite_engine.terms.convert import _known

    y = exp(num("x"))
    etuplize(y)
    gc.collect()
    assert _known.get(y) is None


def test_holes_make_a_pattern_of_an_example() -> None:
    x, y = num("x"), num("y")
    q = LogicVariable("q")
    z = add(log(x), exp(y))
    term = etuplize(z, holes={x: q})
    assert term == e(add, e(log, q), e(exp, y))
    assert term[2].evaled_obj is z.owner.inputs[1]
    assert etuplize(z, holes={z: q}) is q


def test_etuples_transforms_its_operators_and_operands() -> None:
    x = num("x")
    y = log(exp(x))
    assert etuples.etuplize(y, rator_transform_fn=str) == e("log", e("exp", x))
    assert etuples.etuplize(y, rands_transform_fn=lambda v: 1 if v is x else v) == e(log, e(exp, 1))
    assert etuples.etuplize(y, shallow=True)._tuple == (log, y.owner.inputs[0])


def test_foreign_objects_have_no_term() -> None:
    with pytest.raises(ForeignObjectError, match="has no term"):
        etuplize(3.5)


def test_an_operator_has_to_be_callable() -> None:
    with pytest.raises(etuples.core.InvalidExpression, match="is not an operator"):
        from_term(GraphTuple((1, 2)))
    with pytest.raises(etuples.core.InvalidExpression, match="Empty"):
        from_term(GraphTuple(()))


def test_keyword_operands_are_passed_by_name() -> None:
    x = num("x")
    assert GraphTuple((log, x), name="y").evaled_obj.name == "y"


def test_consing_head_and_tail_gives_the_term_back() -> None:
    """Also what it evaluates to, which `etuples` alone forgets here."""
    y = log(num("x"))
    term = etuplize(y)
    assert etuples.apply(etuples.rator(term), etuples.rands(term)) is y
    assert GraphTuple((term[0],)) + term[1:] is term
    assert term.evaled_obj is y


def chain(n: int) -> Any:
    x = v = num("x")
    for _ in range(n):
        v = neg(sin(v))
    return x, v


def test_deep_graphs() -> None:
    """Nothing recurses: convert, hash, compare, print, evaluate."""
    x, v = chain(DEEP // 2)
    term = etuplize(v)
    assert term.evaled_obj is v
    again = rebuild_deep(term)
    assert hash(term) == hash(again)
    assert term == again
    assert len(repr(term)) < 3_000
    assert len(toposort([again.evaled_obj])) == DEEP
    assert etuplize(v, holes={x: LogicVariable("q")}) != term


def rebuild_deep(term: Any) -> Any:
    ops = []
    while isinstance(term, GraphTuple):
        ops.append(term[0])
        term = term[1]
    for op in reversed(ops):
        term = GraphTuple((op, term))
    return term


def test_shared_graphs_are_linear() -> None:
    """2^60 paths."""

    def tower() -> Any:
        v = x
        for _ in range(60):
            v = add(v, v)
        return v

    x = num("x")
    a, b = tower(), tower()
    s, t = etuplize(a), etuplize(b)
    assert s is not t
    assert s == t
    assert hash(s) == hash(t)
    assert s != etuplize(sin(b))
    assert len(str(s)) < 3_000
    assert len(toposort([rebuilt(s).evaled_obj])) == 60


def test_hash_and_equality_agree_with_plain_etuples() -> None:
    x = num("x")
    term, plain = etuplize(log(add(x, x))), e(log, e(add, x, x))
    assert term == plain
    assert plain == term
    assert hash(term) == hash(plain)
    assert term != e(log, e(add, x))
    assert term != 3
    assert len({term, plain}) == 1
