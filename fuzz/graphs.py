"""Whole graphs: compiled functions against `perform`, node by node, on the graph as built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from fuzz.case import AS_BUILT, Case, Compiled
from fuzz.deviation import Deviation, deviation_of
from rewrite_engine.compile.mode import Mode
from rewrite_engine.config import config
from rewrite_engine.errors import RewriteEngineError, ShapeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.judge.noise import evaluate
from rewrite_engine.judge.whole import WholeGraph
from rewrite_engine.judge.whole_excuses import judge_whole
from rewrite_engine.match.claim import exact
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.pipeline.packs import load_rules
from rewrite_engine.pipeline.phases import PHASES
from rewrite_engine.tensor import Elemwise


@node_rewriter([Elemwise], phase="specialize", claim=exact)
def overwrites(fgraph: Any, node: Apply) -> Any:
    """A careless rule of a user: every elementwise op works in place on what was computed."""
    computed = [i for i, v in enumerate(node.inputs) if v.owner is not None]
    new = node.op.inplace_on_inputs(computed, node)
    return None if new is None else new(*node.inputs)


DEFAULT = Mode("fast_run")
WITHOUT_REORDER = DEFAULT.excluding("reorder")
#: other modes than the default one, with how often each is tried
MODES: dict[str, tuple[Any, float]] = {
    "AS_BUILT": (AS_BUILT, 0.12),
    "no inplace": (DEFAULT.excluding("inplace"), 0.05),
    "fast_compile": (Mode("fast_compile"), 0.05),
    "no reorder": (WITHOUT_REORDER, 0.05),
    "saturate": (DEFAULT.including("saturate"), 0.01),
}


def wanted_of(case: Case) -> Any:
    """The results of the reference, or the error that it raises."""
    try:
        values = evaluate(case.results, case.given)
    except RewriteEngineError as error:
        return error
    return [np.asarray(values[v]) for v in case.results]


@dataclass(frozen=True)
class Checker:
    """Checks values, errors, memory. regrouped: sums may be added up in another order."""

    regrouped: bool = False

    def __call__(self, case: Case, mode: Any = DEFAULT, wanted: Any = None) -> Deviation | None:
        """What is wrong with a case in a mode. wanted: what the reference gives, if it is there."""
        wanted = wanted_of(case) if wanted is None else wanted
        failed = isinstance(wanted, Exception)
        whole = mode is not WITHOUT_REORDER  # (a rule that is left out promises nothing)
        try:
            with config.change_flags(check_phases=config.check_phases and whole):
                f = case.compile(mode)
            before = [a.copy() for a in f.arguments()]
            results = f()
        except Exception as error:
            return _error(error, wanted if failed else None)
        if failed:
            return Deviation(
                "error lost", f"the reference raises {type(wanted).__name__}: {wanted}"
            )
        kept = [np.array(r) for r in results]
        graph = WholeGraph(case.results, case.given, wanted, self.regrouped)
        found = deviation_of(judge_whole(graph, kept))
        return found or memory(f, before, results, kept)

    def tester(self, case: Case) -> tuple[Case, Callable[[Any], bool]]:
        """The graph that is rewritten, and whether values of it, or an error, are wrong."""
        wanted = wanted_of(case)
        if isinstance(wanted, Exception):
            return case, lambda found: not isinstance(found, RewriteEngineError)
        graph = WholeGraph(case.results, case.given, wanted, self.regrouped)

        def is_wrong(found: Any) -> bool:
            return isinstance(found, Exception) or bool(judge_whole(graph, found).broken)

        return case, is_wrong


def _error(error: Exception, wanted: Exception | None) -> Deviation | None:
    text = f"{type(error).__name__}: {error}"
    if wanted is None:
        return Deviation(f"raises {type(error).__name__}", text)
    same = isinstance(error, ShapeError) if isinstance(wanted, ShapeError) else True
    if isinstance(error, RewriteEngineError) and same:
        return None
    return Deviation("another error", f"{text}\nnot {type(wanted).__name__}: {wanted}")


def memory(f: Compiled, before: Any, results: Any, kept: Any) -> Deviation | None:
    """Whether arguments are as they were, and results own their memory."""
    for v, a, b in zip(f.inputs, f.arguments(), before, strict=True):
        if a.tobytes() != b.tobytes():
            return Deviation("argument changed", f"{v} of {v.type}")
    count = len(f.case.outputs)
    for i, r in enumerate(results[:count]):
        others = [*f.arguments(), *[s.get_value(borrow=True) for s in f.shared.values()]]
        others += [q for j, q in enumerate(results[:count]) if j != i]
        if r.size and any(np.may_share_memory(r, a) and np.shares_memory(r, a) for a in others):
            return Deviation("memory shared", f"output {i}")
        if not r.flags.writeable:
            return Deviation("read-only", f"output {i}")
        r[...] = 1
    f.reset()
    again = f()
    for i, (r, k) in enumerate(zip(again, kept, strict=True)):
        if r.shape != k.shape or not _same(r, k):
            return Deviation("second call differs", f"output {i}: {r!r}, first {k!r}")
    return None


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def modes(rng: Random, rules: str | None = None) -> list[tuple[str, Any]]:
    """The modes that a case is tried in. rules: a file of rules of others, used in all of them."""
    some = [(name, mode) for name, (mode, often) in MODES.items() if rng.random() < often]
    found = [("default", DEFAULT), *some]
    return found if rules is None else [(name, with_rules(mode, rules)) for name, mode in found]


def with_rules(mode: Any, path: str) -> Any:
    """A mode with the rules of a file, where it rewrites at all."""
    if mode is AS_BUILT:
        return mode
    rules = load_rules(path)
    own = {rule.phase for rule in rules}
    asked = [p.name for p in PHASES if p.on_request and p.name in own]
    return mode.including(*asked) + rules


CARELESS = DEFAULT + overwrites


class Careless(Checker):
    """A rule that returns an op which overwrites is refused, or does no harm."""

    def __call__(self, case: Case, mode: Any = CARELESS, wanted: Any = None) -> Deviation | None:
        """What is wrong; an error is not."""
        found = super().__call__(case, mode, wanted)
        return None if found is None or found.kind.startswith(("raises", "another")) else found
