"""`RandomVariable`: an op that draws. It takes the state of a generator, and returns the next state
with the draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.config import config
from rewrite_engine.errors import (
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    MethodNotDefined,
    NDimError,
    OptionError,
    ParameterError,
    RewriteEngineError,
    ShapeError,
    describe,
    dimensions,
    message,
)
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.null import disconnected, grad_undefined
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.graph.type import NoneConst
from rewrite_engine.random.type import RandomGeneratorType, copied
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.tensor.blockwise import parse
from rewrite_engine.tensor.broadcast import broadcast
from rewrite_engine.tensor.constant import as_tensor_variable, constant
from rewrite_engine.tensor.math import cast
from rewrite_engine.tensor.op import (
    Computed,
    Group,
    Shapes,
    TensorOp,
    Types,
    Value,
    is_dimension,
    with_parameters,
)
from rewrite_engine.tensor.shape import lengths, shape_dims
from rewrite_engine.tensor.shaping.joins import make_vector
from rewrite_engine.tensor.shaping.rearrange import broadcast_shape
from rewrite_engine.tensor.type import TensorType

__all__ = ["RNGConsumerOp", "RandomVariable", "ScipyRandomVariable"]


#: {name of a class, but for "RV": of the distribution, in full}
IN_FULL = {
    "GenGamma": "GeneralizedGamma",
    "Integers": "integers",
    "InvGamma": "InverseGamma",
    "MvNormal": "MultivariateNormal",
    "NegBinomial": "NegativeBinomial",
    "Permutation": "permutation",
    "TruncExponential": "TruncatedExponential",
}


class RNGConsumerOp(Op):
    """Base class of ops that take states of generators and return the next states with their
    results.
    """

    def update(self, node: Apply) -> dict[Any, Any]:
        """Return {state among a node's inputs: the next state}."""
        raise MethodNotDefined(f"{self} defines no update")


class RandomVariable(RNGConsumerOp, TensorOp):
    """Draws from a distribution: `op(*parameters, size=…, rng=…)`.

    The inputs of a node are the state of a generator, the size (a vector of int64, or the constant
    None) and the parameters; its outputs are the next state and the draws. `op(…)` returns the
    draws.

    name: the distribution. signature: dimensions of the parameters of one draw, and of the draw, as
    in "(n),(n,n)->(n)"; all dimensions before them broadcast, against the size if there is one.
    (ndims_params, ndim_supp: numbers of dimensions instead of a signature.) dtype: dtype of the
    draws; "floatX" is that of `config` when the op is applied. inplace: whether the state is
    overwritten. lengths: known lengths of the size, an integer or None for each; None if there is
    no size.

    A subclass has these as attributes, and `rng_fn(rng, *parameters, size)`, which draws with a
    `numpy.random.Generator`.
    """

    __props__: tuple[str, ...] | None = ("name", "signature", "dtype", "inplace", "lengths")
    nin = None
    measures = True
    default_output = 1
    output_names = ("next_rng", "draw")
    name: str = "random"
    signature: str | None = None
    ndim_supp: int  # (of a class that says nothing, only its ops know)
    ndims_params: Sequence[int] | None = None
    dtype: str = "floatX"

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return ten operations per number that is drawn, as for an exponential."""
        return 10 * math.prod(outputs[1])

    @property
    def is_independent(self) -> bool:
        """Whether no draw depends on the others, so that the op has batches."""
        return True

    @cached_property
    def _print_name(self) -> tuple[str, str]:
        """The distribution's name for PyMC, as text and in LaTeX."""
        name = type(self).__name__.removesuffix("RV")
        name = IN_FULL.get(name, name)
        return name, f"\\operatorname{{{name}}}"

    def __init__(
        self,
        name: str | None = None,
        ndim_supp: int | None = None,
        ndims_params: Sequence[int] | None = None,
        dtype: Any = None,
        inplace: bool = False,
        signature: str | None = None,
        lengths: tuple[int | None, ...] | None = None,
    ) -> None:
        self.name = name or self.name
        if ndims_params is None:
            ndims_params, signature = self.ndims_params, signature or self.signature
        if signature is None:
            supp = getattr(self, "ndim_supp", 0) if ndim_supp is None else ndim_supp
            signature = by_ranks(self.name, ndims_params, supp)
        self.signature = signature.replace(" ", "")
        dtype = dtype or self.dtype
        self.dtype = dtype if dtype == "floatX" else dtype_name(dtype)
        self.inplace = bool(inplace)
        self.lengths = lengths
        self.destroy_map = {0: [0]} if inplace else {}
        self.ins, outs = parse(self.signature)
        if len(outs) != 1:
            raise ShapeError(
                f"{self.name}: a draw must be one array, but the signature {signature!r} has "
                f"{len(outs)}"
            )
        (self.out,) = outs
        self.ndims_params = [len(names) for names in self.ins]
        self.ndim_supp = len(self.out)

    def __str__(self) -> str:
        return f"{self.name}{{inplace=True}}" if self.inplace else self.name

    def _infer_shape(
        self, size: Any, dist_params: Sequence[Any], param_shapes: Any = None
    ) -> tuple[Any, ...]:
        """Return the lengths of draws for these parameters, in the form that PyMC uses.
        (param_shapes: the shapes of the parameters.)
        """
        draw = self(*dist_params, size=size, rng=RandomGeneratorType()())
        node = (draw[1] if isinstance(draw, list | tuple) else draw).owner
        known = [tuple([x.shape[i] for i in range(x.type.ndim or 0)]) for x in node.inputs]
        return tuple(node.op.infer_shape(None, node, known)[1])

    # --- building -------------------------------------------------------------------------------

    def __call__(  # type: ignore[override]
        self,
        *args: Any,
        size: Any = None,
        name: str | None = None,
        rng: Any = None,
        dtype: Any = None,
        return_next_rng: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Return the draws; with return_next_rng the next state before them.

        args: the parameters. size: shape of all draws (dimensions before those of one draw); by
        default the broadcast shape of the parameters. rng: a variable with the state of a
        generator; by default a new shared one with an arbitrary state. dtype: another dtype of the
        same kind. (The inputs of a node, the state first, are also accepted, as for every op.)
        Raises `DTypeError`, `NDimError`, `ShapeError`, `BroadcastError`, `ForeignObjectError`.
        """
        if applies_to_inputs(args):
            return super().__call__(*args, name=name, **kwargs)
        if kwargs:
            raise OptionError(located(f"takes no argument {', '.join(kwargs)}", op=self))
        op = version(self, self._dtype(dtype), None)
        next_rng, draw = op.make_node(new_rng() if rng is None else rng, size, *args).outputs
        if name is not None:
            draw.name = name
        return (next_rng, draw) if return_next_rng else draw

    def _dtype(self, dtype: Any) -> str:
        """Return the dtype of the draws. Raise `DTypeError` if the requested one is of another
        kind.
        """
        have = config.floatX if self.dtype == "floatX" else self.dtype
        if dtype is None:
            return have
        wanted = config.floatX if dtype == "floatX" else dtype_name(dtype)
        whole = [np.dtype(d).kind in "bui" for d in (wanted, have)]
        if whole[0] != whole[1] or np.dtype(wanted).kind == "c":
            raise DTypeError(
                located(f"draws of dtype {self.dtype} cannot have dtype {wanted}", op=self)
            )
        return wanted

    def make_node(self, rng: Any, size: Any, *params: Any) -> Apply:  # type: ignore[override]
        """Return the node. size: any size that `__call__` accepts."""
        if not isinstance(getattr(rng, "type", None), RandomGeneratorType):
            what = f"rng must be a variable with the state of a generator, not {describe(rng)}"
            hint = "create one by `shared(numpy.random.default_rng(seed))`"
            raise ForeignObjectError(located(what, op=self, hint=hint))
        size, known = read_size(self, size)
        if known is not None and len(known) == len(self.lengths or ()):  # what was said stays
            known = tuple([b if a is None else a for a, b in zip(known, self.lengths or ())])
        op = version(self, self._dtype(None), known)
        variables = (rng, size, *map(as_parameter, params))
        if config.random_parameters == "aligned" and self.is_independent:
            variables = (rng, size, *aligned(op, variables[2:], known))
        types = op.output_types(tuple([v.type for v in variables]))
        return build_node(op, variables, types, user_origin())

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the types of the next state and of the draws."""
        expected, got = len(self.ins), len(types) - 2
        if got != expected:
            raise TypeError(located(f"takes {expected} parameters, not {got}", op=self))
        for t in types[2:]:
            if isinstance(t, TensorType) and t.kind == "c":
                raise DTypeError(f"parameters must be real numbers, not type {t}")
        return super().infer_types(types)

    def takes(self, types: Types) -> None:
        """Accept tensors as parameters."""
        super().takes(types[2:])

    def dtypes(self, *types: Any) -> Sequence[Any]:
        """Return the dtype of the draws; the state has none."""
        return [types[0], self.dtype]

    def shapes(self, *types: Any) -> Shapes:
        """Return the shape rule: the size, or the broadcast shape of the parameters, then the
        dimensions of one draw.
        """
        ranks = self.ranks(types)
        own = [t.shape[:n] for t, n in zip(types[2:], ranks)]
        batch, equal = broadcast([(), (), *own])
        if self.lengths is not None:
            batch, equal = self._against_size(types, ranks)
        places: dict[str, list[Any]] = {}
        for i, names in enumerate(self.ins):
            for k, name in enumerate(names):
                places.setdefault(name, []).append((i + 2, ranks[i] + k))
        equal += [group + ([int(name)] if name.isdigit() else []) for name, group in places.items()]
        one = [
            places[name][0] if name in places else int(name) if name.isdigit() else None
            for name in self.out
        ]
        return Shapes([[], [*batch, *one]], [group for group in equal if len(group) > 1])

    def ranks(self, types: Types) -> list[int]:
        """Return the number of dimensions of each parameter before those of one draw. Raise
        `NDimError`.
        """
        for i, (t, names) in enumerate(zip(types[2:], self.ins, strict=True)):
            if t.ndim < (n := len(names)):
                what = f"{self.parameters[i]} must have {dimensions(n)} or more, but has type {t}"
                raise NDimError(f"{what}: the signature is {self.signature}")
        return [t.ndim - len(names) for t, names in zip(types[2:], self.ins)]

    def _against_size(self, types: Types, ranks: Sequence[int]) -> tuple[list[Any], list[Any]]:
        """Return the lengths of the size, and the lengths of parameters that must equal them."""
        known = self.lengths or ()
        batch = [
            Computed(itemgetter(k), [Value(1)]) if n is None else n for k, n in enumerate(known)
        ]
        if max(ranks, default=0) > len(batch):
            what = (
                f"the size has {dimensions(len(batch))}, but parameters broadcast to {max(ranks)}"
            )
            raise NDimError(f"{what}; the size is the shape of all draws")
        equal = []
        for i, n in enumerate(ranks):
            own = types[i + 2].shape[:n]
            pairs = zip(range(n), own, batch[len(batch) - n :], strict=True)
            equal += [[(i + 2, axis), want] for axis, have, want in pairs if have != 1]
        return batch, equal

    def misfit(self, types: Types, group: Group) -> type[ShapeError]:
        """Return `BroadcastError` for lengths that broadcast, `ShapeError` for others."""
        i, axis = next(member for member in group if is_dimension(member))
        return BroadcastError if axis < self.ranks(types)[i - 2] else ShapeError

    def unequal(self, types: Types, shapes: Sequence[Any], group: Group, of: Any) -> ShapeError:
        """Return the error for lengths that differ, which names parameters."""
        named = self.named_lengths(types, shapes, group, of)
        return self.misfit(types, group)(f"lengths do not fit: {', '.join(named.values())}")

    def length_text(self, types: Types, shapes: Sequence[Any], member: Any, n: Any) -> str:
        """Return the description of one length."""
        if is_dimension(member):
            i, axis = member
            return f"dimension {axis} of {self.parameters[i - 2]}, of shape {shapes[i]}, is {n}"
        return f"the size is {n} there" if self.lengths else f"it must be {n}"

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters in error messages."""
        return [f"parameter {i}" for i in range(len(self.ins))]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch: independent draws for each element, with one state."""
        rng, size, *params = inputs
        old = tuple([v.type for v in node.inputs])
        if size.type.ndim != old[1].ndim:
            raise NDimError(located("a size cannot have a batch", op=self, inputs=inputs))
        rank, wide, batches = self.batch_ndim(node), [], []
        for x, t, n in zip(params, old[2:], self.ranks(old), strict=True):
            batch = x.type.ndim - t.ndim
            if batch:
                batches.append(lengths(x)[:batch])
                every = range(x.type.ndim)
                x = x.dimshuffle(*every[:batch], *["x"] * (rank - n), *every[batch:])
            wide.append(x)
        if self.lengths is not None:
            own = [size[k] if n is None else n for k, n in enumerate(self.lengths)]
            size = [*broadcast_shape(*batches, arrays_are_shapes=True), *own]
        return version(self, self.dtype, None).make_node(rng, size, *wide).outputs

    # --- running --------------------------------------------------------------------------------

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        """Draw. args: the values of the parameters, then the size, a tuple or None."""
        raise MethodNotDefined(f"{self} defines no rng_fn")

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Draw values. Raise `ParameterError`, `DTypeError`, `ShapeError`, `BroadcastError`."""
        rng, size, *params = inputs
        if size is not None:
            size = tuple(size.tolist())
            if min(size, default=0) < 0:
                self.fail(node, f"a length is negative: {size}")
        self.check(node, inputs)
        rng = rng if self.inplace else copied(rng)
        out = node.outputs[1].type
        try:
            draw = np.asarray(self.rng_fn(rng, *params, size), out.numpy_dtype)
        except RewriteEngineError as error:
            self.fail(node, str(error), type(error))
        except ValueError as error:
            self.fail(node, str(error), ParameterError)
        except TypeError as error:
            self.fail(node, str(error), DTypeError)
        if draw.shape != out.shape and not fits(draw.shape, out.shape):
            self.fail(node, f"drew an array of shape {draw.shape}, which is not one of {out.shape}")
        if not draw.flags.owndata or any([draw is x for x in params]):
            draw = draw.copy()  # (it may be a view of a parameter)
        output_storage[0][0] = rng
        output_storage[1][0] = draw

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Any:
        """Return the op that draws with the state itself instead of a copy."""
        return with_parameters(self, inplace=True) if 0 in allowed and not self.inplace else None

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return False: draws are not constants."""
        return False

    # --- derivatives ----------------------------------------------------------------------------

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the draws to the elements of the parameters."""
        return [[False, i > 1] for i in range(len(node.inputs))]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return undefined gradients for the parameters."""
        why = "no gradient is defined for random variables"
        params = [grad_undefined(self, i, x, why) for i, x in enumerate(inputs) if i > 1]
        return [disconnected(), disconnected(), *params]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return undefined tangents if a parameter has one."""
        moved = [i for i, point in enumerate(eval_points) if i > 1 and point is not None]
        why = "no derivative is defined for random variables"
        return [None, grad_undefined(self, moved[0], inputs[moved[0]], why) if moved else None]

    # --- as others read it ----------------------------------------------------------------------

    def rng_param(self, node: Apply) -> Any:
        """Return the state with which a node draws."""
        return node.inputs[0]

    def size_param(self, node: Apply) -> Any:
        """Return the size of a node's draws."""
        return node.inputs[1]

    def dist_params(self, node: Apply) -> Sequence[Any]:
        """Return the parameters of a node's distribution."""
        return list(node.inputs[2:])

    def batch_ndim(self, node: Apply) -> int:
        """Return the number of dimensions before those of one draw."""
        return node.outputs[1].type.ndim - self.ndim_supp  # type: ignore[no-any-return]

    def update(self, node: Apply) -> dict[Any, Any]:
        """Return {state: next state} for a node."""
        return {node.inputs[0]: node.outputs[0]}


class ScipyRandomVariable(RandomVariable):
    """Base class of draws by SciPy: a subclass defines `rng_fn_scipy(rng, *parameters, size)`."""

    def rng_fn_scipy(self, rng: Any, *args: Any) -> Any:
        """Draw values (arguments: see `rng_fn`)."""
        raise MethodNotDefined(f"{self} defines no rng_fn_scipy")

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        """Draw by `rng_fn_scipy`; without a size, SciPy drops leading lengths of 1."""
        drawn, (*params, size) = np.asarray(self.rng_fn_scipy(rng, *args)), args
        return drawn if size is not None else broadcast_all(drawn, params)


def as_parameter(x: Any) -> Any:
    """Return a parameter as a variable; objects with dimensions, such as a sparse matrix,
    unchanged.
    """
    is_other = isinstance(x, Variable) and x.type.ndim is not NO_RANK
    return x if is_other else as_tensor_variable(x)


def aligned(op: Any, params: Sequence[Any], size: Sequence[Any] | None) -> list[Any]:
    """Return parameters with equally many dimensions before those of one draw: as many as the size
    has, or the parameter with most of them.
    """
    own = [v.type.ndim - len(names) for v, names in zip(params, op.ins, strict=False)]
    most = max([*own, len(size or ())], default=0)
    return [
        v if n < 0 or n >= most else v.dimshuffle(*["x"] * (most - n), *range(v.type.ndim))
        for v, n in zip(params, own, strict=False)
    ]


def broadcast_all(drawn: np.ndarray, params: Sequence[Any]) -> np.ndarray:
    """Return draws broadcast to the shape of all parameters."""
    return np.broadcast_to(drawn, np.broadcast_shapes(*map(np.shape, params)))


def fits(shape: tuple[int, ...], static: tuple[int | None, ...]) -> bool:
    """Return whether a shape matches a static shape."""
    return len(shape) == len(static) and all([n in (None, k) for n, k in zip(static, shape)])


@lru_cache(maxsize=1024)
def version(op: Any, dtype: str, lengths: tuple[int | None, ...] | None) -> RandomVariable:
    """Return an op for another dtype and size."""
    return with_parameters(op, dtype=dtype, lengths=lengths)  # type: ignore[no-any-return]


def applies_to_inputs(args: Sequence[Any]) -> bool:
    """Return whether an op is applied to all inputs of a node, not to parameters alone.

    The first input is then a state (no distribution has one as parameter), or an input represents a
    pattern.
    """
    state = bool(args) and isinstance(getattr(args[0], "type", None), RandomGeneratorType)
    return state or any([hasattr(type(x), "__apply_op__") for x in args])


def by_ranks(name: str, ranks: Sequence[int] | None, rank: int) -> str:
    """Return a signature that states only numbers of dimensions. Raise `MethodNotDefined`.

    >>> by_ranks("", [0, 2], 1)
    '(),(d0,d1)->(d2)'
    """
    if ranks is None:
        raise MethodNotDefined(
            f"{name} has neither a signature nor ndims_params: define one of them"
        )
    number = itertools.count()
    sides = [
        ",".join([f"({','.join([f'd{next(number)}' for _ in range(n)])})" for n in side])
        for side in (ranks, [rank])
    ]
    return "->".join(sides)


def read_size(op: Any, size: Any) -> tuple[Any, tuple[int | None, ...] | None]:
    """Return a size as the input of a node, and its known lengths. Raise `DTypeError`, `NDimError`,
    `ShapeError`.
    """
    if size is None:
        return NoneConst, None
    if isinstance(size, Variable) and size.type is NoneConst.type:
        return size, None
    dims = shape_dims(size.tolist() if isinstance(size, np.ndarray) else size)
    for n in dims:
        kind = n.type.kind if isinstance(n, Variable) else np.asarray(n).dtype.kind
        if kind not in "iu":
            raise DTypeError(message(f"a size must consist of integers, not {n!r}", op=op))
    lengths = tuple(
        [getattr(n, "number", None) if isinstance(n, Variable) else int(n) for n in dims]
    )
    if any([n is not None and n < 0 for n in lengths]):
        raise ShapeError(located(f"a size must not be negative: {lengths}", op=op))
    if None not in lengths and not isinstance(size, Constant):
        return constant(np.array(lengths, "int64")), lengths
    if isinstance(size, Variable) and size.type.ndim == 1:
        return size if size.type.dtype == "int64" else cast(size, "int64"), lengths
    return make_vector(*[cast(as_tensor_variable(n), "int64") for n in dims]), lengths


def new_rng() -> Any:
    """Return a new shared generator with an arbitrary state."""
    return hooks.shared(np.random.default_rng(), borrow=True)
