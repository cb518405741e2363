"""Nothing that C code touches is held longer than it should: 100,000 calls leave no reference."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.c import c_function, generic
from rewrite_engine.scalar import ScalarType
from tests.link.c.ops import Ends, Scale, fraction, inverse, times
from tests.link.c.test_params import Polynomial
from tests.link.c.test_type import Code

pytestmark = pytest.mark.usefixtures("few_objects")

CALLS = 100_000


def calls_leave_nothing(call: Callable[[], Any], *held: Any) -> None:
    """Fail if many calls leave references to these objects, objects, or memory."""
    for _ in range(100):
        call()
    while gc.collect():  # what other tests have left may take several turns
        pass
    none = sys.getrefcount(None)
    counts = [sys.getrefcount(one) for one in held]
    before, dtype = len(gc.get_objects()), sys.getrefcount(np.dtype("float64"))
    for _ in range(CALLS):
        call()
    gc.collect()
    assert [sys.getrefcount(one) for one in held] == counts
    assert abs(sys.getrefcount(None) - none) < CALLS // 10  # (others use it, too)
    assert len(gc.get_objects()) - before < 1000
    assert abs(sys.getrefcount(np.dtype("float64")) - dtype) < CALLS // 10
    tracemalloc.start()
    for _ in range(1000):
        call()
    gc.collect()
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert left < 20_000


def test_arrays() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    f = rw.function([x, y], Scale()(x, y))
    given, two, bad = np.ones(3), np.asarray(2.0), np.asarray(13.0)
    calls_leave_nothing(lambda: f(given, two), given, two)
    run = c_function(Scale()(x, y).owner)
    assert run is not None

    def fails() -> None:
        with suppress(ValueError):
            run(given, bad)

    calls_leave_nothing(fails, given, bad)
    old = np.zeros(3)
    calls_leave_nothing(lambda: run(given, two, old), given, old)
    unaligned = np.frombuffer(b"\0" + bytes(24), offset=1)
    calls_leave_nothing(lambda: run(unaligned, two), unaligned, two)


def test_views_and_what_is_overwritten() -> None:
    x, y = pt.dvectors("x", "y")
    run = c_function(Ends()(x, y)[0].owner)
    assert run is not None
    a, b = np.zeros(3), np.ones(3)
    calls_leave_nothing(lambda: run(a, b), a, b)


def test_numbers_objects_and_fractions() -> None:
    kind = ScalarType("float64")
    number = kind("number")
    double = c_function(Code("%(z)s = 2 * %(x)s;", [kind], [kind])(number).owner)
    same = c_function(
        Code("%(z)s = %(x)s; Py_INCREF(%(z)s);", [generic], [generic])(generic()).owner
    )
    product = c_function(times(fraction("a"), fraction("b")).owner)
    upside_down = c_function(inverse(fraction("a")).owner)
    assert double is not None
    assert same is not None
    assert product is not None
    assert upside_down is not None
    two, thing, half, none = np.float64(2), object(), (1, 2), (0, 1)
    calls_leave_nothing(lambda: double(two), two)
    calls_leave_nothing(lambda: same(thing), thing)
    calls_leave_nothing(lambda: product(half, half), half)

    def fails() -> None:
        with suppress(ZeroDivisionError):
            upside_down(none)

    calls_leave_nothing(fails, none)


def test_results_of_another_type() -> None:
    wrong = Code("%(z)s = (PyArrayObject*)%(x)s; Py_INCREF(%(z)s);", [generic], [pt.dvector])
    run = c_function(wrong(generic()).owner)
    assert run is not None
    thing = object()

    def fails() -> None:
        with suppress(TypeError):
            run(thing)

    calls_leave_nothing(fails, thing)


def test_parameters_go_with_the_function() -> None:
    class Factor(float):
        """A number whose end can be seen."""

    kind = ScalarType("float64")
    factor = Factor(1.5)
    gone = weakref.ref(factor)
    run = c_function(Polynomial(1, 2, factor)(kind("x")).owner)
    assert run is not None
    assert run(np.float64(2)) == 9.5
    del factor
    assert gone() is not None
    del run
    gc.collect()
    assert gone() is None


def test_a_function_that_is_made_again_leaves_nothing() -> None:
    node = Polynomial(1, 2, 3)(ScalarType("float64")("x")).owner
    for _ in range(20):
        assert c_function(node) is not None
    while gc.collect():  # what other tests have left may take several turns
        pass
    before = len(gc.get_objects())
    for _ in range(200):
        assert c_function(node) is not None
    gc.collect()
    assert len(gc.get_objects()) - before < 50  # (what else there was may go, too)
