"""placeholder while the ops are written"""

from __future__ import annotations


class TensorOperators:
    """Operators."""

    __slots__ = ()
