"""Facts: predicates that give evidence, or a reason why not.

    @fact
    def nonneg(x):
        if x.head is CONSTANT and (x.data >= 0).all():
            return because("a constant")
        return unknown("its sign is not known")

Called on a rule's variables, a fact is a guard (`given(nonneg(x))`); called on a graph's, it
answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any

from rewrite_engine.match.lower import Condition, Given
from rewrite_engine.terms.logic import Term


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why something holds. True."""

    reasons: tuple[Any, ...]

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return "because " + ", ".join(map(str, self.reasons))


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why something is not known to hold. False."""

    why: str
    blame: Any = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.why if self.blame is None else f"{self.why} ({self.blame})"


def because(*reasons: Any) -> Evidence:
    """Evidence that a fact holds."""
    return Evidence(reasons)


def unknown(why: str, blame: Any = None) -> Unknown:
    """A reason why a fact is not known to hold; `blame` is the variable to look at."""
    return Unknown(why, blame)


class Fact:
    """A predicate on variables; made by `@fact`."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.name: str = fn.__name__
        update_wrapper(self, fn)

    def __call__(self, *args: Any) -> Any:
        """Evidence or `Unknown` for variables; a `Condition` for a rule's variables."""
        if any(isinstance(a, Term) for a in args):
            return Condition(self.fn, args, f"{self.name}({', '.join(map(str, args))})")
        return self.fn(*args)

    def __repr__(self) -> str:
        return f"fact {self.name}"


def fact(fn: Callable[..., Any]) -> Fact:
    """Make a fact of a function of variables that returns `because(...)` or `unknown(...)`."""
    return Fact(fn)


def given(*conditions: Any) -> Given:
    """The guards of a rule: facts about its variables, or functions of them by name."""
    return Given(conditions)
