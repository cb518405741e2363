"""Functions made of other ops, each against NumPy: values, dtypes, static shapes, of arrays of
known and unknown lengths, empty ones, such that are not contiguous; gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import tensor
from rewrite_engine.errors import AxisError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.tensor.type import TensorType
from tests.tensor.evaluate import evaluate


class Case(NamedTuple):
    """Our call and NumPy's, of arrays of these shapes. differs: a dtype that is not NumPy's."""

    name: str
    ours: Callable[..., Any]
    numpy: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]


def same(name: str, *shapes: Any, **options: Any) -> Case:
    """The same call of both."""

    def call(of: Any) -> Callable[..., Any]:
        def run(*xs: Any) -> Any:
            return getattr(of, name.split("-")[0])(*xs, **options)

        return run

    return Case(f"{name}-{options}-{shapes}", call(pt), call(np), shapes)  # fmt: skip


def both(name: str, call: Callable[..., Any], *shapes: Any) -> Case:
    """A call of a module's functions."""
    return Case(f"{name}-{shapes}", lambda *xs: call(pt, *xs), lambda *xs: call(np, *xs), shapes)


PADS = [
    {"mode": "constant"},
    {"mode": "constant", "constant_values": ((1, 2), (3, 4))},
    {"mode": "edge"},
    {"mode": "linear_ramp", "end_values": (5, -3)},
    {"mode": "maximum"},
    {"mode": "maximum", "stat_length": 2},
    {"mode": "mean", "stat_length": ((1, 2), (3, 9))},
    {"mode": "mean"},
    {"mode": "median", "stat_length": 2},
    {"mode": "median"},
    {"mode": "minimum"},
    {"mode": "reflect"},
    {"mode": "reflect", "reflect_type": "odd"},
    {"mode": "symmetric"},
    {"mode": "symmetric", "reflect_type": "odd"},
    {"mode": "wrap"},
]
CASES = [
    *[same("tile", s, reps=r) for s in [(), (3,), (2, 3), (0, 2), (1, 3)]
      for r in [2, (2, 1), (1, 0, 2), (), (1, 1)]],
    *[same("repeat", s, repeats=2, axis=a) for s in [(3,), (2, 3), (0, 2)] for a in (None, -1)],
    same("repeat", (), repeats=3),
    same("repeat", (3,), repeats=[0, 2, 1]),
    same("repeat", (2, 3), repeats=[0, 2, 1], axis=1),
    same("repeat", (2, 3), repeats=[2], axis=0),
    same("repeat", (0,), repeats=[]),
    *[same("roll", s, shift=k, axis=a) for s in [(4,), (2, 3), (0, 3)] for k in (1, -5, 0)
      for a in (None, -1)],
    same("roll", (2, 3), shift=(1, 2), axis=(0, 1)),
    same("roll", (2, 3), shift=2, axis=(0, 1, 1)),
    same("roll", (), shift=2),
    *[same("flip", s, axis=a) for s in [(2, 3), (0, 3)] for a in (None, 0, (0, -1), ())],
    same("flip", ()), same("flipud", (3, 2)), same("fliplr", (3, 2)),
    *[same("rot90", (2, 3, 4), k=k, axes=a) for k in range(-1, 5) for a in [(0, 1), (2, 0)]],
    *[same("pad", (4, 3), pad_width=w, **p) for p in PADS for w in (1, ((2, 0), (0, 3)))],
    *[same("pad", (4, 2), pad_width=((9, 5), (0, 7)), **p) for p in PADS
      if p["mode"] in ("reflect", "symmetric", "wrap", "edge")],
    same("pad", (1,), pad_width=3, mode="reflect"), same("pad", (), pad_width=2),
    same("pad", (0, 2), pad_width=1), same("pad", (2,), pad_width=(0, 0), mode="wrap"),
    both("broadcast_arrays", lambda o, x, y: o.broadcast_arrays(x, y), (3, 1), (4,)),
    both("broadcast_arrays", lambda o, x, y: o.broadcast_arrays(x, y), (), (0, 2)),
    both("stack", lambda o, x, y: o.stack([x, y], axis=-1), (2,), (2,)),
    *[both(name, lambda o, x, y, name=name: getattr(o, name)([x, y]), s, s)
      for name in ("hstack", "vstack", "dstack", "column_stack") for s in [(3,), (2, 3), (0, 2)]],
    both("dstack", lambda o, x: o.dstack([x, x]), (2, 3, 4)),
    *[same("squeeze", s, axis=a) for s, a in [
        ((1, 3, 1), None), ((1, 3, 1), (0, -1)), ((), None), ((), 0), ((), -1), ((), ())]],
    *[same("expand_dims", (2, 3), axis=a) for a in (0, -1, (0, 2))],
    *[same(name, s) for name in ("atleast_1d", "atleast_2d") for s in [(), (3,), (2, 3)]],
    same("swapaxes", (2, 3, 4), axis1=0, axis2=-1),
    same("moveaxis", (2, 3, 4), source=(0, 1), destination=(-1, 0)),
    same("moveaxis", (2, 3, 4), source=0, destination=-1),
    both("broadcast_to", lambda o, x: o.broadcast_to(x, (2, 3)), (1, 3)),
    *[both("meshgrid", lambda o, *xs, k=k: o.meshgrid(*xs, **k), *s) for s in [
        (), ((3,),), ((2,), (3,)), ((), (3,)), ((2,), (0,), (3,))]
      for k in [{}, {"indexing": "ij"}, {"sparse": True}]],
    *[same(name, s, k=k) for name in ("tril", "triu") for s in [(3, 4), (2, 3, 3), (3,), (0, 2)]
      for k in (0, 1, -1, 7)],
    *[same("diag", s, k=k) for s in [(3,), (3, 4), (0,)] for k in (0, 1, -2)],
    same("diagonal", (2, 3, 4), offset=1, axis1=-1, axis2=0), same("trace", (3, 4)),
    *[both("take", lambda o, x, i=i, a=a, m=m: o.take(x, i, axis=a, mode=m), (3, 4))
      for i in ([0, 2, -1], 1, [[0, 1], [2, 2]], []) for a in (None, 0, -1) for m in ("raise",)],
    *[both("take", lambda o, x, a=a, m=m: o.take(x, np.array([7, -9, 1]), axis=a, mode=m), (3, 4))
      for a in (None, 0, -1) for m in ("wrap", "clip")],
    *[both("take_along_axis", lambda o, x, i=i, a=a: o.take_along_axis(x, np.array(i), axis=a), s)
      for s, i, a in [((3,), [2, 0, -1, 1], 0), ((2, 3), [[0], [2]], 1), ((2, 3), [[1, 0, 1]], 0),
                      ((2, 3), [5, 0], None), ((2, 3), [[0, 1, 1, 2]], -1)]],
    *[both("compress", lambda o, x, c=c, a=a: o.compress(c, x, axis=a), (3, 2))
      for c in ([True, False], [0, 0], []) for a in (None, 0, 1)],
    *[both("choose", lambda o, x, y, a=a, m=m: o.choose(np.array(a), [x, y], mode=m), *s)
      for s in [((3,), (3,)), ((2, 3), (3,)), ((), (2, 1))]
      for a, m in [([0, 1, 1], "raise"), ([[0], [1]], "raise"), (1, "raise"),
                   ([5, -1, 0], "wrap"), ([5, -1, 0], "clip")]],
    both("choose", lambda o, x: o.choose(np.array([[0, 2, 1]]), x), (3, 2, 3)),
    both("choose", lambda o, x: o.choose(np.array([[0, 2, 1]]), x), (3, 3)),
    *[both("append", lambda o, x, y, a=a: o.append(x, y, axis=a), s, s)
      for s in [(2, 3), (0, 2)] for a in (None, 0, -1)],
    *[same("array_split", s, indices_or_sections=n, axis=a) for s, a in [((5,), 0), ((2, 7), 1)]
      for n in (1, 3, 8, [2, 3], [])],
    *[same(name, s, indices_or_sections=n) for name, s in [
        ("hsplit", (4,)), ("hsplit", (2, 4)), ("vsplit", (4, 3)), ("dsplit", (2, 2, 4))]
      for n in (2, [1, 3])],
    *[both("block", lambda o, x, y: o.block([[x, y], [y, x]]), s, s) for s in [(2, 2), (3,), ()]],
    both("block", lambda o, x, y: o.block([x, y]), (2, 2, 3), (2, 2, 1)),
    both("block", lambda o, x: o.block(x), (2, 3)),
    *[same("delete", s, obj=i, axis=a) for s in [(4, 3), (5, 6)] for a in (0, 1, None)
      for i in (1, -1, [0, 2], slice(None, None, 2), [])],
    *[same("diagflat", s, k=k) for s in [(3,), (2, 2), ()] for k in (0, 1, -2)],
    both("ix_", lambda o, x: x[o.ix_([1, 0], [True, False, True])], (2, 3)),
    *[both("cross", lambda o, x, y: o.cross(x, y), a, b)
      for a, b in [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))]],
    both("cross", lambda o, x, y: o.cross(x, y, axisa=0, axisc=0), (3, 2), (2, 3)),
    both("ediff1d", lambda o, x, y: o.ediff1d(x, to_end=y, to_begin=y[:1]), (2, 3), (2,)),
    both("select", lambda o, x, y: o.select([x > 1, x > 0], [x, y], y[0]), (4,), (4,)),
    both("piecewise", lambda o, x, y: o.piecewise(x, [x > 1, x < 0], [lambda v: v + v, 3]),
         (4,), (2,)),
    both("piecewise", lambda o, x: o.piecewise(x, [x > 1], [lambda v: v, lambda v: v * v]), (4,)),
    both("diag_indices_from", lambda o, x: x[o.diag_indices_from(x)], (3, 3)),
]  # fmt: skip


@pytest.mark.parametrize("family", tensor._FAMILIES)
def test_families_list_their_names(family: str) -> None:
    module = import_module(f"rewrite_engine.tensor.{family}")
    assert sorted(module.__all__) == sorted(tensor._FAMILIES[family].split())


def test_import_of_all() -> None:
    """The functions of all families, and nothing that hides a name of Python's by a module's."""
    names: dict[str, Any] = {}
    exec("from rewrite_engine.tensor import *", names)
    assert {"dot", "where", "mean", "dmatrix", "pi", "TensorType"} <= names.keys()
    assert set(" ".join(tensor._FAMILIES.values()).split()) <= names.keys()
    assert not {"type", "math", "sys", "random"} & names.keys()


def of(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    n = int(np.prod(shape))
    x = np.random.default_rng(seed).permutation(np.linspace(-4.1, 3.9, n)).reshape(shape)
    return x > 0 if dtype == "bool" else x.astype(dtype)


def several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def refused(case: Case, dtype: str) -> bool:
    """What NumPy does not do with booleans."""
    return dtype == "bool" and ("odd" in case.name or case.name.startswith(("cross", "ediff1d")))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_values_dtypes_and_lengths(case: Case, dtype: str) -> None:
    if refused(case, dtype):
        return
    arrays = [of(s, dtype, i) for i, s in enumerate(case.shapes)]
    wanted = several(case.numpy(*arrays))
    for known in (True, False):
        inputs = [TensorType(dtype, s if known else [1 if n == 1 else None for n in s])()
                  for s in case.shapes]  # fmt: skip
        given = dict(zip(inputs, arrays, strict=True))
        outputs = several(case.ours(*inputs))
        assert len(outputs) == len(wanted)
        for out, want in zip(outputs, wanted, strict=True):
            got = evaluate(out, given)
            np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-12)
            assert got.dtype == want.dtype
            if known:
                assert out.type.shape == want.shape
    f = rw.function(inputs, outputs, on_unused_input="ignore")
    apart = [np.asarray(np.repeat(x, 2, axis=-1)[..., ::2], order="F") if x.ndim else x
             for x in arrays]  # fmt: skip
    for got, want in zip(f(*apart), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-12)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_gradients(case: Case) -> None:
    arrays = [of(s, "float64", i) for i, s in enumerate(case.shapes)]
    if not arrays or not all(x.size for x in arrays):
        return
    arrays = [x + 0.03 * x**2 for x in arrays]  # no mean of two is that of two others
    for k in range(len(several(case.numpy(*arrays)))):
        verify_grad(lambda *xs, k=k: several(case.ours(*xs))[k], arrays, n_tests=1)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("mode", sorted({p["mode"] for p in PADS} - {"constant"}))
def test_there_is_nothing_to_pad_an_empty_dimension_with(mode: str, known: bool) -> None:
    x, at = TensorType("float64", (0, 3) if known else (None, None))("x"), np.zeros((0, 3))
    assert rw.function([x], tensor.pad(x, ((0, 0), (1, 1)), mode))(at).shape == (0, 5)
    with pytest.raises((ShapeError, AxisError)):
        rw.function([x], tensor.pad(x, 1, mode))(at)


@pytest.mark.parametrize("mode", ["mean", "median"])
def test_an_empty_dimension_may_be_left_as_it_is(mode: str) -> None:
    x, n = tensor.dmatrix("x"), tensor.lscalar("n")
    f = rw.function([x, n], tensor.pad(x, n, mode))
    assert f(np.zeros((0, 3)), 0).shape == (0, 3)
    with pytest.raises(ShapeError, match="no elements to pad with"):
        f(np.zeros((0, 3)), 1)
