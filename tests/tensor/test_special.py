"""The softmax family as ops. Values and gradients: test_moments.py, tests/gradient."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.tensor import LogSoftmax, LogSumExp, Softmax
from tests.tensor.evaluate import evaluate


@pytest.mark.parametrize(
    "make", [lambda: LogSumExp((2, 1), True), lambda: Softmax(2), lambda: LogSoftmax((1, 2))]
)
def test_an_op_works_after_pickling_where_no_equal_one_exists(make: Any) -> None:
    data = pickle.dumps(make())  # as in another process: the only instance is gone
    gc.collect()
    op = pickle.loads(data)
    x = pt.tensor3("x")
    assert op is make()
    assert op(x).type == make()(x).type
    assert op.L_op([x], [op(x)], [op(x)])[0].type.ndim == 3


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16"])
@pytest.mark.parametrize("function", [pt.softmax, pt.log_softmax, pt.logsumexp])
def test_integers_become_floats_as_in_exp(function, dtype):
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    out = function(x)
    assert out.dtype == pt.exp(x).dtype
    value = np.array([0, 1, 1]).astype(dtype)
    wanted = evaluate(function(pt.cast(x, "float64")), {x: value})
    np.testing.assert_allclose(evaluate(out, {x: value}), wanted, rtol=2e-3)


@pytest.mark.parametrize(
    "name", ["beta", "betaln", "factorial", "logit", "poch", "softmax", "xlog1py", "xlogy"]
)
def test_where_other_libraries_have_them(name: str) -> None:
    assert getattr(pt.special, name) is getattr(pt, name)
