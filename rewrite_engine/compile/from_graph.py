"""`OpFromGraph`: an op defined by a graph. Its derivatives are in `derivative.py`.

>>> import rewrite_engine.tensor as pt
>>> x, y = pt.dvectors("x", "y")
>>> weighted = OpFromGraph([x, y], [pt.exp(x) * y], name="weighted")
>>> weighted(y, x)
weighted(y, x)
>>> weighted(y, 2.0 * y).eval({y: [0.0, 1.0]})
array([0.        , 5.43656366])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack, cast

from rewrite_engine.compile.derivative import checked_overrides
from rewrite_engine.compile.inner_shape import ShapesOfGraph
from rewrite_engine.compile.shared import SharedVariable
from rewrite_engine.errors import (
    InputCountError,
    InputError,
    MissingInputError,
    OptionError,
    RewriteEngineError,
    describe,
    message,
    refuse_unknown,
)
from rewrite_engine.graph.inner import connections, inner_ops
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import origin_line, user_origin
from rewrite_engine.graph.replace import substituted
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.tensor.blockwise import whole_batch
from rewrite_engine.tensor.type import TensorType

OPTIONS = (
    "inline", "strict", "pullback", "pushforward", "lop_overrides", "rop_overrides",
    "connection_pattern", "name",
)  # fmt: skip


class OlderNames(TypedDict, total=False):
    """Older names of the options `pullback` and `pushforward`."""

    lop_overrides: Any
    rop_overrides: Any


class OpFromGraph(ShapesOfGraph, Op):
    """Op that computes the graph from variables `inputs` to `outputs`.

    Two ops with the same graph and options are the same op. A shared variable that the outputs
    depend on need not be an input: it becomes an implicit last input of every call
    (`shared_inputs`; with strict it is an error). inline: rewriting replaces the op with its graph;
    otherwise the graph is rewritten separately, once for all calls, and compiled to a function. A
    constant among the inputs is an ordinary input: the graph uses the argument in its place. name:
    the printed name. on_unused_input: with "raise", an input that no output needs is an
    `InputError`.

    pullback, pushforward: replacements for the derivatives of the graph. Each is a function
    `(inputs, outputs, output_gradients) -> gradients of the inputs`, or `(inputs, eval_points) ->
    derivatives of the outputs`; an `OpFromGraph` with these inputs; or a list with one entry per
    input (output), which is None or "default" (use the graph), a function as above that returns one
    variable, or a variable of `NullType` or `DisconnectedType`. connection_pattern: `[[does input i
    affect output j?]]`, if it differs from the graph. lop_overrides, rop_overrides: older names of
    `pullback` and `pushforward`.

    Raises `MissingInputError` if an output depends on another root, `DuplicateInputError`,
    `ForeignObjectError`, `InputError` if there are no outputs or an override does not fit, and
    `InconsistencyError` if the graph would overwrite an input.
    """

    __props__ = (
        "structure", "inline", "name", "shared_inputs", "lop_overrides", "rop_overrides",
        "connections",
    )  # fmt: skip

    runs_once = True

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        inline: bool = False,
        pullback: Any = None,
        pushforward: Any = None,
        connection_pattern: Any = None,
        name: str | None = None,
        strict: bool = False,
        on_unused_input: str = "ignore",
        **older: Unpack[OlderNames],
    ) -> None:
        overrides = under_older_names(cast(dict[str, Any], older), pullback, pushforward)
        inputs, outputs = listed(inputs, "inputs"), listed(outputs, "outputs")
        if not outputs:
            raise InputError("an OpFromGraph needs at least one output")
        inputs, outputs = with_variables(inputs, outputs)
        shared = implicit(inputs, outputs)
        if strict and shared:
            raise MissingInputError(f"the graph depends on {describe(shared[0])}: strict=True")
        unused = set(inputs).difference(graph_inputs(outputs)) if on_unused_input == "raise" else ()
        for v in unused:
            raise InputError(f"no output needs the input {describe(v)}: on_unused_input='raise'")
        self.inline, self.name, self.shared_inputs = inline, name, tuple(shared)
        self.nout = len(outputs)
        try:
            self.hold([*inputs, *shared], outputs)
        except RewriteEngineError as error:
            error.add_note(f"in making {self}")
            raise
        self.lop_overrides, self.rop_overrides = checked_overrides(self, *overrides)
        self.connections = connection_pattern
        if connection_pattern is not None and not callable(connection_pattern):
            self.connections = tuple([tuple(map(bool, row)) for row in connection_pattern])

    def __str__(self) -> str:
        return self.name or type(self).__name__

    @property
    def input_types(self) -> list[Any]:
        """Types of the inputs, including the shared variables."""
        return [v.type for v in self.inner_inputs]

    # --- calling ---------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to inputs and to its shared variables. Raises `InputCountError`; for an
        argument of another type, `TypeMismatchError` or the error of the type.
        """
        wanted = self.inner_inputs
        if len(inputs) != len(wanted):
            inputs += self.shared_inputs
        where = origin_line(user_origin())
        if len(inputs) != len(wanted):
            n, given = len(wanted) - len(self.shared_inputs), len(inputs) - len(self.shared_inputs)
            raise InputCountError(message(f"takes {n} inputs, not {given}", op=self, where=where))
        variables = []
        for i, (inner, x) in enumerate(zip(wanted, inputs, strict=True)):
            try:
                variables.append(inner.type.filter_variable(x))
            except (RewriteEngineError, TypeError, ValueError) as error:
                error.add_note(message(f"raised for input {i}", op=self, where=where))
                raise
        types = tuple([self.outer_type(v.type) for v in self.inner_outputs])
        return build_node(self, tuple(variables), types, user_origin())

    def outer_type(self, inner: Any) -> Any:
        """Return the type of an output. Outputs of an inlined op whose class a program defined have
        no static lengths: such a class serves to be found and replaced by values that may be
        longer, and known lengths would become constants at once.
        """
        if type(self)._ours or not self.inline or not isinstance(inner, TensorType):
            return inner
        return inner.clone(shape=[n if n == 1 else None for n in inner.shape])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Build the op of the graph with a batch dimension; loop over the batch if the op has
        overrides of derivatives.
        """
        if self.lop_overrides or self.rop_overrides or self.connections is not None:
            return None
        wide = [x.type() for x in inputs]
        outputs = whole_batch(self.inner_outputs, dict(zip(self.inner_inputs, wide)))
        return OpFromGraph(wide, outputs, self.inline, name=self.name).make_node(*inputs).outputs

    def runs(self, node: Apply, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function of the graph unchanged."""
        return body

    def narrowed(self, used: Sequence[int]) -> tuple[Any, Sequence[int], Sequence[int]]:
        """Return the op with only the used outputs and those needed for their errors; the op itself
        if its overrides of derivatives rely on all outputs.
        """
        whole = self, range(len(self.inner_inputs)), range(len(self.inner_outputs))
        if callable(self.connections) or self.lop_overrides or self.rop_overrides:
            return whole
        used = self.needed_outputs(used)
        op, kept = self.part(used)
        return whole if op is self else (op, kept, used)

    def part(self, used: Sequence[int]) -> tuple[Any, Sequence[int]]:
        """Build the op of some outputs; also return the indices of the inputs that they need."""
        ins, outs = self.inner_inputs, [self.inner_outputs[j] for j in used]
        needed = set(graph_inputs(outs))
        kept = [i for i, v in enumerate(ins) if v in needed]
        if (len(kept), len(used)) == (len(ins), self.nout):
            return self, kept
        first = len(ins) - len(self.shared_inputs)
        shared = tuple([v for i, v in enumerate(self.shared_inputs, first) if i in kept])
        rows = self.connections
        if rows is not None:
            rows = tuple([tuple([rows[i][j] for j in used]) for i in kept])
        changed = {"nout": len(used), "shared_inputs": shared, "connections": rows}
        return self.holding([ins[i] for i in kept], outs, **changed), kept

    def op_of(self, inputs: Sequence[Variable], outputs: Sequence[Variable], name: str) -> Any:
        return OpFromGraph(inputs, outputs, inline=self.inline, name=name)

    # --- analysis --------------------------------------------------------------------------------

    def connection_pattern(self, node: Any = None) -> list[list[bool]]:  # type: ignore[override]
        """Return whether input i affects output j: as specified by the user, or as the
        graph shows.
        """
        if callable(self.connections):
            return self.connections(node)  # type: ignore[no-any-return]
        if self.connections is not None:
            return [list(row) for row in self.connections]
        if self._pattern is None:
            for op in inner_ops([self]):
                if isinstance(op, OpFromGraph) and op._pattern is None:
                    op._pattern = connections(op.inner_inputs, op.inner_outputs)
        return self._pattern  # type: ignore[return-value]

    _pattern: list[list[bool]] | None = None


def listed(variables: Any, what: str) -> list[Any]:
    """Return variables as a list. Raises `OptionError` for a single variable."""
    if isinstance(variables, Variable) or not isinstance(variables, Sequence):
        why = f"the {what} of an OpFromGraph must be a list, not {describe(variables)}"
        raise OptionError(why)
    return list(variables)


def under_older_names(options: dict[str, Any], *given: Any) -> list[Any]:
    """Return `pullback` and `pushforward`, also if given by their older names. Raises `OptionError`
    if both names are used, and for unknown options.
    """
    older = [options.pop(name, None) for name in ("lop_overrides", "rop_overrides")]
    refuse_unknown("OpFromGraph", options, OPTIONS)
    if any(new is not None and old is not None for new, old in zip(given, older, strict=True)):
        raise OptionError(
            "OpFromGraph: lop_overrides and rop_overrides are older names of pullback "
            "and pushforward: use only one of the two names"
        )
    return [old if new is None else new for new, old in zip(given, older, strict=True)]


def with_variables(inputs: list[Any], outputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Replace the constants among the inputs of a graph with variables."""
    constants = [v for v in inputs if isinstance(v, Constant)]
    given: dict[Variable, Variable] = {v: v.type.make_variable(v.name) for v in constants}
    if not given:
        return inputs, outputs
    kept = {v: v for v in inputs if v not in given}  # (they may be computed from the constants)
    return [given.get(v, v) for v in inputs], substituted(outputs, given | kept)


def implicit(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Variable]:
    """Return the shared variables that outputs depend on and that are not among the inputs."""
    known = set(inputs)
    roots = graph_inputs([v for v in outputs if isinstance(v, Variable)], known)
    return [v for v in roots if isinstance(v, SharedVariable) and v not in known]
