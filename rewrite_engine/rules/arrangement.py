"""Reductions of joined, sorted and reversed elements: the parts are reduced where they are, and an
order that does not matter is left out. Positions of extrema of functions that increase.
"""

from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    WHOLE,
    below,
    comparisons,
    count_uses,
    entries_of,
    keeps_length,
    operands_stay,
    taken,
)
from rewrite_engine.rules.sums import of_monotone
from rewrite_engine.tensor import (
    AdvancedSubtensor,
    All,
    Any_,
    Argmax,
    Argmin,
    ArgSortOp,
    Dot,
    Join,
    LogSoftmax,
    Max,
    Min,
    Prod,
    Softmax,
    SortOp,
    Subtensor,
    Sum,
    add,
    and_,
    dot,
    isnan,
    join,
    maximum,
    minimum,
    mul,
    or_,
    switch,
)
from rewrite_engine.tensor.elemwise import Elemwise

#: what combines two results of a reduction
COMBINED = {Sum: add, Prod: mul, Max: maximum, Min: minimum, All: and_, Any_: or_}
MAX_PARTS = 16


def of_arranged(*classes):
    """Return a `when` of rules: whether the first operand is one of these, or a function of one."""

    def fits(op, seen, distinct):
        (first,) = seen
        if not isinstance(head_of(first), Elemwise):
            return isinstance(head_of(first), classes)
        is_deep = isinstance(first, tuple)  # (else the operands are not known yet)
        return not is_deep or any(isinstance(head_of(s), classes) for s in first[1])

    return fits


def function_of(fgraph, x):
    """Return what an elementwise op of one array and numbers is a function of, and the function; x
    itself, if it is computed otherwise; (None, None) if there are several arrays.
    """
    if not isinstance(x.head, Elemwise):
        return x, lambda v: v
    varied = [k for k, v in enumerate(x.owner.inputs) if not all(v.type.broadcastable)]
    if len(varied) != 1 or len(x.owner.outputs) > 1 or count_uses(fgraph, x) > 1:
        return None, None
    ((k,), inputs) = varied, x.owner.inputs
    if inputs[k].type.broadcastable != x.type.broadcastable:
        return None, None
    return inputs[k], lambda v: x.owner.op(*inputs[:k], v, *inputs[k + 1 :])


# --- joined elements ------------------------------------------------------------------------------


@node_rewriter(
    [*COMBINED], phase="specialize", claim=approx(ulps=8), depth=3, tags=["reorder"],
    when=of_arranged(Join), keeps=operands_stay,
)  # fmt: skip
def reduction_of_join(fgraph, node):
    """Reduce joined parts where they are, without joining them. Not data: any number of parts, and
    axes.

    >>> x, y, a, b = *vectors("x y"), matrix("a", shape=(2, 3)), matrix("b", shape=(4, 3))
    >>> rewritten(exp(join(0, x, y)).sum(), join(0, a, b).max(axis=1))
    [Sum(exp(x)) + Sum(exp(y)), Join{axis=0}(Max{axis=1}(a), Max{axis=1}(b))]
    """
    whole, op = node.inputs[0], node.op
    x, function = function_of(fgraph, whole)
    if x is None or not isinstance(x.head, Join) or count_uses(fgraph, x) > 1:
        return None
    parts, axis, axes = x.owner.inputs, x.owner.op.axis, op.axes(x.type.ndim)
    if len(parts) > MAX_PARTS or any(v.type.dtype != x.type.dtype for v in parts):
        return None
    if isinstance(op, Prod) and axis in axes and x.type.kind in "fc":
        return None  # (the product of one part may overflow while that of another is 0)
    gone = {(k, d) for k in range(len(parts)) for d in axes if d != axis}
    if comparisons(fgraph, x.owner, gone) != []:
        return None
    if axis in axes and op.needs_elements and not all(v.type.shape[axis] for v in parts):
        return None  # (a maximum of a part may fail)
    results = [op(function(v)) for v in parts]
    if axis in axes:
        return fitting(node.outputs[0], COMBINED[type(op)](*results))
    place = axis - (0 if op.keepdims else sum(d < axis for d in axes))
    return fitting(node.outputs[0], join(place, *results))


@node_rewriter(
    [Dot], phase="specialize", claim=approx(ulps=8), depth=2, tags=["reorder"], when=below(Join)
)
def square_of_join(fgraph, node):
    """Add up the squares of joined parts without joining them. Not data: any number of parts.

    >>> rewritten(sqr(join(0, *vectors("x y"))).sum())
    x @ x + y @ y
    """
    x, y = node.inputs
    if x is not y or x.type.ndim != 1 or count_uses(fgraph, x) > 2:
        return None
    parts = x.owner.inputs
    if len(parts) > MAX_PARTS or any(v.type.dtype != x.type.dtype for v in parts):
        return None
    return fitting(node.outputs[0], add(*[dot(v, v) for v in parts]))


# --- sorted and reversed elements -----------------------------------------------------------------


@node_rewriter(
    [*COMBINED], phase="specialize", claim=approx(ulps=8), depth=3, tags=["reorder"],
    when=of_arranged(SortOp, Subtensor),
)  # fmt: skip
def reduction_of_ordered(fgraph, node):
    """Reduce elements without sorting or reversing them. Not data: it holds for every axis.

    >>> x = vector("x")
    >>> rewritten(exp(sort(x)).sum(), x[::-1].max())
    [Sum(exp(x)), Max(x)]
    """
    whole, op = node.inputs[0], node.op
    x, function = function_of(fgraph, whole)
    if x is None or x.owner is None:
        return None
    axes, v = op.axes(x.type.ndim), x.owner.inputs[0]
    if isinstance(x.head, SortOp):
        return fitting(node.outputs[0], op(function(v))) if x.head.axis in axes else None
    if not isinstance(x.head, Subtensor):
        return None
    entries, new = entries_of(x.owner)
    if new or not all(map(keeps_length, entries)):
        return None
    kept = [WHOLE if d in axes else e for d, e in enumerate(entries)]
    if kept == entries:
        return None
    return fitting(node.outputs[0], op(function(taken(v, kept))))


@rule(phase="specialize", claim=refines)
def sort_of_sorted(x, axis: Prop):
    """Sorted elements need not be sorted again.

    >>> rewritten(sort(sort(vector("x"))))
    SortOp{axis=0}(x)
    """
    return SortOp(axis=axis)(SortOp(axis=axis)(x)) >> SortOp(axis=axis)(x)


def is_of_positions(op, seen, distinct):
    """Return whether an index consists of the positions that sort an array."""
    return isinstance(head_of(seen[1]), ArgSortOp)


@node_rewriter(
    [AdvancedSubtensor], phase="specialize", claim=refines, depth=2, when=is_of_positions
)
def elements_by_positions(fgraph, node):
    """Sort elements, if nothing else needs the positions. Not data: these may have other uses.

    >>> x, y, z = vectors("x y z")
    >>> rewritten(x[argsort(x)], y[argsort(z)])
    [SortOp{axis=0}(x), AdvancedSubtensor{i}(y, ArgSortOp{axis=0}(z))]
    """
    x, positions, *others = node.inputs
    if others or positions.owner.inputs != (x,) or x.type.ndim != 1:
        return None
    if count_uses(fgraph, positions) > 1:
        return None
    return SortOp(axis=0)(x)


# --- positions of extrema -------------------------------------------------------------------------


def position(name, function, find, after):
    """Return a row of the table `POSITIONS`. after: the position that is taken of the argument."""
    kind, shown = find.__name__.lower(), after.__name__
    return (
        f"{kind}_of_{name}",
        lambda x, axis, keepdims: (
            find(axis=axis, keepdims=keepdims)(function(x))
            >> after(axis=axis, keepdims=keepdims)(x)
        ),
        refines,
        "The extremum of a monotone function is where that of its argument is.",
        f"{name}(vector('x')).{kind}() -> {shown}(x)",
    )


POSITIONS = table(
    "positions",
    *of_monotone(position, Argmax, Argmin),
    phase="specialize",
    x=Float,
    axis=Prop,
    keepdims=Prop,
)


@node_rewriter(
    [Argmax], phase="specialize", claim=refines, depth=2, when=below(Softmax, LogSoftmax)
)
def position_of_probability(fgraph, node):
    """The largest probability is where the largest number is. (If one is NaN, all probabilities
    are; of infinities, their own.) Not data: the axes may be written in two ways.

    >>> rewritten(softmax(matrix("z"), axis=1).argmax(axis=1))
    switch(isnan(Max{axis=1}(z)), 0, Argmax{axis=1}(z))
    """
    x, op = node.inputs[0], node.op
    z, ndim = x.owner.inputs[0], x.type.ndim
    if {*op.axes(ndim)} != {*x.owner.op.axes(ndim)} or count_uses(fgraph, x) > 1:
        return None
    largest = Max(axis=op.axis, keepdims=op.keepdims)(z)
    return fitting(node.outputs[0], switch(isnan(largest), 0, op(z)))
