"""`function`: structure of inputs and outputs, givens, updates, modes, observers, and every error
of building.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import In, UnusedInputWarning, function, observe, shared
from rewrite_engine.compile.mode import Mode
from rewrite_engine.config import config
from rewrite_engine.errors import (
    ConstantInputError,
    DuplicateInputError,
    ForeignObjectError,
    InconsistencyError,
    InputError,
    MissingInputError,
    TypeMismatchError,
    UnknownNameError,
    UnusedInputError,
    UpdateTypeError,
)
from rewrite_engine.tensor.elemwise import Elemwise

PLAIN = Mode(optimizer=None)
x, y = pt.vector("x"), pt.vector("y")


def build(*args: Any, **options: Any) -> Any:
    return function(*args, **{"mode": PLAIN, **options})


def test_outputs_come_back_as_they_were_given() -> None:
    v = [1.0, 2.0]
    assert build([x], x + 1)(v).tolist() == [2, 3]
    assert [r.tolist() for r in build([x], [x + 1, x * 2])(v)] == [[2, 3], [2, 4]]
    assert [r.tolist() for r in build([x], (x + 1,))(v)] == [[2, 3]]
    assert {k: r.tolist() for k, r in build([x], {"a": x + 1, "b": x})(v).items()} == {
        "a": [2, 3],
        "b": [1, 2],
    }
    assert build([], None)() is None


def test_positions_and_names() -> None:
    f = build([x, y], x - y)
    assert (
        f([2.0], [1.0]).tolist()
        == f(y=[1.0], x=[2.0]).tolist()
        == f([2.0], y=[1.0]).tolist()
        == [1]
    )


def test_users_graph_is_left_alone() -> None:
    z = pt.log(pt.exp(x))
    owner = z.owner
    function([x], z)
    assert z.owner is owner
    assert str(z.owner.op) == "log"


def test_an_intermediate_variable_can_be_an_input() -> None:
    z = pt.exp(x)
    f = build([z], z * 2)
    assert f([3.0]).tolist() == [6]


def test_givens() -> None:
    z = pt.exp(x) + y
    for givens in ({x: 2 * y}, [(x, 2 * y)]):
        f = build([y], z, givens=givens)
        np.testing.assert_allclose(f([1.0]), np.exp(2) + 1)
    w = shared(np.zeros(1), "w")
    np.testing.assert_allclose(build([y], z, givens={x: w})([1.0]), [2])
    np.testing.assert_allclose(build([y], z, givens={x: np.array([1.0])})([0.0]), [np.e])
    with pytest.raises(TypeMismatchError):
        build([y], z, givens={x: pt.matrix("m")})
    with pytest.raises(ForeignObjectError, match="givens"):
        build([y], z, givens={"x": y})


def test_givens_reach_updates() -> None:
    w = shared(np.zeros(1), "w")
    build([y], None, updates={w: w + x}, givens={x: y * 2})([3.0])
    assert w.get_value() == 6


def test_updates() -> None:
    w, c = shared(np.zeros(2), "w"), shared(0, "c")
    f = build([x], [w, c], updates=[(w, w + x), (c, c + 1)])
    assert [r.tolist() for r in f([1.0, 2.0])] == [[0, 0], 0]
    assert w.get_value().tolist() == [1, 2]
    assert c.get_value() == 1
    assert c.get_value().dtype == "int64"


def test_updates_use_the_old_values() -> None:
    a, b = shared(np.zeros(2), "a"), shared(np.ones(2), "b")
    f = build([], [], updates={a: b, b: a})
    f()
    assert (a.get_value().tolist(), b.get_value().tolist()) == ([1, 1], [0, 0])
    assert not np.shares_memory(a.get_value(borrow=True), b.get_value(borrow=True))


def test_states_share_memory_with_nothing() -> None:
    a, b = shared(np.zeros(2), "a"), shared(np.zeros(2), "b")
    value = np.array([1.0, 2.0])
    c = pt.constant(np.array([5.0, 6.0]))
    f = build([x], [x + 1, a], updates={a: x + 1, b: x})
    result = f(value)
    result[0][...] = -1
    value[...] = -1
    assert a.get_value().tolist() == [2, 3]
    assert b.get_value().tolist() == [1, 2]
    build([], [], updates={a: c, b: c})()
    a.get_value(borrow=True)[0] = 0
    assert b.get_value().tolist() == [5, 6]
    assert c.data.tolist() == [5, 6]


def test_default_updates() -> None:
    count = shared(0, "count")
    other = shared(10, "other")
    count.default_update = count + other
    other.default_update = other * 2
    out = count * 1
    f = build([], out)
    assert [int(f()) for _ in range(3)] == [0, 10, 30]
    assert int(other.get_value()) == 80
    assert not build([], out, no_default_updates=True).program.updates
    assert len(build([], out + other, no_default_updates=[count]).program.updates) == 1
    build([], out, updates={count: pt.constant(0)})()
    assert count.get_value() == 0


def test_states_are_in_the_order_in_which_results_need_them() -> None:
    a, b, c = shared(1, "a"), shared(2, "b"), shared(3, "c")
    f = build([], [a * 2, b + 1], updates={c: c + 1, b: b * c, a: a + 1})
    assert f.get_shared() == [a, b, c]
    assert [v.name for v in f.fgraph.inputs] == ["a", "b", "c"]
    assert [int(x) for x in f()] == [2, 3]
    assert [int(v.get_value()) for v in (a, b, c)] == [2, 6, 4]


def test_modes() -> None:
    z = pt.log(pt.exp(x))
    assert len(build([x], z).fgraph) == 2
    assert len(function([x], z).fgraph) == 0
    assert len(function([x], z, mode="FAST_RUN").fgraph) == 0
    with pytest.raises(UnknownNameError, match="fast_run"):
        function([x], z, mode="fastest")


def test_mode_of_config() -> None:
    config.mode = "fast_compile"
    assert function([x], x).mode.name == "fast_compile"


def test_an_optimizer_of_ones_own() -> None:
    seen = []

    class Own:
        def rewrite(self, fgraph: Any, trace: Any = None) -> None:
            seen.append((len(fgraph), trace))

    build([x], pt.exp(x), mode=Mode(optimizer=Own()), trace="a trace")
    assert seen == [(1, "a trace")]


class Watcher:
    """An observer that asks for a trace."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def new_trace(self) -> str:
        return "new"

    def __call__(self, *args: Any) -> None:
        self.calls.append(args)


def test_observers() -> None:
    traces = []

    class Own:
        def rewrite(self, fgraph: Any, trace: Any = None) -> None:
            traces.append(trace)
            fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])

    watcher = Watcher()
    observe.append(watcher)
    try:
        f = build([x], pt.exp(x), mode=Mode(optimizer=Own()))
        build([x], pt.exp(x), mode=Mode(optimizer=Own()), trace="given")
    finally:
        observe.remove(watcher)
    got, before, trace, times = watcher.calls[0]
    assert got is f
    assert (len(before), len(f.fgraph)) == (1, 0)
    assert traces == ["new", "given"]
    assert trace == "new"
    assert set(times) == {"build", "rewrite", "link"}
    assert all(t >= 0 for t in times.values())


# --- errors -------------------------------------------------------------------------------------


def test_missing_input_names_variable_type_and_who_needs_it() -> None:
    z = pt.tanh(pt.exp(y))  # needs y
    with pytest.raises(MissingInputError) as caught:
        build([x], z + x)
    text = str(caught.value)
    for part in (
        "y of type TensorType(float64, (None,))",
        "needed by exp",
        "needed by tanh",
        "# needs y",
    ):
        assert part in text
    with pytest.raises(MissingInputError, match="itself an output"):
        build([], y)
    w = shared(np.zeros(1), "w")
    with pytest.raises(MissingInputError, match="y of type"):
        build([], [], updates={w: w + y})


@pytest.mark.parametrize(
    ("inputs", "outputs", "error", "text"),
    [
        ([pt.constant(1.0)], x, ConstantInputError, "constant"),
        ([x, x], x, DuplicateInputError, "at 0 and 1"),
        ([x, rw.In(x)], x, DuplicateInputError, "twice"),
        ([x, 3], x, ForeignObjectError, "int 3"),
        ([x], [x, "text"], ForeignObjectError, "str 'text'"),
        ([x], {1: x}, ForeignObjectError, "keys"),
        (x, x, ForeignObjectError, "list of variables"),
        ([x, y], x, UnusedInputError, "input 1, y of type"),
        ([y], x, UnusedInputError, "input 0, y of type"),  # x is missing, too
    ],
)
def test_wrong_inputs_and_outputs(inputs: Any, outputs: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        build(inputs, outputs)


def test_a_shared_variable_is_no_input() -> None:
    w = shared(np.zeros(1), "w")
    with pytest.raises(ForeignObjectError, match="givens"):
        build([w], w + 1)


def test_unused_inputs() -> None:
    build([x, y], x, on_unused_input="ignore")
    with pytest.warns(UnusedInputWarning, match="y of type"):
        build([x, y], x, on_unused_input="warn")
    with pytest.raises(InputError, match="one of raise, warn, ignore"):
        build([x, y], x, on_unused_input="explode")
    config.on_unused_input = "ignore"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build([x, y], x)
    w = shared(np.zeros(1), "w")
    build([x], None, updates={w: x}, on_unused_input="raise")


def test_wrong_updates() -> None:
    w = shared(np.zeros(1), "w")
    with pytest.raises(UpdateTypeError) as caught:
        build([], [], updates={w: pt.cast(w, "float32")})
    for part in ("update of w", "float64", "float32", "cast"):
        assert part in str(caught.value)
    with pytest.raises(UpdateTypeError, match="update of w"):
        build([], [], updates={w: pt.matrix("m")})
    with pytest.raises(InputError, match="two updates for the shared variable w"):
        build([], [], updates=[(w, w), (w, w + 1)])
    with pytest.raises(ForeignObjectError, match="only shared variables"):
        build([x], x, updates={x: x + 1})
    with pytest.raises(ForeignObjectError, match="pair"):
        build([x], x, updates=[w])


def test_ops_that_overwrite_need_permission() -> None:
    inplace = Elemwise(pt.exp.scalar_op, ((0, 0),))
    z = inplace(x + 1)
    with pytest.raises(InconsistencyError, match="accept_inplace"):
        build([x], z)
    np.testing.assert_allclose(build([x], z, accept_inplace=True)([0.0]), [np.e])
    with pytest.raises(InconsistencyError, match="not mutable"):
        build([x], inplace(x), accept_inplace=True)


def test_the_manuals_example_of_variables() -> None:
    """A constant needs no argument and cannot be one; a default can be given, and left out."""
    a, b = pt.constant(1.5), pt.fscalar("b")
    c = a + b
    assert function([b], [c])(2.5) == [4.0]
    with pytest.raises(MissingInputError, match="b of type"):
        function([], [c])
    with pytest.raises(TypeError, match="a constant cannot be an input"):
        function([a, b], [c])
    d = pt.dscalar("d")
    f = function([In(d, value=1.5), b], [d + b])
    assert f(b=2.5) == [4.0]
    assert f(1.0, 2.5) == [3.5]


def test_the_manuals_example_of_types() -> None:
    b, c = pt.fvector(), pt.fvector()
    assert b.type is c.type is pt.fvector
    assert b is not c


def test_a_graph_is_always_compiled_alike() -> None:
    """Not as the addresses of its nodes happen to be."""
    x, y = pt.dvectors("x", "y")
    h = pt.tanh(x * y) + x * 1.0 - x * 0.0
    cost = (h**2).sum()
    outputs, kept, found = [cost, *rw.grad(cost, [x, y])], [], set()
    for k in range(20):
        kept.append([object() for _ in range(37 * k % 23)])
        found.add(str([str(n) for n in rw.function([x, y], outputs).fgraph.toposort()]))
        if k % 3:
            kept.pop(0)
    assert len(found) == 1
