"""Shapes of ops that hold a graph, derived from the shape rules of the ops inside.

The computation of the shapes is an op that holds a graph, like a derivative. A small one is written
out instead, so that rules see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rewrite_engine.compile.derivative import Derivative, Differentiable, derivative
from rewrite_engine.graph.inner import held, inlined
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Lengths
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.tensor.inference import InputDim, ShapeInference, lengths_of, rank
from rewrite_engine.tensor.shape import shape_i

SMALL = 20  # nodes that are written out
KEY = ("shape",)


class InferredShapes(NamedTuple):
    """Recipe that computes the lengths of outputs from values of inputs and some of their lengths
    (takes). fails: for each node that may fail, the lengths that must be equal; None if a node may
    fail in other ways.
    """

    takes: list[InputDim]
    lengths: Derivative
    fails: dict[Apply, list[Lengths] | None]

    @property
    def groups(self) -> list[Lengths] | None:
        """Return the groups of lengths that must be equal, as `Op.equal_lengths` does."""
        found: dict[tuple[Any, ...], Lengths] = {}
        for groups in self.fails.values():
            if groups is None:
                return None
            found.update((tuple(group), group) for group in groups)
        return list(found.values())


class ShapesOfGraph(Differentiable):
    """Op that derives its shapes from its graph."""

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the lengths of the outputs; read them from the output if an op inside has no shape
        rule.
        """
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
        """Return the lengths that must be equal for each op inside; None if one may fail in other
        ways.
        """
        known: Any = derivative(self, KEY)
        return [] if known is None else known.groups  # type: ignore[no-any-return]

    def build_derivative(self, key: Any) -> Any:
        """Build a derivative, or the op that computes the shapes."""
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
        """Return the outputs to keep so that errors are preserved. The kept nodes raise the errors
        of the used outputs; outputs with another node that may fail are kept too.
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


def _covered(group: Lengths, checked: set[Any]) -> bool:
    """Return whether other checks already compare these lengths."""
    own = frozenset(group)
    return own in checked or any([own < other for other in checked])
