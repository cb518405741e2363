"""An index of joined or filled arrays becomes an index of the parts that are read."""

from collections import Counter
from math import inf

from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.graph.node import Variable
from rewrite_engine.language import *
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    WHOLE,
    after_comparing,
    before,
    below,
    comparisons,
    entries_of,
    is_only_read,
    is_static,
    is_whole,
    number_of,
    taken,
    with_new,
)
from rewrite_engine.tensor import ARange, Join, MakeVector, Subtensor, add, cast, join

MAX_NEAR_END = 100  # elements at an end that are read from each joined part


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(Join))
def index_of_join(fgraph, node):
    """Read the joined parts that an index needs, without joining all of them. Not data: lengths
    decide which parts these are.

    >>> x, y = vectors("x y")
    >>> rewritten(join(0, x, exp(y))[x.shape[0]:], stack([x, cos(x)])[0])
    [exp(y), x]
    >>> rewritten(exp(join(0, x, y))[-2:])
    exp(Subtensor{-2:}(Join{axis=0}(Subtensor{-2:}(x), Subtensor{-2:}(y))))
    """
    x = node.inputs[0]
    parts, axis = x.owner.inputs, x.owner.op.axis
    entries, new = entries_of(node)
    others = [*entries[:axis], WHOLE, *entries[axis + 1 :]]
    if is_whole(entries[axis]):
        if not is_only_read(fgraph, x):
            return None
        chosen, at = list(parts), WHOLE
    else:
        chosen, at = parts_read(fgraph, x, parts, entries[axis])
        if chosen is None:
            return None
    result = joined_parts(fgraph, x.owner, chosen, others, at)
    return None if result is None else fitting(node.outputs[0], with_new(result, new))


def joined_parts(fgraph, whole, chosen, others, at):
    """Return the chosen parts at an index, joined; None if an error may be lost."""
    axis = whole.op.axis
    dropped = len(chosen) < len(whole.inputs)
    places = {
        (k, d)
        for k, v in enumerate(whole.inputs)
        for d in range(v.type.ndim)
        if d != axis and (dropped or not is_whole(others[d]))
    }
    groups = comparisons(fgraph, whole, places)
    if groups is None:
        return None
    if len(chosen) == 1:
        entries = [*others[:axis], at, *others[axis + 1 :]]
        entries = read_after(chosen[0], axis, entries, groups, whole.op)
        return (
            None
            if entries is None
            else cast(taken(chosen[0], entries), whole.outputs[0].type.dtype)
        )
    entries = after_comparing(others, groups, whole.op)
    if entries is None:
        return None
    kept = before(entries, axis)
    result = join(kept, *[taken(v, entries) for v in chosen])
    return taken(result, [*[WHOLE] * kept, at, *[WHOLE] * (result.type.ndim - kept - 1)])


def read_after(v, axis, entries, groups, op):
    """Return entries that are read after lengths have been compared, even if they are whole."""
    open_ = [d for d, n in enumerate(v.type.shape) if n is None and d != axis]
    open_ = [d for d in open_ if isinstance(entries[d], slice)] or open_
    return after_comparing(entries, groups, op, (open_ or [axis])[0])


def parts_read(fgraph, x, parts, entry):
    """Return the parts that an entry of the joined dimension reads, and the entry for these; (None,
    None) if that is not known.
    """
    axis = x.owner.op.axis
    lengths = [v.type.shape[axis] for v in parts]
    for found in (by_number(lengths, entry), by_border(fgraph, parts, axis, entry)):
        if found is not None:
            first, last, at = found
            return list(parts[first:last]), at
    most = near_end(entry)
    if most is None or not is_only_read(fgraph, x):
        return None, None
    few = [at_end(fgraph, v, axis, most, last=starts_behind(entry)) for v in parts]
    if all(v is w for v, w in zip(few, parts, strict=True)):
        return None, None
    return few, entry


def by_number(lengths, entry):
    """Return the range of parts that static lengths determine, and the entry there."""
    if isinstance(entry, int):
        return of_item(lengths, entry)
    if not isinstance(entry, slice) or not is_simple(entry) or None in lengths:
        return None
    start, stop, _ = entry.indices(sum(lengths))
    borders = [sum(lengths[:k]) for k in range(len(lengths) + 1)]
    if start >= stop:
        return None
    first = max(k for k, b in enumerate(borders) if b <= start)
    last = min(k for k, b in enumerate(borders) if b >= stop)
    if (first, last) == (0, len(lengths)):
        return None
    return first, last, slice(start - borders[first], stop - borders[first])


def of_item(lengths, i):
    """Return the part that has the element i, and its position there."""
    ahead = enumerate(lengths) if i >= 0 else reversed([*enumerate(lengths)])
    left = i if i >= 0 else -1 - i
    for k, n in ahead:
        if n is None:
            return None
        if left < n:
            return k, k + 1, (left if i >= 0 else -1 - left)
        left -= n
    return None


def is_simple(entry):
    """Return whether a slice has numbers as bounds, and takes consecutive elements."""
    return entry.step in (None, 1) and all(
        part is None or isinstance(part, int) for part in (entry.start, entry.stop)
    )


def by_border(fgraph, parts, axis, entry):
    """Return the range of parts between two lengths that are computed from those of the parts."""
    if not isinstance(entry, slice) or entry.step not in (None, 1):
        return None
    borders, total = [Counter()], Counter()
    for v in parts:
        total = total + counted(known_length.ask(fgraph, v, axis).value)
        borders.append(total)
    first = 0 if entry.start is None else border_of(entry.start, borders)
    last = len(parts) if entry.stop is None else border_of(entry.stop, borders)
    if first is None or last is None or first >= last or (first, last) == (0, len(parts)):
        return None
    return first, last, WHOLE


def counted(n):
    """Return a length as a sum: how often each unknown length, and how often 1, is added."""
    return Counter({1: n}) if isinstance(n, int) else Counter({n: 1})


def border_of(v, borders):
    """Return the border between parts at which a number stands; None if that is not known."""
    total, todo = Counter(), [v]
    while todo:
        v = todo.pop()
        if isinstance(v, int):
            if v < 0:
                return None
            total += Counter({1: v})
        elif v.head is add:
            todo += v.owner.inputs
        elif (n := length_read(v)) is None or (isinstance(n, int) and n < 0):
            return None
        else:
            total += counted(n)
    return borders.index(total) if total in borders else None


def near_end(entry):
    """Return how many elements at one end an entry reads; None if that is not known, or many."""
    if isinstance(entry, int):
        most = entry + 1 if entry >= 0 else -entry
    elif isinstance(entry, slice) and is_simple(entry) and starts_behind(entry):
        ends = entry.stop is None or entry.stop < 0
        most = -entry.start if ends else None
    elif isinstance(entry, slice) and is_simple(entry) and entry.stop is not None:
        most = entry.stop if entry.stop > 0 and (entry.start or 0) >= 0 else None
    else:
        return None
    return most if most is not None and most <= MAX_NEAR_END else None


def starts_behind(entry):
    """Return whether an entry counts from the end."""
    first = entry.start if isinstance(entry, slice) else entry
    return isinstance(first, int) and first < 0


def at_end(fgraph, v, axis, most, last):
    """Return the first or last elements along a dimension; the array itself if it is known to have
    no more, so that no index is added twice.
    """
    n = known_length.ask(fgraph, v, axis).value
    if (n if isinstance(n, int) else longest(n)) <= most:
        return v
    wanted = slice(-most, None) if last else slice(None, most)
    return taken(v, [*[WHOLE] * axis, wanted, *[WHOLE] * (v.type.ndim - axis - 1)])


def longest(n):
    """Return the most elements that a dimension may have, in the form of the fact `length`, if its
    length is not known. (Numbers of a range count as none: computing all of them costs little, and
    a part of a range is another range of unknown length.)
    """
    v, axis = n if isinstance(n, tuple) else (n, 0)
    if not isinstance(v, Variable):  # (the lengths of a loop's states)
        return inf
    if isinstance(v.head, ARange):
        return 0
    if not isinstance(v.head, Subtensor) or v.type.ndim == 0:
        return inf
    entries, new = entries_of(v.owner)
    kept = [e for e in entries if isinstance(e, slice)]
    return at_most(kept[axis - sum(k < axis for k in new)])


def at_most(e):
    """Return the most elements that a slice takes of a dimension of any length."""
    start, stop = number_of(e.start), number_of(e.stop)
    step = 1 if e.step is None else number_of(e.step)
    if step is None or step < 1:
        return inf
    if stop is not None and stop >= 0:
        return -(-stop // step)
    return -(start // step) if start is not None and start < 0 else inf


@node_rewriter([Subtensor], phase="specialize", claim=exact, depth=2, when=below(MakeVector))
def slice_of_vector(fgraph, node):
    """Build a vector of the numbers that are read. Not data: any number of them.

    >>> x, y, z = scalars("x y z")
    >>> rewritten(stack([x, y, z])[1:])
    MakeVector{float64}(y, z)
    """
    entries, new = entries_of(node)
    numbers = node.inputs[0].owner.inputs
    if new or not isinstance(entries[0], slice) or not is_static(entries[0]):
        return None
    return node.inputs[0].owner.op(*numbers[entries[0]])
