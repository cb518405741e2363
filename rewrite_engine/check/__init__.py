"""Checks of rules, facts and ops: `rw.check(rules)`, `python -m rewrite_engine.check`.

The checks are in `run.py`, in order, and their findings in `finding.py`. `assertion.py` is for
tests of your own, `plugin.py` for pytest. Guide: `docs/checking_rules.md`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rewrite_engine.lazy import lookup

if TYPE_CHECKING:  # the same names as in `_HOMES`
    from rewrite_engine.check.assertion import assert_keeps_claim as assert_keeps_claim
    from rewrite_engine.check.assertion import assert_rewrites as assert_rewrites
    from rewrite_engine.check.assertion import assert_same_values as assert_same_values
    from rewrite_engine.check.assertion import rule_strategies as rule_strategies
    from rewrite_engine.check.finding import CheckReport as CheckReport
    from rewrite_engine.check.finding import Finding as Finding
    from rewrite_engine.check.finding import Kind as Kind
    from rewrite_engine.check.run import CHECKS as CHECKS
    from rewrite_engine.check.run import check as check

_HOMES = {
    "CHECKS": "run",
    "check": "run",
    "CheckReport": "finding",
    "Finding": "finding",
    "Kind": "finding",
    "assert_keeps_claim": "assertion",
    "assert_rewrites": "assertion",
    "assert_same_values": "assertion",
    "rule_strategies": "assertion",
}

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__ = lookup(__name__, _HOMES)


class CheckModule(ModuleType):
    """This package, which is also what `rw.check(...)` calls."""

    def __call__(self, *what: Any, **options: Any) -> CheckReport:
        """As `check.check`."""
        return self.check(*what, **options)  # type: ignore[no-any-return]


sys.modules[__name__].__class__ = CheckModule


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)
