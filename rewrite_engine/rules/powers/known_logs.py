"""Logarithms as records, how they are added, and ops whose logarithms are known."""

import math
from functools import partial
from typing import NamedTuple

from rewrite_engine.facts import nonneg, nonzero, positive
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import beta, betaln, cast, gamma, gammaln, gammasgn, log, mul
from rewrite_engine.tensor.constant import constant


class Log(NamedTuple):
    """The logarithm of a term that is never below 0. make: a function that makes it (anew, since a
    graph may drop its nodes). better: whether it may be in range when the logarithm as written is
    not. vanishes: whether the term may underflow, or overflow, for arguments of ordinary size.
    number: of a constant. certain: whether the term is known not to be below 0 (else the logarithm
    is NaN there). sign: if the logarithm is that of the modulus, a function that makes the sign of
    the term. strict: whether the term is above 0, except for underflow: the logarithm of a
    term that may be 0 has an infinite slope, which that of a sum with it has not. of_modulus: a
    function that makes the logarithm of the modulus of a term that may be below 0.
    """

    make: object
    better: bool = False
    vanishes: bool = False
    number: float | None = None
    certain: bool = True
    strict: bool = True
    sign: object = None
    of_modulus: object = None

    def term(self, dtype):
        """Return the logarithm as a term of a dtype."""
        value = self.make() if self.sign is None else self.make() + log(self.sign())
        return as_float(value, dtype)


def of_number(c):
    """Return the logarithm of a number above 0."""
    value = math.log(c)
    return Log(lambda: value, number=value)


LOG_OF_0 = Log(lambda: -math.inf, strict=False)


def as_float(x, dtype):
    """Return a number, or a term, as a term of a dtype."""
    return constant(x, dtype=dtype) if isinstance(x, float) else cast(x, dtype)


def is_above_zero(v):
    """Return whether a term is above 0, possibly underflowing; or an integer: never -0.0."""
    is_cast = isinstance(getattr(v.head, "scalar_op", None), Cast)
    if v.type.kind in "iu" or (is_cast and v.owner.inputs[0].type.kind in "iu"):
        return nonneg(v)
    return positive(v) and nonzero(v)


def product_of_signs(number, signs):
    """Return the sign of a product."""
    terms = [make() for make in signs]
    value = mul(*terms) if len(terms) > 1 else terms[0]
    return -value if number < 0 else value


def weighted(parts):
    """Return a sum of terms with their coefficients."""
    value = None
    for c, v in sorted(parts, key=lambda part: part[0] < 0):
        if isinstance(v, float):
            c, v = 1.0, c * v
        if value is None:
            value = v if c == 1 else -v if c == -1 else c * v
        elif c in (1, -1):
            value = value + v if c == 1 else value - v
        else:
            value = value + c * v
    return value


def log_of_gammas(logarithm, arguments):
    """Return a function of operands: the `Log` of a product of gamma functions; of its modulus, if
    their signs are not known. logarithm, arguments: functions of operands that make that of the
    modulus, and the arguments of the gamma functions.
    """

    def log_of_operands(*operands):
        values = arguments(*operands)
        make = partial(logarithm, *operands)
        if all(map(is_above_zero, values)):
            return Log(make, True, True)
        sign = partial(product_of_signs, 1.0, [partial(gammasgn, x) for x in values])
        return Log(make, True, True, certain=False, sign=sign)

    return log_of_operands


#: ops whose results overflow where their logarithms do not → a function of operands: the `Log`
#: (packs of other ops add theirs)
KNOWN = {
    gamma: log_of_gammas(gammaln, lambda x: (x,)),
    beta: log_of_gammas(betaln, lambda x, y: (x, y, x + y)),
}
