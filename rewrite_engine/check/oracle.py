"""Whether two terms, on given inputs, keep a claim (`rewrite_engine/match/claim.py`): the one place
that says it, for rules of every kind.

Both are computed with `Op.perform`. Where their bits differ, a multi-precision reference decides;
where that knows no value, the left side does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpc, mpf

from rewrite_engine.check.remedy import LOST, THE_LIMIT
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.limits import far_values, limit_at
from rewrite_engine.judge.reference import DIGITS, error, reference
from rewrite_engine.link.debug.noise import SAMPLES, moved, within
from rewrite_engine.link.linker import get_linker
from rewrite_engine.match.claim import Claim
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor import Elemwise

#: units in the last place that are only rounding
ROUNDING = 8
#: differences of a kind that are looked at closely, in one computation
CLOSELY = 4


class BothSides(NamedTuple):
    """Both sides of a rule at a term. name: of the rule. granted: what the user has granted, so
    that values may be taken as it says.
    """

    name: str
    promise: Claim
    term: Variable
    new: Variable
    reorders: bool = False
    limits: bool = False
    granted: str | None = None

    def told(self, why: str, given: Any, *values: Any) -> str:
        lines = [f"{self.name}, {self.promise}: {why}"]
        lines.append(f"    {brief(self.term, 20)} : {self.term.type}")
        lines.append(f"    {brief(self.new, 20)} : {self.new.type}")
        lines += [f"    {v} {v.type} = {np.asarray(a).tolist()}" for v, a in given.items()]
        names = ("left", "right", "truth", "at")
        lines += [f"    {name}: {value}" for name, value in zip(names, values)]
        return "\n".join(lines)[:2500]


def computed(output: Any, given: dict[Any, Any]) -> Any:
    """Return all values on the way to a variable, checked against their types, or the error."""
    try:
        values = {v: v.type.filter(a) for v, a in given.items()}
        made = [v for node in toposort([output], list(values)) for v in node.outputs]
        graph = FunctionGraph(list(values), made, merging=False)
        found = get_linker("py").compile(graph)(*values.values())
        values.update(zip(made, found, strict=True))
    except Exception as failure:  # whatever it is, it is the same on both sides
        return failure
    if isinstance(output, Constant):
        values[output] = np.asarray(output.data)
    return values


def is_nan(a: Any) -> Any:
    """Where values are NaN; a complex number with an infinite part is infinite."""
    return np.isnan(a) & ~np.isinf(a)


def bits(a: Any) -> bytes:
    """The bits of an array, with all NaNs made the same."""
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return bytes(a.tobytes())


def same_bits(a: Any, b: Any) -> Any:
    """Where two arrays have the same bits; all NaNs are the same."""
    if a.dtype.kind == "c":
        whole = same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
        return whole | (np.isnan(a) & np.isnan(b))
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return np.asarray(equal | (np.isnan(a) & np.isnan(b)))


class Judgment(NamedTuple):
    """Outcome of one comparison. why: how the claim is broken; None if it is kept. ran: whether
    the left side has a value.
    """

    why: str | None
    ran: bool = True


def broken(sides: BothSides, given: dict[Any, Any]) -> str | None:
    """Return how the claim is broken on these inputs; None if it is kept."""
    return judged(sides, given).why


@mp.workdps(DIGITS)
def judged(sides: BothSides, given: dict[Any, Any]) -> Judgment:
    """Compare both sides on these inputs."""
    left, right = computed(sides.term, given), computed(sides.new, given)
    if isinstance(left, Exception):
        if isinstance(right, Exception) or sides.granted == "shape_unsafe":
            return Judgment(None, ran=False)
        if is_by_extremes(left, given):
            return Judgment(None, ran=False)
        return Judgment(sides.told(f"an error is lost: {left!r}", given), ran=False)
    if isinstance(right, Exception) and is_by_extremes(right, given):
        return Judgment(None)
    if isinstance(right, Exception):
        return Judgment(sides.told(f"an error is new: {right!r}", given))
    if not is_permitted(sides.term, left):
        return Judgment(None, ran=False)
    return Judgment(_unequal(sides, given, left, right))


def is_by_extremes(error: Exception, given: Any) -> bool:
    """Whether a decomposition failed on inputs with NaN, infinities or extreme numbers. LAPACK then
    does not converge, or refuses them; of `2 * a` it may, and of `a` not, which no rule can mend.
    """
    return isinstance(error, np.linalg.LinAlgError) and not all(map(is_moderate, floats(given)))


def is_permitted(term: Variable, values: Any) -> bool:
    """Whether operands that have to be triangular are."""
    for node in toposort([term]):
        for i in getattr(node.op, "triangular", ()):
            v = node.inputs[i]
            a = v.data if isinstance(v, Constant) else values[v]
            if a.ndim == 2 and np.triu(a, 1).any():
                return False
    return True


def _unequal(sides: BothSides, given: dict[Any, Any], left: Any, right: Any) -> str | None:
    """How the values of both sides break the claim."""
    a, b = left[sides.term], right[sides.new]
    if a.dtype != b.dtype or a.shape != b.shape:
        return sides.told("another dtype or shape", given, (a.dtype, a.shape), (b.dtype, b.shape))
    if not sides.term.type.is_super(sides.new.type):
        return sides.told("a type that does not fit", given)
    wrong = ~same_bits(a, b)
    if not wrong.any():
        return None
    if sides.promise.kind == "exact" or a.dtype.kind not in "fc":
        return sides.told("other bits", given, a[wrong][:4], b[wrong][:4])
    return _differences(sides, given, left, a, b, wrong)


def _differences(sides: BothSides, given: Any, left: Any, a: Any, b: Any, wrong: Any) -> str | None:
    """Judge where the two differ: a few of each kind of difference, but all kinds."""
    with np.errstate(all="ignore"):
        size = magnitude(sides.term, left, given) if sides.promise.ulps else np.abs(a)
        size = np.broadcast_to(size, a.shape)
        spacing = np.spacing(np.maximum(np.minimum(size, np.finfo(a.dtype).max), np.abs(a)))
        units = float(max(sides.promise.ulps or 0, ROUNDING))
        units *= operands(sides) if sides.reorders else 1
        units *= coarseness(sides.term)
        finite = np.isfinite(a) & np.isfinite(b)
        near = finite & (np.abs(b - a) <= units * spacing.astype(a.real.dtype))
        kinds = 3 * state(a) + state(b)
    alone, truth = local(sides), None
    logarithm = sides.limits and str(sides.term.owner.op) in ("log", "sub")  # type: ignore
    for place in places(wrong & ~near, kinds):
        here, at = given, place
        if alone:
            here, at = {v: part(x, place) for v, x in given.items()}, ()
        if alone or truth is None:
            truth = true_value(sides, here)
        t = None if truth is None else element(truth, at)
        if sides.limits and t is not None and is_lost(sides, here, t, b[place]):
            # the left side has underflowed with 400 digits, too
            made = reference(sides.new, here, computed(sides.new, here))
            if t != t and (made is None or element(made, at) != element(made, at)):
                continue
            t = t if made is None else element(made, at)
        values = a[place], b[place], t
        if t is None and is_nan(values[0]) and overflows(sides, here, float(size[place])):
            continue
        unit = float(size[place])
        if logarithm:  # near 0 no digit of a logarithm of a sum is safe, on neither side
            unit = max(unit, largest([x[np.isfinite(x)] for x in map(np.asarray, here.values())]))
        why = unlike(sides, here, at, *values, unit, units)
        if why is not None and t is None and is_noise(sides, given, a, b, place):
            continue
        if why is not None:
            return sides.told(why, here, *values[:2], None if t is None else mp.nstr(t, 8), at)
    return None


def true_value(sides: BothSides, given: Any) -> Any:
    """Return the true value of the left side; None if it is not known."""
    inputs = [np.asarray(x) for x in given.values()]
    if sides.term.type.kind != "c" or finite([x for x in inputs if x.dtype.kind in "fc"]):
        return reference(sides.term, given, computed(sides.term, given))
    # mpmath has its own complex infinities: what is known is what does not depend on them
    truths = []
    for number in 0, 1:
        other = {v: filled(np.asarray(x), number) for v, x in given.items()}
        truths.append(reference(sides.term, other, computed(sides.term, other)))
    a, b = truths
    return None if a is None or b is None else np.where(a == b, a, None)


def filled(x: Any, number: Any) -> Any:
    """An array with a number in the places of what is not finite."""
    return np.where(np.isfinite(x), x, x.dtype.type(number)) if x.dtype.kind in "fc" else x


def state(a: Any) -> Any:
    """0 for what is finite, 1 for what is infinite, 2 for NaN."""
    return np.where(np.isfinite(a), 0, np.where(is_nan(a), 2, 1))


def is_lost(sides: BothSides, given: Any, t: Any, b: Any) -> bool:
    """Whether digits are too few for the left side, which is infinite or NaN because of that."""
    if mp.isinf(t):
        return bool(np.isfinite(b))
    return t != t and not is_nan(b) and overflows(sides, given, 0.0)


def is_noise(sides: BothSides, given: Any, a: Any, b: Any, place: Any) -> bool:
    """Whether two numbers, of which nobody knows the true one, differ by what a unit in the last
    place of the inputs makes of the first; or may, as products of the inputs overflow.
    """
    numbers = bool(np.isfinite(a[place]) and np.isfinite(b[place]))
    if not sides.promise.ulps or (not numbers and has_nan(floats(given))):
        return False
    if not numbers or not all(map(is_moderate, floats(given))):
        return not all(map(is_moderate, floats(given)))
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(SAMPLES):
        found = computed(sides.term, {v: moved(np.asarray(x), rng) for v, x in given.items()})
        if isinstance(found, Exception):
            return True  # nearly one
        samples.append(found[sides.term])
    return bool(np.asarray(within(a, b, samples))[place])


def floats(given: Any) -> list[Any]:
    """The inputs that are floats."""
    return [x for x in map(np.asarray, given.values()) if x.dtype.kind in "fc"]


def is_moderate(x: Any) -> bool:
    """Whether the squares of all numbers are ordinary ones, too."""
    size, limits = np.abs(x), np.finfo(x.dtype)
    most, least = float(limits.max) ** 0.4, float(limits.tiny) ** 0.4
    return bool((((size < most) & (size > least)) | (size == 0)).all())


def overflows(sides: BothSides, given: Any, size: float) -> bool:
    """Whether a number on the way to the left side overflows, so that its NaN tells nothing."""
    if sides.promise.ulps and size >= np.finfo(sides.term.type.dtype).max:
        return True
    values = computed(sides.term, given)
    if isinstance(values, Exception) or not finite(floats(given)):
        return False
    return any(np.isinf(numbers_of(v, values)).any() for v in values if v.type.kind in "fc")


def places(wrong: Any, kinds: Any) -> Any:
    """Yield the first few and the last places of each kind."""
    for kind in np.unique(kinds[wrong]):
        found = list(zip(*np.nonzero(np.atleast_1d(wrong & (kinds == kind))), strict=True))
        some = found[:: max(1, len(found) // CLOSELY)]
        yield from (place if wrong.ndim else () for place in some)


def local(sides: BothSides) -> bool:
    """Whether an element depends only on the elements in its place."""
    for term in (sides.term, sides.new):
        for node in toposort([term]):
            if any(isinstance(v, Constant) and v.data.size > 1 for v in node.inputs):
                return False
            if not isinstance(node.op, Elemwise) and not is_stretch(node.op):
                return False
    return True


def is_stretch(op: Any) -> bool:
    """Whether an op only adds dimensions on the left, as broadcasting does."""
    order = getattr(op, "new_order", ())
    kept = [o for o in order if o != "x"]
    return bool(order) and order == ("x",) * (len(order) - len(kept)) + tuple(range(len(kept)))


def part(x: Any, place: Any) -> Any:
    """The element of an operand that is used in a place, with the rank it has."""
    x = np.asarray(x)
    here = place[len(place) - x.ndim :]
    return x[tuple([slice(0, 1) if n == 1 else slice(i, i + 1) for i, n in zip(here, x.shape)])]


def operands(sides: BothSides) -> int:
    """The operands of a nest, at the root."""
    node = sides.term.owner
    assert node is not None
    return sum(len(n.inputs) for n in toposort([sides.term]) if n.op is node.op)


def coarseness(term: Variable) -> float:
    """How many units of the result one unit of the coarsest float is that is computed on the
    way.
    """
    types = [n.outputs[0].type for n in toposort([term])]
    found = [float(np.finfo(t.dtype).eps) for t in types if t.kind in "fc"]
    return max(found) / float(np.finfo(term.type.dtype).eps)


ADDING = ("add", "sub")
SCALING = ("neg", "mul", "true_div", "second", "abs")
SUMS = ("Sum", "Dot", "MatMul")
MOVES = ("DimShuffle", "DropDims", "Reshape", "Subtensor")


def magnitude(output: Variable, values: dict[Any, Any], given: Any) -> Any:
    """Return the largest number that is added up to a value (of its size, if nothing is);
    infinities that were given do not count.
    """
    found = {v: size_of(v, values, 0.0) for v in given}
    for node in toposort([output], list(given)):
        xs = [found[x] if x in found else size_of(x, values, 0.0) for x in node.inputs]
        if isinstance(node.op, HasInnerGraph):  # any of them may be added up in there
            found |= {v: _inside(values[v], xs) for v in node.outputs}
            continue
        name, out = str(node.op), node.outputs[0]
        kind = type(node.op).__name__
        if name in ADDING:
            value = sum(xs[1:], xs[0])
        elif name in SCALING or kind in SUMS + MOVES:
            cells: list[list[Any]] = [[None]]
            wide = [np.asarray(np.real(x), "float64") for x in xs]
            node.op.perform(node, wide, cells)
            value = np.abs(np.asarray(np.real(cells[0][0]), "float64"))
        else:
            value = size_of(out, values, np.inf)
            lost = np.isnan(numbers_of(out, values))
            if lost.any():  # of what overflowed on the way
                value = np.where(lost, max([x.max(initial=0.0) for x in xs], default=0.0), value)
        found[out] = np.maximum(np.nan_to_num(value, nan=0.0, posinf=np.inf), size_of(out, values))
    return found[output] if output in found else size_of(output, values)


def _inside(value: Any, sizes: Any) -> Any:
    """The same of a value that is computed inside of an op, of operands of some sizes."""
    most = max([x.max(initial=0.0) for x in sizes], default=0.0)
    return np.where(np.isfinite(value), np.maximum(most, np.abs(value)), np.inf)


def numbers_of(v: Any, values: Any) -> Any:
    """The value of a variable as an array of complex numbers."""
    value = v.data if isinstance(v, Constant) else values[v]
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value).astype("complex128")


def size_of(v: Any, values: Any, infinite: float = 0.0) -> Any:
    """The sizes of the numbers of a variable."""
    return np.nan_to_num(np.abs(numbers_of(v, values)), nan=0.0, posinf=infinite)


LOGARITHMS = ("log", "log1p", "log2", "log10")


def unlike(
    sides: BothSides, given: Any, at: Any, a: Any, b: Any, t: Any, size: float, units: float
) -> str | None:
    """Return what is wrong with b in place of a, if t is the true value (None: not known)."""
    inputs = [np.asarray(x) for x in given.values() if np.asarray(x).dtype.kind in "fc"]
    overflown = sides.reorders and size >= np.finfo(a.dtype).max / 2
    if is_nan(b):  # log(-1e-300) is not what it was rounded to, log(0)
        none = sides.limits and not has_nan(inputs) and t is not None and t != t
        return None if overflown or none else "a number becomes NaN"
    pole = is_nan(a) and finite(inputs) and t is not None and mp.isinf(t)  # of 0.0 or of -0.0?
    pole = pole and str(sides.term.head) not in LOGARITHMS  # whose pole has one sign
    if pole and not size >= np.finfo(a.dtype).max:
        return LOST
    if not np.isfinite(a) and (is_true(b, t, size, units) or is_pole(sides, a, b, t, inputs)):
        return None
    if is_nan(a):
        lost = a.dtype.kind == "c" and not finite(inputs)  # NumPy's products lose infinities
        overflown = sides.promise.ulps and size >= np.finfo(a.dtype).max
        if np.isinf(b) and (lost or overflown):
            return None
        reached = not finite(inputs) and (t is None or t != t)  # by NaN, wherever it stands
        infinite = any(np.isinf(x).any() for x in inputs)
        known = t is not None and mp.isfinite(t)  # what is infinite has no part in it
        mended = sides.limits and not reached and (known or not infinite)
        if mended and is_true(b, t, largest([x[np.isfinite(x)] for x in inputs]), units):
            return None
        if a.dtype.kind == "c" and at:
            inputs = [part(x, at) for x in inputs if x.ndim <= len(at)]
        unknown = a.dtype.kind == "c" and t is None
        held = finite(inputs) or (sides.limits and not has_nan(inputs))
        return None if unknown and held else limit(sides, given, at, b, t)
    if np.isinf(a):
        same = np.isinf(b) and (a.dtype.kind == "c" or (a > 0) == (b > 0) or overflown)
        same = same or (sides.promise.ulps and near_end(a, b, units))
        return None if same else "what is infinite becomes something else"
    if np.isinf(b):
        fine = overflown or is_true(b, t, size, units)
        return None if fine else "what is finite becomes infinite"
    return farther(sides, a, b, number(a) if t is None else t, size, units)


def has_nan(inputs: Any) -> bool:
    """Whether a NaN is given."""
    return any(np.isnan(x).any() for x in inputs)


def is_pole(sides: BothSides, a: Any, b: Any, t: Any, inputs: Any) -> bool:
    """Whether b is the logarithm of nearly 0, which coarser floats make one of less than 0."""
    rounded = is_nan(a) and t is not None and t != t and finite(inputs)
    return rounded and sides.limits and bool(np.isneginf(b.real)) and coarseness(sides.term) > 1


def near_end(a: Any, b: Any, units: float) -> bool:
    """Whether a finite number is so near to the largest one that rounding makes an infinity of
    it.
    """
    if not np.isfinite(b):
        return False
    limits = np.finfo(b.dtype)
    far = abs(float(np.real(b))) >= float(limits.max) * (1 - units * float(limits.eps))
    return far and a.dtype.kind == "f" and (a > 0) == (b > 0)


def farther(sides: BothSides, a: Any, b: Any, t: Any, size: float, units: float) -> str | None:
    """Whether a finite b is farther from the truth than a."""
    if t != t:
        return "a number where the true value is none"
    if sides.limits and b == 0 and abs(t) < float(np.finfo(a.dtype).tiny):
        return None  # functions that are made stable may underflow where results are subnormal
    unit = spacing(a.dtype, size, abs(t))
    off, was = abs(number(b) - t) / unit, abs(number(a) - t) / unit
    if off <= max(units, 2 * was):
        return None
    return f"off by {mp.nstr(off, 3)} units, was {mp.nstr(was, 3)}"


def number(a: Any) -> Any:
    return mpc(complex(a)) if a.dtype.kind == "c" else mpf(float(a))


def element(a: Any, at: Any) -> Any:
    return np.asarray(a[at], object).item()


def largest(inputs: Any) -> float:
    """Return the size of the largest operand: what an overflow left NaN may underflow beside it."""
    return max([float(np.abs(x[~np.isnan(x)]).max(initial=1)) for x in inputs], default=1.0)


def finite(inputs: Any) -> bool:
    return all(np.isfinite(x).all() for x in inputs)


def is_true(b: Any, t: Any, size: float, units: float) -> bool:
    """Whether b is the true value, up to rounding."""
    if t is None or t != t:
        return False
    if np.isfinite(b) and not mp.isinf(t):
        return bool(abs(number(b) - t) <= units * spacing(b.dtype, size, abs(t)))
    return b.dtype.kind == "f" and error(b, t, b.dtype) == 0


def spacing(dtype: Any, *sizes: Any) -> Any:
    """The unit in the last place of the largest of these."""
    most = np.finfo(dtype).max
    known = [x if isinstance(x, mpf) else mpf(float(x)) for x in sizes if x == x]
    number = float(min(max(known), mpf(float(most))))
    return mpf(float(np.spacing(np.asarray(number, most.dtype))))


def limit(sides: BothSides, given: Any, at: Any, b: Any, t: Any) -> str | None:
    """Return what is wrong with a number in place of NaN. Stable functions may give the limit."""
    if t is None:
        return LOST
    if finite(floats(given)):
        found = limit_at(sides.term, given, at, b)
        if found is None and sides.limits and overflows(sides, given, 0.0):
            return None  # the digits are too few
    else:
        known = [x for x in far_values(sides.term, given, at) if x is not None and x == x]
        found = all([is_true(b, x, 0, ROUNDING) for x in known])
        if not known and not sides.limits:
            return LOST
    if found:
        return None if sides.limits else f"{LOST}, {THE_LIMIT}"
    return f"{LOST}, which is not the limit" if found is False and sides.limits else LOST
