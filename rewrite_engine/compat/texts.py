"""PyTensor's one-line texts of graphs: `as_string`, and `str` of a `FunctionGraph`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable

__all__ = ["as_string", "default_leaf_formatter", "default_node_formatter", "text_of_graph"]


def default_leaf_formatter(leaf: Variable) -> str:
    """Return the text of a variable that no node computes."""
    return str(leaf)


def default_node_formatter(op: Any, argstrings: Iterable[str]) -> str:
    """Return the text of an op applied to operands."""
    return f"{op.op}({', '.join(argstrings)})"


def as_string(
    inputs: Collection[Variable],
    outputs: Iterable[Variable],
    leaf_formatter: Callable[[Variable], str] = default_leaf_formatter,
    node_formatter: Callable[[Any, Any], str] = default_node_formatter,
) -> list[str]:
    """Return each output as a term of the inputs. A term in several places is written once, after
    `*1 -> `, and then as `*1`; one of several outputs has its index after `::`.

    >>> import rewrite_engine.tensor as pt
    >>> x, y = pt.scalars("x", "y")
    >>> z = x * y
    >>> as_string([x, y], [pt.exp(z) + z])
    ['add(exp(*1 -> mul(x, y)), *1)']
    """
    outputs, ends = list(outputs), frozenset(inputs)
    numbers = _used_again(outputs, ends)
    texts, written = list[str](), set[Apply]()
    todo: list[Any] = [*reversed(outputs)]
    while todo:
        v = todo.pop()
        if isinstance(v, _Done):
            n = len(texts) - len(v.node.inputs)
            text = node_formatter(v.node, texts[n:])
            number = numbers.get(v.node)
            texts[n:] = [text if number is None else f"*{number} -> {text}"]
            texts[-1] += v.place
        elif v.owner is None or v in ends:
            texts.append(leaf_formatter(v))
        elif v.owner in written:
            texts.append(f"*{numbers[v.owner]}{_place(v)}")
        else:
            written.add(v.owner)
            todo += [_Done(v.owner, _place(v)), *reversed(v.owner.inputs)]
    return texts


class _Done:
    """Marker that the operands of a node are written."""

    def __init__(self, node: Apply, place: str) -> None:
        self.node, self.place = node, place


def _place(v: Any) -> str:
    return f"::{v.index}" if len(v.owner.outputs) > 1 else ""


def _used_again(outputs: Sequence[Variable], ends: Collection[Variable]) -> dict[Apply, int]:
    """Return the nodes that are used in several places, numbered in the order of their second
    use.
    """
    seen, again = set[Apply](), dict[Apply, int]()
    todo = [*reversed(outputs)]
    while todo:
        v = todo.pop()
        if v.owner is None or v in ends:
            continue
        if v.owner in seen:
            again.setdefault(v.owner, len(again) + 1)
        else:
            seen.add(v.owner)
            todo += reversed(v.owner.inputs)
    return again


def char_from_number(number: int) -> str:
    """Return a number with the digits A to Z: 26 is BA."""
    digits = ""
    while number >= 26:
        number, digit = divmod(number, 26)
        digits = chr(ord("A") + digit) + digits
    return chr(ord("A") + number) + digits


def text_of_graph(graph: FrozenGraph) -> str:
    """Return a graph as the text of its outputs."""
    return f"FunctionGraph({', '.join(as_string(graph.inputs, graph.outputs))})"
