"""Names that a program assigns what a call returns to."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.graph.assigned import assigned_name
from rewrite_engine.graph.origin import user_origin

here = user_origin


class Holder:
    weights: Any


def test_the_name_that_a_call_is_assigned_to() -> None:
    one = here()
    assert assigned_name(one) == "one"
    two: Any = here()
    assert assigned_name(two) == "two"
    three, four = here(), here()
    assert [assigned_name(three), assigned_name(four)] == ["three", "four"]
    [five, six] = [here(), here()]
    assert [assigned_name(five), assigned_name(six)] == ["five", "six"]
    Holder.weights = here()
    assert assigned_name(Holder.weights) == "weights"
    größe = here(
        # several lines
    )
    assert assigned_name(größe) == "größe"


def test_a_call_on_a_line_after_other_text() -> None:
    if True:
        seven = here()
    assert assigned_name(seven) == "seven"
    eight = 1
    nine = here()
    assert assigned_name(nine) == "nine"
    assert eight == 1


def test_what_is_not_assigned_at_once_has_no_name() -> None:
    both = [here() for _ in range(2)]
    inside = (here(), 1)[0]
    known = {"a": here()}
    assert [assigned_name(one) for one in (*both, inside, known["a"])] == [None] * 4
    assert assigned_name(here()) is None
    *some, last = here(), here(), here()
    assert [assigned_name(one) for one in (*some, last)] == [None] * 3


@pytest.mark.parametrize("origin", [None, ("file.py", 3), (("a", 1), None, None)])
def test_an_origin_without_source(origin: Any) -> None:
    assert assigned_name(origin) is None


def test_code_that_is_in_no_file() -> None:
    names: dict[str, Any] = {"here": here}
    exec("unknown = here()", names)
    assert assigned_name(names["unknown"]) is None
