"""Why a rule does not apply at a node, for people: `why_not` by name or rule.

Who answers is `match/explain.py`; here terms get the notation of reports, and are looked at as the
rule's phase sees them: what is written is not what earlier phases, and other rules of the same
phase, leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.explain.term import cut, term_text
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.outline import tracks
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.match.sample import unbuilt
from rewrite_engine.pipeline.phases import KNOWN, NAMES, PHASES, known_rules, optimizer


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Answer for one node. matches: the rule applies. progress: how many parts of the pattern
    matched.
    """

    rule: Any
    node: Apply
    matches: bool
    reason: str
    progress: int = 0

    @property
    def term(self) -> str:
        """Term that the node computes."""
        return term_text(self.node)

    def __str__(self) -> str:
        return f"{self.term}: {self.reason}"


def find_rule(rule: Rule | str, known: RuleSet | None = None) -> Rule:
    """Find a rule by its name, or one direction of an equation. Raises `UnknownNameError` with
    similar names.
    """
    if isinstance(rule, Rule):
        return rule
    rules = known_rules(Query().including("saturate")) if known is None else known
    whole, _, direction = rule.rpartition(".")
    if direction in ("forward", "backward"):
        found: Rule | None = getattr(rules[whole], direction, None)
        if found is not None:
            return found
    return rules[rule]


def why_not(rule: Rule | str, variable: Variable, fgraph: Any = None) -> WhyNot:
    """Say why a rule does not apply at the node that computes a variable.

    rule: a rule or its name (`UnknownNameError`). Raises `ValueError` for a variable that no node
    computes.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> print(why_not("log_of_one_plus", pt.log(2 + x)))
    log(2.0 + x): `1`: 2.0 is another number
    """
    rule = find_rule(rule)
    node = variable.owner
    if node is None:
        raise ValueError(f"{variable!r} is an input or a constant: rules apply to nodes")
    if fgraph is None and rule.phase in NAMES:
        answer = _in_phase(rule, node, variable)
        if answer is not None:
            return answer
    return _noted(rule, _asked(rule, node, fgraph))


def _noted(rule: Rule, answer: WhyNot) -> WhyNot:
    """Return the answer, with a note if no term can be built that the rule matches."""
    if not answer.matches and isinstance(rule, DataRule):
        why = unbuilt(rule.left, rule.variable.worlds())
        if why:
            note = f"the rule may never fire: no such term can be built of samples ({why})"
            return replace(answer, reason=f"{answer.reason}; {note}")
    return answer


def _asked(rule: Rule, node: Apply, fgraph: Any) -> WhyNot:
    found = diagnose(rule, node, fgraph, _short)
    reason = found.reason + (_where(rule) if found.applies else "")
    return WhyNot(rule, node, found.applies, reason, found.progress)


def _where(rule: Rule) -> str:
    """Return what a mode has to grant before a rule applies."""
    needed = rule.needs_grant
    return f" where {needed!r} is granted: including({needed!r})" if needed else ""


def _short(v: Any) -> str:
    return cut(term_text(v), 40)


def _in_phase(rule: Rule, node: Apply, variable: Variable) -> WhyNot | None:
    """Return the answer for the term as a phase of the default pipeline sees it; None if that is
    the term as it was written.
    """
    try:
        fired, before, after = _pipeline(rule, variable)
    except RewriteEngineError:  # of another rule: nothing is known
        return None
    if all([_is_written(variable, graph) for graph in (before, after)]):
        return None
    there = {text: None for graph in (before, after) for text in map(_short, graph.outputs)}
    if list(there) == [_short(variable)]:
        return _of_same_text(rule, node, fired, after)
    sees = f"{rule.phase} sees it as {list(there)[-1]}"
    if fired:
        return WhyNot(rule, node, True, f"the rule applies{_where(rule)}; {sees}")
    for graph in (after, before):
        nodes = [n for n in graph.toposort() if tracks(rule.roots(), n.op)]
        answers = [_asked(rule, n, graph) for n in nodes]
        if answers:
            best = max(answers, key=lambda a: (a.matches, a.progress))
            reason = f"{best.term}: {best.reason}"
            if best.matches:
                reason = f"{best.term}: it matches, but other rules come first"
            return WhyNot(rule, node, False, f"{sees}; {reason}", best.progress)
    return WhyNot(rule, node, False, f"{sees}; {_asked(rule, node, None).reason}")


def _is_written(variable: Variable, graph: FunctionGraph) -> bool:
    """Whether a graph computes a variable as it was written."""
    written = FunctionGraph(None, [variable])
    return equal_computations(graph.outputs, written.outputs, graph.inputs, written.inputs)


def _of_same_text(rule: Rule, node: Apply, fired: bool, after: FunctionGraph) -> WhyNot | None:
    """Return the answer for a term whose form changes, but not its text: a product of products
    becomes one product of all factors. None if the rule looks at another op.
    """
    seen = after.outputs[0].owner
    if seen is None or not tracks(rule.roots(), node.op):
        return None
    if fired:
        return WhyNot(rule, node, True, f"the rule applies{_where(rule)}")
    found = _asked(rule, seen, after)
    if found.matches:
        return WhyNot(rule, node, False, "it matches, but other rules come first", found.progress)
    return _noted(rule, replace(found, node=node))


def _pipeline(rule: Rule, variable: Variable) -> tuple[bool, FunctionGraph, FunctionGraph]:
    """Whether the rule fires in its phase, or in a later one that tries it again; the graph as the
    phase gets it, and as it is where the others have come to an end.
    """
    granted = [name for name in (rule.phase, rule.needs_grant) if name in KNOWN]
    query = Query().including(*granted)
    shipped = rule in known_rules(query)
    extra = RuleSet() if shipped else RuleSet([rule])
    without = query.excluding(rule.name) if shipped else query
    phases = [phase for phase in PHASES if phase.wanted(query, NAMES)]
    place = next(i for i, phase in enumerate(phases) if phase.name == rule.phase)
    drivers = optimizer(without), optimizer(without), optimizer(query, extra)
    graphs = [FunctionGraph(None, [variable]) for _ in drivers]
    fired = False
    last = len([phase for phase in phases if phase.name != "inplace"])
    ends = place, place + 1, max(place + 1, last)
    for graph, driver, n in zip(graphs, drivers, ends, strict=True):
        fired = any([rule.name in part.rewrite(graph).fired for part in driver.parts[:n]])
    return fired, graphs[0], graphs[1]
