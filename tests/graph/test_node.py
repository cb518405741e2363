"""`Variable`, `Constant`, `Apply`: what they know, how they are copied, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewrite_engine import hooks
from rewrite_engine.errors import ForeignObjectError, TypeMismatchError
from rewrite_engine.graph.node import CONSTANT, Apply, Constant, Projection
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.type import generic
from tests.toy import add, const, divmod_, exp, mul, num, pos, sin, sub

COPIERS = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


# --- variables -----------------------------------------------------------------------------------


def test_a_computed_variable_knows_its_node() -> None:
    x = num("x")
    y = sin(x)
    assert y.owner.op is sin
    assert y.owner.inputs == (x,)
    assert y.owner.outputs == (y,)
    assert y.index == 0
    assert y.get_parents() == [y.owner]
    assert x.get_parents() == []


class DefaultSecond(Op):
    """Two outputs, of which `op(...)` returns the second."""

    __props__ = ()
    default_output = 1
    itypes = (num,)
    otypes = (num, num)


def test_head_is_what_matchers_look_at_first() -> None:
    x = num("x")
    assert x.head is None
    assert sin(x).head is sin
    assert const(1.0).head is CONSTANT
    assert [v.head for v in divmod_(x, x)] == [Projection(divmod_, i) for i in (0, 1)]
    assert [v.head for v in DefaultSecond()(x).owner.outputs] == [
        Projection(DefaultSecond(), 0),
        DefaultSecond(),
    ]
    assert repr(CONSTANT) == "CONSTANT"


def test_a_root_clone_has_type_name_and_a_copy_of_the_tag() -> None:
    y = sin(num("x"))
    y.name = "y"
    y.tag.note = "n"
    z = y.clone()
    assert (z.type, z.name, z.owner, z.index, z.head) == (num, "y", None, None, None)
    assert z.tag.note == "n"
    z.tag.note = "other"
    assert y.tag.note == "n"
    assert y.clone(name="z").name == "z"


def test_tag_is_a_scratch_pad() -> None:
    x = num("x")
    x.tag.anything = 1
    assert x.tag.anything == 1
    assert not hasattr(num("y").tag, "anything")
    x.tag = SimpleNamespace(other=2)
    assert x.tag.other == 2


def test_variables_print_their_name_or_where_they_come_from() -> None:
    x = num("x")
    assert str(x) == repr(x) == "x"
    assert str(sin(x)) == "sin.0"
    assert str(divmod_(x, x)[1]) == "DivMod.1"
    assert str(num()) == "<Num>"
    assert str(sin(x).owner) == "sin(x)"


def test_eval_asks_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    x = num("x")
    monkeypatch.setattr(hooks, "evaluate", lambda v, values, **options: (v, values, options))
    assert x.eval({"x": 1.0}, mode="m") == (x, {"x": 1.0}, {"mode": "m"})
    assert x.eval() == (x, {}, {})


def test_variables_may_be_weakly_referenced_and_are_compared_by_identity() -> None:
    import weakref

    x = num("x")
    assert weakref.ref(x)() is x
    assert num("x") != x


# --- constants -----------------------------------------------------------------------------------


def test_equal_constants_have_equal_signatures() -> None:
    assert const(2.0).signature() == const(2.0).signature()
    assert const(2.0).equals(const(2.0))
    assert not const(2.0).equals(const(3.0))
    assert not const(2.0).equals(pos("x"))
    assert const(2.0) != const(2.0)


@pytest.mark.parametrize(("a", "b"), [(0.0, -0.0), (1, 1.0), (1, True), ((0.0,), (-0.0,))])
def test_signatures_tell_apart_what_only_looks_equal(a: Any, b: Any) -> None:
    assert generic.make_constant(a).signature() != generic.make_constant(b).signature()


def test_signatures_depend_on_the_type_and_cope_with_everything() -> None:
    assert num.make_constant(2.0).signature() != pos.make_constant(2.0).signature()
    nan = float("nan")
    assert generic.make_constant(nan).equals(generic.make_constant(-float("nan")))
    unhashable = generic.make_constant([1])
    assert unhashable.equals(unhashable)
    assert not unhashable.equals(generic.make_constant([1]))


def test_a_constant_clone_shares_the_value() -> None:
    c = generic.make_constant([1], name="c")
    c.tag.note = 1
    d = c.clone()
    assert d.data is c.data
    assert (d.name, d.type, d.tag.note, d.head) == ("c", generic, 1, CONSTANT)
    assert c.clone(name="d").name == "d"
    assert d.owner is None


def test_constants_print_their_value() -> None:
    assert str(const(2.0)) == "Constant{2.0}"
    assert str(pos.make_constant(2.0, name="two")) == "two"
    assert len(str(generic.make_constant("a" * 100))) < 50


# --- nodes ---------------------------------------------------------------------------------------


def test_apply_takes_what_the_manuals_give_it() -> None:
    x, out = num("x"), num("out")
    node = Apply(sin, [x], [out])
    assert (node.op, node.inputs, node.outputs) == (sin, (x,), (out,))
    assert (out.owner, out.index, out.head) == (node, 0, sin)
    assert (node.nin, node.nout, node.out) == (1, 1, out)
    assert node.default_output() is out


def test_apply_refuses_what_is_no_variable() -> None:
    with pytest.raises(ForeignObjectError, match=r"sin: input 0 is not a variable: int 3"):
        Apply(sin, [3], [num()])
    with pytest.raises(ForeignObjectError, match=r"output 0 is not a variable: type"):
        Apply(sin, [num()], [float])
    with pytest.raises(TypeError):
        Apply(sin, ["x"], [num()])


def test_apply_refuses_an_output_that_belongs_to_another_node() -> None:
    x = num("x")
    y = sin(x)
    with pytest.raises(ForeignObjectError, match="already belongs to another node"):
        Apply(exp, [x], [y])
    out = num()
    with pytest.raises(ForeignObjectError, match="output 1 already belongs"):
        Apply(divmod_, [x, x], [out, out])


def test_the_only_output_has_a_shortcut() -> None:
    x = num("x")
    node = divmod_(x, x)[0].owner
    with pytest.raises(AttributeError, match="2 outputs"):
        node.out
    with pytest.raises(ValueError, match="no default_output"):
        node.default_output()


def test_a_node_knows_the_users_line() -> None:
    y = sin(num("x"))
    file, line = y.owner.where()
    assert file == __file__
    assert Path(file).read_text().splitlines()[line - 1].strip() == 'y = sin(num("x"))'


def test_nodes_of_one_place_share_where_they_were_built() -> None:
    first, second = [sin(num("x")).owner for _ in range(2)]
    other = sin(num("x")).owner
    assert first.origin is second.origin
    assert other.origin is not first.origin
    assert other.where() != first.where()


def test_nothing_is_kept_for_tags_that_nobody_asks_for() -> None:
    y = mul(num("x"), num("z"))
    for node in (y.owner, pickle.loads(pickle.dumps(y)).owner, y.owner.clone()):
        assert [vars(v) for v in (*node.inputs, *node.outputs)] == [{}, {}, {}]
    y.owner.tag.note = 1
    assert (y.owner.tag.note, vars(y.tag)) == (1, {})


def test_clone_has_the_same_inputs_and_new_outputs() -> None:
    x = num("x")
    node = sin(x, name="y").owner
    node.tag.note = node.outputs[0].tag.note = 1
    other = node.clone()
    assert other.inputs == node.inputs
    assert other.out is not node.out
    assert other.out.name == "y"
    assert (other.tag.note, other.out.tag.note) == (1, 1)
    other.out.tag.note = other.tag.note = 2
    assert (node.tag.note, node.out.tag.note) == (1, 1)
    assert other.where() == node.where()


def test_new_inputs_of_another_type_type_the_node_anew() -> None:
    x, p = num("x"), pos("p")
    node = add(x, p).owner
    assert node.out.type is num
    assert node.clone_with_new_inputs([p, p]).out.type is pos
    assert add(x, x).owner.clone_with_new_inputs([x, p]).out.type is num


def test_new_inputs_that_do_not_fit() -> None:
    x, p = num("x"), pos("p")
    node = add(p, p).owner
    with pytest.raises(TypeMismatchError):
        node.clone_with_new_inputs([x, p])
    assert node.clone_with_new_inputs([x, p], strict=False).out.type is num
    with pytest.raises(ValueError, match="zip"):
        node.clone_with_new_inputs([p])


# --- copies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("copier", COPIERS)
def test_small_graphs_are_copied_whole(copier: Any) -> None:
    x, p = num("x"), pos("p")
    y = mul(sub(sin(x), 2.0), add(p, p))
    y.name, y.tag.note = "y", [1]
    x2, p2, y2 = copier((x, p, y))
    assert y2 is not y
    assert equal_computations([y], [y2], [x, p], [x2, p2])
    assert (y2.name, y2.tag.note, y2.head) == ("y", [1], mul)
    assert y2.owner.inputs[1].owner.inputs == (p2, p2)
    assert y2.owner.out is y2
    assert y2.owner.where() == y.owner.where()


@pytest.mark.parametrize("copier", COPIERS)
def test_nodes_with_several_outputs_are_copied(copier: Any) -> None:
    x = num("x")
    q, r = divmod_(x, x)
    for given in ([q, r], [r], [r, q], [q.owner], [sin(r), q]):
        got = copier(given)
        node = got[0] if isinstance(got[0], Apply) else got[0].owner
        node = node if node.nout == 2 else node.inputs[0].owner
        assert [v.owner for v in node.outputs] == [node, node]
        assert [v.index for v in node.outputs] == [0, 1]
        assert [v.head for v in node.outputs] == [Projection(divmod_, i) for i in (0, 1)]


@pytest.mark.parametrize("copier", COPIERS)
def test_nodes_are_copied(copier: Any) -> None:
    node = sin(num("x")).owner
    other = copier(node)
    assert (other.op, other.out.head, other.out.owner) == (sin, sin, other)


@pytest.mark.parametrize("copier", COPIERS)
def test_constants_are_copied(copier: Any) -> None:
    c = pos.make_constant(2.0, name="two")
    c.tag.note = 1
    d = copier(c)
    assert isinstance(d, Constant)
    assert d.equals(c)
    assert (d.name, d.tag.note, d.head, d.owner) == ("two", 1, CONSTANT, None)


def test_names_of_their_own() -> None:
    """Another for each variable, the same whenever it is asked for."""
    x = num("x")
    y = sin(x)
    names = [v.auto_name for v in (x, y, const(1.0), x.clone(), copy.copy(x))]
    assert len(set(names)) == 5
    assert all(name.startswith("auto_") for name in names)
    assert [x.auto_name, y.auto_name] == names[:2]
    assert pickle.loads(pickle.dumps(x)).auto_name not in names
