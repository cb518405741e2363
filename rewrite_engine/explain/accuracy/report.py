"""`AccuracyReport`: which digits of a function's results are right, and where others are lost. It
prints itself as text, JSON and HTML.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rewrite_engine.graph.origin import Line

SCHEMA = 1  # version of `as_dict`
POOR = 0.75  # part of a dtype's digits: a result with fewer is poor


@dataclass(frozen=True, slots=True)
class OutputAccuracy:
    """Accuracy of one output. Digits are decimal digits of each element, at most `full`.

    written, compiled: the fewest right digits of the graph as written, run in floats op by op, and
    of the compiled function; written_median, compiled_median: of half of the elements at least.
    index: the element with the fewest right digits in the compiled result. value, written_value,
    true: this element as compiled, as written, and exactly. measured: number of elements that were
    compared, of `size`. zeros: elements whose exact value is 0, but not the compiled one. known:
    digits to which the exact value is known, at most `full`; where large arrays are evaluated in
    80-bit floats, results may have more right digits than that. determined: digits of the element
    at `index` that stay as they are if each input changes by half a unit in its last place; known
    if digits are lost. settled: whether the exact value did not change with more digits.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    full: float
    written: float
    written_median: float
    compiled: float
    compiled_median: float
    index: tuple[int, ...]
    value: str
    written_value: str
    true: str
    size: int
    measured: int
    zeros: int
    known: float
    determined: float | None = None
    settled: bool = True

    @property
    def is_lossy(self) -> bool:
        """Return whether digits are lost in the graph as written."""
        return self.full - self.written >= 1

    @property
    def is_lossy_compiled(self) -> bool:
        """Return whether digits are lost in the compiled function."""
        return self.full - self.compiled >= 1

    @property
    def is_poor(self) -> bool:
        """Return whether the compiled function has lost more than sums of many terms do."""
        return self.compiled < POOR * self.full

    @property
    def is_as_good_as_inputs(self) -> bool:
        """Return whether changes in the last place of the inputs explain the error."""
        return self.determined is not None and self.compiled >= self.determined - 1


@dataclass(frozen=True, slots=True)
class DigitLoss:
    """Step that loses digits.

    step: its term. op: its op. line: the user's line that built it. inside: the loop or other op
    that holds it. before, after: right digits of its inputs, and of its result. condition: the
    relative change of the result for a relative change of the inputs; None if it is not known.
    rounding: the part of the error that the step itself makes, by rounding or overflow; the rest is
    an error of the inputs that grows. share: the part of the error of `output` that is gone if the
    step (inside of a loop: the loop) is exact. value, true: the computed and the exact result.
    strange: what overflows or underflows here. rules: for a step of the rewritten graph, the rules
    that made it.
    """

    step: str
    op: str
    line: Line | None
    inside: str | None
    before: float
    after: float
    condition: float | None
    rounding: float | None
    share: float
    output: str | None
    value: str
    true: str
    strange: str = ""
    rules: tuple[str, ...] = ()

    @property
    def lost(self) -> float:
        """Return the number of digits that the step loses."""
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """Firing that changed the digits of an output. before, after: its right digits without and with
    this firing. number, line: of the firing, and the user's line that it changed.
    """

    output: str
    rule: str
    number: int
    term: str
    line: Line | None
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Term to write by hand. name: of the pattern. found, write: the term as it is, and the better
    one. why: the reason. digits: right digits of the output with it; at_least: there may be more,
    but the exact value is not known to more.
    """

    name: str
    found: str
    write: str
    why: str
    line: Line | None
    output: str
    digits: float
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class AccuracyReport:
    """Report on the accuracy of one function, for one set of inputs.

    outputs: the accuracy of each. losses: steps of the graph as written that lose digits of some
    output, the most important first; losses_compiled: the same for the rewritten graph, if digits
    are lost there. effects: firings that restored or lost digits. possible: firings of the default
    mode that would restore digits, if the function has another mode. suggestions: what to write
    instead, measured. reference: how the exact values were computed. notes: limits of the report.
    seconds: what it took.
    """

    name: str
    basis: str
    outputs: tuple[OutputAccuracy, ...]
    losses: tuple[DigitLoss, ...]
    losses_compiled: tuple[DigitLoss, ...]
    effects: tuple[RuleEffect, ...]
    possible: tuple[RuleEffect, ...]
    suggestions: tuple[Suggestion, ...]
    reference: str
    notes: tuple[str, ...]
    seconds: float

    @property
    def written(self) -> float:
        """Return the fewest right digits of all outputs, as written."""
        return min([o.written for o in self.outputs], default=float("nan"))

    @property
    def compiled(self) -> float:
        """Return the fewest right digits of all outputs of the compiled function."""
        return min([o.compiled for o in self.outputs], default=float("nan"))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as data for JSON."""
        data = asdict(self)
        for one, loss in zip(data["losses"], self.losses, strict=True):
            one["lost"] = loss.lost
        for one, loss in zip(data["losses_compiled"], self.losses_compiled, strict=True):
            one["lost"] = loss.lost
        return {"kind": "accuracy", "version": SCHEMA} | data

    def to_json(self, file: Any = None) -> str:
        """Return `as_dict` as JSON text, and write it to a file if a path is given."""
        return _written(json.dumps(finite(self.as_dict()), indent=1), file)

    def html(self, file: Any = None) -> str:
        """Return a page for the browser, and write it to a file if a path is given."""
        from rewrite_engine.explain.accuracy.page import page

        return _written(page([self]), file)

    def __str__(self) -> str:
        from rewrite_engine.explain.accuracy.show import text

        return text(self)

    def __repr__(self) -> str:
        digits = f"{self.written:.1f} → {self.compiled:.1f} digits"
        return f"<AccuracyReport of {self.name}: {digits}>"

    def _repr_html_(self) -> str:
        from rewrite_engine.explain.accuracy.page import report_as_html

        return report_as_html(self)


def finite(data: Any) -> Any:
    """Return data with texts in the place of numbers that JSON does not have (inf, nan)."""
    if isinstance(data, dict):
        return {k: finite(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [finite(v) for v in data]
    if isinstance(data, float) and data - data != 0:
        return str(data)
    return data


def _written(text: str, file: Any) -> str:
    if file is not None:
        Path(file).write_text(text, encoding="utf-8")
    return text
