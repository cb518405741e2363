"""`RuleSet`: rules in order, as a value.

Sets add and subtract and answer queries; nothing is registered anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

from rewrite_engine.errors import DuplicateRuleError, UnknownNameError, source_line
from rewrite_engine.match.dispatch import Dispatch
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule


class RuleSet:
    """An ordered, immutable set of rules.

    Raises `DuplicateRuleError` if two different ones share a name.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        by_name: dict[str, Rule] = {}
        for rule in rules:
            known = by_name.setdefault(rule.name, rule)
            if known is not rule:
                raise DuplicateRuleError(
                    f"two rules are called {rule.name}:\n    {source_line(*known.where)}\n"
                    f"    {source_line(*rule.where)}"
                )
        self.by_name = by_name

    @classmethod
    def of(cls, *modules: ModuleType) -> RuleSet:
        """The rules defined in modules, in source order."""
        return cls(
            rule
            for module in modules
            for rule in vars(module).values()
            if isinstance(rule, Rule) and rule.fn.__module__ == module.__name__
        )

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def __contains__(self, rule: Rule | str) -> bool:
        return (rule if isinstance(rule, str) else rule.name) in self.by_name

    def __getitem__(self, name: str) -> Rule:
        """A rule by its name, or by its function's name if that is unambiguous."""
        if name in self.by_name:
            return self.by_name[name]
        found = [r for r in self if r.short_name == name]
        if len(found) != 1:
            raise UnknownNameError(
                f"no rule is called {name!r}" if not found else f"{name!r} names several: {found}"
            )
        return found[0]

    def __add__(self, other: RuleSet | Rule) -> RuleSet:
        return RuleSet([*self, *([other] if isinstance(other, Rule) else other)])

    def __sub__(self, other: RuleSet | Rule | str) -> RuleSet:
        if isinstance(other, str):
            other = self[other]
        gone = {other.name} if isinstance(other, Rule) else set(other.by_name)
        return RuleSet(r for r in self if r.name not in gone)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def query(self, query: Query) -> RuleSet:
        """The rules a query selects."""
        return RuleSet(r for r in self if query.selects(r.names, r.claim.needs_leave))

    def including(self, *tags: Any) -> RuleSet:
        """The rules wanted by default, and those that need one of these tags to be granted."""
        return self.query(Query().including(*tags))

    def excluding(self, *tags: Any) -> RuleSet:
        """The rules without any of these tags or names."""
        wanted = Query().excluding(*tags)
        return RuleSet(r for r in self if wanted.selects(r.names))

    def requiring(self, *tags: Any) -> RuleSet:
        """The rules with all of these tags."""
        wanted = Query().requiring(*tags)
        return RuleSet(r for r in self if wanted.selects(r.names))

    def phase(self, name: str) -> RuleSet:
        """The rules of one phase."""
        return RuleSet(r for r in self if r.phase == name)

    @property
    def names(self) -> frozenset[str]:
        """Every name and tag a query may use."""
        return frozenset().union(*(r.names for r in self)) if len(self) else frozenset()

    @cached_property
    def dispatch(self) -> Dispatch:
        """The compiled matcher of the set."""
        return Dispatch(self)

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self)} rules>"
