"""`SparseOp`: base class of ops with sparse matrices among their inputs or outputs.

It is a `TensorOp`: shapes, lengths and their checks are declared in the same way. `formats`
declares which outputs are sparse, and in which format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import ForeignObjectError, MethodNotDefined
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.sparse.constant import as_sparse_or_tensor_variable
from rewrite_engine.sparse.type import SparseTensorType
from rewrite_engine.tensor.op import Group, TensorOp, Types, is_dimension

#: what `kinds` tells of an input
SPARSE, DENSE, ANY = "sparse", "dense", "any"


#: what holds of a matrix, and of the first input that it is made of
KEEPS: dict[str, Any] = {
    "band": lambda f, x, *_: f.band(x),
    "stored_once": lambda f, x, *_: f.stored_once(x),
}


class SparseOp(TensorOp):
    """Base class of ops on sparse matrices.

    A subclass declares which inputs are sparse (`kinds`), the formats of the outputs (`formats`),
    their `dtypes` and `shapes`, and computes by `function`.
    """

    #: of each input: "sparse", "dense" or "any"
    kinds: Sequence[str] = (SPARSE,)
    #: of vectors with one element for each that is stored in a matrix: which input that is
    entries_of: int | None = None

    def formats(self, *types: Any) -> Sequence[str | None]:
        """Return the format of each output; None for a dense one. By default one output, in the
        format of the first input.
        """
        return [types[0].format]

    def convert_input(self, x: Any) -> Variable:
        """Convert one argument to a sparse or dense variable. Raise `NoTensorError`."""
        return as_sparse_or_tensor_variable(x)  # type: ignore[no-any-return]

    def takes(self, types: Types) -> None:
        """Raise `ForeignObjectError` unless inputs are sparse and dense as declared."""
        kinds = self.kinds if self.nin is not None else [self.kinds[0]] * len(types)
        for i, (t, kind) in enumerate(zip(types, kinds, strict=False)):
            sparse = isinstance(t, SparseTensorType)
            if kind == SPARSE and not sparse:
                hint = "use `csr_from_dense(x)` to make it sparse"
                raise ForeignObjectError(f"input {i} must be sparse, not type {t}; {hint}")
            if kind == DENSE and sparse:
                hint = "use `x.toarray()` to make it dense"
                raise ForeignObjectError(f"input {i} must be dense, not type {t}; {hint}")
        super().takes([getattr(t, "dense", t) for t in types])  # type: ignore[arg-type]

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Return the output types: dense ones as for any `TensorOp`, sparse ones with the same
        dtype and shape.
        """
        found = super().infer_types(types, numbers)
        pairs = zip(found, self.formats(*types), strict=True)
        return [t if f is None else SparseTensorType(f, t.dtype, t.shape) for t, f in pairs]

    # --- running ------------------------------------------------------------------------------

    def function(self, node: Apply) -> Callable[..., Any]:
        """Return a function that computes the output (or a tuple of them) from input values whose
        lengths fit.
        """
        raise MethodNotDefined(f"{self} defines no function")

    def make_function(self, node: Apply) -> Callable[..., Any]:
        """Return `function` preceded by a comparison of lengths, which SciPy does not always
        make.
        """
        run = self.function(node)
        pairs = [pair for group in self.shapes_of(node).equal for pair in compared(group)]
        if not pairs:
            return run

        def checked(*values: Any) -> Any:
            for i, axis, j, other in pairs:
                if values[i].shape[axis] != (other if j is None else values[j].shape[other]):
                    self.check(node, values)
            return run(*values)

        return checked

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the outputs by `function`."""
        self.check(node, inputs)
        found = self.function(node)(*inputs)
        values = found if isinstance(found, tuple) else (found,)
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value


def compared(group: Group) -> list[tuple[int, int, int | None, int]]:
    """Return pairs of dimensions whose equality makes all lengths of a group equal: (input, axis,
    other input, axis), or (input, axis, None, length).
    """
    (i, axis), *others = sorted(group, key=lambda m: not is_dimension(m))
    return [(i, axis, *m) if is_dimension(m) else (i, axis, None, m) for m in others]


def result(types: Sequence[Any]) -> str:
    """Return the dtype that holds the values of all types (NumPy's promotion)."""
    return np.result_type(*[t.numpy_dtype for t in types]).name


def is_sparse_variable(x: Any) -> bool:
    """Return whether an object is a variable for a sparse matrix."""
    return isinstance(getattr(x, "type", None), SparseTensorType)
