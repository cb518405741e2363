"""Variants of a term: the same ops on operands of other dtypes, shapes and ranks, on equal operands
and on computed ones, with other constants, and with other parameters of one of the ops.

What an example shows is one of the terms that a rule may fire at; these are its neighbours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise, zip_longest
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs, toposort
from rewrite_engine.tensor.constructors import tensor
from rewrite_engine.tensor.math import abs as absolute
from rewrite_engine.tensor.math import exp, neg
from rewrite_engine.tensor.type import TensorType

LARGEST = 40  # nodes of a term of which variants are made
MOST = 120  # variants of one term
WHOLE = (-1, 0, 1, 2, 3, -2)  # what stands for a parameter that is a number
FLOATS = (0.5, -1.0, 0.0, 2.0, float("inf"))
DTYPES = ("float64", "float32", "int64", "int8", "uint8", "bool", "complex128")
OPERANDS = (neg, exp, absolute, lambda v: v + 1, lambda v: v[:1], lambda v: v[::-1])

Change = Callable[[], Variable]


def variants(term: Variable) -> Iterator[Variable]:
    """Yield variants of a term, of each kind in turn."""
    nodes = toposort([term])
    if len(nodes) > LARGEST:
        return
    inputs = [
        v
        for v in explicit_graph_inputs([term])
        if isinstance(v.type, TensorType) and v.type.kind != "?"
    ]
    kinds = [
        _indices(term, nodes), _typed(term, inputs), _shaped(term, inputs), _operands(term, inputs),
        _constants(term, nodes),
    ]  # fmt: skip
    seen: dict[str, None] = {}
    for change in chain.from_iterable(zip_longest(*kinds)):
        made = None if change is None else made_of(change)
        if made is None or made.owner is None or made is term:
            continue
        key = f"{made!r} {[v.type for v in explicit_graph_inputs([made])]}"
        if key not in seen:
            seen[key] = None
            yield made
        if len(seen) >= MOST:
            return


def made_of(change: Change) -> Variable | None:
    """Return the term that a change makes; None if there is none."""
    try:
        return change()
    except Exception:  # whatever an op says of operands that it does not take
        return None


def remade(
    term: Variable, inputs: Mapping[Any, Any], ops: Mapping[Apply, Any] | None = None
) -> Variable:
    """Return a term with other inputs, and with other ops in place of some nodes. Raises the errors
    of ops that refuse such operands.
    """
    known = dict(inputs)
    for node in toposort([term]):
        op = (ops or {}).get(node, node.op)
        own = [known.get(v, v) for v in node.inputs]
        if op is node.op and all([a is b for a, b in zip(own, node.inputs, strict=True)]):
            continue
        known.update(zip(node.outputs, op.make_node(*own).outputs, strict=True))
    made: Variable = known.get(term, term)
    return made


def _typed(term: Variable, inputs: Sequence[Any]) -> Iterator[Change]:
    """All inputs of another dtype, and each of them alone."""
    for dtype in DTYPES:
        for some in (inputs, *[[v] for v in inputs if len(inputs) > 1]):
            new = {v: tensor(v.name, dtype=dtype, shape=v.type.shape) for v in some}
            yield partial(remade, term, new)


def _shaped(term: Variable, inputs: Sequence[Any]) -> Iterator[Change]:
    """Inputs of other static shapes, and of other ranks."""

    def renamed(shape_of: Callable[[int, Any], Any], some: Sequence[Any]) -> Change:
        new = {
            v: tensor(v.name, dtype=v.type.dtype, shape=shape_of(i, v)) for i, v in enumerate(some)
        }
        return partial(remade, term, new)

    for some in (inputs, *[[v] for v in inputs if len(inputs) > 1]):
        yield renamed(lambda i, v: (None,) * v.type.ndim, some)
        yield renamed(lambda i, v: (1,) * v.type.ndim, some)
        yield renamed(lambda i, v: (1, *v.type.shape[1:]) if v.type.ndim else (), some)
        yield renamed(lambda i, v: (*v.type.shape[:-1], 1) if v.type.ndim else (), some)
        yield renamed(lambda i, v: (3, 4, 5, 6)[: v.type.ndim], some)
        yield renamed(lambda i, v: (2,) * v.type.ndim, some)
        yield renamed(lambda i, v: (None, *v.type.shape), some)
        yield renamed(lambda i, v: (*v.type.shape, None), some)
        yield renamed(lambda i, v: v.type.shape[1:], some)


def _operands(term: Variable, inputs: Sequence[Any]) -> Iterator[Change]:
    """Equal operands, and computed ones."""
    for v in inputs:
        for w in inputs:
            if v is not w:
                yield partial(remade, term, {v: w})
        for make in OPERANDS:
            yield partial(_with_computed, term, v, make)
    yield lambda: remade(term, {v: -v for v in inputs})


def _with_computed(term: Variable, v: Any, make: Callable[[Any], Any]) -> Variable:
    return remade(term, {v: make(v)})


def _constants(term: Variable, nodes: Sequence[Apply]) -> Iterator[Change]:
    """Other numbers in the places of constants."""
    found = dict.fromkeys([v for n in nodes for v in n.inputs if isinstance(v, Constant)])
    for c in found:
        kind = getattr(c.type, "kind", "?")
        if kind not in "iuf" or c.data.size != 1:
            continue
        for number in WHOLE if kind in "iu" else (*WHOLE, *FLOATS):
            data = np.full_like(c.data, number) if kind != "u" or number >= 0 else c.data
            yield partial(remade, term, {c: c.type.make_constant(data)})


def _indices(term: Variable, nodes: Sequence[Apply]) -> Iterator[Change]:
    """Other parameters of one op, then of two."""
    each: list[tuple[Apply, Any]] = [
        (node, op) for node in nodes for op in neighbours(node.op) if type(node.op).__props__
    ]
    random.Random(0).shuffle(each)
    for node, op in each:
        yield partial(remade, term, {}, {node: op})
    for (node, op), (other, second) in pairwise(each):
        if node is not other:
            yield partial(remade, term, {}, {node: op, other: second})


def neighbours(op: Any) -> Iterator[Any]:
    """Yield ops of a class with one other parameter."""
    names = type(op).__props__ or ()
    props = {name: getattr(op, name, None) for name in names}
    for name, value in props.items():
        for other in others(value):
            try:
                made = type(op)(**props | {name: other})
            except Exception:  # an op's own refusal, or it takes its parameters in another way
                continue
            yield made


def others(value: Any) -> Iterator[Any]:
    """Yield values like one, of which one part is another."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from [n for n in dict.fromkeys((*WHOLE, value + 1, value - 1, -value)) if n != value]
    elif isinstance(value, tuple):
        make: Any = getattr(value, "_make", tuple)
        for i, part in enumerate(value):
            absent = part is None and hasattr(value, "_make")  # an end of a slice
            for other in WHOLE if absent else others(part):
                yield make([*value[:i], other, *value[i + 1 :]])
            if hasattr(value, "_make") and isinstance(part, int):
                yield make([*value[:i], None, *value[i + 1 :]])
