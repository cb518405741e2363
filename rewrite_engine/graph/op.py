"""`Op`: the operation of a node. An op describes its types, gradient, shapes and aliasing; `link/`
decides how to run it.

All attributes of the op contract exist here with their defaults, including those that only some
features read.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from inspect import CO_VARARGS, signature, unwrap
from typing import Any

from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    InputCountError,
    Message,
    MethodNotDefined,
    OptionError,
    RewriteEngineError,
    ShapeError,
    describe,
    message,
)
from rewrite_engine.graph.intern import Record
from rewrite_engine.graph.memory import Memory, memory_of
from rewrite_engine.graph.node import Apply, Variable, build_node, output_name
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.graph.origin import located, user_origin

REMEMBERED = 512  # types of inputs, per op, for which those of the outputs are kept
Lengths = list[tuple[int, int] | int]  # pairs (input, dimension), or numbers
#: how strongly what is written around a term binds (`terms/print.py`; in between is Python's order)
LOWEST, UNARY, POWER, ATOM = 0, 8, 9, 10


def takes(method: Any, n: int) -> bool:
    """Return whether a method of a class takes `n` arguments, including `self`."""
    if isinstance(method, staticmethod):
        return takes(method.__func__, n - 1)
    function = unwrap(getattr(method, "__func__", method))
    code = getattr(function, "__code__", None)
    return code is not None and code.co_argcount == n and not code.co_flags & CO_VARARGS


def without_graph(method: Any) -> Callable[..., Any]:
    """Adapt a method that does not take a graph to one that receives a graph first:
    `infer_shape(self, node, shapes)`, `do_constant_folding(self, node)`.
    """

    @wraps(getattr(method, "__func__", method))
    def called(self: Any, fgraph: Any, *args: Any) -> Any:
        return method.__get__(self, type(self))(*args)

    del called.__wrapped__  # (it takes other arguments)
    return called


def with_outputs(pushforward: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a `pushforward(self, inputs, outputs, tangents)` to an `R_op`."""

    @wraps(pushforward)
    def method(self: Any, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        tangents = [disconnected() if t is None else t for t in eval_points]
        found = pushforward(self, inputs, self.make_node(*inputs).outputs, tangents)
        return list(found)

    return method


def known_outputs(op: Any) -> int | None:
    """Return how many outputs an op (or a class of ops) has, if that is known without inputs: as
    many as it declares, or as its nodes have had so far.
    """
    for declared in (op.output_names, op.otypes):
        if isinstance(declared, tuple | list):
            return len(declared)
    if isinstance(op.nout, int):
        return op.nout
    heads: Sequence[Any] | None = vars(op).get("_heads")
    return None if heads is None else len(heads)


def one_output(op: Any) -> None:
    """Assume that an op has one output, if nothing else is known of it yet."""
    if known_outputs(op) is None:
        op._heads = (op,)


def checked_shapes(node: Apply, found: Any) -> Sequence[Any]:
    """Check the result of an op's `infer_shape` for a node. Raises `ShapeError` unless it has, for
    each output, a tuple with a length for each dimension (None: unspecified).
    """
    shapes = found if isinstance(found, list | tuple) else ()
    ranks = [len(s) if isinstance(s, list | tuple) else s for s in shapes]
    wanted = [v.type.ndim for v in node.outputs]
    pairs = zip(ranks, wanted, strict=False)
    if len(ranks) == len(wanted) and all([n in (None, m) or m is NO_RANK for n, m in pairs]):
        return shapes
    lengths = ", ".join([f"{m or 0} for output {j}" for j, m in enumerate(wanted)])
    what = f"its infer_shape must return a list of tuples of lengths ({lengths}), not {found!r}"
    raise ShapeError(message(what, op=node.op, inputs=node.inputs, where=node.where()))


def output_text(op: Any, i: Any) -> str:
    """Return the suffix that names one output of an op with several: `.S`, or `[1]`."""
    name = output_name(op, i)
    return f"[{i}]" if name is None else f".{name}"


@cache
def _named(name: str, outputs: tuple[str, ...]) -> Any:
    """Return the class of the tuple that an op with named outputs returns."""
    return namedtuple(name, outputs)


class Op(Record):
    """Base class of all ops.

    A subclass lists its parameters in `__props__` (equal ops are then one object), declares the
    types of its outputs, and defines how values are computed (`perform`, or `make_thunk`). Typing
    has three levels; define one:

    * `itypes` / `otypes`: fixed lists of types;
    * `infer_types(types) -> output types`: a pure function of the input types (memoised per op);
    * `make_node(*inputs) -> Apply`: anything.
    """

    #: which output `op(...)` returns; None: all of them
    default_output: int | None = None
    #: of an op with several outputs: their names, `("U", "S", "Vh")`, by which what `op(...)`
    #: returns, and patterns of it, have them: `svd(a).S`
    output_names: Sequence[str] | None = None
    #: how many outputs there are; need not be said where `output_names` or `otypes` tell
    nout: int | None = None
    #: {output index: [inputs it overwrites]}; the key None: overwritten, but no output lives there
    destroy_map: dict[int | None, list[int]] = {}
    #: {output index: [the inputs it may share memory with]}
    view_map: dict[int, list[int]] = {}
    #: {output index: the input it always shares memory with}, where `view_map` is certain
    must_view_map: dict[int, int] = {}
    itypes: Sequence[Any] | None = None
    otypes: Sequence[Any] | None = None
    #: whether f(f(x, y), z) = f(x, f(y, z)); f(x, y) = f(y, x); …: what matchers may use
    associative: bool = False
    commutative: bool = False
    identity: Any = None
    absorbing: Any = None
    idempotent: bool = False
    #: whether `make_function` gives native code: it holds values against the types of the outputs
    #: itself, and a linker that is a reference runs `perform`, if there is one
    native: bool = False
    #: whether gradients pass it as they are, chosen, moved and added up but never multiplied
    moves_only: bool = False
    #: whether what is known of its operands changes how it is computed, so that it is rewritten
    #: before gradients are taken
    has_structure: bool = False
    #: what is known of its (first) result, by the name of a fact: True, if it always holds; the
    #: name of the fact that all operands have to have; or a function `(f, *inputs)` that answers,
    #: of the facts (`facts/numbers.py`) and the operands. Facts about each element are only
    #: concluded of real floats (integers wrap around, see `bounds`), "nonzero" from itself of all.
    #: "fits" is asked where `equal_lengths` is None: whether a node fails for no other reason.
    implied: Mapping[str, Any] = {}
    #: whether it may fail for other reasons than lengths that differ, so that a rule that drops one
    #: inside of its left side has to show that it does not
    may_fail: bool = False
    #: whether its inputs determine what it computes (not so: memory that nobody has filled, a state
    #: without a seed); if not, DebugMode runs it once, by `debug_perform` where there is one
    determined: bool = True
    #: two numbers that no element of it is ever beyond, none of which is NaN
    limits: tuple[Any, Any] | None = None
    #: the operands that all elements of the result are taken from, where no new ones are made
    elements: slice | None = None
    #: the ops that undo one of an associative, commutative op: `(sub, neg)` of `add`; matchers see
    #: differences as parts of sums
    undone_by: tuple[Op, Op] | None = None

    @classmethod
    def adapted(cls, name: str, value: Any) -> list[tuple[str, Any]]:
        """Read methods with the names and parameters of other libraries: `infer_shape(self, node,
        shapes)`, `do_constant_folding(self, node)`, `pullback` (`L_op`), `pushforward` (an `R_op`
        that also gets the outputs).
        """
        if (name == "infer_shape" and takes(value, 3)) or (
            name == "do_constant_folding" and takes(value, 2)
        ):
            return [(name, without_graph(value))]
        if name == "pullback" and takes(value, 4) and "L_op" not in vars(cls):
            return [(name, value), ("L_op", value)]
        if name == "pushforward" and takes(value, 4) and "R_op" not in vars(cls):
            return [(name, value), ("R_op", with_outputs(value))]
        return [(name, value)]

    # --- building nodes --------------------------------------------------------------------------

    def convert_input(self, x: Any) -> Variable:
        """Convert one argument to a variable. The default accepts variables only."""
        if isinstance(x, Variable):
            return x
        raise ForeignObjectError(message(f"not a variable: {describe(x)}", op=self))

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert all arguments to variables. Override it to convert several together."""
        return tuple([x if isinstance(x, Variable) else self.convert_input(x) for x in inputs])

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Return the output types for these input types, or raise a typed error."""
        if self.itypes is None or self.otypes is None:
            raise MethodNotDefined(
                f"{self} defines neither make_node, infer_types nor itypes and otypes"
            )
        if len(types) != len(self.itypes):
            raise InputCountError(
                message(f"takes {len(self.itypes)} inputs, not {len(types)}", op=self)
            )
        for i, (want, got) in enumerate(zip(self.itypes, types, strict=True)):
            if not want.is_super(got):
                raise DTypeError(f"input {i} must be of type {want}, not {got}")
        return self.otypes

    def typed(self, types: tuple[Any, ...], *more: Any) -> tuple[Any, ...]:
        """Call `infer_types`; errors name the op, the types, and where the user applied it."""
        try:
            return tuple(self.infer_types(types, *more))
        except RewriteEngineError as error:
            if isinstance(error, MethodNotDefined) or isinstance(error.args[0], Message):
                raise
            what = located(str(error), op=self, inputs=types)
            raise type(error)(what) from error.__cause__

    def output_types(self, types: tuple[Any, ...], *more: Any) -> tuple[Any, ...]:
        """Return the result of `infer_types`, cached per op."""
        try:
            memo: dict[tuple[Any, ...], tuple[Any, ...]] = self._memo
        except AttributeError:
            memo = self._memo = {}
        key = (types, *more) if more else types
        found = memo.get(key)
        if found is None:
            found = self.typed(types, *more)
            if len(memo) >= REMEMBERED:  # so that what nobody uses any more is let go
                memo.clear()
            memo[key] = found
        return found

    _memo: dict[tuple[Any, ...], tuple[Any, ...]]
    _memory: Memory
    _heads: tuple[Any, ...]

    def make_node(self, *inputs: Any) -> Apply:
        """Return an `Apply` of this op on the inputs, or raise an error that explains why it
        cannot.

        `make_node(*node.inputs)` must return an equivalent node again. Read only the types of the
        inputs, never their owners.
        """
        variables = self.convert_inputs(inputs)
        types = self.output_types(tuple([v.type for v in variables]))
        return build_node(self, variables, types, user_origin())

    def __call__(
        self, *inputs: Any, name: str | None = None, return_list: bool = False, **kwargs: Any
    ) -> Any:
        """Apply the op; return the output variable, or the list of outputs (see `default_output`).

        An argument of a class that defines `__apply_op__(op, inputs, kwargs)` takes over: this is
        how ops build patterns from logic variables.
        """
        for x in inputs:
            if not isinstance(x, Variable):
                hook = getattr(type(x), "__apply_op__", None)
                if hook is not None:
                    return hook(self, inputs, kwargs)
        try:
            node = self.make_node(*inputs, **kwargs)
        except TypeError:
            self.check_options(inputs, kwargs)
            raise
        try:
            outputs = node.outputs
        except AttributeError:
            what = f"its make_node must return an Apply, not {describe(node)}"
            raise ForeignObjectError(located(what, op=self)) from None
        if name is not None:
            outputs[self.default_output or 0].name = name
        if self.default_output is not None:
            out = outputs[self.default_output]
            return [out] if return_list else out
        if len(outputs) == 1 and not return_list:
            return outputs[0]
        if self.output_names is None or return_list:
            return list(outputs)
        return _named(type(self).__name__, tuple(self.output_names))(*outputs)

    def check_options(self, inputs: Sequence[Any], options: Mapping[str, Any]) -> None:
        """Raise `OptionError` for options that `make_node` does not take."""
        if not options:
            return
        try:
            signature(self.make_node).bind(*inputs, **options)
        except TypeError as error:
            raise OptionError(located(str(error), op=self)) from None

    # --- running ---------------------------------------------------------------------------------

    def formula(self, *inputs: Any) -> Any:
        """Return the outputs as a graph of other ops, for linkers that have no code for the op.

        inputs: variables of the types of a node's inputs. The outputs must have the op's own types.
        Native code runs this graph if all of it is native; else, and on the VM, `perform` runs.
        None: there is no formula (for these types).
        """

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute values: read `inputs`, write `output_storage[i][0]`.

        A cell may hold None, or an old value of the right type that may be reused.
        """
        raise MethodNotDefined(f"{self} defines no perform")

    def prepare_node(
        self, node: Apply, storage_map: Any = None, compute_map: Any = None, impl: str | None = None
    ) -> None:
        """Prepare a node before it first runs, if `perform` needs it."""

    def make_thunk(
        self,
        node: Apply,
        storage_map: dict[Variable, list[Any]],
        compute_map: dict[Variable, list[bool]] | None,
        no_recycling: Sequence[Variable] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        """Return a function of no arguments that reads and writes the cells of `storage_map`.

        An op that defines this needs no `perform`. no_recycling: outputs whose old values must not
        be reused. compute_map: if present, set to [True] for the outputs. impl: "py" for `perform`,
        "c" for native code only, which raises `MethodNotDefined` if there is none.
        """
        self.prepare_node(node, storage_map, compute_map, impl)
        ins = [storage_map[v] for v in node.inputs]
        outs = [storage_map[v] for v in node.outputs]
        done = [] if compute_map is None else [compute_map[v] for v in node.outputs]
        run = self.make_function(node) if self.native and impl != "py" else None
        if impl == "c" and run is None:
            raise MethodNotDefined(f"{self} has no native code for {node}")
        drop = [storage_map[v] for v in node.outputs if v in set(no_recycling)]
        perform = self.perform

        def thunk() -> None:
            for cell in drop:
                cell[0] = None
            if run is None:
                perform(node, [cell[0] for cell in ins], outs)
            else:
                found = run(*[cell[0] for cell in ins])
                for cell, value in zip(outs, found if len(outs) > 1 else (found,), strict=True):
                    cell[0] = value
            for flag in done:
                flag[0] = True

        return thunk

    def make_function(self, node: Apply) -> Callable[..., Any] | None:
        """Return a function that maps the values of a node's inputs to the value of its output, or
        to a tuple of values. It runs in place of `perform`, with the same results. None (the
        default): use `perform`.
        """
        return None

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        """Return whether the node may be computed during compilation if all its inputs are
        constants.
        """
        return True

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return the floating-point operations for inputs and outputs of these shapes; 0 if
        unknown.

        Counted are arithmetic, comparisons and functions (a quotient as 4, an exponential as 10).
        Views, and copies of elements to other places, take none; `rewrite.cost.flops`, by which
        equations choose, counts what they write.
        """
        return 0

    # --- analysis --------------------------------------------------------------------------------

    @property
    def destroys(self) -> frozenset[int]:
        """Return the inputs that are overwritten. Raises `InconsistencyError` if the maps
        contradict each other.
        """
        return memory_of(self).destroyed

    def may_show(self, output: int = 0) -> tuple[int, ...]:
        """Return the inputs whose memory an output may share, as a view or in place."""
        return memory_of(self).may.get(output, ())

    def must_show(self, output: int = 0) -> int | None:
        """Return the input whose memory an output always shares, or None."""
        return memory_of(self).must.get(output)

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the outputs' shapes, a tuple for each, from the inputs' shapes (a tuple
        for each).
        """
        raise MethodNotDefined(f"{self} defines no infer_shape")

    def bounds(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        """Return a lower and an upper bound of all elements of the (first) result, neither of which
        is NaN; None if there is none. of(v): the bounds of an operand. The default: `limits`.
        """
        return self.limits

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """Return the conditions under which the node does not fail, given its inputs: groups of
        lengths that must be equal, each a pair (input, dimension) or a number. None (the default):
        it may fail in other ways.

        Rules rely on it (`facts/failure.py`): a term that may fail is not dropped, unless it
        is computed anyway.
        """
        return None

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Return the outputs of a node for inputs with additional leading dimensions, a batch.
        None: compute the elements of the batch one by one (`tensor/blockwise.py`).
        """
        return None

    def grad(
        self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]
    ) -> Sequence[Any]:
        """Return one gradient per input, given the gradients of the outputs (vector-Jacobian
        product).
        """
        raise MethodNotDefined(f"{self} defines no grad")

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> Sequence[Any]:
        """Return one gradient per input, like `grad`, with access to the outputs. The default calls
        `grad`.
        """
        return self.grad(list(inputs), list(output_gradients))

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> Sequence[Any]:
        """Return the Jacobian-vector products, one per output: disconnected if zero, None to let
        the gradient decide (an error, if it is undefined).
        """
        raise MethodNotDefined(f"{self} defines no R_op")

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Call `L_op`, under PyTensor's name."""
        return self.L_op(inputs, outputs, cotangents)

    def pushforward(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Sequence[Any]
    ) -> list[Any]:
        """Call `R_op`, under PyTensor's name: a missing derivative is disconnected, not None."""
        points = [None if is_disconnected(t) else t for t in tangents]
        return [disconnected() if t is None else t for t in self.R_op(inputs, points)]

    def filled(self, inputs: Sequence[Variable], out_type: Any, constant: Variable) -> Any:
        """Return the output on these inputs if all of it is one constant; None if there is no such
        term.
        """
        return constant if out_type.is_super(constant.type) else None

    def takes_as_number(self, inputs: Sequence[Variable], constant: Any) -> bool:
        """Return whether an array constant with equal elements acts among these inputs as the
        number itself: its shape changes nothing, and hides no error.
        """
        return False

    #: read_if(node) -> for each input None, if its value is always needed, or (i, holds): needed
    #: only where input i, a number, is other than 0 (holds), or is 0; elsewhere a linker need not
    #: compute it, and gives None for it
    read_if: Callable[[Apply], Sequence[tuple[int, bool] | None]] | None = None
    #: notation(args) -> how formulas write the op applied to operands: texts, and operands with the
    #: precedence around them (`terms/print.py`); None: in the usual way
    notation: Callable[[Sequence[Any]], Any] | None = None
    #: connection_pattern(node) -> [[does input i affect output j?]]; undefined: everything is
    #: connected
    connection_pattern: Callable[[Apply], list[list[bool]]] | None = None
    #: debug_perform: runs instead of perform in debugging modes, if defined
    debug_perform: Callable[..., None] | None = None

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        """Return a version of this op that overwrites one of the `allowed` inputs and nothing else,
        or None if there is none.

        Read only the types of `node`'s inputs and outputs: the answer holds for all nodes with
        those types.
        """
        return None


class Output(Op):
    """Op that marks the use of output `idx` of a graph. Its nodes are not part of the graph: they
    are made on demand, when the clients of a variable are listed.
    """

    __props__ = ("idx",)

    def __init__(self, idx: int) -> None:
        self.idx = idx

    def __str__(self) -> str:
        return f"output[{self.idx}]"


def output_node(idx: int, var: Variable) -> Apply:
    """Return the node whose only input is this variable, output `idx`."""
    return build_node(Output(idx), (var,), (), None)
