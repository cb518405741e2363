"""`JaxFunction`: a graph as a function of arrays of NumPy that XLA compiles.

Inputs that lengths depend on are static: each of their values gets compiled code of its own. Large
constants are passed as arguments, as XLA takes long for large literals. If a call may be an error
(an index outside, a condition that fails), the linker "py" runs it, and raises the error.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rewrite_engine.errors import UntraceableError, message
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.jax import ops as _  # noqa: F401  (registers them)
from rewrite_engine.link.jax.device import can_stay, keep_on_device
from rewrite_engine.link.jax.draws import drawing
from rewrite_engine.link.jax.funcify import HOST, is_of_sparse, jax_funcify
from rewrite_engine.link.jax.runtime_checks import all_of, collecting
from rewrite_engine.link.jax.state import generator_of, is_state, words_of
from rewrite_engine.link.jax.trace import TracedGraph
from rewrite_engine.link.linker import get_linker
from rewrite_engine.link.plan import schedule
from rewrite_engine.link.plan.static import static_inputs
from rewrite_engine.link.program import Cell, Program
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType

MAX_LITERAL = 1000  # elements of a constant that is part of the code
MAX_VERSIONS = 100  # compiled functions of a graph, for values of its static inputs


class JaxFunction:
    """Function of a graph, of arrays of NumPy. Calls compile it for shapes and static values."""

    def __init__(self, fgraph: FunctionGraph, by_jax: bool) -> None:
        self.fgraph, self.by_jax = fgraph, by_jax
        nodes = schedule(fgraph)
        read = dict.fromkeys([v for node in nodes for v in node.inputs])
        self.lifted = [v for v in read if isinstance(v, Constant) and _is_large(v)]
        self.graph = TracedGraph(fgraph, self.lifted)
        needed = static_inputs(nodes, fgraph.inputs)
        for v in needed:
            _check_static(v, nodes)
        matrices = [v for v in fgraph.inputs if hasattr(v.type, "format")]  # sparse ones
        self.static = [fgraph.inputs.index(v) for v in (*needed, *matrices)]
        self.versions: OrderedDict[Any, Any] = OrderedDict()
        self.states = [i for i, v in enumerate(fgraph.inputs) if is_state(v)]
        self.next_states = [j for j, v in enumerate(fgraph.outputs) if is_state(v)]
        self.slow: Callable[..., Sequence[Any]] | None = None
        self.cells: dict[int, Cell] = {}
        self.stay: frozenset[int] = frozenset()

    def keep(self, program: Program) -> None:
        """Let the values of shared arrays stay on the device. (Not those that are results, too.)"""
        sources = enumerate(program.inputs)
        cells = {i: cell for i, cell in sources if i not in self.static and can_stay(cell)}
        news = {j: cell for j, cell in program.updates if can_stay(cell)}
        outputs = self.fgraph.outputs
        self.cells = cells
        self.stay = frozenset([j for j in news if outputs.count(outputs[j]) == 1])
        for cell in (*cells.values(), *news.values()):
            keep_on_device(cell)

    def __call__(self, *values: Any) -> Sequence[Any]:
        """Return the values of the outputs."""
        given = list(values)
        for i in self.states:
            given[i] = words_of(given[i])
        with jax.enable_x64(True):
            for i, cell in self.cells.items():
                if isinstance(given[i], np.ndarray):
                    given[i] = moved = jnp.array(given[i])
                    if cell.held is values[i]:  # (another thread may have set it)
                        cell.held = moved
            jitted = self._version([given[i] for i in self.static])
            others = [x for i, x in enumerate(given) if i not in self.static]
            try:
                found, held = jitted(*others, *[v.data for v in self.lifted])
                if not held:
                    return self._slowly(values)
            except jax.errors.JaxRuntimeError:  # an error in a call of the host
                self._slowly(values)
                raise
        results = [x if j in self.stay else np.array(x) for j, x in enumerate(found)]
        for j in self.next_states:
            results[j] = generator_of(results[j])
        return results

    def _version(self, static: Sequence[Any]) -> Any:
        """Return the compiled function for values of the static inputs."""
        key = tuple(map(_content, static))
        if key not in self.versions:
            if len(self.versions) >= MAX_VERSIONS:
                self.versions.popitem(last=False)
            self.versions[key] = jax.jit(self._of_others(dict(zip(self.static, static))))
        self.versions.move_to_end(key)
        return self.versions[key]

    def _of_others(self, fixed: dict[int, Any]) -> Callable[..., Any]:
        """Return the function of the inputs that are not static: the outputs, and whether all that
        was required holds.
        """
        count = len(self.fgraph.inputs)

        def run(*values: Any) -> Any:
            given = iter(values)
            inputs = [fixed[i] if i in fixed else next(given) for i in range(count)]
            with collecting() as conditions, drawing(self.by_jax):
                found = self.graph.run(*inputs, *given)
            if any(map(is_sparse_value, found)):
                raise UntraceableError("JAX cannot run this: a result is a sparse matrix")
            return [jnp.asarray(x) for x in found], all_of(conditions)

        return run

    def _slowly(self, values: Sequence[Any]) -> Sequence[Any]:
        """Run a call that may be an error node by node."""
        if self.slow is None:
            self.slow = get_linker("py").compile(self.fgraph)
        host = [np.array(x) if i in self.cells else x for i, x in enumerate(values)]
        return self.slow(*host)


def is_sparse_value(x: Any) -> bool:
    """Return whether a value is a sparse matrix, with known or traced elements."""
    return hasattr(x, "indptr") or hasattr(x, "pattern")


def _content(x: Any) -> Any:
    """Return what tells a value of a static input from others."""
    if hasattr(x, "indptr"):
        return x.shape, *[part.tobytes() for part in (x.data, x.indices, x.indptr)]
    x = np.asarray(x)
    return x.shape, x.tobytes()


def _is_large(v: Constant) -> bool:
    return isinstance(v.type, TensorType) and v.data.size > MAX_LITERAL


def _check_static(v: Variable, nodes: Sequence[Apply]) -> None:
    """Raise `UntraceableError` for an input that would have too many values to compile for each."""
    type_: Any = v.type
    if type_.ndim == 0 or (type_.ndim == 1 and type_.kind in "iu"):
        return
    user = next(node for node in nodes if v in node.inputs)
    what = f"JAX cannot run this: lengths depend on the values of {v!r}, of type {type_}"
    hint = "write where(mask, x, 0) for x[mask], or pass lengths as integers"
    raise UntraceableError(message(what, op=user.op, where=user.where(), hint=hint))


def jitted(fgraph: FunctionGraph) -> Any:
    """Return the compiled function of JAX arrays for a graph: from values of all inputs to a tuple
    of those of all outputs.
    """
    run = TracedGraph(fgraph).run
    return jax.jit(lambda *values: tuple(run(*values)))


def refusal(node: Apply) -> str | None:
    """Return why JAX cannot run a node, if that follows from its types."""
    op: Any = node.op
    if not isinstance(op, TensorOp) or jax_funcify.dispatch(type(op)) is not HOST:
        return None
    if is_of_sparse(op):  # (its functions may not be registered yet)
        return None
    rules = zip(op.shapes_of(node).outputs, node.outputs, strict=True)
    pairs = [(n, k) for rule, v in rules for n, k in zip(rule, v.type.shape, strict=True)]
    dynamic = any([n is None and k is None for n, k in pairs])
    return "the lengths of its result depend on values" if dynamic else None
