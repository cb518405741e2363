"""One process that measures a table of forms with one library, and prints a JSON line for each.

    python -m benchmarks.forms.run TABLE LIBRARY MODE ROWS [NAME...]

TABLE is `linear`, `special` or `arrays`; LIBRARY is `rewrite_engine` or `pytensor`; MODE is a mode
of this library, or "" for its default; ROWS are numbers with commas. A line says whether the values
are right, and the least seconds of a call as written and by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from benchmarks.forms.exact import exact, namespace, with_digits
from benchmarks.forms.form import Form, Values
from benchmarks.measure import quiet, repetitions, time_calls

MODULES = {"linear": "linear_algebra", "special": "special", "arrays": "arrays"}
EXACT_ROWS = 10  # up to as many rows, forms of linear algebra are compared with exact numbers
DIGITS = 60  # of these exact numbers
MAX_ERROR = 1e-8  # relative, in the norm: conditions are moderate
TURN_SECONDS = 0.15  # a form is timed for as long, at each number of rows, and by hand
MIN_TURNS = 3


def forms(table: str, names: Iterable[str] = ()) -> list[Form]:
    """Return the forms of a table, or those with some names."""
    all_forms: list[Form] = import_module(f"benchmarks.forms.{MODULES[table]}").FORMS
    return [f for f in all_forms if not names or f.name in set(names)]


def compiled(form: Form, library: str, mode: Any, values: Values) -> Callable[..., Any]:
    """Return the function that a library makes of a form. values: arguments of the right types."""
    lib, pt = import_module(library), import_module(f"{library}.tensor")
    variables = symbols(form, pt, values)
    outputs = form.written(pt, *assumed(form, lib, variables))
    outputs = list(outputs) if isinstance(outputs, tuple) else outputs
    f: Callable[..., Any] = lib.function(variables, outputs, mode=mode or None)
    return f


def symbols(form: Form, pt: Any, values: Values) -> list[Any]:
    """Return variables of the types of some values."""
    return [
        pt.tensor(name, dtype=str(v.dtype), shape=v.shape if form.is_static else (None,) * v.ndim)
        for name, v in zip(form.arguments, values, strict=True)
    ]


def assumed(form: Form, lib: Any, variables: list[Any]) -> list[Any]:
    """Return the variables with what the form declares, if the library has declarations."""
    name, _, fact = form.assume.partition(" ")
    if not hasattr(lib, "assume"):
        return variables
    return [lib.assume(v, **{fact: True}) if v.name == name else v for v in variables]


def expected(form: Form, values: Values, is_exact: bool) -> list[Any]:
    """Return the right results: exact ones, or those by hand."""
    if not is_exact:
        return listed(form.by_hand(*values))
    with with_digits(DIGITS):
        results = listed(form.written(namespace, *[exact(v) for v in values]))
        return [np.asarray(r).astype("float64") for r in results]


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple | list) else [results]


def error_of(found: Any, right: Any) -> float:
    """Return the relative error in the norm; inf for another shape, or numbers that are none."""
    found, right = np.asarray(found, "float64"), np.asarray(right, "float64")
    if found.shape != right.shape or not np.isfinite(found).all():
        return np.inf
    scale = float(np.linalg.norm(right)) or 1.0
    return float(np.linalg.norm(found - right)) / scale


def worst(found: Any, right: list[Any]) -> float:
    """Return the largest error of some results."""
    pairs = zip(listed(found), right, strict=True)
    return max([error_of(f, r) for f, r in pairs])


def least_seconds(*functions: Callable[[], Any]) -> list[float]:
    """Return the least seconds of a call of each function, measured in turns."""
    counts = [repetitions(f) for f in functions]
    found: list[list[float]] = [[] for _ in functions]
    with quiet():
        stop = process_time() + TURN_SECONDS * len(functions)
        while len(found[0]) < MIN_TURNS or process_time() < stop:
            for times, f, count in zip(found, functions, counts, strict=True):
                times.append(time_calls(f, count))
    return [min(times) for times in found]


def figures(form: Form, table: str, f: Callable[..., Any], n: int) -> dict[str, Any]:
    """Return what is measured of a form at a number of rows."""
    values = form.values(n)
    is_exact = table == "linear" and n <= EXACT_ROWS
    error = worst(f(*values), expected(form, values, is_exact))
    written, by_hand = least_seconds(lambda: f(*values), lambda: form.by_hand(*values))
    right = error <= MAX_ERROR
    return {"right": right, "error": error, "seconds": written, "by_hand": by_hand}


def measured(
    table: str, library: str, mode: str, rows: list[int], names: Iterable[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each form at each number of rows."""
    for form in forms(table, names):
        f = None
        for n in rows:
            line: dict[str, Any] = {"name": form.name, "rows": n}
            try:
                if f is None or form.is_static:
                    f = compiled(form, library, mode, form.values(n))
                line |= figures(form, table, f, n)
            except Exception as error:  # (a library that lacks something has no figure)
                line |= {"right": False, "failure": f"{type(error).__name__}: {error}"[:200]}
            yield line


if __name__ == "__main__":
    np.seterr(all="ignore")
    wanted_table, library, mode, rows, *names = sys.argv[1:]
    if wanted_table == "special":
        from benchmarks.forms.slopes import measured as measure

        lines = measure(library, mode, names)
    else:
        lines = measured(wanted_table, library, mode, [int(n) for n in rows.split(",")], names)
    for line in lines:
        print(json.dumps(line), flush=True)
