"""Enumeration of the terms of a space, in classes of equal values: `grow`.

Terms are made from the smallest to the largest. Operands are the first terms of their classes, so
the parts of a term are in their simplest form. Whatever the functions of a space refuse, and
whatever fails or overflows at a sample, is no term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.discover.space import Space, TermMaker
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.values import NoValue, TermValues
from rewrite_engine.rewrite.cost import flops, price

NEAR = 3  # samples that tell terms apart
LARGEST = 1e12  # of a value that tells terms apart
MOST_NANS = 0.6  # of the elements of a value
SMALL = 1e-9  # of an array's largest element: what is less is rounding


@dataclass(frozen=True, slots=True, eq=False)
class EnumeratedTerm:
    """An enumerated term. size: the number of ops; leaves: its variables, as they occur; text: how
    a person writes it, "" if unknown; names: of the functions in it. Each is equal to itself only.
    """

    variable: Variable
    size: int
    leaves: tuple[Variable, ...]
    text: str = ""
    names: frozenset[str] = frozenset()

    def is_about(self, names: Iterable[str]) -> bool:
        """Whether one of some functions is in it; True if there are none."""
        return not names or not self.names.isdisjoint(names)


@dataclass
class Enumeration:
    """Terms of a space, in classes: lists of terms with equal values, the smallest first.

    tried: how many were made. stopped: why not all, or "". unused: why a function made no term that
    has values, by its name.
    """

    space: Space
    classes: list[list[EnumeratedTerm]] = field(default_factory=list)
    tried: int = 0
    stopped: str = ""
    unused: dict[str, str] = field(default_factory=dict)

    @property
    def equal(self) -> list[list[EnumeratedTerm]]:
        """Classes of more than one term."""
        return [terms for terms in self.classes if len(terms) > 1]


class PlainRunner:
    """Runs nodes by `perform` as they are: no term is changed in place."""

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        with np.errstate(all="ignore"):
            node.op.perform(node, list(given), storage)
        return [cell[0] for cell in storage]

    plain = run

    def body(self, op: Any) -> Any:
        raise NoValue


def silent(line: str) -> None:
    """Ignore a line on how far it is."""


def grow(
    space: Space,
    most: int = 100_000,
    seconds: float = 60.0,
    told: Callable[[str], Any] = silent,
) -> Enumeration:
    """Enumerate the terms of a space. most: how many are made. seconds: time limit. told: is called
    with a line on how far it is.
    """
    return Grower(space, most, perf_counter() + seconds).run(told)


class Grower:
    """Run of an enumeration. pools: terms to build on, the first of their classes, by size."""

    def __init__(self, space: Space, most: int, until: float) -> None:
        self.space, self.most, self.until = space, most, until
        self.result = Enumeration(space)
        near = [space.draw(seed, space.variables) for seed in range(NEAR)]
        self.values = [TermValues(PlainRunner(), dict(given)) for given in near]
        self.points = max([np.size(a) for a in near[0].values()], default=1)
        self.pools: list[list[EnumeratedTerm]] = [[] for _ in range(space.size + 1)]
        self.by_key: dict[Any, list[EnumeratedTerm]] = {}
        self.refused: set[tuple[Any, ...]] = set()
        self.result.unused = {one.name: "it was not tried" for one in space.makers}

    def run(self, told: Callable[[str], Any] = silent) -> Enumeration:
        """Make terms of all sizes."""
        for v in self.space.variables:
            self.add(EnumeratedTerm(v, 0, (v,), str(v.name)))
        for c in self.space.numbers:
            self.add(EnumeratedTerm(c, 0, (), hooks.short(c)))
        for size in range(1, self.space.size + 1):
            for one in self.space.makers:
                told(f"{self.result.tried} terms made; now {one.name} in terms of {size}")
                for operands in self.operands(one, size):
                    if self.result.tried >= self.most or perf_counter() > self.until:
                        limit = "terms" if self.result.tried >= self.most else "time"
                        self.result.stopped = f"the limit of {limit} was reached at size {size}"
                        return self.result
                    self.make(one, size, operands)
        return self.result

    def operands(self, one: TermMaker, size: int) -> Iterator[tuple[EnumeratedTerm, ...]]:
        """Yield the operands of the terms of a size."""
        for sizes in product(range(size), repeat=one.arity):
            if sum(sizes) != size - 1 or (one.commutative and sizes[0] > sizes[1]):
                continue
            twice = one.commutative and sizes[0] == sizes[1]
            pools = [list(enumerate(self.pools[n])) for n in sizes]
            for chosen in product(*pools):
                if twice and chosen[0][0] > chosen[1][0]:
                    continue
                operands = tuple([term for _, term in chosen])
                if any([term.leaves for term in operands]):
                    yield operands

    def make(self, one: TermMaker, size: int, operands: tuple[EnumeratedTerm, ...]) -> None:
        """Add a term, if there is one of these operands."""
        types = (one, *[term.variable.type for term in operands])
        if types in self.refused:
            return
        self.result.tried += 1
        try:
            made = one.build(*[term.variable for term in operands])
        except Exception as error:
            self.refused.add(types)  # (of these types no term is made)
            if one.name in self.result.unused:
                self.result.unused[one.name] = f"{type(error).__name__}: {error}"
            return
        if isinstance(made, Variable) and made.owner is not None:
            leaves = dict.fromkeys([v for term in operands for v in term.leaves])
            text = one.written([term.text for term in operands])
            names = frozenset({one.name}).union(*[term.names for term in operands])
            if self.add(EnumeratedTerm(made, size, tuple(leaves), text, names)):
                self.result.unused.pop(one.name, None)
            elif one.name in self.result.unused:
                self.result.unused[one.name] = "its terms have no values at the samples"

    def add(self, term: EnumeratedTerm) -> bool:
        """Put a term into its class; return whether it has values."""
        values = self.found(term.variable)
        key = None if values is None else self.key(term.variable, values)
        if values is None or key is None:
            return False
        constant = term.size > 0 and _is_constant(values, self.space.pointwise)
        if constant and not self.space.pointwise:
            return True
        members = self.by_key.get(key)
        if members is not None:
            members.append(term)
            self.prefer_cheaper(members)
            return True
        self.by_key[key] = members = [term]
        self.result.classes.append(members)
        if not constant:
            self.pools[term.size].append(term)
        return True

    def prefer_cheaper(self, members: list[EnumeratedTerm]) -> None:
        """Make the last term of a class its first one, if it is as small and costs less."""
        first, last = members[0], members[-1]
        if 0 < last.size == first.size and price_of(last.variable) < price_of(first.variable):
            pool = self.pools[first.size]
            members.insert(0, members.pop())
            if first in pool:
                pool[pool.index(first)] = last

    def found(self, v: Variable) -> list[Any] | None:
        """Return the values of a term at the samples; None if it has none somewhere."""
        try:
            found = [known.value(v) for known in self.values]
        except NoValue:
            return None
        return [self.widened(a) for a in found] if self.space.pointwise else found

    def widened(self, a: Any) -> Any:
        """Return a number as an array of the length of samples."""
        return np.full(self.points, a) if np.ndim(a) == 0 else a

    def key(self, v: Variable, values: Sequence[Any]) -> Any:
        """Return a key that terms of equal values share; None for values that tell nothing."""
        parts = [self.part(value) for value in values]
        if None in parts:
            return None
        return (v.type.kind, getattr(v.type, "dtype", None), *parts)

    def part(self, value: Any) -> Any:
        """Return the key of one value: an array of floats is rounded."""
        if not isinstance(value, np.ndarray | np.number) or value.dtype.kind != "f":
            return (np.shape(value), value.tobytes()) if isinstance(value, np.ndarray) else value
        a = np.asarray(value)
        size, nan = np.abs(a), np.isnan(a)
        if not a.size or nan.mean() > MOST_NANS or (size[~nan] > LARGEST).any():
            return None
        if not self.space.pointwise:
            a = np.where(size < SMALL * size[~nan].max(initial=0), 0, a)
        return a.shape, nan.tobytes(), *rounded(a, self.space.bits)


def rounded(a: Any, bits: int) -> tuple[bytes, bytes]:
    """Return numbers to some binary digits, as bytes: the digits and the exponents."""
    digits, power = np.frexp(np.where(np.isnan(a), 0, a))
    whole: Any = np.round(np.ldexp(digits, bits))
    full = np.abs(whole) == 2.0**bits  # just below a power of two, or that power
    whole, power = np.where(full, whole / 2, whole) + 0.0, np.where(full, power + 1, power)
    return whole.tobytes(), power.astype(np.int32).tobytes()


def price_of(*terms: Variable) -> float:
    """Return what terms cost, each node once."""
    return sum([price(node, flops) for node in toposort(terms)], 0.0)


def _is_constant(values: Sequence[Any], pointwise: bool) -> bool:
    """Whether a term has one value everywhere, so that nothing is built on it; also unit matrices,
    and arrays of one number, of any lengths.
    """
    if not pointwise:
        return _is_filled(values) or all([_is_unit(a) for a in values])
    first = values[0]
    if any([np.shape(v) != np.shape(first) or not np.array_equal(v, first) for v in values[1:]]):
        return False
    a = np.asarray(first)
    return a.dtype != object and a.size > 1 and bool((a == a.flat[0]).all())


def _is_unit(a: Any) -> bool:
    return np.ndim(a) == 2 and len(a) == len(a.T) and np.allclose(a, np.eye(len(a)), atol=SMALL)


def _is_filled(values: Sequence[Any]) -> bool:
    """Whether all elements of all values are one number, but for rounding."""
    flat = np.concatenate([np.ravel(a) for a in values])
    return flat.dtype.kind == "f" and np.allclose(flat, flat[0], rtol=SMALL, atol=0)
