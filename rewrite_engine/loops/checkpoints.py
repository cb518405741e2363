"""`scan_checkpoints`: a loop over segments whose step is a loop. Its gradient needs the values
between segments, and those of one segment at a time, which it computes again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, OptionError
from rewrite_engine.graph.origin import located
from rewrite_engine.loops.basic import scan


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
) -> Any:
    """`scan`, of which only the outputs after every `save_every_N` steps are given and kept, and
    those after the last step. Where a gradient needs the others it computes them again, so of n
    steps it keeps n / save_every_N + save_every_N: least for the root of n.

    The arguments are those of `scan`; a step gets the element at t of each sequence, and the last
    value of each output (no taps). n_steps: by default the length of the first sequence.
    padding=False: the number of steps is a multiple of save_every_N, so no sequence is copied.

    Raises `InputError` for taps, or if nothing says how many steps there are, `OptionError` for
    save_every_N below 1; else what `scan` raises.

    >>> x = pt.dvector("x")
    >>> sums, _ = scan_checkpoints(lambda v, t: t + v, x, pt.constant(0.0), save_every_N=2)
    >>> sums.eval({x: [1.0, 2.0, 3.0, 4.0, 5.0]})
    array([ 3., 10., 15.])
    """
    size = save_every_N
    if size < 1:
        raise OptionError(located(f"scan_checkpoints: save_every_N is 1 or more, not {size}"))
    reads = [pt.as_tensor_variable(_plain(x, "input")) for x in _listed(sequences)]
    starts = [_plain(x, "initial") for x in _listed(outputs_info)]
    others = _listed(non_sequences)
    if n_steps is None and not reads:
        what = "without sequences, n_steps says how many steps there are"
        raise InputError(located(f"scan_checkpoints: {what}"))
    n = pt.shape_tuple(reads[0])[0] if n_steps is None else n_steps
    segments = (n + size - 1) // size if padding else n // size
    parts = [_segments(x, n, size, segments, padding) for x in reads]
    steps = pt.minimum(size, n - size * pt.arange(segments))
    several = []

    def segment(*values: Any) -> Any:
        a, b = len(parts), len(values) - len(others)
        carried = iter(values[a + 1 : b])
        infos = [None if start is None else next(carried) for start in starts]
        found, updates = scan(fn, list(values[:a]), infos, list(values[b:]), values[a], name=name)
        several.append(isinstance(found, list))
        return [v[-1] for v in (found if several[0] else [found])], updates

    made = scan(segment, [*parts, steps], starts, others, segments, name=name, return_list=True,
                return_updates=return_updates)  # fmt: skip
    found, updates = made if return_updates else (made, None)
    outputs = found if several[0] else found[0]
    return (outputs, updates) if return_updates else outputs


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _plain(given: Any, key: str) -> Any:
    """What a sequence or an output is, said as a dict or not. Raises `InputError`."""
    if not isinstance(given, Mapping):
        return given
    if given.get("taps") is not None:
        raise InputError(located("scan_checkpoints: there are no taps"))
    return given.get(key)


def _segments(x: Any, n: Any, size: int, segments: Any, padding: bool) -> Any:
    """A sequence in segments, along a new first dimension; what is missing in the last is never
    read.
    """
    x, rest = x[:n], pt.shape_tuple(x)[1:]
    if padding:
        x = pt.join(0, x, pt.zeros((segments * size - n, *rest), dtype=x.type.dtype))
    return x.reshape((segments, size, *rest), ndim=x.type.ndim + 1)
