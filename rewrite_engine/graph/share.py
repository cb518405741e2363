"""Equal terms become one object, outside of a graph: what a `FunctionGraph` does at all times, for
terms that belong to none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.graph.intern import key_of
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort


class Shared:
    """A table of terms: equal ones among those it was asked about get the same variable.

    Linear in what it has not seen yet. A term in which nothing is equal to anything else is itself;
    otherwise nodes above are copied. `first` maps copies to the first variable that stood there.
    key_of: what two nodes have in common iff they are equal, given their inputs.
    """

    def __init__(self, key_of: Callable[[Any, tuple[Any, ...]], Any] = key_of) -> None:
        self.key_of = key_of
        self.nodes: dict[Any, Apply] = {}
        self.constants: dict[Any, Variable] = {}
        self.of: dict[Variable, Variable] = {}
        self.first: dict[Variable, Variable] = {}

    def __call__(self, v: Variable) -> Variable:
        """The one variable for all terms that are equal to this one."""
        of, nodes, first, key_of = self.of, self.nodes, self.first, self.key_of
        for node in toposort([v], of):
            inputs = tuple([of[i] if i in of else self.leaf(i) for i in node.inputs])
            key = key_of(node, inputs)
            own = nodes.get(key)
            if own is None:
                same = all([a is b for a, b in zip(inputs, node.inputs, strict=True)])
                own = nodes[key] = node if same else node.clone_with_new_inputs(inputs)
                for out, given in zip(own.outputs, node.outputs, strict=True):
                    first[out], of[out] = given, out
            if own is not node:
                of.update(zip(node.outputs, own.outputs, strict=True))
        return self.leaf(v)

    def leaf(self, v: Variable) -> Variable:
        """The variable for one that is known, or is no result of a node."""
        found = self.of.get(v)
        if found is None:
            found = v
            if isinstance(v, Constant):
                found = self.constants.setdefault(v.signature(), v)
            self.of[v] = found
        return found
