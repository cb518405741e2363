"""Inputs whose values lengths depend on: `static_inputs`.

A linker that traces a graph has to know them before it compiles. Lengths that follow from the
shapes of inputs need no values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.schedule import schedule
from rewrite_engine.loops.op import Scan
from rewrite_engine.tensor.index.gather import AdvancedSubtensor
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import Slice, pair
from rewrite_engine.tensor.index.windows import length_of
from rewrite_engine.tensor.op import Computed, TensorOp, Value
from rewrite_engine.tensor.shape import Shape, Shape_i


def static_inputs(nodes: Sequence[Apply], inputs: Collection[Variable]) -> list[Variable]:
    """Return the inputs of a graph whose values must be known before the lengths of all its values
    are. nodes: in running order.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.graph.fgraph import FunctionGraph
    >>> x, n = pt.vector("x"), pt.lscalar("n")
    >>> graph = FunctionGraph([x, n], [pt.exp(x[:n]) + x.shape[0]], clone=False)
    >>> static_inputs(graph.toposort(), graph.inputs)
    [n]
    """
    needed: set[Variable] = set()
    for node in reversed(nodes):
        if not isinstance(node.op, Shape | Shape_i) and not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
        needed.update(_for_lengths(node))
    return [v for v in inputs if v in needed]


def _for_lengths(node: Apply) -> Iterator[Variable]:
    """Yield the inputs of a node whose values the lengths of its results depend on."""
    op: Any = node.op
    if isinstance(op, Scan):
        if len(op.results) or not all(map(_has_lengths, op.parts(op.inner_inputs)[1])):
            yield node.inputs[0]  # (if there is one step, a carried value may change its shape)
    elif isinstance(op, Subtensor | AdvancedSubtensor) and not any(map(_is_mask, node.inputs[1:])):
        yield from _ends(op.idx_list, node.inputs[1:])
        return
    elif isinstance(op, IncSubtensor):
        yield from _ends(op.idx_list, node.inputs[2:])
    if isinstance(op, HasInnerGraph):
        inner = static_inputs(schedule(op.fgraph), op.inner_inputs)
        places = [op.passed[op.inner_inputs.index(v)] for v in inner]
        yield from [node.inputs[i] for i in places if i is not None]
    elif isinstance(op, TensorOp):
        outputs = zip(op.shapes_of(node).outputs, node.outputs, strict=True)
        open_ = [n for rule, v in outputs if rule for n, k in zip(rule, v.type.shape) if k is None]
        yield from [node.inputs[i] for i in _values(open_)]


def _has_lengths(v: Variable) -> bool:
    """Return whether the type of a variable tells its shape."""
    return None not in getattr(v.type, "shape", ())


def _is_mask(v: Any) -> bool:
    return bool(v.type.kind == "b")


def _ends(template: tuple[Any, ...], values: Sequence[Variable]) -> Iterator[Variable]:
    """Yield the ends of slices, among the inputs of an index, unless all lengths are fixed."""
    for e, ends in pair(template, values):
        if isinstance(e, Slice) and ends and length_of(e, ends) is None:
            yield from ends


def _values(lengths: Sequence[Any]) -> Iterator[int]:
    """Yield the numbers of the inputs whose values lengths are computed from."""
    todo = list(lengths)
    while todo:
        length = todo.pop()
        if isinstance(length, Value):
            yield length.i
        elif isinstance(length, Computed):
            todo += length.of
