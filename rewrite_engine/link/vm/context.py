"""`Context`: information for `lower` about the node it writes code for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.vm.workspace import fit

if TYPE_CHECKING:
    from rewrite_engine.link.plan import Buffer, NodePlan
    from rewrite_engine.link.vm.emit import Lines


class Context:
    """Names of one node's inputs, and the place of its result.

    inputs: all of them, as `value` returns them. target: a register or buffer that output 0 must be
    written into; None: allocate. form: for a 0-d output "scalar" (a NumPy scalar), "array", or
    "any". copies: whether a transposed view must be copied (see `Traits.permutes`). name: returns a
    name for an object that the code needs, similar to a hint.
    """

    __slots__ = ("body", "copies", "form", "inputs", "lines", "name", "node", "own", "target")

    def __init__(self, body: Lines, step: NodePlan) -> None:
        self.body = body
        self.node: Apply = step.node
        self.form = "any"
        self.copies = step.copies
        self.lines: list[str] = []
        self.own: str | None = None
        self.target: str | None = None
        self.name = body.names.add
        place = body.place
        self.inputs = tuple([place.get(v) or body.refer(v) for v in step.node.inputs])
        if step.into is not None:
            self.target = self.array(step.into) if body.form else self.inputs[step.into]
        elif body.pool is not None and step.buffer is not None:
            self.target = self._buffer(step.buffer)

    def _buffer(self, buffer: Buffer) -> str:
        out = self.node.outputs[0]
        dtype, function = self.name(out.type.numpy_dtype, out.type.dtype), self.name(fit, "fit")
        lengths = [
            f"{self.value(k)}.shape" + ("" if axis is None else f"[{axis}]")
            for k, axis in buffer.like
        ]
        whole = buffer.like[0][1] is None
        shape = lengths[0] if whole else f"({', '.join(lengths)},)"
        return f"{function}(_workspace, {buffer.slot}, {shape}, {dtype})"

    def value(self, i: int) -> str:
        """Return input `i`; if it is 0-d, in any form."""
        return self.inputs[i]

    def array(self, i: int) -> str:
        """Return input `i`; if it is 0-d, as an array."""
        name = self.inputs[i]
        if self.body.form.get(self.node.inputs[i], "array") == "array":
            return name
        return f"{self.name(np.asarray, 'asarray')}({name})"

    def scalar(self, i: int) -> str:
        """Return input `i`, which is 0-d, as a NumPy scalar."""
        v, body = self.node.inputs[i], self.body
        if isinstance(v, Constant):
            return body.number(v)
        if body.form.get(v) == "scalar":
            return self.inputs[i]
        found = body.scalars.get(v)
        if found is None:
            found = body.scalars[v] = body.register()
            self.lines.append(f"{found} = {self.inputs[i]}[()]")
        return found

    def has_result_shape(self, i: int) -> bool:
        """Return whether input `i` has exactly the shape of output 0."""
        return self.body.plan.dims.same(self.node.inputs[i], self.node.outputs[0])

    def out(self) -> str:
        """Return the register of output 0, for code of several statements; distinct from those of
        the inputs.
        """
        if self.own is None:
            self.own = self.body.register()
        return self.own

    def line(self, text: str) -> None:
        """Write a statement before the one that assigns the result."""
        self.lines.append(text)
