"""`Mode(linker="native")`: regions of a graph as machine code, by LLVM (llvmlite), and lines of the
VM between them. What is native, and what is not and why, is in docs/native.md.

A graph is cut into regions (`partition.py`), each of which is an op (`op.py`) in a graph that the
VM then runs. A region becomes statements (`region.py`, by `lower.py` and the files of families) in
memory (`lifetimes.py`; `verify.py` checks what is read where), a statement a kernel (`loops.py`), a
kernel machine code (`library.py`), found again by its text and kept on disk (`cache.py`). One
function for all regions calls kernels (`runtime.py`).
"""

from rewrite_engine.link.native import (
    checks,
    creation,
    elementwise,
    form,
    gather,
    index,
    joins,
    products,
    reductions,
    running,
    views,
)
from rewrite_engine.link.native.linker import NativeLinker

LINKER = NativeLinker()

__all__ = [
    "LINKER",
    "NativeLinker",
    "checks",
    "creation",
    "elementwise",
    "form",
    "gather",
    "index",
    "joins",
    "products",
    "reductions",
    "running",
    "views",
]
