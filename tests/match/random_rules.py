"""Random rules on toy ops, as lowered data, and random terms that they match, or nearly match."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.match.ac import is_ac, is_associative, spliced
from rewrite_engine.match.build import output_of
from rewrite_engine.match.lower import Lowered, extended
from rewrite_engine.match.missing import each_way, with_missing
from rewrite_engine.match.pattern import (
    ALL,
    Anything,
    Const,
    Hole,
    Literal,
    OpClass,
    OpNode,
    Prop,
    Rest,
    holes,
    subpatterns,
)
from rewrite_engine.match.rule import DataRule
from rewrite_engine.match.text import rule_text
from tests.match.language import Positive, make
from tests.toy import Scale, ToyOp, add, const, exp, join, log, mul, num, pos, sin, sub


class Times(Scale):
    """A parameterised op that takes numbers, too."""

    __props__ = ("by",)

    def convert_input(self, x: Any) -> Variable:
        return x if isinstance(x, Variable) else const(x)


#: commutative, but not associative
pair = ToyOp("pair", 2, commutative=True)
#: associative, but not commutative
cat = ToyOp("cat", None, associative=True)


class Several(Op):
    """Three outputs of one operand; or two of two, of which `op(...)` returns the second."""

    __props__ = ("nin", "by")

    def __init__(self, nin: int, by: float = 2.0) -> None:
        self.nin, self.by, self.nout = nin, by, 4 - nin
        self.default_output = None if nin == 1 else 1

    def convert_input(self, x: Any) -> Variable:
        return x if isinstance(x, Variable) else const(x)

    def infer_types(self, types: tuple[Any, ...]) -> tuple[Any, ...]:
        return (num,) * self.nout


class Named(Several):
    """Two outputs with names, for any parameter."""

    output_names = ("first", "second")

    def __init__(self, by: float) -> None:
        super().__init__(1, by)
        self.nout = 2

    __props__ = ("by",)


three, two = Several(1), Several(2)
UNARY = [sin, log, exp, Times(2.0)]
BINARY = [sub, pair, add, mul, cat]
NUMBERS = [0.0, -0.0, 1.0, 2.0]

NAMED = OpClass(Named, (("by", Hole("f", Prop)),))
NUMBER = st.sampled_from([0, 1])

#: each name has one sort, so that it means the same wherever it occurs
HOLES = [Hole("a", Anything), Hole("b", Anything), Hole("c", Const), Hole("d", Positive)]
RESTS = [Hole("r", Rest), Hole("s", Rest)]
MAYBE = Hole("m", Const)
DEFAULTS = {"m": 1.0}
LEAVES = [*(num(n) for n in "xyz"), pos("p"), *map(num.make_constant, NUMBERS), const(3.0)]


@cache
def patterns(depth: int = 3) -> st.SearchStrategy[Any]:
    """Patterns: holes that repeat, numbers, commutative ops in each other, rests, parameters."""
    leaf = (
        st.sampled_from(HOLES)
        | st.sampled_from(HOLES)
        | st.builds(Literal, st.sampled_from(NUMBERS))
    )
    if depth == 0:
        return leaf
    return leaf | op_nodes(depth)


@cache
def op_nodes(depth: int) -> st.SearchStrategy[OpNode]:
    """Ops on patterns."""
    return st.deferred(lambda: _op_nodes(depth))  # deferred: the whole of them is large


def _op_nodes(depth: int) -> st.SearchStrategy[OpNode]:
    inner = patterns(depth - 1)
    rest = st.sampled_from(RESTS)
    unary = st.sampled_from([*UNARY, OpClass(Times, (("by", Hole("f", Prop)),))])
    return st.one_of(
        st.builds(lambda f, a: OpNode(f, (a,)), unary, inner),
        st.builds(lambda f, a, b: OpNode(f, (a, b)), st.sampled_from(BINARY), inner, inner),
        st.builds(lambda a, i: OpNode(three, (a,), i), inner, st.sampled_from(range(3))),
        st.builds(lambda a, b, i: OpNode(two, (a, b), i), inner, inner, st.sampled_from([0, None])),
        st.builds(lambda a, i: OpNode(NAMED, (a,), i), inner, st.sampled_from([0, 1])),
        st.builds(  # two of one node, or not
            lambda a, b, i, j: OpNode(sub, (OpNode(three, (a,), i), OpNode(three, (b,), j))),
            inner,
            inner,
            st.sampled_from(range(3)),
            st.sampled_from(range(3)),
        ),
        st.builds(
            lambda a, i, j: OpNode(add, (OpNode(NAMED, (a,), i), OpNode(NAMED, (a,), j))),
            inner,
            st.sampled_from([0, 1]),
            st.sampled_from([0, 1]),
        ),
        st.builds(lambda f, a, b: OpNode(f, (a, b)), st.sampled_from([add, mul]), inner, inner),
        st.builds(lambda a, b, c: OpNode(join, (a, b, c)), inner | rest, inner, inner | rest),
        st.builds(lambda a, b, c: OpNode(cat, (a, b, c)), inner | rest, inner, inner | rest),
        st.builds(
            lambda f, a: OpNode(f, (MAYBE, a)), st.sampled_from([add, mul, pair, cat]), inner
        ),
        st.builds(
            lambda f, *parts: OpNode(f, parts),
            st.sampled_from([add, mul]),
            inner,
            inner | rest,
            inner | rest,
        ),
        st.builds(lambda f, a, b: OpNode(f, (a, b)), st.sampled_from([add, mul]), rest, rest),
    ).map(tidy)


def tidy(node: OpNode) -> OpNode:
    """As lowering leaves it: no associative op directly in itself, one default."""
    args = spliced(node.op, node.args) if not isinstance(node.op, OpClass) else node.args
    if len(args) > 2 or args.count(MAYBE) > 1:
        args = tuple([Hole("c", Const) if a == MAYBE else a for a in args])
    return OpNode(node.op, args, node.index)


@st.composite
def rules(draw: Any) -> DataRule:
    """A rule whose right side shows everything that was bound."""
    left = draw(op_nodes(3))
    bound = holes(left)
    parts = [
        h if h.sort is not Prop else OpNode(OpClass(Times, (("by", h),)), (LEAF,))
        for h in bound.values()
    ]
    right: Any = OpNode(join, (Literal(7.0), *parts))
    if left.op is three and draw(st.booleans()):
        left = left.output(ALL)
        right = tuple([OpNode(join, (Literal(float(i)), *parts)) for i in range(3)])
    ways = with_missing(Lowered(left, right, (), defaults=DEFAULTS))
    return with_sides(each_way(ways, extended))


LEAF = Literal(5.0)
TEMPLATE = make(lambda a: sin(a) >> a)


def with_sides(lowered: Lowered) -> DataRule:
    """A rule object for lowered sides."""
    rule: DataRule = object.__new__(DataRule)
    rule.__dict__.update({k: v for k, v in TEMPLATE.__dict__.items() if k not in ("apply", "goal")})
    rule.lowered = lowered
    rule.text = rule_text(lowered)
    rule.depth = max(d for p, d in subpatterns(rule.left) if isinstance(p, OpNode) or d == 0)
    return rule


def guarded(rule: DataRule, guards: tuple[Any, ...]) -> DataRule:
    """The rule with guards."""
    return with_sides(with_missing(rule.lowered._replace(guards=guards)))


def variables(depth: int = 3) -> st.SearchStrategy[Variable]:
    """Random terms."""
    leaf = st.sampled_from(LEAVES)
    return st.recursive(
        leaf,
        lambda inner: (
            st.builds(lambda f, a: f(a), st.sampled_from(UNARY), inner)
            | st.builds(lambda f, a, b: f(a, b), st.sampled_from(BINARY), inner, inner)
            | st.builds(
                lambda f, a, i: f(a)[i], st.sampled_from([three, Named(2.0)]), inner, NUMBER
            )
            | st.builds(lambda a, b, i: two.make_node(a, b).outputs[i], inner, inner, NUMBER)
            | st.lists(inner, min_size=1, max_size=4).map(lambda xs: join(*xs))
        ),
        max_leaves=5,
    )


@st.composite
def instances(draw: Any, pattern: Any) -> Any:
    """A term that a pattern matches (up to draws that spoil it on purpose)."""
    bound: dict[str, Any] = {}
    spoil = draw(st.sampled_from([None, None, None, "swap", "leaf"]))

    def fill(p: Any) -> Any:
        if isinstance(p, Literal):
            value = p.value if spoil != "leaf" or draw(st.booleans()) else -p.value
            return [num.make_constant(value)]
        if isinstance(p, Hole):
            return bound_to(p)
        args = [v for a in p.args for v in fill(a)]
        if is_associative(p) and draw(st.booleans()):
            args += draw(st.lists(st.sampled_from(LEAVES), max_size=2))
            args = draw(st.permutations(args)) if is_ac(p) else args
        while is_associative(p) and len(args) < 2:  # (a sum of one operand is that operand)
            args = [*args, LEAVES[0]]
        if MAYBE in p.args and len(p.args) == 2 and draw(st.booleans()):
            (other,) = [a for a in p.args if a is not MAYBE]
            return fill(other)
        if draw(st.booleans()) and (getattr(p.op, "commutative", False) or spoil == "swap"):
            args.reverse()
        op = p.op
        if isinstance(op, OpClass):
            by = bound.setdefault("f", draw(st.sampled_from([2.0, 3.0])))
            op = p.operator(by)
        made = op(*args) if args else op(LEAVES[0])
        return [output_of(made, 0 if p.index == ALL else p.index)]

    def bound_to(hole: Hole) -> list[Any]:
        if hole.name not in bound:
            wanted = st.sampled_from([v for v in LEAVES if hole.sort(v)])
            if hole.sort is Anything:
                wanted = wanted | variables()
            size = draw(st.integers(0, 2)) if hole.rest else 1
            bound[hole.name] = [draw(wanted) for _ in range(size)]
        return bound[hole.name]

    return fill(pattern)[0]
