"""Origins of nodes: where the user's code built them, and which rules made them. Recording takes a
few instructions; resolving happens on demand.

The origin of a node made by a rule holds the origins of the nodes that the rule consumed, so
origins form a graph of their own, with one small tuple per firing. `provenance` reads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from rewrite_engine.config import config, on_change
from rewrite_engine.errors import Message, message, source_line
from rewrite_engine.graph.postorder import postorder

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

Line = tuple[str, int]

#: code object and instruction, resolved to a line on demand; or file and line already; or, for what
#: a rule made: a place, the rule, the origin of the node it replaced, and others that had a part
Origin = tuple[Any, ...]


class _Ours(dict[str, bool]):
    """Cache of which files belong to this package: a look-up costs half as much as a comparison."""

    def __missing__(self, file: str) -> bool:
        self[file] = found = file.startswith(PACKAGE)
        return found


_ours = _Ours()

#: by instruction, the origin that was noted last: what a loop builds has few
_last: dict[int, Origin] = {}
on_change("traceback__limit", _last.clear)


def user_origin() -> Origin | None:
    """Return the current position in the user's code: the innermost frame outside this package."""
    frame = sys._getframe(1)
    while _ours[frame.f_code.co_filename]:
        back = frame.f_back
        if back is None:
            return None
        frame = back
    known = _last.get(frame.f_lasti)
    return _noted(frame) if known is None or known[0] is not frame.f_code else known


def applied_origin() -> Origin | None:
    """Return the origin of a node built in a program's `make_node`: where the op was applied, not
    the line in `make_node`, which all nodes of that op have in common.
    """
    frame = sys._getframe(1)
    while _ours[frame.f_code.co_filename] or frame.f_code.co_name == "make_node":
        back = frame.f_back
        if back is None:
            return None
        frame = back
    known = _last.get(frame.f_lasti)
    return _noted(frame) if known is None or known[0] is not frame.f_code else known


class Noted(tuple[Any, ...]):
    """Code object and instruction with more information. caller: the origin of the call that ran it
    (`config.traceback__limit`). forward: for a node of a gradient, the origin of the node that was
    differentiated.
    """

    caller: Origin | None = None
    forward: Origin | None = None


def _noted(frame: FrameType) -> Origin:
    """Return the origin of a frame, cached in `_last`. Origins with callers are not cached, because
    the callers may differ the next time.
    """
    own = frame.f_code, frame.f_lasti
    more = config.traceback__limit - 1
    if more < 1:
        _last[own[1]] = own
        return own
    first = last = Noted(own)
    at = frame.f_back
    while at is not None and more:
        if not _ours[at.f_code.co_filename]:
            last.caller = last = Noted((at.f_code, at.f_lasti))
            more -= 1
        at = at.f_back
    return first


def _root(origin: Origin | None) -> Origin | None:
    """Return an origin; for a node made by a rule, the origin of the root that it replaced."""
    return origin[0] if origin is not None and len(origin) > 2 else origin


def origin_line(origin: Origin | None) -> Line | None:
    """Resolve an origin to (file name, line); for a node made by a rule, the line of the root that
    it replaced.
    """
    if origin is not None and len(origin) > 2:
        origin = origin[0]
    if origin is None:
        return None
    code: CodeType | str = origin[0]
    lasti: int = origin[1]
    if isinstance(code, str):
        return code, lasti
    for start, stop, line in code.co_lines():
        if start <= lasti < stop and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno


class Derivatives:
    """Context manager for building a gradient. Nodes that the user's current line builds after
    `of(origin)` are recorded as derivatives of the node with that origin.

    The record is made where `user_origin` looks, so it needs no walk over the new nodes. (Another
    thread at the same instruction may take it for its own.)
    """

    __slots__ = ("forward", "here")

    def __enter__(self) -> Derivatives:
        self.here = user_origin()
        self.forward: Origin | None = None
        return self

    def of(self, forward: Origin | None) -> None:
        """Record nodes built from now on as derivatives of the node with this origin."""
        here = self.here
        if here is None or forward is self.forward:
            return
        self.forward = forward
        if forward is None:
            self.forget()
            return
        origin = _last[here[1]] = Noted(here)
        origin.forward = forward
        if here.__class__ is Noted:
            origin.caller = here.caller

    def forget(self) -> None:
        """Restore the previous record, perhaps a derivative in an op that builds a gradient of its
        own.
        """
        here = self.here
        if here is None:
            return
        if getattr(here, "forward", None) is None:
            _last.pop(here[1], None)
        else:
            _last[here[1]] = here

    def __exit__(self, *error: Any) -> None:
        self.forget()


def forward_line(origin: Origin | None) -> Line | None:
    """Return the user's line that a node of a gradient differentiates; None for other nodes."""
    forward: Origin | None = getattr(_root(origin), "forward", None)
    return None if forward is None else forward_line(forward) or origin_line(forward)


def calling_lines(origin: Origin | None) -> list[Line]:
    """Return the user's lines whose calls led to where a node was built, the nearest first. They
    are recorded if `config.traceback__limit` is set.
    """
    found = []
    at: Origin | None = getattr(_root(origin), "caller", None)
    while at is not None:
        found.append(origin_line(at))
        at = at.caller  # type: ignore[attr-defined]
    return [line for line in found if line is not None]


def told_places(origin: Origin | None) -> list[str]:
    """Describe where a node was built, for messages: the line, its callers, and for a gradient the
    line that was differentiated.
    """
    line, forward = origin_line(origin), forward_line(origin)
    told = [] if line is None else [f"built at {source_line(*line)}"]
    told += [f"called at {source_line(*one)}" for one in calling_lines(origin)]
    return told + ([] if forward is None else [f"the derivative of {source_line(*forward)}"])


def located(what: str, *, op: Any = None, inputs: Sequence[Any] = (), hint: Any = None) -> Message:
    """Build an error message (see `message`) with the current line of the user's code."""
    return message(what, op=op, inputs=inputs, where=origin_line(user_origin()), hint=hint)


# --- provenance ----------------------------------------------------------------------------------


def plainly(node: Any, was: Origin | None, reason: Any) -> Origin | None:
    """Return the origin of a replacement whose reason records no origin of its own (rules do:
    `rule.consumed`). was: the previous origin of the new node, if it existed; its user's line is
    kept.
    """
    origin: Origin | None = node.origin
    if reason is None:
        return origin if was is None else was
    own = origin if was is None else was
    return (own if own is None or len(own) == 2 else own[0]), reason, origin, was


class Refused:
    """Reason for restoring a refused replacement: the node keeps its origin."""

    name = "refused"

    def consumed(self, node: Any, was: Origin | None, reason: Any) -> Origin | None:
        """Return the previous origin: nothing is consumed."""
        return was


REFUSED = Refused()


class Provenance(NamedTuple):
    """Rules and lines that a variable came from. rules: names of the rules that fired, earlier ones
    first. lines: (file, line)s of the user's code whose nodes they consumed, the variable's own
    first.
    """

    rules: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()

    def __str__(self) -> str:
        lines = ", ".join(f"{os.path.basename(file)}:{line}" for file, line in self.lines)
        return f"{' then '.join(self.rules) or 'as written'} ({lines or 'nowhere'})"


def provenance(variable: Any) -> Provenance:
    """Return the rules that made a variable (or node), and the user's lines it came from.

    Works without a recording, for the variables of any rewritten graph, such as `f.fgraph.outputs`.
    Inputs and constants have no rules and lines.
    """
    node = getattr(variable, "owner", variable)
    origin: Origin | None = getattr(node, "origin", None)
    if origin is None:
        return Provenance()
    rules: list[str] = []
    lines: dict[Line | None, None] = {origin_line(origin): None}
    for one in in_order([origin]):
        if len(one) == 2:
            lines[origin_line(one)] = None
        else:
            rules.append(_name(one[1]))
    return Provenance(tuple(rules), tuple([line for line in lines if line is not None]))


def _name(reason: Any) -> str:
    return str(getattr(reason, "name", reason))


def in_order(origins: Sequence[Origin | None]) -> Iterator[Origin]:
    """Yield the origins and all origins inside them, each once, after those inside it."""
    roots = [o for o in origins if o is not None]
    return postorder(roots, lambda one: [o for o in one[2:] if o is not None])


Row = tuple[Any, ...]  # (file, line), or ((file, line), rule's name, numbers of other rows)


def origin_rows(origins: Sequence[Origin | None]) -> tuple[list[Row], list[int]]:
    """Convert origins to a flat table; also return the row index of each (-1: none)."""
    rows: list[Row] = []
    number: dict[int, int] = {}
    same: dict[Row, int] = {}
    for one in in_order(origins):
        if len(one) > 2:
            row: Row = (
                origin_line(one),
                _name(one[1]),
                *[number[id(o)] for o in one[2:] if o is not None],
            )
        else:
            row = origin_line(one)  # type: ignore[assignment]
        known = same.setdefault(row, len(rows))
        if known == len(rows):
            rows.append(row)
        number[id(one)] = known
    return rows, [-1 if o is None else number[id(o)] for o in origins]


def origins_of(rows: Sequence[Row], numbers: Sequence[int]) -> list[Origin | None]:
    """Read the origins that `origin_rows` wrote."""
    made: list[Origin] = []
    for row in rows:
        plain = len(row) == 2 and isinstance(row[0], str)
        made.append(row if plain else (row[0], row[1], *[made[n] for n in row[2:]]))
    return [None if n < 0 else made[n] for n in numbers]
