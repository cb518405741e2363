"""How bounds go through ops: intervals, rounded outwards. Used by the fact `bounded`
(`rules/facts_numbers.py`); nothing here is asked by rules.
"""

import math

import numpy as np

from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    Alloc,
    ARange,
    Argmax,
    DimShuffle,
    Elemwise,
    Eye,
    IncSubtensor,
    Join,
    MakeVector,
    Max,
    Min,
    Reshape,
    Shape,
    Shape_i,
    Softmax,
    SpecifyShape,
    Split,
    Subtensor,
    abs,
    add,
    arctan,
    ceil,
    clip,
    cos,
    erf,
    exp,
    expm1,
    floor,
    identity,
    log,
    log1p,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    round,
    second,
    sigmoid,
    sign,
    sin,
    sqr,
    sqrt,
    sub,
    switch,
    tanh,
    true_div,
    trunc,
)

LONGEST = 2**62  # no array has as many elements

FIRST = DimShuffle | Subtensor | AdvancedSubtensor | Reshape | SpecifyShape | Split | Alloc
FIRST |= Max | Min


def elements_of(x):
    """The operands that the elements of x are taken from, if it is made in this way."""
    node = x.owner
    if node is None:
        return ()
    op, inputs = node.op, node.inputs
    if isinstance(op, FIRST):
        found = inputs[:1]
    elif op is switch:
        found = inputs[1:]
    elif op is second:
        found = inputs[1:2]
    elif isinstance(op, Join | MakeVector) or op in (maximum, minimum, clip, identity):
        found = inputs
    elif isinstance(op, IncSubtensor | AdvancedIncSubtensor) and op.set_instead_of_inc:
        found = inputs[:2]
    else:
        return ()
    fits = all(_keeps(v.type.dtype, x.type.dtype) for v in found)
    return found if fits else ()


def _keeps(dtype, wider):
    """Whether a conversion keeps signs and finite numbers."""
    return dtype == wider or np.can_cast(dtype, wider, "safe")


def _product(*ends):
    low, high = ends[0]
    for a, b in ends[1:]:
        corners = [low * a, low * b, high * a, high * b]
        low, high = min(corners), max(corners)
    return low, high


def _quotient(a, b):
    if b[0] <= 0 <= b[1]:
        return None
    corners = [end / by for end in a for by in b]
    return min(corners), max(corners)


def _square(a):
    low, high = sorted([a[0] * a[0], a[1] * a[1]])
    return (0 if a[0] <= 0 <= a[1] else low), high


def _modulus(a):
    low, high = sorted([max(end, -end) for end in a])
    return (0 if a[0] <= 0 <= a[1] else low), high


def _hull(*ends):
    return min(a for a, _ in ends), max(b for _, b in ends)


def _rising(fn, domain=-math.inf):
    """Bounds of a function that rises, from `domain` on."""

    def of(a):
        try:
            return (fn(a[0]), fn(a[1])) if a[0] >= domain else None
        except (OverflowError, ValueError):
            return None

    return of


#: functions whose computed results are a few units off, but never beyond these
ROUGH = {
    exp: (0, math.inf),
    expm1: (-1, math.inf),
    tanh: (-1, 1),
    arctan: (-2, 2),
    log: (-math.inf, math.inf),
    log1p: (-math.inf, math.inf),
}

#: of an op: the bounds of its result from those of its operands
BOUNDS = {
    add: lambda *ends: (sum(a for a, _ in ends), sum(b for _, b in ends)),
    sub: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    mul: _product,
    true_div: _quotient,
    reciprocal: lambda a: _quotient((1, 1), a),
    neg: lambda a: (-a[1], -a[0]),
    abs: _modulus,
    sqr: _square,
    sign: lambda a: (-1, 1),
    sin: lambda a: (-1, 1),
    cos: lambda a: (-1, 1),
    erf: lambda a: (-1, 1),
    sigmoid: lambda a: (0, 1),
    tanh: _rising(math.tanh),
    arctan: _rising(math.atan),
    exp: _rising(math.exp),
    expm1: _rising(math.expm1),
    log: _rising(math.log),
    log1p: _rising(math.log1p),
    sqrt: _rising(math.sqrt, domain=0),
    floor: lambda a: (math.floor(a[0]), math.floor(a[1])),
    ceil: lambda a: (math.ceil(a[0]), math.ceil(a[1])),
    trunc: lambda a: (math.trunc(a[0]), math.trunc(a[1])),
    round: lambda a: (math.floor(a[0]), math.ceil(a[1])),
    maximum: lambda *ends: (max(a for a, _ in ends), max(b for _, b in ends)),
    minimum: lambda *ends: (min(a for a, _ in ends), min(b for _, b in ends)),
}


def interval(x, bounded):
    """The bounds of x from what computes it, and the evidence for them; (None, ()) if that says
    nothing. bounded: the fact that knows those of operands.
    """
    node = x.owner
    if node is None:
        return None, ()
    op = node.op
    if isinstance(op, Shape | Shape_i | Argmax):
        return (0, LONGEST), (f"a result of {op}",)
    if isinstance(op, ARange):
        return _counted(node, bounded)
    if isinstance(op, Eye):
        return (0, 1), ("zeros and ones",)
    wanted = elements_of(x)
    combine = BOUNDS.get(op)
    if combine is None and isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast):
        wanted, combine = node.inputs, _converted(x.type.kind)
    elif combine is not None:
        wanted = node.inputs
    elif isinstance(op, Softmax):
        wanted, combine = node.inputs, lambda a: (0, 1)
    answers = [bounded(v) for v in wanted]
    if not answers or not all(answers):
        return None, ()
    parts = [a.value for a in answers]
    if x.type.kind == "f" and op in BOUNDS:  # integers are converted first
        parts = [_as_floats(ends, x.type.dtype) for ends in parts]
    ends = (combine or _hull)(*parts)
    if ends is not None and len(answers) > 2 and op in (add, mul) and x.type.kind == "f":
        ends = _in_any_order(ends, parts, op, x.type.dtype)
    if ends is not None and op in ROUGH:
        ends = _roughly(ends, x.type.dtype, ROUGH[op])
    return ends, (f"{op} of", *answers)


def _as_floats(ends, dtype):
    """Bounds, those of integers as numbers of a float dtype."""
    return [np.dtype(dtype).type(end).item() if type(end) is int else end for end in ends]


def _converted(kind):
    """How bounds are converted: towards 0 for integers, which must not wrap (see `rounded`)."""
    if kind == "b":
        return lambda a: (0, 1)
    if kind in "iu":
        return lambda a: (math.trunc(a[0]), math.trunc(a[1]))
    return lambda a: a


def _counted(node, bounded):
    """The bounds of start, start + step, … below stop: whole numbers only."""
    answers = [bounded(v) for v in node.inputs]
    if not all(answers) or any(v.type.kind not in "iu" for v in node.inputs):
        return None, ()
    start, stop, step = [a.value for a in answers]
    if step[0] > 0:
        return (start[0], max(start[0], stop[1] - 1)), ("counted up", *answers)
    if step[1] < 0:
        return (min(start[1], stop[0] + 1), start[1]), ("counted down", *answers)
    return None, ()


def _in_any_order(ends, parts, op, dtype):
    """The bounds of three operands or more, which may be combined in any order, with roundings."""
    sizes = [max(math.fabs(a), math.fabs(b)) for a, b in parts]
    size = sum(sizes) if op is add else math.prod(sizes)
    if op is mul and math.prod(max(1, s) for s in sizes) > float(np.finfo(dtype).max):
        return None  # a product of some of them may overflow
    slack = len(parts) * (float(np.finfo(dtype).eps) * size + float(np.finfo(dtype).tiny))
    return ends[0] - slack, ends[1] + slack


def _roughly(ends, dtype, limits):
    """The bounds of results that are a few units off."""
    low, high = ends
    slack = 8 * float(np.finfo(dtype).eps)
    low, high = low - slack * math.fabs(low), high + slack * math.fabs(high)
    return max(low, limits[0]), min(high, limits[1])


def rounded(ends, dtype):
    """The bounds of results that are rounded to a dtype; None where they may overflow or wrap."""
    if ends is None or any(end - end != 0 for end in ends):
        return None
    low, high = ends
    if dtype.kind in "biu":
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        inside = limits[0] <= low and high <= limits[1]
        return (math.floor(low), math.ceil(high)) if inside else None
    with np.errstate(all="ignore"):
        near = np.array([low, high]).astype(dtype)
        if not np.isfinite(near).all():
            return None
        below, above = np.nextafter(near, np.array([-np.inf, np.inf], dtype))
    a, b = near.tolist()
    return (a if a <= low else below.item()), (b if b >= high else above.item())
