"""Linker for JAX: `Mode(linker="jax")`, with the extra `rewrite-engine[jax]`.

`trace.py` makes a function that JAX traces from a graph, and `linker.py` a compiled function of
arrays of NumPy; `function.py` has `jax_function`, for JAX itself, and `export.py` StableHLO. Ops
are registered to `jax_funcify` (`funcify.py`): elementwise ops in `scalars.py`, others in
`arrays.py`, `indexing.py`, `linear.py`, `draws.py` and `inner.py`.
"""

from __future__ import annotations

from importlib.util import find_spec

from rewrite_engine.errors import MissingPackageError

if find_spec("jax") is None:
    raise MissingPackageError('linker="jax" needs JAX: pip install "rewrite-engine[jax]"')

from rewrite_engine.link.jax import arrays, draws, indexing, inner, linear, scalars
from rewrite_engine.link.jax.funcify import jax_funcify
from rewrite_engine.link.jax.function import function_of, jax_function
from rewrite_engine.link.jax.linker import LINKER, JaxLinker

__all__ = [
    "LINKER", "JaxLinker", "arrays", "draws", "function_of", "indexing", "inner", "jax_funcify",
    "jax_function", "linear", "scalars",
]  # fmt: skip
