"""`pp`: a graph in the notation of mathematics, `log(1 + exp(x))`.

What is used more than once is written once, as a definition before the formula, so the text is
linear in the size of the graph. So are ops that hold a graph: `f(x) = exp(x) + 1`. Precedence is in
`terms/print.py`; graphs as trees are in `tree.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from rewrite_engine.graph.inner import HasInnerGraph, inner_ops
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import LOWEST
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.printing.tree import sources
from rewrite_engine.terms.print import (
    Token,
    call_tokens,
    leaf_text,
    letter,
    operator_text,
    tokens,
    which_output,
    write,
)


def pp(graph_like: Any, limit: int | None = None) -> str:
    """Return a graph as formulas, one line for each output.

    graph_like: a variable, a `FunctionGraph`, a compiled function, or a list of variables. A node
    that is used more than once is defined before: by the name of its variable, or `a`, `b`, ….
    limit: the most characters; what is more is cut off and marked by `…`.
    Raises `TypeError` for an object that has no graph.

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
    formula = Formula(outputs)
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


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[:limit].rstrip("…") + "…"


class Formula:
    """Writes variables; the nodes in `names` are referred to by name, and so are the ops that hold
    a graph (in `ops`, which are those of `outputs` by default).
    """

    def __init__(self, outputs: Sequence[Any], ops: dict[Any, str] | None = None) -> None:
        self.order = toposort(outputs)
        self.names = self._name_shared(outputs)
        self.ops = self._name_ops() if ops is None else ops

    def _name_ops(self) -> dict[Any, str]:
        """Names for the ops with graphs, and for those inside: their own, made distinct."""
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
        """The ops with graphs, inner ones first: `f(x) = a + exp(a) where a = sin(x)`."""
        for op, name in self.ops.items():
            inner = Formula(op.inner_outputs, self.ops)
            own = [f"{a} = {inner.text(n, limit)}" for n, a in inner.names.items()]
            outputs = ", ".join([inner.text(v, limit) for v in op.inner_outputs])
            where = f" where {'; '.join(own)}" if own else ""
            yield f"{name}({', '.join(map(leaf_text, op.inner_inputs))}) = {outputs}{where}"

    def _name_shared(self, outputs: Sequence[Any]) -> dict[Apply, str]:
        """Name the nodes that are used more than once."""
        used = [v.owner for node in self.order for v in node.inputs if v.owner is not None]
        times = Counter(used + [v.owner for v in outputs if v.owner is not None])
        roots = {v for node in self.order for v in node.inputs if v.owner is None}
        taken = {v.name for v in roots if v.name is not None}
        fresh = (name for name in map(str.lower, map(letter, count())) if name not in taken)
        names: dict[Apply, str] = {}
        for node in self.order:
            if times[node] < 2:
                continue
            own = node.outputs[0].name if len(node.outputs) == 1 else None
            names[node] = own if own is not None and own not in taken else next(fresh)
            taken.add(names[node])
        return names

    def lines(self, outputs: Sequence[Any], limit: int | None) -> Iterator[str]:
        """The definitions, and the outputs."""
        yield from self.definitions(limit)
        for node, name in self.names.items():
            yield f"{name} = {self.text(node, limit)}"
        for v in outputs:
            yield self.text(v, limit)

    def text(self, x: Any, limit: int | None) -> str:
        """A variable, or a node written out even if it has a name."""
        return write(x, limit=limit, name=self.name, call=self.call)

    def name(self, v: Any) -> str | None:
        """What a variable is called."""
        name = self.names.get(v.owner)
        return None if name is None else name + which_output(v)

    def call(self, op: Any, args: Sequence[Any], outer: int) -> Sequence[Token]:
        """An op applied to operands."""
        return call_tokens([self.ops[op]], args) if op in self.ops else formula(op, args, outer)


def formula(op: Any, args: Sequence[Any], outer: int = LOWEST) -> Sequence[Token]:
    """An op applied to operands, in the notation of formulas."""
    notation = getattr(op, "notation", None)
    special = None if notation is None else notation(args)
    if special is not None:
        return special  # type: ignore[no-any-return]
    name, _, params = operator_text(op).partition("{")
    params = params.removesuffix("}")
    if params and not params.startswith("inplace"):
        return [*call_tokens([name], args)[:-1], f", {params})"]
    return tokens(name, args, outer)
