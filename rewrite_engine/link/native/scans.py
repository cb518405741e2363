"""Loops with native steps: their statements run again and again, without Python in between.

A statement before the loop sets the addresses of the first elements. A statement after each step
stores results and carried values, advances to the next elements, and makes the entry go back
(`runtime.py`). Carried values have memory of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply, Variable, copied
from rewrite_engine.link.native.inline import inline_graphs
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.lower import expanded, lower, native, why_not
from rewrite_engine.link.native.region import NotNative, RegionPlan, look
from rewrite_engine.link.native.text import KINDS, SIZE
from rewrite_engine.link.native.values import (
    Length,
    NativeValue,
    Scope,
    View,
    times,
    view_of,
    without_ones,
)
from rewrite_engine.link.native.views import length_of
from rewrite_engine.link.native.walk import in_memory, step, write_loops
from rewrite_engine.link.plan import ByClass, schedule
from rewrite_engine.link.plan.expand import expand
from rewrite_engine.loops.op import Scan
from rewrite_engine.tensor.index.subtensor import Subtensor
from rewrite_engine.tensor.index.template import INPUT, Slice


@native.register(Scan)
def _(op: Scan, node: Apply) -> str | None:
    if op.mode is not None:
        return "a loop with its own mode"
    if not op.inner_outputs:
        return "a loop that computes nothing"
    for inner in inline_graphs(expand(schedule(op.fgraph))):
        why = "overwrites" if inner.op.destroy_map else why_not(inner)
        if isinstance(inner.op, Scan) and inner.op.until and inner.op.results:
            why = "the number of its results depends on its condition"
        if why is not None:
            return f"a step with {inner.op}: {why}"
    return None


class WithRoom(Scan):
    """Loop with a condition whose results may be longer than the steps that ran; readers cut them.
    (The VM leaves no room.)
    """


MAX_ROOM_ELEMENTS = 1 << 22  # numbers that there may be room for


@expanded.register(Scan)
def _(op: Scan, node: Apply) -> list[Apply]:
    """Give a loop that may end early room for all steps, and cut its results."""
    if not op.until or not op.results or isinstance(op, WithRoom):
        return [node]
    own = WithRoom(op.inner_inputs, op.inner_outputs, op.sequences, op.carried, True, op.truncate,
                   op.name, op.mode, op.derived)  # fmt: skip
    whole = copied(own.make_node(*node.inputs), node.inputs)
    made, steps = list(whole.outputs), node.outputs[-1]
    found = [whole]
    for j, out in enumerate(node.outputs):
        if j in op.results:
            cut = Subtensor((Slice(None, INPUT, None),)).make_node(made[j], steps)
            cut.outputs = (out,)
            found.append(cut)
        else:
            made[j] = out
    whole.outputs = tuple(made)
    return found


class LoopStep(NamedTuple):
    """Step of one loop, with variables of its own. read: the variables that something reads."""

    inputs: list[Variable]
    nodes: list[Apply]
    outputs: list[Variable]
    read: frozenset[Variable]


def inside(op: Scan) -> LoopStep:
    """Return copies of the nodes of a step."""
    known = {v: v.type.make_variable(v.name) for v in op.inner_inputs}
    nodes = list[Apply]()
    for node in inline_graphs(expand(schedule(op.fgraph))):
        copy = copied(node, tuple([known.get(v, v) for v in node.inputs]))
        known.update(zip(node.outputs, copy.outputs, strict=True))
        nodes.append(copy)
    outputs = [known.get(v, v) for v in op.inner_outputs]
    read = frozenset([*outputs, *[v for node in nodes for v in node.inputs]])
    return LoopStep([known[v] for v in op.inner_inputs], nodes, outputs, read)


@look.register(Scan)
def _(op: Scan, node: Apply, plan: RegionPlan) -> None:
    """Note the axes of a loop, and those of the nodes of its step."""
    own, dims = inside(op), plan.dims
    plan.inside[node] = own
    slices, kept, same = op.parts(own.inputs)
    read, first, others = op.parts(node.inputs[1:])
    for v, x in zip(slices, read, strict=True):
        dims.axes[v] = dims.of(x)[1:]
    for v, x in zip([*kept, *same], [*first, *others], strict=True):
        dims.axes[v] = dims.of(x)
    for one in own.nodes:
        look.dispatch(type(one.op))(one.op, one, plan)
    for i, (v, x) in enumerate(zip(node.outputs, first, strict=False)):
        dims.set(v, dims.of(x if kept[i] in own.read else own.outputs[i]))
    steps = dims.counts.get(node.inputs[0])
    for j in op.results:
        dims.set(node.outputs[j], [steps, *dims.of(own.outputs[j])])


@lower.register(Scan)
def _(op: Scan, node: Apply, plan: RegionPlan) -> None:
    own = plan.inside[node]
    steps = length_of(plan, node.inputs[0])
    count = plan.word_of(steps)
    plan.require("positive", count)
    for j in op.results:
        plan.tell(plan.dims.of(node.outputs[j])[0], steps)
    _Loop(op, node, plan, own, count).lower()


class _Loop:
    """Lowering of one loop."""

    def __init__(self, op: Any, node: Apply, plan: RegionPlan, own: LoopStep, count: int) -> None:
        self.op, self.node, self.plan, self.own, self.count = op, node, plan, own, count
        self.read, self.first, self.others = op.parts(node.inputs[1:])
        self.slices, self.kept, self.same = op.parts(own.inputs)
        self.now = plan.new_word()
        self.scope = Scope(plan.scope, plan.new_word(), count)
        self.done: Any = None  # the number of steps, of a loop with a condition

    def lower(self) -> None:
        plan, op = self.plan, self.op
        self.sequences = [self._sequence(x) for x in self.read]
        self.cells = [self._cell(v, x) for v, x in zip(self.kept, self.first)]
        kinds = [KINDS[self.own.outputs[j].type.dtype] for j in op.results]
        self.traces = [plan.call((), k, (), lambda t, value: None).value for k in kinds]
        if op.until:
            self.done = plan.call((), "i", (), lambda t, value: None)
        self.changed = [*[c.value for c in self.cells], *self.traces]
        self.changed += [self.done.value] if self.done else []
        for value in self.changed:
            value.loop = self.scope
        start = plan.call((), "b", self.sequences, self._begin).value
        plan.scope, self.scope.start = self.scope, start.at
        self.cursors = [self._cursor(v, x, start.at) for v, x in zip(self.slices, self.sequences)]
        for v, cell in zip(self.kept, self.cells, strict=True):
            plan.of[v] = cell
        for v, x in zip(self.same, self.others, strict=True):
            plan.of[v] = plan.get(x)
        rules = ByClass(lower)
        for node in self.own.nodes:
            plan.node = node
            rules[type(node.op)](node.op, node, plan)
        plan.node = self.node
        end = self._end()
        assert self.scope.parent is not None
        plan.scope, self.scope.end = self.scope.parent, end.at
        for value in (start, end):
            plan.always(value)
        plan.loops.append(self.scope)
        self._results(end.at)

    def _sequence(self, x: Any) -> View:
        """Return a sequence, after a check that it is long enough."""
        plan, view = self.plan, in_memory(self.plan, x)
        n = plan.word_of(plan.shape(x)[0])
        if n != self.count:
            last = plan.compute("sub", self.count, plan.constant_word(1))
            plan.require("less", last, n)
        return view

    def _cell(self, v: Any, x: Any) -> View:
        """Return memory for recurrent values. Those that no step reads may have any shape."""
        plan, kind = self.plan, KINDS[x.type.dtype]
        if v in self.own.read:
            return plan.copy(plan.get(x), plan.shape(x), kind)
        return plan.call((), kind, (), lambda t, value: None)

    def _cursor(self, v: Any, x: View, at: int) -> NativeValue:
        """Return the element of a sequence that a step sees."""
        shape = self.plan.shape(v)
        value = NativeValue(x.value.kind, without_ones(shape), at)
        value.word = self.plan.new_word()
        self.plan.of[v] = View(value, x.steps[1:])
        return value

    def _begin(self, t: Any, value: NativeValue) -> None:
        """Emit what runs before the first step."""
        t.put(self.now, "0")
        for cursor, x in zip(self.cursors, self.sequences, strict=True):
            t.put(cursor.word, t.address(x.value, x.offset), "ptr")

    def _end(self) -> NativeValue:
        """Emit what runs after each step."""
        plan, own = self.plan, self.own
        n = len(self.cells)
        outputs = own.outputs[:-1] if self.done else own.outputs
        shapes = [plan.shape(v) for v in outputs]
        for i, (v, x) in enumerate(zip(self.kept, self.first, strict=True)):
            if v in own.read:
                _same(plan, plan.shape(x), shapes[i])
                continue
            value = NativeValue(self.cells[i].value.kind, without_ones(shapes[i]))
            self.cells[i].value.shape = value.shape
            self.cells[i] = self.cells[i]._replace(steps=view_of(value, shapes[i]).steps)
        left = [plan.copy(plan.get(v), shape, KINDS[v.type.dtype])
                for v, shape in zip(outputs[:n], shapes, strict=False)]  # fmt: skip
        shown = [in_memory(plan, v) for v in outputs[n:]]
        last = [in_memory(plan, own.outputs[-1])] if self.done else []
        steps = plan.length_in(self.count)
        for trace, shape in zip(self.traces, shapes[n:], strict=True):
            trace.shape = without_ones((steps, *shape))
            if self.done:
                room = plan.word_of(times(steps, *shape))
                plan.require("less", room, plan.constant_word(MAX_ROOM_ELEMENTS))
        places = [view_of(v, (steps, *s)) for v, s in zip(self.traces, shapes[n:], strict=True)]

        def write(t: Any, value: NativeValue) -> None:
            now = t.word(self.now)
            for x, place, shape in zip(shown, places, shapes[n:], strict=True):
                at = step(t, t.address(place.value), now, place.steps[0], place.value.kind)
                _move(t, x, at, place.steps[1:], shape)
            for x, cell, shape in zip(left, self.cells, shapes, strict=False):
                _move(t, x, t.address(cell.value), cell.steps, shape)
            self._go_on(t, now, last)

        reads = [*self.sequences, *left, *shown, *places, *self.cells, *last]
        reads += [self.done] if self.done else []
        return plan.call((), "b", reads, write, changes=self.changed).value

    def _go_on(self, t: Any, now: str, last: Sequence[View]) -> None:
        """Continue with the next step, if there is one. last: whether this was the last one."""
        more = t.new(f"add i64 {now}, 1")
        t.put(self.now, more)
        for cursor, x in zip(self.cursors, self.sequences, strict=True):
            place = step(t, t.address(x.value, x.offset), more, x.steps[0], x.value.kind)
            t.put(cursor.word, place, "ptr")
        again = t.new(f"icmp slt i64 {more}, {t.word(self.count)}")
        for x in last:
            t.store_one(more, t.address(self.done.value), "i")
            kind = x.value.kind
            ends = convert(t, t.load_one(t.address(x.value, x.offset), kind), kind, "b")
            again = t.select(ends, "false", again, "b")
        t.do(f"ret i64 {t.new(f'select i1 {again}, i64 {t.word(self.scope.back)}, i64 0')}")
        t.start(t.label())

    def _results(self, end: int) -> None:
        """Return the last recurrent values, and the results of all steps."""
        plan = self.plan
        for out, x, cell in zip(self.node.outputs, self.own.outputs, self.cells, strict=False):
            shape = plan.shape(x)
            last = NativeValue(cell.value.kind, cell.value.shape, end)
            steps = tuple([s for s in view_of(last, shape).steps if s is not None])
            last.part_of = cell.value, steps, None
            plan.of[out] = view_of(last, shape)
        if self.done:
            self.done.value.at = end
            plan.of[self.node.outputs[-1]] = self.done
        for j, trace in zip(self.op.results, self.traces, strict=True):
            trace.at = end
            plan.of[self.node.outputs[j]] = view_of(trace, plan.shape(self.node.outputs[j]))


def _same(plan: RegionPlan, a: Sequence[Length], b: Sequence[Length]) -> None:
    """Refuse calls in which a recurrent value changes its shape."""
    for m, n in zip(a, b, strict=True):
        if m != n and not m[1] and not n[1]:
            raise NotNative("a carried value changes its shape")
        if m != n:
            plan.require("equal", plan.word_of(m), plan.word_of(n))


def _move(t: Any, x: View, at: str, steps: Sequence[Any], shape: Sequence[Length]) -> None:
    """Copy a view to an address."""
    kind, source = x.value.kind, t.address(x.value, x.offset)
    if x.steps == steps == view_of(NativeValue(kind, without_ones(shape)), shape).steps and shape:
        size = t.length(times((SIZE[kind], ()), *shape))
        t.declare("void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        t.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {at}, ptr {source}, i64 {size}, i1 false)")
        return
    target = View(x.value, tuple(steps))
    write_loops(t, shape, [x, target], [x.steps, steps], [source, at],
           lambda p: t.store_one(t.load_one(p[0], kind), p[1], kind))  # fmt: skip
