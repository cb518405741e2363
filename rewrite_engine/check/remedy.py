"""Remedies of WRONG findings (`fix:`), by check and kind of finding."""

from __future__ import annotations

from typing import Any

from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.graph.traverse import explicit_graph_inputs, toposort
from rewrite_engine.judge.difference import BothSides
from rewrite_engine.judge.noise import is_black_box
from rewrite_engine.judge.verdict import Broken, Verdict, judge_terms
from rewrite_engine.match.claim import backward

MAX_ULPS = 1e6  # of a difference that may be only rounding
MAX_SQUARED = 1e6  # growth of errors that the square of a moderate condition may cause
MAX_GROWTH = 64  # of errors of rules of linear algebra, in the left side's errors

GUARD = "a narrower sort, or a guard that excludes such values, such as given(finite(x))"
SAME_SHAPES = (
    'say which lengths are equal: a: Tensor["n", "m"], b: Tensor["n", "m"], '
    "or given(same_shape(a, b))"
)
RULE = "mend the function of the rule; a guard returns False where the rule does not apply"
STABLE = "a right side as accurate as the left side: a.T @ a squares the condition of a matrix"
LAW = "leave {0}= out, or give it the value that holds for all dtypes"

#: by check and name; for a claim and an error in a rule more is known (`remedy`)
REMEDIES: dict[tuple[str, str], str] = {
    ("lint", "raises"): RULE,
    ("lint", "example"): "write what the example prints now, or an example that shows the rule",
    ("termination", "ends"): (
        "a measure that each application makes smaller, a larger n of at_most(n), or no ends="
    ),
    ("facts", "fact"): 'return unknown("why") for such terms, or mend the @test of the fact',
    ("claims", "raises"): RULE,
    ("claims", "claim"): GUARD,
    ("claims", "shape"): SAME_SHAPES,
    ("claims", "error"): (
        "a right side that keeps the operand, so that its errors are kept, or "
        f"{SAME_SHAPES.removeprefix('say ')}"
    ),
    ("claims", "type"): (
        "given(same_dtype(a, b)), a narrower sort, or a cast, such as "
        'compute(lambda a: pt.cast(a, "int64"))'
    ),
    ("claims", "gradient"): (
        "a right side with the slope of the left side; an L_op of your own op that is wrong shows "
        "here, too: rw.check(op)"
    ),
    ("claims", "distribution"): (
        "draw with the parameters that give the left side's distribution, from a state that "
        "nothing else uses"
    ),
    ("ops", "destroy_map"): "destroy_map = {0: [0]}: each output, and the inputs it overwrites",
    ("ops", "view_map"): "view_map = {0: [0]}: each output and the inputs it may be a view of; or "
    "copy",
    ("ops", "shape"): "return from `shapes` (or `infer_shape`) the shape that `perform` gives",
    ("ops", "declaration"): "declare the range=, keeps= or bounds that all values have, or mend "
    "`perform`",
    ("ops", "forms"): "make all forms of the op (`perform`, `lower`, C code) give the same values",
    ("ops", "contract"): "make `perform` keep what the op declares",
    ("ops", "repeat"): "leave no state between two runs; determined = False for an op that draws",
    ("ops", "gradient"): "mend `L_op` (of a ScalarOp: its gradient functions) until verify_grad "
    "passes",
    **{
        ("ops", law): LAW.format(law)
        for law in ("identity", "absorbing", "commutative", "associative", "idempotent")
    },
}


def wrong(
    check: str, name: str, subject: str, where: Any, why: str, example: str = "", fix: str = ""
) -> Finding:
    """Return a WRONG finding with its remedy. fix: what to write, if more is known than the kind of
    the finding.
    """
    fix = fix or REMEDIES[check, name]
    return Finding(Kind.WRONG, check, name, subject, where, why, example, fix)


def remedy_of_linear_algebra(sides: BothSides, verdict: Verdict) -> str:
    """Return the claim of a rule on matrices whose error is within the condition; "" for none."""
    if verdict.broken != Broken.ACCURACY or verdict.given is None:
        return ""
    if sides.promise.kind == "backward":
        if verdict.growth < MAX_GROWTH:
            return f"claim=backward({int(verdict.growth) + 1}), if that is near enough"
        return STABLE if verdict.growth < MAX_SQUARED else GUARD
    if not any(map(is_black_box, toposort([sides.term]))):
        return ""
    for growth in (4, 16, MAX_GROWTH):
        if judge_terms(sides._replace(promise=backward(growth)), verdict.given).broken is None:
            return f"claim=backward({growth}): errors of linear algebra grow with the condition"
    return ""


def remedy_of_claim(sides: BothSides, verdict: Verdict, claim: Any) -> str:
    """Return what to write for a claim that values break; "" for the remedy of the finding's
    kind. claim: what the rule claims.
    """
    broken = verdict.broken
    if broken in (Broken.ERROR_LOST, Broken.DRAWS):
        return ""
    if broken == Broken.ERROR_NEW:
        return GUARD.replace("finite(x)", "fits(y)")
    if broken == Broken.SHAPE:
        return "" if verdict.left[0] == verdict.right[0] else REMEDIES["claims", "type"]
    if broken == Broken.LIMIT:
        return 'phase="stabilize", whose functions may give the limit'
    if backward_fix := remedy_of_linear_algebra(sides, verdict):
        return backward_fix
    if claim is not None and claim.kind == "exact":
        return "claim refines, or approx(ulps=n), if values are near"
    kinds = {getattr(v.type, "kind", "?") for v in explicit_graph_inputs([sides.term])}
    if "c" in kinds and "f" not in kinds:
        return "x: Float, which excludes complex numbers"
    if verdict.units is not None and verdict.units < MAX_ULPS:
        return f"claim=approx(ulps={int(verdict.units) + 1}), if that is near enough"
    if kinds & {*"iu"} and "f" not in kinds:
        return "x: Float, which excludes integers"
    return GUARD.replace("finite(x)", "nonneg(x)") if broken == Broken.NAN_LOST else GUARD
