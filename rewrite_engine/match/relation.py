"""Relations: rules that are miniKanren goals. `rule.goal` for data rules, and rules made of any
goal.

A goal relates two etuples (or variables: they are the same thing to `kanren`). miniKanren is
imported when the first goal is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.emit import Function
from rewrite_engine.match.rule import Rule

Goal = Any
ResultsFilter = Callable[[Iterator[Any]], Any]


class RelationRule(Rule):
    """A rule whose replacements are the answers `q` of `relation(term, q)`; the first one that fits
    is taken.

    limit: how many answers are looked at for one node.
    """

    def __init__(
        self,
        fn: Callable[[Any, Any], Goal],
        *,
        phase: str | None = None,
        tracks: Sequence[Any] | None = None,
        claim: Claim = refines,
        tags: Iterable[str] = (),
        depth: int = 2,
        limit: int = 20,
    ) -> None:
        super().__init__(fn, phase=phase, claim=claim, tags=tags)
        self.tracks = None if tracks is None else tuple(tracks)
        self.depth = depth
        self.limit = limit
        self.text = f"relation {self.short_name}(term, result)"

    def roots(self) -> Sequence[Any] | None:
        return self.tracks

    def goal(self, term: Any, result: Any) -> Goal:
        """The relation itself."""
        return self.fn(term, result)

    @cached_property
    def apply(self) -> Function:
        def apply(fgraph: Any, node: Apply) -> Any:
            for answer in answers(self.fn, node, self.limit):
                if isinstance(answer, Variable) and node.outputs[0].type.yields_to(answer.type):
                    return answer
            return None

        return apply


def answers(relation: Callable[[Any, Any], Goal], node: Apply, limit: int) -> Iterator[Any]:
    """Yield what a node's output is related to, as graph variables; answers with free variables
    are skipped.
    """
    import kanren

    from rewrite_engine.terms.convert import etuplize, from_term
    from rewrite_engine.terms.unify import logic_variables

    if len(node.outputs) != 1:
        return
    term = etuplize(node.outputs[0])
    q = kanren.var()
    for i, found in enumerate(kanren.run(None, q, relation(term, q), results_filter=iter)):
        if i >= limit:
            return
        if not logic_variables(found):
            value = from_term(found)
            if value is not node.outputs[0]:
                yield value


class KanrenRelationSub(RelationRule):
    """A rule from a relation, with the constructor the field knows.

    kanren_relation: `(term, result) -> goal`. results_filter: picks one of the answers (an iterator
    of variables), by default the first. node_filter: whether a node is looked at.
    """

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Goal],
        results_filter: ResultsFilter | None = None,
        node_filter: Callable[[Apply], bool] | None = None,
        **options: Any,
    ) -> None:
        if not kanren_relation.__doc__:
            kanren_relation.__doc__ = "A relation given as a function."
        super().__init__(kanren_relation, **options)
        self.results_filter = results_filter
        self.node_filter = node_filter

    @cached_property
    def apply(self) -> Function:
        def apply(fgraph: Any, node: Apply) -> Any:
            if self.node_filter is not None and not self.node_filter(node):
                return None
            found = answers(self.fn, node, self.limit)
            return next(found, None) if self.results_filter is None else self.results_filter(found)

        return apply
