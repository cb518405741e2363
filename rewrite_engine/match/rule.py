"""Rules as objects: the base of all rules, data rules, node rewriters, and rules made of rules.

A rule has a name, a phase, tags, a claim and a reason (its docstring), and `apply(fgraph, node)`:
the replacement for the node, or None. Sets of rules are in `match/ruleset.py`; `match/dispatch.py`
finds the rules to try.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from rewrite_engine import hooks
from rewrite_engine.errors import PatternError, RuleError, RuleTypeError, source_line
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import CONSTANT, Apply, Variable
from rewrite_engine.match.ac import all_constant
from rewrite_engine.match.build import Consumer, Keeps, consumer, keeping_errors
from rewrite_engine.match.claim import CLAIMS, Claim, exact, refines
from rewrite_engine.match.differences import levels, with_views
from rewrite_engine.match.emit import Function
from rewrite_engine.match.interpret import interpreted, matcher_for
from rewrite_engine.match.lower import Condition, Lowered, counted, lower
from rewrite_engine.match.missing import each_way
from rewrite_engine.match.mistakes import Mistakes, joined
from rewrite_engine.match.outline import (
    ROOTS,
    Outline,
    deepest,
    demands,
    head_of,
    interior,
    is_twice,
    may_be_op,
    may_match_operands,
    numbers_among,
    tracks,
)
from rewrite_engine.match.pattern import (
    Graph,
    Hole,
    OpClass,
    OpNode,
)
from rewrite_engine.match.renamed import warn_of_lost_matches
from rewrite_engine.match.sample import settled
from rewrite_engine.match.text import refuse_twice, rule_text
from rewrite_engine.terms.logic import LogicVariable

FEW_INPUTS = 3  # of a node, whose heads are part of the key of its candidates
#: the tag of a rule that regroups no sums and products of floats, though it does not claim `exact`
PAIRWISE = "pairwise"

#: where packs are whose left sides are what their ops build: a test sees to it, not each import
SHIPPED = "rewrite_engine.rules."

When = Callable[[Any, Sequence[Outline], bool], bool]
#: why overlaps with rules do not matter: with all in which it matches, or by the names of others
Overlaps = str | Mapping[str, str]
Result = Any  # a Variable, a list of them, {old: new}, or None / False


def pack_of(module: str, names: Mapping[str, Any]) -> str:
    """Return the pack of the rules in a module: the entry point of its distribution for it, or for
    a package around it; else its `__pack__`, or the last part of its name.
    """
    own = module == "__main__" or module.startswith("rewrite_engine.")
    entry = None if own else hooks.entry_of(module)
    return entry or names.get("__pack__") or module.rpartition(".")[2]


class AtMost(NamedTuple):
    """Limit on how often a rule can apply to a term and its successive results."""

    times: int


def at_most(times: int) -> AtMost:
    """State why a rule ends: it applies at most this often to a term and its successive results."""
    return AtMost(times)


class Rule:
    """Base class of all rules. `name` is `pack/function`, which is printed and can be excluded; for
    packs see `pack_of`.

    phase: where the default pipeline uses it. claim: its promise about values. tags: more names for
    queries (one or several). depth: how many levels below a node the rule reads; a change that deep
    makes the node be tried again. tracks: see `roots`. overlaps: why it may lead a term to another
    end than a rule whose left side it matches inside (inner terms come first); or, for each of
    several other rules, `{"other": "why"}`. ends: why it ends: a function of terms, whose number it
    makes smaller, or `at_most(n)`.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        phase: str | None = None,
        claim: Claim = refines,
        tags: Iterable[str] = (),
        overlaps: Overlaps = "",
        ends: Callable[[Variable], Any] | AtMost | None = None,
    ) -> None:
        inner = inspect.unwrap(fn)
        code, names = getattr(inner, "__code__", None), getattr(inner, "__globals__", {})
        if code is None or not hasattr(fn, "__name__"):
            raise PatternError(f"a rule needs a function with a name, not {fn!r}")
        self.fn = fn
        self.short_name: str = fn.__name__
        self.module: str = fn.__module__ or "__main__"  # None in a namespace without a name
        self.named(pack_of(self.module, names))
        self.where: tuple[str, int] = getattr(fn, "where", (code.co_filename, code.co_firstlineno))
        self.phase = phase
        self.claim = claim if isinstance(claim, Claim) else refines
        self.overlaps = overlaps
        self.ends = ends
        more = {tags} if isinstance(tags, str) else set(tags)
        self.tags = frozenset(more | self.claim.tags | ({phase} if phase else set()))
        mistakes = self.header_mistakes(claim, more, names.get(self.short_name))
        with mistakes:
            self.build()
        if mistakes.found:
            self.refuse(joined(mistakes.found))

    def header_mistakes(self, claim: Any, tags: Iterable[Any], before: Any) -> Mistakes:
        """Return what is wrong with a rule apart from its sides. before: what has had its name."""
        mistakes = Mistakes()
        with mistakes:
            if claim is not self.claim:
                raise RuleError(f"claims {claim!r}: {CLAIMS}")
        with mistakes:
            if not all(isinstance(tag, str) for tag in tags):
                raise PatternError(f"tags must be names, not {tags!r}")
        with mistakes:
            refuse_twice(self, before)
        with mistakes:
            asked = self.needs_reason or self.module.startswith(SHIPPED)
            if asked and not (self.fn.__doc__ or "").strip():
                raise PatternError("has no docstring: explain in one line why the rule exists")
        return mistakes

    def build(self) -> None:
        """Build what the rule consists of. Raises `RuleError`s without the name of the rule."""

    def refuse(self, error: RuleError) -> None:
        """Raise the mistakes of the rule, with its name and place."""
        raise self.error(type(error), error) from error.__cause__

    depth: int = 1
    overlaps: Overlaps = ""
    ends: Any = None
    tracks: Sequence[Any] | None = None
    text: str = ""
    #: whether a rule without a docstring is refused (shipped ones always are)
    needs_reason: bool = True

    @cached_property
    def doc(self) -> str:
        """Docstring of the rule."""
        return inspect.getdoc(self.fn) or ""

    def error(self, cls: type[RuleError], why: object) -> RuleError:
        """Return an error that starts with the rule's name and source position."""
        return cls(f"rule {self.name} ({source_line(*self.where)})\n    {why}")

    def named(self, pack: str) -> None:
        """Set the pack of the rule."""
        self.pack = pack
        self.name = f"{pack}/{self.short_name}"

    with_phase: str = '@rule(phase="canonicalize")'

    def without_phase(self) -> RuleError:
        """Return the error for a rule without a phase where only phases use rules."""
        return self.error(
            PatternError, f"belongs to no phase, so nothing uses it: write {self.with_phase}"
        )

    @property
    def needs_grant(self) -> str | None:
        """Assumption that the rule makes wherever it fires, so that the user must grant it; None if
        it assumes nothing, or only conditions that facts prove (`assuming`).
        """
        return self.claim.condition

    @property
    def promise(self) -> Claim:
        """Claim that holds wherever the rule fires: its claim, or the part of it for a proved
        assumption.
        """
        then = self.claim.then
        return self.claim if then is None or self.needs_grant is not None else then

    def under(self, granted: Container[str]) -> Rule:
        """Return the rule for a user who grants assumptions: guards that would prove them are not
        evaluated, and "shape_unsafe" lets errors be lost.
        """
        return self.unchecked if "shape_unsafe" in granted and self.keeps is not None else self

    #: whether no error of a node is lost if `new` takes its place (`facts/failure.py`)
    keeps: Keeps | None = None

    @cached_property
    def unchecked(self) -> Any:
        """Return the rule with permission to lose errors."""
        return self.copied(keeps=None)

    def copied(self, **changes: Any) -> Any:
        """Return a copy of the rule with other attributes."""
        rule, stale = copy(self), {"apply", "goal", "on_trust", "unchecked", *changes}
        rule.__dict__ = {k: v for k, v in vars(self).items() if k not in stale} | changes
        return rule

    @property
    def names(self) -> frozenset[str]:
        """Names by which a query can select this rule."""
        return self.tags | {self.name, self.short_name, self.pack, str(self.claim)}

    def roots(self) -> Sequence[Any] | None:
        """Ops and classes of ops at which this rule can apply; None: at any."""
        return self.tracks

    def considers(self, op: Any) -> bool:
        """Return whether the rule can apply at a node with this op."""
        return tracks(self.roots(), op)

    @property
    def by_root(self) -> bool:
        """True if it applies at all ops that the `roots` describe, so that `considers` need not be
        called.
        """
        return all([isinstance(root, ROOTS) for root in self.tracks or ()])

    #: whether the rule applies only to nodes with one output
    single: bool = False

    def fits(self, seen: Sequence[Outline]) -> bool:
        """Return whether inputs with these outlines may match (`outline.py`); maybe a false
        alarm.
        """
        return True

    def may_apply(self, op: Any, seen: Sequence[Outline], distinct: bool) -> bool:
        """Return whether the rule can apply at a node with this op, and inputs with these outlines;
        called once, like `fits`. distinct: there are two, and they are not the same.
        """
        return True

    #: whether a result whose type does not fit, but is of the right kind, only means that the rule
    #: does not apply: an implicit guard
    lenient: bool = False

    #: {level: what `fits` looks for there}; what has not all of it does not fit
    demands: dict[int, tuple[Any, ...]] = {}

    def numbers(self) -> Iterable[Any]:
        """Return the numbers that `fits` distinguishes, as operands of the root."""
        return ()

    #: {op that the rule reads below the root: its depth}
    interior: dict[Any, int] = {}

    @cached_property
    def apply(self) -> Function:
        """Function `apply(fgraph, node)`: returns the replacement for the node, or None. Made on
        first use.
        """
        raise NotImplementedError

    def transform(self, fgraph: Graph, node: Apply) -> Result:
        """Apply the rule to any node: like `apply`, and None for a node of another kind."""
        return self.apply(fgraph, node) if self.is_for(node) else None

    def is_for(self, node: Apply) -> bool:
        """Return whether a node is of the kind that the rule applies to."""
        return self.considers(node.op) and not (self.single and len(node.outputs) != 1)

    def accept(self, old: Variable, new: Variable) -> bool:
        """Return whether `new` may replace `old`: False if the rule simply does not apply. Raises
        `RuleTypeError` if the rule is wrong.
        """
        fits = old.type.yields_to if self.lenient else old.type.is_super
        if new.type is old.type or fits(new.type):
            return True
        if self.lenient and old.type.same_kind(new.type):
            return False
        what = f"{old!r} has type {old.type}, but its replacement {new!r} has {new.type}"
        raise self.error(RuleTypeError, f"changes the type: {what}")

    def __repr__(self) -> str:
        return f"{self.name}: {self.text}"

    def _repr_html_(self) -> str:
        """Return the notebook view of the rule: its sides, its claim and its reason."""
        return hooks.html_of_rule(self)  # type: ignore[no-any-return]


class DataRule(Rule):
    """Rule left → right, with guards, as data: `lowered` is the record of all that it says. The
    rest follows from that by functions of patterns (`outline.py`, `build.py`, `goal.py`).

    keeping: returns the `keeps` of a rule. options: the options of `Rule`: phase, claim, tags.
    """

    extends = True  # see `lower.extended`
    lenient = True

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        variable: type[LogicVariable] = LogicVariable,
        backward: bool = False,
        keeping: Callable[[DataRule], Keeps | None] = lambda rule: None,
        **options: Any,
    ) -> None:
        self.variable, self.keeping, self.is_backward = variable, keeping, backward
        super().__init__(fn, **options)

    def build(self) -> None:
        """Lower both sides and the guards."""
        claim, variable = self.claim, self.variable
        pairs = exact in (claim, claim.then) or PAIRWISE in self.tags
        worlds = None if self.module.startswith(SHIPPED) else variable.worlds()

        def lowering() -> Lowered:
            lowered = lower(self.fn, variable, pairs, self.is_backward)
            return settled(lowered, worlds, self.extends, self.is_backward)

        self.lowered = counted(lowering)
        if self.proves:
            if claim.then is None:
                why = '`assuming` needs a claim with an assumption: claim=assumes("fastmath")'
                raise PatternError(why)
            self.tags |= claim.then.tags
        #: levels of nests of sums and differences that the rule reads (`differences.views`)
        self.nests = levels(self.left)
        self.depth = deepest(self.left) + self.nests

    @property
    def left(self) -> OpNode:
        """Left side of the rule: an op on patterns."""
        return self.lowered.left

    @property
    def right(self) -> Any:
        """Right side: a pattern, `Compute`, or a tuple of patterns for all outputs."""
        return self.lowered.right

    @property
    def guards(self) -> tuple[Condition, ...]:
        """Guards, which must hold for the rule to apply."""
        return self.lowered.guards

    @property
    def proves(self) -> bool:
        """True if facts prove what it assumes, or the user grants it."""
        return any([g.assumed for g in self.guards])

    @cached_property
    def keeps(self) -> Keeps | None:
        return self.keeping(self)

    @property
    def needs_grant(self) -> str | None:
        return None if self.proves else self.claim.condition

    def under(self, granted: Container[str]) -> Rule:
        proves = self.claim.condition in granted and self.needs_grant is None
        return Rule.under(self.on_trust if proves else self, granted)

    @cached_property
    def on_trust(self) -> DataRule:
        """Rule without the guards that its assumption makes unnecessary."""

        def trusted(way: Lowered) -> Lowered:
            return way._replace(guards=tuple([g for g in way.guards if not g.assumed]))

        lowered = each_way(self.lowered, trusted)
        return self.copied(lowered=lowered, text=rule_text(lowered))  # type: ignore[no-any-return]

    @cached_property
    def text(self) -> str:
        """Rule on one line."""
        return rule_text(self.lowered)

    def _repr_latex_(self) -> str:
        """Return both sides in mathematical notation, for notebooks."""
        return f"${hooks.latex_of_rule(self)}$"

    def roots(self) -> Sequence[Any]:
        op = self.left.operator
        return [op, *op.undone_by] if self.nests else [op]

    @property
    def single(self) -> bool:  # type: ignore[override]
        return self.left.place is None

    def considers(self, op: Any) -> bool:
        return may_be_op(self.left, op) or bool(self.nests and op in self.roots())

    @property
    def by_root(self) -> bool:
        return not isinstance(self.left.op, OpClass)

    def fits(self, seen: Sequence[Outline]) -> bool:
        return bool(self.nests) or any(
            [may_match_operands(way.left, seen) for way in self.lowered.ways]
        )

    def may_apply(self, op: Any, seen: Sequence[Outline], distinct: bool) -> bool:
        return not (distinct and all([is_twice(way.left) for way in self.lowered.ways]))

    @cached_property
    def demands(self) -> dict[int, tuple[Any, ...]]:
        return {} if self.nests or self.lowered.others else demands(self.left)

    def numbers(self) -> Iterable[Any]:
        return chain.from_iterable([numbers_among(way.left.args) for way in self.lowered.ways])

    @cached_property
    def interior(self) -> dict[Any, int]:
        return interior(self.left, self.roots(), self.nests)

    @cached_property
    def apply(self) -> Function:
        needed = self.needs_grant
        name = self.name if needed is None else f"{self.name}, assuming {needed}"
        match = self.whole(matcher_for(self.lowered, name, self.text))
        return match if self.module.startswith(SHIPPED) else warn_of_lost_matches(self, match)

    def interpreted(self, fgraph: Graph, node: Apply) -> Any:
        """Return the result of `apply`, computed by the interpreter: slow, and the reference for
        it.
        """
        return self.whole(partial(interpreted, self.lowered))(fgraph, node)

    def whole(self, match: Function) -> Function:
        """Return a matcher that also tries `views`, and declines if errors would be lost."""
        return keeping_errors(with_views(self.left, self.lowered.exact, match), self.keeps)

    @cached_property
    def consumed(self) -> Consumer:
        """Function `consumed(node, was, rule)` that returns the origin of a node's replacement."""
        return consumer(self.left)

    @cached_property
    def goal(self) -> Callable[[Any, Any], Any]:
        """Rule as a miniKanren relation `goal(in_term, out_term)` over etuples, which defines its
        meaning.
        """
        from rewrite_engine.match.goal import rule_goal

        return rule_goal(self)

    def accept(self, old: Variable, new: Variable) -> bool:
        """Return whether `new` may replace `old`. A variable, and a right side that drops operands
        which widened the type, also apply only if the type fits.
        """
        if new.type is old.type:
            return True
        right = self.right[old.index or 0] if isinstance(self.right, tuple) else self.right
        if isinstance(right, Hole) or (old.type.widens(new.type) and self.lowered.drops):
            return bool(old.type.yields_to(new.type))
        return super().accept(old, new)


class RuleOfRules(Rule):
    """Rule made of rules, which determine where it may act."""

    #: the rules that may act at the node itself, first
    leading: Any

    def roots(self) -> Sequence[Any] | None:
        results = [part.roots() for part in self.leading]
        return None if None in results else [*chain(*results)]

    def considers(self, op: Any) -> bool:
        return any(p.considers(op) for p in self.leading)

    by_root = False

    @cached_property
    def single(self) -> bool:
        return all(p.single for p in self.leading)

    def fits(self, seen: Sequence[Outline]) -> bool:
        return any(p.fits(seen) for p in self.leading)

    @property
    def demands(self) -> dict[int, tuple[Any, ...]]:  # type: ignore[override]
        return self.leading[0].demands if len(self.leading) == 1 else {}

    @property
    def interior(self) -> dict[Any, int]:  # type: ignore[override]
        results: dict[Any, int] = {}
        for part in self.leading:
            inside = part.interior
            if not inside and part.depth > 1:
                return {}  # it reads any op
            for op, depth in inside.items():
                results[op] = max(depth, results.get(op, 0))
        return results


def may_fire(when: When, node: Apply) -> bool:
    """Return whether a rule may fire by the heads of a node's inputs, where dispatch did not look:
    it reads the first few only.
    """
    if len(node.inputs) <= FEW_INPUTS or node.op.associative:
        return True
    return when(node.op, [v.head for v in node.inputs], True)


class NodeRewriter(Rule):
    """Rule made of a function `(fgraph, node)` that returns replacements for the node's outputs, or
    None.

    tracks: the ops, classes of ops, or predicates on ops it applies to; None: all. depth: how many
    levels below the node it reads. constant_inputs: it is only tried if all inputs are constants.
    when: decides from an op, the heads of its inputs, and whether these are two distinct ones,
    whether to try the rule; called once for all such nodes. keeps: decides from the graph, the node
    and its replacement whether no error is lost. options: the options of `Rule`: phase, claim,
    tags.
    """

    with_phase = '@node_rewriter(phase="canonicalize")'
    needs_reason = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "transform" in vars(cls):
            what = f"{cls.__name__}: a rule needs a function, not a class with `transform`"
            raise PatternError(f"{what}: write @node_rewriter([op, ...])")

    def __init__(
        self,
        fn: Callable[[Any, Apply], Any],
        *,
        tracks: Sequence[Any] | None = None,
        depth: int = 1,
        constant_inputs: bool = False,
        when: When | None = None,
        keeps: Keeps | None = None,
        **options: Any,
    ) -> None:
        super().__init__(fn, **options)
        self.when, self.keeps = when, keeps
        self.tracks = None if tracks is None else tuple(tracks)
        self.depth = depth
        self.constant_inputs = constant_inputs
        names = [str(getattr(root, "__name__", root)) for root in self.tracks or ("any op",)]
        self.text = f"node rewriter on {', '.join(names)}"

    def may_apply(self, op: Any, seen: Sequence[Outline], distinct: bool) -> bool:
        if self.constant_inputs and any(head_of(s) is not CONSTANT for s in seen):
            return False
        return self.when is None or self.when(op, seen, distinct)

    @cached_property
    def apply(self) -> Function:
        fn, when = self.fn, self.when
        if self.constant_inputs:  # (dispatch reads the first few inputs only)
            fn = lambda fgraph, node: self.fn(fgraph, node) if all_constant(node) else None
        elif when is not None:
            fn = lambda fgraph, node: self.fn(fgraph, node) if may_fire(when, node) else None
        return keeping_errors(fn, self.keeps)

    def __call__(self, fgraph: Graph, node: Apply) -> Any:
        """Call the rule's function on a node."""
        return self.fn(fgraph, node)

    @property
    def __name__(self) -> str:
        """Name of the function."""
        return self.short_name
