"""Check of facts against values: whether a fact's statement about variables is true of their
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine import facts
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.fact import Fact
from rewrite_engine.pipeline.assumptions import SHIPPED

SLACK = 1e3  # units that rounding may tear a symmetric matrix apart by

#: what finds a value, by the variable
Values = Callable[[Variable], Any]


def holds(fact: Fact, args: Sequence[Any], answer: Any, value_of: Values) -> bool | None:
    """Return whether evidence is true of values; None if the values do not decide. For a fact that
    is not shipped, only its own `test` decides.
    """
    about = _RELATIONS.get(fact)
    if about is not None:
        return about(args, answer, value_of)
    shipped = SHIPPED.get(fact.name) is fact
    known = fact.tester is not None or (shipped and fact not in _SILENT)
    if len(args) != 1 or not isinstance(args[0], Variable) or not known:
        return None
    v, value = args[0], value_of(args[0])
    if fact.takes_value and answer.value is None:
        return None
    own = _LENIENT.get(fact) if isinstance(value, np.ndarray) else None
    with np.errstate(all="ignore"):
        return bool(own(value) if own else fact.of_value(v.type, value, answer.value))


# --- facts about one value that allow for rounding ------------------------------------------------


def _is_not_negative(value: Any) -> bool:
    return value.dtype.kind != "c" and not (value < 0).any()  # what underflowed counts as positive


def _is_distinct(value: Any) -> bool:
    return len(np.unique(value, equal_nan=False)) == value.size


def _is_nearly_symmetric(value: Any) -> bool:
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        return False
    if value.dtype.kind not in "fc":
        return bool((value == value.T).all())
    if not np.isfinite(value).all():
        return True
    apart = np.abs(value - value.T)
    return bool((apart <= SLACK * np.finfo(value.dtype).eps * np.abs(value).max(initial=0)).all())


_LENIENT: dict[Fact, Callable[[Any], bool]] = {
    facts.positive: _is_not_negative,
    facts.distinct: _is_distinct,
    facts.symmetric: _is_nearly_symmetric,
    facts.positive_semidefinite: _is_nearly_symmetric,
    facts.positive_definite: _is_nearly_symmetric,
}

# --- facts about lengths and shapes ---------------------------------------------------------------


def _length(args: Sequence[Any], answer: Any, value_of: Values) -> bool | None:
    v, i = args
    said, shape = answer.value, np.shape(value_of(v))
    if isinstance(said, int):
        return bool(shape[i] == said)
    if not (isinstance(said, tuple) and len(said) == 2 and isinstance(said[0], Variable)):
        return None
    return bool(np.shape(value_of(said[0]))[said[1]] == shape[i])


def _same_length(args: Sequence[Any], answer: Any, value_of: Values) -> bool | None:
    x, i, y, j = args
    return bool(np.shape(value_of(x))[i] == np.shape(value_of(y))[j])


def _same_shape(args: Sequence[Any], answer: Any, value_of: Values) -> bool | None:
    x, y = args
    return bool(np.shape(value_of(x)) == np.shape(value_of(y)))


_RELATIONS: dict[Fact, Callable[[Sequence[Any], Any, Values], bool | None]] = {
    facts.length: _length,
    facts.same_length: _same_length,
    facts.same_shape: _same_shape,
}
#: what is said of a graph, or of types alone
_SILENT = frozenset({facts.fits, facts.cannot_fail, facts.used_once, facts.static_shape})


def constant_of(v: Variable, value: Any) -> Variable:
    """Return a constant for an array, so that facts can read its value; otherwise a variable."""
    if isinstance(v, Constant):
        return v
    if isinstance(value, np.ndarray) and v.type.kind != "?":
        found: Variable = v.type.make_constant(value)
        return found
    return v.type.make_variable(v.name)
