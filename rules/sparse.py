"""Sparse matrices. The pack is imported once `rewrite_engine.sparse` is (`pipeline.ON_DEMAND`)."""

from functools import cache

from rewrite_engine.rules.facts import (
    band,
    finite,
    one_for_each,
    same_length,
    same_pattern,
    stored_once,
)
from rewrite_engine.rules.language import *
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
    """All elements were there.

    >>> rewritten(dense_from_sparse(SparseFromDense("csr")(dmatrix("x"))))
    x
    """
    return DenseFromSparse(structured=structured)(SparseFromDense(format=format)(x)) >> x


def is_double(x):
    """Whether sums of such elements have the dtype that `SpSum` gives them, and as many digits."""
    return x.type.dtype == "float64"


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_dense(x: Sparse, structured: Prop):
    """What is not stored adds nothing to a sum.

    >>> rewritten(dense_from_sparse(csr_matrix("x")).sum())
    Sum(CSMProperties(x).data)
    """
    return Sum()(DenseFromSparse(structured=structured)(x)) >> SpSum()(x), given(is_double)


def is_one(axis):
    """Whether a sum is along one axis."""
    return axis is not None and len(axis) == 1


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_dense_along(x: Sparse, structured: Prop, axis: Prop):
    """Nor to that of a row or column.

    >>> rewritten(dense_from_sparse(csr_matrix("x")).sum(axis=0))
    SpSum{axis=0, sparse_grad=True}(x)
    """
    return Sum(axis=axis)(DenseFromSparse(structured=structured)(x)) >> compute(
        lambda x, axis: SpSum(axis[0])(x) if is_one(axis) else None
    ), given(is_double)


@rule(phase="canonicalize", claim=assumes("fastmath", approx(ulps=8)), tags=["reorder"])
def dot_of_dense(x: Sparse, y: Matrix, structured: Prop):
    """What is not stored adds nothing to a product, if what it is multiplied by is finite.

    >>> from rewrite_engine.tensor import dot, sin
    >>> rewritten(dot(dense_from_sparse(csr_matrix("x")), sin(bmatrix("y"))))
    structured_dot(x, sin(y))
    """
    left = Dot()(DenseFromSparse(structured=structured)(x), y)
    return left >> SparseDot(structured=True)(x, y), given(assuming(finite(y)))


# --- parts --------------------------------------------------------------------------------------


@rule(phase="canonicalize", claim=assumes("shape_unsafe"))
def data_of_parts(data: Vector, i: Vector, p: Vector, shape: Vector, format: Prop):
    """What was put in is what is stored, if the parts fit together.

    >>> from rewrite_engine.tensor import constant
    >>> made = CSM("csr")(vector("v"), *map(constant, ([0, 1, 1, 2], [0, 2, 4], [2, 3])))
    >>> rewritten(csm_data(made), including=["shape_unsafe"])
    v
    """
    return csm_properties(CSM(format=format)(data, i, p, shape)).data >> data


@rule(phase="canonicalize")
def data_of_data(x: Sparse, data: Vector):
    """The same of the data in a pattern.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_data(put(x, csm_data(x) * 2)))
    CSMProperties(x).data * 2.0
    """
    return csm_properties(put(x, data)).data >> data


@rule(phase="canonicalize")
def indices_of_data(x: Sparse, data: Vector):
    """A pattern has no data.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_properties(put(x, csm_data(x) * 2)).indices)
    CSMProperties(x).indices
    """
    return csm_properties(put(x, data)).indices >> csm_properties(x).indices


@rule(phase="canonicalize")
def indptr_of_data(x: Sparse, data: Vector):
    """The same.

    >>> x = csr_matrix("x")
    >>> rewritten(csm_properties(put(x, csm_data(x) * 2)).indptr)
    CSMProperties(x).indptr
    """
    return csm_properties(put(x, data)).indptr >> csm_properties(x).indptr


@node_rewriter([CSM], phase="canonicalize", depth=2)
def parts_of_a_matrix(fgraph, node):
    """What is made of the indices of a matrix has its pattern. Not data: all of one matrix, of
    which the format has to be that of the op.

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


@rule(phase="canonicalize", overlaps="nothing was put in, wherever that is seen")
def its_own_data(x: Sparse):
    """Nothing changes.

    >>> x = csr_matrix("x")
    >>> rewritten(put(x, csm_data(x)))
    x
    """
    return put(x, csm_properties(x).data) >> x


@rule(phase="canonicalize")
def data_twice(x: Sparse, d: Vector, e: Vector):
    """The first data are not seen.

    >>> x = csr_matrix("x")
    >>> y = put(x, csm_data(x) * 2)
    >>> rewritten(put(y, csm_data(x) + 1))
    with_data(x, CSMProperties(x).data + 1.0)
    """
    return put(put(x, d), e) >> put(x, e)


@rule(phase="canonicalize")
def canonical_of_canonical(x: Sparse):
    """Each place is stored once already.

    >>> from rewrite_engine.sparse import sin
    >>> rewritten(sin(sin(csr_matrix("x"))))
    with_data(canonical(x), sin(sin(CSMProperties(canonical(x)).data)))
    """
    return once(x) >> x, given(stored_once(x))


# --- elements where something is stored ---------------------------------------------------------


@rule(phase="canonicalize")
def at_own_places(x: Sparse, data: Vector, s: Sparse):
    """Elements are read where they were put.

    >>> x = canonical(csr_matrix("x"))
    >>> rewritten(entries_at(put(x, csm_data(x) * 2), x))
    CSMProperties(canonical(x)).data * 2.0
    """
    return at(put(x, data), s) >> data, given(stored_once(x), same_pattern(x, s))


@rule(phase="canonicalize")
def at_of_dense(x: Sparse, s: Sparse, structured: Prop):
    """No dense matrix is needed for some of its elements.

    >>> x, s = csr_matrix("x"), csr_matrix("s")
    >>> rewritten(entries_at(dense_from_sparse(x), s))
    At(x, s)
    """
    return at(DenseFromSparse(structured=structured)(x), s) >> at(x, s)


@rule(phase="canonicalize")
def at_of_sparse_of_dense(x: Matrix, s: Sparse, format: Prop):
    """The same the other way round.

    >>> rewritten(entries_at(SparseFromDense("csr")(dmatrix("x")), csr_matrix("s")))
    At(x, s)
    """
    return at(SparseFromDense(format=format)(x), s) >> at(x, s), given(
        lambda x: 1 not in x.type.shape  # which a dense matrix is stretched along
    )


@node_rewriter([At], phase="canonicalize", depth=2)
def at_of_filled(fgraph, node):
    """Of a matrix filled with a number only that is read. Not data: filled in several ways.

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
    """What a dense array is filled with, a variable; None: it is not."""
    if y.head is CONSTANT:
        number = y.element if y.type.kind != "?" else None
        return None if number is None else constant(number, dtype=y.type.dtype)
    filled = y.head is second or isinstance(y.head, Alloc)
    return y.owner.inputs[y.head is second] if filled else None


@rule(phase="canonicalize")
def sum_in_a_pattern(x: Sparse, y: Sparse):
    """Of two matrices with one pattern only the data are added.

    >>> x = csr_matrix("x")
    >>> rewritten(x * 2 + x * 3)
    with_data(canonical(x), 5.0 * CSMProperties(canonical(x)).data)
    """
    return Add()(x, y) >> put(x, csm_properties(x).data + csm_properties(y).data), given(
        stored_once(x), same_pattern(x, y)
    )


@rule(phase="canonicalize")
def product_in_a_pattern(x: Sparse, y: Sparse):
    """Or multiplied.

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
    """It is what it was.

    >>> rewritten(csr_matrix("x").T.T)
    x
    """
    return turned(turned(x)) >> x


@rule(phase="canonicalize")
def data_of_transpose(x: Sparse):
    """A transpose has the same arrays, read in the other way.

    >>> rewritten(csm_data(csr_matrix("x").T))
    CSMProperties(x).data
    """
    return csm_properties(turned(x)).data >> csm_properties(x).data


@rule(
    phase="canonicalize",
    overlaps="data that may not fit are checked against a matrix, or its transpose",
)
def transpose_of_data(x: Sparse, data: Vector):
    """So functions of what is stored are taken before it is transposed.

    >>> from rewrite_engine.sparse import sin
    >>> rewritten(sin(csr_matrix("x")).T.T)
    with_data(canonical(x), sin(CSMProperties(canonical(x)).data))
    """
    return turned(put(x, data)) >> put(turned(x), data)


@rule(phase="canonicalize")
def format_of_format(x: Sparse, f: Prop, g: Prop):
    """Only the last one counts.

    >>> rewritten(csr_matrix("x").tocsc().tocsr().tocsc())
    to_csc(x)
    """
    return AsFormat(format=f)(AsFormat(format=g)(x)) >> AsFormat(format=f)(x)


@rule(phase="canonicalize")
def format_that_it_has(x: Sparse, f: Prop):
    """Nothing changes.

    >>> rewritten(csr_matrix("x").tocsc().tocsr())
    x
    """
    return AsFormat(format=f)(x) >> compute(lambda x, f: x if x.type.format == f else None)


# --- sums, products with diagonals --------------------------------------------------------------


@rule(phase="canonicalize")
def diagonal_of_diagonal(v: Vector, format: Prop):
    """It is what was put there.

    >>> rewritten(diag(square_diagonal(vector("v"))))
    v
    """
    return SparseDiagonal()(SquareDiagonal(format=format)(v)) >> v


@fact
def is_diagonal(d):
    """A square sparse matrix with zeros everywhere but on its diagonal."""
    found = band(d) if isinstance(d.type, SparseTensorType) else unknown("it is dense", blame=d)
    if not found:
        return found
    if found.value[0] < 0 or found.value[1] > 0:
        return unknown("there are others", blame=d)
    return both("a diagonal", found, same_length(d, 0, d, 1))


@fact
def are_dense(x):
    """It is no sparse matrix."""
    sparse = isinstance(x.type, SparseTensorType)
    return unknown("it is sparse", blame=x) if sparse else because("its type")


@rule(phase="canonicalize", ends=at_most(1))
def diagonal_times(d: Sparse, x: Sparse, structured: Prop):
    """A diagonal multiplies rows; no product of matrices is needed.

    >>> rewritten(true_dot(square_diagonal(vector("v"), "csr"), csr_matrix("x")))
    with_data(canonical(x), CSMProperties(canonical(x)).data * At(ExpandDims{...}(v), canonical(x)))
    """
    return TrueDot(structured=structured)(d, x) >> compute(
        lambda d, x: to_format(row_scale(x, diag(d)), d.type.format)
    ), given(is_diagonal(d))


@rule(phase="canonicalize", ends=at_most(1))
def times_diagonal(d: Sparse, x: Sparse, structured: Prop):
    """And columns; an identity nothing.

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
    """The same of dense matrices and vectors.

    >>> rewritten(dot(square_diagonal(vector("v")), dmatrix("x")))
    ExpandDims{axes=[1]}(v) * x
    """
    return SparseDot(structured=structured)(d, x) >> compute(
        lambda d, x: diag(d)[:, None] * x if x.type.ndim == 2 else diag(d) * x
    ), given(is_diagonal(d), are_dense(x), lambda x: x.type.shape[0] != 1)


@rule(phase="canonicalize")
def dense_times_diagonal(d: Sparse, x, structured: Prop):
    """And from the other side.

    >>> rewritten(dot(dmatrix("x"), square_diagonal(vector("v"))))
    x * v
    """
    return SparseDot(structured=structured)(x, d) >> compute(lambda d, x: x * diag(d)), given(
        is_diagonal(d), are_dense(x), lambda x: x.type.shape[-1] != 1
    )


@rule(phase="canonicalize", claim=approx(ulps=8), tags=["reorder"], ends=at_most(1))
def sum_of_everything(x: Sparse, structured: Prop):
    """The sum of all elements is that of what is stored, to which rules of sums apply.

    >>> rewritten(sp_sum(csr_matrix("x")))
    Sum(CSMProperties(x).data)
    """
    return SpSum(axis=None, sparse_grad=structured)(x) >> Sum()(csm_properties(x).data), given(
        is_double
    )


# --- gradients are taken ------------------------------------------------------------------------


@rule(phase="specialize", claim=exact, ends=at_most(1))
def sum_without_gradient(x: Sparse, axis: Prop):
    """What differs only in gradients is one, now that these are taken.

    >>> rewritten(sp_sum(csr_matrix("x"), 0))
    SpSum{axis=0, sparse_grad=True}(x)
    """
    return SpSum(axis=axis, sparse_grad=False)(x) >> SpSum(axis=axis, sparse_grad=True)(x)


@rule(phase="specialize", claim=exact, ends=at_most(1))
def dot_without_gradient(x, y):
    """The same.

    >>> rewritten(dot(csr_matrix("x"), dmatrix("y")))
    structured_dot(x, y)
    """
    return SparseDot(structured=False)(x, y) >> SparseDot(structured=True)(x, y)


@rule(phase="specialize", claim=exact, ends=at_most(1))
def dense_without_gradient(x: Sparse):
    """The same.

    >>> rewritten(DenseFromSparse(structured=False)(csr_matrix("x")))
    dense_from_sparse(x)
    """
    return DenseFromSparse(structured=False)(x) >> DenseFromSparse(structured=True)(x)
