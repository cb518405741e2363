"""Graphs that PyMC takes apart: nodes that leave, frozen graphs, ops in PyTensor's forms."""

import pickle

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.random as r
import rewrite_engine.tensor as pt
from rewrite_engine.compat import extras
from rewrite_engine.compat.graphs import FrozenFunctionGraph, UnmergedGraph
from rewrite_engine.compat.rewriting import optdb
from rewrite_engine.terms.print import brief


def test_nodes_leave_with_what_needs_them() -> None:
    x = pt.vector("x")
    y = pt.exp(x)
    fgraph = UnmergedGraph([x], [pt.log(y), pt.sin(x), y + 1], clone=False)
    fgraph.remove_node(y.owner)
    assert [str(v.owner.op) for v in fgraph.outputs] == ["sin"]
    assert len(fgraph.apply_nodes) == 1
    fgraph.remove_node(y.owner)  # (it has left)
    fgraph.check_integrity()


def test_a_graph_is_frozen_and_bound_by_name() -> None:
    x, y = pt.vectors("x", "y")
    frozen = UnmergedGraph([x], [pt.exp(x)]).freeze()
    (made,) = frozen.bind({frozen.inputs[0]: y})
    assert made.owner.inputs == (y,)
    assert isinstance(made.owner.op, pt.Elemwise)
    assert frozen.bind([y])[0].owner.inputs == (y,)


def test_an_input_leaves_with_what_needs_it() -> None:
    x, y = pt.vectors("x", "y")
    fgraph = UnmergedGraph([x, y], [x, pt.exp(y), pt.sin(x), x * y], clone=False)
    fgraph.remove_input(0)
    assert fgraph.inputs == [y]
    assert [str(v.owner.op) for v in fgraph.outputs] == ["exp"]
    fgraph.check_integrity()


def test_frozen_graphs_are_equal_as_computations() -> None:
    x, y = pt.vectors("x", "y")
    a, b = pt.vectors("a", "b")
    frozen = UnmergedGraph([x, y], [pt.exp(x) - y]).freeze()
    same = UnmergedGraph([a, b], [pt.exp(a) - b]).freeze()
    other = UnmergedGraph([a, b], [pt.exp(b) - a]).freeze()
    loaded = pickle.loads(pickle.dumps(frozen))
    assert frozen == same == loaded == frozen.unfreeze().freeze() != other
    assert len({frozen, same, loaded, other}) == 2
    fewer = UnmergedGraph([a], [pt.exp(a)]).freeze()
    assert fewer != UnmergedGraph([a, b], [pt.exp(a)]).freeze()


def test_a_bound_graph_says_what_stands_for_what() -> None:
    x, y = pt.vectors("x", "y")
    frozen = UnmergedGraph([x], [pt.exp(pt.sin(x)), pt.constant(2.0)]).freeze()
    bound, memo = frozen.bind([y], return_memo=True)
    assert bound == [memo[v] for v in frozen.outputs]
    assert memo[frozen.inputs[0]] is y
    assert memo[frozen.outputs[0].owner.inputs[0]] is bound[0].owner.inputs[0]


def test_an_input_stands_for_all_that_is_computed_like_it() -> None:
    x, y, z = pt.vectors("x", "y", "z")
    out = pt.exp(x * y) + x * y
    assert out.owner.inputs[1] is not out.owner.inputs[0].owner.inputs[0]
    frozen = FrozenFunctionGraph.from_structural_inputs([x * y], [out])
    (bound,) = frozen.bind([z])
    assert rw.graph.equal_computations([bound], [pt.exp(z) + z])


@pytest.mark.usefixtures("peers")
def test_an_assert_is_asked_where_its_value_is_needed() -> None:
    from pytensor.raise_op import Assert

    x, y = pt.lscalars("x", "y")
    v = pt.stack([x, Assert("y is too small")(y, y > 3)])
    assert rw.function([x, y], v[0], on_unused_input="ignore")(1, 1) == 1
    with pytest.raises(AssertionError, match="y is too small"):
        rw.function([x, y], v)(1, 1)
    mine = pt.stack([x, pt.Assert("y is too small")(y, y > 3)])
    with pytest.raises(AssertionError, match="y is too small"):
        rw.function([x, y], mine[0])(1, 1)


def test_a_class_of_draws_does_not_know_its_dimensions() -> None:
    """Only its ops do, where it says nothing: PyMC makes one to ask."""
    assert not hasattr(r.RandomVariable, "ndim_supp")
    made = type("Own", (r.RandomVariable,), {"signature": "(n)->(n)", "dtype": "floatX"})()
    assert made.ndim_supp == 1


def test_a_query_leaves_ops_that_are_there() -> None:
    x, y = pt.matrices("x", "y")
    least, product = pt.min(x), pt.dot(x, y)
    graph = UnmergedGraph([x, y], [least, product])
    optdb.query("+canonicalize").rewrite(graph)
    assert not any(isinstance(node.op, pt.Min | pt.Dot) for node in graph.toposort())
    assert graph.outputs[1].owner.op is extras._matmul
    assert graph.outputs[1].owner.op._props_dict()["signature"] == "(m,k),(k,n)->(m,n)"
    values = np.array([[1.0, -2.0], [3.0, 4.0]]), np.eye(2)
    f = rw.function(graph.inputs, graph.outputs)
    np.testing.assert_allclose(f(*values)[0], -2.0)
    np.testing.assert_allclose(f(*values)[1], values[0])
    assert str(rw.rewrite_graph(extras._matmul(x, y)).owner.op) == "dot"


@pytest.mark.usefixtures("peers")
def test_modules_are_pickled_by_name() -> None:
    import pytensor.tensor

    assert pickle.loads(pickle.dumps(pytensor.tensor)) is pytensor.tensor


def test_constants_know_their_lengths() -> None:
    t = pt.TensorType("float64", (None,))
    one = t.constant_type(type=t, data=np.arange(3.0), name="one")
    assert (one.type.shape, one.name) == ((3,), "one")
    assert one.type is t.constant_type(one.type, np.ones(3)).type


def test_a_node_whose_input_changes_stays() -> None:
    x, y = pt.dvectors("x", "y")
    inner = pt.exp(x)
    outer = inner + 1
    graph = UnmergedGraph([x, y], [outer * 2, inner], clone=False)
    graph.change_node_input(outer.owner, 0, pt.sin(y))
    assert outer.owner in graph.apply_nodes
    assert brief(outer) == "sin(y) + 1.0"
    assert brief(graph.outputs[0]) == "(sin(y) + 1.0) * 2.0"
    assert graph.outputs[1] is inner  # of which nothing else has changed
    twice = pt.dot(x, x)
    graph = UnmergedGraph([x, y], [twice], clone=False)
    graph.change_node_input(twice.owner, 0, y)  # another node takes its place
    assert brief(graph.outputs[0]) == "y @ x"
