"""VM: a graph becomes one generated Python function that calls NumPy.

`link/plan/` decides which values are overwritten or kept, and which lengths are compared; this
package writes the code. `linker.py` combines the parts, `emit.py` writes the body, `lower.py`
defines how ops declare their code; the files named after families of ops contain the code of the
shipped ones. `link/shell.py` writes the code around the body. Does not support running clusters in
chunks.
"""

from __future__ import annotations

from rewrite_engine.link.plan import FRESH, VIEW, Traits
from rewrite_engine.link.vm import branches, creation, dot, elemwise, index, join, reduce, shape
from rewrite_engine.link.vm.linker import LINKER
from rewrite_engine.link.vm.lower import Context, lower, traits

__all__ = ["FRESH", "LINKER", "VIEW", "Context", "Traits", "lower", "traits"]
