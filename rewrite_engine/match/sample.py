"""What can be seen of a rule before it meets a graph: its sides are built on samples of its
variables' sorts, where all of these have some (of tensors: sorts that fix a rank).

Only what holds for every operand is concluded. What cannot be seen here shows when the rule is
used: `DataRule.accept`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.errors import AxisError, NDimError, PatternError
from rewrite_engine.match.ac import is_ac
from rewrite_engine.match.build import build
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.pattern import Hole, OpNode, holes

#: what is said of ranks, whatever the dtypes are
MISFIT = (NDimError, AxisError)


def samples_of(pattern: Any) -> list[dict[str, Any]]:
    """Bindings of a pattern's holes to samples, one for each kind of dtype; none if a sort has no
    samples.
    """
    found = holes(pattern)
    if any(hole.sort.samples is None or hole.has_default for hole in found.values()):
        return []
    rows = zip(*[hole.sort.samples() for hole in found.values()], strict=True)  # type: ignore[misc]
    return [dict(zip(found, row, strict=True)) for row in rows]


def rank(pattern: Any) -> int | None:
    """The number of dimensions of what a pattern makes; None if the sorts do not tell."""
    for bound in samples_of(pattern):
        try:
            return _rank(build(pattern, bound))
        except Exception:  # not of these dtypes
            continue
    return None


def check_sides(rule: Lowered) -> None:
    """Refuse a rule that does nothing, that matches nothing, or whose right side never has the
    rank of the left one.
    """
    if rule.left == rule.right:
        raise PatternError("both sides are the same: this does nothing")
    misfit: Exception | None = None
    ranks = []
    for bound in samples_of(rule.left):
        try:
            ranks.append((_rank(build(rule.left, bound)), _right(rule, bound)))
        except MISFIT as error:
            misfit = misfit or error
        except Exception:  # of these dtypes there is no such term
            continue
    if ranks and None not in ranks[0] and all(left != right for left, right in ranks):
        left, right = ranks[0]
        what = f"the left side has rank {left} and the right side {right}: this can never fit"
        raise PatternError(what)
    if misfit is not None and not ranks:
        raise PatternError(f"of these sorts no such term can be built: {misfit}") from misfit


def _right(rule: Lowered, bound: dict[str, Any]) -> int | None:
    """The rank of a right side; None where that depends on more than the variables."""
    if not isinstance(rule.right, OpNode | Hole) or is_ac(rule.left):
        return None
    return _rank(build(rule.right, bound))


def _rank(term: Any) -> int | None:
    found: int | None = getattr(getattr(term, "type", None), "ndim", None)
    return found
