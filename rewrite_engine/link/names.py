"""Names in generated code: readable, unique, and distinct from the user's parameter names."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

_NOT_WORD = re.compile(r"\W+")
_REGISTER = re.compile(r"(_*r)\d+\Z")
_BUILTINS = frozenset(vars(builtins))
_USED = frozenset({"type", "len", "BaseException"})  # builtins that generated code calls


@lru_cache(maxsize=4096)
def identifier(text: str | None, otherwise: str) -> str:
    """Make a Python identifier of a text; `otherwise` if none of it can be used."""
    name = _NOT_WORD.sub("_", text or "")
    if not name.strip("_") or name[0].isdigit():
        name = f"{otherwise}_{name}" if name.strip("_") else otherwise
    return name + "_" if keyword.iskeyword(name) or name in _USED else name


def parameter_names(wanted: Iterable[str | None], avoid: Iterable[str] = ()) -> list[str]:
    """Return one unique parameter name per argument: the user's own if they can be used."""
    taken = set(avoid)
    numbers: dict[str, int] = {}
    return [unique(identifier(text, f"arg{i}"), taken, numbers) for i, text in enumerate(wanted)]


def unique(base: str, taken: set[str], numbers: dict[str, int]) -> str:
    """Return an unused name like `base`. numbers: the last number tried for each base, so that a
    thousand similar names are not tried a thousand times each.
    """
    name, number = base, numbers.get(base, 1)
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    numbers[base] = number
    taken.add(name)
    return name


def register_prefix(parameters: Iterable[str]) -> str:
    """Return the prefix of register names: "r", with so many underscores that no parameter looks
    like one.
    """
    alike = {found[1] for found in map(_REGISTER.match, parameters) if found}
    prefix = "r"
    while prefix in alike:
        prefix = "_" + prefix
    return prefix


class Names:
    """Global names of one generated module: each object has one."""

    def __init__(self, taken: Iterable[str], module: str) -> None:
        self.globals: dict[str, Any] = {"__name__": module, "__builtins__": builtins}
        self.taken = set(taken)
        self.by_id: dict[int, str] = {}
        self.numbers: dict[str, int] = {}

    def add(self, value: Any, hint: str) -> str:
        """Return the name of an object; a new object gets one like `hint`."""
        found = self.by_id.get(id(value))
        if found is not None:
            return found
        name = self.local(identifier(hint, "c"))
        self.globals[name] = value  # keeps it alive, so its id stays its own
        self.by_id[id(value)] = name
        return name

    def local(self, wanted: str) -> str:
        """Reserve a name like `wanted`."""
        base = wanted + "_" if wanted in _BUILTINS or _REGISTER.match(wanted) else wanted
        return unique(base, self.taken, self.numbers)
