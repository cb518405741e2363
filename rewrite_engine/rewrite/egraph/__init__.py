"""`EGraph`: many equal terms at once, as e-nodes in e-classes under congruence. For any two e-nodes
of an e-class it knows the rules that lead from one to the other.

An *e-node* is a head (`Variable.head`) on e-nodes, or a leaf. Each is stored once, by number, and
has a graph variable, so types, sorts and guards apply to variables as everywhere. Each output of an
op with several is an e-node. An *e-class* is a set of e-nodes known to be equal, identified by the
number of one of them (`find`); two e-nodes with equal children are equal by congruence. The
children of a commutative op have no order here, however many they are.

A proof forest records why two e-nodes are equal: every union hangs one tree below the other, with
its justification. `replay.py` reads it, `explore.py` fills it by rules (`ematch.py`), `extract.py`
chooses terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import CONSTANT, Constant, Projection, Variable

Children = tuple[int, ...]


class Justification(NamedTuple):
    """Reason why two e-nodes are equal.

    rule: the rule that leads from e-node `left` to e-node `right`; None: they are congruent. order:
    for each child of `left`, the index of the equal child of `right`, if it is not the same.
    """

    rule: Any
    left: int
    right: int
    order: Children | None = None


class EGraph:
    """Set of e-nodes, by number. `head`, `children`, `var`: the parts of each (a leaf has head
    None). graph: the graph with facts about leaves (None: no graph).
    """

    def __init__(self, graph: FunctionGraph | None = None) -> None:
        self.graph = graph
        self.head: list[Any] = []
        self.children: list[Children] = []
        self.var: list[Variable] = []
        #: the parent of each e-node in the proof forest, and why they are equal
        self.proof: list[tuple[int, Justification] | None] = []
        self._known: dict[Any, int] = {}  # (head, children) -> the e-node
        self._canonical: dict[Any, int] = {}  # (head, e-classes of the children) -> an e-node
        self._union_find: list[int] = []
        #: the e-nodes of each e-class, one for each head and e-classes of children, oldest first
        self.members: dict[int, list[int]] = {}
        #: the e-nodes that have an e-class among their children
        self.parents: dict[int, list[int]] = {}
        self._representative: dict[int, int] = {}  # whose variable tells most of an e-class
        self._pending: list[int] = []  # e-classes whose parents may have become congruent
        #: e-classes that have got new e-nodes since this was last emptied
        self.changed: dict[int, None] = {}
        self.unions = 0

    def __len__(self) -> int:
        return len(self.head)

    # --- reading ---------------------------------------------------------------------------------

    def find(self, n: int) -> int:
        """Return the e-class of an e-node."""
        above = self._union_find
        while above[n] != n:
            above[n] = above[above[n]]
            n = above[n]
        return n

    def representative(self, n: int) -> Variable:
        """Return the variable that gives the type of an e-node's e-class: the most precise one."""
        return self.var[self._representative[self.find(n)]]

    def key(self, n: int) -> Any:
        """Return a key that two e-nodes share iff they are congruent."""
        if self.head[n] is None:
            return None, n
        return _key(self.head[n], tuple([self.find(k) for k in self.children[n]]))

    def congruence(self, m: int, n: int) -> Justification:
        """Return the justification for two e-nodes with one key."""
        here, there = self.children[m], self.children[n]
        if all(self.find(a) == self.find(b) for a, b in zip(here, there, strict=True)):
            return Justification(None, m, n)
        same = _paired(here, there, {})
        order = _paired([self.find(a) for a in here], [self.find(b) for b in there], same)
        return Justification(None, m, n, tuple([order[i] for i in range(len(there))]))

    def child_pairs(self, m: int, n: int, why: Justification) -> list[tuple[int, int]]:
        """Return the children of `m`, each with the equal child of the congruent `n`."""
        order: Sequence[int] = why.order or range(len(self.children[m]))
        if why.left != m:  # the inverse
            order = sorted(range(len(order)), key=order.__getitem__)
        return [(x, self.children[n][j]) for x, j in zip(self.children[m], order, strict=True)]

    # --- adding ----------------------------------------------------------------------------------

    def leaf(self, var: Variable) -> int:
        """Return the e-node of a variable that is treated as a leaf."""
        key = (None, var.signature() if isinstance(var, Constant) else var)
        found = self._known.get(key)
        return self._new(key, key, None, (), var) if found is None else found

    def known(self, head: Any, children: Children) -> int | None:
        """Return the e-node of a head on e-nodes, if it exists."""
        return self._known.get(_key(head, children))

    def add(self, children: Children, var: Variable) -> int:
        """Return the e-node of a variable's head on e-nodes; `var` becomes its variable if it is
        new.
        """
        head = var.head
        key = _key(head, children)
        found = self._known.get(key)
        if found is not None:
            return found
        canonical = _key(head, tuple([self.find(k) for k in children]))
        return self._new(key, canonical, head, children, var)

    def _new(self, key: Any, canonical: Any, head: Any, children: Children, var: Variable) -> int:
        n = len(self.head)
        self.head.append(head)
        self.children.append(children)
        self.var.append(var)
        self.proof.append(None)
        self._union_find.append(n)
        self._known[key] = n
        self._representative[n] = n
        twin = self._canonical.get(canonical)
        if twin is not None:
            self.members[n] = []  # nothing new, but a form that explanations go through
            self._union(n, twin, self.congruence(n, twin))
            return n
        self._canonical[canonical] = n
        self.members[n] = [n]
        self.changed[n] = None
        for c in {self.find(k) for k in children}:
            self.parents.setdefault(c, []).append(n)
        return n

    # --- uniting ---------------------------------------------------------------------------------

    def union(self, left: int, right: int, rule: Any) -> None:
        """Record that a rule leads from one e-node to another."""
        if self.find(left) != self.find(right):
            self._union(left, right, Justification(rule, left, right))
            self.unions += 1

    def _union(self, m: int, n: int, why: Justification) -> None:
        a, b = self.find(m), self.find(n)
        if self._weight(a) > self._weight(b):
            m, n, a, b = n, m, b, a
        at, edge = m, (n, why)  # make `m` the root of its tree in the proof forest, below `n`
        while (following := self.proof[at]) is not None:
            self.proof[at] = edge
            at, edge = following[0], (at, following[1])
        self.proof[at] = edge
        self._union_find[a] = b
        self._representative[b] = self._better(self._representative.pop(a), self._representative[b])
        moved = self.members.pop(a)
        above = self.parents.pop(a, None)
        if above:
            self.parents.setdefault(b, []).extend(above)
        if moved:
            self.members[b] = sorted(self.members[b] + moved)
            self.changed[b] = None
            self._pending.append(b)

    def _weight(self, c: int) -> int:
        return len(self.members[c]) + len(self.parents.get(c, ()))

    def _better(self, m: int, n: int) -> int:
        """Return the more informative of two e-nodes: a constant, or the one with the more precise
        type.
        """
        x, y = self.var[m], self.var[n]
        if x.head is CONSTANT or y.head is CONSTANT:
            return m if x.head is CONSTANT else n
        return n if x.type is y.type or x.type.is_super(y.type) else m

    def rebuild(self) -> None:
        """Unite the e-classes that have become equal by congruence."""
        while self._pending:
            todo = {self.find(c) for c in self._pending}
            self._pending.clear()
            for c in todo:
                self._repair(self.find(c))
        for c in {self.find(c) for c in self.changed}:
            unique: dict[Any, int] = {}
            for n in self.members[c]:
                unique.setdefault(self.key(n), n)
            self.members[c] = list(unique.values())

    def _repair(self, c: int) -> None:
        above = self.parents.get(c, [])
        unique: dict[Any, int] = {}
        congruent: list[tuple[int, int]] = []
        for p in above:
            key = self.key(p)
            twin = self._canonical.setdefault(key, p)
            unique.setdefault(key, twin)
            if twin != p:
                congruent.append((p, twin))
        if len(unique) < len(above):
            self.parents[c] = list(unique.values())
        for p, twin in congruent:
            if self.find(p) != self.find(twin):
                self._union(p, twin, self.congruence(p, twin))
            else:
                self.changed[self.find(p)] = None


def output_of(head: Any, operands: Sequence[Any]) -> Any:
    """Return a new variable that a head computes from operands. Raises the errors of the op."""
    if isinstance(head, Projection):
        return head.op.make_node(*operands).outputs[head.index]
    return head.make_node(*operands).default_output()


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


def _key(head: Any, children: Children) -> Any:
    if len(children) == 2:
        a, b = children
        return head, (b, a) if a > b and head.commutative else children
    return head, tuple(sorted(children)) if head.commutative else children
