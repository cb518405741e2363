"""Checks of facts: each answer of a fact about a term must be true of the term's values.

A case that says nothing of any term that is tried, and a fact that no value can test, are told as
UNPROVED.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.draw import draws
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.lengths import small_lengths
from rewrite_engine.check.node import ELEMENTWISE, applied
from rewrite_engine.check.remedy import wrong
from rewrite_engine.check.target import Names, is_of
from rewrite_engine.check.trial import trials
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.judge.facts import holds
from rewrite_engine.judge.values import compute_all
from rewrite_engine.match.fact import Fact
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

Case = Callable[..., Any]


def check_fact(fact: Fact, spaces: Sequence[Names] = ()) -> Iterator[Finding]:
    """Yield the answers of a fact that are not true of values. spaces: the names of modules whose
    cases are looked at, of a fact that is not of one of them; none: all.
    """
    own = not spaces or is_of(fact.fn, spaces)
    for op, cases in fact.cases.items():
        for case in cases:
            if own or is_of(case, spaces):
                yield from _checked(fact, case, _results(op), op)
    if own:
        found = [term for op in ELEMENTWISE for term in applied(op, ("float64", "int64"))]
        yield from _checked(fact, fact.fn, found)
        yield from _drawn(fact)


def _drawn(fact: Fact) -> Iterator[Finding]:
    """Yield a value that a fact makes, and that does not have it."""
    if fact.drawer is None or not fact.unary:
        return
    code = inspect.unwrap(fact.drawer).__code__
    where = code.co_filename, code.co_firstlineno
    for n in (2, 3, 1):
        a = pt.tensor("a", shape=(n, n))
        value = np.arange(1.0, n * n + 1).reshape(n, n) % 7 - 2
        try:
            made = np.asarray(fact.drawer(value), "float64")
            good = bool(fact.of_value(a.type, made))
        except Exception as error:
            made, good = np.asarray(f"{type(error).__name__}: {error}"), False
        if not good:
            subject, why = f"{fact.name}.draw", "the value that it makes does not have the fact"
            yield wrong("facts", "fact", subject, where, why, f"of {value.tolist()}: {made}")
            return


def _checked(fact: Fact, case: Case, terms: Sequence[Any], op: Any = None) -> Iterator[Finding]:
    """Check the answers of a fact's function, or of one of its cases, about terms."""
    code = inspect.unwrap(case).__code__
    where = code.co_filename, code.co_firstlineno
    subject = fact.name if case is fact.fn else f"{fact.name}.case {case.__name__}"
    if not fact.unary:
        why = "no values are tried: it is about more than one term"
        yield Finding(Kind.UNPROVED, "facts", "fact", subject, where, why)
        return
    asked, tested = False, False
    for seed, term in enumerate(terms):
        try:
            with answers_of(fact, case) as said:
                answer = fact(term)
            untrue, values = None, False
            if answer and any(said):
                asked = True
                untrue, values = _untrue(fact, term, answer, seed)
        except Exception as error:
            why = f"it raises {type(error).__name__}: {error}"
            yield wrong("facts", "fact", subject, where, why, brief(term, 9))
            return
        tested |= values
        if untrue is not None:
            lines = f"{brief(term, 9)}: {answer}\n{untrue}"
            why = "its answer is not true of values"
            yield wrong("facts", "fact", subject, where, why, lines)
            return
    if not tested:
        yield _unproved(fact, subject, where, terms, op, asked)


def _unproved(
    fact: Fact, subject: str, where: Any, terms: Sequence[Any], op: Any, asked: bool
) -> Finding:
    """Why nothing was compared."""
    name = getattr(op, "__name__", op)
    if not terms:
        why, fix = f"no term of {name} could be made", f"{name}.samples"
    elif not asked:
        why = f"it answers for none of the {len(terms)} terms that were tried"
        fix = "" if op is None else f"{name}.samples of which it says something"
    elif fact.tester is None:
        why, fix = "no test of values is known for it", f"a function under @{fact.name}.test"
    else:
        why, fix = "none of the terms could be computed", ""
    return Finding(Kind.UNPROVED, "facts", "fact", subject, where, why, fix=fix)


@contextmanager
def answers_of(fact: Fact, case: Case) -> Iterator[list[Any]]:
    """Collect the answers of one case of a fact, or of the function of the fact."""
    said: list[Any] = []

    def listening(*args: Any) -> Any:
        said.append(case(*args))
        return said[-1]

    if case is fact.fn:
        fact.fn = listening
    lists = [found for found in fact.cases.values() if case in found]
    before = [list(found) for found in lists]
    for found in lists:
        found[:] = [listening if one is case else one for one in found]
    try:
        yield said
    finally:
        if fact.fn is listening:
            fact.fn = case
        for found, was in zip(lists, before, strict=True):
            found[:] = was


def _results(op: Any) -> list[Any]:
    """Results of an op, or of ops of a class."""
    if isinstance(op, Op) and isinstance(op, Elemwise):
        return list(applied(op))
    if op is Elemwise or op is Op:
        return [term for one in ELEMENTWISE for term in applied(one, ("float64", "int64"))]
    nodes = dict.fromkeys([trial.node for trial in trials(op)])
    return [v for node in nodes for v in node.outputs[:1]]


def _untrue(fact: Fact, term: Any, answer: Any, seed: int) -> tuple[str | None, bool]:
    """Values of which the answer is not true, and whether any could tell."""
    inputs = list(dict.fromkeys(explicit_graph_inputs([term])))
    if not all(isinstance(v.type, TensorType) for v in inputs):
        return None, False
    told = False
    for given in draws(inputs, seed):
        found = compute_all(term, small_lengths(given, [term]))
        if isinstance(found, Exception):
            continue
        value = found[term]
        told |= holds(fact, [term], answer, found.__getitem__) is not None
        wrong = _false_of(fact, term, answer, value)
        if wrong is not None:
            one = {str(v): a.ravel()[:4].tolist() for v, a in given.items()}
            return f"its value: {wrong}" if wrong.size == 1 else f"of {one}: {wrong}", True
    return None, told


def _false_of(fact: Fact, term: Any, answer: Any, value: Any) -> Any:
    """The part of a value of which the answer is not true, one element if that is enough."""

    def is_false(part: Any) -> bool:
        return holds(fact, [term], answer, lambda v: part) is False

    if not is_false(value):
        return None
    each = [value[i : i + 1] for i in range(value.size)] if value.ndim == 1 else []
    return next((part for part in each if is_false(part)), value)
