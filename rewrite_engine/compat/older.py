"""Functions and classes of Theano for which PyTensor's take other arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from rewrite_engine.compile import watching
from rewrite_engine.compile.inputs import In
from rewrite_engine.compile.mode import DEFAULT
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.tensor.special import xlogy

__all__ = ["MonitorMode", "Param", "local_optimizer", "xlogx"]


def without_graph(function: Callable[..., Any] | None, wanted: int) -> Any:
    """Return a function whose first argument is a graph, from one that may omit it: the function
    takes `wanted` arguments, or one less.
    """
    if function is None:
        return None
    try:
        inspect.signature(function).bind(*[None] * wanted)
    except TypeError:
        made = update_wrapper(lambda fgraph, *args: function(*args), function)
        del made.__dict__["__wrapped__"]  # (its arguments are others)
        return made
    except ValueError:  # it does not tell
        pass
    return function


def MonitorMode(pre_func: Any = None, post_func: Any = None, optimizer: Any = DEFAULT) -> Any:
    """Return a `MonitorMode` whose functions may take `(i, node, fn)`."""
    before, after = without_graph(pre_func, 4), without_graph(post_func, 4)
    return watching.MonitorMode(before, after, optimizer)


def local_optimizer(tracks: Any, inplace: bool = False, requirements: Any = ()) -> Any:
    """Make a `node_rewriter` from a function that may take `(node)` alone."""
    made = node_rewriter(tracks, inplace=inplace, requirements=requirements)
    return lambda function: made(without_graph(function, 2))


def Param(
    variable: Any, default: Any = None, name: str | None = None, mutable: bool = False, **given: Any
) -> In:
    """Return an `In` with a `default`."""
    return In(variable, name=name, value=default, mutable=mutable, **given)


def xlogx(x: Any) -> Any:
    """Return `x * log(x)`, and 0 where x is 0."""
    return xlogy(x, x)
