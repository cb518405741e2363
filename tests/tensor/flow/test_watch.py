"""`Print` and `PdbBreakpoint`: values are shown where they are computed, whatever is rewritten."""

from __future__ import annotations

import builtins
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import ifelse
from rewrite_engine.errors import NDimError
from rewrite_engine.gradient import Rop, grad
from rewrite_engine.tensor.blockwise import vectorize_graph
from rewrite_engine.tensor.flow.watch import PdbBreakpoint, Print

x, c = pt.dvector("x"), pt.lscalar("c")
shown = Print("x:")
LINE = "x: __str__ = [1. 2.]\n"


@pytest.mark.parametrize("mode", ["vm", "py", "fast_compile"])
def test_values_are_printed(mode: str, capsys: Any) -> None:
    assert rw.printing.Print is Print
    f = rw.function([x], shown(x) * 2, mode=mode)
    for _ in range(2):
        assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert capsys.readouterr().out == 2 * LINE


def test_attributes_and_functions(capsys: Any) -> None:
    seen: list[Any] = []
    y = Print("x", attrs=["shape", "max"])(x)
    z = Print(global_fn=lambda op, value: seen.append((op.message, value.tolist())))(y)
    rw.function([x], z)([1.0, 2.0])
    assert capsys.readouterr().out == "x shape = (2,)\nx max = 2.0\n"
    assert seen == [("", [1.0, 2.0])]


@pytest.mark.parametrize(
    "use",
    [
        lambda y: y.shape[0],
        lambda y: pt.zeros_like(y),
        lambda y: pt.switch(pt.constant(True), x, y),
        lambda y: y - y,
        lambda y: (y * 0).sum(),
        lambda y: pt.log(pt.exp(y))[0],
    ],
)
def test_no_rule_drops_it(use: Any, capsys: Any) -> None:
    f = rw.function([x], use(shown(x)))
    capsys.readouterr()
    f([1.0, 2.0])
    assert capsys.readouterr().out == LINE


def test_each_use_prints_for_itself(capsys: Any) -> None:
    f = rw.function([x], shown(x) + shown(x))
    f([1.0, 2.0])
    assert capsys.readouterr().out == 2 * LINE
    y = shown(x)
    rw.function([x], y + y)([1.0, 2.0])
    assert capsys.readouterr().out == LINE


def test_constants_are_printed_in_calls(capsys: Any) -> None:
    f = rw.function([], shown(pt.constant([1.0, 2.0])) + 1)
    assert capsys.readouterr().out == ""
    f()
    assert capsys.readouterr().out == LINE


def test_derivatives_pass(capsys: Any) -> None:
    f = rw.function([x], [grad((shown(x) ** 2).sum(), x), Rop(shown(x) ** 2, x, x)])
    got = f([1.0, 2.0])
    assert [v.tolist() for v in got] == [[2.0, 4.0], [2.0, 8.0]]
    assert capsys.readouterr().out == 2 * LINE


def test_in_branches_and_loops(capsys: Any) -> None:
    f = rw.function([c, x], ifelse(c, shown(x), x))
    f(0, [1.0, 2.0])
    assert capsys.readouterr().out == ""
    f(1, [1.0, 2.0])
    assert capsys.readouterr().out == LINE
    out = rw.scan(lambda v: Print("v")(v) * 2, x, return_updates=False)
    assert rw.function([x], out)([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert capsys.readouterr().out == "v __str__ = 1.0\nv __str__ = 2.0\n"


def test_batches_types_and_pickles(capsys: Any) -> None:
    m = pt.dmatrix("m")
    vectorize_graph(shown(x), {x: m}).eval({m: [[1.0]]})
    assert capsys.readouterr().out == "x: __str__ = [[1.]]\n"
    y = pickle.loads(pickle.dumps(shown(x)))
    assert (str(y.owner.op), y.type) == ("Print{'x:'}", x.type)
    state = rw.shared(np.random.default_rng(1))
    draw = pt.random.normal(rng=Print("state")(state))
    rw.function([], draw)()
    assert capsys.readouterr().out.startswith("state __str__ = Generator")


def test_memory_is_safe() -> None:
    f = rw.function([x], [Print(global_fn=lambda op, value: None)(pt.exp(x)) + 1, pt.exp(x)])
    got = f([0.0])
    assert [v.tolist() for v in got] == [[2.0], [1.0]]
    silent = Print(global_fn=lambda op, value: None)
    a = np.ones(2)
    got = rw.function([x], silent(x))(a)
    assert not np.shares_memory(got, a)


def test_breakpoints(monkeypatch: Any, capsys: Any) -> None:
    met: list[Any] = []

    def stop() -> None:
        values = sys._getframe(1).f_locals["values"]
        met.append([v.tolist() for v in values])
        values[0] = values[0] * 10

    monkeypatch.setattr(builtins, "breakpoint", stop)
    y, total = PdbBreakpoint("large")(x.sum() > 5, x, x.sum())
    f = rw.function([x], [y * total, grad((y**2).sum(), x), y.shape[0]])
    assert f([1.0, 2.0])[0].tolist() == [3.0, 6.0]
    assert met == []
    a = np.array([4.0, 2.0])
    got = f(a)
    assert met == [[[4.0, 2.0], 6.0]]
    assert got[0].tolist() == [240.0, 120.0]
    assert got[1].tolist() == [80.0, 40.0]
    assert a.tolist() == [4.0, 2.0]
    assert "breakpoint 'large'" in capsys.readouterr().out
    with pytest.raises(NDimError, match="the condition must be a single number"):
        PdbBreakpoint("no")(x, x)
