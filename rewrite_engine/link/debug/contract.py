"""Contract of one node: everything that its op declares, checked against actual values.

A node runs in each of its forms (`link/forms.py`), on copies of its inputs: twice in the first
form, and again for each way to fill the cells of its outputs. The first results are returned;
everything else in the graph is compared with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    InvalidValueError,
)
from rewrite_engine.graph.memory import check_places, memory_of
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.judge.noise import explains
from rewrite_engine.link.debug.promises import check_promises, check_shapes, lengths_fit
from rewrite_engine.link.debug.storage import copy_of, kinds_of, preallocated
from rewrite_engine.link.debug.told import error_at, first_difference, shown
from rewrite_engine.link.forms import Form, forms_of
from rewrite_engine.link.linker import Linker
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.type import TensorType

AGAIN = "run again"


class DebugWarning(UserWarning):
    """Warning of DebugMode about something that is not an error: memory that is not reused, other
    strides.
    """


class DebugOptions(NamedTuple):
    """Checks to perform (see `DebugMode`)."""

    check_py_code: bool = True
    check_c_code: bool = True
    check_isfinite: bool = True
    require_matching_strides: int = 0
    preallocated: tuple[str, ...] = ()
    ndim: int = 4
    warn_input_not_reused: bool = True
    patience: int = 2

    @classmethod
    def of_config(cls) -> DebugOptions:
        """Return the options of `config.DebugMode__…`."""
        return cls(
            config.DebugMode__check_py,
            config.DebugMode__check_c,
            config.DebugMode__check_finite,
            config.DebugMode__check_strides,
            kinds_of(config.DebugMode__check_preallocated_output),
            config.DebugMode__check_preallocated_output_ndim,
            config.DebugMode__warn_input_not_reused,
            config.DebugMode__patience,
        )


class Contract:
    """Runner of nodes that checks their declarations. linker: runs the graph inside an op. read:
    variables that other nodes, or the caller, read (see `is_hidden`).
    """

    def __init__(self, linker: Linker, options: DebugOptions) -> None:
        self.linker, self.options = linker, options
        self.known: dict[Apply, list[Form]] = {}
        self.read: set[Variable] = set()

    def forms(self, node: Apply) -> list[Form]:
        """Return the required forms of a node, built once."""
        found = self.known.get(node)
        if found is None:
            if isinstance(node.op, Elemwise) and node.op.scalar_op.c_source:
                import_module("rewrite_engine.link.native")  # C code runs as a part of kernels
            every = forms_of(node, self.linker)
            found = [f for f in every if self.options.check_c_code or not f.written]
            if not self.options.check_py_code:
                found = [f for f in found if f.written] or found
            self.known[node] = found
        return found

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the values of the outputs, which share no memory with `given`. Raises the errors
        of the node, and a `DebugModeError` for a broken declaration. given: the inputs; None for
        inputs that are not read.
        """
        lengths_fit(node, given)
        check_places(node)
        first, *others = self.forms(node)
        found = self.once(node, first, given)
        check_shapes(node, given, found, self.linker)
        check_promises(node, given, found)
        if not node.op.determined:  # what other runs give is something else
            return found
        self.agrees(node, given, found, first, self.again(node, first, given), AGAIN)
        for form in others:
            self.agrees(node, given, found, form, self.again(node, form, given, first))
        for form in (first, *others):
            for name, cells in self.fillings(node, form, found):
                more = self.again(node, form, given, first, cells)
                self.agrees(node, given, found, form, more, f"into {name} storage")
        return found

    def fillings(self, node: Apply, form: Form, found: list[Any]) -> Any:
        """Return contents for the cells if the form looks at them; nothing if the op writes into an
        input.
        """
        if not form.reuses or memory_of(node.op).destroyed or not self.options.preallocated:
            return ()
        static = [v.type.shape for v in node.outputs]
        return preallocated(found, static, self.options.preallocated, self.options.ndim)

    def again(
        self,
        node: Apply,
        form: Form,
        given: Sequence[Any],
        first: Form | None = None,
        cells: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Run a form again. An error that the first form did not raise is a failure."""
        try:
            return self.once(node, form, given, cells)
        except (BadDestroyMap, BadViewMap, InvalidValueError):
            raise
        except Exception as error:
            what = f"its {form.name} raises {type(error).__name__}, but its "
            what += f"{(first or form).name} did not: {error}"
            raise error_at(
                BadThunkOutput, what, node, given, thunk1=(first or form).name, thunk2=form.name
            ) from error

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function of the graph inside an op."""
        return self.linker.body(op)

    def plain(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Run the first form once."""
        return self.once(node, self.forms(node)[0], given)

    def once(
        self, node: Apply, form: Form, given: Sequence[Any], cells: Sequence[Any] | None = None
    ) -> list[Any]:
        """Run a form on copies, and check its memory and the types of its results."""
        own = [copy_of(x) for x in given]
        storage = [[None] for _ in node.outputs] if cells is None else [[x] for x in cells]
        form.run(own, storage)
        found = [self.valid(node, v, c, given) for v, c in zip(node.outputs, storage, strict=True)]
        self.check_inputs(node, form, given, own)
        self.check_views(node, form, own, found)
        return found

    def valid(self, node: Apply, v: Variable, cell: list[Any], given: Sequence[Any]) -> Any:
        """Return the value in a cell if it has the variable's type."""
        value = cell[0]
        if isinstance(value, np.generic) and isinstance(v.type, TensorType):
            value = np.asarray(value)
        try:
            return v.type.filter(value, strict=True)
        except (TypeError, ValueError, AssertionError) as error:
            what = f"output {v.index or 0} is not a value of its type {v.type}: {error}"
            raise error_at(InvalidValueError, what, node, given, r=v, v=value) from error

    # --- memory ----------------------------------------------------------------------------------

    def check_inputs(
        self, node: Apply, form: Form, given: Sequence[Any], own: Sequence[Any]
    ) -> None:
        """Raise `BadDestroyMap` for an input that was changed without permission."""
        destroyed = memory_of(node.op).destroyed
        for i, (v, before, after) in enumerate(zip(node.inputs, given, own, strict=True)):
            if i in destroyed or before is after or alike(before, after):
                continue
            if same(v.type.values_eq, before, after):
                continue
            what = f"its {form.name} overwrites input {i}, but destroy_map does not declare it"
            lines = [f"input {i} before and after: {first_difference(before, after)}",
                     f"destroy_map: {node.op.destroy_map}"]  # fmt: skip
            raise error_at(BadDestroyMap, what, node, given, lines, idx=i)

    def check_views(
        self, node: Apply, form: Form, own: Sequence[Any], found: Sequence[Any]
    ) -> None:
        """Raise `BadViewMap` for memory that is shared without permission."""
        memory, maps = memory_of(node.op), node.op
        said = [f"view_map: {maps.view_map}, destroy_map: {maps.destroy_map}"]
        for o, (out, value) in enumerate(zip(node.outputs, found, strict=True)):
            may = memory.may.get(o, ())
            for i, x in enumerate(own):
                shared = out.type.may_share_memory(value, x)
                if shared and i not in may:
                    what = f"output {o} of its {form.name} shares the memory of input {i}, but "
                    what += "view_map does not declare it"
                    raise error_at(BadViewMap, what, node, own, said, output_idx=o)
                if not shared and memory.must.get(o) == i and np.size(value) and not form.written:
                    self.not_shown(node, form, own, o, i)
            for p in range(o):
                apart = not {*may} & {*memory.may.get(p, ())}
                apart = apart and not self.is_hidden(out) and not self.is_hidden(node.outputs[p])
                if apart and out.type.may_share_memory(value, found[p]):
                    what = f"outputs {p} and {o} of its {form.name} share memory of no input"
                    raise error_at(BadViewMap, what, node, own, said, output_idx=o)
            if not may and isinstance(value, np.ndarray) and not value.flags.writeable:
                what = (
                    f"output {o} of its {form.name} is read-only, so no in-place op can overwrite "
                )
                raise error_at(BadViewMap, f"{what}it; copy it", node, own, said, output_idx=o)

    def is_hidden(self, v: Variable) -> bool:
        """Return whether an output is private to its op: nobody reads it, and the op returns
        another one. It may be workspace.
        """
        returned = None if v.owner is None else v.owner.op.default_output
        return returned not in (None, v.index) and v not in self.read

    def not_shown(self, node: Apply, form: Form, own: Sequence[Any], o: int, i: int) -> None:
        """Report an output that has its own memory instead of an input's."""
        if node.op.must_view_map.get(o) == i:
            what = f"output {o} of its {form.name} does not view input {i}, as must_view_map "
            raise error_at(BadViewMap, f"{what}declares", node, own, output_idx=o)
        if self.options.warn_input_not_reused:
            what = (
                f"{node.op}: destroy_map declares that output {o} is in the memory of input {i}, "
            )
            warnings.warn(f"{what}but it has its own", DebugWarning, stacklevel=2)

    # --- values ----------------------------------------------------------------------------------

    def agrees(
        self,
        node: Apply,
        given: Sequence[Any],
        found: Sequence[Any],
        form: Form,
        more: Sequence[Any],
        how: str = "",
    ) -> None:
        """Raise `BadThunkOutput` if another run gave other values."""
        first = self.forms(node)[0]
        for o, (v, a, b) in enumerate(zip(node.outputs, found, more, strict=True)):
            good = equal(v, a, b) or self.is_hidden(v)
            if not good and how != AGAIN:  # (the same twice is the same whatever is given)
                good = explains(self.noisy(node, first, o), given, a, b)
            if not good:
                name = f"{form.name}, {how}," if how else form.name
                what = f"its {name} computes other values than its {first.name}"
                lines = [f"output {o}: {first_difference(a, b)}",
                         f"{first.name}: {shown(a)}", f"{name} {shown(b)}"]  # fmt: skip
                raise error_at(
                    BadThunkOutput, what, node, given, lines, r=v, val1=a, val2=b,
                    thunk1=first.name, thunk2=form.name,
                )  # fmt: skip
            self.check_strides(node, form, a, b)

    def noisy(self, node: Apply, form: Form, o: int) -> Callable[[Sequence[Any]], Any]:
        """Return a function of the inputs that runs a form and returns one output."""

        def run(inputs: Sequence[Any]) -> Any:
            return self.once(node, form, inputs)[o]

        return run

    def check_strides(self, node: Apply, form: Form, a: Any, b: Any) -> None:
        """Warn about different strides, if required."""
        level = self.options.require_matching_strides
        if not level or not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return
        pairs = zip(a.shape, a.strides, b.strides, strict=True)
        if not a.size or all([s == t for n, s, t in pairs if n > 1]):
            return
        what = f"the result of its {form.name} has strides {b.strides}, not {a.strides}"
        if level > 1:
            raise error_at(BadThunkOutput, what, node, val1=a, val2=b)
        warnings.warn(f"{node.op}: {what}", DebugWarning, stacklevel=2)


def alike(a: Any, b: Any) -> bool:
    """Return whether two values are arrays with equal elements, none of which is NaN."""
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype.hasobject:
        return False
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def same(equals: Callable[[Any, Any], Any], a: Any, b: Any) -> bool:
    """Return whether two values are equal, as far as they can be compared."""
    try:
        return bool(equals(a, b))
    except Exception:  # of a type whose values cannot be compared
        return True


def equal(v: Variable, a: Any, b: Any) -> bool:
    """Return whether two values of a variable are equal up to rounding, by its type or its tag."""
    if alike(a, b):  # nearly always
        return True
    own = None if v._tag is None else getattr(v._tag, "values_eq_approx", None)
    return same(own or v.type.values_eq_approx, a, b)
