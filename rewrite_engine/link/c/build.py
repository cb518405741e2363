"""C code of a node as a function of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rewrite_engine.errors import (
    CompileError,
    MethodNotDefined,
    NoCCodeError,
    NoCompilerError,
    message,
)
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.link.c.compiler import has_compiler
from rewrite_engine.link.c.source import CSource, c_source_of
from rewrite_engine.link.forms import Form, into_cells, register_form
from rewrite_engine.link.perform import of_type


def c_function(node: Apply) -> Callable[..., Any] | None:
    """Return a function of the values of a node's inputs: the output's value, or a tuple of values,
    checked against their types. Values of an earlier call may follow the inputs, for outputs to
    reuse.

    Returns None if `perform` must be used: the op has no C code for the node, or there is no
    compiler. Raises `CompileError` for code that the compiler rejects; `NoCCodeError` and
    `NoCompilerError` if there is no `perform` either.
    """
    source = c_source_of(node)
    if performs(node.op) and (isinstance(source, str) or not has_compiler()):
        return None
    if isinstance(source, str):
        raise NoCCodeError(
            message(f"{source}, and no perform", op=node.op, inputs=node.inputs, where=node.where())
        )
    return _compile(node, source)


@register_form
def c_form(node: Apply) -> Form | None:
    """Return the C code of a node as one of the forms in which it runs; None if there is none."""
    if not has_compiler() or isinstance(c_source_of(node), str):
        return None
    found = c_function(node)
    if found is None:
        return None

    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        into_cells(lambda *values: found(*values, *[cell[0] for cell in cells]))(inputs, cells)

    return Form("C code", run, reuses=True, written=True)


def performs(op: Any) -> bool:
    """Return whether an op defines `perform`."""
    return type(op).perform is not Op.perform


def params_of(node: Apply) -> Any:
    """Return the parameters of a node, filtered by their type; None if it has none."""
    op: Any = node.op
    kind = getattr(op, "params_type", None)
    if kind is None:
        return None
    found = op.get_params(node)
    return None if found is None else kind.filter(found)


def _compile(node: Apply, source: CSource) -> Callable[..., Any]:
    from rewrite_engine.link.c.module import module_of

    node.op.prepare_node(node, None, None, "c")
    try:
        make = module_of(source).make
    except (CompileError, NoCompilerError, ImportError) as error:
        text = message(str(error), op=node.op, inputs=node.inputs, where=node.where())
        known = isinstance(error, CompileError | NoCompilerError)
        better = type(error)(text) if known else CompileError(text)
        better.__dict__.update(error.__dict__)
        raise better from error.__cause__
    filters = tuple([partial(of_type, v.type) for v in node.outputs])
    try:
        return make(params_of(node), filters)  # type: ignore[no-any-return]
    except MethodNotDefined:
        raise
    except Exception as error:
        error.add_note(message("its C code could not be started", op=node.op, where=node.where()))
        raise
