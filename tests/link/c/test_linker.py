"""`Mode(linker="c")` insists on C code; the others run it where there is some."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import NoCCodeError
from rewrite_engine.link import get_linker
from tests.link.c.ops import InPlace, Scale, fraction, inverse, times

x, y = pt.dvector("x"), pt.dscalar("y")


def test_a_graph_of_c_ops() -> None:
    f = rw.function([x, y], Scale()(Scale()(x, y), y), mode=rw.Mode(linker="c"))
    np.testing.assert_array_equal(f([1.0, 2.0], 3.0), [9.0, 18.0])
    total = rw.shared(np.ones(2))
    g = rw.function([y], [], updates={total: Scale()(total, y)}, mode="c")
    g(3.0)
    g(2.0)
    np.testing.assert_array_equal(total.get_value(), [6.0, 6.0])
    a, b = fraction("a"), fraction("b")
    assert rw.function([a, b], times(inverse(a), b), mode="C")((1, 2), (1, 3)) == (2, 3)
    assert rw.function([x], x, mode="c")([1.0]) == [1.0]


def test_an_op_without_c_code_is_named() -> None:
    out = pt.exp(Scale()(x, y))
    with pytest.raises(NoCCodeError) as caught:
        rw.function([x, y], out, mode=rw.Mode(linker="c"))
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("exp")
    assert first.endswith(": has no C code")
    assert "out = pt.exp(Scale()(x, y))" in lines[-2]
    assert 'Mode(linker="c|py")' in lines[-1]
    for linker in ("c|py", "cvm", "vm"):
        f = rw.function([x, y], out, mode=rw.Mode(linker=linker))
        np.testing.assert_allclose(f([1.0], 2.0), np.exp([2.0]))


def test_it_works_in_place_as_the_vm_does() -> None:
    out = InPlace()(InPlace()(x))
    f = rw.function([x], out, mode=rw.Mode(linker="c"))
    assert [node.op.inplace for node in f.nodes] == [False, True]
    given = np.zeros(2)
    np.testing.assert_array_equal(f(given), [2.0, 2.0])
    np.testing.assert_array_equal(given, [0.0, 0.0])


def test_it_can_be_profiled(capsys: pytest.CaptureFixture[str]) -> None:
    f = rw.function([x, y], Scale()(x, y), mode=rw.Mode(linker="c"), profile=True)
    f([1.0], 2.0)
    f.profile.summary()
    assert "Scale" in capsys.readouterr().out


@pytest.mark.on_vm
def test_it_is_found_by_its_name() -> None:
    assert get_linker("c").name == "c"
    assert rw.Mode(linker="c") != rw.Mode(linker="c|py") == rw.Mode()
