"""`Request`: the arguments of `function`, read and checked.

Order: read outputs and updates, substitute givens, collect shared variables (with their default
updates), then check the inputs. Error messages therefore refer to the user's own graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.compile.inputs import In, Out, as_in, as_out
from rewrite_engine.compile.shared import SharedVariable, checked_update
from rewrite_engine.config import config
from rewrite_engine.errors import (
    DuplicateInputError,
    ForeignObjectError,
    InputError,
    MissingInputError,
    NullTypeGradError,
    UnusedInputError,
    describe,
    source_line,
)
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.null import is_null
from rewrite_engine.graph.replace import substituted
from rewrite_engine.graph.traverse import ancestors, toposort

_HOW = ("raise", "warn", "ignore")


class UnusedInputWarning(UserWarning):
    """Warning about an unused input, if `on_unused_input` is "warn"."""


@dataclass(slots=True)
class Request:
    """Graph of a function before it is copied and rewritten.

    results, packing: the outputs and the structure they are returned in. updates: {shared variable
    or `In`: new value}. shared: all shared variables that are read or updated. reached: all
    variables from the expressions down to the inputs, in the order of the walk.
    """

    inputs: list[In]
    outputs: list[Out]
    packing: str | tuple[Any, ...]
    results: list[Variable] = field(default_factory=list)
    updates: dict[Any, Variable] = field(default_factory=dict)
    shared: list[SharedVariable] = field(default_factory=list)
    reached: dict[Variable, None] = field(default_factory=dict)

    @property
    def expressions(self) -> list[Variable]:
        """Expressions to compute: results, then new states."""
        return self.results + list(self.updates.values())


def read(
    inputs: Any,
    outputs: Any,
    updates: Any,
    givens: Any,
    no_default_updates: bool | Collection[Any],
    rebuild_strict: bool,
) -> Request:
    """Read the arguments of `function`. The errors are those of `function`.

    The caller checks the result by `check_unused`, then by `check_roots`, so that an input given in
    the place of another is named first.
    """
    request = Request(_read_inputs(inputs), *_read_outputs(outputs))
    request.results = [out.variable for out in request.outputs]
    request.updates = _read_updates(updates)
    for spec in request.inputs:
        if spec.update is not None:
            request.updates[spec] = spec.update
    replaced = dict(givens or ())
    for old in replaced:
        if not isinstance(old, Variable):
            raise ForeignObjectError(f"givens: only variables can be replaced, not {describe(old)}")
    _substitute(request, replaced, rebuild_strict)
    _collect_shared(request, replaced, no_default_updates, rebuild_strict)
    return request


def _read_inputs(inputs: Any) -> list[In]:
    if inputs is None or not isinstance(inputs, list | tuple):
        raise ForeignObjectError(
            f"the inputs must be a list of variables, not {describe(inputs)}: function([x], …)"
        )
    specs = [as_in(x) for x in inputs]
    seen: dict[Variable, int] = {}
    for i, spec in enumerate(specs):
        if spec.variable in seen:
            raise DuplicateInputError(
                f"{describe(spec.variable)} is an input twice: at {seen[spec.variable]} and {i}"
            )
        seen[spec.variable] = i
    return specs


def _read_outputs(outputs: Any) -> tuple[list[Out], str | tuple[Any, ...]]:
    """Return the outputs and the structure they are returned in."""
    if outputs is None:
        return [], "none"
    if isinstance(outputs, Mapping):
        for key in outputs:
            if not isinstance(key, str):
                raise ForeignObjectError(
                    f"the keys of a dict of outputs must be strings, not {describe(key)}"
                )
        return [as_out(x) for x in outputs.values()], tuple(outputs)
    if isinstance(outputs, list | tuple):
        return [as_out(x) for x in outputs], "list"
    return [as_out(outputs)], "single"


def _read_updates(updates: Any) -> dict[Any, Variable]:
    """Return {shared variable: its new value}."""
    result: dict[Any, Variable] = {}
    pairs: Iterable[Any] = updates.items() if isinstance(updates, Mapping) else updates or ()
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ForeignObjectError(
                f"an update must be a pair (shared variable, new value), not {describe(pair)}"
            )
        variable, new = pair
        if not isinstance(variable, SharedVariable):
            raise ForeignObjectError(
                f"only shared variables can be updated, not {describe(variable)}; "
                "shared(value) makes one"
            )
        if variable in result:
            raise InputError(f"two updates for the shared variable {variable!r}")
        result[variable] = checked_update(variable, new)
    return result


def _substitute(request: Request, replaced: dict[Variable, Any], strict: bool) -> None:
    """Substitute the givens in all expressions at once."""
    if not replaced:
        return
    new = substituted(request.expressions, replaced, strict)
    count = len(request.results)
    request.results = new[:count]
    request.updates = {
        key: checked_update(getattr(key, "variable", key), value)
        for key, value in zip(request.updates, new[count:], strict=True)
    }


def _collect_shared(
    request: Request,
    replaced: dict[Variable, Any],
    no_default_updates: bool | Collection[Any],
    strict: bool,
) -> None:
    """Collect the shared variables and add their default updates, which may bring new ones. Shared
    variables that results need come first, as do their updates.
    """
    without = set() if isinstance(no_default_updates, bool) else set(no_default_updates)
    given = {spec.variable for spec in request.inputs}
    found: dict[SharedVariable, None] = {}
    reached = request.reached
    todo = request.expressions
    while todo:
        walk = [v for v in ancestors(todo, given) if v not in reached]
        reached.update(dict.fromkeys(walk))
        fresh = [
            v for v in walk if v.owner is None and isinstance(v, SharedVariable) and v not in given
        ]
        found.update(dict.fromkeys(fresh))
        todo = []
        for v in fresh:
            update = v.default_update
            if update is None or no_default_updates is True or v in without or v in request.updates:
                continue
            if replaced:
                update = checked_update(v, *substituted([update], replaced, strict))
            request.updates[v] = update
            todo.append(update)
    found.update(dict.fromkeys(v for v in request.updates if isinstance(v, SharedVariable)))
    request.shared = list(found)
    states = {v: request.updates.pop(v) for v in found if v in request.updates}
    request.updates.update(states)


# --- what can be wrong with the inputs --------------------------------------------------------


def check_roots(request: Request) -> None:
    """Raise `MissingInputError` for the first root without a value; `NullTypeGradError` for an
    undefined derivative.
    """
    given = {spec.variable for spec in request.inputs}
    for v in request.reached:
        if v.owner is not None or v in given or isinstance(v, Constant | SharedVariable):
            continue
        if is_null(v):
            raise NullTypeGradError(f"{describe(v)} has no values{v.type.why}")
        raise MissingInputError(
            f"the variable {describe(v)} has no value: make it an input, replace it "
            f"by givens, or use a shared variable\n{_who_needs(v, request.expressions, given)}"
        )


def _who_needs(v: Variable, outputs: list[Variable], given: set[Variable]) -> str:
    """Describe the path from a root to an output, as lines."""
    lines = []
    for node in toposort(outputs, given):
        if v not in node.inputs:
            continue
        where = node.where()
        lines.append(
            f"    needed by {node.op}" + (f", built at {source_line(*where)}" if where else "")
        )
        if len(lines) == 4:
            break
        v = node.outputs[0]
    return "\n".join(lines) if lines else "    it is itself an output"


def check_unused(request: Request, how: str | None) -> None:
    """Report inputs that nothing depends on, as `on_unused_input` says."""
    how = config.on_unused_input if how is None else how
    if how not in _HOW:
        raise InputError(f"on_unused_input must be one of {', '.join(_HOW)}, not {how!r}")
    if how == "ignore":
        return
    used: Collection[Variable] = request.reached
    if any([spec.variable.owner is not None for spec in request.inputs]):
        used = set(ancestors(request.expressions))  # also what only an input is computed from
    unused = [i for i, spec in enumerate(request.inputs) if spec.variable not in used]
    if not unused:
        return
    from rewrite_engine.gradient.sources import used_by  # (the gradients are not loaded for it)

    used = used_by(request.expressions)  # also what a gradient was made of
    for i in unused:
        spec = request.inputs[i]
        if spec.variable in used:
            continue
        text = (
            f"input {i}, {describe(spec.variable)}, is not used by the outputs or updates; "
            "leave it out, or pass on_unused_input='ignore'"
        )
        if how == "raise":
            raise UnusedInputError(text)
        warnings.warn(text, UnusedInputWarning, stacklevel=3)
