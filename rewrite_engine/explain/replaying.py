"""`replay`: do again what the lines of a trace say, from the graph as it was.

A line says which rule fired at which place (`places.py`). The rule is applied there again, so what
it makes comes from the rule, not from the file. Changes are settled at once here, which a driver
does later: nodes may then be found equal at other times, so a `PlaceTracker` follows what became of
each place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

from rewrite_engine.errors import ReplayError, RewriteEngineError
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.match.interpret import every_result
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.step import Refusal, put
from rewrite_engine.rewrite.trace.lines import VERSION
from rewrite_engine.rewrite.trace.places import Address, made, numbered
from rewrite_engine.terms.print import brief

Line = str | Mapping[str, Any]

FORGOT = "it has no place: it is not known where it fired"
LATE = "the trace kept only what fired from number {} on: begin with the graph of its `oldest()`"


def replay(
    lines: Iterable[Line],
    fgraph: Any,
    rules: Iterable[Rule],
    drivers: Iterable[GraphRewriter] = (),
) -> Any:
    """Fire the rules of a trace again, in place; return the graph.

    lines: of one graph, from a trace (`Trace.lines()`, a file, or the objects read from it); others
    than firings are skipped. fgraph: the graph as it was when the trace began, or a copy; if the
    trace kept only its last entries, as it was before them (`Trace.oldest()`). rules: those that
    fired may be among any others. drivers: those that do something that is no rule's, as
    overwriting is: they are run again where their steps begin.
    Raises `ReplayError`, which names the line, for a line that cannot be read or does not apply;
    the graph is then as the lines before left it.

    >>> from tests.toy import num, log, exp
    >>> from rewrite_engine.match.decorate import rule
    >>> from rewrite_engine.graph.fgraph import FunctionGraph
    >>> from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
    >>> from rewrite_engine.rewrite.trace import Trace
    >>> @rule
    ... def log_of_exp(x):
    ...     "An example."
    ...     return log(exp(x)) >> x
    >>> x, trace = num("x"), Trace()
    >>> graph = FunctionGraph([x], [log(exp(x))])
    >>> before = graph.clone()
    >>> result = EquilibriumOptimizer([log_of_exp]).rewrite(graph, trace)
    >>> replay(trace.lines(), before, [log_of_exp]).outputs
    [x]
    """
    known = {rule.name: rule for rule in rules}
    own = {driver.name: driver for driver in drivers}
    tracker = PlaceTracker(fgraph)
    fgraph.attach_feature(tracker)
    try:
        todo = _firings(lines)
        for number, record in todo:
            driver = None if record["rule"] in known else own.get(record["phase"].split(" in ")[0])
            alike = ["rule", "phase"]
            if driver is None:
                n = _fire(number, record, fgraph, known, tracker)
                alike.append("place")
            else:
                done = driver.rewrite(fgraph).leaves()  # (those of inner graphs stand elsewhere)
                n = sum(leaf.firings for leaf in done if not leaf.place)
            for _ in range(n - 1):
                _same_step(record, alike, *next(todo, (number, None)))
    finally:
        fgraph.remove_feature(tracker)
    return fgraph


#: the nodes of a term that the graph does not have, each with an equal one that it has, if any
Row = list[tuple[Apply, Apply | None]]


class PlaceTracker(Feature):
    """Which node is at each place."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.nodes: dict[Address, Apply] = {(0, i): n for i, n in enumerate(numbered(fgraph))}
        self.merged: dict[Apply, Apply] = {}  # node → the equal one that took its place
        #: a node and the rule that fired there → the numbers of the firings
        self.done: dict[tuple[Apply, str], range] = {}
        self.number = 0
        self.fired = 0
        self.steps: Sequence[Any] = ()
        self.rows: list[Row] = []  # of what is about to be put in,
        self.put: list[Row] = []  # and of what was

    def node(self, place: Address) -> Apply | None:
        """The node at a place, perhaps one that is gone; None if there was none."""
        node = self.nodes.get(place)
        while node in self.merged:
            node = self.merged[node]
        return node

    def repeated(self, node: Apply, rule: str) -> int:
        """A node is gone. If the same rule fired there before, for a node that was apart from it in
        the trace, that was for both: of how many lines it was; else 0.
        """
        before = self.done.get((node, rule), range(0))
        if self.number < before.stop:  # the same line twice
            return 0
        self.done[node, rule] = range(self.number, self.number + len(before))
        for new, old in enumerate(before, self.number):
            for j in takewhile(lambda j: (old, j) in self.nodes, count()):  # noqa: B023
                self.nodes[new, j] = self.nodes[old, j]
        return len(before)

    def on_apply(self, fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> None:
        self.steps = getattr(result, "steps", ())[:-1]

    def on_replace(self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any) -> None:
        """Something is about to be put in: see which nodes of it the graph has."""
        self.note_nodes()
        self.rows = [self._row(term) for term in (*[made for _, made in self.steps], new)]
        self.steps = ()

    def _row(self, term: Variable) -> Row:
        fgraph, same, row = self.fgraph, dict[Variable, Variable](), Row()
        for one in made(fgraph.users, term):
            inputs = tuple([same.get(v, self._own(v)) for v in one.inputs])
            twin = fgraph.table.get(fgraph.key_of(one, inputs))
            row.append((one, twin))
            if twin is not None:
                same.update(zip(one.outputs, twin.outputs, strict=True))
        return row

    def _own(self, v: Variable) -> Variable:
        if v in self.fgraph.users or not isinstance(v, Constant):
            return v
        return self.fgraph.constants.get(v.signature(), v)

    def on_redirect(self, fgraph: Any, old: Any, new: Any, clients: Any, reason: Any) -> None:
        if reason == "merge":
            self.merged[old.owner] = new.owner
        elif self.rows:
            self.fired += len(self.rows)
            self.put, self.rows = self.rows, []

    def note_nodes(self) -> None:
        """What was put in is settled: its nodes have places."""
        for k, row in enumerate(self.put, self.number + self.fired - len(self.put)):
            for j, (node, twin) in enumerate(row):
                gone = node not in self.fgraph.order.level and node not in self.merged
                self.nodes[k, j] = twin if gone and twin is not None else node
        self.put = []

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.merged.pop(node, None)


# --- lines ---------------------------------------------------------------------------------------


def _firings(lines: Iterable[Line]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (number of the line, firing); refuse lines of several graphs."""
    graph = None
    for number, text in enumerate(lines, 1):
        if isinstance(text, str) and not text.strip():
            continue
        try:
            record = json.loads(text) if isinstance(text, str) else text
            kind, version = record["kind"], record["version"]
        except (ValueError, TypeError, KeyError) as error:
            raise _error(number, None, f"it is no line of a trace ({error!r})") from None
        if version != VERSION:
            raise _error(number, None, f"it is of version {version}; this is version {VERSION}")
        if kind != "firing":
            continue
        mine = record["function_index"], record["graph"]
        if graph is not None and mine != graph:
            raise _error(number, record, "it is of another graph than those before: choose one")
        graph = mine
        if record["number"] < (record.get("since") or 0):
            continue  # the rest of what was done in one go, of which the trace forgot the beginning
        if record["place"] is None:
            raise _error(number, record, FORGOT)
        yield number, record


def _error(number: int, record: Mapping[str, Any] | None, why: str) -> ReplayError:
    what = "" if record is None else f" ({record['rule']}, firing {record['number']})"
    since = None if record is None else record.get("since")
    hint = "" if since is None else f"\n    {LATE.format(since)}"
    error = ReplayError(f"line {number}{what}: {why}{hint}")
    error.line = number
    return error


def _same_step(
    record: Mapping[str, Any], names: Iterable[str], number: int, following: Any
) -> None:
    """What was done in one go is on several lines: these must be alike."""
    if following is None or any(following[n] != record[n] for n in names):
        raise _error(number, following, f"more of {record['rule']} should stand here")


def _fire(
    number: int,
    record: Mapping[str, Any],
    fgraph: Any,
    known: Mapping[str, Rule],
    tracker: PlaceTracker,
) -> int:
    """Repeat one firing; return of how many lines it was."""
    rule = known.get(record["rule"])
    if rule is None:
        raise _error(number, record, "there is no such rule among those given")
    node = tracker.node(tuple(record["place"]))
    tracker.number, tracker.fired = record["number"], 0
    if node is None or node not in fgraph.order.level:
        repeated = 0 if node is None else tracker.repeated(node, rule.name)
        if not repeated:
            raise _error(number, record, f"the graph has nothing at place {record['place']}")
        return repeated
    try:
        result = _chosen(rule, node, fgraph, record)
        changed = put(fgraph, node, rule, result)
    except (RewriteEngineError, Refusal) as error:
        raise _error(number, record, f"it fails at {brief(node)}: {error}") from error
    if not changed:
        raise _error(number, record, f"it does not apply at {brief(node)}")
    tracker.note_nodes()
    tracker.done[node, rule.name] = range(tracker.number, tracker.number + tracker.fired)
    return tracker.fired


def _chosen(rule: Rule, node: Apply, fgraph: Any, record: Mapping[str, Any]) -> Any:
    """What the rule makes of a node; where it matches in several ways, what the line says."""
    first = rule.transform(fgraph, node)
    depth, after = record["depth"], record["after"]
    if depth is None or not isinstance(rule, DataRule):
        return first
    if isinstance(first, tuple) or (isinstance(first, Variable) and brief(first, depth) == after):
        return first
    ways = every_result(rule.lowered, fgraph, node)
    return next(
        (way for way in ways if after in (brief(way, depth), brief(_own(fgraph, way), depth))), None
    )


def _own(fgraph: Any, term: Variable) -> Variable:
    """A term as the graph would have it: what is in it already is found, in any order."""
    own: dict[Variable, Variable] = {}
    for node in toposort([term], fgraph.users):
        inputs = tuple([own.get(v, v) for v in node.inputs])
        twin = fgraph.table.get(fgraph.key_of(node, inputs))
        made = node.clone_with_new_inputs(inputs) if twin is None else twin
        own.update(zip(node.outputs, made.outputs, strict=True))
    return own.get(term, term)
