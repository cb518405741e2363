"""Every op of sparse matrices, at the samples that it declares: values over formats, classes of
SciPy, dtypes and ways to store; lengths, gradients, memory, identity.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse as ss

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, MethodNotDefined, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.graph.memory import check_memory
from rewrite_engine.link.plan import Dims, axes
from tests.sparse.cases import CASES, OPS, STORED, Case, as_dense
from tests.sparse.references import MEANS

of_all = pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{c.given}")
#: what reads how a matrix is stored, and gives it to the reference
AS_STORED = {"WithData": 0, "At": 1, "DotAt": 2, "InverseAt": 0}
#: ops of which the reference is what they give, compared otherwise
OWN = {"CSMProperties", "SPLU"}
#: dtypes that an op does not take
REFUSED = {"SpLogDet": {"complex128"}, "Compare": {"complex128"}}


def wanted(case: Case, values: Any) -> list[Any]:
    more = [values[AS_STORED[case.name]]] if case.name in AS_STORED else []
    found = MEANS[case.name](case.op, *map(as_dense, values), *more)
    return [np.asarray(x) for x in (found if isinstance(found, list) else [found])]


def run(case: Case, inputs: Any, outputs: Any, values: Any, mode: Any = None) -> list[Any]:
    found = rw.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)
    for v, x in zip(outputs, found, strict=True):
        assert ss.issparse(x) == isinstance(v.type, sparse.SparseTensorType)
        assert v.type.is_valid_value(x), (v.type, x)
    return [as_dense(x) for x in found]


def check(case: Case, values: Any, known: bool = False, mode: Any = None) -> None:
    inputs, outputs = case.apply(values, known)
    found = run(case, inputs, outputs, values, mode)
    for got, want in zip(found, wanted(case, values), strict=True):
        assert got.shape == want.shape
        rtol = 1e-5 if got.dtype in ("float32", "complex64") else 1e-11
        np.testing.assert_allclose(got, want, rtol, rtol)


values_of = pytest.mark.parametrize("how", STORED)


def test_every_op_has_samples_and_a_meaning() -> None:
    assert len(OPS) > 25
    for cls in OPS:
        assert cls.samples, cls
        assert cls.__name__ in MEANS or cls.__name__ in OWN, cls


@values_of
@of_all
def test_values(case: Case, how: str) -> None:
    if case.name in OWN:
        return
    for format in ("csr", "csc"):
        for matrix in (False, True):
            check(case, case.values(format, how, matrix=matrix))
    check(case, case.values("csr", how), known=True)
    check(case, case.values("csc", how), mode="py")


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64", "bool", "complex128"])
@of_all
def test_dtypes(case: Case, dtype: str) -> None:
    if case.name in OWN:
        return
    values = case.values(dtype=dtype)
    if dtype in REFUSED.get(case.name, ()) and getattr(case.op, "name", "") not in ("eq", "neq"):
        with pytest.raises(DTypeError):
            case.apply(values)
        return
    check(case, values)


def test_parts() -> None:
    for how in STORED:
        for format in ("csr", "csc"):
            (case,) = [c for c in CASES if c.name == "CSMProperties" and c.given == ((3, 4),)]
            (x,) = case.values(format, how)
            inputs, outputs = case.apply([x])
            found = run(case, inputs, outputs, [x])
            for got, want in zip(found, (x.data, x.indices, x.indptr, x.shape), strict=True):
                np.testing.assert_array_equal(got, want)


@values_of
def test_lu(how: str) -> None:
    (case,) = [c for c in CASES if c.name == "SPLU"]
    for format in ("csr", "csc"):
        (a,) = case.values(format, how)
        inputs, outputs = case.apply([a])
        low, up, rows, columns = run(case, inputs, outputs, [a])
        np.testing.assert_allclose((low @ up)[rows][:, columns], a.toarray())
        assert not np.triu(low, 1).any()
        assert not np.tril(up, -1).any()


# --- lengths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
@of_all
def test_lengths(case: Case, known: bool) -> None:
    values = case.values()
    inputs, outputs = case.apply(values, known)
    node = outputs[0].owner
    found = rw.function(inputs, outputs, on_unused_input="ignore")(*values)
    shapes = dict(zip((*inputs, *outputs), [x.shape for x in (*values, *found)], strict=True))
    for v in outputs:
        assert all(n in (None, k) for n, k in zip(v.type.shape, shapes[v], strict=True))
    dims = Dims()
    axes(node.op, node, dims)
    ids: dict[int, int] = {}
    for v, shape in shapes.items():
        for axis, size in enumerate(shape):
            assert ids.setdefault(dims.find(dims.of(v)[axis]), size) == size, (v, axis)
    try:
        told = node.op.infer_shape(None, node, [pt.shape_tuple(x) for x in node.inputs])
    except MethodNotDefined:
        return
    lengths = [n for of_one in told for n in of_one]
    got = rw.function(inputs, lengths, on_unused_input="ignore")(*values)
    assert [int(n) for n in got] == [n for v in outputs for n in shapes[v]]


@of_all
def test_lengths_that_do_not_fit(case: Case) -> None:
    values = case.values()
    inputs, outputs = case.apply(values)
    groups = outputs[0].owner.op.shapes_of(outputs[0].owner).equal
    pairs = [m for group in groups for m in group if type(m) is tuple]
    for i, axis in pairs:
        changed = list(values)
        wrong = [n + 2 if k == axis else n for k, n in enumerate(values[i].shape)]
        blank = np.zeros(wrong, values[i].dtype)
        changed[i] = type(values[i])(blank) if ss.issparse(values[i]) else blank
        for mode in (None, "py"):
            with pytest.raises(ShapeError):
                rw.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*changed)


# --- gradients --------------------------------------------------------------------------------


@values_of
@of_all
def test_gradients(case: Case, how: str) -> None:
    """Of the data of sparse inputs, in their patterns, and of dense ones."""
    values = case.values("csc" if how == "zeros" else "csr", how)
    if how == "duplicates" and case.name in {"CSMProperties", "InverseAt"}:
        return
    floats = [i for i, x in enumerate(values) if x.dtype.kind == "f"]
    _, outputs = case.apply(values)
    pattern = case.op.connection_pattern
    linked = None if pattern is None else pattern(outputs[0].owner)
    for k, out in enumerate(outputs):
        live = [i for i in floats if linked is None or linked[i][k]]
        if out.type.numpy_dtype.kind != "f" or not live or case.name in {"SPLU", "InverseAt"}:
            continue

        def fun(*xs: Any, k: int = k, live: Any = live) -> Any:
            given = list(values)
            for i, x in zip(live, xs, strict=True):
                like = values[i]
                given[i] = x
                if ss.issparse(like):
                    given[i] = sparse.CSM(like.format)(x, like.indices, like.indptr, like.shape)
            made = case.op.make_node(*given).outputs[k]
            is_sparse = isinstance(made.type, sparse.SparseTensorType)
            return sparse.DenseFromSparse(structured=False)(made) if is_sparse else made

        verify_grad(fun, [values[i].data if ss.issparse(values[i]) else values[i] for i in live])


#: ops of which the gradient is that of what is stored
STRUCTURED = {
    "CSM", "CSMProperties", "DotAt", "Elements", "InverseAt", "SPLU", "SpLogDet", "SpSolve",
    "WithData",
}  # fmt: skip
PLAIN = [
    c
    for c in CASES
    if c.name not in STRUCTURED
    and not getattr(c.op, "structured", False)
    and not getattr(c.op, "sparse_grad", False)
]


@pytest.mark.parametrize("case", PLAIN, ids=lambda c: f"{c.op}-{c.given}")
def test_plain_gradients(case: Case) -> None:
    """Of all elements of sparse inputs, also of those that are 0: of dense matrices made sparse."""
    values = case.values()
    _, outputs = case.apply(values)
    if (
        case.op.connection_pattern is not None
        and not case.op.connection_pattern(outputs[0].owner)[0][0]
    ):
        return
    sparse_ones = [i for i, x in enumerate(values) if ss.issparse(x)]
    if case.name == "At":
        sparse_ones = [i for i in sparse_ones if i == 0]

    def fun(*xs: Any) -> Any:
        given = list(values)
        for i, x in zip(sparse_ones, xs, strict=True):
            given[i] = sparse.SparseFromDense(values[i].format)(x)
        made = case.op.make_node(*given).outputs[0]
        if isinstance(made.type, sparse.SparseTensorType):
            return sparse.DenseFromSparse(structured=False)(made)
        return made

    if sparse_ones:
        verify_grad(fun, [values[i].toarray() for i in sparse_ones])


# --- the op itself ----------------------------------------------------------------------------


@of_all
def test_identity_and_memory(case: Case) -> None:
    op = case.op
    assert pickle.loads(pickle.dumps(op)) is op
    assert type(op)(**{name: getattr(op, name) for name in op.__props__}) is op
    for how in STORED:
        for format in ("csr", "csc"):
            values = case.values(format, how)
            _, outputs = case.apply(values)
            check_memory(outputs[0].owner, values)
