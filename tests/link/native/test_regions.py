"""Which nodes make a region, and what runs between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt
from rewrite_engine.link import get_linker
from rewrite_engine.link.native import partition
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.tensor import ifelse

x, y = pt.dvectors("x", "y")
m = pt.dmatrix("m")
n = pt.lscalar("n")


def native(inputs: Any, outputs: Any, **options: Any) -> Any:
    return rw.function(inputs, outputs, mode="native", **options)


def kinds(f: Any) -> list[str]:
    return ["native" if isinstance(node.op, NativeRegion) else str(node.op) for node in f.nodes]


def test_a_whole_graph_is_one_region() -> None:
    f = native([x, y], pt.exp(x * 2 + y).sum() + y[0])
    assert kinds(f) == ["native"]
    assert "native(" in f.source
    assert f([0.0, 1.0], [1.0, 2.0]).item() == np.exp(1.0) + np.exp(4.0) + 1.0


def test_one_op_without_native_code_runs_on_the_vm() -> None:
    f = native([x], pt.tanh(pt.sort(pt.exp(x) + 1) * 2).sum())
    assert kinds(f)[0] == kinds(f)[-1] == "native"
    assert len(kinds(f)) == 3
    np.testing.assert_allclose(f([1.0, -1.0]), np.tanh(2 * np.exp([1.0, -1.0]) + 2).sum())


def test_nodes_that_do_not_need_the_vm_are_in_two_regions() -> None:
    """Not a region for each way around, but one before and one after."""
    parts = [pt.exp(x * k) for k in range(2, 7)]
    fallback = pt.sort(parts[0])
    f = native([x], sum(parts[1:], fallback))
    assert kinds(f).count("native") == 2
    given = np.array([0.3, -0.2])
    want = np.sort(np.exp(2 * given)) + sum(np.exp(k * given) for k in range(3, 7))
    np.testing.assert_allclose(f(given), want)


def test_views_alone_are_left_to_the_vm() -> None:
    f = native([m], m.T[1:])
    assert "native" not in kinds(f)
    assert not np.shares_memory(f(given := np.ones((2, 3))), given)


def test_a_length_that_is_computed_begins_another_region() -> None:
    f = native([x, n], pt.zeros((n * 2,)) + x.sum())
    assert kinds(f) == ["native", "native"]
    assert f([1.0, 2.0], 2).tolist() == [3.0] * 4
    with pytest.raises(rw.errors.ShapeError):
        f([1.0], -1)


def test_other_dtypes_run_on_the_vm() -> None:
    z = pt.zvector("z")
    f = native([x, z], pt.exp(x).sum() * pt.exp(z))
    want = rw.function([x, z], pt.exp(x).sum() * pt.exp(z), mode="vm")([1.0], [2.0j])
    np.testing.assert_allclose(f([1.0], [2.0j]), want)
    assert {"native", "exp"} <= set(kinds(f))


def test_what_runs_where_is_told() -> None:
    f = native([x], [pt.exp(x).sum() + pt.sort(x)[1], pt.sort(pt.exp(x))])
    assert get_linker("native").told(f.nodes) == (
        "machine code, 2 regions of 4 nodes; on the VM 2 × SortOp{axis=0} (it has no native code)"
    )
    f = native([x], x + 1)
    assert get_linker("native").told(f.nodes) == "machine code, 1 region of 1 node"
    assert get_linker("vm").told(f.nodes) == ""
    report = rw.explain(pt.exp(x).sum(), mode="native")
    assert "runs      machine code, 1 region of 2 nodes" in report.text()


def test_a_branch_that_is_not_taken_does_not_run() -> None:
    c = pt.dscalar("c")
    f = native([c, x, y], pt.ifelse(c > 0, pt.exp(x[5]) + 1, y.sum() * 2))
    assert f(-1.0, [1.0], [1.0, 2.0]) == 6.0  # x[5] is not there
    assert f(1.0, np.zeros(6), [1.0]) == 2.0
    with pytest.raises(rw.errors.AxisError):
        f(1.0, [1.0], [1.0])


def test_ops_that_overwrite() -> None:
    """Readers come first, though regions are larger than nodes."""
    e = pt.sort(x)
    step = pt.IncSubtensor((0,), inplace=True)(e, 10.0)
    f = native([x], [(e * 2).sum(), step * 1.0], accept_inplace=True)
    for _ in range(2):
        assert [np.asarray(v).tolist() for v in f([2.0, 0.0, 1.0])] == [6.0, [10.0, 1.0, 2.0]]


def test_loops_run_their_steps_natively() -> None:
    k = pt.dvector("k")
    outputs = rw.scan(lambda a, s: pt.tanh(s * a) + 1, sequences=[x], outputs_info=[k])
    out = outputs[0] if isinstance(outputs, (list, tuple)) else outputs
    given = np.array([0.5, -0.25, 2.0]), np.array([1.0, 2.0])
    want = rw.function([x, k], out)(*given)
    np.testing.assert_allclose(native([x, k], out)(*given), want, rtol=1e-14)


def test_many_nodes_are_compiled_in_time_that_grows_with_them() -> None:
    def build(count: int) -> Any:
        out = x
        for k in range(count):
            out = pt.tanh(out * 1.5 + y) if k % 3 else out - out.sum()
        return native([x, y], out)

    f = build(600)
    assert kinds(f) == ["native"]
    (region,) = f.nodes
    texts = {id(k) for k in region.op.plan.statements}
    assert len(texts) < 600
    assert np.isfinite(f(np.ones(3), np.ones(3))).all()


def test_a_part_of_an_axis_of_length_one() -> None:
    one = pt.tensor(dtype="float64", shape=(1,))
    outputs = [pt.exp(one)[2:].inc(1.0), pt.exp(one)[:1].set(5.0), pt.exp(one)[:0]]
    f = native([one], outputs)
    assert [np.asarray(v).tolist() for v in f([0.0])] == [[1.0], [5.0], []]


def test_softmax_keeps_digits() -> None:
    """As the VM does: nothing is subtracted where nothing overflows."""
    given = np.array([-0.0005, 350.28, 1e-9])
    f = native([x], [pt.special.softmax(x), pt.special.log_softmax(x)])
    want = rw.function([x], [pt.special.softmax(x), pt.special.log_softmax(x)])
    for values in (given, given * 3, -given, given * 1e3, np.array([np.inf, 1.0, 2.0])):
        for a, b in zip(f(values), want(values), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-15)


def test_pieces_are_views_in_a_region() -> None:
    parts = pt.split(x, [2, n, 1], 3)
    f = native([x, n], [pt.exp(parts[0]).sum() + parts[2], parts[1] * 2, parts[1]])
    assert kinds(f) == ["native"]
    found = f([0.0, 0.0, 3.0, 4.0, 5.0], 2)
    assert [np.asarray(v).tolist() for v in found] == [[7.0], [6.0, 8.0], [3.0, 4.0]]
    for count in (1, -2):
        with pytest.raises(rw.errors.ShapeError):
            f([0.0, 0.0, 3.0, 4.0, 5.0], count)


def test_large_graphs_are_several_regions(monkeypatch: Any) -> None:
    monkeypatch.setattr(partition, "MAX_REGION_NODES", 7)
    out = x
    for k in range(20):
        out = pt.sin(out) + y * k
    f = native([x, y], out)
    assert len(kinds(f)) > 3
    assert set(kinds(f)) == {"native"}
    given = [np.array([0.1, -2.0]), np.array([3.0, 0.5])]
    np.testing.assert_allclose(f(*given), rw.function([x, y], out)(*given), rtol=1e-12)


def test_values_that_are_no_arrays_are_left_to_the_vm() -> None:
    s = sparse.csr_matrix("s")
    f = native([s, x], [s.shape[0] + 1, pt.exp(x)])
    given = csr_matrix(np.eye(3))
    assert f(given, [0.0])[0] == 4
    assert "native" in kinds(f)


def test_several_arrays_of_indices_are_left_to_the_vm() -> None:
    k = pt.lvector("k")
    f = native([m, k], [pt.exp(m)[k, k], pt.exp(m)[k, k].inc(1.0)])
    given = np.arange(9.0).reshape(3, 3)
    assert f(given, [0, 2])[0].tolist() == np.exp(given)[[0, 2], [0, 2]].tolist()
    want = np.exp(given)
    np.add.at(want, ([0, 0], [0, 0]), 1.0)
    np.testing.assert_allclose(f(given, [0, 0])[1], want)


def test_what_is_filled_is_stretched_as_its_shape_says() -> None:
    filled = pt.alloc(m, 2, 1, 3)
    other = pt.dmatrix()
    f = native([m, other], pt.maximum(other - filled, filled))
    a, b = np.array([[0.5, -1.0, 2.0]]), np.arange(6.0).reshape(2, 3)
    wide = np.broadcast_to(a, (2, 1, 3))
    np.testing.assert_array_equal(f(a, b), np.maximum(b - wide, wide))


def test_views_are_made_where_they_are_read() -> None:
    """A region copies its results, so each region that reads a view makes it."""
    part = m.T[1:]
    f = native([m], [pt.sin(pt.sort(pt.exp(part), axis=0)) * part, pt.cos(part).sum()])
    given = np.random.default_rng(0).normal(size=(4, 3))
    turned = given.T[1:]
    np.testing.assert_allclose(f(given)[0], np.sin(np.sort(np.exp(turned), axis=0)) * turned)
    assert kinds(f).count("native") == len(kinds(f)) - 1 == 2
    first = next(node for node in f.nodes if isinstance(node.op, NativeRegion))
    assert sorted(v.type.ndim for v in first.outputs) == [0, 2]


def test_views_of_views_are_made_in_order() -> None:
    """Also in a part of the graph that the VM runs because it holds views alone."""
    turned = m.T
    row = turned[0]
    i = pt.argsort(pt.exp(turned) + row, axis=0)[0, 0]
    f = native([m], [pt.sort(row[i:]), pt.sort(turned[i:], axis=0)])
    t = np.random.default_rng(0).normal(size=(4, 3)).T
    place = np.argsort(np.exp(t) + t[0], axis=0)[0, 0]
    for found, want in zip(f(t.T), (t[0, place:], t[place:]), strict=True):
        np.testing.assert_array_equal(found, np.sort(want, axis=0))


def test_a_view_of_two_regions_is_given_by_the_first() -> None:
    """So that the second one still runs only where its branch is taken."""
    rest = x[1:]
    slow = pt.cumsum(pt.exp(x))[1:] + rest
    f = native([x], ifelse(pt.isfinite(x.sum()), rest, slow))
    given = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(f(given), given[1:])
    lines = [line for line in f.source.splitlines() if "= native" in line]
    depths = [len(line) - len(line.lstrip()) for line in lines]
    assert len(depths) > 1
    assert depths[0] < min(depths[1:])
    given[0] = np.inf
    np.testing.assert_array_equal(f(given), np.cumsum(np.exp(given))[1:] + given[1:])
