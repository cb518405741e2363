"""The page "API documentation" of Aesara: its samples, and what it says that no other test does.

What it says of `scan` in general is held by `tests/loops/test_scan.py` and `test_tutorials.py`, of
`dprint` by `tests/printing/test_tree.py`.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("peers")


def test_names_and_the_modules_they_are_aliases_of() -> None:
    import aesara
    from aesara.compile.function import function
    from aesara.compile.sharedvalue import shared
    from aesara.graph.basic import clone_replace
    from aesara.printing import debugprint
    from aesara.scan.basic import scan

    assert (aesara.shared, aesara.function, aesara.dprint) == (shared, function, debugprint)
    assert (aesara.clone_replace, aesara.scan) == (clone_replace, scan)


def test_clone_replace() -> None:
    """By a dictionary; the keywords of older versions for what it does with inputs."""
    import aesara
    import aesara.tensor as at

    x, y, z = at.dvectors("xyz")
    out = at.exp(x) + y
    copy = aesara.clone_replace(out, replace={out.owner.inputs[0]: z})
    assert aesara.pp(copy) == "z + y"
    assert copy.owner.inputs[1] is y
    (copy,) = aesara.clone_replace([out], {x: z}, rebuild_strict=True, copy_inputs_over=False)
    assert {v.name for v in aesara.graph.basic.graph_inputs([copy])} == {"y", "z"}
    assert copy.owner.inputs[1] is not y


def test_a_copy_without_replacements_is_a_copy() -> None:
    """Names and tags that it is given are not those of the original, at any depth."""
    import aesara
    import aesara.tensor as at

    x = at.dvector("x")
    z = at.exp(x) * 2
    z.name = "z"
    for output in (z, [z], {"k": z}):
        copy: Any = aesara.clone_replace(output)
        k = copy if output is z else next(iter(copy.values() if "k" in output else copy))
        assert k.name == "z"
        k.name, k.owner.inputs[0].name = "copy", "inside"
        assert (z.name, z.owner.inputs[0].name) == ("z", None)
        f = aesara.function([x], [k, z])
        assert [v.tolist() for v in f([0.0])] == [[2], [2]]
    assert aesara.clone_replace(x) is x


def test_settings_are_read_as_they_are_there() -> None:
    import aesara

    assert (aesara.config.allow_gc, aesara.config.scan__allow_gc) == (True, False)
    with aesara.config.change_flags(allow_gc=False, scan__allow_gc=True):
        assert (aesara.config.allow_gc, aesara.config.scan__allow_gc) == (False, True)
    assert (aesara.config.allow_gc, aesara.config.scan__allow_gc) == (True, False)


# --- the samples of `scan` --------------------------------------------------------------------


def test_the_order_of_arguments() -> None:
    """The sample of ten arguments; the second output shows what each step got."""
    import aesara
    import aesara.tensor as at
    from aesara import scan

    sequence1, sequence2, sequence3 = [at.constant(np.arange(9.0) + 100 * k) for k in (1, 2, 3)]
    output1, output2 = at.constant(np.arange(5.0) + 400), at.constant(0.0)
    output3, argument1, argument2 = at.constant(500.0), at.constant(600.0), at.constant(700.0)

    def fn(*given: Any) -> Any:
        return [given[5] + 50, at.stack(given), given[7] + 1]

    outputs, _ = scan(
        fn,
        sequences=[dict(input=sequence1, taps=[-3, 2, -1]), sequence2,
                   dict(input=sequence3, taps=3)],
        outputs_info=[dict(initial=output1, taps=[-3, -5]), dict(initial=output2, taps=None),
                      output3],
        non_sequences=[argument1, argument2],
    )  # fmt: skip
    # sequence 1 begins three elements later: its first slices are elements 0, 5 and 2. The first
    # output begins with five values: 400 is output[-5], 402 output[-3]
    got = aesara.function([], outputs[1])()
    assert got.shape == (4, 10)
    assert got[0].tolist() == [100, 105, 102, 200, 303, 402, 400, 500, 600, 700]
    assert got[1].tolist() == [101, 106, 103, 201, 304, 403, 401, 501, 600, 700]
    assert got[3][5] == 452  # what the first step gave


def test_what_a_step_uses_is_found() -> None:
    import aesara
    import aesara.tensor as at

    W = at.matrix()
    W_2 = W**2

    def f(x: Any) -> Any:
        return at.dot(x, W_2)

    X = at.matrix()
    out, updates = aesara.scan(f, sequences=X)
    rows, weights = np.arange(6.0).reshape(3, 2), np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(aesara.function([X, W], out)(rows, weights), rows @ weights**2)
    assert dict(updates) == {}
    out, _ = aesara.scan(f, sequences=X, strict=True)  # what is no shared variable is found
    np.testing.assert_allclose(aesara.function([X, W], out)(rows, weights), rows @ weights**2)
    shared = aesara.shared(weights)
    for others in ([], [shared]):
        g = lambda x, *_: at.dot(x, shared)
        if others:
            out, _ = aesara.scan(g, sequences=X, non_sequences=others, strict=True)
            np.testing.assert_allclose(out.eval({X: rows}), rows @ weights)
        else:
            with pytest.raises(ValueError, match="strict=True requires it in non_sequences"):
                aesara.scan(g, sequences=X, strict=True)


@pytest.mark.parametrize(("start", "steps"), [(0, 1), (100, 6)])
def test_a_condition_is_returned_as_a_third_element(start: int, steps: int) -> None:
    """The loop ends after the first step where it holds, at the latest after `n_steps`."""
    import aesara
    import aesara.tensor as at
    from aesara.scan import until

    x = aesara.shared(start, "x")

    def step(y1: Any, y2: Any) -> Any:
        y1_t, y2_t = y1 + 1, y2 * 2
        return [y1_t, y2_t], {x: x + 1}, until(x < 50)

    infos = [at.constant(0.0), at.constant(1.0)]
    (first, second), updates = aesara.scan(step, outputs_info=infos, n_steps=6)
    assert isinstance(updates, dict)
    assert list(updates) == [x]
    f = aesara.function([], [first, second], updates=updates)
    one, two = f()
    assert one.tolist() == list(range(1, steps + 1))
    assert two.tolist() == [2.0**k for k in range(1, steps + 1)]
    assert x.get_value() == start + steps
    with pytest.raises(ValueError, match="n_steps"):
        aesara.scan(step, outputs_info=infos)


def test_information_about_outputs() -> None:
    """Forms that say the same; information about some of the outputs is an error."""
    import aesara
    import aesara.tensor as at

    x = at.dvector("x")
    step = lambda v: [v * 2, v * 3]
    for info in (
        None,
        [],
        [None, {}],
        [dict(initial=None), dict(initial=at.constant(1.0), taps=None)],
    ):
        outputs, _ = aesara.scan(step, sequences=x, outputs_info=info)
        assert outputs[1].eval({x: [1.0, 2.0]}).tolist() == [3, 6]
    with pytest.raises(ValueError, match="2 outputs, but outputs_info has 1"):
        aesara.scan(step, sequences=x, outputs_info=[None])
    with pytest.raises(TypeError, match="float64, but its initial value is float32"):
        aesara.scan(lambda v, s: s + v, x, at.constant(np.float32(0)))


def test_settings_of_memory_are_taken() -> None:
    import aesara
    import aesara.tensor as at

    x = at.dvector("x")
    with aesara.config.change_flags(scan__allow_gc=False, allow_gc=True):
        out, _ = aesara.scan(lambda v: v + 1, x, allow_gc=None, name="loop", profile="loop")
    assert out.eval({x: [1.0]}).tolist() == [2]


# --- dprint -----------------------------------------------------------------------------------


def test_what_a_tree_may_show() -> None:
    """By the names of the page; what each shows: `tests/printing/test_tree.py`."""
    import aesara
    import aesara.tensor as at

    x, s = at.dvector("x"), aesara.shared(np.ones(2), "s")
    f = aesara.function([x], [at.exp(x) * s, x.sum()], updates={s: s + 1})
    shown = aesara.dprint(
        f, depth=-1, print_type=True, file="str", ids="int", stop_on_name=False, done={},
        print_storage=True, used_ids={}, print_op_info=True, print_destroy_map=True,
        print_view_map=True, print_fgraph_inputs=True,
    )  # fmt: skip
    assert "s [id 1] <TensorType(float64, (None,))> [array([1., 1.])]" in shown
    stream = io.StringIO()
    assert aesara.dprint([x + 1, f], file=stream) is stream
    assert stream.getvalue().startswith("add [id A]\n ├─ x [id B]")


def test_a_tree_tells_the_parts_of_a_loop() -> None:
    import aesara
    import aesara.tensor as at

    x = at.dvector("x")
    sums, _ = aesara.scan(lambda v, t: t + v, x, at.constant(0.0))
    shown = aesara.dprint(sums, print_op_info=True, file="str")
    assert "(sequence 0)" in shown
    assert "(value 0 of the step before)" in shown
