"""The inputs of a function's first call, kept as copies; every later call runs as if nobody had
watched.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from inspect import signature
from time import perf_counter
from typing import Any
from weakref import ref

import numpy as np

from rewrite_engine.compile import Function
from rewrite_engine.link.program import MISSING, Argument, Cell

LIMIT = 1 << 28  # bytes of inputs that are copied; more are not kept


@dataclass(slots=True)
class FirstCall:
    """values: copies of what went in, one per input of the graph, or None. problem: why there are
    none. seconds: how long the call took, None before it. error: what it raised.
    """

    values: list[Any] | None = None
    problem: str = "the function was never called"
    seconds: float | None = None
    error: str | None = None


def capture_first_call(function: Function, called: FirstCall) -> None:
    """Make the next call of a function note its inputs in `called`, and then forget about it."""
    this = ref(function)
    call = function.func
    inputs, arguments = function.program.inputs, signature(function)

    def first(*args: Any, **kwargs: Any) -> Any:
        function = this()
        if function is not None and function.func is first:
            _set(function, (call, (), {}, function.__dict__))
        if called.seconds is not None:
            return call(*args, **kwargs)
        called.seconds = 0.0
        _copy_inputs(called, arguments, inputs, args, kwargs)
        return _timed(called, call, args, kwargs)

    _set(function, (first, (), {}, function.__dict__))


#: how a partial gets another function: the way its unpickling does
_set: Any = vars(partial)["__setstate__"]


def _timed(called: FirstCall, call: Any, args: Any, kwargs: Any) -> Any:
    start = perf_counter()
    try:
        return call(*args, **kwargs)
    except BaseException as error:
        called.error = f"{type(error).__name__}: {error}".splitlines()[0]
        raise
    finally:
        called.seconds = perf_counter() - start


def _copy_inputs(called: FirstCall, arguments: Any, inputs: Any, args: Any, kwargs: Any) -> None:
    """Note copies of all inputs. What is wrong with them is for the call itself to say."""
    try:
        values = _values(arguments, inputs, args, kwargs)
    except Exception as error:
        called.problem = f"the inputs of the first call are not valid ({type(error).__name__})"
        return
    size = sum(int(getattr(v, "nbytes", 0)) for v in values)
    if size > LIMIT:
        called.problem = f"the inputs of the first call are too large to copy ({size >> 20} MiB)"
        return
    try:
        called.values = [copied(v) for v in values]
    except Exception as error:
        called.problem = f"the inputs of the first call cannot be copied ({type(error).__name__})"


def _values(arguments: Any, inputs: Any, args: Any, kwargs: Any) -> list[Any]:
    """The value of each input of the graph: from the arguments, their defaults, and the state."""
    bound = arguments.bind(*args, **kwargs)
    bound.apply_defaults()
    given = iter(bound.arguments.values())
    return [
        spec.value if isinstance(spec, Cell) else _argument(spec, next(given)) for spec in inputs
    ]


def _argument(spec: Argument, value: Any) -> Any:
    if value is not MISSING:
        return spec.type.filter(value, strict=spec.strict, allow_downcast=spec.allow_downcast)
    if spec.default is None:
        raise TypeError("an argument is missing")
    return spec.default.value


def copied(value: Any) -> Any:
    """A copy that shares nothing."""
    return np.array(value) if type(value) is np.ndarray else deepcopy(value)
