"""Complex numbers: rules that claim exact values keep every bit of both parts, beside real numbers,
too; the others make nothing of what is infinite into NaN.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.match.rule import DataRule
from tests.rules.instances import CONSTANTS, KINDS, RULES, SHAPES, Builder, parameter_choices
from tests.rules.test_claims import bits, sides
from tests.tensor.evaluate import evaluate

PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-9, 0.7, 20.0, np.inf, -np.inf, np.nan]
DTYPES = ["complex128", "complex128", "complex64", "float64"]


class Complex(Builder):
    """Makes a term of a left side whose operands are complex, or real floats."""

    def __init__(self, of: DataRule, choose: random.Random, choice: int) -> None:
        shapes, parameters = choose.choice(SHAPES), choose.choice(parameter_choices(of))
        super().__init__(of, "complex128", shapes, parameters, choice)
        self.choose = choose

    def fresh(self, name: str, hole: Any) -> Any:
        self.dtype = self.choose.choice(DTYPES)
        if name != "condition" and self.dtype[0] not in KINDS.get(hole.sort, "fc"):
            raise TypeError(f"{self.dtype} is no {hole.sort}")
        if self.dtype == "float64" or name == "condition":
            return super().fresh(name, hole)
        if hole.sort in CONSTANTS:
            number = np.asarray([2.0, -3.0 + 1j][self.choice % 2], self.dtype)
            return pt.constant(number)
        real, self.dtype = self.dtype, "float64"
        v = super().fresh(name, hole)
        self.inputs[-1] = v = pt.tensor(name, dtype=real, shape=v.type.shape)
        return v


def numbers(rng: Any, type_: Any) -> Any:
    shape = tuple([4 if s is None else s for s in type_.shape])
    real, imaginary = rng.choice(PARTS, (2, *shape))
    if type_.dtype == "bool":
        return real > 0
    with np.errstate(invalid="ignore"):
        value = np.asarray(real + 1j * imaginary if type_.kind == "c" else real)
    return value.astype(type_.dtype)


def parts(a: Any) -> Any:
    """The bits of an array; a complex number of which a part is NaN is NaN."""
    if a.dtype.kind != "c":
        return bits(a)
    a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return bits(np.stack([a.real, a.imag]))


def by_promise(*kinds: str) -> Any:
    rules = [r for r in RULES if r.promise.kind in kinds]
    return pytest.mark.parametrize("rule", rules, ids=lambda r: r.name)


def cases(rule: DataRule) -> Any:
    choose, rng = random.Random(rule.name), np.random.default_rng(1)
    for choice in range(40):
        builder = Complex(rule, choose, choice)
        try:
            term = builder.term()
        except (RewriteEngineError, TypeError):
            continue  # no such term
        new = sides(rule, term) if getattr(term, "owner", None) is not None else None
        if new is None or "c" not in {v.type.kind for v in builder.inputs}:
            continue
        given = {v: numbers(rng, v.type) for v in builder.inputs}
        with np.errstate(all="ignore"):
            try:
                before = evaluate(term, given)
            except (TypeError, ValueError):
                continue
            yield before, evaluate(new, given), f"{rule}\n{given}"


@by_promise("exact")
def test_exact_rules_keep_the_bits_of_complex_numbers(rule: DataRule) -> None:
    for before, after, told in cases(rule):
        assert before.dtype == after.dtype, told
        assert parts(before) == parts(after), f"{told}\n{before}\n{after}"


@by_promise("refines", "approx")
def test_complex_numbers_that_are_none_stay_so(rule: DataRule) -> None:
    for before, after, told in cases(rule):
        assert before.dtype == after.dtype, told
        known = ~np.isnan(before)
        assert not np.isnan(after[known]).any(), f"{told}\n{before}\n{after}"


PLAIN = rw.Mode(optimizer=None)
z = pt.tensor("z", dtype="complex128", shape=(None,))


def test_like_terms_that_are_infinite_are_no_nan() -> None:
    term = z + z + (z - (-z))
    values = [np.inf + 1j, 1 - np.inf * 1j, 2 + 3j]
    found = rw.function([z], term)(values)
    expected = rw.function([z], term, mode=PLAIN)(values)
    np.testing.assert_array_equal(found, expected)


def test_squares_of_complex_numbers_keep_their_bits() -> None:
    values = np.array([1e38 + 1e38j, 0.7 + 0.7j, 3 - 1j])
    plain = rw.function([z], z**2, mode=PLAIN)(values)
    assert rw.function([z], z**2)(values).tobytes() == plain.tobytes()


def test_the_sign_of_a_zero_decides_on_a_logarithm() -> None:
    term = pt.log(-(1.0 * z))
    mode = rw.Mode("fast_run").excluding("approx", "refines")
    found = rw.function([z], term, mode=mode)([2 + 0j])
    np.testing.assert_array_equal(
        found, rw.function([z], term, mode=rw.Mode(optimizer=None))([2 + 0j])
    )
