"""How many rewrites a question takes where equal terms are not shared, which is what other engines
count: the same rules, read by a plain evaluator. Arguments first, then the first rule that applies.

Calls with the same arguments take the same rewrites, so each is done once and counted as often as
it occurs; numbers far beyond what could be run come out exactly.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.rec.language import Program
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.pattern import Hole


class Term:
    """A term; equal ones are one object. Guards look at it as they look at a variable."""

    __slots__ = ("op", "args")

    def __init__(self, op: Any, args: tuple[Term, ...]) -> None:
        self.op = op
        self.args = args

    @property
    def owner(self) -> Term:
        """What a variable's node is."""
        return self


class Evaluator:
    """The innermost normal forms of terms under rules, with the number of rewrites to each."""

    def __init__(self, rules: Any) -> None:
        self.rules: dict[Any, list[Any]] = defaultdict(list)
        for rule in rules:
            self.rules[rule.left.op].append(rule)
        self.terms: dict[Any, Term] = {}
        self.calls: dict[Term, tuple[Term, int]] = {}

    def call(self, op: Any, args: Sequence[Term]) -> tuple[Term, int]:
        """An op of normal forms."""
        term = self.terms.setdefault((op, *args), Term(op, tuple(args)))
        if op not in self.rules:
            return term, 0
        if term not in self.calls:
            self.calls[term] = self.rewritten(term)
        return self.calls[term]

    def rewritten(self, term: Term) -> tuple[Term, int]:
        """What the first rule that applies makes of a term."""
        for rule in self.rules[term.op]:
            bound = matched(rule.left, term)
            if bound is not None and holds(rule.guards, bound):
                result, steps = self.built(rule.right, bound)
                return result, steps + 1
        return term, 0

    def built(self, pattern: Any, bound: dict[str, Term]) -> tuple[Term, int]:
        """The normal form of a right side."""
        if isinstance(pattern, Hole):
            return bound[pattern.name], 0
        args, steps = [], 0
        for arg in pattern.args:
            term, taken = self.built(arg, bound)
            args.append(term)
            steps += taken
        result, taken = self.call(pattern.op, args)
        return result, steps + taken

    def value(self, v: Variable) -> tuple[Term, int]:
        """The normal form of a term of a graph."""
        args, steps = [], 0
        for u in v.owner.inputs:
            term, taken = self.value(u)
            args.append(term)
            steps += taken
        result, taken = self.call(v.owner.op, args)
        return result, steps + taken


def matched(pattern: Any, term: Term) -> dict[str, Term] | None:
    """What the variables of a left side stand for; None if it does not match."""
    bound: dict[str, Term] = {}
    stack = [(pattern, term)]
    while stack:
        p, t = stack.pop()
        if isinstance(p, Hole):
            if bound.setdefault(p.name, t) is not t:
                return None
        elif p.op != t.op:
            return None
        else:
            stack += zip(p.args, t.args, strict=True)
    return bound


def holds(guards: Sequence[Any], bound: dict[str, Term]) -> bool:
    """Whether all guards hold."""
    return all(guard.fn(*[bound[hole.name] for hole in guard.args]) for guard in guards)


def unshared(program: Program, size: int) -> int:
    """The rewrites to the answer of a program's question where nothing is shared. Raises
    `ArithmeticError` if the normal form is another one.
    """
    evaluator = Evaluator(program.rules)
    with deep_calls():
        found, steps = evaluator.value(program.ask(size))
        if evaluator.value(program.answer(size)) != (found, 0):
            raise ArithmeticError(f"{program.name}({size}) is evaluated to a wrong normal form")
    return steps


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let calls nest as deep as numbers are large."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
