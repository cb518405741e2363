"""Kernels as text: `explain --kernel`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.__main__ import WRONG_ARGUMENT, main
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report

pytest.importorskip("llvmlite")
x, y, m = pt.vector("x"), pt.vector("y"), pt.matrix("m")


def listed(inputs: Any, outputs: Any, **options: Any) -> list[str]:
    """Return the descriptions of the kernels of a function, without the width of registers."""
    with recording() as recorder:
        rw.function(inputs, outputs, mode=options.get("mode", "native"))
    ((_, kernels),) = Report(recorder.records, []).kernels("all")
    return ["\n".join([cut(line) for line in k.lines()]) for k in kernels]


def cut(line: str) -> str:
    """Leave out how many elements are computed at a time."""
    return re.sub(r", (\d+ elements at a time|one by one).*:$", ":", line)


def test_a_loop() -> None:
    assert listed([x, y], [pt.exp(x) * y + pt.maximum(x, 0)]) == [
        """\
kernel 1: exp, mul, maximum, add
  for i in range(x.shape[0]):
    t1 = exp(x[i])  # calls exp: 35 operations
    t2 = mul(t1, y[i])
    t3 = maximum(x[i], 0)  # 2 operations
    result 0 = add(t2, t3)
    store result 0[i]
  for each element: 39 operations, 24 bytes
  lowered by functions/exp_in_steps, operations/greater_than_number"""
    ]


def test_reductions_and_what_is_computed_once() -> None:
    first, second, *_ = listed([m], [(m * 2).sum(axis=1).max()])
    assert (
        first
        == """\
kernel 1: Sum{axis=1}
  for i in range(m.shape[0]), j in range(m.shape[1]):
    t1 = m[i, j]
    t2[i] = add of t1 over j
  for each element: 1 operation, 8 bytes"""
    )
    assert "maximum of" in second


def test_statements_of_their_own() -> None:
    (first, *_) = listed([m, x], [pt.exp(m @ x)])
    assert first == "kernel 1: dot\n  t1 = dot(m, x)"


def test_the_rules_of_a_kernel_are_those_of_the_phase() -> None:
    """Each rule that a listing names fires in the phase "lower" on the VM."""
    out = pt.isfinite(x) & (pt.sign(x) > 0)
    (text,) = listed([x], [out])
    named = text.splitlines()[-1].removeprefix("  lowered by ").split(", ")
    with recording() as recorder:
        rw.function([x], out, mode=rw.Mode("vm").including("lower"))
    fired = {step.rule_name for step in recorder.records[0].steps}
    assert {*named} <= fired
    assert len(named) == 2


def test_machine_code() -> None:
    with recording() as recorder:
        rw.function([x, y], x * y, mode="native")
    ((_, (kernel,)),) = Report(recorder.records, []).kernels("1")
    assert "define i64 @k_" in kernel.llvm()
    assert any([word.startswith("ret") for word in kernel.assembly().split()])


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import rewrite_engine as rw, rewrite_engine.tensor as pt\n"
        "x = pt.vector('x')\n"
        "f = rw.function([x], pt.exp(x), mode='native')\n"
    )
    assert main(["--kernel", "1", "--asm", str(script)]) == 0
    told = capsys.readouterr().out
    assert "t1 = exp" in told or "result 0 = exp(x[i])" in told
    assert "ret" in told
    assert main(["--kernel", "7", str(script)]) == WRONG_ARGUMENT
    assert "no kernel '7': the last has the number 1" in capsys.readouterr().err


def test_there_may_be_none() -> None:
    with recording() as recorder:
        rw.function([x], pt.exp(x), mode="vm")
    with pytest.raises(UnknownNameError, match="no function is machine code"):
        Report(recorder.records, []).kernels("all")
