"""What other systems' documentation prints as answers, compared with all our matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.find import find
from tests.toy import ToyOp, num

a, b, c, d, e = (num(name) for name in "abcde")

f = ToyOp("f", None)  # operands in order, any number of them
f2 = ToyOp("f2", None)
fc = ToyOp("fc", 2, commutative=True)
fa = ToyOp("fa", None, associative=True)
fac = ToyOp("fac", None, associative=True, commutative=True)
g = ToyOp("g", 1)


def shown(v: Any) -> Any:
    """A term as text; operands that are taken in any order are sorted."""
    if isinstance(v, tuple):
        return [shown(x) for x in v]
    if not isinstance(v, Variable):
        return v
    if v.owner is None:
        return repr(v.number) if isinstance(v, Constant) else v.name
    op = v.owner.op
    parts = [str(shown(x)) for x in v.owner.inputs]
    return f"{op}({', '.join(sorted(parts) if op.commutative else parts)})"


def answers(subject: Variable, pattern: Callable[..., Any]) -> set[str]:
    """All matches of a pattern at the root of a term, each once."""
    return {
        repr(sorted((k, shown(v)) for k, v in m.bindings.items()))
        for m in find(subject, pattern, every=True)
        if m.variable is subject
    }


def expected(found: Iterable[dict[str, Any]]) -> set[str]:
    """What the documentation says, in the same form."""
    return {repr(sorted((k, shown(v)) for k, v in m.items())) for m in found}


def check(subject: Variable, pattern: Callable[..., Any], wanted: Iterable[dict[str, Any]]) -> None:
    """All matches are those that are wanted, and the compiled matcher finds one of them."""
    wanted = list(wanted)
    assert answers(subject, pattern) == expected(wanted)
    first = [m for m in find(subject, pattern) if m.variable is subject]
    assert len(first) == bool(wanted)
    for m in first:
        assert expected([m.bindings]) <= expected(wanted)
