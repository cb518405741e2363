"""Ops with C code run in functions as any other op: values, memory, errors, parameters of calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, MethodNotDefined, NDimError, StaticShapeError
from rewrite_engine.graph.memory import check_memory
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.link.c import COp, c_form, c_function
from tests.link.c.ops import Ends, InPlace, Same, Scale, ScaleBoth

DTYPES = ["bool", "uint8", "int64", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_in_every_dtype_and_layout(dtype: str) -> None:
    x, y = pt.vector("x", dtype=dtype), pt.scalar("y", dtype=dtype)
    f = rw.function([x, y], Scale()(x, y))
    number = np.asarray(2, dtype=dtype)
    whole = np.arange(12).astype(dtype)
    unaligned = np.frombuffer(b"\0" + whole.tobytes(), dtype=dtype, offset=1)
    for given in (whole, whole[::3], whole[::-1], whole[:0], unaligned):
        found = f(given, number)
        np.testing.assert_array_equal(found, given * number)
        assert found.dtype == dtype


def test_the_c_code_is_what_runs() -> None:
    class Tells(ScaleBoth):
        """Has another perform, so that one can tell."""

        def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = -inputs[0]

    x, y = pt.dvector("x"), pt.dscalar("y")
    out = Tells()(x, y)
    assert rw.function([x, y], out)([1.0], 2.0) == [2.0]
    assert rw.function([x, y], out, mode=rw.Mode(linker="py"))([1.0], 2.0) == [-1.0]
    with rw.config.change_flags(cxx=""):
        assert rw.function([x, y], out)([1.0], 2.0) == [-1.0]


def test_it_stands_among_lines_of_the_vm() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    f = rw.function([x, y], pt.exp(Scale()(pt.log(x), y)) + 1)
    np.testing.assert_allclose(f([1.0, 2.0], 3.0), [2.0, 9.0])
    assert [str(node.op) for node in f.nodes].count("Scale") == 1


def test_two_outputs_one_in_place_one_a_view() -> None:
    x, y = pt.dvectors("x", "y")
    a, b = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
    f = rw.function([x, y], list(Ends()(pt.exp(x), y)), accept_inplace=True)
    doubled, begin, total = f(a, b)
    np.testing.assert_allclose(doubled, 2 * np.exp(a))
    np.testing.assert_array_equal(begin, [10.0, 20.0])
    np.testing.assert_allclose(total, np.exp(a).sum() + 60)
    assert not np.may_share_memory(begin, b)  # what leaves a function is nobody else's
    np.testing.assert_array_equal(b, [10.0, 20.0, 30.0])

    run = c_function(Ends()(x, y)[0].owner)
    assert run is not None
    doubled, begin, total = run(a, b)
    assert doubled is a
    np.testing.assert_array_equal(a, [2.0, 4.0, 6.0])
    assert begin.base is b
    assert total == 66
    check_memory(Ends()(x, y)[0].owner, [np.ones(3), np.ones(3)])


def test_the_order_of_running_keeps_what_is_read_later() -> None:
    x = pt.dvector("x")
    y = pt.exp(x)
    f = rw.function([x], [Ends()(y, x)[0], y.sum()], accept_inplace=True)
    doubled, total = f([0.0, 0.0])
    np.testing.assert_array_equal(doubled, [2.0, 2.0])
    assert total == 2


@pytest.mark.on_vm
def test_the_in_place_version_is_chosen() -> None:
    x = pt.dvector("x")
    f = rw.function([x], InPlace()(pt.exp(x)))
    assert [str(node.op) for node in f.nodes] == ["exp", "InPlace{inplace=True}"]
    given = np.zeros(3)
    np.testing.assert_array_equal(f(given), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(given, 0)
    g = rw.function([x], InPlace()(x))
    np.testing.assert_array_equal(g(given), 1)
    np.testing.assert_array_equal(given, 0)
    unaligned = np.frombuffer(bytearray(b"\0" + np.zeros(2).tobytes()), offset=1)
    np.testing.assert_array_equal(f(unaligned), 2)


def test_old_outputs_may_be_used_again() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    run = c_function(Scale()(x, y).owner)
    assert run is not None
    given, number = np.arange(3.0), np.asarray(2.0)
    old = np.full(3, np.nan)
    assert run(given, number, old) is old
    np.testing.assert_array_equal(old, [0.0, 2.0, 4.0])
    wide = np.full(6, np.nan)[::2]
    assert run(given, number, wide) is wide
    np.testing.assert_array_equal(wide, [0.0, 2.0, 4.0])
    for other in (None, np.full(7, np.nan)):
        found = run(given, number, other)
        assert found is not other
        np.testing.assert_array_equal(found, [0.0, 2.0, 4.0])
    for wrong in (np.zeros(3, "float32"), np.zeros((3, 1)), "text"):
        with pytest.raises(TypeError, match="expected an array"):
            run(given, number, wrong)
    with pytest.raises(TypeError, match="takes 2 values, not 1"):
        run(given)


def test_a_thunk_runs_c_code() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    node = ScaleBoth()(x, y).owner
    for impl, n in ((None, 2), ("c", 2), ("py", 2)):
        storage: dict[Any, list[Any]] = {x: [np.ones(2)], y: [np.asarray(3.0)]}
        storage |= {node.outputs[0]: [None]}
        done = {node.outputs[0]: [False]}
        node.op.make_thunk(node, storage, done, [], impl)()
        np.testing.assert_array_equal(storage[node.outputs[0]][0], [3.0] * n)
        assert done[node.outputs[0]] == [True]
    with rw.config.change_flags(cxx=""), pytest.raises(MethodNotDefined, match="no native code"):
        node.op.make_thunk(node, {v: [None] for v in (x, y, *node.outputs)}, None, [], "c")


def test_an_error_in_c_tells_the_op_and_the_line() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    out = pt.exp(Scale()(x, y))
    for mode in (None, rw.Mode(linker="py"), rw.Mode(optimizer=None)):
        f = rw.function([x, y], out, mode=mode)
        with pytest.raises(ValueError, match="13 is unlucky") as caught:
            f([1.0, 2.0], 13.0)
        assert str(caught.value) == "13 is unlucky"
        (note,) = caught.value.__notes__
        assert note.startswith("Scale\n    input 0: x of type TensorType(float64, (None,))")
        assert "out = pt.exp(Scale()(x, y))" in note
        assert f([1.0], 0.0) == 1.0


class Statements(Same):
    """A vector of float64, by statements; out: what is declared of it."""

    __props__ = ("code", "out", "cleanup")

    def __init__(self, code: str, out: Any = None, cleanup: str = "") -> None:
        self.code, self.out, self.cleanup = code, out, cleanup

    def infer_types(self, types: Any) -> Any:
        return [self.out or types[0]]

    def _text(self, text: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return text % {"x": inputs[0], "z": outputs[0], "fail": sub["fail"]}

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return self._text(self.code, inputs, outputs, sub)

    def c_code_cleanup(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return self._text(self.cleanup, inputs, outputs, sub)

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["<vector>", "<stdexcept>"]


GIVE = "Py_XDECREF(%(z)s); %(z)s = (PyArrayObject*)PyArray_FROM_OF((PyObject*)%(x)s, "
COPY = GIVE + "NPY_ARRAY_ENSURECOPY);"


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        ("%(fail)s", RuntimeError, "failed without setting an exception"),
        ('PyErr_SetString(PyExc_KeyError, "k");' + COPY, KeyError, "k"),
        ('throw std::runtime_error("thrown");', RuntimeError, "thrown"),
        ("throw 1;", RuntimeError, "not an exception"),
        ("std::vector<double> v((size_t)1 << 59);", MemoryError, None),
    ],
)
def test_every_way_to_fail_is_an_exception(
    code: str, error: type[Exception], text: str | None
) -> None:
    x = pt.dvector("x")
    f = rw.function([x], Statements(code)(x))
    for _ in range(2):
        with pytest.raises(error, match=text) as caught:
            f([1.0])
        assert "Statements" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("code", "out", "error", "text"),
    [
        ("", pt.dvector, DTypeError, "expected an array of dtype float64, got NoneType"),
        (COPY, pt.fvector, DTypeError, "of dtype float32, got ndarray of dtype float64"),
        (COPY, pt.dmatrix, NDimError, "expected 2 dimensions"),
        (COPY, pt.TensorType("float64", (3,)), StaticShapeError, r"expected shape \(3,\)"),
    ],
)
def test_what_c_code_gives_is_held_to_the_type(
    code: str, out: Any, error: type[Exception], text: str
) -> None:
    x = pt.dvector("x")
    f = rw.function([x], Statements(code, out)(x))
    with pytest.raises(error, match=text) as caught:
        f([1.0, 2.0])
    assert "Statements" in caught.value.__notes__[0]


def test_the_cleanup_runs_after_success_and_failure() -> None:
    begin = "double* room; room = (double*)malloc(8);"
    count = "((npy_int64*)PyArray_DATA(%(x)s))[1]++; free(room);"
    fails = "if (((npy_int64*)PyArray_DATA(%(x)s))[0]) "
    raises = fails + '{ PyErr_SetString(PyExc_ValueError, "asked"); %(fail)s }'
    x = pt.lvector("x")
    run = c_function(Statements(begin + raises + COPY, cleanup=count)(x).owner)
    assert run is not None
    given = np.array([0, 0])
    run(given)
    assert given[1] == 1
    with pytest.raises(ValueError, match="asked"):
        run(given.__iadd__([1, 0]))
    assert given[1] == 2


def test_there_may_be_no_code_for_some_nodes() -> None:
    class OnlyFloats(ScaleBoth):
        """C code where the vector is float64."""

        def c_code(self, node: Apply, *given: Any) -> str:
            if node.inputs[0].type.dtype != "float64":
                raise NotImplementedError("only for float64")
            return super().c_code(node, *given)

    for dtype, has in (("float64", True), ("int32", False), ("float16", False)):
        x, y = pt.vector("x", dtype=dtype), pt.scalar("y", dtype=dtype)
        out = OnlyFloats()(x, y)
        assert (c_form(out.owner) is not None) is has
        given = np.arange(3).astype(dtype)
        np.testing.assert_array_equal(rw.function([x, y], out)(given, given[2]), given * 2)
    assert c_form(pt.exp(x).owner) is None


def test_an_error_in_the_text_tells_the_op() -> None:
    class Forgets(Scale):
        """With a mistake in Python."""

        def c_code(self, node: Apply, *given: Any) -> str:
            raise KeyError("forgotten")

    x, y = pt.dvector("x"), pt.dscalar("y")
    with pytest.raises(KeyError, match="forgotten") as caught:
        rw.function([x, y], Forgets()(x, y))
    assert caught.value.__notes__[0].startswith(
        "Forgets: raised by the method that returns the C code"
    )
    assert "rw.function([x, y], Forgets()(x, y))" in caught.value.__notes__[0]


def test_a_form_has_a_name() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    form = c_form(ScaleBoth()(x, y).owner)
    assert form is not None
    assert form.name == "C code"
    for old in (None, np.full(2, np.nan), np.empty(5)[::2]):
        cell = [old]
        form.run([np.ones(2), np.asarray(3.0)], [cell])
        np.testing.assert_array_equal(cell[0], [3, 3])
    with rw.config.change_flags(cxx=""):
        assert c_form(Scale()(x, y).owner) is None


class Counter(COp):
    """How often this node of this function ran, from 10 on."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return [pt.lscalar]

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False

    def c_support_code(self, **kwargs: Any) -> list[str]:
        return ["static long begin = 0;", "static long next(long* at) { return (*at)++; }"]

    def c_init_code(self, **kwargs: Any) -> list[str]:
        return ["begin = 5;", "begin *= 2;"]

    def c_support_code_struct(self, node: Apply, name: str) -> str:
        return f"long count_{name}; PyObject* gone_{name};"

    def c_init_code_struct(self, node: Apply, name: str, sub: Any) -> str:
        return f"count_{name} = begin;"

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (z,) = outputs
        return f"""if ({z} == NULL) {z} = (PyArrayObject*)PyArray_ZEROS(0, NULL, NPY_INT64, 0);
        *(npy_int64*)PyArray_DATA({z}) = next(&count_{name});"""


def test_nodes_keep_a_state_of_their_own() -> None:
    x = pt.dscalar("x")
    f = rw.function([x], [Counter()(x), Counter()(x + 1)])
    g = rw.function([x], Counter()(x))
    assert [f(0.0), f(0.0), g(0.0)] == [[10, 10], [11, 11], 10]


def test_constants_are_folded_by_perform_or_stay() -> None:
    three, two = pt.constant(np.arange(3.0)), pt.constant(2.0)
    f = rw.function([], ScaleBoth()(three, two))
    assert f.nodes == []
    np.testing.assert_array_equal(f(), [0.0, 2.0, 4.0])
    f = rw.function([], Scale()(three, two))
    assert len(f.nodes) == 1
    np.testing.assert_array_equal(f(), [0.0, 2.0, 4.0])


def test_inside_a_loop_and_along_a_batch() -> None:
    x, y = pt.dvector("x"), pt.dscalar("y")
    last = rw.scan(lambda v: Scale()(v, y), outputs_info=[x], n_steps=3, return_updates=False)
    np.testing.assert_array_equal(rw.function([x, y], last[-1])([1.0, 2.0], 2.0), [8.0, 16.0])
    rows = pt.dmatrix("rows")
    many = pt.Blockwise(ScaleBoth(), "(n),()->(n)")(rows, y)
    np.testing.assert_array_equal(rw.function([rows, y], many)(np.eye(2), 3.0), 3 * np.eye(2))


def test_it_is_pickled() -> None:
    import pickle

    x, y = pt.dvector("x"), pt.dscalar("y")
    f = rw.function([x, y], Scale()(x, y) + 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))([1.0, 2.0], 3.0), [4.0, 7.0])


def test_an_op_with_c_code_that_is_no_COp() -> None:
    """As in Theano: of `Op` alone, or of one's own class; `perform` runs where there is one."""

    class Named(Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

    def c_code(self: Any, node: Any, name: str, inp: Any, out: Any, sub: Any) -> str:
        return f"""
        Py_XDECREF({out[0]});
        {out[0]} = (PyArrayObject*)PyArray_NewCopy({inp[0]}, NPY_CORDER);
        if (!{out[0]}) {sub["fail"]}
        *(double*)PyArray_DATA({out[0]}) += 1;
        """

    def perform(self: Any, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0] * 3

    x = pt.dvector("x")
    plain: Any = {"__props__": (), "c_code": c_code, "make_node": Named.make_node}
    for own in (type(Op)("Plain", (Op,), plain), type(Op)("Below", (Named,), {"c_code": c_code})):
        assert issubclass(own, COp)
        assert rw.function([x], own()(x))([1.0, 2.0]).tolist() == [2, 2]
        assert own() is own()
    both = type(Op)("Both", (Op,), plain | {"perform": perform})
    assert rw.function([x], both()(x))([1.0, 2.0]).tolist() == [3, 6]
    assert not issubclass(both, COp)
