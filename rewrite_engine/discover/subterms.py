"""Small subterms of a graph, on the variables of a space: `subterms`.

A subterm has up to three elementwise ops and two variables. Its variables stand for inputs of the
graph, for results of other ops, and for inner terms: a large term has many small ones that are cut
off at some level. Subterms of the same ops, numbers and facts are one, with several places.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.facts import bounded, nonneg, positive
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.inner import HasInnerGraph, unfolded
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.replace import rebuilt
from rewrite_engine.graph.traverse import explicit_graph_inputs, toposort
from rewrite_engine.language import rewritten_graph
from rewrite_engine.tensor.elemwise import Elemwise

MAX_OPS, MAX_VARIABLES = 3, 2
LIBRARY = __name__.partition(".")[0]
CUT = ("Cast", "second")  # elementwise ops that are no functions of the numbers alone
LENGTH = 8  # of the vector on which an author's op is tried
CLOSE = 1e-12  # relative difference of values: the last bits depend on the length
Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class SubtermPlace:
    """Place of a subterm in a graph: its root, its nodes, and the variables that it is cut at."""

    root: Variable
    nodes: frozenset[Apply]
    leaves: tuple[Variable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Subterm:
    """Subterm of a graph. term: on variables of a space, its `leaves`. facts, bounds: of each leaf,
    as far as they are known at all places.
    """

    term: Variable
    size: int
    leaves: tuple[Variable, ...]
    facts: tuple[tuple[Any, ...], ...]
    bounds: tuple[Bounds, ...]
    places: list[SubtermPlace] = field(default_factory=list)

    @property
    def nodes(self) -> list[Apply]:
        """The ops of the term, operands first."""
        return toposort([self.term])


@dataclass(frozen=True)
class Subterms:
    """Subterms of a graph. found: small ones first. outputs: the graph, ops unfolded that are
    graphs themselves. own: elementwise ops that are not the library's. inside: ops whose inner
    graphs are not looked at. unfit: subterms that are not of numbers in float64. skipped: ops at
    which nothing was looked at for lack of time.
    """

    found: list[Subterm]
    outputs: list[Variable]
    own: list[Op]
    inside: int
    unfit: int
    skipped: int


def subterms(outputs: Sequence[Variable], until: float = math.inf) -> Subterms:
    """Return the small subterms of a graph. until: the time (`perf_counter`) at which to stop."""
    inline = {n.op for n in toposort(outputs) if isinstance(n.op, HasInnerGraph) and n.op.inline}
    outputs = unfolded(outputs, inline) if inline else list(outputs)
    return SubtermFinder(outputs).run(until)


class SubtermFinder:
    """Run of a search for subterms."""

    def __init__(self, outputs: list[Variable]) -> None:
        self.outputs, self.nodes = outputs, toposort(outputs)
        self.variables = [pt.vector(name) for name in "xy"[:MAX_VARIABLES]]
        self.known: dict[Variable, tuple[tuple[Any, ...], Bounds]] = {}
        self.elementwise: dict[Any, bool] = {}
        self.found: dict[Any, Subterm] = {}
        self.unfit = 0
        every = [*explicit_graph_inputs(outputs), *[v for n in self.nodes for v in n.outputs]]
        self.cut = [v for v in every if v.type.kind == "f"]
        self.declared: dict[Variable, set[str]] = {}
        for node in self.nodes:
            if isinstance(node.op, Assume):
                own = self.declared.setdefault(stripped(node.outputs[0]), set())
                own |= {fact.name for fact, _ in node.op.declared}

    def run(self, until: float = math.inf) -> Subterms:
        """Look at the terms of all nodes."""
        skipped = 0
        for node in self.nodes:
            if perf_counter() > until:
                skipped += 1
            elif self.is_elementwise(node) and node.outputs[0].type.kind == "f":
                for inside in self.cuts(node):
                    self.add(node.outputs[0], inside)
        ops = dict.fromkeys([n.op for n in self.nodes if self.is_elementwise(n)])
        inner = [n for n in self.nodes if isinstance(n.op, HasInnerGraph)]
        found = sorted(self.found.values(), key=lambda one: one.size)
        own = [*filter(is_own, ops)]
        return Subterms(found, self.outputs, own, len(inner), self.unfit, skipped)

    def cuts(self, root: Apply) -> Iterator[frozenset[Apply]]:
        """Yield the sets of nodes of the terms with this root, small ones first."""
        some = {frozenset([root])}
        for _ in range(MAX_OPS):
            yield from some
            some = {
                inside | {v.owner}
                for inside in some
                for node in inside
                for v in node.inputs
                if v.owner is not None and v.owner not in inside and self.is_elementwise(v.owner)
            }

    def is_elementwise(self, node: Apply) -> bool:
        """Whether a node is an elementwise function of numbers."""
        kinds = {v.type.kind for v in node.inputs if number_of(v) is None}
        if len(node.outputs) != 1 or not kinds <= {"f", "b"}:
            return False
        if node.outputs[0].type.kind not in "fb" or str(node.op).partition("{")[0] in CUT:
            return False
        key = node.op, len(node.inputs)
        if key not in self.elementwise:
            op = node.op
            self.elementwise[key] = isinstance(op, Elemwise) or is_own_elementwise(*key)
        return self.elementwise[key]

    def add(self, root: Variable, inside: frozenset[Apply]) -> None:
        """Add the place of a term, if it has few variables."""
        nodes = operands_first(root, inside)
        made = {n.outputs[0] for n in nodes}
        every = dict.fromkeys([v for n in nodes for v in n.inputs if v not in made])
        numbers = {v: constant_of(v) for v in every if number_of(v) is not None}
        real: dict[Variable, Variable] = {}  # (a declaration goes with its variable)
        for v in every:
            if v not in numbers:
                real[stripped(v)] = v if v.owner is not None else real.get(stripped(v), v)
        leaves = tuple(real.values())
        if not 1 <= len(leaves) <= MAX_VARIABLES or any([v.type.kind != "f" for v in leaves]):
            return
        mine = dict(zip(real, self.variables, strict=False))
        pairs = numbers | {v: mine[stripped(v)] for v in every if v not in numbers}
        try:
            term = rebuilt([root], pairs, False)[0]
        except Exception:  # (an op of other types only)
            term = root
        if getattr(term.type, "dtype", "") != "float64" or term.type.ndim != 1:
            self.unfit += 1
            return
        known = [self.facts_of(v) for v in leaves]
        if any([ends and ends[0] == ends[1] for _, ends in known]):
            return  # (a constant in an array)
        facts, bounds = tuple([f for f, _ in known]), tuple([b for _, b in known])
        one = Subterm(term, len(nodes), tuple(mine.values()), facts, bounds)
        key = key_of_term(term), facts, bounds
        self.found.setdefault(key, one).places.append(SubtermPlace(root, inside, leaves))

    def facts_of(self, v: Variable) -> tuple[tuple[Any, ...], Bounds]:
        """Return what is known of a variable, in any form: its sign, and its bounds."""
        if v not in self.known:
            declared = self.declared.get(stripped(v), set())
            graph, form = self.rewritten, self.forms.get(v, v)
            facts: tuple[Any, ...] = ()
            for fact in (positive, nonneg):
                if not facts and (fact.name in declared or fact.ask(graph, form)):
                    facts = (fact,)
            ends = bounded.ask(graph, form)
            self.known[v] = facts, (float(ends.value[0]), float(ends.value[1])) if ends else None
        return self.known[v]

    @cached_property
    def rewritten(self) -> Any:
        """The terms of the graph after all rules, as a graph: more is known of some of these."""
        return rewritten_graph(self.cut)

    @cached_property
    def forms(self) -> dict[Variable, Variable]:
        """Forms of the terms of the graph after all rules, by the terms."""
        return dict(zip(self.cut, self.rewritten.outputs, strict=True)) if self.cut else {}


def operands_first(root: Variable, inside: frozenset[Apply]) -> list[Apply]:
    """Return the few nodes of a term, operands first."""
    found: list[Apply] = []
    for v in root.owner.inputs if root.owner is not None else ():
        if v.owner is not None and v.owner in inside:
            found += [n for n in operands_first(v, inside) if n not in found]
    return [*found, *([] if root.owner is None else [root.owner])]


def stripped(v: Variable) -> Variable:
    """Return a variable without its declarations."""
    while v.owner is not None and isinstance(v.owner.op, Assume):
        v = v.owner.inputs[0]
    return v


def number_of(v: Variable) -> Any:
    """Return the number that a constant is; None for arrays and other variables."""
    if v.head is not CONSTANT or v.type.kind not in "fiub":
        return None
    value = np.asarray(v.data)  # type: ignore[attr-defined]
    return None if value.ndim else value.item()


def constant_of(v: Variable) -> Variable:
    """Return the constant of a number, in float64 if it is a float."""
    return pt.constant(float(number_of(v))) if v.type.kind == "f" else v


def key_of_term(v: Variable) -> Any:
    """Return a key that equal terms on the same variables share."""
    if v.owner is None:
        return (str(v.type), number_of(v)) if v.head is CONSTANT else v
    return (v.owner.op, *[key_of_term(one) for one in v.owner.inputs])


def is_own(op: Op) -> bool:
    """Whether an op is not the library's."""
    made_of: Any = getattr(op, "scalar_op", op)
    return type(made_of).__module__.partition(".")[0] != LIBRARY


def is_own_elementwise(op: Op, arity: int) -> bool:
    """Whether an author's op is an elementwise function, as far as one vector tells."""
    if not is_own(op):
        return False
    leaves = [pt.vector() for _ in range(arity)]
    given = np.random.default_rng(0).uniform(0.2, 0.8, (arity, LENGTH))
    try:
        node = op(*leaves).owner
        whole, half = [computed(node, some) for some in (given, given[:, 1::2])]
    except Exception:  # (an op of other types)
        return False
    if np.shape(whole) != (LENGTH,) or np.shape(half) != (LENGTH // 2,):
        return False
    return bool(np.allclose(whole[1::2], half, rtol=CLOSE, atol=0, equal_nan=True))


def computed(node: Apply, given: Any) -> Any:
    """Return the result of a node."""
    storage: list[list[Any]] = [[None]]
    with np.errstate(all="ignore"):
        node.op.perform(node, list(given), storage)
    return storage[0][0]
