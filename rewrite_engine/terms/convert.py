"""Conversion of graphs to terms and back: `etuplize(x).evaled_obj is x`.

A term is `e(op, *operands)`; operands are terms, leaves (roots, constants: themselves) or plain
values. Sharing is preserved both ways, and nothing recurses. The op itself is the operator, so its
parameters do not complicate a pattern; its own term has them: `e(Scale, 2.0)`. One output of a node
with several is `e(nth, i, e(op, *operands))`, except that the op's `default_output` is
`e(op, *operands)` itself.

An `etuples.ExpressionTuple` hashes, compares and prints by recursion, and walks a shared sub-term
once per path to it. `GraphTuple` is one with a cached hash, and comparison linear in the graph's
size. Two tools for this are here too: `Merged` (known equalities) and `parts` (the parts of a
term).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from etuples.core import ExpressionTuple, InvalidExpression, KwdPair
from unification import Var

from rewrite_engine.errors import ForeignObjectError, describe, message
from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import LOWEST
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.weak import WeakValues
from rewrite_engine.terms.logic import LogicVariable, PatternTerm, Term, nth
from rewrite_engine.terms.print import Call, Token, etuple_text, written

Var.register(LogicVariable)


@written.register(KwdPair)
def _(x: KwdPair, outer: int, call: Call) -> Sequence[Token]:
    return [f"{x.arg}=", (x.value, LOWEST)]


@written.register(ExpressionTuple)
def _(x: ExpressionTuple, outer: int, call: Call) -> Sequence[Token]:
    return ["e()"]  # others are an op applied to operands


null = ExpressionTuple.null
#: what a term may be equal to
SEQUENCES = (ExpressionTuple, tuple, list)


class GraphTuple(ExpressionTuple):  # type: ignore[misc]
    """Etuple `(operator, *operands)`, equal to any etuple with equal elements.

    `evaled_obj` is its value; a term made from a graph remembers the variable it came from. An open
    term (one with logic variables) evaluates to a `PatternTerm`.
    """

    __slots__ = ("_hash", "__weakref__")

    _hash: int | None

    def __init__(self, seq: Iterable[Any] | None = None, **kwargs: Any) -> None:
        if seq is not self:  # GraphTuple(t) is t, and does not forget what it evaluates to
            super().__init__(seq, **kwargs)
            self._hash = None

    @property
    def evaled_obj(self) -> Any:
        """Value of this term: for a term of a graph, the variable itself."""
        return from_term(self) if self._evaled_obj is null else self._evaled_obj

    def _eval_step(self) -> Any:
        yield self.evaled_obj

    def __hash__(self) -> int:
        if self._hash is None:
            _fill_hashes(self)
        return self._hash  # type: ignore[return-value]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, SEQUENCES):
            return NotImplemented
        mine, its = self._hash, getattr(other, "_hash", None)
        if mine is not None and its is not None and mine != its:
            return False
        return _equal(self, other)

    def __repr__(self) -> str:
        return etuple_text(self)

    __str__ = __repr__


def make(items: tuple[Any, ...], evaled: Any = null) -> GraphTuple:
    """Allocate a `GraphTuple`, faster than the constructor."""
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
    """Return the value of a keyword operand; anything else unchanged."""
    return x.value if type(x) is KwdPair else x


class Merged:
    """Table of objects known to be equal, as classes that grow together (union-find, by identity).

    Calling `union` before comparing each pair makes the comparison of terms nearly linear, however
    much is shared.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._kept: list[Any] = []  # an id is only good while its object lives

    def _find(self, x: Any) -> int:
        i, parent = id(x), self._parent
        if i not in parent:
            parent[i] = i
            self._kept.append(x)
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    def union(self, x: Any, y: Any) -> bool:
        """Record that two objects are equal; False if that was already known."""
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
        if not isinstance(a, SEQUENCES) or not isinstance(b, SEQUENCES) or len(a) != len(b):
            return False
        if merged.union(a, b):
            todo.extend(zip(a, b, strict=True))
    return True


def parts(x: Any) -> tuple[Any, ...] | None:
    """Return operator and operands of a term, a variable or a node; None for leaves and values.

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


# --- there and back ------------------------------------------------------------------------------

#: the term of a variable, as long as somebody holds it
_known: WeakValues[Variable, GraphTuple] = WeakValues()


def etuplize(x: Any, shallow: bool = False, holes: Mapping[Variable, Any] | None = None) -> Any:
    """Return the term of a variable, a node, an op or a type.

    A variable without an owner is returned unchanged, and so is a constant, an etuple or a logic
    variable; for a pattern, its etuple is returned. shallow: the operands stay variables. holes:
    replacements for some variables: logic variables make a pattern of an example. The same variable
    gives the same term, as long as that exists. Raises `ForeignObjectError` (a `TypeError`) for
    anything else.

    >>> from tests.toy import num, log, add
    >>> x = num("x")
    >>> etuplize(log(add(1, x)))
    e(log, e(add, 1.0, x))
    >>> etuplize(num)
    e(Num, False)
    """
    if isinstance(x, Record):
        return record_term(x)
    if isinstance(x, PatternTerm):
        return x.etuple
    if isinstance(x, (ExpressionTuple, Var)):
        return x
    if not isinstance(x, (Variable, Apply)):
        raise ForeignObjectError(message(f"{describe(x)} has no term"))
    if shallow:
        items = parts(x)
        return x if items is None else make(items, x)
    converter = Converter(holes)
    return converter.node(x) if isinstance(x, Apply) else converter.term(x)


def etuplize_all(variables: Iterable[Variable]) -> list[Any]:
    """Return the terms of the outputs of a graph, with their shared parts shared."""
    converter = Converter()
    return [converter.term(v) for v in variables]


def record_term(record: Record) -> GraphTuple:
    """Return `e(class, *parameters)` of an op or type; `ForeignObjectError` without `__props__`."""
    names = record.__props__
    if names is None:
        raise ForeignObjectError(message(f"{record!r} declares no __props__, so it has no term"))
    values = [getattr(record, name) for name in names]
    inside = [record_term(x) if isinstance(x, Record) and x.__props__ else x for x in values]
    return make((type(record), *inside), record)


class Converter:
    """Converter of variables to terms, each once. holes: replacements for some variables."""

    def __init__(self, holes: Mapping[Variable, Any] | None = None) -> None:
        self.holes = holes or {}
        self.done: dict[Any, Any] = {}

    def node(self, node: Apply) -> GraphTuple:
        """Return the term of a node."""
        for v in node.inputs:
            self.term(v)
        return self.made(node, node)

    def term(self, x: Any) -> Any:
        """Return the term of a variable, after those of all it depends on."""
        done = self.done

        def unknown(variables: Iterable[Any]) -> list[Any]:
            return [v for v in variables if v not in done and not self.leaf(v)]

        for v in postorder(unknown([x]), lambda v: unknown(v.owner.inputs)):
            done[v] = self.build(v)
        return done[x]

    def leaf(self, v: Any) -> bool:
        """Record the term of a variable that needs no others; return whether it is one."""
        new = self.holes.get(v, v)
        if new is v and v.owner is not None:
            new = None if self.holes else _known.get(v)
        if new is None:
            return False
        self.done[v] = new.etuple if isinstance(new, PatternTerm) else new
        return True

    def made(self, node: Apply, value: Any) -> GraphTuple:
        """Make the term of a node from those of its inputs; it evaluates to `value` if nothing
        below was replaced.
        """
        inside = [self.done[v] for v in node.inputs]
        faithful = not self.holes or all(
            [t is v or getattr(t, "_evaled_obj", None) is v for t, v in zip(inside, node.inputs)]
        )
        return make((node.op, *inside), value if faithful else null)

    def build(self, v: Any) -> GraphTuple:
        """Make the term of a variable. The outputs of a node share its term, which is also the term
        of its default output.
        """
        node = v.owner
        known: Any = {} if self.holes else _known
        if len(node.outputs) == 1:
            term = self.made(node, v)
        else:
            default = node.op.default_output
            value: Any = list(node.outputs) if default is None else node.outputs[default]
            found = self.done.get(node) or (None if default is None else known.get(value))
            term = self.done[node] = found or self.made(node, value)
            if v.index != default:
                if default is not None:
                    known[value] = term
                term = make((nth, v.index, term), null if term._evaled_obj is null else v)
        known[v] = term
        return term


def etuple_of(root: PatternTerm) -> None:
    """Make the etuple of a pattern, after those of the patterns inside."""

    def below(term: PatternTerm) -> list[PatternTerm]:
        inside = [x for x in term.items if issubclass(type(x), PatternTerm)]
        return [x for x in inside if x._etuple is None]

    for term in postorder([root], below):
        items = [x.etuple if issubclass(type(x), PatternTerm) else x for x in term.items]
        term._etuple = make(tuple(items))


def from_term(term: Any) -> Any:
    """Return the value of a term: for the term of a graph, the graph; ops are applied to the
    operands' values.

    Equal objects in the term are evaluated once, so sharing is preserved. A term with logic
    variables evaluates to a `PatternTerm`. Other objects are returned unchanged. Raises the errors
    of the ops, and `InvalidExpression` if an operator cannot be called.

    >>> from etuples import etuple as e
    >>> from tests.toy import num, log
    >>> from_term(e(log, num("x")))
    log(x)
    """
    if isinstance(term, PatternTerm):
        term = term.etuple
    if not isinstance(term, ExpressionTuple):
        return term
    values: dict[int, Any] = {}

    def below(t: Any) -> list[Any]:
        known = t._evaled_obj is not null
        return [] if known else [x for x in map(unkeyed, t) if isinstance(x, ExpressionTuple)]

    for t in postorder([term], below):
        values[id(t)] = _evaluate(t, values) if t._evaled_obj is null else t._evaled_obj
    return values[id(term)]


def _evaluate(term: Any, values: dict[int, Any]) -> Any:
    """Evaluate a term whose sub-terms are evaluated."""
    if len(term) == 0:
        raise InvalidExpression("Empty expression.")
    items = [
        values.get(id(x), x) if isinstance(x, ExpressionTuple) else x for x in map(unkeyed, term)
    ]
    inside = [type(x) for x in items if issubclass(type(x), (Var, Term))]
    if inside:  # open: not remembered, so that `_evaled_obj` means closed
        return getattr(inside[0], "pattern_type", PatternTerm)(term)
    op = items[0]
    if not callable(op):
        raise InvalidExpression(f"{op!r} cannot be called, so it is not an operator ({term})")
    given = list(zip(term, items, strict=True))[1:]
    kwargs = {x.arg: value for x, value in given if type(x) is KwdPair}
    args = [value for x, value in given if type(x) is not KwdPair]
    if isinstance(op, type) and issubclass(op, Record) and op.__props__ and not kwargs:
        args, kwargs = [], dict(zip(op.__props__, args, strict=True))
    term._evaled_obj = op(*args, **kwargs)
    return term._evaled_obj
