"""Ops on the last dimensions, along all the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import BroadcastError, NDimError, ShapeError
from rewrite_engine.gradient import Rop, grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.blockwise import Blockwise, parse, vectorize_graph
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp
from rewrite_engine.tensor.type import TensorType

RNG = np.random.default_rng(0)


class Solve(Op):
    """The x of a @ x = b, for one matrix and one vector; it knows nothing of tensors' shapes."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [types[1].clone(shape=types[0].shape[:1])]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        assert inputs[0].ndim == 2
        output_storage[0][0] = np.linalg.solve(inputs[0], inputs[1])

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        gb = self(inputs[0].T, output_gradients[0])
        return [-pt.outer(gb, outputs[0]), gb]

    def R_op(self, inputs: Any, eval_points: Any) -> Any:
        (a, b), (da, db) = inputs, eval_points
        right = 0 if db is None else db
        return [self(a, right if da is None else right - pt.dot(da, self(a, b)))]


class FastSolve(Solve):
    """The same where NumPy has all of a batch."""

    @staticmethod
    def batched(a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b[..., None])[..., 0]


class Halves(TensorOp):
    """A vector's sum, and every second element of it, in another dtype."""

    __props__ = ()
    nout = 2
    only_lengths = True

    def dtypes(self, *types: Any) -> list[str]:
        return [types[0].dtype, "float32"]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([(), [Computed(lambda n: (n + 1) // 2, [(0, 0)])]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].sum()
        output_storage[1][0] = inputs[0][::2].astype("float32")


BATCHES = [
    ((), ()), ((4,), ()), ((), (4,)), ((4,), (4,)), ((1, 4), (3, 1)), ((1,), (4,)), ((3,), (2, 3)),
    ((0,), ()), ((2, 0), (1,)),
]  # fmt: skip
solves = [Blockwise(Solve(), "(m,m),(m)->(m)"), Blockwise(FastSolve(), "(m, m), (m) -> (m)")]


def systems(left: Any, right: Any, m: int = 2) -> tuple[Any, Any]:
    return RNG.normal(size=(*left, m, m)) + 3 * np.eye(m), RNG.normal(size=(*right, m))


def variables(*arrays: Any, known: bool = False) -> list[Any]:
    return [
        TensorType(a.dtype, a.shape if known else [1 if n == 1 else None for n in a.shape])()
        for a in arrays
    ]


@pytest.mark.parametrize(("left", "right"), BATCHES)
@pytest.mark.parametrize("solve", solves, ids=["one by one", "at once"])
def test_values_shapes_and_types(solve: Any, left: Any, right: Any) -> None:
    a, b = systems(left, right)
    wanted = np.linalg.solve(a, b[..., None])[..., 0]
    for known in (False, True):
        xs = variables(a, b, known=known)
        out = solve(*xs)
        assert out.type.ndim == wanted.ndim
        assert not known or out.type.shape == wanted.shape
        value, shape = rw.function(xs, [out, out.shape])(a, b)
        np.testing.assert_allclose(value, wanted)
        assert tuple(shape) == wanted.shape
        np.testing.assert_allclose(evaluate([out], dict(zip(xs, (a, b), strict=True)))[0], wanted)


@pytest.mark.parametrize(("left", "right"), BATCHES)
@pytest.mark.parametrize("solve", solves, ids=["one by one", "at once"])
def test_derivatives(solve: Any, left: Any, right: Any) -> None:
    a, b = systems(left, right)
    verify_grad(solve, [a, b])
    x, y = xs = variables(a, b)
    da, db = systems(left, right)
    for points in ((da, db), (None, db)):
        given = {k: p for k, p in zip(xs, points, strict=True) if p is not None}
        (found,) = evaluate(
            [Rop(solve(x, y), list(given), [pt.constant(p) for p in given.values()])],
            dict(zip(xs, (a, b), strict=True)),
        )
        eps = 1e-6
        moved = [v if p is None else v + eps * p for v, p in zip((a, b), points, strict=True)]
        before = np.linalg.solve(a, b[..., None])[..., 0]
        after = np.linalg.solve(moved[0], moved[1][..., None])[..., 0]
        np.testing.assert_allclose(found, (after - before) / eps, rtol=1e-3, atol=1e-4)


def test_gradients_of_matmul_are_those_of_dot_with_a_batch() -> None:
    a, b = pt.tensor3("a"), pt.matrix("b")
    ga, gb = grad((a @ b).sum(), [a, b])
    assert {type(v.owner.op).__name__ for v in (ga, gb)} == {"MatMul", "Sum"}


def test_several_outputs_and_computed_lengths() -> None:
    op = Blockwise(Halves(), "(n)->(),(h)")
    x = pt.tensor3("x", dtype="float64")
    total, half = op(x)
    assert (total.type.dtype, half.type.dtype, half.type.ndim) == ("float64", "float32", 3)
    for shape in ((2, 3, 5), (2, 0, 5), (0, 1, 4), (2, 3, 0)):
        value = RNG.normal(size=shape)
        f = rw.function([x], [total, half, half.shape])
        found = f(value)
        np.testing.assert_allclose(found[0], value.sum(-1))
        np.testing.assert_allclose(found[1], value[..., ::2].astype("float32"))
        assert tuple(found[2]) == found[1].shape
    (_, static) = op(pt.tensor(shape=(2, 3, 5)))
    assert static.type.shape == (2, 3, 3)


def test_lengths_need_no_computing() -> None:
    a, b = pt.tensor3("a"), pt.matrix("b")
    f = rw.function([a, b], (a @ b).shape[0])
    assert "MatMul" not in {type(node.op).__name__ for node in f.fgraph.toposort()}
    with pytest.raises(ShapeError):
        f(np.ones((5, 2, 3)), np.ones((4, 2)))


def test_a_length_by_a_rule_for_integers_only_is_read_from_the_result() -> None:
    class Least(TensorOp):
        __props__ = ()

        def shapes(self, *types: Any) -> Shapes:
            return Shapes([[Computed(min, [(0, 0), (0, 1)])]])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0].diagonal().copy()

    a = pt.dmatrix("a")
    assert rw.function([a], Least()(a).shape)(np.ones((3, 4))).tolist() == [3]
    assert Least()(pt.tensor(shape=(2, 5))).type.shape == (2,)


def test_lengths_that_are_numbers() -> None:
    op = Blockwise(Solve(), "(2,2),(2)->(2)")
    assert op(pt.dtensor3(), pt.dvector()).type.shape == (None, 2)
    with pytest.raises(ShapeError, match=r"has length 3, it must be 2[\s\S]*test_blockwise.py"):
        op(pt.tensor(shape=(3, 3)), pt.dvector())


def test_a_signature_is_one_of_its_core_op() -> None:
    with pytest.raises(ShapeError, match=r"Sum.* has 1 outputs, but the signature '.*' has 2"):
        Blockwise(pt.Sum(), "(m)->(m),()")
    for text in "(m,m),(m)->(m),(m)", "(m,m),(m)->()":
        match = r"Solve has 1 output, of 1 dimension, but the sig[\s\S]*test_blockwise.py"
        with pytest.raises(NDimError, match=match):
            Blockwise(Solve(), text)(pt.dtensor3(), pt.dmatrix())


def test_what_is_refused() -> None:
    for text in (
        "",
        "(m)",
        "(m->m)",
        "(m),->(m)",
        "(m)->(m),",
        "m->m",
        "(m)->(m)->(m)",
        "(m,)->()",
        "(m)(n)->()",
        "((m))->()",
        "",
        "(-1)->()",
    ):
        with pytest.raises(ShapeError, match="not a signature"):
            Blockwise(Solve(), text)
    solve = solves[0]
    with pytest.raises(TypeError, match="takes 2 inputs, not 1"):
        solve(pt.dmatrix())
    with pytest.raises(NDimError, match=r"input 0 must have 2 dimensions[\s\S]*test_blockwise.py"):
        solve(pt.dvector(), pt.dvector())
    with pytest.raises(ShapeError, match=r"length 3, dimension 2 .* length 2[\s\S]*test_blockwise"):
        solve(pt.tensor(shape=(5, 3, 2)), pt.dvector())
    with pytest.raises(BroadcastError, match=r"cannot broadcast shapes \(5, 2, 2\) and \(4, 2\)"):
        solve(pt.tensor(shape=(5, 2, 2)), pt.tensor(shape=(4, 2)))
    x, y = pt.dtensor3("x"), pt.dmatrix("y")
    f = rw.function([x, y], solve(x, y))
    for left, right, error in (
        ((5, 2, 2), (4, 2), BroadcastError), ((1, 2, 2), (4, 2), BroadcastError),
        ((4, 2, 2), (1, 2), BroadcastError), ((4, 3, 2), (4, 3), ShapeError),
        ((4, 2, 2), (4, 3), ShapeError),
    ):  # fmt: skip
        with pytest.raises(error, match=r"has length[\s\S]*test_blockwise.py"):
            f(np.ones(left), np.ones(right))


def test_the_length_of_nothing_is_not_known() -> None:
    class Positive(Op):
        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            return types

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0][inputs[0] > 0]

    x = pt.dmatrix("x")
    out = Blockwise(Positive(), "(n)->(p)")(x)
    assert evaluate([out], {x: np.array([[1.0, -1.0], [-2.0, 3.0]])})[0].tolist() == [[1], [3]]
    with pytest.raises(ShapeError, match="the batch of shape \\(0,\\) is empty"):
        evaluate([out], {x: np.ones((0, 2))})


def test_signatures() -> None:
    assert parse("( a, b ),()->(b)") == ((("a", "b"), ()), (("b",),))
    assert parse("->(3)") == ((), (("3",),))
    assert str(solves[0]) == "Blockwise{Solve, (m,m),(m)->(m)}"
    assert Blockwise(Solve(), "(m,m), (m)->(m)") is solves[0]


STEPS = {
    "elementwise": lambda m, v, s: pt.exp(m) * v + s,
    "turned": lambda m, v, s: m.T - v[None, :] + s,
    "sums": lambda m, v, s: m.sum(axis=0) * v.max() + m.sum() + m.sum(axis=1, keepdims=True)[0],
    "products": lambda m, v, s: pt.dot(m, pt.dot(m, m)) + pt.dot(pt.dot(m, v), m) * pt.dot(v, v),
    "parts": lambda m, v, s: m[0] + v[::-1] * m[:, 1] + pt.set_subtensor(v[0], s),
    "blocks": lambda m, v, s: Blockwise(Solve(), "(m,m),(m)->(m)")(m, v) + pt.cumsum(v),
    "shapes": lambda m, v, s: v * m.shape[0] + pt.zeros_like(v) + m.reshape((-1,))[:3],
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("batched", [(1, 0, 0), (0, 1, 1), (1, 1, 1)])
def test_graphs_with_a_batch(name: str, batched: Any) -> None:
    m, v, s = pt.dmatrix("m"), pt.dvector("v"), pt.dscalar("s")
    values = [RNG.normal(size=(2, 4, 3, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(2, 4))]
    if not batched[2]:
        values[2] = values[2][0, 0]
    if not batched[1]:
        values[1] = values[1][0]
    if not batched[0]:
        values[0] = values[0][0, 0]
    out = STEPS[name](m, v, s)
    more = variables(*values)
    (found,) = vectorize_graph([out], dict(zip((m, v, s), more, strict=True)))
    (value,) = evaluate([found], dict(zip(more, values, strict=True)))
    batch = np.broadcast_shapes(*[a.shape[: a.ndim - n] for a, n in zip(values, (2, 1, 0))])
    spread = [
        np.broadcast_to(a, batch + a.shape[a.ndim - n :])
        for a, n in zip(values, (2, 1, 0), strict=True)
    ]
    f = rw.function([m, v, s], out, on_unused_input="ignore")
    value = np.broadcast_to(value, batch + value.shape[value.ndim - out.type.ndim :])
    for index in np.ndindex(batch):
        np.testing.assert_allclose(value[index], f(*[np.array(a[index]) for a in spread]))


def test_lengths_along_a_batch() -> None:
    n, ns, x, xs = pt.lscalar("n"), pt.lvector("ns"), pt.dvector("x"), pt.dmatrix("xs")
    outs = vectorize_graph([pt.eye(x.shape[0]), x.shape[0], x.shape], {x: xs})
    one, length, shape = evaluate(outs, {xs: np.ones((4, 2))})
    assert one.tolist() == [np.eye(2).tolist()] * 4
    assert (length.tolist(), shape.tolist()) == ([2] * 4, [[2]] * 4)
    y, ys = pt.dvector("y"), pt.dtensor3("ys")
    out = vectorize_graph(x.shape[0] + y.shape[0], {x: xs, y: ys})
    assert (
        evaluate([out], {xs: np.ones((4, 2)), ys: np.ones((3, 4, 5))})[0] == [[7] * 4] * 3
    ).all()
    wide = pt.vectorize(lambda row: (row.shape[0], row.sum()), "(n)->(),()")(xs)
    assert [v.tolist() for v in evaluate(wide, {xs: np.ones((3, 2))})] == [[2] * 3, [2.0] * 3]
    (out,) = vectorize_graph([pt.eye(n)], {n: ns})
    assert evaluate([out], {ns: [2, 2, 2]})[0].tolist() == [np.eye(2).tolist()] * 3
    with pytest.raises(ShapeError, match=r"the batch have different shapes; one is \(3, 3\)"):
        evaluate([out], {ns: [2, 3]})
