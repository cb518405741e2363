"""One step: take what a rule returned for a node, check it, and put it into the graph, or leave
the graph alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import (
    CycleError,
    InputError,
    PatternError,
    RewriteEngineError,
    RuleError,
    RuleRaisedError,
    RuleTypeError,
    TypeMismatchError,
    message,
)
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.rewrite.trace import Trace, brief


class RuleWarning(UserWarning):
    """A rule failed, and `config.on_rule_error` is "warn"."""


def attempt(fgraph: Any, node: Apply, rule: Any, trace: Trace | None = None) -> bool:
    """Try one rule at one node; True if the graph changed.

    A rule that raises, or returns what cannot stand there, is an error by default; the graph is
    then as before.
    """
    try:
        return put(fgraph, node, rule, rule.apply(fgraph, node), trace)
    except Exception as error:
        fail(rule, node, error)
        return False


def put(fgraph: Any, node: Apply, rule: Any, result: Any, trace: Trace | None) -> bool:
    """Check what a rule returned and put it in; True if the graph changed."""
    if result is None or result is False:
        return False
    if isinstance(result, Variable):
        return fire(fgraph, node, node.outputs[0], rule, result, trace)
    return fire_all(fgraph, node, rule, result, trace)


def fire(
    fgraph: Any, node: Apply, old: Variable, rule: Any, new: Variable, trace: Trace | None
) -> bool:
    """Replace one output; False if that changes nothing."""
    if new is old or not is_used(fgraph, old):
        return False
    if new.type is not old.type and not rule.accept(old, new):
        return False
    if trace is None:
        return fgraph.replace(old, new, rule) is not old
    trace.about(node, new, old)
    own = fgraph.replace(old, new, rule)
    if own is old:
        return False
    trace.fired(rule, own)
    return True


def is_used(fgraph: Any, v: Variable) -> bool:
    """Whether a variable has clients in the graph, or is an output."""
    return bool(fgraph.clients.get(v)) or v in fgraph.out_uses


def fire_all(fgraph: Any, node: Apply, rule: Any, result: Any, trace: Trace | None) -> bool:
    """Replace the outputs of a node by a list (None: not used), or whatever a mapping says."""
    if isinstance(result, Mapping):
        pairs = [(old, new) for old, new in result.items() if isinstance(old, Variable)]
    elif isinstance(result, list | tuple) and len(result) == len(node.outputs):
        pairs = list(zip(node.outputs, result, strict=True))
    else:
        raise rule.error(
            PatternError,
            f"must return a variable, {len(node.outputs)} of them, a dict or None, not {result!r}",
        )
    todo = [(old, new) for old, new in pairs if new is not None and new is not old]
    for old, new in todo:
        if not isinstance(new, Variable):
            raise rule.error(PatternError, f"proposes {new!r} for {old!r}, which is not a variable")
        if not rule.accept(old, new):
            return False
    changed = False
    for old, new in todo:
        changed |= fire(fgraph, node, old, rule, new, trace)
    return changed


def fail(rule: Any, node: Apply, error: Exception) -> None:
    """Report a rule that failed at a node: an error that names both, or a warning
    (`config.on_rule_error`).
    """
    report = explain_failure(rule, node, error)
    if config.on_rule_error == "warn":
        warnings.warn(str(report), RuleWarning, stacklevel=3)
        return
    raise report from error


def explain_failure(rule: Any, node: Apply, error: Exception) -> RewriteEngineError:
    """The error for a rule that failed at a node."""
    if isinstance(error, RuleError):
        kind: type[RuleError] = type(error)
        what = str(error)
        if what.startswith("rule "):
            return kind(f"{what}\n{_at(node)}")
    elif isinstance(error, TypeMismatchError):
        kind, what = RuleTypeError, f"changes the type: {error}"
    elif isinstance(error, CycleError | InputError):
        kind, what = RuleError, f"proposes a term that cannot be put in: {error}"
    else:
        kind, what = RuleRaisedError, f"raised {type(error).__name__}: {error}"
    report: RewriteEngineError = rule.error(kind, f"{what}\n{_at(node)}")
    return report


def _at(node: Apply) -> str:
    term = brief(node.outputs[0]) if node.outputs else str(node)
    return message(f"at {term}", inputs=node.inputs, where=node.where())
