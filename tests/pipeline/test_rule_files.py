"""What a rule file stands for: its rules, its strategies, or what it calls `RULES`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PackError, PatternError

x = pt.vector("x")
STEPS = """
from rewrite_engine.language import *
from rewrite_engine.rewrite.strategies import *
import rewrite_engine.tensor as pt

@rule(PHASE)
def turned(x: Inexact):
    "Only a step."
    return pt.sinh(x) - pt.cosh(x) >> -(pt.cosh(x) - pt.sinh(x))

@rule(PHASE)
def difference(x: Inexact):
    "What is left of the two."
    return -(pt.cosh(x) - pt.sinh(x)) >> -pt.exp(-x)
"""
ALONE = STEPS.replace("PHASE", 'phase="canonicalize"')
INSIDE = STEPS.replace("PHASE", "")
IN_TURN = pt.sinh(x) - pt.cosh(x)


def written(folder: Path, source: str, name: str = "my_rules.py") -> Path:
    path = folder / name
    path.write_text(source)
    return path


def names_in(tmp_path: Path, source: str) -> list[str]:
    return [rule.name for rule in rw.load_rules(written(tmp_path, source))]


def test_a_strategy_is_a_rule_of_its_file(tmp_path: Path) -> None:
    both = "\nturn = again = seq(turned, difference)\n"
    turned, difference = "my_rules/turned", "my_rules/difference"
    assert names_in(tmp_path, ALONE + both) == [turned, difference, "my_rules/turn"]
    kept = both.replace("difference)", 'difference, phase="canonicalize")')
    (whole,) = rules = rw.load_rules(written(tmp_path, INSIDE + kept))
    assert repr(whole) == f"my_rules/turn: seq({turned}, {difference})"
    assert rules["turn"] is rules["my_rules/turn"] is whole
    assert {"turn", "my_rules", "canonicalize", "turned"} <= whole.names
    f = rw.function([x], IN_TURN, mode=rw.Mode("fast_run").excluding("inplace") + rules)
    assert rw.pp(f.program.fgraph.outputs[0]) == "-exp(-x)"
    np.testing.assert_allclose(f([0.5, 2.0]), np.sinh([0.5, 2.0]) - np.cosh([0.5, 2.0]))
    mode = rw.Mode("fast_run").excluding("turn", "inplace", "combine_terms") + rules
    assert "cosh" in rw.pp(rw.function([x], IN_TURN, mode=mode).program.fgraph.outputs[0])


def test_strategies_that_look_alike_and_those_in_others(tmp_path: Path) -> None:
    alike = """
even = where(lambda fgraph, node: True, turned, phase="canonicalize")
odd = where(lambda fgraph, node: False, turned, phase="canonicalize")
step = try_(difference)
whole = first(seq(turned, step), odd, phase="specialize")
"""
    wanted = ["my_rules/even", "my_rules/odd", "my_rules/whole"]
    assert names_in(tmp_path, INSIDE + alike) == wanted
    listed = INSIDE + alike + "\nRULES = [odd, even]\n"
    assert names_in(tmp_path, listed) == ["my_rules/odd", "my_rules/even"]


def test_a_strategy_that_is_imported_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, f"{ALONE}\nboth = seq(turned, difference)\n", "two_turns.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    own = f"{ALONE}\nfrom two_turns import both, turned as other\nown = repeat(other)\n"
    try:
        wanted = ["my_rules/turned", "my_rules/difference", "my_rules/own"]
        assert names_in(tmp_path, own) == wanted
    finally:
        sys.modules.pop("two_turns", None)


@pytest.mark.parametrize(
    "given",
    [
        "[seq(turned, difference)]",
        "(r for r in [seq(turned, difference)])",
        "RuleSet([seq(turned, difference)])",
    ],
)
def test_a_file_with_a_choice_of_rules_gives_these(tmp_path: Path, given: str) -> None:
    source = f"{ALONE}\nfrom rewrite_engine import RuleSet\nRULES = {given}\n"
    rules = rw.load_rules(written(tmp_path, source))
    assert list(rules.by_name) == ["seq(my_rules/turned, my_rules/difference)"]
    named = source.replace("RULES = ", "turn = seq(turned, difference)\nRULES = [turn] or ")
    assert names_in(tmp_path, named) == ["my_rules/turn"]
    one = f"{ALONE}\nRULES = seq(turned, difference)\n"
    assert names_in(tmp_path, one) == ["my_rules/RULES"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("3", "RULES must be a RuleSet or a list of rules, not 3"),
        ("'difference'", "RULES must be a RuleSet or a list of rules, not 'difference'"),
        ("[3]", "a RuleSet takes rules, not 3"),
        ("[]", "defines no rules"),
    ],
)
def test_a_wrong_choice_of_rules_is_refused(tmp_path: Path, given: str, wanted: str) -> None:
    with pytest.raises(PackError) as info:
        rw.load_rules(written(tmp_path, f"{ALONE}\nRULES = {given}\n"))
    assert wanted in str(info.value)


def test_a_strategy_without_a_phase_is_told_what_to_say(tmp_path: Path) -> None:
    rules = rw.load_rules(written(tmp_path, f"{INSIDE}\nboth = first(turned, difference)\n"))
    with pytest.raises(PatternError, match="belongs to no phase") as info:
        rw.Mode() + rules
    assert str(info.value).startswith("rule my_rules/both (")
    assert ": both = first(turned, difference))" in str(info.value)
    assert 'write first(..., phase="canonicalize")' in str(info.value)
