"""An index of running sums, sorted arrays, ranges and filled arrays: what it reads is computed
directly.
"""

from rewrite_engine.facts import cannot_fail, finite, fits, nonneg
from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.language import *
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    WHOLE,
    after,
    after_comparing,
    before,
    below,
    entries_of,
    is_only_read,
    is_static,
    is_whole,
    operands_stay,
    taken,
    with_new,
)
from rewrite_engine.rules.indexing.through import aligned
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import (
    Alloc,
    ARange,
    CheckedIndex,
    CumOp,
    DimShuffle,
    Eye,
    Max,
    Min,
    Prod,
    Reshape,
    SortOp,
    Subtensor,
    Sum,
    Tri,
    alloc,
    arange,
    as_tensor_variable,
    cast,
    eq,
    ge,
    ifelse,
    isnan,
    maximum,
    minimum,
    mod,
    mul,
    nanmin,
    second,
    switch,
)
from rewrite_engine.tensor.op import with_parameters


def if_read(x, entries, result):
    """Return a result that is computed after an index of x has been found to be in range."""
    part = taken(x, entries)
    return result if cannot_fail(part) else second(part, result)


@node_rewriter(
    [Subtensor], phase="specialize", claim=approx(ulps=8), depth=2, when=below(CumOp),
    tags=["reorder"],
)  # fmt: skip
def index_of_running_sum(fgraph, node):
    """One element of a running sum is a sum; the first ones need no others. Not data: it holds for
    products, too, and for every index.

    >>> x, y = vector("x", shape=(9,)), vector("y")
    >>> rewritten(cumsum(x)[-1], cumprod(x)[3], cumsum(y)[:5], cumsum(y)[0])
    [Sum(x), Prod(Subtensor{:4}(x)), CumOp{axis=0, mode='add'}(Subtensor{:5}(y)), Subtensor{0}(y)]
    """
    x = node.inputs[0]
    (v,), op = x.owner.inputs, x.owner.op
    entries, new = entries_of(node)
    e = entries[op.axis]
    if is_whole(e) or not is_only_read(fgraph, x):
        return None
    if isinstance(e, slice):
        if e.start is not None or e.step not in (None, 1):
            return None
        result = with_parameters(op, axis=before(entries, op.axis))(taken(v, entries))
        return fitting(node.outputs[0], with_new(result, new))
    if not isinstance(e, int):
        return None
    if e == 0:  # (no other element is added)
        return fitting(node.outputs[0], cast(node.op(v, *node.inputs[1:]), x.type.dtype))
    read = [*entries[: op.axis], slice(None, e + 1 or None), *entries[op.axis + 1 :]]
    reduce = Sum if op.mode == "add" else Prod
    result = reduce(axis=before(entries, op.axis))(taken(v, read))
    return fitting(node.outputs[0], with_new(if_read(v, entries, result), new))


@node_rewriter([Subtensor], phase="specialize", claim=refines, depth=2, when=below(SortOp))
def end_of_sorted(fgraph, node):
    """The last of sorted elements is the largest (NaN, if there is one); the first is the smallest
    number. Not data: it holds for every index at an end.

    >>> rewritten(sort(vector("x"))[-1], sort(ivector("n"))[0])
    [Max(x), Min(n)]
    """
    x = node.inputs[0]
    (v,), axis = x.owner.inputs, x.owner.op.axis
    entries, new = entries_of(node)
    if entries[axis] not in (0, -1) or not is_only_read(fgraph, x) or v.type.kind == "c":
        return None
    v_read = taken(v, [*entries[:axis], WHOLE, *entries[axis + 1 :]])
    axis = before(entries, axis)
    if entries[x.owner.op.axis] == -1:
        result = Max(axis=axis)(v_read)
    else:
        result = smallest_number(fgraph, v_read, axis)
    if result.type.ndim:  # (the extremum of no elements fails only if there would be a result)
        result = if_read(v, entries, result)
    return fitting(node.outputs[0], with_new(result, new))


def smallest_number(fgraph, v, axis):
    """Return the smallest number along an axis; NaN if there is none."""
    least = Min(axis=axis)(v)
    if v.type.kind != "f" or finite.ask(fgraph, v):
        return least
    choose = switch if least.type.ndim else ifelse
    return choose(isnan(least), nanmin(v, axis), least)


# --- ranges and fills ---------------------------------------------------------------------------


def is_remainder(i, n):
    """Return whether a number is the remainder of a division by another one, or a position."""
    return not isinstance(i, int) and i.head is mod and i.owner.inputs[1] is n


def position(i, n):
    """Return the position of an index in a dimension of length n, which is checked."""
    number = n.number if n.head is CONSTANT else None
    if is_remainder(i, n):
        return i
    if isinstance(i, int) and number is not None:
        return as_tensor_variable(i % number) if -number <= i < number else None
    return CheckedIndex()(i, n)


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(ARange))
def item_of_range(fgraph, node):
    """Compute one number of a range of integers. Not data: the type of the step decides.

    >>> rewritten(arange(9)[4], arange(lscalar("n"))[2])
    [4, CheckedIndex(2, maximum(n, 0))]
    """
    x = node.inputs[0]
    (start, _, step), (i,) = x.owner.inputs, entries_of(node)[0]
    if isinstance(i, slice) or any(v.type.kind not in "iu" for v in x.owner.inputs):
        return None
    if x.type.kind == "f" and (start.head, step.head) != (CONSTANT, CONSTANT):
        return None
    place = position(i, length(x, 0))
    if place is None:
        return None
    if not is_number(start, 0) or not is_number(step, 1):
        place = start + place * step
    return fitting(node.outputs[0], with_new(cast(place, x.type.dtype), entries_of(node)[1]))


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(ARange))
def slice_of_range(fgraph, node):
    """Compute only the numbers of a range of integers that a slice reads. Not data: it holds for
    every slice by numbers.

    >>> rewritten(arange(lscalar("n"))[2:7])
    ARange{dtype='int64'}(minimum(2, maximum(n, 0)), minimum(7, maximum(n, 0)), 1)
    """
    x = node.inputs[0]
    start, _, step = x.owner.inputs
    (e,), new = entries_of(node)
    if not isinstance(e, slice) or not is_static(e) or not is_only_read(fgraph, x, 1.0):
        return None
    if x.type.dtype != "int64" or any(v.type.kind not in "iu" for v in x.owner.inputs):
        return None
    numbers = [cast(v, "int64") for v in (start, step)]
    first, past, by = bounds(e, length(x, 0))
    made = [by if is_number(step, 1) else by * numbers[1]]
    for place in (past, first):
        part = place if is_number(step, 1) else place * numbers[1]
        made.insert(0, part if is_number(start, 0) else numbers[0] + part)
    return fitting(node.outputs[0], with_new(arange(*made, dtype="int64"), new))


def bounds(e, n):
    """Return the first position that a slice by numbers takes of n elements, the one at which it
    ends, and its step.
    """
    by = 1 if e.step is None else e.step
    low, high = (0, n) if by > 0 else (-1, n - 1)
    ends = [low if by > 0 else high, high if by > 0 else low]
    for k, i in enumerate((e.start, e.stop)):
        if i is not None:
            ends[k] = minimum(i, high) if i >= 0 else maximum(n + i, low)
    return ends[0], ends[1], by


def is_number(v, number):
    """Return whether a variable is a constant number."""
    return v.head is CONSTANT and v.number == number


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(Eye, Tri))
def row_of_unit_matrix(fgraph, node):
    """Compute a row of a unit matrix, or of a triangle of ones, by comparing positions.

    Not data: it holds for rows, columns and elements.

    >>> rewritten(eye(9)[2, 2], Tri()(4, vector("x").shape[0], 0)[2])
    [1.0, 2 >= ARange{dtype='int64'}(0, Shape_i{i=0}(x), 1)]
    """
    x = node.inputs[0]
    rows, columns, k = x.owner.inputs
    entries, new = entries_of(node)
    chosen = [e for e in entries if not isinstance(e, slice)]
    if not chosen or not all(not isinstance(e, slice) or is_whole(e) for e in entries):
        return None
    places = [
        arange(n) if isinstance(e, slice) else position(e, cast(n, "int64"))
        for e, n in zip(entries, (rows, columns), strict=True)
    ]
    if None in places or not fits(x):
        return None
    row, column = places
    compare = eq if isinstance(x.owner.op, Eye) else ge
    row = row if is_number(k, 0) else row + k
    return fitting(node.outputs[0], with_new(cast(compare(row, column), x.type.dtype), new))


def compared_by_fill(fgraph, v, lengths, places):
    """Return the groups of lengths that a fill compares at some dimensions of its value."""
    groups, more = [], len(lengths) - v.type.ndim
    for d in places:
        have, wanted = known_length.ask(fgraph, v, d).value, length_read(lengths[more + d])
        if have != wanted:
            groups.append([length(v, d), cast(lengths[more + d], "int64")])
    return groups


@node_rewriter(
    [Subtensor], phase="specialize", claim=exact, depth=2, when=below(Alloc), keeps=operands_stay
)
def item_of_filled(fgraph, node):
    """Read what fills an array. Not data: it holds for every index by integers.

    >>> rewritten(full((3, 4), scalar("x"))[0, 1], full((3, iscalar("n")), scalar("y"))[2])
    [x, Alloc(y, n)]
    """
    x = node.inputs[0]
    v, *lengths = x.owner.inputs
    entries, new = entries_of(node)
    if any(isinstance(e, slice) and not is_whole(e) for e in entries):
        return None
    dropped = [n for e, n in zip(entries, lengths, strict=True) if not isinstance(e, slice)]
    if not all([nonneg.ask(fgraph, n) for n in dropped]):
        return None
    own, places = aligned(v.type.broadcastable, entries, x.type.broadcastable)
    groups = compared_by_fill(fgraph, v, lengths, places)
    own = after_comparing(own, groups, x.owner.op)
    checks = positions_in_fill(v, lengths, entries, x.type.broadcastable)
    if None in checks:
        return None
    checks = [c for c in checks if c.head is not CONSTANT and c.head is not mod]
    rest = [n for e, n in zip(entries, lengths, strict=True) if isinstance(e, slice)]
    if rest:
        result = alloc(taken(v, own), after(checks, rest[0]), *rest[1:])
    else:
        result = after(checks, taken(v, own))
    return fitting(node.outputs[0], with_new(result, new))


def positions_in_fill(v, lengths, entries, ones):
    """Return the checked positions of integers in dimensions that a fill repeats."""
    more, found = len(entries) - v.type.ndim, []
    for d, (e, n) in enumerate(zip(entries, lengths, strict=True)):
        repeated = d < more or (v.type.broadcastable[d - more] and not ones[d])
        if not isinstance(e, slice) and repeated:
            found.append(position(e, cast(n, "int64")))
    return found


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(Reshape))
def item_of_flattened(fgraph, node):
    """Read an element of a computed array instead of flattening all of it. Not data: lengths decide
    which element it is.

    >>> rewritten(exp(matrix("x", shape=(3, 4))).flatten()[5], repeat(vector("v"), 3)[7])
    [exp(Subtensor{1, 1}(x)), Subtensor{2}(v)]
    """
    x = node.inputs[0]
    v = x.owner.inputs[0]
    entries, new = entries_of(node)
    if x.type.ndim != 1 or v.owner is None or v.type.ndim < 2 or isinstance(entries[0], slice):
        return None
    if not is_only_read(fgraph, x):
        return None
    i, lengths = entries[0], [length(v, d) for d in range(v.type.ndim)]
    if isinstance(i, int) and i >= 0 and all(n.head is CONSTANT for n in lengths[1:]):
        place = as_tensor_variable(i)
    else:
        place = position(i, mul(*lengths) if fits(x) else length(x, 0))
    if place is None:
        return None
    where = []
    for n in reversed(lengths[1:]):
        where.append(place % n)
        place = place // n
    return fitting(node.outputs[0], with_new(taken(v, [place, *reversed(where)]), new))


MAX_END = 100  # elements at an end of a repeated vector that are built from its own end


@node_rewriter(
    [Subtensor], phase="specialize", claim=exact, depth=3, when=below(Reshape), keeps=operands_stay
)
def end_of_tile(fgraph, node):
    """Repeat only one end of a vector if only that end of the result is read. Not data: numbers
    decide what is read.

    >>> rewritten(tile(vector("x"), 4)[:3])
    Subtensor{:3}(Reshape{-1}(Alloc(Subtensor{:, :3}(ExpandDims{axes=[0]}(x)), 3, ...)))
    """
    x = node.inputs[0]
    (e, *more), new = entries_of(node)
    filled = x.owner.inputs[0]
    if more or not isinstance(e, slice) or not isinstance(filled.head, Alloc) or not is_static(e):
        return None
    v, repeats, *lengths = filled.owner.inputs
    if (
        v.type.broadcastable != (True, False)
        or len(lengths) != 1
        or not nonneg.ask(fgraph, repeats)
    ):
        return None
    end = end_read(e)
    if end is None or is_end(v, end) or compared_by_fill(fgraph, v, filled.owner.inputs[1:], [1]):
        return None
    part = taken(v, [WHOLE, end])
    most = minimum(repeats, end.stop or -end.start)
    repeated = alloc(part, most, length(part, 1)).flatten()
    return fitting(node.outputs[0], with_new(taken(repeated, [e]), new))


def end_read(e):
    """Return the few elements at the beginning, or at the end, that a slice by numbers reads at
    most; None for other slices.
    """
    start, stop, ahead = e.start or 0, e.stop, e.step is None or e.step > 0
    if ahead and start >= 0 and stop is not None and 0 < stop <= MAX_END:
        return slice(None, stop)
    if ahead and -MAX_END <= start < 0 and (stop is None or stop < 0):
        return slice(start, None)
    return None


def is_end(v, end):
    """Return whether a row is known to have no other elements than those at an end."""
    if v.type.shape[1] is not None:
        return v.type.shape[1] <= (end.stop or -end.start)
    while isinstance(v.head, DimShuffle):
        v = v.owner.inputs[0]
    return isinstance(v.head, Subtensor) and entries_of(v.owner)[0][-1] == end
