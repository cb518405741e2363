"""What an op and a type say of themselves in C: methods that return text, with their defaults.

Texts are C++ (decision 62). `name` is what a variable is called there: `py_<name>` is its value as
a `PyObject *`, what `c_declare` declares contains `<name>`. `sub["fail"]` is what to write where a
Python exception has been set: it leads to the cleanups, and out. Where the texts are put together:
`source.py`.
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
    """What ops and types have in common: what the compiler needs for their code."""

    def c_headers(self, **kwargs: Any) -> Sequence[str]:
        """Headers to include: `"<vector>"`, `"/full/path.h"`, or `"name.h"`, which is quoted."""
        return []

    def c_header_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Folders in which headers are looked for."""
        return []

    def c_libraries(self, **kwargs: Any) -> Sequence[str]:
        """Libraries to link: `"gsl"`."""
        return []

    def c_lib_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Folders in which libraries are looked for, when it is linked and when it runs."""
        return []

    def c_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """More arguments for the compiler."""
        return []

    def c_no_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """Arguments that the compiler must not get, whoever asks for them."""
        return []

    def c_support_code(self, **kwargs: Any) -> str | Sequence[str]:
        """Functions and structs, at global scope; written once, however many variables need it."""
        return ""

    def c_init_code(self, **kwargs: Any) -> Sequence[str]:
        """Statements that run once, when the module is loaded."""
        return []

    def c_code_cache_version(self) -> tuple[Hashable, ...]:
        """The version of the code: another one for every change that the text does not show, as of
        a header. Of (), the default, a module is never kept for other processes.
        """
        return ()


class CLinkerOp(CLinkerObject):
    """What an op says of its nodes."""

    #: the type of the parameters, which are no part of the text: the same module serves all values
    params_type: Any = None
    #: whether the code checks that inputs are what their types say
    check_input: bool = True

    def c_code(self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        """Statements that compute the outputs.

        name: for what the code names at global scope. inputs, outputs: names of C variables, as the
        types declare them; an output that has not been computed is as `c_init` of its type leaves
        it, and one of an earlier call, of any lengths and strides, may be used. sub: `fail`, and
        `params`, the name of the parameters.
        """
        raise MethodNotDefined(f"{self} defines no c_code")

    def c_code_cleanup(
        self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub
    ) -> str:
        """Statements that run after those of `c_code`, also if they failed."""
        return ""

    def c_code_cache_version_apply(self, node: Apply) -> tuple[Hashable, ...]:
        """The version of the code for one node."""
        return self.c_code_cache_version()

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        """Functions and structs for one node, at global scope, with names that contain `name`."""
        return ""

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        """Statements for one node that run once, when the module is loaded."""
        return ""

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        """Declarations of what a node keeps from one call to the next: members of a struct."""
        return ""

    def c_init_code_struct(self, node: Apply, name: str, sub: Sub) -> str:
        """Statements that run once for each node of each compiled function."""
        return ""

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        """Statements that run when the compiled function goes."""
        return ""

    def get_params(self, node: Apply) -> Any:
        """The parameters of a node. The default: what `params_type`, a `ParamsType`, reads of the
        op's attributes. Raises `MethodNotDefined`.
        """
        if hasattr(self.params_type, "get_params"):
            return self.params_type.get_params(self)
        raise MethodNotDefined(f"{self} defines no get_params")


class CLinkerType(CLinkerObject):
    """What a type says of its variables: how a Python object becomes C variables, and back."""

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        """Declarations of the C variables, all of which contain `name`; no values."""
        raise MethodNotDefined(f"{self} defines no c_declare")

    def c_init(self, name: str, sub: Sub) -> str:
        """Statements that give them a value where there is no Python object: of outputs."""
        raise MethodNotDefined(f"{self} defines no c_init")

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        """Statements that read them from `py_<name>`, or set an exception and `fail`."""
        raise MethodNotDefined(f"{self} defines no c_extract")

    def c_extract_out(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        """The same for an output of an earlier call, or None: then they are as of `c_init`."""
        options: dict[str, Any] = {} if check_input else {"check_input": False}
        extract = self.c_extract(name, sub, **options, **kwargs)
        empty = self.c_init(name, sub)
        return f"if (py_{name} == Py_None) {{\n{empty}\n}} else {{\n{extract}\n}}"

    def c_sync(self, name: str, sub: Sub) -> str:
        """Statements that put their value into `py_<name>`: a new reference; the one that is there
        is given up.
        """
        raise MethodNotDefined(f"{self} defines no c_sync")

    def c_cleanup(self, name: str, sub: Sub) -> str:
        """Statements that free what was allocated, after `c_sync`, and after a failure. Optional:
        raises `MethodNotDefined` where there are none (`cleanup_of`).
        """
        raise MethodNotDefined(f"{self} defines no c_cleanup")

    def c_literal(self, data: Any) -> str:
        """A constant's value as an expression. Of types that are `c_is_simple`, it is written in
        the place of the variable. Raises `MethodNotDefined` where there is none.
        """
        raise MethodNotDefined(f"{self} defines no c_literal")

    def c_is_simple(self) -> bool:
        """Whether the C variable is a number or a small struct, which may be copied."""
        return False

    def c_element_type(self) -> str | None:
        """The C type of an element: `"npy_float64"`; None where there is none."""
        return None

    def c_is_valid(self, value: str) -> str:
        """An expression for whether a `PyObject *` is certainly a value of the type. Where it is
        false the type's `filter` tells.
        """
        return "0"


def cleanup_of(type_: Any, name: str, sub: Sub) -> str:
    """Return the statements of `c_cleanup`; none if a type does not define it."""
    defined = getattr(type_.c_cleanup, "__func__", None) is not CLinkerType.c_cleanup
    return type_.c_cleanup(name, sub) if defined else ""
