"""Text of one change of a term: `exp(A) / Sum(exp(A)) → Softmax(A)`, where `A` stands for `x @ w +
b`.

What both sides have in common, what a side has twice, and what plays no part is called by a letter,
unless it is short. So the text shows what a rule did, and stays short however large the graph is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rewrite_engine.errors import plural
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.memory import written
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.printing.formula import formula, type_text
from rewrite_engine.terms.print import letter, name_of, operator_text, write

MAX_LEVELS = 5  # levels of a side that are looked at; what is below is a letter
MAX_VARIABLES = 300  # variables of a side that are looked at
SHORT_CHARACTERS = 16  # characters of a term that is not worth a letter
MAX_SIDE_CHARACTERS = 400  # characters of a side
BRIEF = 72  # characters of a term that is named in passing
MAX_DEFINITION_CHARACTERS = 160  # characters of what a letter stands for


@dataclass(frozen=True, slots=True)
class Change:
    """A term before and after. letters: (letter, what it stands for). used: nodes of the old term
    that the text shows, the top first. stand_ins: the variables that letters stand for. of_graph:
    what became of an op that holds a graph, as a loop does; "" of other terms.
    """

    before: str
    after: str
    letters: tuple[tuple[str, str], ...] = ()
    used: tuple[Apply, ...] = ()
    stand_ins: tuple[Variable, ...] = field(default=(), repr=False, compare=False)
    of_graph: str = field(default="", repr=False, compare=False)

    @property
    def term(self) -> str:
        """Both sides in one line."""
        if self.after.startswith((f"{self.before}, written into", f"{self.before}, with its")):
            return self.after
        return f"{self.before} → {self.after}"

    @property
    def definitions(self) -> list[str]:
        """Definitions of the letters, `A = x @ w + b`."""
        return [f"{name} = {text}" for name, text in self.letters]

    def where(self, width: int = BRIEF) -> str:
        """Return the definitions in one line, each cut at a width."""
        return ", ".join(f"{name} = {cut(text, width)}" for name, text in self.letters)

    def __str__(self) -> str:
        return f"{self.term}, {self.where()}" if self.letters else self.term


def cut(text: str, width: int) -> str:
    """Cut a text to a width, with `…` at the end."""
    return text if len(text) <= width else text[: width - 1].rstrip("… ") + "…"


def describe_change(old: Variable, new: Variable, taken: Iterable[Any] = ()) -> Change:
    """Describe what replacing `old` by `new` did. taken: variables by whose names nothing else is
    called.

    >>> from tests.toy import num, log, exp, sin
    >>> x = num("x")
    >>> y = exp(exp(sin(exp(x))))
    >>> describe_change(log(exp(y)), y)
    Change(before='log(exp(A))', after='A', letters=(('A', 'exp(exp(sin(exp(x))))'),),
    used=(log(exp.0), exp(exp.0)))
    """
    sides = Sides(old, new, taken)
    before = sides.text(_top(old))
    used = tuple(sides.seen)
    after = sides.text(new if sides.has_letter(new) else _top(new))
    if before == after and old.owner is not None:  # the same notation: -(1.0) and the number -1.0
        operands = ", ".join(map(sides.text, old.owner.inputs))
        before = f"{operator_text(old.owner.op)}({operands})"
    return Change(before, after, sides.definitions(), used, tuple(sides.letters))


def describe_overwrite(node: Apply, new: Apply, taken: Iterable[Any] = ()) -> Change:
    """Describe the exchange of a node for one that computes the same in place: the term stays,
    the memory changes. (The operands of `new` may themselves work in place by now; those of `node`
    are what they were, so that everything has one text.)
    """
    old = node.outputs[written(new.op)]
    sides = Sides(old, old, taken)
    before = sides.text(_top(old))
    places = dict.fromkeys(i for into in new.op.destroy_map.values() for i in into)
    into = " and ".join([sides.text(node.inputs[i]) for i in places])
    text = f"{before}, written into {into}"
    return Change(before, text, sides.definitions(), tuple(sides.seen), tuple(sides.letters))


def exchanged_for(node: Apply, new: Variable) -> bool:
    """Return whether a call of a graph gave way to one of its arguments, or to a constant."""
    return new in node.inputs or isinstance(new, Constant)


def describe_inside(node: Apply, taken: Iterable[Any] = ()) -> Change:
    """Describe the rewriting of the graph inside an op: the term stays."""
    sides = Sides(node.outputs[0], node.outputs[0], taken)
    before = sides.text(node)
    text = f"{before}, with its graph rewritten"
    return Change(before, text, sides.definitions(), tuple(sides.seen), tuple(sides.letters))


def describe_graphs(old: Variable, new: Variable, made: Iterable[Apply] = ()) -> str:
    """Return what became of an op that holds a graph: `Scan: 27 → 26 nodes inside, 5 → 6 inputs`,
    and which other such ops were made; "" for a change of other terms.
    """
    a, b = old.owner, new.owner
    if a is None or b is None:
        return ""
    if not isinstance(a.op, HasInnerGraph) or not isinstance(b.op, HasInnerGraph):
        return ""
    sizes = [
        ("nodes inside", len(a.op.fgraph), len(b.op.fgraph)),
        ("inputs", len(a.inputs), len(b.inputs)),
        ("outputs", len(a.outputs), len(b.outputs)),
    ]
    changes = [f"{m} → {n} {what}" for what, m, n in sizes if m != n]
    others = [node.op for node in made if node is not b and isinstance(node.op, HasInnerGraph)]
    changes += [f"{plural(len(op.fgraph), 'node')} moved to {op}" for op in others]
    if str(a.op) == str(b.op):
        return f"{a.op}: {', '.join(changes) or 'other operands'}"
    return f"{a.op} → {b.op}: {', '.join(changes) or 'of the same size'}"


def _top(v: Variable) -> Any:
    """Return the node of a variable if this is its only output: it is written out at the top."""
    return v.owner if v.owner is not None and len(v.owner.outputs) == 1 else v


class Sides:
    """Writer of both sides of a change; terms that are not written out get letters."""

    def __init__(self, old: Variable, new: Variable, taken: Iterable[Any] = ()) -> None:
        below_old, below_new = Counter(below(old)), Counter(below(new))
        shared = below_old.keys() & (below_new.keys() | {new})
        if old in below_new:
            shared |= {old}
        twice = {v for side in (below_old, below_new) for v, n in side.items() if n > 1}
        idle = {v for v in below_old if not any(x in shared for x in (v, *below(v)))}
        self.hidden = {v for v in shared | twice | idle if v.owner is not None}
        self.shown = {v for v in (*below_old, *below_new) if v not in self.hidden}
        self.shown |= {old} if new in self.hidden else {old, new}
        self.letters: dict[Variable, str] = {}
        names = {name_of(v) for v in (*taken, *below_old, *below_new)}
        self.fresh = (name for name in map(letter, count()) if name not in names)
        self.seen: list[Apply] = []

    def has_letter(self, v: Variable) -> bool:
        """Return whether the text of a variable is a letter (or a name)."""
        return v in self.hidden and not self._short(v)

    def text(self, v: Variable | Apply) -> str:
        """Return one side, or a part of it; a node is written out."""
        if isinstance(v, Apply):
            self.seen.append(v)
        return write(v, limit=MAX_SIDE_CHARACTERS, name=self.name, call=formula)

    def name(self, v: Variable) -> str | None:
        """Return the name of a variable; None if it is written out."""
        known = name_of(v)
        if known is not None or isinstance(v, Constant):
            return known
        if v.owner is None or (v not in self.shown and not self._short(v)):
            if v not in self.letters:
                self.letters[v] = next(self.fresh)
            return self.letters[v]
        self.seen.append(v.owner)
        return None

    def definitions(self) -> tuple[tuple[str, str], ...]:
        """Return what the letters stand for; they may contain each other."""
        letters = dict(self.letters)
        return tuple([(name, _with_letters(v, letters)) for v, name in self.letters.items()])

    def _short(self, v: Variable) -> bool:
        return not write(v, limit=SHORT_CHARACTERS, name=lambda _: None, call=formula).endswith("…")


def _with_letters(v: Variable, letters: dict[Variable, str]) -> str:
    """Return what a letter stands for. letters: others; inputs without a name get one."""
    if v.owner is None and not isinstance(v, Constant):
        return f"an input, {type_text(v.type)}"

    def name(x: Variable) -> str | None:
        if x is v:
            return None
        known = name_of(x)
        if known is None and x.owner is None and not isinstance(x, Constant):
            return letters.setdefault(x, f"?{len(letters) + 1}")
        return letters.get(x, known)

    return write(v, limit=MAX_DEFINITION_CHARACTERS, name=name, call=formula)


def below(top: Variable) -> Iterator[Variable]:
    """Yield the inputs below a variable, once per use, down to the depth that is looked at."""
    level, seen, count = [top], set[Apply](), 0
    for _ in range(MAX_LEVELS):
        nodes = [v.owner for v in level if v.owner is not None and v.owner not in seen]
        level = []
        for node in dict.fromkeys(nodes):
            seen.add(node)
            level.extend(node.inputs)
        yield from level
        count += len(level)
        if not level or count > MAX_VARIABLES:
            return


def term_text(v: Variable | Apply, limit: int = BRIEF) -> str:
    """Write a variable or node out, cut at `limit` characters. Inputs without a name, as graphs
    inside of ops have, are `?1`, `?2`, …
    """
    if isinstance(v, Apply) and len(v.outputs) == 1:
        v = v.outputs[0]
    unnamed: dict[Variable, str] = {}

    def name(x: Variable) -> str | None:
        known = name_of(x)
        if known is not None or x.owner is not None or isinstance(x, Constant):
            return known
        return unnamed.setdefault(x, f"?{len(unnamed) + 1}")

    return write(v, limit=limit, name=name, call=formula)
