"""Modes: names, queries, and what they say they are."""

from __future__ import annotations

import pickle

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compile import Mode, function, get_mode
from rewrite_engine.config import config
from rewrite_engine.errors import UnknownNameError


def test_names_in_any_case() -> None:
    assert Mode("FAST_RUN") == Mode("fast_run") == Mode() == get_mode(None) == get_mode("Fast_Run")
    assert Mode("fast_compile") != Mode("fast_run")
    assert Mode("vm").linker == "vm"
    assert Mode(optimizer="fast_compile") == Mode("FAST_COMPILE")


def test_unknown_names() -> None:
    for bad in (lambda: Mode("quick"), lambda: Mode(optimizer="quick"), lambda: get_mode(3)):
        with pytest.raises(UnknownNameError):
            bad()
    config.mode = "quick"
    with pytest.raises(UnknownNameError, match="fast_compile"):
        get_mode(None)


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


def test_no_optimizer() -> None:
    assert Mode(optimizer=None).optimizer is None
    assert repr(Mode(optimizer=None)) == "Mode(optimizer=None)"
