"""The tables of forms: what people write gives right values, and what experts write, too."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks import __main__ as main
from benchmarks import forms
from benchmarks.forms import run, slopes
from benchmarks.forms.exact import exact, namespace, with_digits
from benchmarks.forms.form import Form

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
LINEAR, SPECIAL, ARRAYS = [run.forms(table) for table in forms.TABLES]
FEW = 10  # rows, where results are compared with exact ones
MANY = 300  # rows, where determinants underflow


def words(text: str) -> set[str]:
    return set(text.split())


#: forms that are not right yet; take a form off when its test passes
WRONG_LINEAR: set[str] = set()  # (with MANY rows)
WRONG_SPECIAL = words("bessel_ratio")
WRONG_ARRAYS: set[str] = set()
WRONG_STATIC: set[str] = set()
WRONG_SLOPES: set[str] = set()
#: forms whose slopes have lost their digits in the graph as built
INEXACT = {"variance"}


def cases(table: list[Form], wrong: set[str], rows: tuple[int, ...] = ()) -> list[Any]:
    """Return the forms of a table as parameters; those that are wrong have to fail."""
    return [
        pytest.param(
            *((f, n) if rows else (f,)),
            id=f.name + (f"-{n}" if rows else ""),
            marks=[pytest.mark.xfail(strict=True)] if f.name in wrong and n != FEW else [],
        )
        for f in table
        for n in rows or (0,)
    ]


def test_the_tables_are_complete() -> None:
    names = [f.name for table in (LINEAR, SPECIAL, ARRAYS) for f in table]
    assert [len(table) for table in (LINEAR, SPECIAL, ARRAYS)] == [60, 60, 50]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("form", "rows"), cases(LINEAR, WRONG_LINEAR, (FEW, MANY)))
def test_linear_algebra_is_right(form: Form, rows: int) -> None:
    values = form.values(rows)
    found = run.compiled(form, "rewrite_engine", None, values)(*values)
    assert run.worst(found, run.expected(form, values, rows <= FEW)) <= run.MAX_ERROR


@pytest.mark.parametrize("form", cases(ARRAYS, WRONG_ARRAYS))
def test_arrays_are_right(form: Form) -> None:
    values = form.values(1000)
    found = run.compiled(form, "rewrite_engine", None, values)(*values)
    assert run.worst(found, run.expected(form, values, False)) <= run.MAX_ERROR


@pytest.mark.parametrize("form", cases(SPECIAL, WRONG_SPECIAL))
def test_values_and_slopes_are_right(form: Form) -> None:
    line = slopes.errors_of(form, "rewrite_engine", None)
    assert {part: e for part, e in line.items() if not e <= slopes.MAX_ERROR} == {}


@pytest.mark.parametrize("form", cases(LINEAR, WRONG_STATIC))
def test_static_shapes_change_no_value(form: Form) -> None:
    values, static = form.values(FEW), dataclasses.replace(form, is_static=True)
    found = run.compiled(static, "rewrite_engine", None, values)(*values)
    assert run.worst(found, run.listed(form.by_hand(*values))) <= run.MAX_ERROR


@pytest.mark.parametrize("form", cases([*LINEAR, *ARRAYS], WRONG_SLOPES))
def test_slopes_are_those_of_the_graph_as_built(form: Form) -> None:
    values = form.values(FEW if form in LINEAR else 400)
    variables = run.symbols(form, pt, values)
    wrt = [v for v in variables if v.dtype == "float64"]
    cost = sum([(out * out).sum() for out in run.listed(form.written(pt, *variables))])
    if not wrt or cost.dtype != "float64" or form.name in INEXACT:
        return  # (integers have no slopes)
    gradients = rw.grad(cost, wrt, disconnected_inputs="ignore")
    plain = rw.Mode(linker="py", optimizer=None)
    found, right = [
        rw.function(variables, gradients, mode=mode, on_unused_input="ignore")(*values)
        for mode in (None, plain)
    ]
    for ours, theirs in zip(found, right, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("form", cases(LINEAR, set()))
def test_linear_algebra_by_hand_is_right(form: Form) -> None:
    values = form.values(FEW)
    assert run.worst(form.by_hand(*values), run.expected(form, values, True)) <= 1e-11


@pytest.mark.parametrize("form", cases(SPECIAL, set()))
def test_functions_by_hand_are_right(form: Form) -> None:
    with with_digits():
        for values in form.regimes().values():
            right = slopes.true_values(form, tuple(exact(v) for v in values))
            assert slopes.error(form.by_hand(*values), right) <= slopes.MAX_ERROR


@pytest.mark.parametrize("form", cases([f for t in (LINEAR, ARRAYS) for f in t], set()))
def test_text_is_what_runs(form: Form) -> None:
    """The text that the page prints is the source of the function."""
    names = {**form.written.__globals__, "pt": namespace}
    values = form.values(FEW if form in LINEAR else 1000)
    names |= dict(zip(form.arguments, values, strict=True))
    text = form.text(by_hand=True)
    again = eval(text, names)
    assert run.worst(again, run.listed(form.by_hand(*values))) == 0


def test_an_error_is_an_error() -> None:
    assert run.error_of([1.0, 2.0], [1.0, 2.0]) == 0
    assert run.error_of([1.0, np.inf], [1.0, 2.0]) == np.inf
    assert run.error_of([1.0], [1.0, 2.0]) == np.inf
    assert slopes.error([0.0], np.array([exact(1e-310)])) == 0
    assert slopes.error([0.0], np.array([exact(1e-200)])) == 1
    assert slopes.error([np.inf], np.array([exact(1e200) ** 2])) == 0
    assert slopes.error([1.0], np.array([exact(1e200) ** 2])) == np.inf


def test_a_program_may_have_arguments() -> None:
    assert main.command(["forms", "arrays"]) is forms.command
    assert main.command(["forms"]) is main.command(["growth", "scan"]) is None


def line(name: str, right: bool, seconds: float, rows: int = 300) -> dict[str, Any]:
    return {"name": name, "rows": rows, "right": right, "error": 0.0, "seconds": seconds * 1e-3,
            "by_hand": 1e-3}  # fmt: skip


def test_the_summary_counts() -> None:
    ours = [line("a", True, 1.0), line("b", False, 1.0), line("c", True, 4.0), line("d", True, 2.0)]
    theirs = [line("a", True, 1.0), line("b", True, 9.0), line("c", True, 3.0), line("d", True, 9)]
    found = {row.name: (row.figure, row.met) for row in forms.summary("t", ours, theirs)}
    assert found == {
        "t: right": ("3 of 4", False),
        "t: right, within 1.3 × by hand": ("1 of 4", False),
        "t: above 3 × by hand": ("1 of 4", False),
        "t: not behind PyTensor": ("2 of 4", False),
        "t: right with PyTensor": ("4 of 4 lines", None),
    }


def test_a_call_is_never_slow_for_itself() -> None:
    quick = line("a", True, 5.0) | {"seconds": 0.5e-6, "by_hand": 0.1e-6}
    assert forms.is_within(quick, 1.3)
    assert not forms.is_within(quick | {"seconds": 5e-6, "by_hand": 1e-6}, 1.3)
