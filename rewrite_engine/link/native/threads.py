"""Loops on all cores: a pool of threads that share the parts of one kernel.

A kernel whose outermost loop may run in any order has a part with a range, and a few lines that
call it: for all of the range, or, if there is much to do, by `split`. That function hands out
ranges to the threads that take them first. Each element is computed as by one thread, so results
have the same bits. The threads are C threads without Python's lock; they sleep in between, and one
call at a time has them. A child process has none until it needs some.

The state is a table of words here, as code may be loaded several times (`optimised.py`).
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from rewrite_engine.config import config, on_change

#: words of the table, on lines of the cache of their own
HELPERS, STARTED, BUSY, PART, FRAME, PLACES, UNITS, SIZE, NEXT, STATUS, WAKE, DONE = (
    0, 1, 8, 16, 17, 18, 19, 20, 24, 32, 40, 48,
)  # fmt: skip
POOL_WORDS = 64
PARTS_PER_THREAD = 4  # so that a slow thread does not keep the others waiting
LINE = 64  # elements along one axis of which parts are multiples: threads write to no common line
#: of operations: fewer, in all or in a part, take as long as waking a thread
MIN_OPERATIONS, MIN_ELEMENTS, PART_OPERATIONS = 1 << 18, 1 << 15, 1 << 16
OPERATIONS_PER_CALL = 16  # of a function such as exp, against a sum or product

_memory = np.zeros(POOL_WORDS + 8, np.int64)
_ahead = (-_memory.ctypes.data % 64) // 8
pool = _memory[_ahead : _ahead + POOL_WORDS]


def available() -> int:
    """Return how many threads a call may use: `config.threads`; if that is 0, `OMP_NUM_THREADS`, or
    the cores of this process, as far as a container lets it use them.
    """
    if config.threads:
        return int(config.threads)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = min(cores or 1, quota())
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(int(asked), cores) if asked.isdigit() and int(asked) else cores


def quota(folder: str = "/sys/fs/cgroup") -> int:
    """Return how many cores the time that Linux gives to a container is worth; many without a
    limit.
    """
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        words: list[str] = []
        for name in names:
            with suppress(OSError), open(os.path.join(folder, name), encoding="ascii") as file:
                words += file.read().split()
        if len(words) == 2 and all([word.isdigit() for word in words]) and int(words[1]):
            return max(1, round(int(words[0]) / int(words[1])))
    return 1 << 16


def refresh() -> None:
    """Use as many threads as are available now."""
    pool[HELPERS] = available() - 1 if functions() is not None else 0


@cache
def functions() -> dict[str, int] | None:
    """Return the addresses of the functions of C that the pool needs; None if there are none, or
    semaphores do not work.
    """
    libc = ctypes.CDLL(None)
    names = ("sem_init", "sem_post", "sem_wait", "pthread_create", "pthread_detach",
             "pthread_sigmask", "sigfillset")  # fmt: skip
    try:
        found = {name: getattr(libc, name) for name in names}
    except AttributeError:
        return None
    base = pool.ctypes.data
    if any([found["sem_init"](ctypes.c_void_p(base + 8 * word), 0, 0) for word in (WAKE, DONE)]):
        return None
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
    on_change("threads", refresh)
    return {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in found.items()}


def _in_child() -> None:
    """Forget the threads of the parent."""
    helpers = pool[HELPERS]
    pool[:] = 0
    pool[HELPERS] = helpers
    init: Any = ctypes.CDLL(None).sem_init
    for word in (WAKE, DONE):
        init(ctypes.c_void_p(pool.ctypes.data + 8 * word), 0, 0)


DECLARED = (
    "@pool = external global i8",
    "declare i32 @sem_post(ptr)",
    "declare i32 @sem_wait(ptr)",
    "declare i32 @pthread_create(ptr, ptr, ptr, ptr)",
    "declare i32 @pthread_detach(i64)",
    "declare i32 @pthread_sigmask(i32, ptr, ptr)",
    "declare i32 @sigfillset(ptr)",
    "declare i64 @llvm.umin.i64(i64, i64)",
)
SIG_SETMASK = 2

#: `split(part, frame, places, units, grain)`: run `part(frame, places, from, to)` for all units
TEXT = f"""
define i64 @split(ptr %part, ptr %frame, ptr %places, i64 %units, i64 %grain) #0 {{
entry:
  %helpers = load i64, ptr @pool
  %most = udiv i64 %units, %grain
  %some = icmp sgt i64 %helpers, 0
  %many = icmp ugt i64 %most, 1
  %both = and i1 %some, %many
  br i1 %both, label %take, label %alone
take:
  %busy = getelementptr i64, ptr @pool, i64 {BUSY}
  %got = cmpxchg ptr %busy, i64 0, i64 1 acq_rel monotonic
  %mine = extractvalue {{i64, i1}} %got, 1
  br i1 %mine, label %begin, label %alone
begin:
  %started_at = getelementptr i64, ptr @pool, i64 {STARTED}
  %started = load i64, ptr %started_at
  %missing = icmp ult i64 %started, %helpers
  br i1 %missing, label %start, label %ready
start:
  %now = call i64 @start_threads(i64 %started, i64 %helpers)
  store i64 %now, ptr %started_at
  br label %ready
ready:
  %have = load i64, ptr %started_at
  %fewer = call i64 @llvm.umin.i64(i64 %have, i64 %helpers)
  %others = sub i64 %most, 1
  %woken = call i64 @llvm.umin.i64(i64 %fewer, i64 %others)
  %threads = add i64 %woken, 1
  %wanted = mul i64 %threads, {PARTS_PER_THREAD}
  %parts = call i64 @llvm.umin.i64(i64 %most, i64 %wanted)
  %up = add i64 %units, %parts
  %up1 = sub i64 %up, 1
  %size0 = udiv i64 %up1, %parts
  %size1 = add i64 %size0, %grain
  %size2 = sub i64 %size1, 1
  %grains = udiv i64 %size2, %grain
  %size = mul i64 %grains, %grain
  %p0 = getelementptr i64, ptr @pool, i64 {PART}
  store ptr %part, ptr %p0
  %p1 = getelementptr i64, ptr @pool, i64 {FRAME}
  store ptr %frame, ptr %p1
  %p2 = getelementptr i64, ptr @pool, i64 {PLACES}
  store ptr %places, ptr %p2
  %p3 = getelementptr i64, ptr @pool, i64 {UNITS}
  store i64 %units, ptr %p3
  %p4 = getelementptr i64, ptr @pool, i64 {SIZE}
  store i64 %size, ptr %p4
  %p5 = getelementptr i64, ptr @pool, i64 {NEXT}
  store atomic i64 0, ptr %p5 release, align 8
  %p6 = getelementptr i64, ptr @pool, i64 {STATUS}
  store i64 0, ptr %p6
  %wake = getelementptr i64, ptr @pool, i64 {WAKE}
  %done = getelementptr i64, ptr @pool, i64 {DONE}
  br label %call_test
call_test:
  %i = phi i64 [0, %ready], [%i1, %call]
  %more = icmp ult i64 %i, %woken
  br i1 %more, label %call, label %share
call:
  %r0 = call i32 @sem_post(ptr %wake)
  %i1 = add i64 %i, 1
  br label %call_test
share:
  call void @take_parts()
  br label %wait_test
wait_test:
  %j = phi i64 [0, %share], [%j1, %waited]
  %left = icmp ult i64 %j, %woken
  br i1 %left, label %wait, label %end
wait:
  %r1 = call i32 @sem_wait(ptr %done)
  %again = icmp ne i32 %r1, 0
  br i1 %again, label %wait, label %waited
waited:
  %j1 = add i64 %j, 1
  br label %wait_test
end:
  %status = load i64, ptr %p6
  store atomic i64 0, ptr %busy release, align 8
  ret i64 %status
alone:
  %s = call i64 %part(ptr %frame, ptr %places, i64 0, i64 %units)
  ret i64 %s
}}
define internal void @take_parts() #0 {{
entry:
  %p0 = getelementptr i64, ptr @pool, i64 {PART}
  %part = load ptr, ptr %p0
  %p1 = getelementptr i64, ptr @pool, i64 {FRAME}
  %frame = load ptr, ptr %p1
  %p2 = getelementptr i64, ptr @pool, i64 {PLACES}
  %places = load ptr, ptr %p2
  %p3 = getelementptr i64, ptr @pool, i64 {UNITS}
  %units = load i64, ptr %p3
  %p4 = getelementptr i64, ptr @pool, i64 {SIZE}
  %size = load i64, ptr %p4
  %p5 = getelementptr i64, ptr @pool, i64 {NEXT}
  %p6 = getelementptr i64, ptr @pool, i64 {STATUS}
  br label %next
next:
  %from = atomicrmw add ptr %p5, i64 %size acq_rel
  %more = icmp ult i64 %from, %units
  br i1 %more, label %run, label %end
run:
  %far = add i64 %from, %size
  %to = call i64 @llvm.umin.i64(i64 %far, i64 %units)
  %s = call i64 %part(ptr %frame, ptr %places, i64 %from, i64 %to)
  %bad = icmp ne i64 %s, 0
  br i1 %bad, label %note, label %next
note:
  store i64 %s, ptr %p6
  br label %next
end:
  ret void
}}
define internal ptr @help(ptr %none) #0 {{
entry:
  %wake = getelementptr i64, ptr @pool, i64 {WAKE}
  %done = getelementptr i64, ptr @pool, i64 {DONE}
  br label %sleep
sleep:
  %r = call i32 @sem_wait(ptr %wake)
  %again = icmp ne i32 %r, 0
  br i1 %again, label %sleep, label %work
work:
  call void @take_parts()
  %p = call i32 @sem_post(ptr %done)
  br label %sleep
}}
define internal i64 @start_threads(i64 %have, i64 %wanted) #0 {{
entry:
  %id = alloca i64
  %all = alloca [32 x i64]
  %before = alloca [32 x i64]
  %r0 = call i32 @sigfillset(ptr %all)
  %r1 = call i32 @pthread_sigmask(i32 {SIG_SETMASK}, ptr %all, ptr %before)
  br label %test
test:
  %i = phi i64 [%have, %entry], [%i1, %made]
  %more = icmp ult i64 %i, %wanted
  br i1 %more, label %make, label %end
make:
  %r2 = call i32 @pthread_create(ptr %id, ptr null, ptr @help, ptr null)
  %good = icmp eq i32 %r2, 0
  br i1 %good, label %made, label %end
made:
  %t = load i64, ptr %id
  %r3 = call i32 @pthread_detach(i64 %t)
  %i1 = add i64 %i, 1
  br label %test
end:
  %r4 = call i32 @pthread_sigmask(i32 {SIG_SETMASK}, ptr %before, ptr null)
  ret i64 %i
}}
"""
