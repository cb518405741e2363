"""Compiled kernels and units, found by their text.

New ones are compiled, all of a graph at once: first without optimisation (`optimised.py`).
Optimised object files are cached on disk (`rewrite_engine/disk.py`): code contains names but no
addresses, so any process may load it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import blake2b
from threading import RLock
from typing import Any, NamedTuple
from weakref import ref

from rewrite_engine.disk import DiskCache, read
from rewrite_engine.fork import free_after_fork
from rewrite_engine.link.native.optimised import Module, optimiser
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import ALIGNED_STACK
from rewrite_engine.link.native.units import Unit, address_of, unit

TEXT_VERSION = "1"  # of what the texts assume of each other
KERNEL_PREFIX = "k_"
disk = DiskCache("native", ".o")
_lock = free_after_fork(RLock())


MODULES_PER_RELEASE = 2000


class Kernel(NamedTuple):
    """Function `i64 (ptr frame, ptr places)` by its text, without a name. It returns 0, or another
    number if it refuses its operands. around: text of that function, if `text` is that of a part
    with a range, `i64 (ptr frame, ptr places, i64 from, i64 to)`, which it calls `@part`.
    """

    text: str
    declared: tuple[str, ...]
    units: tuple[str, ...]
    around: str = ""

    @property
    def name(self) -> str:
        """Return a name that is unique to the text."""
        text = self.text + self.around
        return KERNEL_PREFIX + blake2b(text.encode(), digest_size=12).hexdigest()

    def unit(self) -> Unit:
        """Return the text with its name, as a unit."""
        name, given = self.name, "ptr %frame, ptr %places"
        if not self.around:
            text = f"define i64 @{name}({given}) {ALIGNED_STACK} #0 {{\n{self.text}}}\n"
            return Unit(text, self.declared, self.units)
        part = f"define internal i64 @{name}_part({given}, i64 %from, i64 %to)"
        around = self.around.replace("@part", f"@{name}_part")
        text = f"{part} {ALIGNED_STACK} #0 {{\n{self.text}}}\n"
        text += f"define i64 @{name}({given}) #0 {{\n{around}}}\n"
        return Unit(text, self.declared, self.units)


def module_text(functions: Collection[Unit], machine: Machine) -> str:
    """Return the text of a module with functions."""
    declared = {line for one in functions for line in one.declared}
    attributes = f"attributes #0 = {{ {machine.attributes} }}\n"
    lines = "\n".join(sorted(declared))
    return lines + "\n" + "".join([one.text for one in functions]) + attributes


class Library:
    """Compiled code for one machine. addresses: addresses of all compiled functions; those of
    functions that are `pending` will be replaced by those of optimised code.

    Kernels that no function has any more are released from time to time: a process can map some
    65,000 pieces of memory, and each module takes a few.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.addresses: dict[str, int] = {}
        self.alive: dict[str, list[Any]] = {}  # the code of a module, by its first function
        self.readers: dict[str, list[Any]] = {}  # weak references to plans and tables with a kernel
        self.modules: dict[str, list[str]] = {}  # all functions of a module, by its first one
        self.due = MODULES_PER_RELEASE  # modules, when unused ones are released next
        self.pending: dict[str, list[Any]] = {}  # where their addresses are read
        self.resting: dict[str, Module] = {}  # modules of pending functions that nobody reads

    def get(self, kernels: Iterable[Kernel], plan: Any = None) -> list[int]:
        """Return the addresses of kernels, after compiling the new ones. plan: the object that
        needs them, as long as it exists; by default they stay.
        """
        wanted = {kernel.name: kernel for kernel in kernels}
        reader = (lambda: True) if plan is None else ref(plan)
        with _lock:
            if len(self.alive) >= self.due:
                self._release()
            for name in wanted:
                self.readers.setdefault(name, []).append(reader)
            new = {name: k for name, k in wanted.items() if name not in self.addresses}
            if new:
                self._need([name for k in new.values() for name in k.units])
                self.add({name: kernel.unit() for name, kernel in new.items()})
        return [self.addresses[name] for name in wanted]

    def keep_current(self, name: str, use: Any) -> None:
        """Store the address of a function where it is read, now and when it is replaced. use: see
        `optimised.Word`.
        """
        with _lock:
            use.replace(self.addresses[name])
            if name in self.readers:
                self.readers[name].append(use.reader)
            if name in self.pending:
                self.pending[name].append(use)
            module = self.resting.get(name)
            if module is not None:
                for other in module.names:
                    del self.resting[other]
                optimiser.add(module)

    def _release(self) -> None:
        """Release the modules of kernels that nobody has any more."""
        for name, readers in self.readers.items():
            self.readers[name] = [reader for reader in readers if reader() is not None]
        for first, names in list(self.modules.items()):
            if any([self.readers.get(name, True) for name in names]):
                continue
            for code in self.alive.pop(first):
                code.close()
            for name in self.modules.pop(first):
                for table in (self.addresses, self.readers, self.pending, self.resting):
                    table.pop(name, None)  # type: ignore[attr-defined]
        self.due = len(self.alive) + MODULES_PER_RELEASE

    def _need(self, names: Iterable[str]) -> None:
        """Compile missing units, and those that they call."""
        todo = list(dict.fromkeys(names))
        found: dict[str, Unit] = {}
        while todo:
            name = todo.pop()
            if name not in self.addresses and (address := address_of(name)):
                self.addresses[name] = address
            if name not in self.addresses and name not in found:
                found[name] = unit(name, self.machine)
                todo += found[name].units
        for name, one in found.items():  # each on its own, so that other graphs find it on disk
            self.add({name: one}) if not one.units else None
        rest = {name: one for name, one in found.items() if one.units}
        for name, one in rest.items():
            self.add({name: one})

    def add(self, functions: dict[str, Unit]) -> None:
        """Load functions, which are one module, from disk; or compile them without optimisation,
        and again later.
        """
        machine = self.machine
        text = module_text(functions.values(), machine)
        path = disk.path(text, TEXT_VERSION, *machine.identity)
        code = None if path is None else read(path)
        if code is not None:
            self._load(functions, code)
            return
        self._load(functions, machine.compile(text, 0))
        self.pending |= {name: [] for name in functions}

        def compile_again() -> None:
            code = machine.compile(text)
            disk.write(path, code)
            with _lock:
                if not all([name in self.pending for name in functions]):
                    return  # it was released meanwhile
                self._load(functions, code)
                for name in functions:
                    for use in self.pending.pop(name, ()):
                        use.replace(self.addresses[name])

        always = not all([name.startswith(KERNEL_PREFIX) for name in functions])
        module = Module(list(functions), compile_again, lambda: always or self._reads(module))
        optimiser.add(module)

    def _reads(self, module: Module) -> bool:
        """Return whether a function of a module is read; if none is, it waits until one is."""
        with _lock:
            if any(
                [use.is_needed() for name in module.names for use in self.pending.get(name, ())]
            ):
                return True
            self.resting.update(dict.fromkeys(module.names, module))
            return False

    def _load(self, functions: dict[str, Unit], code: bytes) -> None:
        """Load the code of functions."""
        imports = {n: a for one in functions.values() for n, a in one.imports}
        for one in functions.values():
            imports |= {n: self.addresses[n] for n in one.units if n not in functions}
        addresses, alive = self.machine.link(code, list(functions), imports)
        self.addresses |= addresses
        first = next(iter(functions))
        self.alive.setdefault(first, []).append(alive)
        self.modules[first] = list(functions)
