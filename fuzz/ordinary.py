"""Ordinary formulas at ordinary inputs: values and gradients against what they mean as they are
written (`bounds.py`), to the digits that floating point has. Nothing is forgiven.

    python -m fuzz ordinary --formulas 10000
    python -m fuzz ordinary --replay ordinary:0:123
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic, process_time
from typing import Any

import numpy as np
from mpmath import mp

import rewrite_engine as rw
from fuzz.blame import guilty
from fuzz.bounds import NotOrdinary, Number, Truth, truth_of
from fuzz.case import Case
from fuzz.deviation import Deviation
from fuzz.formulas import (
    Formula,
    Given,
    Term,
    built,
    names_in,
    nodes_of,
    random_formula,
    random_point,
)
from fuzz.graphs import DEFAULT
from fuzz.limit import TooLong, limit
from fuzz.processes import outcomes
from fuzz.report import Report

TOGETHER = 8  # formulas that are compiled at once
CHUNK = 25 * TOGETHER
POINTS = 4  # at which a formula is tried
DRAWS = 8  # of points, to find some that are ordinary
SECONDS = 20.0  # to compile a formula: more is a finding
SHRINK = 15.0  # seconds to shrink a finding, of the processor
SLOW = 2.0  # seconds that are long when a formula that takes too long is shrunk
MOST = 30  # findings that a process shrinks


@dataclass(frozen=True)
class Sample:
    """A formula with ordinary points, and the truth at each."""

    name: str
    formula: Formula
    truths: tuple[Truth, ...]


def sample(seed: int, number: int) -> Sample:
    """The formula of a number, with points that are ordinary."""
    name = f"ordinary:{seed}:{number}"
    rng = Random(name)
    while True:
        formula = random_formula(rng)
        made = with_truths(name, formula, [random_point(rng, formula) for _ in range(DRAWS)])
        if made is not None:
            return made


def with_truths(name: str, formula: Formula, points: Sequence[Given]) -> Sample | None:
    """A formula at those points that are ordinary, a few; None where there is none."""
    kept: list[tuple[Given, Truth]] = []
    for point in points:
        try:
            kept.append((point, truth_of(formula, point)))
        except NotOrdinary:
            continue
        if len(kept) == POINTS:
            break
    if not kept:
        return None
    found, truths = zip(*kept, strict=True)
    return Sample(name, replace(formula, points=found), truths)


# --- what is wrong --------------------------------------------------------------------------------


def graph_of(formula: Formula) -> tuple[list[Any], list[Any]]:
    """The inputs of a formula, and its value and gradients."""
    variables = formula.variables()
    value = built(formula.term, variables)
    inputs = list(variables.values())
    return inputs, [value, *rw.grad(value.sum(), inputs)]


def wrong_in(found: Sequence[Any], truth: Truth, names: Sequence[str]) -> Deviation | None:
    """What is wrong with a value and gradients."""
    rows: list[tuple[str, list[Number]]] = [("value", truth.values)]
    if truth.slopes is not None:
        rows += [("gradient", truth.slopes[n]) for n in names]
    for k, (result, (kind, numbers)) in enumerate(zip(found, rows, strict=False)):
        values = np.atleast_1d(np.asarray(result))
        what = "value" if k == 0 else f"gradient by {names[k - 1]}"
        if values.shape != (len(numbers),):
            return Deviation(f"{kind} of another shape", f"{what}: {values.shape}")
        for v, number in zip(values.tolist(), numbers, strict=True):
            if not np.isfinite(v):
                return Deviation(f"{kind} not finite", _text(what, v, number), output=k)
            if abs(v - float(number.value)) > number.tolerance:
                return Deviation(f"{kind} wrong", _text(what, v, number), output=k)
    return None


def _text(what: str, found: float, number: Number) -> str:
    true = mp.nstr(number.value, 17)
    return f"{what}: {found!r}, in truth {true}, up to {number.tolerance:.1e}"


@dataclass(frozen=True)
class Checker:
    """Checks a formula at one point, as a case of its graph (for `blame.py`)."""

    formula: Formula
    truth: Truth
    seconds: float = SECONDS  # to compile it

    def case(self) -> Case:
        """The graph, with values."""
        inputs, outputs = graph_of(self.formula)
        arrays = self.formula.arrays(self.formula.points[0])
        return Case(inputs, outputs, dict(zip(inputs, arrays, strict=True)))

    def __call__(self, case: Case, mode: Any = DEFAULT) -> Deviation | None:
        """What is wrong in a mode."""
        try:
            with limit(self.seconds):
                compiled = case.compile(mode)
        except TooLong:
            return Deviation("too long", f"takes more than {self.seconds:.0f} s to compile")
        except Exception as error:
            return Deviation(f"raises {type(error).__name__}", str(error))
        try:
            return wrong_in(compiled(), self.truth, self.formula.names)
        except Exception as error:
            return Deviation(f"raises {type(error).__name__}", str(error))

    def tester(self, case: Case) -> tuple[Case, Callable[[Any], bool]]:
        """The graph to look at, and whether values of it are wrong."""

        def is_wrong(found: Any) -> bool:
            if isinstance(found, Exception):
                return True
            return wrong_in(found, self.truth, self.formula.names) is not None

        return case, is_wrong


def check(
    one: Sample, mode: Any = DEFAULT, seconds: float = SECONDS
) -> tuple[Sample, Deviation] | None:
    """What is wrong with a formula, alone; at the point where it is."""
    for point, truth in zip(one.formula.points, one.truths, strict=True):
        checker = Checker(one.formula.at(point), truth, seconds)
        try:
            finding = checker(checker.case(), mode)
        except Exception as error:
            finding = Deviation(f"building raises {type(error).__name__}", str(error))
        if finding is not None:
            return Sample(one.name, checker.formula, (truth,)), finding
    return None


def suspicious(
    some: Sequence[Sample], mode: Any = DEFAULT
) -> tuple[list[Sample], Deviation | None]:
    """Those among some formulas that are wrong when they are compiled together, and what is wrong
    with the last; all of them where that raises, or takes too long.
    """
    try:
        with limit(SECONDS):
            graphs = [graph_of(one.formula) for one in some]
            inputs = [v for variables, _ in graphs for v in variables]
            f = rw.function(inputs, [v for _, outputs in graphs for v in outputs], mode=mode)
            results = [_called(f, some, k) for k in range(POINTS)]
    except TooLong:
        return list(some), Deviation("too long", f"take more than {SECONDS:.0f} s to compile")
    except Exception as error:
        return list(some), Deviation(f"raises {type(error).__name__}", str(error))
    wrong: dict[str, tuple[Sample, Deviation]] = {}
    for i, one in enumerate(some):
        start = sum([len(outputs) for _, outputs in graphs[:i]])
        for found, truth in zip(results, one.truths, strict=False):
            own = found[start : start + len(graphs[i][1])]
            finding = wrong_in(own, truth, one.formula.names)
            if finding is not None:
                wrong[one.name] = one, finding
    findings = [finding for _, finding in wrong.values()]
    return [one for one, _ in wrong.values()], findings[-1] if findings else None


def _called(f: Any, some: Sequence[Sample], k: int) -> list[Any]:
    """The results at the points of a number, or the last that there are."""
    given: list[np.ndarray] = []
    for one in some:
        points = one.formula.points
        given += one.formula.arrays(points[min(k, len(points) - 1)])
    with np.errstate(all="ignore"):
        return list(f(*given))


# --- smaller --------------------------------------------------------------------------------------


def smaller(formula: Formula) -> Iterator[Formula]:
    """Formulas that are smaller, and simpler inputs; each has one point."""
    terms = dict.fromkeys(replaced(formula.term))
    for term in sorted(terms, key=lambda t: len(list(nodes_of(t)))):
        if all(names_in(node) for node in nodes_of(term) if node.args) and term.args:
            yield replace(formula, term=term).at(formula.points[0])
    yield from _simpler(formula)


def replaced(term: Term) -> Iterator[Term]:
    """Terms with one node less: a child, an input or 1 in the place of a node."""
    yield from term.args
    if term.args:
        yield from [Term("input", value=n) for n in names_in(term)]
        yield Term("number", value=1.0)
    for i, arg in enumerate(term.args):
        for new in replaced(arg):
            yield replace(term, args=(*term.args[:i], new, *term.args[i + 1 :]))


def _simpler(formula: Formula) -> Iterator[Formula]:
    """Inputs with fewer digits, and vectors that are shorter."""
    point = formula.points[0]
    if any(isinstance(v, list) and len(v) > 1 for v in point.values()):
        for cut in (slice(1), slice(1, None)):
            yield formula.at({n: v[cut] if isinstance(v, list) else v for n, v in point.items()})
    for n, v in point.items():
        if isinstance(v, list) and len(v) == 1:
            continue
        rows = v if isinstance(v, list) else [v]
        for i, old in enumerate(rows):
            for digits in (0, 1, 2):
                new = float(np.dtype(formula.dtype).type(round(old, digits))) + 0.0  # no -0.0
                if len(repr(new)) < len(repr(old)) and new != old:
                    other = [*rows[:i], new, *rows[i + 1 :]]
                    yield formula.at(point | {n: other if isinstance(v, list) else new})


def shrink(one: Sample, finding: Deviation, mode: Any = DEFAULT) -> tuple[Sample, Deviation]:
    """The smallest formula found that is wrong in the same way."""
    slow = finding.kind == "too long"
    until = process_time() + (4 * SHRINK if slow else SHRINK)
    going = True
    while going:
        going = False
        for formula in smaller(one.formula):
            if process_time() > until:
                return one, finding
            less = with_truths(one.name, formula, formula.points)
            found = None if less is None else check(less, mode, SLOW if slow else SECONDS)
            if found is not None and found[1].kind == finding.kind:
                one, finding = found
                going = True
                break
    return one, finding


# --- as they are told -----------------------------------------------------------------------------


def snippet(one: Sample, comment: str = "") -> str:
    """A program that shows a formula."""
    formula = one.formula
    point, names = formula.points[0], formula.names
    lines = ["import numpy as np", "import rewrite_engine as rw"]
    lines += ["import rewrite_engine.tensor as pt", *[f"# {line}" for line in comment.splitlines()]]
    for n in names:
        shape = "(None,)" if isinstance(point[n], list) else "()"
        lines.append(f"{n} = pt.tensor({n!r}, dtype={formula.dtype!r}, shape={shape})")
    given = [f"np.array({point[n]!r}, {formula.dtype!r})" for n in names]
    lines += [
        f"y = {formula.term}",
        f"f = rw.function([{', '.join(names)}], [y, *rw.grad(y.sum(), [{', '.join(names)}])])",
        f"print(f({', '.join(given)}))",
    ]
    return "\n".join(lines)


def report(one: Sample, finding: Deviation, mode: Any = DEFAULT) -> Report:
    """What to tell of a finding."""
    name = one.name
    one, finding = shrink(one, finding, mode)
    checker = Checker(one.formula, one.truths[0])
    who, rule = "unknown", None
    if finding.kind.startswith(("value", "gradient")):
        who, rule = guilty(checker.case(), mode, checker, finding.kind)
    ops = " ".join(sorted({node.op for node in nodes_of(one.formula.term) if node.args}))
    key = (finding.kind, getattr(rule, "name", None) or f"{who.partition(':')[0]} {ops}")
    return Report(name, key, snippet(one, f"{finding.kind} ({name})\n{finding.text}\nby {who}"))


# --- many of them ---------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What came of some formulas. more: findings that were not looked into."""

    count: int = 0
    reports: list[Report] = field(default_factory=list)
    more: int = 0


def only_together(some: Sequence[Sample], wrong: Sequence[Sample], finding: Deviation) -> Report:
    """What to tell where formulas are wrong beside each other, and none is alone."""
    names = ", ".join([one.name for one in some])
    head = f"only together: {finding.kind}\n{names}\n{finding.text}"
    return Report(wrong[-1].name, ("only together", finding.kind), snippet(wrong[-1], head))


_shrunk: Counter[str] = Counter()


def try_some(some: Sequence[Sample], mode: Any, outcome: Outcome) -> None:
    """Some formulas at once, and those that are wrong alone."""
    wrong, finding = suspicious(some, mode)
    alone = [found for one in wrong if (found := check(one, mode)) is not None]
    for found in alone:
        kind = found[1].kind
        if _shrunk[kind] >= MOST:
            outcome.more += 1
            continue
        _shrunk[kind] += 1
        outcome.reports.append(report(*found, mode))
    if finding is not None and not alone:
        outcome.reports.append(only_together(some, wrong, finding))


def chunk(seed: int, start: int, count: int, mode: Any = DEFAULT) -> Outcome:
    """Some formulas, several at once."""
    outcome = Outcome(count)
    numbers = range(start, start + count)
    for first in range(0, count, TOGETHER):
        try_some([sample(seed, k) for k in numbers[first : first + TOGETHER]], mode, outcome)
    return outcome


class Run:
    """Hands out chunks, and tells findings, each kind once."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.done = self.found = 0
        self.seen: Counter[tuple[str, ...]] = Counter()

    def work(self, formulas: int, processes: int) -> None:
        """Try so many formulas."""
        starts = range(0, formulas, CHUNK)
        given = ((self.seed, start, min(CHUNK, formulas - start)) for start in starts)
        for outcome in outcomes(chunk, given, processes):
            self.done += outcome.count
            self.found += outcome.more + len(outcome.reports)
            for one in outcome.reports:
                if not self.seen[one.key]:
                    print("=" * 100, one.text, sep="\n", flush=True)
                self.seen[one.key] += 1

    def summary(self, seconds: float) -> str:
        """What was done, and what was found."""
        lines = [f"{n} times: {' · '.join(key)}" for key, n in self.seen.most_common()]
        many = f"{self.found:,} findings" if self.found else "no finding"
        return "\n".join([*lines, f"{self.done:,} formulas in {seconds:.0f} s: {many}"])


def arguments(given: list[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="fuzz ordinary", description=__doc__)
    parser.add_argument("--formulas", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", metavar="ordinary:SEED:NUMBER", help="one formula again")
    return parser.parse_args(given)


def replay(name: str) -> int:
    """Show a formula, and what is wrong with it."""
    _, seed, number = name.split(":")
    one = sample(int(seed), int(number))
    print(snippet(one, name))
    found = check(one)
    if found is None:
        print("no finding")
        return 0
    print("=" * 100, report(*found).text, sep="\n")
    return 1


def main(given: list[str] | None = None) -> int:
    """The command. Returns its exit status."""
    options = arguments(given)
    if options.replay:
        return replay(options.replay)
    started = monotonic()
    run = Run(options.seed)
    run.work(options.formulas, options.processes)
    print(run.summary(monotonic() - started))
    return 1 if run.found else 0
