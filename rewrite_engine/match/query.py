"""`Query`: the rules that a mode selects, by tag or name. Immutable; each method returns a new
query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any


def labels(names: Iterable[Any]) -> frozenset[str]:
    """Return tags or names as strings. A rule stands for its name, a claim for its kind
    (`excluding(exact)`), a constructor of claims for its name (`approx`).
    """
    results = []
    for thing in names:
        own = [getattr(thing, attribute, None) for attribute in ("name", "kind", "__name__")]
        label = next((x for x in (thing, *own) if isinstance(x, str)), None)
        if label is None:
            raise TypeError(f"a query takes names, tags, rules and claims, not {thing!r}")
        results.append(label)
    return frozenset(results)


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """Selection of rules. include: tags that are granted beyond the default (`"fastmath"`).
    exclude: rules with any of these tags or names are left out. require: only rules with all of
    these tags are selected. Each is one name or several.

    >>> Query(include="fastmath", exclude=["inplace", "algebra"])
    Query().including('fastmath').excluding('algebra', 'inplace')
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for f in fields(self):
            given: Any = getattr(self, f.name)
            if not isinstance(given, frozenset):
                names = [given] if isinstance(given, str) else given or ()
                object.__setattr__(self, f.name, labels(names))

    def including(self, *names: Any) -> Query:
        """Grant tags; rules excluded under these names return."""
        more = labels(names)
        return replace(self, include=self.include | more, exclude=self.exclude - more)

    def excluding(self, *names: Any) -> Query:
        """Leave out everything with one of these tags or names."""
        less = labels(names)
        return replace(self, include=self.include - less, exclude=self.exclude | less)

    def requiring(self, *names: Any) -> Query:
        """Select only rules with all of these tags."""
        return replace(self, require=self.require | labels(names))

    def selects(self, names: frozenset[str], needs_grant: str | None = None) -> bool:
        """Return whether a rule with these names is selected. needs_grant: a tag that must be
        included.
        """
        granted = needs_grant is None or needs_grant in self.include
        return granted and not self.exclude & names and self.require <= names

    @property
    def mentioned(self) -> frozenset[str]:
        """Every name that the query uses."""
        return self.include | self.exclude | self.require

    def calls(self, start: Query) -> str:
        """Return the methods that lead here from another query: `.excluding('inplace')`."""
        given = {"including": "include", "excluding": "exclude", "requiring": "require"}
        text = ""
        for verb, name in given.items():
            new = getattr(self, name) - getattr(start, name)
            text += f".{verb}({', '.join(map(repr, sorted(new)))})" if new else ""
        return text

    def __repr__(self) -> str:
        return f"Query(){self.calls(Query())}"


#: names that every query may use: kinds of claims, the usual assumptions, and what the field calls
#: the whole pipeline
ALWAYS = frozenset(
    {"exact", "refines", "approx", "backward", "assumes", "fastmath", "shape_unsafe", "fast_run"}
)

#: what the field calls it
RewriteDatabaseQuery = Query
