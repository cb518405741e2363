"""PyTensor's rules that move an index or a transposition of a draw to its parameters: other numbers
are drawn then, of the same distribution. For programs that derive densities (PyMC); no mode uses
them.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.compat.extras import broadcast_params
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.match.claim import assumes
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.random.op import RandomVariable
from rewrite_engine.tensor.dimshuffle import DimShuffle, broadcast_to
from rewrite_engine.tensor.index.gather import AdvancedSubtensor
from rewrite_engine.tensor.index.subtensor import Subtensor
from rewrite_engine.tensor.index.template import APART, NEWAXIS
from rewrite_engine.tensor.shape import lengths

__all__ = ["local_dimshuffle_rv_lift", "local_rv_size_lift", "local_subtensor_rv_lift"]

drawn_anew = assumes("drawn_anew")


@node_rewriter([Subtensor, AdvancedSubtensor], claim=drawn_anew)
def local_subtensor_rv_lift(fgraph: Any, node: Any) -> Any:
    """Replace elements of a draw by a draw with elements of the parameters, if each element is
    taken once and a single draw stays whole.
    """
    draw, *index = node.inputs
    if not is_lone_draw(fgraph, draw) or not takes_each_once(index):
        return None
    entries = [e for e in node.op.idx_list if e not in (NEWAXIS, APART)]
    masked = [x.type.ndim - 1 for x in index if x.type.kind == "b"]
    if len(entries) + sum(masked) > draw.owner.op.batch_ndim(draw.owner):
        return None
    return drawn(node, [node.op.make_node(x, *index).outputs[0] for x in wide(draw.owner)])


@node_rewriter([DimShuffle], claim=drawn_anew)
def local_dimshuffle_rv_lift(fgraph: Any, node: Any) -> Any:
    """Replace a transposed draw by a draw with transposed parameters, if the dimensions of a single
    draw stay last.
    """
    (draw,) = node.inputs
    if not is_lone_draw(fgraph, draw):
        return None
    rank, order = draw.owner.op.batch_ndim(draw.owner), list(node.op.new_order)
    batch = order[: len(order) - draw.owner.op.ndim_supp]
    if order != [*batch, *range(rank, draw.type.ndim)]:
        return None
    params = [x.dimshuffle(*batch, *range(rank, x.type.ndim)) for x in wide(draw.owner)]
    return drawn(node, params)


@node_rewriter([RandomVariable], claim=drawn_anew)
def local_rv_size_lift(fgraph: Any, node: Any) -> Any:
    """Replace a draw with a size by a draw without one, with parameters broadcast to the size."""
    if node.op.lengths is None:
        return None
    return node.op.make_node(node.inputs[0], None, *wide(node)).outputs


def is_lone_draw(fgraph: Any, x: Variable) -> bool:
    """Return whether a variable is a draw that only one term uses."""
    if x.owner is None or not isinstance(x.owner.op, RandomVariable):
        return False
    return len(fgraph.get_clients(x)) == 1


def takes_each_once(index: list[Any]) -> bool:
    """Return whether indices take no element twice: masks, single numbers, and distinct numbers in
    one array do not.
    """
    arrays = [x for x in index if x.type.ndim]
    if all(x.type.kind == "b" for x in arrays):
        return True
    if len(arrays) > 1 or not isinstance(arrays[0], Constant):
        return False
    known = arrays[0].data
    return len({*known.flat}) == known.size and len({*(known < 0).flat}) < 2


def wide(node: Apply) -> list[Any]:
    """Return the parameters of a node that draws, broadcast to all of its draws."""
    op: Any = node.op
    size, *params = node.inputs[1:]
    if op.lengths is None:
        return broadcast_params(params, op.ndims_params)
    batch = [size[k] if n is None else n for k, n in enumerate(op.lengths)]
    cores = [lengths(x)[x.type.ndim - n :] for x, n in zip(params, op.ndims_params, strict=True)]
    return [broadcast_to(x, (*batch, *core)) for x, core in zip(params, cores, strict=True)]


def drawn(node: Apply, params: list[Any]) -> dict[Variable, Any]:
    """Return replacements for the node of a draw: draws with these parameters."""
    old = node.inputs[0].owner
    next_rng, draw = old.op.make_node(old.inputs[0], None, *params).outputs
    return {node.outputs[0]: draw, old.outputs[0]: next_rng}
