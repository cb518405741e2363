"""The VM: a graph becomes one generated Python function that calls NumPy.

What may be overwritten and kept, and which lengths are compared, is decided by `link/plan/`; here
it is written down. `linker.py` puts it together, `emit.py` writes the body, `lower.py` is where ops
say how they run; the files named after families of ops do so for the shipped ones. What surrounds
the body is `link/shell.py`. Not here yet: running clusters in blocks.
"""

from __future__ import annotations

from rewrite_engine.link.plan import FRESH, VIEW, Traits
from rewrite_engine.link.vm import branches, creation, dot, elemwise, index, join, reduce, shape
from rewrite_engine.link.vm.linker import LINKER
from rewrite_engine.link.vm.lower import Context, lower, traits

__all__ = ["FRESH", "LINKER", "VIEW", "Context", "Traits", "lower", "traits"]
