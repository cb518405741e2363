"""Products of arrays that are made of others: in the words of NumPy, one line a case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.type import TensorType

DTYPES = ["float64", "float32", "int8", "complex128"]


def einsum(text: str, *shapes: Any, **options: Any) -> Any:
    return (f"einsum {text} {options}", lambda *x: pt.einsum(text, *x, **options),
            lambda *x: np.einsum(text, *x), shapes)  # fmt: skip


def each(f: Any) -> Any:
    return lambda x, y: np.stack([np.asarray(f(a, b)) for a, b in zip(x, y, strict=True)])


#: what it is, ours, NumPy's; shapes
CASES: list[tuple[str, Any, Any, Any]] = [
    *[(f"{name} {s}", getattr(pt, name), getattr(np, name), s) for name, s in [
        ("matvec", ((2, 3), (3,))), ("matvec", ((4, 2, 3), (3,))), ("matvec", ((2, 3), (4, 3))),
        ("matvec", ((1, 2, 3), (4, 3))), ("matvec", ((0, 3), (3,))),
        ("vecmat", ((2,), (2, 3))), ("vecmat", ((4, 2), (2, 3))), ("vecmat", ((2,), (4, 2, 3))),
        ("vecmat", ((0,), (0, 3))), ("vecdot", ((3,), (3,))), ("vecdot", ((4, 3), (3,))),
        ("vecdot", ((5, 1, 3), (4, 3))), ("vecdot", ((4, 0), (4, 0))),
        ("kron", ((2, 3), (4, 2))), ("kron", ((3,), (2, 2))), ("kron", ((), ())),
        ("kron", ((2, 1, 2), (3,))), ("kron", ((0, 2), (2, 2)))]],
    *[(f"batched_dot {s}", pt.batched_dot, each(np.dot), s) for s in [
        ((4, 2, 3), (4, 3, 5)), ((4, 2, 3), (4, 3)), ((4, 3), (4, 3, 2)), ((4, 3), (4, 3)),
        ((4,), (4, 3)), ((4, 2, 2, 3), (4, 3, 2))]],
    ("batched_tensordot", lambda x, y: pt.batched_tensordot(x, y, 1),
     each(lambda a, b: np.tensordot(a, b, 1)), ((4, 2, 3), (4, 3, 5))),
    ("batched_tensordot axes", lambda x, y: pt.batched_tensordot(x, y, [[1, 3], [2, 1]]),
     each(lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]])), ((4, 2, 5, 3), (4, 3, 2))),
    *[einsum(*c) for c in [
        ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ji,jk->ki", (3, 2), (3, 4)),
        ("i,i", (3,), (3,)), ("i,j->ij", (2,), (3,)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
        ("ij->j", (2, 3)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("iji->j", (3, 2, 3)),
        ("iii->i", (2, 2, 2)), ("ba", (2, 3)), ("ij,ij->ij", (2, 3), (2, 3)),
        ("ij,ij->", (2, 3), (2, 3)), ("ij,ij->i", (2, 3), (2, 3)),
        ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
        ("bij,jk->bik", (5, 2, 3), (3, 4)), ("bi,bj,bk->ijk", (5, 2), (5, 3), (5, 4)),
        ("...ij,...jk->...ik", (5, 2, 3), (3, 4)), ("...i->...", (2, 3)),
        ("i...,i...", (2, 3), (2, 3)),
        ("...,...", (2, 3), (3,)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
        ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)), ("ab,ab,c->", (2, 3), (2, 3), (4,)),
        ("ijk,ilm->jlkm", (2, 3, 2), (2, 2, 3)), ("ij,kj->ik", (2, 1), (3, 4)),
        ("ij,jk", (0, 3), (3, 2)),
        ("ij,jk->ik", (2, 0), (0, 3)), (",ij->ij", (), (2, 3)), ("a b , b -> a", (2, 3), (3,)),
        ("Ab,bA->", (2, 3), (3, 2)), ("...", (2, 3)), ("ijkl,jl->ik", (2, 3, 4, 5), (3, 5))]],
    *[einsum("ij,jk,kl->il", (2, 3), (3, 4), (4, 5), optimize=o)
      for o in (False, True, "greedy", "optimal")],
]  # fmt: skip
of_all = pytest.mark.parametrize(("ours", "theirs", "shapes"), [c[1:] for c in CASES],
                                 ids=[c[0] for c in CASES])  # fmt: skip


def of(shape: Any, dtype: str, seed: int) -> Any:
    x = np.random.default_rng(seed).integers(-3, 4, shape)
    return (x + 1j * x[::-1] if dtype == "complex128" and x.ndim else x).astype(dtype)


@of_all
def test_values(ours: Any, theirs: Any, shapes: Any) -> None:
    for dtype in DTYPES:
        values = [of(s, dtype, i) for i, s in enumerate(shapes)]
        wanted = np.asarray(theirs(*values))
        for known in (True, False):
            inputs = [TensorType(dtype, [n if known or n == 1 else None for n in s])()
                      for s in shapes]  # fmt: skip
            out = ours(*inputs)
            found = evaluate([out], dict(zip(inputs, values, strict=True)))
            if dtype == "float32" and not known:
                turned = [np.asarray(x, order="F") for x in values]
                found.append(rw.function(inputs, out)(*turned))
            for got in found:
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_allclose(got, wanted, 1e-6)
            assert all(s in (None, n) for s, n in zip(out.type.shape, wanted.shape, strict=True))
            assert not known or None not in out.type.shape


@of_all
def test_gradients(ours: Any, theirs: Any, shapes: Any) -> None:
    values = [of(s, "float64", i) / 3 for i, s in enumerate(shapes)]
    verify_grad(ours, values)
    verify_grad(lambda *xs: grad(pt.sin(ours(*xs)).sum(), xs[0]), values)


def test_tensordot_compares_all_lengths_when_it_runs() -> None:
    a, b = pt.dmatrix(), pt.dmatrix()
    with pytest.raises(ShapeError):
        rw.function([a, b], pt.tensordot(a, b, 2))(np.ones((2, 3)), np.ones((3, 2)))


@pytest.mark.parametrize(("error", "what", "build"), [
    (NDimError, "matvec: takes an array of 2", lambda: pt.matvec([1], [1])),
    (NDimError, "vecdot: takes an array of 1", lambda: pt.vecdot(1, [1])),
    (ShapeError, "lengths|shapes", lambda: pt.matvec(np.ones((2, 3)), [1, 2])),
    (NDimError, "batched_dot: takes an array of 1", lambda: pt.batched_dot(1, [1])),
    (ValueError, "are not subscripts; write them as", lambda: pt.einsum("i->j->k", [1])),
    (ValueError, "are not subscripts; write them as", lambda: pt.einsum(pt.dvector(), [0], [0])),
    (ValueError, "about 2 operands, not 1", lambda: pt.einsum("i,j", [1])),
    (ValueError, "letters of inputs, each once", lambda: pt.einsum("i->j", [1])),
    (ValueError, "letters of inputs, each once", lambda: pt.einsum("i->ii", [1])),
    (ValueError, "needs '...'", lambda: pt.einsum("...i->i", [[1]])),
    (NDimError, "'ij' does not fit an array with 1", lambda: pt.einsum("ij", [1])),
    (ShapeError, r"'j' have lengths \[2, 3\]",
     lambda: pt.einsum("ij,jk", np.ones((2, 3)), np.ones((2, 3)))),
])  # fmt: skip
def test_bad_arguments(error: Any, what: str, build: Any) -> None:
    with pytest.raises(error, match=what):
        build()


@pytest.mark.parametrize(("text", "shapes"), [
    ("ij,ij->", [(2, 3), (3, 2)]), ("ii->i", [(2, 3)]), ("ij,jk->ik", [(2, 3), (2, 3)]),
    ("ij,ij->ij", [(2, 3), (3, 2)]),
])  # fmt: skip
def test_lengths_that_do_not_fit_when_it_runs(text: str, shapes: Any) -> None:
    inputs = [pt.dmatrix() for _ in shapes]
    with pytest.raises(ShapeError):
        rw.function(inputs, pt.einsum(text, *inputs))(*[np.ones(s) for s in shapes])
