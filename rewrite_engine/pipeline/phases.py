"""All phases that rewrite a graph between `function(...)` and the linker, in order.

A phase consists of the rules that name it (`@rule(phase=...)`), under a driver that runs them to a
fixed point. Packs are tried in the order of `PACKS`, their rules in source order. The rules of
other distributions follow (`packs.py`), then those that a mode adds. Packs are imported when the
first graph is rewritten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, wraps
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, overload

from rewrite_engine import hooks
from rewrite_engine.config import config
from rewrite_engine.errors import (
    DuplicateRuleError,
    PatternError,
    UnknownNameError,
    did_you_mean,
    source_line,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.dispatch import dispatch_of
from rewrite_engine.match.fact import Fact
from rewrite_engine.match.query import ALWAYS, Query, labels
from rewrite_engine.match.rule import NodeRewriter, Rule
from rewrite_engine.match.ruleset import Addition, RuleSet
from rewrite_engine.pipeline.lint import remarks, warn_of
from rewrite_engine.pipeline.packs import installed
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import GraphRewriter, MergeOptimizer, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.inner import Exchange, InnerGraphs, OnOps, inner_first
from rewrite_engine.rewrite.inplace import InplaceOptimizer

V = TypeVar("V", bound=Variable | FunctionGraph)

PACKS = (
    "rewrite_engine.rewrite.fold",
    "rewrite_engine.rules.inner",
    "rewrite_engine.pipeline.assumptions",
    "rewrite_engine.rules.gradient_marks",
    "rewrite_engine.rules.cast",
    "rewrite_engine.rules.algebra",
    "rewrite_engine.rules.extrema",
    "rewrite_engine.rules.constants",
    "rewrite_engine.rules.collect",
    "rewrite_engine.rules.logic",
    "rewrite_engine.rules.branches",
    "rewrite_engine.rules.exp_log",
    "rewrite_engine.rules.inverses",
    "rewrite_engine.rules.trigonometry",
    "rewrite_engine.rules.removable",
    "rewrite_engine.rules.differences",
    "rewrite_engine.rules.softplus",
    "rewrite_engine.rules.gammas",
    "rewrite_engine.rules.softmax",
    "rewrite_engine.rules.powers.products",
    "rewrite_engine.rules.scaled",  # what cancels first
    "rewrite_engine.rules.powers.logarithms",
    "rewrite_engine.rules.reduce",
    "rewrite_engine.rules.shape",
    "rewrite_engine.rules.broadcast",
    "rewrite_engine.rules.index",
    "rewrite_engine.rules.indexing.merged",
    "rewrite_engine.rules.indexing.through",
    "rewrite_engine.rules.indexing.gathered",
    "rewrite_engine.rules.indexing.joined",
    "rewrite_engine.rules.indexing.running",
    "rewrite_engine.rules.join",
    "rewrite_engine.rules.dot",
    "rewrite_engine.rules.masks",  # before a sum becomes a product
    "rewrite_engine.rules.products",
    "rewrite_engine.rules.sums",
    "rewrite_engine.rules.arrangement",
    "rewrite_engine.rules.diagonals",
    "rewrite_engine.rules.updates",
    "rewrite_engine.rules.loops",
    "rewrite_engine.rewrite.ac",  # last: rules on two operands are tried before these are joined
)

#: {pack for ops of a package that few programs load: the package}; a pack is imported once its
#: package is, and tried after all others
ON_DEMAND = {
    "rewrite_engine.rules.linalg.determinants": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.linalg.gradients": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.linalg.low_rank": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.linalg.quotients": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.linalg.solves": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.linalg.structure": "rewrite_engine.tensor.product.blocks",
    "rewrite_engine.rules.linalg.factors": "rewrite_engine.tensor.linalg",
    "rewrite_engine.rules.sparse": "rewrite_engine.sparse",
}

#: packs of equations; they are imported when a query includes "saturate"
EQUATIONS = ("rewrite_engine.rules.equations",)
#: packs for native code; they are imported when a query includes "lower"
LOWERING = ("rewrite_engine.rules.lowering.functions", "rewrite_engine.rules.lowering.operations")
#: packs for linkers that trace graphs; they are imported when a query includes "static"
STATIC = ("rewrite_engine.rules.static",)


def saturation(rules: RuleSet, name: str) -> GraphRewriter:
    """Return the driver of the phase "saturate", which runs on request and is imported then."""
    from rewrite_engine.rewrite.saturate import SaturationOptimizer

    return SaturationOptimizer(rules, name)


def merging(rules: RuleSet, name: str) -> GraphRewriter:
    """Return the driver that merges equal nodes. Sums of floats are equal in any order if the rule
    `regroup` may change it.
    """
    return MergeOptimizer(name, reorders="ac/regroup" in rules)


def inlining(rules: RuleSet, name: str) -> InnerGraphs:
    """Return the driver of the graphs inside ops, which knows the facts that may cross their
    borders.
    """
    return InnerGraphs(rules, name, *crossing())


def overwriting(rules: RuleSet, name: str, inner: InnerGraphs | None) -> GraphRewriter:
    """Return the driver that lets ops work in place. It treats graphs inside ops first, if those
    are rewritten at all.
    """
    part = InplaceOptimizer(name)
    return part if inner is None else inner_first(part)


class Phase(NamedTuple):
    """A step of the pipeline. driver: makes a `GraphRewriter` from the phase's rules and its name.
    also: earlier phases whose rules are used again, because this one makes terms that are not in
    their normal form; again: a phase whose rules run only where this one has changed something.
    on_request: only for queries that include the phase's name, whatever the linker. inside: whether
    it also runs on the graphs inside ops, in the phase `inner`. inner: whether the driver receives
    that of `inner` (None if that phase is left out). does: the name in a trace for a step by the
    driver itself. tries: the kinds of rules that can fire in it. if_any: whether it is left out
    while no rule belongs to it.
    """

    name: str
    driver: Callable[..., GraphRewriter]
    also: tuple[str, ...] = ()
    again: str | None = None
    on_request: bool = False
    inside: bool = True
    inner: bool = False
    does: str | None = None
    tries: tuple[type, ...] = (Rule,)
    if_any: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Return the names by which a query excludes the phase."""
        does = {self.does, self.does.rpartition("/")[2]} if self.does else set()
        return frozenset({self.name, *does})

    def rules(self, chosen: RuleSet) -> RuleSet:
        """Return the rules of this phase, its own first."""
        return sum((chosen.phase(name) for name in self.also), chosen.phase(self.name))

    def part(self, chosen: RuleSet, before: Mapping[str, GraphRewriter]) -> GraphRewriter:
        """Return its driver, with its rules among the chosen ones. before: the drivers of earlier
        phases.
        """
        options: dict[str, Any] = {"again": chosen.phase(self.again)} if self.again else {}
        if self.inner:
            options["inner"] = before.get("inner")
        return self.driver(self.rules(chosen), self.name, **options)

    def wanted(self, query: Query, phases: Collection[str]) -> bool:
        """Return whether the phase belongs to a linker's phases, or a query includes it, and none
        excludes it.
        """
        asked = self.name in query.include or (not self.on_request and self.name in phases)
        return asked and not self.names & query.exclude


PHASES = (
    Phase("merge", merging, also=("canonicalize",), tries=()),
    Phase("inner", inlining, inside=False, does=Exchange.rule_name, tries=(NodeRewriter,)),
    Phase("canonicalize", EquilibriumOptimizer),
    Phase("loops", OnOps, again="canonicalize", inner=True),
    Phase("stabilize", EquilibriumOptimizer, also=("canonicalize",)),
    Phase("saturate", saturation, on_request=True),
    Phase("static", EquilibriumOptimizer, on_request=True),
    Phase("specialize", EquilibriumOptimizer, again="canonicalize"),
    Phase("factorize", EquilibriumOptimizer, if_any=True),
    Phase("lower", EquilibriumOptimizer, on_request=True),
    Phase(
        "inplace",
        overwriting,
        inside=False,
        inner=True,
        does=InplaceOptimizer.rule_name,
        tries=(),
    ),
)

#: tag of rules of other phases that also apply before a term is differentiated
BEFORE_GRADIENTS = "before_gradients"
#: tag of rules whose left sides have wrong slopes where their values are right: a term with one is
#: brought to its stable form before it is differentiated
MENDS_GRADIENTS = "mends_gradients"
#: tag of rules whose right sides have better values and worse slopes than their left sides
VALUES_ONLY = "values_only"
NAMES = tuple([phase.name for phase in PHASES])
TRIES = {phase.name: phase.tries for phase in PHASES}
EVERY = frozenset({"fast_run"})  # of a query: all phases
WHOLE = "pipeline"  # name of all phases together in results; not valid in a query
#: names a query may use that no rule has: steps of drivers, and assumptions to grant
#: (those of PyTensor's are in `compat/peer_names.py`)
KNOWN = ALWAYS.union(*(p.names for p in PHASES), [p.rpartition(".")[2] for p in ON_DEMAND])


def wanted_packs() -> tuple[str, ...]:
    """Return the packs on demand whose packages are loaded."""
    return tuple([pack for pack, package in ON_DEMAND.items() if package in sys.modules])


def cache_until_packs(fn: Any) -> Any:
    """Cache results like `lru_cache`, until a package with a pack on demand is loaded."""

    @lru_cache(maxsize=64)
    def by_packs(packs: tuple[str, ...], *arguments: Any, **options: Any) -> Any:
        return fn(*arguments, **options)

    @wraps(fn)
    def call(*arguments: Any, **options: Any) -> Any:
        return by_packs(wanted_packs(), *arguments, **options)

    call.cache_clear = by_packs.cache_clear  # type: ignore[attr-defined]
    return call


@cache
def all_rules() -> RuleSet:
    """Return every shipped rule, except those of packs on demand."""
    return RuleSet.of(*[import_module(name) for name in PACKS])


@cache
def on_demand(packs: tuple[str, ...] = tuple(ON_DEMAND)) -> RuleSet:
    """Return the rules of packs on demand. This loads the packages with their ops."""
    return RuleSet.of(*[import_module(name) for name in packs])


@cache
def equations() -> RuleSet:
    """Return the set of all shipped equations."""
    return RuleSet.of(*[import_module(name) for name in EQUATIONS])


@cache
def static() -> RuleSet:
    """Return the rules for linkers that have to know all lengths before a call."""
    return RuleSet.of(*[import_module(name) for name in STATIC])


@cache
def lowering() -> RuleSet:
    """Return the rules that make instructions of elementwise ops."""
    return RuleSet.of(*[import_module(name) for name in LOWERING])


@cache
def crossing() -> tuple[tuple[Fact, ...], Fact, Callable[..., Any]]:
    """Return the facts for the borders of inner graphs: the shipped facts about one value; lengths;
    whether errors of arguments are kept.
    """
    from rewrite_engine.facts import arrays, numbers
    from rewrite_engine.facts.failure import dropping

    def arguments_kept(fgraph: Any, node: Any, new: Any) -> Any:
        return dropping.all_stay(fgraph, node, node.inputs, new)

    shipped = [*vars(numbers).values(), *vars(arrays).values()]
    facts = [one for one in shipped if isinstance(one, Fact) and one.unary]
    return tuple(dict.fromkeys(facts)), arrays.length, arguments_kept


@cache_until_packs
def known_rules(query: Query | None = None, additions: tuple[Addition, ...] = ()) -> RuleSet:
    """Return the rules that a query chooses from: the shipped rules, those of installed packs that
    it does not exclude by name, and additions. Raises a `PackError` for a pack that cannot be
    loaded, `PatternError` for a rule without a phase, and `UnknownNameError` for one whose phase
    does not exist.
    """
    query = query or Query()
    rules = all_rules() + on_demand(wanted_packs())
    if "saturate" in query.include:
        rules += equations()
    if "static" in query.include:
        rules += static()
    if "lower" in query.include:
        rules += lowering()
    for pack in installed():
        if pack.names & query.exclude:
            continue
        try:
            rules += with_phases(pack.load())
        except (DuplicateRuleError, PatternError, UnknownNameError) as error:
            raise type(error)(f"{error}\n    in {pack}\n    {pack.hint}") from None
    rules += _registered
    for addition in additions:
        with_phases(addition.rules)
        rules = addition.to(rules)
    return rules


#: rules that every mode knows since they were registered
_registered = RuleSet()


def register(rule: Rule) -> None:
    """Make a rule known to every mode from now on, after all others. Raises `PatternError` for a
    rule without a phase, `UnknownNameError` for one whose phase does not exist,
    `DuplicateRuleError`.
    """
    global _registered
    _registered += with_phases(RuleSet(rule))
    for function in (known_rules, optimizer, stabiliser, mending):
        function.cache_clear()


class PlacedDriver(NamedTuple):
    """A driver that runs between the phases. before: the phase; None: after all. names: the names
    by which a query excludes it, or has to include it (`asked`).
    """

    driver: GraphRewriter
    before: str | None = None
    names: frozenset[str] = frozenset()
    asked: bool = False

    def wanted(self, query: Query) -> bool:
        """Return whether the driver runs for a query."""
        included = not self.asked or bool(query.include & self.names)
        return included and query.selects(self.names)


#: drivers that every mode knows since they were registered
_steps: tuple[PlacedDriver, ...] = ()


def register_step(step: PlacedDriver) -> None:
    """Make a driver known to every mode from now on. Raises `UnknownNameError` for a phase that
    does not exist.
    """
    global _steps
    check_place(step.before)
    _steps += (step,)
    optimizer.cache_clear()


def check_place(phase: str | None) -> None:
    """Raise `UnknownNameError` for a name that is no phase."""
    if phase is not None and phase not in NAMES:
        known = ", ".join(NAMES)
        raise UnknownNameError(f"there is no phase {phase!r}; the phases are {known}")


def in_order(drivers: Mapping[str, Any], steps: Sequence[PlacedDriver]) -> list[Any]:
    """Return the drivers of phases, with steps in their places."""
    if not steps:
        return [*drivers.values()]
    results: list[Any] = []
    for name in (*NAMES, None):
        results += [step.driver for step in steps if step.before == name]
        results += [drivers[name]] if name is not None and name in drivers else []
    return results


def with_phases(rules: RuleSet) -> RuleSet:
    """Return the rules, if each names a phase that exists; warn of probable mistakes."""
    for rule in rules:
        if rule.phase is None:
            raise rule.without_phase()
        if rule.phase not in NAMES:
            raise UnknownNameError(
                f"the rule {rule.name} ({source_line(*rule.where)}) belongs to the phase "
                f"{rule.phase!r}, which does not exist; the phases are {', '.join(NAMES)}"
            )
    warn_of(remarks(rules, TRIES))
    return rules


@cache_until_packs
def optimizer(
    query: Query | None = None,
    extra: RuleSet | tuple[Addition, ...] = (),
    budget: RunBudget | None = None,
    phases: tuple[str, ...] = NAMES,
    steps: tuple[PlacedDriver, ...] = (),
) -> SequentialOptimizer:
    """Return the phases, with the rules that a query selects (default: all that need no grant).

    extra: rules to use with the others. budget: of each phase. phases: those of the linker. steps:
    additional drivers to run. Raises `UnknownNameError` for an unknown name, `PatternError` for an
    extra rule whose phase is not requested, and the errors of `known_rules`.
    """
    query = query or Query()
    additions = (Addition(extra),) if isinstance(extra, RuleSet) else extra
    rules = known_rules(query, additions)
    own: frozenset[str] = frozenset().union(*(step.names for step in _steps))
    if query.mentioned - KNOWN - own - rules.names:
        query = hooks.in_our_names(query, rules)
    check_names(query, rules, own)
    for addition in additions:
        check_asked_for(query, addition.rules, phases)
    for name in phases:
        if name not in NAMES:
            known = ", ".join(NAMES)
            raise UnknownNameError(f"a linker requires the phase {name!r}; the phases are {known}")
    chosen = rules.query(query)
    wanted = [phase for phase in PHASES if phase.wanted(query, phases)]
    wanted = [phase for phase in wanted if not phase.if_any or phase.rules(chosen)]
    drivers: dict[str, Any] = {}
    for phase in wanted:
        part = drivers[phase.name] = phase.part(chosen, drivers)
        part.budget = budget or part.budget
    if "inner" in drivers:
        drivers["inner"].inside = [drivers[phase.name] for phase in wanted if phase.inside]
    steps = (*[step for step in _steps if step.wanted(query)], *steps)
    return Pipeline(in_order(drivers, steps), WHOLE)


class Pipeline(SequentialOptimizer):
    """The phases; with `config.check_phases`, each graph is checked against the normal forms of its
    phases.
    """

    def after(self, part: GraphRewriter, fgraph: FunctionGraph) -> None:
        if config.check_phases:
            parts = self.parts[: self.parts.index(part) + 1]
            hooks.check_legal(fgraph, [one.name for one in parts])


def phases_of(query: Query) -> SequentialOptimizer:
    """Return only the phases that a query includes ("fast_run": all), in their order. Other
    included names are grants.
    """
    phases = NAMES if query.include & EVERY else ()
    query = Query(query.include - EVERY, query.exclude, query.require)
    return optimizer(query, phases=tuple(phases))


@overload
def rewrite_graph(
    graph: V,
    include: Sequence[Any] = ("canonicalize",),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = True,
    exclude: Sequence[Any] = (),
) -> V: ...
@overload
def rewrite_graph(
    graph: Sequence[V],
    include: Sequence[Any] = ("canonicalize",),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = True,
    exclude: Sequence[Any] = (),
) -> list[V]: ...
def rewrite_graph(
    graph: Any,
    include: Sequence[Any] = ("canonicalize",),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = True,
    exclude: Sequence[Any] = (),
) -> Any:
    """Return a graph rewritten by phases of the pipeline, in terms of the same inputs.

    graph: a variable, or a list of variables, which stay unchanged; or a `FunctionGraph`, which is
    rewritten itself. include: phases ("fast_run": all), and grants ("fastmath"). exclude: rules to
    leave out, by name or tag. custom_rewrite: a driver that runs last. clone: False uses the nodes
    of the variables, and changes them. Raises `UnknownNameError`.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.vector("x")
    >>> rewrite_graph(pt.log(pt.exp(x)))
    x
    """
    fgraph = graph
    if not isinstance(graph, FrozenGraph):
        outputs = [graph] if isinstance(graph, Variable) else list(graph)
        fgraph = FunctionGraph(None, outputs, clone=clone)
    names, without = [[n] if isinstance(n, str) else n for n in (include, exclude)]
    phases_of(Query(labels(names)).excluding(*without)).rewrite(fgraph)
    if custom_rewrite is not None:
        custom_rewrite.rewrite(fgraph)
    if fgraph is graph:
        return graph
    return fgraph.outputs[0] if isinstance(graph, Variable) else list(fgraph.outputs)


@cache_until_packs
def stabiliser() -> GraphRewriter:
    """Return the driver for terms that will be differentiated: `gradient/stable.py`."""
    also = {BEFORE_GRADIENTS, MENDS_GRADIENTS}
    rules = [r for r in before_gradients() if r.phase == "stabilize" or not also.isdisjoint(r.tags)]
    return EquilibriumOptimizer(RuleSet(rules), "stable_form")


def before_gradients() -> list[Rule]:
    """Return the rules that may be used before a term is differentiated."""
    rules = (all_rules() + on_demand(wanted_packs()) + _registered).query(Query())
    return [r for r in rules if VALUES_ONLY not in r.tags]


@cache_until_packs
def mending() -> Callable[[Apply], bool]:
    """Return a function of a node: whether a rule may mend its slopes. Functions are asked, and of
    data rules the heads of operands decide, as terms are not in normal form yet.
    """
    rules = [r for r in before_gradients() if MENDS_GRADIENTS in r.tags]
    candidates = dispatch_of(tuple(rules)).candidates

    def may_mend(node: Apply) -> bool:
        for rule in candidates(node):
            if not isinstance(rule, NodeRewriter):
                return True
            if isinstance(rule.transform(None, node), Variable):
                return True
        return False

    return may_mend


def check_names(query: Query, rules: RuleSet, more: frozenset[str] = frozenset()) -> None:
    """Raise `UnknownNameError` for a query with an unknown name: a typing error would silently
    change nothing.
    """
    unknown = query.mentioned - KNOWN - more
    if not unknown or not (unknown := unknown - rules.names):
        return
    packs: frozenset[str] = frozenset().union(*(pack.names for pack in installed()))
    if not (unknown := unknown - packs - equations().names):
        return
    name = min(unknown)
    if name == WHOLE:
        raise UnknownNameError(f"{name!r} stands for all phases: choose among {', '.join(NAMES)}")
    hint = did_you_mean(name, rules.names | KNOWN | packs)
    raise UnknownNameError(f"no rule, pack, phase, tag or claim is called {name!r}{hint}")


def check_asked_for(query: Query, added: RuleSet, phases: Collection[str]) -> None:
    """Raise an error for added rules whose phase runs only on request, if the query does not
    include it: they would do nothing. (A query may exclude them.)
    """
    for name in [p.name for p in PHASES if p.on_request or p.name not in phases]:
        if name in query.include | query.exclude:
            continue
        for rule in added.phase(name):
            if query.selects(rule.names, None):
                why = f"belongs to the phase {name!r}, which runs only on request"
                how = f"use Mode(...).including({name!r}), or leave it out: excluding({name!r})"
                raise rule.error(PatternError, f"{why}:\n    {how}")
