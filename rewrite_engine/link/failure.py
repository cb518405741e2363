"""Errors of a running function: the node, its inputs, and where the user wrote it.

One `try` surrounds the body and costs nothing. When it catches an error, either a linker has
recorded the node (`failed`), or the deepest frame of the traceback in the generated file gives the
line, which gives the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from types import FrameType
from typing import Any

from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    NestingError,
    RewriteEngineError,
    ShapeError,
    message,
)
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import told_places
from rewrite_engine.tensor.creation import Alloc, AllocEmpty, Eye, Tri
from rewrite_engine.tensor.index.subtensor import BaseInc, IndexOp
from rewrite_engine.tensor.product.dots import Dot
from rewrite_engine.tensor.reduction import Reduction
from rewrite_engine.tensor.reshape import Reshape
from rewrite_engine.tensor.shaping.joins import Join

_HINT = (
    "Dimensions of unequal length: one of length 1 is stretched only if it is known to be 1 when "
    "the graph is built (give it a static shape, or use `specify_shape`)."
)
_DEEP = (
    "graphs inside ops are nested deeper than Python's recursion limit: let some of the ops "
    "have inline=True, or raise the limit (sys.setrecursionlimit)"
)


@singledispatch
def error_class(op: Any) -> type[RewriteEngineError] | None:
    """Return the class to raise for NumPy's `ValueError` or `IndexError` in the code of this op;
    None: keep the error.
    """
    return None


for _op in (Alloc, AllocEmpty, Eye, Tri, Dot, Join, Reduction, Reshape):
    error_class.register(_op, lambda op: ShapeError)
error_class.register(IndexOp, lambda op: AxisError)


class Mismatch(BroadcastError):
    """Raised by generated code for shapes that differ; a `BroadcastError` with all details replaces
    it.
    """


def mismatch() -> None:
    """Raise `Mismatch`, for generated code."""
    raise Mismatch


def failed(error: Exception, node: Apply, values: Sequence[Any]) -> None:
    """Record the failing node on an error that leaves a linker's function."""
    error.__dict__["failed_at"] = node, values


class ErrorReporter:
    """Explains the errors of one generated file."""

    def __init__(self, name: str, filename: str, nodes: Sequence[Apply]) -> None:
        self.name = name
        self.filename = filename
        self.nodes = nodes
        self.step: str | None = None  # the name that counts the steps of a loop
        self.about: list[tuple[int, tuple[str, ...]] | None] = []  # by line, from 0

    def __call__(self, error: BaseException) -> None:
        """Add information about the node to an error; may raise a more precise one in its place."""
        if not isinstance(error, Exception) or isinstance(error, NestingError):
            return
        found = error.__dict__.pop("failed_at", None) or self._by_line(error)
        if found is None:
            return
        node, values = found
        deep = isinstance(error, RecursionError) and not hasattr(error, "__notes__")
        if deep and isinstance(node.op, HasInnerGraph):
            raise NestingError(message(_DEEP, op=node.op, where=node.where())) from None
        text = self._describe(node, values, self._step(error))
        if isinstance(error, Mismatch):
            if isinstance(node.op, BaseInc):
                raise BroadcastError(f"{node.op}: {node.op.misfit_of(values)}\n{text}") from None
            raise BroadcastError(f"{node.op}: the shapes do not fit\n{text}\n    {_HINT}") from None
        better = error_class(node.op)
        if better is None and "broadcast" in str(error):  # NumPy's own words
            better = BroadcastError
        if better is not None and type(error) in (ValueError, IndexError):
            raise better(f"{node.op}: {error}\n{text}") from error
        error.add_note(f"{node.op}\n{text}")

    def _by_line(self, error: Exception) -> tuple[Apply, list[Any]] | None:
        """Return the node of the line that raised an error, and its values."""
        frame, line = None, 0
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.filename:
                frame, line = traceback.tb_frame, traceback.tb_lineno
            traceback = traceback.tb_next
        about = self.about[line - 1] if line <= len(self.about) else None
        if frame is None or about is None:
            return None
        return self.nodes[about[0]], [lookup(frame, name) for name in about[1]]

    def _step(self, error: Exception) -> str:
        """Describe the step of a loop that failed. (The first frame is that of the function that
        caught it.)
        """
        if self.step is None or error.__traceback__ is None:
            return ""
        return f"step t={lookup(error.__traceback__.tb_frame, self.step)} of "

    def _describe(self, node: Apply, values: Sequence[Any], step: str) -> str:
        lines = [
            f"    input {i}: {v!r} of type {v.type}: {show(value)}"
            for i, (v, value) in enumerate(zip(node.inputs, values, strict=True))
        ]
        lines += ["    " + place for place in told_places(node.origin)]
        lines.append(f"    in {step or 'the function '}{self.name!r}, {self.filename}")
        return "\n".join(lines)


def lookup(frame: FrameType, name: str) -> Any:
    """Return the value of a name in a frame."""
    if name in frame.f_locals:
        return frame.f_locals[name]
    return frame.f_globals.get(name)


def show(value: Any) -> str:
    """Describe a value by dtype, shape and strides, or by its beginning."""
    if hasattr(value, "indptr"):  # a sparse matrix
        kind = f"{type(value).__name__} of dtype {value.dtype} and shape {value.shape}"
        return f"{kind}, {value.nnz} stored"
    if hasattr(value, "dtype") and hasattr(value, "strides"):
        kind = f"{type(value).__name__} of dtype {value.dtype}"
        return f"{kind}, shape {value.shape}, strides {value.strides}"
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
