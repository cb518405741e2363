"""Texts of `DebugMode` errors: the op, the types and values, and the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import DebugModeError, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.judge.compare import ORDERED, ulps, ulps_text
from rewrite_engine.terms.print import brief

WIDE = 120  # characters of a value
TERM = 6  # levels of a term


def shown(value: Any) -> str:
    """Return a value in one line: an array with its dtype and shape."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        text = np.array2string(value, threshold=12, edgeitems=3).replace("\n", "")
        text = f"{value.dtype} of shape {value.shape}: {' '.join(text.split())}"
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= WIDE else text[:WIDE] + "…"


def first_difference(a: Any, b: Any) -> str:
    """Describe where two values differ first, and both elements."""
    if not all([isinstance(value, np.ndarray | np.generic) for value in (a, b)]):
        return f"{shown(a)} and {shown(b)}"
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} of shape {a.shape}, and {b.dtype} of shape {b.shape}"
    with np.errstate(all="ignore"):
        apart = ~((a == b) | ((a != a) & (b != b)))
        if apart.any() and a.dtype.kind in "fc":  # not where only the last digit differs
            size = np.where(apart, np.nan_to_num(np.abs(a - b), nan=np.inf), 0)
            apart &= size >= size.max() * 1e-3
    if not np.any(apart):
        return "they differ in the signs of zeros" if np.array_equal(a, b) else "equal"
    at = tuple(int(i) for i in np.argwhere(np.atleast_1d(apart))[0])
    place = f" at {at if len(at) > 1 else at[0]}" if a.ndim else ""
    x, y = np.atleast_1d(a)[at], np.atleast_1d(b)[at]
    return f"{x!s} and {y!s}{place}, in {int(np.sum(apart))} of {a.size} elements"


def largest_difference(a: Any, b: Any) -> str:
    """Describe the largest difference in units in the last place, for floats."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return ""
    if a.dtype != b.dtype or a.shape != b.shape:
        return ""
    if a.dtype.kind not in "fc" or a.dtype.itemsize // (1 + (a.dtype.kind == "c")) not in ORDERED:
        return ""
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return ""
    apart = ulps(np.atleast_1d(a)[np.atleast_1d(both)], np.atleast_1d(b)[np.atleast_1d(both)])
    return f", by up to {ulps_text(float(apart.max()))}"


def error_at(
    cls: type[DebugModeError],
    what: str,
    node: Apply | None,
    given: Sequence[Any] | None = None,
    lines: Sequence[str] = (),
    **about: Any,
) -> Any:
    """Return the error of a node that ran. given: the values of its inputs. lines: further details.
    about: attributes of the error.
    """
    inputs: list[str] = []
    if node is not None:
        values = [None] * len(node.inputs) if given is None else given
        for i, (v, value) in enumerate(zip(node.inputs, values, strict=True)):
            at = "" if given is None else f": {shown(value)}"
            inputs.append(f"    input {i}: {name_of(v)} of type {v.type}{at}")
    where = None if node is None else node.where()
    text = message(what, op=None if node is None else node.op, where=where)
    head, *rest = text.split("\n")
    error = cls("\n".join([head, *[f"    {line}" for line in lines], *inputs, *rest]))
    error.node = node
    for key, value in about.items():
        setattr(error, key, value)
    return error


def name_of(v: Variable) -> str:
    """Return a short text for a variable."""
    return str(v.name or brief(v, 2))


def term(v: Variable) -> str:
    """Return a term as text."""
    return brief(v, TERM)
