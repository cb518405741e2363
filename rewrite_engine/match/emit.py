"""Compiled matcher: one rule becomes one Python function of nested `if`s.

The function gets `(fgraph, node)`, a node whose op is known to fit the root of the left side, and
returns the new variable, or None. Every test comes as early as its operands are bound; alternatives
(both orders of a commutative op, the end of a rest) are loops. The first part of the file handles
ops whose operands have an order and a number, then the others; right sides are written by
`match/build.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
    run_of,
    same,
    same_node,
    stands_alone,
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
    subpatterns,
    test_cost,
)
from rewrite_engine.match.rests import Tries, shares
from rewrite_engine.match.source import Source, compiled

Function = Callable[[Graph, Any], Any]
Then = Callable[[], None]

EQ: Any = object.__eq__
ROOT = "node.outputs[0]"  # what the left side is matched with, in source
MAX_SCANNED_OPERANDS = 16  # operands that a loop tries; more are looked up by content


def compile_rule(rule: Lowered, name: str, text: str) -> Function:
    """Compile a rule to a function `(fgraph, node) -> variable or None`."""
    source, names = RuleEmitter(rule, name, text).emit()
    function: Function = compiled(source, f"<rule {name}>", names)["match"]
    return function


class RuleEmitter(Source):
    """Writer of the source of one rule."""

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
        if any(
            isinstance(p, OpNode) and is_ac(p) and len(p.rests) > 1 for p, _ in subpatterns(left)
        ):
            self.line(f"tries = {self.constant(Tries)}()")
        if left.index not in (None, ALL):
            self.test(f"len(node.outputs) > {max(left.index or 0, 1)}")
        self.props(left, "node.op")
        self.line("inputs = node.inputs")
        self.operands(left, "inputs", ROOT, self.finish)
        self.indent = 1
        self.line("return None")
        return "\n".join(self.lines) + "\n", self.names

    def state(self) -> tuple[dict[Any, str], set[int], int]:
        """Return the bound variables and evaluated guards at this point, to return to for another
        way.
        """
        return dict(self.bound), set(self.asked), self.indent

    def go_back(self, state: tuple[dict[Any, str], set[int], int]) -> None:
        """Restore an earlier state."""
        bound, asked, self.indent = state
        self.bound, self.asked = dict(bound), set(asked)

    def operands(self, pattern: OpNode, inputs: str, out: str, then: Then) -> None:
        """Match the inputs of a node with an op's operands, and continue with `then`."""
        args = pattern.args
        if is_ac(pattern):
            emit_ac(self, pattern, inputs, out, then)
            return
        wide = sum(map(is_wide, args))
        if wide:
            ops = [p for p in args if isinstance(p, OpNode)]
            for p in ops if wide > 1 else ():  # else all places are tried
                self.test(f"any([{self.head(p, 'v')} for v in {inputs}])")
            emit_sequence(self, list(args), inputs, "", out, then)
            return
        self.test(f"len({inputs}) == {len(args)}")
        parts = [self.local() for _ in args]
        if pattern.swaps:
            among_two(self, args, inputs)
            self.line(f"for {', '.join(parts)} in ({inputs}, {inputs}[::-1]):")
            self.indent += 1
        elif parts:
            self.line(f"{', '.join(parts)}, = {inputs}")
        self.wholes.update(dict.fromkeys(parts, out))
        self.all_of(list(zip(args, parts, strict=True)), then)

    def all_of(self, todo: list[tuple[Any, str]], then: Then) -> None:
        """Match pairs of pattern and expression: cheap tests, then the heads of operands that are
        ops, then these one by one in depth.
        """
        cheap = [(p, v) for p, v in todo if not isinstance(p, OpNode)]
        for p, v in sorted(cheap, key=lambda pair: test_cost(pair[0])):
            if isinstance(p, Literal):
                self.literal(p, v)
            else:
                self.bind(p, v)
        ops = [(p, v) for p, v in todo if isinstance(p, OpNode)]
        self.test(*[self.head(p, v) for p, v in ops])
        self.ready_guards()
        self.descend(ops, then)

    def head(self, pattern: OpNode, v: str) -> str:
        head = pattern.head
        if not isinstance(pattern.op, OpClass):
            own = type(head).__eq__ is not EQ  # (an op may say what it equals)
            return f"{v}.head {'==' if own else 'is'} {self.constant(head)}"
        test = f"type({v}.head) is {self.constant(head)}"
        if pattern.index is None:
            return test
        cls = self.constant(pattern.operator)
        return f"{test} and {v}.index == {pattern.index} and type({v}.owner.op) is {cls}"

    def descend(self, todo: list[tuple[Any, str]], then: Then) -> None:
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
        """Test that a constant is a number, inline if only one number is."""
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
        """Write the guards that can be evaluated by now (`askable`)."""
        for i, guard in askable(self.rule.guards, self.bound, self.asked):
            self.asked.add(i)
            self.test(self.guard(guard))

    def guard(self, guard: Condition) -> str:
        args = [self.bound[a.name] if isinstance(a, Hole) else self.constant(a) for a in guard.args]
        if guard.fact is None:
            return f"{self.constant(guard.fn, 'guard')}({', '.join(args)})"
        return f"{self.constant(guard.fact, guard.fact.name)}.at(fgraph, node, {', '.join(args)})"

    def finish(self) -> None:
        """Write the remaining guards and the right side, after the left side has matched."""
        ends = {name: v for name, v in self.bound.items() if name in (BEFORE, AFTER)}
        if ends:  # the operands between them have to be a term of their own
            start = f"len({ends[BEFORE]})" if BEFORE in ends else "0"
            end = "len(inputs)" + (f" - len({ends[AFTER]})" if AFTER in ends else "")
            alone = self.constant(stands_alone)
            self.test(f"{alone}({ROOT}, {self.rule.exact}, {start}, {end})")
        self.ready_guards()
        write_right(self)


# --- operands in any order, and of any number ---------------------------------------------------
#
# (What they mean: `match/ac.py`.) Every fixed operand of a pattern is a loop over the operands not
# taken yet; what is left is bound at the innermost place. Among many operands, those that hold what
# is bound already are looked up, so that a failing match stays linear.


def emit_ac(to: RuleEmitter, pattern: OpNode, inputs: str, out: str, then: Then) -> None:
    """Write the matching of all operands of an AC op. inputs, out: the node's inputs and output."""
    taking, n = plan(pattern, to.rule.left), f"len({inputs})"
    wanted = taking.wanted
    more = pattern is to.rule.left or taking.collector is not None
    # the condition under which a rule may match some of more operands
    regroup = [f"{out}.type.regroups_exactly"] * to.rule.exact
    if taking.rests:
        to.test(*[f"{n} >= {wanted}"] * bool(wanted))
    elif wanted == 2 and (not more or open_nodes(to.rule.left) <= 2):
        before = to.state()
        to.test(f"{n} == 2")
        emit_pair(to, pattern, taking, inputs, out, then)
        if not more:
            return
        to.go_back(before)
        to.test(f"{n} > 2", *regroup)
    elif not more:
        to.test(f"{n} == {wanted}")
    elif regroup:
        to.test(f"{n} == {wanted} or {n} > {wanted} and {regroup[0]}")
    else:
        to.test(f"{n} >= {wanted}")
    emit_any(to, pattern, taking, inputs, out, then)


def open_nodes(left: OpNode) -> int:
    """Return how many parts of a left side match two operands as well as more; each doubles the
    code.
    """
    parts = [p for p, _ in subpatterns(left) if is_ac(p)]
    return sum(p is left or plan(p, left).collector is not None for p in parts)


def emit_pair(
    to: RuleEmitter, pattern: OpNode, taking: Plan, inputs: str, out: str, then: Then
) -> None:
    """Write the matching of two operands with two patterns: one order, then the other."""
    first, second = [p for p in (*taking.fixed, taking.collector) if p is not None]
    among_two(to, (first, second), inputs)
    v, w = to.local(), to.local()
    to.wholes.update({v: out, w: out})
    if first == second:
        to.line(f"{v}, {w} = {inputs}")
    else:
        to.line(f"for {v}, {w} in ({inputs}, {inputs}[::-1]):")
        to.indent += 1
    if pattern is to.rule.left:
        to.bound[EXTRA] = "()"
    (p, a), (q, b) = sorted([(first, v), (second, w)], key=lambda pair: not is_bound(to, pair[0]))
    to.all_of([(p, a)], lambda: to.all_of([(q, b)], then))


def among_two(to: RuleEmitter, patterns: Sequence[Any], inputs: str) -> None:
    """Test that already bound variables are among two operands, before trying orders."""
    known = [to.bound[p.name] for p in patterns if is_bound(to, p)]
    to.test(*[f"({inputs}[0] is {v} or {inputs}[1] is {v})" for v in known])


def is_bound(to: RuleEmitter, pattern: Any) -> bool:
    """Return whether a pattern is a bound variable: the cheapest test of all."""
    return isinstance(pattern, Hole) and pattern.name in to.bound


def emit_any(
    to: RuleEmitter, pattern: OpNode, taking: Plan, inputs: str, out: str, then: Then
) -> None:
    """Write the matching of any number of operands: a loop for each fixed pattern, and code for the
    remaining operands.
    """
    to.test(*[f"{to.bound[p.name]} in {inputs}" for p in taking.fixed if is_bound(to, p)])

    def finish(places: Sequence[str], taken: Sequence[str]) -> None:
        rest: list[tuple[Any, str]] = []
        if taking.rests or taking.collector or pattern is to.rule.left:
            left = to.local("left")
            to.line(f"{left} = {remaining(inputs, places)}")
        if taking.rests:
            emit_rests(to, taking, left, taken, out)
        elif taking.collector is not None:
            keep(to, out, taken, (left,))
            whole = to.local()
            op, join = to.constant(pattern.op), to.constant(joined)
            to.line(f"{whole} = {left}[0] if len({left}) == 1 else {join}({op}, {left})")
            rest = [(taking.collector, whole)]
        elif pattern is to.rule.left:
            keep(to, out, taken, (), left)
            to.bound[EXTRA] = left
        to.all_of(rest, then)

    index = to.local("at")
    to.line(f"{index} = None")
    written = len(to.lines)
    take(to, taking.fixed, (inputs, out), (), finish, index)
    if not any(f"{index} :=" in line for line in to.lines[written:]):
        del to.lines[written - 1]


def keep(
    to: RuleEmitter, out: str, taken: Sequence[str], groups: Sequence[str], beside: str = ""
) -> None:
    """Test that groups of operands are computed in the dtype of the whole: usually each of them has
    an operand of exactly that type. beside: operands that stay next to the result.
    """
    whole = f"{out}.type"
    alike = [f"{g} and {g}[0].type is {whole}" for g in groups]
    if len(taken) > 1:
        alike.append(f"({' or '.join(f'{v}.type is {whole}' for v in taken)})")
    if alike:
        all_taken = f"({''.join(f'{v}, ' for v in taken)})"
        parts = ", ".join([out, all_taken, *groups, *[f"{beside}[:1]"] * bool(beside)])
        to.test(f"{' and '.join(alike)} or {to.constant(keeps_dtype)}({parts})")


def emit_rests(to: RuleEmitter, taking: Plan, left: str, taken: Sequence[str], out: str) -> None:
    """Let the rests of a pattern take the remaining operands: a loop over the ways, if there are
    several.
    """
    free = {hole.name: n for hole, n in taking.rests.items() if hole.name not in to.bound}
    bounds = [hole for hole in taking.rests if hole.name in to.bound]
    known = [to.bound[hole.name] for hole in bounds for _ in range(taking.rests[hole])]
    if not known and list(free.values()) == [1]:
        (name,) = free
        keep(to, out, taken, (left,))
        to.bound[name] = left
    elif not free and len(known) == 1:
        test = f"{left} == {known[0]}"
        if not taking.ordered:
            test = f"{to.constant(same)}({left}, {known[0]})"
        to.test(test)
        keep(to, out, taken, (left,))
    else:
        parts = [to.local("r") for _ in free]
        sharing = to.constant(shares)
        given = "".join(f"{v}, " for v in known)
        ways = f"({given}), {tuple(free.values())}, {taking.ordered}, tries"
        names = "".join(f"{part}, " for part in parts) or "()"
        to.line(f"for {names} in {sharing}({left}, {ways}):")
        to.indent += 1
        to.bound.update(zip(free, parts, strict=True))
        keep(to, out, taken, (*known, *parts))
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
    the term they belong to. taken: names of places and operands. index: the name of `positions`.
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
        lookup = f"({index} := {index} or {to.constant(positions)}({inputs}))"
        to.line(
            f"for {i}, {v} in {lookup}.get({key}, ()) if len({inputs}) > {MAX_SCANNED_OPERANDS} "
            f"else enumerate({inputs}):"
        )
    to.indent += 1
    to.test(*[f"{i} != {t}" for t, _ in taken])
    others = (fixed[1:], whole, (*taken, (i, v)), then, index)
    to.all_of([(fixed[0], v)], lambda: take(to, *others))


def position_key(to: RuleEmitter, pattern: Any) -> str | None:
    """Return the key in `positions` of all operands that a pattern may match, as source; None if
    there is none.
    """
    if is_bound(to, pattern):
        return to.bound[pattern.name]
    if not isinstance(pattern, OpNode) or isinstance(pattern.op, OpClass):
        return None
    for a in pattern.args:
        if is_bound(to, a) and not a.rest:
            return f"({to.constant(pattern.op)}, {to.bound[a.name]})"
    return None


def remaining(inputs: str, taken: Sequence[str]) -> str:
    """Return the source of the operands that are not taken."""
    if not taken:
        return inputs
    if len(taken) == 1:
        return f"{inputs}[:{taken[0]}] + {inputs}[{taken[0]} + 1:]"
    if len(taken) == 2:
        cut = "{0}[:{1}] + {0}[{1} + 1:{2}] + {0}[{2} + 1:]".format
        i, j = taken
        return f"{cut(inputs, i, j)} if {i} < {j} else {cut(inputs, j, i)}"
    test = " and ".join(f"_i != {t}" for t in taken)
    return f"tuple([_v for _i, _v in enumerate({inputs}) if {test}])"


# --- operands in order ---------------------------------------------------------------------------


def emit_sequence(
    to: RuleEmitter, args: list[Any], inputs: str, at: str, out: str, then: Then
) -> None:
    """Match operands in order; each pattern for any number of operands is a loop over its end."""
    position = next((i for i, a in enumerate(args) if is_wide(a)), None)
    if position is None:
        to.test(f"len({inputs}) == {plus(at, len(args))}")
        to.all_of(named(to, args, inputs, at, out), then)
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
            if isinstance(after[0], OpNode):  # before anything is cut out
                to.test(to.head(after[0], f"{inputs}[{end}]"))
        bind_several(to, rest, inputs, start, end, out)
        emit_sequence(to, after, inputs, end, out, then)

    to.all_of(named(to, before, inputs, at, out), go_on)


def bind_several(to: RuleEmitter, hole: Hole, inputs: str, start: str, end: str, out: str) -> None:
    """Bind a hole to the operands from one position to another."""
    if hole.name in (BEFORE, AFTER):  # (cut out where it is used)
        to.bound[hole.name] = f"{inputs}[{start}:{end}]"
        return
    taken = to.local()
    if hole.rest:
        to.line(f"{taken} = {inputs}[{start}:{end}]")
        if hole.name in to.bound:
            to.test(f"{taken} == {to.bound[hole.name]}")
        to.bound.setdefault(hole.name, taken)
    else:
        run = to.constant(run_of)
        to.line(f"{taken} = {run}({out}, {to.rule.exact}, {start}, {end})")
        to.test(f"{taken} is not None")
        to.bind(hole, taken)
    to.ready_guards()


def named(
    to: RuleEmitter, args: list[Any], inputs: str, at: str, out: str
) -> list[tuple[Any, str]]:
    """Give operands of `out` that are looked up by index a local name."""
    pairs = [(pattern, to.local()) for pattern in args]
    for i, (_, v) in enumerate(pairs):
        to.wholes[v] = out
        to.line(f"{v} = {inputs}[{plus(at, i)}]")
    return pairs


def plus(at: str, n: int) -> str:
    """Return the source of `at + n`, where `at` may be empty for zero."""
    return f"{at} + {n}" if at and n else at or str(n)
