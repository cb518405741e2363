"""What is made of an op's one shape rule agrees with the values, for ops of all families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    MethodNotDefined,
    ShapeError,
)
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.link.vm.dims import Dims, axes
from rewrite_engine.rules.facts import length
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp, Value, resolve
from rewrite_engine.tensor.type import TensorType

RNG = np.random.default_rng(0)
i, n = pt.lscalar("i"), pt.lscalar("n")
k = pt.lvector("k")
mask = pt.vector("mask", dtype="bool")
FIXED = {i: 1, n: 3, k: [0, 2, 1], mask: [True, False, True]}

#: functions of a 3 × 4 matrix a, a vector v of 4 and one w of 3
CASES = {
    "elementwise": lambda a, v, w: pt.exp(a + v) * w[:, None],
    "one is stretched": lambda a, v, w: a[0][None] + a,
    "reductions": lambda a, v, w: a.sum(axis=0) + a.max(axis=0, keepdims=True)[0],
    "argmax": lambda a, v, w: pt.argmax(a, axis=1, keepdims=True),
    "dimshuffle": lambda a, v, w: a.dimshuffle(1, "x", 0),
    "squeeze": lambda a, v, w: pt.squeeze(a[:1], 0),
    "reshape": lambda a, v, w: a.reshape((2, -1)),
    "reshape by variables": lambda a, v, w: a.reshape((v.shape[0], w.shape[0])),
    "specify": lambda a, v, w: pt.specify_shape(a, (n, 4)),
    "join": lambda a, v, w: pt.join(1, a, w[:, None], a),
    "split": lambda a, v, w: pt.split(v, (i, n), 2)[1],
    "stack": lambda a, v, w: pt.stack([a, a * 2], axis=1),
    "vector": lambda a, v, w: pt.make_vector(i, n),
    "dot": lambda a, v, w: pt.dot(a, v) + pt.dot(w, w),
    "matmul": lambda a, v, w: pt.matmul(a[None], a.T),
    "slices": lambda a, v, w: a[i:, ::-2],
    "steps": lambda a, v, w: v[::i],
    "negative": lambda a, v, w: a[-n:n, None, i],
    "all reversed": lambda a, v, w: a[::-1, ...] + a,
    "set": lambda a, v, w: pt.set_subtensor(a[i:, 1], 0.0),
    "increased": lambda a, v, w: pt.inc_subtensor(a[:, 1:4], w[:, None]),
    "arrays": lambda a, v, w: a[k, 1:],
    "several arrays": lambda a, v, w: a[k[:, None], k],
    "mask": lambda a, v, w: a[mask],
    "written by arrays": lambda a, v, w: pt.set_subtensor(a[k], v),
    "alloc": lambda a, v, w: pt.alloc(w, n + 1, w.shape[0]),
    "empty": lambda a, v, w: pt.empty((n, 2)) * 0,
    "arange": lambda a, v, w: pt.arange(i, 2 * n, 2),
    "floats": lambda a, v, w: pt.arange(0.5, n, 0.75),
    "eye": lambda a, v, w: pt.eye(n, v.shape[0], i),
    "diagonal": lambda a, v, w: pt.diagonal(a, 1),
    "softmax": lambda a, v, w: pt.softmax(a, axis=1) + pt.logsumexp(a, axis=1, keepdims=True),
    "cumsum": lambda a, v, w: pt.cumsum(a, axis=0),
    "shape": lambda a, v, w: a.shape + a.shape[0],
}


def graph(name: str, known: bool) -> Any:
    values = [RNG.normal(size=s) for s in ((3, 4), (4,), (3,))]
    xs = [TensorType("float64", v.shape if known else (None,) * v.ndim)() for v in values]
    out = CASES[name](*xs)
    return out, dict(zip(xs, values, strict=True)) | FIXED


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_all_that_a_rule_says_agrees_with_the_values(name: str, known: bool) -> None:
    out, given = graph(name, known)
    nodes = toposort([out])
    terms = [*given, *[v for node in nodes for v in node.outputs]]
    shapes = dict(zip(terms, map(np.shape, evaluate(terms, given)), strict=True))
    ids: dict[int, int] = {}
    dims = Dims()
    for node in nodes:
        for made, n_ in ((v, shapes[v]) for v in node.outputs):
            assert len(n_) == made.type.ndim
            assert all(a in (None, b) for a, b in zip(made.type.shape, n_, strict=True))
        values = evaluate(list(node.inputs), given)
        for made, said in zip(node.outputs, node.op.checked(node, values), strict=True):
            assert all(a in (None, b) for a, b in zip(said, shapes[made], strict=True))
        axes(node.op, node, dims)
        try:
            inferred = node.op.infer_shape(None, node, [pt.shape_tuple(x) for x in node.inputs])
        except MethodNotDefined:
            inferred = []
        for made, lengths in zip(node.outputs, inferred, strict=False):
            assert tuple(map(int, evaluate(list(lengths), given))) == shapes[made]
    for v, shape in shapes.items():
        for axis, size in enumerate(shape):
            assert ids.setdefault(dims.find(dims.of(v)[axis]), size) == size, (v, axis)
            found = length(v, axis).value
            where = found if isinstance(found, int) else shapes[found[0]][found[1]]
            assert where == size


@pytest.mark.parametrize("name", CASES)
def test_lengths_are_found_without_computing(name: str) -> None:
    out, given = graph(name, known=False)
    xs = list(given)
    f = rw.function(xs, out.shape, on_unused_input="ignore")
    wanted = np.shape(evaluate([out], given)[0])
    assert tuple(f(*[np.asarray(v) for v in given.values()])) == wanted


def test_lengths_are_resolved() -> None:
    twice = Computed(lambda a, b: 2 * a + b, [(0, 1), Value(1)])
    given = {(0, 1): 4, Value(1): 3}
    assert resolve(twice, given.get) == 11
    assert resolve(twice, {(0, 1): 4}.get) is None
    assert [resolve(m, given.get) for m in (5, None, (0, 1), Value(1))] == [5, None, 4, 3]


class Paired(TensorOp):
    """Two vectors of one length."""

    __props__ = ()
    nin = 2

    def dtypes(self, *types: Any) -> list[str]:
        if types[0].kind != "f":
            raise DTypeError("takes floats")
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[(0, 0)]], [[(0, 0), (1, 0)]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        self.checked(node, inputs)
        output_storage[0][0] = inputs[0] * inputs[1]


def test_errors_tell_the_op_the_types_and_the_line() -> None:
    v = pt.vector("v", dtype="float64", shape=(3,))
    for make, error, text in (
        (lambda: Paired()(v), TypeError, "Paired: takes 2 inputs, not 1"),
        (lambda: Paired()(v, np.ones(4)), ShapeError, r"shapes \(3,\) and \(4,\) do not fit: dim"),
        (lambda: Paired()(pt.lvector(), v), DTypeError, "Paired: takes floats"),
        (lambda: Paired()(v, object()), ForeignObjectError, "object"),
    ):
        with pytest.raises(error, match=text) as caught:
            make()
        if error in (ShapeError, DTypeError, TypeError):
            assert "test_op.py" in str(caught.value)
    assert Paired()(pt.dvector(), v).type.shape == (3,)
    x, y = pt.dvector("x"), pt.dvector("y")
    out = Paired()(x, y)
    with pytest.raises(ShapeError, match=r"length 2, .* length 3[\s\S]*x of type[\s\S]*test_op.py"):
        rw.function([x, y], out)(np.ones(2), np.ones(3))


def test_an_op_may_fail_unless_it_says_that_only_lengths_do() -> None:
    class Sure(Paired):
        only_lengths = True

    x, y = pt.dvectors("x y")
    assert Paired()(x, y).owner.op.equal_lengths(Paired()(x, y).owner) is None
    assert Sure()(x, y).owner.op.equal_lengths(Sure()(x, y).owner) == [[(0, 0), (1, 0)]]
    f = rw.function([x, y], Sure()(x, y).shape[0])
    assert f(np.ones(2), np.ones(2)) == 2
    with pytest.raises(ShapeError):
        f(np.ones(2), np.ones(3))


def test_a_plain_op_names_the_line_too() -> None:
    class Picky(Op):
        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            raise BroadcastError("never")

    with pytest.raises(BroadcastError, match=r"^Picky: never\n    input 0: .*\n.*test_op.py"):
        Picky()(pt.dscalar())
