"""Traits of a linker's code for a node, which the plan may rely on before the code is written
(`Traits`).

The linker defines them by a `functools.singledispatch` function of the op and its node. The plan
calls such a function by classes (`ByClass`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from rewrite_engine.graph.node import Apply


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of a node's code. The defaults are valid for any code.

    fresh: each output is a new whole array that is not shared, so it may be overwritten later.
    into: the inputs whose memory the code can write output 0 into. keep: the code can write output
    0 into a given buffer. inline: nothing the code calls keeps a reference to an array. warns: it
    may set floating-point flags. permutes: the result is a view with the axes in this order, and
    the code can copy it (`NodePlan.copies`). elementwise: operands with different memory orders
    make it slow.
    """

    fresh: bool = False
    into: tuple[int, ...] = ()
    keep: bool = False
    inline: bool = False
    warns: bool = True
    permutes: tuple[int, ...] | None = None
    elementwise: bool = False


DEFAULT = Traits()
VIEW = Traits(inline=True, warns=False)
FRESH = Traits(fresh=True, inline=True)


@singledispatch
def nothing_known(op: Any, node: Apply) -> Traits:
    """Return the traits of a linker that declares nothing about its code."""
    return DEFAULT


class ByClass(dict[type, Callable[..., Any]]):
    """Implementations of a `singledispatch` function by the class of their first argument: for a
    pass over many nodes, because a dict is faster than the function.
    """

    def __init__(self, function: Any) -> None:
        self.find = function.dispatch

    def __missing__(self, cls: type) -> Callable[..., Any]:
        found: Callable[..., Any] = self.find(cls)
        self[cls] = found
        return found
