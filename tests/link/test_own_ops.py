"""Ops of users are held to the types that their nodes declare, whatever linker runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, NDimError, StaticShapeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op

WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "dtype": (lambda x: x.astype("float32"), DTypeError, "expected an array of dtype float64"),
    "length": (lambda x: x[:2], StaticShapeError, "expected shape (3,)"),
    "rank": (lambda x: x[:, None], NDimError, "expected 1 dimensions"),
    "number": (lambda x: np.float64(3.0), NDimError, "expected 1 dimensions"),
}


class Returned(Op):
    """Declares vectors of three numbers and returns something, once or twice."""

    __props__ = ("what", "nout")

    def __init__(self, what: str, nout: int) -> None:
        self.what = what
        self.nout = nout

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [pt.TensorType("float64", (3,))() for _ in range(self.nout)])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        (x,) = inputs
        for cell in output_storage:
            cell[0] = 2 * x
        output_storage[-1][0] = WRONG[self.what][0](x) if self.what in WRONG else 3 * x


@pytest.mark.parametrize("mode", ["VM", "py"])
@pytest.mark.parametrize("nout", [1, 2])
def test_results_have_the_types_that_are_declared(mode: str, nout: int) -> None:
    x = pt.dvector("x")
    linker = rw.Mode(linker="py") if mode == "py" else None
    for what, (_, error, text) in WRONG.items():
        outputs = Returned(what, nout).make_node(x).outputs
        f = rw.function([x], list(outputs), mode=linker)
        with pytest.raises(error) as caught:
            f([1.0, 2.0, 3.0])
        assert text in str(caught.value)
        notes = "".join(caught.value.__notes__)
        assert f"what={what!r}" in notes
        assert "test_own_ops.py" in notes
    right = rw.function([x], Returned("right", nout).make_node(x).outputs[-1], mode=linker)
    np.testing.assert_array_equal(right([1.0, 2.0, 3.0]), [3.0, 6.0, 9.0])
