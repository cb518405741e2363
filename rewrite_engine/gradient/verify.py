"""`verify_grad`: comparison of symbolic gradients with finite differences at a point.

The output is projected on a random direction, so that one gradient checks a whole Jacobian. Values
are computed by the ops' own thunks in topological order, or by a compiled function with `mode=`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rewrite_engine.errors import (
    DTypeError,
    GradientError,
    MissingInputError,
    OptionError,
    message,
    refuse_options,
)
from rewrite_engine.gradient.reverse import grad
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs, toposort
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.math import mul
from rewrite_engine.tensor.reduce import sum as sum_
from rewrite_engine.tensor.type import TensorType

#: dtype: (step of the differences, absolute tolerance, relative tolerance)
STEPS = {
    "float64": (6e-6, 1e-6, 1e-5),
    "float32": (5e-3, 1e-2, 1e-2),
    "float16": (5e-2, 1e-1, 1e-1),
}


class Evaluator:
    """Evaluator that computes variables repeatedly for values of inputs, without compiling them.

    sparing: whether in-place ops overwrite copies of their inputs.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], sparing: bool = False
    ) -> None:
        self.sparing = sparing
        self.cells: dict[Variable, list[Any]] = {v: [None] for v in inputs}
        for v in explicit_graph_inputs(outputs):
            if v not in self.cells:
                raise MissingInputError(message(f"a value for {v!r} is missing", inputs=[v]))
        nodes = toposort(outputs, inputs)
        for node in nodes:
            for v in (*node.inputs, *node.outputs):
                self.cells.setdefault(v, [v.data] if isinstance(v, Constant) else [None])
        for v in outputs:
            self.cells.setdefault(v, [v.data] if isinstance(v, Constant) else [None])
        self.thunks = [self._thunk(node) for node in nodes]
        self.inputs, self.outputs = list(inputs), list(outputs)

    def _thunk(self, node: Apply) -> Callable[[], Any]:
        """Return the thunk of a node; with `sparing` it overwrites copies, as other nodes may read
        the values.
        """
        thunk: Callable[[], Any] = node.op.make_thunk(node, self.cells, None, node.outputs)
        overwritten = {i for inputs in node.op.destroy_map.values() for i in inputs}
        if not (self.sparing and overwritten):
            return thunk
        cells = [self.cells[node.inputs[i]] for i in sorted(overwritten)]

        def on_copies() -> None:
            values = [cell[0] for cell in cells]
            for cell in cells:
                cell[0] = deepcopy(cell[0])
            thunk()
            for cell, value in zip(cells, values, strict=True):
                cell[0] = value

        return on_copies

    def __call__(self, *values: Any) -> list[Any]:
        """Return the values of the outputs."""
        for v, value in zip(self.inputs, values, strict=True):
            self.cells[v][0] = value
        for thunk in self.thunks:
            thunk()
        return [np.asarray(self.cells[v][0]) for v in self.outputs]


def evaluate(outputs: Sequence[Variable], givens: dict[Variable, Any]) -> list[Any]:
    """Return the values of variables, computed once from values of inputs.

    The values are converted to the types of the inputs. Raises `MissingInputError`.
    """
    values = [v.type.filter(value) for v, value in givens.items()]
    return Evaluator(list(givens), outputs)(*values)


def verify_grad(
    fun: Callable[..., Any],
    pt: Sequence[Any],
    n_tests: int = 2,
    rng: np.random.Generator | None = None,
    eps: float | None = None,
    out_type: str | None = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Any = None,
    cast_to_output_type: bool = False,
    no_debug_ref: bool = True,
) -> None:
    """Check the gradients of `fun` at the point `pt` against central differences.

    fun: takes as many variables as `pt` has arrays (floats; else `DTypeError`) and returns one real
    variable; if its dtype is an integer or bool, the gradient must be 0. n_tests: number of random
    projections of the output. rng: generator of the projections. eps: step size. abs_tol, rel_tol:
    an element passes if either error is below its tolerance. mode: mode to compile with; by default
    the ops' thunks run. cast_to_output_type has no effect: the projection always has the dtype of
    the output. `out_type` and `no_debug_ref` must keep their defaults (`OptionError`). Raises
    `GradientError` with the element and the argument that differ, and by how much.
    """
    why = "outputs keep their types, and there is no debug mode"
    refuse_options("verify_grad", why, out_type=out_type)
    if not no_debug_ref:
        raise OptionError(f"verify_grad: no_debug_ref=False is not supported: {why}")
    points = _points("verify_grad", pt)
    rng = np.random.default_rng(4711) if rng is None else rng
    step, atol, rtol = _largest([STEPS[p.dtype.name] for p in points])
    step = step if eps is None else eps
    atol = atol if abs_tol is None else abs_tol
    rtol = rtol if rel_tol is None else rel_tol
    inputs = [_input(p, i) for i, p in enumerate(points)]
    output = fun(*inputs)
    _check_output(output)
    (value,) = _evaluator(inputs, [output], mode)(*points)
    for _ in range(n_tests):
        direction = rng.uniform(0.5, 1.5, value.shape) * rng.choice([-1, 1], value.shape)
        dtype = output.type.dtype if output.type.kind == "f" else "float64"
        cost = sum_(mul(output, constant(direction, dtype=dtype)))
        gradients = grad(cost, inputs, disconnected_inputs="ignore")
        run = _evaluator(inputs, [cost], mode)
        symbolic = _evaluator(inputs, gradients, mode)(*points)
        for i, analytic in enumerate(symbolic):
            numeric = _differences(run, points, i, step)
            _compare(fun, i, analytic, numeric, points[i], atol, rtol)


class numeric_grad:  # noqa: N801 (the name that others have)
    """Gradient of a function by central differences: `gf`, an array, or a list of them.

    f: takes as many float arrays as `pt` has (or one, if `pt` is an array), and returns a number.
    eps: step size. Raises `DTypeError` for arrays of other dtypes.

    >>> import numpy as np
    >>> from rewrite_engine.gradient import numeric_grad
    >>> numeric_grad(lambda x: (x**2).sum(), np.array([1.0, 2.0])).gf.round(6)
    array([2., 4.])
    """

    def __init__(self, f: Any, pt: Any, eps: float | None = None, out_type: Any = None) -> None:
        refuse_options("numeric_grad", "results keep their types", out_type=out_type)
        points = _points("numeric_grad", pt if isinstance(pt, list | tuple) else [pt])
        step = _largest([STEPS[p.dtype.name] for p in points])[0] if eps is None else eps

        def run(*values: Any) -> list[Any]:
            return [f(*values)]

        found = [_differences(run, points, i, step).astype(p.dtype) for i, p in enumerate(points)]
        self.gf = found if isinstance(pt, list | tuple) else found[0]

    @staticmethod
    def abs_rel_err(a: Any, b: Any) -> tuple[Any, Any]:
        """Return the absolute error |a - b|, and the relative one, divided by |a| + |b|."""
        error = abs(a - b)
        return error, error / np.maximum(abs(a) + abs(b), 1e-8)


def _points(name: str, given: Sequence[Any]) -> list[np.ndarray]:
    """Return the arrays at which a gradient is checked. Raise `DTypeError`."""
    points = [np.array(p) for p in given]
    for i, p in enumerate(points):
        if p.dtype.name not in STEPS:
            raise DTypeError(f"{name}: argument {i} must be a float array, but is {p.dtype}")
    return points


def _largest(steps: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Return the step and tolerances of the least precise argument."""
    return max(steps, default=STEPS["float64"])


def _input(p: np.ndarray, i: int) -> Any:
    shape = [1 if n == 1 else None for n in p.shape]
    return TensorType(p.dtype, shape)(f"input {i}")


def _check_output(output: Any) -> None:
    if not isinstance(output, Variable) or not isinstance(output.type, TensorType):
        raise DTypeError(
            f"verify_grad: the function must return one tensor variable, not {output!r}"
        )
    if output.type.kind == "c":
        raise DTypeError(message("verify_grad: the output must have a real dtype", inputs=[output]))


def _evaluator(inputs: list[Variable], outputs: list[Variable], mode: Any) -> Callable[..., Any]:
    if mode is None:
        return Evaluator(inputs, outputs, sparing=True)

    def run(*values: Any) -> list[Any]:
        givens: dict[Any, Any] = dict(zip(inputs, values, strict=True))
        return [v.eval(givens, mode=mode, on_unused_input="ignore") for v in outputs]

    return run


def _differences(
    run: Callable[..., Any], points: list[np.ndarray], i: int, step: float
) -> np.ndarray:
    """Return the gradient of a 0-d function for argument `i`, by central differences."""
    moved = [p.copy() for p in points]
    x = moved[i]
    result = np.empty(x.shape, dtype=np.float64)
    root = float(np.sqrt(np.finfo(x.dtype).eps))
    for index in np.ndindex(x.shape):
        at = x[index]
        h = max(step, root * abs(at))  # beside a huge number, a step that counts
        x[index] = at + h
        above, high = float(x[index]), float(run(*moved)[0])
        x[index] = at - h
        below, low = float(x[index]), float(run(*moved)[0])
        x[index] = at
        result[index] = (high - low) / (above - below)
    return result


def _compare(
    fun: Any, i: int, analytic: Any, numeric: Any, p: np.ndarray, atol: float, rtol: float
) -> None:
    """Raise `GradientError` if two gradients differ."""
    name = getattr(fun, "__name__", str(fun))
    if analytic.shape != p.shape:
        what = f"its gradient for argument {i} has shape {analytic.shape}, the argument {p.shape}"
        raise GradientError(message(what, op=name))
    absolute = np.abs(analytic - numeric)
    relative = absolute / np.maximum(np.abs(analytic) + np.abs(numeric), 1e-300)
    bad = ~((absolute <= atol) | (relative <= rtol))
    if not bad.any():
        return
    worst = np.unravel_index(np.argmax(np.where(bad, absolute, -1)), p.shape)
    index = tuple(int(k) for k in worst)
    what = (
        f"its gradient for argument {i} is wrong at index {index}: symbolic {analytic[index]}, "
        f"numeric {numeric[index]} (error {absolute[index]:.3g}, allowed {atol:.3g}; "
        f"relative {relative[index]:.3g}, allowed {rtol:.3g}); "
        f"{int(bad.sum())} of {bad.size} differ"
    )
    raise GradientError(message(what, op=name))
