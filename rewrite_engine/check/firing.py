"""Checks that rules fire on terms of their own left sides, alone and in the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from rewrite_engine.check.claim import sides, tried
from rewrite_engine.check.example import own_steps
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.remedy import wrong
from rewrite_engine.check.target import usable
from rewrite_engine.errors import RewriteEngineError, RuleLoopError, RuleRaisedError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import KNOWN, PHASES, optimizer
from rewrite_engine.rewrite.trace import Trace, brief

MOST = 400  # terms that are looked at until some are found
MOST_OF_NONE = 1500  # until one is found
ENOUGH = 3  # terms that are tried in the pipeline


class Pursuit(NamedTuple):
    """Way of a term through the pipeline. seen: it before the rule's phase; left: after it."""

    fired: tuple[str, ...]
    seen: str
    left: str


def own_terms(rule: DataRule) -> tuple[list[Variable], Any, str | RuleRaisedError]:
    """Return terms at which a rule fires alone; and the first other term, with the reason or the
    error of the rule.
    """
    found: list[Variable] = []
    missed: Any = None
    why = ""
    asked = rule.on_trust if rule.proves and rule.needs_grant else rule
    types = set()
    for number, (_, term) in enumerate(chain(tried(asked, brief=True), tried(asked))):
        if number >= MOST and (found or number >= MOST_OF_NONE):
            break
        try:
            new = sides(asked, term)
        except RuleRaisedError as error:
            return [], term, error
        except RewriteEngineError as error:
            new, missed, why = None, term, str(error)
        if new is not None:
            if term.type not in types:
                found.append(term)
                types.add(term.type)
        elif not why:
            missed, why = term, reason(asked, term)
        if len(found) >= ENOUGH:
            break
    return found, missed, why


def reason(rule: Rule, term: Any) -> str:
    """Return why a rule does not apply at a term."""
    made = rule.transform(None, term.owner)
    if isinstance(made, Variable):
        return f"what it makes has the type {made.type}, and the left side {term.type}"
    return str(diagnose(rule, term.owner, None, lambda v: brief(v)).reason)


def pursue(rule: Rule, term: Any, added: RuleSet) -> Pursuit:
    """Take a term through the pipeline as far as a rule's phase. Raises what rules raise."""
    granted = [name for name in (rule.phase, rule.needs_grant) if name in KNOWN]
    driver = optimizer(Query().including(*granted), usable(added, granted))
    graph, trace = FunctionGraph(None, [term]), Trace()
    graph.attach_feature(trace)
    seen = left = ""
    phases = [p.name for p in PHASES if p.name in {part.name for part in driver.parts}]
    for part, name in zip(driver.parts, phases, strict=False):
        seen = brief(graph.outputs[0], 9) if name == rule.phase else seen
        part.rewrite(graph)
        if name == rule.phase:
            left = brief(graph.outputs[0], 9)
            break
    return Pursuit(tuple([r.rule_name for r in trace]), seen, left)


def check_firing(rule: Rule, added: RuleSet) -> Iterator[Finding]:
    """Yield why a rule never fires, or the loop that it causes."""
    if not isinstance(rule, DataRule) or isinstance(rule, Equation) or rule.phase == "loops":
        return
    terms, missed, why = own_terms(rule)
    if isinstance(why, RuleRaisedError):
        said = "it raises an error"
        yield wrong("lint", "raises", rule.name, rule.where, said, str(why))
        return
    if not terms:
        if missed is not None and not own_steps(rule, added):
            yield _never(rule, missed, why)
        return
    if rule.phase is None or rule.phase == "saturate":
        return
    pursued: list[tuple[Any, Pursuit]] = []
    for term in terms:
        try:
            done = pursue(rule, term, added)
        except RuleLoopError as error:
            yield loop(rule, term, error)
            return
        except RewriteEngineError as error:
            why = f"rewriting raises {type(error).__name__}"
            yield wrong("lint", "raises", rule.name, rule.where, why, str(error))
            return
        if rule.name in done.fired:
            return
        pursued.append((term, done))
    if not own_steps(rule, added):
        yield _shadowed(rule, *pursued[0])


def _never(rule: Rule, term: Any, why: str) -> Finding:
    name = "guard" if getattr(rule, "guards", ()) else "type"
    if "has the type" in why:
        name = "type"
    how = "it applies to no sample of its left side"
    kind = Kind.DEAD if name == "type" or _own_guards(rule) else Kind.UNPROVED
    return Finding(kind, "lint", name, rule.name, rule.where, f"{how}: {why}", brief(term, 9))


def _own_guards(rule: Any) -> bool:
    """Whether all guards are functions of an author, of constants and types, not facts."""
    return bool(rule.guards) and all(g.fact is None for g in rule.guards)


def _shadowed(rule: Rule, term: Any, done: Pursuit) -> Finding:
    was = brief(term, 9)
    by = list(dict.fromkeys([name for name in done.fired if name != "merge"]))
    example = f"{was} becomes {done.left} by {', '.join(by) or 'the engine'}"
    if done.seen == was or not done.seen:
        why = "another rule rewrites its left side first"
        name, fix = "shadowed", "leave one of the two out, or say which comes first"
    else:
        why = f"its phase {rule.phase!r} never sees its left side"
        name, fix = "normal form", f"write the pattern for {done.seen}"
    return Finding(Kind.DEAD, "lint", name, rule.name, rule.where, why, example, fix)


def loop(rule: Rule, term: Any, error: RuleLoopError) -> Finding:
    """Return the finding for rules that loop."""
    rules = ", ".join(sorted(error.rules)) or rule.name
    lines = [brief(term, 9), *[f"{name}: {a} → {b}" for name, a, b in error.turn]]
    if not error.turn:
        lines.append(str(error).partition("\n")[0])
    why = f"rules do not come to an end: {rules}"
    return Finding(
        Kind.LOOPS, "termination", "loop", rule.name, rule.where, why, "\n".join(lines[:9])
    )
