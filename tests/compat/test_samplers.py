"""What nutpie gets of compiled functions. (`tests/compat/pymc/samplers.py` samples with it.)"""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.samplers import by_names, value_and_gradient, values_of
from rewrite_engine.errors import InputError

x = pt.dvector("x")


def test_values_come_with_each_call_and_stay_there() -> None:
    scale = rw.shared(np.asarray(2.0), "scale")
    f = rw.function([x], [(scale * x).sum(), scale * pt.ones_like(x)])
    call = value_and_gradient(f)
    value, slope = call(np.ones(2), scale=np.asarray(3.0))
    assert (value, slope.tolist()) == (6.0, [3.0, 3.0])
    assert scale.get_value() == 2.0
    draw = by_names(rw.function([x], [x * scale]), ["y"], [(2, 1)])
    drawn = draw(np.ones(2), scale=np.asarray(2.0))
    assert drawn["y"].tolist() == [[2.0], [2.0]]


def test_data_have_names_of_their_own() -> None:
    a, b, c = rw.shared(1.0, "a"), rw.shared(2.0, "a"), rw.shared(3.0)
    one, both = rw.function([x], x * a * c), rw.function([x], x * a * b)
    assert values_of(one, one) == {"a": 1.0}
    with pytest.raises(InputError, match="nutpie finds data by name"):
        values_of(one, both)
