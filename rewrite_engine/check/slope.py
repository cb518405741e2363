"""Checks of gradients of ops against differences of their values: of each output alone and of all
together, at ordinary numbers, and at larger ones up to 50.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import GradientError, RewriteEngineError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import Evaluator
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge.values import compute_all
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

NUMBERS = 4  # at which a gradient of an elementwise function is looked at
MANY = 16  # of larger numbers
LARGE = 50.0

FAR = 2  # nodes at which larger numbers are tried
ELEMENTS = 8  # of an operand with respect to which there are differences
STEP = 1e-5
NOISE = 1e3 * float(np.finfo("float64").eps)  # of the values, relative
UNTRUE = "is not that of its values"

Told = tuple[str, str, str]  # name, why, example
Point = Sequence[Any]


class Slopes:
    """Checks the gradients of nodes of one op. known: whether any could be compared, or nobody has
    written one.
    """

    def __init__(self) -> None:
        self.known = False
        self.far = 0

    def broken(self, node: Apply, values: Sequence[Any], own: bool) -> Told | None:
        """Return what is wrong with a gradient at values, and at larger ones. own: the op declares
        the values.
        """
        if not has_gradient(node):
            return None
        elementwise = isinstance(node.op, Elemwise)
        near = [
            _inside(node.op, len(values), s) if elementwise else _moved(values, s) for s in (1, 2)
        ]
        ndims = [p.ndim for p in near[0]]
        for outputs in _asked(node):
            at = self.at if own else SlopeComparison(node, outputs, ndims).broken
            found = _at_all(near, partial(at, node.op, outputs))
            if found is not None:
                return found
        return self.beyond(node, values) if own else None

    def beyond(self, node: Apply, values: Sequence[Any]) -> Told | None:
        """Return what is wrong with a gradient at larger numbers."""
        self.far += 1
        outputs = _asked(node)[-1]
        if self.far > FAR:
            return None
        elementwise = isinstance(node.op, Elemwise)
        ndims = [1 if elementwise else v.type.ndim for v in node.inputs]
        compared = SlopeComparison(node, outputs, ndims)
        if not elementwise:
            each = (_at_all(p, partial(compared.broken, node.op, outputs)) for p in _far(values))
            return next(filter(None, each), None)
        points = _inside(node.op, len(values), 3, LARGE, MANY)
        rows = [list(row) for row in zip(*[p.reshape(-1, 1) for p in points], strict=True)]
        found = [told for row in rows if (told := compared.broken(node.op, outputs, row))]
        return found[0] if len(found) > 1 else None

    def at(self, op: Any, outputs: Sequence[int], point: Point) -> Told | None:
        """What is wrong at one point, with respect to all operands; if nobody has written one of
        the gradients, to each alone.
        """
        found, written = self.with_respect_to(op, outputs, point, range(len(point)))
        if found is None and not written and len(point) > 1:
            each = [self.with_respect_to(op, outputs, point, [i])[0] for i in range(len(point))]
            return next(filter(None, each), None)
        return found

    def with_respect_to(
        self, op: Any, outputs: Sequence[int], point: Point, some: Sequence[int]
    ) -> tuple[Told | None, bool]:
        """Return what is wrong with the gradients of some operands, and whether the op defines
        them.
        """
        value = _summed(op, outputs)

        def of_some(*xs: Any) -> Any:
            given = dict(zip(some, xs, strict=True))
            return value(*[given.get(i, pt.constant(p)) for i, p in enumerate(point)])

        self.known = True
        try:
            verify_grad(of_some, [point[i] for i in some], n_tests=1)
        except GradientError as error:
            if "is wrong at" not in str(error):
                return None, False
            return ("gradient", f"its gradient{_which(outputs)} {UNTRUE}", str(error)), True
        except NotImplementedError:
            return None, False
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            return ("gradient", "its gradient raises an error", told), True
        return None, True


class SlopeComparison:
    """Compares the gradient of a node with differences of two widths, which tell how far they can
    be trusted.
    """

    def __init__(self, node: Apply, outputs: Sequence[int], ndims: Sequence[int]) -> None:
        self.error: Exception | None = None
        inputs = [TensorType("float64", (None,) * n)() for n in ndims]
        try:
            out = _summed(node.op, outputs)(*inputs)
            self.cost = pt.sum(out * (1.0 + 0.5 * pt.sin(pt.arange(out.size)).reshape(out.shape)))
            slopes = grad(self.cost, inputs, disconnected_inputs="ignore")
            self.run = Evaluator(inputs, [self.cost, pt.sum(pt.abs(out)), *slopes])
        except Exception as error:
            self.error = error

    def broken(self, op: Any, outputs: Sequence[int], point: Point) -> Told | None:
        """What is wrong at one point; None where the op or its gradient has no value."""
        if self.error is not None:
            own = isinstance(self.error, RewriteEngineError | NotImplementedError)
            told = f"{type(self.error).__name__}: {self.error}"
            return None if own else ("gradient", "its gradient raises an error", told)
        try:
            with np.errstate(all="ignore"):
                return self.compared(outputs, point)
        except RewriteEngineError:  # no such operands
            return None
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return None
        except Exception as error:
            return "gradient", "its gradient raises an error", f"{type(error).__name__}: {error}"

    def compared(self, outputs: Sequence[int], point: Point) -> Told | None:
        """Return what is wrong at one point. Raises the errors of the op."""
        _, size, *slopes = self.run(*point)
        for i, (p, slope) in enumerate(zip(point, slopes, strict=True)):
            for at in list(np.ndindex(p.shape))[:ELEMENTS]:
                step = STEP * max(1.0, abs(float(p[at])))
                near, far = [self.difference(point, i, at, h) for h in (step, 2 * step)]
                allowed = 20 * abs(near - far) + 1e-5 * abs(near) + 1e-6
                allowed += NOISE * float(size) / step
                off = abs(float(slope[at]) - near)
                if np.isfinite(near) and np.isfinite(off) and off > allowed:
                    text = f"for argument {i} at {at}: symbolic {slope[at]}, numeric {near}; "
                    text += f"the argument is {p.ravel()[:4].tolist()}"
                    return "gradient", f"its gradient{_which(outputs)} {UNTRUE}", text
        return None

    def difference(self, point: Point, i: int, at: Any, step: float) -> float:
        """Return the quotient of differences in one direction."""
        ends = []
        for sign in (1, -1):
            moved = [np.array(p) for p in point]
            moved[i][at] += sign * step
            ends.append(float(self.run(*moved)[0]))
        return (ends[0] - ends[1]) / (2 * step)


def _at_all(points: Sequence[Point], at: Callable[[Point], Told | None]) -> Told | None:
    """What is wrong at all of some points. (At one alone differences may be wrong, as where a
    matrix is nearly singular.)
    """
    found = None
    for point in points:
        if not all(p.size and np.isfinite(p).all() for p in point):
            return None
        found = at(point)
        if found is None:
            return None
    return found


def _which(outputs: Sequence[int]) -> str:
    return f" of output {outputs[0]}" if len(outputs) == 1 and outputs[0] else ""


def has_gradient(node: Apply) -> bool:
    """Whether a node has a gradient with respect to double floats."""
    op = node.op
    if isinstance(op, Elemwise) and op.scalar_op.gradient is None:
        return False
    types = [v.type for v in node.inputs]
    double = all([getattr(t, "dtype", None) == "float64" for t in types])
    return double and bool(_asked(node)[0])


def _asked(node: Apply) -> list[list[int]]:
    """The outputs of which gradients are taken: each of floats alone, then all of them."""
    found = [i for i, v in enumerate(node.outputs) if getattr(v.type, "dtype", "") == "float64"]
    return [[i] for i in found] + ([found] if len(found) != 1 else [])


def _summed(op: Any, outputs: Sequence[int]) -> Callable[..., Any]:
    """A function of the inputs of an op: an output, or the sum of several, each with its factor."""

    def value(*xs: Any) -> Any:
        low = getattr(op, "triangular", ())
        made = op.make_node(*[pt.tril(x) if i in low else x for i, x in enumerate(xs)]).outputs
        if len(outputs) == 1:
            return made[outputs[0]]
        parts = [pt.sum(made[i] * (1.0 + 0.37 * i)) for i in outputs]
        return sum(parts[1:], parts[0])

    return value


def _moved(values: Sequence[Any], seed: int) -> list[Any]:
    """Values; other ones nearby for another seed."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(v) for v in values]
    if seed == 1:
        return arrays
    apart = [np.where(a == 0, rng.uniform(0, 0.05, a.shape), a) for a in arrays]
    return [a * rng.uniform(0.5, 1.5, a.shape) for a in apart]


def _far(values: Sequence[Any]) -> Iterator[list[Point]]:
    """Yield pairs of points with larger numbers, of both signs."""
    each = [_moved(values, 2), _moved(values, 3)]
    largest = [max([float(np.abs(a).max(initial=0)) for a in arrays], default=0) for arrays in each]
    if all(largest):
        for sign in (1.0, -1.0):
            yield [
                [a * (sign * LARGE / most) for a in arrays]
                for arrays, most in zip(each, largest, strict=True)
            ]


def _inside(
    op: Elemwise, nin: int, seed: int, most: float = 3.0, numbers: int = NUMBERS
) -> list[Any]:
    """A few ordinary numbers for each operand, within its domain, at which a function is finite."""
    rng, domains = np.random.default_rng(seed), op.scalar_op.domain
    point = []
    for i in range(nin):
        domain = domains[min(i, len(domains) - 1)]
        low, high = max(domain[0], -most), min(domain[1], most)
        point.append(rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low), 60))
    xs = [TensorType("float64", (None,))() for _ in point]
    value = compute_all(op(*xs), dict(zip(xs, point, strict=True)))
    if isinstance(value, Exception):
        return point
    found = np.isfinite(next(reversed(value.values())))
    return [p[found][:numbers] for p in point]
