"""Converters of the table: what makes a function of ours one with the arguments, or the results, of
another library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeAlias

Converter: TypeAlias = Callable[[Callable[..., Any]], Any]


def given(*arguments: Any, **options: Any) -> Converter:
    """Return a converter to a function that passes these arguments."""
    return lambda function: partial(function, *arguments, **options)


def called(*arguments: Any) -> Converter:
    """Return a converter to the result for these arguments."""
    return lambda function: function(*arguments)


def listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with several results as a list."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        found = function(*arguments, **options)
        return list(found) if isinstance(found, tuple) else found

    return call


def one_or_several(plural: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a single result in place of a sequence of one."""

    @wraps(plural)
    def construct(*names: Any, **options: Any) -> Any:
        found = plural(*names, **options)
        return found[0] if len(found) == 1 else found

    return construct
