"""`Composite`: several scalar ops as one op, which an `Elemwise` applies to arrays.

A composite is stored as a straight-line program, not as a graph. Its values are numbered: inputs,
then constants, then one value per step. A step is `(op, numbers of its arguments)`. Two composites
with equal programs are one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import ForeignObjectError, MissingInputError, describe
from rewrite_engine.graph.inner import HasInnerGraph, InnerGraph
from rewrite_engine.graph.intern import rebuild
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.scalar.dtype import DISCRETE
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.scalar.type import ScalarType

Instruction = tuple[ScalarOp, tuple[int, ...]]

#: a longer program prints as a summary
_PRINTED_STEPS = 24


class Composite(HasInnerGraph, ScalarOp):
    """Function from scalar variables `inputs` to `outputs`, as one op.

    Its graph (`fgraph`) is built from the program at its first use, for the dtypes of the program.

    Attributes: nin; constants, as (dtype, bytes); steps; out_refs, the numbers of the outputs.
    Nested composites are flattened and equal steps merged. Raises `MissingInputError` if an output
    depends on another root variable.

    >>> from rewrite_engine.scalar import ScalarType, exp
    >>> x, y = ScalarType("float64")("x"), ScalarType("float64")("y")
    >>> Composite([x, y], [exp(x) * y])
    Composite{mul(exp(i0), i1)}
    """

    __props__ = ("nin", "constants", "steps", "out_refs")
    nin: int
    holomorphic = False

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        program = _Program(inputs)
        for node in toposort(outputs, inputs):
            program.append(node)
        dtypes = tuple([x.type.dtype for x in inputs])
        self._set(len(inputs), *program.finish(outputs), dtypes)

    @classmethod
    def from_program(
        cls,
        nin: int,
        constants: Sequence[tuple[str, bytes]],
        steps: Sequence[Instruction],
        out_refs: Sequence[int],
        dtypes: Sequence[str] = (),
    ) -> Composite:
        """Return the composite with this program, whose steps are in an executable order.

        dtypes: input dtypes of its graph (float64 by default); the program works for others, too.
        """
        made = cls.__new__(cls)
        made._set(nin, tuple(constants), tuple(steps), tuple(out_refs), tuple(dtypes))
        return rebuild(cls, made.__dict__)  # type: ignore[no-any-return]

    def _set(
        self,
        nin: int,
        constants: tuple[Any, ...],
        steps: tuple[Instruction, ...],
        out_refs: tuple[int, ...],
        dtypes: tuple[str, ...],
    ) -> None:
        ScalarOp.__init__(self, "Composite", nin, cost=sum(op.cost for op, _ in steps))
        self.constants = constants
        self.steps = steps
        self.out_refs = out_refs
        self.nout = len(out_refs)
        self.made_for = dtypes or ("float64",) * nin

    @property
    def fgraph(self) -> InnerGraph:  # type: ignore[override]
        """The program as a graph."""
        if self._fgraph is None:
            self._fgraph = InnerGraph(*self.to_graph(self.made_for))
        return self._fgraph

    _fgraph: InnerGraph | None = None

    def clone(self, fgraph: Any = None) -> Any:
        """Return the composite of another graph, or this one if `fgraph` is None."""
        return self if fgraph is None else Composite(fgraph.inputs, fgraph.outputs)

    def __reduce__(self) -> Any:
        program = (self.nin, self.constants, self.steps, self.out_refs, self.made_for)
        return Composite.from_program, program

    def constant_values(self) -> list[Any]:
        """The constants as NumPy scalars."""
        return [np.frombuffer(data, dtype)[0] for dtype, data in self.constants]

    def result_dtypes(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the output dtypes for these input dtypes."""
        self.check_arity(len(dtypes))
        known = [*dtypes, *(dtype for dtype, _ in self.constants)]
        for op, refs in self.steps:
            known.append(op.result_dtypes(tuple([known[r] for r in refs]))[0])
        return tuple([known[r] for r in self.out_refs])

    def follows_floatX(self, dtypes: Iterable[Any]) -> bool:
        """Return whether the result dtypes may depend on floatX, as a step is a quotient."""
        return any([op.follows_floatX(()) for op, _ in self.steps])

    def to_graph(self, dtypes: Sequence[str]) -> tuple[list[Variable], list[Variable]]:
        """Return fresh scalar inputs of these dtypes and the outputs computed from them."""
        inputs = [ScalarType(d)(f"i{k}") for k, d in enumerate(dtypes)]
        values = self.replay(inputs)
        return inputs, [values[r] for r in self.out_refs]

    def replay(self, inputs: Sequence[Any], lift: Any = None, given: Any = None) -> list[Any]:
        """Apply the steps to variables and return all numbered values; `lift(op)` builds a step.

        given: {number: value} for steps whose values exist already.
        """
        values: list[Any] = [*inputs, *self.constant_values()]
        for op, refs in self.steps:
            known = given.get(len(values)) if given else None
            if known is None:
                known = (lift(op) if lift else op)(*[values[r] for r in refs])
            values.append(known)
        return values

    def impl(self, *arrays: Any, out: Any = None) -> Any:
        """Compute the first output."""
        return self.impl_all(*arrays, outs=[out] + [None] * (self.nout - 1))[0]

    def impl_all(self, *arrays: Any, outs: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Compute all outputs on arrays, into the arrays of `outs` that are not None."""
        values: list[Any] = [*arrays, *(np.asarray(c) for c in self.constant_values())]
        last_use = {r: i for i, (_, refs) in enumerate(self.steps) for r in refs}
        kept = set(self.out_refs)
        for i, (op, refs) in enumerate(self.steps):
            values.append(np.asarray(op.impl(*[values[r] for r in refs])))
            for r in refs:
                if last_use[r] == i and r not in kept:
                    values[r] = None
        return self._results(values, outs or [None] * self.nout)

    def _results(self, values: list[Any], outs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs among the values; no two of them share memory, nor with inputs or
        constants.
        """
        taken = set(range(len(values) - len(self.steps)))
        results = []
        for r in self.out_refs:
            results.append(np.array(values[r]) if r in taken else values[r])
            taken.add(r)
        return tuple([_place(value, out) for value, out in zip(results, outs)])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute on NumPy scalars."""
        for cell, var, value in zip(
            output_storage, node.outputs, self.impl_all(*inputs), strict=True
        ):
            cell[0] = var.type.numpy_dtype.type(value)

    def pullback(  # type: ignore[override]
        self, m: Any, gs: Sequence[Any], zs: Sequence[Any], xs: Sequence[Any], wanted: Sequence[int]
    ) -> list[Any]:
        """Differentiate the program backwards, step by step (see `ScalarOp.pullback`)."""
        values = self.replay(xs, m.lift, dict(zip(self.out_refs, zs)))
        grads: list[Any] = [None] * len(values)
        for ref, g in zip(self.out_refs, gs):
            grads[ref] = _plus(grads[ref], g)
        first = len(values) - len(self.steps)
        leads = self._leads_from(wanted)
        for number in range(len(values) - 1, first - 1, -1):
            if grads[number] is None or values[number].type.dtype in DISCRETE:
                continue
            op, refs = self.steps[number - first]
            args, some = [values[r] for r in refs], [k for k, r in enumerate(refs) if r in leads]
            parts = op.pullback(m, [grads[number]], [values[number]], args, some)
            for k, part in zip(some, parts):
                grads[refs[k]] = _plus(grads[refs[k]], part)
        return [grads[i] for i in wanted]

    def _leads_from(self, inputs: Iterable[int]) -> set[int]:
        """Return the numbers of the given inputs and of all values that depend on them."""
        found = set(inputs)
        for number, (_, refs) in enumerate(self.steps, self.nin + len(self.constants)):
            if not found.isdisjoint(refs):
                found.add(number)
        return found

    def __str__(self) -> str:
        if len(self.steps) > _PRINTED_STEPS:
            return f"Composite{{{self.nin} inputs, {len(self.steps)} steps, {self.nout} outputs}}"
        return f"Composite{{{', '.join(self._texts())}}}"

    def _texts(self) -> list[str]:
        """Return the outputs as text; a value that is used several times gets a name, as in `t0 =
        exp(i0)`.
        """
        uses = [r for _, refs in self.steps for r in refs] + list(self.out_refs)
        texts = [f"i{k}" for k in range(self.nin)] + [str(c) for c in self.constant_values()]
        shared: list[str] = []
        for op, refs in self.steps:
            text = f"{op}({', '.join(texts[r] for r in refs)})"
            if uses.count(len(texts)) > 1:
                name = f"t{len(shared)}"
                shared.append(f"{name} = {text}")
                text = name
            texts.append(text)
        return shared + [texts[r] for r in self.out_refs]


class _Program:
    """Collector of steps, which numbers every scalar variable."""

    def __init__(self, inputs: Sequence[Variable]) -> None:
        for x in inputs:
            if not isinstance(x.type, ScalarType):
                raise ForeignObjectError(
                    f"each input of a Composite must be a scalar variable, not {describe(x)}"
                )
        self.refs: dict[Any, Any] = {x: ("input", i) for i, x in enumerate(inputs)}
        self.nin = len(inputs)
        self.constants: dict[tuple[str, bytes], Any] = {}
        self.steps: dict[tuple[ScalarOp, tuple[Any, ...]], Any] = {}

    def ref(self, x: Variable) -> Any:
        """Return the provisional number of a variable: (kind, count)."""
        found = self.refs.get(x)
        if found is not None:
            return found
        if not isinstance(x, Constant):
            raise MissingInputError(
                f"the graph of a Composite depends on {describe(x)}: add it to the inputs"
            )
        return self.constant(x.type.dtype, x.data.tobytes())

    def constant(self, dtype: str, data: bytes) -> Any:
        return self.constants.setdefault((dtype, data), ("constant", len(self.constants)))

    def step(self, op: ScalarOp, refs: tuple[Any, ...]) -> Any:
        return self.steps.setdefault((op, refs), ("step", len(self.steps)))

    def append(self, node: Apply) -> None:
        """Add a node; a composite is added step by step."""
        args = [self.ref(x) for x in node.inputs]
        op = node.op
        if not isinstance(op, Composite):
            self.refs[node.outputs[0]] = self.step(op, tuple(args))
            return
        values = args + [self.constant(*c) for c in op.constants]
        for inner, refs in op.steps:
            values.append(self.step(inner, tuple([values[r] for r in refs])))
        for out, r in zip(node.outputs, op.out_refs, strict=True):
            self.refs[out] = values[r]

    def finish(self, outputs: Sequence[Variable]) -> tuple[Any, Any, Any]:
        """Return constants, steps and outputs with final numbers."""
        wanted = [self.ref(x) for x in outputs]
        start = {"input": 0, "constant": self.nin, "step": self.nin + len(self.constants)}
        steps = [(op, tuple([start[k] + n for k, n in refs])) for op, refs in self.steps]
        return tuple(self.constants), tuple(steps), tuple([start[k] + n for k, n in wanted])


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _place(value: Any, out: Any) -> Any:
    if out is None:
        return value
    np.copyto(out, value)
    return out
