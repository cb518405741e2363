"""Functions as machine code (`Mode(linker="native")`): microseconds a call and milliseconds to
compile with the first call, beside the VM and, where PyTensor is installed, its Numba and C.

Every candidate has the same arrays; PyTensor's are trusted. Small arrays, on which the calls of a
node count, then large ones, on which loops do. `python -m benchmarks native`; with llvmlite only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import graphs
from benchmarks.measure import Row, digits, medians

TURNS = 41
THREAD_TURNS = 25  # calls with one thread, and with two
Candidate = tuple[Any, Any, Callable[..., Any]]  # its pt, its grad, and what compiles


def exponential(pt: Any, grad: Any, n: int) -> Any:
    """exp of a vector."""
    x = pt.dvector("x")
    return [x], [pt.exp(x)]


def rows(pt: Any, grad: Any, n: int) -> Any:
    """Row sums, and the sum of exponentials of each row."""
    x = pt.dmatrix("x")
    return [x], [x.sum(axis=1), pt.log(pt.exp(x).sum(axis=1))]


def mixture(pt: Any, grad: Any, n: int) -> Any:
    """The log density of a mixture of n normals, with its gradient."""
    x, w, mu, log_sd = [pt.dvector(name) for name in ("x", "w", "mu", "log_sd")]
    p, sd = pt.exp(w) / pt.exp(w).sum(), pt.exp(log_sd)
    each = p[None, :] * pt.exp(-0.5 * ((x[:, None] - mu[None, :]) / sd[None, :]) ** 2) / sd
    loss = pt.log(each.sum(axis=1)).sum()
    return [x, w, mu, log_sd], [loss, *grad(loss, [w, mu, log_sd])]


def attention(pt: Any, grad: Any, n: int) -> Any:
    """n layers that weigh rows by a softmax of their products, and a gradient."""
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    out = x
    for _ in range(n):
        scores = pt.dot(pt.dot(out, w), out.T)
        out = pt.dot(pt.special.softmax(scores, axis=1), out)
    return [x, w], [out, grad((out**2).sum(), w)]


def process(pt: Any, grad: Any, n: int) -> Any:
    """The log density of a Gaussian process at n points, with its gradient."""
    scale, noise, y = pt.dscalar("scale"), pt.dscalar("noise"), pt.dvector("y")
    at = np.linspace(0, 5, n)
    apart = (at[:, None] - at[None, :]) ** 2
    covariance = pt.exp(scale - 0.5 * apart) + pt.exp(noise) * np.eye(n)
    low = pt.linalg.cholesky(covariance)
    white = pt.linalg.solve_triangular(low, y, lower=True)
    density = -0.5 * (white**2).sum() - pt.log(pt.diag(low)).sum()
    return [scale, noise, y], [density, *grad(density, [scale, noise])]


#: (name, graph, its size, shapes of the arguments)
CASES: list[tuple[str, Any, int, Callable[[int], Any]]] = [
    ("exp, 10", exponential, 1, lambda i: (10,)),
    ("large(25)", graphs.large_fuseable, 25, lambda i: [(), (25,)][i]),
    ("large(100)", graphs.large_fuseable, 100, lambda i: [(), (100,)][i]),
    ("deep(20), 4 × 4", graphs.deep, 20, lambda i: (4, 4)),
    ("chain(100), 1,000", graphs.chain, 100, lambda i: (1000,)),
    ("mlp(8), 64 × 32", graphs.mlp, 8, lambda i: (64, 32) if i < 2 else [(32, 32), (32,)][i % 2]),
    ("product(10), 100", graphs.product, 10, lambda i: (100,)),
    ("scalars(30)", graphs.scalars, 30, lambda i: ()),
    ("radon(85)", graphs.radon, 85, lambda i: (173,)),
    ("mixture(4), 100", mixture, 4, lambda i: (4 if i else 100,)),
    ("attention(2), 64 × 32", attention, 2, lambda i: [(64, 32), (32, 32)][i]),
    ("process, 50", process, 50, lambda i: [(), (), (50,)][i]),
    ("deep(20), 1,000 × 1,000", graphs.deep, 20, lambda i: (1000, 1000)),
    ("chain(10), 1,000,000", graphs.chain, 10, lambda i: (1_000_000,)),
    ("rows, 1,000 × 1,000", rows, 1, lambda i: (1000, 1000)),
]


def candidates() -> dict[str, Candidate]:
    """What is compared, by name."""
    found: dict[str, Candidate] = {}
    for name in ("native", "vm"):
        mode = rw.Mode(linker=name)
        found[name] = pt, rw.grad, lambda i, o, mode=mode: rw.function(i, o, mode=mode)
    if find_spec("pytensor") is not None:
        import pytensor
        import pytensor.tensor as theirs

        for name in ("NUMBA", "C") if find_spec("numba") else ("C",):
            compile_ = lambda i, o, mode=name: pytensor.function(i, o, mode=mode, trust_input=True)
            found[f"PyTensor {name}"] = theirs, pytensor.grad, compile_
    return found


def measure(graph: Any, n: int, shape: Callable[[int], Any]) -> dict[str, tuple[float, float]]:
    """(µs a call, ms to compile with the first call) of each candidate that can do it."""
    work: dict[str, Callable[[], Any]] = {}
    compile_: dict[str, float] = {}
    rng = np.random.default_rng(0)
    values: list[Any] = []
    for name, (lib, grad, function) in candidates().items():
        inputs, outputs = graph(lib, grad, n)
        values = values or [np.asarray(0.3 * rng.normal(size=shape(i))) for i in range(len(inputs))]
        start = perf_counter()
        try:
            f = function(inputs, outputs)
            f(*values)
        except Exception as error:
            print(f"{name} fails: {type(error).__name__}")
            continue
        compile_[name] = (perf_counter() - start) * 1e3
        work[name] = lambda f=f, values=values: f(*values)
    found = medians(work, turns=TURNS)
    return {name: (found[name] * 1e6, compile_[name]) for name in work}


def softmax(pt: Any, grad: Any, n: int) -> Any:
    """Softmax of a vector."""
    x = pt.dvector("x")
    return [x], [pt.special.softmax(x, axis=0)]


def on_two_cores() -> Iterator[Row]:
    """How much faster two threads are than one."""
    large = [case for case in CASES if case[0].startswith(("chain(10)", "rows"))]
    large.append(("softmax, 1,000,000", softmax, 1, lambda i: (1_000_000,)))
    for name, graph, n, shape in large:
        inputs, outputs = graph(pt, rw.grad, n)
        f = rw.function(inputs, outputs, mode=rw.Mode("native", wait=True))
        values = [np.random.default_rng(0).normal(size=shape(i)) for i in range(len(inputs))]

        def call(threads: int, f: Any = f, values: Any = values) -> None:
            rw.config.threads = threads
            f(*values)

        seconds: dict[int, list[float]] = {1: [], 2: []}
        with rw.config.change_flags(threads=1):
            for turn in range(2 * THREAD_TURNS):  # (the clock of `medians` counts both threads)
                start = perf_counter()
                call(1 + turn % 2)
                seconds[1 + turn % 2].append(perf_counter() - start)
        ratio = median(seconds[1]) / median(seconds[2])
        yield Row(f"{name}, two threads", f"{digits(ratio)} × one", "≥ 1.7 ×", ratio >= 1.7)


def text(figures: tuple[float, float]) -> str:
    return f"{digits(figures[0])} µs, {digits(figures[1])} ms"


def main() -> Iterator[Row]:
    if find_spec("llvmlite") is None:
        yield Row("native code", "llvmlite is not installed")
        return
    rw.function(*exponential(pt, rw.grad, 1), mode="native")  # what the first function pays
    for name, graph, n, shape in CASES:
        found = measure(graph, n, shape)
        native = found.pop("native")
        best = min(us for us, _ in found.values())
        peers = tuple([(peer, text(figures)) for peer, figures in found.items()])
        yield Row(name, text(native), f"< {digits(best)} µs", native[0] < best, peers)
    yield from on_two_cores()
