"""`FunctionGraph`: a graph with inputs and outputs that can be changed, through one door:
`replace`.

It knows the clients of every variable, keeps one dynamic topological order, and merges equal nodes
at all times (hash-consing). `replace` only redirects the clients; each of them is rebuilt,
re-typed, re-keyed and merged once, by `settle`, however many of its inputs changed. Without a
driver, `replace` settles at once.

The mechanism is in `graph/store.py`; watching a graph is the job of features (`graph/feature.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rewrite_engine import hooks
from rewrite_engine.errors import (
    ConstantInputError,
    DuplicateInputError,
    ForeignObjectError,
    InputError,
    describe,
    refuse_options,
)
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.feature import AlreadyThere, Feature, heard_by
from rewrite_engine.graph.intern import key_in_any_order, key_of
from rewrite_engine.graph.journal import PUT_BACK, State, replace_all_validate
from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.graph.memory import makers_of_destroyed
from rewrite_engine.graph.node import Apply, Constant, Variable, variables
from rewrite_engine.graph.op import Op, Output, output_node
from rewrite_engine.graph.origin import plainly
from rewrite_engine.graph.store import NodeStore
from rewrite_engine.graph.traverse import graph_inputs, toposort


class Clients(Mapping[Variable, list[tuple[Apply, int]]]):
    """`FunctionGraph.clients`: {variable: where it is used}."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def __getitem__(self, var: Variable) -> list[tuple[Apply, int]]:
        return self.fgraph.get_clients(var)

    def __contains__(self, var: Any) -> bool:
        return var in self.fgraph.variables

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.fgraph.variables)

    def __len__(self) -> int:
        return len(self.fgraph.variables)

    def __or__(self, other: Mapping[Variable, Any]) -> dict[Variable, Any]:
        return dict(self) | dict(other)

    def __repr__(self) -> str:
        return repr(dict(self))


class Elsewhere:
    """An attribute that is not here, and what to write. (A `__getattr__` of the graph's would make
    all others slower.)
    """

    def __init__(self, name: str, text: str) -> None:
        self.text = f"'FunctionGraph' object has no attribute {name!r}: {text}"

    def __get__(self, fgraph: Any, kind: Any = None) -> Any:
        raise AttributeError(self.text)


#: what keeps the books of a graph elsewhere, and what to write here
ELSEWHERE = {
    "add_client": "`replace` keeps the clients",
    "collect_callbacks": "features are in `features`, and are told by `replace`",
    "execute_callbacks": "features are told by `replace`",
    "freeze": "an op keeps its inner graph in an `OpFromGraph`; `clone` copies a graph",
    "import_node": "`replace` and `add_output` import what is new",
    "import_var": "`replace` and `add_output` import what is new",
    "remove_client": "`replace` keeps the clients",
    "remove_node": "a node leaves when nothing uses it: `replace`, `remove_output`",
}


class FunctionGraph(NodeStore):
    """The computation of `outputs` from `inputs`.

    inputs: root variables (None: all roots that are not constants). clone: work on a copy, so that
    the user's variables are left as they are; `memo` then maps them to the graph's own. Raises
    `MissingInputError` for a root that is neither an input nor a constant, `DuplicateInputError`,
    `ConstantInputError`, `ForeignObjectError`, and `InputError` for an input that is computed and
    not copied. clone=False takes the user's nodes over; merging then changes them. merging=False
    lets equal nodes stay apart while they are taken in.
    """

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] = (),
        features: Iterable[Feature] = (),
        clone: bool = True,
        memo: dict[Variable, Variable] | None = None,
        copy_inputs: bool = True,
        update_mapping: Mapping[int, int] | None = None,
        merging: bool = True,
        copy_orphans: bool = False,
    ) -> None:
        if inputs is None:
            inputs = [v for v in graph_inputs(outputs) if not isinstance(v, Constant)]
        variables("input {} of the graph", inputs)
        variables("output {} of the graph", outputs)
        super().__init__()
        #: whether the nodes are this graph's own (copies), so that nobody misses those that leave
        self.owns_nodes = clone
        self.features: list[Feature] = []
        self.on_validate: list[Any] = []
        self.update_mapping = dict(update_mapping or {})
        self.memo: dict[Variable, Variable] = {} if memo is None else memo
        for v in inputs:
            own = self.memo.setdefault(v, v.clone() if clone and copy_inputs else v)
            FunctionGraph.add_input(self, own)  # (an op's graph refuses it afterwards)
        if copy_orphans:
            self._copy_constants(outputs)
        overwrites = self._take_in(outputs, merging)
        for v in outputs:
            FunctionGraph.add_output(self, v)
        for feature in features:
            self.attach_feature(feature)
        if overwrites:
            self.watch()

    def _copy_constants(self, outputs: Sequence[Variable]) -> None:
        """Have copies of the constants. Raises `OptionError` for nodes that are not copied."""
        if not self.owns_nodes:
            why = "nodes that are not cloned keep their constants"
            refuse_options("FunctionGraph", why, copy_orphans=True)
        constants = [v for v in graph_inputs(outputs) if isinstance(v, Constant)]
        self.memo |= {v: v.clone() for v in constants if v not in self.memo}

    def _take_in(self, outputs: Sequence[Variable], merging: bool) -> bool:
        """Let in what computes these outputs, before any feature watches; whether it overwrites."""
        nodes = toposort(outputs, self.memo)
        destroyers = [node for node in nodes if node.op.destroy_map]
        self.merging = merging
        apart = makers_of_destroyed(destroyers)
        self._enter(nodes, self.memo, apart=apart, copies=self.owns_nodes)
        self.merging = True
        return bool(destroyers)

    @property
    def reorders(self) -> bool:
        """Whether sums and products of floats with the same operands are equal in whatever order
        they stand (those of exact values always are). Set it before rules run; what is equal then
        is merged when a `MergeOptimizer` runs.
        """
        return self.key_of is key_in_any_order

    @reorders.setter
    def reorders(self, allowed: bool) -> None:
        level, table = self.order.level, self.table
        wide = [n for n in level if len(n.inputs) > 2 and not n.op.destroy_map]
        self._unfile(wide)  # the keys of all others stay the same
        self.key_of = key_in_any_order if allowed else key_of
        for node in sorted(wide, key=level.__getitem__):
            key = self.key_of(node, node.inputs)
            if table.setdefault(key, node) is node:
                node.key = key

    def _unfile(self, nodes: Iterable[Apply]) -> None:
        """Let nodes not be found by their keys any more."""
        for node in nodes:
            if node.key is not None:
                del self.table[node.key]
                node.key = None

    # --- reading ---------------------------------------------------------------------------------

    @property
    def apply_nodes(self) -> Any:
        """All nodes (a set-like view, in no particular order)."""
        return self.order.level.keys()

    @property
    def variables(self) -> Any:
        """All variables (a set-like view)."""
        return self.users.keys()

    @property
    def clients(self) -> Clients:
        """{variable: its uses, as of `get_clients`}, as a view."""
        return Clients(self)

    def get_clients(self, var: Variable) -> list[tuple[Apply, int]]:
        """Where a variable is used: pairs (node, input index); output i of the graph is input 0 of
        a node `Output(i)`, which is made when asked for.
        """
        uses = [
            (node, i)
            for node in self.users[var]
            for i, v in enumerate(self.present_inputs(node))
            if v is var
        ]
        return uses + [self.get_output_client(i) for i in self.out_uses.get(var, ())]

    def get_output_client(self, i: int) -> tuple[Apply, int]:
        """Output i as a use of its variable."""
        return output_node(i, self.outputs[i]), 0

    def toposort(self) -> list[Apply]:
        """All nodes, each after those it needs, with the orderings of features honoured."""
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
        """Extra constraints from the features: {node: nodes that must run before it}."""
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
        return f"FunctionGraph({', '.join(map(str, self.outputs))})"

    def dprint(self, **options: Any) -> Any:
        """Print the graph as a tree; options as of `dprint`."""
        return hooks.dprint(self, **options)

    def __repr__(self) -> str:
        return f"<FunctionGraph with {len(self.inputs)} inputs, {len(self)} nodes>"

    # --- features --------------------------------------------------------------------------------

    def attach_feature(self, feature: Feature) -> None:
        """Let a feature watch this graph.

        Does nothing if one of its kind says it is there already. Raises `ForeignObjectError`.
        """
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

    def remove_feature(self, feature: Feature) -> None:
        """Stop a feature from watching."""
        if feature not in self.features:
            return
        self.flush()
        self.features.remove(feature)
        kind: Any = type(feature)
        for name in heard_by(kind):
            getattr(self, name).remove(getattr(feature, name))
        feature.on_detach(self)

    def watch(self) -> None:
        """See to it that a `DestroyHandler` is there."""
        self.attach_feature(DestroyHandler(strict=True))

    def validate(self) -> None:
        """Ask every feature; raises `InconsistencyError`."""
        self.flush()
        for check in self.on_validate:
            check(self)

    # --- the door --------------------------------------------------------------------------------

    def replace(
        self, old: Variable, new: Variable, reason: Any = None, import_missing: bool = False
    ) -> Variable:
        """Use `new` wherever `old` is used; return the graph's own variable for `new`.

        `new` may be built on variables of this graph; what is new is imported, what exists already
        is found. If it is computed from `old` itself, only the present uses of `old` change.
        import_missing: roots that are not there become inputs. Raises `TypeMismatchError`,
        `MissingInputError` or `CycleError`; the graph is then as it was before.
        """
        if new is old or old not in self.users:
            return new
        if getattr(new, "type", None) is not old.type:
            new = old.type.filter_variable(new)
        uses = len(self.users[old])
        if not uses and old not in self.out_uses:
            return new
        for tell in self.on_replace:
            tell(self, old, new, reason)
        source, maker = old.owner, new.owner if new in self.users else None
        consumed, origin = getattr(reason, "consumed", plainly), None
        if source is not None:  # what takes its place comes from where it came from
            origin = consumed(source, None if maker is None else maker.origin, reason)
        own = new if maker is not None else self._import(new, reason, origin, import_missing)
        made = None if own is new or origin is None else own.owner
        if made is not None and made.origin is not origin:
            maker = made  # an equal one was there: it comes from elsewhere now, too
            origin = consumed(source, maker.origin, reason)
        if own is not old:
            self._redirect(old, own, uses, reason)
            if maker is not None and origin is not None:
                maker.origin = origin
            if self.worklist is None or not self.worklist.defers:
                self.flush()
        return own

    def exchange(self, nodes: Mapping[Apply, Any], ops: Sequence[Op], reason: Any = None) -> None:
        """Give nodes other ops, which compute the same into the same types and overwrite an input.

        A tenth of the time that other nodes in their places would take. Features hear of it as of
        nodes that leave and come in again. What is overwritten, the `destroy_handler` has to be
        told.
        """
        self._unfile(nodes)
        own, new = self.destroy_handler, dict(zip(nodes, ops, strict=True))
        leave, enter = [
            [call for call in calls if getattr(call, "__self__", call) is not own]
            for calls in (self.on_prune, self.on_import)
        ]
        for node in sorted(new, key=self.order.level.__getitem__):  # as they run
            op = new[node]
            for tell in self.on_exchange:
                tell(self, node, op, reason)
            for tell in leave:
                tell(self, node, reason)
            if len(node.outputs) == 1:  # by far the most
                node.op = node.outputs[0].head = op
            else:
                node.set_op(op)
            node.origin = plainly(node, None, reason)
            for tell in enter:
                tell(self, node, reason)

    def replace_all(
        self,
        pairs: Iterable[tuple[Variable, Variable]] | Mapping[Variable, Variable],
        reason: Any = None,
        import_missing: bool = False,
    ) -> None:
        """Replace several variables, one after the other.

        All types are checked before the first.
        """
        todo = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        fitted = [(old, old.type.filter_variable(new)) for old, new in todo]
        for old, new in fitted:
            self.replace(old, new, reason, import_missing)

    def change_node_input(
        self,
        node: Apply,
        i: int,
        new_var: Variable,
        reason: Any = None,
        import_missing: bool = False,
    ) -> None:
        """Use another variable as one input of a node, which another node then replaces; or, of a
        node `Output(i)`, as output i. Raises as `replace` does.
        """
        old = node.inputs[i]
        new_var = old.type.filter_variable(new_var)
        if isinstance(node.op, Output):
            new = self._import(new_var, reason, None, import_missing)
            if new is not old:
                self._set_output(node.op.idx, new, reason)
            return
        inputs = [*node.inputs[:i], new_var, *node.inputs[i + 1 :]]
        self.replace_all(
            zip(node.outputs, node.clone_with_new_inputs(inputs).outputs, strict=True),
            reason,
            import_missing,
        )

    def _set_output(self, idx: int, new: Variable, reason: Any) -> None:
        """Let a variable of the graph be another output; others stay what they are."""
        old = self.outputs[idx]
        others = [i for i in self.out_uses[old] if i != idx]
        self.out_uses[old] = [idx]
        for tell in self.on_redirect:
            tell(self, old, new, (), reason)
        self._move_outputs(old, new, reason)
        if others:
            self.out_uses[old] = others
        self._prune(old, reason)

    def replace_validate(self, old: Variable, new: Variable, reason: Any = None) -> None:
        """`replace`, then `validate`; on any error, which is raised, the graph is as it was."""
        self.replace_all_validate([(old, new)], reason)

    replace_all_validate = replace_all_validate

    def replace_all_validate_remove(
        self,
        pairs: Iterable[tuple[Variable, Variable]],
        remove: Iterable[Variable],
        reason: Any = None,
    ) -> None:
        """`replace_all_validate`, or nothing unless all of `remove` have then left the graph."""
        self.replace_all_validate(pairs, reason, absent=remove)

    def restore(self, state: State) -> None:
        """Bring the graph into a state, which may say of only some nodes what they were. Linear in
        the graph. Features are told which nodes left and came, then `on_restore`.
        """
        live = dict.fromkeys(self.order.level)
        for node in self.dirty:
            node.inputs = self.present_inputs(node)
        before = state.before(self)
        before.inputs.update({node: node.inputs for node in self.dirty})
        state.put_back()
        self._clear()
        if self.facts is not None:
            self.facts.clear()
        self.outputs[:] = state.outputs
        self._enter_all()
        now = self.order.level
        left, new = [n for n in live if n not in now], [n for n in now if n not in live]
        for node in left:
            before.inputs.setdefault(node, node.inputs)
        if self.worklist is not None:
            self.worklist.restored(now, new)
        for node in left:
            for tell in self.on_prune:
                tell(self, node, PUT_BACK)
        for node in new:
            for tell in self.on_import:
                tell(self, node, PUT_BACK)
        for feature in self.features:
            feature.on_restore(self, before, state)

    def marks(self) -> list[tuple[Feature, Any]]:
        """What features call the present state, for `take_back`."""
        return [(feature, feature.mark()) for feature in self.features]

    def take_back(self, marks: Iterable[tuple[Feature, Any]], by: str, why: str) -> None:
        """Let features know that the graph was put back to where it was."""
        for feature, mark in marks:
            feature.on_take_back(self, mark, by, why)

    def _enter_all(self) -> None:
        """Take in everything below the outputs as it is, without telling anybody."""
        kept = self.on_import, self.worklist, self.merging
        try:
            self.on_import, self.worklist, self.merging = [], None, False
            self._enter(toposort(self.outputs, self.users), {})
            for i, v in enumerate(self.outputs):
                self.out_uses.setdefault(self._root(v) if v.owner is None else v, []).append(i)
        finally:
            self.on_import, self.worklist, self.merging = kept

    def add_input(self, var: Variable) -> None:
        """Make a root variable an input."""
        if var in self.users:
            raise DuplicateInputError(f"{var!r} is given twice as an input of the graph")
        if isinstance(var, Constant):
            raise ConstantInputError(
                f"{var!r} is a constant, so it cannot be an input of the graph"
            )
        if var.owner is not None:
            raise InputError(f"{var!r} is computed by a node, so it can be an input only as a copy")
        self.inputs.append(var)
        self.users[var] = {}

    def add_output(self, var: Variable, reason: Any = None, import_missing: bool = False) -> None:
        """Add an output; what is missing of its graph is imported. import_missing: roots that are
        not there become inputs, else they are a `MissingInputError`.
        """
        own = self._import(self.memo.get(var, var), reason, None, import_missing)
        self.out_uses.setdefault(own, []).append(len(self.outputs))
        self.outputs.append(own)
        if self.destroy_handler is not None:
            self.destroy_handler.exposed.append(own)

    def remove_output(self, output_idx: int, reason: Any = None) -> None:
        """Drop an output, and what only it needed."""
        self.flush()
        var = self.outputs.pop(output_idx)
        at = range(len(self.outputs) + 1)[output_idx]
        updates = self.update_mapping.items()
        self.update_mapping = {o - (o > at): i for o, i in updates if o != at}
        self.out_uses.clear()
        for i, v in enumerate(self.outputs):
            self.out_uses.setdefault(v, []).append(i)
        self._prune(var, reason)

    def remove_input(self, input_idx: int) -> None:
        """Drop an input. Raises `InputError` if something uses it, or if it takes an update."""
        self.flush()
        at, updates = range(len(self.inputs))[input_idx], self.update_mapping
        var = self.inputs[at]
        if self.users[var] or var in self.out_uses or at in updates.values():
            raise InputError(f"{var!r} is used by the graph: replace it, or remove those outputs")
        del self.inputs[at], self.users[var]
        self.update_mapping = {o: i - (i > at) for o, i in updates.items()}

    # --- copying ---------------------------------------------------------------------------------

    def clone(self, check_integrity: bool = False) -> FunctionGraph:
        """Return a copy with clones of the features."""
        return self.clone_get_equiv(check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = False, attach_feature: bool = True
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """Return a copy, and {variable or node: its copy}."""
        self.flush()
        memo: dict[Any, Any] = {}
        features = [f.clone() for f in self.features] if attach_feature else []
        mapping = self.update_mapping
        copy = FunctionGraph(
            self.inputs, self.outputs, features, memo=memo, update_mapping=mapping, merging=False
        )
        copy.merging, copy.reorders = self.merging, self.reorders
        declared = {} if self.facts is None else self.facts.declared_by(memo)
        for v, said in declared.items():
            knowledge_of(copy).declare(v, said)
        if check_integrity:
            copy.check_integrity()
        memo.update([(node, memo[node.outputs[0]].owner) for node in self.apply_nodes])
        return copy, memo

    def __reduce__(self) -> Any:
        from rewrite_engine.graph.columns import from_columns, to_columns

        return from_columns, (to_columns(self),)


for _name, _text in ELSEWHERE.items():
    setattr(FunctionGraph, _name, Elsewhere(_name, _text))
