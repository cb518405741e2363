"""Proofs that the data rules of a phase terminate together.

The weight of a term is that of its op, and of its operands, each as often as the op reads it: once
or more often (`READS`). If the left side of every rule weighs at least what the right side does,
whatever its variables stand for, those whose left side weighs more are done; for the others other
weights are looked for. Given how often ops read, weights are the solution of a linear program,
which SciPy finds; where it has none, an op is made to read its operands more often. Right sides
that are computed are weighed as they are made of samples, which is evidence and no proof. (What is
computed of constants alone is a number.)

A rule of which that shows nothing may say itself why it ends (`ends=`): a measure of terms that it
makes smaller, or how often it can apply at one term, `at_most(n)`. Both are held against samples.
(A rule of which nothing is known may still come to an end; that it does not shows where rules are
tried: `firing.py`.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.check.claim import sides, tried
from rewrite_engine.check.example import own_steps
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.remedy import wrong
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.equation import DirectedRule, Equation
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import AtMost, DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import PHASES, known_rules
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor import Elemwise

NUMBER, VARIABLE = "a number", "a variable"
#: elementwise ops that are taken to read their operands twice, as all ops on arrays are: what
#: leaves these makes a term lighter. That is where the search begins
READS = {"sqr": 2, "pow": 2, "true_div": 2}
SAMPLES = 30  # of a right side that is computed
MOST = 400  # terms that are looked at for them

Sides = tuple[Any, Any]


class Weighing(NamedTuple):
    """Weights of ops, the number of times that each reads its operands, and the rules that make
    terms lighter with these.
    """

    weights: dict[str, float]
    reads: dict[str, int]
    rules: tuple[Rule, ...]


def unproved(rules: Sequence[DataRule], added: RuleSet) -> tuple[list[DataRule], list[Weighing]]:
    """Return the rules for which no weights are found, and the weights for the others in turn."""
    known = {r: both(r, added) for r in rules}
    reads = _repaired({r: pairs for r, pairs in known.items() if pairs})
    left = {r: pairs for r, pairs in known.items() if pairs and not _repeats(pairs, reads)}
    orders = []
    while left and (order := _order(left, reads)) is not None:
        orders.append(order)
        left = {r: pairs for r, pairs in left.items() if r not in order.rules}
    done = {r for order in orders for r in order.rules}
    return [r for r in rules if r not in done], orders


def _repeats(pairs: Sequence[Sides], reads: Mapping[str, int]) -> bool:
    """Whether a right side reads a variable more often."""
    return None in [balance(pair, reads) for pair in pairs]


def _repaired(known: Mapping[DataRule, Sequence[Sides]]) -> dict[str, int]:
    """How often ops read, so that few right sides read more often than left sides."""
    reads = dict(READS)
    repeating = {r for r, pairs in known.items() if _repeats(pairs, reads)}
    for rule in list(repeating):
        for other in _others({rule: known[rule]}, reads):
            still = {r for r, pairs in known.items() if _repeats(pairs, other)}
            if still < repeating:
                reads, repeating = other, still
                break
    return reads


def _order(known: Mapping[DataRule, Sequence[Sides]], reads: dict[str, int]) -> Weighing | None:
    """Weights by which some of these rules make terms lighter, and none makes one heavier."""
    for other in (reads, *_others(known, reads)):
        rows = {r: [balance(p, other) for p in pairs] for r, pairs in known.items()}
        flat = [row for some in rows.values() for row in some if row is not None]
        if len(flat) < sum(map(len, rows.values())):
            continue  # some right side reads a variable more often
        weights, lighter = _weights(flat)
        each = iter(lighter)
        done = tuple([r for r, some in rows.items() if all([next(each) for _ in some])])
        if done:
            return Weighing(weights, other, done)
    return None


def _others(
    known: Mapping[Any, Sequence[Sides]], reads: dict[str, int]
) -> Iterator[dict[str, int]]:
    """Yield ways in which one op reads its operands more often. (A sum or product of several reads
    each once.)
    """
    ops: dict[str, Any] = {}
    for pairs in known.values():
        for left, _ in pairs:
            ops |= {name_of(op): op for op, _ in _nodes(left)}
    for times in (2, 8):
        for name, op in ops.items():
            if not getattr(op, "commutative", False) and _reads(op, reads) < times:
                yield reads | {name: times}


def both(rule: DataRule, added: RuleSet) -> Sequence[Sides]:
    """Return the two sides of a rule; for a computed right side, sample terms and their results."""
    if isinstance(rule.right, Compute):
        return _sampled(rule, added)
    rights = rule.right if isinstance(rule.right, tuple) else (rule.right,)
    return [(rule.left, right) for right in rights]


@lru_cache(maxsize=2000)
def _sampled(rule: DataRule, added: RuleSet) -> Sequence[Sides]:
    """Terms at which a rule fires, and what it makes of them."""
    found: list[Sides] = []
    asked: Any = rule.on_trust if rule.proves else rule
    for _, term in islice(tried(asked, brief=True), MOST):
        try:
            new = sides(asked, term)
        except RewriteEngineError:  # told by other checks
            continue
        if new is not None and len(found) < SAMPLES:
            found.append((term, new))
    shown = [(s.before, s.after) for s in own_steps(rule, added) if s.rule_name == rule.name]
    return [*found, *shown]


def balance(pair: Sides, reads: Mapping[str, int]) -> Counter[str] | None:
    """Return how many more of each op the left side has, counted as often as they are read; None if
    the right side reads a variable more often.
    """
    counts, variables = Counter[str](), Counter[Any]()
    for side, sign in zip(pair, (1, -1), strict=True):
        for p, times in _parts(side, reads):
            if _is_number(p):
                counts[NUMBER] += sign * times
            elif isinstance(p, OpNode):
                counts[name_of(p.op)] += sign * times
            elif isinstance(p, Variable) and p.owner is not None:
                counts[name_of(p.owner.op)] += sign * times
            else:
                variables[p.name if isinstance(p, Hole) else p] += sign * times
                counts[VARIABLE] += sign * times
    return None if any(n < 0 for n in variables.values()) else counts


def _parts(side: Any, reads: Mapping[str, int]) -> Iterator[tuple[Any, int]]:
    """Yield the parts of a pattern or a small term, each with how often it is read."""
    todo = [(side, 1)]
    while todo:
        p, times = todo.pop()
        yield p, times
        if not _is_number(p) and (node := _node(p)) is not None:
            op, args = node
            todo += [(a, times * _reads(op, reads)) for a in args]


def _reads(op: Any, reads: Mapping[str, int]) -> int:
    """How often an op reads its operands."""
    known = reads.get(name_of(op))
    return (1 if isinstance(op, Elemwise) else 2) if known is None else known


def _nodes(side: Any) -> Iterator[tuple[Any, Any]]:
    return (node for p, _ in _parts(side, {}) if (node := _node(p)) is not None)


def _node(p: Any) -> tuple[Any, Sequence[Any]] | None:
    """The op of a part, and what it reads."""
    if isinstance(p, OpNode):
        return p.op, p.args
    if isinstance(p, Variable) and p.owner is not None:
        return p.owner.op, p.owner.inputs
    return None


def _is_number(p: Any) -> bool:
    """Whether a part stands for a number, or is computed of numbers: constants are folded."""
    if isinstance(p, OpNode):
        return bool(p.args) and all([_is_number(a) for a in p.args])
    if isinstance(p, Hole):
        return bool(p.sort.constant)
    return isinstance(p, Literal | Constant)


def name_of(op: Any) -> str:
    """What an op, or a class of ops, is weighed as: whatever its parameters are."""
    if isinstance(op, OpClass):
        return op.cls.__name__
    return str(op) if isinstance(op, Elemwise) else type(op).__name__


def _weights(rows: Sequence[Counter[str]]) -> tuple[dict[str, float], list[bool]]:
    """Weights by which no row is negative, and as many as possible are positive."""
    from scipy.optimize import linprog

    names = sorted({name for row in rows for name in row})
    n, m = len(names), len(rows)
    table = np.array([[row.get(name, 0) for name in names] for row in rows], float)
    table = table.reshape(m, n)
    most = [0.0] * n + [-1.0] * m  # as many as there are
    found = linprog(
        most,
        A_ub=np.hstack([-table, np.eye(m)]),
        b_ub=np.zeros(m),
        bounds=[(0, None)] * n + [(0, 1)] * m,
    )
    if not found.success:
        return {}, [False] * m
    weights = {name: float(w) for name, w in zip(names, found.x[:n], strict=True) if w > 1e-9}
    return weights, [bool(s > 0.5) for s in found.x[n:]]


# --- what rules say themselves --------------------------------------------------------------------


def _said(rule: DataRule, added: RuleSet) -> Finding | None:
    """What is wrong with what a rule says of its end, on samples."""
    pairs = _sampled(rule, added)
    if not pairs:
        why = "it declares ends=, and no term was found at which it fires"
        return Finding(Kind.UNPROVED, "termination", "ends", rule.name, rule.where, why)
    for before, after in pairs:
        why = _goes_on(rule, before, after)
        if why:
            text = f"{brief(before, 9)} becomes {brief(after, 9)}"
            return wrong("termination", "ends", rule.name, rule.where, why, text)
    return None


def _goes_on(rule: DataRule, before: Any, after: Any) -> str:
    if not isinstance(rule.ends, AtMost):
        try:
            was, now = rule.ends(before), rule.ends(after)
        except Exception as error:
            return f"its measure raises {type(error).__name__}: {error}"
        return "" if was > now >= 0 else f"its measure is not made smaller: {was}, then {now}"
    term, count = after, 1
    while count <= rule.ends.times and term.owner is not None:
        term = sides(rule, term)
        if term is None:
            return ""
        count += 1
    more = count > rule.ends.times
    return f"it applies more often than at most {rule.ends.times} times" if more else ""


# --- phases ---------------------------------------------------------------------------------------


def check_termination(rules: Sequence[Rule], added: RuleSet) -> Iterator[Finding]:
    """Yield the rules of which it is not known that they come to an end with all others of their
    phase. (Equations have no direction, and a cost chooses.)
    """
    own = _directed(rules)
    for rule in own:
        if rule.ends is not None:
            found = _said(rule, added)
            if found is not None:
                yield found
    rest = [r for r in own if r.ends is None]
    for phase in dict.fromkeys([r.phase for r in rest]):
        mine = [r for r in rest if r.phase == phase]
        for rule in unproved(_together(phase, mine), added)[0]:
            if rule in mine:
                why = "no weights of ops prove that it terminates with the other rules of its phase"
                if isinstance(rule.right, Compute) and not both(rule, added):
                    why = "its right side is computed, and no term was found at which it fires"
                fix = "say ends=: a measure of terms that it makes smaller, or at_most(n)"
                name, where = rule.name, rule.where
                yield Finding(
                    Kind.UNPROVED, "termination", "termination", name, where, why, fix=fix
                )


def _together(phase: str | None, own: Sequence[DataRule]) -> list[DataRule]:
    """Rules, and the shipped ones that are tried together with them."""
    names = {phase}
    for p in PHASES:
        if p.name == phase:
            names |= {*p.also, p.again}
    shipped = [r for r in _directed(known_rules(Query())) if r.phase in names]
    return list(dict.fromkeys([*own, *[r for r in shipped if r.ends is None]]))


def _directed(rules: Iterable[Rule]) -> list[DataRule]:
    """Data rules, which are no equations."""
    data = [r for r in rules if isinstance(r, DataRule)]
    return [r for r in data if not isinstance(r, Equation | DirectedRule)]
