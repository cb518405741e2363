"""`Space`: a set of terms, given by variables with sample values, numbers, and functions that make
larger terms of smaller ones. The shipped spaces, by subject, are in `subjects.py`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op

#: values of the variables of a space
Sample = Mapping[Variable, Any]
#: variables, with their facts
Facts = Mapping[Variable, Sequence[Any]]


@dataclass(frozen=True)
class TermMaker:
    """A function on terms that makes a term of one more op.

    arity: the number of operands. commutative: two operands may change places. form: how a person
    writes the term, such as "{} @ {}"; "" if unknown.
    """

    name: str
    build: Callable[..., Any]
    arity: int
    commutative: bool = False
    form: str = ""

    def written(self, operands: Sequence[str]) -> str:
        """Return the source of a term from that of its operands; "" if one is unknown."""
        if not self.form or not all(operands):
            return ""
        parts = re.split(r"(\{\})", self.form)
        places = [i for i, part in enumerate(parts) if part == "{}"]
        for i, text in zip(places, operands, strict=True):
            is_argument = parts[i - 1].endswith(("(", ", ")) and parts[i + 1].startswith((")", ","))
            parts[i] = text if is_argument or not is_infix(text) else f"({text})"
        return "".join(parts)


def is_infix(text: str) -> bool:
    """Whether a source text has an operator outside of parentheses."""
    inner, found = text, ""
    while inner != found:
        inner, found = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", inner), inner
    return " " in inner or inner.startswith("-")


@dataclass(frozen=True)
class Space:
    """A set of terms, by what they are made of.

    makers: the functions. variables: the leaves, with the facts that they are declared to have.
    draw: makes a sample from a seed, for variables with these facts; of moderate size, so that
    values tell terms apart; other seeds may have other lengths. numbers: terms without variables.
    far: makes the samples at which errors show: large, small and near the ends of domains. size:
    the largest number of ops. lengths: names of the lengths of variables; variables of one type
    with the same lengths and facts stand for each other. pointwise: elements do not depend on each
    other, so that a value may have one that is much smaller than another. bits: to which values are
    compared. about: names of functions, if only rules with one of them are wanted.
    """

    name: str
    makers: Sequence[TermMaker]
    variables: Facts
    draw: Callable[[int, Facts], Sample]
    numbers: Sequence[Variable] = ()
    far: Callable[[Facts], Sequence[Sample]] = lambda facts: ()
    size: int = 3
    lengths: Mapping[Variable, str] = field(default_factory=dict)
    pointwise: bool = False
    bits: int = 30
    about: Sequence[str] = ()

    def kinds(self) -> list[list[Variable]]:
        """Return the variables by kind: of one type, with the same lengths and facts."""
        found: dict[Any, list[Variable]] = {}
        for v, facts in self.variables.items():
            found.setdefault((v.type, self.lengths.get(v), tuple(facts)), []).append(v)
        return [*found.values()]


def maker(fn: Callable[..., Any], name: str = "", arity: int | None = None) -> TermMaker:
    """Return the maker of an op, or of a function on variables. arity: the number of operands, if
    the function takes others, too.

    Raises `PatternError` for a function whose number of operands is not known.
    """
    n = _arity(fn) if arity is None else arity
    known = name or (str(fn) if isinstance(fn, Op) else getattr(fn, "__name__", ""))
    if n is None or n < 1:
        raise PatternError(
            f"{known or fn!r}: how many operands does it take? Write maker(fn, arity=n)"
        )
    return TermMaker(known, fn, n, bool(getattr(fn, "commutative", False)) and n == 2)


def _arity(fn: Any) -> int | None:
    """Return how many operands a function must have."""
    if isinstance(fn, Op):
        if fn.itypes is not None:
            return len(fn.itypes)
        nin = getattr(fn, "nin", None)
        if isinstance(nin, int) and nin > 0:
            return nin
        return 2 if fn.associative else None
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    if any([p.kind is p.VAR_POSITIONAL for p in parameters]):
        return None
    return len([p for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY])
