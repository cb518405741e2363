"""Results that are read only at their end, or for their lengths: the loop carries the last values
and stores no others.
"""

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError
from rewrite_engine.graph.node import Constant
from rewrite_engine.rules.looping.parts import Lengths, Loop

MAX_CARRIED_VALUES = 4  # values carried on instead of a trace
READING = pt.Subtensor | pt.Shape_i


def back(loop, node):
    """Return how many steps before the end a node reads a result: k for r[-k], 0 otherwise."""
    entries = node.op.idx_list
    at = entries[0] if entries else None
    if type(at) is int:
        n = loop.steps.data if isinstance(loop.steps, Constant) and not loop.op.until else None
        k = -at if at < 0 else 0 if n is None else int(n) - at
        return k if 0 < k <= MAX_CARRIED_VALUES else 0
    inputs = loop.fgraph.present_inputs(node)
    index = inputs[1].owner if len(inputs) == 2 else None
    if not loop.op.until and index is not None and index.op == pt.sub and len(entries) == 1:
        n, one = index.inputs
        return int(n is loop.steps and isinstance(one, Constant) and one.number == 1)
    return 0


def several(loop, node):
    """Return how many steps at the end a node reads from a result: k for r[-k:], 0 otherwise. If
    there may be fewer steps, the lengths of values have to be known.
    """
    entries = node.op.idx_list
    at = entries[0] if len(entries) == 1 else None
    if not isinstance(at, tuple) or tuple(at)[1:] != (None, None) or type(at[0]) is not int:
        return 0
    fits = has_steps(loop, -at[0]) or None not in node.inputs[0].type.shape[1:]
    return -at[0] if fits and 0 < -at[0] <= MAX_CARRIED_VALUES else 0


def has_steps(loop, k):
    """Return whether there are certainly k steps."""
    most = 1 if loop.op.until else k  # (the first may be the last)
    return isinstance(loop.steps, Constant) and loop.steps.data >= k == most


def reads(loop, r):
    """Return how far back each use reads a result; None if one needs more, or if all read lengths
    (then no use would read the steps, which may fail).
    """
    if loop.fgraph is None or r in loop.fgraph.out_uses:
        return None
    nodes = list(loop.fgraph.users[r])
    inputs = loop.fgraph.present_inputs
    if not all([isinstance(n.op, READING) and inputs(n)[0] is r for n in nodes]):
        return None
    found = [is_length(n) or back(loop, n) or several(loop, n) for n in nodes]
    return found if all(found) and not all(map(is_length, nodes)) else None


def is_length(node):
    """Return whether a node reads one of the lengths of a result."""
    return isinstance(node.op, pt.Shape_i)


def slots(loop, v):
    """Return the numbers of the carried values that are the last, last but one, … of a result."""
    found = []
    while len(found) < MAX_CARRIED_VALUES:
        k = next((k for k, (_, _, new) in enumerate(loop.carried) if new is v), None)
        if k is None or k in found:
            break
        found.append(k)
        v = loop.carried[k][0]
    return found


def read_at_end(fgraph, node):
    """Return r[-k] if that value is carried; None otherwise."""
    loop, trace = Loop(fgraph, node.inputs[0].owner), node.inputs[0]
    if trace not in loop.traces:
        return None
    own = slots(loop, loop.results[loop.traces.index(trace)])
    k = back(loop, node)
    if not 0 < k <= len(own):
        return None
    return loop.fitted(node.outputs[0], at_end(loop, node, [loop.finals[i] for i in own]))


def at_end(loop, node, values):
    """Return the result of a node that reads the last value, the last but one, …; for one element
    the loop must have had that many steps.
    """
    if is_length(node):
        return pt.shape_tuple(values[0])[node.op.i - 1] if node.op.i else loop.done
    k = back(loop, node)
    if not k:
        k = several(loop, node)
        last = pt.stack(values[:k][::-1])
        return last if has_steps(loop, k) else last[pt.maximum(k - loop.done, 0) :]
    value = values[k - 1]
    if not has_steps(loop, k):
        what = f"index {-k} is out of bounds for the steps of {loop.op}"
        value = pt.CheckAndRaise(AxisError, what)(value, pt.ge(loop.done, k))
    rest = node.op.idx_list[1:]
    others = loop.fgraph.present_inputs(node)[1:]
    return pt.Subtensor(rest)(value, *others) if rest else value


def carrying_last(loop):
    """Return the outputs of a loop that carries the values read at the end, and these values; None
    if there are none.
    """
    carried, ends = list(loop.carried), {}
    lengths = None
    for v, trace in zip(loop.results, loop.traces, strict=True):
        wanted = reads(loop, trace)
        if wanted is None:
            continue
        lengths = lengths or Lengths(loop.op, loop.sure_nodes())
        if not lengths.steady(v):  # a trace of it is an error
            continue
        own = ends[trace] = slots(loop, v)
        for k in range(len(own), max(wanted)):
            before = carried[own[k - 1]][0] if k else v  # (it may begin with other lengths than v)
            start = pt.zeros([0 if n is None else n for n in v.type.shape], v.type.dtype)
            own.append(len(carried))
            carried.append((before.type(), start, before))
    if not ends:
        return None
    results = [v for v, trace in zip(loop.results, loop.traces) if trace not in ends]
    made = loop.rebuilt(loop.sequences, carried, loop.others, results)
    finals, found = list(made.last.values()), {}
    after = Loop(loop.fgraph, finals[0].owner)
    for trace, own in ends.items():
        for node in list(loop.fgraph.users[trace]):
            found[node.outputs[0]] = at_end(after, node, [finals[k] for k in own])
    return loop.outputs(made, found)
