"""PyTensor's `scan`, of which the values of an output with initial ones are a part of an array that
begins with these.
"""

from __future__ import annotations

import inspect
from typing import Any

from rewrite_engine.compile.from_graph import OpFromGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.loops import step
from rewrite_engine.tensor.shaping.joins import join
from rewrite_engine.tensor.type import TensorType

__all__ = ["scan"]

ARGUMENTS = inspect.signature(step.scan)


def scan(*args: Any, **kwargs: Any) -> Any:
    """`rewrite_engine.scan`, but `v.owner.inputs[0]` of an output `v` that has initial values is
    those, and `v` behind them. (Rewriting leaves the output alone.)
    """
    made = step.scan(*args, **kwargs)
    given = ARGUMENTS.bind(*args, **kwargs).arguments
    infos = [step._output(o) for o in step._listed(given.get("outputs_info"))]
    updates = given.get("return_updates", True)
    found = made[0] if updates else made
    if isinstance(found, list):
        wide: Any = [v if not infos else behind(v, i) for v, i in zip(found, infos or found)]
    else:
        wide = behind(found, infos[0]) if infos else found
    return (wide, made[1]) if updates else wide


def behind(v: Variable, info: step.Taps) -> Any:
    """An output, as what comes behind its initial values."""
    if info.start is None or not isinstance(v.type, TensorType):
        return v
    first = info.start[None] if info.taps == [-1] else info.start[: info.reach]
    whole = join(0, first, v)
    inputs = [whole.type(), v.type()]
    return OpFromGraph(inputs, inputs[1:], inline=True, name="behind the first")(whole, v)


scan.__signature__ = ARGUMENTS  # type: ignore[attr-defined]
