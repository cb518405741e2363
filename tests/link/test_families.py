"""Reductions, views, indexing, joins, products, creation on the VM against their own `perform`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.tensor.reduce import CAReduce
from tests.link.reference import link, reference

x = pt.tensor(dtype="float64", shape=(None, None, 3), name="x")
m, n = pt.matrix("m"), pt.matrix("n")
v, w = pt.vector("v"), pt.vector("w")
b = pt.tensor(dtype="bool", shape=(None, None), name="b")
i, j = pt.lscalar("i"), pt.lscalar("j")
k = pt.lvector("k")

VALUES = {
    x: np.random.default_rng(0).normal(size=(2, 4, 3)),
    m: np.random.default_rng(1).normal(size=(3, 4)),
    n: np.random.default_rng(2).normal(size=(4, 3)),
    v: np.random.default_rng(3).normal(size=4),
    w: np.random.default_rng(4).normal(size=4),
    b: np.random.default_rng(5).integers(0, 2, (3, 4)).astype(bool),
    i: np.array(1),
    j: np.array(2),
    k: np.array([2, 0, 2]),
}

CASES = {
    "sum": lambda: x.sum(),
    "sum axis": lambda: x.sum(axis=1),
    "sum axes": lambda: x.sum(axis=(0, 2)),
    "sum keepdims": lambda: x.sum(axis=-1, keepdims=True) + x,
    "sum of bool": lambda: b.sum(axis=0),
    "sum dtype": lambda: pt.sum(m, dtype="float32"),
    "sum acc_dtype": lambda: pt.sum(pt.cast(m, "float32"), acc_dtype="float64", axis=0),
    "sum of a number": lambda: i.sum(),
    "prod": lambda: pt.prod(m, axis=0),
    "max": lambda: x.max(axis=(1,)),
    "min": lambda: m.min(),
    "all": lambda: b.all(axis=1),
    "any": lambda: b.any(),
    "xor": lambda: CAReduce(scalar.xor, axis=0)(b),
    "argmax": lambda: m.argmax(axis=1),
    "argmax all": lambda: m.argmax(),
    "argmax two": lambda: pt.argmax(x, axis=(0, 2)),
    "argmin keepdims": lambda: pt.argmin(m, axis=0, keepdims=True),
    "mean": lambda: m.mean(axis=0),
    "cumsum": lambda: pt.cumsum(m, axis=1) * m,
    "softmax": lambda: pt.softmax(m, axis=1) + m,
    "log_softmax": lambda: pt.log_softmax(m, axis=0),
    "transpose": lambda: m.T,
    "transpose3": lambda: x.dimshuffle(1, 2, 0),
    "expand": lambda: v.dimshuffle("x", 0, "x") * x[:, :, :1],
    "expand number": lambda: (i * 2).dimshuffle("x", "x"),
    "drop": lambda: m[:1].dimshuffle(1),
    "drop static": lambda: m.sum(axis=0, keepdims=True).dimshuffle(1),
    "reshape": lambda: m.reshape((2, -1)),
    "reshape 0-d": lambda: v[:1].reshape(()),
    "reshape by shape": lambda: m.reshape((n.shape[0], n.shape[1])) + n,
    "reshape by value": lambda: m.reshape((i * 2, -1)),
    "flatten": lambda: x.flatten(),
    "shape": lambda: x.shape * 2,
    "shape_i": lambda: m.shape[0] + 1,
    "specify": lambda: pt.specify_shape(m, (3, None)) * 2,
    "index": lambda: m[0],
    "index number": lambda: m[1, -1] * 2,
    "index input": lambda: m[i, j],
    "slices": lambda: x[::-1, 1:3, ::2],
    "slice input": lambda: m[i:, :j] * 2,
    "newaxis": lambda: m[:, None, 1:],
    "whole": lambda: m[...] + 1,
    "gather": lambda: m[k],
    "mask": lambda: m[b],
    "set": lambda: m[0].set(1.0),
    "set all": lambda: m[...].set(1.0) * m,
    "inc all": lambda: m[:].inc(m),
    "set part": lambda: m[1:].set(m[:-1]),
    "set broadcast": lambda: m[:, 1:2].set(m.sum(axis=1, keepdims=True)),
    "set element": lambda: m[i, 0].set(v[0]),
    "set newaxis": lambda: m[None, 1].set(v.dimshuffle("x", 0)),
    "inc": lambda: m[:, i].inc(1.0),
    "inc part": lambda: m[:, 0].inc(m[:, 1]),
    "inc element": lambda: v[1].inc(v[0]),
    "inc gather": lambda: m[k].inc(1.0),
    "join": lambda: pt.join(1, m, m * 2),
    "join mixed": lambda: pt.join(0, v, k),
    "stack": lambda: pt.stack([v, w]),
    "make_vector": lambda: pt.stack([v[0], v.sum(), 1.0]),
    "split": lambda: pt.split(v, [1, 3], 2)[1],
    "dot": lambda: pt.dot(m, n),
    "dot vector": lambda: pt.dot(m, v) + 1,
    "dot number": lambda: pt.dot(v, w) * 2,
    "dot mixed": lambda: pt.dot(m, pt.cast(n, "float32")),
    "matmul": lambda: x @ x.dimshuffle(0, 2, 1),
    "zeros": lambda: pt.zeros((m.shape[0], 2)) + 1,
    "zeros_like": lambda: pt.zeros_like(m) + m,
    "alloc": lambda: pt.alloc(v[0], 2, i + 1),
    "alloc row": lambda: pt.alloc(v, 2, v.shape[0]),
    "full number": lambda: pt.full((), i),
    "arange": lambda: pt.arange(i, 5) * 2,
    "eye": lambda: pt.eye(3) + 1,
}  # fmt: skip


def roots(out: Any) -> list[Any]:
    from rewrite_engine.graph.traverse import explicit_graph_inputs

    return list(explicit_graph_inputs([out]))


@pytest.mark.parametrize("name", CASES)
def test_like_perform(name: str) -> None:
    out = CASES[name]()
    inputs = roots(out)
    values = {r: VALUES[r].copy() for r in inputs}
    (want,) = reference([out], values)
    linked = link(inputs, [out, out])
    for got in linked.call(*values.values()):
        assert type(got) is np.ndarray
        assert (got.dtype, got.shape) == (want.dtype, want.shape), linked.source
        np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == "float32" else 1e-13)
        assert not any(np.shares_memory(got, value) for value in values.values())
    for r, value in values.items():
        np.testing.assert_array_equal(value, VALUES[r])


def test_lengths_that_are_known_to_be_equal_are_not_compared() -> None:
    sources = [
        link([m], pt.zeros_like(m) + m).source,
        link([m, v], (pt.dot(m, v) + m[:, 0]) * m.sum(axis=1)).source,
        link([m], m.T.T + m).source,
        link([m], m[:, None].sum(axis=1) + m).source,
        link([m, n], pt.join(1, m, n)[:, 0] + m[:, 0]).source,
        link([m], m[1:].set(0.0) + m).source,
    ]
    for source in sources:
        assert "mismatch" not in source, source


def test_a_static_index_is_written_once() -> None:
    linked = link([m, n], m[1:] + n[1:])
    assert linked.source.count("[index]") == 2
