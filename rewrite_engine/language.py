"""The rule language for packs: `from rewrite_engine.language import *`.

The language is defined in `rewrite_engine/match/`; this module applies it to tensors: pattern
variables have the operators of tensors, and sorts constrain dtypes and ranks. To write a rule, read
`docs/writing_rules.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, overload

from rewrite_engine import hooks
from rewrite_engine.errors import DTypeError, PatternError
from rewrite_engine.facts.arrays import same_length
from rewrite_engine.facts.failure import dropping
from rewrite_engine.graph.node import CONSTANT, Variable
from rewrite_engine.match import decorate, of_terms
from rewrite_engine.match import equation as equations
from rewrite_engine.match.claim import Claim, approx, assumes, backward, exact, refines
from rewrite_engine.match.decorate import compute, relation
from rewrite_engine.match.fact import assuming, because, both, every, fact, given, unknown
from rewrite_engine.match.lower import Given, RuleBody, lower_pattern
from rewrite_engine.match.pattern import Sort, as_sort
from rewrite_engine.match.relation import KanrenRelationSub
from rewrite_engine.match.rule import Overlaps, at_most
from rewrite_engine.match.ruleset import Table
from rewrite_engine.match.sample import types
from rewrite_engine.match.sampled import forms_of
from rewrite_engine.rewrite.cost import CostModel, bytes_moved, flops
from rewrite_engine.rewrite.equal import equal
from rewrite_engine.rewrite.expand import expand
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.operators import TensorOperators
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.terms.budget import Budget, OnBudget
from rewrite_engine.terms.logic import pattern_classes

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.match.find import Match
    from rewrite_engine.match.rule import DataRule, NodeRewriter

__all__ = [
    "CONSTANT",
    "Anything",
    "Body",
    "Bool",
    "Budget",
    "ConstantNumber",
    "Const",
    "Float",
    "FloatConstant",
    "Inexact",
    "InexactConstant",
    "Integer",
    "KanrenRelationSub",
    "Matrix",
    "Number",
    "Ordered",
    "Prop",
    "Real",
    "RealConstant",
    "Rest",
    "Scalar",
    "Sides",
    "Sort",
    "Tensor",
    "Vector",
    "approx",
    "assumes",
    "assuming",
    "at_most",
    "backward",
    "because",
    "both",
    "bytes_moved",
    "compute",
    "equal",
    "equation",
    "every",
    "exact",
    "expand",
    "fact",
    "find",
    "flops",
    "given",
    "node_rewriter",
    "refines",
    "relation",
    "rewritten",
    "rule",
    "rule_of",
    "table",
    "unknown",
]


#: result of the function of a rule: `left >> right`, and optionally guards after a comma
Body: TypeAlias = RuleBody | tuple[RuleBody, Given]
#: row of a table; type checkers infer the number of variables from its lambda
Row: TypeAlias = (
    tuple[str, Callable[[Any], Body], Claim, str, *tuple[str, ...]]
    | tuple[str, Callable[[Any, Any], Body], Claim, str, *tuple[str, ...]]
    | tuple[str, Callable[[Any, Any, Any], Body], Claim, str, *tuple[str, ...]]
    | tuple[str, Callable[[Any, Any, Any, Any], Body], Claim, str, *tuple[str, ...]]
    | tuple[str, Callable[..., Body], Claim, str, *tuple[str, ...]]
)
#: result of the function of an equation: `left, right`, and optionally guards
Sides: TypeAlias = tuple[Any, Any] | tuple[Any, Any, Given]


class UnknownTypeError(DTypeError, AttributeError):
    """An attribute of a pattern's type is not known."""


class UnknownRankError(PatternError):
    """The sorts of a pattern's variables do not fix its rank."""

    typeless = True  # see `match/suggest.py`


class PatternType:
    """Type of a pattern, as far as the sorts of its variables fix it for all dtypes."""

    def __init__(self, pattern: Any) -> None:
        self.pattern = pattern

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = types(lower_pattern(self.pattern))
        if name == "ndim":  # which no dtype changes
            known = islice(known, 1)
        results = [getattr(type_, name) for type_ in known]
        if not results:
            raise UnknownRankError(
                f"the rank of {self.pattern} is not known: give its variables sorts that fix one "
                "(Scalar, Vector, Matrix, Tensor[...]), or write the op with its parameters, such "
                "as DimShuffle(2, (1, 0))(a)"
            )
        if any(other != results[0] for other in results):
            raise UnknownTypeError(f"the {name} of {self.pattern} is not known in a pattern")
        return results[0]


class PatternOperators(TensorOperators):
    """Operators and methods of patterns."""

    __slots__ = ()

    @property
    def type(self) -> Any:
        """Return the type, as far as sorts fix it."""
        return PatternType(self)

    @property
    def ndim(self) -> int:
        """Return the number of dimensions, if sorts fix it."""
        return self.type.ndim  # type: ignore[no-any-return]


_Variable, TensorPattern = pattern_classes(PatternOperators)


class TensorLogicVariable(_Variable):  # type: ignore[misc, valid-type]
    """A variable of a rule that stands for a tensor."""

    __slots__ = ()

    def __init__(self, name: str, type: Any = None, **options: Any) -> None:
        super().__init__(name, type, **options)
        if type is None or isinstance(type, PatternType):
            self.type = PatternType(self)  # type: ignore[misc]


SAMPLED = ("float64", "float32", "int64", "bool", "complex128")


@cache
def _make_samples(shape: tuple[int | None, ...]) -> tuple[Any, ...]:
    return tuple([TensorType(dtype, shape)() for dtype in SAMPLED])


@cache
def _make_worlds() -> tuple[tuple[Any, ...], ...]:
    """Return tuples of tensors of each rank and dtype. Each tuple continues with tensors of the
    same rank, other tensors, and constants, for sorts that need them.
    """
    numbers = [constant(n, dtype=d) for d in SAMPLED for n in (2, 1)] + [constant([2.0, 3.0])]
    ranks = [_make_samples((None,) * n) for n in (2, 1, 0, 3, 4)]
    others = [v for same in ranks for v in same]
    return tuple([(v, *same, *others, *numbers) for same in ranks for v in same])


TensorLogicVariable.worlds = staticmethod(_make_worlds)
TensorLogicVariable.forms = staticmethod(forms_of)


def _rank_sort(name: str, ndim: int) -> Sort:
    return Sort(
        name,
        lambda v: v.type.ndim == ndim,
        f"{{v}}.type.ndim == {ndim}",
        samples=partial(_make_samples, (None,) * ndim),
    )


def _kind_sort(name: str, kinds: str) -> Sort:
    return Sort(name, lambda v: v.type.kind in kinds, f"{{v}}.type.kind in {kinds!r}")


if TYPE_CHECKING:  # as annotations, sorts have the operators of tensors
    from typing import Any as Prop
    from typing import Any as Rest

    from rewrite_engine.tensor.variable import TensorConstant as Const
    from rewrite_engine.tensor.variable import TensorConstant as ConstantNumber
    from rewrite_engine.tensor.variable import TensorConstant as FloatConstant
    from rewrite_engine.tensor.variable import TensorConstant as InexactConstant
    from rewrite_engine.tensor.variable import TensorConstant as RealConstant
    from rewrite_engine.tensor.variable import TensorVariable as Anything
    from rewrite_engine.tensor.variable import TensorVariable as Bool
    from rewrite_engine.tensor.variable import TensorVariable as Float
    from rewrite_engine.tensor.variable import TensorVariable as Inexact
    from rewrite_engine.tensor.variable import TensorVariable as Integer
    from rewrite_engine.tensor.variable import TensorVariable as Matrix
    from rewrite_engine.tensor.variable import TensorVariable as Number
    from rewrite_engine.tensor.variable import TensorVariable as Ordered
    from rewrite_engine.tensor.variable import TensorVariable as Real
    from rewrite_engine.tensor.variable import TensorVariable as Scalar
    from rewrite_engine.tensor.variable import TensorVariable as Vector

    class WithLengths(Anything):
        """A sort by lengths: `Annotated[Matrix, Tensor["n", "m"]]`."""

        def __class_getitem__(cls, dims: Any) -> Sort: ...

    Tensor = WithLengths

else:
    from rewrite_engine.match.pattern import Anything, Const, Prop, Rest

    Inexact = _kind_sort("Inexact", "fc")  # floating or complex, as in NumPy
    Float = _kind_sort("Float", "f")._replace(formerly=Inexact)
    Real = Float._replace(name="Real", formerly=None, now=Float)
    Integer = _kind_sort("Integer", "iu")
    Number = _kind_sort("Number", "iufc")  # everything but booleans
    Ordered = _kind_sort("Ordered", "biuf")  # everything but complex numbers
    Bool = _kind_sort("Bool", "b")

    def _constant_sort(name: str, kinds: str) -> Sort:
        return Sort(
            name,
            lambda v: v.head is CONSTANT and v.type.kind in kinds,
            f"{{v}}.head is CONSTANT and {{v}}.type.kind in {kinds!r}",
            constant=True,
        )

    InexactConstant = _constant_sort("InexactConstant", "fc")
    FloatConstant = _constant_sort("FloatConstant", "f")._replace(formerly=InexactConstant)
    RealConstant = FloatConstant._replace(name="RealConstant", formerly=None, now=FloatConstant)
    ConstantNumber = Sort(
        "ConstantNumber",
        lambda v: v.head is CONSTANT and v.number is not None,
        "{v}.head is CONSTANT and {v}.number is not None",
        constant=True,
    )
    Scalar = _rank_sort("Scalar", 0)
    Vector = _rank_sort("Vector", 1)
    Matrix = _rank_sort("Matrix", 2)

    class Tensor:
        """Sorts by rank and lengths: `Tensor["n", "m"]` is a matrix. A number is a static length. A
        name stands for a length that must be the same wherever the name occurs in the rule; the
        fact `same_length` has to prove this. None is any length.

        >>> Tensor["n", 3]
        Tensor['n', 3]
        """

        @classmethod
        @cache
        def _sort(cls, dims: tuple[Any, ...]) -> Sort:
            known = {i: d for i, d in enumerate(dims) if isinstance(d, int)}
            ties = tuple([(d, i) for i, d in enumerate(dims) if isinstance(d, str)])
            if len(known) + len(ties) + dims.count(None) < len(dims):
                raise PatternError(f"Tensor[...] takes names, lengths and None, not {dims}")

            def fits(v: Any) -> bool:
                return v.type.ndim == len(dims) and all(
                    v.type.shape[i] == d for i, d in known.items()
                )

            tests = [f"{{v}}.type.ndim == {len(dims)}"]
            tests += [f"{{v}}.type.shape[{i}] == {d}" for i, d in known.items()]
            name = f"Tensor{list(dims)}"
            shape = tuple([known.get(i) for i in range(len(dims))])
            return Sort(
                name,
                fits,
                " and ".join(tests),
                ties=ties,
                tie=same_length,
                samples=partial(_make_samples, shape),
            )

        def __class_getitem__(cls, dims: Any) -> Sort:
            return cls._sort(dims if isinstance(dims, tuple) else (dims,))


@overload
def rule(fn: Callable[..., Body]) -> DataRule: ...
@overload
def rule(
    *,
    phase: str | None = None,
    claim: Claim = refines,
    tags: Iterable[str] = (),
    overlaps: Overlaps = "",
    ends: Any = None,
) -> Callable[[Callable[..., Body]], DataRule]: ...
def rule(
    fn: Callable[..., Any] | None = None,
    *,
    phase: str | None = None,
    claim: Claim = refines,
    tags: Iterable[str] = (),
    overlaps: Overlaps = "",
    ends: Any = None,
) -> Any:
    """Make a rule from a function that returns `left >> right`. Its parameters are the variables of
    the rule.

    Raises a `RuleError` with the rule's name, its file and line, and all of its mistakes.
    """
    return decorate.rule(
        fn,
        phase=phase,
        claim=claim,
        tags=tags,
        overlaps=overlaps,
        ends=ends,
        variable=TensorLogicVariable,
        keeping=dropping.keeping,
    )


def rule_of(
    left: Variable,
    right: Variable | float,
    *,
    where: Callable[..., Any] | None = None,
    name: str = "",
    reason: str = "",
    phase: str | None = None,
    claim: Claim = refines,
    tags: Iterable[str] = (),
    overlaps: Overlaps = "",
    ends: Any = None,
) -> DataRule:
    """Make a rule of two terms of a graph, which holds for other dtypes and lengths, too.

    left, right: two terms with the same variables, or fewer on the right; the left one is brought
    into the normal form that graphs have when rules see them. A variable of the graph becomes one
    of the rule: of the same kind of dtype (floating, complex, integer, boolean), or of the same
    dtype, if an op takes no other; of the same rank, or of any, if both terms are elementwise.
    Lengths other than 1 do not count. Facts that `assume` declares of a variable become guards.
    where: a function of variables, by their names, that returns more guards, as for `given`. name:
    by default made of the ops on the left. reason: the docstring. For the other options see `rule`.

    Raises `PatternError` for terms that make no rule: an array of constants, a variable that only
    the right side has, a left side whose normal form is a variable or the right side; and what
    `rule` raises.

    >>> import rewrite_engine as rw
    >>> import rewrite_engine.tensor as pt
    >>> from rewrite_engine.facts import square
    >>> m, x = pt.matrix("m"), pt.vector("x")
    >>> rule_of(pt.log(x + 1), pt.log1p(x)).text
    'log(x + 1.0) -> log1p(x)'
    >>> positive = rw.assume(x, nonneg=True)
    >>> rule_of(pt.log(1 / positive), -pt.log(positive)).text
    'log(1.0 / x) -> -log(x), given nonneg(x)'
    >>> rule_of(pt.linalg.det(m @ m), pt.linalg.det(m) ** 2, where=lambda m: square(m)).text
    'Det(m @ m) -> sqr(Det(m)), given square(m)'
    """
    frame = sys._getframe(1)
    leaves = of_terms.leaves_of(left, right)
    any_rank = of_terms.is_elementwise([left, right])
    any_dtype = of_terms.has_other_dtypes([left, right], [*leaves.values()])
    sorts = {v: sort_of(leaf.type, any_rank, any_dtype) for v, leaf in leaves.items()}
    described = name or of_terms.name_of(left), reason or "Made of two terms of a graph."
    place = frame.f_globals, frame.f_lineno
    with of_terms.rule_function((left, right), leaves, sorts, where, given, described, place) as fn:
        return rule(phase=phase, claim=claim, tags=tags, overlaps=overlaps, ends=ends)(fn)


def sort_of(type_: TensorType, any_rank: bool = False, any_dtype: bool = True) -> Sort:
    """Return the sort of the variables of a dtype, or of its kind, and of a rank, of any length but
    1 where the type has 1.
    """
    kinds: dict[str, Any] = {"f": Float, "c": Inexact, "i": Integer, "u": Integer, "b": Bool}
    shape = tuple([1 if n == 1 else None for n in type_.shape])
    if not any_dtype:
        return as_sort(type_.clone(shape=shape))
    kind = kinds[type_.kind]
    return as_sort(kind if any_rank else Annotated[kind, Tensor.__class_getitem__(shape)])


def node_rewriter(
    tracks: Any = None, *given: Any, keeps: Any = dropping.operands_kept, **options: Any
) -> Callable[..., NodeRewriter]:
    """Make a rule from a function `(fgraph, node)` that returns replacements for the outputs.

    The rule does not apply if an error would be lost: an operand that the replacement does not use
    must not fail, and must fit the others. keeps: another check of this, a function of the graph,
    the node and the replacement; None: no check. For other arguments see
    `rewrite_engine.match.node_rewriter`.

    >>> import rewrite_engine.tensor as pt
    >>> @node_rewriter([pt.add])
    ... def first(fgraph, node):
    ...     "(Wrong, but for the example.)"
    ...     return node.inputs[0]
    >>> x, y = pt.vectors("x y")
    >>> first.apply(None, pt.add(x, pt.exp(x)).owner), bool(first.apply(None, pt.add(x, y).owner))
    (x, False)
    """
    return decorate.node_rewriter(tracks, *given, keeps=keeps, **options)


def table(
    tag: str,
    *rows: Row,
    phase: str | None = None,
    tags: Iterable[str] = (),
    overlaps: Overlaps = "",
    ends: Any = None,
    **sorts: Any,
) -> Table:
    """Make a family of similar rules, one per row: `(name, lambda x: left >> right, claim,
    reason)`, and optionally an example, "term -> result". Each row becomes a rule as from `@rule`.

    tag: a name that selects all of them. ends: why each row ends. sorts: of the variables, by their
    names: `x=Float`.

    >>> import rewrite_engine.tensor as pt
    >>> trig = table("trig", ("sin_of_arcsin", lambda x: pt.sin(pt.arcsin(x)) >> x, refines,
    ...     "One is the inverse of the other."), x=Float)
    >>> trig["sin_of_arcsin"].text
    'sin(arcsin(x)) -> x'
    """
    make = partial(rule, phase=phase, ends=ends)
    return decorate.table(tag, *rows, rule=make, tags=tags, overlaps=overlaps, **sorts)


@overload
def equation(fn: Callable[..., Sides]) -> equations.Equation: ...
@overload
def equation(
    *,
    phase: str | None = "saturate",
    claim: Claim = refines,
    tags: Iterable[str] = (),
    prefer: CostModel | None = None,
) -> Callable[[Callable[..., Sides]], equations.Equation]: ...
def equation(
    fn: Callable[..., Any] | None = None,
    *,
    phase: str | None = "saturate",
    claim: Claim = refines,
    tags: Iterable[str] = (),
    prefer: CostModel | None = None,
) -> Any:
    """Make an equation from a function that returns `left, right`. A cost model chooses the side
    (`flops`, `bytes_moved`, or a function of a node); the default is `prefer`.

    Raises a `RuleError` with its name, its file and line, and all of its mistakes.
    """
    return equations.equation(
        fn,
        phase=phase,
        claim=claim,
        tags=tags,
        prefer=prefer,
        variable=TensorLogicVariable,
    )


def find(
    graph: Any,
    pattern: Any,
    *,
    every: bool = False,
    answers: int | None = None,
    seconds: float | None = None,
    on_budget: OnBudget = "raise",
) -> Iterator[Match]:
    """Yield the matches of a pattern in a graph, inputs first. Each match has its `node` and the
    terms for the pattern's variables, `match["x"]`.

    graph: a `FunctionGraph`, a variable, or a sequence of variables. pattern: a data rule; a
    function like one that returns a left side (and `given(...)` after a comma); an op or a class of
    ops. every: all matches at a node, not just the first. answers, seconds: the budget, by default
    none; `SearchBudgetError` when it is used up, or no more with on_budget="stop".

    >>> import rewrite_engine.tensor as pt
    >>> x, y = pt.vectors("x y")
    >>> [match["a"] for match in find(pt.log(1 + x) * pt.log(1 + y), lambda a: pt.log(1 + a))]
    [x, y]
    """
    from rewrite_engine.match import find as finding  # packs do without

    return finding.find(
        graph,
        pattern,
        every=every,
        answers=answers,
        seconds=seconds,
        on_budget=on_budget,
        variable=TensorLogicVariable,
    )


class Rewritten:
    """A term after the default pipeline, printed in the usual notation.

    For examples in docstrings.
    """

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def __repr__(self) -> str:
        from rewrite_engine.rewrite.trace import brief

        return brief(self.variable, depth=20)


def rewritten(
    *variables: Any,
    including: Iterable[Any] = (),
    rules: Iterable[Any] = (),
    only: Iterable[Any] | None = None,
    excluding: Iterable[Any] = (),
) -> Any:
    """Return terms rewritten by the default pipeline (without the in-place phase), ready to be
    printed. including: names of assumptions and phases to use. rules: your own rules, used with the
    others. only: rules to use alone, until none applies. excluding: names of rules to leave out.

    >>> import rewrite_engine.tensor as pt
    >>> rewritten(pt.log(1 + pt.vector("x")))
    log1p(x)
    """
    fgraph = rewritten_graph(
        variables, including=including, rules=rules, only=only, excluding=excluding
    )
    results = [Rewritten(v) for v in fgraph.outputs]
    return results[0] if len(results) == 1 else results


def rewritten_graph(
    variables: Iterable[Any],
    *,
    including: Iterable[Any] = (),
    rules: Iterable[Any] = (),
    only: Iterable[Any] | None = None,
    excluding: Iterable[Any] = (),
    trace: Any = None,
) -> FunctionGraph:
    """Return the graph whose outputs `rewritten` returns. trace: records the firings."""
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.match.query import Query
    from rewrite_engine.match.ruleset import RuleSet
    from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer

    fgraph = FunctionGraph(None, list(variables))
    query = Query().excluding("inplace", *excluding).including(*including)
    if only is None:
        driver: Any = hooks.optimizer(query, RuleSet(rules))
    else:
        driver = EquilibriumOptimizer(RuleSet(only).query(query), "only")
    driver.rewrite(fgraph, trace)
    return fgraph
