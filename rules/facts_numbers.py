"""What is known of the elements of tensors: bounds, finite, whole numbers, signs, order.

Each fact speaks of every element (so all of them hold for an empty array), and its docstring says
what it says of NaN. About one term, a fact may ask only those that come before it here: `bounded`,
`finite`, `whole`, `positive`, `nonneg`, `nonzero`. About operands it may ask any. Import them from
`rules/facts.py`; how bounds go through ops is in `rules/facts_bounds.py`.
"""

from collections import Counter

import numpy as np

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, both, every, fact, unknown
from rewrite_engine.rules.facts_bounds import elements_of, interval, rounded
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    ARange,
    CumOp,
    DimShuffle,
    Dot,
    Elemwise,
    MatMul,
    Prod,
    Reshape,
    ScaledExp,
    Softmax,
    SpecifyShape,
    Subtensor,
    Sum,
    abs,
    add,
    arcsinh,
    arctan,
    arctan2,
    ceil,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    log1p,
    logaddexp,
    maximum,
    mul,
    neg,
    pow,
    reciprocal,
    round,
    sigmoid,
    sign,
    sin,
    sinh,
    softplus,
    sqr,
    sqrt,
    sub,
    tanh,
    true_div,
    trunc,
)
from rewrite_engine.tensor.index_template import Slice

__all__ = [
    "bounded", "distinct", "finite", "increasing", "nonneg", "nonzero", "positive",
    "unique_indices", "whole",
]  # fmt: skip

ABOVE_ZERO = frozenset({exp, exp2, sigmoid, softplus, cosh, erfc})
NOT_BELOW_ZERO = frozenset({abs, sqr, sqrt})
ROUNDING = frozenset({floor, ceil, trunc, round})
KEEPS_SIGN = ROUNDING | {tanh, arctan, erf, sinh, arcsinh, sign, log1p, expm1}
KEEPS_FINITE = ROUNDING | {neg, abs, sign, sin, cos, tanh, arctan, arctan2, erf, erfc, sigmoid}
KEEPS_FINITE |= {softplus, arcsinh, logaddexp}


def kind_of(x):
    """The kind of a tensor's dtype ("?" for what is no tensor)."""
    return getattr(getattr(x, "type", None), "kind", "?")


def known(x):
    """The values of a constant (or of a number that stands for a missing operand), else None."""
    if isinstance(x, int | float | complex):
        return np.asarray(x)
    return x.data if x.head is CONSTANT and kind_of(x) != "?" else None


def real_known(x):
    """The same, if it is real."""
    value = known(x)
    return None if value is None or value.dtype.kind == "c" else value


def operands_of(x, *ops):
    """The operands, if x is a result of one of these ops; else nothing."""
    return x.owner.inputs if x.head in ops else ()


def cast_of(x):
    """What x is a conversion of, or None."""
    op = x.head
    convertible = isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast)
    return x.owner.inputs[0] if convertible else None


@fact
def bounded(x):
    """Every element is a number between two finite ones: the evidence has them, as `value`. No NaN,
    no infinity. Real tensors only.
    """
    value = real_known(x)
    if value is not None:
        if not np.isfinite(value).all():
            return unknown("the constant is not finite", blame=x)
        ends = (value.min().item(), value.max().item()) if value.size else (0, 0)
        return because("a constant", value=ends)
    dtype = np.dtype(x.type.dtype) if kind_of(x) in "biuf" else None
    if dtype is None:
        return unknown("it is not real", blame=x)
    ends, why = interval(x, bounded)
    ends = rounded(ends, dtype)
    if ends is not None:
        return because(f"within {ends[0]:.4g} and {ends[1]:.4g}", *why, value=ends)
    if dtype.kind == "b":
        return because("its dtype is bool", value=(0, 1))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return because(f"its dtype is {dtype}", value=(int(limits.min), int(limits.max)))
    return unknown("no bounds are known", blame=x)


@bounded.test
def is_within(value, ends):
    """Whether all elements are within the ends."""
    return bool(((ends[0] <= value) & (value <= ends[1])).all())


@fact
def finite(x):
    """Every element is a number: neither NaN nor infinite."""
    value = known(x)
    if value is not None:
        return because("a constant") if np.isfinite(value).all() else unknown("it is not", x)
    if kind_of(x) in "biu":
        return because(f"its dtype is {x.type.dtype}")
    bounds = bounded(x)
    if bounds:
        return because("bounded", bounds)
    elements = elements_of(x)
    if elements:
        return every("made of elements of", finite, elements)
    if kind_of(x) == "f" and x.head in KEEPS_FINITE:
        if any(kind_of(v) == "c" for v in x.owner.inputs):
            return unknown("a modulus may overflow", blame=x)
        return every(f"{x.head} of", finite, x.owner.inputs)
    if kind_of(x) == "f" and isinstance(x.head, Softmax):
        return every("a softmax of", finite, x.owner.inputs)
    inner = cast_of(x)
    if inner is not None and np.can_cast(inner.type.dtype, x.type.dtype, "safe"):
        return every("converted from", finite, [inner])
    return unknown("it may be infinite, or NaN", blame=x)


@fact
def whole(x):
    """Every element is a whole number: not NaN, not infinite."""
    value = real_known(x)
    if value is not None:
        good = bool(np.isfinite(value).all() and (value == np.floor(value)).all())
        return because("a constant") if good else unknown("it has fractions", blame=x)
    if kind_of(x) in "biu":
        return because(f"its dtype is {x.type.dtype}")
    if kind_of(x) != "f":
        return unknown("it is not real", blame=x)
    elements = elements_of(x)
    if elements:
        return every("made of elements of", whole, elements)
    if x.head in ROUNDING or x.head is sign:
        return every(f"{x.head} of", finite, x.owner.inputs)
    inner = cast_of(x)
    operands = [inner] if inner is not None else operands_of(x, add, sub, mul, neg, abs, sqr)
    if operands:
        numbers = finite(x)
        if not numbers:
            return numbers
        return every("whole numbers", whole, operands)
    return unknown("it may have fractions", blame=x)


@fact
def positive(x):
    """x is a positive number, or NaN; it is 0 or infinite only where rounding, or an infinite
    operand, made it so (exp(-800) counts as positive).
    """
    value = real_known(x)
    if value is not None:
        good = bool(((value > 0) & np.isfinite(value)).all())
        return because("a constant") if good else unknown("a constant that is not", blame=x)
    if kind_of(x) == "f" and (x.head in ABOVE_ZERO or isinstance(x.head, Softmax | ScaledExp)):
        return because(f"a result of {x.head}")
    bounds = bounded(x)
    if bounds and bounds.value[0] > 0:
        return because("bounded", bounds)
    elements = elements_of(x)
    if elements and x.head is not maximum:
        return every("made of elements of", positive, elements)
    return _positive_float(x) if kind_of(x) == "f" else unknown("it may be 0 or less", blame=x)


@positive.test
def is_positive(value):
    """Whether no element is 0 or below (NaN may be there)."""
    return value.dtype.kind != "c" and not (value <= 0).any()


def _positive_float(x):
    """`positive` by what computes x. (Integers wrap around: they are `bounded`, or not known.)"""
    if x.head is add:
        best = _first(positive, x.owner.inputs)
        return every("a sum with", nonneg, x.owner.inputs) if best else best
    if x.head is maximum:
        return _first(positive, x.owner.inputs)
    if x.head in (sqr, abs):
        return every(f"{x.head} of", nonzero, x.owner.inputs)
    if x.head is pow:
        return every("a power of", positive, x.owner.inputs[:1])
    operands = operands_of(x, mul, true_div, reciprocal, sqrt)
    if cast_of(x) is not None or (isinstance(x.head, Prod) and not _may_wrap(x)):
        operands = x.owner.inputs[:1]
    if operands:
        return every(f"{x.head} of", positive, operands)
    return unknown("it may be 0 or negative", blame=x)


def _may_wrap(x):
    """Whether a float is made of integers that were summed, or multiplied, as integers."""
    return getattr(x.head, "acc_dtype", None) and np.dtype(x.head.acc_dtype).kind in "biu"


def _first(wanted, variables):
    """The evidence for the first variable that has some; else the last refusal."""
    answer = unknown("there are none")
    for v in variables:
        if answer := wanted(v):
            break
    return answer


@fact
def nonneg(x):
    """No element is below 0. It may be -0.0, infinite or NaN."""
    value = real_known(x)
    if value is not None:
        good = not (value < 0).any()
        return because("a constant") if good else unknown("a constant below 0", blame=x)
    kind = kind_of(x)
    if kind in "ub":
        return because(f"its dtype is {x.type.dtype}")
    if kind == "f" and x.head in NOT_BELOW_ZERO:
        return because(f"a result of {x.head}")
    above = positive(x)
    if above:
        return because("positive", above)
    bounds = bounded(x)
    if bounds and bounds.value[0] >= 0:
        return because("bounded", bounds)
    elements = elements_of(x)
    if elements and x.head is not maximum:
        return every("made of elements of", nonneg, elements)
    return _nonneg_float(x) if kind == "f" else unknown("its sign is not known", blame=x)


def _nonneg_float(x):
    """`nonneg` by what computes x. (Integers wrap around.)"""
    if x.head is maximum:
        return _first(nonneg, x.owner.inputs)
    if x.head is mul and all(n % 2 == 0 for n in Counter(x.owner.inputs).values()):
        return because("a product of squares")
    if x.head is true_div:
        below = positive(x.owner.inputs[1])
        return every("divided by what is positive", nonneg, x.owner.inputs[:1]) if below else below
    if x.head is pow:
        return every("a power of", nonneg, x.owner.inputs)
    operands = operands_of(x, add, mul, *KEEPS_SIGN)
    if isinstance(x.head, Sum | Prod | CumOp | Dot | MatMul) and not _may_wrap(x):
        operands = x.owner.inputs
    if cast_of(x) is not None:
        operands = x.owner.inputs
    if operands:
        return every(f"{x.head} of", nonneg, operands)
    return unknown("its sign is not known", blame=x)


@fact
def nonzero(x):
    """No element is 0, nor underflowed to it. It may be infinite or NaN."""
    value = known(x)
    if value is not None:
        return because("a constant") if (value != 0).all() else unknown("it has a 0", blame=x)
    if x.head is cosh and kind_of(x) == "f":
        return because("a result of cosh")
    bounds = bounded(x)
    if bounds and not bounds.value[0] <= 0 <= bounds.value[1]:
        return because("bounded", bounds)
    elements = elements_of(x)
    if elements and x.head is not maximum:
        return every("made of elements of", nonzero, elements)
    if x.head in (neg, abs):
        return every(f"{x.head} of", nonzero, x.owner.inputs)
    if x.head is reciprocal and kind_of(x) == "f":
        return every("the reciprocal of", finite, x.owner.inputs)
    if x.head in (add, maximum) and kind_of(x) == "f":
        return _kept_from_zero(x)
    return unknown("it may be 0", blame=x)


def _kept_from_zero(x):
    """A sum of what is not negative, or a maximum, with a summand that is above 0."""
    answer = unknown("it may be 0", blame=x)
    for v in x.owner.inputs:
        if answer := every("above 0", nonneg, [v]) and every("not 0", nonzero, [v]):
            break
    if answer and x.head is add:
        return every("a sum with what is above 0", nonneg, x.owner.inputs)
    return answer


@fact
def distinct(x):
    """No value occurs twice."""
    if x.head is CONSTANT:
        good = len(np.unique(x.data)) == x.data.size and not (x.data != x.data).any()
        return because("a constant") if good else unknown("a value is repeated", blame=x)
    if all(n in (0, 1) for n in x.type.shape):
        return because("it has one element")
    if kind_of(x) not in "iu":
        return unknown("a value may be repeated", blame=x)
    if isinstance(x.head, ARange):
        step = x.owner.inputs[2]
        counts = step.head is CONSTANT and step.number and x.type.dtype == "int64"
        return because("counted") if counts else unknown("the step may be 0", blame=step)
    if isinstance(x.head, Subtensor | DimShuffle | Reshape | SpecifyShape) or x.head is neg:
        return every("of distinct elements", distinct, x.owner.inputs[:1])
    return _shifted(x) or unknown("a value may be repeated", blame=x)


def _shifted(x):
    """Whether x is made of distinct integers by adding single numbers, in the same dtype (adding
    is one-to-one, also where it wraps around).
    """
    operands = operands_of(x, add, sub)
    many = [v for v in operands if not all(v.type.broadcastable)]
    if len(many) != 1 or any(v.type.dtype != x.type.dtype for v in operands):
        return unknown("it is not one shifted array", blame=x)
    return every("shifted", distinct, many)


@fact
def increasing(x):
    """A vector whose elements do not become smaller. No NaN."""
    if x.type.ndim != 1:
        return unknown("it is no vector", blame=x)
    if x.head is CONSTANT:
        return because("a constant") if is_sorted(x.data) else unknown("it is not sorted", blame=x)
    if isinstance(x.head, ARange) and x.type.dtype == "int64":
        up = positive(x.owner.inputs[2])
        return because("counted up", up) if up else up
    if isinstance(x.head, Subtensor) and len(x.head.idx_list) == 1:
        entry = x.head.idx_list[0]
        step = entry.step if isinstance(entry, Slice) else None
        if isinstance(entry, Slice) and (step is None or (type(step) is int and step > 0)):
            return every("a slice of", increasing, x.owner.inputs[:1])
    return unknown("it is not known to be sorted", blame=x)


@fact(implies=[distinct])
def unique_indices(x):
    """As an index, x names no place twice: its numbers are distinct, and all count from the same
    end.
    """
    if kind_of(x) not in "iu":
        return unknown("it is no array of integers", blame=x)
    different = distinct(x)
    if not different:
        return different
    if (bounds := bounded(x)) and bounds.value[1] < 0:
        return because("distinct, and below 0", different, bounds)
    return both("distinct, and not below 0", different, nonneg(x))


@increasing.test
def is_sorted(value):
    """Whether a vector is sorted, and has no NaN."""
    if value.ndim != 1 or value.dtype.kind == "c":
        return False
    return bool((value[1:] >= value[:-1]).all() and (value == value).all())
