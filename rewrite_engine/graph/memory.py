"""What an op does with memory: which inputs it overwrites, and which ones its outputs show.

These are separate facts. An op declares them in `destroy_map`, `view_map` and `must_view_map`
(`graph/op.py`); here they are put together, checked for contradictions (`memory_of`), followed
through a graph (`view_roots`) and held against what really happens (`check_memory`). Who uses them
to keep values safe: `graph/destroyhandler.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine.errors import InconsistencyError, message
from rewrite_engine.graph.node import Apply, Variable, build_node

if TYPE_CHECKING:
    from rewrite_engine.graph.op import Op


class NoDestroyHandler(Exception):
    """The first node that overwrites is about to enter: a `DestroyHandler` has to watch first."""


class Memory(NamedTuple):
    """The memory facts of an op.

    destroyed: the inputs it overwrites. may: per output the inputs whose memory it may show. must:
    per output the input whose memory it always shows, for outputs that have one. views: `may`
    without what is overwritten (an output that lives in an overwritten input is a new value, which
    nobody else sees).
    """

    destroyed: frozenset[int]
    may: dict[int, tuple[int, ...]]
    must: dict[int, int]
    views: dict[int, tuple[int, ...]]


def written(op: Op) -> int:
    """Which output of an op that overwrites an input lives there."""
    return min([o for o in op.destroy_map if o is not None], default=0)


def exchanged(node: Apply, op: Op) -> tuple[Variable, Variable]:
    """What a node writes, as it is, and with an op that overwrites an input: of no graph."""
    types, place = tuple([v.type for v in node.outputs]), written(op)
    was, new = [build_node(o, node.inputs, types, node.origin) for o in (node.op, op)]
    return was.outputs[place], new.outputs[place]


def memory_of(op: Op) -> Memory:
    """The memory facts of an op, made once. Raises `InconsistencyError` for contradictions."""
    try:
        return op._memory
    except AttributeError:
        found = op._memory = _read(op)
        return found


def _read(op: Op) -> Memory:
    lives = {o: tuple(ins) for o, ins in op.destroy_map.items() if o is not None}
    shown = {o: tuple(ins) for o, ins in op.view_map.items()}
    _check_maps(op, {**lives, **{o: lives.get(o, ()) + ins for o, ins in shown.items()}})
    destroyed = frozenset([i for ins in op.destroy_map.values() for i in ins])
    views = {o: tuple([i for i in ins if i not in destroyed]) for o, ins in shown.items()}
    may = {o: tuple(dict.fromkeys((*lives.get(o, ()), *shown.get(o, ())))) for o in lives | shown}
    must = {o: ins[0] for o, ins in lives.items() if len(ins) == 1}
    return Memory(destroyed, may, must | op.must_view_map, {o: v for o, v in views.items() if v})


def _check_maps(op: Op, may: dict[int, tuple[int, ...]]) -> None:
    """Refuse declarations that cannot all be true."""
    by: dict[int, int | None] = {}
    for key, ins in op.destroy_map.items():
        for i in ins:
            if i in by:
                _wrong(op, f"input {i} is overwritten twice in destroy_map {op.destroy_map}")
            by[i] = key
    for o, shown in may.items():
        for i in shown:
            if by.get(i, o) not in (o, None):
                what = f"output {o} shows input {i} (view_map), which output {by[i]} overwrites"
                _wrong(op, what)
    for o, i in op.must_view_map.items():
        if i not in may.get(o, ()):
            _wrong(op, f"output {o} must show input {i} (must_view_map), but view_map has it not")


def _wrong(op: Op, what: str) -> None:
    raise InconsistencyError(message(what, op=op))


def check_places(node: Apply) -> None:
    """Raise `InconsistencyError` if the op's maps name inputs or outputs that the node has not."""
    memory, nin, nout = memory_of(node.op), len(node.inputs), len(node.outputs)
    inputs = {*memory.destroyed, *[i for ins in memory.may.values() for i in ins]}
    missing = [f"input {i}" for i in inputs if not 0 <= i < nin]
    missing += [f"output {o}" for o in memory.may if not 0 <= o < nout]
    if missing:
        what = f"destroy_map or view_map names {missing[0]}, which the node does not have"
        raise InconsistencyError(message(what, op=node.op, where=node.where()))


# --- in a graph -----------------------------------------------------------------------------------

Roots = tuple[Variable, ...]


def sources(var: Variable) -> Sequence[Variable]:
    """The variables whose memory `var` may show because its node says so."""
    node = var.owner
    if node is None or not node.op.view_map:
        return ()
    return [node.inputs[i] for i in memory_of(node.op).views.get(var.index or 0, ())]


def view_roots(var: Variable, memo: dict[Variable, Roots] | None = None) -> Roots:
    """The variables whose memory `var` may show, followed down to where memory is made.

    Most show one (themselves, or what they are a view of). memo: what is known of views already;
    it is added to.
    """
    if var.owner is None or not var.owner.op.view_map:
        return (var,)
    known: dict[Variable, Roots] = {} if memo is None else memo
    stack = [] if var in known else [var]
    while stack:
        below = sources(v := stack[-1])
        views = [w for w in below if w.owner is not None and w.owner.op.view_map]
        todo = [w for w in views if w not in known]
        if todo:
            stack += todo
            continue
        known[v] = tuple(dict.fromkeys([r for w in below for r in known.get(w) or (w,)])) or (v,)
        stack.pop()
    return known[var]


def makers_of_destroyed(destroyers: Iterable[Apply]) -> set[Apply]:
    """The nodes that make a value which one of these nodes overwrites, or a view of it on the way.

    Equal ones must not be merged: two nodes cannot overwrite one value.
    """
    makers: set[Apply] = set()
    for node in destroyers:
        check_places(node)
        stack = [node.inputs[i] for i in memory_of(node.op).destroyed]
        while stack:
            v = stack.pop()
            if v.owner is not None and v.owner not in makers:
                makers.add(v.owner)
                stack += sources(v)
    return makers


# --- against reality ------------------------------------------------------------------------------


def check_memory(node: Apply, values: Sequence[Any]) -> None:
    """Run a node's `perform` on copies of `values`; raise `InconsistencyError` if it overwrites an
    input, or an output shows one, that the op does not declare (or does not show what it must), or
    is an array that nobody could write to.

    For the tests of ops. What values are and when they share memory is asked of the types
    (`values_eq`, `may_share_memory`).
    """
    memory, op = memory_of(node.op), node.op
    check_places(node)
    given = [deepcopy(v) for v in values]
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    op.perform(node, given, cells)
    for i, (v, before, after) in enumerate(zip(node.inputs, values, given, strict=True)):
        if i not in memory.destroyed and not v.type.values_eq(before, after):
            _wrong(op, f"it overwrites input {i}, and destroy_map does not say so")
    for o, (out, cell) in enumerate(zip(node.outputs, cells, strict=True)):
        flags = getattr(cell[0], "flags", None)
        if o not in memory.may and not getattr(flags, "writeable", True):
            _wrong(op, f"output {o} cannot be overwritten, as by other ops in place; copy it")
        for i, value in enumerate(given):
            shared = out.type.may_share_memory(cell[0], value)
            if shared and i not in memory.may.get(o, ()):
                _wrong(op, f"output {o} shows input {i}, and view_map does not say so")
            if not shared and memory.must.get(o) == i and getattr(cell[0], "size", True):
                _wrong(op, f"output {o} does not show input {i}, though the op says it always does")
        for p in range(o):
            apart = not {*memory.may.get(o, ())} & {*memory.may.get(p, ())}
            if apart and out.type.may_share_memory(cell[0], cells[p][0]):
                _wrong(op, f"outputs {p} and {o} share memory that is no input's; copy one")
