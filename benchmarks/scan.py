"""Loops, compiled and called, beside PyTensor where that is installed (`pip install pytensor`): as
it runs by default (Numba), with its Cython loop around C code, and around Python code.

Each is built by the same text with both. `python -m benchmarks.scan NAME` measures with one library
alone. Compiling is measured once, with empty caches, after a small loop has warmed up the process
and SciPy is loaded (which PyTensor does when it is imported, and the library when it is needed).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special  # noqa: F401

from benchmarks.measure import Row
from benchmarks.models import Model, covariance, figures, measured, recurrent, rows


def running_sum(lib: Any, pt: Any, n: int) -> Model:
    """The sums of a vector's first elements."""
    x, start = pt.dvector("x"), pt.constant(np.float64(0))
    sums = lib.scan(lambda v, total: total + v, x, start, return_updates=False)
    return [x], [sums], [np.random.default_rng(0).normal(size=n)]


def warm_up(lib: Any, pt: Any, n: int) -> Model:
    """A small loop with its gradient, not measured."""
    x = pt.dscalar("x")
    last = lib.scan(lambda v, x: v * x + n, None, x, x, n_steps=3, return_updates=False)[-1]
    return [x], [last, lib.grad(last, x)], [np.array(1.0)]


def power(lib: Any, pt: Any, n: int) -> Model:
    """A vector to the power of n, by products."""
    a, steps = pt.dvector("a"), pt.lscalar("steps")
    powers = lib.scan(
        lambda p, a: p * a,
        None,
        pt.ones_like(a),
        a,
        n_steps=steps,
        return_updates=False,
    )
    return [a, steps], [powers[-1]], [np.linspace(0.9, 1.1, 10), np.array(n)]


def lotka_volterra(lib: Any, pt: Any, n: int) -> Model:
    """Euler steps of prey and predators, and the gradient of where they end."""
    rates, start, steps = pt.dvector("rates"), pt.dvector("start"), pt.lscalar("steps")
    a, b, c, d = [rates[i] for i in range(4)]

    def step(x: Any, y: Any) -> list[Any]:
        return [x + 0.01 * (a * x - b * x * y), y + 0.01 * (c * x * y - d * y)]

    x, y = lib.scan(step, None, [start[0], start[1]], n_steps=steps, return_updates=False)
    cost = x[-1] ** 2 + y[-1] ** 2
    values = [np.array([1.0, 0.1, 0.1, 1.5]), np.array([10.0, 5.0]), np.array(n)]
    return [rates, start, steps], [cost, *lib.grad(cost, [rates, start])], values


def kalman_filter(lib: Any, pt: Any, n: int) -> Model:
    """The log density of n observations of two of four states."""
    y, move, q = pt.dmatrix("y"), pt.dmatrix("move"), pt.dmatrix("q")
    see, r = pt.dmatrix("see"), pt.dmatrix("r")

    def step(y: Any, state: Any, p: Any) -> list[Any]:
        mean, cov = pt.dot(move, state), pt.dot(pt.dot(move, p), move.T) + q
        seen = pt.dot(pt.dot(see, cov), see.T) + r
        gain = pt.linalg.solve(seen, pt.dot(see, cov)).T
        off = y - pt.dot(see, mean)
        density = pt.log(pt.linalg.det(seen)) + (off * pt.linalg.solve(seen, off)).sum()
        return [mean + pt.dot(gain, off), cov - pt.dot(pt.dot(gain, see), cov), density]

    start = [pt.constant(np.ones(4)), pt.constant(np.eye(4)), None]
    densities = lib.scan(step, y, start, return_updates=False)[2]
    values = [np.random.default_rng(0).normal(size=(n, 2)), covariance(4) / 3, np.eye(4) / 9,
              np.eye(4)[:2], np.eye(2)]  # fmt: skip
    return [y, move, q, see, r], [-0.5 * densities.sum()], values


def epidemic(lib: Any, pt: Any, n: int) -> Model:
    """The log density of n days of an epidemic: susceptible, exposed and infectious people, of whom
    binomial numbers move on (PyTensor's own benchmark).
    """
    ill, well = pt.vector("ill", dtype="int32"), pt.vector("well", dtype="int32")
    first = [pt.dscalar(name) for name in ("susceptible", "exposed", "infectious")]
    beta, gamma, delta = [pt.dscalar(name) for name in ("beta", "gamma", "delta")]

    def density(n: Any, p: Any, k: Any) -> Any:
        ways = pt.gammaln(n + 1) - pt.gammaln(k + 1) - pt.gammaln(n - k + 1)
        return ways + k * pt.log(p) + (n - k) * pt.log(1 - p)

    def step(c: Any, d: Any, s: Any, e: Any, i: Any) -> list[Any]:
        b = s * beta
        return [s - b, e + b - c, i + c - d, density(e, gamma, c), density(i, delta, d)]

    *_, p, q = lib.scan(step, [ill, well], [*first, None, None], return_updates=False)
    counts = np.array([[3, 5, 8, 13, 21, 26, 10, 3], [1, 2, 3, 7, 9, 11, 5, 1]], "int32")
    values = [*np.tile(counts, n // 8), *np.array([100.0, 50.0, 25.0, 0.278, 0.135, 0.109])]
    return [ill, well, *first, beta, gamma, delta], [p.sum() + q.sum()], values


LOOPS: list[Any] = [
    ("10 numbers to the power of 1,000", power, 1000),
    ("recurrent network, 1,000 steps, with gradient", recurrent, 1000),
    ("Lotka-Volterra, 1,000 steps, with gradient", lotka_volterra, 1000),
    ("Kalman filter, 4 states, 1,000 steps", kalman_filter, 1000),
    ("epidemic, 1,200 steps", epidemic, 1200),
    ("sums of 1,000,000 numbers", running_sum, 1_000_000),
]
PEERS = {"PyTensor": "", "PyTensor, C": "mode=CVM", "PyTensor, Python": "linker=py"}


def main() -> Iterator[Row]:
    module = "benchmarks.scan"
    peers = {}
    for name, flags in PEERS.items():
        with tempfile.TemporaryDirectory() as cache:
            peers[name] = figures("pytensor", module, f"base_compiledir={cache},{flags}".strip(","))
    ours = figures("rewrite_engine", module)
    yield from rows(ours, peers, (("PyTensor, C", 25), ("PyTensor, Python", 1)))


if __name__ == "__main__":
    list(measured(sys.argv[1], [("warm up", warm_up, 1)], times=1, turns=1))
    for found in measured(sys.argv[1], LOOPS, times=1, turns=5):
        print(json.dumps(found), flush=True)
