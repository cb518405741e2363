"""Programs written for other libraries, in the way of their documentation, run unchanged."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
PRINTED = {
    "boltzmann": "True [0. 1.] (200, 5)\n(200, 5) True False\n",
    "branches": "1.0\ny __str__ = [[0. 0.]]\n0.0\n0 exp [(1, 2)] 1\nNaN in log(x)\n",
    "debugging": (
        "BadDestroyMap\nBadViewMap\nTrue sin.0 cos.0\n[ True]\n[0.]\n2.0\n[2. 4.]\nTrue 0\n"
    ),
    "draws": ("True True [[0.0, 0.0], [0.0, 0.0]]\nTrue False\nTrue\n-0.5 0.5 True False\n"),
    "batches": "[[0.09, 0.2447, 0.6652], [0.6652, 0.2447, 0.09]] True\nTrue\nTrue\nTrue\n",
    "counters": "12\n(20, 2) True\n",
    "factors": "[True, True, True]\nTrue True\nTrue\n",
    "filtering": "True True\n",
    "gaussians": "(4000, 2) True\nTrue True\nTrue\n",
    "optima": "[6.0, 1.0, 3.0, 2.0]\nTrue True True\n[2.0, 0.25]\n",
    "processes": "[True, True]\nTrue\nTrue\n",
    "products": "[True, True, True, True, True, True]\nTrue\n",
    "recurrences": "True\nTrue\n7.0\nTrue\n",
    "linear": "[1. 2.]\n-2.183399\n(2, 2)\n['one', '--two']\n",
    "logistic": "better True\n",
    "loops": (
        "[ 0.  1.  8. 27. 64.]\n19.0\n[ 2.  4.  8. 16. 32. 64.]\n(2, 2) [[1.0, 1.0], [1.0, 1.0]]\n"
    ),
    "network": "float32 True True\n",
    "own_rule": "[3. 6.]\n[3. 3.]\nmul\n",
}


def compat(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rewrite_engine.compat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", PRINTED)
def test_a_program_runs_as_it_is(name: str) -> None:
    done = compat(PROGRAMS / f"{name}.py", "one", "--two")
    assert (done.stdout, done.returncode) == (PRINTED[name], 0), done.stderr


def test_a_missing_name_is_one_line() -> None:
    path = PROGRAMS / "missing_names.py"
    done = compat(path)
    line = f"{path}:14: theano.tensor.no_such_function is not in rewrite_engine\n"
    assert (done.stdout, done.stderr, done.returncode) == ("[0. 2.]\n", line, 1)
    done = compat(path, "more")
    line = (
        f"{path}:13: theano.tensor.nnet.conv3d2d is not in rewrite_engine; did you mean conv2d?\n"
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[0. 2.]\n", line, 1)


def test_missing_names_are_listed() -> None:
    path = PROGRAMS / "missing_names.py"
    done = compat("--missing", path)
    names = [f"{path}:6: theano.tensor.nnet.conv3d2d", f"{path}:14: theano.tensor.no_such_function"]
    assert (done.stdout.splitlines(), done.returncode) == (names, 1)
    assert compat("--missing", PROGRAMS / "logistic.py").returncode == 0


def test_wrong_arguments() -> None:
    done = compat("no_such_file.py")
    assert done.returncode == 2
    assert "there is no file no_such_file.py" in done.stderr
