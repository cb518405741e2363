"""No rule that is printed is wrong, at 10,000 points that the search has not seen."""

from __future__ import annotations

import pytest

from rewrite_engine.discover import discover
from tests.discover.exactness import compared

COUNT = 10_000


@pytest.mark.parametrize("subject", ["gamma", "errors", "trigonometry"])
def test_rules_that_are_found_are_right(subject: str) -> None:
    found = discover(subject, size=2, claims=False).found
    results = {one.rule.text: compared(one, COUNT) for one in found}
    assert results
    assert {text: wrong for text, (_, wrong) in results.items() if wrong} == {}
    assert all([known > COUNT / 50 for known, _ in results.values()]), results
