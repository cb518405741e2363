"""Wording of the parts of a report: inputs, graphs, costs, times, verdicts, from its records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import plural
from rewrite_engine.explain.cost import amount
from rewrite_engine.explain.layout import FORMULA_LINES
from rewrite_engine.explain.lines import formulas
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.place import place_text
from rewrite_engine.explain.story import Family
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.trace.records import FiringLine, InputFields, PhaseLine

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

MAX_UNTRUE = 6  # statements that are not true
MAX_FORGIVEN = 3  # differences of one kind, and firings of each
MAX_CHARACTERS = 600  # of one formula
MIN_FUNCTION_LINES = 3  # of the graph inside an op
MAX_RULE_NAMES = 8  # in a line on other rules
NO_ULPS = 1e6  # units in the last place, from which on a number of units says nothing
LOADING_SECONDS = 1e-3  # of loading rules that are mentioned
BESIDES = {
    "folding": "{} without variables computed at compile time",
    "in place": "{} written into memory that is free",
    "inside": "the graphs inside {} rewritten",
}
WORDS = {"repaired": "repaired", "identical": "identical", "unknown": "not compared",
         "disagree": "DISAGREE"}  # fmt: skip
STYLES = {"repaired": "bold green", "unknown": "yellow", "disagree": "bold red"}


# --- the summary ---------------------------------------------------------------------------------


def headline(report: Report) -> str:
    """Return one sentence on everything."""
    functions = report.functions
    if not functions:
        return "No function was compiled: nothing to explain."
    firings = sum(len(f.firings) for f in functions)
    rules = {firing.rule for f in functions for firing in f.firings}
    n = len(functions)
    fired = f"{plural(firings, 'firing')} of {plural(len(rules), 'rule')}"
    text = f"{plural(n, 'function')} compiled; {fired if firings else 'no rule fired'}"
    verdicts = Counter(f.about.verdict for f in functions)
    untrue = sum(bool(f.about.claims.untrue) for f in functions)
    said = f"in {plural(untrue, 'function')} a claim or declaration is UNTRUE"
    if verdicts["disagree"]:
        text += f"; in {plural(verdicts['disagree'], 'function')} the values DISAGREE"
        return f"{text}; {said}." if untrue else f"{text}."
    if untrue:
        return f"{text}; {said}."
    tail = "" if verdicts["unknown"] == n else "; no values disagree"
    if verdicts["repaired"]:
        texts = [one.text for f in functions for one in f.about.outputs]
        what = ["nan or inf became numbers"] * any(t.startswith("repaired") for t in texts)
        what += ["values became more accurate"] * any(t.startswith("improved") for t in texts)
        there = plural(verdicts["repaired"], "function")
        tail += f", and in {there} {' or '.join(what)}"
    strange = sum(map(_has_special, functions))
    if strange:
        tail += f"; in {plural(strange, 'function')} results are NAN OR INF, before and after"
    return text + tail + "."


def _has_special(f: FunctionReport) -> bool:
    """Return whether outputs have nan or inf, before and after."""
    return any(one.special for one in f.about.outputs)


def arrow(a: str, b: str) -> str:
    """Return `a → b`, or a alone if they are equal."""
    return a if a == b else f"{a} → {b}"


def amounts(f: FunctionReport, what: str) -> str:
    """Return flops or bytes before and after, if they are known."""
    if f.about.unsized:
        return "?"
    a, b = (getattr(f.about, f"{what}_{when}") for when in ("before", "after"))
    return arrow(amount(a), amount(b))


def verdict_text(f: FunctionReport) -> str:
    """Return the verdict in a few words."""
    verdict = f.about.verdict
    ulps = max([one.ulps for one in f.about.outputs if one.ulps is not None], default=None)
    text = WORDS.get(verdict, "agree")
    if verdict == "agree" and ulps is not None and ulps < NO_ULPS:
        text = f"agree ({plural(round(ulps), 'ulp')})"
    is_special = verdict in ("identical", "agree") and _has_special(f)
    text = f"{text}, nan/inf" if is_special else text
    return f"{text}, UNTRUE" if f.about.claims.untrue else text


# --- one function --------------------------------------------------------------------------------


def describe_inputs(f: FunctionReport) -> Iterator[tuple[str, str]]:
    """Yield (label, text) for the arguments and the state, with the shapes of the first call."""
    for name, is_state in (("inputs", False), ("state", True)):
        own = [v for v in f.about.inputs if v.state is is_state]
        if own:
            yield name, " · ".join(f"{v.name}: {_type_text(v)}" for v in own)


def _type_text(v: InputFields) -> str:
    if v.dtype is None:
        return v.type
    if not v.shape:
        return f"{v.dtype} scalar"
    return f"{v.dtype} {'×'.join('?' if n is None else str(n) for n in v.shape)}"


def loops_of(f: FunctionReport, after: bool) -> tuple[list[str], ...]:
    """Return the graphs inside ops, such as loops, as functions."""
    return f.about.loops_after if after else f.about.loops_before


def graph_lines(
    f: FunctionReport, after: bool, full: bool, most: int, width: int, loops: int
) -> Iterator[str]:
    """Yield a graph as formulas; if it is long, the outputs first, and `most` lines of that width,
    of which a formula gets `FORMULA_LINES`. Loops, and other ops that hold graphs, come first, as
    functions, in `loops` lines of their own.
    """
    functions = loops_of(f, after)
    lines = f.about.formulas_after if after else f.about.formulas_before
    lines = lines[len(functions) :]
    if full:
        yield from [line for function in functions for line in function]
        yield from lines
        return
    yield from _cut_functions(functions, loops, width)
    count, outputs = len(f.outputs), 0
    if sum(_height(line, width) for line in lines) > most:
        defined, results = lines[: len(lines) - count], lines[len(lines) - count :]
        lines, outputs = _outputs_first(defined, results, most, width)
    yield from _first(lines, outputs, most, width)


def term_lines(v: Any, most: int, width: int, full: bool) -> Iterator[str]:
    """Yield what a variable computes, as formulas: itself first, then what it is computed from."""
    limit, formula = None if full else MAX_CHARACTERS, Formula([v])
    *defined, result = formulas(formula, [v], ["it"], {}, limit)
    defined = [*formula.definitions(limit), *defined]
    if full:
        yield from [*defined, result]
        return
    lines, outputs = _outputs_first(defined, [result], most, width)
    yield from _first(lines if defined else [result], outputs, most, width)


def _first(lines: list[str], outputs: int, most: int, width: int) -> Iterator[str]:
    """Yield the first lines: as many as there is room for, and `outputs` in any case."""
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
    """Return how many lines a formula takes."""
    return min(FORMULA_LINES, 1 + len(line) // (width - 3))


def _outputs_first(
    defined: list[str], outputs: list[str], most: int, width: int
) -> tuple[list[str], int]:
    """Return outputs, then their definitions, nearest first; and how many lines are shown in any
    case.
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


def _cut_functions(functions: Sequence[list[str]], room: int, width: int) -> Iterator[str]:
    """Yield the graphs inside ops; of those that do not fit, the beginning and the end."""
    for k, lines in enumerate(functions):
        rest = MIN_FUNCTION_LINES * (len(functions) - k - 1)
        shown = _middle_cut(lines, max(MIN_FUNCTION_LINES, room - rest), width)
        room -= sum(_height(line, width) for line in shown)
        yield from shown


def _middle_cut(lines: list[str], most: int, width: int) -> list[str]:
    """Return the first lines of a function and the last one, with its results, if all are too
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


def family_notes(one: Family) -> Iterator[str]:
    """Yield what stands behind firings of one rule: the rule, lines, claim, what they saved; then
    the same with less, for narrow lines.
    """
    saved, promise = one.saved, one.firings[0].promise
    is_exact = promise is None or promise in EXACT
    spared = [amount(n, unit) for n, unit in ((saved.flops, "flop"), (saved.bytes, "B")) if n > 0]
    spared += [plural(saved.nodes, "node")] if saved.nodes > 0 else []
    claims, stabilizes = [] if is_exact else [str(promise)], ["stabilizes"] * one.is_safety
    end = [f"saves {spared[0]}"] if spared else []
    for n in (4, 2, 1):
        lines = user_lines(one.lines, n)
        yield " · ".join([one.rule, *([lines] if lines else []), *claims, *stabilizes, *end])
    yield " · ".join([one.rule, *stabilizes, *end])


EXACT = ("exact", "refines")  # promises that need no mention


def firing_notes(one: FiringLine, same_rule: bool) -> Iterator[str]:
    """Yield what stands behind a firing: the rule, its place, the user's line, claim, evidence."""
    if not same_rule:
        yield f"{one.rule} {place_text((one.rule_file, one.rule_line))}".rstrip()
    if one.strategy is not None:
        yield f"in {one.strategy}"
    if one.of_graph:
        yield one.of_graph
    if one.user_file is not None:
        forward = place_text((one.forward_file, one.forward_line), short=True)
        of = f", gradient of {forward}" if forward else ""
        yield place_text((one.user_file, one.user_line), short=True) + of
    if one.promise is not None and one.promise not in EXACT:
        yield one.promise
    for text in one.evidence:
        yield f"given {text}"
    if one.conditions:
        yield f"if {' and '.join(one.conditions)}"


def phase_text(result: PhaseLine | None) -> str:
    """Return what a phase did: firings, merging, nodes, time."""
    if result is None:
        return ""
    merged = f", {plural(result.merged, 'equal node')} merged" if result.merged else ""
    nodes = f"nodes {arrow(str(result.nodes_before), str(result.nodes_after))}"
    ms = (result.seconds - sum(rule.loading for rule in result.rules.values())) * 1e3
    return f"{plural(result.firings, 'firing')}{merged}, {nodes}, {ms:.2f} ms"


def taken_back_text(result: PhaseLine) -> str:
    """Return which firings a driver took back."""
    what = f"{plural(result.taken_back, 'firing')} taken back by {result.taken_back_by}"
    rules = [f"{name} {s.taken_back}×" for name, s in result.rules.items() if s.taken_back]
    return f"{result.phase}: {what}, as if they had never been: {', '.join(rules)}"


def user_lines(lines: Sequence[tuple[str, int]], most: int = 4) -> str:
    """Return `model.py:3, 5–8`: lines of the first file, at most `most` runs of them."""
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
    """Yield what else happened, a line each: other rules, folding, memory, inner graphs, and
    merging.
    """
    if rest:
        counts = Counter[str]()
        for one in rest:
            counts[one.rule.rpartition("/")[2]] += len(one.firings)
        names = ", ".join(f"{name} {n}×" for name, n in counts.most_common(MAX_RULE_NAMES))
        left = len(counts) - MAX_RULE_NAMES
        more = f", … {left} more rules" if left > 0 else ""
        yield f"and {plural(counts.total(), 'firing')} of other rules: {names}{more}"
    for kind, text in BESIDES.items():
        families = [one for one in f.families if one.kind == kind]
        if families:
            lines = user_lines(sorted({line for one in families for line in one.lines}))
            firings = [firing for one in families for firing in one.firings]
            nodes = len({(one.graph, one.place or one.number) for one in firings})
            yield f"{kind}: {text.format(plural(nodes, 'term'))}" + (f" ({lines})" if lines else "")
    merged = f.about.merged
    later = sum(n for name, n in merged.items() if name != "build")
    if later or merged["build"] > 0:
        built = plural(merged["build"], "equal node")
        yield f"merging: {built} while it was built, {later} later"


def failures(report: Report) -> Iterator[str]:
    """Yield functions that failed to compile."""
    for one in report.failed:
        where = place_text((one.file, one.line))
        yield f"FAILED to compile: {one.name} ({where}): {one.error}"


def cost_line(f: FunctionReport) -> str:
    """Return nodes and estimated cost before and after."""
    about = f.about
    parts = [f"nodes {arrow(str(about.nodes_before), str(about.nodes_after))}"]
    for what, unit in (("flops", "flop"), ("bytes", "B")):
        x, y = (getattr(about, f"{what}_{when}") for when in ("before", "after"))
        change = f" ({(y - x) / x:+.0%})" if x and y != x else ""
        parts.append(f"{what} {arrow(amount(x, unit), amount(y, unit))}{change}")
    at = f" at {about.peak_at}" if about.peak_at else ""
    peaks = arrow(amount(about.peak_before, "B"), amount(about.peak_after, "B"))
    parts.append(f"peak {peaks}{at}")
    text = ", ".join(parts)
    text += f"; estimated for {'the first call' if f.is_on_calls else 'random inputs'}"
    if about.unsized:
        text += f"; without {plural(about.unsized, 'node')} of unknown shape"
    names = ", ".join(about.uncounted)
    return text + (f"; flops of {names} are not known" if names else "")


def time_line(f: FunctionReport) -> str:
    """Return where the time went, in ms. Rewriting takes less without a recorder."""
    seconds = dict(f.about.seconds)
    build, rewrite, link, call = (seconds.pop(name, None) for name in STAGES)
    took: dict[str, float] = {}
    for phase, s in seconds.items():
        name, _, inside = phase.partition(" in ")
        name = f"inside {inside}" if inside else name
        took[name] = took.get(name, 0.0) + (s or 0.0)
    loading = max(0.0, (rewrite or 0.0) - sum(took.values()))
    stages = {"build": build, "loading": loading if loading > LOADING_SECONDS else None, **took,
              "link": link, "first call": call}  # fmt: skip
    text = " · ".join(f"{name} {s * 1e3:.2f}" for name, s in stages.items() if s is not None)
    error = f.about.call_error
    end = "" if error is None else f"; the first call raised {error}"
    return f"{text}  (ms, while recorded){end}"


STAGES = ("build", "rewrite", "link", "first call")  # keys of seconds that are no phases


def assumptions(f: FunctionReport) -> str:
    """Return which assumptions were used: what the user granted, and what facts proved."""
    granted, proved = [], []
    for one in f.about.assumptions:
        numbers = ", ".join(f"#{n}" for n in one.firings)
        if one.declared:
            granted.append(f"{one.name}, as it is declared ({numbers})")
        elif one.granted:
            granted.append(f"{one.name} (granted by the mode: {numbers})")
        else:
            proved.append(f"facts proved {one.name} ({numbers})")
    return "; ".join([*(granted or ["nothing"]), *proved])


def values_lines(f: FunctionReport) -> Iterator[str]:
    """Yield whether the values agree, and on what."""
    about = f.about
    if about.problem is not None:
        yield f"values were not compared: {about.problem}"
        return
    if about.verdict in ("identical", "agree"):
        yield _agreement(f)
        yield from _strange(f)
        return
    yield f"values compared on {about.compared_on}:"
    for one in about.outputs:
        loud = "DISAGREE: " if one.verdict == "disagree" else ""
        yield f"          {one.name}: {loud}{one.text}"
    yield from _strange(f)
    if about.blame is not None:
        yield f"          {about.blame}"


def claims_lines(f: FunctionReport) -> Iterator[str]:
    """Yield whether rules keep what they claim, and declarations are true; nothing if nothing was
    claimed.
    """
    claims = f.about.claims
    for one in claims.untrue[:MAX_UNTRUE]:
        what = one.text
        if one.rule is not None:
            number = "" if one.firing is None else f"#{one.firing} "
            what = f"{number}{one.rule} {what}"
        yield f"UNTRUE    {one.basis}: {what}"
    if len(claims.untrue) > MAX_UNTRUE:
        yield f"          … {len(claims.untrue) - MAX_UNTRUE} more; --json has all"
    left = claims.not_judged
    problem = claims.problem or (left if claims.firings and not claims.judged else None)
    if problem is not None:
        yield f"claims    not checked: {problem}"
    elif claims.judged and not claims.untrue:
        where = [plural(claims.calls, "call")] if f.is_on_calls else ["random inputs"]
        where += [f"{plural(claims.special, 'draw')} of special values"] if claims.special else []
        few = f"{claims.judged} of " if claims.judged < claims.firings else ""
        late = f"; no special values: {claims.not_special}" if claims.not_special else ""
        if left and left == claims.not_special:
            late = f"; no special values, and not all firings: {left}"
        elif left:
            late += f"; {left}"
        kept = f"kept by {few}{plural(claims.firings, 'firing')}"
        yield f"claims    {kept}, on {' and '.join(where)}{late}"
    yield from _forgiven(claims.forgiven)


def _forgiven(forgiven: Sequence[Any]) -> Iterator[str]:
    """Yield why differences by more than rounding count as none."""
    for one in forgiven[:MAX_FORGIVEN]:
        numbers = ", ".join([f"#{n}" for n in one.firings[:MAX_FORGIVEN]])
        more = ", …" if len(one.firings) > MAX_FORGIVEN else ""
        yield f"forgiven  {numbers}{more} {one.rule}: {one.reason}"
    if len(forgiven) > MAX_FORGIVEN:
        yield f"          … {len(forgiven) - MAX_FORGIVEN} more; --json has all"


def _strange(f: FunctionReport) -> Iterator[str]:
    """Yield where nan and inf come from that are in the results before and after."""
    if f.about.strange is not None and _has_special(f):
        yield f"          nan or inf: {f.about.strange}"


def _agreement(f: FunctionReport) -> str:
    """Return `values agree to 4 ulps on …`, and how each output does if there are several."""
    outputs, basis = f.about.outputs, f.about.compared_on
    worst = max([one.ulps or 0 for one in outputs], default=0)
    if not worst and not _has_special(f):
        return f"values are identical on {basis}"
    if len(outputs) == 1:
        verb = "" if worst else "are "
        return f"values {verb}{outputs[0].text} on {basis}"
    total = f"agree to {plural(round(worst), 'ulp')}" if worst else "are identical"
    total = total if worst < NO_ULPS else "agree within their tolerance"
    single = ", ".join(f"{one.name}: {one.text.removeprefix('agree to ')}" for one in outputs)
    return f"values {total} on {basis} ({single})"
