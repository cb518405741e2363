"""Equations: two sides that are equal, without a direction. Which side is better depends on shapes
and on the surrounding terms, so a cost chooses (`rewrite/saturate.py`), not the author.

    @equation(prefer=flops)
    def matmul_assoc(a: Float, b: Matrix, c: Float):
        return (a @ b) @ c, a @ (b @ c)

An equation is two ordinary data rules, `forward` and `backward`; matching, guards, relations and
traces work for each of them as for all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial, wraps
from typing import Any

from rewrite_engine.errors import PatternError, RuleError, UnboundVariableError
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.ac import is_ac
from rewrite_engine.match.lower import Compute, Given, RuleBody
from rewrite_engine.match.mistakes import Mistakes, collected
from rewrite_engine.match.pattern import Graph, OpClass, OpNode, holes
from rewrite_engine.match.rule import DataRule, RuleOfRules
from rewrite_engine.match.text import pattern_text
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.print import INFIX

ONE_WAY = '; use @rule(phase="saturate") for a law from left to right only'


class DirectedRule(DataRule):
    """One direction of an equation; a data rule like any other. `equation` is its equation."""

    extends = False
    needs_reason = False  # the equation has one

    def __init__(self, equation: Equation, direction: str) -> None:
        super().__init__(
            _make_sides(equation.fn, swap=direction == "backward"),
            phase=equation.phase,
            claim=equation.claim,
            tags=equation.tags,
            variable=equation.variable,
            backward=direction == "backward",
        )
        self.equation = equation
        self.direction = direction
        self.name = f"{equation.name}.{direction}"
        self.short_name = f"{equation.short_name}.{direction}"

    def refuse(self, error: RuleError) -> None:
        """Raise the mistakes; the equation adds its name."""
        raise error

    @property
    def names(self) -> frozenset[str]:
        return super().names | {self.equation.name, self.equation.short_name}


class Equation(RuleOfRules):
    """Equation left == right, with guards. prefer: the cost that a `SaturationOptimizer` uses by
    default. options: the options of `Rule`: claim, tags.

    Raises `RuleError`s, as `DataRule` does: for a side that is no op, or only a rest; for variables
    that the other side does not bind; for a computed side.
    """

    with_phase = '@equation(phase="saturate")'

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        phase: str | None = "saturate",
        prefer: Any = None,
        variable: type[LogicVariable] = LogicVariable,
        **options: Any,
    ) -> None:
        self.prefer = prefer
        self.variable = variable
        super().__init__(fn, phase=phase, **options)

    def build(self) -> None:
        """Build and check both directions."""
        mistakes = Mistakes()
        with mistakes:
            if self.prefer is not None and not callable(self.prefer):
                what = f"a function of a node, such as flops, not {self.prefer!r}"
                raise PatternError(f"prefer must be {what}")
        with mistakes:
            self.build_sides()
        mistakes.raise_all()

    def build_sides(self) -> None:
        """Build and check the two rules that it consists of."""
        self.forward = DirectedRule(self, "forward")
        self.left: OpNode = self.forward.left
        self.right: Any = self.forward.right
        self.guards = self.forward.guards
        _check_sides(self.left, self.right)
        self.backward = DirectedRule(self, "backward")
        self.depth = max(rule.depth for rule in self.directions)

    @property
    def directions(self) -> tuple[DirectedRule, ...]:
        """Rules that it consists of."""
        return (self.forward, self.backward)

    leading = directions

    @property
    def needs_grant(self) -> str | None:
        return self.forward.needs_grant

    def under(self, granted: Container[str]) -> Equation:
        forward = self.forward.under(granted)
        return self if forward is self.forward else self.on_trust

    @cached_property
    def on_trust(self) -> Equation:
        """Equation without the guards that its assumption makes unnecessary."""
        new: Any = self.copied()
        for rule in self.directions:
            setattr(new, rule.direction, rule.on_trust.copied(equation=new))
        new.guards = new.forward.guards
        return new  # type: ignore[no-any-return]

    @property
    def text(self) -> str:  # type: ignore[override]
        """Equation on one line."""
        there = self.forward.text.removeprefix(f"{pattern_text(self.left)} -> ")
        return f"{_write_left(self.left)} == {there}"

    @property
    def names(self) -> frozenset[str]:
        own = {rule.name for rule in self.directions}
        return super().names | own | {rule.short_name for rule in self.directions}

    def apply(self, fgraph: Graph, node: Apply) -> Any:
        """Apply either direction, the forward one first. (A driver that runs until nothing applies
        does not end with this, and raises an error: equations belong to a `SaturationOptimizer`.)
        """
        for rule in self.directions:
            new = rule.transform(fgraph, node)
            if new is not None:
                return new
        return None

    @cached_property
    def goal(self) -> Callable[[Any, Any], Any]:
        """Equation as a miniKanren relation over etuples, true in both directions."""
        from rewrite_engine.match.goal import rule_goal

        return rule_goal(*self.directions)


def _make_sides(fn: Callable[..., Any], swap: bool) -> Callable[..., Any]:
    """Return the function of a directed rule, from an equation's function."""

    @wraps(fn)
    def sides(**variables: Any) -> Any:
        body = fn(**variables)
        left, *others = body if isinstance(body, tuple) and body else (body,)
        if isinstance(left, RuleBody):
            raise PatternError("has a direction: write `left, right` for an equation, or use @rule")
        if isinstance(left, bool):
            raise PatternError("`==` compares patterns: return both sides, `return left, right`")
        if len(others) not in (1, 2):
            what = f"`left, right` (and `given(...)` after a comma), not {body!r}"
            raise PatternError(f"must return {what}")
        right, *guards = others
        if guards and not isinstance(guards[0], Given):
            raise PatternError(f"has two sides and `given(...)`, not {guards[0]!r}")
        if isinstance(left, Compute) or isinstance(right, Compute):
            raise PatternError("a computed side cannot be matched: use @rule")
        rule = RuleBody(right, left) if swap else RuleBody(left, right)
        return (rule, *guards) if guards else rule

    sides.__wrapped__ = fn
    return sides


def _check_sides(left: OpNode, right: Any) -> None:
    """Check the requirements of an equation beyond those of its forward rule."""
    if _sort_operands(left) == _sort_operands(right):
        how = "operands are matched in any order and grouping anyway"
        raise PatternError(f"both sides are the same: {how}")
    side = f"the right side {pattern_text(right)}"
    if isinstance(right, tuple):
        raise PatternError(f"the terms {pattern_text(right)} are not outputs of one op{ONE_WAY}")
    if not isinstance(right, OpNode):
        raise PatternError(f"{side} is not an op: it would match everything{ONE_WAY}")
    if is_ac(right) and len(right.rests) == len(right.args):
        raise PatternError(f"{side} would match everything, as a sum of one{ONE_WAY}")
    for name in sorted(set(holes(left)) - set(holes(right))):
        what = f"the left side uses {name}, which the right side does not bind"
        raise UnboundVariableError(f"{what}{ONE_WAY}")


def _sort_operands(p: Any) -> Any:
    """Return a pattern with the operands of commutative ops in a canonical order."""
    if not isinstance(p, OpNode):
        return p
    args = [_sort_operands(a) for a in p.args]
    free = not isinstance(p.op, OpClass) and p.op.commutative
    return p.of(*(sorted(args, key=repr) if free else args))


def _write_left(side: OpNode) -> str:
    """Return the left side, with parentheses also where they could be left out: `(a @ b) @ c`."""
    name = str(side.op)
    if side.index is not None or name not in INFIX or len(side.args) != 2:
        return pattern_text(side)
    symbol, level = INFIX[name]
    a, b = [pattern_text(x, level + 1) for x in side.args]
    return f"{a} {symbol} {b}"


def equation(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make an equation of a function whose parameters are the variables, and which returns
    `left, right`. options: the options of `Equation`.
    """
    make = partial(collected, Equation, **options)
    return make if fn is None else make(fn)
