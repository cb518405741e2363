"""Elementwise functions of sparse matrices.

A function that maps 0 to 0 acts on the stored elements (`structured`): an ordinary elementwise op
on `csm_data(x)`, put into the pattern of x. So rules, fusion and gradients of tensors apply to it.
Products with dense arrays are such functions, too, of `entries_at(y, x)`. Sums and products of two
sparse matrices, and comparisons, are separate ops (`Add`, `Multiply`, `Compare`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, NDimError, NoTensorError, OptionError, message
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.sparse.constant import as_sparse_or_tensor_variable, as_sparse_variable
from rewrite_engine.sparse.op import SPARSE, SparseOp, is_sparse_variable, result
from rewrite_engine.sparse.parts import (
    csm_data,
    dense_from_sparse,
    entries_at,
    with_data,
)
from rewrite_engine.sparse.tidy import canonical
from rewrite_engine.tensor.op import Shapes

# (the names of functions are those of the field: `abs` is not Python's here)


def structured(function: Any, x: Any, *others: Any) -> Any:
    """Return a function of the stored elements of a sparse matrix, in its pattern: 0 stays 0.

    function: a function of tensors, or its name in `rewrite_engine.tensor`. It takes the stored
    elements (each position once, in order) and `others`: numbers, or dense arrays that broadcast to
    the shape of x, whose elements at the same positions are used. The gradient is that of the
    stored elements. Raises `OptionError` for an unknown name.

    >>> from scipy.sparse import csr_array
    >>> structured("exp", csr_array([[0.0, 1.0]])).toarray().eval()
    array([[0.        , 2.71828183]])
    """
    if isinstance(function, str):
        if not callable(getattr(pt, function, None)):
            raise OptionError(located(f"`rewrite_engine.tensor` has no function {function!r}"))
        function = getattr(pt, function)
    x = canonical(x)
    return with_data(x, function(csm_data(x), *[_at_places(y, x) for y in others]))


def _at_places(y: Any, x: Any) -> Any:
    """Return the elements of y where x has stored ones; a number unchanged."""
    if isinstance(y, bool | int | float | complex):
        return y
    y = as_sparse_or_tensor_variable(y)
    return y if y.type.ndim == 0 else entries_at(y, x)


def _of_stored(name: str, tensor_name: str | None = None) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return structured(tensor_name or name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return `{tensor_name or name}` of the stored elements of a sparse matrix."
    return function


#: functions that give 0 for 0, and those of what is stored only, whatever they give for 0
_NAMES = [
    "abs",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "ceil",
    "conj",
    "deg2rad",
    "expm1",
    "floor",
    "log1p",
    "neg",
    "rad2deg",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqr",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
for _name in _NAMES:
    globals()[_name] = _of_stored(_name)
structured_exp = _of_stored("structured_exp", "exp")
structured_log = _of_stored("structured_log", "log")
structured_sigmoid = _of_stored("structured_sigmoid", "sigmoid")
conjugate = structured_conjugate = globals()["conj"]

__all__ = [
    "Add",
    "Compare",
    "Multiply",
    "add",
    "add_s_d",
    "add_s_s",
    "add_s_s_data",
    "col_scale",
    "conjugate",
    "divide",
    "eq",
    "ge",
    "gt",
    "le",
    "lt",
    "mul",
    "mul_s_d",
    "mul_s_s",
    "mul_s_v",
    "multiply",
    "neq",
    "row_scale",
    "structured",
    "structured_add",
    "structured_add_s_v",
    "structured_conjugate",
    "structured_exp",
    "structured_log",
    "structured_maximum",
    "structured_minimum",
    "structured_pow",
    "structured_sigmoid",
    "sub",
    "subtract",
    *_NAMES,
]


def structured_pow(x: Any, y: Any) -> Any:
    """Return powers of the stored elements of x. y: a number, or dense."""
    return structured("pow", x, y)


def structured_minimum(x: Any, y: Any) -> Any:
    """Return the minimum of the stored elements of x and y: a number, or dense."""
    return structured("minimum", x, y)


def structured_maximum(x: Any, y: Any) -> Any:
    """Return the maximum of the stored elements of x and y: a number, or dense."""
    return structured("maximum", x, y)


def structured_add(x: Any, y: Any) -> Any:
    """Return x with y, a number or dense, added to the stored elements."""
    return structured("add", x, y)


def structured_add_s_v(x: Any, y: Any) -> Any:
    """Return x with the vector y added to the stored elements of each row."""
    return structured("add", x, _vector(y))


def _vector(y: Any) -> Any:
    y = pt.as_tensor_variable(y)
    if y.type.ndim != 1:
        raise NDimError(message("takes a vector", inputs=[y]))
    return y


# --- two sparse matrices ----------------------------------------------------------------------


class OfTwo(SparseOp):
    """Base class of elementwise ops on two sparse matrices of one shape. The result has the format
    of the first.
    """

    __props__: tuple[str, ...] | None = ()
    nin = 2
    kinds = (SPARSE, SPARSE)
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 4), (3, 4)), ({}, (0, 2), (0, 2)))

    def dtypes(self, *types: Any) -> list[str]:
        return [result(types)]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[(0, 0), (0, 1)]], [[(0, 0), (1, 0)], [(0, 1), (1, 1)]])

    def on_values(self, x: Any, y: Any) -> Any:
        """Return the result for two values."""
        raise NotImplementedError

    def function(self, node: Apply) -> Callable[..., Any]:
        out = node.outputs[0].type
        format, dtype, compute = out.format, out.numpy_dtype, self.on_values

        def run(x: Any, y: Any) -> Any:
            found = compute(x, y)
            found = found if found.format == format else found.asformat(format)
            return found if found.dtype == dtype else found.astype(dtype)

        return run


class Add(OfTwo):
    """Sum of two sparse matrices. Plain gradient."""

    implied = {"band": lambda f, x, y: f.in_any(f.band(x), f.band(y))}

    def __str__(self) -> str:
        return "sparse_add"

    def on_values(self, x: Any, y: Any) -> Any:
        return x + y

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [output_gradients[0]] * 2


class Multiply(OfTwo):
    """Elementwise product; it stores the elements stored in both. Plain gradient."""

    implied = {"band": lambda f, x, y: f.in_all(f.band(x), f.band(y))}

    def __str__(self) -> str:
        return "sparse_multiply"

    def on_values(self, x: Any, y: Any) -> Any:
        return x.multiply(y)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, output_gradients
        return [self(g, conjugate(y)), self(g, conjugate(x))]


class Compare(OfTwo):
    """Comparison of elements: "eq", "neq", "lt", "le", "gt" or "ge", as a sparse matrix of
    booleans.

    (If comparing 0 with 0 is true, almost all elements are stored.)
    """

    __props__ = ("name",)
    samples: Sequence[Any] = tuple(
        [({"name": n}, (3, 4), (3, 4)) for n in ("eq", "neq", "lt", "le", "gt", "ge")]
    )

    def __init__(self, name: str) -> None:
        if name not in COMPARED:
            raise OptionError(f"{name!r} is not a comparison; use one of {', '.join(COMPARED)}")
        self.name = name

    def __str__(self) -> str:
        return f"sparse_{self.name}"

    def dtypes(self, *types: Any) -> list[str]:
        if any([t.numpy_dtype.kind == "c" for t in types]) and self.name not in ("eq", "neq"):
            raise DTypeError("complex numbers have no order: compare them by eq or neq")
        return ["bool"]

    def on_values(self, x: Any, y: Any) -> Any:
        if self.name in ("neq", "lt", "gt"):
            return COMPARED[self.name](x, y)
        return type(x)(COMPARED[self.name](x.toarray(), y.toarray()))  # SciPy forgets NaNs

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect no input to the output."""
        return [[False], [False]]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [disconnected(), disconnected()]


COMPARED: dict[str, Any] = {
    "eq": operator.eq,
    "neq": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "neq": "neq"}
add_s_s, mul_s_s = Add(), Multiply()


def add_s_s_data(x: Any, y: Any) -> Any:
    """Return the sum of two matrices with one pattern that store each position once, by adding the
    stored elements.
    """
    return with_data(x, csm_data(x) + csm_data(y))


# --- sparse with anything ---------------------------------------------------------------------


def pair(what: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Return two operands as variables, at least one of them sparse. Raise `NoTensorError`."""
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not any([is_sparse_variable(v) or hasattr(type(v), "__apply_op__") for v in (x, y)]):
        hint = f"use `rewrite_engine.tensor.{what}` for dense arrays"
        what = located(f"{what}: neither operand is sparse", inputs=[x, y], hint=hint)
        raise NoTensorError(what)
    return x, y


def add(x: Any, y: Any) -> Any:
    """Return x + y, at least one of them sparse.

    The result is sparse if both are (in the format of the first), else dense (with a structured
    gradient of the sparse one). A dense operand has two dimensions. Raises `NDimError` for a number
    or a vector, which would fill the matrix (use `structured_add` to add to the stored elements).
    """
    x, y = pair("add", x, y)
    if is_sparse_variable(x) and is_sparse_variable(y):
        return add_s_s(x, y)
    return add_s_d(x, y) if is_sparse_variable(x) else add_s_d(y, x)


def add_s_d(x: Any, y: Any) -> Any:
    """Return the sum of a sparse and a dense matrix, which is dense (structured gradient)."""
    x, y = as_sparse_variable(x), pt.as_tensor_variable(y)
    if y.type.ndim != 2:
        hint = "use `structured_add(x, y)` for the stored elements, `x.toarray() + y` for all"
        what = "a sparse matrix can only be added to a matrix"
        raise NDimError(located(what, inputs=[x, y], hint=hint))
    return dense_from_sparse(x) + y


def subtract(x: Any, y: Any) -> Any:
    """Return x - y, at least one of them sparse (see `add`)."""
    x, y = pair("sub", x, y)
    return add(x, structured("neg", y) if is_sparse_variable(y) else -y)


sub = subtract


def multiply(x: Any, y: Any) -> Any:
    """Return x * y, element by element, at least one of them sparse: a sparse matrix.

    For two sparse ones the result has the format of the first, and plain gradients. A dense operand
    (a number, a vector, which multiplies each row, or a matrix) is read only at the stored
    elements.
    """
    x, y = pair("mul", x, y)
    if is_sparse_variable(x) and is_sparse_variable(y):
        return mul_s_s(x, y)
    return structured("mul", x, y) if is_sparse_variable(x) else structured("mul", y, x)


mul = multiply


def mul_s_d(x: Any, y: Any) -> Any:
    """Return a sparse matrix times a dense one, or a number."""
    return structured("mul", x, pt.as_tensor_variable(y))


def mul_s_v(x: Any, y: Any) -> Any:
    """Return a sparse matrix with each row multiplied by the vector y."""
    return structured("mul", x, _vector(y))


def col_scale(x: Any, s: Any) -> Any:
    """Return x with each column multiplied by an element of the vector s."""
    return mul_s_v(x, s)


def row_scale(x: Any, s: Any) -> Any:
    """Return x with each row multiplied by an element of the vector s."""
    return structured("mul", x, _vector(s)[:, None])


def divide(x: Any, y: Any) -> Any:
    """Return a sparse matrix divided by y, a number or dense, at the stored elements; 0 elsewhere,
    even for 0 / 0.
    """
    x, y = pair("true_div", x, y)
    if is_sparse_variable(y):
        what = "division by a sparse matrix is infinite where no element is stored"
        raise NoTensorError(
            located(what, inputs=[x, y], hint="make the divisor dense: `.toarray()`")
        )
    return structured("true_div", x, y)


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    def compare(x: Any, y: Any) -> Any:
        x, y = pair(name, x, y)
        if is_sparse_variable(x) and is_sparse_variable(y):
            return Compare(name)(x, y)
        if is_sparse_variable(y):
            return getattr(pt, SWAPPED[name])(dense_from_sparse(y), x)
        return getattr(pt, name)(dense_from_sparse(x), y)

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = (
        f"Return `{name}` of elements: sparse booleans for two sparse matrices, else dense ones."
    )
    return compare


eq, neq, lt, le, gt, ge = map(_comparison, COMPARED)
