"""Graphs by JAX beside the reference: families of ops, random graphs, branches, loops, draws,
updates, errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import UntraceableError
from rewrite_engine.link.jax import JaxLinker
from tests.link.reference import link, random_graphs, reference, values_for
from tests.link.test_families import CASES, VALUES, roots

JAX = rw.Mode(linker="jax")


def same(got: Any, want: Any, rtol: float = 1e-11) -> None:
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    rtol = 1e-4 if want.dtype in ("float32", "complex64") else rtol
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


#: what has a length that depends on values
DYNAMIC = {"mask", "set mask", "nonzero"}


@pytest.mark.parametrize("name", CASES)
def test_families(name: str) -> None:
    out = CASES[name]()
    inputs = roots(out)
    values = [VALUES[v] for v in inputs]
    if name in DYNAMIC:
        with pytest.raises(UntraceableError):
            link(inputs, out, linker="jax").call(*values)
        return
    (want,) = reference([out], dict(zip(inputs, values, strict=True)))
    same(link(inputs, out, linker="jax").call(*values), want)


@settings(max_examples=60)
@given(random_graphs())
def test_random_graphs(graph: Any) -> None:
    inputs, outputs = graph
    linked = link(inputs, outputs, linker="jax")
    for seed in (0, 1):
        values = values_for(inputs, seed)
        kept = [v.copy() for v in values]
        found = linked.call(*values)
        for got, want in zip(found, reference(outputs, dict(zip(inputs, kept))), strict=True):
            same(got, want, 1e-10)
        for value, before in zip(values, kept, strict=True):
            np.testing.assert_array_equal(value, before)
