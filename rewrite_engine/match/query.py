"""`Query`: which rules a mode wants, by tag or name. Immutable; each method returns a new query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


def labels(names: Iterable[Any]) -> frozenset[str]:
    """Tags or names; a claim stands for its kind (`excluding(exact)`), a claim's maker for its
    name (`approx`).
    """
    result = set()
    for name in names:
        result.add(name if isinstance(name, str) else getattr(name, "kind", None) or name.__name__)
    return frozenset(result)


@dataclass(frozen=True, slots=True)
class Query:
    """include: tags that are granted beyond the default (`"fastmath"`). exclude: rules with any of
    these tags or names are left out. require: only rules with all of these tags are kept.
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()

    def including(self, *names: Any) -> Query:
        """Grant tags; what was excluded under these names comes back."""
        more = labels(names)
        return replace(self, include=self.include | more, exclude=self.exclude - more)

    def excluding(self, *names: Any) -> Query:
        """Leave out everything with one of these tags or names."""
        less = labels(names)
        return replace(self, include=self.include - less, exclude=self.exclude | less)

    def requiring(self, *names: Any) -> Query:
        """Keep only what has all of these tags."""
        return replace(self, require=self.require | labels(names))

    def selects(self, names: frozenset[str], needs_leave: str | None = None) -> bool:
        """Whether something with these names is wanted.

        `needs_leave`: a tag that must be included first.
        """
        if self.exclude & names:
            return False
        if needs_leave is not None and needs_leave not in self.include:
            return False
        return self.require <= names

    @property
    def mentioned(self) -> frozenset[str]:
        """Every name the query speaks of."""
        return self.include | self.exclude | self.require
