"""Scalar ops as steps that a processor can do: rules of the phase "lower" (`rules/lowering`) make
instructions of an op, calls of functions, and inner loops of ufuncs. Which ops have native code
follows from that.

An op computes in one kind of number (`kind_of`): its operands are converted to it. A function such
as `exp` has a unit, which kernels call (`units.py`); the same rules make its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.link.native.inner_loops import unit_of_ufunc
from rewrite_engine.link.native.instructions import (
    COMPARISONS,
    INSTRUCTIONS,
    Write,
    convert,
)
from rewrite_engine.link.native.own_code import dtype_of_code, missing_compiler, write_call
from rewrite_engine.link.native.text import DTYPES, KINDS, NUMBER_CLASS, Assembler
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rules.lowering import FUNCTIONS, OPERATIONS
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp
from rewrite_engine.scalar.op import named as op_called
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

#: those that take the kind of their operands together, whatever the result is
_FLOAT_TESTS = ("isnan", "isinf", "isfinite", "signbit")
_BY_OPERANDS = frozenset({*COMPARISONS, *_FLOAT_TESTS})
#: those of two operands that are written for any number of them, from left to right
_FOLDED_OPS = frozenset({"add", "mul", "maximum", "minimum", "and_", "or_", "xor", "logaddexp"})
_EXACT_DTYPE_OPS = ("nextafter",)  # in float64 they are not the same
_OF_NUMBERS = ("maximum", "minimum", "clip")  # rules look at their operands
SPECIAL_OPS = ("switch", "second", "identity")  # written by whoever knows the operands


class ScalarCode(NamedTuple):
    """How an op is written on operands of its kind. calls: whether it calls a function. loops:
    whether this is the inner loop of its ufunc, or C code.
    """

    write: Write
    calls: bool = False
    loops: bool = False


class LoweredOp(NamedTuple):
    """An op of lowered code. operands: positions of earlier values (operands first), or constants
    with their kinds. kinds: of the operands. numbers: see `code_of`.
    """

    op: ScalarOp
    kind: str
    operands: tuple[int | tuple[Any, str], ...]
    kinds: tuple[str, ...]
    numbers: tuple[Any, ...] = ()


class InstructionList(NamedTuple):
    """Lowered code: the ops in order, the position of the result, and the rule that made it."""

    steps: tuple[LoweredOp, ...]
    result: int
    rule: str

    def write(self, t: Assembler, kind: str, xs: Sequence[str]) -> str:
        """Write the steps, on operands."""
        known = list(xs)
        for step in self.steps:
            given = [known[x] if isinstance(x, int) else t.constant(*x) for x in step.operands]
            known.append(write_converted(t, given, *step[:2], *step[3:]))
        return known[self.result]


@cache
def functions() -> dict[str, Any]:
    """Return the rules of functions that kernels call, by the names of the ops."""
    from rewrite_engine.rules.lowering.functions import BY_NAME

    return BY_NAME


@cache
def _rules() -> RuleSet:
    """The rules that lower ops within a kernel: all but those of functions that it calls."""
    from rewrite_engine.rules.lowering import operations

    return RuleSet.of(operations)


@cache
def function_steps(name: str, kind: str) -> InstructionList | None:
    """Return the steps of a function on one operand; None if it has none for the kind."""
    x = TensorType(DTYPES[kind], ()).make_variable("x")
    return _lowered([x], Elemwise(op_called(name))(x), [functions()[name]])


@cache
def _steps_of(op: ScalarOp, kind: str, numbers: tuple[Any, ...]) -> InstructionList | None:
    """The steps of an op on operands of its kind; None if no rule applies, or an op has no code.
    numbers: of the operands that are constants; None for the others.
    """
    elementwise, type_ = Elemwise(op), TensorType(DTYPES[kind], ())
    rules = [rule for rule in _rules() if rule.considers(elementwise)]
    if not rules:
        return None
    inputs = [type_.make_variable() for _ in numbers]
    given = [v if c is None else type_.make_constant(c) for v, c in zip(inputs, numbers)]
    try:
        return _lowered(inputs, elementwise(*given), rules)
    except DTypeError:
        return None


def _lowered(inputs: list[Any], term: Any, rules: Sequence[Rule]) -> InstructionList | None:
    """The steps of a term of 0-d variables that the first rule makes; None if no rule applies, or
    an op has no code. (Ops that are no instructions have steps in turn.)
    """
    found = [(rule, new) for rule in rules if (new := rule.transform(None, term.owner)) is not None]
    if not found:
        return None
    rule, result = found[0]
    places: dict[Variable, int] = {v: i for i, v in enumerate(inputs)}
    steps = list[LoweredOp]()
    for node in toposort([result]):
        op, out = node.op, node.outputs[0]
        dtypes = [v.type.dtype for v in node.inputs]
        kind = kind_of(op.scalar_op, dtypes, out.type.dtype) if isinstance(op, Elemwise) else None
        if kind is None:
            return None
        kinds = tuple([KINDS[dtype] for dtype in dtypes])
        numbers = [v.data.item() if v.head is CONSTANT else None for v in node.inputs]
        given: Any = [
            places[v] if c is None else (c, k)
            for v, c, k in zip(node.inputs, numbers, kinds, strict=True)
        ]
        known = numbers_that_count(op.scalar_op, numbers, kinds, kind)
        steps.append(LoweredOp(op.scalar_op, kind, tuple(given), kinds, known))
        places[out] = len(inputs) + len(steps) - 1
    return InstructionList(tuple(steps), places[result], rule.name)


def numbers_that_count(
    op: ScalarOp, numbers: Sequence[Any], kinds: Sequence[str], kind: str
) -> tuple[Any, ...]:
    """Return the numbers of operands that are constants (None for others), if a rule of the op
    looks at them, else none.
    """
    counts = op.name in _OF_NUMBERS and len(numbers) == (op.nin or 2)
    if not counts or {*kinds} != {kind} or all([c is None for c in numbers]):
        return ()
    return tuple(numbers)


@cache
def code_of(op: ScalarOp, kind: str, numbers: tuple[Any, ...] = ()) -> ScalarCode | None:
    """Return how an op is computed on operands of a kind; None if there is no native code. numbers:
    those of the operands that are constants, if any is (None for the others).
    """
    name, class_ = op.name if op.listed else "", NUMBER_CLASS[kind]
    classes, write = INSTRUCTIONS.get(name, ("", None))
    instruction = ScalarCode(write) if class_ in classes and write is not None else None
    if instruction is not None and not numbers:
        return instruction
    if name in FUNCTIONS and (kind == "d" or (class_ == "d" and function_steps(name, kind))):
        return ScalarCode(lambda t, kind, xs: t.unit(name, *xs, kind=kind), calls=True)
    given = numbers or (None,) * (op.nin or 2)
    steps = _steps_of(op, kind, given) if name in OPERATIONS else None
    if steps is not None:
        inner = [code_of(s.op, s.kind) for s in steps.steps if not is_moved(s.op)]
        return ScalarCode(steps.write, any([c is not None and c.calls for c in inner]))
    return instruction or _code_of_loop(op, kind)


def _code_of_loop(op: ScalarOp, kind: str) -> ScalarCode | None:
    """A call of C code of an op, or of the inner loop of its ufunc."""
    own = dtype_of_code(op, DTYPES[kind])
    if own is not None:
        call: Write = partial(write_call, op)
        return ScalarCode(call if own == DTYPES[kind] else _in_double(call), calls=True, loops=True)
    unit = unit_of_ufunc(op.ufunc) if op.ufunc is not None else None
    if unit is None or NUMBER_CLASS[kind] != "d":
        return None
    return ScalarCode(_in_double(lambda t, kind, xs: t.unit(unit, *xs)), calls=True, loops=True)


def _in_double(do: Write) -> Write:
    """A function that is written on float64, which others are converted to and from."""

    def write(t: Assembler, kind: str, xs: Sequence[str]) -> str:
        return convert(t, do(t, "d", [convert(t, x, kind, "d") for x in xs]), "d", kind)

    return write


class Lowering(NamedTuple):
    """How an op is lowered: how many operations it is, the rules that say so, and the function that
    it calls ("" if it calls none).
    """

    operations: int
    rules: tuple[str, ...] = ()
    called: str = ""


def lowering_of(op: ScalarOp, kind: str, numbers: tuple[Any, ...] = ()) -> Lowering:
    """Return how an op is lowered. numbers: see `code_of`."""
    if is_moved(op) or (op.listed and op.name in INSTRUCTIONS and not numbers):
        steps, called = None, ""
    elif op.listed and op.name in FUNCTIONS and function_steps(op.name, kind):
        steps, called = function_steps(op.name, kind), op.name
    else:
        given = numbers or (None,) * (op.nin or 2)
        steps = _steps_of(op, kind, given) if op.listed and op.name in OPERATIONS else None
        found = code_of(op, kind, numbers)
        called = f"the loop of {op}" if steps is None and found and found.loops else ""
    if steps is None:
        return Lowering(1, (), called)
    inner = [lowering_of(s.op, s.kind, s.numbers) for s in steps.steps]
    rules = [steps.rule, *[rule for one in inner for rule in one.rules]]
    return Lowering(sum([one.operations for one in inner]), tuple(dict.fromkeys(rules)), called)


def is_moved(op: ScalarOp) -> bool:
    """Return whether an op selects or converts its operands."""
    return isinstance(op, Cast) or (op.listed and op.name in SPECIAL_OPS)


def kind_of(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """Return the kind of number in which an op computes on operands of these dtypes; None if there
    is no code.
    """
    if result not in KINDS or not set(dtypes) <= KINDS.keys() or isinstance(op, Composite):
        return None
    if is_moved(op):
        return KINDS[result]
    if not op.listed:
        return _loop_kind(op, dtypes, result)
    kind = KINDS[dtypes[0]] if op.name == "reinterpret" else KINDS[result]
    if op.name in _BY_OPERANDS:
        common = np.result_type(*dtypes).name
        if common not in KINDS:
            return None
        kind = KINDS[common]
        if op.name in _FLOAT_TESTS and NUMBER_CLASS[kind] != "d":
            return None
        if NUMBER_CLASS[kind] == "d" and not {"int64", "uint64"}.isdisjoint(dtypes):
            return None  # integers that are no float64 would be compared otherwise
    if op.name == "round" and len({*dtypes, result}) > 1:
        return None
    found = code_of(op, kind)
    return kind if found and not found.loops else _loop_kind(op, dtypes, result)


def calls_function(op: ScalarOp, kind: str) -> bool:
    """Return whether an op calls a function."""
    found = None if is_moved(op) else code_of(op, kind)
    return found is not None and found.calls


def is_own(op: ScalarOp, dtype: str, result: str) -> bool:
    """Return whether an op has instructions of its own for a dtype, not a call of an inner loop."""
    kind = kind_of(op, [dtype] * (op.nin or 2), result)
    if kind is None or is_moved(op):
        return kind is not None
    found = code_of(op, kind)
    return found is not None and not found.loops


def _loop_kind(op: ScalarOp, dtypes: Sequence[str], result: str) -> str | None:
    """Return the kind of the result if the op has C code for it, or is a ufunc with a loop on
    float64 and the result is a float.
    """
    inner = op.inner_dtype(tuple(dtypes))
    if inner not in (None, result) or (inner is None and set(dtypes) != {result}):
        return None
    if dtype_of_code(op, result) is not None:
        return None if missing_compiler(op) else KINDS[result]
    if op.compute is not None or op.ufunc is None or NUMBER_CLASS[KINDS[result]] != "d":
        return None
    if (op.nin is None and op.name not in _FOLDED_OPS) or (
        op.name in _EXACT_DTYPE_OPS and result != "float64"
    ):
        return None
    return KINDS[result] if unit_of_ufunc(op.ufunc) is not None else None


def write(
    op: ScalarOp, t: Assembler, kind: str, xs: Sequence[str], numbers: tuple[Any, ...] = ()
) -> str:
    """Write an op on values of its kind (see `kind_of`). numbers: see `code_of`."""
    code = code_of(op, kind, numbers)
    assert code is not None
    if op.nin is not None or numbers:
        return code.write(t, kind, xs)
    found = xs[0]
    for x in xs[1:]:
        found = code.write(t, kind, (found, x))
    return found


def write_converted(
    t: Assembler, xs: list[str], op: ScalarOp, kind: str, kinds: tuple[str, ...],
    numbers: tuple[Any, ...] = (),
) -> str:  # fmt: skip
    """Write an op on operands of these kinds; return its value. numbers: see `code_of`."""
    name: Any = op.name if op.listed else None
    if name == "switch":
        yes, no = [convert(t, x, k, kind) for x, k in zip(xs[1:], kinds[1:], strict=True)]
        return t.select(convert(t, xs[0], kinds[0], "b"), yes, no, kind)
    given = [convert(t, x, k, kind) for x, k in zip(xs, kinds, strict=True)]
    return given[0] if is_moved(op) else write(op, t, kind, given, numbers)
