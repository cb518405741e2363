"""Support of nutpie's sampler (`pm.sample(nuts_sampler="nutpie")`) with functions of this library.

nutpie compiles a PyMC model's density with Numba. Here it calls a compiled function for the value
and the gradient, through its own interface for Python functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import numpy as np

from rewrite_engine.compile.shared import shared
from rewrite_engine.errors import InputError

__all__ = ["install_sampler"]

#: where nutpie compiles PyMC's models, and its function that does so with Numba
HOME, WITH_NUMBA = "nutpie.compile_pymc", "_compile_pymc_model_numba"


def compile_calls(
    model: Any,
    pymc_initial_point_fn: Callable[[int], dict[str, np.ndarray]],
    var_names: Iterable[str] | None = None,
    **unused: Any,
) -> Any:
    """Return a compiled model of nutpie that calls functions of this library. unused: options of
    Numba.
    """
    home = sys.modules[HOME]
    ndim, _, density, rest, start, parts, transformed = home._make_functions(
        model,
        mode=None,
        compute_grad=True,
        join_expanded=False,
        pymc_initial_point_fn=pymc_initial_point_fn,
        var_names=var_names,
    )
    names, _, shapes = parts
    dims, coords = home._prepare_dims_and_coords(model, parts, transformed)
    return home.from_pyfunc(
        ndim=ndim,
        make_logp_fn=lambda: value_and_gradient(density),
        make_expand_fn=lambda *seeds: by_names(rest, names, shapes),
        make_initial_point_fn=start,
        expanded_dtypes=[np.dtype("float64")] * len(names),
        expanded_shapes=shapes,
        expanded_names=names,
        shared_data=values_of(density, rest),
        dims=dims,
        coords=coords,
        reparameterized_names=transformed,
    )


def value_and_gradient(function: Any) -> Callable[..., tuple[float, np.ndarray]]:
    """Return the function that nutpie calls at each step, with the values of the data."""
    f = FedFunction(function)

    def call(point: np.ndarray, **data: Any) -> tuple[float, np.ndarray]:
        value, gradient = f(point, data)
        return float(value), np.ascontiguousarray(gradient, "float64")

    return call


def by_names(
    function: Any, names: Sequence[str], shapes: Sequence[tuple[int, ...]]
) -> Callable[..., dict[str, np.ndarray]]:
    """Return the function that nutpie calls for the variables of a draw."""
    f = FedFunction(function)

    def call(point: np.ndarray, **data: Any) -> dict[str, np.ndarray]:
        arrays = [np.ascontiguousarray(x, "float64") for x in f(point, data)]
        return {n: x.reshape(s) for n, x, s in zip(names, arrays, shapes, strict=True)}

    return call


def values_of(*functions: Any) -> dict[str, Any]:
    """Return the values of all data, by name. Raises `InputError` if two have one name."""
    known = {v: v.name for f in functions for v in data_of(f)}
    if len(set(known.values())) < len(known):
        raise InputError(f"nutpie finds data by name; two of {sorted(known.values())} share one")
    return {name: v.get_value() for v, name in known.items()}


def data_of(function: Any) -> list[Any]:
    """Return the shared variables with names that a function reads."""
    return [v for v in function.get_shared() if v.name is not None]


class FedFunction:
    """Copy of a function with shared variables of its own, whose values come with each call."""

    def __init__(self, function: Any) -> None:
        self.own = {v: shared(v.get_value(), v.name) for v in data_of(function)}
        self.function = function.copy(swap=self.own)
        self.last: dict[str, Any] = {}

    def __call__(self, point: np.ndarray, data: dict[str, Any]) -> Any:
        for v in self.own.values():
            if data[v.name] is not self.last.get(v.name):
                v.set_value(data[v.name])
                self.last[v.name] = data[v.name]
        return self.function(point)


class SamplerFinder(MetaPathFinder, Loader):
    """Finder that loads nutpie's module and makes it compile to calls."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of nutpie's module, loaded by this class."""
        found = PathFinder.find_spec(fullname, path) if fullname == HOME else None
        if found is None or found.loader is None:
            return None
        self.loader, found.loader = found.loader, self
        return found

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as nutpie's own loader does."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then replace its function for Numba."""
        self.loader.exec_module(module)
        setattr(module, WITH_NUMBA, compile_calls)


def install_sampler() -> None:
    """Let nutpie, once it is imported, call functions of this library."""
    if HOME in sys.modules:
        setattr(sys.modules[HOME], WITH_NUMBA, compile_calls)
    elif not any(isinstance(f, SamplerFinder) for f in sys.meta_path):
        sys.meta_path.insert(0, SamplerFinder())
