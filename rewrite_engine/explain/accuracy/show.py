"""The report of accuracy as blocks, which `explain/layout.py` prints as text, `page.py` as HTML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rewrite_engine.errors import plural
from rewrite_engine.explain.blocks import Block, Heading, Paragraph, Section, TableBlock, TableCell
from rewrite_engine.explain.layout import TextLayout
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
SAME_DIGITS = 0.05  # digits that are printed alike
MAX_OUTPUTS = 20  # rows of the table
MOSTLY = 0.5  # part of an error from which it is the step's own
SURELY = 0.5  # digits by which the exact value has to be known better
MIN_AMPLIFIED = 10.0  # condition number from which a step counts as one that amplifies errors
#: ops whose operands may cancel
ADDING = frozenset(
    ("add", "sub", "Sum", "dot", "MatMul", "IncSubtensor", "AdvancedIncSubtensor", "IncDiagonal")
)


def text(report: AccuracyReport) -> str:
    """Return the report as text."""
    lines = TextLayout.plain(WIDTH).text(report_blocks(report)).splitlines()
    plain = "\n".join([line.rstrip() for line in lines]).strip()
    return re.sub(r"\n{3,}", "\n\n", plain)


def report_blocks(report: AccuracyReport) -> list[Block]:
    """Return what a report says."""
    blocks: list[Block] = [Paragraph(heading(report), "bold")]
    if report.outputs:
        blocks.append(output_table(report))
    if len(report.outputs) > MAX_OUTPUTS:
        more = plural(len(report.outputs) - MAX_OUTPUTS, "more output")
        blocks.append(Paragraph(f"… {more}", indent=2))
    for title, losses in sections(report):
        blocks.append(Section((Heading(title), loss_table(losses)), title=title))
    said = [*map(effect_text, report.effects), *map(possible_text, report.possible)]
    said += [*map(advice_text, report.suggestions), *verdict(report)]
    blocks += [Paragraph(), *[Paragraph(one, "bold", hang=2) for one in said]]
    return [*blocks, Paragraph(), *[Paragraph(one) for one in (*report.notes, basis(report))]]


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
        yield f"Steps that lose digits{when}", report.losses
    if report.losses_compiled and not same:
        yield "Steps that lose digits after rewriting", report.losses_compiled


def _key(one: DigitLoss) -> tuple[str, str, Line | None]:
    return one.step, why(one), one.line


def shown_outputs(report: AccuracyReport) -> Sequence[OutputAccuracy]:
    """Return the outputs to show: if there are many, the least accurate ones."""
    if len(report.outputs) <= MAX_OUTPUTS:
        return report.outputs
    return sorted(report.outputs, key=lambda o: o.compiled)[:MAX_OUTPUTS]


def output_table(report: AccuracyReport) -> TableBlock:
    """Return the table of outputs."""
    numbers = ("as written", "compiled", "of")
    columns = [*[(title, True) for title in numbers], ("output", False), ("at", False)]
    columns += [("compiled", False), ("exact", False)]
    return TableBlock(tuple(columns), tuple(map(_output_row, shown_outputs(report))))


def _output_row(o: OutputAccuracy) -> tuple[TableCell, ...]:
    place = f"[{', '.join(map(str, o.index))}]" if o.index else ""
    digits = [_digits(o, o.written, o.written_median), _digits(o, o.compiled, o.compiled_median)]
    texts = (f"{o.full:.1f}", o.name, place, o.value, o.true)
    return (*digits, *[TableCell(one) for one in texts])


def _digits(o: OutputAccuracy, low: float, middle: float) -> TableCell:
    """Return the fewest digits of an output, and of half of its elements."""
    style = "red" if o.is_few(low) else "yellow" if o.full - low >= 1 else ""
    simple = abs(low - middle) < SAME_DIGITS or o.known < o.full
    return TableCell(at_least(low, o) + ("" if simple else f" ({middle:.1f})"), style)


def at_least(digits: float, o: OutputAccuracy) -> str:
    """Return a number of digits, which may be more if the exact value is not known to more."""
    return f"≥ {digits:.1f}" if o.full > o.known < digits + SURELY else f"{digits:.1f}"


def loss_table(losses: Sequence[DigitLoss]) -> TableBlock:
    """Return the table of steps."""
    numbers, texts = ("lost", "right", "condition", "share"), ("step", "why", "line")
    columns = (*[(title, True) for title in numbers], *[(title, False) for title in texts])
    return TableBlock(columns, tuple(map(_loss_row, losses)))


def _loss_row(one: DigitLoss) -> tuple[TableCell, ...]:
    condition = "" if one.condition is None else f"{one.condition:.1e}"
    if one.condition is not None and 0.01 <= one.condition < 1e4:
        condition = f"{one.condition:.3g}"
    step = f"{one.step} in {one.inside}" if one.inside else one.step
    if one.rules:
        step += f" (by {', '.join(one.rules)})"
    share = f"{100 * one.share:.0f} %"
    texts = (f"{one.lost:.1f}", f"{one.after:.1f}", condition, share, step, why(one))
    return (*[TableCell(text) for text in texts], TableCell(place(one.line)))


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
