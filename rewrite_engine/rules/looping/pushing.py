"""Terms that need no loop: they are computed before or after it, for all steps at once."""

from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.traverse import apply_ancestors
from rewrite_engine.loops.op import Scan, longer
from rewrite_engine.rules.looping.parts import Lengths, clients
from rewrite_engine.rules.looping.unused import may_go, put_together, reached
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.windows import windows
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType


def is_plain(node):
    """Return whether a node only computes tensors from tensors."""
    tensors = all([isinstance(v.type, TensorType) for v in (*node.inputs, *node.outputs)])
    return tensors and not node.op.destroy_map and node.op.do_constant_folding(None, node)


def for_all_steps(node, inputs):
    """Return the outputs of a node for the values of all steps along a first dimension; None if
    they would be computed one by one. (If one step fails, all fail: each step has all values.)
    """
    op = node.op
    try:
        if [x.type.ndim for x in inputs] == [v.type.ndim for v in node.inputs]:
            return op.make_node(*inputs).outputs
        return op.vectorize(node, inputs) if isinstance(op, TensorOp | Scan) else None
    except RewriteEngineError:  # the loop will say so
        return None


def ends_of_windows(nodes):
    """Return the nodes that compute only ends of slices of a fixed length, `x[i:i + 3]`: a linker
    that has to know lengths sees it there, and reading the end would take as long as the sum.
    """
    found, others = set(), set()
    for node in nodes:
        ends = set()
        if isinstance(node.op, Subtensor | IncSubtensor):
            first = 1 + isinstance(node.op, IncSubtensor)
            ends = set(windows(node.op.idx_list, node.inputs[first:]))
        found |= ends
        others.update([v for v in node.inputs if v not in ends])
    return {v.owner for v in found - others if v.owner is not None}


def rank(loop):
    """Return the largest number of dimensions among the results that are stored for all steps
    anyway.
    """
    kept = [v for v, _ in loop.sequences], loop.results
    return max([v.type.ndim for group in kept for v in group], default=0)


class Before:
    """Terms that steps compute from sequences and constants. terms: {variable of a step: its value
    outside}; along: the variables with one value per step.
    """

    def __init__(self, loop):
        self.terms = dict(loop.others)
        read = [] if loop.condition else loop.sequences  # (how many are read is not known before)
        self.terms.update((v, loop.first(x)) for v, x in read)
        self.along = {v for v, _ in read}
        self.nodes, self.real, self.most = {}, set(), rank(loop)
        sure = loop.sure_nodes() & reached(loop, loop.used)  # (others are there to fail)
        sure -= ends_of_windows(loop.step_nodes())
        for node in loop.step_nodes():
            if node in sure and is_plain(node) and all([self.knows(v) for v in node.inputs]):
                self.add(node)

    def knows(self, v):
        return isinstance(v, Constant) or v in self.terms

    def add(self, node):
        """Compute one more node outside, if possible."""
        along = not self.along.isdisjoint(node.inputs)
        if along and max([v.type.ndim for v in node.outputs]) > self.most:
            return
        made = for_all_steps(node, [self.terms.get(v, v) for v in node.inputs])
        wanted = [longer(v.type) if along else v.type for v in node.outputs]
        if made is None or not all([t.is_super(v.type) for t, v in zip(wanted, made, strict=True)]):
            return
        self.terms.update(zip(node.outputs, made, strict=True))
        self.nodes[node] = None
        self.along.update(node.outputs if along else ())
        if not node.op.view_map or not self.real.isdisjoint(node.inputs):
            self.real.update(node.outputs)


def computed_before(loop):
    """Return the outputs of a loop that reads terms computed before it, or None."""
    if loop.is_block():
        return None
    before = Before(loop)
    if not before.nodes:
        return None
    outputs = set(loop.op.inner_outputs)
    inside = {v for n in loop.step_nodes() if n not in before.nodes for v in n.inputs}
    found = [v for n in before.nodes for v in n.outputs if v in inside or v in outputs]
    found = [v for v in found if v in before.real or v in outputs]
    if not found:
        return None
    own = {v: v.type(v.name) for v in found}
    along = [v in before.along for v in found]
    types = [longer(v.type) if each else v.type for v, each in zip(found, along, strict=True)]
    roots = [x for _, x in (*loop.sequences, *loop.others)]
    terms = loop.if_any_step([before.terms[v] for v in found], types, roots, along=along)
    sequences, others = list(loop.sequences), list(loop.others)
    for v, x in zip(found, terms, strict=True):
        (sequences if v in before.along else others).append((own[v], x))
    return loop.outputs(loop.rebuilt(sequences, loop.carried, others, loop.results, own))


def read_of_sequences(loop):
    """Return results that copy a sequence, read from it; None if there are none."""
    xs = dict(loop.sequences)
    for *_, new in [] if loop.at_least_one() else loop.carried:  # (no results have its lengths)
        xs.pop(new if new.type.ndim else None, None)
    pairs = list(zip(loop.results, loop.traces, strict=True))
    found = {t: loop.first(xs[v]) for v, t in pairs if v in xs and loop.used(t)}
    if not found:
        return None
    if not any([loop.used(v) for v in loop.node.outputs if v not in found]):
        return {old: loop.checked(old, new) for old, new in found.items()} if may_go(loop) else None
    return without(loop, found, loop.carried)


def without(loop, found, carried):
    """Return the outputs of a loop when some were found elsewhere."""
    rest = [v for v, t in zip(loop.results, loop.traces, strict=True) if t not in found]
    return loop.outputs(loop.rebuilt(loop.sequences, carried, loop.others, rest), found)


# --- after ------------------------------------------------------------------------------------


def computed_after(loop):
    """Return the outputs of a loop whose results are computed after it if possible, or None."""
    if loop.is_block():
        return None
    nodes = loop.step_nodes()
    states = [new for *_, new in loop.carried]
    core = set(apply_ancestors([*states, *loop.condition]))
    users, most = clients(nodes), rank(loop)
    pairs = zip(loop.results, loop.traces, strict=True)
    banned = core | {v.owner for v, t in pairs if not loop.used(t)}  # they are there to fail
    banned |= set(nodes) - loop.sure_nodes()
    while True:
        late = after_all(nodes, users, banned, most)
        if not late:
            return None
        found = Late(loop, nodes, late).outputs()
        if not isinstance(found, set):
            return found
        banned |= found


def after_all(nodes, users, banned, most):
    """Return the nodes that only results need."""
    late = set()
    for node in reversed(nodes):
        small = max([v.type.ndim or 0 for v in node.outputs]) <= most
        if node in banned or not is_plain(node) or not small:
            continue
        if all([u in late for v in node.outputs for u in users[v]]):
            late.add(node)
    return late


class Late:
    """Terms that are computed after a loop. late: the nodes of a step that move there."""

    def __init__(self, loop, nodes, late):
        self.loop, self.nodes, self.late = loop, nodes, late
        self.known = {v for v, _ in (*loop.sequences, *loop.others)}
        used = dict.fromkeys([v for n in nodes if n in late for v in n.inputs])
        self.needs = [v for v in used if v.owner not in late and not isinstance(v, Constant)]
        self.moved = [v for v in loop.results if v.owner in late]

    def outputs(self):
        """Return the outputs of the loop; None if it would store more than now; a set of the nodes
        that cannot be computed for all steps at once.
        """
        loop = self.loop
        kept = [v for v in loop.results if v.owner not in self.late]
        added = [v for v in self.needs if v not in kept and v not in self.known]
        lengths, most = Lengths(loop.op, loop.sure_nodes()), rank(loop)
        if len(added) > len(self.moved) or any([v.type.ndim > most for v in added]):
            return None
        if not all(map(lengths.steady, added)):
            return None
        made = loop.rebuilt(loop.sequences, loop.carried, loop.others, [*kept, *added])
        terms = dict(loop.others) | made.each
        terms.update((v, loop.first(x, made.done)) for v, x in loop.sequences)
        roots = [*[x for _, x in (*loop.sequences, *loop.others)], *made.each.values()]
        for node in self.nodes:
            if node not in self.late:
                continue
            wide = for_all_steps(node, [terms.get(v, v) for v in node.inputs])
            if wide is None:
                return {node}
            terms.update(zip(node.outputs, wide, strict=True))
        types = [longer(v.type) for v in self.moved]
        if not all([t.is_super(terms[v].type) for t, v in zip(types, self.moved, strict=True)]):
            return None
        along = [True] * len(types)
        new = loop.if_any_step([terms[v] for v in self.moved], types, roots, along=along)
        each = dict(zip(self.moved, new, strict=True))
        found = {t: each[v] for v, t in zip(loop.results, loop.traces) if v in each}
        return put_together(loop, made, found, added)
