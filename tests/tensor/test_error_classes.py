"""Errors are of the builtin classes that the same mistake has in PyTensor and in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.gradient import Lop, Rop, hessian, jacobian
from rewrite_engine.tensor.flow.raise_op import Assert

x, m, s, n = pt.dvector("x"), pt.dmatrix("m"), pt.dscalar("s"), pt.lscalar("n")
z = pt.zvector("z")
MASKED = np.ma.array([1, 2], mask=[False, True])


@rw.as_op([pt.dvector], [pt.dvector])
def doubled(x: Any) -> Any:
    """An op without a gradient."""
    return 2 * x


class Overwriting(rw.Op):
    """An op that adds 1 to its input."""

    destroy_map = {0: [0]}
    itypes = otypes = [pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.add(inputs[0], 1, out=inputs[0])


class Wrong(rw.Op):
    """An op whose gradient is what is given."""

    def __init__(self, terms: Any) -> None:
        self.terms = terms

    def make_node(self, x: Any) -> rw.Apply:
        return rw.Apply(self, [x], [x.type()])

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return self.terms


MISTAKES: list[tuple[type[Exception], Callable[[], Any]]] = [
    (TypeError, lambda: pt.as_tensor(object())),
    (NotImplementedError, lambda: pt.as_tensor(None)),
    (NotImplementedError, lambda: pt.as_tensor("a")),
    (NotImplementedError, lambda: pt.constant(MASKED)),
    (NotImplementedError, lambda: pt.as_tensor(MASKED)),
    (NotImplementedError, lambda: x + MASKED),
    (ValueError, lambda: pt.as_tensor([[1], [1, 2]])),
    (ValueError, lambda: pt.as_tensor_variable(m, ndim=1)),
    (ValueError, lambda: pt.constant(np.ones((2, 2)), ndim=1)),
    (ValueError, lambda: pt.diag(pt.dtensor3())),
    (ValueError, lambda: pt.matmul(s, s)),
    (ValueError, lambda: pt.linalg.det(x)),
    (ValueError, lambda: hessian(x, x)),
    (ValueError, lambda: pt.pad(x, 1, mode="foo")),
    (TypeError, lambda: rw.function([x], Overwriting()(x))),
    (ValueError, lambda: Overwriting()(x, x)),
    (ValueError, lambda: rw.OpFromGraph([x, s], [x * s])(x)),
    (TypeError, lambda: pt.TensorType("float64")),
    (TypeError, lambda: pt.dvectors("x", 3.5)),
    (TypeError, lambda: pt.as_tensor_variable(x == 1)),
    (TypeError, lambda: rw.grad(None, x, known_grads=[x])),
    (ValueError, lambda: rw.function([x], x, mode="foo")),
    (TypeError, lambda: rw.function([x], x, foo=1)),
    (TypeError, lambda: pt.sum(m, axis=1.5)),
    (TypeError, lambda: pt.cumsum(m, axis=1.5)),
    (TypeError, lambda: m.dimshuffle("y", 0)),
    (ValueError, lambda: pt.sum(m, axis=2)),
    (IndexError, lambda: pt.sort(m, axis=2)),
    (ValueError, lambda: pt.specify_shape(m, (2,))),
    (AssertionError, lambda: pt.specify_shape(m, (2, 2)).eval({m: np.ones((2, 3))})),
    (AssertionError, lambda: pt.specify_broadcastable(m, 0).eval({m: np.ones((2, 3))})),
    (AssertionError, lambda: pt.specify_shape(x, (n,)).eval({x: np.ones(2), n: 3})),
    (AssertionError, lambda: Assert("no")(s, s > 5).eval({s: 1.0})),
    (ZeroDivisionError, lambda: pt.arange(0, 5, n).eval({n: 0})),
    (IndexError, lambda: x[5].eval({x: np.ones(2)})),
    (ValueError, lambda: pt.max(x).eval({x: np.ones(0)})),
    (ValueError, lambda: list(x)),
    (TypeError, lambda: list(x)),
    (TypeError, lambda: len(x)),
    (TypeError, lambda: bool(x)),
    (ValueError, lambda: rw.function([x], x)("a")),
    (TypeError, lambda: rw.function([x], x)({})),
    (TypeError, lambda: rw.function([x], x)(None)),
    (NotImplementedError, lambda: rw.grad(doubled(x).sum(), x)),
    (NotImplementedError, lambda: Rop(doubled(x), x, x)),
    (NotImplementedError, lambda: jacobian(doubled(x), x)),
    (TypeError, lambda: rw.grad(Wrong([None])(x).sum(), x)),
    (TypeError, lambda: rw.grad(Wrong(None)(x).sum(), x)),
    (ValueError, lambda: rw.grad(Wrong([])(x).sum(), x)),
    (ValueError, lambda: rw.grad(Wrong([s])(x).sum(), x)),
    (TypeError, lambda: rw.grad(Wrong([pt.lvector()])(x).sum(), x)),
    (ValueError, lambda: Rop([x**2], [x], [x, x])),
    (AssertionError, lambda: Lop([x**2], [x], [x, x])),
    (AssertionError, lambda: rw.grad(z.sum(), z)),
    (AssertionError, lambda: jacobian(z, z)),
]


@pytest.mark.parametrize("which", range(len(MISTAKES)))
def test_class(which: int) -> None:
    wanted, mistake = MISTAKES[which]
    with pytest.raises(wanted) as caught:
        mistake()
    assert isinstance(caught.value, RewriteEngineError | AssertionError)
