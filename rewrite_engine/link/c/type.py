"""`CType`: a type with a C interface. `CDataType`: pointers that C code passes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.errors import DTypeError, describe
from rewrite_engine.graph.type import Generic as Generic
from rewrite_engine.graph.type import Type
from rewrite_engine.graph.type import generic as generic
from rewrite_engine.link.c.interface import CLinkerType, Sub


class CType(Type, CLinkerType):
    """Base class of types whose values C code knows: `filter`, and the methods of `CLinkerType`.

    `c_declare`, `c_init`, `c_extract` and `c_sync` must be defined, and `c_cleanup` if something is
    allocated.
    """


class CDataType(CType):
    """Type of pointers of a C type (`"struct plan *"`), which one op passes to another; in Python
    they are capsules, or None.

    freefunc: the name of a function that frees one, `void (void *)`; it is defined in the
    `c_support_code` of the op that makes the pointer, or in `extra_support_code`. headers, …:
    requirements of its declarations. version: see `c_code_cache_version`.
    """

    __props__ = ("ctype", "freefunc", "headers", "header_dirs", "libraries", "lib_dirs",
                 "compile_args", "extra_support_code", "version")  # fmt: skip

    def __init__(
        self,
        ctype: str,
        freefunc: str | None = None,
        headers: Sequence[str] = (),
        header_dirs: Sequence[str] = (),
        libraries: Sequence[str] = (),
        lib_dirs: Sequence[str] = (),
        compile_args: Sequence[str] = (),
        extra_support_code: str = "",
        version: Any = None,
    ) -> None:
        self.ctype, self.freefunc = ctype, freefunc
        self.headers, self.header_dirs = tuple(headers), tuple(header_dirs)
        self.libraries, self.lib_dirs = tuple(libraries), tuple(lib_dirs)
        self.compile_args = tuple(compile_args)
        self.extra_support_code, self.version = extra_support_code, version

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return a capsule, or None. Raises `DTypeError`."""
        if data is not None and type(data).__name__ != "PyCapsule":
            raise DTypeError(f"expected a capsule with a {self.ctype}, got {describe(data)}")
        return data

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"{self.ctype} {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        read = f"({self.ctype})PyCapsule_GetPointer(py_{name}, NULL)"
        return f"{name} = {read};\nif ({name} == NULL) {sub['fail']}"

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return self.c_init(name, sub)  # a capsule frees its pointer itself: it cannot be used again

    def c_sync(self, name: str, sub: Sub) -> str:
        free = self.freefunc or "NULL"
        return f"if (rw_set_pointer(&py_{name}, (void*){name}, {free}) != 0) {sub['fail']}"

    def c_headers(self, **kwargs: Any) -> Sequence[str]:
        return self.headers

    def c_header_dirs(self, **kwargs: Any) -> Sequence[str]:
        return self.header_dirs

    def c_libraries(self, **kwargs: Any) -> Sequence[str]:
        return self.libraries

    def c_lib_dirs(self, **kwargs: Any) -> Sequence[str]:
        return self.lib_dirs

    def c_compile_args(self, **kwargs: Any) -> Sequence[str]:
        return self.compile_args

    def c_support_code(self, **kwargs: Any) -> Sequence[str]:
        return [_POINTERS, self.extra_support_code]

    def c_code_cache_version(self) -> tuple[Any, ...]:
        return (1, self.version)


_POINTERS = """
namespace {
void rw_free_pointer(PyObject* capsule) {
    void (*freefunc)(void*) = (void (*)(void*))PyCapsule_GetContext(capsule);
    void* pointer = PyCapsule_GetPointer(capsule, NULL);
    if (freefunc != NULL && pointer != NULL) freefunc(pointer);
}

int rw_set_pointer(PyObject** place, void* pointer, void (*freefunc)(void*)) {
    if (pointer == NULL) {
        rw_set(place, Py_None);
        return 0;
    }
    PyObject* capsule = PyCapsule_New(pointer, NULL, rw_free_pointer);
    if (capsule == NULL || PyCapsule_SetContext(capsule, (void*)freefunc) != 0) {
        Py_XDECREF(capsule);
        if (freefunc != NULL) freefunc(pointer);
        return -1;
    }
    rw_set(place, capsule);
    Py_DECREF(capsule);
    return 0;
}
}
"""
