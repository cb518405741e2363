"""`Variable.eval`."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compile import Mode, shared
from rewrite_engine.compile.evaluate import _compiled
from rewrite_engine.config import config
from rewrite_engine.errors import ForeignObjectError, InputError, MissingInputError

x, y = pt.vector("x"), pt.vector("y")


def test_values_by_variable_or_name() -> None:
    z = x * 2 + y
    assert z.eval({x: [1.0], y: [3.0]}).tolist() == [5]
    assert z.eval({"x": [1.0], y: [3.0]}).tolist() == [5]
    assert pt.constant(3.0).eval() == 3
    assert shared(np.ones(2)).sum().eval() == 2


def test_a_computed_variable_may_be_given_by_name() -> None:
    total = x + y
    total.name = "total"
    assert (total * 2).eval({"total": [3.0]}).tolist() == [6]
    both = total * pt.vector("total")  # an input has the name, too: that one is meant
    assert both.eval({x: [1.0], y: [1.0], "total": [3.0]}).tolist() == [6]


def test_options() -> None:
    assert (x + 1).eval({x: [1.0], y: [1.0]}, on_unused_input="ignore").tolist() == [2]
    assert (x + 1).eval({x: [1.0]}, mode=Mode(optimizer=None)).tolist() == [2]


def test_what_runs_once_is_not_compiled_to_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewrite_engine.compile.mode.is_native_usual", lambda: True)
    with config.change_flags(linker="auto"):
        z = x + 2
        z.eval({x: [1.0]})
        assert [f.mode.linker for f in _compiled[z].values()] == ["vm"]
    with config.change_flags(linker="py"):
        z = x + 3
        z.eval({x: [1.0]})
        assert [f.mode.linker for f in _compiled[z].values()] == ["py"]


def test_errors() -> None:
    with pytest.raises(MissingInputError, match="y of type"):
        (x + y).eval({x: [1.0]})
    with pytest.raises(InputError, match="no variable called 'z'"):
        (x + y).eval({"z": [1.0]})
    with pytest.raises(InputError, match="several variables"):
        (x + pt.vector("x")).eval({"x": [1.0]})
    with pytest.raises(ForeignObjectError, match="dict"):
        (x + y).eval([1.0])


def test_the_function_is_kept_as_long_as_the_variable() -> None:
    z = x + 1
    z.eval({x: [1.0]})
    (f,) = _compiled[z].values()
    z.eval({x: [2.0]})
    assert list(_compiled[z].values()) == [f]
    ref = weakref.ref(z)
    del z, f
    gc.collect()
    assert ref() is None
