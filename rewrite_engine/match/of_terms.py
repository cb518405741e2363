"""Functions of rules from two terms of a graph, for `rule_of` in `language.py`.

The rule function is written as an author would, `return left(x, y) >> right(x, y), given(...)`,
where `left` and `right` build the terms again on other operands. They work on variables of a graph
alone, so the two sides become patterns as every expression that looks at types does, by samples
(`match/sampled.py`): in normal form, for all dtypes and lengths.
"""

from __future__ import annotations

import keyword
import linecache
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from rewrite_engine import hooks
from rewrite_engine.errors import PatternError
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.node import CONSTANT, Constant, Variable
from rewrite_engine.graph.replace import equal_computations, rebuilt
from rewrite_engine.graph.traverse import ancestors, toposort
from rewrite_engine.match.pattern import Sort, names_of
from rewrite_engine.match.source import compiled
from rewrite_engine.terms.logic import Term

MAX_WORDS = 4  # of the name of a rule


def leaves_of(left: Any, right: Any) -> dict[str, Variable]:
    """Return the variables of two terms by the names that they have in a rule: their own where
    these are identifiers. Raises `PatternError` for a variable that only the right side has, and
    for an array of constants.
    """
    found = dict.fromkeys(_leaves(left))
    for v in _leaves(right):
        if v not in found:
            raise PatternError(f"the right side has the variable {v}, which the left side has not")
    names: dict[str, Variable] = {}
    own = [str(v.name) for v in found]
    for v, name in zip(found, own, strict=True):
        good = name.isidentifier() and not keyword.iskeyword(name) and name not in names
        numbered = (f"x{n}" for n in count() if f"x{n}" not in {*own, *names})
        names[name if good else next(numbered)] = v
    return names


def _leaves(term: Any) -> Iterator[Variable]:
    """Yield the variables of a term, in the order in which they occur."""
    stack = [term] if isinstance(term, Variable) else []
    seen = set[Variable]()
    while stack:
        v = stack.pop()
        if v in seen:
            continue
        seen.add(v)
        if v.head is CONSTANT:
            if v.number is None:  # type: ignore[attr-defined]
                raise PatternError(f"an array of constants cannot be part of a rule: {v}")
        elif v.owner is None:
            yield v
        else:
            stack += reversed(v.owner.inputs)


def marks_of(*terms: Any) -> Iterator[tuple[Variable, Any]]:
    """Yield the facts that are declared of variables in terms (`assume`). Raises `PatternError` for
    a fact with a value, such as bounds, and for one that is declared of another term.
    """
    for node in toposort([v for v in terms if isinstance(v, Variable)]):
        if isinstance(node.op, Assume):
            of = unmarked(node.inputs[0])
            for fact, value in node.op.declared:
                if of.owner is not None:
                    what = f"{fact.name} is declared of the term {hooks.short(of)}"
                    raise PatternError(f"{what}: a rule has guards about its variables")
                if value is not None:
                    what = f"{fact.name}={value!r} cannot become a guard"
                    raise PatternError(f"{what}: state it in where=")
                yield of, fact


def unmarked(v: Any) -> Any:
    """Return a term without the marks (`assume`) around it."""
    while isinstance(v, Variable) and v.owner is not None and isinstance(v.owner.op, Assume):
        v = v.owner.inputs[0]
    return v


def refuse_equal(left: Variable, right: Any) -> None:
    """Raise `PatternError` if the library makes one term of two already, or leaves a variable of
    the left one.
    """
    sides = [left, right] if isinstance(right, Variable) else [left]
    found = hooks.rewrite_graph(sides)
    text = hooks.short
    if found[0].owner is None:
        what = "a number" if found[0].head is CONSTANT else "a variable"
        raise PatternError(f"the rules there are make {what} of {text(left)}: {text(found[0])}")
    if len(found) > 1 and equal_computations([found[0]], [found[1]]):
        what = f"the rules there are make one term of {text(left)} and {text(right)}"
        raise PatternError(f"{what}: {text(found[0])}")


def is_elementwise(terms: Iterable[Any]) -> bool:
    """Return whether all nodes of terms apply a function to each element, of one rank."""
    varying = set[Variable]()
    for node in toposort([v for v in terms if isinstance(v, Variable)]):
        if all([v.head is CONSTANT if v.owner is None else v not in varying for v in node.inputs]):
            continue  # (of numbers alone)
        varying |= {*node.outputs}
        if "scalar_op" not in node.op.__props__ and not isinstance(node.op, Assume):
            return False
    return True


def has_other_dtypes(terms: Iterable[Any], leaves: Sequence[Variable]) -> bool:
    """Return whether terms can be built on floats of another precision, too."""
    other = {"float64": "float32", "float32": "float64", "float16": "float32"}
    operands = [v.type.clone(dtype=other.get(v.type.dtype, v.type.dtype))() for v in leaves]
    try:
        for term in terms:
            if isinstance(term, Variable):
                TermFunction(term, leaves)(*operands)
    except Exception:  # whatever an op raises
        return False
    return True


class TermFunction:
    """Function that builds a term again, on other operands. leaves: the variables in their order.

    Numbers of the dtype of a variable get the dtype of its operand.
    """

    def __init__(self, term: Variable, leaves: Sequence[Variable]) -> None:
        self.term, self.leaves = term, leaves

    def __call__(self, *operands: Any) -> Variable:
        """Return the term on variables of a graph. Raises `TypeError` for patterns, and what the
        ops raise.
        """
        if any([isinstance(v, Term) for v in operands]):
            raise TypeError("a term of a graph has no operands that are patterns")
        pairs: dict[Variable, Variable] = dict(zip(self.leaves, operands, strict=True))
        dtypes = {
            getattr(old.type, "dtype", None): getattr(new.type, "dtype", None)
            for old, new in pairs.items()
        }
        for v in ancestors([self.term]):
            if isinstance(v, Constant) and v not in pairs:
                dtype = getattr(v.type, "dtype", None)
                other = dtypes.get(dtype)
                if other is not None and other != dtype:
                    pairs[v] = v.type.clone(dtype=other).make_constant(v.data.astype(other))
        return rebuilt([self.term], pairs, strict=False)[0]


def name_of(term: Variable) -> str:
    """Return a name for a rule with this left side: the first ops in it, from the root."""
    words, stack = list[str](), [term]
    while stack and len(words) < MAX_WORDS:
        node = stack.pop().owner
        if node is not None and not isinstance(node.op, Assume):
            if not node.op.view_map:
                words.append(re.sub(r"\W.*", "", str(node.op)).lower())
            stack += reversed(node.inputs)
    return "_of_".join(words) or "rule"


@contextmanager
def rule_function(
    sides: tuple[Variable, Any],
    leaves: Mapping[str, Variable],
    sorts: Mapping[str, Sort],
    guards: Callable[..., Any] | None,
    given: Any,
    described: tuple[str, str],
    place: tuple[Mapping[str, Any], int],
) -> Iterator[Callable[..., Any]]:
    """Provide the function of a rule, whose source is known inside. leaves: the variables of the
    sides, by name. guards: a function of the rule's variables, by name. given: the function of that
    name of the language. described: the name and the reason of the rule. place: the globals of the
    module that makes it, and the line.
    """
    (left, right), (name, reason), (module, line) = sides, described, place
    if not name.isidentifier() or keyword.iskeyword(name):
        raise PatternError(f"a rule is named like a function, not {name!r}")
    refuse_equal(left, right)
    args, variables = ", ".join(leaves), [*leaves.values()]
    names = {n: module[n] for n in ("__name__", "__pack__") if n in module}
    names |= {"left": TermFunction(left, variables), "given": given}
    returned = f"left({args}) >> right"
    at = next((name for name, v in leaves.items() if v is unmarked(right)), None)
    if at is not None:
        returned = f"left({args}) >> {at}"
    elif isinstance(right, Variable) and right.head is not CONSTANT:
        names["right"] = TermFunction(right, variables)
        returned += f"({args})"
    else:
        names["right"] = getattr(right, "number", right)
    asked = DeclaredGuards(leaves, marks_of(left, right), guards)
    if asked:
        names["asked"] = asked
        returned += f", given(*asked({args}))"
    filename = f"<rule_of {name}>"
    text = f"def {name}({args}):\n    return {returned}\n"
    fn: Any = compiled(text, filename, names)[name]
    fn.__doc__, fn.__annotations__ = reason, dict(sorts)
    fn.where = module.get("__file__", "<input>"), line
    try:
        yield fn
    finally:
        linecache.cache.pop(filename, None)


class DeclaredGuards:
    """Guards of a rule as a function of its variables: the facts that are declared of them, and
    those of the author's function.
    """

    def __init__(
        self,
        leaves: Mapping[str, Variable],
        marks: Iterable[tuple[Variable, Any]],
        guards: Callable[..., Any] | None,
    ) -> None:
        self.names = [*leaves]
        names = {v: name for name, v in leaves.items()}
        self.facts = [*dict.fromkeys([(names[v], fact) for v, fact in marks])]
        self.guards = guards
        self.wanted = () if guards is None else names_of(guards)
        for v in self.wanted:
            if v not in leaves:
                known = ", ".join(leaves)
                raise PatternError(f"where= has a parameter {v}, and the variables are {known}")

    def __bool__(self) -> bool:
        return bool(self.facts or self.guards)

    def __call__(self, *values: Any) -> list[Any]:
        known = dict(zip(self.names, values, strict=True))
        found = [fact(known[v]) for v, fact in self.facts]
        if self.guards is None:
            return found
        said = self.guards(*[known[v] for v in self.wanted])
        return [*found, *(said if isinstance(said, tuple | list) else (said,))]
