"""Partial gradients: gradients with a condition, which are zero where a branch was not taken.

`switch`, `maximum` and `clip` give the gradient zero to the elements that they exclude, `ifelse` to
the branch not taken. Such a zero is not a factor: times an infinite or undefined derivative it
would become NaN. So the traversal (`gradient/walk.py`) carries value and condition separately
(`Partial`), multiplies only the value, and inserts the zeros last. A branch that is not taken is
not computed.

`gradient/sums.py` adds partial gradients up. `gradient/elementwise.py` passes them through
elementwise ops. Gradients of indexing need no condition: `gradient/scattered.py`. See
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
    """One side of a choice that `op` makes by `condition`, inside another branch.

    The condition is true in this branch if it `holds`, else false. The branch without outer branch
    is the whole graph.
    """

    __slots__ = ("outer", "op", "condition", "holds", "depth", "inner")

    def __init__(
        self, outer: Branch | None = None, op: Any = None, condition: Any = None, holds: bool = True
    ) -> None:
        self.outer, self.op, self.condition, self.holds = outer, op, condition, holds
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.inner: dict[Any, Branch] = {}

    def within(self, op: Any, condition: Any, holds: bool) -> Branch:
        """Return the branch inside this one for a choice; one object for equal arguments."""
        key = (op, condition, holds)
        found = self.inner.get(key)
        if found is None:
            found = self.inner[key] = Branch(self, *key)
        return found


@dataclass(frozen=True, slots=True)
class Partial:
    """Gradient that is `value` where a condition holds, and 0 elsewhere.

    where: condition for each element, included where it is true if `taken`, else where it is false;
    None: all elements are included. branch: condition under which it is computed; `value` and
    `where` are not computed outside of it; None: always. clean: `value` itself has the zeros of
    `where`.
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
        """Return whether either all elements are included or none, whatever their number."""
        return self.where is None or all(self.where.type.broadcastable)

    def of(self, value: Any) -> Partial:
        """Return another value under the same condition."""
        return Partial(value, self.where, self.taken, branch=self.branch)


def full(g: Any) -> Any:
    """Return the gradient with zeros at excluded elements: one variable, unless it is in a
    branch.
    """
    if not isinstance(g, Partial) or g.where is None:
        return g
    value = g.value
    if not g.clean:
        value = switch(g.where, value, 0.0) if g.taken else switch(g.where, 0.0, value)
    return value if g.branch is None else Partial(value, branch=g.branch)


def condition(g: Partial) -> Any:
    """Return a boolean variable that is true for the included elements."""
    where = g.where if g.where.type.dtype == "bool" else neq(g.where, 0)
    return where if g.taken else invert(where)


# --- by the form of a gradient -------------------------------------------------------------------


def is_zero(g: Any) -> bool:
    """Return whether a gradient is obviously zero: a constant of zeros, possibly broadcast."""
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
    """Return the gradient as value and condition, if its outermost op excludes elements; else the
    gradient itself.
    """
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
    """Return the gradient and condition of `switch(where, x, y)` if x or y is zero."""
    taken = is_zero(y)
    if not taken and not is_zero(x):
        return g
    value = cast(x if taken else y, g.type.dtype)
    if value.type.broadcastable != g.type.broadcastable:
        value = second(g, value)
    return under(Partial(value, where, taken), value)


def writer(op: Any) -> Any:
    """Return the op that sets values at an index at which this op adds, or sets."""
    return type(op)(op.idx_list, set_instead_of_inc=True)


def under(g: Any, value: Any) -> Any:
    """Return a value under the condition of `g`, including the elements that the form of `g`
    excludes.
    """
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
    """Return whether a node chooses one of two arrays by a condition, and needs nothing else."""
    op = node.op
    if op.read_if is None or not op.moves_only or list(op.read_if(node)) != _CHOICE:
        return False
    return isinstance(node.outputs[0].type, TensorType)


def branch_of(g: Any, whole: Branch) -> Branch:
    """Return the branch that contains a gradient."""
    return (g.branch or whole) if isinstance(g, Partial) else whole


def in_branch(branch: Branch, g: Any) -> Any:
    """Return a gradient that is in no branch, put into one."""
    if branch.outer is None or is_null(g) or is_disconnected(g):
        return g
    return replace(g, branch=branch) if isinstance(g, Partial) else Partial(g, branch=branch)


def opened(g: Any) -> Any:
    """Return the gradient as it is inside its branch."""
    if not isinstance(g, Partial) or g.branch is None:
        return g
    return g.value if g.where is None else replace(g, branch=None)


def are_in_branches(grads: Iterable[Any]) -> bool:
    """Return whether some gradient is in a branch."""
    return any([isinstance(g, Partial) and g.branch is not None for g in grads])


def common_branch(grads: Iterable[Any], whole: Branch) -> Branch:
    """Return the innermost branch that contains all nonzero gradients."""
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
