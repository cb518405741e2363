"""Sparse matrices. The pack is imported when `rewrite_engine.sparse` is (`pipeline.ON_DEMAND`)."""

from functools import cache

from rewrite_engine.facts import (
    band,
    finite,
    one_for_each,
    same_length,
    same_pattern,
    stored_once,
)
from rewrite_engine.language import *
from rewrite_engine.sparse import *
from rewrite_engine.tensor import Alloc, Dot, Sum, alloc, cast, constant, second


@cache
def _samples():
    return tuple([SparseTensorType(f, "float64")() for f in ("csr", "csc")])


Sparse = Sort("Sparse", lambda v: isinstance(v.type, SparseTensorType), samples=_samples)
put, at, once, turned = WithData(), At(), Canonical(), SparseTranspose()

# --- dense and back -----------------------------------------------------------------------------


@rule(phase="canonicalize")
def dense_of_sparse_of_dense(x: Matrix, structured: Prop, format: Prop):
    """Remove a conversion to sparse and back, which keeps all elements.

    >>> rewritten(dense_from_sparse(SparseFromDense("csr")(dmatrix("x"))))
    x
    """
    return DenseFromSparse(structured=structured)(SparseFromDense(format=format)(x)) >> x


def is_double(x):
    """Return whether a sum of such elements has the dtype and the precision of `SpSum`."""
    return x.type.dtype == "float64"


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_dense(x: Sparse, structured: Prop):
    """Sum a sparse matrix directly, as elements that are not stored add nothing.

    >>> rewritten(dense_from_sparse(csr_matrix("x")).sum())
    Sum(CSMProperties(x).data)
    """
    return Sum()(DenseFromSparse(structured=structured)(x)) >> SpSum()(x), given(is_double)


def is_one(axis):
    """Return whether a sum is along one axis."""
    return axis is not None and len(axis) == 1


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_dense_along(x: Sparse, structured: Prop, axis: Prop):
    """Sum the rows or columns of a sparse matrix directly, as elements that are not stored add
    nothing.

    >>> rewritten(dense_from_sparse(csr_matrix("x")).sum(axis=0))
    SpSum{axis=0, sparse_grad=True}(x)
    """
    return Sum(axis=axis)(DenseFromSparse(structured=structured)(x)) >> compute(
        lambda x, axis: SpSum(axis[0])(x) if is_one(axis) else None
    ), given(is_double)


@rule(phase="canonicalize", claim=assumes("fastmath", approx(ulps=8)), tags=["reorder"])
def dot_of_dense(x: Sparse, y: Matrix, structured: Prop):
    """Multiply a sparse matrix directly: elements that are not stored add nothing if the other
    factor is finite.

    >>> from rewrite_engine.tensor import dot, sin
    >>> rewritten(dot(dense_from_sparse(csr_matrix("x")), sin(bmatrix("y"))))
    structured_dot(x, sin(y))
    """
    left = Dot()(DenseFromSparse(structured=structured)(x), y)
    return left >> SparseDot(structured=True)(x, y), given(assuming(finite(y)))


# --- parts --------------------------------------------------------------------------------------


@rule(phase="canonicalize", claim=assumes("shape_unsafe"))
def data_of_parts(data: Vector, i: Vector, p: Vector, shape: Vector, format: Prop):
    """The stored data of a matrix are the data that it was built from, if the parts are consistent.

    >>> from rewrite_engine.tensor import constant
    >>> made = CSM("csr")(vector("v"), *map(constant, ([0, 1, 1, 2], [0, 2, 4], [2, 3])))
    >>> rewritten(csm_data(made), including=["shape_unsafe"])
    v
    """
    return csm_properties(CSM(format=format)(data, i, p, shape)).data >> data


@rule(phase="canonicalize")
def data_of_data(x: Sparse, data: Vector):
    """The stored data of a matrix are the data that replaced its own.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_data(put(x, csm_data(x) * 2)))
    CSMProperties(x).data * 2.0
    """
    return csm_properties(put(x, data)).data >> data


@rule(phase="canonicalize")
def indices_of_data(x: Sparse, data: Vector):
    """New data do not change the indices of a matrix.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_properties(put(x, csm_data(x) * 2)).indices)
    CSMProperties(x).indices
    """
    return csm_properties(put(x, data)).indices >> csm_properties(x).indices


@rule(phase="canonicalize")
def indptr_of_data(x: Sparse, data: Vector):
    """New data do not change the row or column starts of a matrix.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_properties(put(x, csm_data(x) * 2)).indptr)
    CSMProperties(x).indptr
    """
    return csm_properties(put(x, data)).indptr >> csm_properties(x).indptr


@node_rewriter([CSM], phase="canonicalize", depth=2)
def parts_of_a_matrix(fgraph, node):
    """A matrix built from the indices of another has the same pattern. Not data: the indices must
    all belong to one matrix, whose format must be that of the op.

    >>> x = csr_matrix("x")
    >>> data, *others = csm_properties(x)
    >>> rewritten(CSM("csr")(data * 2, *others))
    with_data(x, CSMProperties(x).data * 2.0)
    """
    data, *others = node.inputs
    if any([v.owner is None or v.owner.op is not csm_properties for v in others]):
        return None
    (x,) = others[0].owner.inputs
    mine = all([v.owner.inputs[0] is x and v.index == i + 1 for i, v in enumerate(others)])
    if not mine or x.type.format != node.op.format or not one_for_each(data, x):
        return None
    return put(x, data)


@rule(phase="canonicalize", overlaps="either order leaves the data unchanged")
def its_own_data(x: Sparse):
    """Replacing the data of a matrix by its own data changes nothing.

    >>> x = csr_matrix("x")
    >>> rewritten(put(x, csm_data(x)))
    x
    """
    return put(x, csm_properties(x).data) >> x


@rule(phase="canonicalize")
def data_twice(x: Sparse, d: Vector, e: Vector):
    """The second replacement of the data hides the first.

    >>> x = csr_matrix("x")
    >>> y = put(x, csm_data(x) * 2)
    >>> rewritten(put(y, csm_data(x) + 1))
    with_data(x, CSMProperties(x).data + 1.0)
    """
    return put(put(x, d), e) >> put(x, e)


@rule(phase="canonicalize")
def canonical_of_canonical(x: Sparse):
    """Remove a canonical form of a matrix that already stores each place once.

    >>> from rewrite_engine.sparse import sin
    >>> rewritten(sin(sin(csr_matrix("x"))))
    with_data(canonical(x), sin(sin(CSMProperties(canonical(x)).data)))
    """
    return once(x) >> x, given(stored_once(x))


# --- elements where something is stored ---------------------------------------------------------


@rule(phase="canonicalize")
def at_own_places(x: Sparse, data: Vector, s: Sparse):
    """Elements are read at the places where they were stored.

    >>> x = canonical(csr_matrix("x"))
    >>> rewritten(entries_at(put(x, csm_data(x) * 2), x))
    CSMProperties(canonical(x)).data * 2.0
    """
    return at(put(x, data), s) >> data, given(stored_once(x), same_pattern(x, s))


@rule(phase="canonicalize")
def at_of_dense(x: Sparse, s: Sparse, structured: Prop):
    """Read elements from the sparse matrix, without building the dense one.

    >>> x, s = csr_matrix("x"), csr_matrix("s")
    >>> rewritten(entries_at(dense_from_sparse(x), s))
    At(x, s)
    """
    return at(DenseFromSparse(structured=structured)(x), s) >> at(x, s)


@rule(phase="canonicalize")
def at_of_sparse_of_dense(x: Matrix, s: Sparse, format: Prop):
    """Read elements from the dense matrix, without building the sparse one.

    >>> rewritten(entries_at(SparseFromDense("csr")(dmatrix("x")), csr_matrix("s")))
    At(x, s)
    """
    return at(SparseFromDense(format=format)(x), s) >> at(x, s), given(
        lambda x: 1 not in x.type.shape  # (a dimension along which a dense matrix broadcasts)
    )


@node_rewriter([At], phase="canonicalize", depth=2)
def at_of_filled(fgraph, node):
    """Elements of a matrix that is filled with one number equal that number. Not data: matrices are
    filled in several ways.

    >>> from rewrite_engine.tensor import ones_like
    >>> x = csr_matrix("x")
    >>> rewritten(entries_at(ones_like(dense_from_sparse(x)), x) * csm_data(x))
    CSMProperties(x).data
    """
    y, s = node.inputs
    value = filled_with(y)
    if value is None or value.type.ndim:
        return None
    return alloc(cast(value, node.outputs[0].type.dtype), csm_data(s).shape[0])


def filled_with(y):
    """Return the variable that a dense array is filled with; None if it is not filled."""
    if y.head is CONSTANT:
        number = y.element if y.type.kind != "?" else None
        return None if number is None else constant(number, dtype=y.type.dtype)
    filled = y.head is second or isinstance(y.head, Alloc)
    return y.owner.inputs[y.head is second] if filled else None


@rule(phase="canonicalize")
def sum_in_a_pattern(x: Sparse, y: Sparse):
    """Add only the data of two matrices with one pattern.

    >>> x = csr_matrix("x")
    >>> rewritten(x * 2 + x * 3)
    with_data(canonical(x), 5.0 * CSMProperties(canonical(x)).data)
    """
    return Add()(x, y) >> put(x, csm_properties(x).data + csm_properties(y).data), given(
        stored_once(x), same_pattern(x, y)
    )


@rule(phase="canonicalize")
def product_in_a_pattern(x: Sparse, y: Sparse):
    """Multiply only the data of two matrices with one pattern.

    >>> from rewrite_engine.sparse import sqr
    >>> x = canonical(csr_matrix("x"))
    >>> rewritten(x * sqr(x))
    with_data(canonical(x), ...)
    """
    return Multiply()(x, y) >> put(x, csm_properties(x).data * csm_properties(y).data), given(
        stored_once(x), same_pattern(x, y)
    )


# --- transposes and formats ---------------------------------------------------------------------


@rule(phase="canonicalize", claim=exact)
def transpose_of_transpose(x: Sparse):
    """Two transposes of a matrix cancel each other.

    >>> rewritten(csr_matrix("x").T.T)
    x
    """
    return turned(turned(x)) >> x


@rule(phase="canonicalize")
def data_of_transpose(x: Sparse):
    """A transpose has the same arrays, in the other format.

    >>> rewritten(csm_data(csr_matrix("x").T))
    CSMProperties(x).data
    """
    return csm_properties(turned(x)).data >> csm_properties(x).data


@rule(
    phase="canonicalize",
    overlaps="data are checked against the matrix, or against its transpose",
)
def transpose_of_data(x: Sparse, data: Vector):
    """Apply functions to the stored elements before the transpose, so that transposes can meet.

    >>> from rewrite_engine.sparse import sin
    >>> rewritten(sin(csr_matrix("x")).T.T)
    with_data(canonical(x), sin(CSMProperties(canonical(x)).data))
    """
    return turned(put(x, data)) >> put(turned(x), data)


@rule(phase="canonicalize")
def format_of_format(x: Sparse, f: Prop, g: Prop):
    """The last of two format conversions gives the result.

    >>> rewritten(csr_matrix("x").tocsc().tocsr().tocsc())
    to_csc(x)
    """
    return AsFormat(format=f)(AsFormat(format=g)(x)) >> AsFormat(format=f)(x)


@rule(phase="canonicalize")
def format_that_it_has(x: Sparse, f: Prop):
    """Remove a conversion to the format that the matrix already has.

    >>> rewritten(csr_matrix("x").tocsc().tocsr())
    x
    """
    return AsFormat(format=f)(x) >> compute(lambda x, f: x if x.type.format == f else None)


# --- sums, products with diagonals --------------------------------------------------------------


@rule(phase="canonicalize")
def diagonal_of_diagonal(v: Vector, format: Prop):
    """The diagonal of a diagonal matrix is the vector that it was built from.

    >>> rewritten(diag(square_diagonal(vector("v"))))
    v
    """
    return SparseDiagonal()(SquareDiagonal(format=format)(v)) >> v


@fact
def is_diagonal(d):
    """Square sparse matrix with zeros everywhere except on its diagonal."""
    found = band(d) if isinstance(d.type, SparseTensorType) else unknown("it is dense", blame=d)
    if not found:
        return found
    if found.value[0] < 0 or found.value[1] > 0:
        return unknown("other diagonals may be nonzero", blame=d)
    return both("a diagonal", found, same_length(d, 0, d, 1))


@fact
def are_dense(x):
    """The variable is no sparse matrix."""
    sparse = isinstance(x.type, SparseTensorType)
    return unknown("it is sparse", blame=x) if sparse else because("its type is dense")


@rule(phase="canonicalize", ends=at_most(1))
def diagonal_times(d: Sparse, x: Sparse, structured: Prop):
    """Scale the rows by a diagonal, which needs no product of matrices.

    >>> rewritten(true_dot(square_diagonal(vector("v"), "csr"), csr_matrix("x")))
    with_data(canonical(x), CSMProperties(canonical(x)).data * At(ExpandDims{...}(v), canonical(x)))
    """
    return TrueDot(structured=structured)(d, x) >> compute(
        lambda d, x: to_format(row_scale(x, diag(d)), d.type.format)
    ), given(is_diagonal(d))


@rule(phase="canonicalize", ends=at_most(1))
def times_diagonal(d: Sparse, x: Sparse, structured: Prop):
    """Scale the columns by a diagonal; a product with an identity changes nothing.

    >>> from rewrite_engine.sparse import eye
    >>> from rewrite_engine.tensor import lscalar
    >>> rewritten(true_dot(csr_matrix("x"), eye(lscalar("n"))))
    canonical(x)
    """
    return TrueDot(structured=structured)(x, d) >> compute(
        lambda d, x: col_scale(x, diag(d))
    ), given(is_diagonal(d))


@rule(phase="canonicalize", ends=at_most(1))
def diagonal_times_dense(d: Sparse, x, structured: Prop):
    """Scale the rows of a dense matrix, or a vector, by a diagonal, without a product of matrices.

    >>> rewritten(dot(square_diagonal(vector("v")), dmatrix("x")))
    ExpandDims{axes=[1]}(v) * x
    """
    return SparseDot(structured=structured)(d, x) >> compute(
        lambda d, x: diag(d)[:, None] * x if x.type.ndim == 2 else diag(d) * x
    ), given(is_diagonal(d), are_dense(x), lambda x: x.type.shape[0] != 1)


@rule(phase="canonicalize")
def dense_times_diagonal(d: Sparse, x, structured: Prop):
    """Scale the columns of a dense matrix, or a vector, by a diagonal, without a product of
    matrices.

    >>> rewritten(dot(dmatrix("x"), square_diagonal(vector("v"))))
    x * v
    """
    return SparseDot(structured=structured)(x, d) >> compute(lambda d, x: x * diag(d)), given(
        is_diagonal(d), are_dense(x), lambda x: x.type.shape[-1] != 1
    )


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"], ends=at_most(1))
def sum_of_everything(x: Sparse, structured: Prop):
    """Sum the stored elements, so that the rules for sums apply.

    >>> rewritten(sp_sum(csr_matrix("x")))
    Sum(CSMProperties(x).data)
    """
    return SpSum(axis=None, sparse_grad=structured)(x) >> Sum()(csm_properties(x).data), given(
        is_double
    )


# --- gradients are taken ------------------------------------------------------------------------


@rule(phase="specialize", claim=exact, ends=at_most(1))
def sum_without_gradient(x: Sparse, axis: Prop):
    """Unify two ops that differ only in their gradients, as gradients have been taken.

    >>> rewritten(sp_sum(csr_matrix("x"), 0))
    SpSum{axis=0, sparse_grad=True}(x)
    """
    return SpSum(axis=axis, sparse_grad=False)(x) >> SpSum(axis=axis, sparse_grad=True)(x)


@rule(phase="specialize", claim=exact, ends=at_most(1))
def dot_without_gradient(x, y):
    """Unify two products that differ only in their gradients, as gradients have been taken.

    >>> rewritten(dot(csr_matrix("x"), dmatrix("y")))
    structured_dot(x, y)
    """
    return SparseDot(structured=False)(x, y) >> SparseDot(structured=True)(x, y)


@rule(phase="specialize", claim=exact, ends=at_most(1))
def dense_without_gradient(x: Sparse):
    """Unify two conversions that differ only in their gradients, as gradients have been taken.

    >>> rewritten(DenseFromSparse(structured=False)(csr_matrix("x")))
    dense_from_sparse(x)
    """
    return DenseFromSparse(structured=False)(x) >> DenseFromSparse(structured=True)(x)
