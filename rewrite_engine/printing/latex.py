r"""`latex`: a graph as formulas in LaTeX, as a person would write them: `\frac{x - \mu}{\sigma}`.

What is used more than once is defined first, as in `pp` (`formula.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.op import ATOM, LOWEST, POWER, UNARY
from rewrite_engine.printing.formula import Formula
from rewrite_engine.printing.tree import sources
from rewrite_engine.terms.print import Token, operator_text, which_output, write

GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})  # fmt: skip
#: functions that LaTeX has a command for
COMMANDS = frozenset({
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "exp", "max",
    "min", "det",
})  # fmt: skip
SUM, PRODUCT, COMPARED = 6, 7, 1
SIGNS = {
    "add": (" + ", SUM), "sub": (" - ", SUM), "mul": (r" \, ", PRODUCT), "dot": (r" \, ", PRODUCT),
    "matmul": (r" \, ", PRODUCT), "lt": (" < ", COMPARED), "le": (r" \le ", COMPARED),
    "gt": (" > ", COMPARED), "ge": (r" \ge ", COMPARED), "eq": (" = ", COMPARED),
    "neq": (r" \ne ", COMPARED), "and_": (r" \land ", 4), "or_": (r" \lor ", 2),
}  # fmt: skip
LIMIT = 4000  # characters of one formula
MOST = 500  # nodes of all


def latex(graph_like: Any, limit: int | None = LIMIT, most: int | None = MOST) -> str:
    r"""Return a graph as LaTeX, for mathematics mode.

    graph_like: a variable, a `FunctionGraph`, a compiled function, or a list of variables. limit:
    the most characters of a formula; most: nodes, those nearest to the outputs. Raises `TypeError`
    for an object that has no graph.

    >>> import rewrite_engine.tensor as pt
    >>> x, mu, sigma = pt.dscalars("x", "mu", "sigma")
    >>> print(latex(-0.5 * ((x - mu) / sigma) ** 2 - pt.log(sigma)))
    -0.5 \, \left(\frac{x - \mu}{\sigma}\right)^{2} - \log\left(\sigma\right)
    """
    outputs = [v for source in sources(graph_like) for v in source.outputs]
    formula = Formula(outputs, most=most)
    writer = _LatexWriter(formula)
    lines = [f"{_word(name)} &= {writer.text(n, limit)}" for n, name in formula.names.items()]
    names = [f"{_word(v.name)} &= " if v.name and v.owner else "&" for v in outputs]
    last = [writer.text(v, limit) for v in outputs]
    if not lines and len(last) == 1:
        return last[0]
    lines += [name + text for name, text in zip(names, last, strict=True)]
    return r"\begin{aligned}" + " \\\\\n".join(["", *lines])[3:] + "\n" + r"\end{aligned}"


class _LatexWriter:
    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def text(self, x: Any, limit: int | None) -> str:
        return write(x, limit=limit, name=self.name, call=_call)

    def name(self, v: Any) -> str | None:
        """What a variable is called."""
        if isinstance(v, Constant):
            return _number(v)
        if v in self.formula.cut:
            return r"\ldots"
        known = self.formula.names.get(v.owner) if v.owner is not None else None
        if known is not None:
            return _word(known) + which_output(v)
        return None if v.owner is not None else _word(self.formula.name(v) or v.name or "x")


def _number(v: Constant) -> str:
    if v.number is None:
        return _text(v.value_text())
    value = v.number
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)
    return text.replace("inf", r"\infty")


def _word(name: str) -> str:
    r"""A name: `sigma_a` is `\sigma_{a}`, longer words stand upright."""
    first, *rest = [part for part in re.split(r"_+", name) if part] or [name]
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", first)
    if match:
        first, rest = match[1], [match[2], *rest]
    head = f"\\{first}" if first in GREEK else first if len(first) == 1 else _text(first)
    tail = ",".join(f"\\{p}" if p in GREEK else p if len(p) < 3 else _text(p) for p in rest)
    return head + (f"_{{{tail}}}" if tail else "")


def _text(text: str) -> str:
    for sign in "#_%&${}":
        text = text.replace(sign, "\\" + sign)
    return rf"\mathrm{{{text}}}"


def _bracketed(tokens: list[Token], level: int, outer: int) -> list[Token]:
    return [r"\left(", *tokens, r"\right)"] if level < outer else tokens


def _call(op: Any, args: Sequence[Any], outer: int) -> Sequence[Token]:
    """An op applied to operands."""
    name = operator_text(op).partition("{")[0]
    if name in SPECIAL:
        found = SPECIAL[name](op, args, outer)
        if found is not None:
            return found
    if name in SIGNS and len(args) > 1:
        return _infix(*SIGNS[name], args, outer)
    notation = getattr(op, "notation", None)
    special = None if notation is None else notation(args)
    if special is not None:
        return special  # type: ignore[no-any-return]
    head = rf"\{name}" if name in COMMANDS else rf"\operatorname{{{_word_of_op(name)}}}"
    return _applied(head, args)


def _word_of_op(name: str) -> str:
    return name.replace("_", r"\_")


def _applied(head: str, args: Sequence[Any]) -> list[Token]:
    out: list[Token] = [head, r"\left("]
    for k, x in enumerate(args):
        out += [", "] * (k > 0) + [(x, LOWEST)]
    return [*out, r"\right)"]


def _infix(sign: str, level: int, args: Sequence[Any], outer: int) -> list[Token]:
    out: list[Token] = [(args[0], level)]
    before = args[0]
    for x in args[1:]:
        plain = _is_negative(x) or (_is_number(before) and _is_number(x) and level == PRODUCT)
        out += [r" \cdot " if level == PRODUCT and plain else sign]
        out += [r"\left(", (x, LOWEST), r"\right)"] if _is_negative(x) else [(x, level + 1)]
        before = x
    return _bracketed(out, level, outer)


def _is_number(x: Any) -> bool:
    return isinstance(x, Constant) and x.number is not None


def _is_negative(x: Any) -> bool:
    return _is_number(x) and not isinstance(x.number, complex) and x.number < 0


def _power(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
    base, *rest = args
    exponent: list[Token] = [(rest[0], LOWEST)] if rest else ["2"]
    under: list[Token] = [r"\left(", (base, LOWEST), r"\right)"]
    if getattr(base, "owner", None) is None and not _is_negative(base):
        under = [(base, ATOM)]
    return _bracketed([*under, "^{", *exponent, "}"], POWER, outer)


def _fraction(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
    return [r"\frac{", (args[0], LOWEST), "}{", (args[1], LOWEST), "}"]


def _minus(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
    return _bracketed(["-", (args[0], PRODUCT)], SUM + 1, outer)


def _around(left: str, right: str) -> Callable[..., list[Token]]:
    return lambda op, args, outer: [left, (args[0], LOWEST), right]


def _choice(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
    test, yes, no = args
    return [
        r"\begin{cases} ", (yes, LOWEST), r" & \text{if } ", (test, LOWEST), r" \\ ", (no, LOWEST),
        r" & \text{else} \end{cases}",
    ]  # fmt: skip


def _large(sign: str) -> Callable[..., list[Token]]:
    def written(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
        axis = getattr(op, "axis", None)
        at = "" if axis is None else f"_{{{', '.join(map(str, axis))}}}"
        return _bracketed([rf"\{sign}{at} ", (args[0], PRODUCT)], PRODUCT, outer)

    return written


def _transposed(op: Any, args: Sequence[Any], outer: int) -> list[Token] | None:
    if getattr(op, "new_order", None) != (1, 0):
        return None
    return [(args[0], ATOM), r"^{\top}"]


def _plain(op: Any, args: Sequence[Any], outer: int) -> list[Token]:
    """What only changes the type."""
    return [(args[0], outer)]


SPECIAL: dict[str, Callable[[Any, Sequence[Any], int], Sequence[Token] | None]] = {
    "pow": _power, "sqr": _power, "true_div": _fraction, "neg": _minus,
    "exp": lambda op, args, outer: _bracketed(["e^{", (args[0], LOWEST), "}"], UNARY, outer),
    "sqrt": _around(r"\sqrt{", "}"), "abs": _around(r"\left|", r"\right|"),
    "Sum": _large("sum"), "Prod": _large("prod"), "switch": _choice,
    "DimShuffle": _transposed, "Transpose": _transposed,
    "ExpandDims": _plain, "Cast": _plain, "DropDims": _plain,
}  # fmt: skip
