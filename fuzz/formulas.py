"""Formulas as people write them, as small trees of our own: grown at random, written as Python, and
built as tensors. What they mean is in `bounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt

Given = dict[str, Any]  # name of an input -> a float, or a list of them

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
#: functions of one argument, with how often they are drawn
WEIGHTS = {
    "exp": 14, "log": 9, "log1p": 5, "expm1": 5, "sigmoid": 9, "tanh": 5, "erf": 4, "erfc": 4,
    "softplus": 4, "sqrt": 4, "sqr": 5, "abs": 3, "cosh": 2, "sinh": 2, "reciprocal": 3, "neg": 6,
}  # fmt: skip
#: functions that stand together in a formula, with how often; () for all
FAMILIES: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), 8), (("exp",), 4), (("exp", "log"), 4), (("exp", "neg", "log1p", "expm1"), 3),
    (("sigmoid", "log"), 2), (("sigmoid", "softplus", "exp"), 2), (("erfc", "exp", "log"), 2),
    (("erf", "erfc", "log", "neg"), 2), (("tanh", "sqr", "exp"), 1), (("sqrt", "sqr", "log"), 1),
    (("cosh", "sinh", "exp", "log"), 1), (("softplus", "expm1", "log", "neg"), 1),
)  # fmt: skip
NUMBERS = (0.5, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0)
POWERS = (2, 2, 3, 4, -1, -2)
SPECIAL = (0.0, 1.0, -1.0)  # inputs that are drawn now and then


@dataclass(frozen=True, slots=True)
class Term:
    """A node of a formula. op: "input" (value: its name), "number", "power" (value: the exponent),
    "sum" (over the axis), one of `INFIX`, or one of `FUNCTIONS`.
    """

    op: str
    args: tuple[Term, ...] = ()
    value: Any = None

    def __str__(self) -> str:
        return written(self)


def nodes_of(term: Term) -> Iterator[Term]:
    """All nodes, the term itself last."""
    for arg in term.args:
        yield from nodes_of(arg)
    yield term


def names_in(term: Term) -> list[str]:
    """The inputs that occur, by name."""
    return sorted({node.value for node in nodes_of(term) if node.op == "input"})


def written(term: Term) -> str:
    """A term as Python."""
    args = [written(arg) for arg in term.args]
    if term.op == "input":
        return str(term.value)
    if term.op == "number":
        return repr(term.value)
    if term.op == "power":
        return f"({args[0]} ** {term.value})"
    if term.op == "sum":
        return f"({args[0]}).sum()"
    if term.op == "neg":
        return f"(-{args[0]})"
    if term.op in INFIX:
        return f"({args[0]} {INFIX[term.op]} {args[1]})"
    return f"abs({args[0]})" if term.op == "abs" else f"pt.{term.op}({args[0]})"


#: how a node is built, where it is no function of `pt` by its name
BUILT: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "abs": abs,
    "sum": lambda x: x.sum(),
}


def built(term: Term, inputs: Mapping[str, Any]) -> Any:
    """A term as a tensor. inputs: the variable of each input. Only leaves may be numbers."""
    if term.op == "input":
        return inputs[term.value]
    if term.op == "number":
        return term.value
    args = [built(arg, inputs) for arg in term.args]
    if term.op == "power":
        return args[0] ** term.value
    return (BUILT.get(term.op) or getattr(pt, term.op))(*args)


@dataclass(frozen=True)
class Formula:
    """A formula, and points to try it at."""

    term: Term
    dtype: str
    points: tuple[Given, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """Its inputs."""
        return names_in(self.term)

    def variables(self) -> dict[str, Any]:
        """New variables for its inputs."""
        point = self.points[0]
        shapes: dict[str, Any] = {
            n: (None,) if isinstance(point[n], list) else () for n in self.names
        }
        return {n: pt.tensor(n, dtype=self.dtype, shape=shape) for n, shape in shapes.items()}

    def arrays(self, point: Given) -> list[np.ndarray]:
        """The values of its inputs."""
        return [np.array(point[n], self.dtype) for n in self.names]

    def at(self, point: Given) -> Formula:
        """With a single point, and only the inputs that are needed."""
        return replace(self, points=({n: point[n] for n in self.names},))


# --- at random ------------------------------------------------------------------------------------


class Grower:
    """Grows terms over some inputs. vectors: the names of those that are vectors."""

    def __init__(self, rng: Random, names: list[str], vectors: list[str]) -> None:
        self.rng, self.names, self.vectors = rng, names, vectors
        self.made: list[Term] = []  # to be used again
        families, odds = zip(*FAMILIES, strict=True)
        self.family = rng.choices(families, odds)[0] or tuple(WEIGHTS)
        self.odds = [WEIGHTS[name] for name in self.family]

    def leaf(self) -> Term:
        """An input, or now and then a number."""
        if self.rng.random() < 0.2:
            return Term("number", value=self.rng.choice(NUMBERS))
        return self.input()

    def input(self) -> Term:
        """An input."""
        return Term("input", value=self.rng.choice(self.names))

    def term(self, depth: int) -> Term:
        """A term that is so deep at most."""
        if depth <= 0:
            return self.leaf()
        if self.made and self.rng.random() < 0.12:
            return self.rng.choice(self.made)
        grow = self.rng.choices((self.function, self.binary, self.power, self.sums), (9, 10, 1, 1))
        made = grow[0](depth)
        self.made.append(made)
        return made

    def function(self, depth: int) -> Term:
        """A function of a term; not of a number."""
        arg = self.term(depth - 1)
        while not names_in(arg):
            arg = self.input()
        return Term(self.rng.choices(self.family, self.odds)[0], (arg,))

    def binary(self, depth: int) -> Term:
        """Two terms, one of which may be less deep; not two numbers."""
        depths = [depth - 1, self.rng.randrange(depth)]
        self.rng.shuffle(depths)
        left, right = (self.term(d) for d in depths)
        if not names_in(left) and not names_in(right):
            left = self.input()
        op = self.rng.choices(("add", "sub", "mul", "div"), (3, 3, 3, 4))[0]
        return Term(op, (left, right))

    def power(self, depth: int) -> Term:
        """A power by a whole number."""
        arg = self.term(depth - 1)
        arg = arg if names_in(arg) else self.input()
        return Term("power", (arg,), self.rng.choice(POWERS))

    def sums(self, depth: int) -> Term:
        """Something with a sum over the axis: a softmax by hand, a weighted sum, the logarithm of a
        sum, or one below a bar.
        """
        x = self.term(depth - 2)
        if not self.vectors:
            return Term("exp", (x,)) if names_in(x) else self.input()
        if not set(names_in(x)) & set(self.vectors):
            x = Term("input", value=self.rng.choice(self.vectors))
        positive = Term(self.rng.choice(("exp", "exp", "sigmoid", "softplus", "sqr")), (x,))
        total = Term("sum", (positive,))
        which = self.rng.randrange(5)
        if which == 0:
            return Term("div", (positive, total))
        if which == 1:
            return Term("log", (total,))
        if which == 2:
            return Term("sum", (Term("mul", (self.term(depth - 2), x)),))
        if which == 3:
            return Term("div", (self.term(depth - 2), total))
        return total


def random_formula(rng: Random) -> Formula:
    """A formula of the depth 2 to 5, without points."""
    while True:
        names = list("abc"[: rng.choice((2, 2, 3))])
        vectors = [n for n in names if rng.random() < 0.5] if rng.random() < 0.6 else []
        dtype = "float32" if rng.random() < 0.07 else "float64"
        term = Grower(rng, names, vectors).term(rng.choices((2, 3, 4, 5), (2, 4, 4, 3))[0])
        if term.args and names_in(term) and len(list(nodes_of(term))) <= 40:
            return Formula(term, dtype, ({n: [] if n in vectors else 0.0 for n in names},))


def random_point(rng: Random, formula: Formula) -> Given:
    """Values for the inputs, in [-3, 3], vectors of two or three."""
    length = rng.choice((2, 2, 3))
    point: Given = {}
    for name in formula.names:
        is_vector = isinstance(formula.points[0][name], list)
        values = [_number(rng, formula.dtype) for _ in range(length if is_vector else 1)]
        if rng.random() < 0.06:
            values = [values[0]] * len(values)
        if point and rng.random() < 0.06:  # equal to another input
            other = next(iter(point.values()))
            values = [other[0] if isinstance(other, list) else other] * len(values)
        point[name] = values if is_vector else values[0]
    return point


def _number(rng: Random, dtype: str) -> float:
    if rng.random() < 0.08:
        return rng.choice(SPECIAL)
    return float(np.dtype(dtype).type(rng.uniform(-3, 3)))
