"""Terms for the rules of diagonals, of products with scaled and diagonal matrices, and of matrices
to which products are added. (`indexed.py` has other products, `terms.py` the rest.)
"""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.tensor import Diagonal, Eye, IncDiagonal, Shape_i
from tests.rules.claims.indexed import Terms


def matrix(m: Any, name: str = "a") -> Any:
    """Return a matrix of unknown lengths."""
    return m.v(name, None, None)


def vector(m: Any, name: str = "v") -> Any:
    """Return a vector of unknown length."""
    return m.v(name, None)


def unit(m: Any, like: Any, axis: int = 0) -> Any:
    """Return a unit matrix with a row for each element along an axis."""
    return pt.eye(Shape_i(axis)(like), dtype=m.choose.choice(m.dtypes))


#: (draws for vectors alone are a grid of many elements: products of vectors have one that is short)


def order(m: Any) -> Any:
    """Return numbers of rows, each once."""
    return pt.argsort(vector(m, "p"))


on_diagonal = IncDiagonal(0, set_instead_of_inc=True)

#: terms for the rules of `rules/diagonals.py`
DIAGONALS: Terms = {
    "diagonal_that_was_set": [
        lambda m: Diagonal()(on_diagonal(m.v("x", 3, 3), m.v("y", 3))),
        lambda m: Diagonal()(on_diagonal(unit(m, v := vector(m)), v)),
        lambda m: Diagonal()(on_diagonal(pt.outer(v := vector(m), v), abs(v))),
    ],
    "sum_of_diagonal_matrix": [
        lambda m: pt.diag(vector(m)).sum(axis=0),
        lambda m: pt.diag(m.v("v", 3)).sum(axis=1),
        lambda m: pt.diag(pt.exp(vector(m))).sum(axis=1),
    ],
    "diagonal_of_eye": [
        lambda m: Diagonal()(Eye(m.dtypes[0])(n := vector(m).shape[0], n, 0)),
        lambda m: Diagonal()(Eye(m.dtypes[-1])(n := m.v("n"), n, 0)),
        lambda m: Diagonal()(Eye(m.dtypes[0])(n := pt.constant(3), n, 0)),
    ],
    "diagonal_of_elements": [
        lambda m: Diagonal()(pt.exp(matrix(m))),
        lambda m: Diagonal()(m.v("x", 3, 4) * pt.sqr(m.v("y", 3, 4))),
        lambda m: Diagonal()(matrix(m, "x") - m.v("s")),
        lambda m: Diagonal()(m.v("x", 3, 3) + m.v("y", 3)),
        lambda m: Diagonal()(m.v("x", 3, 3) * m.v("y", 3, 1)),
        lambda m: Diagonal()(pt.switch(m.v("x", 2, 2) > 0, m.c(), m.v("y", 1, 2))),
    ],
    "product_with_diagonal": [
        lambda m: pt.diag(vector(m, "u")) @ matrix(m),
        lambda m: matrix(m) @ pt.diag(vector(m, "u")),
        lambda m: pt.diag(vector(m, "u")) @ m.v("v", 3),
        lambda m: m.v("v", 3) @ pt.diag(vector(m, "u")),
        lambda m: (unit(m, a := matrix(m)) * m.v("s")) @ a,
        lambda m: pt.diag(m.v("u", 3)) @ m.v("a", 3, 1),
    ],
    "chosen_rows": [
        lambda m: unit(m, a := matrix(m))[order(m)] @ a,
        lambda m: unit(m, v := m.v("v", 3))[order(m)] @ v,
        lambda m: unit(m, a := matrix(m))[pt.constant([1, 0, 1])] @ a,
        lambda m: unit(m, a := m.v("a", 3, 2))[pt.constant([-1, 0, 1])] @ a,
    ],
    "chosen_columns": [
        lambda m: (a := matrix(m)) @ unit(m, a, 1)[order(m)].T,
        lambda m: (v := m.v("v", 3)) @ unit(m, v)[order(m)].T,
        lambda m: (a := matrix(m)) @ unit(m, a, 1)[pt.constant([1, 0, 1])].T,
        lambda m: (a := m.v("a", 2, 3)) @ unit(m, a, 1)[pt.constant([-1, 0, 1])].T,
    ],
    "scaled_columns_times_vector": [
        lambda m: (matrix(m) * vector(m, "u")) @ vector(m),
        lambda m: pt.mul(m.v("u", 1, None), matrix(m), m.v("s")) @ vector(m),
    ],
    "scaled_rows_times_vector": [
        lambda m: (m.v("u", None, 1) * matrix(m)) @ vector(m),
        lambda m: pt.mul(matrix(m), vector(m, "u")[:, None], matrix(m, "b")) @ vector(m),
    ],
    "vector_times_scaled_rows": [
        lambda m: vector(m) @ (m.v("u", None, 1) * matrix(m)),
        lambda m: vector(m) @ pt.mul(matrix(m), vector(m, "u")[:, None], matrix(m, "b")),
    ],
    "vector_times_scaled_columns": [
        lambda m: vector(m) @ (matrix(m) * vector(m, "u")),
        lambda m: vector(m) @ pt.mul(m.v("u", 1, None), matrix(m), m.v("s")),
    ],
    "multiple_times_vector": [
        lambda m: (m.v("s") * matrix(m)) @ vector(m),
        lambda m: pt.mul(m.v("s", 1, 1), matrix(m), m.v("t")) @ vector(m),
        lambda m: (m.c() * matrix(m)) @ vector(m),
    ],
    "vector_times_multiple": [
        lambda m: vector(m) @ (m.v("s") * matrix(m)),
        lambda m: vector(m) @ pt.mul(m.v("s", 1), matrix(m), m.v("t")),
        lambda m: vector(m) @ (m.c() * matrix(m)),
    ],
    "multiple_of_matrix_and_transpose": [
        lambda m: (m.v("s") * (a := matrix(m)).T) @ a,
        lambda m: (m.c() * (a := m.v("a", 2, 3))) @ a.T,
    ],
    "matrix_and_multiple_of_transpose": [
        lambda m: (a := matrix(m)).T @ (m.v("s") * a),
        lambda m: (a := m.v("a", 2, 3)) @ (m.v("s", 1) * a.T),
    ],
    "outer_product_times_array": [
        lambda m: pt.outer(vector(m, "u"), vector(m)) @ vector(m, "w"),
        lambda m: pt.outer(vector(m, "u"), vector(m)) @ matrix(m),
        lambda m: pt.mul(m.v("u", None, 1), vector(m), m.v("s")) @ matrix(m),
    ],
    "array_times_outer_product": [
        lambda m: vector(m, "w") @ pt.outer(vector(m, "u"), vector(m)),
        lambda m: matrix(m) @ pt.outer(vector(m, "u"), vector(m)),
        lambda m: matrix(m) @ pt.mul(m.v("u", None, 1), m.v("v", 1, None), m.v("s")),
    ],
}

#: terms for the rules of `rules/updates.py`, and of products that add nothing up
UPDATES: Terms = {
    "column_times_row": [
        lambda m: m.v("a", None, 1) @ m.v("b", 1, None),
        lambda m: m.v("a", 3, 1) @ m.v("b", 1, 2),
    ],
    "product_with_update": [
        lambda m: (matrix(m) + matrix(m, "u") @ matrix(m, "v")) @ vector(m, "x"),
        lambda m: vector(m, "x") @ (matrix(m) - pt.outer(vector(m, "u"), vector(m))),
        lambda m: (unit(m, a := matrix(m)) - matrix(m, "v") @ matrix(m, "u")) @ a,
        lambda m: (matrix(m, "u") @ matrix(m, "v") + m.v("s") * pt.eye(3)) @ m.v("a", 3, None),
    ],
    "sum_with_unit_matrix": [
        lambda m: (a := matrix(m)) + unit(m, a),
        lambda m: m.v("s") * unit(m, a := matrix(m)) + a,
        lambda m: pt.add(m.v("a", 3, 3), m.v("b", 3, 3), m.c() * pt.eye(3)),
    ],
}
