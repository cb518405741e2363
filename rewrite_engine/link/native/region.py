"""`RegionPlan`: from nodes to statements, kernels, and the table that the entry reads.

`lower` (`lower.py`) adds the statements of each node: groups, whose nodes share one loop nest,
and calls. A node joins the first group over the same axes that comes late enough. Then memory is
planned (`memory.py`): results have arrays of their own. Other values that a later statement reads
have buffers in one arena; values with disjoint lifetimes share a buffer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import accumulate
from typing import Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.native.alike import Found, group_kernel
from rewrite_engine.link.native.instructions import convert
from rewrite_engine.link.native.kernel_text import KernelText
from rewrite_engine.link.native.library import Kernel
from rewrite_engine.link.native.lifetimes import Lifetimes
from rewrite_engine.link.native.memory import donate, place_temporaries
from rewrite_engine.link.native.optimised import Word
from rewrite_engine.link.native.runtime import (
    C_ORDER,
    FORTRAN_ORDER,
    HEADER,
    HEADER_INDEX,
    INSTRUCTIONS,
    PACK_SINGLE,
    PACK_TUPLE,
    WRITEABLE_FLAG,
    library_of,
)
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import DTYPES, KINDS, Assembler
from rewrite_engine.link.native.timing import TICK_WORDS, Timing, computed_by
from rewrite_engine.link.native.values import (
    ONE,
    ElementWriter,
    Group,
    Item,
    Length,
    NativeCall,
    NativeValue,
    Node,
    Number,
    Position,
    Reduced,
    Scope,
    Steps,
    View,
    Write,
    times,
    view_of,
    without_ones,
)
from rewrite_engine.link.native.verify import verify
from rewrite_engine.link.plan import ByClass
from rewrite_engine.link.plan.dims import Dims, axes

#: nodes, reductions, and nodes that call functions, of one group: registers are few
MAX_GROUP_NODES, MAX_GROUP_REDUCTIONS, MAX_GROUP_CALLS = 96, 16, 8


class NotNative(Exception):
    """Raised during lowering when a node turns out to be unsupported. node: the node."""

    node: Apply | None = None


@singledispatch
def look(op: Any, node: Apply, plan: RegionPlan) -> None:
    """Note the axes of a node's outputs, and the comparisons of lengths that it requires."""
    found = axes.dispatch(type(op))(op, node, plan.dims)
    plan.checks += [(node, check) for check in found]


class RegionPlan:
    """Plan of a region under construction.

    dims: which lengths are equal. words: the initial contents of the frame. lengths: of dimensions.
    of: the values of variables. statements: in the order in which they run. node: the node that is
    being lowered. timed: whether a profile needs the times of kernels, which `timing` then counts.
    """

    def __init__(self, nodes: Sequence[Apply], machine: Machine, timed: bool = False) -> None:
        self.node: Apply | None = None
        self.timed = timed
        self.timing: Timing | None = None
        self.machine, self.dims = machine, Dims()
        self.words: list[int] = [0]
        self.instructions: list[tuple[str, int, int, int]] = []
        self.of: dict[Variable, View | Number] = {}
        self.lengths: dict[int, Length] = {}
        self.statements: list[Group | NativeCall] = []
        self.scope = self.outside = Scope()  # of the statements that are added; outside of loops
        self.alive: list[Any] = []
        self.kept: list[NativeValue] = []  # of statements that always run
        self._words: dict[Any, int] = {}
        self._places: dict[NativeValue, int] = {}
        self.loops: list[Scope] = []  # inner ones first
        self.donations: dict[int, int] = {}  # result: the argument whose memory it uses
        self.buffers: list[int] = []  # words with the addresses of temporaries
        self.inside: dict[Apply, Any] = {}  # the steps of loops
        self.kernels: list[tuple[str, int]] = []  # names, and places among the rows of kernels
        self.checks: list[tuple[Apply, Any]] = []
        self.texts: list[Kernel] | None = None  # of kernels that are exported, and not run here
        rules = ByClass(look)
        for node in nodes:
            rules[type(node.op)](node.op, node, self)

    # --- words and lengths ------------------------------------------------------------------------

    def new_word(self, value: int = 0) -> int:
        """Add a word to the frame."""
        self.words.append(value)
        return len(self.words) - 1

    def constant_word(self, value: float) -> int:
        """Return a word with a constant; a float is stored by its bits."""
        key = np.float64(value).tobytes() if isinstance(value, float) else int(value)
        found = self._words.get(key)
        if found is None:
            bits = np.frombuffer(key, np.int64)[0] if isinstance(key, bytes) else key
            found = self._words[key] = self.new_word(int(bits))
        return found

    def compute(self, name: str, a: int, b: int = 0) -> int:
        """Return a word that an instruction computes from other words in each call."""
        key = (name, a, b)
        found = self._words.get(key)
        if found is None:
            found = self._words[key] = self.new_word()
            self.instructions.append((name, found, a, b))
        return found

    def require(self, name: str, a: int, b: int = 0) -> None:
        """Add a test of words that refuses the call if it fails."""
        if (name, a, b) not in self._words:
            self._words[name, a, b] = 0
            self.instructions.append((name, 0, a, b))

    def word_of(self, n: Length) -> int:
        """Return the word with a length."""
        number, words = n
        if not words:
            return self.constant_word(number)
        found = words[0]
        for other in words[1:]:
            found = self.compute("mul", found, other)
        return found if number == 1 else self.compute("mul", found, self.constant_word(number))

    def length_in(self, word: int) -> Length:
        """Return the length in a word."""
        known = [n for n, found in self._words.items() if found == word and isinstance(n, int)]
        return (known[0], ()) if known else (1, (word,))

    def length(self, d: int) -> Length:
        """Return the length of a dimension. Raises `NotNative` if it is not known yet."""
        known = self.dims.length_of(d)
        if known is not None:
            return (known, ())
        found = self.lengths.get(self.dims.find(d))
        if found is None:
            raise NotNative("a length that no argument has")
        return found

    def tell(self, d: int, n: Length) -> None:
        """Note a computed length, or compare it with the known one."""
        known, d = self.dims.length_of(d), self.dims.find(d)
        other = (known, ()) if known is not None else self.lengths.get(d)
        if other is None:
            self.lengths[d] = n
        elif other != n:
            self.require("equal", self.word_of(other), self.word_of(n))

    def shape(self, v: Variable) -> tuple[Length, ...]:
        """Return the lengths of all axes of a variable."""
        return tuple([self.length(d) for d in self.dims.of(v)])

    def known_shape(self, v: Variable) -> tuple[Length, ...] | None:
        """Return the lengths of all axes, or None for a value that is no array of known lengths."""
        if v not in self.dims.axes:
            return None
        try:
            return self.shape(v)
        except NotNative:
            return None

    # --- arguments --------------------------------------------------------------------------------

    def argument(self, v: Variable, fortran: bool = False) -> list[int]:
        """Add an argument; return its row in the table. fortran: it is in Fortran order."""
        kind = KINDS[v.type.dtype]
        first = len(self.words)
        ids = self.dims.of(v)
        self.words += [0] * len(ids)
        for k, d in enumerate(ids):
            self.tell(d, (1, (first + k,)))
        word = self.new_word()
        shape = self.shape(v)
        laid = shape[::-1] if fortran else shape
        value = NativeValue(kind, without_ones(laid))
        value.word = word
        steps = view_of(value, laid).steps
        self.of[v] = View(value, steps[::-1] if fortran else steps)
        number = 0 if v.type.ndim else id(np.dtype(v.type.dtype).type)
        wanted = FORTRAN_ORDER if fortran else C_ORDER
        return [word, v.type.ndim, id(np.dtype(v.type.dtype)), number, first, *wanted]

    def get(self, v: Variable) -> View | Number:
        """Return the value of a variable or constant."""
        found = self.of.get(v)
        if found is None:
            if not isinstance(v, Constant):
                raise NotNative(f"{v} is not there")
            data = np.asarray(v.data)
            found = self.of[v] = self._constant(data)
            for d, n in zip(self.dims.of(v), data.shape, strict=True):
                self.tell(d, (n, ()))  # (its type need not know it)
        return found

    def _constant(self, data: Any) -> View | Number:
        kind = KINDS.get(data.dtype.name)
        if kind is None:
            raise NotNative(f"a constant of dtype {data.dtype}")
        if data.size == 1:
            return Number(data.reshape(())[()].item(), kind)
        data = np.ascontiguousarray(data)
        self.alive.append(data)
        shape = tuple([(n, ()) for n in data.shape])
        value = NativeValue(kind, without_ones(shape))
        value.word = self.new_word(data.ctypes.data)
        return view_of(value, shape)

    # --- statements -------------------------------------------------------------------------------

    def elementwise(
        self,
        operands: Sequence[View | Number | Position],
        shape: Sequence[Length],
        kind: str,
        write: Write,
        into: tuple[NativeValue, Steps, int | None] | None = None,
        after: int = -1,
        calls_function: bool = False,
    ) -> View:
        """Add an elementwise value of this shape; operands have as many axes or fewer. into: memory
        of another value for the result. after: a statement that must run before. calls_function:
        whether it calls a function.
        """
        kept = [j for j, n in enumerate(shape) if n != ONE]
        space = tuple([shape[j] for j in kept])
        items = tuple([self._item(x, kept, len(shape)) for x in operands])
        value = NativeValue(kind, space)
        value.part_of = into
        self._place(Node(value, items, write, self.scope, calls_function, self.node), space, after)
        return view_of(value, shape)

    def _item(self, x: View | Number | Position, kept: Sequence[int], ndim: int) -> Item:
        """Return an operand along the axes of a group."""
        if isinstance(x, Number):
            return Item(x, x.kind)
        if isinstance(x, Position):
            known = x.axis not in kept  # of an axis of length 1
            return Item(Number(0, "i") if known else Position(kept.index(x.axis)), "i")
        fewer = ndim - len(x.steps)
        steps = tuple([x.steps[j - fewer] if j >= fewer else None for j in kept])
        return Item(View(x.value, steps, x.offset), x.value.kind)

    def _place(self, node: Node, space: tuple[Length, ...], after: int) -> None:
        """Put a node into a group that comes late enough, or into a new one."""
        last_read, joinable = after, -1
        for item in node.items:
            v = item.view
            if not isinstance(v, View):
                continue
            own = _group_of(v, space)
            if own is not None:
                joinable = max(joinable, own.at)
            else:
                last_read = max(last_read, v.value.at)
        first = max(last_read + 1, joinable)
        places = self.scope.spaces.setdefault(space, [])
        k = bisect_left(places, first)
        near = {k, k + 1, len(places) - 2, len(places) - 1}
        for at in [places[j] for j in sorted(near) if k <= j < len(places)]:
            group: Any = self.statements[at]
            if self._has_room(group, node) and self._fits(node, group):
                break
        else:
            group = Group(len(self.statements), space)
            self.statements.append(group)
            places.append(group.at)
        group.nodes.append(node)
        group.own[node.value] = node
        node.value.at, node.value.group = group.at, group

    def _has_room(self, group: Group, node: Node) -> bool:
        if len(group.nodes) >= MAX_GROUP_NODES:
            return False
        return (
            not node.calls_function
            or sum([n.calls_function for n in group.nodes]) < MAX_GROUP_CALLS
        )

    def _fits(self, node: Node, group: Group) -> bool:
        """Return whether a group reads its own values only at the same elements."""
        return not any([
            isinstance(item.view, View) and item.view.value in group.own
            and group.inside(item.view) is None
            for item in node.items
        ])  # fmt: skip

    def reduce(
        self, x: View | Number, shape: Sequence[Length], reduced: Sequence[int], name: str,
        kind: str,
    ) -> View:  # fmt: skip
        """Add a reduction over some axes, which stay with length 1."""
        kept = [j for j, n in enumerate(shape) if n != ONE]
        space = tuple([shape[j] for j in kept])
        inner = frozenset([i for i, j in enumerate(kept) if j in reduced])
        rest = [ONE if j in reduced else n for j, n in enumerate(shape)]
        item = self._item(x, kept, len(shape))
        group: Any = _group_of(item.view, space) if isinstance(item.view, View) else None
        if group is None or item.kind != kind or len(group.reduced) >= MAX_GROUP_REDUCTIONS:
            own = item.kind
            x = self.elementwise([x], shape, kind, ElementWriter(_converted, (own, kind)))
            group = x.value.group
        assert isinstance(x, View)
        if not inner:
            return x
        for r in group.reduced:
            same = (r.source, r.axes, r.name, r.scope) == (x.value, inner, name, self.scope)
            if same and r.value.kind == kind:
                return view_of(r.value, rest)
        value = NativeValue(kind, tuple([n for n in rest if n != ONE]), group.at)
        group.reduced.append(Reduced(value, x.value, inner, name, self.scope, self.node))
        return view_of(value, rest)

    def convert(self, x: View | Number, shape: Sequence[Length], kind: str) -> View | Number:
        """Return the same numbers as another kind."""
        own = x.kind if isinstance(x, Number) else x.value.kind
        if own == kind:
            return x
        return self.elementwise([x], shape, kind, ElementWriter(_converted, (own, kind)))

    def call(
        self, shape: Sequence[Length], kind: str, reads: Sequence[View], write: Any,
        into: tuple[NativeValue, Steps, int | None] | None = None, refuses: bool = True,
        changes: Sequence[NativeValue] = (),
    ) -> View:  # fmt: skip
        """Add a value with a statement of its own. into: as of `elementwise`. refuses: whether the
        statement may fall back to the VM. changes: other values whose memory it writes.
        """
        value = NativeValue(kind, without_ones(shape), len(self.statements))
        value.part_of = into
        self.statements.append(
            NativeCall(
                value.at, value, tuple(reads), write, self.scope, refuses, tuple(changes), self.node
            )
        )
        return view_of(value, shape)

    def always(self, value: NativeValue) -> None:
        """Run the statement of a value even if nobody reads the value."""
        self.kept.append(value)

    def copy(self, x: View | Number, shape: Sequence[Length], kind: str, **options: Any) -> View:
        """Return the same elements in separate memory."""
        return self.elementwise([x], shape, kind, ElementWriter(_same), **options)

    # --- the end ----------------------------------------------------------------------------------

    def place_of(self, value: NativeValue) -> int:
        """Return the word with the address of a value."""
        if value.word is None:
            value.word = self.new_word()
        return value.word

    def finish(
        self, outputs: Sequence[Variable], arguments: Sequence[list[int]],
        donated: Mapping[Variable, int],
    ) -> list[int]:  # fmt: skip
        """Plan memory, write the kernels, and return the table. donated: positions of the arguments
        whose memory results may use; `donations` lists the results that do.
        """
        for node, check in self.checks:
            self._compare(node, check)
        results = self._results(outputs)
        live = Lifetimes(self.statements, self.loops, [v for v, _ in results], self.kept)
        self.lifetimes = live
        self.donations = donate(self, donated, results, live)
        for j in self.donations.values():
            arguments[j][5] |= WRITEABLE_FLAG
        total = place_temporaries(self, live, results)
        running = [s for s in self.statements if live.runs(s)]
        texts = [self._write_kernel(s, live) for s in running]
        if config.check_regions:
            touched = [t.touched for t in texts]
            verify(running, live, self.loops, self.outside, [v for v, _ in results], touched)
        written = [t.kernel() for t in texts]
        tick = TICK_WORDS if self.timed else 0
        sizes = [(s.at, len(words) + 2 + tick) for s, (_, words) in zip(running, written)]
        self._measure(sizes, tick)
        if self.timed:
            about = [computed_by(s, _nodes(live, s), live.last) for s in running]
            self.timing = Timing(self, about)
            written = self.timing.add_readings(written, total)
        kernels = [kernel for kernel, _ in written]
        self._provide(kernels)
        rows = [[0, len(words), *words] for _, words in written]  # (its address: `kernels`)
        ahead = accumulate([len(row) for row in rows], initial=0)
        self.kernels = [(kernel.name, far) for kernel, far in zip(kernels, ahead, strict=False)]
        work = self._work()
        ends = [
            [self.place_of(value), len(lengths), id(np.dtype(DTYPES[value.kind])),
             self.donations.get(k, -1), *[self.word_of(n) for n in lengths]]
            for k, (value, lengths) in enumerate(results)
        ]  # fmt: skip
        return self._table(arguments, ends, rows, total, work)

    def _provide(self, kernels: Sequence[Kernel]) -> None:
        """Compile kernels, or keep their texts if they are exported."""
        if self.texts is None:
            library_of(self.machine).get(kernels, self)
        else:
            self.texts += kernels

    def connect(self, table: Any) -> None:
        """Store the addresses of the kernels in a table, and replace them when there is better
        code.
        """
        start, library = int(table[HEADER_INDEX["at_kernels"]]), library_of(self.machine)
        for name, far in self.kernels:
            library.keep_current(name, Word(table, start + far))

    def _measure(self, rows: Sequence[tuple[int, int]], tick: int) -> None:
        """Tell loops how many words of the table they go back; 2 more, as a smaller number is none.
        rows: the place of each statement, and how many words it takes. tick: how many of them stand
        in front of its kernel.
        """
        for loop in self.loops:
            between = [n for at, n in rows if loop.start < at < loop.end]
            self.words[loop.back] = sum(between) + tick + 2

    def _compare(self, node: Apply, check: Any) -> None:
        """Add a comparison of lengths for a node, unless they are known to be equal."""
        a = self.length(self.dims.of(node.inputs[check.i])[check.axis])
        if check.other is None:
            b: Length = (check.length, ())
        else:
            b = self.length(self.dims.of(node.inputs[check.other])[check.other_axis])
        if a != b:
            self.require("equal", self.word_of(a), self.word_of(b))

    def _results(self, outputs: Sequence[Variable]) -> list[tuple[NativeValue, tuple[Length, ...]]]:
        """Return the values that are results, each with memory of its own, and their shapes."""
        used: set[NativeValue] = set()
        found = []
        for v in outputs:
            x, shape = self.get(v), self.shape(v)
            if isinstance(x, Number) or x.value in used or not _is_whole(x, shape):
                x = self.copy(x, shape, KINDS[v.type.dtype])
            used.add(x.value)
            found.append((x.value, shape))
        return found

    def _write_kernel(self, s: Group | NativeCall, live: Lifetimes) -> KernelText | Found:
        """Return the kernel of a statement."""
        if isinstance(s, Group):
            return group_kernel(self, self.machine, s, set(live.writes(s)), live.nodes(s))
        t = KernelText(self, self.machine, 1)
        t.current_label = "go"
        s.write(t, s.value)  # type: ignore[call-arg]
        return t

    def _work(self) -> int:
        """Return the word with the number of computed elements."""
        found = self.constant_word(0)
        for space in self.outside.spaces:
            if space:
                found = self.compute("add", found, self.word_of(times(*space)))
        for s in self.statements:
            if isinstance(s, NativeCall):
                for view in s.reads:
                    found = self.compute("add", found, self.word_of(times(*view.value.shape)))
        for loop in self.loops:
            found = self.compute("add", found, loop.steps)
        return found

    def _table(
        self, arguments: Sequence[list[int]], results: Sequence[list[int]],
        kernels: Sequence[list[int]], total: int, work: int,
    ) -> list[int]:  # fmt: skip
        """Return the whole plan as integers (see `runtime.py`)."""
        table = [0] * len(HEADER)

        def put(name: str, numbers: Sequence[int]) -> None:
            table[HEADER_INDEX[name]] = len(table)
            table.extend(numbers)

        put("at_arguments", [n for row in arguments for n in row])
        codes = {name: i for i, name in enumerate(INSTRUCTIONS)}
        put("at_instructions", [n for i in self.instructions for n in (codes[i[0]], *i[1:])])
        put("at_places", self.buffers)
        start = len(table) + len(results)
        places = [start + sum(map(len, results[:k])) for k in range(len(results))]
        put("at_results", [*places, *[n for row in results for n in row]])
        put("at_kernels", [n for row in kernels for n in row])
        put("at_template", self.words)
        counts = {
            "slots": len(self.words), "arguments": len(arguments), "results": len(results),
            "instructions": len(self.instructions), "n_places": len(self.buffers),
            "n_kernels": sum(map(len, kernels)),
            "packing": PACK_SINGLE if len(results) == 1 else PACK_TUPLE,
            "total": total, "work": work,
        }  # fmt: skip
        for name, n in counts.items():
            table[HEADER_INDEX[name]] = n
        return table


def _same(t: Assembler, xs: list[str]) -> str:
    return xs[0]


def _converted(t: Assembler, xs: list[str], kind: str, to: str) -> str:
    return convert(t, xs[0], kind, to)


def _nodes(live: Lifetimes, s: Group | NativeCall) -> Sequence[Node]:
    """The nodes of a statement that run, if it is a group."""
    return live.nodes(s) if isinstance(s, Group) else ()


def _group_of(x: View, space: tuple[Length, ...]) -> Group | None:
    """Return the group over a space that a reader of a value can join: one that computes the value
    element by element; None for memory that a loop writes again: the group computes the first of
    the values that the steps read.
    """
    group = x.value.group
    if group is None or group.space != space or x.value.loop is not None:
        return None
    return None if group.inside(x) is None else group


def _is_whole(x: View, shape: Sequence[Length]) -> bool:
    """Return whether a view covers all of a computed value, as a variable of this shape would."""
    value = x.value
    if value.at < 0 or value.part_of is not None or without_ones(shape) != value.shape:
        return False
    return x == view_of(value, shape)
