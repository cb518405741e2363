"""The record of one form, and the arrays that forms are called with.

A form is a formula as people write it: a function of a namespace and variables. The namespace is
`rewrite_engine.tensor`, `pytensor.tensor`, or that of `exact.py` (numbers with many digits), so
that one text is compiled by two libraries and computed exactly.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = tuple[Any, ...]
Points = tuple[Any, ...]  # an array for each argument, whose elements, or rows, are the points


@dataclass(frozen=True, slots=True)
class Form:
    """A formula as people write it, and as an expert programs it.

    written: a function of the namespace and of variables; a tuple is several results. by_hand: the
    values of `written`, from arrays. inputs: the kind of each argument (a name of `KINDS`).
    assume: what a user declares, as "K positive_definite". points: regimes by name, for forms of
    special functions; they have no `inputs`. is_static: variables have static shapes.
    """

    name: str
    source: str
    written: Callable[..., Any]
    by_hand: Callable[..., Any]
    inputs: str = ""
    assume: str = ""
    is_static: bool = False
    near: Points = ()
    far: Points = ()

    @property
    def arguments(self) -> list[str]:
        """The names of the variables, in order."""
        return list(inspect.signature(self.by_hand).parameters)

    def values(self, n: int, seed: int = 0) -> Values:
        """Return the arguments for n rows."""
        rng = np.random.default_rng(seed)
        return tuple(KINDS[kind](n, rng) for kind in self.inputs.split())

    def regimes(self) -> dict[str, Values]:
        """Return the points of each regime as arguments."""
        named = {"near": self.near, "far": self.far}
        return {
            name: tuple(np.array(a, dtype="float64") for a in points)
            for name, points in named.items()
            if points
        }

    def text(self, by_hand: bool = False) -> str:
        """Return the expression of one of the two functions, as it is written."""
        return expression(self.by_hand if by_hand else self.written)


def expression(function: Callable[..., Any]) -> str:
    """Return what a function returns, as source on one line; statements are joined by `; `."""
    name, at = function.__name__, function.__code__.co_firstlineno
    nodes = [n for n in ast.walk(_module(inspect.getsourcefile(function))) if _is_at(n, name, at)]
    bodies = [n.body if isinstance(n.body, list) else [n.body] for n in nodes]
    wanted = list(inspect.signature(function).parameters)
    texts = [
        "; ".join([ast.unparse(s) for s in body if not _is_docstring(s)])
        for n, body in zip(nodes, bodies, strict=True)
        if [a.arg for a in n.args.args] == wanted
    ]
    return texts[0].removeprefix("return ").replace("; return ", "; ")


def _is_at(node: ast.AST, name: str, line: int) -> bool:
    kind = ast.Lambda if name == "<lambda>" else ast.FunctionDef
    return isinstance(node, kind) and node.lineno == line


_MODULES: dict[str, ast.Module] = {}


def _module(path: str | None) -> ast.Module:
    assert path is not None
    if path not in _MODULES:
        with open(path, encoding="utf-8") as file:
            _MODULES[path] = ast.parse(textwrap.dedent(file.read()))
    return _MODULES[path]


def _is_docstring(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# --- arrays ------------------------------------------------------------------------------------


def columns(n: int) -> int:
    """Return the number of columns of a tall matrix with n rows: few, and at least three."""
    return max(3, n // 10)


def factors(n: int) -> tuple[int, int]:
    """Return two factors of n that are close to each other."""
    small = max(k for k in range(1, int(n**0.5) + 1) if n % k == 0)
    return n // small, small


def spd(n: int, rng: Any) -> Any:
    """Return a covariance: positive definite, of a condition of about five, variances of 0.04."""
    a = rng.normal(size=(n, n))
    return 0.02 * (a @ a.T / n + np.eye(n))


def general(n: int, rng: Any) -> Any:
    """Return a square matrix of moderate condition without structure."""
    return 3 * rng.normal(size=(n, n)) / np.sqrt(n) + 6 * np.eye(n)


def side(n: int) -> int:
    """Return the side of a square matrix with about n elements."""
    return max(4, int(n**0.5))


#: {kind: function of the number of rows and a generator}
KINDS: dict[str, Callable[[int, Any], Any]] = {
    # matrices with n rows, k columns
    "spd": spd,
    "general": general,
    "symmetric": lambda n, rng: (lambda a: (a + a.T) / 2)(rng.normal(size=(n, n))),
    "square": lambda n, rng: rng.normal(size=(n, n)) / np.sqrt(n),
    "tall": lambda n, rng: rng.normal(size=(n, columns(n))),
    "wide": lambda n, rng: rng.normal(size=(columns(n), n)),
    "thin_square": lambda n, rng: rng.normal(size=(columns(n), columns(n))),
    "small_spd": lambda n, rng: spd(columns(n), rng),
    "lower": lambda n, rng: np.linalg.cholesky(spd(n, rng)),
    "half": lambda n, rng: general(n // 2, rng),
    "half_spd": lambda n, rng: spd(n // 2, rng),
    "left_factor": lambda n, rng: spd(factors(n)[0], rng),
    "right_factor": lambda n, rng: spd(factors(n)[1], rng),
    # vectors and scalars
    "vector": lambda n, rng: rng.normal(size=n),
    "positive": lambda n, rng: rng.uniform(0.5, 2.0, size=n),
    "noises": lambda n, rng: rng.uniform(0.02, 0.1, size=n),
    "far_vector": lambda n, rng: 1e5 + rng.normal(size=n),
    "short": lambda n, rng: rng.normal(size=columns(n)),
    "permutation": lambda n, rng: rng.permutation(n),
    "variance": lambda n, rng: np.array(0.7),
    "scalar": lambda n, rng: np.array(1.3),
    "mask": lambda n, rng: rng.random(n) < 0.3,
    "places": lambda n, rng: rng.integers(0, n, size=n),
    "place": lambda n, rng: np.array(n // 3),
    "count": lambda n, rng: np.array(n),
    "counts": lambda n, rng: rng.integers(1, 4, size=n),
    # square matrices with n elements, their rows and places
    "grid": lambda n, rng: rng.normal(size=(side(n), side(n))),
    "edge": lambda n, rng: rng.normal(size=side(n)),
    "labels": lambda n, rng: rng.integers(0, side(n), size=side(n)),
    "label": lambda n, rng: np.array(side(n) // 3),
    # products of n ** 1.5 terms would not fit: sides of a cube with n elements
    "face": lambda n, rng: rng.normal(size=(round(n ** (1 / 3)), round(n ** (1 / 3)))),
    "cloud": lambda n, rng: rng.normal(size=(side(n), 3)),
}
