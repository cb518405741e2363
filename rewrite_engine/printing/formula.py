"""`pp`: a graph in mathematical notation, `log(1 + exp(x))`.

A term that is used more than once is written once, as a definition before the formula, so the text
is linear in the size of the graph. An op that holds a graph is defined too: `f(x) = exp(x) + 1`.
Precedence is defined in `terms/print.py`; trees are in `tree.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, groupby
from typing import Any

from rewrite_engine.graph.assigned import assigned_name
from rewrite_engine.graph.inner import HasInnerGraph, inner_ops
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.number import Leaf
from rewrite_engine.graph.op import LOWEST
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.printing.part import part_of
from rewrite_engine.printing.tree import sources
from rewrite_engine.terms.print import (
    Token,
    call_tokens,
    leaf_text,
    letter,
    name_of,
    operator_text,
    tokens,
    which_output,
    write,
)


def pp(graph_like: Any, limit: int | None = None) -> str:
    """Return a graph as formulas, one line for each output.

    graph_like: a variable, a `FunctionGraph`, a compiled function, or a list of variables. A node
    that is used more than once is defined first, under the name of its variable, or `a`, `b`, ….
    limit: the maximum number of characters; longer text is cut off and marked by `…`, and only the
    nodes near the outputs are read if a graph has more nodes than fit. Raises `TypeError` for an
    object that has no graph.

    >>> from tests.toy import num, log, exp, add, mul
    >>> x = num("x")
    >>> pp(log(add(1, exp(x))))
    'log(1.0 + exp(x))'
    >>> y = add(x, 1)
    >>> print(pp(mul(y, log(y))))
    a = x + 1.0
    a * log(a)
    """
    outputs = [v for source in sources(graph_like) for v in source.outputs]
    most = None if limit is None else max(limit // EACH, FEW)
    formula = Formula(outputs, most=most)
    out: list[str] = []
    left = limit
    for line in formula.lines(outputs, limit):
        out.append(line)
        if left is not None:
            left -= len(line) + 1
            if left < 0:
                return _cut("\n".join(out), limit)
    return "\n".join(out)


pprint = pp

#: of what is written on one line, such as a `repr`: characters, levels, operands of an op
LINE, LEVELS, WIDTH = 100, 40, 20


def short(outputs: Any, limit: int = LINE) -> str:
    """Return one or several variables as formulas on one line, cut at `limit` characters, as a
    `repr` shows them. It takes the same time for a graph of any size.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> short(pt.exp(x) + 1)
    'exp(x) + 1.0'
    """
    out: list[str] = []
    names = Roots()
    for v in [outputs] if isinstance(outputs, Variable) else outputs:
        size = {"depth": LEVELS, "width": WIDTH, "limit": limit}
        out.append(write(v, name=names, call=formula, **size))  # type: ignore[arg-type]
        limit -= len(out[-1])
        if limit < 0:
            break
    return ", ".join(out)


class Roots(dict[Variable, str]):
    """Names of variables on a line. Roots that would look like an earlier one get a number."""

    def __init__(self) -> None:
        self.alike: Counter[str] = Counter()

    def __call__(self, v: Any) -> str | None:
        if v.owner is not None or isinstance(v, Constant):
            return v.name  # type: ignore[no-any-return]
        if v not in self:
            text = leaf_text(v)
            self.alike[text] += 1
            if self.alike[text] > 1:
                text = f"{text.removesuffix('>')}_{self.alike[text]}{'>' * text.endswith('>')}"
            self[v] = text
        return self[v]


#: a word that stands alone
_WORD = re.compile(r"[A-Za-z_]\w*")


def _assigned_names(order: Sequence[Apply]) -> dict[Apply, str]:
    """The names that the program assigned the results of nodes to. Where one line made several
    nodes, the last one; nodes of gradients have none, as their line assigns something else.
    """
    last: dict[str, Apply] = {}
    for node in order:
        origin = node.origin
        if origin is None or len(node.outputs) > 1 or forward_line(origin) is not None:
            continue
        name = assigned_name(origin[0] if len(origin) > 2 else origin)
        if name is not None:
            last[name] = node
    return {node: name for name, node in last.items()}


def _is_constant(v: Any) -> bool:
    return isinstance(v, Constant)


#: characters that a node takes, about; nodes that are looked at, whatever the limit
EACH, FEW = 8, 20


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[:limit].rstrip("…") + "…"


class Formula:
    """Writer of variables. It refers by name to the nodes in `names` and to the ops that hold a
    graph (in `ops`, by default those of `outputs`). roots: distinct names of roots whose own names
    are ambiguous. inputs: the inputs of the graph. most: how many nodes are written (`part_of`);
    the others appear as `…`. by_source: nodes without a name get the name that
    the program assigned them to.
    """

    def __init__(
        self,
        outputs: Sequence[Any],
        ops: dict[Any, str] | None = None,
        inputs: Sequence[Any] = (),
        most: int | None = None,
        by_source: bool = False,
    ) -> None:
        self.outputs = outputs
        self.order, self.cut = part_of(outputs, most)
        self.assigned = _assigned_names(self.order) if by_source else {}
        self.ops = self._name_ops() if ops is None else ops
        self.taken = self._words()
        self.fresh = (n for n in map(str.lower, map(letter, count())) if n not in self.taken)
        self.roots = self._name_roots([*inputs, *outputs], bool(inputs))
        self.names = self._name_shared(outputs)

    def _words(self) -> set[str]:
        """Return the words in the texts of ops, so that no letter looks like a part of them."""
        texts = {operator_text(op) for op in dict.fromkeys(n.op for n in self.order)}
        return {word for text in texts for word in _WORD.findall(text)}

    def _name_roots(self, others: Sequence[Any], inside: bool) -> dict[Any, str]:
        """Return names for roots: the first root of a name keeps it, others get a number. Unnamed
        roots get letters if several have the same text, or if they are inside an op.
        """
        found = [*others, *[v for node in self.order for v in node.inputs]]
        roots = [v for v in dict.fromkeys(found) if v.owner is None and not _is_constant(v)]
        called = {v: name_of(v) for v in roots}
        self.taken |= {name for name in called.values() if name is not None}
        self.taken |= {w for name in called.values() for w in _WORD.findall(name or "")}  # x[t]
        alike = Counter([leaf_text(v) for v in roots])
        names: dict[Any, str] = {}
        for v in roots:
            text = leaf_text(v)
            if called[v] is None and (alike[text] > 1 or inside):
                names[v] = next(self.fresh)
                self.taken.add(names[v])
        for text, n in alike.items():
            if n > 1 and (same := [v for v in roots if called[v] == text])[1:]:
                numbered = (f"{text}_{k}" for k in count(2))
                free = (name for name in numbered if name not in self.taken)
                names.update(zip(same[1:], free, strict=False))
        self.taken |= set(names.values())
        return names

    def _name_ops(self) -> dict[Any, str]:
        """Return distinct names for the ops with graphs, and for those inside."""
        found = [
            op for op in dict.fromkeys(n.op for n in self.order) if isinstance(op, HasInnerGraph)
        ]
        times: Counter[str] = Counter()
        names = {}
        for op in inner_ops(found):
            times[str(op)] += 1
            names[op] = str(op) + (str(times[str(op)]) if times[str(op)] > 1 else "")
        return names

    def definitions(self, limit: int | None) -> Iterator[str]:
        """Yield definitions of the ops with graphs, inner ones first: `f(x) = a + exp(a) where a =
        sin(x)`.
        """
        for op, name in self.ops.items():
            inner = Formula(op.inner_outputs, self.ops, op.inner_inputs)
            own, outputs = inner.parts(limit)
            where = f" where {'; '.join(own)}" if own else ""
            yield f"{name}({inner.parameters(op)}) = {', '.join(outputs)}{where}"

    def functions(self, limit: int | None) -> Iterator[list[str]]:
        """Yield the ops with graphs, inner ones first, each as the lines of a function with types;
        a term that is used more than once has the name that the program gave it.
        """
        for op, name in self.ops.items():
            inner = Formula(op.inner_outputs, self.ops, op.inner_inputs, by_source=True)
            own, outputs = inner.parts(limit)
            head, end = f"{name}({inner.typed_parameters(op)})", ", ".join(outputs)
            if not own:
                yield [f"{head} = {end}"]
                continue
            types = [", ".join([type_text(v.type) for v in node.outputs]) for node in inner.names]
            lines = [f"{line}   {text}" for line, text in zip(own, types, strict=True)]
            yield [f"def {head}:", *[f"    {line}" for line in (*lines, f"return {end}")]]

    def parts(self, limit: int | None) -> tuple[list[str], list[str]]:
        """Return shared terms as definitions, and the outputs."""
        own = [f"{name} = {self.text(node, limit)}" for node, name in self.names.items()]
        return own, [self.text(v, limit) for v in self.outputs]

    def parameters(self, op: Any) -> str:
        """The inputs of the graph of an op."""
        return ", ".join([self.roots.get(v) or leaf_text(v) for v in op.inner_inputs])

    def typed_parameters(self, op: Any) -> str:
        """Return the inputs of the graph of an op with their types; the type of several inputs in
        a row stands once, behind them.
        """
        found = []
        for text, same in groupby(op.inner_inputs, key=lambda v: type_text(v.type)):
            names = ", ".join([self.roots.get(v) or leaf_text(v) for v in same])
            found.append(f"{names}: {text}")
        return ", ".join(found)

    def _name_shared(self, outputs: Sequence[Any]) -> dict[Apply, str]:
        """Name the nodes that are used more than once."""
        used = [v.owner for node in self.order for v in node.inputs if v.owner is not None]
        times = Counter(used + [v.owner for v in outputs if v.owner is not None])
        names: dict[Apply, str] = {}
        for node in self.order:
            if times[node] < 2:
                continue
            own = node.outputs[0].name if len(node.outputs) == 1 else None
            own = own or self.assigned.get(node)
            names[node] = own if own is not None and own not in self.taken else next(self.fresh)
            self.taken.add(names[node])
        return names

    def lines(self, outputs: Sequence[Any], limit: int | None) -> Iterator[str]:
        """Yield the definitions and the outputs, line by line."""
        yield from self.definitions(limit)
        for node, name in self.names.items():
            yield f"{name} = {self.text(node, limit)}"
        for v in outputs:
            yield self.text(v, limit)

    def text(self, x: Any, limit: int | None) -> str:
        """Return a variable as text, or a node written out even if it has a name."""
        return write(x, limit=limit, name=self.name, call=self.call)

    def name(self, v: Any) -> str | None:
        """Return the name of a variable, or None."""
        if v in self.cut:
            return "…"
        name = self.names.get(v.owner)
        return self.roots.get(v) if name is None else name + which_output(v)

    def call(self, op: Any, args: Sequence[Any], outer: int) -> Sequence[Token]:
        """Return the tokens of an op applied to operands."""
        if op not in self.ops:
            return formula(op, args, outer)
        return call_tokens([self.ops[op]], [*_in_short(args)])


def type_text(type_: Any) -> str:
    """Return a type in a few words: `float64[3, ?]`, or `float64` of a scalar."""
    if not hasattr(type_, "dtype"):
        return str(type_)
    lengths = ", ".join("?" if n is None else str(n) for n in type_.shape)
    return f"{type_.dtype}[{lengths}]" if lengths else str(type_.dtype)


def _in_short(args: Sequence[Any]) -> Iterator[Any]:
    """Yield operands; three or more empty arrays in a row are abbreviated to one."""
    for empty, some in groupby(args, _is_empty):
        found = [*some]
        if empty and len(found) > 2:
            yield Leaf(f"… {len(found)} arrays without elements")
        else:
            yield from found


def _is_empty(v: Any) -> bool:
    return isinstance(v, Constant) and getattr(v.data, "size", 1) == 0


def formula(op: Any, args: Sequence[Any], outer: int = LOWEST) -> Sequence[Token]:
    """Return the tokens of an op applied to operands, in the notation of formulas."""
    args = [*_in_short(args)] if isinstance(op, HasInnerGraph) else args
    notation = getattr(op, "notation", None)
    special = None if notation is None else notation(args)
    if special is not None:
        return special  # type: ignore[no-any-return]
    name, _, params = operator_text(op).partition("{")
    params = params.removesuffix("}")
    if params and not params.startswith("inplace"):
        return [*call_tokens([name], args)[:-1], f", {params})"]
    return tokens(name, args, outer)
