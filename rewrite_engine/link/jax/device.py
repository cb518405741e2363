"""`DeviceCell`: a shared variable's value stays on JAX's device between calls.

The value is in one place at a time. A function on JAX moves it to the device, and leaves its new
value there. Other readers (another linker, `get_value(borrow=True)`) get an array of NumPy, which
may be changed in place, and the next call moves that. A copy leaves it where it is.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from rewrite_engine.link.program import Cell
from rewrite_engine.tensor.type import TensorType


class DeviceCell(Cell):
    """Cell of an array that functions on JAX read and write. `held` is the array of NumPy or JAX,
    wherever it is.
    """

    __slots__ = ()

    @property  # type: ignore[override]
    def value(self) -> Any:
        """Array of NumPy; the value leaves the device."""
        held = self.held
        if not isinstance(held, np.ndarray):
            self.held = held = np.array(held)
        return held

    @value.setter
    def value(self, new: Any) -> None:
        self.held = new

    def copied(self) -> Any:
        return np.array(self.held)

    def __reduce__(self) -> Any:
        """Pickled as a cell of a process without JAX."""
        return Cell, (self.type, self.copied(), self.name, self.strict, self.allow_downcast)


def can_stay(source: Any) -> TypeGuard[Cell]:
    """Return whether the value of an input can stay on the device: that of a shared array. (Numbers
    are as fast to move as to keep.)
    """
    is_array = isinstance(source, Cell) and isinstance(source.type, TensorType)
    return is_array and bool(source.type.ndim)


def keep_on_device(cell: Cell) -> None:
    """Let the value of a cell stay on the device, for all functions that have the cell."""
    if type(cell) is Cell:
        cell.__class__ = DeviceCell
