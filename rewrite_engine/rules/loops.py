"""Loops (`scan`): remove unused results, and compute outside what needs no loop.

The rewrites are implemented in `rules/looping/`, which is imported when a graph has a loop.
"""

from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.language import *
from rewrite_engine.tensor import Subtensor


def is_loop(op):
    """Return whether an op is a `Scan` without a mode. (The module of `Scan` is not imported for
    this.)
    """
    return isinstance(op, HasInnerGraph) and hasattr(op, "carried") and op.mode is None


def arguments_kept(fgraph, node, new):
    """Return whether errors of the arguments of a loop are still raised."""
    others = [v for v in new.values() if v not in node.outputs]
    return dropping.all_stay(fgraph, node, node.inputs, others)


def taken_apart(fgraph, node):
    """Return a loop in the form that the functions in `rules/looping/` take."""
    from rewrite_engine.rules.looping.parts import Loop

    return Loop(fgraph, node)


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def tell_lengths(fgraph, node):
    """The length of a result is the number of steps, if no step can fail. (If a loop is computed
    anyway, its lengths are those of any op.) Not data: all ops of a step have to be checked.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v, t: sin(t) + v, x, constant(0.0))[0].shape[0])
    Shape_i{i=0}(x)
    """
    from rewrite_engine.rules.looping.unused import told_lengths

    return told_lengths(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def drop_unused(fgraph, node):
    """Drop unused results, carried values and inputs, and values that are carried without change.
    Not data: the graph shows which are used.

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
    """Merge equal inputs of a loop, and carried values with equal starts and updates. Not data: a
    loop has any number of parts.

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
    """Replace a loop of one step, or none, by its body. Not data: the result is stored in the op.

    >>> from rewrite_engine import scan
    >>> x = scalar("x")
    >>> rewritten(scan(lambda t: sin(t), outputs_info=x, n_steps=1)[0])
    ExpandDims{axes=[0]}(sin(x))
    """
    from rewrite_engine.rules.looping.unused import few_steps

    return few_steps(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"])
def carry_last(fgraph, node):
    """Carry a result that is read only at its end, instead of storing all steps. Not data: the
    graph shows which parts are read.

    >>> from rewrite_engine import scan
    >>> x = vector("x", shape=(5,))
    >>> rewritten(scan(lambda v, t: [sin(t) + v, v * t], x, [constant(0.0), None])[0][1][-1])
    Scan(5, x, 0.0, 0.0)[1]
    """
    from rewrite_engine.rules.looping.last import carrying_last

    return carrying_last(taken_apart(fgraph, node))


@node_rewriter([Subtensor], phase="loops", claim=exact, tags=["scan"], depth=2)
def last_of_trace(fgraph, node):
    """Read the last element of a trace from the final carried value. Not data: the carried values
    are stored in the op.

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
    """Sum an array once instead of adding in each step; sums of outer products become one matrix
    product. Not data: a loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v, t: t + v, x, constant(0.0))[0])
    CumOp{axis=0, mode='add'}(x)
    """
    from rewrite_engine.rules.looping.sums import added_up

    return added_up(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=approx(ulps=4), tags=["scan"])
def compute_before(fgraph, node):
    """Compute terms of sequences for all steps at once, and constant terms once. Not data: a loop
    has any number of parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v: exp(v) * 2.0, x)[0])
    exp(x) * 2.0
    """
    from rewrite_engine.rules.looping.pushing import computed_before

    return computed_before(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"], keeps=arguments_kept)
def read_sequence(fgraph, node):
    """Read a result that copies a sequence from the sequence. Not data: a loop has any number of
    parts.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> rewritten(scan(lambda v: v, x)[0])
    x
    """
    from rewrite_engine.rules.looping.pushing import read_of_sequences

    return read_of_sequences(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=approx(ulps=4), tags=["scan"])
def compute_after(fgraph, node):
    """Compute terms that no later step needs after the loop, for all steps at once. Not data: a
    loop has any number of parts.

    >>> from rewrite_engine import scan
    >>> both, _ = scan(lambda t: [sin(t), exp(t)], outputs_info=[scalar("s"), None], n_steps=9)
    >>> rewritten(both[1])
    exp(Scan(9, s)[1])
    """
    from rewrite_engine.rules.looping.pushing import computed_after

    return computed_after(taken_apart(fgraph, node))


@node_rewriter([is_loop], phase="loops", claim=exact, tags=["scan"])
def fuse(fgraph, node):
    """Run loops with the same number of steps as one, if neither needs the other. Not data: the
    graph shows which loops have the same number of steps.

    >>> from rewrite_engine import scan
    >>> x = vector("x")
    >>> one = scan(lambda v, t: sin(t) + v, x, constant(0.0))[0]
    >>> other = scan(lambda v, t: cos(t) * v, x, constant(0.0))[0]
    >>> rewritten(one, other)
    [Scan(Shape_i{i=0}(x), x, 0.0, 0.0)[2], Scan(Shape_i{i=0}(x), x, 0.0, 0.0)[3]]
    """
    from rewrite_engine.rules.looping.fuse import fused

    return fused(taken_apart(fgraph, node))
