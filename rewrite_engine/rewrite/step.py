"""One step of rewriting: check the result of a rule for a node, and insert it into the graph or
leave the graph unchanged. (`rewrite/run.py` undoes replacements that a feature of the graph
refuses.)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import (
    CycleError,
    InconsistencyError,
    InputError,
    PatternError,
    RewriteEngineError,
    RuleError,
    RuleRaisedError,
    RuleTypeError,
    ShapeError,
    TypeMismatchError,
    message,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.memory import NoDestroyHandler
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.fact import Unknown
from rewrite_engine.match.rule import Rule
from rewrite_engine.terms.print import brief

AWAY = (
    "replaces other things than the term that it was applied to, which the graph does not have yet "
    "(in {})"
)


class RuleWarning(UserWarning):
    """Warning that a rule failed while `config.on_rule_error` is "warn", or that a rule is probably
    a mistake.
    """


class Refusal(Exception):
    """Raised when a rule's result is not inserted, without that being an error.

    feature: the class of the feature that refuses it; None if the type does not fit (a data rule
    applies only if the types allow it).
    """

    def __init__(self, text: str, feature: str | None = None) -> None:
        super().__init__(f"{feature}: {text}" if feature else text)
        self.feature = feature


#: what is done one after the other, each a rule and what it makes of what the one before made
Steps = Sequence[tuple[Rule, Any]]


class Derived:
    """Result of a strategy: its steps."""

    __slots__ = ("steps",)

    def __init__(self, steps: Steps) -> None:
        self.steps = steps


def put(fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> bool:
    """Check the result of a rule and insert it; True if the graph changed. Raises `Refusal`, and
    errors that explain what is wrong with it; the graph is then unchanged.
    """
    if result is None or result is False or result.__class__ is Unknown:
        return False
    with applying(fgraph, node, rule, result) as application:
        steps = result.steps if isinstance(result, Derived) else ((rule, result),)
        application.done = enact(fgraph, node, rule, steps)
    return application.done


def enact(fgraph: FunctionGraph, node: Apply, whole: Any, steps: Steps) -> bool:
    """Insert a result like `put`, without notifying features of the group. whole: the rule, or the
    strategy.
    """
    rule, result = steps[-1]
    if isinstance(result, Variable):
        return fire(fgraph, default_of(node, rule), rule, result)
    if len(steps) > 1:
        raise rule.error(PatternError, AWAY.format(whole.name))
    return fire_all(fgraph, node, rule, result)


class applying:  # noqa: N801  (used as a function)
    """Context manager for inserting the result of a rule for a node. done: whether it stays."""

    def __init__(self, fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> None:
        self.fgraph, self.done = fgraph, False
        self.about = node, rule, result

    def __enter__(self) -> applying:
        for tell in self.fgraph.on_apply:
            tell(self.fgraph, *self.about)
        return self

    def __exit__(self, *error: object) -> None:
        for tell in self.fgraph.on_applied:
            tell(self.fgraph, self.done)


def default_of(node: Apply, rule: Any) -> Variable:
    """Return the output that a single term replaces."""
    outputs = node.outputs
    if len(outputs) == 1:
        return outputs[0]  # type: ignore[no-any-return]
    i = node.op.default_output
    if i is None:
        n, op = len(node.outputs), node.op
        what = f"returns one variable for the {n} outputs of {op}: a list says which stay (None)"
        raise rule.error(PatternError, f"{what}, as {[*[None] * (n - 1), 'new']!r} does, or a dict")
    return outputs[i]  # type: ignore[no-any-return]


def fire(fgraph: FunctionGraph, old: Variable, rule: Any, new: Variable) -> bool:
    """Replace one output; False if that changes nothing."""
    if new is old or not is_used(fgraph, old):
        return False
    if new.type is not old.type:
        check_type(rule, old, new)
    return fgraph.replace(old, new, rule) is not old


def check_type(rule: Any, old: Variable, new: Variable) -> None:
    """Raise a `Refusal`, or the rule's error, if `new` cannot replace `old`."""
    if not rule.accept(old, new):
        raise Refusal(unfit(old, new))


def unfit(old: Variable, new: Variable) -> str:
    """Explain why a term of another type is not inserted."""
    return f"{old!r} has type {old.type}, but its replacement has {new.type}"


def is_used(fgraph: FrozenGraph, v: Variable) -> bool:
    """Return whether a variable has clients in the graph, or is an output."""
    return bool(fgraph.users.get(v)) or v in fgraph.out_uses


def fire_all(fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> bool:
    """Replace the outputs of a node by a list (None: not used), or by a mapping."""
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
        check_type(rule, old, new)
    terms = [new for _, new in todo] if fgraph.destroy_handler is None else []
    if any(node.op.destroy_map for node in toposort(terms, fgraph.users)):
        raise NoDestroyHandler  # before anything is put in or told
    return any([fire(fgraph, old, rule, new) for old, new in todo])


def fail(rule: Any, node: Apply, error: Exception) -> None:
    """Report a rule that failed at a node: an error that names both, a warning, or nothing
    (`config.on_rule_error`). Shapes that do not fit in the graph itself are not a rule's fault: the
    graph reports them when it runs.
    """
    if isinstance(error, ShapeError) and not fits(node):
        return
    if config.on_rule_error == "ignore":
        return
    report = explain_failure(rule, node, error)
    if config.on_rule_error == "warn":
        warnings.warn(str(report), RuleWarning, stacklevel=3)
        return
    raise report from error


def fits(node: Apply) -> bool:
    """Return whether a node, and some before it, could be built with the shapes known by now."""
    near = [node]
    for n in near:
        try:
            n.op.make_node(*n.inputs)
        except ShapeError:
            return False
        near += [v.owner for v in n.inputs if v.owner is not None and len(near) < 32]
    return True


def explain_failure(rule: Any, node: Apply, error: Exception) -> RewriteEngineError:
    """Return the error for a rule that failed at a node."""
    at = message(f"at {brief(node)}", inputs=node.inputs, where=node.where())
    if isinstance(error, RuleError):
        kind, what = type(error), str(error)
        if what.startswith("rule "):
            return kind(f"{what}\n{at}")
    elif isinstance(error, TypeMismatchError):
        kind, what = RuleTypeError, f"changes the type: {error}"
    elif isinstance(error, CycleError | InputError | InconsistencyError):
        kind, what = RuleError, f"proposes a term that cannot be put in: {error}"
    else:
        kind, what = error_like(type(error)), f"raised {type(error).__name__}: {error}"
    report: RewriteEngineError = rule.error(kind, f"{what}\n{at}")
    return report


#: exceptions that a caller may catch around a rule
PLAIN = (
    NotImplementedError, AssertionError, ValueError, TypeError, LookupError, ArithmeticError,
    AttributeError, RuntimeError,
)  # fmt: skip


def error_like(cause: type[Exception]) -> type[RuleRaisedError]:
    """Return a `RuleRaisedError` that `except ValueError`, say, catches if the rule raised one."""
    plain = next((kind for kind in PLAIN if issubclass(cause, kind)), None)
    if plain is None:
        return RuleRaisedError
    own = {
        "__str__": Exception.__str__,
        "__reduce__": lambda self: (RuleRaisedError, self.args),
        "__module__": RuleRaisedError.__module__,
    }
    return type("RuleRaisedError", (RuleRaisedError, plain), own)
