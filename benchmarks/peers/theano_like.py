"""The work that libraries with Theano's interface do by the same text: ours and PyTensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import graphs
from benchmarks.peers.work import (
    FUNCTIONS,
    GRADIENTS,
    INPLACE_LEVELS,
    Value,
    best,
    exponent,
    per_node,
)


class Library:
    """pt: its tensors. grad: its gradient. compiled(inputs, outputs, *excluded): its `function`.
    nodes(f): how many nodes of a function are left. turns: how often a function is compiled.
    """

    def __init__(
        self,
        pt: Any,
        grad: Callable[..., Any],
        compiled: Callable[..., Any],
        nodes: Callable[[Any], int],
        turns: int,
    ) -> None:
        self.pt, self.grad, self.compiled, self.nodes, self.turns = pt, grad, compiled, nodes, turns

    def work(self) -> dict[str, Callable[[], Value]]:
        """Building, compiling, in-place insertion and the growth of gradients."""
        pt = self.pt
        x, y = pt.dvector("x"), pt.dvector("y")
        return {
            "unary": lambda: per_node(pt.exp, lambda: x),
            "binary": lambda: per_node(lambda out: out + y, lambda: x),
            **{name: self._function(*case) for name, case in FUNCTIONS.items()},
            "inplace": self.inplace,
            **{name: self._gradient(*case) for name, case in GRADIENTS.items()},
        }

    def _function(self, graph: Callable[..., graphs.Graph], size: int) -> Callable[[], Value]:
        def run() -> Value:
            def build() -> graphs.Graph:
                return graph(self.pt, self.grad, size)

            self.compiled(*graph(self.pt, self.grad, 3))
            seconds, f = best(lambda g: self.compiled(*g), build, self.turns)
            plain = self.compiled(*build(), "fusion")
            return seconds * 1e3, self.nodes(f), self.nodes(plain)

        return run

    def inplace(self) -> float:
        """Milliseconds by which compiling is slower with in-place insertion, without fusion."""

        def build() -> graphs.Graph:
            return graphs.chain(self.pt, self.grad, INPLACE_LEVELS)

        def seconds(*excluded: str) -> float:
            return best(lambda g: self.compiled(*g, *excluded), build, self.turns)[0]

        return max(0.0, seconds("fusion") - seconds("fusion", "inplace")) * 1e3

    def _gradient(self, graph: Callable[..., graphs.Graph], size: int) -> Callable[[], Value]:
        def seconds(n: int) -> float:
            return best(
                lambda g: self.compiled(*g), lambda: graph(self.pt, self.grad, n), self.turns
            )[0]

        return lambda: exponent(seconds, size)
