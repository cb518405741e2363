"""Wording of the parts of a report: places, inputs, graphs, costs, times, verdicts."""

from __future__ import annotations

import linecache
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import plural
from rewrite_engine.explain.cost import amount
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.story import Family
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.judge.compare import Verdict
from rewrite_engine.printing import debugprint
from rewrite_engine.printing.formula import Formula

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LINES = 60  # of a graph, unless everything is asked for
UNTRUE = 6  # things that are not as they were said, which are told
GRAPH = 2  # lines of one formula
CHARACTERS = 600  # of one formula
LEAST_LOOP = 3  # lines of the graph inside an op
BESIDES = {
    "folding": "{} without variables computed at compile time",
    "in place": "{} written into memory that is free",
    "inside": "the graphs inside {} rewritten",
}
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
    untrue = sum(bool(f.check.claims.untrue) for f in report.functions)
    said = f"in {plural(untrue, 'function')} a claim or declaration is UNTRUE"
    if verdicts[Verdict.DISAGREE]:
        text += f"; in {plural(verdicts[Verdict.DISAGREE], 'function')} the values DISAGREE"
        return f"{text}; {said}." if untrue else f"{text}."
    if untrue:
        return f"{text}; {said}."
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


def arrow(a: str, b: str) -> str:
    """`a → b`, or a alone if they are equal."""
    return a if a == b else f"{a} → {b}"


def amounts(f: FunctionReport, what: str) -> str:
    """Flops or bytes before and after, if they are known."""
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
    text = f"{text}, nan/inf" if special else text
    return f"{text}, UNTRUE" if f.check.claims.untrue else text


# --- one function --------------------------------------------------------------------------------


def describe_inputs(f: FunctionReport) -> Iterator[tuple[str, str]]:
    """(label, text) for the arguments and the state, with the shapes of the first call."""
    for label, state in (("inputs", False), ("state", True)):
        texts = [f"{v.name}: {_type_text(v.type, v.shape)}" for v in f.inputs if v.state is state]
        if texts:
            yield label, " · ".join(texts)


def _type_text(type_: Any, shape: tuple[int | None, ...]) -> str:
    if not hasattr(type_, "dtype"):
        return str(type_)
    if not shape:
        return f"{type_.dtype} scalar"
    return f"{type_.dtype} {'×'.join('?' if n is None else str(n) for n in shape)}"


def graph_lines(
    f: FunctionReport,
    after: bool,
    tree: bool,
    full: bool,
    most: int = LINES,
    width: int = 1000,
    loops: int = LINES,
) -> Iterator[str]:
    """A graph as formulas or as a tree; where it is long, the outputs first, and `most` lines of
    that width, of which a formula gets `GRAPH`. Loops, and other ops that hold graphs, come first,
    as functions, in `loops` lines of their own.
    """
    fgraph = f.record.after if after else f.record.before
    if tree:
        lines, outputs = str(debugprint(fgraph, file="str")).splitlines(), 0
    else:
        known = f.check.shapes_after if after else f.check.shapes_before
        limit = None if full else CHARACTERS
        formula = Formula(fgraph.outputs)
        yield from _functions(formula, limit, 10**9 if full else loops, width)
        defined, results = _formulas(formula, fgraph.outputs, f.outputs, limit, known)
        lines, outputs = [*defined, *results], 0
        if not full and sum(_height(line, width) for line in lines) > most:
            lines, outputs = _outputs_first(defined, results, most, width)
    yield from lines if full else _first(lines, outputs, most, width)


def term_lines(v: Any, most: int, width: int, full: bool) -> Iterator[str]:
    """What a variable computes, as formulas: itself first, then what it is computed from."""
    limit, formula = None if full else CHARACTERS, Formula([v])
    defined, results = _formulas(formula, [v], ["it"], limit, {})
    defined = [*formula.definitions(limit), *defined]
    if full:
        yield from [*defined, *results]
        return
    lines, outputs = _outputs_first(defined, results, most, width)
    yield from _first(lines if defined else results, outputs, most, width)


def _first(lines: list[str], outputs: int, most: int, width: int) -> Iterator[str]:
    """The first of some lines: as many as there is room for, and `outputs` in any case."""
    shown, used = 0, 0
    for line in lines:
        used += _height(line, width)
        if used > most and shown >= outputs:
            break
        yield line
        shown += 1
    if shown < len(lines):
        yield f"… {len(lines) - shown} more lines; --full shows them"


def _height(line: str, width: int) -> int:
    """How many lines a formula takes."""
    return min(GRAPH, 1 + len(line) // (width - 3))


def _outputs_first(
    defined: list[str], outputs: list[str], most: int, width: int
) -> tuple[list[str], int]:
    """What is computed, then what it is computed of, nearest first; and how many lines of it are
    shown in any case.
    """
    room = max(most * 2 // 3, most - sum(_height(line, width) for line in defined) - 1)
    shown, used = list[str](), 0
    for k, line in enumerate(outputs):
        used += _height(line, width)
        if used > room and k:
            shown.append(f"… {plural(len(outputs) - k, 'more output')}")
            break
        shown.append(line)
    return [*shown, "where, the last first:", *reversed(defined)], len(shown)


def formula_lines(f: FunctionReport, after: bool) -> Iterator[str]:
    """A graph as formulas, complete."""
    fgraph = f.record.after if after else f.record.before
    known = f.check.shapes_after if after else f.check.shapes_before
    formula = Formula(fgraph.outputs)
    yield from formula.definitions(None)
    for lines in _formulas(formula, fgraph.outputs, f.outputs, None, known):
        yield from lines


def has_loops(f: FunctionReport, after: bool) -> bool:
    """Whether a graph of a function has loops, or other ops that hold graphs."""
    fgraph = f.record.after if after else f.record.before
    return any(isinstance(node.op, HasInnerGraph) for node in fgraph.apply_nodes)


def _functions(formula: Formula, limit: int | None, room: int, width: int) -> Iterator[str]:
    """The graphs inside ops as functions; of those that do not fit, the beginning and the end."""
    functions = [*formula.functions(limit)]
    for k, lines in enumerate(functions):
        most = max(LEAST_LOOP, room - LEAST_LOOP * (len(functions) - k - 1))
        shown = _middle_cut(lines, most, width)
        room -= sum(_height(line, width) for line in shown)
        yield from shown


def _middle_cut(lines: list[str], most: int, width: int) -> list[str]:
    """The first lines of a function and the last one, which says what it returns, if all are too
    many.
    """
    heights = [_height(line, width) for line in lines]
    if sum(heights) <= most or len(lines) < 4:
        return lines
    used, shown = 1 + heights[0] + heights[-1], 1
    while shown < len(lines) - 2 and used + heights[shown] <= most:
        used += heights[shown]
        shown += 1
    more = len(lines) - shown - 1
    return [*lines[:shown], f"    … {plural(more, 'more line')}; --full shows them", lines[-1]]


def _formulas(
    formula: Formula, results: Sequence[Any], names: Sequence[str], limit: int | None, shapes: Any
) -> tuple[list[str], list[str]]:
    """What is used several times, each defined once; and the outputs by name."""
    taken = set(formula.names.values())
    defined = []
    for node, name in formula.names.items():
        size = _size_text(node.outputs[0], shapes) if len(node.outputs) == 1 else ""
        defined.append(f"{name} = {formula.text(node, limit)}{size}")
    outputs = []
    for name, v in zip(names, results, strict=True):
        text = formula.text(v, limit)
        outputs.append(f"{name}: {text}" if name in taken or " " in name else f"{name} = {text}")
    return defined, outputs


def _size_text(v: Any, shapes: Any) -> str:
    """`   [3, 4]` behind a formula: the lengths of an array, where they are known."""
    shape = shapes.get(v, v.type.shape)
    if not shape or set(shape) == {None}:
        return ""
    return f"   [{', '.join('?' if n is None else str(n) for n in shape)}]"


def family_notes(one: Family) -> Iterator[str]:
    """What stands behind firings that are told together: rule, lines, claim, what they spared; then
    the same with less, for narrow lines.
    """
    saved = one.saved
    claim = getattr(one.steps[0].rule, "promise", None)
    exact = getattr(claim, "kind", "refines") in ("exact", "refines")
    spared = [amount(n, unit) for n, unit in ((saved.flops, "flop"), (saved.bytes, "B")) if n > 0]
    spared += [plural(saved.nodes, "node")] if saved.nodes > 0 else []
    claims, stabilizes = [] if exact else [str(claim)], ["stabilizes"] * one.is_safety
    end = [f"saves {spared[0]}"] if spared else []
    for n in (4, 2, 1):
        lines = user_lines(one.lines, n)
        yield " · ".join([one.rule, *([lines] if lines else []), *claims, *stabilizes, *end])
    yield " · ".join([one.rule, *stabilizes, *end])


def user_lines(lines: Sequence[tuple[str, int]], most: int = 4) -> str:
    """`model.py:3, 5–8`: lines of one file, so many runs of them; of others only the first file is
    named.
    """
    if not lines:
        return ""
    file = lines[0][0]
    numbers = [n for name, n in lines if name == file]
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    more = ", …" if len(texts) > most or len(numbers) < len(lines) else ""
    return f"{os.path.basename(file)}:{', '.join(texts[:most])}{more}"


def besides(f: FunctionReport, rest: Sequence[Family]) -> Iterator[str]:
    """What else happened, a line each: other rules, folding, memory, inner graphs, merging."""
    if rest:
        counts = Counter[str]()
        for one in rest:
            counts[one.rule.rpartition("/")[2]] += len(one.steps)
        told = ", ".join(f"{name} {n}×" for name, n in counts.most_common(8))
        more = f", … {len(counts) - 8} more rules" if len(counts) > 8 else ""
        yield f"and {plural(counts.total(), 'firing')} of other rules: {told}{more}"
    for kind, text in BESIDES.items():
        steps = [step for one in f.families if one.kind == kind for step in one.steps]
        if steps:
            lines = user_lines(sorted({line for one in f.families if one.kind == kind
                                       for line in one.lines}))  # fmt: skip
            nodes = len({step.node for step in steps})
            yield f"{kind}: {text.format(plural(nodes, 'term'))}" + (f" ({lines})" if lines else "")
    idle = sum(n for name, n in f.merged.items() if name != "build")
    if idle or f.merged["build"] > 0:
        built = plural(f.merged["build"], "equal node")
        yield f"merging: {built} while it was built, {idle} later"


def failures(report: Report) -> Iterator[str]:
    """Functions that failed to compile."""
    for name, where, error in report.failed:
        yield f"FAILED to compile: {name} ({place(where)}): {error}"


def cost_line(f: FunctionReport) -> str:
    """Nodes and estimated cost before and after."""
    a, b = f.cost_before, f.cost_after
    parts = [f"nodes {arrow(str(a.nodes), str(b.nodes))}"]
    for what, unit in (("flops", "flop"), ("bytes", "B")):
        x, y = getattr(a, what), getattr(b, what)
        change = f" ({(y - x) / x:+.0%})" if x and y != x else ""
        parts.append(f"{what} {arrow(amount(x, unit), amount(y, unit))}{change}")
    parts.append(_peak(f))
    first = f.record.called.values is not None
    text = ", ".join(parts) + f"; estimated for {'the first call' if first else 'random inputs'}"
    missing = max(a.unsized, b.unsized)
    if missing:
        text += f"; without {plural(missing, 'node')} of unknown shape"
    names = sorted({*a.uncounted, *b.uncounted})
    return text + (f"; flops of {', '.join(names)} are not known" if names else "")


def _peak(f: FunctionReport) -> str:
    """The most memory that is held at once, and where."""
    before, after = f.peaks
    at = "" if after.node is None else f" at {after.node.op}"
    where = "" if after.node is None else place(after.node.where(), short=True)
    return f"peak {arrow(amount(before.bytes, 'B'), amount(after.bytes, 'B'))}{at}" + (
        f" ({where})" if where else ""
    )


def time_line(f: FunctionReport) -> str:
    """Where the time went, in ms. Rewriting takes less when nobody watches."""
    times, took = f.times, dict[str, float]()
    for phase, seconds in times.phases.items():
        name = f"inside {times.inside[phase]}" if phase in times.inside else phase
        took[name] = took.get(name, 0.0) + seconds
    loading = {"loading": times.loading} if times.loading > 1e-3 else {}
    last = {} if times.first_call is None else {"first call": times.first_call}
    stages = {"build": times.build, **loading, **took, "link": times.link, **last}
    text = " · ".join(f"{name} {s * 1e3:.2f}" for name, s in stages.items())
    error = f.record.called.error
    end = "" if error is None else f"; the first call raised {error}"
    return f"{text}  (ms, while recorded){end}"


def assumptions(f: FunctionReport) -> str:
    """Which assumptions were used: what the user granted, and what facts proved."""
    granted, proved = [], []
    for one in f.assumptions:
        steps = ", ".join(f"#{n}" for n in one.steps)
        if one.declared:
            granted.append(f"{one.name}, as it is declared ({steps})")
        elif one.granted:
            granted.append(f"{one.name} (granted by the mode: {steps})")
        else:
            proved.append(f"facts proved {one.name} ({steps})")
    return "; ".join([*(granted or ["nothing"]), *proved])


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


def claims_lines(f: FunctionReport) -> Iterator[str]:
    """Whether rules keep what they claim, and what was declared is true; nothing where nothing was
    claimed.
    """
    claims = f.check.claims
    for one in claims.untrue[:UNTRUE]:
        what = one.text
        if one.rule is not None:
            number = "" if one.number is None else f"#{one.number} "
            what = f"{number}{one.rule} {what}"
        yield f"UNTRUE    {one.basis}: {what}"
    if len(claims.untrue) > UNTRUE:
        yield f"          … {len(claims.untrue) - UNTRUE} more; --json has all"
    problem = claims.problem or (claims.left if claims.firings and not claims.steps else None)
    if problem is not None:
        yield f"claims    not checked: {problem}"
    elif claims.steps and not claims.untrue:
        where = [plural(claims.calls, "call")] if f.record.called.kept else ["random inputs"]
        where += [f"{plural(claims.special, 'draw')} of special values"] if claims.special else []
        few = f"{claims.steps} of " if claims.steps < claims.firings else ""
        late = f"; no special values: {claims.why_not}" if claims.why_not else ""
        if claims.left and claims.left == claims.why_not:
            late = f"; no special values, and not all firings: {claims.left}"
        elif claims.left:
            late += f"; {claims.left}"
        kept = f"kept by {few}{plural(claims.firings, 'firing')}"
        yield f"claims    {kept}, on {' and '.join(where)}{late}"


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
