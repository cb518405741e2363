"""Exact reference values, computed with 400 digits, and the errors of floating point results."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.graph.node import Variable
from rewrite_engine.judge.exact import evaluate
from rewrite_engine.judge.noise import last_unit

DIGITS = 400  # 1 + the smallest number is told from 1


@mp.workdps(DIGITS)
def reference(output: Variable, given: dict[Any, Any], found: Any = None) -> Any:
    """Return the value of a term; None if an op has no exact meaning. found: computed values, used
    for integers and booleans (or why there are none).
    """
    computed = found if isinstance(found, dict) else {}
    kept = {v: a for v, a in computed.items() if v.type.kind in "biu" and v not in given}
    value = evaluate([output], given, kept, pairs=True).get(output)
    return None if value is None else np.asarray(value, object)


@mp.workdps(DIGITS)
def errors(found: Any, wanted: Any) -> Any:
    """Return the error of each number, in units in the last place of its dtype."""
    return np.array([error(f, w, found.dtype) for f, w in zip(found.flat, wanted.flat)])


@mp.workdps(DIGITS)
def error(found: Any, wanted: Any, dtype: Any) -> float:
    """Return the error of one number. Infinity is allowed for values slightly above the largest
    number.
    """
    if wanted != wanted or found != found:
        return 0.0 if wanted != wanted and found != found else np.inf
    largest = mpf(float(np.finfo(dtype).max))
    if mp.isinf(wanted) or not np.isfinite(found):
        limit = largest * (1 - 8 * mpf(float(np.finfo(dtype).eps)))
        far = not np.isfinite(found) and abs(wanted) > limit and (wanted > 0) == (found > 0)
        return 0.0 if far else np.inf
    unit = last_unit(np.asarray(float(min(abs(wanted), largest)), dtype))
    return float(abs(mpf(float(found)) - wanted) / mpf(float(unit)))
