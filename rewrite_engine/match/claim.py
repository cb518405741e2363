"""Promises of rules about values: `exact`, `refines` (the default), `approx(ulps)`,
`assumes(condition)`.

Every claim keeps dtype and shape, and errors: where the left side raises one (shapes that do not
fit), so does the right side, unless the condition is "shape_unsafe". A NaN in an input that the
left side shows is never lost. `check/oracle.py` holds rules against this.
"""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A promise.

    `tags` are what queries select it by. condition: the tag that has to be included before a rule
    with this claim is used (None: it always may be). then: what is promised where that is known to
    hold.
    """

    kind: str
    ulps: int | None = None
    condition: str | None = None
    then: Claim | None = None

    @property
    def tags(self) -> frozenset[str]:
        """The kind, and for an assumption also the condition."""
        return frozenset({self.kind}) | ({self.condition} if self.condition else frozenset())

    def __str__(self) -> str:
        if self.ulps is not None:
            return f"{self.kind}(ulps={self.ulps})"
        return f"{self.kind}({self.condition})" if self.condition else self.kind


#: what messages say where something else is given
CLAIMS = 'a claim is one of exact, refines, approx(ulps), assumes("fastmath")'

#: the same bits (a NaN is a NaN), dtype, shape and errors
exact = Claim("exact")
#: Where the left side is finite, the right side is, too, and no less accurate (the last rounding
#: and the sign of a zero aside, and numbers below the smallest normal one, which SciPy's functions
#: take for 0; the logarithm of a sum has no more digits near 0 than the largest
#: operand). Where it is infinite, the right side is that infinity, or the true value if that is
#: finite. (For functions that are made stable, NaN if there is no true value: log1p(-exp(x)) at
#: 1e-300 is no log(0), to which it is rounded.) Where it is NaN, the right side is NaN; or the
#: true value, if there is one (what overflowed or underflowed on the way is mended); or, for
#: functions that are made stable, the limit: sigmoid(inf) is 1, x * log(x) is 0 at 0. A complex
#: number with an infinite part is infinite, also where a product lost that.
refines = Claim("refines")


def approx(ulps: int) -> Claim:
    """As `refines`, but finite values may be less accurate, by so many units in the last place:
    those of the result, or of the largest of the numbers that were added up to it; for rules on any
    number of operands (tag "reorder") per operand. Only these may overflow where the left side does
    not: in a partial sum of another order. What was NaN because something overflowed on the way may
    be infinite.
    Raises `ValueError` for anything but a whole number that is positive.
    """
    if not isinstance(ulps, int) or isinstance(ulps, bool) or ulps < 1:
        raise ValueError(f"approx takes a whole number of units in the last place, not {ulps!r}")
    return Claim("approx", ulps=ulps)


def assumes(condition: str, then: Claim = refines) -> Claim:
    """True only under a condition, which the user has to grant: `Mode(...).including(condition)`,
    or which facts prove (`given(assuming(...))`). then: what is promised where it holds.

    Usual ones: "fastmath" (values are finite), "shape_unsafe" (shapes fit).
    """
    return Claim("assumes", condition=condition, then=then)
