"""Equations: both sides are right, and shapes decide which is cheaper. The phase "saturate" uses
them, for queries that include it (`docs/equations.md`).

Most of them change roundings, and overflows in between, so they assume "fastmath". Sums of several
terms keep their order.
"""

from rewrite_engine.facts import same_dtype, same_shape
from rewrite_engine.language import *
from rewrite_engine.tensor import Diagonal, DimShuffle, Sum

turn = DimShuffle(2, (1, 0))


@fact
def same_float(*xs):
    """All variables are floats of one dtype, so that neither side converts."""
    if len({x.type.dtype for x in xs}) > 1:
        return unknown("the dtypes differ")
    if xs[0].type.kind in "fc":
        return because(f"all are {xs[0].type.dtype}")
    return unknown("they are not floats", blame=xs[0])


@fact
def no_stretching(x, y):
    """x and y are combined without repeating either."""
    if x.type.dtype != y.type.dtype:
        return unknown("the dtypes differ")
    if x.type.ndim == y.type.ndim and x.type.broadcastable == y.type.broadcastable:
        return because("same rank, same dimensions of length 1")
    return unknown("one may be repeated along a dimension")


# --- products of matrices -----------------------------------------------------------------------


@equation(claim=assumes("fastmath"), prefer=flops)
def matmul_assoc(a: Inexact, b: Matrix, c: Inexact):
    """The order of a chain of products decides its cost. The roundings differ by a few units of the
    product of the absolute values.

    >>> a, b, v = matrix("a"), matrix("b"), vector("v")
    >>> rewritten(a @ b @ v, including=["saturate", "fastmath"])
    a @ (b @ v)
    """
    return (a @ b) @ c, a @ (b @ c), given(same_float(a, b, c))


@equation(claim=approx(ulps=8), prefer=flops)
def transpose_of_product(a: Matrix, b: Matrix):
    """One transpose replaces two, or two transposes meet others.

    >>> a, b = matrices("a b")
    >>> rewritten(a.T @ b.T, including=["saturate"])
    Transpose{axes=[1, 0]}(b @ a)
    """
    return turn(a @ b), turn(b) @ turn(a)


@equation(claim=assumes("fastmath"), prefer=flops)
def scaled_left_factor(k: Scalar, a: Inexact, b: Inexact):
    """A number is multiplied with the smallest array: the left factor, or the product.

    >>> k, a, b = scalar("k"), matrix("a", shape=(9, 5)), matrix("b", shape=(5, 2))
    >>> rewritten((k * a) @ b, including=["saturate", "fastmath"])
    a @ (k * b)
    """
    return (k * a) @ b, k * (a @ b), given(same_float(k, a, b))


@equation(claim=assumes("fastmath"), prefer=flops)
def scaled_right_factor(k: Scalar, a: Inexact, b: Inexact):
    """A number is multiplied with the smallest array: the right factor, or the product.

    >>> k, a, b = scalar("k"), matrix("a", shape=(2, 5)), matrix("b", shape=(5, 9))
    >>> rewritten(a @ (k * b), including=["saturate", "fastmath"])
    k * a @ b
    """
    return a @ (k * b), k * (a @ b), given(same_float(k, a, b))


@equation(claim=assumes("fastmath", then=approx(ulps=32)), prefer=flops)
def common_left_matrix(a: Inexact, x: Inexact, y: Inexact):
    """One product replaces two with the same left factor.

    >>> a, x, y = matrices("a x y")
    >>> rewritten(a @ x + a @ y, including=["saturate", "fastmath"])
    a @ (x + y)
    """
    return a @ x + a @ y, a @ (x + y), given(same_float(a, x), no_stretching(x, y))


@equation(claim=assumes("fastmath", then=approx(ulps=32)), prefer=flops)
def common_right_matrix(a: Inexact, x: Inexact, y: Inexact):
    """One product replaces two with the same right factor.

    >>> a, x, y = matrices("a x y")
    >>> rewritten(x @ a + y @ a, including=["saturate", "fastmath"])
    (x + y) @ a
    """
    return x @ a + y @ a, (x + y) @ a, given(same_float(a, x), no_stretching(x, y))


@equation(claim=assumes("fastmath"), prefer=flops)
def sum_of_rows_of_product(a: Matrix, b: Matrix):
    """The sum of the rows of a product needs no product of matrices.

    >>> a, b = matrices("a b")
    >>> rewritten((a @ b).sum(axis=0), including=["saturate", "fastmath"])
    Sum{axis=0}(a) @ b
    """
    rows = Sum(axis=(0,))
    return rows(a @ b), rows(a) @ b, given(same_float(a, b))


@equation(claim=assumes("fastmath"), prefer=flops)
def sum_of_columns_of_product(a: Matrix, b: Matrix):
    """The sum of the columns of a product needs no product of matrices.

    >>> a, b = matrices("a b")
    >>> rewritten((a @ b).sum(axis=1), including=["saturate", "fastmath"])
    a @ Sum{axis=1}(b)
    """
    columns = Sum(axis=(1,))
    return columns(a @ b), a @ columns(b), given(same_float(a, b))


@equation(claim=assumes("fastmath"), prefer=flops)
def sum_of_product(a: Matrix, b: Matrix):
    """The sum of all entries of a product needs no product of matrices.

    >>> a, b = matrices("a b")
    >>> rewritten((a @ b).sum(), including=["saturate", "fastmath"])
    Sum{axis=0}(a) @ Sum{axis=1}(b)
    """
    rows, columns = Sum(axis=(0,)), Sum(axis=(1,))
    return Sum()(a @ b), rows(a) @ columns(b), given(same_float(a, b))


@equation(claim=assumes("fastmath"), prefer=flops)
def trace_of_product(a: Tensor["n", "m"], b: Tensor["m", "n"]):
    """The trace of a product needs only the product's diagonal. (If the product is not square, a
    length of 1 would be repeated.)

    >>> a, b = matrix("a", shape=(2, 3)), matrix("b", shape=(3, 2))
    >>> rewritten(trace(a @ b), including=["saturate", "fastmath"])
    Reshape{-1}(a) @ Reshape{-1}(Transpose{axes=[1, 0]}(b))
    """
    return Sum()(Diagonal()(a @ b)), Sum()(a * turn(b)), given(same_float(a, b))


# --- sums and products of elements --------------------------------------------------------------


@equation(claim=assumes("fastmath"), prefer=flops)
def common_factor(k: Inexact, x: Inexact, y: Inexact):
    """One product replaces two with the same factor.

    >>> k, x, y = vectors("k x y")
    >>> rewritten(k * x + y * k, including=["saturate", "fastmath"])
    k * (x + y)
    """
    return k * x + k * y, k * (x + y), given(same_float(k, x, y))


@equation(claim=assumes("fastmath", then=approx(ulps=8)), prefer=flops)
def common_factor_of_difference(k: Inexact, x: Inexact, y: Inexact):
    """One product replaces two with the same factor.

    >>> k, x, y = vectors("k x y")
    >>> rewritten(k * x - y * k, including=["saturate", "fastmath"])
    k * (x - y)
    """
    return k * x - k * y, k * (x - y), given(same_float(k, x, y))


@equation(claim=assumes("fastmath"), prefer=flops)
def common_divisor(k: Inexact, x: Inexact, y: Inexact):
    """One division replaces two with the same divisor.

    >>> k, x, y = vectors("k x y")
    >>> rewritten(x / k + y / k, including=["saturate", "fastmath"])
    (x + y) / k
    """
    return x / k + y / k, (x + y) / k, given(same_float(k, x, y))


@equation(claim=assumes("fastmath"), prefer=flops)
def sum_of_multiple(k: Scalar, x: Inexact, axis: Prop, keepdims: Prop):
    """One product per sum replaces one per element, unless the products are computed anyway. (The
    rule `sum_of_scaled` does the first, whether or not the products are used elsewhere.)

    >>> k, x = scalar("k"), vector("x")
    >>> rewritten(k * x, k * x.sum(), including=["saturate", "fastmath"])
    [k * x, Sum(k * x)]
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return total(k * x), k * total(x), given(same_float(k, x))


@equation(claim=assumes("fastmath"), prefer=flops)
def sum_of_sums(x: Inexact, y: Inexact, axis: Prop, keepdims: Prop):
    """The cheaper order of adding and summing depends on the other uses of both.

    >>> x, y = matrix("x", shape=(9, 9)), matrix("y", shape=(9, 9))
    >>> rewritten(x.sum(axis=0) + y.sum(axis=0), (x + y).sum(axis=0),
    ...           including=["saturate", "fastmath"])
    [Sum{axis=0}(x + y), Sum{axis=0}(x + y)]
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return total(x) + total(y), total(x + y), given(same_dtype(x, y), same_shape(x, y))
