"""Loops on the VM: the lines of a step inside one `for`, with a local name for each sequence, each
recurrent value, and each result.

The lines are those of any graph (`code.py`); this module writes the code around them. Numbers are
NumPy scalars throughout. Values of a step are copied into the results. Recurrent values are copied
only if the next step overwrites them and others may see them, or, at the end, if others may see
them.
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.link.linker import whole
from rewrite_engine.link.quiet import QUIET, enter, leave, undo
from rewrite_engine.link.shell import Shell

if TYPE_CHECKING:
    from rewrite_engine.link.vm.linker import VMCode

INITIAL_STEPS = (
    64  # steps for which there is room at first where nobody knows how many there will be
)


class LoopShell(Shell):
    """Writer of the function of an op that runs its graph step by step
    (`HasInnerGraph.stepwise`).
    """

    code: VMCode

    def __init__(self, op: Any, code: VMCode, large: bool = False) -> None:
        code.scalars = {v for v in code.inputs if v.type.ndim == 0}
        super().__init__(whole(op), code, True, large)
        self.op = op
        names = list(self.places.values())
        self.slices = names[: op.sequences]
        self.kept = names[op.sequences : op.sequences + op.carried]
        self.sequences = [self.names.local(f"all_{name}") for name in self.slices]
        self.steps = self.names.local("steps")
        self.t = self.report.step = self.names.local("t")
        self.room = self.names.local("room")
        self.given = [self.steps, *self.sequences, *names[op.sequences :]]
        end = len(code.outputs) - op.until
        self.results = code.outputs[op.carried : end]
        self.owned = self._owned()
        self.traces = [self.names.local(f"trace_{j}") for j in range(len(self.results))]

    def second(self) -> LoopShell:
        return LoopShell(self.op, self.code, True)

    def _function(self) -> FunctionType:
        add, text = self.names.add, self.text
        start = len(text.lines)
        text.add([f"def {self.name}({', '.join(self.given)}):"], 0)
        text.add(self._start(), 1)
        text.add(self._guard(), 1)
        text.add(self.body.opening, 1)
        text.add([f"{trace} = {self._room(v)}" for v, trace in self._pairs()], 1)
        text.add([f"{self.room} = 0"] if self.op.until else [], 1)
        text.add(["_token = None", "try:"], 1)
        text.add([f"_token = {add(enter, 'enter')}({add(QUIET, 'QUIET')})", self._for()], 2)
        self._steps(3)
        text.add(self._end_of_step(), 3)
        results = self._last()
        text.add(results[:-1], 2)
        text.add(["except BaseException as _error:"], 1)
        lines = [f"{add(undo, 'undo')}(_token)", f"{add(self.report, 'report')}(_error)", "raise"]
        text.add(lines, 2)
        text.add([f"{add(leave, 'leave')}(_token)", *self.body.closing, results[-1]], 1)
        return self._define(start)

    def _start(self) -> list[str]:
        """Leave loops without steps, or with too short sequences, to the op; convert 0-d arrays to
        numbers.
        """
        if self.large:
            return []
        few = [f"{self.steps} < 1", *[f"len({x}) < {self.steps}" for x in self.sequences]]
        none = self.names.add(self.op.runs(None, None), "no_steps")
        numbers = [self.places[v] for v in self.code.inputs[self.op.sequences :]
                   if v in self.code.scalars]  # fmt: skip
        return [
            f"{self.steps} = int({self.steps})",
            f"if {' or '.join(few)}: return {none}({', '.join(self.given)})",
            *[f"{name} = {name}[()]" for name in numbers],
            *[f"{name} = {self._leaving(v, name, True)}" for name, v in self._kept(self.owned)],
        ]

    def _guard(self) -> list[str]:
        """Read the first slices, if they decide which of two functions is better."""
        lines = [] if self.large else super()._guard()
        pairs = zip(self.slices, self.sequences, strict=True)
        return [f"{v} = {x}[0]" for v, x in pairs if any([f"{v}." in s for s in lines])] + lines

    def _for(self) -> str:
        span = f"range({self.steps})"
        if not self.slices:
            return f"for {self.t} in {span}:"
        targets, sources = ", ".join(self.slices), ", ".join(self.sequences)
        return f"for {self.t}, {targets} in zip({span}, {sources}):"

    # --- memory -------------------------------------------------------------------------------

    def _owned(self) -> set[int]:
        """Return the indices of recurrent values in unshared memory: those that a step overwrites
        (numbers have no memory), and those that replace them. (A value that a branch may share
        counts as one.)
        """
        storage, first = self.code.storages.of, self.op.sequences
        kept = self.code.inputs[first : first + self.op.carried]
        self.starts: dict[int, set[int]] = {}
        for i, v in enumerate(kept):
            self.starts.setdefault(id(storage(v)), set()).add(i)
        self.ends = [id(storage(v)) for v in self.code.outputs[: self.op.carried]]
        destroyed = self.code.storages.destroyed()
        left = [i for i, v in enumerate(kept) if v.type.ndim != 0 and id(storage(v)) in destroyed]
        owned: set[int] = set()
        while left:
            i = left.pop()
            owned.add(i)
            left += self.starts.get(self.ends[i], set()) - owned
        return owned

    def _alone(self, i: int) -> bool:
        """Return whether the new recurrent value with index i is in unshared memory."""
        end, storage = self.ends[i], self.code.storages.of(self.code.outputs[i])
        ours = storage.ours or (storage.borrowed and self.owned >= self.starts.get(end, {-1}))
        others = [j for j, other in enumerate(self.ends) if other == end and j != i]
        return ours and not any([j < i or j not in self.owned for j in others])

    # --- results ------------------------------------------------------------------------------

    def _kept(self, numbers: set[int]) -> list[tuple[str, Variable]]:
        return [(self.kept[i], self.code.outputs[i]) for i in sorted(numbers)]

    def _pairs(self) -> list[tuple[Variable, str]]:
        return list(zip(self.results, self.traces, strict=True))

    def _room(self, v: Variable) -> str:
        """Write the array for a result of all steps, if its size is known before the first."""
        if self.op.until or v.type.ndim:
            return "None"
        return f"{self.names.add(np.empty, 'empty')}({self.steps}, {self._dtype(v)})"

    def _dtype(self, v: Variable) -> str:
        return self.names.add(v.type.numpy_dtype, v.type.dtype)

    def _end_of_step(self) -> list[str]:
        lines = self._grow()
        lines += [f"{trace}[{self.t}] = {self._value(v)}" for v, trace in self._pairs()]
        moves = []
        for i, (name, v) in enumerate(zip(self.kept, self.code.outputs, strict=False)):
            value = self._value(v)
            if i in self.owned and not self._alone(i):
                value = self._leaving(v, value, True)
            if value != name:
                moves.append((name, value))
        if moves:
            left, right = zip(*moves, strict=True)
            lines.append(f"{', '.join(left)} = {', '.join(right)}")
        if self.op.until:
            lines.append(f"if {self._value(self.code.outputs[-1])}: break")
        return lines or ["pass"]

    def _grow(self) -> list[str]:
        """Allocate space for results: for all steps when the first shows their shapes; if the
        number of steps is unknown, for twice as many as there are.
        """
        t, room, until = self.t, self.room, self.op.until
        if not any([until or v.type.ndim for v in self.results]):
            return []
        new = self.names.add(roomier, "roomier")
        size = room if until else self.steps
        lines = [f"{room} = min({self.steps}, 2 * {t} or {INITIAL_STEPS})"] if until else []
        checks = []
        for j, (v, trace) in enumerate(self._pairs()):
            value = self._value(v)
            if until or v.type.ndim:
                lines.append(f"{trace} = {new}({trace}, {size}, {value}, {self._dtype(v)})")
            if self._may_change(v):
                shape = self.names.local(f"shape_{j}")
                uneven = self.names.add(self.op.uneven, "uneven")
                lines.append(f"{shape} = {value}.shape")
                other = f"{t} and {value}.shape != {shape}"
                checks.append(f"if {other}: {uneven}({j}, {shape}, {value}.shape)")
        return [*checks, f"if {t} == {room}:" if until else f"if not {t}:",
                *[f"    {line}" for line in lines]]  # fmt: skip

    def _may_change(self, v: Variable) -> bool:
        """Return whether a result may change its shape between steps: it does not if its lengths
        are known, or come from a sequence's elements, or from values that are the same in all
        steps.
        """
        dims, inputs, op = self.code.plan.dims, self.code.inputs, self.op
        same = {
            d
            for x in (*inputs[: op.sequences], *inputs[op.sequences + op.carried :])
            for d in dims.roots(x)
        }
        return any([d not in same and dims.length_of(d) is None for d in dims.roots(v)])

    def _value(self, v: Variable) -> str:
        """Return the value that the step leaves; a number is a NumPy scalar."""
        if v.type.ndim != 0:
            return self.body.refer(v)
        if isinstance(v, Constant):
            return self.names.add(v.data[()], v.name or "c")
        name = self.body.refer(v)
        return name if self.body.form.get(v) == "scalar" else f"{name}[()]"

    def _last(self) -> list[str]:
        """Write statements that make the last recurrent values ours; the last one returns all."""
        lines, found = list[str](), list[str]()
        for i, (name, v) in enumerate(zip(self.kept, self.code.outputs, strict=False)):
            self.body.form[v] = "scalar"
            value = self._leaving(v, name, i not in self.owned and not self._alone(i))
            lines += [f"{name} = {value}"] if value != name else []
            found.append(name)
        if self.op.until:
            found += [f"{trace}[:{self.t} + 1]" for trace in self.traces]
            found.append(f"{self.names.add(np.array, 'array')}({self.t} + 1)")
        else:
            found += self.traces
        return [*lines, f"return {found[0]}" if len(found) == 1 else f"return [{', '.join(found)}]"]


def roomier(old: Any, steps: int, value: Any, dtype: Any) -> Any:
    """Return an array for the results of more steps, which are like a value, with the present
    results.
    """
    new = np.empty((steps, *np.shape(value)), dtype)
    if old is not None:
        new[: len(old)] = old
    return new
