"""Arrays that a sparse matrix consists of, and conversions between sparse and dense.

`CSMProperties` splits a matrix into its arrays, `CSM` assembles one; `WithData` has the pattern of
another matrix. `At` reads elements at the stored positions of a matrix. `DenseFromSparse`,
`SparseFromDense` and `SpSum` convert between sparse and dense. Almost everything else is built from
these.

A gradient is *plain* if it is that of all elements, *structured* if it is omitted where no element
is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from operator import itemgetter
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, DTypeError, NDimError, OptionError, ShapeError, message
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.sparse.constant import as_sparse_or_tensor_variable, as_sparse_variable
from rewrite_engine.sparse.op import ANY, DENSE, KEEPS, SPARSE, SparseOp, is_sparse_variable
from rewrite_engine.sparse.tidy import canonical
from rewrite_engine.sparse.type import FORMATS, SparseTensorType, coordinates, deduplicated
from rewrite_engine.tensor.math import as_gradient_of
from rewrite_engine.tensor.op import Computed, Shapes, Value, same_shape
from rewrite_engine.tensor.shape import shape_tuple

__all__ = [
    "CSC",
    "CSM",
    "CSR",
    "At",
    "CSMProperties",
    "DenseFromSparse",
    "SpSum",
    "SparseFromDense",
    "WithData",
    "csc_from_dense",
    "csm_data",
    "csm_indices",
    "csm_indptr",
    "csm_properties",
    "csm_shape",
    "csr_from_dense",
    "dense_from_sparse",
    "entries_at",
    "nnz",
    "shape",
    "sp_ones_like",
    "sp_sum",
    "sp_zeros_like",
    "with_data",
]


def only(first: int, node: Apply) -> list[list[bool]]:
    """Return the connection pattern of an op with one connected input."""
    return [[i == first] * len(node.outputs) for i in range(len(node.inputs))]


# --- parts ------------------------------------------------------------------------------------


class CSMProperties(SparseOp):
    """Arrays that a matrix consists of: `data`, `indices`, `indptr` (as in SciPy), and its `shape`;
    all but the first are int32. Views.

    Plain gradient of the stored elements: a matrix with the pattern of the input.
    """

    __props__ = ()
    output_names = ("data", "indices", "indptr", "shape")
    nout = 4
    only_lengths = True
    entries_of = 0
    view_map = {0: [0], 1: [0], 2: [0]}
    samples: Sequence[Any] = (({}, (3, 4)), ({}, (0, 2)))

    def formats(self, *types: Any) -> list[None]:
        return [None] * 4

    def dtypes(self, *types: Any) -> list[str]:
        return [types[0].dtype, "int32", "int32", "int32"]

    def shapes(self, *types: Any) -> Shapes:
        major = (0, 0 if types[0].format == "csr" else 1)
        return Shapes([[None], [None], [Computed(one_more, [major])], [2]])

    def function(self, node: Apply) -> Callable[..., Any]:
        def run(x: Any) -> Any:
            indices = x.indices.astype("int32", copy=False)
            return x.data, indices, x.indptr.astype("int32", copy=False), np.array(x.shape, "int32")

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of `data` only."""
        return [[True, False, False, False]]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        (x,), g = inputs, output_gradients[0]
        return [disconnected() if is_disconnected(g) else WithData()(x, g)]


def one_more(n: Any) -> Any:
    """Return n + 1 for an integer or a variable."""
    return n + 1


csm_properties = CSMProperties()


def csm_data(csm: Any) -> Any:
    """Return the stored elements of a sparse matrix as a vector."""
    return csm_properties(as_sparse_variable(csm))[0]


def csm_indices(csm: Any) -> Any:
    """Return the column of each stored element (csc: its row) as an int32 vector."""
    return csm_properties(as_sparse_variable(csm))[1]


def csm_indptr(csm: Any) -> Any:
    """Return the positions at which rows (csc: columns) begin among the stored elements, as an
    int32 vector.
    """
    return csm_properties(as_sparse_variable(csm))[2]


def csm_shape(csm: Any) -> Any:
    """Return the shape as an int32 vector of two."""
    return csm_properties(as_sparse_variable(csm))[3]


def nnz(x: Any) -> Any:
    """Return the number of stored elements, including zeros, as 0-d int64."""
    return csm_data(x).shape[0]


def shape(x: Any) -> Any:
    """Return the shape of a sparse matrix as an int64 vector, without making it dense."""
    return pt.stack(shape_tuple(as_sparse_variable(x)))


class CSM(SparseOp):
    """Sparse matrix from its parts: data, indices, indptr and shape, as in SciPy; a SciPy array
    that shares their memory.

    format: "csr" or "csc". Raises `ShapeError` if the parts do not fit together. The gradient is
    that of the stored elements.
    """

    __props__ = ("format",)
    nin = 4
    kinds = (DENSE,) * 4
    view_map = {0: [0, 1, 2]}
    implied = {
        "band": lambda f, data, i, p, shape: f.on_diagonal(i, p),
        "stored_once": lambda f, data, i, p, shape: f.on_diagonal(i, p),
    }
    may_fail = True
    samples: Sequence[Any] = (
        ({"format": "csr"}, (3,), [1, 0, 1], [0, 2, 3], [2, 3]),
        ({"format": "csc"}, (3,), [1, 0, 1], [0, 2, 3], [2, 2]),
        ({"format": "csr"}, (0,), [], [0], [0, 3]),
    )

    def __init__(self, format: str) -> None:
        if format not in FORMATS:
            raise OptionError(f"the format of a sparse matrix must be csr or csc, not {format!r}")
        self.format = format

    def __str__(self) -> str:
        return self.format.upper()

    def make_node(  # type: ignore[override]
        self, data: Any, indices: Any, indptr: Any, shape: Any
    ) -> Apply:
        """Return the node; a constant shape, or the shape of a matrix, becomes static."""
        given = [np.zeros(0, "int32") if isinstance(x, list) and not x else x
                 for x in (indices, indptr, shape)]  # fmt: skip
        variables = (pt.as_tensor_variable(data), *map(pt.as_tensor_variable, given))
        known = static_numbers(variables[3])
        numbers = () if known is None else (None, None, None, known)
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def dtypes(self, *types: Any) -> list[str]:
        if any([t.kind not in "iu" for t in types[1:]]):
            raise DTypeError("indices, indptr and shape must be vectors of integers")
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        if any([t.ndim != 1 for t in types]):
            raise NDimError("takes four vectors: data, indices, indptr, shape")
        lengths = [Computed(itemgetter(i), [Value(3)]) for i in (0, 1)]
        return Shapes([lengths], [[(0, 0), (1, 0)], [(3, 0), 2]])

    def function(self, node: Apply) -> Callable[..., Any]:
        make = node.outputs[0].type.classes[0]

        def run(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
            try:
                found = make((data, indices, indptr), shape=tuple(shape.tolist()), copy=False)
                found.check_format(full_check=True)
            except (ValueError, IndexError) as error:
                self.fail(node, str(error))
            return found

        return run

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the two numbers of the shape."""
        return [tuple([pt.cast(node.inputs[3][i], "int64") for i in (0, 1)])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the data only."""
        return only(0, node)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], gs: Sequence[Any]) -> list[Any]:
        return [At()(gs[0], outputs[0]), *[disconnected() for _ in inputs[1:]]]


def static_numbers(shape: Any) -> tuple[int | None, ...] | None:
    """Return the two lengths in a vector; None for unknown ones."""
    if isinstance(shape, Constant):
        return tuple(map(int, shape.data))
    if shape.owner is not None and shape.owner.op is csm_properties:
        return shape.owner.inputs[0].type.shape  # type: ignore[no-any-return]
    return None


CSR, CSC = CSM("csr"), CSM("csc")


class WithData(SparseOp):
    """Sparse matrix with the pattern of the first input and other data: a vector with one number
    for each stored element.

    The result shares memory with both. The gradient of the data is the stored elements; nothing
    depends on the elements of the first input. Raises `ShapeError` for another number of elements.
    """

    __props__ = ()
    nin = 2
    kinds = (SPARSE, DENSE)
    view_map = {0: [0, 1]}
    entries_of = 0
    implied = {**KEEPS, "fits": lambda f, x, data: f.one_for_each(data, x)}
    may_fail = True
    samples: Sequence[Any] = (({}, (3, 4), "entries"),)

    def __str__(self) -> str:
        return "with_data"

    def dtypes(self, *types: Any) -> list[str]:
        return [types[1].dtype]

    def shapes(self, *types: Any) -> Shapes:
        if types[1].ndim != 1:
            raise NDimError(f"takes a vector of data, not type {types[1]}")
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        def run(x: Any, data: Any) -> Any:
            if data.shape != x.data.shape:
                what = f"{len(data)} elements where {len(x.data)} are stored"
                self.fail(node, what, ShapeError)
            found = copy(x)
            found.data = data
            return found

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the data only."""
        return only(1, node)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        return [disconnected(), At()(output_gradients[0], inputs[0])]


def with_data(x: Any, data: Any) -> Any:
    """Return a matrix with the pattern of `x` and other data: a vector with one number for each
    stored element.
    """
    return WithData()(as_sparse_variable(x), data)


def sp_ones_like(x: Any) -> Any:
    """Return ones at the stored elements of `x`, in its format and dtype."""
    return with_data(x, pt.ones_like(csm_data(x)))


def sp_zeros_like(x: Any, dtype: Any = None) -> Any:
    """Return a matrix without stored elements in the shape and format of `x` (and its dtype by
    default).
    """
    x = as_sparse_variable(x)
    _, _, indptr, shape = csm_properties(x)
    data = np.zeros(0, x.type.dtype if dtype is None else dtype)
    return CSM(x.type.format)(data, np.zeros(0, "int32"), pt.zeros_like(indptr), shape)


# --- elements ---------------------------------------------------------------------------------


class At(SparseOp):
    """Elements of y at the stored elements of s, in the order of `csm_data(s)`: a vector.

    y: sparse, or dense with up to two dimensions, broadcast to the shape of s (static lengths of 1,
    as in elementwise ops). Plain gradient; nothing depends on the elements of s.
    """

    __props__ = ()
    nin = 2
    kinds = (ANY, SPARSE)
    entries_of = 1
    stretches = False
    only_lengths = True
    view_map = {0: [0]}
    samples: Sequence[Any] = (
        ({}, ("dense", 3, 4), (3, 4)),
        ({}, ("dense", 4), (3, 4)),
        ({}, ("dense", 3, 1), (3, 4)),
        ({}, ("dense", 1, 4), (3, 4)),
        ({}, ("dense",), (3, 4)),
        ({}, ("sparse", 3, 4), (3, 4)),
    )

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def shapes(self, *types: Any) -> Shapes:
        y = types[0]
        if y.ndim > 2:
            raise NDimError(f"takes an array with up to 2 dimensions, not type {y}")
        off = 2 - y.ndim
        pairs = [[(0, i), (1, i + off)] for i in range(y.ndim) if y.shape[i] != 1]
        return Shapes([[None]], pairs)

    def function(self, node: Apply) -> Callable[..., Any]:
        y, s = [v.type for v in node.inputs]
        if isinstance(y, SparseTensorType):
            return stored_at
        ones = (1,) * (2 - y.ndim) + y.shape
        if ones == (1, 1):
            return lambda y, s: np.repeat(y.reshape(1), len(s.data))
        minor = 1 if s.format == "csr" else 0
        if ones[1 - minor] == 1:  # the index alone says which one
            return lambda y, s: y.reshape(-1)[s.indices]
        if ones[minor] == 1:
            return lambda y, s: np.repeat(y.reshape(-1), np.diff(s.indptr))
        return lambda y, s: y[coordinates(s)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of y only."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        y, s = inputs
        (g,) = output_gradients
        return [as_gradient_of(y, summed_to(y, s, g)), disconnected()]


def stored_at(y: Any, s: Any) -> np.ndarray:
    """Return the elements of a sparse matrix at the stored elements of another one."""
    same = y.format == s.format and y.indptr is s.indptr and y.indices is s.indices
    if same and y.has_canonical_format:
        return y.data  # type: ignore[no-any-return]
    if y.format == s.format and y.data.shape == s.data.shape and y.has_canonical_format:
        if np.array_equal(y.indptr, s.indptr) and np.array_equal(y.indices, s.indices):
            return y.data  # type: ignore[no-any-return]
    return elements(y, *coordinates(s))


def elements(x: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the elements of a sparse matrix at some positions."""
    if not len(rows):
        return np.zeros(0, x.dtype)
    found = deduplicated(x)[rows, columns]
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, x.dtype).reshape(-1)


def summed_to(y: Any, s: Any, g: Any) -> Any:
    """Return the gradient of y from the gradient g of its elements at those of s."""
    if is_sparse_variable(y):
        return WithData()(s, g)
    ones = (1,) * (2 - y.type.ndim) + y.type.shape
    if ones == (1, 1):
        total = pt.sum(g)
    elif ones[0] == 1:
        total = SpSum(0, True)(WithData()(s, g))
    elif ones[1] == 1:
        total = SpSum(1, True)(WithData()(s, g))
    else:
        return DenseFromSparse()(WithData()(s, g))
    return pt.reshape(total, [1 if n == 1 else -1 for n in y.type.shape])


def entries_at(y: Any, s: Any) -> Any:
    """Return the elements of y at the stored elements of s, in the order of `csm_data(s)`, as a
    vector.

    y: sparse, or dense with up to two dimensions, broadcast to the shape of s.
    """
    return At()(as_sparse_or_tensor_variable(y), as_sparse_variable(s))


# --- dense and sparse -------------------------------------------------------------------------


class DenseFromSparse(SparseOp):
    """Dense matrix with all elements of a sparse one. structured: whether the gradient is omitted
    where no element is stored.
    """

    __props__ = ("structured",)
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 4)), ({"structured": False}, (3, 4)), ({}, (0, 2)))

    implied = {"band": KEEPS["band"]}

    def __init__(self, structured: bool = True) -> None:
        self.structured = bool(structured)

    def __str__(self) -> str:
        return "dense_from_sparse" if self.structured else "DenseFromSparse{structured=False}"

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def shapes(self, *types: Any) -> Shapes:
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        return lambda x: x.toarray()

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, output_gradients
        if self.structured:
            return [as_structured(x, lambda at: At()(g, at))]
        return [SparseFromDense(x.type.format)(g)]


def as_structured(x: Any, of: Callable[[Any], Any]) -> Any:
    """Return a gradient at the stored elements of x; `of(pattern)` returns the elements there."""
    pattern = canonical(x)
    return WithData()(pattern, of(pattern))


def dense_from_sparse(x: Any) -> Any:
    """Return a sparse matrix as a dense one; a dense one unchanged. The gradient is structured."""
    x = as_sparse_or_tensor_variable(x)
    return DenseFromSparse()(x) if is_sparse_variable(x) else x


class SparseFromDense(SparseOp):
    """Sparse matrix that stores the nonzero elements of a dense one. Plain gradient."""

    __props__ = ("format",)
    implied = {"band": KEEPS["band"], "stored_once": True}
    kinds = (DENSE,)
    only_lengths = True
    samples: Sequence[Any] = (
        ({"format": "csr"}, ("dense", 3, 4)),
        ({"format": "csc"}, ("dense", 3, 4)),
    )

    def __init__(self, format: str) -> None:
        self.format = CSM(format).format

    def __str__(self) -> str:
        return f"{self.format}_from_dense"

    def __call__(self, x: Any, **options: Any) -> Any:  # type: ignore[override]
        """Return a sparse matrix unchanged; a vector becomes a matrix of one row, a number one of
        one element. Raise `NDimError`.
        """
        if is_sparse_variable(x) or hasattr(type(x), "__apply_op__"):
            return x if is_sparse_variable(x) else super().__call__(x, **options)
        x = pt.as_tensor_variable(x)
        if x.type.ndim > 2:
            raise NDimError(message("a sparse matrix must have 2 dimensions", op=self, inputs=[x]))
        return super().__call__(pt.atleast_2d(x) if x.type.ndim < 2 else x, **options)

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def shapes(self, *types: Any) -> Shapes:
        if types[0].ndim != 2:
            raise NDimError(f"takes a matrix, not type {types[0]}")
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        return node.outputs[0].type.classes[0]  # type: ignore[no-any-return]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [as_gradient_of(inputs[0], DenseFromSparse(False)(output_gradients[0]))]


csr_from_dense, csc_from_dense = SparseFromDense("csr"), SparseFromDense("csc")


class SpSum(SparseOp):
    """Sum of all elements (axis None), or of each column (0) or row (1), as a dense array.

    The dtype is that of `numpy.sum`. sparse_grad: whether the gradient is structured; else it is a
    sparse matrix that stores all elements. Raises `AxisError`.
    """

    __props__ = ("axis", "sparse_grad")
    only_lengths = True
    samples: Sequence[Any] = tuple(
        [({"axis": a, "sparse_grad": g}, (3, 4)) for a in (None, 0, 1) for g in (False, True)]
    ) + (({"axis": 0, "sparse_grad": False}, (0, 2)),)

    def __init__(self, axis: int | None = None, sparse_grad: bool = True) -> None:
        if axis not in (None, 0, 1):
            raise AxisError(f"the axis of a sum must be 0, 1 or None, not {axis!r}")
        self.axis = axis
        self.sparse_grad = bool(sparse_grad)

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def dtypes(self, *types: Any) -> list[str]:
        return [np.zeros(1, types[0].numpy_dtype).sum().dtype.name]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[] if self.axis is None else [(0, 1 - self.axis)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        axis, dtype = self.axis, node.outputs[0].type.numpy_dtype
        if axis is None:
            return lambda x: np.asarray(x.data[: x.indptr[-1]].sum(dtype=dtype))
        return lambda x: np.asarray(x.sum(axis=axis), dtype).reshape(-1)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, output_gradients
        wide = g if self.axis is None else g[None, :] if self.axis == 0 else g[:, None]
        if self.sparse_grad:
            return [as_structured(x, lambda at: At()(wide, at))]
        full = pt.alloc(wide, *shape_tuple(x))
        return [SparseFromDense(x.type.format)(full)]


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """Return the sum of a sparse matrix: of all elements, of each column (axis 0) or row (1).

    sparse_grad: whether the gradient is structured (omitted where no element is stored); else it is
    a sparse matrix that stores all elements. Raises `AxisError`.
    """
    axis = axis + 2 if axis is not None and axis < 0 else axis
    return SpSum(axis, sparse_grad)(as_sparse_variable(x))
