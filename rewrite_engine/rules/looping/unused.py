"""Loops with unused or duplicate parts, and loops that are no loops."""

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.replace import first_of_equal, rebuilt
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.loops.no_steps import lengths_of_none
from rewrite_engine.rules.looping.parts import Lengths, Made

MAX_TURNS = 10  # of the search for equal carried values


def without_unused(loop):
    """Return the outputs of a loop without unused parts, or None."""
    needed = reached(loop, loop.used)
    if less(loop, needed, ()) is None:
        return None
    nodes = loop.step_nodes()
    lengths = Lengths(loop.op, loop.sure_nodes().intersection(needed))
    lost = lambda n: not (n in needed or loop.op.derived or lengths.fits(n))
    failing = {n for n in nodes if lost(n)}
    outputs = loop.op.inner_outputs
    stay = {
        outer
        for inner, outer in zip(outputs, loop.node.outputs, strict=True)
        if (failing and any([v.owner in failing for v in ancestors([inner])]))
        or not (loop.used(outer) or loop.op.derived or lengths.steady(inner))
    }
    if not loop.at_least_one():  # the lengths of no results are those of what is carried on
        kept = {v for v, t in zip(loop.results, loop.traces, strict=True) if loop.used(t)}
        kept = {v for v in kept if None in v.type.shape}
        pairs = zip(loop.carried, loop.finals, strict=True)
        stay |= {final for (v, _, new), final in pairs if new in kept and new is not v}
    if stay:
        needed = reached(loop, lambda v: v in stay or loop.used(v))
    return narrowed(loop, needed, stay)


def reached(loop, used):
    """Return the variables and nodes of a step that the used outputs need. (A value carried without
    change is its first value.)
    """
    after = {v: new for v, _, new in loop.carried}
    pairs = zip(loop.op.inner_outputs, loop.node.outputs, strict=True)
    fixed = {final for (v, _, new), final in zip(loop.carried, loop.finals) if v is new}
    todo = [inner for inner, outer in pairs if outer not in fixed and used(outer)]
    todo += loop.condition
    seen = set()
    while todo:
        v = todo.pop()
        if v in seen:
            continue
        seen.add(v)
        if v in after:
            todo.append(after[v])
        elif v.owner is not None:
            seen.add(v.owner)
            todo += v.owner.inputs
    return seen


def may_go(loop):
    """Return whether all of a loop is needed, so that replacements of its outputs do all that it
    did. (An unused part that was not dropped may fail.)
    """
    needed = reached(loop, loop.used)
    states = zip(loop.carried, loop.finals, strict=True)
    return all([loop.used(t) for t in loop.traces]) and all(
        [v in needed or loop.used(final) for (v, *_), final in states]
    )


def less(loop, needed, stay):
    """Return the needed parts of a loop, and {output: its value without a loop}; None if all parts
    are needed.
    """
    used = lambda outer: outer in stay or loop.used(outer)
    carried, fixed, first = [], [], {}
    shown = {v for v, t in zip(loop.results, loop.traces, strict=True) if loop.used(t)}
    if loop.at_least_one():  # (else the lengths of no results are those of what is carried on)
        shown = set()
    for k, (v, start, new) in enumerate(loop.carried):
        if v is new and not (v in shown and None in v.type.shape):
            fixed.append((v, start))
            first[loop.finals[k]] = start
        elif v in needed or used(loop.finals[k]):
            carried.append((v, start, new))
    results = [v for v, t in zip(loop.results, loop.traces, strict=True) if used(t)]
    others = [(v, x) for v, x in (*fixed, *loop.others) if v in needed]
    read = lambda v, x: v in needed or not (loop.op.derived or loop.long_enough(x))
    sequences = [(v, x) for v, x in loop.sequences if read(v, x)]
    kept = len(sequences) + len(carried) + len(others), len(carried) + len(results)
    if kept == (len(loop.op.inner_inputs), len(loop.op.inner_outputs) - len(loop.condition)):
        return None
    return (sequences, carried, others, results), first


def narrowed(loop, needed, stay):
    """Return a loop of the needed parts, if some are not."""
    found = less(loop, needed, stay)
    if found is None:
        return None
    parts, first = found
    made = loop.rebuilt(*parts)
    return loop.outputs(made, first) if loop.outputs(made) else checked_outputs(loop, made, first)


def told_lengths(loop):
    """Return the lengths of results that are read, without the loop, if its steps cannot fail; or
    None.
    """
    if loop.fgraph is None or loop.op.until:
        return None
    users = [(trace, n) for trace in loop.traces for n in loop.fgraph.users[trace]]
    readers = [(trace, n) for trace, n in users if n.op in (pt.Shape(), pt.Shape_i(0))]
    lengths, sure = Lengths(loop.op, ()), loop.op.derived
    if readers and not sure and all(map(lengths.steady, loop.results)):
        sure = all(map(lengths.fits, loop.step_nodes()))
    if not readers or not sure:
        return None
    n = loop.steps if loop.op.derived else loop.checked(loop.steps, loop.steps)
    more = lambda trace: [pt.Shape_i(k)(trace) for k in range(1, trace.type.ndim)]
    return {
        reader.outputs[0]: n if reader.op == pt.Shape_i(0) else pt.stack([n, *more(trace)])
        for trace, reader in readers
    }


def without_doubles(loop):
    """Return the outputs of a loop with equal inputs, values and results merged, or None."""
    replace, kept = alike(loop), []
    carried = [parts for parts in loop.carried if parts[0] not in replace]
    for pairs in (loop.sequences, loop.others):
        first, own = {}, []
        for v, x in pairs:
            if x in first and first[x].type == v.type:
                replace[v] = first[x]
            else:
                first.setdefault(x, v)
                own.append((v, x))
        kept.append(own)
    same = first_of_equal(loop.step_nodes(), replace) if len(carried) < len(loop.carried) else {}
    results = list(dict.fromkeys([same.get(v, v) for v in loop.results]))
    if not replace and len(results) == len(loop.results):
        return None
    sequences, others = kept
    made = loop.rebuilt(sequences, carried, others, results, replace)
    last = {v: made.last[replace.get(v, v)] for v, *_ in loop.carried}
    each = {v: made.each[same.get(v, v)] for v in loop.results}
    return loop.outputs(Made(last, each, made.done))


def alike(loop):
    """Return {carried value: the first value equal to it in all steps}: they begin equal, and stay
    equal as long as all of these are.
    """
    first = {}
    same = {v: first.setdefault((start, v.type), v) for v, start, _ in loop.carried}
    for _ in range(MAX_TURNS):
        known = {v: one for v, one in same.items() if v is not one}
        if not known:
            return {}
        number, first = first_of_equal(loop.step_nodes(), known), {}
        after = {v: first.setdefault((same[v], number.get(new, new)), v)
                 for v, _, new in loop.carried}  # fmt: skip
        if after == same:
            return known
        same = after
    return {}


def few_steps(loop):
    """Return the results of a loop of no step, or one; None for others."""
    n = loop.steps
    if not isinstance(n, Constant) or n.data > 1 or (loop.condition and not n.data):
        return None
    if not n.data:
        return no_step(loop)
    alone = Lengths(loop.op, ())
    sure = not loop.condition or all([alone.fits(node) for node in loop.step_nodes()])
    return one_step(loop) if sure and may_go(loop) else None


def no_step(loop):
    starts = [start for _, start, _ in loop.carried]
    first = {new: start for _, start, new in loop.carried}
    traces = []
    inputs = [x for _, x in loop.sequences] + starts + [x for _, x in loop.others]
    told = lengths_of_none(loop.op, inputs, loop.op.results)
    for v, lengths in zip(loop.results, told, strict=True):
        start = pt.shape_tuple(first[v]) if v in first else lengths
        shape = [n if k is None else k for n, k in zip(start, v.type.shape, strict=True)]
        traces.append(pt.zeros([0, *shape], v.type.dtype))
    return checked_outputs(loop, without_loop(loop, starts, traces))


def one_step(loop):
    given = [*[(v, x[0]) for v, x in loop.sequences], *[(v, s) for v, s, _ in loop.carried]]
    outputs = [*[new for *_, new in loop.carried], *loop.results]
    made = rebuilt(outputs, dict([*given, *loop.others]), False, anew=True)  # the op keeps its own
    n = len(loop.carried)
    traces = [pt.expand_dims(v, 0) for v in made[n:]]
    return checked_outputs(loop, without_loop(loop, made[:n], traces))


def without_loop(loop, finals, traces):
    """Return replacements for outputs of a loop with a known number of steps."""
    last = dict(zip([v for v, *_ in loop.carried], finals, strict=True))
    done = pt.constant(loop.steps.data, dtype="int64") if loop.op.until else None
    return Made(last, dict(zip(loop.results, traces, strict=True)), done)


def put_together(loop, made, found, more):
    """Return the outputs when some were computed from results of a remaining loop (more: from
    additional results of it). If those are unused, all of the loop has to be needed; None if it is
    not.
    """
    if more or loop.outputs(made):
        return loop.outputs(made, found)
    return checked_outputs(loop, made, found) if may_go(loop) else None


def checked_outputs(loop, made, found=()):
    """Return the outputs when no loop remains."""
    return {old: loop.checked(old, new) for old, new in loop.outputs(made, found).items()}
