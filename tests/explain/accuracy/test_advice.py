"""Each suggestion restores digits of an example, and its two sides in words are equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.advice import ADVICE, FORMS, letters
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.xtensor import xtensor

ROOT = Path(__file__).resolve().parents[3]
x, y = pt.vectors("x y")
a, b = pt.matrices("a b")
NEAR = np.array([1.1, 2.3, 5.7])
CLOSE = NEAR * (1 + 1e-13)
#: term, inputs, values: of each pattern, an example that loses digits
EXAMPLES = {
    "variance by squares": (pt.mean(x * x) - pt.mean(x) ** 2, [x], [1e7 + NEAR]),
    "covariance by products": (
        pt.mean(x * y) - pt.mean(x) * pt.mean(y), [x, y], [1e7 + NEAR, 1e7 + NEAR**2]
    ),
    "log of determinant": (pt.log(pt.linalg.det(a)), [a], [np.eye(9) * 1e-60]),
    "log of absolute determinant": (pt.log(abs(pt.linalg.det(a))), [a], [np.eye(9) * 1e60]),
    "softmax by exponentials": (pt.exp(x) / pt.exp(x).sum(keepdims=True), [x], [NEAR * 1000]),
    "log of summed exponentials": (pt.log(pt.exp(x).sum()), [x], [NEAR * 1000]),
    "one minus cosine": (1 - pt.cos(x), [x], [NEAR * 1e-7]),
    "root of squares": (pt.sqrt(x**2 + y**2), [x, y], [NEAR * 1e200, NEAR]),
    "log of one plus": (pt.log(1 + x), [x], [NEAR * 1e-12]),
    "exponential minus one": (pt.exp(x) - 1, [x], [NEAR * 1e-12]),
    "difference of exponentials": (pt.exp(x) - pt.exp(y), [x, y], [NEAR, CLOSE]),
    "difference of logarithms": (pt.log(x) - pt.log(y), [x, y], [NEAR + 1, CLOSE + 1]),
    "difference of roots": (pt.sqrt(x) - pt.sqrt(y), [x, y], [NEAR, CLOSE]),
    "root minus number": (pt.sqrt(y**2 + x) - y, [x, y], [NEAR * 1e-10, NEAR]),
    "root of difference minus number": (pt.sqrt(y**2 - x) - y, [x, y], [NEAR * 1e-10, NEAR]),
    "difference of squares": (x**2 - y**2, [x, y], [NEAR + 0.1, CLOSE + 0.1]),
    "one minus tanh": (1 - pt.tanh(x), [x], [NEAR * 10]),
    "one minus erf": (1 - pt.erf(x), [x], [NEAR * 5]),
    "normal equations": (
        pt.linalg.solve(a.T @ a, a.T @ x), [a, x],
        [np.vander(np.linspace(0, 1, 20), 9), np.sin(np.arange(20.0))],
    ),
    "log of product": (pt.log(pt.prod(x)), [x], [NEAR * 1e-200]),
}  # fmt: skip
#: modes in which rules do not restore the digits before
PLAIN = rw.Mode("vm").excluding("stabilize", "canonicalize", "specialize", "equations")


@pytest.mark.parametrize("name", EXAMPLES)
def test_suggestions_restore_digits(name):
    term, inputs, values = EXAMPLES[name]
    report = rw.accuracy(rw.function(inputs, term, mode=PLAIN), *values)
    (output,) = report.outputs
    assert output.is_lossy
    found = {one.name: one for one in report.suggestions}
    assert name in found, str(report)
    assert found[name].digits > output.compiled + 4
    assert found[name].why in str(report).replace("\n  ", " ")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_two_sides_in_words_are_the_terms(name):
    """With NumPy's functions and this library's: at ordinary numbers both give the same."""
    (advice,) = [one for one in ADVICE if one.name == name]
    rng = np.random.default_rng(0)
    values = {"x": rng.uniform(0.5, 1, 4), "y": rng.uniform(1, 1.5, 4)}
    values |= {"a": np.eye(3) + rng.uniform(0, 0.1, (3, 3)), "b": np.eye(3)}
    names = {k: k for k in values}
    functions = {k: getattr(pt, k) for k in dir(pt)} | {
        "det": pt.linalg.det, "slogdet": pt.linalg.slogdet, "inv": pt.linalg.inv,
        "solve": pt.linalg.solve, "lstsq": pt.linalg.lstsq,
    }  # fmt: skip
    variables = {k: pt.as_tensor(v) for k, v in values.items()}
    sides = [
        eval(side.format(**names), functions | variables).eval()
        for side in (advice.found, advice.write)
    ]
    np.testing.assert_allclose(*sides, rtol=1e-9)


def test_the_page_lists_all_patterns():
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    names = {k: k for k in "xyab"}
    rows = [f"| `{one.found.format(**names)}` | `{one.write.format(**names)}` |" for one in ADVICE]
    assert [row for row in rows if row not in page] == []


def test_every_pattern_has_an_example():
    """But the inverse: it loses digits only of matrices that lose them anyway."""
    assert {one.name for one in ADVICE} - {*EXAMPLES} == {"product with inverse"}


@pytest.mark.parametrize("rule", [*(a.rule for a in ADVICE), *FORMS], ids=str)
def test_no_mode_applies_these_rules(rule):
    assert rule.claim.condition == "these_inputs"
    assert rule not in all_rules()


def test_other_forms_of_a_difference():
    """The formula for quadratic equations, as it is usually written."""
    p, q, r = pt.dscalars("p q r")
    root = (-q + pt.sqrt(q**2 - 4 * p * r)) / (2 * p)
    report = rw.accuracy(rw.function([p, q, r], root), 1.0, 1e8, 1.0)
    (one,) = report.suggestions
    assert one.write == "-(4.0 * p * r) / (sqrt(q**2 - (4.0 * p * r)) + q)"
    assert one.digits > 15


def test_nothing_is_suggested_that_does_not_help():
    """At these numbers 1 - cos(x) has all digits."""
    report = rw.accuracy(rw.function([x], 1 - pt.cos(x), mode=PLAIN), [1.0, 2.0])
    assert report.suggestions == ()


def test_arrays_with_named_dimensions():
    """They are lowered to tensors first."""
    v = xtensor("v", dims=("a", "b"))
    mode = rw.Mode("fast_run").excluding("variance_by_squares")
    f = rw.function([v], (v * v).mean(dim="a") - v.mean(dim="a") ** 2, mode=mode)
    (one,) = rw.accuracy(f, 1e7 + np.outer(NEAR, NEAR)).suggestions
    assert one.name == "variance by squares"
    assert one.found == "mean(TensorFromXTensor(v)**2) - mean(TensorFromXTensor(v))**2"


def test_long_terms_get_letters():
    long = pt.exp(x) + pt.log(x) * pt.sin(x) + 3
    names = letters({"x": long, "y": x, "n": 3})
    assert names == {"x": "u", "y": "x"}
    assert letters({"x": x + 1.0}) == {"x": "(x + 1.0)"}
