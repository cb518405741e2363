"""Random changes of a `FunctionGraph`, each checked against a plain model.

The model numbers terms: equal terms, equal numbers (ops are uninterpreted functions). It replaces
by walking over a snapshot of the graph, so it knows nothing of clients, levels, merging or
deferred settling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rewrite_engine.errors import (
    CycleError,
    InconsistencyError,
    MissingInputError,
    TypeMismatchError,
)
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import History
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Output
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.traverse import toposort
from tests.toy import Scale, add, const, divmod_, exp, mul, neg, num, pos, sin, sub

Pick = Callable[[Sequence[Any]], Any]

UNARY = (sin, exp, neg, Scale(2.0))
BINARY = (sub, add, mul)


class Mirror(Feature):
    """Keeps its own copy of the graph from nothing but what it is told."""

    def __init__(self) -> None:
        self.inputs: dict[Apply, tuple[Variable, ...]] = {}
        self.outputs: list[Variable] = []

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.inputs = {node: node.inputs for node in fgraph.apply_nodes}
        self.outputs = list(fgraph.outputs)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        assert node not in self.inputs
        self.inputs[node] = node.inputs

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        del self.inputs[node]

    def on_change_input(
        self, fgraph: FunctionGraph, node: Any, i: int, old: Any, new: Any, reason: Any
    ) -> None:
        if isinstance(node.op, Output):
            assert i == 0
            assert self.outputs[node.op.idx] is old
            self.outputs[node.op.idx] = new
            return
        inputs = self.inputs[node]
        assert inputs[i] is old
        self.inputs[node] = (*inputs[:i], new, *inputs[i + 1 :])

    def on_restore(self, fgraph: FunctionGraph, before: Any, after: Any) -> None:
        assert set(self.inputs) == set(fgraph.apply_nodes)
        self.on_attach(fgraph)

    def check(self, fgraph: FunctionGraph) -> None:
        assert self.inputs == {node: node.inputs for node in fgraph.apply_nodes}
        assert self.outputs == fgraph.outputs


class Refuses(Feature):
    """Finds every graph invalid."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        raise InconsistencyError("refused")


class Terms:
    """Numbers of terms: the values of the model."""

    def __init__(self) -> None:
        self.table: dict[Any, int] = {}

    def number(self, key: Any) -> int:
        return self.table.setdefault(key, len(self.table))

    def root(self, v: Variable) -> int:
        return self.number(v.signature() if isinstance(v, Constant) else v)

    def node(self, values: dict[Variable, int], node: Apply, inputs: Sequence[int]) -> None:
        for i, out in enumerate(node.outputs):
            values[out] = self.number((node.op, i, operands(node, inputs)))


def operands(node: Apply, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The operands of a term, without their order where that does not count."""
    free = node.op.commutative and (
        len(inputs) == 2 or (node.op.associative and node.outputs[0].type.regroups_exactly)
    )
    return tuple(sorted(inputs, key=lambda n: -1 if n is None else n) if free else inputs)


class Machine:
    """A graph, its model, and the random steps. `pick` chooses from a sequence."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.terms = Terms()
        self.roots = [num("x"), num("y"), pos("p")]
        outputs = self._random_graph(pick(range(1, 12)))
        self.fgraph = FunctionGraph(self.roots, outputs, clone=False)
        self.mirror, self.history = Mirror(), History()
        self.fgraph.attach_feature(self.mirror)
        self.fgraph.attach_feature(self.history)
        self.saved: list[tuple[int, Any]] = []
        self.seen: dict[Variable, None] = {}
        self.revived = False

    def _random_graph(self, size: int) -> list[Variable]:
        pool: list[Variable] = list(self.roots)
        for _ in range(size):
            pool += self._apply(pool)
        return [self.pick(pool) for _ in range(self.pick(range(1, 4)))] + [pool[-1]]

    def _apply(self, pool: Sequence[Variable]) -> list[Variable]:
        """One random node on variables of the pool."""
        kind = self.pick(range(6))
        if kind == 0:
            return list(divmod_(self.pick(pool), self.pick(pool)))
        if kind == 1:
            op = self.pick(BINARY)
            return [op(self.pick(pool), const(self.pick((1.0, 2.0, -1.0))))]
        if kind == 2:
            return [add(*[self.pick(pool) for _ in range(3)])]
        if kind == 3:
            return [self.pick(BINARY)(self.pick(pool), self.pick(pool))]
        return [self.pick(UNARY)(self.pick(pool))]

    # --- the model -------------------------------------------------------------------------------

    def values(
        self, old: Variable | None = None, new: int = 0, keep: Apply | None = None
    ) -> dict[Variable, int]:
        """The value of every variable, if `old`, except for `keep`, has the value `new`."""
        fgraph = self.fgraph
        found = {v: self.terms.root(v) for v in fgraph.users if v.owner is None}
        for node in sorted(fgraph.order.level, key=fgraph.order.level.__getitem__):
            inputs = [
                new if v is old and node is not keep else found[v]
                for v in fgraph.present_inputs(node)
            ]
            self.terms.node(found, node, inputs)
        return found

    def outputs(self) -> list[int]:
        found = self.values()
        return [found[v] for v in self.fgraph.outputs]

    def term(self, new: Variable, values: dict[Variable, int]) -> tuple[int | None, set[Any]]:
        """The value of a variable built on those of the graph, and the keys of all nodes it needs.

        The value is None if it is built on something foreign.
        """
        found = dict(values)
        keys = set()
        for node in toposort([new]):
            for v in node.inputs:
                if v.owner is None and v not in found:
                    if not isinstance(v, Constant):
                        return None, set()
                    found[v] = self.terms.root(v)
            inputs = tuple([found[v] for v in self._inputs(node)])
            keys.add((node.op, operands(node, inputs)))
            self.terms.node(found, node, inputs)
        if new not in found:
            found[new] = self.terms.root(new)
        return found[new], keys

    def _inputs(self, node: Apply) -> tuple[Variable, ...]:
        return self.fgraph.present_inputs(node)

    # --- steps -----------------------------------------------------------------------------------

    def live(self) -> list[Variable]:
        return list(self.fgraph.users)

    def new_term(self) -> Variable:
        """A random term on live variables; sometimes on a root that the graph does not know."""
        pool = self.live()
        kind = self.pick(range(8))
        if kind == 0:
            return self.pick(pool)
        if kind == 1:
            return const(self.pick((1.0, 3.0, -2.0)))
        if kind == 2:
            pool = [*pool, num("foreign")]
        if kind == 3:  # what has left the graph may be used again
            pool = [*pool, *self.seen]
            self.revived = True
        for _ in range(self.pick(range(1, 4))):
            pool += self._apply(pool)
        return pool[-1]

    def replace(self) -> None:
        old, new = self.pick(self.live()), self.new_term()
        self.seen.update(dict.fromkeys(self.live()))
        if self.fgraph.worklist is None:
            self.settled_replace(old, new)
        else:
            self.deferred_replace(old, new)

    def settled_replace(self, old: Variable, new: Variable) -> None:
        """The model knows the outcome beforehand, refusals too."""
        fgraph = self.fgraph
        before = self.values()
        same = [before[v] for v in fgraph.outputs]
        error = self.expected_error(old, new, before)
        if error is not None:
            with pytest.raises(error):
                fgraph.replace(old, new)
            assert self.outputs() == same
            return
        clients = set(fgraph.users[old])
        places = [i for i, v in enumerate(fgraph.outputs) if v is old]
        if not clients and not places:
            fgraph.replace(old, new)
            assert self.outputs() == same
            return
        value, _ = self.term(new, before)
        assert value is not None
        keep = self.twin(clients, new, before)
        after = self.values(old, value, keep)
        want = [value if i in places else after[v] for i, v in enumerate(fgraph.outputs)]
        fgraph.replace(old, new)
        assert self.outputs() == want

    def expected_error(
        self, old: Variable, new: Variable, before: dict[Variable, int]
    ) -> type[Exception] | None:
        fgraph = self.fgraph
        if new is old:
            return None
        if not old.type.is_super(new.type):
            return TypeMismatchError
        clients = fgraph.users[old]
        if not clients and old not in fgraph.out_uses:
            return None
        value, keys = self.term(new, before)
        if value is None:
            return MissingInputError
        if value == before[old]:
            return None
        if new.owner is not None:
            keys.discard(self.key(new.owner, before, new))
        if any(self.key(c, before) in keys for c in clients):
            return CycleError
        return None

    def key(self, node: Apply, values: dict[Variable, int], new: Variable | None = None) -> Any:
        if new is not None:
            inputs = tuple([self.term(v, values)[0] for v in node.inputs])
        else:
            inputs = tuple([values[v] for v in node.inputs])
        return node.op, operands(node, inputs)

    def twin(self, clients: set[Apply], new: Variable, values: dict[Variable, int]) -> Apply | None:
        """The client of what is replaced that computes `new`: it is let alone."""
        if new.owner is None:
            return None
        key = self.key(new.owner, values, new)
        return next((c for c in clients if self.key(c, values) == key), None)

    def deferred_replace(self, old: Variable, new: Variable) -> None:
        """While replacements wait, equal nodes may still be apart, so only the values are known."""
        fgraph = self.fgraph
        before = self.values()
        same = [before[v] for v in fgraph.outputs]
        clients = set(fgraph.users[old])
        places = [i for i, v in enumerate(fgraph.outputs) if v is old]
        value, _ = self.term(new, before)
        if value is not None:
            after = {
                keep: self.values(old, value, keep)
                for keep in (None, *(c for c in clients if new.owner and c.op is new.owner.op))
            }
        unknown = list(fgraph.outputs)
        try:
            own = fgraph.replace(old, new)
        except (CycleError, TypeMismatchError, MissingInputError):
            assert self.outputs() == same
            return
        if own is old or own not in fgraph.users:
            assert self.outputs() == same
            return
        values = after[own.owner if own.owner in clients else None]
        want = [value if i in places else values[v] for i, v in enumerate(unknown)]
        assert self.outputs() == want

    def refused_replace(self) -> None:
        """`replace_validate` undoes what a feature does not like."""
        fgraph, refuses = self.fgraph, Refuses()
        fgraph.flush()
        state = self.state()
        pairs = [(self.pick(self.live()), self.new_term()) for _ in range(self.pick((1, 2)))]
        fgraph.attach_feature(refuses)
        with pytest.raises((InconsistencyError, TypeMismatchError, MissingInputError)):
            fgraph.replace_all_validate(pairs)
        fgraph.remove_feature(refuses)
        assert self.state() == state

    def state(self) -> Any:
        fgraph = self.fgraph
        return (
            list(fgraph.outputs),
            {node: node.inputs for node in fgraph.apply_nodes},
            {v: v.type for v in fgraph.users},
        )

    def checkpoint(self) -> None:
        self.fgraph.flush()
        self.saved.append((self.history.checkpoint(), self.state()))

    def revert(self) -> None:
        if not self.saved:
            return
        keep = self.pick(range(len(self.saved)))
        name, state = self.saved[keep]
        del self.saved[keep + 1 :]
        self.history.revert(self.fgraph, name)
        assert self.state() == state

    def drive(self) -> None:
        """Begin, or end, a time in which replacements wait to be settled."""
        fgraph = self.fgraph
        if fgraph.worklist is None:
            fgraph.worklist = Worklist()
            return
        before = self.outputs()
        for _, _, node in sorted(fgraph.worklist.heap, key=lambda entry: entry[:2]):
            if node in fgraph.worklist.queued:
                assert node in fgraph.order.level
                fgraph.worklist.queued.discard(node)
                fgraph.settle(node)
        self.check_queue()
        fgraph.flush()
        fgraph.worklist = None
        assert self.outputs() == before

    def check_queue(self) -> None:
        """What is queued lives and is on the heap; what is dirty is queued."""
        fgraph = self.fgraph
        if fgraph.worklist is None:
            return
        assert fgraph.worklist.queued <= {node for _, _, node in fgraph.worklist.heap}
        assert fgraph.worklist.queued <= set(fgraph.order.level)

    def check(self) -> None:
        fgraph = self.fgraph
        if fgraph.worklist is not None:
            assert set(fgraph.dirty) <= fgraph.worklist.queued
            self.check_queue()
            if self.pick(range(3)):
                return
        before = self.outputs()
        fgraph.check_integrity()
        self.check_queue()
        assert self.outputs() == before
        self.mirror.check(fgraph)
        if self.revived:  # then a type may be less precise than it could be
            return
        for node in fgraph.apply_nodes:
            types = node.op.infer_types(tuple([v.type for v in node.inputs]))
            for out, want in zip(node.outputs, types, strict=True):
                assert want.is_super(out.type), (node, out.type)


STEPS = (
    Machine.replace,
    Machine.replace,
    Machine.replace,
    Machine.refused_replace,
    Machine.checkpoint,
    Machine.revert,
    Machine.drive,
)
