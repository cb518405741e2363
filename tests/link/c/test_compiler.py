"""The compiler is found as setuptools does; what it says, or that there is none, is one error."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import compiler
from rewrite_engine.errors import CompileError, NoCompilerError
from rewrite_engine.graph.node import Apply
from rewrite_engine.link.c import OpenMPOp
from rewrite_engine.link.c.compiler import command, has_compiler, line_of, supports
from rewrite_engine.link.c.source import CSource, c_source_of
from tests.link.c.ops import Fraction, OfFractions, Same, Scale, ScaleBoth

x, y = pt.dvector("x"), pt.dscalar("y")


@pytest.mark.without_compiler
def test_without_a_compiler_perform_takes_over() -> None:
    with rw.config.change_flags(cxx=""):
        assert not has_compiler()
        for mode in (None, rw.Mode(linker="c|py")):
            f = rw.function([x, y], ScaleBoth()(x, y), mode=mode)
            np.testing.assert_array_equal(f([1.0], 2.0), [2.0])


@pytest.mark.without_compiler
def test_a_missing_compiler_is_one_clear_error() -> None:
    with rw.config.change_flags(cxx=""):
        for op, mode in ((Scale(), None), (ScaleBoth(), rw.Mode(linker="c"))):
            with pytest.raises(NoCompilerError, match="there is no C") as caught:
                rw.function([x, y], op(x, y), mode=mode)
            text = str(caught.value)
            assert ("Scale: there is no C++ compiler" in text) is (mode is None)
    with rw.config.change_flags(cxx="no-such-g++ -m64"):
        with pytest.raises(NoCompilerError, match=r"'no-such-g\+\+' .* is not found") as caught:
            rw.function([x, y], Scale()(x, y))
        text = str(caught.value)
        assert text.startswith("Scale: the C++ compiler")
        assert "input 0: x of type TensorType(float64, (None,))" in text
        assert "rw.function([x, y], Scale()(x, y))" in text


@pytest.mark.without_compiler
@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"CXX": "my-c++ -m64", "CC": "gcc"}, "my-c++ -m64"),
        ({"CC": "clang"}, "clang++"),
        ({"CC": "ccache gcc-12 -m64"}, "ccache g++-12 -m64"),
        ({"CC": "/opt/bin/x86_64-linux-gnu-gcc"}, "/opt/bin/x86_64-linux-gnu-g++"),
        ({"CC": "cc"}, "c++"),
        ({"CC": "icx", "PATH": ""}, ""),
        ({"PATH": ""}, ""),
    ],
)
def test_how_it_is_found(
    settings: dict[str, str], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CXX", "CC"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert compiler.__wrapped__() == found


def test_the_one_that_is_found_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CXX", "CC"):
        monkeypatch.delenv(name, raising=False)
    found = compiler.__wrapped__()
    assert shutil.which(found.split()[0])
    with rw.config.change_flags(cxx=None):
        assert rw.config.cxx == compiler()


class Broken(Same):
    """Whose text no compiler takes."""

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return "int right = 1;\nint wrong = not_declared;\n"


def test_what_the_compiler_says_is_in_the_error() -> None:
    out = pt.exp(Broken()(x))
    for mode in (None, rw.Mode(linker="c|py")):
        with pytest.raises(CompileError) as caught:
            rw.function([x], out, mode=mode)
        first, *lines = str(caught.value).splitlines()
        assert first == "Broken: the compiler rejects the C code"
        (at,) = [i for i, line in enumerate(lines) if line.startswith("Broken.c_code:2:")]
        assert "not_declared" in lines[at]
        assert lines[at + 1] == "    | int wrong = not_declared;"
        assert lines[-2] == "    input 0: x of type TensorType(float64, (None,))"
        assert lines[-1].endswith("out = pt.exp(Broken()(x))")
        assert "int wrong = not_declared;" in caught.value.source


def test_what_the_compiler_says_of_a_type() -> None:
    class Unreadable(Fraction):
        """Whose text no compiler takes."""

        def c_extract(self, name: str, sub: Any, check_input: bool = True, **kwargs: Any) -> str:
            return f"{name}.nothing = 1;"

    a = Unreadable()("a")
    op = OfFractions("", 1)
    op.itypes = [a.type]
    with pytest.raises(CompileError) as caught:
        rw.function([a], op(a))
    lines = str(caught.value).splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.startswith("Unreadable.c_extract:1:")]
    assert lines[at + 1] == "    | i0.nothing = 1;"


def test_a_long_message_is_cut() -> None:
    class Worse(Broken):
        """With many errors."""

        def c_code(self, node: Apply, *given: Any) -> str:
            return "\n".join([f"int v{i} = w{i};" for i in range(45)])

    with pytest.raises(CompileError, match=r"… \d+ more lines") as caught:
        rw.function([x], Worse()(x))
    assert len(str(caught.value).splitlines()) < 60


def test_a_module_that_cannot_be_loaded() -> None:
    class Undefined(Broken):
        """Calls what nobody has."""

        def c_support_code(self, **kwargs: Any) -> str:
            return 'extern "C" int rw_nobody_has_this();'

        def c_code(self, node: Apply, *given: Any) -> str:
            return "rw_nobody_has_this();"

    if sys.platform == "darwin":  # where it is found out when it is called
        pytest.skip("names are looked up late")
    with pytest.raises(CompileError, match="Undefined: .*rw_nobody_has_this"):
        rw.function([x], Undefined()(x))


def test_what_a_node_needs_is_in_the_command(tmp_path: Path) -> None:
    class Needs(Broken):
        """Everything there is."""

        def c_headers(self, **kwargs: Any) -> list[str]:
            return ["<map>", "my_header.h", '"quoted.h"']

        def c_header_dirs(self, **kwargs: Any) -> list[str]:
            return [str(tmp_path)]

        def c_libraries(self, c_compiler: Any) -> list[str]:
            return ["m"]

        def c_lib_dirs(self, **kwargs: Any) -> list[str]:
            return ["/somewhere/lib"]

        def c_compile_args(self, **kwargs: Any) -> list[str]:
            return ["-DNUMBER=7", "-ffast-math"]

        def c_no_compile_args(self, **kwargs: Any) -> list[str]:
            return ["-ffast-math", "-O3"]

        def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
            z = outputs[0]
            return f"""static_assert(FROM_HEADER + NUMBER == 10 && QUOTED == 1, "");
            npy_intp length = (npy_intp)ceil(1.5);
            {z} = (PyArrayObject*)PyArray_ZEROS(1, &length, NPY_DOUBLE, 0);"""

    (tmp_path / "my_header.h").write_text("#define FROM_HEADER 3\n#include <math.h>\n")
    (tmp_path / "quoted.h").write_text("#define QUOTED 1\n")
    node = Needs()(x).owner
    source = c_source_of(node)
    assert isinstance(source, CSource)
    words = command(source, "node.cpp", "node.so")
    assert {f"-I{tmp_path}", "-L/somewhere/lib", "-lm", "-DNUMBER=7"} <= set(words)
    assert not {"-ffast-math", "-O3"} & set(words)
    assert words.index("-lm") > words.index("node.cpp")
    assert f"-I{np.get_include()}" in words
    assert rw.function([x], node.outputs[0])([1.0]).shape == (2,)


def test_lines_of_a_section() -> None:
    text = 'first\n#line 1 "A.c_code"\none\n  two\n#line 1 "generated"\nthree\n'
    assert [line_of(text, "A.c_code", n) for n in (1, 2)] == ["one", "two"]
    assert (line_of(text, "B.c_code", 1), line_of(text, "A.c_code", 99)) == ("", "")


class Threads(OpenMPOp):
    """How many threads there are in a parallel region; 0 without OpenMP."""

    __props__ = ("openmp",)

    def infer_types(self, types: Any) -> Any:
        return [pt.lscalar]

    def c_code(self, node: Apply, name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        (z,) = outputs
        return f"""npy_int64 threads = 0;
        #ifdef _OPENMP
        #pragma omp parallel num_threads(2)
        {{
            #pragma omp single
            threads = omp_get_num_threads();
        }}
        #endif
        {z} = (PyArrayObject*)PyArray_ZEROS(0, NULL, NPY_INT64, 0);
        *(npy_int64*)PyArray_DATA({z}) = threads;"""

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


def test_openmp() -> None:
    assert rw.function([x], Threads(False)(x))([1.0]) == 0
    assert Threads().openmp is False
    with rw.config.change_flags(openmp=True):
        assert Threads().openmp is True
    if not supports(rw.config.cxx, "-fopenmp", "#include <omp.h>\nint main() { return 0; }"):
        pytest.skip("the compiler does not support OpenMP")
    assert rw.function([x], Threads(True)(x))([1.0]) == 2
    assert not supports(rw.config.cxx, "-fno-such-flag-at-all", "int main() { return 0; }")


def test_a_compiler_without_openmp_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewrite_engine.link.c.op.supports", lambda *given: False)
    with pytest.warns(UserWarning, match="does not support OpenMP"):
        assert Threads(True).c_compile_args() == []


def test_the_environment_is_not_changed() -> None:
    before = dict(os.environ)
    rw.function([x, y], Scale()(x, y))
    assert dict(os.environ) == before
