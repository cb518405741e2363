"""Smaller cases with the same finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np

from fuzz.case import Case
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.judge.noise import Values
from rewrite_engine.judge.values import extend

Test = Callable[[Case], bool]


def shrink(case: Case, test: Test, seconds: float = 6.0) -> Case:
    """The smallest case found that passes a test, as the given one does."""
    until = monotonic() + seconds
    going = True
    while going and monotonic() < until:
        going = False
        for smaller in candidates(case):
            if monotonic() > until:
                break
            if passes(smaller, test):
                case, going = smaller, True
                break
    return case


def passes(case: Case, test: Test) -> bool:
    """Whether a case passes; one that cannot be built does not."""
    try:
        return test(case)
    except Exception:
        return False


def candidates(case: Case) -> Iterator[Case]:
    """Cases that are smaller, the smallest first."""
    yield from _plain(case)
    yield from _parts(case)
    yield from _cut(case)
    yield from _bypassed(case)
    yield from _shorter(case)
    yield from _simpler(case)


def _plain(case: Case) -> Iterator[Case]:
    """One output; no shared variables."""
    if case.shared or case.updates:
        yield Case.of(case.results, case.given, wrong=case.wrong)
        yield Case.of(case.outputs, case.given, shared=case.shared, wrong=case.wrong)
    if case.mutable:
        yield replace(case, mutable=())
    if len(case.outputs) > 1:
        more = {"shared": case.shared, "updates": case.updates, "mutable": case.mutable}
        for v in case.outputs:
            yield Case.of([v], case.given, wrong=case.wrong, **more)


def _parts(case: Case) -> Iterator[Case]:
    """Inner terms as outputs."""
    nodes = case.nodes
    outputs = set(case.results)
    for node in nodes:
        for v in node.outputs:
            if v not in outputs:
                yield Case.of([v], case.given, wrong=case.wrong, mutable=case.mutable)


def computed(case: Case) -> Values:
    """The values of all variables that can be computed."""
    values: Values = dict(case.given)
    for node in case.nodes:
        if all(v in values or isinstance(v, Constant) for v in node.inputs):
            try:
                extend(values, node)
            except Exception:
                continue
    return values


def _cut(case: Case) -> Iterator[Case]:
    """Inner terms become inputs."""
    values = computed(case)
    for node in reversed(case.nodes):
        for v in node.outputs:
            if v in values and v not in case.results:
                fresh = v.type.make_variable(f"x{len(case.given)}")
                given = case.given | {fresh: values[v]}
                outputs = clone_replace(case.results, {v: fresh}, rebuild_strict=False)
                yield Case.of(outputs, given, wrong=case.wrong, mutable=case.mutable)


def _bypassed(case: Case) -> Iterator[Case]:
    """Terms that are one of their own operands."""
    for node in reversed(case.nodes):
        out = node.outputs[0]
        for v in node.inputs:
            if v.type == out.type and not isinstance(v, Constant) and len(node.outputs) == 1:
                try:
                    outputs = clone_replace(case.results, {out: v})
                except RewriteEngineError:
                    continue
                yield Case.of(outputs, case.given, wrong=case.wrong, mutable=case.mutable)


def _shorter(case: Case) -> Iterator[Case]:
    """Arrays that are shorter, all of them at once."""
    lengths = {n for a in case.given.values() for n in a.shape}
    for n in sorted(lengths - {0, 1}, reverse=True):
        for m in range(1, n):
            given = {v: _cropped(v, a, n, m) for v, a in case.given.items()}
            yield replace(case, given=given)


def _cropped(v: Any, a: np.ndarray, n: int, m: int) -> np.ndarray:
    """An array with m where it had the length n."""
    index = [
        slice(m) if size == n and known is None else slice(None)
        for size, known in zip(a.shape, v.type.shape, strict=True)
    ]
    return a[tuple(index)]


def _simpler(case: Case) -> Iterator[Case]:
    """Values that are simpler."""
    for v, a in case.given.items():
        if not a.flags.c_contiguous or not a.flags.writeable:
            yield replace(case, given=case.given | {v: np.array(a)})
        if a.size > 12:
            continue
        for at in np.ndindex(a.shape):
            for simple in (0, 1, 2):
                if a[at] == simple or (a[at] in (0, 1) and simple > 0) or a[at] == 1:
                    continue
                b = np.array(a)
                b[at] = simple
                yield replace(case, given=case.given | {v: b})
