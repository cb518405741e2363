"""`Cycle`: what happens after a budget has run out, until the cycle is known; the error that tells
it. Only then are terms noted as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.rewrite.loop import LONGEST, Lineage, Numbering, period, whole_period
from rewrite_engine.rewrite.step import Steps
from rewrite_engine.terms.print import letter, write

NOTED = 400  # firings that are noted as text after a budget has run out
LONG = 16  # firings of a lineage after the end of a budget that are taken for a loop
SHOWN = 24  # of a turn, in the message
LAST = 12  # of what has no period
AGAIN = "the same terms come again and again"
TEXT, DEPTH, WIDTH = 120, 5, 12  # characters, levels and operands of a term that are shown
LETTERS = 26  # for subterms, where cutting would hide what changes


#: a firing: of each step the rule and the terms before and after; the nodes of the graph before it
Noted = tuple[list[tuple[str, str, str]], int]


class Cycle:
    """The firings after a budget has run out: shows the cycle.

    what: has no end, by its name. lineage: the suspected one. Its firings are compared until they
    repeat; the first `NOTED`, or those of one turn, are noted with their terms.
    """

    def __init__(
        self, what: str, why: str, rule: Any, lineage: Lineage, growth: tuple[int, int]
    ) -> None:
        self.what, self.why, self.sure = what, why, why == AGAIN
        self.lineage, self.growth = lineage, growth
        self.places = {} if rule is None else {rule.name: getattr(rule, "where", None)}
        self.first = [*self.places]
        self.most = max(NOTED, min(3 * lineage[0], LONGEST))
        self.numbers = Numbering()
        self.noted: list[Noted] = []  # of the lineage
        self.others: list[Noted] = []
        self.keys: list[int] = []  # of all firings of the lineage
        self.names: list[tuple[str, ...]] = []
        self.turn: int | None = None
        self.wanted = NOTED
        self.count = 0
        self.now: Any = None  # what is proposed

    def note(self, node: Apply, steps: Steps, nodes: int, lineage: Lineage | None) -> None:
        """Steps are proposed at a node (of a lineage) of a graph that has so many nodes."""
        told = self.noted if lineage is self.lineage else self.others
        noted: Noted = [], nodes
        before = node.outputs[0] if node.outputs else node.op
        for rule, made in steps if len(told) < self.wanted else ():
            self.places[rule.name] = getattr(rule, "where", None)
            noted[0].append((rule.name, *texts_of(_replaced(before, made), made)))
            before = made
        self.now = told, noted, tuple([rule.name for rule, _ in steps]), self.numbers.key(node)

    def taken(self, made: Iterable[Apply], lineage: Lineage | None) -> bool:
        """The proposal was taken, and made nodes; whether that is enough."""
        self.numbers.number_all(made)
        self.count += 1
        told, noted, names, key = self.now
        if noted[0]:
            told.append(noted)
        if lineage is not self.lineage:
            return self.count >= 2 * self.most or (not self.keys and self.count >= NOTED)
        self.names.append(names)
        self.keys.append(self.numbers.number_of((names, key)))
        n = len(self.keys)
        if self.turn is not None:
            return len(self.noted) >= self.turn
        if n < self.most and (n < 8 or n & (n - 1)) and n != NOTED:
            return False
        self.turn = period(self.keys)
        if self.turn is None:
            turn = whole_period(self.names) if n >= NOTED else None  # by which the graph may grow
            return n >= self.most or (turn is not None and len(self._sizes(turn)) > 2)
        self.sure = True
        if n > NOTED:
            self.noted, self.wanted = [], self.turn
        return n <= NOTED

    def _sizes(self, turn: int) -> list[int]:
        """The nodes of the graph turn by turn, if they are more and more."""
        sizes = [nodes for _, nodes in self.noted[:: max(turn, 1)]][:4]
        return sizes if all(a < b for a, b in pairwise(sizes)) else []

    def error(self) -> RuleLoopError:
        """The error that tells it."""
        ours = len(self.keys) > 1 or not self.others
        told = self.noted if ours else self.others
        turn, head = self.turn, "one turn of the cycle:"
        if turn is None:
            turn = whole_period(self.names) if ours else None
            head = "one turn, after which the same rules go on with other terms:"
        if turn is None:
            head = "the last firings, in which no period was found:"
        names = self.names if ours else [[rule for rule, *_ in steps] for steps, _ in told]
        rules = list(dict.fromkeys(chain(*names[-(turn or 0) :]))) or self.first
        if self.sure or len(self.keys) >= LONG or not told:
            why = f"{self.why}, and {AGAIN}" if self.turn and self.why != AGAIN else self.why
            lines = [
                f"{self.what} does not come to an end: {why}",
                f"    the rules of the cycle: {', '.join(rules) or 'none that fired'}",
            ]
        else:  # there may be much to do, and no loop
            head = "the firings for which nothing was left:"
            lines = [
                f"{self.what} is not done, but {self.why}",
                f"    the rules that go on: {', '.join(rules)}; a `RunBudget` may allow them more",
            ]
        places = [(name, self.places.get(name)) for name in rules[:SHOWN]]
        lines += [f"        {name} is at {at[0]}:{at[1]}" for name, at in places if at is not None]
        events = [event for steps, _ in told[-(turn or LAST) :] for event in steps]
        lines += [f"    {head}"] if events else []
        lines += [f"        {rule}: {old} → {new}" for rule, old, new in events[:SHOWN]]
        if len(events) > SHOWN:
            lines.append(f"        … {len(events) - SHOWN} more")
        advice = "exclude one of the rules, or let it apply to fewer terms"
        if not self.sure:
            advice += "; if it is no loop, give them more: `RunBudget(...)`"
        error = RuleLoopError("\n".join([*lines, *self._grown(turn or len(told)), f"    {advice}"]))
        error.rules, error.turn = tuple(rules), tuple(events)
        return error

    def _grown(self, turn: int) -> list[str]:
        """How the graph grows from turn to turn, if it does."""
        before, now = self.growth
        if now <= before:
            return []
        sizes = self._sizes(turn)
        steps = f"; nodes turn by turn: {', '.join(map(str, sizes))}, …" if len(sizes) > 2 else ""
        return [f"    the graph grew from {before} to {now} nodes{steps}"]


def _replaced(before: Any, made: Any) -> Any:
    """What a rule's result takes the place of: of some of several outputs only these."""
    outputs = before.owner.outputs if isinstance(before, Variable) and before.owner else ()
    if not isinstance(made, list | tuple) or len(made) != len(outputs):
        return before
    return [None if new is None else old for old, new in zip(outputs, made, strict=True)]


def texts_of(before: Any, after: Any) -> tuple[str, str]:
    """Two terms as text. Where both are cut to the same, letters stand for what the first one is
    made of, some levels below, so that the texts differ.
    """
    texts = text_of(before), text_of(after)
    if texts[0] != texts[1] or not isinstance(before, Variable):
        return texts
    layer = [before]
    for _ in range(DEPTH - 1):
        below = [x for v in layer if v.owner is not None for x in v.owner.inputs[:LETTERS]]
        layer = list(dict.fromkeys(below))[:1000]
        hidden = [v for v in layer if v.owner is not None and v.name is None]
        letters = {v: letter(i) for i, v in enumerate(hidden[:LETTERS])}
        marked = text_of(before, letters), text_of(after, letters)
        if marked[0] != marked[1]:
            return marked
    return texts


def text_of(v: Any, letters: Mapping[Any, str] = MappingProxyType({})) -> str:
    """A term as text of limited length and depth; its own name does not hide it. Of what a rule
    returned for several outputs: all terms. letters: what to call subterms.
    """
    if isinstance(v, Mapping):
        pairs = [(text_of(old, letters), text_of(new, letters)) for old, new in v.items()]
        return ", ".join(f"{new} for {old}" for old, new in pairs)
    if isinstance(v, list | tuple):
        return ", ".join(text_of(new, letters) for new in v if new is not None)

    def name(x: Variable) -> str | None:
        own = x is v and x.owner is not None
        return letters.get(x, None if own else x.name)

    return write(v, depth=DEPTH, width=WIDTH, limit=TEXT, name=name)


class Stop(BaseException):
    """The run is over before its end. (No `Exception`, so that it is not taken for a rule's.)"""

    def __init__(self, error: RuleLoopError | None = None) -> None:
        self.error = error
