"""Sums and products of two functions at far points: how many values are wrong, as they are written
and as they are rewritten. `python -m benchmarks far_table`.

Twelve functions of x, -x and x / 2, above and below the bar, in pairs: f * g, f * g - g, f + g,
f - g; 20,736 terms at four points, against 400 digits. A value counts where the truth is a normal
number; it is wrong if it is not finite, or off by more than 1e-6 of the truth and what the larger
term is rounded by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.measure import Row

POINTS = np.array([-740.0, -30.0, 30.0, 740.0])
MOST_WRONG = 5_000  # of the terms as they are rewritten: a ratchet
#: a function of an argument: with tensors, and exactly
KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp": (pt.exp, mp.exp),
    "expm1": (pt.expm1, lambda u: mp.exp(u) - 1),
    "sigmoid": (pt.sigmoid, lambda u: 1 / (1 + mp.exp(-u))),
    "tanh": (pt.tanh, mp.tanh),
    "erf": (pt.erf, mp.erf),
    "erfc": (pt.erfc, mp.erfc),
    "sinh": (pt.sinh, mp.sinh),
    "cosh": (pt.cosh, mp.cosh),
    "1 + exp": (lambda u: 1 + pt.exp(u), lambda u: 1 + mp.exp(u)),
    "1 - sigmoid": (lambda u: 1 - pt.sigmoid(u), lambda u: 1 / (1 + mp.exp(u))),
    "1 - tanh**2": (lambda u: 1 - pt.tanh(u) ** 2, lambda u: mp.cosh(u) ** -2),
    "1 + erf": (lambda u: 1 + pt.erf(u), lambda u: mp.erfc(-u)),
}
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "f * g": lambda f, g: f * g,
    "f * g - g": lambda f, g: f * g - g,
    "f + g": lambda f, g: f + g,
    "f - g": lambda f, g: f - g,
}
SIDES = list(product(KINDS, (1.0, -1.0, 0.5), (False, True)))


def terms(x: Any, which: int) -> list[Any]:
    """The 72 factors of x, with tensors (0) or exactly (1)."""
    found = []
    for kind, scale, below in SIDES:
        f = KINDS[kind][which](x * scale)
        found.append(1 / f if below else f)
    return found


def wrong_of(values: Any, truths: list[Any]) -> Iterator[tuple[int, int]]:
    """Per term: how many of its values are wrong, and how many count."""
    tiny, most = np.finfo("float64").tiny, np.finfo("float64").max
    for value, (whole, size) in zip(values, truths, strict=True):
        wrong = count = 0
        for v, t, s in zip(value, whole, size, strict=True):
            if not tiny < abs(t) < most:
                continue
            count += 1
            allowed = 1e-6 * abs(float(t)) + (1e-15 * float(s) if s < most else 0.0)
            wrong += not (np.isfinite(v) and abs(v - float(t)) <= allowed)
        yield wrong, count


def exact(f: list[Any], g: list[Any], way: str) -> tuple[list[Any], list[Any]]:
    """The values of a pair, and the size of the larger of what is added up."""
    whole = [WAYS[way](a, b) for a, b in zip(f, g, strict=True)]
    if way == "f * g":
        return whole, [0] * len(whole)
    firsts = [a * b if "*" in way else a for a, b in zip(f, g, strict=True)]
    return whole, [max(abs(a), abs(b)) for a, b in zip(firsts, g, strict=True)]


def table(mode: Any = None, kinds: Any = KINDS) -> tuple[int, int]:
    """How many values are wrong in a mode, and how many there are."""
    x = pt.dvector("x")
    ours = terms(x, 0)
    with mp.workdps(400):
        true = [terms(mpf(float(p)), 1) for p in POINTS]
        true = [list(column) for column in zip(*true, strict=True)]
        wrong = count = 0
        for i, (kind, _, _) in enumerate(SIDES):
            if kind not in kinds:
                continue
            pairs = [(j, way) for j in range(len(SIDES)) for way in WAYS]
            f = rw.function([x], [WAYS[way](ours[i], ours[j]) for j, way in pairs], mode=mode)
            with np.errstate(all="ignore"):
                values = f(POINTS)
            for w, c in wrong_of(values, [exact(true[i], true[j], way) for j, way in pairs]):
                wrong, count = wrong + w, count + c
    return wrong, count


def main() -> Iterator[Row]:
    """The two rows."""
    plain, count = table(rw.Mode(linker="py", optimizer=None))
    wrong, _ = table()
    yield Row(f"as written, of {count:,}", f"{plain:,}")
    yield Row("rewritten", f"{wrong:,}", f"<= {MOST_WRONG:,}", wrong <= MOST_WRONG)
