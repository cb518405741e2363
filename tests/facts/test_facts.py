"""Facts about tensors: what they say holds, and what they do not know they say, too."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine import facts
from rewrite_engine.errors import FactError, RewriteEngineError
from rewrite_engine.facts import *
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import because, fact
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor import linalg
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.special import Softmax
from tests.tensor.evaluate import evaluate

SPECIAL = [0.0, -0.0, 1.0, -3.0, 700.0, -800.0, np.nan, np.inf, -np.inf, 1e-320, 5e-324, -1e308]
x = pt.vector("x")
f = pt.vector("f", dtype="float32")
i = pt.vector("i", dtype="int8")
k = pt.vector("k", dtype="int64")
u = pt.vector("u", dtype="uint8")
b = pt.vector("b", dtype="bool")
VALUES = {
    x: np.array(SPECIAL), f: np.array(SPECIAL, "float64").clip(-3e38, 3e38).astype("float32"),
    i: np.array([-128, 0, 5, 127, -1, 1, 2, 3, 4, 6, 7, 100], "int8"),
    k: np.array([2**63 - 1, -(2**63), 0, 1, -1, 2, 2**53 + 1, 3, 4, 5, 6, -7]),
    u: np.array([0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 200, 128], "uint8"), b: np.arange(12) % 2 == 0,
}  # fmt: skip
EMPTY = {v: a[:0] for v, a in VALUES.items()}

UNARY = [
    pt.exp, pt.sigmoid, pt.abs, pt.sqr, pt.sqrt, pt.neg, pt.sin, pt.cos, pt.tanh, pt.floor, pt.ceil,
    pt.round, pt.sign, pt.log1p, pt.expm1, pt.reciprocal, pt.softplus, pt.erf, pt.erfc, pt.arctan,
    pt.cosh, pt.log, pt.exp2, pt.arcsinh, Softmax(None), pt.cumsum, lambda v: v[::-2],
    lambda v: v.sum(keepdims=True), lambda v: v.prod(keepdims=True),
    lambda v: pt.cast(v, "float32"), lambda v: pt.cast(v, "float64"),
    lambda v: pt.cast(v, "int16"), lambda v: v.reshape((1, -1)).T.flatten(), lambda v: v > 0,
    lambda v: pt.set_subtensor(v[:1], pt.cast(1, v.type.dtype)),
]  # fmt: skip
BINARY = [pt.add, pt.mul, pt.sub, pt.true_div, pt.maximum, pt.minimum, pt.pow, pt.second,
          lambda v, w: pt.switch(v > 0, v, w), lambda v, w: pt.join(0, v, w)]  # fmt: skip
CONSTANTS = [1, 2.0, 0.5, -3, 0.0, -0.0, np.inf, np.nan, [1.0] * 12, [5, 7] * 6, 1e300]

CHECKS: dict[Any, Any] = {
    finite: lambda v, said: np.isfinite(v).all(),
    whole: lambda v, said: (np.isfinite(v) & (v == np.floor(v))).all(),
    positive: lambda v, said: not (v < 0).any(),
    nonneg: lambda v, said: not (v < 0).any(),
    nonzero: lambda v, said: (v != 0).all(),
    bounded: lambda v, said: ((v >= said.value[0]) & (v <= said.value[1])).all(),
    distinct: lambda v, said: len(np.unique(v)) == v.size,
    increasing: lambda v, said: (np.diff(v.astype("O")) >= 0).all(),
    unique_indices: lambda v, said: len(np.unique(v)) == v.size and len(np.unique(v < 0)) < 2,
}  # fmt: skip


def value(term: Any, given: Any = VALUES) -> Any:
    with np.errstate(all="ignore"):
        return evaluate(term, given)


def holds(term: Any, given: Any = VALUES) -> list[str]:
    """What facts say of a term, checked on its value."""
    found, said = value(term, given), []
    for wanted, check in CHECKS.items():
        answer = wanted(term)
        if answer:
            said.append(wanted.name)
            assert check(found, answer), (wanted, str(answer), found)
        else:
            assert str(answer)
    return said


@st.composite
def terms(draw: Any) -> Any:
    """Terms made of ops that facts know, on operands with special values."""
    known = list(VALUES)
    for _ in range(draw(st.integers(1, 5))):
        few = known[-3:] if len(known) > 8 else known
        if draw(st.booleans()):
            op, args = draw(st.sampled_from(UNARY)), [draw(st.sampled_from(few))]
        else:
            op = draw(st.sampled_from(BINARY))
            other = draw(st.sampled_from([*few, *CONSTANTS]))
            args = [draw(st.sampled_from(few)), other]
            args = args if draw(st.booleans()) or not hasattr(other, "type") else args[::-1]
        try:
            made = op(*args)
        except (RewriteEngineError, TypeError):
            continue  # not for these dtypes
        if made.type.ndim == 1:
            known.append(made)
    return known[-1]


@settings(max_examples=400, deadline=None)
@given(terms(), st.sampled_from([VALUES, EMPTY]))
def test_what_is_said_holds(term: Any, given: Any) -> None:
    with suppress(RewriteEngineError, ValueError, ZeroDivisionError):  # shapes that do not fit
        holds(term, given)


def label(v: Any) -> str:
    """The name of a parameter in reports; of sets in one order (workers compare names)."""
    if isinstance(v, set):
        return "+".join(sorted(fact.name for fact in v)) or "nothing"
    return str(v)[:30]


ELEMENTWISE = dict.fromkeys([v for v in vars(pt).values() if isinstance(v, Elemwise)])


@pytest.mark.parametrize("op", [op for op in ELEMENTWISE if op.scalar_op.has_bounds], ids=str)
def test_bounds_go_through_every_op(op: Any) -> None:
    """With operands within bounds; several dtypes."""
    said: list[str] = []
    below = pt.sin(k) - 3
    for v in (i, u, b, pt.cast(i, "float32") / 200, 3 + pt.sin(k), below, pt.cast(i, "float16")):
        for w in (v, u, pt.constant(2.5), pt.constant(-3)):
            args = [v, w, u][: op.nin or 3]
            try:
                said += holds(op(*args))
            except (RewriteEngineError, TypeError):
                continue
    assert "bounded" in said


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (pt.exp(x), {positive, nonneg}), (1 + pt.exp(x), {positive, nonneg, nonzero}),
        (pt.exp(x) * pt.sqr(x), {nonneg}), (pt.exp(x) * pt.sigmoid(f), {positive, nonneg}),
        (x * x, {nonneg}), (pt.sqrt(pt.abs(x)) / pt.exp(x), {nonneg}), (x, set()),
        (pt.exp(pt.sin(i)), {bounded, finite, positive, nonneg, nonzero}),
        (pt.tanh(pt.cast(i, "float64")) - 2, {bounded, finite, nonzero}),
        (pt.cast(i, "float64") * 3, {bounded, finite, whole}), (pt.floor(x), set()),
        (pt.abs(i), {bounded, finite, whole}), (pt.sqr(u), {bounded, finite, whole, nonneg}),
        (x > 0, {bounded, finite, whole, nonneg}), (pt.cosh(x), {positive, nonneg, nonzero}),
        (pt.maximum(x, 2.0), {positive, nonneg, nonzero}), (pt.minimum(x, 2.0), set()),
        (pt.sqr(x).sum(keepdims=True), {nonneg}), (pt.reciprocal(pt.exp(x)), {positive, nonneg}),
        (pt.arange(3, 9), {bounded, finite, whole, positive, nonneg, nonzero, distinct,
                           unique_indices, increasing}),
        (pt.arange(pt.shape_i(k, 0))[2:] + 4,
         {bounded, finite, whole, positive, nonneg, nonzero, distinct, unique_indices}),
        (-pt.arange(pt.shape_i(k, 0)), {bounded, finite, whole, distinct}),
        (pt.constant([3, 1, 2]), {bounded, finite, whole, positive, nonneg, nonzero, distinct,
                                  unique_indices}),
        (pt.constant([0, -1]), {bounded, finite, whole, distinct}),
        (pt.constant([-2, -1]), {bounded, finite, whole, nonzero, distinct, increasing,
                                 unique_indices}),
        (pt.constant([np.inf]), {nonneg, nonzero, distinct, increasing}),
    ],
    ids=label,
)  # fmt: skip
def test_what_is_known(term: Any, wanted: Any) -> None:
    known = {a for a in CHECKS if a(term)}
    assert known - {distinct, increasing} == wanted - {distinct, increasing}
    assert wanted <= known


def test_reasons() -> None:
    assert str(nonneg(pt.exp(x))) == "because positive (a result of exp)"
    assert str(nonneg(u)) == "because its dtype is uint8"
    assert str(positive(pt.exp(x) * 2.0)) == "because mul of (a result of exp), (a constant)"
    assert nonneg(x).blame is x
    assert nonneg(pt.exp(x) * x).blame is x
    assert not nonneg(pt.vector("z", dtype="complex128"))
    assert not finite(pt.abs(pt.cast(k, "complex128")))


def test_a_number_for_a_missing_operand() -> None:
    assert nonneg(2)
    assert finite(0.5)
    assert not nonzero(0)


X, Y, S = pt.matrix("X"), pt.matrix("Y"), pt.scalar("S")
G = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0], [2.0, 2.0, 1.0]])


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (X.T @ X, {symmetric, positive_semidefinite}), (X.T @ Y, set()), (X + X.T, {symmetric}),
        (X @ X.T, {symmetric, positive_semidefinite}),
        ((X.T @ X).T, {symmetric, positive_semidefinite}),
        (pt.eye(3).T, {symmetric, diagonal, positive_definite}),
        (pt.eye(3), {symmetric, diagonal, positive_definite}),
        (pt.exp(X.T @ X), {symmetric}), (X.T @ X * S, {symmetric}), (X.T @ X + S, {symmetric}),
        (X.T @ X + 2.0 * pt.eye(X.shape[1]), {symmetric, positive_definite}),
        (X.T @ X + pt.exp(S) * pt.eye(X.shape[1]), {symmetric, positive_definite}),
        (X.T @ X + S * pt.eye(X.shape[1]), {symmetric}), (-pt.eye(3), {symmetric, diagonal}),
        (pt.constant([[2.0, 1.0], [1.0, 2.0]]), {symmetric, positive_definite}),
        (pt.constant([[1.0, 2.0], [2.0, 1.0]]), {symmetric}), (pt.constant([[1.0, 2.0]]), set()),
        (pt.constant([[1.0, 0.0], [0.0, -2.0]]), {symmetric, diagonal}),
        (pt.eye(3, k=1), set()), (pt.eye(2, 3), set()), (X.T @ X + X[:1], set()),
        (pt.eye(3) + pt.eye(3), {symmetric, diagonal, positive_definite}), (x, set()),
    ],
    ids=label,
)  # fmt: skip
def test_matrices(term: Any, wanted: Any) -> None:
    term = FunctionGraph(None, [term], clone=False).outputs[0]  # X.T is one node
    said = {a for a in (symmetric, diagonal, positive_semidefinite, positive_definite) if a(term)}
    if positive_definite in wanted and not isinstance(term.head, type(None)) and term.owner:
        said.discard(positive_semidefinite)
    said -= {positive_semidefinite} - wanted
    assert said == wanted
    if not wanted:
        return
    m = value(term, {X: G, Y: G, S: np.array(-2.0)})
    assert np.allclose(m, m.T)
    low = np.linalg.eigvalsh(m).min()
    assert positive_semidefinite not in said or low > -1e-9
    assert positive_definite not in said or low > 0
    assert diagonal not in said or not (m - np.diag(np.diag(m))).any()


Q = linalg.qr(X, mode="complete")[0]
L, U, D = pt.tril(X), pt.triu(X), pt.diag(x)
SQUARE = pt.matrix("A", shape=(3, 3))


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (X, ""), (SQUARE, "square"), (X @ X.T, "square symmetric"), (X + pt.eye(3), "square"),
        (D, "square symmetric diagonal lower upper"), (D @ D, "square diagonal lower upper"),
        (pt.eye(3), "square symmetric diagonal lower upper unit orthogonal invertible"),
        (2 * pt.eye(3), "square symmetric diagonal lower upper invertible"),
        (pt.diag(pt.exp(x)), "square symmetric diagonal lower upper invertible"),
        (linalg.cholesky(X @ X.T + pt.eye(X.shape[0])), "square lower invertible"),
        (L, "lower"), (U, "upper"), (L.T, "upper"), (L @ L, "lower"), (U @ U, "upper"),
        (L @ U, ""), (L + L, "lower"), (L + U, ""), (L * X, "lower"), (pt.tril(X, -1), "lower"),
        (pt.tril(X, 1), ""), (pt.triu(SQUARE), "square upper"), (pt.tril(SQUARE), "square lower"),
        (linalg.cholesky(X), "square lower"), (linalg.cholesky(X).T, "square upper"),
        (linalg.cholesky(X, lower=False), "square upper"),
        (Q, "square orthogonal invertible"), (Q.T, "square orthogonal invertible"),
        (Q @ Q, "square orthogonal invertible"), (Q + Q, "square"),
        (linalg.inv(X), "square invertible"), (linalg.expm(X), "square"),
        (X @ X.T + pt.eye(X.shape[0]), "square symmetric invertible"),
        (pt.constant([[0.0, 1], [1, 0]]), "square symmetric orthogonal invertible"),
        (pt.constant([[1.0, 1], [1, 1]]), "square symmetric unit"),
    ],
    ids=label,
)  # fmt: skip
def test_more_of_matrices(term: Any, wanted: str) -> None:
    known = {
        "square": square, "symmetric": symmetric, "diagonal": diagonal, "lower": lower_triangular,
        "upper": upper_triangular, "unit": unit_diagonal, "orthogonal": orthogonal,
        "invertible": invertible,
    }  # fmt: skip
    term = FunctionGraph(None, [term], clone=False).outputs[0]
    said = {name for name, one in known.items() if one(term)}
    assert said == set(wanted.split())
    good = np.array([[2.0, 1, 0.5], [1, 3, -1], [0.25, -1, 4]])
    found = value(term, {X: good @ good.T, SQUARE: good, x: np.array([1.0, -2.0, 3.0])})
    for name in said:
        if name == "diagonal":
            assert not (found - np.diag(found.diagonal())).any()
        elif name == "unit":
            assert (found.diagonal() == 1).all()
        else:
            assert known[name].tester(found), name


@pytest.mark.parametrize(
    ("one", "other", "known"),
    [
        (X, pt.exp(X) + 1, True), (X, Y, False), (X, X.T, False), (X.T, pt.sin(X).T, True),
        (X, X + Y, True), (X[:, 0], X.sum(axis=1), True), (X[None], X.dimshuffle("x", 0, 1), True),
        (X @ X.T, Y, False), (X @ Y.T, pt.exp(X) @ Y.T, True), (X[1:], X[2:], False),
        (x[::2], x, False), (pt.zeros(X.shape), X, False), (X.max(axis=0), X[0], True),
        (pt.softmax(X, axis=0), X, True), (S, S + 1, True), (x, X, False),
        (pt.join(0, X, Y), X, False), (pt.join(0, X, Y)[0], X[0], True),
        (pt.set_subtensor(X[0], 1.0), X, True), (X[:, None, :], X[:, None], True),
        (pt.matrix(shape=(2, 3)), pt.matrix(shape=(2, 3)), True),
        (pt.matrix(shape=(2, None)), pt.matrix(shape=(3, None)), False),
    ],
    ids=label,
)  # fmt: skip
def test_shapes(one: Any, other: Any, known: bool) -> None:
    one, other = FunctionGraph(None, [one, other], clone=False).outputs
    assert bool(same_shape(one, other)) is known
    assert bool(same_shape(other, one)) is known
    if known and one.owner and not set(VALUES) & {one, other}:
        given = {X: G[:, :2], Y: G[:, :2], S: np.array(1.0)}
        assert value(one, given).shape == value(other, given).shape


def test_lengths_from_lengths() -> None:
    made = pt.alloc(0.0, pt.shape_i(x, 0), 3)
    assert same_length(made, 0, pt.exp(x), 0)
    assert length(made, 1).value == 3
    assert length(made, 0).value == (x, 0)
    assert "not known to be equal" in str(same_length(X, 0, X, 1))


def test_types_and_uses() -> None:
    assert same_dtype(x, X)
    assert not same_dtype(x, f)
    assert same_rank(x, f)
    assert not same_rank(x, X)
    assert static_shape(pt.eye(2)).value == (2, 2)
    assert not static_shape(x)
    e = pt.exp(x)
    fgraph = FunctionGraph(None, [pt.sin(e), pt.cos(e)], clone=False)
    assert not used_once.ask(fgraph, e)
    fgraph.replace(fgraph.outputs[0], x)
    assert used_once.ask(fgraph, e)
    assert not used_once(e)


def test_a_user_extends_a_fact() -> None:
    from rewrite_engine.graph.op import Op

    class Distance(Op):
        """An op of a user's."""

        __props__ = ()

        def infer_types(self, types: Any) -> Any:
            return [types[0]]

    d = Distance()(x)
    assert not nonneg(pt.exp(d) * d)

    @nonneg.case(Distance)
    def _distance(v: Any) -> Any:
        return because("distances are never below 0")

    try:
        answer = nonneg(pt.exp(d) * d)
        assert "distances are never below 0" in str(answer)
    finally:
        del nonneg.cases[Distance]


def test_a_user_says_it_beside_the_op() -> None:
    from rewrite_engine.graph.op import Op

    class Spread(Op):
        """An op of a user's: above 0, finite if its operand is, no less than 1 for numbers."""

        __props__ = ()
        implied = {"positive": True, "finite": "finite", "whole": lambda f, v: f.whole(v)}

        def infer_types(self, types: Any) -> Any:
            return [types[0]]

        def bounds(self, node: Any, of: Any) -> Any:
            ends = of(node.inputs[0])
            return ends and (1, 1 + max(abs(ends[0]), abs(ends[1])))

    s = Spread()
    assert positive(s(x))
    assert nonneg(s(x) * pt.exp(x))
    assert not positive(s(k)) or bounded(s(k)).value[0] == 1
    assert finite(s(pt.sin(i)))
    assert bounded(s(pt.sin(i))).value == (1, 2)
    assert whole(s(pt.floor(pt.sin(i))))
    assert not finite(s(x))
    assert str(finite(s(x))).endswith("(x)")


def test_what_is_implied_has_the_name_of_a_fact() -> None:
    function = ScalarOp("misspelt", 1, "exp", keeps="finte")
    with pytest.raises(
        FactError, match="misspelt.*'finte', which is not a fact; did you mean finite"
    ):
        finite(Elemwise(function)(x))


def test_a_user_says_what_matrices_are() -> None:
    from rewrite_engine.graph.op import Op

    class Kernel(Op):
        """An op of a user's: symmetric, and positive definite if the second operand is positive."""

        __props__ = ()
        implied = {"symmetric": True, "positive_definite": lambda f, v, s: f.positive(s)}

        def infer_types(self, types: Any) -> Any:
            return [pt.dmatrix]

    one, other = Kernel()(x, pt.exp(S)), Kernel()(x, S)
    assert positive_definite(one + X.T @ X)
    assert symmetric(other)
    assert not positive_definite(other)
    assert not diagonal(other)


def test_a_user_says_how_elements_relate() -> None:
    from rewrite_engine.graph.op import Op

    class Sort(Op):
        """An op of a user's."""

        __props__ = ()
        implied = {"increasing": True, "distinct": "distinct"}

        def infer_types(self, types: Any) -> Any:
            return [types[0]]

    s, counted = Sort(), -pt.arange(9)
    assert increasing(s(k))
    assert increasing(s(k)[1::2])
    assert not increasing(s(k)[::-1])
    assert distinct(s(counted) + k[0])
    assert not distinct(s(k))
    assert not distinct(pt.maximum(s(counted), 3))


def test_all_are_facts_with_a_docstring() -> None:
    kind = type(nonneg)
    found = [v for v in vars(facts).values() if isinstance(v, kind)]
    assert len(found) == 32
    assert all(v.__doc__ for v in found)
    assert fact is not None
