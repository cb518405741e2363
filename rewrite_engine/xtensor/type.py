"""`XTensorType`: the type of arrays with named dimensions; ops that convert to and from tensors;
variables and constants.

At run time a value is the array alone: the names belong to the type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from rewrite_engine.errors import DimsError, ForeignObjectError, NDimError, describe, dimensions
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.type import Type
from rewrite_engine.tensor.constant import as_tensor_variable, constant
from rewrite_engine.tensor.type import TensorType, read_only
from rewrite_engine.xtensor.variable import XTensorConstant, XTensorVariable


def named(dims: Any) -> tuple[str, ...]:
    """Return names of dimensions as a tuple; a single name becomes a tuple of one. Raise
    `DimsError`.
    """
    if isinstance(dims, str):
        return (dims,)
    given = tuple(dims) if isinstance(dims, Iterable) else (dims,)
    for dim in given:
        if not isinstance(dim, str):
            raise DimsError(
                located(f"the name of a dimension must be a string, not {describe(dim)}")
            )
    if len({*given}) < len(given):
        raise DimsError(located(f"the names of dimensions must differ: {given}"))
    return given


def is_named(x: Any) -> bool:
    """Return whether an object is a variable with named dimensions."""
    return getattr(getattr(x, "type", None), "dims", None) is not None


class XTensorType(Type):
    """Type of arrays of one dtype, with a name for each dimension.

    dtype: a dtype or its name. dims: the names, all different, in the order of the dimensions.
    shape: an integer or None (unknown) for each length; by default all are unknown. Equal types are
    one object. Raises `DimsError` for names that are not strings or not all different, `NDimError`
    for another number of lengths, `DTypeError`.

    >>> XTensorType("float64", dims=("city", "year"), shape=(3, None))
    XTensorType(float64, shape=(3, None), dims=('city', 'year'))
    """

    __props__ = ("dtype", "dims", "shape")
    instead_of_tensor = "its dimensions have names: use x.values, which has none"
    variable_type: ClassVar[type[Variable]] = XTensorVariable
    constant_type: ClassVar[Any] = XTensorConstant

    def __init__(
        self,
        dtype: Any,
        *,
        dims: Sequence[str] | str,
        shape: Iterable[int | None] | None = None,
        name: str | None = None,
    ) -> None:
        self.dims = named(dims)
        lengths = (None,) * len(self.dims) if shape is None else tuple(shape)
        #: the type of the same arrays without names
        self.tensor_type = TensorType(dtype, lengths)
        if self.tensor_type.ndim != len(self.dims):
            what = f"there are {len(self.dims)} names, {self.dims}, but the shape is {lengths}"
            raise NDimError(located(what))
        self.dtype, self.shape = self.tensor_type.dtype, self.tensor_type.shape
        self.ndim: int = len(self.dims)
        self.kind: str = self.tensor_type.kind
        self.numpy_dtype: np.dtype[Any] = self.tensor_type.numpy_dtype
        self.regroups_exactly = self.tensor_type.regroups_exactly
        self.broadcastable = (False,) * self.ndim  # (a length of 1 is stretched by a name alone)

    def __str__(self) -> str:
        return f"XTensorType({self.dtype}, shape={self.shape}, dims={self.dims})"

    def clone(
        self, dtype: Any = None, dims: Any = None, shape: Any = None, **unknown: Any
    ) -> XTensorType:
        """Return a type with another dtype, other names or another shape."""
        return XTensorType(
            self.dtype if dtype is None else dtype,
            dims=self.dims if dims is None else dims,
            shape=self.shape if shape is None else shape,
            **unknown,
        )

    # --- values -----------------------------------------------------------------------------------

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return a value as an array, as `TensorType.filter` does. An `xarray.DataArray` with these
        names is put in this order. Raise `DimsError` for other names.
        """
        if is_data_array(data):
            if {*data.dims} != {*self.dims}:
                raise DimsError(f"expected the dimensions {self.dims}, got {data.dims}")
            data = data.transpose(*self.dims).values
        return self.tensor_type.filter(data, strict, allow_downcast)

    def filter_inplace(
        self, value: Any, storage: Any, strict: bool = False, allow_downcast: bool | None = None
    ) -> Any:
        """Return a value as an array, written into the storage if possible (see
        `TensorType.filter_inplace`).
        """
        value = self.filter(value, strict, allow_downcast)
        return self.tensor_type.filter_inplace(value, storage, strict, allow_downcast)

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether two arrays are equal (see `TensorType.values_eq`)."""
        return self.tensor_type.values_eq(a, b)

    def values_eq_approx(self, a: Any, b: Any, **tolerance: Any) -> bool:
        """Return whether two arrays agree up to rounding (see `TensorType.values_eq_approx`)."""
        return self.tensor_type.values_eq_approx(a, b, **tolerance)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether two arrays could share memory."""
        return self.tensor_type.may_share_memory(a, b)

    def get_shape_info(self, obj: Any) -> Any:
        """Return the shape of a value."""
        return self.tensor_type.get_shape_info(obj)

    def get_size(self, shape_info: Any) -> int:
        """Return the number of bytes of an array with that shape."""
        return self.tensor_type.get_size(shape_info)

    # --- other types ------------------------------------------------------------------------------

    def is_super(self, otype: Type) -> bool | None:
        """Return whether all arrays of `otype` have this type: the same names in the same order,
        and no known length differs.
        """
        if not isinstance(otype, XTensorType):
            return None
        return otype.dims == self.dims and self.tensor_type.is_super(otype.tensor_type)

    def convert_variable(self, var: Variable) -> Variable | None:
        """Return a variable with these names, in this order; a tensor of this dtype and rank gets
        the names. None for others.
        """
        if self.is_super(var.type):
            return var
        if isinstance(var.type, XTensorType):
            if {*var.type.dims} != {*self.dims}:
                return None
            var = var.transpose(*self.dims)  # type: ignore[attr-defined]
            if self.is_super(var.type):
                return var
            var = tensor_from_xtensor(var)
        fitting = self.tensor_type.convert_variable(var)
        return None if fitting is None else xtensor_from_tensor(fitting, self.dims)

    def array_of(self, var: Variable) -> Variable:
        """Return the tensor with a variable's values."""
        return tensor_from_xtensor(var)  # type: ignore[no-any-return]

    def of_array(self, array: Variable) -> Variable:
        """Return a tensor with the names of this type."""
        return xtensor_from_tensor(array, self.dims)  # type: ignore[no-any-return]

    # --- variables --------------------------------------------------------------------------------

    def make_constant(self, value: Any, name: str | None = None) -> XTensorConstant:
        """Return a read-only constant; its type has the value's own shape."""
        array = self.filter(value)
        type_ = self if array.shape == self.shape else self.clone(shape=array.shape)
        return XTensorConstant(type_, read_only(array, value), name)


# --- what changes the type alone ------------------------------------------------------------------


class Renaming(Op):
    """Base class of ops whose output is their input under another type.

    Gradients of arrays with names are tensors, so they pass unchanged.
    """

    view_map = {0: [0]}
    must_view_map = {0: 0}
    moves_only = True

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Return the value itself."""
        output_storage[0][0] = inputs[0]

    def make_function(self, node: Apply) -> Any:
        """Return the function that returns its argument."""
        return _itself

    def equal_lengths(self, node: Apply) -> list[Any]:
        """Return no lengths: the op never fails."""
        return []

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the output gradient; as a tensor if it has names, as inside an op with an inner
        graph.
        """
        return [g.type.array_of(g) for g in output_gradients]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent of the input."""
        return list(eval_points)


def _itself(value: Any) -> Any:
    return value


class TensorFromXTensor(Renaming):
    """Values of an array with names, as a tensor. A tensor is returned unchanged.

    (PyMC's samplers of discrete variables replace an array with names by a tensor.)
    """

    __props__ = ()

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Return the type of the tensor. Raise `ForeignObjectError` for other inputs."""
        (type_,) = types
        if isinstance(type_, TensorType):
            return types
        if not isinstance(type_, XTensorType):
            raise ForeignObjectError(f"takes an array with named dimensions, not type {type_}")
        return [type_.tensor_type]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return a tensor with a batch for an array with more leading names."""
        (x,), (old,) = inputs, node.inputs
        return self.make_node(x.transpose(..., *old.type.dims)).outputs


class XTensorFromTensor(Renaming):
    """Tensor with names for its dimensions, in their order."""

    __props__: tuple[str, ...] = ("dims",)

    def __init__(self, dims: Sequence[str]) -> None:
        self.dims = named(dims)

    def convert_input(self, x: Any) -> Variable:
        """Convert the input to a tensor or a constant."""
        return as_tensor_variable(x)  # type: ignore[no-any-return]

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Return the type with names. Raise `NDimError` for another number of names."""
        (type_,) = types
        if not isinstance(type_, TensorType):
            raise ForeignObjectError(f"takes a tensor, not type {type_}")
        if type_.ndim != len(self.dims):
            what = f"{len(self.dims)} names, {self.dims}, for {dimensions(type_.ndim)}"
            raise NDimError(what)
        return [XTensorType(type_.dtype, dims=self.dims, shape=type_.shape)]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Raise `NDimError`: a batch has no name here."""
        hint = "use rewrite_engine.xtensor.vectorization.vectorize_graph, which names batches"
        raise NDimError(located("the batch has no name", op=self, inputs=inputs, hint=hint))

    def vectorize_named(self, inputs: Sequence[Any], batch: tuple[str, ...]) -> Sequence[Any]:
        """Apply the op to a batch, with the names of the batch first."""
        first = batch if inputs[0].type.ndim > len(self.dims) else ()
        return XTensorFromTensor((*first, *self.dims)).make_node(*inputs).outputs


tensor_from_xtensor = TensorFromXTensor()


def xtensor_from_tensor(x: Any, dims: Sequence[str], name: str | None = None) -> XTensorVariable:
    """Return a tensor with names for its dimensions. Raise `NDimError`, `DimsError`.

    >>> import rewrite_engine.tensor as pt
    >>> xtensor_from_tensor(pt.matrix("x"), ("city", "year")).dims
    ('city', 'year')
    """
    return XTensorFromTensor(dims)(x, name=name)


# --- making variables -----------------------------------------------------------------------------


def is_data_array(value: Any) -> bool:
    """Return whether a value is an `xarray.DataArray` (without loading `xarray` for others)."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(value, module.DataArray)


def xtensor(
    name: str | None = None,
    *,
    dims: Sequence[str] | str,
    shape: Sequence[int | None] | None = None,
    dtype: Any = "floatX",
) -> XTensorVariable:
    """Return a variable with named dimensions: `xtensor("x", dims=("city", "year"))`.

    shape: known lengths, None for others. dtype: by default `config.floatX`. Raises `DimsError`,
    `NDimError`, `DTypeError`.
    """
    return XTensorType(dtype, dims=dims, shape=shape)(name)


def values_and_dims(x: Any, dims: Any = None) -> tuple[Any, tuple[str, ...]]:
    """Return an array, and the names of its dimensions: those of a `DataArray`, or `dims`.

    Raises `NDimError` for no names or another number of names, `DimsError` for names that differ.
    """
    given = None if dims is None else named(dims)
    if is_data_array(x):
        if given not in (None, x.dims):
            hint = "transpose or rename it"
            raise DimsError(located(f"the dimensions are {x.dims}, not {given}", hint=hint))
        return x.values, named(x.dims)
    array = x.data if isinstance(x, XTensorConstant) else constant(x).data
    if given is None and array.ndim:
        what = f"the dimensions of the array have no names: {describe(x)}"
        raise NDimError(located(what, hint="name them by as_xtensor(x, dims=…)"))
    if given is not None and len(given) != array.ndim:
        raise NDimError(
            located(f"there are {len(given)} names, {given}, which do not fit {describe(x)}")
        )
    return array, given or ()


def xtensor_constant(
    x: Any, name: str | None = None, dims: Sequence[str] | None = None
) -> XTensorVariable:
    """Return a constant made from a `DataArray`, or from an array (a number, a list) with names for
    its dimensions.

    Raises `NDimError`, `DimsError`, `NoTensorError`.
    """
    array, dims = values_and_dims(x, dims)
    return XTensorType(array.dtype, dims=dims, shape=array.shape).make_constant(array, name)
