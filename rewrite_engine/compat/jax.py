"""PyTensor's names of its JAX backend, for PyMC's samplers: `jax_funcify`, `jax_typify`,
`JAXLinker`, `mode.JAX`.

JAX is imported with the first name that needs it, and put in double precision, as PyTensor does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewrite_engine.compile.mode import Mode
from rewrite_engine.link import jax as link
from rewrite_engine.link.jax import JaxLinker as JAXLinker

if TYPE_CHECKING:
    from rewrite_engine.link.jax import jax_funcify

    JAX: Mode

__all__ = ["JAX", "JAXLinker", "jax_funcify", "jax_typify"]


def jax_typify(data: Any, dtype: Any = None, **options: Any) -> Any:
    """Return data as JAX takes them."""
    import jax.numpy as jnp

    return data if dtype is None else jnp.asarray(data, dtype)


def __getattr__(name: str) -> Any:
    if name not in ("JAX", "jax_funcify"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = {"jax_funcify": link.jax_funcify, "JAX": Mode(linker="jax")}
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    globals().update(found)
    return found[name]
