"""What rules an author's new op gets: three ops, and a table of rules that have to be found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.special

import rewrite_engine.tensor as pt
from rewrite_engine.discover import Discovery, Space, discover, maker
from rewrite_engine.discover import array_functions as functions
from rewrite_engine.discover.subjects import array_space, named, numbers
from rewrite_engine.facts import square
from rewrite_engine.graph.op import Op
from rewrite_engine.scalar.op import ScalarOp
from rewrite_engine.tensor.elemwise import Elemwise


def of_numbers(name: str, compute: Callable[..., Any]) -> Any:
    """Return an op on elements, of which only its values are known."""

    def run(x: Any, out: Any = None) -> Any:
        return compute(np.asarray(x))

    return Elemwise(ScalarOp(name, nin=1, compute=run, dtypes=lambda dtype: dtype))


class Kron(Op):
    """The Kronecker product of two matrices."""

    __props__ = ()
    itypes = (pt.dmatrix, pt.dmatrix)
    otypes = (pt.dmatrix,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.kron(*inputs)

    def __str__(self) -> str:
        return "kron"


huber = of_numbers("huber", lambda x: np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5))
cdf = of_numbers("cdf", scipy.special.ndtr)
log_cdf = of_numbers("log_cdf", scipy.special.log_ndtr)
kron = Kron()


def of_huber() -> Space:
    makers = [maker(huber, "huber"), *named("neg abs sqr sign")]
    return numbers("huber", makers, variables="x", constants=(), size=2, about=["huber"])


def of_log_cdf() -> Space:
    makers = [
        maker(log_cdf, "log_cdf"),
        maker(cdf, "cdf"),
        *named("exp log log1p neg sub"),
    ]
    return numbers(
        "cdf", makers, variables="x", constants=(1.0,), low=0.1, high=2.5, about=["log_cdf", "cdf"]
    )


def of_kron() -> Space:
    f = functions
    makers = [
        f.fn("kron", "kron({}, {})", kron, "2", "2"),
        f.T,
        f.INV,
        f.TRACE,
        f.sum_of("2"),
        f.times("0", "0"),
    ]
    leaves = {pt.matrix("s"): ("nn", (square,)), pt.matrix("t"): ("nn", (square,))}
    return replace(array_space("kron", makers, leaves), about=["kron"])


TABLE: dict[str, tuple[Callable[[], Space], set[str]]] = {
    "huber": (
        of_huber,
        {
            "huber(-x) >> huber(x)",
            "huber(abs(x)) >> huber(x)",
            "abs(huber(x)) >> huber(x)",
        },
    ),
    "log_cdf": (
        of_log_cdf,
        {
            "log(cdf(x)) >> log_cdf(x)",
            "exp(log_cdf(x)) >> cdf(x)",
            "1.0 - cdf(x) >> cdf(-x)",
            "log1p(-cdf(x)) >> log_cdf(-x)",
        },
    ),
    "kron": (
        of_kron,
        {
            "pt.trace(kron(s, t)) >> pt.trace(s) * pt.trace(t)",
            "kron(s.T, t.T) >> kron(s, t).T",
            "kron(pt.linalg.inv(s), pt.linalg.inv(t)) >> pt.linalg.inv(kron(s, t))",
        },
    ),
}


@cache
def discovery(name: str) -> Discovery:
    return discover(TABLE[name][0](), claims=False)


@pytest.mark.parametrize("name", TABLE)
def test_the_rules_of_a_new_op_are_found(name: str) -> None:
    found = {f"{one.left} >> {one.right}" for one in discovery(name).records}
    assert TABLE[name][1] - found == set()


@pytest.mark.parametrize("name", TABLE)
def test_they_are_about_the_op(name: str) -> None:
    about = TABLE[name][0]().about
    for one in discovery(name).records:
        assert any([f"{op}(" in one.left + one.right for op in about])


def test_what_is_wrong_at_a_single_point_is_no_rule() -> None:
    """The sign of 0 is 0, and that of all other values of huber 1."""
    found = {f"{one.left} >> {one.right}" for one in discovery("huber").records}
    assert not [text for text in found if "sign(huber(x))" in text or "huber(sign(x))" in text]
