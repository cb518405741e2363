"""Models of what goes on step by step, written as loops in Python, as people write them: with
functions of steps that are drawn at random. `unrolled.py` compiles them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.formulas import Grower, written

MOST_STEPS = 30
COSTS = ("last", "sum", "density")


@dataclass(frozen=True)
class Model:
    """A step: lines that change the states. params: what the gradient is wanted of, beside the
    first states. density: the logarithm of what `y[t]` is likely to be. last: what may be wanted at
    the end; if nothing is said, a sum of states.
    """

    kind: str
    params: tuple[str, ...]
    states: tuple[str, ...]
    lines: tuple[str, ...]
    density: str
    last: str = ""


@dataclass(frozen=True)
class Recurrence:
    """A model, with the number of steps and what it costs. length: of all parameters and states; 0
    for numbers. known: whether the data are numbers, no input.
    """

    name: str
    model: Model
    steps: int
    cost: str
    length: int
    known: bool
    seed: int

    def of(self, steps: int) -> Recurrence:
        """With another number of steps."""
        return replace(self, steps=steps)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Its parameters and first states."""
        return (*self.model.params, *self.model.states)

    @cached_property
    def source(self) -> str:
        """A function that builds the cost, as Python."""
        model = self.model
        lines = [f"def cost(steps, y, {', '.join(self.inputs)}):"]
        if self.cost != "last":
            lines.append("    total = 0.0")
        lines += ["    for t in range(steps):", *["        " + line for line in model.lines]]
        if self.cost == "sum":
            lines.append(f"        total = total + {model.states[-1]}")
        if self.cost == "density":
            lines.append(f"        total = total + {model.density}")
        result = "total" if self.cost != "last" else model.last or " + 0.5 * ".join(model.states)
        return "\n".join([*lines, f"    return ({result}).sum()"])

    def values(self) -> dict[str, Any]:
        """Values of the inputs; those of `y` are enough for all steps."""
        rng = np.random.default_rng(self.seed)
        shape = (self.length,) if self.length else ()
        values = {n: rng.uniform(-0.7, 0.7, shape).round(3) for n in self.model.params}
        values |= {n: rng.uniform(0.2, 0.8, shape).round(3) for n in self.model.states}
        return values | {"y": rng.uniform(0.1, 0.9, 2 * MOST_STEPS).round(3)}

    def graph(self) -> tuple[list[Any], list[Any]]:
        """The inputs, and the cost with its gradients."""
        space: dict[str, Any] = {"pt": pt}
        exec(self.source, space)
        shape = (self.length,) if self.length else ()
        wrt = [pt.tensor(n, dtype="float64", shape=shape) for n in self.inputs]
        y = pt.tensor("y", dtype="float64", shape=(None,))
        cost = space["cost"](self.steps, self.values()["y"].tolist() if self.known else y, *wrt)
        grads = rw.grad(cost, wrt, disconnected_inputs="ignore")
        return [y, *wrt], [cost, *grads]

    def arguments(self) -> list[np.ndarray]:
        """The values of its inputs."""
        values = self.values()
        return [np.asarray(values[n]) for n in ("y", *self.inputs)]

    def snippet(self, comment: str) -> str:
        """A program that shows it."""
        values, shape = self.values(), f"({self.length},)" if self.length else "()"
        y = "list(data)" if self.known else "y"
        names = ", ".join(self.inputs)
        first = ["import numpy as np", "import rewrite_engine as rw"]
        first += ["import rewrite_engine.tensor as pt", *[f"# {c}" for c in comment.splitlines()]]
        first += [self.source, "y = pt.tensor('y', dtype='float64', shape=(None,))"]
        for n in self.inputs:
            first.append(f"{n} = pt.tensor({n!r}, dtype='float64', shape={shape})")
        given = ", ".join([f"np.array({values[n].tolist()})" for n in self.inputs])
        return "\n".join([
            *first,
            f"data = np.array({values['y'][: self.steps].tolist()})",
            f"c = cost({self.steps}, {y}, {names})",
            f"wrt = [{names}]",
            "grads = rw.grad(c, wrt, disconnected_inputs='ignore')",
            "f = rw.function([y, *wrt], [c, *grads], on_unused_input='ignore')",
            f"print(f(data, {given}))",
        ])  # fmt: skip


# --- parts of steps -------------------------------------------------------------------------------


def positive(rng: Random, x: str) -> str:
    """Something above 0."""
    return rng.choice(
        (f"pt.exp({x})", f"pt.exp({x})", f"pt.softplus({x})", f"(pt.sqr({x}) + 0.1)",
         f"pt.log(1 + pt.exp({x}))", f"(0.5 / (1 + pt.exp(-{x})))", f"pt.sigmoid({x})")
    )  # fmt: skip


def unit(rng: Random, x: str) -> str:
    """Something between 0 and 1."""
    return rng.choice(
        (f"pt.sigmoid({x})", f"pt.sigmoid({x})", f"(1 / (1 + pt.exp(-{x})))",
         f"pt.exp(-pt.exp({x}))", f"(1 - pt.exp(-pt.exp({x})))", f"(0.5 * pt.tanh({x}) + 0.5)")
    )  # fmt: skip


def anything(rng: Random, names: str, depth: int = 2) -> str:
    """A small formula of some names."""
    grower = Grower(rng, names.split(), [])
    grower.family = ("exp", "log1p", "sigmoid", "tanh", "sqr", "neg", "softplus")
    grower.odds = [3, 1, 3, 3, 2, 2, 1]
    return written(grower.term(depth))


def likely(rng: Random, mean: str) -> str:
    """The logarithm of a density of `y[t]`, about a mean that is above 0."""
    scale = rng.choice(("0.5", "pt.exp(s)", "pt.softplus(s)"))
    return rng.choice(
        (f"(-0.5 * pt.sqr((y[t] - {mean}) / {scale}) - pt.log({scale}))",
         f"(-0.5 * pt.sqr(y[t] - {mean}) / {scale} - 0.5 * pt.log({scale}))",
         f"(y[t] * pt.log({mean}) - {mean})",
         f"-pt.sqr(y[t] - {mean})",
         f"-(pt.exp(s) * (y[t] - {mean}) ** 2)")
    )  # fmt: skip


def epidemic(rng: Random) -> Model:
    """Who can be infected, and who is."""
    lines = [f"d = {positive(rng, 'b')} * S * I"]
    if rng.random() < 0.5:
        lines += [f"r = {unit(rng, 'g')} * I", "S, I = S - d, I + d - r"]
    else:
        lines += ["S, I = S - d, I + d"]
    return Model("epidemic", ("b", "g", "s"), ("S", "I"), tuple(lines), likely(rng, "I"))


def growth(rng: Random) -> Model:
    """How many there are, where there is not room for more."""
    r, k = positive(rng, "r"), positive(rng, "k")
    line = rng.choice(
        (f"x = x + {r} * x * (1 - x / {k})", f"x = x * pt.exp({r} * (1 - x / {k}))",
         f"x = {r} * x / (1 + x / {k})", f"x = x * pt.exp(-{r} * pt.log(x / {k}))",
         f"x = x + 0.1 * {r} * x - 0.1 * pt.sqr(x) / {k}")
    )  # fmt: skip
    return Model("growth", ("r", "k", "s"), ("x",), (line,), likely(rng, "x"))


def runge_kutta(rng: Random) -> Model:
    """A differential equation."""
    slope = rng.choice(
        (f"-{positive(rng, 'a')} * x", f"{positive(rng, 'a')} * x * (1 - x)",
         f"{unit(rng, 'a')} - x / (b * b + x + 1)", "a - pt.exp(b) * pt.sqr(x)",
         anything(rng, "x a b"))
    )  # fmt: skip
    lines = [f"f = lambda x: {slope}", "k1 = f(x)"]
    if rng.random() < 0.5:
        lines += ["x = x + 0.1 * f(x + 0.05 * k1)"]
    else:
        lines += ["k2 = f(x + 0.05 * k1)", "k3 = f(x + 0.05 * k2)", "k4 = f(x + 0.1 * k3)"]
        lines += ["x = x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)"]
    return Model("differential equation", ("a", "b", "s"), ("x",), tuple(lines), likely(rng, "x"))


def kalman(rng: Random) -> Model:
    """What is known of something that moves at random."""
    lines = (
        f"m, P = a * m, a * a * P + {positive(rng, 'q')}",
        f"v = P + {positive(rng, 'r')}",
        "e = y[t] - m",
        "m, P = m + P / v * e, " + rng.choice(("(1 - P / v) * P", "P - P * P / v")),
    )
    density = rng.choice(("(-0.5 * (pt.log(v) + e * e / v))", "-0.5 * (pt.log(v) + pt.sqr(e) / v)"))
    return Model("Kalman filter", ("a", "q", "r"), ("m", "P"), lines, density)


def volatility(rng: Random) -> Model:
    """How wide what comes is spread (GARCH)."""
    h = f"h = {positive(rng, 'w')} + {unit(rng, 'a')} * e * e + {unit(rng, 'b')} * h"
    if rng.random() < 0.3:
        h = f"h = pt.exp(w + {unit(rng, 'b')} * pt.log(h) + a * e)"
    density = rng.choice(("(-0.5 * (pt.log(h) + pt.sqr(e) / h))",
                          "(-0.5 * pt.log(h) - 0.5 * (e / pt.sqrt(h)) ** 2)"))  # fmt: skip
    return Model("volatility", ("w", "a", "b", "m"), ("h",), ("e = y[t] - m", h), density)


def hidden(rng: Random) -> Model:
    """A hidden state that is one of two: forwards, with logarithms or with what they are of."""
    p, q = unit(rng, "p"), unit(rng, "q")
    seen = ["-0.5 * pt.sqr(y[t] - m)", "-0.5 * pt.sqr(y[t] + m)"]
    if rng.random() < 0.5:
        logs = (
            f"u = pt.log(pt.exp(A) * {p} + pt.exp(B) * (1 - {q}))",
            f"v = pt.log(pt.exp(A) * (1 - {p}) + pt.exp(B) * {q})",
        )
        if rng.random() < 0.5:
            logs = (
                f"u = pt.log(pt.exp(A + pt.log({p})) + pt.exp(B + pt.log(1 - {q})))",
                f"v = pt.log(pt.exp(A + pt.log(1 - {p})) + pt.exp(B + pt.log({q})))",
            )
        lines = (*logs, f"A, B = u + {seen[0]}, v + {seen[1]}")
        both = "pt.log(pt.exp(A) + pt.exp(B))"
        return Model("hidden state", ("p", "q", "m"), ("A", "B"), lines, both, both)
    lines = (
        f"u, v = A * {p} + B * (1 - {q}), A * (1 - {p}) + B * {q}",
        f"u, v = u * pt.exp({seen[0]}), v * pt.exp({seen[1]})",
        "A, B = u / (u + v), v / (u + v)",
    )
    return Model("hidden state", ("p", "q", "m"), ("A", "B"), lines, "pt.log(u + v)")


def knowledge(rng: Random) -> Model:
    """Whether something has been learnt."""
    lines = (
        f"slip, luck = {unit(rng, 'a')}, {unit(rng, 'b')}",
        "c = K * (1 - slip) + (1 - K) * luck",
        "K = y[t] * K * (1 - slip) / c + (1 - y[t]) * K * slip / (1 - c)",
        f"K = K + (1 - K) * {unit(rng, 'g')}",
    )
    density = "(y[t] * pt.log(c) + (1 - y[t]) * pt.log(1 - c))"
    return Model("knowledge", ("a", "b", "g"), ("K",), lines, density)


def regression(rng: Random) -> Model:
    """What comes depends on what came before."""
    mean = rng.choice(("a * x + b * z", "a * x", f"pt.tanh({anything(rng, 'a x b z', 1)})"))
    scale = rng.choice(("pt.exp(s)", "pt.softplus(s + a * x)", "pt.exp(s + b * x)"))
    lines = (f"m, v = {mean}, {scale}", "x, z = y[t] + 0.1 * m, x")
    density = rng.choice(("(-0.5 * pt.sqr((y[t] - m) / v) - pt.log(v))",
                          "pt.log(pt.exp(-0.5 * ((y[t] - m) / v) ** 2) / v)"))  # fmt: skip
    return Model("regression", ("a", "b", "s"), ("x", "z"), lines, density)


def network(rng: Random) -> Model:
    """A network that has a memory."""
    new = f"{rng.choice(('pt.tanh', 'pt.sigmoid', 'pt.softplus'))}(w * h + u * y[t] + b)"
    line = rng.choice((f"h = {new}", f"h = g * h + (1 - g) * {new}", f"h = h + 0.5 * {new}"))
    lines = (f"g = {unit(rng, 'c + d * h')}", line)
    density = rng.choice((likely(rng, "(h * h + 0.1)"),
                          "(y[t] * pt.log(pt.sigmoid(h)) + (1 - y[t]) * pt.log(1 - pt.sigmoid(h)))",
                          "-pt.softplus(-h * (y[t] - 0.5))"))  # fmt: skip
    return Model("network", ("w", "u", "b", "c", "d", "s"), ("h",), lines, density)


def random_step(rng: Random) -> Model:
    """Formulas at random, of one or two states."""
    if rng.random() < 0.5:
        line = rng.choice(("x = x + 0.1 * {}", "x = pt.tanh({})", "x = {}", "x = x * pt.exp(-{})"))
        lines = (line.format(anything(rng, "x a b")),)
        return Model("random", ("a", "b", "s"), ("x",), lines, likely(rng, "(x * x + 0.1)"))
    both = (f"d = 0.2 * {anything(rng, 'x z a b')}", "x, z = x - d, z + d")
    return Model("random", ("a", "b", "s"), ("x", "z"), both, likely(rng, "(pt.exp(z))"))


MODELS: tuple[Callable[[Random], Model], ...] = (
    epidemic, growth, runge_kutta, kalman, volatility, hidden, knowledge, regression, network,
    random_step,
)  # fmt: skip


def random_recurrence(seed: int, number: int) -> Recurrence:
    """The recurrence of a number."""
    name = f"unrolled:{seed}:{number}"
    rng = Random(name)
    model = MODELS[number % len(MODELS)](rng)
    steps = rng.choice((2, 3, 4, 5, 6, 8, 8, 10, 12, 15, 20, 25, MOST_STEPS))
    length = 2 if rng.random() < 0.2 else 0
    return Recurrence(
        name, model, steps, rng.choice(COSTS), length, rng.random() < 0.3, rng.randrange(10**6)
    )
