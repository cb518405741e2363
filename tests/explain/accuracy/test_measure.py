"""`rw.accuracy`: digits compared with mpmath by hand, and the steps and rules that it names."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import InputError, ShapeError
from rewrite_engine.explain import recording

#: a mode without the rule that computes variances from deviations
BY_SQUARES = rw.Mode("fast_run").excluding("variance_by_squares")


ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).name


def digits(found: float, true: mpf, most: float = -np.log10(2.0**-53)) -> float:
    """The number of right digits, by definition."""
    apart = abs(mpf(float(found)) - true)
    return most if apart == 0 else float(min(most, max(0, -mp.log10(apart / abs(true)))))


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(80):
        yield


@pytest.fixture
def x():
    return pt.vector("x")


# --- the three examples -----------------------------------------------------------------------


def test_variance_by_squares(x):
    given = 1e6 + np.random.default_rng(0).normal(size=200)
    f = rw.function([x], pt.mean(x**2) - pt.mean(x) ** 2, mode=BY_SQUARES)
    report = rw.accuracy(f, given)
    exact = [mpf(v) for v in given]
    true = mp.fsum(v**2 for v in exact) / 200 - (mp.fsum(exact) / 200) ** 2
    (output,) = report.outputs
    assert output.compiled == pytest.approx(digits(f(given), true), abs=1e-9)
    assert output.written < 6
    assert mpf(output.true) == pytest.approx(true, rel=1e-18)
    (loss,) = report.losses
    assert loss.op == "sub"
    assert os.path.basename(loss.line[0]) == HERE
    large = mp.fsum(v**2 for v in exact) / 200 + (mp.fsum(exact) / 200) ** 2
    assert loss.condition == pytest.approx(float(large / true), rel=1e-6)
    assert loss.share > 0.99
    assert loss.rounding == 0
    (one,) = report.suggestions
    assert one.write == "mean((x - mean(x))**2)"
    better = rw.function([x], pt.mean((x - pt.mean(x)) ** 2))
    assert one.digits == pytest.approx(digits(better(given), true), abs=0.7)
    assert one.digits > 14


def test_softmax(x):
    given = np.array([1000.0, 1001.5, -3.0])
    f = rw.function([x], pt.exp(x) / pt.exp(x).sum())
    report = rw.accuracy(f, given)
    total = mp.fsum(mp.exp(mpf(v)) for v in given)
    wanted = [digits(a, mp.exp(mpf(v)) / total) for a, v in zip(f(given), given, strict=True)]
    (output,) = report.outputs
    assert (output.written, output.compiled) == (0, pytest.approx(min(wanted[:2]), abs=1e-9))
    assert output.zeros == 0
    (effect,) = report.effects
    assert (effect.rule, effect.before) == ("softmax/softmax_from_exp", 0)
    assert effect.after > 15
    assert report.losses[0].strange == "exp(x) overflows"
    assert report.suggestions == ()
    assert report.losses_compiled == ()


def test_log_determinant():
    a = pt.matrix("a")
    given = np.diag(np.full(40, 1e-10)) + 1e-12
    mode = rw.Mode().excluding("canonicalize", "stabilize")  # (they write what is suggested)
    f = rw.function([a], pt.log(pt.linalg.det(a)), mode=mode)
    report = rw.accuracy(f, given)
    (output,) = report.outputs
    true = mp.log(mpf(1e-10 + 1e-12) - mpf(1e-12)) * 39  # (1 - b) times, once 1 + 39 b
    true += mp.log(mpf(given[0, 0]) + 39 * mpf(1e-12)) - 39 * mp.log(1)
    true = mp.log((mpf(given[0, 0]) - mpf(1e-12)) ** 39 * (mpf(given[0, 0]) + 39 * mpf(1e-12)))
    assert mpf(output.true) == pytest.approx(true, rel=1e-17)
    assert output.compiled == 0
    assert report.losses[0].strange == "Det(a) underflows"
    (one,) = report.suggestions
    assert one.write == "slogdet(a)[1]"
    better = rw.function([a], pt.linalg.slogdet(a)[1])
    assert one.digits == pytest.approx(digits(better(given), true), abs=0.7)


# --- kinds of graphs ----------------------------------------------------------------------------


def test_accurate_functions_have_nothing_to_report(x):
    report = rw.accuracy(rw.function([x], pt.exp(x) + 1), [0.5, 2.0])
    assert report.written > 15
    assert (report.losses, report.effects, report.suggestions) == ((), (), ())


def test_loops_are_followed_step_by_step():
    """The logistic map doubles errors at each step."""
    path = rw.scan(
        lambda s: 3.9 * s * (1 - s),
        outputs_info=[pt.as_tensor(0.3)],
        n_steps=60,
        return_updates=False,
    )
    f = rw.function([], path[-1])
    report = rw.accuracy(f)
    s = mpf(0.3)
    for _ in range(60):
        s = mpf(3.9) * s * (1 - s)
    (output,) = report.outputs
    assert mpf(output.true) == pytest.approx(s, rel=1e-17)
    assert output.compiled == pytest.approx(digits(f(), s), abs=1e-9)
    assert output.compiled < 7
    inside = [loss for loss in report.losses if loss.inside]
    assert "Scan" in inside[0].inside
    assert "1.0 - " in inside[0].step


def test_gradients_through_loops(x):
    total = rw.scan(
        lambda a, s: s * 0.5 + pt.log(a), sequences=[x], outputs_info=[pt.as_tensor(1.0)],
        return_updates=False,
    )[-1]  # fmt: skip
    f = rw.function([x], rw.grad(total, x))
    report = rw.accuracy(f, [1.0, 2.0, 3.0])
    assert report.outputs[0].compiled > 15
    assert report.notes == ()


def test_float32_has_its_own_number_of_digits():
    x = pt.fvector("x")
    given = (100 + np.random.default_rng(1).normal(size=50)).astype("float32")
    f = rw.function([x], pt.mean(x**2) - pt.mean(x) ** 2, mode=BY_SQUARES)
    (output,) = rw.accuracy(f, given).outputs
    exact = [mpf(float(v)) for v in given]
    true = mp.fsum(v**2 for v in exact) / 50 - (mp.fsum(exact) / 50) ** 2
    assert output.full == pytest.approx(7.22, abs=0.01)
    assert output.compiled == pytest.approx(digits(f(given), true, output.full), abs=1e-6)
    assert output.compiled < 5


def test_complex_numbers():
    z = pt.zvector("z")
    given = np.array([1 + 1e-9j, 2 - 3j])
    f = rw.function([z], [z * z - 1, pt.exp(z)])
    first, second = rw.accuracy(f, given).outputs
    true = [mp.mpc(complex(v)) ** 2 - 1 for v in given]
    right = [abs(mp.mpc(complex(a)) - t) / abs(t) for a, t in zip(f(given)[0], true)]
    assert first.compiled == pytest.approx(min(15.9546, float(-mp.log10(max(right)))), abs=1e-3)
    assert second.compiled > 15


def test_numbers_that_are_not_finite():
    """Results that are nan or infinite in exact numbers, too, are right; others are not."""
    x = pt.vector("x")
    f = rw.function([x], [pt.log(x), x / x, pt.exp(1000 * x) / pt.exp(999 * x)])
    logs, ones, powers = rw.accuracy(f, [0.0, -1.0, np.inf, 2.0]).outputs
    assert logs.compiled == logs.full
    assert ones.written == ones.full
    assert (powers.written, powers.written_value) == (0, "nan")
    assert powers.size == 4


def test_results_beyond_the_largest_number_may_be_infinite(x):
    (output,) = rw.accuracy(rw.function([x], pt.exp(x)), [1000.0, -1000.0]).outputs
    assert output.compiled == output.full


def test_integers_and_booleans_are_compared(x):
    f = rw.function([x], [pt.argmax(x), x > 0, pt.floor(x).astype("int64")])
    assert [o.dtype for o in rw.accuracy(f, [0.5, 2.5]).outputs] == ["int64", "bool", "int64"]
    assert rw.accuracy(f, [0.5, 2.5]).compiled > 15


def test_a_comparison_that_rounding_turns(x):
    """0.1 + 0.2 is not 0.3 in floats, and not in exact numbers of these floats either."""
    y = pt.dscalar("y")
    f = rw.function([x, y], pt.eq(x + 0.2, y))
    (output,) = rw.accuracy(f, [0.1], 0.30000000000000004).outputs
    assert (output.value, output.true, output.compiled) == ("True", "False", 0)


def test_an_exact_zero_does_not_count(x):
    """Rounding leaves something where exact numbers cancel; other elements still have digits."""
    f = rw.function([x], (x + 0.1) - x - np.float64(0.1), mode="fast_compile")
    (output,) = rw.accuracy(f, [1.0, 1e9]).outputs
    assert output.zeros == 2
    assert f([1.0, 1e9]).all()


def test_what_the_inputs_determine(x):
    """A change in the last place of the input changes the difference as much as its error."""
    f = rw.function([x], pt.sin(x * 1e9))
    (output,) = rw.accuracy(f, [1.1]).outputs
    assert output.determined == pytest.approx(16 - 9, abs=1.5)
    assert output.is_poor
    assert output.is_as_good_as_inputs


def test_updates_and_shared_variables_keep_their_values():
    s = rw.shared(np.float64(1e8), "s")
    f = rw.function([], s + 1e-8, updates={s: s + 1})
    report = rw.accuracy(f)
    assert [o.name for o in report.outputs] == ["result", "new s"]
    assert s.get_value() == 1e8


def test_random_draws_are_taken_as_computed():
    rng = pt.random.RandomStream(3)
    draw = rng.normal(size=3)
    f = rw.function([], pt.log(1 + draw * 1e-12))
    report = rw.accuracy(f)
    assert any("normal" in note for note in report.notes)
    assert f() is not None


def test_defaults_and_names():
    x, y = pt.dscalars("x y")
    f = rw.function([x, rw.In(y, value=2.0)], x + y)
    assert rw.accuracy(f, 1.0).outputs[0].value == "3.0"
    assert rw.accuracy(f, x=1.0, y=4.0).outputs[0].value == "5.0"


def test_a_branch_that_fails_and_is_not_taken(x):
    f = rw.function([x], rw.ifelse(x[0] > 0, pt.log(x).sum(), x[10]))
    assert rw.accuracy(f, [1.0, 2.0]).outputs[0].compiled > 15


def test_graphs_of_ops():
    a, b = pt.dvectors("a b")
    op = rw.OpFromGraph([a, b], [pt.exp(a) - pt.exp(b)])
    f = rw.function([a, b], op(a, b), mode="fast_compile")
    report = rw.accuracy(f, [1.0], [1.0 + 1e-12])
    assert report.written < 6
    assert report.losses[0].share > 0.9


# --- arguments and errors -------------------------------------------------------------------------


def test_other_things_than_functions_are_refused(x):
    with pytest.raises(InputError, match="takes a compiled function and its arguments, not 3"):
        rw.accuracy(3)
    with pytest.raises(InputError, match="takes a compiled function"):
        rw.accuracy(pt.exp(x), [1.0])


def test_arguments_have_to_fit(x):
    f = rw.function([x], x + 1, name="f")
    with pytest.raises(InputError, match="f: the argument x is missing"):
        rw.accuracy(f)
    with pytest.raises(InputError, match="too many positional arguments"):
        rw.accuracy(f, [1.0], [2.0])
    with pytest.raises(TypeError):
        rw.accuracy(f, "text")


def test_errors_of_a_call_are_raised(x):
    y = pt.vector("y")
    f = rw.function([x, y], x + y)
    with pytest.raises(ShapeError):
        rw.accuracy(f, [1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_loaded_function_does_not_know_its_graph(x):
    f = pickle.loads(pickle.dumps(rw.function([x], x + 1)))
    with pytest.raises(InputError, match="was unpickled"):
        rw.accuracy(f, [1.0])


def test_recorders_do_not_see_what_a_report_compiles(x):
    f = rw.function([x], 1 - pt.cos(x), mode=rw.Mode("vm").excluding("stabilize"))
    with recording() as recorder:
        rw.accuracy(f, [1e-8])
        rw.function([x], x + 1, name="own")
    assert [record.function_name for record in recorder.records] == ["own"]


def test_an_object_that_holds_a_function_says_where(x):
    class Holder:
        def __init__(self):
            self.compiled = rw.function([x], x + 1)

    with pytest.raises(InputError, match="pass its attribute 'compiled'"):
        rw.accuracy(Holder(), [1.0])


def test_without_mpmath_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['mpmath'] = None\n"
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "import rewrite_engine.explain.__main__\n"
        "x = pt.dscalar('x')\n"
        "try:\n"
        "    rw.accuracy(rw.function([x], x + 1), 1.0)\n"
        "except ImportError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
    )  # fmt: skip
    assert done.stdout.startswith("MissingPackageError")
    assert 'pip install "rewrite-engine[check]"' in done.stdout
