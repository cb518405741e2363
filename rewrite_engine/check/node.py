"""Small terms of ops: what functions of nodes, relations and facts are tried at, and what ops are
held to their contract on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, product, zip_longest
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.claim import Fired, Term, fired, stepped, terms_of
from rewrite_engine.check.example import own_steps, written_terms
from rewrite_engine.check.loops import loop_steps
from rewrite_engine.check.variants import variants
from rewrite_engine.errors import RewriteEngineError, RuleRaisedError
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.outline import tracks
from rewrite_engine.match.pattern import Prop, holes
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.op import TensorOp
from rewrite_engine.tensor.type import TensorType

FEW = 60  # terms of one op
VARIED = 4  # terms of an example of which variants are made
DTYPES = ("float64", "float32", "int64", "int8", "uint8", "bool", "complex128")
#: ops that a class stands for, where it has no samples of its own
ELEMENTWISE = (pt.add, pt.mul, pt.sub, pt.true_div, pt.exp, pt.log, pt.abs, pt.maximum)


def operands(dtype: str, ndim: int = 1) -> list[Any]:
    """Return variables and small terms of one dtype."""
    shape = (None,) * ndim
    x, y = [pt.tensor(n, dtype=dtype, shape=shape) for n in "xy"]
    numbers = [pt.constant(np.asarray(n).astype(dtype)) for n in (2, 0, 1)]
    found = [x, y, *numbers]
    for make in (
        lambda: -x,
        lambda: pt.exp(x),
        lambda: x * y,
        lambda: x + numbers[0],
        lambda: y[:1],
    ):
        try:
            found.append(make())
        except (RewriteEngineError, TypeError):
            continue
    return found


def applied(op: Any, dtypes: Sequence[str] = DTYPES) -> Iterator[Any]:
    """Yield results of an op, each on operands of one dtype; also of itself."""
    nin = op.nin if getattr(op, "nin", None) is not None else 2
    for dtype in dtypes:
        count = 0
        for ndim in (1, 2, 0):
            some = operands(dtype, ndim)
            nested = _made(op, some[:nin]) if nin else None
            some = some if nested is None else [*some, nested]
            for row in islice(product(some, repeat=nin), 8 if nin == 1 else FEW):
                made = _made(op, row)
                if made is not None and made.owner is not None and count < FEW:
                    count += 1
                    yield made


def _made(op: Any, row: Sequence[Any]) -> Any:
    try:
        made = op(*row)
    except (RewriteEngineError, TypeError, ValueError, IndexError):
        return None
    return made[0] if isinstance(made, list | tuple) else made


def sampled(cls: Any) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Yield ops of a class that says samples: an op, variables for its inputs, their values."""
    rng = np.random.default_rng(0)
    for given, *inputs in cls.samples:
        op = cls(**given)
        for known in (True, False):
            values = [_value(x, rng) for x in inputs]
            if all(a.dtype.kind in "biufc" for a in values):
                shapes = [a.shape if known else (None,) * a.ndim for a in values]
                own = [TensorType(a.dtype.name, s)() for a, s in zip(values, shapes, strict=True)]
                yield op, own, values


def _value(said: Any, rng: Any) -> Any:
    if isinstance(said, tuple) and all(isinstance(n, int) for n in said):
        return np.asarray(rng.uniform(0.1, 0.9, said))
    return np.asarray(said)


def ops_of(rule: Rule) -> list[Any]:
    """Yield the ops that a rule names as its roots; for classes, their samples."""
    found: list[Any] = []
    for root in rule.roots() or ():
        if isinstance(root, Op):
            found.append(root)
        elif isinstance(root, type) and issubclass(root, TensorOp):
            some = [op for op, _, _ in sampled(root)] if root is not Elemwise else ELEMENTWISE
            found += [op for op in some if rule.considers(op)]
        elif not isinstance(root, type):
            found += [op for op in ELEMENTWISE if tracks([root], op)]
    return list(dict.fromkeys(found))


def cases(rule: Any, added: RuleSet) -> Iterator[Fired | RuleRaisedError]:
    """Yield the firings of a rule of any kind: in its own example and variants of it, in loops
    if it is about these, and alone.
    """
    steps = own_steps(rule, added)
    if rule.phase == "loops":
        steps += [s for s in loop_steps(added) if s.rule_name == rule.name]
    yield from stepped(rule, steps)
    written = written_terms(rule, added)
    own = [s.before for s in steps if s.inside is None]
    pairs = zip_longest(varied(rule, [*own, *written]), terms(rule))
    known = (with_inputs(v) for v in written)
    yield from fired(rule, chain(known, (term for pair in pairs for term in pair if term)))


def varied(rule: Any, own: Sequence[Any]) -> Iterator[Term]:
    """Yield variants of the terms of a rule's example: of functions, and of rules on parameters of
    ops.
    """
    if isinstance(rule, DataRule) and not any(h.sort is Prop for h in holes(rule.left).values()):
        return
    for before in dict.fromkeys(own[:VARIED]):
        yield from map(with_inputs, variants(before))


def with_inputs(term: Any) -> Term:
    """Return a term with its inputs."""
    return term, list(dict.fromkeys(explicit_graph_inputs([term]))), []


def terms(rule: Any) -> Iterator[Term]:
    """Yield terms for a rule of any kind."""
    parts = [p for p in getattr(rule, "parts", ()) if isinstance(p, DataRule)]
    if isinstance(rule, DataRule):
        parts, made = [rule], []
    else:
        made = [applied(op) for op in ops_of(rule)]
    for term in chain(*made):
        if term.owner is not None:
            yield with_inputs(term)
    for part in parts:
        yield from terms_of(part)


def directions(rule: Rule) -> Sequence[Rule]:
    """Return the rules to check for a rule: both directions of an equation."""
    return rule.directions if isinstance(rule, Equation) else (rule,)


def as_op(what: Any) -> Any:
    """Return an op on tensors; for a scalar op, the elementwise one."""
    return Elemwise(what) if isinstance(what, ScalarOp) else what
