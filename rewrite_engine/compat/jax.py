"""PyTensor's names of its JAX backend, for PyMC's samplers: `jax_funcify`, `jax_typify`,
`JAXLinker`, `mode.JAX`. As PyTensor's does, it puts JAX in double precision.
"""

from __future__ import annotations

from typing import Any

import jax

from rewrite_engine.compile.mode import Mode
from rewrite_engine.link.jax import JaxLinker as JAXLinker
from rewrite_engine.link.jax import jax_funcify

__all__ = ["JAX", "JAXLinker", "jax_funcify", "jax_typify"]

jax.config.update("jax_enable_x64", True)
JAX = Mode(linker="jax")


def jax_typify(data: Any, dtype: Any = None, **options: Any) -> Any:
    """Return data as JAX takes them."""
    return data if dtype is None else jax.numpy.asarray(data, dtype)
