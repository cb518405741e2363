"""The example in a rule's docstring runs, and the rule fires in it."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rewrite_engine.check.example import OPTIONS, names_of
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import ON_DEMAND, PACKS, all_rules, on_demand
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.trace import Trace

RULES = list(all_rules() + on_demand())
PHASES_OF_PACKS = ("inner", "canonicalize", "loops", "stabilize", "specialize", "factorize")


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Collects the names of the rules that fire in pipelines."""
    fired: set[str] = set()
    plain = SequentialOptimizer.rewrite

    def rewrite(self: SequentialOptimizer, fgraph: Any, *given: Any) -> Any:
        if any(isinstance(feature, Trace) for feature in fgraph.features):
            return plain(self, fgraph, *given)
        trace = Trace()
        result = plain(self, fgraph, trace)
        fired.update(r.rule_name for r in trace)
        fgraph.check_integrity()
        return result

    with monkeypatch.context() as patch:
        patch.setattr(SequentialOptimizer, "rewrite", rewrite)
        yield fired


@pytest.mark.parametrize("rule", [r for r in RULES if ">>>" in r.doc], ids=lambda r: r.name)
def test_the_example_is_right_and_the_rule_fires(
    rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = names_of(rule, RuleSet())
    test = doctest.DocTestParser().get_doctest(rule.doc, names, rule.name, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    with watched(monkeypatch) as fired:
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
    assert rule.name in fired


def test_every_rule_has_an_example() -> None:
    assert [r.name for r in RULES if ">>>" not in r.doc] == []


def test_every_rule_names_a_phase_and_its_place() -> None:
    for rule in RULES:
        assert rule.phase in PHASES_OF_PACKS
        assert rule.where[0].endswith(f"{rule.pack}.py")
        assert rule.pack in {name.rpartition(".")[2] for name in (*PACKS, *ON_DEMAND)}


def test_what_is_no_data_says_why() -> None:
    for rule in RULES:
        if rule.text.startswith("node rewriter"):
            assert "Not data:" in rule.doc, rule.name
