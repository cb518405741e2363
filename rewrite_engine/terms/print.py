"""Terms as text: `log(1 + x)` with the usual precedence, or `e(log, e(add, 1, x))`.

`write` is the only writer of graphs, etuples and patterns, for error messages, traces, `pp` and
reports, which differ in what they call by a name and in how they write the call of an op. Text is
streamed from a stack and cut at a limit: a term may be deep, and a shared one may have 2^50 paths.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import singledispatch
from math import inf
from operator import attrgetter
from types import FunctionType
from typing import Any

from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.number import Leaf
from rewrite_engine.graph.op import ATOM, LOWEST, POWER, UNARY, output_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: name of an op -> symbol, precedence (Python's)
INFIX: dict[str, tuple[str, int]] = {
    "lt": ("<", 1), "le": ("<=", 1), "gt": (">", 1), "ge": (">=", 1), "eq": ("==", 1),
    "neq": ("!=", 1), "or_": ("|", 2), "xor": ("^", 3), "and_": ("&", 4),
    "add": ("+", 6), "sub": ("-", 6), "mul": ("*", 7), "true_div": ("/", 7), "mod": ("%", 7),
    "floor_div": ("//", 7), "int_div": ("//", 7), "dot": ("@", 7), "matmul": ("@", 7),
    "pow": ("**", POWER),
}  # fmt: skip
PREFIX = {"neg": "-", "invert": "~"}
VARIADIC = {"add", "mul", "and_", "or_", "xor"}

Token = str | tuple[Any, int]  # text, or a term and the precedence around it
#: what a variable is called, if it is not to be written out
Name = Callable[[Variable], str | None]
#: text and operands, in order, of an op applied to operands, in a place of some precedence
Call = Callable[[Any, Sequence[Any], int], Sequence[Token]]


def write(
    root: Any,
    *,
    outer: int = LOWEST,
    depth: float = inf,
    width: int | None = None,
    limit: int | None = None,
    name: Name = attrgetter("name"),
    call: Call | None = None,
) -> str:
    """Write a term: a variable or node of a graph, an etuple, a pattern, or a value.

    outer: the precedence around it. depth: levels that are written, `…` replaces what is below;
    width: operands of an op that are written; limit: characters. name, call: functions that name
    variables and write ops applied to operands (by default in the usual notation). A node is
    written out, whatever its output is called.
    """
    out: list[str] = []
    size = 0
    stack: list[Any] = [(root, outer, depth)]
    while stack:
        item = stack.pop()
        if item.__class__ is tuple:
            x, around, left = item
            parts = _parts(x, around, left > 0, width, name, call or tokens)
            item = parts[0]
            if len(parts) > 1 or item.__class__ is tuple:
                left -= 1
                stack += [(*p, left) if p.__class__ is tuple else p for p in reversed(parts)]
                continue
        out.append(item)
        size += len(item)
        if limit is not None and size > limit:
            return "".join(out)[:limit] + "…"
    return "".join(out)


def _parts(
    x: Any, outer: int, deeper: bool, width: int | None, name: Name, call: Call
) -> Sequence[Token]:
    """Return the text of a term, and the terms that follow; `deeper`: whether there may be some."""
    which = ""
    if isinstance(x, Variable):
        called = name(x)
        if called is not None:
            return [called]
        if x.owner is None:
            return written(x, outer, call)
        which = which_output(x)
        x = x.owner
    args: Sequence[Any]
    if isinstance(x, Apply):
        op, args = x.op, x.inputs
    elif items := items_of(x):
        op, *args = items
    else:
        return written(x, outer, call)
    if not deeper:
        return ["…"]
    if width is not None and len(args) > width:
        args = [*args[:width], Leaf(f"… {len(args) - width} more")]
    return [*call(op, args, ATOM), which] if which else call(op, args, outer)


@singledispatch
def written(x: Any, outer: int, call: Call) -> Sequence[Token]:
    """Return the text of a leaf, not an op applied to operands; a signed number counts as a sign
    applied to a number. Other modules register their classes. call: writes ops applied to operands.
    """
    text = leaf_text(x)
    return [f"({text})" if text.startswith("-") and outer > UNARY else text]


def tokens(op: Any, args: Sequence[Any], outer: int = LOWEST) -> Sequence[Token]:
    """Return an op applied to operands in the usual notation."""
    if not isinstance(op, Record) and items_of(op) is not None:
        return call_tokens([(op, ATOM)], args)
    name = operator_text(op)
    if name == "nth" and len(args) == 2:
        return [(args[1], ATOM), output_text(operator_of(args[1]), args[0])]
    if name in PREFIX and len(args) == 1:
        return _wrapped([PREFIX[name], (args[0], UNARY)], UNARY, outer)
    if name in INFIX and (len(args) == 2 or (len(args) > 2 and name in VARIADIC)):
        symbol, level = INFIX[name]
        first, later = level, level + 1
        if name == "pow":
            first, later = ATOM, UNARY  # associates to the right, and takes a sign there
        elif level == 1:
            first = later  # comparisons do not chain
        out: list[Token] = [(args[0], first)]
        for x in args[1:]:
            out += [f" {symbol} ", (x, later)]
        return _wrapped(out, level, outer)
    return call_tokens([name], args)


def call_tokens(head: list[Token], args: Sequence[Any]) -> list[Token]:
    """Return the tokens of `head(a, b)`."""
    out: list[Token] = [*head, "("]
    for x in args:
        out += [(x, LOWEST), ", "]
    if args:
        out.pop()
    out.append(")")
    return out


def _wrapped(out: list[Token], level: int, outer: int) -> list[Token]:
    return ["(", *out, ")"] if level < outer else out


def name_of(v: Variable) -> str | None:
    """Return a variable's name; for an unnamed shared variable, the name that the program assigned
    it to.
    """
    return v.name if v.name is not None else getattr(v, "assigned", None)


def which_output(v: Variable) -> str:
    """Return the suffix for one of several outputs of a node; empty for the only one."""
    node = v.owner
    return "" if node is None or len(node.outputs) == 1 else output_text(node.op, v.index)


def etuples_class(name: str) -> Any:
    """Return a class of `etuples`; if the package was not imported, an empty tuple, of which
    nothing is an instance.
    """
    return getattr(sys.modules.get("etuples.core"), name, ())


def items_of(x: Any) -> tuple[Any, ...] | None:
    """Return operator and operands of an etuple or a pattern; None for anything else."""
    if isinstance(x, etuples_class("ExpressionTuple")):
        return x._tuple  # type: ignore[no-any-return]
    return getattr(x, "items", None) if hasattr(type(x), "__apply_op__") else None


def operator_of(term: Any) -> Any:
    """Return the op of a term, or its class if parameters are logic variables."""
    op = term.op if isinstance(term, Apply) else term
    while items := items_of(op):
        op = items[0]
    return op


def operator_text(op: Any) -> str:
    """Return the name of an operator."""
    return str(op) if isinstance(op, (Record, str)) else leaf_text(op)


def leaf_text(x: Any) -> str:
    """Return a leaf as text: a constant's value if it is a number or short, a variable's, class's
    or function's name, else the repr.
    """
    if isinstance(x, (type, FunctionType)):
        return x.__name__
    if isinstance(x, Constant) and x.name is None:
        return x.value_text() if x.number is None else repr(x.number)
    return str(x) if isinstance(x, Variable) else repr(x)


def term_text(term: Any, limit: int = 2000) -> str:
    """Return a term in ordinary notation.

    >>> from etuples import etuple as e
    >>> term_text(e("mul", e("add", 1, "x"), e("neg", 2)))
    "(1 + 'x') * -2"
    """
    return write(term, limit=limit)


def etuple_text(term: Any, limit: int = 2000) -> str:
    """Return a term as nested etuples: `e(add, 1, e(log, x))`."""
    call: Call = lambda op, args, outer: call_tokens(["e"], [op, *args])
    return write(term, limit=limit, name=leaf_text, call=call)


def brief(v: Any, depth: int = 4) -> str:
    """Return a variable or node as text, with `…` below `depth`; a node's only output by its
    name.
    """
    if isinstance(v, Apply) and len(v.outputs) == 1:
        v = v.outputs[0]
    return write(v, depth=depth, limit=2000)


def letter(n: int) -> str:
    """Return the n-th letter to name a term with: A, B, …, Z, A1, …"""
    rounds, place = divmod(n, len(LETTERS))
    return LETTERS[place] + (str(rounds) if rounds else "")
