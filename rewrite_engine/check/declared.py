"""Samples for rules that facts guard: variables that are declared to have a fact, and values that
have it.

A fact says how such a value is made of any other (`@fact.draw`). A guard may also ask a fact that
others imply, or be a function: each fact with such values is tried then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.facts.samples  # noqa: F401 (makes values of the shipped facts)
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.fact import Fact
from rewrite_engine.match.pattern import Hole, Prop
from rewrite_engine.pipeline.assumptions import SHIPPED


class WayToDeclare(NamedTuple):
    """A way to make an operand: a variable that is declared to have facts."""

    facts: tuple[Fact, ...]

    def __call__(self, v: Any) -> Any:
        """Return a matrix with the declaration. Raises `TypeError` for another variable, and if no
        matrix of its type has the facts.
        """
        if v.type.ndim != 2:
            raise TypeError(f"{v} is not a matrix")
        some = np.resize([2, 1, 1, 3], [2 if n is None else n for n in v.type.shape])
        if having({v: some.astype(v.type.dtype)}, {v: self.facts}) is None:
            raise TypeError(f"no matrix of type {v.type} has these facts")
        return Assume(tuple(sorted([(f, None) for f in self.facts], key=lambda p: p[0].name)))(v)


def ways_to_declare(guards: Sequence[Any], name: str) -> list[WayToDeclare]:
    """Return ways to declare a variable of a rule, so that the guards about it alone hold."""
    own = [g for g in guards if _is_about(g, name)]
    if not own:
        return []
    asked = tuple(dict.fromkeys([g.fact for g in own if g.fact is not None]))
    combined = [WayToDeclare(asked)] if asked and all([f.drawer for f in asked]) else []
    every = [WayToDeclare((f,)) for f in drawn_facts() if (f,) != asked]
    plain = _matrix()
    if not combined and _hold(own, plain):
        return []
    return combined or [way for way in every if _hold(own, way(plain))][:3]


def drawn_facts() -> list[Fact]:
    """Return the shipped facts of which values can be made."""
    return [f for f in SHIPPED.values() if f.drawer is not None]


def _is_about(guard: Any, name: str) -> bool:
    holes = [a for a in guard.args if isinstance(a, Hole) and a.sort is not Prop]
    return len(guard.args) == 1 and [hole.name for hole in holes] == [name]


def _hold(guards: Sequence[Any], v: Any) -> bool:
    """Whether guards about one variable hold of a matrix."""
    try:
        return all([_answer(guard, v) for guard in guards])
    except Exception:  # of a function that wants another variable
        return False


@cache
def _matrix() -> Any:
    return pt.tensor("a", dtype="float64", shape=(None, None))


def _answer(guard: Any, v: Any) -> Any:
    return guard.fn(v) if guard.fact is None else guard.fact(v)


# --- values ---------------------------------------------------------------------------------------


def declarations(terms: Sequence[Any]) -> dict[Any, list[Fact]]:
    """Return the facts that terms declare about their inputs."""
    found: dict[Any, list[Fact]] = {}
    for node in toposort(list(terms)):
        if isinstance(node.op, Assume) and node.inputs[0].owner is None:
            found.setdefault(node.inputs[0], []).extend([f for f, _ in node.op.declared])
    return found


def with_facts(each: Iterable[dict[Any, Any]], terms: Sequence[Any]) -> Iterator[dict[Any, Any]]:
    """Yield values of inputs that have the facts that terms declare, made of those that are given;
    values of which none can be made are left out.
    """
    said = declarations(terms)
    for given in each:
        made = having(given, said)
        if made is not None:
            yield made


def having(given: Mapping[Any, Any], said: Mapping[Any, Sequence[Fact]]) -> dict[Any, Any] | None:
    """Return values that have facts, made of given ones; None if there are none of their shapes."""
    found = dict(given)
    for v, facts in said.items():
        value = np.asarray(found[v])
        try:
            with np.errstate(all="ignore"):
                for fact in facts:
                    value = fact.drawer(value) if fact.drawer is not None else value
                value = np.asarray(value, v.type.dtype)
                if not all([_has(fact, v.type, value) for fact in facts]):
                    return None
        except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError, RewriteEngineError):
            return None
        if any([n not in (None, m) for n, m in zip(v.type.shape, value.shape, strict=True)]):
            return None
        found[v] = value
    return found


def _has(fact: Fact, type_: Any, value: Any) -> bool:
    """Whether a value has a fact; shipped facts about matrices say nothing of values that are not
    finite.
    """
    shipped = SHIPPED.get(fact.name) is fact
    if shipped and value.dtype.kind in "fc" and not np.isfinite(value).all():
        return value.ndim == 2 and value.shape[0] == value.shape[1]
    return bool(fact.of_value(type_.clone(shape=value.shape), value))
