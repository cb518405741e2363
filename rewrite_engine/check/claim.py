"""Checks of claims by values: both sides of a rule are computed on terms where it fires.

Terms of data rules are built from their left sides (`sample.py`); of functions, relations and
strategies they are those of their examples, and small ones of the ops they look at (`node.py`).
Values are those of `draw.py`; `rewrite_engine/judge/verdict.py` judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.check.declared import declarations, having, with_facts
from rewrite_engine.check.distribution import has_state, judge_draws
from rewrite_engine.check.draw import LENGTH, Draw, draws, matrix_draws
from rewrite_engine.check.finding import Finding, Kind
from rewrite_engine.check.lengths import Lengths, fitting_lengths, small_lengths, unknown_lengths
from rewrite_engine.check.remedy import remedy_of_claim, wrong
from rewrite_engine.check.sample import (
    ALL_DTYPES,
    IN_TURN,
    KNOWN,
    MIXTURES,
    SHAPES,
    Builder,
    Plain,
    SamplePlan,
    Widening,
    built,
    interleaved,
)
from rewrite_engine.check.sample import has_constants as takes_constants
from rewrite_engine.errors import (
    RewriteEngineError,
    RuleRaisedError,
    RuleTypeError,
    ShapeError,
)
from rewrite_engine.gradient import grad
from rewrite_engine.gradient.stops import GradientView
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.replace import substituted
from rewrite_engine.graph.traverse import ancestors, explicit_graph_inputs, toposort
from rewrite_engine.judge.difference import BothSides, both_sides
from rewrite_engine.judge.values import compute_all
from rewrite_engine.judge.verdict import Broken, Verdict, case_text, judge_terms
from rewrite_engine.link.debug.record import RewriteStep
from rewrite_engine.match.outline import outline
from rewrite_engine.match.rule import DataRule, Rule
from rewrite_engine.random.type import RandomGeneratorType
from rewrite_engine.rewrite.trace import brief
from rewrite_engine.tensor.type import TensorType

Term = tuple[Any, list[Any], list[Any]]  # a term, its inputs, what stands for operands
FEW = [SHAPES[i] for i in (1, 2, 7)]
CONSTANTS = (["float64"], ["int64"], ["int8"])  # dtypes of which constants are all numbers
NARROW = (["int8", "uint8"], ["float32"], ["int16", "bool"])  # beside constants that are wider
MOST = 90  # terms of one rule that are computed
MOST_WITH_CONSTANTS = 200
COMPUTATIONS = 250  # of one rule
MAX_CASE_TEXT = 2500  # characters
SHRUNK = 4  # cases of which a smaller one is looked for
SLOPES = 3  # terms of which gradients are compared
DRAWN = 3  # terms of which random draws are compared
FITTED = 3  # terms of which lengths are searched
FIRED = 3  # times as many terms are looked at as are computed


def sides(rule: Any, term: Any, fgraph: Any = None) -> Any:
    """Return the result of a rule at a term, or None if it does not apply. Raises `RuleRaisedError`
    for an error of the rule's own, such as one in a guard.
    """
    node = term.owner
    try:
        seen = [outline(v, 2) for v in node.inputs]
        if not rule.may_apply(node.op, seen, distinct=len(seen) == 2 and seen[0] != seen[1]):
            return None
        new = rule.transform(fgraph, node)
    except RewriteEngineError:
        raise
    except Exception as error:
        raise raised(rule, term, error) from error
    if isinstance(new, list | tuple):
        new = new[0] if len(new) == 1 else new[term.index or 0]
    if isinstance(new, dict):
        new = new.get(term)
    return new if isinstance(new, Variable) and rule.accept(term, new) else None


def is_ordinary(v: Any) -> bool:
    """Whether a constant is a number of ordinary size."""
    data = np.asarray(getattr(v, "data", 1))
    if data.dtype.kind not in "biufc":
        return True
    size = np.abs(data.astype("complex128"))
    return bool(((size < 100) & ((size > 0.01) | (size == 0))).all())


def tried(rule: DataRule, brief: bool = False) -> Iterator[tuple[Builder, Any]]:
    """Yield terms of the left side of a data rule, of all dtypes in turn. brief: only a few."""
    each = [[dtype] for dtype in ALL_DTYPES]
    ways = range(7 if rule.guards else 2)
    if brief:
        some = each[:1] + each[3:4] + each[7:10]
        yield from built(rule, some, [*SHAPES[:3], *KNOWN], ways, Plain)
        return
    plans = [SamplePlan(each, FEW, ways), SamplePlan(MIXTURES, FEW[:2], range(2, 8))]
    plans += [SamplePlan(each[:2], [shape], ways) for shape in (*SHAPES, *KNOWN)]
    if takes_constants(rule):
        turn = range(IN_TURN, IN_TURN + 40)
        plans.append(SamplePlan([*each[1:], *MIXTURES], [SHAPES[1]], turn))
        plans += [SamplePlan(CONSTANTS, [SHAPES[1]], [choice]) for choice in turn]
        plans += [SamplePlan(NARROW, [SHAPES[1]], [choice], Widening) for choice in turn[::2]]
    yield from interleaved(rule, plans)


def terms_of(rule: DataRule) -> Iterator[Term]:
    """Yield terms of the left side of a data rule, each with its inputs and stand-ins."""
    for builder, term in tried(rule):
        yield term, list(dict.fromkeys(explicit_graph_inputs([term]))), builder.stand_ins


class Fired(NamedTuple):
    """A term at which a rule fires, with both sides, and the inputs to compute them from."""

    sides: BothSides
    inputs: list[Any]
    stand_ins: list[Any]


def fired(rule: Any, terms: Iterable[Term]) -> Iterator[Fired | RuleRaisedError]:
    """Yield the terms at which a rule fires, and errors that it raises."""
    for term, inputs, stand_ins in terms:
        if rule.needs_grant == "fastmath" and not all(map(is_ordinary, ancestors([term]))):
            continue
        graph = None if isinstance(rule, DataRule) else FunctionGraph(None, [term], clone=False)
        try:
            new = sides(rule, term, graph)
            if new is not None:
                refuse_overwriting(inputs, new)
        except ShapeError:  # the engine leaves such a term alone
            continue
        except Exception as error:
            yield error if isinstance(error, RuleRaisedError) else raised(rule, term, error)
            continue
        if new is not None:
            yield from densely(Fired(both_sides(rule, term, new), inputs, stand_ins))


def refuse_overwriting(inputs: Sequence[Any], new: Any) -> None:
    """Raise the error of a graph whose ops overwrite what others need, or inputs."""
    if any(node.op.destroy_map for node in toposort([new])):
        FunctionGraph(list(inputs), [new]).validate()


def raised(rule: Any, term: Any, error: Exception) -> RuleRaisedError:
    """Return the error of a rule at a term as one with the rule's name."""
    found = rule.error(RuleRaisedError, f"{brief(term, 9)}: {type(error).__name__}: {error}")
    found.__cause__ = error
    return found  # type: ignore[no-any-return]


def stepped(rule: Any, steps: Iterable[RewriteStep]) -> Iterator[Fired]:
    """Yield the firings of a rule among the steps of a whole rewriting."""
    for one, before, after in dict.fromkeys([(s.rule, s.before, s.after) for s in steps]):
        asked = (
            one if isinstance(one, Rule) and one.name == rule.name else rule
        )  # as it was granted
        ordinary = asked.needs_grant != "fastmath" or all(map(is_ordinary, ancestors([before])))
        if ordinary and before.owner is not None:
            inputs = list(dict.fromkeys(explicit_graph_inputs([before, after])))
            yield from densely(Fired(both_sides(asked, before, after), inputs, []))


def densely(one: Fired) -> Iterator[Fired]:
    """Yield a firing on arrays: sparse matrices are made of dense inputs, and the results made
    dense. Yields nothing for values of other kinds.
    """
    term, new = one.sides.term, one.sides.new
    sparse = [
        v for v in [*one.inputs, term] if not isinstance(v.type, TensorType | RandomGeneratorType)
    ]
    if not sparse:
        yield one
        return
    if not all([hasattr(v.type, "format") for v in sparse]):
        return
    from rewrite_engine.sparse import DenseFromSparse, SparseFromDense

    own = {v: TensorType(v.type.dtype, v.type.shape)(v.name) for v in one.inputs if v in sparse}
    made = {v: SparseFromDense(v.type.format)(d) for v, d in own.items()}
    term, new = substituted([term, new], made)
    if one.sides.term in sparse:
        term, new = DenseFromSparse()(term), DenseFromSparse()(new)
    inputs = [own.get(v, v) for v in one.inputs]
    yield Fired(one.sides._replace(term=term, new=new), inputs, one.stand_ins)


def values_for(one: Fired, number: int, count: int) -> Iterator[dict[Any, Any]]:
    """Yield some values for the inputs of a term; the next term gets others."""
    both = [one.sides.term, one.sides.new]
    groups = [draws(one.inputs, number, tame=one.sides.granted == "fastmath")]
    if one.sides.promise.kind == "backward":
        groups.append(matrix_draws(one.inputs, number))
    for group in groups:
        known = list(with_facts(group, both))
        for i in in_turn(number, count, len(known)):
            given = small_lengths(known[i], both)
            yield given | taken(one.stand_ins, given)


def in_turn(number: int, count: int, size: int) -> list[int]:
    """Return the first of some indices, and others, which are different ones for the next term."""
    return sorted({0, *[(count * number + i) % size for i in range(count - 1)]}) if size else []


def taken(stand_ins: Any, given: Any) -> dict[Any, Any]:
    """Return the values of stand-ins for operands, which both sides take as given."""
    values = {v: compute_all(v, given) for v in stand_ins}
    return {v: found[v] for v, found in values.items() if not isinstance(found, Exception)}


def chosen(cases: Iterable[Fired | RuleRaisedError], most: int) -> tuple[list[Fired], list[Any]]:
    """Return the terms to compute, of each mixture of dtypes and ranks in turn, and the errors."""
    groups: dict[Any, list[Fired]] = {}
    errors = []
    for one in islice(cases, FIRED * most):
        if isinstance(one, RuleRaisedError):
            errors.append(one)
        else:
            groups.setdefault(sort_of(one), []).append(one)
    rows = zip_longest(*groups.values())
    return list(islice([one for row in rows for one in row if one is not None], most)), errors


def sort_of(one: Fired) -> Any:
    """Return the group of a firing: the types of its inputs, and its constant numbers."""
    constants = [v for v in ancestors([one.sides.term]) if isinstance(v, Constant)]
    numbers = [(v.type, str(v.number)) for v in constants if v.type.ndim == 0]
    return (*[v.type for v in one.inputs], *numbers)


class Case(NamedTuple):
    """A case that breaks a claim."""

    sides: BothSides
    verdict: Verdict

    @property
    def text(self) -> str:
        return case_text(self.sides, self.verdict)[:MAX_CASE_TEXT]

    @property
    def length(self) -> int:
        """How much there is to read."""
        return len(self.verdict.why) + len(self.text)


class RuleOutcome:
    """Outcome of checking the claim of one rule. worst: the case that breaks the claim with the
    shortest text. ran: whether the left side had a value anywhere.
    """

    def __init__(self) -> None:
        self.worst: Case | None = None
        self.ran = False
        self.shrunk = self.draws = 0

    def compare(self, one: Fired, each: Iterable[dict[Any, Any]]) -> None:
        """Compare both sides of a term on values. A term whose left side never has a value, since a
        parameter of an op does not fit, says nothing.
        """
        found = [(given, judge_terms(one.sides, given)) for given in each]
        if not any([verdict.ran for _, verdict in found]):
            return
        self.ran = True
        for given, verdict in found:
            if verdict.broken:
                self.add(one.sides, given, verdict)

    def compare_draws(self, one: Fired) -> None:
        """Compare random draws; a state is compared with nothing."""
        if self.draws < DRAWN and isinstance(one.sides.term.type, TensorType):
            self.draws += 1
            verdict = judge_draws(one.sides, one.inputs)
            self.ran |= verdict.ran
            self.worst = Case(one.sides, verdict) if verdict.broken else self.worst

    def add(self, two: BothSides, given: dict[Any, Any], verdict: Verdict) -> None:
        """Keep a case that breaks the claim, if it is the shortest."""
        case = Case(two, smallest(two, given, verdict) if self.shrunk < SHRUNK else verdict)
        self.shrunk += 1
        if self.worst is None or case.length < self.worst.length:
            self.worst = case


def check_claims(
    rule: Any, cases: Iterable[Fired | RuleRaisedError], most: int | None = None
) -> Iterator[Finding]:
    """Yield how a rule breaks its claim, in the smallest case that was tried."""
    constants = isinstance(rule, DataRule) and takes_constants(rule)
    known, errors = chosen(cases, most or (MOST_WITH_CONSTANTS if constants else MOST))
    for error in errors[:1]:
        retyped = isinstance(error.__cause__, RuleTypeError)
        name, why = ("type", "it changes the type") if retyped else ("raises", "it raises an error")
        yield wrong("claims", name, rule.name, rule.where, why, str(error))
    if not known:
        why = "no term was found at which it fires, so that no values were tried"
        fix = "an example in its docstring is such a term"
        if not errors:
            yield Finding(Kind.UNPROVED, "claims", "no term", rule.name, rule.where, why, fix=fix)
        return
    outcome = compared(known)
    if outcome.worst is not None:
        yield _broken(rule, outcome.worst)
    elif not outcome.ran:
        why = "none of the terms at which it fires could be computed, so that no values were tried"
        yield Finding(Kind.UNPROVED, "claims", "no value", rule.name, rule.where, why)
    else:
        yield from check_gradients(rule, known)


def compared(known: Sequence[Fired]) -> RuleOutcome:
    """Compare both sides of terms until one breaks the claim."""
    outcome, ranks = RuleOutcome(), set[Any]()
    count = max(3, COMPUTATIONS // len(known))
    with np.errstate(all="ignore"):
        for number, one in enumerate(known):
            if has_state(one.inputs):
                outcome.compare_draws(one)
                continue
            outcome.compare(one, values_for(one, number, count))
            key = tuple([v.type.shape for v in one.inputs])
            if key not in ranks and len(ranks) < FITTED and len(unknown_lengths(one.inputs)) > 1:
                ranks.add(key)
                outcome.compare(one, lengths_for(one, number))
            if outcome.worst is not None and number % 8 == 7:
                break
    return outcome


def lengths_for(one: Fired, seed: int) -> Iterator[dict[Any, Any]]:
    """Yield ordinary numbers of all lengths that a term allows."""
    draw = Draw(one.inputs, seed, one.sides.granted == "fastmath")
    declared = declarations([one.sides.term, one.sides.new])

    def filled(lengths: Lengths) -> dict[Any, Any] | None:
        given = having(draw.of_lengths(lengths), declared)
        return None if given is None else given | taken(one.stand_ins, given)

    def runs(lengths: Lengths) -> bool:
        given = filled(lengths)
        if given is None:
            return False
        found = compute_all(one.sides.term, given)
        return not isinstance(found, Exception) or isinstance(found, np.linalg.LinAlgError)

    each = map(filled, fitting_lengths(one.inputs, runs))
    yield from [given for given in each if given is not None]


#: how a claim is broken, and the name of the finding (otherwise "claim")
NAMES = {
    Broken.SHAPE: "shape",
    Broken.ERROR_LOST: "error",
    Broken.ERROR_NEW: "error",
    Broken.DRAWS: "distribution",
}


def _broken(rule: Any, case: Case) -> Finding:
    verdict = case.verdict
    name = NAMES.get(verdict.broken, "claim") if verdict.broken else "claim"
    fix = remedy_of_claim(case.sides, verdict, rule.claim)
    return wrong("claims", name, rule.name, rule.where, verdict.why, case.text, fix)


def check_gradients(rule: Any, known: Iterable[Fired]) -> Iterator[Finding]:
    """Yield a term whose two sides have different gradients at ordinary numbers."""
    for number, one in enumerate([k for k in known if _is_smooth(k)][:SLOPES]):
        given = _ordinary(one.inputs, number)
        try:
            sums = [pt.sum(v) for v in (one.sides.term, one.sides.new)]
            slopes = [grad(s, one.inputs, disconnected_inputs="ignore") for s in sums]
            values = [[compute_all(g, given)[g] for g in side] for side in slopes]
        except Exception:  # one of the two has none, or these numbers are refused
            continue
        for v, a, b in zip(one.inputs, *values, strict=True):
            if not np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True) and np.isfinite(a).all():
                why = f"the gradients of the two sides differ for {v}"
                lines = case_text(one.sides, Verdict(left=a, right=b, given=given))
                yield wrong("claims", "gradient", rule.name, rule.where, why, lines)
                return


def _is_smooth(one: Fired) -> bool:
    """Whether the gradient of a term is looked at: of double floats, none of which stands for
    another term, with ordinary constants, and without what says another gradient.
    """
    floats = [*one.inputs, one.sides.term]
    plain = not one.stand_ins and all(getattr(v.type, "dtype", "") == "float64" for v in floats)
    if not plain or not one.inputs or one.sides.granted is not None:
        return False
    below = list(ancestors([one.sides.term]))
    marked = any(v.owner is not None and isinstance(v.owner.op, GradientView) for v in below)
    return not marked and all(map(is_ordinary, below))


def _ordinary(inputs: Iterable[Any], seed: int) -> dict[Any, Any]:
    """Positive numbers, no two of which are equal."""
    rng = np.random.default_rng(seed)
    shapes = [tuple([LENGTH if n is None else n for n in v.type.shape]) for v in inputs]
    return {v: rng.uniform(0.2, 2.5, s) for v, s in zip(inputs, shapes, strict=True)}


def smallest(two: BothSides, given: dict[Any, Any], verdict: Verdict) -> Verdict:
    """Return the verdict on a broken case: on arrays of one element, if the claim is broken there,
    too.
    """
    long = {v: np.asarray(a) for v, a in given.items()}
    length = max([a.size for a in long.values()], default=0)
    if any(a.ndim != 1 or a.size != length for a in long.values() if a.ndim):
        return verdict
    if any(v.type.shape not in ((None,), ()) for v in long):
        return verdict
    for i in range(min(length, 100)):
        one = {v: a[i : i + 1] if a.ndim else a for v, a in long.items()}
        found = judge_terms(two, one)
        if found.broken:
            return found
    return verdict
