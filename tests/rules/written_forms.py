"""Formulas of numbers as textbooks and programs write them, and a measure of how well they are
computed: value and slopes against many digits, near 0, near 1, and far out.

`python -m tests.rules.written_forms [linker] [dtype] [text]` prints the forms with wrong points.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt

DIGITS = 2000
#: relative distance at which slopes are measured
STEP = mpf(10) ** -30
#: distance from 0 at which limits are taken
NEAR_ZERO = mpf(10) ** -320
RELATIVE_TOLERANCE = {"float64": 1e-9, "float32": 3e-5}

_SIZES = [
    1e-300, 1e-200, 1e-100, 1e-30, 1e-20, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 0.7, 0.999,
    1.0, 1.5, 3.0, 10.0, 30.0, 100.0, 300.0, 700.0, 1e3, 1e4, 1e8, 1e12, 1e20, 1e50, 1e150, 1e200,
    1e300,
]  # fmt: skip
_PAIRED = [-1e3, -40.0, -3.0, -0.5, -1e-5, 1e-12, 0.3, 0.999, 3.0, 40.0, 1e3, 1e10, 1e200]
_CLOSE = [1e-200, 1e-5, 0.3, 3.0, 40.0, 1e8]
ALL = [*[-x for x in reversed(_SIZES)], 0.0, *_SIZES]
POSITIVE = _SIZES
MODERATE = [x for x in _SIZES if 1e-3 <= x <= 1e12]
#: points of a formula, by the number of its variables
DOMAINS: dict[str, dict[int, list[tuple[float, ...]]]] = {
    "all": {
        1: [(x,) for x in ALL],
        2: [(x, y) for x in _PAIRED for y in _PAIRED]
        + [(x, x * (1 + d)) for x in _CLOSE for d in (1e-10, -1e-5)],
    },
    "positive": {
        1: [(x,) for x in POSITIVE],
        2: [(x, y) for x in _PAIRED for y in _PAIRED if min(x, y) > 0],
        3: [(x, y, 2.5) for x in _PAIRED for y in _PAIRED if min(x, y) > 0],
    },
    "moderate": {
        1: [(x,) for x in MODERATE],
        2: [(x, y) for x in MODERATE[::2] for y in (0.1, 0.5, 3.0, 50.0, 1e5)],
        3: [(x, y, z) for x in (0.1, 3.0, 200.0) for y in (0.5, 7.0, 1e4) for z in (0.3, 90.0)],
    },
}

#: lines of a name of points and a formula
FORMS: dict[str, str] = {
    "commonest": """
        all | x + softplus(-x)
        all | x - softplus(x)
        all | exp(softplus(x))
        all | expm1(softplus(x))
        all | log(exp(softplus(x)))
        all | softplus(x) - x
        all | 1 - 1 / (x + 1)
        all | 1 - 1 / (1 + x)
        all | 1 - x / (1 + x)
        all | 1 / (x + 1) - 1
        all | maximum(x, -x)
        all | minimum(x, -x)
        all | x * sign(x)
        all | where(x > 0, x, 0)
        all | where(x >= 0, x, -x)
        all | x - maximum(x, 0)
        all | maximum(x, minimum(x, 0))
        all | maximum(x, 0) + minimum(x, 0)
        all | x + x * (x - 1)
        all | x * (x + 1) - x
        all | 1 + (exp(x) - 2)
        all | tanh(x)
        all | 1 - tanh(x) ** 2
        all | 1 - tanh(x)
        all | 1 + tanh(x)
        all | log(cosh(x))
        all | log(1 - tanh(x) ** 2)
        all | log(sinh(x))
        all | 1 / cosh(x)
        all | 1 / cosh(x) ** 2
        all | sqrt(x) ** 2
        all | sqrt(x ** 2)
        all | sqrt(abs(x)) ** 2
        all | sqrt(x ** 2 + 1) ** 2
        all | exp(-x ** 2) * exp(x ** 2 + x) * y
        all | exp(-x ** 2) * (exp(x ** 2 + x) * y)
        all | y * exp(-x ** 2) * exp(x ** 2 + x)
        all | log(1 / (1 + exp(-x)))
        all | log(1 - 1 / (1 + exp(-x)))
        all | exp(x) / (1 + exp(x))
        all | exp(x) / (1 + exp(x)) ** 2
        all | log(1 + exp(x)) - log(1 + exp(-x))
        all | -log(1 - sigmoid(x))
        all | (1 + tanh(x / 2)) / 2
        all | x * log(1 + exp(x))
    """,
    "bases": """
        all | log2(exp(x))
        all | log10(exp(x))
        all | log(exp2(x))
        all | log2(exp2(x))
        all | log10(exp2(x))
        all | log2(2 ** x)
        all | log10(10 ** x)
        all | log(2 ** x)
        all | exp2(x) * exp2(y)
        all | exp2(x) * exp(y)
        all | exp2(x) / exp2(y)
        all | 2 ** x / (1 + 2 ** x)
        all | 10 ** x / (1 + 10 ** x)
        all | 1 / (1 + 10 ** (y - x))
        all | 1 / (1 + exp2(-x))
        all | log2(1 + x)
        all | log10(1 + x)
        all | log2(1 + exp2(x))
        all | log2(1 + 2 ** x)
        all | log10(1 + 10 ** x)
        all | log(1 + 2 ** x)
        all | log2(exp2(x) + exp2(y))
        all | log2(2 ** x + 2 ** y)
        all | log10(10 ** x + 10 ** y)
        all | exp2(x) - 1
        all | 2 ** x - 1
        positive | log(x ** y)
        positive | log(x ** y * y ** x)
        positive | log2(x ** y)
        positive | x ** y * x ** 2.5
        positive | x ** y / x ** (y - 1)
        positive | x ** y - 1
        positive | (x ** y - 1) / y
        all | exp2(log2(x))
        positive | 10 ** log10(x)
        positive | 2 ** log2(x)
        positive | exp(y * log(x))
        all | -log10(1 - exp(-x))
        all | 10 * log10(1 + 10 ** (x / 10))
        all | log2(1 - 2 ** -x)
        all | log(2) + log(cosh(x))
    """,
    "gamma and Bessel": """
        moderate | log(gamma(x))
        moderate | gamma(x + 1) / gamma(x)
        moderate | gamma(x + 0.5) / gamma(x)
        moderate | gamma(x) / gamma(x + 2)
        moderate | gamma(x) * gamma(y) / gamma(x + y)
        moderate | log(gamma(x) * gamma(y) / gamma(x + y))
        moderate | log(gamma(x + y) / (gamma(x) * gamma(y)))
        moderate | log(beta(x, y))
        moderate | log(gamma(x)) + log(gamma(y)) - log(gamma(x + y))
        moderate | log(gamma((x + 1) / 2) / (sqrt(x * 3.141592653589793) * gamma(x / 2)))
        moderate | gamma((x + 1) / 2) / (sqrt(x * 3.141592653589793) * gamma(x / 2))
        moderate | log(gamma(x + 1) / (gamma(y + 1) * gamma(x - y + 1)))
        moderate | gamma(x + y + 1) / (gamma(y + 1) * gamma(x + 1))
        moderate | y * log(x) - x - log(gamma(y + 1))
        moderate | exp(-x) * x ** y / gamma(y + 1)
        moderate | log(exp(-x) * x ** y / gamma(y + 1))
        moderate | log(y ** x * z ** (x - 1) * exp(-y * z) / gamma(x))
        moderate | y ** x * z ** (x - 1) * exp(-y * z) / gamma(x)
        moderate | 1 / gamma(x)
        moderate | log(1 / gamma(x))
        moderate | log(gamma(x) ** 2)
        moderate | log(x * gamma(x))
        moderate | log(gamma(x) / x)
        moderate | log(factorial(x))
        moderate | factorial(x) / factorial(x - 1)
        moderate | gammaln(x + 1) - log(x)
        moderate | gammaln(x) + log(x)
        moderate | log(poch(x, y))
        moderate | log(i0(x))
        moderate | log(iv(0, x))
        moderate | log(iv(1, x))
        moderate | log(i1(x))
        moderate | i1(x) / i0(x)
        moderate | iv(1, x) / iv(0, x)
        moderate | exp(x * cos(y)) / i0(x)
        moderate | exp(x * cos(y)) / (6.283185307179586 * i0(x))
        moderate | log(exp(x * cos(y)) / (6.283185307179586 * i0(x)))
        moderate | x * cos(y) - log(i0(x))
        moderate | i0(x) * exp(-x)
        moderate | log(kv(1, x))
        moderate | log(kv(0.5, x))
        moderate | kv(1, x) / kv(0, x)
        moderate | kv(1, x) * exp(x)
        all | log(erfc(x))
        all | exp(x ** 2) * erfc(x)
        all | log(0.5 * erfc(-x / sqrt(2.0)))
        all | exp(-x ** 2 / 2) / (0.5 * erfc(x / sqrt(2.0)))
        all | log(1 + erf(x))
        all | log(1 - erf(x))
    """,
    "quotients": """
        all | sin(x) / x
        all | (exp(x) - 1) / x
        all | expm1(x) / x
        all | log(1 + x) / x
        all | log1p(x) / x
        all | (1 - cos(x)) / x ** 2
        all | (1 - cos(x)) / x
        all | x / tanh(x)
        all | tanh(x) / x
        all | sinh(x) / x
        all | x / sinh(x)
        all | x / (exp(x) - 1)
        all | x / expm1(x)
        all | (exp(x) - 1 - x) / x ** 2
        all | (1 - exp(-x)) / x
        all | arctan(x) / x
        all | x / sin(x)
        all | tan(x) / x
        all | arcsin(x) / x
        all | arctanh(x) / x
        all | arcsinh(x) / x
        all | (x - sin(x)) / x ** 3
        all | 1 / tanh(x) - 1 / x
        all | where(eq(x, 0), 1.0, sin(x) / x)
        all | sin(2 * x) / x
        all | sin(x) / (2 * x)
        all | y * sin(x) / x
        all | x / (1 - exp(-x))
        all | log(sinh(x) / x)
        all | log(expm1(x) / x)
    """,
    "differences": """
        all | sqrt(x + 1) - sqrt(x)
        all | sqrt(x + 1) - 1
        all | 1 / x - 1 / (x + 1)
        all | 1 / (x + 1) - 1 / x
        all | 1 / sqrt(x) - 1 / sqrt(x + 1)
        all | log(x + 1) - log(x)
        all | log(x) - log(x + 1)
        all | log(1 + 1 / x)
        all | sqrt(x ** 2 + y ** 2)
        all | sqrt(x * x + y * y)
        all | sqrt(x ** 2 + 1)
        all | sqrt(1 + x ** 2) - 1
        all | 1 - sqrt(1 - x ** 2)
        all | sqrt(x ** 2 + 1) - x
        all | x - sqrt(x ** 2 - 1)
        all | log(x + sqrt(x ** 2 + 1))
        all | log(x + sqrt(1 + x * x))
        all | log(x + sqrt(x ** 2 - 1))
        all | 0.5 * log((1 + x) / (1 - x))
        all | log((1 + x) / (1 - x)) / 2
        all | 0.5 * (log(1 + x) - log(1 - x))
        all | log(x / (1 - x))
        all | log(x) - log(1 - x)
        all | log(x) - log1p(-x)
        all | -log(1 / x - 1)
        all | 1 - cos(x)
        all | cos(x) - 1
        all | exp(x) - exp(-x)
        all | (exp(x) - exp(-x)) / 2
        all | (exp(x) - 1) / (exp(x) + 1)
        all | (exp(x) - exp(-x)) / (exp(x) + exp(-x))
        all | log(1 - exp(-x))
        all | log(exp(x) - 1)
        all | exp(x) + exp(-x) - 2
        all | exp(x) - 2 + exp(-x)
        all | cosh(x) - 1
        all | exp(x) - exp(y)
        all | sin(x) - x
        all | tan(x) - sin(x)
        all | x - log(1 + x)
        all | (x + 1) ** 2 - x ** 2
        all | x ** 2 - y ** 2
        all | 1 - x ** 2
        all | 1 - sin(x) ** 2
        all | sqrt(1 - cos(x) ** 2)
        all | sin(x + y) - sin(x)
        all | arctan(x + 1) - arctan(x)
        all | 1 / (x - 1) - 2 / x + 1 / (x + 1)
        all | log((exp(x) - 1) / x)
        all | (-y + sqrt(y ** 2 - 4 * x)) / 2
        all | (-y - sqrt(y ** 2 - 4 * x)) / (2 * x)
        all | (1 + 1 / x) ** x
        all | 1 - exp(-x)
        all | exp(-x) - 1
        all | exp(2 * x) - 1
        all | (exp(2 * x) - 1) / (exp(x) - 1)
        all | log(1 - x) / log(1 + x)
        all | cbrt(x + 1) - cbrt(x)
        all | 1 / (sqrt(x ** 2 + y ** 2))
        all | x / sqrt(x ** 2 + y ** 2)
        all | x / sqrt(x ** 2 + 1)
        all | (x / (1 + x)) ** 2
        all | 1 / (1 + x ** 2)
        all | log(1 + x ** 2)
        all | log(1 + x ** 2 / y)
        all | -log(x) + log(x + y)
    """,
}  # fmt: skip


class Form(NamedTuple):
    """A formula, and the points at which it is measured."""

    pack: str
    points: str
    text: str

    @property
    def variables(self) -> str:
        """Return the names of its variables."""
        names = compile(self.text, "", "eval").co_names
        return "".join([v for v in "xyz" if v in names])

    def value(self, names: dict[str, Any], *xs: Any) -> Any:
        """Return its value with the functions of a namespace."""
        return eval(self.text, names | dict(zip(self.variables, xs, strict=True)))


def forms() -> list[Form]:
    """Return all forms."""
    return [
        Form(pack, *[part.strip() for part in line.split("|")])
        for pack, lines in FORMS.items()
        for line in lines.strip().splitlines()
    ]


# --- true values ------------------------------------------------------------------------------


EXACT: dict[str, Any] = {
    name: getattr(mp, name)
    for name in (
        "exp", "expm1", "log", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "gamma", "factorial", "beta", "erf", "erfc", "sign",
    )
} | {
    "abs": abs, "exp2": lambda x: mpf(2) ** x, "log2": lambda x: mp.log(x, 2), "log10": mp.log10,
    "expm1": lambda x: mp.exp(x) - 1, "log1p": lambda x: mp.log(1 + x),
    "arctan": mp.atan, "arcsin": mp.asin, "arctanh": mp.atanh, "arcsinh": mp.asinh,
    "arccosh": mp.acosh, "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log(1 + mp.exp(x)), "maximum": max, "minimum": min,
    "where": lambda c, x, y: mpf(x) if c else mpf(y), "gammaln": mp.loggamma, "poch": mp.rf,
    "iv": mp.besseli, "kv": mp.besselk, "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x), "sqr": lambda x: x * x,
    "eq": lambda x, y: x == y,
}  # fmt: skip
GRAPH: dict[str, Any] = {name: getattr(pt, name) for name in EXACT if hasattr(pt, name)}
GRAPH["where"] = pt.switch


def number_or_none(form: Form, xs: list[Any]) -> Any:
    """Return the true value of a form; None if it is not a real number."""
    try:
        found = mpf(form.value(EXACT, *xs))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, mp.NoConvergence):
        return None
    return found if mp.isfinite(found) else None


class Truth(NamedTuple):
    """Value, slopes, and by how much a unit in the last place of the inputs changes each slope."""

    value: Any
    slopes: list[Any]
    bends: list[Any]


def truth(form: Form, point: tuple[float, ...]) -> Truth | None:
    """Return what is true at a point; None where the form has no value or no slopes."""
    xs = [mpf(x) for x in point]
    if any(x == 0 for x in xs):
        return limit(form) if len(xs) == 1 else None
    value, slopes, bends = number_or_none(form, xs), [], []
    least = mpf(10) ** (60 - mp.dps) * abs(value or 0)  # smaller differences have no digits
    for i, x in enumerate(xs):
        h = min(abs(x), 1) * STEP
        up, down = [number_or_none(form, [*xs[:i], x + s * h, *xs[i + 1 :]]) for s in (1, -1)]
        if value is None or up is None or down is None:
            return None
        right, left = (up - value) / h, (value - down) / h
        if abs(right - left) > mpf(10) ** -9 * max(abs(right), abs(left)):
            return None  # a kink
        if abs(up - down) < least:
            return None
        slopes.append((up - down) / (2 * h))
        bends.append(abs(x * (right - left) / h))
        for j, y in enumerate(xs):
            if j != i:  # in another variable, by a relative step
                near = [*xs[:j], y * (1 + STEP), *xs[j + 1 :]]
                pair = [
                    number_or_none(form, [*near[:i], x + s * h, *near[i + 1 :]]) for s in (1, -1)
                ]
                if None not in pair:
                    bends[-1] += abs((pair[0] - pair[1]) / (2 * h) - slopes[-1]) / STEP
    return Truth(value, slopes, bends)


def limit(form: Form) -> Truth | None:
    """Return value and slope at 0 if both sides agree."""
    e = NEAR_ZERO
    found = [number_or_none(form, [s * e]) for s in (-2, -1, 1, 2)]
    if any(v is None for v in found):
        return None
    a, b, c, d = found
    left, right = (b - a) / e, (d - c) / e
    if abs(b - c) > mpf(10) ** -200 or abs(left - right) > mpf(10) ** -200 * max(1, abs(left)):
        return None
    return Truth((b + c) / 2, [right], [mpf(0)])


# --- measuring --------------------------------------------------------------------------------


def is_right(got: float, wanted: Any, slack: Any, dtype: str) -> bool:
    """Return whether a number is the true one, up to rounding, or to the range of the dtype."""
    info = np.finfo(dtype)
    if abs(wanted) > mpf(float(info.max)) * mpf("0.99999"):
        return got == got and abs(got) > 0.99 * float(info.max) and (got > 0) == (wanted > 0)
    if not np.isfinite(got):
        return False
    off = abs(mpf(float(got)) - wanted)
    return bool(off <= RELATIVE_TOLERANCE[dtype] * abs(wanted) + slack + 8 * mpf(float(info.tiny)))


def compiled(form: Form, dtype: str, linker: str) -> Any:
    """Return a function of value and slopes."""
    xs = [pt.vector(name, dtype=dtype) for name in form.variables]
    value = form.value(GRAPH, *xs)
    return rw.function(
        xs, [value, *rw.grad(value.sum(), xs)], mode=rw.Mode(linker=linker),
        on_unused_input="ignore",
    )  # fmt: skip


def measure(form: Form, dtype: str = "float64", linker: str = "vm", every: int = 1) -> list[str]:
    """Return the wrong points, of some of them: what was computed, and what is true."""
    points = np.array(DOMAINS[form.points][len(form.variables)][::every])
    with np.errstate(all="ignore"):
        narrow = points.astype(dtype)
    points = narrow[np.isfinite(narrow).all(axis=1)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = compiled(form, dtype, linker)(*points.T.copy())
    return list(_wrong(form, points, found, dtype))


_truths: dict[tuple[Form, tuple[float, ...]], Truth | None] = {}


def truth_at(form: Form, point: tuple[float, ...]) -> Truth | None:
    """Return what is true at a point, computed once."""
    key = form, point
    if key not in _truths:
        digits = DIGITS if form.pack != "gamma and Bessel" or "erf" in form.text else 160
        with mp.workdps(digits):
            _truths[key] = truth(form, point)
    return _truths[key]


def _wrong(form: Form, points: Any, found: Any, dtype: str) -> Iterator[str]:
    eps = mpf(float(np.finfo(dtype).eps))
    for i, point in enumerate(points):
        true = truth_at(form, tuple(map(float, point)))
        if true is None:
            continue
        at = ", ".join([f"{float(v):.6g}" for v in point])
        xs = [abs(mpf(float(v))) for v in point]
        slack = 4 * eps * sum(x * abs(s) for x, s in zip(xs, true.slopes, strict=True))
        rows = [("", true.value, slack, found[0][i])]
        for name, s, b, got in zip(form.variables, true.slopes, true.bends, found[1:], strict=True):
            rows.append((f"d{name} ", s, 8 * eps * (b + abs(s)), got[i]))
        for what, wanted, near, got in rows:
            if not is_right(float(got), wanted, near, dtype):
                yield f"{what}at {at}: {float(got):.9g}, not {mpmath.nstr(wanted, 9)}"


def report(linker: str = "vm", dtype: str = "float64", only: str = "") -> Iterator[str]:
    """Yield the forms with wrong points, and how many of each pack are right."""
    right: dict[str, list[bool]] = {}
    for form in forms():
        if only in form.text or only in form.pack:
            wrong = measure(form, dtype, linker)
            right.setdefault(form.pack, []).append(not wrong)
            if wrong:
                yield f"{len(wrong):3} {form.text:45} {'; '.join(wrong[:3])[:150]}"
    for pack, found in right.items():
        yield f"{pack}: {sum(found)} of {len(found)}"
    yield f"{sum(map(sum, right.values()))} of {sum(map(len, right.values()))}"


if __name__ == "__main__":
    for line in report(*sys.argv[1:]):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
