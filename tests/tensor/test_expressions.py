"""Random expressions, eight ops deep, over all ops: what is computed against NumPy and SciPy node
by node, compiled functions against that, dtypes and shapes that are inferred against values,
gradients against differences. `HYPOTHESIS_PROFILE=thorough` tries more of them.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import scipy.special
from hypothesis import assume, given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz import elementwise, steps
from fuzz.case import Case
from fuzz.pool import Pool, Skip
from rewrite_engine.gradient import verify_grad
from rewrite_engine.judge.noise import evaluate, spread
from rewrite_engine.tensor.op import NoGradient
from tests.scalar.test_table import OF_INTEGERS, REAL, SMOOTH, WHOLE
from tests.tensor.references import MEANS
from tests.tensor.test_samples import OPS, REFUSED

DEPTH = 8
TOLERANCE = {"float32": 1e-4, "float16": 1e-2}
#: operands that are constants: numbers that have to be whole, and orders, which have no gradient
FIXED = WHOLE | dict.fromkeys(("jv", "iv", "ive", "kn", "kv", "kve"), 0)
JUMPS = ("mod", "fmod", "nextafter")
#: operands that may not be 0 where there are derivatives
KINKS = {"sqrt": (0,), "cbrt": (0,), "copysign": (1,), "arctan2": (0, 1), "hypot": (0,)}
#: derivatives with respect to parameters, which have none themselves, are left out
DIFFERENTIABLE = [op for op in SMOOTH if "_d" not in op.name and op.name not in JUMPS]
#: ops that mark, fail or leave their values open
NOT_VALUES = {"AllocEmpty", "ScaledExp", "Blockwise", "Elemwise", "CAReduce", "Recurrence"}
#: matrices of random expressions are seldom regular
ELSEWHERE = "rewrite_engine.tensor.linalg"
SAMPLES = [
    (c, s)
    for c in OPS
    if c.__name__ not in NOT_VALUES and not c.__module__.startswith(ELSEWHERE)
    for s in c.samples
]
ARRAYS = [(c, s) for c, s in SAMPLES if any(isinstance(x, tuple) for x in s[1:])]
CONTINUOUS = [
    (c, s)
    for c, s in ARRAYS
    if not issubclass(c, NoGradient)
    and "Grad" not in c.__name__
    and c.__name__
    not in ("Argmax", "Argmin", "ArgSortOp", "All", "Any_", "Unique", "SearchsortedOp")
]
#: the fuzzer's steps: they choose axes, indices and shapes that fit
CHOSEN = [
    steps.reduction, steps.cumulate, steps.exponential, steps.product, steps.dimshuffle,
    steps.reshape, steps.index, steps.take, steps.write, steps.join, steps.split,
]  # fmt: skip
OTHERS = [elementwise.compare, elementwise.switch, elementwise.cast, elementwise.integer_logic]

seeds = given(st.integers(0, 2**40))


class Expression:
    """A term that grows: each op is applied to the result of the last one, and to others."""

    def __init__(self, seed: int, smooth: bool) -> None:
        self.rng, self.smooth = Random(seed), smooth
        dtype = "float64" if smooth else self.rng.choice(["float64", "float64", "float32", "int32"])
        sizes = (2, *self.rng.choice([(3, 2), (1, 3), (2, 2)]))
        self.pool = Pool(self.rng, [dtype], "plain", sizes, moods=("plain",))
        for _ in range(2):
            self.leaf(dtype)
        self.term = self.pool.terms[0]
        depth = 0
        while depth < DEPTH:
            before = self.term, len(self.pool.terms)
            try:
                self.step()
                depth += 1
            except Skip:
                self.term = before[0]
                del self.pool.terms[before[1] :]

    def leaf(self, dtype: str) -> None:
        """An input of different numbers."""
        x = self.pool.leaf(dtype)
        value = np.random.default_rng(self.rng.randrange(2**40)).uniform(-2, 2, 6)
        shape = self.pool.values[x].shape
        value = np.resize(value, math.prod(shape)).reshape(shape).astype(dtype)
        self.pool.given[x] = self.pool.values[x] = value

    def step(self) -> None:
        """Apply an op to the term. Raises `Skip` where that is not possible."""
        p, chance = self.pool, self.rng.random()
        if chance < 0.4:
            self.term = self.elementwise()
        elif chance < 0.75:
            self.term = self.on_arrays()
        else:
            if self.term is not p.terms[-1]:
                p.terms.append(self.term)
            last, count = self.term, len(p.terms)
            self.rng.choice(CHOSEN if self.smooth else CHOSEN + OTHERS)(p)
            made = [v for v in p.terms[count:] if last in rw.graph.traverse.ancestors([v])]
            if not made:
                raise Skip
            self.term = made[-1]
        self.keep_moderate()

    def keep_moderate(self) -> None:
        value = self.pool.values[self.term]
        kind = value.dtype.kind
        if not value.size or not np.isfinite(value).all() or (self.smooth and kind != "f"):
            raise Skip
        if kind == "f" and np.abs(value).max() > 4:
            self.term = self.pool.add(pt.arcsinh, self.term)
        if kind in "iu" and np.abs(value.astype(float)).max() > 50:
            self.term = self.pool.add(pt.mod, self.term, 7)
        if kind == "c":
            self.term = self.pool.add(pt.real, self.term)

    def like(self, x: Any, shape: Any) -> Any:
        """The elements of a term in another shape, some of them again and again."""
        found = self.pool.values[x]
        if found.shape == tuple(shape):
            return x
        if not found.size:
            raise Skip
        places = np.arange(math.prod(shape)) % found.size
        return x.flatten()[places].reshape(tuple(shape))

    def operands(self, shapes: Any) -> list[Any]:
        """The term at one place, others elsewhere."""
        place = self.rng.randrange(len(shapes))
        return [
            self.like(
                self.term if i == place else self.pool.pick(lambda v: v.type.kind != "c"), shape
            )
            for i, shape in enumerate(shapes)
        ]

    def elementwise(self) -> Any:
        op = self.rng.choice(DIFFERENTIABLE if self.smooth else REAL)
        count = op.nin or self.rng.choice((2, 3))
        xs = self.operands([self.pool.values[self.term].shape] * count)
        domains = op.domain if len(op.domain) == count else op.domain * count
        xs = [inside(d, x) for d, x in zip(domains, xs)]
        if op.name in OF_INTEGERS:
            xs = [pt.cast(x, "int64") for x in xs]
        if op.name in FIXED:
            xs[FIXED[op.name]] = self.rng.choice((1, 2))
        return self.pool.add(getattr(pt, op.name), *xs)

    def on_arrays(self) -> Any:
        cls, (parameters, *inputs) = self.rng.choice(CONTINUOUS if self.smooth else ARRAYS)
        if self.term.type.dtype in REFUSED.get(cls.__name__, ()):
            raise Skip
        shapes = [x for x in inputs if isinstance(x, tuple)]
        xs = iter(self.operands(shapes))
        made = [next(xs) if isinstance(x, tuple) else np.asarray(x) for x in inputs]
        return self.pool.add(cls(**parameters), *made)


def inside(domain: Any, x: Any) -> Any:
    """A term with values in a domain, away from its ends."""
    low, high, *_ = domain
    if domain.limited:
        return low + (high - low) * (0.1 + 0.8 * pt.sigmoid(x))
    if low > -np.inf:
        return low + 0.2 + pt.softplus(x)
    return high - 0.2 - pt.softplus(x) if high < np.inf else x


def meaning(node: Any, values: Any, dtype: Any) -> Any:
    """What NumPy or SciPy says of a node; None where no function is declared."""
    if dtype.kind in "iu" and values[0].dtype.kind == "f" and hasattr(node.op, "acc_dtype"):
        return None  # a sum of floats in integers
    scalar_op = getattr(node.op, "scalar_op", None)
    if type(node.op).__name__ != "Elemwise":
        means = MEANS.get(type(node.op).__name__)
        found = None if means is None else means(node.op, *values)
        return found if found is None or isinstance(found, list) else [found]
    name = scalar_op.function
    if not name or len(values) != (scalar_op.nin or 2):
        return None
    home = scipy.special if "scipy" in name else np
    function = getattr(home, name.rpartition(".")[2])
    if dtype.kind != "f":
        dtype = np.result_type(*values)
    return [function(*[x.astype(dtype) for x in values])]


@seeds
def test_values_dtypes_and_shapes(seed):
    expression = Expression(seed, smooth=False)
    case = Case.of([expression.term], expression.pool.given)
    values = evaluate(case.outputs, case.given)
    for node in case.nodes:
        given_ = [v.data if isinstance(v, rw.Constant) else values[v] for v in node.inputs]
        wanted = meaning(node, given_, values[node.outputs[0]].dtype)
        for v in node.outputs:
            x = values[v]
            assert (v.type.dtype, v.type.ndim) == (x.dtype.name, x.ndim), node
            assert all(n in (None, m) for n, m in zip(v.type.shape, x.shape)), node
            if wanted is not None:
                close(x, wanted[v.index], node)
    made = [v for node in case.nodes for v in node.outputs]
    shapes = rw.function(case.inputs, [v.shape for v in made], on_unused_input="ignore")
    arrays = [case.given[v] for v in case.inputs]
    assert [tuple(s) for s in shapes(*arrays)] == [values[v].shape for v in made]
    (term,) = case.outputs
    around = [s[0].astype(float) for s in spread([term], case.given, 8, regrouped=True) or []]
    if {x.shape for x in around} != {
        values[term].shape
    }:  # noise changes how many elements there are
        return
    noise = np.ptp(around, axis=0)
    for mode in (None, rw.Mode(linker="py", optimizer=None)):
        (found,) = rw.function(case.inputs, [term], mode=mode)(*arrays)
        assert (found.dtype, found.shape) == (values[term].dtype, values[term].shape)
        apart = np.abs(found.astype(float) - values[term].astype(float))
        unit = np.finfo(found.dtype).eps if found.dtype.kind == "f" else 0
        assert (apart <= 50 * noise + 64 * unit * (1 + np.abs(values[term]))).all()


def close(found: Any, wanted: Any, node: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, node
    dtype = getattr(node.op, "acc_dtype", None) or found.dtype.name
    rtol = max(TOLERANCE.get(d, 1e-9) for d in (dtype, found.dtype.name))
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol, err_msg=str(node))


def is_smooth(case: Case) -> bool:
    """Whether differences tell: nothing is almost where it has a kink or a pole, and no float is
    shorter.
    """
    values = evaluate(case.outputs, case.given)
    floats = [v for node in case.nodes for v in node.outputs if v.type.kind == "f"]
    wide = {getattr(v.owner.op, "acc_dtype", None) or v.type.dtype for v in floats}
    kinks = [v.owner.inputs[i] for v in floats for i in KINKS.get(str(v.owner.op), ())]
    near = [v.data if isinstance(v, rw.Constant) else values[v] for v in kinks]
    return (
        {v.type.dtype for v in floats} | wide == {"float64"}
        and all((np.abs(x) > 1e-6).all() for x in near)
        and all((np.abs(values[v]) < 1e6).all() for v in floats)
    )


@seeds
def test_gradients(seed):
    expression = Expression(seed, smooth=True)
    case = Case.of([expression.term], expression.pool.given)
    (term,) = case.outputs
    floats = [v for v in case.inputs if v.type.kind == "f"]
    assume(floats and is_smooth(case))

    def fun(*xs: Any) -> Any:
        others = {v: pt.constant(x) for v, x in case.given.items() if v not in floats}
        return rw.clone_replace([term], others | dict(zip(floats, xs)))[0]

    arrays, rng = [case.given[v] for v in floats], np.random.default_rng(0)
    verify_grad(fun, arrays, rng=rng, abs_tol=1e-3, rel_tol=1e-3)  # as good as differences are
