"""Stable forms of terms, from which derivatives are computed.

The derivative of log(sigmoid(x)) as written is sigmoid(x) * sigmoid(-x) / sigmoid(x), which is 0 /
0 for very negative x; the derivative of the equal term -softplus(-x) is sigmoid(-x). So the
stabilizing rules are applied before a graph is differentiated, to the part between it and the
variables (docs/decisions/0051-derivatives-of-stable-forms.md). Then no rule has to recognize
products of derivatives. No other rules are applied: the differentiated term depends on the same
variables, and other terms stay as written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine import hooks
from rewrite_engine.config import config
from rewrite_engine.gradient.infinite import at_infinity_constant
from rewrite_engine.gradient.weighted import with_weights_outside
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import graph_inputs, toposort
from rewrite_engine.graph.weak import WeakKeys
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.special import Softmax

#: functions whose values, or what they lack to 1, vanish or overflow for arguments of ordinary size
STEEP = frozenset({
    pt.exp, pt.exp2, pt.expm1, pt.sigmoid, pt.tanh, pt.erf, pt.erfc, pt.cosh, pt.sinh,
    pt.gamma, pt.beta, pt.i0, pt.i1, pt.iv, pt.kv,
})  # fmt: skip
#: what hands that on
CARRIES = frozenset({
    pt.add, pt.sub, pt.neg, pt.mul, pt.true_div, pt.reciprocal, pt.sqr, pt.sqrt, pt.pow, pt.switch,
    pt.abs,
})  # fmt: skip
SUMS = frozenset({pt.add, pt.sub})
#: functions with which sums may vanish at 0: a quotient with one may be 0 / 0
CANCEL = frozenset({pt.exp, pt.cos, pt.cosh, pt.sqrt, pt.sin, pt.tan, pt.log, pt.log1p, pt.expm1})
LOGARITHMS = frozenset({pt.log, pt.log2, pt.log10, pt.log1p})
PRODUCTS = frozenset({pt.mul, pt.true_div})
QUOTIENTS = frozenset({pt.true_div, pt.reciprocal, pt.pow})


def stable(outputs: Sequence[Variable], held: Collection[Variable]) -> list[Variable]:
    """Return terms to differentiate instead of outputs, equal to them; `held` variables stay
    unchanged.

    Returns the outputs themselves if no part needs it, or if `config.stable_gradients` is off.
    """
    given = list(outputs)
    if not config.stable_gradients or any(v in held for v in given):
        return given
    nodes = toposort(given, held)
    limited = at_infinity_constant(given, nodes, held)
    if limited != given:
        nodes = toposort(limited, held)
    found = stable_form(limited, held) if asks(nodes, held) else limited
    if found != limited:
        nodes = toposort(found, held)
    return with_weights_outside(found, nodes, dependents(nodes, held))


#: {term: the rules, and its stable form (None: the term itself)}, where only variables without
#: owners are held: the form is then the same for all of them
_known_forms: WeakKeys[Variable, tuple[Any, Variable | None]] = WeakKeys()


def stable_form(given: list[Variable], held: Collection[Variable]) -> list[Variable]:
    """Return the terms rewritten by the stabilizing rules. Made once per term, for any roots."""
    rules = hooks.stabiliser()
    if len(given) != 1 or any([v.owner is not None for v in held]):
        return made_stable(given, held, rules)
    term = given[0]
    known, form = _known_forms.get(term, (None, None))
    if known is not rules:
        (made,) = made_stable(given, held, rules)
        form = None if made is term else made
        _known_forms[term] = rules, form
    return given if form is None else [form]


def made_stable(given: list[Variable], held: Collection[Variable], rules: Any) -> list[Variable]:
    """Return the terms rewritten by rules."""
    roots = [*held, *graph_inputs(given, held)]
    inputs = [v for v in dict.fromkeys(roots) if not isinstance(v, Constant)]
    inside = [v for v in inputs if v.owner is not None]  # these can be inputs only as copies
    graph = FunctionGraph(inputs, given, memo=None if inside else dict(zip(inputs, inputs)))
    if not rules.rewrite(graph).firings:
        return given
    if not inside:
        return list(graph.outputs)
    back = {graph.memo[v]: v for v in inputs}
    return list(graph_replace(graph.outputs, back, strict=False))


def dependents(nodes: Iterable[Apply], held: Collection[Variable]) -> set[Variable]:
    """Return the held variables, and all variables that depend on them. nodes: in order."""
    found = set(held)
    for node in nodes:
        if not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found


def asks(nodes: Iterable[Apply], held: Collection[Variable]) -> bool:
    """Return whether the nodes contain a logarithm of a term that may vanish or overflow, a product
    of two such terms, a quotient whose denominator contains a sum of them, an op that depends on
    what is known of a matrix, or a term that a rule for slopes may match.
    """
    mending = hooks.mending()
    steep: dict[Variable, bool] = {}  # and whether it is a sum
    for node in nodes:
        op = node.op
        if op.has_structure or mending(node):
            return True
        known = [v in steep for v in node.inputs]
        if op in PRODUCTS and sum(known) > 1:
            return True
        if op in LOGARITHMS and known[0]:
            return True
        if op in SUMS and has_own_product(node):
            return True
        if op is pt.true_div and any(map(may_vanish, node.inputs)):
            return True
        if op in QUOTIENTS and steep.get(node.inputs[-1 if op is pt.true_div else 0]):
            return True
        if op in STEEP or isinstance(op, Softmax) or is_exponential(node):
            summed = False
        elif any(known) and (op in CARRIES or op.moves_only or isinstance(op, Sum)):
            is_sum = op in SUMS or isinstance(op, Sum)
            summed = is_sum or any([steep.get(v, False) for v in node.inputs])
        else:
            continue
        steep.update(dict.fromkeys([v for v in node.outputs if v not in held], summed))
    return False


def has_own_product(node: Apply) -> bool:
    """Return whether a sum of two terms is like x + x (x - 1), in which they may cancel."""
    for v, product in (node.inputs, node.inputs[::-1]) if len(node.inputs) == 2 else ():
        if product.owner is not None and product.owner.op is pt.mul:
            factors = product.owner.inputs
            if v in factors and any([u.head in SUMS for u in factors]):
                return True
    return False


def is_exponential(node: Apply) -> bool:
    """Return whether a node is a power with a variable exponent."""
    return node.op is pt.pow and not isinstance(node.inputs[1], Constant)


def may_vanish(v: Variable) -> bool:
    """Return whether a term is a sum with a function that cancels, or the logarithm of a sum."""
    node = v.owner
    if node is None:
        return False
    if node.op is pt.log:
        return node.inputs[0].head in SUMS
    if node.op not in SUMS:
        return False
    inner = [u.owner.inputs for u in node.inputs if u.owner is not None and u.head in SUMS]
    return any([u.head in CANCEL for part in (node.inputs, *inner) for u in part])
