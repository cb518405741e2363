"""Options are honoured, or refused: none is ignored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import In, Mode, Out, loops
from rewrite_engine.compile import DebugMode, MonitorMode, NanGuardMode
from rewrite_engine.config import config
from rewrite_engine.errors import OptionError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.rewrite.strategies import innermost

x = pt.dvector("x")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: rw.function([x], x, profile=1), "profile must be True, False, a text"),
        (lambda: rw.function([x], x, update={}), "did you mean updates"),
        (lambda: rw.function([x], x, on_unused="ignore"), "did you mean on_unused_input"),
        (lambda: rw.function([x], x).copy(profile=1), "profile must be True"),
        (lambda: In(x, mutabel=True), "did you mean mutable"),
        (lambda: Out(x, borow=True), "did you mean borrow"),
        (lambda: rw.shared(np.ones(2), nmae="w"), "did you mean name"),
        (lambda: Mode(optimiser=None), "Mode has no option 'optimiser'; did you mean optimizer"),
        (lambda: DebugMode(chek_isfinite=False), "DebugMode has .*did you mean check_isfinite"),
        (lambda: NanGuardMode(nan_is_eror=False), "NanGuardMode has .*did you mean nan_is_error"),
        (lambda: MonitorMode(pre_fn=None), "MonitorMode has .*did you mean pre_func"),
        (lambda: rw.scan(abs, x, output_info=1), "scan has .*did you mean outputs_info"),
        (lambda: loops.map(abs, x, go_backward=1), "map has .*did you mean go_backwards"),
        (lambda: loops.reduce(abs, x, 1.0, nme="f"), "reduce has .*did you mean name"),
        (lambda: loops.foldl(abs, x, 1.0, mod=None), "foldl has .*did you mean mode"),
        (lambda: loops.foldr(abs, x, 1.0, mod=None), "foldr has .*did you mean mode"),
        (
            lambda: loops.scan_checkpoints(abs, x, save_every_n=2),
            "scan_checkpoints has .*did you mean save_every_N",
        ),
        (lambda: rw.shared(np.ones(2), target="gpu"), "target"),
        (lambda: rw.shared(2.0, shape=(3,)), "no dimensions"),
        (lambda: rw.shared(2.0, broadcastable=(True,)), "no dimensions"),
        (lambda: rw.shared("abc", broadcastable=(True,)), "str has none"),
        (lambda: rw.shared(np.ones(1), shape=(1,), broadcastable=(False,)), "not both"),
        (lambda: rw.shared({}, shape=(3,)), "shape"),
        (lambda: pt.set_subtensor(x[0], 1.0, tolerate_inplace_aliasing=True), "omit inplace"),
        (lambda: verify_grad(pt.exp, [np.ones(2)], out_type="float32"), "out_type"),
        (lambda: verify_grad(pt.exp, [np.ones(2)], no_debug_ref=False), "no_debug_ref"),
    ],
)
def test_what_cannot_be_had_is_refused(call: Any, match: str) -> None:
    with pytest.raises(OptionError, match=match):
        call()


def test_falsy_options_are_as_nothing() -> None:
    rw.function([In(x, implicit=False)], Out(x, borrow=True), profile=False)
    rw.shared(2.0, shape=())


def test_a_mode_with_an_optimizer_of_its_own_has_no_query() -> None:
    for change in ("including", "excluding", "requiring"):
        with pytest.raises(ValueError, match="its own optimizer"):
            getattr(Mode(optimizer=innermost()), change)("inplace")


@pytest.mark.parametrize(("name", "value"), [("fold_limit", "1"), ("check", "yes")])
def test_settings_have_types(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        setattr(config, name, value)


def test_a_clone_can_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(FunctionGraph, "check_integrity", lambda graph: seen.append(graph))
    FunctionGraph([x], [pt.exp(x)]).clone(check_integrity=True)
    assert len(seen) == 1
