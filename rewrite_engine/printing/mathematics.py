r"""LaTeX notations of ops applied to operands: `\frac{a}{b}`, `e^{x}`, `A^{-1} \, b`.

A notation is a function of a writer (`latex.py`), the op, its operands and the precedence around
it. It returns text and operands, or None if it does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import ATOM, LOWEST, POWER, UNARY
from rewrite_engine.tensor.index.subtensor import BaseInc, IndexOp
from rewrite_engine.terms.print import Token, operator_text

SUM, PRODUCT, COMPARED, AND, OR = 6, 7, 1, 4, 2
LEFT, RIGHT = r"\left(", r"\right)"
SMALL = 4  # nodes of an exponent that is written above

Tokens = list[Token]
Notation = Callable[[Any, Any, Sequence[Any], int], Tokens | None]


# --- parts ---------------------------------------------------------------------------------------


def called(op: Any) -> str:
    """Return the name of an op, without its parameters."""
    return operator_text(op).partition("{")[0]


def text_of(text: str) -> str:
    r"""Return text in upright letters."""
    upright = " " not in text
    spelled = r"\backslash{}" if upright else r"\textbackslash{}"
    text = re.sub(r"[#_%&${}\\]", lambda m: spelled if m[0] == "\\" else "\\" + m[0], text)
    return rf"\mathrm{{{text}}}" if upright else rf"\text{{{text}}}"


def bracketed(tokens: Tokens, level: int, outer: int) -> Tokens:
    """Put tokens in brackets if the precedence around them requires it."""
    return [LEFT, *tokens, RIGHT] if level < outer else tokens


def raised(w: Any, base: Any, exponent: Sequence[Token], outer: int) -> Tokens:
    """Return a base with an exponent, in brackets unless it is a single sign."""
    node = w.node(base)
    single = w.is_single(base) or (node is not None and called(node.op) in DELIMITED)
    under: Tokens = [(base, ATOM)] if single else [LEFT, (base, LOWEST), RIGHT]
    return bracketed([*under, "^{", *exponent, "}"], POWER, outer)


def applied(head: str, args: Sequence[Any]) -> Tokens:
    """Return a function applied to operands."""
    out: Tokens = [head, LEFT]
    for k, x in enumerate(args):
        out += [", "] * (k > 0) + [(x, LOWEST)]
    return [*out, RIGHT]


def operator(text: str) -> str:
    r"""Return the name of an op with its parameters: `\operatorname{Max}_{\text{axis=0}}`."""
    if "{" not in text and "(" in text:  # of a class of ops, in a pattern
        text = text.replace("(", "{", 1).replace(")", "}")
    name, _, params = text.partition("{")
    told = [one for one in params.removesuffix("}").split(", ") if not one.startswith(UNTOLD)]
    params = ", ".join(told)
    head = rf"\{COMMANDS[name]}" if name in COMMANDS else named(NAMES.get(name, name))
    return head + (f"_{{{text_of(params)}}}" if params else "")


def named(name: str) -> str:
    """Return the LaTeX name of an operator."""
    escaped = name.replace("_", r"\_")
    return rf"\operatorname{{{escaped}}}"


def is_number(x: Any, below: float | None = None) -> bool:
    """Return whether an operand is a number, and less than `below` if that is set."""
    number = getattr(x, "number", None) if isinstance(x, Constant) else None
    if number is None or below is None:
        return number is not None
    return not isinstance(number, complex) and number < below


def is_array(x: Any) -> bool:
    """Return whether an operand is written as an array whose elements could differ."""
    while (node := getattr(x, "owner", None)) is not None and called(node.op) == "second":
        x = node.inputs[1]
    return not all(getattr(getattr(x, "type", None), "broadcastable", ()))


def factors(w: Any, x: Any) -> Sequence[Any]:
    """Return the operands of a product that is written out; for anything else, the term alone."""
    node = w.node(x)
    return node.inputs if node is not None and called(node.op) == "mul" else [x]


def minus(w: Any, x: Any) -> Any:
    """Return the number or operand after the minus sign that an operand begins with."""
    if is_number(x, below=0):
        return -x.number
    node = w.node(x)
    return node.inputs[0] if node is not None and called(node.op) == "neg" else None


def begins_with_minus(w: Any, x: Any) -> bool:
    """Return whether the text of an operand begins with a minus sign."""
    return minus(w, factors(w, x)[0]) is not None


# --- sums and products ---------------------------------------------------------------------------


def sum_of(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    r"""Write a sum: `a + b - c`. An operand that begins with a minus sign is subtracted."""
    if len(args) < 2:
        return None
    adds = called(op) == "add"
    out: Tokens = [(args[0], SUM)]
    for x in args[1:]:
        first, *rest = factors(w, x)
        behind = minus(w, first)
        if behind is None:
            out += [" + " if adds else " - ", (x, SUM + 1)]
        elif adds:
            out += [" - ", *product(w, [behind, *rest])]
        else:
            out += [" - ", LEFT, (x, LOWEST), RIGHT]
    return bracketed(out, SUM, outer)


def product(w: Any, args: Sequence[Any]) -> Tokens:
    r"""Write a product: `a \, b`; elementwise for arrays, `x \odot y`."""
    out: Tokens = [w.number(args[0]) if isinstance(args[0], (int, float)) else (args[0], PRODUCT)]
    array = is_array(args[0])
    for x in args[1:]:
        sign = r" \cdot " if is_number(x) else r" \odot " if array and is_array(x) else r" \, "
        array = array or is_array(x)
        out += [sign, *later(w, x, last=x is args[-1])]
    return out


def later(w: Any, x: Any, last: bool = True) -> Tokens:
    """Write a factor that is not the first."""
    if begins_with_minus(w, x):
        return [LEFT, (x, LOWEST), RIGHT]
    node = w.node(x)
    open_end = last and node is not None and called(node.op) in ("Sum", "Prod")
    return [(x, PRODUCT if open_end else PRODUCT + 1)]


def _times(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    return bracketed(product(w, args), PRODUCT, outer) if len(args) > 1 else None


def _dot(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    """Write a product of matrices; a vector in front is a row."""
    x, y = args
    if getattr(getattr(x, "type", None), "ndim", 2) == 1:
        first: Tokens = raised(w, x, [r"\top"], PRODUCT)
    else:
        first = [(x, PRODUCT)]
    return bracketed([*first, r" \, ", *later(w, y)], PRODUCT, outer)


def _minus(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    (x,) = args
    brackets = begins_with_minus(w, x)
    behind: Tokens = [LEFT, (x, LOWEST), RIGHT] if brackets else [(x, PRODUCT)]
    return bracketed(["-", *behind], SUM + 1, outer)


def _fraction(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    above, below = args
    found = _mean(w, above, below)
    return [r"\frac{", (above, LOWEST), "}{", (below, LOWEST), "}"] if found is None else found


def _mean(w: Any, above: Any, below: Any) -> Tokens | None:
    """Write a sum divided by the number of its terms as a mean."""
    node = w.node(above)
    if node is None or type(node.op).__name__ != "Sum":
        return None
    (x,) = node.inputs
    axes = range(x.type.ndim) if node.op.axis is None else node.op.axis
    counted = [length_of(v) for v in factors(w, _uncast(w, below))]
    if sorted(counted, key=str) != sorted([(x, i) for i in axes], key=str):
        return None
    return applied(rf"\operatorname{{mean}}{_at(node.op.axis)}", [x])


def _uncast(w: Any, x: Any) -> Any:
    node = w.node(x)
    return node.inputs[0] if node is not None and str(node.op).startswith("Cast{") else x


def length_of(v: Any) -> tuple[Any, int] | None:
    """Return the array and the dimension whose length a variable is."""
    node = getattr(v, "owner", None)
    if node is None:
        return None
    if type(node.op).__name__ == "Shape_i":
        return node.inputs[0], node.op.i
    inside = getattr(node.inputs[0], "owner", None) if node.inputs else None
    if type(node.op).__name__ != "Subtensor" or inside is None or len(node.op.idx_list) != 1:
        return None
    (i,) = node.op.idx_list
    is_shape = type(inside.op).__name__ == "Shape" and isinstance(i, int)
    return (inside.inputs[0], i) if is_shape else None


def _at(axis: Any) -> str:
    if axis is None:
        return ""
    return rf"_{{\text{{axis }}{', '.join(map(str, axis))}}}"


# --- functions -----------------------------------------------------------------------------------


def _power(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    base, *rest = args
    return raised(w, base, [(rest[0], LOWEST)] if rest else ["2"], outer)


def _exponential(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    (x,) = args
    waiting, seen = [x], 0
    while waiting and seen <= SMALL:
        node = w.node(waiting.pop())
        if node is None:
            continue
        seen += SMALL if called(node.op) in TALL else 1
        waiting += node.inputs
    if seen > SMALL:
        return applied(r"\exp", args)
    return bracketed(["e^{", (x, LOWEST), "}"], UNARY, outer)


def _around(left: str, right: str) -> Notation:
    return lambda w, op, args, outer: [left, (args[0], LOWEST), right]


def _quotient(left: str, middle: str, right: str) -> Notation:
    return lambda w, op, args, outer: [left, (args[0], LOWEST), middle, (args[1], LOWEST), right]


def _infix(sign: str, level: int) -> Notation:
    def written(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
        if len(args) < 2:
            return None
        out: Tokens = [(args[0], level + 1)]
        for x in args[1:]:
            out += [sign, (x, level + 1)]
        return bracketed(out, level, outer)

    return written


def _one_and(before: str, after: str) -> Notation:
    """Return a notation with `1 + x`, for functions such as `log1p` that compute it more
    accurately.
    """

    def written(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
        first, *rest = factors(w, args[0])
        behind = minus(w, first)
        if behind is None:
            return [before, "1 + ", (args[0], SUM + 1), after]
        return [before, "1 - ", *product(w, [behind, *rest]), after]

    return written


def _less_one(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    power = _exponential(w, op, args, SUM)
    return bracketed([*power, " - 1"], SUM, outer)


def _choice(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    test, yes, no = args
    return [
        r"\begin{cases} ", (yes, LOWEST), r" & \text{if } ", (test, LOWEST), r" \\ ", (no, LOWEST),
        r" & \text{else} \end{cases}",
    ]  # fmt: skip


def _large(sign: str) -> Notation:
    def written(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
        at = _at(getattr(op, "axis", None))
        return bracketed([rf"\{sign}{at} ", (args[0], PRODUCT)], PRODUCT, outer)

    return written


def _along(name: str) -> Notation:
    """Return the notation of a function along axes."""

    def written(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
        axis = getattr(op, "axis", None)
        return applied(name + _at([axis] if isinstance(axis, int) else axis), args)

    return written


# --- arrays --------------------------------------------------------------------------------------


def _transposed(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    if getattr(op, "new_order", None) != (1, 0):
        return None
    return raised(w, args[0], [r"\top"], outer)


def _expanded(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    """Write an array without new leading dimensions that broadcasting would add."""
    order = getattr(op, "new_order", ())
    kept = [k for k, o in enumerate(order) if o != "x"]
    if kept == list(range(len(order) - len(kept), len(order))):
        return [(args[0], outer)]
    return indexed(w, args[0], [", ".join(["None" if o == "x" else ":" for o in order])])


def _joined(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    """Write arrays joined along a dimension, or stacked along a new one."""
    nodes = [w.node(x) for x in args]
    new = [getattr(getattr(node, "op", None), "augment", None) for node in nodes]
    if all([axes == (op.axis,) for axes in new]):
        return applied(rf"\operatorname{{stack}}{_at(new[0])}", [n.inputs[0] for n in nodes])
    return applied(rf"\operatorname{{join}}{_at((op.axis,))}", args)


def _added_up(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    name = "cumsum" if op.mode == "add" else "cumprod"
    return _along(named(name))(w, op, args, outer)


def _plain(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    """Write the operand alone, for an op that only changes the type."""
    return [(args[0], outer)]


def _filled(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    """Write `second(x, y)` as y, repeated for each element of x."""
    return [(args[1], outer)] if isinstance(args[1], Variable) else None


def _spread(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    """Write `Alloc(x, 3)` as x, three times; for a number, such as zeros, write the lengths."""
    return None if is_number(args[0]) else [(args[0], outer)]


def _inverse(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    return raised(w, args[0], ["-1"], outer)


def _solved(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens | None:
    r"""Write the solution of linear equations as `A^{-1} \, b`."""
    a, b = args
    column = w.node(b)
    if column is not None and getattr(column.op, "new_order", None) == (0, "x"):
        b = column.inputs[0]
    sign = r"-\top" if getattr(op, "transpose", False) else "-1"
    out = [*raised(w, a, [sign], PRODUCT), r" \, ", (b, PRODUCT + 1)]
    return bracketed(out, PRODUCT, outer)


def _length(w: Any, op: Any, args: Sequence[Any], outer: int) -> Tokens:
    which = f"_{{{op.i}}}" if args[0].type.ndim > 1 else ""
    return applied(rf"\operatorname{{len}}{which}", args)


def indexed(w: Any, x: Any, inside: Iterable[Token]) -> Tokens:
    """Write an array with indices below."""
    base: Tokens = ["{", (x, ATOM), "}"] if w.is_single(x) else [LEFT, (x, LOWEST), RIGHT]
    return [*base, "_{", *map(_spelled, inside), "}"]


#: words in indices
SPELLED = {"None": r"\mathrm{None}", "...": r"\ldots", "diagonal": r"\text{diagonal }"}


def _spelled(token: Token) -> Token:
    if not isinstance(token, str):
        return token
    for word, spelled in SPELLED.items():
        token = token.replace(word, spelled)
    return token


def index_notation(w: Any, op: Any, args: Sequence[Any]) -> Tokens | None:
    r"""Write an op that takes a part of an array, or writes to one: `{x}_{2:4}`, and
    `x\left[2:4 \mathrel{+}= y\right]`.
    """
    if not isinstance(op, IndexOp) or not all([isinstance(x, Variable) for x in args]):
        return None
    inside = op.inside(args)[1:-1]
    if not isinstance(op, BaseInc):
        found = None if w.node(args[0]) is None else length_of(w.node_of(op, args))
        if found is None:
            return indexed(w, args[0], inside)
        which = f"_{{{found[1]}}}" if found[0].type.ndim > 1 else ""
        return applied(rf"\operatorname{{len}}{which}", [found[0]])
    sign = r" \leftarrow " if op.set_instead_of_inc else r" \mathrel{+}= "
    base: Tokens = [(args[0], ATOM)] if w.is_single(args[0]) else [LEFT, (args[0], LOWEST), RIGHT]
    return [*base, r"\left[", *map(_spelled, inside), sign, (args[1], LOWEST), r"\right]"]


# --- tables --------------------------------------------------------------------------------------

#: the beginnings of parameters that say nothing of values
UNTOLD = ("inplace", "dtype=", "keepdims", "on_error=", "lower=True", "i<-", "axis=None")
#: what is written like another op, which a rule must not do
ALIKE = frozenset({
    "log1p", "expm1", "second", "Cast", "ExpandDims", "DropDims", "reciprocal", "sqr", "MatMul",
    "Solve", "SolveTriangular", "int_div", "identity", "Alloc", "Assert", "Check", "CheckAndRaise",
})  # fmt: skip
DELIMITED = frozenset({"abs", "floor", "ceil"})
#: functions that LaTeX has a command for
COMMANDS = {name: name for name in (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "exp",
)} | {"maximum": "max", "minimum": "min", "gamma": "Gamma", "psi": "psi", "Det": "det"}  # fmt: skip
#: what ops are called in formulas
NAMES = {
    "Softmax": "softmax", "LogSoftmax": "log softmax", "Argmax": "argmax", "Argmin": "argmin",
    "sign": "sgn", "real": "Re", "imag": "Im", "Diagonal": "diag", "Cholesky": "chol",
    "Reshape": "reshape", "Alloc": "full", "Eye": "eye", "ARange": "arange",
}  # fmt: skip
#: what is not written as an exponent
TALL = frozenset({"true_div", "switch", "Sum", "Prod"})

NOTATIONS: dict[str, Notation] = {
    "add": sum_of, "sub": sum_of, "mul": _times, "dot": _dot, "matmul": _dot, "MatMul": _dot,
    "true_div": _fraction, "neg": _minus, "pow": _power, "sqr": _power, "exp": _exponential,
    "expm1": _less_one, "log1p": _one_and(r"\log\left(", RIGHT),
    "reciprocal": _around(r"\frac{1}{", "}"), "conj": _around(r"\overline{", "}"),
    "sqrt": _around(r"\sqrt{", "}"), "abs": _around(r"\left|", r"\right|"),
    "floor": _around(r"\left\lfloor ", r" \right\rfloor"),
    "ceil": _around(r"\left\lceil ", r" \right\rceil"),
    "log2": _around(r"\log_{2}\left(", RIGHT), "log10": _around(r"\log_{10}\left(", RIGHT),
    "gammaln": _around(r"\log\Gamma\left(", RIGHT),
    "betaln": _quotient(r"\log\mathrm{B}\left(", ", ", RIGHT),
    "floor_div": _quotient(r"\left\lfloor \frac{", "}{", r"} \right\rfloor"),
    "int_div": _quotient(r"\left\lfloor \frac{", "}{", r"} \right\rfloor"),
    "mod": _infix(r" \bmod ", PRODUCT),
    "lt": _infix(" < ", COMPARED), "le": _infix(r" \le ", COMPARED), "gt": _infix(" > ", COMPARED),
    "ge": _infix(r" \ge ", COMPARED), "eq": _infix(" = ", COMPARED),
    "neq": _infix(r" \ne ", COMPARED), "and_": _infix(r" \land ", AND),
    "or_": _infix(r" \lor ", OR), "Sum": _large("sum"), "Prod": _large("prod"),
    "Max": _along(r"\max"), "Min": _along(r"\min"), "Any": _along(r"\operatorname{any}"),
    "All": _along(r"\operatorname{all}"), "Argmax": _along(r"\operatorname{argmax}"),
    "Softmax": _along(r"\operatorname{softmax}"),
    "LogSoftmax": _along(r"\log\operatorname{softmax}"), "Join": _joined, "CumOp": _added_up,
    "LogSumExp": _along(r"\operatorname{logsumexp}"), "switch": _choice, "Shape_i": _length,
    "invert": lambda w, op, args, outer: bracketed([r"\lnot ", (args[0], UNARY)], UNARY, outer),
    "Shape": _along(r"\operatorname{shape}"), "DimShuffle": _transposed, "Transpose": _transposed,
    "ExpandDims": _expanded, "Cast": _plain, "DropDims": _plain, "identity": _plain,
    "second": _filled, "Alloc": _spread,
    **dict.fromkeys(("Assert", "Check", "CheckAndRaise"), _plain),  # (what is checked is the value)
    "MatrixInverse": _inverse, "Solve": _solved, "SolveTriangular": _solved,
}  # fmt: skip
