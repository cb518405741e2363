"""Claims of rules about values: `exact`, `refines` (the default), `approx(ulps)`, `backward(n)`,
`assumes(condition)`.

Whatever its claim, a rule must preserve dtype, shape and errors: if the left side raises an error
(shapes that do not fit), so does the right side, unless the condition is "shape_unsafe". A NaN in
an input that the left side propagates is never lost. `rewrite_engine/judge/verdict.py` checks
values against claims.
"""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """Claim of a rule about values.

    `tags`: the names by which queries select it. condition: the tag that must be included before a
    rule with this claim is used (None: none). then: the claim if the condition is known to hold.
    growth: how many times the left side's error the error may be (`backward`).
    """

    kind: str
    ulps: int | None = None
    condition: str | None = None
    then: Claim | None = None
    growth: int | None = None

    @property
    def tags(self) -> frozenset[str]:
        """Kind of the claim, and for an assumption also the condition."""
        return frozenset({self.kind}) | ({self.condition} if self.condition else frozenset())

    def __str__(self) -> str:
        if self.ulps is not None:
            return f"{self.kind}(ulps={self.ulps})"
        if self.growth is not None:
            return f"{self.kind}({self.growth})"
        return f"{self.kind}({self.condition})" if self.condition else self.kind


#: what messages say where something else is given
CLAIMS = 'a claim must be one of exact, refines, approx(ulps), backward(n), assumes("fastmath")'

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
    """Claim `refines`, except that finite values may be less accurate, by this many units in the
    last place: of the result, or of the largest of the numbers added up to it; for rules on any
    number of operands (tag "reorder") per operand. Only these may overflow when the left side does
    not: in a partial sum of another order. A value that was NaN because something overflowed on the
    way may be infinite. Raises `ValueError` unless ulps is a positive integer.
    """
    if not isinstance(ulps, int) or isinstance(ulps, bool) or ulps < 1:
        raise ValueError(f"approx takes a positive integer (units in the last place), not {ulps!r}")
    return Claim("approx", ulps=ulps)


def backward(n: int) -> Claim:
    """Claim of rules of linear algebra, whose errors depend on the condition of matrices.

    Errors are those of the largest element of the result (of each of its matrices). On finite
    inputs of moderate condition the error is at most n times that of the left side, which counts as
    at least one unit in the last place, and as much as such a unit of its inputs and steps changes.
    The condition is moderate if the left side's error is below 1.8e6 units in
    double and 590 in single precision.

    Where the left side overflowed (a determinant), the right side may be the true value. If the
    left side has a NaN because an input has one, the right side has a NaN or an infinity, but not
    always in the same place: a product of matrices spreads it along rows and columns. It has none
    if the left side multiplies this element with zeros alone. Nothing is claimed of infinite inputs
    of decompositions, and of numbers whose products overflow. Errors are kept: a singular matrix
    raises `SingularMatrixError` on both sides, or on neither, unless its last places decide whether
    it is singular. Raises `ValueError` unless n is a positive integer.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"backward takes a positive integer (a factor of errors), not {n!r}")
    return Claim("backward", growth=n)


def assumes(condition: str, then: Claim = refines) -> Claim:
    """Claim that a rule is true only under a condition, which the user must grant:
    `Mode(...).including(condition)`, or which facts prove (`given(assuming(...))`). then: the claim
    if it holds.

    Usual conditions: "fastmath" (values are finite), "shape_unsafe" (shapes fit).
    """
    return Claim("assumes", condition=condition, then=then)
