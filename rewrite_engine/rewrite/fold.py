"""Constant folding: a node whose inputs are all constants is computed once, at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.match.claim import exact
from rewrite_engine.match.decorate import node_rewriter

SMALL, MAX_KNOWN = 64, 4096  # bytes of an array, and results, that are kept
_known: dict[Any, Constant] = {}


@node_rewriter(phase="canonicalize", claim=exact, tags=["fold"], constant_inputs=True)
def constant_folding(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Compute terms that depend on no input at compile time. Not data: it applies to every op.

    >>> rewritten(vector("x") * exp(constant(0.0)))
    x

    A result that is larger than `config.fold_limit` and than its inputs stays symbolic. A node that
    cannot be computed stays, too: running it will raise the error, with the user's line.
    """
    op = node.op
    if op.destroy_map or not op.do_constant_folding(fgraph, node):
        return None
    return (
        constant_result(node)
        if type(op).__module__.startswith("rewrite_engine.")
        else computed(node)
    )


def constant_result(node: Apply) -> Any:
    """Return what `computed` does, kept if it is small: the models of a program, and the functions
    of a model, have the same few numbers.
    """
    signatures = []
    for v in node.inputs:
        if getattr(v.data, "nbytes", SMALL + 1) > SMALL:
            return computed(node)
        signatures.append(v.signature())
    key = node.op, *signatures
    found = _known.get(key)
    if found is None:
        found = computed(node)
        if isinstance(found, Constant) and getattr(found.data, "nbytes", SMALL + 1) <= SMALL:
            if len(_known) >= MAX_KNOWN:
                _known.clear()
            _known[key] = found
    return found


def computed(node: Apply) -> Any:
    """Return the results of a node as constants; None if they stay symbolic."""
    op = node.op
    storage: list[list[Any]] = [[None] for _ in node.outputs]
    try:
        with np.errstate(all="ignore"):  # as when the function runs
            op.perform(node, [v.data for v in node.inputs], storage)
    except Exception:  # whatever it is, it belongs to the run of the function
        return None
    values = [cell[0] for cell in storage]
    size = _bytes(node.outputs, values)
    if size > config.fold_limit and size > _bytes(node.inputs, [v.data for v in node.inputs]):
        return None
    made = [_constant(out.type, value) for out, value in zip(node.outputs, values, strict=True)]
    return made[0] if len(made) == 1 else made


def _constant(type_: Any, value: Any) -> Any:
    """Return a constant of a type, or of a narrower one that broadcasts in the same way: a newly
    known length of 1 could hide an error.
    """
    made = type_.make_constant(value)
    ones = getattr(type_, "broadcastable", None)
    if ones is None or made.type.broadcastable == ones:
        return made
    lengths = zip(made.type.shape, ones, strict=True)
    shape = [None if n == 1 and not one else n for n, one in lengths]
    return type(made)(made.type.clone(shape=shape), made.data)


def _bytes(variables: Any, values: list[Any]) -> int:
    pairs = zip(variables, values, strict=True)
    sizes = [v.type.get_size(v.type.get_shape_info(value)) for v, value in pairs]
    return sum([size for size in sizes if isinstance(size, int)])
