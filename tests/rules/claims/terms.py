"""Terms for the rules that are functions: a table of those that each fires on, and random nests of
sums, products and extrema for the rules of many operands.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.check.sample import DTYPES, MIXTURES, is_computed, numbers
from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.gradient import grad_clip, zero_grad
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    DimShuffle,
    Elemwise,
    IncDiagonal,
    MakeVector,
    Reshape,
    Shape,
    Shape_i,
    SpecifyShape,
    Sum,
)
from rewrite_engine.tensor.linalg import CholeskyGradient, Solve, SolveTriangular
from rewrite_engine.tensor.shape import CheckedLength
from tests.rules.claims.arranged import ARRANGED, MASKS
from tests.rules.claims.diagonal import DIAGONALS, UPDATES
from tests.rules.claims.indexed import INDEXED, MULTIPLIED


class Maker:
    """Makes variables and constants of dtypes that are chosen."""

    def __init__(self, dtypes: list[str], seed: Any) -> None:
        self.choose = random.Random(f"{dtypes} {seed}")
        self.dtypes = dtypes

    def v(self, name: str, *shape: int | None) -> Any:
        return pt.tensor(name, dtype=self.choose.choice(self.dtypes), shape=shape)

    def c(self, shape: tuple[int, ...] = ()) -> Any:
        """A constant, often an ordinary number."""
        found = numbers(self.choose.choice(self.dtypes))
        number = self.choose.choice(found[:6] if self.choose.random() < 0.5 else found)
        return pt.constant(np.full(shape, number))

    def number(self, declared: Any) -> Any:
        """What an op declares, as a constant of any dtype that has it."""
        with np.errstate(all="ignore"):
            typed = np.asarray(declared).astype(self.choose.choice(self.dtypes))
        if declared is None or (typed != declared and not (declared == -1 and typed.all())):
            raise TypeError(f"{declared} is none of {self.dtypes}")
        return pt.constant(typed.reshape(self.choose.choice([(), (), (1,)])))


def reduced(op: Any, **parameters: Any) -> Any:
    return lambda m: op(**parameters)(m.v("r", 1, None))


def of_two(op: Any) -> Any:
    return lambda m: op(m.c(), m.c())


def cast_of(inner: str) -> Any:
    return lambda m: pt.cast(pt.cast(m.v("x", None), inner), m.choose.choice(DTYPES))


#: terms of which the shape is asked
SHAPED: list[Callable[[Any, Any, Any], Any]] = [
    lambda x, y, z: x + y,
    lambda x, y, z: pt.join(0, x, y),
    lambda x, y, z: pt.exp(x),
    lambda x, y, z: z.T,
    lambda x, y, z: z.sum(axis=0),
    lambda x, y, z: pt.dot(z, x),
    lambda x, y, z: pt.second(x, y),
    lambda x, y, z: z.reshape((2, -1)),
    lambda x, y, z: x[1:],
    lambda x, y, z: pt.switch(x > 0, y, 0),
    lambda x, y, z: pt.join(1, z, z.T),
    lambda x, y, z: z[0],
    lambda x, y, z: z + x,
    lambda x, y, z: pt.stack([x, y]),
    lambda x, y, z: SpecifyShape((3,))(x),
    lambda x, y, z: (x + y).sum(),
]


PRODUCTS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.sigmoid(x) * pt.exp(-x),
    lambda x, y: pt.exp(x) / (1 + pt.exp(x)),
    lambda x, y: pt.exp(x) / (pt.exp(x) + pt.exp(y)),
    lambda x, y: pt.exp(-pt.sqr(x)) / pt.erfc(x),
    lambda x, y: (y / pt.sigmoid(x) - y) * pt.sigmoid(x),
    lambda x, y: pt.exp(x) * pt.exp(y),
    lambda x, y: y * pt.sigmoid(x) / pt.sigmoid(x),
]
DIFFERENCES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: y - y * pt.sigmoid(x),
    lambda x, y: y * pt.exp(x) - pt.sigmoid(x) * y,
    lambda x, y: y * pt.sigmoid(x) - y,
]
#: (with arguments that are never equal: there is a pole)
SLOPES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.sigmoid(x) / pt.expm1(pt.softplus(x) - pt.softplus(x + abs(x) + 1)),
    lambda x, y: -2.0 / pt.expm1(pt.softplus(-x) - pt.softplus(abs(x) + 1 - x)) * pt.sigmoid(-x),
]
CHOICES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.switch(x > 0, y / pt.switch(x > 0, x, -x), 0.0),
    lambda x, y: pt.switch(x > 0, 0.0, 2 - y / pt.switch(x > 0, -x, x)),
]
#: of floats x and y: quotients whose terms vanish together
VANISHING: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.sin(x) / x,
    lambda x, y: pt.expm1(x) / x,
    lambda x, y: x / pt.expm1(x),
    lambda x, y: y * pt.tanh(x) / x,
    lambda x, y: pt.sqr(pt.sin(0.5 * x)) / pt.sqr(x),
    lambda x, y: x / (y * pt.sinh(x)),
]
#: differences of a function at near arguments
NEAR: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.sqrt(x + 1) - pt.sqrt(x),
    lambda x, y: pt.log(x + 2) - pt.log(x),
    lambda x, y: pt.log(x) - pt.log1p(x),
    lambda x, y: pt.arctan(x + 1) - pt.arctan(x),
    lambda x, y: pt.cbrt(y) - pt.cbrt(y + 2),
    lambda x, y: pt.sin(x + 1) - pt.sin(x),
    lambda x, y: pt.cos(x + 1) - pt.cos(x),
]
NEAR_QUOTIENTS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: 1 / x - 1 / (x + 1),
    lambda x, y: 2 / (y + 1) - 2 / (y + 3),
    lambda x, y: 1 - x / (x + 1),
    lambda x, y: x / (x + 1) - 1,
]
SQUARES_OF_ONE_ANGLE: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.sqr(pt.sin(x)) + pt.sqr(pt.cos(x)),
    lambda x, y: pt.sqr(pt.cos(x)) + y + pt.sqr(pt.sin(x)),
    lambda x, y: pt.add(pt.sqr(pt.sin(y)), x, pt.sqr(pt.cos(y)), y),
]
BESIDE_SOFTPLUS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + pt.softplus(-x),
    lambda x, y: y - pt.softplus(y),
    lambda x, y: pt.softplus(x) - pt.softplus(-x),
    lambda x, y: pt.softplus(2 * x) - 2 * x,
    lambda x, y: -pt.softplus(-x) - x,
]
GAMMAS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.gamma(x + 1) / pt.gamma(x),
    lambda x, y: pt.gamma(x) / pt.gamma(x + 2),
    lambda x, y: pt.gamma(x + 0.5) / pt.gamma(x),
    lambda x, y: pt.gamma(pt.exp(x) + 1) / (y * pt.gamma(pt.exp(x))),
]
SUMS_OF_GAMMALNS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.gammaln(x + 1) - pt.gammaln(x),
    lambda x, y: pt.gammaln(x) - pt.gammaln(x + 2),
    lambda x, y: y + pt.gammaln(x + 0.5) - pt.gammaln(x),
    lambda x, y: pt.gammaln(pt.exp(x) + 1) - pt.gammaln(pt.exp(x)),
    lambda x, y: y - pt.gammaln(pt.sqr(x) + 2) + pt.gammaln(pt.sqr(x) + 0.5),
    lambda x, y: (
        pt.gammaln(a := pt.exp(9 * pt.tanh(x)))
        + pt.gammaln(b := 20 * pt.sqr(pt.tanh(y)))
        - pt.gammaln(a + b)
    ),  # (SciPy's `betaln` is NaN from about 1e103 on)
]
#: of x and the number 1
ODDS: dict[str, Callable[[Any, Any], Any]] = {
    "log_odds_of_quotient": lambda x, one: pt.log(x / (one - x)),
    "log_odds_against": lambda x, one: pt.log((one - x) / x),
    "log_odds_of_reciprocal": lambda x, one: pt.log(one / x - one),
}
LOGARITHMS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.log(pt.exp(x) + pt.exp(y)),
    lambda x, y: pt.log(2 * pt.exp(x) / pt.sigmoid(y)),
    lambda x, y: pt.log(pt.erfc(x)),
    lambda x, y: pt.log(pt.exp(x) - pt.exp(y)),
    lambda x, y: pt.log(pt.sigmoid(9 * pt.tanh(x) + 2) - pt.sigmoid(9 * pt.tanh(x) - pt.sqr(y))),
    lambda x, y: pt.log(1 - pt.sigmoid(x) * pt.sigmoid(y)),
    lambda x, y: pt.log(pt.exp(x) + pt.exp(y) + pt.exp(x - y)),
    lambda x, y: pt.log(pt.erfc(pt.tanh(x)) - pt.erfc(3 * pt.tanh(y))),
    lambda x, y: pt.log(pt.erf(3 * pt.tanh(x)) - pt.erf(pt.tanh(y))),
    lambda x, y: pt.log((1 - pt.exp(x)) * pt.exp(y) + pt.exp(y)),
    lambda x, y: pt.log(pt.exp(x) - pt.exp(y) * pt.expm1(-pt.exp(5 * pt.tanh(x)))),
    lambda x, y: pt.log(pt.sigmoid(pt.tanh(x)) ** y),
    lambda x, y: pt.log(pt.sqr(pt.sigmoid(x) * pt.sigmoid(y)) * pt.erfc(y)),
    lambda x, y: pt.log(pt.exp(-pt.exp(x)) / -pt.expm1(-pt.exp(5 * pt.tanh(x)))),
]
#: above a sum, or beside what vanishes
QUOTIENTS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.exp(x) / (2 + pt.exp(y)),
    lambda x, y: y * pt.exp(x) / (1 + pt.exp(y) + pt.exp(2 * y)),
    lambda x, y: (y / (pt.exp(x) + pt.exp(y)) - y) * pt.exp(-pt.sqr(pt.tanh(x))),
    lambda x, y: pt.exp(v := 9 * pt.tanh(x)) / pt.expm1(pt.exp(v)),
    lambda x, y: y * pt.exp(x) * pt.erfc(9 * pt.tanh(y)),
    lambda x, y: pt.exp(-x) / pt.erfc(9 * pt.tanh(y)),
]
SMALL: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.log1mexp(-pt.exp(50 * pt.tanh(x))),
    lambda x, y: pt.log1mexp(-3 * pt.exp(20 * pt.tanh(x)) * pt.sigmoid(9 * pt.tanh(y))),
    lambda x, y: pt.log1mexp(-pt.erfc(5 * pt.tanh(x))),
]
LOGARITHMS_OF_MORE: list[Callable[[Any, Any], Any]] = [
    lambda x, y: pt.log1p(pt.exp(x) + pt.exp(y)),
    lambda x, y: pt.log1p(-pt.sigmoid(x)),
]


#: of the degree 0 in the scale of exp(x), along rows and of all
SCALED: list[Callable[[Any, Any], Any]] = [
    lambda e, y: y * e / e.sum(axis=1, keepdims=True),
    lambda e, y: (y * e).sum(axis=1) / e.sum(axis=1),
    lambda e, y: y / e.sum() * e,
    lambda e, y: (y / e.sum(axis=1, keepdims=True)).sum(axis=1, keepdims=True) * e,
    lambda e, y: pt.switch(y > 0, y / e.sum(axis=0), 0.0) * e,
    lambda e, y: (e @ y.T) / e.sum(axis=1)[:, None],
    lambda e, y: (y / e.sum(axis=1)[:, None]).T @ e,
]


def gradient_of_density(z: Any, is_negative: bool, number: Any) -> Any:
    """That of a normal density for the Cholesky factor, and from there for the covariance. Of small
    numbers: what overflows in the steps to the gradient is NaN there, and the sum of products of
    large ones and the inverse would lose digits in both.
    """
    z = 0.01 * pt.tanh(z)
    low = pt.constant(np.array([[2.0, 0, 0], [0.5, 1, 0], [-1, 0.25, 1.5]]))
    solved = SolveTriangular(lower=True, transpose=True)(low, z)
    product = pt.dot(solved, z.T)
    line = number / pt.diagonal(low)
    return CholeskyGradient()(low, IncDiagonal()(-product if is_negative else product, line))


def scaled(make: Any) -> Any:
    return lambda m: make(pt.exp(m.v("x", None, None)), m.v("y", None, None))


def on_floats(make: Any) -> Any:
    return lambda m: make(m.v("x", None), m.v("y", None))


def beside_one(make: Any) -> list[Any]:
    """Makers of terms of an operand and the number 1 of its dtype. (No computed share: near 1, its
    own rounding is more than that of the term.)
    """

    def of(x: Any) -> Any:
        return make(x, pt.constant(np.ones((), x.type.dtype)))

    return [
        lambda m: of(m.v("x", None)),
        lambda m: of(m.v("x", None, 3)),
    ]


def shape_of(op: Any, make: Any) -> Any:
    return lambda m: op(make(m.v("x", None), m.v("y", None), m.v("z", None, None)))


#: of a rule: makers of terms, some of which it is for
TABLE: dict[str, list[Callable[[Maker], Any]]] = {
    "constant_folding": [
        *map(of_two, (pt.add, pt.mul, pt.true_div, pt.maximum, pt.pow, pt.second, pt.sub)),
        lambda m: pt.exp(m.c()),
        lambda m: pt.sqrt(m.c((3,))),
        lambda m: m.c((3,)) + m.c((1,)),
        lambda m: Sum()(m.c((2, 2))),
        lambda m: pt.cast(m.c((2, 2)), m.choose.choice(DTYPES)),
        lambda m: -m.c(),
    ],
    "inline": [
        lambda m: called([x := m.v("x", None), y := m.v("y", None)], x * pt.exp(y)),
        lambda m: called([x := m.v("x", None, None)], (x + x).sum(axis=0)),
        lambda m: called([x := m.v("x", 1), y := m.v("y")], x - called([y], -y)),
    ],
    "unbatched": [
        lambda m: pt.Blockwise(Sum(axis=0), "(m,n)->(n)")(m.v("x", None, None)),
        lambda m: pt.Blockwise(Sum(), "(n)->()")(m.v("x", 3)),
        lambda m: pt.Blockwise(pt.Dot(), "(m,k),(k)->(m)")(m.v("x", 2, None), m.v("y", None)),
    ],
    "declared": [lambda m: rw.assume(m.v("x", None), nonneg=True)],
    "gradient_mark": [
        lambda m: zero_grad(m.v("x", None)),
        lambda m: grad_clip(m.v("x", None, 3), -1, 1),
    ],
    "cast_to_same": [lambda m: Elemwise(Cast(m.dtypes[0]))(m.v("x", None))],
    "cast_of_cast": [cast_of(dtype) for dtype in DTYPES],
    "number_and_back": [
        lambda m: pt.tensor_from_scalar(pt.scalar_from_tensor(m.v("x"))),
        lambda m: pt.tensor_from_scalar(pt.scalar_from_tensor(m.v("x").sum())),
        lambda m: pt.tensor_from_scalar(pt.scalar_from_tensor(m.v("x") + 1)),
    ],
    "neg_of_product": [
        lambda m: -pt.mul(m.v("x", None), m.c(), m.v("y", None)),
        lambda m: -(m.v("x", None) * -m.v("y", None)),
        lambda m: -pt.mul(m.c((1,)), m.v("x", None)),
        lambda m: -(m.c() * -m.v("y")),
        lambda m: -(m.v("x", None) / m.c()),
        lambda m: -(m.v("x", None) / m.c((1,))),
    ],
    "like_terms": [lambda m: like(m)],
    "join_rounded_constants": [
        lambda m: pt.mul(m.v("x", None), m.c(), m.c()),
        lambda m: pt.mul(m.c(), m.v("x", None), m.c(), m.v("y", None)),
        lambda m: pt.add(m.c(), m.v("x", None), m.c()),
        lambda m: nest(m),
    ],
    "join_nested_constants": [
        lambda m: m.c() * (m.c() * m.v("x", None)),
        lambda m: (m.v("x", None) * m.c()) * m.c(),
        lambda m: m.c() + (m.v("x", None) + m.c()),
    ],
    "exponentials_are_scaled": [scaled(make) for make in SCALED],
    "combine_factors": [on_floats(make) for make in (*PRODUCTS, *SLOPES, *QUOTIENTS)],
    "combine_terms": [on_floats(make) for make in (*DIFFERENCES, *CHOICES)],
    "quotient_at_zero": [on_floats(make) for make in VANISHING],
    "difference_of_functions": [on_floats(make) for make in NEAR],
    "difference_of_quotients": [on_floats(make) for make in NEAR_QUOTIENTS],
    "squares_of_one_angle": [on_floats(make) for make in SQUARES_OF_ONE_ANGLE],
    "softplus_beside_argument": [on_floats(make) for make in BESIDE_SOFTPLUS],
    "quotient_of_gammas": [on_floats(make) for make in GAMMAS],
    "sum_of_gammalns": [on_floats(make) for make in SUMS_OF_GAMMALNS],
    "log_of_factors": [on_floats(make) for make in LOGARITHMS],
    **{name: beside_one(make) for name, make in ODDS.items()},
    "log1mexp_of_small": [on_floats(make) for make in SMALL],
    "log1p_of_factors": [on_floats(make) for make in LOGARITHMS_OF_MORE],
    "repeated_factors": [
        lambda m: pt.mul(x := m.v("x", None), m.v("y", None), x, x),
        lambda m: pt.mul(x := m.v("x", None), pt.sqr(x), x, m.c(), m.v("y", None)),
        lambda m: pt.mul(*[m.v("x", None)] * 5),
    ],
    "sum_over_ones": [
        *[reduced(Sum, axis=a, keepdims=k) for a in [(0,), (1,), None, ()] for k in (False, True)],
        reduced(Sum, axis=(0,), dtype="float64"),
        reduced(Sum, axis=(0,), acc_dtype="float32"),
        lambda m: Sum()(m.v("o", 1, 1)),
    ],
    "shape_of_known": [lambda m: m.v("x", 2, 3).shape],
    "length_of_known": [lambda m: Shape_i(1)(m.v("x", 2, 3))],
    "length_by_inference": [shape_of(Shape_i(0), make) for make in SHAPED],
    "shape_by_inference": [shape_of(Shape(), make) for make in SHAPED],
    "length_and_checks": [shape_of(Shape_i(0), make) for make in SHAPED],
    "shape_as_lengths": [shape_of(Shape(), make) for make in SHAPED],
    "length_without_checks": [
        lambda m: CheckedLength((2,), pt.add)(n := m.v("x", None).shape[0], n, n),
        lambda m: CheckedLength((2,), pt.add)(n := m.v("x", None).shape[0], n, n + 1),
    ],
    "dimshuffle_of_nothing": [lambda m: DimShuffle(2, (0, 1))(m.v("x", None, None))],
    "dimshuffle_that_is_undone": [
        lambda m: (1 / m.v("x", None, None).T).T,
        lambda m: (m.v("s") * pt.sin(m.v("x", None)[:, None])).squeeze(1),
        lambda m: (-pt.sqr(m.v("x", None, 1).squeeze(1) - m.v("y", None)))[:, None],
    ],
    "specified_shape_known": [lambda m: SpecifyShape((4,))(m.v("x", 4))],
    "second_of_one_element": [lambda m: pt.second(m.v("x", None, 4), pt.constant([3.0]))],
    "alloc_of_known_shape": [lambda m: pt.alloc(m.v("x", 1, 4), 1, 4)],
    "second_of_known_shape": [lambda m: pt.second(m.v("x", 1, 4), m.v("y", 1, 4))],
    "second_beside_its_shape": [
        lambda m: pt.second(m.v("x", None), m.v("s")) * pt.sin(m.v("x", None)),
        lambda m: m.v("x", 4) - pt.second(m.v("y", 4), m.v("s")),
        lambda m: pt.switch(
            m.v("x", None, None) > 0, pt.second(m.v("x", None, None), m.v("y", None)), m.c()
        ),
    ],
    "second_outside": [
        lambda m: -pt.second(m.v("x", None), m.v("s")),
        lambda m: pt.second(m.v("x", None), m.c()) * m.v("s"),
        lambda m: pt.second(m.v("x", None, None), m.v("y", None)) - m.v("z", None),
    ],
    "dimshuffle_of_second": [
        lambda m: pt.second(m.v("x", None, None), m.v("s")).T,
        lambda m: pt.second(m.v("x", None), m.v("y", 1))[:, None],
        lambda m: pt.alloc(m.v("s"), 2, 3).T,
        lambda m: pt.second(m.v("x", None, 1), m.c()).squeeze(1),
    ],
    "second_of_computed": [
        lambda m: pt.second(pt.exp(m.v("x", None)) * 2, m.v("s")),
        lambda m: pt.second(m.v("x", None) + m.v("y", None), m.v("s")),
        lambda m: pt.second(pt.dot(m.v("x", None, None), m.v("y", None, None)), m.c()),
        lambda m: pt.second(m.v("x", None, None).sum(axis=0), m.v("y", None)),
        lambda m: pt.second(called([x := m.v("x", None)], -x, False), m.v("s")),
        lambda m: pt.second(
            called([x := m.v("x", None, None), y := m.v("y", None)], x + y, False), m.c()
        ),
    ],
    "sum_of_second": [
        lambda m: pt.second(m.v("x", 4, 2), m.v("s")).sum(),
        lambda m: pt.second(m.v("x", None, 2), m.v("y", 2)).sum(axis=0),
        lambda m: pt.second(m.v("x", None), m.c()).sum(keepdims=True),
        lambda m: pt.second(m.v("x", 0), m.v("s")).sum(),
        lambda m: pt.second(m.v("x", 3, None), m.v("y", None)).sum(axis=0),
    ],
    "reshape_by_ones": [
        lambda m: Reshape(())(m.v("x", 1, 1)),
        lambda m: Reshape((1, 4))(m.v("x", 4)),
        lambda m: Reshape((4,))(m.v("x", 4)),
    ],
    "item_of_slice": [
        lambda m: m.v("x", 4)[2:3].squeeze(),
        lambda m: m.v("x", 4)[:1].squeeze(),
        lambda m: m.v("x", 4)[-1:].squeeze(),
        lambda m: m.v("x", 4)[-9:-3].squeeze(),
        lambda m: m.v("x", 4)[9:2:-1].squeeze(),
        lambda m: m.v("x", 4)[::-4].squeeze(),
    ],
    "index_of_everything": [
        lambda m: m.v("x", None, None)[:, :],
        lambda m: m.v("x", None)[...],
    ],
    "index_of_new_axes": [
        lambda m: m.v("x", None)[:, None],
        lambda m: m.v("x", None, None)[None, :, None],
    ],
    "added_to_a_diagonal": [
        lambda m: m.v("x", 3, 3) + IncDiagonal()(pt.zeros_like(m.v("z", 3, 3)), m.v("y", 3)),
        lambda m: pt.add(
            x := m.v("x", 2, 2), IncDiagonal()(pt.zeros_like(x), m.v("y", None)), m.v("z", 2, 2)
        ),
        lambda m: (x := m.v("x", 4, 4)) + IncDiagonal()(pt.second(x, 0), m.c()),
        lambda m: m.v("x", 3, 3) - IncDiagonal()(pt.zeros_like(m.v("z", 3, 3)), m.v("y", 3)),
        lambda m: IncDiagonal()(pt.zeros_like(m.v("z", 3, 3)), m.v("y", 3)) - m.v("x", 3, 3),
    ],
    "odd_of_neg": [
        lambda m: (-m.v("x", None, None)).T,
        lambda m: (-m.v("x", None))[:, None],
        lambda m: Solve()(m.v("a", None, None), -m.v("x", None, None)),
        lambda m: SolveTriangular(lower=True)(m.v("a", 3, 3), -m.v("x", None, 2)),
    ],
    "triangle_of_triangle": [
        lambda m: pt.tril(pt.tril(m.v("x", None, None), -1)),
        lambda m: pt.triu(pt.triu(m.v("x", 3, 2))),
        lambda m: pt.tril(pt.diag(m.v("y", None)), 1),
        lambda m: pt.triu(pt.diag(m.v("y", 3), 1), 1),
    ],
    "gradient_of_normal_density": [
        lambda m: gradient_of_density(m.v("z", 3, 2), False, -2.0),
        lambda m: gradient_of_density(m.v("z", 3, 1), True, 1.0),
    ],
    "reduction_put_back": [
        lambda m: m.v("x", None, None).sum(axis=1)[:, None].dimshuffle(0, 1),
        lambda m: m.v("x", None, None).sum(axis=1).dimshuffle(0, "x"),
        lambda m: Sum(axis=(0,), dtype="float64")(m.v("x", None, None)).dimshuffle("x", 0),
        lambda m: m.v("x", None, None).max(axis=-1).dimshuffle(0, "x"),
        lambda m: m.v("x", None, None).min(axis=()).dimshuffle(0, 1),
        lambda m: m.v("x", None, None).prod().dimshuffle("x", "x"),
    ],
    "item_of_shape": [
        lambda m: m.v("x", None, None).shape[-1],
        lambda m: (m.v("x", None) + m.v("y", None)).shape[0],
    ],
    "item_of_vector": [
        lambda m: MakeVector("int64")(pt.constant(3), m.v("x", None).shape[0])[1],
        lambda m: MakeVector("float64")(m.v("s"), m.v("t"))[0],
    ],
    **INDEXED,
    **MULTIPLIED,
    **DIAGONALS,
    **UPDATES,
    **MASKS,
    **ARRANGED,
}


def called(inputs: list[Any], output: Any, inline: bool = True) -> Any:
    """A call of an op that holds a graph."""
    return rw.OpFromGraph(inputs, [output], inline=inline)(*inputs)


def like(m: Maker) -> Any:
    """A sum of multiples, opposites and products of a few variables."""
    x, y = m.v("x", None), m.v("y", None)
    parts = []
    for _ in range(m.choose.randrange(2, 5)):
        v = m.choose.choice([x, x, y, x * y, y * x])
        parts.append(m.choose.choice([lambda v: v, lambda v: m.c() * v, lambda v: -v])(v))
    return pt.add(*parts)


NESTED = [
    pt.add,
    pt.mul,
    pt.add,
    pt.mul,
    pt.maximum,
    pt.minimum,
    pt.and_,
    pt.or_,
    pt.xor,
    pt.logaddexp,
]


def nest(m: Maker) -> Any:
    """A nest of an op on a few operands, some of them repeated, constant, scaled or stretched."""
    op = m.choose.choice(NESTED)
    shapes = m.choose.choice([[(None,)], [(None,), (1,), ()], [()], [(None,), (None, None)]])
    xs = [m.v(n, *m.choose.choice(shapes)) for n in "xyz"]

    def operand(depth: int) -> Any:
        way, x = m.choose.randrange(9), m.choose.choice(xs)
        if way == 0:
            return m.c(m.choose.choice([(), (), (1,)]))
        if way == 1:
            return m.number(m.choose.choice([op.identity, op.absorbing]))
        if way < 4 and depth:
            return op(*[operand(depth - 1) for _ in range(m.choose.randrange(2, 4))])
        return -x if way == 4 else m.c() * x if way == 5 else x

    return op(*[operand(2) for _ in range(m.choose.randrange(2, 5))])


def terms(
    rule: Any, mixtures: Iterable[list[str]] = (*[[d] for d in DTYPES], *MIXTURES)
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the terms for a rule in the table, or nests, each with its inputs."""
    makers = TABLE.get(rule.short_name, [nest])
    rounds = 60 // len(makers) if len(makers) < 5 else 2
    for dtypes in mixtures:
        for seed, make in product(range(rounds), makers):
            try:
                term = make(Maker(dtypes, seed))
            except (RewriteEngineError, TypeError):
                continue  # no such term of these dtypes
            if is_computed(term):
                yield term, list(dict.fromkeys(explicit_graph_inputs([term])))
