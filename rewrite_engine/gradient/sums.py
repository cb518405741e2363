"""Sums of the gradients that arrive at a variable from its users.

The sum is partial if all terms are: in their common branch, under the disjunction of their
conditions. A sum of scattered terms stays scattered, or is one array into which they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rewrite_engine.gradient.partial import (
    Branch,
    Partial,
    are_in_branches,
    branch_of,
    common_branch,
    condition,
    full,
    in_branch,
    opened,
)
from rewrite_engine.gradient.scattered import (
    FEW,
    is_scattered,
    is_written,
    links_of,
    unscaled,
    written,
)
from rewrite_engine.gradient.type import fit
from rewrite_engine.graph.node import Variable
from rewrite_engine.tensor.creation import zeros, zeros_like
from rewrite_engine.tensor.elemwise_grad import quotient
from rewrite_engine.tensor.index.gather import increments
from rewrite_engine.tensor.math import add, or_, second
from rewrite_engine.tensor.shape import shape_tuple


def total(v: Variable, terms: list[Any], whole: Branch, keep: bool) -> Any:
    """Return the sum of the terms of a gradient of v, in their innermost common branch.

    keep: whether the zeros of terms at several indices, or under conditions, matter.
    """
    if len(terms) == 1:
        return terms[0]
    if v.type.kind == "?" and v.type.ndim:
        return v.type.sum_of_gradients([full(t) for t in terms])
    if not are_in_branches(terms):
        return _sum(terms, keep)
    branch = common_branch(terms, whole)
    return in_branch(branch, _sum(inside(v, terms, branch, keep), keep))


# --- of branches ---------------------------------------------------------------------------------


def inside(v: Variable, terms: Iterable[Any], outer: Branch, keep: bool = False) -> list[Any]:
    """Return terms of a gradient of v relative to a common branch. Terms of both sides of a choice
    become one choice.
    """
    found: dict[Branch, list[Any]] = {}
    for t in terms:
        found.setdefault(branch_of(t, outer), []).append(opened(t))
    if len(found) == 1 and outer in found:
        return found[outer]
    for branch in _between(found, outer):
        if branch in found:  # (else it was the other one of a choice)
            choice = [branch.outer.within(branch.op, branch.condition, x) for x in (True, False)]
            sides = [fit(v, full(_sum(found.pop(b), keep))) if b in found else None for b in choice]
            found.setdefault(branch.outer, []).append(_chosen(branch, sides, v))
    return found[outer]


def _between(branches: Iterable[Branch], outer: Branch) -> list[Any]:
    """Return branches inside an outer one and the branches around them, innermost first."""
    seen: dict[Any, None] = {}
    for branch in branches:
        at: Any = branch
        while at is not outer and at not in seen:
            seen[at] = None
            at = at.outer
    return sorted(seen, key=lambda b: -b.depth)


def _chosen(branch: Branch, sides: list[Any], v: Variable) -> Any:
    """Return the choice of two gradients of v, with 0 for a missing one. v itself is computed
    anyway.
    """
    known = next(g for g in sides if g is not None)
    if None in sides:
        zero = zeros(shape_tuple(v.type.array_of(v)), dtype=known.type.dtype)
        sides = [zero if g is None else g for g in sides]
    return branch.op(branch.condition, *sides)


# --- of elements ---------------------------------------------------------------------------------


def _sum(terms: list[Any], keep: bool) -> Any:
    """Return the sum of terms in one branch, zero if all of them are."""
    if len(terms) == 1:
        return terms[0]
    partial = [t for t in terms if isinstance(t, Partial)]
    scattered = [t for t in terms if not isinstance(t, Partial) and is_scattered(t)]
    known = {(t.where, t.taken): t for t in partial}
    if len(partial) == len(terms) and len(known) == 1:
        value = _add_up([t.value for t in terms])
        return replace(terms[0], value=value, clean=all(t.clean for t in terms))
    if len(scattered) == len(terms):
        g = _at_few_indices(terms)
        if g is not None:
            return g
    value = _add_up([full(t) for t in terms])
    everywhere = len(partial) + len(scattered) < len(terms) or any(
        (where, not taken) in known for where, taken in known
    )
    if everywhere or (scattered and not keep):
        return value
    where = [condition(t) for t in known.values()]
    return Partial(value, _any(where, scattered, value), clean=True)


def _any(wheres: Sequence[Any], scattered: Sequence[Any], value: Any) -> Any:
    """Return a condition that is true where one of the conditions is, or where a scattered term has
    values.
    """
    if not wheres:
        wheres = [zeros_like(value, dtype="bool")]
    where = wheres[0] if len(wheres) == 1 else or_(*wheres)
    if scattered and where.type.broadcastable != value.type.broadcastable:
        where = second(value, where)
    for t in scattered:
        where = written(where, t)
    return where


def _at_few_indices(terms: Sequence[Any]) -> Any:
    """Return the sum of scattered terms if it is scattered: terms at one index are added."""
    dtype = terms[0].type.dtype
    added: dict[Any, list[Any]] = {}
    for op, value, places in [link for t in terms for link in links_of(t)]:
        added.setdefault((op, *places), []).append(value)
    if len(added) > FEW or any([t.type.dtype != dtype for t in terms]):
        return None
    _, g = increments(unscaled(terms[0])[0], FEW)
    if g.type.dtype != dtype:
        g = zeros_like(g, dtype=dtype)
    for (op, *places), values in added.items():
        g = op(g, values[0] if len(values) == 1 else _add_up(values), *places)
    return g


# --- of whole gradients --------------------------------------------------------------------------


def _add_up(terms: list[Any]) -> Any:
    """Return the sum: one `add`, into which scattered terms are written one after the other.

    Adding a term `zeros[index] += y` costs as much as the whole array; writing it costs as much as
    `y`. Terms with a common divisor become one quotient.
    """
    scattered: list[Any] = []
    dense: list[Any] = []
    for t in terms:
        (scattered if is_written(t) else dense).append(t)
    dense = _over_one_bar(dense) or [scattered.pop(0)]
    g = dense[0] if len(dense) == 1 else add(*dense)
    for t in scattered:
        if t.type.dtype != g.type.dtype:
            g = add(g, t)
            continue
        for op, value, places in links_of(t):
            g = op(g, value, *places)
    return g


def _over_one_bar(terms: list[Any]) -> list[Any]:
    """Return the terms of a sum, with a / v and b / v combined to (a + b) / v."""
    below: dict[Any, list[Any]] = {}
    for t in terms:
        below.setdefault(quotient(t)[1], []).append(t)
    found = below.pop(None, [])
    for v, some in below.items():
        above = [quotient(t)[0] for t in some]
        found.append(some[0] if len(some) == 1 else add(*above) / v)
    return found
