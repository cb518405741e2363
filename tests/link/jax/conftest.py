"""Skip the tests of the JAX linker where JAX is not installed."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("jax") is None:
    collect_ignore_glob = ["test_*.py"]
