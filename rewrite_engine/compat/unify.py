"""PyTensor's patterns as objects: `OpPattern`, which matches ops of a class with some parameters,
and functions that match tuples with it. `PatternNodeRewriter` and `node_rewriter` take it.

Patterns of ops alone are data rules (`compat/rewriting.py`), which are compiled; these are
interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from rewrite_engine.errors import PatternError, UnboundVariableError
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.constant import as_tensor_variable

__all__ = [
    "Asterisk",
    "ConstrainedVar",
    "LiteralString",
    "OpPattern",
    "PatternNode",
    "PatternVar",
    "convert_strs_to_vars",
    "match_pattern",
    "reify_pattern",
]

Found = dict[Any, Any]


@dataclass(frozen=True)
class LiteralString:
    """Parameter that equals this string; a string alone is a name."""

    value: str


class PatternVar:
    """Variable of a pattern: matches anything that satisfies its constraint, if it has one."""

    def __init__(self, token: str, constraint: Callable[[Any], Any] | None = None) -> None:
        self.token = token
        self.constraint = constraint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.token!r})"


class ConstrainedVar(PatternVar):
    """Variable of a pattern with a constraint, which is the first argument."""

    def __init__(
        self, constraint: Callable[[Any], Any], token: str | None = None, prefix: str = ""
    ) -> None:
        super().__init__(f"{prefix}_constrained" if token is None else token, constraint)


class Asterisk:
    """Remaining operands, at the end of a pattern."""

    def __init__(self, token: str) -> None:
        self.token = token

    def __repr__(self) -> str:
        return f"Asterisk({self.token!r})"


@dataclass(frozen=True)
class OpPattern:
    """Pattern of ops of a class (or several) with these parameter values; parameters that are not
    named may have any value. A value may be an `OpPattern`, for ops that have ops; in a pattern a
    string is a name, which stands for the parameter.

    >>> from rewrite_engine.tensor.reduce import Sum
    >>> OpPattern(Sum, axis=(0,)).match_op(Sum(axis=0))
    True
    """

    op_type: Any
    parameters: tuple[tuple[str, Any], ...] = ()

    def __init__(self, op_type: Any, parameters: Any = None, **named: Any) -> None:
        pairs = dict(parameters or {}) | named
        object.__setattr__(self, "op_type", op_type)
        object.__setattr__(self, "parameters", tuple(sorted(pairs.items())))

    def match_op(self, op: Any) -> bool:
        """Return whether an op is of the class, and has the parameters."""
        return isinstance(op, self.op_type) and self.match_parameters(op)

    def match_parameters(self, op: Any) -> bool:
        """Return whether an op has the parameters."""
        return next(_solutions([*_parameters(self, op)], {}), None) is not None

    __call__ = match_op  # what a rule tracks may be a predicate

    def __str__(self) -> str:
        return f"OpPattern({self.op_type}, {', '.join(f'{k}={v}' for k, v in self.parameters)})"


class PatternNode:
    """Node of a pattern: an op, or an `OpPattern`, and the patterns of its operands."""

    def __init__(self, op_match: Any, inputs: Sequence[Any]) -> None:
        if any(isinstance(p, Asterisk) for p in inputs[:-1]):
            raise PatternError(f"an Asterisk must be the last operand, not one of {inputs[:-1]}")
        self.op_match = op_match
        self.inputs = tuple(inputs)

    def __repr__(self) -> str:
        return f"PatternNode({self.op_match!r}, {self.inputs!r})"


def convert_strs_to_vars(x: Any, var_map: dict[str, Any] | None = None) -> Any:
    """Convert a pattern of tuples, names and {"pattern": name, "constraint": predicate} to objects;
    the same name becomes the same object. var_map: existing objects. Raises `PatternError`.
    """
    return _converted(x, {} if var_map is None else var_map, False)


def _converted(x: Any, names: dict[str, Any], parameter: bool) -> Any:
    if isinstance(x, str):
        return _named(names, PatternVar(x))
    if isinstance(x, LiteralString):
        return x.value
    if isinstance(x, Asterisk):
        return _named(names, x)
    if isinstance(x, dict):
        if not isinstance(x["pattern"], str):
            raise PatternError(f"a constraint belongs to a name, not to {x['pattern']!r}")
        return _named(names, PatternVar(x["pattern"], x["constraint"]))
    if isinstance(x, OpPattern):
        return OpPattern(x.op_type, [(k, _converted(v, names, True)) for k, v in x.parameters])
    if isinstance(x, tuple) and not parameter:
        head = _converted(x[0], names, True) if isinstance(x[0], OpPattern) else x[0]
        if not isinstance(head, Op | OpPattern):
            raise PatternError(f"a pattern must begin with an op or an OpPattern, not {x[0]!r}")
        return PatternNode(head, [_converted(part, names, False) for part in x[1:]])
    if not parameter and not isinstance(x, Variable):
        return as_tensor_variable(x)
    return x


def _named(names: dict[str, Any], new: Any) -> Any:
    """Return the object of a name, which gets the first constraint."""
    known = names.setdefault(new.token, new)
    if isinstance(known, Asterisk) != isinstance(new, Asterisk):
        raise PatternError(f"{new.token!r} is one operand at one place, several at another")
    if isinstance(new, PatternVar) and new.constraint is not None:
        if known.constraint is None:
            known.constraint = new.constraint
        if known.constraint is not new.constraint:
            raise PatternError(f"{new.token!r} has two constraints")
    return known


# --- matching -------------------------------------------------------------------------------------


def match_pattern(pattern: Any, node: Apply, subs: Mapping[Any, Any] | None = None) -> Any:
    """Return the values of a pattern's names if it matches a node, as {`PatternVar`: value}; else
    None. Operands of a commutative op match in any order. subs: known values.
    """
    return next(_solutions([*_at(pattern, node)], dict(subs or {})), None)


#: a way to go on: pairs of a pattern and what it has to match
Ways = Iterator[list[tuple[Any, Any]]]


def _solutions(ways: list[list[tuple[Any, Any]]], found: Found) -> Iterator[Found]:
    """Yield the values of names for each way in which all pairs of one of `ways` match."""
    for way in ways:
        known, todo = found, list(way)
        while todo:
            pattern, value = todo.pop()
            if isinstance(pattern, PatternNode | OpPattern):
                more = [[*todo, *new] for new in _inside(pattern, value)]
                yield from _solutions(more, known)
                break
            held = _bound(pattern, value, known)
            if held is None:
                break
            known = held
        else:
            yield known


def _bound(pattern: Any, value: Any, found: Found) -> Found | None:
    """Return the values with one more pair; None if it does not match."""
    if not isinstance(pattern, PatternVar | Asterisk):
        return found if _agree(pattern, value) else None
    if pattern in found:
        before = found[pattern]
        several = isinstance(pattern, Asterisk)
        pairs = list(zip(before, value)) if several else [(before, value)]
        same = not several or len(before) == len(value)
        return found if same and all([_agree(*pair) for pair in pairs]) else None
    constraint = getattr(pattern, "constraint", None)
    return None if constraint and not constraint(value) else found | {pattern: value}


def _agree(a: Any, b: Any) -> bool:
    """Return whether two values are the same: constants with one value, one variable, equal
    parameters.
    """
    if isinstance(a, Constant) and isinstance(b, Constant):
        return bool(np.array_equiv(a.data, b.data))
    if isinstance(a, Variable) or isinstance(b, Variable):
        return a is b
    return bool(a == b)


def _inside(pattern: Any, value: Any) -> Ways:
    """Return the ways in which the parts of a pattern may match."""
    if isinstance(pattern, OpPattern):
        return iter(_parameters(pattern, value) if isinstance(value, pattern.op_type) else ())
    owner = getattr(value, "owner", None)
    return iter(()) if owner is None else _at(pattern, owner)


def _parameters(pattern: OpPattern, op: Any) -> Ways:
    """Return the one way to match parameters."""
    yield [(wanted, getattr(op, name)) for name, wanted in pattern.parameters]


def _at(pattern: PatternNode, node: Apply) -> Ways:
    """Return the ways in which a pattern may match a node, with the operands of a commutative op in
    any order; the written order first.
    """
    op, inputs = node.op, list(node.inputs)
    last = pattern.inputs[-1] if pattern.inputs else None
    fixed = pattern.inputs[:-1] if isinstance(last, Asterisk) else pattern.inputs
    first: list[tuple[Any, Any]] = []
    if isinstance(pattern.op_match, OpPattern):
        if not isinstance(op, pattern.op_match.op_type):
            return
        (first,) = _parameters(pattern.op_match, op)
    elif op != pattern.op_match:
        return
    n = len(inputs)
    if n < len(fixed) or (n > len(fixed) and fixed is pattern.inputs):
        return
    orders: Any = [range(n)] if not op.commutative else permutations(range(n), len(fixed))
    for order in orders:
        rest = tuple([inputs[i] for i in range(n) if i not in order[: len(fixed)]])
        pairs = [(p, inputs[i]) for p, i in zip(fixed, order)]
        more = [(last, rest)] if isinstance(last, Asterisk) else []
        yield [*first, *more, *reversed(pairs)]


def reify_pattern(pattern: Any, subs: Mapping[Any, Any]) -> Any:
    """Build the term, or the op, that a pattern describes with these values of its names. Raises
    `UnboundVariableError`.
    """
    if isinstance(pattern, PatternVar | Asterisk):
        if pattern not in subs:
            raise UnboundVariableError(f"{pattern.token!r} is not in the pattern to replace")
        return subs[pattern]
    if isinstance(pattern, OpPattern):
        return pattern.op_type(**{k: reify_pattern(v, subs) for k, v in pattern.parameters})
    if not isinstance(pattern, PatternNode):
        return pattern
    operands: list[Any] = []
    for part in pattern.inputs:
        made = reify_pattern(part, subs)
        operands += made if isinstance(part, Asterisk) else [made]
    return reify_pattern(pattern.op_match, subs)(*operands)
