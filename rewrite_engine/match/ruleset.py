"""`RuleSet`: rules in order, as a value.

Sets add, subtract and answer queries; nothing is registered anywhere. A name belongs to one rule:
another one replaces it only on request (`overwrite=True`). Order is specified by name
(`before="log_of_exp"`), not by numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.errors import (
    DuplicateRuleError,
    UnknownNameError,
    did_you_mean,
    plural,
    source_line,
)
from rewrite_engine.fork import cached_property
from rewrite_engine.match.dispatch import Dispatch, dispatch_of
from rewrite_engine.match.query import ALWAYS, Query, labels
from rewrite_engine.match.rule import Rule, pack_of


class RuleSet:
    """Ordered, immutable set of rules.

    Raises `DuplicateRuleError` if two different ones share a name.
    """

    def __init__(self, rules: Iterable[Rule] | Rule = ()) -> None:
        by_name: dict[str, Rule] = {}
        for rule in [rules] if isinstance(rules, Rule) else rules:
            if not isinstance(rule, Rule):
                hint = "; give it the rules of the driver" if hasattr(rule, "rewrite") else ""
                raise TypeError(f"a RuleSet takes rules, not {rule!r}{hint}")
            known = by_name.setdefault(rule.name, rule)
            if known is not rule:
                raise DuplicateRuleError(
                    f"two rules are called {rule.name}:\n    {source_line(*known.where)}\n"
                    f"    {source_line(*rule.where)}\n"
                    "    adding(..., overwrite=True) replaces the first by the second"
                )
        self.by_name = by_name

    @classmethod
    def _of(cls, by_name: dict[str, Rule]) -> RuleSet:
        """Make a set of rules whose names are known."""
        new = RuleSet.__new__(RuleSet)
        new.by_name = by_name
        return new

    @classmethod
    def of(cls, *modules: ModuleType) -> RuleSet:
        """Return the rules and strategies defined in modules, in source order. A strategy is named
        after its variable. Rules without a phase that are parts of these strategies are left out.
        """
        results = [rule for module in modules for rule in _defined_in(module)]
        inside = parts_of(results)
        return cls(rule for rule in results if rule.phase is not None or rule not in inside)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.by_name.values())

    def __len__(self) -> int:
        return len(self.by_name)

    def _called(self, name: str) -> list[Rule]:
        """Return the rule with a name; else those of functions with that name."""
        known = self.by_name.get(name)
        return [r for r in self if r.short_name == name] if known is None else [known]

    def __contains__(self, rule: Rule | str) -> bool:
        if isinstance(rule, Rule):
            return rule.name in self.by_name
        return len(self._called(rule)) == 1

    def __getitem__(self, name: str) -> Rule:
        """Return a rule by its name, or by its function's name if that is unambiguous."""
        result = self._called(name)
        if len(result) == 1:
            return result[0]
        if result:
            full = " or ".join(r.name for r in result)
            raise UnknownNameError(f"{name!r} names several rules: write {full}")
        known = [*self.by_name, *(r.short_name for r in self)]
        raise UnknownNameError(f"no rule is called {name!r}{did_you_mean(name, known)}")

    # --- arithmetic ------------------------------------------------------------------------------

    def adding(
        self,
        *rules: RuleSet | Rule | Iterable[Rule],
        overwrite: bool = False,
        before: str | None = None,
        after: str | None = None,
    ) -> RuleSet:
        """Return the set with more rules: at its end, or before (after) the rules with a name or
        tag.

        A rule that is already present stays in place, unless a place is named. overwrite: rules
        replace others of the same name. Raises `DuplicateRuleError` without that, and
        `UnknownNameError` for an unknown place.
        """
        new = RuleSet(r for given in rules for r in _each(given))
        if not overwrite:
            for name, rule in new.by_name.items():
                RuleSet([self.by_name.get(name, rule), rule])  # says if they clash
        if before is None and after is None:
            return RuleSet._of(self.by_name | new.by_name)
        if before is not None and after is not None:
            raise ValueError("name one place: before=..., or after=...")
        others = [r for r in self if r.name not in new]
        wanted = labels([before if before is not None else after])
        places = [i for i, r in enumerate(others) if wanted & r.names]
        if not places:
            (name,) = wanted
            hint = did_you_mean(name, RuleSet(others).names)
            raise UnknownNameError(f"no rule here is called {name!r}{hint}")
        cut = places[0] if before is not None else places[-1] + 1
        return RuleSet([*others[:cut], *new, *others[cut:]])

    def __add__(self, other: RuleSet | Rule) -> RuleSet:
        return self.adding(other) if isinstance(other, RuleSet | Rule) else NotImplemented

    __or__ = __add__

    def __and__(self, other: RuleSet) -> RuleSet:
        """Return the rules that both have, in this one's order."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self._if(lambda rule: rule.name in other.by_name)

    def __sub__(self, other: RuleSet | Rule | str) -> RuleSet:
        """Return the set without the rules of another set, one rule, or all with a name or tag."""
        if isinstance(other, str):
            return self.excluding(other)
        if not isinstance(other, RuleSet | Rule):
            return NotImplemented
        gone = {other.name} if isinstance(other, Rule) else set(other.by_name)
        return self._if(lambda rule: rule.name not in gone)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, RuleSet) and self.rules == other.rules)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.rules)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the set, in order."""
        return tuple(self.by_name.values())

    # --- queries ---------------------------------------------------------------------------------

    def query(self, query: Query) -> RuleSet:
        """Return the rules a query selects, with its grants. It may use names that no rule here
        has.
        """
        chosen = self._where(query, lambda rule: rule.needs_grant)
        return RuleSet._of({name: r.under(query.include) for name, r in chosen.by_name.items()})

    def including(self, *tags: Any) -> RuleSet:
        """Return the default rules, and those that need one of these tags to be granted."""
        return self.query(self._known(Query().including(*tags)))

    def excluding(self, *tags: Any) -> RuleSet:
        """Return the rules without any of these tags or names. Raises `UnknownNameError`."""
        return self._where(self._known(Query().excluding(*tags)))

    def requiring(self, *tags: Any) -> RuleSet:
        """Return the rules with all of these tags. Raises `UnknownNameError`."""
        return self._where(self._known(Query().requiring(*tags)))

    def phase(self, name: str) -> RuleSet:
        """Return the rules of one phase."""
        return RuleSet._of(self._phases.get(name, {}))

    @cached_property
    def _phases(self) -> dict[str | None, dict[str, Rule]]:
        results: dict[str | None, dict[str, Rule]] = {}
        for name, rule in self.by_name.items():
            results.setdefault(rule.phase, {})[name] = rule
        return results

    def _where(
        self, query: Query, needed: Callable[[Rule], str | None] = lambda rule: None
    ) -> RuleSet:
        if not query.exclude and not query.require:
            granted = {None, *query.include}
            return self._if(lambda rule: needed(rule) in granted)
        return self._if(lambda rule: query.selects(rule.names, needed(rule)))

    def _if(self, wanted: Callable[[Rule], bool]) -> RuleSet:
        return RuleSet._of({name: r for name, r in self.by_name.items() if wanted(r)})

    def _known(self, query: Query) -> Query:
        """Return the query, if each of its names is one of a rule, or of a claim."""
        unknown = query.mentioned - self.names - ALWAYS
        if unknown:
            name = min(unknown)
            hint = did_you_mean(name, self.names)
            raise UnknownNameError(f"no rule here has the name or tag {name!r}{hint}")
        return query

    @property
    def names(self) -> frozenset[str]:
        """Names and tags that a query may use."""
        return frozenset().union(*(r.names for r in self))

    @cached_property
    def dispatch(self) -> Dispatch:
        """Compiled matcher of the set; sets with the same rules share it."""
        return dispatch_of(self.rules)

    def __repr__(self) -> str:
        return f"<RuleSet of {plural(len(self), 'rule')}>"

    def _repr_html_(self) -> str:
        """Return the notebook view: the rules of each phase, as formulas."""
        return hooks.html_of_rules(self)  # type: ignore[no-any-return]


def _each(given: Any) -> Iterable[Any]:
    """Return several rules, or one, as an iterable; the set rejects other objects."""
    if isinstance(given, str):
        hint = f"those of a file: load_rules({given!r})"
        raise TypeError(f"a RuleSet takes rules, not {given!r}; {hint}")
    return [given] if isinstance(given, Rule) or not isinstance(given, Iterable) else given


class Table(RuleSet):
    """Rules of a `table(...)`, which belong to the module that they are written in."""


def _defined_in(module: ModuleType) -> Iterator[Rule]:
    """Yield the rules that a module defines itself; its strategies get their names."""
    names = vars(module)
    pack = pack_of(module.__name__, names)
    for name, rule in names.items():
        if isinstance(rule, Table):
            yield from [row for row in rule if row.module == module.__name__]
        if not isinstance(rule, Rule) or rule.module != module.__name__:
            continue
        if getattr(rule, "unnamed", False):
            rule.short_name = name
            rule.named(pack)
        yield rule


def parts_of(rules: Iterable[Rule]) -> set[Rule]:
    """Return the rules that strategies are made of, including nested strategies."""
    todo, result = list(rules), set[Rule]()
    while todo:
        new = set(getattr(todo.pop(), "parts", ())) - result
        result |= new
        todo.extend(new)
    return result


class Addition(NamedTuple):
    """Arguments of `RuleSet.adding`, for a set that does not exist yet."""

    rules: RuleSet
    overwrite: bool = False
    before: str | None = None
    after: str | None = None

    def to(self, rules: RuleSet) -> RuleSet:
        """Add the rules to a set."""
        options = self._asdict()
        return rules.adding(options.pop("rules"), **options)
