"""Interfaces of other libraries to rules: `optdb`, `in2out`, `out2in`, and `PatternNodeRewriter`,
which makes a data rule. (Rules themselves are written as in `docs/writing_rules.md`;
`rewrite_graph` is in `pipeline/phases.py`.)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import Parameter, Signature
from math import inf
from types import FunctionType
from typing import Any

from rewrite_engine.compat import extras, is_missing
from rewrite_engine.compat.unify import (
    Asterisk,
    OpPattern,
    convert_strs_to_vars,
    match_pattern,
    reify_pattern,
)
from rewrite_engine.errors import (
    OptionError,
    PatternError,
    UnboundVariableError,
    UnknownNameError,
    refuse_options,
)
from rewrite_engine.graph.op import Op, one_output
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.language import rule
from rewrite_engine.match.claim import Claim, assumes, refines
from rewrite_engine.match.decorate import node_rewriter as node_rewriter
from rewrite_engine.match.decorate import several
from rewrite_engine.match.differences import levels
from rewrite_engine.match.find import finder_for
from rewrite_engine.match.outline import deepest
from rewrite_engine.match.query import Query, labels
from rewrite_engine.match.rule import NodeRewriter, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline import phases
from rewrite_engine.pipeline.phases import PlacedDriver, register_step
from rewrite_engine.pipeline.phases import rewrite_graph as rewrite_graph
from rewrite_engine.rewrite.driver import GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.driver import graph_rewriter as graph_rewriter
from rewrite_engine.rewrite.equilibrium import (
    EquilibriumOptimizer,
    OutermostOptimizer,
    WalkingOptimizer,
)
from rewrite_engine.rewrite.strategies import rules_in
from rewrite_engine.tensor.product.dots import Dot
from rewrite_engine.tensor.reduce import Max, Min
from rewrite_engine.terms.logic import LogicVariable


class PipelineDatabase:
    """The pipeline as a database: `optdb.query("+canonicalize", "-inplace")`."""

    def query(self, *tags: Any, include: Any = (), exclude: Any = (), require: Any = ()) -> Any:
        """Return the driver of the included phases ("fast_run": all), in their order.

        tags: one `Query`; or names with a sign: + to include, - to exclude, & to require. Other
        included names are grants. "+canonicalize" alone leaves ops that PyTensor has. Raises
        `UnknownNameError`.
        """
        query = read_query(*tags, include=include, exclude=exclude, require=require)
        if query.include == {"lower_xtensor"}:  # a phase of its own there
            from rewrite_engine.xtensor.lowering import RULES

            return EquilibriumOptimizer(RULES, "lower_xtensor")
        driver = phases.phases_of(query)
        if [part.name for part in driver.parts] == ["canonicalize"]:
            return SequentialOptimizer(
                [*driver.parts, in2out(RuleSet([min_by_max, matmul]))], driver.name
            )
        return driver

    def register(
        self, name: str, rewriter: Any, *tags: str, position: float | str = "last", **unknown: Any
    ) -> None:
        """Let every mode run a driver, or a rule once at each node, from now on, before the phase
        at this position of PyTensor's. Tags as in PyTensor: without "fast_run" and "fast_compile"
        only modes that include its name or a tag run it. Raises `OptionError`.
        """
        refuse_options("register", "a mode has names, tags and positions", **unknown)
        always = "fast_run" in tags or "fast_compile" in tags
        names = {name, *tags} - {"fast_run", "fast_compile"}
        names |= set() if "fast_compile" in tags else {"specialize"}  # (what that mode leaves out)
        driver = as_driver(rewriter, name)
        register_step(PlacedDriver(driver, phase_at(position), frozenset(names), not always))

    def __getitem__(self, name: str) -> PhaseDatabase:
        """Return the database of a phase, to register rules in. Raises `UnknownNameError`."""
        return PhaseDatabase(name)

    def __contains__(self, name: str) -> bool:
        """Return whether a phase, or a rule, has the name."""
        return name in phases.KNOWN | phases.all_rules().names

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the phases."""
        return iter(phases.NAMES)

    @property
    def rules(self) -> RuleSet:
        """Set of every shipped rule."""
        return phases.all_rules()


#: {phase: its position in PyTensor's database}
POSITIONS = {
    "merge": 0, "inner": 0.2, "canonicalize": 1, "loops": 1.1, "stabilize": 1.5, "specialize": 2,
    "factorize": 2.5, "inplace": 49.5,
}  # fmt: skip


def phase_at(position: float | str) -> str | None:
    """Return the first phase at or after a position of PyTensor's; None: after all. Raises
    `OptionError`.
    """
    ends = {"first": -inf, "last": inf}
    if position not in ends and not isinstance(position, int | float):
        raise OptionError(f"a position must be a number, 'first' or 'last', not {position!r}")
    position = float(ends.get(position, position))  # type: ignore[arg-type]
    return next((name for name, at in POSITIONS.items() if at >= position), None)


def as_driver(rewriter: Any, name: str | None = None) -> GraphRewriter:
    """Convert to a driver: a rule is tried at each node, and a database runs everything."""
    if isinstance(rewriter, Rule | RuleSet):
        return in2out(rewriter, name=name)
    return rewriter.default_query if hasattr(rewriter, "default_query") else rewriter


@node_rewriter([Min], claim=assumes("no_overflow"))
def min_by_max(fgraph: Any, node: Any) -> Any:
    """Replace a minimum by the negated maximum of the negatives."""
    (x,) = node.inputs
    return [-Max(node.op.axis)(-x)] if x.type.kind in "fi" else None


@node_rewriter([Dot])
def matmul(fgraph: Any, node: Any) -> Any:
    """Write a product of matrices, or of a matrix and a vector, with PyTensor's op."""
    a, b = node.inputs
    if a.type.ndim + b.type.ndim < 3:
        return None
    wide = (
        a if a.type.ndim == 2 else a.dimshuffle("x", 0),
        b if b.type.ndim == 2 else b.dimshuffle(0, "x"),
    )
    product = extras._matmul(*wide)
    kept = [axis for axis, x in enumerate((a, b)) if x.type.ndim == 2]
    return [product if len(kept) == 2 else product.dimshuffle(*kept)]


class PhaseDatabase:
    """Rules of a phase, to which programs add: `optdb["canonicalize"].register(name, rule)`."""

    def __init__(self, phase: str) -> None:
        if phase not in phases.NAMES:
            known = ", ".join(phases.NAMES)
            raise UnknownNameError(f"there is no phase {phase!r}; the phases are {known}")
        self.phase = phase

    def register(
        self, name: str, rule: Any, *tags: str, use_db_name_as_tag: bool = True, **unknown: Any
    ) -> None:
        """Let the phase use a rule from now on, in every mode; a driver runs before its rules.
        use_db_name_as_tag: False restricts it to modes that include its name (or a tag). Raises
        `OptionError`.
        """
        why = "rules are tried in the order in which they are registered"
        refuse_options("register", why, **unknown)
        if not isinstance(rule, Rule):
            names = frozenset({name, *tags} - {"fast_run", "fast_compile"})
            register_step(PlacedDriver(as_driver(rule), self.phase, names, not use_db_name_as_tag))
            return
        claim = rule.claim if use_db_name_as_tag else assumes(name)
        tags = (*rule.tags, *claim.tags, *tags, self.phase, name)
        phases.register(rule.copied(phase=self.phase, claim=claim, tags=frozenset(tags)))


def read_query(*tags: Any, include: Any = (), exclude: Any = (), require: Any = ()) -> Query:
    """Return the query for arguments: one `Query`; or names with a sign, + to include, - to
    exclude, & to require. Raises `ValueError`.
    """
    if tags and isinstance(tags[0], Query):
        (query,) = tags
        return query  # type: ignore[no-any-return]
    signed = {s: [t[1:] for t in tags if t[0] == s] for s in "+-&"}
    if sum(map(len, signed.values())) < len(tags):
        raise ValueError(f"a tag must start with +, - or &: {tags}")
    query = Query(include=labels([*signed["+"], *_several(include)]))
    query = query.excluding(*signed["-"], *_several(exclude))
    return query.requiring(*signed["&"], *_several(require))


def _several(names: Any) -> Sequence[Any]:
    return [names] if isinstance(names, str) else names


optdb = PipelineDatabase()


def missing_rule(rules: Iterable[Any]) -> Any:
    """Return the first of some rules that rewrite_engine lacks, or None."""
    return next((rule for rule in rules if is_missing(rule)), None)


def in2out(*rules: Any, name: str | None = None, ignore_newtrees: bool = False) -> GraphRewriter:
    """Return a driver that tries rules at each node, inputs first, and continues with the results,
    until none applies; ignore_newtrees: once at each node. For a missing rule, return the rule,
    which fails when it is used.
    """
    if lost := missing_rule(rules):
        return lost
    if not ignore_newtrees:
        return EquilibriumOptimizer(rules_in(rules), name or "in_to_out")
    return WalkingOptimizer(rules_in(rules), "in_to_out", name or "in_to_out")


def out2in(*rules: Any, name: str | None = None, ignore_newtrees: bool = False) -> GraphRewriter:
    """Return a driver that tries rules at each node, outputs first, and continues with the results,
    until none applies; ignore_newtrees: once at each node. For a missing rule, return the rule,
    which fails when it is used.
    """
    if lost := missing_rule(rules):
        return lost
    if not ignore_newtrees:
        return OutermostOptimizer(rules_in(rules), name or "out_to_in")
    return WalkingOptimizer(rules_in(rules), "out_to_in", name or "out_to_in")


def PatternNodeRewriter(
    in_pattern: Any,
    out_pattern: Any,
    allow_multiple_clients: bool = True,
    name: str | None = None,
    tracks: Sequence[Any] = (),
    get_nodes: Any = None,
    values_eq_approx: Any = None,
    allow_cast: bool = True,
    *,
    phase: str | None = None,
    claim: Claim = refines,
    **options: Any,
) -> Rule:
    """Return the data rule that replaces one pattern by another.

    A pattern is `(op, pattern, …)`, a name for a variable, a number, a constant, or {"pattern":
    name, "constraint": predicate on variables}. An op with an unknown number of outputs is assumed
    to have one. With an `OpPattern` or an `Asterisk`, the rule is a node rewriter that uses
    `match_pattern`. out_pattern may also be a function `(fgraph, node, found)`, which receives the
    values of the names and returns the replacement, or None; the rule is then a node rewriter. It
    is one with allow_multiple_clients=False, too: it fires only if nothing else uses the variables
    between the node and the values of the names. phase, claim: as in `rule`. tracks, get_nodes
    (where to try first), values_eq_approx, allow_cast: have no effect, because rules are indexed by
    their patterns, checked by their claims, and keep dtypes. Raises `PatternError` for an invalid
    pattern, `UnboundVariableError`, `OptionError`.

    >>> import rewrite_engine.tensor as pt
    >>> PatternNodeRewriter((pt.log, (pt.exp, "x")), "x").text
    'log(exp(x)) -> x'
    """
    why = "rules are indexed by their patterns"
    refuse_options("PatternNodeRewriter", why, **options)
    if not isinstance(in_pattern, tuple):
        raise PatternError(f"the pattern to replace must be (op, …), not {in_pattern!r}")
    if _has_objects(in_pattern):
        frame, title = sys._getframe(1), name or _text(in_pattern)
        rest = (allow_multiple_clients, frame, title)
        return _matching(in_pattern, out_pattern, *rest, phase=phase, claim=claim)
    sorts = _variables(in_pattern)
    left, title = lambda **names: _built(in_pattern, names), name or _text(in_pattern)
    frame, kind = sys._getframe(1), Parameter.POSITIONAL_OR_KEYWORD
    parameters = [Parameter(_identifier(v), kind, annotation=sort) for v, sort in sorts.items()]
    make = out_pattern if callable(out_pattern) else None
    if make is None and (unbound := sorted(_variables(out_pattern).keys() - sorts.keys())):
        raise UnboundVariableError(f"{unbound[0]!r} is not in the pattern {_text(in_pattern)}")
    if not allow_multiple_clients:
        make = _where_alone(make or partial(_put_in, out_pattern))
    if make is not None:
        fn = _written_at(frame, left, title, parameters)
        return _by_function(fn, make, sorts, frame, phase=phase, claim=claim)
    both = lambda **names: _built(in_pattern, names) >> _built(out_pattern, names)
    fn = _written_at(frame, both, title, parameters)
    fn.__doc__ = f"{_text(in_pattern)} becomes {_text(out_pattern)}."
    return rule(phase=phase, claim=claim)(fn)


def _by_function(
    left: FunctionType, make: Callable[..., Any], names: Iterable[str], frame: Any, **options: Any
) -> NodeRewriter:
    """Return the rule whose replacement is a function of the first match of a left side."""
    finder, keys = finder_for(left, LogicVariable), [(v, _identifier(v)) for v in names]

    def apply(fgraph: Any, node: Any) -> Any:
        for found in finder.first(node, fgraph):
            return make(fgraph, node, {name: found[key] for name, key in keys})
        return None

    fn = _written_at(frame, apply, left.__name__)
    depth = deepest(finder.left) + levels(finder.left)
    return NodeRewriter(fn, tracks=[finder.left.op], depth=depth, **options)


def _has_objects(pattern: Any) -> bool:
    """Return whether a pattern has parts that only `match_pattern` knows."""
    stack = [pattern]
    while stack:
        part = stack.pop()
        if isinstance(part, OpPattern | Asterisk):
            return True
        stack += part if isinstance(part, tuple) else ()
    return False


def _matching(
    in_pattern: Any, out_pattern: Any, many: bool, frame: Any, name: str, **options: Any
) -> NodeRewriter:
    """Return the rule that matches a pattern as it is written, and inserts the term that another
    describes.
    """
    variables: dict[str, Any] = {}
    left = convert_strs_to_vars(in_pattern, variables)
    right = None if callable(out_pattern) else convert_strs_to_vars(out_pattern, variables)

    def make(fgraph: Any, node: Any, found: dict[str, Any]) -> Any:
        if right is None:
            return out_pattern(fgraph, node, found)
        return reify_pattern(right, {v: found[t] for t, v in variables.items() if t in found})

    make, match = make if many else _where_alone(make), match_pattern

    def apply(fgraph: Any, node: Any) -> Any:
        found = match(left, node) if len(node.outputs) == 1 else None
        return found and make(fgraph, node, {v.token: value for v, value in found.items()})

    fn = _written_at(frame, apply, name)
    head = left.op_match
    roots = several([head] if not isinstance(head, OpPattern) else [head.match_op], "")
    return NodeRewriter(fn, tracks=roots, depth=_depth(in_pattern), **options)


def _depth(pattern: Any) -> int:
    """Return how many levels of ops a pattern has."""
    levels, part = 0, [pattern]
    while part := [p for p in part if isinstance(p, tuple)]:
        levels, part = levels + 1, [p for whole in part for p in whole[1:]]
    return levels


def _where_alone(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns None if something else uses a variable between a node and the
    matched variables below it.
    """

    def made(fgraph: Any, node: Any, found: dict[str, Any]) -> Any:
        ends = {v for x in found.values() for v in (x if isinstance(x, tuple) else (x,))}
        between = [v for v in ancestors(node.inputs, ends) if v not in ends and v.owner]
        alone = all(len(fgraph.get_clients(v)) == 1 for v in between)
        return make(fgraph, node, found) if alone else None

    return made


def _identifier(name: str) -> str:
    """Return a parameter name for a variable of a pattern, which may be called "1"."""
    return name if name.isidentifier() else "_" + re.sub(r"\W", "_", name)


def _written_at(
    frame: Any, fn: Callable[..., Any], name: str, parameters: Sequence[Parameter] | None = None
) -> FunctionType:
    """Return the function as if it were written where a frame is, with these parameters: messages
    show that line.
    """
    code, cells = fn.__code__, fn.__closure__  # type: ignore[attr-defined]
    code = code.replace(co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno)
    made = FunctionType(code, frame.f_globals | {"_built": _built}, name, None, cells)
    if parameters is not None:
        made.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return made


def _variables(pattern: Any) -> dict[str, Any]:
    """Return the variables of a pattern, each with its constraint (`Any` for none)."""
    found: dict[str, Any] = {}
    stack = [pattern]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack += part[:0:-1]
        elif isinstance(part, str):
            found.setdefault(part, Any)
        elif isinstance(part, dict):
            if not isinstance(part.get("pattern"), str):
                raise PatternError(f"a constraint belongs to a variable, not to {part!r}")
            found[part["pattern"]] = part["constraint"]
        elif callable(part):
            raise PatternError(f"{part!r} is not a pattern: write a @node_rewriter")
    return found


def _built(pattern: Any, variables: dict[str, Any]) -> Any:
    """Build a pattern with its variables."""
    if isinstance(pattern, tuple):
        op, *operands = pattern
        if isinstance(op, Op):
            one_output(op)
        return op(*[_built(part, variables) for part in operands])
    if isinstance(pattern, dict):
        pattern = pattern["pattern"]
    return variables[_identifier(pattern)] if isinstance(pattern, str) else pattern


def _put_in(pattern: Any, fgraph: Any, node: Any, found: dict[str, Any]) -> Any:
    """Build a pattern with the values of its names."""
    return _built(pattern, {_identifier(name): value for name, value in found.items()})


def _text(pattern: Any) -> str:
    if isinstance(pattern, tuple):
        return f"{pattern[0]}({', '.join(map(_text, pattern[1:]))})"
    return str(pattern["pattern"] if isinstance(pattern, dict) else pattern)
