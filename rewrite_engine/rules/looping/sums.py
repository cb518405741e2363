"""Sums and products that a loop accumulates, computed from a whole array."""

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Constant
from rewrite_engine.rules.looping.parts import Lengths, clients
from rewrite_engine.rules.looping.pushing import without
from rewrite_engine.rules.looping.unused import may_go, put_together

RUNNING = {pt.add: pt.cumsum, pt.mul: pt.cumprod}


def added_up(loop):
    """Return the outputs of a loop without a value to which each step adds (or by which it
    multiplies) an element of a sequence, or a product of two; None if there is none.
    """
    if loop.is_block():
        return None
    users = clients(loop.step_nodes())
    for k, (v, start, new) in enumerate(loop.carried):
        op = None if new.owner is None else new.owner.op
        if op not in RUNNING or users[v] != [new.owner] or users[new]:
            continue
        if v in loop.op.inner_outputs or new in loop.condition:
            continue
        inputs = list(new.owner.inputs)
        inputs.remove(v)
        (term, *more) = inputs
        alike = term.type.dtype == v.type.dtype and (v.type.kind in "fc" or v.type.dtype == "int64")
        if more or v in inputs or not alike or sum(w is new for *_, w in loop.carried) > 1:
            continue
        found = Accumulated(loop, k, op, start, term).outputs()
        if found is not None:
            return found
    return None


class Accumulated:
    """The k-th carried value, to which each step adds a term (op: or multiplies by it)."""

    def __init__(self, loop, k, op, start, term):
        self.loop, self.op, self.start, self.term = loop, op, start, term
        self.final, self.type = loop.finals[k], loop.carried[k][0].type
        new = loop.carried[k][2]
        self.carried = [*loop.carried[:k], *loop.carried[k + 1 :]]
        self.running = [t for v, t in zip(loop.results, loop.traces, strict=True) if v is new]
        self.kept = [v for v in loop.results if v is not new]

    def outputs(self):
        xs = dict(self.loop.sequences)
        if not any(map(self.loop.used, [self.final, *self.running])):
            return None  # it is there to fail
        if self.term in xs:
            x = self.loop.first(xs[self.term])
            # a product in another order might overflow on the way
            whole = self.op == pt.add and not self.running
            return self.put(self.total(x, [xs[self.term]]) if whole else self.run(x))
        if self.running or self.op != pt.add:
            return None
        return self.of_results(factors(self.term) or ([self.term], None))

    def put(self, found):
        """Return the outputs, with those of the accumulated value replaced."""
        loop = self.loop
        if found is None:
            return None
        rest = [v for v in loop.node.outputs if v not in self.running and v is not self.final]
        if not any([loop.used(v) for v in rest]):
            if not may_go(loop):
                return None
            return {old: loop.checked(old, v) for old, v in found.items() if loop.used(old)}
        return without(loop, found, self.carried)

    def total(self, x, roots):
        """Return the value after the last step."""
        return self.block(pt.add(self.start, pt.sum(x, axis=0)), roots)

    def block(self, term, roots):
        if not self.type.is_super(term.type):
            return None
        roots = [*roots, self.start]
        (term,) = self.loop.if_any_step([term], [self.type], roots, [self.start])
        return {self.final: term}

    def run(self, x):
        """Return the values after all steps. (If there are none, the first.)"""
        run = RUNNING[self.op]
        start, loop = self.start, self.loop
        number = start.number if isinstance(start, Constant) else None
        if not loop.used(self.final) and number == self.op.identity and not start.type.ndim:
            return dict.fromkeys(self.running, run(x, axis=0))
        if start.type.ndim != x.type.ndim - 1:
            return None
        whole = run(pt.join(0, start[None], x), axis=0)
        if not whole.type.is_super(x.type) and x.type.ndim > 1:
            return None
        (whole,) = loop.if_any_step(
            [whole], [self.type.clone(shape=(None, *self.type.shape))], [x, start], [start[None]]
        )
        return {self.final: whole[-1], **dict.fromkeys(self.running, whole[1:])}

    def of_results(self, found):
        """Return the value if the added term is a result, or a product of vectors of each step."""
        vectors, product = found
        loop = self.loop
        known = {v for v, _ in loop.sequences}
        added = [v for v in vectors if v not in known and v not in loop.results]
        lengths = Lengths(loop.op, loop.sure_nodes())
        if (added and product is None) or not all(map(lengths.steady, added)):
            return None
        made = loop.rebuilt(loop.sequences, self.carried, loop.others, [*self.kept, *added])
        terms = dict(made.each)
        terms.update((v, loop.first(x, made.done)) for v, x in loop.sequences)
        roots = [*made.each.values(), *[x for _, x in loop.sequences]]
        wide = [terms[v] for v in vectors]
        whole = pt.sum(wide[0], axis=0) if product is None else product(*wide)
        found = self.block(pt.add(self.start, whole), roots)
        return None if found is None else put_together(loop, made, found, added)


def factors(term):
    """Return two vectors whose outer product is a term, or two matrices whose product it is; and
    the sum of these over all steps.
    """
    node = term.owner
    if node is None or len(node.inputs) != 2 or term.type.ndim != 2:
        return None
    a, b = node.inputs
    if node.op == pt.mul:
        (a, row), (b, column) = vector(a), vector(b)
        if {row, column} != {0, 1}:
            return None
        a, b = (a, b) if row == 1 else (b, a)
        return [a, b], lambda x, y: pt.dot(x.T, y)
    if node.op == pt.dot and a.type.ndim == b.type.ndim == 2:
        turned = a.owner is not None and a.owner.op == pt.DimShuffle(2, (1, 0))
        if not turned:
            return None
        return [a.owner.inputs[0], b], lambda x, y: pt.tensordot(x, y, [[0, 1], [0, 1]])
    return None


def vector(v):
    """Return a vector that a matrix shows as a column (1) or row (0), and which of the two."""
    node = v.owner
    if node is not None and isinstance(node.op, pt.DimShuffle) and node.inputs[0].type.ndim == 1:
        if node.op.new_order == (0, "x"):
            return node.inputs[0], 1
        if node.op.new_order == ("x", 0):
            return node.inputs[0], 0
    return v, None
