"""`EGraph`: many equal terms at once. Terms, classes of equal terms, congruence, and for any two
terms of a class the steps that lead from one to the other.

A *term* is an op on terms, or a leaf; each is kept once and has a graph variable, so types, sorts
and guards are asked of variables as everywhere. A *class* is a set of terms known to be equal; two
terms whose operands are equal are so by congruence. The operands of a commutative op have no order
here, however many they are.

Why two terms are equal is kept as a forest: every union hangs one tree below the other, with its
reason (a rule that leads from one term to the other, or congruence). `rewrite/steps.py` reads
it, `rewrite/explore.py` fills it by rules, `rewrite/extract.py` chooses terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.node import CONSTANT, Constant, Variable

Kids = tuple[int, ...]
Link = tuple[int, int, Any]  # a term, another, and the rule that leads from the one to the other


class Reason(NamedTuple):
    """Why two terms are equal.

    rule: leads from term `left` to term `right`; None: by congruence. order: which operand of
    `right` each one of `left` is equal to, where that is not the one at its own place.
    """

    rule: Any
    left: int
    right: int
    order: Kids | None = None


class EGraph:
    """Terms by number. `op`, `kids`, `var`: what each term is (a leaf has op None). graph: where
    what is known of leaves is kept (None: nowhere).
    """

    def __init__(self, graph: Any = None) -> None:
        self.graph = graph
        self.op: list[Any] = []
        self.kids: list[Kids] = []
        self.var: list[Variable] = []
        self._exact: dict[Any, int] = {}  # (op, operands) -> the term
        self._table: dict[Any, int] = {}  # (op, classes of the operands) -> a term
        self._leader: list[int] = []
        self._members: dict[int, list[int]] = {}  # terms of a class that differ as such
        self._parents: dict[int, list[int]] = {}  # terms with an operand in a class
        self._speaker: dict[int, int] = {}  # the term that is asked for a class's type
        self.why: list[tuple[int, Reason] | None] = []
        self._dirty: list[int] = []
        #: every pair of terms from one of which a rule leads to the other
        self.links: list[Link] = []
        #: classes that have got new terms since this was last emptied
        self.touched: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self.op)

    # --- reading ---------------------------------------------------------------------------------

    def find(self, t: int) -> int:
        """The number of the class of a term."""
        leader = self._leader
        while leader[t] != t:
            leader[t] = leader[leader[t]]
            t = leader[t]
        return t

    def members(self, c: int) -> list[int]:
        """The terms of a class (found by `find`), one for each op and classes of operands; those
        that came first stand first."""
        return self._members[c]

    def parents(self, c: int) -> list[int]:
        """The terms that have a class (found by `find`) among their operands."""
        return self._parents.get(c, [])

    def key(self, t: int) -> Any:
        """What two terms have in common iff they are equal by congruence."""
        if self.op[t] is None:
            return None, t
        return _key(self.op[t], tuple([self.find(k) for k in self.kids[t]]))

    def congruence(self, s: int, t: int) -> Reason:
        """The reason for two terms with one key."""
        there = self.kids[t]
        pairs = zip(self.kids[s], there, strict=True)
        if all(self.find(a) == self.find(b) for a, b in pairs):
            return Reason(None, s, t)
        same = _paired(self.kids[s], there, {})
        order = _paired([self.find(a) for a in self.kids[s]], [self.find(b) for b in there], same)
        return Reason(None, s, t, tuple([order[i] for i in range(len(there))]))

    def opposite_kids(self, s: int, t: int, reason: Reason) -> Kids:
        """The operands of `t` in the order in which they are equal to those of `s`, by
        congruence."""
        there, order = self.kids[t], reason.order
        if order is None:
            return there
        if reason.left == s:
            return tuple([there[j] for j in order])
        inverse = sorted(range(len(order)), key=order.__getitem__)
        return tuple([there[j] for j in inverse])

    def classes(self) -> Iterator[int]:
        """All classes."""
        return iter(self._members)

    def speaker(self, t: int) -> Variable:
        """The variable that is asked for the type of a term's class: the most precise there is."""
        return self.var[self._speaker[self.find(t)]]

    # --- adding ----------------------------------------------------------------------------------

    def leaf(self, var: Variable) -> int:
        """The term of a variable that is not looked into."""
        key = (None, var.signature() if isinstance(var, Constant) else var)
        found = self._exact.get(key)
        return self._new(key, key, None, (), var) if found is None else found

    def known(self, op: Any, kids: Kids) -> int | None:
        """The term of an op on terms, if it is there."""
        return self._exact.get(_key(op, kids))

    def term(self, op: Any, kids: Kids, var: Variable) -> int:
        """The term of an op on terms, of which `var` is the variable if it is new."""
        key = _key(op, kids)
        found = self._exact.get(key)
        if found is not None:
            return found
        find = self.find
        return self._new(key, _key(op, tuple([find(k) for k in kids])), op, kids, var)

    def _new(self, exact: Any, key: Any, op: Any, kids: Kids, var: Variable) -> int:
        t = len(self.op)
        self.op.append(op)
        self.kids.append(kids)
        self.var.append(var)
        self.why.append(None)
        self._leader.append(t)
        self._exact[exact] = t
        self._speaker[t] = t
        twin = self._table.get(key)
        if twin is not None:
            self._members[t] = []  # nothing new, but a form that explanations go through
            self._union(t, twin, self.congruence(t, twin))
            return t
        self._table[key] = t
        self._members[t] = [t]
        self.touched[t] = None
        for c in {self.find(k) for k in kids}:
            self._parents.setdefault(c, []).append(t)
        return t

    # --- uniting ---------------------------------------------------------------------------------

    def union(self, left: int, right: int, rule: Any) -> bool:
        """Note that a rule leads from one term to another; False if that was known."""
        if left == right:
            return False
        self.links.append((left, right, rule))
        if self.find(left) == self.find(right):
            return False
        self._union(left, right, Reason(rule, left, right))
        return True

    def _union(self, s: int, t: int, reason: Reason) -> None:
        a, b = self.find(s), self.find(t)
        if self._weight(a) > self._weight(b):
            s, t, a, b = t, s, b, a
        self._hang(s, t, reason)
        self._leader[a] = b
        self._speaker[b] = self._better(self._speaker.pop(a), self._speaker[b])
        moved = self._members.pop(a)
        self._members[b] = sorted(self._members[b] + moved) if moved else self._members[b]
        above = self._parents.pop(a, None)
        if above:
            self._parents.setdefault(b, []).extend(above)
        if moved:
            self.touched[b] = None
            self._dirty.append(b)

    def _weight(self, c: int) -> int:
        return len(self._members[c]) + len(self._parents.get(c, ()))

    def _hang(self, s: int, t: int, reason: Reason) -> None:
        """Make `s` the root of its tree of reasons, and hang it below `t`."""
        at, step = s, (t, reason)
        while True:
            following = self.why[at]
            self.why[at] = step
            if following is None:
                return
            at, step = following[0], (at, following[1])

    def _better(self, s: int, t: int) -> int:
        """Which of two terms tells more of their class: a constant, or what has a type that is at
        least as precise."""
        x, y = self.var[s], self.var[t]
        if x.head is CONSTANT or y.head is CONSTANT:
            return s if x.head is CONSTANT else t
        return t if x.type is y.type or x.type.is_super(y.type) else s

    def rebuild(self) -> None:
        """Find the classes that have become equal by congruence."""
        while self._dirty:
            todo = {self.find(c) for c in self._dirty}
            self._dirty.clear()
            for c in todo:
                self._repair(self.find(c))
        for c in {self.find(c) for c in self.touched}:
            self._forget_doubles(c)

    def _repair(self, c: int) -> None:
        find, table = self.find, self._table
        above = self._parents.get(c, [])
        unique: dict[Any, int] = {}
        equal: list[tuple[int, int]] = []
        for p in above:
            key = self.key(p)
            twin = table.setdefault(key, p)
            unique.setdefault(key, twin)
            if twin != p:
                equal.append((p, twin))
        if len(unique) < len(above):
            self._parents[c] = list(unique.values())
        for p, twin in equal:
            if find(p) != find(twin):
                self._union(p, twin, self.congruence(p, twin))
            else:
                self.touched[find(p)] = None

    def _forget_doubles(self, c: int) -> None:
        """Keep one term, the oldest, for each op and classes of operands."""
        unique: dict[Any, int] = {}
        for t in self._members[c]:
            unique.setdefault(self.key(t), t)
        self._members[c] = list(unique.values())


def _paired(here: Sequence[int], there: Sequence[int], known: dict[int, int]) -> dict[int, int]:
    """Add to `known` (places here -> places there) pairs of places with the same number."""
    taken = set(known.values())
    free: dict[int, list[int]] = {}
    for j in reversed([j for j in range(len(there)) if j not in taken]):
        free.setdefault(there[j], []).append(j)
    for i, number in enumerate(here):
        if i not in known and free.get(number):
            known[i] = free[number].pop()
    return known


def _key(op: Any, kids: Kids) -> Any:
    if len(kids) == 2:
        return op, (kids[1], kids[0]) if op.commutative and kids[0] > kids[1] else kids
    return op, tuple(sorted(kids)) if op.commutative else kids
