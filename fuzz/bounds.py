"""What a formula means as it is written, with its derivatives: by numbers of many digits, each with
a bound for the error that floating point makes where it computes them one after the other.

Derivatives are carried along with values, forwards. A point where a number that is computed on the
way is infinite, very small or very large is not ordinary, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

from fuzz.formulas import Formula, Given, Term

DIGITS = 50
SMALLEST, LARGEST = 1e-6, 1e6  # of ordinary numbers; 0 is one, too
SAFE = 1e4  # errors so many times as large change nothing that matters, or a point is not ordinary
SLACK = 100.0  # how many times the bound a result may be off; what is right is off by less than one
LEAST = 2.0**-52  # what a result may be off anyway


class NotOrdinary(Exception):
    """A number on the way is infinite, none, very small or very large, or has no digits."""


class Number(NamedTuple):
    """A true value, and how far off floating point may be."""

    value: Any
    error: float

    @property
    def size(self) -> float:
        """How large it is."""
        return abs(float(self.value))

    @property
    def tolerance(self) -> float:
        """How far off a result may be."""
        return SLACK * self.error + LEAST


class Dual(NamedTuple):
    """A number, and its derivatives by the elements of inputs that it depends on."""

    number: Number
    slopes: dict[Any, Number]


class Arithmetic:
    """Steps of computing in a dtype. smooth: whether all derivatives are ordinary so far.

    Raises `NotOrdinary`; where slopes are computed it only marks them.
    """

    def __init__(self, dtype: str) -> None:
        self.eps = float(np.finfo(dtype).eps)
        self.smooth = True
        self.at_slopes = False

    def made(self, value: Any, error: float) -> Number:
        """A number that was computed just now. error: what it has from its operands."""
        size = abs(float(value))
        if value and not SMALLEST <= size <= LARGEST:
            self.strange()
        return Number(value, error + self.eps * size)

    def strange(self) -> None:
        """What is computed is not ordinary."""
        if not self.at_slopes:
            raise NotOrdinary
        self.smooth = False

    def number(self, value: float) -> Number:
        """A number that is given."""
        return Number(mpf(value), 0.0)

    def add(self, x: Number, y: Number) -> Number:
        """A sum, in which the larger operand is rounded."""
        error = x.error + y.error + self.eps * (x.size + y.size)
        return self.made(x.value + y.value, error)

    def neg(self, x: Number) -> Number:
        """The negative."""
        return Number(-x.value, x.error)

    def sub(self, x: Number, y: Number) -> Number:
        """A difference."""
        return self.add(x, self.neg(y))

    def mul(self, x: Number, y: Number) -> Number:
        """A product."""
        error = x.size * y.error + y.size * x.error + x.error * y.error
        return self.made(x.value * y.value, error)

    def div(self, x: Number, y: Number) -> Number:
        """A quotient."""
        self.apart(y, y.size)
        value = x.value / y.value
        return self.made(value, (x.error + abs(float(value)) * y.error) / y.size)

    def power(self, x: Number, n: int) -> Number:
        """A power by a whole number."""
        if n < 0:
            self.apart(x, x.size)
        value = x.value**n
        slope = abs(n) * x.size ** (n - 1) if x.value or n > 1 else 0.0
        return self.made(value, slope * x.error + x.error**2)

    def apart(self, x: Number, distance: float) -> None:
        """Refuse a number of which it is not sure on what side of a pole it is."""
        if not distance > SAFE * x.error:
            raise NotOrdinary

    def exp(self, x: Number) -> Number:
        """The exponential."""
        value = mp.exp(x.value)
        return self.made(value, float(value) * x.error)


class Function(NamedTuple):
    """value: with many digits. slope: the derivative, of the arithmetic, argument and value.
    distance: from where it has a pole.
    """

    value: Callable[[Any], Any]
    slope: Callable[[Arithmetic, Number, Number], Number]
    distance: Callable[[float], float] | None = None


def _bell(m: Arithmetic, x: Number) -> Number:
    """The derivative of erf."""
    return m.mul(Number(2 / mp.sqrt(mp.pi), m.eps), m.exp(m.neg(m.mul(x, x))))


def _sign(m: Arithmetic, x: Number, y: Number) -> Number:
    """The derivative of |x|; there is none at 0."""
    if not x.size > SAFE * x.error:
        m.smooth = False
    return m.number(1 if x.value >= 0 else -1)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


ONE = Number(mpf(1), 0.0)
FUNCTIONS: dict[str, Function] = {
    "exp": Function(mp.exp, lambda m, x, y: y),
    "log": Function(mp.log, lambda m, x, y: m.div(ONE, x), lambda x: x),
    "log1p": Function(
        lambda x: mp.log(1 + x), lambda m, x, y: m.div(ONE, m.add(ONE, x)), lambda x: 1 + x
    ),
    "expm1": Function(mp.expm1, lambda m, x, y: m.exp(x)),
    "sigmoid": Function(_sigmoid, lambda m, x, y: m.mul(y, m.sub(ONE, y))),
    "tanh": Function(mp.tanh, lambda m, x, y: m.sub(ONE, m.mul(y, y))),
    "erf": Function(mp.erf, lambda m, x, y: _bell(m, x)),
    "erfc": Function(mp.erfc, lambda m, x, y: m.neg(_bell(m, x))),
    "softplus": Function(
        lambda x: mp.log(1 + mp.exp(x)), lambda m, x, y: m.made(_sigmoid(x.value), x.error)
    ),
    "sqrt": Function(mp.sqrt, lambda m, x, y: m.div(m.number(0.5), y), lambda x: x),
    "sqr": Function(lambda x: x * x, lambda m, x, y: m.mul(m.number(2), x)),
    "abs": Function(abs, _sign),
    "cosh": Function(mp.cosh, lambda m, x, y: m.made(mp.sinh(x.value), y.size * x.error)),
    "sinh": Function(
        mp.sinh, lambda m, x, y: m.made(mp.cosh(x.value), (1 + x.size + y.size) * x.error)
    ),
    "reciprocal": Function(lambda x: 1 / x, lambda m, x, y: m.neg(m.mul(y, y)), abs),
}


@dataclass(frozen=True)
class Truth:
    """values: the elements of a formula. slopes: those of its sum, by input and element; None where
    the derivative is not ordinary.
    """

    values: list[Number]
    slopes: dict[str, list[Number]] | None


@dataclass
class Meaning:
    """Computes what terms mean at a point. A vector is a list."""

    dtype: str
    point: Given
    known: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.m = Arithmetic(self.dtype)

    def of(self, term: Term) -> Any:
        """The value of a term: a `Dual`, or a list of them. Raises `NotOrdinary`."""
        if id(term) not in self.known:
            self.known[id(term)] = self._computed(term)
        return self.known[id(term)]

    def _computed(self, term: Term) -> Any:
        if term.op == "number":
            return Dual(self.m.number(term.value), {})
        if term.op == "input":
            return self._given(term.value)
        args = [self.of(arg) for arg in term.args]
        if term.op == "sum":
            return self._sum(args[0])
        if not any(isinstance(arg, list) for arg in args):
            return self._step(term, args)
        length = max(len(arg) for arg in args if isinstance(arg, list))
        rows = [arg if isinstance(arg, list) else [arg] * length for arg in args]
        return [self._step(term, row) for row in zip(*rows, strict=True)]

    def _given(self, name: str) -> Any:
        value = self.point[name]
        if not isinstance(value, list):
            return Dual(self.m.number(value), {(name, 0): ONE})
        return [Dual(self.m.number(v), {(name, i): ONE}) for i, v in enumerate(value)]

    def _sum(self, x: Any) -> Any:
        if not isinstance(x, list):
            return x
        total = x[0]
        for other in x[1:]:
            total = self._step(Term("add"), [total, other])
        return total

    def _step(self, term: Term, args: Any) -> Dual:
        """One step on numbers."""
        m, (x, *others) = self.m, args
        if others:
            y = others[0]
            made = getattr(m, term.op)(x.number, y.number)
            return Dual(made, self._slopes(_partials(m, term.op, x.number, y.number, made), x, y))
        if term.op == "neg":
            made, slope = m.neg(x.number), lambda: m.number(-1)
        elif term.op == "power":
            made = m.power(x.number, term.value)
            slope = lambda: m.mul(m.number(term.value), m.power(x.number, term.value - 1))
        else:
            made, slope = self._function(FUNCTIONS[term.op], x.number)
        return Dual(made, self._slopes((slope,), x))

    def _function(self, f: Function, x: Number) -> tuple[Number, Callable[[], Number]]:
        """A function of a number, and its derivative."""
        m = self.m
        if f.distance is not None:
            m.apart(x, f.distance(float(x.value)))
        if SAFE * x.error > 1:
            raise NotOrdinary
        value = f.value(x.value)
        m.at_slopes = True
        slope = f.slope(m, x, Number(value, m.eps * abs(float(value))))
        m.at_slopes = False
        made = m.made(value, slope.size * x.error + (1 + abs(float(value))) * x.error**2)
        return made, lambda: f.slope(m, x, made)

    def _slopes(self, partials: Any, *args: Dual) -> dict[Any, Number]:
        """The derivatives of a step. partials: those by its operands, computed where needed."""
        m, slopes = self.m, dict[Any, Number]()
        if not m.smooth:
            return slopes
        m.at_slopes = True
        try:
            for partial, x in zip(partials, args, strict=True):
                factor = partial() if x.slopes else ONE
                for place, slope in x.slopes.items():
                    new = m.mul(factor, slope)
                    slopes[place] = m.add(slopes[place], new) if place in slopes else new
        except NotOrdinary:  # a pole
            m.smooth = False
        m.at_slopes = False
        return slopes


def _partials(m: Arithmetic, op: str, x: Number, y: Number, made: Number) -> Any:
    """The derivatives of a step by its two operands."""
    if op == "mul":
        return (lambda: y), (lambda: x)
    if op == "div":
        return (lambda: m.div(ONE, y)), (lambda: m.neg(m.div(made, y)))
    return (lambda: ONE), (lambda: m.number(1 if op == "add" else -1))


def truth_of(formula: Formula, point: Given) -> Truth:
    """What a formula gives at a point. Raises `NotOrdinary`."""
    with mp.workdps(DIGITS):
        meaning = Meaning(formula.dtype, point)
        result = meaning.of(formula.term)
        elements = result if isinstance(result, list) else [result]
        slopes = _totals(meaning.m, [dual.slopes for dual in elements])
        return Truth(
            [dual.number for dual in elements],
            {n: _row(n, point[n], slopes) for n in formula.names} if meaning.m.smooth else None,
        )


def _totals(m: Arithmetic, slopes: Iterable[dict[Any, Number]]) -> dict[Any, Number]:
    """The derivatives of a sum."""
    total: dict[Any, Number] = {}
    m.at_slopes = True
    for one in slopes:
        for place, slope in one.items():
            total[place] = m.add(total[place], slope) if place in total else slope
    return total


def _row(name: str, value: Any, slopes: dict[Any, Number]) -> list[Number]:
    """The derivatives by the elements of an input."""
    count = len(value) if isinstance(value, list) else 1
    return [slopes.get((name, i), Number(mpf(0), 0.0)) for i in range(count)]
