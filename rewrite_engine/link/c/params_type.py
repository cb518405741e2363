"""`ParamsType`: several parameters of an op as one struct. `Params`: its values."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from rewrite_engine.errors import DTypeError, ParameterError, describe
from rewrite_engine.graph.intern import prop_key
from rewrite_engine.graph.type import Type
from rewrite_engine.link.c.enum import EnumNameError, EnumType
from rewrite_engine.link.c.interface import Sub, cleanup_of
from rewrite_engine.link.c.side import c_side
from rewrite_engine.link.c.source import texts
from rewrite_engine.link.c.type import CType

C_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr NULL operator or or_eq private protected public register reinterpret_cast
    restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq""".split()  # noqa: SIM905
)


class FieldError(ParameterError, AttributeError):
    """Error for a parameter that is missing, or has an invalid name in C."""


class Params:
    """Values of the parameters of a `ParamsType`, as attributes. Two are equal, with the same hash,
    if the types and the values are.
    """

    __slots__ = ("__dict__", "params_type")

    params_type: ParamsType

    def __init__(self, params_type: ParamsType, **values: Any) -> None:
        missing = [name for name in params_type.fields if name not in values]
        if missing:
            raise FieldError(f"no value for {', '.join(missing)} of {params_type}")
        object.__setattr__(self, "params_type", params_type)
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("parameters cannot be changed")

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __key__(self) -> tuple[Any, ...]:
        values = [self.__dict__[name] for name in self.params_type.fields]
        return self.params_type, *map(_key, values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Params) and self.__key__() == other.__key__()

    def __hash__(self) -> int:
        return hash(self.__key__())

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"Params({values})"

    def __reduce__(self) -> Any:
        return _params, (self.params_type, dict(self.__dict__))


def _params(params_type: ParamsType, values: dict[str, Any]) -> Params:
    return Params(params_type, **values)


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype), value.shape, value.tobytes()
    return prop_key(value)


class ParamsType(CType):
    """Type of a struct of parameters: `ParamsType(axis=ScalarType("int32"), weights=dvector)`, a
    type for each. `params.axis` in Python is `params->axis` in C.

    Constants of enumerations among the types are attributes of this type. Raises `FieldError` for
    names that are keywords of C, and `DTypeError` for objects that are not types.
    """

    __props__ = ("fields", "types")

    def __init__(self, **types: Any) -> None:
        if not types:
            raise FieldError("a ParamsType needs at least one field")
        for name, kind in types.items():
            if name in C_KEYWORDS or not name.isidentifier():
                raise FieldError(f"a field cannot be called {name!r} in C")
            if not isinstance(kind, Type):
                raise DTypeError(f"field {name!r} must have a type, not {describe(kind)}")
        self.fields = tuple(sorted(types))
        self.types = tuple([types[name] for name in self.fields])
        enums = [kind for kind in self.types if isinstance(kind, EnumType)]
        names = [name for kind in enums for name in (*kind, *kind.aliases)]
        if len(set(names)) < len(names):
            raise EnumNameError("two constants of a ParamsType have the same name")
        self.__dict__.update(pair for kind in enums for pair in kind.constants)

    @property
    def length(self) -> int:
        """Number of fields in the struct."""
        return len(self.fields)

    @property
    def name(self) -> str:
        """Name of the struct in C."""
        text = ",".join([f"{name}:{kind}" for name, kind in self._pairs()])
        return f"params_{hashlib.sha256(text.encode()).hexdigest()[:32]}"

    def _pairs(self) -> list[tuple[str, Any]]:
        return list(zip(self.fields, self.types, strict=True))

    def has_type(self, kind: Any) -> bool:
        """Return whether a field has this type."""
        return kind in self.types

    def get_type(self, field: str) -> Any:
        """Return the type of a field. Raises `KeyError`."""
        return dict(self._pairs())[field]

    def get_field(self, kind: Any) -> str:
        """Return the first field of a type. Raises `ValueError`."""
        return self.fields[self.types.index(kind)]

    def get_enum(self, name: str) -> Any:
        """Return the constant with this name. Raises `KeyError`."""
        return {name: value for kind in self._enums() for name, value in kind.constants}[name]

    def enum_from_alias(self, alias: str) -> Any:
        """Return the constant with this name or alias. Raises `KeyError`."""
        for kind in self._enums():
            if alias in kind.aliases or alias in kind:
                return kind.fromalias(alias)
        raise KeyError(alias)

    def _enums(self) -> list[EnumType]:
        return [kind for kind in self.types if isinstance(kind, EnumType)]

    def extended(self, **types: Any) -> ParamsType:
        """Return a type with more fields, or other types."""
        return ParamsType(**(dict(self._pairs()) | types))

    def get_params(self, *objects: Any, **values: Any) -> Params:
        """Return the parameters found as attributes of these objects, or passed by name; the last
        one counts. They are converted, even if that loses precision. Raises `FieldError` for a
        missing one, and the errors of the types.
        """
        found = {}
        for name, kind in self._pairs():
            places = [getattr(one, name) for one in objects if hasattr(one, name)]
            if name not in values and not places:
                raise FieldError(f"no value for the parameter {name!r} of {self}")
            value = values[name] if name in values else places[-1]
            found[name] = kind.filter(value, strict=False, allow_downcast=True)
        return Params(self, **found)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return parameters of this type. Raises `DTypeError`, and the errors of the fields'
        types.
        """
        if strict and not isinstance(data, Params):
            raise DTypeError(f"expected Params of {self}, got {describe(data)}")
        pairs = self._pairs()
        found = {n: t.filter(getattr(data, n), strict, allow_downcast) for n, t in pairs}
        same = isinstance(data, Params) and all([data[n] is v for n, v in found.items()])
        return data if same else Params(self, **found)

    def values_eq(self, a: Any, b: Any) -> bool:
        return all([t.values_eq(getattr(a, n), getattr(b, n)) for n, t in self._pairs()])

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        return all([t.values_eq_approx(getattr(a, n), getattr(b, n)) for n, t in self._pairs()])

    # --- C --------------------------------------------------------------------------------------

    def _all(self, method: str) -> list[str]:
        return [text for kind in self.types for text in texts(getattr(c_side(kind), method)())]

    def c_headers(self, **kwargs: Any) -> list[str]:
        return self._all("c_headers")

    def c_header_dirs(self, **kwargs: Any) -> list[str]:
        return self._all("c_header_dirs")

    def c_libraries(self, **kwargs: Any) -> list[str]:
        return self._all("c_libraries")

    def c_lib_dirs(self, **kwargs: Any) -> list[str]:
        return self._all("c_lib_dirs")

    def c_compile_args(self, **kwargs: Any) -> list[str]:
        return self._all("c_compile_args")

    def c_no_compile_args(self, **kwargs: Any) -> list[str]:
        return self._all("c_no_compile_args")

    def c_init_code(self, **kwargs: Any) -> list[str]:
        return self._all("c_init_code")

    def c_support_code(self, **kwargs: Any) -> list[str]:
        """Return the support code of the types, and the struct, which reads its fields from
        attributes.
        """
        fail = {"fail": "return -1;"}
        lines = [f"namespace {{\nstruct {self.name} {{"]
        for field, kind in self._pairs():
            side = c_side(kind)
            lines += [side.c_declare(field, fail), f"bool has_{field};"]
            lines += [f"int extract_{field}(PyObject* py_{field}) {{", f"has_{field} = true;"]
            lines += [side.c_extract(field, fail), "return 0;", "}"]
        lines += ["int extract(PyObject* params) {", "PyObject* value;", "int failed;"]
        for field in self.fields:
            lines.append(f'value = PyObject_GetAttrString(params, "{field}");')
            lines.append(f"failed = value == NULL || extract_{field}(value) != 0;")
            lines += ["Py_XDECREF(value);", "if (failed) return -1;"]
        lines += ["return 0;", "}", "void cleanup() {"]
        for field, kind in self._pairs():
            lines.append(f"if (has_{field}) {{\n{cleanup_of(c_side(kind), field, fail)}\n}}")
        return [*self._all("c_support_code"), "\n".join([*lines, "}", "};", "}"])]

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"{self.name}* {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"""{name} = new {self.name}();
if ({name}->extract(py_{name}) != 0) {sub["fail"]}"""

    def c_cleanup(self, name: str, sub: Sub) -> str:
        return f"if ({name} != NULL) {name}->cleanup();\ndelete {name};"

    def c_code_cache_version(self) -> tuple[Any, ...]:
        """Return the versions of the fields; () if one has none."""
        found = [c_side(kind).c_code_cache_version() for kind in self.types]
        return (1, *found) if all(found) else ()
