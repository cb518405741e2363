"""Every fact against values: constants of every dtype with everything that can be in them, and what
ops make of them. A fact may not know; what it says has to hold of the value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import facts
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.facts import *
from rewrite_engine.facts.zeros import is_in_band
from rewrite_engine.match.fact import Fact, because
from tests.tensor.evaluate import evaluate

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def is_square(value: Any) -> bool:
    return value.ndim == 2 and value.shape[0] == value.shape[1]


def wide(value: Any) -> Any:
    """As numbers that NumPy can compute with, integers exactly."""
    return value.astype("O") if value.dtype.kind in "biu" else value.astype("complex128")


def slack(value: Any) -> float:
    if value.dtype.kind not in "fc" or not value.size:
        return 0.0
    size = np.abs(np.where(np.isfinite(value), value, 0)).max()
    return float(8 * max(value.shape) * np.finfo(value.dtype).eps * float(size))


def is_symmetric(value: Any, answer: Any) -> bool:
    if not is_square(value):
        return False
    a = value.astype("complex128")
    return np.allclose(a, a.T, 0, slack(value), equal_nan=True)


def eigenvalues(value: Any) -> Any:
    return np.linalg.eigvalsh(value.astype("float64"))


def is_semidefinite(value: Any, answer: Any) -> bool:
    if not value.size:
        return is_square(value)
    if value.dtype.kind == "c" or not is_symmetric(value, answer):
        return False
    if not np.isfinite(value).all():
        return True  # it speaks of finite matrices
    return bool((eigenvalues(value) >= -slack(value.astype("float64")) - slack(value)).all())


def if_finite(holds: Any) -> Any:
    """What is said of finite matrices alone."""
    return lambda v, a: (
        v.ndim == 2 and (not np.isfinite(wide(v).astype("complex128")).all() or holds(v))
    )


def is_index(value: Any, answer: Any) -> bool:
    if value.dtype.kind not in "iu" or value.ndim != 1 or not value.size:
        return value.dtype.kind in "iu"
    size = 2 * min(2**62, int(np.abs(value.astype("O")).max())) + 2
    return len({int(v) % size for v in value}) == value.size


#: what each fact says, of values
MEANS: dict[Fact, Any] = {
    bounded: lambda v, a: (
        v.dtype.kind in "biuf"
        and bool(((wide(v).real >= a.value[0]) & (wide(v).real <= a.value[1])).all())
        if v.dtype.kind == "f"
        else all(a.value[0] <= int(w) <= a.value[1] for w in v.ravel())
    ),
    finite: lambda v, a: bool(np.isfinite(v).all()),
    whole: lambda v, a: v.dtype.kind != "c" and bool((np.isfinite(v) & (v == np.trunc(v))).all()),
    positive: lambda v, a: v.dtype.kind != "c" and not (v < 0).any(),  # 0: by rounding
    nonneg: lambda v, a: v.dtype.kind != "c" and not (v < 0).any(),
    nonzero: lambda v, a: bool((v != 0).all()),
    static_shape: lambda v, a: v.shape == a.value,
    distinct: lambda v, a: len(set(v.ravel().tolist())) == v.size,
    increasing: lambda v, a: (
        v.ndim == 1
        and not (v != v).any()
        and v.dtype.kind != "c"
        and sorted(v.tolist()) == v.tolist()
    ),
    unique_indices: is_index,
    symmetric: is_symmetric,
    square: lambda v, a: v.ndim > 1 and v.shape[-1] == v.shape[-2],
    diagonal: if_finite(lambda v: is_square(v) and not v[~np.eye(len(v), dtype=bool)].any()),
    lower_triangular: if_finite(lambda v: not np.triu(v, 1).any()),
    upper_triangular: if_finite(lambda v: not np.tril(v, -1).any()),
    unit_diagonal: lambda v, a: bool((v.diagonal() == 1).all()),
    orthogonal: if_finite(
        lambda v: np.allclose(wide(v) @ wide(v).conj().T, np.eye(len(v)), 0, len(v) * slack(v))
    ),
    invertible: if_finite(lambda v: np.linalg.matrix_rank(v.astype("complex128")) == len(v)),
    positive_semidefinite: is_semidefinite,
    positive_definite: is_semidefinite,
    fits: lambda v, a: True,  # (see `look`)
    cannot_fail: lambda v, a: True,
    band: lambda v, a: v.ndim == 2 and is_in_band(v, a.value),
    stored_once: lambda v, a: False,  # (of sparse matrices alone)
}  # fmt: skip

#: facts about one variable that have no meaning of their own: `used_once` is about graphs
ALONE = {f for f in vars(facts).values() if isinstance(f, Fact) and f.unary} - {used_once}


def test_every_fact_about_one_variable_is_looked_at() -> None:
    assert set(MEANS) == ALONE


def arrays(dtype: str) -> list[Any]:
    """What constants may be, of a dtype."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        rows: list[Any] = [[], [False], [True], [False, True], [True, False, True]]
    elif kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        rows = [[], [0], [3], [low, 0, high], [high, high - 1], [1, 2, 3], [3, 3], [2, 1]]
        rows += [[low, high], [5, 0, 1], [-1, 1], [-3, -2, -1]] if kind == "i" else []
    else:
        info = np.finfo(dtype)
        top, tiny = float(info.max), float(info.smallest_subnormal)
        rows = [[], [0.0], [-0.0], [1.5], [np.nan], [np.inf], [-np.inf], [1.0, 2.0, 4.0]]
        rows += [[0.0, -0.0], [np.nan, 1.0], [1.0, np.nan, 2.0], [1.0, np.inf], [top, tiny]]
        rows += [[-top, top], [tiny, 1.0], [-tiny], [0.5, -2.0], [np.nan, np.nan], [2.0, 2.0]]
        rows += [[1 + 2j], [1j, -1j], [complex(np.nan, 1)]] if kind == "c" else []
    with np.errstate(all="ignore"):
        made = [np.array(row).astype(dtype) for row in rows]
    made += [a.reshape(()) for a in made if a.size == 1]
    return made + matrices(dtype)


def matrices(dtype: str) -> list[Any]:
    two = [
        [[2, 1], [1, 2]], [[1, 0], [0, 1]], [[1, 2], [2, 1]], [[0, 0], [0, 0]], [[1, 1], [1, 1]],
        [[3, 0], [0, 0]], [[1, 2], [3, 4]], [[0, 1], [0, 0]], [[1, 0, 0], [0, 1, 0]], [[7]],
        [[1], [2]], [[1, 2]],
    ]  # fmt: skip
    special: list[Any] = []
    if np.dtype(dtype).kind in "iu":  # sums and products of these wrap around
        half = int(np.iinfo(dtype).max) // 2 + 1
        special = [[[half, half], [half, half]], [[half, 1], [1, 1]], [[half - 1, 0], [0, half]]]
    if np.dtype(dtype).kind in "fc":
        nan, inf = np.nan, np.inf
        special = [[[nan]], [[1, nan], [nan, 1]], [[inf, 0], [0, 1]], [[1, nan], [0, 1]]]
        special += [[[nan, 0], [0, nan]], [[-1, 0], [0, 1]], [[1, -0.0], [0.0, 1]]]
    if np.dtype(dtype).kind == "c":
        special += [[[1, 1j], [1j, 1]], [[1, 1j], [-1j, 1]]]
    with np.errstate(all="ignore"):
        return [np.zeros((0, 0), dtype), np.zeros((2, 0), dtype)] + [
            np.array(m).astype(dtype) for m in (*two, *special)
        ]


def check(term: Any, value: Any) -> int:
    """Ask every fact of a term; return how many said something."""
    said = 0
    for fact, means in MEANS.items():
        answer = fact(term)
        assert str(answer)
        if answer:
            said += 1
            with np.errstate(all="ignore"):
                assert means(value, answer), (fact.name, str(answer), term, value)
    return said


def label(a: Any) -> str:
    return f"{a.dtype}{a.shape}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants(dtype: str) -> None:
    assert sum(check(pt.constant(a, dtype=dtype), a) for a in arrays(dtype)) > 10


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_declared_something_of(dtype: str) -> None:
    """The test of a value (`function(..., check=True)`) does not fail for any dtype, and holds
    where the fact holds of the constant.
    """
    for a in arrays(dtype):
        constant = pt.constant(a, dtype=dtype)
        for fact, means in MEANS.items():
            answer = fact(constant)
            more = {bounded: (0, 1), static_shape: a.shape}.get(fact)
            held = fact.of_value(constant.type, a, answer.value if answer else more)
            if answer:
                assert held, (fact.name, a)
            elif held:
                assert means(a, because("tested", value=more)), (fact.name, a)


UNARY = [
    pt.exp, pt.exp2, pt.expm1, pt.log, pt.log1p, pt.sigmoid, pt.softplus, pt.abs, pt.sqr, pt.sqrt,
    pt.neg, pt.sign, pt.sin, pt.cos, pt.tanh, pt.arctan, pt.sinh, pt.cosh, pt.arcsinh, pt.erf,
    pt.erfc, pt.floor, pt.ceil, pt.trunc, pt.round, pt.reciprocal, pt.identity,
    *[lambda v, t=t: pt.cast(v, t) for t in DTYPES],
    lambda v: v.T, lambda v: v[::-1], lambda v: v[1:], lambda v: v[..., None], lambda v: v.ravel(),
    lambda v: v[:1], lambda v: v.sum(), lambda v: v.sum(axis=-1), lambda v: v.prod(axis=0),
    lambda v: v.max(), lambda v: v.min(axis=0), lambda v: v.mean(), lambda v: v.argmax(),
    lambda v: v.sum(dtype="float64", acc_dtype=v.type.dtype), lambda v: v.prod(dtype="float32"),
    lambda v: pt.cumsum(v), lambda v: pt.softmax(v, axis=-1), lambda v: pt.log_softmax(v, axis=-1),
    lambda v: v + v.T, lambda v: v @ v.T, lambda v: v.T @ v, lambda v: v * v, lambda v: v * v.T,
    lambda v: v - v.T, lambda v: pt.eye(v.shape[0]), lambda v: pt.eye(v.shape[0]) * v,
    lambda v: pt.eye(v.shape[0]) + v, lambda v: pt.arange(v.shape[0]), lambda v: v.shape[0],
    lambda v: pt.arange(v.shape[0])[::-1], lambda v: pt.arange(v.shape[0]) - 1,
    lambda v: pt.eye(v.shape[0]) + 5, lambda v: pt.eye(v.shape[0]) - v[:1, :1],
    lambda v: pt.eye(v.shape[0], k=1), lambda v: -pt.eye(v.shape[0]),
    lambda v: pt.set_subtensor(v[:1], pt.cast(1, v.type.dtype)),
    lambda v: pt.inc_subtensor(v[:1], pt.cast(1, v.type.dtype)), lambda v: pt.clip(v, 0, 1),
    lambda v: pt.diag(v) if v.type.ndim == 1 else v, lambda v: pt.ones_like(v),
    lambda v: pt.alloc(v.ravel()[0], 3, 3), lambda v: pt.join(0, v, v), lambda v: pt.var(v),
]  # fmt: skip
BINARY = [
    pt.add, pt.sub, pt.mul, pt.true_div, pt.pow, pt.maximum, pt.minimum, pt.arctan2, pt.logaddexp,
    pt.second, lambda v, w: pt.switch(v > 0, v, w), lambda v, w: pt.join(0, v, w), pt.dot,
    lambda v, w: pt.add(v, w, v), lambda v, w: pt.mul(v, w, v, w), lambda v, w: v < w,
    lambda v, w: v // w, lambda v, w: v % w, lambda v, w: pt.sqr(v) * w,
    lambda v, w: pt.inc_subtensor(v[:2], w[:2]), lambda v, w: pt.set_subtensor(v[:2], w[:2]),
]  # fmt: skip


def apply(op: Any, *operands: Any) -> Any:
    """The term, or None where there is none for these types."""
    try:
        made = op(*operands)
    except (RewriteEngineError, TypeError, ValueError, IndexError):
        return None
    return made if hasattr(getattr(made, "type", None), "kind") else None


def look(term: Any, given: Any = None) -> int:
    """Facts of a term held against its value."""
    if term is None:
        return 0
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(evaluate(term, given or {}))
    except (RewriteEngineError, TypeError, ValueError, ZeroDivisionError, IndexError):
        value = None  # shapes that do not fit
    if value is None:
        assert not cannot_fail(term), term
        return 0
    return check(term, value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_op_on_constants(dtype: str) -> None:
    every, said = arrays(dtype), 0
    for i, op in enumerate(UNARY):
        for a in every[i % 4 :: 4]:
            said += look(apply(op, pt.constant(a, dtype=dtype)))
    assert said > 100


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_constants(dtype: str) -> None:
    """Bounds of computed values: the ends are those of constants, nothing is left to spare."""
    rng = np.random.default_rng(DTYPES.index(dtype))
    mine = [a for a in arrays(dtype) if a.ndim <= 1]
    said = 0
    for other in DTYPES:
        theirs = [a for a in arrays(other) if a.ndim <= 1 and a.size]
        for op in BINARY:
            for _ in range(2):
                a, b = mine[rng.integers(len(mine))], theirs[rng.integers(len(theirs))]
                b = b[rng.integers(b.size)] if b.ndim else b
                said += look(apply(op, pt.constant(a), pt.constant(b)))
    assert said > 100


WRAPS = pt.constant([[40000, 40000], [40000, 40000]], dtype="uint16")
FEW = pt.constant([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype="bool")  # a sum of these is their "or"


@pytest.mark.parametrize(
    ("term", "fact", "value"),
    [
        (pt.constant(np.eye(2), dtype="float16"), positive_definite, True),
        (pt.constant([np.nan]), increasing, False),
        (pt.constant(np.array([[1, 1j], [1j, 1]])), positive_semidefinite, False),
        (pt.eye(3) + 5, diagonal, False),
        (pt.constant([9, 127], dtype="int8").sum(dtype="float64", acc_dtype="int8"), nonneg, False),
        (pt.constant([[1, -0.0], [0.0, 1]]), symmetric, False),
        (pt.abs(pt.constant([3779765727251310113])), bounded, True),
        (pt.constant([2]) / pt.constant([-6421457738047802175]), bounded, True),
        (WRAPS + pt.constant([[40000, 100], [100, 100]], dtype="uint16"), positive_definite, False),
        (WRAPS + WRAPS, positive_semidefinite, False),
        (WRAPS * pt.constant(2, dtype="uint16"), positive_semidefinite, False),
        (WRAPS @ WRAPS.T, positive_semidefinite, False),
        (WRAPS + WRAPS, symmetric, True),
        (FEW + FEW[::-1, ::-1], positive_semidefinite, False),
        (FEW + pt.constant(np.eye(3) > 0), positive_semidefinite, False),
        (WRAPS.T, positive_semidefinite, True),
        (WRAPS + pt.constant(np.eye(2)), positive_definite, True),
        (WRAPS * pt.constant(2.0), positive_semidefinite, True),
        (pt.eye(3, dtype="int8"), positive_definite, True),
    ],
)  # fmt: skip
def test_what_was_wrong_once(term: Any, fact: Any, value: bool) -> None:
    assert bool(fact(term)) == value
    look(term)


def numbers(dtype: str) -> Any:
    """Arrays that are within some bounds, with numbers that round."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.lists(st.booleans(), min_size=3, max_size=3)
    if kind in "iu":
        limits = np.iinfo(dtype)
        return st.lists(st.integers(int(limits.min), int(limits.max)), min_size=3, max_size=3)
    width = {"f": 8, "c": 4}[kind] * np.dtype(dtype).itemsize
    return st.lists(st.floats(width=min(64, width)), min_size=3, max_size=3)


@st.composite
def terms(draw: Any) -> Any:
    """Terms of several ops on variables and constants of all dtypes, with their values."""
    known: list[Any] = []
    given: dict[Any, Any] = {}
    for _ in range(draw(st.integers(1, 3))):
        dtype = draw(st.sampled_from(DTYPES))
        with np.errstate(all="ignore"):
            value = np.array(draw(numbers(dtype))).astype(dtype)
        shape = draw(st.sampled_from([(3,), (1, 3), (3, 1), "square", (), "empty"]))
        if shape == "square":
            value = (
                np.add.outer(value, value) if dtype != "bool" else np.logical_or.outer(value, value)
            )
        else:
            value = (
                value[:0] if shape == "empty" else value[: max(1, 3 * len(shape))].reshape(shape)
            )
        if draw(st.booleans()):
            known.append(pt.constant(value, dtype=dtype))
            continue
        known.append(pt.tensor(dtype=dtype, shape=(None,) * value.ndim))
        given[known[-1]] = value
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            made = apply(draw(st.sampled_from(UNARY)), draw(st.sampled_from(known)))
        else:
            some = st.sampled_from(known)
            made = apply(draw(st.sampled_from(BINARY)), draw(some), draw(some))
        if made is not None:
            known.append(made)
    return known[-1], given


@settings(max_examples=150, deadline=None)
@given(terms())
def test_terms(made: Any) -> None:
    look(*made)


def test_facts_of_outputs_of_an_op_that_has_several() -> None:
    """They are asked of each output, and known of the elements that it has from an input."""
    x = pt.vector("x")
    parts = pt.split(pt.exp(x), [1, 2], n_splits=2)
    for part in parts:
        f = rw.function([x], [pt.abs(part), part * 0, pt.exp(pt.log(1 + part))])
        assert not any(str(node.op) == "abs" for node in f.maker.fgraph.toposort())
    given = np.array([-1.0, 0.0, 2.0])
    for found, part in zip(f(given), [np.exp(given)[1:]] * 3, strict=True):
        assert found.shape == part.shape
