"""Terms as text: `log(1 + x)` with the usual precedence, or `e(log, e(add, 1, x))`.

Text is streamed from a stack and cut at a limit: a term may be deep, and a shared one may have
2^50 paths. `tokens` knows the notation and nothing of the kind of term; the printer of graphs
(`printing/`) shares it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from etuples.core import ExpressionTuple, KwdPair

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import output_text

LOWEST, UNARY, POWER, ATOM = 0, 8, 9, 10

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
Expand = Callable[[Any, int], Sequence[Token]]


def tokens(op: str, args: Sequence[Any], outer: int = LOWEST) -> list[Token]:
    """Text and operands, in order, of an op applied to operands; `outer` is the precedence around
    it."""
    if op in PREFIX and len(args) == 1:
        return _wrapped([PREFIX[op], (args[0], UNARY)], UNARY, outer)
    if op in INFIX and (len(args) == 2 or (len(args) > 2 and op in VARIADIC)):
        symbol, level = INFIX[op]
        first, later = level, level + 1
        if op == "pow":
            first, later = ATOM, UNARY  # associates to the right, and takes a sign there
        elif level == 1:
            first = later  # comparisons do not chain
        out: list[Token] = [(args[0], first)]
        for x in args[1:]:
            out += [f" {symbol} ", (x, later)]
        return _wrapped(out, level, outer)
    return call_tokens([op], args)


def call_tokens(head: list[Token], args: Sequence[Any]) -> list[Token]:
    """`head(a, b)`."""
    out: list[Token] = [*head, "("]
    for i, x in enumerate(args):
        if i:
            out.append(", ")
        out.append((x, LOWEST))
    out.append(")")
    return out


def _wrapped(out: list[Token], level: int, outer: int) -> list[Token]:
    return ["(", *out, ")"] if level < outer else out


def leaf_tokens(text: str, outer: int) -> list[Token]:
    """A leaf; a signed number counts as a sign applied to a number."""
    return [f"({text})" if text.startswith("-") and outer > UNARY else text]


def write(root: Any, expand: Expand, limit: int | None = None) -> str:
    """Write a term out, `…` where it exceeds `limit` characters."""
    out: list[str] = []
    size = 0
    stack: list[Token] = [(root, LOWEST)]
    while stack:
        item = stack.pop()
        if not isinstance(item, str):
            stack.extend(reversed(expand(*item)))
            continue
        out.append(item)
        size += len(item)
        if limit is not None and size > limit:
            return "".join(out)[:limit] + "…"
    return "".join(out)


def which_output(v: Variable) -> str:
    """What is written behind a node for one of several outputs; nothing for the only one."""
    node = v.owner
    return "" if node is None or len(node.outputs) == 1 else output_text(node.op, v.index)


def operator_of(term: Any) -> Any:
    """The op of a term, or its class where parameters are logic variables."""
    op = term
    while isinstance(op, ExpressionTuple) and len(op):
        op = op[0]
    return op


def operator_text(op: Any) -> str:
    """How an operator is called: an op by its own text, a class or function by its name."""
    if isinstance(op, type) or type(op) is type(operator_text):
        return op.__name__
    return str(op)


def leaf_text(x: Any) -> str:
    """A leaf: a constant by its value, a variable by its name, another value by its repr."""
    if getattr(x, "name", None) is None and hasattr(x, "data") and hasattr(x, "signature"):
        return constant_text(x)
    return str(x) if hasattr(x, "type") else repr(x)


def constant_text(constant: Any) -> str:
    """The value of a constant where it is a number or short, else what the constant prints
    itself."""
    number = getattr(constant, "number", None)
    if number is not None:
        return repr(number)
    text = (
        repr(constant.data)
        if isinstance(constant.data, (int, float, complex))
        else str(constant.data)
    )
    return text if len(text) <= 20 and "\n" not in text else str(constant)


def _expand_term(x: Any, outer: int) -> Sequence[Token]:
    x = getattr(x, "etuple", x)
    if isinstance(x, KwdPair):
        return [f"{x.arg}=", (x.value, LOWEST)]
    if not isinstance(x, ExpressionTuple):
        return leaf_tokens(leaf_text(x), outer)
    if len(x) == 0:
        return ["e()"]
    op, args = x._tuple[0], x._tuple[1:]
    if isinstance(op, ExpressionTuple):
        return call_tokens([(op, ATOM)], args)
    name = operator_text(op)
    if name == "nth" and len(args) == 2:
        node = args[1]
        return [(node, ATOM), output_text(operator_of(node), args[0])]
    return tokens(name, args, outer)


def _expand_etuple(x: Any, outer: int) -> Sequence[Token]:
    if isinstance(x, KwdPair):
        return [f"{x.arg}=", (x.value, LOWEST)]
    if isinstance(x, ExpressionTuple):
        return call_tokens(["e"], x._tuple)
    return [operator_text(x) if callable(x) else leaf_text(x)]


def term_text(term: Any, limit: int = 2000) -> str:
    """A term in ordinary notation.

    >>> from etuples import etuple as e
    >>> term_text(e("mul", e("add", 1, "x"), e("neg", 2)))
    "(1 + 'x') * -2"
    """
    return write(term, _expand_term, limit)


def etuple_text(term: Any, limit: int = 2000) -> str:
    """A term as nested etuples: `e(add, 1, e(log, x))`."""
    return write(term, _expand_etuple, limit)


def variable_tokens(v: Variable, outer: int, of_node: Expand) -> Sequence[Token]:
    """A variable: a leaf, or what `of_node` makes of its node; of one of several outputs the node,
    and which it is.
    """
    node = v.owner
    if node is None:
        return leaf_tokens(leaf_text(v), outer)
    if len(node.outputs) > 1:
        return [(node, ATOM), which_output(v)]
    return of_node(node, outer)


def brief(v: Any, depth: int = 4, outer: int = LOWEST) -> str:
    """A variable or node as text: by name, if it has one; what is deeper than `depth` as `…`."""
    if isinstance(v, Apply):  # with one output, as that
        if len(v.outputs) != 1:
            return _brief_node(v, depth, outer)
        v = v.outputs[0]
    if not isinstance(v, Variable):
        return str(v)
    if v.name is not None:
        return v.name
    if isinstance(v, Constant):
        return constant_text(v)
    if v.owner is None:
        return f"<{v.type}>"
    if depth <= 0:
        return "…"
    which = which_output(v)
    return _brief_node(v.owner, depth, ATOM if which else outer) + which


def _brief_node(node: Apply, depth: int, outer: int) -> str:
    parts = tokens(operator_text(node.op), node.inputs, outer)
    return "".join(p if isinstance(p, str) else brief(p[0], depth - 1, p[1]) for p in parts)
