"""Why a rule does not apply at a node, for people: `why_not` by name or rule.

Who answers is `match/explain.py`; here terms get the notation of reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewrite_engine.explain.term import cut, term_text
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rules.pipeline import known_rules


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The answer for one node. matches: the rule does apply. progress: how many parts of the
    pattern matched.
    """

    rule: Any
    node: Apply
    matches: bool
    reason: str
    progress: int = 0

    @property
    def term(self) -> str:
        """The node's term."""
        return term_text(self.node.outputs[0])

    def __str__(self) -> str:
        return f"{self.term}: {self.reason}"


def find_rule(rule: Rule | str, known: RuleSet | None = None) -> Rule:
    """A rule by its name, or one direction of an equation. Raises `UnknownNameError` with names
    that are like it.
    """
    if isinstance(rule, Rule):
        return rule
    rules = known_rules() if known is None else known
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
    found = diagnose(rule, node, fgraph, lambda v: cut(term_text(v), 40))
    return WhyNot(rule, node, found.applies, found.reason, found.progress)
