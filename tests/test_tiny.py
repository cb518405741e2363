"""The whole way of the data in two seconds: build, rewrite, run, differentiate, print.

If this fails, look here first; if it passes, most of the house stands.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def ops(f: object) -> list[str]:
    """The names of the ops that are left in a compiled function."""
    return [str(node.op) for node in f.maker.fgraph.toposort()]  # type: ignore[attr-defined]


def test_build() -> None:
    x, y = pt.matrix("x"), pt.vector("y")
    z = pt.exp(x) + y
    assert (z.dtype, z.ndim, z.type.shape) == ("float64", 2, (None, None))
    assert str(z.owner.op) == "add"
    assert z.owner.inputs[1] is y


def test_rewrite_and_run() -> None:
    x = pt.vector("x")
    f = rw.function([x], pt.log(pt.exp(x)) * 1)
    assert ops(f) == []
    assert f([1000.0]).tolist() == [1000.0]


def test_run_agrees_with_numpy() -> None:
    x, w, b = pt.matrix("x"), pt.matrix("w"), pt.vector("b")
    f = rw.function([x, w, b], pt.tanh(x @ w + b).sum(axis=0))
    values = [np.linspace(-1, 1, n).reshape(s) for n, s in [(6, (3, 2)), (8, (2, 4)), (4, (4,))]]
    expected = np.tanh(values[0] @ values[1] + values[2]).sum(axis=0)
    np.testing.assert_allclose(f(*values), expected, rtol=1e-14)


def test_gradient() -> None:
    x = pt.vector("x")
    cost = (x**3).sum() + pt.exp(x[0])
    f = rw.function([x], rw.grad(cost, x))
    np.testing.assert_allclose(f([1.0, 2.0]), [3 + np.e, 12.0])


def test_shared_variables_and_updates() -> None:
    count = rw.shared(np.float64(1.0), name="count")
    by = pt.scalar("by")
    f = rw.function([by], count, updates=[(count, count * by)])
    assert float(f(3.0)) == 1.0
    assert float(count.get_value()) == 3.0


def test_naive_softmax_is_made_safe() -> None:
    z = pt.matrix("z")
    f = rw.function([z], pt.log(pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(f([[1000.0, -1000.0]]), [[0.0, -2000.0]])


def test_print() -> None:
    x = pt.vector("x")
    y = pt.exp(x) + 1
    assert rw.pp(y) == "exp(x) + 1.0"
    text = rw.dprint(y, file="str")
    assert "add" in text
    assert "exp" in text


def test_errors_name_the_op_and_the_line() -> None:
    with pytest.raises(rw.errors.BroadcastError, match="add"):
        pt.tensor(dtype="float64", shape=(2,)) + pt.tensor(dtype="float64", shape=(3,))


@pytest.mark.parametrize("name", rw.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(rw, name) is not None
    assert name in dir(rw)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        rw.no_such_name


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, rewrite_engine as r; r.config.floatX; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert loaded.isdisjoint({"numpy", "scipy", "kanren", "etuples", "rich"})
    ours = {name for name in loaded if name.startswith("rewrite_engine.")}
    assert ours == {f"rewrite_engine.{name}" for name in ("config", "fork", "lazy")}
