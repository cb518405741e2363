"""Cases of the tests of the fuzzer."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from fuzz import graphs
from fuzz.case import Case
from fuzz.deviation import Deviation, deviation_of
from rewrite_engine.judge.whole import WholeGraph
from rewrite_engine.judge.whole_excuses import judge_whole


def case(make: Any, *arrays: Any) -> Case:
    inputs = [
        pt.tensor(f"x{i}", dtype=a.dtype, shape=(None,) * a.ndim) for i, a in enumerate(arrays)
    ]
    return Case.of([make(*inputs)], dict(zip(inputs, arrays, strict=True)))


class Judge:
    """What is known of a case."""

    def __init__(self, one: Case, regrouped: bool) -> None:
        self.graph = WholeGraph(one.results, one.given, graphs.wanted_of(one), regrouped)

    def compare(self, found: Any) -> Deviation | None:
        return deviation_of(judge_whole(self.graph, found))


def judge_of(one: Case, regrouped: bool = False) -> Judge:
    return Judge(one, regrouped)
