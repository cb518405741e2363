"""Packs of other distributions and rule files: found, named, switched off, and wrong ones told."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DuplicateRuleError,
    PackError,
    PatternError,
    UnboundVariableError,
    UnknownNameError,
)
from rewrite_engine.explain import explain
from rewrite_engine.language import rewritten
from rewrite_engine.match.query import Query
from rewrite_engine.pipeline import packs, phases
from tests.pipeline.test_rule_files import INSIDE

ROOT = Path(__file__).resolve().parents[2]
RULES = '''
from rewrite_engine.language import *
import rewrite_engine.tensor as pt

@rule(phase="specialize")
def tan_of_arctan(x: Inexact):
    """One is the inverse of the other.

    >>> rewritten(pt.tan(pt.arctan(pt.vector("x"))))
    x
    """
    return pt.tan(pt.arctan(x)) >> x
'''
BROKEN = "import rewrite_engine\n\n1 / 0\n"
TYPO = RULES.replace('"specialize"', '"specialise"')
NO_RULES = "from rewrite_engine.rules.exp_log import log_of_exp\n"
FUNCTION = RULES + "\n\ndef rules():\n    import sys\n    return sys.modules[__name__]\n"
x = pt.vector("x")
TERM = pt.tan(pt.arctan(x))


def is_loaded(name: str) -> bool:
    return any(module.startswith(f"{name}_") for module in sys.modules)


@pytest.mark.parametrize(
    ("source", "entry"),
    [
        (RULES, "a = {module}"),
        (RULES, "a = {module}:tan_of_arctan"),
        (RULES + "\nimport rewrite_engine as r\nR = r.RuleSet([tan_of_arctan])", "a = {module}:R"),
        (FUNCTION, "a = {module}:rules"),
    ],
    ids=["module", "rule", "set", "function"],
)  # fmt: skip
def test_a_pack_is_found_when_a_graph_is_rewritten(install: Any, source: str, entry: str) -> None:
    install("mechanics", source, entry)
    (pack,) = packs.installed()
    assert str(pack).startswith(
        "the pack 'a' of the distribution mechanics 1.2 (rewrite_engine.rules: a = "
    )
    assert not is_loaded("mechanics")
    assert repr(rewritten(TERM)) == "x"
    assert is_loaded("mechanics")
    assert "tan_of_arctan" in [r.short_name for r in phases.known_rules()]
    assert "tan_of_arctan" not in [r.short_name for r in phases.all_rules()]


@pytest.mark.parametrize("name", ["physics", "mechanics"])
def test_a_pack_can_be_switched_off_without_importing_it(install: Any, name: str) -> None:
    install("mechanics", BROKEN, "physics = {module}")
    f = rw.function([x], TERM, mode=rw.Mode("fast_run").excluding(name, "inplace"))
    assert len(f.fgraph) == 2
    assert not is_loaded("mechanics")


def test_rules_of_a_pack_answer_to_all_their_names(install: Any) -> None:
    install("mechanics", RULES, "physics = {module}")
    rule = phases.known_rules()["tan_of_arctan"]
    for name in (rule.name, rule.short_name, rule.pack, "physics", "mechanics", "specialize"):
        chosen = phases.optimizer(Query().excluding(name))
        assert not [r for part in chosen for r in getattr(part, "rules", ()) if r is rule], name
    only = phases.optimizer(Query().requiring("physics"))
    assert {r for part in only for r in getattr(part, "rules", ())} == {rule}


@pytest.mark.parametrize("head", ["", '__pack__ = "optics"\n'])
def test_a_rule_has_the_name_of_its_entry_point_from_the_start(install: Any, head: str) -> None:
    install("mechanics", head + RULES, "physics = {module}")
    rule = import_module(packs.installed()[0].entry.module).tan_of_arctan
    assert rule.name == "physics/tan_of_arctan"
    assert phases.known_rules()["physics/tan_of_arctan"] is rule
    assert not rule.names & {"optics", rule.module}


def test_an_error_in_a_rule_of_a_pack_names_it_so(install: Any) -> None:
    install("mechanics", RULES.replace(">> x", ">> y"), "physics = {module}")
    with pytest.raises(PackError, match=r"rule physics/tan_of_arctan \("):
        rewritten(TERM)


def test_rules_from_elsewhere_belong_to_the_pack_that_offers_them(
    install: Any, tmp_path: Path
) -> None:
    install("optics", RULES, "")
    elsewhere = f"optics_{tmp_path.name}".replace("-", "_")
    more = f"""
        from {elsewhere} import tan_of_arctan
        from rewrite_engine.rules.exp_log import log_of_exp
        from rewrite_engine.rewrite.strategies import first, seq
        both = first(tan_of_arctan, log_of_exp)
        RULES = [tan_of_arctan, both, seq(tan_of_arctan, log_of_exp)]
    """
    install("mechanics", more, "physics = {module}")
    known = phases.known_rules()
    (rule,) = [r for r in known if r.short_name == "tan_of_arctan"]
    text = "(physics/tan_of_arctan, exp_log/log_of_exp)"
    assert rule.name == "physics/tan_of_arctan"
    assert known["physics/both"].text == f"first{text}"
    assert known[f"seq{text}"].pack == "physics"
    assert known["exp_log/log_of_exp"].pack == "exp_log"
    added = rw.Mode("fast_run") + rw.RuleSet([rule])
    assert [r for r in added.rules if r.short_name == "tan_of_arctan"] == [rule]


def test_explain_knows_the_rules_of_packs(install: Any) -> None:
    install("mechanics", RULES, "physics = {module}")
    report = explain(TERM)
    text = "".join(str(report).split())  # (lines are wrapped)
    assert re.search(r"physics/tan_of_arctan\S*mechanics_\w+\.py:5", text)
    (refusal,) = [answer for _, answer in explain(pt.tan(x)).why_not("tan_of_arctan")]
    assert refusal.nodes[0][1].rule.name == "physics/tan_of_arctan"


@pytest.mark.parametrize(
    ("source", "entry", "texts"),
    [
        (BROKEN, "physics = {module}", [":3: 1 / 0", "ZeroDivisionError: division by zero"]),
        (RULES, "physics = {module}:nothing", ["AttributeError", "nothing"]),
        (RULES, "physics = {module}_missing", ["ModuleNotFoundError", "_missing"]),
        (NO_RULES, "physics = {module}", ["defines no rules (imported rules do not count)"]),
        (RULES, "physics = {module}:__name__", ["must be a module or a RuleSet, or return one"]),
        (
            RULES.replace(">> x", ">> y"),
            "physics = {module}",
            [],
        ),
    ],
    ids=["raises", "attribute", "module", "empty", "kind", "rule"],
)
def test_what_is_wrong_with_a_pack_is_told(
    install: Any, source: str, entry: str, texts: list[str]
) -> None:
    install("mechanics", source, entry)
    with pytest.raises(PackError) as info:
        rw.function([x], TERM)
    text = str(info.value)
    assert text.startswith("the pack 'physics' of the distribution mechanics 1.2")
    assert text.endswith("exclude it: Mode(...).excluding('physics')")
    assert info.value.__cause__ is not None
    for part in texts:
        assert part in text


def test_two_packs_with_rules_of_one_name(install: Any) -> None:
    install("mechanics", RULES, "physics = {module}")
    install("optics", RULES, "physics = {module}")
    with pytest.raises(DuplicateRuleError, match="two rules are called physics/tan_of_arctan") as e:
        rewritten(TERM)
    assert "in the pack 'physics' of the distribution optics 1.2" in str(e.value)
    assert str(e.value).endswith("exclude it: Mode(...).excluding('optics')")
    f = rw.function([x], TERM, mode=rw.Mode().excluding("optics"))
    assert len(f.fgraph) == 0


def test_a_phase_that_does_not_exist(install: Any) -> None:
    install("mechanics", TYPO, "physics = {module}")
    with pytest.raises(UnknownNameError) as info:
        rewritten(TERM)
    assert "belongs to the phase 'specialise', which does not exist" in str(info.value)
    phases = (
        "merge, inner, canonicalize, loops, stabilize, saturate, static, specialize, factorize, "
        "lower, inplace"
    )
    assert phases in str(info.value)
    assert ".py:5" in str(info.value)
    assert "in the pack 'physics' of the distribution mechanics 1.2" in str(info.value)
    mode = rw.Mode().excluding("physics", "inplace")
    assert len(rw.function([x], TERM, mode=mode).fgraph) == 2


def test_looking_for_packs_leaves_the_metadata_alone() -> None:
    code = """
        import sys
        from rewrite_engine.pipeline.packs import installed
        was = "importlib.metadata" in sys.modules
        assert installed() == ()
        assert was or "importlib.metadata" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, cwd=ROOT)


def test_packs_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zipfile import ZipFile

    with ZipFile(tmp_path / "a.zip", "w") as file:
        info = "mechanics-1.2.dist-info"
        file.writestr("zipped_rules.py", RULES)
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: mechanics\nVersion: 1.2\n")
        file.writestr(f"{info}/entry_points.txt", "[rewrite_engine.rules]\nzipped = zipped_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path / "a.zip"))
    packs.installed.cache_clear()
    try:
        (pack,) = packs.installed()
        assert [r.name for r in pack.load()] == ["zipped/tan_of_arctan"]
    finally:
        packs.installed.cache_clear()
        sys.modules.pop("zipped_rules", None)


# --- rule files -------------------------------------------------------------------------------


def written(folder: Path, source: str, name: str = "my_rules.py") -> Path:
    path = folder / name
    path.write_text(source)
    return path


def test_a_rule_file(tmp_path: Path) -> None:
    path = written(tmp_path, RULES)
    rules = rw.load_rules(path)
    (rule,) = rules
    assert rule.name == "my_rules/tan_of_arctan"
    assert rule.where == (str(path), 5)
    assert repr(rewritten(TERM, rules=rules)) == "x"
    mode = rw.Mode("fast_run") + rules
    assert len(rw.function([x], TERM, mode=mode).fgraph) == 0
    left = rw.function([x], TERM, mode=mode.excluding("my_rules", "inplace"))
    assert len(left.fgraph) == 2
    assert "rule_files.my_rules" in sys.modules


def test_a_rule_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = written(tmp_path, RULES)
    first = rw.load_rules(str(path))
    assert rw.load_rules(path) is first
    path.write_text(RULES + "\n")
    assert rw.load_rules(path)["tan_of_arctan"] is not first["tan_of_arctan"]
    with pytest.raises(DuplicateRuleError):
        first + rw.load_rules(path)


@pytest.mark.parametrize(
    ("source", "error", "texts"),
    [
        (BROKEN, PackError, ["my_rules.py:3: 1 / 0", "ZeroDivisionError"]),
        ("def f(:\n", PackError, ["SyntaxError", "my_rules.py, line 1"]),
        (NO_RULES, PackError, ["my_rules.py defines no rules"]),
        (RULES.replace(": Inexact", ""), None, []),
        (
            RULES.replace("(x: Inexact)", "(x: Inexact, y: Inexact)").replace(">> x", ">> x + y"),
            UnboundVariableError,
            ["rule my_rules/tan_of_arctan", "my_rules.py:5"],
        ),
        (RULES.replace('"""', "#", 1).replace('"""', "#"), PackError, ["SyntaxError"]),
    ],
    ids=["raises", "syntax", "empty", "fine", "rule", "docstring"],
)
def test_what_is_wrong_with_a_file_is_told(
    tmp_path: Path, source: str, error: Any, texts: list[str]
) -> None:
    path = written(tmp_path, source)
    if error is None:
        assert len(rw.load_rules(path)) == 1
        return
    with pytest.raises(error) as info:
        rw.load_rules(path)
    for part in texts:
        assert part in str(info.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.py"):
        rw.load_rules(tmp_path / "nowhere.py")


IDLE = RULES.replace('phase="specialize"', "")
RELATION = """
from rewrite_engine.language import *

@relation()
def itself(term, result):
    "Nothing is gained."
    from kanren import eq
    return eq(term, result)
"""
EQUATION = """
from rewrite_engine.language import *
import rewrite_engine.tensor as pt

@equation
def own_sum(a: Vector, b: Vector):
    "Sums may be taken apart."
    return (a - b).sum(), a.sum() - b.sum()
"""


@pytest.mark.parametrize(
    ("source", "say"), [(IDLE, "@rule(phase="), (RELATION, "@relation(phase=")]
)
def test_a_rule_without_a_phase_is_refused_where_it_would_be_idle(
    tmp_path: Path, source: str, say: str
) -> None:
    path = written(tmp_path, source)
    rules = rw.load_rules(path)
    (rule,) = rules
    for use in (
        lambda: rw.Mode() + rule,
        lambda: rw.Mode() + rules,
        lambda: rw.Mode() + iter([rule]),
        lambda: rewritten(TERM, rules=[rule]),
        lambda: phases.optimizer(None, rules),
    ):
        with pytest.raises(PatternError, match="belongs to no phase, so nothing uses it") as info:
            use()
        assert str(info.value).startswith(f"rule {rule.name} ({path}:{rule.where[1]}")
        assert say in str(info.value)


def test_a_pack_with_a_rule_without_a_phase_is_refused(install: Any) -> None:
    install("mechanics", IDLE, "tan = {module}")
    with pytest.raises(PatternError, match="belongs to no phase") as info:
        rewritten(TERM)
    assert "tan_of_arctan" in str(info.value)
    assert "in the pack 'tan' of the distribution mechanics 1.2" in str(info.value)


def test_an_equation_is_refused_where_its_phase_is_not_asked_for(tmp_path: Path) -> None:
    (own,) = rules = rw.load_rules(written(tmp_path, EQUATION))
    y = (x - 2 * x).sum()
    mode = rw.Mode() + own
    for use in (lambda: mode.optimizer, lambda: rewritten(y, rules=rules)):
        with pytest.raises(PatternError, match=r"runs only on request") as info:
            use()
        assert str(info.value).startswith(f"rule {own.name} (")
        assert "Mode(...).including('saturate')" in str(info.value)
    (phase,) = [p for p in mode.including("saturate").optimizer.parts if p.name == "saturate"]
    assert own.name in {name for rule in phase.rules for name in rule.names}
    for without in ("saturate", own.name):
        assert "saturate" not in [part.name for part in mode.excluding(without).optimizer.parts]


def test_a_file_with_two_rules_of_one_name(tmp_path: Path) -> None:
    again = RULES + "\n" + RULES.partition("\n\n")[2]
    with pytest.raises(DuplicateRuleError) as info:
        rw.load_rules(written(tmp_path, again))
    assert "is the second rule of this name here; the first is at" in str(info.value)
    assert str(info.value).count("my_rules.py:") == 2
    assert len(rw.load_rules(written(tmp_path, RULES + "\n# changed"))) > 0


def test_strategies_and_choices_of_packs(install: Any) -> None:
    strategy = 'both = seq(turned, difference, phase="canonicalize")\n'
    install("mechanics", INSIDE + strategy, "turns = {module}")
    (pack,) = packs.installed()
    assert [rule.short_name for rule in pack.load()] == ["both"]
    y = pt.sinh(x) - pt.cosh(x)
    assert repr(rewritten(y)) == "-exp(-x)"
    mode = rw.Mode("fast_run").excluding("turns", "combine_terms")
    assert "cosh" in rw.pp(rw.function([x], y, mode=mode).program.fgraph.outputs[0])
