"""Body of a generated function: one physical line per node, with reused registers.

`Lines` walks over the steps of a plan and gets the code of each from `lower`. The code around the
body (parameters, checks, state, errors) is in `link/shell.py`; decisions made before are in
`link/plan/`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.link.code import Body, Chunk
from rewrite_engine.link.failure import mismatch
from rewrite_engine.link.names import Names
from rewrite_engine.link.plan import ByClass, Conditions, LengthCheck, NodePlan
from rewrite_engine.link.vm.context import Context
from rewrite_engine.link.vm.lower import lower
from rewrite_engine.link.vm.workspace import WorkspacePool

if TYPE_CHECKING:
    from rewrite_engine.link.vm.linker import VMCode

FEW = 8  # variables that are looked through one after the other
MAX_CHUNK_NODES = 1000  # nodes in one function, when there are many
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class Lines(Body):
    """Lines of all nodes, in chunks. pool: where large temporaries are kept between calls."""

    def __init__(
        self,
        code: VMCode,
        names: Names,
        places: dict[Variable, str],
        pool: WorkspacePool | None = None,
    ) -> None:
        super().__init__(names, places)
        self.code, self.plan, self.pool = code, code.plan, pool
        self.scalars: dict[Variable, str] = {}  # NumPy scalars of variables that are arrays
        self.numbers: dict[Variable, str] = {}  # NumPy scalars of constants
        self.form.update((v, "scalar") for v in code.scalars)
        if pool is not None:
            self.carried = ("_workspace",)
            self.opening = [f"_workspace = {names.add(pool.take, 'take')}()"]
            self.closing = [f"{names.add(pool.free.append, 'give')}(_workspace)"]
        self.only_if: Conditions | None = None  # of the last node
        self.inside: list[Variable] = []  # those of `scalars` that are there where it holds
        self.lower = ByClass(lower)
        steps = code.plan.steps
        for i, step in enumerate(steps):
            if i and i % MAX_CHUNK_NODES == 0 and len(steps) - i > MAX_CHUNK_NODES // 2:
                self._close(self.chunks[-1])
                self.chunks.append(Chunk())
            self._node(i, step)
            if step.traits.warns:
                self.warns = True
        if len(self.chunks) > 1:
            self._close(self.chunks[-1])

    def _close(self, chunk: Chunk) -> None:
        """Record which registers a complete chunk takes from others and leaves to them."""
        used = {name for about in chunk.about if about for name in about[1]}
        used.update(*[_IDENTIFIER.findall(line) for line in chunk.lines])
        chunk.reads = sorted(used & self.arguments)
        chunk.takes = sorted(used & self.left)
        chunk.leaves = sorted(n for n in used if n in self.registers and n not in self.free)
        if self.plan.conditions:
            self._open(chunk, [n for n in chunk.leaves if n not in chunk.takes])
        self.left.difference_update(chunk.takes)
        self.left.update(chunk.leaves)

    def _open(self, chunk: Chunk, left: list[str]) -> None:
        """Initialize the registers that are left, even if nothing is computed."""
        if left:
            chunk.lines.insert(0, f"{' = '.join(left)} = None")
            chunk.about.insert(0, None)

    # --- registers ----------------------------------------------------------------------------

    def number(self, v: Constant) -> str:
        """Return the global name of a 0-d constant as a NumPy scalar."""
        found = self.numbers.get(v)
        if found is None:
            found = self.numbers[v] = self.names.add(v.data[()], v.name or "c")
        return found

    def _release(self, v: Variable) -> list[str]:
        """Release a variable; return its registers (a parameter keeps its name)."""
        freed = []
        name = self.place.pop(v, None)
        if name in self.registers:
            freed.append(name)
        if self.scalars:
            name = self.scalars.pop(v, None)
            if name is not None:
                freed.append(name)
        if self.form:
            self.form.pop(v, None)
        return freed

    # --- nodes --------------------------------------------------------------------------------

    def _node(self, i: int, step: NodePlan) -> None:
        node, chunk = step.node, self.chunks[-1]
        only_if = self.plan.conditions.get(node) if self.plan.conditions else None
        if only_if != self.only_if or (only_if is not None and not chunk.lines):
            self._turn(only_if)
        known = len(self.scalars)
        ctx = Context(self, step)
        lines = ctx.lines
        if step.checks and getattr(node.op, "stretches", True):  # (else NumPy compares)
            lines += self._checks(step)
        expression = self.lower[node.op.__class__](node.op, node, ctx)
        if only_if is not None:
            self.inside += list(self.scalars)[known:]
        output, dead = self._finish(step, ctx)
        self.made[i] = output
        if expression is not None:
            lines.append(f"{output} = {expression}")
        if dead:
            lines[-1] += f"; {' = '.join(dead)} = None"
        if only_if is not None:
            lines = ["    " + line for line in lines]
        chunk.lines += lines
        chunk.about += [(i, ctx.inputs)] * len(lines)

    def _turn(self, only_if: Conditions | None) -> None:
        """Begin lines that run under other conditions."""
        self.only_if = only_if
        for v in self.inside:
            name = self.scalars.pop(v, None)
            if name is not None:
                self.free[name] = None
        self.inside = []
        if only_if is not None:
            ways = [[("" if ok else "not ") + self.refer(c) for c, ok in way] for way in only_if]
            tests = " or ".join([" and ".join(way) for way in ways])
            self.chunks[-1].lines.append(f"if {tests or False}:")
            self.chunks[-1].about.append(None)

    def _finish(self, step: NodePlan, ctx: Context) -> tuple[str, list[str]]:
        """Assign registers to the outputs of a node and free those of dead variables; return (the
        registers, those to empty).
        """
        outputs = step.node.outputs
        if len(step.dies) == len(outputs) == 1 and not (self.form or self.scalars or ctx.own):
            v, out = step.dies[0], outputs[0]  # nearly every node: its output takes the place of v
            if v is not out and self.place.get(v) in self.registers:
                if out.type.ndim != 0:
                    self.place[out] = name = self.place.pop(v)
                    return name, []
        unread: list[Variable] = []
        freed: list[str] = []
        heavy: list[str] = []
        own: Any = outputs if len(outputs) < FEW else set(outputs)
        for v in step.dies:
            if v in own:
                unread.append(v)
                continue
            registers = self._release(v)
            freed += registers
            if v.type.ndim != 0:
                heavy += registers
        pool = [] if ctx.own is not None else freed[::-1]
        names: list[str] = []
        for k, v in enumerate(outputs):
            given = ctx.own if k == 0 else None
            self.place[v] = name = given or (pool.pop() if pool else self.register())
            names.append(name)
            if v.type.ndim == 0:
                self.form[v] = ctx.form
        taken: Any = names if len(names) < FEW else set(names)
        for r in freed:
            if r not in taken:
                self.free[r] = None
        dead = [r for r in heavy if r not in taken] if heavy else heavy
        for v in unread:
            registers = self._release(v)
            self.free.update([(r, None) for r in registers])
            dead += registers
        return ", ".join(names), dead

    def _checks(self, step: NodePlan) -> list[str]:
        """Write the fewest comparisons of dimensions that are not known to be equal yet."""
        node, lines = step.node, []
        pairs: dict[tuple[int, int | None], list[LengthCheck]] = {}
        for check in step.checks:
            pairs.setdefault((check.i, check.other), []).append(check)
        for (i, other), checks in pairs.items():
            x, y = node.inputs[i], None if other is None else node.inputs[other]
            if y is not None and len(checks) > 1 and x.type.broadcastable == y.type.broadcastable:
                lines.append(f"{self.refer(x)}.shape != {self.refer(y)}.shape")
                continue
            for check in checks:
                right = str(check.length) if y is None else self._length(y, check.other_axis)
                lines.append(f"{self._length(x, check.axis)} != {right}")
        return [f"if {line}: {self.names.add(mismatch, 'mismatch')}()" for line in lines]

    def _length(self, v: Variable, axis: int) -> str:
        """Return the cheapest expression for the length of an axis."""
        name = self.refer(v)
        return f"len({name})" if axis == 0 else f"{name}.shape[{axis}]"
