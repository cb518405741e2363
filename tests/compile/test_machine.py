"""Tests of the note on a busy machine in profiles."""

from __future__ import annotations

import os
from typing import Any

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.machine import THREAD_VARIABLES, busy_note, processor_count


@pytest.fixture
def machine(monkeypatch: Any) -> Any:
    """Sets the load, the number of processors, and how many threads BLAS is told to take."""

    def make(load: float, processors: int, threads: str = "") -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
        everyone = lambda pid: set(range(processors))
        monkeypatch.setattr(os, "sched_getaffinity", everyone, raising=False)
        for name in THREAD_VARIABLES:
            monkeypatch.delenv(name, raising=False)
        if threads:
            monkeypatch.setenv("OMP_NUM_THREADS", threads)

    return make


def test_an_idle_machine_is_not_spoken_of(machine: Any) -> None:
    machine(2.9, 2)
    assert processor_count() == 2
    assert busy_note() == ""


def test_threads_of_blas_are_named_unless_they_are_set(machine: Any) -> None:
    machine(9.0, 2)
    assert busy_note() == (
        "the machine is busy (load 9.0 on 2 processors): times are too long; "
        "if matrices are large, try OPENBLAS_NUM_THREADS=1"
    )
    machine(9.0, 2, threads="1")
    assert busy_note().endswith("times are too long")
    machine(9.0, 1)
    assert busy_note().endswith("times are too long")


def test_profiles_of_functions_that_ran_say_it(machine: Any) -> None:
    x = pt.dmatrix("x")
    f = rw.function([x], x @ x, profile=True)
    machine(9.0, 2)
    assert not any("busy" in line for line in f.profile.head())
    f([[1.0]])
    assert any("busy (load 9.0 on 2 processors)" in line for line in f.profile.head())
    machine(0.1, 2)
    assert not any("busy" in line for line in f.profile.head())
