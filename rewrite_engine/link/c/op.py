"""`COp`: an op with C code for its nodes. `OpenMPOp`: a `COp` whose code may use OpenMP."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op, takes
from rewrite_engine.link.c.build import c_function, params_of
from rewrite_engine.link.c.compiler import has_compiler, supports
from rewrite_engine.link.c.interface import CLinkerOp


def with_params(perform: Callable[..., None]) -> Callable[..., None]:
    """Adapt a `perform(self, node, inputs, output_storage, params)` to the usual call."""

    @wraps(perform)
    def method(
        self: Any, node: Apply, inputs: Any, output_storage: Any, params: Any = None
    ) -> None:
        perform(self, node, inputs, output_storage, params_of(node) if params is None else params)

    return method


class COp(Op, CLinkerOp):
    """Base class of ops computed by C code: `c_code` returns its text.

    A function compiles the code when it is made, and runs it. `perform` is used if there is no code
    for a node, or no compiler, and by `Mode(linker="py")`. With `params_type` it may take the
    parameters as a last argument.
    """

    native = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own: Any = vars(cls)
        if takes(own.get("perform"), 5):
            cls.perform = with_params(own["perform"])  # type: ignore[method-assign]

    def make_function(self, node: Apply) -> Callable[..., Any] | None:
        """Return the C code of a node as a function. Raises `CompileError`, `NoCompilerError`."""
        return c_function(node)


def with_c_code(bases: tuple[type, ...], namespace: Mapping[str, Any]) -> tuple[type, ...]:
    """Return the bases of a class with `c_code`: with `COp`, if it is an op without another way to
    compute. (Theano's ops have C code without being a `COp`.)
    """
    ops = [base for base in bases if issubclass(base, Op)]
    if not ops or any([issubclass(base, CLinkerOp) for base in bases]):
        return bases
    for name in ("perform", "make_thunk"):
        if name in namespace or any([getattr(b, name) is not getattr(Op, name) for b in ops]):
            return bases
    return tuple([COp if base is Op else base for base in bases]) if Op in bases else (*bases, COp)


_OPENMP_PROGRAM = "#include <omp.h>\nint main() { return omp_get_num_threads() < 1; }\n"


class OpenMPOp(COp):
    """Base class of ops whose C code has OpenMP's pragmas; they take effect if `openmp` is True and
    the compiler supports OpenMP. openmp: None is `config.openmp`.

    A subclass has "openmp" in its `__props__`. The GIL is held: code that runs in parallel must not
    access Python objects.
    """

    def __init__(self, openmp: bool | None = None) -> None:
        self.openmp = bool(config.openmp if openmp is None else openmp)

    def uses_openmp(self) -> bool:
        """Return whether the code is compiled with OpenMP. Warns once if the compiler does not
        support it.
        """
        if not self.openmp or not has_compiler():
            return False
        if supports(config.cxx, "-fopenmp", _OPENMP_PROGRAM):
            return True
        warnings.warn(f"the compiler {config.cxx!r} does not support OpenMP", stacklevel=2)
        return False

    def c_compile_args(self, **kwargs: Any) -> list[str]:
        return ["-fopenmp"] if self.uses_openmp() else []

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["<omp.h>"] if self.uses_openmp() else []


COpenMPOp = OpenMPOp  # as older versions of the field call it
