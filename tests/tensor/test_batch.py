"""Graphs along a batch: every op does all of it at once, and gives what it gives one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, ShapeError
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.blockwise import Blockwise, vectorize_graph

RNG = np.random.default_rng(5)
SIZES = {"m": (3, 4), "v": (4,), "w": (3,), "s": (), "i": (2,), "j": (2,), "k": ()}


def value(name: str, batch: tuple[int, ...]) -> Any:
    shape = (*batch, *SIZES[name])
    return RNG.integers(-3, 3, shape) if name in "ijk" else RNG.normal(size=shape)


def check(fn: Any, **batches: tuple[int, ...]) -> Any:
    """Compare with one by one; return the graph."""
    values = {name: value(name, batch) for name, batch in batches.items()}
    core = {n: pt.tensor(n, dtype=a.dtype, shape=SIZES[n]) for n, a in values.items()}
    wide = {n: pt.tensor(n, dtype=a.dtype, shape=a.shape) for n, a in values.items()}
    out = fn(**core)
    (found,) = vectorize_graph([out], {core[n]: wide[n] for n in core})
    batch = np.broadcast_shapes(*batches.values())
    got = evaluate([found], {wide[n]: a for n, a in values.items()})[0]
    assert found.type.ndim == out.type.ndim + len(batch)
    assert all(n in (None, k) for n, k in zip(found.type.shape, got.shape, strict=True))
    f = rw.function(list(core.values()), out, on_unused_input="ignore")
    for index in np.ndindex(batch):
        one = [np.broadcast_to(a, (*batch, *SIZES[n]))[index].copy() for n, a in values.items()]
        np.testing.assert_allclose(got[index], f(*one), rtol=1e-12, atol=1e-12)
    return found


def one_by_one(out: Any) -> list[str]:
    """The ops that are applied one by one."""
    nodes = toposort([out])
    return [str(n.op) for n in nodes if isinstance(n.op, Blockwise) and n.op.batched is None]


def square_of(m: Any, v: Any) -> Any:
    a, b = m.type("a"), v.type("b")
    return rw.OpFromGraph([a, b], [pt.sqr(a) + b])(m, v)


GRAPHS: dict[str, tuple[Any, str]] = {
    "joined": (lambda m, v: pt.join(0, m, v[None, :], m), "mv"),
    "joined columns": (lambda m, w: pt.join(1, w[:, None], m), "mw"),
    "stacked": (lambda s, v: pt.stack([s, v[0], s]), "sv"),
    "split": (lambda m: pt.split(m, [1, 3], 2, axis=1)[1], "m"),
    "reshaped": (lambda m: m.reshape((2, -1)), "m"),
    "flattened": (lambda m, v: m.flatten() * v[0], "mv"),
    "filled": (lambda v: pt.alloc(v, 2, 3, 4), "v"),
    "diagonal": (lambda m: pt.diagonal(m, 1), "m"),
    "specified": (lambda m: pt.specify_shape(m, (3, None)), "m"),
    "taken": (lambda v, i: v[i], "vi"),
    "taken rows": (lambda m, i: m[i], "mi"),
    "taken columns": (lambda m, i: m[:, i], "mi"),
    "taken pairs": (lambda m, i, j: m[i, j], "mij"),
    "taken crosses": (lambda m, i, j: m[i[:, None], j], "mij"),
    "taken apart": (lambda m, i, k: m[:, None][i, :, k], "mik"),
    "a place": (lambda m, k: m[:, k], "mk"),
    "an element": (lambda m, k: m[k, 1], "mk"),
    "masked": (lambda m: m[np.array([True, False, True])], "m"),
    "set": (lambda v, s: pt.set_subtensor(v[1:3], s), "vs"),
    "set rows": (lambda m, v: pt.set_subtensor(m[0], v), "mv"),
    "set place": (lambda m, k, w: pt.set_subtensor(m[:, k], w), "mkw"),
    "added": (lambda v, i, s: pt.inc_subtensor(v[i], s), "vis"),
    "added columns": (lambda m, i, w: pt.inc_subtensor(m[:, i], w[:, None]), "miw"),
    "added apart": (lambda m, i, k, s: pt.inc_subtensor(m[:, None][i, :, k], s), "miks"),
    "counted": (lambda v: pt.cumsum(v) + pt.sort(v), "v"),
    "an inner graph": (square_of, "mv"),
    "numbers": (lambda i: pt.unravel_index(pt.abs(i), (3, 2))[1], "i"),
    "ravelled": (lambda i, k: pt.ravel_multi_index((abs(i), abs(k)), (4, 4)), "ik"),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name: str) -> None:
    fn, takes = GRAPHS[name]
    choices: list[tuple[int, ...]] = [(2,), (5, 2), (), (5, 1)]
    for turn in range(len(choices) if len(takes) > 1 else 2):
        batches = {n: choices[(turn + k) % len(choices)] for k, n in enumerate(takes)}
        assert one_by_one(check(fn, **batches)) == []


ENTRIES = st.sampled_from(
    [":", "1:", "::-1", "None", "i", "j", "k", "i[:, None]", "-1", "np.array([0, 1])"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=4), st.lists(st.booleans(), min_size=5, max_size=5),
       st.sampled_from(["take", "set", "inc"]))  # fmt: skip
def test_any_index(entries: list[str], has_batch: list[bool], how: str) -> None:
    taken = [e for e in entries if e != "None"]
    if len(taken) > 2 or entries.count("i[:, None]") + entries.count("np.array([0, 1])") > 1:
        return
    text = ", ".join(entries)

    def fn(m: Any, i: Any, j: Any, k: Any, s: Any) -> Any:
        part = eval(f"m[{text}]", {"m": m, "i": i, "j": j, "k": k, "np": np})
        if how == "take":
            return part
        return pt.set_subtensor(part, s) if how == "set" else pt.inc_subtensor(part, s)

    names = ["m", "i", "j", "k", "s"]
    batches = {n: (2,) if b else () for n, b in zip(names, has_batch, strict=True)}
    used = [n for n in names if n in ("m", *text) or (n == "s" and how != "take")]
    if not any(batches[n] for n in used):
        return
    assert one_by_one(check(fn, **batches)) == []


def test_lengths_that_differ_are_done_one_by_one() -> None:
    x, n = pt.dmatrix("x"), pt.lvector("n")
    v, k = pt.dvector("v"), pt.lscalar("k")
    (out,) = vectorize_graph([v[:k]], {v: x, k: n})
    assert len(one_by_one(out)) == 1
    given = np.arange(6.0).reshape(2, 3)
    assert evaluate([out], {x: given, n: np.array([2, 2])})[0].tolist() == [[0, 1], [3, 4]]


def test_hessians_of_indexing_take_all_rows_at_once() -> None:
    x = pt.dvector("x")
    cost = (x[[0, 2, 0]] ** 3).sum() + (x[1:] * x[:-1] ** 2).sum()
    f = rw.function([x], rw.gradient.hessian(cost, x))
    assert one_by_one(f.fgraph.outputs[0]) == []
    a, b, c = 0.5, -1.0, 2.0
    wanted = [[12 * a + 2 * b, 2 * a, 0], [2 * a, 2 * c, 2 * b], [0, 2 * b, 6 * c]]
    np.testing.assert_allclose(f([a, b, c]), wanted)


def test_functions_of_last_dimensions() -> None:
    x, y = pt.dtensor3("x"), pt.dmatrix("y")
    a, b = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(4, 3))
    both = pt.vectorize(lambda u, v: (pt.exp(u).sum() * v, u[0]), "(n),(n)->(n),()")(x, y)
    assert isinstance(both, tuple)
    f = rw.function([x, y], list(both))
    meaning = np.vectorize(lambda u, v: (np.exp(u).sum() * v, u[0]), signature="(n),(n)->(n),()")
    for got, wanted in zip(f(a, b), meaning(a, b), strict=True):
        np.testing.assert_allclose(got, wanted)
    single = pt.vectorize(lambda s: pt.switch(s > 0, s, 2 * s))(x)
    np.testing.assert_allclose(single.eval({x: a}), np.where(a > 0, a, 2 * a))
    assert pt.vectorize(square_of, "(m,n),(n)->(m,n)").__name__ == "square_of"


def test_functions_of_last_dimensions_that_do_not_fit() -> None:
    x = pt.dvector("x")
    rows = pt.vectorize(lambda m: m.sum(axis=0), "(m,n)->(n)")
    with pytest.raises(NDimError, match=r"2 dimensions or more \(\(m,n\)->\(n\)\), not type Ten"):
        rows(x)
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        rows(x, x)
    with pytest.raises(ShapeError, match=r"results have the types Tensor.* signature is \(n\)->"):
        pt.vectorize(lambda v: v.sum(), "(n)->(n)")(x)
    with pytest.raises(ShapeError, match="not a signature"):
        pt.vectorize(lambda v: v, "n->n")


def test_one_variable_is_replaced_as_it_is() -> None:
    x, xs = pt.dvector("x"), pt.dmatrix("xs")
    found = pt.vectorize_graph(pt.exp(x), {x: xs})
    assert equal_computations([found], [pt.exp(xs)])
    assert equal_computations(pt.vectorize_graph((pt.exp(x),), {x: xs}), [pt.exp(xs)])
