"""Copies of the inputs of some calls of a function: of the first calls, and then of ever fewer."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.compile import Function
from rewrite_engine.link.program import MISSING, Argument, Cell

LIMIT = 1 << 28  # bytes of inputs that are copied, of all calls; more are not kept
FIRST = 4  # calls that are kept, and then those whose number is a power of two


class KeptCall(NamedTuple):
    """A recorded call. values: copies of the inputs, one per input of the graph."""

    number: int
    values: list[Any]


@dataclass(slots=True)
class Calls:
    """count: how often the function was called. kept: the calls whose inputs are known. problem:
    why there are none. seconds: how long the first call took, None before it. error: what it
    raised.
    """

    count: int = 0
    kept: list[KeptCall] = field(default_factory=list)
    problem: str = "the function was never called"
    seconds: float | None = None
    error: str | None = None
    size: int = 0

    @property
    def values(self) -> list[Any] | None:
        """Inputs of the first call that is known."""
        return self.kept[0].values if self.kept else None


def capture_calls(function: Function, calls: Calls) -> None:
    """Make a function note the inputs of its calls in `calls`."""
    call = function.func
    inputs, arguments = function.program.inputs, signature(function)

    def watched(*args: Any, **kwargs: Any) -> Any:
        calls.count = n = calls.count + 1
        if n > FIRST and n & (n - 1):
            return call(*args, **kwargs)
        _copy_inputs(calls, arguments, inputs, args, kwargs)
        return call(*args, **kwargs) if n > 1 else _timed(calls, call, args, kwargs)

    _set(function, (watched, (), {}, function.__dict__))


#: how a partial gets another function: the way its unpickling does
_set: Any = vars(partial)["__setstate__"]


def _timed(calls: Calls, call: Any, args: Any, kwargs: Any) -> Any:
    start = perf_counter()
    try:
        return call(*args, **kwargs)
    except BaseException as error:
        calls.error = f"{type(error).__name__}: {error}".splitlines()[0]
        raise
    finally:
        calls.seconds = perf_counter() - start


def _copy_inputs(calls: Calls, arguments: Any, inputs: Any, args: Any, kwargs: Any) -> None:
    """Note copies of all inputs. What is wrong with them is for the call itself to say."""
    problem = None
    try:
        values = _values(arguments, inputs, args, kwargs)
        size = sum(int(getattr(v, "nbytes", 0)) for v in values)
        if calls.size + size > LIMIT:
            problem = f"are too large to copy ({size >> 20} MiB)"
    except Exception as error:
        problem = f"are not valid ({type(error).__name__})"
    if problem is None:
        try:
            calls.kept.append(KeptCall(calls.count, [copied(v) for v in values]))
            calls.size += size
        except Exception as error:
            problem = f"cannot be copied ({type(error).__name__})"
    if problem is not None and calls.count == 1:
        calls.problem = f"the inputs of the first call {problem}"


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
    """Return a copy that shares no memory."""
    return np.array(value) if type(value) is np.ndarray else deepcopy(value)
