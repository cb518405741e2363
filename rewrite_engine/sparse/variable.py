"""`SparseVariable` and `SparseConstant`: variables whose type is a `SparseTensorType`.

Each method calls the function of `rewrite_engine.sparse` with the same meaning; that package passes
itself in (`sp`). Attributes that only dense arrays have raise an `AttributeError` that says so.
"""

from __future__ import annotations

import warnings
from types import MethodType
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import DenseOnlyError, NotConstantError, describe
from rewrite_engine.graph.node import Constant, Variable

sp: Any = None  #: `rewrite_engine.sparse`, once it is imported

#: what a dense variable has, and a sparse one does not
DENSE_ONLY = frozenset(
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "clip",
        "cumprod",
        "cumsum",
        "dimshuffle",
        "fill",
        "flatten",
        "max",
        "mean",
        "min",
        "mT",
        "nonzero",
        "nonzero_values",
        "norm",
        "prod",
        "ptp",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "searchsorted",
        "sort",
        "squeeze",
        "std",
        "swapaxes",
        "take",
        "trace",
        "var",
        "cos",
        "cosh",
        "arccos",
        "arccosh",
        "exp",
        "exp2",
        "log",
        "log10",
        "log2",
    ]
)


def method_of_dense(x: SparseVariable, name: str) -> Any:
    """Return the method (or attribute) of that name of the matrix converted to a dense one. A
    warning says so when it is used.
    """

    def warn() -> None:
        what = f"{describe(x)} is converted to dense: sparse matrices have no {name!r}"
        warnings.warn(what, UserWarning, stacklevel=3)

    found = getattr(x.toarray(), name)
    if not isinstance(found, MethodType):
        warn()
        return found

    def method(*args: Any, **options: Any) -> Any:
        warn()
        dense = [a.toarray() if isinstance(a, SparseVariable) else a for a in args]
        return found(*dense, **options)

    method._is_dense_override = True  # type: ignore[attr-defined]  # (PyTensor's mark)
    return method


class SparseVariable(Variable):
    """Variable that represents a sparse matrix. `*` multiplies elements, `@` is the matrix product;
    `==` compares identity.
    """

    __slots__ = ()

    __array_ufunc__ = None  # `array * x` is ours to answer
    __array_priority__ = 1001

    def __getattr__(self, name: str) -> Any:
        if name in DENSE_ONLY:
            if config.sparse_methods == "warn":
                return method_of_dense(self, name)
            raise DenseOnlyError(
                f"{describe(self)}: sparse matrices have no {name!r}; use `.toarray().{name}` "
                "for a "
                f"dense matrix, or `sparse.structured({name!r}, x)` for the stored elements"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # --- what it is -------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return self.type.dtype  # type: ignore[no-any-return]

    @property
    def format(self) -> str:
        """The storage format: "csr" or "csc"."""
        return self.type.format  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions, always 2."""
        return 2

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each dimension, whether its static length is 1."""
        return self.type.broadcastable  # type: ignore[no-any-return]

    @property
    def shape(self) -> Any:
        """The shape, as an int64 vector, computed without making the matrix dense."""
        return sp.shape(self)

    @property
    def size(self) -> Any:
        """The number of stored elements, including zeros, as in SciPy: 0-d int64."""
        return sp.nnz(self)

    @property
    def nnz(self) -> Any:
        """The number of stored elements, including zeros: 0-d int64."""
        return sp.nnz(self)

    @property
    def indices(self) -> Any:
        """The column of each stored element (csc: its row), as an int32 vector."""
        return sp.csm_indices(self)

    @property
    def indptr(self) -> Any:
        """The positions at which rows (csc: columns) begin among the stored elements, as an int32
        vector.
        """
        return sp.csm_indptr(self)

    def __bool__(self) -> bool:
        raise NotConstantError(f"{describe(self)} has no truth value before the graph runs")

    def __len__(self) -> int:
        raise NotConstantError(
            f"the length of a sparse matrix, {describe(self)}, is ambiguous; use `.shape[0]`"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotConstantError(
            f"{describe(self)} has no values before the graph runs and cannot become a NumPy "
            "array; "
            "compute them by `.eval({input: value})` or a `function`"
        )

    # --- arithmetic -------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return sp.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return sp.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return sp.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return sp.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return sp.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return sp.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return sp.divide(self, other)

    def __pow__(self, other: Any) -> Any:
        return sp.structured_pow(self, other)

    def __matmul__(self, other: Any) -> Any:
        return sp.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return sp.matmul(other, self)

    def __neg__(self) -> Any:
        return sp.neg(self)

    def __abs__(self) -> Any:
        return sp.abs(self)

    def __ceil__(self) -> Any:
        return sp.ceil(self)

    def __floor__(self) -> Any:
        return sp.floor(self)

    def __trunc__(self) -> Any:
        return sp.trunc(self)

    def __lt__(self, other: Any) -> Any:
        return sp.lt(self, other)

    def __le__(self, other: Any) -> Any:
        return sp.le(self, other)

    def __gt__(self, other: Any) -> Any:
        return sp.gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return sp.ge(self, other)

    # --- parts ------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return sp.get_item(self, index)

    @property
    def T(self) -> Any:
        """The transpose, in the other format; a view."""
        return sp.transpose(self)

    def transpose(self) -> Any:
        """Return the transpose, in the other format; a view."""
        return sp.transpose(self)

    def diagonal(self) -> Any:
        """Return the diagonal as a dense vector."""
        return sp.diag(self)

    # --- as something else ------------------------------------------------------------------

    def toarray(self) -> Any:
        """Return the matrix as a dense one (structured gradient)."""
        return sp.dense_from_sparse(self)

    todense = toarray

    def asformat(self, format: str) -> Any:
        """Return the matrix in another format."""
        return sp.to_format(self, format)

    def tocsr(self) -> Any:
        """Return the matrix in the format csr."""
        return sp.to_format(self, "csr")

    def tocsc(self) -> Any:
        """Return the matrix in the format csc."""
        return sp.to_format(self, "csc")

    def astype(self, dtype: Any) -> Any:
        """Convert to another dtype."""
        return sp.cast(self, dtype)

    def copy(self, name: str | None = None) -> Any:
        """Return another variable with the same values."""
        found = sp.with_data(self, sp.csm_data(self))
        found.name = name
        return found

    def zeros_like(self, dtype: Any = None) -> Any:
        """Return a matrix of this shape without stored elements."""
        return sp.sp_zeros_like(self, dtype)

    def ones_like(self) -> Any:
        """Return ones at the stored elements."""
        return sp.sp_ones_like(self)

    # --- functions --------------------------------------------------------------------------

    def sum(self, axis: Any = None, sparse_grad: bool = False) -> Any:
        """Return the sum along an axis, or of all elements, as a dense array."""
        return sp.sp_sum(self, axis, sparse_grad)

    def dot(self, other: Any) -> Any:
        """Return the product with another matrix, or a vector (structured gradient)."""
        return sp.structured_dot(self, other)

    def multiply(self, other: Any) -> Any:
        """Return the elementwise product with another matrix."""
        return sp.multiply(self, other)

    def conj(self) -> Any:
        """Return the complex conjugate."""
        return sp.conjugate(self)

    conjugate = conj


def _method(name: str) -> Any:
    def method(self: Any) -> Any:
        return getattr(sp, name)(self)

    method.__name__, method.__doc__ = name, f"Return `{name}(x)` of the stored elements."
    return method


for _name in [
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "ceil",
    "deg2rad",
    "expm1",
    "floor",
    "log1p",
    "rad2deg",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]:
    setattr(SparseVariable, _name, _method(_name))


def _operator(name: str) -> Any:
    def operator(self: Any, other: Any) -> Any:
        if config.sparse_methods == "raise":
            return NotImplemented
        return method_of_dense(self, name)(other)

    operator.__name__, operator.__doc__ = name, "As of a dense matrix (`config.sparse_methods`)."
    operator._is_dense_override = True  # type: ignore[attr-defined]  # (PyTensor's mark)
    return operator


for _name in ["and", "divmod", "floordiv", "mod", "or", "xor"]:
    setattr(SparseVariable, f"__{_name}__", _operator(f"__{_name}__"))


class SparseConstant(SparseVariable, Constant):
    """Sparse matrix that is part of the graph. The arrays of `data` are read-only."""

    __slots__ = ()

    def as_number(self) -> Any:
        """Return None: a matrix is not a number."""
        return None

    def signature(self) -> Any:
        """Return a key that is equal for equal types, SciPy classes and stored bits."""
        if self._signature is None:
            from rewrite_engine.tensor.variable import _content

            x = self.data
            parts = tuple([(a.dtype.name, _content(a)) for a in (x.data, x.indices, x.indptr)])
            self._signature = (self.type, type(x), parts)
        return self._signature

    def __setstate__(self, state: dict[str, Any]) -> None:
        Constant.__setstate__(self, state)
        for x in (self.data.data, self.data.indices, self.data.indptr):
            x.flags.writeable = False

    def exact_text(self) -> str | None:
        return None

    def summary(self) -> str:
        """Return the format, the dtype, the shape, and the number of stored elements as text."""
        rows, columns = self.data.shape
        return f"{self.type.format} {self.type.dtype}[{rows}, {columns}] nnz={self.data.nnz}"
