"""Rules for comparisons of positions that are used as masks: values, what remains, errors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph import graph_replace
from rewrite_engine.language import rewritten

x, a, k = pt.vector("x"), pt.matrix("a"), pt.lscalar("k")
PLACE, ROW, COLUMN = pt.arange(x.shape[0]), pt.arange(a.shape[0]), pt.arange(a.shape[1])
COMPARISONS = [pt.eq, pt.lt, pt.le, pt.gt, pt.ge]


def selections(compare: Any) -> list[Any]:
    """Return terms that read the elements which one comparison selects."""
    return [
        pt.switch(compare(PLACE, k), 0.0, x).mean(),
        (compare(PLACE, k) * x).sum(),
        (x * compare(k, PLACE)).sum(),
        pt.switch(compare(PLACE, k), x, 0).sum(),
        (compare(PLACE, k).astype("float64") * pt.exp(x)).sum(),
        pt.dot(compare(PLACE, k), x),
        compare(ROW, k) @ a,
        a @ compare(COLUMN, k),
        pt.switch(compare(ROW[:, None], k), a, 0.0).sum(axis=0),
        pt.switch(compare(COLUMN, k), a, 0.0).sum(axis=1),
        (compare(COLUMN, k) * a).sum(),
        (compare(COLUMN, k) * a).sum(axis=1, keepdims=True),
    ]


@pytest.mark.parametrize("compare", COMPARISONS, ids=str)
def test_values(compare: Any) -> None:
    terms = selections(compare)
    rewrites = rw.function([x, a, k], terms)
    as_written = rw.function([x, a, k], terms, mode=rw.Mode(optimizer=None))
    rng = np.random.default_rng(0)
    for rows, columns in ((0, 2), (1, 3), (5, 5), (4, 6)):
        given = rng.normal(size=rows), rng.normal(size=(rows, columns))
        for number in (0, 1, 3, 4, -1, -3, 9, 2**62, -(2**63)):
            wanted = as_written(*given, number)
            for found, want in zip(rewrites(*given, number), wanted, strict=True):
                assert found.shape == want.shape
                np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("compare", COMPARISONS, ids=str)
def test_no_range_is_left(compare: Any) -> None:
    for term in selections(compare)[compare is pt.eq :]:  # (all elements but one are two parts)
        assert "ARange" not in repr(rewritten(term)), term


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (pt.switch(PLACE < 5, x, 0).sum(), "Sum(Subtensor{:5}(x))"),
        (pt.switch(PLACE > 3, x, 0).sum(), "Sum(Subtensor{4:}(x))"),
        ((pt.eq(PLACE, 2) * x).sum(), "Sum(Subtensor{2:3}(x))"),
        (pt.eye(a.shape[0])[k] @ a, "Subtensor{i}(a, CheckedIndex(k, Shape_i{i=0}(a)))"),
        (a @ pt.eye(a.shape[1])[:, 3], "Subtensor{:, i}(a, CheckedIndex(3, Shape_i{i=1}(a)))"),
        (pt.switch(PLACE < 5, x, 1).sum(), None),  # the others count, too
        (((PLACE < 5) * a).sum(), None),  # perhaps other lengths
        (((pt.arange(4) < 2) * x).sum(), None),
        (pt.switch(PLACE < 0.5, x, 0).sum(), None),
    ],
    ids=str,
)
def test_what_remains(term: Any, text: str | None) -> None:
    found = repr(rewritten(term))
    assert found == text if text else "Subtensor" not in found


LABELS = pt.lvector("t")
ONE_HOT = pt.eye(a.shape[1])[LABELS]
LOGS = pt.special.log_softmax(a, axis=1)


@pytest.mark.parametrize(
    ("term", "by_hand"),
    [
        ((ONE_HOT * LOGS).sum(axis=1), lambda v, rows, t: v[rows, t]),
        (-(LOGS * ONE_HOT).sum(), lambda v, rows, t: -v[rows, t].sum()),
        (-(ONE_HOT * LOGS).sum(axis=1).mean(), lambda v, rows, t: -v[rows, t].mean()),
        ((2 * LOGS * ONE_HOT).sum(1, keepdims=True), lambda v, rows, t: 2 * v[rows, t][:, None]),
    ],
    ids=["rows", "all", "mean", "kept"],
)
@pytest.mark.parametrize("is_static", [False, True])
def test_sums_with_rows_of_a_unit_matrix(term: Any, by_hand: Any, is_static: bool) -> None:
    if is_static:
        v = pt.matrix("a", shape=(6, 4))
        term = graph_replace(term, {a: v})
    else:
        v = a
    f = rw.function([v, LABELS], term)
    ops = {type(node.op).__name__ for node in f.fgraph.toposort()}
    assert not ops & {"Eye", "Dot", "MatMul"}
    value, labels = np.random.default_rng(0).normal(size=(6, 4)), np.array([0, 3, -1, -4, 2, 2])
    logs = value - np.log(np.exp(value).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(f(value, labels), by_hand(logs, np.arange(6), labels), rtol=1e-12)
    for wrong in ([0, 3, 4, 1, 1, 1], [0], [0, 1]):
        with pytest.raises(RewriteEngineError):
            f(value, np.array(wrong))


def test_numbers_that_are_not_finite_outside_the_mask() -> None:
    value = np.array([1.0, 2.0, np.nan, np.inf])
    f = rw.function([x], [((PLACE < 2) * x).sum(), pt.switch(PLACE < 2, x, 0).sum()])
    np.testing.assert_array_equal(f(value), [3.0, 3.0])


def test_a_sum_over_other_axes_keeps_its_zeros() -> None:
    f = rw.function([a, k], (operator.lt(COLUMN, k) * a).sum(axis=0))
    np.testing.assert_array_equal(f(np.ones((2, 3)), 2), [2, 2, 0])


@pytest.mark.parametrize(
    ("term", "shapes"),
    [
        (pt.dot(pt.arange(3) < 2, x), {x: (4,)}),
        ((pt.arange(3) < 2) @ a, {a: (4, 2)}),
        (((pt.arange(3) < 2) * x).sum(), {x: (4,)}),
        (a @ pt.eye(a.shape[1])[:, 3], {a: (3, 3)}),
    ],
)
def test_errors_are_kept(term: Any, shapes: dict[Any, Any]) -> None:
    for mode in (rw.Mode(optimizer=None), None):
        f = rw.function([*shapes], term, **({} if mode is None else {"mode": mode}))
        with pytest.raises(RewriteEngineError):
            f(*[np.ones(shape) for shape in shapes.values()])
