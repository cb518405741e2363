"""Numbers in order, grids, triangles and windows: each against NumPy, with numbers that are known
and with variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    NDimError,
    OptionError,
    ShapeError,
)
from rewrite_engine.gradient import verify_grad
from tests.tensor.evaluate import evaluate

F = np.float32
#: the function, its arguments, and options; integers among the arguments become variables, too
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *[("arange", a, {}) for a in [(5,), (0,), (-3,), (2, 7), (7, 2, -2), (0, 1, 0.25), (3.5,),
                                  (np.int8(3),), (F(1), F(3)), (0, 10, 3)]],
    ("arange", (4,), {"dtype": "int8"}), ("arange", (1, 4), {"dtype": "float32"}),
    *[("linspace", a, o) for a in [(0, 1), (F(0), F(1)), (-2.5, 4), (1, 1),
                                   ([0.0, 1.0], [4.0, 5.0]),
                                   (0, [[1.0], [2.0]]), (0, 3j), (np.float16(0), 3)]
      for o in [{"num": 5}, {"num": 4, "endpoint": False}, {"num": 1}, {"num": 0}, {"num": 2}]],
    ("linspace", (0, 1), {}), ("linspace", (0, [1.0, 2.0]), {"num": 3, "axis": -1}),
    ("linspace", (-3, 7), {"num": 6, "dtype": "int32"}),
    ("linspace", (0, 1), {"num": 3, "dtype": "float32"}),
    ("linspace", (0, 5), {"num": 4, "retstep": True}),
    ("linspace", (0, 5), {"num": 1, "retstep": True}),
    *[("logspace", (0, 2), o) for o in [{"num": 5}, {"num": 3, "base": 2.0}, {"num": 1},
                                        {"num": 4, "endpoint": False, "dtype": "int64"}]],
    ("logspace", (F(0), F(1)), {"num": 3}), ("logspace", ([0.0, 1.0], 2), {"num": 3, "axis": 1}),
    *[("geomspace", a, o) for a in [(1, 1000), (-1, -100), (F(2), F(50)), (1000, 1),
                                    ([1.0, 4.0], [100.0, 5.0])]
      for o in [{"num": 4}, {"num": 3, "endpoint": False}, {"num": 1}]],
    *[("bartlett", (n,), {}) for n in (0, 1, 2, 5, 6)],
    *[("tri", (3,), o) for o in [{}, {"k": 1}, {"k": -2, "dtype": "int8"}, {"dtype": "bool"}]],
    ("tri", (2, 4), {}), ("tri", (0, 4), {}),
    *[(name, (n,), {"k": k}) for name in ("tril_indices", "triu_indices") for n in (3, 0)
      for k in (0, 1, -1)],
    ("tril_indices", (3, 0, 2), {}), ("triu_indices", (2, 1, 4), {}),
    ("indices", ((2, 3),), {}), ("indices", ((2, 3),), {"sparse": True}), ("indices", ((0,),), {}),
    ("eye", (3,), {}), ("eye", (2, 4, 1), {}), ("eye", (3,), {"k": -1, "dtype": "int8"}),
    ("full", ((2, 3), 7), {}), ("zeros", ((2, 0),), {}), ("ones", (3,), {"dtype": "bool"}),
]  # fmt: skip


def several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def assert_same(got: Any, want: Any) -> None:
    want = np.asarray(want)
    small = want.dtype in (np.float16, np.float32)
    np.testing.assert_allclose(got, want, rtol=2e-6 if small else 1e-13, atol=1e-15)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_numbers_that_are_known(call: Any) -> None:
    name, args, options = call
    wanted = several(getattr(np, name)(*args, **options))
    outputs = several(getattr(pt, name)(*args, **options))
    assert len(outputs) == len(wanted)
    for out, want in zip(outputs, wanted, strict=True):
        assert_same(evaluate(out), want)
        assert out.type.shape == np.shape(want)
        assert_same(rw.function([], out)(), want)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_numbers_that_are_variables(call: Any) -> None:
    name, args, options = call
    wanted = several(getattr(np, name)(*args, **options))
    given: dict[Any, Any] = {}

    def variable(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(variable, value))
        if type(value) is not int:
            return value
        given[pt.lscalar()] = value
        return [*given][-1]

    if name != "full" and "space" not in name:
        args = variable(args)
    options = {k: variable(v) for k, v in options.items() if k != "axis"} | (
        {"axis": options["axis"]} if "axis" in options else {}
    )
    outputs = several(getattr(pt, name)(*args, **options))
    for out, want in zip(outputs, wanted, strict=True):
        assert_same(evaluate(out, given), want)
        lengths = zip(out.type.shape, np.shape(want), strict=True)
        assert all(n in (None, wanted) for n, wanted in lengths)
    f = rw.function([*given], outputs, on_unused_input="ignore")
    for got, want in zip(f(*given.values()), wanted, strict=True):
        assert_same(got, want)


@pytest.mark.parametrize("grid", ["mgrid", "ogrid"])
def test_grids(grid: str) -> None:
    ours, theirs = getattr(pt, grid), getattr(np, grid)
    keys = [np.s_[0:3], np.s_[0:3, 1:5:2], np.s_[0:1:3j], np.s_[0:1:0.25, 0:3], np.s_[:2,]]
    for key in keys:
        got, want = ours[key], theirs[key]
        assert isinstance(got, list) == isinstance(key, tuple)
        for g, w in zip(several(got), list(want) if isinstance(key, tuple) else [want]):
            assert_same(evaluate(g), w)
            assert g.type.shape == w.shape
    n = pt.lscalar("n")
    rows, columns = ours[0:n, 0:3]
    assert_same(evaluate(rows + columns, {n: 2}), np.mgrid[0:2, 0:3].sum(0))


def test_gradients_of_ranges() -> None:
    ends = [np.array([1.0, 2.0]), np.array(5.0)]
    verify_grad(lambda a, b: pt.linspace(a, b, 4), ends)
    verify_grad(lambda a, b: pt.linspace(a, b, pt.constant(4) + 0, endpoint=False), ends)
    verify_grad(lambda a, b: pt.logspace(a, b, 3, base=2.0), ends)
    verify_grad(lambda a, b: pt.geomspace(a, b, 3), ends)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2), (3, 3, 3), (0, 0)])
def test_filled_diagonals(shape: Any) -> None:
    x = np.arange(float(np.prod(shape))).reshape(shape)
    want = x.copy()
    if x.size:
        np.fill_diagonal(want, -1)
    for known in (True, False):
        v = pt.tensor(dtype="float64", shape=shape if known else (None,) * x.ndim)
        assert_same(evaluate(pt.fill_diagonal(v, -1), {v: x}), want)
        if x.ndim > 2:
            continue
        for k in (-1, 0, 2):
            there = np.eye(*shape, k=k, dtype=bool)
            offset = pt.lscalar()
            for at in (k, offset):
                out = pt.fill_diagonal_offset(v, -1, at)
                assert_same(evaluate(out, {v: x, offset: k}), np.where(there, -1, x))
    if x.size:
        verify_grad(pt.fill_diagonal, [x, np.array(2.0)])
    if x.size and x.ndim == 2:
        verify_grad(lambda x, v: pt.fill_diagonal_offset(x, v, 1), [x, np.array(2.0)])


def test_triangles_of_a_matrix() -> None:
    x, i = pt.matrix("x"), pt.imatrix("i")
    a = np.arange(6.0).reshape(2, 3)
    for name in ("tril_indices_from", "triu_indices_from"):
        wanted = getattr(np, name)(a, 1)
        for v in (x, pt.matrix(shape=(2, 3))):
            for got, want in zip(getattr(pt, name)(v, 1), wanted, strict=True):
                assert_same(evaluate(got, {v: a}), want)
    assert pt.tril(i).dtype == "int32"
    verify_grad(lambda x: pt.tril(pt.log(x) * x, -1), [a + 1])
    with np.errstate(divide="ignore"):
        assert np.isfinite(
            evaluate(rw.grad(pt.triu(pt.log(x), 1).sum(), x), {x: np.triu(a, 1)})
        ).all()


X, V = pt.matrix("x"), pt.vector("v")
ERRORS: list[tuple[Any, Any, str]] = [
    (lambda: pt.linspace(0, 1, -1), ShapeError, "negative: -1"),
    (lambda: pt.linspace(0, 1, 2.5), DTypeError, "must be an integer"),
    (lambda: pt.geomspace(0, 1), ShapeError, "0"),
    (lambda: pt.meshgrid(V, indexing="ab"), OptionError, "'xy' or 'ij'"),
    (lambda: pt.tril(0.0), NDimError, "one dimension"),
    (lambda: pt.tril_indices_from(V), NDimError, "a matrix"),
    (lambda: pt.fill_diagonal(V, 0), NDimError, "two dimensions"),
    (lambda: pt.fill_diagonal(np.ones((2, 3, 2)), 0), ShapeError, "lengths differ"),
    (lambda: pt.fill_diagonal_offset(V, 0, 0), NDimError, "a matrix"),
    (lambda: pt.tile(X, 1.5), DTypeError, "must be an integer"),
    (lambda: pt.tile(X, -1), ShapeError, "negative"),
    (lambda: pt.repeat(X, [[1]]), NDimError, "repeat"),
    (lambda: pt.repeat(np.ones(3), [1, 2], axis=0), ShapeError, "takes 3 numbers, none of them"),
    (lambda: pt.repeat(X, [0.5, 1.0], axis=0), DTypeError, "integers"),
    (lambda: pt.roll(X, (1, 2, 3), (0, 1)), BroadcastError, "3 shifts for 2"),
    (lambda: pt.roll(X, 1, 2), AxisError, "out of range"),
    (lambda: pt.flip(X, 5), AxisError, "out of range"),
    (lambda: pt.broadcast_arrays(np.ones(2), np.ones(3)), BroadcastError, "lengths"),
    (lambda: pt.join_dims(X, 1, 2), AxisError, "join_dims"),
    (lambda: pt.split_dims(np.ones((2, 5)), (2, -1), 1), ShapeError, "shape"),
    (lambda: pt.pack(X, V, keep_axes=1), AxisError, "keep_axes=1"),
    (lambda: pt.pack(X, V, keep_axes=(0, -1)), NDimError, "at least 2"),
    (lambda: pt.pad(X, 1, "odd"), OptionError, "mode must be one of"),
    (lambda: pt.pad(X, 1, "edge", constant_values=3), OptionError, "constant_values"),
    (lambda: pt.pad(X, 1, "reflect", reflect_type="no"), OptionError, "'even' or 'odd'"),
    (lambda: pt.pad(X, (1, 2, 3)), ShapeError, "does not fit 2 dimensions"),
    (lambda: pt.pad(X, -1), ShapeError, "negative"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_errors_of_calls() -> None:
    x, v, n = pt.matrix("x"), pt.vector("v"), pt.lscalar("n")
    with pytest.raises(ShapeError, match="negative"):
        evaluate(pt.repeat(v, pt.as_tensor([n, 1])), {v: [1.0, 2.0], n: -1})
    with pytest.raises(BroadcastError):
        evaluate(pt.broadcast_arrays(v, x)[0], {v: np.ones(2), x: np.ones((2, 3))})
    with pytest.raises(ShapeError):
        evaluate(pt.fill_diagonal(x[None], 0), {x: np.ones((2, 2))})
    with pytest.raises(ShapeError, match="RepeatedPositions"):
        evaluate(pt.repeat(v, pt.as_tensor([n, 1, 1])), {v: [1.0, 2.0], n: 1})


# --- dimensions ---------------------------------------------------------------------------------


def test_joined_and_split_dimensions() -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    for x in (pt.tensor3("x", shape=a.shape), pt.tensor3("x")):
        for start, n, want in [(0, None, (24,)), (1, 2, (2, 12)), (1, None, (2, 12)),
                               (0, 2, (6, 4)),
                               (1, 1, a.shape), (1, 0, (2, 1, 3, 4)), (3, 0, (2, 3, 4, 1)),
                               (-2, 2, (2, 12))]:  # fmt: skip
            out = pt.join_dims(x, start, n)
            assert_same(evaluate(out, {x: a}), a.reshape(want))
            assert x.type.shape != a.shape or out.type.shape == want
        for shape, axis, want in [((2, 2), 2, (2, 3, 2, 2)), ((-1, 1), 1, (2, 3, 1, 4)),
                                  (3, 1, a.shape), ((2, -1), -1, (2, 3, 2, 2))]:  # fmt: skip
            out = pt.split_dims(x, shape, axis)
            assert_same(evaluate(out, {x: a}), a.reshape(want))
            assert x.type.shape != a.shape or out.type.shape == want
    one = pt.tensor3("one", shape=(2, 1, 4))
    assert pt.split_dims(one, (), 1).type.shape == (2, 4)
    assert one.join_dims(0, 2).type.shape == one.split_dims((1, 1), 1).join_dims(0, 3).type.shape


@pytest.mark.parametrize(("keep", "shapes"), [
    (None, [(2, 3), (), (4,)]), (0, [(2, 3), (2, 1, 2), (2,)]), (-1, [(2, 3), (3,), (1, 2, 3)]),
    ((0, -1), [(2, 4, 3), (2, 3), (2, 0, 5, 3)]), ((-2, -1), [(1, 2, 3), (2, 3)]),
])  # fmt: skip
def test_arrays_that_are_packed(keep: Any, shapes: Any) -> None:
    arrays = [np.random.default_rng(0).normal(size=s) for s in shapes]
    for known in (True, False):
        xs = [pt.tensor(dtype="float64", shape=s if known else [None] * len(s)) for s in shapes]
        joined, sizes = pt.pack(*xs, keep_axes=keep)
        back = pt.unpack(joined, sizes, keep_axes=keep)
        for x, out, a in zip(xs, back, arrays, strict=True):
            assert_same(evaluate(out, dict(zip(xs, arrays))), a)
            assert not known or out.type.shape == x.type.shape
        got = evaluate(joined, dict(zip(xs, arrays)))
        assert got.size == sum(a.size for a in arrays)
        assert not known or joined.type.shape == got.shape


def test_shapes_that_broadcast() -> None:
    x, v, row = pt.matrix("x", shape=(None, 3)), pt.matrix("v"), pt.row("r")
    given = {x: np.ones((2, 3)), v: np.ones((2, 3)), row: np.ones((1, 3))}
    lengths = pt.broadcast_shape(x, v, row)
    assert [int(evaluate(n, given)) for n in lengths] == [2, 3]
    assert [int(n) for n in pt.broadcast_shape((3, 1), (5, 1, 4), arrays_are_shapes=True)] == [
        5,
        3,
        4,
    ]
    with pytest.raises(BroadcastError):
        evaluate(pt.broadcast_shape(x, v)[0], given | {v: np.ones((4, 3))})
    joined = pt.concat_with_broadcast([pt.matrix(shape=(1, 3)), pt.matrix(shape=(4, 2))], axis=1)
    assert joined.type.shape == (4, 5)


def test_lengths_read_from_shapes_are_static() -> None:
    x = pt.matrix("x", shape=(3, None))
    assert pt.zeros((x.shape[0], 2)).type.shape == (3, 2)
    assert pt.zeros((x.shape[1], 2)).type.shape == (None, 2)
    assert pt.ones(x.shape).type.shape == (3, None)
    assert pt.zeros(x.shape).reshape((x.shape[0], -1)).type.shape == (3, None)


def test_small_names() -> None:
    x, v = pt.matrix("x"), pt.vector("v")
    assert pt.get_vector_length(x.shape) == pt.get_vector_length([1, 2]) == 2
    with pytest.raises(ShapeError, match="the length is unknown"):
        pt.get_vector_length(v)
    with pytest.raises(NDimError, match="takes a vector"):
        pt.get_vector_length(x)
    assert (pt.is_flat(v), pt.is_flat(x), pt.is_flat(x, 2)) == (True, False, True)
    assert x[:, pt.newaxis].type.shape == (None, 1, None)
    assert (pt.pi, pt.e, pt.inf, pt.euler_gamma) == (np.pi, np.e, np.inf, np.euler_gamma)
    assert np.isnan(pt.nan)
    t = pt.tensor3("t")
    assert pt.specify_shape(t, (2, ...)).type.shape == (2, None, None)
    assert pt.specify_shape(t, (2, ..., 4)).type.shape == (2, None, 4)
    assert pt.specify_shape(t, (..., 1, 2, 3)).type.shape == (1, 2, 3)
    with pytest.raises(DTypeError):
        pt.specify_shape(t, (..., 1, ...))


def test_lists_of_lists() -> None:
    s = pt.scalar("s")
    out = pt.stacklists([[s, 1.0], [2.0, s * 2]])
    assert evaluate(out, {s: 3.0}).tolist() == [[3, 1], [2, 6]]
    assert pt.stacklists(s) is s


def test_slice_of_one_dimension() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    assert (x[pt.slice_at_axis(slice(1, None), 1)] == x[:, 1:]).all()
    assert (x[pt.slice_at_axis(slice(1, None), -2)] == x[:, 1:]).all()


@pytest.mark.parametrize("f", [pt.linspace, pt.logspace, pt.geomspace])
def test_older_names_of_the_last_number_and_how_many(f: Any) -> None:
    np.testing.assert_array_equal(f(1, end=3, steps=4).eval(), f(1, 3, 4).eval())
    with pytest.raises(TypeError, match="the argument `stop`, the last number, is missing"):
        f(1.0)
    with pytest.raises(TypeError, match="one of each"):
        f(1.0, 3.0, end=4.0)
    with pytest.raises(TypeError, match="one of each"):
        f(1.0, 3.0, 7, steps=4)
