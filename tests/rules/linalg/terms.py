"""Terms of linear algebra, each with the formula of NumPy and the ops that its rules remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

PLAIN = rw.Mode(linker="py", optimizer=None)
DIGITS = {"float32": 2e-3, "float64": 1e-9, "complex128": 1e-9}


class Term(NamedTuple):
    """A term. write: of variables; wanted: of values; shapes: of the arguments, in letters; gone,
    made: names of ops that the compiled graph does not have, and has; slopes: whether it has
    gradients.
    """

    name: str
    write: Callable[..., Any]
    wanted: Callable[..., Any]
    shapes: Sequence[str]
    gone: str = ""
    made: str = ""
    slopes: bool = True

    def __repr__(self) -> str:
        return self.name

    def values(self, dtype: str, **lengths: int) -> list[Any]:
        """Return arguments of moderate condition."""
        rng = np.random.default_rng(len(self.name) + sum(lengths.values()))
        return [value(rng, [lengths[n] for n in shape], dtype) for shape in self.shapes]


def value(rng: Any, shape: Sequence[int], dtype: str) -> Any:
    """Return numbers; of a square matrix, with a large diagonal."""
    found = rng.normal(size=shape)
    if dtype.startswith("complex"):
        found = found + 1j * rng.normal(size=shape)
    if len(shape) == 1:
        found = found + np.sign(found.real)
    if len(shape) == 2 and shape[0] == shape[1]:
        found = found + (shape[0] + 2) * np.eye(shape[0])
    return found.astype(dtype)


def variables(values: Sequence[Any], is_static: bool) -> list[Any]:
    """Return a variable for each value, with its shape or without."""
    return [
        pt.tensor(name, dtype=x.dtype.name, shape=x.shape if is_static else (None,) * x.ndim)
        for name, x in zip("abcdefgh", values, strict=False)
    ]


def names(f: Any) -> set[str]:
    """Return the names of the ops of a compiled function, also inside branches."""
    return {type(node.op).__name__ for node in f.fgraph.toposort()}


def both(inputs: Sequence[Any], outputs: Any, values: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return results with and without rewriting, and the rewritten function."""
    options = {"on_unused_input": "ignore"}
    f = rw.function(inputs, outputs, **options)
    return f(*values), rw.function(inputs, outputs, mode=PLAIN, **options)(*values), f


def check_value(term: Term, values: Sequence[Any], is_static: bool) -> None:
    """Compare a term with its formula, and with the term as built."""
    inputs = variables(values, is_static)
    found, built, _ = both(inputs, term.write(*inputs), values)
    wanted = np.asarray(term.wanted(*values))
    assert found.dtype == built.dtype
    assert found.shape == built.shape == wanted.shape
    close = {"rtol": DIGITS[values[0].dtype.name], "atol": DIGITS[values[0].dtype.name]}
    np.testing.assert_allclose(found, wanted, **close)
    np.testing.assert_allclose(found, built, **close)


def check_ops(term: Term, values: Sequence[Any], late: Sequence[str] = ()) -> None:
    """Check which ops are left of a term, and which are made. late: ops that would be made at the
    end.
    """
    inputs = variables(values, True)
    left = names(rw.function(inputs, term.write(*inputs), on_unused_input="ignore"))
    assert not left & set(term.gone.split())
    assert set(term.made.split()) <= left
    built = names(rw.function(inputs, term.write(*inputs), mode=PLAIN))
    assert set(term.gone.split()) <= built | set(late)


def check_slopes(term: Term, values: Sequence[Any], is_static: bool) -> None:
    """Compare gradients with those of the term as built, and with differences."""
    inputs = variables(values, is_static)
    weights = np.random.default_rng(5).normal(size=np.shape(term.wanted(*values)))
    cost = (term.write(*inputs) * weights).sum()
    gradients = rw.grad(cost, inputs, disconnected_inputs="ignore")
    found, built, _ = both(inputs, gradients, values)
    for one, other in zip(found, built, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)
    along = [np.random.default_rng(6).normal(size=x.shape) for x in values]
    step = 1e-6
    ends = [
        (term.wanted(*[x + s * d for x, d in zip(values, along, strict=True)]) * weights).sum()
        for s in (step, -step)
    ]
    slope = sum([(g * d).sum() for g, d in zip(found, along, strict=True)])
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-5)
