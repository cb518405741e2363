"""Modes that inspect every value: `NanGuardMode`, `MonitorMode`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Never

from rewrite_engine.compile.mode import DEFAULT, Mode
from rewrite_engine.errors import refuse_unknown
from rewrite_engine.link.watch import MonitorLinker, NanGuardLinker

__all__ = ["MonitorMode", "NanGuardMode", "detect_nan"]


class NanGuardMode(Mode):
    """Mode whose functions raise `BadValueError` for the first bad value of an input or a node.

    The error shows the variable, the first values with their indices, the node, the step of a loop
    and the line where the user built the node. Nodes run one by one, and loops step by step.
    nan_is_error, inf_is_error, big_is_error: whether NaN, infinities and numbers beyond 1e10 are
    errors. optimizer: as in `Mode`.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> x = pt.dvector("x")
    >>> f = rw.function([x], pt.log(x).sum(), mode=NanGuardMode(inf_is_error=False))
    >>> try:
    ...     f([-1.0])
    ... except AssertionError as error:
    ...     print(error)
    NaN in log(x) of type TensorType(float64, (None,))
        1 of 1 element, at [0]: nan
    """

    def __init__(
        self,
        nan_is_error: bool = True,
        inf_is_error: bool = True,
        big_is_error: bool = True,
        optimizer: Any = DEFAULT,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_unknown("NanGuardMode", unknown, signature(NanGuardMode).parameters)
        super().__init__("py", optimizer)
        self.linker = NanGuardLinker(nan_is_error, inf_is_error, big_is_error)


class MonitorMode(Mode):
    """Mode whose functions call `pre_func(fgraph, i, node, fn)` before each node and
    `post_func(…)` after it.

    Either may be None. node is the i-th that runs of fgraph (a graph inside an op has its own
    numbers). fn.inputs and fn.outputs hold the values, each in a list of one. optimizer: as in
    `Mode`.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> def shown(fgraph, i, node, fn):
    ...     print(i, node.op, [x[0].tolist() for x in fn.inputs], "->", fn.outputs[0][0])
    >>> x = pt.dvector("x")
    >>> rw.function([x], pt.exp(x).sum(), mode=MonitorMode(post_func=shown))([0.0, 0.0])
    0 exp [[0.0, 0.0]] -> [1. 1.]
    1 Sum [[1.0, 1.0]] -> 2.0
    array(2.)
    """

    def __init__(
        self,
        pre_func: Callable[..., Any] | None = None,
        post_func: Callable[..., Any] | None = None,
        optimizer: Any = DEFAULT,
        **unknown: Never,
    ) -> None:
        if unknown:
            refuse_unknown("MonitorMode", unknown, signature(MonitorMode).parameters)
        super().__init__("py", optimizer)
        self.linker = MonitorLinker(pre_func, post_func)


def detect_nan(fgraph: Any, i: int, node: Any, fn: Any) -> None:
    """Print each node with a NaN among its results, and its values, for `MonitorMode`."""
    values = [cell[0] for cell in fn.outputs]
    if any([getattr(v, "dtype", None) is not None and (v != v).any() for v in values]):
        print(f"*** NaN in node {i}: {node}")  # noqa: T201
        print("    inputs :", [cell[0] for cell in fn.inputs])  # noqa: T201
        print("    outputs:", values)  # noqa: T201
