"""The part of the matcher compiler for associative-commutative ops, for operands that may be
missing, and for those of which any number may stand side by side.

Every fixed operand of a pattern is a loop over the node's operands that are not taken yet; what is
left is bound at the innermost place. What each of them means is told in `match/ac.py`. Among many
operands, those that hold what is bound already are looked up, so that a failing match stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.match.ac import (
    AFTER,
    BEFORE,
    EXTRA,
    Plan,
    is_ac,
    joined,
    keeps_dtype,
    plan,
    run_of,
    shares,
    stands_alone,
)
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, is_wide, subpatterns

if TYPE_CHECKING:
    from rewrite_engine.match.emit import RuleEmitter

Then = Callable[[], None]

ROOT = "node.outputs[0]"  # what the left side is matched with, in source
WIDE = 16  # more operands than these are looked up rather than gone through


def emit_ac(to: RuleEmitter, pattern: OpNode, inputs: str, out: str, then: Then) -> None:
    """Write the matching of all operands of an AC op. inputs, out: the node's inputs and output."""
    taking = plan(pattern, to.rule.left)
    wanted = taking.wanted
    n = f"len({inputs})"
    if taking.rests:
        to.test(f"{n} >= {wanted}" if wanted else "True")
        emit_any(to, pattern, taking, inputs, out, then)
    elif taking.collector is None and pattern is not to.rule.left:
        to.test(f"{n} == {wanted}")
        both = emit_pair if wanted == 2 else emit_any
        both(to, pattern, taking, inputs, out, then)
    elif wanted == 2 and open_nodes(to.rule.left) <= 2:
        before = to.state()
        to.test(f"{n} == 2")
        emit_pair(to, pattern, taking, inputs, out, then)
        to.go_back(before)
        to.test(f"{n} > 2" + may_regroup(to, out))
        emit_any(to, pattern, taking, inputs, out, then)
    else:
        more = may_regroup(to, out)
        to.test(f"{n} == {wanted} or {n} > {wanted}{more}" if more else f"{n} >= {wanted}")
        emit_any(to, pattern, taking, inputs, out, then)


def may_regroup(to: RuleEmitter, out: str) -> str:
    """The condition under which a rule may match some of more operands."""
    return f" and {out}.type.regroups_exactly" if to.rule.exact else ""


def open_nodes(left: OpNode) -> int:
    """How many parts of a left side match two operands as well as more; each doubles the code."""
    parts = [p for p, _ in subpatterns(left) if is_ac(p)]
    return sum(p is left or plan(p, left).collector is not None for p in parts)


def emit_pair(
    to: RuleEmitter, pattern: OpNode, taking: Plan, inputs: str, out: str, then: Then
) -> None:
    """Two operands for two patterns: one order, then the other."""
    first, second = [p for p in (*taking.fixed, taking.collector) if p is not None]
    among_two(to, (first, second), inputs)
    v, w = to.local(), to.local()
    to.wholes.update({v: out, w: out})
    if first == second:
        to.line(f"{v}, {w} = {inputs}")
    else:
        to.line(f"for {v}, {w} in ({inputs}, {inputs}[::-1]):")
        to.indent += 1
    to.extra = None if pattern is to.rule.left else to.extra
    (p, a), (q, b) = sorted([(first, v), (second, w)], key=lambda pair: not is_bound(to, pair[0]))
    emit_one(to, p, a, lambda: emit_one(to, q, b, then))


def among_two(to: RuleEmitter, patterns: Sequence[Any], inputs: str) -> None:
    """Test that variables that are bound already are among two operands, before trying orders."""
    known = [to.bound[p.name] for p in patterns if is_bound(to, p)]
    tests = [f"({inputs}[0] is {v} or {inputs}[1] is {v})" for v in known]
    to.test(" and ".join(tests) or "True")


def is_bound(to: RuleEmitter, pattern: Any) -> bool:
    """Whether a pattern is a variable that is bound already: the cheapest test of all."""
    return isinstance(pattern, Hole) and pattern.name in to.bound


def emit_any(
    to: RuleEmitter, pattern: OpNode, taking: Plan, inputs: str, out: str, then: Then
) -> None:
    """Any number of operands: a loop for each fixed pattern, and something for what is left."""
    known = [to.bound[p.name] for p in taking.fixed if is_bound(to, p)]
    to.test(" and ".join(f"{v} in {inputs}" for v in known) or "True")

    def finish(places: Sequence[str], taken: Sequence[str]) -> None:
        if not (taking.rests or taking.collector or pattern is to.rule.left):
            then()
            return
        left = to.local("left")
        to.line(f"{left} = {remaining(inputs, places)}")
        if taking.rests:
            emit_rests(to, taking, left, taken, out)
        elif taking.collector is not None:
            keep(to, out, taken, (left,))
            whole = to.local()
            op = to.constant(pattern.op, str(pattern.op))
            join = to.constant(joined, "joined")
            to.line(f"{whole} = {left}[0] if len({left}) == 1 else {join}({op}, {left})")
            to.hole(taking.collector, whole)
        else:
            keep(to, out, taken, (), left)
            to.extra = left
        then()

    index = to.local("at")
    to.line(f"{index} = None")
    written = len(to.lines)
    take(to, taking.fixed, (inputs, out), (), finish, index)
    if not any(f"{index} :=" in line for line in to.lines[written:]):
        del to.lines[written - 1]


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
        call = f"{to.constant(keeps_dtype, 'keeps_dtype')}({out}, {', '.join(parts)})"
        to.test(f"{' and '.join(alike)} or {call}")


def emit_rests(to: RuleEmitter, taking: Plan, left: str, taken: Sequence[str], out: str) -> None:
    """Let the rests of a pattern take what is left: a loop over the ways, if there are several."""
    free = {hole.name: n for hole, n in taking.rests.items() if hole.name not in to.bound}
    bounds = [hole for hole in taking.rests if hole.name in to.bound]
    known = [to.bound[hole.name] for hole in bounds for _ in range(taking.rests[hole])]
    if not known and list(free.values()) == [1]:
        (name,) = free
        keep(to, out, taken, *(((), left) if name == EXTRA else ((left,),)))
        to.bound[name] = left
    elif not free and len(known) == 1:
        test = f"{left} == {known[0]}"
        if not taking.ordered:
            test = f"{to.constant(taking.same, 'same')}({left}, {known[0]})"
        to.test(test)
        keep(to, out, taken, (left,))
    else:
        parts = [to.local("r") for _ in free]
        sharing = to.constant(shares, "shares")
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
    what they are operands of. taken: names of places and operands. index: the name of `positions`.
    """
    if not fixed:
        then([i for i, _ in taken], [v for _, v in taken])
        return
    i, v = to.local("i"), to.local()
    inputs, to.wholes[v] = whole
    key = anchor(to, fixed[0]) if taken else None
    if key is None:
        to.line(f"for {i}, {v} in enumerate({inputs}):")
    else:
        made = f"({index} := {index} or {to.constant(positions, 'positions')}({inputs}))"
        to.line(
            f"for {i}, {v} in {made}.get({key}, ()) if len({inputs}) > {WIDE} "
            f"else enumerate({inputs}):"
        )
    to.indent += 1
    to.test(" and ".join(f"{i} != {t}" for t, _ in taken) or "True")
    emit_one(to, fixed[0], v, lambda: take(to, fixed[1:], whole, (*taken, (i, v)), then, index))


def anchor(to: RuleEmitter, pattern: Any) -> str | None:
    """The source of the key in `positions` under which all operands are that a pattern may match,
    given what is bound; None if there is none.
    """
    if is_bound(to, pattern):
        return to.bound[pattern.name]
    if not isinstance(pattern, OpNode) or isinstance(pattern.op, OpClass) or pattern.default:
        return None
    for a in pattern.args:
        if is_bound(to, a) and not a.rest and not a.has_default:
            return f"({to.constant(pattern.op, str(pattern.op))}, {to.bound[a.name]})"
    return None


def positions(inputs: Sequence[Any]) -> dict[Any, list[tuple[int, Any]]]:
    """{operand: its places}, and {(op, input of an operand that the op computes): its places}, in
    order.
    """
    index: dict[Any, list[tuple[int, Any]]] = {}
    for i, v in enumerate(inputs):
        index.setdefault(v, []).append((i, v))
        if v.owner is not None:
            for u in dict.fromkeys(v.owner.inputs):
                index.setdefault((v.head, u), []).append((i, v))
    return index


def emit_one(to: RuleEmitter, pattern: Any, v: str, then: Then) -> None:
    """Write the matching of one pattern against one variable."""
    if isinstance(pattern, Literal):
        to.literal(pattern, v)
        then()
    elif not isinstance(pattern, OpNode):
        to.hole(pattern, v)
        then()
    elif pattern.default is None:
        to.nested([(pattern, v)], then)
    else:
        _with_default(to, pattern, v, then)


def _with_default(to: RuleEmitter, pattern: OpNode, v: str, then: Then) -> None:
    """Two ways, one after the other: with all operands, and with the one that may be missing."""
    before = to.state()
    to.test(to.head(pattern, v))
    to.descend([(pattern, v)], then)
    to.go_back(before)
    missing = pattern.default
    assert missing is not None
    if missing.name in to.bound:
        return
    to.bound[missing.name] = to.constant(missing.default)
    (other,) = [a for a in pattern.args if a is not missing]
    to.ready_guards()
    emit_one(to, other, v, then)
    to.go_back(before)


def remaining(inputs: str, taken: Sequence[str]) -> str:
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
    test = " and ".join(f"_i != {t}" for t in taken)
    return f"tuple([_v for _i, _v in enumerate({inputs}) if {test}])"


# --- operands in order ---------------------------------------------------------------------------


def emit_window(to: RuleEmitter, out: str, then: Then) -> None:
    """Test that the operands that the left side does not leave alone may be taken."""
    ends = {name: v for name, v in to.bound.items() if name in (BEFORE, AFTER)}
    if ends and out == ROOT:
        start = f"len({ends[BEFORE]})" if BEFORE in ends else "0"
        end = "len(inputs)" + (f" - len({ends[AFTER]})" if AFTER in ends else "")
        alone = to.constant(stands_alone, "stands_alone")
        to.test(f"{alone}({out}, {to.rule.exact}, {start}, {end})")
    then()


def emit_sequence(
    to: RuleEmitter, args: list[Any], inputs: str, at: str, out: str, then: Then
) -> None:
    """Match operands of which some stand for any number: a loop over where each of those
    ends.
    """
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
            if must_be(after[0]):  # before anything is cut out
                to.test(to.head(after[0], f"{inputs}[{end}]"))
        bind_several(to, rest, inputs, start, end, out)
        emit_sequence(to, after, inputs, end, out, then)

    to.all_of(named(to, before, inputs, at, out), go_on)


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
        to.rest(hole, taken)
        return
    run = to.constant(run_of, "run_of")
    to.line(f"{taken} = {run}({out}, {to.rule.exact}, {start}, {end})")
    to.test(f"{taken} is not None")
    to.hole(hole, taken)


def named(
    to: RuleEmitter, args: list[Any], inputs: str, at: str, out: str
) -> list[tuple[Any, str]]:
    """Give operands of `out` that are looked up by index a local name."""
    result = []
    for i, pattern in enumerate(args):
        v = to.local()
        to.wholes[v] = out
        to.line(f"{v} = {inputs}[{plus(at, i)}]")
        result.append((pattern, v))
    return result


def plus(at: str, n: int) -> str:
    """The source of `at + n`, where `at` may be empty for zero."""
    if not at:
        return str(n)
    return f"{at} + {n}" if n else at
