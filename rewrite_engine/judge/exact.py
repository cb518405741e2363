"""Values of a graph without rounding: with many digits, and unbounded exponents.

Integers and booleans are computed as the ops do it (they wrap around); a conversion between floats
changes nothing here. Complex numbers are given or not known, unless they are asked for. `frozen`:
values that some variables keep, whatever they are computed from, and the first inputs that some
nodes keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.noise import MOVING
from rewrite_engine.judge.values import REFERENCE
from rewrite_engine.scalar.op import Cast
from rewrite_engine.scalar.removable import Removable, coefficients, far

NAN, INF = mpf("nan"), mpf("inf")
WHOLE = mpf(10) ** 2000  # what is larger is not looked at digit by digit
LONG = 2**53  # what is raised to larger powers is not multiplied again and again
#: how large exponents may be (10 to that power), with up to so many digits: it takes long
EXPONENTS = ((60, 5000), (400, 1500), (12_000, 400))


def shown(number: Any) -> str:
    """Return the first digits of a number as text."""
    with mp.workdps(30):
        return str(mp.nstr(+number, 10))


class NotKnown(Exception):
    """An op has no exact meaning here."""


def is_pair(x: Any) -> bool:
    """Whether a number is complex."""
    return isinstance(x, mpmath.mpc)


def real(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` on each element, NaN where it is not defined, nor real of real numbers."""

    def safe(*xs: Any) -> Any:
        if any(x != x for x in xs):
            return NAN
        try:
            value = fn(*xs)
        except (ZeroDivisionError, ValueError, OverflowError, TypeError, mp.NoConvergence):
            return NAN
        return NAN if isinstance(value, mpmath.mpc) and not any(map(is_pair, xs)) else value

    return np.frompyfunc(safe, fn.__code__.co_argcount, 1)


@real
def end(a: Any, b: Any, c: Any) -> Any:
    """What three numbers lead to: infinity if they grow no slower from one to the next, else what
    is left of the way if it shrinks as it did (Aitken's delta-squared).
    """
    before, now = b - a, c - b
    if abs(before) <= mpf(10) ** (-mp.dps // 2) * abs(a):  # as far as digits tell
        return a
    if before * now > 0 and abs(now) >= 0.9 * abs(before):
        return mp.sign(now) * INF
    return c - now**2 / (now - before)


def divide(x: Any, y: Any) -> Any:
    if y == 0:
        return NAN if x == 0 else INF * mp.sign(x)
    return x / y


def exponential(x: Any) -> Any:
    most = next((e for digits, e in EXPONENTS if mp.dps <= digits), EXPONENTS[-1][1])
    if abs(x) > mpf(10) ** most:
        if is_pair(x) or INF > x > 0:
            raise NotKnown
        return INF if x > 0 else mpf(0)
    return _exponential(x, mp.prec)


@lru_cache(10_000, typed=True)
def _exponential(x: Any, prec: int) -> Any:
    """The same numbers come again (1 and 1 + 0j are equal), and of large ones this takes long."""
    return mp.exp(x)


def expm1(x: Any) -> Any:
    return mp.expm1(x) if abs(x) < 1 else exponential(x) - 1


def logarithm(x: Any) -> Any:
    return mp.log(x) if x else -INF


def gamma(x: Any) -> Any:
    if abs(x) > 1e6:
        return NAN  # too large
    return mp.gamma(x) if x else INF


def gammaln(x: Any) -> Any:
    if x <= 0 and x == mp.floor(x):
        return INF
    return mp.log(abs(mp.gamma(x))) if x < 1e6 else mp.loggamma(x)


def log1p(x: Any) -> Any:
    return mp.log1p(x) if abs(x) < 0.5 else logarithm(1 + x)


def power(x: Any, y: Any) -> Any:
    if is_pair(x) or is_pair(y):
        return divide(mpf(1), x) if y == -1 else x**y
    if y == 0 or x == 1:
        return mpf(1)
    if x == 0:
        return mpf(0) if y > 0 else INF
    if mp.isinf(x) or mp.isinf(y) or abs(y) > WHOLE:
        return mpf(float(np.power(float(x), float(y))))
    if x < 0 and y != mp.floor(y):
        return NAN
    if abs(y) < LONG:
        return x**y
    with mp.workprec(mp.prec + mp.mag(y) + 10):
        odd = x < 0 and y / 2 != mp.floor(y / 2)
        return exponential(y * mp.log(abs(x))) * (-1 if odd else 1)


def sigmoid(x: Any) -> Any:
    if is_pair(x) or x > 0:
        return 1 / (1 + exponential(-x))
    return exponential(x) / (1 + exponential(x))


def softplus(x: Any) -> Any:
    return max(x, mpf(0)) + log1p(exponential(-abs(x)))


def logaddexp(x: Any, y: Any) -> Any:
    return (
        x
        if x == y == -INF
        else max(x, y) + (log1p(exponential(-abs(x - y))) if x != y else mp.log(2))
    )


def logdiffexp(x: Any, y: Any) -> Any:
    return x if y == -INF else x + logarithm(-expm1(y - x))


def erfc(x: Any) -> Any:
    if abs(x) < mpf(10) ** 50:
        return mp.erfc(x)
    return exponential(-x * x) / (x * mp.sqrt(mp.pi)) if x > 0 else mpf(2)


def remainder(x: Any, y: Any) -> Any:
    return x - quotient(x, y) * y if y else NAN


def quotient(x: Any, y: Any) -> Any:
    found = mpf(-1) if abs(y) == INF > abs(x) and x * y < 0 else divide(x, y)
    return found if abs(found) == INF else NAN if abs(found) > WHOLE else mp.floor(found)


class _Exact:
    """The functions of series at a point."""

    abs, sign, sqrt, sin, cos, tan = mp.fabs, mp.sign, mp.sqrt, mp.sin, mp.cos, mp.tan
    sinh, cosh, tanh, hypot = mp.sinh, mp.cosh, mp.tanh, mp.hypot
    arcsin, arcsinh, arctan, arctanh = mp.asin, mp.asinh, mp.atan, mp.atanh
    exp, expm1, log1p = map(staticmethod, (exponential, expm1, log1p))
    sqr, isinf = staticmethod(lambda x: x * x), mp.isinf
    gt = staticmethod(lambda x, y: x > y)
    switch = staticmethod(lambda c, x, y: x if c else y)


def removable(op: Removable, x: Any) -> Any:
    """Return the value of an op of the family; near 0 its terms cancel."""
    if x != x or abs(x) == INF:
        return NAN if x != x else mpf(float(op.impl(np.float64(x))))
    if x == 0:
        return mpf(coefficients(op.kind, op.order)[0])
    lost = (op.order + 4) * max(0, -int(mp.log10(abs(x))))
    with mp.workdps(mp.dps + min(lost, 4000)):
        found = real(lambda v: far(_Exact, v, op.kind, op.order))(x)
    return +found


extreme = {
    "maximum": lambda x, y: NAN if x != x or y != y else max(x, y),
    "minimum": lambda x, y: NAN if x != x or y != y else min(x, y),
}


def fold(fn: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    both = np.frompyfunc(fn, 2, 1)
    return lambda *xs: reduce(both, xs)


SCALAR: dict[str, Any] = {
    "add": lambda *xs: reduce(real(lambda a, b: a + b), xs),
    "mul": lambda *xs: reduce(real(lambda a, b: a * b), xs),
    "logaddexp": lambda *xs: reduce(real(logaddexp), xs),
    "logdiffexp": real(logdiffexp),
    "maximum": fold(extreme["maximum"]),
    "minimum": fold(extreme["minimum"]),
    "sub": real(lambda a, b: a - b),
    "true_div": real(divide),
    "floor_div": real(lambda a, b: NAN if abs(a) == INF and b else quotient(a, b)),
    "mod": real(remainder),
    "neg": real(lambda a: -a),
    "abs": real(lambda a: abs(a)),
    "sign": real(lambda a: mp.sign(a)),
    "sqr": real(lambda a: a * a),
    "sqrt": real(lambda a: mp.sqrt(a)),
    "pow": real(power),
    "reciprocal": real(lambda a: divide(mpf(1), a)),
    "exp": real(lambda a: exponential(a)),
    "exp2": real(lambda a: exponential(a * mp.ln2)),
    "expm1": real(expm1),
    "log": real(logarithm),
    "log2": real(lambda a: logarithm(a) / mp.ln2),
    "log10": real(lambda a: logarithm(a) / mp.ln10),
    "log1p": real(log1p),
    "log1mexp": real(lambda a: logarithm(-expm1(a))),
    "sigmoid": real(sigmoid),
    "softplus": real(softplus),
    "erf": real(lambda a: mp.erf(a)),
    "erfc": real(erfc),
    "logerfc": real(lambda a: logarithm(erfc(a))),
    "log_ndtr": real(lambda a: logarithm(erfc(-a / mp.sqrt(2)) / 2)),
    "xlogy": real(lambda a, b: a * logarithm(b) if a else mpf(0)),
    "xlog1py": real(lambda a, b: a * log1p(b) if a else mpf(0)),
    "log_odds": real(lambda a: logarithm(divide(a, 1 - a))),
    "gamma": real(gamma),
    "gammasgn": real(lambda a: mp.sign(mp.gamma(a)) if a else mpf(1)),
    "beta": real(lambda a, b: mp.beta(a, b)),
    "binom": real(lambda n, k: NAN if n < 0 and mp.isint(n) else mp.binomial(n, k)),
    "betaln": real(lambda a, b: gammaln(a) + gammaln(b) - gammaln(a + b)),
    "poch": real(lambda a, b: mp.rf(a, b)),
    "psi_difference": real(lambda a, b: mp.digamma(a + b) - mp.digamma(a)),
    "i0": real(lambda a: mp.besseli(0, a)),
    "i1": real(lambda a: mp.besseli(1, a)),
    "iv": real(lambda a, b: mp.besseli(a, b)),
    "kv": real(lambda a, b: mp.besselk(a, b)),
    "i0e": real(lambda a: mp.besseli(0, a) * exponential(-abs(a))),
    "i1e": real(lambda a: mp.besseli(1, a) * exponential(-abs(a))),
    "ive": real(lambda a, b: mp.besseli(a, b) * exponential(-abs(b))),
    "kve": real(lambda a, b: mp.besselk(a, b) * exponential(b)),
    "gammaln": real(gammaln),
    "psi": real(lambda a: mp.digamma(a) if a else -INF),  # (as SciPy has it)
    "sin": real(lambda a: NAN if abs(a) > WHOLE else mp.sin(a)),
    "cos": real(lambda a: NAN if abs(a) > WHOLE else mp.cos(a)),
    "tan": real(lambda a: NAN if abs(a) > WHOLE else mp.tan(a)),
    "arcsin": real(lambda a: mp.asin(a)),
    "arccos": real(lambda a: mp.acos(a)),
    "arctan": real(lambda a: mp.atan(a)),
    "arctan2": real(lambda a, b: mp.atan2(a, b)),
    "sinh": real(lambda a: mp.sinh(a) if abs(a) < 1 else (exponential(a) - exponential(-a)) / 2),
    "cosh": real(lambda a: (exponential(a) + exponential(-a)) / 2),
    "tanh": real(lambda a: mp.tanh(a) if abs(a) < 1e6 else mp.sign(a)),
    "sech2": real(lambda a: 4 * exponential(-2 * abs(a)) / (1 + exponential(-2 * abs(a))) ** 2),
    "logcosh": real(lambda a: abs(a) + log1p(exponential(-2 * abs(a))) - mp.ln2),
    "hypot": real(lambda a, b: mp.hypot(a, b)),
    "cbrt": real(lambda a: mp.sign(a) * mp.cbrt(abs(a))),
    "arcsinh": real(lambda a: mp.asinh(a)),
    "arccosh": real(lambda a: mp.acosh(a) if a >= 1 else NAN),
    "arctanh": real(lambda a: mp.atanh(a) if abs(a) < 1 else INF * a if abs(a) == 1 else NAN),
    "floor": real(lambda a: a if abs(a) > WHOLE else mp.floor(a)),
    "ceil": real(lambda a: a if abs(a) > WHOLE else mp.ceil(a)),
    "trunc": real(lambda a: a if abs(a) > WHOLE else mp.sign(a) * mp.floor(abs(a))),
    "round": real(lambda a: a if abs(a) > WHOLE else mp.nint(a)),
    "identity": lambda a: a,
    "second": lambda a, b: np.broadcast_arrays(a, b)[1],
    "switch": lambda c, a, b: np.where(truth_of(c), a, b),
    "clip": lambda x, a, b: SCALAR["minimum"](SCALAR["maximum"](x, a), b),
}
#: what takes long with very many digits
SLOW = frozenset(
    """erf erfc gammaln psi gamma gammasgn beta betaln poch psi_difference i0 i1 iv kv i0e i1e ive
    kve""".split()
)
#: results that are no floats
TESTS: dict[str, Any] = {
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "isnan": lambda a: a != a,
    "isinf": lambda a: abs(a) == INF,
}

#: what jumps at whole and half numbers
ROUNDING = frozenset("floor ceil trunc round sign".split())


def truth_of(a: Any) -> Any:
    """Return an array as booleans."""
    return np.asarray(a != 0, bool)


# --- ops on arrays --------------------------------------------------------------------------------


def _reduce(fn: Any, start: Any) -> Callable[[Any, Any, Any], Any]:
    def reduced(op: Any, x: Any, out: Any) -> Any:
        if np.dtype(getattr(op, "acc_dtype", None) or "float64").kind in "biu":
            raise NotKnown  # integers wrap
        axis = None if op.axis is None else tuple(op.axis)
        flat = _flat(x, axis)
        options: dict[str, Any] = {} if start is None else {"initial": start}
        found = np.frompyfunc(fn, 2, 1).reduce(flat, axis=-1, **options)
        return np.asarray(found, object).reshape(_kept(op, x))

    return reduced


def _flat(x: Any, axis: Any) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else tuple([a % x.ndim for a in axis])
    kept = [i for i in range(x.ndim) if i not in axes]
    shape = [x.shape[i] for i in kept]
    return x.transpose([*kept, *axes]).reshape([*shape, int(np.prod([x.shape[i] for i in axes]))])


def _kept(op: Any, x: Any) -> Any:
    return np.empty(x.shape).sum(axis=op.axis, keepdims=op.keepdims).shape


def _softmax(op: Any, x: Any, out: Any) -> Any:
    e = SCALAR["exp"](x)
    return SCALAR["true_div"](e, np.add.reduce(e, axis=op.axis, keepdims=True, initial=mpf(0)))


def _logsumexp(op: Any, x: Any, out: Any, keepdims: bool | None = None) -> Any:
    keepdims = op.keepdims if keepdims is None else keepdims
    e = SCALAR["exp"](x)
    add: Any = np.add
    return SCALAR["log"](add.reduce(e, axis=op.axis, keepdims=keepdims, initial=mpf(0)))


def _cumulated(op: Any, x: Any, out: Any) -> Any:
    return (np.add if op.mode == "add" else np.multiply).accumulate(x, axis=op.axis)


ARRAY: dict[type, Any] = {
    pt.Sum: _reduce(lambda a, b: a + b, mpf(0)),
    pt.Prod: _reduce(lambda a, b: a * b, mpf(1)),
    pt.Max: _reduce(extreme["maximum"], None),
    pt.Min: _reduce(extreme["minimum"], None),
    pt.Softmax: _softmax,
    pt.LogSumExp: _logsumexp,
    pt.ScaledExp: lambda op, x, out: SCALAR["exp"](x),  # which factor they have is left open
    pt.LogSoftmax: lambda op, x, out: x - _logsumexp(op, x, out, True),
    pt.CumOp: _cumulated,
}

WHOLE_NUMBER = np.frompyfunc(lambda v: mpf(int(v)), 1, 1)
NUMBERS = {
    "f": np.frompyfunc(lambda v: mpf(float(v)), 1, 1),
    "c": np.frompyfunc(lambda v: mpmath.mpc(complex(v)), 1, 1),
}


def exact(array: Any) -> Any:
    """Return an array as numbers with many digits."""
    array = np.asarray(array)
    if array.dtype == object:
        return array
    with np.errstate(all="ignore"):
        return np.asarray(NUMBERS.get(array.dtype.kind, WHOLE_NUMBER)(array), object)


def evaluate(
    outputs: Sequence[Variable],
    given: Mapping[Variable, Any],
    frozen: Mapping[Any, Any] | None = None,
    doubts: list[Apply] | None = None,
    rounding: Callable[[Apply, Sequence[Any], list[Any]], list[Any]] | None = None,
    pairs: bool = False,
) -> dict[Variable, Any]:
    """The values of variables: arrays of `mpf`, or of integers and booleans. Those without an exact
    meaning are left out. doubts: gets comparisons and roundings that hang by the last digit.
    rounding: what is taken for the results of a node, of its inputs and exact results. pairs: with
    complex numbers, too.
    """
    values: dict[Variable, Any] = {}
    for v, a in given.items():
        values[v] = exact(a) if v.type.kind in ("fc" if pairs else "f") else np.asarray(a)
    frozen = frozen or {}
    for node in toposort(list(outputs), list(given)):
        try:
            if all(v in frozen for v in node.outputs):
                results = [frozen[v] for v in node.outputs]
            else:
                inputs = [values[v] if v in values else constant(v) for v in node.inputs]
                if node in frozen:
                    inputs[0] = frozen[node]
                results = compute(node, inputs, pairs)
                if rounding is not None:
                    results = rounding(node, inputs, results)
        except NotKnown:
            continue
        if doubts is not None and _hangs(node, values):
            doubts.append(node)
        values.update(zip(node.outputs, results, strict=True))
    for v in outputs:
        if isinstance(v, Constant):
            values[v] = constant(v)
    return values


def _hangs(node: Apply, values: Mapping[Variable, Any]) -> bool:
    """Whether two sides of a comparison, or a number and the step where it is rounded, differ by
    less than what digits can tell.
    """
    name = str(getattr(node.op, "scalar_op", ""))
    if name in ("add", "sub") and len(node.inputs) == 2:
        return _cancels(node, values)
    if name == "isinf":
        return any(map(_overflows, values, values.values()))
    if not (name in ROUNDING or name == "switch" or (name in TESTS and len(node.inputs) == 2)):
        return False
    sides = [values[v] if v in values else constant(v) for v in node.inputs]
    if all(a.dtype != object for a in sides):
        return False
    if name == "switch":
        condition = node.inputs[0]
        return condition.type.kind == "f" and _vanishes(condition, sides[0])
    if name in TESTS:
        apart = exact(sides[0]) - exact(sides[1])
    else:
        whole = SCALAR["round"](2 * sides[0])  # half a step is where `round` jumps
        apart = 2 * sides[0] - whole
    return any(0 < abs(d) <= mpf(10) ** (20 - mp.dps) for d in np.ravel(apart) if d == d)


def _overflows(v: Variable, value: Any) -> bool:
    """Whether a number is larger than those of its dtype, and not infinite itself."""
    if v.type.kind != "f":
        return False
    largest = float(np.finfo(v.type.dtype).max)
    return any(largest < abs(x) < INF for x in np.ravel(value))


def _cancels(node: Apply, values: Mapping[Variable, Any]) -> bool:
    """Whether what is left of two numbers, or one of them beside the other, is less than what
    digits can tell.
    """
    sides = [values[v] if v in values else constant(v) for v in node.inputs]
    if any(a.dtype != object for a in sides):
        return False
    sides = list(np.broadcast_arrays(*sides))
    left = np.asarray(sides[0] + sides[1] if str(node.op) == "add" else sides[0] - sides[1])
    for parts in zip(*[np.ravel(np.abs(a)) for a in (*sides, left)], strict=True):
        size = (1 + max(parts)) * mpf(10) ** (20 - mp.dps) if all(p - p == 0 for p in parts) else 0
        if any(0 < p < size for p in parts):
            return True
    return False


def settled(node: Apply, inputs: Sequence[Any], results: list[Any]) -> list[Any]:
    """The results of a node; where numbers cancel up to what digits can tell, 0 is left."""
    if str(getattr(node.op, "scalar_op", "")) not in ("add", "sub") or results[0].dtype != object:
        return results
    if not isinstance(node.op, pt.Elemwise):
        return results
    sizes = sum(np.abs(exact(x)) for x in inputs) * mpf(10) ** (20 - mp.dps)
    return [np.where(np.abs(results[0]) < sizes, mpf(0), results[0])]


def _vanishes(v: Variable, value: Any) -> bool:
    """Whether a number is so small that floating point may take it for 0."""
    tiny = float(np.finfo(v.type.dtype).tiny)
    return any(0 < abs(x) < tiny for x in np.ravel(value))


def constant(v: Any) -> Any:
    """The value of a constant. Raises `NotKnown` for other variables."""
    if not isinstance(v, Constant):
        raise NotKnown
    return exact(v.data) if v.type.kind in "fc" else np.asarray(v.data)


def compute(node: Apply, inputs: Sequence[Any], pairs: bool = False) -> list[Any]:
    """The outputs of a node. pairs: with complex numbers, too. Raises `NotKnown`."""
    op, out = node.op, node.outputs[0]
    slow = mp.dps > 450 and str(getattr(op, "scalar_op", "")) in SLOW
    if slow or (is_complex(node) and not pairs):
        raise NotKnown
    try:
        if all(a.dtype != object for a in inputs) and out.type.kind in "biu":
            return REFERENCE.plain(node, inputs)
        if isinstance(op, pt.Elemwise):
            return [np.asarray(elementwise(op.scalar_op, inputs, out))]
        if isinstance(op, MOVING):
            return _moved(node, inputs)
        if isinstance(op, pt.MakeVector) and out.type.kind in "fc":
            return [np.array([exact(a).item() for a in inputs], object)]
        if isinstance(op, pt.Join):
            parts = [exact(a) for a in inputs] if out.type.kind in "fc" else inputs
            return [np.concatenate(parts, axis=op.axis)]
        if isinstance(op, pt.Dot | pt.MatMul):
            product = np.dot if isinstance(op, pt.Dot) else np.matmul
            return [np.asarray(product(exact(inputs[0]), exact(inputs[1])), object)]
        if type(op) in ARRAY and out.type.kind in "fc":
            return [np.asarray(ARRAY[type(op)](op, exact(inputs[0]), out), object)]
        if out.type.kind in "biu":
            return REFERENCE.plain(
                node, [_narrow(a, v) for a, v in zip(inputs, node.inputs, strict=True)]
            )
        if all(a.dtype != object for a in inputs):
            return [exact(a) for a in REFERENCE.plain(node, inputs)]
    except (ValueError, TypeError, OverflowError, mp.NoConvergence) as error:
        raise NotKnown from error
    raise NotKnown


def is_complex(node: Apply) -> bool:
    """Whether a node gives complex numbers or reads them, and not only their shape: these have no
    exact values here. Real ones as complex ones have, where they are compared.
    """
    name = str(getattr(node.op, "scalar_op", ""))
    if name in TESTS and all(v.type.kind != "c" or _is_real(v) for v in node.inputs):
        return False
    read = node.inputs[1:] if name == "second" else node.inputs
    gives = [v for v in node.outputs if not _is_real(v)]
    return any(v.type.kind == "c" for v in [*gives, *read])


def _is_real(v: Variable) -> bool:
    """Whether a complex variable is a real one in another dtype."""
    if v.owner is None or not isinstance(getattr(v.owner.op, "scalar_op", None), Cast):
        return False
    return v.owner.inputs[0].type.kind != "c"


def _narrow(a: Any, v: Any) -> Any:
    return a if a.dtype != object else a.astype(v.type.dtype)


def _moved(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    parts = [
        exact(a) if v.type.kind in "fc" else a for a, v in zip(inputs, node.inputs, strict=True)
    ]
    if isinstance(node.op, pt.IncSubtensor | pt.AdvancedIncSubtensor) and parts[0].dtype == object:
        parts[1] = exact(parts[1])
    node.op.perform(node, parts, cells)
    return [np.asarray(c[0]) for c in cells]


def elementwise(op: Any, inputs: Sequence[Any], out: Any) -> Any:
    """Return the values of a scalar op for arrays. Raises `NotKnown`."""
    name = str(op)
    if isinstance(op, Cast):
        (x,) = inputs
        if out.type.kind in "fc":
            return exact(x)
        if x.dtype != object:
            return x.astype(out.type.dtype)
        return x.astype("float64").astype(out.type.dtype)
    if isinstance(op, Removable):
        return np.frompyfunc(partial(removable, op), 1, 1)(exact(inputs[0]))
    if name in TESTS:
        return np.asarray(TESTS[name](*inputs), bool)
    if name == "switch":
        return SCALAR[name](inputs[0], *map(exact, inputs[1:]))
    if name == "second":
        return SCALAR[name](np.zeros(np.shape(inputs[0])), exact(inputs[1]))
    if name not in SCALAR or out.type.kind not in "fc":
        raise NotKnown
    if name == "pow":  # nothing to the power of 0 is NaN, and no power of 1
        x, y = map(exact, inputs)
        return np.where((y == 0) | (x == 1), mpf(1), SCALAR[name](x, y))
    return SCALAR[name](*map(exact, inputs))
