"""C interface of ops and types: methods that return text, with their defaults.

Texts are C++ (decision 62). `name` is the name of a variable there: `py_<name>` is its value as a
`PyObject *`, and declarations of `c_declare` contain `<name>`. `sub["fail"]` is the code to write
after a Python exception has been set: it leads to the cleanups, and out. `source.py` combines the
texts.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import MethodNotDefined

if TYPE_CHECKING:
    from rewrite_engine.graph.node import Apply

Sub = Mapping[str, str]
Names = Sequence[str]


class CLinkerObject:
    """Common base of ops and types: requirements of their code on the compiler."""

    def c_headers(self, **kwargs: Any) -> Sequence[str]:
        """Return headers to include: `"<vector>"`, `"/full/path.h"`, or `"name.h"`, which is
        quoted.
        """
        return []

    def c_header_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Return folders to search for headers."""
        return []

    def c_libraries(self, **kwargs: Any) -> Sequence[str]:
        """Return libraries to link: `"gsl"`."""
        return []

    def c_lib_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Return folders to search for libraries, when linking and when running."""
        return []

    def c_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """Return additional arguments for the compiler."""
        return []

    def c_no_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """Return arguments that the compiler must not get, whatever else requests them."""
        return []

    def c_support_code(self, **kwargs: Any) -> str | Sequence[str]:
        """Return functions and structs, at global scope; written once, however many variables need
        it.
        """
        return ""

    def c_init_code(self, **kwargs: Any) -> Sequence[str]:
        """Return statements that run once, when the module is loaded."""
        return []

    def c_code_cache_version(self) -> tuple[Hashable, ...]:
        """Return the version of the code: change it with every change that the text does not show,
        such as one of a header. With (), the default, a module is never cached for other processes.
        """
        return ()


class CLinkerOp(CLinkerObject):
    """C interface of an op, for each of its nodes."""

    #: the type of the parameters, which are no part of the text: the same module serves all values
    params_type: Any = None
    #: whether the code checks that inputs are what their types say
    check_input: bool = True

    def c_code(self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        """Return statements that compute the outputs.

        name: for names at global scope. inputs, outputs: names of C variables, as the types declare
        them; an output that has not been computed is in the state of its type's `c_init`, and one
        from an earlier call, of any lengths and strides, may be reused. sub: `fail`, and `params`,
        the name of the parameters.
        """
        raise MethodNotDefined(f"{self} defines no c_code")

    def c_code_cleanup(
        self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub
    ) -> str:
        """Return statements that run after those of `c_code`, also if they failed."""
        return ""

    def c_code_cache_version_apply(self, node: Apply) -> tuple[Hashable, ...]:
        """Return the version of the code for one node."""
        return self.c_code_cache_version()

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Return functions and structs for one node, at global scope, with names that contain
        `name`.
        """
        return ""

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        """Return statements for one node that run once, when the module is loaded."""
        return ""

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        """Return declarations of the state that a node keeps between calls: members of a struct."""
        return ""

    def c_init_code_struct(self, node: Apply, name: str, sub: Sub) -> str:
        """Return statements that run once for each node of each compiled function."""
        return ""

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        """Return statements that run when the compiled function is deleted."""
        return ""

    def get_params(self, node: Apply) -> Any:
        """Return the parameters of a node. The default: those that `params_type`, a `ParamsType`,
        reads from the op's attributes. Raises `MethodNotDefined`.
        """
        if hasattr(self.params_type, "get_params"):
            return self.params_type.get_params(self)
        raise MethodNotDefined(f"{self} defines no get_params")


class CLinkerType(CLinkerObject):
    """C interface of a type: conversion between a Python object and C variables."""

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Return declarations of the C variables, all of which contain `name`; no values."""
        raise MethodNotDefined(f"{self} defines no c_declare")

    def c_init(self, name: str, sub: Sub) -> str:
        """Return statements that initialize the C variables of outputs without a Python object."""
        raise MethodNotDefined(f"{self} defines no c_init")

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        """Return statements that read the C variables from `py_<name>`, or set an exception and
        `fail`.
        """
        raise MethodNotDefined(f"{self} defines no c_extract")

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        """Return statements that read an output of an earlier call, or None, which acts as
        `c_init`.
        """
        options: dict[str, Any] = {} if check_input else {"check_input": False}
        extract = self.c_extract(name, sub, **options, **kwargs)
        empty = self.c_init(name, sub)
        return f"if (py_{name} == Py_None) {{\n{empty}\n}} else {{\n{extract}\n}}"

    def c_sync(self, name: str, sub: Sub) -> str:
        """Return statements that store the value in `py_<name>`, as a new reference that replaces
        the present one.
        """
        raise MethodNotDefined(f"{self} defines no c_sync")

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Return statements that free allocated memory, after `c_sync`, and after a failure.
        Optional: raises `MethodNotDefined` if there are none (`cleanup_of`).
        """
        raise MethodNotDefined(f"{self} defines no c_cleanup")

    def c_literal(self, data: Any) -> str:
        """Return a constant's value as an expression. For types that are `c_is_simple`, it replaces
        the variable. Raises `MethodNotDefined` if there is none.
        """
        raise MethodNotDefined(f"{self} defines no c_literal")

    def c_is_simple(self) -> bool:
        """Return whether the C variable is a number or a small struct, which may be copied."""
        return False

    def c_element_type(self) -> str | None:
        """Return the C type of an element: `"npy_float64"`; None if there is none."""
        return None

    def c_is_valid(self, value: str) -> str:
        """Return an expression that is true only if a `PyObject *` is a value of the type. If it is
        false, the type's `filter` decides.
        """
        return "0"


def cleanup_of(type_: Any, name: str, sub: Sub) -> str:
    """Return the statements of `c_cleanup`; none if a type does not define it."""
    defined = getattr(type_.c_cleanup, "__func__", None) is not CLinkerType.c_cleanup
    return type_.c_cleanup(name, sub) if defined else ""
