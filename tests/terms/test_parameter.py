"""What is read from a function itself is what `inspect.signature` says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import pytest

from rewrite_engine.terms.parameter import arguments, parameters_of, plain_parameters


def plain(a: int, b: Any, c: str = "c") -> None: ...


def bare() -> None: ...


def only_names(a: int, *, b: int = 2, c: int) -> None: ...


def only_places(a: int, /, b: int = 2) -> None: ...


def starred(a: int, *more: int, **named: int) -> None: ...


@wraps(plain)
def wrapped(*args: Any) -> None: ...


def signed(*args: Any) -> None: ...


signed.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]


class Method:
    def __init__(self, a: int, b: int = 2) -> None: ...

    def call(self, a: int, b: int = 2) -> None: ...


FUNCTIONS = [
    plain, bare, only_names, only_places, starred, wrapped, signed, partial(plain, 1), len,
    lambda x, y=1: x, Method.__init__, Method.call, Method(1).call, object.__init__,
]  # fmt: skip
by_function = pytest.mark.parametrize("fn", FUNCTIONS, ids=range(len(FUNCTIONS)))


@by_function
def test_parameters(fn: Callable[..., Any]) -> None:
    said = inspect.signature(fn).parameters
    assert parameters_of(fn) == {name: (p.annotation, p.default) for name, p in said.items()}
    names = plain_parameters(fn)
    kinds = {p.kind for p in said.values()} - {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert names is None or (names == tuple(said) and not kinds)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or says is wrong."""
    try:
        return call()
    except TypeError as error:
        return str(error)


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3, 4), {}),
    ((1,), {"b": 3}),
    ((1,), {"a": 3}),
    ((1,), {"c": 3}),
    ((), {"b": 3, "a": 1}),
    ((1,), {"none": 3}),
]


@by_function
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_arguments(fn: Callable[..., Any], call: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    args, options = call

    def said() -> Any:
        bound = inspect.signature(fn).bind(*args, **options)
        bound.apply_defaults()
        return bound.arguments

    assert outcome(lambda: arguments(fn, args, options)) == outcome(said)


def test_plain_functions_are_read_themselves() -> None:
    assert plain_parameters(plain) == ("a", "b", "c")
    assert plain_parameters(only_names) is None
