"""Rules for indexes, and for sums and products of matrices: values, what remains, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.array_forms import FORMS, TYPES, compiled, values
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.language import rewritten, rewritten_graph

x, y, s, i = pt.vector("x"), pt.vector("y"), pt.scalar("s"), pt.lscalar("i")
k = pt.lvector("k")
a, b, c = pt.matrices("a b c")
r = pt.tensor("r", shape=(5,), dtype="float64")
t = pt.tensor3("t")

#: forms whose result is not computed from less than the whole (see `benchmarks/array_forms.py`)
WHOLE = {"rolled_item", "smallest_by_sort"}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("rows", [130, 150])
def test_a_form_has_the_value_by_hand(name: str, rows: int) -> None:
    form = FORMS[name]
    arguments = values(form.kinds, rows, seed=rows)
    kept = [np.array(v) for v in arguments]
    np.testing.assert_allclose(
        compiled(form)(*arguments), form.by_hand(*arguments), rtol=1e-9, atol=1e-9
    )
    for v, w in zip(arguments, kept, strict=True):
        np.testing.assert_array_equal(v, w)


def work(term: Any, *more: Any) -> set[str]:
    """Return the ops of a rewritten term that are not views or lengths."""
    free = {"Subtensor", "DimShuffle", "Shape_i", "CheckedLength", "CheckedIndex", "Reshape"}
    nodes = rewritten_graph([term, *more]).toposort()
    return {str(node.op).partition("{")[0] for node in nodes} - {*free, "ExpandDims", "Transpose"}


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (pt.exp(a)[0], "exp(Subtensor{0}(a))"),
        (pt.exp(a)[i, 2], "exp(Subtensor{i, 2}(a, i))"),
        (pt.exp(a)[None, 0], "ExpandDims{axes=[0]}(exp(Subtensor{0}(a)))"),
        ((a * x[:, None])[:, 0], None),
        (pt.exp(x)[1:], "Subtensor{1:}(exp(x))"),  # nearly everything is read
        (pt.exp(x)[k], "AdvancedSubtensor{i}(exp(x), k)"),  # perhaps more than there is
        (pt.exp(a)[k[:3]], "exp(AdvancedSubtensor{i}(a, Subtensor{:3}(k)))"),
        (pt.exp(a)[k, k], "exp(AdvancedSubtensor{i, i}(a, k, k))"),
        (pt.exp(x)[:: i + 1], None),
        (pt.exp(x)[::i][: i + 1], None),
        (pt.exp(a).T[0], "exp(Subtensor{:, 0}(a))"),
        (pt.exp(a)[:, None][:3, 0], "exp(Subtensor{:3}(a))"),
        (pt.exp(t).sum(axis=(0, 2))[1], "Sum(exp(Subtensor{:, 1}(t)))"),
        (pt.exp(t).max(axis=2, keepdims=True)[0], "exp(Max{axis=1, keepdims}(Subtensor{0}(t)))"),
        (pt.special.softmax(a, axis=0)[:, 1], "Softmax{axis=None}(Subtensor{:, 1}(a))"),
        (pt.log(pt.special.softmax(a, axis=1))[2], "LogSoftmax{axis=None}(Subtensor{2}(a))"),
        (pt.cumsum(a, axis=1)[0], "CumOp{axis=0, mode='add'}(Subtensor{0}(a))"),
        (pt.cumprod(r)[-1], "Prod(r)"),
        (pt.sort(-r)[-1], "-Min(r)"),
        ((a @ b)[2, 3], "Subtensor{2}(a) @ Subtensor{:, 3}(b)"),
        ((a @ b).T[:4], "Subtensor{:4}(Transpose{axes=[1, 0]}(b)) @ Transpose{axes=[1, 0]}(a)"),
        ((a @ b @ c)[0], "Subtensor{0}(a) @ b @ c"),
        ((t @ a)[0], "Subtensor{0}(t) @ a"),
        ((t @ a)[1, 2], "Subtensor{1, 2}(t) @ a"),
        ((a @ b).sum(axis=0), "Sum{axis=0}(a) @ b"),
        ((a @ b).sum(axis=1), "a @ Sum{axis=1}(b)"),
        ((a @ b).sum(), "Sum{axis=0}(a) @ Sum{axis=1}(b)"),
        (a @ b @ x, "a @ (b @ x)"),
        (x @ (a @ b), "x @ a @ b"),
        (a @ x + a @ y, "a @ (x + y)"),
        (x @ a - y @ a, "(x - y) @ a"),
        ((a * x).sum(axis=1), "a @ x"),
        ((a * x[:, None]).sum(axis=0), "Transpose{axes=[1, 0]}(a) @ x"),
        ((x * a).sum(axis=-1), "a @ x"),
        ((a[:, :, None] * b).sum(axis=1), "a @ b"),
        ((a[:, None] * b).sum(axis=2), "a @ Transpose{axes=[1, 0]}(b)"),
        ((x * y).sum(), "x @ y"),
        ((a * b).sum(), None),
        ((a * b).sum(axis=1), None),
        ((t * a[:, None]).sum(axis=-1), "DropDims{axes=[2]}(MatMul(t, ExpandDims{axes=[2]}(a)))"),
        (pt.diagonal(a @ b, offset=1), None),
        (pt.diagonal(a @ b, offset=-2), None),
        (pt.diagonal(a @ b, axis1=1, axis2=0, offset=1), None),
        (pt.exp(-x).max(), "exp(-Min(x))"),
        (pt.set_subtensor(x[3], s)[4], "Subtensor{4}(x)"),
        (pt.set_subtensor(r[3], s)[3], "s"),
        (pt.set_subtensor(a[0], x)[1:4], None),
        (pt.exp(pt.inc_subtensor(a[-1], x)[-3]), None),
        (pt.set_subtensor(a[0], s)[1:3, None], None),
        (pt.inc_subtensor(r[:3], s)[:3], "Subtensor{:3}(r) + s"),
        (x[2:][:10], "Subtensor{2:12}(x)"),
        (x[::-1][0], "Subtensor{-1}(x)"),
        (x[::-1][:3], "Subtensor{:-4:-1}(x)"),
        (a[1:][2, ::-1][3], "Subtensor{3, -4}(a)"),
        (x[i * i :][0], None),
        (pt.join(0, x, pt.exp(y))[x.shape[0] :], "exp(y)"),
        (pt.join(0, x, pt.exp(y))[: x.shape[0]], "x"),
        (pt.join(0, x, y, x)[x.shape[0] : x.shape[0] + y.shape[0]], "y"),
        (pt.join(0, r, x)[2], "Subtensor{2}(r)"),
        (pt.join(0, x, r)[-2], "Subtensor{-2}(r)"),
        (pt.join(0, r, r, x)[6], "Subtensor{1}(r)"),
        (pt.stack([x, pt.cos(x)])[1], "cos(x)"),
        (pt.stack([x, pt.cos(x)], axis=1)[:, 1], "cos(x)"),
        (pt.repeat(x, 3)[7], "Subtensor{2}(x)"),
        (pt.full((3, 4), s)[1], "Alloc(s, 4)"),
    ],
    ids=str,
)
def test_what_remains(term: Any, text: str | None) -> None:
    if text is not None:
        assert repr(rewritten(term)) == text
    inputs = list(dict.fromkeys(explicit_graph_inputs([term])))
    rng = np.random.default_rng(5)
    special = {i: np.asarray(2), k: np.arange(5)}
    given = [special.get(v, rng.normal(size=(5,) * v.type.ndim)) for v in inputs]
    as_written = rw.function(inputs, term, mode=rw.Mode(optimizer=None))
    np.testing.assert_allclose(rw.function(inputs, term)(*given), as_written(*given), rtol=1e-12)


def test_what_is_computed_anyway_is_not_computed_twice() -> None:
    assert work(pt.exp(a)[0] + pt.exp(a).sum()) == {"exp", "Sum", "add"}
    whole = rewritten(pt.exp(a)[0], pt.exp(a))
    assert repr(whole) == "[Subtensor{0}(exp(a)), exp(a)]"
    products = rewritten((a @ b).sum(), a @ b)
    assert repr(products) == "[Sum(a @ b), a @ b]"
    assert repr(rewritten(a @ b @ x, a @ b)) == "[a @ b @ x, a @ b]"


def test_two_small_parts_are_read_alone() -> None:
    assert work(pt.exp(a)[0] - pt.exp(a)[1]) == {"exp", "sub"}
    text = repr(rewritten(pt.exp(a)[0] - pt.exp(a)[1]))
    assert text == "exp(Subtensor{0}(a)) - exp(Subtensor{1}(a))"
    shared = pt.exp(a - a.max(axis=1, keepdims=True))
    text = "Softmax{axis=None}(Subtensor{0}(a) - Max{keepdims}(Subtensor{0}(a)))"
    assert repr(rewritten((shared / shared.sum(1, keepdims=True))[0])) == text


ERRORS: list[tuple[Any, dict[Any, Any]]] = [
    (pt.exp(x)[3], {x: (3,)}),
    (pt.cumsum(x)[-1], {x: (0,)}),
    (pt.cumsum(x)[2], {x: (2,)}),
    (pt.sort(x)[-1], {x: (0,)}),
    (pt.sort(a, axis=0)[-1], {a: (0, 0)}),
    ((x + y)[0], {x: (3,), y: (4,)}),
    ((x + y)[-1], {x: (3,), y: (4,)}),
    ((x + y)[:2], {x: (3,), y: (4,)}),
    ((x + y)[-2:], {x: (3,), y: (4,)}),
    ((a + b)[0], {a: (2, 3), b: (3, 3)}),
    ((a @ b)[0, 0], {a: (2, 3), b: (2, 3)}),
    ((a @ b)[5], {a: (2, 3), b: (3, 3)}),
    ((a @ b).sum(), {a: (2, 3), b: (2, 3)}),
    (pt.diag(a @ b), {a: (2, 3), b: (2, 3)}),
    (pt.trace(a @ b), {a: (2, 1), b: (2, 3)}),
    ((a @ b) @ x, {a: (2, 3), b: (2, 3), x: (3,)}),
    ((a * x).sum(axis=1), {a: (2, 3), x: (2,)}),
    (a @ x + a @ y, {a: (2, 3), x: (3,), y: (2,)}),
    (pt.stack([pt.exp(x), y])[0], {x: (2,), y: (3,)}),
    (pt.join(0, a, b)[0], {a: (2, 3), b: (2, 2)}),
    (pt.join(0, x, y)[2], {x: (1,), y: (1,)}),
    (pt.join(0, x, y)[-3], {x: (1,), y: (1,)}),
    (pt.arange(x.shape[0])[2], {x: (2,)}),
    (pt.eye(x.shape[0])[2], {x: (2,)}),
    (pt.broadcast_to(x, a.shape)[2], {x: (3,), a: (2, 3)}),
    (pt.broadcast_to(x, a.shape)[0], {x: (2,), a: (2, 3)}),
    (pt.broadcast_to(x, a.shape).sum(axis=0), {x: (2,), a: (2, 3)}),
    (pt.alloc(x, y.shape[0], a.shape[0])[0, 0], {x: (2,), y: (2,), a: (3, 3)}),
    (pt.repeat(x, 3)[7], {x: (2,)}),
    (pt.tile(x, 3)[6], {x: (2,)}),
    (pt.exp(a).flatten()[5], {a: (2, 2)}),
    (pt.set_subtensor(x[3], s)[3], {x: (3,), s: ()}),
    (pt.set_subtensor(x[3], s)[0], {x: (3,), s: ()}),
    (pt.set_subtensor(a[0], x)[1:], {a: (0, 2), x: (2,)}),
    (pt.set_subtensor(a[0], x)[1], {a: (3, 2), x: (3,)}),
    (pt.set_subtensor(a[3], s)[1], {a: (3, 2), s: ()}),
    (pt.set_subtensor(a[3], s)[:2], {a: (3, 2), s: ()}),
    (pt.set_subtensor(a[:2], x)[2:], {a: (3, 2), x: (3,)}),
    (pt.inc_subtensor(a[0], x)[0], {a: (3, 2), x: (3,)}),
    (x[1:][3], {x: (4,)}),
    (x[:-2][0], {x: (2,)}),
    (x[-3:][-3], {x: (2,)}),
    (x[::-1][2], {x: (2,)}),
    (pt.exp(a).max(axis=1)[0], {a: (2, 0)}),
    (pt.exp(a).max(axis=1)[:1], {a: (2, 0)}),
]


@pytest.mark.parametrize(("term", "shapes"), ERRORS, ids=lambda v: str(v)[:60])
def test_errors_are_kept(term: Any, shapes: dict[Any, Any]) -> None:
    given = [np.ones(shape) for shape in shapes.values()]
    as_written = rw.function([*shapes], term, mode=rw.Mode(optimizer=None))
    for f in (as_written, rw.function([*shapes], term)):
        with pytest.raises(RewriteEngineError):
            f(*given)


@pytest.mark.parametrize(
    ("term", "value", "wanted"),
    [
        (pt.sort(x)[0], [np.nan, 2.0, 1.0], 1.0),
        (pt.sort(x)[0], [np.nan, np.nan], np.nan),
        (pt.sort(x)[-1], [np.nan, 2.0], np.nan),
        (pt.cumsum(x)[-1], [1.0, np.inf, -np.inf], np.nan),
        (pt.exp(x).max(), [np.nan, 2.0], np.nan),
        (pt.diff(pt.cumsum(x)), [np.nan, 2.0], [np.nan]),
        (pt.alloc(s, x.shape[0]).sum() + 0 * s, [], np.nan),
        (pt.sqr(x).mean() - pt.sqr(x.mean()), [1e9, 1e9 + 1], 0.25),
        ((pt.as_tensor_variable([[0.0, 0.0]]) * x[:, None]).sum(axis=1), [np.inf], [np.nan]),
    ],
    ids=str,
)
def test_special_values(term: Any, value: Any, wanted: Any) -> None:
    f = rw.function([x, s], term, on_unused_input="ignore")
    np.testing.assert_array_equal(f(np.array(value, "float64"), np.inf), wanted)


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "int64", "complex64"])
def test_dtypes_are_kept(dtype: str) -> None:
    v, m = (
        pt.tensor("v", dtype=dtype, shape=(None,)),
        pt.tensor("m", dtype=dtype, shape=(None,) * 2),
    )
    values = {v: np.array([1, 0, 1, 1], dtype), m: np.ones((4, 4), dtype)}
    terms = [
        pt.cumsum(v)[-1], pt.cumprod(v)[2], pt.sqr(m)[0], (m @ m)[0, 1], (m @ m).sum(axis=0),
        (m @ m) @ v, (v * v).sum(), (m * v).sum(axis=1), pt.trace(m @ m), m.sum(axis=1)[0],
        pt.join(0, v, v)[-2:], pt.broadcast_to(v, m.shape)[1], pt.diag(m @ m),
    ]  # fmt: skip
    terms += [] if dtype == "complex64" else [pt.sort(v)[0], pt.sort(v)[-1], pt.exp(v).max()]
    for term in terms:
        found = rw.function([v, m], term, on_unused_input="ignore")(*values.values())
        plain = rw.Mode(optimizer=None)
        wanted = rw.function([v, m], term, mode=plain, on_unused_input="ignore")(*values.values())
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_gradients_of_parts() -> None:
    for term in (pt.exp(a)[0].sum(), pt.tanh(a @ b)[1, 2], pt.special.softmax(a, axis=1)[2, 0]):
        inputs = list(dict.fromkeys(explicit_graph_inputs([term])))
        rng = np.random.default_rng(1)
        given = [rng.normal(size=(4, 4)) for _ in inputs]
        slope = rw.grad(term, inputs)
        plain = rw.function(inputs, slope, mode=rw.Mode(optimizer=None))
        for found, wanted in zip(rw.function(inputs, slope)(*given), plain(*given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)


def test_the_table_of_forms_uses_every_kind_of_argument() -> None:
    assert {kind for form in FORMS.values() for kind in form.kinds} == {*TYPES}
