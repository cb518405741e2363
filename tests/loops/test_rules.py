"""Rules for loops: what becomes of a loop, and that values and errors stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import RewriteEngineError, ShapeError
from rewrite_engine.loops import Scan, scan, until

RNG = np.random.default_rng(3)
ZERO = pt.constant(0.0)
PLAIN = rw.Mode().excluding("loops")


def loops(f: Any) -> list[Any]:
    """The nodes of a function that are loops."""
    return [n for n in f.fgraph.toposort() if isinstance(n.op, Scan)]


def compiled(outputs: Any, inputs: list[Any]) -> tuple[Any, Any]:
    """A function with the rules, and one without."""
    options: Any = {"on_unused_input": "ignore"}
    return rw.function(inputs, outputs, **options), rw.function(
        inputs, outputs, mode=PLAIN, **options
    )


def agree(outputs: Any, given: dict[Any, Any], rtol: float = 1e-12) -> Any:
    """The function with the rules, once its values are those without."""
    f, g = compiled(outputs, list(given))
    found, wanted = f(*given.values()), g(*given.values())
    if not isinstance(found, list):
        found, wanted = [found], [wanted]
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)
    return f


def fail_alike(outputs: Any, given: dict[Any, Any], kind: type[Exception]) -> None:
    """Both functions raise an error."""
    for f in compiled(outputs, list(given)):
        with pytest.raises(kind):
            f(*given.values())


# --- what nobody needs ------------------------------------------------------------------------


def test_results_that_nobody_reads() -> None:
    x = pt.dvector("x")
    (a, b), _ = scan(lambda v, t: [pt.sin(t) + v, v * t], x, [ZERO, None])
    f = agree(a, {x: RNG.normal(size=4)})
    (node,) = loops(f)
    assert len(node.op.inner_outputs) == 2
    f = agree(b, {x: RNG.normal(size=4)})
    assert len(loops(f)[0].op.inner_outputs) == 2


def test_carried_values_that_nobody_reads() -> None:
    x = pt.dvector("x")
    (a, b), _ = scan(lambda v, t, u: [pt.sin(t) + v, u * t], x, [ZERO, ZERO])
    (node,) = loops(agree(a, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 3
    (node,) = loops(agree(b, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 4  # it is made of the other


def test_an_error_in_what_nobody_reads_stays() -> None:
    x, v, w = pt.dvector("x"), pt.dvector("v"), pt.dvector("w")
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + e, v * t + w], x, [ZERO, None])
    given = {x: np.ones(2), v: np.ones(3), w: np.ones(4)}
    fail_alike(a, given, ShapeError)
    agree(a, {**given, x: np.ones(0)})  # no step, no error
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + e, v[pt.cast(e, "int64")]], x, [ZERO, None])
    fail_alike(a, {x: np.array([0.0, 9.0]), v: np.ones(3)}, IndexError)
    (a, _), _ = scan(lambda e, t: [pt.sin(t) + v + w, t * v + w], x, [v, None])
    (node,) = loops(agree(a, {x: np.ones(2), v: np.ones(3), w: np.ones(3)}))
    assert len(node.op.inner_outputs) == 2  # what is left compares the same lengths


def test_a_result_whose_shape_changes_is_an_error_that_stays() -> None:
    s = pt.dvector("s")
    (a, b), _ = scan(lambda t: [pt.join(0, t, t), t.sum()], outputs_info=[s, None], n_steps=3)
    fail_alike(b, {s: np.ones(2)}, ValueError)
    fail_alike(a[-1], {s: np.ones(2)}, ValueError)


def test_sequences_that_steps_do_not_read() -> None:
    x, y = pt.dvector("x"), pt.dvector("y")
    out, _ = scan(lambda v, t: pt.sin(t) + 1.0, x, ZERO)
    (node,) = loops(agree(out, {x: np.ones(3)}))
    assert len(node.inputs) == 2
    out, _ = scan(lambda v, w, t: pt.sin(t) + w, [x, y], ZERO, n_steps=4)
    (node,) = loops(agree(out, {x: np.ones(4), y: np.ones(5)}))
    assert len(node.inputs) == 4  # it may be too short
    fail_alike(out, {x: np.ones(3), y: np.ones(5)}, ShapeError)
    out, _ = scan(lambda v, w, t: pt.sin(t) + w, [x, y], ZERO)
    (node,) = loops(agree(out, {x: np.ones(3), y: np.ones(5)}))
    assert len(node.inputs) == 3  # there are as many steps as it has elements, or fewer


def test_what_is_carried_without_change() -> None:
    x, s = pt.dvector("x"), pt.dscalar("s")
    (a, b), _ = scan(lambda v, t, u: [pt.sin(t) * u + v, u], x, [ZERO, s])
    final = a.owner.outputs[1]
    f = agree([a, final], {x: np.ones(3), s: 2.0})
    (node,) = loops(f)
    assert node.op.carried == 1
    agree([a, b, final], {x: np.ones(0), s: 2.0})


def test_arrays_that_are_given_twice() -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, w, t: pt.sin(t * v) + w, [x, x], ZERO)
    (node,) = loops(agree(out, {x: RNG.normal(size=4)}))
    assert len(node.inputs) == 3


# --- few steps --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1])
def test_one_step_or_none(n: int) -> None:
    x, m, s = pt.dvector("x"), pt.dmatrix("m"), pt.dvector("s")
    (a, b), _ = scan(lambda v, r, t: [pt.sin(t) * v, r * v], [x, m], [s, None], n_steps=n)
    last = a.owner.outputs[0]
    given = {x: RNG.normal(size=2), m: RNG.normal(size=(3, 2)), s: np.ones(2)}
    assert not loops(agree([a, b, last], given))
    if n:
        fail_alike(b, {**given, x: np.ones(0)}, ShapeError)


def test_one_step_that_may_be_the_last() -> None:
    s = pt.dscalar("s")
    out, _ = scan(lambda t: (t * 2, until(t > 5)), outputs_info=s, n_steps=1)
    assert not loops(agree([out, out.shape[0]], {s: 3.0}))


# --- ends -------------------------------------------------------------------------------------


def test_only_the_last_value_is_kept() -> None:
    x, n = pt.dvector("x"), pt.lscalar("n")
    (a, b), _ = scan(lambda v, t: [pt.sin(t) + v, v * t], x, [ZERO, None])
    for last in (a[-1], b[-1], a[x.shape[0] - 1], [a[-1], b[-2]], [a[-3], a[-1]]):
        f = agree(last, {x: RNG.normal(size=4)})
        (node,) = loops(f)
        assert not node.op.results
    (node,) = loops(agree([a[-1], a], {x: RNG.normal(size=4)}))
    assert len(node.op.results) == 1
    for outputs in (a[-1], b[-1], a[x.shape[0] - 1]):
        fail_alike(outputs, {x: np.ones(0)}, IndexError)
    fail_alike(b[-2], {x: np.ones(1)}, IndexError)
    out, _ = scan(lambda t: pt.sin(t) + 1, outputs_info=ZERO, n_steps=n)
    (node,) = loops(agree(out[-1], {n: 5}))
    assert not node.op.results
    fail_alike(out[-1], {n: 0}, IndexError)
    fail_alike(out[-1], {n: -2}, RewriteEngineError)


def test_the_last_values_of_a_number_of_steps() -> None:
    m = pt.dvector("m")
    out, _ = scan(lambda t: pt.sin(t) * m, outputs_info=m, n_steps=6)
    for last in (out[-3:], out[5], out[4, 1], [out[-2:], out[-1]], out[-1, 0]):
        (node,) = loops(agree(last, {m: RNG.normal(size=3)}))
        assert not node.op.results
    (node,) = loops(agree(out[-5:], {m: RNG.normal(size=3)}))
    assert len(node.op.results) == 1  # too many
    start = {"initial": pt.constant([0.0, 1.0]), "taps": [-2, -1]}
    numbers, _ = scan(lambda a, b: pt.sin(a) + b * m[0], outputs_info=start, n_steps=8)
    (node,) = loops(agree([numbers[-1], numbers[-2]], {m: np.ones(1)}))
    assert node.op.carried == 2
    assert not node.op.results


def test_the_last_value_of_a_loop_that_ends_early() -> None:
    x = pt.dvector("x")
    out, _ = scan(lambda v, t: (t + pt.exp(v), until(t > 3)), x, ZERO)
    f = agree([out[-1]], {x: np.ones(5)})
    assert not loops(f)[0].op.results
    fail_alike(out[-1], {x: np.ones(0)}, IndexError)
    assert rw.function([x], out[-1])(np.ones(1)) == pytest.approx(np.e)
