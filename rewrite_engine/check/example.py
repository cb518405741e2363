"""The examples in docstrings of rules: whether they run, print what they say, and show the rule
firing; and the terms at which it fires in them.
"""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import rewrite_engine.tensor as pt
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.target import usable
from rewrite_engine.link.debug.record import RewriteRecorder, RewriteStep, recorded
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rules import language

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class ExampleRun(NamedTuple):
    """What came of an example. report: what was not as it says. steps: what rules did."""

    report: str
    steps: tuple[RewriteStep, ...]


def names_of(rule: Rule, added: RuleSet) -> dict[str, Any]:
    """What an example may use: tensors, the language, and what its module has. `rewritten` also
    uses rules that are added.
    """
    tensors = {name: getattr(pt, name) for name in dir(pt)}
    names = {**tensors, "pt": pt, **vars(language), **rule.fn.__globals__}
    if len(added) and names.get("rewritten") is language.rewritten:
        names["rewritten"] = _with(added)
    return names


def _with(added: RuleSet) -> Any:
    def rewritten(*variables: Any, including: Any = (), rules: Any = ()) -> Any:
        used = [*usable(added, including), *rules]
        return language.rewritten(*variables, including=including, rules=used)

    return rewritten


@contextmanager
def watched() -> Iterator[list[RewriteRecorder]]:
    """Collects what rules do in pipelines."""
    recorders: list[RewriteRecorder] = []
    plain = SequentialOptimizer.rewrite

    def rewrite(self: SequentialOptimizer, fgraph: Any, *given: Any) -> Any:
        recorder = RewriteRecorder()
        recorders.append(recorder)
        return recorded(lambda: plain(self, fgraph, *given), fgraph, recorder)

    SequentialOptimizer.rewrite = rewrite  # type: ignore
    try:
        yield recorders
    finally:
        SequentialOptimizer.rewrite = plain  # type: ignore[method-assign]


@lru_cache(maxsize=2000)
def run_example(rule: Rule, added: RuleSet) -> ExampleRun:
    """Run the example of a rule."""
    test = doctest.DocTestParser().get_doctest(
        rule.doc, names_of(rule, added), rule.name, *rule.where
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    with watched() as recorders:
        runner.run(test, out=report.append)
    records = [part.record for one in recorders for part in one.parts.values()]
    steps = [e for record in records for e in record.events if isinstance(e, RewriteStep)]
    return ExampleRun("".join(report) if runner.failures else "", tuple(steps))


def own_steps(rule: Rule, added: RuleSet) -> list[RewriteStep]:
    """What a rule does in its own example."""
    if ">>>" not in rule.doc:
        return []
    parts = {rule.name, *[p.name for p in getattr(rule, "parts", ())]}
    return [s for s in run_example(rule, added).steps if s.rule_name in parts]


def check_example(rule: Rule, added: RuleSet) -> Iterator[Finding]:
    """Yield what is wrong with the example of a rule."""
    if ">>>" not in rule.doc:
        why = "its docstring has no example"
        fix = "add one: >>> rewritten(log(1 + vector('x')))"
        yield Finding(Kind.LINT, "lint", "no example", rule.name, rule.where, why, fix=fix)
        return
    done = run_example(rule, added)
    if done.report:
        text = "\n".join(line for line in done.report.splitlines() if line.strip("* "))
        why = "its example is not what it says"
        yield Finding(Kind.WRONG, "lint", "example", rule.name, rule.where, why, text)
    elif rule.phase is not None and not _shows(rule, done):
        why = "it does not fire in its own example"
        others = list(dict.fromkeys([s.rule_name for s in done.steps if s.number]))
        text = f"what fires: {', '.join(others)}" if others else "nothing fires"
        yield Finding(Kind.LINT, "lint", "example", rule.name, rule.where, why, text)


def _shows(rule: Rule, done: ExampleRun) -> bool:
    """Whether a rule fires, or a part of it."""
    names = {rule.name, *rule.names, *[p.name for p in getattr(rule, "parts", ())]}
    return any(s.rule_name in names or s.rule_name.rpartition(".")[0] in names for s in done.steps)
