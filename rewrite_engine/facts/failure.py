"""Facts about computations that may raise an error. Import them from `rewrite_engine.facts`.
`rewrite_engine/rewrite/dropped.py` uses them to check that a rule loses no error when it drops a
term.
"""

from rewrite_engine.facts.arrays import length, length_read
from rewrite_engine.facts.numbers import FACTS
from rewrite_engine.match.fact import because, every, fact, unknown
from rewrite_engine.rewrite.dropped import Dropping
from rewrite_engine.tensor.shape import CheckedLength

__all__ = ["cannot_fail", "dropping", "fits"]


@fact
def fits(x):
    """The op that computes x does not fail, once its operands are computed."""
    node = x.owner
    if node is None:
        return because("it is not computed by an op")
    groups = node.op.equal_lengths(node)
    if groups is None:
        said = node.op.implied.get("fits")
        refused = unknown(f"{node.op} may raise an error", blame=x)
        return said(FACTS, *node.inputs) if said else refused
    found = []
    for group in groups:
        first = None
        for member in group:
            value = member
            if isinstance(member, tuple):
                found.append(length(node.inputs[member[0]], member[1]))
                value = found[-1].value
            if first is not None and value != first:
                why = f"{node.op} may raise an error: lengths are not known to be equal"
                return unknown(why, blame=x)
            first = value
    return because("the lengths are equal", *found) if found else because("its op cannot fail")


@fact
def cannot_fail(x):
    """No error is raised when x is computed, whatever the inputs are."""
    if x.owner is None:
        return because("it is not computed by an op")
    here = x.owner.op.equal_lengths(x.owner) == [] or fits(x)
    if not here:
        return here
    return every(
        "its op cannot fail", cannot_fail, [v for v in x.owner.inputs if v.owner is not None]
    )


def compared(node):
    """Return the groups of lengths that a node compares, in the form of `length`; None for a node
    that may fail in other ways.
    """
    if isinstance(node.op, CheckedLength):
        return [{length_read(node.inputs[i]) for i in pair} for pair in node.op.pairs()]
    groups = node.op.equal_lengths(node)
    if groups is None:
        return None
    return [
        {length(node.inputs[m[0]], m[1]).value if isinstance(m, tuple) else m for m in group}
        for group in groups
    ]


#: checks whether errors are lost with terms that rules drop
dropping = Dropping(fits, cannot_fail, length, compared)
