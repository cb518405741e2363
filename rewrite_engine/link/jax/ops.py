"""The functions of all ops: importing this module registers them to `jax_funcify`."""

from __future__ import annotations

from rewrite_engine.link.jax import arrays, draws, indexing, inner, linear, scalars

__all__ = ["arrays", "draws", "indexing", "inner", "linear", "scalars"]
