"""Memory behaviour of ops: which inputs they overwrite, and which inputs their outputs share.

These are separate properties. An op declares them in `destroy_map`, `view_map` and `must_view_map`
(`graph/op.py`). This module combines them, checks them for contradictions (`memory_of`), follows
them through a graph (`view_roots`) and compares them with the actual behaviour (`check_memory`).
`graph/destroyhandler.py` uses them to keep values safe.
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
    """Raised before the first overwriting node enters: a `DestroyHandler` must be
    attached first.
    """


class Memory(NamedTuple):
    """Memory properties of an op.

    destroyed: the inputs it overwrites. may: for each output, the inputs whose memory it may share.
    must: for each output with one, the input whose memory it always shares. views: `may` without
    overwritten inputs (an output in the memory of an overwritten input is a new value that no other
    variable shares).
    """

    destroyed: frozenset[int]
    may: dict[int, tuple[int, ...]]
    must: dict[int, int]
    views: dict[int, tuple[int, ...]]


def written(op: Op) -> int:
    """Return which output of an in-place op lives in the overwritten input."""
    return min([o for o in op.destroy_map if o is not None], default=0)


def exchanged(node: Apply, op: Op) -> tuple[Variable, Variable]:
    """Return the output of a node, and the output with an in-place op; neither belongs to
    a graph.
    """
    types, place = tuple([v.type for v in node.outputs]), written(op)
    was, new = [build_node(o, node.inputs, types, node.origin) for o in (node.op, op)]
    return was.outputs[place], new.outputs[place]


def memory_of(op: Op) -> Memory:
    """Return the memory properties of an op, computed once. Raises `InconsistencyError` for
    contradictions.
    """
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
    """Raise an error for contradictory declarations."""
    by: dict[int, int | None] = {}
    for key, ins in op.destroy_map.items():
        for i in ins:
            if i in by:
                _wrong(op, f"input {i} is overwritten twice in destroy_map {op.destroy_map}")
            by[i] = key
    for o, shown in may.items():
        for i in shown:
            if by.get(i, o) not in (o, None):
                what = f"output {o} views input {i} (view_map), which output {by[i]} overwrites"
                _wrong(op, what)
    for o, i in op.must_view_map.items():
        if i not in may.get(o, ()):
            _wrong(op, f"output {o} must view input {i} (must_view_map), but view_map lacks it")


def _wrong(op: Op, what: str) -> None:
    raise InconsistencyError(message(what, op=op))


def check_places(node: Apply) -> None:
    """Raise `InconsistencyError` if the op's maps name inputs or outputs that the node does not
    have.
    """
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
    """Return the variables whose memory `var` may share according to its node."""
    node = var.owner
    if node is None or not node.op.view_map:
        return ()
    return [node.inputs[i] for i in memory_of(node.op).views.get(var.index or 0, ())]


def view_roots(var: Variable, memo: dict[Variable, Roots] | None = None) -> Roots:
    """Return the variables whose memory `var` may share, followed down to where the memory is
    allocated.

    Most variables have one root: themselves, or the variable they are a view of. memo: known roots
    of views; the function adds to it.
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
    """Return the nodes that compute a value which one of these nodes overwrites, or a view of it on
    the way.

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
    """Run a node's `perform` on copies of `values` and check the memory declarations of its op.
    Raises `InconsistencyError` if the op overwrites an undeclared input, an output shares an
    undeclared input (or does not share one that it must), or an output is an array that cannot be
    written to.

    For the tests of ops. The types compare values and detect shared memory (`values_eq`,
    `may_share_memory`).
    """
    memory, op = memory_of(node.op), node.op
    check_places(node)
    given = [deepcopy(v) for v in values]
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    op.perform(node, given, cells)
    for i, (v, before, after) in enumerate(zip(node.inputs, values, given, strict=True)):
        if i not in memory.destroyed and not v.type.values_eq(before, after):
            _wrong(op, f"it overwrites input {i}, but destroy_map does not declare it")
    for o, (out, cell) in enumerate(zip(node.outputs, cells, strict=True)):
        flags = getattr(cell[0], "flags", None)
        if o not in memory.may and not getattr(flags, "writeable", True):
            _wrong(op, f"output {o} is read-only, so no in-place op can overwrite it; copy it")
        for i, value in enumerate(given):
            shared = out.type.may_share_memory(cell[0], value)
            if shared and i not in memory.may.get(o, ()):
                _wrong(op, f"output {o} views input {i}, but view_map does not declare it")
            if not shared and memory.must.get(o) == i and getattr(cell[0], "size", True):
                _wrong(op, f"output {o} does not view input {i}, as must_view_map declares")
        for p in range(o):
            apart = not {*memory.may.get(o, ())} & {*memory.may.get(p, ())}
            if apart and out.type.may_share_memory(cell[0], cells[p][0]):
                _wrong(op, f"outputs {p} and {o} share memory that belongs to no input; copy one")
