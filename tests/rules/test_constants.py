"""Signs and constants in nests of products and quotients: what they come to, where they stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import rewritten
from rewrite_engine.pipeline.phases import all_rules

x, y, z = pt.vectors("x y z")
f = pt.tensor("f", dtype="float32", shape=(None,))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (-(x * -y), "x * y"),
        (-(2 * x * -y), "2.0 * x * y"),
        (-(x * 2 * y), "x * -2.0 * y"),
        (-(x - y) * 2, "(y - x) * 2.0"),
        (-(-x / 2), "x * 0.5"),
        (-(2 / -x), "2.0 / x"),
        (2 * x / 4 / 3 * 6, "x"),
        (1 / (2 / (3 / (4 / x))), "0.375 * x"),
        (-(0.5 * x**-2) * 2, "-x ** -2.0"),
        # where it would overflow, or lose digits to an underflow
        (x * 1e-200 / 1e200, "x * 1e-200 / 1e+200"),
        (x / 1e200 / 1e200, "x / 1e+200 / 1e+200"),
        (x * 1e-200 * 1e-120 * x, "x * 1e-200 * 1e-120 * x"),
        (1e300 / (1e-300 * x), "1e+300 / (1e-300 * x)"),
        (1e300 * (x / 1e-300), "1e+300 * (x / 1e-300)"),
        (0 / (2 * x), "0.0 / (2.0 * x)"),
        (2 * x / 0, "2.0 * x / 0.0"),
        (1e308 + (x - -1e308), "1e+308 + (x - -1e+308)"),
        (f - np.float32(2.0**127) - np.float32(2.0**127), f"f - {2.0**127} - {2.0**127}"),
        # what is not a number times one operand
        (2 * x * y / 3, "2.0 * x * y / 3.0"),
        # the sigmoid is seen before its factor joins it
        (2 * (1 / (1 + pt.exp(-x))), "2.0 * sigmoid(x)"),
        (1 / (1 + pt.exp(-x)) / 2, "sigmoid(x) * 0.5"),
        (1 / (1 + pt.exp(-(2 * x))), "sigmoid(2.0 * x)"),
        (1 / (1 + pt.exp(-x / 2)), "sigmoid(x * 0.5)"),
    ],
    ids=str,
)
def test_signs_and_constants(term: pt.TensorVariable, expected: str) -> None:
    assert repr(rewritten(term)) == expected


def test_the_narrower_dtype_counts() -> None:
    """2**180 is a number in float64, but not in float32."""
    assert repr(rewritten(f * np.float32(2.0**90) / np.float32(2.0**-90))).count("*") == 2
    assert repr(rewritten(x * 2.0**90 / 2.0**-90)).count("*") == 1


def test_what_others_need_stays_and_its_constant_joins() -> None:
    k = 2 * x
    assert [repr(t) for t in rewritten(pt.sin(k), 3 * k, k * 4)] == [
        "sin(2.0 * x)",
        "6.0 * x",
        "8.0 * x",
    ]


def test_pairwise_rules_take_no_part_of_a_longer_product() -> None:
    rule = all_rules()["multiple_of_share"]
    assert "pairwise" in rule.tags
    number = pt.constant(3.0)
    assert rule.transform(None, pt.mul(number, x / 2.0).owner) is not None
    assert rule.transform(None, pt.mul(number, y, x / 2.0).owner) is None


def test_constants_that_meet_late_do_not_change_places_for_ever() -> None:
    """What fills a shape is a number beside others only when all is stable."""
    n = pt.lscalar("n")
    filled = pt.alloc(1.5, n)
    for term, want in [
        (5.5 - (2.25 - filled), 4.75), ((filled - 0.25) - 5.5, -4.25), (3 * (2 / filled), 4.0),
        ((3 / filled) / 2, 1.0), (2.25 + (filled - 5.5), -1.75), (5.5 - (2.25 + filled), 1.75),
    ]:  # fmt: skip
        np.testing.assert_allclose(rw.function([n], term)(2), [want, want])


def test_a_density_and_its_gradient_share_their_terms() -> None:
    """The factor of the error is one power of sd; no sign and no constant is left beside it."""
    sd = pt.dscalar("sd")
    value = -0.5 * sd**-2 * (1 - x[0]) ** 2
    f = rw.function([sd, x], [value, *rw.grad(value, [sd, x])], mode=rw.Mode().excluding("inplace"))
    ops = [str(node.op) for node in f.fgraph.toposort()]
    assert "neg" not in ops
    assert ops.count("mul") == 3
    got = f(2.0, [3.0, 5.0])
    assert [np.asarray(v).tolist() for v in got] == [-0.5, 0.5, [-0.5, 0.0]]


@pytest.mark.parametrize(
    "term",
    [
        lambda x, e: (x - 0.5) + e,
        lambda x, e: e + (x - 0.5),
        lambda x, e: (x - 0.5) - -e,
        lambda x, e: e - (0.5 - x),
        lambda x, e: pt.add(-0.5, x, e),
    ],
)
@pytest.mark.parametrize(("dtype", "small"), [("float64", 1e-20), ("float32", 1e-12)])
def test_a_number_that_keeps_a_difference_from_0_stays(term: Any, dtype: str, small: float) -> None:
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    f = rw.function([x], [term(x, small), 1 / term(x, small), term(x, 0.25)])
    value, quotient, joined = f(np.array([0.5, 2.0], dtype))
    np.testing.assert_allclose(value, np.array([small, 1.5], dtype), rtol=1e-6)
    np.testing.assert_allclose(quotient, np.array([1 / small, 1 / 1.5], dtype), rtol=1e-6)
    np.testing.assert_allclose(joined, np.array([0.25, 1.75], dtype))
    assert len(f.fgraph.outputs[2].owner.inputs) == 2  # one number beside x
