"""Values of all terms of a record in one call (`TermValues`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import DebugModeError
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.link.debug.contract import Contract
from rewrite_engine.link.debug.noise import SAMPLES, moved, noisy
from rewrite_engine.link.debug.storage import copy_of

NEAR = 200  # nodes of a term that noise is made in
MAX_INNER_RUNS = 2_000  # of nodes in loops, with noise in each


class NoValue(Exception):
    """Raised for a term without a value: a root has none, or an operand failed."""


class Noise:
    """Runner of nodes with noise in each result. In a loop, each result of each step gets noise,
    which grows from step to step; after `MAX_INNER_RUNS`, only the values passed to the next step
    do.
    """

    def __init__(self, contract: Contract, rng: Any) -> None:
        self.contract, self.rng = contract, rng
        self.inner_runs = 0

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the results of a node. Raises the errors of the node."""
        op = node.op
        if not isinstance(op, HasInnerGraph) or op.runs is None or op.mode is not None:
            found = self.contract.plain(node, given)
        else:
            made = op.runs(node, self.body(op))(*[copy_of(x) for x in given])
            found = [made] if len(node.outputs) == 1 else list(made)
        return [noisy(node, given, x, self.rng) for x in found]

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function of the graph inside an op, with noise."""
        graph, plain = op.fgraph, self.contract.linker.body(op)
        single = len(graph.outputs) == 1

        def run(*values: Any) -> Any:
            self.inner_runs += len(graph)
            if self.inner_runs > MAX_INNER_RUNS:
                found = plain(*values)
                return moved(found, self.rng) if single else [moved(x, self.rng) for x in found]
            inside = NoisyValues(self, graph.inputs, values)
            found = [inside.value(v) for v in graph.outputs]
            return found[0] if single else found

        return run


class TermValues:
    """Values of terms, each computed once, when it is required. contract: runs nodes.

    failed: {variable: (error, node, values of its inputs)} for nodes that raised an error.
    """

    def __init__(
        self, contract: Contract, inputs: Sequence[Variable], values: Sequence[Any]
    ) -> None:
        self.contract = contract
        self.values: dict[Variable, Any] = dict(zip(inputs, values, strict=True))
        self.failed: dict[Variable, tuple[Exception, Apply | None, Sequence[Any]]] = {}

    def value(self, v: Variable) -> Any:
        """Return the value of a term. Raises `NoValue`, and the `DebugModeError` of a node."""
        if isinstance(v, Constant):
            return v.data
        stack = [v]
        while stack:
            w = stack[-1]
            if self.is_known(w):
                stack.pop()
                continue
            if w.owner is None:
                self.failed[w] = NoValue(f"{w} has no value"), None, ()
                continue
            todo = self.missing(w.owner)
            if todo:
                stack += todo
                continue
            stack.pop()
            self.compute(w.owner)
        if v in self.failed:
            raise NoValue from self.failed[v][0]
        return self.values[v]

    def is_known(self, v: Variable) -> bool:
        """Return whether a variable has a value, or is known to have none."""
        return isinstance(v, Constant) or v in self.values or v in self.failed

    def read(self, node: Apply) -> list[Variable | None]:
        """Return the inputs that a node reads, as far as this is known (None: it is not)."""
        inputs = node.inputs
        if node.op.read_if is None:
            return list(inputs)
        found: list[Variable | None] = []
        for v, asked in zip(inputs, node.op.read_if(node), strict=True):
            if asked is not None:
                c, holds = inputs[asked[0]], asked[1]
                known = c.data if isinstance(c, Constant) else self.values.get(c)
                found.append(v if known is not None and bool(known) is holds else None)
            else:
                found.append(v)
        return found

    def missing(self, node: Apply) -> list[Variable]:
        """Return the variables that must be computed before a node."""
        return [v for v in self.read(node) if v is not None and not self.is_known(v)]

    def compute(self, node: Apply) -> None:
        """Compute a node whose operands are known."""
        read = self.read(node)
        bad = next((self.failed[v] for v in read if v in self.failed), None)
        if bad is not None:
            self.failed.update(dict.fromkeys(node.outputs, bad))
            return
        given = [None if v is None else self.at_hand(v) for v in read]
        try:
            found = self.run(node, given)
        except DebugModeError:
            raise
        except Exception as error:
            self.failed.update(dict.fromkeys(node.outputs, (error, node, given)))
            return
        self.values.update(zip(node.outputs, found, strict=True))

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the results of a node. Raises the errors of the node."""
        return self.contract.run(node, given)

    def at_hand(self, v: Variable) -> Any:
        """Return a known value."""
        return v.data if isinstance(v, Constant) else self.values[v]

    def needed(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Return the variables that outputs depend on, by the current branches, operands first."""
        operands: dict[Apply, list[Variable]] = {}
        stack = list(outputs)
        while stack:
            node = stack.pop().owner
            if node is not None and node not in operands:
                operands[node] = [v for v in self.read(node) if v is not None]
                stack += operands[node]
        roots = [v for read in operands.values() for v in read if v.owner is None]
        made = [v for node in toposort(outputs, (), operands) for v in node.outputs]
        return [*dict.fromkeys((*roots, *[v for v in outputs if v.owner is None])), *made]

    # --- how well a value is determined ----------------------------------------------------------

    def cone(self, before: Variable, after: Variable) -> list[Apply]:
        """Return the nodes that one term has and another has not, in running order, limited to the
        nearest ones.
        """
        shared = {v for v in ancestors([after], [before]) if v is not before}
        nodes: dict[Apply, None] = {}
        level = [before]
        while level and len(nodes) < NEAR:
            makers = [v.owner for v in level if v.owner is not None and v not in shared]
            fresh = dict.fromkeys([node for node in makers if node not in nodes])
            nodes.update(fresh)
            level = [v for node in fresh for v in node.inputs]
        return [node for node in toposort([before], shared) if node in nodes]

    def leaves(self, cone: Sequence[Apply]) -> list[Variable]:
        """Return the operands of nodes that these nodes do not compute."""
        made = {v for node in cone for v in node.outputs}
        return list(dict.fromkeys([v for node in cone for v in node.inputs if v not in made]))

    def replayed(
        self, v: Variable, cone: Sequence[Apply], leaves: dict[Variable, Any], rng: Any = None
    ) -> Any:
        """Return the value of a term for other values of leaves, or with noise in each result.
        Raises the errors of nodes.
        """
        values: dict[Variable, Any] = dict(leaves)
        noise: Noise | None = None
        for node in cone:
            given = [
                None if w is None else values[w] if w in values else self.value(w)
                for w in self.read(node)
            ]
            noise = None if rng is None else noise or Noise(self.contract, rng)
            found = self.contract.plain(node, given) if noise is None else noise.run(node, given)
            values.update(zip(node.outputs, found, strict=True))
        return values[v]

    def samples(self, v: Variable, cone: Sequence[Apply]) -> list[Any]:
        """Return values of a term under noise; none if some noise makes it fail."""
        rng, found = np.random.default_rng(0), []
        for _ in range(SAMPLES):
            try:
                found.append(self.replayed(v, cone, {}, rng))
            except Exception:
                return []
        return found


class NoisyValues(TermValues):
    """Values of the graph inside an op in one run, with noise in each."""

    def __init__(self, noise: Noise, inputs: Sequence[Variable], values: Sequence[Any]) -> None:
        super().__init__(noise.contract, inputs, values)
        self.noise = noise

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        return self.noise.run(node, given)
