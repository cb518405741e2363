"""Modes: names, queries, and what they say they are."""

from __future__ import annotations

import ast
import copy
import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compat import peer_names
from rewrite_engine.compile import Mode, function, get_default_mode, get_mode, shared
from rewrite_engine.compile.debug import DebugMode
from rewrite_engine.compile.from_graph import OpFromGraph
from rewrite_engine.compile.mode import is_native_usual
from rewrite_engine.config import config
from rewrite_engine.errors import DuplicateRuleError, OptionError, PatternError, UnknownNameError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.intern import _interned
from rewrite_engine.language import Inexact, exact, rule
from rewrite_engine.link import get_linker
from rewrite_engine.loops import scan
from rewrite_engine.match.query import RewriteDatabaseQuery
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import KNOWN, all_rules
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer


def test_names_in_any_case() -> None:
    assert Mode("FAST_RUN") == Mode("fast_run") == Mode() == get_mode(None) == get_mode("Fast_Run")
    assert Mode("fast_compile") != Mode("fast_run")
    assert Mode("vm").linker == "vm"
    assert Mode(optimizer="fast_compile") == Mode("FAST_COMPILE")


def test_the_usual_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code where it can be, if nobody says anything else, but for what compiles fast."""
    names = ("FAST_RUN", "fast_compile", "NUMBA", "CVM", "py")
    for there, usual in ((True, "native"), (False, "vm")):
        monkeypatch.setattr(
            "rewrite_engine.compile.mode.is_native_usual", lambda there=there: there
        )
        with config.change_flags(linker="auto"):
            found = [Mode().linker, *[Mode(name).linker for name in names]]
        assert found == [usual, usual, "vm", usual, "vm", "py"]
    with config.change_flags(linker="py"):
        assert [Mode().linker, Mode("fast_compile").linker] == ["py", "py"]


@pytest.mark.parametrize(
    "where",
    [("sys.platform", "darwin"), ("os.uname", lambda: SimpleNamespace(machine="riscv64")),
     ("sys.version_info", (3, 14, 0)), ("sys.abiflags", "t")],
)  # fmt: skip
def test_native_code_is_usual_where_it_is_tested(where: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(*where)
    assert not is_native_usual.__wrapped__()


def test_what_the_field_writes() -> None:
    x = pt.dvector("x")
    assert Mode("py", "None").optimizer is None
    assert get_default_mode() == get_mode()
    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"])
    f = function([x], pt.log(pt.exp(x)), mode=Mode(linker="py", optimizer=query))
    assert len(f.nodes) == 0


def test_unknown_names() -> None:
    for bad in (lambda: Mode("quick"), lambda: Mode(optimizer="quick"), lambda: get_mode(3)):
        with pytest.raises(UnknownNameError):
            bad()
    config.mode = "quick"
    with pytest.raises(UnknownNameError, match="fast_compile"):
        get_mode(None)


@pytest.mark.on_vm
def test_queries_make_new_modes() -> None:
    mode = Mode("fast_run")
    other = mode.excluding("inplace").including("fastmath").requiring("canonicalize")
    assert mode == Mode("fast_run")
    assert other.query.exclude == {"inplace"}
    assert other.query.include == {"fastmath"}
    assert other.query.require == {"canonicalize"}
    assert repr(other) == (
        "Mode('fast_run').including('fastmath').excluding('inplace').requiring('canonicalize')"
    )
    assert other.including("inplace").query.exclude == set()
    assert hash(mode) == hash(Mode())


@rule(phase="specialize")
def tan_of_arctan(x: Inexact):
    """A rule of a user."""
    return pt.tan(pt.arctan(x)) >> x


@rule(phase="canonicalize", claim=exact)
def log_of_exp(x: Inexact):
    """Not that of the library."""
    return pt.log(pt.exp(x)) >> pt.abs(x)


log_of_exp.name = "exp_log/log_of_exp"


@pytest.mark.on_vm
def test_rules_are_added_to_a_mode() -> None:
    x = pt.vector("x")
    term = pt.tan(pt.arctan(x))
    mode = Mode("fast_run").excluding("inplace")
    with_rule = mode + tan_of_arctan
    assert mode == Mode("fast_run").excluding("inplace") != with_rule
    assert with_rule == mode.register(tan_of_arctan) == mode + RuleSet([tan_of_arctan])
    assert with_rule == mode + [tan_of_arctan]
    assert hash(with_rule) == hash(mode + tan_of_arctan)
    assert repr(with_rule) == (
        "Mode('fast_run').adding(test_mode/tan_of_arctan).excluding('inplace')"
    )
    assert len(function([x], term, mode=mode).fgraph) == 2
    assert len(function([x], term, mode=with_rule).fgraph) == 0
    assert len(function([x], term, mode=with_rule.excluding(tan_of_arctan)).fgraph) == 2
    assert "test_mode/tan_of_arctan" in with_rule.excluding(tan_of_arctan).rules
    assert "test_mode/tan_of_arctan" not in mode.rules


@pytest.mark.on_vm
def test_overwriting_needs_saying_so() -> None:
    x = pt.vector("x")
    with pytest.raises(DuplicateRuleError, match="two rules are called exp_log/log_of_exp"):
        function([x], pt.log(pt.exp(x)), mode=Mode() + log_of_exp)
    mode = Mode().adding(log_of_exp, overwrite=True)
    assert repr(mode) == "Mode('fast_run').adding(exp_log/log_of_exp, overwrite=True)"
    f = function([x], pt.log(pt.exp(x)), mode=mode)
    assert [str(n.op) for n in f.fgraph.toposort()] == ["abs"]


def test_a_place_is_told_by_name() -> None:
    mine = Mode().adding(tan_of_arctan, before="exp_log").rules
    names = [r.name for r in mine]
    first = next(i for i, r in enumerate(mine) if r.pack == "exp_log")
    assert names[first - 1] == "test_mode/tan_of_arctan"
    mode = Mode().adding(tan_of_arctan, after="exp_lg")
    with pytest.raises(UnknownNameError, match="did you mean exp_log"):
        function([], [pt.constant(1.0)], mode=mode)


def test_a_mode_with_an_optimizer_of_its_own_takes_no_rules() -> None:
    with pytest.raises(ValueError, match="its own optimizer"):
        Mode(optimizer=None) + tan_of_arctan


def test_queries_as_the_field_writes_them() -> None:
    query = RewriteDatabaseQuery(include=["fastmath"], exclude=["inplace"])
    assert Mode(optimizer=query) == Mode().including("fastmath").excluding("inplace")
    assert Mode("vm", query).query == query


def phases_of(mode: Mode) -> list[str]:
    return [part.name for part in mode.optimizer.parts]


@pytest.mark.on_vm
def test_a_query_that_names_phases_gets_these_only() -> None:
    x = pt.vector("x")
    term = pt.log(1 + pt.exp(x))
    only = Mode(optimizer=RewriteDatabaseQuery(include=["canonicalize"]))
    assert phases_of(only) == ["canonicalize"]
    assert [str(n.op) for n in function([x], term, mode=only).fgraph.toposort()] == [
        "exp", "add", "log",
    ]  # fmt: skip
    assert phases_of(Mode("py", RewriteDatabaseQuery("inplace"))) == ["inplace"]
    assert phases_of(only.including("stabilize")) == ["canonicalize", "stabilize"]
    assert phases_of(only.excluding("canonicalize")) == []
    assert phases_of(only.including("fast_run")) == phases_of(Mode())
    assert phases_of(Mode().including("canonicalize")) == phases_of(Mode())
    granted = Mode(optimizer=RewriteDatabaseQuery(include=["fastmath", "stabilize"]))
    assert phases_of(granted) == ["stabilize"]
    assert only != Mode().including("canonicalize")
    assert repr(only) == "Mode(optimizer=Query().including('canonicalize'))"
    assert pickle.loads(pickle.dumps(only)) == only
    with pytest.raises(PatternError, match="phase 'specialize', which runs only on request"):
        _ = (only + tan_of_arctan).optimizer


@pytest.mark.parametrize("name", ["PYTORCH", "MLX"])
def test_modes_of_others_that_are_not_here(name: str) -> None:
    x = pt.vector("x")
    for bad in (lambda: Mode(name), lambda: function([x], x, mode=name)):
        why = f"{name}.*is not available; modes: fast_run.*linkers: .*vm"
        with pytest.raises(UnknownNameError, match=why):
            bad()


def test_phases_of_others_can_be_excluded() -> None:
    x = pt.vector("x")
    mode = get_default_mode().excluding("fusion", "BlasOpt", "inplace", "local_remove_all_assert")
    assert len(function([x], pt.log(pt.exp(x)), mode=mode).fgraph) == 0
    for bad in (
        mode.requiring("fusion"),
        mode.including("fusoin"),
        mode.excluding("fusoin"),
        mode.including("local_remove_all_assert"),
    ):
        with pytest.raises(UnknownNameError):
            _ = bad.optimizer


@pytest.mark.on_vm
@pytest.mark.parametrize(
    "name",
    [
        "fusion", "local_elemwise_fusion", "BlasOpt", "local_mul_canonizer", "ShapeOpt", "cxx_only",
        "local_useless_elemwise", "local_dot_to_dot22", "inplace_elemwise", "scan_save_mem",
    ],
)  # fmt: skip
def test_names_of_others_are_accepted(name: str) -> None:
    x = pt.vector("x")
    default = get_default_mode()
    for mode in (default.including(name), default.excluding(name), default.including(name, "scan")):
        assert function([x], pt.log(pt.exp(x)), mode=mode)([1.5]).tolist() == [1.5]
    assert phases_of(default.including(name)) == phases_of(default)


def test_names_of_others_mean_what_is_nearest() -> None:
    default = get_default_mode()
    pairs = {"inplace_elemwise": "inplace", "merge2": "merge", "canonicalize_db": "canonicalize"}
    for theirs, ours in pairs.items():
        assert phases_of(default.excluding(theirs)) == phases_of(default.excluding(ours))
    x = pt.vector("x")
    mode = default.excluding("ShapeOpt")
    kept = function([x], pt.exp(x).shape[0], mode=mode).fgraph.toposort()
    assert "exp" in [str(n.op) for n in kept]
    for name, ours in peer_names.NEAREST.items():
        assert all_rules().names | KNOWN >= {*ours.split()}, name


def test_names_that_others_register_are_accepted() -> None:
    x = pt.vector("x")
    names = "bool_idx_to_nonzero", "batched_vector_b_solve_to_matrix_b_solve", "local_gemm_to_ger"
    for name in (*names, "fuse_indexed_into_elemwise", "FusionOptimizer", "useless_Conj_of_Conj"):
        for mode in (Mode().excluding(name), Mode().including(name)):
            np.testing.assert_array_equal(function([x], x + x, mode=mode)([1.0]), [2.0])
    for name in ("local_no_such", "scan_no_such", "fuse_indexed_into_elemwize"):
        with pytest.raises(UnknownNameError, match=name):
            function([x], x, mode=Mode().excluding(name))


def test_counterparts_of_their_names_can_be_excluded() -> None:
    x = pt.vector("x")
    for mode, there in ((Mode(), False), (Mode().excluding("useless_Neg_of_Neg"), True)):
        f = function([x], pt.exp(pt.neg(pt.neg(x))), mode=mode)
        assert ("neg" in [str(n.op) for n in f.fgraph.toposort()]) is there
    default = get_default_mode()
    ours = default.excluding("exp_of_log", "log_of_exp")
    assert phases_of(default.excluding("local_exp_log")) == phases_of(ours)


def test_rules_of_ones_own_may_be_called_as_theirs() -> None:
    @rule(phase="canonicalize", claim=exact)
    def local_mine(a: Any) -> Any:
        """(For tests.)"""
        return pt.tan(a) >> pt.sin(a)

    x = pt.vector("x")
    mode = Mode() + local_mine
    for other, op in ((mode, "sin"), (mode.excluding("local_mine"), "tan")):
        assert [str(n.op) for n in function([x], pt.tan(x), mode=other).fgraph.toposort()] == [op]


def test_merging_can_be_excluded() -> None:
    x = pt.vector("x")
    outputs = [pt.sin(x) + 1, pt.cos(pt.sin(x))]
    assert len(function([x], outputs).fgraph) == 3
    f = function([x], outputs, mode=Mode().excluding("merge", "inplace"))
    assert [str(n.op) for n in f.fgraph.toposort()].count("sin") == 2
    np.testing.assert_allclose(f([0.5])[1], np.cos(np.sin([0.5])))


def test_pickling() -> None:
    mode = Mode("fast_run").excluding("inplace")
    assert pickle.loads(pickle.dumps(mode)) == mode


def test_a_query_reaches_the_rules() -> None:
    x = pt.vector("x")
    out = pt.log(pt.exp(x))
    assert len(function([x], out).fgraph) == 0
    f = function([x], out, mode=Mode().excluding("log_of_exp"))
    assert len(f.fgraph) == 2
    with pytest.raises(UnknownNameError, match="log_of_exp"):
        function([x], out, mode=Mode().excluding("log_of_ex"))


def test_fast_compile_still_rewrites() -> None:
    x = pt.vector("x")
    f = function([x], pt.exp(x) * 1 + 0, mode="fast_compile")
    assert len(f.fgraph) <= 2
    assert not any(node.op.destroy_map for node in f.fgraph.apply_nodes)


@pytest.mark.on_vm
def test_no_optimizer() -> None:
    assert Mode(optimizer=None).optimizer is None
    assert repr(Mode(optimizer=None)) == "Mode(optimizer=None)"


def test_what_is_no_optimizer() -> None:
    with pytest.raises(UnknownNameError, match="a name, a Query or a driver, not int 3"):
        Mode(optimizer=3)


def test_types_and_ops_that_nobody_uses_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ops, dispatches and caches remember is bounded."""
    monkeypatch.setattr("rewrite_engine.match.dispatch.MAX_CACHED_KEYS", 50)
    monkeypatch.setattr("rewrite_engine.graph.op.REMEMBERED", 50)
    monkeypatch.setattr("rewrite_engine.tensor.elemwise.REMEMBERED", 50)
    monkeypatch.setattr("rewrite_engine.tensor.op.REMEMBERED", 50)
    optimizer = Mode().optimizer
    alive = []
    for n in range(900):
        x = pt.tensor(dtype="float64", shape=(n + 1, 3))
        y = pt.exp(x) * 2 - x.sum(axis=0) + x[n:].sum() + x.reshape((3, n + 1)).T.mean()
        if n % 3 == 0:
            optimizer.rewrite(FunctionGraph([x], [y]))
        del x, y
        if n in (599, 899):
            gc.collect()
            alive.append(len(_interned))
    assert alive[1] - alive[0] < 100


def test_a_database_is_asked_with_the_query() -> None:
    class Database:
        def query(self, query: Any) -> Any:
            asked.append(query)
            return driver

    asked: list[Any] = []
    query, driver = RewriteDatabaseQuery("mine"), EquilibriumOptimizer([])
    assert Mode("py", query, db=Database()).provided_optimizer is driver
    assert asked == [query]
    assert Mode(None, db=None) == Mode()
    mode = Mode(db=Database())
    assert mode.provided_optimizer is driver
    assert asked == [query, mode.query]
    with pytest.raises(OptionError, match="the db of a mode needs a method `query`"):
        Mode(db=object())


def test_a_linker_may_be_given_itself() -> None:
    x = pt.vector("x")
    mode = Mode(linker=get_linker("py"))
    assert mode == Mode(linker=get_linker("py")) != Mode()
    assert function([x], x + 1, mode=mode)([1.0]).tolist() == [2.0]


@pytest.mark.parametrize(("theirs", "ours"), [("o1", "fast_compile"), ("o4", "fast_run")])
def test_levels_of_others(theirs: str, ours: str) -> None:
    assert phases_of(Mode(optimizer=theirs)) == phases_of(Mode(ours))


@pytest.mark.on_vm
def test_numba_is_run_by_the_vm() -> None:
    assert Mode("NUMBA") == Mode("fast_run")


@pytest.mark.on_vm
def test_drivers_beside_the_phases() -> None:
    x = pt.vector("x")
    seen: list[tuple[str, list[str]]] = []

    class Look(GraphRewriter):
        def apply(self, fgraph: Any) -> None:  # type: ignore[override]
            seen.append((self.name, [str(node.op) for node in fgraph.toposort()]))

    early, late = Look("early"), Look("late")
    mode = Mode("fast_run").register((late, 2.5), (early, -1))
    assert mode != Mode("fast_run")
    assert repr(mode).endswith(f".adding({early!r}, before='merge')")
    function([x], pt.log(pt.exp(x)) + 1, mode=mode)
    assert seen == [("early", ["exp", "log", "add"]), ("late", ["add"])]
    assert [part.name for part in mode.optimizer.parts][-3:] == ["late", "factorize", "inplace"]
    with pytest.raises(OptionError, match="a position must be a number, 'first' or 'last'"):
        mode.register((early, "second"))


def test_a_mode_without_rewriting_was_made_of_a_query_for_next_to_nothing() -> None:
    x = pt.dvector("x")
    query = Mode(optimizer=None).provided_optimizer.including("random_make_inplace")
    f = function([x], pt.exp(pt.log(x)), mode=Mode("py", query))
    assert [str(node.op) for node in f.nodes] == ["log", "exp"]


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("make", [Mode, lambda: Mode("auto"), lambda: Mode(optimizer="o1"),
                                  lambda: Mode("numba").excluding("inplace")])  # fmt: skip
def test_the_linker_of_a_saved_mode_is_chosen_where_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch, make: Any, there: bool
) -> None:
    monkeypatch.setattr(config, "linker", "auto")
    monkeypatch.setattr("rewrite_engine.compile.mode.is_native_usual", lambda: not there)
    text, one = pickle.dumps(make()), make()
    assert one.linker == ("vm" if there else "native")
    monkeypatch.setattr("rewrite_engine.compile.mode.is_native_usual", lambda: there)
    for _ in range(2):  # a loaded one is saved again
        loaded = pickle.loads(text)
        assert loaded.linker == ("native" if there else "vm")
        assert loaded == make()
        text = pickle.dumps(loaded)


def test_a_mode_that_is_made_of_another_has_its_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "linker", "auto")
    mode = Mode()
    monkeypatch.setattr(config, "linker", "py")
    assert mode.excluding("inplace").linker == mode.linker != "py"
    assert copy.copy(DebugMode()) == DebugMode()


@pytest.mark.parametrize("linker", ["native", "vm", "py"])
def test_a_linker_that_was_named_is_saved(monkeypatch: pytest.MonkeyPatch, linker: str) -> None:
    monkeypatch.setattr(config, "linker", "auto")
    named = pickle.dumps(Mode(linker=linker))
    monkeypatch.setattr(config, "linker", linker)
    usual = pickle.dumps(Mode())
    monkeypatch.setattr(config, "linker", "auto")
    monkeypatch.setattr("rewrite_engine.compile.mode.is_native_usual", lambda: linker == "vm")
    assert pickle.loads(named).linker == linker
    assert pickle.loads(usual).linker == linker
    assert copy.copy(Mode(linker=linker)).linker == linker


SAVED = """
import pickle, sys
{block}
with open(sys.argv[1], "rb") as file:
    functions = pickle.load(file)
print([f.mode.linker for f in functions])
print([float(f([1.0, 2.0])) for f in functions])
"""
BLOCK = """
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
"""


@pytest.mark.skipif(not is_native_usual(), reason="needs llvmlite")
@pytest.mark.parametrize("block", [BLOCK, 'sys.modules["llvmlite"] = None', ""])
def test_a_function_is_loaded_where_there_is_no_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, block: str
) -> None:
    """With a loop, an inner graph, updates, a profile."""
    monkeypatch.setattr(config, "linker", "auto")
    x, s = pt.dvector("x"), shared(1.0)
    inner = OpFromGraph([x], [pt.exp(x)])
    z = scan(lambda a: pt.tanh(a) * x, outputs_info=[x], n_steps=3)[0][-1].sum()
    functions = [function([x], z), function([x], inner(x).sum() + s, updates={s: s + 1}),
                 function([x], pt.log(x).sum(), profile=True)]  # fmt: skip
    assert {f.mode.linker for f in functions} == {"native"}
    (tmp_path / "saved").write_bytes(pickle.dumps(functions))
    environment = {k: v for k, v in os.environ.items() if k != "REWRITE_ENGINE_FLAGS"}
    command = [sys.executable, "-c", SAVED.format(block=block), str(tmp_path / "saved")]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    linkers, values = map(ast.literal_eval, run.stdout.splitlines())
    assert linkers == ["vm" if block else "native"] * 3
    np.testing.assert_allclose(values, [float(f([1.0, 2.0])) for f in functions], rtol=1e-15)
