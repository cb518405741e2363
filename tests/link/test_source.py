"""From text to functions: code objects are kept, files and lines are those of each function."""

from __future__ import annotations

import traceback

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.source import LONG, SHORT, define, long_code, short_code

TEXT = """def f(x):
    y = [a / x for a in (1,)]
    g = lambda b: b / (x - 2)
    return g(y[0]) + shift
"""


def test_one_text_is_compiled_once() -> None:
    define(TEXT, 1, "<first>", {})
    misses = short_code.cache_info().misses
    one, two = [define(TEXT, 1, f"<{k}>", {"shift": k}) for k in (10, 20)]
    assert short_code.cache_info().misses == misses
    assert (one(1.0), two(1.0)) == (9.0, 19.0)


@pytest.mark.parametrize(("x", "line"), [(0, 2), (2, 3)])
def test_lines_are_those_of_each_file(x: int, line: int) -> None:
    for name, first in (("<a>", 1), ("<b>", 101)):
        f = define(TEXT, first, name, {"shift": 0})
        assert (f.__code__.co_filename, f.__code__.co_firstlineno) == (name, first)
        with pytest.raises(ZeroDivisionError) as error:
            f(x)
        last = traceback.extract_tb(error.tb)[-1]
        assert (last.filename, last.lineno) == (name, first + line - 1)


def test_long_texts_are_kept_apart_and_the_longest_not_at_all() -> None:
    """So that the memory for code objects has a bound."""
    short, long = short_code.cache_info(), long_code.cache_info()
    define("def f():\n" + "    pass\n" * (SHORT[1] // 8), 1, "<long>", {})
    assert short_code.cache_info() == short
    assert long_code.cache_info().misses == long.misses + 1
    define("def f():\n" + "    pass\n" * (LONG[1] // 8), 1, "<longest>", {})
    assert long_code.cache_info().misses == long.misses + 1


def test_functions_of_one_form_differ_in_their_constants() -> None:
    x = pt.dvector("x")
    found = [rw.function([x], pt.exp(x) * c, mode="vm")([0.0]).item() for c in (2.0, 3.0)]
    assert found == [2.0, 3.0]
