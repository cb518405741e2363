"""`ExternalCOp`: C code in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import OptionError
from rewrite_engine.link.c import ExternalCOp, ParamsType
from rewrite_engine.scalar import ScalarType


class Norm(ExternalCOp):
    """The Euclidean norm of a vector, times a factor."""

    __props__ = ("factor",)
    params_type = ParamsType(factor=ScalarType("float32"))
    _cop_num_inputs = _cop_num_outputs = 2

    def __init__(self, factor: float) -> None:
        super().__init__("norm.c", "APPLY_SPECIFIC(norm)")
        self.factor = factor

    def infer_types(self, types: Any) -> Any:
        return [types[0].clone(shape=())]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_function_in_a_file(dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    f = rw.function([x], Norm(2.0)(x))
    found = f(np.array([3.0, 4.0], dtype))
    assert (found, found.dtype) == (10.0, dtype)
    with pytest.raises(ValueError, match="the norm of nothing") as caught:
        f(np.zeros(0, dtype))
    assert "test_external.py" in caught.value.__notes__[0]


class Sections(ExternalCOp):
    """Of a file that a test writes; of a vector, one like it."""

    __props__ = ("files", "function")

    def __init__(self, *files: Path, function: str | None = None) -> None:
        super().__init__([*files], function)
        self.files, self.function = files, function

    def infer_types(self, types: Any) -> Any:
        return types


CODE = """#section code
static_assert(ITEMSIZE_INPUT_0 == 8 && TYPENUM_OUTPUT_0 == NPY_DOUBLE, "macros");
double* room;
room = (double*)malloc(8);
calls_APPLY++;
Py_XDECREF(OUTPUT_0);
OUTPUT_0 = (PyArrayObject*)PyArray_NewCopy(INPUT_0, NPY_ANYORDER);
if (OUTPUT_0 == NULL) FAIL
if (PyArray_DIM(INPUT_0, 0) == 0) {
    PyErr_SetString(PyExc_ValueError, "empty");
    FAIL;
}
*(DTYPE_OUTPUT_0*)PyArray_DATA(OUTPUT_0) = calls_APPLY;
#section code_cleanup
free(room);
#section support_code_struct
long calls_APPLY;
#section init_code_struct
calls_APPLY = 100;
if (calls_APPLY < 0) FAIL
#section cleanup_code_struct
calls_APPLY = 0;
#section init_code_apply
long APPLY_SPECIFIC(local) = 1;
if (APPLY_SPECIFIC(local) != 1) return NULL;
"""


def test_every_section(tmp_path: Path) -> None:
    (tmp_path / "code.c").write_text(CODE)
    x = pt.dvector("x")
    f = rw.function([x], Sections(tmp_path / "code.c")(x))
    np.testing.assert_array_equal([f([1.0, 2.0]), f([1.0, 2.0])], [[101, 2], [102, 2]])
    with pytest.raises(ValueError, match="empty"):
        f([])
    np.testing.assert_array_equal(f([1.0]), [104])


def test_the_version_is_that_of_the_files(tmp_path: Path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    first.write_text("#section support_code\nint a;\n")
    second.write_text("#section support_code\nint b;\n")
    both = Sections(first, second)
    assert both.c_support_code() == "\nint a;\n\nint b;\n"
    assert both.c_code_cache_version() != Sections(first).c_code_cache_version()
    assert both.c_code_cache_version() == Sections(first, second).c_code_cache_version()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int a;\n#section code\n", "there is code before the first"),
        ("#section cod\n", "unknown section 'cod'; use code, code_cleanup, "),
        ("int a;\n", "there is code before"),
        ("", "there is no line `#section name`"),
    ],
)
def test_what_is_no_file_of_sections(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "code.c").write_text(text)
    with pytest.raises(OptionError, match=why):
        Sections(tmp_path / "code.c")


def test_a_section_code_or_a_function(tmp_path: Path) -> None:
    (tmp_path / "code.c").write_text(CODE)
    with pytest.raises(OptionError, match="has a section `code`: leave out func_name"):
        Sections(tmp_path / "code.c", function="f")
    (tmp_path / "none.c").write_text("#section support_code\n")
    x = pt.dvector("x")
    with pytest.raises(NotImplementedError, match="have no section `code`, and no perform"):
        rw.function([x], Sections(tmp_path / "none.c")(x))
    with pytest.raises(FileNotFoundError):
        Sections(tmp_path / "gone.c")
