"""Rewriters that are written as classes, and classes of ops that are made with arguments."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import op_classes
from rewrite_engine.compat.databases import EquilibriumDB, LocalGroupDB
from rewrite_engine.compat.graphs import UnmergedGraph
from rewrite_engine.compat.rewriters import ClassRewriter
from rewrite_engine.compat.rewriting import in2out, out2in
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.tensor.linalg.solvers import Solve

x, a, b, c = pt.dvector("x"), pt.dmatrix("a"), pt.dvector("b"), pt.bscalar("c")


class Powers(ClassRewriter):
    """What is tracked becomes a square, with an attribute of its own."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def tracks(self) -> Any:
        return [self.op]

    def transform(self, fgraph: Any, node: Any) -> Any:
        return [pt.sqr(node.inputs[0])]


class Everywhere(ClassRewriter):
    def transform(self, fgraph: Any, node: Any) -> Any:
        return [pt.exp(node.inputs[0])] if node.op == pt.sin else None


def rewritten(driver: Any, term: Any) -> list[str]:
    graph = UnmergedGraph([x], [term])
    driver.rewrite(graph)
    return [str(node.op) for node in graph.toposort()]


def test_a_rule_may_be_a_class() -> None:
    rule = Powers(pt.exp)
    assert rule.short_name.startswith("Powers")
    assert isinstance(rule, rw.match.rule.Rule)
    assert rewritten(in2out(rule), pt.cos(pt.exp(x))) == ["sqr", "cos"]
    assert rewritten(in2out(rule), pt.sin(x)) == ["sin"]
    assert rewritten(out2in(Everywhere()), pt.sin(x)) == ["exp"]
    db = LocalGroupDB()
    db.register("powers", rule, "basic")
    assert rewritten(in2out(db.query("+basic")), pt.exp(x)) == ["sqr"]


def test_rules_of_functions_are_node_rewriters() -> None:
    assert isinstance(node_rewriter([pt.exp])(lambda fgraph, node: None), ClassRewriter)
    assert not isinstance(node_rewriter([pt.exp])(lambda fgraph, node: None), Powers)
    assert isinstance(Powers(pt.exp), Powers)


def test_drivers_in_a_database_of_rules() -> None:
    db = EquilibriumDB()
    db.register("rule", Everywhere(), "basic")
    db.register("driver", out2in(Powers(pt.exp)), "basic")
    assert rewritten(db.query("+basic"), pt.cos(pt.sin(x))) == ["sqr", "cos"]


@pytest.mark.usefixtures("peers")
def test_walks_by_their_names() -> None:
    from pytensor.graph.rewriting.basic import NodeRewriter as Named
    from pytensor.graph.rewriting.basic import dfs_rewriter

    assert Named is ClassRewriter
    assert rewritten(dfs_rewriter(Everywhere()), pt.sin(x)) == ["exp"]


A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -2.0])
L = np.linalg.cholesky(A)


@pytest.mark.parametrize(
    ("made", "want"),
    [
        (op_classes.Solve(assume_a="pos", b_ndim=1)(a, b), np.linalg.solve(A, B)),
        (op_classes.SolveTriangular(lower=True, b_ndim=1)(a, b), np.linalg.solve(np.tril(A), B)),
        (op_classes.CholeskySolve(lower=True, b_ndim=1)(pt.linalg.cholesky(a), b),
         np.linalg.solve(A, B)),
        (op_classes.Cholesky(lower=True)(a) @ b, L @ B),
        (op_classes.advanced_subtensor1(a, [1, 1])[0] + b, A[1] + B),
        (op_classes.advanced_inc_subtensor1(a, pt.stack([b, b]), [0, 0])[0], A[0] + 2 * B),
    ],
)  # fmt: skip
def test_ops_that_are_made_with_arguments(made: Any, want: Any) -> None:
    f = rw.function([a, b], made, on_unused_input="ignore")
    np.testing.assert_allclose(f(A, B), want)


def test_branches_of_so_many_values() -> None:
    first, second = op_classes.IfElse(2)(c, a, b, 2 * a, 3 * b)
    f = rw.function([c, a, b], [first, second, op_classes.IfElse(1)(c, b, -b)])
    for given, factors in ((1, (1, 1, 1)), (0, (2, 3, -1))):
        for got, value, factor in zip(f(given, A, B), (A, B, B), factors, strict=True):
            np.testing.assert_allclose(got, factor * value)


def test_they_stand_for_the_ops_here() -> None:
    assert isinstance(Solve(), op_classes.Solve)
    assert not isinstance(pt.exp, op_classes.Solve)
    assert issubclass(Solve, op_classes.Solve)
