"""`verify`: check that each read in a region finds the value that the graph means.

The statements run here as they will in machine code, loops for three steps, but on labels: memory
maps the word with an address to the last value written there, and when. The check knows nothing of
how statements were placed or memory was shared. `config.check_regions` runs it on every region; the
tests and the fuzzers do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from rewrite_engine.errors import RegionError
from rewrite_engine.link.native.lifetimes import Lifetimes
from rewrite_engine.link.native.values import (
    Group,
    NativeCall,
    NativeValue,
    Scope,
    View,
    in_order,
)

VERIFIED_STEPS = 3  # the first, one after another, and the last


class Read(NamedTuple):
    """Read of a value. scope: where the graph has the reader. along: whether it goes through the
    memory in order, as the statement writes. register: whether the statement itself computes the
    value.
    """

    value: NativeValue
    scope: Scope
    along: bool = False
    register: bool = False


class Access(NamedTuple):
    """Memory that a statement reads and writes."""

    at: int
    reads: list[Read]
    writes: list[NativeValue]


def accesses(s: Group | NativeCall, live: Lifetimes) -> Access:
    """List the memory that a statement reads and writes."""
    writes = live.writes(s)
    if isinstance(s, NativeCall):
        return Access(s.at, [Read(v.value, s.scope) for v in s.reads], writes)
    reads, known = list[Read](), set[NativeValue]()
    for node in live.nodes(s):
        for view in [item.view for item in node.items if isinstance(item.view, View)]:
            inside = s.inside(view)
            if inside is not None and inside not in known:
                raise _error(s.at, inside, "it is computed later in the same loop")
            along = view.offset is None and view.steps == in_order(s.space)
            reads.append(Read(view.value, node.scope, along, inside is not None))
        known.add(node.value)
    reads += [Read(r.source, r.scope, True, True) for r in s.reduced if r.value in writes]
    return Access(s.at, reads, writes)


def root(value: NativeValue) -> NativeValue:
    """Return the value whose memory another value is part of."""
    while value.part_of is not None:
        value = value.part_of[0]
    return value


def _error(at: int, value: NativeValue, why: str) -> RegionError:
    return RegionError(
        f"native code would read a wrong value: statement {at} reads value {value.kind}"
        f"{list(value.shape)} of statement {value.at}, but {why}. This is a bug of the library"
    )


def verify(
    running: Sequence[Group | NativeCall], live: Lifetimes, loops: Sequence[Scope], outside: Scope,
    results: Sequence[NativeValue], touched: Sequence[Collection[NativeValue]],
) -> None:  # fmt: skip
    """Check the running statements, in order. touched: for each statement, the values whose
    addresses its code takes. Raises `RegionError`.
    """
    run = [accesses(s, live) for s in running]
    for access, values in zip(run, touched, strict=True):
        known = {root(r.value) for r in access.reads} | {root(v) for v in access.writes}
        for value in values:
            if root(value) not in known:
                raise _error(access.at, value, "its declaration does not say so")
    _Run(run, loops, outside).all(results)


class _Run:
    """Run of all statements on labels.

    memory: word → (the value there, when each of its parts was written). clock: how many statements
    ran. since: when the present step of a scope began; ended: when the last step ended.
    """

    def __init__(self, run: Sequence[Access], loops: Sequence[Scope], outside: Scope) -> None:
        self.run = run
        self.loops = {loop.start: loop for loop in loops}
        self.memory: dict[int | None, tuple[NativeValue, dict[NativeValue, int]]] = {}
        self.clock = 0
        self.since: dict[Scope, int] = {outside: 0}
        self.ended: dict[Scope, int] = {}
        self.step: dict[Scope, int] = {outside: 0}
        self.scope = outside
        self.home: dict[NativeValue, Scope] = {}
        self.parts: dict[NativeValue, list[NativeValue]] = {}
        for access in run:
            for value in access.writes:
                own = self.parts.setdefault(root(value), [])
                if value not in own:
                    own.append(value)

    def all(self, results: Sequence[NativeValue]) -> None:
        """Run everything, then read the results."""
        self._some(0, len(self.run))
        for value in results:
            self._check(len(self.run), Read(value, self.scope))

    def _some(self, first: int, end: int) -> None:
        """Run the statements from one index to another."""
        i = first
        while i < end:
            access = self.run[i]
            self._execute(access)
            i += 1
            loop = self.loops.get(access.at)
            if loop is not None:
                i = self._loop(loop, i)

    def _loop(self, loop: Scope, first: int) -> int:
        """Run the steps of a loop; return the index of the statement behind it."""
        end = next(k for k in range(first, len(self.run)) if self.run[k].at == loop.end)
        outer, self.scope = self.scope, loop
        for k in range(VERIFIED_STEPS):
            self.since[loop], self.step[loop] = self.clock, k
            self._some(first, end + 1)
            self.ended[loop] = self.clock
        del self.since[loop]
        self.scope = outer
        return end + 1

    def _execute(self, access: Access) -> None:
        for read in access.reads:
            self._check(access.at, read)
        self.clock += 1
        for value in access.writes:
            whole = root(value)
            for read in access.reads:
                old = root(read.value)
                if old is not whole and old.word == whole.word and not read.along:
                    raise _error(access.at, old, "the statement overwrites it")
            held = self.memory.get(whole.word)
            if held is None or held[0] is not whole:
                held = self.memory[whole.word] = (whole, {})
            held[1][value] = self.clock
            self.home.setdefault(value, self.scope)

    def _check(self, at: int, read: Read) -> None:
        """Check that a read finds the value that was written last, in the scope that it means."""
        whole = root(read.value)
        loop = whole.loop
        if loop is not None and _contains(loop, read.scope) and loop not in self.since:
            raise _error(at, whole, "the loop that carries it does not run")
        if read.register:
            return
        held, parts = self.memory.get(whole.word), self.parts.get(whole, [])
        if held is None and not parts:
            return  # an argument or a constant
        if held is None or held[0] is not whole:
            raise _error(at, whole, "its memory has other values")
        alone = read.value is not whole and read.value in parts
        for part in [read.value] if alone else parts:
            self._check_time(at, whole, part, held[1].get(part))

    def _check_time(self, at: int, whole: NativeValue, part: NativeValue, when: Any) -> None:
        loop = whole.loop
        if when is None:
            raise _error(at, part, "nothing has written it")
        if loop is None:
            home = self.home[part]
            if home not in self.since or when <= self.since[home]:
                raise _error(at, part, "it is of another step")
        elif loop not in self.since:
            if when != self.ended.get(loop):
                raise _error(at, part, "the last step has not written it")
        elif self.step[loop] == 0:
            if not self.since[loop.parent or self.scope] < when <= self.since[loop]:
                raise _error(at, part, "it is not what the first step begins with")
        elif when != self.since[loop]:
            raise _error(at, part, "it is not what the step before has left")


def _contains(loop: Scope, scope: Scope | None) -> bool:
    while scope is not None and scope is not loop:
        scope = scope.parent
    return scope is loop
