"""`scan_checkpoints`: a loop over segments whose step is a loop.

Its gradient stores the values between segments, and those of one segment at a time, which it
computes again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Never

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, OptionError, ShapeError, describe, refuse_unknown
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.origin import located
from rewrite_engine.loops.arguments import listed, read_output, read_sequence, steps_of
from rewrite_engine.loops.op import Scan
from rewrite_engine.loops.step import scan, until


def scan_checkpoints(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    name: str | None = "checkpointscan_fn",
    n_steps: Any = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
    **unknown: Never,
) -> Any:
    """Run a loop as `scan`, and store only the outputs after every `save_every_N` steps and after
    the last step.

    A gradient computes the other outputs again, so of n steps it stores n / save_every_N +
    save_every_N values: the fewest if save_every_N is the square root of n. Other arguments: see
    `scan`; a step receives the element at t of each sequence, and the last value of each output (no
    taps). n_steps: by default the length of the first sequence. padding=False: the number of steps
    must be a multiple of save_every_N, so no sequence is copied.

    Raises `InputError` for taps, `OptionError` for a save_every_N that is not an integer >= 1,
    `ShapeError` with padding=False for another number of steps; and the errors of `scan`.

    >>> x = pt.dvector("x")
    >>> sums, _ = scan_checkpoints(lambda v, t: t + v, x, pt.constant(0.0), save_every_N=2)
    >>> sums.eval({x: [1.0, 2.0, 3.0, 4.0, 5.0]})
    array([ 3., 10., 15.])
    """
    if unknown:
        refuse_unknown("scan_checkpoints", unknown, signature(scan_checkpoints).parameters)
    size = _size(save_every_N)
    reads = [read_sequence(_plain(x)) for x in listed(sequences)]
    starts = [read_output(_plain(x)).start for x in listed(outputs_info)]
    others = listed(non_sequences)
    n = steps_of(reads if n_steps is not None else reads[:1], n_steps, backwards=False)[0]
    multiple = size if reads and not padding else 1
    n, xs = _checked(n, n_steps is not None, multiple, [read.start for read in reads])
    segments = (n + size - 1) // size
    parts = [_segments(x, n, size, segments, padding) for x in xs]
    steps = pt.minimum(size, n - size * pt.arange(segments))
    several = []

    def segment(*values: Any) -> Any:
        a, b = len(parts), len(values) - len(others)
        carried = iter(values[a + 1 : b])
        infos = [None if start is None else next(carried) for start in starts]
        found, updates = scan(fn, list(values[:a]), infos, list(values[b:]), values[a], name=name)
        several.append(isinstance(found, list))
        return _at_end(found if several[0] else [found], updates)

    made = scan(segment, [*parts, steps], starts, others, segments, name=name, return_list=True,
                return_updates=return_updates)  # fmt: skip
    found, updates = made if return_updates else (made, None)
    outputs = found if several[0] else found[0]
    return (outputs, updates) if return_updates else outputs


def _size(given: Any) -> int:
    """Return the argument `save_every_N` as an integer. Raise `OptionError`."""
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < 1:
        shown = given if isinstance(given, int | np.integer) else describe(given)
        what = f"save_every_N must be an integer >= 1, not {shown}"
        raise OptionError(located(f"scan_checkpoints: {what}"))
    return int(given)


def _plain(given: Any) -> Any:
    """Return a sequence or an output without taps. Raise `InputError`."""
    if isinstance(given, Mapping) and given.get("taps") is not None:
        raise InputError(located("scan_checkpoints: taps are not supported"))
    return given


def _checked(n: Any, given: bool, size: int, xs: list[Any]) -> tuple[Any, list[Any]]:
    """Return the number of steps, a multiple of size, and the sequences, checked to be long enough;
    unknown lengths are checked at run time.

    given: whether the number of steps is not the length of the first sequence. Raises `ShapeError`.
    """
    n = int(n.data) if isinstance(n, Constant) else n
    what = f"scan_checkpoints: with padding=False the number of steps must be a multiple of {size}"
    if not isinstance(n, int):
        negative = "scan_checkpoints: the number of steps must not be negative"
        n = pt.CheckAndRaise(ShapeError, negative)(n, pt.ge(n, 0)) if given else n
        if size > 1:
            n = pt.CheckAndRaise(ShapeError, what)(n, pt.eq(n % size, 0))
    elif n % size:
        raise ShapeError(located(what))
    found = []
    for i, x in enumerate(xs):
        length, short = x.type.shape[0], f"scan_checkpoints: sequence {i} has fewer elements"
        known = isinstance(n, int) and length is not None and length >= n
        if not known and (i or given):
            enough = pt.ge(pt.shape_tuple(x)[0], n)
            x = pt.CheckAndRaise(ShapeError, f"{short} than there are steps")(x, enough)
        found.append(x)
    return n, found


def _at_end(found: list[Any], updates: dict[Any, Any]) -> tuple[Any, ...]:
    """Return the results of a segment: last values of outputs, updates, and whether its last
    condition ended the loop.
    """
    node = (*found, *updates.values())[0].owner
    op = node.op
    if not op.until:
        return [v[-1] for v in found], updates
    outputs = [*op.inner_outputs, op.inner_outputs[-1]]
    loop = Scan(op.inner_inputs, outputs, op.sequences, op.carried, True, name=op.name)
    made = loop(*node.inputs, return_list=True)
    last = [made[v.index][-1] for v in found]
    return last, {v: made[new.index] for v, new in updates.items()}, until(made[-2][-1])


def _segments(x: Any, n: Any, size: int, segments: Any, padding: bool) -> Any:
    """Return a sequence split into segments, along a new first dimension; padding in the last is
    never read.
    """
    x, rest = x[:n], pt.shape_tuple(x)[1:]
    if padding:
        x = pt.join(0, x, pt.zeros((segments * size - n, *rest), dtype=x.type.dtype))
    return x.reshape((segments, size, *rest), ndim=x.type.ndim + 1)
