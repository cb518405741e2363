"""Logic variables and the patterns made of them.

An op called on a logic variable returns a `PatternTerm`, which stands for an etuple (it is not one:
adding etuples concatenates them). The operators of patterns are defined elsewhere:
`pattern_classes(mixin)` makes the pair of classes with the operators of a mixin, such as that of
tensors. `match/` defines the result of `>>`.

Rules are written with these, so every program that compiles a function loads this module: the
packages of miniKanren are imported when an etuple is needed (`PatternTerm.etuple`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from rewrite_engine import hooks
from rewrite_engine.errors import PatternError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import known_outputs, output_text
from rewrite_engine.terms.parameter import arguments
from rewrite_engine.terms.print import etuples_class, operator_of, term_text

if TYPE_CHECKING:
    from rewrite_engine.terms.convert import GraphTuple

TRUTH = """a pattern is neither true nor false: {}
    Chained comparisons (a < b < c), `and`, `or`, `not`, `if` need one. Write and_(a < b, b < c),
    and put parentheses around a comparison to the left of `>>`."""


class Term:
    """Common base of logic variables and patterns.

    An operand whose class has a text `__not_a_term__` is rejected with that text (a rule, for
    instance: it explains which parentheses are missing).
    """

    __slots__ = ()

    #: the classes of patterns made by ops called on this class: of one output, and of several
    pattern_type: ClassVar[type[PatternTerm]]
    outputs_type: ClassVar[type[Outputs]]

    @classmethod
    def __apply_op__(cls, op: Any, inputs: Sequence[Any], kwargs: dict[str, Any]) -> PatternTerm:
        """Build the pattern when an op is called on a term."""
        items = [op, *map(operand, inputs)]
        if kwargs:
            from etuples.core import KwdPair

            values = {name: operand(value) for name, value in kwargs.items()}
            items += [KwdPair(name, getattr(v, "etuple", v)) for name, v in values.items()]
        return cls.applied(op, tuple(items))

    @classmethod
    def applied(cls, op: Any, items: tuple[Any, ...]) -> PatternTerm:
        """Return the pattern of the result of an op (or of a class of ops)."""
        several = getattr(op, "default_output", 0) is None and (known_outputs(op) or 1) > 1
        return (cls.outputs_type if several else cls.pattern_type)(items)

    @classmethod
    def __apply_class__(
        cls, record: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> PatternTerm:
        """Build a pattern of an op, which is called like an op, when a class of ops gets a term as
        a parameter.
        """
        given = arguments(record.__init__, (None, *args), kwargs)
        missing = [name for name in record.__props__ if name not in given]
        if missing:
            raise PatternError(f"{record.__name__}: its parameter {missing[0]} cannot be matched")
        return cls.pattern_type((record, *[given[name] for name in record.__props__]))

    def __rshift__(self, other: Any) -> Any:
        return hooks.rule_body(self, other)

    def __rrshift__(self, other: Any) -> NoReturn:
        hint = ": `==` compares patterns, write eq(a, b)" if isinstance(other, bool) else ""
        what = f"the left side of a rule must be a pattern{hint}"
        raise PatternError(f"{other!r} >> {self}: {what}")

    def __bool__(self) -> NoReturn:
        raise PatternError(TRUTH.format(self))

    def __iter__(self) -> Iterator[Any]:
        what = "only a variable for several operands can (sort Rest)"
        raise PatternError(f"{self} cannot be unpacked: {what}")


def operand(x: Any) -> Any:
    """Return an operand of a pattern, or raise an error if it cannot be one."""
    refusal = getattr(type(x), "__not_a_term__", None)
    if refusal is not None:
        raise PatternError(refusal)
    return x


def nth(i: int, outputs: Any) -> Any:
    """Return output `i` of the result of an op with several outputs (or of a pattern for it).

    It is the operator in the term of such an output: `e(nth, 1, e(divmod, x, y))`.
    """
    if isinstance(outputs, Term):
        op = outputs.op if isinstance(outputs, PatternTerm) else None
        own = getattr(op, "default_output", None) == i
        return outputs if own else outputs.__apply_op__(nth, (i, outputs), {})
    if isinstance(outputs, Variable):
        if outputs.owner is None:
            what = f"is not the output of a node, so the node's output {i} does not exist"
            raise TypeError(f"{outputs!r} {what}")
        outputs = outputs.owner
    return (outputs.outputs if isinstance(outputs, Apply) else outputs)[i]


NO_DEFAULT = object()


class LogicVariable(Term):
    """Logic variable, equal to itself only (`unification.var("x")` is the same one each time). To
    `unification` it is a `Var`.

    type: it unifies only with variables of that type. sort, default: for the rule language. rest:
    it stands for any number of operands, and `*x` in a pattern is allowed.
    """

    __slots__ = ("name", "type", "sort", "default", "rest", "token", "__weakref__")

    #: lists of graph variables for which variables of rules may stand, each time others
    worlds: ClassVar[Callable[[], Sequence[Sequence[Any]]]] = staticmethod(lambda: ())
    #: the patterns of an expression that looks at types (`match/sampled.py`), if there are any
    forms: ClassVar[Callable[..., Any] | None] = None

    def __init__(
        self,
        name: str,
        type: Any = None,
        *,
        sort: Any = None,
        default: Any = NO_DEFAULT,
        rest: bool = False,
    ) -> None:
        self.token = (name, id(self))  # by which `unification` tells variables apart
        self.name, self.type, self.sort, self.default, self.rest = name, type, sort, default, rest

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[Any]:
        return iter((self,)) if self.rest else super().__iter__()

    def __repr__(self) -> str:
        return self.name

    def __copy__(self) -> LogicVariable:
        return self

    def __deepcopy__(self, memo: Any) -> LogicVariable:
        return self


class PatternTerm(Term):
    """Op applied to operands that contain logic variables. Equal to a pattern with an equal etuple.

    items: the operator and the operands, which may be patterns or etuples. It can also be made from
    an etuple.
    """

    __slots__ = ("items", "_etuple")

    def __init__(self, items: Any) -> None:
        if type(items) is not tuple:
            from rewrite_engine.terms.convert import GraphTuple

            self._etuple: GraphTuple | None = GraphTuple(items)
            items = items._tuple
        else:
            self._etuple = None
        self.items: tuple[Any, ...] = items

    @property
    def etuple(self) -> GraphTuple:
        """Term as an etuple, made on first use."""
        if self._etuple is None:
            from rewrite_engine.terms.convert import etuple_of

            etuple_of(self)
        return self._etuple  # type: ignore[return-value]

    @property
    def op(self) -> Any:
        """Operator, as it is in the etuple."""
        op = self.items[0]
        return op.etuple if isinstance(op, PatternTerm) else op

    @property
    def args(self) -> tuple[Any, ...]:
        """Operands, as they are in the etuple."""
        return self.etuple._tuple[1:]  # type: ignore[no-any-return]

    def __call__(self, *inputs: Any) -> PatternTerm:
        """Apply a pattern of an op (`Sum(axis=a)`, with `a` a logic variable) to operands."""
        return self.applied(self.op, (self, *map(operand, inputs)))

    @property
    def evaled_obj(self) -> Any:
        """Variable that this pattern builds, or a pattern if a logic variable is left in it."""
        return self.etuple.evaled_obj

    def __eq__(self, other: object) -> bool:
        other = as_pattern(other)
        return self.etuple == other.etuple if isinstance(other, PatternTerm) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.etuple)

    def __repr__(self) -> str:
        return term_text(self)


def as_pattern(x: Any) -> Any:
    """Return the pattern for an etuple; anything else unchanged."""
    return PatternTerm(x) if isinstance(x, etuples_class("ExpressionTuple")) else x


class Outputs(PatternTerm):
    """Pattern of all outputs of an op that has several. Select one of them as from the op's result:
    by number, by unpacking, or by the name that the op declares, `svd(a).S`.
    """

    __slots__ = ()

    def __len__(self) -> int:
        return known_outputs(operator_of(self)) or 0

    def __getitem__(self, i: Any) -> Any:
        places = range(len(self))
        if isinstance(i, slice):
            return tuple([self[k] for k in places[i]])
        if i not in range(-len(self), len(self)):
            raise PatternError(f"there is no {self}[{i}]: {several(self)}")
        return self.pattern_type((nth, places[i], self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __getattr__(self, name: str) -> Any:
        names = list(operator_of(self).output_names or ())
        if name in names:
            return self[names.index(name)]
        raise NoSuchOutput(f"there is no {self}.{name}: {several(self)}")

    def _refuse(self, *_: Any) -> NoReturn:
        raise PatternError(several(self))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _refuse
    __rmatmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


class NoSuchOutput(PatternError, AttributeError):
    """Error for a missing output of a pattern with several outputs."""


def several(term: Any) -> str:
    """Explain what to write in place of a term with several outputs where one is expected."""
    op = operator_of(term)
    n, text = known_outputs(op) or 0, term_text(term)
    some = " or ".join([f"{text}{output_text(op, i)}" for i in range(min(n, 4))])
    return f"{text} has {n} outputs: write {some}"


Term.pattern_type, Term.outputs_type = PatternTerm, Outputs


def pattern_classes(operators: type) -> tuple[type[LogicVariable], type[PatternTerm]]:
    """Make the classes of logic variables and patterns that have the methods of `operators`.

    `operators` is a mixin whose methods only call ops
    (`def __add__(self, other): return add(self, other)`). The methods of `Term` (`>>`, `==`,
    `bool`, iteration, hashing) take precedence over those of the mixin.
    """
    body = {"__slots__": (), "__module__": __name__}
    pattern = type("PatternTerm", (PatternTerm, operators), body)
    variable = type("LogicVariable", (LogicVariable, operators), dict(body))
    pattern.pattern_type = variable.pattern_type = pattern  # type: ignore[attr-defined]
    own = {"pattern_type": pattern} | body
    outputs = type("Outputs", (Outputs,), own)
    pattern.outputs_type = variable.outputs_type = outputs  # type: ignore[attr-defined]
    return variable, pattern
