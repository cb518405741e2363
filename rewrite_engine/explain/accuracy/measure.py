"""`accuracy`: measure how many digits of a function's results are right.

>>> import numpy as np
>>> import rewrite_engine as rw
>>> import rewrite_engine.tensor as pt
>>> x = pt.vector("x")
>>> f = rw.function([x], pt.exp(x) / pt.exp(x).sum())
>>> report = rw.accuracy(f, [1000.0, 1001.0])
>>> report.written, report.compiled > 15
(0.0, True)
>>> [effect.rule for effect in report.effects]
['softmax/softmax_from_exp']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any

from rewrite_engine.compile import Function
from rewrite_engine.errors import InputError, MissingPackageError
from rewrite_engine.explain.accuracy.recorded import record_alone
from rewrite_engine.explain.accuracy.report import AccuracyReport
from rewrite_engine.explain.capture import copied
from rewrite_engine.explain.record import FunctionRecord, record_of
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.link.program import MISSING, Argument, Cell

if TYPE_CHECKING:
    from rewrite_engine.explain.model import FunctionReport


def accuracy(f: Function[Any], /, *args: Any, **kwargs: Any) -> AccuracyReport:
    """Measure how many digits of a function's results are right for these arguments, and find where
    others are lost.

    f: a compiled function (or a PyMC function of a point, with the point as argument). args,
    kwargs: its arguments, as in a call; shared variables keep their values. The exact results are
    those of the graph as written, computed with many digits; the report also has the digits that
    the graph as written gets in floats, the steps that lose digits, and the rules, or the terms to
    write by hand, that restore them.

    Raises `InputError` for other things than a compiled function, for arguments that do not fit,
    and for a function that was unpickled, which does not know its graph as written; errors of a
    call; `MissingPackageError` if mpmath is not installed.
    """
    function, given, named = _called(f, args, kwargs)
    values = _values(function, given, named)
    record = record_of(function) or _recorded(function)
    return accuracy_of(record, "the given arguments", values, function)


def accuracy_of(
    record: FunctionRecord, basis: str, values: Sequence[Any], f: Function[Any] | None = None
) -> AccuracyReport:
    """Measure a recorded function on values of the inputs of its graph. basis: what these are.
    f: the function, if the record is of another one that was compiled alike.
    """
    if find_spec("mpmath") is None:
        raise MissingPackageError(
            'accuracy computes with mpmath, which is missing: pip install "rewrite-engine[check]"'
        )
    from rewrite_engine.explain.accuracy.study import Study

    return Study(record, basis, [copied(value) for value in values], f).report()


def report_of(f: FunctionReport) -> AccuracyReport:
    """Measure a recorded function on the inputs of its first call, or on random ones."""
    from rewrite_engine.explain.evaluate import random_values

    values, called = f.record.called.values, f.record.called
    basis = "the inputs of the first call"
    if values is None:
        basis = f"random inputs ({called.problem})"
        values = random_values(f.record.before, f.record.inputs)
    return accuracy_of(f.record, basis, values)


def _called(
    f: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Function[Any], Sequence[Any], dict[str, Any]]:
    """Return a compiled function and its arguments."""
    if isinstance(f, Function):
        return f, args, kwargs
    inner = getattr(f, "f", None)
    if isinstance(inner, Function) and len(args) == 1 and isinstance(args[0], dict):
        return inner, (), {**args[0], **kwargs}
    parts = getattr(f, "__dict__", {})
    held = [name for name, value in parts.items() if isinstance(value, Function)]
    hint = f": pass its attribute {held[0]!r}" if held else ""
    raise InputError(f"accuracy takes a compiled function and its arguments, not {f!r}{hint}")


def _recorded(f: Function[Any]) -> FunctionRecord:
    """Compile a function again, to know what the rules do."""
    if f.written is None:
        raise InputError(
            f"{f!r} was unpickled, and pickles hold the rewritten graph alone: measure it where it "
            "was compiled"
        )
    record = record_alone(partial(f.written.compile, f.mode))
    return replace(record, place=origin_line(f.written.origin))


def _values(f: Function[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Return the value of each input of the graph: arguments, their defaults, and states."""
    try:
        bound = signature(f).bind(*args, **kwargs)
    except TypeError as error:
        raise InputError(f"{f.program.name}: {error}") from None
    bound.apply_defaults()
    given = iter(bound.arguments.values())
    return [
        spec.value if isinstance(spec, Cell) else _argument(f, spec, next(given))
        for spec in f.program.inputs
    ]


def _argument(f: Function[Any], spec: Argument, value: Any) -> Any:
    if value is not MISSING:
        return spec.type.filter(value, strict=spec.strict, allow_downcast=spec.allow_downcast)
    if spec.default is None:
        raise InputError(f"{f.program.name}: the argument {spec.name or spec.type} is missing")
    return spec.default.value
