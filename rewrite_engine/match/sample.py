"""Checks of a rule before it meets a graph: its sides are built on samples of values for its
variables.

`own_form`: a left side must match what its own ops build from samples. If ops build something else
(`Sum(axis=-1)` of a matrix is `Sum(axis=1)`) the left side becomes that; if that depends on the
value of a variable, or there is no such pattern, the rule could never fire and is rejected. Guards
are not evaluated. `check_sides`: the sides must have the same rank, if sorts fix it.

Other mistakes show when the rule is used: `DataRule.accept`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Any

from rewrite_engine.errors import (
    AxisError,
    DTypeError,
    NDimError,
    PatternError,
    SeveralOutputsError,
)
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.graph.number import counts_as
from rewrite_engine.graph.op import known_outputs
from rewrite_engine.match.ac import is_ac, is_associative
from rewrite_engine.match.build import Bindings, build
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import Lowered, extended
from rewrite_engine.match.missing import each_way, with_missing
from rewrite_engine.match.pattern import ALL, Hole, Literal, OpClass, OpNode, holes, subpatterns
from rewrite_engine.match.text import pattern_text
from rewrite_engine.terms.print import brief

#: errors about ranks, which do not depend on dtypes
RANK_ERRORS = (NDimError, AxisError)

#: values that are tried for a parameter of an op that may be any
PARAMETERS = (None, (0,), 0, 1, False, True, "float64")

MAX_SAMPLE_WAYS = 300  # ways to let variables stand for samples of several kinds

Worlds = Sequence[Sequence[Any]] | None

UNKNOWN_OUTPUTS = (
    "the number of outputs of {0} is unknown: give it `nout`, `otypes` or `output_names`"
)


def settled(rule: Lowered, worlds: Worlds, extends: bool, backward: bool = False) -> Lowered:
    """Return a rule in its final form, checked. worlds: see `own_form`; None: it is known to be
    correct. extends: see `lower.extended`. backward: see `with_missing`. Raises `PatternError`.
    """
    if worlds is not None:
        rule = in_own_form(rule, worlds, both=not extends)
        check_sides(rule)
    rule = with_missing(rule, backward)
    return each_way(rule, extended) if extends else rule


# --- ranks ----------------------------------------------------------------------------------------


def samples_of(pattern: Any) -> list[Bindings]:
    """Return bindings of holes to samples, one for each kind of dtype; none if a sort has no
    samples.
    """
    result, samples = holes(pattern), []
    for hole in result.values():
        if hole.sort.samples is None:
            return []
        samples.append(hole.sort.samples())
    rows = range(max(map(len, samples), default=1))
    return [dict(zip(result, [some[i % len(some)] for some in samples])) for i in rows]


def types(pattern: Any) -> Iterator[Any]:
    """Yield the types that a pattern has on its sorts' samples."""
    if isinstance(pattern, Hole):
        known = pattern.sort.samples
        yield from [v.type for v in known()] if known is not None else ()
        return
    for bound in samples_of(pattern):
        try:
            yield build(pattern, bound).type
        except SeveralOutputsError:
            raise
        except Exception:  # not of these dtypes
            continue


def check_sides(rule: Lowered) -> None:
    """Reject a rule that does nothing, or whose right side never has the rank of the left one."""
    if all(part.left == part.right for part in rule.parts):
        raise PatternError("both sides are the same: this does nothing")
    for part in rule.parts:
        check_ranks(part)


def check_ranks(rule: Lowered) -> None:
    """Check the ranks for one output. (Some right sides depend on more than the variables.)"""
    misfit: Exception | None = None
    ranks = []
    sure = isinstance(rule.right, OpNode | Hole) and not is_ac(rule.left)
    for bound in samples_of(rule.left):
        try:
            sides = [build(p, bound) for p in (rule.left, rule.right if sure else rule.left)]
            left, right = [getattr(getattr(v, "type", None), "ndim", None) for v in sides]
        except RANK_ERRORS as error:
            misfit = misfit or error
        except Exception:  # of these dtypes there is no such term
            continue
        else:
            if left == right or None in (left, right):
                return
            ranks.append((left, right))
    for left, right in ranks:
        what = f"the left side has rank {left} and the right side {right}: this can never fit"
        raise PatternError(what)
    if misfit is not None:
        raise PatternError(f"no such term can be built from these sorts: {misfit}") from misfit


# --- terms of a pattern --------------------------------------------------------------------------


def in_own_form(rule: Lowered, worlds: Sequence[Sequence[Any]], both: bool = False) -> Lowered:
    """Return a rule with its left side in its own form. both: the right side, too, if it has
    one.
    """
    index, right = rule.left.index, rule.right
    left = own_form(rule.left.output(0) if index == ALL else rule.left, worlds, rule.exact)
    if index == ALL:
        left = left.output(ALL)
    if both and isinstance(right, OpNode):
        with suppress(PatternError):
            right = own_form(right, worlds)
    return rule._replace(left=left, right=right)


def own_form(pattern: Any, worlds: Sequence[Sequence[Any]], exact: bool = False) -> Any:
    """Return a left side as its ops build it. worlds: lists of graph variables that may stand for
    variables of a rule, each time for others. Raises `PatternError` if it matches no term that it
    builds, or no dtypes fit. (If nothing can be built, nothing is known.)
    """
    built: list[tuple[Bindings, Any]] = []
    errors: list[Exception] = []
    if any(is_associative(p) and len(p.args) == 1 for p, _ in subpatterns(pattern)):
        return pattern  # its one operand takes any number of them
    parts_exist = not any(unbuilt(p, worlds) for p in _find_parts(pattern))
    for bound in _sample_ways(pattern, worlds) if parts_exist else ():
        try:
            term = build(pattern, bound)
        except PatternError:
            raise
        except Exception as error:  # of these there is no such term
            errors.append(error)
            continue
        if not isinstance(term, Variable):
            continue
        if _matches(pattern, term, exact):
            return pattern
        built.append((bound, term))
    if not built:
        check_declared(pattern)
        if errors and all([isinstance(e, DTypeError) for e in errors]) and not parameters(pattern):
            why = str(errors[0]).partition("\n")[0]
            raise PatternError(f"{pattern_text(pattern)} can never match: {why}")
        return pattern
    forms = {}
    for bound, term in built:
        try:
            form = read(pattern, term, bound)
        except PatternError:
            continue
        if holes(form).keys() == holes(pattern).keys() and _matches(form, term, exact):
            forms[pattern_text(form)] = form
    size = sum(1 for _ in subpatterns(pattern))  # what only converts some dtypes comes last
    alike = [form for form in forms.values() if sum(1 for _ in subpatterns(form)) == size]
    for result in (alike, list(forms.values())):
        if len(result) == 1:
            return result[0]
    raise PatternError(_describe_fault(pattern, built, list(forms)))


def _find_parts(pattern: Any) -> Iterator[Any]:
    """Yield the parts of a pattern that have parameters, of which not all values are tried; the
    small ones first.
    """
    for p, _ in reversed([*subpatterns(pattern)]):
        if p is not pattern and isinstance(p, OpNode) and parameters(p):
            yield p


def check_declared(pattern: Any) -> None:
    """Reject ops whose number of outputs is unknown: they might never match."""
    for p, _ in subpatterns(pattern):
        if isinstance(p, OpNode) and p.index is None and known_outputs(p.operator) is None:
            raise SeveralOutputsError(UNKNOWN_OUTPUTS.format(_op_text(p)))


def unbuilt(pattern: Any, worlds: Sequence[Sequence[Any]]) -> str:
    """Return why no term of a pattern could be built from samples, in the words of an op; "" if one
    can. Raises `PatternError` for a pattern that may not be built.
    """
    text = ""
    for bound in _sample_ways(pattern, worlds):
        try:
            build(pattern, bound)
        except PatternError:
            raise
        except Exception as error:
            text = text or f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        else:
            return ""
    return text


def _matches(pattern: Any, term: Any, exact: bool) -> bool:
    node = term.owner
    if node is None or not isinstance(pattern, OpNode):
        return False
    return next(match_root(pattern, node, exact), None) is not None


def _describe_fault(
    pattern: Any, built: Sequence[tuple[Bindings, Any]], forms: Sequence[str]
) -> str:
    """Describe the fault of a left side that does not match what it builds."""
    results: dict[str, dict[str, None]] = {}
    for _, term in built:
        for has, builds in _find_difference(pattern, term):
            results.setdefault(has, {})[builds] = None
    reasons = [f"has {has}, but a term has {' or '.join(results[has])}" for has in results]
    reasons = reasons or [f"builds {brief(built[0][1])}"]
    text = f"{pattern_text(pattern)} can never match: the pattern {', or '.join(reasons)}"
    if len(forms) > 1:
        some = " or ".join(forms[:3])
        return f"{text}. Write the form of a term ({some}), or sorts that fix the rank (Matrix)"
    return f"{text}. Write the ops that a term has"


def _find_difference(pattern: Any, term: Any) -> list[tuple[str, str]]:
    """Return the first place where a pattern and the term that it builds have different ops."""
    stack = [(pattern, term)]
    while stack:
        p, v = stack.pop()
        if not isinstance(p, OpNode):
            continue
        if v.owner is None:
            return [(_op_text(p), brief(v))]
        if not p.fits(v.owner.op):
            return [(_op_text(p), str(v.owner.op))]
        if len(p.args) == len(v.owner.inputs):
            stack.extend(reversed(list(zip(p.args, v.owner.inputs, strict=True))))
    return []


def _op_text(p: OpNode) -> str:
    return str(getattr(p.operator, "__name__", p.operator))


# --- reading back ---------------------------------------------------------------------------------


def read(pattern: Any, term: Any, bound: Mapping[str, Any]) -> Any:
    """Return the pattern of a term that was built. Raises `PatternError` for a term without a
    pattern.
    """
    leaves = {}
    for name, hole in holes(pattern).items():
        value = bound.get(name)
        for v in value if isinstance(value, tuple) else [value]:
            if isinstance(v, Variable):
                leaves[v] = hole
    numbers = [p for p, _ in subpatterns(pattern) if isinstance(p, Literal)]

    def of(p: Any, v: Any) -> Any:
        if v in leaves:
            return leaves[v]
        if v.head is CONSTANT:
            return _read_number(v, numbers)
        if v.owner is None:
            raise PatternError(f"{brief(v)} cannot be written as a pattern")
        op, inputs, index = v.owner.op, v.owner.inputs, None if v.head is v.owner.op else v.index
        if not isinstance(p, OpNode) or len(p.args) != len(inputs):
            args = [of(None, u) for u in inputs]
            again = [i for i in range(1, len(args)) if args[i] == args[i - 1]]
            once = [
                a for i, a in enumerate(args) if i not in again or not getattr(a, "rest", False)
            ]
            return OpNode(op, tuple(once), index)
        args = [of(a, u) for a, u in zip(p.args, inputs, strict=True)]
        return OpNode(p.op if p.fits(op) else op, tuple(args), index)

    return of(pattern, term)


def _read_number(constant: Any, numbers: Sequence[Literal]) -> Literal:
    for literal in numbers:
        if counts_as(constant, literal.value):
            return literal
    if constant.number is None:
        raise PatternError(f"{brief(constant)} is not a number")
    return Literal(constant.number)


# --- what variables may stand for ----------------------------------------------------------------


def _sample_ways(pattern: Any, worlds: Sequence[Sequence[Any]]) -> Iterator[Bindings]:
    """Yield ways to let the holes of a pattern stand for samples: all of one kind, then mixed."""
    result, free = holes(pattern), parameters(pattern)
    operands = [hole for name, hole in result.items() if name not in free]
    values = list(islice(product(*free.values()), 50))
    rests = any(hole.rest for hole in operands)
    wanted = _sample_declared(pattern)
    for way in _combine_kinds(operands, worlds, wanted):
        if None in way:
            return
        for several in (False, True) if rests else (False,):
            bound = {}
            for hole, v in zip(operands, way, strict=True):
                own = v if v.head is CONSTANT else v.type(hole.name)
                bound[hole.name] = (own, v.type())[: 1 + several] if hole.rest else own
            for value in values:
                yield bound | dict(zip(free, value, strict=True))


def _sample_declared(pattern: Any) -> dict[str, list[Any]]:
    """Return samples of the types that ops declare (`itypes`) at holes."""
    results: dict[str, list[Any]] = {}
    for p, _ in subpatterns(pattern):
        itypes = p.operator.itypes if isinstance(p, OpNode) else None
        for arg, type_ in zip(p.args, itypes, strict=False) if itypes else ():
            if isinstance(arg, Hole):
                results.setdefault(arg.name, []).append(type_())
    return results


def _combine_kinds(
    holes: Sequence[Hole], worlds: Sequence[Sequence[Any]], wanted: Mapping[str, list[Any]]
) -> Iterator[tuple[Any, ...]]:
    """Yield samples for holes: all of one kind, then mixed. None: there is no sample for a hole."""
    uniform = []
    for i, world in enumerate(worlds if holes else [()]):
        first = [wanted.get(hole.name, []) for hole in holes]
        uniform.append(tuple([choose_sample(h, i, world, w) for h, w in zip(holes, first)]))
        yield uniform[-1]
    options = [{v.type: v for v in reversed(some)}.values() for some in zip(*uniform, strict=True)]
    if options:
        yield from islice(product(*[list(some)[::-1] for some in options]), MAX_SAMPLE_WAYS)


def choose_sample(hole: Hole, i: int, world: Sequence[Any], wanted: Sequence[Any]) -> Any:
    """Return a value for a hole in the i-th of the worlds. wanted: the samples that ops require
    there.
    """
    own = list(hole.sort.samples()) if hole.sort.samples is not None else []
    some = [*wanted, *([*own[i % len(own) :], *own] if own else world)]
    return next((v for v in some if hole.rest or _belongs(hole, v)), None)


def _belongs(hole: Hole, v: Any) -> bool:
    try:
        return bool(hole.sort(v)) and (hole.sort.constant or v.head is not CONSTANT)
    except Exception:  # an author's predicate may want more than a variable alone
        return False


def parameters(pattern: Any) -> dict[str, Sequence[Any]]:
    """Return values for the holes that stand for parameters of ops."""
    results: dict[str, Sequence[Any]] = {}
    for p, _ in subpatterns(pattern):
        if isinstance(p, OpNode) and isinstance(p.op, OpClass):
            for name, hole in p.op.props:
                if isinstance(hole, Hole):
                    results[hole.name] = (*p.op.usual(name), *PARAMETERS)
    return results
