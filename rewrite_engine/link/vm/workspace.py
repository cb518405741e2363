"""Buffers that a function keeps between calls for large temporaries.

A workspace is a list with one place per buffer. A call takes one from the free list and puts it
back at its end, so two simultaneous calls have two; a call that fails drops its own. Results never
come from a workspace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: bytes from which a temporary is worth keeping: below, allocating costs nothing
LARGE_BYTES = 128 * 1024

Workspace = list[Any]


class WorkspacePool:
    """Workspaces of one function that no call uses at the moment."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.free: list[Workspace] = []

    def take(self) -> Workspace:
        """Return a workspace that no other call uses."""
        try:
            return self.free.pop()
        except IndexError:
            return [None] * self.size

    def clear(self) -> None:
        """Release all buffers that are not in use."""
        self.free.clear()


def fit(workspace: Workspace, place: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the buffer at a place of the workspace, allocated anew if it has another shape."""
    buffer = workspace[place]
    if buffer is None or buffer.shape != shape:
        workspace[place] = None  # the old one goes before the new one comes
        buffer = workspace[place] = np.empty(shape, dtype)
    return buffer
