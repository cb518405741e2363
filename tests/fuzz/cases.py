"""Cases of the tests of the fuzzer."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from fuzz.case import Case


def case(make: Any, *arrays: Any) -> Case:
    inputs = [
        pt.tensor(f"x{i}", dtype=a.dtype, shape=(None,) * a.ndim) for i, a in enumerate(arrays)
    ]
    return Case.of([make(*inputs)], dict(zip(inputs, arrays, strict=True)))
