"""Train on Fisher's iris data, explain the loss, and sum up what the rules changed.

`scripts/demo` runs this. The program is `iris.py`; everything here is about looking at it.
"""

from __future__ import annotations

from time import perf_counter

import iris
import numpy as np

import rewrite_engine as rw
from rewrite_engine.explain import Report, recording

CALLS = 2000


def run_recorded() -> Report:
    """Run the iris program once, and return the report on its functions."""
    with recording() as recorder:
        iris.main()
    return Report(recorder.records)


def numpy_loss(z: np.ndarray, one_hot: np.ndarray) -> float:
    """Return the loss of `iris.py`, the same formula in NumPy."""
    with np.errstate(all="ignore"):
        softmax = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        return float(-(one_hot * np.log(softmax)).sum(axis=1).mean())


def microseconds(mode: object) -> float:
    """Return the time of a training step, compiled in a mode: the best of five runs."""
    features, species, names = iris.read_iris()
    one_hot = np.eye(len(names))[species]
    train, _ = iris.build(features.shape[1], len(names), mode)
    best = float("inf")
    for _ in range(5):
        start = perf_counter()
        for _ in range(CALLS // 5):
            train(features, one_hot)
        best = min(best, (perf_counter() - start) / (CALLS // 5))
    return best * 1e6


def summary(report: Report) -> list[str]:
    """Return the five lines at the end."""
    loss, train = report.select("loss").functions[0], report.select("train").functions[0]
    rules = [step for step in loss.steps if step.phase == "stabilize"]
    before, after = train.about.flops_before, train.about.flops_after
    slow, fast = microseconds(rw.Mode(optimizer=None)), microseconds(None)
    likely, _ = iris.check_extremes()
    why = " and ".join(step.rule_name.partition("/")[2] for step in rules)
    fewer = f"{1 - after / before:.0%} fewer"
    faster = f"{slow / fast:.1f} times as fast"
    return [
        f"NumPy gives   {numpy_loss(iris.EXTREME, np.eye(3)[[0]])} for the loss at logits of ±1000",
        f"here you get  {likely:.6f}, the right answer: ln 2",
        f"the reason    the rules {why}",
        f"operations    {before:,} → {after:,} flops in a training step, {fewer}",
        f"time          {slow:.0f} → {fast:.0f} µs for a training step, {faster} as without rules",
    ]


if __name__ == "__main__":
    report = run_recorded()
    print(report.select("loss").text(width=80))
    print("every function: python -m rewrite_engine.explain docs/examples/iris.py\n")
    print(*summary(report), sep="\n")
