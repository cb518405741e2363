"""Calls of rule functions, and patterns to suggest for expressions that fail in them.

Functions such as `pt.linalg.det` read the type of an operand, and a rule's variables have none.
Applied to a sample they build a term; its source text is suggested, if it compiles to a pattern
here.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from rewrite_engine.errors import PatternError, RuleError, did_you_mean, expression_of
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.op import ATOM, UNARY
from rewrite_engine.match.mistakes import RepairedSource
from rewrite_engine.match.pattern import Rest, Sort, as_sort
from rewrite_engine.terms.logic import NO_DEFAULT, LogicVariable, PatternTerm, as_pattern
from rewrite_engine.terms.parameter import NOTHING, parameters_of
from rewrite_engine.terms.print import INFIX

TYPELESS = """\
A rule's variables have no types yet, and the result of a function may depend on the operand's
    type. Write the ops with their parameters, such as Sum(axis=0)(a) or DimShuffle(2, (1, 0))(a);
    or give the variables types (a: pt.dmatrix); the rest is for `compute`, or a @node_rewriter."""

MAX_SUGGESTION = 300  # characters
#: ops that are written as operators, with the levels of `INFIX`
OPERATORS = ("add", "sub", "mul", "true_div", "pow")


class Called(NamedTuple):
    """Result of calling a rule function. errors: of each expression that failed, which a stand-in
    replaced; has_ended: whether the function could continue to its end (otherwise `body` is None).

    sampled: the forms of expressions that look at types (`match/sampled.py`), by the names of
    values that replaced them; run: the function that gets other forms by these names; right: a
    function that evaluates the right side on values of the variables.
    """

    body: Any
    errors: list[RuleError]
    has_ended: bool
    sampled: Mapping[str, list[Any]] = {}
    run: Callable[..., Any] | None = None
    right: Callable[[dict[str, Any]], Any] | None = None

    def with_forms(
        self, sampled: Mapping[str, list[Any]], lvars: Mapping[str, LogicVariable]
    ) -> Called:
        """Return the result with other forms of the expressions that look at types."""
        assert self.run is not None
        values = {name: form.value for name, (form, *_) in sampled.items()}
        return self._replace(body=self.run(**{**lvars, **values}), sampled=sampled)


def called(fn: Callable[..., Any], lvars: dict[str, LogicVariable]) -> Called:
    """Call a rule function."""
    attempt, errors = RepairedSource(fn, dict(lvars)), list[RuleError]()
    variable, run = type(next(iter(lvars.values()), None)), fn
    sampled = dict[str, list[Any]]()
    while True:
        try:
            body = run(**lvars)
            has_ended = run is fn or attempt.fn is fn or not attempt.stand_ins
            found = body if has_ended else None
            right = attempt.right_side() if sampled else None
            return Called(found, errors, has_ended, sampled, run, right)
        except Exception as error:
            on_samples: list[Exception] = []
            if again := _with_forms(attempt, error, lvars, sampled, on_samples):
                run = again
                continue
            if not attempt.repeats(error):
                errors.append(_error_of(fn, attempt, error, lvars, *on_samples))
            again = (
                attempt.without(error, variable) if issubclass(variable, LogicVariable) else None
            )
            if again is None:
                return Called(None, errors, False)
            run = again


def _with_forms(
    attempt: RepairedSource,
    error: Exception,
    lvars: Mapping[str, LogicVariable],
    sampled: dict[str, list[Any]],
    on_samples: list[Exception],
) -> Callable[..., Any] | None:
    """Return the function with the pattern of an expression that failed because it looks at types;
    None if it has no pattern. sampled: gets its forms; on_samples: the error on samples.
    """
    forms_of = getattr(next(iter(lvars.values()), None), "forms", None)
    expression = None if isinstance(error, RuleError) else attempt.failed(error)
    if forms_of is None or expression is None or attempt.repeats(error):
        return None
    names = attempt.names_at(error)
    parts = [p for forms in sampled.values() for form in forms for p in form.parts]
    known = {**lvars, **{p.name: p for p in parts}}
    try:
        written = attempt.source(expression)
        forms = forms_of(written, names, known, attempt.fn.__module__, len(sampled))
    except Exception as failure:
        on_samples.append(failure)
        return None
    name = f"sampled_{len(sampled)}"
    sampled[name] = forms
    return attempt.replaced(error, name, forms[0].value)


def _error_of(
    fn: Callable[..., Any],
    attempt: RepairedSource,
    error: Exception,
    lvars: Mapping[str, LogicVariable],
    why: Exception | None = None,
) -> RuleError:
    """Return an error of a rule function as a `RuleError` with the expression. why: its error on
    samples, if it was tried there.
    """
    expression = attempt.text(error) or expression_of(fn, error)
    typeless = getattr(error, "typeless", False)
    if isinstance(error, RuleError):
        if typeless and (written := suggested(fn, lvars, expression)):
            new = type(error)(f"{error}\n    {written}")
            new.__cause__ = error.__cause__
            return new
        return error
    why = error if why is None else why
    text = f"`{expression}` cannot be part of a pattern: {type(why).__name__}: {why}"
    what = text if why is error else text.partition("\n")[0]
    new = PatternError(what.replace("\n", "\n    ") + _hint(fn, error, expression, lvars))
    new.__cause__ = error
    return new


def _hint(
    fn: Callable[..., Any], error: Exception, expression: str, lvars: Mapping[str, LogicVariable]
) -> str:
    """Suggest what may have been meant in a rule function that raised an error."""
    if isinstance(error, NameError):
        names = inspect.unwrap(fn).__globals__
        return did_you_mean(error.name, [*inspect.signature(fn).parameters, *names])
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return did_you_mean(error.name, dir(error.obj))
    written = suggested(fn, lvars, expression)
    return f"\n    {TYPELESS}" + (f"\n    {written}" if written else "")


def suggested(fn: Callable[..., Any], lvars: Mapping[str, LogicVariable], expression: str) -> str:
    """Return what to write instead of an expression, in one sentence; "" if that is unknown."""
    fn = inspect.unwrap(fn)
    names = {**fn.__globals__, **inspect.getclosurevars(fn).nonlocals}
    samples = {name: sample_of(lvar) for name, lvar in lvars.items()}
    try:
        term = eval(expression, {**names, **samples})
        leaves = {v: name for name, v in samples.items()}
        writer = SourceWriter(names, leaves)
        text, used = writer.source(term), writer.used
        typed = {  # with the rank of the sample, which an author may give it by another sort
            name: type(lvar)(name, sort=as_sort(samples[name].type))
            if samples[name] in used
            else lvar
            for name, lvar in lvars.items()
        }
        new = eval(text, {**names, **writer.imported, **typed})
    except Exception:  # it only was an attempt
        return ""
    if not isinstance(as_pattern(new), PatternTerm) or len(text) > MAX_SUGGESTION:
        return ""
    types = [f"{name} of {v.type}" for v, name in leaves.items() if v in used]
    home = "".join([f" (from {c.__module__} import {n})" for n, c in writer.imported.items()])
    return f"For {', '.join(types)}, write `{text}`{home}."


def sample_of(lvar: LogicVariable) -> Any:
    """Return a variable of a graph that a logic variable may stand for; None for a parameter."""
    sort: Sort = lvar.sort
    if sort is Rest or lvar.default is not NO_DEFAULT:
        return None
    own = None if sort.samples is None else sort.samples()
    known = [v for world in type(lvar).worlds() for v in world if sort(v)] if own is None else own
    return next((v if v.head is CONSTANT else v.type(lvar.name) for v in known), None)


def number_text(number: Any) -> str:
    """Return a number as an author writes it. Raises `ValueError` for an array."""
    if number is None:
        raise ValueError("an array")
    text = repr(number)
    return text.removesuffix(".0") if number else text


class SourceWriter:
    """Writer of terms as source text. names: those of the author's module. leaves: names of
    variables. used: leaves that were written. imported: classes of ops that the module does not
    have.
    """

    def __init__(self, names: Mapping[str, Any], leaves: Mapping[Any, str]) -> None:
        self.names, self.leaves = names, leaves
        self.used: dict[Any, None] = {}
        self.imported: dict[str, Any] = {}

    def source(self, term: Any, level: int = 0) -> str:
        """Return the text of a term, or of all outputs of a node. Raises `ValueError`."""
        if isinstance(term, list | tuple):
            return self._applied(term[0].owner)
        if not isinstance(term, Variable):
            return repr(term)
        if term in self.leaves:
            self.used[term] = None
            return self.leaves[term]
        if term.head is CONSTANT:
            text = number_text(term.number)  # type: ignore[attr-defined]
            return f"({text})" if text.startswith("-") and level > UNARY else text
        node = term.owner
        if node is None:
            raise ValueError(f"{term} is no variable of the rule")
        name = str(node.op)
        if name in OPERATORS and len(node.inputs) == 2:
            symbol, own = INFIX[name]
            a, b = node.inputs
            first, later = (ATOM, UNARY) if name == "pow" else (own, own + 1)
            text = f"{self.source(a, first)} {symbol} {self.source(b, later)}"
            return f"({text})" if own < level else text
        if name == "neg":
            text = f"-{self.source(node.inputs[0], UNARY)}"
            return f"({text})" if level > UNARY else text
        text = self._applied(node)
        return text if term.head is node.op else f"{text}[{term.index}]"

    def _applied(self, node: Any) -> str:
        op, args = node.op, ", ".join([self.source(v) for v in node.inputs])
        for path, module in self.modules():
            if getattr(module, str(op), None) == op:
                return f"{path}{op}({args})"
            scalar = op.scalar_op if "scalar_op" in op.__props__ else None
            function = type(scalar).__name__.lower()
            if scalar is not None and hasattr(module, function) and hasattr(module, "Elemwise"):
                values = [repr(getattr(scalar, p)) for p in scalar.__props__]
                return f"{path}{function}({', '.join([args, *values])})"
            if scalar is None and getattr(module, type(op).__name__, None) is type(op):
                return f"{path}{self.constructor(op)}({args})"
        if "scalar_op" in op.__props__:
            raise ValueError(f"{op} has no name")
        self.imported[type(op).__name__] = type(op)
        return f"{self.constructor(op)}({args})"

    def constructor(self, op: Any) -> str:
        """Return the class of an op with the parameters that are not its defaults."""
        cls = type(op)
        known = parameters_of(cls.__init__)
        given = []
        for name in op.__props__:
            value, default = getattr(op, name), known.get(name, (NOTHING, NOTHING))[1]
            if default is NOTHING or value != default:
                given.append(f"{name}={value!r}")
        if eval(f"cls({', '.join(given)})", {"cls": cls}) != op:
            raise ValueError(f"{op} is made of other parameters")
        return f"{cls.__name__}({', '.join(given)})"

    def modules(self) -> Iterator[tuple[str, Any]]:
        """Yield places where ops may be, with the text to write before their names."""
        results: dict[str, Any] = {"": _Namespace(self.names)}
        for alias, module in self.names.items():
            if not isinstance(module, ModuleType) or alias[0] == "_":
                continue
            results[f"{alias}."] = module
            for name in [n for n in sys.modules if n.rpartition(".")[0] == module.__name__]:
                last = name.rpartition(".")[2]
                if vars(module).get(last) is sys.modules[name]:
                    results[f"{alias}.{last}."] = sys.modules[name]
        yield from sorted(results.items(), key=lambda pair: len(pair[0]))


class _Namespace:
    """Namespace with names as attributes."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.__dict__.update(names)
