"""Types that are no tensors, with ops of their own: sparse matrices, which have no static shape,
and states of generators of random numbers, which are destroyed where they are used.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse

import rewrite_engine.tensor as pt
from rewrite_engine.compile.shared import SharedVariable, shared_constructor
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type


class Rows(sparse.csr_array):  # type: ignore[misc]
    """A value of `SparseType` that shared variables are made of."""


class SparseType(Type):
    """Matrices most of whose elements are 0; a value is a `scipy.sparse.csr_array`."""

    __props__ = ("number",)
    regroups_exactly = False

    def __init__(self, number: str) -> None:
        self.number = number

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(value, str) or (strict and not isinstance(value, sparse.csr_array)):
            raise TypeError(f"no sparse matrix: {value!r}")
        return sparse.csr_array(value, dtype=self.number)

    def values_eq(self, a: Any, b: Any) -> bool:
        return a.shape == b.shape and not (a != b).nnz


class Sparsify(Op):
    """A matrix as a sparse one."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [SparseType(types[0].dtype)]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = node.outputs[0].type.filter(inputs[0])


class Densify(Op):
    """A sparse matrix as one with all elements."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [pt.TensorType(types[0].number, (None, None))]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].toarray()

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        rows, columns = RowsOf(), ColumnsOf()
        return [(rows(node.inputs[0]), columns(node.inputs[0]))]


class RowsOf(Op):
    """How many rows a sparse matrix has."""

    __props__ = ()
    axis = 0

    def infer_types(self, types: Any) -> Any:
        return [pt.lscalar]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.array(inputs[0].shape[self.axis])


class ColumnsOf(RowsOf):
    """How many columns."""

    axis = 1


class SparseAdd(Op):
    """The sum of sparse matrices."""

    __props__ = ()
    associative = commutative = True

    def infer_types(self, types: Any) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        result = inputs[0]
        for x in inputs[1:]:
            result = result + x
        output_storage[0][0] = result.copy()


class SparseScale(Op):
    """A sparse matrix times a number."""

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        self.destroy_map = {0: [0]} if inplace else {}

    def infer_types(self, types: Any) -> Any:
        return [types[0]]

    def convert_input(self, x: Any) -> Any:
        return pt.as_tensor_variable(x)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        out = inputs[0] if self.inplace else inputs[0].copy()
        out.data *= inputs[1]
        output_storage[0][0] = out

    def inplace_on_inputs(self, allowed: Any, node: Any = None) -> Any:
        return SparseScale(inplace=True) if 0 in allowed and not self.inplace else None


sparsify, densify, sparse_add, sparse_scale = Sparsify(), Densify(), SparseAdd(), SparseScale()


class Normal(Op):
    """n normal numbers, and the state after them."""

    __props__ = ("n", "inplace")

    def __init__(self, n: int, inplace: bool = False) -> None:
        self.n = n
        self.inplace = inplace
        self.destroy_map = {1: [0]} if inplace else {}

    def infer_types(self, types: Any) -> Any:
        return [pt.TensorType("float64", (self.n,)), types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        state = inputs[0] if self.inplace else deepcopy(inputs[0])
        output_storage[0][0] = state.standard_normal(self.n)
        output_storage[1][0] = state

    def inplace_on_inputs(self, allowed: Any, node: Any = None) -> Any:
        return Normal(self.n, inplace=True) if 0 in allowed and not self.inplace else None


@shared_constructor.register(Rows)
def _(value: Any, name: str | None = None, **options: Any) -> SharedVariable:
    return SharedVariable(SparseType(value.dtype.name), value.copy(), name=name)
