"""Values for the inputs of terms: special values of each dtype in each operand, and arrays of all
layouts, including lengths that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np

ORDINARY = [1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 0.7, -13.37, 20.0, -0.1, 1e-3, 88.8, -103.9]
ORDINARY += [0.1, 0.3, 6.0]  # quotients of these are rounded to whole numbers
PLACES = [
    np.nextafter(0.5, 0),
    0.0,
    -0.0,
    1e-9,
    1e-17,
    -1e-17,
    1e-30,
    37.0,
    -37.0,
    710.0,
    -746.0,
    333.3,
    -1000.0,
]
NUMBERS = [0, 1, -1, 2, 3, -3, 7, 100]
NUMBERS += [12, 200, -50_000, -3_037_000_500]  # whose squares wrap; large lengths fill memory
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 0.7, 20.0, 1e-9, np.inf, -np.inf, np.nan]
#: where an assumption is granted: nothing overflows, cancels or is 0
TAME = [0.5, 1.0, 1.5, 3.0, 0.7, 0.1, 2.5, 1e-2, 7.3]
LENGTH = 4  # of dimensions that are not known
MODERATE = 1 / 3  # the condition of matrices is eps to minus this power: 170,000 in float64


@cache
def special(dtype: str) -> Any:
    """Return the extreme values of a dtype, infinities and NaN."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        more = [low, low + 1, high, high - 1, high // 2 + 1, 2**53 + 1]
        return np.array([n for n in NUMBERS + more if low <= n <= high], dtype)
    if kind == "c":
        return np.array([complex(a, b) for a, b in product(PARTS, PARTS)], dtype)
    limits = np.finfo(dtype)
    tiny, most, eps = float(limits.tiny), float(limits.max), float(limits.eps)
    least = float(limits.smallest_subnormal)
    ends = [least, 3 * least, tiny, tiny / 4, tiny * 3, most, most / 2, most / 3]
    ends += [most**0.5, tiny**0.5, 1 / most, eps, 1 + eps, 1 - eps / 2]
    signed = [sign * n for n in ends for sign in (1, -1)]
    return np.unique(
        np.array([*PLACES, *signed, np.nan, np.inf, -np.inf], dtype).view(bits_of(dtype))
    ).view(dtype)


def bits_of(dtype: str) -> str:
    return f"u{np.dtype(dtype).itemsize}"


@cache
def pool(dtype: str, tame: bool = False) -> Any:
    """Return the values of a dtype to draw from."""
    with np.errstate(all="ignore"):
        if tame:
            return np.array([1, 2, 3] if dtype[0] in "iu" else TAME).astype(dtype)
        if np.dtype(dtype).kind == "f":
            return np.concatenate([np.array(ORDINARY, dtype), special(dtype)])
        return special(dtype)


class Draw:
    """Draws values for the inputs of one term."""

    def __init__(self, inputs: list[Any], seed: int, tame: bool) -> None:
        self.inputs, self.tame = inputs, tame
        self.rng = np.random.default_rng(seed)

    def shape(self, v: Any, length: int = LENGTH) -> tuple[int, ...]:
        return tuple([length if n is None else n for n in v.type.shape])

    def array(self, v: Any, shape: tuple[int, ...], mood: int = 0) -> Any:
        """Return an array of any values (mood 0), of ordinary values with one special value (1), of
        ordinary values alone (2), or of large and small ones (3).
        """
        dtype = v.type.dtype
        values = pool(dtype, self.tame)
        if np.dtype(dtype).kind != "f" or self.tame or mood == 0:
            return self.rng.choice(values, shape)
        limits = np.finfo(dtype)
        with np.errstate(all="ignore"):
            if mood == 3:
                scale = float(limits.max) ** self.rng.choice(
                    [-0.9, -0.5, 0, 0.5, 0.9, 0.999], shape
                )
                return (scale * self.rng.choice([-1, 1, 0.5, 40, 70, 5], shape)).astype(dtype)
            a = np.array(self.rng.choice(ORDINARY, shape)).astype(dtype)
        if mood == 1 and a.size:
            a.flat[self.rng.integers(a.size)] = self.rng.choice(special(dtype))
        return a

    def all_of(self, length: int = LENGTH, mood: int = 0) -> dict[Any, Any]:
        return {v: self.array(v, self.shape(v, length), mood) for v in self.inputs}

    def grid(self) -> dict[Any, Any]:
        """Return all pairs of values of two operands, in one long vector."""
        long = [v for v in self.inputs if v.type.shape == (None,)]
        pools = [pool(v.type.dtype, self.tame) for v in long]
        if len(long) == 1:
            columns: list[Any] = [pools[0]]
        elif len(long) == 2 and len(pools[0]) * len(pools[1]) < 4000:
            columns = [np.asarray(c).ravel() for c in np.meshgrid(*pools)]
        else:
            columns = [self.rng.choice(p, 1500) for p in pools]
            for i, column in enumerate(columns):  # beside a special one, the others are ordinary
                if column.dtype.kind == "f" and not self.tame:
                    others = np.arange(750) % len(columns) != i
                    plain = self.rng.choice(np.array(ORDINARY, column.dtype), 750)
                    column[:750][others] = plain[others]
        found = dict(zip(long, columns, strict=True))
        return {v: found[v] if v in found else self.array(v, self.shape(v)) for v in self.inputs}

    def oblong(self) -> dict[Any, Any]:
        """Return arrays whose dimensions all have different lengths."""
        found = {}
        for v in self.inputs:
            n = len(v.type.shape)
            own = [LENGTH - (n - 1 - k) if m is None else m for k, m in enumerate(v.type.shape)]
            found[v] = self.array(v, tuple([max(m, 0) for m in own]), 2)
        return found

    def of_lengths(self, lengths: Mapping[Any, int]) -> dict[Any, Any]:
        """Return ordinary numbers in arrays with the given length of each input and dimension;
        whole ones are small, and one without dimensions is such a length itself (dimension -1).
        """
        found = {}
        for v in self.inputs:
            shape = [lengths.get((v, i), LENGTH) for i in range(len(v.type.shape))]
            shape = [m if n is None else n for m, n in zip(shape, v.type.shape, strict=True)]
            if v.type.kind not in "iu":
                found[v] = self.array(v, tuple(shape), 2)
            elif shape:
                found[v] = self.rng.integers(0, 3, shape).astype(v.type.dtype)
            else:
                found[v] = np.asarray(lengths.get((v, -1), LENGTH), v.type.dtype)
        return found

    def laid_out(self, how: int) -> dict[Any, Any]:
        """Return arrays that are not contiguous."""
        found = {}
        for i, v in enumerate(self.inputs):
            shape = self.shape(v)
            found[v] = layout(self.array(v, shape), (how + i) % 4)
        return found

    def conditioned(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return an array of matrices of moderate condition, whose square is none any more; vectors
        and numbers near 1.
        """
        if len(shape) < 2 or 0 in shape:
            return (self.rng.uniform(0.5, 2, shape) * self.rng.choice([-1, 1], shape)).astype(dtype)
        small = min(shape[-2:])
        sides = [self.orthogonal((*shape[:-2], n, n), dtype) for n in shape[-2:]]
        fall = float(np.finfo(dtype).eps) ** (MODERATE * np.arange(small) / max(small - 1, 1))
        whole = (sides[0][..., :, :small] * fall) @ sides[1][..., :small, :]
        return whole.astype(dtype)

    def orthogonal(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return random orthogonal matrices (unitary ones for a complex dtype)."""
        a = self.rng.normal(size=shape)
        if np.dtype(dtype).kind == "c":
            a = a + 1j * self.rng.normal(size=shape)
        return np.linalg.qr(a)[0]

    def matrices(self) -> Iterator[dict[Any, Any]]:
        """Yield values for rules of linear algebra: matrices of moderate condition; then one input
        with a NaN, one with an infinity, with zeros alone, and with two equal rows.
        """
        floats = [v for v in self.inputs if v.type.kind in "fc"]
        plain = self.all_of(mood=2)
        plain |= {v: self.conditioned(self.shape(v), v.type.dtype) for v in floats}
        yield plain
        for one in floats:
            for spoil in SPOILS:
                yield plain | {one: spoil(plain[one], self.rng)}

    def misfits(self) -> Iterator[dict[Any, Any]]:
        """Yield values in which each input in turn has a length that the others do not have."""
        for i, v in enumerate(self.inputs):
            if None in v.type.shape:
                for other in (LENGTH + 1, 1):
                    given = self.all_of(mood=2)
                    given[v] = self.array(v, self.shape(v, other), 2)
                    yield given
                    if i > 2:
                        break


def _with(number: float) -> Any:
    def spoil(a: Any, rng: Any) -> Any:
        a = a.copy()
        if a.size:
            a.flat[rng.integers(a.size)] = number
        return a

    return spoil


def _with_equal_rows(a: Any, rng: Any) -> Any:
    """Return an array of small whole numbers with two equal rows, a singular matrix."""
    a = rng.integers(-3, 4, a.shape).astype(a.dtype)
    if a.ndim > 1 and a.shape[-2] > 1:
        a[..., -1, :] = a[..., 0, :]
    return a


#: what makes an ordinary input a special one
SPOILS = (_with(np.nan), _with(np.inf), _with(0.0), lambda a, rng: a * 0, _with_equal_rows)


def layout(a: Any, how: int) -> Any:
    """Return an array in another layout: every other element of a larger one, reversed, transposed,
    or one value repeated.
    """
    if not a.ndim:
        return a
    if how == 0:
        return np.repeat(a, 2, axis=-1)[..., ::2]
    if how == 1:
        return a[..., ::-1]
    if how == 2:
        return np.asfortranarray(a)
    return np.broadcast_to(a[..., :1], a.shape) if a.shape[-1] else a


def matrix_draws(inputs: list[Any], seed: int) -> Iterator[dict[Any, Any]]:
    """Yield values for the inputs of a term of linear algebra; the first ones are ordinary."""
    return Draw(inputs, seed, False).matrices()


def draws(inputs: list[Any], seed: int, tame: bool = False) -> Iterator[dict[Any, Any]]:
    """Yield values for the inputs of a term."""
    draw = Draw(inputs, seed, tame)
    flat = all(v.type.shape in ((None,), ()) for v in inputs)
    if flat and any(v.type.shape for v in inputs):
        yield draw.grid()
    else:
        for mood in (0, 1, 1, 2, 3, 3):
            yield draw.all_of(mood=mood)
    if not any(None in v.type.shape for v in inputs):
        return
    if not tame:
        yield draw.all_of(length=0)
    yield draw.all_of(length=1, mood=2)
    yield draw.laid_out(seed)
    if any(len(v.type.shape) > 1 for v in inputs):
        yield draw.oblong()
    yield from draw.misfits()
