"""PyTensor, with its Python linker: nothing is compiled to machine code. Its pattern rules have
one direction of search per op and try every order of operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import EquilibriumGraphRewriter, PatternNodeRewriter
from pytensor.graph.rewriting.unify import Asterisk
from pytensor.graph.rewriting.utils import rewrite_graph

from benchmarks import graphs
from benchmarks.peers.theano_like import Library
from benchmarks.peers.work import LEVELS, Value, best, microseconds

VERSION = pytensor.__version__
MODE = Mode(linker="py", optimizer="fast_run")


def compiled(inputs: list[Any], outputs: list[Any], *excluded: str) -> Any:
    return pytensor.function(inputs, outputs, mode=MODE.excluding(*excluded))


def one_pattern() -> float:
    """Firings a second with one pattern."""
    rule = PatternNodeRewriter((pt.log, (pt.exp, "x")), "x")
    driver = EquilibriumGraphRewriter([rule], max_use_ratio=LEVELS)

    def graph() -> FunctionGraph:
        x, out = graphs.log_exp(pt, LEVELS)
        return FunctionGraph([x], [out], clone=False)

    seconds, _ = best(driver.rewrite, graph, 3)
    return LEVELS / seconds


def canonicalize() -> float:
    """Firings a second with all rules that canonicalise."""
    seconds, _ = best(
        lambda out: rewrite_graph(out, include=("canonicalize",), clone=False),
        lambda: graphs.log_exp(pt, LEVELS)[1],
        2,
    )
    return LEVELS / seconds


def tried(pattern: Any, out: Any, matches: bool) -> float:
    """Microseconds to ask one pattern about a node."""
    rule = PatternNodeRewriter(pattern, "x", allow_multiple_clients=True)
    fgraph = FunctionGraph(outputs=[out], clone=False)
    found = rule.transform(fgraph, out.owner)
    assert bool(found) is matches, found
    return microseconds(lambda: rule.transform(fgraph, out.owner))


def work() -> dict[str, Callable[[], Value]]:
    """All figures."""
    x = pt.dvector("x")
    xs = [pt.dvector(f"x{i}") for i in range(16)]
    rest = Asterisk("rest")
    eight = pt.add(*[pt.constant(i + 2.0) * v for i, v in enumerate(xs[:8])])
    many = pt.add(*xs[:7], pt.log(xs[0]), *xs[7:13], pt.exp(xs[2]), xs[13])
    library = Library(
        pt, pytensor.grad, compiled, lambda f: len(f.maker.fgraph.apply_nodes), turns=2
    )
    return library.work() | {
        "hit": lambda: tried((pt.log, (pt.exp, "x")), pt.log(pt.exp(x)), True),
        "miss": lambda: tried((pt.log, (pt.exp, "x")), pt.log(pt.sin(x)), False),
        "firings": one_pattern,
        "canonicalize": canonicalize,
        "repeated": lambda: tried(
            (pt.add, (pt.mul, "a", "x"), (pt.mul, "b", "x"), rest), eight, False
        ),
        "rest": lambda: tried((pt.add, (pt.log, "x"), (pt.exp, "y"), rest), many, True),
    }
