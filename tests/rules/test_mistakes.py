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
    def wrong(a: Matrix, b: Matrix, c: Scalar):
        """Five mistakes."""
        return pt.log(pt.linalg.det(a)) >> pt.nosuch(a) + pt.var(b), given(3, lambda z: z)

    found = mistakes_of(wrong)
    starts = [
        "`pt.linalg.det(a)` cannot be part of a pattern: UnknownTypeError",
        "`pt.nosuch` cannot be part of a pattern: AttributeError",
        "`pt.var(b)` cannot be part of a pattern: UnknownTypeError",
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
    def wrong(a: Matrix):
        """One mistake, and a mean of what is not known."""
        return pt.exp(pt.mean(pt.linalg.det(a) + a)) >> pt.exp(a)

    assert len(mistakes_of(wrong)) == 1

    def root(a: Matrix):
        """The left side is what failed."""
        return pt.linalg.det(a) >> pt.linalg.Det()(a)

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
    def both(a: Matrix, b: Matrix):
        """Two mistakes."""
        return pt.linalg.det(a), pt.linalg.det(b)

    with pytest.raises(PatternError, match=r"(?s)2 mistakes:.*det\(a\).*det\(b\)") as info:
        equation(both)
    assert "stand_in" not in str(info.value)
    assert str(info.value).count("rule test_mistakes/both") == 1

    with pytest.raises(PatternError, match=r"(?s)2 mistakes:.*For x of .*For y of "):
        table("t", ("row", lambda x, y: pt.exp(pt.var(x)) >> pt.var(y), refines, "."), x=Matrix)


#: expressions that need types, with sorts of their variables
EXPRESSIONS = [
    ("pt.linalg.det(a)", "pt.linalg.Det()(a)", "Matrix"),
    ("pt.linalg.slogdet(a)", "pt.linalg.SLogDet()(a)", "Matrix"),
    ("pt.linalg.eigh(2 * a)", "pt.linalg.Eigh()(2 * a)", "Matrix"),
    ("pt.linalg.inv(a)", "pt.linalg.MatrixInverse()(a)", "Matrix"),
    ("pt.linalg.norm(a)", "pt.sqrt(pt.Sum()(pt.sqr(a)))", "Matrix"),
    ("a.mean()", None, "Matrix"),
    ("pt.sqr(a).mean()", None, "Vector"),
    ("pt.var(a, axis=0)", None, "Matrix"),
    ("pt.std(a)", None, "Vector"),
]


@pytest.mark.parametrize(("expression", "text", "sort"), EXPRESSIONS)
def test_the_pattern_that_is_suggested_compiles_and_fires(
    expression: str, text: str | None, sort: str, tmp_path: Path
) -> None:
    def built(name: str, pattern: str) -> Any:
        path = tmp_path / f"{name}.py"
        path.write_text(
            f"{HEADER}@rule\ndef of(a: {sort}):\n    '.'\n"
            f"    return {pattern} >> compute(lambda a: None)\n"
        )
        return load_rules(path)["of"]

    with pytest.raises(PatternError) as info:
        built("wrong", expression)
    found = re.search(r"write `(.*?)`\.", str(info.value))
    assert found is not None, info.value
    assert text is None or found[1] == text
    several = "eigh" in expression or "slogdet" in expression
    made = built("right", found[1] + "[0]" * several)
    x = pt.tensor("x", "float64", (None,) * (2 if sort == "Matrix" else 1))
    term = eval(expression, {"pt": pt, "a": x})
    assert len(list(find(term[0] if several else term, made))) == 1


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
def first(a: Matrix):
    """A function that wants types."""
    return pt.log(pt.linalg.det(a)) >> a

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
