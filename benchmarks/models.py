"""What people run: densities, Gaussian processes, a Kalman step, batched equations, random numbers
and loops, compiled and called, beside PyTensor where that is installed (`pip install pytensor`).

Each model is built by the same text with both. `python -m benchmarks.models NAME` measures with one
library alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measure import ROOT, Row, digits, median

LIMIT = 400  # seconds for one library
Model = tuple[list[Any], list[Any], list[Any]]  # inputs, outputs, values


def covariance(n: int) -> Any:
    a = np.random.default_rng(0).normal(size=(n, n))
    return a @ a.T / n + np.eye(n)


def normal_density(lib: Any, pt: Any, n: int) -> Model:
    """The log density of a multivariate normal, and its gradient."""
    x, mu, sigma = pt.dvector("x"), pt.dvector("mu"), pt.dmatrix("sigma")
    low = pt.linalg.cholesky(sigma)
    z = pt.linalg.solve_triangular(low, x - mu, lower=True)
    logp = -0.5 * (z**2).sum() - pt.log(pt.diagonal(low)).sum() - 0.5 * n * np.log(2 * np.pi)
    values = [np.linspace(-1, 1, n), np.zeros(n), covariance(n)]
    return [x, mu, sigma], [logp, *lib.grad(logp, [mu, sigma])], values


def gaussian_process(lib: Any, pt: Any, n: int) -> Model:
    """The marginal likelihood of a Gaussian process, and its gradient."""
    x, y = pt.dvector("x"), pt.dvector("y")
    scale, noise = pt.dscalar("scale"), pt.dscalar("noise")
    kernel = pt.exp(-0.5 * ((x[:, None] - x[None, :]) / scale) ** 2) + noise * pt.eye(n)
    low = pt.linalg.cholesky(kernel)
    z = pt.linalg.solve_triangular(low, y, lower=True)
    logp = -0.5 * (z**2).sum() - pt.log(pt.diagonal(low)).sum()
    values = [np.linspace(0, 5, n), np.sin(np.linspace(0, 5, n)), np.array(0.7), np.array(0.1)]
    return [x, y, scale, noise], [logp, *lib.grad(logp, [scale, noise])], values


def kalman_step(lib: Any, pt: Any, n: int) -> Model:
    """One step of a Kalman filter with n states, half of them observed."""
    state, p = pt.dvector("state"), pt.dmatrix("p")
    move, q = pt.dmatrix("move"), pt.dmatrix("q")
    see, r, y = pt.dmatrix("see"), pt.dmatrix("r"), pt.dvector("y")
    mean, cov = pt.dot(move, state), pt.dot(pt.dot(move, p), move.T) + q
    seen = pt.dot(pt.dot(see, cov), see.T) + r
    gain = pt.linalg.solve(seen, pt.dot(see, cov)).T
    off = y - pt.dot(see, mean)
    outputs = [mean + pt.dot(gain, off), cov - pt.dot(pt.dot(gain, see), cov)]
    k = n // 2
    values = [np.ones(n), np.eye(n), covariance(n) / 3, np.eye(n) / 9, np.eye(n)[:k],
              np.eye(k), np.ones(k)]  # fmt: skip
    return [state, p, move, q, see, r, y], outputs, values


def batched_solve(lib: Any, pt: Any, n: int) -> Model:
    """64 systems of n equations, and the gradient."""
    a, b = pt.dtensor3("a"), pt.dmatrix("b")
    x = pt.linalg.solve(a, b, b_ndim=1)
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(64, n, n)) + 3 * np.eye(n), rng.normal(size=(64, n))]
    return [a, b], [x, *lib.grad((x**2).sum(), [a, b])], values


def generalised(lib: Any, pt: Any, n: int) -> Model:
    """The eigenvalues and eigenvectors of a pair of matrices."""
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    return [a, b], list(pt.linalg.eigh(a, b)), [covariance(n), covariance(n) + np.eye(n)]


def eliminated(lib: Any, pt: Any, n: int) -> Model:
    """Equations solved by the factors of a matrix."""
    a, b = pt.dmatrix("a"), pt.dvector("b")
    x = pt.linalg.lu_solve(pt.linalg.lu_factor(a), b, b_ndim=1)
    return [a, b], [x], [covariance(n), np.ones(n)]


def pivoted(lib: Any, pt: Any, n: int) -> Model:
    """Q, R and the order of columns."""
    a = pt.dmatrix("a")
    return [a], list(pt.linalg.qr(a, mode="economic", pivoting=True)), [covariance(n)]


def normals(lib: Any, pt: Any, n: int) -> Model:
    """n normal numbers."""
    return [], [pt.random.normal(size=n)], []


def recurrent(lib: Any, pt: Any, n: int) -> Model:
    """A recurrent network with 64 units over n steps, and its gradient."""
    x, w, u, h = pt.dmatrix("x"), pt.dmatrix("w"), pt.dmatrix("u"), pt.dvector("h")
    step = lambda v, h: pt.tanh(pt.dot(h, w) + pt.dot(v, u))
    states = lib.scan(step, x, h, return_updates=False)
    cost = (states**2).sum()
    rng = np.random.default_rng(2)
    values = [rng.normal(size=(n, 64)), *rng.normal(size=(2, 64, 64)) / 10, np.zeros(64)]
    return [x, w, u, h], [cost, *lib.grad(cost, [w, u])], values


MODELS: list[tuple[str, Callable[..., Model], int]] = [
    ("normal log density, n = 5", normal_density, 5),
    ("normal log density, n = 50", normal_density, 50),
    ("normal log density, n = 500", normal_density, 500),
    ("Gaussian process, n = 50", gaussian_process, 50),
    ("Gaussian process, n = 300", gaussian_process, 300),
    ("Kalman step, 4 states", kalman_step, 4),
    ("64 systems of 8 equations", batched_solve, 8),
    ("eigh of two matrices, n = 30", generalised, 30),
    ("lu_solve, n = 30", eliminated, 30),
    ("qr with pivots, n = 30", pivoted, 30),
    ("1,000,000 normal numbers", normals, 1_000_000),
    ("recurrent network, 1,000 steps", recurrent, 1000),
]


def measured(
    name: str, models: list[Any], times: int = 3, turns: int = 11
) -> Iterator[tuple[str, float, float]]:
    """For each model, seconds to build and compile it (the least of some times), and to call it;
    nothing where a peer fails.
    """
    lib, pt = import_module(name), import_module(f"{name}.tensor")
    for title, build, n in models:
        try:
            yield title, *_figures(lib, pt, build, n, times, turns)
        except Exception:
            if name == "rewrite_engine":
                raise


def _figures(
    lib: Any, pt: Any, build: Callable[..., Model], n: int, times: int, turns: int
) -> tuple[float, float]:
    compiling = []
    for _ in range(times):
        start = perf_counter()
        inputs, outputs, values = build(lib, pt, n)
        f = lib.function(inputs, outputs)
        f(*values)  # some compile when they are called first
        compiling.append(perf_counter() - start)
    call = median(lambda: f(*values), turns=turns)
    return min(compiling) - call, call


def figures(name: str, module: str, flags: str = "") -> dict[str, tuple[float, float]]:
    """What one library reports, from a process of its own; nothing if it is not installed. flags:
    PyTensor's. BLAS has one thread, as the time of all threads counts.
    """
    command = [sys.executable, "-W", "ignore", "-m", module, name]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | ({"PYTENSOR_FLAGS": flags} if flags else {})
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        done = error
    lines = [json.loads(line) for line in _text(done.stdout).splitlines() if line.startswith("[")]
    return {title: (compiling, call) for title, compiling, call in lines}


def _text(out: Any) -> str:
    return out.decode() if isinstance(out, bytes) else out or ""


def rows(
    ours: dict[str, Any], peers: dict[str, dict[str, Any]], targets: tuple[tuple[str, float], ...]
) -> Iterator[Row]:
    """Two rows for each model, to compile and to call it. targets: the peers that each is held
    against, and how often it has to fit into their time.
    """
    units = ("compile", "ms", 1e3), ("call", "µs", 1e6)
    for title, mine in ours.items():
        for k, ((what, unit, scale), (peer, times)) in enumerate(zip(units, targets, strict=True)):
            found = {name: figures.get(title) for name, figures in peers.items()}
            texts = [
                (name, "-" if other is None else f"{digits(other[k] * scale)} {unit}")
                for name, other in found.items()
            ]
            other = found[peer]
            met = None if other is None else mine[k] * times <= other[k]
            target = "" if other is None else f"{times:g} × faster" if times > 1 else "no slower"
            yield Row(f"{title}: {what}", f"{digits(mine[k] * scale)} {unit}", target, met,
                      tuple(texts))  # fmt: skip


def main() -> Iterator[Row]:
    ours, theirs = [figures(name, "benchmarks.models") for name in ("rewrite_engine", "pytensor")]
    yield from rows(ours, {"PyTensor": theirs}, (("PyTensor", 1), ("PyTensor", 1)))


if __name__ == "__main__":
    for found in measured(sys.argv[1], MODELS):
        print(json.dumps(found), flush=True)
