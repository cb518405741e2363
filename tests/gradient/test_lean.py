"""What a gradient does not need is not computed; how many nodes are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import graphs
from rewrite_engine import grad
from rewrite_engine.errors import ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.graph.node import Variable


def heads(f: Any) -> list[str]:
    """The ops of a compiled function, without their parameters."""
    return sorted([str(node.op).partition("{")[0] for node in f.fgraph.toposort()])


def compiled(cost: Callable[..., Any], *inputs: Any) -> Any:
    """The gradient by the first input, compiled."""
    return rw.function([*inputs], grad(cost(*inputs), inputs[0]), on_unused_input="ignore")


X, Y = pt.dvectors("x", "y")
A, B = pt.dmatrices("a", "b")

LEFT: list[tuple[Callable[..., Any], list[Any], list[str]]] = [
    (lambda x: (pt.exp(x) * 2).sum(), [X], ["exp", "mul"]),
    (lambda x: pt.log(x).sum(), [X], ["true_div"]),
    (lambda x: (pt.sqr(x) + pt.exp(x)).sum(), [X], ["add", "exp", "mul"]),
    (lambda x: -pt.exp(x).mean(), [X], ["Cast", "Shape_i", "exp", "mul", "true_div"]),
    (lambda x: pt.log(x)[0], [X], ["IncSubtensor", "Subtensor", "second", "true_div"]),
    (lambda x: pt.join(0, x, [1.0]).sum(), [X], ["second"]),
    (lambda a: pt.exp(a).sum(axis=0).sum(), [A], ["exp"]),
    (lambda a: (3 * a.T).sum(), [A], ["Alloc", "Shape_i", "Shape_i"]),
]


@pytest.mark.parametrize(("cost", "inputs", "want"), LEFT, ids=range(len(LEFT)))
def test_only_what_is_needed_is_left(cost: Any, inputs: list[Variable], want: list[str]) -> None:
    assert heads(compiled(cost, *inputs)) == want


COSTS: list[tuple[Callable[..., Any], list[Any], set[str]]] = [
    (lambda a, b: pt.dot(a, b).sum(), [A, B], {"Alloc", "dot"}),
    (lambda x, y: (pt.sin(x) + y).sum(), [X, Y], {"Alloc", "CheckedLength", "cos", "mul"}),
    (lambda x, y: pt.outer(pt.sin(x), y).sum(), [X, Y], {"cos", "mul", "Sum", "Alloc"}),
    (lambda x, y: pt.join(0, pt.sin(x), pt.exp(y)).sum(), [X, Y], {"cos"}),
    (lambda x, a: (x + a.sum(axis=0)).sum(), [X, A], {"Alloc", "CheckedLength"}),
    (lambda x, y: pt.exp(y)[1:][x.shape[0] :].sum() + x.sum(), [X, Y], {"second"}),
]


@pytest.mark.parametrize(("cost", "inputs", "some"), COSTS, ids=range(len(COSTS)))
def test_nothing_is_computed_for_its_shape(cost: Any, inputs: Any, some: set[str]) -> None:
    """Of the elementwise ops, products and sums of the cost only those are left whose values the
    gradient has.
    """
    f = compiled(cost, *inputs)
    lengths = {"Shape_i", "add", "sub", "DropDims", "ExpandDims", "Transpose", "maximum"}
    assert some <= {*heads(f)} <= some | lengths | {"minimum", "switch", "lt", "CheckedLength"}
    rng = np.random.default_rng(0)
    verify_grad(cost, [rng.normal(size=(3,) * v.type.ndim) for v in inputs])


@pytest.mark.parametrize(
    ("cost", "inputs", "shapes"),
    [
        (lambda x, y: (x + y).sum(), [X, Y], [(3,), (2,)]),
        (lambda x, y: (pt.sin(x) * 2 + y).sum(), [X, Y], [(3,), (1,)]),
        (lambda a, b: pt.dot(a, b).sum(), [A, B], [(2, 3), (2, 3)]),
        (lambda x, a: (x + pt.exp(a).sum(axis=0)).sum(), [X, A], [(3,), (3, 2)]),
    ],
)
def test_lengths_that_do_not_fit_are_still_errors(cost: Any, inputs: Any, shapes: Any) -> None:
    with pytest.raises(ShapeError):
        compiled(cost, *inputs)(*map(np.ones, shapes))


#: the nodes that PyTensor 3.0.7 leaves (fast_run, no fusion, nothing in place)
NODES = [(graphs.radon, 85, 136), (graphs.large_fuseable, 25, 189), (graphs.mlp, 32, 411)]


@pytest.mark.parametrize(("graph", "n", "pytensor"), NODES)
def test_no_more_nodes_are_left_than_by_pytensor(graph: Any, n: int, pytensor: int) -> None:
    f = rw.function(*graph(pt, grad, n))
    assert len(f.fgraph) <= pytensor


def test_what_is_left_of_radon() -> None:
    """Counted, so that one more is seen."""
    inputs, outputs = graphs.radon(pt, grad, 85)
    f = rw.function(inputs, outputs)
    assert Counter(heads(f)) == {
        "mul": 20, "add": 19, "sub": 15, "true_div": 13, "Sum": 10, "sqr": 8, "Subtensor": 7,
        "switch": 6, "ExpandDims": 5, "Join": 3, "exp": 3, "ge": 3, "AdvancedSubtensor": 2,
        "neg": 3, "AdvancedIncSubtensor": 2, "Split": 2, "second": 2, "dot": 3, "MakeVector": 1,
    }  # fmt: skip
    at = np.linspace(-1, 1, 173)
    plain = rw.function(inputs, outputs, mode="fast_compile")
    for found, wanted in zip(f(at), plain(at), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_what_is_filled_is_stretched_as_types_say() -> None:
    """A length that only the shape says to be 1: without it nothing would be stretched."""
    x, y = pt.dmatrices("x", "y")
    filled = pt.alloc(x, 2, 1, 3)
    f = rw.function([x, y], pt.maximum(y - filled, filled))
    a, b = np.array([[0.5, -1.0, 2.0]]), np.arange(6.0).reshape(2, 3)
    wide = np.broadcast_to(a, (2, 1, 3))
    np.testing.assert_array_equal(f(a, b), np.maximum(b - wide, wide))
    with pytest.raises(ShapeError):
        f(b, b)


@pytest.mark.parametrize("lengths", [(3, 3), (0, 3)])
def test_sums_of_what_is_filled_keep_their_types(lengths: tuple[int, int]) -> None:
    """The vector does not say how long it is; what is filled with it does."""
    x = pt.dvector("x")
    filled = pt.alloc(x, *lengths)
    f = rw.function([x], [filled.sum(axis=0), filled])
    a = np.array([1.0, 2.0, 3.0])
    wide = np.broadcast_to(a, lengths)
    for got, wanted in zip(f(a), [wide.sum(axis=0), wide], strict=True):
        np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ShapeError):
        f(a[:2])


def test_what_is_filled_may_have_more_dimensions_than_its_shape() -> None:
    x, y = pt.dvector("x"), pt.tensor("y", shape=(1, 1))
    f = rw.function([x, y], pt.second(x, y)[:, None])
    got = f(np.zeros(3), np.array([[2.0]]))
    np.testing.assert_array_equal(got, np.full((1, 1, 3), 2.0))
