"""Ops that hold a graph (`OpFromGraph`)."""

from rewrite_engine.graph.inner import HasInnerGraph, inlined
from rewrite_engine.rules.facts_failure import call_errors_kept
from rewrite_engine.rules.language import *
from rewrite_engine.rules.shape import length
from rewrite_engine.tensor import alloc, second


@node_rewriter([HasInnerGraph], phase="inner", claim=exact, keeps=call_errors_kept)
def inline(fgraph, node):
    """The graph of an op that is to be inlined takes its place. Not data: what it makes is written
    in the op.

    >>> from rewrite_engine import OpFromGraph
    >>> x, y = vectors("x", "y")
    >>> f = OpFromGraph([x], [exp(x) + x], inline=True)
    >>> rewritten(f(y))
    exp(y) + y
    """
    if not node.op.inline:
        return None
    found = inlined(node)
    return found[0] if len(found) == 1 else tuple(found)


@node_rewriter([second], phase="canonicalize", claim=exact)
def fill_without_call(fgraph, node):
    """An op is not called for the shape of its result alone, as gradients do: its lengths follow
    from its graph. Not data: it looks at who else needs the op.

    >>> from rewrite_engine import OpFromGraph
    >>> x, y = vectors("x", "y")
    >>> f = OpFromGraph([x], [exp(x)])
    >>> rewritten(second(f(y), 1.0))
    Alloc(1.0, Shape_i{i=0}(y))
    """
    x, y = node.inputs
    call = x.owner
    if call is None or not (isinstance(call.op, HasInnerGraph) and all(y.type.broadcastable)):
        return None
    if call.op.equal_lengths(call) is None:
        return unknown("it is called anyway: it may fail", x)
    for out in call.outputs if call in fgraph else ():
        if out in fgraph.out_uses or any(client is not node for client in fgraph.users[out]):
            return unknown("it is called anyway: its values are needed", x)
    return alloc(y, *[length(x, k) for k in range(x.type.ndim)])
