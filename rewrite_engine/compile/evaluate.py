"""`Variable.eval`: compute a variable immediately. The compiled function is cached for the lifetime
of the variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewrite_engine.compile.callable import Function
from rewrite_engine.compile.function import function
from rewrite_engine.compile.mode import get_mode
from rewrite_engine.config import config
from rewrite_engine.errors import ForeignObjectError, InputError, describe
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import ancestors, explicit_graph_inputs
from rewrite_engine.graph.weak import WeakKeys

FOR_ONE_CALL = "vm"  # the usual mode, without machine code
_compiled: WeakKeys[Variable, dict[Any, Function]] = WeakKeys()


def evaluate(variable: Variable, given: Mapping[Variable | str, Any], **options: Any) -> Any:
    """Return the value of a variable, given values for the variables (or their names) it depends
    on.

    options: the options of `function`. Raises `MissingInputError`, and `InputError` for a name that
    fits no variable or several.
    """
    if not isinstance(given, Mapping):
        raise ForeignObjectError(
            f"eval takes a dict {{variable or name: value}}, not {describe(given)}"
        )
    usual = config.linker == "auto" and get_mode() == get_mode("fast_run")
    if usual and "mode" not in options:
        options["mode"] = FOR_ONE_CALL
    values = {_find(variable, key): value for key, value in given.items()}
    key = (tuple(values), tuple(sorted(options.items(), key=repr)))
    functions = _compiled.setdefault(variable, {})
    try:
        f = functions.get(key)
    except TypeError:  # an option that cannot be a key
        return function(list(values), variable, **options)(*values.values())
    if f is None:
        f = functions[key] = function(list(values), variable, **options)
        f.written = None  # it would keep the variable alive, and that the function
    result = f(*values.values())
    f.free()  # what is evaluated once should not keep large buffers
    return result


def _find(variable: Variable, key: Variable | str) -> Variable:
    """Return the variable with a name: an input of the graph, or a computed one."""
    if not isinstance(key, str):
        return key
    roots = [v for v in explicit_graph_inputs([variable]) if v.name == key]
    found = roots or [v for v in ancestors([variable]) if v.owner and v.name == key]
    if len(found) != 1:
        what = "no variable" if not found else "several variables"
        raise InputError(f"eval: {what} called {key!r} in the graph of {variable!r}")
    return found[0]
