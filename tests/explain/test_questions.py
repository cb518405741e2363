"""Questions of the command and of reports, beside those of `test_why.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain import Report, explain, recording
from rewrite_engine.explain.__main__ import main
from rewrite_engine.explain.states import bisected, graph_after, graph_until, own_steps
from rewrite_engine.explain.why import cone
from rewrite_engine.language import rule
from rewrite_engine.printing import pp

THEIRS = """
import pytensor, pytensor.tensor as pt
x = pt.vector("x")
pytensor.function([x], pt.exp(x) * 1, name="f")
"""
x = pt.vector("x")


@rule(phase="canonicalize")
def cosine_is_sine(x):
    """Not true: a rule for tests."""
    return pt.cos(x) >> pt.sin(x)


def told(capsys, *args):
    assert main([*args]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_what_became_of_a_node():
    y = pt.exp(x)
    report = explain([pt.log(1 + y), pt.sin(x) * 1])
    [(_, fate)] = report.became("sin")
    assert (fate.steps, fate.text) == ((), "it stays: sin(x)")
    [(_, fate)] = report.became("log")
    assert [step.rule_name for step in fate.steps] == [
        "exp_log/log_of_one_plus", "exp_log/log1p_of_exp",
    ]  # fmt: skip
    assert fate.text == "it became softplus(x)"
    [(_, fate)] = report.became("exp")
    assert "it is gone: #" in fate.text
    assert "exp_log/log1p_of_exp took it up" in fate.text
    with pytest.raises(UnknownNameError, match="graph as built"):
        report.became("cosh")


def test_a_node_is_asked_for_by_its_line():
    y = pt.log(1 + pt.exp(x))
    line = y.owner.where()[1]
    report = explain(y * 2)
    [(_, answer)] = report.why(f"test_questions.py:{line}")
    assert answer.term == "softplus(x)"
    assert report.became(f":{line}")
    with pytest.raises(UnknownNameError, match="no node of"):
        report.why(":99999")


def test_a_gradient_is_asked_for_by_the_line_it_is_of():
    y = pt.sinh(x)
    line = y.owner.where()[1]
    report = explain(rw.grad(y.sum(), x))
    assert {answer.term for _, answer in report.why(f":{line}")} == {"cosh(x)"}


def test_the_cone_of_a_node_has_all_that_led_to_it():
    report = explain(pt.sin(pt.log(1 + pt.exp(x))), mode=rw.Mode().excluding("inplace"))
    (f,) = report.functions
    [(_, answer)] = report.why("sin")
    numbers = [step.number for step in cone(f.record, answer.node)]
    assert numbers == [step.number for step in f.steps if step.phase == "stabilize"]


def test_a_node_is_called_by_its_term():
    report = explain(pt.exp(x) + pt.log(pt.exp(pt.sinh(x))) * pt.exp(pt.cosh(x)))
    [(_, answer)] = report.why("exp( cosh(x) )")
    assert answer.term == "exp(cosh(x))"
    [(_, fate)] = report.became("log(exp(sinh(x)))")
    assert fate.text == "it became sinh(x)"
    with pytest.raises(UnknownNameError, match="is called 'exp\\(y\\)'"):
        report.why("exp(y)")


def test_a_part_of_a_name_is_told_in_full():
    report = explain(pt.linalg.inv(pt.matrix("m")))
    with pytest.raises(UnknownNameError, match="did you mean MatrixInverse"):
        report.why("inv")


def test_an_error_names_all_functions_that_were_asked():
    with recording() as recorder:
        for name in ("f", "g"):
            rw.function([x], pt.exp(x), name=name)
    with pytest.raises(UnknownNameError, match=r"graph of 'f'.* \(nor in g\)"):
        Report(recorder.records).why("nothing_like_it")


def test_lines_of_steps_of_loops_are_found_inside():
    def step(a, b):
        return pt.log(1 + pt.exp(a)) + pt.sinh(b)  # the line that is asked for

    line = step.__code__.co_firstlineno + 1
    ys, _ = rw.scan(step, sequences=[x], outputs_info=[pt.constant(0.0)])
    report = explain(ys, mode=rw.Mode().excluding("inplace", "loops"))
    [(_, answer)] = report.why(f":{line}")
    assert answer.term.startswith("softplus(x[t]) + sinh(")
    fates = [fate for _, fate in report.became(f":{line}")]
    assert any("log1p_of_exp" in s.rule_name for fate in fates for s in fate.steps) or all(
        fate.end is not None for fate in fates
    )
    [(_, fate)] = report.became("log(1.0 + exp(x[t]))")
    assert [s.rule_name for s in fate.steps] == ["exp_log/log_of_one_plus", "exp_log/log1p_of_exp"]


def test_nodes_of_which_the_same_is_told_are_told_once(capsys):
    code = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nh = x = pt.vector('x')\n"
    code += "for _ in range(30):\n    h = pt.tanh(h * 1.0) ** 2\nrw.function([x], h)"
    text = told(capsys, "--became", ":4", "-c", code)
    assert "29 other nodes like it" in told(capsys, "--became", "pow", "-c", code)
    assert text.count("#") < 10


def test_a_long_term_is_told_as_formulas(capsys):
    code = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nh = x = pt.vector('x')\n"
    code += "for _ in range(30):\n    h = pt.tanh(h) + pt.sin(h)\nrw.function([x], h)"
    text = told(capsys, "--why", "result", "-c", code)
    assert "it = tanh(d1) + sin(d1)" in text
    assert "where, the last first:" in text
    assert "more lines; --full shows them" in text


def test_what_changed_below_is_named():
    @rule(phase="specialize")
    def of_square(x):
        """Never in normal form."""
        return pt.sin(x**2) >> pt.cos(x)

    report = explain(pt.sin(x**2), mode=rw.Mode() + of_square)
    [(_, answer)] = report.why_not(of_square)
    reasons = [one.reason for _, one in answer.nodes]
    assert reasons[0] == (
        "it matches as written; what is below changed first: #1 algebra/pow_two, x ** 2.0 → sqr(x)"
    )


def test_the_graph_at_any_time():
    (f,) = explain(pt.log(1 + pt.exp(x)) * 1).functions
    texts = [pp(graph_until(f.record, n)) for n in range(len(f.steps) + 1)]
    assert texts == [
        "log(1.0 + exp(x)) * 1.0", "log(1.0 + exp(x))", "log1p(exp(x))", "softplus(x)",
    ]  # fmt: skip
    assert pp(graph_after(f.record, "canonicalize")) == texts[1]
    assert pp(graph_after(f.record, "specialize")) == texts[-1]
    with pytest.raises(UnknownNameError, match="canonicalize"):
        graph_after(f.record, "lowering")
    with pytest.raises(UnknownNameError, match="no firing 9"):
        graph_until(f.record, 9)


def test_the_first_wrong_firing_is_found_among_many():
    y = x
    for _ in range(10):
        y = pt.sin(y * 1.0)
    y = pt.cos(y) + pt.log(1 + pt.exp(y))
    report = explain(y, values=[[0.5]], mode=rw.Mode() + cosine_is_sine)
    (f,) = report.functions
    values = [np.array([0.5])]
    expected = [f.record.before.outputs[0].eval(dict(zip(f.record.before.inputs, values)))]
    step = bisected(f.record, values, expected).step
    assert step.rule_name.endswith("cosine_is_sine")
    assert len(own_steps(f.record)) > 10
    assert f"firing #{step.number}, " in f.check.blame


@pytest.mark.on_vm
def test_a_rule_of_a_phase_that_takes_none_is_told_so():
    @rule(phase="inplace")
    def lonely(x):
        """Never tried."""
        return pt.sin(x) >> pt.cos(x)

    report = explain(pt.sin(x), mode=rw.Mode() + lonely)
    [(_, answer)] = report.why_not(lonely)
    assert any("takes no rules" in text for text in [*answer.general, *map(str, answer.nodes)])


def test_an_equation_that_is_shipped_is_known():
    report = explain(pt.sin(x))
    names = [name for name in report.rules.names if "distribut" in name or "factor" in name]
    assert names


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["--expr", "log(1 + exp(x))"], "log1p(exp(x)) → softplus(x)"),
        (["--var", "x: float32[3, ?]", "--expr", "exp(x) * 1"], "x: float32 3×?"),
        (["--until", "1", "--expr", "log(1 + exp(x))"], "result: log1p(exp(x))"),
        (["--graph-after", "stabilize", "--expr", "log(1 + exp(x))"], "result: softplus(x)"),
        (["--step", "2", "--expr", "log(1 + exp(x))"], "term after #2: 1 node result: softplus(x)"),
        (["--became", "log", "--expr", "log(1 + exp(x))"], "it became softplus(x)"),
        (["--diff", "stabilize", "--expr", "log(1 + exp(x))"], "+result = log(1.0 + exp(x))"),
        (["--compat", "-c", THEIRS], "1. f "),
    ],
)  # fmt: skip
def test_the_command_runs_terms_and_lines(capsys, args, part):
    assert part in told(capsys, *args)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([], "name a SCRIPT"),
        (["no_such.json"], "No such file or directory: 'no_such.json'"),
        (["--expr", "exp("], "no term of Python"),
        (["--expr", "1 + exq(x)"], "exq is no function of rewrite_engine.tensor; did you mean"),
        (["--var", "x float64", "--expr", "exp(x)"], "--var is NAME: DTYPE[LENGTHS]"),
        (["--until", "one", "--expr", "exp(x)"], "called by its number"),
    ],
)
def test_what_cannot_be_run_is_told(capsys, args, part):
    assert main(args) == 2
    assert part in capsys.readouterr().err


def test_the_report_goes_into_a_file(capsys, tmp_path):
    file = tmp_path / "report.txt"
    assert main(["-o", str(file), "--expr", "log(1 + exp(x))"]) == 0
    assert "softplus" in file.read_text()
    assert capsys.readouterr().out == ""


def test_strict_wants_everything_compiled_and_compared(capsys):
    fails = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nx = pt.vector('x')\n"
    fails += "try:\n    rw.function([x, x], x)\nexcept Exception:\n    pass"
    assert main(["--strict", "-c", fails]) == 1
    assert main(["--strict", "--expr", "log(1 + exp(x))"]) == 0
    assert "FAILED to compile" in capsys.readouterr().out


def test_what_a_script_prints_is_no_line_for_programs(capsys, tmp_path):
    page = tmp_path / "page.html"
    code = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nprint('hello')\n"
    code += "x = pt.vector('x')\nrw.function([x], pt.log(1 + pt.exp(x)))"
    assert main(["--json", "-", "--html", str(page), "-c", code]) == 0
    shown = capsys.readouterr()
    assert all(line.startswith("{") for line in shown.out.splitlines())
    assert "hello" in shown.err
    assert "softplus" in page.read_text()


def test_strict_wants_claims_kept_and_declarations_true(capsys):
    code = "import rewrite_engine as rw, rewrite_engine.tensor as pt\nx = pt.vector('x')\n"
    code += "f = rw.function([x], pt.abs(rw.assume(x, nonneg=True)) + 1)\nf([1.0])\n"
    assert main(["--strict", "-c", code]) == 0
    assert main(["--strict", "-c", code + "f([-1.0])"]) == 1
    assert "UNTRUE call 2: x is not nonneg" in " ".join(capsys.readouterr().out.split())


def test_bisect_tells_the_firing_and_what_helps(capsys, tmp_path):
    rules = tmp_path / "mine.py"
    rules.write_text(
        "import rewrite_engine.tensor as pt\nfrom rewrite_engine.language import *\n"
        "@rule(phase='canonicalize')\ndef cosine_is_sine(x: Inexact):\n    'Wrong.'\n"
        "    return pt.cos(x) >> pt.sin(x)\n"
    )
    term = "log(1 + exp(x)) * cos(x * 1) + exp(x)"
    text = told(capsys, "--bisect", "--rules", str(rules), "--expr", term)
    assert "values disagree from one firing on" in text
    assert "cos(x) → sin(x)" in text
    assert "without it (--exclude mine/cosine_is_sine) all values agree" in text
    assert "no firing is to blame: no values disagree" in told(
        capsys, "--bisect", "--exclude", "cosine_is_sine", "--rules", str(rules), "--expr", term
    )


def test_a_saved_report_prints_as_the_report_does(capsys, tmp_path):
    saved, page = str(tmp_path / "saved.json"), tmp_path / "page.html"
    program = str(Path(__file__).parent / "programs" / "kalman.py")
    assert main(["--json", saved, program]) == 0
    first = capsys.readouterr().out
    assert main([saved]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == first.splitlines()[2:]
    assert main(["--rule", "drop_unused", "--html", str(page), saved]) == 0
    assert "loops/drop_unused" in capsys.readouterr().out
    assert '"kind": "graph"' in page.read_text()
    assert main(["--why", "log", saved]) == 2
    assert "is in a saved report, which has no graphs to ask" in capsys.readouterr().err
    assert main(["--rule", "no_such_rule", saved]) == 2
