"""The size of gradients, and the time to build them: linear, and not limited by recursion."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import ancestors, toposort
from tests.growth import exponent


def test_a_long_chain():
    x = pt.dscalar("x")
    y = x
    for _ in range(100_000):
        y = pt.sin(y)
    g = grad(y, x)
    assert sum(1 for _ in ancestors([g])) > 100_000


def test_what_is_written_twice_is_one():
    """One way back through what is equal; but what is wanted by itself is nothing else."""
    a, w = pt.matrix("a"), pt.vector("w")

    def built(one, two):
        return grad((pt.exp(one) / (1 + pt.cos(two))).sum(), w)

    z = pt.dot(a, w)
    twice, once = built(pt.dot(a, w), pt.dot(a, w)), built(z, z)
    assert equal_computations([twice], [once])
    dots = [node for node in toposort([twice]) if node.op == z.owner.op]
    assert len(dots) == 2 + 1  # twice there, once back
    x = pt.dscalar("x")
    one, two = pt.exp(x), pt.exp(x)
    at_one, at_x = grad(one * two, [one, x])
    assert evaluate([at_one, at_x], {x: 2.0}) == pytest.approx([np.exp(2), 2 * np.exp(4)])


def product_nested(n):
    xs = [pt.dscalar() for _ in range(n)]
    out = xs[0]
    for x in xs[1:]:
        out = out * x
    return out, xs


def product(n):
    xs = [pt.dscalar() for _ in range(n)]
    return pt.mul(*xs), xs


def sum_nested(n):
    xs = [pt.dscalar() for _ in range(n)]
    out = xs[0]
    for x in xs[1:]:
        out = out + x**2
    return out, xs


def many_terms(n):
    x = pt.dscalar()
    return pt.add(*[pt.sin(x * k) for k in range(n)]), [x]


def gathers(n):
    x = pt.dvector()
    return pt.add(*[x[k] ** 2 for k in range(n)]), [x]


def stacked(n):
    xs = [pt.dscalar() for _ in range(n)]
    return (pt.stack(xs) ** 2).sum(), xs


def joined(n):
    xs = [pt.dvector() for _ in range(n)]
    return (pt.concatenate(xs) ** 2).sum(), xs


LONG = [product_nested, product, sum_nested, many_terms, gathers, stacked, joined]


def edges(variables):
    """The size of a graph: how many inputs its nodes have."""
    return sum(len(node.inputs) for node in toposort(variables))


@pytest.mark.parametrize("build", LONG)
def test_gradients_of_long_expressions_are_linear_in_size(build):
    sizes = [50, 400]
    edge_counts = [edges(grad(*build(n))) for n in sizes]
    exponent = np.log(edge_counts[1] / edge_counts[0]) / np.log(sizes[1] / sizes[0])
    assert exponent <= 1.1


@pytest.mark.parametrize("build", LONG)
def test_gradients_of_long_expressions_are_linear_in_time(build):
    assert exponent(lambda n: partial(grad, *build(n)), 100, 1600) <= 1.4  # quadratic is 2


def test_a_deep_shared_graph_is_walked_once():
    x = pt.dscalar("x")
    y = x
    for _ in range(200):
        y = y + y
    assert edges([grad(y, x)]) < 2_000


def test_the_gradient_of_a_product_with_zeros():
    xs = [pt.dscalar() for _ in range(4)]
    values = [2.0, 0.0, 3.0, 5.0]
    got = evaluate(grad(pt.mul(*xs), xs), dict(zip(xs, values, strict=True)))
    assert [float(g) for g in got] == [0, 30, 0, 0]
