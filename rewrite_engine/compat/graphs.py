"""PyTensor's `FunctionGraph`, with its arguments and attributes, in which equal nodes stay separate
until rules merge them; and PyTensor's walks, which have another order (PyMC seeds generators in
that order).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rewrite_engine.compat.features import ReplaceValidate, is_consistent, provided
from rewrite_engine.compat.texts import text_of_graph
from rewrite_engine.compat.walks import last_first, variables_below, walk
from rewrite_engine.compile.shared import SharedVariable
from rewrite_engine.errors import refuse_options
from rewrite_engine.fork import cached_property
from rewrite_engine.graph import fgraph, replace, traverse
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.inner import InnerGraph, Structure
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Output
from rewrite_engine.graph.replace import clone_replace, rebuilt
from rewrite_engine.graph.weak import WeakValues
from rewrite_engine.tensor.constant import constant

__all__ = [
    "Clients",
    "FrozenFunctionGraph",
    "NominalVariable",
    "UnmergedGraph",
    "ancestors",
    "equal_computations",
    "explicit_graph_inputs",
    "graph_inputs",
]


def ancestors(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the variables and everything they are computed from, each once; the last ones first,
    and the last input of a node first. The walk does not go past a variable in `blockers`.
    """
    return variables_below(graphs, frozenset(blockers or ()))


def graph_inputs(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the roots that variables are computed from."""
    return (v for v in ancestors(graphs, blockers) if v.owner is None)


def explicit_graph_inputs(graph: Variable | Iterable[Variable]) -> Iterator[Variable]:
    """Yield the roots that have no value: neither constants nor shared variables."""
    several = [graph] if isinstance(graph, Variable) else graph
    roots = graph_inputs(several)
    return (v for v in roots if not isinstance(v, Constant | SharedVariable))


def equal_computations(xs: Sequence[Any], ys: Sequence[Any], *args: Any, **options: Any) -> bool:
    """`graph.replace.equal_computations`, in which an array equals a constant with its content.
    Raises `ValueError` for lists of different lengths.
    """
    if len(xs) != len(ys):
        raise ValueError(f"there are {len(xs)} graphs to compare with {len(ys)}")
    pairs = [(_like(x, y), _like(y, x)) for x, y in zip(xs, ys, strict=True)]
    own, other = [x for x, _ in pairs], [y for _, y in pairs]
    return replace.equal_computations(own, other, *args, **options)


def _like(x: Any, y: Any) -> Any:
    """A number or an array as a constant, if it is compared with a constant."""
    compared = isinstance(y, Constant) and isinstance(x, np.ndarray | np.generic | int | float)
    return constant(x) if compared else x


# --- graphs --------------------------------------------------------------------------------------


class Clients(Mapping[Variable, list[tuple[Apply, int]]]):
    """View of `fgraph.clients` of any graph: {variable: its uses}."""

    def __init__(self, graph: FrozenGraph) -> None:
        self.graph = graph

    def __getitem__(self, var: Variable) -> list[tuple[Apply, int]]:
        return self.graph.get_clients(var)

    def __contains__(self, var: Any) -> bool:
        return var in self.graph.variables

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.graph.variables)

    def __len__(self) -> int:
        return len(self.graph.variables)

    def __or__(self, other: Mapping[Variable, Any]) -> dict[Variable, Any]:
        return dict(self) | dict(other)

    def __repr__(self) -> str:
        return repr(dict(self))


#: what keeps the books of a graph there, and what to write here
ELSEWHERE = {
    "add_client": "`replace` updates the clients",
    "import_node": "`replace` and `add_output` import new nodes",
    "import_var": "`replace` and `add_output` import new nodes",
    "remove_client": "`replace` updates the clients",
}


class _AnyGraph(type):
    """Metaclass of a class that counts every graph as its instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, FrozenGraph)


class _AnyFrozen(type):
    """Metaclass of a class that counts every read-only graph as its instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, InnerGraph)


class FrozenFunctionGraph(InnerGraph, metaclass=_AnyFrozen):
    """Read-only graph made of variables: `from_io(inputs, outputs)`. An input may be computed from
    others: the graph then uses it as a root.
    """

    @classmethod
    def from_io(
        cls, inputs: Sequence[Variable], outputs: Sequence[Variable]
    ) -> FrozenFunctionGraph:
        """Return the read-only graph between these variables."""
        roots = {v: v.type.make_variable(v.name) for v in inputs if v.owner is not None}
        outputs = clone_replace(list(outputs), roots) if roots else outputs
        return cls([roots.get(v, v) for v in inputs], outputs)

    @classmethod
    def from_structural_inputs(
        cls, inputs: Sequence[Variable], outputs: Sequence[Variable]
    ) -> FrozenFunctionGraph:
        """The graph between these, where an input stands for all variables computed as it is."""
        roots = {v: v for v in (*graph_inputs(inputs), *graph_inputs(outputs))}
        merged = fgraph.FunctionGraph(
            [v for v in roots if not isinstance(v, Constant)], [*inputs, *outputs], memo=roots
        )
        return cls.from_io(merged.outputs[: len(inputs)], merged.outputs[len(inputs) :])

    @cached_property
    def structure(self) -> Structure:
        """Key that equal graphs share."""
        return Structure(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenFunctionGraph) and self.structure == other.structure

    def __hash__(self) -> int:
        return hash(self.structure)

    def bind(
        self,
        inputs: Sequence[Variable] | Mapping[Variable, Variable],
        return_memo: bool = False,
    ) -> Any:
        """Return the outputs for other inputs. return_memo: also return {variable of this graph:
        its replacement}.
        """
        if not return_memo:
            return super().bind(inputs)
        own = list(dict.fromkeys([*self.inputs, *self.outputs, *self.variables]))
        pairs = dict(inputs if isinstance(inputs, Mapping) else zip(self.inputs, inputs))
        fitted = {v: v.type.filter_variable(new) for v, new in pairs.items()}
        memo = dict(zip(own, rebuilt(own, fitted, True, anew=True), strict=True))
        return [memo[v] for v in self.outputs], memo

    def unfreeze(self) -> UnmergedGraph:
        """Return a copy that can be changed, and does not merge equal nodes."""
        return UnmergedGraph(self.inputs, self.outputs)


class _Nominal(type):
    """Metaclass of `NominalVariable`, which makes the variable with a type and a number."""

    def __call__(cls, id: Any, typ: Any, name: str | None = None) -> Variable:
        key = typ, id
        known = _nominals.get(key)
        if known is None:
            made: Any = typ.make_variable(name)
            made.id = id
            known = _nominals.setdefault(key, made)
        return known

    def __instancecheck__(cls, instance: Any) -> bool:
        key = getattr(instance, "type", None), getattr(instance, "id", None)
        return isinstance(instance, Variable) and _nominals.get(key) is instance


class NominalVariable(metaclass=_Nominal):
    """Numbered input: `NominalVariable(0, type)` always returns the same variable."""


_nominals: WeakValues[Any, Variable] = WeakValues()


class UnmergedGraph(fgraph.FunctionGraph, metaclass=_AnyGraph):
    """Graph that does not merge equal nodes by itself: an inserted variable becomes the graph's
    own. (The phase "merge", with which `function` begins, merges them.)

    Takes PyTensor's arguments. copy_inputs, copy_orphans: whether a copy copies the inputs, and the
    constants. update_mapping: called `updates` here. Raises `OptionError` for a copy of constants
    without copying nodes.
    """

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] = (),
        features: Iterable[Feature] | None = None,
        clone: bool = True,
        update_mapping: Mapping[int, int] | None = None,
        *,
        memo: dict[Variable, Variable] | None = None,
        copy_inputs: bool = True,
        copy_orphans: bool = False,
        merging: bool = False,
    ) -> None:
        memo = {} if memo is None else memo
        if copy_orphans and not clone:
            why = "nodes that are not cloned keep their constants"
            refuse_options("FunctionGraph", why, copy_orphans=True)
        roots = [*traverse.graph_inputs(outputs)] if inputs is None or copy_orphans else []
        constants = [v for v in roots if isinstance(v, Constant)]
        if inputs is None:
            inputs = [v for v in roots if not isinstance(v, Constant)]
        if not copy_inputs:
            memo.update([(v, v) for v in inputs if v not in memo])
        if copy_orphans:
            memo.update([(v, v.clone()) for v in constants if v not in memo])
        super().__init__(inputs, outputs, features or (), clone, memo, merging, update_mapping)
        self.merging = False

    def remove_node(self, node: Apply, reason: Any = None) -> None:
        """Remove the outputs that need a node; the node leaves with them, and everything that only
        they needed.
        """
        self.flush()
        if node not in self.apply_nodes:
            return
        users = lambda one: [user for v in one.outputs for user, _ in self.get_clients(v)]
        last = [user.op.idx for user in walk([node], users) if isinstance(user.op, Output)]
        for i in sorted(last, reverse=True):
            self.remove_output(i, reason)

    def change_node_input(
        self,
        node: Apply,
        i: int,
        new_var: Variable,
        reason: Any = None,
        import_missing: bool = False,
    ) -> None:
        """Replace one input of a node; the node and its outputs stay."""
        old = node.inputs[i]
        if isinstance(node.op, Output) or [v is old for v in node.inputs].count(True) > 1:
            super().change_node_input(node, i, new_var, reason, import_missing)
            return
        new = self._import(old.type.filter_variable(new_var), reason, None, import_missing)
        if new is not old:
            self._move([node], old, new, reason, outputs=False)
            self.flush()

    def toposort(self) -> list[Apply]:
        """Return the nodes in PyTensor's order, unless features order them: programs number results
        in it.
        """
        self.flush()
        usual = [type(f).orderings is Feature.orderings for f in self.features]
        return last_first(self.outputs, self.inputs) if all(usual) else super().toposort()

    def freeze(self) -> FrozenFunctionGraph:
        """Return a read-only copy."""
        return FrozenFunctionGraph(self.inputs, self.outputs, merging=False)

    @property
    def update_mapping(self) -> dict[int, int]:
        """Mapping {index of an output: index of the input whose next value it is}."""
        return self.updates

    def __str__(self) -> str:
        return text_of_graph(self)

    def remove_input(self, input_idx: int, reason: Any = None) -> None:
        """Drop an input, and the outputs that need it. Raises `InputError` for one with an
        update.
        """
        var = self.inputs[input_idx]
        for user in [node for node, _ in self.get_clients(var)]:
            if not isinstance(user.op, Output):
                self.remove_node(user, reason)
        while var in self.outputs:
            self.remove_output(self.outputs.index(var), reason)
        super().remove_input(input_idx)

    def consistent(self) -> bool:
        """Return whether all features find the graph valid."""
        return is_consistent(self)

    def execute_callbacks(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Call a method of every feature that has it, with the graph as first argument."""
        for feature in [*self.features]:
            method = getattr(feature, name, None)
            if method is not None:
                method(self, *args, **kwargs)

    def collect_callbacks(self, name: str, *args: Any) -> dict[Any, Any]:
        """Return {feature: what its method of that name returns}."""
        found = {f: getattr(f, name) for f in self.features if hasattr(f, name)}
        return {feature: method(self, *args) for feature, method in found.items()}

    def checkpoint(self) -> int:
        """Name the present state, which `revert` goes back to."""
        return self._history.checkpoint(self)

    def revert(self, checkpoint: int) -> None:
        """Go back to a state that `checkpoint` named."""
        self._history.revert(self, checkpoint)

    @property
    def _history(self) -> ReplaceValidate:
        self.attach_feature(ReplaceValidate())
        return next(f for f in self.features if isinstance(f, ReplaceValidate))

    def __getattr__(self, name: str) -> Any:
        offered = provided(self.__dict__.get("features", ()), self, name)
        if offered is not None:
            return offered
        hint = f": {ELSEWHERE[name]}" if name in ELSEWHERE else ""
        raise AttributeError(f"'FunctionGraph' object has no attribute {name!r}{hint}")
