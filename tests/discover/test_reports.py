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
from rewrite_engine.discover import Corpus, Discovery, Space, corpus_of, discover
from rewrite_engine.discover.__main__ import main
from rewrite_engine.discover.digits import right_digits
from rewrite_engine.discover.gain import times_text
from rewrite_engine.discover.report import as_json, from_json
from rewrite_engine.discover.subjects import numbers
from rewrite_engine.facts import nonneg
from rewrite_engine.language import rule_of

PACKS = ("exp_log", "differences", "softplus")  # to do without, so that there is something to find


def logs(name: str = "logs", functions: str = "log log1p exp expm1 add sub") -> Space:
    return numbers(name, functions, variables="x", constants=(1.0,))


def found_in(*spaces: Space, **options: Any) -> Discovery:
    return discover(*spaces, **{"size": 2, "excluding": PACKS} | options)


@pytest.fixture(scope="module")
def found() -> Discovery:
    return found_in(logs())


def test_a_gain_in_digits(found: Discovery) -> None:
    (one,) = [r for r in found.records if r.left == "pt.log(x + 1)"]
    gain = one.gain
    assert gain.digits is not None
    assert gain.digits[0] < 8
    assert gain.digits[1] > 15
    assert gain.points > 0
    point = float(gain.example.partition(" = ")[2].partition(":")[0])
    today = float(gain.example.partition(": ")[2].partition(" today")[0])
    assert np.isclose(np.log(point + 1), today, rtol=1e-5)
    assert not np.isclose(np.log1p(point), today, rtol=1e-8, atol=0)


def test_digits() -> None:
    values = [1.0, 1.001, np.inf, 5.0]
    found = right_digits(np.array(values), [mpmath.mpf(1)] * 4)
    np.testing.assert_allclose(found, [16, 3, 0, 0], atol=0.01)
    assert right_digits(1e-200, mpmath.mpf(0)).tolist() == [0]
    assert np.isnan(right_digits(1.0, mpmath.mpf(10) ** 400)).all()  # (no double)
    assert [times_text(x) for x in (1.254, 12.34, 345.6, 5000.0)] == [
        "1.25",
        "12.3",
        "350",
        "5,000",
    ]


def test_a_gain_in_flops(found: Discovery) -> None:
    (one,) = [r for r in found.records if r.left == "x + (1 - x)"]
    assert one.gain.digits is None
    assert one.gain.price[0] > one.gain.price[1]
    assert str(one.gain) == f"{times_text(one.gain.times)} times cheaper"


def test_what_makes_no_rule_has_a_reason(found: Discovery) -> None:
    (report,) = found.spaces
    reasons = {one.left: one.why for one in report.refused}
    assert "make a variable of log(exp(x)): x" in reasons["pt.log(pt.exp(x))"]
    assert f"{len(report.refused)} refused" in str(found)


def test_json_is_read_again(found: Discovery) -> None:
    assert from_json(found.json()) == from_json(as_json(from_json(found.json())))
    assert str(from_json(found.json())[0]) == str(found.spaces[0])
    assert json.loads(found.json())["spaces"][0]["rules"][0]["gain"]["price"]


def test_html_has_formulas_and_reasons(found: Discovery) -> None:
    page = found.html()
    assert page.count("<math") >= 2 * len(found.records)
    assert "make a variable of log(exp(x)): x" in page
    assert "<script" not in page


def test_variables_of_one_dtype() -> None:
    """Of two dtypes the left side rounds to another one in between."""
    space = numbers("two", "exp log1p add mul", constants=(1.0,), facts=(nonneg,))
    found = discover(space)
    (one,) = [one for one in found.records if one.left == "pt.exp(x + pt.log1p(y))"]
    assert one.conditions == ["nonneg(y)", "same_dtype(x, y)"]
    assert "given(nonneg(y), same_dtype(x, y))" in one.source
    assert one.facts == ["nonneg", "same_dtype"]


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    stages = list[str]()

    def told(line: str) -> None:
        stages.append(line)
        if line.startswith("more"):
            raise KeyboardInterrupt

    folder = tmp_path / "kept"
    spaces = logs(), logs("more", "log log1p sqrt")
    first = found_in(*spaces, keep=folder, told=told)
    assert first.stopped == "interrupted in more"
    assert str(first).endswith("interrupted in more")
    assert [one.name for one in first.spaces] == ["logs"]
    assert any(["terms made" in line for line in stages])
    stages.clear()
    again = found_in(*spaces, keep=folder, told=stages.append)
    assert not [line for line in stages if line.startswith("logs")]
    assert [one.name for one in again.spaces] == ["logs", "more"]
    assert str(again.spaces[0]) == str(first.spaces[0])
    names = [r.short_name for r in again.rules]
    assert names[: len(first.rules)] == [r.short_name for r in first.rules]
    other = found_in(spaces[0], size=1, keep=folder, told=stages.append)
    assert [line for line in stages if line.startswith("logs")]  # within other limits
    assert other.spaces[0].terms < first.spaces[0].terms


def test_the_most_used_rules_come_first(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "a.py").write_text(
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "x = pt.vector('x')\n"
        "f = rw.function([x], pt.cos(x + (1 - x)))\n"
    )
    (scripts / "wrong.py").write_text("1 / 0\n")
    corpus = corpus_of([scripts])
    assert len(corpus.functions) == 1
    assert list(corpus.failed.values()) == ["ZeroDivisionError: division by zero"]
    discovery = found_in(logs(functions="log log1p add sub"), corpus=corpus)
    records = discovery.records
    assert "# met in 1 of the functions\n@rule(" in discovery.source()
    assert (records[0].left, records[0].met) == ("x + (1 - x)", 1)
    assert records[-1].met == 0
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        corpus_of([tmp_path / "no_such_folder"])


def test_a_left_side_is_met_whatever_its_guards_say() -> None:
    x = pt.vector("x")
    corpus = Corpus()
    corpus.add([pt.tan(x)])
    guarded = rule_of(pt.tan(x), pt.sinh(x), where=lambda x: nonneg(x))
    assert corpus.met(guarded) == 1


def test_a_corpus_has_gradients() -> None:
    x = pt.vector("x")
    corpus = Corpus()
    corpus.add([pt.sum(pt.cosh(x))])
    assert corpus.met(rule_of(pt.sinh(x) * 2 + 1, pt.tanh(x))) == 0
    assert corpus.met(rule_of(pt.sinh(x), pt.tanh(x))) == 1  # (a rule for counting only)


def test_the_command_writes_all_forms(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = {name: tmp_path / f"found.{name}" for name in ("out", "json", "html")}
    options = [text for name, path in paths.items() for text in (f"--{name}", str(path))]
    main(["errors", "--size", "2", "--refused", *options])
    printed = capsys.readouterr().out
    assert "refused: pt.erf(pt.erfinv(x)) >> x: it does not hold at other samples" in printed
    assert paths["out"].read_text().startswith('"""Rules that were found')
    assert from_json(paths["json"].read_text())[0].name == "errors"
    assert paths["html"].read_text().startswith("<!doctype html>")
