"""The pool that graphs are grown in: terms with their values, and ways to choose among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from fuzz.arrays import MOODS, array, laid_out, number
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.noise import Values
from rewrite_engine.judge.values import extend

LARGEST = 600  # elements of a term


class Skip(Exception):
    """This step is not possible here."""


class Crash(Exception):
    """Building a term raised what is no error of ours."""


class Pool:
    """Terms that exist already.

    dtypes: those of leaves. mood: that of their values; moods: those that some leaves have instead.
    sizes: the lengths of dimensions. wrong: whether terms may be built
    that fail when they run; `failed` tells whether one was.
    """

    def __init__(
        self,
        rng: Random,
        dtypes: list[str],
        mood: str,
        sizes: tuple[int, ...],
        wrong: bool = False,
        moods: tuple[str, ...] = MOODS,
    ) -> None:
        self.moods = moods
        self.rng, self.dtypes, self.mood, self.sizes = rng, dtypes, mood, sizes
        self.wrong, self.failed = wrong, False
        self.terms: list[Any] = []
        self.values: Values = {}
        self.given: dict[Any, np.ndarray] = {}
        self.crash: str | None = None

    # --- leaves ----------------------------------------------------------------------------------

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        """The shape of a leaf; shapes fit each other more often than not."""
        rng = self.rng
        if ndim is None:
            ndim = rng.choices((0, 1, 2, 3), (0.25, 0.35, 0.34, 0.06))[0]
        full = self.sizes[len(self.sizes) - ndim :]
        return tuple([1 if rng.random() < 0.12 else n for n in full])

    def leaf(
        self,
        dtype: str | None = None,
        shape: tuple[int, ...] | None = None,
        mood: str | None = None,
    ) -> Any:
        """A new input."""
        rng = self.rng
        dtype = dtype or rng.choice(self.dtypes)
        shape = self.shape() if shape is None else shape
        known = tuple([n if rng.random() < (0.75 if n == 1 else 0.3) else None for n in shape])
        v: Any = pt.tensor(f"x{len(self.given)}", dtype=dtype, shape=known)
        mood = mood or (self.mood if rng.random() < 0.8 else rng.choice(self.moods))
        value = laid_out(rng, array(rng, dtype, shape, mood))
        self.given[v] = self.values[v] = value
        self.terms.append(v)
        return v

    def constant(self, dtype: str | None = None, shape: tuple[int, ...] = ()) -> Any:
        """A constant: a Python number, a NumPy number, an array, or an array filled with one."""
        rng = self.rng
        dtype = dtype or rng.choice(self.dtypes)
        mood = "plain" if rng.random() < 0.7 else self.mood
        one = number(rng, dtype, mood)
        if rng.random() < 0.5:
            return one
        if rng.random() < 0.5 or not shape:
            return np.asarray(one).astype(dtype)[()]
        if rng.random() < 0.5:
            return np.full(shape, one).astype(dtype)
        return array(rng, dtype, shape, mood)

    # --- choosing --------------------------------------------------------------------------------

    def pick(self, fits: Callable[[Any], bool] | None = None) -> Any:
        """A term, rather one of the last. Raises `Skip` if none fits."""
        rng, terms = self.rng, self.terms
        for _ in range(6):
            recent = rng.random() < 0.6
            v = terms[-1 - int(rng.random() * min(5, len(terms)))] if recent else rng.choice(terms)
            if fits is None or fits(v):
                return v
        found = [v for v in terms if fits is None or fits(v)]
        if not found:
            raise Skip
        return rng.choice(found)

    def real(self) -> Any:
        """A term of real floats; a new one, or a converted one, if there is none."""
        try:
            return self.pick(lambda v: v.type.kind == "f")
        except Skip:
            return self.add(pt.cast, self.pick(lambda v: v.type.kind != "c"), "float64")

    def beside(self, x: Any, fits: Callable[[Any], bool] | None = None) -> Any:
        """A term that can stand beside x in an elementwise op."""
        if self.wrong and not self.failed and self.rng.random() < 0.5:
            return self.pick(lambda v: v is not x and clashes(x, v, self.values))
        rng = self.rng
        if rng.random() < 0.08:
            return x
        for _ in range(8):
            y = self.pick(fits)
            if together(x, y, self.values):
                return y
        if rng.random() < 0.5:
            return self.leaf(x.type.dtype if rng.random() < 0.5 else None, self.values[x].shape)
        found = self.constant(x.type.dtype, self.values[x].shape)
        if fits is not None and isinstance(found, int | float | complex):
            found = pt.constant(found)
        if fits is None or fits(pt.as_tensor_variable(found)):
            return found
        raise Skip

    # --- building --------------------------------------------------------------------------------

    def add(self, make: Callable[..., Any], *args: Any, keep: bool = True) -> Any:
        """Build a term and compute it. Raises `Skip` where that is an error."""
        try:
            made = make(*args)
        except RewriteEngineError:
            raise Skip from None
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            types = [getattr(a, "type", a) for a in args]
            raise Crash(f"{getattr(make, '__name__', make)}{types}\n{text}") from error
        outs = list(made) if isinstance(made, list | tuple) else [made]
        if not outs or not all(isinstance(v, Variable) for v in outs):
            raise Skip
        self._compute(outs, args)
        for v in outs if keep else ():
            if not isinstance(v, Constant):
                self.terms.append(v)
        return outs[0]

    def _compute(self, outs: Iterable[Any], args: tuple[Any, ...]) -> None:
        values = self.values
        for v in outs:
            if isinstance(v, Constant):
                values[v] = np.asarray(v.data)
        for node in toposort(list(outs), list(values)):
            try:
                extend(values, node)
            except RewriteEngineError:
                self._missing(node)
            except MemoryError:
                raise Skip from None
            except ValueError as error:
                if "negative integer powers" in str(error):
                    raise Skip from None
                raise Crash(f"{node.op} of {[v.type for v in node.inputs]}\n{error}") from error
            except Exception as error:
                text = f"perform raises {type(error).__name__}: {error}"
                raise Crash(f"{node.op} of {[v.type for v in node.inputs]}\n{text}") from error
            if any(values[v].size > LARGEST for v in node.outputs):
                raise Skip

    def _missing(self, node: Any) -> None:
        """A node that fails: what is built on it gets some value, so that it can be built."""
        if not self.wrong:
            raise Skip
        for out in node.outputs:
            sizes = [1 if n is None else n for n in out.type.shape]
            like = [self.values[v].shape for v in node.inputs if v in self.values]
            fitting = [s for s in like if len(s) == out.type.ndim]
            shape = fitting[0] if fitting else sizes
            shape = [s if k is None else k for s, k in zip(shape, out.type.shape, strict=True)]
            self.values[out] = np.zeros(shape, out.type.dtype)
        self.failed = True


def together(x: Any, y: Any, values: Values) -> bool:
    """Whether two terms broadcast, by their types and by their values."""
    pairs = zip(values[x].shape[::-1], values[y].shape[::-1], strict=False)
    types = zip(x.type.shape[::-1], y.type.shape[::-1], strict=False)
    return all(
        a == b or (a == 1 and s == 1) or (b == 1 and t == 1)
        for (a, b), (s, t) in zip(pairs, types, strict=True)
    )


def clashes(x: Any, y: Any, values: Values) -> bool:
    """Whether two terms look as if they broadcast, and do not."""
    types = zip(x.type.shape[::-1], y.type.shape[::-1], strict=False)
    return not together(x, y, values) and all(
        s == t or None in (s, t) or 1 in (s, t) for s, t in types
    )
