"""Indices of nodes as programs read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compat import lookup
from rewrite_engine.compat.indices import (
    as_index_literal,
    get_canonical_form_slice,
    get_idx_list,
)
from rewrite_engine.errors import AxisError, NotConstantError

x, i, rows = pt.tensor3("x"), pt.lscalar("i"), pt.lvector("rows")


@pytest.mark.parametrize(
    "index",
    [
        (2,),
        (slice(1, None), i),
        (slice(None), rows),
        (slice(i, -1, 2), 0, i),
        (rows, slice(1, 2), i),
    ],
)
def test_what_stands_between_the_brackets(index: Any) -> None:
    node = x[index].owner
    found = get_idx_list(node.inputs, node.op.idx_list)
    unflatten = lookup("tensor.subtensor", "unflatten_index_variables")
    assert found == unflatten(node.inputs[1:], node.op.idx_list)
    assert repr(found[: len(index)]) == repr(index)
    assert x[found].owner.op is node.op


def test_constants_are_numbers() -> None:
    assert as_index_literal(slice(pt.constant(1), None, 2)) == slice(1, None, 2)
    assert as_index_literal(None) is None
    with pytest.raises(NotConstantError, match="the index i is not a constant"):
        as_index_literal(i)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, None])
def test_slices_from_the_front(step: Any) -> None:
    values = np.arange(5)
    ends = [None, 0, 1, 3, 5, 9, -1, -4, -6]
    for start in ends:
        for stop in ends:
            given = slice(start, stop, step)
            found, way = get_canonical_form_slice(given, pt.constant(5))
            numbers = [pt.as_tensor(n).eval().item() for n in (found.start, found.stop, found.step)]
            taken = values[slice(*numbers)][::way]
            assert taken.tolist() == values[given].tolist(), (given, numbers)
            if taken.size:
                assert min(numbers) >= 0


def test_a_step_of_0() -> None:
    with pytest.raises(AxisError, match="the step of a slice cannot be 0"):
        get_canonical_form_slice(slice(None, None, 0), pt.constant(5))


def test_an_element_from_the_front() -> None:
    found, way = get_canonical_form_slice(i, pt.constant(5))
    assert [int(found.eval({i: k})) for k in (2, -1)] == [2, 4]
    assert way == 1


def test_numbers_beside_arrays_are_variables() -> None:
    a, at = np.arange(24.0).reshape(2, 3, 4), np.array([0, 2, 3])
    for index in ((0, slice(None), rows), (slice(1, None), 0, rows)):
        node = x[index].owner
        found = get_idx_list(node.inputs, node.op.idx_list)
        assert [getattr(e, "ndim", None) for e in found if not isinstance(e, slice)] == [0, 1]
        want = a[tuple([at if e is rows else e for e in index])]
        np.testing.assert_array_equal(x[found].eval({x: a, rows: at}), want)
    assert get_idx_list(x[0].owner.inputs, x[0].owner.op.idx_list) == (0,)
