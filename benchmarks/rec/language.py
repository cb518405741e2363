"""The terms of the competition's programs: one type, ops that are nothing but their names, and how
rules on them are written. No tensors here, and no arithmetic: a number is the term s(s(… zero)).

Rules of one kind stand in one function, which returns a rule for each of the published equations
(`@rules`). Evaluation is innermost (the worklist visits inputs first), and at a node the first rule
that applies is taken. Conditional equations are written in one of three ways:

* The condition has to be rewritten itself (`m < n`): a new op takes its value beside the operands,
  and has a rule for each value. That is one firing more, and a guard that rewrote would need a
  driver of its own; in return only the branch that is taken is ever built.
* Two operands are equal: the variable occurs twice. They are different: the guard `n is not m`.
  Equal terms are one node here, and operands are in normal form when a node is visited.
* An operand is not zero: it is `s(m)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from rewrite_engine.match import decorate
from rewrite_engine.match.claim import exact
from rewrite_engine.match.lower import lower_pattern
from rewrite_engine.match.pattern import holes
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import Result
from rewrite_engine.terms.convert import make
from rewrite_engine.terms.logic import pattern_classes


class TermType(Type):
    """Terms; they have no values."""

    __props__ = ()


class Operators:
    """Patterns on terms are written with ops alone."""


TERM = TermType()
TermVariable, TermPattern = pattern_classes(Operators)


class Symbol(Op):
    """A function symbol of fixed arity."""

    __props__ = ("name", "nin")
    nout = 1

    def __init__(self, name: str, nin: int) -> None:
        self.name = name
        self.nin = nin

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        if len(types) != self.nin:
            raise TypeError(f"{self.name} takes {self.nin} operands, not {len(types)}")
        return (TERM,)

    def __str__(self) -> str:
        return self.name


def symbols(nin: int, names: str) -> Iterator[Symbol]:
    """Symbols with this number of operands."""
    return (Symbol(name, nin) for name in names.split())


def constants(names: str) -> Iterator[Any]:
    """Symbols without operands, as they stand in rules: patterns."""
    return (TermPattern(make((Symbol(name, 0),))) for name in names.split())


def rules(fn: Callable[..., Any]) -> RuleSet:
    """The rules of a function that returns many `left >> right`: `name_1`, `name_2`, …

    Each takes those of the function's parameters that occur in it.
    """
    names = tuple(inspect.signature(fn).parameters)
    bodies = fn(**{name: TermVariable(name) for name in names})
    return RuleSet([_one(fn, names, i, body) for i, body in enumerate(bodies)])


def _one(fn: Callable[..., Any], names: Sequence[str], i: int, body: Any) -> Any:
    mine = holes(lower_pattern((body[0] if isinstance(body, tuple) else body).left))

    @wraps(fn)
    def one(**variables: Any) -> Any:
        return fn(**{name: TermVariable(name) for name in names} | variables)[i]

    one.__name__ = f"{fn.__name__}_{i + 1}"
    parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names if n in mine]
    one.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return decorate.rule(one, claim=exact, variable=TermVariable)


def ground(term: Any) -> Variable:
    """The term that a pattern without variables stands for."""
    return term if isinstance(term, Variable) else term.evaled_obj


zero, nil, true, false = constants("zero nil true false")
(s,) = symbols(1, "s")
(cons,) = symbols(2, "cons")


def numeral(n: int) -> Variable:
    """The number n: s, n times, on zero."""
    term = ground(zero)
    for _ in range(n):
        term = s(term)
    return term


def listed(items: Sequence[Variable]) -> Variable:
    """A list of terms."""
    term = ground(nil)
    for item in reversed(items):
        term = cons(item, term)
    return term


def numerals(numbers: Sequence[int]) -> Variable:
    """A list of numbers."""
    return listed([numeral(n) for n in numbers])


def same(a: Variable, b: Variable) -> bool:
    """Whether two terms are equal (a graph makes them one)."""
    both = FunctionGraph([], [a, b], clone=True)
    return both.outputs[0] is both.outputs[1]


@dataclass(frozen=True, slots=True)
class Program:
    """A rule system with its question and answer for each size.

    size: what the benchmark runs; small: what the tests run. ask: the term to rewrite. answer: its
    normal form, found without rewriting.
    """

    name: str
    rules: RuleSet
    size: int
    small: int
    ask: Callable[[int], Variable]
    answer: Callable[[int], Variable]

    def run(self, size: int) -> tuple[Result, FunctionGraph]:
        """Rewrite the question to its normal form; raises `ArithmeticError` if that is not the
        answer.
        """
        fgraph = self.question(size)
        result = self.rewrite(fgraph)
        self.check(fgraph, size)
        return result, fgraph

    def question(self, size: int) -> FunctionGraph:
        """The question as a graph."""
        return FunctionGraph([], [self.ask(size)])

    def rewrite(self, fgraph: FunctionGraph) -> Result:
        """Apply the rules until none applies."""
        driver = EquilibriumOptimizer(self.rules, self.name, budget=RunBudget(100_000_000))
        return driver.rewrite(fgraph)

    def check(self, fgraph: FunctionGraph, size: int) -> None:
        """Raise `ArithmeticError` if the graph is not the answer."""
        if not same(fgraph.outputs[0], self.answer(size)):
            raise ArithmeticError(f"{self.name}({size}) came to a wrong normal form")
