"""`InnerGraphs`: rewriting of the graphs inside ops (`graph/inner.py`).

An op to be inlined is replaced by its graph. The graph of any other op is rewritten separately, by
the phases of the outer graph except for in-place insertion, until nothing is left to do: once for
each distinct op and known facts about its arguments, wherever and however often it is used, inner
ones first. The op of the new graph then replaces the old one, without unneeded inputs and outputs,
and nodes that become equal are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, held
from rewrite_engine.graph.knowledge import key_for, knowledge_of
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.postorder import postorder, same
from rewrite_engine.graph.replace import substituted
from rewrite_engine.match.fact import Fact, because
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import Fixpoint, GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import applying, is_used

VARIANTS = 4  # of one op, for what is known of its arguments; further calls get a general one

Known = Mapping[Fact, Any]  # what is known of a variable: fact → evidence


@dataclass(frozen=True, slots=True)
class Call:
    """Op and facts about its arguments, which together are rewritten once. known: a key for each
    input of the graph, which given and told state in full. given: a constant, or a variable of the
    argument's type if that is more precise than the input. told: facts.
    """

    op: Any
    known: tuple[Any, ...] = ()
    given: Sequence[Variable | None] = field(default=(), compare=False)
    told: Sequence[Known] = field(default=(), compare=False)

    def graph(self) -> FunctionGraph:
        """Return a copy of the inner graph with this knowledge."""
        op = self.op
        pairs = [(v, new) for v, new in zip(op.inner_inputs, self.given) if new is not None]
        if not pairs:
            graph: FunctionGraph = op.fgraph.clone()
        else:
            typed = {v: new for v, new in pairs if not isinstance(new, Constant)}
            outputs = substituted(op.inner_outputs, pairs, strict=False)
            graph = FunctionGraph([typed.get(v, v) for v in op.inner_inputs], outputs)
            graph.memo = {}
        graph.is_inner = True
        for v, known in zip(graph.inputs, self.told):
            if known:
                knowledge_of(graph).declare(v, crossing(f"outside of {op}", known))
        return graph


Variants = dict[Any, dict[Call, Call]]  # by op


class Site(NamedTuple):
    """Position of a call. inputs, outputs: the indices of the node's inputs and outputs that it
    uses.
    """

    call: Call
    inputs: Sequence[int]
    outputs: Sequence[int]


@dataclass(slots=True)
class Outcome:
    """Result of rewriting a call. graph: the rewritten graph of the op. through: the outputs that
    are constants or (by index) inputs, and need no call. told: facts about each output. small: the
    op for the other outputs, without inputs that these do not need, and the indices of its inputs
    and outputs.
    """

    op: Any
    graph: FunctionGraph | None = None
    through: Mapping[int, Constant | int] = field(default_factory=dict)
    told: Sequence[Known] = ()
    small: tuple[Any, Sequence[int], Sequence[int]] | None = None

    def outputs(self, inputs: Sequence[Variable], n: int) -> list[Variable]:
        """Return the n results of a call on inputs, without anything unneeded."""
        if self.small is None:
            rest = [j for j in range(n) if j not in self.through]
            if self.op.narrowed is None:
                self.small = self.op, range(len(inputs)), range(n)
            else:
                self.small = self.op.narrowed(rest) if rest else (self.op, (), ())
        op, ins, outs = self.small
        found = {j: inputs[v] if isinstance(v, int) else v for j, v in self.through.items()}
        if outs:
            made = op.make_node(*[inputs[i] for i in ins]).outputs
            found = dict(zip(outs, made, strict=True)) | found
        return [found[j] for j in range(n)]


class InnerGraphs(GraphRewriter):
    """Driver that inlines ops, and runs drivers in each distinct graph inside the other ops, inner
    ones first. Of the outer graph it changes only the ops with inner graphs.

    rules: the rules that inline; None: all calls are treated alike, and every op stays the same
    except for its graph. inside: the drivers, in order. facts: facts that carry over to the inner
    graph; length: the fact about a variable's dimension whose values are equal for equal lengths.
    keeps(fgraph, node, new): whether errors of a node's arguments are still raised after `new`
    replaces it; None: nothing is left out. done: ops whose graphs have been rewritten.
    """

    inside: Sequence[GraphRewriter] = ()
    done: Collection[Any] = ()

    def __init__(
        self,
        rules: RuleSet | None,
        name: str = "inner",
        facts: Sequence[Fact] = (),
        length: Fact | None = None,
        keeps: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(name)
        self.rules, self.plain = rules or RuleSet(), rules is None
        self.facts, self.length, self.keeps = facts, length, keeps

    def idle(self, fgraph: FunctionGraph) -> bool:
        return not held(fgraph)

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        self.open(fgraph, result)
        new: dict[Call, Outcome] = {}
        opened: dict[Call, tuple[str, FunctionGraph, dict[Apply, Site], bool]] = {}
        times: Counter[str] = Counter()
        variants: Variants = {}

        def below(call: Call) -> list[Call]:
            name = str(call.op)
            times[name] += 1
            place = name + (f" #{times[name]}" if times[name] > 1 else "")
            graph, parts = call.graph(), len(result.parts)
            with inside(fgraph, graph, place, result):
                self.open(graph, result)
                inner = self.sites(graph, variants)
            opened[call] = place, graph, inner, len(result.parts) > parts
            return [site.call for site in inner.values()]

        sites = self.sites(fgraph, variants)
        for call in postorder([site.call for site in sites.values()], below, key=same):
            place, graph, inner, changed = opened.pop(call)
            parts = [Exchange(inner, new, self.keeps), *self.inside]
            with inside(fgraph, graph, place, result):
                done = SequentialOptimizer(parts, "inside").rewrite(graph, None, result)
                known = any([v is not None for v in call.given])
                changed |= known or bool(done.firings or done.merged)
                new[call] = self.made(call.op.clone(graph) if changed else call.op, graph)
        exchange = Exchange(sites, new, self.keeps)
        if not exchange.idle(fgraph):
            exchange.rewrite(fgraph, None, result)
        result.stop_as_parts()

    def open(self, fgraph: FunctionGraph, result: Result) -> None:
        """Replace the ops to be inlined by their graphs."""
        if not self.plain and any([op.inline for op in held(fgraph)]):
            part = EquilibriumOptimizer(self.rules, "inline", budget=self.budget)
            part.rewrite(fgraph, None, result)

    def sites(self, fgraph: FunctionGraph, variants: Variants) -> dict[Apply, Site]:
        """Return the call to rewrite for each node with a graph. variants: the existing calls."""
        ops = {op for op in held(fgraph) if op.mode is None}.difference(self.done)
        return {n: self.site(fgraph, n, variants) for n in fgraph.toposort() if n.op in ops}

    def site(self, fgraph: FunctionGraph, node: Apply, variants: Variants) -> Site:
        op, ins, outs = node.op, range(len(node.inputs)), range(len(node.outputs))
        if self.plain:
            return Site(Call(op), ins, outs)
        if self.keeps is not None and op.narrowed is not None:
            used = [j for j in outs if is_used(fgraph, node.outputs[j])]
            small, some, those = op.narrowed(used)
            new = small.make_node(*[node.inputs[i] for i in some])
            if small is op or self.keeps(fgraph, node, new.outputs):
                op, ins, outs = small, some, those
        call = self.call(fgraph, op, [node.inputs[i] for i in ins])
        known = variants.setdefault(call.op, {})
        if call not in known and len(known) >= VARIANTS:
            call = Call(call.op)
        return Site(known.setdefault(call, call), ins, outs)

    def call(self, fgraph: FunctionGraph, op: Any, arguments: Sequence[Variable]) -> Call:
        """Return a call with the facts about its arguments."""
        known: list[Any] = []
        given: list[Variable | None] = []
        told: list[Known] = []
        own = [v if i is None else arguments[i] for v, i in zip(op.inner_inputs, op.passed)]
        lengths = self.lengths(fgraph, [x for x in own if x in fgraph])
        for v, i, x in zip(op.inner_inputs, op.passed, own, strict=True):
            new: Any = None
            facts: Known = {}
            if isinstance(x, Constant):
                new, key = x, x.signature()
            else:
                new = x.type.make_variable(v.name) if x.type is not v.type else None
                facts = {} if i is None else {**self.known(fgraph, x), **lengths.get(x, {})}
                key = x.type, *[key_for(one, (said.value,)) for one, said in facts.items()]
            given.append(new)
            told.append(facts)
            known.append(key)
        if given == [None] * len(given) and not any(told):
            return Call(op)
        return Call(op, tuple(known), given, told)

    def lengths(self, fgraph: FunctionGraph, arguments: Sequence[Variable]) -> dict[Any, Any]:
        """Return which lengths of arguments are equal: those have one value inside."""
        length, found = self.length, dict[Any, dict[Any, Any]]()
        if length is None or len(arguments) < 2:
            return found
        places = [(x, i) for x in arguments for i, n in enumerate(x.type.shape) if n is None]
        values = [length.ask(fgraph, x, i).value for x, i in places]
        times, marks = Counter(values), {value: ("alike", k) for k, value in enumerate(values)}
        for (x, i), value in zip(places, values, strict=True):
            if times[value] > 1:
                said = because("it equals a length of another argument", value=marks[value])
                both = {key_for(length, (k,)): said for k in (i, i - x.type.ndim)}
                found.setdefault(x, {}).update(both)
        return found

    def known(self, fgraph: FunctionGraph, x: Variable) -> Known:
        """Return the facts that hold for a variable, and not for all of its type."""
        bare = x.owner is None or isinstance(x.owner.op, HasInnerGraph)
        if bare and not (fgraph.facts and x in fgraph.facts.declared):
            return {}
        own = [one for one, _ in getattr(x.head, "declared", ())]
        asked: Iterable[Fact] = dict.fromkeys([*self.facts, *own])
        plain = x.type.make_variable()
        found = {one: said for one in asked if (said := one.ask(fgraph, x))}
        return {one: said for one, said in found.items() if not one(plain)}

    def made(self, op: Any, graph: FunctionGraph) -> Outcome:
        """Return the outcome of a call: an op with its present graph."""
        if self.plain or not op.runs_once:
            return Outcome(op, graph)
        place: dict[Variable, Any] = {v: i for i, v in enumerate(graph.inputs)}
        place |= {v: v for v in graph.outputs if isinstance(v, Constant)}
        through = {j: place[v] for j, v in enumerate(graph.outputs) if v in place}
        known = [{} if isinstance(v, Constant) else self.known(graph, v) for v in graph.outputs]
        return Outcome(op, graph, through, [crossing(f"inside of {op}", facts) for facts in known])


class OnOps(GraphRewriter):
    """Driver that applies rules to ops that hold graphs, and then `inner` in the graphs of the new
    ops. The rules are tried until they change nothing more, because they depend on the readers of
    the outputs. again: see `EquilibriumOptimizer`.
    """

    def __init__(
        self,
        rules: RuleSet,
        name: str,
        again: RuleSet | None = None,
        inner: InnerGraphs | None = None,
    ) -> None:
        super().__init__(name)
        self.rules, self.inner = rules, inner
        self.part = Fixpoint(EquilibriumOptimizer(rules, name, again=again))

    def idle(self, fgraph: FunctionGraph) -> bool:
        ops = held(fgraph)
        return not any([rule.considers(op) for rule in self.rules for op in ops])

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        before = held(fgraph)
        self.part.budget = self.budget
        self.part.rewrite(fgraph, None, result)
        if self.inner is not None and not set(held(fgraph)).issubset(before):
            inner = copy(self.inner)
            inner.done = before
            inner.rewrite(fgraph, None, result)
        result.stop_as_parts()


def crossing(where: str, known: Known) -> Known:
    """Return facts as stated on the other side of an op's border."""
    return {one: because(where, said, value=said.value) for one, said in known.items()}


def inner_first(part: GraphRewriter) -> GraphRewriter:
    """Return a driver that works in the graphs inside ops, and then in the graph itself."""
    inner = InnerGraphs(None, part.name)
    inner.inside = (part,)
    return SequentialOptimizer([inner, part], part.name)


@contextmanager
def inside(
    fgraph: FunctionGraph, inner: FunctionGraph, place: str, result: Result
) -> Iterator[None]:
    """Context manager for work on an inner graph: features of the outer graph are notified, phases
    and errors name its op.
    """
    before = len(result.parts)
    for feature in fgraph.features:
        feature.on_inner(fgraph, inner, place)
    try:
        yield
    except RewriteEngineError as error:
        error.add_note(f"    in {place}")
        raise
    finally:
        for feature in fgraph.features:
            feature.on_inner(fgraph, inner, None)
        for leaf in [leaf for part in result.parts[before:] for leaf in part.leaves()]:
            leaf.name, leaf.place = f"{leaf.name} in {place}", place


class Exchange(GraphRewriter):
    """Driver that replaces ops by their rewritten versions."""

    #: what a trace and a report call this step
    rule_name = "inner/rewritten"

    def __init__(
        self, sites: Mapping[Apply, Site], new: Mapping[Call, Outcome], keeps: Any = None
    ) -> None:
        super().__init__("inner")
        self.sites, self.new, self.keeps = sites, new, keeps

    def idle(self, fgraph: FunctionGraph) -> bool:
        found = [(node, self.new[site.call]) for node, site in self.sites.items()]
        return all([n.op is made.op and not (made.through or any(made.told)) for n, made in found])

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        result.stopped = StopReason.PASSED
        for node, site in self.sites.items():
            made = self.new[site.call]
            if node not in fgraph:
                continue
            found = list(node.outputs)
            if made.through or made.op is not node.op:
                result.count(self.rule_name, sum([is_used(fgraph, v) for v in node.outputs]))
                found = self.put(fgraph, node, made, site)
            for v, known in zip(found, made.told):
                if known and v in fgraph:
                    knowledge_of(fgraph).declare(v, known)

    def put(self, fgraph: FunctionGraph, node: Apply, made: Outcome, site: Site) -> list[Variable]:
        """Replace the outputs of one node; return the replacements."""
        inputs = [fgraph.present_inputs(node)[i] for i in site.inputs]
        olds = [node.outputs[j] for j in site.outputs]
        used = all([is_used(fgraph, v) for v in olds])  # (else: for their errors)
        new = made.outputs(inputs, len(olds)) if used and self.keeps is not None else None
        if new is None or not self.keeps(fgraph, node, new):
            new = made.op.make_node(*inputs).outputs
        for maker in [v.owner for v in new]:
            if maker is not None and maker not in fgraph:
                maker.origin = node.origin
        pairs = zip(olds, new, strict=True)
        with applying(fgraph, node, self.rule_name, new) as application:
            found = [fgraph.replace(old, out, self.rule_name) for old, out in pairs]
            application.done = True
        return found
