"""Ops that hold a graph: loops (`lax.scan`, `lax.while_loop`), `OpFromGraph`, `Blockwise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import (
    is_known,
    jax_funcify,
    on_host,
    register,
    untraceable_error,
)
from rewrite_engine.link.jax.runtime_checks import all_of, are_collected, collecting, require
from rewrite_engine.link.jax.state import is_state
from rewrite_engine.link.jax.trace import make_traceable
from rewrite_engine.loops.op import Scan
from rewrite_engine.tensor.blockwise import Blockwise

MAX_UNSTABLE = 4  # steps in which carried values may change their shapes
UNTIL = "read its last value alone (results[-1]), or give it a number of steps"


@jax_funcify.register(HasInnerGraph)
def _(op: Any, node: Any = None, **options: Any) -> Callable[..., Any]:
    """Return the function of a graph that runs once."""
    if not op.runs_once:
        return on_host(op, node)
    run = make_traceable(op.fgraph)
    return (lambda *xs: run(*xs)[0]) if len(node.outputs) == 1 else run


@register(Blockwise)
def _(op: Any, node: Apply, *arrays: Any) -> Any:
    core = op.core_op.make_node(*op._core_inputs(node.inputs))
    run = jax_funcify(op.core_op, node=core)
    if any([0 in np.shape(x) for x in arrays]):  # (nothing can be found of one that is not there)
        return on_host(op, node)(*arrays)

    def one(*xs: Any) -> tuple[Any, Any]:
        with collecting(are_collected()) as found:
            made = run(*xs)
        made = (made,) if len(core.outputs) == 1 else tuple(made)
        values = [jnp.asarray(x, v.type.dtype) for x, v in zip(made, core.outputs, strict=True)]
        return (*values, all_of(found))

    mapped = jnp.vectorize(one, signature=f"{op.signature},()")
    *made, held = mapped(*map(jnp.asarray, arrays))
    require(lambda: held)
    return made[0] if len(made) == 1 else made


class TracedLoop:
    """Loop as a function of arrays: one of known length that stores results is a `lax.scan`, others
    are a `lax.while_loop`, which stores none.
    """

    def __init__(self, op: Scan, node: Apply) -> None:
        self.op, self.node, self.body = op, node, make_traceable(op.fgraph)

    def __call__(self, steps: Any, *values: Any) -> Any:
        """Return the outputs of the node."""
        sequences, carried, self.others = self.op.parts(values)
        kept = tuple([self._typed(j, x) for j, x in enumerate(carried)])
        if is_known(steps):
            self._check(int(steps), sequences)
        if is_known(steps) and not self.op.until:
            made = self._counted(int(steps), sequences, kept)
        elif len(self.op.results):
            why = "how many results there are" if self.op.until else "its number of steps"
            hint = UNTIL if self.op.until else "pass the number of steps as an argument"
            raise untraceable_error(self.node, f"{why} depends on values", hint)
        else:
            made = self._open(steps, sequences, kept)
        return made[0] if self.op.nout == 1 else made

    def _typed(self, j: int, x: Any) -> Any:
        """Return a value in the dtype of an output of a step."""
        v = self.op.inner_outputs[j]
        return jnp.asarray(x, "uint64" if is_state(v) else v.type.dtype)

    def _check(self, n: int, sequences: Sequence[Any]) -> None:
        if n < 0:
            self.op.fail(f"the number of steps must not be negative: {n}")
        for i, x in enumerate(sequences):
            if len(x) < n:
                self.op.fail(f"sequence {i} has {len(x)} elements, but there are {n} steps")

    def _step(self, kept: Sequence[Any], slices: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        """Return the carried values, the results, whether to stop, and whether all is well."""
        op = self.op
        with collecting(self.asked) as conditions:
            found = self.body(*slices, *kept, *self.others)
            held = all_of(conditions)
        made = [self._typed(j, x) for j, x in enumerate(found[: op.nout - op.until])]
        return tuple(made[: op.carried]), tuple(made[op.carried :]), found[-1], held

    asked = False

    def _counted(self, n: int, sequences: Sequence[Any], kept: Any) -> list[Any]:
        """Run n steps. The first ones, in which carried values change their shapes, are written one
        by one.
        """
        op, self.asked = self.op, are_collected()
        if not n:
            return [*kept, *op._empty(sequences, kept, self.others)]
        first, t = list[Any](), 0
        while t < n and (n == 1 or not self._is_stable(sequences, kept)):
            if t == MAX_UNSTABLE:
                raise untraceable_error(
                    self.node, "a carried value changes its shape from step to step"
                )
            kept, made, _, held = self._step(kept, [x[t] for x in sequences])
            require(partial(jnp.asarray, held))
            first.append(made)
            t += 1

        def step(state: Any, slices: Any) -> Any:
            kept, all_well = state
            kept, made, _, held = self._step(kept, slices)
            return (kept, all_well & held), made

        traces = [jnp.stack(xs) for xs in zip(*first, strict=True)] if first else None
        if t < n:
            given = tuple([jnp.asarray(x)[t:n] for x in sequences])
            state = kept, jnp.asarray(True)
            (kept, held), made = lax.scan(step, state, given, length=n - t)
            require(lambda: held)
            both = zip(traces, made, strict=True) if traces is not None else []
            traces = [jnp.concatenate(xs) for xs in both] if traces is not None else list(made)
        assert traces is not None
        return [*kept, *traces]

    def _is_stable(self, sequences: Sequence[Any], kept: Any) -> bool:
        """Return whether a step leaves the shapes of all carried values."""
        if not kept:
            return True
        asked, self.asked = self.asked, False
        found = jax.eval_shape(lambda k: self._step(k, [x[0] for x in sequences])[0], kept)
        self.asked = asked
        return [x.shape for x in found] == [x.shape for x in kept]

    def _open(self, steps: Any, sequences: Sequence[Any], kept: Any) -> list[Any]:
        op, self.asked = self.op, are_collected()
        for x in sequences:
            require(partial(jnp.less_equal, steps, len(x)))
        require(lambda: jnp.asarray(steps) >= 0)
        if not self._is_stable(
            [jnp.zeros((1, *np.shape(x)[1:]), x.dtype) for x in sequences], kept
        ):
            raise untraceable_error(self.node, "a carried value changes its shape")

        def step(state: Any) -> Any:
            t, kept, _, all_well = state
            slices = [_element(x, t) for x in sequences]
            kept, _, last, held = self._step(kept, slices)
            stop = jnp.asarray(last, bool) if op.until else jnp.asarray(False)
            return t + 1, kept, stop, all_well & held

        def goes_on(state: Any) -> Any:
            return (state[0] < jnp.asarray(steps)) & ~state[2]

        first = jnp.asarray(0), kept, jnp.asarray(False), jnp.asarray(True)
        n, kept, _, held = lax.while_loop(goes_on, step, first)
        require(lambda: held)
        return [*kept, *[n] * op.until]


def _element(x: Any, t: Any) -> Any:
    """Return an element of a sequence; zeros of one without elements, whose loop has no steps."""
    if not len(x):
        return jnp.zeros(np.shape(x)[1:], x.dtype)
    return lax.dynamic_index_in_dim(x, t, keepdims=False)


@jax_funcify.register(Scan)
def _(op: Any, node: Any = None, **options: Any) -> Callable[..., Any]:
    return TracedLoop(op, node)
