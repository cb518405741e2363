"""`FunctionGraph`: a graph that can be changed, only by the methods that its docstring lists.

`replace`, the method that rules use, only redirects the clients of a variable. `settle` later
rebuilds, re-types, re-keys and merges each client once, however many of its inputs changed. Without
a driver, `replace` settles immediately.

Reading a graph is defined in `graph/frozen.py`, the mechanism of changes in `graph/store.py`;
features watch a graph (`graph/feature.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewrite_engine.errors import InputError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.feature import Feature, heard_by
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.integrity import check_changes_of
from rewrite_engine.graph.intern import key_in_any_order, key_of
from rewrite_engine.graph.journal import PUT_BACK, State, replace_all_validate
from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op, Output
from rewrite_engine.graph.origin import plainly
from rewrite_engine.graph.store import NodeStore
from rewrite_engine.graph.traverse import toposort


class FunctionGraph(NodeStore):
    """Changeable graph that computes `outputs` from `inputs`.

    inputs: root variables, which the graph copies (None: all roots that are not constants, without
    copying). clone: work on a copy, so that the user's variables stay unchanged; `memo` then maps
    them to the graph's own, and may specify copies in advance. clone=False takes over the user's
    nodes, and merging then changes them. merging=False keeps equal nodes apart while they are taken
    in. updates: {index of an output: index of the input whose next value it is}.

    Raises `MissingInputError` for a root that is neither an input nor a constant,
    `DuplicateInputError`, `ConstantInputError`, `ForeignObjectError`, and `InputError` for an input
    that is computed and not copied.

    Only these methods change the computation of a graph:

    * `replace`: use one variable in the place of another. This is the method for rules and users;
      `replace_all`, `replace_validate`, `replace_all_validate`, `replace_all_validate_remove`, and
      `change_node_input` for an input of a node, are built on it.
    * `change_node_input` of a node `Output(i)`: one output becomes another variable.
    * `exchange`: nodes get ops that compute the same value and overwrite an input.
    * `restore`: the graph returns to an earlier state (`History`).
    * `add_input`, `add_output`, `remove_input`, `remove_output`: its inputs and outputs.

    `flush` settles replacements, at once or when a driver reaches them: clients are rebuilt, get
    more precise types, and are merged with equal nodes. `merging` and `reorders` control this.
    """

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] = (),
        features: Iterable[Feature] = (),
        clone: bool = True,
        memo: dict[Variable, Variable] | None = None,
        merging: bool = True,
        updates: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(inputs, outputs, features, clone, memo, merging)
        self.updates = dict(updates or {})

    @property
    def reorders(self) -> bool:
        """True if sums and products of floats with the same operands are equal in any order (those
        of exact values always are). Set it before rules run; a `MergeOptimizer` then merges the
        equal ones.
        """
        return self.key_of is key_in_any_order

    @reorders.setter
    def reorders(self, allowed: bool) -> None:
        level, table = self.order.level, self.table
        wide = [n for n in level if len(n.inputs) > 2 and not n.op.destroy_map]
        for node in wide:  # the keys of all others stay the same
            self._unfile(node)
        self.key_of = key_in_any_order if allowed else key_of
        for node in sorted(wide, key=level.__getitem__):
            table.setdefault(self.key_of(node, node.inputs), node)

    # --- features --------------------------------------------------------------------------------

    def attach_feature(self, feature: Feature) -> None:
        """Let a feature watch this graph.

        Does nothing if the graph already has a feature of this kind. Raises `ForeignObjectError`.
        """
        self._attach(feature)

    def remove_feature(self, feature: Feature) -> None:
        """Detach a feature from this graph."""
        if feature not in self.features:
            return
        self.flush()
        kind: Any = type(feature)
        for name in heard_by(kind):
            listeners, listener = getattr(self, name), getattr(feature, name)
            if listener in listeners:  # (not if Ctrl-C came while it was attached)
                listeners.remove(listener)
        self.features.remove(feature)
        feature.on_detach(self)

    def watch(self) -> None:
        """Attach a `DestroyHandler` if there is none."""
        self.attach_feature(DestroyHandler(strict=True))

    # --- mutators -----------------------------------------------------------------------------

    def replace(
        self, old: Variable, new: Variable, reason: Any = None, import_missing: bool = False
    ) -> Variable:
        """Use `new` wherever `old` is used; return the graph's own variable for `new`.

        `new` may be built on variables of this graph; its new nodes are imported, existing ones are
        reused. If `new` is computed from `old` itself, only the present uses of `old` change.
        import_missing: roots that the graph does not have become inputs. Raises
        `TypeMismatchError`, `MissingInputError` or `CycleError`, and then leaves the graph
        unchanged.
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
        """Give nodes other ops that compute the same values of the same types and overwrite an
        input.

        This takes a tenth of the time of replacing the nodes. Features are notified of nodes that
        leave and enter again. The caller must tell the `destroy_handler` what is overwritten.
        """
        for node in nodes:
            self._unfile(node)
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

        All types are checked before the first replacement.
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
        """Use another variable as input `i` of a node, which another node then replaces; for a node
        `Output(i)`, as output i. Raises the errors of `replace`.
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
        """Change one output to another variable of the graph; other outputs stay the same."""
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
        """Replace a variable, then `validate`. If an error is raised, the graph is unchanged."""
        self.replace_all_validate([(old, new)], reason)

    replace_all_validate = replace_all_validate

    def replace_all_validate_remove(
        self,
        pairs: Iterable[tuple[Variable, Variable]],
        remove: Iterable[Variable],
        reason: Any = None,
    ) -> None:
        """Do `replace_all_validate`, or change nothing unless all variables in `remove` then leave
        the graph.
        """
        self.replace_all_validate(pairs, reason, absent=remove)

    def restore(self, state: State) -> None:
        """Return the graph to a state, which may describe only some nodes. Takes time linear in the
        graph. Features are notified of the nodes that left and entered, then by `on_restore`.
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
        """Return the features' identifiers of the present state, for `take_back`."""
        return [(feature, feature.mark()) for feature in self.features]

    def take_back(self, marks: Iterable[tuple[Feature, Any]], by: str, why: str) -> None:
        """Notify features that the graph was returned to an earlier state."""
        for feature, mark in marks:
            feature.on_take_back(self, mark, by, why)

    def _enter_all(self) -> None:
        """Take in everything below the outputs unchanged, without notifying anybody."""
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
        self._put_input(var)

    def add_output(self, var: Variable, reason: Any = None, import_missing: bool = False) -> None:
        """Add an output and import the missing part of its graph. import_missing: roots that the
        graph does not have become inputs; otherwise they raise `MissingInputError`.
        """
        own = self._import(self.memo.get(var, var), reason, None, import_missing)
        self._put_output(own)
        if self.destroy_handler is not None:
            self.destroy_handler.exposed.append(own)

    def remove_output(self, output_idx: int, reason: Any = None) -> None:
        """Remove an output, and everything that only it needed."""
        self.flush()
        var = self.outputs.pop(output_idx)
        at = range(len(self.outputs) + 1)[output_idx]
        self.updates = {o - (o > at): i for o, i in self.updates.items() if o != at}
        self.out_uses.clear()
        for i, v in enumerate(self.outputs):
            self.out_uses.setdefault(v, []).append(i)
        self._prune(var, reason)

    def remove_input(self, input_idx: int) -> None:
        """Remove an input. Raises `InputError` if something uses it, or if an output updates it."""
        self.flush()
        at, updates = range(len(self.inputs))[input_idx], self.updates
        var = self.inputs[at]
        if self.users[var] or var in self.out_uses or at in updates.values():
            raise InputError(f"{var!r} is used by the graph: replace it, or remove those outputs")
        del self.inputs[at], self.users[var]
        self.updates = {o: i - (i > at) for o, i in updates.items()}

    # --- copying ---------------------------------------------------------------------------------

    def clone(self, check_integrity: bool = False) -> FunctionGraph:
        """Return a copy with clones of the features."""
        return self.clone_get_equiv(check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = False, attach_feature: bool = True
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """Return a copy, and {variable or node: its copy}."""
        return changeable(self, check_integrity, attach_feature)


def changeable(
    graph: FrozenGraph, check_integrity: bool = False, attach_feature: bool = True
) -> tuple[FunctionGraph, dict[Any, Any]]:
    """Return a copy of a graph that can be changed, and {variable or node: its copy}."""
    graph.flush()
    memo: dict[Any, Any] = {}
    features = [f.clone() for f in graph.features] if attach_feature else []
    copy = FunctionGraph(
        graph.inputs, graph.outputs, features, memo=memo, merging=False, updates=graph.updates
    )
    copy.merging, copy.reorders = graph.merging, graph.reorders
    declared = {} if graph.facts is None else graph.facts.declared_by(memo)
    for v, said in declared.items():
        knowledge_of(copy).declare(v, said)
    if check_integrity:
        copy.check_integrity()
    memo.update([(node, memo[node.outputs[0]].owner) for node in graph.apply_nodes])
    return copy, memo


check_changes_of(FunctionGraph)
