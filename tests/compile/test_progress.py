"""What is seen of rewriting while it goes on."""

from __future__ import annotations

import threading
from io import StringIO
from time import sleep
from types import SimpleNamespace

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import progress
from rewrite_engine.config import config
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import node_rewriter
from rewrite_engine.match.claim import exact

x = pt.vector("x")


def test_each_firing_is_printed_where_asked(capsys, monkeypatch):
    monkeypatch.setattr(config, "optimizer_verbose", True)
    rw.function([x], pt.log(1 + pt.exp(x)))
    printed = capsys.readouterr().out
    assert "rewriting: exp_log/log1p_of_exp replaces log1p(exp(x)) with softplus(x)" in printed


def test_nothing_is_printed_or_attached_else(capsys):
    f = rw.function([x], pt.log(1 + pt.exp(x)))
    assert capsys.readouterr() == ("", "")
    assert not [one for one in f.fgraph.features if isinstance(one, progress.Progress)]
    with pytest.raises(ValueError, match="optimizer_verbose"):
        config.optimizer_verbose = "yes"


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Both streams of a program, which somebody sees."""
    found = Terminal()
    streams = SimpleNamespace(stdout=found, stderr=found)  # (pytest sets those of `sys`)
    monkeypatch.setattr(progress, "sys", streams)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "OFTEN", 0.001)
    return found


def seen(terminal, words, looks=10_000):
    """Whether the terminal shows words soon."""
    for _ in range(looks):
        if words in terminal.getvalue():
            return True
        sleep(0.002)
    return False


def test_a_terminal_shows_a_bar_where_it_takes_long(terminal):
    found = []

    @node_rewriter(phase="stabilize", claim=exact)
    def slow(fgraph, node):
        """Waits until somebody has seen how far it is."""
        found.append(seen(terminal, "stabilize, "))

    mode = rw.Mode().adding(slow)
    f = rw.function([x], pt.log(1 + pt.exp(x)), name="slow", mode=mode)
    assert found[0]
    shown = terminal.getvalue()
    assert "slow" in shown
    assert " nodes, " in shown
    assert " changes, " in shown
    assert not [one for one in f.fgraph.features if isinstance(one, progress.Progress)]
    assert not [one for one in threading.enumerate() if one.name == "progress"]


def test_what_is_quick_or_in_a_pipe_shows_nothing(terminal, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 100.0)
    rw.function([x], pt.log(1 + pt.exp(x)), name="quick")
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    progress.sys.stdout = StringIO()
    assert not progress.on_a_terminal()
    rw.function([x], pt.log(1 + pt.exp(x)), name="into a pipe")
    progress.sys.stdout = terminal
    monkeypatch.setenv("TERM", "dumb")
    assert not progress.on_a_terminal()
    progress.sys.stderr = None
    assert not progress.on_a_terminal()
    assert terminal.getvalue() == ""


def test_errors_take_the_bar_away(terminal):
    with pytest.raises(rw.errors.MissingInputError):
        rw.function([], pt.exp(x))
    out = pt.exp(x)

    @node_rewriter(phase="stabilize", claim=exact)
    def failing(fgraph, node):
        """Fails."""
        raise ZeroDivisionError

    with pytest.raises(rw.errors.RuleError):
        rw.function([x], out, mode=rw.Mode().adding(failing))
    assert not [one for one in threading.enumerate() if one.name == "progress"]
    assert not progress.Bar.shown


def test_how_long_it_will_take(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0])
    graph = FunctionGraph([x], [pt.exp(x)])
    seen = progress.Progress(graph, "f")

    class Driver:
        name = "pipeline"
        parts = ()

    class Phase:
        name = "stabilize"

    Driver.parts = (Phase,)
    seen.on_begin(graph, Driver)
    seen.on_begin(graph, Phase)
    now[0] = 4.0
    assert seen.text() == "stabilize, 1 nodes, 0 changes, 4 s"
    seen.on_end(graph, Phase)  # 4 of 12 shares
    assert seen.text() == "stabilize, 1 nodes, 0 changes, 4 s, about 8 s left"
    seen.enter(progress.LINKING)
    now[0] = 6.0
    assert seen.text() == "linking, 1 nodes, 0 changes, 6 s, about 6 s left"
    now[0] = 20.0
    assert seen.text() == "linking, 1 nodes, 0 changes, 20 s"
