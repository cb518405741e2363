"""Error classes of the library, and the functions that write their messages.

A message names the op, the types and shapes, and the user's own line. Each class also derives from
the built-in exception a caller would expect (`TypeError`, `ValueError`), so generic handlers keep
working.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterable, Sequence
from typing import Any


class RewriteEngineError(Exception):
    """Base class of all errors of this library.

    result: if the error ended the run of a driver, the `Result` of the rewriting done until then.
    """

    result: Any = None


class MethodNotDefined(RewriteEngineError, NotImplementedError):
    """A subclass of `Type` or `Op` lacks a method that it has to define."""


# --- building a graph -----------------------------------------------------------------------------


class DTypeError(RewriteEngineError, TypeError):
    """A value or variable has a dtype that the op or type does not accept."""


class NDimError(RewriteEngineError, TypeError, ValueError):
    """A value or variable has the wrong number of dimensions."""


class ForeignObjectError(RewriteEngineError, TypeError):
    """Something that is neither a variable nor convertible to one was given as an input."""


class NoTensorError(DTypeError, ForeignObjectError, ValueError, NotImplementedError):
    """A value is not an array of numbers: for example a ragged list, or an array with masked
    elements.
    """


class DenseOnlyError(ForeignObjectError, AttributeError):
    """A sparse matrix was used where only dense arrays work."""


class TypeMismatchError(RewriteEngineError, TypeError):
    """A variable cannot replace one of another type."""


class ShapeError(RewriteEngineError, ValueError):
    """Shapes do not fit the op."""


class StaticShapeError(ShapeError, TypeError):
    """A value does not have the static shape of its type."""


class SpecifiedShapeError(ShapeError, AssertionError):
    """An array does not have the shape given to `specify_shape`."""


class BroadcastError(ShapeError):
    """Shapes cannot be broadcast together."""


class AxisError(ShapeError, IndexError):
    """An axis or index is out of range."""


class DimsError(ShapeError, IndexError):
    """A dimension name is missing, is already in use, or does not fit the array."""


class AxisTypeError(AxisError, TypeError):
    """An axis is not an integer."""


class StepError(ShapeError, ZeroDivisionError):
    """The step of a slice or range is 0."""


class NotConstantError(RewriteEngineError, TypeError, ValueError):
    """A value must be known while the graph is built, and the variable is not a constant."""


# --- the FunctionGraph ----------------------------------------------------------------------------


class ReadOnlyError(RewriteEngineError, AttributeError):
    """An attribute cannot be changed, such as the value of a constant."""


class InconsistencyError(RewriteEngineError):
    """A graph would become (or is) inconsistent: two ops overwrite one value, an overwritten value
    is read later, …
    """


class ItemAssignmentError(RewriteEngineError, TypeError):
    """A part of a variable was assigned to; variables never change."""


class OverwritingError(InconsistencyError, TypeError):
    """A graph that overwrites its values was compiled without `accept_inplace=True`."""


class CycleError(InconsistencyError, ValueError):
    """A replacement would make a variable depend on itself."""


class NotRemovedError(InconsistencyError):
    """A variable is still in the graph after a replacement that had to remove it."""


class NestingError(RewriteEngineError, RecursionError):
    """Graphs inside ops are nested deeper than Python's recursion limit allows."""


# --- gradients ------------------------------------------------------------------------------------


class GradientError(RewriteEngineError):
    """A gradient cannot be built."""


class NoGradientError(GradientError, NotImplementedError):
    """The gradient passes through an op that defines none."""


class GradientTermsError(GradientError, TypeError, ValueError):
    """The gradient method of an op did not return one variable for each input, or output."""


class NullTypeGradError(GradientError, TypeError):
    """The gradient passes through a place where it is undefined or not implemented."""


class TangentsError(TypeMismatchError, ValueError, AssertionError):
    """The number of tangents, or cotangents, differs from the number of their variables."""


class ComplexCostError(DTypeError, AssertionError):
    """A complex cost cannot be differentiated."""


class DisconnectedInputError(GradientError, ValueError):
    """The cost does not depend on the variable."""


class PropsError(RewriteEngineError, TypeError):
    """The `__props__` of a class are not a tuple of names, or are incomplete.

    They are incomplete if two ops (or types) with equal `__props__` have different parameters: one
    would then replace the other.
    """


# --- functions ------------------------------------------------------------------------------------


class InputError(RewriteEngineError, ValueError):
    """The inputs of a function are wrong."""


class MissingInputError(InputError):
    """A root variable of the graph is not among the inputs of the function."""


class NoSuchInputError(InputError, KeyError):
    """A compiled function does not have the requested input, or the input stores no value."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingArgumentError(MissingInputError, TypeError):
    """A call of a compiled function lacks a required argument."""


class OptionError(RewriteEngineError, TypeError, ValueError):
    """An option does not exist, or cannot be used here."""


class InputCountError(RewriteEngineError, TypeError, ValueError):
    """An op was applied to the wrong number of inputs."""


class DuplicateInputError(InputError):
    """One variable appears twice among the inputs. (An argument that appears twice in a call is
    Python's own `TypeError`.)
    """


class UnusedInputError(InputError):
    """The outputs do not need one of the inputs (see `on_unused_input`)."""


class BatchError(InputError):
    """A value that all of a call needs differs along the batch."""


class ConstantInputError(InputError, TypeError):
    """A constant is among the inputs of the function."""


class AssumptionError(InputError):
    """A value contradicts an assumption (`assume`); the message names the variable, the fact and
    the line.
    """


class BadValueError(RewriteEngineError, AssertionError):
    """A value contains a NaN, an infinity or a very large number, which the mode refuses."""


class NoCompilerError(RewriteEngineError, OSError):
    """C code or machine code must be compiled, and no compiler is available."""


class SaveError(RewriteEngineError, TypeError):
    """`save` cannot write the object: it is not a compiled function, or it cannot be pickled."""


class LoadError(RewriteEngineError, OSError):
    """`load` cannot read the file: it is damaged, of another kind, or needs something missing."""


class RegionError(RewriteEngineError, AssertionError):
    """Native code would read a wrong value; this is a bug of the library."""


class UntraceableError(RewriteEngineError, TypeError):
    """JAX cannot trace a graph: a length, or which elements there are, depends on values."""


class CompileError(RewriteEngineError):
    """The compiler refused C code; the message has the compiler's output.

    source: the whole source text passed to the compiler.
    """

    source: str = ""


class NoCCodeError(MethodNotDefined):
    """An op or a type has no C code, and the linker requires it."""


class UpdateTypeError(RewriteEngineError, TypeError):
    """The type of an update differs from the type of its shared variable."""


# --- what DebugMode finds -------------------------------------------------------------------------


class DebugModeError(RewriteEngineError):
    """Part of a graph contradicts its own declaration; raised by `DebugMode` (`link/debug`).

    node: the node that ran (for a rule, the node that computes the term before it), or None.
    """

    node: Any = None


class BadThunkOutput(DebugModeError):
    """Two implementations of a node, or two runs of one, return different values for the same
    inputs.

    r: the variable. thunk1, val1: the first implementation and its value. thunk2, val2: the second
    implementation and its value.
    """

    r: Any = None
    thunk1 = thunk2 = ""
    val1: Any = None
    val2: Any = None

    def offending_op(self) -> type | None:
        """Return the class of the op."""
        return None if self.node is None else type(self.node.op)


class BadOptimization(DebugModeError):
    """A rewrite step changed values by more than the rule claims.

    rule: the name of the rule, or of the driver's own step. before, after: the terms, as variables
    outside of any graph. old_r, new_r: other names of them. old_val, new_val: their values.
    verdict: how the claim is broken (`rewrite_engine.judge.verdict.Verdict`); None for an error.
    """

    rule: Any = None
    before: Any = None
    after: Any = None
    old_val: Any = None
    new_val: Any = None
    verdict: Any = None

    @property
    def old_r(self) -> Any:
        """The term before the step."""
        return self.before

    @property
    def new_r(self) -> Any:
        """The term after the step."""
        return self.after


class BadEvidence(BadOptimization):
    """A fact claimed a property while a graph was rewritten, and the values do not have it.

    fact: the fact. evidence: its answer. before: the variable in question.
    """

    fact: Any = None
    evidence: Any = None


class BadDestroyMap(DebugModeError):
    """A node changed an input without declaring it in the op's `destroy_map`. idx: index of the
    input.
    """

    idx: int | None = None


class BadViewMap(DebugModeError):
    """An output shares memory with an input or another output, and the op's `view_map` does not
    declare it; or it shares no memory, and `must_view_map` declares it. output_idx: index of the
    output.
    """

    output_idx: int | None = None


class StochasticOrder(DebugModeError):
    """Rewriting the same graph twice gave different results."""


class InvalidValueError(DebugModeError):
    """A value contradicts the type of its variable, or the declared shape, range or facts of its
    op; or it is not finite and `check_isfinite` is set.

    r, v: the variable and the value.
    """

    r: Any = None
    v: Any = None


# --- rules ----------------------------------------------------------------------------------------


class RuleError(RewriteEngineError):
    """A rule is wrong; the message starts with its name and file:line.

    mistakes: the error of each of them, where there are several.
    """

    mistakes: tuple[RuleError, ...]


class RuleErrors(RuleError, TypeError):
    """Several rules of a module are wrong. errors: of each of them, in the order of the module."""

    def __init__(self, errors: Sequence[RuleError]) -> None:
        self.errors = tuple(errors)
        text = "\n\n".join(map(str, errors))
        super().__init__(f"{plural(len(errors), 'rule')} cannot be built:\n\n{text}")


class UnboundVariableError(RuleError, NameError):
    """The right side of a rule, or a guard, uses a variable that the left side does not bind."""


class DuplicateRuleError(RuleError, ValueError):
    """Two rules of one set have one name."""


class PatternError(RuleError, TypeError):
    """A pattern is invalid, or can never match."""


class SeveralOutputsError(PatternError):
    """A pattern uses an op with several outputs as one term, so it can never match."""


class RuleTypeError(RuleError, TypeError):
    """A rule returned a term whose type cannot replace the type of the original term."""


class RuleRaisedError(RuleError):
    """A rule raised an exception while it was applied (the exception is the `__cause__`)."""


class FactError(RuleError):
    """Facts depend on each other in a circle, or one returned no answer; the message names them."""


class RuleLoopError(RuleError):
    """Rules do not terminate; the message names them and shows the terms.

    rules: their names. turn: (rule, term before, term after) for each step of one cycle.
    """

    rules: tuple[str, ...] = ()
    turn: tuple[tuple[str, str, str], ...] = ()


class IllegalGraphError(RuleError):
    """A term remained after a phase whose rules should have rewritten it."""


class ParameterError(RewriteEngineError, ValueError):
    """A parameter of a distribution is outside of its domain."""


class ReplayError(RewriteEngineError, ValueError):
    """A line of a trace cannot be replayed on this graph; the message names the line.

    line: its number among the lines of the trace, from 1.
    """

    line: int = 0


# --- searches -------------------------------------------------------------------------------------


class SearchBudgetError(RewriteEngineError, TimeoutError):
    """A search used up its budget of answers or seconds; the message describes the search."""


class RelationBudgetError(SearchBudgetError, RuleError):
    """The goal of a relation rule used up its budget of answers or seconds at a node."""


class MissingPackageError(RewriteEngineError, ImportError):
    """A package that a feature needs is not installed."""


class PackError(RewriteEngineError, ImportError):
    """A rule pack, or a rule file, cannot be loaded; `__cause__` has the reason."""


class NotHereError(RewriteEngineError, NotImplementedError):
    """A name of another library is not available in this one."""


class UnknownNameError(RewriteEngineError, KeyError, ValueError):
    """No rule, phase, tag or mode has this name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: `; did you mean exp_log?`, or ""."""
    from difflib import get_close_matches

    close: list[str] = []
    for one in get_close_matches(str(name), sorted(set(known)), n=6):
        if not any(one in other.split("/")[1:] or other in one.split("/")[1:] for other in close):
            close.append(one)  # (a rule is there by its full and by its short name)
    close = close[:3]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def refuse_options(what: str, why: str, **options: Any) -> None:
    """Raise `OptionError` for the first option that is set (neither None nor False).

    what: the function, for the message. why: the reason why it does not support the options.
    """
    for name, value in options.items():
        if value not in (None, False):
            raise OptionError(f"{what}: {name}={value!r} is not supported: {why}")


def refuse_unknown(what: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise `OptionError` for the first unknown option.

    what: the function, for the message. unknown: the unknown names. known: names to suggest.
    """
    for name in unknown:
        raise OptionError(f"{what} has no option {name!r}{did_you_mean(name, known)}")


def expression_of(fn: Callable[..., Any], error: Exception) -> str:
    """Return the expression, or the line, at which a function raised an error."""
    import traceback  # (takes a while, and is seldom needed)

    tb, code = error.__traceback__, inspect.unwrap(fn).__code__
    for place, frame in zip(traceback.extract_tb(tb), traceback.walk_tb(tb), strict=True):
        if frame[0].f_code is not code:
            continue
        line = linecache.getline(place.filename, place.lineno or 0)
        if place.lineno != place.end_lineno or place.colno is None:
            return line.strip() or fn.__name__
        return line.encode()[place.colno : place.end_colno].decode() or fn.__name__
    return fn.__name__


def source_line(filename: str, lineno: int) -> str:
    """Return `file:line: source text`, as messages show it."""
    text = linecache.getline(filename, lineno).strip()
    return f"{filename}:{lineno}" + (f": {text}" if text else "")


class Message(str):
    """Text of an error that already says where it happened."""

    __slots__ = ()


def message(
    what: str,
    *,
    op: Any = None,
    inputs: Iterable[Any] = (),
    where: tuple[str, int] | None = None,
    hint: str | None = None,
) -> Message:
    """Write an error message: the problem, the op, the types and the user's line.

    `inputs` are variables (their types are shown), types, or values (their dtype and shape are).
    hint: what to do about it; the last line.
    """
    lines = [f"{op}: {what}" if op is not None else what]
    lines += [f"    input {i}: {describe(x)}" for i, x in enumerate(inputs)]
    if where is not None:
        lines.append("    built at " + source_line(*where))
    if hint:
        lines.append("    " + hint)
    return Message("\n".join(lines))


def plural(n: int, word: str) -> str:
    """Return a count with its noun: `1 node`, `2 nodes`."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def dimensions(n: int) -> str:
    """Return a number of dimensions with its noun: `1 dimension`, `2 dimensions`."""
    return plural(n, "dimension")


def describe(x: Any) -> str:
    """Return a short description of a variable with its type, or of a value with its dtype and
    shape.
    """
    type_ = getattr(x, "type", None)
    if type_ is not None:
        value = getattr(x, "value", None)
        hint = "; shared(numpy.array(…)) is a tensor" if isinstance(value, (list, tuple)) else ""
        return f"{x!r} of type {type_}{hint}"
    if hasattr(x, "variable_type"):
        return str(x)
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return f"{type(x).__name__} of dtype {x.dtype} and shape {x.shape}"
    text = repr(x)
    return f"{type(x).__name__} {text if len(text) < 80 else text[:77] + '...'}"
