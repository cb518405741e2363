"""How graphs run: one folder per way of running, siblings that do not know each other.

`vm` generates one Python function that calls NumPy. A linker takes a `Program` and returns a
`Linked` (`link/program.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.link.program import Linked, Program

#: names of linkers → module with `link(program, **options)`
LINKERS = {"vm": "rewrite_engine.link.vm"}


def linker(name: str) -> Callable[..., Linked]:
    """Return the linker of that name. Raises `UnknownNameError`."""
    if name not in LINKERS:
        raise UnknownNameError(
            f"no linker is called {name!r}; there are {', '.join(sorted(LINKERS))}"
        )
    return import_module(LINKERS[name]).link  # type: ignore[no-any-return]


__all__ = ["LINKERS", "Linked", "Program", "linker"]
