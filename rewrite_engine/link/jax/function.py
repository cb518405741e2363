"""`jax_function`: a graph as a plain function for `jax.jit`, `vmap`, `grad` and the rest of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from rewrite_engine.errors import MissingInputError, UntraceableError, message
from rewrite_engine.gradient import Lop, grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.link.jax import ops as _ops  # noqa: F401  (registers them)
from rewrite_engine.link.jax.funcify import is_known, jax_funcify
from rewrite_engine.link.jax.linker import LINKER
from rewrite_engine.link.jax.trace import make_traceable
from rewrite_engine.link.plan import schedule
from rewrite_engine.link.plan.static import static_inputs
from rewrite_engine.pipeline.phases import rewrite_graph

GRADIENTS = ("library", "jax")


def jax_function(
    inputs: Sequence[Variable], outputs: Any, *, gradient: str = "library"
) -> Callable[..., Any]:
    """Return a function of JAX arrays that computes a graph, rewritten as for `Mode(linker="jax")`.

    It has no state and no checks of its own: give it to `jax.jit`, `vmap`, `grad`, `lax.scan`, or
    shard its arguments. inputs: its parameters, in order; a shared variable of the graph has to be
    one of them. outputs: a variable, or a list of them (the function then returns a list).
    gradient: "library" for the gradients of this library, which are rewritten as well (reverse mode
    only); "jax" for those that JAX derives from the function (both modes, but not through ops that
    run on the host). An argument on whose value lengths depend has to be a Python integer, or
    static (`jit(f, static_argnums=…)`). The state of a generator is an array of six uint64.

    Raises `MissingInputError`, and while it is traced `UntraceableError` for lengths that depend on
    values. A float64 graph needs `jax.config.update("jax_enable_x64", True)`.

    >>> import jax
    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> jax.config.update("jax_enable_x64", True)
    >>> x = pt.vector("x")
    >>> f = rw.jax_function([x], pt.log(pt.exp(x).sum()))
    >>> jax.jit(jax.grad(f))(jax.numpy.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float64)
    """
    if gradient not in GRADIENTS:
        raise ValueError(f"gradient must be one of {', '.join(GRADIENTS)}, not {gradient!r}")
    single = isinstance(outputs, Variable)
    wanted = [outputs] if single else list(outputs)
    for v in explicit_graph_inputs(wanted):
        if v not in inputs:
            hint = "list it among the inputs, and pass its value"
            raise MissingInputError(message(f"{v!r} is none of the inputs", hint=hint))
    run = function_of(_rewritten(inputs, wanted), gradient, FunctionGraph(inputs, wanted))
    return (lambda *values: run(*values)[0]) if single else run


def _rewritten(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    found = rewrite_graph(list(outputs), (*LINKER.phases, *LINKER.includes))
    return FunctionGraph(list(inputs), list(found), clone=True)


def function_of(
    graph: FunctionGraph, gradient: str = "library", source: FunctionGraph | None = None
) -> Callable[..., list[Any]]:
    """Return the function of a graph that has been rewritten: from values of its inputs to a list
    of those of its outputs (see `jax_function`). source: the graph before that, of which gradients
    are taken.
    """
    plain = make_traceable(graph)

    def run(*values: Any) -> list[Any]:
        _check_precision(graph)
        return plain(*values)

    return run if gradient == "jax" else _Differentiable(source or graph, run)


def _check_precision(graph: FunctionGraph) -> None:
    """Raise `UntraceableError` for a graph in double precision where JAX has none."""
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        return
    wide = [v for v in graph.inputs if getattr(v.type, "dtype", "") in ("float64", "complex128")]
    if wide:
        what = f"JAX is in single precision, and {wide[0]!r} is of type {wide[0].type}"
        hint = 'jax.config.update("jax_enable_x64", True), or build the graph with floatX="float32"'
        raise UntraceableError(message(what, hint=hint))


class _Differentiable:
    """Function of a graph whose gradients are graphs, too, which are built when JAX asks."""

    def __init__(self, graph: FunctionGraph, run: Callable[..., list[Any]]) -> None:
        self.graph, self.run = graph, run
        self.floats = [i for i, v in enumerate(graph.inputs) if _is_float(v)]
        needed = static_inputs(schedule(graph), graph.inputs)
        self.static = [graph.inputs.index(v) for v in needed]
        self.versions: dict[Any, Callable[..., list[Any]]] = {}
        self.slopes: Callable[..., list[Any]] | None = None

    def __call__(self, *values: Any) -> list[Any]:
        """Return the values of the outputs. Lengths that are known stay so: JAX differentiates the
        function of the other arguments.
        """
        fixed = {i: np.asarray(values[i]) for i in self.static if is_known(values[i])}
        key = tuple([(i, x.shape, x.tobytes()) for i, x in fixed.items()])
        if key not in self.versions:
            self.versions[key] = self._version(fixed)
        return self.versions[key](*[x for i, x in enumerate(values) if i not in fixed])

    def _version(self, fixed: dict[int, Any]) -> Callable[..., list[Any]]:
        """Return the function of the arguments that are not fixed, with its derivative."""
        places = [i for i in range(len(self.graph.inputs)) if i not in fixed]

        def whole(values: Sequence[Any]) -> list[Any]:
            given = iter(values)
            return [fixed[i] if i in fixed else next(given) for i in range(len(self.graph.inputs))]

        def all_(slopes: Sequence[Any]) -> tuple[Any, ...]:
            known = dict(zip(self.floats, slopes, strict=True))
            return tuple([known.get(i) for i in places])

        found = jax.custom_vjp(lambda *values: self.run(*whole(values)))
        outputs = self.graph.outputs
        if len(outputs) == 1 and _is_float(outputs[0]) and outputs[0].type.ndim == 0:
            found.defvjp(
                lambda *values: self._value_and_slopes(whole(values)),
                lambda slopes, gs: all_([gs[0] * slope for slope in slopes]),
            )
        else:
            found.defvjp(
                lambda *values: (self.run(*whole(values)), values),
                lambda values, gs: all_(self._pulled_back(whole(values), gs)),
            )
        return found  # type: ignore[no-any-return]

    def _value_and_slopes(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        """Return the value, and its gradients: they share what they compute."""
        if self.slopes is None:
            (out,), inputs = self.graph.outputs, self.graph.inputs
            wrt = [inputs[i] for i in self.floats]
            found = grad(out, wrt, disconnected_inputs="ignore") if wrt else []
            self.slopes = make_traceable(_rewritten(inputs, [out, *found]))
        value, *slopes = self.slopes(*values)
        return [value], slopes

    def _pulled_back(self, values: Sequence[Any], gs: Sequence[Any]) -> list[Any]:
        """Return the gradients of the inputs, for those of the outputs."""
        kept = [j for j, v in enumerate(self.graph.outputs) if _is_float(v)]
        if self.slopes is None:
            inputs, outputs = self.graph.inputs, [self.graph.outputs[j] for j in kept]
            points = [v.type.make_variable() for v in outputs]
            wrt = [inputs[i] for i in self.floats]
            found = Lop(outputs, wrt, points, disconnected_inputs="ignore")
            self.slopes = make_traceable(_rewritten([*inputs, *points], found))
        return self.slopes(*values, *[gs[j] for j in kept])


def _is_float(v: Variable) -> bool:
    return getattr(v.type, "kind", "") == "f"


@jax_funcify.register(FunctionGraph)
def _(graph: Any, node: Any = None, **options: Any) -> Callable[..., list[Any]]:
    """Return the function of a graph that has been rewritten."""
    return function_of(graph)
