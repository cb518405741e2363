"""The generated function: its text, its registers, its parts, and what it does with memory."""

from __future__ import annotations

import gc
import inspect
import linecache
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.link.vm import emit
from tests.link.reference import link


def chain(x: Any, n: int) -> Any:
    for i in range(n):
        x = pt.sin(x) if i % 2 else x + 0.5
    return x


def test_one_line_per_node_and_readable_names() -> None:
    x, y = pt.matrix("x"), pt.matrix("y")
    linked = link([x, y], pt.exp(2 * x * y + y))
    body = linked.source.split("try:\n")[1].split("    except")[0]
    assert [line.strip() for line in body.splitlines()] == [
        "_token = enter(QUIET)",
        "r0 = multiply(c, x)",
        "if r0.shape != y.shape: mismatch()",
        "r0 = multiply(r0, y, r0)",
        "r0 = add(r0, y, r0)",
        "r0 = exp(r0, r0)",
    ]


def test_source_is_seen_by_inspect_and_linecache() -> None:
    x = pt.vector("x")
    linked = link([x], pt.exp(x))
    assert inspect.getsource(linked.call) == linked.source
    name = linked.call.__code__.co_filename
    assert name in linecache.cache
    ref = weakref.ref(linked.call)
    linecache.checkcache()
    assert name in linecache.cache
    del linked
    gc.collect()
    assert ref() is None
    assert linecache.getlines(name) == []


def test_parameters_are_the_users_names_and_never_hidden() -> None:
    names = ["exp", "r0", "type", "x y", "class", "x", "x", None, "_token", "MISSING", "mismatch"]
    variables = [pt.vector(n) for n in names]
    total: Any = 0
    for k, v in enumerate(variables):
        total = total + pt.exp(v) * (k + 1)
    linked = link(variables, total)
    values = [np.array([float(k)]) for k in range(len(names))]
    want = sum(np.exp(v) * (k + 1) for k, v in enumerate(values))
    np.testing.assert_allclose(linked.call(*values), want)
    *parameters, by_name = inspect.signature(linked.call).parameters.values()
    assert [p.name for p in parameters[:2]] == ["exp", "r0"]
    assert len({p.name for p in parameters}) == len(names)
    assert by_name.kind is inspect.Parameter.VAR_KEYWORD  # for those that Python has not
    given = {"x y": values[3], "class": values[4], "_token": values[8]}
    rest = {p.name: v for p, v in zip(parameters, values, strict=True) if p.name.isidentifier()}
    for name in [parameters[k].name for k in (3, 4, 8)]:
        del rest[name]
    np.testing.assert_allclose(linked.call(**rest, **given), want)


def test_registers_are_used_again() -> None:
    x = pt.vector("x")
    linked = link([x], chain(x, 200))
    assert linked.call.__code__.co_nlocals <= 4


def test_long_graphs_are_compiled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "MAX_CHUNK_NODES", 7)
    x, y = pt.vector("x"), pt.vector("y")
    branches = [chain(x * k, 5) + y for k in range(1, 9)]
    total = branches[0]
    for b in branches[1:]:
        total = total * b
    linked = link([x, y], [total, branches[2]])
    whole = link([x, y], [total, branches[2]])
    assert "f_part_3(_live)" in linked.source
    values = [np.linspace(0, 1, 5), np.ones(5)]
    for got, want in zip(linked.call(*values), whole.call(*values), strict=True):
        np.testing.assert_array_equal(got, want)
    assert linked.source.count("def ") == len(set(linked.source.split("def ")[1:]))


def test_text_grows_with_the_graph_however_much_stays_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(emit, "MAX_CHUNK_NODES", 50)
    x = pt.vector("x")

    def folded(n: int) -> Any:  # every value is read again, the first one last
        values = [x]
        for i in range(n):
            values.append(pt.sin(values[-1]) if i % 2 else pt.cos(values[-1]))
        total = values.pop()
        while values:
            total = total * values.pop()
        return link([x], total)

    small, large = folded(500), folded(2000)
    assert len(large.source) < 5 * len(small.source)
    value = np.linspace(0, 1, 3)
    steps = [value]
    for i in range(500):
        steps.append(np.sin(steps[-1]) if i % 2 else np.cos(steps[-1]))
    want = steps.pop()
    while steps:
        want = want * steps.pop()
    np.testing.assert_allclose(small.call(value), want)


def test_a_hundred_thousand_nodes() -> None:
    x = pt.vector("x")
    out = chain(x, 100_000)
    linked = link([x], out)
    value = np.linspace(0, 1, 3)
    want = value
    for i in range(100_000):
        want = np.sin(want) if i % 2 else want + 0.5
    np.testing.assert_array_equal(linked.call(value), want)


def peak(f: Any, *args: Any) -> int:
    f(*args)
    tracemalloc.start()
    try:
        f(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_intermediates_are_freed_at_their_last_use() -> None:
    x = pt.vector("x")
    out = x
    for _ in range(10):
        a, b = pt.sin(out), pt.cos(out)
        out = pt.concatenate([a, b])[: out.shape[0]]  # nothing here can be in place
    linked = link([x], out)
    value = np.ones(10_000)
    assert peak(linked.call, value) < 7 * value.nbytes


def test_a_chain_needs_one_buffer() -> None:
    x = pt.vector("x")
    linked = link([x], chain(x, 50))
    value = np.ones(50_000)
    assert peak(linked.call, value) < 1.1 * value.nbytes


@pytest.mark.parametrize("n", [10, 40])
def test_parts_hold_nothing_back(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(emit, "MAX_CHUNK_NODES", 4)
    x = pt.vector("x")
    out = x
    for _ in range(n):
        out = pt.concatenate([out, out])[::2]
    linked = link([x], out)
    assert "_part_" in linked.source
    value = np.ones(10_000)
    assert peak(linked.call, value) < 5 * value.nbytes


class Keep(Op):
    """An identity that remembers (weakly) what it was given, and how much of it is alive."""

    __props__ = ()

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.alive: list[int] = []

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        self.alive.append(sum(ref() is not None for ref in self.seen))
        value = inputs[0] + 1
        self.seen.append(weakref.ref(value))
        output_storage[0][0] = value


def test_results_of_perform_are_freed_too() -> None:
    class Watch(Keep):
        __props__ = None

    op = Watch()
    x = pt.vector("x")
    out = x
    for _ in range(20):
        out = op(out)
    link([x], out).call(np.ones(3))
    assert max(op.alive) == 1


def test_unused_outputs_of_a_node() -> None:
    class Two(Op):
        __props__ = ()

        def infer_types(self, types: tuple[Any, ...]) -> Any:
            return [types[0], types[0]]

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0], output_storage[1][0] = inputs[0] + 1, inputs[0] + 2

    x = pt.vector("x")
    node = build_node(Two(), (x,), (x.type, x.type))
    linked = link([x], pt.exp(node.outputs[1]))
    np.testing.assert_allclose(linked.call(np.zeros(2)), np.exp([2.0, 2.0]))


def test_results_are_arrays_of_their_own() -> None:
    x, s = pt.vector("x"), pt.scalar("s")
    c = pt.constant(np.arange(3.0))
    k = pt.constant(2.0)
    linked = link([x, s], [x, x, x[:1], s, s, c, c, k, s + 1, x[0]])
    given = np.arange(4.0), np.array(5.0)
    results = linked.call(*given)
    for r in results:
        assert type(r) is np.ndarray
        assert r.flags.writeable
        r[...] = -1
    assert given[0].tolist() == [0, 1, 2, 3]
    assert given[1] == 5
    again = linked.call(*given)
    assert again[5].tolist() == [0, 1, 2]
    assert again[7] == 2


def test_floating_point_warnings_are_not_shown_and_settings_stay() -> None:
    x = pt.vector("x")
    linked = link([x], pt.log(x) / x)
    before = np.geterr()
    with np.errstate(all="raise"):
        linked.call(np.zeros(2))
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(2))
    assert np.geterr() == before


def test_settings_stay_after_an_error() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    linked = link([x, y], pt.log(x) + y)
    before = np.geterr()
    with pytest.raises(ValueError):
        linked.call(np.zeros(2), np.zeros(3))
    assert np.geterr() == before


def test_trust() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    linked = link([x, y], x + y, trust=True)
    assert "ndim" not in linked.source
    assert linked.call(np.ones(2), np.ones(2)).tolist() == [2, 2]
    with pytest.raises(ValueError, match="argument 1"):
        linked.call(np.ones(2))


def test_a_function_may_go_while_tracebacks_are_made() -> None:
    """`linecache.checkcache` takes a list of the names, then looks at each."""
    x = pt.vector("x")
    f = link([x], pt.exp(x))
    name = f.call.__code__.co_filename
    before = list(linecache.cache)
    del f
    gc.collect()
    assert name in before
    assert all(filename in linecache.cache for filename in before)
    link([x], pt.sin(x))
    assert name not in linecache.cache
