"""A finding of the fuzzer (`Deviation`), before it is shrunk and reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rewrite_engine.judge.verdict import Verdict


@dataclass(frozen=True)
class Deviation:
    """Deviation of a value, an error, or anything else. severity: in units of what noise alone
    does; 0 if it is right in case the rule that did it stabilises: a limit at infinity, or what
    exponentials of large numbers cancel to.
    """

    kind: str
    text: str
    severity: float = np.inf
    output: int = 0


def deviation_of(verdict: Verdict) -> Deviation | None:
    """Return the deviation that a verdict tells of; None if the claim is kept."""
    if verdict.broken is None:
        return None
    return Deviation(str(verdict.broken), verdict.why, verdict.severity, verdict.output)
