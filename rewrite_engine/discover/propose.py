"""From classes of equal terms to pairs of terms of which one is better: `propose`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import rewrite_engine.tensor as pt
from rewrite_engine.discover.grow import EnumeratedTerm, Enumeration, silent
from rewrite_engine.discover.judge import AT_ONCE, Judge, Judged
from rewrite_engine.discover.space import Space
from rewrite_engine.graph.node import CONSTANT, Constant, Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.graph.traverse import toposort

CHEAPER = 1.25  # times, at least, or nothing is gained


class Proposal(NamedTuple):
    """A term, and a better one of its class."""

    left: EnumeratedTerm
    right: EnumeratedTerm
    before: Judged
    after: Judged

    @property
    def sides(self) -> list[Variable]:
        """The two terms of a rule: a number on the right has the shape of the left side."""
        left, right = self.plain
        if right.head is CONSTANT and right.type.ndim < left.type.ndim:
            right = pt.second(self.left.leaves[0], right)
        return [left, right]

    @property
    def plain(self) -> list[Variable]:
        """The two terms of one dtype; the right one may be a number."""
        left, right = self.left.variable, self.right.variable
        if isinstance(right, Constant):
            right = pt.constant(right.data.astype(left.type.dtype))
        return [left, right]

    @property
    def mended(self) -> int:
        """At how many elements the right side alone is right."""
        return len(self.before.wrong - self.after.wrong)

    def pays(self, saving: float) -> bool:
        """Whether the right side is nowhere worse, and mends something, or saves that much, or an
        op or a view, also in what the rules make of it.
        """
        if self.after.wrong - self.before.wrong:
            return False
        smaller = self.right.size < self.left.size and self.after.nodes < self.before.nodes
        if self.mended or (smaller and self.after.price <= self.before.price):
            return True
        return self.saving > saving

    @property
    def saving(self) -> float:
        """How many times cheaper the right side is."""
        return self.before.price / max(self.after.price, 1.0)


def propose(
    terms: Enumeration,
    judge: Judge,
    most: int = 6_000,
    saving: float = CHEAPER,
    equations: bool = False,
    told: Callable[[str], Any] = silent,
) -> list[Proposal]:
    """Return terms with a better one in their class, small and general ones first. most: how many
    terms are judged. saving: how many times cheaper a term must be that mends nothing. equations:
    propose terms that are as good as the first of their class, too. told: is called with a line on
    how far it is.
    """
    space = terms.space
    classes = [some for some in terms.equal if any([t.is_about(space.about) for t in some])]
    members = sorted([t for some in classes for t in some], key=lambda t: t.size)[:most]
    now: dict[EnumeratedTerm, Judged] = {}
    for start in range(0, len(members), AT_ONCE):
        told(f"{start} of {len(members)} terms judged")
        some = members[start : start + AT_ONCE]
        now.update(zip(some, judge.today([t.variable for t in some]), strict=True))
    found: list[Proposal] = []
    ops = ops_of(terms)
    for some in classes:
        known = [t for t in some if t in now]
        for left in known:
            if left.size and is_in_order(left.leaves, space):
                found += better(left, known, now, saving, ops)
        if equations:
            taken = {p.left for p in found}
            found += [p for p in as_good(known, now, space) if p.left not in taken]
    wanted = [p for p in found if any([t.is_about(space.about) for t in p[:2]])]
    return sorted(wanted, key=order_of)


def better(
    left: EnumeratedTerm,
    known: Sequence[EnumeratedTerm],
    now: dict[EnumeratedTerm, Judged],
    saving: float,
    ops: Container[Any],
) -> Iterator[Proposal]:
    """Yield the best term for a left side, if it is better. ops: those of the space."""
    fit = [t for t in known if t is not left and set(t.leaves) <= set(left.leaves)]
    if not fit:
        return
    fit = [t for t in fit if not now[t].wrong - now[left].wrong] or fit
    right = min(fit, key=lambda t: (*now[t].rank, t.size))
    one = Proposal(left, simplest(right, now[right], ops), now[left], now[right])
    same = equal_computations([one.before.form], [one.after.form])
    if one.pays(saving) and not same:
        yield one


def ops_of(terms: Enumeration) -> set[Any]:
    """Return the ops of all terms in classes of several."""
    every = [t.variable for some in terms.equal for t in some]
    return {node.op for node in toposort(every)}


def is_written_in(term: Variable, ops: Container[Any]) -> bool:
    """Whether a term consists of ops of a space, so that a person may write it."""
    return all([node.op in ops for node in toposort([term])])


def simplest(term: EnumeratedTerm, judged: Judged, ops: Container[Any]) -> EnumeratedTerm:
    """Return a term, or what the rules make of it, if that is smaller: half of x is found as
    log(sqrt(exp(x))) where there is no number 0.5.
    """
    form, size = judged.form, len(toposort([judged.form]))
    least = min(term.size, len(toposort([term.variable])))  # (parts may be shared)
    smaller = size < least and is_written_in(form, ops)
    return replace(term, variable=form, size=size, text="") if smaller else term


def as_good(
    known: Sequence[EnumeratedTerm], now: dict[EnumeratedTerm, Judged], space: Space
) -> Iterator[Proposal]:
    """Yield the first term of a class for each other one with the same variables."""
    right = known[0] if known else None
    for left in known[1:]:
        if right is None or set(right.leaves) != set(left.leaves):
            continue
        one = Proposal(left, right, now[left], now[right])
        same = equal_computations([one.before.form], [one.after.form])
        if not same and is_in_order([*right.leaves, *left.leaves], space):
            yield one


def is_in_order(leaves: Iterable[Variable], space: Space) -> bool:
    """Whether variables of one kind occur in the order of the space: others are the same term by
    other names.
    """
    occurring = [*dict.fromkeys(leaves)]
    for same in space.kinds():
        own = [v for v in occurring if v in same]
        if own != same[: len(own)]:
            return False
    return True


def order_of(one: Proposal) -> tuple[int, ...]:
    """Return a key by which small, flat and general proposals come first."""
    left, right = one.left, one.right
    return left.size, depth(left.variable), -len(left.leaves), right.size, -one.mended


def depth(term: Variable) -> int:
    """Return the number of ops on the longest path to a leaf."""
    found: dict[Variable, int] = {}
    for node in toposort([term]):
        found.update(dict.fromkeys(node.outputs, 1 + max([found.get(v, 0) for v in node.inputs])))
    return found.get(term, 0)
