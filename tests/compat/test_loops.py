"""Loops as PyTensor's programs take them apart."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.loops import scan
from rewrite_engine.errors import OptionError

x, first = pt.dvector("x"), pt.dscalar("first")


def add(value: Any, total: Any) -> Any:
    return total + value


def test_the_values_of_a_loop_are_a_part_of_all() -> None:
    sums, updates = scan(add, x, first)
    assert updates == {}
    whole = sums.owner.inputs[0]
    f = rw.function([x, first], [whole, whole[-1], sums])
    for given in ([1.0, 2.0, 3.0], []):
        found = f(given, 0.5)
        np.testing.assert_allclose(found[0], np.cumsum([0.5, *given]))
        np.testing.assert_allclose(found[1], 0.5 + sum(given))
        np.testing.assert_allclose(found[2], 0.5 + np.cumsum(given))


def test_several_initial_values() -> None:
    info = {"initial": x, "taps": [-2, -1]}
    two = scan(lambda a, b: (a + b, a), None, [info, None], n_steps=4, return_updates=False)
    whole = two[0].owner.inputs[0]
    f = rw.function([x], [whole, *two])
    numbers = np.array([1.0, 1, 2, 3, 5, 8])
    for got, want in zip(f([1.0, 1.0]), (numbers, numbers[2:], numbers[:4]), strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("outputs", [lambda v: v, lambda v: v[-1], lambda v: rw.grad(v.sum(), x)])
def test_they_cost_nothing(outputs: Any) -> None:
    """Not even where gradients are taken, or the last value."""
    there, here = [
        rw.function([x, first], outputs(loop(add, x, first)[0])) for loop in (scan, rw.scan)
    ]
    ops = [[str(n.op) for n in f.fgraph.toposort()] for f in (there, here)]
    assert ops[0] == ops[1]
    np.testing.assert_array_equal(there([1.0, 2.0], 3.0), here([1.0, 2.0], 3.0))


def test_states_and_outputs_without_initial_values_stay() -> None:
    rng = rw.shared(np.random.default_rng(3))
    step = lambda state: state.normal()
    after, draws = scan(step, None, [rng, None], n_steps=3, return_updates=False)
    state = np.random.default_rng(3)
    f = rw.function([], draws, updates={rng: after})
    np.testing.assert_array_equal(f(), [state.normal() for _ in range(3)])


def test_slopes_of_loops_that_draw() -> None:
    a, rng = pt.dscalar("a"), rw.shared(np.random.default_rng(3))

    def step(before: Any, state: Any) -> Any:
        after, noise = state.normal()
        return a * before + noise, after

    values, _ = scan(step, None, [pt.constant(1.0), rng], n_steps=3, return_updates=False)
    noise = np.random.default_rng(3).normal(size=3)
    f = rw.function([a], [values[-1], rw.grad(values[-1], a)])
    value, slope = f(2.0)
    np.testing.assert_allclose(value, 8 + noise @ [4, 2, 1])
    np.testing.assert_allclose(slope, 12 + noise @ [4, 1, 0])


def test_an_empty_size_is_no_argument_of_a_strict_step() -> None:
    size = x.shape[:-1]
    step = lambda _, state: state.normal(size=size)
    rng = rw.shared(np.random.default_rng(3))
    draws = rw.scan(step, pt.arange(2), [rng, None], strict=True, return_updates=False)[1]
    assert draws.eval().shape == (2,)


@pytest.mark.usefixtures("peers")
def test_what_is_dense_is_of_no_sparse_type() -> None:
    import pytensor.sparse

    dense = pytensor.sparse.as_sparse_or_tensor_variable(np.eye(2))
    assert dense.type == pt.constant(np.eye(2)).type
    assert not isinstance(dense.type, pytensor.sparse.SparseTensorType)
    assert not isinstance(dense, pytensor.sparse.variable.SparseVariable)
    with pytest.raises(AttributeError, match="pytensor.sparse.bsr_matrix is not in rewrite_engine"):
        pytensor.sparse.bsr_matrix("w")


def test_an_unknown_option_gets_a_suggestion() -> None:
    with pytest.raises(OptionError, match="scan has no option 'output_info'; did you mean output"):
        scan(abs, pt.vector(), output_info=1.0)
