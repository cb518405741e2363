"""Random changes of random graphs, checked step by step against the model of `machine.py`."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.graph.machine import STEPS, Machine

pytestmark = pytest.mark.usefixtures("checked_graphs")


class GraphMachine(RuleBasedStateMachine):
    """The machine with Hypothesis choosing the steps (and shrinking them)."""

    machine: Machine

    @initialize(seed=st.integers(0, 1 << 20))
    def build(self, seed: int) -> None:
        self.machine = Machine(random.Random(seed).choice)

    def _run(self, step: Callable[[Machine], None], seed: int) -> None:
        self.machine.pick = random.Random(seed).choice
        step(self.machine)

    @rule(seed=st.integers(0, 1 << 20))
    def replace(self, seed: int) -> None:
        self._run(Machine.replace, seed)

    @rule(seed=st.integers(0, 1 << 20))
    def refused_replace(self, seed: int) -> None:
        self._run(Machine.refused_replace, seed)

    @rule(seed=st.integers(0, 1 << 20))
    def revert(self, seed: int) -> None:
        self._run(Machine.revert, seed)

    @rule()
    def checkpoint(self) -> None:
        self.machine.checkpoint()

    @rule()
    def drive(self) -> None:
        self.machine.drive()

    @rule()
    def flush(self) -> None:
        self.machine.fgraph.flush()

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "machine"):
            self.machine.check()


TestGraphMachine = GraphMachine.TestCase
TestGraphMachine.settings = settings(stateful_step_count=30, max_examples=40)


@pytest.mark.parametrize("seed", range(40))
def test_long_walks(seed: int) -> None:
    rng = random.Random(seed)
    machine = Machine(rng.choice)
    for _ in range(60):
        rng.choice(STEPS)(machine)
        machine.check()


def test_a_replacement_that_is_there_with_its_operands_the_other_way_round() -> None:
    """x by p + x, where x + p is there: that node is the replacement, and stays as it is."""
    machine = Machine(random.Random(1133).choice)
    for seed in (134, *[0] * 7, 303):
        machine.pick = random.Random(seed).choice
        machine.replace()
        machine.check()
