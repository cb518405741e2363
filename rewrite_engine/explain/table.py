"""The parts of a report as strings: places, inputs, graphs, costs, times, verdicts, and the summary
table.
"""

from __future__ import annotations

import inspect
import linecache
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rewrite_engine.explain.compare import Verdict, output_names
from rewrite_engine.explain.cost import amount
from rewrite_engine.explain.record import FunctionRecord
from rewrite_engine.link.program import Argument
from rewrite_engine.printing import debugprint
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.inner import Exchange
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.result import COLUMNS, Result

if TYPE_CHECKING:
    from rewrite_engine.explain.report import FunctionReport, Report

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
WIDE = 96  # columns at which there is room for everything
LINES = 60  # of a graph, unless everything is asked for
CHARACTERS = 600  # of one formula
LEAST = ("dropped", "created", "matches", "calls")  # columns that a narrow table can do without
WIDEST = Console(width=10_000)
WORDS = {
    Verdict.IDENTICAL: "identical",
    Verdict.REPAIRED: "repaired",
    Verdict.UNKNOWN: "not compared",
    Verdict.DISAGREE: "DISAGREE",
}
STYLES = {Verdict.REPAIRED: "bold green", Verdict.UNKNOWN: "yellow", Verdict.DISAGREE: "bold red"}


# --- places --------------------------------------------------------------------------------------


def place(where: tuple[str, int] | None, short: bool = False) -> str:
    """`file:line`: from the working directory, or (short) the file's name only."""
    if where is None:
        return ""
    name = where[0]
    if short:
        return f"{os.path.basename(name)}:{where[1]}"
    if name.startswith(PACKAGE):
        return f"{name.removeprefix(PACKAGE)}:{where[1]}"
    relative = os.path.relpath(name) if os.path.isabs(name) else name
    return f"{name if relative.startswith(os.pardir) else relative}:{where[1]}"


def rule_where(rule: Any) -> tuple[str, int] | None:
    """File and line of a rule; of the code for what drivers do themselves."""
    steps: dict[str, Any] = {
        InplaceOptimizer.rule_name: InplaceOptimizer.run,
        Exchange.rule_name: Exchange.run,
    }
    if isinstance(rule, str) and rule in steps:
        code = inspect.unwrap(steps[rule]).__code__
        return code.co_filename, code.co_firstlineno
    where: tuple[str, int] | None = getattr(rule, "where", None)
    return where


def rule_place(rule: Any) -> str:
    """Where a rule is written."""
    return place(rule_where(rule))


def source_of(where: tuple[str, int] | None) -> str:
    """The line of code at a place."""
    return "" if where is None else linecache.getline(*where).strip()


# --- the summary ---------------------------------------------------------------------------------


def headline(report: Report) -> str:
    """One sentence on everything."""
    if not report.functions:
        return "No function was compiled: nothing to explain."
    firings = sum(len(f.steps) for f in report.functions)
    rules = {step.rule_name for f in report.functions for step in f.steps}
    n = len(report.functions)
    fired = f"{plural(firings, 'firing')} of {plural(len(rules), 'rule')}"
    text = f"{plural(n, 'function')} compiled; {fired if firings else 'no rule fired'}"
    verdicts = Counter(f.check.verdict for f in report.functions)
    if verdicts[Verdict.DISAGREE]:
        return f"{text}; in {plural(verdicts[Verdict.DISAGREE], 'function')} the values DISAGREE."
    tail = "" if verdicts[Verdict.UNKNOWN] == n else "; no values disagree"
    if verdicts[Verdict.REPAIRED]:
        texts = [one.text for f in report.functions for _, one in f.check.outputs]
        what = ["nan or inf became numbers"] * any(t.startswith("repaired") for t in texts)
        what += ["values became more accurate"] * any(t.startswith("improved") for t in texts)
        there = plural(verdicts[Verdict.REPAIRED], "function")
        tail += f", and in {there} {' or '.join(what)}"
    strange = sum(any(one.special for _, one in f.check.outputs) for f in report.functions)
    if strange:
        tail += f"; in {plural(strange, 'function')} results are NAN OR INF, before and after"
    return text + tail + "."


def summary(report: Report, width: int) -> Table:
    """One line per function; where it was compiled only if there is room."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    names = ["", "function", "compiled at", "nodes", "firings", "flops", "bytes", "values"]
    left = {"function", "compiled at", "values"}
    wide = width >= WIDE
    for name in names if wide else [n for n in names if n != "compiled at"]:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    for f in report.functions:
        a, b = f.cost_before, f.cost_after
        verdict = Text(verdict_text(f), style=STYLES.get(f.check.verdict, "green"))
        where = [Text(place(f.record.place, short=True))] if wide else []
        nodes = arrow(str(a.nodes), str(b.nodes))
        amounts = [_amounts(f, "flops"), _amounts(f, "bytes")]
        table.add_row(
            str(f.record.index), Text(f.name), *where, nodes, str(len(f.steps)), *amounts, verdict
        )
    return table


def arrow(a: str, b: str) -> str:
    """`a → b`, or a alone if they are equal."""
    return a if a == b else f"{a} → {b}"


def _amounts(f: FunctionReport, what: str) -> str:
    a, b = f.cost_before, f.cost_after
    if a.unsized or b.unsized:
        return "?"
    return arrow(amount(getattr(a, what)), amount(getattr(b, what)))


def verdict_text(f: FunctionReport) -> str:
    """The verdict in a few words."""
    verdict, ulps = f.check.verdict, f.check.ulps
    text = WORDS.get(verdict, "agree")
    if verdict is Verdict.AGREE and ulps is not None and ulps < 1e6:
        text = f"agree ({plural(round(ulps), 'ulp')})"
    special = verdict <= Verdict.AGREE and any(one.special for _, one in f.check.outputs)
    return f"{text}, nan/inf" if special else text


# --- one function --------------------------------------------------------------------------------


def describe_inputs(f: FunctionReport) -> Iterator[tuple[str, str]]:
    """(label, text) for the arguments and the state, with the shapes of the first call."""
    record, shapes = f.record, f.check.shapes_before
    for label, cls in (("inputs", True), ("state", False)):
        texts = []
        for v, spec in zip(record.before.inputs, record.inputs, strict=True):
            if isinstance(spec, Argument) is not cls:
                continue
            known = shapes.get(v) if record.called.values is not None or not cls else None
            texts.append(f"{v}: {_type_text(v.type, known)}")
        if texts:
            yield label, " · ".join(texts)


def _type_text(type_: Any, shape: tuple[int, ...] | None) -> str:
    if not hasattr(type_, "dtype"):
        return str(type_)
    dims = type_.shape if shape is None else shape
    if not dims:
        return f"{type_.dtype} scalar"
    return f"{type_.dtype} {'×'.join('?' if n is None else str(n) for n in dims)}"


def graph_lines(f: FunctionReport, after: bool, tree: bool, full: bool) -> Iterator[str]:
    """A graph as formulas or as a tree."""
    fgraph = f.record.after if after else f.record.before
    if tree:
        lines = iter(str(debugprint(fgraph, file="str")).splitlines())
    else:
        lines = _formulas(fgraph, output_names(f.record), None if full else CHARACTERS)
    count = 0
    for line in lines:
        count += 1
        if full or count <= LINES:
            yield line
    if not full and count > LINES:
        yield f"… {count - LINES} more lines; --full shows them"


def _formulas(fgraph: Any, names: list[str], limit: int | None) -> Iterator[str]:
    """What is used several times is defined first; then the outputs by name."""
    formula = Formula(fgraph.outputs)
    taken = set(formula.names.values())
    yield from formula.definitions(limit)
    for node, name in formula.names.items():
        yield f"{name} = {formula.text(node, limit)}"
    for name, v in zip(names, fgraph.outputs, strict=True):
        text = formula.text(v, limit)
        yield f"{name}: {text}" if name in taken or " " in name else f"{name} = {text}"


def cost_line(f: FunctionReport) -> str:
    """Nodes and estimated cost before and after."""
    a, b = f.cost_before, f.cost_after
    parts = [f"nodes {arrow(str(a.nodes), str(b.nodes))}"]
    for what, unit in (("flops", "flop"), ("bytes", "B")):
        x, y = getattr(a, what), getattr(b, what)
        change = f" ({(y - x) / x:+.0%})" if x and y != x else ""
        parts.append(f"{what} {arrow(amount(x, unit), amount(y, unit))}{change}")
    first = f.record.called.values is not None
    text = ", ".join(parts) + f"; estimated for {'the first call' if first else 'random inputs'}"
    missing = max(a.unsized, b.unsized)
    if missing:
        text += f"; without {plural(missing, 'node')} of unknown shape"
    names = sorted({*a.uncounted, *b.uncounted})
    return text + (f"; flops of {', '.join(names)} are not known" if names else "")


def time_line(record: FunctionRecord) -> str:
    """Where the time went, in ms. Rewriting takes less when nobody watches."""
    seconds = [("build", record.seconds["build"])]
    if record.loading > 1e-3:
        seconds.append(("load rules", record.loading))
    times: dict[str, float] = {}
    for phase in record.trace.phases:
        name = f"inside {phase.place}" if phase.place else phase.name
        times[name] = times.get(name, 0.0) + phase.seconds
    seconds += times.items()
    seconds.append(("link", record.seconds["link"]))
    if record.called.seconds is not None:
        seconds.append(("first call", record.called.seconds))
    text = (
        " · ".join(f"{name} {s * 1e3:.2f}" for name, s in seconds) + "  (ms, while being watched)"
    )
    return (
        text
        if record.called.error is None
        else f"{text}; the first call raised {record.called.error}"
    )


def rule_times(record: FunctionRecord, width: int) -> Table:
    """What each rule did in each phase, and how long it took. Columns that tell least are left out
    where names would have to be broken.
    """
    phases = record.trace.phases
    whole = Result(
        "rules, by time",
        parts=phases,
        nodes_before=phases[0].nodes_before,
        nodes_after=phases[-1].nodes_after,
        seconds=sum(phase.seconds for phase in phases),
    )
    columns = list(COLUMNS[:-1])
    table: Table = whole.table(columns=columns)
    for column in LEAST:
        if Measurement.get(WIDEST, WIDEST.options, table).maximum <= width:
            break
        columns.remove(column)
        table = whole.table(columns=columns)
    return table


def assumptions(record: FunctionRecord) -> str:
    """Which assumptions were used: what the user granted, and what facts proved."""
    granted, proved = dict[str, list[int]](), dict[str, list[int]]()
    for step in record.steps:
        if step.assumes is not None:
            granted.setdefault(step.assumes, []).append(step.number)
        elif step.proved is not None:
            proved.setdefault(step.proved, []).append(step.number)
    parts = [f"{name} (granted by the mode: {_numbers(steps)})" for name, steps in granted.items()]
    parts += [f"facts proved {name} ({_numbers(steps)})" for name, steps in proved.items()]
    return "; ".join(parts if granted else ["nothing", *parts])


def _numbers(numbers: list[int]) -> str:
    return ", ".join(f"#{n}" for n in numbers)


def values_lines(f: FunctionReport) -> Iterator[str]:
    """Whether the values agree, and on what."""
    check = f.check
    if check.problem is not None:
        yield f"values were not compared: {check.problem}"
        return
    if check.verdict <= Verdict.AGREE:
        yield _agreement(f)
        yield from _strange(f)
        return
    yield f"values compared on {check.basis}:"
    for name, one in check.outputs:
        loud = "DISAGREE: " if one.verdict is Verdict.DISAGREE else ""
        yield f"          {name}: {loud}{one.text}"
    yield from _strange(f)
    if check.blame is not None:
        yield f"          {check.blame}"


def _strange(f: FunctionReport) -> Iterator[str]:
    """Where nan and inf come from that are in the results before and after."""
    if f.check.strange is not None and any(one.special for _, one in f.check.outputs):
        yield f"          nan or inf: {f.check.strange}"


def _agreement(f: FunctionReport) -> str:
    """`values agree to 4 ulps on …`, and how each output does where there are several."""
    outputs = f.check.outputs
    worst = max([one.ulps or 0 for _, one in outputs], default=0)
    if not worst and not any(one.special for _, one in outputs):
        return f"values are identical on {f.check.basis}"
    if len(outputs) == 1:
        verb = "" if worst else "are "
        return f"values {verb}{outputs[0][1].text} on {f.check.basis}"
    total = f"agree to {plural(round(worst), 'ulp')}" if worst else "are identical"
    total = total if worst < 1e6 else "agree within their tolerance"
    single = ", ".join(f"{name}: {one.text.removeprefix('agree to ')}" for name, one in outputs)
    return f"values {total} on {f.check.basis} ({single})"


def plural(n: int, word: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{n} {word}{'' if n == 1 else 's'}"
