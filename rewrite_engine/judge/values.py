"""Values of terms: each is computed once, when it is required (`TermValues`). How a node runs is
another object's business: `Reference` runs `perform`, DebugMode every form of an op with its
checks, and `NoisyRunner` (`noise.py`) adds noise to each result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from rewrite_engine import hooks
from rewrite_engine.errors import DebugModeError
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import ancestors, toposort

MAX_CONE_NODES = 200  # of a term, nearest first; what is below them is taken as given
MAX_STEPS_BETWEEN = 30  # from an operand back to another one


class NoValue(Exception):
    """Raised for a term without a value: a root has none, or an operand failed."""


class Runner(Protocol):
    """What runs the nodes of terms."""

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the values of a node's outputs, with all checks. given: the values of its inputs;
        None for those that it does not read. Raises the errors of the node.
        """

    def plain(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the values of a node's outputs, without checks."""

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function of the graph inside an op."""


class Reference:
    """Runs each node by `perform` on copies of its inputs, checked against the shape rule of its op
    and the types of its outputs.
    """

    @cached_property
    def linker(self) -> Any:
        return hooks.get_linker("py")

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            found = self.linker.runner(node)(*[_copy(x) for x in given])
        results = [found] if len(node.outputs) == 1 else list(found)
        return [v.type.filter(x) for v, x in zip(node.outputs, results, strict=True)]

    plain = run

    def body(self, op: Any) -> Callable[..., Any]:
        return self.linker.body(op)  # type: ignore[no-any-return]


REFERENCE = Reference()


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


class TermValues:
    """Values of terms under given values of variables, computed by a runner.

    failed: {variable: (error, node, values of its inputs)} for nodes that raised an error.
    """

    def __init__(self, runner: Runner, given: Mapping[Variable, Any]) -> None:
        self.runner = runner
        self.values: dict[Variable, Any] = dict(given)
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
        given = [None if v is None else self.known(v) for v in read]
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
        return self.runner.run(node, given)

    def known(self, v: Variable) -> Any:
        """Return the value of a variable that has been computed or given, or is constant."""
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
        computed = [v for node in toposort(outputs, (), operands) for v in node.outputs]
        return [*dict.fromkeys((*roots, *[v for v in outputs if v.owner is None])), *computed]

    def replayed(
        self,
        v: Variable,
        cone: Sequence[Apply],
        leaves: Mapping[Variable, Any],
        runner: Runner | None = None,
    ) -> Any:
        """Return the value of a term for other values of leaves, or by another runner. cone: the
        nodes to compute again. Raises the errors of nodes.
        """
        values: dict[Variable, Any] = dict(leaves)
        run = self.runner.plain if runner is None else runner.run
        for node in cone:
            given = [
                None if w is None else values[w] if w in values else self.value(w)
                for w in self.read(node)
            ]
            values.update(zip(node.outputs, run(node, given), strict=True))
        return values[v]


def cone_of(term: Variable, other: Variable) -> list[Apply]:
    """Return the nodes that one term has and another has not, in running order; at most the nearest
    ones.
    """
    shared = {v for v in ancestors([other], [term]) if v is not term}
    nodes: dict[Apply, None] = {}
    level = [term]
    while level and len(nodes) < MAX_CONE_NODES:
        makers = [v.owner for v in level if v.owner is not None and v not in shared]
        fresh = dict.fromkeys([node for node in makers if node not in nodes])
        nodes.update(fresh)
        level = [v for node in fresh for v in node.inputs]
    return [node for node in toposort([term], shared) if node in nodes]


def leaves_of(cone: Sequence[Apply]) -> list[Variable]:
    """Return the operands that nodes do not compute, each free to have any value: instead of an
    operand that is computed from others in a few steps, those that are missing for it.
    """
    computed = {v for node in cone for v in node.outputs}
    leaves = dict.fromkeys([v for node in cone for v in node.inputs if v not in computed])
    todo = list(leaves)
    for v in todo:
        if nodes := _nodes_between(v, leaves):
            del leaves[v]
            inner = {w for node in nodes for w in node.outputs}
            fresh = dict.fromkeys([w for node in nodes for w in node.inputs if w not in inner])
            todo += [w for w in fresh if w not in leaves]
            leaves.update(fresh)
    return list(leaves)


def _nodes_between(v: Variable, leaves: Mapping[Variable, None]) -> list[Apply]:
    """Return the nodes that compute a variable from others of the leaves, if few steps do."""
    nodes: dict[Apply, None] = {}
    level = [v]
    while level and len(nodes) < MAX_STEPS_BETWEEN:
        makers = [w.owner for w in level if w.owner is not None and (w is v or w not in leaves)]
        fresh = dict.fromkeys([node for node in makers if node not in nodes])
        nodes.update(fresh)
        level = [w for node in fresh for w in node.inputs]
    operands = {w for node in nodes for w in node.inputs}
    reached = {w for w in operands if w in leaves and not isinstance(w, Constant)}
    if not reached:
        return []
    ends = reached | {w for w in operands if w.owner not in nodes}
    found = []
    for node in toposort([v], ends):
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
            found.append(node)
    return found


def compute_all(output: Variable, given: Mapping[Any, Any]) -> Any:
    """Return {variable: value} for all variables on the way to one that can be computed; the
    `Exception`, if that one cannot.
    """
    try:
        values = TermValues(REFERENCE, {v: v.type.filter(a) for v, a in given.items()})
        values.value(output)
    except NoValue as failure:
        return failure.__cause__ if isinstance(failure.__cause__, Exception) else failure
    except Exception as failure:  # of a value that does not fit
        return failure
    for v in [v for node in toposort([output], list(given)) for v in node.outputs]:
        with suppress(NoValue):  # (in a branch that is not taken)
            values.value(v)
    if isinstance(output, Constant):
        values.values[output] = np.asarray(output.data)
    return values.values


def extend(values: dict[Variable, Any], node: Apply) -> None:
    """Add the results of a node whose inputs have values."""
    given = [v.data if isinstance(v, Constant) else values.get(v) for v in node.inputs]
    values.update(zip(node.outputs, map(np.asarray, REFERENCE.plain(node, given)), strict=True))
