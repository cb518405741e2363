"""Loops (`scan`): what nobody needs of them, what need not be done step by step.

What the rules do is in `rules/looping/`, which is imported where a graph has a loop.
"""

from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.rules.facts_failure import dropping
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import Subtensor


def is_loop(op):
    """Whether an op is a `Scan` without a mode. (The module of it is not imported for that.)"""
    return isinstance(op, HasInnerGraph) and hasattr(op, "carried") and op.mode is None


def arguments_kept(fgraph, node, new):
    """Whether errors of the arguments of a loop are still raised."""
    others = [v for v in new.values() if v not in node.outputs]
    return dropping.all_stay(fgraph, node, node.inputs, others)


def taken_apart(fgraph, node):
    """A loop as the functions in `rules/looping/` want it."""
    from rewrite_engine.rules.looping.parts import Loop

    return Loop(fgraph, node)


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def tell_lengths(fgraph, node):
    """There are as many results as steps, if none can fail. (Where a loop is computed anyway, its
    lengths are those of any op.) Not data: what may fail is asked of all that a step does.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v, t: sin(t) + v, x, constant(0.0))[0].shape[0])
    Shape_i{i=0}(x)
    """
    from rewrite_engine.rules.looping.unused import told_lengths

    return told_lengths(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def drop_unused(fgraph, node):
    """Results and carried values that nobody needs, inputs that the steps do not, and values that
    are carried without change. Not data: what is used is asked of the graph.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> (total, double), _ = scan(lambda v, t: [sin(t) + v, v * t], x, [constant(0.0), None])
    >>> rewritten(total)
    Scan(Shape_i{i=0}(x), x, 0.0)[1]
    """
    from rewrite_engine.rules.looping.unused import without_unused

    return without_unused(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"])
def merge_doubles(fgraph, node):
    """One array is given to a step once; what begins alike and goes on alike is carried once,
    and kept once. Not data: a loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v, w, t: sin(t * v) + w, [x, x], constant(0.0))[0])
    Scan(Shape_i{i=0}(x), x, 0.0)[1]
    >>> both, _ = scan(lambda v, s, t: [sin(s) + v, sin(t) + v], x, [constant(0.0)] * 2)
    >>> rewritten(both[0] * both[1])
    sqr(Scan(Shape_i{i=0}(x), x, 0.0)[1])
    """
    from rewrite_engine.rules.looping.unused import without_doubles

    return without_doubles(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def unroll(fgraph, node):
    """A loop of one step, or none, is no loop. Not data: what is made is written in the op.

    >>> from rewrite_engine import scan
    >>> x = scalar("x")
    >>> rewritten(scan(lambda t: sin(t), outputs_info=x, n_steps=1)[0])
    ExpandDims{axes=[0]}(sin(x))
    """
    from rewrite_engine.rules.looping.unused import few_steps

    return few_steps(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"])
def carry_last(fgraph, node):
    """A result that is read at its end only is carried on, so that no trace of it is kept.
    Not data: who reads it is asked of the graph.

    >>> from rewrite_engine import scan
    >>> x = vector("x", shape=(5,))
    >>> rewritten(scan(lambda v, t: [sin(t) + v, v * t], x, [constant(0.0), None])[0][1][-1])
    Scan(5, x, 0.0, 0.0)[1]
    """
    from rewrite_engine.rules.looping.last import carrying_last

    return carrying_last(taken_apart(fgraph, node))


@node_rewriter([Subtensor], phase="loops", claim=exact, tags=["scan"], depth=2)
def last_of_trace(fgraph, node):
    """The last element of what a loop carries on is what it carried on last.
    Not data: what is carried on is written in the op.

    >>> from rewrite_engine import scan
    >>> total, _ = scan(lambda v, t: sin(t) + v, vector("x", shape=(5,)), constant(0.0))
    >>> rewritten(total, total[-1])
    [Scan(5, x, 0.0)[1], Scan(5, x, 0.0)[0]]
    """
    maker = node.inputs[0].owner
    if maker is None or not is_loop(maker.op):
        return None
    from rewrite_engine.rules.looping.last import read_at_end

    return read_at_end(fgraph, node)


@node_rewriter(
    [is_loop], phase="loops", claim=approx(ulps=4), tags=["scan", "reorder"], keeps=arguments_kept
)
def add_up_at_once(fgraph, node):
    """A sum that steps add up is the sum of an array; of products of vectors, one product of
    matrices. Not data: a loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v, t: t + v, x, constant(0.0))[0])
    CumOp{axis=0, mode='add'}(x)
    """
    from rewrite_engine.rules.looping.sums import added_up

    return added_up(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=approx(ulps=4), tags=["scan"])
def compute_before(fgraph, node):
    """What depends on sequences only is computed for all steps at once, and what is the same in all
    steps, once. Not data: a loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v: exp(v) * 2.0, x)[0])
    exp(x) * 2.0
    """
    from rewrite_engine.rules.looping.pushing import computed_before

    return computed_before(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def read_sequence(fgraph, node):
    """A result that is what a sequence has. Not data: a loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v: v, x)[0])
    x
    """
    from rewrite_engine.rules.looping.pushing import read_of_sequences

    return read_of_sequences(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=approx(ulps=4), tags=["scan"])
def compute_after(fgraph, node):
    """What no later step needs is computed after the loop, for all steps at once. Not data: a loop
    has any number of parts.

    >>> from rewrite_engine import scan
    >>> both, _ = scan(lambda t: [sin(t), exp(t)], outputs_info=[scalar("s"), None], n_steps=9)
    >>> rewritten(both[1])
    exp(Scan(9, s)[1])
    """
    from rewrite_engine.rules.looping.pushing import computed_after

    return computed_after(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"])
def fuse(fgraph, node):
    """Loops of as many steps run as one, if neither needs the other. Not data: who has that number
    of steps is asked of the graph.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> one = scan(lambda v, t: sin(t) + v, x, constant(0.0))[0]
    >>> other = scan(lambda v, t: cos(t) * v, x, constant(0.0))[0]
    >>> rewritten(one, other)
    [Scan(Shape_i{i=0}(x), x, 0.0, 0.0)[2], Scan(Shape_i{i=0}(x), x, 0.0, 0.0)[3]]
    """
    from rewrite_engine.rules.looping.fuse import fused

    return fused(taken_apart(fgraph, node))
