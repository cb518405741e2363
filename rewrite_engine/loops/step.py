"""`scan`: a loop built from a Python function of one step.

Taps of sequences are slices of them that begin later; an output with taps -3 and -1 is carried as
its last three values. Terms in the step that do not depend on the loop are computed once, before
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Never, TypedDict, Unpack, overload

import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    InputError,
    MissingInputError,
    NDimError,
    OptionError,
    ShapeError,
    TypeMismatchError,
    UpdateTypeError,
    describe,
    dimensions,
    refuse_options,
    refuse_unknown,
)
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.states import collected
from rewrite_engine.graph.traverse import (
    ancestors,
    explicit_graph_inputs,
    graph_inputs,
    truncated_graph_inputs,
)
from rewrite_engine.loops.arguments import (
    Taps,
    check_flags,
    check_takes,
    given_of,
    listed,
    mode_of,
    parameters_of,
    read_output,
    read_sequence,
    slice_of,
    steps_of,
    truncated,
    values_of,
    variable_of,
)
from rewrite_engine.loops.op import Scan
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.compile.mode import Mode
    from rewrite_engine.graph.node import Variable
    from rewrite_engine.tensor.variable import TensorVariable


class until:  # noqa: N801 (the name of the field)
    """Condition that a step returns with its outputs to end the loop: `until(condition)`."""

    def __init__(self, condition: Any) -> None:
        self.condition = pt.as_tensor_variable(condition)
        if self.condition.type.ndim:
            raise NDimError(located("until: the condition must be a single number"))


@dataclass
class Step:
    """Result of a function of one step: outputs, updates and the condition."""

    outputs: list[Any]
    updates: dict[Any, Any] = field(default_factory=dict)
    condition: Any = None
    several: bool = False

    def own(self, states: list[Any]) -> None:
        """Let each step update the states of a `RandomStream` that it created and uses."""
        if states:
            read = [*self.outputs, *self.updates.values(), self.condition]
            used = set(graph_inputs([v for v in read if v is not None]))
            for v in dict.fromkeys(states):
                if v in used and v not in self.updates and v.default_update is not None:
                    self.updates[v], v.default_update = v.default_update, None


class ScanOptions(TypedDict, total=False):
    """Options of `scan`, described in its docstring."""

    truncate_gradient: int
    go_backwards: bool
    mode: Mode | str | None
    name: str | None
    profile: bool | str
    allow_gc: bool | None
    strict: bool
    return_list: bool


# What a step returns says what `scan` does: one output, or a list of them. For a step that also
# returns updates or `until`, checkers do not know the outputs.


@overload
def scan(
    fn: Callable[..., TensorVariable],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    return_updates: Literal[False],
    **options: Unpack[ScanOptions],
) -> TensorVariable: ...
@overload
def scan(
    fn: Callable[..., TensorVariable],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    return_updates: Literal[True] = True,
    **options: Unpack[ScanOptions],
) -> tuple[TensorVariable, dict[Variable, Variable]]: ...
@overload
def scan(
    fn: Callable[..., list[TensorVariable] | tuple[TensorVariable, ...]],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    return_updates: Literal[False],
    **options: Unpack[ScanOptions],
) -> list[TensorVariable]: ...
@overload
def scan(
    fn: Callable[..., list[TensorVariable] | tuple[TensorVariable, ...]],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    return_updates: Literal[True] = True,
    **options: Unpack[ScanOptions],
) -> tuple[list[TensorVariable], dict[Variable, Variable]]: ...
@overload
def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    return_updates: bool = True,
    **options: Unpack[ScanOptions],
) -> Any: ...
def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: Any = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
    **unknown: Never,
) -> Any:
    """Run a step repeatedly. Return `(outputs, updates)`: the values of each output of all steps
    along a new first dimension (one, or a list), and a dict of updates of shared variables for
    `function`.

    fn: called once, with variables: the slices of each sequence, earlier values of each output in
    the order of their taps, and the non_sequences. It returns the outputs of a step (one or a
    list); it may also return, in any order, a dict (or list of pairs) of updates, and
    `until(condition)`, which ends the loop after the first step whose condition is true.

    sequences: arrays, or dicts `input` and `taps` (integers; [0]): step t receives the slices at t
    + tap. outputs_info: for each output its initial value; or a dict `initial` and `taps` (below 0;
    [-1]): for taps other than -1, `initial` holds as many values as they reach back, the oldest
    first (also a single one, for a tap -1 in a tuple or `range`, as in PyTensor); or None, if steps
    do not need earlier values. non_sequences: further arguments of the step; other variables that
    it uses are found automatically (strict: a shared variable among them is an error). n_steps: the
    number of steps; by default as many as the shortest sequence allows. go_backwards: read
    sequences from their ends. truncate_gradient: number of last steps over which gradients are
    propagated (-1: all). mode: compilation mode of the loop, if not that of the surrounding
    function; then no term is moved out of it. profile has no effect: the profile of the surrounding
    function has a row for each node of a step. allow_gc: True or False, without effect.
    return_updates=False: return `outputs` alone.

    An output that is not a tensor (a random generator) is returned for the last step only.

    Raises `InputError` if the parts do not match, `NDimError`, `DTypeError` and `ShapeError` if an
    output differs from the value passed to the next step, `ShapeError` for a sequence, or an
    initial value, that is too short, `MissingInputError` (strict).

    >>> x = pt.dvector("x")
    >>> sums, updates = scan(lambda value, total: total + value, x, pt.constant(0.0))
    >>> sums.eval({x: [1.0, 2.0, 3.0]})
    array([1., 3., 6.])
    """
    if unknown:
        refuse_unknown("scan", unknown, signature(scan).parameters)
    loop = loop_of(
        fn, sequences, outputs_info, non_sequences, n_steps, truncate_gradient, go_backwards, mode,
        name, profile, allow_gc, strict, return_updates,
    )  # fmt: skip
    return loop.returned(*loop.built(), return_list, return_updates)


def loop_of(
    fn: Callable[..., Any], sequences: Any, outputs_info: Any, non_sequences: Any, n_steps: Any,
    truncate_gradient: Any, go_backwards: Any, mode: Any, name: Any, profile: Any, allow_gc: Any,
    strict: bool, return_updates: bool,
) -> LoopRequest:  # fmt: skip
    """Return the arguments of `scan` in normal form, and the result of its step."""
    if not isinstance(profile, bool | str):
        refuse_options("scan", "pass it to `function`", profile=profile)
    mode = mode_of(mode)
    truncate_gradient = truncated(truncate_gradient)
    check_flags(go_backwards=go_backwards, allow_gc=False if allow_gc is None else allow_gc)
    if not isinstance(name, str | None):
        raise OptionError(located(f"scan: name must be a str, not {describe(name)}"))
    reads = [read_sequence(s) for s in listed(sequences)]
    infos = None if outputs_info is None else [read_output(o) for o in listed(outputs_info)]
    others = [variable_of(v) for v in listed(non_sequences)]
    steps, shifted = steps_of(reads, n_steps, go_backwards)
    places = [(read.start.name, tap) for read in reads for tap in read.taps]
    slices = [slice_of(x, *place) for x, place in zip(shifted, places, strict=True)]
    past = [values_of(k, info) for k, info in enumerate(infos or [])]
    given = [x for info, values in zip(infos or [], past, strict=True)
             for x in given_of(info, values)]  # fmt: skip
    check_takes(fn, len(slices), len(given), len(others))
    called = parameters_of(fn, [*slices, *given, *others])
    for v in [*slices, *given]:
        v.name = v.name or called.get(v)
    step = _step(fn, [*slices, *given, *others], return_updates)
    infos = _matched(infos, step)
    past = past or [[] for _ in infos]
    return LoopRequest(
        steps, shifted, slices, infos, past, others, step, truncate_gradient, name, strict, mode,
        called,
    )  # fmt: skip


def map(
    fn: Callable[..., Any],
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
    **unknown: Never,
) -> Any:
    """Apply `fn` to each element of the sequences: `scan` without earlier values.

    Arguments and result: see `scan`.

    >>> x = pt.dvector("x")
    >>> map(lambda v: v**2, x)[0].eval({x: [1.0, 2.0, 3.0]})
    array([1., 4., 9.])
    """
    if unknown:
        refuse_unknown("map", unknown, signature(map).parameters)
    options: ScanOptions = {
        "truncate_gradient": truncate_gradient, "go_backwards": go_backwards, "mode": mode,
        "name": name,
    }  # fmt: skip
    return scan(fn, sequences, None, non_sequences, return_updates=return_updates, **options)


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
    **unknown: Never,
) -> Any:
    """Return the outputs of the last step of a `scan`, and the updates.

    Arguments: see `scan`.

    >>> x = pt.dvector("x")
    >>> reduce(lambda v, total: total + v, x, pt.constant(0.0))[0].eval({x: [1.0, 2.0, 3.0]})
    array(6.)
    """
    if unknown:
        refuse_unknown("reduce", unknown, signature(reduce).parameters)
    options: ScanOptions = {"go_backwards": go_backwards, "mode": mode, "name": name}
    made = scan(
        fn, sequences, outputs_info, non_sequences, return_updates=return_updates, **options
    )
    found, updates = made if return_updates else (made, None)
    last = [v[-1] for v in found] if isinstance(found, list) else found[-1]
    return (last, updates) if return_updates else last


def foldl(fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None,
          name: str | None = None, return_updates: bool = True,
          **unknown: Never) -> Any:  # fmt: skip
    """Reduce sequences from the first element to the last (arguments: see `reduce`)."""
    if unknown:
        refuse_unknown("foldl", unknown, signature(foldl).parameters)
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name, return_updates)


def foldr(fn: Any, sequences: Any, outputs_info: Any, non_sequences: Any = None, mode: Any = None,
          name: str | None = None, return_updates: bool = True,
          **unknown: Never) -> Any:  # fmt: skip
    """Reduce sequences from the last element to the first (arguments: see `reduce`)."""
    if unknown:
        refuse_unknown("foldr", unknown, signature(foldr).parameters)
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name, return_updates)


def _step(fn: Callable[..., Any], arguments: list[Any], may_update: bool) -> Step:
    """Call the function of a step. Raise `InputError`."""
    with collected() as states:
        step = _returned(fn(*arguments))
    step.own(states)
    if not step.outputs and not step.updates:
        raise InputError(located("scan: the step must return outputs or updates"))
    if step.updates and not may_update:
        what = f"the step updates {describe(next(iter(step.updates)))}"
        hint = (
            "return_updates=False requires a step without updates (outputs_info can carry states)"
        )
        raise InputError(located(f"scan: return_updates=False, but {what}", hint=hint))
    return step


def _returned(found: Any) -> Step:
    """Sort the results of the function into outputs, updates and condition. Raise `InputError`."""
    step = Step([])
    if (
        isinstance(found, until | Mapping)
        or _is_pairs(found)
        or not isinstance(found, list | tuple)
    ):
        parts = [found]
    else:
        named = [isinstance(p, until | Mapping | list | tuple) for p in found]
        parts = list(found) if any(named) else [list(found)]
    for part in parts:
        if isinstance(part, until):
            if step.condition is not None:
                raise InputError(located("scan: a step can return only one until(condition)"))
            step.condition = part.condition
        elif isinstance(part, Mapping) or (_is_pairs(part) and part):
            pairs = list(part.items() if isinstance(part, Mapping) else part)
            step.updates |= dict(pairs)
            if len(dict(pairs)) < len(pairs):
                raise InputError(located("scan: a step can update each shared variable only once"))
        elif isinstance(part, list | tuple):
            step.outputs += [_value(v) for v in part]
            step.several = step.several or len(part) > 1
        elif part is not None:
            step.outputs.append(_value(part))
    for v in step.updates:
        if not _is_shared(v):
            raise InputError(
                located(f"scan: updates must be for shared variables, not {describe(v)}")
            )
    return step


def _value(x: Any) -> Any:
    """Return an output as a variable. Raise `ForeignObjectError`."""
    try:
        return variable_of(x)
    except ForeignObjectError:
        what = f"scan: a step must return variables or numbers, not {describe(x)}"
        raise ForeignObjectError(located(what)) from None


def _is_pairs(found: Any) -> bool:
    """Return whether something is a list of updates: pairs that begin with a shared variable."""
    return isinstance(found, list | tuple) and all(
        [isinstance(p, tuple) and len(p) == 2 and _is_shared(p[0]) for p in found]
    ) and bool(found)  # fmt: skip


def _is_shared(v: Any) -> bool:
    return hasattr(v, "get_value")


def _matched(infos: list[Taps] | None, step: Step) -> list[Taps]:
    """Return the entry of outputs_info for each output. Raise `InputError`."""
    if not infos:
        return [Taps(None, []) for _ in step.outputs]
    if len(infos) != len(step.outputs):
        what = f"the step returns {len(step.outputs)} outputs, but outputs_info has {len(infos)}"
        hint = "write None in outputs_info for an output without earlier values"
        raise InputError(located(f"scan: {what}", hint=hint))
    return infos


# --- the loop ---------------------------------------------------------------------------------


@dataclass
class LoopRequest:
    """Parts of a loop to build: the number of steps, sequences and their slices, outputs and the
    variables of their last values, the non_sequences, the result of a step; and options.

    called: the names of the step's parameters.
    """

    steps: Any
    sequences: list[Any]
    slices: list[Any]
    infos: list[Taps]
    past: list[list[Any]]
    others: list[Any]
    step: Step
    truncate: int
    name: str | None
    strict: bool
    mode: Any
    called: dict[Any, str]

    def returned(
        self, outputs: list[Any], updates: Any, return_list: bool, return_updates: bool
    ) -> Any:
        """Return outputs and updates in the form that `scan` returns."""
        one = len(outputs) == 1 and not (return_list or self.step.several)
        found = outputs[0] if one else outputs
        return (found, updates) if return_updates else found

    def built(self) -> tuple[list[Any], Any]:
        """Return the outputs, and the updates."""
        states, starts, new, last = self.carried()
        step, shared = self.step, list(self.step.updates)
        inside = {v: v.type(v.name) for v in shared}
        results = [v for k, v in enumerate(step.outputs) if k not in last]
        outputs = [*new, *[self.updated(v) for v in shared], *results]
        outputs += [step.condition] if step.condition is not None else []
        if inside:
            outputs = graph_replace(outputs, inside, strict=False)
        inputs = [*self.slices, *states, *inside.values()]
        outer = self.outer(inputs, outputs)
        memo = {v: v.type(v.name or self.called.get(v)) for v in outer}
        if memo:
            outputs = graph_replace(outputs, memo, strict=False)
        op = Scan(
            [*inputs, *memo.values()], outputs, len(self.slices), len(states) + len(shared),
            step.condition is not None, self.truncate, self.name, self.mode,
        )  # fmt: skip
        made = op(self.steps, *self.sequences, *starts, *shared, *outer, return_list=True)
        first = len(states) + len(shared)
        updates = dict(zip(shared, made[len(states) : first], strict=True))
        each = iter(made[first:])
        found = [made[last[k]] if k in last else next(each) for k in range(len(step.outputs))]
        return found, updates

    def carried(self) -> tuple[list[Any], list[Any], list[Any], dict[int, int]]:
        """Return the carried variables, their initial values and new values, and the positions of
        outputs that are not tensors among them.

        Raises `InputError`, `NDimError`, `DTypeError`, `ShapeError`.
        """
        states: list[Any] = []
        starts: list[Any] = []
        new: list[Any] = []
        last: dict[int, int] = {}
        for k, (info, values) in enumerate(zip(self.infos, self.past, strict=True)):
            if not isinstance(self.step.outputs[k].type, TensorType):
                last[k] = len(states)
                if info.start is None:
                    what = f"output {k} is a state, so it needs an initial value"
                    raise InputError(located(f"scan: {what}", inputs=[self.step.outputs[k]]))
            if info.start is None:
                continue
            out = self.step.outputs[k] = fitting(k, values[-1], self.step.outputs[k])
            one = info.taps == [-1]
            states += values
            start = info.start if one else long_enough(k, info)
            starts += [start] if one else [start[i] for i in range(len(values))]
            new += [*values[1:], out]
        return states, starts, new, last

    def updated(self, v: Any) -> Any:
        """Return the update of a shared variable, in its type. Raise `UpdateTypeError`."""
        new = self.step.updates[v]
        try:
            return v.type.filter_variable(new)
        except TypeMismatchError:
            what = f"scan: the update of {describe(v)} has another type: {describe(new)}"
            raise UpdateTypeError(located(what)) from None

    def outer(self, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        """Return the variables that a step uses without having them as arguments. Raise
        `MissingInputError`.
        """
        given = [*inputs, *self.others]  # (one of the latter may be computed from another)
        reached = set(ancestors(outputs, set(given)))
        roots = [v for v in truncated_graph_inputs(outputs, given) if v in reached]
        known, said = set(inputs), {*self.others, *self.sequences}
        found = [v for v in roots if v not in known and any(True for _ in explicit_graph_inputs(v))]
        for v in found if self.strict else ():
            if any([r not in said and _is_shared(r) for r in graph_inputs([v], said)]):
                what = f"scan: the step uses {describe(v)}, which is not among its arguments"
                raise MissingInputError(
                    located(what, hint="strict=True requires it in non_sequences")
                )
        return found


def long_enough(k: int, info: Taps) -> Any:
    """Return the initial values of an output, with a check at run time if their type does not show
    that they are enough.
    """
    length = pt.shape_tuple(info.start)[0]
    if isinstance(length, Constant):
        return info.start
    what = f"scan: the initial value of output {k} must hold at least {info.reach} values"
    return pt.CheckAndRaise(ShapeError, what)(info.start, pt.ge(length, info.reach))


def fitting(k: int, before: Any, out: Any) -> Any:
    """Return an output in the type of the value passed to the next step. Raise `NDimError`,
    `DTypeError`.
    """
    have, want = out.type, before.type
    if not isinstance(want, TensorType) or not isinstance(have, TensorType):
        return want.filter_variable(out)
    if have.ndim != want.ndim:
        what = f"output {k} has {dimensions(have.ndim)}, but its initial value has {want.ndim}"
        raise NDimError(located(f"scan: {what}", inputs=[out, before]))
    if any([None not in (m, n) and m != n for m, n in zip(have.shape, want.shape, strict=True)]):
        what = f"output {k} has the shape {have.shape}, but its initial value {want.shape}"
        raise ShapeError(located(f"scan: {what}", inputs=[out, before]))
    if have.dtype != want.dtype:
        what = f"output {k} is {have.dtype}, but its initial value is {want.dtype}"
        hint = f"make the initial value {have.dtype}, or cast the output"
        raise DTypeError(located(f"scan: {what}", inputs=[out, before], hint=hint))
    return out
