"""Patterns of functions that look at types: they match terms of all dtypes and lengths."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError
from rewrite_engine.language import (
    Float,
    Matrix,
    Tensor,
    Vector,
    approx,
    backward,
    refines,
    rewritten,
    rule,
    table,
)
from rewrite_engine.tensor.index.diagonals import IncDiagonal

DTYPES = ("float64", "float32", "int64", "complex128")
R = "."  # (the reason)
la, atan, sin = pt.linalg, pt.arctan, pt.sin
RULES = table(
    "sampled",
    ("inv", lambda a: atan(la.inv(a)) >> sin(la.inv(a)), refines, R),
    ("det", lambda a: atan(la.det(a)) >> sin(la.det(a)), refines, R),
    ("solve", lambda a, u: atan(la.solve(a, u)) >> sin(la.solve(a, u)), refines, R),
    ("eigh", lambda a: atan(la.eigh(a)[1]) >> sin(la.eigh(a)[1]), refines, R),
    ("slogdet", lambda a: atan(la.slogdet(a)[1]) >> sin(la.slogdet(a)[1]), refines, R),
    ("cholesky", lambda a: atan(la.cholesky(a)) >> sin(la.cholesky(a)), refines, R),
    ("diag", lambda u: atan(pt.diag(u)) >> sin(pt.diag(u)), refines, R),
    ("det_diag", lambda u: atan(la.det(pt.diag(u))) >> sin(la.det(pt.diag(u))), refines, R),
    ("sum", lambda a: atan(pt.sum(a, axis=-1)) >> sin(pt.sum(a, axis=-1)), refines, R),
    ("trace", lambda a: atan(pt.trace(a)) >> sin(pt.trace(a)), refines, R),
    ("outer", lambda u, v: atan(pt.outer(u, v)) >> sin(pt.outer(u, v)), refines, R),
    ("mean", lambda a: atan(a.mean(axis=0)) >> sin(a.mean(axis=0)), refines, R),
    ("softmax", lambda a: atan(pt.softmax(a, axis=1)) >> sin(pt.softmax(a, axis=1)), refines, R),
    ("norm", lambda u: atan(la.norm(u)) >> sin(la.norm(u)), refines, R),
    ("tril", lambda a: atan(pt.tril(a)) >> sin(pt.tril(a)), refines, R),
    phase="canonicalize",
    a=Matrix,
    u=Vector,
    v=Vector,
)  # fmt: skip
LENGTH, ROWS = Tensor["n"], Tensor["n", "m"]
TERMS = {
    "inv": lambda a, u: pt.linalg.inv(a),
    "det": lambda a, u: pt.linalg.det(a),
    "solve": lambda a, u: pt.linalg.solve(a, u),
    "eigh": lambda a, u: pt.linalg.eigh(a)[1],
    "slogdet": lambda a, u: pt.linalg.slogdet(a).logabsdet,
    "cholesky": lambda a, u: pt.linalg.cholesky(a),
    "diag": lambda a, u: pt.diag(u),
    "det_diag": lambda a, u: pt.linalg.det(pt.diag(u)),
    "sum": lambda a, u: a.sum(axis=1),
    "trace": lambda a, u: pt.trace(a),
    "outer": lambda a, u: pt.outer(u, u),
    "mean": lambda a, u: a.mean(axis=0),
    "softmax": lambda a, u: pt.softmax(a, axis=-1),
    "norm": lambda a, u: pt.linalg.norm(u),
    "tril": lambda a, u: pt.tril(a),
}
#: functions that take no such numbers; and of whose terms it is not known that they cannot fail
REFUSED = {("softmax", "complex128"), ("det_diag", "int64")}


def operands(dtype: str, length: int | None) -> Any:
    return [pt.tensor(n, dtype=dtype, shape=(length,) * k) for n, k in (("a", 2), ("u", 1))]


def fires(name: str, *given: Any) -> bool:
    term = pt.arctan(TERMS[name](*given))
    text = repr(rewritten(term, rules=[RULES[name]]))
    return "sin(" in text and "arctan" not in text


@pytest.mark.parametrize("length", [None, 3])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TERMS)
def test_it_fires_for_all_dtypes_and_lengths(name: str, dtype: str, length: int | None) -> None:
    if (name, dtype) in REFUSED:
        pytest.skip("there is no such term, or it may fail")
    assert fires(name, *operands(dtype, length))


@pytest.mark.parametrize("name", TERMS)
def test_it_fires_on_computed_operands(name: str) -> None:
    a, u = operands("float64", None)
    assert fires(name, pt.sort(a, axis=0), pt.sort(u))


def test_values_and_structure_are_those_of_the_rule() -> None:
    @rule(phase="specialize", claim=backward(4))
    def diag_times(u: LENGTH, a: ROWS):
        """Scales the rows."""
        return pt.diag(u) @ a >> u[:, None] * a

    a, u = pt.tensor("a", shape=(3, 2)), pt.tensor("u", shape=(3,))
    graph = rw.function([u, a], pt.diag(u) @ a, mode=rw.Mode().register(diag_times))
    assert not [n for n in graph.fgraph.apply_nodes if "Diagonal" in str(n.op)]
    given = np.array([1.0, 2, 3]), np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(graph(*given), np.diag(given[0]) @ given[1])


def test_other_matrices_are_not_taken_for_it() -> None:
    a, _ = operands("float64", None)
    set_diagonal = IncDiagonal(0, set_instead_of_inc=True)
    for blank in (pt.ones((3, 3)), pt.zeros((3, 5)), a):
        term = pt.arctan(set_diagonal(blank, pt.tensor("y", shape=(3,))))
        assert "arctan" in repr(rewritten(term, rules=[RULES["diag"]]))
    for number in (7.0, a.shape[1], a.shape[0] + 1):
        term = pt.arctan(a.sum(axis=0) / number)
        assert "arctan" in repr(rewritten(term, rules=[RULES["mean"]]))


def test_one_pattern_serves_all_types_where_it_can() -> None:
    assert RULES["inv"].text == "arctan(MatrixInverse(a)) -> sin(MatrixInverse(a))"
    assert RULES["inv"].lowered.others == ()
    assert "given pt.diag(u) builds part" in str(RULES["diag"].text)


def test_a_normal_form_that_lengths_decide_has_another_pattern() -> None:
    @rule(phase="canonicalize", claim=approx(64))
    def mean_of_neg(x: Annotated[Vector, Float]):
        """One sign less to compute in an array."""
        return pt.arctan((-x).mean()) >> -pt.arctan(x.mean())

    assert mean_of_neg.lowered.others
    for length in (None, 3):
        x = pt.tensor("x", shape=(length,))
        assert "-arctan(" in repr(rewritten(pt.arctan((-x).mean()), rules=[mean_of_neg]))
    assert rw.check(mean_of_neg, only="claims").findings == []


def test_a_wrong_rule_is_found_at_terms_of_the_function() -> None:
    @rule(phase="specialize", claim=backward(4))
    def wrong(u: Vector, a: Matrix):
        """(Wrong: it scales the rows.)"""
        return a @ pt.diag(u) >> u * a + a

    found = [f.kind for f in rw.check(wrong, only="claims").findings]
    assert found == ["WRONG"]


def test_what_fails_on_samples_is_an_error_that_names_it() -> None:
    with pytest.raises(PatternError, match="cannot be part of a pattern"):

        @rule
        def refused(a: Matrix):
            """."""
            return pt.exp(pt.linalg.solve_nothing(a)) >> a
