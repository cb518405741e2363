"""What is seen of rewriting while it goes on."""

from __future__ import annotations

from io import StringIO

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import progress
from rewrite_engine.config import config

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


def test_a_terminal_shows_a_line_where_it_takes_long(monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    f = rw.function([x], pt.log(1 + pt.exp(x)), name="slow")
    assert "slow: " in terminal.getvalue()
    assert not [one for one in f.fgraph.features if isinstance(one, progress.Progress)]
    terminal = Terminal()
    monkeypatch.setattr(progress, "PATIENCE", 100.0)
    monkeypatch.setattr("sys.stderr", terminal)
    rw.function([x], pt.log(1 + pt.exp(x)), name="quick")
    assert terminal.getvalue() == ""
