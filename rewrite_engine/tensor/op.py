"""`TensorOp`: base class of ops on tensors.

An op declares once, in `shapes`, how its output shapes follow from those of its inputs. Its output
types, `infer_shape`, `equal_lengths`, the lengths that rules and the VM use, and the check at run
time are derived from it.

A length is an integer; a pair (i, axis) for a dimension of input i; `Value(i)`, the value of input
i; `Computed(rule, of)`; or None, if it depends on values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, overload

import numpy as np

from rewrite_engine.errors import (
    BroadcastError,
    ForeignObjectError,
    InconsistencyError,
    MethodNotDefined,
    NDimError,
    NotConstantError,
    NoTensorError,
    ShapeError,
    message,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.op import REMEMBERED, Lengths, Op, known_outputs
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.type import Type
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.variable import TensorVariable

Types = tuple[Any, ...]


class Value(NamedTuple):
    """Length given by the value of a 0-d input."""

    i: int


class Computed(NamedTuple):
    """Length computed from others by a rule that accepts integers and 0-d variables."""

    rule: Callable[..., Any]
    of: Sequence[Any]


#: whether a value can be read as a number; None: all can be
Known = Callable[[Any], bool] | None
Length = Any  # int | tuple[int, int] | Value | Computed | None
Group = Sequence[Length]


class Shapes(NamedTuple):
    """Shapes of the outputs, and groups of lengths that must be equal."""

    outputs: Sequence[Sequence[Length]]
    equal: Sequence[Group] = ()


def is_dimension(length: Length) -> bool:
    """Return whether a length refers to a dimension of an input: a plain pair."""
    return length.__class__ is tuple


def same_shape(x: Any) -> Shapes:
    """Return the shape rule of one output in the shape of the first input, of type `x`."""
    return Shapes([[(0, i) for i in range(x.ndim or 0)]])


def with_parameters(op: Any, **changes: Any) -> Any:
    """Return an op with some of its parameters (`__props__`) changed."""
    return type(op)(**({p: getattr(op, p) for p in op.__props__ or ()} | changes))


def behind_batch(own: Sequence[Any], inputs: Sequence[Any], missing: Sequence[int]) -> list[Any]:
    """Return inputs with a batch before the node's own dimensions, separated by `missing`
    dimensions of length 1.
    """
    wide = []
    for x, v, ones in zip(inputs, own, missing, strict=True):
        every = range(x.type.ndim)
        batch = len(every) - v.type.ndim
        wide.append(x.dimshuffle(*every[:batch], *["x"] * ones, *every[batch:]))
    return wide


def resolve(length: Length, of: Callable[[Any], Any]) -> Any:
    """Return a length; `of` maps pairs and `Value`s to lengths. None if unknown.

    >>> resolve(Computed(int.__add__, [(0, 1), 3]), {(0, 1): 4}.get)
    7
    """
    if length.__class__ is tuple or isinstance(length, Value):
        return of(length)
    if not isinstance(length, Computed):
        return length
    parts = [resolve(part, of) for part in length.of]
    return None if any([part is None for part in parts]) else length.rule(*parts)


def _actual(values: Sequence[Any], known: Known = None) -> Callable[[Any], Any]:
    """Return a function that maps pairs and `Value`s to lengths, for values of the inputs."""

    def of(length: Any) -> Any:
        if length.__class__ is tuple:
            return np.shape(values[length[0]])[length[1]]
        if known is not None and not known(values[length.i]):
            return None
        value = np.asarray(values[length.i])
        return value if value.ndim else value.item()

    return of


STATIC_ONE = (
    "a dimension broadcasts only if its static length is 1: declare it, as in "
    "matrix(shape=(1, None)), or use specify_shape or specify_broadcastable"
)


class TensorOp(Op):
    """Base class of ops on tensors.

    A subclass declares its number of inputs (`nin`), and defines `dtypes` and `shapes`. Both use
    only the types of the inputs, and raise short errors; the op, the inputs and the place where the
    user applied it are added to them.
    """

    if TYPE_CHECKING:  # (ops with several outputs say so themselves)

        @overload  # type: ignore[override]
        def __call__(
            self, *inputs: Any, return_list: Literal[False] = False, **options: Any
        ) -> TensorVariable: ...
        @overload
        def __call__(
            self, *inputs: Any, return_list: Literal[True], **options: Any
        ) -> list[Any]: ...
        def __call__(self, *inputs: Any, **options: Any) -> Any: ...

    #: the number of inputs; None: any
    nin: int | None = 1
    #: the number of outputs, where `output_names` does not tell it
    nout: int | None = 1
    #: whether only lengths that are not equal (`Shapes.equal`) make it fail
    only_lengths: bool = False
    #: whether NumPy would stretch a length of 1 where all have to be equal: they are then compared
    stretches: bool = False
    #: whether it takes whatever has lengths, also what is no dense array
    measures: bool = False
    #: small cases, of which its tests are made (`tests/tensor/test_samples.py`): its parameters,
    #: and per input a shape, the number that it is, or a list of its elements
    samples: Sequence[Any] = ()

    def dtypes(self, *types: Any) -> Sequence[Any]:
        """Return the dtypes of the outputs (the type of an output that is not a tensor). Raise
        `DTypeError`.

        By default there is one output, with the dtype of the first input.
        """
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        """Return how the shapes of the outputs follow from those of the inputs. Raise `NDimError`,
        `AxisError`, `ShapeError`.
        """
        raise MethodNotDefined(f"{self} defines no shapes")

    def is_total(self, node: Apply) -> bool:
        """Return whether only unequal lengths make this node fail."""
        return self.only_lengths

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        """Return the error class for lengths of a group that differ."""
        return ShapeError

    # --- building -----------------------------------------------------------------------------

    def convert_input(self, x: Any) -> Variable:
        """Convert one argument to a tensor. Raise `ForeignObjectError`."""
        return as_tensor_variable(x)  # type: ignore[no-any-return]

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the output types. numbers: the values of constant inputs that lengths depend
        on.
        """
        if self.nin not in (None, len(types)):
            inputs = "1 input" if self.nin == 1 else f"{self.nin} inputs"
            raise TypeError(located(f"takes {inputs}, not {len(types)}", op=self))
        self.takes(types)
        rule = self.shape_rule(types)
        known: dict[Any, Any] = {Value(i): n for i, n in enumerate(numbers)}

        def static(length: Any) -> Any:
            if length.__class__ is not tuple:
                return known.get(length)
            i, axis = length
            if not 0 <= axis < types[i].ndim:
                raise NDimError(
                    f"its shapes refer to dimension {axis} of input {i}, which has type {types[i]}"
                )
            n = types[i].shape[axis]
            return known.get(length) if n is None and known else n

        for group in rule.equal:
            lengths = {resolve(m, static) for m in group}
            lengths.discard(None)
            if len(lengths) > 1:
                raise self.unequal(types, [t.shape for t in types], group, static)
            if lengths:
                n = lengths.pop()
                known.update({m: n for m in group if not isinstance(m, Computed)})
        outputs = [[resolve(d, static) for d in dims] for dims in rule.outputs]
        if known_outputs(self) not in (None, len(outputs)):
            told = f"the op declares {known_outputs(self)} outputs (`nout`, `output_names`)"
            raise InconsistencyError(f"{told}, but its `shapes` has {len(outputs)}")
        dtypes = self.dtypes(*types)
        if len(dtypes) != len(outputs):
            what = f"its `dtypes` has {len(dtypes)} outputs, but its `shapes` has {len(outputs)}"
            raise InconsistencyError(what)
        pairs = zip(dtypes, outputs, strict=True)
        return [d if isinstance(d, Type) else TensorType(d, s) for d, s in pairs]

    def takes(self, types: Types) -> None:
        """Raise `ForeignObjectError` for input types that the op does not accept."""
        for t in types:
            if not isinstance(t, TensorType) and not (self.measures and t.ndim is not NO_RANK):
                hint = f"\n    {t.instead_of_tensor}" if t.instead_of_tensor else ""
                error = NoTensorError if hint else ForeignObjectError
                raise error(f"takes tensors, not {t}{hint}")

    # --- shapes -------------------------------------------------------------------------------

    _shapes: dict[Types, Shapes]

    def shapes_of(self, node: Apply) -> Shapes:
        """Return the shape rule for the inputs of a node."""
        return self.shape_rule(tuple([v.type for v in node.inputs]))

    def shape_rule(self, types: Types) -> Shapes:
        """Return the cached result of `shapes`."""
        try:
            found = self._shapes.get(types)
        except AttributeError:
            self._shapes, found = {}, None
        if found is None:
            if len(self._shapes) >= REMEMBERED:
                self._shapes.clear()
            found = self._shapes[types] = self.shapes(*types)
        return found

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the lengths as 0-d int64 variables; static lengths as constants."""

        def symbolic(length: Any) -> Any:
            if isinstance(length, Value):
                return node.inputs[length.i]
            return shapes[length[0]][length[1]]

        result = []
        for out, lengths in zip(node.outputs, self.shapes_of(node).outputs, strict=True):
            found = []
            for length, known in zip(lengths, out.type.shape, strict=True):
                try:
                    n = resolve(length, symbolic) if known is None else known
                except NotConstantError:  # a rule for integers only
                    n = None
                if n is None:
                    raise MethodNotDefined(
                        f"{self} has no shape rule: the output shape depends on values"
                    )
                found.append(weak_constant(n, "int64") if isinstance(n, int) else n)
            result.append(tuple(found))
        return result

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """Return the lengths that must be equal for the node to be computed (see `Op`)."""
        if not self.is_total(node):
            return None

        def static(length: Any) -> Any:
            return (
                None if isinstance(length, Value) else node.inputs[length[0]].type.shape[length[1]]
            )

        groups = []
        for group in self.shapes_of(node).equal:
            found = [resolve(m, static) if isinstance(m, Computed) else m for m in group]
            if any([m is None or isinstance(m, Value) for m in found]):
                return None
            groups.append(found)
        return groups

    def check(self, node: Apply, values: Sequence[Any], known: Known = None) -> None:
        """Raise `ShapeError` or `BroadcastError` if lengths of values differ that must be equal.

        known: whether a value can be read as a number (of a linker that traces graphs); by default
        all can be.
        """
        for group in self.shapes_of(node).equal:
            of = _actual(values, known)
            lengths = {of(m) if m.__class__ is tuple else resolve(m, of) for m in group}
            if len(lengths) > 1 and len(lengths - {None}) > 1:
                types = tuple([v.type for v in node.inputs])
                error = self.unequal(types, [np.shape(x) for x in values], group, of)
                self.fail(node, str(error), type(error))

    def checked(
        self, node: Apply, values: Sequence[Any], known: Known = None
    ) -> list[tuple[Any, ...]]:
        """Check the values, and return the shapes of the outputs; None if unknown (see `check`)."""
        self.check(node, values, known)
        of = _actual(values, known)
        return [tuple([resolve(d, of) for d in dims]) for dims in self.shapes_of(node).outputs]

    def fail(self, node: Apply, what: str, error: type[Exception] = ShapeError) -> NoReturn:
        """Raise an error for a node at run time."""
        raise error(message(what, op=self, inputs=node.inputs, where=node.where()))

    def unequal(self, types: Types, shapes: Sequence[Any], group: Group, of: Any) -> ShapeError:
        """Return the error for lengths of a group that differ; `of` maps members to lengths."""
        named = self.named_lengths(types, shapes, group, of)
        shown = [str(s) for t, s in zip(types, shapes, strict=True) if t.ndim]
        error, why = self.misfit(types, group), ", ".join(named.values())
        if issubclass(error, BroadcastError):
            what = f"cannot broadcast shapes {' and '.join(shown)}: {why}"
        elif len(shown) == 1:
            what = f"shape {shown[0]} does not fit: {why}"
        else:
            what = f"shapes {' and '.join(shown)} do not fit: {why}"
        hint = 1 in named and issubclass(error, BroadcastError)
        return error(f"{what}\n    {STATIC_ONE}" if hint else what)

    def named_lengths(
        self, types: Types, shapes: Sequence[Any], group: Group, of: Any
    ) -> dict[Any, str]:
        """Return descriptions of the lengths of a group: {length: text}, for the first member of
        each length.
        """
        named: dict[Any, str] = {}
        for member in group:
            named.setdefault(n := resolve(member, of), self.length_text(types, shapes, member, n))
        named.pop(None, None)
        return named

    def length_text(self, types: Types, shapes: Sequence[Any], member: Any, n: Any) -> str:
        """Return the description of one length."""
        if not is_dimension(member):
            return f"it must be {n}"
        i, axis = member
        return f"dimension {axis} of a {types[i]} has length {n}"


class Linear(TensorOp):
    """Base class of ops that are linear in their first input; the others are lengths or indices."""

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of the first input only."""
        return [[i == 0] * len(node.outputs) for i in range(len(node.inputs))]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent: the op, applied to the tangent of its first input."""
        if eval_points[0] is None:
            return [None] * len(self.make_node(*inputs).outputs)
        return self(eval_points[0], *inputs[1:], return_list=True)  # type: ignore[no-any-return]


class Odd(TensorOp):
    """Base class of ops that are odd in their last input, up to the sign of a zero.

    The output is not larger than that input, so signs are best moved out of the op.
    """


class NoGradient(TensorOp):
    """Base class of ops whose outputs do not change with small changes of the inputs' elements."""

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect no input to an output."""
        return [[False] * len(node.outputs) for _ in node.inputs]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return a disconnected gradient for each input."""
        return [disconnected() for _ in inputs]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return None for each output: there is no tangent."""
        return [None] * len(self.make_node(*inputs).outputs)
