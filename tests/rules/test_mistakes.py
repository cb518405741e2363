"""Mistakes of rules: all of a rule and of a file in one run, and patterns that compile instead."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.__main__ import main
from rewrite_engine.errors import (
    PackError,
    PatternError,
    RuleError,
    RuleErrors,
    UnboundVariableError,
)
from rewrite_engine.language import *
from rewrite_engine.pipeline.packs import load_rules

HEADER = "import rewrite_engine.tensor as pt\nfrom rewrite_engine.language import *\n"


def mistakes_of(build: Any) -> list[str]:
    """The first line of each mistake of a rule."""
    with pytest.raises(RuleError) as info:
        rule(build)
    texts = str(info.value).split("\n    ")[1:]
    numbered = [re.sub(r"^\d+\. ", "", text) for text in texts if re.match(r"\d+\. ", text)]
    return numbered or texts[:1]


def test_all_mistakes_of_a_rule_come_in_one_run() -> None:
    def wrong(a: Float, b: Matrix, c: Scalar):
        """Five mistakes."""
        return pt.log(pt.mean(a)) >> pt.nosuch(a) + pt.mean(b, axis=7), given(3, lambda z: z)

    found = mistakes_of(wrong)
    starts = [
        "the rank of a is not known",
        "`pt.nosuch` cannot be part of a pattern: AttributeError",
        "`pt.mean(b, axis=7)` cannot be part of a pattern: AxisError",
        "the guard 3 is neither a fact",
    ]
    assert len(found) == len(starts)
    assert [text.startswith(start) for text, start in zip(found, starts, strict=True)] == [True] * 4


def test_all_unbound_variables_are_named() -> None:
    def wrong(a: Matrix, b: Matrix, c: Scalar, d: Scalar):
        """Three mistakes."""
        return pt.exp(a) >> b * c

    assert mistakes_of(wrong) == [
        "the right side uses b, which the left side does not bind",
        "the right side uses c, which the left side does not bind",
        "the parameter d does not occur in the left side",
    ]
    with pytest.raises(UnboundVariableError):
        rule(wrong)


def test_what_follows_from_a_mistake_is_left_out() -> None:
    def wrong(a: Float):
        """One mistake, and a mean of what is not known."""
        return pt.exp(pt.mean(pt.mean(a) + a)) >> pt.exp(a)

    assert len(mistakes_of(wrong)) == 1

    def root(a: Float):
        """The left side is what failed."""
        return pt.mean(a) >> pt.exp(a)

    assert len(mistakes_of(root)) == 1


def test_headers_and_sides_are_refused_together() -> None:
    def wrong(a: Matrix, b: Matrix):
        return pt.exp(a) >> b

    with pytest.raises(RuleError) as info:
        rule(wrong, claim="exact", tags=[1])  # type: ignore[call-overload]
    text = str(info.value)
    assert "4 mistakes:\n    1. claims 'exact'" in text
    assert "2. tags must be names" in text
    assert "3. has no docstring" in text
    assert "4. the right side uses b" in text


def test_equations_and_tables_do_so_too() -> None:
    def both(a: Float, b: Float):
        """Two mistakes."""
        return pt.mean(a), pt.mean(b)

    with pytest.raises(PatternError, match=r"(?s)2 mistakes:.*rank of a .*rank of b ") as info:
        equation(both)
    assert "stand_in" not in str(info.value)
    assert str(info.value).count("rule test_mistakes/both") == 1

    with pytest.raises(PatternError, match=r"(?s)2 mistakes:.*For x of .*For y of "):
        table("t", ("row", lambda x, y: pt.exp(pt.var(x)) >> pt.var(y), refines, "."), x=Float)


#: expressions that need types, what is compiled for them, and sorts of their variables
EXPRESSIONS = [
    ("pt.linalg.det(a)", "Det(a)", "Matrix"),
    ("pt.linalg.slogdet(a)[0]", "SLogDet(a).sign", "Matrix"),
    ("pt.linalg.eigh(2 * a)[0]", "Eigh{lower=True}(2.0 * a).eigenvalues", "Matrix"),
    ("pt.linalg.inv(a)", "MatrixInverse(a)", "Matrix"),
    ("pt.linalg.norm(a)", "sqrt(Sum(sqr(a)))", "Matrix"),
    ("a.mean()", "Sum(a) / part_0_1", "Matrix"),
    ("pt.sqr(a).mean()", "Sum(sqr(a)) / part_0_1", "Vector"),
    ("pt.var(a, axis=0)", None, "Matrix"),
    ("pt.std(a)", None, "Vector"),
]


@pytest.mark.parametrize(("expression", "text", "sort"), EXPRESSIONS)
def test_functions_that_need_types_compile_and_fire(
    expression: str, text: str | None, sort: str, tmp_path: Path
) -> None:
    path = tmp_path / "typed.py"
    path.write_text(
        f"{HEADER}@rule\ndef of(a: {sort}):\n    '.'\n"
        f"    return {expression} >> compute(lambda a: None)\n"
    )
    made = load_rules(path)["of"]
    assert text is None or str(made.text).startswith(f"{text} -> ")
    x = pt.tensor("x", "float64", (None,) * (2 if sort == "Matrix" else 1))
    term = rw.rewrite_graph(eval(expression, {"pt": pt, "a": x}))
    assert len(list(find(term, made))) == 1


def test_a_mean_of_unknown_rank_names_the_sort_and_the_pattern() -> None:
    def wrong(x: Float):
        """A mean."""
        return pt.exp(pt.sqr(x).mean()) >> x

    with pytest.raises(PatternError) as info:
        rule(wrong)
    assert "give its variables sorts that fix one (Scalar, Vector, Matrix" in str(info.value)
    assert "write `pt.Sum()(pt.sqr(x)) / pt.cast(" in str(info.value)


WRONG_FILE = (
    HEADER
    + '''
@rule(phase="canonicalize")
def first(a: Float):
    """A function that wants a rank."""
    return pt.log(pt.mean(a)) >> a

@rule(phase="canonicalize")
def second(x: Float, y: Float):
    """Unbound."""
    return pt.sinh(x) >> y

@rule(phase="canonicalize")
def right(x: Float):
    """Right."""
    return pt.sinh(-x) >> -pt.sinh(x)

ROWS = table("rows", ("third", lambda x: x >> pt.exp(x), refines, "."),
             ("fourth", lambda x: pt.tan(pt.arctan(x)) >> x, refines, "."))

@equation
def fifth(x: Float):
    return pt.exp(x), pt.exp(x)

RULES = [first, second, right]
'''
)


def test_all_errors_of_a_file_come_in_one_run(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mine.py"
    path.write_text(WRONG_FILE)
    with pytest.raises(RuleErrors) as info:
        load_rules(path)
    assert [str(e).split()[1] for e in info.value.errors] == [
        "mine/first", "mine/second", "mine/third", "mine/fifth",
    ]  # fmt: skip
    text = str(info.value)
    assert text.startswith("4 rules cannot be built:\n\nrule mine/first (")
    assert main([str(path), "--fast"]) == 2
    assert capsys.readouterr().err.strip() == text


def test_a_module_that_could_not_be_built_is_imported_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pack_of_mistakes.py"
    path.write_text(WRONG_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuleErrors, match="4 rules cannot be built"):
        rw.check("pack_of_mistakes", fast=True)
    assert "pack_of_mistakes" not in sys.modules
    with pytest.raises(PatternError, match=r"rule pack_of_mistakes/first"):
        __import__("pack_of_mistakes")  # as it is imported by itself: the first of them


def test_one_error_of_a_file_is_raised_alone(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(HEADER + "@rule" + WRONG_FILE.split("@rule")[2])
    with pytest.raises(UnboundVariableError, match="rule one/second"):
        load_rules(path)


def test_an_error_beside_no_wrong_rule_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text(HEADER + "1 / 0\n")
    with pytest.raises(PackError, match="ZeroDivisionError"):
        load_rules(path)
