"""The parts of a loop, which rules change, and the loop that is rebuilt from them."""

from collections import defaultdict
from copy import copy
from typing import NamedTuple

import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.facts.arrays import length, length_read
from rewrite_engine.facts.failure import fits
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.loops.derivatives import copied
from rewrite_engine.loops.no_steps import lengths_of_none
from rewrite_engine.loops.op import Scan
from rewrite_engine.match.fact import every, fact
from rewrite_engine.rewrite.step import is_used
from rewrite_engine.tensor.type import TensorType

BLOCK = "steps of "  # what loops are called that compute something if there is a step


class Made(NamedTuple):
    """Replacements for the outputs of a loop. last: {carried variable: its value after the last
    step}; each: {result: its values of all steps}; done: the number of steps, if a condition ends
    the loop.
    """

    last: dict
    each: dict
    done: object


class Loop:
    """The parts of a call of a loop. sequences: pairs of a slice and its array; carried: a
    variable, its first value, its next; others: a variable, its value; results; condition: of
    `until`, at most one. Variables of the step are those of the op's own graph. inputs: those of
    the node, if they have been replaced.
    """

    def __init__(self, fgraph, node, inputs=None):
        op, inputs = node.op, node.inputs if inputs is None else inputs
        self.op, self.fgraph, self.node, self.steps = op, fgraph, node, inputs[0]
        own, outer, made = op.parts(op.inner_inputs), op.parts(inputs[1:]), op.inner_outputs
        self.sequences = list(zip(own[0], outer[0], strict=True))
        self.carried = list(zip(own[1], outer[1], made, strict=False))
        self.others = list(zip(own[2], outer[2], strict=True))
        self.results = [made[j] for j in op.results]
        self.condition = made[op.nout - 1 :] if op.until else []

    def copied(self):
        """Return the loop with its own variables for the step."""
        new = copy(self)
        own, made = copied(self.op)
        pairs = zip(self.op.parts(own), (self.sequences, self.carried, self.others), strict=True)
        slices, kept, same = [zip(vs, [x for _, x, *_ in old], strict=True) for vs, old in pairs]
        new.sequences, new.others = list(slices), list(same)
        new.carried = [(v, start, after) for (v, start), after in zip(kept, made, strict=False)]
        new.results = [made[j] for j in self.op.results]
        return new

    @property
    def finals(self):
        """Return the outputs that are the final carried values."""
        return self.node.outputs[: self.op.carried]

    @property
    def traces(self):
        """Return the outputs that are the results of all steps."""
        return [self.node.outputs[j] for j in self.op.results]

    @property
    def done(self):
        """Return the number of steps that were done."""
        return self.node.outputs[-1] if self.op.until else self.steps

    def used(self, v):
        """Return whether an output is needed."""
        return self.fgraph is None or is_used(self.fgraph, v)

    def step_nodes(self):
        """Return the nodes of a step, operands first."""
        return remembered(self.op, "_step_nodes", lambda: toposort(self.op.inner_outputs))

    def sure_nodes(self):
        """Return the nodes that every step computes, not those under a condition (`Op.read_if`)."""
        return remembered(self.op, "_sure_nodes", self._sure_nodes)

    def _sure_nodes(self):
        found, todo = set(), list(self.op.inner_outputs)
        while todo:
            node = todo.pop().owner
            if node is not None and node not in found:
                found.add(node)
                reads = node.op.read_if and node.op.read_if(node)
                todo += [v for k, v in enumerate(node.inputs) if not reads or reads[k] is None]
        return found

    # --- how many steps -----------------------------------------------------------------------

    def at_least_one(self):
        """Return whether there is certainly a step."""
        return isinstance(self.steps, Constant) and self.steps.data > 0

    def is_block(self):
        """Return whether the loop exists only to compute terms if there is a step."""
        return any([isinstance(v, Constant) and v.data < 2 for v in least(self.steps)])

    def long_enough(self, x):
        """Return whether a sequence is known to have an element for each step. (A sequence computed
        from others is as long as they are.)
        """
        n, steps = length.ask(self.fgraph, x, 0).value, least(self.steps)
        if isinstance(n, int):
            return any([isinstance(v, Constant) and v.data <= n for v in steps])
        return self.is_of_block(x) or n in [length_read(v) for v in steps]

    def first(self, x, done=None):
        """Return the elements of a sequence that are read. done: their number, if another loop
        computes it.
        """
        return x if self.is_length(x) else x[: self.done if done is None else done]

    def is_of_block(self, x):
        """Return whether a sequence was computed from the elements that these steps read from
        others.
        """
        if x.owner is None or not str(x.owner.op).startswith(BLOCK):
            return False
        both = [least(n) for n in (self.steps, x.owner.inputs[0])]
        own, other = [{v for v in one if not isinstance(v, Constant)} for one in both]
        return own == other

    def is_length(self, x):
        """Return whether a sequence is known to have no more elements than are read."""
        if self.op.until:
            return False
        known = length.ask(self.fgraph, x, 0).value == length_read(self.steps)
        return known or self.is_of_block(x)

    # --- what is left -------------------------------------------------------------------------

    def rebuilt(self, sequences, carried, others, results, replace=None):
        """Return the results of a loop with other parts (`Made`)."""
        outputs = [*[new for _, _, new in carried], *results, *self.condition]
        if not outputs:
            return Made({}, {}, None)
        if replace:
            outputs = graph_replace(outputs, replace, strict=False)
        parts = [*sequences, *[(v, start) for v, start, _ in carried], *others]
        op, n = self.op, len(carried)
        loop = Scan([v for v, _ in parts], outputs, len(sequences), n, op.until, op.truncate,
                    op.name, derived=op.derived)  # fmt: skip
        made = loop(self.steps, *[x for _, x in parts], return_list=True)
        last = dict(zip([v for v, *_ in carried], made, strict=False))
        return Made(
            last, dict(zip(results, made[n:], strict=False)), made[-1] if op.until else None
        )

    def outputs(self, made, found=()):
        """Return replacements for the used outputs: terms found elsewhere, and outputs of another
        loop.
        """
        finals, traces = zip(self.carried, self.finals), zip(self.results, self.traces)
        new = {old: made.last[v] for (v, *_), old in finals if v in made.last}
        new |= {old: made.each[v] for v, old in traces if v in made.each}
        if made.done is not None:
            new[self.done] = made.done
        new |= dict(found)
        return {old: self.fitted(old, v) for old, v in new.items() if self.used(old)}

    def checked(self, old, new):
        """Return a value that replaces an output, with the checks of sequence lengths that the
        removed loop made.
        """
        n = self.steps
        asked = [
            (pt.shape_tuple(x)[0] >= n, f"sequence {i} has fewer elements than there are steps")
            for i, (_, x) in enumerate(self.sequences)
            if not self.long_enough(x)
        ]
        if not all([isinstance(v, Constant) or length_read(v) is not None for v in least(n)]):
            asked.append((n >= 0, "the number of steps must not be negative"))
        for condition, what in asked:
            new = pt.CheckAndRaise(ShapeError, f"{self.op}: {what}")(new, condition)
        return self.fitted(old, new)

    def fitted(self, old, new):
        """Return the replacement of an output, with its known shape."""
        return new if old.type.is_super(new.type) else pt.specify_shape(new, old.type.shape)

    def if_any_step(self, terms, types, known, starts=None, along=()):
        """Return terms unchanged if their nodes cannot fail, or if there is a step; else compute
        them in a loop that runs if there is a step, and returns `starts` if not.

        known: the variables they are computed from. starts: zeros by default; no elements for terms
        of all steps (along: whether a term is one).
        """
        nodes = toposort(terms, known)
        made = [v for n in nodes for v in n.outputs]
        if self.at_least_one() or all_fit.ask(self.fgraph, *made):
            return terms
        inside = set(nodes)
        roots = [
            v for v in (*terms, *[v for n in nodes for v in n.inputs]) if v.owner not in inside
        ]
        outer = [v for v in dict.fromkeys(roots) if not isinstance(v, Constant)]
        memo = {v: v.type(v.name) for v in outer}
        made = graph_replace(list(terms), memo, strict=False)
        kept = [t() for t in types]
        block = Scan([*kept, *memo.values()], made, 0, len(kept), name=f"{BLOCK}{self.op}")
        if starts is None:
            lengths = lengths_of_none(block, [*kept, *outer], range(len(kept)))
            shapes = [[0, *n[1:]] if each else n for n, each in zip(lengths, along, strict=True)]
            starts = [pt.zeros(n, t.dtype) for n, t in zip(shapes, types, strict=True)]
        return block(pt.minimum(self.steps, 1), *starts, *outer, return_list=True)


def remembered(op, name, compute):
    """Return a property of an op's graph, which never changes; computed once."""
    found = op.__dict__.get(name)
    if found is None:
        found = op.__dict__[name] = compute()
    return found


@fact
def all_fit(*terms):
    """Return whether none of the nodes that compute these fails. (This is one query: facts about
    nodes outside the graph are cached during one.)
    """
    return every("each fits", fits, terms)


def least(n):
    """Return the numbers whose minimum is a number of steps."""
    found, todo = [], [n]
    while todo:
        v = todo.pop()
        if v.owner is not None and v.owner.op == pt.minimum:
            todo += v.owner.inputs
        else:
            found.append(v)
    return found


class Lengths:
    """Lengths in a step that are equal, given that its nodes (or some of them) do not fail."""

    def __init__(self, op, nodes):
        self.op, self.above = op, {}
        for node in nodes:
            for group in node.op.equal_lengths(node) or ():
                first, *rest = [self.of(node, member) for member in group]
                for other in rest:
                    low, high = self.root(other), self.root(first)
                    low, high = (high, low) if isinstance(low, int) else (low, high)
                    self.above[low] = high

    def of(self, node, member):
        """Return a length in the form of the fact `length`."""
        return (
            self.value(node.inputs[member[0]], member[1]) if isinstance(member, tuple) else member
        )

    def value(self, v, i):
        return length.ask(self.op.fgraph, v, i).value

    def root(self, value):
        """Return the representative of all lengths equal to one."""
        above = self.above
        while (up := above.get(value, value)) != value:
            above[value] = value = above.get(up, up)  # (shorter for who asks next)
        return value

    def fits(self, node):
        """Return whether a node cannot fail if the known ones do not."""
        groups = node.op.equal_lengths(node)
        if groups is None:
            return all([bool(fits.ask(self.op.fgraph, v)) for v in node.outputs])
        each = [{self.root(self.of(node, member)) for member in group} for group in groups]
        return all([len(found) < 2 for found in each])

    def steady(self, v):
        """Return whether a variable of the step has one shape in all steps."""
        if not isinstance(v.type, TensorType):
            return True
        roots = [self.root(self.value(v, i)) for i in range(v.type.ndim)]
        return all([isinstance(n, int) or n in self.same for n in roots])

    @cached_property
    def same(self):
        """Return the lengths that are constant in all steps: of constant variables, and of carried
        values that keep their length.
        """
        slices, kept, others = self.op.parts(self.op.inner_inputs)
        pairs = [(v, v) for v in (*slices, *others)] + list(zip(kept, self.op.inner_outputs))
        found = set()
        for v, new in pairs:
            if isinstance(v.type, TensorType):
                both = [[self.root(self.value(u, i)) for i in range(v.type.ndim)] for u in (v, new)]
                found |= {n for n, after in zip(*both, strict=True) if n == after}
        return found


def clients(nodes):
    """Return the nodes that use each variable."""
    found = defaultdict(list)
    for node in nodes:
        for v in node.inputs:
            found[v].append(node)
    return found
