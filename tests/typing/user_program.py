"""A program as a user writes it: strict type checkers pass it, and know the type of each result."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check import CheckReport
from rewrite_engine.compile import Function, TensorSharedVariable
from rewrite_engine.explain import Report
from rewrite_engine.loops import scan
from rewrite_engine.tensor import TensorVariable
from rewrite_engine.xtensor import XTensorVariable, xtensor

Array = np.ndarray[Any, np.dtype[Any]]


def logistic_regression() -> tuple[Function[Array], TensorSharedVariable]:
    """Train by gradient descent: shared variables, gradients, updates."""
    x, y = pt.matrix("x"), pt.vector("y")
    assert_type(x, TensorVariable)
    w = rw.shared(np.zeros(3), name="w")
    b = rw.shared(0.0, name="b")
    assert_type(w, TensorSharedVariable)
    assert_type(w.get_value(), Array)
    p = pt.sigmoid(x @ w + b)
    assert_type(p, TensorVariable)
    loss = -pt.mean(y * pt.log(p) + (1 - y) * pt.log1p(-p))
    params = [w, b]
    gradients = rw.grad(loss, params)
    assert_type(gradients, list[TensorVariable])
    assert_type(rw.grad(loss, w), TensorVariable)
    assert_type(rw.grad(loss, (w, b)), tuple[TensorVariable, ...])
    updates = [(v, v - 0.1 * g) for v, g in zip(params, gradients, strict=True)]
    train = rw.function([x, y], loss, updates=updates, name="train")
    assert_type(train, Function[Array])
    assert_type(train(np.ones((2, 3)), np.ones(2)), Array)
    return train, w


def what_functions_return() -> None:
    """One output is an array, several are a list or a dict of arrays."""
    x = pt.dvector("x")
    assert_type(pt.dmatrix("m"), TensorVariable)
    assert_type(pt.vectors("a b"), list[TensorVariable])
    assert_type(rw.function([x], [x + 1, x.sum()])([1.0]), list[Array])
    assert_type(rw.function([x], {"total": x.sum()})([1.0]), dict[str, Array])
    assert_type(rw.function([x], on_unused_input="ignore")([1.0]), None)
    assert_type(rw.function([rw.In(x, name="v")], rw.Out(x.max(), borrow=True)), Function[Array])
    mode = rw.Mode("fast_run").excluding("inplace")
    f = rw.function([x], x[::-1].cumsum(), mode=mode, on_unused_input="ignore")
    assert_type(f.copy(), Function[Array])


def operators_and_methods() -> None:
    """Everything that is computed from variables is one."""
    x = pt.tensor("x", dtype="float32", shape=(None, 3))
    n = pt.iscalar("n")
    assert_type(x + 1, TensorVariable)
    assert_type(2.0 / x, TensorVariable)
    assert_type(np.ones(3) * x, TensorVariable)
    assert_type(x[0, n:], TensorVariable)
    assert_type(x.T @ x, TensorVariable)
    assert_type(x.sum(axis=0, keepdims=True), TensorVariable)
    assert_type(x.astype("float64").reshape((-1,)), TensorVariable)
    assert_type(x.shape, TensorVariable)
    assert_type(x.type.shape, tuple[int | None, ...])
    assert_type(x.exp(), TensorVariable)
    assert_type(x > 0, TensorVariable)
    assert_type(x[0].set(1.0), TensorVariable)
    assert_type(pt.softplus(x), TensorVariable)
    assert_type(pt.exp(x, name="e"), TensorVariable)
    assert_type(pt.where(x > 0, x, 0.0), TensorVariable)
    assert_type(pt.stack([x, 2 * x]), TensorVariable)
    assert_type(pt.split(x, [1, 2], axis=1), list[TensorVariable])
    assert_type(pt.zeros((3, n)), TensorVariable)
    assert_type(rw.ifelse(pt.gt(n, 0), x, 2 * x), TensorVariable)
    assert_type(rw.assume(x, finite=True), TensorVariable)
    assert_type(rw.clone_replace(x.sum(), {n: n + 1}), TensorVariable)


def parts_of_the_library() -> None:
    """Linear algebra, random numbers, loops, named dimensions, reports."""
    a = pt.dmatrix("a")
    assert_type(pt.linalg.solve(a, a[0]), TensorVariable)
    assert_type(pt.linalg.eigh(a).eigenvalues, TensorVariable)
    assert_type(pt.linalg.svd(a, compute_uv=False), TensorVariable)
    sign, logdet = pt.linalg.slogdet(a)
    assert_type(sign * logdet, TensorVariable)
    assert_type(pt.random.normal(0.0, 1.0, size=(3,)), TensorVariable)
    assert_type(pt.random.gamma(1.0, scale=2.0, size=(3,)), TensorVariable)
    assert_type(pt.random.RandomStream(1).uniform(size=(2,)), TensorVariable)
    assert_type(pt.signal.convolve1d(a[0], a[1]), TensorVariable)
    assert_type(pt.special.logsumexp(a, axis=-1), TensorVariable)
    assert_type(pt.jacobian(a.sum(axis=0), a), TensorVariable)

    def step(value: TensorVariable, total: TensorVariable) -> TensorVariable:
        return value + total

    totals, updates = scan(step, sequences=a[0], outputs_info=pt.constant(0.0))
    assert_type(totals, TensorVariable)
    rw.function([a], totals, updates=updates)
    named = xtensor("t", dims=("city", "year"))
    assert_type((named * 2).sum("year"), XTensorVariable)
    assert_type(rw.pp(a.sum()), str)
    assert_type(rw.explain(a.sum()), Report)
    assert_type(rw.check(doubled, fast=True), CheckReport)


@rw.as_op(itypes=[pt.dvector], otypes=[pt.dvector])
def doubled(v: Array) -> Array:
    """An op made of a function on values."""
    return 2 * v


if __name__ == "__main__":
    train, w = logistic_regression()
    train(np.ones((2, 3)), np.ones(2))
    what_functions_return()
    operators_and_methods()
    parts_of_the_library()
    doubled(pt.dvector("v")).eval({"v": w.get_value()})
