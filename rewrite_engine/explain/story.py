"""The important ones of many firings: `families` groups firings by rule and phase, with the cost
that they saved (`savings`). `show.py` describes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewrite_engine.explain.cost import bytes_moved
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.journal import Leave
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.rewrite.inner import Exchange
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.trace.records import FiringLine, Saving
from rewrite_engine.tensor.op import TensorOp, resolve

if TYPE_CHECKING:
    from rewrite_engine.explain.model import FunctionReport

FOLDING = "fold/constant_folding"
LOOPS = "loops"  # the phase


@dataclass(frozen=True, slots=True)
class Family:
    """Firings of one rule in one phase, in order, also those in graphs inside ops. kind:
    "rule", "folding", "in place" or "inside" (the graph of an op was rewritten).
    """

    phase: str
    rule: str
    kind: str
    firings: tuple[FiringLine, ...]
    saved: Saving

    @property
    def is_safety(self) -> bool:
        """Whether its purpose is finite, accurate values, not speed."""
        return self.phase == "stabilize"

    @property
    def is_about_loops(self) -> bool:
        """Whether it changed loops, or other ops that hold graphs, as a whole."""
        return self.phase == LOOPS or any(firing.of_graph for firing in self.firings)

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """Lines of the user whose terms it changed, in the order of files and lines; of
        gradients those of what was differentiated.
        """
        found = {
            (f.forward_file, f.forward_line) if f.forward_file else (f.user_file, f.user_line)
            for f in self.firings
        }
        return tuple(sorted((str(file), int(row or 0)) for file, row in found if file))

    @property
    def weight(self) -> tuple[bool, bool, int, int, int]:
        """Key by which families are ranked."""
        own = self.saved
        return self.is_safety, self.is_about_loops, own.flops, own.bytes, own.nodes


def families(firings: Sequence[FiringLine]) -> tuple[Family, ...]:
    """Group the firings of a function, in the order of the first ones."""
    found: dict[tuple[str, str], list[FiringLine]] = {}
    for firing in firings:
        phase = firing.phase.partition(" in ")[0]
        found.setdefault((phase, firing.rule), []).append(firing)
    made = []
    for (phase, rule), some in found.items():
        saved = sum([one.saved for one in some if one.saved is not None], Saving())
        made.append(Family(phase, rule, _kind(rule), tuple(some), saved))
    return tuple(made)


def _kind(rule: str) -> str:
    kinds = {InplaceOptimizer.rule_name: "in place", Exchange.rule_name: "inside"}
    return kinds.get(rule, "folding" if rule == FOLDING else "rule")


def savings(f: FunctionReport) -> dict[int, Saving]:
    """Return what each firing saved per call: the cost of the nodes that left the graph until the
    next firing, less the cost of the new ones. Shapes are those of the call; inside ops, those that
    types know, and each step of a loop counts.
    """
    record, sizes = f.record, Sizes(f)
    found: dict[int, Saving] = {}
    for number, past in record.trace.pasts.items():
        steps = [step for step in record.steps if step.graph == number]
        place = "" if past.fgraph is record.after or not steps else inner_place(steps[0].phase)
        runs = _runs_of(f, place) if place else 1
        ends = [*[step.at for step in steps[1:]], past.end][: len(steps)]
        for step, end in zip(steps, ends, strict=True):
            entries = past.entries[step.at - past.forgotten : end - past.forgotten]
            came = [(node, node.inputs) for node in _came(step)]
            gone = [(e.node, e.inputs) for e in entries if isinstance(e, Leave)]
            if _kind(step.rule_name) in ("rule", "folding"):
                one = _difference(sizes, came, gone)
                found[step.number] = Saving(one.nodes, runs * one.flops, runs * one.bytes)
    return found


def inner_place(phase: str) -> str:
    """Return the op in whose graph a phase ran; "" for the function's own graph."""
    return phase.partition(" in ")[2]


def _runs_of(f: FunctionReport, place: str) -> int:
    """Return how often the graph of a loop runs in a call: the length of what it stacks; else 1."""
    name = place.partition(" #")[0]
    graphs = (f.record.before, f.check.shapes_before), (f.record.after, f.check.shapes_after)
    for fgraph, shapes in graphs:
        for node in [n for n in fgraph.apply_nodes if str(n.op) == name]:
            inner = getattr(node.op, "fgraph", fgraph).outputs
            pairs = zip(node.outputs, inner, strict=False)
            stacked = [v for v, one in pairs if len(v.type.shape) > len(one.type.shape)]
            lengths = [shapes[v][0] for v in stacked if v in shapes]
            if lengths:
                return max(lengths)
    return 1


def _came(step: RecordedFiring) -> Sequence[Apply]:
    return step.makes or ()


def _difference(sizes: Sizes, came: Sequence[Any], gone: Sequence[Any]) -> Saving:
    total = Saving()
    for sign, pairs in ((-1, came), (1, gone)):
        for node, inputs in pairs:
            flops, moved = sizes.cost(node, inputs)
            inside = len(node.op.fgraph) if isinstance(node.op, HasInnerGraph) else 0
            total += Saving(sign * (1 + inside), sign * flops, sign * moved)
    return total


class Sizes:
    """Shapes of variables at any time between the graph as built and the one rewritten."""

    def __init__(self, f: FunctionReport) -> None:
        self.memo = f.record.before.memo
        self.before, self.after = f.check.shapes_before, f.check.shapes_after
        self.known: dict[Variable, tuple[int, ...]] = {}

    def of(self, v: Variable) -> tuple[int, ...] | None:
        """Return the shape of a variable, if it is known."""
        found = self.after.get(v) or self.before.get(self.memo.get(v, v)) or self.known.get(v)
        if found is None and None not in (v.type.shape or ()):
            found = v.type.shape
        return found

    def cost(self, node: Apply, inputs: Sequence[Variable]) -> tuple[int, int]:
        """Return flops and bytes of a node; 0 if its shapes are not known."""
        ins = [self.of(v) for v in inputs]
        if None in ins:
            return 0, 0
        for k, (v, shape) in enumerate(zip(node.outputs, self._made(node, ins), strict=True)):
            if self.of(v) is None and shape is not None:
                self.known[node.outputs[k]] = shape
        outs = [self.of(v) for v in node.outputs]
        if None in outs:
            return 0, 0
        shapes = dict(zip([*node.inputs, *node.outputs], [*ins, *outs], strict=False))
        return node.op.flops(ins, outs), bytes_moved(node, shapes)

    def _made(self, node: Apply, ins: Sequence[Any]) -> Iterator[tuple[int, ...] | None]:
        """Yield the shapes of the outputs by the op's own rule."""
        if not isinstance(node.op, TensorOp):
            yield from [None] * len(node.outputs)
            return

        def length(one: Any) -> Any:
            if one.__class__ is tuple:
                return ins[one[0]][one[1]]
            v = node.inputs[one.i]
            return int(v.data) if isinstance(v, Constant) and v.data.ndim == 0 else None

        for dims in node.op.shapes_of(node).outputs:
            try:
                shape = tuple([resolve(d, length) for d in dims])
            except Exception:  # a rule that wants variables
                shape = (None,)
            yield None if None in shape else shape
