"""Rules that move what takes elements of a draw to the parameters."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.draws import (
    local_dimshuffle_rv_lift,
    local_rv_size_lift,
    local_subtensor_rv_lift,
)
from rewrite_engine.graph import FunctionGraph

STATE = pt.random.rng("state")
MEANS = np.array([0.0, 100.0, 200.0])


def normals(**options: Any) -> Any:
    return pt.random.normal(MEANS, 0.01, rng=STATE, **options)


def vectors() -> Any:
    means = np.arange(0.0, 800.0, 100.0).reshape(4, 2)
    return pt.random.multivariate_normal(means, 1e-4 * np.eye(2), rng=STATE)


def lifted(rule: Any, x: Any, *more: Any) -> Any:
    """What a rule puts in the place of a variable; None if it does nothing."""
    fgraph = FunctionGraph(None, [x, *more], clone=False)
    found = rule.transform(fgraph, x.owner)
    return None if found is None else found[x]


def value(x: Any) -> Any:
    return rw.function([STATE], x)(np.random.default_rng(3))


TAKEN = [
    (local_subtensor_rv_lift, lambda: normals()[1]),
    (local_subtensor_rv_lift, lambda: normals(size=(2, 3))[1, ::2]),
    (local_subtensor_rv_lift, lambda: normals()[None, 1:]),
    (local_subtensor_rv_lift, lambda: normals()[np.array([True, False, True])]),
    (local_subtensor_rv_lift, lambda: normals(size=(2, 3))[:, [2, 0]]),
    (local_subtensor_rv_lift, lambda: vectors()[1:3]),
    (local_subtensor_rv_lift, lambda: vectors()[[3, 0]]),
    (local_dimshuffle_rv_lift, lambda: normals(size=(2, 3)).T),
    (local_dimshuffle_rv_lift, lambda: vectors().dimshuffle(0, "x", 1)),
]


@pytest.mark.parametrize(("rule", "make"), TAKEN)
def test_draws_are_those_of_the_parameters(rule: Any, make: Any) -> None:
    """The means stand so far apart that each draw tells which it has."""
    old = make()
    new = lifted(rule, old)
    assert isinstance(new.owner.op, pt.random.RandomVariable)
    assert old.type.is_super(new.type)
    np.testing.assert_allclose(value(new), value(old), atol=0.2)


KEPT = [
    (local_subtensor_rv_lift, lambda: normals()[[1, 1]]),
    (local_subtensor_rv_lift, lambda: normals()[[0, -3]]),
    (local_subtensor_rv_lift, lambda: normals()[pt.lvector("i")]),
    (local_subtensor_rv_lift, lambda: normals(size=(2, 3))[[0, 1], [1, 2]]),
    (local_subtensor_rv_lift, lambda: vectors()[:, 0]),
    (local_subtensor_rv_lift, lambda: vectors()[np.ones((4, 2), bool)]),
    (local_subtensor_rv_lift, lambda: (normals() + 1.0)[1]),
    (local_dimshuffle_rv_lift, lambda: vectors().T),
    (local_dimshuffle_rv_lift, lambda: vectors().dimshuffle(0, 1, "x")),
]


@pytest.mark.parametrize(("rule", "make"), KEPT)
def test_what_is_no_draw_of_parameters_stays(rule: Any, make: Any) -> None:
    """Elements taken twice, parts of one draw, and what is made of a draw."""
    assert lifted(rule, make()) is None


def test_a_draw_with_another_use_stays() -> None:
    draw = normals()
    assert lifted(local_subtensor_rv_lift, draw[1], draw.sum()) is None


def test_a_size_becomes_lengths_of_parameters() -> None:
    old = normals(size=(2, 3))
    fgraph = FunctionGraph(None, [old], clone=False)
    new = local_rv_size_lift.transform(fgraph, old.owner)[1]
    assert new.owner.op.lengths is None
    np.testing.assert_array_equal(value(new), value(old))
    assert lifted(local_rv_size_lift, normals()) is None


def test_the_next_state_is_replaced_too() -> None:
    after, draw = STATE.normal(MEANS, 1.0)
    taken = draw[1:]
    fgraph = FunctionGraph(None, [taken, after], clone=False)
    found = local_subtensor_rv_lift.transform(fgraph, taken.owner)
    assert set(found) == {taken, after}
    assert found[after].owner is found[taken].owner


def test_parameters_of_other_programs_are_aligned() -> None:
    """PyMC's extensions compare dimensions of parameters by their number from the left."""
    mean, matrix = pt.vector("mean"), pt.matrix("matrix")
    draws = [
        lambda: pt.random.normal(matrix, 2.0, rng=STATE),
        lambda: pt.random.normal(0.0, 1.0, size=(2, 3), rng=STATE),
        lambda: pt.random.multivariate_normal(mean, np.stack([np.eye(2)] * 4), rng=STATE),
    ]
    plain = [[v.type.ndim for v in draw().owner.inputs[2:]] for draw in draws]
    assert plain == [[2, 0], [0, 0], [1, 3]]
    given = {"mean": [0.0, 9.0], "matrix": np.ones((2, 3))}
    with rw.config.change_flags(random_parameters="aligned"):
        made = [draw() for draw in draws]
    assert [[v.type.ndim for v in x.owner.inputs[2:]] for x in made] == [[2, 2], [2, 2], [2, 3]]
    for one, draw in zip(made, draws, strict=True):
        names = [v for v in (mean, matrix) if v in set(rw.graph.traverse.ancestors([one]))]
        values = [np.random.default_rng(3), *[given[v.name] for v in names]]
        found, wanted = [rw.function([STATE, *names], v)(*values) for v in (one, draw())]
        np.testing.assert_array_equal(found, wanted)


def test_draws_that_depend_on_each_other_are_not_aligned() -> None:
    with rw.config.change_flags(random_parameters="aligned"):
        draw = pt.random.choice(5, size=(3,), replace=False, rng=STATE)
    assert len(set(value(draw).tolist())) == 3
