"""Many rules: what a hit and a miss cost in sets of 100 to 10,000, and what a changed set costs.

The rules are on toy ops and differ in one thing each: the op at the root, or what is one or two
levels below it, or a number, or a parameter of the op. Adding rules should slow neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.matching import try_rules
from benchmarks.measure import Row, at_most, medians, once
from rewrite_engine.graph.op import Op
from rewrite_engine.language import Inexact, rule
from rewrite_engine.match.decorate import rule as plain_rule
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.pipeline.phases import all_rules
from rewrite_engine.terms.logic import pattern_classes

SIZES = (100, 1_000, 10_000)
x, y = pt.vectors("x y")


class Toy(Op):
    """An op on vectors, one of many."""

    __props__ = ("kind", "number")
    nout = 1

    def __init__(self, kind: str, number: int = 0) -> None:
        self.kind = kind
        self.number = number
        self.associative = self.commutative = kind == "sum"

    def infer_types(self, types: Any) -> Any:
        return types[:1]


class Numbered(Toy):
    """The same, for patterns that look at its parameters."""


f, g, plus = Toy("f"), Toy("g"), Toy("sum")
Term, _ = pattern_classes(object)

#: {what differs: the left side of rule number i}
FAMILIES: dict[str, Callable[[int, Any, Any], Any]] = {
    "the root": lambda i, a, b: Toy("root", i)(a),
    "an operand": lambda i, a, b: f(Toy("operand", i)(a)),
    "two levels down": lambda i, a, b: f(g(Toy("operand", i)(a))),
    "two levels down, any order": lambda i, a, b: plus(g(Toy("operand", i)(a)), b),
    "a number": lambda i, a, b: pt.pow(a, i + 0.5),
    "a parameter": lambda i, a, b: Numbered("parameter", i)(a),
}


def made(left: Callable[[int, Any, Any], Any], i: int) -> DataRule:
    """Rule number i of a family."""

    def one_of_many(a: Any, b: Any) -> Any:
        """One of many, for measuring."""
        return left(i, a, b) >> a

    def one_with_one(a: Any) -> Any:
        """One of many, for measuring."""
        return left(i, a, None) >> a

    fn = one_of_many if "any order" in str(left.__doc__) else one_with_one
    fn.__name__ = f"rule_{i}"
    result: DataRule = plain_rule(fn, variable=Term, phase="canonicalize")
    return result


def main() -> Iterator[Row]:
    for name, left in FAMILIES.items():
        left.__doc__ = name
        rules = [made(left, i) for i in range(SIZES[-1])]
        work = {}
        for size in SIZES:
            some = RuleSet(rules[:size])
            work[f"hit {size:,}"] = try_rules(some.dispatch.candidates, left(size - 1, x, y))
            work[f"miss {size:,}"] = try_rules(some.dispatch.candidates, left(SIZES[-1] + 1, x, y))
            assert work[f"hit {size:,}"]() is x or "any order" in name
            assert work[f"miss {size:,}"]() is None
        times = medians(work, turns=11)
        for kind, target in (("hit", 2.0), ("miss", 2.0)):
            few, some_more, many = [times[f"{kind} {size:,}"] * 1e6 for size in SIZES]
            note = f"100 rules: {few:.2g}, 1,000: {some_more:.2g}"
            yield at_most(f"{kind:4} among 10,000 that differ by {name}", many, target, "µs", note)
        yield from changed(name, left, RuleSet(rules[:1_000]), rules[-1])
    yield from first_function()


def changed(name: str, left: Any, thousand: RuleSet, one: DataRule) -> Iterator[Row]:
    """A rule more in a set of 1,000 that is in use."""
    hit = left(998, x, y)
    try_rules(thousand.dispatch.candidates, hit)()
    seconds, _ = once(lambda: try_rules((thousand + one).dispatch.candidates, hit)())
    yield at_most(f"1,000 rules and one more that differ by {name}", seconds * 1e3, 10.0, "ms")


@rule(phase="specialize")
def tan_of_arctan(a: Inexact) -> Any:
    """A rule more, for measuring."""
    return pt.tan(pt.arctan(a)) >> a


def first_function() -> Iterator[Row]:
    """All shipped rules and one more: the pipeline, and the first function compiled with it."""
    term = pt.log(1 + pt.exp(x)) + pt.tan(pt.arctan(y))
    rw.function([x, y], term)
    mode = rw.Mode("fast_run") + tan_of_arctan
    seconds, _ = once(lambda: mode.optimizer)
    yield at_most(
        f"{len(all_rules())} shipped rules and one more: the pipeline", seconds * 1e3, 10.0, "ms"
    )
    again, _ = once(lambda: rw.function([x, y], term, mode=mode))
    plain, _ = once(lambda: rw.function([x, y], term))
    note = f"without it, all known: {plain * 1e3:.2g} ms"
    yield at_most("... and the first function", again * 1e3, 30.0, "ms", note)
