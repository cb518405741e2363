"""Indexes as one entry per dimension, and whether it pays to move one below an op.

An entry is an integer, a 0-d variable, or a slice of these. No rules here.
"""

from itertools import islice

from rewrite_engine.facts import length as known_length
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import (
    CheckedLength,
    DimShuffle,
    Subtensor,
    add,
    as_tensor_variable,
    constant,
    second,
    subtensor,
)
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.template import INPUT, NEWAXIS, Slice
from rewrite_engine.tensor.reduction import AlongAxes
from rewrite_engine.tensor.running import AlongOneAxis

WHOLE = slice(None)
ASSUMED_LENGTH = 1000  # of dimensions whose length types do not know
MAX_SHARE = 0.5  # part of the elements above which reading them all is as good
MAX_SEARCHED_CLIENTS = 30  # clients that are looked at to find whether a term is only indexed


def below(*classes):
    """Return a `when` of rules: whether an op of these classes made the first operand."""

    def made_by(op, seen, distinct):
        return isinstance(head_of(seen[0]), classes)

    return made_by


# --- entries ------------------------------------------------------------------------------------


def entries_of(node, first=1):
    """Return the entries of an index, one per dimension of the array, and the places of new
    dimensions in the result.
    """
    given, entries, new, place = iter(node.inputs[first:]), [], [], 0
    for e in node.op.idx_list:
        if e == NEWAXIS:
            new.append(place)
        elif isinstance(e, Slice):
            entries.append(slice(*[next(given) if part == INPUT else part for part in e]))
        else:
            entries.append(next(given) if e == INPUT else e)
        place += e == NEWAXIS or isinstance(e, Slice)
    return entries + [WHOLE] * (node.inputs[0].type.ndim - len(entries)), new


def is_static(entry):
    """Return whether an entry consists of numbers, and its step, if any, is not 0."""
    parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
    valid = not isinstance(entry, slice) or entry.step is None or entry.step != 0
    return valid and all(part is None or isinstance(part, int) for part in parts)


def is_whole(entry):
    """Return whether an entry takes a dimension as it is."""
    return isinstance(entry, slice) and entry == WHOLE


def keeps_length(entry):
    """Return whether an entry takes a whole dimension, in either direction."""
    return is_whole(entry) or (isinstance(entry, slice) and entry == slice(None, None, -1))


def takes_some(entry):
    """Return whether an entry takes at least one element, unless there is none, or fails."""
    if not isinstance(entry, slice):
        return True
    start, stop, step = entry.start, entry.stop, entry.step
    if not is_static(entry):
        return False
    forward = step is None or step > 0
    if start is None:
        return stop is None or (stop > 0 if forward else stop < -1)
    return stop is None and (start < 0 if forward else start >= 0)


def taken(x, entries):
    """Return the part of x at these entries."""
    return x if all(map(is_whole, entries)) else subtensor(x, tuple(entries))


def with_new(x, new):
    """Return x with new dimensions at these places of the result."""
    if not new:
        return x
    old = iter(range(x.type.ndim))
    order = ["x" if k in new else next(old) for k in range(x.type.ndim + len(new))]
    return DimShuffle(x.type.ndim, order)(x)


def before(entries, axis):
    """Return the position of a dimension after the integers among the entries have dropped
    theirs.
    """
    return sum(isinstance(e, slice) for e in entries[:axis])


# --- whether it pays ----------------------------------------------------------------------------


def share(entries, shape):
    """Return which part of the elements is read, if unknown lengths are large."""
    result = 1.0
    for e, n in zip(entries, shape, strict=True):
        n = ASSUMED_LENGTH if n is None else max(n, 1)
        result *= count(e, n) / n
    return result


def count(entry, n):
    """Return how many of n elements an entry takes; half of them if a bound is a variable."""
    if not isinstance(entry, slice):
        return 1
    if not is_static(entry):
        return n / 2
    return len(range(*entry.indices(n)))


def is_only_read(fgraph, x, most=MAX_SHARE):
    """Return whether only small parts of x are read, here or above ops that an index passes."""
    if fgraph is None or x not in fgraph.users:
        return True
    return reads(fgraph, x, [MAX_SEARCHED_CLIENTS]) <= most


def count_uses(fgraph, x):
    """Return how often a term is used; once outside of a graph."""
    return 1 if fgraph is None or x not in fgraph.users else len(fgraph.get_clients(x))


def reads(fgraph, x, left):
    """Return which part of x is read by indexes, at most 1. left: the number of clients that may
    still be looked at, in a list.
    """
    if x in fgraph.out_uses:
        return 1.0
    total = 0.0
    for node in islice(fgraph.users[x], MAX_SEARCHED_CLIENTS):
        left[0] -= 1
        if left[0] < 0 or total >= 1:
            return 1.0
        total += read_by(fgraph, node, x, left)
    return total


def read_by(fgraph, node, x, left):
    """Return which part of x a client reads."""
    if isinstance(node.op, Subtensor) and node.inputs[0] is x and x not in node.inputs[1:]:
        return share(entries_of(node)[0], x.type.shape)
    passed = isinstance(node.op, Elemwise | AlongAxes | AlongOneAxis)
    if not passed or len(node.outputs) > 1 or node.outputs[0].type.ndim == 0:
        return 1.0
    return reads(fgraph, node.outputs[0], left)


# --- errors -------------------------------------------------------------------------------------


def comparisons(fgraph, node, places):
    """Return the groups of lengths that a node compares at some dimensions of its operands, without
    those known to be equal; None if it may fail for another reason.

    places: pairs of an operand's position and a dimension.
    """
    groups = node.op.equal_lengths(node)
    if groups is None:
        return None
    found = []
    for group in groups:
        if not any(member in places for member in group):
            continue
        terms = {}
        for member in group:
            if not isinstance(member, tuple):
                terms.setdefault(member, constant(member, dtype="int64"))
                continue
            v, i = node.inputs[member[0]], member[1]
            terms.setdefault(known_length.ask(fgraph, v, i).value, length(v, i))
        found.append([*terms.values()])
    return [group for group in found if len(group) > 1]


def after_comparing(entries, groups, op, whole=None):
    """Return entries that are read after lengths have been compared; None if no entry can be.

    The comparison becomes part of the first number in the index. whole: a dimension that may be
    read from its computed start instead.
    """
    if not groups:
        return entries
    check = CheckedLength([len(group) for group in groups], op)
    lengths = [v for group in groups for v in group]

    def compared(number):
        if isinstance(number, int) and number >= 0:
            return check(number, *lengths)
        return check(0, *lengths) + number

    for k, e in enumerate(entries):
        if keeps_length(e) or (whole is not None and k != whole):
            continue
        if not isinstance(e, slice):
            return [*entries[:k], compared(e), *entries[k + 1 :]]
        start = 0 if e.start is None and (e.step is None or is_ahead(e.step)) else e.start
        if start is not None:
            return [*entries[:k], slice(compared(start), e.stop, e.step), *entries[k + 1 :]]
    if whole is not None and is_whole(entries[whole]):
        return [*entries[:whole], slice(compared(0), None), *entries[whole + 1 :]]
    return None


def number_of(i):
    """Return the number that a bound is after comparisons of lengths (see `after_comparing`); None
    if it is not known.
    """
    if i is None or isinstance(i, int):
        return i
    if i.head is CONSTANT:
        return i.number
    if isinstance(i.head, CheckedLength):
        return number_of(i.owner.inputs[0])
    if i.head is not add:
        return None
    terms = [number_of(v) for v in i.owner.inputs]
    return None if None in terms else sum(terms)


def after(checks, number):
    """Return a number that is computed after other numbers."""
    for check in checks:
        number = second(check, number)
    return number


def read_after(entries, checks):
    """Return entries that are read after numbers have been computed; None if no entry can be."""
    for k, e in enumerate(entries):
        if not isinstance(e, slice):
            return [*entries[:k], after(checks, as_tensor_variable(e)), *entries[k + 1 :]]
        start = 0 if e.start is None and (e.step is None or is_ahead(e.step)) else e.start
        if start is not None:
            later = slice(after(checks, as_tensor_variable(start)), e.stop, e.step)
            return [*entries[:k], later, *entries[k + 1 :]]
    return None


def is_ahead(step):
    """Return whether a step is known to be positive."""
    return isinstance(step, int) and step > 0


def operands_stay(fgraph, node, new):
    """Return whether errors of the operands of the op below are kept; the rule checks that op
    itself.
    """
    return dropping.all_stay(fgraph, node, node.inputs[0].owner.inputs, [new])
