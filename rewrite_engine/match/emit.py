"""The matcher, compiled: one rule becomes one Python function of nested `if`s.

The function gets `(fgraph, node)`, a node whose op is known to fit the root of the left side, and
returns the new variable, or None. Every test comes as early as its operands are bound; alternatives
(both orders of a commutative op, where a rest ends) are loops. First come ops whose operands have
an order and a number, then the others; right sides are written by `match/build.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.ac import (
    AFTER,
    BEFORE,
    EXTRA,
    Plan,
    is_ac,
    joined,
    keeps_dtype,
    plan,
    positions,
    same_node,
    stands_alone,
    without,
)
from rewrite_engine.match.build import write_right
from rewrite_engine.match.lower import Condition, Lowered, askable
from rewrite_engine.match.pattern import (
    ALL,
    Graph,
    Hole,
    Literal,
    OpClass,
    OpNode,
    is_literal,
    is_wide,
    test_cost,
)
from rewrite_engine.match.source import Source, compiled

Function = Callable[[Graph, Any], Any]
Then = Callable[[], None]

ROOT = "node.outputs[0]"  # what the left side is matched with, in source
WIDE = 16  # more operands than these are looked up rather than gone through


def compile_rule(rule: Lowered, name: str, text: str) -> Function:
    """Compile a rule to a function `(fgraph, node) -> variable or None`."""
    source, names = RuleEmitter(rule, name, text).emit()
    function: Function = compiled(source, f"<rule {name}>", names)["match"]
    return function


class RuleEmitter(Source):
    """Writes the source of one rule."""

    def __init__(self, rule: Lowered, name: str, text: str) -> None:
        super().__init__(["def match(fgraph, node):", f"    # {name}: {text}"])
        self.names |= {"CONSTANT": CONSTANT, "is_literal": is_literal}
        self.rule = rule
        self.bound: dict[Any, str] = {}  # by name; nodes of several outputs by their patterns
        self.wholes: dict[str, str] = {}  # what operands are operands of
        self.asked: set[int] = set()  # guards, by number

    def emit(self) -> tuple[str, dict[str, Any]]:
        """Return the source and the globals it needs."""
        left = self.rule.left
        if left.index not in (None, ALL):
            self.test(f"len(node.outputs) > {max(left.index or 0, 1)}")
        self.props(left, "node.op")
        self.line("inputs = node.inputs")
        self.operands(left, "inputs", ROOT, self.finish)
        self.indent = 1
        self.line("return None")
        return "\n".join(self.lines) + "\n", self.names

    def operands(self, pattern: OpNode, inputs: str, out: str, then: Callable[[], None]) -> None:
        """Match the inputs of a node with an op's operands, and go on with `then`."""
        args = pattern.args
        if is_ac(pattern):
            emit_ac(self, pattern, inputs, out, then)
            return
        for p in filter(must_be, args if sum(map(is_wide, args)) > 1 else ()):
            self.test(f"any([{self.head(p, 'v')} for v in {inputs}])")  # else all places are tried
        window = partial(emit_window, self, out, then)
        emit_sequence(self, pattern, list(args), inputs, "", out, window)

    def all_of(self, todo: list[tuple[Any, str]], then: Callable[[], None]) -> None:
        """Match pairs of pattern and expression: what is cheap to test, what computes the others,
        then these one by one in depth.
        """
        cheap = [(p, v) for p, v in todo if not isinstance(p, OpNode)]
        for p, v in sorted(cheap, key=lambda pair: test_cost(pair[0])):
            if isinstance(p, Literal):
                self.literal(p, v)
            else:
                self.bind(p, v)
        ops = [(p, v) for p, v in todo if isinstance(p, OpNode)]
        sure = [(p, v) for p, v in ops if p.default is None]
        if sure:
            self.test(" and ".join(self.head(p, v) for p, v in sure))
        self.ready_guards()
        for pattern, v in [(p, v) for p, v in ops if p.default is not None]:
            then = partial(_with_default, self, pattern, v, then)
        self.descend(sure, then)

    def head(self, pattern: OpNode, v: str) -> str:
        head = pattern.head
        if not isinstance(pattern.op, OpClass):
            return f"{v}.head is {self.constant(head)}"
        test = f"type({v}.head) is {self.constant(head)}"
        if pattern.index is None:
            return test
        cls = self.constant(pattern.operator)
        return f"{test} and {v}.index == {pattern.index} and type({v}.owner.op) is {cls}"

    def descend(self, todo: list[tuple[Any, str]], then: Callable[[], None]) -> None:
        if not todo:
            then()
            return
        (pattern, v), others = todo[0], todo[1:]
        whole = None if pattern.place is None else pattern.output(ALL)
        if whole in self.bound:
            self.test(f"{self.constant(same_node)}({v}.owner, {self.bound[whole]})")
            self.descend(others, then)
            return
        self.props(pattern, f"{v}.head" if pattern.index is None else f"{v}.owner.op")
        inputs = self.local("p")
        self.line(f"{inputs} = {v}.owner.inputs")

        def go_on() -> None:
            if whole is not None:
                self.bound[whole] = f"{v}.owner"
            self.descend(others, then)

        self.operands(pattern, inputs, v, go_on)

    def props(self, pattern: OpNode, op: str) -> None:
        """Match the parameters of an op."""
        if not isinstance(pattern.op, OpClass):
            return
        for name, wanted in pattern.op.props:
            if not isinstance(wanted, Hole):
                self.test(f"{op}.{name} == {self.constant(wanted)}")
            elif wanted.name in self.bound:
                self.test(f"{op}.{name} == {self.bound[wanted.name]}")
            else:
                self.bound[wanted.name] = v = self.local()
                self.line(f"{v} = {op}.{name}")

    def bind(self, hole: Hole, v: str) -> None:
        if hole.name in self.bound:
            self.test(f"{v} is {self.bound[hole.name]}")
            return
        self.bound[hole.name] = v
        sort = hole.sort
        if sort.inline is not None:
            self.test(sort.inline.format(v=v))
        else:
            self.test(f"{self.constant(sort.test, sort.name)}({v})")

    def literal(self, literal: Literal, v: str) -> None:
        """Test that a constant is a number, in place where only one number is that."""
        value = literal.value
        slow = f"is_literal({v}, {self.constant(value)}, {self.wholes[v]})"
        plain = type(value) in (int, float) and math.isfinite(value) and value != 0
        if plain:
            one = f" and {v}.number is not True" if value == 1 else ""
            others = [mark for mark in literal.marks if mark != value]
            rounded = f"({v}.number is None or {v}.number in {self.constant((*others,))})"
            other = rounded if others else f"{v}.number is None"
            slow = f"({v}.number == {value!r}{one} or {other} and {slow})"
        self.test(f"{v}.head is CONSTANT and {slow}")

    def ready_guards(self) -> None:
        """Ask the guards that can be asked by now (`askable`)."""
        for i, guard in askable(self.rule.guards, self.bound, self.asked):
            self.asked.add(i)
            self.test(self.guard(guard))

    def guard(self, guard: Condition) -> str:
        args = [self.bound[a.name] if isinstance(a, Hole) else self.constant(a) for a in guard.args]
        if guard.fact is not None:
            return (
                f"{self.constant(guard.fact, guard.fact.name)}.at(fgraph, node, {', '.join(args)})"
            )
        return f"{self.constant(guard.fn, 'guard')}({', '.join(args)})"

    def finish(self) -> None:
        """The left side matches: ask what is left to ask, and make the right side."""
        self.ready_guards()
        write_right(self)


# --- operands in any order, and of any number ---------------------------------------------------
#
# (What they mean: `match/ac.py`.) Every fixed operand of a pattern is a loop over the operands not
# taken yet; what is left is bound at the innermost place. Among many operands, those that hold what
# is bound already are looked up, so that a failing match stays linear.


def emit_ac(to: RuleEmitter, pattern: OpNode, inputs: str, out: str, then: Then) -> None:
    """Write the matching of all operands of an AC op: a loop for each fixed pattern, and something
    for what is left. inputs, out: the node's inputs and output.
    """
    taking = plan(pattern, to.rule.left)
    n, wanted, whole = f"len({inputs})", taking.wanted, pattern is to.rule.left
    if taking.rests:
        to.test(f"{n} >= {wanted}" if wanted else "True")
    elif taking.collector is None and not whole:
        to.test(f"{n} == {wanted}")
    elif to.rule.exact:
        to.test(f"{n} == {wanted} or {n} > {wanted} and {out}.type.regroups_exactly")
    else:
        to.test(f"{n} >= {wanted}")
    known = [to.bound[p.name] for p in taking.fixed if is_bound(to, p)]
    to.test(" and ".join(f"{v} in {inputs}" for v in known) or "True")

    def finish(places: Sequence[str], taken: Sequence[str]) -> None:
        if not (taking.rests or taking.collector or whole):
            then()
            return
        left = to.local("left")
        to.line(f"{left} = {remaining(to, inputs, places)}")
        if taking.rests:
            emit_rest(to, taking, left, taken, out)
        elif taking.collector is not None:
            keep(to, out, taken, (left,))
            one = to.local()
            several = f"{to.constant(joined)}({to.constant(pattern.op)}, {left})"
            to.line(f"{one} = {left}[0] if len({left}) == 1 else {several}")
            to.bind(taking.collector, one)
            to.ready_guards()
        else:
            keep(to, out, taken, (), left)
            to.bound[EXTRA] = left
        then()

    index = to.local("at")
    to.line(f"{index} = None")
    written = len(to.lines)
    take(to, taking.fixed, (inputs, out), (), finish, index)
    if not any(f"{index} :=" in line for line in to.lines[written:]):
        del to.lines[written - 1]


def is_bound(to: RuleEmitter, pattern: Any) -> bool:
    """Whether a pattern is a variable that is bound already: the cheapest test of all."""
    return isinstance(pattern, Hole) and pattern.name in to.bound


def keep(
    to: RuleEmitter, out: str, taken: Sequence[str], groups: Sequence[str], beside: str = ""
) -> None:
    """Test that groups of operands are computed in the dtype of the whole: most often each of them
    has one of its very type. beside: operands that come back beside the result.
    """
    whole = f"{out}.type"
    alike = [f"{g} and {g}[0].type is {whole}" for g in groups]
    if len(taken) > 1:
        alike.append(f"({' or '.join(f'{v}.type is {whole}' for v in taken)})")
    if alike:
        parts = [
            f"({''.join(f'{v}, ' for v in taken)})",
            *groups,
            *[f"{beside}[:1]"] * bool(beside),
        ]
        call = f"{to.constant(keeps_dtype)}({out}, {', '.join(parts)})"
        to.test(f"{' and '.join(alike)} or {call}")


def emit_rest(to: RuleEmitter, taking: Plan, left: str, taken: Sequence[str], out: str) -> None:
    """Let the rest of a pattern take what is left."""
    (hole,) = taking.rests
    if hole.name in to.bound:
        known = to.bound[hole.name]
        same = f"{left} == {known}"
        to.test(same if taking.ordered else f"{to.constant(taking.same, 'same')}({left}, {known})")
    keep(to, out, taken, (left,))
    to.bound.setdefault(hole.name, left)
    to.ready_guards()


def take(
    to: RuleEmitter,
    fixed: Sequence[Any],
    whole: tuple[str, str],
    taken: tuple[tuple[str, str], ...],
    then: Callable[[Sequence[str], Sequence[str]], None],
    index: str,
) -> None:
    """Write a loop for each pattern that takes one operand. whole: the names of all operands and of
    what they are operands of. taken: names of places and operands. index: the name of `positions`.
    """
    if not fixed:
        then([i for i, _ in taken], [v for _, v in taken])
        return
    i, v = to.local("i"), to.local()
    inputs, to.wholes[v] = whole
    key = position_key(to, fixed[0]) if taken else None
    if key is None:
        to.line(f"for {i}, {v} in enumerate({inputs}):")
    else:
        made = f"({index} := {index} or {to.constant(positions)}({inputs}))"
        to.line(
            f"for {i}, {v} in {made}.get({key}, ()) if len({inputs}) > {WIDE} "
            f"else enumerate({inputs}):"
        )
    to.indent += 1
    to.test(" and ".join(f"{i} != {t}" for t, _ in taken) or "True")
    others = partial(take, to, fixed[1:], whole, (*taken, (i, v)), then, index)
    to.all_of([(fixed[0], v)], others)


def position_key(to: RuleEmitter, pattern: Any) -> str | None:
    """The key in `positions` of all operands that a pattern may match, as source; None: no such."""
    if is_bound(to, pattern):
        return to.bound[pattern.name]
    if not isinstance(pattern, OpNode) or isinstance(pattern.op, OpClass) or pattern.default:
        return None
    for a in pattern.args:
        if is_bound(to, a) and not a.rest and not a.has_default:
            return f"({to.constant(pattern.op)}, {to.bound[a.name]})"
    return None


def _with_default(to: RuleEmitter, pattern: OpNode, v: str, then: Then) -> None:
    """Two ways, one after the other: with all operands, and with the one that may be missing."""
    bound, asked, indent = dict(to.bound), set(to.asked), to.indent
    to.test(to.head(pattern, v))
    to.descend([(pattern, v)], then)
    to.bound, to.asked, to.indent = bound, asked, indent
    missing = pattern.default
    assert missing is not None
    if missing.name in to.bound:
        return
    to.bound[missing.name] = to.constant(missing.default)
    (other,) = [a for a in pattern.args if a is not missing]
    to.ready_guards()
    to.all_of([(other, v)], then)


def remaining(to: RuleEmitter, inputs: str, taken: Sequence[str]) -> str:
    """The source of the operands that nobody took."""
    if not taken:
        return inputs
    if len(taken) == 1:
        return f"{inputs}[:{taken[0]}] + {inputs}[{taken[0]} + 1:]"
    if len(taken) == 2:
        i, j = taken
        low, high = [
            f"{inputs}[:{a}] + {inputs}[{a} + 1:{b}] + {inputs}[{b} + 1:]"
            for a, b in ((i, j), (j, i))
        ]
        return f"{low} if {i} < {j} else {high}"
    return f"{to.constant(without)}({inputs}, ({', '.join(taken)}))"


# --- operands in order ---------------------------------------------------------------------------


def emit_window(to: RuleEmitter, out: str, then: Then) -> None:
    """Test that the operands that the left side does not leave alone may be taken."""
    ends = {name: v for name, v in to.bound.items() if name in (BEFORE, AFTER)}
    if ends and out == ROOT:
        end = "len(inputs)" + (f" - len({ends[AFTER]})" if AFTER in ends else "")
        test_alone(to, out, f"len({ends[BEFORE]})" if BEFORE in ends else "0", end)
    then()


def test_alone(to: RuleEmitter, out: str, start: str, end: str) -> None:
    """Test that operands from one place to another may be a term of their own."""
    to.test(f"{to.constant(stands_alone)}({out}, {to.rule.exact}, {start}, {end})")


def emit_sequence(
    to: RuleEmitter, pattern: OpNode, args: list[Any], inputs: str, at: str, out: str, then: Then
) -> None:
    """Match operands in order, from a place on: a loop over where each ends that stands for any
    number; and over both orders of two that may be exchanged.
    """
    position = next((i for i, a in enumerate(args) if is_wide(a)), None)
    if position is None:
        to.test(f"len({inputs}) == {plus(at, len(args))}")
        left = f"{inputs}[{at}:]" if at else inputs
        to.all_of(named(to, args, left, out, pattern.swaps), then)
        return
    before, rest, after = args[:position], args[position], args[position + 1 :]
    needed = sum(not (isinstance(a, Hole) and a.rest) for a in after)
    least = int(rest.several)
    if before or needed or least:
        to.test(f"len({inputs}) >= {plus(at, len(before) + least + needed)}")
    start = plus(at, len(before))

    def go_on() -> None:
        end = to.local("e")
        if not any(map(is_wide, after)):
            to.line(f"{end} = len({inputs}) - {needed}")
        else:
            first = plus(at, len(before) + least)
            to.line(f"for {end} in range({first}, len({inputs}) - {needed} + 1):")
            to.indent += 1
            if must_be(after[0]):  # before anything is cut out
                to.test(to.head(after[0], f"{inputs}[{end}]"))
        bind_several(to, rest, inputs, start, end, out)
        emit_sequence(to, pattern, after, inputs, end, out, then)

    to.all_of(named(to, before, f"{inputs}[{at}:{start}]", out), go_on)


def must_be(pattern: Any) -> bool:
    """Whether one operand has to be computed by a certain op."""
    return isinstance(pattern, OpNode) and pattern.default is None


def bind_several(to: RuleEmitter, hole: Hole, inputs: str, start: str, end: str, out: str) -> None:
    """Bind a hole to the operands from one place to another."""
    if hole.name in (BEFORE, AFTER):  # (cut out where it is used)
        to.bound[hole.name] = f"{inputs}[{start}:{end}]"
        to.ready_guards()
        return
    taken = to.local()
    if hole.rest:
        to.line(f"{taken} = {inputs}[{start}:{end}]")
        if hole.name in to.bound:
            to.test(f"{taken} == {to.bound[hole.name]}")
        to.bound.setdefault(hole.name, taken)
        to.ready_guards()
        return
    test_alone(to, out, start, end)
    to.line(f"{taken} = {to.constant(joined)}({out}.owner.op, {inputs}[{start}:{end}])")
    to.bind(hole, taken)
    to.ready_guards()


def named(
    to: RuleEmitter, args: list[Any], operands: str, out: str, swaps: bool = False
) -> list[tuple[Any, str]]:
    """Give operands of `out` local names. swaps: in both orders."""
    parts = [to.local() for _ in args]
    to.wholes.update(dict.fromkeys(parts, out))
    if swaps:
        to.line(f"for {', '.join(parts)} in ({operands}, {operands}[::-1]):")
        to.indent += 1
    elif parts:
        to.line(f"{', '.join(parts)}, = {operands}")
    return list(zip(args, parts, strict=True))


def plus(at: str, n: int) -> str:
    """The source of `at + n`, where `at` may be empty for zero."""
    if not at:
        return str(n)
    return f"{at} + {n}" if n else at
