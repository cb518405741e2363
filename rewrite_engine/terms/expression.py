"""`GraphTuple`: the etuple of a whole graph, safe for deep and for shared terms.

An `etuples.ExpressionTuple` hashes, compares and prints by recursion, and walks a shared sub-term
once per path to it. `GraphTuple` is one with the hash kept, comparison linear in the graph's size,
and no recursion. Here are also the two tools that need this: `Merged` (what is known to be equal)
and `parts` (what a term consists of). Evaluation and conversion are in `terms/convert.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from etuples.core import ExpressionTuple, KwdPair
from unification import Var

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.terms.logic import LogicVariable, nth
from rewrite_engine.terms.print import LOWEST, Token, etuple_text, written

Var.register(LogicVariable)


@written.register(KwdPair)
def _(x: KwdPair, outer: int) -> Sequence[Token]:
    return [f"{x.arg}=", (x.value, LOWEST)]


@written.register(ExpressionTuple)
def _(x: ExpressionTuple, outer: int) -> Sequence[Token]:
    return ["e()"]  # others are an op applied to operands


null = ExpressionTuple.null


class GraphTuple(ExpressionTuple):  # type: ignore[misc]
    """An etuple `(operator, *operands)`, equal to any etuple with equal elements.

    `evaled_obj` is what it evaluates to; a term made from a graph remembers the variable it came
    from. An open term (one with logic variables) evaluates to a `PatternTerm`.
    """

    __slots__ = ("_hash", "__weakref__")

    _hash: int | None
    #: set by `terms/convert.py`
    evaluate: ClassVar[Callable[[Any], Any] | None] = None

    def __init__(self, seq: Iterable[Any] | None = None, **kwargs: Any) -> None:
        if (
            seq is self
        ):  # GraphTuple(t) is t; initialising it again would forget what it evaluates to
            return
        super().__init__(seq, **kwargs)
        self._hash = None

    @property
    def evaled_obj(self) -> Any:
        """What this term evaluates to: for a term of a graph, the variable itself."""
        if self._evaled_obj is not null:
            return self._evaled_obj
        assert GraphTuple.evaluate is not None
        return GraphTuple.evaluate(self)

    def _eval_step(self) -> Any:
        yield self.evaled_obj

    def __hash__(self) -> int:
        if self._hash is None:
            _fill_hashes(self)
        return self._hash  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (ExpressionTuple, tuple, list)):
            return NotImplemented
        mine, its = self._hash, getattr(other, "_hash", None)
        if mine is not None and its is not None and mine != its:
            return False
        return _equal(self, other)

    def __repr__(self) -> str:
        return etuple_text(self)

    __str__ = __repr__


def make(items: tuple[Any, ...], evaled: Any = null) -> GraphTuple:
    """Allocate a `GraphTuple` (the constructor does the same, with more ceremony)."""
    term: GraphTuple = object.__new__(GraphTuple)
    term._tuple = items
    term._evaled_obj = evaled
    term._parent = None
    term._hash = None
    return term


def _fill_hashes(root: GraphTuple) -> None:
    """Hash all sub-terms, leaves first, as plain etuples and tuples are hashed."""

    def below(term: GraphTuple) -> list[GraphTuple]:
        inside = map(unkeyed, term._tuple)
        return [x for x in inside if type(x) is GraphTuple and x._hash is None]

    for term in postorder([root], below):
        term._hash = hash(term._tuple)


def unkeyed(x: Any) -> Any:
    """The value of a keyword operand; anything else is itself."""
    return x.value if type(x) is KwdPair else x


class Merged:
    """Objects known to be equal, as classes that grow together (union-find, by identity).

    Comparing terms pair by pair and asking `union` first makes it nearly linear, however much is
    shared.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._kept: list[Any] = []  # an id is only good while its object lives

    def _find(self, x: Any) -> int:
        i = id(x)
        parent = self._parent
        if i not in parent:
            parent[i] = i
            self._kept.append(x)
            return i
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def union(self, x: Any, y: Any) -> bool:
        """Note that two objects are equal; False if that was known already."""
        i, j = self._find(x), self._find(y)
        if i == j:
            return False
        self._parent[i] = j
        return True


def _equal(u: Any, v: Any) -> bool:
    merged = Merged()
    todo = [(u, v)]
    while todo:
        a, b = todo.pop()
        if a is b:
            continue
        if not (isinstance(a, ExpressionTuple) or isinstance(b, ExpressionTuple)):
            if type(a) is KwdPair is type(b) and a.arg == b.arg:
                todo.append((a.value, b.value))
            elif a != b:
                return False
            continue
        if not isinstance(a, _sequences) or not isinstance(b, _sequences) or len(a) != len(b):
            return False
        if merged.union(a, b):
            todo.extend(zip(a, b, strict=True))
    return True


_sequences = (ExpressionTuple, tuple, list)


def parts(x: Any) -> tuple[Any, ...] | None:
    """Operator and operands of a term, a variable or a node; None for what has none (leaves,
    values).

    The operator of one output of a node with several is `nth`, as in its term.
    """
    if isinstance(x, ExpressionTuple):
        return x._tuple  # type: ignore[no-any-return]
    if isinstance(x, Apply):
        return (x.op, *x.inputs)
    if not isinstance(x, Variable) or x.owner is None:
        return None
    node = x.owner
    if len(node.outputs) == 1 or x.index == node.op.default_output:
        return (node.op, *node.inputs)
    return (nth, x.index, node)
