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

    dtype is floatX by default. The older order `tensor("float64", shape)` and the argument
    `broadcastable=` are also accepted. Raises `DTypeError`, `ShapeError`.
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

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def vector(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 1 dimension, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def row(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def col(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def matrix(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 2 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def tensor3(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 3 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def tensor4(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 4 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def tensor5(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 5 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def tensor6(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 6 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def tensor7(
    name: str | None = None, *, dtype: DTypeLike = None, shape: Sequence[int | None] | None = None
) -> TensorVariable:
    """Return a new variable with 7 dimensions, of dtype floatX or `dtype`.

    shape: static lengths, None if unknown. Raises `NDimError`, `ShapeError`.
    """

def scalars(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def vectors(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def rows(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def cols(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def matrices(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def tensor3s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def tensor4s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def tensor5s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def tensor6s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

def tensor7s(
    *names: str | int | Sequence[str] | None,
    dtype: DTypeLike = None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

bscalar: TensorType
def bscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wscalar: TensorType
def wscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

iscalar: TensorType
def iscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

lscalar: TensorType
def lscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

fscalar: TensorType
def fscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dscalar: TensorType
def dscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

cscalar: TensorType
def cscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

zscalar: TensorType
def zscalars(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

bvector: TensorType
def bvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wvector: TensorType
def wvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ivector: TensorType
def ivectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

lvector: TensorType
def lvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

fvector: TensorType
def fvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dvector: TensorType
def dvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

cvector: TensorType
def cvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

zvector: TensorType
def zvectors(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

brow: TensorType
def brows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wrow: TensorType
def wrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

irow: TensorType
def irows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

lrow: TensorType
def lrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

frow: TensorType
def frows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

drow: TensorType
def drows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

crow: TensorType
def crows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

zrow: TensorType
def zrows(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

bcol: TensorType
def bcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wcol: TensorType
def wcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

icol: TensorType
def icols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

lcol: TensorType
def lcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

fcol: TensorType
def fcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dcol: TensorType
def dcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ccol: TensorType
def ccols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

zcol: TensorType
def zcols(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

bmatrix: TensorType
def bmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wmatrix: TensorType
def wmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

imatrix: TensorType
def imatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

lmatrix: TensorType
def lmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

fmatrix: TensorType
def fmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dmatrix: TensorType
def dmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

cmatrix: TensorType
def cmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

zmatrix: TensorType
def zmatrices(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

btensor3: TensorType
def btensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wtensor3: TensorType
def wtensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

itensor3: TensorType
def itensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ltensor3: TensorType
def ltensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ftensor3: TensorType
def ftensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dtensor3: TensorType
def dtensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ctensor3: TensorType
def ctensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ztensor3: TensorType
def ztensor3s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

btensor4: TensorType
def btensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wtensor4: TensorType
def wtensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

itensor4: TensorType
def itensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ltensor4: TensorType
def ltensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ftensor4: TensorType
def ftensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dtensor4: TensorType
def dtensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ctensor4: TensorType
def ctensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ztensor4: TensorType
def ztensor4s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

btensor5: TensorType
def btensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wtensor5: TensorType
def wtensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

itensor5: TensorType
def itensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ltensor5: TensorType
def ltensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ftensor5: TensorType
def ftensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dtensor5: TensorType
def dtensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ctensor5: TensorType
def ctensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ztensor5: TensorType
def ztensor5s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

btensor6: TensorType
def btensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wtensor6: TensorType
def wtensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

itensor6: TensorType
def itensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ltensor6: TensorType
def ltensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ftensor6: TensorType
def ftensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dtensor6: TensorType
def dtensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ctensor6: TensorType
def ctensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ztensor6: TensorType
def ztensor6s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

btensor7: TensorType
def btensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

wtensor7: TensorType
def wtensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

itensor7: TensorType
def itensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ltensor7: TensorType
def ltensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ftensor7: TensorType
def ftensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

dtensor7: TensorType
def dtensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ctensor7: TensorType
def ctensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

ztensor7: TensorType
def ztensor7s(
    *names: str | int | Sequence[str] | None,
    shape: Sequence[int | None] | None = None,
) -> list[TensorVariable]:
    """Return several variables.

    Pass names (`"xyz"`, `"x y z"`, `"x", "y"` or `["x", "y"]`), or a number of variables. Each
    letter of a single text without spaces is a name.
    """

