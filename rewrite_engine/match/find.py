"""`find(graph, pattern)`: where a pattern matches, with the values of its variables.

The pattern is compiled like the left side of a rule, and tried at each node once, in topological
order. Possible origins of a term are found by `rewrite/expand.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

from rewrite_engine.errors import PatternError, RuleError, source_line
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.replace import Shared
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.ac import AFTER, BEFORE, EXTRA, Uses, as_one, is_associative, joined
from rewrite_engine.match.build import Bindings
from rewrite_engine.match.interpret import every_result, matcher_for
from rewrite_engine.match.lower import Lowered, RuleBody, counted, extended, lower, lower_side
from rewrite_engine.match.missing import each_way, with_missing
from rewrite_engine.match.outline import is_root
from rewrite_engine.match.pattern import Graph
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.sample import in_own_form
from rewrite_engine.match.text import pattern_text
from rewrite_engine.terms.budget import Budget, OnBudget, Watch, bounded
from rewrite_engine.terms.logic import LogicVariable, PatternTerm


@dataclass(frozen=True, slots=True)
class Match:
    """Match of a pattern at a node. bindings: values of its variables, by name: a variable of the
    graph, a tuple of them for a rest, a value for a parameter of an op, the default for a missing
    operand. Operands of a sum or product that the pattern leaves alone are bound to "*"; for an op
    with ordered operands to "<*" (before) and "*>" (after). index: the output that the pattern is
    about.
    """

    node: Apply
    bindings: Bindings
    index: int = 0

    @property
    def variable(self) -> Variable:
        """Term that matched; for a pattern of a whole node with several outputs, the first."""
        return self.node.outputs[self.index]  # type: ignore[no-any-return]

    def __getitem__(self, name: str) -> Any:
        return self.bindings[name]


def find(
    graph: Any,
    pattern: Any,
    *,
    every: bool = False,
    answers: int | None = None,
    seconds: float | None = None,
    on_budget: OnBudget = "raise",
    variable: type[LogicVariable] = LogicVariable,
) -> Iterator[Match]:
    """Yield the matches of a pattern in a graph, inputs before the terms computed from them.

    graph: a `FunctionGraph`, a variable, or a sequence of variables. Equal terms count once, as in
    a graph. pattern: a data rule (its left side and guards); a function written like one, which
    returns a left side (and `given(...)` after a comma); a pattern made of logic variables; an op,
    or a class of ops. every: all matches at a node, not just the first. answers, seconds: the
    budget, by default none; at a limit, raises `SearchBudgetError`, or ends with on_budget="stop".
    Raises `PatternError` for an invalid pattern.

    A nest `a + (b + c)` whose inner sums are used nowhere else is also tried as one sum, at its
    outermost node, if that alone does not match. Nests below the root of a pattern are not.
    """
    watch = Watch(Budget(answers, seconds, on_budget))
    if isinstance(pattern, Op) or (isinstance(pattern, type) and issubclass(pattern, Op)):
        finder, text = None, str(getattr(pattern, "__name__", pattern))
    else:
        finder = finder_for(pattern, variable)
        text = finder.text

    nodes, outputs, own = _collect_nodes(graph)
    fgraph = graph if isinstance(graph, FrozenGraph) else None
    here = _check_clock(nodes, watch)
    results: Iterator[Match]
    if finder is None:
        results = (Match(node, {}) for node in here if is_root(pattern, node.op) and node.outputs)
    else:
        uses = Uses(nodes, outputs) if fgraph is None and finder.opens else fgraph
        results = _search(finder, here, fgraph, uses, every)
    if own is not None:
        results = (Match(own(m.variable).owner, {k: own(v) for k, v in m.bindings.items()}, m.index)
                 for m in results)  # fmt: skip
    return bounded(results, watch, f"the search for {text}")


def _check_clock(nodes: Sequence[Apply], watch: Watch) -> Iterator[Apply]:
    """Yield nodes, and check the clock now and then."""
    for i, node in enumerate(nodes):
        if not i & 255:
            watch.tick()
        yield node


def _search(
    finder: Finder, nodes: Iterable[Apply], fgraph: Graph, uses: Graph | Uses, every: bool
) -> Iterator[Match]:
    left, ask = finder.left, finder.every if every else finder.first
    for node in nodes:
        target = left.target(node) if left.fits(node.op) else None
        if target is None:
            continue
        result = False
        for bound in ask(node, fgraph):
            result = True
            yield Match(node, bound, target.index)
        if finder.opens and not result and (whole := as_one(uses, node)) is not None:
            yield from (Match(node, bound) for bound in ask(whole, fgraph))


def _collect_nodes(
    graph: Any,
) -> tuple[Sequence[Apply], Sequence[Variable], Callable[[Any], Any] | None]:
    """Return the nodes of a graph in order, equal ones once; its outputs; and, if some had to be
    copied for that, a function that returns the graph's own variables.
    """
    if isinstance(graph, FrozenGraph):
        return graph.toposort(), graph.outputs, None
    alone = isinstance(graph, Variable) or not isinstance(graph, Iterable)
    roots = [graph] if alone else list(graph)
    for v in roots:
        if not isinstance(v, Variable):
            raise PatternError(f"find takes graphs and variables, not {v!r}")
    shared = Shared()
    roots = [shared(v) for v in roots]
    nodes = toposort(roots)
    first = shared.first
    if all(a is b for a, b in first.items()):
        return nodes, roots, None

    def own(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple([own(v) for v in x])
        if not isinstance(x, Variable) or x in first or x.owner is None:
            return first.get(x, x) if isinstance(x, Variable) else x
        return joined(x.owner.op, [first.get(v, v) for v in x.owner.inputs])

    return nodes, roots, own


class Finder:
    """Left side with guards, tried at nodes by a compiled function. opens: whether nests are tried
    as one op, if a part of one alone does not match.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.asked = each_way(lowered, lambda way: way._replace(right=None))
        self.left = lowered.left
        self.text = pattern_text(lowered.left)
        self.opens = is_associative(lowered.left)
        self.match = matcher_for(self.asked, "find", self.text)

    def first(self, node: Apply, fgraph: Graph) -> Sequence[Bindings]:
        """Return the first match at a node, if there is one."""
        bound = self.match(fgraph, node)
        return () if bound is None else (self.seen(bound),)

    def every(self, node: Apply, fgraph: Graph) -> Iterator[Bindings]:
        """Yield all matches at a node."""
        return map(self.seen, every_result(self.asked, fgraph, node))

    def seen(self, bound: Bindings) -> Bindings:
        """Return the bindings with the defaults of missing operands, and without empty entries for
        operands left alone.
        """
        results = {**self.asked.defaults, **bound}
        return {k: v for k, v in results.items() if v != () or k not in (EXTRA, BEFORE, AFTER)}


def finder_for(pattern: Any, variable: type[LogicVariable]) -> Finder:
    """Read a pattern in one of the forms of `find`, except for ops alone."""
    if isinstance(pattern, DataRule):
        return Finder(pattern.lowered)
    if isinstance(pattern, PatternTerm):
        left: Any = lower_side(pattern)
        lowered = in_own_form(Lowered(left, left, ()), variable.worlds())
        return Finder(extended(lowered))
    if not callable(pattern) or not hasattr(pattern, "__code__"):
        raise PatternError(
            f"{pattern!r} is not a pattern: pass a data rule, a function of its variables that "
            "returns a left side, a term of logic variables, or an op"
        )
    return Finder(_lower_function(pattern, variable))


def _lower_function(fn: Callable[..., Any], variable: type[LogicVariable]) -> Lowered:
    """Lower a function that returns a left side alone, or a whole rule."""

    def rule(**variables: Any) -> Any:
        body = fn(**variables)
        left, *conditions = body if isinstance(body, tuple) else (body,)
        if not isinstance(left, RuleBody):
            left = RuleBody(left, left)
        return (left, *conditions) if conditions else left

    try:
        rule = update_wrapper(rule, fn)
        worlds = variable.worlds()
        own = counted(lambda: with_missing(in_own_form(lower(rule, variable), worlds)))
        return each_way(own, extended)
    except RuleError as error:
        where = source_line(fn.__code__.co_filename, fn.__code__.co_firstlineno)
        raise type(error)(f"pattern ({where})\n    {error}") from None
