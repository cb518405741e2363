"""Whether the data rules of a phase come to an end, by weights of ops that a search finds.

A weight is a number for each op (and for numbers), so that the left side of every rule weighs at
least what the right side does, whatever its variables stand for: none occurs more often on the
right. Rules whose left side weighs more are done; for those that are left other weights are looked
for. It is a linear program, which SciPy solves. (A rule that no weights are found for may still
come to an end; that it does not shows where rules are tried: `firing.py`.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.match.equation import DirectedRule, Equation
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.match.rule import DataRule, Rule

NUMBER = "a number"


def unproved(rules: Sequence[DataRule]) -> tuple[list[DataRule], list[dict[str, float]]]:
    """Rules for which no weights are found, and the weights for the others, one after the other."""
    rows = {r: row for r in rules if (row := balance(r)) is not None}
    left, orders = list(rows), []
    while left:
        weights, decreasing = _weights([rows[r] for r in left])
        if not any(decreasing):
            break
        orders.append(weights)
        left = [r for r, smaller in zip(left, decreasing, strict=True) if not smaller]
    return [r for r in rules if r not in rows or r in left], orders


def balance(rule: DataRule) -> Counter[str] | None:
    """How many more of each op the left side has; None where a variable is repeated more often on
    the right, or that is not known.
    """
    if isinstance(rule.right, Compute | tuple):
        return None
    counts, variables = Counter[str](), Counter[str]()
    for side, sign in ((rule.left, 1), (rule.right, -1)):
        for p, _ in subpatterns(side):
            if isinstance(p, Hole):
                variables[p.name] += sign
            elif isinstance(p, Literal):
                counts[NUMBER] += sign
            elif isinstance(p, OpNode):
                counts[_name(p)] += sign
    return None if any(n < 0 for n in variables.values()) else counts


def _name(p: OpNode) -> str:
    return p.op.cls.__name__ if isinstance(p.op, OpClass) else str(p.op)


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


def check_termination(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Yield the rules of which it is not known that they come to an end together, phase by phase.
    (Equations have no direction, and a cost chooses.)
    """
    data = [r for r in rules if isinstance(r, DataRule) and not isinstance(r, _UNDIRECTED)]
    for phase in dict.fromkeys([r.phase for r in data]):
        for rule in unproved([r for r in data if r.phase == phase])[0]:
            why = "no weights of ops show that it comes to an end with the others of its phase"
            if isinstance(rule.right, Compute):
                why = "its right side is computed: nothing shows that it comes to an end"
            yield Finding(Kind.UNPROVED, "termination", "termination", rule.name, rule.where, why)


_UNDIRECTED = (Equation, DirectedRule)
