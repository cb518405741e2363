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
    "rank": (lambda x: x[:, None], NDimError, "expected 1 dimension for"),
    "number": (lambda x: np.float64(3.0), NDimError, "expected 1 dimension for"),
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


class Doubled(Op):
    """Twice a vector, in its own memory. declared: whether it says so. how: it gets at that."""

    __props__ = ("declared", "how")

    def __init__(self, declared: bool = False, how: str = "slice") -> None:
        self.declared, self.how = declared, how
        self.destroy_map = {0: [0]} if declared else {}

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [pt.as_tensor_variable(x)], [pt.dvector()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        (x,) = inputs
        if self.how == "slice":
            x[:] = 2 * x
        elif self.how == "out":
            np.multiply(x, 2, out=x)
        else:
            x += x
        output_storage[0][0] = x


class Backwards(Doubled):
    """A view of a vector, which it declares or not."""

    def __init__(self, declared: bool = False, how: str = "slice") -> None:
        super().__init__(False, how)
        self.declared = declared
        self.view_map = {0: [0]} if declared else {}

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0][::-1]


@rw.as_op(itypes=[pt.dvector], otypes=[pt.dvector])
def doubled(x: Any) -> Any:
    x *= 2
    return x


@pytest.mark.parametrize("linker", ["vm", "py", "native"])
@pytest.mark.parametrize("op", [Doubled(), Doubled(how="out"), Doubled(how="plus"), doubled,
                                Backwards(), Backwards(True)], ids=str)  # fmt: skip
def test_an_op_cannot_change_what_it_does_not_declare(op: Any, linker: str) -> None:
    """Neither arguments, shared variables, constants, nor what others read."""
    x, s = pt.dvector("x"), rw.shared(np.arange(3.0))
    c = pt.constant(np.arange(3.0))
    y = pt.exp(x)
    steps, _ = rw.scan(lambda a: op(a), outputs_info=[x], n_steps=2)
    outputs = [op(x), op(x) + x, op(s), op(c), op(y) + y, steps[-1]]
    f = rw.function([x], outputs, mode=rw.Mode(linker=linker))
    times = {True: lambda a: a[::-1], False: lambda a: 2 * a}[isinstance(op, Backwards)]
    for _ in range(3):
        a = np.arange(3.0)
        found = f(a)
        e = np.exp(a)
        wanted = [times(a), times(a) + a, times(a), times(a), times(e) + e, times(times(a))]
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, want)
        found[0][:] = 7  # (what is returned can be written to)
        assert a.tolist() == s.get_value().tolist() == c.data.tolist() == [0, 1, 2]


def test_an_op_overwrites_what_it_declares() -> None:
    x = pt.dvector("x")
    f = rw.function([rw.In(x, mutable=True)], Doubled(True)(x), accept_inplace=True)
    a = np.arange(3.0)
    assert f(a).tolist() == a.tolist() == [0, 2, 4]


def test_errors_of_an_op_are_raised_as_they_are() -> None:
    @rw.as_op(itypes=[pt.dvector], otypes=[pt.dvector])
    def failing(x: Any) -> Any:
        calls.append(1)
        raise ValueError("too small")

    calls: list[int] = []
    x = pt.dvector("x")
    with pytest.raises(ValueError, match="too small"):
        rw.function([x], failing(x))([1.0])
    assert calls == [1]
