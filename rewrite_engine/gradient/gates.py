"""Gradients of what only a branch of a choice needs (`ifelse`): zero where the branch is not taken,
and not computed there.

The gradient of a branch is `ifelse(condition, g, 0)`. The walk (`gradient/walk.py`) takes the
choice off and carries the branch beside the value (`Gated`). The choice is put on again as late as
can be: where terms of several branches come together, and at what is wanted. So whatever a
gradient is made of on its way, an index say, is computed only in the branch, as what it is the
derivative of. See docs/decisions/0042-branches-are-found.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.gradient.masked import Masked, full, is_zero
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import is_disconnected
from rewrite_engine.tensor.creation import zeros
from rewrite_engine.tensor.shape import shape_tuple

_CHOICE = [None, (0, True), (0, False)]  # op(condition, x, y)


class Gate:
    """A branch: of the choice that `op` makes by `condition`, where that `holds` or does not,
    within another branch. The one that is in none stands for the whole graph.
    """

    __slots__ = ("outer", "op", "condition", "holds", "depth", "inner")

    def __init__(
        self, outer: Gate | None = None, op: Any = None, condition: Any = None, holds: bool = True
    ) -> None:
        self.outer, self.op, self.condition, self.holds = outer, op, condition, holds
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.inner: dict[Any, Gate] = {}

    def within(self, op: Any, condition: Any, holds: bool) -> Gate:
        """A branch in this one; the same for the same arguments."""
        key = (op, condition, holds)
        found = self.inner.get(key)
        if found is None:
            found = self.inner[key] = Gate(self, *key)
        return found


@dataclass(frozen=True, slots=True)
class Gated:
    """The gradient that is `value` (perhaps `Masked`) in the branch `gate`, and 0 elsewhere,
    without being computed there.
    """

    value: Any
    gate: Gate

    @property
    def type(self) -> Any:
        """The type of the gradient."""
        return self.value.type


def opened(g: Any) -> Any:
    """What is behind the gate."""
    return g.value if isinstance(g, Gated) else g


def behind(gate: Gate, g: Any) -> Any:
    """A gradient, which has no gate, as one behind a gate."""
    return g if gate.outer is None else Gated(g, gate)


def gate_of(g: Any, ground: Gate) -> Gate:
    """The gate of a gradient."""
    return g.gate if isinstance(g, Gated) else ground


def is_choice(node: Apply) -> bool:
    """Whether a node is one of two values, by a condition."""
    op = node.op
    return op.read_if is not None and op.moves_only and list(op.read_if(node)) == _CHOICE


def read_gates(g: Any, gate: Gate) -> tuple[Any, Gate]:
    """The value of a gradient that stands behind a gate, and its gate, where choices that the
    gradient itself makes with 0 are gates as well.
    """
    while not isinstance(g, Masked) and g.owner is not None and is_choice(g.owner):
        condition, x, y = g.owner.inputs
        if not is_zero(y) and not is_zero(x):
            break
        holds = is_zero(y)
        gate = gate.within(g.owner.op, condition, holds)
        g = x if holds else y
    return g, gate


def common_gate(grads: Sequence[Any], ground: Gate) -> Gate:
    """The innermost gate that all gradients stand behind that are other than 0."""
    found: Gate | None = None
    for g in grads:
        if not isinstance(g, Gated | Masked) and (is_disconnected(g) or is_zero(g)):
            continue
        gate = gate_of(g, ground)
        found = gate if found is None else _common(found, gate)
    return found or ground


def _common(a: Any, b: Any) -> Gate:
    while a is not b:
        if a.depth >= b.depth:
            a = a.outer
        else:
            b = b.outer
    return a  # type: ignore[no-any-return]


def closed(g: Any, v: Any, gate: Gate | None = None) -> Any:
    """A gradient of v, or what it is behind another gate (None: of all)."""
    inner, g = (g.gate, g.value) if isinstance(g, Gated) else (gate, g)
    while inner is not gate and inner is not None and inner.outer is not None:
        g = _chosen(inner.op, inner.condition, {inner.holds: full(g)}, v)
        inner = inner.outer
    return g


def _chosen(op: Any, condition: Any, sides: dict[bool, Any], v: Any) -> Any:
    """The choice of gradients of v, 0 where there is none. v itself is computed anyway."""
    if len(sides) == 1:
        (holds, g), *_ = sides.items()
        sides[not holds] = zeros(shape_tuple(v), dtype=g.type.dtype)
    return op(condition, sides[True], sides[False])


def together(
    terms: Sequence[Any], v: Variable, ground: Gate, total: Callable[[list[Any]], Any]
) -> tuple[list[Any], Gate]:
    """Terms of a gradient of v, as they are behind the innermost gate that is common to them, and
    that gate. The terms of two branches of a choice become a choice of two.

    total: the sum of terms.
    """
    common = common_gate(terms, ground)
    levels: dict[int, dict[Gate, list[Any]]] = {}
    for t in terms:
        gate = gate_of(t, common)
        levels.setdefault(gate.depth, {}).setdefault(gate, []).append(opened(t))
    for depth in range(max(levels), common.depth, -1):
        choices: dict[Any, dict[bool, Any]] = {}
        for gate, values in levels.pop(depth).items():
            sides = choices.setdefault((gate.outer, gate.op, gate.condition), {})
            sides[gate.holds] = full(total(values))
        outside = levels.setdefault(depth - 1, {})
        for (outer, op, condition), sides in choices.items():
            outside.setdefault(outer, []).append(_chosen(op, condition, sides, v))
    return levels[common.depth][common], common
