"""Minima and roots of graphs, found by SciPy, with gradients by the implicit function theorem.

`minimize`, `minimize_scalar`, `root` and `root_scalar` return terms: the solution for the current
values of all other variables. The search starts at the value of the variable itself. If the
equations F(x, a) = 0 hold at a solution, it changes with the parameters by dx/da = -(dF/dx)⁻¹ dF/da
(S. Krantz & H. Parks, "The Implicit Function Theorem", 2002); for a minimum F is the gradient of
the objective.

>>> import rewrite_engine.tensor as pt
>>> x, a = pt.dscalars("x", "a")
>>> solution, success = minimize_scalar((x - a) ** 2 + 1, x)
>>> round(float(solution.eval({x: 0.0, a: 3.0})), 6)
3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, InputError, NDimError, OptionError, dimensions
from rewrite_engine.gradient import Lop, Rop, grad, hessian, jacobian
from rewrite_engine.graph.inner import HasInnerGraph, inlined
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import graph_inputs, truncated_graph_inputs
from rewrite_engine.tensor.type import TensorType

__all__ = ["minimize", "minimize_scalar", "root", "root_scalar"]

FLAG = TensorType("bool", ())


class Settings(dict[str, Any]):
    """Keyword arguments of a function, as a parameter of an op. Equal settings have equal
    hashes.
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(_frozen(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and _frozen(self) == _frozen(other)


def _frozen(value: Any) -> Any:
    """Return a hashable value to compare in place of dicts, lists and arrays."""
    if isinstance(value, Mapping):
        return tuple(sorted((name, _frozen(v)) for name, v in value.items()))
    if isinstance(value, list | tuple):
        return tuple([_frozen(v) for v in value])
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


class _Search(HasInnerGraph, Op):
    """Base op that finds an x by a function of SciPy.

    Inputs: the starting x, and all other variables that the graph depends on. Outputs: the x found,
    and whether SciPy reports it as a solution.

    The outputs of the graph are the function and as many derivatives by x as SciPy uses. settings:
    further arguments of SciPy's function, and its `method`. within: names of those arguments of
    SciPy that are the last inputs, vectors that the graph does not depend on.
    """

    __props__ = ("structure", "settings", "within")
    output_names = ("solution", "success")
    nout = 2

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        settings: Settings,
        within: Sequence[str] = (),
    ) -> None:
        self.settings = settings
        self.within = tuple(within)
        self.hold(inputs, outputs)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.settings['method']}}}"

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op. Raise the errors of the types for values of other types."""
        pairs = zip(self.inner_inputs, inputs, strict=True)
        variables = tuple([own.type.filter_variable(x) for own, x in pairs])
        types = self.infer_types(tuple([v.type for v in variables]))
        return build_node(self, variables, types, user_origin())

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the type of x, and the type of a flag."""
        return self.inner_inputs[0].type, FLAG

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        """Return the shape of x, and the shape () of the flag."""
        return [shapes[0], ()]

    def runs(self, node: Apply, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that searches; it runs the graph once for each x."""
        dtype = self.inner_inputs[0].type.numpy_dtype
        alone, count = len(self.inner_outputs) == 1, len(self.within)

        def search(x: Any, *parameters: Any) -> tuple[Any, Any]:
            def values(at: Any) -> list[Any]:
                found = body(np.asarray(at, dtype).reshape(np.shape(x)), *parameters)
                return [found] if alone else list(found)

            ends = [tuple(ends.tolist()) for ends in parameters[len(parameters) - count :]]
            given = {**dict(zip(self.within, ends, strict=True)), **self.settings}
            solution, success = self.search(x, _Remembered(values), given)
            return np.asarray(solution, dtype).reshape(np.shape(x)), np.asarray(bool(success))

        return search

    def search(self, x: Any, values: _Remembered, given: dict[str, Any]) -> tuple[Any, Any]:
        """Return the solution, and whether SciPy reports success.

        given: further arguments of SciPy's function.
        """
        raise NotImplementedError

    # --- derivatives --------------------------------------------------------------------------

    def equations(self, x: Any, outputs: Sequence[Any]) -> Any:
        """Return the terms that are 0 at a solution, from the graph's outputs there."""
        raise NotImplementedError

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect the starting point and the search interval: the solution does not depend on
        them.
        """
        last = len(node.inputs) - len(self.within)
        return [[0 < i < last, False] for i in range(len(node.inputs))]

    def _at(self, inputs: Sequence[Any]) -> tuple[list[Any], Any, Any]:
        """Return variables for x and the parameters, the terms that are 0 at a solution, and the
        flat matrix of their derivatives by x. (Inputs may be computed from each other.)
        """
        own = [v.type(v.name) for v in inputs]
        x, f = own[0], self.equations(own[0], inlined(self.make_node(*own)))
        slopes = jacobian(f, x, disconnected_inputs="ignore")
        return own, f, slopes.reshape((f.size, x.size)) if x.type.ndim else slopes

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients for the parameters, by the implicit function theorem."""
        g = output_gradients[0]
        if is_disconnected(g):
            return [disconnected() for _ in inputs]
        own, f, slopes = self._at(inputs)
        change = (
            pt.linalg.solve(slopes.T, g.flatten()).reshape(f.shape) if f.type.ndim else g / slopes
        )
        wanted = own[1:]
        found = Lop([f], wanted, [-change], None, "ignore", "disconnected") if wanted else []
        given = dict(zip(own, [outputs[0], *inputs[1:]], strict=True))
        return [disconnected(), *graph_replace(found, given, strict=False)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent of the solution, by the implicit function theorem."""
        solution = self.make_node(*inputs).outputs[0]
        own, f, slopes = self._at(inputs)
        pairs = [(v, t) for v, t in zip(own[1:], eval_points[1:], strict=True) if t is not None]
        if not pairs:
            return [None, None]
        moved = Rop(f, [v for v, _ in pairs], [t for _, t in pairs], "ignore")
        flat = (
            pt.linalg.solve(slopes, moved.flatten()).reshape(own[0].shape)
            if f.type.ndim
            else moved / slopes
        )
        given = dict(zip(own, [solution, *inputs[1:]], strict=True))
        return [graph_replace(-flat, given, strict=False), None]


class _Remembered:
    """Function that remembers its last value, as SciPy calls a function and its derivatives
    separately.
    """

    def __init__(self, values: Callable[[Any], list[Any]]) -> None:
        self.values, self.at, self.found = values, np.empty(0), list[Any]()

    def part(self, k: int) -> Callable[..., Any]:
        """Return the function that computes the k-th value."""

        def value(x: Any, *_: Any) -> Any:
            x = np.asarray(x)
            if not self.found or not np.array_equal(x, self.at):
                self.at, self.found = x.copy(), self.values(x)
            found = self.found[k]
            return float(found) if not np.ndim(found) else found

        return value


class Minimize(_Search):
    """Op that minimizes a function of a vector by `scipy.optimize.minimize`."""

    def search(self, x: Any, values: _Remembered, given: dict[str, Any]) -> tuple[Any, Any]:
        from scipy.optimize import minimize

        n = len(self.inner_outputs)
        jac, hess = (values.part(1) if n > 1 else None, values.part(2) if n > 2 else None)
        found = minimize(values.part(0), x, jac=jac, hess=hess, **given)
        return found.x, found.success

    def equations(self, x: Any, outputs: Sequence[Any]) -> Any:
        return grad(outputs[0], x)


class MinimizeScalar(_Search):
    """Op that minimizes a function of one number by `scipy.optimize.minimize_scalar`.

    It searches within the brackets, whatever the value of x.
    """

    def search(self, x: Any, values: _Remembered, given: dict[str, Any]) -> tuple[Any, Any]:
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(values.part(0), **given)
        return found.x, found.success

    equations = Minimize.equations


class Root(_Search):
    """Op that finds a root of a vector function by `scipy.optimize.root`."""

    def search(self, x: Any, values: _Remembered, given: dict[str, Any]) -> tuple[Any, Any]:
        from scipy.optimize import root

        jac = values.part(1) if len(self.inner_outputs) > 1 else None
        found = root(values.part(0), x, jac=jac, **given)
        return found.x, found.success

    def equations(self, x: Any, outputs: Sequence[Any]) -> Any:
        return outputs[0]


class RootScalar(_Search):
    """Op that finds a root of a function of one number by `scipy.optimize.root_scalar`."""

    def search(self, x: Any, values: _Remembered, given: dict[str, Any]) -> tuple[Any, Any]:
        from scipy.optimize import root_scalar

        n = len(self.inner_outputs)
        slopes = {name: values.part(k) for k, name in ((1, "fprime"), (2, "fprime2")) if n > k}
        found = root_scalar(values.part(0), x0=float(x), **slopes, **given)
        return found.root, found.converged

    equations = Root.equations


# --- functions --------------------------------------------------------------------------------


def minimize(
    objective: Any,
    x: Any,
    method: str = "BFGS",
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Return the `x` that minimizes a 0-d `objective`, and whether SciPy's `minimize` succeeded.

    Both are terms for the values of all other variables that the objective depends on. The search
    starts at the value of x.

    x: a float variable, or several (then the solution is a list). method, optimizer_kwargs: see
    `scipy.optimize.minimize`. jac, hess: whether to pass the gradient and the Hessian to SciPy.
    use_vectorized_jac has no effect: all rows are computed at once. Raises `NDimError`,
    `DTypeError`, and `InputError` if the objective does not depend on x.

    >>> x = pt.dvector("x")
    >>> solution, success = minimize(((x - [1.0, 2.0]) ** 2).sum(), x)
    >>> solution.eval({x: [0.0, 0.0]}).round(6)
    array([1., 2.])
    """
    cost = _checked(objective, "objective", 0)
    flat, start, cost, parts = _flat(cost, x)
    if hess and not jac:
        raise OptionError(located("minimize: hess=True requires jac=True"))
    outputs = [cost, *([grad(cost, flat)] if jac else []), *([hessian(cost, flat)] if hess else [])]
    found, success = _found(Minimize, flat, start, outputs, method, optimizer_kwargs)
    return parts(found), success


def root(
    equations: Any,
    variables: Any,
    method: str = "hybr",
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Return the `variables` at which all `equations` are 0, and whether SciPy's `root` succeeded.

    There must be as many equations as elements of the variables. The other arguments and the errors
    are described in `minimize`.

    >>> x, a = pt.dvectors("x", "a")
    >>> solution, success = root(x**3 - a, x)
    >>> solution.eval({x: [1.0, 1.0], a: [8.0, 27.0]}).round(6)
    array([2., 3.])
    """
    wanted = _checked(equations, "equations", None)
    flat, start, wanted, parts = _flat(wanted, variables)
    wanted = wanted.flatten()
    slopes = [jacobian(wanted, flat, disconnected_inputs="ignore")] if jac else []
    found, success = _found(Root, flat, start, [wanted, *slopes], method, optimizer_kwargs)
    return parts(found), success


def minimize_scalar(
    objective: Any,
    x: Any,
    method: str = "brent",
    bracket: Any = None,
    bounds: Any = None,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Return the 0-d `x` that minimizes a 0-d `objective`, and whether SciPy's `minimize_scalar`
    succeeded. The result does not depend on the value of x.

    bracket: two or three numbers to start from. Of three, the middle one has the smallest value;
    two are the start of a search for such a triple. bounds: two ends of the search interval
    (method="bounded"); the gradient is that of a minimum in its interior. Both may be variables.
    optimizer_kwargs: further arguments of SciPy's function. Raises `NDimError`, `DTypeError`,
    `InputError`, `OptionError`.

    >>> x, a = pt.dscalars("x", "a")
    >>> solution, success = minimize_scalar(pt.cos(x), x, method="bounded", bounds=(0.0, 2 * a))
    >>> round(float(solution.eval({x: 0.0, a: 2.5})), 4)
    3.1416
    """
    cost, x = _checked(objective, "objective", 0), _checked(x, "x", 0)
    within = {"bracket": bracket, "bounds": bounds}
    return _found(MinimizeScalar, x, x, [cost], method, optimizer_kwargs, within)


def root_scalar(
    equation: Any,
    variable: Any,
    method: str = "secant",
    jac: bool = False,
    hess: bool = False,
    bracket: Any = None,
    optimizer_kwargs: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Return the 0-d `variable` at which a 0-d `equation` is 0, and whether SciPy's `root_scalar`
    succeeded.

    jac, hess: whether to pass the first and the second derivative to SciPy. bracket: two numbers,
    or variables, between which the equation changes its sign, for "brentq", "bisect" and similar
    methods. Raises `NDimError`, `DTypeError`, `InputError`, `OptionError`.

    >>> x, a = pt.dscalars("x", "a")
    >>> solution, success = root_scalar(x**2 - a, x, method="newton", jac=True)
    >>> round(float(solution.eval({x: 1.0, a: 2.0})), 6)
    1.414214
    """
    f, x = _checked(equation, "equation", 0), _checked(variable, "variable", 0)
    slopes = [grad(f, x)] if jac or hess else []
    slopes += [grad(slopes[0], x)] if hess else []
    return _found(RootScalar, x, x, [f, *slopes], method, optimizer_kwargs, {"bracket": bracket})


def _checked(v: Any, what: str, ndim: int | None) -> Any:
    """Return `v` as a variable of floats. Raise `DTypeError`, `NDimError`."""
    v = pt.as_tensor_variable(v)
    if v.type.kind != "f":
        raise DTypeError(located(f"the {what} must have a float dtype", inputs=[v]))
    if ndim is not None and v.type.ndim != ndim:
        raise NDimError(located(f"the {what} must have {dimensions(ndim)}", inputs=[v]))
    return v


def _flat(f: Any, x: Any) -> tuple[Any, Any, Any, Callable[[Any], Any]]:
    """Return one vector for one variable or several, its starting value, `f` as a function of it,
    and a function that turns the vector into the variables again.
    """
    several = isinstance(x, list | tuple)
    xs = [_checked(v, "variables", None) for v in (x if several else [x])]
    if not several and xs[0].type.ndim == 1:
        return xs[0], xs[0], f, lambda found: found
    start, shapes = pt.pack(*xs)
    flat = start.type("x")

    def parts(found: Any) -> Any:
        each = [p.astype(v.type.dtype) for p, v in zip(pt.unpack(found, shapes), xs, strict=True)]
        return each if several else each[0]

    pieces = parts(flat)
    pairs = dict(zip(xs, pieces if several else [pieces], strict=True))
    return flat, start, graph_replace(f, pairs, strict=False), parts


def _found(
    kind: type[_Search],
    x: Any,
    start: Any,
    outputs: Sequence[Any],
    method: str,
    settings: Mapping[str, Any] | None,
    within: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Apply a search op. Raise `InputError`, `OptionError`."""
    roots = truncated_graph_inputs(outputs, [x])
    if x not in roots:
        raise InputError(located(f"{outputs[0]!r} does not depend on {x!r}"))
    fixed = {v for v in roots if all([isinstance(r, Constant) for r in graph_inputs([v])])}
    others = [v for v in roots if v is not x and v not in fixed]
    ends = {name: _ends(name, x, v) for name, v in (within or {}).items() if v is not None}
    twice = [name for name in ends if name in (settings or {})]
    if twice:
        raise OptionError(
            located(f"{twice[0]} is an argument and also a key of optimizer_kwargs: pass it once")
        )
    own = [x, *others, *[v.type() for v in ends.values()]]
    op = kind(own, outputs, Settings(settings or {}, method=method), [*ends])
    solution, success = op(start, *others, *ends.values())
    return solution, success


def _ends(name: str, x: Any, value: Any) -> Any:
    """Return the ends of the search interval, with the dtype of x. Raise `NDimError`."""
    ends = pt.as_tensor_variable(value)
    if ends.type.ndim != 1:
        raise NDimError(located(f"{name} must have two or three numbers, not type {ends.type}"))
    return ends.astype(x.type.dtype)
