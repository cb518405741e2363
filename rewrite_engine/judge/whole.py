"""What is known of the results of a whole graph, which rules of all kinds rewrite (`WholeGraph`);
`whole_excuses.py` reads it.

Cheap tests first: equal, or equal up to some units in the last place. Where that fails, noise tells
how well the value is determined, and many digits tell what it should be. Rules may mend one step
and leave the next as it is written, which then rounds, overflows, or compares what is mended: so
the graph is also run as it is written with true values in the places of steps that are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge import exact, partly
from rewrite_engine.judge.noise import MENDED, Values, evaluate, last_unit, reaches_far, spread
from rewrite_engine.tensor import CumOp, Sum
from rewrite_engine.tensor.special import ScaledExp

SAMPLES = 24
DIGITS = (60, 1200, 12000)  # more where few give no number, and before anything is called wrong
EXPONENTIALS = ("exp", "sigmoid", "softmax", "softplus")  # parts of names of ops
LARGE = 350  # digits of what stands for infinite numbers
LESS = 3  # the same, where exponentials of exponentials are not known otherwise


def close(found: np.ndarray, wanted: np.ndarray, ulps: int = 4) -> np.ndarray:
    """Where two arrays are equal, up to a few units."""
    with np.errstate(all="ignore"):
        same = (found == wanted) | ((found != found) & (wanted != wanted))
        if wanted.dtype.kind not in "fc" or same.all():
            return same
        near = np.abs(found - wanted) <= ulps * np.finfo(wanted.dtype).eps * np.abs(wanted)
        tiny = np.abs(found - wanted) <= ulps * np.finfo(wanted.dtype).smallest_subnormal
        return same | ((near | tiny) & np.isfinite(wanted) & np.isfinite(found))


class WholeGraph:
    """What is known of the results of a graph. results: its outputs; given: the values of its
    inputs; wanted: the values of the results, node by node; regrouped: whether sums may be added up
    in another order. surely: whether to use as many digits as there are.
    """

    def __init__(
        self,
        results: Sequence[Any],
        given: Mapping[Any, np.ndarray],
        wanted: Sequence[np.ndarray],
        regrouped: bool = False,
        surely: bool = False,
    ) -> None:
        self.results, self.given, self.wanted = results, given, wanted
        self.regrouped, self.surely = regrouped, surely
        self._truth: dict[int, tuple[list[Any], list[Any]]] = {}
        self.doubts: list[Any] = []  # of the last true value that was asked for
        self._found: list[Any] = []
        self._rest: Any = None

    @cached_property
    def nodes(self) -> list[Apply]:
        """Return the nodes, inputs first."""
        return list(toposort(list(self.results), list(self.given)))

    @cached_property
    def values(self) -> Values:
        """Return the reference values of all steps."""
        return evaluate(self.results, self.given)

    @cached_property
    def noise(self) -> list[list[np.ndarray]]:
        """The results under noise; none, if some noise makes the graph fail."""
        results, given = self.results, self.given
        return spread(results, given, SAMPLES, regrouped=self.regrouped) or []

    @property
    def is_moderate(self) -> bool:
        """Whether all that is given is finite."""
        return all(np.isfinite(a).all() for v, a in self.given.items() if v.type.kind in "fc")

    @cached_property
    def truths(self) -> dict[Any, Any]:
        """What is true of each step, as far as that is known."""
        found: dict[Any, Any] = {}
        for digits in DIGITS[: self.most if self.surely else 1]:
            with mp.workdps(digits):
                found |= exact.evaluate(self.steps, self.start)
        return found

    @property
    def steps(self) -> list[Any]:
        """The results of all steps that are computed exactly."""
        computed = [v for node in self.nodes for v in node.outputs]
        return [v for v in computed if v not in self.start]

    @property
    def most(self) -> int:
        """How many numbers of digits may be tried: the last takes long."""
        size = sum(a.size for a in self.values.values())
        return len(DIGITS) if self.surely and size <= 200 and self.goes_far else 2

    @cached_property
    def goes_far(self) -> bool:
        """Whether exponentials have more than 400 digits, as they are written or in truth."""
        with mp.workdps(DIGITS[0]):
            true = exact.evaluate(self.exponents, self.start)
        numbers = [t for v in self.exponents for t in np.ravel(true.get(v, []))]
        return reaches_far(self.values) or any(1000 < abs(t) < exact.INF for t in numbers)

    @cached_property
    def is_unknown(self) -> bool:
        """Whether something on the way is not finite of which nothing is known."""
        floats = [(v, a) for v, a in self.values.items() if v.owner and v.type.kind == "f"]
        return any(v not in self.truths and not np.isfinite(a).all() for v, a in floats)

    def partly(self) -> Iterator[Any]:
        """Return the cached results of `partly.py`."""
        yield from self._found
        if self._rest is None:
            results, given = self.results, self.given
            self._rest = partly.results(results, given, self.nodes, self.values, self.regrouped)
        for run in self._rest:
            self._found.append(run)
            yield run

    @cached_property
    def beside(self) -> list[list[list[np.ndarray]]]:
        """The results under noise if steps that have lost digits have their true values: each of
        them alone, and all up to each.
        """
        return self._mended(self.truths, _is_wrong)

    def _mended(self, true: Any, is_wrong: Any) -> list[list[list[np.ndarray]]]:
        """The same with other numbers for the true ones."""
        steps = {}
        for v, a in self.values.items():
            if v in true and v.owner is not None and v.type.kind == "f":
                with np.errstate(all="ignore"):
                    where = np.asarray(is_wrong(true[v], a), bool)
                    other = np.asarray(true[v], object).astype(a.dtype)
                if where.any():
                    steps[v] = where, other
        order = list(steps.items())
        runs = [dict(order[a:b]) for b in range(1, len(order) + 1) for a in {0, b - 1}]
        results, given = self.results, self.given
        found = [spread(results, given, SAMPLES, self.regrouped, mended) for mended in runs]
        return [run for run in found if run is not None]

    @property
    def largest_added(self) -> Any:
        """The largest of the true numbers that are added up."""
        added = [n for n in self.nodes if adds(n)]
        found = [t for n in added for v in n.inputs for t in np.ravel(self.truths.get(v, []))]
        return max([abs(t) for t in found if t - t == 0], default=0)

    @property
    def exponents(self) -> list[Any]:
        """What exponentials are taken of."""
        nodes = self.nodes
        steep = [n for n in nodes if any(word in str(n.op).lower() for word in EXPONENTIALS)]
        return [v for node in steep for v in node.inputs if v.type.kind in "fiu"]

    @property
    def in_exponents(self) -> list[Any]:
        """The steps to what exponentials are taken of: rules read it as a sum of terms, and may add
        these up in another order.
        """
        return list(toposort(self.exponents, list(self.given)))

    def may_overflow(self, nodes: Any = None) -> bool:
        """Whether the finite numbers of a sum, also those of sums in it, are so large that a part
        of them may be infinite. nodes: where to look, everywhere by default.
        """
        sizes: dict[Any, Any] = {}
        for node in self.nodes if nodes is None else nodes:
            out, added = node.outputs[0], not isinstance(node.op, Sum | CumOp)
            if adds(node):
                parts = [
                    sizes.get(v, size_of(self.values[v])) for v in node.inputs if v in self.values
                ]
                sizes[out] = sum(parts) * (1 if added else self.values[node.inputs[0]].size)
        return any(size > largest(self.values[v]) for v, size in sizes.items())

    @property
    def is_saturated(self) -> bool:
        """Whether numbers are so large that no digits tell what exponentials leave of a number."""
        given = [a for v, a in self.given.items() if v.type.kind in "iuf"]
        return _go_far(given)

    @property
    def is_steep(self) -> bool:
        """Whether exponentials are taken of numbers that are so large."""
        return _go_far([self.truths.get(v, []) for v in self.exponents])

    @property
    def has_poles(self) -> bool:
        """Whether a step is infinite by its digits: log(1 - sigmoid(x)), for a large x."""
        with mp.workdps(DIGITS[0]):
            return bool(self.poles(self.start))

    @property
    def widths(self) -> list[str]:
        """The dtypes of floats on the way, also of accumulators."""
        floats = [n for n in self.nodes if any(v.type.kind == "f" for v in n.outputs)]
        inner = [getattr(n.op, "acc_dtype", None) for n in floats]
        own = [v.type.dtype for n in floats for v in n.outputs if v.type.kind == "f"]
        return own + [dtype for dtype in inner if dtype and np.dtype(dtype).kind == "f"]

    def coarse(self, f: Any) -> str:
        """The narrowest dtype of floats on the way to a number."""
        return min([f.dtype.name, *self.widths], key=lambda name: np.finfo(name).bits)

    def near(self, truth: Any, f: Any) -> bool:
        """Whether a number is the true one, or infinite as the true one would be."""
        if truth is None or truth != truth or f != f:
            return False
        if abs(truth) > 0.99 * largest(f):
            return (
                bool(np.isinf(f) and (f > 0) == (truth > 0)) or abs(mpf(float(f)) / truth - 1) < 0.1
            )
        if not np.isfinite(f):
            return False
        coarse = self.coarse(f)
        info = np.finfo(coarse)
        slack = float(info.eps) * MENDED[coarse] * abs(float(truth))
        return abs(mpf(float(f)) - truth) <= max(slack, float(info.tiny))

    def true(self, i: int, place: Any) -> Any:
        """The true value; None where it is not known, as where a step is NaN that has no exact
        meaning: that may be the fault of one before.
        """
        truth: Any = None
        self.doubts = []
        if self.results[i].type.kind == "c" or any(
            np.isnan(self.start[v]).any() for v in self.taken
        ):
            return None
        for digits in DIGITS[: self.most]:
            if digits not in self._truth:
                self._truth[digits] = self._exactly(self.start, digits)
            found, doubts = self._truth[digits]
            if found[i] is None:
                break
            truth, self.doubts = number(found[i], place), doubts
            if truth - truth == 0 and not doubts and not self.surely:
                break
        return truth

    @cached_property
    def start(self) -> dict[Any, Any]:
        """What is computed from exactly: the inputs, and what the reference gives for steps that
        have no exact meaning.
        """
        start: dict[Any, Any] = dict(self.given)
        for node in self.nodes:
            if exact.is_complex(node) or isinstance(node.op, ScaledExp):
                start |= {v: self.values[v] for v in node.outputs}
        return start

    @property
    def taken(self) -> set[Any]:
        """The results of steps that are taken as the reference gives them, without complex ones."""
        return {v for v in self.start.keys() - self.given.keys() if v.type.kind != "c"}

    def is_from_limit(self, i: int, place: Any, f: Any) -> bool:
        """Whether a number is the limit, or what some step gives that has its limit for NaN; or
        infinite, where that is more than the narrowest dtype on the way holds.
        """
        runs = [[sample[i][place] for sample in run] for run in self._with_limits]
        if f.dtype.kind == "f" and np.isinf(f):
            most = 0.99 * float(np.finfo(self.coarse(f)).max)
            runs += [[f] for run in runs if any(x * np.sign(f) >= most for x in run)]
        return is_among(f, runs)

    @cached_property
    def _with_limits(self) -> list[list[list[np.ndarray]]]:
        """The results if one step has its limit where it is NaN: what it is where what is infinite
        is large, or what it leads to where that grows.
        """
        runs = []
        for digits in DIGITS[: 1 + self.surely]:
            with mp.workdps(digits):
                for size in (LARGE, LESS):
                    larger = [self._limits_at(factor * mpf(10) ** size) for factor in (1, 2, 4)]
                    for starts in zip(*larger, strict=False):
                        values = [exact.evaluate(self.steps, start) for start in starts]
                        for limits in (values[0], _ends(values)):
                            runs += self._mended(limits, _has_limit)
        return runs

    def _limits_at(self, large: Any) -> list[dict[Any, Any]]:
        """What is computed from if what is infinite is large; poles on the way may be so, too."""
        given = {}
        for v, a in self.start.items():
            if v in self.taken and isinstance(v.owner.op, ScaledExp):
                continue
            given[v] = _large(exact.exact(a), large) if v.type.kind == "f" else a
        poles: dict[Any, Any] = {}
        while found := self.poles({**poles, **given}):
            v, a = next(iter(found.items()))  # the first: others may come of it
            kept = np.isinf(self.values[v])  # a zero has its sign in floats alone
            poles[v] = _large(np.where(kept, exact.exact(self.values[v]), a), large)
        jumps = self.jumps(given, large)
        return [given, *[{**some, **given} for some in (poles, jumps) if some]]

    def jumps(self, given: Any, large: Any) -> dict[Any, Any]:
        """What has another sign, or none, by the numbers that stand for zeros: arctan2(x, -1) by
        the sign of a zero, log(1 / x) at -inf. It is as floating point has it.
        """
        found: dict[Any, Any] = {}
        for node in self.nodes:
            v, values = node.outputs[0], {}
            if v.type.kind == "f" and any(_has_zeros(u, self.values) for u in node.inputs):
                values = exact.evaluate([v], {**found, **given})
            if v in values and (where := _turns(values[v], self.values[v])).any():
                found[v] = _large(np.where(where, exact.exact(self.values[v]), values[v]), large)
        return found

    def poles(self, given: Any) -> dict[Any, Any]:
        """What is infinite on the way though it is made of finite numbers: 1 / 0."""
        values = exact.evaluate(self.results, given)
        return {
            node.outputs[0]: values[node.outputs[0]]
            for node in self.nodes
            if _is_infinite(values.get(node.outputs[0]))
            and not any(_is_infinite(values.get(v)) for v in node.inputs)
        }

    def _exactly(self, given: Any, digits: int) -> tuple[list[Any], list[Any]]:
        """The true results, None where they are not known, and the nodes that leave doubts."""
        doubts: list[Any] = []
        with mp.workdps(digits):
            values = exact.evaluate(self.results, given, doubts=doubts)
        found: list[Any] = [None if v in self.taken else values.get(v) for v in self.results]
        pairs = zip(found, self.wanted, strict=True)
        return [a if np.shape(a) == w.shape else None for a, w in pairs], doubts


def is_among(f: Any, runs: Sequence[Any]) -> bool:
    """Whether a number is among those of one of several runs, as near to one as they vary."""
    for run in runs:
        found = np.array(run)
        if close(found, np.full_like(found, f)).any():
            return True
        if found.dtype.kind == "f" and np.isfinite([*found, f]).all():
            near = np.abs(found.astype("longdouble") - np.median(found))
            around = 20 * max(np.median(near), last_unit(np.abs(found).max()))
            if (np.abs(found - np.longdouble(f)) <= around).any() or found.min() < f < found.max():
                return True
    return False


def _is_wrong(true: Any, values: np.ndarray) -> Any:
    """Where a step has lost digits as it is written."""
    few = float(256 * np.finfo(values.dtype).eps)
    wrong = np.frompyfunc(
        lambda t, x: t - t == 0 and not abs(t - mpf(float(x))) <= few * abs(t), 2, 1
    )
    return wrong(true, values)


#: where a step is NaN that has a limit
_has_limit = np.frompyfunc(lambda t, x: x != x and t == t, 2, 1)


def _is_infinite(array: Any) -> bool:
    """Whether there are infinities among exact numbers."""
    return array is not None and any(isinstance(t, mpf) and mp.isinf(t) for t in np.ravel(array))


def _large(array: Any, large: Any) -> Any:
    """Exact numbers with large ones in the places of infinities."""
    flat = [mp.sign(t) * large if mp.isinf(t) else t for t in np.ravel(array)]
    found = np.empty(len(flat), object)
    found[:] = flat
    return found.reshape(np.shape(array))


def _ends(values: Sequence[Any]) -> dict[Any, Any]:
    """What steps lead to. values: of each, for numbers each of which is twice the one before."""
    steps = [v for v in values[0] if v.type.kind == "f" and all(v in more for more in values)]
    return {v: np.asarray(exact.end(*[more[v] for more in values])) for v in steps}


def _has_zeros(v: Any, values: Values) -> bool:
    return v.type.kind == "f" and (np.asarray(values.get(v, getattr(v, "data", 1))) == 0).any()


def _turns(true: Any, values: np.ndarray) -> Any:
    """Where numbers have not the sign of those in floating point, or no value."""
    turns = np.frompyfunc(lambda t, x: t != t or (x != 0 and mp.sign(t) != np.sign(x)), 2, 1)
    return np.asarray(turns(true, values), bool) & (values == values)


def _go_far(arrays: Sequence[Any]) -> bool:
    """Whether there are finite numbers beyond 20,000."""
    return any(t - t == 0 and abs(t) > 20000 for a in arrays for t in np.ravel(a) * mpf(1))


def adds(node: Any) -> bool:
    """Whether a node adds floats up."""
    added = str(getattr(node.op, "scalar_op", "")) in ("add", "sub")
    return node.outputs[0].type.kind == "f" and (added or isinstance(node.op, Sum | CumOp))


def size_of(a: np.ndarray) -> Any:
    """The largest finite number, without its sign."""
    return np.abs(a[np.isfinite(a)].astype("longdouble")).max(initial=0)


def number(array: Any, place: Any) -> Any:
    found = np.asarray(array)[place] if np.shape(array) else np.asarray(array).item()
    if isinstance(found, mpf):
        return found
    return mpf(int(found)) if isinstance(found, int | np.integer) else mpf(float(found))


def largest(x: Any) -> float:
    """The largest number of a dtype."""
    return float(np.finfo(x.dtype).max)
