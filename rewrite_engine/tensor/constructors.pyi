"""Written by `scripts/stubs`; do not edit. Constructors of variables."""

from collections.abc import Sequence
from typing import Any

from rewrite_engine.tensor.annotation import DTypeLike
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.tensor.variable import TensorVariable

PREFIXES: dict[str, str]
KINDS: dict[str, tuple[int | None, ...]]
PREFIXED: dict[str, Any]
LISTS: dict[str, tuple[TensorType, ...]]

def tensor(
    name: str | None = None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
    *,
    broadcastable: Sequence[bool] | None = None,
) -> TensorVariable:
    """Return a new variable: `tensor("x", dtype="float32", shape=(None, 3))`.

    dtype is floatX by default. The older order `tensor("float64", shape)` and `broadcastable=` are
    understood. Raises `DTypeError`, `ShapeError`.
    """

int_types: tuple[TensorType, ...]
int_scalar_types: tuple[TensorType, ...]
int_vector_types: tuple[TensorType, ...]
int_matrix_types: tuple[TensorType, ...]
float_types: tuple[TensorType, ...]
float_scalar_types: tuple[TensorType, ...]
float_vector_types: tuple[TensorType, ...]
float_matrix_types: tuple[TensorType, ...]
complex_types: tuple[TensorType, ...]
complex_scalar_types: tuple[TensorType, ...]
complex_vector_types: tuple[TensorType, ...]
complex_matrix_types: tuple[TensorType, ...]
def scalar(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 0 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def vector(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 1 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def row(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def col(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def matrix(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def tensor3(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 3 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def tensor4(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 4 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def tensor5(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 5 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def tensor6(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 6 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def tensor7(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 7 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None where not known. Raises `NDimError`, `ShapeError`.
    """

def scalars(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def vectors(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def rows(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def cols(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def matrices(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def tensor3s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def tensor4s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def tensor5s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def tensor6s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

def tensor7s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

bscalar: TensorType
def bscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wscalar: TensorType
def wscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

iscalar: TensorType
def iscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

lscalar: TensorType
def lscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

fscalar: TensorType
def fscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dscalar: TensorType
def dscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

cscalar: TensorType
def cscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

zscalar: TensorType
def zscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

bvector: TensorType
def bvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wvector: TensorType
def wvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ivector: TensorType
def ivectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

lvector: TensorType
def lvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

fvector: TensorType
def fvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dvector: TensorType
def dvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

cvector: TensorType
def cvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

zvector: TensorType
def zvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

brow: TensorType
def brows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wrow: TensorType
def wrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

irow: TensorType
def irows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

lrow: TensorType
def lrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

frow: TensorType
def frows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

drow: TensorType
def drows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

crow: TensorType
def crows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

zrow: TensorType
def zrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

bcol: TensorType
def bcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wcol: TensorType
def wcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

icol: TensorType
def icols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

lcol: TensorType
def lcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

fcol: TensorType
def fcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dcol: TensorType
def dcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ccol: TensorType
def ccols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

zcol: TensorType
def zcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

bmatrix: TensorType
def bmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wmatrix: TensorType
def wmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

imatrix: TensorType
def imatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

lmatrix: TensorType
def lmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

fmatrix: TensorType
def fmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dmatrix: TensorType
def dmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

cmatrix: TensorType
def cmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

zmatrix: TensorType
def zmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

btensor3: TensorType
def btensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wtensor3: TensorType
def wtensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

itensor3: TensorType
def itensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ltensor3: TensorType
def ltensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ftensor3: TensorType
def ftensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dtensor3: TensorType
def dtensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ctensor3: TensorType
def ctensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ztensor3: TensorType
def ztensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

btensor4: TensorType
def btensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wtensor4: TensorType
def wtensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

itensor4: TensorType
def itensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ltensor4: TensorType
def ltensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ftensor4: TensorType
def ftensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dtensor4: TensorType
def dtensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ctensor4: TensorType
def ctensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ztensor4: TensorType
def ztensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

btensor5: TensorType
def btensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wtensor5: TensorType
def wtensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

itensor5: TensorType
def itensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ltensor5: TensorType
def ltensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ftensor5: TensorType
def ftensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dtensor5: TensorType
def dtensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ctensor5: TensorType
def ctensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ztensor5: TensorType
def ztensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

btensor6: TensorType
def btensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wtensor6: TensorType
def wtensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

itensor6: TensorType
def itensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ltensor6: TensorType
def ltensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ftensor6: TensorType
def ftensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dtensor6: TensorType
def dtensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ctensor6: TensorType
def ctensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ztensor6: TensorType
def ztensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

btensor7: TensorType
def btensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

wtensor7: TensorType
def wtensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

itensor7: TensorType
def itensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ltensor7: TensorType
def ltensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ftensor7: TensorType
def ftensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

dtensor7: TensorType
def dtensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ctensor7: TensorType
def ctensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

ztensor7: TensorType
def ztensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables: with names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or
    so many. One text without spaces has a name in each letter.
    """

