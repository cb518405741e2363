"""Rules, facts and ops held to what they say: `rw.check(rules)`, `python -m rewrite_engine.check`.

What is checked is in `run.py`, in order; what is told in `finding.py`; for tests of your own there
is `assertion.py`, and `plugin.py` for pytest. Guide: `docs/checking_rules.md`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from rewrite_engine.lazy import lookup

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

__getattr__ = lookup(__name__, _HOMES)


class CheckModule(ModuleType):
    """This package, which is also what `rw.check(...)` calls."""

    def __call__(self, *what: Any, **options: Any) -> Any:
        """As `check.check`."""
        return self.check(*what, **options)


sys.modules[__name__].__class__ = CheckModule
