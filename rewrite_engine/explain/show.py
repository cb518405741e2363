"""The report as text: a summary of all functions, then each one in full. Readable without colours,
at any width.

What is shown of a function, in order: where it was compiled, its inputs, the graph as it was built,
what fired (by phase), the rewritten graph, cost, time, and whether the values agree. All that is
told is in `model.py`; how it is put into words, in `phrase.py`; tables: `tables.py`; answers to
questions: `answer.py`.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.rule import Rule as Line
from rich.text import Text

from rewrite_engine.errors import UnknownNameError, did_you_mean, plural
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import (
    GRAPH,
    STYLES,
    arrow,
    assumptions,
    besides,
    claims_lines,
    cost_line,
    describe_inputs,
    failures,
    family_notes,
    graph_lines,
    has_loops,
    headline,
    place,
    source_of,
    time_line,
    values_lines,
)
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.story import Family
from rewrite_engine.explain.tables import alike, numbers_of, rule_times, summary, times_of
from rewrite_engine.explain.term import Change, cut
from rewrite_engine.judge.compare import Verdict
from rewrite_engine.rewrite.result import Result

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

FIRINGS = 100  # of a phase, unless everything is asked for
REPORT = 118  # lines of a report, unless more is asked for
FEW = 20  # firings that are told one by one
RANKED = 12  # families of firings that are told of
HEAD, STORY, END = 12, 40, 16  # lines of the parts of a function
ARROW = " → "
WORD = re.compile(r"[A-Za-z_]\w*")
LEAST_GRAPH, MOST_GRAPH = 8, 22  # lines of a graph, where there is little room, and much
LEAST_LOOPS, MOST_LOOPS = 6, 16  # lines of the graphs inside ops
LOUD = 6  # functions that are not shown, of which there is something to say
SUMMARY = 20  # functions in the table
LETTERS = 6  # that are defined below a firing
SIDE = 3  # lines of one side of a firing
MARGIN = 5  # columns before what belongs to a firing
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

    def wants(self, step: RecordedFiring) -> bool:
        """Return whether a firing is shown."""
        if self.phase is not None and self.phase not in (step.phase, step.phase.split(" in ")[0]):
            return False
        return self.rule is None or self.rule in names_of(step)

    def lists(self, f: FunctionReport) -> bool:
        """Return whether firings are listed one by one."""
        asked = self.full or self.firings or self.phase is not None or self.rule is not None
        return asked or len(f.steps) <= FEW

    def about(self, f: FunctionReport) -> bool:
        """Return whether a function is shown: it has one of the selected firings, if any are."""
        everything = self.rule is self.phase is None
        return everything or any(self.wants(step) for step in f.steps)


def names_of(step: RecordedFiring) -> frozenset[str]:
    """Everything a firing can be selected by: the names and tags of its rule."""
    name = step.rule_name
    return frozenset(getattr(step.rule, "names", ())) | {name, name.rpartition("/")[2]}


def of_one_op(steps: Sequence[RecordedFiring]) -> list[list[RecordedFiring]]:
    """Firings in their order, those together that one rule made of one op one after the other: for
    each output of it one.
    """
    found: list[list[RecordedFiring]] = []
    for step in steps:
        before = found[-1][-1] if found else None
        together = before is not None and (before.node, before.number) == (
            step.node, step.number - 1,
        )  # fmt: skip
        if together and before is not None and before.rule_name == step.rule_name:
            found[-1].append(step)
        else:
            found.append([step])
    return found


def _short(change: Change, width: int) -> str:
    """Both sides in one line, each cut if it has to be."""
    if len(change.term) <= width or change.term == change.after:
        return cut(change.term, width)
    half = (width - len(ARROW)) // 2
    right = max(half, width - len(ARROW) - len(change.before))
    left = max(half, width - len(ARROW) - len(change.after))
    return cut(change.before, left) + ARROW + cut(change.after, right)


def _hidden(change: Change) -> str:
    """What the first letter stands for that the right side has no more: it is what the rule went
    by.
    """
    words = set(WORD.findall(change.after))
    gone = [f"{name} = {text}" for name, text in change.letters if name not in words]
    return gone[0] if gone else ""


def console_for(file: Any = None, width: int | None = None, plain: bool = False) -> Console:
    """A console that prints what it is given: no markup, no highlighting, no emoji; in notebooks
    text, not an output for each line. plain: without colours, whatever the environment says.
    """
    colours: Any = None if plain else "auto"
    return Console(
        file=file, width=width, color_system=colours, markup=False, highlight=False, emoji=False,
        force_jupyter=False,
    )  # fmt: skip


class Printer:
    """Printer of reports to a console."""

    def __init__(self, console: Console, options: ReportOptions | None = None) -> None:
        self.console = console
        self.options = options or ReportOptions()
        self.explained = False  # whether the legend was printed

    # --- lines -----------------------------------------------------------------------------------

    def put(self, text: str = "", style: str = "", indent: int = 0, hang: int = 0) -> None:
        """Print a paragraph, wrapped to the width; its other lines are indented by `hang` more."""
        for line in self.wrapped(text, indent, hang):
            self.console.print(Text(line, style=style), soft_wrap=True)

    def wrapped(self, text: str, indent: int, hang: int) -> list[str]:
        """The lines of a paragraph."""
        space = " " * indent
        width = max(self.console.width, indent + hang + 20)
        if len(text) + indent <= width:
            return [space + text]
        more = space + " " * hang
        return textwrap.wrap(
            text, width, initial_indent=space, subsequent_indent=more, break_on_hyphens=False,
            drop_whitespace=True,
        )  # fmt: skip

    def heading(self, text: str) -> None:
        """A line across the page with a title in it."""
        self.console.print()
        self.console.print(Line(Text(text, style="bold"), align="left", characters="─"))

    def label(self, name: str, text: str, style: str = "") -> None:
        """`name   text`, the text hanging."""
        self.put(f"{name:<9} {text}", style, hang=10)

    # --- the report ------------------------------------------------------------------------------

    def report(self, report: Report) -> None:
        """Print everything, in at most `REPORT` lines unless the options ask for more."""
        self.put(headline(report), "bold")
        failed = list(failures(report))
        for text in failed if self.options.full else failed[:LOUD]:
            self.put(text, "bold red", hang=2)
        if len(failed) > LOUD and not self.options.full:
            self.put(f"… {len(failed) - LOUD} more failed; --full shows them", "bold red")
        if not report.functions:
            return
        full = self.options.full
        most = None if full else SUMMARY
        table = summary(report, self.console.width, most)
        lines = self.captured(lambda: self.console.print(table))
        self.raw(lines)
        used = 6 + len(lines) + min(len(failed), LOUD + 1)
        shown = [f for f in report.functions if self.options.about(f)]
        left = []
        for f in shown:
            lines = self.function_lines(f, REPORT - used if f is shown[0] else REPORT)
            whole = full or self.options.firings or used + len(lines) <= REPORT
            if whole or f is shown[0]:
                self.raw(lines)
                used += len(lines)
            else:
                left.append(f)
        self.others("--function NAME shows one of", left)
        for f in [f for f in left if f.check.verdict > Verdict.AGREE or not f.check.ok][:LOUD]:
            told = values_lines(f) if f.check.verdict > Verdict.AGREE else claims_lines(f)
            first = [line.strip() for line in told][:2][-1]
            self.put(f"{f.name}: {first}", STYLES.get(f.check.verdict, ""), hang=2)
        others = [f for f in report.functions if f not in shown]
        self.others("without any of the selected firings", others)

    def others(self, why: str, functions: list[FunctionReport]) -> None:
        """Functions that are not shown."""
        if not functions:
            return
        self.heading("not shown")
        names = [
            f"{numbers_of(some)} {some[0].name}{times_of(some)}"
            for some in alike(functions, lambda f: f.name)
        ]
        more = f", … {len(names) - SUMMARY} more" if len(names) > SUMMARY else ""
        self.put(f"{why}: {', '.join(names[:SUMMARY])}{more}", hang=2)

    def captured(self, tell: Callable[[], None]) -> list[str]:
        """What is printed, line by line."""
        with self.console.capture() as found:
            tell()
        return found.get().splitlines()

    def raw(self, lines: Sequence[str]) -> None:
        """Print lines that are laid out already."""
        for line in lines:
            self.console.print(Text.from_ansi(line), soft_wrap=True)

    def section(self, most: int, tell: Callable[[], None]) -> list[str]:
        """The lines of a part of what is told of a function, cut where there are many."""
        lines = self.captured(tell)
        if self.options.full or len(lines) <= most:
            return lines
        more = f"  … {len(lines) - most + 1} more lines; --full shows them"
        return [*lines[: most - 1], more]

    def function(self, f: FunctionReport) -> None:
        """Print the report on one function."""
        self.raw(self.function_lines(f))

    def function_lines(self, f: FunctionReport, room: int = REPORT) -> list[str]:
        """All that is told of a function, line by line; the graphs are cut to what room is left."""
        head = self.section(HEAD, lambda: self.head(f))
        if self.options.lists(f):
            firings = self.captured(lambda: self.firings(f))
        else:
            firings = self.section(STORY, lambda: self.story(f))
        end = self.section(END if f.check.ok else 2 * END, lambda: self.end(f))
        left = (room - len(head) - len(firings) - len(end)) // 2
        built, rewritten = self.graph_section(f, False, left), self.graph_section(f, True, left)
        return [*head, *built, *firings, *rewritten, *end]

    def head(self, f: FunctionReport) -> None:
        """Where a function was compiled, and its inputs."""
        self.heading(f"{f.record.index}. {f.name}")
        self.label("compiled", f"{place(f.record.place)}  {source_of(f.record.place)}".rstrip())
        for name, text in describe_inputs(f):
            self.label(name, text)

    def end(self, f: FunctionReport) -> None:
        """Costs, times, assumptions, values."""
        self.put()
        self.label("cost", cost_line(f))
        self.label("time", time_line(f))
        if f.record.runs:
            self.label("runs", f.record.runs)
        if self.options.full and f.phases:
            self.put()
            self.console.print(rule_times(f.phases, self.console.width))
        self.label("assumes", assumptions(f))
        style = STYLES.get(f.check.verdict, "green")
        for line in values_lines(f):
            self.put(line, style, hang=10)
        style = "bold red" if f.check.claims.untrue else "green"
        for line in claims_lines(f):
            self.put(line, style, hang=10)

    def graph_section(self, f: FunctionReport, after: bool, room: int) -> list[str]:
        """The lines of a graph; loops come first, and get room first."""
        loops = max(LEAST_LOOPS, min(room - LEAST_GRAPH, MOST_LOOPS)) if has_loops(f, after) else 0
        most = max(LEAST_GRAPH, min(room - loops, MOST_GRAPH))
        return self.section(most + loops, lambda: self.graph(f, after, most, loops))

    def graph(self, f: FunctionReport, after: bool, most: int, loops: int) -> None:
        """A graph, cut if it has more than `most` lines, and `loops` of graphs inside ops."""
        if not self.options.graphs:
            return
        fgraph = f.record.after if after else f.record.before
        self.put()
        title = "rewritten" if after else "as built"
        self.put(f"The graph {title}: {plural(len(fgraph), 'node')}", "bold cyan")
        full, has_second = self.options.full, False
        width = self.console.width
        for line in graph_lines(f, after, self.options.tree, full, most - 3, width, loops):
            if self.options.tree:
                self.console.print(Text("  " + line), soft_wrap=True)
            else:
                self.put(line if full else cut(line, GRAPH * (width - 12)), indent=2, hang=6)
            has_second |= SECOND in line
        if has_second and after:
            self.put(SECOND_MEANS, "dim", indent=2)

    # --- the story -------------------------------------------------------------------------------

    def story(self, f: FunctionReport) -> None:
        """Many firings: those that mattered most, by rule, and how many others there were."""
        rules = len({step.rule_name for step in f.steps})
        merged = sum(f.merged.values())
        self.put()
        text = f"What happened: {plural(len(f.steps), 'firing')} of {plural(rules, 'rule')}"
        text += f"; {plural(merged, 'equal node')} merged" if merged > 0 else ""
        self.put(text, "bold cyan")
        self.put(FOLDED, "dim", indent=2)
        ranked = sorted(f.families, key=lambda one: one.weight, reverse=True)
        ranked = [one for one in ranked if one.kind == "rule"]
        for one in ranked[:RANKED]:
            self.family(one)
        for text in besides(f, ranked[RANKED:]):
            self.put(text, indent=2, hang=4)

    def family(self, one: Family) -> None:
        """The firings of a rule in one line if they fit, with the rule behind."""
        number = f"{len(of_one_op(one.steps))}× ".rjust(MARGIN + 1)
        change, width = one.steps[0].change, self.console.width
        text, defined = _short(change, width - len(number)), _hidden(change)
        if change.of_graph:  # its operands do not show what was done
            text, defined = cut(change.of_graph, width - len(number)), ""
        for note in family_notes(one):  # the longest that fits into a line
            if len(text) + len(number) + len(note) + 2 <= width and not defined:
                self.spread(number, Text(text), note)
                return
            if len(note) <= width - MARGIN:
                break
        self.console.print(Text(number + text), soft_wrap=True)
        note, start = cut(note, width - MARGIN), " " * (MARGIN + 1)
        if defined and len(start) + len(defined) + len(note) + 2 > width:
            room = width - len(start)
            self.console.print(Text(start + cut(defined, room), style="dim"), soft_wrap=True)
            defined = ""
        line = start + defined + note.rjust(width - len(start) - len(defined))
        self.console.print(
            Text(line if defined else note.rjust(width), style="dim"), soft_wrap=True
        )

    # --- firings ---------------------------------------------------------------------------------

    def firings(self, f: FunctionReport) -> None:
        """The firings by phase."""
        total, shown = len(f.steps), sum(map(self.options.wants, f.steps))
        selected = "" if shown == total else f" ({shown} of them shown)"
        merged = f.merged["build"]
        built = f"; {plural(merged, 'equal node')} merged while it was built" if merged > 0 else ""
        self.put()
        self.put(f"What happened: {plural(total, 'firing')}{selected}{built}", "bold cyan")
        if shown and not self.explained:
            self.explained = True
            self.put(LEGEND, "dim", indent=2)
        for stretch in f.stretches:
            steps = [step for step in stretch.steps if self.options.wants(step)]
            if steps:
                self.phase(stretch.phase, steps, stretch.result)
        busy = set()
        for result in f.phases:
            if result.taken_back:
                self.put(_back_text(result), "yellow", indent=2, hang=2)
            if result.firings or result.merged or result.taken_back or result.place:
                busy.add(result.name)
        idle = dict.fromkeys(result.name for result in f.phases if result.name not in busy)
        if idle and shown == total:
            self.put(f"nothing to do for: {', '.join(idle)}", "dim", indent=2)

    def phase(self, name: str, steps: list[RecordedFiring], result: Result | None) -> None:
        """The firings of one phase. A rule that is behind all of several is named once."""
        same = len(steps) > 1 and len({step.rule_name for step in steps}) == 1
        text = f"{name}: {_phase_text(result)}"
        if same:
            text += f"; all by {steps[0].rule_name}, {place(steps[0].rule_where)}"
        self.put(text, "cyan", indent=2, hang=2)
        shown = steps if self.options.full else steps[:FIRINGS]
        self.each(shown, same)
        counts = Counter(step.rule_name for step in steps[len(shown) :])
        if counts:
            most = ", ".join(f"{rule} {n}×" for rule, n in counts.most_common())
            self.put(f"… {counts.total()} more, --full shows them: {most}", "dim", indent=2, hang=2)

    def each(self, steps: Sequence[RecordedFiring], same_rule: bool = False) -> None:
        """Firings, those of several outputs of one op as one."""
        for some in of_one_op(steps):
            self.firing(some[0], same_rule, some[-1].number)

    def firing(
        self, step: RecordedFiring, same_rule: bool = False, until: int | None = None
    ) -> None:
        """One firing: on one line if it fits, else what the letters stand for below, and the note
        where there is room for it. until: the last one of several in one go, one for each output.
        """
        more = "" if until in (None, step.number) else f"–{until}"
        number, change = f"#{step.number}{more} ".ljust(MARGIN), step.change
        term, note = change.term, " · ".join(_notes(step, same_rule))
        letters = ", ".join(change.definitions)
        room = self.console.width - len(number) - len(term) - len(note) - 2
        if len(letters) + 3 <= room or (not letters and room >= 0):
            gap = "   " if letters else ""
            self.spread(number, Text.assemble(term, (gap + letters, "dim")), note)
            return
        space = " " * (MARGIN + 2)
        if room >= 0:
            self.spread(number, Text(term), note)
        else:
            self.long_term(number, change)
        lines = self.defined(change, self.console.width - len(space))
        last = lines.pop() if lines and room < 0 else ""
        for line in lines:
            self.put(line, "dim", indent=len(space), hang=4)
        if room < 0:
            self.spread(space, Text(last, "dim"), note)

    def long_term(self, number: str, change: Change) -> None:
        """A change that fills a line or more: broken at the arrow, if that helps."""
        parts = [number + change.term]
        if len(parts[0]) > self.console.width and change.term != change.after:
            parts = [number + change.before, " " * MARGIN + f"→ {change.after}"]
        for part in parts:
            indent = len(part) - len(part.lstrip())
            if not self.options.full:
                part = cut(part, SIDE * (self.console.width - MARGIN - 2))
            for line in self.wrapped(part.lstrip(), indent, MARGIN + 2):
                self.console.print(Text(line), soft_wrap=True)

    def defined(self, change: Change, width: int) -> list[str]:
        """What the letters stand for: in one line if it fits, else each in its own, cut."""
        whole = ", ".join(change.definitions)
        if len(whole) <= width:
            return [whole] if whole else []
        if self.options.full:
            return change.definitions
        found = [cut(text, width) for text in change.definitions[:LETTERS]]
        left = len(change.definitions) - LETTERS
        return (
            [*found, f"… {plural(left, 'more letter')}; --full shows them"] if left > 0 else found
        )

    def spread(self, start: str, text: Text, note: str) -> None:
        """A line with a note at its right end; where both do not fit, the note goes on lines of its
        own.
        """
        width = self.console.width
        gap = width - len(start) - len(text) - len(note)
        if gap >= 2:
            whole = Text.assemble((start, "dim"), text, (" " * gap + note, "dim"))
            self.console.print(whole, soft_wrap=True)
            return
        if len(text):
            self.put(start + text.plain, hang=len(start) + 2)
        for line in self.wrapped(note, MARGIN + 2, 2):
            self.console.print(Text(line.strip().rjust(width), style="dim"), soft_wrap=True)


def _phase_text(result: Result | None) -> str:
    if result is None:
        return ""
    merged = f", {plural(result.merged, 'equal node')} merged" if result.merged else ""
    nodes = f"nodes {arrow(str(result.nodes_before), str(result.nodes_after))}"
    ms = (result.seconds - result.loading) * 1e3
    return f"{plural(result.firings, 'firing')}{merged}, {nodes}, {ms:.2f} ms"


def _back_text(result: Result) -> str:
    what = f"{plural(result.taken_back, 'firing')} taken back by {result.taken_back_by}"
    rules = [f"{name} {s.taken_back}×" for name, s in result.rules.items() if s.taken_back]
    return f"{result.name}: {what}, as if they had never been: {', '.join(rules)}"


def _notes(step: RecordedFiring, same_rule: bool) -> Iterator[str]:
    """What stands behind a firing: the rule, its place, the user's line, claim and evidence."""
    if not same_rule:
        yield f"{step.rule_name} {place(step.rule_where)}".rstrip()
    if step.strategy is not None:
        yield f"in {step.strategy}"
    if step.change.of_graph:
        yield step.change.of_graph
    if step.origin is not None:
        of = "" if step.forward is None else f", gradient of {place(step.forward, short=True)}"
        yield place(step.origin, short=True) + of
    claim = getattr(step.rule, "promise", None)
    if getattr(claim, "kind", "refines") not in ("exact", "refines"):
        yield str(claim)
    for text in step.evidence:
        yield f"given {text}"
    if step.conditions:
        yield f"if {' and '.join(step.conditions)}"


def check_names(report: Report, options: ReportOptions) -> None:
    """Refuse a phase or rule that nothing has. Raises `UnknownNameError`."""
    done = [phase.name for f in report.functions for phase in f.phases]
    phases = {*done, *[name.split(" in ")[0] for name in done]}
    if options.phase is not None and phases and options.phase not in phases:
        raise UnknownNameError(
            f"no phase is called {options.phase!r}; there are {', '.join(sorted(phases))}"
        )
    names = report.rule_names()
    if options.rule is None or options.rule in names:
        return
    hint = did_you_mean(options.rule, names)
    raise UnknownNameError(f"no rule is called {options.rule!r}{hint}")
