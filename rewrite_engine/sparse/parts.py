"""What a sparse matrix consists of, and how it becomes dense and back.

`CSMProperties` takes a matrix apart, `CSM` puts one together; `WithData` has the pattern of another
one. `At` reads elements where a matrix has some stored. `DenseFromSparse`, `SparseFromDense` and
`SpSum` stand between sparse and dense. Almost all else is made of these.

A gradient is *plain* if it is that of all elements, *structured* if it is left out where nothing is
stored.
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
    """The connection pattern of an op of whose inputs one counts, and the positions of others."""
    return [[i == first] * len(node.outputs) for i in range(len(node.inputs))]


# --- parts ------------------------------------------------------------------------------------


class CSMProperties(SparseOp):
    """The arrays that a matrix consists of: `data`, `indices`, `indptr` (as SciPy has them), and
    its `shape`; all but the first are int32. Views.

    Plain gradient: of what is stored, so it is one matrix with the pattern of the input.
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
        """Only elements of `data` are."""
        return [[True, False, False, False]]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        (x,), g = inputs, output_gradients[0]
        return [disconnected() if is_disconnected(g) else WithData()(x, g)]


def one_more(n: Any) -> Any:
    """n + 1, of an integer or a variable."""
    return n + 1


csm_properties = CSMProperties()


def csm_data(csm: Any) -> Any:
    """Return what is stored in a sparse matrix: a vector."""
    return csm_properties(as_sparse_variable(csm))[0]


def csm_indices(csm: Any) -> Any:
    """Return the column of each stored element (of csc: its row): an int32 vector."""
    return csm_properties(as_sparse_variable(csm))[1]


def csm_indptr(csm: Any) -> Any:
    """Return where rows (of csc: columns) begin among the stored elements: an int32 vector."""
    return csm_properties(as_sparse_variable(csm))[2]


def csm_shape(csm: Any) -> Any:
    """Return the shape: an int32 vector of two."""
    return csm_properties(as_sparse_variable(csm))[3]


def nnz(x: Any) -> Any:
    """Return how many elements are stored, zeros among them: 0-d int64."""
    return csm_data(x).shape[0]


def shape(x: Any) -> Any:
    """Return the shape of a sparse matrix as an int64 vector; nothing dense is made for it."""
    return pt.stack(shape_tuple(as_sparse_variable(x)))


class CSM(SparseOp):
    """A matrix of its parts: data, indices, indptr and shape, as SciPy has them; an array of SciPy
    that shares their memory.

    format: "csr" or "csc". Raises `ShapeError` where the parts do not fit together. The gradient is
    that of what is stored.
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
            raise OptionError(f"a sparse matrix has the format csr or csc, not {format!r}")
        self.format = format

    def __str__(self) -> str:
        return self.format.upper()

    def make_node(  # type: ignore[override]
        self, data: Any, indices: Any, indptr: Any, shape: Any
    ) -> Apply:
        """Return the node; a shape that is constant, or that of a matrix, is known to types."""
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
            raise DTypeError("indices, indptr and shape are vectors of integers")
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
        """The two numbers."""
        return [tuple([pt.cast(node.inputs[3][i], "int64") for i in (0, 1)])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """The data are."""
        return only(0, node)

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], gs: Sequence[Any]) -> list[Any]:
        return [At()(gs[0], outputs[0]), *[disconnected() for _ in inputs[1:]]]


def static_numbers(shape: Any) -> tuple[int | None, ...] | None:
    """The two lengths that a vector is, as far as they are known."""
    if isinstance(shape, Constant):
        return tuple(map(int, shape.data))
    if shape.owner is not None and shape.owner.op is csm_properties:
        return shape.owner.inputs[0].type.shape  # type: ignore[no-any-return]
    return None


CSR, CSC = CSM("csr"), CSM("csc")


class WithData(SparseOp):
    """A matrix that has the pattern of the first input, with other data: a vector of as many
    elements as are stored there. Both share their memory with it.

    The gradient of the data is what is stored; nothing depends on the elements of the first input.
    Raises `ShapeError` where there are more or fewer elements.
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
            raise NDimError(f"takes a vector of data, not a {types[1]}")
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
        """The data are."""
        return only(1, node)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        return [disconnected(), At()(output_gradients[0], inputs[0])]


def with_data(x: Any, data: Any) -> Any:
    """Return a matrix with the pattern of `x` and other data: a vector, one element for each that
    is stored.
    """
    return WithData()(as_sparse_variable(x), data)


def sp_ones_like(x: Any) -> Any:
    """Return ones where `x` has an element stored, in its format and dtype."""
    return with_data(x, pt.ones_like(csm_data(x)))


def sp_zeros_like(x: Any, dtype: Any = None) -> Any:
    """Return a matrix of the shape and format of `x` (and its dtype) in which nothing is stored."""
    x = as_sparse_variable(x)
    _, _, indptr, shape = csm_properties(x)
    data = np.zeros(0, x.type.dtype if dtype is None else dtype)
    return CSM(x.type.format)(data, np.zeros(0, "int32"), pt.zeros_like(indptr), shape)


# --- elements ---------------------------------------------------------------------------------


class At(SparseOp):
    """The elements of y where s has some stored, in the order of `csm_data(s)`: a vector.

    y: sparse, or dense of up to two dimensions, which is broadcast to the shape of s (as in
    elementwise ops, where its length is known to be 1). Plain gradient; nothing depends on the
    elements of s.
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
            raise NDimError(f"takes up to 2 dimensions, not a {y}")
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
        """Those of y."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        y, s = inputs
        (g,) = output_gradients
        return [as_gradient_of(y, summed_to(y, s, g)), disconnected()]


def stored_at(y: Any, s: Any) -> np.ndarray:
    """The elements of a sparse matrix where another one has some stored."""
    same = y.format == s.format and y.indptr is s.indptr and y.indices is s.indices
    if same and y.has_canonical_format:
        return y.data  # type: ignore[no-any-return]
    if y.format == s.format and y.data.shape == s.data.shape and y.has_canonical_format:
        if np.array_equal(y.indptr, s.indptr) and np.array_equal(y.indices, s.indices):
            return y.data  # type: ignore[no-any-return]
    return elements(y, *coordinates(s))


def elements(x: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The elements of a sparse matrix at some places."""
    if not len(rows):
        return np.zeros(0, x.dtype)
    found = deduplicated(x)[rows, columns]
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, x.dtype).reshape(-1)


def summed_to(y: Any, s: Any, g: Any) -> Any:
    """The gradient of y where that of its elements at those of s is g."""
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
    """Return the elements of y where s has some stored, in the order of `csm_data(s)`: a vector.

    y: sparse, or dense of up to two dimensions, broadcast to the shape of s.
    """
    return At()(as_sparse_or_tensor_variable(y), as_sparse_variable(s))


# --- dense and sparse -------------------------------------------------------------------------


class DenseFromSparse(SparseOp):
    """The matrix with all its elements. structured: whether the gradient is left out where nothing
    is stored.
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
    """A gradient where something is stored in x: of(pattern) gives the elements there."""
    pattern = canonical(x)
    return WithData()(pattern, of(pattern))


def dense_from_sparse(x: Any) -> Any:
    """Return a sparse matrix as a dense one; a dense one as it is. The gradient is structured."""
    x = as_sparse_or_tensor_variable(x)
    return DenseFromSparse()(x) if is_sparse_variable(x) else x


class SparseFromDense(SparseOp):
    """A matrix of which the elements that are not 0 are stored. Plain gradient."""

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
        """A sparse matrix stays what it is; a vector is a matrix of one row, a number of one
        element. Raises `NDimError`.
        """
        if is_sparse_variable(x) or hasattr(type(x), "__apply_op__"):
            return x if is_sparse_variable(x) else super().__call__(x, **options)
        x = pt.as_tensor_variable(x)
        if x.type.ndim > 2:
            raise NDimError(message("a sparse matrix has 2 dimensions", op=self, inputs=[x]))
        return super().__call__(pt.atleast_2d(x) if x.type.ndim < 2 else x, **options)

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def shapes(self, *types: Any) -> Shapes:
        if types[0].ndim != 2:
            raise NDimError(f"takes a matrix, not a {types[0]}")
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        return node.outputs[0].type.classes[0]  # type: ignore[no-any-return]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [as_gradient_of(inputs[0], DenseFromSparse(False)(output_gradients[0]))]


csr_from_dense, csc_from_dense = SparseFromDense("csr"), SparseFromDense("csc")


class SpSum(SparseOp):
    """The sum of all elements (axis None), of those of each column (0) or row (1): dense.

    The dtype is that of `numpy.sum`. sparse_grad: whether the gradient is structured; else it is a
    sparse matrix in which all elements are stored. Raises `AxisError`.
    """

    __props__ = ("axis", "sparse_grad")
    only_lengths = True
    samples: Sequence[Any] = tuple(
        [({"axis": a, "sparse_grad": g}, (3, 4)) for a in (None, 0, 1) for g in (False, True)]
    ) + (({"axis": 0, "sparse_grad": False}, (0, 2)),)

    def __init__(self, axis: int | None = None, sparse_grad: bool = True) -> None:
        if axis not in (None, 0, 1):
            raise AxisError(f"the axis of a sum is 0, 1 or None, not {axis!r}")
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

    sparse_grad: whether the gradient is structured, left out where nothing is stored; else it is a
    sparse matrix in which all elements are stored. Raises `AxisError`.
    """
    axis = axis + 2 if axis is not None and axis < 0 else axis
    return SpSum(axis, sparse_grad)(as_sparse_variable(x))
