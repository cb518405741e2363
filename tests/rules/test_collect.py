"""Sums and products of many operands in the pipeline: their normal form, its values, and the switch
that keeps the user's order.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import Mode
from rewrite_engine.judge.difference import bits
from rewrite_engine.language import rewritten
from rewrite_engine.match.claim import approx
from rewrite_engine.match.query import Query
from rewrite_engine.pipeline.phases import optimizer
from tests.growth import exponent

a, b, c, d = pt.vectors("a b c d")
i, j, k = pt.ivectors("i j k")
s, t = pt.scalars("s t")
m = pt.matrix("m")
p, q = pt.tensor("p", dtype="bool", shape=(None,)), pt.tensor("q", dtype="bool", shape=(None,))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (a + b + c, "a + b + c"),
        (c + a + b, "a + b + c"),
        (c + (b + a), "a + b + c"),
        ((d + c) + (b + a), "a + b + c + d"),
        (m + (s + t), "m + (s + t)"),  # n additions of numbers stay one
        ((s + t) + m, "s + t + m"),
        (pt.exp(a) + b + 1, "1.0 + b + exp(a)"),
        (a * b * c, "a * b * c"),
        (c * a * b, "c * a * b"),  # products of floats keep their order
        (k * i * j, "i * j * k"),
        (a + b + a, "b + 2.0 * a"),
        (2 * a + b + 3 * a, "b + 5.0 * a"),
        (a * b * 2 + c + b * a, "c + 3.0 * (a * b)"),
        (a + b - a, "a + b - a"),
        (pt.add(-a, b, c, 3 * a), "-a + b + c + 3.0 * a"),  # inf - inf is NaN
        (pt.add(-pt.sin(i), b, c, 3 * pt.sin(i)), "b + c + 2.0 * sin(i)"),
        (2 * a + 0 * a, "2.0 * a + 0.0 * a"),  # 0 * inf is NaN
        (0 * a * b + 2 * b * a, "0.0 * a * b + 2.0 * b * a"),
        (2 * a * b + 3 * b * a, "5.0 * (a * b)"),
        (9 * a * b + 3 * b * a, "9.0 * a * b + 3.0 * b * a"),  # a * b may underflow
        (pt.add(i, j, i, 3 * i), "j + 5 * i"),
        (p + q + p, "p + p + q"),
        (pt.and_(p, q, p), "p & q"),
        (pt.or_(i, -1), "second(i, -1)"),
        (pt.and_(p, pt.constant(True)), "p"),
        (2 * a * 3 * b, "6.0 * a * b"),
        (a * -0.5 * -2 * b, "a * b"),
        (a * 2 * b * 3, "a * 2.0 * b * 3.0"),  # 6 * a may overflow where 2 * a * b does not
        (a * 1e200 * 1e200 * b, "a * 1e+200 * 1e+200 * b"),
        (pt.maximum(a, pt.maximum(b, a)), "maximum(a, b)"),
        (pt.logaddexp(a, -np.inf), "a"),
        (pt.mul(i, i, j, i, i, i), "i * j * sqr(sqr(i))"),
        (i * (pt.sqr(i) * i), "sqr(sqr(i))"),
        (pt.mul(a, a, a), "a * a * a"),
        (1e308 * a + b + 1e308 * a, "1e+308 * a + b + 1e+308 * a"),
    ],
    ids=str,
)
def test_normal_forms(term: Any, expected: str) -> None:
    if expected.startswith("1e+308"):
        assert repr(rewritten(term)).count("1e+308") == 2  # the sum of the numbers overflows
    else:
        assert repr(rewritten(term)) == expected


small, wide = pt.tensor("small", dtype="int8", shape=(None,)), pt.lvector("wide")


@given(
    st.lists(st.sampled_from([small, wide, i, small + 1, pt.sqr(small), p]), min_size=2, max_size=9)
)
def test_powers_of_integers_wrap_around_as_written(factors: list[Any]) -> None:
    values = [
        np.array(v, t) for v, t in (([100, -7], "int8"), ([3, -1], "int64"), ([9, 5], "int32"))
    ]
    term, options = pt.mul(*factors), dict[str, Any](on_unused_input="ignore")
    values.append(np.array([True, False]))
    inputs = [small, wide, i, p]
    plain = rw.function(inputs, term, mode=Mode("py", optimizer=None), **options)(*values)
    made = rw.function(inputs, term, **options)(*values)
    assert made.dtype == plain.dtype
    assert bits(made) == bits(plain)


@pytest.mark.parametrize(
    "power",
    [lambda n: product([i] * n), lambda n: pt.mul(*[i] * n), lambda n: product([i + 1] * n)],
)
def test_long_products_of_one_integer_are_a_few_squares(power: Any) -> None:
    def compiling(n: int) -> Callable[[], None]:
        def compiled() -> None:
            f = rw.function([i], power(n))
            assert len(f.fgraph.toposort()) < 3 * n.bit_length() + 2
            assert f(np.array([3, -1], "int32"))[0] in (wrapped(3, n), wrapped(4, n))

        return compiled

    assert exponent(compiling, 500, 5000) < 1.5  # it was 1.85, in many seconds


def product(factors: list[Any]) -> Any:
    whole = factors[0]
    for v in factors[1:]:
        whole = v * whole
    return whole


def wrapped(base: int, n: int) -> int:
    return (pow(base, n, 2**32) + 2**31) % 2**32 - 2**31


def outputs_of(*outputs: Any, mode: Any = None) -> Any:
    return rw.function([a, b, c], list(outputs), mode=mode).fgraph.outputs


@pytest.mark.parametrize("op", [pt.add, pt.mul, pt.maximum])
def test_equal_terms_merge_in_any_order_unless_that_is_excluded(op: Any) -> None:
    terms = [op(op(a, b), c), pt.exp(op(op(c, a), b))]
    one, other = outputs_of(*terms)
    assert other.owner.inputs[0] is one
    for off in ("reorder", approx):
        one, other = outputs_of(*terms, mode=Mode().excluding(off))
        assert other.owner.inputs[0] is not one


ROUGH = st.sampled_from([1e16, -1e16, 1.0, -1.0, 0.1, 3e-17, 1e300, -1e300, 1e-300, np.inf, 0.0])


LOOSE: dict[str, Any] = {"on_unused_input": "ignore"}


@st.composite
def nests(draw: Any) -> Any:
    """Sums or products of a few operands, built in any way."""
    op = draw(st.sampled_from([pt.add, pt.mul]))
    leaves = st.sampled_from([a, b, c, pt.abs(a), 0.5])
    pool: list[Any] = draw(st.lists(leaves, min_size=3, max_size=7))
    while len(pool) > 1:
        n = draw(st.integers(2, min(3, len(pool))))
        at = draw(st.integers(0, len(pool) - n))
        part = pool[at : at + n]
        if not any(hasattr(v, "owner") for v in part):
            part = [a, *part[1:]]
        pool[at : at + n] = [op(*part)]
    return pool[0]


@settings(max_examples=150)
@given(nests(), nests(), st.lists(ROUGH, min_size=3, max_size=3))
def test_without_reordering_the_order_of_evaluation_is_the_users(
    one: Any, other: Any, numbers: list[float]
) -> None:
    values = [np.array([n]) for n in numbers]
    mode = Mode().excluding("reorder", "refines")
    plain = rw.function([a, b, c], [one, other], mode=Mode("py", optimizer=None), **LOOSE)
    for kind in (mode, mode.excluding(approx)):
        f = rw.function([a, b, c], [one, other], mode=kind, **LOOSE)
        for x, y in zip(plain(*values), f(*values), strict=True):
            assert bits(x) == bits(y)


SCRIPT = """
import numpy as np
import rewrite_engine as rw, rewrite_engine.tensor as pt
from rewrite_engine.rewrite.trace import brief
names = [chr(97 + i) for i in range(12)]
xs = pt.vectors(" ".join(names))
terms = [pt.exp(x) for x in xs] + xs + [x * y for x, y in zip(xs, xs[3:])]
one, other = terms[0], terms[-1]
for t in terms[1:]:
    one = one + t
for t in reversed(terms[:-1]):
    other = t + other
product = xs[3] * xs[1] * xs[7] + xs[7] * xs[3] * xs[1]
f = rw.function(xs, [one, pt.sin(other), product], mode=rw.Mode().excluding("inplace"))
values = [np.random.default_rng(i).normal(size=3) * 0.1 ** (i % 5) for i in range(12)]
for v in f.fgraph.outputs:
    print(brief(v, 20))
for v in f(*values):
    print(v.tobytes().hex())
"""


def test_graphs_and_values_are_the_same_in_every_process() -> None:
    found = set()
    for seed in ("0", "1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    (text,) = found
    lines = text.splitlines()
    assert lines[1] == f"sin({lines[0]})"
    assert lines[2] == "2.0 * (d * b * h)"


def test_excluding_approximations_leaves_no_rule_that_reorders() -> None:
    for query in (Query().excluding("reorder"), Query().excluding(approx)):
        left = {r.name for part in optimizer(query) for r in getattr(part, "rules", ())}
        assert "ac/flatten" in left
        assert not left & {"ac/regroup", "ac/join_rounded_constants", "collect/like_terms"}
