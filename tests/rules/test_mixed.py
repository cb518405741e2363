"""Operands of different dtypes, and complex ones, in the pipeline: dtypes are kept, and nothing is
computed in fewer digits, or bits, than in the term as it was written. (Each rule alone:
`test_claims.py`.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.walks import depends_on
from rewrite_engine.errors import RuleTypeError
from rewrite_engine.language import rule
from tests.rules.test_claims import sides

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
    plain = rw.function(inputs, term, mode=rw.Mode("py", optimizer=None))(*arrays)
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
    assert sides(first_choice.unchecked, pt.switch(k > 1, x, 2.0)) is not None
    assert sides(first_choice.unchecked, pt.switch(k > 1, k, x)) is None
    with pytest.raises(RuleTypeError, match="changes the type"):
        sides(truth, pt.sqr(x))


# --- complex numbers ----------------------------------------------------------------------------

PLAIN = rw.Mode("py", optimizer=None)
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
    mode = rw.Mode("fast_run").excluding("approx", "backward", "refines")
    found = rw.function([z], term, mode=mode)([2 + 0j])
    np.testing.assert_array_equal(
        found, rw.function([z], term, mode=rw.Mode("py", optimizer=None))([2 + 0j])
    )
