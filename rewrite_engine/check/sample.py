"""Terms that the left side of a data rule matches, built from the left side itself.

Operands have the dtypes of a list, in turn or mixed, and static shapes of a list. If guards ask
something of an operand, other terms stand for it: variables that are declared so (`declared.py`),
those of `WAYS`, or better ones from a caller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.declared import ways_to_declare
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Variable
from rewrite_engine.language import (
    Bool,
    Float,
    FloatConstant,
    Inexact,
    InexactConstant,
    Integer,
    Matrix,
    Number,
    Ordered,
    Scalar,
    Vector,
)
from rewrite_engine.match.pattern import Hole, Literal, OpClass, Prop, holes, subpatterns
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.sample import parameters
from rewrite_engine.match.sampled import SameParts
from rewrite_engine.rewrite.trace import brief

DTYPES = [
    "float64", "float32", "float16", "int64", "int8", "uint8", "uint64", "bool",
    "complex128", "complex64",
]  # fmt: skip
#: every dtype of numbers; the others behave as one of `DTYPES` nearly always
ALL_DTYPES = [*DTYPES, "int32", "int16", "uint16", "uint32"]
#: dtypes of constants that are wider than those of the operands around them
WIDER = {
    "int8": "int16", "uint8": "int16", "bool": "int8", "int32": "int64", "int16": "int32",
    "float32": "float64", "float16": "float32", "int64": "float64",
}  # fmt: skip
#: what operands, and numbers, of one term may have in turn
MIXTURES = [
    ["float64", "float32", "float16"],
    ["float64", "float32", "int64", "int32", "int8", "bool"],
    ["float16", "int8", "uint8", "int16", "float32"],
    ["complex128", "complex64", "float64"],
    ["int64", "int8", "uint8", "uint64", "int32", "bool"],
    ["int8", "int16", "uint16", "int32"],
]
KINDS: dict[Any, str] = {
    Inexact: "fc",
    Float: "f",
    Integer: "iu",
    Bool: "b",
    Number: "iufc",
    Ordered: "biuf",
    InexactConstant: "fc",
    FloatConstant: "f",
}
KINDS |= {sort._replace(formerly=None): kinds for sort, kinds in KINDS.items()}  # of old names
RANKS: dict[Any, int] = {Scalar: 0, Vector: 1, Matrix: 2}

#: static shapes of the operands, one after the other (the last one goes on)
SHAPES: list[list[tuple[int | None, ...]]] = [
    [()],
    [(None,)],
    [(None, None)],
    [(1,), (None,)],
    [(None,), (1,)],
    [(1, None), (None, 1), (None, None)],
    [(None, 1), (None, None), (1, None)],
    [(None, None), (None,)],
    [(None,), (None, None), ()],
    [(), (None,)],
    [(None, None), (None, 1)],
    [(None, None), (1, None)],
]
#: those whose lengths are known, for rules that ask for them
KNOWN: list[list[tuple[int | None, ...]]] = [[(4,)], [(3, 4)], [(3, 3)], [(1, 4), (4,)]]

IN_TURN = 8  # the choice from which on constants are all numbers in turn

Make = Callable[[Any], Any]


class Of(NamedTuple):
    """A term made of another operand."""

    name: str
    op: Make


def tensor(name: str, dtype: str, shape: Any) -> Variable:
    """Return a tensor variable of a dtype."""
    return pt.tensor(name, dtype=dtype, shape=shape)


def truth(v: Any) -> Any:
    """Return a finite term of any dtype: 1 where v is above 0, else 0."""
    return pt.cast(v > 0, v.type.dtype)


#: terms of which facts know something, in the places of operands that guards speak of
WAYS: tuple[Make, ...] = (
    lambda v: v,
    pt.exp,
    lambda v: 2 + pt.sin(truth(v)),
    pt.sqr,
    lambda v: truth(v) + 0.7,
    pt.abs,
    pt.sigmoid,
)


@cache
def numbers(dtype: str) -> list[Any]:
    """Return values for constants: plain numbers, and the ends of the dtype."""
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "fc":
            limits = np.finfo(dtype)
            low, high = float(limits.tiny), float(limits.max)
            found = [2, -3, 0.1, 1e-4, 1e-3, 7e-4, 0.5, 1 / 3, 2, -3, 30, 1e4, 1, -1, 0, -0.0]
            found += [low, low / 4, 1.3 * low**0.5, 0.7 * low**0.5, high, 1.3 * high**0.5, high / 2]
            found += [np.inf, -np.inf, np.nan, 1e16]
        else:
            found = [2, -3, 100, 3, 1, -1, 0, 127]
            ends = [0, 1] if dtype == "bool" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
            found += [n for n in (512, 300, -200, -40_000, *ends) if ends[0] <= n <= ends[1]]
        return [np.asarray(n).astype(dtype) for n in found]


class Filler:
    """Builder of terms from patterns. A subclass chooses the terms for variables and numbers:
    `operand` is called once for each variable, `literal` for each number.
    """

    bound: dict[str, Any]

    def fill(self, pattern: Any) -> Any:
        """Return the term that stands for a pattern."""
        if isinstance(pattern, Hole):
            if pattern.name not in self.bound:
                self.bound[pattern.name] = self.operand(pattern)
            return self.bound[pattern.name]
        if isinstance(pattern, Literal):
            return self.literal(pattern)
        args: list[Any] = []
        for a in pattern.args:
            value = self.fill(a)
            args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
        op = pattern.op
        if isinstance(op, OpClass):
            op = op.cls(**{n: self.fill(p) if isinstance(p, Hole) else p for n, p in op.props})
        return self.applied(op, args, max(pattern.index or 0, 0))

    def operand(self, hole: Hole) -> Any:
        """Return the operand or parameter that stands for a variable; several for a rest."""
        raise NotImplementedError

    def literal(self, pattern: Literal) -> Any:
        """Return the operand that stands for a number."""
        raise NotImplementedError

    def applied(self, op: Any, args: Sequence[Any], index: int) -> Any:
        """Return an output of an op."""
        made = op(*args)
        return made[index] if isinstance(made, list | tuple) else made


class Builder(Filler):
    """Builder of one term of a left side. dtypes: choices for the dtype of each operand. given:
    terms that may stand for operands, by their names. plain: no special constants.
    """

    plain = False
    widening = False

    def __init__(
        self,
        rule: DataRule,
        dtypes: Sequence[str],
        shapes: Any,
        parameters: Mapping[str, Any],
        choice: int,
        given: Mapping[str, Sequence[Any]],
    ) -> None:
        self.rule, self.dtypes, self.shapes, self.choice = rule, dtypes, shapes, choice
        self.choose = random.Random(f"{rule.short_name} {dtypes} {choice}")
        self.bound: dict[str, Any] = dict(parameters)
        self.given = given
        self.pending: set[str] = set()  # operands that are made of others
        self.inputs: list[Any] = []
        self.stand_ins: list[Any] = []
        self.constants = 0

    def term(self) -> Variable:
        """Build one term of the left side."""
        return self.fill(self.rule.left)  # type: ignore[no-any-return]

    def literal(self, pattern: Literal) -> Any:
        """Return a number, as weak as Python's; with a dtype; or filling an array."""
        value = pattern.value
        form = 0 if self.plain else self.choose.randrange(6)
        typed = np.asarray(value).astype(self.choose.choice(list(self.dtypes)))
        if form < 2 or typed != value:
            return pattern.operand
        if form == 2 and value == 0 and typed.dtype.kind == "f":
            typed = -typed
        return pt.constant(np.full([(1,), (4,)][form % 2], typed) if form > 3 else typed)

    def operand(self, hole: Hole) -> Any:
        if hole.sort is Prop:
            raise TypeError(f"no value is known for {hole.name}")
        for parts in map(parts_of, self.rule.guards):
            if parts is not None and hole.name in parts.paths:
                own = {n: self.fill(holes(self.rule.left)[n]) for n in parts.names}
                return parts.built(own)[hole.name]
        choices = self.given.get(hole.name)
        if hole.rest and not choices:
            return tuple([self.fresh(f"{hole.name}{i}", hole) for i in range(2)])
        make: Any = choices[self.choice % len(choices)] if choices else None
        if isinstance(make, Of) and make.name not in self.pending | {hole.name}:
            self.pending.add(hole.name)
            return make.op(self.fill(holes(self.rule.left)[make.name]))
        make = None if isinstance(make, Of) else make  # each would be made of the other
        v = self.fresh(hole.name, hole)
        if make is not None:
            v = make(v)
            if v.owner is not None:
                self.stand_ins.append(v)
        return v

    def fresh(self, name: str, hole: Hole) -> Any:
        """Return a variable, or a constant, of the sort of a hole. Raises `TypeError` if there is
        none.
        """
        sort = hole.sort
        samples = list(sort.samples()) if sort.samples is not None else []
        fits = [d for d in self.dtypes if np.dtype(d).kind in KINDS.get(sort, "fiubc")]
        if sort not in KINDS and sort.samples is None:  # such as `Annotated[Float, nonneg]`
            fits = [d for d in fits if not sort.constant and sort(tensor(name, d, ()))] or fits
        if not fits:
            raise TypeError(f"{self.dtypes} has no {sort}")
        dtype = "bool" if name == "condition" else self.choose.choice(fits)
        if sort.constant:
            return pt.constant(self.number(dtype))
        shape = self.shapes[min(len(self.inputs), len(self.shapes) - 1)]
        if sort in RANKS or (samples and sort not in KINDS):
            own = samples[0].type.shape if samples else (None,) * RANKS[sort]
            shape = own if len(own) != len(shape) or any(own) else shape
        v: Any = tensor(name, dtype, shape)
        if not hole.rest and sort not in KINDS and not sort(v):
            v = next((s.type(name) for s in samples if s.type.dtype in self.dtypes), None)
            if v is None:
                raise TypeError(f"nothing here is {sort}")
        self.inputs.append(v)
        return v

    def number(self, dtype: str) -> Any:
        """Return the value of a constant: each number in turn is the first constant of a term."""
        if self.plain:
            return np.asarray([2.0, -3.0][self.choice % 2]).astype(dtype)
        if self.widening:
            dtype = WIDER.get(dtype, dtype)
        found = numbers(dtype)
        self.constants += 1
        if self.constants > 1 or self.choice < IN_TURN:
            return self.choose.choice(found)
        return found[(self.choice - IN_TURN) % len(found)]


class Plain(Builder):
    """Builder with ordinary constants only."""

    plain = True


class Widening(Builder):
    """Builder with constants of dtypes that are wider than those of operands."""

    widening = True


def parts_of(guard: Any) -> SameParts | None:
    """Return the parts of the left side that a guard compares (`match/sampled.py`), if it does."""
    return guard.fn if isinstance(guard.fn, SameParts) else None


def is_computed(v: Any) -> bool:
    """Return whether a term is the result of a node."""
    return isinstance(v, Variable) and v.owner is not None


def parameter_choices(pattern: Any, most: int = 12) -> list[dict[str, Any]]:
    """Return values for the variables of a pattern that stand for parameters of ops."""
    names = {h.name for h in holes(pattern).values() if h.sort is Prop}
    found = {name: values for name, values in parameters(pattern).items() if name in names}
    rows = islice(product(*found.values()), most)
    return [dict(zip(found, row, strict=True)) for row in rows] if found else [{}]


def stand_ins(rule: DataRule) -> dict[str, list[Any]]:
    """Return terms that may stand for the variables of guards."""
    found: dict[str, list[Any]] = {}
    for guard in rule.guards:
        if parts_of(guard):
            continue
        names = [a.name for a in guard.args if isinstance(a, Hole) and a.sort is not Prop]
        for name in names:
            if not holes(rule.left)[name].rest and not holes(rule.left)[name].sort.constant:
                found.setdefault(name, [*ways_to_declare(rule.guards, name), *WAYS])
        if len(names) > 1 and names[1] in found:
            found[names[1]] = [Of(names[0], lambda v: v), *found[names[1]]]
    return found


def built(
    rule: DataRule,
    mixtures: Any,
    shapes: Any,
    choices: Any,
    make: type[Builder] = Builder,
    parameters: Sequence[Mapping[str, Any]] | None = None,
    given: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[tuple[Builder, Variable]]:
    """Yield terms, each with a description; operands have dtypes of a mixture."""
    seen = set()
    rows = parameter_choices(rule.left) if parameters is None else parameters
    given = stand_ins(rule) if given is None else given
    for dtypes, sizes, row, choice in product(mixtures, shapes, rows, choices):
        builder = make(rule, dtypes, sizes, row, choice, given)
        try:
            term = builder.term()
        except (RewriteEngineError, TypeError, ValueError, IndexError):
            continue  # no such term
        if not is_computed(term):
            continue
        key = (brief(term, 20), str([v.type for v in builder.inputs]), str(builder.bound))
        if key not in seen:
            seen.add(key)
            yield builder, term


class SamplePlan(NamedTuple):
    """Terms to build of a left side: those of each mixture of dtypes, and of each of the shapes."""

    mixtures: Sequence[Sequence[str]]
    shapes: Sequence[Any]
    choices: Sequence[int]
    make: type[Builder] = Builder


def interleaved(rule: DataRule, plans: Iterable[SamplePlan]) -> Iterator[tuple[Builder, Variable]]:
    """Yield the terms of plans, one of each mixture of dtypes in turn, so that the first few cover
    all.
    """
    streams = [
        built(rule, [dtypes], plan.shapes, plan.choices, plan.make)
        for plan in plans
        for dtypes in plan.mixtures
    ]
    while streams:
        found = [(stream, next(stream, None)) for stream in streams]
        yield from [made for _, made in found if made is not None]
        streams = [stream for stream, made in found if made is not None]


def has_constants(rule: DataRule) -> bool:
    """Return whether a variable stands for constants."""
    return any(hole.sort.constant for hole in holes(rule.left).values())


def has_literals(rule: DataRule) -> bool:
    """Return whether the left side has numbers."""
    return any(isinstance(p, Literal) for p, _ in subpatterns(rule.left))
