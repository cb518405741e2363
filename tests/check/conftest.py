"""What planted files say of the library's facts is forgotten after each test."""

from collections.abc import Iterator

import pytest

from rewrite_engine import facts
from rewrite_engine.match.fact import Fact


@pytest.fixture(autouse=True)
def _cases() -> Iterator[None]:
    shipped = [f for f in vars(facts).values() if isinstance(f, Fact)]
    before = [{op: list(found) for op, found in f.cases.items()} for f in shipped]
    yield
    for fact, cases in zip(shipped, before, strict=True):
        fact.cases.clear()
        fact.cases.update(cases)
