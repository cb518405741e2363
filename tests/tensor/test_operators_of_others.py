"""What operators, and functions of NumPy's, do with what is no tensor."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NotConstantError, NoTensorError

x, n = pt.dvector("x"), pt.lscalar("n")


class Kernel:
    """A class of a program, with its own meaning of products."""

    def __rmul__(self, other: Any) -> Any:
        return "scaled", other

    def __rpow__(self, other: Any) -> Any:
        return "base", other


def test_the_other_side_is_asked() -> None:
    assert x * Kernel() == ("scaled", x)
    assert x ** Kernel() == ("base", x)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mod])
def test_a_side_that_has_no_answer(op: Any) -> None:
    for other in (Kernel(), "a", None, np.array(["a"]), np.ma.array([1.0], mask=True)):
        with pytest.raises(NoTensorError, match="takes tensors|not an array of numbers"):
            op(x, other)


def test_counting_reads_no_values() -> None:
    assert (np.ndim((5, n)), np.shape([n, n, 1]), np.size([[n, 1]])) == (1, (3,), 2)
    for read in (lambda: np.array([n]), lambda: np.ndim([x]), lambda: np.asarray((5, n))):
        with pytest.raises(NotConstantError, match="has no values"):
            read()
