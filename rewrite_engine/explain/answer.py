"""`AnswerPrinter`: answers to questions as text. The answers come from `why.py` (derivations, rules
that did not fire), `became.py`, `states.py` (graphs at some time) and `difference.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rewrite_engine.errors import plural
from rewrite_engine.explain.became import Fate
from rewrite_engine.explain.cost import amount
from rewrite_engine.explain.difference import AS_IT_IS, Difference, Differences
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import arrow, claims_lines, place, term_lines
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.show import FIRINGS, Printer
from rewrite_engine.explain.states import graph_until, own_steps
from rewrite_engine.explain.suspect import Suspect
from rewrite_engine.explain.term import cut
from rewrite_engine.explain.why import MOST, Derivation, NotFired, cone
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.debug.told import shown
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.trace.attempts import Attempt

ROOM = 30  # columns of what a variable of a rule stands for
COSTS = (
    ("nodes_after", "nodes", ""), ("firings", "firings", ""), ("flops_after", "flops", ""),
    ("bytes_after", "bytes", ""), ("peak_after", "peak", "B"),
)  # fmt: skip
TERM = 12  # lines of what a node computes
GRAPH = 60  # lines of a graph
STEPS = 10  # firings that are stepped through


class AnswerPrinter(Printer):
    """Printer of reports and answers."""

    def derivations(self, found: list[tuple[FunctionReport, Derivation]]) -> None:
        """Print where nodes come from, and what they are computed from."""
        kinds = self.kinds(found, lambda one: [str(one.node.op), *_rules(one.steps)])
        shown = kinds if self.options.full else kinds[:MOST]
        for f, answer, more in shown:
            self.put()
            self.put(f"{f.name}: {answer.term}", "bold", hang=2)
            if answer.term.endswith("…") and answer.node in f.record.after:
                self.computes(answer.node.outputs[0])
            self.put(_derivation_text(answer), indent=2)
            self.each(answer.steps)
            own = {step.number for step in answer.steps}
            below = [step for step in cone(f.record, answer.node) if step.number not in own]
            counts = Counter([step.rule_name for step in below])
            told = ", ".join(f"{name} {n}×" for name, n in counts.most_common(MOST))
            if below and self.options.full:
                self.put("what it is computed from was made by:", indent=2)
                self.each(below)
            elif below:
                text = (
                    f"what it is computed from was made by {plural(len(below), 'firing')}: {told}"
                )
                self.put(text, "dim", indent=2, hang=2)
            self.like_it(more)
        self.left(len(kinds) - len(shown), "node")

    def kinds(self, found: Sequence[tuple[FunctionReport, Any]], key: Any) -> list[Any]:
        """Answers, those that are alike once, and how many others are like it. (full: all.)"""
        if self.options.full:
            return [(f, one, 0) for f, one in found]
        groups: dict[Any, list[Any]] = {}
        for f, one in found:
            groups.setdefault((f.record.index, *key(one)), []).append((f, one))
        return [(*some[0], len(some) - 1) for some in groups.values()]

    def like_it(self, n: int) -> None:
        """Say how many others are like what was told."""
        if n:
            self.put(f"{plural(n, 'other node')} like it: the same op, the same rules", "dim", 2)

    def computes(self, v: Any) -> None:
        """What a variable computes."""
        full, width = self.options.full, self.console.width
        for line in term_lines(v, TERM, width, full):
            self.put(line if full else cut(line, 2 * (width - 12)), indent=2, hang=6)

    def left(self, n: int, what: str) -> None:
        """Say how many are not shown."""
        if n > 0:
            self.put(
                f"… {n} more {what}{'' if n == 1 else 's'}; --full shows them", "dim", indent=2
            )

    def fates(self, found: list[tuple[FunctionReport, Fate]]) -> None:
        """Print what became of nodes."""
        kinds = self.kinds(found, lambda one: [str(one.node.op), *_rules(one.steps), _end(one)])
        shown = kinds if self.options.full else kinds[:MOST]
        for f, fate, more in shown:
            self.put()
            self.put(f"{f.name}: {fate.term}", "bold", hang=2)
            self.each(fate.steps)
            self.put(fate.text, indent=2, hang=2)
            self.like_it(more)
        self.left(len(kinds) - len(shown), "node")

    def states(self, found: tuple[str, list[tuple[FunctionReport, FunctionGraph]]]) -> None:
        """Graphs at some time."""
        when, graphs = found
        for f, graph in graphs:
            self.put()
            self.put(f"{f.name} {when}: {plural(len(graph), 'node')}", "bold cyan")
            formula = Formula(graph.outputs)
            lines = [*formula.definitions(None)]
            lines += [f"{name} = {formula.text(n, None)}" for n, name in formula.names.items()]
            pairs = zip(f.outputs, graph.outputs, strict=True)
            lines += [f"{name}: {formula.text(v, None)}" for name, v in pairs]
            shown = lines if self.options.full else lines[-GRAPH:]
            if len(shown) < len(lines):
                self.put(f"… {len(lines) - len(shown)} lines before", "dim", indent=2)
            for line in shown:
                self.put(line if self.options.full else cut(line, 600), indent=2, hang=6)

    def walked(self, found: tuple[int, list[FunctionReport]]) -> None:
        """Firings from a number on, each with the graph after it."""
        first, functions = found
        for f in functions:
            steps = [step for step in own_steps(f.record) if step.number >= first]
            shown = steps if self.options.full else steps[:STEPS]
            for step in shown:
                self.put()
                self.firing(step)
                self.states((f"after #{step.number}", [(f, graph_until(f.record, step.number))]))
            if len(steps) > len(shown):
                self.put(f"… --step {shown[-1].number + 1} goes on", "dim")

    def differences(self, found: Differences) -> None:
        """Print how two reports differ."""
        old, new = found.titles
        alike = [one for one in found.functions if one.alike]
        for one in found.functions:
            if one.alike:
                continue
            self.put()
            self.put(f"{one.name}: {old} → {new}", "bold", hang=2)
            if one.old is None or one.new is None:
                self.put(f"only in {new if one.old is None else old}", indent=2)
                continue
            self.costs(one.old.about, one.new.about)
            self.rules(one, old, new)
            self.computed(one)
        if alike:
            names = ", ".join(one.name for one in alike[:MOST])
            more = f", … {len(alike) - MOST} more" if len(alike) > MOST else ""
            self.put()
            self.put(f"the same in {old} and {new}: {names}{more}", "bold", hang=2)

    def costs(self, old: Any, new: Any) -> None:
        """Nodes, firings, costs and values of two."""
        texts = []
        for key, what, unit in COSTS:
            a, b = old[key], new[key]
            if a is not None and b is not None:
                texts.append(f"{what} {arrow(amount(a, unit), amount(b, unit))}")
        self.put(", ".join(texts), indent=2, hang=2)
        verdicts = arrow(old["verdict"], new["verdict"])
        self.put(f"values, each against its graph as built: {verdicts}", indent=2, hang=2)

    def rules(self, one: Difference, old: str, new: str) -> None:
        """Rules that did not fire equally often."""
        kinds: list[tuple[str, list[str]]] = [
            (f"fired only {_in(old)}",
             [f"{name} {a}×" for name, (a, b) in one.rules.items() if not b]),
            (f"fired only {_in(new)}",
             [f"{name} {b}×" for name, (a, b) in one.rules.items() if not a]),
            ("fired in both", [f"{n} {a}× → {b}×" for n, (a, b) in one.rules.items() if a and b]),
        ]  # fmt: skip
        for title, texts in kinds:
            if texts:
                shown = texts if self.options.full else texts[:MOST]
                more = (
                    f", … {len(texts) - len(shown)} more rules" if len(shown) < len(texts) else ""
                )
                self.put(f"{title}: {', '.join(shown)}{more}", indent=2, hang=4)
        if not one.rules:
            self.put("the same rules fired, equally often", indent=2)

    def computed(self, one: Difference) -> None:
        """What the graphs compute differently."""
        assert one.new is not None
        names, all_names = one.outputs, one.new.graph["output_names"]
        if not names:
            self.put("both compute the same", indent=2)
            return
        which = "all outputs" if len(names) == len(all_names) else ", ".join(names[:MOST])
        which += f", … {len(names) - MOST} more" if len(names) > MOST and "all" not in which else ""
        self.put(f"computed differently: {which}", indent=2, hang=4)
        if one.lines:
            for line in one.lines:
                style = {"-": "red", "+": "green"}.get(line[:1], "dim")
                self.put(line if self.options.full else cut(line, 300), style, indent=4, hang=4)
            return
        shown = one.places if self.options.full else one.places[:MOST]
        for here in shown:
            self.put(here.line or "(no line of yours)", indent=4)
            sides = zip("-+", (here.less, here.more), here.terms, ("red", "green"), strict=True)
            for sign, ops, term, style in sides:
                if ops:
                    told = ", ".join(f"{n}× {op}" for op, n in ops.most_common(MOST))
                    self.put(f"{sign} {told}, such as {term}", style, indent=6, hang=2)
        self.left(len(one.places) - len(shown), "line")

    def suspects(self, found: list[tuple[FunctionReport, Suspect]]) -> None:
        """Print which firing made values disagree."""
        for f, answer in found:
            self.put()
            if answer.why_none is not None:
                self.put(f"{f.name}: no firing is to blame: {answer.why_none}", "bold", hang=2)
                self.untrue(f)
                continue
            self.put(f"{f.name}: values disagree from one firing on ({answer.basis})", "bold")
            told = [f"{'wrong' if bad else 'right'} after #{n}" for n, bad in answer.found.probes]
            self.put(", ".join(told), "dim", indent=2, hang=2)
            assert answer.step is not None
            self.firing(answer.step)
            for i, built, before, after in answer.found.outputs[:MOST]:
                texts = [_value_text(x) for x in (built, before, after)]
                same = "" if texts[0] == texts[1] else f" (as built {texts[0]})"
                self.put(f"{f.outputs[i]}: {texts[1]} before, {texts[2]} after it{same}", indent=2)
            name = answer.step.rule_name
            if answer.excused is not None:
                end = "agree" if answer.excused else "still DISAGREE: another one is wrong, too"
                self.put(f"without it (--exclude {name}) all values {end}", indent=2, hang=2)
            self.untrue(f)

    def untrue(self, f: FunctionReport) -> None:
        """Print untrue claims and declarations."""
        for line in claims_lines(f) if f.check.claims.untrue else ():
            self.put(line, "bold red", indent=2, hang=10)

    def not_fired(self, found: list[tuple[FunctionReport, NotFired]]) -> None:
        """Print why a rule did not fire."""
        for n, (f, answer) in enumerate(found):
            if not n:
                self.put()
                self.put(f"{answer.rule!r}", "bold")
                said = " ".join(answer.rule.doc.partition("\n\n")[0].split())
                self.put(f"{said}  ({place(answer.rule.where)})", "dim", indent=2)
            self.put()
            self.put(f.name, "bold cyan")
            for text in answer.general:
                self.put(text, indent=2, hang=2)
            limit = None if self.options.full else MOST
            for graph, one in answer.nodes[:limit]:
                self.put(f"{graph}: {one.term}", indent=2, hang=4)
                self.put(one.reason, "yellow", indent=6, hang=2)
            left = len(answer.nodes) - len(answer.nodes[:limit])
            if left:
                self.put(f"… {left} more nodes; --full shows them", "dim", indent=2)

    def attempts(self, found: list[tuple[FunctionReport, list[Attempt]]]) -> None:
        """Print every try of a rule, node by node."""
        for f, tries in found:
            fired = len({a.firing for a in tries if a.firing is not None})
            self.put()
            self.put(f"{f.name}: {plural(len(tries), 'attempt')}, {fired} fired", "bold cyan")
            shown = tries if self.options.full else tries[:FIRINGS]
            for (phase, term), same in groupby(shown, key=lambda a: (a.phase, a.term)):
                self.put(f"{phase}: {term}", indent=2, hang=4)
                for attempt in same:
                    self.attempt(attempt)
            if len(tries) > len(shown):
                self.put(f"… {len(tries) - len(shown)} more; --full shows them", "dim", indent=2)

    def attempt(self, a: Attempt) -> None:
        """Print one try of a rule."""
        bound = ", ".join(f"{name} = {cut(text, ROOM)}" for name, text in a.bindings.items())
        if a.verdict == "fired":
            text = f"{a.rule_name} fired: #{a.firing}" + (f", where {bound}" if bound else "")
            text += "".join(f"; given {said}" for said in a.evidence)
        else:
            verdict = "" if a.verdict == "failed" else f"{a.outcome}: "
            text = f"{a.rule_name}: {verdict}{a.reason}"
        self.put(text, "green" if a.verdict == "fired" else "", indent=6, hang=2)


def _rules(steps: Sequence[RecordedFiring]) -> list[str]:
    return [step.rule_name for step in steps]


def _end(fate: Fate) -> str:
    """How a node ended: as which op, or by which rule."""
    if fate.end is not None:
        return str(fate.end.owner.op if fate.end.owner else fate.end)
    return "gone" if fate.taken is None else fate.taken.rule_name


def _in(title: str) -> str:
    return title if title.startswith((AS_IT_IS, "without")) else f"in {title}"


def _value_text(value: Any) -> str:
    """A value, or the error that there is instead."""
    return "an error" if value is None else cut(shown(value), 60)


def _derivation_text(answer: Derivation) -> str:
    built = place(answer.node.where(), short=True)
    if not answer.steps:
        return f"no rule made it: it is as you wrote it, at {built}" if built else "no rule made it"
    return f"made by {plural(len(answer.steps), 'firing')}, of what you wrote at {built}:"
