"""Checks of the examples in docstrings of rules: that they run, print what they show, and show the
rule firing. Also the terms at which the rule fires in them.
"""

from __future__ import annotations

import doctest
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import rewrite_engine.tensor as pt
from rewrite_engine import language
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.remedy import wrong
from rewrite_engine.check.target import usable
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.link.debug.record import RewriteRecorder, RewriteStep, Terms, recorded
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.trace import brief

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class ExampleRun(NamedTuple):
    """Outcome of an example. report: the differences from its text. steps: the firings of rules.
    terms: all terms that were rewritten, as they were written.
    """

    report: str
    steps: tuple[RewriteStep, ...]
    terms: tuple[Variable, ...] = ()


class WatchedRewriting(NamedTuple):
    """A rewriting that was recorded. outputs: those of the graph before it."""

    recorder: RewriteRecorder
    outputs: tuple[Variable, ...]

    @property
    def steps(self) -> Iterator[RewriteStep]:
        """Yield the firings of rules."""
        for part in self.recorder.parts.values():
            yield from [e for e in part.record.events if isinstance(e, RewriteStep)]


def names_of(rule: Rule, added: RuleSet) -> dict[str, Any]:
    """Return the names that an example may use: `rw`, `pt` and what is in it, the rule language,
    and what its module has. `rewritten` also uses rules that are added.
    """
    tensors = {name: getattr(pt, name) for name in dir(pt)}
    known = {"pt": pt, "rw": sys.modules["rewrite_engine"]}
    names = {**tensors, **known, **vars(language), **rule.fn.__globals__}
    if len(added) and names.get("rewritten") is language.rewritten:
        names["rewritten"] = with_rules(added)
    return names


def with_rules(added: RuleSet) -> Any:
    """Return `rewritten` for examples, which also uses rules that are added."""

    def rewritten(*variables: Any, including: Any = (), rules: Any = ()) -> Any:
        used = [*usable(added, including), *rules]
        return language.rewritten(*variables, including=including, rules=used)

    return rewritten


@contextmanager
def watched() -> Iterator[list[WatchedRewriting]]:
    """Collect the rewritings of pipelines."""
    found: list[WatchedRewriting] = []
    plain = SequentialOptimizer.rewrite

    def rewrite(self: SequentialOptimizer, fgraph: Any, *given: Any) -> Any:
        recorder = RewriteRecorder()
        copies = Terms(fgraph)  # (nodes of the graph itself change)
        found.append(WatchedRewriting(recorder, tuple(map(copies.of, fgraph.outputs))))
        return recorded(lambda: plain(self, fgraph, *given), fgraph, recorder)

    SequentialOptimizer.rewrite = rewrite  # type: ignore
    try:
        yield found
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
    with watched() as found:
        runner.run(test, out=report.append)
    steps = [step for one in found for step in one.steps]
    nodes = toposort(list(dict.fromkeys([v for one in found for v in one.outputs])))
    terms = [v for node in nodes for v in node.outputs]
    return ExampleRun("".join(report) if runner.failures else "", tuple(steps), tuple(terms))


def own_steps(rule: Rule, added: RuleSet) -> list[RewriteStep]:
    """Return the firings of a rule in its own example."""
    if ">>>" not in rule.doc:
        return []
    parts = {rule.name, *[p.name for p in getattr(rule, "parts", ())]}
    return [s for s in run_example(rule, added).steps if s.rule_name in parts]


def written_terms(rule: Rule, added: RuleSet) -> list[Variable]:
    """Return the terms of a rule's own example at which the rule is tried, as they are written."""
    if ">>>" not in rule.doc:
        return []
    return [v for v in run_example(rule, added).terms if v.owner and rule.considers(v.owner.op)]


def unfired(rule: Rule, added: RuleSet) -> str:
    """Return why a rule does not fire in its own example."""
    found = []
    for term in written_terms(rule, added):
        assert term.owner is not None
        said = diagnose(rule, term.owner, None, lambda v: brief(v))
        if said.applies:
            return f"at {brief(term, 9)} it would fire, and another rule rewrites that first"
        found.append((said.progress, f"at {brief(term, 9)}: {said.reason}"))
    roots = ", ".join([str(getattr(root, "__name__", root)) for root in rule.roots() or ()])
    return max(found)[1] if found else f"it looks at {roots or 'ops'}, and there is none"


def check_example(rule: Rule, added: RuleSet, missing: Callable[..., str]) -> Iterator[Finding]:
    """Yield what is wrong with the example of a rule. missing: makes one for a rule without."""
    if ">>>" not in rule.doc:
        why = "its docstring has no example"
        fix = f"add one: {missing(rule, added)}"
        yield Finding(Kind.LINT, "lint", "no example", rule.name, rule.where, why, fix=fix)
        return
    done = run_example(rule, added)
    if done.report:
        text = "\n".join(line for line in done.report.splitlines() if line.strip("* "))
        why = "its example prints something else"
        yield wrong("lint", "example", rule.name, rule.where, why, text)
    elif rule.phase is not None and not _shows(rule, done):
        why = f"it does not fire in its own example: {unfired(rule, added)}"
        others = list(dict.fromkeys([s.rule_name for s in done.steps if s.number]))
        text = f"what fires: {', '.join(others)}" if others else "nothing fires"
        yield Finding(Kind.LINT, "lint", "example", rule.name, rule.where, why, text)


def _shows(rule: Rule, done: ExampleRun) -> bool:
    """Whether a rule fires, or a part of it."""
    names = {rule.name, *rule.names, *[p.name for p in getattr(rule, "parts", ())]}
    return any(s.rule_name in names or s.rule_name.rpartition(".")[0] in names for s in done.steps)
