"""`SparseTensorType`: matrices most of whose elements are 0, in the formats csr and csc."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse as scipy_sparse

from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    NDimError,
    OptionError,
    ShapeError,
    StaticShapeError,
    describe,
    did_you_mean,
    message,
)
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.type import Type
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.sparse import variable
from rewrite_engine.sparse.variable import SparseConstant, SparseVariable
from rewrite_engine.tensor.type import TensorType

#: {format: (SciPy's class of arrays, its class of matrices)}
FORMATS = {
    "csr": (scipy_sparse.csr_array, scipy_sparse.csr_matrix),
    "csc": (scipy_sparse.csc_array, scipy_sparse.csc_matrix),
}
#: the dtypes that SciPy computes with
all_dtypes = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


class SparseTensorType(Type):
    """Type of sparse matrices of one format, dtype and static shape.

    format: "csr" or "csc". dtype: any but float16. shape: two lengths, None if unknown. A value is
    an array of `scipy.sparse` (`csr_array`, `csc_array`) or a matrix (`csr_matrix`, `csc_matrix`)
    and stays in its class; dense values become arrays, or matrices with `config.sparse_values =
    "matrix"`. Raises `OptionError`, `DTypeError`, `NDimError`.

    >>> SparseTensorType("csr", "float64", (None, 3))
    Sparse(csr, float64, (None, 3))
    """

    __props__ = ("format", "dtype", "shape")
    variable_type: ClassVar[type[Variable]] = SparseVariable
    constant_type: ClassVar[type[Constant]] = SparseConstant
    ndim = 2
    regroups_exactly = False
    instead_of_tensor = (
        "this variable is a sparse matrix: use the functions of `rewrite_engine.sparse`, "
        "or make it dense with `.toarray()`"
    )

    def __init__(
        self,
        format: str,
        dtype: Any,
        shape: Iterable[int | None] | None = None,
        name: str | None = None,
        broadcastable: Iterable[bool] | None = None,
    ) -> None:
        if format not in FORMATS:
            hint = did_you_mean(format, FORMATS)
            raise OptionError(
                f"the format of a sparse matrix must be csr or csc, not {format!r}{hint}"
            )
        if shape is not None and broadcastable is not None:
            raise OptionError("SparseTensorType takes shape or broadcastable, not both")
        dims = shape if shape is not None else broadcastable
        dense = TensorType(dtype_name(dtype), (None, None) if dims is None else tuple(dims))
        if dense.dtype not in all_dtypes:
            raise DTypeError(f"a sparse matrix cannot have dtype {dense.dtype}")
        if dense.ndim != 2:
            raise NDimError(f"a sparse matrix must have 2 dimensions, not {dense.ndim}")
        self.format = format
        self.dtype: str = dense.dtype
        self.shape = dense.shape
        self.broadcastable = dense.broadcastable
        self.numpy_dtype: np.dtype[Any] = dense.numpy_dtype
        self.dense = dense
        self.regroups_exactly = dense.regroups_exactly

    def __str__(self) -> str:
        return f"Sparse({self.format}, {self.dtype}, {self.shape})"

    @property
    def is_continuous(self) -> bool:
        """Whether the dtype is a real or complex float."""
        return self.numpy_dtype.kind in "fc"

    def clone(  # type: ignore[override]
        self, dtype: Any = None, shape: Any = None, format: str | None = None, **changes: Any
    ) -> SparseTensorType:
        """Return a type with another dtype, shape or format."""
        dims = changes.pop("broadcastable", self.shape) if shape is None else shape
        if changes:
            raise TypeError(
                f"SparseTensorType.clone takes format, dtype and shape, not {sorted(changes)}"
            )
        return SparseTensorType(format or self.format, self.dtype if dtype is None else dtype, dims)

    # --- values -----------------------------------------------------------------------------

    @property
    def classes(self) -> tuple[type, type]:
        """SciPy's two classes of values; the first is that of values made from dense ones."""
        arrays, matrices = FORMATS[self.format]
        return (arrays, matrices) if config.sparse_values == "array" else (matrices, arrays)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return `data` as a matrix of this format and dtype.

        strict: accept only such a matrix. Otherwise other formats, dense matrices and nested lists
        are converted, and dtypes as in `TensorType.filter`. Raises `DTypeError`, `NDimError`,
        `StaticShapeError`, `ForeignObjectError`; all are a `TypeError`.
        """
        if type(data) in self.classes and data.dtype == self.numpy_dtype:
            if data.ndim != 2 or self.shape != (None, None):
                self._check_shape(data.shape)
            return data
        if strict:
            raise DTypeError(f"expected a {self.format} matrix of {self}, got {describe(data)}")
        found = self._convert(data, allow_downcast)
        self._check_shape(found.shape)
        return found

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            raise NDimError(f"expected 2 dimensions for {self}, got shape {shape}")
        for i, (want, got) in enumerate(zip(self.shape, shape, strict=True)):
            if want is not None and want != got:
                raise StaticShapeError(f"expected {self}, got shape {shape}: dimension {i} differs")

    def _convert(self, value: Any, allow_downcast: bool | None) -> Any:
        if isinstance(value, Variable):
            what = f"expected a value for {self}, got a variable"
            raise ForeignObjectError(message(what, inputs=[value]))
        if not is_sparse(value):
            dense = self.dense.clone(shape=(None, None)).filter(value, False, allow_downcast)
            return self.classes[0](dense)
        if value.ndim != 2:
            self._check_shape(value.shape)
        stored = value.data if hasattr(value, "indptr") else value.tocsr().data
        self.dense.clone(shape=(None,) * stored.ndim).filter(stored, False, allow_downcast)
        made = value.asformat(self.format)
        return made if made.dtype == self.numpy_dtype else made.astype(self.numpy_dtype)

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether two matrices have equal format, dtype, shape and elements (NaN equals
        NaN), whatever their storage (order, zeros, duplicates).
        """
        return self._same(a, b, lambda x, y: np.array_equal(x, y, equal_nan=self.is_continuous))

    def values_eq_approx(
        self, a: Any, b: Any, rtol: float | None = None, atol: float | None = None
    ) -> bool:
        """Return whether two matrices agree up to rounding (see `TensorType.values_eq_approx`)."""
        dense = self.dense.clone(shape=(None,))
        if not self.is_continuous:
            return self.values_eq(a, b)
        return self._same(a, b, lambda x, y: dense.values_eq_approx(x, y, rtol, atol))

    def _same(self, a: Any, b: Any, equal: Any) -> bool:
        """Return whether two matrices agree in everything but their elements, and `equal` holds for
        these.
        """
        if not (is_sparse(a) and is_sparse(b)):
            return False
        if (a.shape, a.dtype, a.format) != (b.shape, b.dtype, b.format):
            return False
        a, b = deduplicated(a), deduplicated(b)
        if np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices):
            return bool(equal(a.data, b.data))
        return bool(equal(*on_one_pattern(a, b)))

    @staticmethod
    def may_share_memory(a: Any, b: Any) -> bool:
        """Return whether the arrays of two matrices, or of one and a dense array, could share
        memory.
        """
        pairs = [(x, y) for x in arrays_of(a) for y in arrays_of(b)]
        return any([np.may_share_memory(x, y) for x, y in pairs])

    def get_shape_info(self, obj: Any) -> Any:
        """Return the number of bytes of the three arrays of a value."""
        return sum([x.nbytes for x in arrays_of(obj)])

    def get_size(self, shape_info: Any) -> int:
        """Return the number of bytes of a value."""
        return int(shape_info)

    # --- other types ------------------------------------------------------------------------

    def in_same_class(self, otype: Type) -> bool:
        """Return whether `otype` has the same format and dtype, and the same static 1s."""
        if not isinstance(otype, SparseTensorType):
            return False
        same = (self.format, self.dtype) == (otype.format, otype.dtype)
        return same and self.broadcastable == otype.broadcastable

    def is_super(self, otype: Type) -> bool | None:
        """Return whether all values of `otype` have this type: same format and dtype, and no known
        length differs.
        """
        if otype is self:
            return True
        if not isinstance(otype, SparseTensorType):
            return None
        if self.format != otype.format or self.dtype != otype.dtype:
            return False
        return all([s is None or s == o for s, o in zip(self.shape, otype.shape, strict=True)])

    def computes_like(self, otype: Type) -> bool:
        """Return whether ops compute with both types in one dtype."""
        return getattr(otype, "dtype", None) == self.dtype

    def convert_variable(self, var: Variable) -> Variable | None:
        """Return `var` itself if its type is as specific, converted if only its format differs or
        it is dense; else None.
        """
        otype = var.type
        if self.is_super(otype):
            return var
        if not isinstance(otype, SparseTensorType | TensorType) or otype.dtype != self.dtype:
            return None
        if otype.ndim != 2 or not self.dense.is_super(getattr(otype, "dense", otype)):
            return None
        return variable.sp.to_format(var, self.format)  # type: ignore[no-any-return]

    # --- gradients --------------------------------------------------------------------------

    def gradient_zeros(self, var: Variable) -> Variable:
        """Return a matrix without stored elements, in the shape and format of `var` and the dtype
        of its gradient.
        """
        return variable.sp.sp_zeros_like(var, self.gradient_dtype)  # type: ignore[no-any-return]

    @property
    def gradient_dtype(self) -> str:
        """The dtype of a gradient: the own dtype, or float64 if that is discrete."""
        return self.dtype if self.is_continuous else "float64"

    def as_gradient(self, g: Any) -> Any:
        """Return a gradient, dense or of another format, in this format and the dtype of
        gradients.
        """
        g = variable.sp.to_format(g, self.format)
        if g.type.numpy_dtype.kind == "c" and self.numpy_dtype.kind != "c":
            g = variable.sp.structured("real", g)
        return variable.sp.cast(g, self.gradient_dtype)

    def sum_of_gradients(self, terms: Sequence[Any]) -> Any:
        """Return the sum of gradients of one variable."""
        total = self.as_gradient(terms[0])
        for term in terms[1:]:
            total = variable.sp.add(total, self.as_gradient(term))
        return total

    # --- variables --------------------------------------------------------------------------

    def __call__(self, name: str | None = None, shape: Iterable[Any] | None = None) -> Any:
        """Return a new variable of this type, or of the subtype with this static shape. Raise
        `ShapeError`.
        """
        if shape is None:
            return self.make_variable(name)
        narrow = self.clone(shape=shape)
        if not self.is_super(narrow):
            raise ShapeError(f"shape {narrow.shape} does not belong to {self}")
        return narrow.make_variable(name)

    def make_constant(self, value: Any, name: str | None = None) -> Any:
        """Return a read-only constant; its type has the value's own shape."""
        found = self.filter(value)
        type_ = self if found.shape == self.shape else self.clone(shape=found.shape)
        kept = found.copy()
        for x in arrays_of(kept):
            x.flags.writeable = False
        return SparseConstant(type_, kept, name)


def is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse array or matrix of SciPy."""
    return bool(scipy_sparse.issparse(value))


def arrays_of(value: Any) -> list[np.ndarray]:
    """Return the arrays that a sparse matrix consists of; a dense one itself."""
    if isinstance(value, np.ndarray):
        return [value]
    return [value.data, value.indices, value.indptr] if hasattr(value, "indptr") else []


def deduplicated(x: Any) -> Any:
    """Return a matrix with sorted indices and no duplicates; unchanged if it is one."""
    if x.has_canonical_format:
        return x
    x = x.copy()
    x.sum_duplicates()
    return x


def on_one_pattern(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements of two canonical matrices at the union of their stored positions."""
    spots: Any = [_positions(x) for x in (a, b)]
    every = np.union1d(*spots)
    found = []
    for x, own in zip((a, b), spots, strict=True):
        values = np.zeros(len(every), x.dtype)
        values[np.searchsorted(every, own)] = x.data
        found.append(values)
    return found[0], found[1]


def major_of(x: Any) -> np.ndarray:
    """Return the row of each stored element (csc: its column)."""
    lengths = np.diff(x.indptr)
    return np.repeat(np.arange(len(lengths), dtype=x.indices.dtype), lengths)


def _positions(x: Any) -> np.ndarray:
    """Return a number for each stored element that identifies its position."""
    width = x.shape[1] if x.format == "csr" else x.shape[0]
    return major_of(x).astype("int64") * width + x.indices  # type: ignore[no-any-return]


def coordinates(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the column of each stored element."""
    major = major_of(x)
    return (major, x.indices) if x.format == "csr" else (x.indices, major)
