"""`FrozenGraph`: a read-only computation of outputs from inputs.

It takes in a graph (equal nodes are merged on entry, by hash-consing). From then on it knows the
clients of every variable, an order of the nodes, and which nodes may overwrite a value. Nothing
here changes a graph: the graph inside an op (`graph/inner.py`) is frozen. `graph/store.py` adds the
redirection, settling and removal of nodes, and `graph/fgraph.py` the methods that request them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from rewrite_engine import hooks
from rewrite_engine.errors import (
    ConstantInputError,
    DuplicateInputError,
    ForeignObjectError,
    InputError,
    MissingInputError,
    describe,
    message,
    plural,
)
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.display import Displayed
from rewrite_engine.graph.feature import AlreadyThere, Feature, heard_by
from rewrite_engine.graph.integrity import check_store
from rewrite_engine.graph.intern import key_of
from rewrite_engine.graph.memory import makers_of_destroyed
from rewrite_engine.graph.node import Apply, Constant, Variable, copied, variables
from rewrite_engine.graph.op import output_node
from rewrite_engine.graph.order import GAP, Order, Worklist
from rewrite_engine.graph.origin import Origin
from rewrite_engine.graph.traverse import graph_inputs, toposort


class FrozenGraph(Displayed):
    """Read-only graph that computes `outputs` from `inputs`. Takes the arguments of
    `FunctionGraph`.

    features: objects with information about the graph (a `DestroyHandler`: which values may be
    overwritten). They are never notified of a change.
    """

    #: the driver that is at work, where something changes the graph
    worklist: Worklist | None = None
    #: whether a driver is at work, so that what comes in is nobody else's
    is_driven: bool = False
    #: whether the order of operands may be another (see `FunctionGraph`)
    reorders: bool = False

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] = (),
        features: Iterable[Feature] = (),
        clone: bool = True,
        memo: dict[Variable, Variable] | None = None,
        merging: bool = True,
    ) -> None:
        copies = clone and inputs is not None
        if inputs is None:
            inputs = [v for v in graph_inputs(outputs) if not isinstance(v, Constant)]
        variables("input {} of the graph", inputs)
        variables("output {} of the graph", outputs)
        self._start()
        #: whether the nodes are this graph's own (copies), so that nobody misses those that leave
        self.owns_nodes = clone
        self.memo: dict[Variable, Variable] = {} if memo is None else memo
        for v in inputs:
            self._put_input(self.memo.setdefault(v, v.clone() if copies else v))
        overwrites = self._take_in(outputs, merging)
        for v in outputs:
            own = self.memo.get(v, v)
            self._put_output(self._root(own) if own.owner is None else own)
        for feature in features:
            self._attach(feature)
        if overwrites:
            self._attach(DestroyHandler(strict=True))

    def _start(self) -> None:
        """Initialize an empty graph."""
        self.inputs: list[Variable] = []
        self.outputs: list[Variable] = []
        self.updates: dict[int, int] = {}  # number of an output → of the input it is for, next time
        self.features: list[Any] = []  # of `Feature`s
        self.merged = 0
        self.merging = True
        self.key_of = key_of  # when nodes are equal (see `FunctionGraph.reorders`)
        self.destroy_handler: Any = None  # there is one where something is overwritten
        self.facts: Any = None  # what facts said (graph/knowledge.py), once one was asked
        self.is_inner = False  # whether it is the graph of an op, which may run many times
        self.lazy = False  # whether there was an op that does not need all inputs (`Op.read_if`)
        self.on_import, self.on_prune, self.on_redirect = list[Any](), list[Any](), list[Any]()
        self.on_change_input, self.on_change_type = list[Any](), list[Any]()
        self.on_replace, self.on_exchange = list[Any](), list[Any]()
        self.on_apply, self.on_applied = list[Any](), list[Any]()
        self.on_validate = list[Any]()
        self.users: dict[Variable, dict[Apply, None]] = {}
        self.out_uses: dict[Variable, list[int]] = {}
        self.table: dict[Any, Apply] = {}
        self.constants: dict[Any, Constant] = {}
        self.order = Order(self._above)

    def _above(self, node: Apply) -> Iterator[Apply]:
        for out in node.outputs:
            yield from self.users[out]

    # --- taking in -------------------------------------------------------------------------------

    def _take_in(self, outputs: Sequence[Variable], merging: bool) -> bool:
        """Take in the nodes that compute these outputs, before any feature watches. Returns whether
        a node overwrites something.
        """
        nodes = toposort(outputs, self.memo)
        destroyers = [node for node in nodes if node.op.destroy_map]
        self.merging = merging
        apart = makers_of_destroyed(destroyers)
        self._enter(nodes, self.memo, apart=apart, copies=self.owns_nodes)
        self.merging = True
        return bool(destroyers)

    def _put_input(self, var: Variable) -> None:
        if var in self.users:
            raise DuplicateInputError(f"{var!r} is an input of the graph twice")
        if isinstance(var, Constant):
            raise ConstantInputError(
                f"{var!r} is a constant, so it cannot be an input of the graph"
            )
        if var.owner is not None:
            raise InputError(f"{var!r} is computed by a node, so only a copy of it can be an input")
        self.inputs.append(var)
        self.users[var] = {}

    def _put_output(self, own: Variable) -> None:
        self.out_uses.setdefault(own, []).append(len(self.outputs))
        self.outputs.append(own)

    def _root(self, v: Variable, node: Apply | None = None) -> Variable:
        """Return the graph's own root for `v`: an input, or the one constant with that content.
        node: the node that uses it.
        """
        if v in self.users:
            return v
        if isinstance(v, Constant):
            own = self.constants.setdefault(v.signature(), v)
            if not self.merging:  # (the node may be in another graph, too, which knows `v`)
                own = v
            self.users.setdefault(own, {})
            return own
        if node is None:
            text = f"{v!r} of type {v.type} is neither an input of the graph nor a constant"
            raise MissingInputError(message(text))
        text = f"its input {v!r} of type {v.type} is neither an input nor a constant"
        raise MissingInputError(message(text, op=node.op, inputs=node.inputs, where=node.where()))

    def _enter(
        self,
        nodes: Sequence[Apply],
        names: dict[Variable, Variable],
        gap: int = GAP,
        reason: Any = None,
        origin: Origin | None = None,
        apart: Collection[Apply] = (),
        copies: bool = False,
    ) -> None:
        """Take in nodes (or copies of them), each after its inputs, unless equal ones exist;
        `names` gets the graph's outputs. Nodes in `apart` are merged with none.
        """
        clients, table, key_of = self.users, self.table, self.key_of
        for node in nodes:
            inputs = node.inputs
            if names:
                inputs = tuple(map(names.get, inputs, inputs))
            if not all(map(clients.__contains__, inputs)):
                inputs = tuple([v if v in clients else self._root(v, node=node) for v in inputs])
            key = key_of(node, inputs)
            twin = table.get(key) if self.merging and node not in apart else None
            if twin is not None and self._may_merge(node, twin, key):
                self._stand_in(twin, node, names)
                continue
            own = copied(node, inputs) if copies else node
            own.inputs = inputs
            if not own.op.destroy_map:
                table.setdefault(key, own)
            if own.op.read_if is not None:
                self.lazy = True
            level = self.order.insert(own, gap)
            for v in inputs:
                clients[v][own] = None
            for old, out in zip(node.outputs, own.outputs):
                clients[out], names[old] = {}, out
            own.origin = own.origin if origin is None else origin
            if self.worklist is not None:
                self.worklist.entered(own, level)
            for tell in self.on_import:
                tell(self, own, reason)

    def _may_merge(self, node: Apply, twin: Apply, key: Any) -> bool:
        """Return whether a node equals the node under its key in the table and may be merged with
        it.
        """
        handler = self.destroy_handler
        return handler is None or handler.may_merge(node, twin)

    def _stand_in(self, twin: Apply, like: Apply, names: dict[Variable, Variable]) -> None:
        """Record that an existing node represents an equal one that is not taken in."""
        self.merged += 1
        for a, b in zip(like.outputs, twin.outputs, strict=True):
            names[a] = b
            if b.name is None:
                b.name = a.name

    def _attach(self, feature: Any) -> None:
        """Attach a feature, unless the graph already has one of its kind."""
        if feature in self.features:
            return
        if not hasattr(feature, "on_attach"):
            what = "only a Feature (such as a Trace) can watch a graph"
            raise ForeignObjectError(f"{what}, not {describe(feature)}")
        self.flush()
        try:
            feature.on_attach(self)
        except AlreadyThere:
            return
        self.features.append(feature)
        kind: Any = type(feature)
        for name in heard_by(kind):
            getattr(self, name).append(getattr(feature, name))

    # --- reading ---------------------------------------------------------------------------------

    @property
    def apply_nodes(self) -> Any:
        """All nodes, as a set-like view in no particular order."""
        return self.order.level.keys()

    @property
    def variables(self) -> Any:
        """All variables, as a set-like view."""
        return self.users.keys()

    @property
    def clients(self) -> Any:
        """View of {variable: its uses, as in `get_clients`}, under PyTensor's name."""
        return hooks.clients(self)

    def get_clients(self, var: Variable) -> list[tuple[Apply, int]]:
        """Return the uses of a variable as pairs (node, input index). Output i of the graph is
        input 0 of a node `Output(i)`, which is made on demand.
        """
        uses = [
            (node, i)
            for node in self.users[var]
            for i, v in enumerate(self.present_inputs(node))
            if v is var
        ]
        return uses + [self.get_output_client(i) for i in self.out_uses.get(var, ())]

    def get_output_client(self, i: int) -> tuple[Apply, int]:
        """Return output i as a use of its variable."""
        return output_node(i, self.outputs[i]), 0

    def flush(self) -> Any:
        """Settle pending replacements; a read-only graph has none."""
        return ()

    def present_inputs(self, node: Apply) -> tuple[Variable, ...]:
        """Return the inputs of a node, also before it is settled."""
        return node.inputs

    def toposort(self) -> list[Apply]:
        """Return all nodes, each after those it needs, respecting the orderings of features."""
        self.flush()
        own, usual = self.destroy_handler, Feature.orderings  # (its edges are in the order)
        if all([f is own or type(f).orderings is usual for f in self.features]):
            return self.order.arranged()[0]
        before = self.orderings()
        operands = {
            node: [*node.inputs, *[first.outputs[0] for first in before.get(node, ())]]
            for node in self.order.level
        }
        return toposort(self.outputs, (), operands)

    def orderings(self) -> dict[Apply, list[Apply]]:
        """Return extra constraints from the features: {node: nodes that must run before it}."""
        result: dict[Apply, list[Apply]] = {}
        for feature in self.features:
            for node, before in feature.orderings(self).items():
                result.setdefault(node, []).extend(before)
        return result

    def __contains__(self, item: Variable | Apply) -> bool:
        return item in self.users or item in self.order.level

    def __len__(self) -> int:
        return len(self.order.level)

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.outputs))})"

    def dprint(self, **options: Any) -> Any:
        """Print the graph as a tree. Takes the options of `dprint`."""
        return hooks.dprint(self, **options)

    def __repr__(self) -> str:
        size = f"{plural(len(self.inputs), 'input')}, {plural(len(self), 'node')}"
        return f"<{type(self).__name__} with {size}: {hooks.short(self.outputs)}>"

    def __reduce__(self) -> Any:
        from rewrite_engine.graph.columns import from_columns, to_columns

        return from_columns, (to_columns(self),)

    def check_integrity(self) -> None:
        """Raise `InconsistencyError` for the first invariant that does not hold, naming it.

        Takes linear time; for tests and for debugging. `config.check_graphs` runs it after every
        change.
        """
        self.flush()
        check_store(self)

    def validate(self) -> None:
        """Let every feature check the graph. Raises `InconsistencyError`."""
        self.flush()
        for check in self.on_validate:
            check(self)
