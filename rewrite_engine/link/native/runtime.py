"""The entry: the one C function behind all regions, which reads its work from a table of integers.
It is a built-in with C's calling convention (METH_FASTCALL), compiled once by LLVM.

Each call has a frame: words on the stack, filled from a template (constants), then with the
addresses and lengths of the arguments, then by instructions (lengths, sizes, steps). The entry
allocates temporaries, makes the arrays of the results, and runs the kernels, without the
interpreter's lock if there is much to do. If an argument does not fit, lengths differ, or a kernel
refuses, it releases everything and calls `slow` with the same arguments, which owns conversions and
errors.

The layouts of objects are those of CPython's and NumPy's public headers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rewrite_engine.link.native.inner_loops import HEAD_BYTES
from rewrite_engine.link.native.library import Library
from rewrite_engine.link.native.target import Machine, host
from rewrite_engine.link.native.units import Unit, pointer_of

#: what stands at the beginning of a table, by its place
HEADER = (
    "slots", "arguments", "results", "instructions", "packing", "total", "work", "arena",
    "at_template", "at_arguments", "at_instructions", "at_places", "n_places", "at_results",
    "at_kernels", "n_kernels",
)  # fmt: skip
HEADER_INDEX = {name: i for i, name in enumerate(HEADER)}
#: instructions `(op, target, a, b)`, on words of the frame; the last three refuse the call
INSTRUCTIONS = (
    "mul", "add", "sub", "min", "max", "round", "load", "div", "wrap", "equal", "less", "positive",
)  # fmt: skip
#: words: place of the address, dimensions, dtype, type of its numbers, first length, flags that the
#: array has to have, and the order of a copy that has them
ARGUMENT_WORDS = 7
C_ORDER, FORTRAN_ORDER = (257, 0), (258, 1)  # aligned, and in C's or Fortran's order
WRITEABLE_FLAG = 1024  # of NumPy; required of arguments whose memory results use
MIN_ORDERED_BYTES = 1 << 15  # of an array whose order is worth code of its own
PACK_SINGLE, PACK_TUPLE, PACK_LIST = range(3)
MAX_STACK_BYTES = 32768  # of temporaries on the stack; others are in an arena
STEPS_PER_SIGNAL_CHECK = 1 << 10
MIN_UNLOCKED_ELEMENTS = 1 << 15  # of a call during which other threads may run


def _api() -> dict[str, int]:
    """Return the addresses of the functions of Python, NumPy and C that the entry uses."""
    get: Any = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    core: Any = np._core._multiarray_umath  # type: ignore[attr-defined]
    table = ctypes.cast(get(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    found = {"array_type": id(np.ndarray), "new_copy": table[85], "new_array": table[94]}
    names = ("PyObject_Vectorcall", "PyList_New", "PyTuple_New", "PyEval_SaveThread",
             "PyEval_RestoreThread", "Py_IncRef", "Py_DecRef", "PyErr_NoMemory",
             "PyErr_CheckSignals", "PyErr_Clear", "PyCapsule_GetPointer")  # fmt: skip
    found |= {name: pointer_of(getattr(ctypes.pythonapi, name)) for name in names}
    libc = ctypes.CDLL(None)
    return found | {name: pointer_of(getattr(libc, name)) for name in ("aligned_alloc", "free")}


DECLARATIONS = """
@array_type = external global i8
declare ptr @new_copy(ptr, i32)
declare ptr @new_array(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyList_New(i64)
declare ptr @PyTuple_New(i64)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyErr_NoMemory()
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Clear()
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
"""


class _Entry:
    """Writer of the entry. Words of the table are read by name, those of the frame by number."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.n = 0
        self.write()

    def new(self, text: str) -> str:
        self.n += 1
        self.lines.append(f"  %v{self.n} = {text}")
        return f"%v{self.n}"

    def do(self, *lines: str) -> None:
        self.lines += ["  " + line if not line.endswith(":") else line for line in lines]

    def word(self, base: str, i: str | int, type_: str = "i64") -> str:
        return self.new(f"load {type_}, ptr {self.place(base, i)}")

    def place(self, base: str, i: str | int) -> str:
        return self.new(f"getelementptr i64, ptr {base}, i64 {i}")

    def field(self, base: str, offset: int, type_: str) -> str:
        return self.new(f"load {type_}, ptr {self.byte(base, offset)}")

    def byte(self, base: str, offset: int) -> str:
        return self.new(f"getelementptr i8, ptr {base}, i64 {offset}")

    def need(self, test: str, otherwise: str = "refused") -> None:
        self.n += 1
        self.do(f"br i1 {test}, label %ok{self.n}, label %{otherwise}", f"ok{self.n}:")

    def put(self, place: str, x: str, type_: str = "i64") -> None:
        self.do(f"store {type_} {x}, ptr {self.place('%frame', place)}")

    def get(self, place: str, type_: str = "i64") -> str:
        return self.word("%frame", place, type_)

    def loop(self, n: str, body: Callable[[str], None]) -> None:
        """Write `for i in range(n)`, with the counter in memory (there are few steps)."""
        self.n += 1
        k = self.n
        i = f"%counter{k}"
        self.counters.append(f"  {i} = alloca i64")
        self.do(f"store i64 0, ptr {i}", f"br label %test{k}", f"test{k}:")
        now = self.new(f"load i64, ptr {i}")
        more = self.new(f"icmp slt i64 {now}, {n}")
        self.do(f"br i1 {more}, label %body{k}, label %end{k}", f"body{k}:")
        body(now)
        self.do(f"store i64 {self.new(f'add i64 {now}, 1')}, ptr {i}", f"br label %test{k}")
        self.do(f"end{k}:")

    def head(self, name: str) -> str:
        return self.word("%table", HEADER_INDEX[name])

    # --- parts ----------------------------------------------------------------------------------

    def write(self) -> None:
        self.counters: list[str] = []
        self._begin()
        self.loop(self.head("arguments"), self._argument)
        self._instructions()
        self._memory()
        self.loop(self.head("n_places"), self._move)
        self.loop(self.head("results"), self._result)
        self._run()
        self._end()

    def _begin(self) -> None:
        data = self.byte("%self", HEAD_BYTES + 8)  # the items of a tuple
        array = self.new(f"load ptr, ptr {data}")
        self.do(f"%slow = load ptr, ptr {self.byte(data, 8)}")
        self.do(f"%table = load ptr, ptr {self.byte(array, HEAD_BYTES)}")
        plain = self.new("icmp eq ptr %names, null")
        count = self.new(f"icmp eq i64 %n, {self.head('arguments')}")
        self.need(self.new(f"and i1 {plain}, {count}"), "slowly")
        size = self.head("slots")
        self.do(f"%frame = alloca i64, i64 {size}, align 64")
        self.do(f"%copies = alloca ptr, i64 {self.new('add i64 %n, 1')}")
        self.do(f"%results = alloca ptr, i64 {self.new('add i64 ' + self.head('results') + ', 1')}")
        template = self.place("%table", self.head("at_template"))
        n = self.new(f"shl i64 {size}, 3")
        self.do(f"call void @llvm.memcpy.p0.p0.i64(ptr %frame, ptr {template}, i64 {n}, i1 false)")
        self.do("store i64 0, ptr %n_copies", "store i64 0, ptr %n_results")
        self.do("store ptr null, ptr %arena", "store i64 0, ptr %status")
        self.do("store ptr null, ptr %base_at", "store i64 0, ptr %n_back")

    def _argument(self, k: str) -> None:
        """Check one argument; copy it if it is not in C order."""
        at = self.new(f"mul i64 {k}, {ARGUMENT_WORDS}")
        row = self.place("%table", self.new(f"add i64 {at}, {self.head('at_arguments')}"))
        x = self.word("%args", k, "ptr")
        type_ = self.field(x, HEAD_BYTES - 8, "ptr")
        is_array = self.new(f"icmp eq ptr {type_}, @array_type")
        j = self.n
        self.do(f"br i1 {is_array}, label %array{j}, label %number{j}", f"number{j}:")
        self.need(self.new(f"icmp eq ptr {type_}, {self.word(row, 3, 'ptr')}"))
        self.put(self.word(row, 0), self.byte(x, HEAD_BYTES), "ptr")
        self.do(f"br label %next{j}", f"array{j}:")
        same = self.new(
            f"icmp eq ptr {self.field(x, HEAD_BYTES + 40, 'ptr')}, {self.word(row, 2, 'ptr')}"
        )
        ndim = self.new(f"sext i32 {self.field(x, HEAD_BYTES + 8, 'i32')} to i64")
        rank = self.new(f"icmp eq i64 {ndim}, {self.word(row, 1)}")
        self.need(self.new(f"and i1 {same}, {rank}"))
        flags = self.field(x, HEAD_BYTES + 48, "i32")
        wanted = self.new(f"trunc i64 {self.word(row, 5)} to i32")
        direct = self.new(f"icmp eq i32 {self.new(f'and i32 {flags}, {wanted}')}, {wanted}")
        self.do(f"store ptr {x}, ptr %own")
        self.do(f"br i1 {direct}, label %direct{j}, label %other{j}", f"other{j}:")
        self._other_order(x, row, flags, ndim, j)
        own = self.new("load ptr, ptr %own")
        self.put(self.word(row, 0), self.field(own, HEAD_BYTES, "ptr"), "ptr")
        lengths, first = self.field(x, HEAD_BYTES + 16, "ptr"), self.word(row, 4)

        def length(a: str) -> None:
            self.put(self.new(f"add i64 {first}, {a}"), self.word(lengths, a))

        self.loop(ndim, length)
        self.do(f"br label %next{j}", f"next{j}:")

    def _other_order(self, x: str, row: str, flags: str, ndim: str, j: int) -> None:
        """Copy an array in another order. If it is large and in Fortran order, or if its memory
        is donated, refuse the call.
        """
        writeable = self.new(f"and i64 {self.word(row, 5)}, {WRITEABLE_FLAG}")
        self.need(self.new(f"icmp eq i64 {writeable}, 0"))
        fortran = FORTRAN_ORDER[0]
        turned = self.new(f"icmp eq i32 {self.new(f'and i32 {flags}, {fortran}')}, {fortran}")
        self.do(f"br i1 {turned}, label %turned{j}, label %copy{j}", f"turned{j}:")
        last = self.new(f"sub i64 {ndim}, 1")
        n, far = [self.word(self.field(x, HEAD_BYTES + k, "ptr"), last) for k in (16, 24)]
        self.need(self.new(f"icmp slt i64 {self.new(f'mul i64 {n}, {far}')}, {MIN_ORDERED_BYTES}"))
        self.do(f"br label %copy{j}", f"copy{j}:")
        order = self.new(f"trunc i64 {self.word(row, 6)} to i32")
        copy = self.new(f"call ptr @new_copy(ptr {x}, i32 {order})")
        self.need(self.new(f"icmp ne ptr {copy}, null"), "failed")
        count = self.new("load i64, ptr %n_copies")
        self.do(f"store ptr {copy}, ptr {self.place('%copies', count)}")
        self.do(f"store i64 {self.new(f'add i64 {count}, 1')}, ptr %n_copies")
        self.do(f"store ptr {copy}, ptr %own", f"br label %direct{j}", f"direct{j}:")

    def _instructions(self) -> None:
        start = self.head("at_instructions")

        def step(k: str) -> None:
            at = self.new(f"add i64 {start}, {self.new(f'shl i64 {k}, 2')}")
            row = self.place("%table", at)
            target = self.word(row, 1)
            a, b = self.get(self.word(row, 2)), self.get(self.word(row, 3))
            j = self.n
            cases = " ".join([f"i64 {i}, label %{n}{j}" for i, n in enumerate(INSTRUCTIONS)])
            self.do(f"switch i64 {self.word(row, 0)}, label %refused [{cases}]")
            for name in INSTRUCTIONS:
                self.do(f"{name}{j}:")
                self._one(name, a, b, target, f"done{j}")
            self.do(f"done{j}:")

        self.loop(self.head("instructions"), step)

    def _one(self, name: str, a: str, b: str, target: str, done: str) -> None:
        tests = {"equal": f"eq i64 {a}, {b}", "less": f"slt i64 {a}, {b}"}
        if name in tests or name == "positive":
            test = self.new(f"icmp {tests.get(name, f'sgt i64 {a}, 0')}")
            self.do(f"br i1 {test}, label %{done}, label %refused")
            return
        if name in ("min", "max"):
            found = self.new(f"call i64 @llvm.s{name}.i64(i64 {a}, i64 {b})")
        elif name == "round":  # up to whole lines of the cache, with one more behind them
            self.need(self.new(f"icmp sle i64 {a}, {2**63 - 192}"))
            found = self.new(f"and i64 {self.new(f'add i64 {a}, 191')}, -64")
        elif name == "wrap":  # an index from the end
            below = self.new(f"icmp slt i64 {a}, 0")
            found = self.new(f"select i1 {below}, i64 {self.new(f'add i64 {a}, {b}')}, i64 {a}")
        elif name == "load":
            found = self.new(f"load i64, ptr {self.new(f'inttoptr i64 {a} to ptr')}")
        elif name == "div":
            found = self.new(f"sdiv i64 {a}, {b}")
        else:  # what is too large for a word is refused: it would be memory that is too small
            both = self.new(f"call {{i64, i1}} @llvm.s{name}.with.overflow.i64(i64 {a}, i64 {b})")
            over = self.new(f"extractvalue {{i64, i1}} {both}, 1")
            self.need(self.new(f"xor i1 {over}, true"))
            found = self.new(f"extractvalue {{i64, i1}} {both}, 0")
        self.put(target, found)
        self.do(f"br label %{done}")

    def _memory(self) -> None:
        """Allocate memory for temporaries: on the stack, or in an arena kept between calls."""
        total = self.get(self.head("total"))
        none = self.new(f"icmp eq i64 {total}, 0")
        self.do(f"br i1 {none}, label %have, label %some", "some:")
        few = self.new(f"icmp ult i64 {total}, {MAX_STACK_BYTES}")
        self.do(f"br i1 {few}, label %little, label %plenty", "little:")
        stack = self.new(f"alloca i8, i64 {total}, align 64")
        self.do(f"store ptr {stack}, ptr %base_at", "br label %have", "plenty:")
        kept = self.place("%table", HEADER_INDEX["arena"])
        old = self.new(f"atomicrmw xchg ptr {kept}, ptr null acquire")
        self.do(f"br i1 {self.new(f'icmp eq ptr {old}, null')}, label %fresh, label %look", "look:")
        enough = self.new(f"icmp uge i64 {self.new(f'load i64, ptr {old}')}, {total}")
        self.do(f"br i1 {enough}, label %reuse, label %drop", "drop:")
        self.do(f"call void @free(ptr {old})", "br label %fresh", "reuse:")
        self.do(f"store ptr {old}, ptr %arena", f"store ptr {old}, ptr %base_at")
        self.do("br label %have", "fresh:")
        made = self.new(f"call ptr @aligned_alloc(i64 64, i64 {total})")
        self.need(self.new(f"icmp ne ptr {made}, null"), "no_memory")
        self.do(f"store i64 {total}, ptr {made}", f"store ptr {made}, ptr %arena")
        self.do(f"store ptr {made}, ptr %base_at", "br label %have", "have:")
        self.do("%base = load ptr, ptr %base_at")

    def _move(self, k: str) -> None:
        """Convert a distance to an address."""
        place = self.word("%table", self.new(f"add i64 {k}, {self.head('at_places')}"))
        self.put(place, self.new(f"getelementptr i8, ptr %base, i64 {self.get(place)}"), "ptr")

    def _result(self, k: str) -> None:
        """Make the array of a result, or take that of an argument."""
        at = self.head("at_results")
        j = self.n
        self.do(f"br label %result{j}", f"result{j}:")
        start = self.word("%table", self.new(f"add i64 {at}, {k}"))
        row = self.place("%table", start)
        ndim, dtype = self.word(row, 1), self.word(row, 2, "ptr")
        donor = self.word(row, 3)
        own = self.new(f"icmp sge i64 {donor}, 0")
        self.do(f"br i1 {own}, label %donor{j}, label %new{j}", f"donor{j}:")
        given = self.word("%args", donor, "ptr")
        self.do(f"call void @Py_IncRef(ptr {given})")
        self._has_result(k, given)
        self.do(f"br label %done{j}", f"new{j}:")
        lengths = "%lengths"

        def length(a: str) -> None:
            slot = self.word(row, self.new(f"add i64 {a}, 4"))
            self.do(f"store i64 {self.get(slot)}, ptr {self.place(lengths, a)}")

        self.loop(ndim, length)
        self.do(f"call void @Py_IncRef(ptr {dtype})")
        made = self.new(
            f"call ptr @new_array(ptr @array_type, ptr {dtype}, i32 "
            f"{self.new(f'trunc i64 {ndim} to i32')}, ptr {lengths}, ptr null, ptr null, "
            f"i32 0, ptr null)"
        )
        self.need(self.new(f"icmp ne ptr {made}, null"), "too_large")
        self._has_result(k, made)
        self.put(self.word(row, 0), self.field(made, HEAD_BYTES, "ptr"), "ptr")
        self.do(f"br label %done{j}", f"done{j}:")

    def _has_result(self, k: str, array: str) -> None:
        self.do(f"store ptr {array}, ptr {self.place('%results', k)}")
        self.do(f"store i64 {self.new(f'add i64 {k}, 1')}, ptr %n_results")

    def _run(self) -> None:
        """Run the kernels, until one refuses."""
        much = self.new(f"icmp ugt i64 {self.get(self.head('work'))}, {MIN_UNLOCKED_ELEMENTS}")
        self.do(f"br i1 {much}, label %release, label %kernels", "release:")
        thread = self.new("call ptr @PyEval_SaveThread()")
        self.do(f"store ptr {thread}, ptr %thread", "br label %kernels", "kernels:")
        start = self.place("%table", self.head("at_kernels"))
        self.do(f"store ptr {start}, ptr %at")

        end = self.place(start, self.head("n_kernels"))
        self.do("br label %next", "next:")
        at = self.new("load ptr, ptr %at")
        self.do(
            f"br i1 {self.new(f'icmp eq ptr {at}, {end}')}, label %ran, label %kernel", "kernel:"
        )
        function, n = self.word(at, 0, "ptr"), self.word(at, 1)
        found = self.new(f"call i64 {function}(ptr %frame, ptr {self.place(at, 2)})")
        far = self.new(f"add i64 {n}, 2")
        back = self.new(f"icmp sgt i64 {found}, 1")  # of a loop that goes on
        far = self.new(f"select i1 {back}, i64 {self.new(f'sub i64 2, {found}')}, i64 {far}")
        self.do(f"store ptr {self.place(at, far)}, ptr %at", f"store i64 {found}, ptr %status")
        self.do(f"br i1 {back}, label %back, label %forth", "forth:")
        self.do(f"br i1 {self.new(f'icmp eq i64 {found}, 1')}, label %ran, label %next", "back:")
        self._look_for_signals(much)
        self.do("ran:")
        self.do(f"br i1 {much}, label %acquire, label %after", "acquire:")
        thread = self.new("load ptr, ptr %thread")
        self.do(f"call void @PyEval_RestoreThread(ptr {thread})", "br label %after", "after:")
        good = self.new(f"icmp ne i64 {self.new('load i64, ptr %status')}, 1")
        self.do("call void @let_go(ptr %table, ptr %arena, ptr %copies, ptr %n_copies)")
        self.do(f"br i1 {good}, label %finish, label %undo", "finish:")

    def _look_for_signals(self, much: str) -> None:
        """Check for signals now and then in a long loop, so that it can be interrupted."""
        count = self.new(f"add i64 {self.new('load i64, ptr %n_back')}, 1")
        self.do(f"store i64 {count}, ptr %n_back")
        due = self.new(
            f"icmp eq i64 {self.new(f'and i64 {count}, {STEPS_PER_SIGNAL_CHECK - 1}')}, 0"
        )
        self.do(f"br i1 {due}, label %due, label %next", "due:")
        self.do(f"br i1 {much}, label %take, label %ask", "take:")
        self.do(f"call void @PyEval_RestoreThread(ptr {self.new('load ptr, ptr %thread')})")
        self.do("br label %ask", "ask:")
        status = self.new("call i32 @PyErr_CheckSignals()")
        self.need(self.new(f"icmp eq i32 {status}, 0"), "failed")
        self.do(f"br i1 {much}, label %give, label %next", "give:")
        thread = self.new("call ptr @PyEval_SaveThread()")
        self.do(f"store ptr {thread}, ptr %thread", "br label %next")

    def _end(self) -> None:
        self.do(f"switch i64 {self.head('packing')}, label %list "
                f"[i64 {PACK_SINGLE}, label %single i64 {PACK_TUPLE}, label %tuple]")  # fmt: skip
        self.do("single:")
        self.do(f"ret ptr {self.word('%results', 0, 'ptr')}")
        for name, function in (("tuple", "PyTuple_New"), ("list", "PyList_New")):
            self.do(f"{name}:")
            found = self.new(f"call ptr @{function}(i64 {self.head('results')})")
            self.need(self.new(f"icmp ne ptr {found}, null"), "failed")
            items = self.byte(found, HEAD_BYTES + 8)
            if name == "list":
                items = self.new(f"load ptr, ptr {items}")

            def item(k: str, items: str = items) -> None:
                value = self.word("%results", k, "ptr")
                self.do(f"store ptr {value}, ptr {self.place(items, k)}")

            self.loop(self.head("results"), item)
            self.do(f"ret ptr {found}")
        let_go = "call void @let_go(ptr %table, ptr %arena, ptr %copies, ptr %n_copies)"
        drop = "call void @drop(ptr %results, ptr %n_results)"
        slow = "call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %n, ptr %names)"
        self.do("refused:", let_go, drop, "br label %slowly", "undo:", drop, "br label %slowly")
        self.do("slowly:", f"%found = {slow}", "ret ptr %found")
        self.do("too_large:", "call void @PyErr_Clear()", "br label %refused")  # (the VM tells why)
        self.do("no_memory:", "call ptr @PyErr_NoMemory()", "br label %failed")
        self.do("failed:", let_go, drop, "ret ptr null")

    def text(self) -> str:
        names = ("n_copies", "n_results", "arena", "status", "thread", "own", "at", "base_at",
                 "n_back")  # fmt: skip
        rooms = [f"  %{name} = alloca i64" for name in names]
        rooms.append("  %lengths = alloca [64 x i64]")
        body = "\n".join(["entry:", *rooms, *self.counters, *self.lines])
        return (
            f"define ptr @enter(ptr %self, ptr %args, i64 %n, ptr %names) #0 {{\n{body}\n}}\n"
            + _HELPERS.format(arena=HEADER_INDEX["arena"])
        )


_HELPERS = """
define internal void @drop(ptr %objects, ptr %count) {{
entry:
  %n = load i64, ptr %count
  br label %test
test:
  %i = phi i64 [0, %entry], [%j, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %p = getelementptr ptr, ptr %objects, i64 %i
  %x = load ptr, ptr %p
  call void @Py_DecRef(ptr %x)
  %j = add i64 %i, 1
  br label %test
end:
  store i64 0, ptr %count
  ret void
}}
define internal void @let_go(ptr %table, ptr %arena, ptr %copies, ptr %n_copies) {{
entry:
  call void @drop(ptr %copies, ptr %n_copies)
  %memory = load ptr, ptr %arena
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %back
back:
  store ptr null, ptr %arena
  %place = getelementptr i64, ptr %table, i64 {arena}
  %old = atomicrmw xchg ptr %place, ptr %memory release
  call void @free(ptr %old)
  br label %end
end:
  ret void
}}
define void @free_arena(ptr %capsule) #0 {{
entry:
  %place = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %memory = load ptr, ptr %place
  call void @free(ptr %memory)
  ret void
}}
"""


def entry_text() -> str:
    """Return the entry in LLVM's language, without its declarations."""
    return _Entry().text()


@cache
def _entry() -> dict[str, int]:
    """Return the addresses of the entry, and of the destructor of kept memory."""
    library = library_of(host())
    text = entry_text()
    declared = tuple([line for line in DECLARATIONS.splitlines() if line])
    enter = Unit(text, declared, (), tuple(_api().items()))
    library.add({"enter": enter, "free_arena": Unit("", (), ())})  # (its text is in `enter`)
    return library.addresses


@cache
def library_of(machine: Machine) -> Library:
    """Return the library for a machine."""
    return Library(machine)


class _Method(ctypes.Structure):
    """C struct `PyMethodDef`."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("text", ctypes.c_char_p))  # fmt: skip


class _Entered:
    """Where the address of the entry is read: in the method behind all functions."""

    def __init__(self, method: _Method) -> None:
        self.method = method

    def reader(self) -> bool:
        """Return that the entry is always needed."""
        return True

    def replace(self, address: int) -> None:
        """Let functions enter at another address."""
        self.method.code = address


@cache
def _method() -> _Method:
    method = _Method(b"native", _entry()["enter"], 0x80 | 0x02, None)  # METH_FASTCALL | …_KEYWORDS
    library_of(host()).keep_current("enter", _Entered(method))
    return method


def _kept_memory(table: Any) -> Any:
    """Return an object that frees the memory that a table keeps between calls when it dies. (A
    capsule's destructor is C code; an interrupt would be lost in a `__del__`.)
    """
    make: Any = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    return make(table.ctypes.data + 8 * HEADER_INDEX["arena"], None, _entry()["free_arena"])


def builtin(table: Any, slow: Any, *alive: Any) -> Any:
    """Return the function for a table. alive: objects that the table refers to by address."""
    make: Any = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.py_object] + [ctypes.c_void_p],
    )
    return make(ctypes.addressof(_method()), (table, slow, _kept_memory(table), *alive), None)
