"""Contents of a plan (`ExecutionPlan`), and its entries for one node (`NodePlan`). `planner.py`
makes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.conditions import Conditions
from rewrite_engine.link.plan.dims import Dims, LengthCheck
from rewrite_engine.link.plan.storage import Storages, shown
from rewrite_engine.link.plan.traits import Traits

# What there is of each node is a named tuple: it is made faster than a frozen dataclass.

Source = tuple[tuple[int, int | None], ...]  # (input, axis), axis None for the whole shape


class Buffer(NamedTuple):
    """Memory for output 0 that may be kept between calls. slot: its index among the buffers. like:
    where its shape is read before it exists, one entry for all of it or one per axis.
    """

    slot: int
    like: Source


class NodePlan(NamedTuple):
    """Decisions for one node.

    traits: properties of the linker's code for it. checks: comparisons of lengths before it runs.
    into: the input whose memory output 0 takes; None: the memory is new (`new`). buffer: memory for
    output 0 if some is kept between calls. copies: it is a transposed view, and is copied. dies:
    variables that are not read again, including unused outputs.
    """

    node: Apply
    traits: Traits
    checks: Sequence[LengthCheck]
    into: int | None
    buffer: Buffer | None
    copies: bool
    dies: Sequence[Variable]

    @property
    def new(self) -> list[Variable]:
        """Outputs that get memory of their own: neither a view, nor in the memory of an input."""
        node = self.node
        return [
            v
            for o, v in enumerate(node.outputs)
            if not (o == 0 and self.into is not None) and (self.copies or not shown(node, o))
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ExecutionPlan:
    """Knowledge and decisions about a graph before code is written.

    steps: one per node, in running order; composites, and sums that would wait for operands, are
    taken apart. conditions: where nodes run that need not always. storages: which variables share
    memory, including results written into inputs, and the last reader of each. dims: which lengths
    are equal once the checks have passed. slots: for each buffer that may be kept between calls,
    the variable it is made for.
    """

    inputs: Sequence[Variable]
    outputs: Sequence[Variable]
    steps: Sequence[NodePlan]
    conditions: Mapping[Apply, Conditions]
    storages: Storages
    dims: Dims
    slots: Sequence[Variable]

    @property
    def nodes(self) -> Sequence[Apply]:
        """Nodes in running order."""
        return self.storages.nodes
