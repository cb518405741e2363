"""Facts about the elements of tensors: bounds, finiteness, whole numbers, signs, order.

Each fact is about every element, so it holds for an empty array; its docstring covers NaN. For the
same term, a fact may ask only the facts above it in this file: `bounded`, `finite`, `whole`,
`positive`, `nonneg`, `nonzero`. For operands it may ask any. Import the facts from
`rewrite_engine.facts`. The ops declare how bounds propagate (`Op.bounds`).
"""

from types import SimpleNamespace

import numpy as np

from rewrite_engine.errors import FactError, did_you_mean
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.match.fact import Fact, because, both, every, fact, unknown
from rewrite_engine.scalar.bounds import rounded
from rewrite_engine.tensor.constant import all_differ

__all__ = [
    "bounded", "distinct", "finite", "increasing", "nonneg", "nonzero", "positive",
    "unique_indices", "whole",
]  # fmt: skip

#: names that ops may use (`Op.implied`): all names in the files of facts
FACTS = SimpleNamespace()


def kind_of(x):
    """Return the kind of a tensor's dtype ("?" for other types)."""
    return x.type.kind if isinstance(x, Variable) else "?"


def known(x):
    """Return the values of a constant (or of a number that stands for a missing operand), else
    None.
    """
    if isinstance(x, int | float | complex):
        return np.asarray(x)
    return x.data if x.head is CONSTANT and kind_of(x) != "?" else None


def real_known(x):
    """Return the values of a real constant, or of a real number, else None."""
    value = known(x)
    return None if value is None or value.dtype.kind == "c" else value


def elements_of(x):
    """Return the operands that the elements of x are taken from, if its op declares them."""
    if x.owner is None or x.owner.op.elements is None:
        return ()
    found = x.owner.inputs[x.owner.op.elements]
    fits = all(v.type is x.type or _keeps_values(v, x) for v in found)
    return found if fits else ()


def _keeps_values(v, x):
    """Return whether a conversion of v to the dtype of x keeps all values."""
    return kind_of(v) != "?" != kind_of(x) and np.can_cast(v.type.dtype, x.type.dtype, "safe")


def said_of(x):
    """Return what the op that computes x declares about the values of its first output. Raises
    `FactError` if a name in the declaration is no fact.
    """
    said = x.owner.op.implied if x.owner is not None and x.index == 0 else {}
    if not said.keys() <= Fact.names:
        (name, *_) = sorted(said.keys() - Fact.names)
        close = did_you_mean(name, Fact.names)
        raise FactError(f"{x.owner.op}: it implies {name!r}, which is not a fact{close}")
    return said


def always(fact, x):
    """Return evidence if the op of x declares that the fact holds for every real float."""
    said = said_of(x).get(fact.name) is True and kind_of(x) == "f"
    return because(f"a result of {x.owner.op}") if said else unknown("not guaranteed", blame=x)


#: facts about relations between elements, which selected elements need not have
MATRICES = {
    "diagonal", "invertible", "lower_triangular", "orthogonal", "positive_definite",
    "positive_semidefinite", "square", "symmetric", "unit_diagonal", "upper_triangular",
}  # fmt: skip
PLACES = {"band", "stored_once"}
RELATIONS = frozenset({"distinct", "increasing", *MATRICES, *PLACES})


def from_operands(fact, x, otherwise):
    """Return the answer for x that follows from its operands: by the declaration of the op that
    computes x, or because x consists of their elements.
    """
    refused = unknown(otherwise, blame=x)
    if x.owner is None:
        return refused
    op, inputs = x.owner.op, x.owner.inputs
    said = said_of(x).get(fact.name)
    if said is None:
        elements = () if fact.name in RELATIONS else elements_of(x)
        return every("made of elements of", fact, elements) if elements else refused
    if said is True:
        return because(f"a result of {op}") if fact.name in RELATIONS else refused
    anyway = fact.name in RELATIONS or said == fact.name == "nonzero"  # also where numbers wrap
    if (kind_of(x) != "f" and not anyway) or _may_wrap(x):
        return refused
    if callable(said):
        return said(FACTS, *inputs)
    wanted = fact if said == fact.name else getattr(FACTS, said)
    return every(f"{op} of", wanted, inputs[op.elements] if op.elements else inputs)


def _may_wrap(x):
    """Return whether an integer dtype accumulates this sum or product, so that it may wrap."""
    return getattr(x.head, "acc_dtype", None) and np.dtype(x.head.acc_dtype).kind in "biu"


def any_of(fact, variables):
    """Return the evidence for the first variable that has some; else the last refusal."""
    answer = unknown("there are no variables")
    for v in variables:
        if answer := fact(v):
            break
    return answer


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
    ends, why = _interval(x)
    ends = rounded(ends, dtype)
    if ends is not None:
        return because(f"within {ends[0]:.4g} and {ends[1]:.4g}", *why, value=ends)
    if dtype.kind == "b":
        return because("its dtype is bool", value=(0, 1))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return because(f"its dtype is {dtype}", value=(int(limits.min), int(limits.max)))
    return unknown("no bounds are known", blame=x)


def _interval(x):
    """Return the bounds of x that follow from its op, and the evidence for them; (None, ()) if
    there are none.
    """
    if x.owner is None:
        return None, ()
    answers = []

    def of(v):
        answers.append(bounded(v))
        return answers[-1].value if answers[-1] else None

    ends = x.owner.op.bounds(x.owner, of) if x.index == 0 else None
    if ends is None:
        answers = [bounded(v) for v in elements_of(x)]
        if not answers or not all(answers):
            return None, ()
        parts = [a.value for a in answers]
        ends = min([a for a, _ in parts]), max([b for _, b in parts])
    return ends, (f"{x.owner.op} of", *answers) if answers else (f"a result of {x.owner.op}",)


@bounded.test
def is_within(value, ends):
    """Return whether all elements are within the ends."""
    return bool(((ends[0] <= value) & (value <= ends[1])).all())


@fact
def finite(x):
    """Every element is a number: neither NaN nor infinite."""
    value = known(x)
    if value is not None:
        return because("a constant") if np.isfinite(value).all() else unknown("not finite", x)
    if kind_of(x) in "biu":
        return because(f"its dtype is {x.type.dtype}")
    bounds = bounded(x)
    if bounds:
        return because("bounded", bounds)
    return from_operands(finite, x, "it may be infinite, or NaN")


@fact
def whole(x):
    """Every element is a whole number: not NaN, not infinite."""
    value = real_known(x)
    if value is not None:
        good = bool(np.isfinite(value).all() and (value == np.floor(value)).all())
        return because("a constant") if good else unknown("the constant has fractions", blame=x)
    if kind_of(x) in "biu":
        return because(f"its dtype is {x.type.dtype}")
    if kind_of(x) != "f":
        return unknown("it is not real", blame=x)
    if "whole" in said_of(x):
        numbers = finite(x)
        if not numbers:
            return numbers
    return from_operands(whole, x, "it may have fractions")


@fact
def positive(x):
    """Every element is positive or NaN. It is 0 or infinite only because of rounding or an infinite
    operand (exp(-800) counts as positive).
    """
    value = real_known(x)
    if value is not None:
        good = bool(((value > 0) & np.isfinite(value)).all())
        return because("a constant") if good else unknown("the constant is not positive", blame=x)
    here = always(positive, x)
    if here:
        return here
    bounds = bounded(x)
    if bounds and bounds.value[0] > 0:
        return because("bounded", bounds)
    return from_operands(positive, x, "it may be 0 or negative")


@positive.test
def is_positive(value):
    """Return whether no element is 0 or below (NaN is allowed)."""
    return value.dtype.kind != "c" and not (value <= 0).any()


@fact
def nonneg(x):
    """No element is below 0. Elements may be -0.0, infinite or NaN."""
    value = real_known(x)
    if value is not None:
        good = not (value < 0).any()
        return because("a constant") if good else unknown("the constant is below 0", blame=x)
    kind = kind_of(x)
    if kind in "ub":
        return because(f"its dtype is {x.type.dtype}")
    here = always(nonneg, x)
    if here:
        return here
    above = positive(x)
    if above:
        return because("positive", above)
    bounds = bounded(x)
    if bounds and bounds.value[0] >= 0:
        return because("bounded", bounds)
    return from_operands(nonneg, x, "its sign is not known")


@fact
def nonzero(x):
    """No element is 0, or has underflowed to 0. Elements may be infinite or NaN."""
    value = known(x)
    if value is not None:
        return because("a constant") if (value != 0).all() else unknown("it contains 0", blame=x)
    here = always(nonzero, x)
    if here:
        return here
    bounds = bounded(x)
    if bounds and not bounds.value[0] <= 0 <= bounds.value[1]:
        return because("bounded", bounds)
    return from_operands(nonzero, x, "it may be 0")


@fact
def distinct(x):
    """No value occurs twice in the array."""
    if kind_of(x) == "?":
        return unknown("it is not an array", blame=x)
    if x.head is CONSTANT:
        good = all_differ(x.data) and not (x.data != x.data).any()
        return because("a constant") if good else unknown("a value is repeated", blame=x)
    if all(n in (0, 1) for n in x.type.shape):
        return because("it has one element")
    if kind_of(x) not in "iu":
        return unknown("a value may be repeated", blame=x)
    return from_operands(distinct, x, "a value may be repeated")


@fact
def increasing(x):
    """A vector whose elements do not become smaller. No NaN."""
    if x.type.ndim != 1:
        return unknown("it is not a vector", blame=x)
    if x.head is CONSTANT:
        return because("a constant") if is_sorted(x.data) else unknown("it is not sorted", blame=x)
    return from_operands(increasing, x, "it is not known to be sorted")


@fact(implies=[distinct])
def unique_indices(x):
    """As an index, x names no place twice: its numbers are distinct, and all count from the same
    end.
    """
    if kind_of(x) not in "iu":
        return unknown("it is not an array of integers", blame=x)
    different = distinct(x)
    if not different:
        return different
    if (bounds := bounded(x)) and bounds.value[1] < 0:
        return because("distinct, and below 0", different, bounds)
    return both("distinct, and not below 0", different, nonneg(x))


@increasing.test
def is_sorted(value):
    """Return whether a vector is sorted, and has no NaN."""
    if value.ndim != 1 or value.dtype.kind == "c":
        return False
    return bool((value[1:] >= value[:-1]).all() and (value == value).all())


vars(FACTS).update(globals())
