"""Small functions of PyTensor's, and where programs find them."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat import extras, scalar_types, walks
from rewrite_engine.compat.linkers import PerformLinker, VMLinkerOfOthers
from rewrite_engine.config import config
from rewrite_engine.errors import MissingInputError, OptionError

x = pt.dvector("x")


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("theano.compile.pfunc", "pfunc"),
        ("aesara.compile.function", "pfunc"),
        ("aesara.misc.safe_asarray", "_asarray"),
        ("theano", "_asarray"),
        ("aesara.misc.may_share_memory", "may_share_memory"),
        ("pytensor.assumptions", "assume"),
        ("pytensor.assumptions.specify", "assume"),
        ("pytensor.link.basic", "PerformLinker"),
        ("pytensor.link.vm", "VMLinker"),
        ("pytensor.graph.rewriting.unify", "OpPattern"),
        ("pytensor.graph.rewriting.basic", "dfs_rewriter"),
        ("pytensor.tensor.basic", "_convert_to_float32"),
        ("pytensor.tensor.math", "_allclose"),
        ("aesara.tensor.inplace", "exp_inplace"),
        ("aesara.tensor.basic_opt", "register_canonicalize"),
        ("aesara.graph.optdb", "EquilibriumDB"),
        ("aesara.scalar.basic", "floats"),
        ("theano.gof.opt", "OpKeyOptimizer"),
    ],
)
def test_names(module: str, name: str) -> None:
    found = getattr(import_module(module), name)
    assert (
        found.__module__.startswith("rewrite_engine") or found.__class__.__module__ == "functools"
    )


@pytest.mark.usefixtures("peers")
def test_a_function_hides_the_module_that_has_it() -> None:
    from aesara.compile.function import pfunc  # type: ignore[import-not-found]

    np.testing.assert_array_equal(pfunc([x], x + 1)([1.0]), [2.0])


def test_arrays_of_a_dtype() -> None:
    with config.change_flags(floatX="float32"):
        assert extras._asarray([1, 2], "floatX").dtype == np.float32
    assert extras._asarray(1, "int8").dtype == np.int8
    assert extras._convert_to_float32(x).dtype == "float32"


def test_closeness_as_precision_is() -> None:
    close, wide = np.float32(1.00001), np.float64(1.00001)
    assert extras._allclose(np.float16(1.0), np.float16(1.001))
    assert extras._allclose(close, np.float32(1.0))
    assert not extras._allclose(wide * 10, np.float64(1.0))
    assert not extras._allclose(np.float32(1.0), np.float32(1.1), rtol=1e-3)


def test_who_may_share_memory() -> None:
    a, rng = np.zeros(3), np.random.default_rng(1)
    assert extras.may_share_memory(a, a[1:])
    assert not extras.may_share_memory(a, a.copy())
    assert extras.may_share_memory(rng, rng)
    assert not extras.may_share_memory(a, "a", raise_other_type=False)
    with pytest.raises(TypeError):
        extras.may_share_memory(a, "a")


def test_values_of_tags() -> None:
    v = pt.dvector("v")
    v.tag.test_value = np.array([1.0, 2.0])
    np.testing.assert_array_equal(extras.get_test_value(v * 2), [2.0, 4.0])
    assert extras.get_test_value(pt.constant(3.0)) == 3.0
    with pytest.raises(MissingInputError):
        extras.get_test_value(x + 1)


def test_what_is_assumed() -> None:
    m = pt.dmatrix("m")
    told = extras.assume(m, diagonal=True, selection=True, symmetric=False)
    f = rw.function([m], pt.linalg.inv(told))
    np.testing.assert_allclose(f(np.diag([2.0, 4.0])), np.diag([0.5, 0.25]))
    assert extras.assume(m, selection=True) is m


def test_scalars_by_letters() -> None:
    assert [v.name for v in scalar_types.floats("xy")] == ["x", "y"]
    assert [str(v.type) for v in scalar_types.ints("a", "bc")] == ["ScalarType(int64)"] * 2


def test_nodes_between() -> None:
    y = pt.exp(pt.log(x))
    nodes = walks.list_of_nodes([x], [y])
    assert [node.op for node in nodes] == [pt.log, pt.exp]
    assert walks.is_in_ancestors(nodes[1], nodes[0])
    assert not walks.is_in_ancestors(nodes[0], nodes[1])


@pytest.mark.parametrize("linker", [PerformLinker(allow_gc=False), VMLinkerOfOthers(lazy=True)])
def test_linkers(linker: object) -> None:
    f = rw.function([x], pt.exp(x), mode=rw.Mode(linker=linker))  # type: ignore[arg-type]
    np.testing.assert_allclose(f([0.0, 1.0]), np.exp([0.0, 1.0]))
    with pytest.raises(OptionError, match="callback"):
        VMLinkerOfOthers(callback=print)  # type: ignore[arg-type]
