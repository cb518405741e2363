"""Right sides of rules: built step by step by the interpreter (`instantiate`), and written as
source for compiled matchers (`write_right`); also the nodes that a firing consumes (`consumer`),
for the origin of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import SeveralOutputsError
from rewrite_engine.graph.node import Apply, Variable, build_variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import Origin, plainly
from rewrite_engine.match.ac import (
    EXTRA,
    apply_weak,
    is_ac,
    is_associative,
    put_back,
)
from rewrite_engine.match.lower import Compute, Condition, askable
from rewrite_engine.match.pattern import ALL, Graph, Hole, Literal, OpClass, OpNode, subpatterns

if TYPE_CHECKING:
    from rewrite_engine.match.emit import Function, RuleEmitter

UNDECLARED = "{0} has {1} outputs, but {2} does not declare them: give it `output_names` or `nout`"

Bindings = dict[str, Any]  # what stands for the variables of a rule: a term, or a tuple for a rest
Consumer = Callable[[Apply, Origin | None, Any], Origin | None]
Keeps = Callable[[Graph, Apply, Any], Any]  # of a graph, a node, and what may take its place


def guards_hold(guards: Sequence[Condition], bound: Bindings, fgraph: Graph = None) -> bool:
    """Return whether all guards hold whose variables are bound."""
    return all(ask(guard, bound, fgraph) for _, guard in askable(guards, bound))


def ask(guard: Condition, bound: Bindings, fgraph: Graph = None) -> Any:
    """Evaluate a guard on bindings: the result is true, or a reason that is false."""
    values = [bound[a.name] if isinstance(a, Hole) else a for a in guard.args]
    return guard.fn(*values) if guard.fact is None else guard.fact.ask(fgraph, *values)


def instantiate(right: Any, bound: Bindings, node: Any, index: int | None = None) -> Any:
    """Build the term of a right side, or one for each output; None if a computed one declines; the
    bindings if there is no right side. node: the node that matched, None for a term that no node
    computes. index: the output that it replaces.
    """
    if right is None:
        return bound
    if isinstance(right, Compute):
        term = right.fn(*[bound[n] for n in right.names])
        term = complete(term) if index == ALL else term
    elif isinstance(right, tuple):
        term = complete([instantiate(p, bound, node, i) for i, p in enumerate(right)])
    else:
        term = as_term(node, build(right, bound), index)
    extra = bound.get(EXTRA, ())
    return put_back(node.op, term, extra) if extra else term


def build(
    pattern: Any, bound: Bindings, applied: Callable[[OpNode, Any, list[Any]], Any] | None = None
) -> Any:
    """Build the term of a pattern whose holes are all bound. applied: builds the term of an op in
    it applied to operands.
    """
    if isinstance(pattern, Hole):
        return bound[pattern.name]
    if isinstance(pattern, Literal):
        return pattern.operand
    args: list[Any] = []
    for a in pattern.args:
        value = build(a, bound, applied)
        args.extend(value) if isinstance(a, Hole) and a.rest else args.append(value)
    op = pattern.op
    if isinstance(op, OpClass):
        op = op.cls(**{n: bound[p.name] if isinstance(p, Hole) else p for n, p in op.props})
    if applied is not None:
        return applied(pattern, op, args)
    new = apply_weak(op, args)
    if isinstance(new, list | tuple) and pattern.index is None:
        raise SeveralOutputsError(UNDECLARED.format(op, len(new), type(op).__name__))
    return output_of(new, pattern.index)


def apply_op(op: Any, inputs: tuple[Any, ...]) -> Any:
    """Build a node of a type-driven op on variables (no conversion of inputs, no provenance)."""
    types = (inputs[0].type,) if len(inputs) == 1 else tuple([v.type for v in inputs])
    try:
        (out_type,) = op._memo[types]
    except (AttributeError, KeyError):
        (out_type,) = op.output_types(types)
    return build_variable(op, inputs, out_type)


def output_of(made: Any, index: int | None) -> Any:
    """Return one output, or all, of an op's result (see `OpNode.index`)."""
    if index is None:
        return made
    outputs: Any = made.owner.outputs if isinstance(made, Variable) else made  # type: ignore
    return tuple(outputs) if index == ALL else outputs[index]


def proposed(node: Apply, place: int | None, new: Any) -> Any:
    """Return a rule's proposal for a node: a term for one of its outputs (None: it stays), or for
    all.
    """
    if new is None or place is None or place == ALL or len(node.outputs) == 1:
        return new
    return tuple([new if i == place else None for i in range(len(node.outputs))])


def complete(terms: Any) -> Any:
    """Return the terms for all outputs as a tuple; None if one is missing."""
    if not isinstance(terms, tuple | list):
        return terms
    return None if any([v is None for v in terms]) else tuple(terms)


def as_term(node: Apply, value: Any, index: int | None = None) -> Any:
    """Return the result of a right side; a number becomes a constant of the replaced type, if there
    is one.
    """
    if isinstance(value, (Variable, tuple)):
        return value
    type_ = node.outputs[index or 0].type
    return None if type_.ndim else type_.make_constant(value)


# --- as source -----------------------------------------------------------------------------------


def write_right(to: RuleEmitter) -> None:
    """Write code that builds and returns the right side of a rule; the bindings if it has none."""
    left, right = to.rule.left, to.rule.right
    if right is None:
        pairs = [f"{name!r}: {v}" for name, v in to.bound.items() if isinstance(name, str)]
        to.line(f"return {{{', '.join(pairs)}}}")
        return
    if isinstance(right, Compute):
        args = ", ".join(to.bound[n] for n in right.names)
        result = f"{to.constant(right.fn, 'compute')}({args})"
        if left.index == ALL:
            result = f"{to.constant(complete)}({result})"
    elif isinstance(right, tuple):
        terms = "".join(f"{term_source(to, p, i)}, " for i, p in enumerate(right))
        result = f"{to.constant(complete)}(({terms}))"
    else:
        result = term_source(to, right, left.place)
    if left.place not in (None, ALL):
        result = f"{to.constant(proposed)}(node, {left.place}, {result})"
    if EXTRA in to.bound:
        result = f"{to.constant(put_back)}({to.constant(left.op)}, {result}, {to.bound[EXTRA]})"
    if isinstance(right, Hole | OpNode):
        to.line(f"return {result}")
        return
    to.line(f"r = {result}")
    to.line("if r is not None:")
    to.line("    return r")


def term_source(to: RuleEmitter, right: Any, index: int | None) -> str:
    """Return an expression that builds the replacement of an output."""
    source = build_source(to, right)
    weak = isinstance(right, Literal) or needs_weak(right)
    return f"{to.constant(as_term)}(node, {source}, {index})" if weak else source


def build_source(to: RuleEmitter, pattern: Any, one: bool = True) -> str:
    """Return an expression that builds the term. one: of an op with one output."""
    if isinstance(pattern, OpNode) and pattern.index is not None:
        source = build_source(to, pattern.output(None), one=False)
        return f"{to.constant(output_of)}({source}, {pattern.index})"
    if isinstance(pattern, Hole):
        return f"*{to.bound[pattern.name]}" if pattern.rest else to.bound[pattern.name]
    if isinstance(pattern, Literal):
        return to.constant(pattern.operand)
    args = [build_source(to, a) for a in pattern.args]
    if isinstance(pattern.op, OpClass):
        props = [
            f"{n}={to.bound[p.name] if isinstance(p, Hole) else to.constant(p)}"
            for n, p in pattern.op.props
        ]
        op = f"{to.constant(pattern.op.cls)}({', '.join(props)})"
        return f"{op}({', '.join(args)})"
    op = to.constant(pattern.op)
    if needs_weak(pattern):
        return f"{to.constant(apply_weak)}({op}, ({', '.join(args)},))"
    make_node: Any = type(pattern.op).make_node  # (Op's own asks the types alone)
    driven = one and make_node is Op.make_node and pattern.op.default_output is None
    if driven and not any(isinstance(a, Literal) for a in pattern.args):
        return f"{to.constant(apply_op)}({op}, ({''.join(f'{a}, ' for a in args)}))"
    return f"{op}({', '.join(args)})"


def needs_weak(pattern: Any) -> bool:
    """Return whether the operands may turn out to be fewer than two."""
    return is_associative(pattern) and any(
        isinstance(p, Hole) and p.rest for p, _ in subpatterns(pattern)
    )


# --- functions that are asked more ---------------------------------------------------------------


def keeping_errors(apply: Function, keeps: Keeps | None) -> Function:
    """Return a rule's function that declines, with a reason, if an error of the term would be
    lost.
    """
    if keeps is None:
        return apply

    def checked(fgraph: Graph, node: Apply) -> Any:
        new = apply(fgraph, node)
        if isinstance(new, (Variable, tuple, dict)):
            return keeps(fgraph, node, new) and new
        return new

    return checked


# --- what a firing consumes ----------------------------------------------------------------------


def consumer(left: OpNode) -> Consumer:
    """Return the function that computes the origin of a node's replacement where a rule fires. It
    gets the node, the origin that its replacement already had (or None), and the rule.

    It is called at every firing, so the most common shape of left sides has one of its own. Where
    operands may have any order, those with an op that the pattern requires count as consumed.
    """
    results = [(p, depth) for p, depth in subpatterns(left) if depth and isinstance(p, OpNode)]
    if not results:
        return plainly
    inner = [i for i, a in enumerate(left.args) if isinstance(a, OpNode)]
    if len(results) == len(inner) == 1 and not (is_ac(left) or left.swaps or left.rests):
        return _consume_one(inner[0])
    return _consume_any(frozenset([p.head for p, _ in results]), max(depth for _, depth in results))


def _consume_one(i: int) -> Consumer:
    """Return the consumer for a left side with one op inside, at a fixed place."""

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        origin = node.origin
        own = origin if was is None else was
        place = own if own is None or len(own) == 2 else own[0]
        try:
            operand = node.inputs[i].owner
        except IndexError:  # the rule fired inside of the node's term (`rewrite/egraph/replay.py`)
            operand = None
        return place, rule, origin, None if operand is None else operand.origin, was

    return consumed


def _consume_any(heads: frozenset[Any], depth: int) -> Consumer:
    """Return the consumer for any other left side: operands with these heads, as deep as it
    looks.
    """

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        results: list[Any] = [*plainly(node, was, rule)]  # type: ignore[misc]
        level = [node]
        for _ in range(depth):
            below: list[Apply] = []
            for parent in level:
                for v in parent.inputs:
                    if v.head in heads or type(v.head) in heads:
                        below.append(v.owner)
                        results.append(v.owner.origin)
            level = below
        return tuple(results)

    return consumed
