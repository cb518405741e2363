"""Toy ops on one-element lists, which are real memory: in-place work can be run and compared."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import memory_of, view_roots
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.type import Type
from tests.toy import const, num

List = list[int]


class Cell(Op):
    """`a + 2*b + 4*c + 1`; into: the input whose list holds the result. able: whether such a
    version exists.
    """

    __props__ = ("able", "into")

    def __init__(self, able: bool = True, into: int | None = None) -> None:
        self.able, self.into = able, into
        if into is not None:
            self.destroy_map = {0: [into]}

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Type]:
        return (num,)

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        return Cell(True, allowed[0]) if self.able and self.into is None else None

    def run(self, cells: list[List]) -> List:
        value = (sum(c[0] << k for k, c in enumerate(cells)) + 1) % 1009
        if self.into is None:
            return [value]
        cells[self.into][0] = value
        return cells[self.into]


class Either(Op):
    """One of its two inputs, by the value of the first: a view of either."""

    __props__ = ()
    view_map = {0: [0, 1]}
    itypes, otypes = (num, num), (num,)

    def run(self, cells: list[List]) -> List:
        return cells[cells[0][0] % 2]


class Same(Op):
    """Its input, or a copy if that is odd: a view that may copy."""

    __props__ = ()
    view_map = {0: [0]}
    itypes, otypes = (num,), (num,)

    def run(self, cells: list[List]) -> List:
        return list(cells[0]) if cells[0][0] % 2 else cells[0]


either, same = Either(), Same()


def random_graph(rng: random.Random, most: int = 12, mutable: bool = True) -> FunctionGraph:
    """Cells and views of each other, without a handler; input 1 is for the caller to give away."""
    roots: list[Variable] = [num("x"), num("m")]
    pool = [*roots, const(5.0)]
    for _ in range(rng.randrange(2, most)):
        near = pool[-rng.randrange(1, min(6, len(pool)) + 1)]
        kind = rng.randrange(8)
        if kind == 0:
            pool.append(same(near))
        elif kind == 1:
            pool.append(either(near, rng.choice(pool)))
        elif kind < 4:
            pool.append(Cell(rng.random() < 0.7)(near))
        elif kind < 7:
            pool.append(Cell(rng.random() < 0.7)(near, rng.choice(pool)))
        else:
            pool.append(Cell()(near, rng.choice(pool), rng.choice(pool)))
    outputs = [pool[-1], *rng.sample(pool, rng.randrange(2))]
    return FunctionGraph(roots, outputs, clone=False)


def run(fgraph: FunctionGraph, in_place: bool, order: list[Apply] | None = None) -> list[int]:
    """Execute; with `in_place`, on shared memory as the ops declare it."""
    cells: dict[Variable, List] = {v: [i + 1] for i, v in enumerate(fgraph.inputs)}
    cells.update({v: [int(v.data)] for v in fgraph.users if isinstance(v, Constant)})
    for node in order or fgraph.toposort():
        given = [cells[v] if in_place else list(cells[v]) for v in node.inputs]
        cells[node.outputs[0]] = node.op.run(given)
    return [cells[v][0] for v in fgraph.outputs]


# --- by brute force -------------------------------------------------------------------------------


def legal(fgraph: FunctionGraph, into: dict[Apply, int], mutable: set[Variable]) -> bool:
    """Whether nodes may overwrite those inputs: collect all constraints, and try to sort."""
    nodes = list(fgraph.apply_nodes)
    owners: set[Variable] = set()
    before: dict[Apply, set[Apply]] = {n: {v.owner for v in n.inputs if v.owner} for n in nodes}
    for node, i in into.items():
        roots = set(view_roots(node.inputs[i]))
        for root in roots:
            if isinstance(root, Constant) or (root.owner is None and root not in mutable):
                return False
        if roots & owners or any(roots & set(view_roots(v)) for v in fgraph.outputs):
            return False
        if sum(bool(roots & set(view_roots(v))) for v in node.inputs) > 1:
            return False
        owners |= roots
        readers = {n for n in nodes if any(roots & set(view_roots(v)) for v in n.inputs)}
        before[node] |= readers - {node}
    done: set[Apply] = set()
    while len(done) < len(nodes):
        ready = [n for n in nodes if n not in done and before[n] <= done]
        if not ready:
            return False
        done.update(ready)
    return True


def best(fgraph: FunctionGraph, mutable: set[Variable]) -> int:
    """The greatest number of nodes that can work in place together, by trying everything."""
    nodes = [n for n in fgraph.toposort() if isinstance(n.op, Cell) and n.op.able]
    nodes = [n for n in nodes if not memory_of(n.op).destroyed]
    found = 0
    for into in _choices(fgraph, nodes, {}, mutable):
        found = max(found, len(into))
    return found


def _choices(
    fgraph: FunctionGraph, nodes: list[Apply], into: dict[Apply, int], mutable: set[Variable]
) -> Iterator[dict[Apply, int]]:
    yield into
    for k, node in enumerate(nodes):
        for i in range(len(node.inputs)):
            more = {**into, node: i}
            if legal(fgraph, more, mutable):
                yield from _choices(fgraph, nodes[k + 1 :], more, mutable)
