"""Arguments of `scan`: sequences and outputs with their taps, the number of steps, and the
variables passed to a step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.errors import InputError, NDimError, OptionError, ShapeError, describe
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located


@dataclass
class Taps:
    """Sequence, or output (`start` may be None), with its taps: the values that a step receives."""

    start: Any
    taps: list[int]

    @property
    def reach(self) -> int:
        """The number of earlier values that the taps reach."""
        return -min(self.taps, default=0)


def mode_of(given: Any) -> Any:
    """Return the mode of the loop; None for the default one. Raise `UnknownNameError`."""
    if given is None:
        return None
    mode = hooks.get_mode(given)
    return None if mode == hooks.get_mode() else mode


def truncated(given: Any) -> int:
    """Return the argument `truncate_gradient` as an integer. Raise `InputError`."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if given == -1 or given >= 1:
            return int(given)
    what = f"truncate_gradient must be a number of steps, or -1, not {given!r}"
    raise InputError(located(f"scan: {what}"))


def check_flags(**flags: Any) -> None:
    """Raise `OptionError` unless all flags are True or False."""
    for key, given in flags.items():
        if not isinstance(given, bool | np.bool_):
            raise OptionError(located(f"scan: {key} must be True or False, not {given!r}"))


def listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple | range) else [given]


def taps_of(given: Any, default: list[int]) -> list[int]:
    taps = default if given is None else list(np.atleast_1d(given))
    if not all(isinstance(k, int | np.integer) for k in taps):
        raise InputError(located(f"scan: taps must be integers, not {given}"))
    return [int(k) for k in taps]


def check_keys(given: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise OptionError(located(f"scan: a dict must have the keys {[*known]}, not {key!r}"))


def read_sequence(given: Any) -> Taps:
    """Return a sequence with its taps. Raise `InputError`, `NDimError`."""
    if isinstance(given, Mapping):
        check_keys(given, ("input", "taps"))
        if given.get("input") is None:
            raise InputError(located("scan: a sequence that is a dict must have the key 'input'"))
        taps, given = taps_of(given.get("taps"), [0]), given["input"]
    else:
        taps = [0]
    x = pt.as_tensor_variable(given)
    if not x.type.ndim:
        raise NDimError(located("scan: a sequence must have at least one dimension", inputs=[x]))
    return Taps(x, taps)


def read_output(given: Any) -> Taps:
    """Return an output with its initial value and taps. Raise `InputError`, `NDimError`."""
    if given is None:
        return Taps(None, [])
    if not isinstance(given, Mapping):
        given = {"initial": given}
    check_keys(given, ("initial", "taps"))
    start = given.get("initial")
    none = start is None or given.get("taps", ()) is None  # ("taps": None says that there are none)
    taps = taps_of(given.get("taps"), [] if none else [-1])
    if start is None or not taps:
        if taps:
            raise InputError(located(f"scan: an output with taps {taps} needs an initial value"))
        return Taps(None, [])
    if max(taps) >= 0:
        raise InputError(located(f"scan: taps of outputs must be below 0, not {taps}"))
    if len(set(taps)) < len(taps):
        raise InputError(located(f"scan: taps of an output must be distinct, not {taps}"))
    x = variable_of(start)
    in_row = taps != [-1] or isinstance(given.get("taps"), tuple | range)
    if in_row and not x.type.ndim:
        what = (
            f"scan: the initial value of an output with taps {taps} must hold {-min(taps)} values"
        )
        raise NDimError(located(what, inputs=[x]))
    return Taps(x[0] if in_row and taps == [-1] else x, taps)


def steps_of(reads: list[Taps], n_steps: Any, backwards: bool) -> tuple[Any, list[Any]]:
    """Return the number of steps, and for each tap of each sequence the part to read from its first
    element on.

    Raises `InputError`, `ShapeError`.
    """
    shifted = []
    for read in reads:
        low, high = min([0, *read.taps]), max([0, *read.taps])
        for tap in read.taps:
            end = tap - high
            whole = tap == low and not end
            x = read.start if whole else read.start[tap - low : end or None]
            shifted.append(x[::-1] if backwards else x)
    if n_steps is not None:
        steps = pt.as_tensor_variable(n_steps)
        if steps.type.ndim or steps.type.kind not in "iu":
            raise InputError(located("scan: n_steps must be a 0-d integer", inputs=[steps]))
        if isinstance(steps, Constant):
            n = int(steps.data)
            if n < 0:
                raise ShapeError(located(f"scan: n_steps must not be negative: {n}"))
            check_lengths(shifted, n)
            return n, shifted
        return steps, shifted
    if not shifted:
        raise InputError(located("scan: n_steps is required if there are no sequences"))
    lengths = [pt.shape_tuple(x)[0] for x in shifted]
    if all(isinstance(n, int) for n in lengths):
        return min(lengths), shifted
    shortest = lengths[0]
    for length in lengths[1:]:
        shortest = pt.minimum(shortest, length)
    return shortest, shifted


def check_lengths(sequences: list[Any], n: int) -> None:
    """Raise `ShapeError` for a sequence that is known to be too short."""
    for i, x in enumerate(sequences):
        length = x.type.shape[0]
        if length is not None and length < n:
            what = f"scan: sequence {i} has {length} elements, but there are {n} steps"
            raise ShapeError(located(what, inputs=[x]))


def slice_of(x: Any, name: str | None, tap: int) -> Any:
    """Return a variable for the elements of an array, named after the array and the step: `x[t]`,
    `x[t+1]`, `x[t-3]`.
    """
    return x.type.clone(shape=x.type.shape[1:])(at_step(name, tap))


def at_step(name: str | None, tap: int) -> str | None:
    """Return the name of a value of another step, or of this one."""
    return f"{name}[t{tap:+d}]" if name and tap else f"{name}[t]" if name else None


def values_of(k: int, info: Taps) -> list[Any]:
    """Return variables for the last values of output k, the oldest first. Raise `ShapeError`."""
    if info.start is None:
        return []
    if info.taps == [-1]:
        return [info.start.type(at_step(info.start.name, -1))]
    length = info.start.type.shape[0]
    if length is not None and length < info.reach:
        what = f"the initial value of output {k} holds {length} values"
        what += f", but its taps {info.taps} need {info.reach}"
        raise ShapeError(located(f"scan: {what}", inputs=[info.start]))
    taps = range(-info.reach, 0)
    return [slice_of(info.start, info.start.name, tap) for tap in taps]


def given_of(info: Taps, values: list[Any]) -> list[Any]:
    """Return the last values that the step receives."""
    return [values[tap + info.reach] for tap in info.taps]


def check_takes(fn: Callable[..., Any], *counts: int) -> None:
    """Raise `InputError` unless `fn` is a function that accepts this number of arguments."""
    if not callable(fn):
        raise InputError(located(f"scan: a step must be a function, not {describe(fn)}"))
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # it does not tell
        return
    try:
        signature.bind(*[None] * sum(counts))
    except TypeError:
        names = list(signature.parameters)
        takes = f"{len(names)} argument{'s' * (len(names) != 1)} ({', '.join(names)})"
        kinds = ("sequences", "earlier values", "non_sequences")
        given = ", ".join([f"{n} of {kind}" for n, kind in zip(counts, kinds, strict=True)])
        what = f"scan: the step takes {takes}, but receives {sum(counts)}: {given}"
        hint = (
            "an output whose earlier values the step takes needs an initial value in outputs_info"
        )
        raise InputError(located(what, hint=hint)) from None


def parameters_of(fn: Callable[..., Any], arguments: Sequence[Any]) -> dict[Any, str]:
    """Return the names of a step's parameters; none if they are unknown."""
    try:
        bound = inspect.signature(fn).bind(*arguments).arguments
    except (TypeError, ValueError):
        return {}
    return {v: name for name, v in bound.items() if isinstance(v, Variable)}


def variable_of(x: Any) -> Any:
    return x if isinstance(x, Variable) else pt.as_tensor_variable(x)
