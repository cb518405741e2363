"""Random graphs: the VM gives what running every node alone gives, and never touches what is not
its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from rewrite_engine.link.vm import emit, linker
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from tests.link.reference import link, random_graphs, reference, values_for


def check(inputs: list[Any], outputs: list[Any], rewrite: Any = None) -> None:
    """Run twice on two sets of values, comparing everything that can be compared."""
    linked = link(inputs, outputs, rewrite)
    runs = []
    for seed in (0, 1):
        values = values_for(inputs, seed)
        kept = [v.copy() for v in values]
        results = linked.call(*values)
        expected = reference(outputs, dict(zip(inputs, kept, strict=True)))
        runs.append((results, expected))
        for value, before in zip(values, kept, strict=True):
            np.testing.assert_array_equal(value, before)
        for i, result in enumerate(results):
            others = results[:i] + values + list(linked.call.__globals__.values())
            for other in others:
                assert not isinstance(other, np.ndarray) or not np.shares_memory(result, other)
    for results, expected in runs:  # the second call has not changed what the first returned
        for result, want, out in zip(results, expected, outputs, strict=True):
            assert type(result) is np.ndarray
            assert (result.dtype, result.shape) == (want.dtype, want.shape), (out, linked.source)
            rtol = 1e-4 if result.dtype == "float32" else 1e-10
            np.testing.assert_allclose(result, want, rtol=rtol, atol=rtol, err_msg=linked.source)


def in_place(fgraph: Any) -> None:
    """Overwrite whatever can be."""
    InplaceOptimizer().rewrite(fgraph)


@settings(max_examples=150)
@given(random_graphs())
def test_random_graph(graph: Any) -> None:
    check(*graph)


@settings(max_examples=100)
@given(random_graphs())
def test_random_graph_in_place(graph: Any) -> None:
    check(*graph, rewrite=in_place)


@settings(max_examples=100)
@given(random_graphs())
def test_random_graph_with_kept_buffers_and_short_parts(graph: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linker, "LARGE_BYTES", 0)
        patch.setattr(emit, "MAX_CHUNK_NODES", 3)
        check(*graph)
        check(*graph, rewrite=in_place)
