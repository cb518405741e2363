"""An index of an index is one index; what was written and is read again is not read from memory."""

from rewrite_engine.errors import AxisError
from rewrite_engine.facts import nonneg
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rewrite.ac import fitting
from rewrite_engine.rules.indexing.place import (
    below,
    entries_of,
    is_only_read,
    is_static,
    is_whole,
    operands_stay,
    read_after,
    taken,
    with_new,
)
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import (
    CheckedIndex,
    IncSubtensor,
    Shape_i,
    Subtensor,
    add,
    cast,
    second,
)
from rewrite_engine.tensor.op import with_parameters

REVERSED = slice(None, None, -1)


def has_constants(op, seen, distinct):
    """Return whether a number in an index is a constant."""
    return any(head_of(s) is CONSTANT for s in seen[1:])


@node_rewriter([Subtensor], phase="canonicalize", claim=exact, when=has_constants)
def index_by_constants(fgraph, node):
    """Write constants into the index, so that other rules read them. Not data: any number of
    entries.

    >>> i, x = iscalar("i"), vector("x")
    >>> rewritten(x[i - i + 3])
    Subtensor{3}(x)
    """
    entries, new = entries_of(node)
    try:
        part = taken(node.inputs[0], [with_numbers(e) for e in entries])
    except AxisError:  # the length is known: the call will raise it
        return None
    return fitting(node.outputs[0], with_new(part, new))


def with_numbers(entry):
    """Return an entry with constants as integers."""
    if not isinstance(entry, slice):
        return entry if isinstance(entry, int) or entry.head is not CONSTANT else entry.number
    parts = entry.start, entry.stop, entry.step
    return slice(*[i if i is None or isinstance(i, int) else with_numbers(i) for i in parts])


@node_rewriter([Subtensor], phase="canonicalize", claim=exact, depth=2, when=below(Subtensor))
def index_of_index(fgraph, node):
    """Read once instead of twice. Not data: it merges all kinds of entries, where no error depends
    on an unknown length.

    >>> x = vector("x")
    >>> rewritten(x[2:][:10], x[::-1][0], x[:-1][-2], x[1:][::2])
    [Subtensor{2:12}(x), Subtensor{-1}(x), Subtensor{-3}(x), Subtensor{1::2}(x)]
    """
    inner = node.inputs[0].owner
    first, new = entries_of(inner)
    outer, more = entries_of(node)
    if new:
        return None
    x, rest, entries = inner.inputs[0], iter(outer), []
    for e, n in zip(first, x.type.shape, strict=True):
        e = merged(fgraph, e, next(rest), n) if isinstance(e, slice) else e
        if e is None:
            return None
        entries.append(e)
    return fitting(node.outputs[0], with_new(taken(x, entries), more))


def merged(fgraph, first, then, n):
    """Return one entry for a slice and an entry of its result; None if lengths or signs decide.

    n: the length of the dimension, if it is known.
    """
    if is_whole(then) or is_whole(first):
        return first if is_whole(then) else then
    if n is not None and is_static(first) and is_static(then):
        return of_range(range(n)[first], then, n)
    if first == REVERSED:
        return reversed_entry(then)
    if first.step not in (None, 1) and not is_count(first.step, 1):
        return None
    return (
        of_item(fgraph, first, then)
        if not isinstance(then, slice)
        else of_slice(fgraph, first, then)
    )


def of_range(places, then, n):
    """Return the entry that reads these places of n elements; None if one fails."""
    if not isinstance(then, slice):
        return places[then] if -len(places) <= then < len(places) else None
    left = places[then]
    if not len(left):
        return slice(0, 0)
    stop = left[-1] + (1 if left.step > 0 else -1)
    return slice(left[0], None if stop < 0 or stop >= n else stop, left.step)


def reversed_entry(then):
    """Return an entry of a reversed dimension as one of the dimension itself."""

    def mirrored(i):
        return None if i is None else -1 - i

    if not isinstance(then, slice):
        return mirrored(then)
    if then.step is not None and not isinstance(then.step, int):
        return None
    step = -1 if then.step is None else -then.step
    return slice(mirrored(then.start), mirrored(then.stop), step)


def is_count(i, least=0):
    """Return whether an entry is a number that is not below 0, or not below another number."""
    return isinstance(i, int) and i >= least


def is_ahead(fgraph, i):
    """Return whether a bound counts from the start: a number or a variable that is not below 0."""
    if i is None or isinstance(i, int):
        return i is not None and i >= 0
    return bool(nonneg.ask(fgraph, i))


def is_behind(i):
    """Return whether a bound is a number that counts from the end."""
    return isinstance(i, int) and i < 0


def of_item(fgraph, first, i):
    """Return the element i of a slice with a step above 0; None if it may fail elsewhere."""
    start, stop, step = first.start, first.stop, first.step or 1
    if is_ahead(fgraph, i):
        if start is not None and not is_ahead(fgraph, start):
            return None
        place = (i if step == 1 else i * step) + (0 if start is None else start)
        inside = stop is None or (isinstance(place, int) and is_count(stop, place + 1))
        return place if inside else None
    if not is_behind(i) or step != 1:
        return None
    if start is None and (stop is None or is_behind(stop)):
        return i + (stop or 0)
    return i if is_behind(start) and stop is None and i >= start else None


def of_slice(fgraph, first, then):
    """Return a slice of a slice with a step above 0; None if that depends on the length."""
    if then.step is not None and not is_count(then.step, 1):
        return None
    a, b, s = first.start, first.stop, first.step or 1
    c, d, t = then.start, then.stop, then.step or 1
    if a is not None and not is_ahead(fgraph, a):
        return slice(max(a, c), None, t) if is_last(first) and is_last(then) and t == 1 else None
    if c is not None and not is_ahead(fgraph, c):
        return None
    start = plus(a, c if c is None or s == 1 else c * s)
    step = None if s * t == 1 else s * t
    if d is None:
        return slice(start, b, step)
    if is_behind(d):
        behind = s == 1 and (b is None or is_behind(b))
        return slice(start, d + (b or 0), step) if behind else None
    if not is_ahead(fgraph, d):
        return None
    stop = plus(a, d if s == 1 else d * s)
    if b is None:
        return slice(start, stop, step)
    known = is_count(b) and isinstance(stop, int)
    return slice(start, min(b, stop), step) if known else None


def is_last(e):
    """Return whether a slice takes a number of elements at the end."""
    return is_behind(e.start) and e.stop is None and e.step in (None, 1)


def plus(a, b):
    """Return the sum of two bounds, where None stands for 0."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


# --- written, then read -------------------------------------------------------------------------


def same_entry(a, b):
    """Return whether two entries are the same."""
    if isinstance(a, slice) and isinstance(b, slice):
        pairs = [(a.start, b.start), (a.stop, b.stop), (a.step, b.step)]
        return all(same_number(i, j) for i, j in pairs)
    return not isinstance(a, slice) and not isinstance(b, slice) and same_number(a, b)


def same_number(i, j):
    """Return whether two bounds are the same number or variable."""
    return i is j or (isinstance(i, int) and isinstance(j, int) and i == j)


def places_of(e, n):
    """Return the places that an entry takes as a range, of a long dimension if n is None; None if
    that depends on the length.
    """
    if not is_static(e):
        return None
    if n is not None:
        if not isinstance(e, slice) and not -n <= e < n:
            return None
        e = slice(e, e + 1 or None) if not isinstance(e, slice) else e
        return range(n)[e]
    if not isinstance(e, slice):
        return range(e, e + 1) if e >= 0 else None
    start, stop, step = e.start or 0, e.stop, e.step or 1
    far = 2**62 if stop is None else stop
    return range(start, far, step) if step > 0 and start >= 0 and far >= 0 else None


def are_apart(a, b, n):
    """Return whether two entries never take the same element."""
    first, other = places_of(a, n), places_of(b, n)
    if first is None or other is None:
        return behind_each_other(a, b)
    if not first or not other:
        return True
    if max(first[-1], first[0]) < min(other[0], other[-1]):
        return True
    if max(other[-1], other[0]) < min(first[0], first[-1]):
        return True
    short, long = (first, other) if len(first) <= len(other) else (other, first)
    return len(short) <= 100 and not any(i in long for i in short)


def behind_each_other(a, b):
    """Return whether two numbers count from the end and differ, or are one bound of each other."""
    if is_behind(a) and is_behind(b):
        return a != b
    for one, other in ((a, b), (b, a)):
        if isinstance(one, slice) and not isinstance(other, slice):
            if is_behind(other) and one.step in (None, 1):
                before = is_behind(one.stop) and one.stop <= other
                behind = is_behind(one.start) and one.start > other
                return before or behind
    return False


@node_rewriter(
    [Subtensor],
    phase="canonicalize",
    claim=exact,
    depth=2,
    when=below(IncSubtensor),
    keeps=operands_stay,
)
def read_what_was_written(fgraph, node):
    """Use a value that was set, or add one that was added, where the same place is read; read the
    array itself where another place was changed.

    Not data: entries decide which places are the same.

    >>> x, y = vector("x"), scalar("y")
    >>> rewritten(set_subtensor(x[3], y)[4], inc_subtensor(x[:2], y)[:2])
    [Subtensor{4}(x), Subtensor{:2}(x) + y]
    >>> rewritten(set_subtensor(vector("x", shape=(9,))[3], y)[3])
    y
    """
    write = node.inputs[0].owner
    x, y, *_ = write.inputs
    written, new = entries_of(write, 2)
    read, more = entries_of(node)
    steps = [e.step for e in written if isinstance(e, slice)]
    if new or not all(step is None or isinstance(step, int) for step in steps):
        return None
    pairs = [*zip(written, read, x.type.shape, strict=True)]
    if all(same_entry(a, b) for a, b, _ in pairs):
        changed = change(write.op, taken(x, read), y)
        return fitting(node.outputs[0], with_new(changed, more))
    if not any(are_apart(a, b, n) for a, b, n in pairs):
        return None
    checks = checks_of_writing(write, written, pairs)
    if checks and not is_only_read(fgraph, node.inputs[0]):
        return None
    read = read_after(read, checks) if checks else read
    return None if read is None else fitting(node.outputs[0], with_new(taken(x, read), more))


def change(op, part, y):
    """Return a part after it was set or increased; the whole part is written to if y may be
    repeated at run time.
    """
    if op.broadcasts:
        return with_parameters(op, idx_list=())(part, y)
    if op.set_instead_of_inc:
        return second(part, y)
    return add(part, cast(y, part.type.dtype))


def checks_of_writing(write, written, pairs):
    """Return numbers that are computed only if writing does not fail."""
    x, y, *_ = write.inputs
    if not all(y.type.broadcastable) and write.op.equal_lengths(write) != []:
        part = change(write.op, taken(x, written), y)
        return [Shape_i(part.type.ndim - 1)(part)]
    uncertain = [d for d, pair in enumerate(pairs) if not cannot_fail_after(*pair)]
    return [CheckedIndex()(written[d], length(x, d)) for d in uncertain]


def cannot_fail_after(written, read, n):
    """Return whether writing cannot fail where reading does not."""
    if isinstance(written, slice):
        return True
    if not isinstance(written, int):
        return written is read
    if n is not None:
        return -n <= written < n
    if not isinstance(read, int):
        return False
    return 0 <= written <= read or read <= written < 0
