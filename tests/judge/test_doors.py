"""`check`, DebugMode and `explain` find a planted fault, and give the same verdict on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
from rewrite_engine.check.claim import Case, check_claims, chosen, compared
from rewrite_engine.check.node import cases, directions
from rewrite_engine.check.target import target_of
from rewrite_engine.compile.debug import DebugMode
from rewrite_engine.errors import BadOptimization
from rewrite_engine.explain.claims import CLAIM
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report
from rewrite_engine.judge.verdict import Broken
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from tests.check.planted import CLAIMS, HEADER, Planted

#: faults that no call shows: refused by the driver, only under a condition or a fact, or in place
#: of an error of the left side, which ends the call
APART = {"node rewriter of another type", "transposed", "shortened", "equation",
         "fastmath that is not even", "fact for the wrong sign",
         "singular matrix lost"}  # fmt: skip
FAULTS = [fault for fault in CLAIMS if fault.id not in APART]


def broken_case(fault: Planted, folder: Path) -> tuple[Any, Case]:
    """The rule, and the case that `check` finds."""
    path = folder / "pack.py"
    path.write_text(HEADER + fault.source)
    target = target_of(path)
    (rule,) = [one for one in target.rules if one.short_name == "wrong"]
    for one in directions(rule):
        with np.errstate(all="ignore"):
            outcome = compared(chosen(cases(one, target.added), 90)[0])
        if outcome.worst is not None:
            assert [f.kind for f in check_claims(one, cases(one, target.added))] == ["WRONG"]
            return one, outcome.worst
    raise AssertionError("check does not find it")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_the_doors_agree(fault: Planted, tmp_path: Path) -> None:
    rule, case = broken_case(fault, tmp_path)
    inputs, values = [*case.verdict.given], [*case.verdict.given.values()]
    mode = rw.Mode(optimizer=EquilibriumOptimizer([rule], name="canonicalize"), linker="py")
    debug = DebugMode(check_isfinite=False, optimizer=mode.optimizer)

    f = rw.function(inputs, case.sides.term, mode=debug, on_unused_input="ignore")
    with pytest.raises(BadOptimization) as caught:
        f(*values)
    told = caught.value.verdict
    if case.verdict.broken in (Broken.ERROR_NEW, Broken.ERROR_LOST):
        assert "raises" in str(caught.value)
    else:
        assert told.broken == case.verdict.broken

    with recording() as recorder:
        g = rw.function(inputs, case.sides.term, mode=mode, on_unused_input="ignore")
    try:
        g(*values)
    except Exception:  # (an error is new)
        assert case.verdict.broken == Broken.ERROR_NEW
    (untrue,) = Report(recorder.records).functions[0].check.claims.untrue
    assert untrue.kind == CLAIM
    assert untrue.rule in (rule.name, "pack/step")  # (a part of a strategy)
    if told is not None:
        assert told.why in untrue.text
