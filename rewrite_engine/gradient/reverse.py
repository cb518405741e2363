"""`grad`, `pullback` and `subgraph_grad`: reverse-mode differentiation by one iterative traversal,
linear in the size of the graph.

The traversal is in `gradient/walk.py`; here are the public functions, with their checks before it
and the choices (raise, warn, ignore) after it. Forward mode is in `gradient/forward.py`, numeric
checks in `gradient/verify.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from rewrite_engine.errors import (
    ComplexCostError,
    DisconnectedInputError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    NullTypeGradError,
    OptionError,
    TangentsError,
    describe,
    dimensions,
    message,
)
from rewrite_engine.gradient.sources import with_sources
from rewrite_engine.gradient.stable import stable
from rewrite_engine.gradient.type import float_zeros, gradient_dtype
from rewrite_engine.gradient.walk import Reverse
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.null import disconnected, is_disconnected, is_null
from rewrite_engine.graph.number import NO_RANK
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.math import add
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Form, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable


class GradOptions(TypedDict, total=False):
    """Options of `grad`, described in its docstring."""

    disconnected_inputs: Literal["raise", "warn", "ignore"]
    add_names: bool
    known_grads: Mapping[Any, Any] | None
    return_disconnected: str
    null_gradients: Literal["raise", "return"]


@overload
def grad(
    cost: Variable | None,
    wrt: TensorVariable,
    consider_constant: Variable | Iterable[Variable] | None = None,
    **options: Unpack[GradOptions],
) -> TensorVariable: ...
@overload
def grad(  # type: ignore[overload-overlap]
    cost: Variable | None,
    wrt: tuple[TensorVariable, ...],
    consider_constant: Variable | Iterable[Variable] | None = None,
    **options: Unpack[GradOptions],
) -> tuple[TensorVariable, ...]: ...
@overload
def grad(
    cost: Variable | None,
    wrt: Sequence[TensorVariable],
    consider_constant: Variable | Iterable[Variable] | None = None,
    **options: Unpack[GradOptions],
) -> list[TensorVariable]: ...
@overload
def grad(
    cost: Variable | None,
    wrt: Variable | Sequence[Variable],
    consider_constant: Variable | Iterable[Variable] | None = None,
    **options: Unpack[GradOptions],
) -> Any: ...
def grad(
    cost: Variable | None,
    wrt: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    add_names: bool = True,
    known_grads: Mapping[Variable, Any] | None = None,
    return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:
    """Return the gradient of `cost` with respect to `wrt`: one variable, or a list or tuple of
    them.

    cost: a 0-d variable; None if `known_grads` replaces it. (Gradients of an integer or boolean
    cost are 0, as steps are flat.) consider_constant: variables through which no gradient flows,
    though they have one themselves. disconnected_inputs: what to do if the cost does not depend on
    a variable: "raise" (`DisconnectedInputError`), "warn" or "ignore"; return_disconnected: the
    gradient returned then: "zero", "none" or "disconnected". known_grads: {variable: gradient of
    the cost for it}, used instead of computed gradients. null_gradients: "raise"
    (`NullTypeGradError`) or "return". add_names: name the results `(dcost/dx)`.

    A gradient has the shape of its variable, and its dtype if that is a float (else
    `config.floatX`). Raises `NDimError` or `DTypeError` for a cost that is not 0-d or is complex,
    and errors that name the op if the `grad` of an op returns something wrong.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.gradient import grad
    >>> x = pt.dvector("x")
    >>> float(grad((x**3).sum(), x)[0].eval({x: [2.0]}))
    12.0
    """
    _check_choice("disconnected_inputs", disconnected_inputs, ("raise", "warn", "ignore"))
    return_disconnected = _what_is_returned(return_disconnected)
    _check_choice("null_gradients", null_gradients, ("raise", "return"))
    wanted = _variables(wrt, "wrt")
    if isinstance(cost, Variable):
        cost = cost.type.array_of(cost)
    if known_grads is not None and not isinstance(known_grads, Mapping):
        raise OptionError(f"grad: known_grads must be a mapping, not {describe(known_grads)}")
    fixed = {v: _known(v, g) for v, g in (known_grads or {}).items()}
    seeds = [] if cost is None else [(cost, _one(cost))]
    if not seeds and not fixed:
        raise OptionError("grad requires a cost or known_grads")
    stops = _constants(consider_constant)
    walk = _walk(seeds, fixed, wanted, stops)
    results = _results(walk, wanted, cost, disconnected_inputs, return_disconnected, null_gradients)
    results = with_sources(results, [cost, *fixed, *wanted])
    if add_names and cost is not None:
        _name(results, wanted, cost, fixed)
    return _like(wrt, results)


@overload
def pullback(
    f: Variable | Sequence[Variable],
    wrt: Form,
    cotangents: TensorLike,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Form: ...
@overload
def pullback(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    cotangents: TensorLike,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any: ...
def pullback(
    f: Any,
    wrt: Any,
    cotangents: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any:
    """Return the vector-Jacobian products: for each of `wrt`, the sum over `f` of (df/dwrt)ᵀ
    cotangent.

    f: variables of any number of dimensions; cotangents: as many, with the shapes of `f`. The
    options are described in `grad`. Raises `TangentsError` if the numbers of `f` and `cotangents`
    differ.
    """
    _check_choice("disconnected_inputs", disconnected_inputs, ("raise", "warn", "ignore"))
    return_disconnected = _what_is_returned(return_disconnected)
    outputs, wanted = _variables(f, "f"), _variables(wrt, "wrt")
    points = list(cotangents) if isinstance(cotangents, (list, tuple)) else [cotangents]
    if len(points) != len(outputs):
        what = f"there are {len(outputs)} f and {len(points)} eval_points (cotangents)"
        raise TangentsError(f"pullback: {what}")
    seeds = [(v, _known(v, point)) for v, point in zip(outputs, points, strict=True)]
    stops = _constants(consider_constant)
    walk = _walk(seeds, {}, wanted, stops)
    first = outputs[0] if outputs else None
    results = _results(walk, wanted, first, disconnected_inputs, return_disconnected)
    return _like(wrt, with_sources(results, [*outputs, *wanted, *points]))


@overload
def Lop(
    f: Variable | Sequence[Variable],
    wrt: Form,
    eval_points: TensorLike,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Form: ...
@overload
def Lop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: TensorLike,
    consider_constant: Variable | Iterable[Variable] | None = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any: ...
def Lop(
    f: Any,
    wrt: Any,
    eval_points: Any,
    consider_constant: Any = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
) -> Any:
    """Return vector-Jacobian products: `pullback` with its older name and arguments."""
    return pullback(
        f, wrt, eval_points, consider_constant, disconnected_inputs, return_disconnected
    )


def subgraph_grad(
    wrt: Sequence[Variable],
    end: Sequence[Variable],
    start: Mapping[Variable, Any] | None = None,
    cost: Variable | None = None,
    details: bool = False,
) -> tuple[list[Any], ...]:
    """Return the gradients for `wrt` and for `end`, of a part of a graph: two lists.

    end: variables at which the traversal stops. start: {variable: its gradient} at the outputs of
    this part; cost: a 0-d variable whose gradients are added to those. At least one of them is
    required (`OptionError`). A variable on which neither depends has the gradient 0. details:
    return two more lists, the gradients for `wrt` of `start` alone, and of `cost` alone (empty if
    it is None).

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.gradient import subgraph_grad
    >>> x, w = pt.dscalars("x", "w")
    >>> h = pt.sqr(x)
    >>> (at_w,), (at_h,) = subgraph_grad([w], [h], cost=w * h)
    >>> (at_x,), _ = subgraph_grad([x], [], start={h: at_h})
    >>> float(at_x.eval({x: 3.0, w: 2.0}))
    12.0
    """
    for name, given in (("wrt", wrt), ("end", end)):
        if not isinstance(given, list | tuple):
            raise OptionError(f"subgraph_grad: {name} must be a list, not {describe(given)}")
    if start is not None and not isinstance(start, Mapping):
        raise OptionError(f"subgraph_grad: start must be a mapping, not {describe(start)}")
    if cost is None and start is None:
        raise OptionError("subgraph_grad requires a cost or a start")
    params = [*wrt, *end]

    def gradients(cost: Variable | None, known: Mapping[Variable, Any] | None) -> list[Any]:
        options: GradOptions = {"disconnected_inputs": "ignore", "known_grads": known}
        return grad(cost, params, end, **options)  # type: ignore[no-any-return]

    parts = [gradients(None, start)] if start is not None else []
    if cost is not None:
        parts.append(gradients(cost, None))
    sums = parts[0] if len(parts) == 1 else [add(*gs) for gs in zip(*parts, strict=True)]
    count = len(wrt)
    whole = sums[:count], sums[count:]
    if not details:
        return whole
    at_start = parts[0][:count] if start is not None else []
    return *whole, at_start, parts[-1][:count] if cost is not None else []


def _walk(
    seeds: Sequence[tuple[Variable, Any]],
    fixed: Mapping[Variable, Variable],
    wanted: Sequence[Variable],
    stops: frozenset[Variable],
) -> Reverse:
    """Return the traversal from the seeds, in stable form; in the original form if the stable one
    does not depend on all wanted variables.
    """
    given = [v for v, _ in seeds]
    outputs = stable(given, {*wanted, *stops, *fixed})
    pairs = [(v, g) for v, (_, g) in zip(outputs, seeds, strict=True)]
    walk = Reverse(pairs, fixed, wanted, stops)
    if outputs != given and any(is_disconnected(walk.result(v)) for v in wanted):
        return Reverse(seeds, fixed, wanted, stops)
    return walk


def _constants(given: Any) -> frozenset[Variable]:
    """Return the argument `consider_constant` as a list."""
    return frozenset([given] if isinstance(given, Variable) else given or ())


def _results(
    walk: Reverse,
    wanted: Sequence[Variable],
    cost: Variable | None,
    disconnected_inputs: str,
    return_disconnected: str,
    null_gradients: str = "raise",
) -> list[Any]:
    """Return the gradients of the wanted variables, with replacements for missing ones."""
    results = []
    for v in wanted:
        g: Any = walk.result(v)
        if is_null(g) and null_gradients == "raise":
            raise NullTypeGradError(walk.why_null(v, g))
        if is_disconnected(g):
            _report_disconnected(v, cost, disconnected_inputs)
            g = _stand_in(v, g, return_disconnected)
        elif not is_null(g):
            g = v.type.of_array(g)
        results.append(g)
    return results


def _what_is_returned(value: Any) -> Any:
    """Return the normalized argument `return_disconnected`. Raise `OptionError`."""
    lower = value.lower() if isinstance(value, str) else value
    _check_choice("return_disconnected", lower, ("zero", "none", "disconnected"))
    return lower


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def _variables(given: Any, what: str) -> list[Variable]:
    """Return one variable, or a sequence of them, as a list."""
    many = list(given) if isinstance(given, Sequence) else [given]
    for v in many:
        if not isinstance(v, Variable):
            raise ForeignObjectError(f"{what} must be variables, not {describe(v)}")
    return many


def _like(given: Any, results: list[Any]) -> Any:
    """Return the results in the form in which the variables were given."""
    if isinstance(given, tuple):
        return tuple(results)
    return results if isinstance(given, Sequence) else results[0]


def _one(cost: Any) -> Variable:
    """Check a cost and return its gradient with respect to itself."""
    if not isinstance(cost, Variable):
        raise ForeignObjectError(f"the cost must be a variable, not {describe(cost)}")
    where = cost.owner.where() if cost.owner is not None else None
    if is_null(cost):
        raise NullTypeGradError(
            message("the cost is of NullType", where=where, hint=cost.type.why_null)
        )
    if not isinstance(cost.type, TensorType):
        raise DTypeError(
            message(f"the cost must be a 0-d tensor, not type {cost.type}", where=where)
        )
    if cost.type.ndim != 0:
        hint = "use its sum or mean as cost, or use Lop or jacobian"
        what = f"the cost must be a single number, but has {dimensions(cost.type.ndim)}"
        raise NDimError(message(what, inputs=[cost], where=where, hint=hint))
    if cost.type.kind == "c":
        what = f"the cost must be a real number, but is {cost.type.dtype}"
        raise ComplexCostError(message(what, inputs=[cost], where=where))
    return as_tensor_variable(np.ones((), dtype=gradient_dtype(cost)))


def _known(v: Variable, g: Any) -> Any:
    """Check a user's gradient for `v` and return it."""
    if isinstance(g, Variable) and (is_null(g) or is_disconnected(g)):
        return g
    v = v.type.array_of(v)
    if not isinstance(v.type, TensorType):
        return g if isinstance(g, Variable) else v.type.make_constant(g)
    g = as_tensor_variable(g, allow_xtensor_conversion=True)
    if g.type.ndim != v.type.ndim:
        what = (
            f"the known gradient for {v!r} must have {dimensions(v.type.ndim)}, not {g.type.ndim}"
        )
        raise NDimError(message(what, inputs=[v, g]))
    if g.type.kind not in "fc":
        raise DTypeError(
            message(f"the known gradient for {v!r} must have a float dtype", inputs=[v, g])
        )
    return g


def _report_disconnected(v: Variable, cost: Variable | None, how: str) -> None:
    if how == "ignore":
        return
    where = cost.owner.where() if cost is not None and cost.owner is not None else None
    name = "the cost" if cost is None else f"the cost {cost!r}"
    what = f"{name} does not depend on the elements of {v!r} of type {v.type}"
    hint = "use disconnected_inputs='ignore' to get zeros instead"
    text = message(what, where=where, hint=hint)
    if how == "raise":
        raise DisconnectedInputError(text)
    warnings.warn(text, stacklevel=5)


def _stand_in(v: Variable, g: Variable, how: str) -> Variable | None:
    """Return the replacement for the gradient of a disconnected variable."""
    if how == "none":
        return None
    array = v.type.array_of(v)
    if how == "disconnected" or array.type.ndim is NO_RANK:
        return g if is_disconnected(g) else disconnected()
    return v.type.of_array(float_zeros(array))


def _name(
    results: list[Any], wanted: list[Variable], cost: Variable, fixed: Mapping[Variable, Variable]
) -> None:
    """Name gradients after cost and variable; variables of the user keep their names."""
    given = set(fixed.values())
    for v, g in zip(wanted, results, strict=True):
        if g is None or g.owner is None or g in given or g.name is not None:
            continue
        if cost.name is not None and v.name is not None:
            g.name = f"(d{cost.name}/d{v.name})"
