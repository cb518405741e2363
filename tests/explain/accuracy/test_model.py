"""The accuracy of a PyMC model, compared with mpmath by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from mpmath import mp, mpf

PROGRAM = Path(__file__).parents[1] / "programs" / "accuracy_of_model.py"
pytestmark = pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)
DATA = (1e6 + 0.25, 1e6 + 1.5, 1e6 - 0.75)
MU = 1e6 + 0.125


def log_density(x: float, mu: float, sigma: float) -> mpf:
    z = (mpf(x) - mpf(mu)) / sigma
    return -z * z / 2 - mp.log(2 * mp.pi) / 2 - mp.log(sigma)


@pytest.fixture(scope="module")
def line():
    command = [sys.executable, "-m", "rewrite_engine.compat", str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def digits(found: float, true: mpf) -> float:
    return float(min(15.9546, -mp.log10(max(abs(mpf(found) - true) / abs(true), mpf(10) ** -17))))


def test_the_log_density_and_its_gradient(line):
    density, slope = line["outputs"]
    with mp.workdps(50):
        value = log_density(MU, 1e6, 10) + sum(log_density(x, MU, 2) for x in DATA)
        gradient = -(mpf(MU) - mpf(1e6)) / 100 + sum((mpf(x) - mpf(MU)) / 4 for x in DATA)
        found, (of_mu,) = line["results"]
        for one, true, result in ((density, value, found), (slope, gradient, of_mu)):
            assert abs(mpf(one["true"]) - true) < abs(true) * mpf(10) ** -15  # (2 pi is a float)
            assert one["compiled"] == pytest.approx(digits(result, true), abs=0.7)
            assert one["compiled"] > 14


def test_what_the_report_is_on(line):
    assert line["basis"] == "the given arguments"
    assert not any("taken as computed" in note for note in line["notes"])
    assert line["seconds"] < 30
