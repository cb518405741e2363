"""Unpickled functions are found again in a process."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import pickle_cache
from rewrite_engine.config import config

x = pt.dvector("x")


def test_equal_pickles_give_one_function() -> None:
    content = pickle.dumps(rw.function([x], pt.exp(x).sum()))
    first = pickle.loads(content)
    assert pickle.loads(content) is first
    assert first([0.0, 0.0]) == 2.0


def test_another_linker_gives_another_function() -> None:
    content = pickle.dumps(rw.function([x], pt.exp(x) + 1))
    first = pickle.loads(content)
    with config.change_flags(linker="py"):
        assert pickle.loads(content) is not first


def test_functions_with_state_are_apart() -> None:
    count = rw.shared(0, name="count")
    content = pickle.dumps(rw.function([], count, updates={count: count + 1}))
    one, two = pickle.loads(content), pickle.loads(content)
    one()
    assert (one(), two()) == (1, 0)
    with_default = pickle.dumps(rw.function([rw.In(x, value=np.zeros(2))], x + 1))
    assert pickle.loads(with_default) is not pickle.loads(with_default)


def test_copies_are_other_functions() -> None:
    f = rw.function([x], pt.exp(x))
    assert copy.deepcopy(f) is not f
    assert copy.copy(f) is not f
    assert copy.deepcopy(f)([0.0]) == 1.0


def test_few_are_kept(monkeypatch: Any) -> None:
    monkeypatch.setattr(pickle_cache, "MAX_FUNCTIONS", 2)
    contents = [pickle.dumps(rw.function([x], x * n)) for n in (3.0, 5.0, 7.0)]
    first, *_ = [pickle.loads(content) for content in contents]
    assert len(pickle_cache._functions) == 2
    assert pickle.loads(contents[0]) is not first
