"""Dimensions of a graph that are known to be equal, so that a running function checks each equality
once.

Every axis of every variable has an id; a union-find joins ids that are equal, because an op implies
it or because they have been compared by then. The op's shape rule (`tensor/op.py`) defines how its
output axes come from its inputs', and which of them must be equal; `axes` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.tensor.op import TensorOp, Value, is_dimension
from rewrite_engine.tensor.shape import CheckedLength, Shape_i

Axes = tuple[int, ...]


class LengthCheck(NamedTuple):
    """Comparison of a dimension in the running function: axis `axis` of input `i` with axis
    `other_axis` of input `other`, or (`other` None) with the length `length`.
    """

    i: int
    axis: int
    other: int | None
    other_axis: int
    length: int | None = None


class Dims:
    """Union-find of dimension ids, some with a known length.

    lazy: whether the present node may not run, so that its equalities hold nowhere else.
    """

    lazy = False

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.length: list[int | None] = []
        self.known: dict[int, int] = {}
        self.axes: dict[Variable, Axes] = {}
        self.counts: dict[Variable, int] = {}  # numbers that are the length of a dimension

    def new(self, length: int | None = None) -> int:
        """Return a new id, or the one id of a known length."""
        parent = self.parent
        id_ = len(parent)
        if length is not None:
            found = self.known.setdefault(length, id_)
            if found != id_:
                return found
        parent.append(id_)
        self.length.append(length)
        return id_

    def find(self, a: int) -> int:
        """Return the representative of an id."""
        parent = self.parent
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    def join(self, a: int, b: int) -> bool:
        """Record that two ids are equal; return whether that is new.

        Two different known lengths stay apart: the check that the caller then makes will fail.
        """
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.lazy:
            return True
        if self.length[a] is None:
            self.parent[a] = b
        elif self.length[b] is None:
            self.parent[b] = a
        return True

    def length_of(self, a: int) -> int | None:
        """Return the length of an id, if known."""
        return self.length[self.find(a)]

    def of(self, v: Variable) -> Axes:
        """Return the ids of a variable's axes (by default made from its type)."""
        found = self.axes.get(v)
        if found is None:
            found = self.axes[v] = self.fresh(v.type)
        return found

    def roots(self, v: Variable) -> Axes:
        """Return the representatives of a variable's axes: equal axes have the same one."""
        find = self.find
        return tuple([find(a) for a in self.axes.get(v) or self.of(v)])

    def fresh(self, type_: Any) -> Axes:
        """Return new ids for a type's axes, with the lengths that the type knows."""
        return tuple([self.new(n) for n in type_.shape])

    def same(self, a: Variable, b: Variable) -> bool:
        """Return whether two variables certainly have the same shape."""
        x, y = self.axes.get(a) or self.of(a), self.axes.get(b) or self.of(b)
        return x == y or (len(x) == len(y) and self.equal(x, y))

    def equal(self, x: Axes, y: Axes) -> bool:
        """Return whether two sequences have the same length and pairwise equal ids."""
        find = self.find
        return all([i == j or find(i) == find(j) for i, j in zip(x, y, strict=True)])

    def set(self, v: Variable, ids: Sequence[int | None]) -> None:
        """Set the ids of a variable's axes (None: a new one); lengths known from its type are used
        as well.
        """
        chosen = []
        for length, given in zip(v.type.shape, ids, strict=True):
            if length is None:
                chosen.append(self.new() if given is None else given)
                continue
            own = self.new(length)
            if given is not None and self.length_of(given) is None:
                self.join(given, own)
            chosen.append(own)
        self.axes[v] = tuple(chosen)


@singledispatch
def axes(op: Any, node: Apply, dims: Dims) -> list[LengthCheck]:
    """Set the axes of the node's outputs in `dims`; return the comparisons to make before it runs.

    By default only the types are known, and nothing is checked.
    """
    return []


@axes.register(TensorOp)
def _(op: TensorOp, node: Apply, dims: Dims) -> list[LengthCheck]:
    """Set the axes by the shape rule. Lengths that are values are left to the op to compare."""
    inputs, known = node.inputs, dims.axes
    given = [known.get(x) or (dims.of(x) if x.type.ndim else ()) for x in inputs]
    if op.stretches:
        shape: Axes = ()
        for ids in given:
            if ids and ids != shape:  # (numbers fit any)
                if shape:
                    break
                shape = ids
        else:
            for out in node.outputs:
                known[out] = shape
            return []
    rule = op.shapes_of(node)

    def other(length: Any) -> int | None:
        if isinstance(length, int):
            return dims.new(length)
        return dims.counts.get(inputs[length.i]) if isinstance(length, Value) else None

    checks = []
    for group in rule.equal:
        own: int | None = None
        first: Any = None
        for length in group:
            pair = length.__class__ is tuple
            id_ = given[length[0]][length[1]] if pair else other(length)
            if own is None:
                own, first = id_, length
            elif id_ != own and id_ is not None and dims.join(own, id_):
                checks += _compare(first, length)
    for out, lengths in zip(node.outputs, rule.outputs):
        dims.set(
            out,
            [given[n[0]][n[1]] if n.__class__ is tuple else other(n) for n in lengths],
        )
    return checks


def _compare(a: Any, b: Any) -> list[LengthCheck]:
    """Return the comparison of two lengths of a shape rule, if neither is a value."""
    if not is_dimension(a):
        a, b = b, a
    if not is_dimension(a):
        return []
    i, axis = a
    if is_dimension(b):
        return [LengthCheck(i, axis, *b)]
    return [LengthCheck(i, axis, None, 0, b)] if isinstance(b, int) else []


@axes.register(Shape_i)
def _(op: Shape_i, node: Apply, dims: Dims) -> list[LengthCheck]:
    dims.counts[node.outputs[0]] = dims.of(node.inputs[0])[op.i]
    return []


@axes.register(CheckedLength)
def _(op: CheckedLength, node: Apply, dims: Dims) -> list[LengthCheck]:
    """Set the axis to the length of the operand, and record the lengths that are now known to be
    equal.
    """
    counts = [dims.counts.get(x) for x in node.inputs]
    if counts[0] is not None:
        dims.counts[node.outputs[0]] = counts[0]
    for i, j in op.pairs():
        a, b = counts[i], counts[j]
        if a is not None and b is not None:
            dims.join(a, b)
    return []
