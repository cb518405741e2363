"""Dispatch: which rules of a phase may apply to a node, by one dictionary look-up.

The key is the node's op and the heads of its first inputs (an op, `CONSTANT`, or None for an
input); for two inputs also whether they are the same. The candidates for a key are found by asking
the rules once whether they `fit`, and cached; so adding rules does not slow a miss, and rules are
tried in the order of the set. If more than a few rules remain that differ by numbers or by deeper
terms, the key is extended by these (`Below`).

Not all rules are asked: they are indexed by root, and by a mark that must be present
(`outline.RuleIndex`), so that a key costs about the same in a set of ten rules and of ten thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar

from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import CONSTANT, Apply
from rewrite_engine.graph.weak import WeakValues
from rewrite_engine.match.outline import ROOTS, Outline, RuleIndex, outline
from rewrite_engine.match.rule import FEW_INPUTS, Rule

MAX_CACHED_KEYS = 4_096  # keys, and ops; the cache is emptied when there are more
MAX_CANDIDATES_IN_TURN = 8  # rules that are tried in turn; for more, the key gets longer
UNREAD_NUMBER = (CONSTANT, object())  # the outline of numbers that no rule distinguishes
TWICE = object()  # part of the keys of nodes whose two inputs are the same
MAX_KEY_DEPTH = 4  # levels below a node that a key describes
MAX_LAST_RULES = 4  # rules by which a set may be longer than one with a dispatcher

Candidates = tuple[Rule, ...]
T = TypeVar("T")


def store(table: dict[Any, T], key: Any, found: T) -> T:
    """Store an entry in a table, which is cleared when it is full; return the entry."""
    if len(table) >= MAX_CACHED_KEYS:
        table.clear()
    table[key] = found
    return found


class Below:
    """Candidates distinguished by a longer key: the outlines of the inputs, some levels down."""

    __slots__ = ("index", "level", "table")

    def __init__(self, rules: Sequence[Rule], level: int) -> None:
        self.level = level
        self.index = RuleIndex(rules, level)
        self.table: dict[Any, Found] = {}

    def get(self, inputs: tuple[Any, ...]) -> Found:
        """Return the rules that may match the inputs."""
        key = self.key(inputs)
        result = self.table.get(key)
        return self.fill(key, inputs) if result is None else result

    def fill(self, key: Any, inputs: tuple[Any, ...]) -> Found:
        """Find the candidates for a new key."""
        seen = self.seen(inputs)
        rules = [r for r in self.index.pick(seen) if r.fits(seen)]
        return store(self.table, key, narrowed(rules, self.level))

    def seen(self, inputs: tuple[Any, ...]) -> tuple[Outline, ...]:
        """Return the outlines of inputs, as far as the key distinguishes them."""
        depth = self.level - 1
        return tuple([outline(v, depth) for v in inputs])

    key = seen


class ByNumbers(Below):
    """Candidates distinguished by the constants among the inputs that some rule requires."""

    __slots__ = ("wanted",)

    def __init__(self, rules: Sequence[Rule]) -> None:
        super().__init__(rules, 1)
        self.wanted = {n for r in rules for n in r.numbers()}

    def key(self, inputs: tuple[Any, ...]) -> Any:
        wanted = self.wanted
        return frozenset([n for v in inputs if v.head is CONSTANT and (n := v.element) in wanted])

    def seen(self, inputs: tuple[Any, ...]) -> tuple[Outline, ...]:
        seen, wanted = super().seen(inputs), self.wanted
        return tuple(
            [UNREAD_NUMBER if s.__class__ is tuple and s[1] not in wanted else s for s in seen]
        )


class ByNumber(ByNumbers):
    """Candidates distinguished by the one constant among two inputs, looked up directly: fast.
    place: its position.
    """

    __slots__ = ("place",)

    def __init__(self, rules: Sequence[Rule], place: int) -> None:
        super().__init__(rules)
        self.place = place

    def get(self, inputs: tuple[Any, ...]) -> Found:
        """Return the rules that may match the inputs."""
        constant = inputs[self.place]
        key = constant.number
        if key is None:
            key = constant.element
        if key not in self.wanted:
            key = None
        result = self.table.get(key)
        return self.fill(key, inputs) if result is None else result


Found = Candidates | Below


def narrowed(rules: Sequence[Rule], level: int) -> Found:
    """Return the candidates for a key of some levels: with longer keys, if there are many that
    differ below.
    """
    if len(rules) <= MAX_CANDIDATES_IN_TURN or level >= MAX_KEY_DEPTH:
        return tuple(rules)
    for deeper in range(level + 1, MAX_KEY_DEPTH + 1):
        if sum(deeper in r.demands for r in rules) > MAX_CANDIDATES_IN_TURN:
            return Below(rules, deeper)
    return tuple(rules)


class Dispatch:
    """Candidates per node for an ordered collection of rules. first: a dispatch for all but a few
    at the end; its results are reused.
    """

    def __init__(self, rules: Iterable[Rule], first: Dispatch | None = None) -> None:
        self.rules = tuple(rules)
        self.first = first
        self.more = None if first is None else Dispatch(self.rules[len(first.rules) :])
        self.table: dict[tuple[Any, ...], Found] = {}
        self.indexes: dict[Any, RuleIndex] = {}
        self._of_class: dict[type, tuple[list[int], bool]] = {}
        self._shared_indexes: dict[tuple[Rule, ...], RuleIndex] = {}
        self._reach: dict[Any, int] = {}
        self.candidates: Callable[[Apply], Candidates] = self._make_candidates()

    @cached_property
    def _by_root(self) -> dict[Any, list[int]]:
        """Indices of the rules for an op, a class, or a predicate; None: of rules for other ops,
        too.
        """
        results: dict[Any, list[int]] = {}
        for i, rule in enumerate(self.rules):
            roots = rule.roots()
            if roots is None or not all([isinstance(root, ROOTS) for root in roots]):
                roots = (None,)
            for root in roots:
                results.setdefault(root, []).append(i)
        return results

    def rules_for(self, op: Any) -> RuleIndex:
        """Return the rules that may apply at an op, whatever its inputs."""
        result = self.indexes.get(op)
        if result is None:
            places, ask = self._find_filed(op)
            rules = [self.rules[i] for i in places]
            considered = tuple([r for r in rules if r.considers(op)] if ask else rules)
            result = self._shared_indexes.get(considered)
            if result is None:
                result = self._shared_indexes[considered] = RuleIndex(considered, 1)
            store(self.indexes, op, result)
        return result

    def _find_filed(self, op: Any) -> tuple[list[int], bool]:
        """Return the indices of the rules for an op, or any op of its class; and whether some must
        be asked about the op itself. (A graph may have hundreds of ops of a class, each with other
        parameters.)
        """
        known, cls = self._by_root, type(op)
        results = self._of_class.get(cls)
        if results is None:
            places = {i for root in (None, *cls.__mro__) for i in known.get(root, ())}
            results = self._of_class[cls] = sorted(places), self._ask(places)
        own = [known[test] for test in self._predicates if test(op)]
        if op in known:
            own.append(known[op])
        if not own:
            return results
        places = {*chain(*own)}
        return sorted({*results[0], *places}), results[1] or self._ask(places)

    def _ask(self, places: Iterable[int]) -> bool:
        return not all([self.rules[i].by_root for i in places])

    @cached_property
    def _predicates(self) -> list[Any]:
        return [root for root in self._by_root if isinstance(root, FunctionType)]

    def reach(self, op: Any) -> int:
        """Return how many levels above a node with this op a rule may read it (0: none does)."""
        result = self._reach.get(op)
        if result is None:
            if self.first and self.more:
                result = max(self.first.reach(op), self.more.reach(op))
            else:
                result = max([self.interior.get(key, 0) for key in (op, *type(op).__mro__)])
            store(self._reach, op, result)
        return result

    @cached_property
    def interior(self) -> dict[Any, int]:
        """{op or class: how deep at most rules read it}; `object`: for any op."""
        results: dict[Any, int] = {}
        for rule in self.rules:
            inside = rule.interior
            if rule.depth > 1 and (not inside or rule.roots() is None):
                inside = inside | {object: rule.depth - 1}
            for op, depth in inside.items():
                if depth > results.get(op, 0):
                    results[op] = depth
        return results

    def fill(self, key: tuple[Any, ...], node: Apply) -> Found:
        """Find the candidates for a new key."""
        result = self.joined(key, node)
        return store(self.table, key, self.found(node) if result is None else result)

    def joined(self, key: tuple[Any, ...], node: Apply) -> Found | None:
        """Return the candidates of the two parts, if no further key is needed."""
        if self.first is None or self.more is None:
            return None
        result = self.first.table.get(key)
        result = self.first.fill(key, node) if result is None else result
        if any(rule.considers(node.op) for rule in self.more.rules):
            last = self.more.fill(key, node)
            if not isinstance(result, tuple) or not isinstance(last, tuple):
                return None
            return result + last if len(result + last) <= MAX_CANDIDATES_IN_TURN else None
        return result

    def found(self, node: Apply) -> Found:
        """Return the candidates for all nodes with the same key."""
        op, heads, index = node.op, [v.head for v in node.inputs], self.rules_for(node.op)
        whole = len(heads) <= FEW_INPUTS or op.associative
        distinct = len(heads) == 2 and node.inputs[0] is not node.inputs[1]
        results = list(index.rules)
        if whole and results:
            picked = index.pick(heads)
            results = [r for r in picked if r.fits(heads) and r.may_apply(op, heads, distinct)]
        if len(node.outputs) != 1:
            results = [r for r in results if not r.single]
        constants = [i for i, head in enumerate(heads) if head is CONSTANT]
        by_number = constants and any(True for r in results for _ in r.numbers())
        if by_number and len(heads) == 2 and len(constants) == 1:
            return ByNumber(results, constants[0])
        if by_number and len(heads) > 2 and op.associative:
            return ByNumbers(results)
        return narrowed(results, 1) if whole else tuple(results)

    def _make_candidates(self) -> Callable[[Apply], Candidates]:
        get = self.table.get
        fill = self.fill

        def candidates(node: Apply) -> Candidates:
            """Return the rules worth trying at a node, in order."""
            inputs = node.inputs
            n = len(inputs)
            if n == 1:
                key: tuple[Any, ...] = (node.op, inputs[0].head)
            elif n == 2:
                a, b = inputs
                key = (node.op, a.head, TWICE if a is b else b.head)
            elif node.op.associative:
                key = (node.op, n > 2, frozenset([v.head for v in inputs]))
            else:
                key = (node.op, n, *[v.head for v in inputs[:FEW_INPUTS]])
            result = get(key)
            if result is None:
                result = fill(key, node)
            while result.__class__ is not tuple:
                result = result.get(inputs)  # type: ignore[union-attr]
            return result

        return candidates


_shared: WeakValues[tuple[Rule, ...], Dispatch] = WeakValues()


def dispatch_of(rules: tuple[Rule, ...]) -> Dispatch:
    """Return the dispatch for rules in this order; sets with the same rules share it."""
    result = _shared.get(rules)
    if result is None:
        known = [_shared.get(rules[:-k]) for k in range(1, MAX_LAST_RULES + 1)]
        first = next((d for d in known if d and d.first is None and d.rules), None)
        result = _shared[rules] = Dispatch(rules, first)
    return result
