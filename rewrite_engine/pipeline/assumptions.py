"""`assume(x, finite, nonneg)` declares facts about a term that no rule can prove.

It is a mark in the graph (`graph/assume.py`), so it stays with the term: in copies, givens and
pickles. When a graph is rewritten, the rule `declared` removes the marks, and the graph keeps the
declarations (`graph/knowledge.py`). `function(..., check=True)` checks them against the values
(`compile/checks.py`).
"""

import math
import numbers
from typing import Any, TypeAlias

from rewrite_engine import facts
from rewrite_engine.errors import (
    AssumptionError,
    FactError,
    ForeignObjectError,
    UnknownNameError,
    describe,
    did_you_mean,
)
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.language import *
from rewrite_engine.match.fact import Fact, said_by
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.product.dots import Dot, dot
from rewrite_engine.tensor.variable import TensorVariable

#: a fact, and the value it is declared with
Declared: TypeAlias = tuple[Fact, Any]

SHIPPED = {name: f for name, f in vars(facts).items() if isinstance(f, Fact)}


def assume(x: Any, *known: Any, **named: Any) -> TensorVariable:
    """Return x with declared facts that hold in every call.

    x: a variable, or a value that becomes one. known: facts about one variable, or pairs `(fact,
    value)` for facts with a value. named: shipped facts by name, `symmetric=True`, `bounded=(0, 1)`
    (None: no declaration). The declaration is about the value of x, for the whole graph that the
    result belongs to; x itself is unchanged in graphs without the result.

    Raises `ForeignObjectError` for an argument that is no fact, `UnknownNameError`, `FactError` for
    a fact that cannot be declared so, and `AssumptionError` for a constant that contradicts the
    declaration. Values of variables are checked only if a function is made with `check=True`.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.facts import finite
    >>> x = pt.vector("x")
    >>> rewritten(assume(x, finite) - x)
    second(x, 0.0)
    """
    x = x if isinstance(x, Variable) else as_tensor_variable(x)
    pairs = [_read_fact(one, x.type) for one in known]
    pairs += [_find_fact(n, v, x.type) for n, v in named.items() if v is not None]
    declared = tuple(sorted(dict(pairs).items(), key=lambda pair: pair[0].name))
    for fact, value in declared if isinstance(x, Constant) else ():
        answer = fact.of_value(x.type, x.data, value)
        if not answer:
            raise AssumptionError(f"{describe(x)} is declared {fact.name}, but {answer}")
    return Assume(declared)(x) if declared and not isinstance(x, Constant) else x


def _read_fact(one: Any, type_: Any) -> Declared:
    """Return a fact, or a fact with a value, as a pair."""
    pair = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    if not isinstance(pair[0], Fact):
        raise ForeignObjectError(f"assume takes facts, such as finite, not {describe(one)}")
    return _check_declared(pair[0], pair[1], type_)


def _find_fact(name: str, value: Any, type_: Any) -> Declared:
    """Return a shipped fact by its name, as a pair."""
    if name not in SHIPPED:
        hint = did_you_mean(name, SHIPPED)
        raise UnknownNameError(f"assume: no shipped fact is called {name!r}{hint}")
    if value is False:
        raise FactError(f"assume: {name}=False is no declaration: use {name}=True, or leave it out")
    return _check_declared(SHIPPED[name], None if value is True else value, type_)


def _check_declared(fact: Fact, value: Any, type_: Any) -> Declared:
    if not fact.unary:
        raise FactError(f"{fact.name} cannot be declared: it is not a fact about one variable")
    if fact.takes_value and value is None:
        raise FactError(f"{fact.name} has a value: declare {fact.name}=..., or ({fact.name}, ...)")
    if value is not None and not fact.takes_value:
        raise FactError(f"{fact.name} has no value: declare {fact.name}=True, or leave it out")
    if value is None or fact.reader is None:
        return fact, value
    try:
        return fact, fact.reader(value, type_)
    except ValueError as error:
        raise FactError(f"{fact.name} is declared with {error}, not {value!r}") from None


@node_rewriter([Assume], phase="canonicalize", claim=backward(4))
def transposes_of_declared(
    fgraph: FunctionGraph | None, node: Apply
) -> dict[Variable, Variable] | None:
    """A symmetric matrix is its own transpose: the gradient of a form needs one product, not two.
    Not data: it is looked for where a matrix is declared, not at each transpose.

    >>> k, v = assume(matrix("k"), symmetric=True), vector("v")
    >>> rewritten(k.T @ v)
    k @ v
    """
    (k,) = node.outputs
    if fgraph is None or k.type.ndim != 2 or not facts.symmetric.ask(fgraph, k):
        return None
    turned = [v for user in fgraph.users[k] for v in user.outputs if is_transpose(v)]
    return dict.fromkeys(turned, k) or None


@node_rewriter([Assume], phase="canonicalize", claim=backward(4))
def vector_times_declared(
    fgraph: FunctionGraph | None, node: Apply
) -> dict[Variable, Variable] | None:
    """A vector is multiplied with a symmetric matrix from either side: the gradient of a form needs
    one product, not two. Not data: it is looked for where a matrix is declared.

    >>> k, v = assume(matrix("k"), symmetric=True), vector("v")
    >>> rewritten(v @ k)
    k @ v
    """
    (k,) = node.outputs
    if fgraph is None or k.type.ndim != 2 or not facts.symmetric.ask(fgraph, k):
        return None
    users = [one for one in fgraph.users[k] if isinstance(one.op, Dot)]
    on_right = [one for one in users if one.inputs[1] is k and one.inputs[0].type.ndim == 1]
    return {one.outputs[0]: dot(k, one.inputs[0]) for one in on_right} or None


def is_transpose(v: Variable) -> bool:
    """Return whether a term is the transpose of a matrix."""
    return isinstance(v.head, DimShuffle) and v.head.new_order == (1, 0)


@node_rewriter([Assume], phase="canonicalize", claim=exact)
def declared(fgraph: FunctionGraph | None, node: Apply) -> Variable | None:
    """Record the declaration in the graph, and show rules the term behind the mark.

    Not data: it changes what is known of the graph.

    >>> x = vector("x")
    >>> rewritten(abs(assume(x, nonneg=True)))
    x
    """
    if fgraph is None:
        return None
    knowledge_of(fgraph).declare(node.inputs[0], said_by(node))
    return node.inputs[0]


# --- what facts are declared with -----------------------------------------------------------------


@facts.bounded.read
def two_ends(ends: Any, type_: Any) -> tuple[Any, Any]:
    """Return two finite numbers, the lower one first."""
    given = ends if isinstance(ends, tuple | list) else ()
    results = [end for end in given if isinstance(end, numbers.Real) and math.isfinite(end)]
    if not len(results) == len(given) == 2:
        raise ValueError("two finite numbers, the lower one first")
    low, high = (end.item() if hasattr(end, "item") else end for end in results)
    if low > high:
        raise ValueError("the lower number first")
    return low, high


@facts.static_shape.read
def lengths(shape: Any, type_: Any) -> tuple[int, ...]:
    """Return a length for each dimension."""
    given = shape if isinstance(shape, tuple | list) else (None,)
    results = [int(n) for n in given if isinstance(n, numbers.Integral) and int(n) >= 0]
    if not len(results) == len(given) == type_.ndim:
        raise ValueError(f"{type_.ndim} lengths, as a tuple")
    return tuple(results)
