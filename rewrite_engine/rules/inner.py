"""Ops that hold a graph (`OpFromGraph`), or apply another op along a batch (`Blockwise`)."""

from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.inner import HasInnerGraph, inlined
from rewrite_engine.language import *
from rewrite_engine.tensor.blockwise import Blockwise


@node_rewriter([HasInnerGraph], phase="inner", claim=exact, keeps=dropping.call_errors_kept)
def inline(fgraph, node):
    """Replace an op with `inline=True` by its graph, so that other rules apply to it. Not data: the
    result is stored in the op.

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


@node_rewriter([Blockwise], phase="canonicalize", claim=exact)
def unbatched(fgraph, node):
    """Replace an op without batch dimensions by its core op. Not data: the core op is a parameter.

    >>> rewritten(Blockwise(Dot(), "(m,n),(n)->(m)")(matrix("x"), vector("v")))
    x @ v
    """
    if type(node.op) is not Blockwise or any(node.op.ranks([v.type for v in node.inputs])):
        return None
    made = node.op.core_op.make_node(*node.inputs)
    return tuple(made.outputs) if dropping.are_compared(node, [made]) else None
