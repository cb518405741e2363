"""Elementwise functions, reductions and products by names."""

from typing import Any

import numpy as np
import pytest
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import BroadcastError, DimsError, NDimError
from tests.xtensor.arrays import LENGTHS, array, by_names, values, variables

BINARY: Any = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "true_div": np.divide,
    "maximum": np.maximum,
    "arctan2": np.arctan2,
    "lt": np.less,
}
PAIRS = [("ab", "b"), ("ab", "ba"), ("a", "b"), ("", "ab"), ("ab", "bc"), ("cb", "abc")]


@pytest.mark.parametrize("dims", PAIRS)
@pytest.mark.parametrize("name", BINARY)
def test_operands_stand_beside_each_other_by_name(name: str, dims: tuple[str, str]) -> None:
    found, value = values(getattr(px.math, name), *dims)
    order = tuple(dict.fromkeys("".join(dims)))
    assert found.dims == order
    want = BINARY[name](*[by_names(array(d, seed=k), d, order) for k, d in enumerate(dims)])
    np.testing.assert_allclose(value, np.broadcast_to(want, [LENGTHS[d] for d in order]))


UNARY: Any = {
    "exp": np.exp,
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(0, x),
    "erf": special.erf,
    "neg": np.negative,
    "isnan": np.isnan,
    "sqr": np.square,
    "sign": np.sign,
}


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name: str) -> None:
    found, value = values(getattr(px.math, name), "ab")
    assert found.dims == ("a", "b")
    np.testing.assert_allclose(value, UNARY[name](array("ab")), rtol=1e-12)


def test_every_function_is_one_of_tensors() -> None:
    for name in px.math.__all__:
        assert callable(getattr(px.math, name)), name
        assert hasattr(pt, name), name
    with pytest.raises(AttributeError):
        px.math.no_such_function


def test_operators() -> None:
    def formula(x: Any, y: Any) -> Any:
        z = -((x + 1) * y - 2 / (x**2 + 1)) % 3 + abs(x) // 2 + np.float64(0.5) * y
        return px.where((x > y) & ~(x >= 2), z, 1 - (x < 1).astype("float64"))

    _, value = values(formula, "ab", "b")
    x, y = array("ab"), array("b", seed=1)
    z = -((x + 1) * y - 2 / (x**2 + 1)) % 3 + abs(x) // 2 + 0.5 * y
    np.testing.assert_allclose(value, np.where((x > y) & ~(x >= 2), z, 1.0 - (x < 1)))


def test_tensors_without_dimensions_and_numbers_are_operands() -> None:
    (x,) = variables("a", dtype="float32")
    s = pt.fscalar("s")
    assert (x * 2.5).dtype == (s / x).dtype == (x + s).dtype == "float32"
    assert (s - x).dims == ("a",)
    np.testing.assert_array_equal((s - x).eval({x: np.ones(2, "f4"), s: np.float32(3)}), [2, 2])
    for other in (np.ones(2), pt.vector()):
        with pytest.raises(NDimError, match="no names"):
            x + other
        with pytest.raises(NDimError, match="no names"):
            other * x


def test_lengths_of_one_name_are_equal() -> None:
    one, two = [px.xtensor(dims="a", shape=(n,)) for n in (1, 2)]
    with pytest.raises(BroadcastError, match="'a' has the lengths 1 and 2"):
        one + two
    x, y = variables("a", "a")
    with pytest.raises(ValueError, match=r"2.*3|3.*2"):
        (x + y).eval({x: np.zeros(2), y: np.zeros(3)})
    with pytest.raises(AssertionError):  # a length of 1 is not stretched where the name is there
        (one + x).eval({one: np.zeros(1), x: np.zeros(3)})


REDUCTIONS: Any = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "max": np.max, "min": np.min, "std": np.std,
    "var": np.var, "all": np.all, "any": np.any,
}  # fmt: skip


@pytest.mark.parametrize("dim", [None, ..., "b", ("c", "a"), []])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dim: Any) -> None:
    found, value = values(lambda x: getattr(x, name)(dim), "abc")
    gone = "abc" if dim in (None, ...) else dim
    assert found.dims == tuple([d for d in "abc" if d not in gone])
    axes = tuple(["abc".index(d) for d in gone])
    np.testing.assert_allclose(value, REDUCTIONS[name](array("abc"), axis=axes))


def test_reductions_of_integers_and_with_fewer_degrees_of_freedom() -> None:
    found, value = values(lambda x: x.sum("a"), "ab", dtype="int8")
    assert found.dtype == "int64"
    assert (value == array("ab", "int8").sum(0)).all()
    _, value = values(lambda x: x.std("c", ddof=1), "abc")
    np.testing.assert_allclose(value, array("abc").std(2, ddof=1))
    with pytest.raises(DimsError, match="no dimension 'q'"):
        variables("ab")[0].sum("q")


def test_running_sums() -> None:
    found, value = values(lambda x: x.cumsum("b") + x.cumprod(("a", "c")), "abc")
    x = array("abc")
    assert found.dims == ("a", "b", "c")
    np.testing.assert_allclose(value, x.cumsum(1) + x.cumprod(0).cumprod(2))
    _, value = values(lambda x: x.diff("c", 2), "abc")
    np.testing.assert_allclose(value, np.diff(x, 2, axis=2))


@pytest.mark.parametrize("dim", [None, ..., "a", "b", ("a", "b"), "c"])
@pytest.mark.parametrize(
    "dims", [("ab", "bc"), ("ab", "b"), ("b", "b"), ("abc", "cab"), ("abc", "b")]
)
def test_dot(dims: tuple[str, str], dim: Any) -> None:
    left, right = dims
    every = tuple(dict.fromkeys(left + right))
    summed = {None: {*left} & {*right}, ...: {*every}}.get(dim, {*(dim or "")} if dim != ... else 0)
    if not summed <= {*every}:
        with pytest.raises(DimsError, match="neither operand has"):
            values(lambda x, y: px.dot(x, y, dim=dim), *dims)
        return
    found, value = values(lambda x, y: x.dot(y, dim=dim), *dims)
    rest = [d for d in every if d not in summed]
    assert found.dims == tuple(rest)
    x, y = array(left), array(right, seed=1)
    np.testing.assert_allclose(value, np.einsum(f"{left},{right}->{''.join(rest)}", x, y))


def test_a_matrix_and_a_vector_are_one_product() -> None:
    x, w = variables("ab", "b")
    f = rw.function([x, w], x @ w)
    names = [type(node.op).__name__ for node in f.fgraph.toposort()]
    assert names == ["TensorFromXTensor", "TensorFromXTensor", "Dot", "XTensorFromTensor"]


@pytest.mark.parametrize("dim", ["b", None, ("a", "b")])
def test_softmax_and_logsumexp(dim: Any) -> None:
    axes = {"b": 1, None: None, ("a", "b"): (0, 1)}[dim]
    found, value = values(lambda x: px.math.softmax(500 * x, dim), "ab")
    assert found.dims == ("a", "b")
    np.testing.assert_allclose(value, special.softmax(500 * array("ab"), axis=axes), rtol=1e-9)
    found, value = values(lambda x: px.math.logsumexp(500 * x, dim), "ab")
    assert found.dims == (("a",) if dim == "b" else ())
    np.testing.assert_allclose(value, special.logsumexp(500 * array("ab"), axis=axes))


def test_methods_of_elements() -> None:
    def formula(x: Any, y: Any) -> Any:
        return x.clip(-1, y).where(x > 0, 7.0) + x.clip(max=1).clip(min=0.0) + x.round()

    _, value = values(formula, "ab", "b")
    x, y = array("ab"), array("b", seed=1)
    want = np.where(x > 0, np.clip(x, -1, y), 7.0) + np.clip(x, 0, 1) + np.round(x)
    np.testing.assert_allclose(value, want)
    _, value = values(lambda x: x.where(x > 0).fillna(-1.0), "ab")
    np.testing.assert_allclose(value, np.where(x > 0, x, -1))
    _, value = values(lambda x: divmod(x, 2.0)[1] + x.copy("y"), "ab")
    np.testing.assert_allclose(value, x % 2 + x)
