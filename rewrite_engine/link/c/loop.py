"""C functions on numbers (`ScalarOp(c_source=…)`) as inner loops over arrays, like ufuncs have."""

from __future__ import annotations

from rewrite_engine.errors import CompileError
from rewrite_engine.link.c.module import module_of
from rewrite_engine.link.c.source import CSource
from rewrite_engine.scalar.own_code import C_TYPES

_TEXT = """#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#line 1 "{name}.c_source"
{source}
#line 1 "generated"
static void rw_loop(char **args, const int64_t *count, const int64_t *steps, void *data) {{
    for (int64_t i = 0; i < *count; i++)
        *({type}*)(args[{nin}] + i * steps[{nin}]) = {name}({operands});
}}
static struct PyModuleDef rw_module = {{PyModuleDef_HEAD_INIT, "node", NULL, -1, NULL}};
PyMODINIT_FUNC PyInit_node(void) {{
    PyObject *module = PyModule_Create(&rw_module), *address;
    if (module == NULL) return NULL;
    address = PyLong_FromVoidPtr((void*)rw_loop);
    if (address == NULL || PyModule_AddObject(module, "address", address) < 0) {{
        Py_XDECREF(address);
        Py_DECREF(module);
        return NULL;
    }}
    return module;
}}
"""


def loop_text(name: str, source: str, dtype: str, nin: int) -> str:
    """Return the text of a module with the loop of a function from nin numbers to one, all of a
    dtype.
    """
    type_ = C_TYPES[dtype]
    operands = ", ".join([f"*({type_}*)(args[{k}] + i * steps[{k}])" for k in range(nin)])
    return _TEXT.format(name=name, source=source, type=type_, nin=nin, operands=operands)


def loop_address(name: str, text: str) -> int:
    """Return the address of the loop of a text, compiled or found on disk.

    name: the op. Raises `CompileError` for C that the compiler refuses, `NoCompilerError`.
    """
    source = CSource(text, ("loop", 1), (), (), (), (), frozenset())
    try:
        return int(module_of(source).address)
    except CompileError as error:
        better = CompileError(f"{name}: {error}")
        better.source = error.source
        raise better from error
