"""Values and slopes of forms of special functions, compared with numbers of many digits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from mpmath import mp

from benchmarks.forms.exact import exact, namespace, with_digits
from benchmarks.forms.form import Form, Values

MAX_ERROR = 1e-10  # relative
TINIEST = 1e-300  # smaller numbers may underflow
STEP = 200  # digits of a point that a step leaves alone, for slopes
NEAR_STEP = 100  # digits after the point of what is added where a form is undefined: its limit
TIMED_POINTS = 10_000


def true_values(form: Form, values: Values) -> Any:
    """Return the exact value at exact points; where there is none, the limit from the right."""
    with np.errstate(all="ignore"):
        try:
            found = form.written(namespace, *values)
        except ZeroDivisionError:
            found = form.written(namespace, *[v + mp.mpf(10) ** -NEAR_STEP for v in values])
    return found


def true_slopes(form: Form, values: Values, weights: Any) -> list[Any]:
    """Return the exact slopes of a weighted sum of results in each argument, by differences."""
    points = [exact(v) for v in values]
    slopes = []
    for k, x in enumerate(points):
        slope = x * mp.mpf(0)
        for column in range(x.shape[1]) if x.ndim == 2 else [slice(None)]:
            at = (slice(None), column) if x.ndim == 2 else column
            low, high = x.copy(), x.copy()
            step = np.where(x[at] == 0, 1, np.abs(x[at])) * mp.mpf(10) ** -STEP
            low[at], high[at] = low[at] - step, high[at] + step
            pair = [true_values(form, (*points[:k], p, *points[k + 1 :])) for p in (low, high)]
            change = (pair[1] - pair[0]) * exact(weights)
            slope[at] = (change.sum(axis=1) if change.ndim == 2 else change) / (2 * step)
        slopes.append(slope)
    return slopes


def weights_of(values: Values, result: Any) -> Any:
    """Return the weights with which results are summed: those of a row differ, as the sum of some
    rows is constant.
    """
    return np.linspace(0.5, 1.5, values[0].shape[1]) if np.ndim(result) == 2 else np.array(1.0)


def error(found: Any, right: Any) -> float:
    """Return the largest relative error; infinities and numbers that underflow must agree."""
    found = np.broadcast_to(np.asarray(found, "float64"), np.shape(right)).ravel()
    return max([_error(float(f), r) for f, r in zip(found, np.ravel(right), strict=True)])


def _error(found: float, right: Any) -> float:
    if found != found:
        return 0.0 if right != right else np.inf
    if abs(found) == np.inf or abs(float(right)) == np.inf:
        return 0.0 if found == float(right) else np.inf
    if abs(right) < TINIEST:
        return 0.0 if abs(found) <= 2 * TINIEST else np.inf
    return float(abs((mp.mpf(found) - right) / right))


def truths(form: Form) -> dict[str, tuple[Values, Any, list[Any], Any]]:
    """Return for each regime the points, true values, true slopes, and weights of the sum."""
    found = {}
    with with_digits():
        for name, values in form.regimes().items():
            value = true_values(form, tuple(exact(v) for v in values))
            weights = weights_of(values, value)
            found[name] = values, value, true_slopes(form, values, weights), weights
    return found


def compiled(form: Form, library: str, mode: Any) -> tuple[Any, Any]:
    """Return a function of the value, and one of the slopes, as a library makes them."""
    lib, pt = import_module(library), import_module(f"{library}.tensor")
    points = next(iter(form.regimes().values()))
    variables = [
        pt.tensor(name, dtype="float64", shape=(None,) * v.ndim)
        for name, v in zip(form.arguments, points, strict=True)
    ]
    out = form.written(pt, *variables)
    w = pt.tensor("w", dtype="float64", shape=(None,) if out.ndim == 2 else ())
    slopes = lib.grad((out * w).sum(), variables)
    options = {"mode": mode or None, "on_unused_input": "ignore"}
    return lib.function(variables, out, **options), lib.function([*variables, w], slopes, **options)


def errors_of(form: Form, library: str, mode: Any) -> dict[str, float]:
    """Return the largest errors of the value and of the slopes in each regime."""
    value, slope = compiled(form, library, mode)
    return _errors(form, value, slope)


def _errors(form: Form, value: Any, slope: Any) -> dict[str, float]:
    errors = {}
    with with_digits():
        for name, (points, values, slopes, weights) in truths(form).items():
            pairs = zip(slope(*points, weights), slopes, strict=True)
            errors[f"{name} value"] = error(value(*points), values)
            errors[f"{name} slope"] = max([error(found, right) for found, right in pairs])
    return errors


def figures(form: Form, library: str, mode: Any) -> dict[str, Any]:
    """Return what is measured of a form: its errors, and times."""
    value, slope = compiled(form, library, mode)
    errors = _errors(form, value, slope)
    wrong = [part for part, e in errors.items() if not e <= MAX_ERROR]
    line = {"right": not wrong, "wrong": wrong, "error": max(errors.values()), "errors": errors}
    return line | _times(form, value)


def _times(form: Form, value: Any) -> dict[str, Any]:
    """Return the least seconds of the value at moderate points, repeated."""
    from benchmarks.forms.run import least_seconds

    count = TIMED_POINTS // len(form.near[0])
    points = [np.repeat(v, count, axis=0) for v in form.regimes()["near"]]
    seconds, by_hand = least_seconds(lambda: value(*points), lambda: form.by_hand(*points))
    return {"seconds": seconds, "by_hand": by_hand}


def measured(library: str, mode: str, names: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the figures of each form of the table."""
    from benchmarks.forms.run import forms

    for form in forms("special", names):
        line: dict[str, Any] = {"name": form.name, "rows": "near, far"}
        try:
            line |= figures(form, library, mode)
        except Exception as error:  # (a library that lacks something has no figure)
            line |= {"right": False, "failure": f"{type(error).__name__}: {error}"[:200]}
        yield line
