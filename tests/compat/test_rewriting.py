"""How other libraries ask for rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.rewriting import PatternNodeRewriter, in2out, optdb, out2in
from rewrite_engine.errors import OptionError, PatternError, UnboundVariableError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import node_rewriter
from rewrite_engine.match.claim import approx
from rewrite_engine.match.query import RewriteDatabaseQuery
from rewrite_engine.match.rule import DataRule, NodeRewriter
from rewrite_engine.pipeline.phases import rewrite_graph
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.trace import brief

x, y, s = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s")


# --- the pipeline as a database -------------------------------------------------------------------


def test_queries_make_drivers() -> None:
    for query in (
        optdb.query("+canonicalize", "+specialize", "-exp_log"),
        optdb.query(RewriteDatabaseQuery(["canonicalize", "specialize"], exclude=["exp_log"])),
        optdb.query(include=["canonicalize", "specialize"], exclude="exp_log"),
    ):
        assert [part.name for part in query.parts] == ["canonicalize", "specialize"]
        graph = FunctionGraph([x], [pt.log(pt.exp(x))])
        query.rewrite(graph)
        assert len(graph) == 2
    late = optdb.query("+fast_run", "-factorize", "-inplace")
    assert [part.name for part in late.parts][-1] == "specialize"
    with pytest.raises(ValueError, match="must start with"):
        optdb.query("canonicalize")


def test_what_is_there() -> None:
    assert {"canonicalize", "stabilize", "specialize"} <= set(optdb)
    assert "exp_log" in optdb
    assert "nothing" not in optdb
    assert len(optdb.rules) > 100


def test_what_is_registered_has_a_place() -> None:
    walk = in2out(PatternNodeRewriter((pt.exp, "x"), "x"))
    with pytest.raises(OptionError, match="names, tags and positions"):
        optdb.register("mine", walk, "fast_run", position=50, final=True)
    with pytest.raises(OptionError, match="a position must be a number"):
        optdb.register("mine", walk, "fast_run", position="nowhere")


# --- patterns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "text", "term", "expected"),
    [
        (((pt.mul, "x", "x"), (pt.sqr, "x")), "x * x -> sqr(x)", x * x, "sqr(x)"),
        (((pt.sub, (pt.add, "x", "y"), "y"), "x"), "x + y - y -> x", (x + s) - s, "x"),
        (((pt.pow, "x", 2.0), (pt.sqr, "x")), "x ** 2.0 -> sqr(x)", x**2, "sqr(x)"),
        (((pt.exp, "x"), 1.0), "exp(x) -> 1.0", pt.exp(s), "1.0"),
    ],
)
def test_patterns_make_data_rules(sides: Any, text: str, term: Any, expected: str) -> None:
    made = PatternNodeRewriter(*sides)
    assert isinstance(made, DataRule)
    assert made.text == text
    got = rewrite_graph(term, include=(), custom_rewrite=in2out(made))
    assert brief(got) == expected


def test_a_constraint_belongs_to_a_variable() -> None:
    short = {"pattern": "a", "constraint": lambda v: v.ndim == 0}
    made = PatternNodeRewriter((pt.pow, short, "b"), (pt.exp, "b"))
    assert made.transform(None, (s**x).owner) is not None
    assert made.transform(None, (y**x).owner) is None


def test_names_and_places() -> None:
    made = PatternNodeRewriter((pt.exp, "x"), "x", name="drop_exp", phase="specialize")
    assert made.name.endswith("/drop_exp")
    assert made.where[0] == __file__
    f = rw.function([x], pt.exp(x), mode=rw.Mode() + made)
    np.testing.assert_array_equal(f([1.0, 2.0]), [1.0, 2.0])


def test_a_function_makes_what_is_put_in() -> None:
    told = []

    def half(fgraph: Any, node: Any, found: dict[str, Any]) -> Any:
        told.append((str(node.op), sorted(found)))
        return None if found["1"] is y else pt.sinh(found["1"])

    made = PatternNodeRewriter((pt.exp, (pt.log, "1")), half, name="half", claim=approx(9))
    assert isinstance(made, NodeRewriter)
    assert (made.name, made.where[0]) == ("test_rewriting/half", __file__)
    assert (made.tracks, made.depth) == ((pt.exp,), 1)
    terms = [pt.exp(pt.log(x)), pt.exp(pt.log(y)), pt.exp(x), pt.log(pt.exp(x))]
    got = rewrite_graph(terms, include=(), custom_rewrite=in2out(made))
    assert list(map(brief, got)) == ["sinh(x)", "exp(log(y))", "exp(x)", "log(exp(x))"]
    assert told == [("exp", ["1"])] * 2
    never = PatternNodeRewriter((pt.exp, "x"), lambda fgraph, node, found: False, tracks=())
    assert brief(rewrite_graph(pt.exp(x), (), in2out(never))) == "exp(x)"
    f = rw.function([x], pt.exp(pt.log(x)), mode=rw.Mode(optimizer=out2in(made)))
    np.testing.assert_allclose(f([1.0]), np.sinh([1.0]))


def test_a_match_is_looked_for_again_after_a_change_below() -> None:
    first = PatternNodeRewriter((pt.cos, "x"), (pt.log, "x"))
    second = PatternNodeRewriter(
        (pt.exp, (pt.log, "x")), lambda fgraph, node, found: found["x"], claim=approx(9)
    )
    driver = EquilibriumOptimizer([second, first])
    assert brief(rewrite_graph(pt.exp(pt.cos(x)), (), driver)) == "x"


@pytest.mark.parametrize("names", [("1", "2"), ("a-b", "a b!"), ("x", "y")])
def test_names_may_be_any_strings(names: tuple[str, str]) -> None:
    a, b = names
    made = PatternNodeRewriter((pt.sub, (pt.add, a, b), b), a)
    assert brief(rewrite_graph((x + s) - s, (), in2out(made))) == "x"
    alone = PatternNodeRewriter(
        (pt.sub, (pt.add, a, b), b), (pt.exp, a), allow_multiple_clients=False
    )
    assert brief(rewrite_graph((x + s) - s, (), in2out(alone))) == "exp(x)"


@pytest.mark.parametrize("out", ["x", lambda fgraph, node, found: found["x"]])
def test_what_is_used_elsewhere_stays(out: Any) -> None:
    x = pt.vector("x")
    log = PatternNodeRewriter((pt.log, (pt.exp, "x")), out, allow_multiple_clients=False)

    def of(*outputs: Any) -> Any:
        fgraph = FunctionGraph([x], list(outputs), clone=False)
        in2out(log).rewrite(fgraph)
        return fgraph.outputs

    assert of(pt.log(pt.exp(x))) == [x]
    assert of(pt.log(pt.exp(x)), pt.log(pt.exp(x)) + 1)[0] is x
    for kept in (lambda e: [pt.log(e), e], lambda e: [pt.log(e), e * 2], lambda e: [pt.log(e) + e]):
        outputs = kept(pt.exp(x))
        assert of(*outputs) == outputs


def test_what_is_no_pattern() -> None:
    with pytest.raises(UnboundVariableError, match="'z' is not in the pattern"):
        PatternNodeRewriter((pt.add, "x", "y"), "z")
    with pytest.raises(PatternError, match="node_rewriter"):
        PatternNodeRewriter((pt.exp, "x"), (pt.add, "x", lambda x: x))
    with pytest.raises(PatternError, match="belongs to a variable"):
        PatternNodeRewriter((pt.exp, {"pattern": (pt.log, "x"), "constraint": bool}), "x")
    with pytest.raises(PatternError, match=r"must be \(op, …\)"):
        PatternNodeRewriter("x", "y")
    with pytest.raises(OptionError):
        PatternNodeRewriter((pt.exp, "x"), "x", skip_identities_fn=len)


# --- walks ----------------------------------------------------------------------------------------


def test_what_rewriters_are_not_told() -> None:
    made = node_rewriter([pt.exp], inplace=False, requirements=())(lambda fgraph, node: None)
    assert made.tracks == (pt.exp,)
    for option in ({"inplace": True}, {"requirements": (object,)}):
        with pytest.raises(OptionError, match="inplace_on_inputs"):
            node_rewriter([pt.exp], **option)


def test_walks_and_rewriters_without_a_docstring() -> None:
    seen = []

    @node_rewriter([pt.exp, pt.log])
    def look(fgraph: Any, node: Any) -> None:
        seen.append(str(node.op))

    assert look.doc == ""
    for walk, order in ((in2out, ["log", "exp"]), (out2in, ["exp", "log"])):
        seen.clear()
        walk(look, name="looking").rewrite(FunctionGraph([x], [pt.exp(pt.log(x))]))
        assert seen == order
