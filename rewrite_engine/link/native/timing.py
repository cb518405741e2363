"""Times of the kernels of a profiled region, the memory of its temporaries, and the lengths of its
values.

The table of a timed region has a kernel in front of each kernel, and behind the last one, that
reads the clock: it adds the time since the last reading to the counters of the kernel that ran, and
counts a run of the next one. The time of reading is counted apart. A region without a profile has
no such kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.link.native.library import Kernel
from rewrite_engine.link.native.runtime import MAX_STACK_BYTES, library_of
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.units import CLOCK_UNIT
from rewrite_engine.link.native.values import Group, NativeCall
from rewrite_engine.link.ticks import Ticks, counting, overhead

MAX_NAMES = 6  # ops in the name of a kernel
TICK_WORDS = 6  # of the table, for one reading of the clock
CLOCK_READINGS = 200  # of the clock, to find their cost
CLOCK_MONOTONIC = 1  # CLOCK_MONOTONIC of Linux, which `time.perf_counter` reads, too


def names_of(nodes: Sequence[Apply]) -> str:
    """Return the names of the ops of nodes, the first ones if there are many."""
    names = [str(node.op) for node in nodes]
    more = [f"… {len(names)} ops"] if len(names) > MAX_NAMES else []
    return ", ".join([*names[:MAX_NAMES], *more])


class NativeKernel(Op):
    """Kernel of a region, as a profile lists it. nodes: the nodes that it computes. counted: those
    that no earlier kernel computes; the kernel counts their operations.
    """

    is_region = True

    def __init__(self, nodes: Sequence[Apply], counted: Sequence[Apply]) -> None:
        self.nodes, self.counted = tuple(nodes), tuple(counted)

    def __str__(self) -> str:
        return f"Kernel{{{names_of(self.nodes) or 'copy'}}}"


class Kernels:
    """Kernels of a region, in the role of the graph that a profile requires. holder: the region."""

    inputs: Sequence[Variable] = ()
    outputs: Sequence[Variable] = ()

    def __init__(self, holder: Any, timing: Timing) -> None:
        self.holder, self.timing, self.apply_nodes = holder, timing, list(timing.nodes)

    @property
    def kept_bytes(self) -> int:
        """Return the bytes of temporaries that are kept between calls: the most so far."""
        return self._bytes if self._bytes >= MAX_STACK_BYTES else 0

    @property
    def stack_bytes(self) -> int:
        """Return the bytes of temporaries on the stack during a call: the most so far."""
        return self._bytes if self._bytes < MAX_STACK_BYTES else 0

    @property
    def _bytes(self) -> int:
        return int(self.timing.counters[-1])


class Timing:
    """Counters of the kernels of a region: nanoseconds and runs of each, then nanoseconds that
    reading the clock took, and the most bytes of temporaries of a call.
    """

    def __init__(self, plan: Any, nodes: Sequence[Sequence[Apply]]) -> None:
        self.nodes = _kernel_nodes(nodes)
        self.lengths = _Lengths(plan, nodes)
        n = len(nodes)
        self.counters = np.zeros(2 * n + 4, np.int64)  # (the last pair: of no kernel)
        plan.alive.append(self.counters)
        self.seen = self.counters.copy()
        self.cost = clock_cost(plan.machine)
        self.ticks: Ticks | None = None
        first = self.counters.ctypes.data
        self._places = [plan.constant_word(first + 16 * k) for k in range(n + 1)]
        self._lost, self._held = [plan.constant_word(first + 8 * k) for k in (2 * n + 2, 2 * n + 3)]
        self._last, self._current = plan.new_word(), plan.new_word()

    def add_readings(
        self, kernels: Sequence[tuple[Kernel, list[int]]], total: int
    ) -> list[tuple[Kernel, list[int]]]:
        """Return kernels with readings of the clock between them. total: the word with the bytes of
        the temporaries.
        """
        found = [(_HELD, [total, self._held]), *self.lengths.kernels]
        for place, kernel in zip(self._places, kernels, strict=False):
            found += [(_TICK, [place, self._last, self._current, self._lost]), kernel]
        return [*found, (_TICK, [self._places[-1], self._last, self._current, self._lost])]

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that also passes what was counted on to the profile."""

        @wraps(call)
        def timed(*values: Any) -> Any:
            try:
                return call(*values)
            finally:
                self.settle()

        return timed

    def settle(self) -> None:
        """Add the counts since the last time to the profile, without the cost of the clock."""
        with counting:
            now = self.counters.copy()
            new, self.seen = now - self.seen, now
        runs = new[1:-4:2]
        cost = np.minimum(new[0:-4:2], runs * self.cost)
        overhead.lost[0] += float(new[-2] + cost.sum()) * 1e-9
        if self.ticks is not None:
            times = new[0:-4:2] - cost
            with counting:
                for i in range(len(self.nodes)):
                    self.ticks.seconds[i] += float(times[i]) * 1e-9
                    self.ticks.runs[i] += int(runs[i])
                    if runs[i] and self.ticks.runs[i] == runs[i]:
                        self.ticks.shapes |= self.lengths.shapes(self.nodes[i].op.counted)


class _Lengths:
    """Lengths of the values of a region in its last call, which kernels write."""

    def __init__(self, plan: Any, nodes: Sequence[Sequence[Apply]]) -> None:
        self._axes: dict[Variable, list[int]] = {}
        words: dict[int, int] = {}
        for v in dict.fromkeys([v for own in nodes for n in own for v in (*n.inputs, *n.outputs)]):
            if (known := plan.known_shape(v)) is not None:
                own = [plan.word_of(n) for n in known]
                self._axes[v] = [words.setdefault(word, len(words)) for word in own]
        self._numbers = np.zeros(max(len(words), 1), np.int64)
        plan.alive.append(self._numbers)
        first = self._numbers.ctypes.data
        cells = [plan.constant_word(first + 8 * k) for k in words.values()]
        self.kernels = [(_LENGTH, [word, cell]) for word, cell in zip(words, cells, strict=True)]

    def shapes(self, nodes: Sequence[Apply]) -> dict[Variable, tuple[int, ...]]:
        """Return the shapes of what nodes read and write, where they are known."""
        every = [v for n in nodes for v in (*n.inputs, *n.outputs) if v in self._axes]
        return {v: tuple(self._numbers[self._axes[v]].tolist()) for v in every}


@cache
def clock_cost(machine: Machine) -> int:
    """Return the nanoseconds between two readings of the clock with nothing in between."""
    (address,) = library_of(machine).get([_TWICE])
    read: Any = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(address)
    return int(min([read(None, None) for _ in range(CLOCK_READINGS)]))


def computed_by(statement: Group | NativeCall, live: Sequence[Any], stored: Any) -> list[Apply]:
    """Return the nodes of the graph that a statement computes, without repetition. live: the nodes
    of a group that run. stored: values that are in memory.
    """
    if isinstance(statement, NativeCall):
        found = [statement.about]
    else:
        found = [node.about for node in live]
        found += [r.about for r in statement.reduced if r.value in stored]
    return list(dict.fromkeys([node for node in found if node is not None]))


def _kernel_nodes(nodes: Sequence[Sequence[Apply]]) -> list[Apply]:
    """Return a node for each kernel. nodes: those that each kernel computes."""
    known, found = set[Apply](), []
    for own in nodes:
        found.append(_kernel_node(own, [node for node in own if node not in known]))
        known |= {*own}
    return found


def _kernel_node(nodes: Sequence[Apply], counted: Sequence[Apply]) -> Apply:
    """Return a node for a kernel, with the variables that it reads and writes."""
    own = {v for node in nodes for v in node.outputs}
    read = [v for node in nodes for v in node.inputs if v not in own]
    inputs = tuple(dict.fromkeys([v for v in read if not isinstance(v, Constant)]))
    types = tuple([v.type for v in nodes[-1].outputs]) if nodes else ()
    return build_node(NativeKernel(nodes, counted), inputs, types, None)


def _words(n: int) -> list[str]:
    """Return lines that put the addresses of words of the frame into %f0, %f1, …"""
    lines = []
    for k in range(n):
        lines += [
            f"%p{k} = getelementptr i64, ptr %places, i64 {k}",
            f"%n{k} = load i64, ptr %p{k}",
            f"%f{k} = getelementptr i64, ptr %frame, i64 %n{k}",
        ]
    return lines


def _clock(name: str) -> list[str]:
    """Return lines that read the clock, in nanoseconds."""
    return [
        f"%{name}_found = call i32 @{CLOCK_UNIT}(i32 {CLOCK_MONOTONIC}, ptr %time)",
        f"%{name}_s = load i64, ptr %time",
        f"%{name}_rest = load i64, ptr %second",
        f"%{name}_ns = mul i64 %{name}_s, 1000000000",
        f"%{name} = add i64 %{name}_ns, %{name}_rest",
    ]


def _kernel(lines: Sequence[str], calls: bool, result: str = "0") -> Kernel:
    declared = (f"declare i32 @{CLOCK_UNIT}(i32, ptr)",) if calls else ()
    text = "".join([line + "\n" if line.endswith(":") else f"  {line}\n" for line in lines])
    return Kernel(f"{text}  ret i64 {result}\n", declared, (CLOCK_UNIT,) if calls else ())


_ENTRY = [
    "entry:", "%time = alloca [2 x i64]", "%second = getelementptr i64, ptr %time, i64 1",
]  # fmt: skip
_TICK = _kernel(
    [
        *_ENTRY, *_words(4), *_clock("before"),
        "%next = load ptr, ptr %f0", "%then = load i64, ptr %f1", "%ran = load ptr, ptr %f2",
        "%none = icmp eq ptr %ran, null", "br i1 %none, label %start, label %stop", "stop:",
        "%took = sub i64 %before, %then", "%old = atomicrmw add ptr %ran, i64 %took monotonic",
        "br label %start", "start:", "%runs = getelementptr i64, ptr %next, i64 1",
        "%more = atomicrmw add ptr %runs, i64 1 monotonic", "store ptr %next, ptr %f2",
        "%lost = load ptr, ptr %f3", *_clock("after"), "%cost = sub i64 %after, %before",
        "%sum = atomicrmw add ptr %lost, i64 %cost monotonic", "store i64 %after, ptr %f1",
    ],
    True,
)  # fmt: skip
_HELD = _kernel(
    [
        "entry:", *_words(2), "%bytes = load i64, ptr %f0", "%cell = load ptr, ptr %f1",
        "%old = atomicrmw max ptr %cell, i64 %bytes monotonic",
    ],
    False,
)  # fmt: skip
_LENGTH = _kernel(
    [
        "entry:", *_words(2), "%length = load i64, ptr %f0", "%cell = load ptr, ptr %f1",
        "store i64 %length, ptr %cell",
    ],
    False,
)  # fmt: skip
_TWICE = _kernel(
    [*_ENTRY, *_clock("before"), *_clock("after"), "%between = sub i64 %after, %before"],
    True, "%between",
)  # fmt: skip
