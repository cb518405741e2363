"""Collection of all mistakes of a rule, and of the rules of a module, in one run.

A rule function that raises is run again with a stand-in for the expression that failed
(`all_errors`). Errors of a module's rules are collected while it is loaded (`collecting_errors`).
The mistakes themselves are defined in `lower.py` and `sample.py`.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rewrite_engine.errors import RuleError, RuleErrors, SeveralOutputsError, plural
from rewrite_engine.fork import cached_property

MAX_MISTAKES = 20  # of one rule function
STAND_IN = "stand_in_"  # followed by a number

Position = tuple[int, int, int, int]  # first line and column, last line and column


class Mistakes:
    """Collector of errors that lets the next check run: `with mistakes: check()`."""

    def __init__(self, found: Sequence[RuleError] = ()) -> None:
        self.found = list(found)

    def __enter__(self) -> Mistakes:
        return self

    def __exit__(self, cls: Any, error: Any, tb: Any) -> bool:
        if isinstance(error, RuleError):
            self.found += getattr(error, "mistakes", (error,))
        return isinstance(error, RuleError)

    def raise_all(self) -> None:
        """Raise the one error, or all of them as one; nothing if there is none."""
        if self.found:
            raise joined(self.found)


def joined(errors: Sequence[RuleError]) -> RuleError:
    """Return one error for several of one rule, of the class of the first."""
    errors = list({str(error): error for error in errors}.values())
    if len(errors) == 1:
        return errors[0]
    undeclared = [e for e in errors if isinstance(e, SeveralOutputsError)]  # see `lower.counted`
    first = (undeclared or errors)[0]
    lines, known = list[str](), set[str]()
    for i, error in enumerate(errors, 1):
        head, *more = str(error).split("\n")
        lines += [f"{i}. {head}", *[line for line in more if line not in known]]
        known |= set(more)
    text = "\n    ".join([f"{plural(len(errors), 'mistake')}:", *[s.lstrip() for s in lines]])
    one = type(first)(text)
    one.__cause__ = first.__cause__
    one.mistakes = tuple(errors)
    return one


# --- one rule function ----------------------------------------------------------------------------


class RepairedSource:
    """Rule function that is called until nothing in it fails. stand_ins: the names that replaced
    expressions.
    """

    def __init__(self, fn: Callable[..., Any], lvars: dict[str, Any]) -> None:
        self.fn = inspect.unwrap(fn)
        self.lvars = lvars
        self.stand_ins: list[str] = []
        self.sources: dict[str, ast.expr] = {}  # of values in place of expressions, by their names

    @cached_property
    def tree(self) -> ast.FunctionDef | None:
        """Return the source as it is now; None if it is unknown. It is read when something fails,
        as reading takes longer than building a rule.
        """
        return _parse(self.fn)

    @cached_property
    def written(self) -> ast.FunctionDef | None:
        """Return the source as the author wrote it; None if it is unknown."""
        return self.tree

    def without(self, error: Exception, stand_in: Any) -> Callable[..., Any] | None:
        """Return the function with a stand-in for the expression that raised an error; None if its
        source is unknown.
        """
        result = self.failed(error)
        if result is None or self.tree is None or len(self.stand_ins) >= MAX_MISTAKES:
            return None
        name = f"{STAND_IN}{len(self.stand_ins)}"
        self.stand_ins.append(name)
        self.lvars = {**self.lvars, name: stand_in(name)}
        self._replace(result, name)
        return self.compiled()

    def _replace(self, expression: ast.expr, name: str) -> None:
        assert self.tree is not None
        if self.tree is self.written:
            self.written = copy.deepcopy(self.tree)
        self.tree = _Replaced(expression, name).visit(self.tree)

    def replaced(self, error: Exception, name: str, value: Any) -> Callable[..., Any] | None:
        """Return the function with a value, under a name, for the expression that raised an
        error.
        """
        result = self.failed(error)
        assert result is not None
        self.sources[name] = self.source(result)
        self.lvars = {**self.lvars, name: value}
        self._replace(result, name)
        return self.compiled()

    def right_side(self) -> Callable[[dict[str, Any]], Any] | None:
        """Return a function that evaluates the right side of `left >> right` on values of the
        variables, as it is written; None if the function does not return that.
        """
        tree = copy.deepcopy(self.written)
        last = None if tree is None else tree.body[-1]
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(value, ast.Tuple) and value.elts:
            value = value.elts[0]
        if tree is None or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.RShift):
            return None
        tree.body[-1] = ast.copy_location(ast.Return(value.right), value)
        code = self._code(tree)

        def evaluated(values: dict[str, Any]) -> Any:
            names = {**self._names(), **values}
            exec(code, names)
            return names[self.fn.__name__]()

        return evaluated

    def source(self, expression: ast.expr) -> ast.expr:
        """Return an expression as the author wrote it, without values in place of parts of it."""
        restored: ast.expr = _Restored(self.sources).visit(copy.deepcopy(expression))
        return restored

    def failed(self, error: Exception) -> ast.expr | None:
        """Find the expression of the function that raised an error."""
        place = _position(error, self.fn.__code__.co_filename, self.fn.__name__)
        nodes = ast.walk(self.tree) if self.tree is not None and place is not None else ()
        return next((n for n in nodes if isinstance(n, ast.expr) and _place(n) == place), None)

    def repeats(self, error: Exception) -> bool:
        """Return whether an error follows from an earlier one."""
        result = self.failed(error)
        names = {n.id for n in ast.walk(result) if isinstance(n, ast.Name)} if result else set()
        return not names.isdisjoint(self.stand_ins)

    def text(self, error: Exception) -> str:
        """Return the source of the expression that raised an error; "" if it is unknown."""
        result = self.failed(error)
        return "" if result is None else ast.unparse(result)

    def compiled(self) -> Callable[..., Any]:
        """Return the function as it is now, which takes no variables."""
        assert self.tree is not None
        code = self._code(self.tree)

        def run(**values: Any) -> Any:
            names = {**self._names(), **self.lvars, **values}
            exec(code, names)
            return names[self.fn.__name__]()

        return run

    def _code(self, tree: ast.FunctionDef) -> Any:
        module = ast.fix_missing_locations(ast.Module([tree], []))
        return compile(module, self.fn.__code__.co_filename, "exec")

    def _names(self) -> dict[str, Any]:
        return {**self.fn.__globals__, **inspect.getclosurevars(self.fn).nonlocals}

    def names_at(self, error: Exception) -> dict[str, Any]:
        """Return the values of all names where the function raised an error."""
        tb, found = error.__traceback__, dict[str, Any]()
        while tb is not None:
            if tb.tb_frame.f_code.co_filename == self.fn.__code__.co_filename:
                found = found or dict(tb.tb_frame.f_locals)
            tb = tb.tb_next
        return {**self._names(), **self.lvars, **found}


class _Replaced(ast.NodeTransformer):
    def __init__(self, expression: ast.expr, name: str) -> None:
        self.expression, self.name = expression, name

    def visit(self, node: ast.AST) -> Any:
        if node is self.expression:
            return ast.copy_location(ast.Name(self.name, ast.Load()), node)
        return self.generic_visit(node)


class _Restored(ast.NodeTransformer):
    def __init__(self, sources: dict[str, ast.expr]) -> None:
        self.sources = sources

    def visit_Name(self, node: ast.Name) -> Any:
        return copy.deepcopy(self.sources[node.id]) if node.id in self.sources else node


def _parse(fn: Callable[..., Any]) -> ast.FunctionDef | None:
    """Return the source of a function, as one without parameters; None if it is unknown."""
    code = fn.__code__
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == fn.__name__:
            first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
            body = node.body if first == code.co_firstlineno else None
        elif isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = [ast.copy_location(ast.Return(node.body), node.body)]
            body = body if [a.arg for a in node.args.args] == [*_names(fn)] else None
        else:
            continue
        if body is not None:
            empty = ast.arguments([], [], None, [], [], None, [])
            new = ast.FunctionDef(fn.__name__, empty, body, [], None)
            return ast.copy_location(new, node)
    return None


def _names(fn: Any) -> Sequence[str]:
    return fn.__code__.co_varnames[: fn.__code__.co_argcount]  # type: ignore[no-any-return]


def _position(error: Exception, file: str, name: str) -> Position | None:
    """Return where in a function an error was raised."""
    for one in traceback.extract_tb(error.__traceback__):
        if one.filename == file and one.name in (name, "<lambda>") and one.colno is not None:
            ends = one.end_lineno or 0, one.end_colno or 0
            return (one.lineno or 0, one.colno, *ends)
    return None


def _place(node: ast.expr) -> Position:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


# --- the rules of a module ------------------------------------------------------------------------


class Collection:
    """Errors of rules, with the modules of these rules."""

    def __init__(self) -> None:
        self.errors: list[RuleError] = []
        self.loaded = frozenset(sys.modules)
        self.modules: set[str] = set()

    def raise_all(self) -> None:
        """Raise the errors, if there are any; the modules are imported again the next time."""
        for name in self.modules - self.loaded:
            sys.modules.pop(name, None)
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise RuleErrors(self.errors)


_COLLECTION: ContextVar[Collection | None] = ContextVar("collection", default=None)


@contextmanager
def collecting_errors() -> Iterator[None]:
    """Collect the errors of the rules that are built inside, and raise them together at the end.

    A rule that cannot be built is None inside. Another error there, which may be a consequence, is
    dropped if rules are wrong. Raises `RuleErrors`, or the one `RuleError`.
    """
    collection = Collection()
    token = _COLLECTION.set(collection)
    try:
        yield
    except Exception as error:
        if not collection.errors:
            raise
        if isinstance(error, RuleError):
            collection.errors.append(error)
    finally:
        _COLLECTION.reset(token)
    collection.raise_all()


def collected(cls: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Build a rule of a function; None for a wrong one while errors are collected."""
    result = _COLLECTION.get()
    if result is None:
        return cls(*given, **options)
    try:
        return cls(*given, **options)
    except RuleError as error:
        result.errors.append(error)
        result.modules.add(getattr(given[0], "__module__", None) or "")
        return None
