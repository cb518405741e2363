"""Formulas as people write them: value and slopes against many digits, near 0, 1 and far out."""

from __future__ import annotations

import pytest

from rewrite_engine.config import config
from tests.rules.written_forms import Form, forms, measure

#: forms that are wrong at some points; one that is mended has to leave the list
WRONG = frozenset({
    "exp(-x ** 2) * exp(x ** 2 + x) * y",
    "exp(-x ** 2) * (exp(x ** 2 + x) * y)",
    "y * exp(-x ** 2) * exp(x ** 2 + x)",
    "x ** y * x ** 2.5",
    "x ** y - 1",
    "(x ** y - 1) / y",
    "log(gamma(x)) + log(gamma(y)) - log(gamma(x + y))",
    "log(gamma((x + 1) / 2) / (sqrt(x * 3.141592653589793) * gamma(x / 2)))",
    "gamma((x + 1) / 2) / (sqrt(x * 3.141592653589793) * gamma(x / 2))",
    "log(gamma(x + 1) / (gamma(y + 1) * gamma(x - y + 1)))",
    "gamma(x + y + 1) / (gamma(y + 1) * gamma(x + 1))",
    "exp(-x) * x ** y / gamma(y + 1)",
    "y ** x * z ** (x - 1) * exp(-y * z) / gamma(x)",
    "1 / gamma(x)",
    "factorial(x) / factorial(x - 1)",
    "log(poch(x, y))",
    "log(iv(1, x))",
    "log(i1(x))",
    "i1(x) / i0(x)",
    "iv(1, x) / iv(0, x)",
    "i0(x) * exp(-x)",
    "log(kv(1, x))",
    "log(kv(0.5, x))",
    "kv(1, x) / kv(0, x)",
    "kv(1, x) * exp(x)",
    "exp(-x ** 2 / 2) / (0.5 * erfc(x / sqrt(2.0)))",
    "log(sinh(x) / x)",
    "log(expm1(x) / x)",
    "1 / sqrt(x) - 1 / sqrt(x + 1)",
    "x - sqrt(x ** 2 - 1)",
    "log(x + sqrt(x ** 2 - 1))",
    "exp(x) - 2 + exp(-x)",
    "exp(x) - exp(y)",
    "(x + 1) ** 2 - x ** 2",
    "1 / (x - 1) - 2 / x + 1 / (x + 1)",
    "log((exp(x) - 1) / x)",
    "(-y + sqrt(y ** 2 - 4 * x)) / 2",
    "(-y - sqrt(y ** 2 - 4 * x)) / (2 * x)",
    "(1 + 1 / x) ** x",
    "log(1 - x) / log(1 + x)",
    "x / sqrt(x ** 2 + y ** 2)",
    "x / sqrt(x ** 2 + 1)",
    "(x / (1 + x)) ** 2",
    "log(1 + x ** 2)",
    "log(1 + x ** 2 / y)",
    "-log(x) + log(x + y)",
})  # fmt: skip
RIGHT = [form for form in forms() if form.text not in WRONG]
EVERY = 3  # of the points
SINGLE = {
    "x - softplus(x)", "sin(x) / x", "x / expm1(x)", "1 - cos(x)", "log2(1 + x)", "log(gamma(x))",
}  # fmt: skip


def test_the_list_names_forms() -> None:
    assert {form.text for form in forms()} >= WRONG


@pytest.mark.parametrize("form", RIGHT, ids=[form.text for form in RIGHT])
def test_value_and_slopes_are_right(form: Form) -> None:
    assert measure(form, linker=config.linker, every=EVERY) == []


@pytest.mark.parametrize("form", [form for form in RIGHT if form.text in SINGLE], ids=str)
def test_float32_keeps_its_digits(form: Form) -> None:
    assert measure(form, "float32", config.linker, every=2) == []
