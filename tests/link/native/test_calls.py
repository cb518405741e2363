"""Calling native functions: arguments, results, state, errors, threads, memory."""

from __future__ import annotations

import gc
import pickle
import resource
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

x, y = pt.dvectors("x", "y")
m = pt.dmatrix("m")
k = pt.lvector("k")


def native(inputs: Any, outputs: Any, **options: Any) -> Any:
    return rw.function(inputs, outputs, mode="native", **options)


def test_arguments_as_the_vm_takes_them() -> None:
    f = native([x, rw.In(y, value=np.array([1.0, 2.0]))], x * 2 + y)
    for given in ([1.0, 2.0], (1, 2), np.array([1, 2]), np.array([1.0, 0, 2.0])[::2]):
        assert f(given).tolist() == [3.0, 6.0]
    assert f(y=[0.0, 0.0], x=[1.0, 1.0]).tolist() == [2.0, 2.0]
    swapped = np.array([1.0, 2.0]).astype(">f8")
    assert f(swapped).tolist() == [3.0, 6.0]
    with pytest.raises(rw.errors.MissingArgumentError):
        f()
    with pytest.raises(rw.errors.NDimError):
        f([[1.0]])
    with pytest.raises(TypeError, match="unexpected"):
        f([1.0], z=3)


@pytest.mark.parametrize("view", [
    lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a.T, lambda a: np.asfortranarray(a),
    lambda a: np.broadcast_to(a[:1], (6, 8)), lambda a: a[:0], lambda a: a[2:5, 3:4],
])  # fmt: skip
def test_arrays_in_any_layout(view: Any) -> None:
    given = view(np.arange(48.0).reshape(6, 8))
    f = native([m], [pt.exp(-m).sum(axis=0), m.T * 2])
    np.testing.assert_allclose(f(given)[0], np.exp(-given).sum(axis=0))
    np.testing.assert_array_equal(f(given)[1], given.T * 2)


def test_addresses_that_are_not_aligned() -> None:
    raw = np.zeros(8 * 5 + 1, "u1")[1:].view("f8")
    raw[:] = range(5)
    assert native([x], x * 2)(raw).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_results_are_nobody_elses() -> None:
    s = rw.shared(np.ones(3), name="s")
    f = native([x], [x, x, s, x[::-1], pt.exp(x)])
    given = np.arange(3.0)
    results = f(given) + f(given)
    for i, a in enumerate(results):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in [given, s.get_value(borrow=True)])
        assert not any(np.shares_memory(a, b) for b in results[:i])


def test_updates_land_together_or_not_at_all() -> None:
    a, b = rw.shared(np.zeros(2), name="a"), rw.shared(np.array(1.0), name="b")
    f = native([x, k], (x * b)[k].sum(), updates={a: a + x, b: b * 2})
    assert f([1.0, 2.0], [0, 1]) == 3.0
    with pytest.raises(rw.errors.AxisError):
        f([1.0, 2.0], [0, 2])
    assert a.get_value().tolist() == [1.0, 2.0]
    assert b.get_value() == 2.0


def errors() -> Any:
    yield [x, y], pt.exp(x) + y, ([1.0, 2.0], [1.0, 2.0, 3.0])
    yield [x, k], pt.exp(x)[k] * 2, ([1.0], [3])
    yield [x], pt.exp(x)[2] * 2, ([1.0],)
    yield [x], pt.exp(x[1:]).max(), ([1.0],)
    yield [m], pt.exp(m).reshape((2, 2)).sum(), (np.ones((3, 1)),)
    yield [m, x], pt.dot(pt.exp(m), x) + 1, (np.ones((2, 3)), np.ones(2))
    yield [x, y], pt.exp(x)[1:].set(y) * 2, (np.ones(3), np.ones(5))
    yield [m], pt.specify_shape(m, (2, None)) * 2, (np.ones((3, 1)),)


@pytest.mark.parametrize(("inputs", "out", "values"), list(errors()))
def test_errors_are_those_of_the_vm(inputs: Any, out: Any, values: Any) -> None:
    """The same class and words, but for the name of the generated file."""
    found = []
    for mode in ("vm", "native"):
        f = rw.function(inputs, out, mode=rw.Mode(linker=mode).excluding("inplace"), name="f")
        with pytest.raises(rw.errors.RewriteEngineError) as caught:
            f(*values)
        notes = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        lines = [line for line in notes.splitlines() if "built at" in line or ": " in line[:30]]
        found.append((type(caught.value), [line.split("ndarray")[0] for line in lines]))
        assert "built at" in notes
        assert __file__ in notes
    assert found[0][0] is found[1][0]
    assert found[0][1][0] == found[1][1][0]  # the op, and what is wrong


def test_a_failed_call_leaves_nothing_behind() -> None:
    f = native([x, k], [pt.exp(x)[k], x * 2])
    big = np.ones(100_000)
    for _ in range(50):
        with pytest.raises(rw.errors.AxisError):
            f(big, [100_000])
    assert f(big, [0])[0].tolist() == [np.e] or np.isclose(f(big, [0])[0], np.e).all()


def test_many_threads() -> None:
    f = native([m], [pt.tanh(m).sum(axis=1), pt.exp(-m)])
    values = [np.full((60, 700), float(i)) for i in range(8)]

    def run(i: int) -> bool:
        for _ in range(20):
            rows, all_ = f(values[i])
            if not (np.allclose(rows, 700 * np.tanh(i)) and np.allclose(all_, np.exp(-float(i)))):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_memory_stays_as_it_is() -> None:
    f = native([m], [pt.tanh(m.T).sum(axis=1), pt.exp(-m), m.sum()])
    given = np.asfortranarray(np.ones((40, 50)))
    for _ in range(200):
        f(given)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5000):
        f(given)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kB


def test_functions_are_pickled() -> None:
    f = native([x], pt.exp(x).sum())
    g = pickle.loads(pickle.dumps(f))
    assert g.mode.linker == "native"
    assert g([0.0, 0.0]) == f([0.0, 0.0]) == 2.0


def test_debug_mode_compares_native_code() -> None:
    from rewrite_engine.compile.debug import DebugMode

    f = rw.function([x, y], pt.exp(x) * y + 1, mode=DebugMode())
    np.testing.assert_allclose(f([1.0], [2.0]), 2 * np.e + 1)
    from rewrite_engine.link.forms import forms_of
    from rewrite_engine.link.linker import get_linker

    names = [form.name for form in forms_of(pt.exp(x).owner, get_linker("py"))]
    assert "native" in names


def test_large_arrays_in_columns() -> None:
    """Without a copy: code for each order, and the same values."""
    other = pt.dmatrix("other")
    outputs = [pt.exp(m) + other * x, m.sum(axis=0), pt.dot(m.T, other), m.T]
    f, g = native([m, other, x], outputs), rw.function([m, other, x], outputs, mode="vm")
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(90, 80)), rng.normal(size=(90, 80)), rng.normal(size=80)
    for left in (a, np.asfortranarray(a), a[:, ::-1]):
        for right in (b, np.asfortranarray(b)):
            for got, want in zip(f(left, right, c), g(left, right, c), strict=True):
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    with pytest.raises(rw.errors.ShapeError):
        f(np.asfortranarray(a), b[:50], c)
    cube = pt.dtensor3()
    h = native([cube], pt.tanh(cube).sum(axis=1))
    values = np.asfortranarray(rng.normal(size=(20, 30, 40)))
    np.testing.assert_allclose(h(values), np.tanh(values).sum(axis=1), rtol=1e-12)


def lent(*variables: Any) -> list[Any]:
    return [rw.In(v, mutable=True) for v in variables]


def test_results_take_the_memory_of_arguments_that_are_lent() -> None:
    v, w = pt.dvectors("v", "w")
    new = 0.9 * v + x
    f = rw.function([x, *lent(v, w)], [pt.maximum(w, new).sum(), new, w - new], mode="native")
    (node,) = f.nodes
    assert node.op.destroy_map == {1: [1], 2: [2]}
    given = np.arange(5.0), np.zeros(5), np.ones(5)
    total, *found = f(*given)
    assert total == 11.0
    for got, array, want in zip(found, given[1:], (np.arange(5.0), 1 - np.arange(5.0))):
        assert got is array
        np.testing.assert_array_equal(got, want)


def test_what_cannot_be_overwritten_is_not() -> None:
    """An array that is read-only, or in another order; the call is the VM's."""
    v = pt.tensor("v", shape=(None, None), dtype="float64")
    f = rw.function(lent(v), v + 1, mode="native")
    frozen = np.ones((2, 3))
    frozen.flags.writeable = False
    for start in (frozen, np.ones((3, 2)).T):
        np.testing.assert_array_equal(f(start), 2.0)
        np.testing.assert_array_equal(start[0], 1.0 if start is frozen else start[1])


def test_a_call_that_is_refused_late_finds_its_arguments() -> None:
    i, w = pt.lvector("i"), pt.dvector("w")
    f = rw.function([x, i, *lent(w)], [pt.exp(x)[i * 2], w + 1], mode="native")
    given = np.ones(4)
    assert f(np.zeros(5), [1], given)[0] == [1.0]
    given[:] = 5.0
    with pytest.raises(rw.errors.AxisError):
        f(np.zeros(5), [4], given)
    np.testing.assert_array_equal(given, 5.0)


TERMS: Any = [
    lambda w, v, s: w + s, lambda w, v, s: w[::-1] * v, lambda w, v, s: v * w.sum(),
    lambda w, v, s: pt.exp(v) - w, lambda w, v, s: pt.cumsum(w) + v,
    lambda w, v, s: pt.set_subtensor(w[1:3], s[:2]), lambda w, v, s: w,
]  # fmt: skip


@pytest.mark.parametrize("first", range(len(TERMS)))
@pytest.mark.parametrize("second", range(len(TERMS)))
def test_results_read_arguments_as_they_were(first: int, second: int) -> None:
    """Also where others take their memory."""
    v, w = pt.dvectors("v", "w")
    for third in TERMS:
        outputs = [third(w, v, x), TERMS[first](w, v, x), TERMS[second](v, w, x)]
        f = rw.function([x, *lent(v, w)], outputs, mode="native", on_unused_input="ignore")
        g = rw.function([x, v, w], outputs, mode="vm", on_unused_input="ignore")
        for n in (5, 20):
            given = np.full(n, 0.3), np.linspace(-1.0, 2.0, n), np.arange(1.0, n + 1) / n
            wanted = g(*given)
            for got, want in zip(f(*[a.copy() for a in given]), wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12)
