"""Laws of small algebras are found, and no more than are needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.discover import Corpus, Discovery, Space, discover
from rewrite_engine.discover.proof import detours
from rewrite_engine.discover.source import term_source
from rewrite_engine.language import equal
from tests.discover.algebras import (
    BOOLEANS,
    GROUP,
    LATTICE,
    STRINGS,
    backwards,
    both,
    inverse,
    join,
    joined,
    meet,
    opposite,
    times,
)

#: what has to be found, as it is printed
LAWS: dict[str, tuple[Space, set[str]]] = {
    "group": (
        GROUP,
        {
            "times(x, 0) >> x",
            "times(0, x) >> x",
            "times(times(x, y), z) >> times(x, times(y, z))",
            "times(x, inverse(x)) >> 0",
        },
    ),
    "booleans": (
        BOOLEANS,
        {
            "either(y, x) >> either(x, y)",
            "both(x, True) >> x",
            "either(x, x) >> x",
            "both(y, both(x, z)) >> both(x, both(y, z))",
            "either(y, either(x, z)) >> either(x, either(y, z))",
            "both(x, opposite(x)) >> False",
            "either(x, opposite(x)) >> True",
            "either(both(x, y), both(x, z)) >> both(x, either(y, z))",
        },
    ),
    "lattice": (
        LATTICE,
        {
            "meet(y, x) >> meet(x, y)",
            "join(y, x) >> join(x, y)",
            "meet(x, join(x, y)) >> x",
            "join(meet(x, y), meet(x, z)) >> meet(x, join(y, z))",
        },
    ),
    "strings": (
        STRINGS,
        {
            "joined(joined(x, y), z) >> joined(x, joined(y, z))",
            "length(joined(x, y)) >> length(x) + length(y)",
            "backwards(backwards(x)) >> x",
            "length(backwards(x)) >> length(x)",
            "joined(backwards(y), backwards(x)) >> backwards(joined(x, y))",
        },
    ),
}


def laws(found: Discovery) -> set[str]:
    """Return what was found, as source."""
    return {
        " >> ".join([term_source(side.variable) for side in one.proposal[:2]])
        .replace("Joined()", "joined")
        .replace("Backwards()", "backwards")
        .replace("Length()", "length")
        for one in found.found
    }


@cache
def discovery(name: str) -> Discovery:
    return discover(LAWS[name][0], seconds=120.0, claims=False, equations=True)


@pytest.mark.parametrize("name", LAWS)
def test_the_laws_are_found_and_no_more(name: str) -> None:
    assert laws(discovery(name)) == LAWS[name][1]


def test_one_algebra_after_another_is_kept_and_read(tmp_path: Path) -> None:
    """Equations of one space do not disturb the next, and a pack imports an author's ops."""
    spaces = [LAWS[name][0] for name in ("strings", "lattice")]
    corpus = Corpus([[backwards(backwards(pt.lvector("x")))]])

    def search() -> Discovery:
        return discover(
            *spaces, seconds=120.0, claims=False, equations=True, keep=tmp_path, corpus=corpus
        )

    found, again = search(), search()
    wanted = {one.left for one in discovery("lattice").records}
    assert {one.left for one in found.spaces[1].rules} == wanted
    assert (found.records[0].name, found.records[0].met) == ("backwards_of_backwards", 1)
    assert "import Backwards" in found.source()
    assert str(again.spaces[0]) == str(found.spaces[0])
    assert [r.short_name for r in again.rules[:5]] == [r.short_name for r in found.rules[:5]]


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("group", lambda x, y: (inverse(inverse(x)), x)),
        ("group", lambda x, y: (inverse(times(x, y)), times(inverse(y), inverse(x)))),
        ("group", lambda x, y: (times(inverse(x), times(x, y)), y)),
        ("lattice", lambda x, y: (meet(x, x), x)),
        ("lattice", lambda x, y: (join(x, meet(x, y)), x)),
        ("booleans", lambda x, y: (opposite(opposite(x)), x)),
        ("booleans", lambda x, y: (both(y, x), both(x, y))),
        ("strings", lambda x, y: (backwards(joined(x, backwards(y))), joined(y, backwards(x)))),
    ],
)
def test_other_laws_follow(name: str, build: Any) -> None:
    """Laws of textbooks that are not listed are proved by those that are, step by step."""
    space = LAWS[name][0]
    kinds = [v.type if name == "strings" else v.type.clone(shape=()) for v in space.variables]
    x, y = [kind(n) for kind, n in zip(kinds, "xy", strict=False)]
    left, right = build(x, y)
    rules = [one.law for one in discovery(name).found]
    answer = equal(left, right, rules, also=[*detours([left, right], rules)], node_budget=20_000)
    assert answer
    assert answer.steps[0].before is left
    assert not equal(left, x if right is not x else y, rules, node_budget=200)
