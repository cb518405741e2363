"""Parts of sparse matrices, and matrices from elements at given positions: `x[...]`, diagonals,
`from_coordinates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse as scipy_sparse

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, DTypeError, NDimError
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.sparse.constant import as_sparse_variable
from rewrite_engine.sparse.convert import to_format, transpose
from rewrite_engine.sparse.op import DENSE, SPARSE, SparseOp
from rewrite_engine.sparse.parts import (
    CSR,
    SparseFromDense,
    csm_shape,
    elements,
    only,
    static_numbers,
)
from rewrite_engine.sparse.product import TrueDot, true_dot
from rewrite_engine.tensor.index.diagonals import diagonal_length
from rewrite_engine.tensor.index.template import (
    INPUT,
    Slice,
    Template,
    as_indices,
    consumed,
    fill,
    lengths_of,
    parse,
    show,
    tokens_of,
)
from rewrite_engine.tensor.math import as_gradient_of
from rewrite_engine.tensor.op import Computed, Shapes, Value
from rewrite_engine.tensor.shape import shape_i

__all__ = [
    "Elements",
    "FromCoordinates",
    "SparseDiagonal",
    "SparseRows",
    "SparseSlices",
    "SquareDiagonal",
    "construct_sparse_from_list",
    "diag",
    "eye",
    "from_coordinates",
    "get_item",
    "get_item_2d",
    "get_item_2lists",
    "get_item_list",
    "get_item_scalar",
    "square_diagonal",
]


class FromCoordinates(SparseOp):
    """Sparse matrix from elements and their positions; elements at one position are added, and
    sorted.

    Inputs: the elements, their rows and columns (vectors of one length, counted from 0), and the
    shape. Raises `AxisError` for a position outside of the shape.
    """

    __props__ = ("format",)
    nin = 4
    kinds = (DENSE,) * 4
    may_fail = True
    implied = {"stored_once": True, "band": lambda f, x, i, j, shape: f.on_diagonal(i, j)}
    samples: Sequence[Any] = (
        ({"format": "csr"}, (4,), [1, 0, 1, 1], [2, 0, 0, 2], [2, 3]),
        ({"format": "csc"}, (4,), [1, 0, 1, 1], [2, 0, 0, 2], [2, 3]),
    )

    def __init__(self, format: str) -> None:
        self.format = SparseFromDense(format).format

    def __str__(self) -> str:
        return f"{self.format}_from_coordinates"

    def make_node(  # type: ignore[override]
        self, data: Any, rows: Any, columns: Any, shape: Any
    ) -> Apply:
        """Return the node; a constant shape, or the shape of a matrix, becomes static."""
        variables = (pt.as_tensor_variable(data), *map(as_indices, (rows, columns, shape)))
        known = static_numbers(variables[3])
        numbers = () if known is None else (None, None, None, known)
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def dtypes(self, *types: Any) -> list[str]:
        if any([t.kind not in "iu" for t in types[1:]]):
            raise DTypeError("rows, columns and shape must be vectors of integers")
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        if any([t.ndim != 1 for t in types]):
            raise NDimError("takes four vectors: elements, rows, columns, shape")
        lengths = [Computed(itemgetter(i), [Value(3)]) for i in (0, 1)]
        return Shapes([lengths], [[(0, 0), (1, 0), (2, 0)], [(3, 0), 2]])

    def function(self, node: Apply) -> Callable[..., Any]:
        format = self.format

        def run(data: Any, rows: Any, columns: Any, shape: Any) -> Any:
            try:
                places = scipy_sparse.coo_array((data, (rows, columns)), tuple(shape.tolist()))
            except ValueError as error:
                self.fail(node, str(error), AxisError)
            return places.asformat(format)

        return run

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the two numbers of the shape."""
        return [tuple([pt.cast(node.inputs[3][i], "int64") for i in (0, 1)])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements only."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        _, rows, columns, _ = inputs
        g = Elements()(output_gradients[0], rows, columns)
        return [g, *[disconnected() for _ in range(3)]]


def from_coordinates(data: Any, rows: Any, columns: Any, shape: Any, format: str = "csr") -> Any:
    """Return a sparse matrix from elements and their positions; elements at one position are added.

    data, rows, columns: vectors of one length. shape: two lengths. Raises `ShapeError`, and at run
    time `AxisError` for a position outside of the shape.

    >>> from_coordinates([1.0, 2.0, 3.0], [0, 1, 1], [1, 0, 0], (2, 2)).toarray().eval()
    array([[0., 1.],
           [5., 0.]])
    """
    return FromCoordinates(format)(data, rows, columns, shape)


class Elements(SparseOp):
    """Elements of a sparse matrix at rows and columns: a dense vector.

    Raises `AxisError` for an index out of range. Plain gradient, which stores the selected
    elements.
    """

    __props__ = ()
    nin = 3
    kinds = (SPARSE, DENSE, DENSE)
    may_fail = True
    samples: Sequence[Any] = (({}, (3, 4), [0, 2, -1, 2], [1, -3, 3, 1]),)

    def __str__(self) -> str:
        return "elements"

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def dtypes(self, *types: Any) -> list[str]:
        check_indices(types[1:])
        return [types[0].dtype]

    def shapes(self, *types: Any) -> Shapes:
        check_indices(types[1:])
        return Shapes([[(1, 0)]], [[(1, 0), (2, 0)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        def run(x: Any, rows: Any, columns: Any) -> Any:
            try:
                return elements(x, rows, columns)
            except IndexError as error:
                self.fail(node, str(error), AxisError)

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of the matrix only."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, rows, columns), (g,) = inputs, output_gradients
        places = [counted(i, shape_i(x, k)) for k, i in enumerate((rows, columns))]
        made = FromCoordinates(x.type.format)(g, *places, csm_shape(x))
        return [made, disconnected(), disconnected()]


def check_indices(types: Sequence[Any]) -> None:
    """Raise `DTypeError` unless all types are vectors of integers."""
    if any([t.ndim != 1 or t.kind not in "iu" for t in types]):
        raise DTypeError("indices must be vectors of integers")


def counted(i: Any, n: Any) -> Any:
    """Return indices with negative ones counted from the beginning."""
    return pt.switch(pt.lt(i, 0), i + n, i)


class SparseRows(SparseOp):
    """Rows of a sparse matrix, in the order of a vector of indices, in its format.

    Raises `AxisError` for an index out of range. Plain gradient.
    """

    __props__ = ()
    nin = 2
    kinds = (SPARSE, DENSE)
    may_fail = True
    samples: Sequence[Any] = (({}, (3, 4), [2, 0, -3, 2]), ({}, (3, 4), [1]))

    def __str__(self) -> str:
        return "sparse_rows"

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, `x[i]`."""
        return [(args[0], 10), "[", args[1], "]"]

    def shapes(self, *types: Any) -> Shapes:
        check_indices(types[1:])
        return Shapes([[(1, 0), (0, 1)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        format = node.outputs[0].type.format

        def run(x: Any, index: Any) -> Any:
            try:
                return x[index, :].asformat(format)
            except IndexError as error:
                self.fail(node, str(error), AxisError)

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of the matrix only."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, index), (g,) = inputs, output_gradients
        taken = selection(counted(index, shape_i(x, 0)), shape_i(x, 0), g.type.dtype)
        return [true_dot(transpose(taken), g), disconnected()]


def selection(index: Any, n: Any, dtype: str) -> Any:
    """Return the matrix S of ones for which S @ x selects the rows of x, which has n rows, at some
    indices.
    """
    k = index.shape[0]
    shape = pt.stack([k, pt.cast(n, "int64")])
    return CSR(pt.ones((k,), dtype=dtype), index, pt.arange(k + 1), shape)


class SparseSlices(SparseOp):
    """Slices `x[a:b, c:d]` of a sparse matrix, in its format.

    idx_list: a template of slices (see `tensor/index/template.py`). Inputs: the matrix, then a 0-d
    integer for each `INPUT` in the template. Plain gradient.
    """

    __props__ = ("idx_list",)
    nin = None
    may_fail = True
    samples: Sequence[Any] = (
        ({"idx_list": (Slice(1, None),)}, (3, 4)),
        ({"idx_list": (Slice(None, None, -1), Slice(0, INPUT))}, (3, 4), 2),
        ({"idx_list": (Slice(None, 2), Slice(3, 1, -1))}, (3, 4)),
        ({"idx_list": (Slice(2, 2),)}, (3, 4)),
    )

    def __init__(self, idx_list: Template) -> None:
        self.idx_list = tuple(idx_list)

    def __str__(self) -> str:
        return f"SparseSlices{{{show(self.idx_list) or ':'}}}"

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, such as `x[a:b]`."""
        return [(args[0], 10), "[", *(tokens_of(self.idx_list, args[1:]) or [":"]), "]"]

    def takes(self, types: Any) -> None:
        """Accept a sparse matrix and integers. Raise `DTypeError` for others."""
        if any([t.ndim != 0 or t.kind not in "iu" for t in types[1:]]):
            raise DTypeError("the ends and steps of slices must be 0-d integers")
        super().takes(types[:1])

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([lengths_of(self.idx_list, types[0])])

    def function(self, node: Apply) -> Callable[..., Any]:
        template, format = self.idx_list, node.outputs[0].type.format
        full = (slice(None),) * (2 - len(template))

        def run(x: Any, *numbers: Any) -> Any:
            found = x[fill(template, numbers) + full].asformat(format)
            return found.copy() if found is x else found

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the elements of the matrix only."""
        return only(0, node)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, *numbers), (g,) = inputs, output_gradients
        slices = iter(fill_symbolic(self.idx_list, numbers))
        for axis, part in enumerate(slices):
            n = shape_i(x, axis)
            taken = selection(pt.arange(n)[part], n, g.type.dtype)
            g = TrueDot()(g, taken) if axis else true_dot(transpose(taken), g)
        return [g, *[disconnected() for _ in numbers]]


def fill_symbolic(template: Template, numbers: Sequence[Any]) -> list[slice]:
    """Return the slices of a template, with variables filled in."""
    left = iter(numbers)
    return [slice(*[next(left) if part == INPUT else part for part in e]) for e in template]


def get_item(x: Any, index: Any) -> Any:
    """Return a part of a sparse matrix.

    `x[i, j]` with numbers is an element (0-d), with two lists the elements at these positions (a
    vector). Other parts are sparse matrices: `x[rows]` with a list, a vector of integers, or a
    mask; `x[a:b, c:d]`; `x[rows, a:b]`, `x[a:b, columns]`. There are no sparse vectors: raises
    `AxisError` for one row or column by its number (write `x[i:i+1]`), and for too many indices.
    """
    x = as_sparse_variable(x)
    items = [as_indices(i) if isinstance(i, list | tuple | range) else i
             for i in (index if isinstance(index, tuple) else (index,))]  # fmt: skip
    if len(items) > 2 or any([i is None or i is Ellipsis for i in items]):
        raise AxisError(located("takes one or two indices", inputs=[x]))
    kinds = [_kind(i) for i in items]
    if kinds == ["number", "number"]:
        return get_item_scalar(x, items)
    if kinds == ["array", "array"]:
        return get_item_2lists(x, *items)
    if "number" in kinds:
        hint = "there are no sparse vectors: write x[i:i+1] for a row, x[:, j:j+1] for a column"
        raise AxisError(
            located("cannot select a single row or column by its number", inputs=[x], hint=hint)
        )
    if kinds[0] == "array":
        found = get_item_list(x, items[0])
        return found if len(items) == 1 else get_item_2d(found, (slice(None), items[1]))
    if kinds[-1] == "array":
        found = transpose(get_item_list(transpose(x), items[1]))
        return get_item_2d(found, (items[0],))
    return get_item_2d(x, tuple(items))


def _kind(item: Any) -> str:
    if isinstance(item, slice):
        return "slice"
    ndim = item.type.ndim if isinstance(item, Variable) else np.ndim(item)
    return "array" if ndim else "number"


def get_item_2d(x: Any, index: Any) -> Any:
    """Return the part `x[a:b, c:d]` of a sparse matrix."""
    x = as_sparse_variable(x)
    template, numbers = parse(index, 2)
    if not template:
        return x
    return SparseSlices(template)(x, *numbers) if consumed(template) else x


def get_item_list(x: Any, index: Any) -> Any:
    """Return the rows of a sparse matrix at a vector of integers, or where a mask is true."""
    return SparseRows()(as_sparse_variable(x), _positions(index))


def _positions(index: Any) -> Any:
    index = as_indices(index)
    return pt.flatnonzero(index) if index.type.kind == "b" and index.type.ndim == 1 else index


def get_item_2lists(x: Any, rows: Any, columns: Any) -> Any:
    """Return the elements of a sparse matrix at rows and columns, as a dense vector."""
    return Elements()(as_sparse_variable(x), _positions(rows), _positions(columns))


def get_item_scalar(x: Any, index: Any) -> Any:
    """Return the element `x[i, j]` as a 0-d tensor."""
    i, j = [pt.as_tensor_variable(k)[None] for k in index]
    return get_item_2lists(x, i, j)[0]


# --- diagonals --------------------------------------------------------------------------------


class SparseDiagonal(SparseOp):
    """Diagonal of a sparse matrix, as a dense vector. Plain gradient."""

    __props__ = ()
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 3)), ({}, (2, 4)))

    def __str__(self) -> str:
        return "sparse_diagonal"

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[diagonal_length(0, 0, 1)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        return lambda x: x.diagonal()

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x,), (g,) = inputs, output_gradients
        places = pt.arange(g.shape[0])
        return [FromCoordinates(x.type.format)(g, places, places, csm_shape(x))]


def diag(x: Any) -> Any:
    """Return the diagonal of a sparse matrix as a dense vector."""
    return SparseDiagonal()(as_sparse_variable(x))


class SquareDiagonal(SparseOp):
    """Square sparse matrix with a dense vector on its diagonal, which is stored completely. Plain
    gradient.
    """

    __props__ = ("format",)
    kinds = (DENSE,)
    only_lengths = True
    view_map = {0: [0]}
    implied = {
        "band": lambda f, v: f.because("a diagonal", value=(0, 0)),
        "stored_once": True,
    }
    samples: Sequence[Any] = (
        ({"format": "csc"}, ("dense", 3)),
        ({"format": "csr"}, ("dense", 0)),
    )

    def __init__(self, format: str) -> None:
        self.format = SparseFromDense(format).format

    def __str__(self) -> str:
        return "square_diagonal"

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def shapes(self, *types: Any) -> Shapes:
        if types[0].ndim != 1:
            raise NDimError(f"takes a vector, not type {types[0]}")
        return Shapes([[(0, 0), (0, 0)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        make = node.outputs[0].type.classes[0]

        def run(v: Any) -> Any:
            places = np.arange(len(v) + 1, dtype="int32")
            return make((v, places[:-1], places), shape=(len(v), len(v)), copy=False)

        return run

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [as_gradient_of(inputs[0], SparseDiagonal()(output_gradients[0]))]


def square_diagonal(diag: Any, format: str = "csc") -> Any:
    """Return a square sparse matrix with a dense vector on its diagonal, which is stored
    completely. Raise `NDimError`.
    """
    return SquareDiagonal(format)(pt.as_tensor_variable(diag))


def eye(n: Any, dtype: Any = None, format: str = "csr") -> Any:
    """Return the identity of n rows as a sparse matrix. dtype: by default `config.floatX`."""
    return square_diagonal(pt.ones((n,), dtype=dtype), format)


def construct_sparse_from_list(x: Any, values: Any, ilist: Any) -> Any:
    """Return a sparse csc matrix in the shape of the dense matrix x, whose rows at the indices
    `ilist` are the rows of the dense matrix `values`.

    Rows with one index are added.
    """
    x, values = pt.as_tensor_variable(x), pt.as_tensor_variable(values)
    taken = selection(_positions(ilist), x.shape[0], values.type.dtype)
    return true_dot(transpose(taken), to_format(values, "csc"))
