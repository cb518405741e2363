"""`HasInnerGraph`: base class of ops that hold a graph.

The graph of an op never changes. Two graphs with the same structure make the same op, so equal
calls are merged like any equal nodes; rewriting an inner graph makes another op from a copy
(`op.clone(fgraph)`). Graphs may be nested to any depth: nothing here is recursive, and each
distinct op is processed once, however often it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import getitem
from typing import Any, NoReturn

from rewrite_engine import hooks
from rewrite_engine.errors import MethodNotDefined, ReadOnlyError
from rewrite_engine.graph.columns import Columns, Rows, from_columns, to_columns
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph, changeable
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.intern import intern
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.replace import rebuilt, substituted
from rewrite_engine.graph.traverse import graph_inputs, toposort


class InnerGraph(FrozenGraph):
    """Read-only graph of an op. `clone()` returns a copy that can be changed, and `unfreeze()` one
    in which equal nodes stay separate.
    """

    def clone(self, check_integrity: bool = False) -> FunctionGraph:
        """Return a copy that can be changed."""
        return changeable(self, check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = False, attach_feature: bool = True
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """Return a copy that can be changed, and {variable or node: its copy}."""
        return changeable(self, check_integrity, attach_feature)

    def bind(self, inputs: Sequence[Variable] | Mapping[Variable, Variable]) -> list[Variable]:
        """Return the outputs for other inputs (all inputs, or {input: replacement}), built from new
        nodes as in `inlined`.
        """
        pairs = inputs if isinstance(inputs, Mapping) else zip(self.inputs, inputs, strict=True)
        fitted = {v: v.type.filter_variable(new) for v, new in dict(pairs).items()}
        return rebuilt(self.outputs, fitted, True, anew=True)

    def unfreeze(self) -> FunctionGraph:
        """Return a copy that can be changed and does not merge equal nodes."""
        copy = self.clone()
        copy.merging = False
        return copy

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(FunctionGraph, name):  # a mutator
            why = "the graph inside an op cannot be changed: op.clone(fgraph) makes another op"
            raise ReadOnlyError(f"{why} ({name!r} is a method of FunctionGraph)")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class HasInnerGraph:
    """Second base class, next to `Op`, of ops that hold a graph.

    fgraph: the graph. inline: whether rewriting replaces the op with the graph (the types of its
    inputs and outputs are then the op's own). A subclass that stores its graph as `fgraph`, and
    compares by `structure` and further `__props__`, is copied and pickled by the methods here. A
    subclass that runs its graph defines `runs`.
    """

    fgraph: InnerGraph
    inline: bool = False
    structure: Structure
    #: numbers of inputs of the graph that it may overwrite: `runs` gives their values away. (Of the
    #: class, or among the `__props__`.)
    given_away: Collection[int] = ()
    #: of an op that is compiled by itself, as this mode says: rules leave it as it is
    mode: Any = None

    @property
    def inner_inputs(self) -> list[Variable]:
        """Inputs of the graph, one for each of the op's own."""
        return self.fgraph.inputs

    @property
    def inner_outputs(self) -> list[Variable]:
        """Outputs of the graph."""
        return self.fgraph.outputs

    def hold(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        """Store a copy of the graph between these variables. For `__init__`. Raises the errors of
        `FunctionGraph`, and `InconsistencyError` if an input would be overwritten.
        """
        roots = [v for v in inputs if isinstance(v, Variable) and not isinstance(v, Constant)]
        memo = {v: v.type.make_variable(v.name) for v in roots}  # (of others the graph tells)
        mutable = [memo[inputs[i]] for i in self.given_away if inputs[i] in memo]
        features = [DestroyHandler(mutable, strict=True)] if mutable else []
        self.fgraph = InnerGraph(inputs, outputs, features, memo=memo)
        self.fgraph.memo = {}  # it would keep the user's graph alive
        self.fgraph.validate()
        self.structure = Structure(self.fgraph)

    runs: Callable[[Apply, Callable[..., Any]], Callable[..., Any]] | None = None
    """Return a function of the values of the node's inputs that computes its output (for several:
    a list or tuple of them); called as `runs(node, body)`. body: such a function of the inner
    graph, made by the linker that runs the node; its results are new (or in the memory of donated
    inputs, the only memory that it overwrites).
    """

    #: whether a run of the op is one run of the graph, on the op's inputs
    runs_once = False
    #: whether `runs` is a loop over sequences as that of `loops/op.py`, which linkers may write
    stepwise = False
    narrowed: Callable[[Sequence[int]], tuple[Any, Sequence[int], Sequence[int]]] | None = None
    """Return this op without unused outputs and without the inputs that only those need; also
    return the indices of its remaining inputs and outputs. Called as `narrowed(used)`.
    """

    def needed_outputs(
        self, used: Sequence[int], alike: Callable[[Any], Any] = lambda member: member
    ) -> Sequence[int]:
        """Return the indices of the outputs to compute, when some are used, so that no error is
        lost. The default: all. alike: maps equal lengths (see `Op.equal_lengths`) to the same
        object.
        """
        return range(len(self.inner_outputs))

    def needed_inputs(self, used: Sequence[int]) -> Sequence[int]:
        """Return the indices of the inputs that the replacement of a call reads, when some outputs
        are used.
        """
        needed = {*graph_inputs([self.inner_outputs[j] for j in used])}
        return [i for i, v in enumerate(self.inner_inputs) if v in needed]

    @property
    def passed(self) -> Sequence[int | None]:
        """For each input of the graph, return the index of the op's input whose value it has in
        every run: facts about that input hold inside. None: there is no such input.
        """
        n = len(self.inner_inputs)
        return range(n) if self.runs_once else [None] * n

    @property
    def fn(self) -> Callable[..., Any]:
        """Function of the graph, for calls outside of any linker."""
        return hooks.get_linker("vm").body(self)  # type: ignore[no-any-return]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute values with the function that `runs` returns."""
        if self.runs is None:
            raise MethodNotDefined(f"{self} defines neither runs nor perform")
        found = hooks.get_linker("vm").runner(node)(*inputs)
        values = (found,) if len(output_storage) == 1 else found
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value

    def written_out(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the variables that replace an inlined call: by default the graph, built from new
        nodes. (An op that is a form of other ops returns those.)
        """
        pairs = dict(zip(self.inner_inputs, inputs, strict=True))
        return rebuilt(self.inner_outputs, pairs, True, anew=True)

    def clone(self, fgraph: FunctionGraph | None = None) -> Any:
        """Return this op with another graph of the same types; without an argument, the
        op itself.
        """
        return self if fgraph is None else self.holding(fgraph.inputs, fgraph.outputs)

    def holding(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], **changed: Any
    ) -> Any:
        """Return this op with the graph between these variables, and other attributes."""
        made: Any = object.__new__(type(self))
        made.__dict__.update(self.__state__(), **changed)  # type: ignore[attr-defined]
        made.hold(inputs, outputs)
        return intern(made)

    def __reduce__(self) -> Any:
        rows = [row_of(op) for op in inner_ops([self]) if hasattr(op, "structure")]
        return getitem, (rows, -1)


# --- structure ------------------------------------------------------------------------------------


class Structure(int):
    """Key of a graph that equal graphs share: the same ops on the same operands. It ignores names,
    unneeded nodes, and the order of operands if merging ignores it. Takes time linear in the graph:
    an inner op, with everything it holds, is one object. As a number it is its hash, so that tables
    delete it without running Python.
    """

    rows: tuple[Any, ...]

    def __new__(cls, fgraph: FrozenGraph) -> Structure:
        number: dict[Variable, int] = {v: i for i, v in enumerate(fgraph.inputs)}
        rows: list[Any] = [tuple([v.type for v in fgraph.inputs])]

        def ref(v: Variable) -> Any:
            found = number.get(v)
            if found is None and isinstance(v, Constant):
                return v.signature()
            return found

        for node in in_one_order(fgraph):
            types = tuple([v.type for v in node.outputs])
            refs = [ref(v) for v in node.inputs]
            if any_order(node):
                refs.sort(key=hash)
            rows.append((node.op, tuple(refs), types))
            number.update(zip(node.outputs, range(len(number), len(number) + len(types))))
        rows.append(tuple([ref(v) for v in fgraph.outputs]))
        self = super().__new__(cls, hash(tuple(rows)))
        self.rows = tuple(rows)
        return self

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.rows == other.rows

    def __repr__(self) -> str:
        return f"<{len(self.rows) - 2} nodes>"


def any_order(node: Apply) -> bool:
    """Return whether the order of a node's operands is irrelevant (see `intern.key_of`)."""
    op, n = node.op, len(node.inputs)
    if n < 2 or not op.commutative:
        return False
    return n == 2 or (op.associative and node.outputs[0].type.regroups_exactly)


def in_one_order(fgraph: FrozenGraph) -> list[Apply]:
    """Return the nodes in an order that is the same for equal graphs. If the order of operands is
    irrelevant, the operands themselves determine it.
    """
    marks: dict[Variable, int] = {v: hash((i, v.type)) for i, v in enumerate(fgraph.inputs)}

    def mark(v: Variable) -> int:
        return hash(v.signature()) if isinstance(v, Constant) else marks[v]

    operands: dict[Apply, Sequence[Variable]] = {}
    for node in toposort(fgraph.outputs):
        operands[node] = sorted(node.inputs, key=mark) if any_order(node) else node.inputs
        own = hash((node.op, tuple([mark(v) for v in operands[node]])))
        marks.update((v, hash((own, i))) for i, v in enumerate(node.outputs))
    return toposort(fgraph.outputs, (), operands)


def held(fgraph: FrozenGraph) -> list[Any]:
    """Return the distinct ops of a graph that hold graphs."""
    ops = dict.fromkeys([node.op for node in fgraph.apply_nodes])
    return [op for op in ops if isinstance(op, HasInnerGraph)]


def inner_ops(ops: Iterable[Any]) -> list[Any]:
    """Return these ops and all ops in their graphs, at any depth: each once, after the ops that it
    holds.
    """
    return list(postorder(ops, lambda op: held(op.fgraph)))


def inlined(node: Apply) -> list[Variable]:
    """Return the outputs of the graph of a node's op, applied to the node's inputs: new nodes, one
    level deep.
    """
    op: Any = node.op
    return op.written_out(node.inputs)  # type: ignore[no-any-return]


def unfolded(outputs: Sequence[Variable], ops: Collection[Any]) -> list[Variable]:
    """Return outputs of a graph in which calls of these ops are replaced by their graphs."""
    found = list(outputs)
    while nodes := [node for node in toposort(found) if node.op in ops]:
        pairs = [pair for node in nodes for pair in zip(node.outputs, inlined(node), strict=True)]
        found = substituted(found, pairs)
    return found


def connections(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[list[bool]]:
    """Return which outputs' elements depend on which inputs. (A set of inputs is a number here.)"""
    known: dict[Variable, int] = {v: 1 << i for i, v in enumerate(inputs)}
    for node in toposort(outputs, known):
        pattern = node.op.connection_pattern
        rows = None if pattern is None else pattern(node)
        for j, out in enumerate(node.outputs):
            of = 0
            for i, v in enumerate(node.inputs):
                if rows is None or rows[i][j]:
                    of |= known.get(v, 0)
            known.setdefault(out, of)
    return [[bool(known.get(v, 0) >> i & 1) for v in outputs] for i in range(len(inputs))]


# --- pickling -------------------------------------------------------------------------------------


def _written(op: Any) -> Any:
    columns = to_columns(op.fgraph)
    ops = [row_of(o) if hasattr(o, "structure") else o for o in columns.ops]
    state = {k: v for k, v in op.__state__().items() if k not in ("fgraph", "structure")}
    return _op, (type(op), state, columns._replace(ops=ops))


row_of = Rows(_written)  # of ops with graphs, to be written after those that they hold


def _op(cls: type, state: dict[str, Any], columns: Columns) -> Any:
    made: Any = object.__new__(cls)
    made.__dict__.update(state)
    made.fgraph = from_columns(columns)
    made.structure = Structure(made.fgraph)
    return intern(made)
