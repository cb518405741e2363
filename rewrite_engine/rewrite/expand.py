"""`expand(term, rules, n)`: terms that rewrite to this one, those with the fewest steps first.

Rules are run backwards (`rule.goal`) at every place of the term (`terms/relations.py`), and each
answer is checked forwards: one step of that rule, at that place, makes the term again, up to nests:
`a + (b + c)` counts as `a + b + c` here, since a variable of a rule may stand for a part of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import ILL_TYPED, Shared
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.ac import Uses, as_one
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.ac import is_associative_op
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.terms.budget import Budget, OnBudget, Watch, bounded


def expand(
    term: Variable,
    rules: Rule | Iterable[Rule],
    n: int = 10,
    *,
    seconds: float | None = 10.0,
    on_budget: OnBudget = "raise",
) -> list[Variable]:
    """Return up to n different terms that rewrite to `term`, those with the fewest steps first;
    fewer than n if there are no more.

    rules: data rules, equations and relations; node rewriters cannot run backwards and are skipped.
    A step is one rule at one place: at the root or inside, at all places where that term occurs.
    Terms with variables that the rules leave open (the y of `0 * y -> 0`) are not included.
    seconds: time limit of the search; at the limit it raises `SearchBudgetError`, or with
    on_budget="stop" returns the terms so far. Raises `PatternError` if no rule can run backwards.
    """
    from kanren import var

    from rewrite_engine.terms.relations import reduceo, walko
    from rewrite_engine.terms.search import search

    if not isinstance(term, Variable):
        raise PatternError(f"expand takes a variable, not {term!r}")
    given = [rules] if isinstance(rules, Rule) or not isinstance(rules, Iterable) else list(rules)
    for rule in given:
        if not isinstance(rule, Rule):
            raise PatternError(f"expand takes rules, not {rule!r}")
    chosen = [r for rule in given for r in (getattr(rule, "directions", None) or (rule,))]
    backward = [rule for rule in chosen if hasattr(rule, "goal")]
    if chosen and not backward:
        raise PatternError(f"none of the rules can be run backwards: {chosen[0]!r}")
    watch, q = Watch(Budget(None, seconds, on_budget)), var()
    steps = reduceo(partial(walko, Inverse(backward)), q, term)
    asked = f"the search for {n} terms that rewrite to {brief(term)}"
    return list(islice(bounded(search(q, (steps,), watch), watch, asked), n))


class Inverse:
    """Relation between terms and their rewritings at the root, run backwards."""

    def __init__(self, rules: list[Any]) -> None:
        self.rules = rules
        self.shared = Shared()

    def __call__(self, old: Any, new: Any) -> Callable[[Any], Iterator[Any]]:
        from rewrite_engine.terms.relations import ground

        def goal(state: Any) -> Iterator[Any]:
            part = ground(new, state, self.shared)
            for rule in self.rules if part is not None else ():
                for found in rule.goal(old, new)(state):
                    one = ground(old, found, self.shared)
                    if one is None or one is part:
                        continue
                    if self.rewrites(rule, one, part, state):
                        yield found

        return goal

    def rewrites(self, rule: Any, old: Variable, new: Any, state: Any) -> bool:
        """Return whether a rule turns one term into the other in one step."""
        from kanren import var

        from rewrite_engine.terms.convert import etuplize
        from rewrite_engine.terms.relations import ground

        q, term, node = var(), etuplize(old), old.owner
        try:
            if node is None or not rule.considers(node.op) or not rule.accept(old, new):
                return False
            if any(True for _ in rule.goal(term, new)(state)):
                return True
            made = (ground(q, found, self.shared) for found in rule.goal(term, q)(state))
            whole = self.opened(new)
            return any(self.opened(v) is whole for v in made if v is not None)
        except ILL_TYPED:
            return False

    def opened(self, v: Variable) -> Variable:
        """Return a term with its nest, if it is one, and those of its operands opened."""
        if v.owner is None:
            return v
        new = {u: self.whole(u) for u in v.owner.inputs}
        node = v.owner.clone_with_new_inputs([new[u] for u in v.owner.inputs])
        return self.shared(self.whole(node.outputs[v.index or 0]))

    def whole(self, v: Variable) -> Variable:
        """Return a nest as one op."""
        node = v.owner
        if (
            node is None
            or not is_associative_op(node.op)
            or all(u.head is not node.op for u in node.inputs)
        ):
            return v
        flat = as_one(Uses(toposort([v]), [v]), node)
        return v if flat is None else flat.outputs[0]
