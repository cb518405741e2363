"""What rules promise about values: each rule alone, over dtypes, shapes and special values.

The two sides are computed with `Op.perform`. "exact" is compared bit by bit (a NaN is a NaN); for
the others, what is finite on the left is as near to a multi-precision reference on the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rewrite_engine.graph.node import Variable
from rewrite_engine.match.rule import DataRule
from tests.rules.instances import DTYPES, GIVEN, RULES, instances
from tests.rules.reference import errors, reference
from tests.tensor.evaluate import evaluate

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-3, -1e-9, 1e-17, -1e-17, 1e-30, 20.0, -20.0, 36.5,
    -37.0,
    88.0, -100.0, 0.7, -13.37, 47.11, -33.3, -333.3, -81.9, 81.3, 700.0, -745.0, 710.0, -1000.0,
    1000.0, np.nan, np.inf, -np.inf,
]  # fmt: skip
EDGES = [5e-324, -5e-324, 2e-308, -2e-308, 1e300, -1e300, 1.7e308, -1.7e308, 1e-45, 1e38, -3e38]
INTEGERS = [0, 1, -1, 2, 3, -3, 100, 127, -128, -127, 64]
LONG = [2**31, -(2**31), 2**62, 2**63 - 1, -(2**63)]

#: the values sums are made of: results are compared with what is added up, so nothing may cancel,
#: nor underflow
PLAIN = [0.0, 0.5, 1.0, 1.5, 3.0, 1e-3, 1e-9, 20.0, 0.7, 0.1, 1e5, 83.7, 555.5, 601.3]
SUMS = (
    "reduce/", "dot/", "softmax/softmax_gradient", "softmax/softmax_denominator",
    "softmax/softmax_of_all_denominator", "exp_log/sigmoid_in_product",
)  # fmt: skip

#: sums inside a logarithm: near 0 no digit of the result is safe, on neither side
LOGARITHMS = (
    "log_of_softmax", "log_softmax_from_difference", "log_of_sum_of_exp", "log_of_sum_of_exps",
)  # fmt: skip

by_rule = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)


def values(dtype: str, sums: bool, assumed: bool) -> Any:
    if dtype == "bool":
        return np.array([True, False])
    if dtype[0] == "i":
        more = LONG if dtype == "int64" else []
        return np.array(INTEGERS + more, dtype)
    plain = np.array(PLAIN[1:] if assumed else PLAIN if sums else FLOATS + EDGES)
    with np.errstate(all="ignore"):
        return plain.astype(dtype)


def arrays(inputs: list[Any], seed: int, kind: str, sums: bool, assumed: bool) -> dict[Any, Any]:
    """Values for the inputs: special ones in random places; empty, or not contiguous."""
    rng = np.random.default_rng(seed)
    length = 0 if kind == "empty" else 4 if any(v.type.ndim > 1 for v in inputs) else 24
    given = {}
    for v in inputs:
        shape = tuple([length if s is None else s for s in v.type.shape])
        pool = values(v.type.dtype, sums, assumed)
        if kind == "strided" and shape:
            wide = rng.choice(pool, (*shape[:-1], 2 * shape[-1]))
            given[v] = wide[..., ::2] if shape[-1] != 1 else rng.choice(pool, shape)
        else:
            given[v] = rng.choice(pool, shape)
    return given


def sides(rule: DataRule, term: Variable) -> Any:
    """What the rule makes of a term, or None where it does not apply."""
    new = rule.transform(None, term.owner)
    return new if new is not None and rule.accept(term, new) else None


def cases(rule: DataRule, dtypes: Any) -> Any:
    """Terms, what the rule makes of them, and inputs."""
    sums, assumed = rule.name.startswith(SUMS), rule.needs_leave is not None
    for number, (term, inputs) in enumerate(instances(rule, dtypes)):
        new = sides(rule, term)
        if new is None:
            continue
        for kind in ("dense", "empty", "strided"):
            if kind == "empty" and assumed:
                continue
            given = arrays(inputs, number, kind, sums, assumed)
            with np.errstate(all="ignore"):
                try:
                    before = evaluate(term, given)
                except (TypeError, ValueError):
                    continue  # shapes or values that the left side refuses
                yield term, new, given, before, evaluate(new, given)


def bits(a: Any) -> Any:
    """An array with all NaNs made the same."""
    if a.dtype.kind == "f":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return a.tobytes()


@by_rule
def test_the_claim(rule: DataRule) -> None:
    tried = 0
    for term, new, given, before, after in cases(rule, DTYPES):
        tried += 1
        told = f"{rule}\n{[v.type for v in given]}\n{before}\n{after}\n{list(given.values())}"
        assert before.dtype == after.dtype, told
        assert before.shape == after.shape, told
        assert term.type.is_super(new.type), told
        if rule.promise.kind == "exact":
            assert bits(before) == bits(after), told
        elif before.dtype.kind == "f":
            no_worse(rule, term, given, before, after, told)
        else:
            assert np.array_equal(before, after), told
    assert tried > 2


def no_worse(rule: Any, term: Any, given: Any, before: Any, after: Any, told: str) -> None:
    """Defined where the left side is, and as near to the truth (within a few units)."""
    finite = np.isfinite(before)
    assert np.isfinite(after[finite]).all(), told
    ulps = max(rule.promise.ulps or 0, 8)
    with np.errstate(all="ignore"):  # what stands for an operand is taken as it is
        given = given | {v: evaluate(v, given) for v in term.tag.operands}
    truth = reference(term, given) if all(modest(a) for a in given.values()) else None
    if truth is None or truth.shape != before.shape:
        near = np.isclose(after[finite], before[finite], rtol=1e-3, atol=1e-30)
        assert near.all() or rule.pack in ("exp_log", "softmax") or rule.short_name in GIVEN, told
        return
    found, was = errors(after, truth), errors(before, truth)
    bad = found > np.maximum(ulps, 2 * was)
    tiny = np.finfo(before.dtype).tiny
    bad &= ~np.array([abs(t) < tiny for t in truth.flat], bool)  # may underflow
    if rule.short_name in LOGARITHMS:
        bad &= distance(after, truth) > 4 * np.finfo(before.dtype).eps * largest(given)
    bad &= np.isfinite(before.ravel()) | ~undefined(truth)
    assert not bad.any(), (told, after.flat[bad.argmax()], truth.flat[bad.argmax()], found, was)


def distance(found: Any, truth: Any) -> Any:
    """Absolute errors."""
    pairs = zip(found.flat, truth.flat, strict=True)
    return np.array([float(abs(float(f) - t)) if t - t == 0 else np.inf for f, t in pairs])


def largest(given: Any) -> float:
    """The largest finite input."""
    return max([1.0, *[float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in given.values()]])


def undefined(truth: Any) -> Any:
    """Where the term has no value: a rule may give it one, if the left side gives NaN."""
    return np.array([v != v for v in truth.flat], bool)


def modest(a: Any) -> bool:
    """Whether exponentials of these can be taken in any precision."""
    a = np.asarray(a, "float64")
    return bool((np.abs(a[np.isfinite(a)]) < 1e5 + 1).all())


def test_the_tools_tell_right_from_wrong() -> None:
    import rewrite_engine.tensor as pt

    x = pt.vector("x")
    given = {x: np.array([1e-17, 0.5, -2.0, np.inf, 0.0, 1000.0])}
    with np.errstate(all="ignore"):
        naive, good = evaluate(pt.log(1 + x), given), evaluate(pt.log1p(x), given)
    truth = reference(pt.log(1 + x), given)
    assert errors(good, truth).max() < 1
    assert errors(naive, truth).max() > 1e10
    assert errors(np.array([0.0, 1, 1, 1, 1, 1]), truth).min() > 1e10
