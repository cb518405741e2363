"""Answers to questions as blocks. The answers come from `why.py` (derivations, rules that did not
fire), `became.py`, `states.py` (graphs at some time) and `difference.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import plural
from rewrite_engine.explain.became import Fate
from rewrite_engine.explain.blocks import Block, CodeLine, Paragraph
from rewrite_engine.explain.cost import amount
from rewrite_engine.explain.difference import Differences, FunctionDifference
from rewrite_engine.explain.lines import described
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import arrow, claims_lines, term_lines
from rewrite_engine.explain.place import place_text
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.report import AS_IT_IS
from rewrite_engine.explain.show import MAX_PHASE_FIRINGS, firing_blocks
from rewrite_engine.explain.states import graph_until, own_steps
from rewrite_engine.explain.suspect import Suspect
from rewrite_engine.explain.term import cut
from rewrite_engine.explain.why import MAX_NODES, Derivation, NotFired, cone
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.debug.told import shown
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.trace.attempts import Attempt

if TYPE_CHECKING:
    from rewrite_engine.link.native.listing import KernelListing

MAX_BINDING_CHARACTERS = 30  # of what a variable of a rule stands for
MAX_TERM_LINES = 12  # of what a node computes
MAX_GRAPH_LINES = 60  # of a graph
MAX_LINE_CHARACTERS = 600  # of a formula in a graph
MAX_STEPS = 10  # firings that are stepped through
COSTS = (
    ("nodes_after", "nodes", ""), ("firings", "firings", ""), ("flops_after", "flops", ""),
    ("bytes_after", "bytes", ""), ("peak_after", "peak", "B"),
)  # fmt: skip
Blocks = Iterator[Block]


class Answers:
    """Writer of answers. full: shorten nothing. width: columns of a line."""

    def __init__(self, full: bool, width: int) -> None:
        self.full, self.width = full, width

    def derivations(self, found: list[tuple[FunctionReport, Derivation]]) -> Blocks:
        """Yield where nodes come from, and what they are computed from."""
        kinds = self.kinds(found, lambda one: [str(one.node.op), *_rules(one.steps)])
        shown = kinds if self.full else kinds[:MAX_NODES]
        for f, answer, more in shown:
            yield Paragraph()
            yield Paragraph(f"{f.name}: {answer.term}", "bold", hang=2)
            if answer.term.endswith("…") and answer.node in f.record.after:
                yield from self.computes(answer.node.outputs[0])
            yield Paragraph(_derivation_text(answer), indent=2)
            yield from _firings(f, answer.steps)
            own = {step.number for step in answer.steps}
            below = [step for step in cone(f.record, answer.node) if step.number not in own]
            counts = Counter([step.rule_name for step in below])
            if below and self.full:
                yield Paragraph("what it is computed from was made by:", indent=2)
                yield from _firings(f, below)
            elif below:
                rules = ", ".join(f"{name} {n}×" for name, n in counts.most_common(MAX_NODES))
                text = f"what it is computed from was made by {plural(len(below), 'firing')}"
                yield Paragraph(f"{text}: {rules}", "dim", indent=2, hang=2)
            yield from self.like_it(more)
        yield from self.left(len(kinds) - len(shown), "node")

    def kinds(self, found: Sequence[tuple[FunctionReport, Any]], key: Any) -> list[Any]:
        """Return answers, those that are alike once, with the number of others. (full: all.)"""
        if self.full:
            return [(f, one, 0) for f, one in found]
        groups: dict[Any, list[Any]] = {}
        for f, one in found:
            groups.setdefault((f.index, *key(one)), []).append((f, one))
        return [(*some[0], len(some) - 1) for some in groups.values()]

    def like_it(self, n: int) -> Blocks:
        """Yield how many others are like the answer before."""
        if n:
            text = f"{plural(n, 'other node')} like it: the same op, the same rules"
            yield Paragraph(text, "dim", 2)

    def computes(self, v: Any) -> Blocks:
        """Yield what a variable computes."""
        full, width = self.full, self.width
        for line in term_lines(v, MAX_TERM_LINES, width, full):
            yield Paragraph(line if full else cut(line, 2 * (width - 12)), indent=2, hang=6)

    def left(self, n: int, what: str) -> Blocks:
        """Yield how many are not shown."""
        if n > 0:
            yield Paragraph(
                f"… {n} more {what}{'' if n == 1 else 's'}; --full shows them", "dim", indent=2
            )

    def fates(self, found: list[tuple[FunctionReport, Fate]]) -> Blocks:
        """Yield what became of nodes."""
        kinds = self.kinds(found, lambda one: [str(one.node.op), *_rules(one.steps), _end(one)])
        shown = kinds if self.full else kinds[:MAX_NODES]
        for f, fate, more in shown:
            yield Paragraph()
            yield Paragraph(f"{f.name}: {fate.term}", "bold", hang=2)
            yield from _firings(f, fate.steps)
            yield Paragraph(fate.text, indent=2, hang=2)
            yield from self.like_it(more)
        yield from self.left(len(kinds) - len(shown), "node")

    def kernels(
        self, found: list[tuple[FunctionReport, list[KernelListing]]], assembly: bool
    ) -> Blocks:
        """Yield kernels of machine code. assembly: also the code itself."""
        for f, kernels in found:
            yield Paragraph()
            yield Paragraph(f"{f.name}: {plural(len(f.record.regions), 'region')}", "bold cyan")
            for kernel in kernels:
                yield Paragraph()
                lines = kernel.lines() + (kernel.assembly().splitlines() if assembly else [])
                for line in lines:
                    yield CodeLine(line.expandtabs(8), indent=2)

    def states(self, found: tuple[str, list[tuple[FunctionReport, FunctionGraph]]]) -> Blocks:
        """Yield graphs at some time."""
        when, graphs = found
        for f, graph in graphs:
            yield Paragraph()
            yield Paragraph(f"{f.name} {when}: {plural(len(graph), 'node')}", "bold cyan")
            formula = Formula(graph.outputs)
            lines = [*formula.definitions(None)]
            lines += [f"{name} = {formula.text(n, None)}" for n, name in formula.names.items()]
            pairs = zip(f.outputs, graph.outputs, strict=True)
            lines += [f"{name}: {formula.text(v, None)}" for name, v in pairs]
            shown = lines if self.full else lines[-MAX_GRAPH_LINES:]
            if len(shown) < len(lines):
                yield Paragraph(f"… {len(lines) - len(shown)} lines before", "dim", indent=2)
            for line in shown:
                yield Paragraph(
                    line if self.full else cut(line, MAX_LINE_CHARACTERS), indent=2, hang=6
                )

    def walked(self, found: tuple[int, list[FunctionReport]]) -> Blocks:
        """Yield firings from a number on, each with the graph after it."""
        first, functions = found
        for f in functions:
            steps = [step for step in own_steps(f.record) if step.number >= first]
            shown = steps if self.full else steps[:MAX_STEPS]
            for step in shown:
                yield Paragraph()
                yield from _firings(f, [step])
                yield from self.states(
                    (f"after #{step.number}", [(f, graph_until(f.record, step.number))])
                )
            if len(steps) > len(shown):
                yield Paragraph(f"… --step {shown[-1].number + 1} goes on", "dim")

    def differences(self, found: Differences) -> Blocks:
        """Yield how two reports differ."""
        old, new = found.titles
        alike = [one for one in found.functions if one.alike]
        for one in found.functions:
            if one.alike:
                continue
            yield Paragraph()
            yield Paragraph(f"{one.name}: {old} → {new}", "bold", hang=2)
            if one.old is None or one.new is None:
                yield Paragraph(f"only in {new if one.old is None else old}", indent=2)
                continue
            yield from self.costs(one.old.about, one.new.about)
            yield from self.rules(one, old, new)
            yield from self.computed(one)
        if alike:
            names = ", ".join(one.name for one in alike[:MAX_NODES])
            more = f", … {len(alike) - MAX_NODES} more" if len(alike) > MAX_NODES else ""
            yield Paragraph()
            yield Paragraph(f"the same in {old} and {new}: {names}{more}", "bold", hang=2)

    def costs(self, old: Any, new: Any) -> Blocks:
        """Yield nodes, firings, costs and values of two."""
        texts = []
        for key, what, unit in COSTS:
            a, b = getattr(old, key), getattr(new, key)
            if a is not None and b is not None:
                texts.append(f"{what} {arrow(amount(a, unit), amount(b, unit))}")
        yield Paragraph(", ".join(texts), indent=2, hang=2)
        verdicts = arrow(old.verdict, new.verdict)
        yield Paragraph(f"values, each against its graph as built: {verdicts}", indent=2, hang=2)

    def rules(self, one: FunctionDifference, old: str, new: str) -> Blocks:
        """Yield rules that did not fire equally often."""
        kinds: list[tuple[str, list[str]]] = [
            (f"fired only {_in(old)}",
             [f"{name} {a}×" for name, (a, b) in one.rules.items() if not b]),
            (f"fired only {_in(new)}",
             [f"{name} {b}×" for name, (a, b) in one.rules.items() if not a]),
            ("fired in both", [f"{n} {a}× → {b}×" for n, (a, b) in one.rules.items() if a and b]),
        ]  # fmt: skip
        for title, texts in kinds:
            if texts:
                shown = texts if self.full else texts[:MAX_NODES]
                more = (
                    f", … {len(texts) - len(shown)} more rules" if len(shown) < len(texts) else ""
                )
                yield Paragraph(f"{title}: {', '.join(shown)}{more}", indent=2, hang=4)
        if not one.rules:
            yield Paragraph("the same rules fired, equally often", indent=2)

    def computed(self, one: FunctionDifference) -> Blocks:
        """Yield what the graphs compute differently."""
        assert one.new is not None
        names, all_names = one.outputs, one.new.outputs
        if not names:
            yield Paragraph("both compute the same", indent=2)
            return
        which = "all outputs" if len(names) == len(all_names) else ", ".join(names[:MAX_NODES])
        which += (
            f", … {len(names) - MAX_NODES} more"
            if len(names) > MAX_NODES and "all" not in which
            else ""
        )
        yield Paragraph(f"computed differently: {which}", indent=2, hang=4)
        if one.lines:
            for line in one.lines:
                style = {"-": "red", "+": "green"}.get(line[:1], "dim")
                yield Paragraph(
                    line if self.full else cut(line, MAX_LINE_CHARACTERS // 2),
                    style,
                    indent=4,
                    hang=4,
                )
            return
        shown = one.places if self.full else one.places[:MAX_NODES]
        for here in shown:
            yield Paragraph(here.line or "(no line of yours)", indent=4)
            sides = zip("-+", (here.less, here.more), here.terms, ("red", "green"), strict=True)
            for sign, ops, term, style in sides:
                if ops:
                    counts = ", ".join(f"{n}× {op}" for op, n in ops.most_common(MAX_NODES))
                    yield Paragraph(f"{sign} {counts}, such as {term}", style, indent=6, hang=2)
        yield from self.left(len(one.places) - len(shown), "line")

    def suspects(self, found: list[tuple[FunctionReport, Suspect]]) -> Blocks:
        """Yield which firing made values disagree."""
        for f, answer in found:
            yield Paragraph()
            if answer.why_none is not None:
                yield Paragraph(
                    f"{f.name}: no firing is to blame: {answer.why_none}", "bold", hang=2
                )
                yield from self.untrue(f)
                continue
            yield Paragraph(
                f"{f.name}: values disagree from one firing on ({answer.basis})", "bold"
            )
            probes = [f"{'wrong' if bad else 'right'} after #{n}" for n, bad in answer.found.probes]
            yield Paragraph(", ".join(probes), "dim", indent=2, hang=2)
            assert answer.step is not None
            yield from _firings(f, [answer.step])
            for i, built, before, after in answer.found.outputs[:MAX_NODES]:
                texts = [_value_text(x) for x in (built, before, after)]
                same = "" if texts[0] == texts[1] else f" (as built {texts[0]})"
                yield Paragraph(
                    f"{f.outputs[i]}: {texts[1]} before, {texts[2]} after it{same}", indent=2
                )
            name = answer.step.rule_name
            if answer.excused is not None:
                end = "agree" if answer.excused else "still DISAGREE: another one is wrong, too"
                yield Paragraph(f"without it (--exclude {name}) all values {end}", indent=2, hang=2)
            yield from self.untrue(f)

    def untrue(self, f: FunctionReport) -> Blocks:
        """Yield untrue claims and declarations."""
        for line in claims_lines(f) if f.about.claims.untrue else ():
            yield Paragraph(line, "bold red", indent=2, hang=10)

    def not_fired(self, found: list[tuple[FunctionReport, NotFired]]) -> Blocks:
        """Yield why a rule did not fire."""
        for n, (f, answer) in enumerate(found):
            if not n:
                yield Paragraph()
                yield Paragraph(f"{answer.rule!r}", "bold")
                said = " ".join(answer.rule.doc.partition("\n\n")[0].split())
                yield Paragraph(f"{said}  ({place_text(answer.rule.where)})", "dim", indent=2)
            yield Paragraph()
            yield Paragraph(f.name, "bold cyan")
            for text in answer.general:
                yield Paragraph(text, indent=2, hang=2)
            limit = None if self.full else MAX_NODES
            for graph, one in answer.nodes[:limit]:
                yield Paragraph(f"{graph}: {one.term}", indent=2, hang=4)
                yield Paragraph(one.reason, "yellow", indent=6, hang=2)
            left = len(answer.nodes) - len(answer.nodes[:limit])
            if left:
                yield Paragraph(f"… {left} more nodes; --full shows them", "dim", indent=2)

    def attempts(self, found: list[tuple[FunctionReport, list[Attempt]]]) -> Blocks:
        """Yield every try of a rule, node by node."""
        for f, tries in found:
            fired = len({a.firing for a in tries if a.firing is not None})
            yield Paragraph()
            yield Paragraph(
                f"{f.name}: {plural(len(tries), 'attempt')}, {fired} fired", "bold cyan"
            )
            shown = tries if self.full else tries[:MAX_PHASE_FIRINGS]
            for (phase, term), same in groupby(shown, key=lambda a: (a.phase, a.term)):
                yield Paragraph(f"{phase}: {term}", indent=2, hang=4)
                for attempt in same:
                    yield from self.attempt(attempt)
            if len(tries) > len(shown):
                yield Paragraph(
                    f"… {len(tries) - len(shown)} more; --full shows them", "dim", indent=2
                )

    def attempt(self, a: Attempt) -> Blocks:
        """Yield one try of a rule."""
        bound = ", ".join(
            f"{name} = {cut(text, MAX_BINDING_CHARACTERS)}" for name, text in a.bindings.items()
        )
        if a.verdict == "fired":
            text = f"{a.rule_name} fired: #{a.firing}" + (f", where {bound}" if bound else "")
            text += "".join(f"; given {said}" for said in a.evidence)
        else:
            verdict = "" if a.verdict == "failed" else f"{a.outcome}: "
            text = f"{a.rule_name}: {verdict}{a.reason}"
        yield Paragraph(text, "green" if a.verdict == "fired" else "", indent=6, hang=2)


def _firings(f: FunctionReport, steps: Sequence[RecordedFiring]) -> Blocks:
    return firing_blocks(described(f, steps))


def _rules(steps: Sequence[RecordedFiring]) -> list[str]:
    return [step.rule_name for step in steps]


def _end(fate: Fate) -> str:
    """Return how a node ended: as which op, or by which rule."""
    if fate.end is not None:
        return str(fate.end.owner.op if fate.end.owner else fate.end)
    return "gone" if fate.taken is None else fate.taken.rule_name


def _in(title: str) -> str:
    return title if title.startswith((AS_IT_IS, "without")) else f"in {title}"


def _value_text(value: Any) -> str:
    """Return a value as text, or that there is an error instead."""
    return "an error" if value is None else cut(shown(value), 60)


def _derivation_text(answer: Derivation) -> str:
    built = place_text(answer.node.where(), short=True)
    if not answer.steps:
        return f"no rule made it: it is as you wrote it, at {built}" if built else "no rule made it"
    return f"made by {plural(len(answer.steps), 'firing')}, of what you wrote at {built}:"
