"""Rules that follow from declarations of ops: `associative`, `commutative`, `identity`,
`absorbing`, `idempotent`. They know no tensor.

Nested sums become one sum of all operands, in an order that depends on the operands alone (an op
that does not commute keeps the order); operands without effect are dropped. If values depend on the
grouping (`Type.regroups_exactly` is False), an exact rule only opens the left spine `(a + b) + c`:
ops of many operands compute from left to right. Any other order takes a rule with the tag
"reorder". `match/ac.py` matches operands in any order; `graph/intern.py::key_of` lets terms merge
in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import CONSTANT, Apply, Variable, build_variable
from rewrite_engine.match.ac import is_inside, is_joined_to, joined, leaves, without
from rewrite_engine.match.claim import Claim, approx, assumes, exact, refines
from rewrite_engine.match.outline import Outline, content, head_of
from rewrite_engine.match.rule import NodeRewriter, When
from rewrite_engine.rewrite.fold import constant_result


def is_associative_op(op: Any) -> bool:
    """Return whether an op declares that it takes any number of operands."""
    return bool(op.associative and not op.destroy_map)


class Declared(NodeRewriter):
    """Rule on every op with some declaration.

    wanted: values of which one constant must have one, if numbers are known; None: any value.
    """

    single = True

    def __init__(self, fn: Any, *, wanted: tuple[Any, ...] | None = None, **options: Any) -> None:
        super().__init__(fn, phase="canonicalize", tracks=[is_associative_op], **options)
        self.wanted = wanted

    def numbers(self) -> tuple[Any, ...]:
        return self.wanted or ()

    def fits(self, seen: Sequence[Outline]) -> bool:
        wanted = self.wanted
        if wanted is None:
            return True
        return any(head_of(s) is CONSTANT and (s is CONSTANT or s[1] in wanted) for s in seen)


def declared(when: When, claim: Claim, **options: Any) -> Callable[..., Declared]:
    """Make a rule of a function `(fgraph, node)` on the ops with the declarations that it uses."""
    return partial(Declared, when=when, claim=claim, **options)


def has(seen: Sequence[Outline], head: Any) -> bool:
    """Return whether one of the operands is computed by an op, or is a constant (`CONSTANT`)."""
    return any(head_of(s) is head for s in seen)


def is_number(v: Variable, declaration: Any, out: Variable) -> bool:
    """Return whether a variable is the number that an op declares, or an array filled with it (-1
    as bits has all bits set, like True if `out` is a boolean).
    """
    if v.head is not CONSTANT or declaration is None:
        return False
    number = v.element  # type: ignore[attr-defined]
    if number is True and declaration == -1:
        return bool(out.type.computes_like(v.type))
    return bool(number == declaration)


def fitting(out: Variable, new: Any) -> Any:
    """Return the new term if its type can replace the old one, else None."""
    return new if new is not None and out.type.yields_to(new.type) else None


# --- operands that do nothing, or everything -----------------------------------------------------


@declared(
    lambda op, seen, distinct: op.identity is not None and has(seen, CONSTANT),
    refines,
    wanted=(0, 1, -1, math.inf, -math.inf),
)
def drop_identity(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Drop 0 from a sum and 1 from a product (up to the sign of a zero, and to a complex infinity).

    Not data: it holds for every op that declares an identity.

    >>> rewritten(1 * vector("x") + 0)
    x
    """
    op = node.op
    kept = [v for v in node.inputs if not is_number(v, op.identity, node.outputs[0])]
    if not kept or len(kept) == len(node.inputs):
        return None
    return fitting(node.outputs[0], joined(op, kept))


def _absorbed(node: Apply) -> Any:
    """Return the absorbing operand, in the shape of the result."""
    op, out = node.op, node.outputs[0]
    for v in node.inputs:
        if is_number(v, op.absorbing, out):
            return fitting(out, op.filled(node.inputs, out.type, v))
    return None


def _may_absorb(op: Any, seen: Sequence[Outline], distinct: bool) -> bool:
    return op.absorbing is not None and has(seen, CONSTANT)


@declared(_may_absorb, exact, wanted=(0, 1, -1))
def absorb(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Replace a product of integers with a factor 0 by 0, and a conjunction with False by False.

    Not data: it holds for every op that declares an absorbing element.

    >>> rewritten(0 * ivector("x"))
    second(x, 0)
    """
    return _absorbed(node) if node.outputs[0].type.regroups_exactly else None


@declared(_may_absorb, assumes("fastmath"), wanted=(0, 1, -1))
def absorb_numbers(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Replace a product of floats with a factor 0 by 0, assuming that 0 * inf and 0 * nan do not
    occur.

    Not data: it holds for every op that declares an absorbing element.

    >>> rewritten(0 * vector("x"), including=["fastmath"])
    second(x, 0.0)
    """
    return None if node.outputs[0].type.regroups_exactly else _absorbed(node)


@declared(lambda op, seen, distinct: bool(op.idempotent and not distinct), refines)
def drop_repeated(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Drop repeated operands of a maximum or a conjunction (up to the sign of a zero); only
    adjacent ones, if operands have an order.

    Not data: it holds for every op that declares itself idempotent.

    >>> x, y = vectors("x y")
    >>> rewritten(maximum(x, y, x))
    maximum(x, y)
    """
    inputs = node.inputs
    if node.op.commutative:
        kept = list(dict.fromkeys(inputs))
    else:
        kept = [v for i, v in enumerate(inputs) if i == 0 or v is not inputs[i - 1]]
    if not node.op.idempotent or len(kept) == len(inputs):
        return None
    return fitting(node.outputs[0], joined(node.op, kept))


# --- constants -----------------------------------------------------------------------------------


def _joined_constants(node: Apply) -> Any:
    """Return the operands with one constant in place of all constants, at the first one's position
    (only of the first adjacent ones, if operands have an order).
    """
    op, inputs = node.op, node.inputs
    places = _constant_places(op, inputs)
    constants = [inputs[i] for i in places]
    if not 2 <= len(constants) < len(inputs):
        return None
    out = node.outputs[0]
    one = constant_result(op.make_node(*constants))
    if one is None or not out.type.computes_like(one.type):  # int8 among int64 would overflow
        return None
    if not _is_harmless(op, one, inputs):
        return None
    place, rest = places[0], without(inputs, set(places))
    bare = fitting(out, joined(op, rest)) if is_number(one, op.identity, out) else None
    if bare is not None:
        return bare
    operands = [*rest[:place], one, *rest[place:]]
    if any([one.type is c.type for c in constants]):  # so the whole has the type it had
        return opened(node, operands)
    return fitting(out, op(*operands))


def _constant_places(op: Any, inputs: Sequence[Variable]) -> list[int]:
    """Return the positions of the constants that can be combined."""
    places = [i for i, v in enumerate(inputs) if v.head is CONSTANT]
    if op.commutative:
        return places
    for first in places:
        run = list(takewhile(lambda i: inputs[i].head is CONSTANT, range(first, len(inputs))))
        if len(run) > 1:
            return run
    return []


def _is_harmless(op: Any, folded: Any, inputs: Sequence[Any]) -> bool:
    """Return whether combining constants first loses nothing: no overflow, no number in a sum with
    a larger one, and in products no digit to an underflow, also not in intermediate results.
    """
    if folded.type.regroups_exactly:
        return True
    number = folded.number
    if number is None or not math.isfinite(abs(number)):
        return False
    if op.absorbing is None:
        return op.idempotent or all(v.number != number for v in inputs if v.head is CONSTANT)
    if not folded.type.keeps_digits(number):
        return False
    alone = sum(v.head is not CONSTANT for v in inputs) == 1
    return alone or _keeps_products(inputs, abs(number))


def _keeps_products(inputs: Sequence[Any], number: float) -> bool:
    """Return whether each intermediate product was computed before, up to its sign, if one number
    replaces the first constant: `2 * x * 3 * y` contains `6 * x`.
    """
    factor, now = 1.0, 1.0  # what the constants so far come to, before and now
    seen: list[float] | None = None  # the factors that the operands so far had been multiplied by
    for v in inputs:
        if v.head is CONSTANT:
            if v.number is None:
                return False
            factor, now = factor * abs(v.number), number
            seen = seen and [*seen, factor]
        elif seen is not None and now not in seen:
            return False
        else:
            seen = [factor]
    return True


def _may_join_constants(op: Any, seen: Sequence[Outline], distinct: bool) -> bool:
    return len(seen) > 2 and has(seen, CONSTANT)


@declared(_may_join_constants, exact)
def join_constants(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Combine the constants among many operands at compile time.

    Not data: it holds for every op with any number of operands.

    >>> rewritten(ivector("x") + 1 + 2)
    3 + x
    """
    return _joined_constants(node) if node.outputs[0].type.regroups_exactly else None


@declared(_may_join_constants, approx(ulps=2), tags=["reorder"])
def join_rounded_constants(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Combine the constants among many floats at compile time, if no intermediate result overflows.

    Not data: it holds for every op with any number of operands.

    >>> rewritten(vector("x") + 1 + 2)
    3.0 + x
    """
    return None if node.outputs[0].type.regroups_exactly else _joined_constants(node)


@declared(
    lambda op, seen, distinct: (
        op.commutative and len(seen) == 2 and has(seen, CONSTANT) and has(seen, op)
    ),
    approx(ulps=2),
    tags=["reorder"],
)
def join_nested_constants(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Combine the constants in `a * (b * x)`, also if other nodes need `b * x`: `flatten` leaves
    such nests.

    Not data: it holds for every op with any number of operands.

    >>> y = 2 * vector("x")
    >>> rewritten(sin(y) * (3 * y))
    sin(2.0 * x) * (6.0 * x)
    """
    op, out = node.op, node.outputs[0]
    *constants, b = sorted(node.inputs, key=lambda v: v.head is not CONSTANT)
    inner = b.owner.inputs if b.head is op else ()
    if len(inner) != 2 or len(constants) != 1 or constants[0].head is not CONSTANT:
        return None
    if not out.type.computes_like(b.type):
        return None
    if b is node.inputs[0] and is_joined_to(fgraph, b, op, out.type):
        return None
    return fitting(out, _joined_constants(op.make_node(*constants, *inner)))


# --- nests ---------------------------------------------------------------------------------------


def opened(node: Apply, operands: Sequence[Variable]) -> Any:
    """Return the node with other operands that give the same type; None if they are its own
    operands.
    """
    if len(operands) == len(node.inputs):
        return None
    return build_variable(node.op, tuple(operands), node.outputs[0].type, node.origin)


def _any_order(fgraph: FunctionGraph | None, node: Apply) -> Any:
    if is_inside(fgraph, node, anywhere=True):
        return None
    found = leaves(fgraph, node)
    return opened(node, sorted(found, key=content) if node.op.commutative else list(found))


@declared(
    lambda op, seen, distinct: op.absorbing is None and has(seen, op),
    approx(ulps=8),
    tags=["reorder"],
)
def regroup(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Flatten a nest of sums to one sum, sorted by content: the same in every process, however it
    was written. (Error: 8 units per operand, of the largest; products may lose everything in
    intermediate results: see `regroup_products`.)

    Not data: the nest is opened in one step.

    >>> a, b, c, d = vectors("a b c d")
    >>> rewritten((d + b) + (c + a))
    a + b + c + d
    """
    return None if node.outputs[0].type.regroups_exactly else _any_order(fgraph, node)


@declared(
    lambda op, seen, distinct: op.absorbing is not None and has(seen, op),
    assumes("fastmath"),
    tags=["reorder"],
)
def regroup_products(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Flatten nested products to one product, sorted, assuming that nothing overflows or underflows
    in any order.

    Not data: the nest is opened in one step.

    >>> a, b, c = vectors("a b c")
    >>> rewritten((c * a) * b, including=["fastmath"])
    a * b * c
    """
    return None if node.outputs[0].type.regroups_exactly else _any_order(fgraph, node)


@declared(lambda op, seen, distinct: has(seen, op), exact)
def flatten(fgraph: FunctionGraph | None, node: Apply) -> Any:
    """Flatten a nest to one op on all operands, if that is exact: any nest of integers, sorted; for
    floats the left spine, in its order.

    Not data: the nest is opened in one step.

    >>> a, b, c = ivectors("a b c")
    >>> rewritten(c + (b + a))
    a + b + c
    """
    if node.outputs[0].type.regroups_exactly:
        return _any_order(fgraph, node)
    if node.inputs[0].head is not node.op or is_inside(fgraph, node, anywhere=False):
        return None
    return opened(node, list(leaves(fgraph, node, anywhere=False)))
