"""Comparison of values: the graph as built, run op by op, with the rewritten and compiled one, on
the same inputs (`check_values`). `judge/compare.py` compares two values; `claims.py` judges each
firing separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from io import StringIO
from time import process_time
from typing import Any

from rewrite_engine.errors import AssumptionError, BadValueError
from rewrite_engine.explain.claims import RANDOM, Claims, check_claims
from rewrite_engine.explain.evaluate import SeenShapes, random_values, run, walk, walk_wide
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.states import bisected
from rewrite_engine.judge.compare import Agreement, Comparison, compare_values
from rewrite_engine.printing.formula import Roots

SECONDS = 5.0  # that are spent on calls after the first
MOST = 6  # rules that are named as suspects


@dataclass(frozen=True, slots=True)
class FunctionComparison:
    """The comparison of a function's outputs.

    basis: the inputs it was made on, in words. outputs: (name, comparison). problem: why there is
    none. blame: the wrong part, if values disagree. strange: the first source of nan or inf.
    worst: the call with these results. claims: whether all claims and declarations are true.
    shapes_before, shapes_after: of the variables of both graphs.
    """

    basis: str = ""
    outputs: tuple[tuple[str, Comparison], ...] = ()
    problem: str | None = None
    blame: str | None = None
    strange: str | None = None
    worst: str = ""
    claims: Claims = field(default_factory=Claims)
    shapes_before: SeenShapes = field(default_factory=SeenShapes)
    shapes_after: SeenShapes = field(default_factory=SeenShapes)

    @property
    def verdict(self) -> Agreement:
        """The most remarkable verdict of all outputs."""
        default = Agreement.UNKNOWN if self.problem else Agreement.IDENTICAL
        return max([c.verdict for _, c in self.outputs], default=default)

    @property
    def ok(self) -> bool:
        """Whether no values disagree, and all claims and declarations are true."""
        return self.verdict is not Agreement.DISAGREE and not self.claims.untrue

    @property
    def ulps(self) -> float | None:
        """Largest distance of all outputs, in ulps."""
        return max([c.ulps for _, c in self.outputs if c.ulps is not None], default=None)


def check_values(record: FunctionRecord) -> FunctionComparison:
    """Run the graphs of a recorded function, as built and as rewritten, on the inputs of its calls
    or on random ones; compare the values, and check claims, facts and declarations on them.
    """
    with redirect_stdout(StringIO()):  # (what ops of the user print was printed by the calls)
        return _check_values(record)


def _check_values(record: FunctionRecord) -> FunctionComparison:
    given, check = _inputs(record)
    if not given:
        return check
    start, seconds = process_time(), min(SECONDS, record.spare_seconds)
    found = [_checked_on(record, check, *given[0])]
    for basis, values in given[1:]:
        took = process_time() - start
        if took + took / len(found) > seconds:
            break
        found.append(_checked_on(record, check, basis, values))
    result = _worst(found)
    n = sum(one.problem is None for one in found)
    if n and len(found) > 1:
        result = replace(result, basis=_calls_text(n, record.called.count))
    return replace(result, claims=check_claims(record, given[: len(found)]))


def _calls_text(n: int, count: int) -> str:
    return f"the inputs of {n} of {count} calls" if n < count else f"the inputs of {n} calls"


def _checked_on(
    record: FunctionRecord, check: FunctionComparison, basis: str, values: list[Any]
) -> FunctionComparison:
    """The comparison on one call."""
    check = replace(check, worst=basis)
    try:
        expected, shapes, strange = walk(record.before, values)
        first = "; ".join(strange[:3]) or None
        check = replace(check, shapes_before=shapes, strange=first)
    except AssumptionError as error:
        said = " ".join(str(error).splitlines()[0].split())
        why = "what was declared is not true"
        if not record.called.kept:
            why = "random inputs are not as it was declared"
        return replace(_sized(record, check, values), problem=f"{why}: {said}")
    except Exception as error:
        expected = None
        check = replace(check, problem=f"the graph as it was built raises {_name(error)}")
    try:
        found = run(record.after, values, record.inputs, record.mode)
    except BadValueError as error:  # the mode refuses values that both graphs may have
        return check if check.problem else replace(check, problem=f"the mode raises {_name(error)}")
    except Exception as error:
        broken = Comparison(Agreement.DISAGREE, f"the rewritten graph raises {_name(error)}")
        return check if check.problem else replace(check, outputs=(("all outputs", broken),))
    try:
        walked, shapes, _ = walk(record.after, values)
        check = replace(check, shapes_after=shapes)
    except Exception:
        walked = None
    if expected is None:
        return check
    return _compare_outputs(
        record, check, expected, found, walked, walk_wide(record.before, values), values
    )


def _sized(
    record: FunctionRecord, check: FunctionComparison, values: list[Any]
) -> FunctionComparison:
    """A comparison with the shapes of a call, if nothing else is to be had of it."""
    with suppress(Exception):
        check = replace(check, shapes_before=walk(record.before, values, checks=False)[1])
        check = replace(check, shapes_after=walk(record.after, values, checks=False)[1])
    return check


def _worst(found: Sequence[FunctionComparison]) -> FunctionComparison:
    """One comparison of several: of each output the worst, what else there is to say as of the
    worst of all; shapes as of the first call.
    """
    compared = [one for one in found if one.outputs and not one.problem]
    if len(found) < 2 or not compared:
        return found[0]
    worst = max(compared, key=lambda one: one.verdict)
    outputs: dict[str, Comparison] = {}
    for one in compared:
        for name, new in one.outputs:
            if one is not found[0] and new.verdict > Agreement.AGREE:
                new = replace(new, text=f"{new.text} ({one.worst})")
            old = outputs.get(name)
            if old is None or (new.verdict, new.ulps or 0) > (old.verdict, old.ulps or 0):
                outputs[name] = new
    first = found[0]
    return replace(
        worst,
        outputs=tuple(outputs.items()),
        shapes_before=first.shapes_before,
        shapes_after=first.shapes_after,
    )


def values_on(record: FunctionRecord, basis: str) -> list[Any]:
    """Return the values for the inputs that a comparison calls by this name."""
    given, _ = _inputs(record)
    return dict(given)[basis]


def _inputs(record: FunctionRecord) -> tuple[list[tuple[str, list[Any]]], FunctionComparison]:
    """The values to compare on, and what there is to say of them."""
    if record.called.kept:
        given = [(f"call {call.number}", call.values) for call in record.called.kept]
        return given, FunctionComparison("the inputs of the first call")
    why = record.called.problem
    check = FunctionComparison(f"random inputs ({why})")
    try:
        return [(RANDOM, random_values(record.before, record.inputs))], check
    except Exception as error:
        return [], replace(check, problem=f"{why}, and there are no random inputs: {error}")


def _compare_outputs(
    record: FunctionRecord,
    check: FunctionComparison,
    expected: Any,
    found: Any,
    walked: Any,
    exact: Any,
    values: Sequence[Any],
) -> FunctionComparison:
    """With what there is to say of each output. walked: their values as the rewritten graph has
    them op by op; exact: in wider floats.
    """
    types = [v.type for v in record.before.outputs]
    exact = [None] * len(types) if exact is None else exact

    def compared(results: Any) -> list[Comparison]:
        return [*map(compare_values, types, expected, results, exact)]

    outputs = tuple(zip(output_names(record), compared(found), strict=True))
    check = replace(check, outputs=outputs)
    if check.verdict is not Agreement.DISAGREE or walked is None:
        return check
    again = max([one.verdict for one in compared(walked)])
    blame = "run op by op, the rewritten graph agrees, so the linker is to blame and no rule"
    if again is Agreement.DISAGREE:
        blame = "the rewritten graph disagrees also when it is run op by op, so a rule is to blame"
        step = bisected(record, values, expected).step
        blame += _suspects(record) if step is None else _suspect(step)
    return replace(check, blame=blame)


def _suspect(step: RecordedFiring) -> str:
    """The firing that is to blame."""
    where = step.rule_where
    file = f" ({where[0]}:{where[1]})" if where else ""
    return f": firing #{step.number}, {step.rule_name}{file}: {step.change.term}"


def _suspects(record: FunctionRecord) -> str:
    """Which rule it is, if only one fired, else how to find out."""
    rules = {step.rule_name: step.rule for step in record.steps}
    if len(rules) == 1:
        [(name, rule)] = rules.items()
        where = getattr(rule, "where", None)
        return f": {name}, the only one that fired" + (f" ({where[0]}:{where[1]})" if where else "")
    return (
        f": one of the {len(rules)} that fired ({', '.join([*rules][:MOST])}"
        f"{', …' if len(rules) > MOST else ''}); run again with --exclude and one of these "
        "(Mode().excluding), until nothing disagrees"
    )


def output_names(record: FunctionRecord) -> list[str]:
    """Return what to call each output: its name or number, or `new w` for an update."""
    updates = record.before.updates
    roots = [*map(Roots(), record.before.inputs)]
    names = []
    for i, v in enumerate(record.before.outputs):
        if i in updates:
            names.append(f"new {roots[updates[i]]}")
        elif i < len(record.keys):
            names.append(str(record.keys[i]))
        else:
            plain = "result" if record.n_results == 1 else f"output {i}"
            names.append(v.name if v.name is not None and v.owner is not None else plain)
    return names


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
