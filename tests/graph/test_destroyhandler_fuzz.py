"""Random in-place work, run on real memory: refused exactly where it would be wrong."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import view_roots
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from tests.toy import const, num, view


class Cell(Op):
    """`a + 1` or `a + 2*b` on one-element lists; `into`: the input whose list holds the result."""

    __props__ = ("nin", "into")

    def __init__(self, nin: int, into: int | None = None) -> None:
        self.nin, self.into = nin, into
        if into is not None:
            self.destroy_map = {0: [into]}

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        return (num,)

    def run(self, cells: list[list[int]]) -> list[int]:
        value = cells[0][0] + 1 if self.nin == 1 else cells[0][0] + 2 * cells[1][0]
        if self.into is None:
            return [value]
        cells[self.into][0] = value
        return cells[self.into]


def random_graph(rng: random.Random) -> FunctionGraph:
    roots: list[Variable] = [num("x"), num("m")]
    pool = [*roots, const(5.0)]
    for _ in range(rng.randrange(2, 14)):
        kind = rng.randrange(4)
        new = pool[-rng.randrange(1, min(5, len(pool)) + 1)]
        if kind == 0:
            pool.append(view(new))
        elif kind == 1:
            pool.append(Cell(1)(new))
        else:
            pool.append(Cell(2)(new, rng.choice(pool)))
    outputs = [pool[-1], rng.choice(pool)]
    return FunctionGraph(roots, outputs, [DestroyHandler([roots[1]])], clone=False)


def run(fgraph: FunctionGraph, in_place: bool) -> list[int]:
    """Execute in the graph's order; with `in_place`, on shared memory as the ops declare it."""
    cells: dict[Variable, list[int]] = {v: [i + 1] for i, v in enumerate(fgraph.inputs)}
    cells.update({v: [int(v.data)] for v in fgraph.clients if isinstance(v, Constant)})
    for node in fgraph.toposort():
        given = [cells[v] if in_place else list(cells[v]) for v in node.inputs]
        cells[node.outputs[0]] = given[0] if node.op is view else node.op.run(given)
    return [cells[v][0] for v in fgraph.outputs]


def root_of(v: Variable) -> Variable:
    """What a variable shows (the views here show one thing)."""
    (root,) = view_roots(v)
    return root


def legal(fgraph: FunctionGraph, ops: dict[Apply, Any], mutable: set[Variable]) -> bool:
    """Brute force: collect all constraints, sort them topologically."""
    nodes = list(fgraph.apply_nodes)
    owners: dict[Variable, Apply] = {}
    before: dict[Apply, set[Apply]] = {n: {v.owner for v in n.inputs if v.owner} for n in nodes}
    for node in nodes:
        into = getattr(ops[node], "into", None)
        if into is None:
            continue
        root = root_of(node.inputs[into])
        if isinstance(root, Constant) or (root.owner is None and root not in mutable):
            return False
        if root in owners or any(root_of(v) is root for v in fgraph.outputs):
            return False
        if sum(root_of(v) is root for v in node.inputs) > 1:
            return False
        owners[root] = node
        before[node] |= {n for n in nodes if any(root_of(v) is root for v in n.inputs)} - {node}
    done: set[Apply] = set()
    while len(done) < len(nodes):
        ready = [n for n in nodes if n not in done and before[n] <= done]
        if not ready:
            return False
        done.update(ready)
    return True


def try_in_place(seed: int) -> int:
    """Let random nodes work in place, one after the other; return how many may."""
    rng = random.Random(seed)
    fgraph = random_graph(rng)
    want, accepted = run(fgraph, in_place=False), 0
    for _ in range(12):
        pure = [n for n in fgraph.toposort() if isinstance(n.op, Cell) and n.op.into is None]
        if not pure:
            break
        node = rng.choice(pure)
        op = Cell(node.op.nin, rng.randrange(node.op.nin))
        ops = {n: n.op for n in fgraph.apply_nodes} | {node: op}
        allowed = legal(fgraph, ops, fgraph.guard.mutable)
        try:
            fgraph.replace_validate(node.outputs[0], op(*node.inputs))
        except InconsistencyError:
            assert not allowed
        else:
            assert allowed
            accepted += 1
        fgraph.check_integrity()
        fgraph.validate()
        assert run(fgraph, in_place=True) == want
    return accepted


@given(st.integers(0, 1 << 30))
def test_random_in_place_work_is_refused_exactly_where_it_would_be_wrong(seed: int) -> None:
    try_in_place(seed)


def try_changes(seed: int) -> None:
    """Work in place and replace, in turns: what is accepted computes the right thing."""
    rng = random.Random(seed)
    fgraph = random_graph(rng)
    for _ in range(15):
        node = rng.choice(fgraph.toposort())
        old, live = node.outputs[0], list(fgraph.clients)
        kind = rng.randrange(4)
        if kind == 0 and isinstance(node.op, Cell):
            new = Cell(node.op.nin, rng.choice([None, *range(node.op.nin)]))(*node.inputs)
        elif kind == 1:
            new = rng.choice(live)
        elif kind == 2:
            new = view(rng.choice(live))
        else:
            new = Cell(2, rng.choice([None, None, 0, 1]))(rng.choice(live), rng.choice(live))
        state = {n: n.inputs for n in fgraph.apply_nodes}, list(fgraph.outputs)
        try:
            fgraph.replace_validate(old, new)
        except InconsistencyError:
            assert state == ({n: n.inputs for n in fgraph.apply_nodes}, fgraph.outputs)
        fgraph.check_integrity()
        fgraph.validate()
        assert legal(fgraph, {n: n.op for n in fgraph.apply_nodes}, fgraph.guard.mutable)
        assert run(fgraph, in_place=True) == run(fgraph, in_place=False)
        if not len(fgraph):
            return


@given(st.integers(0, 1 << 30))
def test_random_changes_of_graphs_that_work_in_place(seed: int) -> None:
    try_changes(seed)
