"""NumPy's functions applied to variables build graphs: `np.exp(x)` is `pt.exp(x)`, `np.sum(x,
axis=0)` is `pt.sum(x, axis=0)`.

This uses `__array_ufunc__` and `__array_function__` (NEP 13 and 18). Functions, including SciPy's
ufuncs, are looked up by name in `rewrite_engine.tensor` (`pt` below), and arguments by their names.
A function without a counterpart raises an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import NotConstantError, OptionError
from rewrite_engine.graph.origin import located

#: names of NumPy's that are others here
_NAMES = {
    "amax": "max", "amin": "min", "around": "round", "fix": "trunc", "copy": "identity",
    "cumulative_sum": "cumsum", "cumulative_prod": "cumprod", "astype": "cast",
}  # fmt: skip
#: functions of `np.linalg` that are NumPy's own
_PLAIN = {"cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"}
#: reductions that may leave out elements (`where=`), and what then stands for those
_NEUTRAL = {"sum": 0, "prod": 1, "any": 0, "all": 1, "max": None, "min": None}
#: how the result of a reduction starts from `initial=`
_FIRST = {"sum": "add", "prod": "mul"}
#: functions whose arguments mean something else here, and what to write
_UNLIKE = {
    "atleast_3d": "x.dimshuffle('x', 0, 'x'), x[:, :, None]; pt.atleast_3d adds them on the left",
    "rfft": "pt.fft.rfft(x), with real and imaginary parts along a last dimension",
    "irfft": "pt.fft.irfft(x), with real and imaginary parts along a last dimension",
    "split": "pt.split(x, sizes, len(sizes), axis)",
    "copyto": "x.set(y), pt.switch(where, y, x)",
    "putmask": "pt.switch(mask, values, x)",
    "place": "x[mask].set(values)",
    "put": "x[indices].set(values)",
    "fill_diagonal": "pt.fill_diagonal(x, value), which leaves x unchanged",
}
#: functions that put variables into arrays of objects, as they do where a library says nothing of
#: them: `rewrite_engine.compat` fills it
AS_OBJECTS: set[str] = set()
#: what a ufunc does along an axis, by the names of its methods
_ALONG = {
    "reduce": {
        "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
        "logical_and": "all", "logical_or": "any",
    },
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
#: what a ufunc's options are where nothing is asked for
_USUAL = {"out": None, "where": True, "casting": "same_kind", "order": "K", "subok": True}


def call_ufunc(pt: Any, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Any) -> Any:
    """Return the graph of a call of a ufunc. Raise `OptionError` for `out=`, `where=`, `dtype=`,
    ...; `NotConstantError` for a ufunc without a counterpart.
    """
    name = f"np.{ufunc.__name__}" + f".{method}" * (method != "__call__")
    options = {k: v for k, v in options.items() if not _is_usual(v, _USUAL.get(k, options))}
    if "out" in options:
        raise OptionError(located(f"{name}: cannot write to a variable, nor to an array `out`; "
                                  "use `a = a + x`, which creates a new one"))  # fmt: skip
    if method in _ALONG:
        ours = _ALONG[method].get(ufunc.__name__, "")
        found = _find(pt, ours, name)
        given = dict(enumerate(inputs)) | {"axis": 0} | options
        start = _all_of(pt, name, ours, 0, given)
        args = [given.pop(i) for i in range(len(inputs))]
        return start(_call(name, found, args, given))
    if method not in ("__call__", "outer"):
        raise NotConstantError(
            located(
                f"{name} does not take variables: use `x[i].inc(y)`, or a reduction along an axis"
            )
        )
    found = _find(pt, ufunc.__name__, name)
    if options:
        raise OptionError(located(f"{name}: `{next(iter(options))}=` is not supported; use "
                                  "`x.astype(dtype)`, `pt.switch(where, ...)`"))  # fmt: skip
    if method == "outer":
        x, y = map(pt.as_tensor_variable, inputs)
        inputs = [x.dimshuffle(*range(x.type.ndim), *["x"] * y.type.ndim), y]
    return found(*inputs)


def call_function(pt: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the graph of a call of another NumPy function. Raise `OptionError` for an argument
    without a counterpart, `NotConstantError` for a function without one.
    """
    name = f"{func.__module__.replace('numpy', 'np', 1)}.{func.__name__}"
    if func.__name__ == "ndim":
        return args[0].type.ndim
    if func.__name__ in AS_OBJECTS:
        return func(*map(as_object, args))
    if func.__name__ == "clip":
        return _clip(pt, *args, **kwargs)
    home = pt.linalg if func.__module__ == "numpy.linalg" and func.__name__ not in _PLAIN else pt
    found = _find(home, func.__name__, name)
    signature = inspect.signature(func)
    if any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        return _call(name, found, args, kwargs)
    bound = signature.bind(*args, **kwargs)
    usual = {k: p.default for k, p in signature.parameters.items()}
    given = {k: v for k, v in bound.arguments.items() if not _is_usual(v, usual[k])}
    for p in signature.parameters.values():
        if p.kind is p.VAR_KEYWORD:
            given |= given.pop(p.name, {})
    start = _all_of(pt, name, _NAMES.get(func.__name__, func.__name__), next(iter(usual)), given)
    return start(_by_name(name, found, given, usual))


def _all_of(pt: Any, name: str, ours: str, first: Any, given: dict[Any, Any]) -> Any:
    """Remove `where=` and `initial=` of a reduction from its arguments; the first is the array.

    Returns the function that computes the final result. Raises `OptionError` if `initial` is
    missing.
    """
    if ours not in _NEUTRAL:
        return lambda found: found
    if "where" in given:
        neutral = given.get("initial") if _NEUTRAL[ours] is None else _NEUTRAL[ours]
        if neutral is None:
            raise OptionError(located(f"{name}: `where=` may select nothing: pass `initial=`, too"))
        x = pt.as_tensor_variable(given[first])
        given[first] = pt.switch(given.pop("where"), x, pt.cast(neutral, x.dtype))
    if ours not in _FIRST or given.get("initial") is None:
        return lambda found: found
    initial = given.pop("initial")
    return lambda found: getattr(pt, _FIRST[ours])(found, pt.cast(initial, found.dtype))


def _find(pt: Any, name: str, asked: str) -> Callable[..., Any]:
    """Return the function of this library."""
    found = None
    if name not in _UNLIKE:
        found = getattr(pt, _NAMES.get(name, name), None)
    if not callable(found):
        hint = _UNLIKE.get(name, "an op of your own (`as_op`) that calls the NumPy function")
        raise NotConstantError(located(f"{asked} does not take variables; use: {hint}"))
    return found  # type: ignore[no-any-return]


def _is_usual(value: Any, default: Any) -> bool:
    """Return whether an argument has the value of its default."""
    return value is default or (type(value) in (bool, int, str) and bool(value == default))


def _by_name(name: str, found: Any, given: dict[str, Any], usual: dict[str, Any]) -> Any:
    """Call a function of this library with arguments under NumPy's names.

    usual: {name: default}. An argument without a default may have another name here at the same
    position.
    """
    if not inspect.isfunction(found):  # an elementwise op
        return _call(name, found, list(given.values()), {})
    ours = inspect.signature(found).parameters
    named: dict[str, Any] = {}
    for key, value in given.items():
        if key in usual and key not in ours:
            place = list(usual).index(key)
            other = [*ours, *usual][place]
            if usual[key] not in (None, inspect.Parameter.empty) or other in usual:
                takes = f"pt.{found.__name__} takes {', '.join(ours)}"
                raise OptionError(located(f"{name}: `{key}=` is not supported; {takes}"))
            key = other
        named[key] = value
    first = [k for k, p in ours.items() if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)]
    return _call(name, found, [named.pop(k) for k in first if k in named], named)


def _call(name: str, found: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if inspect.isfunction(found):
        try:
            inspect.signature(found).bind(*args, **kwargs)
        except TypeError as error:
            raise OptionError(located(f"{name}: {error}")) from error
    return found(*args, **kwargs)


def as_object(x: Any) -> Any:
    """Return a 0-d object array that contains x."""
    held = np.empty((), object)
    held[()] = x
    return held


def _clip(
    pt: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **ends: Any
) -> Any:
    low, high = ends.pop("min", a_min), ends.pop("max", a_max)
    if out is not None or ends:
        raise OptionError(located(f"np.clip: `{next(iter(ends), 'out')}=` is not supported"))
    if low is None:
        return pt.minimum(a, high)
    return pt.maximum(a, low) if high is None else pt.clip(a, low, high)
