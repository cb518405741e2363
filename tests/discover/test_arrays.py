"""`discover` for arrays: far samples, which term is better, and how it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.discover import Discovery, discover
from rewrite_engine.discover.array_functions import DOTS, INV, SOLVE, T
from rewrite_engine.discover.array_samples import FAR_ELEMENTS, having
from rewrite_engine.discover.gain import worst
from rewrite_engine.discover.grow import PlainRunner, grow
from rewrite_engine.discover.judge import Judge, Judged, wrong_in
from rewrite_engine.discover.space import is_infix
from rewrite_engine.discover.subjects import SUBJECTS, array_space, arrays
from rewrite_engine.facts import lower_triangular, positive_definite, square
from rewrite_engine.judge.values import TermValues

S, U = pt.matrix("s"), pt.vector("u")
SPACE = array_space("far", [], {S: ("nn", (square,)), U: ("n", ())})


def wrong_samples(term: Any) -> set[str]:
    """Return the kinds of far samples at which a term is wrong if it runs unchanged."""
    judge = Judge(SPACE)
    values = [TermValues(PlainRunner(), dict(far)) for far in judge.far]
    with np.errstate(all="ignore"):
        wrong = judge.wrong(term, term, values)
    return {FAR_ELEMENTS[i // 10**6].__name__ for i in wrong}


def test_far_samples_show_what_overflows() -> None:
    every = {"large", "small", "huge", "tiny"}
    assert wrong_samples(pt.log(abs(pt.linalg.det(S)))) == every
    assert wrong_samples(pt.linalg.slogdet(S)[1]) == set()
    assert wrong_samples(pt.log(abs(U.prod()))) == every
    assert wrong_samples(pt.log((U * U).max())) == {"huge", "tiny"}
    assert wrong_samples(pt.log(pt.exp(U).sum())) >= {"large", "spread"}
    assert wrong_samples(U.sum()) == set()


def test_far_samples_show_lost_digits() -> None:
    assert wrong_samples(pt.linalg.solve(S, U)) == set()
    assert "ill_conditioned" in wrong_samples(pt.linalg.solve(S.T @ S, S.T @ U))


def test_ties_and_zeros_are_among_far_samples() -> None:
    sample = dict(Judge(SPACE).far[FAR_ELEMENTS.index(_named("tied"))])
    assert len(set(sample[U])) < len(sample[U])
    assert (sample[S] == 0).any()


def _named(name: str) -> Any:
    return next(make for make in FAR_ELEMENTS if make.__name__ == name)


@pytest.mark.parametrize("fact", [positive_definite, lower_triangular])
def test_bad_conditions_are_kept(fact: Any) -> None:
    hard = _named("ill_conditioned")(np.random.default_rng(1), (6, 6))
    value = having(hard, [fact], ill=True)
    assert np.array_equal(value, value.T if fact is positive_definite else np.tril(value))
    assert 1e5 < np.linalg.cond(value) < 1e8


def test_an_array_is_right_or_wrong_as_a_whole() -> None:
    true, value = np.array([1.0, 1e-9, 2.0]), np.array([1.0, 0.0, 2.1])
    assert wrong_in(value, true, pointwise=True) == [1, 2]
    assert wrong_in(value, true, pointwise=False) == [0]
    assert wrong_in(np.array([1.0, 0.0, 2.0]), true, pointwise=False) == []
    assert wrong_in(None, true, pointwise=False) == [0]


def test_of_equal_prices_fewer_nodes_are_better() -> None:
    few, many = Judged(S, frozenset(), 1000.0, 1), Judged(S, frozenset(), 999.0, 2)
    assert few.rank < many.rank < Judged(S, frozenset(), 1500.0, 1).rank


def test_terms_are_written_as_by_a_person() -> None:
    matmul, vecmat, inner = DOTS
    assert T.written([matmul.written(["a", "b"])]) == "(a @ b).T"
    assert INV.written([matmul.written(["a", "b"])]) == "pt.linalg.inv(a @ b)"
    assert SOLVE.written(["a.T", inner.written(["u", "-v"])]) == "pt.linalg.solve(a.T, u @ (-v))"
    assert vecmat.written(["", "a"]) == ""
    assert [is_infix(t) for t in ("a + b", "-a", "f(a, b)", "a[:, 0]", "(a + b).T")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_nothing_is_built_on_unit_matrices() -> None:
    terms = grow(arrays("inverses", [*DOTS, INV], "s", size=3))
    texts = {t.text for some in terms.classes for t in some}
    assert "pt.linalg.inv(pt.linalg.inv(s))" in texts
    assert not [t for t in texts if "s @ pt.linalg.inv(s)" in t]


@pytest.fixture(scope="module")
def index() -> Discovery:
    return discover("index", claims=False)


def test_rules_print_as_a_person_writes_them(index: Discovery, tmp_path: Path) -> None:
    text = str(index)
    assert "pt.sort(u[::-1]) >> pt.sort(u): fewer ops" in text
    assert "pt.diag(u).sum() >> u.sum()" in text
    source = index.source()
    assert "    return pt.sort(u[::-1]) >> pt.sort(u)\n" in source
    (tmp_path / "found.py").write_text(source)
    assert len(rw.load_rules(str(tmp_path / "found.py"))) == len(index.rules)


def test_each_term_is_judged_by_itself() -> None:
    """A rule that needs a part of one user fires, though other terms have the part, too."""
    a, u = pt.matrix("a"), pt.vector("u")
    judge = Judge(array_space("first", [], {a: ("nm", ()), u: ("m", ())}))
    first, last, whole = judge.today([(a @ u)[0], (a @ u)[-1], a @ u])
    assert first.price == last.price < whole.price / 50


def test_products_of_vectors_have_one_order() -> None:
    (space,) = SUBJECTS["products"]()
    texts = {t.text for some in grow(space, most=2_000).classes for t in some}
    assert "w @ (u @ a)" in texts
    assert "(u @ a) @ w" not in texts


def test_the_worst_element_of_an_array_is_shown() -> None:
    assert worst(np.array([1.0, 2.5, 3.0]), np.array([1.0, 2.0, 3.1])) == 1
    assert worst(np.array([1.0, np.nan]), np.array([1.5, 2.0])) == 1
    assert worst(None, np.array([1.5, 2.0])) == 1
    assert worst(np.array([np.inf, 1.0]), np.array([mpf("1e400"), 2.0])) == 1
