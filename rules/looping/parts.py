"""A call of a loop, taken apart: what a rule changes of it, and the loop that is left."""

from collections import defaultdict

import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.loops.op import Scan, longer
from rewrite_engine.rewrite.step import is_used
from rewrite_engine.rules.facts_arrays import length, length_read
from rewrite_engine.rules.facts_failure import fits
from rewrite_engine.tensor.type import TensorType


class Loop:
    """The parts of a call. sequences: pairs of a slice and what it is of; carried: a variable,
    its first value, its next; others: a variable, its value; results; condition: of `until`, at
    most one. Those that are variables of the step are those of the op's own graph.
    """

    def __init__(self, fgraph, node):
        op = self.op = node.op
        self.fgraph, self.node, self.steps = fgraph, node, node.inputs[0]
        own, outer, made = op.parts(op.inner_inputs), op.parts(node.inputs[1:]), op.inner_outputs
        self.sequences = list(zip(own[0], outer[0], strict=True))
        self.carried = list(zip(own[1], outer[1], made, strict=False))
        self.others = list(zip(own[2], outer[2], strict=True))
        self.results = [made[j] for j in op.results]
        self.condition = made[op.nout - 1 :] if op.until else []

    @property
    def finals(self):
        """The outputs that are what the last step carried on."""
        return self.node.outputs[: self.op.carried]

    @property
    def traces(self):
        """Those that are the results of all steps."""
        return [self.node.outputs[j] for j in self.op.results]

    @property
    def done(self):
        """How many steps there were."""
        return self.node.outputs[-1] if self.op.until else self.steps

    def used(self, v):
        """Whether an output is needed."""
        return self.fgraph is None or is_used(self.fgraph, v)

    def step_nodes(self):
        """The nodes of a step, operands first."""
        return toposort(self.op.inner_outputs)

    # --- how many steps -----------------------------------------------------------------------

    def at_least_one(self):
        """Whether there is a step for certain."""
        return isinstance(self.steps, Constant) and self.steps.data > 0

    def is_block(self):
        """Whether it is there only for that something is computed if there is a step."""
        owner = self.steps.owner
        if isinstance(self.steps, Constant):
            return self.steps.data < 2
        found = owner is not None and owner.op == pt.minimum
        return found and any([isinstance(v, Constant) and v.data == 1 for v in owner.inputs])

    def long_enough(self, x):
        """Whether a sequence is known to have an element for each step."""
        n = length.ask(self.fgraph, x, 0).value
        owner = self.steps.owner
        least = owner.inputs if owner is not None and owner.op == pt.minimum else [self.steps]
        if isinstance(n, int):
            return any([isinstance(v, Constant) and v.data <= n for v in least])
        return n in [length_read(v) for v in least if v.type.ndim == 0]

    def first(self, x):
        """The elements of a sequence that are read."""
        return x if self.is_length(x) else x[: self.done]

    def is_length(self, x):
        """Whether a sequence is known to have no more elements than are read."""
        return not self.op.until and length.ask(self.fgraph, x, 0).value == length_read(self.steps)

    # --- what is left -------------------------------------------------------------------------

    def rebuilt(self, sequences, carried, others, results, replace=None):
        """A loop of other parts: what it carried on last, its results, the number of its steps."""
        outputs = [*[new for _, _, new in carried], *results, *self.condition]
        if not outputs:
            return [], [], None
        if replace:
            outputs = graph_replace(outputs, replace, strict=False)
        parts = [*sequences, *[(v, start) for v, start, _ in carried], *others]
        op, n = self.op, len(carried)
        loop = Scan([v for v, _ in parts], outputs, len(sequences), n, op.until, op.truncate,
                    op.name)  # fmt: skip
        made = loop(self.steps, *[x for _, x in parts], return_list=True)
        return made[:n], made[n : n + len(results)], made[-1] if op.until else None

    def checked(self, old, new):
        """A value that takes the place of an output where no loop is left to compare the lengths of
        the sequences with the number of steps.
        """
        n = self.steps
        asked = [pt.shape_tuple(x)[0] >= n for _, x in self.sequences if not self.long_enough(x)]
        if not isinstance(n, Constant) and length_read(n) is None and not self.long_known():
            asked.append(n >= 0)
        if asked:
            what = "a sequence has too few elements for the steps of a loop, or these are negative"
            new = pt.CheckAndRaise(ShapeError, f"{self.op}: {what}")(new, *asked)
        shape = getattr(old.type, "shape", None)
        return new if old.type.is_super(new.type) else pt.specify_shape(new, shape)

    def long_known(self):
        """Whether the number of steps is the least of lengths."""
        owner = self.steps.owner
        return owner is not None and owner.op == pt.minimum and all(
            [isinstance(v, Constant) or length_read(v) is not None for v in owner.inputs]
        )  # fmt: skip

    def if_any_step(self, terms, types):
        """Terms as they are where nothing that computes them can fail, or there is a step; else by
        a loop that computes them if there is a step (and gives empty arrays if not).
        """
        nodes = [n for n in toposort(terms) if self.fgraph is None or n not in self.fgraph]
        if self.at_least_one() or all([fits.ask(self.fgraph, v) for n in nodes for v in n.outputs]):
            return terms
        inside = set(nodes)
        roots = dict.fromkeys([v for n in nodes for v in n.inputs if v.owner not in inside])
        outer = [v for v in roots if not isinstance(v, Constant)]
        memo = {v: v.type(v.name) for v in outer}
        made = graph_replace(list(terms), memo, strict=False)
        kept = [t() for t in types]
        block = Scan([*kept, *memo.values()], made, 0, len(kept), name=f"steps of {self.op}")
        starts = [pt.zeros([0 if n is None else n for n in t.shape], t.dtype) for t in types]
        return block(pt.minimum(self.steps, 1), *starts, *outer, return_list=True)


class Lengths:
    """Which lengths in a step are equal, for that its nodes (or some of them) do not fail."""

    def __init__(self, op, nodes):
        self.op, self.above = op, {}
        for node in nodes:
            for group in node.op.equal_lengths(node) or ():
                first, *rest = [self.of(node, member) for member in group]
                for other in rest:
                    self.above[self.root(other)] = self.root(first)

    def of(self, node, member):
        """A length as the fact has it."""
        return (
            self.value(node.inputs[member[0]], member[1]) if isinstance(member, tuple) else member
        )

    def value(self, v, i):
        return length.ask(self.op.fgraph, v, i).value

    def root(self, value):
        """What stands for all that are equal to one."""
        while value in self.above and self.above[value] != value:
            value = self.above[value]
        return value

    def fits(self, node):
        """Whether a node cannot fail where those do not."""
        groups = node.op.equal_lengths(node)
        if groups is None:
            return all([bool(fits.ask(self.op.fgraph, v)) for v in node.outputs])
        each = [{self.root(self.of(node, member)) for member in group} for group in groups]
        return all([len(found) < 2 for found in each])

    def steady(self, v):
        """Whether a variable of the step has one shape in all steps."""
        if not isinstance(v.type, TensorType):
            return True
        _, kept, _ = self.op.parts(self.op.inner_inputs)
        after = dict(zip(kept, self.op.inner_outputs, strict=False))
        for i in range(v.type.ndim):
            n = self.value(v, i)
            if isinstance(n, int):
                continue
            at, k = n
            if at.owner is not None:
                return False
            if at in after and self.root(self.value(after[at], k)) != self.root(n):
                return False
        return True


def clients(nodes):
    """The nodes that use each variable."""
    found = defaultdict(list)
    for node in nodes:
        for v in node.inputs:
            found[v].append(node)
    return found


__all__ = ["Lengths", "Loop", "clients", "longer"]
