"""Rules for joined, sorted, reversed and repeated elements, ranges, and outer sums: values, what
remains, errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.language import rewritten, rewritten_graph

x, y, k = pt.vector("x"), pt.vector("y"), pt.lscalar("k")
a, b = pt.matrices("a b")
r = pt.arange(k)
#: terms, and ops that are not left of them
TERMS: dict[str, tuple[Any, set[str]]] = {
    "mean_of_joined": ((pt.join(0, x, y) ** 2).mean(), {"Join"}),
    "sum_of_joined": (pt.exp(pt.join(0, x, y)).sum(), {"Join"}),
    "rows_of_joined": (pt.join(0, a, b).sum(axis=1, keepdims=True), set()),
    "all_of_joined": (pt.join(0, a, b).sum(), set()),
    "columns_of_joined": (pt.join(0, a, b).sum(axis=0), {"Join"}),
    "some_of_joined": ((pt.join(0, x, y) > 0).all(), {"Join"}),
    "sum_of_stack": (pt.stack([x, x * 2, x + 1]).sum(axis=0), {"Join"}),
    "maximum_of_joined": (pt.join(0, x, y).max(), set()),
    "product_of_joined": (pt.join(0, x, y).prod(), set()),
    "sum_of_sorted": (pt.exp(pt.sort(x)[::-1]).sum(), {"SortOp"}),
    "rows_of_sorted": (pt.sort(a, axis=1).sum(axis=1), {"SortOp"}),
    "columns_of_sorted": (pt.sort(a, axis=0).sum(axis=1), set()),
    "rows_of_reversed": (a[::-1, ::-1].sum(axis=1), set()),
    "deviation_of_sorted": (pt.sort(x).std(), set()),
    "least_of_reversed": (x[::-1].min(), {"Subtensor"}),
    "sorted_twice": (pt.sort(pt.sort(a, axis=0), axis=0), set()),
    "sorted_by_positions": (x[pt.argsort(x)], {"ArgSortOp", "AdvancedSubtensor"}),
    "most_of_moved": ((x + 2).max(), set()),
    "least_of_moved": ((a - 2.5).min(axis=1), set()),
    "most_of_distance": ((2 - a).max(axis=0, keepdims=True), set()),
    "most_of_multiple": ((x * 3).max(), set()),
    "most_of_negative_multiple": ((-3 * x).max(), set()),
    "least_of_quotient": ((a / 3).min(axis=0), set()),
    "most_of_log": (pt.log(abs(x)).max(), set()),
    "least_of_root": (pt.sqrt(pt.exp(a)).min(axis=1), set()),
    "most_probable": (pt.special.softmax(a, axis=1).argmax(axis=1), {"Softmax"}),
    "most_probable_log": (pt.special.log_softmax(a, axis=0).argmax(axis=0), {"LogSoftmax"}),
    "place_of_exp": (pt.exp(x).argmax(), {"exp"}),
    "place_of_negative": ((-a).argmin(axis=0), {"neg"}),
    "place_of_sigmoid": (pt.sigmoid(a).argmax(axis=-1, keepdims=True), {"sigmoid"}),
    "head_of_tile": (pt.tile(x, 4)[:3], set()),
    "middle_of_tile": (pt.tile(x, 3)[1:4], set()),
    "tail_of_tile": (pt.tile(x, 4)[-2:], set()),
    "item_of_tile": (pt.tile(x, 4)[k], set()),
    "part_of_range": (r[2:5] * 2.0, {"Subtensor"}),
    "reversed_range": (r[::-1], {"Subtensor"}),
    "end_of_range": (pt.arange(1, k)[-3:], {"Subtensor"}),
    "rest_of_steps": (pt.arange(0, k, 2)[1:], {"Subtensor"}),
    "backwards": (r[5:1:-1], {"Subtensor"}),
    "backwards_by_two": (r[-2:-9:-2], {"Subtensor"}),
    "reversed_twice": (pt.exp(x[::-1])[::-1], {"Subtensor"}),
    "rows_reversed_twice": ((a[::-1] * 2 + 1)[::-1], set()),
    "columns_reversed_twice": ((a[:, ::-1] * y[:, None])[:, ::-1], {"Subtensor"}),
    "outer_sum": ((x[:, None] + y[None, :]).sum(), set()),
    "columns_of_outer_sum": ((x[:, None] - y[None, :]).sum(axis=0), set()),
    "mean_of_outer_sum": ((x[:, None] + y[None, :]).mean(), set()),
    "differences": (pt.diff(pt.cumsum(x)), set()),
    "differences_of_rows": (pt.diff(pt.cumsum(a, axis=1), axis=1), set()),
    "differences_by_slices": (pt.cumsum(x)[1:] - pt.cumsum(x)[:-1], set()),
}
INPUTS = [x, y, a, b, k]


def vectors(rng: Any, rows: int, columns: int, numbers: Any) -> list[Any]:
    """Return values for the inputs: random numbers, or some of those that are given."""
    shapes = [(columns,), (rows,), (rows, columns), (rows, columns)]
    if numbers is None:
        return [rng.normal(size=shape) for shape in shapes]
    return [rng.choice(numbers, shape) for shape in shapes]


def outcome(f: Any, given: Any) -> Any:
    """Return what a function returns, or raises."""
    try:
        return f(*given)
    except RewriteEngineError as error:
        return error


@pytest.mark.parametrize("name", TERMS)
def test_values(name: str) -> None:
    term, _ = TERMS[name]
    f = rw.function(INPUTS, term, on_unused_input="ignore")
    plain = rw.Mode(optimizer=None)
    as_written = rw.function(INPUTS, term, mode=plain, on_unused_input="ignore")
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -30]
    for rows, columns in ((0, 0), (0, 3), (1, 1), (2, 2), (3, 3), (4, 2), (5, 5)):
        for number in (-3, 0, 1, 4, 8):
            for numbers in (None, special):
                given = [*vectors(rng, rows, columns, numbers), number]
                want, found = outcome(as_written, given), outcome(f, given)
                if isinstance(want, Exception) or isinstance(found, Exception):
                    assert type(found) is type(want), (found, want)
                    continue
                assert (found.shape, found.dtype) == (want.shape, want.dtype)
                np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", [name for name, (_, gone) in TERMS.items() if gone])
def test_what_is_gone(name: str) -> None:
    term, gone = TERMS[name]
    nodes = rewritten_graph([term]).toposort()
    assert not gone & {str(node.op).partition("{")[0] for node in nodes}


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (pt.exp(pt.join(0, x, y)).sum(), "Sum(exp(x)) + Sum(exp(y))"),
        (pt.sqr(pt.join(0, x, y)).sum(), "x @ x + y @ y"),
        (pt.join(0, x, y).prod(), "Prod(Join{axis=0}(x, y))"),  # a part may overflow
        (pt.join(0, x, y).max(), "Max(Join{axis=0}(x, y))"),  # a part may be empty
        (pt.stack([x, y]).max(axis=0), "maximum(x, y)"),
        (pt.sort(a, axis=0).sum(axis=1), "Sum{axis=1}(SortOp{axis=0}(a))"),
        (pt.exp(x[::-1])[::-1], "exp(x)"),
        (pt.sort(pt.sort(x)), "SortOp{axis=0}(x)"),
        (pt.sort(pt.sort(a, axis=0), axis=1), "SortOp{axis=1}(SortOp{axis=0}(a))"),
        (y[pt.argsort(x)], "AdvancedSubtensor{i}(y, ArgSortOp{axis=0}(x))"),
        (pt.cumsum(x)[0], "Subtensor{0}(x)"),
        ((x - 2).max(), "Max(x) - 2.0"),
        ((-3 * x).min(), "-3.0 * Max(x)"),
        ((x + pt.tanh(k)).max(), "Max(x) + tanh(k)"),
        ((x + y[0]).max(), "Max(x + Subtensor{0}(y))"),  # an infinity may meet the opposite one
        ((x * y[0]).max(), "Max(x * Subtensor{0}(y))"),
        (pt.log(abs(x)).max(), "log(Max(abs(x)))"),
        (pt.log(x).max(), "Max(log(x))"),  # NaN below 0
        (pt.exp(x).argmin(), "Argmin(x)"),
        (pt.special.softmax(a, axis=1).argmax(axis=0), None),
        (pt.arange(k)[2:], "ARange{dtype='int64'}(minimum(2, maximum(k, 0)), maximum(k, 0), 1)"),
    ],
    ids=str,
)
def test_what_remains(term: Any, text: str | None) -> None:
    found = repr(rewritten(term))
    assert found == text if text else "Softmax" in found


def test_positions_where_a_function_is_flat() -> None:
    """The position is that of the largest argument, though exp(-800) and exp(-900) are both 0."""
    f = rw.function([x], pt.exp(x).argmax())
    assert f(np.array([-900.0, -800.0])) == 1


def test_what_is_computed_anyway_is_not_computed_twice() -> None:
    whole = pt.join(0, x, y)
    assert repr(rewritten(whole.sum(), whole)) == "[Sum(Join{axis=0}(x, y)), Join{axis=0}(x, y)]"


def test_positions_that_are_needed_anyway_sort_the_elements() -> None:
    order = pt.argsort(x)
    nodes = rewritten_graph([x[order], y[order]]).toposort()
    assert sorted([str(node.op).partition("{")[0] for node in nodes]) == [
        "AdvancedSubtensor", "AdvancedSubtensor", "ArgSortOp",
    ]  # fmt: skip
