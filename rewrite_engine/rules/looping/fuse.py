"""Fusion of independent loops with the same number of steps."""

from rewrite_engine.loops.op import Scan
from rewrite_engine.rules.looping.parts import Loop

MAX_SEARCHED_NODES = 1000  # nodes that are read to find whether one loop needs another


def fused(loop):
    """Return the outputs of a loop and of another one, which run as one; None if there is none."""
    fgraph, node = loop.fgraph, loop.node
    if fgraph is None or loop.is_block() or loop.condition:
        return None
    users = [n for n in fgraph.users[loop.steps] if n is not node and isinstance(n.op, Scan)]
    others = [other for other in users if not other.op.until]
    if not others or any([n.op.read_if is not None for n in fgraph.apply_nodes]):
        return None  # (one may be computed under a condition only)
    for other in others:
        inputs = fgraph.present_inputs(other)
        alike = inputs[0] is loop.steps and other.op.truncate == loop.op.truncate
        if alike and apart(fgraph, node, other):
            return together(loop, Loop(fgraph, other, inputs))
    return None


def apart(fgraph, a, b):
    """Return whether neither of two nodes is computed from the other."""
    level = fgraph.order.level
    low, high = sorted([a, b], key=level.__getitem__)
    todo, seen = [high], {high}
    while todo:
        for v in fgraph.present_inputs(todo.pop()):
            owner = v.owner
            if owner is low or len(seen) > MAX_SEARCHED_NODES:
                return False
            if owner is not None and owner not in seen and level[owner] > level[low]:
                seen.add(owner)
                todo.append(owner)
    return True


def together(a, b):
    """Return the outputs of both loops, computed by one."""
    b = b if b.op is not a.op else b.copied()
    names = dict.fromkeys([str(a.op), str(b.op)])
    parts = [*a.sequences, *b.sequences], [*a.carried, *b.carried], [*a.others, *b.others]
    states, results = [new for *_, new in parts[1]], [*a.results, *b.results]
    variables = [v for group in parts for v, *_ in group]
    given = [x for group in parts for _, x, *_ in group]
    op = Scan(variables, [*states, *results], len(parts[0]), len(states), truncate=a.op.truncate,
              name=" and ".join(names), derived=a.op.derived and b.op.derived)  # fmt: skip
    found = op(a.steps, *given, return_list=True)
    old = [*a.finals, *b.finals, *a.traces, *b.traces]
    return {v: new for v, new in zip(old, found, strict=True) if a.used(v)}
