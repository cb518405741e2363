"""`assume(x, finite, nonneg)`: what a user knows of a term, and no rule could prove.

It is a mark in the graph (`graph/assume.py`), so it goes wherever the term goes: into copies,
through givens and pickles. When a graph is rewritten, the rule `declared` takes the marks out, and
the graph remembers what they said (`graph/knowledge.py`). `function(..., check=True)` holds it
against the values (`compile/checks.py`).
"""

from rewrite_engine.errors import (
    AssumptionError,
    FactError,
    ForeignObjectError,
    UnknownNameError,
    describe,
    did_you_mean,
)
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.knowledge import knowledge_of
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.fact import Fact, said_by
from rewrite_engine.rules import facts
from rewrite_engine.rules.language import *
from rewrite_engine.tensor.constant import as_tensor_variable

SHIPPED = {name: f for name, f in vars(facts).items() if isinstance(f, Fact)}


def assume(x, *known, **named):
    """Return x, of which facts are declared that hold in every call.

    x: a variable, or what becomes one. known: facts about one variable; pairs `(fact, value)` of
    those that say more than that they hold. named: shipped facts by name, `symmetric=True`,
    `bounded=(0, 1)` (None: nothing is said). What is declared is declared of the value of x, for
    the whole graph that the result belongs to; x itself, in graphs without it, is as before.

    Raises `ForeignObjectError` for what is no fact, `UnknownNameError`, `FactError` for a fact that
    cannot be declared so, and `AssumptionError` for a constant of which it does not hold. Values of
    variables are not looked at, unless a function is made with `check=True`.

    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.rules.facts import finite
    >>> x = pt.vector("x")
    >>> rewritten(assume(x, finite) - x)
    second(x, 0.0)
    """
    x = x if isinstance(x, Variable) else as_tensor_variable(x)
    pairs = [*map(_read, known), *[_named(n, v) for n, v in named.items() if v is not None]]
    declared = tuple(sorted(dict(pairs).items(), key=lambda pair: pair[0].name))
    for fact, value in declared if isinstance(x, Constant) else ():
        answer = fact.of_value(x.type, x.data, value)
        if not answer:
            raise AssumptionError(f"{describe(x)} is declared {fact.name}, but {answer}")
    return Assume(declared)(x) if declared and not isinstance(x, Constant) else x


def _read(one):
    """A fact, or a fact with a value, as a pair."""
    pair = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    if not isinstance(pair[0], Fact):
        raise ForeignObjectError(f"assume takes facts, such as finite, not {describe(one)}")
    return _checked(*pair)


def _named(name, value):
    """A shipped fact by its name, as a pair."""
    if name not in SHIPPED:
        hint = did_you_mean(name, SHIPPED)
        raise UnknownNameError(f"assume: no shipped fact is called {name!r}{hint}")
    if value is False:
        raise FactError(f"assume: {name}=False: a fact is declared, or nothing is said of it")
    return _checked(SHIPPED[name], None if value is True else value)


def _checked(fact, value):
    if not fact.unary:
        raise FactError(f"{fact.name} is no fact about one variable: it cannot be declared of one")
    if fact.takes_value and value is None:
        raise FactError(f"{fact.name} has a value: declare {fact.name}=..., or ({fact.name}, ...)")
    if value is not None and not fact.takes_value:
        raise FactError(f"{fact.name} has no value: it holds, or nothing is said of it")
    return fact, value


@node_rewriter([Assume], phase="canonicalize", claim=exact)
def declared(fgraph, node):
    """The graph remembers what is declared, and rules see the term behind the mark.

    Not data: it changes what is known of the graph.

    >>> x = vector("x")
    >>> rewritten(abs(assume(x, nonneg=True)))
    x
    """
    if fgraph is None:
        return None
    knowledge_of(fgraph).declare(node.inputs[0], said_by(node))
    return node.inputs[0]
