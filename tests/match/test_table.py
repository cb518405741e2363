"""Rules as rows of a table: the same rules as by `@rule`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DuplicateRuleError, PatternError, RuleError, UnboundVariableError
from rewrite_engine.facts import nonneg
from rewrite_engine.language import *
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.ruleset import RuleSet

ROWS = table(
    "inverses",
    (
        "tan_of_arctan", lambda x: pt.tan(pt.arctan(x)) >> x, refines, "One undoes the other.",
        """pt.tan(pt.arctan(pt.vector("x"))) -> x""",
    ),
    ("same_sign", lambda x, y: pt.abs(x) * y >> x * y, exact, "It has no sign."),
    (
        "sign_of", lambda x: (pt.sign(x) >> pt.ones_like(x), given(nonneg(x))), approx(2),
        "There is none.",
    ),
    phase="specialize", tags="mine", x=Inexact,
)  # fmt: skip


def test_a_row_is_the_rule_that_a_function_makes() -> None:
    @rule(phase="specialize", tags={"inverses", "mine"})
    def tan_of_arctan(x: Inexact) -> Any:
        """One undoes the other.

        >>> rewritten(pt.tan(pt.arctan(pt.vector("x"))))
        x
        """
        return pt.tan(pt.arctan(x)) >> x

    row = ROWS["tan_of_arctan"]
    assert type(row) is DataRule
    for what in ("name", "short_name", "pack", "module", "phase", "claim", "tags", "names", "text",
                 "doc", "depth", "keeps"):  # fmt: skip
        assert getattr(row, what) == getattr(tan_of_arctan, what), what
    term = pt.tan(pt.arctan(pt.vector("x")))
    assert row.transform(None, term.owner) is tan_of_arctan.transform(None, term.owner)
    assert row.transform(None, pt.tan(pt.arctan(pt.ivector("x"))).owner) is None


def test_a_row_has_its_own_line_claim_and_guards() -> None:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    for rule_ in ROWS:
        assert rule_.where[0] == __file__
        assert rule_.short_name in lines[rule_.where[1] - 1]
    assert [r.claim for r in ROWS] == [refines, exact, approx(2)]
    assert "given nonneg(x)" in repr(ROWS["sign_of"])


def test_the_rules_of_a_module_are_those_of_its_tables_too() -> None:
    names = [r.short_name for r in RuleSet.of(sys.modules[__name__])]
    assert names.count("same_sign") == names.count("sign_of") == 1


def test_used_and_switched_off_by_the_tag() -> None:
    x = pt.vector("x")
    term = pt.tan(pt.arctan(x))
    mode = rw.Mode("fast_run") + ROWS
    f = rw.function([x], term, mode=mode)
    assert not f.fgraph.apply_nodes
    np.testing.assert_array_equal(f([1.0]), [1.0])
    assert rw.function([x], term, mode=mode.excluding("inverses")).fgraph.apply_nodes


def test_rows_that_are_wrong() -> None:
    with pytest.raises(PatternError, match=r"table 't': a row must be \(name, lambda"):
        table("t", ("no_reason", lambda x: pt.exp(x) >> x, exact))
    with pytest.raises(PatternError, match="a row must be"):
        table("t", ("not a name", lambda x: pt.exp(x) >> x, exact, "Because."))
    with pytest.raises(PatternError, match="no row has a variable y"):
        table("t", ("row", lambda x: pt.exp(x) >> x, refines, "Because."), y=Inexact)
    with pytest.raises(UnboundVariableError, match=r"rule test_table/row \(.*test_table.py:"):
        table("t", ("row", lambda x, y: pt.exp(x) >> y, refines, "Because."))
    with pytest.raises(PatternError, match="no docstring"):
        table("t", ("row", lambda x: pt.exp(x) >> x, refines, ""))
    with pytest.raises(RuleError, match="claims"):
        table("t", ("row", lambda x: pt.exp(x) >> x, "exact", "Because."))
    with pytest.raises(DuplicateRuleError):
        table("t", *[("row", lambda x: pt.exp(x) >> x, refines, "Because.") for _ in range(2)])
