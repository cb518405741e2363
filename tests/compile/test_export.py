"""Functions as files that run without the library: machine code for C, StableHLO for JAX."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    CompileError,
    InputError,
    OptionError,
    ShapeError,
    UntraceableError,
)
from rewrite_engine.loops import scan

native = pytest.mark.skipif(which("cc") is None, reason="there is no C compiler")
x, w = pt.dvector("x"), pt.dmatrix("w")
X = np.linspace(-1.2, 1.5, 5)
W = np.sin(np.arange(15.0)).reshape(3, 5)


def by_c(f: Any, path: Path, values: Sequence[Any], **options: Any) -> list[Any]:
    """The results of an exported function for values, whose shapes it is for."""
    rw.export(f, path, [np.shape(v) for v in values], **options)
    given = [np.ascontiguousarray(v, a.type.dtype) for v, a in zip(values, f.inputs, strict=True)]
    wanted = f(*values)
    wanted = wanted if isinstance(wanted, list) else [wanted]
    found = [np.full_like(v, 77) for v in wanted]
    function = getattr(ctypes.CDLL(str(path)), options.get("name") or f.program.name)
    assert function(*[v.ctypes for v in (*given, *found)]) == 0
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    return found


@native
def test_value_and_gradient(tmp_path: Path) -> None:
    b = rw.shared(np.array([0.1, 0.2, 0.3]), name="b")
    cost = pt.tanh(pt.dot(w, x) + b).sum()
    f = rw.function([x, w], [cost, rw.grad(cost, x)], name="model")
    by_c(f, tmp_path / "model.so", [X, W])
    header = (tmp_path / "model.h").read_text()
    assert (
        "int32_t model(const double *x, const double *w, double *result0, double *result1);"
        in header
    )
    assert " *   w: 3, 5" in header


CASES = {
    "functions": lambda: pt.exp(x) + pt.log1p(x**2) * pt.sigmoid(x) - pt.sin(x) / pt.cosh(x),
    "special": lambda: pt.erf(x) + pt.gammaln(pt.abs(x) + 1) + pt.arctan(x),
    "softmax": lambda: pt.softmax(x),
    "sums": lambda: pt.sqr(x).sum() + x.max() - x.min() * pt.prod(x),
    "index": lambda: x[::-2] * x[1] + x[pt.constant(np.array([0, 3, 1]))],
    "join": lambda: pt.concatenate([x, x[:2] + 1]),
    "loop": lambda: scan(lambda a, s: s * 0.9 + pt.sin(a), x, pt.constant(0.5))[0],
    "whole": lambda: pt.argmax(x) + pt.cast(x, "int64").sum(),
    "truth": lambda: (x > 0) & (x < 1),
    "single": lambda: pt.cast(x, "float32") * np.float32(0.1),
    "choice": lambda: pt.switch(x.sum() > 0, pt.exp(x), x * 2),
    "constant": lambda: pt.dot(pt.constant(W), x),
}


@native
@pytest.mark.parametrize("name", CASES)
def test_graphs_in_c(name: str, tmp_path: Path) -> None:
    f = rw.function([x], CASES[name](), mode="vm")
    by_c(f, tmp_path / "f.so", [X], name="f")


@native
def test_a_program_in_c_calls_it(tmp_path: Path) -> None:
    y = pt.dvector("y")
    loss = pt.softplus((1 - 2 * y) * x).sum()
    f = rw.function([x, y], [loss, rw.grad(loss, x)], name="loss")
    rw.export(f, tmp_path / "loss.o", {"x": (3,), "y": (3,)})
    (tmp_path / "main.c").write_text(
        """
        #include <stdio.h>
        #include "loss.h"
        int main(void) {
            double x[3] = {0.5, -1.0, 2.0}, y[3] = {1.0, 0.0, 0.0}, value, slope[3];
            int status = loss(x, y, &value, slope);
            printf("%d %.15g %.15g %.15g %.15g", status, value, slope[0], slope[1], slope[2]);
            return status;
        }
        """
    )
    command = ["cc", "main.c", "loss.o", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    value, slope = f([0.5, -1.0, 2.0], [1.0, 0.0, 0.0])
    found = [float(text) for text in done.stdout.split()]
    np.testing.assert_allclose(found, [0, value, *slope], rtol=1e-14)


@native
def test_what_fails_returns_1(tmp_path: Path) -> None:
    i = pt.lscalar("i")
    rw.export(rw.function([x, i], x[i], name="at"), tmp_path / "at.so", {"x": (5,)})
    at, found = ctypes.CDLL(str(tmp_path / "at.so")).at, np.zeros(())
    assert at(X.ctypes, np.array(4).ctypes, found.ctypes) == 0
    assert found == X[4]
    assert at(X.ctypes, np.array(5).ctypes, found.ctypes) == 1


@native
def test_routines_of_lapack_are_named_if_they_are_missing(tmp_path: Path) -> None:
    m = pt.dmatrix("m")
    f = rw.function([m, x], pt.linalg.solve(m, x), name="solve")
    rw.export(f, tmp_path / "solve.o", [(5, 5), (5,)])  # (to be linked with LAPACK)
    assert b"dgesv_" in (tmp_path / "solve.o").read_bytes()
    if find_library("lapack") is None:
        with pytest.raises(CompileError, match=r"it calls LAPACK: dgesv"):
            rw.export(f, tmp_path / "solve.so", [(5, 5), (5,)])
    else:
        by_c(f, tmp_path / "solve.so", [W.T @ W + np.eye(5), X])


REFUSED = [
    (lambda: rw.function([x], pt.sort(x)), "SortOp", UntraceableError),
    (
        lambda: rw.function([x], pt.ifelse(x.sum() > 0, pt.exp(x), x * 2)),
        "ifelse",
        UntraceableError,
    ),
    (lambda: rw.function([x], pt.psi(x)), "psi", UntraceableError),
    (lambda: rw.function([x], [x, x + 1]), "argument", UntraceableError),
]


@native
@pytest.mark.parametrize(("build", "told", "error"), REFUSED)
def test_what_native_code_cannot_do_alone(
    build: Any, told: str, error: Any, tmp_path: Path
) -> None:
    with pytest.raises(error, match=told):
        rw.export(build(), tmp_path / "f.so", [(5,)], name="f")


def test_arguments_that_do_not_fit(tmp_path: Path) -> None:
    f, path = rw.function([x], pt.exp(x)), tmp_path / "f.so"
    with pytest.raises(ShapeError, match="its lengths must be given"):
        rw.export(f, path)
    with pytest.raises(ShapeError, match=r"cannot have the shape \(2, 2\)"):
        rw.export(f, path, [(2, 2)])
    with pytest.raises(InputError, match="no argument is called 'y'"):
        rw.export(f, path, {"y": (2,)})
    n = rw.shared(0.0, name="n")
    with pytest.raises(OptionError, match="updates shared variables"):
        rw.export(rw.function([x], x, updates={n: n + 1}), path, [(2,)])
    with pytest.raises(OptionError, match="compiled function"):
        rw.export(pt.exp(x), path)  # type: ignore[arg-type]


# --- StableHLO ----------------------------------------------------------------------------------

_CALL = """
import sys
import jax
jax.config.update("jax_enable_x64", True)
import jax.export
import numpy as np
content = open(sys.argv[1], "rb").read()
values = np.load(sys.argv[2])
found = jax.export.deserialize(content).call(*[values[k] for k in sorted(values)])
assert "rewrite_engine" not in sys.modules
np.savez(sys.argv[3], *jax.tree.leaves(found))
"""


def test_jax_alone_runs_an_exported_function(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    b = rw.shared(np.array([0.1, 0.2, 0.3]), name="b")
    cost = pt.log(pt.exp(pt.dot(w, x) + b).sum())
    f = rw.function([x, w], [cost, rw.grad(cost, w)])
    rw.export(f, tmp_path / "f.stablehlo", {"x": (5,), "w": (3, 5)})
    np.savez(tmp_path / "in.npz", X, W)
    files = ["f.stablehlo", "in.npz", "out.npz"]
    subprocess.run([sys.executable, "-c", _CALL, *files], cwd=tmp_path, check=True)
    with np.load(tmp_path / "out.npz") as found:
        for k, want in enumerate(f(X, W)):
            np.testing.assert_allclose(found[f"arr_{k}"], want, rtol=1e-13)


def test_what_stablehlo_cannot_say(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    path = tmp_path / "f.stablehlo"
    with pytest.raises(UntraceableError, match=r"run in Python.*j0"):
        rw.export(rw.function([x], pt.j0(x)), path, [(2,)])
    rng = rw.shared(np.random.default_rng(0), name="rng")
    with pytest.raises(UntraceableError, match="draws"):
        rw.export(rw.function([x], pt.random.normal(x, 1.0, rng=rng)), path, [(2,)])
