"""Linker for JAX: `Mode(linker="jax")`, with the extra `rewrite-engine[jax]`.

`trace.py` makes a function that JAX traces from a graph, and `compiled.py` a compiled function of
arrays of NumPy; `function.py` has `jax_function`, for JAX itself, and `export.py` StableHLO. Ops
are registered to `jax_funcify` (`funcify.py`): elementwise ops in `scalars.py`, others in
`arrays.py`, `indexing.py`, `linear.py`, `draws.py` and `inner.py`. JAX is imported when one of
these modules is, and not by `linker.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewrite_engine.lazy import lookup
from rewrite_engine.link.jax.linker import LINKER, JaxLinker, needing_jax

if TYPE_CHECKING:
    from rewrite_engine.link.jax.funcify import jax_funcify as jax_funcify
    from rewrite_engine.link.jax.function import function_of as function_of
    from rewrite_engine.link.jax.function import jax_function as jax_function

_find = lookup(__name__, dict.fromkeys(("function_of", "jax_funcify", "jax_function"), "function"))


def __getattr__(name: str) -> Any:
    with needing_jax():
        return _find(name)


__all__ = ["LINKER", "JaxLinker", "function_of", "jax_funcify", "jax_function"]
