"""The target machine, and LLVM (llvmlite), which compiles for it.

llvmlite is imported when the first function is compiled. All its calls hold one lock, also those
of other packages. A fork waits for it: LLVM would be left in the middle of its work in the child.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

from rewrite_engine.errors import NoCompilerError
from rewrite_engine.fork import hold_at_fork

_number = count(1)


@cache
def llvm() -> Any:
    """Return `llvmlite.binding`, initialised. Raises `NoCompilerError` if it is not installed."""
    try:
        import llvmlite.binding as found
    except ImportError as error:
        what = 'Mode(linker="native") needs llvmlite: pip install "rewrite-engine[native]"'
        raise NoCompilerError(what) from error
    hold_at_fork(found.ffi.lib._lock)
    found.initialize_native_target()
    found.initialize_native_asmprinter()
    return found


class Machine:
    """Target processor, by LLVM's names; by default the host.

    width: the number of doubles in a register. fma: whether x * y + z is one instruction. identity:
    the properties that machine code depends on.
    """

    def __init__(self, cpu: str | None = None, features: str | None = None) -> None:
        found = llvm()
        self.cpu = found.get_host_cpu_name() if cpu is None else cpu
        if features is None:
            features = found.get_host_cpu_features().flatten() if cpu is None else ""
        self.features = features
        have = set(features.split(","))
        self.width = 8 if "+avx512f" in have else 4 if "+avx2" in have else 2
        self.fma = "+fma" in have
        self._target = found.Target.from_default_triple()
        self._maker = self._machine()
        self._jit = found.create_lljit_compiler(self._machine())
        self.attributes = f'nounwind "prefer-vector-width"="{64 * self.width}"'
        version = ".".join(map(str, found.llvm_version_info))
        self.identity = (self._target.triple, self.cpu, self.features, version)

    def _machine(self) -> Any:
        options: Any = dict(cpu=self.cpu, features=self.features, opt=2, reloc="pic", jit=True)
        return self._target.create_target_machine(**options)

    def compile(self, text: str) -> bytes:
        """Compile a text in LLVM's language to an object file."""
        module = llvm().parse_assembly(text)
        return self._maker.emit_object(module)  # type: ignore[no-any-return]

    def link(
        self, code: bytes, exports: Sequence[str], imports: Mapping[str, int]
    ) -> tuple[dict[str, int], Any]:
        """Load an object file. Return the addresses of the exports, and an object that keeps them
        alive.
        """
        builder = llvm().JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in imports.items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        library = builder.link(self._jit, f"rewrite_engine_{next(_number)}")
        return {name: library[name] for name in exports}, library


@cache
def host() -> Machine:
    """Return the processor that this process runs on."""
    return Machine()
