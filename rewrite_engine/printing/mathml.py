r"""`mathml`: the LaTeX of `latex.py` as MathML, which browsers draw without a script.

Translates the commands that `latex.py` and `mathematics.py` write: these hold the only table of
notations, and this module defines how each command looks (a test compares the two). Accepts text
that was cut: groups that are open at the end are closed there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape
from typing import NamedTuple
from unicodedata import lookup

#: a piece of LaTeX; upright text is one piece, with all that is between its braces
PIECE = re.compile(
    r"\\(?P<font>mathrm|text|operatorname)\{(?P<text>(?:[^{}\\]|\\.|\{[^{}]*\})*)\}"
    r"|\\begin\{(?P<begin>\w+)\}|\\end\{(?P<end>\w+)\}"
    r"|\\mathrel\{(?P<relation>[^{}]*)\}="
    r"|\\left(?![a-z])\s*\\?(?P<left>lfloor|lceil|.)"
    r"|\\right(?![a-z])\s*\\?(?P<right>rfloor|rceil|.)"
    r"|\\(?P<command>[A-Za-z]+)|\\(?P<sign>.)|(?P<number>\d+(?:\.\d+)?)|(?P<letter>\S)",
    re.DOTALL,
)
#: operators that are spelled as commands
OPERATORS = {
    "cdot": "⋅", "odot": "⊙", "to": "→", "leftarrow": "←", "le": "≤", "ge": "≥", "ne": "≠",
    "land": "∧", "lor": "∨", "lnot": "¬", "bmod": "mod", "sum": "∑", "prod": "∏",
}  # fmt: skip
#: what stands for a value
VALUES = {"infty": "∞", "top": "⊤", "ldots": "…"}
#: functions, which are upright and have a space before an operand without brackets
FUNCTIONS = frozenset({
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "exp",
    "max", "min", "det",
})  # fmt: skip
#: what has its index below it
LIMITS = frozenset({"∑", "∏", "max", "min", "det"})
ACCENTS = {"overline": "‾", "hat": "^", "bar": "¯", "tilde": "~", "dot": "˙"}
#: commands with operands, and how many
OPERANDS = {"frac": 2, "tfrac": 2, "sqrt": 1} | dict.fromkeys(ACCENTS, 1)
#: tables, and how their columns are aligned
COLUMNS = {"aligned": ("right", "left"), "cases": ("left", "left")}
FENCES = {"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", ".": ""}
SPACES = {",": 3, ";": 5}  # eighteenths of an em
SIGNS = {"-": "−", "+": "+"}  # of a sum, or before a value
OTHERS = frozenset("=<>,:;()[]|/!*")  # characters that are operators
BRACKETS = frozenset("()[]|")
#: brackets of the usual size; what there is in brackets that have to be taller
FLAT = ' stretchy="false"'
TALL = re.compile("<(mfrac|msup|msubsup|msqrt|munder|mover|mtable)|∑|∏")
#: characters that stand for commands in text
SPELLED = {"backslash": "\\", "textbackslash": "\\"}


class Element(NamedTuple):
    """Element of a formula. content: its content, as text. parts: the base and the index of an
    element with an index, or the cells of a row of a table. kind: "function", "sign", "operator",
    "fenced", "end" (of brackets), or none of these.
    """

    tag: str
    content: str = ""
    attributes: str = ""
    kind: str = ""
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"<{self.tag}{self.attributes}>{self.content}</{self.tag}>"


class OpenGroup:
    """Part of a formula that is still open. build: makes an element from its content. end: the text
    that ends it. wanted: how many operands it takes, None if a text ends it.
    """

    __slots__ = ("build", "end", "items", "wanted")

    def __init__(
        self, build: Callable[[list[Element]], Element], end: str = "", wanted: int | None = None
    ) -> None:
        self.build, self.end, self.wanted = build, end, wanted
        self.items: list[Element] = []


def mathml(latex: str, annotated: bool = True) -> str:
    r"""Return LaTeX written by `latex` as a `<math>` element. annotated: include the LaTeX, for
    programs that copy formulas.

    >>> print(mathml("x^{2}", annotated=False))
    <math displaystyle="true"><msup><mi>x</mi><mn>2</mn></msup></math>
    """
    formula = str(Translator().translated(latex))
    if annotated:
        source = f'<annotation encoding="application/x-tex">{escape(latex, False)}</annotation>'
        formula = f"<semantics>{formula}{source}</semantics>"
    return f'<math displaystyle="true">{formula}</math>'


class Translator:
    """Translator that reads LaTeX from left to right, with a stack of the open groups."""

    def __init__(self) -> None:
        self.open = [OpenGroup(row)]

    def translated(self, latex: str) -> Element:
        """Return a formula as one element."""
        for piece in PIECE.finditer(latex):
            self.read(piece)
        while len(self.open) > 1:
            self.close()
        return row(self.open[0].items)

    def read(self, piece: re.Match[str]) -> None:
        """Read the next piece of LaTeX."""
        kind = piece.lastgroup or ""
        text = piece[kind] if kind else ""
        if kind == "text":
            self.put(upright(piece["font"], text))
        elif kind == "relation":
            self.put(Element("mo", f"{escape(text)}=", kind="operator"))
        elif kind == "number":
            self.put(Element("mn", text))
        elif kind:
            getattr(self, f"read_{kind}")(text)

    # --- groups -----------------------------------------------------------------------------------

    def put(self, element: Element) -> None:
        """Add an element to the innermost group, which may be complete then."""
        group = self.open[-1]
        if group.wanted is None:
            last = group.items[-1].kind if group.items else "operator"
            if element.kind == "sign" and last in ("operator", "sign"):
                element = element._replace(attributes=' form="prefix"')
            if last == "function" and element.kind not in ("operator", "fenced"):
                group.items.append(space(3))
        group.items.append(element)
        if len(group.items) == group.wanted:
            self.close()

    def start(
        self, build: Callable[[list[Element]], Element], end: str = "", wanted: int | None = None
    ) -> None:
        """Open a group in the innermost one."""
        self.open.append(OpenGroup(build, end, wanted))

    def close(self) -> None:
        """Close the innermost group. Operands that were cut off are empty."""
        group = self.open.pop()
        missing = (group.wanted or 0) - len(group.items)
        self.put(group.build(group.items + [Element("mrow")] * missing))

    def close_to(self, end: str) -> bool:
        """Close all groups inside the innermost one that `end` ends; return whether there is
        one.
        """
        if all(group.end != end for group in self.open):
            return False
        while self.open[-1].end != end:
            self.close()
        return True

    # --- pieces -----------------------------------------------------------------------------------

    def read_letter(self, letter: str) -> None:
        """Read a character that is no digit."""
        if letter == "{":
            self.start(row, "}")
        elif letter == "}":
            if self.close_to("}"):
                self.close()
        elif letter in "^_":
            items = self.open[-1].items
            base = items.pop() if items else Element("mrow")
            self.start(partial(scripted, letter, base), wanted=1)
        elif letter == "&":
            self.next("cell", cell)
        elif letter in SIGNS:
            self.put(Element("mo", SIGNS[letter], kind="sign"))
        elif letter in OTHERS:
            plain = FLAT if letter in BRACKETS else ""
            self.put(Element("mo", escape(letter), plain, kind="operator"))
        else:
            self.put(Element("mi" if letter.isalpha() else "mtext", escape(letter)))

    def read_command(self, name: str) -> None:
        """Read a command that is spelled in letters."""
        if name in OPERANDS:
            self.start(partial(built, name), wanted=OPERANDS[name])
        elif name in OPERATORS:
            self.put(Element("mo", OPERATORS[name], kind="operator"))
        elif name in FUNCTIONS:
            self.put(Element("mi", name, kind="function"))
        else:
            self.put(Element("mi", VALUES.get(name) or letter_of(name)))

    def read_sign(self, sign: str) -> None:
        """Read a backslash with a sign: the end of a line, a space, or the sign itself."""
        if sign == "\\":
            self.next("line", line)
            self.start(cell, "cell")
        elif sign in SPACES:
            self.put(space(SPACES[sign]))
        else:
            self.put(Element("mtext", escape(sign)))

    def read_left(self, sign: str) -> None:
        """Read an opening bracket that is as tall as its content."""
        self.start(partial(fenced, FENCES.get(sign, sign)), "right")

    def read_right(self, sign: str) -> None:
        """Read a closing bracket that is as tall as its content."""
        if self.close_to("right"):
            end = Element("mo", escape(FENCES.get(sign, sign)), kind="end")
            self.open[-1].items.append(end)
            self.close()

    def read_begin(self, name: str) -> None:
        """Read the beginning of a table."""
        self.start(partial(table, name), name)
        self.start(line, "line")
        self.start(cell, "cell")

    def read_end(self, name: str) -> None:
        """Read the end of a table."""
        if self.close_to(name):
            self.close()

    def next(self, end: str, build: Callable[[list[Element]], Element]) -> None:
        """Close a cell or line of a table, and open the next one."""
        if self.close_to(end):
            self.close()
            self.start(build, end)


# --- elements ------------------------------------------------------------------------------------


def row(items: list[Element]) -> Element:
    """Return elements side by side; a single one unchanged."""
    return items[0] if len(items) == 1 else Element("mrow", "".join(map(str, items)))


def space(eighteenths: int) -> Element:
    """Return a space of a width in eighteenths of an em."""
    return Element("mspace", attributes=f' width="{eighteenths / 18:.3f}em"')


def upright(font: str, text: str) -> Element:
    """Return a word in upright letters."""
    said = re.sub(r"\\([A-Za-z]+)(?:\{\})?|\\(.)", lambda m: m[2] or SPELLED.get(m[1], m[1]), text)
    said = escape(said, False).replace(" ", "\N{NO-BREAK SPACE}")
    if font == "text":
        return Element("mtext", said)
    normal = ' mathvariant="normal"' if len(said) == 1 else ""
    return Element("mi", said, normal, "function" if font == "operatorname" else "")


def letter_of(name: str) -> str:
    """Return the Greek letter with a LaTeX name; any other name unchanged."""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    spelled = name.upper().replace("LAMBDA", "LAMDA")  # (as in the names of Unicode)
    try:
        return lookup(f"GREEK {size} LETTER {spelled}")
    except KeyError:
        return name


def built(name: str, items: list[Element]) -> Element:
    """Return a command with its operands."""
    if name == "frac":
        return Element("mfrac", "".join(map(str, items)))
    if name == "tfrac":
        return Element("mfrac", "".join(map(str, items)), ' displaystyle="false"')
    if name == "sqrt":
        return Element("msqrt", str(items[0]))
    stretchy = "true" if name == "overline" else "false"
    accent = f'<mo stretchy="{stretchy}">{ACCENTS[name]}</mo>'
    return Element("mover", f"{items[0]}{accent}", ' accent="true"')


def scripted(letter: str, base: Element, items: list[Element]) -> Element:
    """Return a base with an index or exponent, next to one that it already has."""
    limits = letter == "_" and base.content in LIMITS
    tag = "munder" if limits else {"_": "msub", "^": "msup"}[letter]
    parts: tuple[str, ...] = (str(base), str(items[0]))
    if {base.tag, tag} == {"msub", "msup"}:
        (first, old), new = base.parts, parts[1]
        parts = (first, old, new) if tag == "msup" else (first, new, old)
        tag = "msubsup"
    return Element(tag, "".join(parts), kind=base.kind, parts=parts)


def fenced(sign: str, items: list[Element]) -> Element:
    """Return the content between brackets, with the brackets; the second one may have been cut off.
    (They are as tall as the content, since they are its first and last elements.)
    """
    ends = [one for one in items[-1:] if one.kind == "end"]
    inside = row(items[: len(items) - len(ends)])
    both = [Element("mo", escape(sign)), *ends]
    if not TALL.search(str(inside)):
        both = [one._replace(attributes=FLAT) for one in both]
    return row([both[0], inside, *both[1:]])._replace(kind="fenced")


def cell(items: list[Element]) -> Element:
    """Return a cell of a table."""
    return Element("mtd", "".join(map(str, items)))


def line(items: list[Element]) -> Element:
    """Return a row of a table; its parts are the cells."""
    return Element("mtr", parts=tuple([one.content for one in items]))


def table(name: str, items: list[Element]) -> Element:
    """Return a table; a table of cases has a brace before it."""
    sides = COLUMNS.get(name, ("left",))
    lines = []
    for one in items:
        cells = [
            f'<mtd style="text-align:{side}">{content}</mtd>'
            for side, content in zip(sides * len(one.parts), one.parts, strict=False)
        ]
        lines.append(f"<mtr>{''.join(cells)}</mtr>")
    align = f' columnalign="{" ".join(sides)}" displaystyle="true"'
    found = Element("mtable", "".join(lines), align)
    return fenced("{", [found]) if name == "cases" else found
