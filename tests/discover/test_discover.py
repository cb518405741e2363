"""`discover`: rules that are missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.discover import Discovery, Space, discover, maker
from rewrite_engine.discover.__main__ import main
from rewrite_engine.discover.arithmetic import Arithmetic, agree
from rewrite_engine.discover.grow import grow
from rewrite_engine.discover.judge import Judge
from rewrite_engine.discover.propose import propose
from rewrite_engine.discover.source import term_source
from rewrite_engine.discover.subjects import SUBJECTS, numbers
from rewrite_engine.errors import PatternError, UnknownNameError
from rewrite_engine.facts import nonneg
from rewrite_engine.graph.op import Op
from rewrite_engine.language import rewritten, rule
from rewrite_engine.tensor.type import TensorType


class Cascade(Op):
    """An author's op that no rule knows: 1 - exp(-exp(x)), to all digits."""

    __props__ = ()
    itypes = otypes = (TensorType("float64", (None,)),)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = -np.expm1(-np.exp(inputs[0]))

    def __str__(self) -> str:
        return "cascade"


def lines(found: Discovery) -> list[str]:
    """Return the rules as source, without what they gain."""
    return [
        f"{term_source(one.proposal.left.variable)} >> {term_source(one.proposal.right.variable)}"
        + "".join([f", given {f.name}({v})" for v, fs in one.guards.items() for f in fs])
        for one in found.found
    ]


@pytest.fixture(scope="module")
def gamma() -> Discovery:
    return discover("gamma", size=2)


def test_a_subject(gamma: Discovery) -> None:
    assert {
        "pt.exp(pt.gammaln(x)) >> pt.gamma(x), given nonneg(x)",
        "pt.log(pt.gamma(x)) >> pt.gammaln(x), given nonneg(x)",
    } <= set(lines(gamma))
    assert str(gamma).startswith("gamma (nonneg): ")
    (report,) = gamma.spaces
    assert report.terms > 200
    assert report.left == 0


def test_a_rule_that_is_found_does_what_it_says(gamma: Discovery) -> None:
    x = rw.assume(pt.vector("x"), nonneg=True)
    assert str(rewritten(pt.log(pt.gamma(x)))) == "gammaln(x) + log(gammasgn(x))"
    (one,) = [r for r in gamma.rules if r.short_name == "log_of_gamma"]
    assert str(rewritten(pt.log(pt.gamma(x)), rules=[one], including=["fastmath"])) == "gammaln(x)"


def test_what_is_found_is_a_pack_that_passes_its_check(gamma: Discovery, tmp_path: Path) -> None:
    path = tmp_path / "found.py"
    path.write_text(gamma.source())
    assert [r.short_name for r in rw.load_rules(str(path))] == [r.short_name for r in gamma.rules]
    assert not rw.check(str(path), only="claims").findings


def test_a_rule_that_is_known_is_not_found_again() -> None:
    @rule(phase="canonicalize")
    def known(x: nonneg) -> Any:  # type: ignore[valid-type]
        """(reason)"""
        return pt.log(pt.gamma(x)) >> pt.gammaln(x)

    found = discover("gamma", size=2, rules=[known], claims=False)
    assert not [line for line in lines(found) if line.startswith("pt.log(pt.gamma(x))")]


def test_a_new_op_gets_its_rules() -> None:
    names = ("exp", "neg", "expm1", "log", "log1p")
    space = numbers(
        "cascade",
        [maker(Cascade()), *[maker(getattr(pt, n), n, 1) for n in names]],
        variables="x",
        constants=(),
        about=["cascade"],
    )
    assert lines(discover(space, claims=False)) == [
        "pt.exp(pt.log(Cascade()(x))) >> Cascade()(x)",
        "pt.expm1(pt.log1p(Cascade()(x))) >> Cascade()(x)",
        "pt.expm1(-pt.exp(x)) >> -Cascade()(x)",
    ]


def test_facts_are_the_weakest_that_do() -> None:
    without = ["exp_log", "inverses"]
    found = lines(discover("exp_log", size=2, claims=False, excluding=without))
    assert "pt.expm1(pt.log(x)) >> x - 1, given nonneg(x)" in found
    assert "pt.log1p(x - 1) >> pt.log(x)" in found  # (wherever it has a value)


def test_squares_need_a_square() -> None:
    (space,) = [one for one in SUBJECTS["linalg"]() if one.name == "determinants"]
    terms = grow(space)
    judge = Judge(space)
    texts = {
        (term_source(p.left.variable), term_source(p.right.variable))
        for p in propose(terms, judge, most=800)
    }
    assert all("Det" not in right or "Det" in left for left, right in texts)


def test_terms_are_in_classes_of_equal_values() -> None:
    space = numbers("two", "exp log add mul", constants=(), facts=(nonneg,), size=2)
    classes = [{term_source(t.variable) for t in some} for some in grow(space).equal]
    assert {"x", "pt.log(pt.exp(x))", "pt.exp(pt.log(x))"} in classes
    assert not [some for some in classes if "x" in some and "y" in some]


def test_sums_in_other_spellings_are_one() -> None:
    space = numbers("sums", "exp add sub")
    x, y = space.variables
    value = Arithmetic(space).value
    assert agree(value(1 - (pt.exp(x) - y)), value(y - pt.exp(x) + 1))
    assert not agree(value(1 - (pt.exp(x) - y)), value(1 - (pt.exp(y) - y)))
    assert not agree(value(pt.log(pt.exp(x))), value(x))  # a law, not a spelling


def test_limits() -> None:
    space = numbers("few", "exp log add mul")
    few = grow(space, most=50)
    assert (few.tried, few.stopped) == (50, "the limit of terms was reached at size 2")
    assert "the limit of time was reached" in grow(space, seconds=0.0).stopped
    found = discover("exp_log", size=2, seconds=0.0)
    assert not found.rules


def test_a_function_that_makes_no_term_is_told() -> None:
    def wrong(x: Any) -> Any:
        return unknown_name(x)  # type: ignore[name-defined]  # noqa: F821

    (report,) = discover(numbers("few", [maker(wrong), maker(pt.exp, arity=1)])).spaces
    assert set(report.unused) == {"wrong"}
    assert "wrong made no term: NameError: name 'unknown_name' is not defined" in str(report)


def test_bad_input() -> None:
    with pytest.raises(UnknownNameError, match="no space is called 'gama'.*gamma"):
        discover("gama")
    with pytest.raises(PatternError, match="how many operands does it take"):
        maker(lambda *xs: xs[0], "many")


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    main(["bases", "--size", "1", "--out", str(path)])
    assert capsys.readouterr().out.startswith("bases (nonneg): ")
    assert path.read_text().startswith('"""Rules that were found')


def test_the_command_takes_an_op_of_the_author(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_ops.py").write_text(
        "import rewrite_engine.tensor as pt\n"
        "def huber(x):\n"
        "    return pt.switch(abs(x) < 1, x**2 / 2, abs(x) - 0.5)\n"
    )
    main(["own_ops:huber", "--functions", "neg abs", "--size", "2"])
    assert "huber: " in capsys.readouterr().out
    for bad, message in (("own_ops:hubber", "has no hubber.*huber"), ("no_such:f", "no_such")):
        with pytest.raises(SystemExit):
            main([bad])
        assert re.search(message, capsys.readouterr().err)


def test_spaces_are_well_formed() -> None:
    for name, make in SUBJECTS.items():
        for space in make():
            assert isinstance(space, Space)
            assert grow(space, most=200, seconds=20.0).tried > 0, name
