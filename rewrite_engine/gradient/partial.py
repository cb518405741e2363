"""Gradients that are zero off a condition, because a branch was not taken there.

`switch`, `maximum` and `clip` give the gradient zero to the elements that they leave out, `ifelse`
to the branch that is not taken. Such a zero is no factor: multiplied with an infinite or undefined
derivative it would become NaN. So the walk (`gradient/walk.py`) carries value and condition side by
side (`Partial`), multiplies only the value, and puts the zeros in last. Of a branch nothing is
computed where it is not taken.

How partial gradients are added up: `gradient/sums.py`. How they go through elementwise ops:
`gradient/elementwise.py`. What an index takes needs no condition: `gradient/scattered.py`. See
docs/decisions/0025-masked-gradients.md and 0042-branches-are-found.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.graph.null import is_disconnected, is_null
from rewrite_engine.tensor.creation import Alloc, ones_like, zeros_like
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor
from rewrite_engine.tensor.index.subtensor import IncSubtensor
from rewrite_engine.tensor.math import and_, cast, invert, neq, second, switch
from rewrite_engine.tensor.shaping.joins import Join
from rewrite_engine.tensor.type import TensorType

_CHOICE = [None, (0, True), (0, False)]  # op(condition, x, y)


class Branch:
    """Where the choice that `op` makes by `condition` takes one value (it `holds`) or the other,
    within another branch. The one that is in none stands for the whole graph.
    """

    __slots__ = ("outer", "op", "condition", "holds", "depth", "inner")

    def __init__(
        self, outer: Branch | None = None, op: Any = None, condition: Any = None, holds: bool = True
    ) -> None:
        self.outer, self.op, self.condition, self.holds = outer, op, condition, holds
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.inner: dict[Any, Branch] = {}

    def within(self, op: Any, condition: Any, holds: bool) -> Branch:
        """A branch in this one; the same for the same arguments."""
        key = (op, condition, holds)
        found = self.inner.get(key)
        if found is None:
            found = self.inner[key] = Branch(self, *key)
        return found


@dataclass(frozen=True, slots=True)
class Partial:
    """The gradient that is `value` where a condition holds, and 0 elsewhere.

    where: the condition, of each element, that is `taken` where it is true, or where it is false;
    None: all of them are. branch: a condition of what runs: lazily, `value` is not computed outside
    of it (and `where` is not); None: it always is. clean: `value` itself has the zeros of `where`.
    """

    value: Any
    where: Any = None
    taken: bool = True
    clean: bool = False
    branch: Branch | None = None

    @property
    def type(self) -> Any:
        """The type of the gradient."""
        return self.value.type

    def is_whole(self) -> bool:
        """Return whether all elements are taken or none, whatever their number."""
        return self.where is None or all(self.where.type.broadcastable)

    def of(self, value: Any) -> Partial:
        """Another value under the same condition."""
        return Partial(value, self.where, self.taken, branch=self.branch)


def full(g: Any) -> Any:
    """The gradient with its zeros for elements in it: one variable, unless it is in a branch."""
    if not isinstance(g, Partial) or g.where is None:
        return g
    value = g.value
    if not g.clean:
        value = switch(g.where, value, 0.0) if g.taken else switch(g.where, 0.0, value)
    return value if g.branch is None else Partial(value, branch=g.branch)


def condition(g: Partial) -> Any:
    """A boolean variable that is true for the elements that are taken."""
    where = g.where if g.where.type.dtype == "bool" else neq(g.where, 0)
    return where if g.taken else invert(where)


# --- by the form of a gradient -------------------------------------------------------------------


def is_zero(g: Any) -> bool:
    """Return whether a gradient is zero by its form: a constant of zeros, or one spread over a
    shape.
    """
    if g.owner is not None:
        op = g.owner.op
        if op is second:
            g = g.owner.inputs[1]
        elif isinstance(op, Alloc):
            g = g.owner.inputs[0]
    if not isinstance(g, Constant) or not isinstance(g.data, np.ndarray):
        return False
    return g.data.size <= 1024 and not np.any(g.data)


def read(g: Any) -> Any:
    """The gradient as value and condition, if its outermost op leaves elements out; else itself."""
    if isinstance(g, Partial):
        return g if g.clean else under(g, g.value)
    if g.owner is None:
        return g
    op, inputs = g.owner.op, g.owner.inputs
    if op is switch:
        return _read_switch(g, *inputs)
    if isinstance(op, IncSubtensor | AdvancedIncSubtensor):
        if op.set_instead_of_inc and is_zero(inputs[1]):
            ones = ones_like(g, dtype="bool")
            return Partial(g, writer(op)(ones, False, *inputs[2:]), clean=True)
    elif isinstance(op, Join) and any(map(is_zero, inputs)):
        pieces = [(zeros_like if is_zero(x) else ones_like)(x, dtype="bool") for x in inputs]
        return Partial(g, op(*pieces), clean=True)
    return g


def _read_switch(g: Any, where: Any, x: Any, y: Any) -> Any:
    """The condition of `switch(where, x, y)`, of which one is zero."""
    taken = is_zero(y)
    if not taken and not is_zero(x):
        return g
    value = cast(x if taken else y, g.type.dtype)
    if value.type.broadcastable != g.type.broadcastable:
        value = second(g, value)
    return under(Partial(value, where, taken), value)


def writer(op: Any) -> Any:
    """The op that writes at an index where this one adds, or writes."""
    return type(op)(op.idx_list, set_instead_of_inc=True)


def under(g: Any, value: Any) -> Any:
    """A value where the gradient `g` counts, and its own form leaves no element out."""
    found = read(value)
    if not isinstance(g, Partial):
        return found
    if not isinstance(found, Partial):
        return g if found is g.value else g.of(found)
    if g.where is None or (g.where is found.where and g.taken == found.taken):
        return replace(found, branch=g.branch)
    return Partial(found.value, and_(condition(g), condition(found)), branch=g.branch)


# --- in branches ---------------------------------------------------------------------------------


def is_choice(node: Apply) -> bool:
    """Return whether a node is one of two arrays, by a condition, and needs no more than that."""
    op = node.op
    if op.read_if is None or not op.moves_only or list(op.read_if(node)) != _CHOICE:
        return False
    return isinstance(node.outputs[0].type, TensorType)


def branch_of(g: Any, whole: Branch) -> Branch:
    """The branch that a gradient is in."""
    return (g.branch or whole) if isinstance(g, Partial) else whole


def in_branch(branch: Branch, g: Any) -> Any:
    """A gradient, which is in no branch, in one."""
    if branch.outer is None or is_null(g) or is_disconnected(g):
        return g
    return replace(g, branch=branch) if isinstance(g, Partial) else Partial(g, branch=branch)


def opened(g: Any) -> Any:
    """What a gradient is in its branch."""
    if not isinstance(g, Partial) or g.branch is None:
        return g
    return g.value if g.where is None else replace(g, branch=None)


def are_in_branches(grads: Iterable[Any]) -> bool:
    """Return whether some gradient is in a branch."""
    return any([isinstance(g, Partial) and g.branch is not None for g in grads])


def common_branch(grads: Iterable[Any], whole: Branch) -> Branch:
    """The innermost branch that all gradients are in that are other than 0."""
    found: Branch | None = None
    for g in grads:
        if not isinstance(g, Partial) and (is_disconnected(g) or is_zero(g)):
            continue
        branch = branch_of(g, whole)
        found = branch if found is None else _common(found, branch)
    return found or whole


def _common(a: Any, b: Any) -> Branch:
    while a is not b:
        if a.depth >= b.depth:
            a = a.outer
        else:
            b = b.outer
    return a  # type: ignore[no-any-return]
