"""The functions on vectors: how far they are off, in units in the last place, on this processor and
on one that has SSE2 only; sums as accurate as NumPy's.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import mpmath
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.native import NativeLinker
from rewrite_engine.link.native.runtime import DECLARATIONS, entry_text
from rewrite_engine.link.native.scalars import function_steps, functions
from rewrite_engine.link.native.target import Machine, llvm
from rewrite_engine.link.native.units import unit
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rules import lowering
from rewrite_engine.rules.lowering import operations
from tests.link.native.conftest import machine_called
from tests.link.reference import link

MOST, MOST_SINGLE = 2.0, 3.0  # units
TRUE: dict[str, Any] = {
    "exp": mpmath.exp, "expm1": mpmath.expm1, "log": mpmath.log, "log1p": mpmath.log1p,
    "tanh": mpmath.tanh, "sin": mpmath.sin, "cos": mpmath.cos,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
}  # fmt: skip


@pytest.fixture(scope="module", params=["host", "sse2"])
def linker(request: Any) -> Linker:
    return NativeLinker(machine_called(request.param))


def points(name: str) -> Any:
    rng = np.random.default_rng(0)
    sizes = [1e-8, 1e-3, 1.0, 30.0, 300.0]
    x = np.concatenate([size * rng.normal(size=60) for size in sizes])
    if name == "log":
        return abs(x)
    if name == "log1p":
        return np.where(x < -1, -x, x)
    return np.append(x, [1e5, -3e5, 1e7, 1e15]) if name in ("sin", "cos") else x


def test_all_of_them_have_a_true_value() -> None:
    assert TRUE.keys() == functions().keys() == lowering.FUNCTIONS


def test_the_names_of_lowered_ops() -> None:
    """Ops without rules need none of them imported."""
    found = {root.scalar_op.name for rule in RuleSet.of(operations) for root in rule.roots() or ()}
    assert found == lowering.OPERATIONS


@pytest.mark.parametrize("name", TRUE)
def test_units_in_the_last_place(name: str, linker: Any) -> None:
    x = points(name)
    v = pt.dvector()
    got = link([v], getattr(pt, name)(v), linker=linker).call(x)
    with mpmath.workdps(40):
        for a, b in zip(x, got, strict=True):
            true = TRUE[name](mpmath.mpf(float(a)))
            if 1e-290 < abs(true) < 1e300:
                unit = np.spacing(abs(float(true)))
                assert abs(mpmath.mpf(float(b)) - true) < MOST * unit, (a, b)


@pytest.mark.parametrize("name", [name for name in TRUE if function_steps(name, "f")])
def test_units_of_float32(name: str, linker: Any) -> None:
    """In arrays, with what is at the ends of the range, and a few that no vector is full of."""
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 88.7, 89.0, -87.5, -103.0, -106.0,
            3e38, -3e38, 1e-20, 17.0, -17.0, 9.1]  # fmt: skip
    x = np.concatenate([points(name), ends]).astype("float32")
    v = pt.fvector()
    f = link([v], getattr(pt, name)(v), linker=linker)
    got, few = f.call(x), [float(f.call(x[k : k + 1])[0]) for k in range(len(x))]
    np.testing.assert_array_equal(got, np.array(few, "float32"))
    with np.errstate(all="ignore"):
        wanted = {
            "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
            "softplus": lambda z: np.logaddexp(0, z),
        }
        true = wanted.get(name, getattr(np, name, None))(x.astype("float64"))
        unit = np.spacing(np.abs(true).astype("float32")).astype("float64")
        near = np.abs(got.astype("float64") - true) <= MOST_SINGLE * unit
        same = (got == true.astype("float32")) | (np.isnan(got) & np.isnan(true))
    assert (near | same).all(), list(zip(x, got, true))
    np.testing.assert_array_equal(np.signbit(got[true == 0]), np.signbit(true[true == 0]))


def test_another_processor_is_another_machine() -> None:
    small, host = Machine("x86-64", ""), NativeLinker().machine
    assert small.width == 2
    assert small.identity != host.identity


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1023, 1025, 100_003])
def test_sums_are_as_accurate_as_numpys(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n) * 1e8 + 1.0
    v = pt.dvector()
    f = rw.function([v], [v.sum(), pt.prod(1 + v * 1e-16), pt.sqr(v).sum()], mode="native")
    total, product, squares = f(x)
    true = fsum(x)
    assert abs(total - true) <= max(abs(x.sum() - true), 4 * np.spacing(fsum(abs(x))))
    np.testing.assert_allclose(product, np.prod(1 + x * 1e-16), rtol=1e-12)
    np.testing.assert_allclose(squares, fsum(x * x), rtol=1e-15)


def test_a_sum_of_infinities() -> None:
    v = pt.dvector()
    f = rw.function([v], [v.sum(), v.max(), v.min()], mode="native")
    assert [float(x) for x in f([1.0, np.inf, 2.0])] == [np.inf, np.inf, 1.0]
    assert np.isnan(f([np.inf, -np.inf])[0])
    assert all(np.isnan(x) for x in f([1.0] * 20 + [np.nan]))


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 8, 17), (2, 9, 1)])
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2), None])
def test_reductions_over_any_axes(shape: Any, axis: Any) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    t = pt.tensor(dtype="float64", shape=(None,) * 3)
    many = [pt.exp(t).sum(axis=axis), t.max(axis=axis), t.T.sum(axis=axis)]
    many += [(t > 0).sum(axis=axis), (t > 0).all(axis=axis)]
    f = rw.function([t], many, mode="native")
    wanted = [np.exp(x).sum(axis), x.max(axis), x.T.sum(axis), (x > 0).sum(axis), (x > 0).all(axis)]
    for got, want in zip(f(x), wanted, strict=True):
        assert got.dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_it_compiles_for_aarch64() -> None:
    """The library and the entry: for a processor that is not there, so nothing of it runs."""
    binding = llvm()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    arm = Machine("x86-64", "+fma")
    target = binding.Target.from_triple("aarch64-unknown-linux-gnu")
    maker = target.create_target_machine(cpu="generic", features="", opt=2, reloc="pic", jit=True)
    for name in TRUE:
        one = unit(f"{name}_w2", arm)
        text = "\n".join(one.declared) + "\n" + one.text + "attributes #0 = { nounwind }\n"
        assert len(maker.emit_object(binding.parse_assembly(text))) > 500
    text = DECLARATIONS + entry_text() + "attributes #0 = { nounwind }\n"
    assert len(maker.emit_object(binding.parse_assembly(text))) > 500
