"""Facts: predicates that return evidence, or a reason why not.

    @fact
    def nonneg(x):
        if x.head is CONSTANT and (x.data >= 0).all():
            return because("a constant")
        return unknown("its sign is not known")

    @nonneg.case(mul)
    def product(x):
        a, b = x.owner.inputs
        return both("a product of", nonneg(a), nonneg(b))

Called on a rule's variables, a fact is a guard (`given(nonneg(x))`); called on a graph's variables,
it answers. A fact must be pure: its answers are cached (`graph/knowledge.py`) until something they
depend on changes: its arguments, their nodes, and the facts it queries.

Users may declare facts that cannot be proved (`pipeline/assumptions.py`).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from itertools import chain
from typing import Any, overload

from rewrite_engine.errors import FactError, PatternError, source_line
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.knowledge import Evaluation, Knowledge, current, key_for, knowledge_of
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.lower import Condition, Given, lower_condition
from rewrite_engine.match.pattern import Graph
from rewrite_engine.terms.logic import Term
from rewrite_engine.terms.parameter import parameters_of, plain_parameters

MAX_PRINTED_REASONS = 4  # reasons, and levels of nested reasons, that are printed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """Reason why something holds; it is true. Two are equal if they have the same content.

    reasons: texts, and the evidence it depends on. value: more information than that it holds, if a
    fact provides it (bounds, for instance).
    """

    reasons: tuple[Any, ...]
    value: Any = None

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"because {self.text()}"

    def __repr__(self) -> str:
        return f"Evidence({self.text()})"

    def text(self, levels: int = MAX_PRINTED_REASONS) -> str:
        """Return the reasons in one line: `a product of (a square), (a constant)`."""
        if levels <= 0:
            return "…"
        line, before = "", False
        for i, reason in enumerate(self.reasons[:MAX_PRINTED_REASONS]):
            nested = isinstance(reason, Evidence)
            part = f"({reason.text(levels - 1)})" if nested else str(reason)
            glue = " " if nested and not before else ", "
            line, before = f"{line}{glue if i else ''}{part}", nested
        return f"{line}, …" if len(self.reasons) > MAX_PRINTED_REASONS else line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True)
class Unknown:
    """Reason why something is not known to hold; it is false. blame: the variable to look at."""

    why: str
    blame: Any = None

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.why if self.blame is None else f"{self.why} ({self.blame})"


ANSWERS = (Evidence, Unknown)


def because(*reasons: Any, value: Any = None) -> Evidence:
    """Return evidence that a fact holds; reasons are texts, and answers of other facts."""
    return Evidence(reasons, value)


#: `unknown(why, blame=None)`: a reason why a fact is not known to hold
unknown = Unknown


def both(why: str, *answers: Any) -> Any:
    """Return evidence if all answers are evidence, else the first that is not. (`every` queries in
    turn.)
    """
    return _combine(why, answers)


def every(why: str, fact: Fact, variables: Iterable[Any]) -> Any:
    """Return evidence if a fact holds for all variables, else the first refusal."""
    return _combine(why, map(fact, variables))


def _combine(why: str, answers: Iterable[Any]) -> Any:
    results = []
    for answer in answers:
        if not answer:
            return answer
        results.append(answer)
    return Evidence((why, *results))


class Fact:
    """Predicate on variables; made by `@fact`.

    depth: how many levels of nodes it reads itself, without querying facts. cost: guards are
    evaluated in the order of their costs. implies: facts that hold if this one is declared (if it
    is proved, they are queried first). Answers are cached, except those of a function whose first
    parameter is `fgraph` (it gets the graph, or None).
    """

    #: the names of all there are
    names: set[str] = set()
    #: how a value is tested (None: a constant of it is asked); whether what is declared has a value
    tester: Callable[..., Any] | None = None
    takes_value = False
    #: how a value that has the fact is made of any value; None if that is unknown
    drawer: Callable[[Any], Any] | None = None
    #: reader of the value that it is declared with (None: the value is used unchanged)
    reader: Callable[[Any, Any], Any] | None = None

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        depth: int = 1,
        cost: int = 10,
        implies: Iterable[Fact] = (),
    ) -> None:
        self.fn = fn
        self.name: str = fn.__name__
        self.names.add(self.name)
        self.depth = depth
        self.cost = cost
        self.implies = tuple(implies)
        self.wants_graph = next(iter(parameters_of(fn)), None) == "fgraph"
        self.cases: dict[Any, list[Callable[..., Any]]] = {}
        update_wrapper(self, fn)

    def __call__(self, *args: Any) -> Any:
        """Return evidence or `Unknown` for variables; a `Condition` for a rule's variables."""
        evaluation = current.evaluation
        if evaluation is not None:
            return evaluation.nested(key_for(self, args), args)
        if any(isinstance(a, Term) for a in args):
            text = f"{self.name}({', '.join(map(str, args))})"
            self.check_number(args, text)
            return Condition(self.fn, args, text, fact=self)
        fgraph = current.fgraph  # one without a worklist was left by a run that was interrupted
        if fgraph is None or fgraph.worklist is None:
            return Evaluation(Knowledge()).first(key_for(self, args), args)
        known = knowledge_of(fgraph)
        return Evaluation(known).first(key_for(self, args), args)

    def ask(self, fgraph: Graph, *args: Any) -> Any:
        """Return the answer about variables of a graph (None: of none), cached with the graph until
        something it depends on changes.
        """
        if fgraph is None:
            return self(*args)
        known = fgraph.facts
        if known is None:
            known = knowledge_of(fgraph)
        key = key_for(self, args)
        try:
            return known.answers[key]
        except KeyError:
            pass
        evaluation = current.evaluation
        if evaluation is not None and evaluation.knowledge is known:
            return evaluation.nested(key, args)
        return Evaluation(known).first(key, args)

    def at(self, fgraph: Graph, node: Apply, *args: Any) -> Any:
        """Return the answer for a rule at a node, which is visited again if a refusal may have
        become invalid.
        """
        answer = self.ask(fgraph, *args)
        if type(answer) is Unknown and fgraph is not None and fgraph.worklist is not None:
            fgraph.facts.wait(key_for(self, args), node)
        return answer

    def case(self, *ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Extend the fact to results of ops, or of classes of ops, by a function of the same
        arguments, called if the fact itself has no answer. It returns evidence, a reason why not,
        or None.
        """

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            for op in ops:
                self.cases.setdefault(op, []).append(fn)
            return fn

        return register

    def test(self, fn: Callable[..., bool]) -> Callable[..., bool]:
        """Define how a value with a declaration of the fact is tested. With a second parameter, the
        function also gets the `Evidence.value` of the declaration.
        """
        self.tester = fn
        self.takes_value = len(parameters_of(fn)) == 2
        return fn

    def draw(self, fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Define how a value that has the fact is made of any value, a matrix for instance of a
        square one. Checks of rules that the fact guards use it.
        """
        self.drawer = fn
        return fn

    def read(self, fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Define the arguments of a declaration: a function of the argument, and of the type of the
        variable, that returns the `Evidence.value`, or raises `ValueError` with the expected
        argument.
        """
        self.reader = fn
        return fn

    @cached_property
    def signature(self) -> inspect.Signature:
        """Signature of the function."""
        return inspect.signature(self.fn)

    @property
    def unary(self) -> bool:
        """True if the fact is about one variable alone, so that it may be declared about one."""
        names = plain_parameters(self.fn)
        if names is not None:
            return len(names) == 1 and not self.wants_graph
        kinds = [p.kind for p in self.signature.parameters.values()]
        return kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD] and not self.wants_graph

    def of_value(self, type_: Any, value: Any, more: Any = None) -> Any:
        """Return the answer for a value of a type. more: the `Evidence.value` of a declaration."""
        if self.tester is None or (self.takes_value and more is None):
            return self(type_.make_constant(value))
        holds = self.tester(value, more) if self.takes_value else self.tester(value)
        return because("its value") if holds else unknown("its value is not")

    def look(self, knowledge: Knowledge, args: tuple[Any, ...]) -> Any:
        """Compute the answer. (Call the fact to use its cache.)"""
        evidence = _find_declared(knowledge, self, *args)
        if evidence is not None:
            return evidence
        answer = self.fn(knowledge.fgraph, *args) if self.wants_graph else self.fn(*args)
        if not isinstance(answer, ANSWERS):
            raise self.no_answer(answer, self.fn)
        if not answer and self.cases:
            node = getattr(args[0], "owner", None)
            keys = () if node is None else (node.op, *type(node.op).__mro__)
            for case in chain.from_iterable([self.cases.get(key, ()) for key in keys]):
                evidence = case(*args)
                if evidence is None:
                    continue
                if not isinstance(evidence, ANSWERS):
                    raise self.no_answer(evidence, case)
                if evidence:
                    return evidence
                answer = evidence
        if not answer and not self.wants_graph and any(map(_is_marked, args)):
            return self(*[a.owner.inputs[0] if _is_marked(a) else a for a in args])
        return answer

    def check_number(self, args: tuple[Any, ...], text: str) -> None:
        """Raise `PatternError` for a guard with more or fewer arguments than the fact has."""
        names = plain_parameters(self.fn)
        if names is not None and len(names) == len(args) + self.wants_graph:
            return
        try:
            self.signature.bind(*([None] if self.wants_graph else []), *args)
        except TypeError as error:
            wanted = [str(p) for name, p in self.signature.parameters.items() if name != "fgraph"]
            is_about = f"the fact is {self.name}({', '.join(wanted)})"
            raise PatternError(f"the guard {text}: {error}; {is_about}") from None

    def no_answer(self, answer: Any, fn: Callable[..., Any]) -> FactError:
        """Return the error for an answer that is neither evidence nor a reason why not."""
        code = inspect.unwrap(fn).__code__
        case = "" if fn is self.fn else f", case {fn.__name__}"
        where = f"fact {self.name}{case} ({source_line(code.co_filename, code.co_firstlineno)})"
        text = "nothing (None)" if answer is None else repr(answer)
        return FactError(f"{where}\n    returned {text}, not because(...) or unknown(...)")

    def __repr__(self) -> str:
        return f"fact {self.name}"

    def __reduce__(self) -> str:
        return self.fn.__qualname__  # there is one, and it is found by its name


@overload
def fact(fn: Callable[..., Any]) -> Fact: ...
@overload
def fact(**options: Any) -> Callable[[Callable[..., Any]], Fact]: ...
def fact(fn: Any = None, **options: Any) -> Any:
    """Make a fact of a function of variables that returns `because(...)` or `unknown(...)`.
    options: the options of `Fact`.
    """
    return partial(Fact, **options) if fn is None else Fact(fn, **options)


# --- what is declared -----------------------------------------------------------------------------


def said_by(node: Apply) -> dict[Fact, Evidence]:
    """Return the declarations of a mark about its operand, with the user's line, and their
    consequences.
    """
    place = node.where()
    at = "" if place is None else f" at {os.path.basename(place[0])}:{place[1]}"
    results: dict[Fact, Evidence] = {}
    for one, value in node.op.declared:
        results[one] = because(f"declared by the user{at}", value=value)
    for one in (todo := list(results)):
        for more in one.implies:
            if more not in results:
                results[more] = because(one.name, results[one])
                todo.append(more)
    return results


def _find_declared(knowledge: Knowledge, asked: Fact, v: Any = None, *rest: Any) -> Any:
    """Return the declaration about a variable, here or by a mark; None if there is none."""
    if _is_marked(v) and not rest:
        return said_by(v.owner).get(asked)
    known = knowledge.declared
    if not known or not isinstance(v, Variable) or v not in known:
        return None
    return known[v].get(key_for(asked, rest) if rest else asked)


def _is_marked(v: Any) -> bool:
    return type(getattr(v, "head", None)) is Assume


def unmarked(v: Any) -> Any:
    """Return the variable behind marks."""
    while _is_marked(v):
        v = v.owner.inputs[0]
    return v


# --- guards ---------------------------------------------------------------------------------------


def given(*conditions: Any) -> Given:
    """Make the guards of a rule: facts about its variables, or functions of them by name."""
    groups = [c.conditions if isinstance(c, Given) else (c,) for c in conditions]
    return Given(tuple(chain.from_iterable(groups)))


def assuming(*conditions: Any) -> Given:
    """Make guards within `given(...)` of a rule that claims `assumes(...)`: if they hold, nothing
    is assumed, so the rule needs no grant; if the user grants the assumption, they are not
    evaluated.
    """
    lowered = [c if isinstance(c, Condition) else lower_condition(c) for c in conditions]
    return Given(tuple([replace(c, assumed=True) for c in lowered]))
