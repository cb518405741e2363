"""A difference between the two sides of a rewriting step, on the values of one computation, and
what is known of it: how well the left side is determined (noise), how large its intermediate
numbers are, and its true value (many digits, with mpmath). Everything is computed when it is
required; `excuses.py` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rewrite_engine.fork import cached_property
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.noise import is_nan, last_unit, samples_of
from rewrite_engine.judge.values import TermValues
from rewrite_engine.match.claim import Claim, exact, refines
from rewrite_engine.tensor import Elemwise

T = TypeVar("T")
HAS_DIGITS = find_spec("mpmath") is not None
ROUNDING = 8  # units in the last place that are only rounding
PLACES = 4  # differences of a kind that are examined with many digits, in one computation
MAX_EXACT_ELEMENTS = 2000  # of the operands of a term that is computed with many digits
#: packs whose functions are made stable though they belong to no phase of that name
STABLE_PACKS = ("exp_log", "softmax", "products", "logarithms")


class BothSides(NamedTuple):
    """Both sides of a rule at a term, and what it promises. name: of the rule. reorders: whether it
    may add up in another order; limits: whether it stabilises, so that NaN may become a limit;
    granted: what the user has granted, so that values may be taken as it says.
    """

    name: str
    promise: Claim
    term: Variable
    new: Variable
    reorders: bool = False
    limits: bool = False
    granted: str | None = None


def both_sides(rule: Any, term: Variable, new: Variable, granted: str | None = None) -> BothSides:
    """Return both sides of a step with the promise of its rule (the name of what a driver did, if
    no rule did it: equal nodes that are merged must be equal).
    """
    claim = getattr(rule, "claim", None)
    name = str(getattr(rule, "name", rule))
    if not isinstance(claim, Claim):
        return BothSides(name, exact if rule == "merge" else refines, term, new)
    needs = getattr(rule, "needs_grant", None)
    promise = getattr(rule, "promise", claim)
    if needs or promise.kind == "assumes":
        promise = claim.then or refines
    stable = getattr(rule, "phase", None) == "stabilize" or (
        getattr(rule, "pack", None) in STABLE_PACKS
    )
    tags = getattr(rule, "tags", ())
    return BothSides(
        name, promise, term, new, "reorder" in tags, stable, needs if granted is None else granted
    )


class GivenValues:
    """What is known of given values of variables."""

    given: Mapping[Variable, Any]

    @cached_property
    def floats(self) -> list[Any]:
        """The given arrays of floats."""
        return [x for x in map(np.asarray, self.given.values()) if x.dtype.kind in "fc"]

    @cached_property
    def is_finite(self) -> bool:
        """Whether all given floats are finite."""
        return all(np.isfinite(x).all() for x in self.floats)

    @cached_property
    def has_nan(self) -> bool:
        """Whether a NaN is given."""
        return any(np.isnan(x).any() for x in self.floats)


class Difference(GivenValues):
    """The difference of two arrays of one dtype and shape. given: values of the variables that both
    sides are computed from; values: those of the left side; a, b: of both sides; true_value: the
    function of a term and of given values that returns its true value (None: there is none).
    """

    def __init__(
        self,
        sides: BothSides,
        given: Mapping[Variable, Any],
        values: TermValues,
        a: Any,
        b: Any,
        true_value: Callable[[Variable, dict[Any, Any]], Any] | None = None,
    ) -> None:
        self.sides, self.given, self.values, self.a, self.b = sides, given, values, a, b
        self.true_value = true_value
        self.claim = sides.promise
        self.wrong = ~same_bits(a, b)
        self.cache: dict[str, Any] = {}  # what `backward.py` found
        self._truth: dict[Any, Any] = {}
        self._elements: dict[Any, DifferentElement] = {}

    @cached_property
    def nodes(self) -> list[Apply]:
        """The nodes of the left side, operands first."""
        return list(toposort([self.sides.term], list(self.given)))

    @cached_property
    def known(self) -> dict[Variable, Any]:
        """The values of the left side: given ones, and of all steps that were computed."""
        steps = [v for node in self.nodes for v in node.outputs if v in self.values.values]
        found = dict(self.given) | {v: self.values.values[v] for v in steps}
        term = self.sides.term
        return found | {term: self.a}

    # --- rounding --------------------------------------------------------------------------------

    @cached_property
    def units(self) -> float:
        """How many units in the last place the claim allows, beside rounding."""
        units = float(max(self.claim.ulps or 0, ROUNDING))
        units *= self.operands if self.sides.reorders else 1
        return units * coarseness(self.sides.term, self.nodes)

    @cached_property
    def operands(self) -> int:
        """The operands of the nest of equal ops at the root."""
        root = self.sides.term.owner
        same = [n for n in self.nodes if root is not None and n.op is root.op]
        return sum(len(n.inputs) for n in same) or 1

    @cached_property
    def sizes(self) -> Any:
        """The size of each element; of those that are added up, if the claim has units."""
        size = np.abs(self.a)
        if self.claim.ulps and self.a.dtype.kind in "fc":
            with np.errstate(all="ignore"):
                size = magnitude(self.sides.term, self.nodes, self.known)
        return np.broadcast_to(size, self.a.shape)

    @cached_property
    def near(self) -> Any:
        """Return where both sides are finite and differ by no more than the claim allows."""
        a, b = self.a, self.b
        if a.dtype.kind not in "fc":
            return np.asarray(a == b)
        unit = last_unit(np.maximum(self.sizes, np.abs(a))).astype(a.real.dtype)
        return np.isfinite(a) & np.isfinite(b) & (np.abs(b - a) <= self.units * unit)

    # --- noise -----------------------------------------------------------------------------------

    @cached_property
    def samples(self) -> list[Any]:
        """Values of the left side under noise; none if some noise makes it fail."""
        found = samples_of(self.values, self.sides.term, self.nodes, self.given)
        return [s for s in found if np.shape(s) == self.a.shape]

    # --- overflow --------------------------------------------------------------------------------

    @cached_property
    def overflowed(self) -> Any:
        """Return the elements that prove nothing, since a step before them is not finite, or
        underflowed to 0. (All of them, if such a step has another shape.)
        """
        found = np.zeros(self.a.shape, bool)
        for node in self.nodes:
            for v in node.outputs:
                value = self.known.get(v)
                if v is self.sides.term or not isinstance(value, np.ndarray):
                    continue
                if value.dtype.kind not in "fc":
                    continue
                here = ~np.isfinite(value) | self._vanished(node, value)
                found = found | (here if here.shape == found.shape else here.any())
        return found

    def _vanished(self, node: Apply, value: Any) -> Any:
        """Return where the value of a step is 0 and none of its operands is."""
        if not isinstance(node.op, Elemwise) or str(node.op.scalar_op) in ("add", "sub"):
            return np.zeros(value.shape, bool)
        zero = value == 0
        for v in node.inputs if zero.any() else ():
            x = v.data if isinstance(v, Constant) else self.known.get(v, 0)
            zero = zero & (np.asarray(x) != 0)
        return zero

    # --- many digits -----------------------------------------------------------------------------

    @cached_property
    def is_local(self) -> bool:
        """Whether an element depends only on the elements in its place, on both sides."""
        if not all(isinstance(x, np.ndarray | np.generic) for x in self.given.values()):
            return False
        for node in toposort([self.sides.term, self.sides.new], list(self.given)):
            if any(isinstance(v, Constant) and np.size(v.data) > 1 for v in node.inputs):
                return False
            if not isinstance(node.op, Elemwise) and not _is_stretch(node.op):
                return False
        return True

    @cached_property
    def has_digits(self) -> bool:
        """Whether true values can be computed: there is a function, and the operands are few."""
        arrays = [np.asarray(x) for x in self.given.values()]
        if self.true_value is None or any(x.dtype.kind not in "biufc" for x in arrays):
            return False
        return self.is_local or sum(x.size for x in arrays) <= MAX_EXACT_ELEMENTS

    def element(self, place: Any) -> DifferentElement:
        """Return what is known of one element."""
        if place not in self._elements:
            self._elements[place] = self._element(place)
        return self._elements[place]

    def _element(self, place: Any) -> DifferentElement:
        here, at = dict(self.given), place
        if self.is_local:
            here, at = {v: part(x, place) for v, x in here.items()}, ()
        key = place if self.is_local else None
        if key not in self._truth:
            self._truth[key] = self._true_value(here) if self.has_digits else None
        found = self._truth[key]
        t = None if found is None else np.asarray(found[at], object).item()
        return DifferentElement(self, place, at, here, self.a[place], self.b[place], t)

    def _true_value(self, given: dict[Any, Any]) -> Any:
        """Return the true value of the left side; None if it is not known."""
        assert self.true_value is not None
        return self.true_value(self.sides.term, given)


@dataclass
class DifferentElement(GivenValues):
    """One element of a difference. at: its place in what is computed from `given`; t: its true
    value; None if it is not known. cache: results of functions that are `remembered`.
    """

    whole: Difference
    place: Any
    at: Any
    given: dict[Any, Any]
    a: Any
    b: Any
    t: Any
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def sides(self) -> BothSides:
        return self.whole.sides

    @cached_property
    def size(self) -> float:
        """The size that the claim's units are of."""
        return float(self.whole.sizes[self.place])


def remembered(fn: Callable[[DifferentElement], T]) -> Callable[[DifferentElement], T]:
    """Make a function of an element compute its result once for each element."""

    @wraps(fn)
    def once(e: DifferentElement) -> T:
        if fn.__name__ not in e.cache:
            e.cache[fn.__name__] = fn(e)
        return e.cache[fn.__name__]  # type: ignore[no-any-return]

    return once


# --- arrays ---------------------------------------------------------------------------------------


def same_bits(a: Any, b: Any) -> Any:
    """Return where two arrays have the same bits. All NaNs are the same, also complex numbers with
    a NaN in a part: NumPy chooses any of them.
    """
    if a.dtype.kind == "c":
        whole = same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
        return whole | (np.isnan(a) & np.isnan(b))
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return np.asarray(equal | (np.isnan(a) & np.isnan(b)))


def filled(x: Any, number: Any) -> Any:
    """Return an array with a number in the places of what is not finite."""
    return np.where(np.isfinite(x), x, x.dtype.type(number)) if x.dtype.kind in "fc" else x


def bits(a: Any) -> bytes:
    """The bits of an array, with all NaNs made the same."""
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return bytes(a.tobytes())


def state(a: Any) -> Any:
    """0 for what is finite, 1 for what is infinite, 2 for NaN."""
    return np.where(np.isfinite(a), 0, np.where(is_nan(a), 2, 1))


def places(wrong: Any, kinds: Any) -> Iterator[Any]:
    """Yield the first few and the last places of each kind."""
    for kind in np.unique(kinds[wrong]):
        found = list(zip(*np.nonzero(np.atleast_1d(wrong & (kinds == kind))), strict=True))
        some = found[:: max(1, len(found) // PLACES)]
        yield from (place if wrong.ndim else () for place in some)


def part(x: Any, place: Any) -> Any:
    """The element of an operand that is used in a place, with the rank it has."""
    x = np.asarray(x)
    here = place[len(place) - x.ndim :]
    return x[tuple([slice(0, 1) if n == 1 else slice(i, i + 1) for i, n in zip(here, x.shape)])]


def _is_stretch(op: Any) -> bool:
    """Whether an op only adds dimensions on the left, as broadcasting does."""
    order = getattr(op, "new_order", ())
    kept = [o for o in order if o != "x"]
    return bool(order) and order == ("x",) * (len(order) - len(kept)) + tuple(range(len(kept)))


def coarseness(term: Variable, nodes: Any = None) -> float:
    """How many units of the result one unit of the coarsest float is that is computed on the
    way.
    """
    if getattr(term.type, "kind", "?") not in "fc":
        return 1.0
    nodes = toposort([term]) if nodes is None else nodes
    steps = [v for n in nodes for v in (*n.outputs, *n.inputs) if v.owner is not None]
    types = [v.type for v in steps if getattr(v.type, "kind", "?") in "fc"]
    found = [float(np.finfo(t.dtype).eps) for t in types]
    own = float(np.finfo(term.type.dtype).eps)
    return max([*found, own]) / own


# --- what is added up -----------------------------------------------------------------------------

ADDING = ("add", "sub")
SCALING = ("neg", "mul", "true_div", "second", "abs")
SUMS = ("Sum", "Dot", "MatMul")
MOVES = ("DimShuffle", "DropDims", "Reshape", "Subtensor")


def magnitude(output: Variable, nodes: Any, values: Mapping[Any, Any]) -> Any:
    """Return the largest number that is added up to a value (of its size, if nothing is);
    infinities that were given do not count.
    """
    found = {v: size_of(v, values, 0.0) for v in values if v.owner is None or v is not output}
    for node in nodes:
        xs = [found[x] if x in found else size_of(x, values, 0.0) for x in node.inputs]
        if isinstance(node.op, HasInnerGraph):  # any of them may be added up in there
            found |= {v: _size_inside(values[v], xs) for v in node.outputs if v in values}
            continue
        out = node.outputs[0]
        if out in values:
            value = _size_after(node, xs, values)
            own = size_of(out, values)
            found[out] = np.maximum(np.nan_to_num(value, nan=0.0, posinf=np.inf), own)
    return found[output] if output in found else size_of(output, values)


def _size_after(node: Apply, xs: list[Any], values: Mapping[Any, Any]) -> Any:
    """The largest number that is added up to the result of a node. xs: those of its operands."""
    name, kind, out = str(node.op), type(node.op).__name__, node.outputs[0]
    if name in ADDING:
        return sum(xs[1:], xs[0])
    if name in SCALING or kind in SUMS + MOVES:
        cells: list[list[Any]] = [[None]]
        node.op.perform(node, [np.asarray(np.real(x), "float64") for x in xs], cells)
        return np.abs(np.asarray(np.real(cells[0][0]), "float64"))
    value = size_of(out, values, np.inf)
    lost = np.isnan(numbers_of(out, values))
    if lost.any():  # of what overflowed on the way
        value = np.where(lost, max([x.max(initial=0.0) for x in xs], default=0.0), value)
    return value


def _size_inside(value: Any, sizes: Any) -> Any:
    """The largest number that may be added up to a value inside of an op. sizes: those of its
    operands.
    """
    most = max([x.max(initial=0.0) for x in sizes], default=0.0)
    return np.where(np.isfinite(value), np.maximum(most, np.abs(value)), np.inf)


def numbers_of(v: Any, values: Mapping[Any, Any]) -> Any:
    """The value of a variable as an array of complex numbers; 0 if it is not numbers."""
    value = v.data if isinstance(v, Constant) else values.get(v, 0)
    try:
        array = value.toarray() if hasattr(value, "toarray") else value
        return np.asarray(array).astype("complex128")
    except (TypeError, ValueError):
        return np.zeros((), "complex128")


def size_of(v: Any, values: Mapping[Any, Any], infinite: float = 0.0) -> Any:
    """The sizes of the numbers of a variable."""
    return np.nan_to_num(np.abs(numbers_of(v, values)), nan=0.0, posinf=infinite)
