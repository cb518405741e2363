"""Linker "native" (`Mode(linker="native")`): regions of a graph as machine code, by LLVM
(llvmlite), and lines of the VM between them. docs/native.md lists what is native, and what is not
and why.

A graph is cut into regions (`partition.py`), each of which is an op (`op.py`) in a graph that the
VM then runs. A region becomes statements (`region.py`, by `lower.py` and the files of op families)
in memory (`lifetimes.py`; `verify.py` checks the reads), a statement a kernel (`loops.py`), and a
kernel machine code (`library.py`), cached on disk by its text (`cache.py`). One function for all
regions calls kernels (`runtime.py`).
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
