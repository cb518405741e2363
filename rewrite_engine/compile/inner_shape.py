"""Shapes of ops that hold a graph, from the shape rules of the ops inside.

What there is to compute for them is, as a derivative is, an op that holds a graph; but where that
is small it is written out, so that rules see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.compile.derivative import Derivative, Differentiable, derivative
from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.graph.inner import held, inlined
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Lengths
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.constructors import scalar
from rewrite_engine.tensor.shape import shape_i

SMALL = 20  # nodes that are written out
KEY = ("shape",)
InputDim = tuple[int, int]  # an input, and one of its dimensions


class InferredShapes(NamedTuple):
    """How the lengths of outputs are got: from values of inputs, and some of their lengths (takes).
    fails: of each node that may fail, the lengths that have to be equal; None: in other ways.
    """

    takes: list[InputDim]
    lengths: Derivative
    fails: dict[Apply, list[Lengths] | None]

    @property
    def groups(self) -> list[Lengths] | None:
        """What `Op.equal_lengths` says."""
        found: dict[tuple[Any, ...], Lengths] = {}
        for groups in self.fails.values():
            if groups is None:
                return None
            found.update((tuple(group), group) for group in groups)
        return list(found.values())


class ShapesOfGraph(Differentiable):
    """An op whose shapes follow from its graph."""

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The lengths of the outputs; where an op inside does not say, those of the output."""
        known: Any = derivative(self, KEY)
        if known is None:
            return [lengths_of(v) for v in self.inner_outputs]
        rule = known.lengths
        values = [*node.inputs, *[shapes[i][k] for i, k in known.takes]]
        made: Sequence[Any] = ()
        if rule.op is not None:
            call = rule.op.make_node(*[values[k] for k in rule.takes])
            small = len(rule.op.fgraph) <= SMALL and not held(rule.op.fgraph)
            made = inlined(call) if small else call.outputs
        found = iter(rule.chosen([*values, *made]))
        return [
            tuple([shape_i(v, k) if (n := next(found)) is None else n for k in range(rank(v))])
            for v in node.outputs
        ]

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """What has to be equal for each op inside; None if one may fail in other ways."""
        known: Any = derivative(self, KEY)
        return [] if known is None else known.groups  # type: ignore[no-any-return]

    def build_derivative(self, key: Any) -> Any:
        """As of any op with a graph; and the shapes."""
        if key != KEY:
            return super().build_derivative(key)
        rules = ShapeInference(self)
        wanted = [n for v in self.inner_outputs for n in rules.lengths[v]]
        unknown = rules.unknown
        known = [None if unknown and unknown & {*ancestors([n])} else n for n in wanted]
        lengths = self._as_op("shape", [*self.inner_inputs, *rules.takes], known)
        return InferredShapes(list(rules.takes.values()), lengths, rules.fails)

    def needed_outputs(
        self, used: Sequence[int], alike: Callable[[Any], Any] = lambda member: member
    ) -> Sequence[int]:
        """Errors are raised by the nodes of the outputs that are used, or by all that need another
        node that may fail, and not only where these do.
        """
        outs = self.inner_outputs
        known: Any = derivative(self, KEY) if len(used) < len(outs) else None
        if known is None or not known.fails:
            return used
        kept = {v.owner for v in ancestors([outs[j] for j in used])}
        checked = {frozenset(g) for node in kept for g in known.fails.get(node) or ()}
        more: set[Any] = set()
        for node in toposort(outs):
            if node in kept:
                continue
            groups = known.fails.get(node, ())
            fails = groups is None or any(
                [len(set(map(alike, g))) > 1 and not _covered(g, checked) for g in groups]
            )
            if fails or any([v.owner in more for v in node.inputs]):
                more.add(node)
        return [j for j, v in enumerate(outs) if j in used or v.owner in more]


class ShapeInference:
    """Goes through a graph: `lengths` of all variables, in those of the inputs.

    takes: what stands for the lengths of inputs that are not known; unknown: for those that an op
    does not tell. fails: see `InferredShapes`.
    """

    def __init__(self, op: Any) -> None:
        self.lengths: dict[Variable, tuple[Any, ...]] = {}
        self.takes: dict[Variable, InputDim] = {}
        self.unknown: set[Variable] = set()
        self.fails: dict[Apply, list[Lengths] | None] = {}
        for i, v in enumerate(op.inner_inputs):
            self.lengths[v] = lengths_of(v)
            for k, n in enumerate(self.lengths[v]):
                if not isinstance(n, Constant):
                    self.takes[n] = i, k
        for v in (*op.inner_outputs, *[v for n in op.fgraph.apply_nodes for v in n.inputs]):
            if isinstance(v, Constant):
                self.lengths[v] = lengths_of(v)
        for node in toposort(op.inner_outputs):
            self.compare(node)
            self.infer(op.fgraph, node)

    def infer(self, fgraph: Any, node: Apply) -> None:
        """Ask one node."""
        try:
            found = node.op.infer_shape(fgraph, node, [self.lengths[v] for v in node.inputs])
            found = [tuple([as_tensor_variable(n) for n in shape or ()]) for shape in found]
        except MethodNotDefined:
            found = [lengths_of(v) for v in node.outputs]
            self.unknown.update(n for shape in found for n in shape if n.owner is None)
        for v, shape in zip(node.outputs, found, strict=True):
            static = lengths_of(v)
            pairs = zip(static, shape, strict=True)
            self.lengths[v] = tuple([s if isinstance(s, Constant) else n for s, n in pairs])

    def compare(self, node: Apply) -> None:
        """Note what has to be equal for one node."""
        own = node.op.equal_lengths(node)
        groups: Any = [list(dict.fromkeys([self.member(node, m) for m in g])) for g in own or ()]
        if own is None or any([None in group for group in groups]):
            self.fails[node] = None
        elif several := [group for group in groups if len(group) > 1]:
            self.fails[node] = several

    def member(self, node: Apply, member: InputDim | int) -> InputDim | int | None:
        """A length as the outer node knows it; None where it does not."""
        if not isinstance(member, tuple):
            return member
        n = self.lengths[node.inputs[member[0]]][member[1]]
        return int(n.data) if isinstance(n, Constant) else self.takes.get(n)


def _covered(group: Lengths, checked: set[Any]) -> bool:
    """Whether lengths are compared anyway, alone or with more."""
    own = frozenset(group)
    return own in checked or any([own < other for other in checked])


def rank(v: Variable) -> int:
    """The number of dimensions."""
    return v.type.ndim or 0


def lengths_of(v: Variable) -> tuple[Any, ...]:
    """The lengths of a variable: constants where they are known, else new roots."""
    shape = v.type.shape
    made = []
    for k, n in enumerate(shape):
        name = f"{v.name or 'n'}{k}"
        known = None if n is None else as_tensor_variable(n, dtype="int64")
        made.append(scalar(name, dtype="int64") if known is None else known)
    return tuple(made)
