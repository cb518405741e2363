"""The target machine, and LLVM (llvmlite), which compiles for it.

llvmlite is imported when the first function is compiled. All its calls hold one lock, also those
of other packages, except for the generation of code: there, each thread has a context and a target
machine of its own. A fork waits for the locks: LLVM would be left in the middle of its work in the
child.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from threading import Lock
from typing import Any

from rewrite_engine.errors import NoCompilerError
from rewrite_engine.fork import hold_at_fork

_number = count(1)
#: held while code of a level of optimisation is generated
_generating = {0: Lock(), 2: Lock()}


@cache
def llvm() -> Any:
    """Return `llvmlite.binding`, initialised. Raises `NoCompilerError` if it is not installed."""
    try:
        import llvmlite.binding as found
    except ImportError as error:
        what = 'Mode(linker="native") needs llvmlite: pip install "rewrite-engine[native]"'
        raise NoCompilerError(what) from error
    for lock in (found.ffi.lib._lock, *_generating.values()):
        hold_at_fork(lock)
    found.initialize_native_target()
    found.initialize_native_asmprinter()
    return found


class Machine:
    """Target processor, by LLVM's names; by default the host.

    width: the number of doubles in a register. fma: whether x * y + z is one instruction.
    saturates: whether a float that is too large for an integer becomes the largest. identity:
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
        self._target = found.Target.from_default_triple()
        is_arm = self._target.triple.startswith(("aarch64", "arm64"))
        self.fma, self.saturates = "+fma" in have or is_arm, is_arm
        self._makers = {level: self._machine(level) for level in _generating}
        # (the other loader puts code and constants too far apart for AArch64)
        self._jit = found.create_lljit_compiler(self._machine(2), use_jit_link=is_arm)
        self.attributes = f'nounwind "prefer-vector-width"="{64 * self.width}"'
        version = ".".join(map(str, found.llvm_version_info))
        self.identity = (self._target.triple, self.cpu, self.features, version)

    def _machine(self, level: int) -> Any:
        options: Any = dict(cpu=self.cpu, features=self.features, opt=level, reloc="pic", jit=True)
        return self._target.create_target_machine(**options)

    def compile(self, text: str, level: int = 2) -> bytes:
        """Compile a text in LLVM's language to an object file. level: of optimisation, 0 or 2."""
        with self._generator(text, level) as (maker, module):
            return _emitted(maker, module)

    def assembly(self, text: str) -> str:
        """Return the optimised code of a text in LLVM's language, in the language of assemblers."""
        with self._generator(text, 2) as (maker, module):
            return str(maker.emit_assembly(module))

    @contextmanager
    def _generator(self, text: str, level: int) -> Iterator[tuple[Any, Any]]:
        """Provide what generates code, for this thread alone, and the module of a text."""
        found = llvm()
        context = found.create_context()
        module = found.parse_assembly(text, context)
        try:
            with _generating[level]:
                yield self._makers[level], module
        finally:
            module.close()
            context.close()

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


def _emitted(maker: Any, module: Any) -> bytes:
    """Return the object file of a module, without holding llvmlite's lock meanwhile."""
    lib, outputs = llvm().ffi.lib, llvm().ffi.OutputString
    emit = getattr(lib.LLVMPY_TargetMachineEmitToMemory, "_cfn", None)
    if emit is None:  # another llvmlite than this was written for
        return maker.emit_object(module)  # type: ignore[no-any-return]
    with outputs() as error:
        memory = emit(maker, module, 1, error)
        if not memory:
            raise RuntimeError(str(error))
    try:
        size = lib.LLVMPY_GetBufferSize(memory)
        return ctypes.string_at(lib.LLVMPY_GetBufferStart(memory), size)
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(memory)


@cache
def host() -> Machine:
    """Return the processor that this process runs on."""
    return Machine()
