"""Names of Theano's documentation that PyTensor has no more, or with other arguments."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.signal

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import images, lookup, nnet, older
from rewrite_engine.compat.rewriting import out2in
from rewrite_engine.compat.streams import RandomStreams
from rewrite_engine.errors import NDimError, OptionError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.graph.fgraph import FunctionGraph
from tests.compat.test_programs import PROGRAMS, compat

RNG = np.random.default_rng(2)
X = RNG.permutation(np.linspace(-2.0, 3.0, 2 * 7 * 6)).reshape(2, 7, 6)

# --- pooling --------------------------------------------------------------------------------------


def pooled(x: Any, ws: Any, ignore: bool, step: Any, pad: Any, mode: str) -> Any:
    """Window by window. Behind the end of an array there are no elements; before, where `pad` is
    given, and behind, zeros that are never the largest.
    """
    n = len(ws)
    wide = np.pad(x, [(0, 0)] * (x.ndim - n) + [(p, p) for p in pad], constant_values=np.nan)
    starts = []
    for size, w, s in zip(wide.shape[-n:], ws, step, strict=True):
        begins = [
            i
            for i in range(0, size, s)
            if (i + w <= size if ignore else i == 0 or i - s + w < size)
        ]
        starts.append(begins)
    found = np.empty((*x.shape[:-n], *map(len, starts)))
    for place in product(*[range(len(s)) for s in starts]):
        corner = [s[k] for s, k in zip(starts, place, strict=True)]
        part = wide[(..., *[slice(i, i + w) for i, w in zip(corner, ws, strict=True)])]
        axes = tuple(range(-n, 0))
        value = {
            "max": lambda p, a: np.nanmax(p, a),
            "sum": lambda p, a: np.nansum(p, a),
            "average_exc_pad": lambda p, a: np.nanmean(p, a),
            "average_inc_pad": lambda p, a: np.nan_to_num(p).mean(a),
        }[mode](part, axes)
        found[(..., *place)] = value
    return found


@pytest.mark.parametrize("mode", ["max", "sum", "average_inc_pad", "average_exc_pad"])
@pytest.mark.parametrize(
    ("ws", "ignore", "step", "pad"),
    [
        ((2, 2), True, None, (0, 0)), ((2, 2), False, None, (0, 0)), ((3, 2), True, (2, 1), (0, 0)),
        ((2, 3), False, (1, 2), (0, 0)), ((3, 3), True, (2, 2), (1, 2)),
        ((2, 2), False, (3, 4), (0, 0)),
        ((7, 6), True, None, (0, 0)), ((1, 1), True, None, (0, 0)),
    ],
)  # fmt: skip
def test_pooling(mode: str, ws: Any, ignore: bool, step: Any, pad: Any) -> None:
    wanted = pooled(X, ws, ignore, step or ws, pad, mode)
    for shape in (X.shape, (None,) * 3):
        x = pt.tensor(dtype="float64", shape=shape)
        y = images.pool_2d(x, ws, ignore, step, pad, mode)
        np.testing.assert_allclose(rw.function([x], y)(X), wanted, rtol=1e-12)
    verify_grad(lambda x: images.pool_2d(x, ws, ignore, step, pad, mode), [X[:1]])


def test_pooling_of_volumes_and_integers() -> None:
    x = np.arange(2 * 4 * 5 * 3).reshape(2, 4, 5, 3)[..., ::-1]
    wanted = pooled(x.astype(float), (2, 2, 1), True, (2, 2, 1), (0, 0, 0), "max")
    np.testing.assert_array_equal(images.pool_3d(x, (2, 2, 1), True).eval(), wanted)
    assert images.max_pool_2d(x, (2, 2), ignore_border=True).dtype == "int64"
    with_older_names = images.pool_2d(X, ds=2, st=(1, 1), padding=(1, 1), ignore_border=True)
    np.testing.assert_allclose(
        with_older_names.eval(), pooled(X, (2, 2), True, (1, 1), (1, 1), "max")
    )


@pytest.mark.parametrize(
    ("error", "what", "build"),
    [
        (NDimError, "2 dimensions or more", lambda: images.pool_2d([1.0], 2)),
        (OptionError, "mode must be one of", lambda: images.pool_2d(X, 2, mode="mean")),
        (OptionError, "needs ignore_border=True", lambda: images.pool_2d(X, 2, pad=(1, 1))),
        (
            OptionError,
            "pad must be smaller than ws",
            lambda: images.pool_2d(X, 2, True, pad=(2, 1)),
        ),
        (OptionError, "ws must be 2 integers", lambda: images.pool_2d(X, pt.lscalar())),
        (OptionError, "ws must be 2 integers", lambda: images.pool_2d(X, (2, 2, 2))),
        (NDimError, "2 or 3 dimensions", lambda: images.conv2d(X[None], X)),
    ],
)
def test_wrong_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()


@pytest.mark.parametrize("mode", ["valid", "full"])
@pytest.mark.parametrize("several", [(False, False), (True, False), (False, True), (True, True)])
def test_convolutions_of_matrices(several: Sequence[bool], mode: str) -> None:
    w = RNG.normal(size=(3, 2, 2))
    x, filters = X if several[0] else X[0], w if several[1] else w[0]
    each = [[scipy.signal.convolve2d(a, b, mode) for b in (w if several[1] else w[:1])]
            for a in (X if several[0] else X[:1])]  # fmt: skip
    wanted = np.array(each)[:, :, ::2]
    wanted = wanted[slice(None) if several[0] else 0]
    wanted = wanted if several[1] else wanted[:, 0] if several[0] else wanted[0]
    found = images.conv2d(x, filters, border_mode=mode, subsample=(2, 1)).eval()
    np.testing.assert_allclose(found, wanted)


# --- networks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["per-activation", "spatial", (0, 1)])
def test_batch_normalization(axes: Any) -> None:
    x = RNG.normal(1.0, 2.0, size=(5, 3, 2))
    over = {"per-activation": (0,), "spatial": (0, 2)}.get(axes, axes)
    one = [1 if k in over else n for k, n in enumerate(x.shape)]
    gamma, beta, old_mean, old_var = [RNG.uniform(0.5, 1, size=one) for _ in range(4)]
    mean, var = x.mean(over, keepdims=True), x.var(over, keepdims=True)
    wanted = (x - mean) / np.sqrt(var + 1e-4) * gamma + beta
    v = pt.dtensor3("x")
    made = nnet.batch_normalization_train(v, gamma, beta, axes, 1e-4, 0.2, old_mean, old_var)
    out, its_mean, inverse, new_mean, new_var = rw.function([v], [*made])(x)
    np.testing.assert_allclose(out, wanted)
    np.testing.assert_allclose(its_mean, mean)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(var + 1e-4))
    np.testing.assert_allclose(new_mean, 0.8 * old_mean + 0.2 * mean)
    unbiased = x.var(over, keepdims=True, ddof=1)
    np.testing.assert_allclose(new_var, 0.8 * old_var + 0.2 * unbiased)
    known = nnet.batch_normalization_test(v, gamma, beta, mean, var, axes)
    np.testing.assert_allclose(known.eval({v: x}), wanted)
    flat = gamma.reshape([n for k, n in enumerate(one) if k not in over])
    again = nnet.batch_normalization_train(v, flat, beta, axes)
    assert len(again) == 3
    np.testing.assert_allclose(again[0].eval({v: x}), wanted)


def test_small_functions_of_networks() -> None:
    x = np.array([[-1.0, 0.5, 2.0], [0.1, 0.2, -3.0]])
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    wanted = scale * np.where(x > 0, x, alpha * np.expm1(x))
    np.testing.assert_allclose(nnet.selu(x).eval(), wanted)
    soft = nnet.softmax_with_bias(x, [1.0, 0.0, 2.0]).eval()
    e = np.exp(x + [1.0, 0.0, 2.0])
    np.testing.assert_allclose(soft, e / e.sum(1, keepdims=True))
    cost = nnet.crossentropy_categorical_1hot(soft, [2, 0]).eval()
    np.testing.assert_allclose(cost, -np.log([soft[0, 2], soft[1, 0]]))
    normal = nnet.batch_normalization(x, 2.0, 1.0, x.mean(0), x.std(0)).eval()
    np.testing.assert_allclose(normal, (x - x.mean(0)) * 2 / x.std(0) + 1)
    table, order = nnet.confusion_matrix([7, 1, 7, 4], [7, 7, 1, 4])
    assert order.eval().tolist() == [1, 4, 7]
    assert table.eval().tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 1]]


# --- functions and rules --------------------------------------------------------------------------


def test_solving_by_kinds() -> None:
    a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    lower, upper = np.tril(a), np.triu(a)
    for kind, given, whole in (
        ("lower_triangular", a, lower),
        ("upper_triangular", a, upper),
        ("symmetric", upper, a),
    ):
        solve = lookup("tensor.slinalg", f"solve_{kind}")
        np.testing.assert_allclose(solve(given, b).eval(), np.linalg.solve(whole, b))


def test_products_with_logarithms() -> None:
    x = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(older.xlogx(x).eval(), [0, 0, 2 * np.log(2)])


def test_a_parameter_with_a_default() -> None:
    x, y = pt.dscalars("x", "y")
    f = rw.function([x, older.Param(y, default=1, name="by")], x + y)
    assert [float(f(33)), float(f(33, 2)), float(f(33, by=3))] == [34, 35, 36]


def test_monitors_without_a_graph() -> None:
    x, seen = pt.dscalar("x"), list[Any]()
    before = lambda i, node, fn: seen.append((i, str(node.op), fn.inputs[0][0]))
    after = lambda fgraph, i, node, fn: seen.append((i, len(fgraph), float(fn.outputs[0][0])))
    rw.function([x], pt.exp(x), mode=older.MonitorMode(before, after))(0.0)
    assert seen == [(0, "exp", 0.0), (0, 1, 1.0)]


def test_rules_of_nodes_alone() -> None:
    @older.local_optimizer([pt.exp])
    def alone(node: Any) -> Any:
        """Why not."""
        return [pt.log(node.inputs[0])]

    @older.local_optimizer([pt.exp])
    def both(fgraph: Any, node: Any) -> Any:
        return [pt.sin(node.inputs[0])] if len(fgraph) == 1 else None

    x = pt.dvector("x")
    assert alone.name == "test_older/alone"
    for rule, op in ((alone, pt.log), (both, pt.sin)):
        fgraph = FunctionGraph([x], [pt.exp(x)], clone=False)
        out2in(rule).optimize(fgraph)
        assert fgraph.outputs[0].owner.op == op


def test_the_state_of_a_draw() -> None:
    stream = RandomStreams(3)
    x = stream.uniform((2,))
    f = rw.function([], x)
    state = x.rng.get_value()
    first = f()
    assert (f() != first).all()
    x.rng.set_value(state)
    np.testing.assert_array_equal(f(), first)


def test_images_as_in_tutorials() -> None:
    done = compat(PROGRAMS / "pooling.py")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"shape": [4, 3, 4, 4], "better": True, "removed": "b"}
