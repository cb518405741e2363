"""A binary ufunc over any number of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def fold(ufunc: np.ufunc, arrays: Sequence[Any], dtype: Any, out: Any) -> Any:
    """Compute a ∘ b ∘ c ∘ … in this dtype (None: the dtype of the operands)."""
    if len(arrays) == 1:
        return copy_into(arrays[0] if dtype is None else arrays[0].astype(dtype), out)
    first, second, *rest = arrays
    # writing into an operand that is still to be read would destroy it
    late = out is not None and any(np.may_share_memory(out, x) for x in rest)
    into = None if late else out
    result = ufunc(first, second, out=into, dtype=dtype)
    for x in rest[:-1]:
        result = ufunc(result, x, out=into, dtype=dtype)
    return ufunc(result, rest[-1], out=out, dtype=dtype) if rest else result


def copy_into(x: Any, out: Any) -> Any:
    """Return a copy of an array, in `out` if it is given."""
    if out is None:
        return np.array(x)
    np.copyto(out, x)
    return out
