"""Parameters of functions: read directly from plain functions, because `inspect.signature` takes
ten times as long, and packs have hundreds of rules, facts and classes of ops in patterns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

NOTHING = inspect.Parameter.empty
STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def plain_parameters(fn: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names of the parameters of a plain function, if each may be passed by position or
    by name; None for anything else.
    """
    if type(fn) is not FunctionType or hasattr(fn, "__wrapped__") or hasattr(fn, "__signature__"):
        return None
    code = fn.__code__
    if code.co_flags & STARRED or code.co_posonlyargcount or code.co_kwonlyargcount:
        return None
    return code.co_varnames[: code.co_argcount]


def parameters_of(fn: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Return {parameter: (its annotation, its default)}; `NOTHING` for a missing one."""
    names = plain_parameters(fn)
    if names is None:
        found = inspect.signature(fn).parameters
        return {name: (p.annotation, p.default) for name, p in found.items()}
    said, defaults = fn.__annotations__, getattr(fn, "__defaults__", None) or ()
    known = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return {name: (said.get(name, NOTHING), known.get(name, NOTHING)) for name in names}


def arguments(fn: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return {parameter: its argument} for a call of a function, including defaults. Raises
    `TypeError`.
    """
    names = plain_parameters(fn)
    given = None if names is None else dict(zip(names, args))
    if given is None or len(args) > len(names or ()) or options.keys() & given.keys():
        return _bound(fn, args, options)
    given |= options
    for name, (_, default) in parameters_of(fn).items():
        if name not in given:
            if default is NOTHING:
                return _bound(fn, args, options)  # says what is missing
            given[name] = default
    return given if len(given) == len(names or ()) else _bound(fn, args, options)


def _bound(fn: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    bound = inspect.signature(fn).bind(*args, **options)
    bound.apply_defaults()
    return bound.arguments
