"""Ops that hold a graph (`OpFromGraph`)."""

from rewrite_engine.graph.inner import HasInnerGraph, inlined
from rewrite_engine.rules.facts_failure import dropping
from rewrite_engine.rules.language import *


@node_rewriter([HasInnerGraph], phase="inner", claim=exact, keeps=dropping.call_errors_kept)
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
