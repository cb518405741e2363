"""`ExternalCOp`: an op with its C code in files, in sections."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewrite_engine.errors import MethodNotDefined, OptionError
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c.interface import Names, Sub
from rewrite_engine.link.c.op import COp
from rewrite_engine.link.c.params_type import ParamsType
from rewrite_engine.link.c.side import c_side

SECTION_LINE = re.compile(r"^#section[ \t]+(\w+)[ \t]*$", re.MULTILINE)
SECTION_NAMES = ("code", "code_cleanup", "init_code", "init_code_apply", "init_code_struct",
            "support_code", "support_code_apply", "support_code_struct",
            "cleanup_code_struct")  # fmt: skip


class ExternalCOp(COp):
    """Base class of ops with C code in files: `super().__init__("norm.c", "APPLY_SPECIFIC(norm)")`.

    func_files: paths, relative to the file of the op's class. A line `#section support_code_apply`
    begins the text that `c_support_code_apply` returns; sections of one name are joined. func_name:
    the function that computes the outputs, `int f(input, …, output *, …, params)`, which returns 0,
    or sets an exception and returns another number; or None, if a section `code` has the
    statements.

    Macros in all sections but `support_code` and `init_code`: `APPLY_SPECIFIC(name)`, a name that
    belongs to this node; `DTYPE_INPUT_0`, `TYPENUM_INPUT_0`, `ITEMSIZE_INPUT_0` (and those of
    `OUTPUT`s) for arrays and numbers, if `check_input` is not False; `PARAMS_TYPE` and
    `DTYPE_PARAM_name` for a `ParamsType`. In statements also `FAIL` and `PARAMS`, and `INPUT_0`,
    `OUTPUT_0` in the sections `code` and `code_cleanup`. The version is a hash of the files. Raises
    `OptionError` for files with another structure, `OSError` for files that cannot be read.
    """

    _cop_num_inputs: int | None = None
    _cop_num_outputs: int | None = None

    def __init__(
        self, func_files: str | Path | Sequence[str | Path], func_name: str | None = None
    ) -> None:
        files = [func_files] if isinstance(func_files, str | Path) else list(func_files)
        self.func_files, self.func_name = [str(file) for file in files], func_name
        self.code_sections: dict[str, str] = {}
        hashed = hashlib.sha256()
        for file in files:
            text = self.get_path(file).read_text(encoding="utf-8")
            hashed.update(text.encode())
            for name, section in _sections(text, file):
                self.code_sections[name] = self.code_sections.get(name, "") + section
        self.files_hash = hashed.hexdigest()
        if func_name is not None and "code" in self.code_sections:
            raise OptionError(f"{files[0]} has a section `code`: leave out func_name")

    @classmethod
    def get_path(cls, file: str | Path) -> Path:
        """Return a path relative to the file of this class."""
        path = Path(file)
        return path if path.is_absolute() else Path(inspect.getfile(cls)).parent / path

    def c_code_cache_version(self) -> tuple[Any, ...]:
        return (self.files_hash,)

    # --- macros ---------------------------------------------------------------------------------

    def macros(self, node: Apply, name: str) -> dict[str, Any]:
        """Return {macro: its text} for a node."""
        found: dict[str, Any] = {"APPLY_SPECIFIC(str)": f"str##_{name}"}
        sides = [("INPUT", node.inputs), ("OUTPUT", node.outputs)] if self.check_input else []
        for side, variables in sides:
            for i, v in enumerate(variables):
                if getattr(v.type, "dtype", None) is not None:
                    dtype = np.dtype(v.type.dtype)
                    found[f"DTYPE_{side}_{i}"] = f"npy_{dtype.name}"
                    found[f"TYPENUM_{side}_{i}"] = dtype.num
                    found[f"ITEMSIZE_{side}_{i}"] = dtype.itemsize
        if isinstance(self.params_type, ParamsType):
            found["PARAMS_TYPE"] = self.params_type.name
            for field, kind in zip(self.params_type.fields, self.params_type.types, strict=True):
                element = c_side(kind).c_element_type()
                if element:
                    found[f"DTYPE_PARAM_{field}"] = element
        return found

    def _section(self, section: str, macros: dict[str, Any]) -> str:
        """Return a section between its macros; "" if there is none."""
        text = self.code_sections.get(section, "")
        return _between(macros, text) if text.strip() else ""

    def _of_node(self, section: str, node: Apply, name: str) -> str:
        return self._section(section, self.macros(node, name))

    def _statements(
        self, section: str, node: Apply, name: str, sub: Sub, ends: tuple[Names, Names] = ((), ())
    ) -> str:
        macros = self.macros(node, name) | {"FAIL": sub["fail"]}
        if "params" in sub:
            macros["PARAMS"] = sub["params"]
        for side, names in zip(("INPUT", "OUTPUT"), ends, strict=True):
            macros |= {f"{side}_{i}": one for i, one in enumerate(names)}
        return self._section(section, macros)

    # --- texts ----------------------------------------------------------------------------------

    def c_support_code(self, **kwargs: Any) -> str:
        return self.code_sections.get("support_code", "")

    def c_init_code(self, **kwargs: Any) -> list[str]:
        return [self.code_sections.get("init_code", "")]

    def c_support_code_apply(self, node: Apply, name: str) -> str:
        return self._of_node("support_code_apply", node, name)

    def c_init_code_apply(self, node: Apply, name: str) -> str:
        return self._of_node("init_code_apply", node, name)

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        return self._of_node("support_code_struct", node, name)

    def c_cleanup_code_struct(self, node: Apply, name: str) -> str:
        return self._of_node("cleanup_code_struct", node, name)

    def c_init_code_struct(self, node: Apply, name: str, sub: Sub) -> str:
        return self._statements("init_code_struct", node, name, sub)

    def c_code_cleanup(
        self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub
    ) -> str:
        return self._statements("code_cleanup", node, name, sub, (inputs, outputs))

    def c_code(self, node: Apply, name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        if self.func_name is None:
            if "code" not in self.code_sections:
                raise MethodNotDefined(f"{self.func_files} have no section `code`")
            return self._statements("code", node, name, sub, (inputs, outputs))
        given = [*inputs, *["NULL"] * ((self._cop_num_inputs or 0) - len(inputs))]
        given += [f"&{output}" for output in outputs]
        given += ["NULL"] * ((self._cop_num_outputs or 0) - len(outputs))
        given += [sub["params"]] if "params" in sub else []
        call = f"if ({self.func_name}({', '.join(given)}) != 0) {sub['fail']}"
        return _between(self.macros(node, name), call)


def _between(macros: dict[str, Any], text: str) -> str:
    """Return a text between definitions of macros and their removal."""
    defined = [f"#define {name} {value}".replace("\n", " \\\n") for name, value in macros.items()]
    undefined = [f"#undef {name.partition('(')[0]}" for name in macros]
    return "\n".join([*defined, text, *undefined])


def _sections(text: str, file: str | Path) -> list[tuple[str, str]]:
    """Return the sections of a file, with their names."""
    before, *found = SECTION_LINE.split(text)
    if before.strip():
        raise OptionError(f"{file}: there is code before the first `#section`")
    names, sections = found[::2], found[1::2]
    for name in names:
        if name not in SECTION_NAMES:
            raise OptionError(f"{file}: unknown section {name!r}; use {', '.join(SECTION_NAMES)}")
    if not names:
        raise OptionError(f"{file}: there is no line `#section name`")
    return list(zip(names, sections, strict=True))
