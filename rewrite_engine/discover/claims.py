"""The strongest claim that a found rule keeps, by the checks of `rewrite_engine.check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from rewrite_engine.check.finding import Kind
from rewrite_engine.check.run import check
from rewrite_engine.discover.choose import FoundRule, found_rule
from rewrite_engine.match.claim import Claim, approx, assumes, backward, refines

FASTMATH = assumes("fastmath", then=approx(1024))
#: claims that are tried in turn, for elementwise rules and for others
OF_NUMBERS: Sequence[Claim] = (refines, approx(8), approx(1024), FASTMATH)
OF_ARRAYS: Sequence[Claim] = (refines, approx(8), backward(16), FASTMATH)


def with_claim(one: FoundRule, claims: Sequence[Claim]) -> tuple[FoundRule | None, str]:
    """Return a rule with the first claim that no value disagrees with, if need be for operands of
    one dtype; None and the reason, if there is none.
    """
    why = ""
    several = len(one.proposal.left.leaves) > 1
    for claim, one_dtype in product(claims, (False, True) if several else (False,)):
        rule = one.rule
        if claim is not rule.claim or one_dtype:
            name, phase = rule.short_name, rule.phase or None
            rule = found_rule(one.proposal, one.guards, phase, claim, name, one_dtype)
        wrong = [f for f in check(rule, only="claims").findings if f.kind is Kind.WRONG]
        if not wrong:
            return replace(one, rule=rule, one_dtype=one_dtype), ""
        why = " ".join(f"{wrong[0].why} {wrong[0].example}".split())
    return None, f"wrong by every claim: {why}"
