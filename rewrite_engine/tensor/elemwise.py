"""`Elemwise`: a scalar op applied to every element of arrays that broadcast together.

Inputs may differ in their number of dimensions (missing ones count as 1 on the left, as in NumPy).
Gradients are in `tensor/elemwise_grad.py`, the instances (`exp`, `add`, …) in `tensor/math.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    ShapeError,
    describe,
)
from rewrite_engine.graph.node import CONSTANT, Apply, Variable, build_variable
from rewrite_engine.graph.op import REMEMBERED
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.scalar.dtype import DISCRETE, is_number, quotient_dtype
from rewrite_engine.scalar.matrices import OF_ALL
from rewrite_engine.scalar.op import ScalarOp, named
from rewrite_engine.tensor.broadcast import broadcast
from rewrite_engine.tensor.constant import (
    as_tensor_variable,
    constant,
    is_weak,
    refuse_truth,
    weak_constant,
)
from rewrite_engine.tensor.op import Group, Shapes, TensorOp, Types, behind_batch
from rewrite_engine.tensor.type import TensorType

#: the type of integers that may be weak, and what they make of narrower floats where they are not
INTEGER, WIDEST = TensorType("int64", ()), ("float64", "complex128")
if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable


class _OfInstance:
    """Attribute computed by a function of `scalar/docstring.py` when an instance reads it.

    The class itself has another value, or none.
    """

    def __init__(self, function: str, of_class: Any = None) -> None:
        self.function = function
        self.of_class = of_class

    def __get__(self, op: Elemwise | None, cls: type) -> Any:
        if op is not None:
            from rewrite_engine.scalar import docstring

            return getattr(docstring, self.function)(op.scalar_op)
        if self.of_class is None:
            raise AttributeError(self.function)
        return self.of_class


class Elemwise(TensorOp):
    """Op that applies `scalar_op` to every element.

    inplace_pattern: pairs (output, overwritten input), or a dict of them. name: accepted for
    compatibility with PyTensor and ignored; the name of the op is that of its scalar op. Python
    numbers among the inputs are weak: they take the precision of the other operands. Raises
    `BroadcastError`, `DTypeError`, `ForeignObjectError`.
    """

    __props__ = ("scalar_op", "inplace_pattern")
    name: str | None = None
    stretches = True
    samples: Sequence[Any] = (
        ({"scalar_op": named("add")}, (2, 3), (1, 3), ()),
        ({"scalar_op": named("mul")}, (2, 3), (3,)),
        ({"scalar_op": named("exp")}, (0, 3)),
    )
    nout: int
    __signature__ = _OfInstance("signature")

    def __init__(
        self, scalar_op: ScalarOp, inplace_pattern: Any = (), name: str | None = None
    ) -> None:
        if isinstance(inplace_pattern, Mapping):
            inplace_pattern = inplace_pattern.items()
        self.scalar_op = scalar_op
        self.inplace_pattern = tuple(sorted([(int(o), int(i)) for o, i in inplace_pattern]))
        self.destroy_map = {o: [i] for o, i in self.inplace_pattern}
        self.nin = scalar_op.nin
        self.nout = scalar_op.nout
        self.associative = scalar_op.associative
        self.commutative = scalar_op.commutative
        self.idempotent = scalar_op.idempotent
        self.identity = scalar_op.identity
        self.absorbing = scalar_op.absorbing
        self.moves_only = scalar_op.moves_only
        self.implied = {**OF_ALL, **scalar_op.implied}
        self.elements = scalar_op.elements
        self._memo: dict[Any, Any] = {}
        self._inplace: dict[tuple[int, int], Elemwise] = {}
        self._weak_memo: dict[Any, Any] = {}
        self._quotients: dict[Any, Any] = {}

    def __str__(self) -> str:
        name = str(self.scalar_op)
        return name + "".join(f"{{inplace {o}<-{i}}}" for o, i in self.inplace_pattern)

    def __state__(self) -> dict[str, Any]:
        return {"scalar_op": self.scalar_op, "inplace_pattern": self.inplace_pattern}

    def __reduce__(self) -> Any:
        return Elemwise, (self.scalar_op, self.inplace_pattern)

    # --- building ---------------------------------------------------------------------------

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Apply the op to variables, arrays and numbers. Return the output variable, or a list of
        several.
        """
        types = []
        for x in inputs:
            if not isinstance(x, Variable):
                return self._call_with_numbers(inputs, options)
            types.append(x.type)
        found = self._memo.get(tuple(types))
        if found is None or len(found) != 1 or options or is_weak(inputs[0]):
            return self._call(inputs, options)
        return build_variable(self, inputs, found[0], user_origin())

    def outer(self, x: TensorLike, y: TensorLike) -> TensorVariable:
        """Apply the op to each pair of elements of x and y, as `numpy.ufunc.outer`.

        The result has the dimensions of x, then those of y.
        """
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        return self(x.dimshuffle(*range(x.type.ndim), *["x"] * y.type.ndim), y)

    def _call_with_numbers(self, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Apply the op as `_call` does, and cache the constants of Python numbers by the types of
        the other inputs.
        """
        key: list[Any] = [config.floatX]
        for x in inputs:
            if isinstance(x, Variable):
                key.append((x.type, True) if is_weak(x) else x.type)
            elif x.__class__ is int or (
                x.__class__ is float and x != 0.0
            ):  # not -0.0, which equals 0.0
                key += (x.__class__, x)
            else:
                return self._call(inputs, options)
        found = self._weak_memo.get(tuple(key))
        if found is None or options:
            out = self._call(inputs, options)
            if self.nout == 1 and not options and out.owner is not None:
                if len(self._weak_memo) >= REMEMBERED:
                    self._weak_memo.clear()
                pairs = list(zip(inputs, out.owner.inputs, strict=True))
                if any([isinstance(x, Variable) and x is not c for x, c in pairs]):
                    return out  # (a variable that was converted is not one for others)
                constants = tuple([None if c is x else c for x, c in pairs])
                self._weak_memo[tuple(key)] = constants, out.type
            return out
        constants, out_type = found
        variables = tuple([x if c is None else c for x, c in zip(inputs, constants)])
        return build_variable(self, variables, out_type, user_origin())

    def _call(self, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Apply the op in the general case: handle patterns, convert inputs, infer types."""
        for x in inputs:
            if not isinstance(x, Variable) and hasattr(x.__class__, "__apply_op__"):
                return x.__class__.__apply_op__(self, inputs, options)
        if options or self.nout != 1:
            return super().__call__(*inputs, **options)
        if any(map(is_weak, inputs)) and all([is_weak(x) or type(x) is int for x in inputs]):
            found = self._of_weak(inputs)
            if found is not None:
                return found
        variables = self.convert_inputs(inputs)
        types = self.output_types(tuple([v.type for v in variables]))
        return build_variable(self, variables, types[0], user_origin())

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert numbers and arrays to constants; Python numbers take the precision of the other
        operands.
        """
        result: list[Any] = []
        dtypes: list[str | None] = []
        unfilled = self.scalar_op.shape_only
        inputs = self._weak_as_numbers(inputs)
        for i, x in enumerate(inputs):
            if not is_number(x):
                x = self.convert_input(x)
            elif i in unfilled or not unfilled:  # what fills a shape may be a truth value
                refuse_truth(x, self)
            result.append(x)
            dtypes.append(x.type.dtype if isinstance(x, Variable) else None)
        if None in dtypes:
            names = self._weak_dtypes(dtypes, inputs)
            for i, dtype in enumerate(dtypes):
                if dtype is None:
                    result[i] = weak_constant(inputs[i], names[i])
        return tuple(result)

    def _of_weak(self, inputs: Sequence[Any]) -> Any:
        """Return the weak integer result of weak integers alone; None for another result."""
        kinds = self.scalar_op.result_dtypes(("int64",) * len(inputs))
        if kinds != ("int64",):
            return None
        found = constant(self.on_numbers(*[getattr(x, "number", x) for x in inputs]))
        return found if is_weak(found) else None

    def _weak_as_numbers(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments, with weak constants as numbers if the result is a float."""
        if not any(map(is_weak, inputs)):
            return inputs
        numbers = [x.number if is_weak(x) else x for x in inputs]
        known = [getattr(getattr(x, "type", x), "dtype", None) for x in numbers]
        names = self.scalar_op.weak_dtypes([None if d is None else str(d) for d in known], numbers)
        outputs = self.scalar_op.result_dtypes(tuple(names))
        return numbers if DISCRETE.isdisjoint(outputs) else inputs

    def _weak_dtypes(self, dtypes: Sequence[str | None], inputs: Sequence[Any]) -> list[str]:
        try:
            return self.scalar_op.weak_dtypes(dtypes, inputs)
        except DTypeError as error:
            known = [x for x in inputs if isinstance(x, Variable)]
            what = located(str(error), op=self, inputs=known)
            raise DTypeError(what) from error

    def convert_input(self, x: Any) -> Variable:
        """Convert one argument to a tensor variable. Raise `ForeignObjectError`."""
        if isinstance(x, Variable) and isinstance(x.type, TensorType):
            return x
        try:
            return super().convert_input(x)
        except ForeignObjectError as error:
            what = f"takes tensors, not {describe(x)}"
            hint = str(error)
            raise type(error)(located(what, op=self, hint=hint)) from error

    def on_numbers(self, *numbers: Any) -> Any:
        """Apply the op to Python numbers and return a Python number, which is weak as well."""
        return self.scalar_op.impl(*[np.asarray(x) for x in numbers]).item()

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        """Return the output dtypes of the scalar op. Raise `DTypeError`."""
        try:
            return self.scalar_op.result_dtypes(tuple([t.dtype for t in types]))
        except DTypeError as error:
            raise DTypeError(str(error).removeprefix(f"{self.scalar_op}: ")) from error

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the broadcast shape for each output. Raise `BroadcastError`."""
        lengths, equal = broadcast([t.shape for t in types])
        return Shapes([lengths] * self.nout, equal)

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        return BroadcastError

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the output types. Raise `ShapeError` if an output does not fit the input that it
        overwrites.
        """
        outputs = super().infer_types(types)
        for o, i in self.inplace_pattern:
            if not _can_hold(types[i], outputs[o]):
                raise ShapeError(
                    f"output {o} of type {outputs[o]} does not fit into input {i}, which it "
                    "overwrites"
                )
        return outputs

    def output_types(self, types: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the cached result of `infer_types`, separately for each floatX if the result
        depends on it.
        """
        if not self.scalar_op.follows_floatX([getattr(t, "dtype", None) for t in types]):
            if INTEGER not in types or not (found := self._widened(types)):
                return super().output_types(types)
            return found
        found = self._quotients.get((config.floatX, types))
        if found is None:
            if len(self._quotients) >= REMEMBERED:
                self._quotients.clear()
            found = self._quotients[config.floatX, types] = self.typed(types)
        return found  # type: ignore[no-any-return]

    def _widened(self, types: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return the output types if an integer that may be weak would promote them to float64;
        else None.

        They are not cached, as they depend on more than the input types.
        """
        if any([getattr(t, "dtype", None) in WIDEST for t in types]):
            return None
        found = self._quotients.get(types)
        if found is None:
            found = self._quotients[types] = self.typed(types)
        return found if any([t.dtype in WIDEST for t in found]) else None

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch; operands with fewer dimensions get dimensions of length 1 after
        the batch.
        """
        ndim = node.outputs[0].type.ndim
        missing = [ndim - v.type.ndim for v in node.inputs]
        return self.make_node(*behind_batch(node.inputs, inputs, missing)).outputs

    # --- running ----------------------------------------------------------------------------

    def formula(self, *inputs: Any) -> Any:
        """Return the formula of the scalar op, in the shape that all inputs broadcast to."""
        if self.scalar_op.formula is None:
            return None
        from rewrite_engine.tensor.elemwise_grad import formula

        return formula(self.scalar_op, inputs)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the outputs from arrays. Raise `BroadcastError` (see `tensor/broadcast.py`)."""
        shape = np.shape(inputs[0])
        if any([np.shape(x) != shape for x in inputs]):
            shape = self.checked(node, inputs)[0]
        outs: list[Any] = [None] * self.nout
        for o, i in self.inplace_pattern:
            outs[o] = inputs[i] if isinstance(inputs[i], np.ndarray) else None
        if self.scalar_op.inner is quotient_dtype:  # by the node's type: floatX may be another now
            if DISCRETE.issuperset([x.type.dtype for x in node.inputs]):
                inputs = [np.asarray(x).astype(node.outputs[0].type.numpy_dtype) for x in inputs]
        results = self.scalar_op.impl_all(*inputs, outs=outs)
        for cell, var, value in zip(output_storage, node.outputs, results, strict=True):
            value = np.asarray(value, var.type.numpy_dtype)
            if value.shape != shape:
                value = np.broadcast_to(value, shape).copy()
            cell[0] = value

    def is_total(self, node: Apply) -> bool:
        """Return whether the scalar op is total for these inputs."""
        return self.scalar_op.is_total(node.inputs)

    def bounds(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        """Return the bounds given by the scalar op."""
        dtype = node.outputs[0].type.numpy_dtype
        return self.scalar_op.bounds_from(dtype, of, node.inputs)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return elements of the result times the cost of the scalar op (n operands take n - 1
        steps).
        """
        steps = max(1, len(inputs) - 1) if self.nin is None else 1
        return math.prod(outputs[0]) * self.scalar_op.cost * steps

    def inplace_on_inputs(
        self, allowed: Sequence[int], node: Apply | None = None
    ) -> Elemwise | None:
        """Return this op overwriting the first of the `allowed` inputs that can hold the output, or
        None.

        With `node` the types decide (a single number is never overwritten); without it the first
        allowed input is overwritten, and building a node checks it.
        """
        if self.inplace_pattern or (node is not None and node.outputs[0].type.ndim == 0):
            return None
        for i in allowed:
            if node is None:
                return self._overwriting(0, i)
            for o, out in enumerate(node.outputs):
                if _can_hold(node.inputs[i].type, out.type):
                    return self._overwriting(o, i)
        return None

    def _overwriting(self, output: int, i: int) -> Elemwise:
        """Return the cached op that writes an output into the memory of input i."""
        found = self._inplace.get((output, i))
        if found is None:
            found = self._inplace[output, i] = Elemwise(self.scalar_op, ((output, i),))
        return found

    def filled(self, inputs: Sequence[Variable], out_type: Any, constant: Variable) -> Any:
        """Return the constant broadcast to the shape of all operands; shapes that do not fit still
        raise.
        """
        result: Any = as_tensor_variable(constant).astype(out_type.dtype)
        for v in reversed(list(dict.fromkeys(inputs))):
            if v is not constant and (v.type.ndim or v.owner is not None):
                result = _second(v, result)
        return result

    def takes_as_number(self, inputs: Sequence[Variable], constant: Any) -> bool:
        """Return whether other operands already have the shape of the constant, or broadcast to a
        larger one.
        """
        others = [v.type.shape[::-1] for v in inputs if v.head is not CONSTANT]
        shape = constant.type.shape[::-1]
        return all(
            any(i < len(s) and (d == 1 or s[i] == d) for s in others) for i, d in enumerate(shape)
        )

    # --- analysis ---------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect all inputs, except those whose values do not matter."""
        unread = self.scalar_op.shape_only
        return [[i not in unread] * self.nout for i in range(len(node.inputs))]

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable]:
        """Return one gradient per input, in the input's own shape and precision."""
        return self.input_gradients(inputs, outputs, output_gradients, range(len(inputs)))

    def grad(
        self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]
    ) -> list[Variable]:
        """Return the gradients of all inputs, with the outputs built anew."""
        outputs = self.make_node(*inputs).outputs
        return self.L_op(inputs, outputs, output_gradients)

    def input_gradients(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
        wanted: Sequence[int],
    ) -> list[Variable]:
        """Return the gradients of the `wanted` inputs only, without computing the others."""
        from rewrite_engine.tensor.elemwise_grad import input_gradients

        return input_gradients(self, inputs, outputs, output_gradients, wanted)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return Jacobian-vector products, from the same partial derivatives, as the Jacobian is
        diagonal.
        """
        from rewrite_engine.tensor.elemwise_grad import forward_gradients

        return forward_gradients(self, inputs, eval_points)


Elemwise.__doc__ = _OfInstance("docstring", Elemwise.__doc__)  # type: ignore[assignment]
_second = Elemwise(named("second"))


def _can_hold(input_type: Any, output_type: Any) -> bool:
    """Return whether an array of the input's type always has the dtype and shape of the output."""
    return bool(
        input_type.dtype == output_type.dtype
        and input_type.broadcastable == output_type.broadcastable
    )
