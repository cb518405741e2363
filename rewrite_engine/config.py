"""Settings of the library. Set them as attributes: `config.floatX = "float32"`.

The environment variable `REWRITE_ENGINE_FLAGS="floatX=float32,on_rule_error=warn"` sets them at
import.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

CHOICES = {
    "floatX": ("float16", "float32", "float64"),
    "on_rule_error": ("raise", "warn", "ignore"),
    "on_budget": ("raise", "stop"),
    "on_unused_input": ("raise", "warn", "ignore"),
    "DebugMode__check_strides": (0, 1, 2),
    "linker": ("auto", "vm", "native", "jax", "py"),
    "random_parameters": ("as given", "aligned"),
    "sparse_methods": ("raise", "warn"),
    "sparse_values": ("array", "matrix"),
}


#: settings of Aesara and PyTensor that say how C code is kept, how much is printed, or how often
#: rules may fire (see `on_budget`): any value is taken, and changes nothing
WITHOUT_EFFECT = frozenset({
    "allow_gc", "blas__check_openmp", "blas__ldflags", "check_input", "check_stack_trace",
    "cmodule__age_thresh_use", "cmodule__compilation_warning", "cmodule__debug",
    "cmodule__preload_cache", "cmodule__remove_gxx_opt", "cmodule__warn_no_version",
    "compile__timeout", "compile__wait", "compiledir_format", "compiler_verbose",
    "compute_test_value", "compute_test_value_opt", "cycle_detection", "exception_verbosity",
    "lib__amdlibm", "nocleanup", "numba__cache", "numba__vectorize_target", "on_shape_error",
    "openmp_elemwise_minsize", "optdb__max_use_ratio", "optdb__position_cutoff",
    "optimizer_verbose_ignore", "print_test_value", "profiling__debugprint",
    "profiling__destination", "profiling__min_memory_size", "profiling__min_peak_memory",
    "profiling__n_apply", "profiling__n_ops", "profiling__output_line_width",
    "profiling__time_thunks", "scan__allow_gc", "scan__allow_output_prealloc",
    "tensor__insert_inplace_optimizer_validate_nb", "traceback__compile_limit",
    "unittests__rseed", "unpickle_function", "vm__lazy",
    "warn__ignore_bug_before", "warn_unused_flags",
})  # fmt: skip
#: values of these settings if a program sets none (names not listed: None)
UNSET: dict[str, Any] = {
    "allow_gc": True, "blas__check_openmp": True, "blas__ldflags": "", "check_input": True,
    "check_stack_trace": "off", "cmodule__age_thresh_use": 2_073_600,
    "cmodule__compilation_warning": False, "cmodule__debug": False, "cmodule__preload_cache": False,
    "cmodule__remove_gxx_opt": False, "cmodule__warn_no_version": False, "compile__timeout": 120,
    "compile__wait": 5, "compiler_verbose": False, "compute_test_value": "off",
    "compute_test_value_opt": "off", "cycle_detection": "regular", "exception_verbosity": "low",
    "lib__amdlibm": False, "nocleanup": False, "numba__cache": True, "on_shape_error": "warn",
    "openmp_elemwise_minsize": 200_000, "optdb__max_use_ratio": 8.0,
    "optdb__position_cutoff": math.inf, "optimizer_verbose_ignore": "", "print_test_value": False,
    "profiling__debugprint": False, "profiling__destination": "stderr",
    "profiling__min_memory_size": 1024, "profiling__min_peak_memory": False,
    "profiling__n_apply": 20, "profiling__n_ops": 20, "profiling__output_line_width": 512,
    "profiling__time_thunks": True, "scan__allow_gc": False, "scan__allow_output_prealloc": True,
    "tensor__insert_inplace_optimizer_validate_nb": -1, "traceback__compile_limit": 0,
    "unittests__rseed": "666", "unpickle_function": True,
}  # fmt: skip
#: settings of other libraries that are fixed here, with their value and what to do instead
FIXED: dict[str, tuple[Any, str]] = {
    "cast_policy": ("custom", "Python numbers take the dtype of the array"),
    "device": ("cpu", "functions run on the CPU"),
    "int_division": ("int", "`/` of integers is a float and `//` an integer"),
    "NanGuardMode__action": ("raise", "errors show the place; catch them"),
    "NanGuardMode__big_is_error": (True, "use NanGuardMode(big_is_error=False)"),
    "NanGuardMode__inf_is_error": (True, "use NanGuardMode(inf_is_error=False)"),
    "NanGuardMode__nan_is_error": (True, "use NanGuardMode(nan_is_error=False)"),
    "numba__fastmath": (False, 'use Mode().including("fastmath")'),
    "optimizer": ("o4", 'set config.mode = "fast_compile", or use Mode(optimizer=…)'),
    "optimizer_excluding": ("", "use Mode().excluding(…)"),
    "optimizer_including": ("", "use Mode().including(…)"),
    "optimizer_requiring": ("", "use Mode().including(…)"),
    "print_global_stats": (False, "call f.profile.summary()"),
    "profile_memory": (False, "a profile always includes memory"),
    "profile_optimizer": (False, "a profile always includes rules"),
    "profiling__ignore_first_call": (False, "call f.profile.reset() after the first call"),
    "tensor__cmp_sloppy": (0, "use verify_grad(…, abs_tol=…, rel_tol=…)"),
    "warn_float64": ("ignore", "dtypes follow from the types of the inputs"),
}
#: equivalent values of fixed settings
ALIKE = {
    "cast_policy": ("custom", "numpy+floatX"),
    "profile_memory": (False, True),
    "profile_optimizer": (False, True),
}
#: settings of other libraries that have another name here
RENAMED = {"base_compiledir": "compiledir", "on_opt_error": "on_rule_error"}


#: settings and their initial values
DEFAULTS = {
    "floatX": "float64",
    "mode": "fast_run",
    "linker": "auto",
    "on_rule_error": "raise",
    "on_budget": "raise",
    "on_unused_input": "raise",
    "fold_limit": 1 << 20,
    "check": False,
    "check_phases": False,
    "check_regions": False,
    "check_graphs": False,
    "compiledir": "",
    "cxx": None,
    "gcc__cxxflags": "",
    "keep_matchers": True,
    "openmp": False,
    "optimizer_verbose": False,
    "profile": False,
    "random_parameters": "as given",
    "sparse_methods": "raise",
    "sparse_values": "array",
    "stable_gradients": True,
    "threads": 0,
    "traceback__limit": 1,
    "DebugMode__patience": 2,
    "DebugMode__check_c": True,
    "DebugMode__check_py": True,
    "DebugMode__check_finite": True,
    "DebugMode__check_strides": 0,
    "DebugMode__warn_input_not_reused": True,
    "DebugMode__check_preallocated_output": "ALL",
    "DebugMode__check_preallocated_output_ndim": 2,
}


#: types of values, checked when a setting is set
KINDS = {
    "fold_limit": int, "check": bool, "gcc__cxxflags": str, "keep_matchers": bool, "openmp": bool,
    "optimizer_verbose": bool, "profile": bool, "check_phases": bool, "check_graphs": bool,
    "check_regions": bool, "traceback__limit": int,
}  # fmt: skip


#: functions to call when a setting is set; {setting: function}
_listeners: dict[str, Callable[[], Any]] = {}


def on_change(name: str, listener: Callable[[], Any]) -> None:
    """Call `listener` each time a setting is set. name: the setting."""
    _listeners[name] = listener


class Config:
    """Settings of the library: attributes to read and set.

    floatX: dtype of `vector()`, `matrix()`, … if you pass none. mode: the default `Mode`. linker:
    linker of modes that name none; "auto" is "native" if llvmlite is installed (on Linux, on x86-64
    and AArch64, where native code is tested), else "vm"; for "fast_compile" it is always "vm".

    on_rule_error: what to do if a rule raises an error. on_budget: what to do if rules use up their
    budget: "raise" an error, or "stop" and keep the graph rewritten so far. on_unused_input: what
    to do if the outputs of a function do not need one of its inputs. fold_limit: largest constant,
    in bytes, that constant folding may make from smaller ones. check: whether functions check the
    values of each call against their assumptions (`assume`). check_phases: whether to check that
    each phase leaves only terms in its normal form (`check/legal.py`). check_regions: whether to
    check the plan of each native region: every read must find the value of the graph
    (`link/native/verify.py`). check_graphs: whether to check the invariants of each graph after
    every change (`graph/integrity.py`); slow.

    cxx: command of the C++ compiler for ops with C code; "" for no compiler, None for the one that
    setuptools finds. gcc__cxxflags: more arguments for the C++ compiler. compiledir: folder for
    compiled code (`rewrite_engine/disk.py`); "" is a folder in the user's cache. openmp: whether
    ops with C code use OpenMP.
    keep_matchers: whether to cache the byte code of matchers on disk (`match/bytecode.py`).
    profile: whether to profile functions that are compiled from now on. random_parameters:
    whether parameters of random draws stay "as given", or are "aligned": all get as many
    dimensions, as in PyTensor. sparse_methods: what to
    do if a method of dense matrices is called on a sparse one: "raise" an error, or "warn" and
    convert to dense. sparse_values: class of
    sparse values made from dense ones: SciPy's "array" or "matrix". optimizer_verbose: whether to
    print each firing of a rule. stable_gradients: whether to rewrite terms into a stable form
    before they are differentiated. threads: how many threads a native loop over many elements may
    use; 0: `OMP_NUM_THREADS`, or all cores of the process. traceback__limit: number of calls in the
    user's code that an error shows for the place where a node was built; more than 1 makes building
    graphs slower.

    DebugMode__patience: number of times a graph is rewritten, to compare the results.
    DebugMode__check_c: whether to run compiled or generated code. DebugMode__check_py: whether to
    run the ops' own Python. DebugMode__check_finite: whether NaNs and infinities are errors.
    DebugMode__check_strides: whether to report different strides (1), or raise an error (2).
    DebugMode__warn_input_not_reused: whether to report an op that is declared in-place and does not
    reuse its input. DebugMode__check_preallocated_output: initial contents of output buffers:
    "ALL", or names of kinds separated by colons. DebugMode__check_preallocated_output_ndim: largest
    number of dimensions for which buffers are tried with all kinds of strides. others: values set
    for names in `WITHOUT_EFFECT`.
    """

    __slots__ = (*(name for name in DEFAULTS if name != "cxx"), "_cxx", "others")

    floatX: str
    linker: str
    mode: str
    on_rule_error: str
    on_budget: str
    on_unused_input: str
    fold_limit: int
    check: bool
    check_phases: bool
    check_regions: bool
    check_graphs: bool
    compiledir: Any
    gcc__cxxflags: str
    keep_matchers: bool
    openmp: bool
    optimizer_verbose: bool
    profile: bool
    stable_gradients: bool
    threads: int
    traceback__limit: int
    DebugMode__patience: int
    DebugMode__check_c: bool
    DebugMode__check_py: bool
    DebugMode__check_finite: bool
    DebugMode__check_strides: int
    DebugMode__warn_input_not_reused: bool
    DebugMode__check_preallocated_output: str
    DebugMode__check_preallocated_output_ndim: int
    others: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "others", {})
        for name, value in DEFAULTS.items():
            setattr(self, name, value)

    @property
    def cxx(self) -> str:
        """The command of the C++ compiler; "" if there is none."""
        return compiler() if self._cxx is None else self._cxx

    @cxx.setter
    def cxx(self, command: str | None) -> None:
        object.__setattr__(self, "_cxx", command)

    _cxx: str | None

    def __repr__(self) -> str:
        return f"Config({', '.join([f'{name}={getattr(self, name)!r}' for name in DEFAULTS])})"

    def __getattr__(self, name: str) -> Any:
        """Return a setting that exists for compatibility with other libraries."""
        if name in RENAMED:
            return getattr(self, RENAMED[name])
        if name in FIXED:
            return FIXED[name][0]
        if name in WITHOUT_EFFECT:
            return self.others.get(name, UNSET.get(name))
        raise AttributeError(_unknown(name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a setting. Raise `ValueError` for an invalid value, `AttributeError` for an unknown
        name.

        Settings of other libraries that have no effect here accept any value.
        """
        name = RENAMED.get(name, name)
        if name in WITHOUT_EFFECT:
            self.others[name] = value
            return
        if name in FIXED:
            fixed, instead = FIXED[name]
            if value not in ALIKE.get(name, (fixed,)):
                raise ValueError(
                    f"config.{name} is always {fixed!r} and cannot be {value!r}: {instead}"
                )
            return
        if name not in DEFAULTS:
            raise AttributeError(_unknown(name))
        choices = CHOICES.get(name)
        if choices and value not in choices:
            known = ", ".join(map(str, choices))
            raise ValueError(f"config.{name} must be one of {known}, not {value!r}")
        kind = KINDS.get(name) or (type(DEFAULTS[name]) if name.startswith("DebugMode__") else None)
        if kind is not None and not isinstance(value, kind):
            raise ValueError(f"config.{name} must be of type {kind.__name__}, not {value!r}")
        object.__setattr__(self, name, value)
        if name in _listeners:
            _listeners[name]()

    def __reduce__(self) -> str:
        """Pickle the one object of a process by its name."""
        return "config"

    @contextmanager
    def change_flags(self, *pairs: tuple[str, Any], **settings: Any) -> Iterator[None]:
        """Change settings for a `with` block, or for the calls of a decorated function.

        pairs: tuples (name, value). settings: values by name.

        >>> with config.change_flags(floatX="float32"):
        ...     config.floatX
        'float32'
        """
        settings = dict(pairs, **settings)
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


@cache
def compiler() -> str:
    """Return the command of the C++ compiler, as setuptools finds it; "" if there is none.

    It is the first of: CXX, the counterpart of CC, the compiler that built Python, and a usual name
    in PATH.
    """
    import shutil  # (few programs ask)
    from sysconfig import get_config_var

    for asked in (os.environ.get("CXX"), _with_cxx(os.environ.get("CC"))):
        if asked and asked.strip():
            return asked
    built = get_config_var("CXX"), _with_cxx(get_config_var("CC"))
    for found in (*built, "g++", "clang++", "c++"):
        if found and found.strip() and shutil.which(found.split()[0]):
            return found
    return ""


def _with_cxx(command: str | None) -> str:
    """Return the C++ compiler that belongs to a C compiler, such as g++ to gcc; "" if unknown."""
    words = (command or "").split()
    for i, word in enumerate(words):  # (the first may be `ccache`)
        found = re.fullmatch(r"(|.*[-/])(clang|gcc|cc)((?:-[\d.]+)?)", word)
        if found:
            cxx = {"clang": "clang++", "gcc": "g++", "cc": "c++"}[found[2]]
            return " ".join([*words[:i], found[1] + cxx + found[3], *words[i + 1 :]])
    return ""


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    known = [*DEFAULTS, *WITHOUT_EFFECT, *FIXED, *RENAMED]
    close = get_close_matches(name, known)
    return f"config has no setting {name!r}" + (f"; did you mean {close[0]}?" if close else "")


def _truth(text: str) -> bool:
    if text.casefold() not in ("true", "false", "1", "0"):
        raise ValueError(f"REWRITE_ENGINE_FLAGS: {text!r} must be True, False, 1 or 0")
    return text.casefold() in ("true", "1")


def _from_environment() -> Config:
    result = Config()
    for flag in filter(None, os.environ.get("REWRITE_ENGINE_FLAGS", "").split(",")):
        name, _, value = flag.partition("=")
        if name.strip() not in DEFAULTS:
            raise ValueError(
                f"REWRITE_ENGINE_FLAGS: no setting {name!r}; the settings are {sorted(DEFAULTS)}"
            )
        old = getattr(result, name.strip())
        read = _truth if isinstance(old, bool) else type(old)
        setattr(result, name.strip(), read(value.strip()))
    return result


config = _from_environment()
