"""Settings that change what is built or printed. Set attributes: `config.floatX = "float32"`.

The environment variable `REWRITE_ENGINE_FLAGS="floatX=float32,on_rule_error=warn"` sets them at
import.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

_CHOICES = {
    "floatX": ("float16", "float32", "float64"),
    "on_rule_error": ("raise", "warn"),
    "on_budget": ("raise", "stop"),
    "on_unused_input": ("raise", "warn", "ignore"),
}


@dataclass(slots=True)
class Config:
    """floatX: dtype of `vector()`, `matrix()`, … when none is given. mode: the default `Mode`.
    on_rule_error: "raise" or "warn". on_budget: what happens when rules use up their budget,
    "raise" or "stop" (what is done is kept). on_unused_input: "raise", "warn" or "ignore".
    fold_limit: largest constant, in bytes, that constant folding may make from smaller ones.
    check: whether functions hold what was declared (`assume`) against the values of each call.
    """

    floatX: str = "float64"
    mode: str = "fast_run"
    on_rule_error: str = "raise"
    on_budget: str = "raise"
    on_unused_input: str = "raise"
    fold_limit: int = 1 << 20
    check: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        """Raise `ValueError` for a value that a setting cannot have, `AttributeError` for a name
        that is no setting.
        """
        choices = _CHOICES.get(name)
        if choices and value not in choices:
            raise ValueError(f"config.{name} is one of {', '.join(choices)}, not {value!r}")
        kind = {"fold_limit": int, "check": bool}.get(name)
        if kind is not None and not isinstance(value, kind):
            raise ValueError(f"config.{name} is of type {kind.__name__}, not {value!r}")
        object.__setattr__(self, name, value)

    @contextmanager
    def change_flags(self, **settings: Any) -> Iterator[None]:
        """Change settings for a `with` block, or for the calls of a decorated function.

        >>> with config.change_flags(floatX="float32"):
        ...     config.floatX
        'float32'
        """
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


def _truth(text: str) -> bool:
    if text.casefold() not in ("true", "false", "1", "0"):
        raise ValueError(f"REWRITE_ENGINE_FLAGS: {text!r} is neither True nor False")
    return text.casefold() in ("true", "1")


def _from_environment() -> Config:
    result = Config()
    known = {f.name: f.type for f in fields(Config)}
    for flag in filter(None, os.environ.get("REWRITE_ENGINE_FLAGS", "").split(",")):
        name, _, value = flag.partition("=")
        if name.strip() not in known:
            raise ValueError(
                f"REWRITE_ENGINE_FLAGS: no setting {name!r}; there are {sorted(known)}"
            )
        old = getattr(result, name.strip())
        read = _truth if isinstance(old, bool) else type(old)
        setattr(result, name.strip(), read(value.strip()))
    return result


config = _from_environment()
