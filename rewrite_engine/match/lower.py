"""Lowering of an author's rule to patterns: `log(1 + x) >> log1p(x)` becomes `OpNode`s, and is
checked.

Rejected when the rule is built: an unbound variable on the right, a guard or parameter that nothing
uses, a left side that is not an op, an op with an impossible number of operands.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from rewrite_engine.errors import (
    PatternError,
    RuleError,
    SeveralOutputsError,
    UnboundVariableError,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.op import Op, known_outputs
from rewrite_engine.match.ac import AFTER, BEFORE, is_ac, is_associative, joined, spliced
from rewrite_engine.match.missing import check_defaults
from rewrite_engine.match.mistakes import STAND_IN, Mistakes
from rewrite_engine.match.pattern import (
    ALL,
    Anything,
    Hole,
    Literal,
    OpClass,
    OpNode,
    Rest,
    holes,
    names_of,
    subpatterns,
    variables_of,
)
from rewrite_engine.match.suggest import Called, called
from rewrite_engine.terms.logic import (
    NO_DEFAULT,
    LogicVariable,
    Outputs,
    PatternTerm,
    Term,
    as_pattern,
    nth,
    several,
)
from rewrite_engine.terms.print import etuples_class, term_text

PARENTHESES = "a rule cannot be an operand: put parentheses around the left side of `>>`"
EQUALITY = "`==` compares patterns: write eq(a, b) for the op (pt.eq), left >> right for a rule"
LOGIC = "a guard has no truth value when the rule is made: write given(a, b) for both of two"
MAX_FORMS = 12  # of a rule whose expressions look at types
FUNCTION = "; write any other condition as a function of variables: given(lambda x: ...)"


@dataclass(slots=True, eq=False, repr=False)
class RuleBody:
    """Result of `left >> right`, before the decorator takes it."""

    __not_a_term__ = PARENTHESES
    left: Any
    right: Any

    def __repr__(self) -> str:
        return f"{self.left} >> {self.right}"

    def _refuse(self, *_: Any) -> NoReturn:
        raise PatternError(PARENTHESES)

    if not TYPE_CHECKING:
        __bool__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
        __and__ = __rand__ = __or__ = __ror__ = __rshift__ = __rrshift__ = _refuse
        __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Compute:
    """Right side that needs Python: a function of some holes, by name; None means: no match."""

    fn: Callable[..., Any]
    names: tuple[str, ...]

    def given(self, numbers: Mapping[str, Any]) -> Compute:
        """Return the right side with numbers in place of some of its variables."""
        names = tuple([name for name in self.names if name not in numbers])

        def fn(*values: Any) -> Any:
            known = {**numbers, **dict(zip(names, values, strict=True))}
            return self.fn(*[known[name] for name in self.names])

        return Compute(fn, names)


@dataclass(frozen=True, slots=True)
class Condition:
    """Guard: a fact or predicate on (some of) the holes.

    `fn(*values)` is true, or a reason that is false; a fact also gets the graph, for its cache.
    assumed: it proves an assumption of the rule, and is not evaluated if the user grants that.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]  # Hole or value
    text: str
    fact: Any = None
    assumed: bool = False

    @property
    def cost(self) -> int:
        """Cost of evaluation; cheap guards come first."""
        return 1 if self.fact is None else int(self.fact.cost)

    def _refuse(self, *_: Any) -> NoReturn:
        raise PatternError(f"{self.text}: {LOGIC}{FUNCTION}")

    __bool__ = __and__ = __rand__ = __or__ = __ror__ = __invert__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def askable(
    guards: Sequence[Condition], bound: Container[Any], asked: Container[int] = ()
) -> list[tuple[int, Condition]]:
    """Return guards not evaluated yet whose variables are all bound, with their indices, cheap ones
    first.
    """
    results = [
        (i, guard)
        for i, guard in enumerate(guards)
        if i not in asked and all(a.name in bound for a in guard.args if isinstance(a, Hole))
    ]
    return sorted(results, key=lambda pair: pair[1].cost)


@dataclass(frozen=True, slots=True)
class Given:
    """Guards of a rule, as the author wrote them."""

    conditions: tuple[Any, ...]


class Lowered(NamedTuple):
    """Two sides and guards of a rule, checked."""

    left: OpNode
    right: Any  # a pattern or `Compute`; a tuple of patterns for all outputs; None to find
    guards: tuple[Condition, ...]
    exact: bool = False  # sums and products of floats are not regrouped
    written: Any = None  # the right side, where `right` puts it between operands left alone
    defaults: Mapping[str, Any] = {}  # numbers of operands that may be missing, by name
    others: tuple[Lowered, ...] = ()  # the rules for missing operands (`match/missing.py`)

    @property
    def ways(self) -> tuple[Lowered, ...]:
        """The rule with all operands, then the rules for missing operands."""
        return (self, *self.others)

    @property
    def parts(self) -> tuple[Lowered, ...]:
        """Rules for one output of which it consists, without optional operands."""
        return tuple([part for way in self.ways for part in way.by_output])

    @property
    def by_output(self) -> tuple[Lowered, ...]:
        """The rule with all operands, as rules for one output."""
        alone = self._replace(others=())
        if self.left.index != ALL:
            return (alone,)
        lefts = map(self.left.output, range(known_outputs(self.left.operator) or 0))
        pairs = [(left, _select_output(self.right, i)) for i, left in enumerate(lefts)]
        return tuple([alone._replace(left=left, right=right) for left, right in pairs])

    @property
    def drops(self) -> bool:
        """True if operands on the left, variables or numbers, are missing on the right."""
        right = self.right
        names = right.names if isinstance(right, Compute) else holes(right)
        leaves = [p for p, _ in subpatterns(self.left) if not isinstance(p, OpNode)]
        return any(isinstance(p, Literal) or p.name not in names for p in leaves)


def counted(lowering: Callable[[], Lowered]) -> Lowered:
    """Lower a rule; twice if samples show how many outputs an op has that does not declare it."""
    try:
        return lowering()
    except SeveralOutputsError:
        return lowering()


def _select_output(right: Any, i: int) -> Any:
    """Return the right side for one of several outputs."""
    if isinstance(right, Compute):

        def one(*values: Any) -> Any:
            new = right.fn(*values)
            return None if new is None else new[i]

        return Compute(one, right.names)
    return right[i] if isinstance(right, tuple) else right.output(i)


def lower(
    fn: Callable[..., Any],
    variable: type[LogicVariable],
    exact: bool = False,
    backward: bool = False,
) -> Lowered:
    """Call a rule function on fresh logic variables and lower its result.

    backward: the author wrote the right side first. Raises `RuleError`s.
    """
    lvars = variables_of(fn, variable)
    found = called(fn, lvars)
    lowered = _lowered(found, lvars, exact, backward)
    if max([len(forms) for forms in found.sampled.values()], default=1) == 1:
        return lowered
    return _in_all_forms(lowered, found, lvars, exact, backward)


def _lowered(
    found: Called, lvars: dict[str, LogicVariable], exact: bool, backward: bool
) -> Lowered:
    """Return the checked sides and guards of what a rule function returned. Raises `RuleError`s."""
    mistakes = Mistakes(found.errors)
    if not found.has_ended:
        mistakes.raise_all()
    body, conditions = _split_guards(found.body)
    with mistakes:
        _check_body(body)
    if not isinstance(body, RuleBody):
        mistakes.raise_all()
    left: Any = None
    right: Any = None
    guards: list[Condition] = []
    with mistakes:
        left = _lower_left(body.left)
    with mistakes:
        right = body.right if isinstance(body.right, Compute) else _lower_right(body.right)
    if found.sampled and left is not None and right is not None:
        conditions = (*conditions, *_guards_of_parts(found, left))
        if not _names_of(right) <= {*holes(left), *lvars}:
            right = _computed(found, left, lvars)
    for c in (*asked_by_sorts(lvars.values()), *conditions):
        with mistakes:
            guards.append(lower_condition(c))
    defaults = {n: lvar.default for n, lvar in lvars.items() if lvar.default is not NO_DEFAULT}
    if left is not None and not backward:
        with mistakes:
            check_defaults(left, defaults)
    lowered = Lowered(left, right, tuple(guards), exact, defaults=defaults)
    if not found.errors and left is not None:
        mistakes.found += unbound(lowered, set(lvars))
    mistakes.found = [e for e in mistakes.found if STAND_IN not in str(e)]
    if not mistakes.found:
        with mistakes:
            _check_outputs(body.left, lowered.left, right)
    mistakes.raise_all()
    return lowered


# --- expressions that look at types -------------------------------------------------------------


def _guards_of_parts(found: Called, left: Any) -> Iterator[Condition]:
    """Yield the guards of the parts that the left side has."""
    for form, *_ in found.sampled.values():
        for guard in form.guards:
            if {a.name for a in guard.args if isinstance(a, LogicVariable)} <= holes(left).keys():
                yield guard


def _names_of(right: Any) -> set[str]:
    return set(right.names if isinstance(right, Compute) else holes(right))


def _computed(found: Called, left: Any, lvars: Mapping[str, LogicVariable]) -> Compute:
    """Return the right side as a function of the variables that a left side binds. Raises
    `PatternError`.
    """
    if found.right is None:
        what = "functions on the right side look at types"
        raise PatternError(f"{what}: write it as compute(lambda x: ...)")
    evaluate, names = found.right, tuple([name for name in holes(left) if name in lvars])
    return Compute(lambda *values: evaluate(dict(zip(names, values, strict=True))), names)


def _in_all_forms(
    lowered: Lowered, found: Called, lvars: dict[str, LogicVariable], exact: bool, backward: bool
) -> Lowered:
    """Return a rule with a rule for each combination of other forms of expressions that look at
    types. If the right side has several forms, it is computed.
    """
    rules = [lowered]
    for forms in islice(product(*found.sampled.values()), 1, MAX_FORMS):
        sampled = {name: [form] for name, form in zip(found.sampled, forms, strict=True)}
        one = found.with_forms(sampled, lvars)
        rules.append(_lowered(one, lvars, exact, backward))
    if any([one.right != lowered.right for one in rules]):
        rules = [one._replace(right=_computed(found, one.left, lvars)) for one in rules]
    others = [one for i, one in enumerate(rules) if one.left not in [r.left for r in rules[:i]]]
    return others[0]._replace(others=tuple(others[1:]))


def _split_guards(body: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the result of a rule function without its guards, and these."""
    if isinstance(body, tuple) and len(body) == 2 and isinstance(body[1], Given):
        return body[0], body[1].conditions
    return body, ()


def _check_body(body: Any) -> None:
    """Refuse what a rule function returns if it is not `left >> right`."""
    if isinstance(body, bool):
        raise PatternError(EQUALITY)
    if not isinstance(body, RuleBody):
        what = f"`left >> right` (and `given(...)` after a comma), not {body!r}"
        raise PatternError(f"must return {what}")


def _lower_left(x: Any) -> OpNode:
    left = lower_side(x)
    if not isinstance(left, OpNode):
        raise PatternError(f"the left side {x!r} is not an op: it would match everything")
    return left


def _lower_right(x: Any) -> Any:
    right = lower_side(x)
    for p in right if isinstance(right, tuple) else (right,):
        if isinstance(p, Hole) and p.rest:
            raise PatternError(f"the right side is {p.name}, any number of operands of no op")
    return right


def asked_by_sorts(lvars: Iterable[LogicVariable]) -> Iterator[Any]:
    """Yield the guards that sorts imply: facts, and equality of places with the same label."""
    labelled: dict[str, tuple[LogicVariable, int]] = {}
    for lvar in lvars:
        sort = lvar.sort
        if sort.fact is not None:
            yield sort.fact(lvar)
        for label, place in sort.ties:
            first = labelled.setdefault(label, (lvar, place))
            if first != (lvar, place):
                yield sort.tie(*first, lvar, place)


def lower_side(x: Any) -> Any:
    """Lower one side of a rule: it may be all outputs of an op, the right one a tuple for them."""
    if isinstance(x, Outputs):
        return _lower_op(*x.items, index=ALL)
    if isinstance(x, tuple | list):
        return tuple([lower_pattern(part) for part in x])
    return lower_pattern(x)


def _check_outputs(written: Any, left: OpNode, right: Any) -> None:
    """Check that the right side is for one output, or for all of them, as the left side is."""
    n = len(right) if isinstance(right, tuple) else None
    if isinstance(right, OpNode) and right.index == ALL:
        n = known_outputs(right.operator)
    if left.index != ALL and n is not None:
        raise PatternError(f"the left side is one term, and the right side is {n}: write one")
    if left.index == ALL and n != len(written) and not isinstance(right, Compute):
        has = "one term" if n is None else f"{n} terms"
        what = f"{several(written)}, to replace that one; or {len(written)} terms for all"
        raise PatternError(f"the right side is {has}: {what}")


def lower_pattern(x: Any) -> Any:
    """Lower a pattern of one term."""
    if isinstance(x, LogicVariable):
        return Hole(x.name, x.sort or Anything)
    if isinstance(x, PatternTerm):
        if x.items[0] is nth:
            return _lower_output(*x.items[1:])
        lowered = _lower_op(*x.items)
        op = lowered.operator
        if op.default_output is None and (known_outputs(op) or 1) > 1:
            raise SeveralOutputsError(several(x))
        return lowered
    if isinstance(x, Variable):
        number = getattr(x, "number", None)
        if number is None:
            raise PatternError(
                f"{x!r} is a variable of a graph: patterns are made of parameters and numbers"
            )
        return Literal(number)
    if getattr(x, "ndim", None) == 0 and hasattr(x, "item"):  # a number of NumPy
        x = x.item()
    if isinstance(x, int | float | complex):
        return Literal(x)
    if isinstance(term := as_pattern(x), PatternTerm):
        return lower_pattern(term)
    raise PatternError(f"{x!r} cannot be part of a pattern")


def _lower_output(i: Any, term: Any) -> OpNode:
    """Lower one of several outputs."""
    term = as_pattern(term)
    if not isinstance(term, PatternTerm):
        raise PatternError(f"output {i} of {term} is not the output of an op")
    pattern = _lower_op(*term.items)
    op = pattern.operator
    n = known_outputs(op)
    if not isinstance(i, int) or i < 0 or (n is not None and i >= max(n, 2)):
        raise PatternError(f"{term_text(term)} has no output {i}: {several(term)}")
    if n == 1:
        raise PatternError(f"{term_text(term)} has one output: write it without a number")
    return pattern if i == op.default_output else pattern.output(i)


def _lower_op(operator: Any, *operands: Any, index: int | None = None) -> OpNode:
    named = etuples_class("KwdPair")
    if named and any([isinstance(a, named) for a in operands]):
        what = "name no operands in a pattern; parameters belong to the op"
        raise PatternError(f"{operator}: {what}")
    args = tuple([lower_pattern(a) for a in operands])
    if not isinstance(operator, Op):
        operator = as_pattern(operator)
        if isinstance(operator, PatternTerm):
            return OpNode(_lower_class(operator.items), args, index)
        raise PatternError(f"{operator!r} is not an op")
    lowered = OpNode(operator, spliced(operator, args), index)
    nin = len(operator.itypes) if operator.itypes is not None else getattr(operator, "nin", None)
    n = len(lowered.args)
    if nin != n and isinstance(nin, int) and nin >= 0 and not lowered.rests:
        raise PatternError(f"{operator} takes {nin} operands, not {n}: this can never match")
    return lowered


# --- operands side by side ----------------------------------------------------------------------


def is_in_order(pattern: Any) -> bool:
    """Return whether a pattern is an op whose nests are one op on all operands, which have an
    order.
    """
    return is_associative(pattern) and not is_ac(pattern)


def extended(rule: Lowered) -> Lowered:
    """Return the rule in the form for ops that are associative, but not commutative: it matches
    some adjacent operands of the root; those on both sides of them are kept next to the result.
    """
    if not any(is_in_order(p) for p, _ in subpatterns(rule.left)):
        return rule
    left, right = with_runs(rule.left, rule.left), rule.right
    if not is_in_order(left):
        return rule._replace(left=left)
    before, after = [
        () if isinstance(a, Hole) and a.rest else (Hole(name, Rest),)
        for a, name in ((left.args[0], BEFORE), (left.args[-1], AFTER))
    ]
    if isinstance(right, Compute):
        right = _compute_between(left.op, right, before, after)
    elif before or after:
        right = OpNode(left.op, spliced(left.op, (*before, right, *after)))
    left = OpNode(left.op, (*before, *left.args, *after))
    return rule._replace(left=left, right=right, written=rule.right)


def _compute_between(
    op: Op, right: Compute, before: tuple[Hole, ...], after: tuple[Hole, ...]
) -> Compute:
    """Return a computed right side between operands that the left side leaves alone."""
    n, end = len(before), len(before) + len(right.names)

    def beside(*values: Any) -> Any:
        term = right.fn(*values[n:end])
        return (
            None if term is None else joined(op, (*chain(*values[:n]), term, *chain(*values[end:])))
        )

    names = [[hole.name for hole in holes] for holes in (before, after)]
    return Compute(beside, (*names[0], *right.names, *names[1]))


def with_runs(pattern: Any, root: OpNode) -> Any:
    """Return a side in which bare variables take runs of operands of ops that have an order."""
    if not isinstance(pattern, OpNode):
        return pattern
    args = [with_runs(a, root) for a in pattern.args]
    if pattern is not root and is_in_order(pattern):
        args = [replace(a, several=True) if _takes_run(a, root) else a for a in args]
    return pattern.of(*args)


def _takes_run(a: Any, root: OpNode) -> bool:
    if not isinstance(a, Hole) or a.rest or a.sort.constant:
        return False
    return sum(isinstance(p, Hole) and p.name == a.name for p, _ in subpatterns(root)) == 1


def _lower_class(items: tuple[Any, ...]) -> OpClass:
    cls, *values = items
    props = [
        Hole(v.name, v.sort or Anything) if isinstance(v, LogicVariable) else v for v in values
    ]
    return OpClass(cls, tuple(zip(cls.__props__, props, strict=True)))


def lower_condition(c: Any) -> Condition:
    """Lower a guard: the result of a fact for logic variables, or a function of holes by name."""
    if isinstance(c, Condition):
        args = tuple([lower_pattern(a) if isinstance(a, LogicVariable) else a for a in c.args])
        return Condition(c.fn, args, c.text, c.fact, c.assumed)
    if callable(c) and not isinstance(c, Term):
        names = names_of(c)
        text = getattr(c, "__name__", "condition").replace("<lambda>", "condition")
        return Condition(c, tuple([Hole(n) for n in names]), f"{text}({', '.join(names)})")
    what = f"the guard {c!r} is neither a fact about the rule's variables nor a function of them"
    raise PatternError(f"{what}: {LOGIC if isinstance(c, bool) else 'a term is no fact'}{FUNCTION}")


def unbound(rule: Lowered, parameters: set[str]) -> Iterator[RuleError]:
    """Yield an error for each use of a variable that the left side does not bind, and for each
    variable that it does not use.
    """
    bound, right = set(holes(rule.left)), rule.right
    used = {"the right side": set(right.names if isinstance(right, Compute) else holes(right))}
    for guard in rule.guards:
        names = {a.name for a in guard.args if isinstance(a, Hole)}
        used[f"the guard {guard.text}"] = names
    for what, names in used.items():
        for name in sorted(names - bound):
            yield UnboundVariableError(f"{what} uses {name}, which the left side does not bind")
        if not names and what != "the right side":
            yield PatternError(f"{what} mentions no variable of the rule")
    used_elsewhere = {name for names in used.values() for name in names}
    for name in sorted(parameters - bound - used_elsewhere):
        yield PatternError(f"the parameter {name} does not occur in the left side")
