"""Operands of different dtypes: rules keep the dtype, and compute nothing in fewer digits, or bits,
than the term as it was written.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError, RuleTypeError
from rewrite_engine.graph.traverse import depends_on
from rewrite_engine.match.pattern import Literal
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rules.language import rule
from tests.rules.instances import RULES, SHAPES, Builder, is_computed, parameter_choices
from tests.rules.test_claims import bits, by_rule, no_worse, sides, values
from tests.tensor.evaluate import evaluate

KINDS = ["float64", "float32", "int64", "int32", "int8", "bool"]


class Mixed(Builder):
    """Makes a term of a left side whose operands, and numbers, have dtypes of their own."""

    def __init__(self, of: DataRule, choose: random.Random, choice: int) -> None:
        shapes, parameters = choose.choice(SHAPES), choose.choice(parameter_choices(of))
        super().__init__(of, "float64", shapes, parameters, choice)
        self.choose = choose

    def fill(self, pattern: Any) -> Any:
        if isinstance(pattern, Literal):
            typed = np.asarray(pattern.value).astype(self.choose.choice(KINDS[:-1]))
            if typed == pattern.value and self.choose.random() < 0.5:
                return pt.constant(typed)
        return super().fill(pattern)

    def fresh(self, name: str, hole: Any) -> Any:
        for dtype in self.choose.sample(KINDS, len(KINDS)):
            self.dtype = dtype
            try:
                return super().fresh(name, hole)
            except TypeError:  # the sort wants another kind
                continue
        raise TypeError(f"no dtype is {hole.sort}")


@by_rule
def test_a_rule_on_operands_of_different_dtypes(rule: DataRule) -> None:
    choose = random.Random(rule.name)
    rng = np.random.default_rng(1)
    for choice in range(40):
        builder = Mixed(rule, choose, choice)
        try:
            term = builder.term()
        except (RewriteEngineError, TypeError):
            continue  # no such term
        new = sides(rule, term) if is_computed(term) else None
        if new is None:
            continue
        given = {
            v: rng.choice(values(v.type.dtype, True, True), tuple([s or 4 for s in v.type.shape]))
            for v in builder.inputs
        }
        with np.errstate(all="ignore"):
            try:
                before = evaluate(term, given)
            except (TypeError, ValueError):
                continue  # shapes or values that the left side refuses
            after = evaluate(new, given)
        told = f"{rule}\n{[v.type for v in given]}\n{before}\n{after}\n{list(given.values())}"
        assert (before.dtype, before.shape) == (after.dtype, after.shape), told
        if rule.promise.kind == "exact":
            assert bits(before) == bits(after), told
        elif before.dtype.kind == "f" and not rule.short_name.endswith("_in_product"):
            term.tag.operands = [v for v in builder.bound.values() if is_computed(v)]
            no_worse(rule, term, given, before, after, told)
        elif before.dtype.kind == "f":  # a float64 times a float32 on both sides, not the same one
            known = np.isfinite(before) & (before != 0)  # a denominator may have been inf
            np.testing.assert_allclose(after[known], before[known], rtol=1e-4, atol=1e-30)
        else:
            assert np.array_equal(before, after), told


def test_all_rules_were_there() -> None:
    assert len(RULES) > 80


i, j = pt.lvectors("i j")
k = pt.vector("k", dtype="uint8")
x, y = pt.dvectors("x y")
s = pt.fvector("s")


def typed(number: Any, dtype: str) -> Any:
    return pt.constant(np.asarray(number, dtype))


SAME = {
    "a power of integers that is none of integers": (i**2.0, [3]),
    "another": (typed([2], "uint8") ** 2.0 + i, [3]),
    "numbers of few bits in a product": (i * typed(100, "int8") * typed(100, "int8"), [7]),
    "in a sum": (typed(100, "int8") + (typed(100, "int8") + i), [7]),
    "of few digits in a product": (x * typed(0.1, "float32") * typed(0.3, "float32"), [1.7]),
    "in a nest": (typed(0.1, "float32") * (typed(0.3, "float32") * x), [1.7]),
    "in a quotient": (typed(1, "float32") / (typed(3, "float32") * x), [1.7]),
    "in quotients": (x / typed(0.1, "float32") / typed(0.3, "float32"), [1.7]),
    "a product of integers that overflows": (0.5 * (typed(4, "uint8") * k), [253]),
    "a sum of integers that overflows": ((i + i) * 2.0, [2**62]),
    "terms that are sums that overflow": ((k + k) + x[:1] + (k + k), [200], [0.5]),
    "like terms that are left as integers": (0.0 * i + i, [7]),
    "like products that are left as integers": (0.5 * i * j + 0.5 * (i * j), [2**32], [2**31]),
    "a choice among choices": (pt.switch(k > 1, pt.switch(k > 1, k, x), k), [3], [0.5]),
}


@pytest.mark.parametrize("name", SAME)
def test_terms_of_different_dtypes_keep_their_values(name: str) -> None:
    term, *given = SAME[name]
    inputs = [v for v in (i, j, k, x) if depends_on(term, [v])]
    arrays = [np.asarray(a, v.type.dtype) for a, v in zip(given, inputs, strict=True)]
    plain = rw.function(inputs, term, mode=rw.Mode(optimizer=None))(*arrays)
    found = rw.function(inputs, term)(*arrays)
    assert found.dtype == plain.dtype
    if plain.dtype.kind == "f":
        np.testing.assert_array_max_ulp(found, plain, 4)
    else:
        assert np.array_equal(found, plain)


def test_sums_keep_their_digits() -> None:
    term = (typed(2.0, "float64") * s).sum()
    values = np.array([3e38, 3e38, -3e38], "float32")
    np.testing.assert_allclose(rw.function([s], term)(values), 6e38, rtol=1e-6)


@rule(phase="canonicalize")
def first_choice(c, u, v):  # type: ignore[no-untyped-def]
    """(v, which the right side does not have, may have widened the type.)"""
    return pt.switch(c, u, v) >> pt.neg(u)


@rule(phase="canonicalize")
def truth(u):  # type: ignore[no-untyped-def]
    """Wrong whatever u is."""
    return pt.sqr(u) >> pt.gt(u, 0)


def test_a_rule_that_drops_what_widened_the_type_does_not_apply() -> None:
    assert sides(first_choice, pt.switch(k > 1, x, 2.0)) is not None
    assert sides(first_choice, pt.switch(k > 1, k, x)) is None
    with pytest.raises(RuleTypeError, match="changes the type"):
        sides(truth, pt.sqr(x))
