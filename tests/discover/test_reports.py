"""What `discover` says: gains, refusals, JSON, HTML, uses in a corpus; and how it goes on after an
interruption.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.discover import Corpus, Discovery, corpus_of, discover
from rewrite_engine.discover.__main__ import main
from rewrite_engine.discover.gain import digits, times_text
from rewrite_engine.discover.report import as_json, from_json
from rewrite_engine.discover.subjects import numbers
from rewrite_engine.language import rule_of


@pytest.fixture(scope="module")
def errors() -> Discovery:
    return discover("errors", size=2)


def test_a_gain_in_digits(errors: Discovery) -> None:
    (one,) = [r for r in errors.records if r.left == "pt.log1p(x - 1)"]
    gain = one.gain
    assert gain.digits is not None
    assert gain.digits[0] < 8
    assert gain.digits[1] > 15
    assert gain.points > 0
    point = float(gain.example.partition(" = ")[2].partition(":")[0])
    today = float(gain.example.partition(": ")[2].partition(" today")[0])
    assert np.isclose(np.log1p(point - 1), today, rtol=1e-5)
    assert not np.isclose(float(mpmath.log(point)), today, rtol=1e-8)


def test_digits() -> None:
    assert digits(1.0, mpmath.mpf(1)) == 16
    assert digits(1.001, mpmath.mpf(1)) == pytest.approx(3, abs=0.01)
    assert digits(np.inf, mpmath.mpf(1)) == digits(5.0, mpmath.mpf(1)) == 0
    assert digits(1e-300, mpmath.mpf(0)) == 0
    assert [times_text(x) for x in (1.254, 12.34, 345.6, 5000.0)] == [
        "1.25",
        "12.3",
        "350",
        "5,000",
    ]


def test_a_gain_in_flops(errors: Discovery) -> None:
    (one,) = [r for r in errors.records if r.left == "pt.exp(pt.logerfc(x))"]
    assert one.gain.digits is None
    assert one.gain.price[0] > one.gain.price[1] > 0
    assert str(one.gain) == f"{times_text(one.gain.times)} times cheaper"


def test_what_makes_no_rule_has_a_reason(errors: Discovery) -> None:
    (report,) = errors.spaces
    found = {one.left: one.why for one in report.refused}
    assert found["pt.erf(pt.erfinv(x))"] == "it does not hold at other samples"  # (|x| > 1)
    assert f"{len(report.refused)} refused" in str(errors)


def test_json_is_read_again(errors: Discovery) -> None:
    assert from_json(errors.json()) == from_json(as_json(from_json(errors.json())))
    assert str(from_json(errors.json())[0]) == str(errors.spaces[0])
    assert json.loads(errors.json())["spaces"][0]["rules"][0]["gain"]["price"]


def test_html_has_formulas_and_reasons(errors: Discovery) -> None:
    page = errors.html()
    assert page.count("<math") >= 2 * len(errors.records)
    assert "it does not hold at other samples" in page
    assert "<script" not in page


def test_variables_of_one_dtype() -> None:
    """Of two dtypes the left side rounds to another one in between."""
    found = discover(numbers("two", "sqrt sqr mul exp", constants=(), low=0.5), size=3)
    guarded = [one for one in found.records if "same_dtype(x, y)" in one.conditions]
    for one in guarded:
        assert "same_dtype(x, y)" in one.source
        assert "same_dtype" in one.facts


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    stages = list[str]()

    def told(line: str) -> None:
        stages.append(line)
        if line.startswith("errors") and "judged" in line:
            raise KeyboardInterrupt

    folder = tmp_path / "kept"
    first = discover("gamma", "errors", size=2, keep=folder, told=told)
    assert first.stopped == "interrupted in errors"
    assert [one.name for one in first.spaces] == ["gamma"]
    assert any(["terms made" in line for line in stages])
    stages.clear()
    again = discover("gamma", "errors", size=2, keep=folder, told=lambda line: stages.append(line))
    assert not [line for line in stages if line.startswith("gamma")]
    assert [one.name for one in again.spaces] == ["gamma", "errors"]
    assert str(again.spaces[0]) == str(first.spaces[0])
    assert [r.short_name for r in again.rules[:2]] == [r.short_name for r in first.rules[:2]]
    other = discover("gamma", size=1, keep=folder, told=lambda line: stages.append(line))
    assert [line for line in stages if line.startswith("gamma")]  # within other limits
    assert other.spaces[0].terms < first.spaces[0].terms


def test_the_most_used_rules_come_first(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "a.py").write_text(
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "x = pt.vector('x')\n"
        "f = rw.function([x], pt.log1p(x - 1))\n"
    )
    (scripts / "wrong.py").write_text("1 / 0\n")
    corpus = corpus_of([scripts])
    assert len(corpus.functions) == 1
    assert list(corpus.failed.values()) == ["ZeroDivisionError: division by zero"]
    found = discover("errors", size=2, corpus=corpus)
    assert [(one.left, one.met) for one in found.records][0] == ("pt.log1p(x - 1)", 1)
    assert found.records[-1].met == 0
    assert found.records[0].gain.digits is not None
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        corpus_of([tmp_path / "no_such_folder"])


def test_a_corpus_has_gradients() -> None:
    x = pt.vector("x")
    corpus = Corpus()
    corpus.add([pt.sum(pt.cosh(x))])
    assert corpus.met(rule_of(pt.sinh(x) * 2 + 1, pt.tanh(x))) == 0
    assert corpus.met(rule_of(pt.sinh(x), pt.tanh(x))) == 1  # (a rule for counting only)


def test_the_command_writes_all_forms(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    paths = {name: tmp_path / f"found.{name}" for name in ("out", "json", "html")}
    options = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
    main(["errors", "--size", "2", "--refused", *options])
    printed = capsys.readouterr().out
    assert "refused: pt.erf(pt.erfinv(x)) >> x: it does not hold at other samples" in printed
    assert "def " in paths["out"].read_text()
    assert from_json(paths["json"].read_text())[0].name == "errors"
    assert paths["html"].read_text().startswith("<!doctype html>")
