"""All checks in order, the cheapest first."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from time import perf_counter
from traceback import extract_tb
from typing import Any

from rewrite_engine.check.finding import CheckReport, Finding, Kind
from rewrite_engine.check.target import Target, target_of
from rewrite_engine.errors import UnknownNameError, did_you_mean, source_line
from rewrite_engine.match.pattern import Hole, OpNode
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.text import pattern_text
from rewrite_engine.pipeline.lint import APART, remarks, unreached
from rewrite_engine.pipeline.phases import TRIES, known_rules

Check = Callable[[Target], Iterator[Finding]]


def lint(target: Target) -> Iterator[Finding]:
    """Yield findings about rules as they are written, and about the phases that try them."""
    from rewrite_engine.check.example import check_example
    from rewrite_engine.check.firing import check_firing
    from rewrite_engine.check.suggestion import example_of

    dead, loops = set[str](), set[str]()
    more = unreached(target.rules) if target.whole else ()
    for one in [*remarks(target.rules, TRIES), *more]:
        kind = Kind.DEAD if one.dead else Kind.LINT
        yield Finding(kind, "lint", one.name, one.subject, one.where, one.why, fix=one.fix)
        dead |= {one.subject} if one.dead else set()
    twice = dict(duplicates(target))
    for rule in target.rules:
        if rule in twice:
            other = twice[rule]
            why = f"{other.name} has the same left side, and is tried first"
            example = f"{other.text}\n{rule.text}"
            yield Finding(Kind.DEAD, "lint", "duplicate", rule.name, rule.where, why, example)
        elif rule.name not in dead:
            found = list(caught("lint", rule, check_firing(rule, target.added)))
            yield from [f for f in found if f.kind is not Kind.LOOPS or f.why not in loops]
            loops |= (again := {f.why for f in found if f.kind is Kind.LOOPS})
            if again:
                continue  # so would the example
        yield from caught("lint", rule, check_example(rule, target.added, example_of))


def caught(check: str, rule: Rule, found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings about a rule; the last one tells of an error that the rule raises."""
    try:
        yield from found
    except ModuleNotFoundError:
        raise
    except Exception as error:
        why, text = "it raises an error", f"{type(error).__name__}: {error}"
        frames = [f for f in extract_tb(error.__traceback__) if f.filename == rule.where[0]]
        if frames:
            text = f"{source_line(frames[-1].filename, frames[-1].lineno or 0)}\n{text}"
        from rewrite_engine.check.remedy import wrong

        yield wrong(check, "raises", rule.name, rule.where, why, text)


def duplicates(target: Target) -> Iterator[tuple[Rule, Rule]]:
    """Yield rules whose left sides an earlier rule of the same phase has, under whatever names, and
    asks nothing more; with that rule.
    """
    first: dict[Any, Rule] = {}
    own = set(target.rules)
    for rule in dict.fromkeys([*known_rules(Query()), *target.rules]):
        if not isinstance(rule, DataRule) or rule.phase is None:
            continue
        key = rule.phase, shape_of(rule.left)
        known = first.get(key)
        if known is None and not rule.guards and not rule.needs_grant:
            first[key] = rule
        elif known is not None and rule in own:
            yield rule, known


def shape_of(pattern: Any) -> str:
    """A left side as text, with its variables numbered."""
    names: dict[str, str] = {}

    def of(p: Any) -> Any:
        if isinstance(p, Hole):
            number = names.setdefault(p.name, f"v{len(names)}")
            return Hole(f"{number}_{p.sort}", p.sort, p.several)
        return p.of(*[of(a) for a in p.args]) if isinstance(p, OpNode) else p

    return pattern_text(of(pattern))


def termination(target: Target) -> Iterator[Finding]:
    """Yield rules that may not terminate."""
    from rewrite_engine.check.termination import check_termination

    return check_termination(target.rules, target.added)


def overlaps(target: Target) -> Iterator[Finding]:
    """Yield pairs of rules whose order changes the result."""
    from rewrite_engine.check.overlap import check_overlaps

    return check_overlaps(target.rules, target.added)


def claims(target: Target) -> Iterator[Finding]:
    """Yield claims of rules that values break."""
    from rewrite_engine.check.claim import check_claims
    from rewrite_engine.check.node import cases, directions

    for rule in target.rules:
        if APART in rule.tags:
            why = "no values are tried: it needs terms that nothing here makes; test it on your own"
            yield Finding(Kind.UNPROVED, "claims", "apart", rule.name, rule.where, why)
            continue
        for one in directions(rule):
            yield from caught("claims", one, check_claims(one, cases(one, target.added)))


def facts(target: Target) -> Iterator[Finding]:
    """Yield answers of facts that values break."""
    from rewrite_engine.check.fact import check_fact

    for fact in target.facts:
        yield from check_fact(fact, target.spaces)


def ops(target: Target) -> Iterator[Finding]:
    """Yield declarations of ops that values break."""
    from rewrite_engine.check.declaration import check_op

    for op in target.ops:
        yield from check_op(op)


CHECKS: dict[str, Check] = {
    "lint": lint,
    "termination": termination,
    "facts": facts,
    "ops": ops,
    "overlaps": overlaps,
    "claims": claims,
}
FAST = ("lint", "termination")


def check(*what: Any, only: Iterable[str] | str = (), fast: bool = False) -> CheckReport:
    """Check rules, facts and ops, and return a report.

    what: rules, a `RuleSet`, facts, ops, a module, or the name of a pack, a file of rules (`*.py`),
    a distribution; nothing: all shipped packs. only: names of checks (`CHECKS`). fast: only what
    takes a second. Raises `UnknownNameError` for names that nothing has, and what loading raises.
    """
    names = [only] if isinstance(only, str) else list(only)
    for name in names:
        if name not in CHECKS:
            raise UnknownNameError(f"no check is called {name!r}{did_you_mean(name, CHECKS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = target_of(what[0] if len(what) == 1 else what or None)
        return _checked(target, names or (FAST if fast else CHECKS))


def left_out(check: str, error: ModuleNotFoundError) -> Finding:
    """Return the finding about a check that needs a package of the extra `check`. Raises the error
    if another module is missing.
    """
    if error.name != "mpmath":
        raise error
    why = f"the check needs {error.name}, which is not installed: nothing was checked"
    fix = 'pip install "rewrite-engine[check]"'
    return Finding(Kind.UNPROVED, check, "left out", f"the check {check}", None, why, fix=fix)


def _checked(target: Target, names: Collection[str]) -> CheckReport:
    report = CheckReport(subjects=target.subjects)
    for name in CHECKS:
        if name not in names:
            continue
        start = perf_counter()
        try:
            report.add(CHECKS[name](target))
        except ModuleNotFoundError as error:
            report.add([one := left_out(name, error)])
            report.left_out[name] = one.why
        report.seconds[name] = perf_counter() - start
    return report
