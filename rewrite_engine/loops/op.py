"""`Scan`: a graph that runs for each step of a loop.

A step is a function of the slices of sequences, of carried values, and of inputs that all steps
share. It returns new carried values, and results that are stored for all steps. Everything else
(several taps, updates, counters) is built from that. Derivatives are loops (`derivatives.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.errors import ShapeError, message
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.inner import HasInnerGraph, connections
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.loops.batch import Along
from rewrite_engine.loops.derivatives import Backwards, changes
from rewrite_engine.loops.no_steps import ShapesOfNoSteps
from rewrite_engine.tensor.type import TensorType

STEPS = TensorType("int64", ())


class Scan(HasInnerGraph, Op):
    """Loop as an op.

    Inputs: the number of steps (int64), sequences (of at least that length), initial carried
    values, and inputs that all steps share. Outputs: the last carried values; results of all steps,
    along a new first dimension; with `until` the number of steps that ran.

    The inner graph has as inputs slices, carried values and shared inputs; as outputs carried
    values, results and, with `until`, whether this was the last step. sequences, carried: their
    numbers. name: printed name. truncate: number of last steps over which gradients are propagated;
    -1: all. mode: compilation mode, if not that of the surrounding function; rules then leave the
    loop unchanged. derived: whether it is the gradient of another loop, so that errors of unused
    parts are not needed. Raises `ShapeError` for a sequence that is too short, or a negative number
    of steps.
    """

    __props__ = ("structure", "sequences", "carried", "until", "truncate", "name", "mode",
                 "derived")  # fmt: skip
    nout: int
    stepwise = True

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        sequences: int,
        carried: int,
        until: bool = False,
        truncate: int = -1,
        name: str | None = None,
        mode: Any = None,
        derived: bool = False,
    ) -> None:
        self.sequences, self.carried, self.until = sequences, carried, until
        self.truncate, self.name, self.mode, self.derived = truncate, name, mode, derived
        kept = [x.type.filter_variable(v) for x, v in zip(inputs[sequences:], outputs[:carried])]
        self.hold(inputs, [*kept, *outputs[carried:]])
        self.nout = len(outputs)

    def __str__(self) -> str:
        return self.name or "Scan"

    @property
    def info(self) -> Any:
        """The numbers of parts of each kind, under the names that PyTensor programs use."""
        return hooks.scan_info(self)

    @property
    def passed(self) -> Sequence[int | None]:
        """The mapping of inputs shared by all steps to inputs of the op."""
        first = self.sequences + self.carried
        return [None if i < first else i + 1 for i in range(len(self.inner_inputs))]

    @property
    def given_away(self) -> Sequence[int]:  # type: ignore[override]
        """The carried inputs, which a step may overwrite."""
        return range(self.sequences, self.sequences + self.carried)

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to a number of steps and the other inputs. Raise `ShapeError`, and the
        errors of types for values of other types.
        """
        steps, *rest = inputs
        steps = STEPS.filter_variable(pt.as_tensor_variable(steps, dtype="int64"))
        n = int(steps.data) if isinstance(steps, Constant) else None
        if n is not None and n < 0:
            raise ShapeError(message(f"the number of steps must not be negative: {n}", op=self))
        own = self.inner_inputs
        wanted = [longer(v.type) for v in own[: self.sequences]]
        wanted += [v.type for v in own[self.sequences :]]
        variables = [t.filter_variable(x) for t, x in zip(wanted, rest, strict=True)]
        outs, carried = self.inner_outputs, self.carried
        length = None if self.until else n
        types = [v.type for v in own[self.sequences :][:carried]]
        types += [longer(v.type, length) for v in outs[carried : len(outs) - self.until]]
        types += [STEPS] * self.until
        return build_node(self, (steps, *variables), tuple(types), user_origin())

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return known lengths, those that a step determines, and the number of steps; others are
        read from the output.
        """
        found: list[Any] = [
            tuple(pt.shape_tuple(v)) if isinstance(v.type, TensorType) else None
            for v in node.outputs[: self.carried]
        ]
        told = self._shape_rules.symbolic(node.inputs[1:], shapes[1:])
        for j, lengths in zip(self.results, told, strict=True):
            first, *rest = pt.shape_tuple(node.outputs[j])
            pairs = zip(rest, lengths, strict=True)
            others = [n if new is None or isinstance(n, Constant) else new for n, new in pairs]
            found.append((first if self.until else node.inputs[0], *others))
        return [*found, *[()] * self.until]

    def equal_lengths(self, node: Apply) -> None:
        """Return None: a step may fail in any way, so it must run even if only lengths are
        needed.
        """

    @property
    def results(self) -> range:
        """The positions of the outputs that contain all steps."""
        return range(self.carried, self.nout - self.until)

    def debug_information(self, node: Apply) -> dict[Any, str]:
        """Return labels of the inputs and outputs of a node and of the inner graph, for `dprint(…,
        print_op_info=True)`.
        """
        own = self.inner_inputs
        slices, past, _ = self.parts(own)
        read, first, same = self.parts(node.inputs[1:])
        outputs = node.outputs
        told = [(node.inputs[0], "steps")]
        told += [(v, f"sequence {i}") for i, v in enumerate(read)]
        told += [(v, f"first value {k}") for k, v in enumerate(first)]
        told += [(v, "the same in all steps") for v in same]
        told += [(v, f"element of sequence {i}") for i, v in enumerate(slices)]
        told += [(v, f"value {k} of the step before") for k, v in enumerate(past)]
        told += [(v, f"last value {k}") for k, v in enumerate(outputs[: self.carried])]
        told += [(outputs[j], f"result {i} of all steps") for i, j in enumerate(self.results)]
        found: dict[Any, list[str]] = {}
        for v, text in told:
            found.setdefault(v, []).append(text)
        return {v: ", ".join(dict.fromkeys(texts)) for v, texts in found.items()}

    def parts(self, inputs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return sequences (or slices), carried values, and shared inputs, without the number of
        steps.
        """
        a, b = self.sequences, self.sequences + self.carried
        return list(inputs[:a]), list(inputs[a:b]), list(inputs[b:])

    # --- running ------------------------------------------------------------------------------

    def runs(self, node: Any, body: Any) -> Callable[..., Any]:
        """Return a function that runs the steps in turn. (The VM generates this loop for each
        op.)
        """
        carried, until, nout = self.carried, self.until, self.nout
        alone = len(self.inner_outputs) == 1
        shown = [self.inner_outputs[j].type for j in self.results]
        fail, empty, parts = self.fail, self._empty, self.parts

        def loop(steps: Any, *values: Any) -> Any:
            n = int(steps)
            sequences, kept, others = parts(values)
            if n < 0:
                fail(f"the number of steps must not be negative: {n}")
            for i, x in enumerate(sequences):
                if len(x) < n:
                    fail(f"sequence {i} has {len(x)} elements, but there are {n} steps")
            rows: list[list[Any]] = [[] for _ in shown]
            kept = [deepcopy(x) for x in kept]
            done = 0
            for t in range(n):
                try:
                    found = body(*[x[t, ...] for x in sequences], *kept, *others)
                except Exception as error:
                    error.add_note(f"in step t={t} of {self}")
                    raise
                found = [found] if alone else found
                kept = list(found[:carried])
                for j, (row, value) in enumerate(zip(rows, found[carried:], strict=False)):
                    if row and np.shape(value) != np.shape(row[0]):
                        self.uneven(j, np.shape(row[0]), np.shape(value))
                    row.append(value)
                done += 1
                if until and found[-1]:
                    break
            if done:
                traces = [np.array(row, v.numpy_dtype) for row, v in zip(rows, shown, strict=True)]
            else:
                traces = empty(sequences, kept, others)
            made = [*kept, *traces, *[np.array(done)] * until]
            return made[0] if nout == 1 else made

        return loop

    def _empty(self, sequences: Any, kept: Any, others: Any) -> list[Any]:
        """Return the results of a loop without steps.

        Unknown lengths are those of the carried value, or those of the first step, or 0.
        """
        found, own = [], self.inner_outputs
        told = self._shape_rules.lengths(sequences, [*kept, *others])
        for v, lengths in zip([own[j] for j in self.results], told, strict=True):
            start = np.shape(kept[own.index(v)]) if v in own[: self.carried] else lengths
            shape = [n if k is None else k for n, k in zip(start, v.type.shape, strict=True)]
            found.append(np.empty((0, *shape), v.type.numpy_dtype))
        return found

    @cached_property
    def _shape_rules(self) -> ShapesOfNoSteps:
        """The shapes of results without steps. (A cache, which is not pickled.)"""
        return ShapesOfNoSteps(self)

    def uneven(self, j: int, first: Any, shape: Any) -> None:
        """Raise the error for a result that changes its shape."""
        self.fail(
            f"result {j} must have one shape in all steps, but has {first} in the first and "
            f"{shape} in a later one"
        )

    def fail(self, what: str) -> None:
        """Raise `ShapeError` with a message."""
        raise ShapeError(message(what, op=self))

    # --- derivatives --------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Return the connections through any number of steps."""
        rows = connections(self.inner_inputs, self.inner_outputs)
        a, c = self.sequences, self.carried
        through = [row[:c] for row in rows[a : a + c]]  # carried i affects carried j, later
        for k in range(c):
            for row in through:
                if row[k]:
                    row[:] = [x or y for x, y in zip(row, through[k], strict=True)]
        reach = []
        for i, row in enumerate(rows):
            carry = [bool(x) for x in row[:c]]
            if a <= i < a + c:
                carry[i - a] = True
            more = [any(x and through[k][j] for k, x in enumerate(carry)) for j in range(c)]
            carry = [x or y for x, y in zip(carry, more, strict=True)]
            results = [
                bool(row[j]) or any(x and rows[a + k][j] for k, x in enumerate(carry))
                for j in range(c, self.nout)
            ]
            reach.append([*carry, *results])
        none = [False] * self.nout
        flags = [False] * self.until
        return [none, *[[*row[: self.nout - self.until], *flags] for row in reach]]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the loop to a batch: its steps compute the whole batch. Raise `BatchError` if the
        number of steps differs along the batch, or might.
        """
        return Along(node, inputs).outputs()

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients by a loop that runs backwards."""
        return Backwards(self, inputs, outputs, output_gradients).gradients()

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return tangents by a loop that carries them in addition to values."""
        return changes(self, inputs, eval_points)


def longer(type_: Any, n: int | None = None) -> Any:
    """Return the type of a tensor with a new first dimension, for several values of a type."""
    return type_.clone(shape=(n, *type_.shape))
