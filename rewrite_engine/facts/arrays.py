"""Facts about whole tensors: lengths, shapes, uses. Import them from
`rewrite_engine.facts`.
"""

from itertools import zip_longest

from rewrite_engine.facts.numbers import FACTS
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.match.fact import because, fact, unknown
from rewrite_engine.tensor import CheckedLength, Shape_i
from rewrite_engine.tensor.op import TensorOp, Value, is_dimension

__all__ = [
    "length", "same_dtype", "same_length", "same_rank", "same_shape", "static_shape", "used_once",
]  # fmt: skip

# --- types and uses -----------------------------------------------------------------------------


@fact(cost=2)
def same_dtype(*xs):
    """All variables have the same dtype."""
    if len({getattr(x.type, "dtype", x.type) for x in xs}) == 1:
        return because(f"all are {getattr(xs[0].type, 'dtype', xs[0].type)}")
    return unknown("the dtypes differ", blame=xs[-1])


@fact(cost=2)
def same_rank(*xs):
    """All variables have the same number of dimensions."""
    if len({x.type.ndim for x in xs}) == 1 and xs[0].type.ndim is not NO_RANK:
        return because(f"all have {xs[0].type.ndim} dimensions")
    return unknown("the ranks differ", blame=xs[-1])


@fact(cost=2)
def static_shape(x):
    """Every length is known; the evidence has the shape, as `value`."""
    if x.type.ndim is NO_RANK or None in x.type.shape:
        return unknown("a length is not known", blame=x)
    return because(f"its shape is {x.type.shape}", value=x.type.shape)


@static_shape.test
def has_shape(value, shape):
    """Return whether an array has that shape."""
    return value.shape == tuple(shape)


@fact(cost=5)
def used_once(fgraph, x):
    """x has one use in its graph, so a rule that replaces this use removes x. Unknown outside of a
    graph.
    """
    if fgraph is None or x not in fgraph.users:
        return unknown("it belongs to no graph", blame=x)
    uses = len(fgraph.get_clients(x))
    return because("it has one use") if uses == 1 else unknown(f"it has {uses} uses", blame=x)


# --- lengths ------------------------------------------------------------------------------------


@fact(depth=2)
def length(x, i):
    """Length of dimension i, as `value`: a number, the integer that gives it, or the dimension (of
    a variable further down) of equal length. Always known to that extent. (Whether computing the
    term may fail is another question, see `cannot_fail`.)
    """
    known = x.type.shape[i]
    if known is not None:
        return because(f"the length is {known}", value=known)
    below = _below(x, i % x.type.ndim)
    if below is None:
        return because("a length that follows from no other", value=(x, i % x.type.ndim))
    if isinstance(below, Variable):
        number = below.number if below.head is CONSTANT else None
        return because(f"the length is {below}", value=below if number is None else number)
    found = length(*below)
    return because(f"the length of an operand of {x.owner.op}", found, value=found.value)


def _below(x, i):
    """Return the dimension of an operand that has the same length as dimension i of x, or the
    integer that gives it; None if the op does not declare one.
    """
    node = x.owner
    if node is None or not isinstance(node.op, TensorOp):
        return None
    found = node.op.shapes_of(node).outputs[x.index][i]
    if isinstance(found, Value):
        given = node.inputs[found.i]
        return _dimension_read(given) or given
    return (node.inputs[found[0]], found[1]) if is_dimension(found) else None


def _down(x, i):
    """Yield a dimension, those further down of the same length, and that length, if known."""
    place = (x, i % x.type.ndim)
    while place is not None:
        yield place
        known = place[0].type.shape[place[1]]
        if known is not None:
            yield known
            return
        place = _below(*place)
        if isinstance(place, Variable):
            yield place
            return


def is_same_length(x, i, y, j):
    """Return whether dimension i of x is as long as dimension j of y, like `same_length`, for
    variables that are near each other. (Nothing is cached; the number of steps is their distance.)
    """
    one, other = set(), set()
    for a, b in zip_longest(_down(x, i), _down(y, j)):
        one.add(a)
        other.add(b)
        if (a in other and a is not None) or (b in one and b is not None):
            return True
    return False


def _dimension_read(v):
    """Return the dimension whose length an integer is, if it is read from one."""
    while isinstance(v.head, CheckedLength):
        v = v.owner.inputs[0]
    return (v.owner.inputs[0], v.head.i) if isinstance(v.head, Shape_i) else None


def length_read(v):
    """Return the length that an integer is, in the form of `length`; None for other integers."""
    if v.head is CONSTANT:
        return v.number
    read = _dimension_read(v)
    return None if read is None else length(*read).value


@fact
def same_length(x, i, y, j):
    """Dimension i of x is as long as dimension j of y."""
    a, b = length(x, i), length(y, j)
    if a.value == b.value:
        return because("both lengths are equal", a, b)
    return unknown(f"the lengths of dimensions {i} and {j} are not known to be equal", blame=y)


@fact
def same_shape(x, y):
    """x and y have the same shape, if both are computed: none is repeated to fit the other."""
    if x.type.ndim != y.type.ndim or x.type.ndim is NO_RANK:
        return unknown("the ranks differ", blame=y)
    if [n == 1 for n in x.type.shape] != [n == 1 for n in y.type.shape]:
        # types know all that can be known of lengths of 1: searching further down finds no more
        return unknown("one may be repeated along a dimension of length 1", blame=y)
    found = []
    for i in range(x.type.ndim):
        answer = same_length(x, i, y, i)
        if not answer:
            return answer
        found.append(answer)
    return because("the lengths are equal", *found)


vars(FACTS).update(globals())
