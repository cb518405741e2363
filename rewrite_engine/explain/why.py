"""Where a node of the rewritten graph comes from (`derivation`), and why a rule did not fire
(`refusals`).

Both ask a `Record`. What a single node says to a rule is in `refusal.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.record import Record, Step
from rewrite_engine.explain.refusal import WhyNot, why_not
from rewrite_engine.explain.term import term_text
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.outline import tracks
from rewrite_engine.match.query import Query
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import parts_of
from rewrite_engine.printing import debugprint
from rewrite_engine.printing.formula import Formula

MOST = 12  # nodes that are told about one by one


# --- derivations ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Derivation:
    """How a node came about: the firings that led to it, in order; none: it is as the user wrote
    it.
    """

    node: Apply
    steps: list[Step] = field(default_factory=list)

    @property
    def term(self) -> str:
        """The node's term."""
        return term_text(self.node.outputs[0])


def derivation(record: Record, node: Apply) -> Derivation:
    """Collect the firings that made a node: the one that put it there, those that made what that
    one replaced, …
    """
    made: dict[Apply, list[Step]] = {}
    for step in record.steps:
        tops = [] if step.new.owner is None else [step.new.owner]
        for one in dict.fromkeys([*step.made, *tops]):
            made.setdefault(one, []).append(step)
    found: dict[int, Step] = {}
    todo, seen = [node], set[Apply]()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for step in made.get(one, ()):
            found[step.number] = step
            todo.extend(step.change.used)
    return Derivation(node, [found[n] for n in sorted(found)])


def find_nodes(record: Record, what: str) -> list[Apply]:
    """The nodes of the rewritten graph that a user means by a name.

    A letter or name as the formulas call it, an identifier as the tree does, an op, a variable's
    name, or an output (its number, or `new w`). Raises `UnknownNameError`.
    """
    for candidates in _namings(record):
        found = [node for name, node in candidates if name == what]
        if found:
            return list(dict.fromkeys(found))
    if any(what == v.name for v in record.after.inputs):
        raise UnknownNameError(f"{what} is an input of {record.name!r}: no rule makes it")
    raise UnknownNameError(
        f"nothing in the rewritten graph of {record.name!r} is called {what!r}: give a name that "
        "its formulas define, an op such as Sum, the number of an output, or the letters of the "
        "tree (--tree)"
    )


def _namings(record: Record) -> Iterator[list[tuple[str, Apply]]]:
    from rewrite_engine.explain.compare import output_names

    fgraph = record.after
    nodes = fgraph.toposort()
    yield [(name, node) for node, name in Formula(fgraph.outputs).names.items()]
    yield [(v.name, node) for node in nodes for v in node.outputs if v.name is not None]
    names = [*zip(output_names(record), fgraph.outputs, strict=True)]
    names += [(str(i), v) for i, v in enumerate(fgraph.outputs)]
    yield [(name, v.owner) for name, v in names if v.owner is not None]
    yield [(str(node.op), node) for node in nodes] + [(_plain(node.op), node) for node in nodes]
    ids: dict[Any, str] = {}
    debugprint(fgraph, file="str", used_ids=ids)
    yield [
        (text.strip(" []").removeprefix("id "), n)
        for n, text in ids.items()
        if isinstance(n, Apply)
    ]


def _plain(op: Any) -> str:
    return str(op).partition("{")[0]


# --- refusals ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Refusals:
    """Why a rule did not fire in a function. general: what holds for all nodes. nodes: (which
    graph, answer).
    """

    rule: Rule
    general: list[str] = field(default_factory=list)
    nodes: list[tuple[str, WhyNot]] = field(default_factory=list)


def refusals(record: Record, rule: Rule) -> Refusals:
    """Ask every node, before and after, at which the rule could apply."""
    result = Refusals(rule, list(_general(record, rule)))
    taken = _taken(record)
    for graph, fgraph in (("before", record.before), ("after", record.after)):
        nodes = [node for node in fgraph.toposort() if tracks(rule.roots(), node.op)]
        if not nodes:
            result.general.append(
                f"the graph {graph} has no {_root_names(rule)}, which the rule looks at"
            )
        for node in nodes:
            answer = why_not(rule, node.outputs[0], fgraph)
            result.nodes.append((graph, _with_history(answer, taken.get(node), record, graph)))
    result.nodes.sort(key=lambda found: (not found[1].matches, -found[1].progress))
    return result


def _general(record: Record, rule: Rule) -> Iterator[str]:
    """What the whole function says: that the rule fired, that the mode leaves it out, that no phase
    has it.
    """
    fired = [step.number for step in record.steps if _is_of(step, rule)]
    if fired:
        often = "once" if len(fired) == 1 else f"{len(fired)} times"
        more = ", …" if len(fired) > MOST else ""
        yield f"it fired {often}: {', '.join(f'#{n}' for n in fired[:MOST])}{more}"
    query = getattr(record.mode, "query", None) or Query()
    if record.mode.optimizer is None:
        yield f"the mode {record.mode!r} rewrites nothing"
    needed, assumed = rule.needs_leave, rule.claim.condition
    if needed is not None and needed not in query.include:
        yield f"it assumes {needed!r}, which the mode does not grant: --include {needed}"
    elif needed is None and assumed is not None and assumed not in query.include:
        yield f"facts have to prove {assumed!r}, which the mode does not grant: --include {assumed}"
    elif not query.selects(rule.names, needed):
        names = sorted(query.exclude & rule.names) or sorted(query.require - rule.names)
        yield f"the mode leaves it out: {record.mode!r} ({', '.join(names)})"
    phases = {phase.name for phase in record.story.phases}
    if rule.phase is not None and phases and rule.phase not in phases:
        yield f"its phase {rule.phase!r} is not run"
    within = [whole.name for whole in record.mode.rules if rule in parts_of([whole])]
    if within:
        yield f"it is a part of {', '.join(within)}"
    elif record.mode.optimizer is not None and rule.name not in record.mode.rules.by_name:
        yield f"the mode does not know it: {record.mode!r}"
    if rule.phase is None and not within:
        yield "it belongs to no phase: only a set of rules that names it uses it"


def _is_of(step: Step, rule: Rule) -> bool:
    """Whether a firing is one of a rule, or in a strategy."""
    return rule.name in (step.rule_name, step.strategy)


def _taken(record: Record) -> dict[Apply, Step]:
    """{node of the graph before: the firing that replaced it}."""
    memo = record.before.memo
    taken: dict[Apply, Step] = {}
    for step in record.steps:
        old = memo.get(step.old)
        if old is not None and old.owner is not None:
            taken.setdefault(old.owner, step)
    return taken


def _with_history(answer: WhyNot, step: Step | None, record: Record, graph: str) -> WhyNot:
    """Add what became of the node."""
    reason = answer.reason
    if step is not None and _is_of(step, answer.rule):
        reason = f"it fired here: #{step.number}"
    elif step is not None and isinstance(step.rule, Rule):
        reason += f"; #{step.number} {step.rule_name} rewrote the node"
    elif answer.matches and answer.rule.name not in record.mode.rules.by_name:
        reason = "the rule applies"
    elif answer.matches and graph == "before":
        reason = "it matches as written; what is below changed before the rule came to it"
    elif answer.matches:
        over = f"its phase {answer.rule.phase!r} was over when the term arose, or it is left out"
        reason = f"it matches now; {over}"
    return WhyNot(answer.rule, answer.node, answer.matches, reason, answer.progress)


def _root_names(rule: Rule) -> str:
    roots = rule.roots()
    return "node" if roots is None else " or ".join(getattr(r, "__name__", str(r)) for r in roots)
