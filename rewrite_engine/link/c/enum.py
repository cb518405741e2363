"""Enumerations: constants that have one name in Python and in C, as types of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewrite_engine.errors import DTypeError, ParameterError, describe
from rewrite_engine.link.c.interface import Sub
from rewrite_engine.link.c.type import CType

CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")
C_TYPE = re.compile(r"[A-Za-z_]\w*(\s+[A-Za-z_]\w*)*")


class EnumNameError(ParameterError, AttributeError, TypeError):
    """A name of an enumeration, or of a field, that it cannot have."""


class EnumType(CType):
    """Numbers with names: `EnumType(LOW=0, HIGH=("high", 2.5), ctype="double")`; of a pair, the
    first is another name, for Python alone.

    They are attributes of the type, and macros in C. A value is one of the numbers, or a name of
    one. ctype: what it is in C. cname: a name for the whole. Raises `EnumNameError` for constants
    that are not in capital letters, and names that are there twice, `DTypeError` for what is no
    number.
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
        """{other name: name}."""
        return dict(self.alias_pairs)

    def fromalias(self, alias: str) -> Any:
        """The number with a name, of either kind. Raises `KeyError`."""
        return self[self.aliases.get(alias, alias)]

    def has_alias(self, alias: str) -> bool:
        """Whether a constant has this other name."""
        return alias in self.aliases

    def get_aliases(self) -> tuple[str, ...]:
        """The other names."""
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
    """Names that are numbered from 0 on: `EnumList("RED", ("GREEN", "green"))`; of a pair, the
    second is another name, for Python alone. The C type is `int`, if it is not given. Raises
    `EnumNameError`.
    """

    def __init__(
        self, *names: str | tuple[str, str], ctype: str = "int", cname: str | None = None
    ) -> None:
        constants: dict[str, Any] = {}
        for i, one in enumerate(names):
            name, *alias = (one,) if isinstance(one, str) else one
            if name in constants or len(alias) > 1:
                raise EnumNameError(f"expected a name that is new, or a pair, got {one!r}")
            constants[name] = (alias[0], i) if alias else i
        super().__init__(ctype, cname, **constants)


class CEnumType(EnumList):
    """Names of constants that the C code has, as by a header. In Python they are numbered from 0
    on; in C a parameter has the constant's value.
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
    """The value of a constant, whose name has to be one."""
    if not CONSTANT.fullmatch(name):
        raise EnumNameError(f"{name!r} is not a name in capital letters, digits and underscores")
    if not isinstance(value, int | float):
        raise DTypeError(f"{name} has to be a number, not {describe(value)}")
    return int(value) if isinstance(value, bool) else value
