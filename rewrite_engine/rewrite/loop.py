"""Detection of rules that do not end: `Lineages` (firings at one place), periods, and `Cycle`. A
`Cycle` records firings after a budget has run out, until the cycle is known, and builds the error
that shows it. Only then are terms recorded as text. Budgets are in `rewrite/budget.py`.

Every firing happens at a node that an earlier firing made, or at a node of the original graph. All
descendants of one original node form a *lineage*; its firings are counted. The count of a loop
grows without end, wherever it is, whether it is deep or broad, and however large the graph is; the
count of productive work grows only while it inspects nodes that the lineage has not made. Of every
thousand firings of a lineage some are compared: if the same rules fire at the same terms
repeatedly, it is a loop, and no budget needs to run out. Terms are numbered for this: equal terms
on the same variables have the same number, also if the nodes differ (the earlier ones have left the
graph).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.rewrite.step import Steps
from rewrite_engine.terms.print import letter, write

EVERY = 1024  # after so many firings of a lineage it is looked at,
WINDOW = 64  # and so many of its firings are compared
NEWS = 8  # that look at other nodes for the first time are enough to go on
LONGEST = 100_000  # firings that are compared after the end of a budget
NOTED = 400  # firings that are noted as text after a budget has run out
LONG = 16  # firings of a lineage after the end of a budget that are taken for a loop
SHOWN = 24  # of a turn, in the message
LAST = 12  # of what has no period
AGAIN = "the same terms come again and again"
TEXT, DEPTH, WIDTH = 120, 5, 12  # characters, levels and operands of a term that are shown
LETTERS = 26  # for subterms, where cutting would hide what changes

#: the firings of a lineage; how many of those looked at saw nodes of others for the first time; the
#: numbers of those that are compared. The nodes of the lineage share it.
Lineage = list[Any]


class Numbering:
    """Numbering of terms and of firings."""

    def __init__(self) -> None:
        self.number: dict[Variable, int] = {}
        self.table: dict[Any, int] = {}

    def key(self, node: Apply) -> tuple[Any, ...]:
        """Return the key of a node's term, made of variables and numbered terms."""
        number = self.number
        return (node.op, *[number.get(v, v) for v in node.inputs])

    def number_of(self, key: Any) -> int:
        """Return the number of a term or firing."""
        return self.table.setdefault(key, len(self.table))

    def number_all(self, made: Iterable[Apply]) -> tuple[int, ...]:
        """Number the terms of new nodes."""
        found = []
        for new in made:
            index = self.number_of(self.key(new))
            found.append(index)
            for out in new.outputs:
                self.number[out] = index
        return tuple(found)


class Lineages:
    """Table of the descent of nodes. of: the lineage of a node that a firing made."""

    def __init__(self) -> None:
        self.of: dict[Apply, Lineage] = {}
        self.seen: set[Apply] = set()
        self.numbers = Numbering()

    def sees(self, lineage: Lineage | None, node: Apply, levels: int) -> None:
        """Record that a rule reads a node of a lineage, and `levels` levels below it."""
        if lineage is None or levels < 1:
            return
        of, seen, news = self.of, self.seen, False
        layer = [node]
        for _ in range(levels):
            layer = [v.owner for n in layer for v in n.inputs if v.owner is not None]
            for one in layer:
                if one not in seen and of.get(one) is not lineage:
                    seen.add(one)
                    news = True
            del layer[1000:]
        lineage[1] += news

    def fired(self, lineage: Lineage, firing: Any, made: Sequence[Apply]) -> None:
        """Record a firing, which made nodes, for comparison. (One that makes none is not part of a
        loop.)
        """
        if len(self.numbers.table) > LONGEST:
            self.numbers = Numbering()
        numbers = self.numbers.number_all(made)
        if made:
            lineage[2] = lineage[2] or []
            lineage[2].append(self.numbers.number_of((firing, numbers)))
        else:
            lineage[2] = None

    def goes_on(self, lineage: Lineage, every: int, window: int) -> bool:
        """Return False if the compared firings of a lineage go round in a circle, at least three
        times. A lineage that reads more and more of the graph continues.
        """
        row = (lineage[2] or [])[-EVERY:]
        turn = period(row)
        if turn is not None and 3 * turn <= len(row) and row[-3 * turn : -2 * turn] == row[-turn:]:
            return False
        if lineage[1] >= NEWS:
            lineage[0] -= every
        lineage[1] = 0
        lineage[2] = row if window == every else None  # (what comes next does not follow on it)
        return True

    def forget(self, level: Mapping[Apply, int]) -> None:
        """Remove nodes that have left the graph."""
        self.of = {node: lineage for node, lineage in self.of.items() if node in level}
        self.seen = {node for node in self.seen if node in level}

    def longest(self, own: Lineage | None) -> Lineage:
        """Return the lineage to suspect: the longest, or the present one if it is not much
        shorter.
        """
        found = max(self.of.values(), key=lambda one: one[0], default=[0, 0, None])
        return own if own is not None and 4 * own[0] >= found[0] else found


def operands_of(node: Apply | None, there: Container[Apply], seen: set[Apply]) -> int:
    """Count the operands of a term's nodes that did not exist before and were not seen yet."""
    count, todo = 0, [node]
    while todo:
        one = todo.pop()
        if one is not None and one not in seen and one not in there:
            seen.add(one)
            count += len(one.inputs)
            todo += [v.owner for v in one.inputs]
    return count


def period(keys: Sequence[Any]) -> int | None:
    """Return the period with which the end of a sequence repeats; None if it does not."""
    n = len(keys)
    last = keys[-1] if keys else None
    for p in range(1, n // 2 + 1):
        if keys[n - 1 - p] == last and keys[n - p :] == keys[n - 2 * p : n - p]:
            return p
    return None


def whole_period(keys: Sequence[Any]) -> int | None:
    """Return the period of a whole sequence, if it repeats at least twice (Knuth, Morris,
    Pratt).
    """
    border = [0] * len(keys)
    k = 0
    for i in range(1, len(keys)):
        while k and keys[i] != keys[k]:
            k = border[k - 1]
        k += keys[i] == keys[k]
        border[i] = k
    p = len(keys) - k
    return p if keys and 2 * p <= len(keys) else None


#: a firing: of each step the rule and the terms before and after; the nodes of the graph before it
Noted = tuple[list[tuple[str, str, str]], int]


class Cycle:
    """Record of the firings after a budget has run out, which shows the cycle.

    what: the name of the part that does not end. lineage: the suspected one. Its firings are
    compared until they repeat; the first `NOTED`, or those of one turn, are recorded with their
    terms.
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
        """Record steps proposed at a node (of a lineage) of a graph with `nodes` nodes."""
        told = self.noted if lineage is self.lineage else self.others
        noted: Noted = [], nodes
        before = node.outputs[0] if node.outputs else node.op
        for rule, made in steps if len(told) < self.wanted else ():
            self.places[rule.name] = getattr(rule, "where", None)
            noted[0].append((rule.name, *texts_of(_replaced(before, made), made)))
            before = made
        self.now = told, noted, tuple([rule.name for rule, _ in steps]), self.numbers.key(node)

    def taken(self, made: Iterable[Apply], lineage: Lineage | None) -> bool:
        """Record that the proposal was accepted and made nodes; return whether the record is
        complete.
        """
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
        """Return the numbers of nodes in the graph turn by turn, if they grow."""
        sizes = [nodes for _, nodes in self.noted[:: max(turn, 1)]][:4]
        return sizes if all(a < b for a, b in pairwise(sizes)) else []

    def error(self) -> RuleLoopError:
        """Return the error that shows the cycle."""
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
            head = "the firings after the budget was used up:"
            lines = [
                f"{self.what} did not finish: {self.why}",
                f"    rules that still fire: {', '.join(rules)}; a `RunBudget` may allow them more",
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
            advice += "; if it is no loop, raise the limit: `RunBudget(...)`"
        error = RuleLoopError("\n".join([*lines, *self._grown(turn or len(told)), f"    {advice}"]))
        error.rules, error.turn = tuple(rules), tuple(events)
        return error

    def _grown(self, turn: int) -> list[str]:
        """Describe how the graph grows from turn to turn, if it does."""
        before, now = self.growth
        if now <= before:
            return []
        sizes = self._sizes(turn)
        steps = f"; nodes turn by turn: {', '.join(map(str, sizes))}, …" if len(sizes) > 2 else ""
        return [f"    the graph grew from {before} to {now} nodes{steps}"]


def _replaced(before: Any, made: Any) -> Any:
    """Return the term that a rule's result replaces: for some of several outputs only these."""
    outputs = before.owner.outputs if isinstance(before, Variable) and before.owner else ()
    if not isinstance(made, list | tuple) or len(made) != len(outputs):
        return before
    return [None if new is None else old for old, new in zip(outputs, made, strict=True)]


def texts_of(before: Any, after: Any) -> tuple[str, str]:
    """Return two terms as text. If both are cut to the same text, letters replace parts of the
    first, some levels below, so that the texts differ.
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
    """Return a term as text of limited length and depth, ignoring its own name. For a rule's result
    with several outputs: all terms. letters: names for subterms.
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
    """Raised to end the run early. (It is no `Exception`, so that it is not attributed to a
    rule.)
    """

    def __init__(self, error: RuleLoopError | None = None) -> None:
        self.error = error
