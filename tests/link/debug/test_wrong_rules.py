"""Rules, facts and ranges that are wrong: each is found, by the right name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.debug import DebugMode
from rewrite_engine.errors import (
    AssumptionError,
    BadEvidence,
    BadOptimization,
    InvalidValueError,
    StochasticOrder,
)
from rewrite_engine.facts import nonneg
from rewrite_engine.graph.op import Op
from rewrite_engine.language import Vector, approx, exact, given, node_rewriter, rule
from rewrite_engine.match.fact import because, fact, unknown
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.scalar import ScalarOp
from rewrite_engine.scalar.dtype import float_dtype

x = pt.dvector("x")
i = pt.lvector("i")
CHECKED = DebugMode(check_isfinite=False)


@rule(phase="specialize")
def sine_is_linear(a):
    """Near 0 it nearly is."""
    return pt.sin(a) >> a


@rule(phase="specialize", claim=exact)
def power_of_two(a):
    """Off by some units, and it claims that there are none."""
    return pt.exp2(a) >> pt.exp(a * 0.6931471805599453)


@rule(phase="canonicalize")
def nan_is_lost(a):
    """atan(a - a) is 0, but not of a NaN."""
    return pt.arctan(a - a) >> pt.second(a, 0.0)


@rule(phase="specialize")
def log_of_negative_factors(a, b):
    """Where both are below 0, it is NaN."""
    return pt.log(a * b) >> pt.log(a) + pt.log(b)


@rule(phase="specialize", claim=approx(16))
def rational_tangent(a):
    """A few digits."""
    return pt.tanh(a) >> a * (27 + a**2) / (27 + 9 * a**2)


@rule(phase="specialize")
def one_is_missing(a: Vector):
    """The last element."""
    return pt.cosh(a) >> 0.5 * (pt.exp(a[:-1]) + pt.exp(-a[:-1]))


@rule(phase="specialize")
def seven_elements(a: Vector):
    """It fails for any other number of them."""
    return pt.sinh(a) >> pt.specify_shape(0.5 * (pt.exp(a) - pt.exp(-a)), (7,))


@rule(phase="specialize")
def sign_is_lost(a):
    """Of integers below 0 it is another one."""
    return pt.abs(a) >> a


@rule(phase="specialize")
def signs_do_not_count(a):
    """Minus infinity becomes infinity."""
    return pt.log1p(a) >> pt.arctanh(pt.abs(a))


@node_rewriter([pt.expm1], phase="specialize")
def written_in_python(fgraph, node):
    """exp(x) - 1 with a wrong number."""
    return pt.exp(node.inputs[0]) - 1.001


A, B = np.array([0.5, 1.0, 2.0]), np.array([-3, 3, -4])
WRONG: list[tuple[Any, Any, Any, Any, str]] = [
    (sine_is_linear, x, pt.sin(x), A, "off by 3.71e+14 units, was 0.0919"),
    (power_of_two, x, pt.exp2(x), A * 7.3, "other bits"),
    (nan_is_lost, x, pt.arctan(x - x), A * np.array([1, np.nan, 1]), "NaN becomes a number"),
    (log_of_negative_factors, x, pt.log(x * pt.sin(x)), -A, "a number becomes NaN"),
    (rational_tangent, x, pt.tanh(x), A / 9, "off by 9.13e+11 units, was 0.578"),
    (one_is_missing, x, pt.cosh(x), A, "another dtype or shape"),
    (seven_elements, x, pt.sinh(x), A, "the term after it raises SpecifiedShapeError"),
    (sign_is_lost, i, pt.abs(i), B, "other values"),
    (signs_do_not_count, x, pt.log1p(-x), A, "off by 1.12e+16 units, was 0.209"),
    (written_in_python, x, pt.expm1(x), A, "off by 9.01e+12 units, was 0.426"),
]


@pytest.mark.parametrize(
    ("wrong", "v", "y", "value", "text"), WRONG, ids=lambda a: getattr(a, "name", "")
)
def test_wrong_rules(wrong: Any, v: Any, y: Any, value: Any, text: str) -> None:
    f = rw.function([v], y * 2, mode=CHECKED + wrong)
    with pytest.raises(BadOptimization) as caught:
        f(value)
    error = caught.value
    assert f", in {wrong.phase}, claims {wrong.claim}: {text}" in str(error).splitlines()[0]
    assert error.rule is wrong
    assert type(error) is BadOptimization
    message = str(error)
    assert message.startswith(f"the rule {wrong.name} ({wrong.where[0]}:{wrong.where[1]}: @")
    assert "before: " in message
    assert "after: " in message
    assert "test_wrong_rules.py" in message
    if "raises" not in text:
        assert "first difference: " in message
        assert np.shape(error.old_val) == value.shape


def test_the_same_rules_are_not_noticed_otherwise() -> None:
    f = rw.function([x], pt.sin(x), mode=rw.Mode() + sine_is_linear)
    np.testing.assert_array_equal(f(A), A)
    small = rw.function([x], pt.sin(x), mode=CHECKED + sine_is_linear)
    np.testing.assert_array_equal(small([0.0]), [0.0])  # on this value it is right


def test_rules_inside_of_graphs_in_ops() -> None:
    op = rw.compile.OpFromGraph([x], [pt.sin(x) + 1])
    f = rw.function([x], op(x * 2), mode=CHECKED + sine_is_linear)
    with pytest.raises(BadOptimization, match="sine_is_linear"):
        f(A)
    states, _ = rw.scan(lambda s: pt.sin(s), outputs_info=x, n_steps=5)
    g = rw.function([x], states, mode=CHECKED + sine_is_linear)
    with pytest.raises(BadOptimization, match="sine_is_linear"):
        g(A)


def test_operands_that_do_not_commute() -> None:
    class Minus(Op):
        """A difference, which says that its operands may be exchanged."""

        __props__ = ()
        commutative = True
        itypes, otypes = [pt.dvector, pt.dvector], [pt.dvector]

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0] - inputs[1]

    y = pt.dvector("y")
    minus = Minus()
    f = rw.function([x, y], [minus(x, y), minus(y, x)], mode=CHECKED)
    with pytest.raises(BadOptimization, match="two nodes that were merged as equal are not"):
        f(A, A[::-1].copy())


def test_a_driver_that_gives_no_reason() -> None:
    class Halves(GraphRewriter):
        def run(self, fgraph: Any, result: Any) -> None:
            (out,) = fgraph.outputs
            fgraph.replace(out, out / 2)

    f = rw.function([x], pt.exp(x), mode=DebugMode(Halves()))
    with pytest.raises(BadOptimization, match="replacement without a reason"):
        f(A)


# --- facts, ranges, what ops say of their values --------------------------------------------------


class Below(Op):
    """A vector that may be below 0."""

    __props__ = ()
    itypes = otypes = [pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] - 1.5


class Increasing(Below):
    __props__ = ()
    implied = {"increasing": True}

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0][::-1].copy()


class KeepsSigns(Below):
    __props__ = ()
    implied = {"nonneg": "nonneg"}


class AsksFacts(Below):
    __props__ = ()
    implied = {"nonneg": lambda facts, v: facts.finite(v)}


class Limited(Below):
    __props__ = ()
    limits = (0.0, 10.0)


class Chooses(Below):
    __props__ = ()
    elements = slice(0, 1)


def shifted(v: Any, out: Any = None) -> Any:
    return np.subtract(v, 0.5, out=out)


in_range = pt.Elemwise(
    ScalarOp("shifted_down", 1, compute=shifted, inner=float_dtype, dtypes=float_dtype,
             range="(0, inf)")
)  # fmt: skip
rising = pt.Elemwise(
    ScalarOp("falls", 1, compute=lambda v, out=None: np.negative(v, out=out), inner=float_dtype,
             dtypes=float_dtype, increasing=True)
)  # fmt: skip
OPS = [
    (Increasing(), "increasing, because"),
    (KeepsSigns(), "nonneg, because"),
    (AsksFacts(), "nonneg, because"),
    (Limited(), "numbers between 0 and 10"),
    (Chooses(), "each element is one of an operand"),
    (in_range, r"positive, because.*\(range, keeps, implied\)"),
    (rising, r"numbers between .* \(range, bounds\)"),
]


@pytest.mark.parametrize(("op", "text"), OPS, ids=lambda a: str(a)[:20])
def test_what_ops_say_of_their_values(op: Any, text: str) -> None:
    f = rw.function([x], op(x), mode=CHECKED)
    with pytest.raises(InvalidValueError, match=text) as caught:
        f(A - 0.25)
    assert str(caught.value).startswith(str(op))
    assert "test_wrong_rules.py" in str(caught.value)


@pytest.fixture
def wrong_case() -> Iterator[None]:
    """A case of a shipped fact that is wrong."""

    @nonneg.case(Below)
    def never_below(v: Any) -> Any:
        return because("a result of Below")

    yield
    del nonneg.cases[Below]


@pytest.mark.usefixtures("wrong_case")
def test_a_wrong_case_of_a_fact() -> None:
    f = rw.function([x], pt.abs(Below()(x)), mode=CHECKED)
    with pytest.raises(BadEvidence, match=r"the fact nonneg\(.*\) was claimed") as caught:
        f(A)
    assert caught.value.fact is nonneg
    assert "a result of Below" in str(caught.value.evidence)
    assert "test_wrong_rules.py" in str(caught.value)


@fact
def tiny(v: Any) -> Any:
    """Whether all elements are near 0: wrong of sines."""
    if v.owner is not None and v.owner.op == pt.sin:
        return because("a sine")
    return unknown("it may be large")


@tiny.test
def is_tiny(value: Any) -> bool:
    """Whether they are."""
    return bool((abs(value) < 1e-3).all())


@rule(phase="specialize")
def cosine_of_tiny(a):
    """1, of what is near 0."""
    return pt.cos(a) >> pt.second(a, 1.0), given(tiny(a))


def test_a_wrong_fact_of_ones_own() -> None:
    f = rw.function([x], pt.cos(pt.sin(x)), mode=CHECKED + cosine_of_tiny)
    with pytest.raises(BadEvidence, match=r"tiny\(sin\(x\)\) was claimed, because a sine"):
        f(A)


def test_a_declaration_that_does_not_hold() -> None:
    f = rw.function([x], pt.abs(rw.assume(x, nonneg=True)), mode=CHECKED)
    np.testing.assert_array_equal(f(A), A)
    with pytest.raises(AssumptionError, match="x is not nonneg, as declared at .*rules.py"):
        f(-A)


# --- order ----------------------------------------------------------------------------------------

turn = [0]


@node_rewriter([pt.tan], phase="specialize", claim=approx(64))
def by_turns(fgraph, node):
    """Another thing each time, both of them right."""
    turn[0] += 1
    (v,) = node.inputs
    double = 2 * v
    sine, cosine = pt.sin(double), pt.cos(double)
    return (1 - cosine) / sine if turn[0] % 2 else sine / (1 + cosine)


def test_rewriting_that_is_not_determined() -> None:
    with pytest.raises(
        StochasticOrder, match=r"run 2 of rewriting the same graph differs from step 1 on"
    ) as caught:
        rw.function([x], pt.tan(x), mode=CHECKED + by_turns)
    assert "by_turns" in str(caught.value)
    once = DebugMode(stability_patience=1, check_isfinite=False) + by_turns
    np.testing.assert_allclose(rw.function([x], pt.tan(x), mode=once)(A), np.tan(A))
