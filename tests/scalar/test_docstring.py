"""Docstrings of elementwise functions, made of the table of ops."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.scalar import ScalarOp, docstring, ops
from rewrite_engine.tensor.elemwise import Elemwise

OPS = list(dict.fromkeys([v for v in vars(ops).values() if isinstance(v, ScalarOp)]))


def lifted(op: ScalarOp) -> Any:
    """The function on arrays (`pt.round` has a mode, and is another function)."""
    return Elemwise(op)


@pytest.mark.parametrize("op", OPS, ids=str)
def test_it_says_what_it_computes(op: ScalarOp) -> None:
    text = lifted(op).__doc__
    assert text.startswith(f"{op.name}(")
    assert docstring.SUMMARIES[op.name] in text
    assert [part for part in ("Domain", "Range: ", "Dtypes: ") if f"\n{part}" not in text] == []
    assert all(alias in text for alias in op.aliases)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("op", OPS, ids=str)
def test_its_example_is_right(op: ScalarOp) -> None:
    test = doctest.DocTestParser().get_doctest(lifted(op).__doc__, {}, op.name, None, None)
    assert len(test.examples) == 2
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


@pytest.mark.parametrize("op", OPS, ids=str)
def test_its_signature_takes_the_operands(op: ScalarOp) -> None:
    signature = inspect.signature(lifted(op))
    x = pt.vector("x")
    for count in range(6):
        fits = op.nin is None or count == op.nin
        try:
            signature.bind(*[x] * count)
        except TypeError:
            assert not fits
        else:
            assert fits
    assert signature.bind_partial(name="z").arguments == {"name": "z"}


def test_every_op_has_a_summary_and_no_other_has() -> None:
    assert {op.name for op in OPS} == {*docstring.SUMMARIES}
    assert {*docstring.EXAMPLES} <= {*docstring.SUMMARIES}
    assert all(len(text.split()) > 2 for text in docstring.SUMMARIES.values())
    assert all(
        text.startswith("Return ") and text.endswith(".") for text in docstring.SUMMARIES.values()
    )


def test_help_prints_it() -> None:
    text = pydoc.plain(pydoc.render_doc(pt.exp))
    assert "exp(x, /, *, name=None, return_list=False)" in text
    assert "Return e to the power x." in text
    assert "scalar_op" not in text


def test_the_class_has_its_own() -> None:
    assert "to every element" in (Elemwise.__doc__ or "")
    assert "to every element" in (inspect.getdoc(Elemwise) or "")


def test_names_of_operands() -> None:
    assert str(inspect.signature(pt.gammainc)).startswith("(k, x, /")
    assert str(inspect.signature(pt.arctan2)).startswith("(y, x, /")
    assert str(inspect.signature(pt.add)).startswith("(*operands")


def huber(x: Any, out: Any = None) -> Any:
    """Return the square near 0, and the absolute value elsewhere."""
    return np.where(np.abs(x) < 1, x * x, np.abs(x))


def test_an_op_of_a_program_is_described_by_its_function() -> None:
    op = ScalarOp("huber", 1, compute=huber, dtypes=lambda x: x, domain="(0, inf)")
    text = lifted(op).__doc__
    assert "Return the square near 0" in text
    assert "x in (0, inf)" in text
    assert ">>>" not in text


def test_it_is_not_loaded_before_somebody_asks() -> None:
    code = "import sys, rewrite_engine.tensor as pt; m = 'rewrite_engine.scalar.docstring'\n"
    code += "assert m not in sys.modules; pt.exp.__doc__; assert m in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
