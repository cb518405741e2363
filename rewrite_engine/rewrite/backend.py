"""Ways to find the best equal terms: the e-graph of this package, or the package `egglog`.

A backend gets an `EGraph` with the terms of a region, rules, limits, a cost and the terms that are
wanted. It returns why it stopped, and the terms to choose (None: those that are there). In either
case the e-graph knows afterwards, with reasons, that the chosen terms are equal to the old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.cost import CostModel
from rewrite_engine.rewrite.egraph import EGraph
from rewrite_engine.rewrite.explore import Explorer, Limits
from rewrite_engine.rewrite.extract import Choice, Extractor
from rewrite_engine.rewrite.result import StopReason

Found = tuple[StopReason, Choice | None]
Backend = Callable[[EGraph, Sequence[DataRule], Limits, CostModel, Sequence[int], int], Found]


def native(
    egraph: EGraph,
    rules: Sequence[DataRule],
    limits: Limits,
    cost: CostModel,
    roots: Sequence[int],
    original: int,
) -> Found:
    """Saturate the e-graph itself, and choose from it. original: the first so many terms are those
    that the graph has."""
    stopped = Explorer(egraph, rules, limits).run()
    if not egraph.links:
        return stopped, None
    wanted = [egraph.find(t) for t in roots]
    return stopped, Extractor(egraph, cost).choose(wanted, original, limits.until)


def backend_named(name: str) -> Backend:
    """The backend with a name. Raises `UnknownNameError`, `MissingExtraError`."""
    if name == "native":
        return native
    if name == "egglog":
        from rewrite_engine.rewrite.egglog import load

        found: Backend = load()
        return found
    raise UnknownNameError(f'no backend is called {name!r}; there are "native" and "egglog"')
