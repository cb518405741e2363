"""Native code for ops of users: formulas of other ops, and C source."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    BadThunkOutput,
    CompileError,
    DTypeError,
    ForeignObjectError,
    OptionError,
    ShapeError,
)
from rewrite_engine.language import Float, rule
from rewrite_engine.link.c.compiler import has_compiler
from rewrite_engine.link.formula import formula_of
from rewrite_engine.link.native import own_code
from rewrite_engine.scalar import ScalarOp
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.op import Shapes, TensorOp

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """double huber(double x) {
    double a = fabs(x);
    return a <= 1 ? 0.5 * x * x : a - 0.5;
}"""
with_compiler = pytest.mark.skipif(not has_compiler(), reason="there is no C++ compiler")


def huber_values(x: Any, out: Any = None) -> Any:
    return special.huber(1.0, x, out=out)


def huber_gradient(m: Any, g: Any, z: Any, x: Any) -> Any:
    return g * m.clip(x, -1.0, 1.0)


def huber_formula(m: Any, x: Any) -> Any:
    return m.switch(abs(x) <= 1, 0.5 * x**2, abs(x) - 0.5)


def huber(**code: Any) -> Any:
    """The elementwise op, with code of these kinds."""
    return pt.Elemwise(ScalarOp(
        "huber", 1, grad=(huber_gradient,), compute=huber_values, inner=float_dtype,
        dtypes=float_dtype, range="[0, inf)", keeps="finite", **code,
    ))  # fmt: skip


FORMULA = {"formula": huber_formula}
C = {"c_source": {"float64": SOURCE}}
KINDS = [pytest.param(FORMULA, id="formula"), pytest.param(C, id="C", marks=with_compiler)]
both = pytest.mark.parametrize("code", KINDS)


def ops_of(f: Any) -> list[str]:
    return [str(node.op) for node in f.nodes]


def is_one_region(f: Any) -> bool:
    return len(f.nodes) == 1 and str(f.nodes[0].op).startswith("Native")


# --- values -----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
def test_a_region_is_not_cut(code: Any, dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    op = huber(**code)
    term = pt.exp(-op(x) * 2).sum()
    native, vm = rw.function([x], term, mode="native"), rw.function([x], term, mode="vm")
    assert is_one_region(native)
    for n in (0, 1, 3, 8, 31, 1000):
        values = np.random.default_rng(n).integers(0, 5, n).astype(dtype)
        found, expected = native(values), vm(values)
        assert found.dtype == expected.dtype
        rtol = 1e-6 if expected.dtype == "float32" else 1e-13
        np.testing.assert_allclose(found, expected, rtol=rtol)


@both
def test_elements_are_those_of_perform(code: Any) -> None:
    x = pt.dvector("x")
    f = rw.function([x], huber(**code)(x), mode="native")
    values = np.array([0.0, -0.0, 1.0, -1.0, 1e300, -np.inf, np.inf, np.nan, 0.3, 1e-300, 7.0])
    np.testing.assert_allclose(f(values), huber_values(values), rtol=1e-15)


@both
def test_without_code_the_op_runs_on_the_vm(code: Any) -> None:
    x = pt.dvector("x")
    f = rw.function([x], pt.exp(huber()(x) * 2), mode="native")
    assert [name.split("{")[0] for name in ops_of(f)] == ["huber", "Native"]
    g = rw.function([x], pt.exp(huber(**code)(x) * 2), mode="vm")
    assert any(name.startswith("huber") for name in ops_of(g))
    np.testing.assert_allclose(g([0.5, 3.0]), f([0.5, 3.0]))


@both
def test_numbers_matrices_and_other_orders(code: Any) -> None:
    op, s, m = huber(**code), pt.dscalar("s"), pt.dmatrix("m")
    f = rw.function([s, m], [op(s), op(m) + s, op(m.T)[::2]], mode="native")
    values = np.arange(-6.0, 6.0).reshape(3, 4)
    for given in (values, np.asfortranarray(values), values[::-1, ::2]):
        one, two, three = f(3.0, given)
        assert one == 2.5
        np.testing.assert_allclose(two, huber_values(given) + 3)
        np.testing.assert_allclose(three, huber_values(given.T)[::2])


@both
def test_gradients(code: Any) -> None:
    x = pt.dvector("x")
    op = huber(**code)
    f = rw.function([x], rw.grad(op(x * 2).sum(), x), mode="native")
    np.testing.assert_allclose(f([-3.0, 0.2]), [-2.0, 0.8])
    rw.gradient.verify_grad(lambda v: op(v).sum(), [np.array([-3.0, 0.5, 2.0])])


def plus_values(x: Any, y: Any, out: Any = None) -> Any:
    return np.add(x, np.multiply(2, y), out=out)


def plus(**code: Any) -> Any:
    return pt.Elemwise(
        ScalarOp("plus", 2, compute=plus_values, inner=float_dtype, dtypes=float_dtype, **code)
    )


PLUS = [
    pytest.param({"formula": lambda m, x, y: x + 2 * y}, id="formula"),
    pytest.param(
        {"c_source": {"float64": "double plus(double x, double y) { return x + 2 * y; }"}},
        id="C", marks=with_compiler,
    ),
]  # fmt: skip


@pytest.mark.parametrize("code", PLUS)
def test_broadcasting(code: Any) -> None:
    op, x, m, s = plus(**code), pt.dvector("x"), pt.dmatrix("m"), pt.dscalar("s")
    f = rw.function([x, m, s], [op(x, m), op(m, s), op(s, x), op(x, 1), op(1, s)], mode="native")
    assert is_one_region(f)
    a, b = np.arange(5.0), np.arange(15.0).reshape(3, 5)
    found = f(a, b, 3.0)
    for value, expected in zip(found, [a + 2 * b, b + 6, 3 + 2 * a, a + 2, np.array(7.0)]):
        assert value.shape == expected.shape
        np.testing.assert_array_equal(value, expected)


def test_an_input_that_a_formula_does_not_read_gives_its_shape() -> None:
    def values(x: Any, y: Any, out: Any = None) -> Any:
        return np.add(x, 0 * y, out=out)

    op = pt.Elemwise(ScalarOp("first", 2, compute=values, inner=float_dtype,
                              formula=lambda m, x, y: x))  # fmt: skip
    x, m = pt.dvector("x"), pt.dmatrix("m")
    f = rw.function([x, m], op(x, m) * 2, mode="native")
    assert is_one_region(f)
    assert f([1.0, 2.0], np.zeros((3, 2))).tolist() == [[2.0, 4.0]] * 3
    constant = pt.Elemwise(ScalarOp("three", 1, compute=lambda x, out=None: 0 * x + 3,
                                    inner=float_dtype, formula=lambda m, x: 3.0))  # fmt: skip
    assert rw.function([x], constant(x), mode="native")([1.0, 2.0]).tolist() == [3.0, 3.0]


@both
def test_in_loops(code: Any) -> None:
    x, op = pt.dvector("x"), huber(**code)
    out = rw.scan(lambda v, h: op(v + h), x, pt.constant(0.0), return_updates=False)
    slope = rw.grad(out.sum(), x)
    native, vm = [rw.function([x], [out, slope], mode=mode) for mode in ("native", "vm")]
    assert not any("huber" in name or name == "Scan" for name in ops_of(native))
    for found, expected in zip(native([1.0, 2.0, -4.0]), vm([1.0, 2.0, -4.0])):
        np.testing.assert_allclose(found, expected)


def test_graphs_of_ops_in_loops_are_inlined() -> None:
    a, x = pt.dscalar("a"), pt.dvector("x")
    held = rw.compile.OpFromGraph([a], [pt.exp(-a) + 1])
    out = rw.scan(lambda v, h: held(v + h), x, pt.constant(0.0), return_updates=False)
    native, vm = [rw.function([x], out, mode=mode) for mode in ("native", "vm")]
    assert not any(name == "Scan" for name in ops_of(native))
    np.testing.assert_allclose(native([1.0, 2.0]), vm([1.0, 2.0]))


# --- formulas of ops on arrays -----------------------------------------------------------------


class Centred(TensorOp):
    """An array minus its mean, and the mean."""

    __props__ = ("kind",)
    output_names = ("rest", "mean")

    def __init__(self, kind: str = "right") -> None:
        self.kind = kind

    def dtypes(self, a: Any) -> list[str]:
        return [a.dtype, a.dtype]

    def shapes(self, a: Any) -> Shapes:
        return Shapes([[(0, i) for i in range(a.ndim)], []])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        (a,) = inputs
        output_storage[0][0] = a - a.mean()
        output_storage[1][0] = np.asarray(a.mean())

    def formula(self, a: Any) -> Any:
        mean = a.mean()
        others: dict[str, Any] = {
            "one output": a - mean, "dtype": [(a - mean).astype("float32"), mean],
            "rank": [a, a], "length": [pt.zeros((7,)), mean], "no variable": ["a", mean],
            "input": [a - pt.dscalar("loose"), mean], "none": None,
            "self": [Centred("self")(a)[0], mean], "twice": [a, a.sum()],
        }  # fmt: skip
        return others.get(self.kind, [a - mean, mean])


def test_several_outputs_in_one_region() -> None:
    x = pt.dvector("x")
    rest, mean = Centred()(x)
    f = rw.function([x], [pt.exp(rest), mean * 2], mode="native")
    assert is_one_region(f)
    assert f([1.0, 3.0])[1] == 4.0
    np.testing.assert_allclose(f([1.0, 3.0])[0], np.exp([-1.0, 1.0]))
    single = pt.fvector("single")
    assert rw.function([single], Centred()(single)[0], mode="native")(
        np.float32([1, 3])
    ).dtype == np.dtype("float32")


def test_a_formula_that_declines() -> None:
    x = pt.dvector("x")
    f = rw.function([x], pt.exp(Centred("none")(x)[0]), mode="native")
    assert [name.split("{")[0] for name in ops_of(f)] == ["Centred", "Native"]


WRONG = [
    ("one output", ForeignObjectError, "its formula returns 1 outputs, and the op has 2"),
    ("dtype", DTypeError, "output 0 of its formula has dtype float32; the op declares Tensor"),
    ("rank", ShapeError, "output 1 of its formula has 1 dimension; the op declares TensorType"),
    ("length", ShapeError, r"output 0 of its formula has shape \(7,\); the op declares"),
    ("no variable", ForeignObjectError, "output 0 of its formula is str 'a'; the op declares"),
    ("input", ForeignObjectError, "its formula depends on loose, which is none of its inputs"),
    ("self", ForeignObjectError, "its formula contains the op itself"),
]


@pytest.mark.parametrize(("kind", "error", "text"), WRONG, ids=[kind for kind, *_ in WRONG])
def test_wrong_formulas_are_errors_of_the_op(kind: str, error: Any, text: str) -> None:
    x = pt.vector("x", shape=(3,))
    rest = Centred(kind)(x)[0]
    with pytest.raises(error, match=text) as caught:
        rw.function([x], rest, mode="native")
    assert str(caught.value).startswith("Centred")
    assert "built at" in str(caught.value)
    np.testing.assert_array_equal(rw.function([x], rest, mode="vm")([1, 2, 3]), [-1, 0, 1])


def test_what_a_formula_raises_names_the_op() -> None:
    def fails(m: Any, x: Any) -> Any:
        raise KeyError("missing")

    x = pt.dvector("x")
    with pytest.raises(KeyError) as caught:
        rw.function([x], huber(formula=fails)(x), mode="native")
    assert caught.value.__notes__[0].startswith("huber: raised by its formula\n    built at")


def test_static_lengths_that_a_formula_does_not_know() -> None:
    class Head(TensorOp):
        __props__ = ()

        def dtypes(self, a: Any) -> list[str]:
            return [a.dtype]

        def shapes(self, a: Any) -> Shapes:
            return Shapes([[2]])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = inputs[0][:2].copy()

        def formula(self, a: Any) -> Any:
            return a[:2]

    x = pt.dvector("x")
    f = rw.function([x], Head()(x) + np.array([1.0, 2.0]), mode="native")
    assert is_one_region(f)
    assert f([1.0, 2.0, 3.0]).tolist() == [2.0, 4.0]
    with pytest.raises(ShapeError):
        f([1.0])


def test_lengths_that_differ_when_it_runs_are_errors_of_the_op() -> None:
    class Doubled(TensorOp):
        __props__ = ()

        def dtypes(self, a: Any) -> list[str]:
            return [a.dtype]

        def shapes(self, a: Any) -> Shapes:
            return Shapes([[(0, 0)]])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = 2 * inputs[0]

        def formula(self, a: Any) -> Any:
            return 2 * a[:3]

    x = pt.dvector("x")
    f = rw.function([x], pt.exp(Doubled()(x)), mode="native")
    assert is_one_region(f)
    np.testing.assert_allclose(f([0.0, 1.0]), np.exp([0.0, 2.0]))
    with pytest.raises(ShapeError, match=r"formula of Doubled: shapes \(3,\) and \(4,\)") as caught:
        f([0.0, 1.0, 2.0, 3.0])
    assert "test_own_code.py" in str(caught.value)


def test_ops_on_arrays_in_loops() -> None:
    m = pt.dmatrix("m")
    out = rw.scan(lambda v: Centred()(v)[0] * 2, m, return_updates=False)
    f = rw.function([m], out, mode=rw.Mode("native", optimizer=None))
    assert is_one_region(f)
    assert f(np.arange(6.0).reshape(2, 3)).tolist() == [[-2.0, 0.0, 2.0]] * 2


def test_a_formula_with_an_op_of_the_vm_is_not_inlined() -> None:
    x = pt.dvector("x")
    op = huber(formula=lambda m, x: huber()(x))
    f = rw.function([x], pt.exp(op(x)), mode="native")
    assert [name.split("{")[0] for name in ops_of(f)] == ["huber", "Native"]
    from rewrite_engine.link.native.inline import reason

    assert reason(op(x).owner) == "its formula has huber: no loop for dtypes float64"


def test_formulas_in_formulas() -> None:
    x = pt.dvector("x")
    inner = huber(**FORMULA)
    op = pt.Elemwise(
        ScalarOp("outer", 1, compute=lambda x, out=None: huber_values(2 * x) + 1,
                 inner=float_dtype, formula=lambda m, x: inner(2 * x) + 1)
    )  # fmt: skip
    f = rw.function([x], pt.exp(op(x)), mode="native")
    assert is_one_region(f)
    np.testing.assert_allclose(f([0.1, 4.0]), np.exp(huber_values(np.array([0.2, 8.0])) + 1))


def test_a_rule_that_makes_the_op_of_its_formula() -> None:
    op = huber(**FORMULA)

    @rule(phase="specialize")
    def huber_of_switch(x: Float):  # type: ignore[no-untyped-def]
        """Recognise the formula."""
        return pt.switch(pt.abs(x) <= 1, 0.5 * pt.sqr(x), pt.abs(x) - 0.5) >> op(x)

    x = pt.dvector("x")
    f = rw.function([x], pt.exp(huber_formula(pt, x)), mode=rw.Mode("native") + huber_of_switch)
    assert is_one_region(f)
    np.testing.assert_allclose(f([0.1, 4.0]), np.exp(huber_values(np.array([0.1, 4.0]))))


def test_another_formula_is_another_graph() -> None:
    x = pt.dvector("x")
    found = []
    for k in (1, 2):
        op = huber(formula=lambda m, x, k=k: x * k + 10)
        found.append(rw.function([x], op(x), mode="native")([1.0, 2.0]).tolist())
    assert found == [[11.0, 12.0], [12.0, 14.0]]
    first, second = [formula_of(huber(**FORMULA)(x).owner) for _ in range(2)]
    assert first is not None
    assert second is not None
    assert first[1][0] is not second[1][0]  # each node gets variables of its own


# --- C ----------------------------------------------------------------------------------------

INTEGERS = {
    "int64": "int64_t quotient(int64_t x, int64_t y) { return x / y; }",
    "int32": "int32_t quotient(int32_t x, int32_t y) { return x / y; }",
}


def quotient_values(x: Any, y: Any, out: Any = None) -> Any:
    return np.floor_divide(x, y, out=out)


@with_compiler
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16"])
def test_c_of_integers_sees_no_element_that_is_not_there(dtype: str) -> None:
    """A vector that is not full has zeros behind its end: a division by them would trap."""
    op = pt.Elemwise(ScalarOp("quotient", 2, compute=quotient_values, c_source=INTEGERS,
                              dtypes=lambda *d: d[0]))  # fmt: skip
    a, b = pt.vector("a", dtype=dtype), pt.vector("b", dtype=dtype)
    f = rw.function([a, b], op(a, b) + 1, mode="native")
    assert is_one_region(f) == (dtype != "int16")
    for n in (1, 5, 7, 8, 9, 17):
        x, y = np.arange(n, dtype=dtype), np.arange(1, n + 1, dtype=dtype)
        np.testing.assert_array_equal(f(x, y), x // y + 1)


@with_compiler
def test_c_by_dtype() -> None:
    source = {"float64": SOURCE, "float32": "float huber(float x) { return 5; }"}
    for dtype, expected in (("float64", 1.5), ("float32", 5.0)):
        x = pt.vector("x", dtype=dtype)
        f = rw.function([x], huber(c_source=source)(x), mode="native")
        assert f(np.array([2], dtype)).tolist() == [expected]
    x = pt.vector("x", dtype="float64")
    only = huber(c_source={"float32": "float huber(float x) { return 5; }"})
    assert ops_of(rw.function([x], only(x), mode="native")) == ["huber"]


@with_compiler
def test_helpers_and_headers_in_c() -> None:
    text = "#include <stdlib.h>\nstatic double half(double x) { return x / 2; }\n"
    op = huber(c_source={"float64": text + "double huber(double x) { return half(x) + 1; }"})
    x = pt.dvector("x")
    assert rw.function([x], op(x), mode="native")([2.0]).tolist() == [2.0]


@with_compiler
def test_another_c_text_is_other_machine_code(tmp_path: Path) -> None:
    x = pt.dvector("x")
    found = []
    with rw.config.change_flags(compiledir=str(tmp_path)):
        for k in (1, 2, 1):
            text = f"double huber(double x) {{ return x + {k}; }}"
            op = huber(c_source={"float64": text})
            found.append(rw.function([x], op(x), mode="native")([0.0]).tolist())
    assert found == [[1.0], [2.0], [1.0]]
    assert len(list(tmp_path.glob("c/*.so"))) == 2


@with_compiler
def test_c_that_the_compiler_refuses() -> None:
    x = pt.dvector("x")
    op = huber(c_source={"float64": "double huber(double x) {\n    return y;\n}"})
    with pytest.raises(CompileError) as caught:
        rw.function([x], op(x), mode="native")
    lines = str(caught.value).splitlines()
    assert lines[0] == "huber: the compiler rejects the C code"
    assert any(line.startswith("huber.c_source:2:") for line in lines)
    assert "    | return y;" in lines


def test_without_a_compiler_the_vm_runs_the_op() -> None:
    from rewrite_engine.link.native.lower import why_not

    x = pt.dvector("x")
    with rw.config.change_flags(cxx=""):
        op = huber(**C)
        f = rw.function([x], pt.exp(op(x) * 2), mode="native")
        assert [name.split("{")[0] for name in ops_of(f)] == ["huber", "Native"]
        assert why_not(op(x).owner) == "its C code needs a compiler, and there is none"
        np.testing.assert_allclose(f([2.0]), np.exp(3.0))


def test_a_formula_is_preferred_to_c() -> None:
    x = pt.dvector("x")
    op = huber(formula=lambda m, x: x + 1, c_source={"float64": "no C at all"})
    assert rw.function([x], op(x), mode="native")([1.0]).tolist() == [2.0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"formula": 3}, "formula is a function"),
        ({"c_source": SOURCE}, "c_source is a dict of C texts by dtype"),
        ({"c_source": {"float16": SOURCE}}, "c_source takes the dtypes float64, .* not 'float16'"),
        ({"c_source": {"float64": 1}}, r"c_source\['float64'\] is a C text"),
    ],
)
def test_wrong_options(options: Any, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        huber(**options)
    for name, nin in (("no name", 1), ("many", None)):
        with pytest.raises(OptionError, match="needs a fixed number of inputs and the name of a C"):
            ScalarOp(name, nin, compute=huber_values, c_source={"float64": SOURCE})


def test_units_are_named_by_their_text() -> None:
    names = {
        own_code.own_unit(huber(c_source={dtype: text}).scalar_op, dtype)
        for dtype in ("float64", "float32")
        for text in ("a", "b")
    }
    assert len(names) == 4


# --- around -----------------------------------------------------------------------------------


@both
def test_debug_mode_and_check_compare_the_code_with_perform(code: Any) -> None:
    x = pt.dvector("x")
    assert rw.function([x], huber(**code)(x), mode="DebugMode")([3.0]).tolist() == [2.5]
    wrong: Any = {"formula": lambda m, x: x * 1.0} if "formula" in code else {
        "c_source": {"float64": "double huber(double x) { return x; }"}
    }  # fmt: skip
    f = rw.function([x], huber(**wrong)(x), mode="DebugMode")
    with pytest.raises(BadThunkOutput, match="other values than its perform"):
        f([3.0])
    assert "forms" in [finding.name for finding in rw.check(huber(**wrong)).findings]
    assert rw.check(huber(**code)).findings == []


@both
def test_pickles(code: Any) -> None:
    x = pt.dvector("x")
    op = huber(**code)
    assert pickle.loads(pickle.dumps(op)) == op
    f = rw.function([x], op(x * 2).sum(), mode="native")
    again = pickle.loads(pickle.dumps(f))
    assert is_one_region(again)
    assert again([3.0, 0.1]) == f([3.0, 0.1])


MODULE = """
import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.scalar import ScalarOp
from rewrite_engine.scalar.dtype import float_dtype

def values(x, out=None):
    raise RuntimeError("the VM runs the op")

def formula(m, x):
    return x + {k}

op = pt.Elemwise(ScalarOp("mine", 1, compute=values, inner=float_dtype, {code}))
"""


@both
def test_saved_functions_use_the_code_of_their_module(code: Any, tmp_path: Path) -> None:
    """In other processes; with a changed formula or C text no old machine code runs."""

    def run(program: str, *args: str) -> str:
        path = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        flags = {"REWRITE_ENGINE_FLAGS": f"compiledir={tmp_path / 'cache'},linker=native"}
        command = [sys.executable, "-B", "-c", path + program, *args]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | flags)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(k: int) -> None:
        texts = {"formula": "formula=formula", "c_source": (
            f"c_source={{'float64': 'double mine(double x) {{ return x + {k}; }}'}}"
        )}  # fmt: skip
        (name,) = code
        (tmp_path / "mine.py").write_text(MODULE.format(k=k, code=texts[name]))

    save = """import mine, rewrite_engine as rw, rewrite_engine.tensor as pt
x = pt.dvector("x")
f = rw.function([x], pt.exp(0 * mine.op(x)) * mine.op(x))
rw.save(f, sys.argv[1])
print(f([1.0])[0])"""
    load = "import rewrite_engine as rw; print(rw.load(sys.argv[1])([1.0])[0])"
    file = str(tmp_path / "f.rw")
    write(1)
    assert run(save, file) == "2.0"
    assert run(load, file) == "2.0"
    write(2)
    assert run(save, file) == "3.0"
    assert run(load, file) == "3.0"


def test_c_types_are_those_of_numpy() -> None:
    from rewrite_engine.scalar.own_code import C_TYPES

    assert all(np.dtype(dtype).kind in "fiu" for dtype in C_TYPES)
    assert set(C_TYPES) == set(own_code.KINDS) - {"bool"}
