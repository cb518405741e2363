"""`rw.check`, `python -m rewrite_engine.check`, and what is told when rules are used."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.__main__ import main
from rewrite_engine.check.finding import CheckReport, Finding, Kind
from rewrite_engine.check.lengths import small_lengths
from rewrite_engine.check.target import target_of
from rewrite_engine.check.termination import unproved
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.language import *
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.rewrite.step import RuleWarning
from tests.check.planted import HEADER, rule_of

x = pt.vector("x")


@rule(phase="canonicalize", claim=exact)
def wrong(x: Float, y: Float):
    """(Wrong: of NaN.)"""
    return pt.invert(pt.lt(x, y)) >> pt.ge(x, y)


@rule(phase="stabilize")
def right(x: Float):
    """(Digits.)

    >>> rewritten(1 + pt.cos(pt.vector("x")))
    2.0 * sqr(cos(x * 0.5))
    """
    return 1 + pt.cos(x) >> 2 * pt.sqr(pt.cos(x / 2))


def pack(folder: Path, source: str = "") -> Path:
    path = folder / "pack.py"
    path.write_text(HEADER + source)
    return path


def test_a_rule_alone() -> None:
    report = rw.check(wrong)
    (found,) = [f for f in report if f.kind is Kind.WRONG]
    assert (found.check, found.name, found.where) == ("claims", "claim", wrong.where)
    assert "test_run.py" in found.place
    assert "nan" in found.example
    assert report.failed
    assert str(report).startswith("WRONG claim: ")
    report = rw.check(right, only=["lint", "overlaps", "claims"])
    assert {(f.kind, f.subject) for f in report} == {(Kind.OVERLAP, right.name)}
    assert any("lead log(1.0 + cos(x2)) to two ends" in f.why for f in report)


def test_what_else_may_be_checked() -> None:
    assert rw.check(rw.RuleSet([right])).subjects == 1
    assert rw.check([right, wrong]).failed
    assert rw.check(pt.exp).findings == []
    assert not rw.check("logic", only="lint").failed
    assert rw.check("rewrite_engine.rules.logic", only="lint").subjects > 1
    with pytest.raises(TypeError, match="a pack or a distribution, not 3"):
        rw.check(3)


def test_only_and_fast() -> None:
    assert list(rw.check(wrong, only=["termination"]).seconds) == ["termination"]
    assert not rw.check(wrong, fast=True).failed
    with pytest.raises(UnknownNameError, match="did you mean claims"):
        rw.check(wrong, only="claim")
    with pytest.raises(UnknownNameError, match="did you mean exp_log"):
        rw.check("exp_logs")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(pack(tmp_path))]) == 0
    assert "no finding" in capsys.readouterr().out
    path = pack(tmp_path, rule_of("pt.expm1(x) >> pt.exp(x) - 1"))
    assert main([str(path), "--json", "--only", "claims"]) == 1
    told = json.loads(capsys.readouterr().out)
    (found,) = told["findings"]
    assert (found["kind"], found["subject"]) == ("WRONG", "pack/wrong")
    assert found["where"][0] == str(path)
    assert told["failed"]
    assert main([str(tmp_path / "none.py")]) == 2
    assert main(["no_such_pack"]) == 2
    assert "no_such_pack" in capsys.readouterr().err


def test_a_report_without_failures() -> None:
    report = CheckReport()
    report.add([Finding(Kind.LINT, "lint", "tag", "a/b", None, "so")] * 2)
    assert len(report) == 1
    assert not report.failed
    assert report.findings[0].place == ""


def test_rules_beside_a_rule_alone_are_not_missed(tmp_path: Path) -> None:
    path = pack(tmp_path, rule_of("pt.arcsinh(-x) >> -pt.arcsinh(x)"))
    first = next(iter(rw.load_rules(path)))
    assert [f for f in rw.check(first) if f.name == "unreached"] == []
    assert [f for f in rw.check(path) if f.name == "unreached"] == []


def test_a_file_that_chooses_its_rules(tmp_path: Path) -> None:
    inside = rule_of("pt.arcsinh(-x) >> -pt.arcsinh(x)").replace("\n", "\n    ")
    path = pack(tmp_path, f"def make():\n    {inside}\n    return wrong\nRULES = [right, make()]\n")
    assert [f.name for f in rw.check(path) if f.kind is Kind.DEAD] == []
    assert len(target_of(path).rules) == 2


@pytest.mark.on_vm  # (with native code, the phase "inplace" runs only on request)
@pytest.mark.parametrize(
    ("options", "told"),
    [('phase="inplace"', "tries no rules of packs"),
     ('claim=assumes("fast-math")', "did you mean fastmath"),
     ('tags=["pairwize"]', "did you mean pairwise")],
)  # fmt: skip
def test_warned_of_when_a_mode_uses_it(tmp_path: Path, options: str, told: str) -> None:
    path = pack(tmp_path, rule_of("pt.arcsinh(x) >> pt.arctan(x)", "x: Inexact", options))
    with pytest.warns(RuleWarning, match=told) as caught:
        rw.function([x], x, mode=rw.Mode() + rw.load_rules(path))
    (one,) = [w for w in caught if w.category is RuleWarning]
    assert (one.filename, one.lineno) == rw.load_rules(path)["wrong"].where


def test_warned_of_when_a_file_is_read(tmp_path: Path) -> None:
    source = rule_of("pt.arcsinh(x) >> pt.arctan(x)").replace("\n", "\n    ")
    with pytest.warns(RuleWarning, match="defined in a class"):
        rw.load_rules(pack(tmp_path, f"class Rules:\n    {source}\n"))


def test_shipped_rules_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rw.Mode("fast_run")
        rw.function([x], pt.log(1 + x), mode=rw.Mode() + right)


def test_weights_of_rules_that_end_together() -> None:
    @rule()
    def split(x: Inexact, y: Inexact):
        """(More nodes on the right.)"""
        return pt.exp(x + y) >> pt.exp(x) * pt.exp(y)

    @rule()
    def fewer(x: Inexact):
        """(Fewer.)"""
        return pt.sinh(pt.arcsinh(x)) >> x

    @rule()
    def back(x: Inexact, y: Inexact):
        """(The other way.)"""
        return pt.exp(x) * pt.exp(y) >> pt.exp(x + y)

    left, orders = unproved([back, fewer], rw.RuleSet())
    assert left == []
    assert orders
    assert set(unproved([split, back, fewer], rw.RuleSet())[0]) == {split, back}


def test_one_pack_of_the_library_is_as_it_says() -> None:
    assert not rw.check("exp_log").failed
    assert all_rules()["log_of_exp"] in target_of("exp_log").rules


OVERLAPS = """
@rule(phase="canonicalize", claim=exact{})
def inner(x: Float):
    "."
    return pt.arcsinh(-x) >> -pt.arcsinh(x)

@rule(phase="canonicalize", claim=exact)
def outer(x: Float):
    "."
    return pt.erf(pt.arcsinh(x)) >> pt.erfc(pt.arcsinh(x))
"""


def test_an_overlap_that_a_rule_explains(tmp_path: Path) -> None:
    path = pack(tmp_path, OVERLAPS.format(""))
    (found,) = rw.check(path, only="overlaps")
    assert (found.kind, found.subject) == (Kind.OVERLAP, "pack/outer")
    assert found.example.startswith("outer first: ")
    assert 'overlaps="why ' in found.fix
    path = pack(tmp_path, OVERLAPS.format(', overlaps="erf has no use of a sign"'))
    report = rw.check(path, only="overlaps")
    assert report.findings == []
    assert any("pack/outer and pack/inner" in f.why for f in report.explained)
    assert any(f.why.endswith("erf has no use of a sign") for f in report.explained)
    count = len(report.explained)
    assert f"{count} explained" in report.summary
    assert json.loads(report.json())["explained"] == count
    assert not report.failed


def test_an_explanation_of_nothing(tmp_path: Path) -> None:
    path = pack(tmp_path, rule_of("pt.arcsinh(-x) >> -pt.arcsinh(x)", options='overlaps="so"'))
    (found,) = rw.check(path, only="overlaps")
    assert (found.kind, found.name) == (Kind.LINT, "no overlap")


def test_overlaps_with_shipped_rules_are_told(tmp_path: Path) -> None:
    source = rule_of("pt.neg(pt.arcsinh(x)) >> pt.arcsinh(pt.abs(x))", "x: Float")
    report = rw.check(pack(tmp_path, source), only="overlaps")
    assert any("algebra/" in f.why for f in report), str(report)
    assert {f.subject for f in report} == {"pack/wrong"}


def test_all_overlaps_of_the_library_join_or_are_explained() -> None:
    report = rw.check(only="overlaps")
    assert report.findings == []
    assert len(report.explained) > 20


ROUND = "".join(
    [rule_of(f"pt.{a}(x) >> pt.{b}(x)", "x: Float", name=f"from_{a}")
     for a, b in (("sinh", "arcsinh"), ("arcsinh", "arccosh"), ("arccosh", "sinh"))]
)  # fmt: skip


def test_a_loop_through_several_rules_is_told_once_with_its_turn(tmp_path: Path) -> None:
    report = rw.check(pack(tmp_path, ROUND))
    (found,) = [f for f in report if f.kind is Kind.LOOPS]
    assert found.why.endswith("pack/from_arccosh, pack/from_arcsinh, pack/from_sinh")
    assert len(found.example.splitlines()) == 4  # the term, and one turn
    assert {f.subject for f in report if f.name == "termination"} == {
        "pack/from_arccosh", "pack/from_arcsinh", "pack/from_sinh",
    }  # fmt: skip


@pytest.mark.parametrize(
    "sides",
    ["pt.cosh(x) >> pt.sinh(x) * pt.sinh(x) + x",  # reads x more often
     "1 - pt.cos(x) >> 2 * pt.sqr(pt.sin(x / 2))",
     "pt.arcsinh(pt.sinh(x) + y) >> pt.arcsinh(y) + pt.sinh(pt.sinh(x))"],
)  # fmt: skip
def test_rules_that_repeat_variables_end(tmp_path: Path, sides: str) -> None:
    path = pack(tmp_path, rule_of(sides, "x: Float, y: Float" if "y" in sides else "x: Float"))
    assert rw.check(path, only="termination").findings == []


def test_all_rules_of_the_library_end() -> None:
    assert rw.check(only="termination").findings == []


ENDS = """
def size(term):
    return len(repr(term)) if term.owner is None else 1 + size(term.owner.inputs[0])

@rule(phase="canonicalize", ends={})
def said(x: Float):
    "."
    return pt.erf({}) >> pt.erf({})
"""


@pytest.mark.parametrize(
    ("ends", "left", "right", "told"),
    [("size", "pt.tan(pt.arctan(x))", "x", ""),
     ("size", "x", "pt.tan(pt.arctan(x))", "its measure is not made smaller"),
     ("at_most(1)", "pt.tan(pt.tan(x))", "pt.arctan(x)", ""),
     ("at_most(1)", "pt.tan(x)", "pt.tan(pt.arctan(x))", "more often than at most 1 times")],
)  # fmt: skip
def test_why_a_rule_says_that_it_ends(
    tmp_path: Path, ends: str, left: str, right: str, told: str
) -> None:
    report = rw.check(pack(tmp_path, ENDS.format(ends, left, right)), only="termination")
    assert [(f.kind, f.name) for f in report] == [(Kind.WRONG, "ends")] * bool(told), str(report)
    assert all(told in f.why for f in report)


@pytest.mark.parametrize(
    ("packs", "subjects"),
    [
        (["loops", "sparse"], 20),
        (["structure"], 5),
        (["solves"], 20),
        (["determinants", "low_rank", "factors"], 15),
    ],
)
def test_values_of_loops_and_of_matrices_are_tried(packs: list[str], subjects: int) -> None:
    """No shipped rule is told, and none is left out; a wrong one is found."""
    report = rw.check(*packs, only="claims")
    assert report.findings == []
    assert report.subjects > subjects


LOOP = """
from rewrite_engine.loops.op import Scan

@node_rewriter([Scan], phase="loops", claim=exact)
def wrong(fgraph, node):
    "."
    last = node.inputs[-1]
    if last.head is pt.mul or last.type.kind != "f" or last.owner is not None:
        return None
    return node.op(*node.inputs[:-1], last * 2, return_list=True)
"""
SPARSE = """
from rewrite_engine.sparse import *
from rewrite_engine.rules.sparse import Sparse

@rule(phase="canonicalize")
def wrong(x: Sparse):
    '''.

    >>> rewritten(sp_sum(csr_matrix("x"), 0))
    '''
    return SpSum(axis=0, sparse_grad=False)(x) >> -SpSum(axis=0, sparse_grad=True)(x)
"""


@pytest.mark.parametrize("source", [LOOP, SPARSE], ids=["loop", "sparse"])
def test_a_wrong_rule_about_loops_or_sparse_matrices(tmp_path: Path, source: str) -> None:
    report = rw.check(pack(tmp_path, source), only="claims")
    assert (Kind.WRONG, "claim") in [(f.kind, f.name) for f in report], str(report)


def test_ops_of_the_library_are_as_they_say() -> None:
    """Some of each kind; all of them are checked by `python -m rewrite_engine.check ops`."""
    known = rw.check("ops", only="lint").subjects
    assert known > 150
    some = [pt.Sum, pt.Subtensor, pt.IncSubtensor, pt.Softmax, pt.Join, pt.linalg.Lstsq, pt.CumOp]
    more = [pt.linalg.CholeskyGradient, pt.minimum, pt.abs, pt.logdiffexp, pt.gammaincc, pt.add]
    assert rw.check(*some, *more, only="ops").findings == []


OP_ALONE = """
import rewrite_engine.tensor as pt
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.node import Apply

class Twice(Op):
    __props__ = ()
    {}

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 2
"""
FACT_ALONE = """
from rewrite_engine.language import *

@fact
def small(x):
    "."
    return unknown("nobody looked")
"""


@pytest.mark.parametrize(
    ("source", "status", "strict"),
    [(OP_ALONE.format(""), 0, 0), (FACT_ALONE, 0, 1),
     (OP_ALONE.format("view_map = {0: [0]}").replace("* 2", "[...]"), 0, 0),
     (OP_ALONE.format("").replace("self, x)", "self, x, *, y)"), 0, 1),
     (OP_ALONE.format("").replace(" * 2", ""), 1, 1), ("x = 1\n", 2, 2)],
    ids=["op", "silent fact", "view", "op that cannot be made", "wrong op", "nothing"],
)  # fmt: skip
def test_a_file_without_rules(tmp_path: Path, source: str, status: int, strict: int) -> None:
    path = tmp_path / "alone.py"
    path.write_text(source)
    only = ["--only", "facts", "--only", "ops"]
    assert main([str(path), *only]) == status
    assert main([str(path), "--strict", *only]) == strict


def test_what_is_unproved_fails_where_strict_is_asked_for(tmp_path: Path) -> None:
    source = rule_of("pt.arcsinh(-x) >> -pt.arcsinh(x)", options='tags=["held_apart"]')
    path = pack(tmp_path, source)
    assert main([str(path), "--only", "claims"]) == 0
    assert main([str(path), "--only", "claims", "--strict"]) == 1
    assert json.loads(rw.check(path, only="claims").json())["unproved"]


@pytest.mark.parametrize(
    ("example", "why"),
    [("pt.arcsinh(-vector('x'))", "guard nonneg(x): its sign is not known"),
     ("pt.arcsinh(vector('x'))", "at arcsinh(x): "),
     ("pt.arccosh(-vector('x'))", "it looks at arcsinh, and there is none")],
)  # fmt: skip
def test_an_example_that_does_not_fire_says_why(tmp_path: Path, example: str, why: str) -> None:
    source = f"""
@rule(phase="canonicalize")
def wrong(x: Inexact):
    '''.

    >>> _ = rewritten({example})
    '''
    return pt.arcsinh(-x) >> -pt.arcsinh(x), given(nonneg(x))
"""
    report = rw.check(pack(tmp_path, source), only="lint")
    (found,) = [f for f in report if f.name == "example"]
    assert "it does not fire in its own example: " in found.why
    assert why in found.why


def test_an_error_in_a_measure_or_a_test_is_a_finding(tmp_path: Path) -> None:
    ends = ENDS.format("(lambda term: 1 / 0)", "pt.tan(pt.arctan(x))", "x")
    (found,) = rw.check(pack(tmp_path, ends), only="termination").findings
    assert "its measure raises ZeroDivisionError" in found.why
    source = "@fact\ndef wrong(x):\n    return because('so')\n"
    source += "@wrong.test\ndef is_so(value):\n    return value.nothing\n"
    (found,) = rw.check(pack(tmp_path, source), only="facts").findings
    assert "it raises AttributeError" in found.why


def test_lengths_that_are_tried_are_small() -> None:
    """Others would fill the memory; numbers that are no lengths stay as they are."""
    n, k, x = pt.lscalar("n"), pt.iscalar("k"), pt.dvector("x")
    given = {n: np.array(-3_037_000_500), k: np.array(2**31 - 1, "int32"), x: np.ones(3)}
    found = small_lengths(given, [pt.ones(abs(n) + 1).sum() + k, x])
    assert (int(found[n]), int(found[k])) == (0, 2**31 - 1)
    assert int(small_lengths(given, [pt.arange(k)])[k]) == 2
    assert small_lengths(given, [x[k]])[x] is given[x]


# --- overlaps with rules of others ----------------------------------------------------------------

TERM = "arcsinh(-x2 * -y2)"
NAMED = """
@rule(phase="canonicalize", claim=exact{})
def outer(x: Float, y: Float):
    "."
    return pt.arcsinh(-x * y) >> pt.arctan(x)
"""


def test_an_overlap_with_a_shipped_rule_is_explained_by_the_author(tmp_path: Path) -> None:
    (found,) = rw.check(pack(tmp_path, NAMED.format("")), only="overlaps")
    assert (found.kind, found.subject) == (Kind.OVERLAP, "pack/outer")
    end = 'overlaps={"algebra/mul_of_negs": "why arcsinh(x2 * y2) is as good"} of outer'
    assert found.fix.endswith(end)
    for name in ("algebra/mul_of_negs", "mul_of_negs"):
        said = {name: "no sign is left"}
        report = rw.check(pack(tmp_path, NAMED.format(f", overlaps={said!r}")), only="overlaps")
        assert report.findings == []
        why = f"pack/outer and algebra/mul_of_negs lead {TERM} to two ends; no sign is left"
        assert why in [f.why for f in report.explained]


def test_an_explanation_that_names_a_rule_without_an_overlap(tmp_path: Path) -> None:
    said = ', overlaps={"log_of_exp": "so", "pack/inner": "so"}'
    path = pack(
        tmp_path,
        OVERLAPS.format("").replace("claim=exact)\ndef outer", f"claim=exact{said})\ndef outer"),
    )
    (found,) = rw.check(path, only="overlaps")
    assert (found.kind, found.name, found.subject) == (Kind.LINT, "no overlap", "pack/outer")
    assert "its overlaps with log_of_exp join" in found.why
    assert found.fix == "leave 'log_of_exp' out of overlaps="


# --- what an author reads first -------------------------------------------------------------------


def test_examples_know_the_library_by_its_short_name(tmp_path: Path) -> None:
    source = """
@rule(phase="stabilize", claim=exact)
def shown(x: Float):
    '''An odd function.

    >>> rw.tensor.arcsinh is pt.arcsinh
    True
    >>> rewritten(pt.arcsinh(-vector("x")))
    -arcsinh(x)
    '''
    return pt.arcsinh(-x) >> -pt.arcsinh(x)
"""
    assert rw.check(pack(tmp_path, source), only="lint").findings == []


def test_the_example_that_is_missing_fits_the_rule(tmp_path: Path) -> None:
    source = rule_of("pt.arcsinh(-x) >> -pt.arcsinh(x)", "x: Float", "claim=exact")
    source += rule_of("pt.arccosh(n) >> compute(lambda n: pt.arccosh(n * 1.0))",
                      "n: Tensor['k', 'k']", 'phase="stabilize"', "ints")  # fmt: skip
    source += '@node_rewriter([pt.sin], phase="canonicalize")\ndef never(fgraph, node):\n    "."\n'
    report = rw.check(pack(tmp_path, source), only="lint")
    fixes = {f.subject: f.fix for f in report if f.name == "no example"}
    shown = 'add one: >>> rewritten(pt.arcsinh(-pt.vector("x"))) gives -arcsinh(x)'
    assert fixes["pack/wrong"] == shown.replace("vector", "scalar")
    assert fixes["pack/never"].startswith("add one: >>> rewritten(...) of a term of sin")
    for fix in fixes.values():
        text, gives, result = fix.removeprefix("add one: >>> ").partition(" gives ")
        if gives:
            path = tmp_path / "pack.py"
            rules = target_of(path).rules
            term = eval(text.removeprefix("rewritten(").removesuffix(")"), {"pt": pt})
            assert repr(rewritten(term, rules=rules)) == result


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 rule, fact or op:"), (2, "2 rules, facts and ops:")]
)
def test_a_summary_counts_one_as_one(count: int, words: str) -> None:
    assert CheckReport(subjects=count).summary.startswith(words)


def test_a_file_of_an_installed_pack_is_no_duplicate_of_itself(install: Any) -> None:
    source = '''
        import rewrite_engine.tensor as pt
        from rewrite_engine.language import *

        @rule(phase="canonicalize", claim=exact)
        def odd(x: Float):
            """An odd function.

            >>> rewritten(pt.arcsinh(-vector("x")))
            -arcsinh(x)
            """
            return pt.arcsinh(-x) >> -pt.arcsinh(x)

        @rule(phase="canonicalize", claim=exact)
        def odd_again(x: Float):
            """A real duplicate.

            >>> rewritten(pt.arcsinh(-vector("x")))
            -arcsinh(x)
            """
            return pt.arcsinh(-x) >> pt.neg(pt.arcsinh(x))
    '''
    path = install("oddities", source, "odd = {module}")
    report = rw.check(str(path), only=["lint", "termination"])
    dead = [(f.kind, f.name, f.subject) for f in report if f.kind is Kind.DEAD]
    assert dead == [(Kind.DEAD, "duplicate", "odd/odd_again")]
