"""Plurals of constructors as PyTensor has them: for one name they return a variable, not a list."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rewrite_engine.tensor import constructors


def _one_or_several(plural: Callable[..., Any]) -> Callable[..., Any]:
    """The plural, with a variable for one name."""

    @wraps(plural)
    def construct(*names: Any, **options: Any) -> Any:
        found = plural(*names, **options)
        return found[0] if len(found) == 1 else found

    return construct


_made = vars(constructors)
PLURALS = [name for name in _made["__all__"] if name.endswith("s") and callable(_made[name])]
globals().update({name: _one_or_several(_made[name]) for name in PLURALS})
