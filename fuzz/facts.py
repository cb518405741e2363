"""Facts against values: whatever a fact says that it holds is true of what was computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from fuzz import generate
from fuzz.case import Case
from fuzz.deviation import Deviation
from rewrite_engine import facts
from rewrite_engine.graph.node import Variable
from rewrite_engine.judge.noise import Values, evaluate
from rewrite_engine.pipeline.assumptions import SHIPPED

UNARY = {name: fact for name, fact in SHIPPED.items() if fact.unary}
SLACK = 1e3  # units that rounding may tear a symmetric matrix apart by


def random_case(rng: Random) -> Case:
    """A graph that runs, with values."""
    while True:
        case = generate.random_case(rng)
        if not case.wrong and not case.updates:
            return case


class Checker:
    """Asks all facts of all terms."""

    def __call__(self, case: Case, mode: Any = None) -> Deviation | None:
        """The first fact that is not true."""
        values = evaluate(case.outputs, case.given)
        terms = [v for v in values if isinstance(v, Variable)]
        for v in terms:
            for name, fact in UNARY.items():
                found = _unary(name, fact, v, values)
                if found is not None:
                    return found
        return next(_lengths(terms, values), None)

    def tester(self, case: Case) -> tuple[Case, Callable[[Any], bool]]:
        """No step of rewriting is to blame."""
        return case, lambda found: False


def _unary(name: str, fact: Any, v: Any, values: Values) -> Deviation | None:
    try:
        answer = fact(v)
    except Exception as error:
        return Deviation(f"fact {name} raises", f"of {v.type}: {type(error).__name__}: {error}")
    if not answer:
        return None
    with np.errstate(all="ignore"):
        true = holds(name, fact, v, values[v], answer)
    if true:
        return None
    text = f"{answer}, value {answer.value}\nof {v.owner and v.owner.op}: {values[v].tolist()!r}"
    return Deviation(f"fact {name}", text)


def holds(name: str, fact: Any, v: Any, value: np.ndarray, answer: Any) -> bool:
    """Whether a fact is true of a value."""
    if name == "positive":
        return not (value < 0).any()  # (what underflowed counts as positive)
    if name == "distinct":
        return len(np.unique(value, equal_nan=False)) == value.size
    if (
        name in ("symmetric", "positive_semidefinite", "positive_definite")
        and value.dtype.kind == "f"
    ):
        return _is_nearly_symmetric(value)
    return bool(fact.of_value(v.type, value, answer.value))


def _is_nearly_symmetric(value: np.ndarray) -> bool:
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        return False
    if not np.isfinite(value).all():
        return True
    apart = np.abs(value - value.T)
    return bool((apart <= SLACK * np.finfo(value.dtype).eps * np.abs(value).max(initial=0)).all())


def _lengths(terms: list[Any], values: Values) -> Iterator[Deviation]:
    """Facts about lengths, and about the shapes of two terms."""
    for v in terms:
        for i in range(v.type.ndim):
            said = facts.length(v, i).value
            length = said if isinstance(said, int) else values_of(said[0], values).shape[said[1]]
            if length != values[v].shape[i]:
                yield Deviation("fact length", f"of {v} {i}: {said}, not {values[v].shape[i]}")
    some = terms[-6:]
    for a in some:
        for b in some:
            if facts.same_shape(a, b) and values[a].shape != values[b].shape:
                yield Deviation("fact same_shape", f"{values[a].shape} and {values[b].shape}")


def values_of(v: Any, values: Values) -> np.ndarray:
    """The value of a variable, or of a constant."""
    return values[v] if v in values else np.asarray(v.data)
