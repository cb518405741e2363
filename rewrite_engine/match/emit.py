"""The matcher, compiled: one rule becomes one Python function of nested `if`s.

The function gets `(fgraph, node)`, a node whose op is known to fit the root of the left side, and
returns the new variable, or None. Every test comes as early as its operands are bound; alternatives
(both orders of a commutative op, where a rest ends) are loops. The source is entered in
`linecache`, so tracebacks and debuggers show it.

Local names are numbered anew for each rule: a function with thousands of locals would be slow to
call.
"""

from __future__ import annotations

import keyword
import linecache
import math
import re
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

from rewrite_engine.graph.node import CONSTANT, Apply, Variable, build_variable
from rewrite_engine.graph.op import Op
from rewrite_engine.match.ac import (
    Tries,
    apply_weak,
    is_ac,
    is_associative,
    put_back,
    same_node,
)
from rewrite_engine.match.emit_ac import (
    ROOT,
    among_two,
    emit_ac,
    emit_one,
    emit_sequence,
    emit_window,
    must_be,
)
from rewrite_engine.match.lower import Compute, Condition, Lowered, askable
from rewrite_engine.match.pattern import (
    ALL,
    Hole,
    Literal,
    OpClass,
    OpNode,
    is_literal,
    is_wide,
    subpatterns,
)

Function = Callable[[Any, Any], Any]

#: what a global of a matcher must not be called: its locals, the builtins it uses, and keywords
TAKEN = re.compile(
    "fgraph|node|inputs|tries|r|[vpekr][0-9]+|len|range|type|" + "|".join(keyword.kwlist)
)


def compile_rule(rule: Lowered, name: str, text: str) -> Function:
    """Compile a rule to a function `(fgraph, node) -> variable or None`."""
    source, names = RuleEmitter(rule, name, text).emit()
    filename = f"<rule {name}>"
    code = _compiled(source, filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(code, names)
    function: Function = names["match"]
    return function


def _compiled(source: str, filename: str) -> CodeType:
    return compile(source, filename, "exec", dont_inherit=True)


def apply_op(op: Any, inputs: tuple[Any, ...]) -> Any:
    """Build a node of a type-driven op on variables (no conversion of inputs, no provenance)."""
    types = (inputs[0].type,) if len(inputs) == 1 else tuple([v.type for v in inputs])
    try:
        (out_type,) = op._memo[types]
    except (AttributeError, KeyError):
        (out_type,) = op.output_types(types)
    return build_variable(op, inputs, out_type)


def output_of(made: Any, index: int | None) -> Any:
    """One output, or all, of what an op returned (see `OpNode.index`)."""
    if index is None:
        return made
    outputs: Any = made.owner.outputs if isinstance(made, Variable) else made  # type: ignore
    return tuple(outputs) if index == ALL else outputs[index]


def proposed(node: Apply, place: int | None, new: Any) -> Any:
    """What a rule proposes for a node, given the `place` of its left side: a term for one of
    several outputs (None: it stays), or for all.
    """
    if new is None or place is None or place == ALL or len(node.outputs) == 1:
        return new
    return tuple([new if i == place else None for i in range(len(node.outputs))])


def complete(terms: Any) -> Any:
    """The terms for all outputs as a tuple; None if there is none for one of them."""
    if not isinstance(terms, tuple | list):
        return terms
    return None if any([v is None for v in terms]) else tuple(terms)


def literal_like(node: Apply, value: Any, index: int | None = None) -> Any:
    """A number as the whole right side: a constant of the type of what it replaces (None if
    there is none).
    """
    type_ = node.outputs[index or 0].type
    if type_.ndim:
        return None
    return type_.make_constant(value)


class RuleEmitter:
    """Writes the source of one rule, line by line."""

    def __init__(self, rule: Lowered, name: str, text: str) -> None:
        self.rule = rule
        self.names: dict[str, Any] = {
            "CONSTANT": CONSTANT,
            "is_literal": is_literal,
            "apply_op": apply_op,
            "literal_like": literal_like,
        }
        self.lines = ["def match(fgraph, node):", f"    # {name}: {text}"]
        self.indent = 1
        self.counter = 0
        self.bound: dict[Any, str] = {}  # by name; nodes of several outputs by their patterns
        self.wholes: dict[str, str] = {}  # what operands are operands of
        self.asked: set[int] = set()  # guards, by number
        self.extra: str | None = None  # where operands are that the left side leaves alone

    def emit(self) -> tuple[str, dict[str, Any]]:
        """Return the source and the globals it needs."""
        left = self.rule.left
        if any(
            isinstance(p, OpNode) and is_ac(p) and len(p.rests) > 1 for p, _ in subpatterns(left)
        ):
            self.line(f"tries = {self.constant(Tries, 'Tries')}()")
        if left.index not in (None, ALL):
            self.test(f"len(node.outputs) > {max(left.index or 0, 1)}")
        self.props(left, "node.op")
        self.line("inputs = node.inputs")
        self.operands(left, "inputs", ROOT, self.finish)
        self.indent = 1
        self.line("return None")
        return "\n".join(self.lines) + "\n", self.names

    # --- writing ----------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def test(self, condition: str) -> None:
        """Open an `if`; everything that follows is inside."""
        if condition != "True":
            self.line(f"if {condition}:")
            self.indent += 1

    def local(self, prefix: str = "v") -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def constant(self, value: Any, hint: str = "k") -> str:
        """A global name for a Python object."""
        for name, known in self.names.items():
            if known is value:
                return name
        base = hint if hint.isidentifier() and not TAKEN.fullmatch(hint) else "k"
        name = base
        while name in self.names:
            self.counter += 1
            name = f"{base}_{self.counter}"
        self.names[name] = value
        return name

    # --- the left side ----------------------------------------------------------------------------

    def state(self) -> tuple[dict[Any, str], set[int], int]:
        """What is bound and asked at this place, to come back to for another way."""
        return dict(self.bound), set(self.asked), self.indent

    def go_back(self, state: tuple[dict[Any, str], set[int], int]) -> None:
        """Forget what was bound and asked since."""
        bound, asked, self.indent = state
        self.bound, self.asked = dict(bound), set(asked)

    def operands(self, pattern: OpNode, inputs: str, out: str, then: Callable[[], None]) -> None:
        """Match the inputs of a node with an op's operands, and go on with `then`."""
        args = pattern.args
        if is_ac(pattern):
            emit_ac(self, pattern, inputs, out, then)
            return
        wide = sum(map(is_wide, args))
        if wide:
            for p in filter(must_be, args if wide > 1 else ()):  # else all places are tried
                self.test(f"any([{self.head(p, 'v')} for v in {inputs}])")
            emit_sequence(self, list(args), inputs, "", out, lambda: emit_window(self, out, then))
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

    def all_of(self, todo: list[tuple[Any, str]], then: Callable[[], None]) -> None:
        """Match pairs of pattern and expression; what is cheap to test comes first."""
        cheap = [(p, v) for p, v in todo if not isinstance(p, OpNode)]
        for p, v in sorted(cheap, key=lambda pair: test_cost(pair[0])):
            if isinstance(p, Literal):
                self.literal(p, v)
            else:
                self.bind(p, v)
        self.ready_guards(most=1)
        self.nested([(p, v) for p, v in todo if isinstance(p, OpNode)], then)

    def nested(self, todo: list[tuple[Any, str]], then: Callable[[], None]) -> None:
        """Match operands that are ops: first what computes each of them, then one after the
        other in depth.
        """
        sure = [(p, v) for p, v in todo if p.default is None]
        if sure:
            self.test(" and ".join(self.head(p, v) for p, v in sure))
        self.ready_guards()
        for pattern, v in [pair for pair in todo if pair[0].default is not None]:
            then = partial(emit_one, self, pattern, v, then)
        self.descend(sure, then)

    def head(self, pattern: OpNode, v: str) -> str:
        head = pattern.head
        if not isinstance(pattern.op, OpClass):
            return f"{v}.head is {self.constant(head, str(head))}"
        test = f"type({v}.head) is {self.constant(head, head.__name__)}"
        if pattern.index is None:
            return test
        cls = self.constant(pattern.operator, pattern.operator.__name__)
        return f"{test} and {v}.index == {pattern.index} and type({v}.owner.op) is {cls}"

    def descend(self, todo: list[tuple[Any, str]], then: Callable[[], None]) -> None:
        if not todo:
            then()
            return
        (pattern, v), others = todo[0], todo[1:]
        whole = None if pattern.place is None else pattern.output(ALL)
        if whole in self.bound:
            self.test(f"{self.constant(same_node, 'same_node')}({v}.owner, {self.bound[whole]})")
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

    def hole(self, hole: Hole, v: str) -> None:
        self.bind(hole, v)
        self.ready_guards()

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
        """Test that a constant is a number: written out where only one number is that, and it is
        no array.
        """
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

    def rest(self, hole: Hole, taken: str) -> None:
        if hole.name in self.bound:
            self.test(f"{taken} == {self.bound[hole.name]}")
        else:
            self.bound[hole.name] = taken
            self.ready_guards()

    def ready_guards(self, most: float = math.inf) -> None:
        """Ask the guards that can be asked by now (`askable`). most: what they may cost."""
        for i, guard in askable(self.rule.guards, self.bound, self.asked, most):
            self.asked.add(i)
            self.test(self.guard(guard))

    def guard(self, guard: Condition) -> str:
        args = [self.bound[a.name] if isinstance(a, Hole) else self.constant(a) for a in guard.args]
        if guard.fact is not None:
            return (
                f"{self.constant(guard.fact, guard.fact.name)}.at(fgraph, node, {', '.join(args)})"
            )
        return f"{self.constant(guard.fn, 'guard')}({', '.join(args)})"

    # --- the right side ---------------------------------------------------------------------------

    def finish(self) -> None:
        right = self.rule.right
        self.ready_guards()
        left = self.rule.left
        if isinstance(right, Compute):
            args = ", ".join(self.bound[n] for n in right.names)
            result = f"{self.constant(right.fn, 'compute')}({args})"
            if left.index == ALL:
                result = f"{self.constant(complete, 'complete')}({result})"
        elif isinstance(right, tuple):
            terms = "".join(f"{self.term(p, i)}, " for i, p in enumerate(right))
            result = f"{self.constant(complete, 'complete')}(({terms}))"
        else:
            result = self.term(right, left.place)
        if left.place not in (None, ALL):
            result = f"{self.constant(proposed, 'proposed')}(node, {left.place}, {result})"
        if self.extra is not None:
            op = self.constant(left.op, str(left.op))
            result = f"{self.constant(put_back, 'put_back')}({op}, {result}, {self.extra})"
        if isinstance(right, Hole | OpNode):
            self.line(f"return {result}")
            return
        self.line(f"r = {result}")
        self.line("if r is not None:")
        self.line("    return r")

    def term(self, right: Any, index: int | None) -> str:
        """An expression that makes what takes the place of an output."""
        if isinstance(right, Literal):
            return f"literal_like(node, {self.constant(right.value)}, {index})"
        made = self.build(right)
        weak = needs_weak(right)
        return f"{self.constant(as_term, 'as_term')}(node, {made}, {index})" if weak else made

    def build(self, pattern: Any, one: bool = True) -> str:
        """An expression that makes the term; one: of an op with one output."""
        if isinstance(pattern, OpNode) and pattern.index is not None:
            made = self.build(pattern.output(None), one=False)
            return f"{self.constant(output_of, 'output_of')}({made}, {pattern.index})"
        if isinstance(pattern, Hole):
            return f"*{self.bound[pattern.name]}" if pattern.rest else self.bound[pattern.name]
        if isinstance(pattern, Literal):
            return self.constant(pattern.operand)
        args = [self.build(a) for a in pattern.args]
        if isinstance(pattern.op, OpClass):
            props = [
                f"{n}={self.bound[p.name] if isinstance(p, Hole) else self.constant(p)}"
                for n, p in pattern.op.props
            ]
            op = f"{self.constant(pattern.op.cls, pattern.op.cls.__name__)}({', '.join(props)})"
            return f"{op}({', '.join(args)})"
        op = self.constant(pattern.op, str(pattern.op))
        if needs_weak(pattern):
            return f"{self.constant(apply_weak, 'apply_weak')}({op}, ({', '.join(args)},))"
        driven = one and type_driven(pattern.op)
        if driven and not any(isinstance(a, Literal) for a in pattern.args):
            return f"apply_op({op}, ({''.join(f'{a}, ' for a in args)}))"
        return f"{op}({', '.join(args)})"


def as_term(node: Apply, value: Any, index: int | None = None) -> Any:
    """What a right side made, as a variable (of `ALL` outputs a tuple); it may be no more than a
    number that stood for a missing operand.
    """
    return value if isinstance(value, Variable | tuple) else literal_like(node, value, index)


def needs_weak(pattern: Any) -> bool:
    """Whether an operand may turn out to be a number, or the operands may be fewer than two."""
    return any(
        isinstance(p, Hole) and (p.has_default or (p.rest and is_associative(pattern)))
        for p, _ in subpatterns(pattern)
    )


def type_driven(op: Op) -> bool:
    """Whether nodes of an op may be allocated from the input types alone, without `make_node`."""
    make_node: Any = type(op).make_node
    plain: Any = Op.make_node
    return make_node is plain and op.default_output is None


def test_cost(pattern: Any) -> int:
    """Tests that are written out come before those that call a function."""
    return int(isinstance(pattern, Hole) and pattern.sort.inline is None)
