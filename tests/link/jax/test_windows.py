"""Slices `x[i : i + 3]`, whose start is computed and whose length is fixed, on JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.plan.static import static_inputs
from rewrite_engine.tensor.index.template import INPUT, Slice
from rewrite_engine.tensor.index.windows import length_of

X = np.array([4.0, -1.0, 2.0, 7.0, 1.0, 3.0])
TERMS: dict[str, Callable[[Any, Any], Any]] = {
    "read": lambda x, k: x[k : k + 3].sum(),
    "other_starts": lambda x, k: pt.exp(x[2 * k - 1 : 2 * k + 1]),
    "integers_around": lambda x, k: pt.outer(x, x)[1, k : k + 2],
    "two_dimensions": lambda x, k: pt.outer(x, x)[k : k + 2, None, k + 1 : k + 3],
    "an_array_beside": lambda x, k: pt.outer(x, x)[k : k + 2, [0, 0, 3]],
    "written": lambda x, k: pt.set_subtensor(x[k : k + 2], -1.0),
    "added": lambda x, k: pt.inc_subtensor(pt.outer(x, x)[2, k : k + 2], x[:2]),
    "gradient": lambda x, k: rw.grad(pt.sqr(x[k : k + 3]).sum(), x),
    "loop": lambda x, k: rw.scan(lambda i, x: x[i : i + 3].sum(),
                                 sequences=[pt.arange(4) + 0 * k], non_sequences=[x])[0],
    "loop_behind": lambda x, k: rw.scan(lambda i, x: (x[i - 2 : i] * x[i]).sum(),
                                        sequences=[pt.arange(2, 5) + 0 * k], non_sequences=[x])[0],
    "state": lambda x, k: rw.scan(lambda i, s: pt.set_subtensor(s[i : i + 2], s[i + 1 : i + 3]),
                                  sequences=[pt.arange(3) + 0 * k], outputs_info=[x])[0][-1],
    "slope_of_loop": lambda x, k: rw.grad(rw.scan(
        lambda i, x: pt.sqr(x[i : i + 2]).prod(), sequences=[pt.arange(5) + 0 * k],
        non_sequences=[x])[0].sum(), x),
}  # fmt: skip


def both(build: Callable[[Any, Any], Any], x: Any = X) -> tuple[Any, Any]:
    """Return the values by JAX and by the VM; the start depends on the array."""
    v = pt.vector("x")
    term = build(v, pt.eq(v, 2.0).argmax())
    return rw.function([v], term, mode="jax")(x), rw.function([v], term, mode="vm")(x)


@pytest.mark.parametrize("name", TERMS)
def test_windows(name: str) -> None:
    """A window starts where the array has the number 2. At an end of the array it is cut off."""
    for x in (X, np.roll(X, -2), np.roll(X, 1)):
        found, wanted = both(TERMS[name], x)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found.shape == wanted.shape


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5])
def test_windows_over_an_end(place: int) -> None:
    x = np.arange(3.0, 9.0)
    x[place] = 2.0
    for build in (lambda x, k: x[k : k + 3], lambda x, k: x[k - 2 : k + 1],
                  lambda x, k: x[k : k + 30],
                  lambda x, k: pt.inc_subtensor(x[k - 1 : k + 2], 1.0)):  # fmt: skip
        found, wanted = both(build, x)
        np.testing.assert_array_equal(found, wanted)


def test_compiled_once_for_all_starts() -> None:
    """A start that is an argument is one value, not one function for each value."""
    x, k = pt.vector("x"), pt.lscalar("k")
    f = rw.function([x, k], x[k : k + 3].sum(), mode="jax")
    assert [float(f(X, i)) for i in range(4)] == [X[i : i + 3].sum() for i in range(4)]
    graph = f.fgraph
    assert static_inputs(graph.toposort(), graph.inputs) == []


def test_in_a_function_for_jax() -> None:
    """Batched and differentiated by JAX; a window outside is the nearest one inside."""
    x, k = pt.vector("x"), pt.lscalar("k")
    with jax.enable_x64(True):
        f = rw.jax_function([x, k], pt.sqr(x[k : k + 2]).sum())
        wanted = [np.square(X[i : i + 2]).sum() for i in (0, 1, 2, 3, 4, 4)]
        np.testing.assert_allclose(jax.vmap(f, (None, 0))(X, np.arange(6)), wanted)
        slope = np.zeros(6)
        slope[1:3] = 2 * X[1:3]
        np.testing.assert_allclose(jax.jit(jax.grad(f))(X, 1), slope)


def test_other_slices_are_refused() -> None:
    x, k, n = pt.vector("x"), pt.lscalar("k"), pt.lscalar("n")
    start = pt.argmax(x)
    for index in (slice(start, None), slice(start, start + n), slice(start, 2 * start)):
        with pytest.raises(rw.errors.UntraceableError):
            rw.function([x, n], x[index], mode="jax", on_unused_input="ignore")(X, 2)
    assert length_of(Slice(INPUT, INPUT), [k, k]) is None
    assert length_of(Slice(INPUT, INPUT), [k + 2, k]) is None
    assert length_of(Slice(INPUT, INPUT), [1 + k - 3, k + 4]) == 6
    assert length_of(Slice(INPUT, INPUT, 2), [k, k + 4]) is None
    assert length_of(Slice(INPUT, 5), [k]) is None
    for narrow in (pt.bscalar("k"), pt.scalar("k", dtype="uint64")):
        assert length_of(Slice(INPUT, INPUT), [narrow, narrow + narrow.type.filter(3)]) is None


def test_loops_keep_the_ends_of_windows() -> None:
    """The start is one sequence; its sum is not another one."""
    x = pt.vector("x")
    sums = rw.scan(
        lambda i, x: x[i : i + 3].sum(),
        sequences=[pt.arange(0, x.shape[0] - 2)], non_sequences=[x],
    )[0]  # fmt: skip
    f = rw.function([x], sums, mode="vm")
    (loop,) = [node.op for node in f.fgraph.toposort() if type(node.op).__name__ == "Scan"]
    assert loop.sequences == 1
    np.testing.assert_allclose(f(X), [X[i : i + 3].sum() for i in range(4)])
