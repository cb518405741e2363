"""What rules write does not depend on where things lie in memory: the same graph becomes the same
one, each time.
"""

from __future__ import annotations

from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.pipeline.phases import rewrite_graph
from rewrite_engine.terms.print import brief


def terms() -> list[Any]:
    """Logarithms of functions of sums, which are read and written again as linear forms."""
    a, b, c = (pt.dvector(name) for name in "abc")
    return [
        pt.log(pt.erfc(pt.sin(a) + pt.fvector("f"))),
        pt.log(pt.sigmoid(-3.0 - ((b - c) + 2 * a))),
        pt.log(pt.sigmoid(-1.0 - (pt.exp(a) + b + c))),
    ]


@pytest.mark.parametrize("i", range(3))
def test_terms_are_written_in_one_order(i: int) -> None:
    kept, found = [], set()
    for k in range(40):
        kept.append([terms(), [object() for _ in range(k)]])  # so that addresses differ
        new = rewrite_graph(kept[-1][0][i], include=("fast_run",), exclude=("inplace",))
        found.add(brief(new, 30))
    assert len(found) == 1
