"""Random loops on lengths that often do not fit: with the rules and without, the same values, and
errors from the same calls.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.loops import scan, until

PLAIN = rw.Mode().excluding("loops")
WHAT = ["leaf", "add", "mul", "sin", "total", "dot", "item", "choice"]


class Case:
    """A loop made of a seed. inputs: of the function; outputs: what is read of the loop."""

    def __init__(self, seed: int) -> None:
        self.choose = r = random.Random(seed)
        self.x, self.k = pt.dvector("x"), pt.lvector("k")
        self.y, self.z, self.w = pt.dmatrices("y", "z", "w")
        self.m, self.q = pt.dvectors("m", "q")
        self.s, self.n = pt.dscalar("s"), pt.lscalar("n")
        self.inputs = [self.x, self.y, self.z, self.m, self.q, self.s, self.w, self.k, self.n]
        self.kinds = [r.choice("svi") for _ in range(r.randint(0, 3))]
        self.free = r.randint(0 if self.kinds else 1, 2)
        self.read = [v for v in (self.x, self.y, self.z, self.k) if r.random() < 0.6]
        self.ends, self.steps = r.random() < 0.15, r.choice([0, 1, 2, 3, 5])
        starts = {"s": [self.s, pt.constant(0.0)], "v": [self.m, self.q], "i": [pt.constant(0)]}
        first = [r.choice(starts[c]) for c in self.kinds]
        given = r.choice([self.steps, self.n, *([None] if self.read else [])])
        found, _ = scan(self.step, self.read, [*first, *[None] * self.free], n_steps=given,
                        go_backwards=r.random() < 0.2, return_list=True)  # fmt: skip
        self.outputs = [v for out in found for v in self.seen(out)]

    def seen(self, out: Any) -> list[Any]:
        """What is read of a result."""
        how = self.choose.choice(["all", "last", "last", "two", "sum", "nothing", "final"])
        if how in ("last", "two"):
            long = out.type.shape[0] != 0
            return [out[-1] if how == "last" else out[-2:]] if long else []
        return {"all": [out], "sum": [out.sum()], "nothing": [],
                "final": [out.owner.outputs[0]]}[how]  # fmt: skip

    def step(self, *args: Any) -> Any:
        self.args, r, a = args, self.choose, len(self.read)
        new = [self.term(c, r.randint(0, 2)) for c in self.kinds]
        for j, v in enumerate(args[a : a + len(new)]):
            if r.random() < 0.4:
                new[j] = v * new[j] if self.kinds[j] == "s" and r.random() < 0.3 else v + new[j]
        outputs = [*new, *[self.term(r.choice("sv"), 2) for _ in range(self.free)]]
        return (outputs, until(self.term("s", 1) > 0.9)) if self.ends else outputs

    def term(self, kind: str, depth: int) -> Any:
        """A number, a vector or an integer, of what a step is given."""
        r, term = self.choose, self.term
        ndim, dtype = int(kind == "v"), "int64" if kind == "i" else "float64"
        more = {"s": self.s, "v": self.m, "i": pt.constant(1)}[kind]
        pool = [*[v for v in self.args if (v.type.ndim, v.type.dtype) == (ndim, dtype)], more]
        what = r.choice(WHAT) if depth else "leaf"
        if kind == "i":
            return r.choice(pool) if what != "add" else term("i", 0) + term("i", depth - 1)
        if what in ("add", "mul"):
            a, b = term(kind, depth - 1), term(r.choice([kind, "s"]), depth - 1)
            return a + b if what == "add" else pt.tanh(a * b)
        if what == "sin":
            return pt.sin(term(kind, depth - 1))
        if what == "dot":
            other = self.w if kind == "v" else term("v", 0)
            return pt.tanh(pt.dot(term("v", depth - 1), other))
        if what == "total" and kind == "s":
            return pt.tanh(term("v", depth - 1).sum())
        if what == "item" and kind == "s":
            return term("v", 0)[term("i", 0) % 4]
        if what == "choice" and kind == "s":
            return pt.ifelse(term("s", 0) > 0, term("s", depth - 1), term("s", 0))
        return r.choice(pool)

    def values(self, rng: Any) -> list[Any]:
        """Values for the inputs."""
        r, n = self.choose, self.steps
        long = lambda: r.choice([n] * 6 + [n + 1, max(n - 1, 0)])
        wide = lambda: r.choice([3] * 14 + [4])
        normal = lambda *shape: rng.normal(size=shape)
        return [normal(long()), normal(long(), wide()), normal(long(), wide()), normal(wide()),
                normal(wide()), 0.4, normal(wide(), wide()), rng.integers(0, 3, long()),
                n]  # fmt: skip


def called(f: Any, values: list[Any]) -> Any:
    try:
        return f(*values)
    except (rw.errors.RewriteEngineError, IndexError, ValueError) as error:
        return error


@pytest.mark.parametrize("seed", range(60))
def test_a_random_loop(seed: int) -> None:
    case, rng = Case(seed), np.random.default_rng(seed)
    options: Any = {"on_unused_input": "ignore"}
    f = rw.function(case.inputs, case.outputs, **options)
    g = rw.function(case.inputs, case.outputs, mode=PLAIN, **options)
    for _ in range(3):
        values = case.values(rng)
        found, wanted = called(f, values), called(g, values)
        assert isinstance(found, Exception) == isinstance(wanted, Exception), (found, wanted)
        if isinstance(found, Exception):
            continue
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape or a.size == b.size == 0
            np.testing.assert_allclose(a.reshape(b.shape), b, rtol=1e-7, atol=1e-9)
