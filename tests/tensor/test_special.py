"""The softmax family as ops. Values and gradients: test_statistics.py, tests/gradient."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.tensor import LogSoftmax, LogSumExp, Softmax


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
