"""Kernel texts of groups: loops over the axes, the innermost one over vectors.

Adjacent axes along which all operands are contiguous become one axis. Sums are added in parts of
1024 elements a lane, with compensation for rounding (Kahan 1965, Neumaier 1974), so they are at
least as accurate as NumPy's. Values that a later statement reads are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from rewrite_engine.link.native.accumulators import (
    Accumulators,
    accumulators,
    combine,
    identity,
    is_compensated,
)
from rewrite_engine.link.native.kernel_text import KernelText, least_elements
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import (
    LLVM_TYPE,
    NUMBER_CLASS,
    SIZE,
    Assembler,
    literal,
)
from rewrite_engine.link.native.threads import (
    LINE,
    OPERATIONS_PER_CALL,
    PART_OPERATIONS,
)
from rewrite_engine.link.native.values import (
    ONE,
    Group,
    Length,
    NativeValue,
    Number,
    Position,
    Reduced,
    View,
    in_order,
    times,
)

VECTORS_PER_PARTIAL_SUM = 128
BLOCK, MAX_BLOCKS = 1 << 16, 64  # elements of a reduction to a number that one thread takes
MAX_UNMASKED_NODES = 12  # of a loop that is written twice, once without masks
#: vectors per iteration if functions are called or vectors reduced, so that a processor does not
#: wait for one
MAX_UNROLL = 4
MAX_ACCUMULATORS = 8  # of all reductions in a loop over full vectors: registers are few
#: nodes of a loop times vectors per iteration, if it calls functions; if it reduces vectors
MAX_UNROLLED_NODES, MAX_CHAIN_NODES = 128, 16


class Stream(NamedTuple):
    """Operand, stored value or reduction, with its steps along the axes."""

    key: Any
    value: NativeValue
    offset: int | None
    steps: list[Length | None]


def collapse(axes: list[Length], steps: Sequence[list[Length | None]]) -> None:
    """Merge adjacent axes along which all operands are contiguous. steps: of each operand."""
    for i in range(len(axes) - 2, -1, -1):
        if all([_goes_on(own[i], own[i + 1], axes[i + 1]) for own in steps]):
            axes[i : i + 2] = [times(axes[i], axes[i + 1])]
            for own in steps:
                del own[i]


def _goes_on(outer: Length | None, inner: Length | None, n: Length) -> bool:
    if outer is None or inner is None:
        return outer is inner
    return outer == times(inner, n)


class LoopNest:
    """Writer of the loops of one group. stored: values of its nodes that others read; kept: stored
    values of its reductions; live: the nodes that are computed.
    """

    def __init__(
        self, t: KernelText, group: Group, stored: set[NativeValue], live: Sequence[Any]
    ) -> None:
        self.t, self.group, self.live = t, group, list(live)
        self.axes = list(group.space)
        self.loads: dict[Any, Stream] = {}
        #: steps of what is no more than an index: ONE along its axis
        self.positions: dict[Position, list[Length | None]] = {}
        self.indices: dict[int, str] = {}  # of the elements along the outer axes
        for v in [item.view for node in self.live for item in node.items]:
            if isinstance(v, Position):
                self.positions[v] = [ONE if a == v.axis else None for a in range(len(self.axes))]
            if isinstance(v, View) and group.inside(v) is None:
                self.loads[v] = Stream(v, v.value, v.offset, list(v.steps))
        self.stores = [self._store(node.value) for node in self.live if node.value in stored]
        self.cells: dict[NativeValue, tuple[str, str]] = {}  # sums, and what rounding lost of them
        self.reductions = [r for r in group.reduced if r.value in stored]
        self.sums = {r.value: self._target(r) for r in self.reductions}
        self.first, self.end = "0", ""  # of the outermost loop; "": its length
        self._turn()
        collapse(self.axes, self._all_steps())

    def _all_steps(self) -> list[list[Length | None]]:
        streams = [*self.loads.values(), *self.stores, *self.sums.values()]
        return [*[s.steps for s in streams], *self.positions.values()]

    def _turn(self) -> None:
        """Make another axis the innermost if no operand is contiguous along the present one."""
        streams, n = [*self.loads.values(), *self.stores], len(self.axes)
        contiguous = [sum([s.steps[a] == ONE for s in streams]) for a in range(n)]
        if n < 2 or contiguous[-1] or not any(contiguous):
            return
        best = contiguous.index(max(contiguous))
        if any([s.steps[best] not in (None, ONE) for s in self.sums.values()]):
            return
        self.axes.append(self.axes.pop(best))
        for steps in self._all_steps():
            steps.append(steps.pop(best))

    def _store(self, value: NativeValue) -> Stream:
        steps: list[Length | None] = list(in_order(value.shape))
        if value.part_of is not None:
            steps = list(value.part_of[1])
        return Stream(value, value, None, steps)

    def _target(self, r: Reduced) -> Stream:
        kept = iter(in_order(r.value.shape))
        n = len(self.group.space)
        return Stream(r, r.value, None, [None if i in r.axes else next(kept) for i in range(n)])

    # --- writing ----------------------------------------------------------------------------------

    def write(self) -> None:
        t = self.t
        streams = [*self.loads.values(), *self.stores, *self.sums.values()]
        pointers = {id(s): t.address(s.value, s.offset) for s in streams}
        if not self.axes:
            self._values(["0"], pointers, {}, None)
            return
        for r in self.reductions:
            self._start(r)
        if self._is_reduced_to_numbers():
            self._in_blocks(pointers)
            return
        self._share()
        self._level(0, streams, pointers)
        for r in self.reductions:
            if self._whole(r):
                t.store_one(self._result(r), pointers[id(self.sums[r.value])], r.value.kind)

    def _operations(self) -> int:
        """Return what an element costs."""
        calls = sum([node.calls_function for node in self.live])
        return len(self.live) + len(self.loads) + OPERATIONS_PER_CALL * calls

    def _share(self) -> None:
        """Let threads share the outermost loop, if it may run in any order and is not always
        short.
        """
        steps = [self.sums[r.value].steps[0] for r in self.reductions]
        if None in steps or any(map(self._several, self.reductions)):
            return
        elements, operations = times(*self.axes), self._operations()
        if not elements[1] and elements[0] <= least_elements(operations):
            return
        self.first, self.end = "%from", "%to"
        around = self.t.around = self.t.beside()
        units, n = around.length(self.axes[0]), around.length(elements)
        grain = -(-PART_OPERATIONS // operations // LINE) * LINE if len(self.axes) == 1 else 0
        around.call_part(units, n, operations, grain)

    # --- reductions of all elements, in blocks ----------------------------------------------------

    def _is_reduced_to_numbers(self) -> bool:
        """Return whether all reductions are of all elements, which are on one axis, in any
        order, and may be many.
        """
        in_order = [NUMBER_CLASS[r.value.kind] == "d" and r.name == "mul" for r in self.reductions]
        if len(self.axes) > 1 or not self.reductions or any(in_order):
            return False
        return all(map(self._whole, self.reductions)) and not self._at_most(BLOCK)

    def _in_blocks(self, pointers: dict[int, str]) -> None:
        """Write a part that reduces some blocks, and the function that combines what it found: in
        order, so that it does not matter which thread has computed it.
        """
        t, n = self.t, self.t.length(self.axes[0])
        size, room = _block_size(t, n), self.t.region.new_word()
        results = t.word_for(room, "fresh", room, "ptr")
        cells = list(self.cells.items())
        kinds = {r.value: r.value.kind for r in self.reductions}

        def block(i: str, _: list[str]) -> list[str]:
            for r in self.reductions:
                self._reset(r)
            self.first = t.new(f"mul i64 {i}, {size}")
            t.declare("i64 @llvm.smin.i64(i64, i64)")
            far = t.new(f"add i64 {self.first}, {size}")
            self.end = t.new(f"call i64 @llvm.smin.i64(i64 {far}, i64 {n})")
            self._line(pointers)
            here = t.at(results, t.new(f"mul i64 {i}, {2 * len(cells)}"), "i")
            for k, (value, (total, lost)) in enumerate(cells):
                _copy(t, total, t.at(here, str(2 * k), "i"), kinds[value])
                if kinds[value] == "d":
                    _copy(t, lost, t.at(here, str(2 * k + 1), "i"), "d")
            return []

        t.loop("%from", "%to", "1", block)
        around = t.around = t.beside()
        n = around.length(self.axes[0])
        size = _block_size(around, n)
        last = around.new(f"add i64 {n}, {around.new(f'sub i64 {size}, 1')}")
        count = around.new(f"sdiv i64 {last}, {size}")
        place = around.room(f"[{2 * MAX_BLOCKS * len(cells)} x i64]")
        around.put(room, place, "ptr")
        around.call_part(count, n, self._operations(), 1)
        self._combine_blocks(around, place, count)

    def _combine_blocks(self, around: KernelText, place: str, count: str) -> None:
        """Write the reduction of the blocks' results."""
        self.t = around
        self.cells = {}
        for r in self.reductions:
            self._start(r)

        def one(i: str, _: list[str]) -> list[str]:
            here = around.at(place, around.new(f"mul i64 {i}, {2 * len(self.cells)}"), "i")
            for k, r in enumerate(self.reductions):
                kind, lost = LLVM_TYPE[r.value.kind], self.cells[r.value][1]
                self._keep(r, around.new(f"load {kind}, ptr {around.at(here, str(2 * k), 'i')}"))
                if is_compensated(r):
                    more = around.new(f"load double, ptr {around.at(here, str(2 * k + 1), 'i')}")
                    so_far = around.new(f"load double, ptr {lost}")
                    all_lost = around.new(f"fadd double {so_far}, {more}")
                    around.do(f"store double {all_lost}, ptr {lost}")
            return []

        around.loop("0", count, "1", one)
        for r in self.reductions:
            target = self.sums[r.value]
            pointer = around.address(target.value, target.offset)
            around.store_one(self._result(r), pointer, r.value.kind)

    def _level(self, d: int, streams: Sequence[Stream], pointers: dict[int, str]) -> None:
        """Write the loop over axis `d`, and those inside."""
        if d == len(self.axes) - 1:
            self._line(pointers)
            return
        t = self.t

        def body(i: str, _: list[str]) -> list[str]:
            here = dict(pointers)
            self.indices[d] = i
            for s in streams:
                step = s.steps[d]
                if step is not None:
                    far = i if step == ONE else t.new(f"mul i64 {i}, {t.length(step)}")
                    here[id(s)] = t.at(pointers[id(s)], far, s.value.kind)
            self._level(d + 1, streams, here)
            return []

        first, end = (self.first, self.end) if d == 0 else ("0", "")
        t.loop(first, end or t.length(self.axes[d]), "1", body)

    def _line(self, pointers: dict[int, str]) -> None:
        """Write the innermost loop: in partial sums, if there is a sum."""
        t = self.t
        first, n = "0", t.length(self.axes[-1])
        if len(self.axes) == 1 and self.end:
            first, n = self.first, self.end
        fixed = {
            key: t.spread(t.load_one(pointers[id(s)], s.value.kind), s.value.kind)
            for key, s in self.loads.items()
            if s.steps[-1] is None
        }
        inner = [r for r in self.reductions if self.sums[r.value].steps[-1] is None]
        in_parts = any(map(is_compensated, inner))
        in_parts = in_parts and not self._at_most(VECTORS_PER_PARTIAL_SUM * t.width)
        for r in inner:
            if not self._whole(r):
                self._reset(r)

        def part(start: str, _: list[str]) -> list[str]:
            end = n
            if in_parts:
                t.declare("i64 @llvm.smin.i64(i64, i64)")
                far = t.new(f"add i64 {start}, {VECTORS_PER_PARTIAL_SUM * t.width}")
                end = t.new(f"call i64 @llvm.smin.i64(i64 {far}, i64 {n})")
            self._sweep(start, end, pointers, fixed, inner)
            return []

        if in_parts:
            t.loop(first, n, str(VECTORS_PER_PARTIAL_SUM * t.width), part)
        else:
            part(first, [])
        for r in inner:
            if not self._whole(r):
                self._finish(r, pointers[id(self.sums[r.value])])

    def _sweep(
        self, start: str, end: str, pointers: Any, fixed: Any, inner: Sequence[Reduced]
    ) -> None:
        """Write loops over vectors: without masks for full vectors, with a mask for the rest."""
        t, sums = self.t, [accumulators(self.t, r) for r in inner]
        kept = [s.first for s in sums]
        for unroll in self._unrolls(inner):
            start, kept = self._full_vectors(start, end, unroll, pointers, fixed, inner, kept)

        def masked(i: str, so_far: list[list[str]]) -> list[list[str]]:
            mask = t.mask(i, end)
            (values,) = self._values([i], pointers, fixed, mask)
            self._add_to_memory(i, values, mask, pointers, inner)
            return [s.add(now, [s.masked(values[s.r.source], mask)])
                    for s, now in zip(sums, so_far, strict=True)]  # fmt: skip

        found = self._vectors(start, end, t.width, masked, sums, kept)
        for s, now in zip(sums, found, strict=True):
            self._keep(s.r, s.across(now))

    def _full_vectors(
        self, start: str, end: str, unroll: int, pointers: Any, fixed: Any,
        inner: Sequence[Reduced], so_far: Sequence[Sequence[str]],
    ) -> tuple[str, list[list[str]]]:  # fmt: skip
        """Write a loop over full vectors, `unroll` per iteration. Return the index of the rest, and
        the accumulators.
        """
        t, step = self.t, self.t.width * unroll
        count = t.new(f"sub i64 {end}, {start}")
        middle = t.new(f"sub i64 {end}, {t.new(f'urem i64 {count}, {step}')}")
        sums = [accumulators(t, r, min(unroll, _chains(inner))) for r in inner]

        def several(i: str, so_far: list[list[str]]) -> list[list[str]]:
            places = [i] + [t.new(f"add i64 {i}, {k * t.width}") for k in range(1, unroll)]
            values = self._values(places, pointers, fixed, None)
            for place, known in zip(places, values, strict=True):
                self._add_to_memory(place, known, None, pointers, inner)
            return [s.add(now, [known[s.r.source] for known in values])
                    for s, now in zip(sums, so_far, strict=True)]  # fmt: skip

        first = [s.continued(kept) for s, kept in zip(sums, so_far, strict=True)]
        found = self._vectors(start, middle, step, several, sums, first)
        return middle, [s.joined(now) for s, now in zip(sums, found, strict=True)]

    def _vectors(
        self, start: str, end: str, step: int, body: Any, sums: Sequence[Accumulators],
        first: Sequence[Sequence[str]],
    ) -> list[list[str]]:  # fmt: skip
        """Write a loop that carries accumulators; return their last values."""
        ends = list(accumulate([len(s.types) for s in sums], initial=0))

        def cut(xs: Sequence[str]) -> list[list[str]]:
            return [list(xs[a:b]) for a, b in pairwise(ends)]

        types = [type_ for s in sums for type_ in s.types]
        carried = list(zip(types, chain(*first), strict=True))
        return cut(
            self.t.loop(start, end, str(step), lambda i, xs: [*chain(*body(i, cut(xs)))], carried)
        )

    def _at_most(self, n: int) -> bool:
        """Return whether the innermost axis is known to be no longer than n."""
        number, words = self.axes[-1]
        return not words and number <= n

    def _unrolls(self, inner: Sequence[Reduced]) -> list[int]:
        """Return how many full vectors an iteration computes, for each loop over them: of several
        rows, which may be short, a second loop computes one vector at a time.
        """
        width, n = self.t.width, len(self.live)
        if self._at_most(2 * width):
            return []
        calls = any([node.calls_function for node in self.live])
        found, most = (
            (MAX_UNROLL, MAX_UNROLLED_NODES) if calls else (_chains(inner), MAX_CHAIN_NODES)
        )
        while found > 1 and (found * n > most or self._at_most(found * width - 1)):
            found //= 2
        if found == 1 and n > MAX_UNMASKED_NODES:
            return []
        return [found, 1] if found > 1 and len(self.axes) > 1 and not calls else [found]

    def _add_to_memory(
        self, i: str, values: Any, mask: str | None, pointers: Any, inner: Sequence[Reduced]
    ) -> None:
        """Add the values of one vector to the reductions along other axes, which are in memory."""
        t = self.t
        for r in self.reductions:
            if r not in inner:
                place = t.at(pointers[id(self.sums[r.value])], i, r.value.kind)
                old = t.load(place, r.value.kind, mask)
                new = combine(t, r, old, values[r.source])
                t.store(new, place, r.value.kind, mask)

    def _values(
        self, places: Sequence[str], pointers: Any, fixed: Any, mask: str | None
    ) -> list[dict[Any, str]]:
        """Return the values of all nodes, from these indices on."""
        found: list[dict[Any, str]] = [dict(fixed) for _ in places]
        self.t.active = mask
        for node in self.live:
            for i, known in zip(places, found, strict=True):
                xs = [self._operand(item.view, i, known, pointers, mask) for item in node.items]
                known[node.value] = node.write(self.t, xs)
        for i, known in zip(places, found, strict=True):
            for s in self.stores:
                self._put(s, known[s.value], i, pointers[id(s)], mask)
        return found

    def _operand(
        self, v: Any, i: str, known: dict[Any, str], pointers: Any, mask: str | None
    ) -> str:
        """Return an operand, from an index on."""
        if isinstance(v, Number):
            return self.t.spread(self.t.number(v), v.kind)
        own = self.group.inside(v)
        key: Any = v if own is None else own
        if key not in known:
            is_index = isinstance(v, Position)
            found = self._index(v, i) if is_index else self._load(self.loads[v], i, pointers, mask)
            known[key] = found
        return known[key]

    def _index(self, v: Position, i: str) -> str:
        """Return the indices of elements along an axis."""
        t, axis = self.t, self.positions[v].index(ONE)
        if axis < len(self.axes) - 1:
            return t.spread(self.indices[axis], "i")
        return t.bin("add", t.spread(i, "i"), t.lanes(), "i")

    def _put(self, s: Stream, x: str, i: str, pointer: str, mask: str | None) -> None:
        """Store a vector of values."""
        t, kind = self.t, s.value.kind
        if not self.axes:
            return t.store_one(x, pointer, kind)
        step = s.steps[-1]
        assert step is not None
        if step == ONE:
            return t.store(x, t.at(pointer, i, kind), kind, mask)
        return t.scatter(x, pointer, t.length(step), i, kind, mask)

    def _load(self, s: Stream, i: str, pointers: Any, mask: str | None) -> str:
        t, pointer = self.t, pointers[id(s)]
        if not self.axes:
            return t.load_one(pointer, s.value.kind)
        step = s.steps[-1]
        assert step is not None
        if step == ONE:
            return t.load(t.at(pointer, i, s.value.kind), s.value.kind, mask)
        return t.gather(pointer, t.length(step), i, s.value.kind, mask)

    # --- reductions -------------------------------------------------------------------------------

    def _whole(self, r: Reduced) -> bool:
        """Return whether all axes are reduced, to one number, which is stored at the end."""
        return all([step is None for step in self.sums[r.value].steps])

    def _several(self, r: Reduced) -> bool:
        """Return whether several passes over the last axis are combined in one element."""
        steps = self.sums[r.value].steps
        return steps[-1] is not None or None in steps[:-1]

    def _start(self, r: Reduced) -> None:
        t, kind = self.t, r.value.kind
        if self.sums[r.value].steps[-1] is None:
            self.cells[r.value] = t.room(LLVM_TYPE[kind]), t.room(LLVM_TYPE[kind])
        if self._whole(r):
            return self._reset(r)
        if not self._several(r):
            return None
        n, pointer = t.length(times(*r.value.shape)), t.address(r.value)
        first = t.constant(identity(r.name, kind), kind)

        def fill(i: str, _: list[str]) -> list[str]:
            mask = t.mask(i, n) if t.width > 1 else None
            t.store(first, t.at(pointer, i, kind), kind, mask)
            return []

        t.loop("0", n, str(t.width), fill)
        return None

    def _reset(self, r: Reduced) -> None:
        kind = r.value.kind
        total, lost = self.cells[r.value]
        first = literal(identity(r.name, kind), kind)
        self.t.do(f"store {LLVM_TYPE[kind]} {first}, ptr {total}")
        if kind == "d":
            self.t.do(f"store double {literal(-0.0, 'd')}, ptr {lost}")

    def _keep(self, r: Reduced, x: str) -> None:
        """Add a partial sum to the sum so far."""
        t, kind, (total, lost) = self.t, r.value.kind, self.cells[r.value]
        one = _single(t)
        old = t.new(f"load {LLVM_TYPE[kind]}, ptr {total}")
        new = combine(one, r, old, x)
        t.do(f"store {LLVM_TYPE[kind]} {new}, ptr {total}")
        if is_compensated(r):  # what was lost of the smaller one
            part = t.new(f"fsub double {new}, {old}")
            left = t.new(f"fsub double {new}, {part}")
            a, b = t.new(f"fsub double {old}, {left}"), t.new(f"fsub double {x}, {part}")
            more = t.new(f"fadd double {a}, {b}")
            so_far = t.new(f"load double, ptr {lost}")
            t.do(f"store double {t.new(f'fadd double {so_far}, {more}')}, ptr {lost}")

    def _result(self, r: Reduced) -> str:
        t, kind, (total, lost) = self.t, r.value.kind, self.cells[r.value]
        found = t.new(f"load {LLVM_TYPE[kind]}, ptr {total}")
        if not is_compensated(r):
            return found
        more = t.new(f"load double, ptr {lost}")
        good = t.new(f"fcmp ord double {more}, 0.0")  # infinities have no rest
        more = t.new(f"select i1 {good}, double {more}, double {literal(-0.0, 'd')}")
        return t.new(f"fadd double {found}, {more}")

    def _finish(self, r: Reduced, pointer: str) -> None:
        t, found = self.t, self._result(r)
        if self._several(r):
            found = combine(_single(t), r, t.load_one(pointer, r.value.kind), found)
        t.store_one(found, pointer, r.value.kind)


def _block_size(t: Assembler, n: str) -> str:
    """Write how many of n elements are a block: there are at most `MAX_BLOCKS`."""
    blocks = t.new(f"sdiv i64 {t.new(f'sub i64 {n}, 1')}, {BLOCK * MAX_BLOCKS}")
    return t.new(f"mul i64 {t.new(f'add i64 {blocks}, 1')}, {BLOCK}")


def _copy(t: Assembler, source: str, target: str, kind: str) -> None:
    """Write a copy of a number in memory."""
    type_ = LLVM_TYPE[kind]
    t.do(f"store {type_} {t.new(f'load {type_}, ptr {source}')}, ptr {target}")


def _chains(inner: Sequence[Reduced]) -> int:
    """Return how many accumulators each reduction has in a loop over full vectors."""
    if not inner:
        return 1
    return min(MAX_UNROLL, max(MAX_ACCUMULATORS // len(inner), 1))


def _single(t: Assembler) -> Assembler:
    """Return a writer for another text, one number at a time."""
    one = Assembler.__new__(Assembler)
    one.__dict__ = dict(t.__dict__)
    one.width = 1
    one.new = t.new  # type: ignore[method-assign]
    one.do = t.do  # type: ignore[method-assign]
    return one


def write_group(
    region: Any, machine: Machine, group: Group, stored: set[NativeValue], live: Sequence[Any]
) -> KernelText:
    """Write the kernel of a group."""
    t = KernelText(region, machine, _width(machine, group, live))
    t.current_label = "go"
    nest = LoopNest(t, group, stored, live)
    nest.write()
    return t


def _width(machine: Machine, group: Group, live: Sequence[Any]) -> int:
    """Return how many elements are computed at a time: those that fill a register, of the widest
    kind that is read or computed (reductions are fewer, and may be wider).
    """
    if not group.space:
        return 1
    reduced = {r.source for r in group.reduced}
    items = [item for node in live for item in node.items]
    kinds = {item.kind for item in items if not isinstance(item.view, Position)}
    kinds |= {node.value.kind for node in live if node.value not in reduced}
    return machine.width * (2 if max([SIZE[k] for k in kinds], default=8) <= 4 else 1)
