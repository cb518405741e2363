"""What looks into loops: printing, traces, pickles, copies, batches."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import BatchError, ShapeError
from rewrite_engine.explain import explain
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import HasInnerGraph, Structure, inner_ops
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.loops import Scan, scan, until
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.tensor.blockwise import vectorize_graph

RNG = np.random.default_rng(7)


def sums(name: str | None = None) -> tuple[list[Any], Any]:
    """A loop that is not rewritten away."""
    x, s = pt.dvector("x"), pt.dscalar("s")
    return [x, s], scan(lambda v, t: pt.log(1 + pt.exp(t)) + v, x, s, name=name)[0]


def nested() -> tuple[list[Any], Any]:
    m, s = pt.dmatrix("m"), pt.dscalar("s")
    inner = lambda r, t: scan(lambda v, u: pt.sin(u) * v, r, t, name="row")[0][-1]
    return [m, s], scan(inner, m, s, name="rows")[0]


# --- printing ---------------------------------------------------------------------------------


def test_trees_show_the_steps() -> None:
    text = io.StringIO()
    rw.dprint(nested()[1], file=text)
    lines = text.getvalue().splitlines()
    assert [line.split(" [id")[0] for line in lines if line[:3] == "row"] == [
        "rows.1",
        "rows",
        "row",
    ]
    assert " ← mul" in text.getvalue()


def test_trees_tell_what_is_what() -> None:
    x, s = pt.dvector("x"), pt.dscalar("s")
    out, _ = scan(lambda v, t, s: pt.sin(t) * v + s, x, s, non_sequences=s)
    lines = out.dprint(print_op_info=True, file="str").splitlines()
    told = [line.partition(" (")[2] for line in lines if " (" in line]
    assert told == [
        "result 0 of all steps)",
        "steps)",
        "sequence 0)",
        "first value 0, the same in all steps)",
        "first value 0, the same in all steps)",
        "value 0 of the step before)",
        "element of sequence 0)",
    ]
    assert " (" not in out.dprint(file="str")


def test_formulas_show_the_steps() -> None:
    lines = rw.pp(nested()[1]).splitlines()
    assert lines[0] == "row(m[t][t], s[t-1][t-1]) = a, a where a = sin(s[t-1][t-1]) * m[t][t]"
    assert lines[-1] == "rows(m.shape[0], m, s)[1]"


def test_traces_tell_which_loop() -> None:
    _, out = nested()
    graph, trace = FunctionGraph(None, [out]), Trace()
    result = optimizer().rewrite(graph, trace)
    names = [leaf.name for leaf in result.leaves()]
    assert "canonicalize in row" in names
    assert "canonicalize in rows" in names
    _, out = sums("total")
    graph, trace = FunctionGraph(None, [out]), Trace()
    optimizer().rewrite(graph, trace)
    told = {(f.rule_name, f.phase) for f in trace}
    assert ("exp_log/log1p_of_exp", "stabilize in total") in told


def test_explanations_name_the_loop() -> None:
    inputs, out = sums("total")
    report = str(explain([out, out[-1]], inputs, [np.ones(3), 0.5]))
    assert "total" in report
    assert "log1p_of_exp" in report
    assert "last_of_trace" in report


# --- copies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [sums, nested])
def test_pickles(build: Any) -> None:
    inputs, out = build()
    assert pickle.loads(pickle.dumps(out)).owner.op is out.owner.op
    assert copy.deepcopy(out.owner.op) is out.owner.op
    f = rw.function(inputs, [out, rw.grad(out.sum(), inputs[0])])
    g = pickle.loads(pickle.dumps(f))
    values = [RNG.normal(size=(3, 2)) if inputs[0].type.ndim == 2 else RNG.normal(size=3), 0.3]
    for a, b in zip(f(*values), g(*values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_replacing_what_goes_in() -> None:
    (x, s), out = sums()
    y = pt.dvector("y")
    new = clone_replace(out, {x: y * 2})
    assert new.owner.op is out.owner.op
    np.testing.assert_array_equal(
        new.eval({y: [1.0, 2.0], s: 0.1}), out.eval({x: [2.0, 4.0], s: 0.1})
    )
    w = pt.dscalar("w")
    scaled, _ = scan(lambda v, t: pt.sin(t) * w + v, x, s)  # w is found by itself
    new = clone_replace(scaled, {w: pt.exp(y[0])})
    np.testing.assert_allclose(
        new.eval({x: [1.0, 2.0], s: 0.1, y: [0.5]}),
        scaled.eval({x: [1.0, 2.0], s: 0.1, w: np.exp(0.5)}),
    )


def test_equal_loops_inside_are_one() -> None:
    m = pt.dmatrix("m")
    row = lambda r: scan(lambda v, u: pt.sin(u) + v, r, 0.0)[0]
    out, _ = scan(lambda r, t: row(r)[-1] + row(r).sum() + pt.sin(t), m, 0.0)
    f = rw.function([m], out, mode=rw.Mode().excluding("loops"))
    (node,) = [n for n in f.fgraph.apply_nodes if isinstance(n.op, Scan)]
    assert sum(isinstance(n.op, Scan) for n in node.op.fgraph.apply_nodes) == 1


# --- batches ----------------------------------------------------------------------------------


def along(
    outputs: list[Any], inputs: list[Any], batched: list[Any], values: list[Any]
) -> list[Any]:
    """Outputs along a batch, compared with those of one after the other."""
    wide = {v: v.type.clone(shape=(None, *v.type.shape))(v.name) for v in batched}
    found = vectorize_graph(outputs, wide)
    got = rw.function([wide.get(v, v) for v in inputs], found, on_unused_input="ignore")(*values)
    f = rw.function(inputs, outputs, on_unused_input="ignore")
    n = next(len(a) for v, a in zip(inputs, values, strict=True) if v in wide)
    each = [f(*[a[b] if v in wide else a for v, a in zip(inputs, values, strict=True)])
            for b in range(n)]  # fmt: skip
    for j, value in enumerate(got):
        wanted = np.array([one[j] for one in each])
        np.testing.assert_allclose(np.broadcast_to(value, wanted.shape), wanted, rtol=1e-10)
    return found


def test_loops_along_a_batch() -> None:
    x, s, m, h = pt.dvector("x"), pt.dscalar("s"), pt.dmatrix("m"), pt.dvector("h")
    out, _ = scan(lambda v, t: pt.sin(t) + v, x, s)
    for batched in ([x], [s], [x, s]):
        shapes = [(3, 4) if x in batched else (4,), (3,) if s in batched else ()]
        (found,) = along([out], [x, s], batched, [RNG.normal(size=k) for k in shapes])
        assert found.type.ndim == 2
    outputs, _ = scan(lambda v, t, c: [pt.tanh(t * v.sum()) + v, pt.sin(c) + 1], m, [h, s])
    values = [RNG.normal(size=(3, 4, 2)), RNG.normal(size=2), np.array(0.3)]
    found = along(outputs, [m, h, s], [m], values)
    assert [v.type.ndim for v in found] == [3, 2]  # (the other is the same along all of it)
    outputs, _ = scan(lambda v, t, c: [v, pt.sin(c) + t.sum()], m, [h, s])
    along(outputs, [m, h, s], [h], [RNG.normal(size=(4, 2)), RNG.normal(size=(3, 2)), 0.3])
    last = outputs[1][-1]
    along([last, rw.grad(last, m)], [m, h, s], [m, h],
          [RNG.normal(size=(3, 4, 2)), RNG.normal(size=(3, 2)), 0.3])  # fmt: skip


def test_loops_in_loops_along_a_batch() -> None:
    inputs, out = nested()
    along([out], inputs, [inputs[0]], [RNG.normal(size=(2, 3, 4)), 0.5])


def test_loops_that_end_early_along_a_batch() -> None:
    """The condition is the same for all of the batch."""
    x, s = pt.dvector("x"), pt.dscalar("s")
    (out, done), _ = scan(
        lambda v, t, k: ([pt.sin(t) + v, k + 1], until(v > 2)), x, [s, pt.constant(0)]
    )
    at = [np.array([0.5, 1.0, 3.0, 4.0]), RNG.normal(size=3)]
    found = along([out, out[-1], done, rw.grad(out.sum(), s)], [x, s], [s], at)
    assert [v.type.ndim for v in found] == [2, 1, 2, 1]


def test_loops_of_other_lengths_along_a_batch() -> None:
    """They run one by one: what is read of them may have any length, results have one."""
    x, s, n = pt.dvector("x"), pt.dscalar("s"), pt.lscalar("n")
    powers, _ = scan(lambda t: t * s, outputs_info=1.0, n_steps=n)
    outputs = [powers[-1], powers.sum(), rw.grad(powers.sum(), s)]
    many = np.array([3, 1, 6])
    along(outputs, [s, n], [n], [0.7, many])
    along(outputs, [s, n], [s, n], [np.array([0.7, 1.2, -1.0]), many])
    root = lambda t: ((t + s / t) / 2, until(abs(t - s / t) < 1e-9))
    found, _ = scan(root, outputs_info=pt.constant(1.0), n_steps=50)
    outputs = [found[-1], found.shape[0], rw.grad(found[-1], s)]
    along(outputs, [s], [s], [np.array([2.0, 1e6, 0.3])])
    rows, _ = scan(lambda v: root(v)[0] + found[-1] * v, x)
    along([rows], [x, s], [x, s], [RNG.uniform(1, 2, size=(2, 4)), np.array([2.0, 1e6])])
    with pytest.raises(
        ShapeError, match=r"one shape in all steps, but has \(3,\) in the first and \(1,\)"
    ):
        along([powers], [s, n], [n], [0.7, many])
    along([powers], [s, n], [n], [0.7, np.array([3, 3])])


def test_loops_of_other_lengths_in_loops_along_a_batch() -> None:
    m, s = pt.dmatrix("m"), pt.dscalar("s")

    def row(r: Any, t: Any) -> Any:
        values, _ = scan(lambda v, u: (u + v * s, until(u > 1)), r, t)
        return values.sum()

    out, _ = scan(row, m, s)
    values = [RNG.uniform(size=(3, 4, 5)), np.array([0.1, 0.5, 2.0])]
    along([out, rw.grad(out.sum(), m)], [m, s], [m, s], values)
    wide = {s: pt.dmatrix("wide")}
    got = rw.function([m, wide[s]], vectorize_graph(out[-1], wide))(values[0][0], [values[1]] * 2)
    f = rw.function([m, s], out[-1])
    np.testing.assert_allclose(got, [[f(values[0][0], v) for v in values[1]]] * 2)


def test_loops_that_draw_along_a_batch() -> None:
    """All of the batch draws from one state, step by step."""
    s, many = pt.dscalar("s"), pt.dvector("many")
    rng = rw.shared(np.random.default_rng(3))

    def step(t: Any) -> Any:
        after, draw = pt.random.normal(t * s, 1.0, rng=rng).owner.outputs
        return draw, {rng: after}

    out, updates = scan(step, outputs_info=1.0, n_steps=4)
    found, after = vectorize_graph([out, updates[rng]], {s: many})
    f = rw.function([many], found, updates={rng: after})
    own, value, scale = np.random.default_rng(3), np.ones(2), np.array([0.5, 2.0])
    for _ in range(2):
        value, wanted = np.ones(2), []
        for _ in range(4):
            value = own.normal(value * scale, 1.0)
            wanted.append(value)
        np.testing.assert_allclose(f(scale), np.transpose(wanted))


def test_what_no_batch_can_have() -> None:
    """What is drawn is not drawn anew in a loop that runs one by one."""
    n, rng = pt.lscalar("n"), rw.shared(np.random.default_rng(0))
    state, first = pt.random.normal(rng=rng).owner.outputs
    out, _ = scan(lambda t: t + first, outputs_info=1.0, n_steps=n)
    for outputs in (out, [out[-1], state]):
        with pytest.raises(BatchError, match="the number of steps, and the condition that ends"):
            vectorize_graph(outputs, {n: pt.lvector("many")})


@pytest.mark.on_vm
def test_programs_without_loops_import_nothing_for_them() -> None:
    code = (
        "import sys, rewrite_engine as rw, rewrite_engine.tensor as pt; x = pt.dvector('x'); "
        "rw.function([x], pt.exp(x))([1.0]); "
        "print([m for m in sys.modules if '.loops' in m or 'looping' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['rewrite_engine.rules.loops']"


def kept(v: Any) -> float:
    """A number that is neither folded nor depends on anything."""
    return pt.exp(pt.sin(pt.arange(300_000) * 1e-6)).sum() * v


@pytest.mark.parametrize("mode", ["vm", "FAST_COMPILE"])
@pytest.mark.parametrize("nested", [False, True])
def test_the_graph_of_a_loop_that_is_unrolled_stays_what_it_was(nested: bool, mode: str) -> None:
    x = pt.dvector("x")

    def once(step: Any, start: Any) -> Any:
        return scan(step, outputs_info=[start], n_steps=1)[0][-1]

    out = once(lambda s: kept(once(kept, s) if nested else s), x)
    ops = inner_ops([node.op for node in toposort([out]) if isinstance(node.op, HasInnerGraph)])
    expected = (np.exp(np.sin(np.arange(300_000) * 1e-6)).sum()) ** (1 + nested)
    for _ in range(2):
        np.testing.assert_allclose(rw.function([x], out, mode=mode)([1.0]), [expected])
        for op in ops:
            op.fgraph.check_integrity()
            assert Structure(op.fgraph) == op.structure
