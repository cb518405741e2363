"""Enumerations: constants with one name in Python and in C, as types of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewrite_engine.errors import DTypeError, ParameterError, describe
from rewrite_engine.link.c.interface import Sub
from rewrite_engine.link.c.type import CType

CONSTANT_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
C_TYPE = re.compile(r"[A-Za-z_]\w*(\s+[A-Za-z_]\w*)*")


class EnumNameError(ParameterError, AttributeError, TypeError):
    """Error for an invalid name of an enumeration or a field."""


class EnumType(CType):
    """Type of named numbers: `EnumType(LOW=0, HIGH=("high", 2.5), ctype="double")`; the first of a
    pair is an alias, for Python only.

    The names are attributes of the type, and macros in C. A value is one of the numbers, or one of
    their names. ctype: its type in C. cname: a name for the enumeration. Raises `EnumNameError` for
    names that are not in capital letters or occur twice, `DTypeError` for values that are not
    numbers.
    """

    __props__ = ("ctype", "cname", "constants", "alias_pairs")

    def __init__(self, ctype: str = "double", cname: str | None = None, **constants: Any) -> None:
        if not C_TYPE.fullmatch(ctype.strip()):
            raise EnumNameError(f"{ctype!r} is not the name of a C type")
        self.ctype = " ".join(ctype.split())
        self.cname = self.ctype.replace(" ", "_") if cname is None else cname
        found: dict[str, Any] = {}
        aliases: dict[str, str] = {}
        for name, value in constants.items():
            alias, number = value if isinstance(value, list | tuple) else (None, value)
            found[name] = _number(name, number)
            if alias is not None:
                if alias in aliases or alias in constants:
                    raise EnumNameError(f"{alias!r} is the name of two constants")
                aliases[alias] = name
        self.constants, self.alias_pairs = tuple(found.items()), tuple(sorted(aliases.items()))
        self.__dict__.update(found)

    def __getitem__(self, name: str) -> Any:
        return dict(self.constants)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.constants))

    def __len__(self) -> int:
        return len(self.constants)

    @property
    def aliases(self) -> dict[str, str]:
        """Mapping from aliases to names of constants."""
        return dict(self.alias_pairs)

    def fromalias(self, alias: str) -> Any:
        """Return the number with a name or an alias. Raises `KeyError`."""
        return self[self.aliases.get(alias, alias)]

    def has_alias(self, alias: str) -> bool:
        """Return whether a constant has this alias."""
        return alias in self.aliases

    def get_aliases(self) -> tuple[str, ...]:
        """Return the aliases of all constants."""
        return tuple(self.aliases)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return one of the numbers. Raises `DTypeError`."""
        if isinstance(data, str) and not strict and self.aliases.get(data, data) in self:
            return self.fromalias(data)
        if isinstance(data, str) or data not in dict(self.constants).values():
            raise DTypeError(f"expected one of {', '.join(self)}, got {describe(data)}")
        return int(data) if isinstance(data, bool) else data

    def c_support_code(self, **kwargs: Any) -> str:
        return "\n".join([f"#define {name} {value}" for name, value in self.constants])

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"{self.ctype} {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = ({self.ctype})0;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"""if (PyLong_Check(py_{name})) {name} = ({self.ctype})PyLong_AsLongLong(py_{name});
else {name} = ({self.ctype})PyFloat_AsDouble(py_{name});
if (PyErr_Occurred()) {sub["fail"]}"""

    def c_is_simple(self) -> bool:
        return True

    def c_code_cache_version(self) -> tuple[Any, ...]:
        return (1,)


class EnumList(EnumType):
    """Type of names numbered from 0: `EnumList("RED", ("GREEN", "green"))`; the second of a pair is
    an alias, for Python only. The C type is `int` by default. Raises `EnumNameError`.
    """

    def __init__(
        self, *names: str | tuple[str, str], ctype: str = "int", cname: str | None = None
    ) -> None:
        constants: dict[str, Any] = {}
        for i, one in enumerate(names):
            name, *alias = (one,) if isinstance(one, str) else one
            if name in constants or len(alias) > 1:
                raise EnumNameError(f"expected a new name, or a pair, got {one!r}")
            constants[name] = (alias[0], i) if alias else i
        super().__init__(ctype, cname, **constants)


class CEnumType(EnumList):
    """Type of names of constants in the C code, such as those of a header. In Python they are
    numbered from 0; in C a parameter has the constant's value.
    """

    def c_support_code(self, **kwargs: Any) -> str:
        return ""

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        cases = "\n".join([f"case {i}: {name} = {one}; break;" for i, one in enumerate(self)])
        return f"""switch (PyLong_AsLong(py_{name})) {{
{cases}
default: PyErr_SetString(PyExc_ValueError, "no constant of the enumeration"); {sub["fail"]}
}}"""


def _number(name: str, value: Any) -> int | float:
    """Return the value of a constant, after checking it and its name."""
    if not CONSTANT_NAME.fullmatch(name):
        raise EnumNameError(f"{name!r} is not a name in capital letters, digits and underscores")
    if not isinstance(value, int | float):
        raise DTypeError(f"{name} must be a number, not {describe(value)}")
    return int(value) if isinstance(value, bool) else value
