"""`pushforward`: forward-mode differentiation by the `R_op` of each op.

An op without `R_op` is differentiated through its reverse mode, which is linear in the output
gradient: d/du <L_op(u), v> is the Jacobian-vector product for every u. It is evaluated at u = 0,
for ops that change the gradient in other ways. The same happens for an output for which `R_op`
returns None: if the gradient is undefined, this is an error, not zeros.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from rewrite_engine.errors import (
    DisconnectedInputError,
    GradientTermsError,
    MethodNotDefined,
    NullTypeGradError,
    TangentsError,
    message,
)
from rewrite_engine.gradient.reverse import _check_choice, _known, _like, _variables
from rewrite_engine.gradient.sources import with_sources
from rewrite_engine.gradient.stable import stable
from rewrite_engine.gradient.type import float_zeros, gradient_dtype, is_discrete
from rewrite_engine.gradient.walk import Reverse, connection_pattern
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected, is_null
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.math import cast
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Form, TensorLike


@overload
def pushforward(
    f: Form,
    wrt: Variable | Sequence[Variable],
    tangents: TensorLike,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_pushforward: bool = False,
) -> Form: ...
@overload
def pushforward(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    tangents: TensorLike,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_pushforward: bool = False,
) -> Any: ...
def pushforward(
    f: Any,
    wrt: Any,
    tangents: Any,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_pushforward: bool = False,
) -> Any:
    """Return the Jacobian-vector products: for each of `f`, the sum over `wrt` of (df/dwrt)
    tangent.

    f, wrt: variables of any number of dimensions. tangents: as many as `wrt`, with their shapes.
    disconnected_outputs: what to do if an `f` depends on no `wrt`: "raise"
    (`DisconnectedInputError`), "warn" or "ignore"; return_disconnected: "zero", "none" or
    "disconnected". use_op_pushforward: refuse (`MethodNotDefined`) ops without an `R_op`; otherwise
    their gradient is differentiated. Raises `TangentsError` if the numbers of `wrt` and `tangents`
    differ, `NullTypeGradError` if a derivative is undefined.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.gradient import pushforward
    >>> x, v = pt.dvectors("x", "v")
    >>> pushforward(x**2, x, v).eval({x: [1.0, 3.0], v: [1.0, 0.5]})
    array([2., 3.])
    """
    _check_choice("disconnected_outputs", disconnected_outputs, ("raise", "warn", "ignore"))
    _check_choice("return_disconnected", return_disconnected, ("zero", "none", "disconnected"))
    outputs, wanted = _variables(f, "f"), _variables(wrt, "wrt")
    points = list(tangents) if isinstance(tangents, list | tuple) else [tangents]
    if len(points) != len(wanted):
        what = f"there are {len(wanted)} wrt and {len(points)} eval_points (tangents)"
        raise TangentsError(f"pushforward: {what}")
    moved = {v: _known(v, point) for v, point in zip(wanted, points, strict=True)}
    for forms in (stable(outputs, moved), outputs):
        tangents_of = dict(moved)
        push(forms, tangents_of, use_op_pushforward)
        if all([v in tangents_of for v in forms]):
            break  # (what depends on nothing in one form may do so in the other)
    results = [_result(v, tangents_of, disconnected_outputs, return_disconnected) for v in forms]
    return _like(f, with_sources(results, [*outputs, *wanted, *points]))


@overload
def Rop(
    f: Form,
    wrt: Variable | Sequence[Variable],
    eval_points: TensorLike,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_rop_implementation: bool = False,
) -> Form: ...
@overload
def Rop(
    f: Variable | Sequence[Variable],
    wrt: Variable | Sequence[Variable],
    eval_points: TensorLike,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_rop_implementation: bool = False,
) -> Any: ...
def Rop(
    f: Any,
    wrt: Any,
    eval_points: Any,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_rop_implementation: bool = False,
) -> Any:
    """Return Jacobian-vector products: `pushforward` with its older name and arguments."""
    return pushforward(
        f, wrt, eval_points, disconnected_outputs, return_disconnected, use_op_rop_implementation
    )


def push(outputs: Sequence[Variable], tangents: dict[Variable, Any], by_rule: bool = False) -> None:
    """Add tangents for all variables from which outputs are computed.

    by_rule: raise an error for an op without an `R_op`.
    """
    for node in toposort(outputs, tangents):
        _push(node, tangents, by_rule)


def pushed(outputs: Sequence[Variable], tangents: dict[Variable, Any]) -> list[Any]:
    """Return the tangents of outputs from the tangents of root variables; disconnected if there is
    none.
    """
    outputs = stable(outputs, tangents)
    push(outputs, tangents)
    return [tangents[v] if v in tangents else disconnected() for v in outputs]


def _result(v: Any, tangents: dict[Variable, Any], how: str, stand_in: str) -> Any:
    found = tangents.get(v)
    if found is not None:
        return v.type.of_array(found) if isinstance(found.type, TensorType) else found
    if how != "ignore":
        where = v.owner.where() if v.owner is not None else None
        what = f"{v!r} of type {v.type} does not depend on the elements of the given variables"
        text = message(what, where=where)
        if how == "raise":
            raise DisconnectedInputError(text)
        warnings.warn(text, stacklevel=4)
    if stand_in == "none":
        return None
    return v.type.of_array(float_zeros(v)) if stand_in == "zero" else disconnected()


def _push(node: Apply, tangents: dict[Variable, Any], by_rule: bool) -> None:
    """Compute the tangents of the outputs of a node, if its inputs have any."""
    points = [tangents.get(v) for v in node.inputs]
    moved = [i for i, t in enumerate(points) if t is not None]
    pattern = connection_pattern(node)
    live = [
        j
        for j in range(len(node.outputs))
        if any(pattern is None or pattern[i][j] for i in moved)
    ]  # fmt: skip
    if not live:
        return
    if all(is_discrete(node.outputs[j]) for j in live):
        results: Sequence[Any] = [None] * len(node.outputs)
    else:
        results = _products(node, points, live, by_rule)
    for j in live:
        out = node.outputs[j]
        t = results[j]
        if isinstance(out.type, TensorType):
            tangents[out] = float_zeros(out) if t is None or is_discrete(out) else _fit(out, t)
        elif t is not None:
            tangents[out] = t


def _fit(out: Variable, t: Any) -> Any:
    dtype = gradient_dtype(out)
    return t if t.type.dtype == dtype or t.type.kind == "c" else cast(t, dtype)


def _products(
    node: Apply, points: Sequence[Any], live: Sequence[int], by_rule: bool
) -> Sequence[Any]:
    """Return tangents by the op's `R_op`, or by its reverse mode. None: zeros."""
    try:
        results = node.op.R_op(node.inputs, points)
    except MethodNotDefined as error:
        if by_rule:
            text = message(str(error), inputs=node.inputs, where=node.where())
            raise MethodNotDefined(text) from error
        return _by_double_reverse(node, points)
    except NotImplementedError as error:
        text = message(str(error), op=node.op, inputs=node.inputs, where=node.where())
        raise NullTypeGradError(text) from error
    if not isinstance(results, list | tuple) or len(results) != len(node.outputs):
        what = f"its R_op must return {len(node.outputs)} variables or None, one per output"
        raise GradientTermsError(message(what, op=node.op, inputs=node.inputs, where=node.where()))
    for t in results:
        if t is not None and is_null(t):
            text = message(
                "the derivative is null", op=node.op, where=node.where(), hint=t.type.why_null
            )
            raise NullTypeGradError(text)
    unsaid = [j for j in live if results[j] is None and not is_discrete(node.outputs[j])]
    if unsaid and by_rule:
        what = f"its R_op returns no derivative of output {unsaid[0]}"
        raise GradientTermsError(message(what, op=node.op, inputs=node.inputs, where=node.where()))
    found = _by_double_reverse(node, points) if unsaid else results
    results = [found[j] if j in unsaid else t for j, t in enumerate(results)]
    return [None if t is None or is_disconnected(t) else t for t in results]


def _by_double_reverse(node: Apply, points: Sequence[Any]) -> list[Any]:
    """Return Jacobian-vector products of one node: the gradient for u of the sum of <L_op(u),
    point>.

    (Separate variables represent its inputs, as some may be equal, or computed from others.)
    """
    known = [v if t is None else v.type.make_variable(v.name) for v, t in zip(node.inputs, points)]
    alone = node.clone_with_new_inputs(known)
    u = [v.type.clone(dtype=gradient_dtype(v)).make_variable() for v in node.outputs]
    moved = [v for v, t in zip(known, points, strict=True) if t is not None]
    inner = Reverse(list(zip(alone.outputs, u, strict=True)), {}, moved, frozenset())
    pulled = [inner.result(v) for v in moved]
    for v, g in zip(moved, pulled, strict=True):
        if is_null(g):
            raise NullTypeGradError(inner.why_null(v, g))
    given = [t for t in points if t is not None]
    pairs = [(g, t) for g, t in zip(pulled, given, strict=True) if not is_disconnected(g)]
    outer = Reverse(pairs, {}, u, frozenset())
    results = [outer.result(v) for v in u]
    stand_ins = {a: float_zeros(b) for a, b in zip(u, node.outputs, strict=True)}
    stand_ins.update(zip(known, node.inputs, strict=True))
    stand_ins.update(zip(alone.outputs, node.outputs, strict=True))
    return [
        None if is_disconnected(t) else graph_replace(t, stand_ins, strict=False) for t in results
    ]
