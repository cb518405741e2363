"""PyTensor's rewriters with their own arguments, as rules and drivers of this library: rules
written as classes (PyTensor's `NodeRewriter`), and drivers that walk a graph with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Literal

from rewrite_engine.config import config
from rewrite_engine.errors import (
    MethodNotDefined,
    OptionError,
    TypeMismatchError,
    UnknownNameError,
    refuse_options,
)
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.match import decorate
from rewrite_engine.match.decorate import several
from rewrite_engine.match.outline import ROOTS
from rewrite_engine.match.relation import KanrenRelationSub
from rewrite_engine.match.rule import NodeRewriter as FunctionRewriter
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import Fixpoint, GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.result import Result
from rewrite_engine.rewrite.strategies import first, rules_in, seq, try_

__all__ = [
    "EquilibriumGraphRewriter",
    "RelationOfOthers",
    "ClassRewriter",
    "NodeProcessingGraphRewriter",
    "OpKeyGraphRewriter",
    "SequentialGraphRewriter",
    "SequentialNodeRewriter",
    "SubstitutionNodeRewriter",
    "WalkingGraphRewriter",
    "check_stack_trace",
    "copy_stack_trace",
    "node_rewriter",
]


# --- rules ----------------------------------------------------------------------------------------


class _AnyRule(type):
    """Metaclass of a class that counts every rule as its instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        own = cls.__dict__.get("every_rule", False)
        return isinstance(instance, Rule) if own else super().__instancecheck__(instance)


class LosingLengths(FunctionRewriter):
    """Rule whose results may have types with fewer known lengths than the term they replace. The
    lengths are restored.
    """

    @cached_property
    def apply(self) -> Any:
        found = super().apply
        return lambda fgraph, node: with_lengths(node, found(fgraph, node))

    def accept(self, old: Variable, new: Variable) -> bool:
        """Return whether the result fits, directly or with `specify_shape`."""
        try:
            old.type.filter_variable(new)
        except TypeMismatchError:
            return super().accept(old, new)
        return True


def with_lengths(node: Apply, found: Any) -> Any:
    """Return a rule's results with the known lengths of the node's outputs, if a program's own ops
    determine the types.
    """
    if not isinstance(found, list | tuple) or len(found) != len(node.outputs):
        return found
    return [narrowed(old, new) for old, new in zip(node.outputs, found, strict=True)]


def narrowed(old: Variable, new: Any) -> Any:
    """Return a variable with the lengths of another one, if a program's own op computes it."""
    owner = new.owner if isinstance(new, Variable) else None
    if owner is None or old.type.is_super(new.type) or len(owner.outputs) != 1:
        return new
    if type(owner.op).make_node.__module__.startswith("rewrite_engine."):
        return new
    try:
        wanted = old.type.filter_variable(new).type
    except TypeMismatchError:
        return new
    return Apply(owner.op, owner.inputs, [wanted()]).outputs[0]


def node_rewriter(tracks: Any = None, **options: Any) -> Callable[..., FunctionRewriter]:
    """Decorate a function as a node rewriter that may lose lengths; otherwise like
    `rewrite_engine.match.decorate.node_rewriter`.
    """
    made: Any = decorate.node_rewriter(tracks, **options)
    return partial(LosingLengths, **made.keywords)


class ClassRewriter(LosingLengths, metaclass=_AnyRule):
    """Rule written as a class. A subclass defines `transform(fgraph, node)`, which returns
    replacements for the node's outputs, as a list or {old: new}, or False; `tracks()`, the ops and
    classes of ops that it applies to (None: all); and optionally `add_requirements(fgraph)`, which
    is called before the first node of a graph.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.compat.rewriting import in2out, rewrite_graph
    >>> class DropExp(ClassRewriter):
    ...     def tracks(self):
    ...         return [pt.exp]
    ...     def transform(self, fgraph, node):
    ...         return [node.inputs[0]]
    >>> x = pt.vector("x")
    >>> rw.pp(rewrite_graph(pt.exp(pt.log(x)), (), custom_rewrite=in2out(DropExp())))
    'log(x)'
    """

    every_rule = True
    _numbers = count(2)

    def __init_subclass__(cls, **options: Any) -> None:
        super(FunctionRewriter, cls).__init_subclass__(**options)
        cls.every_rule = False
        cls._numbers = count(2)
        cls._first = True

    _first: bool = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Name a rule: rules differ by name, so further instances of a class get a number."""
        made = object.__new__(cls)
        FunctionRewriter.__init__(made, cls.transform)  # type: ignore[arg-type]
        vars(made).pop("tracks")
        title: str = cls.__name__  # type: ignore[assignment]
        made.short_name = title if cls._first else f"{title}_{next(cls._numbers)}"
        cls._first = False
        made.name = f"{made.pack}/{made.short_name}"
        made.text = f"node rewriter {title}"
        return made

    def __init__(self) -> None:
        """Accept no arguments; a subclass may define its own."""

    def tracks(self) -> Any:  # type: ignore[override]
        return None

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Do nothing, unless a subclass overrides it."""

    @cached_property
    def _tracked(self) -> Sequence[Any] | None:
        return several(self.tracks(), f"which {type(self).__name__}.tracks() returns")

    def roots(self) -> Sequence[Any] | None:
        return self._tracked

    @property
    def by_root(self) -> bool:
        return all([isinstance(root, ROOTS) for root in self._tracked or ()])

    @cached_property
    def apply(self) -> Any:
        if type(self).transform is Rule.transform:
            raise MethodNotDefined(f"{type(self).__name__} defines no transform(fgraph, node)")
        seen: list[Any] = []  # graphs whose requirements are there; the last one

        def apply(fgraph: Any, node: Apply) -> Any:
            if fgraph is not None and seen != [fgraph]:
                seen[:] = [fgraph]
                self.add_requirements(fgraph)
            found = self.transform(fgraph, node)
            if isinstance(found, dict):
                found = {old: new for old, new in found.items() if old != "remove"}
            return with_lengths(node, found)

        return apply

    def __call__(self, fgraph: Any, node: Apply) -> Any:
        return self.transform(fgraph, node)


def SequentialNodeRewriter(
    *rewriters: Any, apply_all_rewrites: bool = False, profile: bool = False
) -> Rule:
    """Return the rule that uses the first of several that applies at a node. apply_all_rewrites:
    pass the result of one rule to the next, until none applies.
    """
    parts = list(rules_in(rewriters))
    made: Rule = seq(*[try_(part) for part in parts]) if apply_all_rewrites else first(*parts)
    return made


def SubstitutionNodeRewriter(op1: Op, op2: Op, transfer_tags: bool = True) -> Rule:
    """Return the rule that replaces one op by another, applied to the same inputs."""

    def substitute(fgraph: FunctionGraph, node: Any) -> Any:
        return op2.make_node(*node.inputs).outputs

    return node_rewriter([op1])(substitute)


class RelationOfOthers(KanrenRelationSub):
    """Rule made of a miniKanren relation. results_filter: receives the iterator of all answers, as
    the relation returns them, and returns the one to use, a list of one for each output, or None.
    node_filter: as in `RelationRule`.
    """

    needs_reason = False

    def __init__(
        self,
        kanren_relation: Callable[[Any, Any], Any],
        results_filter: Any = None,
        node_filter: Callable[[Apply], bool] | None = None,
    ) -> None:
        super().__init__(kanren_relation, node_filter=node_filter)
        self.choose = results_filter

    def apply(self, fgraph: Any, node: Apply) -> Any:
        if self.choose is None or (self.node_filter is not None and not self.node_filter(node)):
            return super().apply(fgraph, node)
        chosen = self.choose(self.found(self.term(node)))
        return None if not chosen else self.result(node, chosen)

    def transform(self, fgraph: Any, node: Apply) -> Any:
        """Return replacements for a node's outputs, as a list, or False."""
        found = self.apply(fgraph, node)
        return False if found is None else found if isinstance(found, list) else [found]


# --- drivers --------------------------------------------------------------------------------------


def OpKeyGraphRewriter(node_rewriter: Rule, ignore_newtrees: bool = False, **unknown: Any) -> Any:
    """Return the driver that tries a rule at each node of the ops that it tracks. ignore_newtrees:
    skip nodes that the rule made.
    """
    _no_callback("OpKeyGraphRewriter", unknown)
    if ignore_newtrees:
        return WalkingOptimizer(rules_in([node_rewriter]), "in_to_out", "op_key")
    return EquilibriumOptimizer(rules_in([node_rewriter]), "op_key")


def _no_callback(what: str, options: dict[str, Any]) -> None:
    """Raise an error for a callback on failing rules, and for unknown options."""
    why = "a rule that fails is an error; config.on_rule_error='warn' continues after it"
    refuse_options(what, why, **options)


class NodeProcessingGraphRewriter(GraphRewriter):
    """Driver that tries rules at nodes. Its `failure_callback` may be `warn_ignore`, `warn` or
    `warn_inplace`: a rule that fails is skipped, silently or with a warning.
    """

    on_failure: str | None = None

    @staticmethod
    def warn_ignore(*failure: Any) -> None:
        """Ignore a rule that fails."""

    @staticmethod
    def warn(*failure: Any) -> None:
        """Warn of a rule that fails."""

    @staticmethod
    def warn_inplace(*failure: Any) -> None:
        """Warn of a rule that fails."""

    @classmethod
    def read_callback(cls, callback: Any) -> str | None:
        """Return the value of `config.on_rule_error` for a callback. Raises `OptionError` for
        others.
        """
        settings = {cls.warn_ignore: "ignore", cls.warn: "warn", cls.warn_inplace: "warn"}
        if callback is not None and callback not in settings:
            _no_callback(cls.__name__, {"failure_callback": callback})
        return settings.get(callback)


class WalkingGraphRewriter(NodeProcessingGraphRewriter):
    """Driver that tries rules at each node; by default inputs before outputs. ignore_newtrees: skip
    nodes that rules made. failure_callback: see `NodeProcessingGraphRewriter`.
    """

    def __init__(
        self,
        node_rewriter: Any,
        order: Literal["in_to_out", "out_to_in", "dfs"] = "in_to_out",
        ignore_newtrees: bool | str = False,
        failure_callback: Any = None,
        name: str = "walk",
    ) -> None:
        if isinstance(ignore_newtrees, str):  # (the third argument was the name)
            name, ignore_newtrees = ignore_newtrees, False
        super().__init__(name)
        self.on_failure = self.read_callback(failure_callback)
        if order not in ("in_to_out", "out_to_in", "dfs"):
            raise OptionError(f"order must be in_to_out, out_to_in or dfs, not {order!r}")
        self.node_rewriter, self.order, self.ignore_newtrees = node_rewriter, order, ignore_newtrees

    @cached_property
    def driver(self) -> GraphRewriter:
        """Driver of this library that does the work."""
        from rewrite_engine.compat.rewriting import in2out, out2in

        walk = in2out if self.order == "in_to_out" else out2in
        return walk(self.node_rewriter, name=self.name, ignore_newtrees=bool(self.ignore_newtrees))

    @property
    def rules(self) -> Iterable[Rule]:
        """Rules that it tries."""
        return rules_in([self.node_rewriter])

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        with config.change_flags(on_rule_error=self.on_failure or config.on_rule_error):
            self.driver.run(fgraph, result)


class EquilibriumGraphRewriter(EquilibriumOptimizer):
    """Driver that applies rules until none applies, like `EquilibriumOptimizer`. Rules may also be
    drivers, which run before the others, and again if something changed. max_use_ratio: how often
    each rule may fire for each initial node; the run stops at the limit and keeps its changes.
    final_rewriters, cleanup_rewriters: drivers that run after the others, and again if something
    changed.
    """

    def __init__(
        self,
        rewriters: Iterable[Any],
        max_use_ratio: float | None = None,
        name: Any = None,
        final_rewriters: Iterable[GraphRewriter] = (),
        cleanup_rewriters: Iterable[GraphRewriter] = (),
        **unknown: Any,
    ) -> None:
        _no_callback("EquilibriumGraphRewriter", unknown)
        given = list(rewriters)
        before = [one for one in given if isinstance(one, GraphRewriter)]
        super().__init__(
            rules_in([one for one in given if one not in before]), name or "equilibrium"
        )
        self.max_use_ratio = max_use_ratio
        self.others = before, [*(final_rewriters or ()), *(cleanup_rewriters or ())]

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        if self.max_use_ratio is not None:
            most = int(self.max_use_ratio * len(fgraph))
            self.budget = RunBudget(per_rule=most, on_budget="stop")
        before, after = self.others
        if not before and not after:
            return super().run(fgraph, result)
        rules = EquilibriumOptimizer(self.rules, self.name, budget=self.budget)
        whole = SequentialOptimizer([*before, rules, *after], self.name)
        return Fixpoint(whole).run(fgraph, result)


class SequentialGraphRewriter(SequentialOptimizer):
    """Driver that runs other drivers, passed one by one or as one list, like
    `SequentialOptimizer`.
    """

    def __init__(self, *rewrites: Any, name: str = "sequence", **unknown: Any) -> None:
        _no_callback("SequentialGraphRewriter", unknown)
        several = len(rewrites) == 1 and not isinstance(rewrites[0], GraphRewriter)
        super().__init__(rewrites[0] if several else rewrites, name)


# --- where nodes come from ------------------------------------------------------------------------


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """Return `to_var` unchanged: the replacement of a node has the same lines of origin in any
    case.
    """
    return to_var


def check_stack_trace(
    f_or_fgraph: Any, ops_to_check: Any = "last", bug_print: str = "raise"
) -> bool:
    """Return whether the lines of origin of nodes are known. ops_to_check: "last" (the nodes of the
    outputs), "all"; ops, classes of ops or of scalar ops, one or several; or a predicate on nodes.
    bug_print: what to do if there is no such node: "raise", "warn" or "ignore".
    """
    graph = f_or_fgraph if isinstance(f_or_fgraph, FrozenGraph) else f_or_fgraph.maker.fgraph
    nodes = list(_asked_for(graph, ops_to_check))
    if not nodes and bug_print != "ignore":
        what = "check_stack_trace: no node of the graph is among those to check"
        if bug_print == "raise":
            raise UnknownNameError(what)
        warnings.warn(what, stacklevel=2)
    return all([origin_line(node.origin) is not None for node in nodes])


def _asked_for(graph: FrozenGraph, which: Any) -> Iterator[Apply]:
    if isinstance(which, str):
        if which not in ("last", "all"):
            raise OptionError(f"ops_to_check must be last, all, ops or a predicate, not {which!r}")
        last = [v.owner for v in graph.outputs if v.owner is not None]
        yield from graph.toposort() if which == "all" else last
        return
    if isinstance(which, Op | type):
        which = (which,)
    for node in graph.toposort():
        if isinstance(which, list | tuple):
            ops = (node.op, getattr(node.op, "scalar_op", node.op))
            if any(op in which or isinstance(op, _classes(which)) for op in ops):
                yield node
        elif which(node):
            yield node


def _classes(which: Sequence[Any]) -> tuple[type, ...]:
    return tuple([one for one in which if isinstance(one, type)])
