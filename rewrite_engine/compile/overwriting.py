"""Values that ops in a user's graph may overwrite: temporaries without later readers, `mutable`
inputs, and copies of outputs and of updated shared variables.

Rules insert other in-place ops later: `rewrite/inplace.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from typing import Any

from rewrite_engine.errors import OverwritingError, message
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import memory_of
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op


class OwnCopy(Op):
    """Op that copies a value for one node to overwrite. It has no `__props__`, so copies are never
    merged.
    """

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Return the type of the value."""
        return types

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Copy the value, of any type."""
        output_storage[0][0] = deepcopy(inputs[0])

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> Any:
        """Return the shape of the value."""
        return shapes

    def equal_lengths(self, node: Apply) -> Any:
        """Return no requirements: copying never fails."""
        return []


def guard(fgraph: FunctionGraph, mutable: set[Variable], accept_inplace: bool) -> None:
    """Guard values against being overwritten, by the user's ops and by those that rules insert
    later. Raises `OverwritingError`, and `InconsistencyError` for values that must not be
    overwritten.
    """
    destroyers = [node for node in fgraph.apply_nodes if node.op.destroy_map]
    if destroyers and not accept_inplace:
        node = destroyers[0]
        what = "the graph overwrites an input; function(…, accept_inplace=True) allows it"
        raise OverwritingError(message(what, op=node.op, inputs=node.inputs, where=node.where()))
    if not destroyers and not mutable:
        return
    handler = DestroyHandler(mutable, strict=not accept_inplace)
    fgraph.attach_feature(handler)
    states = {fgraph.inputs[i] for i in fgraph.updates.values()}
    for node in [*handler.broken]:
        give_copies(fgraph, node, states - handler.mutable)
    fgraph.validate()


def give_copies(fgraph: FunctionGraph, node: Apply, states: Collection[Variable]) -> None:
    """Let a node overwrite copies of updated states and of values that outputs share. (A failed
    call leaves states unchanged, so a state itself is never overwritten.)
    """
    handler, inputs = fgraph.destroy_handler, list(node.inputs)
    for i in sorted(memory_of(node.op).destroyed):
        roots = handler.roots(inputs[i])
        if any([is_closed(root, states, handler.mutable) for root in roots]):
            continue
        shown = handler.who_sees(fgraph, roots)[1]
        if shown is not None or any([root in states for root in roots]):
            inputs[i] = OwnCopy()(inputs[i])
    if inputs != list(node.inputs):
        new = node.clone_with_new_inputs(inputs)
        fgraph.replace_all(zip(node.outputs, new.outputs, strict=True), "overwrite a copy")


def is_closed(root: Variable, states: Collection[Variable], mutable: Collection[Variable]) -> bool:
    """Return whether a value is a constant, or an argument that the caller keeps."""
    given = root.owner is None and root not in states and root not in mutable
    return given or isinstance(root, Constant)
