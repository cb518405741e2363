"""The loop of the drivers: budgets to the firing. Loops are in test_loop.py, test_budget.py."""

from __future__ import annotations

import pytest

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from tests.match.language import x
from tests.rewrite.graphs import f, f_g


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_budget_is_exact(n: int) -> None:
    """n firings, no more: and where they are enough, nobody complains."""
    for limit in (RunBudget(firings=n, on_budget="stop"), RunBudget(per_rule=n, on_budget="stop")):
        graph = FunctionGraph([x], [f(f(f(x)))])
        result = EquilibriumOptimizer([f_g], budget=limit).rewrite(graph)
        assert result.firings == min(n, 3)
        assert (result.stopped is StopReason.BUDGET) == (n < 3)


def test_much_to_do_is_no_loop() -> None:
    graph = FunctionGraph([x], [f(f(x))])
    with pytest.raises(RuleLoopError, match="did not finish: its budget of 1 firings is used up"):
        EquilibriumOptimizer([f_g], budget=RunBudget(firings=1)).rewrite(graph)
