"""Products of exponentials with terms of any size: what is in range stays there."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt


@pytest.mark.parametrize(
    "make",
    [
        lambda e, f, z: e * (f / z),
        lambda e, f, z: e / (f * z),
        lambda e, f, z: e / (f / z),
        lambda e, f, z: z * e * f,
        lambda e, f, z: e * z * f,
        lambda e, f, z: e * z / f,
        lambda e, f, z: z / e / f,
        lambda e, f, z: (z / e) * f,
        lambda e, f, z: z / (e * f),
        lambda e, f, z: e * (z * (f * z)),
        lambda e, f, z: e / (z / (f * z)),
    ],
)
def test_exponentials_beside_another_factor_stay_in_range(make: Any) -> None:
    """No more overflows or underflows than as it is written, beside one term of any size. (Two of
    1e250 and more, on both sides of the first, may.)
    """
    grid = np.meshgrid(
        [-700.0, -300, -1, 2, 300, 700], [-700.0, -299, 1, 301, 700], [1e-300, 3, 1e290]
    )
    at = [a.ravel() for a in grid]
    x, y, z = pt.dvectors("xyz")
    term = make(pt.exp(x), pt.exp(y), z)
    found = rw.function([x, y, z], term)(*at)
    plain = rw.function([x, y, z], term, mode=rw.Mode(optimizer=None))(*at)
    normal = (plain > 1e-300) & (plain < 1e300)
    assert 10 < normal.sum() < len(plain)
    np.testing.assert_allclose(found[normal], plain[normal], rtol=1e-12)
