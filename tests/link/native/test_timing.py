"""Profiles of native code: a row for each kernel, and the memory that is really held.

No times are asserted but that they add up: parts of a region are no more than the region.
"""

from __future__ import annotations

import ctypes
import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import ProfileStats
from rewrite_engine.errors import BroadcastError
from rewrite_engine.link.native.runtime import HEADER_INDEX, MAX_STACK_BYTES
from rewrite_engine.link.native.timing import Kernels, NativeKernel
from rewrite_engine.loops import until

PLAIN = rw.Mode("native", optimizer=None)
x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")


def profiled(inputs: Any, outputs: Any, **options: Any) -> Any:
    """A function of the graph as it is written."""
    return rw.function(inputs, outputs, mode=PLAIN, profile=True, **options)


def kernels_of(f: Any) -> list[Kernels]:
    return [graph for graph in f.profile.graphs if isinstance(graph, Kernels)]


def rows_of(f: Any) -> dict[str, int]:
    """How often each kernel ran, by its ops."""
    counts: dict[str, int] = {}
    for (_, node), runs in f.profile.apply_callcount.items():
        if isinstance(node.op, NativeKernel):
            name = str(node.op).removeprefix("Kernel{").removesuffix("}")
            counts[name] = counts.get(name, 0) + runs
    return counts


def summary_of(f: Any) -> str:
    file = io.StringIO()
    f.profile.summary(file=file)
    return file.getvalue()


def add_up(f: Any) -> None:
    """Check that the parts of each region are no more than the region, and that all ops together
    are the nodes.
    """
    p = f.profile
    for graph in kernels_of(f):
        parts = [s for (g, _), s in p.apply_time.items() if g is graph]
        whole = [s for (g, node), s in p.apply_time.items() if node.op is graph.holder]
        assert min(parts) >= 0
        assert sum(parts) <= sum(whole) * 1.001
    around = [s for (g, _), s in p.apply_time.items() if not isinstance(g, Kernels)]
    assert sum(p.op_time().values()) == pytest.approx(sum(around))


def test_each_kernel_has_a_row_with_its_ops_and_lines() -> None:
    wide = pt.exp(x)
    total = wide.sum()
    out = wide / total
    f = profiled([x], out)
    for n in (3, 1000):
        np.testing.assert_allclose(f(np.zeros(n)), np.full(n, 1 / n))
    assert len(f.nodes) == 1
    assert rows_of(f) == {"exp, Sum": 2, "true_div": 2}
    add_up(f)
    lines = {
        str(row["node"]).partition("(")[0]: row["lines"] for row in f.profile.as_dict()["nodes"]
    }
    first = wide.owner.where()[1]
    assert [line for _, line in lines["Kernel{exp, Sum}"]] == [first, first + 1]
    assert [line for _, line in lines["Kernel{true_div}"]] == [first + 2]
    text = summary_of(f)
    assert "1 region of native code, 2 kernels: each kernel has a row" in text
    assert "kernels of several lines" in text
    (only,) = list(f.profile.line_time())
    assert only[1] == first + 2  # of fused kernels no line alone has the time


def row_total(row: Any) -> Any:
    """The last of running sums, in a loop."""
    return rw.scan(lambda a, h: pt.sin(a) + h, row, pt.constant(0.0), return_updates=False)[-1]


HALVES = {
    "fused": ([x, m], pt.exp(x) * (m @ x).sum()),
    "several kernels of one node": ([m], pt.log_softmax(m, axis=1) * 2),
    "joined": ([x, y], pt.exp(pt.concatenate([x, y])).sum()),
    "loop": ([x], rw.scan(lambda v, h: pt.tanh(v + h) * 2, x, pt.constant(0.0),
                          return_updates=False)),
    "nested loops": ([m], rw.scan(row_total, m, return_updates=False)),
    "nodes of the VM between": ([x], pt.sort(x * 2) * 3),
    "gradient": ([m, x], rw.grad(pt.log(1 + pt.exp(m @ x)).sum(), x)),
}  # fmt: skip


@pytest.mark.parametrize("optimizer", [None, "default"])
@pytest.mark.parametrize("name", list(HALVES))
def test_operations_are_those_of_the_vm(name: str, optimizer: str | None) -> None:
    inputs, out = HALVES[name]
    options = {} if optimizer else {"optimizer": None}
    counts, results = [], []
    for linker in ("vm", "native"):
        f = rw.function(inputs, out, mode=rw.Mode(linker, **options), profile=True)
        for n in (30, 30, 7):  # as many as in the first call
            values = [np.ones((n,) * v.type.ndim) for v in inputs]
            result = f(*values)
        results.append(result)
        counts.append(sum(f.profile.apply_flops().values()))
        assert f.profile.as_dict()["flops"] == counts[-1] > 0
        assert "flop a call" in summary_of(f)
    np.testing.assert_allclose(*results)
    assert counts[1] == counts[0]


def test_operations_of_a_kernel_and_of_calls_after_a_reset() -> None:
    f = profiled([x], pt.exp(x).sum())
    f(np.ones(100))
    (one,) = f.profile.apply_flops().values()
    assert one == 100 * 10 + 100  # an exponential counts as ten operations
    f.profile.reset()
    assert not f.profile.apply_flops()
    f(np.ones(7))
    assert list(f.profile.apply_flops().values()) == [7 * 10 + 7]


def test_the_plain_function_has_no_counters() -> None:
    plain = rw.function([x], pt.exp(x).sum(), mode=PLAIN)
    f = profiled([x], pt.exp(x).sum())
    own, timed = [g.nodes[0].op.table for g in (plain, f)]
    assert own[HEADER_INDEX["n_kernels"]] < timed[HEADER_INDEX["n_kernels"]]
    assert plain.nodes[0].op.plan.timing is None
    assert plain([0.0, 0.0]) == f([0.0, 0.0]) == 2.0
    rebuilt = rw.function([x], pt.exp(x).sum(), mode=PLAIN).nodes[0].op.table
    assert len(rebuilt) == len(own)


def test_steps_of_loops_are_counted() -> None:
    out = rw.scan(lambda v, h: pt.tanh(v + h) * 2, x, pt.constant(0.0), return_updates=False)
    f = profiled([x], out)
    plain = rw.function([x], out, mode="vm")
    for n in (1, 7, 100):
        values = np.linspace(-1, 1, n)
        np.testing.assert_allclose(f(values), plain(values))
    rows = rows_of(f)
    (step,) = [runs for name, runs in rows.items() if "tanh" in name]
    assert step == 1 + 7 + 100
    add_up(f)


def test_nested_loops_and_loops_with_a_condition() -> None:
    def row(v: Any) -> Any:
        return rw.scan(lambda a, h: pt.sin(a) + h, v, pt.constant(0.0), return_updates=False)[-1]

    out = rw.scan(row, m, return_updates=False)
    f = profiled([m], out)
    values = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(f(values), np.sin(values).sum(axis=1))
    add_up(f)
    done = rw.scan(lambda h: (h * 2, until(h > 50)), outputs_info=pt.dscalar("s"), n_steps=100,
                   return_updates=False)  # fmt: skip
    s = [v for v in rw.graph.graph_inputs([done]) if v.name == "s"]
    g = profiled(s, done)
    np.testing.assert_array_equal(g(1.0), rw.function(s, done, mode="vm")(1.0))
    assert rows_of(g)["mul, gt, Scan"] == 7
    add_up(g)


def test_loops_with_nodes_of_the_vm_have_rows_inside() -> None:
    out = rw.scan(lambda v: pt.exp(pt.sort(v) * 2), m, return_updates=False)
    f = profiled([m], out)
    f(np.arange(12.0).reshape(3, 4) / 10)
    assert sum(rows_of(f).values()) >= 1
    add_up(f)


def test_calls_that_are_refused_run_on_the_vm_and_are_counted_there() -> None:
    f = profiled([x, y], pt.exp(x) + y)
    with pytest.raises(BroadcastError):
        f([1.0], [1.0, 2.0])
    f([1.0], [2.0])
    assert rows_of(f) == {"exp, add": 1}
    assert f.profile.fct_callcount == 2
    add_up(f)


def test_arrays_in_fortrans_order_are_counted_too() -> None:
    f = profiled([m], pt.exp(m) * 2)
    values = np.ones((200, 100))
    f(values)
    f(np.asfortranarray(values))
    assert sum(rows_of(f).values()) == 2
    assert len({graph.holder for graph in kernels_of(f)}) == 1
    assert "1 region of native code, 2 kernels" in summary_of(f)
    add_up(f)


def test_threads_count_together() -> None:
    f = profiled([x], pt.exp(x).sum())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: f(np.ones(50_000)), range(40)))
    assert rows_of(f) == {"exp, Sum": 40}
    assert all(s >= 0 for s in f.profile.apply_time.values())


def test_reset_copies_and_shared_profiles() -> None:
    f = profiled([x], pt.exp(x).sum())
    f([1.0])
    f.profile.reset()
    assert rows_of(f) == {"exp, Sum": 0}
    f([1.0])
    assert rows_of(f) == {"exp, Sum": 1}
    g = f.copy()
    g([1.0])
    assert rows_of(g) == {"exp, Sum": 1}
    assert rows_of(f) == {"exp, Sum": 1}
    both = ProfileStats(message="both")
    for term in (pt.sin(x), pt.cos(x)):
        rw.function([x], term, mode="native", profile=both)([1.0])
    counts = {str(op): n for op, n in both.op_callcount().items() if isinstance(op, NativeKernel)}
    assert counts == {"Kernel{sin}": 1, "Kernel{cos}": 1}


def arena_after(f: Any, *values: Any) -> int:
    """The bytes of the block that the only region keeps after a call, as the block itself says."""
    call = f.nodes[0].op.function()
    call(*values)
    block = int(call.__wrapped__.__self__[0][HEADER_INDEX["arena"]])
    return ctypes.c_int64.from_address(block).value if block else 0


def test_memory_is_that_of_arguments_results_and_the_block_of_temporaries() -> None:
    wide = pt.exp(m)
    out = wide / wide.sum(axis=0) + wide.sum()
    f = profiled([m], out)
    assert f.profile.memory_peak() is None
    values = np.ones((300, 200))
    result = f(values)
    (graph,) = kernels_of(f)
    assert graph.kept_bytes == arena_after(f, values) >= values.nbytes > MAX_STACK_BYTES
    assert f.profile.memory_peak().bytes == values.nbytes + result.nbytes + graph.kept_bytes
    found = f.profile.as_dict()["memory"]
    assert found["native"] == graph.kept_bytes
    assert json.loads(f.profile.to_json())["memory"] == json.loads(json.dumps(found))
    assert "temporaries of native code, which are kept between calls" in summary_of(f)
    f(np.ones((10, 10)))
    assert graph.kept_bytes == arena_after(f, values)  # it stays
    wide_values = np.ones((600, 200))
    f(wide_values)
    assert graph.kept_bytes == arena_after(f, wide_values) >= 2 * values.nbytes


def test_the_peak_names_formulas_and_lines_of_native_code() -> None:
    first = pt.exp(m) - 1
    last = pt.sin(m) - 2
    f = profiled([m], [first, last])
    f(np.ones((300, 200)))
    (line,) = [row for row in summary_of(f).splitlines() if row.startswith("memory:")]
    when, _, held = line.partition("most of it: ")
    here, lines = "test_timing.py", [v.owner.where()[1] for v in (first, last)]
    assert "exp(m) - 1.0 (and 1 other)" in when
    assert f"({here}:{lines[0]}, … 1 more)" in when
    assert f"exp(m) - 1.0 480 kB ({here}:{lines[0]})" in held
    assert f"sin(m) - 2.0 480 kB ({here}:{lines[1]})" in held
    assert "sub.0" not in line


def test_kernels_of_one_name_are_one_row_of_the_table_by_op() -> None:
    f = profiled([m], m @ (m @ (m @ m)))
    f(np.ones((5, 5)))
    own = [row for row in f.profile.as_dict()["ops"] if row["op"] == "Kernel{dot}"]
    assert [row["runs"] for row in own] == [3]
    by_op, by_node = [
        [row[4] for row in one.rows if row[4].startswith("Kernel{dot}")]
        for one in f.profile.tables(20, 20) if one.what in ("op", "node")
    ]  # fmt: skip
    assert by_op == ["Kernel{dot}"]
    assert len(by_node) == 3
    times = [s for op, s in f.profile.op_time().items() if str(op) == "Kernel{dot}"]
    assert own[0]["seconds"] == pytest.approx(sum(times))


def test_small_temporaries_lie_on_the_stack() -> None:
    wide = pt.exp(x)
    f = profiled([x], wide / wide.sum())
    f(np.ones(10))
    (graph,) = kernels_of(f)
    assert (graph.kept_bytes, arena_after(f, np.ones(10))) == (0, 0)
    assert 80 <= graph.stack_bytes < MAX_STACK_BYTES
    assert f.profile.memory_peak().bytes == 80 + 80 + graph.stack_bytes
    assert "temporaries of native code" not in summary_of(f)


def test_regions_without_temporaries_hold_arguments_and_results() -> None:
    f = profiled([x], pt.exp(x) * 2)
    f(np.ones(10_000))
    assert f.profile.memory_peak().bytes == 160_000


def test_flame_graphs_have_kernels_below_their_region() -> None:
    f = profiled([x], pt.exp(x).sum())
    f([1.0])
    found = f.profile.speedscope()
    names = [frame["name"] for frame in found["shared"]["frames"]]
    assert "Kernel{exp, Sum}" in names
    (kernel,) = [s for s in found["profiles"][0]["samples"] if names[s[-1]] == "Kernel{exp, Sum}"]
    assert names[kernel[1]] == "Native{exp, Sum}"
