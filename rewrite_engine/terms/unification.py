"""Unification and reification of terms, patterns and graphs.

`unify` and `reify` here do what `unification.unify` and `reify` do, which call them if a graph or
pattern is among their arguments (`terms/dispatch.py`). They are linear in the size of graphs,
however much is shared, and do not recurse. A variable of a graph is compared with a pattern by its
owner; a pattern literal and constants are compared by content. Searching is left to miniKanren.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

from cons.core import ConsError, ConsPair, car, cdr
from etuples.core import ExpressionTuple, InvalidExpression, KwdPair
from unification import Var
from unification.core import _reify as reify_other
from unification.core import _unify as unify_other
from unification.core import isvar, stream_eval
from unification.variable import _global_logic_variables as _declared

from rewrite_engine.errors import PatternError
from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.number import counts_as
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.replace import ILL_TYPED
from rewrite_engine.graph.type import Type
from rewrite_engine.terms.convert import Merged, from_term, make, null, parts, record_term
from rewrite_engine.terms.logic import LogicVariable, PatternTerm

#: what is equal only to what has equal elements
OPEN = (Variable, Apply, ExpressionTuple, PatternTerm, KwdPair)
#: in which there is nothing, as far as this module can see, if they have no elements
ATOMS = (Variable, Record, Apply, ExpressionTuple, str, Number, type, tuple, list)

#: compounds that are no terms: their elements, and one of the same kind with other elements
COMPOUNDS: dict[type, tuple[Callable[[Any], tuple[Any, ...]], Callable[[Any, list[Any]], Any]]] = {
    tuple: (tuple, lambda _, new: tuple(new)),
    list: (tuple, lambda _, new: new),
    slice: (lambda x: (x.start, x.stop, x.step), lambda _, new: slice(*new)),
    ConsPair: (lambda x: (x.car, x.cdr), lambda _, new: ConsPair(*new)),
    KwdPair: (lambda x: (x.value,), lambda x, new: KwdPair(x.arg, *new)),
}


def unify(u: Any, v: Any, s: Any = None, *, occurs_check: bool = False) -> Any:
    """Return the substitution (a mapping; `s` extended) under which two terms are equal, or False.

    Terms: etuples, patterns, logic variables, the variables and nodes of graphs, ops, and plain
    values. Variables of graphs are equal if they are the same, or have equal owners, or are
    constants with equal content. A number equals a constant of that value. With `occurs_check` no
    variable is bound to a term that contains it (otherwise `unify(x, f(x))` succeeds, as in
    `unification`).

    >>> from tests.toy import num, log, add
    >>> y, x = LogicVariable("y"), num("x")
    >>> unify(log(add(1, y)), log(add(1, x)))
    {y: x}
    """
    given = {} if s is None else s
    if hasattr(given, "constraints"):
        import unification

        found = unification.unify(u, v, given)
    else:
        found = solve(u, v, given)
    if found is not False and occurs_check:
        try:
            list(map(Reifier(found).result, found))
        except PatternError:  # a variable is bound to a term that contains it
            return False
    return found


def solve(u: Any, v: Any, s: Mapping[Any, Any]) -> Any:
    """Unify under a plain substitution, which is copied when it grows."""
    merged = Merged()
    todo = [(u, v)]
    bound: dict[Any, Any] | None = None
    while todo:
        a, b = todo.pop()
        a, b = walk(a, s), walk(b, s)
        if a is b:
            continue
        if is_free(b) and not is_free(a):
            a, b = b, a
        if is_free(a):
            if not admits(a, b):
                return False
            if bound is None:
                s = bound = s.copy() if isinstance(s, dict) else dict(s)
            bound[a] = b
            continue
        pairs = decompose(a, b, merged)
        if pairs is not None:
            todo.extend(reversed(pairs))
            continue
        found = _unify_values(a, b, s)
        if found is False:
            return False
        s = found
        bound = None
    return s


def is_free(x: Any) -> bool:
    """Return whether this is a logic variable."""
    return issubclass(type(x), Var) or (bool(_declared) and isvar(x))


def walk(x: Any, s: Mapping[Any, Any]) -> Any:
    """Return the value of a logic variable, following bindings."""
    while is_free(x) and x in s:
        x = s[x]
    return x


def admits(variable: Any, value: Any) -> bool:
    """Return whether a logic variable with a type may stand for a value of another type."""
    wanted: Any = getattr(variable, "type", None)
    if not isinstance(wanted, Type) or not issubclass(type(variable), LogicVariable):
        return True
    if isinstance(value, ExpressionTuple):
        value = value._evaled_obj
    if isinstance(value, Variable):
        return bool(wanted.is_super(value.type))
    return not isinstance(value, (Apply, Record))


def decompose(a: Any, b: Any, merged: Merged) -> list[tuple[Any, Any]] | None:
    """Return the pairs that must be equal for two compounds to be equal; None if they are no such
    terms.
    """
    a, b = [x.etuple if issubclass(type(x), PatternTerm) else x for x in (a, b)]
    if ConsPair in (type(a), type(b)):
        try:
            return [(car(a), car(b)), (cdr(a), cdr(b))]
        except ConsError:
            return None
    left, right = _children(a, b), _children(b, a)
    if left is None or right is None or len(left) != len(right):
        return None
    if not merged.union(a, b):
        return []
    return list(zip(left, right, strict=True))


def _children(x: Any, other: Any) -> tuple[Any, ...] | None:
    """Return the parts of `x` for a comparison with `other`."""
    found = parts(x)
    if found is not None:
        return found
    if isinstance(x, Record):
        opens = isinstance(other, ExpressionTuple) and x.__props__ is not None
        return record_term(x)._tuple if opens else None
    if type(x) is KwdPair is type(other) and x.arg != other.arg:
        return None
    same = type(other) is type(x) or (type(x) is tuple and isinstance(other, ExpressionTuple))
    return _inside(x) if same and type(x) in COMPOUNDS else None


def _unify_values(a: Any, b: Any, s: Any) -> Any:
    """Unify values, and objects of classes that only `unification` knows."""
    if isinstance(a, Constant) or isinstance(b, Constant):
        same = literal_matches(b, a) if isinstance(a, Constant) else literal_matches(a, b)
    elif isinstance(a, OPEN) or isinstance(b, OPEN):
        same = False
    elif isinstance(a, Record) or isinstance(b, Record):
        same = a == b
    else:
        return stream_eval(unify_other(a, b, s))
    return s if same else False


def literal_matches(literal: Any, constant: Constant) -> bool:
    """Return whether a value in a pattern, or another constant, equals a constant in content.

    A Python number equals a constant that is that one number, as its dtype rounds it (but True is
    not 1, and 0 not -0.0; nan equals nan). Another value is equal if the constant's type makes an
    equal constant of it.
    """
    if isinstance(literal, Constant):
        return constant.equals(literal)
    if isinstance(literal, Variable):
        return False
    if isinstance(literal, Number):
        return constant.number is not None and counts_as(constant, literal)
    try:
        return bool(constant.type.make_constant(literal).equals(constant))
    except (TypeError, ValueError):
        return False


# --- what is in a term ---------------------------------------------------------------------------


def _inside(x: Any) -> tuple[Any, ...]:
    """Return the elements of a compound that may contain logic variables."""
    if isinstance(x, ExpressionTuple):  # none are in what was evaluated (`convert.py`)
        return () if x._evaled_obj is not null else tuple(x._tuple)
    if issubclass(type(x), PatternTerm):
        return (x.etuple,)
    elements, _ = COMPOUNDS.get(type(x), (None, None))
    return elements(x) if elements is not None else ()


def logic_variables(term: Any) -> list[Any]:
    """Return the logic variables in a term, in order from the left."""
    within = postorder([term], lambda x: () if is_free(x) else _inside(x))
    return list(dict.fromkeys(filter(is_free, within)))


#: what a term makes while something in it is free, and where no graph can be built of it
UNKNOWN, IMPOSSIBLE = object(), object()


def evaluated(term: Any) -> Any:
    """Return the value of a term, a graph variable or a plain value; or `UNKNOWN`, or
    `IMPOSSIBLE`.
    """
    if isinstance(term, Variable):
        return term
    if logic_variables(term):
        return UNKNOWN
    try:
        return from_term(term)
    except (*ILL_TYPED, InvalidExpression):
        return IMPOSSIBLE


# --- replacing -----------------------------------------------------------------------------------


def reify(term: Any, s: Mapping[Any, Any]) -> Any:
    """Replace the logic variables in a term by their values.

    A pattern without remaining logic variables is evaluated to a variable of a graph; an etuple
    stays one (its `evaled_obj` is that variable). Shared sub-terms stay shared, and unchanged ones
    stay the same objects. Raises `PatternError` if a variable stands for a term that contains it.
    """
    reifier = Reifier(s)
    return reifier.finish(term, reifier.result(term))


class Reifier:
    """Replacer of logic variables in terms, each object once. `open`: the variables that were
    left.
    """

    def __init__(self, s: Mapping[Any, Any]) -> None:
        self.s = s
        self.done: dict[int, Any] = {}
        self.open: dict[Any, None] = {}

    def children(self, x: Any) -> tuple[Any, ...]:
        if not is_free(x):
            return _inside(x)
        return (self.s[x],) if x in self.s else ()

    def result(self, root: Any) -> Any:
        """Return the new term, with etuples in place of patterns."""
        done = self.done

        def below(x: Any) -> list[Any]:
            return [c for c in self.children(x) if id(c) not in done]

        for x in postorder(below((root,)), below):
            children = self.children(x)
            try:
                new = [done[id(c)] for c in children]
            except KeyError:  # one of them is above
                name = next(filter(is_free, (x, *children)), "a variable")
                raise PatternError(f"{name} stands for a term that contains it") from None
            done[id(x)] = self.rebuild(x, new)
        return done[id(root)]

    def rebuild(self, x: Any, new: list[Any]) -> Any:
        """Return the new object for one whose elements are replaced."""
        if is_free(x):
            if new:
                return new[0]
            self.open[x] = None
            return x if isinstance(self.s, dict) else stream_eval(reify_other(x, self.s))
        if not new:
            return x if isinstance(x, ATOMS) else stream_eval(reify_other(x, self.s))
        if issubclass(type(x), PatternTerm):
            return new[0]
        if all(a is b for a, b in zip(_inside(x), new, strict=True)):
            return x
        return make(tuple(new)) if isinstance(x, ExpressionTuple) else COMPOUNDS[type(x)][1](x, new)

    def finish(self, old: Any, new: Any) -> Any:
        """Evaluate the result for a pattern, or for a variable that stands for one; if logic
        variables are left in it, it stays a pattern.
        """
        old = walk(old, self.s)
        if not issubclass(type(old), PatternTerm):
            return new
        if not self.open:
            return from_term(new)
        return old if new is old.etuple else type(old)(new)
