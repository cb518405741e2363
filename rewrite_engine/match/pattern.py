"""Lowered sides of rules: holes, literals, and ops on patterns; and the call of an author's
function on fresh logic variables.

These are plain data. `match/lower.py` makes them from an author's code; `interpret.py` and
`emit.py` define their meaning, forwards; `rule.goal` defines it in miniKanren.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np

from rewrite_engine.errors import PatternError
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import CONSTANT, Constant, Projection, Variable
from rewrite_engine.graph.number import counts_as, roundings, same_number
from rewrite_engine.graph.type import Type
from rewrite_engine.terms.logic import NO_DEFAULT, LogicVariable
from rewrite_engine.terms.parameter import NOTHING, parameters_of

#: the graph that terms are of; None: of none
Graph = FrozenGraph | None


class Sort(NamedTuple):
    """A set of variables that a variable of a rule may stand for.

    test: whether a variable belongs. inline: the test as Python source, with `{v}` for the
    variable, for sorts that are too cheap to call. constant: only constants belong (matchers use it
    to read fewer nodes). fact: a fact that must hold. ties: pairs (label, place); places with the
    same label must be equal: the fact `tie` is evaluated on both variables, each with its place.
    samples: variables of the sort, one of each kind of dtype, with representative shapes
    (`match/sample.py`). formerly: a wider sort that had this name in the last release. now: the
    sort that an old name stands for.
    """

    name: str
    test: Callable[[Any], bool]
    inline: str | None = None
    constant: bool = False
    fact: Any = None
    ties: tuple[tuple[str, int], ...] = ()
    tie: Any = None
    samples: Callable[[], Sequence[Any]] | None = None
    formerly: Any = None
    now: Any = None

    def __call__(self, v: Any) -> bool:
        return self.test(v)

    def __repr__(self) -> str:
        return self.name


Anything = Sort("Anything", lambda v: True, "True")
Const = Sort("Const", lambda v: v.head is CONSTANT, "{v}.head is CONSTANT", constant=True)
Rest = Sort("Rest", lambda v: True, "True")
Prop = Sort("Prop", lambda v: True, "True")


def as_sort(annotation: Any) -> Sort:
    """Read an annotation: a `Sort`, a type of variables, a fact, or any predicate on variables; a
    class of variables, or `Any`, requires nothing (`Constant` requires a constant). Several of
    them, `Annotated[Real, nonneg]`, must hold together.
    """
    if isinstance(annotation, Sort):
        now = annotation.now  # (it never meant what the name that it has now meant before)
        return annotation if now is None else now._replace(formerly=None)
    if get_origin(annotation) is Annotated:
        return reduce(_both, map(as_sort, get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, Variable):
        return Const if issubclass(annotation, Constant) else Anything
    if annotation is Any:
        return Anything
    if isinstance(annotation, Type):
        samples = [annotation.make_variable()]
        fits = annotation.is_super
        return Sort(str(annotation), lambda v: bool(fits(v.type)), samples=lambda: samples)
    if hasattr(annotation, "ask"):
        return Sort(annotation.name, Anything.test, Anything.inline, fact=annotation)
    if callable(annotation) and not isinstance(annotation, type):
        return Sort(getattr(annotation, "__name__", repr(annotation)), annotation)
    raise PatternError(f"the annotation {annotation!r} is neither a sort nor a predicate")


def _both(a: Sort, b: Sort) -> Sort:
    """Return the intersection of two sorts. Raises `PatternError` for two facts, for which there
    are guards, and for sorts that have nothing in common.
    """
    if a is Anything or b is Anything:
        return b if a is Anything else a
    if a.fact is not None and b.fact is not None:
        raise PatternError(f"a sort has one fact, not {a} and {b}: write given({a}(x), {b}(x))")

    def fits(v: Any) -> bool:
        return a.test(v) and b.test(v)

    known = [sort.samples for sort in (a, b) if sort.samples is not None]
    samples = [v for of in known for v in of() if fits(v)]
    if known and not samples:
        raise PatternError(f"no variable is {a} and {b}")
    inline = f"{a.inline} and {b.inline}" if a.inline and b.inline else None
    wider = [sort.formerly or sort for sort in (a, b)] if a.formerly or b.formerly else None
    return Sort(
        f"{a}, {b}", fits, inline, a.constant or b.constant, a.fact or b.fact,
        a.ties + b.ties, a.tie or b.tie, (lambda: samples) if samples else None,
        _both(*wider) if wider else None,
    )  # fmt: skip


def warn_of_old_names(fn: Callable[..., Any], annotation: Any) -> None:
    """Warn, at a rule's line, of names of sorts that the next release drops."""
    parts = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
    for sort in parts:
        if isinstance(sort, Sort) and sort.now is not None:
            wider = sort.now.formerly
            code = inspect.unwrap(fn).__code__
            text = (
                f"{fn.__name__}: the sort {sort} is called {sort.now} now; where {sort.now} stands "
                f"for complex numbers, too, write {wider}"
            )
            warn_at(fn, (code.co_filename, code.co_firstlineno), text)


def warn_at(fn: Callable[..., Any], where: tuple[str, int], text: str) -> None:
    """Warn that something is deprecated, at a place of a rule's module, once."""
    names = inspect.unwrap(fn).__globals__
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text, DeprecationWarning, *where, module=fn.__module__ or "__main__", registry=registry
    )


@dataclass(frozen=True, slots=True)
class Hole:
    """Logic variable of a rule. All its occurrences stand for the same value."""

    name: str
    sort: Sort = Anything
    #: whether it takes one or more operands that stand side by side, as one term (`ac.run_of`)
    several: bool = False

    @property
    def rest(self) -> bool:
        """True if it stands for any number of operands."""
        return self.sort is Rest


def is_wide(pattern: Any) -> bool:
    """Return whether a pattern may take more operands than one, of ordered operands."""
    return isinstance(pattern, Hole) and (pattern.rest or pattern.several)


def test_cost(pattern: Any) -> int:
    """Return the cost of a test: inline tests come before those that call a function."""
    return int(isinstance(pattern, Hole) and pattern.sort.inline is None)


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    """Number in a pattern. It matches a constant that is this number, rounded to the constant's
    dtype; also an array filled with it if the op takes it as a number (`Op.takes_as_number`).
    """

    value: Any

    def __repr__(self) -> str:
        return f"Literal({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and same_number(self.value, other.value)

    def __hash__(self) -> int:
        return hash((Literal, self.value if self.value == self.value else None))

    @property
    def operand(self) -> Any:
        """Number in the form that ops take: a truth value as NumPy's, because one of Python is
        rejected.
        """
        return np.bool_(self.value) if self.value.__class__ is bool else self.value

    @property
    def marks(self) -> tuple[Any, ...]:
        """Numbers of the constants that it matches: itself, as dtypes round it."""
        return roundings(self.value)


class OpClass(NamedTuple):
    """Pattern of any op of a class whose parameters match: `Sum(axis=outer)`."""

    cls: type
    props: tuple[tuple[str, Any], ...]  # (name, Hole or value)

    def fits(self, op: Any) -> bool:
        """Return whether an op is of this class (ignoring its parameters)."""
        return type(op) is self.cls

    def usual(self, name: str) -> tuple[Any, ...]:
        """Return the default of a parameter, if it has one."""
        cls: Any = self.cls
        _, default = parameters_of(cls.__init__).get(name, (NOTHING, NOTHING))
        return () if default is NOTHING else (default,)


#: in the place of an output's number: all of them
ALL = -1


@dataclass(frozen=True)
class OpNode:
    """Pattern of an op (or an `OpClass`) applied to patterns.

    index: which of several outputs it is. None: the result of `op(...)`, the only output or the
    op's `default_output`. `ALL`: all of them, if a rule replaces a whole node.
    """

    op: Any
    args: tuple[Any, ...]
    index: int | None = None

    def of(self, *args: Any) -> OpNode:
        """Return this op applied to other patterns."""
        return OpNode(self.op, args, self.index)

    def output(self, index: int | None) -> OpNode:
        """Return another output of the same node."""
        return OpNode(self.op, self.args, index)

    @property
    def operator(self) -> Any:
        """Op, or its class if parameters are variables."""
        return self.op.cls if isinstance(self.op, OpClass) else self.op

    @property
    def place(self) -> int | None:
        """Index among the outputs of nodes that may have several."""
        return self.operator.default_output if self.index is None else self.index

    @property
    def head(self) -> Any:
        """Head of the variables it matches, as `Variable.head`; or the class of that."""
        if isinstance(self.op, OpClass):
            return self.op.cls if self.index is None else Projection
        return self.op if self.index is None else Projection(self.op, self.index)

    def computes(self, v: Any) -> bool:
        """Return whether a variable is the output of an op that may be the one at this place."""
        node = v.owner
        if node is None or not self.fits(node.op):
            return False
        if self.index is None or self.index == ALL:
            return self.index == ALL or v.head is node.op
        return self.index == v.index and v.head is not node.op

    def target(self, node: Any) -> Any:
        """Return the output of a node that the pattern is about (for `ALL` the first), if it
        exists.
        """
        outputs = node.outputs
        if self.index == ALL or len(outputs) == 1:
            return outputs[0] if self.index in (None, ALL) else None
        i = node.op.default_output if self.index is None else self.index
        return outputs[i] if i is not None and i < len(outputs) else None

    @cached_property
    def rests(self) -> list[int]:
        """Positions of the operands that stand for any number of operands."""
        return [i for i, a in enumerate(self.args) if isinstance(a, Hole) and a.rest]

    @cached_property
    def wide(self) -> bool:
        """True if operands stand for more than one, if they have an order."""
        return any(map(is_wide, self.args))

    @cached_property
    def swaps(self) -> bool:
        """True if the two operands are tried in both orders."""
        return (
            len(self.args) == 2
            and not self.rests
            and not isinstance(self.op, OpClass)
            and bool(self.op.commutative)
            and self.args[0] != self.args[1]
        )

    def fits(self, op: Any) -> bool:
        """Return whether an op may be the one at this place."""
        return op == self.op or (isinstance(self.op, OpClass) and self.op.fits(op))


Pattern = Hole | Literal | OpNode


def is_literal(v: Any, value: Any, whole: Any) -> bool:
    """Return whether a variable is a number in a pattern, as an operand of `whole` (None: of no
    op).
    """
    if v.head is not CONSTANT or not counts_as(v, value):
        return False
    node = getattr(whole, "owner", None)
    return v.number is not None or (
        node is not None and bool(node.op.takes_as_number(node.inputs, v))
    )


def subpatterns(pattern: Any) -> Iterator[tuple[Any, int]]:
    """Yield every pattern within, with its depth; the pattern itself first."""
    several = isinstance(pattern, tuple)  # one pattern for each output
    stack = [(p, 0) for p in (reversed(pattern) if several else (pattern,))]
    while stack:
        p, depth = stack.pop()
        yield p, depth
        if isinstance(p, OpNode):
            depth += 1
            stack += [(a, depth) for a in reversed(p.args)]


def holes(pattern: Any) -> dict[str, Hole]:
    """Return the holes of a pattern by name, those in op parameters included, in order of
    appearance.
    """
    results: dict[str, Hole] = {}
    stack: list[Any] = list(pattern[::-1]) if pattern.__class__ is tuple else [pattern]
    while stack:
        p = stack.pop()
        if isinstance(p, Hole):
            results.setdefault(p.name, p)
        elif isinstance(p, OpNode):
            props = p.op.props if isinstance(p.op, OpClass) else ()
            for _, value in props:
                if isinstance(value, Hole):
                    results.setdefault(value.name, value)
            stack += p.args[::-1]
    return results


# --- what an author writes -----------------------------------------------------------------------


def names_of(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    return tuple(parameters_of(fn))


def variables_of(fn: Callable[..., Any], variable: type[LogicVariable]) -> dict[str, LogicVariable]:
    """Return a logic variable for each parameter of a rule function."""
    names = inspect.unwrap(fn).__globals__
    try:
        read = {
            name: (annotation_of(text, names), default)
            for name, (text, default) in parameters_of(fn).items()
        }
    except Exception as error:
        what = f"the annotations cannot be read: {type(error).__name__}: {error}"
        raise PatternError(what) from error
    results = {}
    for name, (annotation, default) in read.items():
        warn_of_old_names(fn, annotation)
        sort = Anything if annotation is NOTHING else as_sort(annotation)
        if default is NOTHING or sort is Rest:
            default = NO_DEFAULT
        elif not isinstance(default, int | float | complex):
            what = "a default for a missing operand must be a number"
            raise PatternError(f"parameter {name}: {what}")
        results[name] = variable(name, sort=sort, rest=sort is Rest, default=default)
    return results


def annotation_of(said: Any, names: dict[str, Any]) -> Any:
    """Return the value of an annotation, which may be text, or (quoted, too) text in text."""
    for _ in range(2):
        if isinstance(said, str):
            said = names[said] if said in names else eval(said, names)
    return said
