"""The shipped spaces, by subject: `SUBJECTS`. A name stands for one space, or for several that
differ in what is known of the variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.discover import array_functions as F
from rewrite_engine.discover.array_samples import (
    NEAR_SEEDS,
    Leaves,
    far_samples,
    having,
    near_sample,
)
from rewrite_engine.discover.space import Facts, Sample, Space, TermMaker, maker
from rewrite_engine.facts import lower_triangular, nonneg, positive_definite, square
from rewrite_engine.graph.node import CONSTANT, Variable

POINTS = 32  # of a sample of numbers
#: numbers at which errors show, and near the ends of domains and periods
FAR = (
    -800.0, -40.0, -5.0, -2.5, -1.0, -0.999, -0.3, -1e-6, -1e-13, 0.0,
    1e-13, 1e-6, 0.3, 0.999, 1.0, 2.5, 5.0, 40.0, 800.0, 1e5,
)  # fmt: skip


def named(text: str) -> list[TermMaker]:
    """Return the makers of functions of `rewrite_engine.tensor`, by their names."""
    return [maker(getattr(pt, name), name, 2 if name in BINARY else 1) for name in text.split()]


BINARY = frozenset({"add", "sub", "mul", "true_div", "pow", "maximum", "minimum", "logaddexp"})


# --- numbers --------------------------------------------------------------------------------------


def numbers(
    name: str,
    functions: str | Sequence[TermMaker],
    variables: str = "xy",
    constants: Iterable[float] = (1.0, 2.0),
    facts: Sequence[Any] = (),
    far: Sequence[float] = FAR,
    low: float = 0.15,
    high: float = 1.5,
    size: int = 3,
    about: Sequence[str] = (),
) -> Space:
    """Return a space of elementwise functions. facts: of all variables. low, high: the absolute
    values at which terms are told apart; far: numbers at which errors show. about: names of
    functions, if only rules with one of them are wanted.
    """
    leaves = [pt.vector(v) for v in variables]

    def draw(seed: int, declared: Facts) -> Sample:
        rng = np.random.default_rng(seed)
        found: dict[Variable, Any] = {}
        for k, v in enumerate(leaves):
            sign = np.where((np.arange(POINTS) >> k) & 1, -1.0, 1.0)
            sizes = sizes_of(rng, seed, low, high)
            found[v] = having(sizes * sign, declared.get(v, ()))
        return found

    return Space(
        name,
        named(functions) if isinstance(functions, str) else functions,
        {v: tuple(facts) for v in leaves},
        draw,
        [pt.constant(c) for c in constants],
        lambda declared: far_grid(leaves, far, declared),
        size,
        pointwise=True,
        about=about,
    )


def sizes_of(rng: Any, seed: int, low: float, high: float) -> Any:
    """Return absolute values of a sample: between two numbers; of a sample that tests an equality
    in a wider range, and of every second one of all sizes up to 40.
    """
    if seed < NEAR_SEEDS:
        return rng.uniform(low, high, POINTS)
    if seed % 2:
        return 10.0 ** rng.uniform(-3, np.log10(40), POINTS)
    return rng.uniform(low / 8, 3 * high, POINTS)


def far_grid(leaves: Sequence[Variable], far: Sequence[float], declared: Facts) -> list[Sample]:
    """Return all combinations of far numbers as one sample; none if there are none."""
    own = [
        [f for f in far if all([having(np.array([f]), [one])[0] == f for one in declared[v]])]
        for v in leaves
    ]
    grid = np.array([*product(*own)]).T
    return [dict(zip(leaves, grid, strict=True))] if grid.size else []


def in_regimes(name: str, *regimes: Sequence[Any], **options: Any) -> list[Space]:
    """Return a space of numbers for each set of facts that all variables have."""
    return [numbers(name, facts=facts, **options) for facts in regimes]


# --- arrays ---------------------------------------------------------------------------------------

#: names of variables -> the type, the lengths and the facts
ARRAYS: dict[str, tuple[Any, str, tuple[Any, ...]]] = {
    "a": (pt.matrix, "nm", ()),
    "b": (pt.matrix, "mn", ()),
    "s": (pt.matrix, "nn", (square,)),
    "t": (pt.matrix, "nn", (square,)),
    "k": (pt.matrix, "nn", (positive_definite,)),
    "l": (pt.matrix, "nn", (lower_triangular,)),
    "u": (pt.vector, "n", ()),
    "v": (pt.vector, "n", ()),
    "w": (pt.vector, "m", ()),
    "c": (pt.scalar, "", ()),
}


def arrays(name: str, functions: Sequence[TermMaker], variables: str, size: int = 3) -> Space:
    """Return a space of functions of arrays, by the names of variables in `ARRAYS`."""
    leaves = {ARRAYS[one][0](one): ARRAYS[one][1:] for one in variables}
    return array_space(name, functions, leaves, size)


def array_space(
    name: str, functions: Sequence[TermMaker], leaves: Leaves, size: int = 3, numbers: Any = ()
) -> Space:
    """Return a space of functions of arrays. leaves: the names of the lengths of each variable,
    each `n` or `m`, and its facts.
    """
    return Space(
        name,
        functions,
        {v: tuple(own) for v, (_, own) in leaves.items()},
        partial(near_sample, leaves),
        numbers,
        partial(far_samples, leaves),
        size,
        {v: letters for v, (letters, _) in leaves.items()},
    )


# --- the table ------------------------------------------------------------------------------------

LN2, LN10 = float(np.log(2)), float(np.log(10))
POSITIVE_THEN_REAL: tuple[tuple[Any, ...], ...] = ((nonneg,), ())


def choice(c: Any, a: Any, b: Any) -> Any:
    """Return `a` where `c` is above 0, elsewhere `b`; `c` is a variable."""
    if c.owner is not None or c.head is CONSTANT:
        raise TypeError("no variable")
    return pt.switch(c > 0, a, b)


SUBJECTS: Mapping[str, Callable[[], list[Space]]] = {
    "exp_log": lambda: in_regimes(
        "exp_log",
        *POSITIVE_THEN_REAL,
        functions="exp log log1p expm1 sigmoid softplus tanh neg reciprocal sqr sqrt add mul sub",
    ),
    "trigonometry": lambda: in_regimes(
        "trigonometry",
        (),
        functions="sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh sqr sqrt neg "
        "reciprocal add sub mul true_div",
        variables="x",
        high=0.9,
    ),
    "powers": lambda: in_regimes(
        "powers",
        *POSITIVE_THEN_REAL,
        functions="pow sqr sqrt abs reciprocal exp log neg mul true_div",
        constants=(1.0, 2.0, 0.5),
    ),
    "bases": lambda: in_regimes(
        "bases",
        *POSITIVE_THEN_REAL,
        functions="exp2 log2 log10 exp log log1p expm1 sqrt neg add mul",
        constants=(1.0, LN2, 1 / LN2, 1 / LN10),
    ),
    "gamma": lambda: in_regimes(
        "gamma",
        (nonneg,),
        functions="gamma gammaln psi log exp neg add sub true_div mul",
        variables="x",
        constants=(1.0,),
    ),
    "errors": lambda: in_regimes(
        "errors",
        (),
        functions="erf erfc erfcx erfinv logerfc exp log log1p neg sqr add sub mul",
        variables="x",
        constants=(1.0,),
        far=(-20.0, -5.0, -2.5, -0.3, -1e-6, -1e-13, 0.0, 1e-13, 1e-6, 0.3, 2.5, 5.0, 20.0, 40.0),
        high=0.9,
    ),
    "bessel": lambda: [
        numbers(
            "bessel",
            [
                *named("i0 i1 j0 j1 exp log neg add sub mul true_div"),
                TermMaker("ive0", lambda x: pt.ive(0.0, x), 1),
                TermMaker("ive1", lambda x: pt.ive(1.0, x), 1),
            ],
            variables="x",
            constants=(),
            facts=(nonneg,),
            far=(1e-13, 1e-6, 0.3, 2.5, 40.0, 300.0),
            size=2,
        )
    ],
    "logic": lambda: [
        numbers(
            "logic",
            [*named("maximum minimum abs sign neg add sub mul"), TermMaker("choice", choice, 3)],
            constants=(0.0,),
        )
    ],
    "reductions": lambda: [
        arrays(
            "reductions",
            [
                *(F.sum_of("12"), F.product_of("12"), F.MAX, F.MIN, F.CUMSUM, F.SORT),
                *(F.times("01", "01"), F.plus("01")),
                *F.on("exp log abs neg sqr", "01"),
            ],
            "uvc",
        )
    ],
    "index": lambda: [
        arrays(
            "index",
            [
                *(F.FIRST, F.LAST, F.COLUMN, F.REVERSED, F.sum_of("12"), F.CUMSUM, F.SORT),
                *(F.T, *F.DOTS, F.OUTER, F.DIAG, F.times("012", "012"), F.plus("012")),
                *F.on("exp", "012"),
            ],
            "abuvw",
            size=2,
        )
    ],
    "products": lambda: [
        arrays(
            "products",
            [
                *(F.T, *F.DOTS, F.OUTER, F.ROWS, F.COLUMNS, F.times("1", "1"), F.times("2", "2")),
                *(F.sum_of("12"), F.SUM0, F.SUM1, F.TRACE, F.DIAG),
            ],
            "abuw",
        )
    ],
    "linalg": lambda: [
        arrays("linalg", [F.T, *F.DOTS, F.INV, F.SOLVE], "stau"),
        arrays(
            "determinants",
            [
                *(F.T, *F.DOTS, F.INV, F.DET, F.LOGABSDET, F.TRACE, F.DIAG, F.ROWS, F.COLUMNS),
                *(F.product_of("1"), F.sum_of("1"), F.times("0", "0"), F.times("1", "1")),
                *(F.plus("0"), *F.on("abs log reciprocal", "01"), *F.on("neg", "0")),
            ],
            "stu",
        ),
    ],
    "factors": lambda: [
        arrays("triangular", [F.T, *F.DOTS, F.INV, F.SOLVE, F.TRIANGULAR], "lau", size=2),
        arrays(
            "definite",
            [
                *(F.CHOLESKY, F.T, *F.DOTS, F.INV, F.SOLVE, F.LOGABSDET),
                *(F.DIAGONAL, F.sum_of("1"), *F.on("log", "1"), F.plus("0"), *F.on("neg", "0")),
            ],
            "kau",
        ),
    ],
}
