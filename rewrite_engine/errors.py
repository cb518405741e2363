"""Every error the library raises on purpose, and how its message is written.

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
    """Base of all errors of this library.

    result: if it ended the run of a driver, the `Result` of what was done until then.
    """

    result: Any = None


class MethodNotDefined(RewriteEngineError, NotImplementedError):
    """A method that a subclass of `Type` or `Op` has to define is missing."""


# --- building a graph -----------------------------------------------------------------------------


class DTypeError(RewriteEngineError, TypeError):
    """A value or variable has a dtype that the op or type does not accept."""


class NDimError(RewriteEngineError, TypeError, ValueError):
    """A value or variable has the wrong number of dimensions."""


class ForeignObjectError(RewriteEngineError, TypeError):
    """Something that is neither a variable nor convertible to one was given as an input."""


class NoTensorError(DTypeError, ForeignObjectError, ValueError, NotImplementedError):
    """A value that is no array of numbers, such as a ragged list, or one with masked elements."""


class DenseOnlyError(ForeignObjectError, AttributeError):
    """A sparse matrix is asked for what only dense arrays have."""


class TypeMismatchError(RewriteEngineError, TypeError):
    """A variable cannot take the place of one of another type."""


class ShapeError(RewriteEngineError, ValueError):
    """Shapes do not fit the op."""


class StaticShapeError(ShapeError, TypeError):
    """A value has not the static shape of its type."""


class SpecifiedShapeError(ShapeError, AssertionError):
    """An array has not the shape that was specified."""


class BroadcastError(ShapeError):
    """Shapes that cannot be broadcast together."""


class AxisError(ShapeError, IndexError):
    """An axis or index is out of range."""


class DimsError(ShapeError, IndexError):
    """Names of dimensions that are not there, that are there already, or that do not fit."""


class AxisTypeError(AxisError, TypeError):
    """An axis that is no integer."""


class StepError(ShapeError, ZeroDivisionError):
    """A step that is 0."""


class NotConstantError(RewriteEngineError, TypeError, ValueError):
    """A value known while the graph is built was needed, and the variable is not a constant."""


# --- the FunctionGraph ----------------------------------------------------------------------------


class ReadOnlyError(RewriteEngineError, AttributeError):
    """Something cannot be changed: the value of a constant."""


class InconsistencyError(RewriteEngineError):
    """A graph would become (or is) inconsistent: two destroyers, a destroyed value read later, …"""


class OverwritingError(InconsistencyError, TypeError):
    """A function of a graph that overwrites values was asked for, without `accept_inplace=True`."""


class CycleError(InconsistencyError, ValueError):
    """A replacement would make a variable depend on itself."""


class NotRemovedError(InconsistencyError):
    """A variable is still in the graph after a replacement that was to take it out."""


class NestingError(RewriteEngineError, RecursionError):
    """Graphs inside ops are nested deeper than Python's calls may be."""


# --- gradients ------------------------------------------------------------------------------------


class GradientError(RewriteEngineError):
    """A gradient cannot be built."""


class NoGradientError(GradientError, NotImplementedError):
    """The gradient goes through an op that defines none."""


class GradientTermsError(GradientError, TypeError, ValueError):
    """What an op returns for its derivatives is not one variable for each input, or output."""


class NullTypeGradError(GradientError, TypeError):
    """The gradient goes through a place where it is undefined or not implemented."""


class TangentsError(TypeMismatchError, ValueError, AssertionError):
    """There are not as many tangents, or cotangents, as variables to which they belong."""


class ComplexCostError(DTypeError, AssertionError):
    """What is differentiated is complex."""


class DisconnectedInputError(GradientError, ValueError):
    """The cost does not depend on the variable."""


class PropsError(RewriteEngineError, TypeError):
    """The `__props__` of a class are no tuple of names; or they leave something out: two ops (or
    types) with equal ones were given other parameters, and one would stand for the other.
    """


# --- functions ------------------------------------------------------------------------------------


class InputError(RewriteEngineError, ValueError):
    """The inputs of a function are wrong."""


class MissingInputError(InputError):
    """A root variable of the graph was not given as an input."""


class NoSuchInputError(InputError, KeyError):
    """A compiled function was asked for an input that it has not, or that keeps no value."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class MissingArgumentError(MissingInputError, TypeError):
    """A compiled function was called without an argument that it needs."""


class OptionError(RewriteEngineError, TypeError, ValueError):
    """An option that does not exist, or that cannot be honoured."""


class InputCountError(RewriteEngineError, TypeError, ValueError):
    """An op was applied to another number of inputs than it has."""


class DuplicateInputError(InputError):
    """The same variable was given twice as an input. (An argument that is given twice in a call is
    Python's own `TypeError`.)
    """


class UnusedInputError(InputError):
    """An input is not used by the graph (see `on_unused_input`)."""


class BatchError(InputError):
    """Along a batch there is not one value of what all of a call needs."""


class ConstantInputError(InputError, TypeError):
    """A constant was given as an input."""


class AssumptionError(InputError):
    """A value of which something was declared (`assume`) that is not true; the message names the
    variable, the fact and the line.
    """


class BadValueError(RewriteEngineError, AssertionError):
    """A value with a NaN, an infinity or a very large number, where a mode refuses them."""


class NoCompilerError(RewriteEngineError, OSError):
    """C code, or machine code, has to be made, and there is no compiler for it."""


class SaveError(RewriteEngineError, TypeError):
    """Something that `save` cannot write: it is no function, or it cannot be pickled."""


class LoadError(RewriteEngineError, OSError):
    """A file that `load` cannot read: it is damaged, of another kind, or needs what is missing."""


class RegionError(RewriteEngineError, AssertionError):
    """Native code that would read another value than the graph means; a bug of the library."""


class CompileError(RewriteEngineError):
    """C code that the compiler refuses; the message has the compiler's lines.

    source: the whole text that it was given.
    """

    source: str = ""


class NoCCodeError(MethodNotDefined):
    """An op, or a type, without C code where a linker insists on it."""


class UpdateTypeError(RewriteEngineError, TypeError):
    """An update has not the type of its shared variable."""


# --- what DebugMode finds -------------------------------------------------------------------------


class DebugModeError(RewriteEngineError):
    """Something of a graph is not what it says of itself; found by `DebugMode` (`link/debug`).

    node: what was run (of a rule, what computes the term before), or None.
    """

    node: Any = None


class BadThunkOutput(DebugModeError):
    """Two ways to run a node, or two runs, do not give equal values for the same inputs.

    r: the variable. thunk1, val1: the first way, and what it gave; thunk2, val2: of the second.
    """

    r: Any = None
    thunk1 = thunk2 = ""
    val1: Any = None
    val2: Any = None

    def offending_op(self) -> type | None:
        """The class of the op."""
        return None if self.node is None else type(self.node.op)


class BadOptimization(DebugModeError):
    """A step of rewriting changed values by more than the rule claims.

    rule: the rule, or the name of what a driver does itself. before, after: the terms, which are
    variables of no graph; old_r, new_r: the same. old_val, new_val: their values.
    """

    rule: Any = None
    before: Any = None
    after: Any = None
    old_val: Any = None
    new_val: Any = None

    @property
    def old_r(self) -> Any:
        """The term before."""
        return self.before

    @property
    def new_r(self) -> Any:
        """The term after."""
        return self.after


class BadEvidence(BadOptimization):
    """A fact said while a graph was rewritten that something holds, and on the values it does not.

    fact: the fact. evidence: what it answered. before: the variable it was asked of.
    """

    fact: Any = None
    evidence: Any = None


class BadDestroyMap(DebugModeError):
    """A node changed an input, and the op's `destroy_map` does not say so. idx: which input."""

    idx: int | None = None


class BadViewMap(DebugModeError):
    """An output shares memory with an input, or another output, and the op's `view_map` does not
    say so; or it shares none where `must_view_map` does. output_idx: which output.
    """

    output_idx: int | None = None


class StochasticOrder(DebugModeError):
    """Rewriting the same graph again does other things."""


class InvalidValueError(DebugModeError):
    """A value is not what the type of its variable says, or what the op says of its results: shape,
    range, facts; or not finite where that is checked (`check_isfinite`). r, v: variable and value.
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
    """The right side, or a guard, uses a variable that the left side does not bind."""


class DuplicateRuleError(RuleError, ValueError):
    """Two rules of one set have the same name."""


class PatternError(RuleError, TypeError):
    """A pattern that is not one, or that can never match."""


class SeveralOutputsError(PatternError):
    """A pattern takes an op with several outputs for a term: it can never match."""


class RuleTypeError(RuleError, TypeError):
    """A rule returned a term whose type cannot stand for the type of the term it replaces."""


class RuleRaisedError(RuleError):
    """A rule raised an exception while it was applied (the exception is the `__cause__`)."""


class FactError(RuleError):
    """Facts that ask each other in a circle, or one that returned no answer; the message names
    them.
    """


class RuleLoopError(RuleError):
    """Rules that do not come to an end; the message names them and shows the terms.

    rules: their names. turn: (rule, term before, term after) of one turn of the cycle.
    """

    rules: tuple[str, ...] = ()
    turn: tuple[tuple[str, str, str], ...] = ()


class IllegalGraphError(RuleError):
    """A phase left a term that its rules are to rewrite."""


class ParameterError(RewriteEngineError, ValueError):
    """A parameter of a distribution is not one that it can have."""


class ReplayError(RewriteEngineError, ValueError):
    """A line of a trace that cannot be repeated on this graph; the message names the line.

    line: its number among those given, from 1 on.
    """

    line: int = 0


# --- searches -------------------------------------------------------------------------------------


class SearchBudgetError(RewriteEngineError, TimeoutError):
    """A search used up its budget of answers or seconds; the message says what it was looking
    for.
    """


class RelationBudgetError(SearchBudgetError, RuleError):
    """The goal of a relation rule used up its budget of answers or seconds at a node."""


class PackError(RewriteEngineError, ImportError):
    """A pack of rules, or a rule file, that cannot be loaded; what went wrong is the
    `__cause__`.
    """


class NotHereError(RewriteEngineError, NotImplementedError):
    """A name of another library that this one does not have was used."""


class UnknownNameError(RewriteEngineError, KeyError, ValueError):
    """A name that no rule, phase, tag or mode has."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `; did you mean exp_log?`, or nothing."""
    from difflib import get_close_matches

    close: list[str] = []
    for one in get_close_matches(str(name), sorted(set(known)), n=6):
        if not any(one in other.split("/")[1:] or other in one.split("/")[1:] for other in close):
            close.append(one)  # (a rule is there by its full and by its short name)
    close = close[:3]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def refuse_options(what: str, why: str, **options: Any) -> None:
    """Raise `OptionError` for the first option that is asked for, and cannot be had."""
    for name, value in options.items():
        if value not in (None, False):
            raise OptionError(f"{what}: {name}={value!r} cannot be honoured: {why}")


def refuse_unknown(what: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise `OptionError` for an option that does not exist."""
    for name in unknown:
        raise OptionError(f"{what} has no option {name!r}{did_you_mean(name, known)}")


def expression_of(fn: Callable[..., Any], error: Exception) -> str:
    """The expression of a function that raised an error, or the line it is in."""
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
    """`file:line: the code there`, as messages show it."""
    text = linecache.getline(filename, lineno).strip()
    return f"{filename}:{lineno}" + (f": {text}" if text else "")


class Message(str):
    """The text of an error that says already where it happened."""

    __slots__ = ()


def message(
    what: str,
    *,
    op: Any = None,
    inputs: Iterable[Any] = (),
    where: tuple[str, int] | None = None,
    hint: str | None = None,
) -> Message:
    """Write an error message: what is wrong, in which op, on which types, from which line of the
    user.

    `inputs` are variables (their types are shown), types, or values (their dtype and shape are).
    """
    lines = [f"{op}: {what}" if op is not None else what]
    lines += [f"    input {i}: {describe(x)}" for i, x in enumerate(inputs)]
    if where is not None:
        lines.append("    built at " + source_line(*where))
    if hint:
        lines.append("    " + hint)
    return Message("\n".join(lines))


def plural(n: int, word: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def describe(x: Any) -> str:
    """Name a variable with its type, or a value with its dtype and shape, in a few words."""
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
