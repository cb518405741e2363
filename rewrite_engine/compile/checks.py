"""`function(..., check=True)`: check declarations (`assume`) against the values of each call,
before the function runs. Without the option, functions contain no trace of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from rewrite_engine.compile.inputs import In, Out
from rewrite_engine.compile.request import Request
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.inner import HasInnerGraph, inner_ops, unfolded
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.terms.print import brief


class Checks:
    """Checks of the declarations in a user's graph. Each has the op, the declared variable in
    words, its type and the user's line; a second function of the same inputs computes the declared
    variables, as they were built.
    """

    def __init__(self, declared: Sequence[tuple[Assume, str, Any, Any]], values: Any) -> None:
        self.declared = declared
        self.values = values

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Raise `AssumptionError` for the first value that violates a declaration."""
        values = self.values(*args, **kwargs)
        for (op, what, type_, where), value in zip(self.declared, values, strict=True):
            op.check(what, type_, where, value)

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that checks its arguments, then calls `call`."""

        @wraps(call)
        def checked(*args: Any, **kwargs: Any) -> Any:
            self(*args, **kwargs)
            return call(*args, **kwargs)

        return checked

    def copy(self, swap: Mapping[Any, Any]) -> Checks:
        """Return checks of the same declarations in which other shared variables replace some."""
        own = {v.container for v in self.values.get_shared()}
        mine = {old: new for old, new in swap.items() if getattr(old, "container", None) in own}
        return Checks(self.declared, self.values.copy(swap=mine))


def _declaring(expressions: Sequence[Any]) -> set[Any]:
    """Return the ops in a graph whose inner graphs contain declarations."""
    ops = {node.op for node in toposort(expressions)}
    found: set[Any] = set()
    for op in inner_ops([op for op in ops if isinstance(op, HasInnerGraph)]):
        inside = {node.op for node in op.fgraph.apply_nodes}
        if inside & found or any([isinstance(one, Assume) for one in inside]):
            found.add(op)
    return found


def checks_of(request: Request, make: Callable[..., Any], **options: Any) -> Checks | None:
    """Return the checks for the arguments of `function`; None if nothing is declared.

    make: `function` itself. options: options of the function that computes the checked values.
    """
    expressions = unfolded(request.expressions, _declaring(request.expressions))
    marks = [node for node in toposort(expressions) if isinstance(node.op, Assume)]
    if not marks:
        return None
    inputs = [
        In(s.variable, s.name, s.value, strict=s.strict, allow_downcast=s.allow_downcast,
           borrow=True, autoname=False, shared=s.shared)
        for s in request.inputs
    ]  # fmt: skip
    marked = [mark.inputs[0] for mark in marks]
    values = make(
        inputs,
        [Out(v, borrow=True) for v in marked],
        no_default_updates=True,
        on_unused_input="ignore",
        check=False,
        profile=False,
        **options,
    )
    pairs = zip(marks, marked, strict=True)
    return Checks([(mark.op, brief(v), v.type, mark.where()) for mark, v in pairs], values)
