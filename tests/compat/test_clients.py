"""What PyMC, and programs like it, build on: classes to inherit from, databases of rules, walks,
graphs in which a variable stays what it is.
"""

import pickle
from abc import ABC
from functools import singledispatch
from typing import Any

import numpy as np
import pytest
from scipy import special as reference
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.random as r
import rewrite_engine.tensor as pt
from rewrite_engine.compat import extras, graphs, not_here, scalars
from rewrite_engine.compat.databases import (
    EquilibriumDB,
    LocalGroupDB,
    SequenceDB,
    ShapeFeature,
    ShapeOptimizer,
    TopoDB,
    elemwise_of,
    infer_shape_db,
    register_canonicalize,
    topo_unconditional_constant_folding,
)
from rewrite_engine.compat.rewriting import in2out, optdb, out2in
from rewrite_engine.compat.scalar_outputs import upgrade_to_float_no_complex
from rewrite_engine.compile.ops import TypeCastingOp, view_op
from rewrite_engine.errors import (
    DTypeError,
    InputError,
    MethodNotDefined,
    OptionError,
    UnknownNameError,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.type import NoneConst
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.pipeline import phases
from rewrite_engine.scalar import ops
from rewrite_engine.tensor.constant import of_value


class Measurable(ABC):  # noqa: B024
    """A base that is no op."""


Measurable.register(r.RandomVariable)


class Marked(Measurable, rw.Op):
    """An op with two bases."""

    def make_node(self, *inputs: Any) -> Apply:
        (x,) = inputs
        return Apply(self, [x], [x.type()])


def test_ops_may_have_an_abstract_base() -> None:
    assert isinstance(Marked(), Measurable)
    assert isinstance(r.normal, Measurable)
    assert not isinstance(pt.exp, Measurable)
    assert issubclass(Marked, rw.Op)
    assert isinstance(not_here("gone"), type(Measurable))


def test_each_distribution_has_a_class() -> None:
    @singledispatch
    def which(op: object) -> str:
        return "?"

    which.register(type(r.normal))(lambda op: "normal")
    which.register(type(r.multivariate_normal))(lambda op: "vectors")
    assert [which(op) for op in (r.normal, r.uniform, r.multivariate_normal)] == [
        "normal", "?", "vectors",
    ]  # fmt: skip
    draw = r.normal(0, 1, size=(2,), dtype="float32")
    assert type(draw.owner.op) is type(r.normal)
    assert draw.owner.out is draw

    class Index(type(r.functions._integers)):  # type: ignore[misc]
        name = "index"

    x = Index()(0, 5, size=(100,))
    assert (x.owner.op.name, x.type.dtype) == ("index", "int64")
    assert set(x.eval()) == set(range(5))


def test_a_distribution_of_scipy() -> None:
    class Twice(r.ScipyRandomVariable):
        name, signature = "twice", "()->()"

        def rng_fn_scipy(self, rng: Any, *args: Any) -> Any:
            x, size = args
            return 2.0 * np.ones(size) * x

    assert Twice()(3.0, size=(2,)).eval().tolist() == [6.0, 6.0]

    class Squeezed(Twice):
        def rng_fn_scipy(self, rng: Any, *args: Any) -> Any:
            return stats.cauchy.rvs(args[0], size=args[1], random_state=rng)

    assert Squeezed("squeezed")(np.zeros((1, 1))).eval().shape == (1, 1)
    assert Squeezed("squeezed")(np.zeros((1, 3))).eval().shape == (1, 3)
    with pytest.raises(MethodNotDefined, match="rng_fn_scipy"):
        r.ScipyRandomVariable("none", signature="()->()")(1.0).eval()
    with pytest.raises(MethodNotDefined, match="update"):
        r.RNGConsumerOp().update(pt.exp(pt.vector()).owner)


def test_states_and_sizes() -> None:
    one, other = r.shared_rng(seed=None), r.shared_rng(seed=None)
    assert one.get_value().normal() != other.get_value().normal()
    draw = r.normal(0, 1)
    assert draw.owner.inputs[1] is NoneConst
    assert extras.normalize_size_param(None) is NoneConst
    assert extras.normalize_size_param(3).eval().tolist() == [3]
    with pytest.raises(DTypeError, match="expected None"):
        NoneConst.type.make_constant(3)


def test_classes_of_scalar_ops() -> None:
    made: Any = scalars
    assert isinstance(ops.exp, made.Exp)
    assert not isinstance(ops.log, made.Exp | made.Mul)
    assert {made.Exp: "exp"}[type(ops.exp)] == "exp"
    assert isinstance(ops.ge, made.GE)
    assert isinstance(ops.round, made.RoundHalfToEven)
    tracks = elemwise_of(made.Exp)
    assert [tracks(op) for op in (pt.exp, pt.log, pt.Sum())] == [True, False, False]


class I1e(scalars.UnaryScalarOp):
    nfunc_spec = ("scipy.special.i1e", 1, 1)

    def impl(self, x: Any) -> Any:
        return reference.i1e(x)


i1e = I1e(upgrade_to_float_no_complex, name="i1e")


class I0e(scalars.UnaryScalarOp):
    def impl(self, x: Any) -> Any:  # type: ignore[override]
        return reference.i0e(x)

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        (x,), (g,) = inputs, output_gradients
        return [g * (i1e(x) - ops.sign(x) * i0e(x))]


i0e = I0e(upgrade_to_float_no_complex, name="i0e")


def test_a_scalar_op_written_as_there() -> None:
    x = pt.vector("x")
    values = np.array([-1.5, 0.25, 3.0])
    y = pt.Elemwise(i0e, name="mine")(x)
    np.testing.assert_allclose(y.eval({x: values}), reference.i0e(values))
    np.testing.assert_allclose(pt.Elemwise(i1e)(x).eval({x: values}), reference.i1e(values))
    rw.gradient.verify_grad(pt.Elemwise(i0e), [values], rng=np.random.default_rng(0))
    whole = pt.Elemwise(i0e)(pt.constant(np.array([1, 2])))
    assert whole.type.dtype == "float64"


# --- graphs --------------------------------------------------------------------------------------


def test_equal_nodes_stay_apart() -> None:
    x = pt.vector("x")
    a, b = pt.exp(x), pt.exp(x)
    graph = graphs.UnmergedGraph([x], [a], clone=False)
    graph.add_output(b)
    graph.replace(a, view_op(a))
    assert graph.outputs[1] is b
    assert len(FunctionGraph([x], [a, b])) == 1
    assert len(graphs.UnmergedGraph([x], [a, b])) == 2
    assert isinstance(FunctionGraph([x], [a]), graphs.UnmergedGraph)
    f = rw.function([x], [a + b])
    assert f([0.0])[0].tolist() == [2.0]


def test_outputs_with_other_roots() -> None:
    x, y = pt.vectors("x", "y")
    graph = graphs.UnmergedGraph([x], [pt.exp(x)], clone=False, copy_orphans=False)
    graph.add_output(y + 1.0, import_missing=True)
    assert graph.inputs == [x, y]
    one = pt.constant(1.0)
    for copied in (True, False):
        memo: dict[Any, Any] = {}
        graph = graphs.UnmergedGraph([x], [x + one], copy_orphans=copied, memo=memo)
        roots = [v for v in graph.variables if v.owner is None]
        assert (memo.get(one) in roots, one in roots) == (copied, not copied)
    with pytest.raises(OptionError, match="copy_orphans"):
        graphs.UnmergedGraph([x], [x + one], clone=False, copy_orphans=True)


def test_arguments_and_attributes_of_a_graph() -> None:
    x = pt.vector("x")
    graph = graphs.UnmergedGraph([x], [pt.exp(x), x + 1.0], None, True, {1: 0}, copy_inputs=False)
    assert graph.inputs == [x]
    assert graph.update_mapping == graph.updates == {1: 0}
    assert graphs.UnmergedGraph(None, [pt.exp(x)]).inputs != [x]
    again = pickle.loads(pickle.dumps(graph))
    assert (again.update_mapping, again.merging) == ({1: 0}, False)
    with pytest.raises(AttributeError, match="no attribute 'remove_client': `replace` updates the"):
        _ = graph.remove_client
    with pytest.raises(AttributeError, match="no attribute 'inptus'$"):
        _ = graph.inptus
    assert not hasattr(graph, "import_var")


def test_walks_go_from_the_last_to_the_first() -> None:
    a, b, c = pt.vectors("a", "b", "c")
    s = rw.shared(np.zeros(2), "s")
    y, z = a - b, c - s + 1.0
    names = [v.name for v in graphs.graph_inputs([y, z]) if v.name]
    assert names == ["s", "c", "b", "a"]
    assert list(graphs.explicit_graph_inputs([y, z])) == [c, b, a]
    assert list(graphs.ancestors([y], [y])) == [y]
    assert extras.general_toposort([3], lambda n: range(n)) == [0, 1, 2, 3]


def test_arrays_that_fit_are_other_variables() -> None:
    x, y = pt.dscalars("x", "y")
    a, b = extras.broadcast_arrays(x, y)
    assert a is not x
    assert rw.rewrite_graph([a, b]) == [x, y]


def test_views() -> None:
    x = pt.vector("x")
    y = view_op(x, name="y")
    assert (y.name, rw.rewrite_graph(y)) == ("y", x)
    rw.gradient.verify_grad(view_op, [np.ones(3)], rng=np.random.default_rng(0))

    class Mark(TypeCastingOp):
        def make_node(self, *inputs: Any) -> Apply:
            return Apply(self, inputs, [inputs[0].type()])

    marked = Mark()(x)
    assert marked.eval({x: [1.0]}).tolist() == [1.0]
    assert marked.shape.eval({x: [1.0, 2.0]}).tolist() == [2]


def test_values_of_other_classes() -> None:
    class Series:
        values = (1.0, 2.0)

    of_value.register(Series)(lambda x, *args, **kwargs: pt.constant(np.array(x.values)))
    assert pt.as_tensor_variable(Series()).eval().tolist() == [1.0, 2.0]


def test_small_functions() -> None:
    x, y = pt.vector("x"), pt.matrix("y")
    assert extras.variadic_add().eval() == 0
    assert extras.variadic_mul(x) is x
    assert extras.variadic_add(x, 1.0, 2.0).eval({x: [1.0]}).tolist() == [4.0]
    assert extras.broadcasted_by(x, y)
    assert not extras.broadcasted_by(y, x)
    assert extras.broadcasted_by(pt.row("r"), y)
    assert extras.safe_signature([0, 2], [1]) == "(),(i10,i11)->(o00)"
    assert extras.lazy_scipy_module("special").expit(0.0) == 0.5


def test_inputs_that_nothing_needs() -> None:
    x, y = pt.vectors("x", "y")
    assert rw.OpFromGraph([x, y], [x + 1.0])(x, y).eval({x: [1.0], y: [0.0]}).tolist() == [2.0]
    with pytest.raises(InputError, match="no output needs the input y"):
        rw.OpFromGraph([x, y], [x + 1.0], on_unused_input="raise")


def test_parameters_along_a_common_batch() -> None:
    mean, cov = np.array([1, 2, 3]), np.stack([np.eye(3), np.eye(3)])
    wide, same = extras.broadcast_params([mean, cov], [1, 2])
    assert isinstance(wide, np.ndarray)
    assert (wide.tolist(), same.shape) == ([[1, 2, 3], [1, 2, 3]], (2, 3, 3))
    nu = pt.dvector("nu")
    found = extras.broadcast_params([nu[:, None], mean], [0, 1])
    assert [v.type.ndim for v in found] == [2, 3]
    values = rw.function([nu], found)([0.5, 1.5])
    assert [v.tolist() for v in values] == [[[0.5], [1.5]], [[[1, 2, 3]], [[1, 2, 3]]]]


def test_names_of_distributions_in_texts() -> None:
    assert r.poisson(1.0).owner.op._print_name == ("Poisson", "\\operatorname{Poisson}")


# --- databases of rules --------------------------------------------------------------------------


@node_rewriter([pt.exp])
def exp_to_log(fgraph: Any, node: Any) -> Any:
    return [pt.log(node.inputs[0])]


@node_rewriter([pt.log])
def log_to_tanh(fgraph: Any, node: Any) -> Any:
    return [pt.tanh(node.inputs[0])]


def rewritten(driver: Any, *outputs: Any) -> list[str]:
    graph = FunctionGraph(None, outputs)
    driver.rewrite(graph)
    return [str(node.op) for node in graph.toposort()]


def test_databases_in_a_row() -> None:
    rules, db = LocalGroupDB(), SequenceDB()
    rules.register("a", exp_to_log, "basic")
    db.register("walk", TopoDB(rules, order="out_to_in", ignore_newtrees=True), "basic", position=2)
    db.register("last", log_to_tanh, "late", "basic", position=3)
    db.register("gone", not_here("no_such_rule"), "basic")
    x = pt.vector("x")
    assert rewritten(db.query("+basic"), pt.exp(x)) == ["tanh"]
    assert rewritten(db.query("+basic", "-late"), pt.exp(x)) == ["log"]
    assert rewritten(db.query("+basic", "&late"), pt.log(x)) == ["tanh"]
    assert rewritten(db.query("+none"), pt.exp(x)) == ["exp"]
    assert db.missing == ["gone"]
    assert "walk" in db
    assert rules["a"] is exp_to_log
    with pytest.raises(ValueError, match="already has a rule called 'last'"):
        db.register("last", exp_to_log)
    with pytest.raises(UnknownNameError, match="'nothing'"):
        _ = db["nothing"]


def test_rules_until_none_applies() -> None:
    db = EquilibriumDB()
    db.register("a", exp_to_log, "basic")
    db.register("b", log_to_tanh, "basic")
    x = pt.vector("x")
    assert rewritten(db.query("+basic"), pt.exp(x)) == ["tanh"]
    both = [exp_to_log, log_to_tanh]
    assert rewritten(in2out(*both, ignore_newtrees=True), pt.exp(x)) == ["log"]
    assert rewritten(in2out(*both), pt.exp(x)) == ["tanh"]
    assert rewritten(out2in(*both), pt.exp(x)) == ["tanh"]


def test_rules_of_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "_registered", phases._registered)
    x = pt.vector("x")

    class Own(Marked):
        """Taken out by rules that are registered."""

    own, other = Own(), type("Other", (Marked,), {})()

    @register_canonicalize
    @node_rewriter([own])
    def out_of_own(fgraph: Any, node: Any) -> Any:
        return [node.inputs[0]]

    @node_rewriter([other])
    def out_of_other(fgraph: Any, node: Any) -> Any:
        return [node.inputs[0]]

    optdb["canonicalize"].register("asked_for", out_of_other, use_db_name_as_tag=False)
    try:
        mode = rw.Mode()
        assert rw.rewrite_graph(own(x)) is x
        assert rw.function([x], own(x))([1.0]).tolist() == [1.0]
        assert rw.rewrite_graph(other(x)).owner.op is other
        asked = rw.Mode(optimizer=mode.provided_optimizer.including("asked_for"))
        assert rw.function([x], other(x), mode=asked)([1.0]).tolist() == [1.0]
        with pytest.raises(UnknownNameError, match="there is no phase 'nothing'"):
            _ = optdb["nothing"]
    finally:
        phases.known_rules.cache_clear()
        phases.optimizer.cache_clear()


def test_states_in_place_by_its_name_there() -> None:
    mode = rw.Mode().including("random_make_inplace")
    state = r.shared_rng(seed=1)
    f = rw.function([], r.normal(0, 1, rng=state), mode=mode)
    assert f() == f()


def test_shapes_and_constants() -> None:
    x = pt.matrix("x")
    graph = FunctionGraph(None, [(x + 1.0).shape[0]], features=[ShapeFeature()])
    ShapeOptimizer().rewrite(graph)
    infer_shape_db.default_query.rewrite(graph)
    assert not any(isinstance(node.op, pt.Elemwise) for node in graph.toposort())
    with rw.config.change_flags(fold_limit=8, optdb__max_use_ratio=10):
        big = FunctionGraph([], [pt.zeros(100) + 1.0])
        topo_unconditional_constant_folding.apply(big)
    assert big.outputs[0].data.tolist() == [1.0] * 100


@pytest.mark.usefixtures("peers")
def test_arrays_hold_variables_as_objects() -> None:
    """`np.atleast_1d` of one variable is an array of that variable, as over PyTensor."""
    x = pt.vector("x")
    (held,) = np.atleast_1d(x)
    assert held is x
    one, other = np.atleast_1d(x, 2.0)
    assert (one[0], other[0]) == (x, 2.0)
    n = pt.lscalar("n")
    assert [*np.atleast_1d((5, n))] == [5, n]  # (a shape of which a length is a variable)


def test_arrays_hold_no_variables_elsewhere() -> None:
    assert np.atleast_1d(pt.dscalar("x")).type.ndim == 1


def test_shapes_are_asked_of_the_feature() -> None:
    x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
    outputs = [x + 1.0, x + y, pt.exp(m.T)]
    graph = graphs.UnmergedGraph([x, y, m], outputs, features=[ShapeFeature()], clone=False)
    shapes = graph.shape_feature
    assert shapes.same_shape(x, outputs[0])
    assert not shapes.same_shape(x, outputs[1])
    assert not shapes.same_shape(x, m)
    assert shapes.same_shape(m, outputs[2], 0, 1)
    with pytest.raises(IndexError):
        shapes.same_shape(x, outputs[0], 1, 0)
    assert rw.pp(shapes.get_shape(outputs[2], 0)) == rw.pp(m.shape[1])
    assert [rw.pp(n) for n in shapes.shape_of[outputs[0]]] == [rw.pp(x.shape[0])]


def test_graphs_that_do_not_change_and_variables_by_number() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    frozen = graphs.FrozenFunctionGraph.from_io([x, y], [x * y + x])
    assert isinstance(frozen, graphs.FrozenFunctionGraph)
    assert isinstance(rw.OpFromGraph([x], [x + 1.0]).fgraph, graphs.FrozenFunctionGraph)
    product = x * y
    structural = graphs.FrozenFunctionGraph.from_io([x, product], [product + x])
    (out,) = structural.bind([pt.constant([1.0]), pt.constant([5.0])])
    assert out.eval() == [6.0]
    first = graphs.NominalVariable(0, x.type)
    assert first is graphs.NominalVariable(0, x.type)
    assert first is not graphs.NominalVariable(1, x.type)
    assert isinstance(first, graphs.NominalVariable)
    assert not isinstance(x, graphs.NominalVariable)
    assert (first + 1.0).eval({first: [1.0]}) == [2.0]
