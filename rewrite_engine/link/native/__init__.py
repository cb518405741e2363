"""`Mode(linker="native")`: regions of a graph as machine code, by LLVM (llvmlite), and lines of the
VM between them. docs/reference/native.md lists what is native, and what is not and why.

The linker cuts a graph into regions (`partition.py`, with graphs inside ops and formulas of ops
inlined by `inline.py`); each region is an op (`op.py`) in a graph that the VM then runs. A region
becomes statements (`region.py`, by `lower.py` and the files of families; C source of ops:
`own_code.py`) in memory (`lifetimes.py`, `memory.py`; `verify.py` checks what is read where). A
statement becomes a kernel (`loops.py`; reductions: `accumulators.py`), a kernel machine code
(`library.py`), which is found by its text and cached on disk. One function for all regions calls
kernels (`runtime.py`); `timing.py` times them for profiles. Code is unoptimised first
(`optimised.py`); texts of groups are found again (`alike.py`); threads share long loops
(`threads.py`). Rules lower scalar ops to instructions (`scalars.py`, `instructions.py`); functions
such as exp and inner loops of ufuncs are units (`units.py`, `inner_loops.py`). `listing.py`
describes kernels.
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
