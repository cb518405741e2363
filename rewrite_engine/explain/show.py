"""The report as blocks (`blocks.py`): a summary of all functions, then each one in full.

What is shown of a function, in order: where it was compiled, its inputs, the graph as it was built,
what fired (by phase), the rewritten graph, cost, time, and whether the values agree. Everything
comes from the records in `model.py`; `phrase.py` puts it into words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import UnknownNameError, did_you_mean, plural
from rewrite_engine.explain.blocks import (
    Block,
    CodeLine,
    Counts,
    FiringBlock,
    Formulas,
    Heading,
    Layout,
    Paragraph,
    Section,
    TableBlock,
    TableCell,
    label,
)
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import (
    STYLES,
    amounts,
    arrow,
    assumptions,
    besides,
    claims_lines,
    cost_line,
    describe_inputs,
    failures,
    family_notes,
    firing_notes,
    graph_lines,
    headline,
    loops_of,
    phase_text,
    taken_back_text,
    time_line,
    values_lines,
    verdict_text,
)
from rewrite_engine.explain.place import place_text, source_text
from rewrite_engine.explain.story import Family
from rewrite_engine.explain.term import Change
from rewrite_engine.printing import debugprint
from rewrite_engine.rewrite.trace.records import FiringLine, PhaseLine

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

MAX_PHASE_FIRINGS = 100  # of a phase, unless everything is requested
MAX_REPORT_LINES = 118  # unless more is requested
MAX_LISTED_FIRINGS = 20  # that are listed one by one
MAX_FAMILIES = 12  # of firings that have a line
HEAD_LINES, STORY_LINES, END_LINES = 12, 40, 16  # of the parts of a function
MIN_GRAPH_LINES, MAX_GRAPH_LINES = 8, 22  # of a graph, if there is little room, and much
MIN_LOOP_LINES, MAX_LOOP_LINES = 6, 16  # of the graphs inside ops
MAX_REMARKS = 6  # on functions that are not shown
MAX_SUMMARY_ROWS = 20  # functions in the table
PLACE_COLUMNS = 96  # width of a report that has room for the places of functions
SECOND, SECOND_MEANS = "second(", "second(a, b) is b in the shape of a"
FOLDED = (
    "Each line is one rule: how often it fired, its first firing as an example, and what it saved "
    "per call; then its name and the lines of your code. --firings lists all firings."
)
LEGEND = (
    "Each line is one firing: its number, the term before → the term after; then the rule, its "
    "source line, and the line of your code that built the term. Capital letters stand for "
    "subterms."
)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Choice of what to show. full: shorten nothing. firings: list firings one by one. tree: graphs
    as trees instead of formulas. graphs: show graphs at all. phase, rule: only their firings.
    """

    full: bool = False
    firings: bool = False
    tree: bool = False
    graphs: bool = True
    phase: str | None = None
    rule: str | None = None

    def wants(self, firing: FiringLine) -> bool:
        """Return whether a firing is shown."""
        if self.phase is not None and self.phase not in (firing.phase, outer(firing.phase)):
            return False
        return self.rule is None or self.rule in names_of(firing)

    def lists(self, f: FunctionReport) -> bool:
        """Return whether firings are listed one by one."""
        asked = self.full or self.firings or self.phase is not None or self.rule is not None
        return asked or len(f.firings) <= MAX_LISTED_FIRINGS

    def about(self, f: FunctionReport) -> bool:
        """Return whether a function is shown: it has one of the selected firings, if any are."""
        everything = self.rule is self.phase is None
        return everything or any(map(self.wants, f.firings))


def outer(phase: str) -> str:
    """Return the name of a phase without the op in whose graph it ran."""
    return phase.partition(" in ")[0]


def names_of(firing: FiringLine) -> frozenset[str]:
    """Return everything a firing can be selected by: the names and tags of its rule."""
    return frozenset({firing.rule, firing.rule.rpartition("/")[2], *firing.tags})


def of_one_op(firings: Iterable[FiringLine]) -> list[list[FiringLine]]:
    """Group firings that one rule made of one op one after the other, one for each output."""
    found: list[list[FiringLine]] = []
    for firing in firings:
        if firing.same_node and found and found[-1][-1].number == firing.number - 1:
            found[-1].append(firing)
        else:
            found.append([firing])
    return found


# --- the report ----------------------------------------------------------------------------------


def report_blocks(report: Report, options: ReportOptions, layout: Layout) -> Iterator[Block]:
    """Yield a whole report, in at most `MAX_REPORT_LINES` lines unless the options ask for more."""
    yield Paragraph(headline(report), "bold")
    failed = list(failures(report))
    for text in failed if options.full else failed[:MAX_REMARKS]:
        yield Paragraph(text, "bold red", hang=2)
    left = len(failed) - MAX_REMARKS
    if left > 0 and not options.full:
        yield Paragraph(f"… {left} more failed; --full shows them", "bold red")
    if not report.functions:
        return
    table = summary(report, layout.width, None if options.full else MAX_SUMMARY_ROWS)
    yield table
    used = 6 + layout.height([table]) + min(len(failed), MAX_REMARKS + 1)
    yield from _functions(report, options, layout, used)


def _functions(
    report: Report, options: ReportOptions, layout: Layout, used: int
) -> Iterator[Block]:
    """Yield the functions that have room, and name the others."""
    shown = [f for f in report.functions if options.about(f)]
    left, has_legend = [], False
    for f in shown:
        first = f is shown[0]
        room = MAX_REPORT_LINES - used if first else MAX_REPORT_LINES
        section = function_section(f, options, layout, room, has_legend)
        height = layout.height([section])
        if first or options.full or options.firings or used + height <= MAX_REPORT_LINES:
            yield section
            used += height
            has_legend |= options.lists(f) and any(map(options.wants, f.firings))
        else:
            left.append(f)
    yield from _others("--function NAME shows one of", left)
    yield from _remarks(left)
    others = [f for f in report.functions if f not in shown]
    yield from _others("without any of the selected firings", others)


def _remarks(left: Sequence[FunctionReport]) -> Iterator[Block]:
    """Yield a line for each function that is not shown, and has remarkable values or claims."""
    remarkable = [f for f in left if f.about.verdict not in AGREEING or not f.is_right]
    for f in remarkable[:MAX_REMARKS]:
        texts = values_lines(f) if f.about.verdict not in AGREEING else claims_lines(f)
        first = [line.strip() for line in texts][:2][-1]
        yield Paragraph(f"{f.name}: {first}", STYLES.get(f.about.verdict, ""), hang=2)


AGREEING = ("identical", "agree")  # verdicts


def _others(why: str, functions: list[FunctionReport]) -> Iterator[Block]:
    """Yield the names of functions that are not shown."""
    if not functions:
        return
    yield Heading("not shown")
    names = [
        f"{numbers_of(some)} {some[0].name}{times_of(some)}"
        for some in alike(functions, lambda f: f.name)
    ]
    left = len(names) - MAX_SUMMARY_ROWS
    more = f", … {left} more" if left > 0 else ""
    yield Paragraph(f"{why}: {', '.join(names[:MAX_SUMMARY_ROWS])}{more}", hang=2)


# --- the summary ---------------------------------------------------------------------------------


def summary(report: Report, width: int, max_rows: int | None = None) -> TableBlock:
    """Tabulate functions, one a line; with the place of each if there is room."""
    names = ["", "function", "compiled at", "nodes", "firings", "flops", "bytes", "values"]
    left = {"function", "compiled at", "values"}
    is_wide = width >= PLACE_COLUMNS
    columns = [(n, n not in left) for n in names if is_wide or n != "compiled at"]
    groups = alike(report.functions, _cells)
    rows = [_row(some, is_wide) for some in groups[:max_rows]]
    if len(rows) < len(groups):
        more = (TableCell(""), TableCell(f"… {len(groups) - len(rows)} more"))
        rows.append((*more, *[TableCell("")] * (len(columns) - len(more))))
    return TableBlock(tuple(columns), tuple(rows))


def _row(some: Sequence[FunctionReport], is_wide: bool) -> tuple[TableCell, ...]:
    f = some[0]
    name, where, nodes, firings, flops, size, verdict = _cells(f)
    style = STYLES.get(f.about.verdict, "green") if f.is_right else "bold red"
    texts = [numbers_of(some), name + times_of(some), *([where] if is_wide else [])]
    cells = map(TableCell, [*texts, nodes, firings, flops, size])
    return (*cells, TableCell(verdict, style))


def _cells(f: FunctionReport) -> tuple[str, ...]:
    """Return the texts of a function's line in the summary."""
    a, place = f.about, place_text((f.about.file, f.about.line), short=True)
    nodes, costs = arrow(str(a.nodes_before), str(a.nodes_after)), map(amounts, (f, f), SIZES)
    return (f.name, place, nodes, str(len(f.firings)), *costs, verdict_text(f))


SIZES = ("flops", "bytes")


def alike(
    functions: Sequence[FunctionReport], key: Callable[[FunctionReport], Any]
) -> list[list[FunctionReport]]:
    """Group consecutive functions whose lines are equal."""
    return [list(some) for _, some in groupby(functions, key)]


def numbers_of(some: Sequence[FunctionReport]) -> str:
    """Return `3`, or `3–7` for several functions."""
    first, last = some[0].index, some[-1].index
    return str(first) if first == last else f"{first}–{last}"


def times_of(some: Sequence[FunctionReport]) -> str:
    """Return ` (5×)` for several functions."""
    return "" if len(some) == 1 else f" ({len(some)}×)"


# --- one function --------------------------------------------------------------------------------


def function_section(
    f: FunctionReport,
    options: ReportOptions,
    layout: Layout,
    room: int = MAX_REPORT_LINES,
    has_legend: bool = False,
) -> Section:
    """Return everything on a function; the graphs are cut to the lines that are left."""
    head = Section((*_head(f),), HEAD_LINES)
    if options.lists(f):
        firings = Section((*_firings(f, options, has_legend),))
    else:
        firings = Section((*_story(f),), STORY_LINES)
    end = Section((*_end(f, options),), END_LINES if f.is_right else 2 * END_LINES)
    left = (room - layout.height([head, firings, end])) // 2
    built, rewritten = (_graph(f, after, options, layout.width, left) for after in (False, True))
    return Section((head, built, firings, rewritten, end), title=f"{f.index}. {f.name}")


def _head(f: FunctionReport) -> Iterator[Block]:
    """Yield where a function was compiled, and its inputs."""
    yield Heading(f"{f.index}. {f.name}")
    where = f.about.file, f.about.line
    yield label("compiled", f"{place_text(where)}  {source_text(where)}".rstrip())
    for name, text in describe_inputs(f):
        yield label(name, text)


def _end(f: FunctionReport, options: ReportOptions) -> Iterator[Block]:
    """Yield costs, times, assumptions, values."""
    yield Paragraph()
    yield label("cost", cost_line(f))
    yield label("time", time_line(f))
    if f.about.runs:
        yield label("runs", f.about.runs)
    if options.full and f.phases:
        yield Paragraph()
        yield Counts(tuple(f.phases))
    yield label("assumes", assumptions(f))
    for line in values_lines(f):
        yield Paragraph(line, STYLES.get(f.about.verdict, "green"), hang=10)
    for line in claims_lines(f):
        yield Paragraph(line, "bold red" if f.about.claims.untrue else "green", hang=10)


def _graph(
    f: FunctionReport, after: bool, options: ReportOptions, width: int, room: int
) -> Section:
    """Return a graph; loops come first, and get room first."""
    has_loops = bool(loops_of(f, after))
    loops = max(MIN_LOOP_LINES, min(room - MIN_GRAPH_LINES, MAX_LOOP_LINES)) if has_loops else 0
    most = max(MIN_GRAPH_LINES, min(room - loops, MAX_GRAPH_LINES))
    return Section((*_graph_blocks(f, after, options, width, most, loops),), most + loops)


def _graph_blocks(
    f: FunctionReport, after: bool, options: ReportOptions, width: int, most: int, loops: int
) -> Iterator[Block]:
    """Yield a graph, cut if it has more than `most` lines, and `loops` of graphs inside ops."""
    if not options.graphs:
        return
    nodes = f.about.nodes_after if after else f.about.nodes_before
    title = "rewritten" if after else "as built"
    yield Paragraph()
    yield Paragraph(f"The graph {title}: {plural(nodes, 'node')}", "bold cyan")
    fgraph = None if f.is_saved else f.record.after if after else f.record.before
    if options.tree and fgraph is not None:
        lines = str(debugprint(fgraph, file="str")).splitlines()
        shown = lines if options.full else lines[: most - 3]
        yield from [CodeLine(line, indent=2) for line in shown]
        if len(lines) > len(shown):
            yield CodeLine(f"… {len(lines) - len(shown)} more lines; --full shows them", indent=2)
        return
    lines = list(graph_lines(f, after, options.full, most - 3, width, loops))
    yield Formulas(tuple(lines), fgraph, bool(loops_of(f, after)))
    if after and any(SECOND in line for line in lines):
        yield Paragraph(SECOND_MEANS, "dim", indent=2)


# --- what happened -------------------------------------------------------------------------------


def ranked_families(f: FunctionReport) -> list[Family]:
    """Return the rules that fired, with their firings, the most important first."""
    ranked = sorted(f.families, key=lambda one: one.weight, reverse=True)
    return [one for one in ranked if one.kind == "rule"]


def _story(f: FunctionReport) -> Iterator[Block]:
    """Yield many firings: those that mattered most, by rule, and how many others there were."""
    rules, merged = len({firing.rule for firing in f.firings}), sum(f.about.merged.values())
    text = f"What happened: {plural(len(f.firings), 'firing')} of {plural(rules, 'rule')}"
    text += f"; {plural(merged, 'equal node')} merged" if merged > 0 else ""
    yield Paragraph()
    yield Paragraph(text, "bold cyan")
    yield Paragraph(FOLDED, "dim", indent=2)
    ranked = ranked_families(f)
    yield from map(family_block, ranked[:MAX_FAMILIES])
    for text in besides(f, ranked[MAX_FAMILIES:]):
        yield Paragraph(text, indent=2, hang=4)


def family_block(one: Family) -> FiringBlock:
    """Return the firings of a rule, the first one as an example."""
    number, notes = f"{len(of_one_op(one.firings))}×", tuple(family_notes(one))
    return FiringBlock(number, _change(one.firings[0]), notes, is_family=True)


def firing_blocks(firings: Iterable[FiringLine], same_rule: bool = False) -> Iterator[FiringBlock]:
    """Yield firings, those of several outputs of one op as one."""
    for some in of_one_op(firings):
        one, last = some[0], some[-1].number
        number = f"#{one.number}" + (f"–{last}" if last != one.number else "")
        yield FiringBlock(number, _change(one), tuple(firing_notes(one, same_rule)))


def _change(one: FiringLine) -> Change:
    letters = tuple(one.letters.items())
    return Change(str(one.before), str(one.after), letters, of_graph=one.of_graph)


def _firings(f: FunctionReport, options: ReportOptions, has_legend: bool) -> Iterator[Block]:
    """Yield the firings by phase."""
    total, shown = len(f.firings), sum(map(options.wants, f.firings))
    selected = "" if shown == total else f" ({shown} of them shown)"
    merged = f.about.merged["build"]
    built = f"; {plural(merged, 'equal node')} merged while it was built" if merged > 0 else ""
    yield Paragraph()
    yield Paragraph(f"What happened: {plural(total, 'firing')}{selected}{built}", "bold cyan")
    if shown and not has_legend:
        yield Paragraph(LEGEND, "dim", indent=2)
    for stretch in f.stretches:
        firings = [firing for firing in stretch.firings if options.wants(firing)]
        if firings:
            yield from _phase(stretch.phase, firings, stretch.result, options)
    busy = set()
    for result in f.phases:
        if result.taken_back:
            yield Paragraph(taken_back_text(result), "yellow", indent=2, hang=2)
        is_inside = " in " in result.phase
        if result.firings or result.merged or result.taken_back or is_inside:
            busy.add(result.phase)
    idle = dict.fromkeys(result.phase for result in f.phases if result.phase not in busy)
    if idle and shown == total:
        yield Paragraph(f"nothing to do for: {', '.join(idle)}", "dim", indent=2)


def _phase(
    name: str, firings: list[FiringLine], result: PhaseLine | None, options: ReportOptions
) -> Iterator[Block]:
    """Yield the firings of one phase. A rule that is behind all of several is named once."""
    same = len(firings) > 1 and len({firing.rule for firing in firings}) == 1
    text = f"{name}: {phase_text(result)}"
    if same:
        where = place_text((firings[0].rule_file, firings[0].rule_line))
        text += f"; all by {firings[0].rule}, {where}"
    yield Paragraph(text, "cyan", indent=2, hang=2)
    shown = firings if options.full else firings[:MAX_PHASE_FIRINGS]
    yield from firing_blocks(shown, same)
    counts = Counter(firing.rule for firing in firings[len(shown) :])
    if counts:
        most = ", ".join(f"{rule} {n}×" for rule, n in counts.most_common())
        text = f"… {counts.total()} more, --full shows them: {most}"
        yield Paragraph(text, "dim", indent=2, hang=2)


def check_names(report: Report, options: ReportOptions) -> None:
    """Refuse a phase or rule that nothing has. Raises `UnknownNameError`."""
    done = [phase.phase for f in report.functions for phase in f.phases]
    phases = {*done, *map(outer, done)}
    if options.phase is not None and phases and options.phase not in phases:
        raise UnknownNameError(
            f"no phase is called {options.phase!r}; there are {', '.join(sorted(phases))}"
        )
    names = report.rule_names()
    if options.rule is None or options.rule in names:
        return
    hint = did_you_mean(options.rule, names)
    raise UnknownNameError(f"no rule is called {options.rule!r}{hint}")
