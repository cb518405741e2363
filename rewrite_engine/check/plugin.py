"""Plugin for pytest: `pytest --rewrite-rules=PACK` collects a test for each rule, fact and op of a
pack, a rule file or a distribution, and for each kind of check; it also has fixtures.

Every run of pytest loads it, so it imports the library only when it is needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rewrite_engine.check.target import Target

TOGETHER = ("lint", "termination", "overlaps")  # of all rules at once, told by each


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin to pytest."""
    group = parser.getgroup("rewrite_engine")
    group.addoption(
        "--rewrite-rules",
        action="append",
        default=[],
        metavar="PACK",
        help="check the rules, facts and ops of a pack, a rule file, or a distribution",
    )
    group.addoption(
        "--rewrite-checks",
        action="append",
        default=[],
        metavar="NAME",
        help="only these checks (lint, termination, facts, ops, overlaps, claims)",
    )
    group.addoption(
        "--rewrite-strict", action="store_true", help="fail for what could not be tried, too"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the collection of rules, if the option requires it."""
    if session.config.getoption("--rewrite-rules"):
        session.config.pluginmanager.register(RuleCollection(session.config), "rewrite-rules")


class RuleCollection:
    """Collector that adds the tests of packs to those of the session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.done = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """Add the tests of packs to the first report of the session."""
        outcome = yield
        if not isinstance(collector, pytest.Session) or self.done:
            return
        self.done = True
        report = outcome.get_result()  # type: ignore[attr-defined]
        if report.outcome == "passed":
            names = self.config.getoption("--rewrite-rules")
            packs = [PackTests.from_parent(collector, name=n, nodeid=f"rules::{n}") for n in names]
            report.result.extend(packs)


class PackTests(pytest.Collector):
    """Collector for the tests of one pack."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.known: dict[str, list[Any]] = {}

    def collect(self) -> Iterator[pytest.Item]:
        """Return one test for each rule, fact or op and kind of check."""
        from rewrite_engine.check.run import CHECKS
        from rewrite_engine.check.target import target_of

        wanted = self.config.getoption("--rewrite-checks") or list(CHECKS)
        target = target_of(self.name)
        for check in wanted:
            for name, part in self._parts(check, target):
                yield CheckTest.from_parent(
                    self, name=f"{name}[{check}]", check=check, subject=name, part=part
                )

    def _parts(self, check: str, target: Target) -> Iterator[tuple[str, Target]]:
        """Yield each separately checked part, with its name."""
        from rewrite_engine.check.target import Target

        if check in TOGETHER:
            yield from [(rule.name, target) for rule in target.rules]
            if check == "lint":
                yield target.name, target
        elif check == "claims":
            for rule in target.rules:
                part = Target(rule.name, (rule,))
                vars(part)["added"] = target.added  # the others are there, too
                yield rule.name, part
        elif check == "facts":
            for fact in target.facts:
                yield fact.name, Target(fact.name, facts=(fact,), spaces=target.spaces)
        else:
            for op in target.ops:
                name = str(getattr(op, "__name__", op))
                yield name, Target(name, ops=(op,))

    def findings(self, check: str, target: Target) -> list[Any]:
        """Return the findings of a check of all rules together, computed once."""
        from rewrite_engine.check.run import CHECKS

        if check not in self.known:
            self.known[check] = list(CHECKS[check](target))
        return self.known[check]


class CheckTest(pytest.Item):
    """One check of one rule, fact or op; or of all rules together."""

    def __init__(self, *, check: str, subject: str, part: Target, **options: Any) -> None:
        super().__init__(**options)
        self.check, self.subject, self.part = check, subject, part

    def runtest(self) -> None:
        """Fail for findings that are WRONG, LOOPS or DEAD, or if a package that the check needs is
        missing, and warn of other findings.
        """
        from rewrite_engine.check.finding import FAILING, Kind
        from rewrite_engine.check.run import left_out
        from rewrite_engine.rewrite.step import RuleWarning

        try:
            found = self._found()
        except ModuleNotFoundError as error:
            raise FoundWrong(str(left_out(self.check, error))) from None
        strict = self.config.getoption("--rewrite-strict")
        wrong = [f for f in found if f.kind in FAILING or (strict and f.kind is Kind.UNPROVED)]
        for one in found:
            if one not in wrong and one.kind not in (Kind.UNPROVED, Kind.EXPLAINED):
                warnings.warn_explicit(str(one), RuleWarning, *(one.where or (self.name, 0)))
        if wrong:
            raise FoundWrong("\n".join(map(str, wrong)))

    def _found(self) -> list[Any]:
        from rewrite_engine.check.run import CHECKS

        if self.check not in TOGETHER:
            return list(CHECKS[self.check](self.part))
        assert isinstance(self.parent, PackTests)
        found = self.parent.findings(self.check, self.part)
        rules = {rule.name for rule in self.part.rules}
        own = {self.subject} if self.subject in rules else {f.subject for f in found} - rules
        return [f for f in found if f.subject in own]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the findings alone, without the traceback."""
        if isinstance(excinfo.value, FoundWrong):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path | str, int | None, str]:
        """Return the place of the rule in its file."""
        known = {rule.name: rule.where for rule in self.part.rules}
        first = next(iter(known.values()), (self.name, 1))
        file, line = known.get(self.subject, first)
        return file, line - 1, self.name


class FoundWrong(Exception):
    """Error for a check that found something wrong."""


@pytest.fixture
def assert_rewrites() -> Any:
    """Return `rewrite_engine.check.assert_rewrites`, as a fixture."""
    from rewrite_engine.check import assertion

    return assertion.assert_rewrites


@pytest.fixture
def assert_same_values() -> Any:
    """Return `rewrite_engine.check.assert_same_values`, as a fixture."""
    from rewrite_engine.check import assertion

    return assertion.assert_same_values


@pytest.fixture
def rule_strategies() -> Any:
    """Return `rewrite_engine.check.rule_strategies`, as a fixture."""
    from rewrite_engine.check import assertion

    return assertion.rule_strategies
