r"""`latex`: a graph as formulas in LaTeX, as a person would write them: `\frac{x - \mu}{\sigma}`.

A term that is used more than once is defined first, as in `pp` (`formula.py`). The notations of ops
are in `mathematics.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from rewrite_engine.graph.html import code, folded, scrolled, whole
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.number import Leaf
from rewrite_engine.printing.formula import Formula
from rewrite_engine.printing.mathematics import (
    ALIKE,
    NOTATIONS,
    applied,
    called,
    index_notation,
    named,
    operator,
    text_of,
)
from rewrite_engine.printing.mathml import mathml
from rewrite_engine.printing.tree import sources
from rewrite_engine.terms.print import Token, leaf_text, operator_text, which_output, write

GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
})  # fmt: skip
#: what is written above a letter: `theta_hat`
ABOVE = {"hat": "hat", "bar": "bar", "tilde": "tilde", "dot": "dot"}
#: words that are functions, not names
FUNCTIONS = frozenset({"log", "exp", "sqrt", "sin", "cos", "sum", "mean", "max", "min"})
#: numbers that people know by a formula
KNOWN = {
    math.pi: r"\pi", 2 * math.pi: r"2 \pi", 0.5 * math.pi: r"\tfrac{\pi}{2}",
    1 / math.pi: r"\tfrac{1}{\pi}", 2 / math.pi: r"\tfrac{2}{\pi}",
    math.sqrt(math.pi): r"\sqrt{\pi}", math.sqrt(2 * math.pi): r"\sqrt{2 \pi}",
    1 / math.sqrt(2 * math.pi): r"\tfrac{1}{\sqrt{2 \pi}}",
    math.sqrt(2 / math.pi): r"\sqrt{\tfrac{2}{\pi}}", math.log(math.pi): r"\log \pi",
    math.log(2 * math.pi): r"\log(2 \pi)", 0.5 * math.log(2 * math.pi): r"\tfrac{1}{2} \log(2 \pi)",
    math.log(2): r"\log 2", math.sqrt(2): r"\sqrt{2}",
}  # fmt: skip
LIMIT = 4000  # characters of one formula
MOST = 500  # nodes of all
FEWEST = 4  # operands of an op that are written, however little room there is


def latex(graph_like: Any, limit: int | None = LIMIT, most: int | None = MOST) -> str:
    r"""Return a graph as LaTeX, for mathematics mode.

    graph_like: a variable, a `FunctionGraph`, a compiled function, or a list of variables. limit:
    the maximum number of characters of a formula. most: the maximum number of nodes, nearest to the
    outputs; fewer are written if the formulas would exceed `limit`. New values of shared variables
    appear after an arrow. The text is a `str` that notebooks show as a formula. Raises `TypeError`
    for an object that has no graph.

    >>> import rewrite_engine.tensor as pt
    >>> x, mu, sigma = pt.dscalars("x", "mu", "sigma")
    >>> print(latex(-0.5 * ((x - mu) / sigma) ** 2 - pt.log(sigma)))
    -0.5 \, \left(\frac{x - \mu}{\sigma}\right)^{2} - \log\left(\sigma\right)
    """
    found = sources(graph_like)
    size = most
    while True:
        lines = _Lines(found, limit, size)
        text = lines.text()
        if not lines.too_long:
            return LatexText(text)
        size = max((size or 2 * MOST) // 2, 1)


class LatexText(str):
    """Text in LaTeX, which notebooks show as a formula."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return whole(scrolled(mathml(self), short=True), folded("LaTeX", code(self)))


class _Lines:
    """Lines of a formula of at most `most` nodes. too_long: whether a line has more than `limit`
    characters, so that fewer nodes must be written.
    """

    def __init__(self, found: Sequence[Any], limit: int | None, most: int | None) -> None:
        self.limit, self.most = limit, most
        self.too_long = False
        self.outputs = [v for source in found for v in source.outputs]
        self.formula = Formula(self.outputs, most=most)
        self.writer = Writer(self.formula)
        self.states = [one.updates.get(i) for one in found for i in range(len(one.outputs))]

    def text(self) -> str:
        """Return all lines: definitions of ops, definitions of shared terms, and the outputs."""
        write = self.write
        lines = [*self.definitions()]
        for node, name in self.formula.names.items():
            lines.append(f"{_word(name)} &= {write(self.writer, node)}")
        last = [write(self.writer, v) for v in self.outputs]
        if not lines and len(last) == 1 and self.states == [None]:
            return last[0]
        for v, state, text in zip(self.outputs, self.states, last, strict=True):
            lines.append(self.left(v, state) + text)
        return r"\begin{aligned}" + " \\\\\n".join(["", *lines])[3:] + "\n" + r"\end{aligned}"

    def left(self, v: Any, state: Any) -> str:
        """Return the text before an output: its name, or the state that it updates."""
        if state is not None:
            return rf"{self.writer.name(state)} &\leftarrow "
        return f"{_word(v.name)} &= " if v.name and v.owner else "&"

    def write(self, writer: Writer, x: Any) -> str:
        """Write a variable or a node; write dots if it does not fit."""
        width = None if self.most is None else max(self.most, FEWEST)
        text = writer.text(x, self.limit, width)
        if self.limit is None or len(text) <= self.limit:
            return text
        self.too_long = self.most is None or self.most > 1
        return r"\ldots"

    def definitions(self) -> Iterator[str]:
        """Yield definitions of the ops that hold graphs: `f(x) = …`."""
        ops = self.formula.ops
        for op, name in ops.items():
            inner = Formula(op.inner_outputs, ops, op.inner_inputs, self.most)
            w = Writer(inner)
            inputs = ", ".join([w.name(v) or "x" for v in op.inner_inputs])
            outputs = ", ".join([self.write(w, v) for v in op.inner_outputs])
            own = [f"{_word(a)} = {self.write(w, n)}" for n, a in inner.names.items()]
            where = rf" \text{{ where }} {'; '.join(own)}" if own else ""
            yield rf"{named(name)}\left({inputs}\right) &= {outputs}{where}"


def rule_as_latex(rule: Any) -> str:
    r"""Return both sides of a data rule: `\log\left(e^{x}\right) \to x`."""
    w = Writer(None)
    left, right = w.text(rule.left, None), getattr(rule.right, "names", None)
    then = w.text(rule.right, None) if right is None else text_of(rule.text.partition(" -> ")[2])
    return rf"{left} \to {then}"


class Writer:
    """Writer of terms: variables of a formula, or patterns if there is no formula."""

    def __init__(self, formula: Formula | None) -> None:
        self.formula = formula

    def text(self, x: Any, limit: int | None, width: int | None = None) -> str:
        """Return a variable or a pattern as text, or a node written out even if it has a name.
        width: how many operands of an op are written.
        """
        return write(x, limit=limit, width=width, name=self.name, call=self.call)

    def name(self, v: Any) -> str | None:
        """Return the name of a variable; None if it is written out."""
        if isinstance(v, Constant):
            return self.constant(v)
        formula = self.formula
        if formula is None:
            return None
        if v in formula.cut:
            return r"\ldots"
        known = formula.names.get(v.owner) if v.owner is not None else None
        if known is not None:
            return _word(known) + which_output(v)
        return None if v.owner is not None else _word(formula.name(v) or v.name or leaf_text(v))

    def call(self, op: Any, args: Sequence[Any], outer: int) -> Sequence[Token]:
        """Return the tokens of an op applied to operands."""
        if self.formula is None:
            names = [getattr(x, "name", None) for x in args]
            pairs = zip(args, names, strict=True)
            args = [Leaf(_word(name)) if isinstance(name, str) else x for x, name in pairs]
        elif args and isinstance(args[-1], Leaf):  # how many more there are
            args = [*args[:-1], Leaf(text_of(repr(args[-1])))]
        if self.formula is not None and op in self.formula.ops:
            return applied(named(self.formula.ops[op]), args)
        notation = NOTATIONS.get(called(op))
        if self.formula is None and called(op) in ALIKE:
            notation = None
        found = index_notation(self, op, args) if notation is None else None
        if notation is not None:
            found = notation(self, op, args, outer)
        return applied(operator(operator_text(op)), args) if found is None else found

    # --- what notations ask -----------------------------------------------------------------------

    def node(self, x: Any) -> Apply | None:
        """Return the node that computes an operand, if it is written out here."""
        node = getattr(x, "owner", None) if isinstance(x, Variable) else None
        return None if node is None or self.name(x) is not None else node

    def node_of(self, op: Any, args: Sequence[Any]) -> Any:
        """Return a stand-in for the result of an op applied to operands."""
        return SimpleNamespace(owner=SimpleNamespace(op=op, inputs=args))

    def is_single(self, x: Any) -> bool:
        """Return whether an operand is a name or a number, without a sign."""
        if isinstance(x, Constant):
            return re.fullmatch(r"\w+(\.\w+)?|\\\w+", self.constant(x)) is not None
        written = getattr(x, "owner", None) is None and not hasattr(x, "args")
        return written or (isinstance(x, Variable) and self.name(x) is not None)

    def constant(self, v: Constant) -> str:
        """Return the name or the value of a constant."""
        if v.name is not None:
            return _word(v.name)
        return text_of(v.value_text()) if v.number is None else self.number(v.number)

    def number(self, value: Any) -> str:
        """Return a number in LaTeX."""
        if isinstance(value, (bool, complex)):
            return text_of(repr(value))
        known = KNOWN.get(abs(value))
        if known is not None and isinstance(value, float):
            return ("-" if value < 0 else "") + known
        text = repr(value).replace("inf", r"\infty").replace("nan", r"\mathrm{nan}")
        digits, _, power = text.removesuffix(".0").partition("e")
        return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _word(name: str) -> str:
    r"""Return a name in LaTeX: `sigma_a` becomes `\sigma_{a}`, `theta_hat` `\hat{\theta}`, `x[t]`
    `x_{t}`; longer words are upright.
    """
    name, _, index = name.partition("[")
    first, *rest = [part for part in re.split(r"_+", name) if part] or [name]
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", first)
    if match:
        first, rest = match[1], [match[2], *rest]
    if first in FUNCTIONS and rest:  # `log_sigma` is no logarithm with an index
        return text_of(name)
    head = _letters(first, 1)
    if rest and ABOVE.get(rest[0]):
        head, rest = rf"\{ABOVE[rest[0]]}{{{head}}}", rest[1:]
    rest += [index.removesuffix("]")] if index else []
    tail = ",".join([_letters(part, 2) for part in rest])
    return head + (f"_{{{tail}}}" if tail else "")


def _letters(part: str, short: int) -> str:
    if part in GREEK:
        return f"\\{part}"
    return part if len(part) <= short and part.isalnum() else text_of(part)
