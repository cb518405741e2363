"""Further elementwise functions: mpmath's values, and those at the ends of their domains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

from rewrite_engine.judge import exact, function
from rewrite_engine.judge.function import FUNCTIONS, IGNORES_NAN, value_of
from rewrite_engine.scalar import ops
from tests.scalar.references import MEANS

#: arguments in the domains of the functions
ARGUMENTS: dict[str, tuple[float, ...]] = {
    "erfinv": (0.3,), "erfcinv": (0.3,), "ndtri_exp": (-0.7,), "polygamma": (2, 1.3),
    "gammaincinv": (1.5, 0.4), "gammainccinv": (1.5, 0.4), "gamma_density": (1.5, 0.4),
    "gammainc_dk": (1.5, 0.4), "betainc": (1.5, 2.5, 0.4), "betaincinv": (1.5, 2.5, 0.4),
    "beta_density": (1.5, 2.5, 0.4), "betainc_da": (1.5, 2.5, 0.4),
    "betainc_db": (1.5, 2.5, 0.4), "hyp2f1": (1.5, 0.5, 2.5, 0.4),
    "hyp2f1_da": (1.5, 0.5, 2.5, 0.4), "hyp2f1_dc": (1.5, 0.5, 2.5, 0.4),
    "ldexp": (1.5, 3),
}  # fmt: skip
TWO = (1.5, 0.4)


def arguments(name: str) -> tuple[float, ...]:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    nin = FUNCTIONS[name].nin
    return TWO[:nin]


def at(name: str, *xs: float) -> mpf:
    arrays = [np.asarray(exact.exact(np.asarray(x, float))) for x in xs]
    found = exact.SCALAR[name](*arrays) if name in exact.SCALAR else value_of(name, arrays)
    return np.asarray(found).item()


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("real", "imag", "conj")])
def test_values_are_those_of_mpmath(name):
    with mp.workdps(40):
        xs = arguments(name)
        wanted = MEANS[name](*[mpf(x) for x in xs])
        found = at(name, *xs)
        assert abs(found - wanted) <= abs(wanted) * mpf(10) ** -18


def test_functions_are_those_of_the_table_of_scalar_ops():
    names = {str(op) for op in vars(ops).values() if hasattr(op, "nin")}
    assert {*FUNCTIONS, *IGNORES_NAN} - {*MEANS} == set()
    assert names  # (not empty: the names above are checked against what ops mean)
    assert not {*FUNCTIONS, *IGNORES_NAN} & {*exact.SCALAR}


@pytest.mark.parametrize(
    ("name", "xs", "wanted"),
    [
        ("xlogy", (0, 0), 0), ("xlog1py", (0, -1), 0), ("erfinv", (1,), math.inf),
        ("erfinv", (-1,), -math.inf), ("erfcinv", (0,), math.inf), ("erfcinv", (2,), -math.inf),
        ("hypot", (math.inf, math.nan), math.nan), ("gammainc", (2, math.inf), 1),
        ("gammaincc", (2, math.inf), 0), ("logaddexp2", (-math.inf, -math.inf), -math.inf),
        ("fmax", (math.nan, 2), 2),
        ("fmin", (2, math.nan), 2), ("heaviside", (0, 0.5), 0.5), ("copysign", (2, -1), -2),
        ("cbrt", (-8,), -2), ("fmod", (-7, 3), -1), ("round_half_away_from_zero", (-2.5,), -3),
    ],
)  # fmt: skip
def test_ends_of_domains(name, xs, wanted):
    found = at(name, *xs)
    assert float(found) == wanted or (wanted != wanted and found != found)


@pytest.mark.parametrize("x", [3.0, 30.0, 1e4, 1e6, 1e20])
def test_scaled_erfc_far_out(x):
    assert float(at("erfcx", x)) == pytest.approx(special.erfcx(x), rel=1e-14)


def test_quantiles_keep_the_digits_of_small_probabilities():
    with mp.workdps(50):
        found = at("erfcinv", 1e-30)
        assert abs(mp.erfc(found) - mpf(1e-30)) < mpf(10) ** -70
        y = at("ndtri_exp", -200.0)
        assert abs(mp.log(mp.erfc(-y / mp.sqrt(2)) / 2) + 200) < mpf(10) ** -40


def test_complex_numbers_have_parts():
    z = np.array([mp.mpc(1, 2)], object)
    assert value_of("imag", [z])[0] == 2
    assert value_of("conj", [z])[0] == mp.mpc(1, -2)
    assert abs(value_of("angle", [z])[0] - mp.arg(mp.mpc(1, 2))) == 0


def test_unknown_functions_have_no_meaning():
    assert not function.defined("nextafter")
    with pytest.raises(KeyError):
        value_of("nextafter", [])
