"""Ops that check conditions at run time: `Assert`, `CheckAndRaise`, `CheckParameter`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import OptionError, ParameterError
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.tensor.constant import as_tensor_variable, or_truth
from rewrite_engine.tensor.creation import filling_number
from rewrite_engine.tensor.math import second
from rewrite_engine.tensor.op import Shapes, TensorOp, same_shape

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Assert", "CheckAndRaise", "CheckParameter", "assert_op"]


class CheckAndRaise(TensorOp):
    """Op that returns a value and checks conditions: `op(value, *conditions)`.

    If an element of a condition is false, the function raises `exc_type(msg)` at run time. The
    gradient of the value passes through, and checks the conditions, too. Raises `OptionError` if
    exc_type is not an exception class.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> y = CheckAndRaise(ValueError, "x has to be positive")(x, pt.all(x > 0))
    >>> y.eval({x: [1.0, 2.0]})
    array([1., 2.])
    """

    moves_only = True
    elements = slice(0, 1)
    may_fail = True
    __props__: tuple[str, ...] | None = ("exc_type", "msg")
    view_map = {0: [0]}
    must_view_map = {0: 0}
    nin = None
    samples: Sequence[Any] = (({"exc_type": ValueError, "msg": "no"}, (2, 3), [True, True]),)

    def __init__(self, exc_type: type[BaseException], msg: str = "") -> None:
        if not (isinstance(exc_type, type) and issubclass(exc_type, BaseException)):
            raise OptionError(f"CheckAndRaise takes an exception class, not {exc_type!r}")
        self.exc_type, self.msg = exc_type, msg

    def __call__(  # type: ignore[override]
        self, *inputs: Any, **options: Any
    ) -> TensorVariable:
        """Apply the op; conditions known to be true are omitted."""
        value, *conditions = [as_tensor_variable(inputs[0]), *map(or_truth, inputs[1:])]
        asked = [c for c in conditions if not (isinstance(c, Constant) and np.all(c.data))]
        return super().__call__(value, *asked, **options) if asked else value

    def infer_types(self, types: tuple[Any, ...], numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the type of the value."""
        return types[:1]

    def shapes(self, *types: Any) -> Shapes:
        return same_shape(types[0])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to the whole batch if the conditions have no batch."""
        same = all([c.type.ndim == v.type.ndim for c, v in zip(inputs[1:], node.inputs[1:])])
        return [self(*inputs)] if same else None

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        value, *conditions = inputs
        if not all([np.all(c) for c in conditions]):
            raise self.exc_type(self.msg)
        output_storage[0][0] = value

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        return [[True], *[[False] for _ in node.inputs[1:]]]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        value, *conditions = inputs
        g = output_gradients[0]
        shared = filling_number(g)
        if shared is not None:
            g = second(value, self(shared, *conditions))
        else:
            g = self(g, *conditions)
        return [g, *[disconnected() for _ in conditions]]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        moved = eval_points[0]
        return [None if moved is None else self(moved, *inputs[1:])]

    def __str__(self) -> str:
        return f"{type(self).__name__}{{raises={self.exc_type.__name__}, msg={self.msg!r}}}"


class Assert(CheckAndRaise):
    """Op that returns a value and raises `AssertionError` if a condition is false (see
    `CheckAndRaise`).
    """

    __props__ = ("msg",)
    samples: Sequence[Any] = (({"msg": "no"}, (2, 3), [True, True]),)

    def __init__(self, msg: str = "a condition does not hold") -> None:
        super().__init__(AssertionError, msg)


class CheckParameter(CheckAndRaise):
    """Op that returns a density and raises `ParameterError` if a condition on its parameters is
    false (see `CheckAndRaise`).

    >>> import rewrite_engine.tensor as pt
    >>> x, sigma = pt.dvector("x"), pt.dscalar("sigma")
    >>> logp = -0.5 * (x / sigma) ** 2 - pt.log(sigma)
    >>> logp = CheckParameter("sigma > 0")(logp, sigma > 0)
    >>> logp.eval({x: [1.0, 2.0], sigma: 1.0})
    array([-0.5, -2. ])
    """

    __props__ = ("msg",)
    samples: Sequence[Any] = (({"msg": "n > 0"}, (2, 3), [True, True]),)

    def __init__(self, msg: str = "") -> None:
        super().__init__(ParameterError, msg)


assert_op = Assert()
