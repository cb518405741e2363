"""Functions that run one node alone: by the op's `perform`, or by its `make_thunk` or
`make_function` if it defines one. Ops of programs are run with care: see `careful`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np

from rewrite_engine.errors import ForeignObjectError, describe, message
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.type import TensorType


def runner(node: Apply, reference: bool = False) -> Callable[..., Any]:
    """Return a function of the input values: the output's value, or a tuple of the outputs'. Values
    of ops of programs are checked against the types that their nodes declare. reference: native
    code runs only if there is nothing else.
    """
    op = node.op
    if type(op).make_thunk is not Op.make_thunk:
        return careful(node, call_thunk(node))
    if op.native and reference and type(op).perform is not Op.perform:
        return careful(node, call_perform(node))
    function = op.make_function(node)
    if op.native and function is not None:
        return function
    return careful(node, function or call_perform(node))


def careful(node: Apply, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs an op of a program: it cannot overwrite arrays outside its
    `destroy_map`, and its results are of the types of the outputs.
    """
    if type(node.op).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return run
    return held_to_types(node, protected(node.op, len(node.inputs), run))


def protected(op: Op, nin: int, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that passes `run` read-only views of the arrays that the op does not
    declare to overwrite. If `run` tries to write to them, it gets copies from then on.
    """
    declared = {i for some in op.destroy_map.values() for i in some}
    places = [i for i in range(nin) if i not in declared]
    shown = {*op.view_map, *op.destroy_map}
    shield: list[Callable[[Any], Any]] = [read_only]

    def guarded(*inputs: Any) -> Any:
        given = list(inputs)
        for i in places:
            if given[i].__class__ is np.ndarray:
                given[i] = shield[0](given[i])
        try:
            found = run(*given)
        except (ValueError, TypeError, BufferError) as error:
            if shield[0] is not read_only or not WRITES.search(str(error)):
                raise
        else:
            if found.__class__ is tuple:
                return tuple([own(x, o in shown) for o, x in enumerate(found)])
            return own(found, 0 in shown)
        shield[0] = np.array
        return guarded(*inputs)

    return guarded


#: what NumPy, Cython and others say of memory that cannot be written to
WRITES = re.compile("read-?only|writ(e)?able")


def read_only(x: Any) -> Any:
    """Return a read-only view of an array."""
    view = x.view()
    view.flags.writeable = False
    return view


def own(x: Any, may_share: bool) -> Any:
    """Return a writable result for a read-only view of an argument; a copy, if the op does not
    declare that it shares memory.
    """
    if x.__class__ is not np.ndarray or x.flags.writeable or x.base is None:
        return x
    if not may_share:
        return x.copy()
    with suppress(ValueError):  # the argument cannot be written to
        x.flags.writeable = True
    return x


def held_to_types(node: Apply, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the input values whose results must be of the types of the outputs."""
    types = [v.type for v in node.outputs]
    if len(types) == 1:
        (type_,) = types
        return lambda *inputs: of_type(type_, run(*inputs))
    return lambda *inputs: tuple(map(of_type, types, run(*inputs)))


def of_type(type_: Any, value: Any) -> Any:
    """Return a value if it is of a type (for tensors, a NumPy scalar as a 0-d array); else raise
    its error.
    """
    if isinstance(value, np.generic) and isinstance(type_, TensorType):
        value = np.asarray(value)
    return type_.filter(value, strict=True)


def call_perform(node: Apply, perform: Callable[..., None] | None = None) -> Callable[..., Any]:
    """Return a function of the input values that runs `perform` (the op's, or one in its place);
    every call has storage cells of its own. A cell that stays empty is an error, unless None is a
    value of the output's type.
    """
    op = node.op
    op.prepare_node(node, None, None, "py")
    perform, types = perform or op.perform, [v.type for v in node.outputs]
    if len(types) == 1:
        (type_,) = types

        def run(*inputs: Any) -> Any:
            cell = [None]
            perform(node, list(inputs), [cell])
            return type_.filter(None) if cell[0] is None else cell[0]

    else:

        def run(*inputs: Any) -> Any:
            cells: list[list[Any]] = [[None] for _ in types]
            perform(node, list(inputs), cells)
            pairs = zip(types, cells, strict=True)
            return tuple([t.filter(None) if c[0] is None else c[0] for t, c in pairs])

    return run


def call_thunk(node: Apply) -> Callable[..., Any]:
    """Return a function of the input values that runs the op's own thunk; one call at a time,
    because the cells are shared.
    """
    storage: dict[Any, list[Any]] = {v: [None] for v in (*node.inputs, *node.outputs)}
    done = {v: [False] for v in node.outputs} | {v: [True] for v in node.inputs}
    thunk = node.op.make_thunk(node, storage, done, list(node.outputs))
    if not callable(thunk):
        what = f"its make_thunk must return a function without arguments, not {describe(thunk)}"
        about: dict[str, Any] = dict(op=node.op, inputs=node.inputs, where=node.where())
        raise ForeignObjectError(message(what, **about))
    ins, outs = [storage[v] for v in node.inputs], [storage[v] for v in node.outputs]
    lock = Lock()

    def run(*inputs: Any) -> Any:
        with lock:
            try:
                for cell, value in zip(ins, inputs, strict=True):
                    cell[0] = value
                thunk()
                values = tuple([cell[0] for cell in outs])
            finally:
                for cell in (*ins, *outs):
                    cell[0] = None
        return values[0] if len(values) == 1 else values

    return run
