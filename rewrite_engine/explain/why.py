"""Derivations of nodes of the rewritten graph (`derivation`), and reasons why a rule did not fire
(`not_fired`).

Both come from a `FunctionRecord`. `diagnosis.py` matches a rule with a single node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.errors import UnknownNameError, did_you_mean
from rewrite_engine.explain.diagnosis import WhyNot, why_not
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.term import BRIEF, cut, term_text
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import Structure, held, in_one_order, inner_ops
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import forward_line, in_order, provenance
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.equation import DirectedRule, Equation
from rewrite_engine.match.outline import tracks
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import parts_of
from rewrite_engine.printing import debugprint
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.strategies import Strategy

DRIVER_PHASES = ("inplace", "merge", "inner")  # phases that no rules belong to
MAX_NODES = 12  # that are listed one by one


# --- derivations ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Derivation:
    """How a node came about: the firings that led to it, in order; none: it is as the user wrote
    it.
    """

    node: Apply
    steps: list[RecordedFiring] = field(default_factory=list)

    @property
    def term(self) -> str:
        """Term that the node computes."""
        return term_text(self.node)


def derivation(record: FunctionRecord, node: Apply) -> Derivation:
    """Collect the firings that made a node: the one that put it there, those that made what that
    one replaced, … In a graph inside an op, those whose origin its own is made of.
    """
    if node not in record.after:
        behind = {id(origin) for origin in in_order([_recorded(record, node).origin])}
        makers = [step.new.owner for step in record.steps]
        there = [maker is not None and id(maker.origin) in behind for maker in makers]
        return Derivation(node, [step for step, t in zip(record.steps, there, strict=True) if t])
    return Derivation(node, _led_to(record, [node]))


def _led_to(record: FunctionRecord, nodes: Iterable[Apply]) -> list[RecordedFiring]:
    """Return the firings that made some nodes, and what these replaced."""
    found: dict[int, RecordedFiring] = {}
    todo, seen = list(nodes), set[Apply]()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for step in record.trace.made_by.get(one, ()):
            found[step.number] = step
            todo.extend(step.change.used)
    return [found[n] for n in sorted(found)]


def _recorded(record: FunctionRecord, node: Apply) -> Apply:
    """The node that rules made, for one inside of an op: that op has a copy of the graph that rules
    rewrote, or is an equal one of another time.
    """
    graph = next(graph for _, graph in _inside(record.after) if node in graph)
    plain, memo = _not_in_place(record, graph)
    wanted, own = Structure(plain), memo[node.outputs[0]].owner
    for number in dict.fromkeys([step.graph for step in record.steps]):
        rewritten = record.trace.pasts[number].fgraph
        if Structure(rewritten) == wanted:
            pairs = zip(in_one_order(plain), in_one_order(rewritten), strict=True)
            return next(b for a, b in pairs if a is own)
    return node


def cone(record: FunctionRecord, node: Apply) -> list[RecordedFiring]:
    """Return the firings that made a node or anything that it is computed from."""
    return _led_to(record, toposort([node.outputs[0]])) if node in record.after else []


def find_nodes(record: FunctionRecord, what: str, before: bool = False) -> list[Apply]:
    """Return the nodes of the rewritten graph (before: of the graph as built) with a name.

    A letter or name as the formulas call it, an identifier as the tree does, an op, a variable's
    name, an output (its number, or `new w`), a term as the report writes it (`exp(ls)`), or a line
    of code (`model.py:18`, `:18`). What is only inside of ops is looked for there. Raises
    `UnknownNameError`.
    """
    fgraph = record.before if before else record.after
    if re.search(r":\d+$", what):
        return _of_line(record, fgraph, what)
    known: dict[str, None] = {}
    for candidates in _namings(record, fgraph):
        found = [node for name, node in candidates if name == what]
        if found:
            return list(dict.fromkeys(found))
        known.update(dict.fromkeys([name for name, _ in candidates]))
    for graph in (fgraph, *[graph for _, graph in _inside(fgraph)]):
        found = _of_term(graph, what)
        if found:
            return found
    if any(what == v.name for v in record.after.inputs):
        raise UnknownNameError(f"{what} is an input of {record.name!r}: no rule makes it")
    which = "graph as built" if before else "rewritten graph"
    within = [name for name in known if len(what) > 2 and what.lower() in name.lower()]
    near = f"; did you mean {' or '.join(within[:3])}?" if within else did_you_mean(what, known)
    hint = near or (
        ": give a name that its formulas define, an op such as Sum, a term such as 'exp(x)', the "
        "number of an output, a line such as model.py:18, or the letters of the tree (--tree)"
    )
    raise UnknownNameError(f"nothing in the {which} of {record.name!r} is called {what!r}{hint}")


def _of_term(fgraph: FunctionGraph, what: str) -> list[Apply]:
    """Return the nodes whose term has this text, spaces aside."""
    plain = re.sub(r"\s", "", what)
    room = 2 * len(plain) + 8  # (what is longer is cut, and another term)
    return [node for node in fgraph.toposort() if re.sub(r"\s", "", term_text(node, room)) == plain]


def _of_line(record: FunctionRecord, fgraph: FunctionGraph, what: str) -> list[Apply]:
    """The nodes that come from a line of code, or are a gradient of what was built there; the last
    ones of what rules made of it. Of steps of loops those inside of ops.
    """
    file, _, number = what.rpartition(":")
    for graphs in ([fgraph], [graph for _, graph in _inside(fgraph)]):
        found = [
            node
            for graph in graphs
            for node in graph.toposort()
            if _comes_from(node, file, int(number))
        ]
        if found:
            below = {v.owner for node in found for v in node.inputs}
            return [node for node in found if node not in below]
    raise UnknownNameError(f"no node of {record.name!r} comes from {what}")


def _comes_from(node: Apply, file: str, number: int) -> bool:
    lines = [*provenance(node).lines, forward_line(node.origin)]
    return any(
        line is not None and line[1] == number and (not file or line[0].endswith(file))
        for line in lines
    )


def _namings(record: FunctionRecord, fgraph: FunctionGraph) -> Iterator[list[tuple[str, Apply]]]:
    from rewrite_engine.explain.compare import output_names

    nodes = fgraph.toposort()
    yield [(name, node) for node, name in Formula(fgraph.outputs).names.items()]
    yield [(v.name, node) for node in nodes for v in node.outputs if v.name is not None]
    names = [*zip(output_names(record), fgraph.outputs, strict=True)]
    names += [(str(i), v) for i, v in enumerate(fgraph.outputs)]
    yield [(name, v.owner) for name, v in names if v.owner is not None]
    yield [(name, node) for node in nodes for name in _op_names(node.op)]
    ids: dict[Any, str] = {}
    debugprint(fgraph, file="str", used_ids=ids)
    yield [
        (text.strip(" []").removeprefix("id "), n)
        for n, text in ids.items()
        if isinstance(n, Apply)
    ]
    inside = [node for _, graph in _inside(fgraph) for node in graph.toposort()]
    yield [(v.name, node) for node in inside for v in node.outputs if v.name is not None]
    yield [(name, node) for node in inside for name in _op_names(node.op)]


def _op_names(op: Any) -> list[str]:
    """Return the names of an op: as it prints, and without its parameters."""
    text = str(op)
    return [text, text.partition("{")[0]]


def _inside(fgraph: FunctionGraph) -> list[tuple[str, FunctionGraph]]:
    """Return the graphs inside the ops of a graph, with their names."""
    return [(f" in {op}", op.fgraph) for op in inner_ops(held(fgraph))]


# --- what did not fire ----------------------------------------------------------------------------


@dataclass(slots=True)
class NotFired:
    """Why a rule did not fire in a function. general: what holds for all nodes. nodes: (which
    graph, answer).
    """

    rule: Rule
    general: list[str] = field(default_factory=list)
    nodes: list[tuple[str, WhyNot]] = field(default_factory=list)


def not_fired(record: FunctionRecord, rule: Rule) -> NotFired:
    """Ask every node, before and after, at which the rule could apply."""
    history = RuleHistory(record, rule)
    asked = rule.under(history.query.include)
    result = NotFired(rule, [*history.fired(), *history.obstacles])
    for when, whole in (("before", record.before), ("after", record.after)):
        found = len(result.nodes)
        for place, fgraph in [("", whole), *_inside(whole)]:
            fgraph = fgraph if when == "before" else _not_in_place(record, fgraph)[0]
            for node in fgraph.toposort():
                if tracks(rule.roots(), node.op):
                    answer = why_not(asked, node.outputs[0], fgraph)
                    reason = history.reason(answer, when, place)
                    found_here = WhyNot(rule, node, answer.matches, reason, answer.progress)
                    result.nodes.append((when + place, found_here))
        if len(result.nodes) == found:
            result.general.append(
                f"the graph {when} has no {_root_names(rule)}, which the rule looks at"
            )
    result.nodes.sort(key=lambda found: (not found[1].matches, -found[1].progress))
    return result


def _not_in_place(
    record: FunctionRecord, graph: FunctionGraph
) -> tuple[FunctionGraph, dict[Variable, Variable]]:
    """A copy of a rewritten graph with the ops that rules know, where some were made to overwrite;
    and {variable: its copy}.
    """
    plain = {
        step.new.owner.op: step.old.owner.op
        for step in record.steps
        if step.rule == InplaceOptimizer.rule_name and step.new.owner and step.old.owner
    }
    fgraph, memo = graph.clone_get_equiv(attach_feature=False)
    found = {node: plain[node.op] for node in fgraph.toposort() if node.op in plain}
    fgraph.exchange(found, list(found.values()))
    return fgraph, memo


class RuleHistory:
    """History of a rule, and of the nodes that it could have matched.

    obstacles: why it was not tried anywhere, if it was not.
    """

    def __init__(self, record: FunctionRecord, rule: Rule) -> None:
        self.record = record
        self.rule = rule
        self.query = getattr(record.mode, "query", None) or Query()
        self.obstacles = [*self._obstacles()]
        memo = record.before.memo
        #: {node of the graph before: the firing that replaced it}
        self.taken: dict[Apply, RecordedFiring] = {}
        for step in record.steps:
            old = memo.get(step.old)
            if old is not None and old.owner is not None:
                self.taken.setdefault(old.owner, step)
        #: nodes of it below which something was replaced
        self.moved: set[Apply] = set()
        for node in record.before.toposort():
            if any(v.owner in self.taken or v.owner in self.moved for v in node.inputs):
                self.moved.add(node)
        there = [v for node in record.after.toposort() for v in node.outputs]
        self.stays = {memo[v].owner for v in there if v in memo}

    def is_its(self, step: RecordedFiring) -> bool:
        """Return whether a firing was the rule's, or that of one direction of an equation, or in a
        strategy.
        """
        if step.strategy == self.rule.name:
            return True
        return self.rule.name in getattr(step.rule, "names", (step.rule_name,))

    def fired(self) -> Iterator[str]:
        """Yield how often it fired, and whether facts have to grant it."""
        fired = [step.number for step in self.record.steps if self.is_its(step)]
        if fired:
            often = "once" if len(fired) == 1 else f"{len(fired)} times"
            more = ", …" if len(fired) > MAX_NODES else ""
            yield f"it fired {often}: {', '.join(f'#{n}' for n in fired[:MAX_NODES])}{more}"
        assumed = self.rule.claim.condition
        proved = self.rule.needs_grant is None and assumed is not None
        if proved and assumed not in self.query.include:
            yield (
                f"facts have to prove {assumed!r}, which the mode does not grant: "
                f"--include {assumed}"
            )

    def _obstacles(self) -> Iterator[str]:
        """Yield what keeps the mode from trying the rule."""
        rule, query, mode = self.rule, self.query, self.record.mode
        if mode.optimizer is None:
            yield f"the mode {mode!r} rewrites nothing"
        used = list(_used(mode.optimizer))
        if any(rule.name in one.names for one in used if not isinstance(one, Strategy)):
            return
        needed, phases = rule.needs_grant, {phase.name for phase in self.record.trace.phases}
        larger = [one.name for one in used if rule.name in [p.name for p in parts_of([one])]]
        if larger:
            yield f"it is only part of the strategy {' and of '.join(larger)}"
            return
        if needed is not None and needed not in query.include:
            yield f"it assumes {needed!r}, which the mode does not grant: --include {needed}"
        elif not query.selects(rule.names, needed):
            names = sorted(query.exclude & rule.names) or sorted(query.require - rule.names)
            yield f"the mode leaves it out: {mode!r} ({', '.join(names)})"
        if rule.phase in DRIVER_PHASES and not getattr(rule, "is_driver", False):
            yield f"the phase {rule.phase!r} is done by a driver of its own, and takes no rules"
        if rule.phase is None:
            yield "it belongs to no phase: only a set of rules that names it uses it"
        elif phases and rule.phase not in phases:
            yield f"its phase {rule.phase!r} is not run"
        elif mode.optimizer is not None and rule.name not in mode.rules.by_name:
            yield f"the mode does not know it: {mode!r}"

    def below(self, node: Apply) -> str:
        """Return the first change below a node, nearest to it."""
        level = [v.owner for v in node.inputs]
        while level:
            steps = [self.taken[one] for one in level if one in self.taken]
            if steps:
                step = min(steps, key=lambda one: one.number)
                return f": #{step.number} {step.rule_name}, {cut(step.change.term, BRIEF)}"
            level = [v.owner for one in level if one in self.moved for v in one.inputs]
        return ""

    def reason(self, answer: WhyNot, graph: str, place: str = "") -> str:
        """Return why a rule did not fire at a node, or that it did. place: of an inner graph."""
        step = self.taken.get(answer.node)
        if step is not None and self.is_its(step):
            return f"it fired here: #{step.number}"
        if step is not None and isinstance(step.rule, Rule):
            return f"{answer.reason}; #{step.number} {step.rule_name} rewrote the node"
        if not answer.matches:
            return answer.reason
        if self.obstacles:
            return f"it matches here, but {'; '.join(self.obstacles)}"
        if isinstance(self.rule, Equation | DirectedRule):
            return "it matches here, but saturation found nothing cheaper by it"
        if place and graph == "before":
            here = [s for s in self.record.steps if s.phase.endswith(place) and self.is_its(s)]
            if here:
                return f"it matches as written, and fired{place}: #{here[0].number}"
            return f"it matches as written; what was done{place} left it out, or it was refused"
        if graph == "after":
            return f"it matches now; its phase {self.rule.phase!r} was over when the term arose"
        if answer.node in self.moved:
            return f"it matches as written; what is below changed first{self.below(answer.node)}"
        if answer.node not in self.stays:
            return "it matches as written; what uses the node was rewritten first, and left it out"
        return "it matches as written; the graph refused it, or it was not tried: see --attempts"


def _used(driver: Any) -> Iterator[Rule]:
    """Yield the rules of a driver, and of its parts."""
    drivers = [driver]
    for one in drivers:
        inner = getattr(one, "parts", (getattr(one, "part", None),))
        drivers += [driver for driver in inner if driver is not None]
        yield from getattr(one, "rules", ())


def _root_names(rule: Rule) -> str:
    roots = rule.roots()
    names = [] if roots is None else [getattr(root, "__name__", str(root)) for root in roots]
    return " or ".join(dict.fromkeys(names)) or "node"
