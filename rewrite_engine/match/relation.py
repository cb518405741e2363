"""Rules that are miniKanren relations: any goal that relates a term to its replacement.

A goal's arguments and answers are etuples, graph variables (the same to `kanren`) and numbers.
`terms/search.py` runs goals; miniKanren is imported when the first one is used. Data rules are
relations too: `rule.goal` is made in `match/goal.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import is_
from typing import Any

from rewrite_engine.errors import PatternError, RelationBudgetError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import ILL_TYPED
from rewrite_engine.match.pattern import Graph
from rewrite_engine.match.rule import Rule
from rewrite_engine.terms.budget import Budget, Watch, bounded

Goal = Any
ResultsFilter = Callable[[Iterator[Any]], Any]
NodeFilter = Callable[[Apply], Any]

#: what a relation may use at one node
BUDGET = Budget(answers=1000, seconds=10.0)


class RelationRule(Rule):
    """Rule whose replacements are the answers `q` of `relation(term, q)`.

    The term is that of the node's output; for a node with several outputs it is `e(op, *operands)`.
    An answer is a term, a variable, or a number if the node's output is 0-dimensional; for several
    outputs it is a tuple or list of those (None: this output stays), or the term of a node with as
    many outputs. The first answer that fits is used: one without free variables, of a suitable
    type, and not the term itself.

    tracks, depth, options: see `NodeRewriter`. results_filter: receives the iterator of all
    answers, as variables (lists of them for several outputs), and returns the one to use, an
    iterator whose first suitable answer is used, or None. node_filter: whether to try a node.
    budget: limits for one node; at a limit, raises `RelationBudgetError`, or with
    `on_budget="stop"` uses the answers so far.
    """

    with_phase = '@relation(phase="canonicalize")'
    lenient = True  # what a results filter chose may be of any type

    def __init__(
        self,
        fn: Callable[[Any, Any], Goal],
        *,
        tracks: Sequence[Any] | None = None,
        depth: int = 2,
        budget: Budget = BUDGET,
        results_filter: ResultsFilter | None = None,
        node_filter: NodeFilter | None = None,
        **options: Any,
    ) -> None:
        super().__init__(fn, **options)
        self.tracks = None if tracks is None else tuple(tracks)
        self.depth = depth
        if not isinstance(budget, Budget):
            raise self.error(PatternError, f"has the budget {budget!r}: write Budget(answers=...)")
        self.budget = budget
        self.results_filter = results_filter
        self.node_filter = node_filter
        self.text = f"relation {self.short_name}(term, result)"

    def goal(self, term: Any, result: Any) -> Goal:
        """Return the relation itself. Raises `PatternError` if the function returns no goal."""
        goal = self.fn(term, result)
        if not callable(goal):
            raise self.error(PatternError, f"must return a goal, such as eq(a, b), not {goal!r}")
        return goal

    def apply(self, fgraph: Graph, node: Apply) -> Any:
        if self.node_filter is not None and not self.node_filter(node):
            return None
        result = self.answers(node)
        if self.results_filter is not None:
            chosen = self.results_filter(result)
            if not isinstance(chosen, Iterator):
                return None if chosen is None or chosen is False else self.result(node, chosen)
            result = chosen
        return next((a for a in result if suits(node, a)), None)

    def term(self, node: Apply) -> Any:
        """Return the term at a node that the relation gets."""
        from rewrite_engine.terms.convert import etuplize

        return etuplize(node.outputs[0] if len(node.outputs) == 1 else node)

    def found(self, term: Any) -> Iterator[Any]:
        """Yield the unprocessed answers for a term. Raises `RelationBudgetError`."""
        import kanren
        from kanren.core import Zzz

        from rewrite_engine.terms.search import search

        watch, q = Watch(self.budget), kanren.var()
        result = search(q, (Zzz(self.goal, term, q),), watch)
        error = partial(self.error, RelationBudgetError)
        yield from bounded(result, watch, "the relation", error)

    def answers(self, node: Apply) -> Iterator[Any]:
        """Yield the answers at a node that have no free variables, evaluated, whatever their type;
        answers that change nothing, or that no graph can be built of, are skipped.

        Raises `RelationBudgetError`, and `PatternError` for an answer that is not a term.
        """
        from etuples.core import ExpressionTuple

        from rewrite_engine.terms.unification import logic_variables

        term = self.term(node)
        for answer in self.found(term):
            if logic_variables(answer) or (isinstance(answer, ExpressionTuple) and answer == term):
                continue
            result = self.result(node, answer)
            if result is not None and result is not node.outputs[0]:
                yield result

    def result(self, node: Apply, answer: Any) -> Any:
        """Return an answer as a variable, or as a list for several outputs; None if it fits neither
        the number nor the kind of outputs, or no graph can be built of it.
        """
        value = self.value(answer)
        if isinstance(value, Apply):
            value = value.outputs
        elif len(node.outputs) > 1 and isinstance(value, Variable) and value.owner is not None:
            value = value.owner.outputs if value.index == node.op.default_output else None
        values = value if isinstance(value, tuple | list) else [value]
        if value is None or len(values) != len(node.outputs):
            return None
        pairs = zip(node.outputs, values, strict=True)
        results = [old if new is None else self.variable(old, new) for old, new in pairs]
        if any(new is None for new in results) or all(map(is_, results, node.outputs)):
            return None
        return results[0] if len(results) == 1 else results

    def value(self, answer: Any) -> Any:
        """Return an answer evaluated, tuples and lists by elements; None if no graph can be
        built.
        """
        from etuples.core import InvalidExpression

        from rewrite_engine.terms.convert import from_term

        try:
            if isinstance(answer, tuple | list):
                return [from_term(term) for term in answer]
            return from_term(answer)
        except InvalidExpression as error:
            raise self.error(PatternError, f"has an answer that is not a term: {error}") from error
        except ILL_TYPED:
            return None

    def variable(self, old: Variable, new: Any) -> Variable | None:
        """Return an answer as a variable: a number takes the type of the term it replaces."""
        if isinstance(new, Variable):
            return new
        if not isinstance(new, int | float | complex):
            raise self.error(PatternError, f"has the answer {new!r}, which is not a term")
        with suppress(TypeError, ValueError):
            return None if old.type.ndim else old.type.make_constant(new)
        return None


def suits(node: Apply, answer: Any) -> bool:
    """Return whether an answer has suitable types for the node's outputs."""
    new = answer if isinstance(answer, list) else [answer]
    return all(a.type.yields_to(b.type) for a, b in zip(node.outputs, new, strict=True))


class KanrenRelationSub(RelationRule):
    """Rule made from a relation, with the field's usual constructor.

    kanren_relation: `(term, result) -> goal`, any callable. results_filter: selects one of the
    answers (an iterator), by default the first that fits. node_filter: whether to try a node. name:
    of the rule, by default that of the relation. options: the options of `RelationRule`.
    """

    with_phase = 'KanrenRelationSub(..., phase="canonicalize")'

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Goal],
        results_filter: ResultsFilter | None = None,
        node_filter: NodeFilter | None = None,
        *,
        name: str | None = None,
        **options: Any,
    ) -> None:
        options.update(results_filter=results_filter, node_filter=node_filter)
        super().__init__(_name_relation(kanren_relation, name), **options)
        self.kanren_relation = kanren_relation


def _name_relation(
    relation: Callable[[Any, Any], Goal], name: str | None
) -> Callable[[Any, Any], Goal]:
    """Return a function with the name, the source position and the docstring that a rule needs."""
    inner = getattr(relation, "func", relation)  # of a partial

    def goal(term: Any, result: Any) -> Goal:
        return relation(term, result)

    goal.__name__ = name or getattr(inner, "__name__", type(inner).__name__).strip("<>")
    goal.__module__ = getattr(inner, "__module__", __name__)
    goal.__doc__ = getattr(inner, "__doc__", None) or "A relation given as a function."
    if hasattr(inner, "__code__"):
        goal.__wrapped__ = inner  # type: ignore[attr-defined]
    return goal
