"""C text of a node: its op's code, between the conversions of inputs and outputs by their types.

One node is one module, which depends only on the op, the types and the parameters' type. Every
variable has a block of its own, which contains the blocks of later ones; a failure jumps to the
label at the end of a block, and from there on outwards:

    { declare i0; extract i0                     on failure: rw_end_i0
      { declare o0; init o0
        { code                                   on failure: rw_end_code
          rw_end_code: cleanup of the code }
        if all went well: sync o0
        rw_end_o0: cleanup of o0 }
      rw_end_i0: cleanup of i0 }
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rewrite_engine.errors import MethodNotDefined, message
from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.c.interface import CLinkerType, cleanup_of
from rewrite_engine.link.c.side import c_side

NODE_NAME = "n0"  # of the node, in the texts of its op
PARAMS_NAME = "params_n0"


@dataclass(frozen=True, slots=True)
class CSource:
    """Text of a module, with the compiler's requirements. version: None if it may not be cached for
    other processes.
    """

    text: str
    version: tuple[Hashable, ...] | None
    header_dirs: tuple[str, ...]
    libraries: tuple[str, ...]
    lib_dirs: tuple[str, ...]
    arguments: tuple[str, ...]
    without: frozenset[str]


@dataclass(frozen=True, slots=True)
class CVariable:
    """Variable of a node. name: its name in C, or a literal, for which no variable exists."""

    name: str
    side: CLinkerType
    at: int
    is_output: bool = False
    is_literal: bool = False


def c_source_of(node: Apply) -> CSource | str:
    """Return the text of a node; or why there is none: its op has no C code for it (it raises
    `NotImplementedError`), or one of the types has none.
    """
    op: Any = node.op
    if not hasattr(op, "c_code"):
        return "has no C code"
    dtypes = [getattr(v.type, "dtype", None) for v in (*node.inputs, *node.outputs)]
    if "float16" in dtypes and not getattr(op, "_f16_ok", False):
        return "has no C code for float16 (C has no such numbers)"
    try:
        return _Writer(node).source()
    except NotImplementedError as error:
        return f"has no C code: {error}" if str(error) else "has no C code"
    except Exception as error:
        note = message("raised by the method that returns the C code", op=op, where=node.where())
        error.add_note(note)
        raise


class _Writer:
    """Writer of the text of one node."""

    def __init__(self, node: Apply) -> None:
        self.node, self.op = node, node.op
        self.title = type(node.op).__name__
        self.places = [_input(i, v) for i, v in enumerate(node.inputs)]
        self.inputs = [place.name for place in self.places]
        for i, v in enumerate(node.outputs):
            self.places.append(CVariable(f"o{i}", c_side(v.type), i, is_output=True))
        self.outputs = [place.name for place in self.places if place.is_output]
        kind = getattr(node.op, "params_type", None)
        self.params = None if kind is None else c_side(kind)
        sides = [place.side for place in self.places]
        self.objects: list[Any] = _unlike([*sides, *([self.params] if self.params else ())])
        self.objects.append(node.op)
        self.unchecked = {} if getattr(node.op, "check_input", True) else {"check_input": False}

    def source(self) -> CSource:
        """Collect the whole text. Raises `MethodNotDefined` if there is no code."""
        return CSource(
            self.text(),
            self.version(),
            self.all("c_header_dirs"),
            self.all("c_libraries"),
            self.all("c_lib_dirs"),
            self.all("c_compile_args"),
            frozenset(self.all("c_no_compile_args")),
        )

    def all(self, method: str) -> tuple[str, ...]:
        """Return the results of a method of the types and the op, each once."""
        found = [text for one in self.objects for text in texts(ask(one, method))]
        return tuple(dict.fromkeys(found))

    def version(self) -> tuple[Hashable, ...] | None:
        op: Any = self.op
        found = [one.c_code_cache_version() for one in self.objects[:-1]]
        found.append(op.c_code_cache_version_apply(self.node))
        return tuple(map(tuple, found)) if all(found) else None

    # --- text ---------------------------------------------------------------------------------

    def text(self) -> str:
        op: Any = self.op
        code = self._code()  # first: whether there is any
        apply_code = op.c_support_code_apply(self.node, NODE_NAME)
        parts = [
            _read_shipped("prelude.h"),
            *[f"#include {_quote(header)}" for header in self.all("c_headers")],
            *[self._title("c_support_code", text) for text in self.all("c_support_code")],
            self._title("c_support_code_apply", apply_code),
            f"#define RW_INPUTS {len(self.node.inputs)}",
            f"#define RW_OUTPUTS {len(self.node.outputs)}",
            f"namespace {{\nstruct rw_node {{\n{self._state()}\n{self._run(code)}\n}};",
            f"{self._init()}\n}}  // namespace",
            _read_shipped("module.h"),
        ]
        return "\n".join([part for part in parts if part]) + "\n"

    def _title(self, method: str, text: str, title: str = "") -> str:
        """Return a text of the op, or of the titled object, so that the compiler's messages count
        its lines.
        """
        if not text.strip():
            return ""
        return f'#line 1 "{title or self.title}.{method}"\n{text}\n#line 1 "generated"'

    def _of(self, place: CVariable, method: str, end: str, **options: Any) -> str:
        """Return a text of a variable's type. end: the name of its label, to jump to on failure."""
        if method == "c_cleanup":
            text = cleanup_of(place.side, place.name, self._sub(end))
        else:
            text = getattr(place.side, method)(place.name, self._sub(end), **options)
        return self._title(method, text, type(getattr(place.side, "type", place.side)).__name__)

    def _sub(self, label: str) -> dict[str, str]:
        found = {"fail": f"{{ rw_failed = 1; goto {label}; }}"}
        return found | {"params": PARAMS_NAME} if self.params else found

    def _code(self) -> str:
        """Return the op's statements, and their cleanup."""
        op: Any = self.op
        sub = self._sub("rw_end_code")
        given = self.node, NODE_NAME, self.inputs, self.outputs, sub
        code = self._title("c_code", op.c_code(*given))
        cleanup = self._title("c_code_cleanup", op.c_code_cleanup(*given))
        if cleanup:  # which may use what the code declares
            return f"{{\n{code}\nrw_end_code: ;\n{cleanup}\n}}"
        return f"{{\n{code}\n}}\nrw_end_code: ;"

    def _run(self, code: str) -> str:
        """Return the member function that computes the outputs."""
        outputs = [place for place in self.places if place.is_output]
        lines = ["PyObject* rw_run(PyObject* const* rw_given, PyObject* const* rw_old) {"]
        lines += ["int rw_failed = 0;", "PyObject* rw_result = NULL;"]
        for place in outputs:
            lines.append(f"PyObject* py_{place.name} = rw_old ? rw_old[{place.at}] : Py_None;")
            lines.append(f"Py_INCREF(py_{place.name});")
        opened = [place for place in self.places if not place.is_literal]
        for place in opened:
            lines += self._open(place)
        lines += ["try {", code, "}", _CATCH]
        lines.append("if (PyErr_Occurred()) rw_failed = 1;")
        for place in reversed(opened):
            lines += self._close(place)
        lines.append(_SAY_WHY)
        for place in outputs:
            valid = place.side.c_is_valid(f"py_{place.name}")
            check = f"rw_check({valid}, &py_{place.name}, rw_filters, {place.at})"
            lines.append(f"if (!rw_failed && {check} != 0) rw_failed = 1;")
        lines.append(_result([f"py_{place.name}" for place in outputs]))
        lines += [f"Py_DECREF(py_{place.name});" for place in outputs]
        return "\n".join([*lines, "return rw_result;", "}"])

    def _open(self, place: CVariable) -> list[str]:
        """Return the beginning of a variable's block."""
        end = f"rw_end_{place.name}"
        lines = ["{", self._of(place, "c_declare", end, **self.unchecked)]
        if not place.is_output:
            lines.append(f"PyObject* py_{place.name} = rw_given[{place.at}];")
        method = "c_extract_out" if place.is_output else "c_extract"
        return [*lines, f"{{\n{self._of(place, method, end, **self.unchecked)}\n}}"]

    def _close(self, place: CVariable) -> list[str]:
        """Return the end of a variable's block."""
        end, lines = f"rw_end_{place.name}", []
        if place.is_output:
            lines.append(f"if (!rw_failed) {{\n{self._of(place, 'c_sync', end)}\n}}")
        return [*lines, f"{end}: ;\n{{\n{self._of(place, 'c_cleanup', end)}\n}}", "}"]

    def _state(self) -> str:
        """Return the state of a node: its parameters and the op's declarations, with their
        initialization and cleanup.
        """
        op: Any = self.op
        params, sub = self.params, self._sub("rw_end_struct")
        lines = ["PyObject* rw_filters;"]
        own = self._title("c_support_code_struct", op.c_support_code_struct(self.node, NODE_NAME))
        begin = self._title("c_init_code_struct", op.c_init_code_struct(self.node, NODE_NAME, sub))
        end = self._title("c_cleanup_code_struct", op.c_cleanup_code_struct(self.node, NODE_NAME))
        extract = cleanup = ""
        if params is not None:
            before = sub | {"fail": "{ rw_failed = 1; goto rw_end_params; }"}
            lines += [f"PyObject* py_{PARAMS_NAME};", params.c_declare(PARAMS_NAME, sub)]
            extract = params.c_extract(PARAMS_NAME, before)
            release = cleanup_of(params, PARAMS_NAME, sub)
            cleanup = f"{{\n{release}\n}}\nPy_XDECREF(py_{PARAMS_NAME});"
            extract = f"py_{PARAMS_NAME} = rw_given;\nPy_INCREF(rw_given);\n{{\n{extract}\n}}"
        lines += [own, "int rw_start(PyObject* rw_given) {", "int rw_failed = 0;", extract]
        lines += [f"{{\n{begin}\n}}", "rw_end_struct: ;", "rw_end_params: ;"]
        lines += [f"if (rw_failed) {{\n{cleanup}\n}}", "return rw_failed ? -1 : 0;", "}"]
        lines += ["void rw_stop() {", "int rw_failed = 0;", f"{{\n{end}\n}}", cleanup, "}"]
        return "\n".join([line for line in lines if line])

    def _init(self) -> str:
        """Return the function that runs when the module is loaded."""
        op: Any = self.op
        snippets = [*self.all("c_init_code"), op.c_init_code_apply(self.node, NODE_NAME)]
        blocks = [f"{{\n{self._title('c_init_code', text)}\n}}" for text in snippets if text]
        return "\n".join(["PyObject* rw_init_code() {", *blocks, "Py_RETURN_NONE;", "}"])


_CATCH = """catch (const std::bad_alloc&) { rw_failed = 1; PyErr_NoMemory(); }
catch (const std::exception& error) {
    rw_failed = 1;
    PyErr_SetString(PyExc_RuntimeError, error.what());
}
catch (...) {
    rw_failed = 1;
    PyErr_SetString(PyExc_RuntimeError, "the C code threw an object that is not an exception");
}"""
_SAY_WHY = """if (rw_failed && !PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "the C code failed without setting an exception");"""


def _result(names: Sequence[str]) -> str:
    """Return statements that store the node's result in `rw_result`."""
    if len(names) == 1:
        return f"if (!rw_failed) rw_result = Py_NewRef({names[0]});"
    packed = ", ".join([str(len(names)), *names])
    return f"if (!rw_failed) rw_result = PyTuple_Pack({packed});"


def _input(i: int, v: Any) -> CVariable:
    """Return an input of a node; a constant number of a simple type is written as a literal."""
    side = c_side(v.type)
    if isinstance(v, Constant) and side.c_is_simple():
        try:
            return CVariable(f"({side.c_literal(v.data)})", side, i, is_literal=True)
        except MethodNotDefined:
            pass
    return CVariable(f"i{i}", side, i)


def _unlike(sides: Iterable[Any]) -> list[Any]:
    """Return the first side of each type. (Sides of the core's types have it as `type`.)"""
    return list({id(getattr(side, "type", side)): side for side in sides}.values())


def ask(one: Any, method: str) -> Any:
    """Call a method that may take the compiler, as in older programs."""
    function: Callable[..., Any] = getattr(one, method)
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount - len(function.__defaults__ or ()) < 2:
        return function()
    return function(None)


def texts(found: Any) -> Sequence[str]:
    """Return one text, or several, as a sequence without empty ones."""
    several = (found,) if isinstance(found, str) else found or ()
    return [str(text) for text in several if text]


def _quote(header: str) -> str:
    return header if header[:1] in ('"', "<") else f'"{header}"'


@cache
def _read_shipped(name: str) -> str:
    return files("rewrite_engine.link.c").joinpath(name).read_text(encoding="utf-8")
