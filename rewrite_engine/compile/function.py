"""`function`: compile a graph to a callable."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from rewrite_engine.compile.callable import Function, Observer, profile_of, with_states
from rewrite_engine.compile.checks import Checks, checks_of
from rewrite_engine.compile.mode import Mode, get_mode
from rewrite_engine.compile.overwriting import guard
from rewrite_engine.compile.progress import WatchedCompiling
from rewrite_engine.compile.request import Request, check_roots, check_unused, read
from rewrite_engine.config import config
from rewrite_engine.errors import refuse_unknown
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import Origin, user_origin
from rewrite_engine.link.program import Argument, Asked, Cell, Program
from rewrite_engine.rewrite.driver import paused_collector
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import RuleWarning

if TYPE_CHECKING:
    import numpy as np

    from rewrite_engine.compile.inputs import In, Out
    from rewrite_engine.compile.profiling import ProfileStats
    from rewrite_engine.rewrite.trace import Trace
    from rewrite_engine.tensor.variable import TensorVariable

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    #: {variable: expression}, or pairs
    Updates: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Any, Any]]
    K = TypeVar("K")

AS_BUILT = Mode(optimizer=None)

#: Called after each `function` with (function, graph before rewriting or None, trace or None,
#: seconds per phase). One that has a method `new_trace()` is asked for a trace when the user gave
#: none; one with a method `on_failure(name, error)` is told of errors. Empty, it costs nothing.
observe: list[Observer] = []


class FunctionOptions(TypedDict, total=False):
    """Options of `function`; its docstring explains them."""

    no_default_updates: bool | Collection[Any]
    accept_inplace: bool
    name: str | None
    rebuild_strict: bool
    allow_input_downcast: bool | None
    profile: bool | str | ProfileStats | None
    on_unused_input: Literal["raise", "warn", "ignore"] | None
    trust_input: bool
    trace: Trace | None
    check: bool | None


# What a call returns follows from `outputs`: an array, a list or a dict of them, or None.


@overload
def function(
    inputs: Sequence[Variable | In],
    outputs: TensorVariable | Out[TensorVariable],
    mode: Mode | str | None = None,
    updates: Updates | None = None,
    givens: Updates | None = None,
    **options: Unpack[FunctionOptions],
) -> Function[Array]: ...
@overload
def function(
    inputs: Sequence[Variable | In],
    outputs: Sequence[TensorVariable | Out[TensorVariable]],
    mode: Mode | str | None = None,
    updates: Updates | None = None,
    givens: Updates | None = None,
    **options: Unpack[FunctionOptions],
) -> Function[list[Array]]: ...
@overload
def function(
    inputs: Sequence[Variable | In],
    outputs: Mapping[K, TensorVariable | Out[TensorVariable]],
    mode: Mode | str | None = None,
    updates: Updates | None = None,
    givens: Updates | None = None,
    **options: Unpack[FunctionOptions],
) -> Function[dict[K, Array]]: ...
@overload
def function(
    inputs: Sequence[Variable | In],
    outputs: None = None,
    mode: Mode | str | None = None,
    updates: Updates | None = None,
    givens: Updates | None = None,
    **options: Unpack[FunctionOptions],
) -> Function[None]: ...
@overload
def function(
    inputs: Sequence[Variable | In],
    outputs: Variable | Out[Any] | Sequence[Variable | Out[Any]] | Mapping[K, Variable | Out[Any]],
    mode: Mode | str | None = None,
    updates: Updates | None = None,
    givens: Updates | None = None,
    **options: Unpack[FunctionOptions],
) -> Function[Any]: ...
def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    no_default_updates: bool | Collection[Any] = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    trust_input: bool = False,
    trace: Any = None,
    check: bool | None = None,
    **unknown: Any,
) -> Function[Any]:
    """Return a callable that computes `outputs` from `inputs`.

    inputs: variables, or `In`. outputs: a variable or `Out`, a list or dict of them, or None; the
    callable returns the same structure, always new arrays. updates: {shared variable: new value} or
    pairs; all are stored together after a successful call. givens: {variable: replacement}.
    no_default_updates: leave out the default updates of all shared variables (True), or of those
    listed. mode: a `Mode` or its name. accept_inplace: allow ops in the graph that overwrite their
    inputs, and ignore rules that try to overwrite a value that must be kept. allow_input_downcast:
    allow arguments to lose precision (True), or forbid even conversion to floatX (False). profile:
    True, a text that labels the profile, or a `ProfileStats` to count in; `f.profile` then reports
    how often and how long everything runs (default: `config.profile`). on_unused_input: "raise",
    "warn" or "ignore". trust_input: use arguments without checks (see `Function.trust_input`).
    trace: a `Trace` that records the firings of rules. check: before each call, check that every
    declaration (`assume`) is true of the values, and raise `AssumptionError` if not (default:
    `config.check`).

    Raises `OptionError` (unknown option), `MissingInputError`, `DuplicateInputError`,
    `ConstantInputError`, `UnusedInputError`, `ForeignObjectError`, `UpdateTypeError`,
    `TypeMismatchError` (a replacement in `givens` of another type), `OverwritingError`.

    >>> from rewrite_engine.tensor import dvector
    >>> x = dvector("x")
    >>> f = function([x], 2 * x, mode=Mode(optimizer=None))
    >>> f([1.0, 2.0])
    array([2., 4.])
    """
    refuse_unknown("function", unknown, OPTIONS)
    stats = profile_of(profile, name)
    mode = get_mode(mode)
    with paused_collector(), _Told(name):
        start = perf_counter()
        request = read(inputs, outputs, updates, givens, no_default_updates, rebuild_strict)
        check_unused(request, on_unused_input)
        check_roots(request)
        origin = user_origin()
        written = WrittenGraph(request, name, allow_input_downcast, accept_inplace, origin)
        program = written.build(mode)
        checks = None
        if config.check if check is None else check:
            options = {"allow_input_downcast": allow_input_downcast, "mode": AS_BUILT, "name": name}
            checks = checks_of(request, function, accept_inplace=accept_inplace, **options)
        result = _finish(program, mode, name, trace, start, checks, bool(trust_input), stats)
        request.reached = {}
        result.written = written
        return result


@dataclass(frozen=True, slots=True)
class WrittenGraph:
    """Graph of a function as the user built it, kept to compile the function again with a recorder.
    It takes about a tenth of the function's memory.

    origin: where the program called `function`. swap: shared variables and their replacements.
    """

    request: Request
    name: str | None
    allow_input_downcast: bool | None
    accept_inplace: bool
    origin: Origin | None
    swap: dict[Any, Any] = field(default_factory=dict)

    def build(self, mode: Mode) -> Program:
        """Build the program before rewriting."""
        merging = "merge" not in mode.query.exclude
        downcast, inplace = self.allow_input_downcast, self.accept_inplace
        program = build(self.request, self.name, downcast, inplace, merging)
        return with_states(program, self.swap) if self.swap else program

    def compile(self, mode: Mode) -> Function:
        """Compile another function of the same graph in a mode."""
        start = perf_counter()
        with paused_collector(), _Told(self.name):
            program = self.build(mode)
            return _finish(program, mode, self.name, None, start, None, False, None)

    def copy(self, swap: Mapping[Any, Any], delete_updates: bool, name: str | None) -> WrittenGraph:
        """Return the written graph of a copy of the function (see `Function.copy`)."""
        request = replace(self.request, updates={}) if delete_updates else self.request
        states = {old: swap.get(new, new) for old, new in self.swap.items()}
        states |= {old: new for old, new in swap.items() if old not in self.swap.values()}
        return replace(self, request=request, name=name or self.name, swap=states)


class _Told:
    """Context manager that reports an error inside the `with` block to observers that want it."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if error is not None:
            for observer in list(observe):
                if hasattr(observer, "on_failure"):
                    observer.on_failure(self.name, error)


OPTIONS = tuple(signature(function).parameters)


def _finish(
    program: Program,
    mode: Mode,
    name: str | None,
    trace: Any,
    start: float,
    checks: Checks | None,
    trust: bool,
    profile: ProfileStats | None,
) -> Function[Any]:
    """Rewrite and link the program, then notify the observers."""
    before = found = None
    if observe:
        before = program.fgraph.clone()
        if trace is None:
            trace = next((o.new_trace() for o in observe if hasattr(o, "new_trace")), None)
    built = perf_counter()
    optimizer = mode.optimizer
    with WatchedCompiling(program.fgraph, program.name, timed=profile is not None) as watched:
        if optimizer is not None:
            found = optimizer.rewrite(program.fgraph, trace=trace)
            warn_if_stopped(found)
        watched.rewritten()
        rewritten = perf_counter()
        result: Function[Any] = Function(program, mode, name, trust, checks, profile)
    if profile is not None:
        profile.rewritten(rewritten - start, rewritten - built, found)
    if observe:
        times = {
            "build": built - start,
            "rewrite": rewritten - built,
            "link": perf_counter() - rewritten,
        }
        for tell in list(observe):
            tell(result, before, trace, times)
    program.fgraph.memo = {}  # it would keep the user's graph alive
    return result


def warn_if_stopped(result: Any) -> None:
    """Warn of phases that stopped at their budget (`on_budget` is "stop")."""
    for leaf in result.leaves() if isinstance(result, Result) else ():
        if leaf.note and leaf.stopped in (StopReason.BUDGET, StopReason.LOOP):
            rules = sorted(leaf.fired, key=lambda name: -leaf.fired[name])[:5]
            warnings.warn(
                f"the phase {leaf.name} was stopped: {leaf.note}; its changes so far are kept\n"
                f"    the rules that fired most: {', '.join(rules) or 'none'}",
                RuleWarning,
                stacklevel=4,
            )


def build(
    request: Request,
    name: str | None,
    allow_downcast: bool | None = None,
    accept_inplace: bool = False,
    merging: bool = True,
) -> Program:
    """Copy the graph of a request into a `FunctionGraph` and record the sources and destinations of
    its values. merging: whether equal nodes are merged, now and later.
    """
    states = {v: v.container for v in request.shared}
    roots: list[Variable] = [spec.variable for spec in request.inputs]
    position = {v: i for i, v in enumerate([*roots, *states])}
    count = len(request.results)
    updates = {
        count + i: position[getattr(target, "variable", target)]
        for i, target in enumerate(request.updates)
    }
    memo: dict[Variable, Variable] = {}
    fgraph = FunctionGraph(
        [*roots, *states],
        request.expressions,
        memo=memo,
        updates=updates,
        merging=merging,
    )
    fgraph.merging = merging
    mutable = {memo[spec.variable] for spec in request.inputs if spec.mutable}
    guard(fgraph, mutable, accept_inplace)
    arguments = [_argument(spec, allow_downcast) for spec in request.inputs]
    cells = [getattr(v, "container", None) or v.value for v in request.updates]
    return Program(
        fgraph=fgraph,
        inputs=(*arguments, *states.values()),
        name=name or "function",
        n_results=count,
        packing=request.packing,
        borrowed=frozenset([i for i, out in enumerate(request.outputs) if out.borrow]),
        updates=tuple(enumerate(cells, count)),
        shared=tuple(states),
        asked=tuple([Asked(v) for v in (*roots, *states)]),
    )


def _argument(spec: Any, allow_downcast: bool | None) -> Argument | Cell:
    if spec.shared:
        return spec.value  # type: ignore[no-any-return]
    downcast = allow_downcast if spec.allow_downcast is None else spec.allow_downcast
    return Argument(
        spec.variable.type, spec.name, spec.value, spec.strict, downcast, spec.mutable, spec.borrow
    )
