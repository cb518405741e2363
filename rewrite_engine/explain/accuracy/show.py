"""The report of accuracy as text, and the rows of its tables, which `page.py` also shows."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rewrite_engine.errors import plural
from rewrite_engine.graph.origin import Line

if TYPE_CHECKING:
    from rewrite_engine.explain.accuracy.report import (
        AccuracyReport,
        DigitLoss,
        OutputAccuracy,
        RuleEffect,
        Suggestion,
    )

WIDTH = 100  # columns
MAX_OUTPUTS = 20  # rows of the table
MOSTLY = 0.5  # part of an error from which it is the step's own
SURELY = 0.5  # digits by which the exact value has to be known better
MIN_AMPLIFIED = 10.0  # condition number from which a step counts as one that amplifies errors
#: ops whose operands may cancel
ADDING = frozenset(
    ("add", "sub", "Sum", "dot", "MatMul", "IncSubtensor", "AdvancedIncSubtensor", "IncDiagonal")
)


class AccuracyTable(NamedTuple):
    """Table of a report. numbers: how many columns, from the left, hold numbers."""

    heads: list[str]
    rows: list[list[str]]
    numbers: int


def text(report: AccuracyReport) -> str:
    """Return the report as text."""
    lines = [heading(report)]
    if report.outputs:
        lines += ["", *_laid_out(output_table(report))]
    lines += _more(len(report.outputs) - MAX_OUTPUTS, "output")
    for title, losses in sections(report):
        lines += ["", title, *_laid_out(loss_table(losses))]
    lines += _told("", [effect_text(one) for one in report.effects])
    lines += _told("", [possible_text(one) for one in report.possible])
    lines += _told("", [advice_text(one) for one in report.suggestions])
    lines += _told("", verdict(report))
    lines += _told("", [*report.notes, basis(report)])
    return "\n".join(lines)


def heading(report: AccuracyReport) -> str:
    """Return the first line: how many digits are right."""
    a, b = report.written, report.compiled
    if not report.outputs:
        return f"{report.name}: there are no numbers to compare"
    return f"{report.name}: {a:.1f} digits are right as written, {b:.1f} as compiled"


def basis(report: AccuracyReport) -> str:
    """Return what the report rests on."""
    return f"on {report.basis}, compared with {report.reference}; took {report.seconds:.1f} s"


def verdict(report: AccuracyReport) -> Iterator[str]:
    """Yield what there is to say if no advice says it."""
    poor = [o.name for o in report.outputs if o.is_poor]
    advised = {one.output for one in report.suggestions}
    advised |= {one.output for one in report.possible}
    advised |= {one.output for one in report.effects if one.after < one.before}
    delicate = [o.name for o in report.outputs if o.is_poor and o.is_as_good_as_inputs]
    rest = [name for name in poor if name not in advised and name not in delicate]
    if report.outputs and not poor:
        lossy = any(o.is_lossy_compiled for o in report.outputs)
        yield f"The compiled function keeps {'most' if lossy else 'all'} digits."
    if delicate:
        yield (
            f"{', '.join(delicate[:MAX_OUTPUTS])}: a change in the last place of an input changes "
            "the exact result as much, so no formula has more right digits if inputs are rounded."
        )
    if rest:
        names = ", ".join(rest[:MAX_OUTPUTS])
        yield (
            f"No rule, and no term that is known here, restores the digits of {names}: the steps "
            "above say where to look."
        )


def sections(report: AccuracyReport) -> Iterator[tuple[str, Sequence[DigitLoss]]]:
    """Yield the tables of steps, with their titles."""
    same = [_key(one) for one in report.losses] == [_key(one) for one in report.losses_compiled]
    if report.losses:
        when = ", as written and after rewriting" if same else ", as written"
        yield f"Steps that lose digits{when}:", report.losses
    if report.losses_compiled and not same:
        yield "Steps that lose digits after rewriting:", report.losses_compiled


def _key(one: DigitLoss) -> tuple[str, str, Line | None]:
    return one.step, why(one), one.line


def shown_outputs(report: AccuracyReport) -> Sequence[OutputAccuracy]:
    """Return the outputs to show: if there are many, the least accurate ones."""
    if len(report.outputs) <= MAX_OUTPUTS:
        return report.outputs
    return sorted(report.outputs, key=lambda o: o.compiled)[:MAX_OUTPUTS]


def output_table(report: AccuracyReport) -> AccuracyTable:
    """Return the table of outputs."""
    outputs = shown_outputs(report)
    heads = ["as written", "compiled", "of", "output", "worst element", "compiled", "exact"]
    return AccuracyTable(heads, [_output_row(o) for o in outputs], 3)


def _output_row(o: OutputAccuracy) -> list[str]:
    digits = [
        at_least(low, o) + ("" if abs(low - middle) < 0.05 or o.known < o.full else
                            f" (median {middle:.1f})")
        for low, middle in ((o.written, o.written_median), (o.compiled, o.compiled_median))
    ]  # fmt: skip
    place = f"[{', '.join(map(str, o.index))}]" if o.index else ""
    return [*digits, f"{o.full:.1f}", o.name, place, o.value, o.true]


def at_least(digits: float, o: OutputAccuracy) -> str:
    """Return a number of digits, which may be more if the exact value is not known to more."""
    return f"≥ {digits:.1f}" if o.full > o.known < digits + SURELY else f"{digits:.1f}"


def loss_table(losses: Sequence[DigitLoss]) -> AccuracyTable:
    """Return the table of steps."""
    heads = ["lost", "right", "condition", "share", "step", "why", "line"]
    return AccuracyTable(heads, [_loss_row(one) for one in losses], 4)


def _loss_row(one: DigitLoss) -> list[str]:
    condition = "" if one.condition is None else f"{one.condition:.1e}"
    if one.condition is not None and 0.01 <= one.condition < 1e4:
        condition = f"{one.condition:.3g}"
    share = f"{100 * one.share:.0f} %"
    step = f"{one.step} in {one.inside}" if one.inside else one.step
    if one.rules:
        step += f" (by {', '.join(one.rules)})"
    return [
        f"{one.lost:.1f}",
        f"{one.after:.1f}",
        condition,
        share,
        step,
        why(one),
        place(one.line),
    ]


def why(one: DigitLoss) -> str:
    """Return in some words how a step loses digits."""
    if one.strange:
        return one.strange
    if one.rounding is not None and one.rounding > MOSTLY:
        return "rounds"
    if one.condition is not None and one.condition < MIN_AMPLIFIED:
        return "errors of inputs"
    return "cancels" if one.op.partition("{")[0] in ADDING else "amplifies errors"


def place(line: Line | None) -> str:
    """Return a line of the user as text."""
    return "" if line is None else f"{os.path.basename(line[0])}:{line[1]}"


def effect_text(one: RuleEffect) -> str:
    """Return the sentence about a firing."""
    verb = "restores" if one.after > one.before else "loses"
    where = f", {place(one.line)}" if one.line else ""
    digits = f"{one.before:.1f} → {one.after:.1f}"
    text = f"{one.rule} {verb} digits of {one.output}: {digits} (firing #{one.number}{where})"
    return text if verb == "restores" else f'{text}; mode.excluding("{one.rule}") leaves it out'


def possible_text(one: RuleEffect) -> str:
    """Return the sentence about a rule that the function's mode leaves out."""
    digits = f"{one.before:.1f} → {one.after:.1f}"
    return f"In the default mode {one.rule} restores digits of {one.output}: {digits}"


def advice_text(one: Suggestion) -> str:
    """Return the sentence about what to write instead."""
    where = f" ({place(one.line)})" if one.line else ""
    digits = f"at least {one.digits:.1f}" if one.at_least else f"{one.digits:.1f}"
    return f"Write {one.write} for {one.found}{where}: {digits} digits of {one.output}. {one.why}"


def _told(title: str, sentences: Iterator[str] | Sequence[str]) -> list[str]:
    lines = [title]
    for one in sentences:
        lines += textwrap.wrap(one, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return lines if len(lines) > 1 else []


def _more(n: int, what: str) -> list[str]:
    return [f"  … {plural(n, f'more {what}')}"] if n > 0 else []


def _laid_out(table: AccuracyTable) -> list[str]:
    """Return the lines of a table; columns without texts are left out."""
    rows = [table.heads, *table.rows]
    used = [k for k in range(len(table.heads)) if any(row[k] for row in table.rows)]
    widths = {k: max(len(row[k]) for row in rows) for k in used}
    lines = []
    for row in rows:
        cells = [
            row[k].rjust(widths[k]) if k < table.numbers else row[k].ljust(widths[k]) for k in used
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines
