"""`grad` and `Lop`: results, options, what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import (
    DisconnectedInputError,
    DTypeError,
    ForeignObjectError,
    GradientError,
    MissingInputError,
    NDimError,
    NullTypeGradError,
    OptionError,
    ShapeError,
    TypeMismatchError,
)
from rewrite_engine.gradient import (
    Lop,
    grad,
    grad_not_implemented,
    grad_undefined,
    pullback,
    subgraph_grad,
)
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.null import DisconnectedType, NullType, disconnected, is_null
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.type import TensorType


class Odd(Op):
    """Passes its first input on; its gradient is whatever the test wants."""

    def __init__(self, gradient: Any = None, pattern: Any = None, dtype: str | None = None) -> None:
        self.gradient = gradient
        self.dtype = dtype
        if pattern is not None:
            self.connection_pattern = lambda node: pattern

    def infer_types(self, types: Any) -> Any:
        return [types[0] if self.dtype is None else types[0].clone(dtype=self.dtype)]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.asarray(inputs[0]).astype(node.outputs[0].type.dtype)

    def __str__(self) -> str:
        return "Odd"

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        if self.gradient is None:
            return super().L_op(inputs, outputs, output_gradients)
        return self.gradient(inputs, output_gradients)


class TwoOutputs(Op):
    """(2 x, 3 x); records the types of the gradients it is given."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [types[0], types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0], output_storage[1][0] = 2 * inputs[0], 3 * inputs[0]

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        self.seen = [type(g.type) for g in output_gradients]
        given = zip((2, 3), output_gradients, strict=True)
        terms = [c * g for c, g in given if not isinstance(g.type, DisconnectedType)]
        return [terms[0] if len(terms) == 1 else pt.add(*terms)]


# --- what comes out ---------------------------------------------------------------------------


def test_values():
    x, A = pt.dvector("x"), pt.dmatrix("A")
    cost = (pt.dot(A, x) ** 2).sum() + x[0] * x[1]
    xv, Av = np.array([1.0, 2, 3]), np.arange(6.0).reshape(2, 3)
    gx, gA = evaluate(grad(cost, [x, A]), {x: xv, A: Av})
    np.testing.assert_allclose(gx, 2 * Av.T @ Av @ xv + [2, 1, 0])
    np.testing.assert_allclose(gA, 2 * np.outer(Av @ xv, xv))


def test_the_form_of_wrt_is_the_form_of_the_result():
    x, y = pt.dscalars("x", "y")
    assert isinstance(grad(x * y, (x, y)), tuple)
    assert isinstance(grad(x * y, [x, y]), list)
    assert grad(x * y, x).type is x.type
    assert grad(x * y, []) == []


def test_the_cost_itself_and_intermediate_variables():
    x = pt.dscalar("x")
    y = x**2
    cost = y * 3
    gc, gy, gx = evaluate(grad(cost, [cost, y, x]), {x: 5.0})
    assert (gc, gy, gx) == (1, 3, 30)


def test_names():
    x = pt.dscalar("x")
    cost = x**2
    assert grad(cost, x).name is None
    cost.name = "cost"
    assert grad(cost, x).name == "(dcost/dx)"
    assert grad(cost, x, add_names=False).name is None
    assert x.name == "x"


def test_broadcasting_is_summed_back():
    shapes = [(2, 3), (3,), (1, 3), (2, 1), ()]
    xs = [TensorType("float64", [1 if n == 1 else None for n in s])() for s in shapes]
    values = [np.ones(s) * (i + 2) for i, s in enumerate(shapes)]
    gs = grad(pt.mul(*xs).sum(), xs)
    got = evaluate(gs, dict(zip(xs, values, strict=True)))
    whole = np.prod([2, 3, 4, 5, 6])
    for g, v, x, symbolic in zip(got, values, xs, gs, strict=True):
        assert g.shape == v.shape
        np.testing.assert_allclose(g, whole / v * 6 / v.size)
        assert x.type.is_super(symbolic.type)


def test_dtypes():
    x, y = pt.fvector("x"), pt.dvector("y")
    gx, gy = grad((x * y).sum(), [x, y])
    assert (gx.type.dtype, gy.type.dtype) == ("float32", "float64")
    config.floatX = "float32"
    i = pt.lvector("i")
    assert grad((i * x).sum(), i).type.dtype == "float32"


def test_a_variable_used_often_gets_one_sum():
    x = pt.dscalar("x")
    cost = pt.add(*[pt.sin(k * x) for k in range(1, 50)])
    g = grad(cost, x)
    assert g.owner.op is pt.add
    assert len(g.owner.inputs) == 49


# --- integers ---------------------------------------------------------------------------------


def test_an_integer_input_has_the_gradient_of_a_float():
    i, x = pt.lvector("i"), pt.dvector("x")
    g = grad((i * x).sum(), i)
    assert g.type.dtype == "float64"
    assert evaluate([g], {i: [1, 2], x: [0.5, 3.0]})[0].tolist() == [0.5, 3]


def test_the_gradient_through_an_integer_is_zero():
    x = pt.dvector("x")
    y = pt.cast(x, "int64")
    gy, gx = grad(0.5 * pt.cast(y, "float64").sum(), [y, x])
    got = evaluate([gy, gx], {x: [1.5, 2.5]})
    assert got[0].tolist() == [0.5, 0.5]
    assert got[1].tolist() == [0, 0]


def test_zeros_leave_no_trace_in_the_graph():
    x = pt.dvector("x")
    g = grad(pt.switch(x > 0, x**2, 0.0).sum(), x)
    alone = grad(pt.switch(pt.zeros_like(x, dtype="bool"), x**2, 0.0).sum(), x)
    assert len(toposort([g])) <= len(toposort([alone])) + 1
    assert evaluate([g], {x: [-1.0, 2.0]})[0].tolist() == [0, 4]


def test_an_op_with_integer_results_needs_no_gradient():
    x = pt.dvector("x")
    y = Odd(dtype="int64")(x)
    g = grad((y * x).sum(), x)
    assert evaluate([g], {x: [1.5, 2.5]})[0].tolist() == [1, 2]


def test_gradients_given_to_ops_are_never_integers():
    seen = []

    def spy(inputs, output_gradients):
        seen.extend(output_gradients)
        return [output_gradients[0]]

    x = pt.fvector("x")
    grad((Odd(spy)(x) * pt.lvector()).sum(), x)
    assert [g.type.dtype for g in seen] == ["float32"]


# --- disconnected -----------------------------------------------------------------------------


def test_disconnected_inputs_raise():
    x, y = pt.dvector("x"), pt.dvector("y")
    cost = (x**2).sum()
    with pytest.raises(DisconnectedInputError, match=r"elements of y of type [\s\S]*test_rev"):
        grad(cost, [x, y])
    with pytest.warns(UserWarning, match="does not depend on the elements of y"):
        g = grad(cost, y, disconnected_inputs="warn")
    assert evaluate([g], {y: np.ones(3)})[0].tolist() == [0, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ignored = [
            grad(cost, y, disconnected_inputs="ignore", return_disconnected=how)
            for how in ("zero", "none", "disconnected")
        ]
    assert ignored[0].type == y.type
    assert ignored[1] is None
    assert isinstance(ignored[2].type, DisconnectedType)


def test_options_are_checked():
    x = pt.dscalar()
    for options in (
        {"disconnected_inputs": "maybe"},
        {"return_disconnected": "one"},
        {"null_gradients": "zero"},
    ):
        with pytest.raises(OptionError, match="must be one of"):
            grad(x, x, **options)


def test_only_a_shape_is_used():
    x = pt.dvector("x")
    with pytest.raises(DisconnectedInputError):
        grad(pt.ones_like(x).sum(), x)
    with pytest.raises(DisconnectedInputError):
        grad((pt.alloc(1.0, x.shape[0])).sum(), x)


def test_connection_pattern_is_followed():
    x, y = pt.dscalars("x", "y")
    op = Odd(lambda ins, gs: [gs[0], gs[0]], pattern=[[True], [False]])
    assert evaluate([grad(op(x, y), x)], {x: 1.0, y: 2.0})[0] == 1
    with pytest.raises(DisconnectedInputError):
        grad(op(x, y), y)


def test_inputs_of_an_output_without_gradient_are_disconnected():
    class Apart(TwoOutputs):
        """Each output is of one input; gives zeros where it has no gradient."""

        def connection_pattern(self, node: Any) -> Any:
            return [[True, False], [False, True]]

        def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
            return [pt.zeros_like(x) if isinstance(g.type, DisconnectedType) else g
                    for x, g in zip(inputs, output_gradients, strict=True)]  # fmt: skip

    x, y = pt.dscalars("x", "y")
    a, b = Apart()(x, y)
    assert grad(a, x) is not None
    assert grad(a + b, y) is not None
    for cost, other in ((a, y), (b, x)):
        with pytest.raises(DisconnectedInputError):
            grad(cost, other)


def test_an_unused_output_has_a_disconnected_gradient():
    x = pt.dscalar("x")
    a, b = TwoOutputs()(x)
    assert evaluate([grad(a, x)], {x: 1.0})[0] == 2
    assert a.owner.op.seen == [TensorType, DisconnectedType]
    assert evaluate([grad(a + b, x)], {x: 1.0})[0] == 5
    assert a.owner.op.seen == [TensorType, TensorType]


def test_consider_constant():
    x = pt.dscalar("x")
    y = x**2
    g = grad(y * x, x, consider_constant=[y])
    assert evaluate([g], {x: 3.0})[0] == 9
    with pytest.raises(DisconnectedInputError):
        grad(y * 2, x, consider_constant=[y])
    gy, gx = grad(y * x, [y, x], consider_constant=y)
    assert evaluate([gy, gx], {x: 3.0}) == [3, 9]


def test_part_of_a_graph():
    """Layer by layer, as by the whole cost."""
    x, t = pt.dvectors("x", "t")
    w1, w2 = pt.dmatrices("w1", "w2")
    a1 = pt.tanh(x @ w1)
    cost2, cost1 = pt.sqr(pt.tanh(a1 @ w2) - t).sum() + w2.sum() ** 2, pt.sqr(w1).sum()
    (g2,), (ga1,) = subgraph_grad([w2], [a1], cost=cost2)
    (g1,), (gx,), (at_start,), (at_cost,) = subgraph_grad(
        [w1], [x], start={a1: ga1}, cost=cost1, details=True
    )
    rng = np.random.default_rng(0)
    at = {x: rng.normal(size=3), t: rng.normal(size=2), w1: rng.normal(size=(3, 4))}
    at[w2] = rng.normal(size=(4, 2))
    want = grad(cost1 + cost2, [w1, w2, x]) + [grad(cost2, w1), grad(cost1, w1)]
    got = evaluate([g1, g2, gx, at_start, at_cost], at)
    for g, h in zip(got, evaluate(want, at), strict=True):
        np.testing.assert_allclose(g, h)
    assert subgraph_grad([w1], [x], cost=cost1, details=True)[2] == []
    assert evaluate(subgraph_grad([t], [], cost=cost1)[0], at)[0].tolist() == [0, 0]
    for wrong in ({"wrt": w1, "end": []}, {"wrt": [w1], "end": x}, {"start": [1]}):
        with pytest.raises(OptionError, match="subgraph_grad"):
            subgraph_grad(**{"wrt": [w1], "end": [x], "cost": cost1, **wrong})
    with pytest.raises(OptionError, match="a cost or a start"):
        subgraph_grad([w1], [x])


# --- null -------------------------------------------------------------------------------------


def test_a_null_gradient_names_op_line_and_reason():
    x = pt.dscalar("x")
    undefined = Odd(lambda ins, gs: [grad_undefined("Odd", 0, ins[0], "it jumps")])
    y = undefined(x)
    text = r"Odd: the gradient for x[\s\S]*test_reverse.py[\s\S]*is undefined: it jumps"
    with pytest.raises(NullTypeGradError, match=text):
        grad(y**2, x)
    g = grad(y**2, x, null_gradients="return")
    assert isinstance(g.type, NullType)
    assert "it jumps" in g.type.why_null


def test_null_travels_on_to_the_variables_below():
    x, z = pt.dscalars("x", "z")
    missing = Odd(lambda ins, gs: [grad_not_implemented("Odd", 0, ins[0])])
    cost = missing(x * z) + z
    with pytest.raises(NullTypeGradError, match=r"Odd: [\s\S]*not implemented"):
        grad(cost, x)
    assert is_null(grad(cost, z, null_gradients="return"))
    w = pt.dscalar("w")
    assert evaluate([grad(cost * w, w)], {x: 1.0, z: 2.0, w: 0.0})[0] == 4


def test_null_where_nobody_asks_is_no_error():
    x, y = pt.dscalars("x", "y")
    op = Odd(lambda ins, gs: [gs[0], grad_undefined("Odd", 1, ins[1])])
    assert evaluate([grad(op(x, y), x)], {x: 1.0, y: 1.0})[0] == 1


def test_an_undefined_gradient_stays_undefined_where_zero_flows():
    x = pt.dscalar("x")
    undefined = Odd(lambda ins, gs: [grad_undefined("Odd", 0, ins[0])])
    with pytest.raises(NullTypeGradError):
        grad(pt.cast(undefined(x) > 0, "float64"), x)


# --- known gradients, Lop ---------------------------------------------------------------------


def test_known_grads():
    x = pt.dvector("x")
    y = x**2
    g = grad(None, x, known_grads={y: np.array([1.0, 10.0])})
    assert evaluate([g], {x: [3.0, 4.0]})[0].tolist() == [6, 80]
    g = grad((y * 5).sum(), x, known_grads={y: pt.ones_like(y)})
    assert evaluate([g], {x: [3.0, 4.0]})[0].tolist() == [6, 8]
    with pytest.raises(NDimError, match="must have 1 dimension, not 0"):
        grad(None, x, known_grads={y: 1.0})
    with pytest.raises(DTypeError, match="must have a float dtype"):
        grad(None, x, known_grads={y: np.array([1, 2])})
    with pytest.raises(OptionError, match="grad requires a cost"):
        grad(None, x)


def test_lop():
    A, x, v = pt.dmatrix("A"), pt.dvector("x"), pt.dvector("v")
    values = {A: np.arange(6.0).reshape(2, 3), x: np.ones(3), v: np.array([1.0, 2.0])}
    got = evaluate([Lop(pt.dot(A, x), x, v)], values)[0]
    np.testing.assert_allclose(got, values[A].T @ values[v])
    (named,) = pullback(f=[pt.dot(A, x)], wrt=[x], cotangents=[v])
    np.testing.assert_allclose(evaluate([named], values)[0], got)
    with pytest.raises(TypeMismatchError, match="2 f and 1 eval_points"):
        Lop([x, x], x, v)
    with pytest.raises(DisconnectedInputError):
        Lop(x, A, v)


def test_lop_adds_up_where_one_f_depends_on_another():
    x = pt.dscalar("x")
    a = x**2
    b = a * 3
    got = evaluate([Lop([a, b], x, [pt.constant(1.0), pt.constant(1.0)])], {x: 2.0})[0]
    assert got == 4 + 12


# --- bad input --------------------------------------------------------------------------------


def test_costs_that_are_refused():
    x = pt.dvector("x")
    with pytest.raises(NDimError, match=r"has 1[\s\S]*test_reverse.py[\s\S]*sum"):
        grad(x**2, x)
    with pytest.raises(DTypeError, match="complex128"):
        grad(pt.zscalar(), x)
    with pytest.raises(ForeignObjectError, match="the cost must be a variable"):
        grad(1.0, x)
    with pytest.raises(ForeignObjectError, match="wrt must be variables"):
        grad(x.sum(), "x")
    with pytest.raises(NullTypeGradError, match="because I say so"):
        grad(NullType("because I say so")(), x)
    with pytest.raises(DTypeError, match="0-d tensor"):
        grad(disconnected(), x)


@pytest.mark.parametrize(
    ("gradient", "error", "text"),
    [
        (lambda ins, gs: [pt.lscalar()], DTypeError, "gradients must be floats"),
        (lambda ins, gs: [pt.dvector()], NDimError, "has 1 dimension, but the input has 0"),
        (lambda ins, gs: [None], GradientError, "must be a variable, not None"),
        (lambda ins, gs: [gs[0], gs[0]], GradientError, "1 gradients, one per input, not 2"),
        (lambda ins, gs: gs[0], GradientError, "one per input, not"),
        (None, GradientError, "has no gradient"),
    ],
)
def test_an_op_whose_gradient_is_wrong_is_named(gradient, error, text):
    x = pt.dscalar("x")
    with pytest.raises(error, match=rf"^Odd: [\s\S]*{text}[\s\S]*test_reverse.py"):
        grad(Odd(gradient)(x), x)


def test_a_gradient_of_another_static_shape_is_refused():
    x = TensorType("float64", (3,))("x")
    op = Odd(lambda ins, gs: [TensorType("float64", (4,))()])
    with pytest.raises(ShapeError, match=r"has shape \(4,\), but the input has \(3,\)"):
        grad(op(x).sum(), x)


def test_a_gradient_function_that_raises_names_the_op():
    x = pt.dscalar("x")

    def fails(ins, gs):
        raise ZeroDivisionError("oh")

    with pytest.raises(ZeroDivisionError) as info:
        grad(Odd(fails)(x), x)
    assert "Odd: raised while building the gradient of this op" in info.value.__notes__[0]


def test_static_ones_are_kept():
    x = TensorType("float64", (1,))("x")
    op = Odd(lambda ins, gs: [pt.dvector("wide")])
    assert grad(op(x).sum(), x).type.shape == (1,)


def test_values_that_are_missing():
    with pytest.raises(MissingInputError, match="a value for x is missing"):
        evaluate([pt.dscalar("x") + 1], {})
