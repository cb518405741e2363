"""Terms for rules of masks by position, and of joined, sorted and reversed elements (`terms.py` has
the others).
"""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.tensor import Softmax
from tests.rules.claims.indexed import Terms, f


def below(x: Any, k: int, axis: int = 0) -> Any:
    """Return a mask of the first elements along an axis."""
    return pt.arange(x.shape[axis]) < k


def at(x: Any, k: int, axis: int = 0) -> Any:
    """Return a mask of one element along an axis."""
    return pt.eq(pt.arange(x.shape[axis]), k)


def one_hot(x: Any) -> Any:
    """Return rows of a unit matrix, one for each row of a matrix."""
    places = pt.tensor("t", dtype="int64", shape=x.type.shape[:1])
    return pt.cast(pt.eye(x.shape[1], dtype=x.type.dtype)[places], x.type.dtype)


#: terms for the rules of `rules/masks.py`
MASKS: Terms = {
    "sum_of_chosen": [
        lambda m: pt.switch(below(x := m.v("x", None), 2), x, 0).sum(),
        lambda m: pt.switch(at(x := m.v("x", None), 1), 0, x).sum(),
        lambda m: pt.switch(below(x := m.v("x", None, None), 1, 1), x, 0).sum(axis=1),
        lambda m: pt.switch(at(x := m.v("x", 3, None), 2)[:, None], x, 0).sum(axis=0),
        lambda m: pt.switch(pt.arange(4) >= 2, m.v("x", 4), 0).sum(keepdims=True),
    ],
    "sum_of_products_with_mask": [
        lambda m: (below(x := m.v("x", None), 2) * x).sum(),
        lambda m: (pt.cast(at(x := m.v("x", None), 1), x.type.dtype) * x).sum(),
        lambda m: (m.v("x", 2, 4) * (pt.arange(4) > 1)).sum(axis=1),
        lambda m: (m.v("x", 4) * m.v("y", 4) * (pt.arange(4) <= 1)).sum(),
    ],
    "sum_of_products_with_one_hot": [
        lambda m: (one_hot(x := m.v("x", None, None)) * x).sum(axis=1),
        lambda m: (one_hot(x := m.v("x", None, 3)) * x * m.c()).sum(axis=1, keepdims=True),
        lambda m: (pt.exp(x := f(m, "x", 4, 3)) * one_hot(x)).sum(),
    ],
    "product_with_mask": [
        lambda m: pt.dot(pt.cast(at(x := m.v("x", None, None), 1), x.type.dtype), x),
        lambda m: pt.dot(x := m.v("x", None, 4), pt.cast(pt.arange(4) < 2, x.type.dtype)),
        lambda m: pt.dot(pt.cast(pt.arange(4) >= 1, "float64"), f(m, "x", 4)),
    ],
}
#: terms for the rules of `rules/arrangement.py`
ARRANGED: Terms = {
    "reduction_of_join": [
        lambda m: pt.join(0, *same(m, None)).sum(),
        lambda m: pt.sqr(pt.join(0, *same(m, None, 2))).sum(axis=1),
        lambda m: pt.join(1, *same(m, 2, 3)).max(axis=1),
        lambda m: pt.join(0, *same(m, 2)).min(keepdims=True),
        lambda m: pt.stack(same(m, None)).sum(axis=0),
        lambda m: (pt.join(0, *same(m, None)) > 0).all(),
        lambda m: pt.join(0, *same(m, 2)).prod(),
        lambda m: pt.join(0, *same(m, 2, None)).prod(axis=1),
    ],
    "square_of_join": [lambda m: pt.dot(x := pt.join(0, *same(m, None)), x)],
    "reduction_of_ordered": [
        lambda m: pt.sort(m.v("x", None)).sum(),
        lambda m: pt.sqr(pt.sort(m.v("x", None, None), axis=1)).sum(axis=1),
        lambda m: pt.sort(m.v("x", 3, None), axis=0).max(axis=0),
        lambda m: m.v("x", None)[::-1].sum(),
        lambda m: m.v("x", None, None)[::-1, ::-1].max(axis=1),
        lambda m: (m.v("x", None)[::-1] > 0).any(),
    ],
    **{
        f"{reduce.__name__}_of_{name}": [
            lambda m, reduce=reduce, line=line: reduce(line(m, m.v("x", None))),
            lambda m, reduce=reduce, line=line: reduce(line(m, m.v("x", 3, None)), axis=1),
            lambda m, reduce=reduce, line=line: reduce(line(m, m.v("x", 2, 3)), keepdims=True),
        ]
        for reduce in (pt.max, pt.min)
        for name, line in {
            "multiple": lambda m, x: pt.exp(m.v("c")) * x,
            "negative_multiple": lambda m, x: -2.5 * x,
            "quotient": lambda m, x: x / pt.exp(m.v("c")),
        }.items()
    },
    "elements_by_positions": [
        lambda m: (x := m.v("x", None))[pt.argsort(x)],
        lambda m: (x := m.v("x", 4))[pt.argsort(x, kind="stable")],
        lambda m: (x := pt.sqr(m.v("x", None)))[pt.argsort(x)],
    ],
    "position_of_probability": [
        lambda m: pt.special.softmax(m.v("x", None, None), axis=1).argmax(axis=1),
        lambda m: pt.special.log_softmax(m.v("x", 3), axis=0).argmax(),
        lambda m: Softmax(axis=None)(m.v("x", 2, 3)).argmax(axis=None, keepdims=True),
    ],
    "sum_of_outer_sum": [
        lambda m: (f(m, "x", None)[:, None] + f(m, "y", None)[None]).sum(),
        lambda m: (f(m, "x", None)[:, None] - f(m, "y", None)[None]).sum(axis=0),
        lambda m: (f(m, "x", None)[:, None] + f(m, "y", None)).sum(axis=1, keepdims=True),
    ],
    "slice_of_range": [
        lambda m: pt.arange(m.v("x", None).shape[0])[2:],
        lambda m: pt.arange(m.v("x", None).shape[0])[::-1],
        lambda m: pt.arange(1, m.v("x", None).shape[0], 2)[-3:-1],
    ],
    "end_of_tile": [
        lambda m: pt.tile(m.v("x", None), 3)[:2],
        lambda m: pt.tile(m.v("x", 3), 4)[-2:],
        lambda m: pt.tile(m.v("x", 3), 2)[1],
    ],
}


def same(m: Any, *shape: int | None) -> list[Any]:
    """Return two variables of one dtype."""
    x = m.v("x", *shape)
    return [x, pt.tensor("y", dtype=x.type.dtype, shape=shape)]
