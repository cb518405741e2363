"""`SparseOp`: the base of ops with sparse matrices among their inputs or outputs.

It is a `TensorOp`: shapes, lengths and their checks are stated in the same way. Which outputs are
sparse, and in which format, is told by `formats`.
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
    """An op on sparse matrices. A subclass says which inputs are sparse (`kinds`), which formats
    the outputs have (`formats`), their `dtypes` and `shapes`, and computes by `function`.
    """

    #: of each input: "sparse", "dense" or "any"
    kinds: Sequence[str] = (SPARSE,)
    #: of vectors with one element for each that is stored in a matrix: which input that is
    entries_of: int | None = None

    def formats(self, *types: Any) -> Sequence[str | None]:
        """The format of each output; None for a dense one. By default one, that of the first
        input.
        """
        return [types[0].format]

    def convert_input(self, x: Any) -> Variable:
        """A sparse or dense variable. Raises `NoTensorError`."""
        return as_sparse_or_tensor_variable(x)  # type: ignore[no-any-return]

    def takes(self, types: Types) -> None:
        """Raise `ForeignObjectError` unless inputs are sparse and dense where they have to be."""
        kinds = self.kinds if self.nin is not None else [self.kinds[0]] * len(types)
        for i, (t, kind) in enumerate(zip(types, kinds, strict=False)):
            sparse = isinstance(t, SparseTensorType)
            if kind == SPARSE and not sparse:
                hint = "`csr_from_dense(x)` makes a sparse matrix of a dense one"
                raise ForeignObjectError(f"input {i} has to be sparse, not a {t}; {hint}")
            if kind == DENSE and sparse:
                hint = "`x.toarray()` makes it dense"
                raise ForeignObjectError(f"input {i} has to be dense, not a {t}; {hint}")
        super().takes([getattr(t, "dense", t) for t in types])  # type: ignore[arg-type]

    def infer_types(self, types: Types, numbers: Sequence[Any] = ()) -> Sequence[Any]:
        """Dense types as those of any `TensorOp`, and sparse ones of the same dtype and shape."""
        found = super().infer_types(types, numbers)
        pairs = zip(found, self.formats(*types), strict=True)
        return [t if f is None else SparseTensorType(f, t.dtype, t.shape) for t, f in pairs]

    # --- running ------------------------------------------------------------------------------

    def function(self, node: Apply) -> Callable[..., Any]:
        """Return what computes the output (or a tuple of them) of the values of the inputs, whose
        lengths fit.
        """
        raise MethodNotDefined(f"{self} defines no function")

    def make_function(self, node: Apply) -> Callable[..., Any]:
        """`function`, after lengths that have to be equal are compared: SciPy does not always."""
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
        """By `function`."""
        self.check(node, inputs)
        found = self.function(node)(*inputs)
        values = found if isinstance(found, tuple) else (found,)
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value


def compared(group: Group) -> list[tuple[int, int, int | None, int]]:
    """Pairs of dimensions of inputs that are equal if all lengths of a group are: (input, axis,
    other input, axis), or (input, axis, None, length).
    """
    (i, axis), *others = sorted(group, key=lambda m: not is_dimension(m))
    return [(i, axis, *m) if is_dimension(m) else (i, axis, None, m) for m in others]


def result(types: Sequence[Any]) -> str:
    """The dtype that holds the values of all types, as NumPy promotes them."""
    return np.result_type(*[t.numpy_dtype for t in types]).name


def is_sparse_variable(x: Any) -> bool:
    """Return whether something is a variable of a sparse matrix."""
    return isinstance(getattr(x, "type", None), SparseTensorType)
