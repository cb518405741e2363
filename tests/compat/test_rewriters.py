"""Rewriters as PyTensor's programs write them: classes, drivers between the phases of a mode,
patterns with `OpPattern`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.databases import (
    OPT_FAST_RUN,
    EquilibriumDB,
    RewriteDatabaseQuery,
    SequenceDB,
    predefined_optimizers,
)
from rewrite_engine.compat.graphs import UnmergedGraph
from rewrite_engine.compat.rewriters import (
    ClassRewriter,
    EquilibriumGraphRewriter,
    NodeProcessingGraphRewriter,
    OpKeyGraphRewriter,
    RelationOfOthers,
    SequentialNodeRewriter,
    WalkingGraphRewriter,
    check_stack_trace,
    node_rewriter,
)
from rewrite_engine.compat.rewriting import (
    PatternNodeRewriter,
    in2out,
    optdb,
    out2in,
)
from rewrite_engine.compat.unify import (
    Asterisk,
    ConstrainedVar,
    LiteralString,
    OpPattern,
    convert_strs_to_vars,
    match_pattern,
    reify_pattern,
)
from rewrite_engine.errors import (
    MethodNotDefined,
    OptionError,
    PatternError,
    RuleError,
    RuleTypeError,
    UnboundVariableError,
    UnknownNameError,
)
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.pipeline import phases
from rewrite_engine.pipeline.phases import rewrite_graph
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.step import RuleWarning
from rewrite_engine.tensor.linalg import Cholesky
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.shape import SpecifyShape
from rewrite_engine.terms.print import brief

x, y = pt.vectors("x", "y")
m = pt.matrix("m")


class Unwrap(ClassRewriter):
    """Leaves an op out."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def tracks(self) -> Any:
        return [self.op]

    def transform(self, fgraph: Any, node: Any) -> Any:
        return [node.inputs[0]]


class Double(Op):
    """An op that says itself what it equals, and not how many outputs it has."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def make_node(self, x: Any) -> Apply:
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * 2


def rewritten(term: Any, *rules: Any) -> str:
    return brief(rewrite_graph(term, (), in2out(*rules)))


# --- classes --------------------------------------------------------------------------------------


def test_a_class_is_a_rule() -> None:
    rule = Unwrap(pt.exp)
    assert isinstance(rule, ClassRewriter)
    assert rewritten(pt.exp(pt.log(pt.exp(x))), rule) == "log(x)"
    assert rule.transform(None, pt.exp(x).owner) == [x]
    f = rw.function([x], pt.exp(x), mode=rw.Mode(optimizer=in2out(rule)))
    np.testing.assert_array_equal(f([1.0, 2.0]), [1.0, 2.0])


def test_every_rule_is_one_and_only_its_own_of_a_subclass() -> None:
    @node_rewriter([pt.exp])
    def keep(fgraph: Any, node: Any) -> None:
        return None

    assert isinstance(keep, ClassRewriter)
    assert not isinstance(keep, Unwrap)
    assert not isinstance(pt.exp, ClassRewriter)


def test_rules_of_a_class_stand_side_by_side() -> None:
    rules = [Unwrap(pt.exp), Unwrap(pt.log)]
    assert len({rule.name for rule in rules}) == 2
    assert rewritten(pt.exp(pt.sin(pt.log(x))), *rules) == "sin(x)"
    assert brief(rewrite_graph(pt.exp(pt.log(x)), (), EquilibriumGraphRewriter(rules))) == "x"


def test_what_a_class_may_return_and_is_told() -> None:
    told = []

    class ByName(ClassRewriter):
        def add_requirements(self, fgraph: Any) -> None:
            told.append(fgraph)

        def transform(self, fgraph: Any, node: Any) -> Any:
            if node.op is not pt.exp:
                return False
            return {node.outputs[0]: node.inputs[0], "remove": [node.inputs[0]]}

    graph = UnmergedGraph([x], [pt.exp(pt.log(x))])
    in2out(ByName()).rewrite(graph)
    assert brief(graph.outputs[0]) == "log(x)"
    assert told == [graph]


def test_results_that_know_fewer_lengths() -> None:
    class Placeholder(Op):
        def make_node(self, v: Any) -> Apply:
            return Apply(self, [v], [pt.TensorType("float64", (None,))()])

    class Doubled(ClassRewriter):
        def tracks(self) -> Any:
            return [pt.cos]

        def transform(self, fgraph: Any, node: Any) -> Any:
            return [Placeholder()(node.inputs[0])]

    @node_rewriter([pt.exp])
    def loses(fgraph: Any, node: Any) -> Any:
        return [Placeholder()(node.inputs[0])]

    @node_rewriter([pt.log])
    def loses_in_ours(fgraph: Any, node: Any) -> Any:
        return [pt.sqrt(Placeholder()(node.inputs[0]))]

    x = pt.tensor("x", dtype="float64", shape=(3,))
    rules = in2out(loses, loses_in_ours, Doubled())
    for rule, op in ((pt.exp, Placeholder), (pt.cos, Placeholder), (pt.log, SpecifyShape)):
        found = rewrite_graph(rule(x), include=(), custom_rewrite=rules)
        assert found.type == x.type
        assert isinstance(found.owner.op, op)
    wrong = in2out(node_rewriter([pt.sin])(lambda fgraph, node: [node.inputs[0].sum()]))
    with pytest.raises(RuleTypeError):  # not another dtype, nor another rank
        rewrite_graph(pt.sin(x), include=(), custom_rewrite=wrong)


def test_a_class_without_transform() -> None:
    class Nothing(ClassRewriter):
        pass

    with pytest.raises(MethodNotDefined, match="Nothing defines no transform"):
        rewritten(pt.exp(x), Nothing())


def test_one_of_several_and_one_after_the_other() -> None:
    rules = [Unwrap(pt.exp), PatternNodeRewriter((pt.log, "a"), (pt.exp, "a"))]
    assert rewritten(pt.log(x), SequentialNodeRewriter(*rules)) == "x"
    once = in2out(*rules, ignore_newtrees=True)
    assert brief(rewrite_graph(pt.log(x), (), once)) == "exp(x)"
    both = SequentialNodeRewriter(*reversed(rules), apply_all_rewrites=True)
    assert rewritten(pt.log(x), both) == "x"
    assert both.transform(None, pt.log(x).owner) is x


# --- drivers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["in_to_out", "out_to_in", "dfs"])
def test_walks(order: Any) -> None:
    walk = WalkingGraphRewriter(Unwrap(pt.exp), order, ignore_newtrees=False)
    assert brief(rewrite_graph(pt.exp(pt.sin(pt.exp(x))), (), walk)) == "sin(x)"


def test_a_rule_that_fails_may_be_left_out() -> None:
    class Fails(ClassRewriter):
        def transform(self, fgraph: Any, node: Any) -> Any:
            raise ValueError("no")

    kind = NodeProcessingGraphRewriter
    assert issubclass(WalkingGraphRewriter, kind)
    graph = UnmergedGraph([x], [pt.sin(x)])
    WalkingGraphRewriter(Fails(), failure_callback=kind.warn_ignore).rewrite(graph)
    with pytest.warns(RuleWarning, match="no"):
        WalkingGraphRewriter(Fails(), failure_callback=kind.warn).rewrite(graph)
    with pytest.raises(RuleError, match="no"):
        WalkingGraphRewriter(Fails()).rewrite(graph)
    with pytest.raises(OptionError, match="failure_callback"):
        WalkingGraphRewriter(Fails(), failure_callback=print)


def test_drivers_refuse_what_they_do_not_know() -> None:
    with pytest.raises(OptionError, match="in_to_out"):
        WalkingGraphRewriter(Unwrap(pt.exp), "sideways")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="failure_callback"):
        EquilibriumGraphRewriter([], failure_callback=print)


def test_a_driver_of_rules_and_drivers() -> None:
    made = PatternNodeRewriter((pt.sin, "a"), (pt.exp, "a"))
    last = in2out(PatternNodeRewriter((pt.cos, "a"), (pt.sin, "a")))
    driver = EquilibriumGraphRewriter([in2out(Unwrap(pt.exp)), made], final_rewriters=[last])
    assert brief(rewrite_graph(pt.cos(pt.sin(x)), (), driver)) == "x"


@pytest.mark.parametrize(("once", "left"), [(True, "sin(x)"), (False, "x")])
def test_an_op_is_looked_for(once: bool, left: str) -> None:
    turn = PatternNodeRewriter((pt.exp, "a"), (pt.sin, "a"))
    first = OpKeyGraphRewriter(turn, ignore_newtrees=once)
    then = OpKeyGraphRewriter(Unwrap(pt.sin)) if not once else None
    got = rewrite_graph(pt.exp(x), (), first)
    assert brief(got if then is None else rewrite_graph(got, (), then)) == left


# --- modes and databases --------------------------------------------------------------------------


class Note(GraphRewriter):
    """Notes how many nodes of an op there are."""

    def __init__(self, op: Any) -> None:
        super().__init__("note")
        self.op, self.seen = op, list[int]()

    def apply(self, fgraph: Any) -> None:  # type: ignore[override]
        self.seen.append(sum(node.op is self.op for node in fgraph.toposort()))


@pytest.mark.parametrize(("place", "seen"), [({"before": "canonicalize"}, 1), ({}, 0)])
def test_a_driver_stands_between_the_phases(place: dict[str, str], seen: int) -> None:
    note = Note(pt.log)
    mode = rw.Mode().adding(note, **place)  # type: ignore[arg-type]
    f = rw.function([x], pt.log(pt.exp(x)), mode=mode)
    assert note.seen == [seen]
    np.testing.assert_array_equal(f([800.0]), [800.0])
    assert "adding(<Note note>" in repr(mode)
    assert mode != rw.Mode()
    with pytest.raises(UnknownNameError, match="no phase 'nowhere'"):
        rw.Mode().adding(note, before="nowhere")


def test_positions_of_others_are_phases() -> None:
    early, late = Note(pt.log), Note(pt.log)
    mode = rw.Mode("fast_compile").register((early, -1), (late, 100))
    rw.function([x], pt.log(pt.exp(x)), mode=mode)
    assert (early.seen, late.seen) == ([1], [0])
    rule = rw.Mode(optimizer="fast_run").register((Unwrap(pt.sin), 1.5))
    np.testing.assert_array_equal(rw.function([x], pt.sin(x), mode=rule)([3.0]), [3.0])


@pytest.fixture
def registered() -> Iterator[None]:
    """What is registered is gone afterwards."""
    steps = phases._steps
    yield
    phases._steps = steps
    phases.optimizer.cache_clear()


@pytest.mark.usefixtures("registered")
def test_drivers_are_registered() -> None:
    always, asked = Note(pt.exp), Note(pt.exp)
    optdb.register("test_always", always, "fast_run", position=1)
    optdb.register("test_asked", in2out(Unwrap(pt.sin)), position=1)
    optdb["canonicalize"].register("test_phase", asked, use_db_name_as_tag=False)

    def run(mode: Any) -> Any:
        return rw.function([x], pt.sin(pt.exp(x)), mode=mode)([0.0])

    np.testing.assert_allclose(run(rw.Mode()), np.sin([1.0]))
    assert (always.seen, asked.seen) == ([1], [])
    np.testing.assert_allclose(run(rw.Mode().including("test_asked", "test_phase")), [1.0])
    assert (always.seen, asked.seen) == ([1, 1], [1])
    run(rw.Mode().excluding("test_always"))
    run(rw.Mode("fast_compile"))
    assert always.seen == [1, 1]


def test_a_database_makes_the_optimizer() -> None:
    rules = EquilibriumDB()
    rules.register("unwrap", Unwrap(pt.sin), "mine")
    db = SequenceDB()
    db.register("rules", rules, "mine", position=1)
    mode = rw.Mode("py", RewriteDatabaseQuery(include=["mine"]), db=db)
    np.testing.assert_array_equal(rw.function([x], pt.sin(x), mode=mode)([3.0]), [3.0])


def test_a_query_has_its_arguments_in_their_order() -> None:
    query = RewriteDatabaseQuery(["canonicalize"], ["algebra"], ["inplace"])
    assert (query.require, query.exclude) == ({"algebra"}, {"inplace"})
    nothing = rw.Mode("py", RewriteDatabaseQuery(include=[None], exclude=[]))
    f = rw.function([x], pt.log(pt.exp(x)), mode=nothing)
    assert [node.op for node in f.maker.fgraph.toposort()] == [pt.exp, pt.log]
    assert query.including("merge").include == {"canonicalize", "merge"}


def test_a_query_leaves_out_what_stands_behind_a_position() -> None:
    early = RewriteDatabaseQuery(["fast_run"], position_cutoff=1.51)
    set_later = RewriteDatabaseQuery(["fast_run"])
    set_later.position_cutoff = 1.51
    assert early.exclude == set_later.exclude == {"specialize", "factorize", "inplace"}
    names = [part.name for part in optdb.query(early).parts]
    assert "stabilize" in names
    assert not {"specialize", "factorize", "inplace"} & {*names}
    with pytest.raises(AttributeError, match="include"):
        set_later.include = frozenset()  # type: ignore[misc]


def test_the_optimizers_by_name() -> None:
    assert predefined_optimizers["fast_run"] is OPT_FAST_RUN
    f = rw.function([x], pt.log(pt.exp(x)), mode=rw.Mode("py", predefined_optimizers[None]))
    assert [node.op for node in f.maker.fgraph.toposort()] == [pt.exp, pt.log]


# --- patterns -------------------------------------------------------------------------------------


def test_an_op_of_a_users_own() -> None:
    twice = PatternNodeRewriter((Double(), (Double(), "a")), (pt.mul, 4.0, "a"))
    assert rewritten(Double()(Double()(x)), twice) == "4.0 * x"
    inner = PatternNodeRewriter((pt.exp, (Double(), "a")), (pt.exp, "a"))
    assert rewritten(pt.exp(Double()(x)), inner) == "exp(x)"
    assert rewritten(Double()(x), Unwrap(Double())) == "x"


def test_ops_with_some_parameters() -> None:
    over_rows = OpPattern(Sum, axis=(0,))
    assert over_rows.match_op(Sum(axis=0))
    assert not over_rows.match_op(Sum(axis=1))
    assert not over_rows.match_op(pt.exp)
    drop = PatternNodeRewriter((over_rows, (pt.exp, "a")), (over_rows, "a"))
    assert rewritten(pt.exp(m).sum(0), drop) == "Sum{axis=0}(m)"
    assert rewritten(pt.exp(m).sum(1), drop) == "Sum{axis=1}(exp(m))"

    @node_rewriter([over_rows])
    def first_row(fgraph: Any, node: Any) -> Any:
        return [node.inputs[0][0]]

    assert rewritten(m.sum(0), first_row) == "Subtensor{0}(m)"
    assert rewritten(m.sum(1), first_row) == "Sum{axis=1}(m)"


def test_names_stand_for_parameters_and_the_rest() -> None:
    told: list[dict[str, Any]] = []

    def tell(fgraph: Any, node: Any, found: dict[str, Any]) -> Any:
        told.append(found)
        return None

    rule = PatternNodeRewriter((OpPattern(Sum, axis="axis"), (pt.mul, "a", Asterisk("b"))), tell)
    rewritten((m * 2.0).sum(1), rule)
    assert told[0]["axis"] == (1,)
    assert told[0]["a"] is m
    assert [v.data for v in told[0]["b"]] == [2.0]


def test_a_string_may_be_a_value() -> None:
    op = Cholesky(lower=True)
    assert OpPattern(Cholesky, on_error=LiteralString(op.on_error)).match_op(op) is False
    pattern = convert_strs_to_vars((OpPattern(Cholesky, on_error=LiteralString(op.on_error)), "a"))
    assert match_pattern(pattern, op(m).owner) is not None


def test_patterns_match_in_any_order_where_ops_do() -> None:
    pattern = convert_strs_to_vars((pt.add, (pt.exp, "a"), "a"))
    (found,) = [match_pattern(pattern, (x + pt.exp(x)).owner)]
    assert [*found.values()] == [x]
    assert match_pattern(pattern, (y + pt.exp(x)).owner) is None
    assert match_pattern(convert_strs_to_vars((pt.sub, (pt.exp, "a"), "b")), (x - y).owner) is None
    numbers = convert_strs_to_vars((pt.mul, 2.0, "a"))
    assert match_pattern(numbers, (2.0 * x).owner) is not None
    assert match_pattern(numbers, (3.0 * x).owner) is None


def test_terms_are_made_of_patterns() -> None:
    names: dict[str, Any] = {}
    pattern = convert_strs_to_vars((OpPattern(Sum, axis="k"), (pt.add, "a", "a")), names)
    made = reify_pattern(pattern, {names["k"]: 0, names["a"]: m})
    assert brief(made) == "Sum{axis=0}(m + m)"
    with pytest.raises(UnboundVariableError, match="'a'"):
        reify_pattern(pattern, {names["k"]: 0})


def test_what_is_no_pattern() -> None:
    odd = ConstrainedVar(lambda v: v.ndim == 1, "v")
    assert odd.constraint is not None
    short, long = [{"pattern": "v", "constraint": f} for f in (bool, len)]
    for wrong in (
        (len, "a"),
        (pt.exp, {"pattern": (pt.log, "x"), "constraint": bool}),
        (pt.add, short, long),
        (pt.add, "a", Asterisk("a")),
        (pt.add, Asterisk("a"), "b"),
    ):
        with pytest.raises(PatternError):
            convert_strs_to_vars(wrong)


# --- relations, lines -----------------------------------------------------------------------------


def test_a_relation_is_a_rule() -> None:
    kanren = pytest.importorskip("kanren")
    conso = pytest.importorskip("kanren").conso

    def logs_are_exps(term: Any, out: Any) -> Any:
        operands = kanren.var()
        return kanren.lall(conso(pt.log, operands, term), conso(pt.exp, operands, out))

    assert rewritten(pt.log(x), RelationOfOthers(logs_are_exps)) == "exp(x)"
    seen: list[Any] = []

    def last(answers: Iterator[Any]) -> Any:
        seen.extend(answers)
        return seen[-1] if seen else None

    rule = RelationOfOthers(logs_are_exps, last, lambda node: node.op is pt.log)
    assert rewritten(pt.log(x), rule) == "exp(x)"
    assert len(seen) == 1
    assert rule.transform(None, pt.sin(x).owner) is False
    assert [brief(v) for v in rule.transform(None, pt.log(x).owner)] == ["exp(x)"]


def test_lines_are_known() -> None:
    f = rw.function([x], pt.exp(x + 1), mode=rw.Mode().excluding("inplace"))
    assert check_stack_trace(f)
    assert check_stack_trace(f, pt.exp)
    assert check_stack_trace(f.maker.fgraph, [type(pt.exp)])
    assert check_stack_trace(f, lambda node: node.op is pt.exp)
    with pytest.raises(UnknownNameError, match="no node"):
        check_stack_trace(f, pt.sin)
    with pytest.warns(UserWarning, match="no node"):
        check_stack_trace(f, pt.sin, bug_print="warn")
    assert check_stack_trace(f, pt.sin, bug_print="ignore")
    with pytest.raises(OptionError):
        check_stack_trace(f, "first")


def test_graphs_as_texts() -> None:
    a = x * y
    assert str(UnmergedGraph([x, y], [pt.exp(a) + a, a])) == (
        "FunctionGraph(add(exp(*1 -> mul(x, y)), *1), *1)"
    )
    assert str(UnmergedGraph([m], [pt.linalg.qr(m)[1]])).endswith("(m)::1)")
    assert out2in is not in2out
