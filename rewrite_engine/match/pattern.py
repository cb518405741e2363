"""What a rule's sides are made of once they are lowered: holes, literals, and ops on patterns.

These are plain data. `match/lower.py` makes them from what a rule's author wrote; `interpret.py`
and `emit.py` give them meaning, forwards; `rule.goal` gives it in miniKanren.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import CONSTANT


@dataclass(frozen=True, slots=True)
class Sort:
    """A set of variables that a hole may stand for.

    test: whether a variable belongs. inline: the same as Python source, with `{v}` for the
    variable, for sorts that are too cheap to call. constant: only constants belong (matchers use it
    to look at fewer nodes). fact: a fact that must hold. ties: pairs (label, place); whatever has
    the same label must be equal: the fact `tie` is asked of both variables, each with its place.
    samples: variables that belong to it, one of each kind of dtype, of shapes that stand for all of
    it (`match/sample.py`).
    """

    name: str
    test: Callable[[Any], bool]
    inline: str | None = None
    constant: bool = False
    fact: Any = None
    ties: tuple[tuple[str, int], ...] = ()
    tie: Any = None
    samples: Callable[[], Sequence[Any]] | None = None

    def __call__(self, v: Any) -> bool:
        return self.test(v)

    def __repr__(self) -> str:
        return self.name


Anything = Sort("Anything", lambda v: True, "True")
Const = Sort("Const", lambda v: v.head is CONSTANT, "{v}.head is CONSTANT", constant=True)
Rest = Sort("Rest", lambda v: True, "True")
Prop = Sort("Prop", lambda v: True, "True")


def as_sort(annotation: Any) -> Sort:
    """Read an annotation: a `Sort`, a fact, or any predicate on variables."""
    if isinstance(annotation, Sort):
        return annotation
    if annotation is Any:
        return Anything
    if hasattr(annotation, "ask"):
        return Sort(annotation.name, Anything.test, Anything.inline, fact=annotation)
    if callable(annotation) and not isinstance(annotation, type):
        return Sort(getattr(annotation, "__name__", repr(annotation)), annotation)
    raise PatternError(f"the annotation {annotation!r} is neither a sort nor a predicate")


@dataclass(frozen=True, slots=True)
class Hole:
    """A logic variable of a rule. Where it occurs again, it stands for the same thing."""

    name: str
    sort: Sort = Anything
    #: the number it stands for where its operand is missing; None: it has to be there
    default: Any = None
    #: whether it takes one or more operands that stand side by side, as one term (`ac.run_of`)
    several: bool = False

    @property
    def has_default(self) -> bool:
        """Whether its operand may be missing."""
        return self.default is not None

    @property
    def rest(self) -> bool:
        """Whether it stands for any number of operands."""
        return self.sort is Rest


def is_wide(pattern: Any) -> bool:
    """Whether a pattern may take more operands than one, of those that have an order."""
    return isinstance(pattern, Hole) and (pattern.rest or pattern.several)


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A number. It matches a constant with that value, of any dtype, if that is 0-dimensional."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and same_number(self.value, other.value)

    def __hash__(self) -> int:
        return hash((Literal, self.value if self.value == self.value else None))

    def holds(self, v: Any) -> bool:
        """Whether a variable is this number (0.0 and -0.0 differ)."""
        if v.head is not CONSTANT:
            return False
        return same_number(v.number, self.value)


@dataclass(frozen=True, slots=True)
class OpClass:
    """Any op of a class whose parameters match: `Sum(axis=outer)`."""

    cls: type
    props: tuple[tuple[str, Any], ...]  # (name, Hole or value)

    def fits(self, op: Any) -> bool:
        """Whether an op is of this class (its parameters are not looked at)."""
        return type(op) is self.cls


@dataclass(frozen=True, slots=True)
class OpNode:
    """An op (or an `OpClass`) applied to patterns."""

    op: Any
    args: tuple[Any, ...]

    @property
    def rests(self) -> list[int]:
        """Positions of the operands that stand for any number of operands."""
        return [i for i, a in enumerate(self.args) if isinstance(a, Hole) and a.rest]

    @property
    def default(self) -> Hole | None:
        """The operand that may be missing, if there is one."""
        return next((a for a in self.args if isinstance(a, Hole) and a.has_default), None)

    @property
    def swaps(self) -> bool:
        """Whether the two operands are tried in both orders."""
        return (
            len(self.args) == 2
            and not self.rests
            and not isinstance(self.op, OpClass)
            and bool(self.op.commutative)
            and self.args[0] != self.args[1]
        )

    def fits(self, op: Any) -> bool:
        """Whether an op may be the one at this place."""
        return op is self.op or (isinstance(self.op, OpClass) and self.op.fits(op))


Pattern = Hole | Literal | OpNode


def same_number(found: Any, wanted: Any) -> bool:
    """Equality of numbers that tells 0.0 from -0.0 and 1 from True (and takes a NaN for equal to
    a NaN).
    """
    if found is None or isinstance(found, bool) != isinstance(wanted, bool):
        return False
    if wanted != wanted:
        return bool(found != found)
    if found != wanted:
        return False
    return bool(wanted != 0) or _sign(found) == _sign(wanted)


def _sign(x: Any) -> Any:
    if isinstance(x, complex):
        return math.copysign(1.0, x.real), math.copysign(1.0, x.imag)
    return math.copysign(1.0, x)


def subpatterns(pattern: Any) -> Iterator[tuple[Any, int]]:
    """Yield every pattern within, with its depth; the pattern itself first."""
    stack: list[tuple[Any, int]] = [(pattern, 0)]
    while stack:
        p, depth = stack.pop()
        yield p, depth
        if isinstance(p, OpNode):
            stack.extend((a, depth + 1) for a in reversed(p.args))


def holes(pattern: Any) -> dict[str, Hole]:
    """The holes of a pattern by name, those in op parameters included, in order of appearance."""
    found: dict[str, Hole] = {}
    for p, _ in subpatterns(pattern):
        if isinstance(p, Hole):
            found.setdefault(p.name, p)
        elif isinstance(p, OpNode) and isinstance(p.op, OpClass):
            for _, value in p.op.props:
                if isinstance(value, Hole):
                    found.setdefault(value.name, value)
    return found
