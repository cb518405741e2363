"""`busy_note`: whether other programs take the processors, so that times tell little."""

from __future__ import annotations

import os

#: how many threads BLAS takes, if one of them is set; else one for each processor
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
BUSY = 1.5  # processes that are ready to run, for each processor


def busy_note() -> str:
    """Return a line on a busy machine, and on the threads of BLAS there; "" for an idle machine.

    Threads of BLAS wait for each other: on processors that others use, too, a product of matrices
    may take a hundred times as long as in one thread.
    """
    if not hasattr(os, "getloadavg"):  # Windows
        return ""
    load, processors = os.getloadavg()[0], processor_count()
    if load <= BUSY * processors:
        return ""
    text = f"the machine is busy (load {load:.1f} on {processors} processors): times are too long"
    if any(os.environ.get(name) for name in THREAD_VARIABLES) or processors == 1:
        return text
    return f"{text}; if matrices are large, try OPENBLAS_NUM_THREADS=1"


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
