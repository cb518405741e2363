"""Record of rewriting a graph, as terms that never change (`RewriteRecord`), and the feature that
writes it (`RewriteRecorder`).

Nodes of a graph change in place, and their terms with them. The recorder stores a copy of each
requested term, until something below it changes; equal copies are one. Every term before and after
a step is thus part of one large graph, all of which is computed at once on the values of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.journal import State
from rewrite_engine.graph.knowledge import Knowledge, knowledge_of
from rewrite_engine.graph.node import Apply, Constant, Variable, copied
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.graph.weak import WeakKeys
from rewrite_engine.match.fact import Fact
from rewrite_engine.rewrite.inner import Exchange
from rewrite_engine.rewrite.trace import Firing, Trace

MERGED = "merge"


class Inside(NamedTuple):
    """Rewriting of the graph inside an op. op: before the rewriting. inputs: the numbers of the
    inputs that remain.
    """

    record: RewriteRecord
    op: Any
    inputs: Sequence[int]


class RewriteStep(NamedTuple):
    """Replacement of a term by another. rule: the rule, or the name of a driver's action. number:
    of the firing (0: a merge of equal nodes). inside: the inner graph, if it was the graph in an
    op.
    """

    rule: Any
    before: Variable
    after: Variable
    phase: str
    number: int
    inside: Inside | None = None

    @property
    def rule_name(self) -> str:
        """Return the rule's name, as queries know it."""
        if self.rule is None:
            return "replacement without a reason"
        return str(getattr(self.rule, "name", self.rule))


class Said(NamedTuple):
    """Fact, and the terms that it was stated of."""

    fact: Fact
    args: tuple[Any, ...]
    answer: Any


@dataclass(slots=True, eq=False)
class RewriteRecord:
    """Record of a graph: as it was built, the steps, and as it is now. written, outputs: its
    outputs before and after.
    """

    inputs: list[Variable]
    written: list[Variable]
    events: list[RewriteStep | Said] = field(default_factory=list)
    outputs: list[Variable] = field(default_factory=list)

    @classmethod
    def of(cls, fgraph: FrozenGraph) -> RewriteRecord:
        """Return the record of a graph without steps."""
        terms = Terms(fgraph)
        outputs = [terms.of(v) for v in fgraph.outputs]
        return cls(list(fgraph.inputs), outputs, [], outputs)

    def read(self) -> set[Variable]:
        """Return all variables that are operands, outputs, or in a step or fact."""
        asked = [*self.written, *self.outputs]
        for event in self.events:
            terms = event.args if isinstance(event, Said) else (event.before, event.after)
            asked += [v for v in terms if isinstance(v, Variable)]
        return {*asked, *[v for node in toposort(asked) for v in node.inputs]}


#: the records of graphs that were rewritten for this linker
RECORDS: WeakKeys[FrozenGraph, RewriteRecord] = WeakKeys()


class TermTable:
    """Table of all copies, each once: nodes by op, operands in order, and types."""

    def __init__(self) -> None:
        self.nodes: dict[Any, Apply] = {}
        self.made: set[Variable] = set()

    def like(self, node: Apply, inputs: tuple[Any, ...]) -> Apply:
        """Return the copy of a node on copies of its operands."""
        types = tuple([v.type for v in node.outputs])
        marks = tuple([v.signature() if isinstance(v, Constant) else v for v in inputs])
        key = node.op, marks, types
        copy = self.nodes.get(key)
        if copy is None:
            copy = self.nodes[key] = copied(node, inputs)
            self.made.update(copy.outputs)
        return copy


class Terms:
    """Copies of the terms of a graph, and of terms that will enter it. table: all copies; several
    graphs may share one.
    """

    def __init__(self, fgraph: Any = None, table: TermTable | None = None) -> None:
        self.fgraph = fgraph
        self.table = TermTable() if table is None else table
        self.copies: dict[Variable, Variable] = {}  # of the graph's own variables,
        self.loose: dict[Variable, Variable] = {}  # and of others, while one term is copied

    def operands(self, node: Apply) -> tuple[Variable, ...]:
        """Return the current inputs of a node."""
        fgraph = self.fgraph
        return fgraph.present_inputs(node) if hasattr(fgraph, "dirty") else node.inputs

    def of(self, v: Variable) -> Variable:
        """Return the copy of a term in its current form."""
        if (known := self._known(v)) is not None:
            return known
        stack = [v.owner]
        while stack:
            node = stack[-1]
            assert node is not None
            inputs = self.operands(node)
            own = [self._known(w) for w in inputs]
            if any([one is None for one in own]):
                stack += [w.owner for w, one in zip(inputs, own, strict=True) if one is None]
                continue
            stack.pop()
            outputs = self.table.like(node, tuple(own)).outputs
            self._kept(node).update(zip(node.outputs, outputs, strict=True))
        found = self._known(v)
        self.loose.clear()
        assert found is not None
        return found

    def _known(self, v: Variable) -> Variable | None:
        """Return an existing copy; a root, or a copy itself, represents itself."""
        if v.owner is None or v in self.table.made:
            return self.copies.get(v, v)
        copy = self.copies.get(v)
        return self.loose.get(v) if copy is None else copy

    def _kept(self, node: Apply) -> dict[Variable, Variable]:
        """Return the cache of copies: changes outside the graph are not announced."""
        there = self.fgraph is None or node in self.fgraph.order.level
        return self.copies if there else self.loose

    def forget(self, nodes: Iterable[Apply]) -> None:
        """Drop the copies of nodes that change, and of the terms above them."""
        copies, users = self.copies, self.fgraph.users
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if copies.pop(node.outputs[0], None) is None:
                continue
            for v in node.outputs:
                copies.pop(v, None)
                stack += users.get(v, ())


class Part:
    """State of one graph that is being rewritten."""

    def __init__(self, fgraph: FunctionGraph, table: TermTable) -> None:
        self.terms = Terms(fgraph, table)
        self.said: set[Any] = set()
        self.record = RewriteRecord(list(fgraph.inputs), [self.terms.of(v) for v in fgraph.outputs])

    def as_written(self, fgraph: FunctionGraph) -> None:
        """Begin with the user's graph, of which this one is a copy with equal nodes merged."""
        user = Terms(None, self.terms.table)
        pairs = [(v, own) for v, own in fgraph.memo.items() if isinstance(v, Variable)]
        user.copies.update({v: own for v, own in pairs if own.owner is None})
        first: dict[Variable, Variable] = {}
        for v, own in pairs:
            if v.owner is None or own not in fgraph.users:
                continue
            was, now = user.of(v), self.terms.of(own)
            first.setdefault(own, was)
            if was is not now:
                self.record.events.append(RewriteStep(MERGED, was, now, "build", 0))
        self.record.written = [first.get(v, self.terms.of(v)) for v in fgraph.outputs]

    def done(self) -> RewriteRecord:
        """Return the record, with the current graph."""
        self.terms.copies.clear()
        self.record.outputs = [self.terms.of(v) for v in self.terms.fgraph.outputs]
        return self.record


class RewriteRecorder(Trace):
    """Recorder of the rewriting of a graph and of its inner graphs. texts: text of each step, to
    compare with another run.
    """

    def __init__(self, texts: bool = False) -> None:
        super().__init__()
        self.texts: list[tuple[str, ...]] | None = [] if texts else None
        self.table = TermTable()
        self.parts: dict[int, Part] = {}
        self.drivers: list[Any] = []

    def begin(self, fgraph: FunctionGraph) -> Part:
        """Prepare for the rewriting of a graph."""
        part = self.parts.get(id(fgraph))
        if part is None:
            part = self.parts[id(fgraph)] = Part(fgraph, self.table)
        known = knowledge_of(fgraph)
        known.told = partial(self.on_answer, part)
        return part

    def part(self, fgraph: Any) -> Part:
        """Return the state of a graph."""
        return self.parts.get(id(fgraph)) or self.begin(fgraph)

    # --- what graphs and drivers tell ------------------------------------------------------------

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        super().on_begin(fgraph, driver)
        self.drivers.append(driver)

    def on_end(self, fgraph: FunctionGraph, result: Any) -> None:
        super().on_end(fgraph, result)
        if self.drivers:
            self.drivers.pop()
        self.part(fgraph).terms.copies.clear()  # (ops may have been exchanged)

    def on_inner(self, fgraph: FunctionGraph, inner: FunctionGraph, place: str | None) -> None:
        super().on_inner(fgraph, inner, place)
        if place:
            self.begin(inner)
        else:
            self.part(inner).done()

    def on_answer(self, part: Part, fact: Fact, args: Sequence[Any], answer: Any) -> None:
        """Note the answer of a fact about terms of a graph."""
        if not answer:
            return
        of, value = part.terms.of, answer.value
        own = tuple([of(a) if isinstance(a, Variable) else a for a in args])
        if isinstance(value, tuple) and any([isinstance(x, Variable) for x in value]):
            value = tuple([of(x) if isinstance(x, Variable) else x for x in value])
            answer = type(answer)(answer.reasons, value)
        key = fact, own, str(value)
        if key not in part.said:
            part.said.add(key)
            part.record.events.append(Said(fact, own, answer))

    def on_replace(self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any) -> None:
        super().on_replace(fgraph, old, new, reason)
        of = self.part(fgraph).terms.of
        self._before = [(rule, of(a), of(b), *rest) for rule, a, b, *rest in self._before]

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        part, of = self.part(fgraph), self.part(fgraph).terms.of
        about = self._before
        mine = bool(about) and about[-1][0] is reason
        was = of(about[-1][2] if mine else old)
        super().on_redirect(fgraph, old, new, clients, reason)
        if (mine or reason == MERGED) and was is not of(new):
            part.record.events.append(RewriteStep(MERGED, was, of(new), self.phase, 0))
        part.terms.forget(clients)

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Any, reason: Any) -> None:
        super().on_exchange(fgraph, node, op, reason)
        self.part(fgraph).terms.forget([node])

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        if var.owner is not None:
            self.part(fgraph).terms.forget([var.owner])

    def on_restore(self, fgraph: FunctionGraph, before: State, after: State) -> None:
        self.part(fgraph).terms.copies.clear()

    def keep(self, firing: Firing) -> None:
        """Add a step to the record."""
        assert self.past is not None
        part = self.part(self.past.fgraph)
        before, after = part.terms.of(firing.before), part.terms.of(firing.after)
        inside = self._inside(firing)
        step = RewriteStep(firing.rule, before, after, firing.phase, firing.number, inside)
        part.record.events.append(step)
        if self.texts is not None:
            rule, place = step.rule_name, firing.phase
            self.texts.append((place, rule, self.text(before), self.text(after)))

    def _inside(self, firing: Firing) -> Inside | None:
        """Return the record of the graph in a rewritten op."""
        driver = self.drivers[-1] if self.drivers else None
        if not isinstance(driver, Exchange) or firing.rule != Exchange.rule_name:
            return None
        site = driver.sites.get(firing.node)
        graph = None if site is None else driver.new[site.call].graph
        if site is None or graph is None or id(graph) not in self.parts:
            return None
        return Inside(self.parts[id(graph)].record, site.call.op, site.inputs)

    def forget(self, count: int) -> None:
        """Drop the firings after a number; they were undone."""
        super().forget(count)
        for part in self.parts.values():
            kept = [e for e in part.record.events if isinstance(e, Said) or e.number <= count]
            if len(kept) != len(part.record.events):
                part.record.events[:] = kept
        if self.texts is not None:
            del self.texts[count:]


def recorded(rewrite: Callable[[], Any], fgraph: FunctionGraph, recorder: RewriteRecorder) -> Any:
    """Run a driver on a graph, and store its record."""
    part = recorder.begin(fgraph)
    part.as_written(fgraph)
    fgraph.attach_feature(recorder)
    try:
        result = rewrite()
    finally:
        fgraph.remove_feature(recorder)
        for one in recorder.parts.values():
            known: Knowledge | None = one.terms.fgraph.facts
            if known is not None:
                known.told = None
    RECORDS[fgraph] = part.done()
    return result
