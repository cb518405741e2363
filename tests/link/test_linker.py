"""Linkers: names, phases, what a linker has to do, and the reference linker."""

from __future__ import annotations

import pickle
import weakref
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

import rewrite_engine.tensor as pt
from rewrite_engine.compile import In, Mode, Out, function, get_mode, shared
from rewrite_engine.errors import (
    AxisError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    PatternError,
    ShapeError,
    UnknownNameError,
)
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.op import Op
from rewrite_engine.language import rule
from rewrite_engine.link import Linker, PyLinker, get_linker, register_linker
from rewrite_engine.tensor.op import Shapes, TensorOp
from tests.link.reference import random_graphs, values_for
from tests.threads import in_threads

x, y = pt.vector("x"), pt.vector("y")


def overwriting(f: Any) -> list[str]:
    return [str(node.op) for node in f.nodes if node.op.destroy_map]


# --- names ------------------------------------------------------------------------------------


def test_linkers_are_found_by_name_in_any_case() -> None:
    assert get_mode("PY") == Mode("py") == Mode(linker="Py") != Mode("vm")
    assert isinstance(get_linker("py"), PyLinker)
    assert repr(Mode("py").excluding("fold")) == "Mode(linker='py').excluding('fold')"
    mode = Mode("py", "FAST_COMPILE")
    assert repr(mode) == "Mode(linker='py', optimizer='fast_compile')"
    assert mode.query == Mode("fast_compile").query
    assert pickle.loads(pickle.dumps(mode)) == mode
    assert repr(Mode("py", optimizer=None)) == "Mode(linker='py', optimizer=None)"


@pytest.mark.parametrize("name", ["CVM", "cvm", "c|py", "vm_nogc", "cvm_nogc", "c|py_nogc"])
def test_the_vm_by_other_names(name: str) -> None:
    assert get_mode(name) == Mode(name) == Mode(linker=name) == Mode("vm")
    assert Mode(name, "fast_compile") == Mode("vm", "fast_compile")


@pytest.mark.parametrize("name", ["DebugMode", "DEBUG_MODE", "debugmode"])
def test_debug_mode_by_its_names(name: str) -> None:
    assert get_mode(name) == Mode("debugmode")
    assert "inplace" in get_linker(Mode(name).linker).phases


@pytest.mark.parametrize("name", ["pytorch", "dask"])
def test_what_is_not_there_yet(name: str) -> None:
    for make in (get_mode, Mode, lambda linker: Mode(linker=linker)):
        with pytest.raises(UnknownNameError, match=r"is not available; modes: .*; linkers: vm, py"):
            make(name)


def test_what_is_no_linker() -> None:
    with pytest.raises(UnknownNameError, match="no mode or linker is called 'fast'; .*: vm, py"):
        Mode("fast")
    with pytest.raises(UnknownNameError, match="a linker must be a name .*, not "):
        Mode(3)
    with pytest.raises(UnknownNameError, match="no linker is called 'fast_run'; use one of vm, py"):
        get_linker("fast_run")
    for bad in (PyLinker, "py", type("Nameless", (Linker,), {})()):
        with pytest.raises(ForeignObjectError, match="expected a Linker with a name"):
            register_linker(bad)


# --- phases -----------------------------------------------------------------------------------


@pytest.mark.on_vm
def test_ops_overwrite_their_inputs_only_where_the_linker_runs_that_phase() -> None:
    out = pt.exp(pt.sin(x))
    assert overwriting(function([x], out)) == ["exp{inplace 0<-0}"]
    assert overwriting(function([x], out, mode="py")) == []
    assert overwriting(function([x], out, mode=Mode("vm").excluding("inplace"))) == []
    f = function([x], out, mode=Mode("py").including("inplace"))
    assert overwriting(f) == ["exp{inplace 0<-0}"]
    np.testing.assert_array_equal(f([0.5]), np.exp(np.sin([0.5])))


def test_a_linker_names_its_phases(registered: Any) -> None:
    class Small(PyLinker):
        name = "small"
        phases = ("merge", "canonicalize")

    class Wrong(PyLinker):
        name = "wrong"
        phases = ("canonicalize", "fuse")

    registered(Small())
    registered(Wrong())
    parts = [part.name for part in Mode("small").optimizer.parts]
    assert parts == ["merge", "canonicalize"]
    with pytest.raises(UnknownNameError, match="requires the phase 'fuse'; the phases are merge, "):
        function([x], x + 1, mode="wrong")

    @rule(phase="specialize")
    def tan_of_arctan(x: Any) -> Any:
        """A rule for a phase that does not run."""
        return pt.tan(pt.arctan(x)) >> x

    with pytest.raises(PatternError, match="belongs to the phase 'specialize', which runs only"):
        function([x], x + 1, mode=Mode("small") + tan_of_arctan)
    f = function([x], pt.tan(pt.arctan(x)), mode=Mode("small").including("specialize"))
    assert len(f.nodes) == 2


# --- the reference ----------------------------------------------------------------------------


@settings(max_examples=60)
@given(random_graphs())
def test_the_vm_gives_what_the_reference_gives(graph: Any) -> None:
    inputs, outputs = graph
    plain = {"on_unused_input": "ignore"}
    fast = function(inputs, outputs, mode=Mode("vm", optimizer=None), **plain)
    slow = function(inputs, outputs, mode=Mode("py", optimizer=None), **plain)
    values = values_for(inputs)
    kept = [v.copy() for v in values]
    results = slow(*values)
    for i, (a, b) in enumerate(zip(results, fast(*values), strict=True)):
        assert (type(a), a.dtype, a.shape) == (np.ndarray, b.dtype, b.shape)
        rtol = 1e-4 if a.dtype == "float32" else 1e-10
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)
        assert not any(np.shares_memory(a, other) for other in values + results[:i])
    for value, before in zip(values, kept, strict=True):
        np.testing.assert_array_equal(value, before)


WRONG: dict[str, tuple[Any, type[Exception]]] = {
    "precision": (lambda a: a.astype("float32"), DTypeError),
    "list": (lambda a: a.tolist(), DTypeError),
    "dimensions": (lambda a: a[0], NDimError),
}


class Careless(Op):
    """Gives what its type is not."""

    __props__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = WRONG[self.kind][0](inputs[0])


@pytest.mark.parametrize("kind", WRONG)
def test_values_are_held_against_their_types(kind: str) -> None:
    f = function([x], Careless(kind)(x) * 2, mode="py")
    with pytest.raises(WRONG[kind][1], match="expected") as caught:
        f([1.0])
    told = caught.value.__notes__[0]
    assert told.startswith(f"Careless{{kind={kind!r}}}\n    input 0: x of type")


class Longer(TensorOp):
    """Appends a 0 where there is more than one element, and says that it never does."""

    __props__ = ()

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def shapes(self, a: Any) -> Shapes:
        return Shapes([[(0, 0)]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.append(inputs[0], [0.0] * (len(inputs[0]) > 1))


def test_shapes_are_checked_again_when_they_change() -> None:
    f = function([x, y], x + y, mode="py")
    assert f([1.0, 2.0], [1.0, 2.0]).tolist() == [2, 4]
    with pytest.raises(ShapeError, match=r"cannot broadcast shapes \(2,\) and \(3,\)"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    assert f([1.0], [1.0]).tolist() == [2]
    g = function([x], Longer()(x), mode=Mode("py", optimizer=None))
    assert g([1.0]).tolist() == [1]
    with pytest.raises(ShapeError, match=r"output 0 has shape \(3,\); by its shape rule it has"):
        g([1.0, 2.0])
    n = pt.lscalar("n")
    h = function([n], pt.alloc(1.0, n), mode=Mode("py", optimizer=None))  # the length is a value
    assert [h(k).size for k in (2, 3, 3, 0)] == [2, 3, 3, 0]


def test_shapes_that_do_not_change_are_checked_once(monkeypatch: Any) -> None:
    checked: list[Any] = []
    plain = TensorOp.checked

    def counted(op: Any, node: Any, values: Any) -> Any:
        checked.append(node)
        return plain(op, node, values)

    monkeypatch.setattr(TensorOp, "checked", counted)
    f = function([x], pt.exp(x) * 2, mode=Mode("py", optimizer=None))
    for length in (3, 3, 3, 4, 4):
        f(np.zeros(length))
    exps = [node for node in checked if str(node.op) == "exp"]
    assert len(exps) == 2


class Remember(Op):
    """Passes a value on, and remembers its memory for as long as somebody else has it; says how
    many it remembers.
    """

    __props__ = ()
    seen: ClassVar[list[Any]] = []
    counts: ClassVar[list[int]] = []

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return [types[0]]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        self.seen.append(weakref.ref(inputs[0]))
        self.counts.append(sum(ref() is not None for ref in self.seen))
        output_storage[0][0] = inputs[0] + 1


def test_values_that_nobody_reads_any_more_are_let_go() -> None:
    out = pt.exp(x)
    for _ in range(5):
        out = Remember()(out)
    assert function([x], out, mode="py")([0.0]).tolist() == [6]
    assert Remember.counts == [1, 1, 1, 1, 1]


def test_results_belong_to_the_caller() -> None:
    state = shared(np.zeros(2), name="state")
    c = pt.constant(np.ones(2))
    f = function([x], [x, x[::-1], state, c, c], updates={state: x}, mode="py")
    value = np.array([1.0, 2.0])
    results = f(value)
    for i, a in enumerate(results):
        for b in (*results[:i], value, c.data, state.get_value(borrow=True)):
            assert not np.shares_memory(a, b)
    assert not np.shares_memory(state.get_value(borrow=True), value)
    g = function([In(x, borrow=True)], Out(x[::-1], borrow=True), mode="py")
    assert np.shares_memory(g(value), value)


def test_an_argument_that_is_given_away_is_overwritten() -> None:
    mode = Mode("py").including("inplace")
    f = function([In(x, mutable=True)], pt.exp(x), mode=mode)
    value = np.zeros(2)
    assert np.shares_memory(f(value), value)
    assert value.tolist() == [1, 1]
    assert f(np.broadcast_to(0.0, 2)).tolist() == [1, 1]


def test_errors_name_the_node_the_values_and_the_line() -> None:
    i = pt.lscalar("i")
    state = shared(0.0)
    for mode in ("py", "vm"):
        f = function([x, i], x[i], updates={state: state + 1}, mode=mode, name="taking")
        with pytest.raises(AxisError, match="index 7 is out of bounds") as caught:
            f([1.0, 2.0], 7)
        told = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
        for text in ("Subtensor", "input 1: i of type", "shape (2,)", "x[i]", "'taking'"):
            assert text in told
    assert state.get_value() == 0


def test_several_threads() -> None:
    f = function([x], [pt.exp(x) + 1, x.sum()], mode="py")
    wrong = []

    def work(k: int) -> None:
        value = np.full(20, float(k))
        for _ in range(100):
            if f(value)[1] != 20 * k:
                wrong.append(k)

    in_threads(work)
    assert not wrong


# --- one of a user ----------------------------------------------------------------------------


class Tracing(Linker):
    """Everything a linker has to do: a graph that is one elementwise op of its inputs."""

    name = "tracing"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def compile(self, fgraph: FunctionGraph) -> Any:
        (node,) = fgraph.apply_nodes

        def run(*values: Any) -> list[Any]:
            self.seen.append([v.tolist() for v in values])
            return [node.op.scalar_op.impl(*values)]

        return run


def test_a_linker_of_a_user(registered: Any) -> None:
    linker = registered(Tracing())
    f = function([x, In(y, name="by")], x + y, mode="tracing")
    assert f([1], by=[2]).tolist() == [3]
    assert linker.seen == [[[1.0], [2.0]]]
    g = pickle.loads(pickle.dumps(f))
    assert g.copy()([1], [3]).tolist() == [4]
    assert get_mode("tracing").linker == "tracing"
    with pytest.raises(NotImplementedError, match="does not define compile"):
        Linker().compile(f.fgraph)


class Added(TensorOp):
    """The sum of two vectors of one length, without a look at their lengths; less the first
    elements.
    """

    __props__ = ("less",)
    nin = 2

    def __init__(self, less: int) -> None:
        self.less = less

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[(0, 0)]], [[(0, 0), (1, 0)]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = (inputs[0] + inputs[1])[self.less :]


def test_the_reference_holds_ops_against_their_shape_rules() -> None:
    x, y = pt.dvectors("x", "y")
    f, g = [function([x, y], Added(less)(x, y), mode="py") for less in (0, 1)]
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0]), [4.0, 6.0])
    with pytest.raises(
        ShapeError, match=r"Added.*: shapes \(1,\) and \(2,\) do not fit[\s\S]*x of"
    ):
        f([1.0], [3.0, 4.0])
    told = r"output 0 has shape \(1,\); by its shape rule it has \(2,\)[\s\S]*test_linker"
    with pytest.raises(ShapeError, match=told):
        g([1.0, 2.0], [3.0, 4.0])
