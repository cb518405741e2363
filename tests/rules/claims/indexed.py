"""Terms for rules of indexes, and of sums and products of matrices. (`terms.py` has the others.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.tensor import Eye, Join, MakeVector, Reshape, Tri
from rewrite_engine.tensor.index.template import Slice

Terms = dict[str, list[Callable[[Any], Any]]]


def f(m: Any, name: str, *shape: int | None) -> Any:
    """Return a variable of 64 bits: rules of sums need one precision."""
    return pt.tensor(name, dtype="float64", shape=shape)


#: terms for the rules of `rules/indexing`
INDEXED: Terms = {
    "index_of_elementwise": [
        lambda m: pt.exp(m.v("x", None, None))[0],
        lambda m: (m.v("x", None, 3) + m.v("y", None, 1))[1:3, -1],
        lambda m: (m.v("x", None) * m.v("y", None))[-1],
        lambda m: pt.second(m.v("x", None, None), m.v("s"))[1],
        lambda m: (m.v("x", 1, None) - m.v("y", 1, None))[:1, :2],
        lambda m: pt.sqr(m.v("x", None))[:2, None],
    ],
    "gather_of_elementwise": [
        lambda m: pt.exp(m.v("x", None, None))[pt.constant([0, 1]), pt.constant([1, 0])],
        lambda m: (m.v("x", 4, 3) * m.v("s"))[pt.constant([1])],
        lambda m: (m.v("x", 4, 3) - m.v("y", 3))[pt.constant([1, -1])],
    ],
    "index_of_reordered": [
        lambda m: pt.sin(m.v("x", None, None)).T[0],
        lambda m: m.v("x", None)[:, None][1:, 0],
        lambda m: pt.sin(m.v("x", None))[None, :, None][0, :2],
    ],
    "index_of_reduction": [
        lambda m: m.v("x", None, None).sum(axis=1)[0],
        lambda m: m.v("x", None, 2, 3).prod(axis=1)[:2, 1],
        lambda m: m.v("x", None, None).max(axis=0, keepdims=True)[0, -1],
        lambda m: pt.special.softmax(m.v("x", None, None), axis=1)[0],
        lambda m: m.v("x", None, None).any(axis=1)[:1],
    ],
    "index_along_another_axis": [
        lambda m: pt.sort(m.v("x", None, None), axis=1)[0],
        lambda m: pt.cumsum(m.v("x", None, None), axis=0)[:, -1],
    ],
    "index_of_dot": [
        lambda m: (m.v("x", None, None) @ m.v("y", None, None))[1, -1],
        lambda m: (m.v("x", None, None) @ m.v("y", None))[:2],
        lambda m: (m.v("x", None) @ m.v("y", None, None))[0],
    ],
    "index_of_matmul": [
        lambda m: (m.v("x", None, 2, 3) @ m.v("y", 3, None))[0],
        lambda m: (m.v("x", None, 2, 3) @ m.v("y", None, 3, 4))[1, -1, :2],
        lambda m: (m.v("x", 1, 2, 3) @ m.v("y", None, 3, 4))[:1, :, 2],
    ],
    "index_of_join": [
        lambda m: pt.join(0, m.v("x", 3), m.v("y", None))[1],
        lambda m: pt.join(0, m.v("x", None), m.v("y", None))[-2:],
        lambda m: pt.join(0, x := m.v("x", None), m.v("y", None))[x.shape[0] :],
        lambda m: pt.join(0, x := m.v("x", None), m.v("y", None))[: x.shape[0]],
        lambda m: pt.stack([m.v("x", None), m.v("y", None)])[1],
        lambda m: Join(1)(m.v("x", None, None), m.v("y", None, None))[0],
        lambda m: pt.join(0, m.v("x", 3), m.v("y", 2), m.v("z", 4))[4:6],
        lambda m: pt.join(0, m.v("x", None), m.v("y", None))[0],
    ],
    "slice_of_vector": [
        lambda m: MakeVector("float64")(m.v("s"), m.v("t"), m.c())[1:],
        lambda m: MakeVector("float64")(m.v("s"), m.v("t"), m.c())[::-1],
    ],
    "index_by_constants": [
        lambda m: pt.Subtensor(("i",))(m.v("x", None), pt.constant(1)),
        lambda m: pt.Subtensor((Slice("i", None, "i"),))(
            m.v("x", None), pt.constant(-1), pt.constant(-2)
        ),
    ],
    "index_of_index": [
        lambda m: m.v("x", None)[1:][:2],
        lambda m: m.v("x", None)[::-1][1],
        lambda m: m.v("x", None)[::-1][:2],
        lambda m: m.v("x", None)[::-1][-2:],
        lambda m: m.v("x", None)[:-1][-2],
        lambda m: m.v("x", 5)[3:0:-1][::2],
        lambda m: m.v("x", 5)[1:4][-1],
        lambda m: m.v("x", None)[1:][::2],
        lambda m: m.v("x", None)[::2][1:3],
        lambda m: m.v("x", None)[1:4][:2],
        lambda m: m.v("x", None)[1:][:-1],
        lambda m: m.v("x", None)[-3:][-2:],
        lambda m: m.v("x", None)[-3:][-2],
        lambda m: m.v("x", None, None)[1:][0, :1, None],
    ],
    "read_what_was_written": [
        lambda m: m.v("x", None)[1].set(m.c())[1],
        lambda m: m.v("x", None)[1].set(m.c())[2],
        lambda m: m.v("x", None)[-1].set(m.c())[-2],
        lambda m: (x := m.v("x", None))[:2].inc(x[:2])[:2],
        lambda m: m.v("x", 4)[1].set(m.c())[2:],
        lambda m: m.v("x", 4, None)[0].set(m.c())[1:3, None],
        lambda m: (x := m.v("x", None, 3))[0].set(x[1])[0],
    ],
    "index_of_running_sum": [
        lambda m: pt.cumsum(m.v("x", None))[-1],
        lambda m: pt.cumsum(m.v("x", 4))[2],
        lambda m: pt.cumsum(m.v("x", None))[0],
        lambda m: pt.cumprod(m.v("x", None, None), axis=1)[:, 0],
        lambda m: pt.cumprod(m.v("x", None, None), axis=0)[1],
        lambda m: pt.cumsum(m.v("x", None))[:2],
        lambda m: pt.cumsum(m.v("x", None, None), axis=1)[:, -2],
    ],
    "end_of_sorted": [
        lambda m: pt.sort(m.v("x", None))[-1],
        lambda m: pt.sort(m.v("x", None))[0],
        lambda m: pt.sort(m.v("x", None, None), axis=1)[:, 0],
        lambda m: pt.sort(m.v("x", None, None), axis=0)[-1],
    ],
    "item_of_range": [
        lambda m: pt.arange(m.v("x", None).shape[0])[2],
        lambda m: pt.arange(1, m.v("x", None).shape[0], 2)[-1],
        lambda m: pt.arange(m.v("x", None).shape[0], dtype="float64")[1],
    ],
    "row_of_unit_matrix": [
        lambda m: Eye("float64")(m.v("x", None).shape[0], 3, 1)[1],
        lambda m: Tri()(m.v("x", None).shape[0], 3, -1)[2, 1],
        lambda m: Eye("int8")(n := m.v("x", None).shape[0], n, 0)[:, -1],
    ],
    "item_of_filled": [
        lambda m: pt.alloc(m.v("s"), m.v("x", None).shape[0], 3)[1],
        lambda m: pt.alloc(m.v("y", 3), m.v("x", None).shape[0], 3)[-1, 1],
        lambda m: pt.alloc(m.v("y", None), 2, m.v("x", None).shape[0])[1],
        lambda m: pt.alloc(m.v("y", None), 2, m.v("x", None).shape[0])[1, 0],
    ],
    "item_of_flattened": [
        lambda m: pt.sin(m.v("x", None, 3)).flatten()[4],
        lambda m: pt.sin(m.v("x", None, None)).flatten()[-2],
        lambda m: Reshape((6,))(pt.sin(m.v("x", 2, 3)))[3],
    ],
}
#: terms for the rules of `rules/products.py` and `rules/sums.py`
MULTIPLIED: Terms = {
    "sum_of_product": [
        lambda m: (m.v("x", None, None) @ m.v("y", None, None)).sum(),
        lambda m: (m.v("x", None, None) @ m.v("y", None, None)).sum(axis=0),
        lambda m: (m.v("x", None, None) @ m.v("y", None, None)).sum(axis=1, keepdims=True),
        lambda m: (m.v("x", None, 2, 3) @ m.v("y", None, 3, 4)).sum(axis=(1, 2)),
        lambda m: (m.v("x", 2, 2, 3) @ m.v("y", 3, 4)).sum(axis=-1),
    ],
    "diagonal_of_product": [
        lambda m: pt.diagonal(m.v("x", None, None) @ m.v("y", None, None)),
        lambda m: pt.diagonal(m.v("x", 2, 3) @ m.v("y", 3, 2)),
        lambda m: pt.diagonal((x := m.v("x", None, None)) @ pt.cos(x).T),
        lambda m: pt.diagonal(m.v("x", 3, 2, 4) @ m.v("y", 4, 2), axis1=1, axis2=2),
    ],
    "trace_of_turned_product": [
        lambda m: pt.trace(m.v("x", None, None).T @ m.v("y", None, None)),
        lambda m: pt.trace(m.v("x", 2, 3) @ m.v("y", 2, 3).T),
        lambda m: pt.trace((x := pt.cos(m.v("x", 2, None))).T @ x),
    ],
    "product_with_equal_rows": [
        lambda m: pt.alloc(m.v("s"), 3, m.v("x", None).shape[0]) @ m.v("y", None, None),
        lambda m: m.v("y", None, None) @ pt.alloc(m.v("s"), m.v("x", None).shape[0], 3),
        lambda m: m.v("y", None) @ pt.alloc(m.v("x", None, 1), m.v("y", None).shape[0], 3),
        lambda m: pt.alloc(m.v("x", 2), 3, 2) @ m.v("y", 2),
    ],
    "turned_sum_times_vector": [
        lambda m: ((x := m.v("x", None, None)) + x.T) @ m.v("y", None),
        lambda m: m.v("z", None) @ (m.v("x", None, None).T + m.v("y", None, None)),
        lambda m: (m.v("x", 2, 3).T + m.v("y", 3, 2)) @ m.v("z", 2),
    ],
    "trace_of_product": [
        lambda m: pt.trace(m.v("x", None, None) @ m.v("y", None, None)),
        lambda m: pt.trace(m.v("x", 2, 3) @ m.v("y", 3, 2)),
    ],
    "chain_of_products": [
        lambda m: m.v("x", None, None) @ m.v("y", None, None) @ m.v("z", None),
        lambda m: m.v("x", None) @ (m.v("y", None, None) @ m.v("z", None, None)),
        lambda m: m.v("x", 4, 2) @ m.v("y", 2, 4) @ m.v("z", 4, 1),
        lambda m: m.v("x", None, None) @ m.v("y", None, None) @ m.v("z", None)[:, None],
    ],
    "common_matrix": [
        lambda m: (a := m.v("x", None, None)) @ m.v("y", None) + a @ m.v("z", None),
        lambda m: m.v("y", None) @ (a := m.v("x", None, None)) - m.v("z", None) @ a,
        lambda m: (a := m.v("x", None, None)) @ m.v("y", None, None) - a @ m.v("z", None, None),
    ],
    "sum_of_elementwise_product": [
        lambda m: (f(m, "x", None) * f(m, "y", None)).sum(),
        lambda m: (f(m, "x", None, None) * f(m, "y", None)).sum(axis=1),
        lambda m: (f(m, "x", None, None) * f(m, "y", None)[:, None]).sum(axis=0),
        lambda m: (f(m, "x", None, None)[:, :, None] * f(m, "y", None, None)[None]).sum(axis=1),
        lambda m: (f(m, "x", None, None) * f(m, "y", None, None)).sum(),
        lambda m: pt.mul(f(m, "x", None), f(m, "y", None), f(m, "z", None), f(m, "s")).sum(),
        lambda m: (f(m, "x", 2, 3, None) * f(m, "y", 3, 1)).sum(axis=1),
    ],
    "factor_of_sum": [
        lambda m: (f(m, "x", None, None) * f(m, "y", None)[:, None]).sum(axis=1),
        lambda m: (f(m, "x", None, None) / f(m, "y", None)).sum(axis=0),
        lambda m: (f(m, "s") * f(m, "x", None, None)).sum(),
        lambda m: pt.outer(f(m, "x", None), f(m, "y", None)).sum(),
        lambda m: (f(m, "x", None, 1) * f(m, "y", None)).sum(axis=0, keepdims=True),
        lambda m: (f(m, "x", None, 1, 1) * f(m, "y", None, 1) * f(m, "z", None)).sum((0, 2)),
    ],
    "variance_by_squares": [
        lambda m: pt.sqr(x := pt.sin(m.v("x", 4))).sum() / 4 - pt.sqr(x.sum() / 4),
        lambda m: pt.sqr(x := m.v("x", None, 3)).sum(axis=1) / 3 - pt.sqr(x.sum(axis=1) / 3),
    ],
    "difference_of_finite_sums": [
        lambda m: pt.diff(pt.cumsum(pt.cast(m.v("x", None), "int64"))),
        lambda m: pt.diff(pt.cumsum(pt.cast(m.v("x", 2, None), "int64"), axis=1)),
    ],
    "difference_of_running_sums": [
        lambda m: pt.diff(pt.cumsum(m.v("x", None))),
        lambda m: pt.diff(pt.cumsum(m.v("x", 2, None), axis=1)),
    ],
    "flattened_vector": [lambda m: Reshape((-1,))(m.v("x", None))],
}
