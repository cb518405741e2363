"""Settings that change what is built or printed. Set attributes: `config.floatX = "float32"`.

The environment variable `REWRITE_ENGINE_FLAGS="floatX=float32,on_rule_error=warn"` sets them at
import.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields


@dataclass(slots=True)
class Config:
    """floatX: dtype of `vector()`, `matrix()`, … when none is given. mode: the default `Mode`.
    on_rule_error: "raise" or "warn". on_unused_input: "raise", "warn" or "ignore".
    fold_limit: largest constant, in bytes, that constant folding may make from smaller ones.
    """

    floatX: str = "float64"
    mode: str = "fast_run"
    on_rule_error: str = "raise"
    on_unused_input: str = "raise"
    fold_limit: int = 1 << 20


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
        setattr(result, name.strip(), type(old)(value.strip()))
    return result


config = _from_environment()
